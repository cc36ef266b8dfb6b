"""Measured rates that replace the engine's constants, with their source."""

from __future__ import annotations

from typing import Any

from ndbplan.base import units
from ndbplan.base.errors import UserError
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.widgets.grid import Cell, Grid, Rows
from ndbplan.desktop.widgets.units import TEXT, Unit
from ndbplan.edits import parts as edits
from ndbplan.ndb.constants import all_constants
from ndbplan.plan.plan import Calibration, Plan

PLAIN = Unit(
    units.parse_count, lambda value: f"{value:g}" if float(f"{value:g}") == value else repr(value), "2.5"
)
"""A number in the constant's own unit."""


def calibration_grid(context: Context) -> Grid:
    """The editor of a plan's calibrations."""
    rows = Rows(
        "calibration",
        lambda plan: plan.calibrations,
        lambda plan, parts: edits.set_plan(plan, calibrations=parts),
        _another,
    )
    cells = (
        Cell("constant", "Constant", 124, choices=_constants, tip="What was measured, and in which unit"),
        Cell("value", "Value", 66, PLAIN),
        Cell("low", "Least", 56, PLAIN, optional=True, tip="Empty: 10 % below the value"),
        Cell("high", "Most", 56, PLAIN, optional=True, tip="Empty: 10 % above the value"),
        Cell("source", "Source", 120, TEXT, tip="Where it was measured"),
    )
    return Grid(context.document, rows, cells)


def _constants(_plan: Plan) -> list[tuple[str, str]]:
    return [
        (c.name, f"{c.meaning or c.name} ({c.unit})" if c.unit else c.meaning or c.name)
        for c in sorted(all_constants().values(), key=lambda c: (c.meaning or c.name).lower())
    ]


def _another(_plan: Plan, parts: tuple[Any, ...]) -> Calibration:
    taken = {part.constant for part in parts}
    for constant in all_constants().values():
        if constant.name not in taken and constant.evidence in ("measured", "fitted", "assumed"):
            return Calibration(constant=constant.name, value=constant.value, source="measured here")
    raise UserError("every constant is calibrated already", fix="change one of them")
