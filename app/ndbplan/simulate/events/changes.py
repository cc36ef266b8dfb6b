"""Events while a workload runs: what each changes in the arrays of a run, and when.

An event becomes one or more changes at steps; between two changes the kernel runs undisturbed. Durations of
restarts, backups and reorganisations are those of the estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ndbplan.configuration.failures import Failures, disks_needed
from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits import parts as edits
from ndbplan.estimate.times.backup import backup
from ndbplan.plan.events import (
    Backup,
    Burst,
    DiskSlow,
    Event,
    HostFailure,
    LocationFailure,
    ManagementNodeDown,
    NetworkCut,
    NodeFailure,
    ParameterChange,
    SqlNodeDown,
)
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, Process, SqlNode
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.events.clients import burst_begins, burst_ends
from ndbplan.simulate.events.failures import (
    cut,
    heal,
    hosts_of,
    processes_on,
    release,
    stop_for_restart,
    strike,
)
from ndbplan.simulate.events.nodes import REPORT_S, Starts, start
from ndbplan.simulate.events.outage import name_of
from ndbplan.simulate.events.state import Change, World
from ndbplan.simulate.model.node_rows import SimulationError, node_facts
from ndbplan.simulate.world import Node, record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def changes_of(plan: Plan, workload: Workload, events: Iterable[Event]) -> list[Change]:
    """All changes of some events, earliest first. Raises SimulationError for events that cannot be.

    The order in which the events are given does not matter, also not for those of one moment.
    """
    found: list[Change] = []
    starts = Starts(plan)
    ordered = sorted(events, key=lambda event: (event.at_s, event.model_dump_json()))
    for number, event in enumerate(ordered):
        if isinstance(event, NodeFailure):
            found += _process_fails(plan, event, number, starts, DataNode, "dies")
        elif isinstance(event, ManagementNodeDown):
            found += _process_fails(plan, event, number, starts, ManagementNode, "stops")
        elif isinstance(event, SqlNodeDown):
            found += _sql_node_down(plan, event, number, starts)
        elif isinstance(event, HostFailure | LocationFailure):
            found += _hosts_fail(plan, event, number, starts)
        elif isinstance(event, NetworkCut):
            found += _network_cut(plan, event, number, starts)
        elif isinstance(event, DiskSlow):
            found += _disk_slow(plan, event, number)
        elif isinstance(event, Backup):
            found.append(_backup(plan, event))
        elif isinstance(event, Burst):
            found += _burst(event, number)
        elif isinstance(event, ParameterChange):
            found += _parameter(plan, workload, event)
    return sorted(found, key=Change.order)


# Failures.


def _process_fails(
    plan: Plan,
    event: NodeFailure | ManagementNodeDown,
    number: int,
    starts: Starts,
    kind: type[Process],
    word: str,
) -> list[Change]:
    process = plan.by_id.get(event.object_id)
    if not isinstance(process, kind):
        what = "data node" if kind is DataNode else "management node"
        raise SimulationError(f"'{event.object_id}' is no {what}", where="events")

    def fails(world: World) -> bool | None:
        was_down = world.outage.is_down(process.id)
        strike(world, number, [process], silent=False)
        return False if was_down else None

    return [
        Change(event.at_s, f"{name_of(process)} {word}", fails, of_cluster=isinstance(process, DataNode)),
        *_back(event.at_s, event.back_after_s, number, [process], starts),
    ]


def _back(
    at_s: float, after_s: float | None, number: int, processes: Iterable[Process], starts: Starts
) -> list[Change]:
    """What failed runs again; a host that is back has broken the old connections at the latest."""
    if after_s is None:
        return []
    here = tuple(processes)

    def back(world: World) -> bool:
        release(world, number, here, starts)
        return False

    return [Change(at_s + after_s, "", back, of_cluster=False)]


def _sql_node_down(plan: Plan, event: SqlNodeDown, number: int, starts: Starts) -> list[Change]:
    node = plan.by_id.get(event.object_id)
    if not isinstance(node, SqlNode):
        raise SimulationError(f"'{event.object_id}' is no SQL node", where="events")

    def down(world: World) -> None:
        strike(world, number, [node], silent=False)

    text = f"{name_of(node)} is down: its clients send nothing"
    after_s = event.duration_s if event.duration_s > 0 else None
    return [
        Change(event.at_s, text, down, of_cluster=False),
        *_back(event.at_s, after_s, number, [node], starts),
    ]


def _hosts_fail(
    plan: Plan, event: HostFailure | LocationFailure, number: int, starts: Starts
) -> list[Change]:
    part = plan.by_id.get(event.object_id)
    if not isinstance(part, Host | Location):
        raise SimulationError(f"'{event.object_id}' is not a host or location", where="events")
    name = part.hostname if isinstance(part, Host) else part.name

    def hosts(world: World) -> frozenset[str]:
        # Hosts may be added during the run.
        return hosts_of(world.outage.plan, [part.id])

    def fails(world: World) -> None:
        for object_id in sorted({part.id} | hosts(world)):
            world.outage.goes_down(object_id, world.at_s)
        strike(world, number, processes_on(world.outage.plan, hosts(world)), silent=True)

    def back(world: World) -> bool:
        world.say(f"{name} is back")
        for object_id in sorted({part.id} | hosts(world)):
            world.outage.comes_up(object_id, world.at_s)
        release(world, number, processes_on(world.outage.plan, hosts(world)), starts)
        return False

    held = [name_of(p) for p in processes_on(plan, hosts_of(plan, [part.id]))]
    shown = f": {', '.join(held[:6])}{' …' if len(held) > 6 else ''}" if held else ""
    found = [Change(event.at_s, f"{name} falls silent{shown}", fails, of_cluster=False)]
    if event.back_after_s is not None:
        found.append(Change(event.at_s + event.back_after_s, "", back, of_cluster=False))
    return found


def _network_cut(plan: Plan, event: NetworkCut, number: int, starts: Starts) -> list[Change]:
    here, there = hosts_of(plan, event.object_ids), hosts_of(plan, event.other_ids)
    if here & there:
        host = plan.host(min(here & there))
        raise SimulationError(
            f"host {host.hostname} is on both sides of the network cut",
            where="events",
            fix="name each host, or the location it stands in, on one side",
        )

    def falls(world: World) -> None:
        grown = world.outage.plan
        cut(world, number, hosts_of(grown, event.object_ids), hosts_of(grown, event.other_ids))

    def heals(world: World) -> bool:
        world.say(f"{sides[0]} and {sides[1]} see each other again")
        heal(world, number, starts)
        return False

    sides = [_called(plan, event.object_ids), _called(plan, event.other_ids) or "all others"]
    text = f"{sides[0]} and {sides[1]} lose sight of each other"
    found = [Change(event.at_s, text, falls, of_cluster=False)]
    if event.back_after_s is not None:
        found.append(Change(event.at_s + event.back_after_s, "", heals, of_cluster=False))
    return found


def _called(plan: Plan, object_ids: tuple[str, ...]) -> str:
    """Names of locations and hosts, the first few."""
    names: list[str] = []
    for object_id in object_ids:
        part = plan.by_id.get(object_id)
        if isinstance(part, DataNode | ManagementNode | SqlNode | ApiSlot):
            names.append(name_of(part))
        else:
            names.append(str(getattr(part, "hostname", None) or getattr(part, "name", object_id)))
    return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")


# Clients.


def _burst(event: Burst, number: int) -> list[Change]:
    text = f"burst: {event.factor:g} times the load for {event.duration_s:g} s"
    return [
        Change(event.at_s, text, lambda w: burst_begins(w, number, event.factor), of_cluster=False),
        Change(event.at_s + event.duration_s, "", lambda w: burst_ends(w, number), of_cluster=False),
    ]


# Disks.


def _disk_slow(plan: Plan, event: DiskSlow, number: int) -> list[Change]:
    host = plan.host_of_disk.get(event.object_id)
    if host is None:
        raise SimulationError(f"there is no disk '{event.object_id}'", where="events")
    name = f"{host.hostname} {plan.by_id[event.object_id].name}"

    def slow(world: World) -> None:
        if event.factor <= 0:
            now = world.outage.plan
            needing = [p for p in now.processes if event.object_id in disks_needed(now, p)]
            strike(world, number, needing, silent=False)
            return
        d = world.disk(event.object_id)
        if d >= 0:
            world.scenario.disks[d].write_bytes_per_s *= event.factor
            world.scenario.disks[d].read_iops *= event.factor
            world.forget_room()

    def well(world: World) -> None:
        d = world.disk(event.object_id)
        if d >= 0:
            world.scenario.disks[d].write_bytes_per_s /= event.factor
            world.scenario.disks[d].read_iops /= event.factor

    text = f"{name} fails" if event.factor <= 0 else f"{name} at {event.factor:.0%} of its speed"
    found = [Change(event.at_s, text, slow)]
    if event.duration_s > 0 and event.factor > 0:
        found.append(Change(event.at_s + event.duration_s, f"{name} is well again", well))
    return found


def _backup(plan: Plan, event: Backup) -> Change:
    written = {node.node_id: node for node in backup(plan).nodes}

    def start_backup(world: World) -> None:
        for n, node_class in enumerate(world.scenario.node_classes):
            found = written.get(node_class.node_id)
            if found is not None and not world.is_dead(n):
                world.arrays.node_state[n].backup_left_bytes = found.written_bytes.value
                world.scenario.nodes[n].backup_bytes_per_s = found.speed_bytes_per_s.value
        world.scenario.run.has_backup = True
        world.forget_room()

    return Change(event.at_s, "a backup starts", start_backup)


# Changes of the configuration.


def _parameter(plan: Plan, workload: Workload, event: ParameterChange) -> list[Change]:
    """A rolling restart: node after node stops, starts with the new value, and is durable again."""
    after = edits.set_parameter(plan, "data_node", event.name, event.value)
    facts = node_facts(after, workload, node_groups(plan))
    starts = Starts(after)
    turns = _turns(plan)

    def take_turn(world: World, number: int) -> bool:
        """Stop the nodes of a turn; the next turn begins when all of them are durable again."""
        stopped = stop_for_restart(world, turns[number], event.name)
        left = {node.id for node in stopped or ()}

        def durable(again: World, node: DataNode) -> None:
            left.discard(node.id)
            if not left and number + 1 < len(turns):
                again.later(_turn(again.at_s + 1.0, number + 1))

        if stopped == () and number + 1 < len(turns):
            # They are down already: there is nothing to stop.
            world.later(_turn(world.at_s, number + 1))
        for node in stopped or ():
            row = facts[node.id].row
            world.later(_restarted(node, world.at_s + REPORT_S, starts, row, event.name, durable))
        return False

    def _turn(at_s: float, number: int) -> Change:
        return Change(at_s, "", lambda world: take_turn(world, number), last=True)

    return [_turn(event.at_s, 0)] if turns else []


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


def _restarted(
    node: DataNode,
    at_s: float,
    starts: Starts,
    row: Node,
    name: str,
    durable: Callable[[World, DataNode], None],
) -> Change:
    """The start of a node that was stopped for its new value."""

    def renew(world: World) -> None:
        n = world.node(node.id)
        regime = world.scenario.nodes[n].regime
        world.scenario.nodes[n] = record(row)
        world.scenario.nodes[n].regime = regime
        world.forget_room()
        world.say(f"node {node.node_id} has {name} set")

    def begin(world: World) -> bool | None:
        return start(world, node, starts, renew, durable)

    return Change(at_s, f"node {node.node_id} starts", begin)
