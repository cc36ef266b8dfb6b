"""Changes of the configuration in a run: a rolling restart, turn after turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ndbplan.configuration.failures import Failures
from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.events import ParameterChange
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.simulate.events.failures import stop_for_restart
from ndbplan.simulate.events.handlers import Asked, handles, planned
from ndbplan.simulate.events.nodes import REPORT_S, Renewal, Starts, start
from ndbplan.simulate.model.node_rows import node_facts
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.world.laws import Node

NEXT_TURN_S = 1.0
"""From the last node of a turn that is durable again to the stop of the next [assumed]."""


@dataclass(frozen=True)
class RollingRestart:
    """Every data node gets another value of a parameter."""

    number: int
    name: str
    turns: tuple[tuple[DataNode, ...], ...]
    rows: Mapping[str, Node]
    """What each node is with the new value, by the id of its process."""
    starts: Starts


@dataclass(frozen=True)
class Turn:
    """The nodes of a turn stop."""

    rolling: RollingRestart
    turn: int


@dataclass(frozen=True)
class StartsWithValue:
    """One of them is started."""

    turn: Turn
    node: DataNode


@dataclass(frozen=True)
class HasValue:
    """One of them is durable again."""

    turn: Turn
    node_id: str


@planned(ParameterChange)
def parameter_change(event: ParameterChange, asked: Asked) -> Iterator[Due]:
    """A rolling restart: node after node stops, starts with the new value, and is durable again."""
    after = set_parameter(asked.plan, "data_node", event.name, event.value)
    facts = node_facts(after, asked.workload, node_groups(asked.plan))
    rows = {node_id: found.row for node_id, found in facts.items()}
    turns = _turns(asked.plan)
    if turns:
        rolling = RollingRestart(asked.number, event.name, tuple(turns), rows, Starts(after))
        yield Due(event.at_s, Turn(rolling, 0), last=True)


def _turns(plan: Plan) -> list[tuple[DataNode, ...]]:
    """Which nodes a rolling restart stops together: one of each group, or one at a time where the cluster
    would not survive that."""
    groups = node_groups(plan)
    failures = Failures(plan)
    found: list[tuple[DataNode, ...]] = []
    for slot in range(max(len(group) for group in groups)):
        together = tuple(group[slot] for group in groups if slot < len(group))
        damage = failures.damage(())._replace(dead=frozenset(node.node_id for node in together))
        if failures.after(failures.running, damage).stops:
            found += [(node,) for node in together]
        else:
            found.append(together)
    return found


@handles(Turn)
def take_turn(sim: Simulation, event: Turn) -> None:
    """Stop the nodes of a turn; the next turn begins when all of them are durable again."""
    rolling = event.rolling
    stopped = stop_for_restart(sim, rolling.turns[event.turn], rolling.name)
    if stopped == ():
        # They are down already: there is nothing to stop.
        _next_turn(sim, event, sim.at_s)
    sim.not_durable[rolling.number] = frozenset(node.id for node in stopped or ())
    for node in stopped or ():
        sim.later(Due(sim.at_s + REPORT_S, StartsWithValue(event, node)))


def _next_turn(sim: Simulation, turn: Turn, at_s: float) -> None:
    if turn.turn + 1 < len(turn.rolling.turns):
        sim.later(Due(at_s, Turn(turn.rolling, turn.turn + 1), last=True))


@handles(StartsWithValue)
def start_with_value(sim: Simulation, event: StartsWithValue) -> None:
    """The start of a node that was stopped for its new value."""
    rolling, node = event.turn.rolling, event.node
    renewal = Renewal(rolling.name, rolling.rows[node.id], HasValue(event.turn, node.id))
    if start(sim, node, rolling.starts, renewal):
        sim.say(f"node {node.node_id} starts")


@handles(HasValue)
def have_value(sim: Simulation, event: HasValue) -> None:
    """A node of the turn is done; after the last one the next turn begins."""
    rolling = event.turn.rolling
    left = sim.not_durable[rolling.number] - {event.node_id}
    sim.not_durable[rolling.number] = left
    if not left:
        _next_turn(sim, event.turn, sim.at_s + NEXT_TURN_S)
