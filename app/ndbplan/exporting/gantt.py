"""An operation as a Gantt picture, with the plan inside and what was asked of it.

gantt_svg(add_nodes(Estimation(plan)))
gantt_carrying(plan, Procedure(kind="add-nodes"))
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import escape

from pydantic import TypeAdapter, ValidationError

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_duration
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.evidence import digest, dumps, picture_evidence, svg_carrying, without_prices
from ndbplan.operations.operation import Interval, Operation
from ndbplan.operations.procedure import Procedure, operation_of
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project

PROCEDURE = "procedure"
"""Where the evidence in a picture says what was asked for."""
_ROW, _BAR, _LEFT, _TOP, _RIGHT = 30, 14, 330, 64, 90
_COLOURS = {
    "text": "#1f2430", "faint": "#6b7280", "line": "#e3e6ec", "bar": "#2f7de1", "late": "#d97a1f",
    "range": "#9db8dc", "back": "#ffffff",
}  # fmt: skip
_TICKS_S = (60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800)


def gantt_carrying(plan: Plan, asked: Procedure) -> str:
    """The picture of a procedure with the plan inside, without prices: no time depends on them.

    Raises what `operation_of` raises.
    """
    return svg_carrying(gantt_svg(operation_of(Estimation(plan), asked)), dumps(gantt_evidence(plan, asked)))


def gantt_evidence(plan: Plan, asked: Procedure) -> dict[str, Any]:
    """What travels in the picture of a procedure."""
    if asked.running is not None:
        asked = replace(asked, running=without_prices(Project.of(asked.running)).main)
    told = TypeAdapter(Procedure).dump_python(asked, mode="json", exclude_defaults=True)
    options = {"sections": ["operations"]}
    found = picture_evidence(without_prices(Project.of(plan)), {PROCEDURE: told}, options)
    found["digests"][PROCEDURE] = digest(told)
    return found


def procedure_in(evidence: dict[str, Any]) -> Procedure | None:
    """What was asked for, as a picture carries it; None where that is damaged."""
    try:
        return TypeAdapter(Procedure).validate_python(evidence[PROCEDURE])
    except (ValidationError, UserError):
        return None


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
