"""ndb_waiter and ndb_select_count: whether the data nodes are there, and how many rows a table has.

Forms: recorded on running 8.4.8 and 7.4.10 clusters.
"""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.base.units import whole_number
from ndbplan.ndb.console import form
from ndbplan.plan.hardware import Host
from ndbplan.train.answer import Answer
from ndbplan.train.host.connecting import CONNECTING, reaches, servers_of, unreached
from ndbplan.train.host.options import read_words
from ndbplan.train.live import LiveCluster
from ndbplan.train.state import Status

_WAITER_VALUES = (*CONNECTING, "-t --timeout", "-w --wait-nodes", "-n --nowait-nodes")
_WAITER_FLAGS = ("--no-contact", "--not-started", "--single-user")
_COUNT_VALUES = ("-d --database", "-p --parallelism", "-l --lock", *CONNECTING)
_DEFAULT_TIMEOUT_S = 120
"""Manual 8.4, ndb_waiter: --timeout."""
_ASKED = {"--no-contact": "NO_CONTACT", "--not-started": "NOT_STARTED", "--single-user": "SINGLE USER MODE"}
_STATES = {
    Status.NOT_CONNECTED: "NO_CONTACT", Status.NOT_STARTED: "NOT_STARTED", Status.STARTING: "STARTING",
    Status.STARTED: "STARTED", Status.STOPPING: "SHUTTING_DOWN", Status.SINGLE_USER: "SINGLE USER MODE",
}  # fmt: skip


def waiter(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndb_waiter [--timeout=S] [--wait-nodes=LIST] [--nowait-nodes=LIST] [--no-contact …]`."""
    if not form(cluster.plan.version, "waiter_tells_once"):
        return Answer("ndbplan: ndb_waiter of this release tells every look, which is not simulated\n", 2)
    read = read_words("ndb_waiter", words, _WAITER_VALUES, _WAITER_FLAGS)
    if isinstance(read, Answer):
        return read
    flags, values, names = read
    left_s = whole_number(values.get("--timeout", str(_DEFAULT_TIMEOUT_S)))
    wanted, left_out = (_listed(values.get(name, "")) for name in ("--wait-nodes", "--nowait-nodes"))
    if left_s is None or wanted is None or left_out is None:
        return Answer("ndb_waiter: [ERROR] a number of seconds, and ids as in 2,3, are expected.\n", 2)
    servers = names[0] if names else servers_of(cluster, values)
    if not reaches(cluster, host, servers):
        return Answer(f"Unable to connect with connect string: {servers}\n", 1)
    nodes = [
        one for one in sorted(cluster.state.nodes) if one not in left_out and (not wanted or one in wanted)
    ]
    asked = next((_ASKED[flag] for flag in _WAITER_FLAGS if flag in flags), "STARTED")
    until_s = cluster.now_s + left_s

    def told(now: LiveCluster) -> Answer | None:
        states = {node: _STATES[now.state.nodes[node].status] for node in nodes}
        is_there = all(state == asked for state in states.values())
        if not is_there and now.now_s < until_s - 1e-9 and not now.is_over:
            return None
        lines = (
            f"Node {node}: {state}" + ("" if state == asked else f" (waited for {asked})")
            for node, state in states.items()
        )
        return Answer("".join(f"{line}\n" for line in lines), 0 if is_there else 1)

    return Answer(waits=told)


def _listed(text: str) -> frozenset[int] | None:
    """Ids of a list; None: something in it is no number."""
    found = [whole_number(one) for one in text.split(",") if one]
    return None if None in found else frozenset(one for one in found if one is not None)


def select_count(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndb_select_count -d DATABASE TABLE …`."""
    read = read_words("ndb_select_count", words, _COUNT_VALUES)
    if isinstance(read, Answer):
        return read
    names, database = read.names, read.values.get("--database", "TEST_DB")
    if unreached_servers := unreached(cluster, host, read.values, ends=True):
        return unreached_servers
    if not cluster.state.alive():
        return Answer("Unable to connect to the data nodes within 30 seconds.\n", 1)
    text, failed = ("", 0) if names else ("Usage: ndb_select_count -d DATABASE TABLE ...\n", 1)
    for name in names:
        table = next((t for t in cluster.plan.tables if (t.database, t.name) == (database, name)), None)
        if table is None:
            text, failed = f"{text} Table {name} does not exist!\n", 1
        else:
            text += f"{cluster.rows_of(table)} records in table {name}\n"
    end = str(form(cluster.plan.version, "tool_ends")).format(code=failed, word="Failed" if failed else "OK")
    return Answer(text + end, failed)
