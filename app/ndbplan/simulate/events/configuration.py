"""Changes of the configuration in a run: a rolling restart, turn after turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ndbplan.base.units import format_bytes_binary
from ndbplan.configuration.failures import Failures
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.stated import Fate, readings
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import assign_role
from ndbplan.estimate.stored import memory
from ndbplan.estimate.times.restart import Kind
from ndbplan.ndb.parameters import knows, parameter
from ndbplan.plan.events import ParameterChange
from ndbplan.plan.fields import NO_PARAMETERS
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.workloads import JobLoad
from ndbplan.simulate.events.failures import stop_for_restart, why_not_stopped
from ndbplan.simulate.events.handlers import Asked, Order, handles, planned
from ndbplan.simulate.events.nodes import REPORT_S, Renewal, Started, Starts, start
from ndbplan.simulate.model.node_rows import SimulationError, node_facts
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.world.laws import Node

NEXT_TURN_S = 1.0
"""From the last node of a turn that is durable again to the stop of the next [assumed]."""


@dataclass(frozen=True)
class MoveFiles(Order):
    """What data nodes write for some purposes goes to other disks, with a rolling restart.

    Files are not copied: but for backups each node starts with --initial.
    """

    roles: tuple[DiskRole, ...]
    disks: tuple[tuple[str, str], ...]
    """Process id and the disk's id, of each node that moves."""


Change = ParameterChange | MoveFiles
_NODE: Kind = "node"
_INITIAL: Kind = "initial"


@dataclass(frozen=True)
class ConfigurationComes:
    """The management server has another configuration: the rolling restart begins."""

    number: int
    change: Change


@dataclass(frozen=True)
class NewNode:
    """What a data node is once it has started with the new configuration."""

    row: Node
    disks: tuple[str, ...]
    """Ids of the disks of its roles, in the order of `DiskRole`."""


@dataclass(frozen=True)
class RollingRestart:
    """Every data node that is concerned gets another configuration."""

    number: int
    name: str
    change: Change
    turns: tuple[tuple[DataNode, ...], ...]
    nodes: Mapping[str, NewNode]
    """By the id of its process."""
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


def changed(plan: Plan, change: Change) -> Plan:
    """The plan with a change of the configuration."""
    if isinstance(change, ParameterChange):
        return set_parameter(plan, "data_node", change.name, change.value)
    for process_id, disk_id in change.disks:
        for role in change.roles:
            plan = assign_role(plan, process_id, role, disk_id)
    return plan


@planned(ParameterChange)
def parameter_change(event: ParameterChange, asked: Asked) -> Iterator[Due]:
    """A rolling restart: node after node stops, starts with the new value, and is durable again."""
    after = changed(asked.plan, event)
    (reading,) = readings("DB", NO_PARAMETERS.with_(event.name, event.value), asked.plan.ndb_version)
    if reading.fate is not Fate.COUNTS:
        reason = reading.reason or "is no parameter that can be set for data nodes of this version"
        raise SimulationError(f"{event.name} {reason}", where="events", fix="name another parameter or value")
    if needs_all_down(event.name, asked.plan):
        raise SimulationError(
            f"{event.name} changes only when all data nodes have stopped and start together",
            where="events",
            fix="a changed plan has it, and says the steps of the change",
        )
    if not isinstance(asked.workload.load, JobLoad) and (why := _why_none_starts(asked.plan, after)):
        raise SimulationError(
            f"{event.name}={event.value}: {why}", where="events", fix="the rolling restart would stop there"
        )
    yield Due(event.at_s, ConfigurationComes(asked.number, event), last=True)


def _why_none_starts(before: Plan, after: Plan) -> str:
    """What data nodes have too little memory for after a change of the configuration, and had before."""
    was, then = memory(before), memory(after)
    for old, new in zip(was.nodes, then.nodes, strict=True):
        rows, most = new.data_memory_bytes, new.data_memory_limit_bytes
        if rows.low > most and old.data_memory_bytes.low <= old.data_memory_limit_bytes:
            room, taken = format_bytes_binary(most), format_bytes_binary(rows.value)
            return f"data node {new.node_id} cannot restore rows of {taken} into {room} of DataMemory"
        if new.ram_bytes.low > new.ram_limit_bytes >= old.ram_bytes.low:
            return (
                f"data node {new.node_id} allocates {format_bytes_binary(new.ram_bytes.value)} and may take "
                f"{format_bytes_binary(new.ram_limit_bytes)}: the kernel kills it before it has started"
            )
    for old_host, host in zip(was.hosts, then.hosts, strict=True):
        ram = host.data_nodes_bytes
        if ram.low > host.memory_bytes >= old_host.data_nodes_bytes.low:
            name = after.host(host.host_id).hostname
            return (
                f"the data nodes of {name} allocate {format_bytes_binary(ram.value)} of its "
                f"{format_bytes_binary(host.memory_bytes)}: the kernel kills them before they have started"
            )
    return ""


def needs_all_down(name: str, plan: Plan) -> bool:
    """Whether a rolling restart cannot change a parameter of data nodes: all have to be down at once."""
    return "system" in parameter("DB", name, plan.version).restart


@planned(MoveFiles)
def move_files(order: MoveFiles, asked: Asked) -> Iterator[Due]:
    """The same, of the nodes whose files move."""
    changed(asked.plan, order)
    yield Due(order.at_s, ConfigurationComes(asked.number, order), last=True)


@handles(ConfigurationComes)
def configuration_comes(sim: Simulation, event: ConfigurationComes) -> None:
    """What it makes of each node, and in which order they are restarted."""
    change, plan = event.change, sim.outage.plan
    after = changed(plan, change)
    facts = node_facts(after, sim.scenario.workload, node_groups(after))
    nodes = {i: NewNode(one.row, tuple(one.disks[role].id for role in DiskRole)) for i, one in facts.items()}
    only, name, kind = set(nodes), "", _NODE
    if isinstance(change, MoveFiles):
        only = {process_id for process_id, _ in change.disks}
        name = f"{' and '.join(role.value for role in change.roles)} files"
        kind = _INITIAL if set(change.roles) - {DiskRole.BACKUP} else _NODE
    else:
        name = change.name
        if knows("DB", name, plan.version) and parameter("DB", name, plan.version).restart == "initial_node":
            kind = _INITIAL
    turns = tuple(kept for turn in _turns(plan) if (kept := tuple(node for node in turn if node.id in only)))
    if turns:
        rolling = RollingRestart(event.number, name, change, turns, nodes, Starts(after, kind))
        take_turn(sim, Turn(rolling, 0))


def may_begin(sim: Simulation, change: Change) -> None:
    """Raises SimulationError where the rolling restart of a change would stop at a node that may not stop."""
    if sim.outage.loss is not None:
        return
    if sim.outage.stop is not None:
        raise SimulationError(
            "the cluster has stopped: no data node runs that could be restarted",
            where="events",
            fix="start it first",
        )
    name = change.name if isinstance(change, ParameterChange) else "files that move"
    for turn in _turns(sim.outage.plan):
        if why := why_not_stopped(sim, turn, name):
            raise SimulationError(why, where="events", fix="start the data nodes that are down first")


def is_rolling(sim: Simulation) -> bool:
    """Whether a rolling restart is under way."""
    kinds = (ConfigurationComes, Turn, StartsWithValue, HasValue)
    return any(isinstance(due.event, kinds) or _renewal_of(sim, due.event) is not None for due in sim.due)


class Coming(NamedTuple):
    """A change that a rolling restart brings."""

    change: Change
    node_ids: frozenset[int]
    """Data nodes that have it already, once they run again."""


def coming(sim: Simulation) -> Coming | None:
    """The change that a rolling restart is under way with."""
    for due in sim.due:
        event = due.event
        if isinstance(event, ConfigurationComes):
            return Coming(event.change, frozenset())
        begun = replace(event, turn=event.turn - 1) if isinstance(event, Turn) else _turn_of(sim, event)
        if begun is not None:
            turns = begun.rolling.turns[: begun.turn + 1]
            return Coming(begun.rolling.change, frozenset(node.node_id for turn in turns for node in turn))
    return None


def _turn_of(sim: Simulation, event: object) -> Turn | None:
    """The turn under way that a node starts in."""
    renewal = _renewal_of(sim, event)
    if renewal is not None:
        event = renewal.then
    return event.turn if isinstance(event, StartsWithValue | HasValue) else None


def _renewal_of(sim: Simulation, event: object) -> Renewal | None:
    started = getattr(event, "started", None)
    if not isinstance(started, Started) or sim.outage.attempts.get(started.node.id) != started.attempt:
        return None
    return started.renewal


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


def starts_initial(sim: Simulation, node_id: int) -> bool:
    """Whether a data node that a rolling restart has stopped will start without its files."""
    coming = (due.event for due in sim.due if isinstance(due.event, StartsWithValue))
    return any(one.node.node_id == node_id and one.turn.rolling.starts.kind == _INITIAL for one in coming)


@handles(Turn)
def take_turn(sim: Simulation, event: Turn) -> None:
    """Stop the nodes of a turn; the next turn begins when all of them are durable again."""
    rolling = event.rolling
    if sim.outage.loss is not None:
        # Who is lost is not known yet: whether the others may stop is asked again when it is.
        sim.later(Due(sim.at_s + NEXT_TURN_S, event, last=True))
        return
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
    else:
        # Later changes, and limits that the settings say, go by what now holds.
        sim.outage.failures = Failures(changed(sim.outage.plan, turn.rolling.change))


@handles(StartsWithValue)
def start_with_value(sim: Simulation, event: StartsWithValue) -> None:
    """The start of a node that was stopped for its new value."""
    rolling, node = event.turn.rolling, event.node
    new = rolling.nodes[node.id]
    renewal = Renewal(
        rolling.name, new.row, HasValue(event.turn, node.id), new.disks, rolling.starts.kind == _INITIAL
    )
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
