"""What runs as a service on which host, and what starts it."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.quoting import ascii_text
from ndbplan.configuration.deployment import (
    MANAGEMENT_DIRECTORY,
    connect_string,
    data_node_program,
    management_directory,
    mysqld_instance,
)
from ndbplan.configuration.directories import data_node_paths
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, SqlNode


@dataclass(frozen=True)
class Service:
    """One process as a service of its host."""

    host: str
    name: str
    """Of its unit: `ndbmtd-3.service`."""
    description: str
    type: str
    """What systemd waits for: simple, or notify when the program says that it is ready."""
    command: tuple[str, ...]
    """The words that start it in the foreground."""
    directory: str = ""
    mounts: tuple[str, ...] = ()
    """Paths that must be mounted first."""
    locks_memory: bool = False

    @property
    def file(self) -> str:
        """Place of its unit in the exported folder."""
        return f"systemd/{self.host.replace(':', '-')}/{self.name}"


def services(plan: Plan) -> tuple[Service, ...]:
    """A service for each management, data and SQL node."""
    return (
        *(_management(plan, node) for node in plan.management_nodes),
        *(_data(plan, node) for node in plan.data_nodes),
        *(_sql(plan, node) for node in plan.sql_nodes),
    )


def sql_service(plan: Plan, node: SqlNode) -> str:
    """Name of the service of an SQL node, as systemctl takes it."""
    return f"mysqld{mysqld_instance(plan, node)}"


def _management(plan: Plan, node: ManagementNode) -> Service:
    words = [
        "/usr/sbin/ndb_mgmd",
        "--nodaemon",
        f"--ndb-nodeid={node.node_id}",
        f"--config-file={MANAGEMENT_DIRECTORY}/config.ini",
    ]
    if plan.features.config_cache:
        words.append(f"--configdir={MANAGEMENT_DIRECTORY}")
    return Service(
        plan.host(node.host_id).hostname,
        f"ndb_mgmd-{node.node_id}.service",
        f"NDB management node {node.node_id} of {ascii_text(plan.name)}",
        "simple",
        tuple(words),
        management_directory(plan, node),
    )


def _data(plan: Plan, node: DataNode) -> Service:
    program, paths = data_node_program(plan), data_node_paths(plan, node)
    return Service(
        plan.host(node.host_id).hostname,
        f"{program}-{node.node_id}.service",
        f"NDB data node {node.node_id} of {ascii_text(plan.name)}",
        "simple",
        # --nodaemon keeps the angel process, which RESTART of the management client needs.
        (
            f"/usr/sbin/{program}",
            "--nodaemon",
            f"--ndb-connectstring={connect_string(plan)}",
            f"--ndb-nodeid={node.node_id}",
        ),
        mounts=tuple(path for path in paths.all() if path.startswith("/")),
        locks_memory=True,
    )


def _sql(plan: Plan, node: SqlNode) -> Service:
    suffix = mysqld_instance(plan, node)
    words = ["/usr/sbin/mysqld", "--defaults-file=/etc/my.cnf"]
    if suffix:
        words.append(f"--defaults-group-suffix={suffix}")
    return Service(
        plan.host(node.host_id).hostname,
        f"{sql_service(plan, node)}.service",
        f"SQL node {node.node_id} of {ascii_text(plan.name)}",
        "notify" if plan.features.mysqld_notifies_systemd else "simple",
        tuple(words),
    )
