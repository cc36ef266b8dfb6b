"""What is typed where: the kinds of commands, and those that make, start and stop parts of a cluster."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ndbplan.base.quantity import Quantity
from ndbplan.base.quoting import shell_quoted
from ndbplan.configuration.deployment import (
    MANAGEMENT_DIRECTORY,
    connect_string,
    data_node_program,
    management_directory,
    mysqld_instance,
    sql_hosts,
)
from ndbplan.configuration.directories import DataNodePaths, data_node_paths
from ndbplan.configuration.services import sql_service
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, SqlNode

_OWNER = "-o mysql -g mysql -m 0750"
_LEAST_WAIT_S = 3600
_PATIENCE = 3.0
"""Waiting ends after this many times the longest estimate."""


@dataclass(frozen=True)
class Shell:
    """A command on a host."""

    host: str
    command: str


@dataclass(frozen=True)
class Management:
    """A command of the management client."""

    command: str


@dataclass(frozen=True)
class Sql:
    """SQL statements on the host of an SQL node."""

    host: str
    statements: tuple[str, ...]
    instance: str = ""
    """`@51` when the host runs several SQL nodes."""


@dataclass(frozen=True)
class Copy:
    """A file of the exported folder, copied to a host."""

    file: str
    host: str
    target: str


@dataclass(frozen=True)
class WaitStarted:
    """Wait until data nodes report that they are started."""

    node_ids: tuple[int, ...]
    timeout_s: int


Command = Shell | Management | Sql | Copy | WaitStarted


def wait_started(nodes: Iterable[DataNode], expected_s: Quantity | None = None) -> WaitStarted:
    """Waiting for data nodes: an hour, or three times the longest that is expected when that is more."""
    patience_s = math.ceil(_PATIENCE * expected_s.high) if expected_s is not None else 0
    return WaitStarted(tuple(node.node_id for node in nodes), max(_LEAST_WAIT_S, patience_s))


def management_directories(plan: Plan) -> Iterator[Command]:
    """Directories of the management nodes."""
    for node in plan.management_nodes:
        host = plan.host(node.host_id).hostname
        for path in dict.fromkeys((MANAGEMENT_DIRECTORY, management_directory(plan, node))):
            yield Shell(host, f"install -d {_OWNER} {shell_quoted(path)}")


def node_directories(plan: Plan, nodes: Iterable[DataNode]) -> Iterator[Command]:
    """Mount points checked, directories made, checkpoint folders linked, host by host."""
    for node in nodes:
        host = plan.host(node.host_id)
        paths = data_node_paths(plan, node)
        for disk in host.disks:
            below = f"{disk.mount_point.rstrip('/')}/"
            if disk.mount_point != "/" and any(f"{path}/".startswith(below) for path in paths.all()):
                yield Shell(host.hostname, f"mountpoint {shell_quoted(disk.mount_point)}")
        for path in paths.all():
            if path.startswith("/"):
                yield Shell(host.hostname, f"install -d {_OWNER} {shell_quoted(path)}")
        if paths.lcp is not None:
            yield from _link_checkpoints(host.hostname, node, paths)


def _link_checkpoints(host: str, node: DataNode, paths: DataNodePaths) -> Iterator[Command]:
    """LCP becomes a link before the first start; starts with --initial leave it there."""
    folder = f"{paths.file_system}/ndb_{node.node_id}_fs"
    link = shell_quoted(f"{folder}/LCP")
    yield Shell(host, f"install -d {_OWNER} {shell_quoted(folder)}")
    yield Shell(host, f"test -L {link} || test ! -e {link}")
    yield Shell(host, f"ln -sfn {shell_quoted(paths.lcp)} {link}")


def move_redo_log(plan: Plan, node: DataNode) -> Iterator[Command]:
    """The folders of the log parts moved to their own disk and linked, while the node is stopped."""
    host, paths = plan.host(node.host_id).hostname, data_node_paths(plan, node)
    folder = f"{paths.file_system}/ndb_{node.node_id}_fs"
    yield Management(f"{node.node_id} STOP")
    for name in paths.redo_folders:
        here, there = shell_quoted(f"{folder}/{name}"), f"{paths.redo}/{name.split('/')[0]}"
        yield Shell(host, f"test -L {here} || mv {here} {shell_quoted(there)}")
        yield Shell(host, f"ln -sfn {shell_quoted(there)} {here}")
    yield start_data_node(plan, node)
    yield wait_started((node,))


def copy_configuration(plan: Plan, file: str = "config.ini") -> Iterator[Command]:
    """A configuration of the exported folder to every management host."""
    for host in dict.fromkeys(plan.host(node.host_id).hostname for node in plan.management_nodes):
        yield Copy(file, host, f"{MANAGEMENT_DIRECTORY}/config.ini")


def copy_my_cnf(plan: Plan) -> Iterator[Command]:
    """Its own my.cnf to every SQL host."""
    for host, _ in sql_hosts(plan):
        yield Copy(f"{host.hostname}.my.cnf", host.hostname, "/etc/my.cnf")


def start_management(plan: Plan, node: ManagementNode, option: str = "") -> Shell:
    """The command that starts one management node."""
    host = plan.host(node.host_id).hostname
    cache = f" --configdir={MANAGEMENT_DIRECTORY}" if plan.features.config_cache else ""
    extra = f" {option}" if option else ""
    return Shell(
        host,
        f"cd {shell_quoted(management_directory(plan, node))} && runuser -u mysql -- ndb_mgmd "
        f"--ndb-nodeid={node.node_id} --config-file={MANAGEMENT_DIRECTORY}/config.ini{cache}{extra}",
    )


def reload_management(plan: Plan) -> Iterator[Command]:
    """Every management node stopped and started on the new file, one after the other."""
    for node in plan.management_nodes:
        yield Management(f"{node.node_id} STOP")
        yield start_management(plan, node, "--reload" if plan.features.config_cache else "")


def start_data_node(plan: Plan, node: DataNode, option: str = "") -> Shell:
    """The command that starts one data node."""
    extra = f" {option}" if option else ""
    return Shell(
        plan.host(node.host_id).hostname,
        f"runuser -u mysql -- {data_node_program(plan)} "
        f"--ndb-connectstring={shell_quoted(connect_string(plan))} --ndb-nodeid={node.node_id}{extra}",
    )


def refuse_old_files(plan: Plan, node: DataNode) -> Shell:
    """Fails where a data node has a file system already."""
    folder = f"{data_node_paths(plan, node).file_system}/ndb_{node.node_id}_fs/D1"
    return Shell(plan.host(node.host_id).hostname, f"test ! -e {shell_quoted(folder)}")


def sql_nodes_each(plan: Plan, action: str) -> Iterator[Command]:
    """`start` or `restart` of every SQL node, one after the other, and a look at them."""
    for node in plan.sql_nodes:
        yield Shell(plan.host(node.host_id).hostname, f"systemctl {action} {sql_service(plan, node)}")
    yield Management("SHOW")


def on_an_sql_node(plan: Plan, *statements: str) -> Sql:
    """Statements on the first SQL node."""
    node: SqlNode = plan.sql_nodes[0]
    return Sql(plan.host(node.host_id).hostname, statements, mysqld_instance(plan, node))
