"""Processes that are started on a host: data nodes and management servers."""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.base.units import whole_number
from ndbplan.configuration.deployment import data_node_program
from ndbplan.ndb.cluster_log import stamp
from ndbplan.plan.hardware import Host
from ndbplan.plan.processes import ManagementNode
from ndbplan.simulate.events.orders import Connect
from ndbplan.train.answer import Answer
from ndbplan.train.configuring import ReadConfig
from ndbplan.train.host.connecting import CONNECTING, reaches, servers_of
from ndbplan.train.host.options import read_words
from ndbplan.train.live import LiveCluster
from ndbplan.train.starts import StartProcess

_FLAGS = ("--initial", "-n --nostart", "-d --daemon", "--nodaemon", "--foreground", "--reload")
_VALUES = ("-f --config-file", "--configdir", "--datadir", "--nowait-nodes", *CONNECTING)


def data_node(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndbmtd [--ndb-nodeid=N] [--initial] [--nostart]`: the node named, or the first that is down."""
    read = read_words(data_node_program(cluster.plan), words, _VALUES, _FLAGS)
    if isinstance(read, Answer):
        return read
    flags, values, _ = read
    state, wanted = cluster.state, values.get("--ndb-nodeid", "")
    here = [node.node_id for node in cluster.plan.data_nodes if node.host_id == host.id]
    down = [i for i in here if not state.nodes[i].runs]
    now = f"{stamp(cluster.now_s, state.begin)} [ndbd] "
    servers = servers_of(cluster, values)
    if not reaches(cluster, host, servers):
        return Answer(f"{now}ERROR    -- Could not connect to {servers}\n", 1)
    node_id = whole_number(wanted) if wanted else None
    if wanted and node_id not in here:
        why = "no data node with that id is configured for this host"
        return Answer(f"{now}ERROR    -- Failed to allocate nodeid {wanted[:20]}: {why}\n", 1)
    if node_id not in (None, *down) or not down:
        why = f"its process runs already (id {wanted})" if wanted else "every data node of this host runs"
        return Answer(f"{now}ERROR    -- Failed to allocate a nodeid: {why}\n", 1)
    node_id = int(wanted) if wanted else down[0]
    order = StartProcess(node_id, "--initial" in flags, "--nostart" in flags)
    text = f"{now}INFO     -- Angel connected to '{servers}'\n"
    return Answer(f"{text}{now}INFO     -- Angel allocated nodeid: {node_id}\n", 0, (order,))


def management_node(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndb_mgmd -f config.ini [--reload]`: the management server of the host, when it is down.

    It has the configuration that it had; --reload or --initial: what its file says now.
    """
    read = read_words("ndb_mgmd", words, _VALUES, _FLAGS)
    if isinstance(read, Answer):
        return read
    here = [p for p in cluster.plan.processes if isinstance(p, ManagementNode) and p.host_id == host.id]
    down = [p for p in here if p.node_id not in cluster.state.servers]
    said = f"MySQL Cluster Management Server {cluster.state.release.name}\n"
    if not here:
        return Answer(f"{said}ERROR    -- no management node of this host is configured\n", 1)
    if not down:
        return Answer(f"{said}ERROR    -- the port is in use: the server runs already\n", 1)
    again = (ReadConfig(),) if read.flags & {"--reload", "--initial"} else ()
    return Answer(said, 0, (Connect(down[0].id), *again))
