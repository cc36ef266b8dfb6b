"""One answer of sizing: a cluster that passes, what it costs, how near it comes to each limit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ndbplan.advise.cost import cost_of
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.sizing.verdict import Met
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_value
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.file import dumps
from ndbplan.plan.plan import Plan

_FIGURES = ("memory", "disk-space", "restart", "backup", "survive")


@dataclass(frozen=True)
class SizedPlan(Shape):
    """One cluster that passes."""

    JSON = "rank title figures cost why limits certain node_groups settings plan=document"

    rank: int
    title: str
    plan: Plan
    why: str
    """The limit that is nearest."""
    limits: tuple[Met, ...]
    """All of them, nearest first."""
    node_groups: int
    settings: tuple[str, ...]
    """Redo and checkpoint parameters that differ from what follows from the host, because it passes so."""

    @property
    def certain(self) -> bool:
        """Whether every limit is met at the unfavourable end of every range."""
        return all(met.certain for met in self.limits)

    @cached_property
    def cost(self) -> Quantity | None:
        """None: no price is stated."""
        return cost_of(self.plan).total

    @cached_property
    def price(self) -> float | None:
        """The value of `cost`; None: not everything in it has a price."""
        cost = cost_of(self.plan)
        return None if cost.total is None or cost.unpriced else cost.total.value

    @property
    def cost_in_words(self) -> str:
        """The cost, and whether it leaves something out; nothing where no price is stated."""
        if self.cost is None:
            return ""
        left_out = "" if self.price is not None else " and what has no price stated"
        return f"{format_value(self.cost.value, self.cost.unit)}{left_out}"

    @cached_property
    def figures(self) -> dict[str, Quantity | None]:
        """Headline figures of the plan as it begins, without load."""
        with keeping():
            now = Estimation(self.plan)
            return {name: FIGURES[name].if_known(now) for name in _FIGURES}

    @cached_property
    def document(self) -> dict[str, Any]:
        """The plan as its file holds it."""
        import json

        found: dict[str, Any] = json.loads(dumps(self.plan))
        return found
