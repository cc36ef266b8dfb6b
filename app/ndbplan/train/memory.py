"""What data nodes of a live cluster say of their memory: pages, and the thresholds that the log tells of."""

from __future__ import annotations

import math
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.row_types import column
from ndbplan.configuration.settings import node_settings, usable_data_memory
from ndbplan.estimate.stored import memory
from ndbplan.ndb.console import form
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.plan.plan import Plan
from ndbplan.simulate.ndbinfo import index_pages
from ndbplan.simulate.simulation import Simulation
from ndbplan.train.quiet_memory import QuietMemory
from ndbplan.train.state import ANSWERS, state_of
from ndbplan.train.without_rows import WithoutRows, without_rows

THRESHOLDS = (80, 90, 100)
"""Percent at which the log tells of DataMemory [8.4.8 and 7.4.10 logs; checked once a second]."""


class Pages(NamedTuple):
    """Pages of one kind of memory."""

    used: int
    total: int
    kib: int
    """Size of a page."""

    @property
    def percent(self) -> int:
        """Rounded down."""
        return self.used * 100 // self.total if self.total else 0


def data_pages(sim: Simulation, node_id: int) -> tuple[Pages, Pages]:
    """Pages of DataMemory and of the index memory of a data node that runs, as the log tells of them.

    Where both share one memory, data counts against what the index leaves, and the index against what data
    leaves (8.4.8: 872 of 5,096 and 24 of 4,248 pages of 5,120).
    """
    data, index = memory_pages(sim, node_id)
    if index is not None:
        return data, index
    own = _without_rows(sim, node_id)
    of_rows = max(0, data.used - own.data // PAGE_BYTES)
    hashed = round(of_rows * _hash_share(state_of(sim).plan)) + -(-own.hash_index // PAGE_BYTES)
    rest = Pages(data.used - hashed, data.total - hashed, 32)
    return rest, Pages(hashed, data.total - data.used + hashed, 32)


def memory_pages(sim: Simulation, node_id: int) -> tuple[Pages, Pages | None]:
    """Pages of DataMemory of a data node that runs, and of its IndexMemory where there is one of its own."""
    state = state_of(sim)
    plan, node = state.plan, state.data_node(node_id)
    assert node is not None
    kib, n = int(form(plan.version, "index_page_kib")), sim.node(node.id)
    settings = node_settings(plan, node)
    if n < 0 or state.nodes[node_id].status not in ANSWERS:
        total, used, indexed = settings.number("DataMemory") // PAGE_BYTES, 0, 0.0
    else:
        limit, now = float(sim.laws.nodes[n].memory_limit_bytes), sim.state.node_state[n]
        total = round(limit / usable_data_memory(settings)) // PAGE_BYTES
        own = without_rows(sim, node_id)
        used = min(total, -int(-float(now.memory_bytes) // PAGE_BYTES) + own.data // PAGE_BYTES)
        indexed = float(now.index_bytes) + own.index_memory
    if kib * 1024 == PAGE_BYTES:
        return Pages(used, total, 32), None
    most = index_pages(plan, node)
    return Pages(used, total, 32), Pages(min(most, -int(-indexed // (kib * 1024))), most, kib)


def _without_rows(sim: Simulation, node_id: int) -> WithoutRows:
    """Nothing of a node that does not run."""
    if state_of(sim).nodes[node_id].status not in ANSWERS:
        return WithoutRows(0, 0, False)
    return without_rows(sim, node_id)


@kept_by_identity(4)
def _hash_share(plan: Plan) -> float:
    """Share of the pages in use that hash indexes take."""
    tables = memory(plan).tables
    hashed = sum(table.hash_index_bytes.value for table in tables)
    whole = sum(table.total_bytes.value for table in tables)
    return hashed / whole if whole > 0 else 0.0


_ROUNDED_PAGES = 3
"""Pages that rounding may add between two looks."""


def _quiet(plan: Plan, limit_bytes: float, used_bytes: float, pages: Pages, level: int) -> QuietMemory:
    """Between which bytes no threshold is crossed: hash indexes only make the way to one longer."""
    above = min((one for one in THRESHOLDS if one > level), default=None)
    room = math.inf if above is None else above / 100 * pages.total - pages.used - _ROUNDED_PAGES
    spare = pages.used - level / 100 * pages.total - _ROUNDED_PAGES if level else math.inf
    low, high = used_bytes - spare * PAGE_BYTES, used_bytes + room * PAGE_BYTES
    return QuietMemory(plan, limit_bytes, low, high)


def tell_memory(sim: Simulation) -> None:
    """Thresholds that DataMemory of a node has crossed since the last look."""
    state, at_s = state_of(sim), sim.at_s
    used = column(sim.state.node_state, lambda node: node.memory_bytes)
    limits = column(sim.laws.nodes, lambda node: node.memory_limit_bytes)
    for n, node_class in enumerate(sim.scenario.node_classes):
        node_id = node_class.node_id
        told = state.memory_told.get(node_id, 0)
        # Far below the first threshold nothing is worked out: this is asked every second of every node.
        if (used[n] < 0.5 * limits[n] and not told) or state.nodes[node_id].status not in ANSWERS:
            continue
        quiet = state.memory_quiet.get(node_id)
        if quiet is not None and quiet.holds(state.plan, float(limits[n]), float(used[n])):
            continue
        pages = data_pages(sim, node_id)[0]
        level = max((one for one in THRESHOLDS if pages.percent >= one), default=0)
        state.memory_quiet[node_id] = _quiet(state.plan, float(limits[n]), float(used[n]), pages, level)
        if level != told:
            state.memory_told[node_id] = level
            change = "increased to" if level > told else "decreased to"
            state.say(
                at_s, "memory", node_id, change=change, percent=pages.percent, used=pages.used,
                total=pages.total,
            )  # fmt: skip
