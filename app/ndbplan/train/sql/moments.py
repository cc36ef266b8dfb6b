"""Texts and numbers as moments."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

MICROSECONDS = 1_000_000
_MOMENT = re.compile(
    r"\s*([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})"
    r"(?:[ T]([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(\.[0-9]{1,6})?)?)?\s*"
)


class NoMomentError(ValueError):
    """A text is no moment: the server warns of it, and answers NULL."""


class NoTimeError(NoMomentError):
    """A text is no time of a day or span."""


def moment(value: Any) -> datetime:
    """A text, or a number such as 20260131, as a moment. Raises ValueError."""
    text = str(value)
    if re.fullmatch(r"[0-9]{8}|[0-9]{14}", text):
        digits = text.ljust(14, "0")
        text = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]} {digits[8:10]}:{digits[10:12]}:{digits[12:]}"
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise NoMomentError(text)
    parts = [int(one or 0) for one in found.groups()[:6]]
    rest = round(float(found[7] or 0) * MICROSECONDS)
    try:
        return datetime(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], rest)
    except ValueError:
        raise NoMomentError(text) from None
