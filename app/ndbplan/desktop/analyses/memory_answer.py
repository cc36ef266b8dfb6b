"""What the pictures of memory and disks ask the engine, off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_value
from ndbplan.describe.contents import Contents
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.base.quantity import Quantity
    from ndbplan.estimate.estimation import Estimation

_FIGURES = (("memory", "Fullest DataMemory"), ("disk-space", "fullest disk"))


@dataclass(frozen=True)
class WhatIf:
    """More rows and more node groups than the plan has."""

    rows_factor: float = 1.0
    groups: int = 0
    table_id: str | None = None
    """The table that has more rows; None: all."""

    @property
    def is_nothing(self) -> bool:
        """Whether it is the plan itself."""
        return self.rows_factor == 1.0 and not self.groups

    def of(self, plan: Plan) -> Plan:
        """The plan that it makes. Raises UserError."""
        from ndbplan.advise.what_if import what_if

        return what_if(plan, self.rows_factor, self.groups, self.table_id)

    def title(self, plan: Plan) -> str:
        """What it is called as an edit."""
        from ndbplan.advise.what_if import title_of

        table = plan.by_id.get(self.table_id or "")
        return title_of(self.rows_factor, self.groups, getattr(table, "full_name", ""))


@dataclass(frozen=True)
class MemoryQuestion:
    """Which node of which plan, and what if."""

    plan: Plan
    workload_id: str | None
    node_id: int
    changed: WhatIf = field(default_factory=WhatIf)


@dataclass(frozen=True)
class MemoryAnswer:
    """Contents, and the figures of the plan and of what if."""

    question: MemoryQuestion
    plan: Plan
    """With what if."""
    node: Contents | None
    disks: tuple[Contents, ...]
    figures: tuple[str, ...] = ()
    refusal: str = ""


def ask_memory(question: MemoryQuestion, tell: Callable[[MemoryAnswer], object]) -> MemoryAnswer:
    """What a node's memory and disks are taken by, and the figures before and after what if.

    `tell` gets what is known before the months until memory is full, which take several times as long.
    """
    from ndbplan.describe.contents import disk_contents, node_contents
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    plan = question.plan
    now = Estimation(plan, chosen_workload(plan, question.workload_id))
    refusal = ""
    try:
        then = now if question.changed.is_nothing else now.of(question.changed.of(plan))
    except UserError as error:
        then, refusal = now, error.line
    node = next(one for one in then.plan.data_nodes if one.node_id == question.node_id)
    used = {disk.disk_id for disk in then.disk_space.disks}
    disks = [disk for disk in then.plan.host(node.host_id).disks if disk.id in used]
    answer = MemoryAnswer(
        question,
        then.plan,
        node_contents(then, question.node_id),
        tuple(disk_contents(then, disk.id) for disk in disks),
        () if refusal else _figures(now, then),
        refusal,
    )
    if refusal:
        return answer
    tell(answer)
    return replace(answer, figures=(*answer.figures, *_months(now, then)))


def _figures(now: Estimation, then: Estimation) -> tuple[str, ...]:
    """`Fullest DataMemory 37 % → 74 %`, `fullest disk 41 % → 55 %`; without a change only what is."""
    from ndbplan.advise.figures import FIGURES

    told = []
    for name, words in _FIGURES:
        told.append(_pair(words, FIGURES[name].of(now), FIGURES[name].of(then), then is not now))
    nodes = len(then.plan.data_nodes)
    if nodes != len(now.plan.data_nodes):
        told += [f"{nodes} data nodes", "those there now keep the pages that rows leave"]
    return tuple(filter(None, told))


def _months(now: Estimation, then: Estimation) -> tuple[str, ...]:
    from ndbplan.estimate.space.growth import memory_full

    before = memory_full(now.plan)
    if before is None:
        return ()
    return (_pair("DataMemory is full in", before, memory_full(then.plan), then is not now),)


def _pair(words: str, before: Quantity | None, after: Quantity | None, is_changed: bool) -> str:
    if not is_changed:
        return f"{words} {_shown(before)}" if before is not None else ""
    return f"{words} {_shown(before)} → {_shown(after)}"


def _shown(quantity: Quantity | None) -> str:
    if quantity is None:
        return "–"
    if quantity.unit == "months" and quantity.value == 0:
        return "now"
    return format_value(quantity.value, quantity.unit)
