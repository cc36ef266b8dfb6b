"""How data nodes of a live cluster stop: in order or at once, alone or together, to stay or to come back."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.estimate.constants import constants_of
from ndbplan.ndb.console import form
from ndbplan.plan.processes import ManagementNode
from ndbplan.simulate.events import orders as engine
from ndbplan.simulate.events.handlers import Order, at_once, handles, planned
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.train.starts import StartProcess
from ndbplan.train.state import ANSWERS, ClusterState, Status, state_of

AT_ONCE_S = 0.4
"""A stop with -a, or of a node that has not started [8.4.8: 0.24 to 0.43 s]."""
SHUTDOWN_PHASE = 1
"""What STATUS calls the last completed phase of a node that shuts down [8.4.8]."""


@dataclass(frozen=True)
class StopNodes(Order):
    """Data nodes are told to stop."""

    node_ids: tuple[int, ...]
    abort: bool = False
    """At once, without waiting for transactions."""
    then: str = ""
    """Nothing; `start`: they are started again; `wait`: they stay not started."""
    initial: bool = False


@dataclass(frozen=True)
class StopCluster(Order):
    """All data nodes are told to stop together."""

    then: str = ""
    initial: bool = False
    abort: bool = False
    servers: bool = False
    """The management servers too, afterwards."""


@dataclass(frozen=True)
class StopServer(Order):
    """A management server stops, and may come back."""

    node_id: int
    then: str = ""


@dataclass(frozen=True)
class HaveStopped:
    """Data nodes have shut down."""

    node_ids: tuple[int, ...]
    attempts: tuple[int, ...]
    together: bool
    servers: bool = False


@dataclass(frozen=True)
class ServerIsBack:
    """A management server that was restarted answers again."""

    node_id: int


for _kind in (StopNodes, StopCluster, StopServer):
    planned(_kind)(at_once)


@handles(StopNodes)
def stop_nodes(sim: Simulation, order: StopNodes) -> None:
    """Each finishes its transactions and hands its subscriptions over, unless it is told not to."""
    state, at_s = state_of(sim), sim.at_s
    for node_id in order.node_ids:
        node = state.nodes[node_id]
        if not node.runs or node.status is Status.NOT_CONNECTED:
            continue
        was_up = node.status in ANSWERS
        endless = state.group(node_id) is None and not form(state.plan.version, "spare_stop_ends")
        state.waiting.pop(node_id, None)
        state.change(
            node_id, status=Status.STOPPING, phase=SHUTDOWN_PHASE, then=order.then, initial=order.initial
        )
        state.say(at_s, "stop_begins", node_id)
        state.tell(at_s, node_id, "Node shutdown initiated")
        if was_up and endless and not order.abort:
            continue
        seconds = _stop_s(state, node_id) if was_up and not order.abort else AT_ONCE_S
        stopped = HaveStopped((node_id,), (node.attempt,), together=False)
        sim.later(Due(at_s + seconds, stopped, of_cluster=False))


def _stop_s(state: ClusterState, node_id: int) -> float:
    """How long a stop in order takes; nobody takes the subscriptions of the last node of a group."""
    constants = constants_of(state.plan)
    mates = [i for i in state.alive() if i != node_id and state.groups[i] == state.groups[node_id]]
    return constants["stop_handover_s" if mates else "cluster_stop_s"].value


@handles(StopCluster)
def stop_cluster(sim: Simulation, order: StopCluster) -> None:
    """All of them finish at the same global checkpoint."""
    state, at_s = state_of(sim), sim.at_s
    here = [i for i, node in state.nodes.items() if node.status is not Status.NOT_CONNECTED]
    seconds = AT_ONCE_S if order.abort else constants_of(state.plan)["cluster_stop_s"].value
    if all(state.nodes[i].status is Status.NOT_STARTED for i in here):
        seconds = AT_ONCE_S
    for node_id in here:
        state.waiting.pop(node_id, None)
        state.change(
            node_id, status=Status.STOPPING, phase=SHUTDOWN_PHASE, then=order.then, initial=order.initial
        )
        state.say(at_s, "stop_all_begins", node_id)
        state.tell(at_s, node_id, "Cluster shutdown initiated")
    attempts = tuple(state.nodes[i].attempt for i in here)
    stopped = HaveStopped(tuple(here), attempts, together=True, servers=order.servers)
    sim.later(Due(at_s + seconds, stopped, of_cluster=False))


@handles(HaveStopped)
def have_stopped(sim: Simulation, event: HaveStopped) -> None:
    """Their processes have ended, or wait to be started again."""
    state, at_s = state_of(sim), sim.at_s
    pairs = zip(event.node_ids, event.attempts, strict=True)
    gone = [i for i, attempt in pairs if state.nodes[i].attempt == attempt and state.nodes[i].runs]
    ordered = {i: (state.nodes[i].then, state.nodes[i].initial) for i in gone}
    for node_id in gone:
        then, initial = ordered[node_id]
        how = ", restarting, no start" if then else ""
        state.say(at_s, "stop_done", node_id, how=how + (", initial" if then and initial else ""))
        state.tell(at_s, node_id, f"Node shutdown completed{how}.")
        state.say(at_s, "transporter", None, server=state.server, other=node_id)
        state.say(at_s, "disconnected", state.server, other=node_id)
        state.joined.pop(node_id, None)
        state.change(
            node_id, status=Status.NOT_CONNECTED, phase=0, runs=False, hangs=False, then="", initial=False,
            attempt=state.nodes[node_id].attempt + 1,
        )  # fmt: skip
    if event.together:
        state.single_user, state.mode_changes, state.backup_asked = None, False, None
        engine.stop_together(sim, engine.StopTogether(at_s=at_s))
        engine.admit(sim, engine.Admit(1.0, at_s=at_s))
    elif gone:
        engine.leave(sim, engine.Leave(tuple(gone), at_s=at_s))
    for node_id, (then, initial) in ordered.items():
        if then:
            # After the loss of the old process is told of.
            again = StartProcess(node_id, initial, then == "wait", told=then != "wait")
            sim.later(Due(at_s, again, last=True, of_cluster=False))
    if event.servers:
        for server in sorted(state.servers):
            stop_server(sim, StopServer(server, at_s=at_s))


@handles(StopServer)
def stop_server(sim: Simulation, order: StopServer) -> None:
    """It is gone at once; one that is restarted answers again later."""
    state = state_of(sim)
    process = state.process(order.node_id)
    if isinstance(process, ManagementNode) and order.node_id in state.servers:
        state.say(sim.at_s, "server_stops", None)
        engine.kill(sim, engine.Kill(process.id, at_s=sim.at_s))
        if order.then:
            seconds = constants_of(state.plan)["management_restart_s"].value
            sim.later(Due(sim.at_s + seconds, ServerIsBack(order.node_id), of_cluster=False))


@handles(ServerIsBack)
def server_is_back(sim: Simulation, event: ServerIsBack) -> None:
    """Clients can connect to it again."""
    process = state_of(sim).process(event.node_id)
    assert process is not None
    engine.connect(sim, engine.Connect(process.id, at_s=sim.at_s))
