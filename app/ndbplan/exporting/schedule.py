"""An operation as a calendar file.

to_ics(add_nodes(Estimation(plan)), start=datetime(2026, 5, 9, 2, 0), name=plan.name)
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from ndbplan.base.errors import UserError
from ndbplan.operations.operation import Interval, Operation

_FOLD_BYTES = 73


class ScheduleError(UserError):
    """A schedule that no calendar holds."""


def to_ics(operation: Operation, start: datetime, name: str = "", stamp: datetime | None = None) -> str:
    """The change window and its steps as an iCalendar file (RFC 5545), beginning at `start`.

    A time without a zone is the local time of whoever opens the file. The window lasts as long as the high
    end of the estimate; steps lie at their middle values. `stamp`: when the file was made, default now.
    Raises ScheduleError when it is not over while calendars last.
    """
    try:
        return _calendar(operation, start, name, stamp)
    except OverflowError:
        raise ScheduleError(
            f"what begins at {start.isoformat(timespec='minutes')} and takes {operation.duration_s} is not "
            "over in the year 9999, where calendars end",
            where="start",
            fix="name an earlier beginning",
        ) from None


def _calendar(operation: Operation, start: datetime, name: str, stamp: datetime | None) -> str:
    made = (stamp or datetime.now(UTC)).astimezone(UTC)
    events = [
        _event(
            made,
            f"{operation.name}{f' — {name}' if name else ''}",
            start,
            operation.duration_s.high,
            f"Expected {operation.duration_s}. " + " ".join(operation.notes),
            f"{name}/{operation.key}/{start.isoformat()}",
        )
    ]
    for interval in operation.timeline:
        events.append(
            _event(
                made,
                interval.step.name,
                start + timedelta(seconds=interval.start_s),
                interval.duration_s.value,
                _description(operation, interval),
                f"{name}/{operation.key}/{interval.step.key}/{start.isoformat()}",
            )
        )
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//ndbplan//change window//EN", "CALSCALE:GREGORIAN"]
    for event in events:
        lines += event
    lines.append("END:VCALENDAR")
    return "".join(f"{folded}\r\n" for line in lines for folded in _folded(line))


def _event(
    stamp: datetime, title: str, start: datetime, seconds: float, text: str, identity: str
) -> list[str]:
    end = start + timedelta(seconds=max(60, math.ceil(seconds)))
    uid = hashlib.sha256(identity.encode()).hexdigest()[:32]
    return [
        "BEGIN:VEVENT",
        f"UID:{uid}@ndbplan",
        f"DTSTAMP:{stamp.strftime('%Y%m%dT%H%M%SZ')}",
        f"DTSTART:{_time(start)}",
        f"DTEND:{_time(end)}",
        f"SUMMARY:{_escaped(title)}",
        f"DESCRIPTION:{_escaped(text)}",
        "END:VEVENT",
    ]


def _time(moment: datetime) -> str:
    if moment.tzinfo is None:
        return moment.strftime("%Y%m%dT%H%M%S")
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _description(operation: Operation, interval: Interval) -> str:
    step = interval.step
    parts = [f"Expected {interval.duration_s}."]
    if step.meanwhile:
        parts.append(step.meanwhile)
    if step.check:
        parts.append(f"Check: {step.check}.")
    if step.key == operation.point_of_no_return:
        parts.append("From here on there is no way back.")
    elif step.rollback:
        parts.append(f"Way back: {step.rollback}.")
    if step.if_it_fails:
        parts.append(f"If it fails: {step.if_it_fails}.")
    return "\n".join(parts)


def _escaped(text: str) -> str:
    for sign in ("\\", ";", ","):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\r", "").replace("\n", "\\n")


def _folded(line: str) -> Iterator[str]:
    """The line in pieces of at most 75 bytes, continued ones with a space in front."""
    piece, size = "", 0
    for sign in line:
        width = len(sign.encode())
        if size + width > _FOLD_BYTES:
            yield piece
            piece, size = " ", 1
        piece += sign
        size += width
    yield piece
