"""ndb_desc, ndb_config and ndb_perror. Forms: recorded on a running 8.4.8 cluster."""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.base.units import whole_number
from ndbplan.configuration.deployment import management_directory
from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.settings import node_settings
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import every_exit_said, every_said, is_no_error, management_errors, said
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, Process
from ndbplan.simulate.events.configuration import changed
from ndbplan.train.answer import Answer
from ndbplan.train.configuring import node_plan, server_plan
from ndbplan.train.host.connecting import CONNECTING, unreached
from ndbplan.train.host.options import read_words
from ndbplan.train.live import LiveCluster

_PERROR_FLAGS = ("--ndb", "-v --verbose", "-s --silent", "-I -? --help")
"""Manual, perror and ndb_perror."""


def perror(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """perror of the server, which knew the errors of NDB with --ndb once."""
    asks = "--ndb" in words
    if asks and not form(cluster.plan.version, "perror_takes_ndb"):
        return Answer("perror: [ERROR] unknown option '--ndb'.\n", 1)
    if not asks:
        return Answer(
            "ndbplan: of perror only --ndb of older releases is known here; ndb_perror is for NDB\n", 1
        )
    return errors_of(words, cluster.plan.version)


def version_of(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """What each program of NDB answers to --version, whatever else is asked (manual, ndb_mgm -V)."""
    return Answer(f"MySQL distrib {cluster.state.release.name}, for Linux (x86_64)\n")


def ndb_perror(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """What an error number of NDB means."""
    if not form(cluster.plan.version, "ndb_perror"):
        return Answer("bash: ndb_perror: not in this release — it has perror --ndb\n", 127)
    return errors_of(words, cluster.plan.version)


def errors_of(words: Sequence[str], version: NdbVersion) -> Answer:
    """What error numbers of NDB mean; with --silent without what they are numbers of."""
    read = read_words("ndb_perror", words, (), _PERROR_FLAGS)
    if isinstance(read, Answer):
        return read
    if not read.names or "--help" in read.flags:
        usage = "Usage: ndb_perror [OPTIONS] [ERRORCODE [ERRORCODE...]]\n"
        return Answer(usage, int("--help" not in read.flags))
    text, failed = "", 0
    for word in read.names:
        number = whole_number(word)
        found = None if number is None else _said_of(number, version)
        if found is not None:
            text += f"{found}\n" if "--silent" in read.flags else f"NDB error code {number:3}: {found}\n"
            continue
        failed = 1
        if number is None or is_no_error(number):
            text += f"Illegal ndb error code: {word[:20]}\n"
        else:
            text += f"ndbplan: error {number} is not among those that are known here\n"
    return Answer(text, failed)


def _said_of(number: int, version: NdbVersion) -> str | None:
    """What an error is: text, status and class; None: it is not known here.

    Of a number that transactions, data nodes and the client's library share, the first is said [8.4.8].
    """
    if number in every_said(version):
        return said(number, version).line
    if number in every_exit_said():
        return every_exit_said()[number].line
    return dict(management_errors()).get(number)


_VALUES = (
    "-q --query", "-t --type", "--host", "--nodeid", "-f --fields", "-r --rows", "--config-file",
    "--config-from-node", "--cluster-config-suffix", *CONNECTING,
)  # fmt: skip
_FLAGS = ("--nodes", "--system", "-a --query-all")


def config(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndb_config --query=nodeid,host,DataMemory [--type --host --nodeid --fields --rows --system]`."""
    read = read_words("ndb_config", words, _VALUES, _FLAGS)
    if isinstance(read, Answer):
        return read
    given = {name[2:]: one.replace("\\n", "\n").replace("\\t", "\t") for name, one in read.values.items()}
    asked = given["query"].split(",") if "query" in given else []
    if "--query-all" in read.flags:
        asked = ["nodeid", "host", "type", *form(cluster.plan.version, "config_query_all")]
        if asked[3:] == []:
            return Answer("ndbplan: ndb_config --query-all is not simulated for this release\n", 2)
    if not asked:
        return Answer("ndb_config: say what is asked for, such as --query=nodeid,host,DataMemory\n", 1)
    kinds = {"ndbd": "data", "ndb_mgmd": "management", "mysqld": "api"}
    wanted = given.get("type", "")
    if wanted and wanted not in kinds:
        return Answer(f"Unknown node type '{wanted}'.\n", 2)
    path = given.get("config-file", "")
    if path and not _has_file(cluster, host, path):
        return Answer(f"Error opening '{path[:200]}', error: 2, No such file or directory\n", 1)
    if not path and (none := unreached(cluster, host, read.values, ends=False)):
        return none
    if "--system" in read.flags:
        return _system(cluster, asked)
    rows, plan = [], _asked_plan(cluster, path, given.get("config-from-node", ""))
    for process in sorted(cluster.plan.processes, key=lambda p: p.node_id):
        kind = _kind(process)
        name = cluster.state.address(process.node_id) if process.host_id else ""
        if (wanted and kinds[wanted] != kind) or given.get("host", name) != name:
            continue
        if given.get("nodeid", str(process.node_id)) != str(process.node_id):
            continue
        values, section = [], ""
        for one in asked:
            section = one if one in _SECTIONS.values() else section
            value = "" if one in _SECTIONS.values() else _value(plan, process, one, name, section)
            if value is None:
                return Answer(f"Unknown query option: {one}\n")
            values.append(value)
        rows.append(given.get("fields", ",").join(values))
    if "--query-all" in read.flags:
        rows.insert(0, given.get("fields", ",").join(asked))
    return Answer(given.get("rows", " ").join(rows) + "\n")


def _has_file(cluster: LiveCluster, host: Host, path: str) -> bool:
    """Whether a management server of the host keeps its configuration there."""
    folders = (management_directory(cluster.plan, one) for one in cluster.plan.management_nodes
               if one.host_id == host.id)  # fmt: skip
    return any(path in (f"{folder}/{_CONFIG}", f"./{_CONFIG}", _CONFIG) for folder in folders)


_CONFIG = "config.ini"


def _asked_plan(cluster: LiveCluster, path: str, node_id: str) -> Plan:
    """Whose configuration it is: that of a file, of a data node, or else of the management server."""
    sim, edited = cluster.session.simulation, cluster.state.edited
    if number := whole_number(node_id):
        return node_plan(sim, number)
    plan = server_plan(sim)
    return changed(plan, edited) if path and edited is not None else plan


def _system(cluster: LiveCluster, asked: Sequence[str]) -> Answer:
    """What the configuration says of the cluster as a whole."""
    values = {
        "name": f"MC_{cluster.state.begin:%Y%m%d%H%M%S}",
        "primarymgmnode": str(min(node.node_id for node in cluster.plan.management_nodes)),
        "configgenerationnumber": str(cluster.state.generation),
    }
    unknown = next((name for name in asked if name.lower() not in values), None)
    if unknown is not None:
        return Answer(f"Unknown query option: {unknown}\n")
    return Answer(",".join(values[name.lower()] for name in asked) + "\n")


def _kind(process: Process) -> str:
    if isinstance(process, DataNode):
        return "data"
    return "management" if isinstance(process, ManagementNode) else "api"


_PATHS = {"datadir": "data_dir", "filesystempath": "file_system", "backupdatadir": "backup"}


_SECTIONS = {"data": "DB", "api": "API", "management": "MGM"}
_OF_ONE_SECTION = ("wan", "requiretls")
"""Parameters that each section has for itself; others of one name are one."""


def _value(plan: Plan, process: Process, asked: str, host: str, section: str = "") -> str | None:
    """What is asked of a node; `section`: whose parameter it is, else that of data nodes comes first."""
    from ndbplan.ndb import parameters

    low, kind = asked.lower(), _kind(process)
    own = {"nodeid": str(process.node_id), "id": str(process.node_id), "host": host, "hostname": host,
           "type": {"data": "ndbd", "management": "ndb_mgmd", "api": "mysqld"}[kind]}  # fmt: skip
    if low in own:
        return own[low]
    if isinstance(process, DataNode) and low in _PATHS:
        # One that is not stated lies where another does.
        return str(getattr(data_node_paths(plan, process), _PATHS[low]))
    if isinstance(process, ManagementNode) and low == "datadir":
        return management_directory(plan, process)
    if isinstance(process, DataNode) and low == "nodegroup":
        return "" if process.node_group is None else str(process.node_group)
    if not any(parameters.knows(one, asked, plan.version) for one in _SECTIONS.values()):
        return None
    is_other = low in _OF_ONE_SECTION and _SECTIONS[kind] != (section or "DB")
    if is_other or low == "wan" or not parameters.knows(_SECTIONS[kind], asked, plan.version):
        return ""
    # Names are in any case.
    name = parameters.parameter(_SECTIONS[kind], asked, plan.version).name
    value = node_settings(plan, process).value(name)
    words = [word.lower() for word in form(plan.version, "config_numbers").get(low, ())]
    if str(value).lower() in words:
        return str(words.index(str(value).lower()))
    return "" if value is None else str(value)
