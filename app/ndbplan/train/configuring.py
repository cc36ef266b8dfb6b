"""A configuration that is changed by hand: its file, the server that reads it, the nodes that start with it.

EditConfig(ParameterChange(...))     # config.ini says so; nobody knows yet
ReadConfig()                         # a management server starts with --reload or --initial
renewal(sim, 3)                      # what data node 3 becomes with its next start; None: what it is
server_plan(sim), node_plan(sim, 3)  # plans with what the servers have, and what data node 3 was started with
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ndbplan.configuration.failures import Failures
from ndbplan.configuration.node_groups import node_groups
from ndbplan.ndb.parameters import parameter
from ndbplan.plan.events import ParameterChange
from ndbplan.plan.plan import Plan
from ndbplan.simulate.events.configuration import changed, coming
from ndbplan.simulate.events.handlers import Asked, Order, at_once, handles, planned
from ndbplan.simulate.events.nodes import Renewal
from ndbplan.simulate.model.node_rows import node_facts
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.train.state import ClusterState, state_of


@dataclass(frozen=True)
class EditConfig(Order):
    """The file of the management server has another value."""

    change: ParameterChange


@dataclass(frozen=True)
class ReadConfig(Order):
    """A management server reads it."""


@dataclass(frozen=True)
class NewConfig(Order):
    """The servers have another configuration, which a rolling restart brings to the data nodes."""


planned(NewConfig)(at_once)


@handles(NewConfig)
def count(sim: Simulation, _order: NewConfig) -> None:
    """Each is numbered."""
    state_of(sim).generation += 1


@planned(EditConfig)
def edit_now(order: EditConfig, asked: Asked) -> Iterator[Due]:
    """At once, unless the value cannot be."""
    changed(asked.plan, order.change)
    yield Due(order.at_s, order, of_cluster=False)


planned(ReadConfig)(at_once)


@handles(EditConfig)
def edit(sim: Simulation, order: EditConfig) -> None:
    """Nothing has it yet."""
    state_of(sim).edited = order.change


@handles(ReadConfig)
def read(sim: Simulation, _order: ReadConfig) -> None:
    """Data nodes get it with their next start."""
    state = state_of(sim)
    if state.edited is not None:
        state.served, state.edited, state.configured = state.edited, None, frozenset()
        state.generation += 1


def renewal(sim: Simulation, node_id: int) -> Renewal | None:
    """What a data node is started for, where the server has another configuration than the node."""
    state = state_of(sim)
    node = state.data_node(node_id)
    if state.served is None or node is None or node_id in state.configured:
        return None
    if not _gets(state, state.served, initial=state.nodes[node_id].initial):
        return None
    after = changed(sim.outage.plan, state.served)
    facts = node_facts(after, sim.scenario.workload, node_groups(after))
    return Renewal(state.served.name, facts[node.id].row) if node.id in facts else None


def _gets(state: ClusterState, change: ParameterChange, *, initial: bool) -> bool:
    """Whether a start brings a change: files that are made once stay without --initial [assumed]."""
    return initial or parameter("DB", change.name, state.plan.version).restart != "initial_node"


def has_started(sim: Simulation, node_id: int, *, initial: bool) -> None:
    """A data node has what the server had when it began to start; with the last one all go by it."""
    state = state_of(sim)
    state.generations[node_id] = state.generation
    if state.served is None or node_id in state.configured or not _gets(state, state.served, initial=initial):
        return
    state.configured |= {node_id}
    if state.configured >= state.nodes.keys():
        sim.outage.failures = Failures(changed(sim.outage.plan, state.served))
        state.plan = changed(state.plan, state.served)


def server_plan(sim: Simulation) -> Plan:
    """The plan with the configuration that the management servers give out."""
    state, rolls = state_of(sim), coming(sim)
    plan = state.plan if rolls is None else changed(state.plan, rolls.change)
    return plan if state.served is None else changed(plan, state.served)


def node_plan(sim: Simulation, node_id: int) -> Plan:
    """The plan with the configuration that a data node was started with."""
    state, rolls = state_of(sim), coming(sim)
    if rolls is not None and node_id not in rolls.node_ids:
        return sim.outage.plan
    plan = state.plan if rolls is None else changed(state.plan, rolls.change)
    has_it = state.served is not None and node_id in state.configured
    return changed(plan, state.served) if has_it and state.served is not None else plan
