"""How long work takes on an acted cluster, when it is held against what the runbook states.

Each thing that data nodes do lasts somewhere in the range of its own estimate; what a script does beside it,
one after the other or at once, is up to the script.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import cast

from ndbplan.base.quantity import Quantity
from ndbplan.configuration.needs import nodes_for_new_groups
from ndbplan.configuration.node_groups import node_groups, reserved_nodes
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits.growth import add_node_group
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE, Kind
from ndbplan.estimate.times.restart_phases import STOP, Phase
from ndbplan.estimate.times.restore_backup import REBUILD_INDEXES, RESTORE_ROWS
from ndbplan.operations.schema import disk_data_statements, table_name
from ndbplan.operations.table_moves import optimise
from ndbplan.plan.plan import Plan


class ActedTimes:
    """Durations of a plan's cluster; `before`: what runs, where a part brings it to the plan."""

    def __init__(self, plan: Plan, before: Plan | None, drawn: random.Random) -> None:
        self.before = Estimation(before or plan)
        self.now = Estimation(plan)
        self.random = drawn
        self.is_empty: Callable[[], bool] = lambda: False
        """Whether there are no rows yet, or no more, whatever the plan says."""
        self.down: Callable[[], tuple[int, ...]] = lambda: ()
        """Data nodes that are not started beside others that are: they start together."""

    def __call__(self, kind: str, what: int | str) -> float:
        """Seconds that a thing lasts: a start or stop of a node, a backup, a statement on a table."""
        if isinstance(what, int) and kind in ("stop", "start", "initial", "node", "system"):
            return self._of_node(kind, what)
        ways: dict[str, Callable[[str], float]] = {
            "backup": lambda _: self._drawn(self.before.backup().duration_s),
            "restore-meta": lambda _: self._restoring(None),
            "restore-data": lambda _: self._restoring(RESTORE_ROWS) * self._share(what),
            "rebuild-indexes": lambda _: self._restoring(REBUILD_INDEXES),
            "files": lambda _: self._drawn(self.now.create_files().duration_s) / self._statements,
            "reorganise": lambda name: self._drawn(self._moves[name]),
            "optimise": lambda name: self._drawn(self._optimised[name]),
        }
        return ways[kind](str(what))

    def _drawn(self, stated: Quantity) -> float:
        """As often below what is expected as above."""
        ends = (stated.low, stated.value), (stated.value, stated.high)
        return self.random.uniform(*self.random.choice(ends))

    def _of_node(self, kind: str, node_id: int) -> float:
        """A start, or the stop, of a data node: each of its phases somewhere in its range."""
        is_stop = kind == "stop"
        now = self.now if self._has(self.now, node_id) else self._grown
        if any(node.node_id == node_id for node in reserved_nodes(self.before.plan)):
            # It holds nothing yet.
            now = self.before
        phases: tuple[Phase, ...]
        if kind == "initial" and not self._has(self.before, node_id):
            new = [node for node in now.plan.data_nodes if not self._has(self.before, node.node_id)]
            phases = now.start_beside(new, self.before, IDLE).phases
        else:
            at = now.of(now.plan.replace(tables=(), workloads=())) if self.is_empty() else now
            at_once = replace(IDLE, restarting=self.down())
            phases = at.restart("node" if is_stop else cast(Kind, kind), node_id, at_once).phases
        return sum(self._drawn(one.duration_s) for one in phases if (one.name == STOP) == is_stop)

    def _has(self, at: Estimation, node_id: int) -> bool:
        return any(node.node_id == node_id for node in at.plan.data_nodes)

    @cached_property
    def _grown(self) -> Estimation:
        return Estimation(add_node_group(self.now.plan))

    def _share(self, node_id: int | str) -> float:
        """Of the rows of its node group that a node has in its part of a backup: no row is in two.

        One that is in no group has none.
        """
        in_a_group = any(node.node_id == node_id for group in node_groups(self.before.plan) for node in group)
        return in_a_group / no_of_replicas(self.before.plan)

    @property
    def _statements(self) -> int:
        return max(1, len(tuple(disk_data_statements(self.now.plan))))

    def _restoring(self, phase: str | None) -> float:
        """One phase; None: what comes before rows and indexes."""
        named = {one.name: one.duration_s for one in self.before.restore().phases}
        first = (one for name, one in named.items() if name not in (RESTORE_ROWS, REBUILD_INDEXES))
        return sum(map(self._drawn, first if phase is None else (named[phase],)))

    @cached_property
    def _moves(self) -> dict[str, Quantity]:
        """REORGANIZE of each table: when a group is added, or on the way to a plan with more of them."""
        plan = self.now.plan
        new = nodes_for_new_groups(self.before.plan, plan)
        small = Estimation(plan.replace(processes=tuple(p for p in plan.processes if p not in new)))
        moved = small.reorganise_to(plan) if new else self.now.reorganise()
        names = map(table_name, plan.tables)
        return {name: one.duration_s for name, one in zip(names, moved.tables, strict=True)}

    @cached_property
    def _optimised(self) -> dict[str, Quantity]:
        return {table_name(table): optimise(self.now.plan, table) for table in self.now.plan.tables}
