"""Functions of texts that SQLite has not, or has otherwise (manual, string functions)."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ndbplan.train.sql.alike import folded
from ndbplan.train.sql.letters_held import held
from ndbplan.train.sql.numbers import DOUBLE, written

_SOUNDS = dict.fromkeys("BFPV", "1") | dict.fromkeys("CGJKQSXZ", "2") | dict.fromkeys("DT", "3")
_SOUNDS |= {"L": "4"} | dict.fromkeys("MN", "5") | {"R": "6"}


MOST_BYTES = 1_000_000
"""Of a text that is made here."""


class TooLongError(Exception):
    """A function would make a text of more than MOST_BYTES."""

    def __init__(self, function: str, size: int) -> None:
        """`function` as the server calls it; `size`: bytes."""
        super().__init__(function)
        self.function, self.size = function, size


def _repeated(text: str, count: int, function: str) -> str:
    size = len(text.encode()) * max(0, count)
    if size > MOST_BYTES:
        raise TooLongError(function, size)
    return text * count


def text_of(value: Any) -> str:
    """A value as a text: a letter for each byte, numbers as the server writes doubles."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return written(value, DOUBLE) if isinstance(value, float) else str(value)


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def whole(value: Any) -> int:
    """A number of letters or of a place: rounded, of a text the digits that it begins with."""
    if isinstance(value, float):
        return int(Decimal(repr(value)).to_integral_value(rounding=ROUND_HALF_UP))
    found = re.match(r"\s*[+-]?[0-9]+", text_of(value))
    return int(found[0]) if found is not None else 0


def _make_set(bits: Any, *words: Any) -> str:
    return ",".join(text_of(word) for n, word in enumerate(words) if whole(bits) >> n & 1)


def _export_set(bits: Any, on: Any, off: Any, between: Any = ",", count: Any = 64) -> str:
    words = (on if whole(bits) >> n & 1 else off for n in range(min(64, whole(count))))
    return text_of(between).join(map(text_of, words))


def _trim(where: str, part: Any, value: Any) -> str:
    """A text without a part that stands at its begin or end, however often."""
    text, part = text_of(value), text_of(part)
    while part and where != "TRAILING" and text.startswith(part):
        text = text[len(part) :]
    while part and where != "LEADING" and text.endswith(part):
        text = text[: -len(part)]
    return text


def _ranked(*values: Any) -> list[Any]:
    """The values, the least first: texts whatever their case, numbers as numbers."""
    are_numbers = all(isinstance(one, int | float) for one in values)
    return sorted(values) if are_numbers else sorted(values, key=lambda one: folded(text_of(one)))


def _soundex(value: Any) -> str:
    """Vowels are left out before sounds that follow themselves; of any length."""
    letters = [one for one in text_of(value).upper() if one.isalpha()]
    found = "".join(letters[:1])
    before = _SOUNDS.get(found, "")
    for letter in letters[1:]:
        sound = _SOUNDS.get(letter, "")
        if sound and sound != before:
            found, before = found + sound, sound
    return found.ljust(4, "0") if found else ""


def _mid(value: Any, begin: Any, length: Any = MOST_BYTES) -> str:
    """From a letter on, or from one that is counted from the end; nothing where there is no such letter."""
    text, at = text_of(value), whole(begin)
    first = at - 1 if at > 0 else len(text) + at
    return text[first : first + max(0, whole(length))] if at and first >= 0 else ""


def _locate(part: Any, value: Any, begin: Any) -> int:
    first = whole(begin) - 1
    return folded(text_of(value)).find(folded(text_of(part)), first) + 1 if first >= 0 else 0


def _pad(left: bool) -> Callable[..., Any]:
    def pad(value: Any, length: Any, fill: Any) -> str | None:
        count = whole(length)
        if count < 0:
            return None
        text, filling = text_of(value)[:count], text_of(fill)
        if len(text) < count and not filling:
            return ""
        more = _repeated(filling, count // len(filling or "x") + 1, "lpad" if left else "rpad")
        more = more[: count - len(text)]
        return more + text if left else text + more

    return pad


def _strcmp(one: Any, other: Any) -> int:
    first, second = folded(text_of(one)), folded(text_of(other))
    return (first > second) - (first < second)


def _substring_index(text: Any, sign: Any, count: Any) -> str:
    words, between = text_of(text), text_of(sign)
    if not between or not count:
        return ""
    # What is counted from the end is looked for from there.
    parts = words.split(between, count) if count > 0 else words.rsplit(between, -count)
    kept = parts[:count] if count > 0 else parts[count:]
    return between.join(kept)


def _converted(value: Any, character_set: str) -> str:
    """With a question mark for each letter that a character set has not."""
    return held(text_of(value), character_set, "utf8mb4")[0]


def _find_in_set(value: Any, listed: Any) -> int:
    words = [folded(one) for one in text_of(listed).split(",")]
    wanted = folded(text_of(value))
    return words.index(wanted) + 1 if wanted in words else 0


def spaces(name: str) -> Callable[[Any], str]:
    """SPACE, which the server calls by this name where it warns."""
    return lambda count: _repeated(" ", whole(count), name)


STRICT: dict[str, Callable[..., Any]] = {
    "REVERSE": lambda v: text_of(v)[::-1], "SUBSTRING_INDEX": _substring_index, "MID": _mid,
    "mysql_locate": _locate, "mysql_converted": _converted, "LPAD": _pad(True), "RPAD": _pad(False),
    "FIND_IN_SET": _find_in_set, "ASCII": lambda v: (_bytes(v) or b"\0")[0], "STRCMP": _strcmp,
    "REPEAT": lambda v, n: _repeated(text_of(v), whole(n), "repeat"),
    "mysql_left": lambda v, n: text_of(v)[: max(0, whole(n))],
    "mysql_right": lambda v, n: text_of(v)[::-1][: max(0, whole(n))][::-1],
    "mysql_length": lambda v: len(_bytes(v)), "CHARACTER_LENGTH": lambda v: len(text_of(v)),
    "TO_BASE64": lambda v: base64.encodebytes(_bytes(v)).decode().rstrip("\n"),
    "FROM_BASE64": lambda v: base64.b64decode(text_of(v), validate=False),
    "MAKE_SET": _make_set, "EXPORT_SET": _export_set, "SOUNDEX": _soundex, "mysql_trim": _trim,
    "mysql_least": lambda *values: _ranked(*values)[0],
    "mysql_greatest": lambda *values: _ranked(*values)[-1],
}  # fmt: skip
"""NULL where an argument is NULL."""
