"""Functions of texts that SQLite has not, or has otherwise (manual, string functions)."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from ndbplan.train.sql.alike import folded

_SOUNDS = dict.fromkeys("BFPV", "1") | dict.fromkeys("CGJKQSXZ", "2") | dict.fromkeys("DT", "3")
_SOUNDS |= {"L": "4"} | dict.fromkeys("MN", "5") | {"R": "6"}


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _make_set(bits: Any, *words: Any) -> str:
    return ",".join(_text(word) for n, word in enumerate(words) if int(bits) >> n & 1)


def _export_set(bits: Any, on: Any, off: Any, between: Any = ",", count: Any = 64) -> str:
    return _text(between).join(_text(on if int(bits) >> n & 1 else off) for n in range(min(64, int(count))))


def _trim(where: str, part: Any, value: Any) -> str:
    """A text without a part that stands at its begin or end, however often."""
    text, part = _text(value), _text(part)
    while part and where != "TRAILING" and text.startswith(part):
        text = text[len(part) :]
    while part and where != "LEADING" and text.endswith(part):
        text = text[: -len(part)]
    return text


def _ranked(*values: Any) -> list[Any]:
    """The values, the least first: texts whatever their case, numbers as numbers."""
    are_numbers = all(isinstance(one, int | float) for one in values)
    return sorted(values) if are_numbers else sorted(values, key=lambda one: folded(_text(one)))


def _soundex(value: Any) -> str:
    """Vowels are left out before sounds that follow themselves; of any length."""
    letters = [one for one in _text(value).upper() if one.isalpha()]
    found = "".join(letters[:1])
    before = _SOUNDS.get(found, "")
    for letter in letters[1:]:
        sound = _SOUNDS.get(letter, "")
        if sound and sound != before:
            found, before = found + sound, sound
    return found.ljust(4, "0") if found else ""


STRICT: dict[str, Callable[..., Any]] = {
    "TO_BASE64": lambda v: base64.encodebytes(_bytes(v)).decode().rstrip("\n"),
    "FROM_BASE64": lambda v: base64.b64decode(_text(v), validate=False),
    "MAKE_SET": _make_set, "EXPORT_SET": _export_set, "SOUNDEX": _soundex, "mysql_trim": _trim,
    "mysql_least": lambda *values: _ranked(*values)[0],
    "mysql_greatest": lambda *values: _ranked(*values)[-1],
}  # fmt: skip
"""NULL where an argument is NULL."""
