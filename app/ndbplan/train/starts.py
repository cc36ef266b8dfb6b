"""How data nodes of a live cluster start: the process, its place in the cluster, phase after phase.

A node that joins a running cluster goes through the phases of a node restart as estimated; nodes of a cluster
that is down wait for one another (StartPartialTimeout, StartPartitionedTimeout, StartNoNodegroupTimeout) and
start together.
"""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.errors import UserError
from ndbplan.configuration.node_groups import loses_every_row
from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.timed import restart
from ndbplan.estimate.times.restart import Conditions
from ndbplan.estimate.times.restart_phases import STOP
from ndbplan.ndb.ndbinfo import restart_state
from ndbplan.ndb.node_names import listed
from ndbplan.ndb.survival import begin_start, come_back
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.simulate.events import orders as engine
from ndbplan.simulate.events.handlers import Order, at_once, handles, planned
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.train.configuring import has_started, renewal
from ndbplan.train.schema import nothing_is_left, only_files_are_left
from ndbplan.train.start_told import LAST_PHASES_S, steps_together, tell_phase, tell_status
from ndbplan.train.state import ClusterState, Status, state_of

CONNECTS_S = 1.0
"""From the start of a process to its connection to the management server [8.4.8 and 7.4.10 logs: 1 s]."""
SHOWN_AT_END = 100
"""What STATUS calls the last completed phase while subscriptions are handed over [8.4.8 and 7.4.10]."""
KNOWS_GROUP = 8
"""The last completed phase from which on SHOW tells the node group of a node that starts [8.4.8]."""
REFUSED_AFTER_S = 1.0
"""So long a data node that starts in single user mode is seen before it ends [8.4.8]."""
_PHASES = (*range(1, 10), 50)
"""Phases of which the cluster log tells; 101, the last, is told with the start."""
_COPY_META = "start permission and metadata"
_HANDOVER = "wait for subscriptions"
EXIT_SINGLE_USER = 2314
EXIT_OTHER_FAILED = 2308


@dataclass(frozen=True)
class StartProcess(Order):
    """ndbmtd or ndbd is started on the host of a data node."""

    node_id: int
    initial: bool = False
    waits: bool = False
    """--nostart: it connects and waits to be told."""
    told: bool = False
    """After RESTART: the management server tells it to start when it has connected."""


@dataclass(frozen=True)
class StartNode(Order):
    """A data node that waits is told to start."""

    node_id: int


@dataclass(frozen=True)
class Connects:
    """The process has connected to the management server."""

    node_id: int
    attempt: int


@dataclass(frozen=True)
class Reaches:
    """A data node has come so far in its start."""

    node_id: int
    attempt: int
    phase: int
    key: str = ""
    """Name of the phase of a restart that begins; empty: none does."""


@dataclass(frozen=True)
class SpareIsUp:
    """A data node without rows has started."""

    node_id: int
    attempt: int


@dataclass(frozen=True)
class SystemIsUp:
    """Data nodes that started together are started."""

    node_ids: tuple[int, ...]
    attempts: tuple[int, ...]
    lost: bool = False
    """None of them has a row any more: they started without files, or are diskless."""
    kind: str = "system restart"
    """As the cluster log calls it."""


planned(StartProcess)(at_once)
planned(StartNode)(at_once)


@handles(StartProcess)
def start_process(sim: Simulation, order: StartProcess) -> None:
    """It connects a moment later."""
    launch(sim, order.node_id, initial=order.initial, waits=order.waits, told=order.told)


def launch(
    sim: Simulation,
    node_id: int,
    *,
    initial: bool,
    waits: bool,
    told: bool = False,
    after_s: float = CONNECTS_S,
) -> None:
    """The process of a data node is started, unless it runs."""
    state = state_of(sim)
    if state.nodes[node_id].runs:
        return
    then = "wait" if waits else "told" if told else "start"
    node = state.change(
        node_id, runs=True, hangs=False, phase=0, then=then, initial=initial, knows_group=False,
        attempt=state.nodes[node_id].attempt + 1,
    )  # fmt: skip
    sim.later(Due(sim.at_s + after_s, Connects(node_id, node.attempt), of_cluster=False))


def _first_phase(state: ClusterState, at_s: float, node_id: int, phase: int) -> None:
    """Phases before a node knows how it starts: older nodes name no kind [7.4.10]."""
    for key in ("first_phase_7", "first_phase"):
        state.say(at_s, key, node_id, phase=phase)


@handles(Connects)
def connects(sim: Simulation, event: Connects) -> None:
    """The management server knows of it; it waits to be told, or starts. Without a server it tries again."""
    state, node_id = state_of(sim), event.node_id
    node = state.nodes[node_id]
    if node.attempt != event.attempt:
        return
    if not state.servers:
        sim.later(Due(sim.at_s + CONNECTS_S, event, of_cluster=False))
        return
    at_s = sim.at_s
    state.say(at_s, "allocated", None, other=node_id)
    state.say(at_s, "allocated_at", None, other=node_id, address=state.address(node_id))
    state.say(at_s, "server_connected", state.server, other=node_id)
    _first_phase(state, at_s, node_id, 0)
    if node.then == "wait":
        state.change(node_id, status=Status.NOT_STARTED)
        return
    if node.then == "told":
        state.say(at_s, "start_begins", node_id, program=state.release.name)
    _ready(sim, node_id)


@handles(StartNode)
def start_node(sim: Simulation, order: StartNode) -> None:
    """Only one that waits does anything: others run or are not there."""
    state = state_of(sim)
    if state.nodes[order.node_id].status is Status.NOT_STARTED:
        state.say(sim.at_s, "start_begins", order.node_id, program=state.release.name)
        _ready(sim, order.node_id)


def _ready(sim: Simulation, node_id: int) -> None:
    state = state_of(sim)
    state.change(node_id, status=Status.STARTING, then="")
    state.waiting[node_id] = sim.at_s
    gather(sim)


def gather(sim: Simulation) -> None:
    """Let those start that wait and need wait no longer; asked again every second."""
    state, outage = state_of(sim), sim.outage
    if not state.waiting:
        return
    if outage.stop is None and outage.running.started:
        if state.mode_changes or outage.loss is not None:
            return
        for node_id in sorted(state.waiting):
            if state.single_user is not None:
                if sim.at_s - state.waiting[node_id] >= REFUSED_AFTER_S:
                    ends(sim, node_id, EXIT_SINGLE_USER)
            else:
                _join(sim, node_id)
    elif (seconds := _waits_s(sim, state)) <= 0.0:
        _start_together(sim)
    else:
        _tell_who_is_missing(state, sim.at_s, seconds)


def _behind(sim: Simulation, state: ClusterState) -> set[int]:
    """Data nodes that a cluster which is down went on without, or that start without their files.

    They do not start with the others but join them when those are up, by a node restart [8.4.8]. That a node
    is gone stands in the files of the others with the next global checkpoint.
    """
    behind = {i for i in state.waiting if state.nodes[i].initial}
    if behind == set(state.waiting):
        return set()
    stop, spells = sim.outage.stop, sim.outage.spells
    known_s = node_settings(state.plan).number("TimeBetweenGlobalCheckpoints") / 1000
    for node_id in state.waiting if stop is not None else ():
        down = spells.get(_id(state, node_id), ())
        if down and stop is not None and down[-1].from_s + known_s < stop.failed_at_s:
            behind.add(node_id)
    return behind


def _waits_s(sim: Simulation, state: ClusterState) -> float:
    """How long data nodes of a cluster that is down wait for others; infinite: as long as it takes."""
    at_s = sim.at_s
    if any(node.status is Status.STARTING and i not in state.waiting for i, node in state.nodes.items()):
        return float("inf")
    settings, here = node_settings(state.plan), set(state.waiting)
    missing = {i for i in state.nodes if i not in here}
    since_s = min(state.waiting.values())
    groups: dict[int, set[int]] = {}
    for node_id, group in state.groups.items():
        if group != NODE_GROUP_NONE:
            groups.setdefault(group, set()).add(node_id)
    current = here - _behind(sim, state)
    if any(not members & current for members in groups.values()):
        return float("inf")
    if not missing:
        return 0.0
    waits_s = settings.number("StartPartialTimeout") / 1000 or float("inf")
    if all(state.groups[i] == NODE_GROUP_NONE for i in missing):
        waits_s = min(waits_s, settings.number("StartNoNodegroupTimeout") / 1000 or float("inf"))
    elif not any(members <= here for members in groups.values()):
        waits_s += settings.number("StartPartitionedTimeout") / 1000 or float("inf")
    return since_s + waits_s - at_s


def _tell_who_is_missing(state: ClusterState, at_s: float, seconds: float) -> None:
    here, everyone = sorted(state.waiting), sorted(state.nodes)
    missing = [i for i in everyone if i not in state.waiting]
    if seconds != float("inf") and missing and round(seconds) % 3 == 0:
        nodes = {"nodes": listed(missing), "all": listed(everyone), "there": listed(here)}
        state.say(at_s, "waits_for", here[0], seconds=round(seconds), **nodes)


def _start_together(sim: Simulation) -> None:
    """A system restart of all that wait and have what was written last."""
    state, at_s = state_of(sim), sim.at_s
    behind = _behind(sim, state)
    here = sorted(set(state.waiting) - behind)
    missing = [i for i in state.nodes if i not in state.waiting]
    state.waiting = {i: since_s for i, since_s in state.waiting.items() if i in behind}
    first = all(state.nodes[i].initial for i in here)
    kind = "initial start" if first else "system restart"
    phases = _phases(sim, "start" if first else "system", None)
    state.say(at_s, "starts_with", here[0], nodes=listed(here), missing=listed(missing) if missing else "")
    state.say(at_s, "system_restart", here[0], other=here[0], count=len(here), gci=state.gci)
    state.join_together(sorted(here, key=lambda i: state.groups[i] == NODE_GROUP_NONE))
    attempts = tuple(state.nodes[i].attempt for i in here)
    total = sum(seconds for _, seconds in phases)
    steps = tuple(steps_together(phases))
    for node_id, attempt in zip(here, attempts, strict=True):
        for after_s, phase, name in steps:
            sim.later(_due(at_s + after_s, Reaches(node_id, attempt, phase, f"{kind}/{name}")))
    for node_id in behind:
        sim.later(_due(at_s + steps[0][0], Reaches(node_id, state.nodes[node_id].attempt, 1, f"{kind}/")))
    inside = tuple(i for i in here if sim.node(_id(state, i)) >= 0)
    engine.begin_together(sim, engine.StartTogether(inside, total, at_s=at_s))
    lost = first or loses_every_row(state.plan)
    sim.later(Due(at_s + total, SystemIsUp(tuple(here), attempts, lost, kind), last=True, of_cluster=False))


def _due(at_s: float, event: object) -> Due:
    return Due(at_s, event, of_cluster=False)


def _id(state: ClusterState, node_id: int) -> str:
    node = state.data_node(node_id)
    assert node is not None
    return node.id


def _phases(sim: Simulation, kind: str, node_id: int | None) -> tuple[tuple[str, float], ...]:
    """Name and seconds of each phase of a start, as estimated."""
    try:
        crashed = Conditions(crashed=True)
        found = restart(sim.outage.plan, kind, node_id, crashed).phases  # type: ignore[arg-type]  # a Kind
    except UserError:
        return ((_COPY_META, LAST_PHASES_S),)
    return tuple((phase.name, phase.duration_s.value) for phase in found if phase.name != STOP)


def _join(sim: Simulation, node_id: int) -> None:
    """A node restart beside the others."""
    state, process = state_of(sim), sim.outage.plan.by_id[_id(state_of(sim), node_id)]
    node, at_s = state.nodes[node_id], sim.at_s
    if sim.node(process.id) < 0 or state.group(node_id) is None:
        state.waiting.pop(node_id)
        phases = _phases(sim, "node", node_id)
        sim.outage.running = begin_start(sim.outage.running, {node_id})
        total = sum(seconds for _, seconds in phases)
        sim.later(_due(at_s + total, SpareIsUp(node_id, node.attempt)))
        state.join(node_id)
        restart_begins(sim, node_id, phases)
        return
    sim.outage.lost.add(node_id)
    crashed = node.restart_status != "Restart completed"
    engine.begin(sim, engine.Start(node_id, node.initial, crashed, renewal(sim, node_id)))
    begun = [one for one in sim.restarts if one.node_id == node_id and one.started_at_s == sim.now_s]
    if begun:
        state.waiting.pop(node_id)
        state.starts[node_id] = sim.now_s
        state.join(node_id)
        restart_begins(sim, node_id, begun[-1].phases)


def restart_begins(sim: Simulation, node_id: int, phases: tuple[tuple[str, float], ...]) -> None:
    """A node restart has begun: what the logs tell of it, phase after phase."""
    state = state_of(sim)
    node, at_s, leader = state.nodes[node_id], sim.at_s, state.president
    tell_status(state, at_s, node_id, "Allocated node id")
    if leader is not None:
        kind = "initial node restart" if node.initial else "node restart"
        state.say(at_s, "node_start_kind", leader, other=node_id, kind=kind)
        state.say(at_s, "dict_locked", leader, other=node_id)
    total = 0.0
    for name, seconds in phases:
        begins = at_s + total
        if name == _HANDOVER:
            sim.later(_due(begins, Reaches(node_id, node.attempt, 8, name)))
            sim.later(
                _due(begins + min(seconds, LAST_PHASES_S), Reaches(node_id, node.attempt, SHOWN_AT_END))
            )
        elif total > 0.0:
            sim.later(_due(begins, Reaches(node_id, node.attempt, 4, name)))
        total += seconds


@handles(Reaches)
def reaches(sim: Simulation, event: Reaches) -> None:
    """The phases that are completed, and what begins."""
    state, node_id, at_s = state_of(sim), event.node_id, sim.at_s
    node = state.nodes[node_id]
    if node.attempt != event.attempt or node.status is not Status.STARTING:
        return
    together, _, name = event.key.rpartition("/")
    kind = together or ("initial node restart" if node.initial else "node restart")
    for phase in _PHASES:
        if node.phase < phase <= event.phase:
            if phase == 1:
                _first_phase(state, at_s, node_id, phase)
            else:
                state.say(at_s, "phase", node_id, phase=phase, kind=kind)
    reached = max(node.phase, event.phase)
    state.change(node_id, phase=reached, knows_group=reached >= KNOWS_GROUP)
    if name and not together:
        tell_phase(state, at_s, node_id, name)


def is_started(sim: Simulation, node_id: int) -> None:
    """A data node that started beside others is started: it takes part in everything."""
    state, at_s = state_of(sim), sim.at_s
    if state.nodes[node_id].status is not Status.STARTING:
        return
    state.say(at_s, "phase", node_id, phase=101, kind="node restart")
    state.say(at_s, "started", node_id, program=state.release.name)
    leader = state.president
    tell_status(state, at_s, node_id, restart_state("done")[1])
    if leader is not None:
        state.say(at_s, "dict_unlocked", leader, other=node_id)
    _takes_part(sim, node_id)


def _takes_part(sim: Simulation, node_id: int) -> None:
    state = state_of(sim)
    initial = state.nodes[node_id].initial
    state.change(node_id, status=Status.STARTED, phase=0, initial=False, knows_group=True, then="")
    if node_id not in state.joined:
        state.join(node_id)
    has_started(sim, node_id, initial=initial)


@handles(SpareIsUp)
def spare_is_up(sim: Simulation, event: SpareIsUp) -> None:
    """It counts among the living from now on."""
    state = state_of(sim)
    if state.nodes[event.node_id].attempt == event.attempt and sim.outage.stop is None:
        outage = sim.outage
        outage.running = come_back(outage.failures.cluster, outage.running, {event.node_id}, sim.at_s)
        is_started(sim, event.node_id)


@handles(SystemIsUp)
def system_is_up(sim: Simulation, event: SystemIsUp) -> None:
    """All that started together is started, unless one was lost meanwhile: then none is (2308)."""
    state, at_s = state_of(sim), sim.at_s
    pairs = list(zip(event.node_ids, event.attempts, strict=True))
    if any(state.nodes[i].attempt != attempt for i, attempt in pairs):
        return
    for phase in (*_PHASES, 101):
        late = [i for i in event.node_ids if phase > state.nodes[i].phase]
        state.all_say(at_s, "phase", late, phase=phase, kind=event.kind)
    state.all_say(at_s, "started", event.node_ids, program=state.release.name)
    for node_id in event.node_ids:
        _takes_part(sim, node_id)
    spare = {i for i in event.node_ids if sim.node(_id(state, i)) < 0}
    outage = sim.outage
    outage.running = come_back(outage.failures.cluster, outage.running, spare, at_s)
    if event.lost:
        nothing_is_left(sim)
    else:
        only_files_are_left(sim)


def ends(sim: Simulation, node_id: int, code: int) -> None:
    """The process of a data node ends with an error."""
    from ndbplan.ndb.errors import exit_said

    state, at_s = state_of(sim), sim.at_s
    node = state.nodes[node_id]
    said = exit_said(code)
    phase = f" Occurred during startphase {node.phase}." if node.status is Status.STARTING else ""
    state.waiting.pop(node_id, None)
    state.joined.pop(node_id, None)
    if node.runs:
        state.say(
            at_s,
            "forced",
            node_id,
            code=code,
            text=said.text,
            kind=said.classification,
            phase=phase,
            then=said.status,
        )
        state.tell(at_s, node_id, f"Error {code}: {said.text}")
    if node.status is not Status.NOT_CONNECTED:
        state.say(at_s, "transporter", None, server=state.server, other=node_id)
        state.say(at_s, "disconnected", state.server, other=node_id)
    state.change(
        node_id, status=Status.NOT_CONNECTED, phase=0, runs=False, hangs=False, then="",
        attempt=node.attempt + 1,
    )  # fmt: skip
    if node.runs and code != EXIT_SINGLE_USER and not node_settings(state.plan).number("StopOnError"):
        launch(sim, node_id, initial=False, waits=False)
