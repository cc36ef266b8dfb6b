"""Data nodes in a run: one dies, starts again, copies what it missed, and takes its part of the load."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from ndbplan.base.row_types import column, record
from ndbplan.estimate.constants import Constants, constants_of
from ndbplan.estimate.timed import restart
from ndbplan.estimate.times.copy_links import SlowLink
from ndbplan.estimate.times.restart import Conditions, Kind
from ndbplan.estimate.times.restart_phases import STOP
from ndbplan.ndb.survival import begin_start, come_back
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.simulate.events.aborted import abort_open
from ndbplan.simulate.events.copying import COPY_PHASE, begin_copy, copies_longer
from ndbplan.simulate.events.handlers import handles
from ndbplan.simulate.model.load_over_time import DISK_READS
from ndbplan.simulate.model.scenario import lcp_share, redo_members, writers
from ndbplan.simulate.model.start import file_end
from ndbplan.simulate.outage import clients_of
from ndbplan.simulate.series import Restart
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.world.indices import Part
from ndbplan.simulate.world.laws import Node

FIRST_PHASE = "allocate memory"
"""Before a node joins the others; from then on the loss of another one ends its start [2308, measured]."""
COPY_LOOK_S = 1.0
"""How often copying that takes longer than estimated is looked at."""
Phases = tuple[tuple[str, float], ...]
"""Name and seconds of each phase of a start."""
REPORT_S = 0.1
"""How long after something ended what follows from it begins, at least [assumed]."""


def die(sim: Simulation, nodes: Collection[DataNode], at_s: float, *, aborts: bool = True) -> None:
    """Data nodes stop at one moment: their buffers are lost, the others of their groups go on.

    One without rows (NodeGroup 65536) takes nothing along.

    `aborts`: open transactions are; a node that shuts down in order may let them end first.
    """
    laws, outage = sim.laws, sim.outage
    places = [sim.node(node.id) for node in nodes]
    dying = sorted(n for n in places if n >= 0 and not sim.is_dead(n))
    if dying and aborts:
        abort_open(sim, dying[0], at_s)
    made = {n: _mates_log(sim, n) for n in dying}
    for n in dying:
        sim.made_at_death[n] = made[n]
        _leave(sim, sim.scenario.node_classes[n].nodes[0], at_s)
        _empty(sim, n)
    for node, n in zip(nodes, places, strict=True):
        if n < 0 and node.node_id in outage.running.started | outage.running.starting:
            _leave(sim, node, at_s)
    for group in sorted({int(laws.places[n].group) for n in dying}):
        members(sim, group)
    _end_checkpoint(sim)
    service(sim)
    sim.forget_room()


def _leave(sim: Simulation, node: DataNode, at_s: float) -> None:
    """Note that a data node does not run from now on."""
    sim.outage.lost.add(node.node_id)
    sim.outage.attempts[node.id] = sim.outage.attempts.get(node.id, 0) + 1
    sim.outage.goes_down(node.id, at_s)
    sim.restarts.append(Restart(node.node_id, at_s, None, ()))


def _empty(sim: Simulation, n: int) -> None:
    """What a node had in memory is gone, and it writes nothing more."""
    parts, node = sim.state.parts, sim.state.node_state[n]
    parts[Part.LOST, n] += parts[Part.FILL, n]
    parts[Part.FILL, n] = 0.0
    parts[Part.LAGS, n] = 0.0
    node.is_dead = True
    node.lcp_left_bytes = node.lcp_fragments_left = node.backup_left_bytes = 0.0
    node.undo_held_bytes = node.dirty_bytes = 0.0
    sim.laws.base[n] = 0.0


def _end_checkpoint(sim: Simulation) -> None:
    """A checkpoint that only dead nodes still wrote ends at the next step, with a last byte of the others."""
    left = column(sim.state.node_state, lambda node: node.lcp_left_bytes)
    living = [n for n in range(len(sim.laws.nodes)) if not sim.is_dead(n)]
    if sim.state.cluster.lcp_writes and living and not left.any():
        sim.state.node_state[living[0]].lcp_left_bytes = 1.0


def stop_all(sim: Simulation, at_s: float) -> None:
    """Every data node that is left stops: nothing is written any more, all that is offered is refused."""
    for n, node_class in enumerate(sim.scenario.node_classes):
        if not sim.is_dead(n):
            sim.outage.lost.add(node_class.node_id)
            sim.outage.goes_down(node_class.nodes[0].id, at_s)
            _empty(sim, n)
    sim.laws.load[:] = 0.0
    sim.laws.alive[:] = 0
    sim.laws.run.stopped, sim.laws.run.stands_still = True, False
    sim.stopped_s = sim.now_s


def rejoin(sim: Simulation, n: int) -> None:
    """A data node takes part in transactions again."""
    laws, state, parts = sim.laws, sim.state.node_state, sim.state.parts
    if n < 0 or not sim.is_dead(n):
        return
    group = int(laws.places[n].group)
    state[n].is_dead = False
    mates = [m for m in of_group(sim, group) if m != n and not sim.is_dead(m)]
    if mates:
        mate = state[mates[0]]
        state[n].rows_bytes, state[n].memory_bytes = mate.rows_bytes, mate.memory_bytes
        state[n].space_bytes, state[n].index_bytes = mate.space_bytes, mate.index_bytes
    parts[Part.TAIL, n] = parts[Part.MADE, n]
    parts[[Part.DURABLE, Part.DURABLE_BEFORE, Part.LCP_START, Part.LCP_NEXT, Part.MARK], n] = parts[
        Part.MADE, n
    ]
    parts[Part.FILE_END, n] = file_end(laws.nodes, parts[Part.MADE])[n]
    parts[Part.STOP, n] = np.minimum(
        parts[Part.FILE_END, n], parts[Part.TAIL, n] + laws.nodes[n].log_limit_bytes
    )
    _return(sim, sim.scenario.node_classes[n].nodes[0])
    members(sim, group)
    service(sim)


def _return(sim: Simulation, node: DataNode) -> None:
    """Note that a data node runs again."""
    sim.outage.lost.discard(node.node_id)
    sim.outage.comes_up(node.id, sim.now_s)


def of_group(sim: Simulation, group: int) -> list[int]:
    """The nodes of a simulated group, dead or alive."""
    return [n for n in range(len(sim.laws.places)) if sim.laws.places[n].group == group]


def members(sim: Simulation, group: int) -> None:
    """Work out who is alive in a group, in which order, and who gets its load."""
    laws = sim.laws
    alive = [n for n in of_group(sim, group) if not sim.is_dead(n)]
    laws.alive[group] = len(alive)
    for slot, n in enumerate(alive):
        laws.slots[group, slot] = n
        laws.places[n].slot = slot
    for n in of_group(sim, group):
        laws.load[n] = 0.0 if sim.is_dead(n) else sim.full_load[n]


def service(sim: Simulation) -> None:
    """What the nodes that are left let pass: data nodes that have rows, SQL and API nodes that are up."""
    scenario, run = sim.scenario, sim.laws.run
    slow, run.send_buffered = sim.slow_limits()
    if scenario.services or slow or sim.page_cache is not None:
        clients = clients_of(sim.outage.plan)
        up = sum(not sim.outage.is_down(client.id) for client in clients) / max(1, len(clients))
        known = sim.outage.failures.cluster.data_nodes
        there = [n for n, c in enumerate(scenario.node_classes) if c.node_id in known]
        alive = sum(not sim.is_dead(n) for n in there) / max(1, len(there))
        left = [
            s.max_per_s * ((up if clients else 1.0) if s.is_clients else alive)
            for s in (*scenario.services, *slow)
            if s.resource != DISK_READS
        ]
        run.service_per_s = run.service_beside_reads_per_s = max(1e-9, min(left)) if left else 0.0
        if sim.page_cache is not None:
            run.reading_share = max(1e-9, alive)
        sim.note_settings()


def _mates_log(sim: Simulation, n: int) -> float:
    """Log that another node of the group has made so far."""
    group = int(sim.laws.places[n].group)
    for m in of_group(sim, group):
        if m != n and not sim.is_dead(m):
            return float(sim.state.parts[Part.MADE, m].sum())
    return 0.0


def _regime(sim: Simulation, n: int, own: int, others: int) -> None:
    """Checkpoint speeds while a node restarts; one without rows (-1) restarts without touching them."""
    if n >= 0:
        column(sim.laws.nodes, lambda node: node.regime)[:] = others
        sim.laws.nodes[n].regime = own


# The start of a data node.


@dataclass(frozen=True)
class Starts:
    """How long the phases of a node restart take, worked out once for each node."""

    plan: Plan
    kind: Kind = "node"
    """initial: its files are made anew and all rows are copied."""
    crashed: bool = True
    """It went down by itself."""
    _known: dict[tuple[int, tuple[SlowLink, ...]], Phases] = field(
        default_factory=dict, compare=False, repr=False
    )

    def phases(self, node_id: int, slow_links: tuple[SlowLink, ...] = ()) -> Phases:
        """Name and seconds of each phase, while these links carry less."""
        if (node_id, slow_links) not in self._known:
            conditions = Conditions(crashed=self.crashed, slow_links=slow_links)
            found = restart(self.plan, self.kind, node_id, conditions).phases
            self._known[node_id, slow_links] = tuple(
                (phase.name, phase.duration_s.value) for phase in found if phase.name != STOP
            )
        return self._known[node_id, slow_links]


@dataclass(frozen=True)
class Renewal:
    """What a node is started for: another value of a parameter, or other disks."""

    name: str
    row: Node
    then: object | None = None
    """What is due when the node is durable again."""
    disks: tuple[str, ...] = ()
    """Ids of the disks of its roles, in the order of `DiskRole`; none: where they were."""
    initial: bool = False
    """Its files are made anew."""


@dataclass(frozen=True)
class Started:
    """One start of a data node; what is due of it is off when the node stops or starts again."""

    node: DataNode
    starts: Starts
    attempt: int
    copying_s: float
    after_s: float
    renewal: Renewal | None

    @property
    def name(self) -> str:
        """`node 3`."""
        return f"node {self.node.node_id}"


@dataclass(frozen=True)
class Joins:
    """The node joins the others; without its rows."""

    started: Started


@dataclass(frozen=True)
class TakesPart:
    """The node takes its part of the load, and its rows are copied."""

    started: Started


@dataclass(frozen=True)
class HasRows:
    """The copying is over, or is looked at again."""

    started: Started


@dataclass(frozen=True)
class IsDurable:
    """The node has written its first checkpoint."""

    started: Started


def start(sim: Simulation, node: DataNode, starts: Starts, renewal: Renewal | None = None) -> bool:
    """A node restart begins: away until its rows are copied, then back, then durable again.

    False: the node runs, is kept down by something, or sees nobody to start with.
    """
    outage = sim.outage
    if node.node_id not in outage.lost or outage.is_down(node.id):
        return False
    others = [n for n in outage.plan.data_nodes if n.node_id in outage.running.started]
    if not any(outage.sees(node, other) for other in others):
        return False
    outage.attempts[node.id] = outage.attempts.get(node.id, 0) + 1
    phases = starts.phases(node.node_id, sim.slow_links)
    joined, before, copying, after = parts_of(phases, constants_of(outage.plan))
    _regime(sim, sim.node(node.id), 2, 1)
    pending = [
        i for i, one in enumerate(sim.restarts) if one.node_id == node.node_id and one.started_at_s is None
    ]
    for i in pending:
        sim.restarts[i] = replace(sim.restarts[i], started_at_s=sim.now_s, phases=phases)
    if not pending:
        # It stopped with the whole cluster.
        sim.restarts.append(Restart(node.node_id, sim.now_s, sim.now_s, phases))
    started = Started(node, starts, outage.attempts[node.id], copying, after, renewal)
    sim.later(
        Due(sim.at_s + joined, Joins(started)),
        Due(sim.at_s + before, TakesPart(started)),
        Due(sim.at_s + before + copying, HasRows(started)),
    )
    return True


def makes_files_anew(sim: Simulation, node_id: int) -> bool:
    """Whether the start of a data node that is under way, for another configuration, is an initial one."""
    under_way = (getattr(due.event, "started", None) for due in sim.due)
    return any(
        isinstance(one, Started)
        and one.node.node_id == node_id
        and one.renewal is not None
        and one.renewal.initial
        and not is_off(sim, one)
        for one in under_way
    )


def break_off_start(sim: Simulation, node: DataNode) -> None:
    """What was planned for the start of a node does not happen; one under way ends here."""
    outage = sim.outage
    outage.attempts[node.id] = outage.attempts.get(node.id, 0) + 1
    last = next((one for one in reversed(sim.restarts) if one.node_id == node.node_id), None)
    if last is not None and last.phase_at(sim.at_s) is not None:
        sim.restarts.append(Restart(node.node_id, sim.at_s, None, ()))


def is_off(sim: Simulation, started: Started) -> bool:
    """Whether what was planned for a start does not happen: the node stopped, or started again."""
    return sim.outage.attempts[started.node.id] != started.attempt


@handles(Joins)
def join(sim: Simulation, event: Joins) -> None:
    """From now on the loss of another data node ends the start."""
    if not is_off(sim, event.started):
        sim.outage.running = begin_start(sim.outage.running, {event.started.node.node_id})


@handles(TakesPart)
def take_part(sim: Simulation, event: TakesPart) -> None:
    """The node is back, with the settings it was started for."""
    started = event.started
    if is_off(sim, started):
        return
    n = sim.node(started.node.id)
    if n < 0:
        _return(sim, started.node)
        sim.say(f"{started.name} is started again, it has no rows")
        return
    rejoin(sim, n)
    if started.renewal is not None:
        regime = sim.laws.nodes[n].regime
        sim.laws.nodes[n] = record(started.renewal.row)
        sim.laws.nodes[n].regime = regime
        if started.renewal.disks:
            _moved(sim, n, started.renewal.disks)
        sim.forget_room()
        sim.say(f"{started.name} has {started.renewal.name} set")
    missed = max(0.0, _mates_log(sim, n) - sim.made_at_death.get(n, 0.0))
    begin_copy(sim, n, missed, started.copying_s)
    sim.say(f"{started.name} takes part again, its rows are copied")


def _moved(sim: Simulation, n: int, disk_ids: Collection[str]) -> None:
    """From now on the node writes to these disks. Disks that no run was told of are left out."""
    laws, disks = sim.laws, [sim.disk(disk_id) for disk_id in disk_ids]
    place = laws.places[n]
    before = (place.redo_disk, place.lcp_disk, place.undo_disk, place.data_disk, place.backup_disk)
    if disks == list(before) or min(disks) < 0:
        return
    place.redo_disk, place.lcp_disk, place.undo_disk, place.data_disk, place.backup_disk = disks
    classes = list(sim.scenario.node_classes)
    classes[n] = replace(classes[n], redo_disk=disks[0])
    sim.scenario = replace(sim.scenario, node_classes=tuple(classes))
    starts, members_of_disks = redo_members(tuple(classes), len(laws.disks))
    laws.disk_start[:], laws.disk_member[:] = starts, members_of_disks
    for d in {*(int(one) for one in before), *disks}:
        laws.disks[d].lcp_share = lcp_share(
            sim.outage.plan, *writers(laws.places, laws.nodes, sim.full_load, laws.files, d)
        )


@handles(HasRows)
def have_rows(sim: Simulation, event: HasRows) -> None:
    """The node has what it missed, unless copying it takes longer than estimated."""
    started = event.started
    if is_off(sim, started):
        return
    n = sim.node(started.node.id)
    if n < 0:
        sim.later(Due(sim.at_s, IsDurable(started)))
        return
    if sim.state.parts[Part.BASE, n].sum() < 0.995 * sim.copy_goal.get(n, 0.0):
        again_s = sim.now_s + COPY_LOOK_S
        copies_longer(sim, started.node.node_id, again_s - sim.at_s)
        sim.later(Due(again_s, event))
        return
    sim.laws.base[n] = 0.0
    sim.later(Due(sim.at_s + started.after_s, IsDurable(started)))
    sim.say(f"{started.name} has its rows")


@handles(IsDurable)
def become_durable(sim: Simulation, event: IsDurable) -> None:
    """The start is over: the node is one of the started ones."""
    started, outage = event.started, sim.outage
    if is_off(sim, started):
        return
    _regime(sim, sim.node(started.node.id), 0, 0)
    outage.running = come_back(outage.failures.cluster, outage.running, {started.node.node_id}, sim.at_s)
    if started.renewal is not None and started.renewal.then is not None:
        sim.later(Due(sim.at_s, started.renewal.then))
    if sim.node(started.node.id) >= 0:
        sim.say(f"{started.name} is durable again")


def parts_of(
    phases: tuple[tuple[str, float], ...], constants: Constants
) -> tuple[float, float, float, float]:
    """Seconds until a node joins the others, until its rows are copied, of the copying, and after that."""
    names = [name for name, _ in phases]
    times = [seconds for _, seconds in phases]
    joined = times[0] if names and names[0] == FIRST_PHASE else 0.0
    if COPY_PHASE in names:
        at = names.index(COPY_PHASE)
        return joined, sum(times[:at]), times[at], sum(times[at + 1 :])
    # Old versions are known as a whole only.
    whole = sum(times)
    before, copying = constants["restart_before_copy_share"].value, constants["restart_copy_share"].value
    return joined, before * whole, copying * whole, (1.0 - before - copying) * whole
