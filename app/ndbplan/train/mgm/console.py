"""The management client: what it answers to a line, a function of the line and the cluster.

    answer("SHOW", cluster).text
    carry_out(answer("4 STOP", cluster), cluster).text

What commands a version knows, and how it forms its answers: `ndb/console.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.configuration.deployment import MANAGEMENT_PORT, connect_string, management_port
from ndbplan.ndb.console import form, knows_word
from ndbplan.plan.processes import ManagementNode
from ndbplan.train.answer import Answer
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm import admin, report, show, stopping
from ndbplan.train.mgm.help import help_of
from ndbplan.train.mgm.words import (
    FAILED,
    HIGHEST_ID,
    Line,
    client_line,
    data_nodes,
    invalid,
    line_of,
    number_of,
)

PROMPT = "ndb_mgm> "
_SECOND = (
    "START", "STOP", "RESTART", "STATUS", "LOGLEVEL", "CLUSTERLOG", "NODELOG", "LOG", "TESTON", "TESTOFF",
    "DUMP", "REPORT",
)  # fmt: skip
WORDS = (
    "SHOW", "HELP", "CREATE NODEGROUP", "DROP NODEGROUP", "START BACKUP", "ABORT BACKUP", "SHUTDOWN",
    "CLUSTERLOG ON", "CLUSTERLOG OFF", "CLUSTERLOG TOGGLE", "CLUSTERLOG INFO", "ENTER SINGLE USER MODE",
    "EXIT SINGLE USER MODE", "PURGE STALE SESSIONS", "CONNECT", "QUIT", "ALL STATUS", "ALL START", "ALL STOP",
    "ALL RESTART", "ALL REPORT MEMORYUSAGE", "ALL REPORT BACKUPSTATUS", "ALL REPORT EVENTLOG",
    "ALL DUMP 1000",
)  # fmt: skip
"""What a terminal completes."""


def greeting(cluster: LiveCluster) -> str:
    """What the client says when it connects: which server it found, or that it found none."""
    server = cluster.state.server
    if server is None:
        return not_connected(cluster)
    process = cluster.state.process(server)
    assert isinstance(process, ManagementNode)
    where = {"address": cluster.state.address(server), "port": management_port(cluster.plan, process)}
    return str(form(cluster.plan.version, "connected")).format(**where) + "\n"


def not_connected(cluster: LiveCluster, servers: str = "") -> str:
    """What it says when no management server answers; `servers`: those it asked, if not those of the plan."""
    named = (servers or connect_string(cluster.plan)).split(",")
    asked = ",".join(one if ":" in one else f"{one}:{MANAGEMENT_PORT}" for one in named)
    return str(form(cluster.plan.version, "not_connected")).format(servers=asked) + "\n"


def tries_s(cluster: LiveCluster) -> float:
    """How long an interactive client tries to find a server before it gives up."""
    return float(form(cluster.plan.version, "tries_to_connect_s"))


def unanswered(text: str, cluster: LiveCluster, *, was_connected: bool = False) -> str:
    """What an interactive client says to a line that no server answered."""
    said = not_connected(cluster)
    asks = bool({"SHOW", "STATUS"} & set(line_of(text).upper[:2]))
    if tries_s(cluster):
        said += "Retrying every 5 seconds. Attempts left: 2 1, failed.\n"
        if asks:
            said += "Could not get status\n*  1010: Management server not connected\n*        \n"
    elif asks and was_connected:
        # It found its connection gone, and no server to go on with [8.4.8].
        said += "Could not get status\n"
    return said


def needs_server(text: str) -> bool:
    """Whether a line is for a management server; some the client answers by itself."""
    first = line_of(text).upper[:1]
    return bool(first) and first[0] not in ("QUIT", "EXIT", "BYE", "HELP", "?", "SLEEP", "CONNECT")


def connects(text: str) -> bool:
    """Whether a line asks for another connection, of which the client tells when it has one."""
    return line_of(text).upper[:1] == ("CONNECT",)


def answer(text: str, cluster: LiveCluster, *, listens: bool = True) -> Answer:
    """What the client answers to a line, and what the cluster is told; the cluster stays as it is.

    `listens`: it is told of events meanwhile.
    """
    line = line_of(text)
    if not line.words:
        return Answer()
    first = line.upper[0]
    if first in ("QUIT", "EXIT", "BYE") and len(line.words) == 1:
        return Answer(ends=True)
    if first in ("HELP", "?"):
        return help_of(line.rest, cluster.plan.version)
    if first == "SLEEP":
        return _sleep(cluster, line)
    if first == "CONNECT":
        return _connect(cluster, line)
    wrong = _wrong_at_once(line)
    if wrong is not None:
        return wrong
    if cluster.state.server is None:
        return Answer(not_connected(cluster), FAILED)
    return _command(cluster, line, listens=listens)


def _wrong_at_once(line: Line) -> Answer | None:
    """What the client sees without asking anybody."""
    first = number_of(line.words[0])
    if first is not None and not 1 <= first <= HIGHEST_ID:
        return Answer(f"Invalid node ID: {line.words[0]}.\n")
    return None


def _command(cluster: LiveCluster, line: Line, *, listens: bool) -> Answer:
    if line.upper[0] == "ALL" or number_of(line.words[0]) is not None:
        return _of_nodes(cluster, line)
    first, rest = line.upper[0], line.rest
    match first:
        case "SHOW" if rest.words:
            return Answer(f"Invalid argument: '{rest.text}'\n", FAILED)
        case "SHOW":
            return show.show(cluster)
        case "SHUTDOWN":
            # Whatever stands behind it.
            return stopping.shutdown(cluster)
        case "START" if rest.begins("BACKUP"):
            return admin.start_backup(cluster, rest, listens=listens)
        case "ABORT" if rest.begins("BACKUP"):
            return admin.abort_backup(cluster, rest.rest)
        case "CREATE" if rest.begins("NODEGROUP") and knows_word(cluster.plan.version, "CREATE"):
            return admin.create_group(cluster, rest.rest)
        case "DROP" if rest.begins("NODEGROUP") and knows_word(cluster.plan.version, "DROP"):
            return admin.drop_group(cluster, rest.rest)
        case "ENTER" if rest.begins("SINGLE USER MODE"):
            return admin.enter_single_user(cluster, rest)
        case "EXIT" if rest.begins("SINGLE USER MODE"):
            return admin.exit_single_user()
        case "CLUSTERLOG":
            return report.cluster_log(cluster, rest)
        case "PURGE":
            if rest.upper[:2] != ("STALE", "SESSIONS"):
                return Answer("Unexpected command, expected: PURGE STALE SESSIONS\n", FAILED)
            return Answer("No sessions purged\n")
        case "TLS" if rest.begins("INFO") and knows_word(cluster.plan.version, "TLS"):
            return report.tls(cluster, listens=listens)
        case "START" if rest.begins("TLS") and knows_word(cluster.plan.version, "TLS"):
            return Answer(f"{client_line(1014)}*        there are no keys and certificates here\n", FAILED)
        case "PROMPT" if knows_word(cluster.plan.version, "PROMPT"):
            return _prompt(rest)
    return invalid(line.typed)


def _prompt(line: Line) -> Answer:
    """What the client says of its prompt; here it stays as it is."""
    if not line.words:
        return Answer(f"Returning to default prompt of {PROMPT}\n")
    return Answer(f"Prompt set to {line.text} \n")


def _of_nodes(cluster: LiveCluster, line: Line) -> Answer:
    """Commands that begin with ALL, or with one or more node ids."""
    everyone = line.upper[0] == "ALL"
    ids: list[int] = data_nodes(cluster) if everyone else []
    rest = line.rest if everyone else line
    while not everyone and rest.words and (number := number_of(rest.words[0])) is not None:
        if not 1 <= number <= HIGHEST_ID:
            return Answer(f"Invalid node ID: {rest.words[0]}.\n")
        ids.append(number)
        rest = rest.rest
    if not rest.words:
        return Answer("Expected a command after ALL.\n", FAILED) if everyone else invalid(line.typed)
    verb, options = rest.upper[0], rest.rest
    if len(ids) > 1 and not everyone and verb not in ("START", "STOP", "RESTART"):
        expected = "Expected STOP, START, or RESTART."
        return Answer(f"Invalid command: '{rest.words[0]}' after multi node id list. {expected}\n", FAILED)
    if verb not in _SECOND or not knows_word(cluster.plan.version, verb):
        return invalid(rest.words[0])
    return _with_verb(cluster, verb, ids, options, everyone)


_NO_PARAMETERS = "No parameters expected to this command.\n\n"


def _with_verb(cluster: LiveCluster, verb: str, ids: Sequence[int], rest: Line, everyone: bool) -> Answer:
    match verb:
        case "STATUS" if rest.words:
            # The client passes over the failure of all [CommandInterpreter::executeForAll].
            return Answer(_NO_PARAMETERS, 0 if everyone else FAILED)
        case "STATUS":
            found = show.all_status(cluster) if everyone else show.status(cluster, ids[0])
            return Answer(found.text + "\n", found.exit)
        case "START":
            return stopping.start(cluster, ids, everyone)
        case "STOP":
            return stopping.stop_all(cluster, rest) if everyone else stopping.stop(cluster, ids, rest)
        case "RESTART":
            return stopping.restart_all(cluster, rest) if everyone else stopping.restart(cluster, ids, rest)
        case "REPORT":
            return report.report(cluster, ids, rest)
        case "DUMP":
            return report.dump(cluster, ids, rest)
        case "CLUSTERLOG":
            return report.levels(cluster, ids, rest)
        case "LOGLEVEL":
            return report.node_level(ids, rest)
    wrong = {"NODELOG": _wrong_in_nodelog, "LOG": _wrong_in_log}.get(verb, _wrong_in_test)(rest)
    return Answer(wrong * len(ids) + "\n", FAILED if wrong else 0)


def _wrong_in_test(line: Line) -> str:
    return "No parameters expected to this command.\n" if line.words else ""


def _wrong_in_nodelog(line: Line) -> str:
    if len(line.words) != 2:
        return "ERROR: Wrong number of argument(s).\n"
    return "" if line.upper[0] == "DEBUG" and line.upper[1] in ("ON", "OFF") else "Invalid argument.\n"


def _wrong_in_log(line: Line) -> str:
    """`LOG [BLOCK = {ALL | block ...}]`; what is wrong is shown in capitals."""
    if not line.words:
        return ""
    if line.upper[0] != "BLOCK":
        return f"Unexpected value: {line.upper[0]}. Expected BLOCK.\n"
    if len(line.words) == 1:
        return "Expected =.\n"
    if line.words[1] != "=":
        return f"Unexpected value: {line.words[1]}. Expected =.\n"
    blocks = line.upper[2:]
    if not blocks:
        return "No block specified.\n"
    return "Nothing expected after ALL.\n" if blocks[0] == "ALL" and len(blocks) > 1 else ""


def _sleep(cluster: LiveCluster, line: Line) -> Answer:
    """It waits so many seconds of the cluster's time."""
    seconds = number_of(line.words[1]) if len(line.words) > 1 else None
    until_s = cluster.now_s + min(3600, max(0, seconds or 0))
    return Answer(waits=lambda now: Answer() if now.now_s >= until_s - 1e-9 or now.is_over else None)


def _connect(cluster: LiveCluster, line: Line) -> Answer:
    """It connects anew: to the servers it knows, or to those that are named."""
    if len(line.words) == 1:
        return Answer() if cluster.state.server is not None else Answer(not_connected(cluster), FAILED)
    named = line.words[1].rpartition("@")[2].split(",")
    hosts = {one.rpartition(":")[0] or one for one in named}
    if any(cluster.state.address(server) in hosts for server in cluster.state.servers):
        return Answer()
    return Answer(not_connected(cluster, ",".join(named)), FAILED)
