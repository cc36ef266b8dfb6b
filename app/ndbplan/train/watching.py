"""How what happens in the simulation becomes known: to data nodes, to the management server, to the logs.

A `Watching` state is told of everything that happens (`saw`), and notes what follows from it.
Once a second (`Look`) it also looks at what has no moment of its own: checkpoints, memory, backups.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from ndbplan.configuration.failures import cluster_of
from ndbplan.configuration.settings import node_settings
from ndbplan.ndb.survival import Outcome, decide
from ndbplan.plan.processes import (
    NODE_GROUP_NONE,
    ApiSlot,
    DataNode,
    ManagementNode,
    SqlNode,
    process_node_ids,
)
from ndbplan.simulate.events import orders as engine
from ndbplan.simulate.events.configuration import HasValue, changed, starts_initial
from ndbplan.simulate.events.failures import FailsTogether
from ndbplan.simulate.events.full_disks import EXIT_FULL, DiskFills, WantsRoom
from ndbplan.simulate.events.global_checkpoints import GlobalCheckpoint
from ndbplan.simulate.events.growth import TableReorganised, TablesReorganised
from ndbplan.simulate.events.handlers import handles
from ndbplan.simulate.events.nodes import IsDurable, makes_files_anew
from ndbplan.simulate.model.workload import IDLE
from ndbplan.simulate.outage import clients_of
from ndbplan.simulate.simulation import Due, Judgement, Simulation
from ndbplan.train.backups import NODE_FAILED, abort_backup, follow_backup
from ndbplan.train.checkpoints import follow_global_checkpoints, follow_local_checkpoints
from ndbplan.train.memory import tell_memory
from ndbplan.train.starts import EXIT_OTHER_FAILED, ends, gather, is_started, restart_begins
from ndbplan.train.state import ANSWERS, ClusterState, Status, state_of
from ndbplan.train.transacting import cut_off, failed

LOOKS_EVERY_S = 1.0
OPENS_AGAIN_S = 3.0
"""From the loss of a node until others take its connections again [8.4.8 and 7.4.10 logs]."""
SERVER_BEATS = 4
"""Heartbeats that the management server misses before it drops a node [8.4.8 log: 6 s at 1500 ms]."""
WARNED_AFTER = (2, 3, 4)
"""Missed heartbeats that the log tells of."""
EXIT_GCP_STOP = 2303
EXIT_DECLARED_DEAD = 2315
EXIT_ARBITRATION = 2305
_HANGS = -1
"""In place of an error: the process hangs."""
_FAILED = ("Node failed, fail handling ongoing", "Node failure handling complete")
_TAKES_OVER = ("checkpoint_taken", "gcp_taken", "takes_over", "gcp_taken_over", "checkpoint_taken_over")
"""What a new master says, in this order [7.4.10]."""


@dataclass(frozen=True)
class Look:
    """What has no moment of its own is looked at."""


@dataclass(frozen=True)
class Begins:
    """The session begins: reserved data nodes do not run."""


@dataclass(frozen=True)
class Misses:
    """A data node misses a heartbeat of a silent one."""

    node_id: int
    since_s: float
    count: int


@dataclass(frozen=True)
class ServerMisses:
    """The management server does."""

    node_id: int
    attempt: int
    count: int


@dataclass(frozen=True)
class OpensAgain:
    """Connections of a lost data node are taken again."""

    node_id: int


@dataclass
class Watching(ClusterState):
    """The cluster as its processes know it, kept up to date."""

    clients: frozenset[int] = frozenset()
    """SQL and API nodes that are connected."""

    def saw(self, sim: Simulation, due: Due) -> None:
        """Note what has just happened."""
        event, outage = due.event, sim.outage
        if isinstance(event, Look):
            return
        for process_id in filter(None, outage.striking):
            code = _HANGS if isinstance(event, engine.Kill) and event.hangs else 0
            code = EXIT_GCP_STOP if isinstance(event, GlobalCheckpoint) else code
            code = EXIT_FULL if isinstance(event, DiskFills | WantsRoom) else code
            self.struck.setdefault(process_id, code)
        if isinstance(event, FailsTogether):
            self._fail(sim)
        for judgement in sim.judgements[self.judged :]:
            self._judged(sim, judgement)
        self.judged = len(sim.judgements)
        if isinstance(event, engine.Resume):
            self._goes_on(sim, event)
        if isinstance(event, DiskFills | WantsRoom) and not sim.laws.run.has_backup:
            abort_backup(sim, EXIT_FULL, ())
        if isinstance(event, IsDurable) and event.started.node.node_id in outage.running.started:
            is_started(sim, event.started.node.node_id)
        if isinstance(event, TableReorganised):
            lies = next(table for table in outage.plan.tables if table.id == event.table_id)
            tables = tuple(lies if table.id == lies.id else table for table in self.plan.tables)
            self.plan = self.plan.replace(tables=tables)
        if isinstance(event, TablesReorganised):
            self.plan = outage.plan
            self.used_groups = frozenset(self.groups.values()) - {NODE_GROUP_NONE}
        if isinstance(event, HasValue):
            # Many a console answers with it; which nodes have it is the simulation's to say.
            self.plan = changed(self.plan, event.turn.rolling.change)
        self._started_by_the_story(sim)
        self._connections(sim)

    def acted_on(self, sim: Simulation) -> None:
        """Let the observer see what an act may end."""
        if self.observer is not None:
            self.observer.look(sim)

    def _fail(self, sim: Simulation) -> None:
        """What failed at this moment: processes that are gone, hang, or are silent."""
        outage, at_s = sim.outage, sim.at_s
        struck, self.struck = self.struck, {}
        loss = outage.loss
        silent = {} if loss is None else loss.silent
        for process_id, code in struck.items():
            process = self.plan.by_id.get(process_id)
            if not isinstance(process, DataNode):
                cut_off(self, process)
                continue
            node_id, node = process.node_id, self.nodes[process.node_id]
            failed(self)
            if code > 0:
                ends(sim, node_id, code)
            elif silent.get(node_id) and node.status in (*ANSWERS, Status.STARTING):
                self.silent[node_id] = at_s
                self.change(node_id, hangs=True, runs=code == _HANGS)
                self._beats(sim, node_id)
            elif node.runs:
                self._killed(sim, node_id, hangs=code == _HANGS)
        hidden = set() if loss is None else loss.hidden
        for node_id in sorted(hidden - self.silent.keys()):
            # It runs on the other side of a cut.
            self.silent[node_id] = at_s
            self._beats(sim, node_id)

    def _killed(self, sim: Simulation, node_id: int, *, hangs: bool) -> None:
        if not hangs:
            self.say(sim.at_s, "signal", node_id)
            self._drop(sim.at_s, node_id)
        self.waiting.pop(node_id, None)
        self.change(
            node_id, runs=hangs, hangs=hangs, then="", phase=0, initial=False,
            attempt=self.nodes[node_id].attempt + 1,
        )  # fmt: skip

    def _drop(self, at_s: float, node_id: int) -> None:
        """The management server is not connected to a data node any more."""
        if self.nodes[node_id].status is not Status.NOT_CONNECTED:
            self.say(at_s, "transporter", None, server=self.server, other=node_id)
            self.say(at_s, "disconnected", self.server, other=node_id)
            self.change(node_id, status=Status.NOT_CONNECTED)

    def _beats(self, sim: Simulation, node_id: int) -> None:
        """Heartbeats of a silent node that are missed, by data nodes and by the management server."""
        settings, loss, at_s = node_settings(self.plan), sim.outage.loss, sim.at_s
        interval_s = settings.number("HeartbeatIntervalDbDb") / 1000
        if loss is not None:
            known = sorted(set(self.silent) & (loss.silent.keys() | loss.hidden))
            turn = (known.index(node_id) + 1) / len(known) if node_id in known else 1.0
            dead_s = loss.since_s + (loss.due[1] - loss.since_s) * turn
            for count in WARNED_AFTER:
                when_s = dead_s - (WARNED_AFTER[-1] - count) * interval_s
                if when_s > at_s:
                    missed = Misses(node_id, self.silent[node_id], count)
                    sim.later(Due(when_s - 1e-3, missed, of_cluster=False, is_look=True))
        beat_s = settings.number("HeartbeatIntervalDbApi") / 1000
        for count in WARNED_AFTER:
            missed_by_server = ServerMisses(node_id, self.nodes[node_id].attempt, count)
            sim.later(Due(at_s + count * beat_s, missed_by_server, of_cluster=False, is_look=True))

    def _goes_on(self, sim: Simulation, event: engine.Resume) -> None:
        """A process that hung runs again: in time, or to find that it was declared dead."""
        process = self.plan.by_id.get(event.process_id)
        if not isinstance(process, DataNode) or not self.nodes[process.node_id].hangs:
            return
        node_id = process.node_id
        self.change(node_id, hangs=False)
        if self.silent.pop(node_id, None) is None or node_id in sim.outage.lost:
            ends(sim, node_id, EXIT_DECLARED_DEAD)
        elif self.nodes[node_id].status is Status.NOT_CONNECTED:
            self.say(sim.at_s, "server_connected", self.server, other=node_id)
            self.change(node_id, status=Status.STARTED)

    # What the data nodes found when they noticed a loss.

    def _judged(self, sim: Simulation, judgement: Judgement) -> None:
        outage, at_s = sim.outage, judgement.at_s
        before, found = judgement.before, judgement.found
        winner = outage.winner(found)
        after = None if winner is None else winner.after
        up = frozenset() if after is None else after.started | after.starting
        gone = sorted((before.started | before.starting) - up)
        anew = {i for i in gone if self._is_anew(i)}
        dead = [i for i in gone if i in self.silent or i in anew or not self.nodes[i].runs]
        living = [] if after is None else sorted(after.started)
        if winner is not None:
            led = next((i for i in self.joined if i in before.started), None)
            self._closed(at_s, gone, dead, living)
            self._arbitration(at_s, judgement, winner.survivors, winner.verdict.outcome, winner.verdict.asked)
            self._handled(sim, gone, living, led)
            if after is not None and after.arbitrator is None:
                self._lost_arbitrator(at_s)
        judged_alive = {*before.starting, *found.shut_out, *(i for s in found.sides for i in s.survivors)}
        verdicts = {i: side.verdict.exit_code for side in found.sides for i in side.survivors}
        for node_id in gone:
            self.silent.pop(node_id, None)
            node = self.nodes[node_id]
            if node_id in anew:
                self.joined.pop(node_id, None)
            elif not node.runs:
                self._drop(at_s, node_id)
                self.joined.pop(node_id, None)
            elif not node.hangs and node_id in outage.lost and node_id not in judged_alive:
                # Told to stop, as in a rolling restart.
                self.say(at_s, "stop_begins", node_id)
                files = ", initial" if starts_initial(sim, node_id) else ""
                self.say(at_s, "stop_done", node_id, how=f", restarting, no start{files}")
                self._drop(at_s, node_id)
                self.change(node_id, runs=False, attempt=node.attempt + 1)
            elif not node.hangs:
                code = EXIT_OTHER_FAILED if node_id in before.starting else verdicts.get(node_id)
                code = EXIT_DECLARED_DEAD if node_id in found.shut_out else code
                ends(sim, node_id, code or EXIT_ARBITRATION)
        if after is None:
            self.single_user, self.mode_changes, self.backup_asked = None, False, None
            self.losses = {node_id: count + 1 for node_id, count in self.losses.items()}
            engine.admit(sim, engine.Admit(1.0, at_s=at_s))
        if gone:
            abort_backup(sim, NODE_FAILED, gone)

    def _is_anew(self, node_id: int) -> bool:
        """Whether another process was started since: the loss that is noticed now is not its own."""
        node = self.nodes[node_id]
        begins = bool(node.then) and node.status is Status.NOT_CONNECTED
        return node.runs and (node_id in self.waiting or begins or node.status is Status.NOT_STARTED)

    def _closed(self, at_s: float, gone: list[int], dead: list[int], living: list[int]) -> None:
        """What those that go on write of those that do not, before they ask who goes on [8.4.8, 7.4.10]."""
        for node_id in dead:
            if node_id in self.silent and living:
                watcher = next((i for i in reversed(living) if i < node_id), living[-1])
                self.say(at_s, "declared_dead", watcher, other=node_id)
            self.joined.pop(node_id, None)
        for node_id in gone:
            self.all_say(at_s, "closed", living, other=node_id)
            self.all_say(at_s, "disconnected", living, other=node_id)

    def _handled(self, sim: Simulation, gone: list[int], living: list[int], led: int | None) -> None:
        """How the failures are handled; `led`: the data node that was master before."""
        at_s = sim.at_s
        leader = next((i for i in self.joined if i in living), None)
        for node_id in gone:
            old = self.nodes[node_id].restart_status
            for words in _FAILED:
                self.all_say(at_s, "restart_status", living, other=node_id, old=old, new=words)
                if leader is not None and node_id == led and words == _FAILED[0]:
                    for key in _TAKES_OVER:
                        self.say(at_s, key, leader, other=leader)
                old = words
            self.change(node_id, restart_status=old)
            self.closed |= {node_id}
            sim.later(Due(at_s + OPENS_AGAIN_S, OpensAgain(node_id), is_look=True))

    def _arbitration(
        self, at_s: float, judgement: Judgement, left: Collection[int], outcome: Outcome, asked: int | None
    ) -> None:
        """How the question who goes on was answered."""
        before, leader = judgement.before, next((i for i in self.joined if i in left), None)
        if not before.started - set(left) or leader is None:
            return
        if outcome is Outcome.ASKS:
            self.say(at_s, "arbitration_required", leader)
            self.say(at_s, "arbitration_thread", leader, state=7)
            self.say(at_s, "arbitration_won", leader, other=asked)
            self.arbitrator = None
            return
        _, condition = self.rule_condition(before.started, frozenset(left))
        key = {"complete group": "check_won_group", "untouched group": "check_won_group",
               "more than half": "check_won_half"}.get(condition)  # fmt: skip
        if key is not None:
            self.say(at_s, key, leader)
            self.say(at_s, "arbitration_thread", leader, state=6)

    def rule_condition(self, before: frozenset[int], left: frozenset[int]) -> tuple[Outcome, str]:
        """What the rule of the version says of survivors, and why."""
        cluster = cluster_of(self.plan)
        if cluster.nobody_arbitrates:
            return Outcome.GOES_ON, ""
        return decide(cluster.rule, cluster.groups.values(), before, left)

    # Starts that a story plans, and who is connected.

    def _started_by_the_story(self, sim: Simulation) -> None:
        """Data nodes that an event of the story starts again."""
        for one in sim.restarts:
            begun = one.started_at_s
            if begun is None or self.starts.get(one.node_id, -1.0) >= begun:
                continue
            self.starts[one.node_id] = begun
            node = self.nodes[one.node_id]
            if node.status is Status.NOT_CONNECTED and one.phases and one.node_id in sim.outage.lost:
                self.change(
                    one.node_id, status=Status.STARTING, runs=True, hangs=False, phase=0,
                    knows_group=False, attempt=node.attempt + 1,
                    initial=makes_files_anew(sim, one.node_id),
                )  # fmt: skip
                self.join(one.node_id)
                restart_begins(sim, one.node_id, one.phases)

    def connected(self, sim: Simulation) -> frozenset[int]:
        """Ids of the SQL and API nodes that the data nodes are connected to now."""
        living = [i for i in self.alive() if self.nodes[i].status is not Status.STOPPING or self.mode_changes]
        if not living or sim.outage.stop is not None:
            return frozenset()
        # Without a load no program holds an API slot.
        senders = self.plan.sql_nodes if sim.scenario.workload == IDLE else clients_of(self.plan)
        return frozenset(
            i
            for p in senders
            if not sim.outage.is_down(p.id) and isinstance(p, SqlNode | ApiSlot)
            for i in process_node_ids(p)
        )

    def _connections(self, sim: Simulation) -> None:
        """Management servers that run, and SQL and API nodes that the data nodes are connected to."""
        outage, at_s = sim.outage, sim.at_s
        self.servers = frozenset(
            p.node_id
            for p in self.plan.processes
            if isinstance(p, ManagementNode) and not outage.is_down(p.id)
        )
        up, living = self.connected(sim), self.alive()
        for node_id in sorted(self.clients - up):
            self.all_say(at_s, "disconnected", living, other=node_id)
            self.all_say(at_s, "closed", living, other=node_id)
        for node_id in sorted(up - self.clients):
            self.all_say(at_s, "connected", living, other=node_id)
            self.all_say(at_s, "api_version", living, other=node_id, program=self.release.name)
        self.clients = up
        stay = [i for p in self.plan.processes if not outage.is_down(p.id) for i in process_node_ids(p)]
        self.losses = {i: self.losses.get(i, 0) for i in stay if i in self.losses or i in up}
        arbitrator = outage.running.arbitrator if outage.stop is None else None
        if arbitrator is not None and arbitrator != self.arbitrator and self.president is not None:
            if self.ticket == self.ticket_told:
                self.elect(at_s)
            self.ticket_told = self.ticket
            self.say(at_s, "arbitrator_started", self.president, other=arbitrator, ticket=self.ticket)
        elif arbitrator is None:
            self._lost_arbitrator(at_s)
        self.arbitrator = arbitrator

    def _lost_arbitrator(self, at_s: float) -> None:
        """The president looks for another one, though it may be back at once."""
        if self.arbitrator is not None and self.president is not None:
            self.say(at_s, "arbitrator_lost", self.president, other=self.arbitrator)
            self.elect(at_s)
        self.arbitrator = None


@handles(Begins)
def begins(sim: Simulation, _event: Begins) -> None:
    """Reserved data nodes are not among the living."""
    state, outage = sim.beside, sim.outage
    assert isinstance(state, Watching)
    absent = {i for i, node in state.nodes.items() if node.status is Status.NOT_CONNECTED}
    outage.lost |= absent
    outage.running = replace(outage.running, started=outage.running.started - absent)
    state.arbitrator = outage.running.arbitrator
    state.elect(sim.at_s)
    state.ticket_told = state.ticket
    state.clients = state.connected(sim)
    state.losses = dict.fromkeys(sorted(state.clients), 0)


@handles(Misses)
def misses(sim: Simulation, event: Misses) -> None:
    """Its neighbour in the ring says so."""
    state = state_of(sim)
    if state.silent.get(event.node_id) == event.since_s:
        living = [i for i in state.alive() if i not in state.silent]
        if living:
            watcher = next((i for i in reversed(living) if i < event.node_id), living[-1])
            state.say(sim.at_s, "missed", watcher, other=event.node_id, count=event.count)


@handles(ServerMisses)
def server_misses(sim: Simulation, event: ServerMisses) -> None:
    """After the last one the server counts the node as not connected, long before the data nodes do."""
    state, node = state_of(sim), state_of(sim).nodes[event.node_id]
    if node.attempt != event.attempt or not node.hangs or node.status is Status.NOT_CONNECTED:
        return
    state.say(sim.at_s, "server_missed", None, server=state.server, other=event.node_id, count=event.count)
    if event.count >= SERVER_BEATS:
        state.say(sim.at_s, "server_drops", None, server=state.server, other=event.node_id)
        state.say(sim.at_s, "transporter", None, server=state.server, other=event.node_id)
        state.say(sim.at_s, "disconnected", state.server, other=event.node_id)
        state.change(event.node_id, status=Status.NOT_CONNECTED)


@handles(OpensAgain)
def opens_again(sim: Simulation, event: OpensAgain) -> None:
    """A node that starts again can connect from now on."""
    state = state_of(sim)
    state.closed -= {event.node_id}
    state.all_say(sim.at_s, "opened", state.alive(), other=event.node_id)


@handles(Look)
def look(sim: Simulation, event: Look) -> None:
    """Global and local checkpoints, memory, backups, and who waits to start."""
    state = state_of(sim)
    sim.later(Due(sim.at_s + LOOKS_EVERY_S, event, of_cluster=False, is_look=True))
    gather(sim)
    if sim.outage.stop is None and sim.outage.running.started:
        follow_global_checkpoints(sim, state)
        follow_local_checkpoints(sim, state)
        tell_memory(sim)
        follow_backup(sim)
    if state.observer is not None:
        state.observer.look(sim)
