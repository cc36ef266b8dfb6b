"""REPORT, DUMP and the loudness of the cluster log."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ndbplan.configuration.settings import node_settings
from ndbplan.ndb.cluster_log import SEVERITIES, LogLine, default_levels, stamp
from ndbplan.simulate.events.handlers import Order
from ndbplan.train.answer import Answer
from ndbplan.train.backups import share_done
from ndbplan.train.dumps import Dump
from ndbplan.train.live import LiveCluster
from ndbplan.train.memory import data_pages
from ndbplan.train.mgm.words import FAILED, Line, begun_number, client_line, is_data_node, number_of
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
        if node_id > cluster.plan.features.data_nodes_most:
            return Answer(f"ERROR: illegal nodeid {node_id}!\n\n", FAILED)
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


_RANGE, _IN_A_ROW = "(Value must be between 0 and 0xffffffff.)\n", 4
_C_NUMBER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0([0-7]*)|([1-9][0-9]*))")


def _as_number(word: str) -> int:
    """What C reads in a word: 0x is hexadecimal, a zero in front octal, and a word without a number is 0."""
    found = _C_NUMBER.match(word)
    if found is None:
        return 0
    sign, hexadecimal, octal, decimal = found.groups()
    number = int(hexadecimal, 16) if hexadecimal else int(octal or "0", 8) if not decimal else int(decimal)
    return -number if sign == "-" else number


def dump(cluster: LiveCluster, node_ids: Sequence[int], line: Line) -> Answer:
    """Numbers that are sent to data nodes; what they answer stands in a log."""
    if not line.words:
        return Answer("ERROR: Expected argument!\n" * len(node_ids) + "\n", FAILED)
    if len(line.words) > MOST_NUMBERS:
        return Answer(
            f"ERROR: Too many arguments, max {MOST_NUMBERS} allowed\n" * len(node_ids) + "\n", FAILED
        )
    numbers = [_as_number(word) for word in line.words]
    for word, number in zip(line.words, numbers, strict=True):
        if not 0 <= number < 2**32:
            wrong = f"ERROR: Illegal value '{word}' in argument to signal.\n{_RANGE}"
            return Answer(wrong * len(node_ids) + "\n", FAILED)
    shown = [f"0x{number:08x} " for number in numbers]
    rows = ["".join(shown[at : at + _IN_A_ROW]) for at in range(0, len(shown) + 1, _IN_A_ROW)]
    sent = "\n".join(rows)
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


_EXPECTED = "Expected argument\n"


def levels(cluster: LiveCluster, node_ids: Sequence[int], line: Line) -> Answer:
    """`CLUSTERLOG CHECKPOINT=8 ...` of nodes; unknown ids succeed, and what cannot be read is passed over."""
    if not line.words:
        return Answer(_EXPECTED * len(node_ids) + "\n", FAILED)
    text, orders, failed = "", list[Order](), False
    for node_id in node_ids:
        for word in line.words:
            parts = word.split("=")
            if len(parts) != 2:
                text += f"Invalid loglevel specification: {word}\n"
                continue
            category, level = parts[0].upper(), number_of(parts[1])
            shown = f"Executing CLUSTERLOG {category}={parts[1]} on node {node_id}"
            if category not in default_levels():
                text += f'Unknown category: "{category}"\n'
            elif level is None:
                text += f"Invalid level: {parts[1]}\n"
            elif level < 0:
                text += f"{shown} failed.\n{client_line(22)}*        Invalid loglevel {level}\n"
                failed = True
            else:
                text += f"{shown} OK!\n"
                orders.append(SetLevel(node_id, category, min(HIGHEST_LEVEL, level)))
    return Answer(text + "\n", FAILED if failed else 0, tuple(orders))


def node_level(node_ids: Sequence[int], line: Line) -> Answer:
    """`LOGLEVEL CHECKPOINT=8` of nodes: one category only."""
    if not line.words:
        return Answer(_EXPECTED * len(node_ids) + "\n", FAILED)
    parts, wrong = line.text.split("="), ""
    category = parts[0].strip().upper()
    if len(parts) != 2:
        wrong = f"Invalid loglevel specification: {line.text}\n"
    elif category not in default_levels():
        wrong = f'Unknown category: "{category}"\n'
    elif not 0 <= (begun_number(parts[1].strip()) or 0) <= HIGHEST_LEVEL:
        wrong = f"Invalid level: {parts[1]}\n"
    if wrong:
        return Answer(wrong * len(node_ids) + "\n", FAILED)
    return Answer("".join(f"Executing LOGLEVEL on node {node_id} OK!\n" for node_id in node_ids) + "\n")


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
