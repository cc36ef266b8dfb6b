"""ndb_desc, ndb_config and ndb_perror. Forms: recorded on a running 8.4.8 cluster."""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.base.units import whole_number
from ndbplan.configuration.settings import node_settings
from ndbplan.ndb.cluster_log import exit_advice, exit_kind
from ndbplan.ndb.console import form, knows_server_error, server_error
from ndbplan.ndb.errors import every_exit, exit_text, is_no_error, ndb_error, other_errors
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, Process
from ndbplan.train.answer import Answer
from ndbplan.train.host.options import name_of, refused
from ndbplan.train.live import LiveCluster

_CLASSES = {
    "application error": "Application error", "configuration error": "Configuration or application error",
    "no data found": "No data found", "constraint violation": "Constraint violation",
    "schema error": "Schema error", "user defined": "User defined error",
    "insufficient space": "Insufficient space", "temporary resource": "Temporary Resource error",
    "node recovery": "Node Recovery error", "overload": "Overload error",
    "timeout expired": "Timeout expired", "node shutdown": "Node shutdown",
    "internal temporary": "Internal temporary", "unknown result": "Unknown result error",
    "internal error": "Internal error",
}  # fmt: skip


def perror(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """perror of the server, which knew the errors of NDB with --ndb once."""
    asks = "--ndb" in words
    if asks and not form(cluster.plan.version, "perror_takes_ndb"):
        return Answer("perror: [ERROR] unknown option '--ndb'.\n", 1)
    if not asks:
        return Answer(
            "ndbplan: of perror only --ndb of older releases is known here; ndb_perror is for NDB\n", 1
        )
    return errors_of(words)


def ndb_perror(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """What an error number of NDB means, in our own words."""
    if not form(cluster.plan.version, "ndb_perror"):
        return Answer("bash: ndb_perror: not in this release — it has perror --ndb\n", 127)
    return errors_of(words)


def errors_of(words: Sequence[str]) -> Answer:
    """What error numbers of NDB mean, in our own words."""
    numbers = [word for word in words if not word.startswith("-")]
    if not numbers:
        return Answer("Usage: ndb_perror [OPTIONS] [ERRORCODE [ERRORCODE...]]\n", 1)
    text, failed = "", 0
    for word in numbers:
        number = whole_number(word)
        said = None if number is None else _said_of(number)
        if said is not None:
            text += f"NDB error code {number:3}: {said}\n"
            continue
        failed = 1
        if number is None or is_no_error(number):
            text += f"Illegal ndb error code: {word[:20]}\n"
        else:
            text += f"ndbplan: error {number} is not among those that are known here\n"
    return Answer(text, failed)


def _said_of(number: int) -> str | None:
    """What an error is: text, status and class; None: it is not known here."""
    error = ndb_error(number)
    if error is not None:
        kind = error.classification
        status = "Unknown result" if kind == "unknown result" else f"{error.status.capitalize()} error"
        return f"{error.text}: {status}: {_CLASSES.get(kind, kind.capitalize())}"
    if number in every_exit():
        return f"{exit_text(number)}: {exit_advice(number)}: {exit_kind(number)}"
    if other := other_errors().get(number):
        return f"{other.text}: {other.status}: {other.classification}"
    if number and knows_server_error(number):
        refusal = server_error(number)
        return f"{refusal.text}: {refusal.kind}"
    return None


_SHORT = {"q": "query", "t": "type", "c": "ndb-connectstring", "f": "fields", "r": "rows"}
_TAKES = ("query", "type", "host", "nodeid", "fields", "rows")
_OF_CONNECTING = ("ndb-connectstring", "connect-string", "config-from-node", "cluster-config-suffix")
_SWITCHES = ("nodes", "system")


class _UnknownError(ValueError):
    """An option that is not taken."""


def _options(words: Sequence[str]) -> dict[str, str]:
    """Options of ndb_config by their long names. Raises ValueError with what is wrong."""
    left, given = list(words), dict[str, str]()
    while left:
        word = left.pop(0)
        name, equals, value = name_of(word).lstrip("-").partition("=")
        name = _SHORT.get(name, name) if not word.startswith("--") else name
        if not word.startswith("-") or name not in (*_TAKES, *_OF_CONNECTING, *_SWITCHES):
            raise _UnknownError(word)
        if name not in _SWITCHES and not equals:
            if not left:
                raise ValueError(f"option '--{name}' requires an argument")
            value = left.pop(0)
        given[name] = value.replace("\\n", "\n").replace("\\t", "\t")
    return given


def config(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndb_config --query=nodeid,host,DataMemory [--type --host --nodeid --fields --rows --system]`."""
    try:
        given = _options(words)
    except _UnknownError as unknown:
        return refused("ndb_config", str(unknown), [f"--{name}" for name in (*_TAKES, *_SWITCHES)])
    except ValueError as error:
        return Answer(f"ndb_config: [ERROR] {error}.\n", 2)
    if "query" not in given:
        return Answer("ndb_config: say what is asked for, such as --query=nodeid,host,DataMemory\n", 1)
    kinds = {"ndbd": "data", "ndb_mgmd": "management", "mysqld": "api"}
    wanted = given.get("type", "")
    if wanted and wanted not in kinds:
        return Answer(f"Unknown node type '{wanted}'.\n", 2)
    if cluster.state.server is None:
        return Answer("Unable to connect to management server.\n", 1)
    if "system" in given:
        return _system(cluster, given["query"])
    rows = []
    for process in sorted(cluster.plan.processes, key=lambda p: p.node_id):
        kind = _kind(process)
        name = cluster.state.address(process.node_id) if process.host_id else ""
        if (wanted and kinds[wanted] != kind) or given.get("host", name) != name:
            continue
        if given.get("nodeid", str(process.node_id)) != str(process.node_id):
            continue
        values = []
        for asked in given["query"].split(","):
            value = _value(cluster.plan, process, asked, name)
            if value is None:
                return Answer(f"Unknown query option: {asked}\n")
            values.append(value)
        rows.append(given.get("fields", ",").join(values))
    return Answer(given.get("rows", " ").join(rows) + "\n")


def _system(cluster: LiveCluster, query: str) -> Answer:
    """What the configuration says of the cluster as a whole."""
    values = {
        "name": f"MC_{cluster.state.begin:%Y%m%d%H%M%S}",
        "primarymgmnode": str(min(node.node_id for node in cluster.plan.management_nodes)),
        "configgenerationnumber": str(cluster.state.generation),
    }
    asked = query.split(",")
    unknown = next((name for name in asked if name.lower() not in values), None)
    if unknown is not None:
        return Answer(f"Unknown query option: {unknown}\n")
    return Answer(",".join(values[name.lower()] for name in asked) + "\n")


def _kind(process: Process) -> str:
    if isinstance(process, DataNode):
        return "data"
    return "management" if isinstance(process, ManagementNode) else "api"


def _value(plan: Plan, process: Process, asked: str, host: str) -> str | None:
    from ndbplan.ndb import parameters

    low = asked.lower()
    if low in ("nodeid", "id"):
        return str(process.node_id)
    if low in ("host", "hostname"):
        return host
    if low == "type":
        return {"data": "ndbd", "management": "ndb_mgmd", "api": "mysqld"}[_kind(process)]
    section = {"data": "DB", "management": "MGM", "api": "API"}[_kind(process)]
    if not any(parameters.knows(one, asked, plan.version) for one in ("DB", "MGM", "API")):
        return None
    if not parameters.knows(section, asked, plan.version):
        return ""
    value = node_settings(plan, process).value(asked)
    return "" if value is None else str(value)
