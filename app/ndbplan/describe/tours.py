"""Where to look in a sample: a few steps, each with the panel and the moment that are its point."""

from __future__ import annotations

from typing import Any, NamedTuple

from ndbplan.base.resources import read_json

TARGETS = (
    "panel", "canvas", "inspector", "help", "rates", "latency", "buffers", "log", "writes", "summary", "foot",
)  # fmt: skip
"""What a step may point at: a part of the window (help: what would help), or a chart of the simulation."""


class Step(NamedTuple):
    """One thing to look at."""

    title: str
    text: str
    target: str
    """One of TARGETS."""
    tab: str = ""
    """Tab of the analyses; empty: as it is."""
    workload: str = ""
    """Id of the workload to simulate; empty: none."""
    at_s: float | None = None
    """Moment of that run."""
    select: tuple[str, ...] | None = None
    """Ids to select; None: the selection stays."""


def tour_of(sample: str) -> tuple[Step, ...]:
    """The steps of a sample by its name; none for one that has no tour."""
    return tuple(_step(row) for row in read_json("samples/tours.json").get(sample, ()))


def _step(row: dict[str, Any]) -> Step:
    select = row.get("select")
    return Step(**{**row, "select": tuple(select) if select is not None else None})
