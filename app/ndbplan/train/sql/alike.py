"""When texts are equal: whatever their case and accents, as in most collations of the server.

    folded("Äb") == folded("ab")
    Patterns().is_like("%BATCH%", "ndb_batch_size")      # 1

Source: manual, character sets; the order of other letters than those of ASCII is that of Unicode, not of UCA.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

_AS = str.maketrans({"æ": "ae", "œ": "oe", "ð": "d", "đ": "d", "ø": "o", "ħ": "h", "ł": "l"})
"""Letters that Unicode does not take apart, and its order of letters does (WEIGHT_STRING of 8.0 and 9.7)."""


def folded(text: str) -> str:
    """Equal for texts that are equal."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold()).casefold().translate(_AS)
    return "".join(one for one in apart if not unicodedata.combining(one))


def letters(text: str) -> str:
    """As many letters, equal where letters are: LIKE takes one after another, and none for two [8.0, 9.7]."""
    return text.lower() if text.isascii() else "".join(map(_letter, text))


def _letter(one: str) -> str:
    whole = folded(one)
    low = one.lower()
    return whole if len(whole) == 1 else low if len(low) == 1 else one


class _Pattern:
    """What stands between the percent signs of a pattern, each as early as it goes: no text takes long."""

    def __init__(self, pattern: str, escape: str) -> None:
        parts, at = [""], 0
        while at < len(pattern):
            if pattern[at] == escape and at + 1 < len(pattern):
                at += 1
                parts[-1] += re.escape(pattern[at])
            elif pattern[at] == "%":
                parts.append("")
            else:
                parts[-1] += "." if pattern[at] == "_" else re.escape(pattern[at])
            at += 1
        self._parts = [re.compile(part, re.DOTALL) for part in parts]
        last = parts[-1]
        self._end = re.compile(rf"(?:{last})\Z", re.DOTALL)

    def fits(self, text: str) -> bool:
        first, *between = self._parts
        if not between:
            return first.fullmatch(text) is not None
        met = first.match(text)
        for part in between[:-1]:
            if met is None:
                return False
            met = part.search(text, met.end())
        return met is not None and self._end.search(text, met.end()) is not None


class Patterns:
    """LIKE as one query asks it: each pattern is read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Pattern] = {}

    def is_like(self, pattern: Any, value: Any, escape: Any = "\\") -> int | None:
        """Bytes are like bytes of the same case only."""
        if pattern is None or value is None:
            return None
        texts = [_decoded(one) for one in (pattern, value)]
        if not isinstance(value, bytes) and not isinstance(pattern, bytes):
            texts = [letters(one) for one in texts]
        key = texts[0], str(escape)
        if key not in self._known:
            self._known[key] = _Pattern(*key)
        return int(self._known[key].fits(texts[1]))


def _decoded(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _found_at(value: Any, part: Any) -> int | None:
    if value is None or part is None:
        return None
    return folded(str(value)).find(folded(str(part))) + 1


def _changed(change: Callable[[str], str], value: Any) -> str | None:
    return None if value is None else change(_decoded(value))


class Letters:
    """How texts of one query are compared: as SQLite does, quickly, until it meets some that ask for more."""

    def __init__(self, base: sqlite3.Connection, collation: str) -> None:
        """`collation`: of the connection; those of Unicode 9.0 tell a blank at the end apart."""
        self._base, self._pads = base, "_0900_" not in collation

    def meet(self, values: Iterable[object]) -> None:
        """Letters beyond ASCII, and blanks at an end, are compared as the server does from now on."""
        if any(
            isinstance(one, str) and (not one.isascii() or (self._pads and one[-1:] == " ")) for one in values
        ):
            self._base.create_collation("NOCASE", self._compare)

    def _compare(self, one: str, other: str) -> int:
        first, second = folded(one), folded(other)
        if self._pads:
            first, second = first.rstrip(" "), second.rstrip(" ")
        return (first > second) - (first < second)


def give(base: sqlite3.Connection) -> None:
    """Let a connection search as the server does."""
    base.create_function("like", -1, Patterns().is_like, deterministic=True)
    base.create_function("instr", 2, _found_at, deterministic=True)
    for name, change in (("lower", str.lower), ("upper", str.upper)):
        base.create_function(name, 1, partial(_changed, change), deterministic=True)
