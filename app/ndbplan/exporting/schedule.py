"""An operation as a calendar file and as a Gantt picture.

to_ics(add_nodes(Estimation(plan)), start=datetime(2026, 5, 9, 2, 0), name=plan.name)
gantt_svg(add_nodes(Estimation(plan)))
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from xml.sax.saxutils import escape

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_duration
from ndbplan.operations.operation import Interval, Operation

_FOLD_BYTES = 73
_ROW, _BAR, _LEFT, _TOP, _RIGHT = 30, 14, 330, 64, 90
_COLOURS = {
    "text": "#1f2430", "faint": "#6b7280", "line": "#e3e6ec", "bar": "#2f7de1", "late": "#d97a1f",
    "range": "#9db8dc", "back": "#ffffff",
}  # fmt: skip
_TICKS_S = (60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800)


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


def _tick_s(span_s: float) -> float:
    found = next((tick for tick in _TICKS_S if span_s / tick <= 10), None)
    # Beyond weeks whatever makes ten of it: what lasts for ages must not take a picture of as many ticks.
    return _TICKS_S[-1] * math.ceil(span_s / _TICKS_S[-1] / 10) if found is None else found


def gantt_svg(operation: Operation, width: int = 1100) -> str:
    """The timeline as an SVG picture: a bar for each step, its range, the point of no return."""
    last = max((one.start_s + one.duration_s.high for one in operation.timeline), default=1.0)
    scale = (width - _LEFT - _RIGHT) / max(last, 1.0)
    height = _TOP + _ROW * len(operation.timeline) + 40
    bottom = height - 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="Inter, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="{_COLOURS["back"]}"/>',
        _text(16, 26, operation.name, size=16, weight=600),
        _text(16, 46, f"Expected {operation.duration_s}", colour="faint"),
    ]
    tick = _tick_s(last)
    for i in range(int(last // tick) + 1):
        x = _LEFT + i * tick * scale
        parts.append(
            f'<line x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{bottom}" stroke="{_COLOURS["line"]}"/>'
        )
        parts.append(_text(x, bottom + 18, format_duration(i * tick), colour="faint", anchor="middle"))
    passed = False
    for row, interval in enumerate(operation.timeline):
        y = _TOP + row * _ROW
        if interval.step.key == operation.point_of_no_return and not passed:
            passed = True
            x = _LEFT + interval.start_s * scale
            parts.append(
                f'<line x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{bottom}" '
                f'stroke="{_COLOURS["late"]}" stroke-dasharray="4 3"/>'
            )
            parts.append(_text(x + 4, _TOP - 10, "no way back", colour="late"))
        parts += _bar(interval, y, scale, "late" if passed else "bar")
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _bar(interval: Interval, y: float, scale: float, colour: str) -> list[str]:
    x, middle = _LEFT + interval.start_s * scale, y + _ROW / 2
    length, most = interval.duration_s.value * scale, interval.duration_s.high * scale
    tip = escape(f"{interval.step.name}: {interval.duration_s}")
    name = interval.step.name
    title = name if len(name) <= 46 else f"{name[:45]}…"
    return [
        _text(16, middle + 4, title),
        f'<rect x="{x:.1f}" y="{middle - 2:.1f}" width="{max(most, 1):.1f}" height="4" '
        f'rx="2" fill="{_COLOURS["range"]}"/>',
        f'<rect x="{x:.1f}" y="{middle - _BAR / 2:.1f}" width="{max(length, 2):.1f}" height="{_BAR}" '
        f'rx="3" fill="{_COLOURS[colour]}"><title>{tip}</title></rect>',
        _text(
            x + max(length, most) + 6, middle + 4, format_duration(interval.duration_s.value), colour="faint"
        ),
    ]


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 12,
    weight: int = 400,
    colour: str = "text",
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
        f'fill="{_COLOURS[colour]}">{escape(text)}</text>'
    )
