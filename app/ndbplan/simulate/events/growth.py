"""Node groups added while a workload runs: from the arrays of the cluster before to the grown one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ndbplan.base.row_types import column
from ndbplan.plan.events import NodesAdded
from ndbplan.plan.places import chain
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.events.handlers import handles
from ndbplan.simulate.events.nodes import REPORT_S, members, service
from ndbplan.simulate.model.scenario import Scenario
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.stop import ReorganiseTime


class Move(NamedTuple):
    """The rows of one table that go to new nodes."""

    table_id: str
    seconds: float
    old_bytes: float
    """Log that all old nodes write for it, and all new ones."""
    new_bytes: float


@dataclass(frozen=True)
class NodesCome:
    """New data nodes are started, and rows are copied to them."""

    after: Plan
    """With the new nodes and the reorganised tables."""
    old: frozenset[str]
    """Ids of the data nodes that were there before."""
    seconds: float
    """How long the copying takes."""
    moves: tuple[Move, ...]
    """One table after the other."""
    text: str


@dataclass(frozen=True)
class TableReorganised:
    """The rows of one table are where they are to be; others are not yet."""

    table_id: str


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
    moves: list[Move] = []
    for table in found.tables:
        if table.moves:
            named = plan.table(table.table)
            insert, delete = (
                operation_redo(named, kind, plan.version).value
                for kind in (OperationKind.INSERT, OperationKind.DELETE)
            )
            moved = table.rows_moved
            log = moved * (insert + delete), moved * insert
            moves.append(Move(named.id, table.duration_s.value, *log))
    come = NodesCome(
        after=found.plan_after,
        # Nodes that the plan keeps without a node group (65536) are the first that come.
        old=frozenset(node.id for node in plan.data_nodes if node.node_group != NODE_GROUP_NONE),
        seconds=max(REPORT_S, found.duration_s.value),
        moves=tuple(moves),
        text=f"{event.groups} node group(s) added, tables are reorganised",
    )
    return found.plan_after, Due(event.at_s, come)


@handles(NodesCome)
def nodes_come(sim: Simulation, event: NodesCome) -> None:
    """They are started, unless their hosts are down, and all tables are reorganised together."""
    come(sim, event)


def come(sim: Simulation, event: NodesCome, only: str = "", before: Collection[str] = frozenset()) -> None:
    """New nodes are started, unless their hosts are down; and get the rows of all tables, or of `only` one.

    `before`: ids of the tables that have been moved already.
    """
    scenario, laws, after = sim.scenario, sim.laws, event.after
    new = {node.host_id for node in after.data_nodes if node.id not in event.old}
    dark = {spell.object_id for spell in sim.outage.down_times() if spell.to_s is None}
    around = (chain(after.locations, after.host(host_id).location_id) for host_id in new)
    if new & dark or any(place.id in dark for places in around for place in places):
        sim.say("no node group is created: hosts of new data nodes are down")
        return
    if not before:
        sim.outage.grow(after)
    moves = [m for m in event.moves if m.table_id not in before and only in ("", m.table_id)]
    seconds = event.seconds
    if only or before:
        seconds = max(REPORT_S, sum(move.seconds for move in moves))
    steps = seconds / scenario.step_s
    old_bytes, new_bytes = sum(m.old_bytes for m in moves), sum(m.new_bytes for m in moves)
    for moved, is_old in ((old_bytes, True), (new_bytes, False)):
        nodes = [n for n, c in enumerate(scenario.node_classes) if (c.nodes[0].id in event.old) is is_old]
        groups = max(1, len({int(laws.places[n].group) for n in nodes}))
        for n in nodes:
            if not is_old and not before:
                sim.state.node_state[n].is_dead = False
            pattern = sim.story.grown.laws.load[n]
            if pattern.sum() > 0 and not sim.is_dead(n):
                laws.base[n] += moved / groups / steps * pattern / pattern.sum()
    for group in range(len(laws.alive)):
        members(sim, group)
    laws.run.copies = True
    sim.forget_room()
    sim.reorganising.append(ReorganiseTime(sim.at_s, sim.at_s + seconds))
    sim.later(Due(sim.at_s + seconds, TableReorganised(only) if only else TablesReorganised()))
    sim.say(f"table {after.by_id[only].full_name} is reorganised" if only else event.text)


@handles(TableReorganised)
def one_reorganised(sim: Simulation, event: TableReorganised) -> None:
    """Nothing is copied any more; load and rows are taken to shift with the last table."""
    sim.laws.base[:] = 0.0
    sim.laws.run.copies = False
    sim.forget_room()


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
        node.updated_bytes, node.deleted_bytes = target.updated_bytes, target.deleted_bytes
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
        nodes[n].updated_bytes = nodes[n].deleted_bytes = 0.0
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
