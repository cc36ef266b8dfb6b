"""Events while a workload runs: what each changes in the arrays of a run, and when.

An event becomes one or more changes at steps; between two changes the kernel runs undisturbed. Durations of
restarts, backups and reorganisations are those of the estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ndbplan.estimate.backup import backup
from ndbplan.estimate.restart import restart
from ndbplan.plan import edits
from ndbplan.plan.events import (
    Backup,
    Burst,
    DiskSlow,
    Event,
    NodeFailure,
    ParameterChange,
    SqlNodeDown,
)
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.workloads import ClosedLoad, Workload
from ndbplan.simulate import columns as col
from ndbplan.simulate.node_rows import SimulationError, node_facts
from ndbplan.simulate.result import Restart, SimulationResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ndbplan.simulate.run import Arrays
    from ndbplan.simulate.scenario import Scenario

    Floats = NDArray[np.float64]

COPY_PHASE = "copy fragments"
COPY_LOOK_S = 1.0
"""How often copying that takes longer than estimated is looked at."""
REPORT_S = 0.1
"""Transactions of so much time are aborted when a node dies: those under way [assumed]."""


@dataclass
class World:
    """A run that events change: its scenario's arrays and its state."""

    scenario: Scenario
    arrays: Arrays
    full_load: Floats
    """Log of each part for one transaction while every node lives."""
    grown_load: Floats
    grown_share: Floats
    grown_nodes: Floats
    """The same, the shares of parts and the nodes' columns once added nodes have their rows."""
    made_at_death: dict[int, float] = field(default_factory=dict)
    copy_goal: dict[int, float] = field(default_factory=dict)
    now_s: float = 0.0
    restarts: list[Restart] = field(default_factory=list)
    happened: list[tuple[float, str]] = field(default_factory=list)

    def result(self) -> SimulationResult:
        """What the run found so far."""
        return SimulationResult.of(self.scenario, self.arrays, tuple(self.happened), tuple(self.restarts))

    def node(self, object_id: str) -> int:
        """Index of a data node; -1 when it takes no part."""
        for n, node_class in enumerate(self.scenario.node_classes):
            if node_class.nodes[0].id == object_id:
                return n
        return -1

    def disk(self, object_id: str) -> int:
        """Index of a disk; -1 when no data node uses it."""
        for d, disk_class in enumerate(self.scenario.disk_classes):
            if any(disk.id == object_id for disk in disk_class.disks):
                return d
        return -1

    def forget_room(self) -> None:
        """Disks have other work from now on: what they wrote last step is no measure any more."""
        limits = self.scenario.nodes[:, col.N_BUFFER_LIMIT, None]
        self.arrays.parts[col.P_LIMIT] = np.broadcast_to(limits, self.scenario.load.shape)


Action = Callable[[World], "Change | None"]
"""Changes a run; may ask for another change later."""


@dataclass(frozen=True)
class Change:
    """Something that changes at a moment."""

    at_s: float
    text: str
    action: Action


def changes_of(plan: Plan, workload: Workload, events: Iterable[Event]) -> list[Change]:
    """All changes of some events, earliest first. Raises SimulationError for events that cannot be."""
    found: list[Change] = []
    for event in events:
        if isinstance(event, NodeFailure):
            found += _node_failure(plan, workload, event)
        elif isinstance(event, SqlNodeDown):
            found += _sql_node_down(plan, event)
        elif isinstance(event, DiskSlow):
            found += _disk_slow(plan, event)
        elif isinstance(event, Backup):
            found.append(_backup(plan, event))
        elif isinstance(event, Burst):
            found.append(_burst(event))
        elif isinstance(event, ParameterChange):
            found += _parameter(plan, workload, event)
    return sorted(found, key=lambda change: change.at_s)


# Data nodes.


def die(world: World, n: int, at_s: float) -> None:
    """A data node stops: its buffers are lost, the others of its group go on without it."""
    scenario, arrays = world.scenario, world.arrays
    if n < 0 or arrays.node_state[col.S_DEAD, n] > 0:
        return
    group = int(scenario.index[n, col.I_GROUP])
    share = float(scenario.load[n].sum() / max(1e-12, scenario.load.sum()))
    parts = arrays.parts
    world.made_at_death[n] = float(_mates_log(world, n))
    world.restarts.append(Restart(scenario.node_classes[n].node_id, at_s, None, ()))
    parts[col.P_LOST, n] += parts[col.P_FILL, n]
    parts[col.P_FILL, n] = 0.0
    parts[col.P_LAGS, n] = 0.0
    arrays.node_state[col.S_DEAD, n] = 1.0
    arrays.node_state[[col.S_LCP_LEFT, col.S_LCP_FRAGMENTS, col.S_BACKUP_LEFT], n] = 0.0
    world.scenario.base[n] = 0.0
    members(world, group)
    _aborted(world, n, share, at_s)
    if scenario.alive[group] == 0:
        scenario.run[col.R_DOWN] = 1.0
    service(world)
    world.forget_room()


def rejoin(world: World, n: int) -> None:
    """A data node takes part in transactions again."""
    scenario, state = world.scenario, world.arrays.node_state
    if n < 0 or state[col.S_DEAD, n] <= 0:
        return
    group = int(scenario.index[n, col.I_GROUP])
    state[col.S_DEAD, n] = 0.0
    mates = [m for m in _of_group(world, group) if m != n and state[col.S_DEAD, m] <= 0]
    if mates:
        kept = [col.S_DATA, col.S_MEMORY, col.S_SPACE, col.S_INDEX]
        state[kept, n] = state[kept, mates[0]]
    parts = world.arrays.parts
    parts[col.P_TAIL, n] = parts[col.P_MADE, n]
    parts[[col.P_DURABLE, col.P_DURABLE_BEFORE, col.P_LCP_START, col.P_LCP_NEXT, col.P_MARK], n] = parts[
        col.P_MADE, n
    ]
    ends = scenario.nodes[n, col.N_FILE_BYTES]
    parts[col.P_FILE_END, n] = (np.floor(parts[col.P_MADE, n] / ends) + 1.0) * ends
    parts[col.P_STOP, n] = np.minimum(
        parts[col.P_FILE_END, n], parts[col.P_TAIL, n] + scenario.nodes[n, col.N_LOG_LIMIT]
    )
    members(world, group)
    service(world)


def _of_group(world: World, group: int) -> list[int]:
    return [n for n in range(len(world.scenario.index)) if world.scenario.index[n, col.I_GROUP] == group]


def members(world: World, group: int) -> None:
    """Work out who is alive in a group, in which order, and who gets its load."""
    scenario, dead = world.scenario, world.arrays.node_state[col.S_DEAD]
    alive = [n for n in _of_group(world, group) if dead[n] <= 0]
    scenario.alive[group] = len(alive)
    for slot, n in enumerate(alive):
        scenario.slots[group, slot] = n
        scenario.index[n, col.I_SLOT] = slot
    for n in _of_group(world, group):
        scenario.load[n] = world.full_load[n] if dead[n] <= 0 else 0.0


def service(world: World) -> None:
    """Processors and network of the nodes that are left."""
    scenario, dead = world.scenario, world.arrays.node_state[col.S_DEAD]
    if scenario.services:
        alive = float((dead <= 0).mean())
        scenario.run[col.R_SERVICE] = max(1e-9, scenario.services[0].max_per_s * alive)


def _aborted(world: World, n: int, share: float, at_s: float) -> None:
    """Transactions under way on a node that dies."""
    arrays, run = world.arrays, world.scenario.run
    rate = arrays.cluster[col.C_ATTEMPTED] / max(at_s, run[col.R_STEP_S])
    count = rate * REPORT_S * share
    if count > 0:
        if arrays.errors[col.E_NODE] == 0:
            arrays.first[col.E_NODE] = (at_s, n)
        arrays.errors[col.E_NODE] += count


def _mates_log(world: World, n: int) -> float:
    """Log that another node of the group has made so far."""
    group = int(world.scenario.index[n, col.I_GROUP])
    dead = world.arrays.node_state[col.S_DEAD]
    for m in _of_group(world, group):
        if m != n and dead[m] <= 0:
            return float(world.arrays.parts[col.P_MADE, m].sum())
    return 0.0


def _regime(world: World, n: int, own: float, others: float) -> None:
    """Checkpoint speeds while a node restarts."""
    world.scenario.nodes[:, col.N_REGIME] = others
    world.scenario.nodes[n, col.N_REGIME] = own


def _copy(world: World, n: int, seconds: float) -> None:
    """The rows that changed while the node was away are copied to it, and logged there."""
    missed = max(0.0, _mates_log(world, n) - world.made_at_death.get(n, 0.0))
    steps = max(1.0, seconds / world.scenario.run[col.R_STEP_S])
    load = world.full_load[n]
    if load.sum() > 0:
        world.scenario.base[n] = missed / steps * load / load.sum()
        world.copy_goal[n] = float(world.arrays.parts[col.P_BASE, n].sum()) + missed
        world.scenario.run[col.R_COPIES] = 1.0


def _node_failure(plan: Plan, workload: Workload, event: NodeFailure) -> list[Change]:
    node = plan.by_id.get(event.object_id)
    if not isinstance(node, DataNode):
        raise SimulationError(f"'{event.object_id}' is no data node", where="events")
    name = f"node {node.node_id}"
    found = [Change(event.at_s, f"{name} dies", lambda w: die(w, w.node(node.id), event.at_s))]
    if event.back_after_s is not None:
        found += _start_again(plan, node, event.at_s + event.back_after_s, name)
    return found


def _start_again(plan: Plan, node: DataNode, at_s: float, name: str) -> list[Change]:
    """A node restart: away until its rows are copied, then back, then durable again."""
    phases = restart(plan, "node", node.node_id).phases
    names = [phase.name for phase in phases]
    if COPY_PHASE in names:
        copy_at = names.index(COPY_PHASE)
        before = sum(phase.duration_s.value for phase in phases[:copy_at])
        copying = phases[copy_at].duration_s.value
        after = sum(phase.duration_s.value for phase in phases[copy_at + 1 :])
    else:
        # Old versions are known as a whole only.
        whole = sum(phase.duration_s.value for phase in phases)
        before, copying, after = 0.8 * whole, 0.1 * whole, 0.1 * whole

    def start(world: World) -> None:
        _regime(world, world.node(node.id), 2.0, 1.0)
        named = tuple((phase.name, phase.duration_s.value) for phase in phases)
        for i, one in enumerate(world.restarts):
            if one.node_id == node.node_id and one.started_at_s is None:
                world.restarts[i] = replace(one, started_at_s=world.now_s, phases=named)

    def copy(world: World) -> None:
        n = world.node(node.id)
        rejoin(world, n)
        _copy(world, n, copying)

    def copied(world: World) -> Change | None:
        n = world.node(node.id)
        if world.arrays.parts[col.P_BASE, n].sum() < 0.995 * world.copy_goal.get(n, 0.0):
            return Change(world.now_s + COPY_LOOK_S, f"{name} has its rows", copied)
        world.scenario.base[n] = 0.0
        return None

    def durable(world: World) -> None:
        _regime(world, world.node(node.id), 0.0, 0.0)

    return [
        Change(at_s, f"{name} starts", start),
        Change(at_s + before, f"{name} takes part again, its rows are copied", copy),
        Change(at_s + before + copying, f"{name} has its rows", copied),
        Change(at_s + before + copying + after, f"{name} is durable again", durable),
    ]


# Clients.


def _scale_offered(world: World, begin_s: float, end_s: float | None, factor: float) -> None:
    scenario = world.scenario
    if isinstance(scenario.workload.load, ClosedLoad):
        scenario.run[col.R_CLIENTS] *= factor
        return
    begin = round(begin_s / scenario.step_s)
    end = scenario.steps if end_s is None else round(end_s / scenario.step_s)
    scenario.offered[begin:end] *= factor


def _burst(event: Burst) -> Change:
    end = event.at_s + event.duration_s
    return Change(
        event.at_s,
        f"burst: {event.factor:g} times the load for {event.duration_s:g} s",
        lambda w: _scale_offered(w, event.at_s, end, event.factor),
    )


def _sql_node_down(plan: Plan, event: SqlNodeDown) -> list[Change]:
    count = len(plan.sql_nodes)
    factor = (count - 1) / count if count else 1.0
    end = event.at_s + event.duration_s if event.duration_s > 0 else None
    node = plan.by_id.get(event.object_id)
    name = f"SQL node {getattr(node, 'node_id', event.object_id)}"
    return [
        Change(
            event.at_s,
            f"{name} is down: its clients send nothing",
            lambda w: _scale_offered(w, event.at_s, end, factor),
        )
    ]


# Disks.


def _disk_slow(plan: Plan, event: DiskSlow) -> list[Change]:
    host = plan.host_of_disk.get(event.object_id)
    if host is None:
        raise SimulationError(f"there is no disk '{event.object_id}'", where="events")
    name = f"{host.hostname} {plan.by_id[event.object_id].name}"

    def slow(world: World) -> None:
        d = world.disk(event.object_id)
        if d < 0:
            return
        if event.factor <= 0:
            roles = (col.I_REDO_DISK, col.I_LCP_DISK)
            for n in range(len(world.scenario.index)):
                if any(world.scenario.index[n, role] == d for role in roles):
                    die(world, n, event.at_s)
            return
        world.scenario.disks[d, [col.D_BYTES_PER_S, col.D_READ_IOPS]] *= event.factor
        world.forget_room()

    def well(world: World) -> None:
        d = world.disk(event.object_id)
        if d >= 0:
            world.scenario.disks[d, [col.D_BYTES_PER_S, col.D_READ_IOPS]] /= event.factor

    text = f"{name} fails" if event.factor <= 0 else f"{name} at {event.factor:.0%} of its speed"
    found = [Change(event.at_s, text, slow)]
    if event.duration_s > 0 and event.factor > 0:
        found.append(Change(event.at_s + event.duration_s, f"{name} is well again", well))
    return found


def _backup(plan: Plan, event: Backup) -> Change:
    written = {node.node_id: node for node in backup(plan).nodes}

    def start(world: World) -> None:
        for n, node_class in enumerate(world.scenario.node_classes):
            found = written.get(node_class.node_id)
            if found is not None and world.arrays.node_state[col.S_DEAD, n] <= 0:
                world.arrays.node_state[col.S_BACKUP_LEFT, n] = found.written_bytes.value
                world.scenario.nodes[n, col.N_BACKUP_SPEED] = found.speed_bytes_per_s.value
        world.scenario.run[col.R_BACKUP] = 1.0
        world.forget_room()

    return Change(event.at_s, "a backup starts", start)


# Changes of the configuration.


def _parameter(plan: Plan, workload: Workload, event: ParameterChange) -> list[Change]:
    """A rolling restart: node after node stops, starts with the new value, and is durable again."""
    from ndbplan.plan.node_groups import node_groups

    after = edits.set_parameter(plan, "data_node", event.name, event.value)
    groups = node_groups(plan)
    facts = node_facts(after, workload, groups)
    found: list[Change] = []
    at_s = event.at_s
    # One node of each group at a time, as a rolling restart does.
    for slot in range(max(len(group) for group in groups)):
        longest = 0.0
        for group in groups:
            if slot >= len(group):
                continue
            node = group[slot]
            name = f"node {node.node_id}"
            found.append(_stop(node, at_s, f"{name} stops for {event.name}"))
            back = _start_again(after, node, at_s + REPORT_S, name)
            found += [*back, _new_row(node, facts[node.id].row, back[1].at_s, f"{name} has {event.name} set")]
            longest = max(longest, back[-1].at_s - at_s)
        at_s += longest + 1.0
    return found


def _stop(node: DataNode, at_s: float, text: str) -> Change:
    return Change(at_s, text, lambda w: die(w, w.node(node.id), at_s))


def _new_row(node: DataNode, row: Floats, at_s: float, text: str) -> Change:
    def change(world: World) -> None:
        n = world.node(node.id)
        if n >= 0:
            regime = world.scenario.nodes[n, col.N_REGIME]
            world.scenario.nodes[n] = row
            world.scenario.nodes[n, col.N_REGIME] = regime
            world.forget_room()

    return Change(at_s, text, change)
