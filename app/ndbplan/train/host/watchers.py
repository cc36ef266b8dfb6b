"""ndb_waiter and ndb_select_count: whether the data nodes are there, and how many rows a table has.

Forms: recorded on running 8.4.8 and 7.4.10 clusters.
"""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.base.units import whole_number
from ndbplan.configuration.deployment import connect_string
from ndbplan.ndb.console import form
from ndbplan.plan.hardware import Host
from ndbplan.train.answer import Answer
from ndbplan.train.host.options import read_words, refused
from ndbplan.train.live import LiveCluster
from ndbplan.train.state import Status

_OF_CONNECTING = ("-c", "--ndb-connectstring", "--connect-string")
_WAITER_VALUES = (*_OF_CONNECTING, "-t", "--timeout", "-w", "--wait-nodes", "-n", "--nowait-nodes")
_WAITER_FLAGS = ("--no-contact", "--not-started", "--single-user")
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
    read = read_words(words, _WAITER_VALUES, _WAITER_FLAGS)
    if isinstance(read, str):
        return refused("ndb_waiter", read, (*_WAITER_VALUES, *_WAITER_FLAGS))
    flags, values = read
    timeout = values.get("--timeout", values.get("-t", str(_DEFAULT_TIMEOUT_S)))
    left_s = whole_number(timeout)
    wanted = _listed(values.get("--wait-nodes", values.get("-w", "")))
    left_out = _listed(values.get("--nowait-nodes", values.get("-n", "")))
    if left_s is None or wanted is None or left_out is None:
        return Answer("ndb_waiter: [ERROR] a number of seconds, and ids as in 2,3, are expected.\n", 2)
    if cluster.state.server is None:
        return Answer(f"Unable to connect with connect string: {connect_string(cluster.plan)}\n", 1)
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
    database, names, left = "TEST_DB", list[str](), list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if name in ("-d", "--database", *_OF_CONNECTING):
            value = value if equals else left.pop(0) if left else ""
            database = value if name in ("-d", "--database") else database
        elif word.startswith("-"):
            return refused("ndb_select_count", word, ("--database", "--ndb-connectstring"))
        else:
            names.append(word)
    if not cluster.state.alive():
        return Answer("Unable to connect to the data nodes within 30 seconds.\n", 1)
    text, failed = "", 0 if names else 1
    for name in names:
        table = next((t for t in cluster.plan.tables if (t.database, t.name) == (database, name)), None)
        if table is None:
            text, failed = f"{text} Table {name} does not exist!\n", 1
        else:
            text += f"{cluster.rows_of(table)} records in table {name}\n"
    end = str(form(cluster.plan.version, "tool_ends")).format(code=failed, word="Failed" if failed else "OK")
    return Answer(text + end, failed)
