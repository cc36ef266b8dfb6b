"""Moments as files write them: seconds, durations, clock times, dates with a time."""

from __future__ import annotations

import math
import re
from datetime import datetime

from ndbplan.base.errors import UserError
from ndbplan.base.units import parse_duration_s

_CLOCK = re.compile(r"([0-9]{1,3}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?(?: ([AaPp])[Mm])?$")
DAY_S = 86_400.0
_EPOCH_S = 1e8
"""Numbers from here on are seconds of the epoch."""
_DATES = (
    "%m/%d/%Y %I:%M:%S %p", "%m/%d/%y %I:%M:%S %p", "%m/%d/%Y %H:%M:%S", "%m/%d/%y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S", "%d/%m/%y %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%d.%m.%y %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%z",
)  # fmt: skip
"""How sysstat writes a moment, by locale; what ISO 8601 allows is read anyhow."""


def moment_s(text: str) -> tuple[float, bool] | None:
    """Seconds, and whether they count from the first moment of the file; None: it is no moment."""
    try:
        seconds = float(text)
    except ValueError:
        pass
    else:
        return (seconds, seconds >= _EPOCH_S) if math.isfinite(seconds) and 0 <= seconds < 1e12 else None
    clock = _CLOCK.match(text)
    if clock:
        hours, minutes, rest, half = clock.groups()
        hour = int(hours) if half is None else int(hours) % 12 + 12 * (half in "Pp")
        return hour * 3600.0 + int(minutes) * 60.0 + float(rest or 0), True
    dated = date_s(text)
    if dated is not None:
        return dated, True
    try:
        return parse_duration_s(text), False
    except UserError:
        return None


def date_s(text: str) -> float | None:
    """Seconds since 1970 of a date with a time; None: it is none."""
    try:
        return _since_1970(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        pass
    for form in _DATES:
        try:
            return _since_1970(datetime.strptime(text, form))
        except (ValueError, OverflowError):
            continue
    return None


def _since_1970(moment: datetime) -> float:
    return (moment - datetime(1970, 1, 1, tzinfo=moment.tzinfo)).total_seconds()


class Clock:
    """Moments in the order of a file: those that tell only the time of day go on behind midnight."""

    def __init__(self) -> None:
        self._last_s = 0.0

    def moment_s(self, text: str) -> tuple[float, bool] | None:
        """As the function says it, the day counted from the first of the file."""
        found = moment_s(text)
        if found is None or not found[1] or found[0] >= DAY_S:
            return found
        # What comes a little too early is of the same day.
        self._last_s = found[0] + DAY_S * max(0, round((self._last_s - found[0]) / DAY_S))
        return self._last_s, True
