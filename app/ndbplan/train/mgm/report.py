"""REPORT, DUMP and the loudness of the cluster log."""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.configuration.settings import node_settings
from ndbplan.ndb.cluster_log import SEVERITIES, LogLine, default_levels, stamp
from ndbplan.simulate.events.handlers import Order
from ndbplan.train.answer import Answer
from ndbplan.train.backups import share_done
from ndbplan.train.dumps import Dump
from ndbplan.train.live import LiveCluster
from ndbplan.train.memory import data_pages
from ndbplan.train.mgm.words import FAILED, Line, client_line, is_data_node, number_of
from ndbplan.train.orders import SetLevel, SetSeverities
from ndbplan.train.state import Status

_TYPES = ("BACKUPSTATUS", "MEMORYUSAGE", "EVENTLOG")
MOST_NUMBERS = 25
HIGHEST_LEVEL = 15
"""Levels above it say no more."""


def report(cluster: LiveCluster, node_ids: Sequence[int], line: Line) -> Answer:
    """Backup, memory or the last events of data nodes; any beginning of the kind will do."""
    if not line.words:
        return Answer("ERROR: missing report type specifier!\n\n", FAILED)
    kinds = [kind for kind in _TYPES if kind.startswith(line.upper[0])]
    if len(kinds) != 1:
        return Answer(f"ERROR: '{line.words[0]}' - report type specifier unknown!\n\n", FAILED)
    for node_id in node_ids:
        if not is_data_node(cluster, node_id):
            return Answer(f"ERROR: node {node_id} is not a NDB node!\n\n", FAILED)
    nodes = cluster.state.nodes
    here = [i for i in node_ids if nodes[i].status is not Status.NOT_CONNECTED and not nodes[i].hangs]
    if kinds[0] == "EVENTLOG":
        return Answer(_events(cluster, here) + "\n")
    write = _memory if kinds[0] == "MEMORYUSAGE" else _backup
    return Answer("".join(write(cluster, node_id) for node_id in here) + "\n")


def _memory(cluster: LiveCluster, node_id: int) -> str:
    data, index = data_pages(cluster.session.simulation, node_id)
    return "".join(
        f"Node {node_id}: {name} usage is {pages.percent}%({pages.used} {pages.kib}K pages of total "
        f"{pages.total})\n"
        for name, pages in (("Data", data), ("Index", index))
    )


def _backup(cluster: LiveCluster, node_id: int) -> str:
    run = cluster.state.backup
    if run is None or run.ended_s is not None:
        return f"Node {node_id}: Backup not started\n"
    share = share_done(cluster.session.simulation, node_id)
    records = round(dict(run.rows_by_node).get(node_id, 0.0) * share)
    data = round(dict(run.bytes_by_node).get(node_id, 0.0) * share)
    return (
        f"Node {node_id}: Local backup status: backup {run.number} started from node {run.server}\n"
        f" #Records: {records} #LogRecords: 0\n Data: {data} bytes Log: 0 bytes\n"
    )


EVENT_BYTES = 23
"""What an event takes of EventLogBufferSize at least [8.4.8: 355 events in the usual 8,192 bytes]."""


def _events(cluster: LiveCluster, node_ids: Sequence[int]) -> str:
    """What each data node kept since its start, as far as its buffer goes."""
    lines: list[LogLine] = []
    for node_id in node_ids:
        node = cluster.state.data_node(node_id)
        assert node is not None
        began_s = cluster.state.starts.get(node_id, 0.0)
        size = node_settings(cluster.plan, node).number("EventLogBufferSize")
        own = [line for line in cluster.state.log if line.node_id == node_id and line.at_s >= began_s]
        lines += own[-max(1, size // EVENT_BYTES) :]
    return "".join(
        f"{stamp(line.at_s, cluster.state.begin)} Node {line.node_id}: {line.text}\n" for line in lines
    )


def dump(cluster: LiveCluster, node_ids: Sequence[int], line: Line) -> Answer:
    """Numbers that are sent to data nodes; what they answer stands in a log."""
    if not line.words:
        return Answer("ERROR: Expected argument!\n" * len(node_ids) + "\n", FAILED)
    if len(line.words) > MOST_NUMBERS:
        return Answer(f"ERROR: Too many arguments, max {MOST_NUMBERS} allowed\n\n", FAILED)
    numbers = []
    for word in line.words:
        number = number_of(word)
        if number is None or not 0 <= number < 2**32:
            return Answer(f"ERROR: '{word}' is not a number of 32 bits\n\n", FAILED)
        numbers.append(number)
    sent = "".join(f"0x{number:08x} " for number in numbers)
    text, orders, failed = "", list[Order](), False
    for node_id in node_ids:
        text += f"Sending dump signal with data:\n{sent}\n"
        there = is_data_node(cluster, node_id) and (
            cluster.state.nodes[node_id].status is not Status.NOT_CONNECTED
        )
        failed = failed or not there
        if there:
            orders.append(Dump(node_id, numbers[0]))
    return Answer(text + "\n", FAILED if failed else 0, tuple(orders))


def cluster_log(cluster: LiveCluster, line: Line) -> Answer:
    """CLUSTERLOG INFO, ON, OFF, TOGGLE, FILTER: which severities are written."""
    state = cluster.state
    if not line.words:
        return Answer("ERROR: Missing argument(s).\n", FAILED)
    verb = line.upper[0]
    if verb == "INFO":
        if not state.is_logging:
            return Answer("Cluster logging is disabled.\n")
        shown = " ".join(one for one in SEVERITIES if one in state.severities)
        return Answer(f"Severities enabled: {shown} \n")
    if verb not in ("ON", "OFF", "TOGGLE", "FILTER"):
        return Answer("Invalid argument.\n", FAILED)
    toggles = verb in ("TOGGLE", "FILTER")
    if len(line.words) == 1:
        is_on = not state.is_logging if toggles else verb == "ON"
        words = "enabled." if is_on else "disabled"
        return Answer(f"Cluster logging is {words}\n", 0, (SetSeverities(state.severities, is_on),))
    text, now, logs = "", set(state.severities), state.is_logging
    for typed, severity in zip(line.words[1:], line.upper[1:], strict=True):
        if toggles and severity in ("ON", "OFF"):
            logs = not logs
            text += f"{severity} {'enabled' if logs else 'disabled'}\n"
            continue
        which = set(SEVERITIES) if severity == "ALL" else {severity}
        if not which <= set(SEVERITIES):
            # What stands before it is done.
            orders = (SetSeverities(frozenset(now), logs),)
            return Answer(f"{text}Invalid severity level: {typed}\n", FAILED, orders)
        is_on = not which <= now if toggles else verb == "ON"
        now = now | which if is_on else now - which
        text += f"{severity} {'enabled' if is_on else 'disabled'}\n"
    return Answer(text, 0, (SetSeverities(frozenset(now), logs),))


def levels(cluster: LiveCluster, node_ids: Sequence[int], line: Line, command: str) -> Answer:
    """`CLUSTERLOG CHECKPOINT=8` and `LOGLEVEL CHECKPOINT=8` of nodes; unknown ids often succeed."""
    if not line.words:
        return Answer("Expected argument\n\n", FAILED)
    text, orders, failed = "", list[Order](), False
    several = len(node_ids) > 1
    for node_id in node_ids:
        for word in line.upper:
            category, equals, value = word.partition("=")
            level = number_of(value) if equals else None
            if not equals or level is None:
                text += f"Invalid loglevel specification: {word}\n"
                failed = failed or not several
            elif category not in default_levels():
                text += f'Unknown category: "{category}"\n'
            elif level < 0:
                what = f"Executing {command} {word} on node {node_id} failed.\n"
                text += f"{what}{client_line(22)}*        Invalid loglevel {level}\n"
                failed = True
            else:
                shown = f"{command} {word}" if command == "CLUSTERLOG" else command
                text += f"Executing {shown} on node {node_id} OK!\n"
                if command == "CLUSTERLOG":
                    orders.append(SetLevel(node_id, category, min(HIGHEST_LEVEL, level)))
    return Answer(text + "\n", FAILED if failed else 0, tuple(orders))


def tls(cluster: LiveCluster, *, listens: bool) -> Answer:
    """TLS INFO: no connection is encrypted; each node and client that is there holds one [assumed].

    A client that carries out one line and ends does not listen to events [8.4.8].
    """
    listener = "using cleartext" if listens else "not connected"
    now = len(cluster.state.alive()) + len(cluster.clients) + 2
    counts = (
        ("Total accepted connections:", now), ("Total connections upgraded to TLS:", 0),
        ("Current connections:", now), ("Current connections using TLS:", 0), ("Authorization failures:", 0),
    )  # fmt: skip
    text = f" \nMain interactive connection is using cleartext.\nEvent listener connection is {listener}.\n"
    text += " \nServer reports 0 TLS connections.\n\n \n    Server statistics since restart\n"
    return Answer(text + "".join(f"  {name:<35}{count}\n" for name, count in counts))
