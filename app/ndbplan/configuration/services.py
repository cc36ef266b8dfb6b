"""What runs as a service on which host, and what starts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quoting import ascii_text
from ndbplan.configuration.deployment import (
    MANAGEMENT_DIRECTORY,
    connect_string,
    data_node_program,
    management_directory,
    mysqld_instance,
    sql_files,
)
from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.mysqld import open_files, option_folders
from ndbplan.configuration.settings import node_settings
from ndbplan.plan.hardware import ServiceManager
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, SqlNode

_STAYS_DOWN = (
    "StopOnError is 1: a node that fails ends with 0, as one that is stopped, and stays down until somebody",
    "starts it. With StopOnError=0 in config.ini its angel process starts it again.",
)
_COMES_BACK = (
    "StopOnError is 0: the angel process starts a node that fails, systemd an angel that was killed. One",
    "that is stopped on purpose (STOP, SHUTDOWN) ends with 0 and stays down.",
)


OLDEST_SYSTEMD = 219
"""Of what the units and what hosts are told: RHEL 7 has it. A `+` before a command, `show --value` and
`--now` came in 220 to 231.

Source: systemd, NEWS; systemd.service(5) of 219: PermissionsStartOnly, TimeoutStartSec.
"""


_SHOWN_AS = "/usr/sbin//mysqld"
"""Packages of Debian are not upgraded while a list of processes has /usr/sbin/mysqld, and SQL nodes serve on
until data nodes have the new programs.

Source: mysql-server, packaging/deb-in/mysql-packagesource-server.preinst.in (server_stop).
"""
_OPEN_FILES = 65536
"""More than any process of a plan needs, as far as its options say (judgement)."""


def is_unit(name: str) -> bool:
    """A unit of systemd; anything else is an init script."""
    return name.endswith(".service")


def told(name: str, verb: str) -> str:
    """How a shell on its host has a service start or stop."""
    return f"systemctl {verb} {name}" if is_unit(name) else f"service {name} {verb}"


def _is_active(name: str) -> str:
    return f"systemctl is-active --quiet {name}" if is_unit(name) else f"service {name} status >/dev/null"


def started_with(name: str, option: str) -> str:
    """How a shell on its host starts a service with an option for this start alone, or with none.

    One that runs gets none: the option would lie there until it fails and starts again. That of a start that
    never came must not erase files now.
    """
    file = f"{'/run' if is_unit(name) else '/var/run'}/{name}.option"
    if not option:
        return f"rm -f {file} && {told(name, 'start')}"
    given = f"echo START_OPTION={option} | install -m 0644 /dev/stdin {file}"
    return f"{_is_active(name)} || {{ {given} && {told(name, 'start')}; }}"


@dataclass(frozen=True)
class Service:
    """One process as a service of its host."""

    host: str
    name: str
    """Of its unit, `ndbmtd-3.service`, or of its init script, `ndbmtd-3`."""
    manager: ServiceManager
    description: str
    type: str
    """What systemd waits for: simple, or notify when the program says that it is ready."""
    command: tuple[str, ...]
    """The words that start it in the foreground."""
    directory: str = ""
    mounts: tuple[str, ...] = ()
    """Paths that must be mounted first."""
    open_files: int = _OPEN_FILES
    """How many files it may have open."""
    locks_memory: bool = False
    takes_option: bool = False
    """Whether it can be given an option for its next start alone, as --initial."""
    shown_as: str = ""
    """What a list of processes has in place of the first word of its command; nothing: that word."""
    remark: tuple[str, ...] = ("One that is stopped on purpose ends with 0 and stays down.",)
    """Which ends it comes back from."""

    @property
    def _is_unit(self) -> bool:
        return self.manager is ServiceManager.SYSTEMD

    @property
    def file(self) -> str:
        """Place of its unit or init script in the exported folder."""
        return f"{'systemd' if self._is_unit else 'init.d'}/{self.host.replace(':', '-')}/{self.name}"

    @property
    def target(self) -> str:
        """Where that lies on its host."""
        return f"/etc/{'systemd/system' if self._is_unit else 'init.d'}/{self.name}"

    # What a shell on its host is told.

    @property
    def is_managed(self) -> str:
        """A test: whether the host starts its services as the plan says."""
        if self._is_unit:
            says = f'set -- $(systemctl --version) && test "$2" -ge {OLDEST_SYSTEMD}'
            return f"{{ test -d /run/systemd/system && {says}; }}"
        return "test ! -d /run/systemd/system"

    @property
    def is_active(self) -> str:
        """A test: whether it runs."""
        return _is_active(self.name)

    @property
    def enable(self) -> str:
        """It is read anew, and starts with its host."""
        if self._is_unit:
            return f"systemctl daemon-reload && systemctl enable {self.name}"
        return f"chmod 0755 {self.target} && service {self.name} enable"

    @property
    def is_ready(self) -> str:
        """A test: whether it starts with its host, as it lies there."""
        if self._is_unit:
            loaded = f"systemctl show --property=NeedDaemonReload {self.name}"
            return f'{{ {self.is_enabled} && test "$({loaded})" = NeedDaemonReload=no; }}'
        return f"{{ test -x {self.target} && {self.is_enabled}; }}"

    @property
    def is_enabled(self) -> str:
        """A test: whether it starts with its host."""
        if self._is_unit:
            return f"systemctl is-enabled --quiet {self.name}"
        return f"service {self.name} is-enabled"

    @property
    def disable(self) -> str:
        """It no longer starts with its host."""
        return f"systemctl disable {self.name}" if self._is_unit else f"service {self.name} disable"


@kept_by_identity(8)
def services(plan: Plan) -> tuple[Service, ...]:
    """A service for each management, data and SQL node."""
    return (
        *(_management(plan, node) for node in plan.management_nodes),
        *(_data(plan, node) for node in plan.data_nodes),
        *(_sql(plan, node) for node in plan.sql_nodes),
    )


def places_of(plan: Plan) -> Iterator[tuple[int, str, str]]:
    """Node id, host and name of every service."""
    nodes = (*plan.management_nodes, *plan.data_nodes, *plan.sql_nodes)
    for node, service in zip(nodes, services(plan), strict=True):
        yield node.node_id, service.host, service.name


@kept_by_identity(600)
def service_of(plan: Plan, node: ManagementNode | DataNode | SqlNode) -> Service:
    """The service of one node."""
    if isinstance(node, ManagementNode):
        return _management(plan, node)
    return _data(plan, node) if isinstance(node, DataNode) else _sql(plan, node)


def _place(
    plan: Plan, node: ManagementNode | DataNode | SqlNode, name: str
) -> tuple[str, str, ServiceManager]:
    """Where a service is, what it is called under the manager of its host, and that manager."""
    host = plan.host(node.host_id)
    unit = name if host.service_manager is ServiceManager.INIT_SCRIPTS else f"{name}.service"
    return host.hostname, unit, host.service_manager


def _named(plan: Plan) -> str:
    """The cluster at the end of a line, which a backslash would join with the next one."""
    return ascii_text(plan.name).rstrip("\\ ")


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
        *_place(plan, node, f"ndb_mgmd-{node.node_id}"),
        f"NDB management node {node.node_id} of {_named(plan)}",
        "simple",
        tuple(words),
        management_directory(plan, node),
        takes_option=plan.features.config_cache,
    )


def _data(plan: Plan, node: DataNode) -> Service:
    program, paths = data_node_program(plan), data_node_paths(plan, node)
    return Service(
        *_place(plan, node, f"{program}-{node.node_id}"),
        f"NDB data node {node.node_id} of {_named(plan)}",
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
        takes_option=True,
        remark=_STAYS_DOWN if node_settings(plan, node).value("StopOnError") else _COMES_BACK,
    )


def _sql(plan: Plan, node: SqlNode) -> Service:
    suffix = mysqld_instance(plan, node)
    words = ["/usr/sbin/mysqld", "--defaults-file=/etc/my.cnf"]
    if suffix:
        words.append(f"--defaults-group-suffix={suffix}")
    return Service(
        # A name of its own: mysqld.service is that of the distribution's packages.
        *_place(plan, node, f"ndb_mysqld-{node.node_id}"),
        f"SQL node {node.node_id} of {_named(plan)}",
        "notify" if plan.features.mysqld_notifies_systemd else "simple",
        tuple(words),
        shown_as=_SHOWN_AS,
        mounts=(sql_files(plan, node).data_dir, *option_folders(plan, node)),
        open_files=max(_OPEN_FILES, open_files(plan, node)),
        # Without offline_mode a start of its own keeps its clients away.
        takes_option=not plan.features.sql_offline_mode,
    )
