"""SHOW and STATUS."""

from __future__ import annotations

from ndbplan.ndb.console import form
from ndbplan.plan.processes import DataNode, ManagementNode, process_node_ids
from ndbplan.train.answer import Answer
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm.words import FAILED, data_nodes
from ndbplan.train.state import NodeState, Status

_BLOCKS = (("ndbd(NDB)", "data"), ("ndb_mgmd(MGM)", "management"), ("mysqld(API)", "api"))


def show(cluster: LiveCluster) -> Answer:
    """Every configured node: where it is connected from, what it is doing, its node group."""
    lines = ["Cluster Configuration", "---------------------"]
    for title, kind in _BLOCKS:
        ids = sorted(
            i
            for process in cluster.plan.processes
            if _kind(process) == kind
            for i in process_node_ids(process)
        )
        lines.append(f"[{title}]\t{len(ids)} node(s)")
        lines += [_line(cluster, kind, node_id) for node_id in ids]
        lines.append("")
    return Answer("\n".join(lines) + "\n")


def _kind(process: object) -> str:
    if isinstance(process, DataNode):
        return "data"
    return "management" if isinstance(process, ManagementNode) else "api"


def _line(cluster: LiveCluster, kind: str, node_id: int) -> str:
    state, release = cluster.state, cluster.state.release.name
    granted = kind == "api" and state.single_user == node_id
    allowed = str(form(cluster.plan.version, "single_user_mark")) if granted else ""
    connected = {
        "data": lambda: state.nodes[node_id].status is not Status.NOT_CONNECTED,
        "management": lambda: node_id in state.servers,
        "api": lambda: node_id in cluster.clients,
    }[kind]()
    if not connected:
        return f"id={node_id} (not connected, accepting connect from {state.address(node_id)}{allowed})"
    more = _of_data_node(cluster, node_id) if kind == "data" else allowed
    return f"id={node_id}\t@{state.seen_at(node_id)}  ({release}{more})"


def _of_data_node(cluster: LiveCluster, node_id: int) -> str:
    state = cluster.state
    node = state.nodes[node_id]
    words = "" if node.status is Status.STARTED else f", {node.status}"
    if node.status is Status.NOT_STARTED:
        return words
    group = state.group(node_id)
    if not node.knows_group:
        # Whatever its group is [8.4.8].
        group = 0
    words += ", no nodegroup" if group is None else f", Nodegroup: {group}"
    if node_id == state.first_joined and _numbers_are_known(cluster):
        words += f", {form(cluster.plan.version, 'master_mark')}"
    return words


def _numbers_are_known(cluster: LiveCluster) -> bool:
    """Whether the client can tell who leads: it reads who joined in which order, beginning with the first
    data node that is connected, and that one has no number until its first phase is over [8.4.8]."""
    nodes = cluster.state.nodes
    first = next(nodes[i] for i in sorted(nodes) if nodes[i].status is not Status.NOT_CONNECTED)
    return first.phase > 0 or first.status not in (Status.NOT_STARTED, Status.STARTING)


def status(cluster: LiveCluster, node_id: int) -> Answer:
    """The state of one node; of management and API nodes only whether they are connected."""
    state = cluster.state
    process = state.process(node_id)
    if process is None:
        return Answer(f"{node_id}: Node not found\n", FAILED)
    if isinstance(process, DataNode):
        return Answer(f"Node {node_id}: {_status(cluster, state.nodes[node_id])}\n")
    there = node_id in (state.servers if isinstance(process, ManagementNode) else cluster.clients)
    words = f"connected (Version {state.release.ndb})" if there else "not connected"
    return Answer(f"Node {node_id}: {words}\n")


def _status(cluster: LiveCluster, node: NodeState) -> str:
    if node.status is Status.NOT_CONNECTED:
        return str(node.status)
    moves = node.status in (Status.STARTING, Status.STOPPING)
    phase = f" (Last completed phase {node.phase})" if moves else ""
    return f"{node.status}{phase} ({cluster.state.release.name})"


def all_status(cluster: LiveCluster) -> Answer:
    """The state of every data node."""
    return Answer("".join(status(cluster, node_id).text for node_id in data_nodes(cluster)))
