"""Facts that several exported files share: connect string, programs, who runs where."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.configuration.settings import node_settings
from ndbplan.configuration.stated import text_of
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ManagementNode, SqlNode

MANAGEMENT_PORT = 1186
_FIRST_SQL_PORT, _FIRST_X_PORT = 3306, 33060
"""PortNumber of ndb_mgmd and ports of mysqld where nothing is stated (manual)."""
MANAGEMENT_DIRECTORY = "/var/lib/mysql-cluster"
"""Where ndb_mgmd finds config.ini, keeps its cache and its log."""


def management_port(plan: Plan, node: ManagementNode) -> int:
    """The port a management node listens on."""
    port = node_settings(plan, node).value("PortNumber")
    return port if isinstance(port, int) and port else MANAGEMENT_PORT


def management_directory(plan: Plan, node: ManagementNode) -> str:
    """DataDir of a management node, or the usual place."""
    stated = text_of(node.parameters, "DataDir") or text_of(plan.parameters.management, "DataDir")
    return stated if stated and stated.startswith("/") else MANAGEMENT_DIRECTORY


def connect_string(plan: Plan) -> str:
    """The connect string that names every management node."""
    return ",".join(
        f"{address(plan.host(node.host_id).hostname)}:{management_port(plan, node)}"
        for node in plan.management_nodes
    )


def address(hostname: str) -> str:
    """A host name in front of a port: an IPv6 address goes into brackets."""
    return f"[{hostname}]" if ":" in hostname else hostname


def data_node_program(plan: Plan) -> str:
    """ndbmtd; ndbd for versions without a multi-threaded data node."""
    return "ndbmtd" if plan.features.multithreaded_node else "ndbd"


def sql_hosts(plan: Plan) -> tuple[tuple[Host, tuple[SqlNode, ...]], ...]:
    """Hosts that run mysqld, each with its SQL nodes in node-id order."""
    by_host: dict[str, list[SqlNode]] = {}
    for node in plan.sql_nodes:
        by_host.setdefault(node.host_id, []).append(node)
    return tuple((plan.host(host_id), tuple(nodes)) for host_id, nodes in by_host.items())


def mysqld_instance(plan: Plan, node: SqlNode) -> str:
    """Suffix of the option group and service of one mysqld: nothing, or @id when its host runs several."""
    alone = sum(other.host_id == node.host_id for other in plan.sql_nodes) == 1
    return "" if alone else f"@{node.node_id}"


@dataclass(frozen=True)
class SqlFiles:
    """Where one mysqld keeps its files, and the port it listens on."""

    data_dir: str
    socket: str
    error_log: str
    """Outside the data directory, which must be empty when it is filled."""
    pid_file: str
    port: int
    x_port: int
    """Of the X protocol, where the version has it; so is its socket."""
    x_socket: str


def sql_files(plan: Plan, node: SqlNode) -> SqlFiles:
    """Files of an SQL node: the usual ones, or some of its own when its host runs several."""
    alone = not mysqld_instance(plan, node)
    mine = [other for other in plan.sql_nodes if other.host_id == node.host_id]
    folder = "/var/lib/mysql" if alone else f"/var/lib/mysql-{node.node_id}"
    log = "/var/log/mysqld.log" if alone else f"/var/log/mysqld-{node.node_id}.log"
    place = mine.index(node)
    return SqlFiles(
        folder,
        f"{folder}/mysql.sock",
        log,
        f"{folder}/mysqld.pid",
        _FIRST_SQL_PORT + place,
        _FIRST_X_PORT + place,
        f"{folder}/mysqlx.sock",
    )
