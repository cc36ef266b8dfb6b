"""Node groups added while a workload runs: from the arrays of the cluster before to the grown one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ndbplan.base.row_types import column
from ndbplan.plan.events import NodesAdded
from ndbplan.plan.places import chain
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.events.handlers import handles
from ndbplan.simulate.events.nodes import REPORT_S, members, service
from ndbplan.simulate.model.scenario import Scenario
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.stop import ReorganiseTime


@dataclass(frozen=True)
class NodesCome:
    """New data nodes are started, and rows are copied to them."""

    after: Plan
    """With the new nodes and the reorganised tables."""
    old: frozenset[str]
    """Ids of the data nodes that were there before."""
    seconds: float
    """How long the copying takes."""
    old_bytes: float
    """Log that all old nodes write for it, and all new ones."""
    new_bytes: float
    text: str


@dataclass(frozen=True)
class TablesReorganised:
    """Every node has its share of the rows."""


def added_nodes(plan: Plan, workload: Workload, event: NodesAdded) -> tuple[Plan, Due]:
    """(the plan with the new nodes and reorganised tables, what happens until it is so).

    The new nodes are there from the start and take no part; from `at_s` on rows are copied to them, then
    every node has its share of the load.
    """
    from ndbplan.estimate.grown import reorganise
    from ndbplan.estimate.load.log_records import operation_redo
    from ndbplan.plan.workloads import OperationKind

    found = reorganise(plan, event.groups, workload)
    old_bytes = new_bytes = 0.0
    for table in found.tables:
        if table.moves:
            named = plan.table(table.table)
            insert, delete = (
                operation_redo(named, kind, plan.version).value
                for kind in (OperationKind.INSERT, OperationKind.DELETE)
            )
            old_bytes += table.rows_moved * (insert + delete)
            new_bytes += table.rows_moved * insert
    come = NodesCome(
        after=found.plan_after,
        old=frozenset(node.id for node in plan.data_nodes),
        seconds=max(REPORT_S, found.duration_s.value),
        old_bytes=old_bytes,
        new_bytes=new_bytes,
        text=f"{event.groups} node group(s) added, tables are reorganised",
    )
    return found.plan_after, Due(event.at_s, come)


@handles(NodesCome)
def come(sim: Simulation, event: NodesCome) -> None:
    """The new nodes are started, unless their hosts are down."""
    scenario, laws, after = sim.scenario, sim.laws, event.after
    new = {node.host_id for node in after.data_nodes if node.id not in event.old}
    dark = {spell.object_id for spell in sim.outage.down_times() if spell.to_s is None}
    around = (chain(after.locations, after.host(host_id).location_id) for host_id in new)
    if new & dark or any(place.id in dark for places in around for place in places):
        sim.say("no node group is created: hosts of new data nodes are down")
        return
    sim.outage.grow(after)
    steps = event.seconds / scenario.step_s
    for moved, is_old in ((event.old_bytes, True), (event.new_bytes, False)):
        nodes = [n for n, c in enumerate(scenario.node_classes) if (c.nodes[0].id in event.old) is is_old]
        groups = max(1, len({int(laws.places[n].group) for n in nodes}))
        for n in nodes:
            if not is_old:
                sim.state.node_state[n].is_dead = False
            pattern = sim.story.grown.laws.load[n]
            if pattern.sum() > 0 and not sim.is_dead(n):
                laws.base[n] += moved / groups / steps * pattern / pattern.sum()
    for group in range(len(laws.alive)):
        members(sim, group)
    laws.run.copies = True
    sim.forget_room()
    sim.reorganising.append(ReorganiseTime(sim.at_s, sim.at_s + event.seconds))
    sim.later(Due(sim.at_s + event.seconds, TablesReorganised()))
    sim.say(event.text)


@handles(TablesReorganised)
def reorganised(sim: Simulation, _event: TablesReorganised) -> None:
    """Load, shares, rows and page cache are those of the grown cluster."""
    laws, grown = sim.laws, sim.story.grown
    laws.base[:] = 0.0
    sim.is_grown = True
    laws.share[:] = grown.laws.share
    for n in range(len(laws.nodes)):
        node, target = laws.nodes[n], grown.laws.nodes[n]
        node.inserted_bytes, node.new_bytes = target.inserted_bytes, target.new_bytes
        node.updated_bytes, node.changed_bytes = target.updated_bytes, target.changed_bytes
        node.memory_bytes, node.index_bytes = target.memory_bytes, target.index_bytes
        node.fragments = target.fragments
    if sim.page_cache is not None and grown.page_cache is not None:
        sim.page_cache = sim.page_cache.grown(grown.page_cache)
    state = sim.state.node_state
    rows = column(state, lambda node: node.rows_bytes)
    held, memory, space, index = grown.start.T
    if held.sum() > 0:
        rows[:] = rows.sum() * held / held.sum()
    # Room of the old nodes is given back by OPTIMIZE TABLE only.
    for room, least in (
        (column(state, lambda node: node.memory_bytes), memory),
        (column(state, lambda node: node.space_bytes), space),
        (column(state, lambda node: node.index_bytes), index),
    ):
        room[:] = np.maximum(room, least)
    for group in range(len(laws.alive)):
        members(sim, group)
    service(sim)
    sim.forget_room()
    sim.say("the tables are reorganised")


def before_growth(scenario: Scenario, grown: Scenario) -> Scenario:
    """The arrays of the grown cluster with the load, shares and rows of the cluster before."""
    at = {c.nodes[0].id: n for n, c in enumerate(scenario.node_classes)}
    old, new = scenario.laws, grown.laws
    load, share, start = (np.zeros_like(a) for a in (new.load, new.share, grown.start))
    nodes = new.nodes.copy()
    for n in range(len(nodes)):
        nodes[n].inserted_bytes = nodes[n].new_bytes = 0.0
        nodes[n].updated_bytes = nodes[n].changed_bytes = 0.0
        nodes[n].memory_bytes = nodes[n].index_bytes = 0.0
    for n, node_class in enumerate(grown.node_classes):
        m = at.get(node_class.nodes[0].id)
        if m is not None:
            load[n], start[n], nodes[n] = old.load[m], scenario.start[m], old.nodes[m]
            share[new.places[n].group] = old.share[old.places[m].group]
    cache = grown.page_cache
    if cache is not None and scenario.page_cache is not None:
        places = [at.get(node_class.nodes[0].id) for node_class in grown.node_classes]
        cache = cache.before_growth(scenario.page_cache, places)
    laws = new._replace(
        load=load, share=share, nodes=nodes, run=old.run, offered=old.offered, base=np.zeros_like(load)
    )
    # Where a loader is while tables are reorganised nobody says: its work counts in the mean.
    return replace(grown, laws=laws, loaders=None, start=start, services=scenario.services, page_cache=cache)


CompilePlan = Callable[[Plan, Workload], Scenario]
"""Compiles a plan with every node apart."""
