"""What is done where: kinds of commands, each with what it waits for, and what makes up parts of a cluster.

A command may be given again whatever became of the one before: what is done already is a success. Processes
are started and stopped by their services alone, so that limits of the units hold from the first start on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ndbplan.base.quantity import Quantity
from ndbplan.configuration.deployment import (
    address,
    management_port,
    sql_files,
)
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.services import service_of, services
from ndbplan.plan.hardware import ServiceManager
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, SqlNode

_LEAST_WAIT_S = 3600
_PATIENCE = 3.0
"""Waiting ends after this many times the longest estimate."""
_STOP_S = 900
"""A stop of a data node hands over its work first; a management server was seen to take 33 s."""
_MANAGEMENT_S = 180
_SQL_S = 600
"""How long a runbook waits for a management server and for an SQL node: judgement."""


@dataclass(frozen=True)
class Shell:
    """A command on a host that may be repeated. Without a test it only looks."""

    host: str
    command: str
    unless: str = ""
    """A test: where it holds, the command must not be given."""
    same: str = ""
    """A test: where it holds, the command would change nothing."""


@dataclass(frozen=True)
class Management:
    """A command of the management client that may be repeated."""

    command: str
    answer: str = ""
    """What the client prints when it is done; nothing: whatever it says."""


@dataclass(frozen=True)
class Sql:
    """SQL statements on the host of an SQL node. Those that begin with SELECT only look."""

    host: str
    statements: tuple[str, ...]
    socket: str
    makes: bool
    """They make things: that one is there already is a success."""

    @property
    def changes(self) -> bool:
        """Whether they do more than look."""
        return not all(statement.startswith("SELECT ") for statement in self.statements)


@dataclass(frozen=True)
class HasTable:
    """Fails where what an SQL node says of a table, or of files, is not what it must be."""

    host: str
    socket: str
    what: str
    statements: tuple[str, ...]
    """Which ask for it."""
    lines: tuple[str, ...]
    """What they answer, as `mysql --batch` prints it; in any order."""


@dataclass(frozen=True)
class MakeAccount:
    """An account of an SQL node. The script asks for its password, and keeps it nowhere."""

    host: str
    socket: str
    name: str
    account: str
    """As SQL writes it."""
    statements: tuple[str, ...]
    """With PASSWORD where the password belongs."""


@dataclass(frozen=True)
class KeepLogin:
    """The login of an account in a file of the host that root alone may read."""

    host: str
    socket: str
    name: str
    file: str


@dataclass(frozen=True)
class Copy:
    """A file of the exported folder, copied to a host; what it replaces is kept with the time in its name."""

    file: str
    host: str
    target: str


@dataclass(frozen=True)
class StartService:
    """A service is started; one that runs is left alone."""

    host: str
    unit: str
    option: str = ""
    """For this start alone."""
    copies_from: tuple[int, ...] = ()
    """Data nodes that have the rows which this start erases: one of them must be started."""


@dataclass(frozen=True)
class StopService:
    """A service is stopped, and its process has ended."""

    host: str
    unit: str


@dataclass(frozen=True)
class StopDataNode:
    """A data node hands over its work and stops; its process has ended. One that is down is left alone."""

    node_id: int
    host: str
    unit: str
    partners: tuple[int, ...]
    """Nodes of its node group, which must all be started; none: it is in no group, and holds no data."""
    unless: str = ""
    """A test: where it holds, there is nothing to stop it for."""
    started_s: int = _LEAST_WAIT_S
    """How long those are waited for that are being started."""
    timeout_s: int = _STOP_S


@dataclass(frozen=True)
class StopAllDataNodes:
    """All data nodes stop together, each complete; their processes have ended."""

    services: tuple[tuple[str, str], ...]
    """Host and unit of each."""
    timeout_s: int = _STOP_S


@dataclass(frozen=True)
class WaitManagement:
    """Wait until every management server answers and sees all others."""

    servers: tuple[str, ...]
    """Host and port of each."""
    node_ids: tuple[int, ...]
    timeout_s: int = _MANAGEMENT_S


@dataclass(frozen=True)
class WaitStarted:
    """Wait until data nodes report that they are started."""

    node_ids: tuple[int, ...]
    timeout_s: int


@dataclass(frozen=True)
class WaitSql:
    """Wait until an SQL node is connected to the cluster and answers a query."""

    node_id: int
    host: str
    socket: str
    timeout_s: int = _SQL_S
    earlier_socket: str = ""
    """Where it answers until it restarts, when that is another one."""


@dataclass(frozen=True)
class BackUp:
    """A backup of all data nodes; the script remembers its number."""

    options: tuple[str, ...] = ()
    """Of the management client, beside the command: how it is encrypted."""
    folders: tuple[tuple[str, str], ...] = ()
    """Host and BackupDataDir with its BACKUP: where a file exists (1350), a number is taken that none has."""


@dataclass(frozen=True)
class BackUpAgain:
    """Another backup, unless the last one was taken in this very run: rows may have come since.

    As soon as all data nodes are stopped the last one counts.
    """

    options: tuple[str, ...] = ()
    folders: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class HasBackup:
    """Fails where the files of a data node in the remembered backup are not on its host, or not readable."""

    host: str
    node_id: int
    folder: str
    """BackupDataDir with its folder BACKUP; two nodes of a host may share it."""
    options: tuple[str, ...] = ()
    """Of ndb_restore: how it is decrypted, which is tried."""


@dataclass(frozen=True)
class Restore:
    """A part of the remembered backup brought back; what is there already is a success."""

    host: str
    node_id: int
    """Whose files are read."""
    folder: str
    options: tuple[str, ...]
    """Of ndb_restore: what is brought back."""
    others: tuple[tuple[str, int, str], ...] = ()
    """Host, id and folder of nodes whose files do where this one took no part; none: only its own do."""


@dataclass(frozen=True)
class InstallPrograms:
    """The programs of one release on a host, from the archive or the packages that the script is given."""

    host: str
    programs: tuple[str, ...]
    """What must be there afterwards, and be of the release."""
    release: str
    """`8.4.8`, or a series."""
    manager: ServiceManager = ServiceManager.SYSTEMD
    """Of the host, which packages may have had start a server."""


@dataclass(frozen=True)
class CreateNodeGroup:
    """A node group of started nodes; one that is there already is left alone."""

    node_ids: tuple[int, ...]


Command = (
    Shell
    | Management
    | Sql
    | HasTable
    | MakeAccount
    | KeepLogin
    | Copy
    | StartService
    | StopService
    | StopDataNode
    | StopAllDataNodes
    | WaitManagement
    | WaitStarted
    | WaitSql
    | CreateNodeGroup
    | BackUp
    | BackUpAgain
    | HasBackup
    | Restore
    | InstallPrograms
)


_CONNECTIONS: dict[type[object], int] = {
    Shell: 1, Management: 1, Sql: 1, HasTable: 1, MakeAccount: 4, KeepLogin: 2, Copy: 3, StopService: 1,
    WaitStarted: 1, WaitSql: 2, CreateNodeGroup: 3, BackUp: 3, BackUpAgain: 0, HasBackup: 1, Restore: 1,
}  # fmt: skip
"""How often the script connects to a host for a command of a kind, as runbook.sh does it."""


def connections(command: Command) -> int:
    """How often the script connects to a host for a command, beside what it repeats while it waits."""
    match command:
        case StopDataNode():
            return 4 + len(command.partners)
        case StopAllDataNodes():
            return 1 + 2 * len(command.services)
        case WaitManagement():
            return len(command.servers)
        case InstallPrograms():
            return 1 + len(command.programs)
        case StartService():
            return 3 if command.copies_from else 2
    return _CONNECTIONS[type(command)]


def connections_before(plan: Plan) -> int:
    """How often the script connects to hosts before the first step: SHOW, units, configurations, marks."""
    hosts = {service.host for service in services(plan)}
    return 2 + len(hosts) + 2 * len(plan.management_nodes)


def wait_started(nodes: Iterable[DataNode], expected_s: Quantity | None = None) -> WaitStarted:
    """Waiting for data nodes: an hour, or three times the longest that is expected when that is more."""
    return WaitStarted(tuple(node.node_id for node in nodes), _patience(expected_s))


def _patience(expected_s: Quantity | None) -> int:
    return max(_LEAST_WAIT_S, math.ceil(_PATIENCE * expected_s.high) if expected_s is not None else 0)


def start_service(plan: Plan, node: ManagementNode | DataNode | SqlNode, option: str = "") -> StartService:
    """The command that starts one node."""
    service = service_of(plan, node)
    return StartService(service.host, service.name, option)


def start_empty(plan: Plan, node: DataNode) -> StartService:
    """The start of a data node with --initial while the rest of its node group has its rows.

    Without that it would erase the last copy: of the wrong host, or when the others went down meanwhile.
    """
    return replace(start_service(plan, node, "--initial"), copies_from=_partners(plan, node))


def _partners(plan: Plan, node: DataNode) -> tuple[int, ...]:
    """The other nodes of the node group of a data node; none: it is in no group, and holds no data."""
    group = next((group for group in node_groups(plan) if node in group), ())
    return tuple(one.node_id for one in group if one.node_id != node.node_id)


def stop_service(plan: Plan, node: ManagementNode | SqlNode) -> StopService:
    """The command that stops a management or SQL node."""
    service = service_of(plan, node)
    return StopService(service.host, service.name)


def stop_data_node(
    plan: Plan, node: DataNode, expected_s: Quantity | None = None, unless: str = ""
) -> StopDataNode:
    """The command that stops one data node while its node group goes on; not where a test holds.

    `expected_s`: how long the start of one of its partners lasts, which may still be going on.
    """
    service, partners = service_of(plan, node), _partners(plan, node)
    return StopDataNode(node.node_id, service.host, service.name, partners, unless, _patience(expected_s))


def stop_all_data_nodes(plan: Plan) -> StopAllDataNodes:
    """All data nodes of a plan, stopped together."""
    found = (service_of(plan, node) for node in plan.data_nodes)
    return StopAllDataNodes(tuple((service.host, service.name) for service in found))


def wait_management(plan: Plan) -> WaitManagement:
    """Waiting until the management servers answer and see one another."""
    return WaitManagement(
        tuple(
            f"{address(plan.host(node.host_id).hostname)}:{management_port(plan, node)}"
            for node in plan.management_nodes
        ),
        tuple(node.node_id for node in plan.management_nodes),
    )


def restart_management_at_once(plan: Plan, before: Plan) -> Iterator[Command]:
    """Management nodes when there are others than before: all stop, then all start without their cache.

    Those that run would otherwise tell the new ones of the configuration that is in force.
    """
    yield from (stop_service(before, node) for node in before.management_nodes)
    for node in plan.management_nodes:
        yield start_service(plan, node, "--initial" if plan.features.config_cache else "")
    yield wait_management(plan)


def reload_management(plan: Plan) -> Iterator[Command]:
    """Every management node stopped and started on the new file, one after the other.

    One that was left stopped by a script that was broken off is started before: they wait for one another.
    """
    yield from (start_service(plan, node) for node in plan.management_nodes)
    for node in plan.management_nodes:
        yield stop_service(plan, node)
        yield start_service(plan, node, "--reload" if plan.features.config_cache else "")
        yield wait_management(plan)


def wait_sql(plan: Plan, node: SqlNode, earlier_socket: str = "") -> WaitSql:
    """Waiting until an SQL node serves queries; `earlier_socket`: it may not have restarted yet."""
    socket = sql_files(plan, node).socket
    other = earlier_socket if earlier_socket != socket else ""
    return WaitSql(node.node_id, plan.host(node.host_id).hostname, socket, earlier_socket=other)


def start_sql_nodes(plan: Plan) -> Iterator[Command]:
    """Every SQL node started, one after the other."""
    for node in plan.sql_nodes:
        yield start_service(plan, node)
        yield wait_sql(plan, node)


def restart_sql_nodes_each(
    plan: Plan,
    nodes: Iterable[SqlNode],
    serving: Iterable[SqlNode],
    while_down: Callable[[SqlNode], Iterable[Command]] = lambda _node: (),
    earlier_sockets: Mapping[int, str] = MappingProxyType({}),
) -> Iterator[Command]:
    """SQL nodes restarted, each while all others of `serving` serve.

    `while_down`: what is done to one that does not run.

    One that runs it leaves alone: it is asked of the others too, as a part may have been broken off there.

    `earlier_sockets`: where those answer until then that answer elsewhere afterwards, by node id.
    """
    for node in nodes:
        for other in serving:
            if other is not node:
                yield from while_down(other)
                yield start_service(plan, other)
                yield wait_sql(plan, other, earlier_sockets.get(other.node_id, ""))
        yield stop_service(plan, node)
        yield from while_down(node)
        yield start_service(plan, node)
        yield wait_sql(plan, node)


def sql_node_for_ddl(plan: Plan) -> SqlNode:
    """The SQL node that runs statements on tables: the last one, as clients often try the first one first."""
    return plan.sql_nodes[-1]


def on_an_sql_node(plan: Plan, *statements: str, makes: bool = False) -> Sql:
    """Statements on the SQL node for them."""
    node = sql_node_for_ddl(plan)
    host = plan.host(node.host_id).hostname
    return Sql(host, statements, sql_files(plan, node).socket, makes)
