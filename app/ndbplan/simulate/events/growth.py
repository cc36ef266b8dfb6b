"""Node groups added while a workload runs: from the arrays of the cluster before to the grown one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ndbplan.plan.events import Event, NodesAdded
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.events.changes import changes_of
from ndbplan.simulate.events.nodes import REPORT_S, members, service
from ndbplan.simulate.events.state import Change, World
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.world import column

if TYPE_CHECKING:
    from ndbplan.simulate.model.scenario import Scenario


def added_nodes(plan: Plan, workload: Workload, event: NodesAdded) -> tuple[Plan, list[Change]]:
    """(the plan with the new nodes and reorganised tables, what happens until it is so).

    The new nodes are there from the start and take no part; from `at_s` on rows are copied to them, then
    every node has its share of the load.
    """
    from ndbplan.estimate.load.log_records import operation_redo
    from ndbplan.estimate.times.reorganise import reorganise
    from ndbplan.plan.workloads import OperationKind

    found = reorganise(plan, event.groups, workload)
    after = found.plan_after
    old = {node.id for node in plan.data_nodes}
    seconds = max(REPORT_S, found.duration_s.value)
    moved = {"old": 0.0, "new": 0.0}
    for table in found.tables:
        if table.moves:
            named = plan.table(table.table)
            insert, delete = (
                operation_redo(named, kind, plan.version).value
                for kind in (OperationKind.INSERT, OperationKind.DELETE)
            )
            moved["old"] += table.rows_moved * (insert + delete)
            moved["new"] += table.rows_moved * insert

    def begin(world: World) -> bool | None:
        scenario = world.scenario
        new = {node.host_id for node in after.data_nodes if node.id not in old}
        dark = {spell.object_id for spell in world.outage.down_times() if spell.to_s is None}
        if any({after.host(host_id).id, after.host(host_id).location_id} & dark for host_id in new):
            world.say("no node group is created: hosts of new data nodes are down")
            return False
        world.outage.grow(after)
        steps = seconds / scenario.step_s
        for kind, is_old in (("old", True), ("new", False)):
            nodes = [n for n, c in enumerate(scenario.node_classes) if (c.nodes[0].id in old) is is_old]
            groups = max(1, len({int(scenario.places[n].group) for n in nodes}))
            for n in nodes:
                if not is_old:
                    world.arrays.node_state[n].is_dead = False
                pattern = world.grown_load[n]
                if pattern.sum() > 0 and not world.is_dead(n):
                    scenario.base[n] += moved[kind] / groups / steps * pattern / pattern.sum()
        for group in range(len(scenario.alive)):
            members(world, group)
        scenario.run.copies = True
        world.forget_room()
        world.later(Change(world.at_s + seconds, "the tables are reorganised", end))
        return None

    def end(world: World) -> None:
        scenario = world.scenario
        scenario.base[:] = 0.0
        world.full_load[:] = world.grown_load
        scenario.share[:] = world.grown_share
        for n in range(len(scenario.nodes)):
            node, grown = scenario.nodes[n], world.grown_nodes[n]
            node.inserted_bytes, node.changed_bytes = grown.inserted_bytes, grown.changed_bytes
            node.memory_bytes, node.index_bytes = grown.memory_bytes, grown.index_bytes
            node.fragments = grown.fragments
        if scenario.page_cache is not None and world.grown_cache is not None:
            scenario.page_cache.take(world.grown_cache)
        state = world.arrays.node_state
        total = column(state, lambda node: node.rows_bytes).sum()
        start = scenario.start
        if start[:, 0].sum() > 0:
            column(state, lambda node: node.rows_bytes)[:] = total * start[:, 0] / start[:, 0].sum()
        # Memory of the old nodes is given back by OPTIMIZE TABLE only.
        memory = column(state, lambda node: node.memory_bytes)
        memory[:] = np.maximum(memory, start[:, 1])
        for group in range(len(scenario.alive)):
            members(world, group)
        service(world)
        world.forget_room()

    text = f"{event.groups} node group(s) added, tables are reorganised"
    return after, [Change(event.at_s, text, begin)]


def eventful(
    plan: Plan,
    workload: Workload,
    events: Iterable[Event],
    compile_plan: Callable[[Plan, Workload], Scenario],
) -> tuple[Scenario, Scenario, list[Change], set[str]]:
    """(scenario as it starts, as it is once nodes are added, changes, ids of nodes not yet there).

    `compile_plan` compiles a plan with every node apart. Raises SimulationError for impossible events.
    """
    happening = list(events)
    added = [event for event in happening if isinstance(event, NodesAdded)]
    changes = changes_of(plan, workload, happening)
    scenario = compile_plan(plan, workload)
    if not added:
        return scenario, scenario, changes, set()
    if len(added) > 1:
        raise SimulationError(
            f"node groups are added {len(added)} times; a run can hold one such event",
            where="events",
            fix="add all groups at once, or simulate one step after the other",
        )
    after, more = added_nodes(plan, workload, added[0])
    grown = compile_plan(after, after.workload(workload.id))
    new = {c.nodes[0].id for c in grown.node_classes} - {c.nodes[0].id for c in scenario.node_classes}
    return _before_growth(scenario, grown), grown, sorted([*changes, *more], key=lambda c: c.at_s), new


def _before_growth(scenario: Scenario, grown: Scenario) -> Scenario:
    """The arrays of the grown cluster with the load, shares and rows of the cluster before."""
    at = {c.nodes[0].id: n for n, c in enumerate(scenario.node_classes)}
    load, share, start = (np.zeros_like(a) for a in (grown.load, grown.share, grown.start))
    nodes = grown.nodes.copy()
    for n in range(len(nodes)):
        nodes[n].inserted_bytes = nodes[n].changed_bytes = 0.0
        nodes[n].memory_bytes = nodes[n].index_bytes = 0.0
    for n, node_class in enumerate(grown.node_classes):
        m = at.get(node_class.nodes[0].id)
        if m is not None:
            load[n], start[n], nodes[n] = scenario.load[m], scenario.start[m], scenario.nodes[m]
            share[grown.places[n].group] = scenario.share[scenario.places[m].group]
    cache = grown.page_cache
    if cache is not None and scenario.page_cache is not None:
        cache = cache.before_growth(
            scenario.page_cache, [at.get(node_class.nodes[0].id) for node_class in grown.node_classes]
        )
    # Where a loader is while tables are reorganised nobody says: its work counts in the mean.
    return replace(
        grown, loaders=None, load=load, share=share, start=start, nodes=nodes, run=scenario.run.copy(),
        services=scenario.services, offered=scenario.offered.copy(), base=np.zeros_like(load),
        page_cache=cache,
    )  # fmt: skip
