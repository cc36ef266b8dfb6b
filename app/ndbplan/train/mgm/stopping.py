"""START, STOP, RESTART, SHUTDOWN: what they ask for, refuse and say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ndbplan.ndb.console import form, knows_word
from ndbplan.plan.processes import DataNode, ManagementNode
from ndbplan.simulate.events.handlers import Order
from ndbplan.train.answer import Answer
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm.words import FAILED, Line, client_line, data_nodes, refused
from ndbplan.train.starts import StartNode
from ndbplan.train.state import ANSWERS, Status
from ndbplan.train.stops import StopCluster, StopNodes, StopServer


class Options(NamedTuple):
    """What stands behind STOP or RESTART."""

    abort: bool = False
    force: bool = False
    nostart: bool = False
    initial: bool = False

    @property
    def then(self) -> str:
        """How a restarted node goes on."""
        return "wait" if self.nostart else "start"


def _options(cluster: LiveCluster, line: Line, command: str) -> Options | Answer:
    """Options, or what is wrong with one."""
    known = {"-A": "abort", "-N": "nostart", "-I": "initial", "-F": "force"}
    if command == "STOP":
        known = {"-A": "abort", "-F": "force"}
    if not knows_word(cluster.plan.version, "-F"):
        del known["-F"]
    given = {}
    for word, upper in zip(line.words, line.upper, strict=True):
        if upper not in known:
            expected = "-A or -F" if command == "STOP" else "-A,-N,-I or -F"
            return Answer(f"Invalid option: {word}. Expecting {expected} after {command}\n\n", FAILED)
        given[known[upper]] = True
    return Options(**given)


def start(cluster: LiveCluster, node_ids: Sequence[int], everyone: bool) -> Answer:
    """Data nodes that wait are started; of others that run it is said, and nothing happens.

    Of several that are named the first that is refused ends it.
    """
    text, orders, failed = "", list[Order](), False
    several = len(node_ids) > 1 and not everyone
    for node_id in node_ids:
        process = cluster.state.process(node_id)
        code = 0
        if not isinstance(process, DataNode):
            code = 5002
        elif cluster.state.nodes[node_id].status is Status.NOT_CONNECTED:
            code = 5000
        failed = failed or bool(code)
        if code and everyone:
            text += f"Start failed.\n{client_line(0)}*        Executing: ndb_mgm_start\n"
        elif code:
            text += f"Start failed.\n{client_line(22)}{refused(code, cluster)}"
            break
        else:
            orders.append(StartNode(node_id))
            if everyone:
                text += "NDB Cluster is being started.\n"
            elif not several:
                text += f"Database node {node_id} is being started.\n"
    if several and not failed:
        text = f"Node {' '.join(map(str, node_ids))} is being started\n"
    return Answer(text + ("" if several else "\n"), FAILED if failed else 0, tuple(orders))


def refusal(cluster: LiveCluster, node_ids: Sequence[int], options: Options) -> int:
    """Code with which the server refuses to stop these data nodes; 0: it does not."""
    state = cluster.state
    nodes = [state.nodes[i] for i in node_ids]
    if not any(node.status in ANSWERS or node.status is Status.STARTING for node in state.nodes.values()):
        if any(node.status is Status.NOT_CONNECTED for node in nodes):
            return 5005
        return 0
    if len(nodes) > 1 and not options.abort:
        return 5031
    if any(node.status is Status.NOT_CONNECTED for node in nodes):
        return 5005
    if state.mode_changes or all(node.status is Status.STOPPING for node in state.nodes.values()):
        return 5027
    if any(node.status is Status.STOPPING for node in nodes):
        return 5026
    checked = not options.force and not (options.abort and len(nodes) == 1)
    moving = any(node.status in (Status.STARTING, Status.STOPPING) for node in state.nodes.values())
    if moving and checked and not form(cluster.plan.version, "stops_while_others_move"):
        return 5063
    if checked and _leaves_group_empty(cluster, node_ids):
        return 5028
    return 0


def _leaves_group_empty(cluster: LiveCluster, node_ids: Sequence[int]) -> bool:
    state = cluster.state
    up = {i for i, node in state.nodes.items() if node.status in ANSWERS}
    going = set(node_ids) & up
    groups = {state.groups[i] for i in going if state.group(i) is not None}
    return any(not {i for i in up - going if state.groups[i] == group} for group in groups)


def stop(cluster: LiveCluster, node_ids: Sequence[int], line: Line) -> Answer:
    """Nodes by their ids, several of them in one command."""
    options = _options(cluster, line, "STOP")
    if isinstance(options, Answer):
        return options
    parts = _parted(cluster, node_ids)
    code = 5002 if parts.others else refusal(cluster, parts.data, options) if parts.data else 0
    if code:
        return Answer(
            f"Shutdown failed.\n{client_line(2002)}{refused(code, cluster)}{_end(node_ids)}", FAILED
        )
    ids = " ".join(str(node_id) for node_id in node_ids)
    leaves = "Disconnecting to allow Management Server to shutdown\n" if parts.servers else ""
    done = Answer(f"Node {ids} has shutdown.\n{leaves}{_end(node_ids)}")
    orders: list[Order] = [StopServer(server) for server in parts.servers]
    if parts.data:
        orders.append(StopNodes(tuple(parts.data), options.abort))
    return Answer("", 0, tuple(orders), _gone(cluster, parts.data, done))


def _end(node_ids: Sequence[int]) -> str:
    """An empty line follows what is said of one node [8.4.8]."""
    return "\n" if len(node_ids) == 1 else ""


class _Parts(NamedTuple):
    data: list[int]
    servers: list[int]
    others: list[int]


def _parted(cluster: LiveCluster, node_ids: Sequence[int]) -> _Parts:
    parts = _Parts([], [], [])
    for node_id in node_ids:
        process = cluster.state.process(node_id)
        kind = parts.data if isinstance(process, DataNode) else parts.others
        (parts.servers if isinstance(process, ManagementNode) else kind).append(node_id)
    return parts


def _gone(
    cluster: LiveCluster, node_ids: Sequence[int], done: Answer
) -> Callable[[LiveCluster], Answer | None]:
    """Waits until the processes that run now have ended."""
    before = {i: cluster.state.nodes[i].attempt for i in node_ids}

    def gone(now: LiveCluster) -> Answer | None:
        nodes = now.state.nodes
        return done if all(nodes[i].attempt != attempt for i, attempt in before.items()) else None

    return gone


def restart(cluster: LiveCluster, node_ids: Sequence[int], line: Line) -> Answer:
    """Data nodes, or a management server."""
    options = _options(cluster, line, "RESTART")
    if isinstance(options, Answer):
        return options
    state, parts = cluster.state, _parted(cluster, node_ids)
    if state.single_user is not None:
        return Answer("Cannot restart nodes: single user mode\n\n", FAILED)
    for node_id in parts.others:
        if state.process(node_id) is None:
            return Answer(f"{node_id}: Node not found\n\n", FAILED)
    text = "".join(f"Shutting down MGM node {server} for restart\n" for server in parts.servers)
    code = 5002 if parts.others else 0
    if not code and any(server not in state.servers for server in parts.servers):
        code = 5005
    if not code and parts.data:
        code = refusal(cluster, parts.data, options)
    if code:
        failed = (
            f"Restart failed.\n{client_line(2003)}{refused(code, cluster, numbered=True)}{_end(node_ids)}"
        )
        return Answer(text + failed, FAILED)
    ids = " ".join(str(node_id) for node_id in node_ids)
    orders: list[Order] = [StopServer(server, "start") for server in parts.servers]
    if parts.data:
        orders.append(StopNodes(tuple(parts.data), options.abort, options.then, options.initial))
    done = Answer(f"Node {ids} is being restarted\n{_end(node_ids)}")
    return Answer(text, 0, tuple(orders), _gone(cluster, parts.data, done))


def stop_all(cluster: LiveCluster, line: Line) -> Answer:
    """All data nodes together."""
    options = _options(cluster, line, "STOP")
    if isinstance(options, Answer):
        return options
    done = Answer("NDB Cluster has shutdown.\n\n")
    order = StopCluster(abort=options.abort)
    ids = data_nodes(cluster)
    here = [i for i in ids if cluster.state.nodes[i].status is not Status.NOT_CONNECTED]
    return Answer("Executing STOP on all nodes.\n", 0, (order,), _gone(cluster, here, done))


def restart_all(cluster: LiveCluster, line: Line) -> Answer:
    """All data nodes together, to start again."""
    options = _options(cluster, line, "RESTART")
    if isinstance(options, Answer):
        return options
    text = "Executing RESTART on all nodes.\nStarting shutdown. This may take a while. Please wait...\n"
    here = [i for i in data_nodes(cluster) if cluster.state.nodes[i].status is not Status.NOT_CONNECTED]
    if not here:
        failed = f"Restart failed.\n{client_line(0)}*        Executing: ndb_mgm_restart4\n\n"
        return Answer(text + failed, FAILED)
    # In single user mode they stay not started [8.4.8].
    then = "wait" if cluster.state.single_user is not None else options.then
    order = StopCluster(then, options.initial, options.abort)
    done = Answer("All DB nodes are being restarted.\n\n")
    return Answer(text, 0, (order,), _gone(cluster, here, done))


def shutdown(cluster: LiveCluster) -> Answer:
    """Data nodes and management servers, not SQL nodes; it says how many they were."""
    state = cluster.state
    here = [i for i in data_nodes(cluster) if state.nodes[i].status is not Status.NOT_CONNECTED]
    count = len(here) + len(state.servers)
    text = (
        f"{count} NDB Cluster node(s) have shutdown.\nDisconnecting to allow management server to shutdown.\n"
    )
    return Answer("", 0, (StopCluster(servers=True),), _gone(cluster, here, Answer(text)))
