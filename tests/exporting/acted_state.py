"""What an acted cluster is: its processes, the time that passes for them, and what must never be seen."""

from __future__ import annotations

import copy
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from typing import Self, TypeVar

from ndbplan.configuration.deployment import management_port
from ndbplan.configuration.directories import DataNodePaths, data_node_paths
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.services import service_of
from ndbplan.importing.config.plan import import_config
from ndbplan.plan.plan import Plan


@dataclass
class Process:
    """One process of the cluster and the service it belongs to."""

    node_id: int
    host: str
    unit: str
    active: bool = False
    ends_at: float | None = None
    """It was told to stop."""
    ready_at: float = 0.0
    release: str = ""
    """Of the programs that it was started with."""
    is_by_hand: bool = False
    """Somebody typed its program: its service knows nothing of it."""
    is_shown_as_packaged: bool = False
    """A list of processes shows it as the server of packages."""
    knows: frozenset[tuple[int, str, int]] = frozenset()
    """Management servers of the configuration by which a data or SQL node runs: it connects to no others."""

    @property
    def is_by_unit(self) -> bool:
        """Whether its service has a process."""
        return self.active and not self.is_by_hand

    def serves(self, now: float) -> bool:
        """Whether it works."""
        return self.active and self.ends_at is None and now >= self.ready_at


@dataclass
class ManagementServer(Process):
    """A management server, with the configuration that it works by."""

    configuration: str = ""


@dataclass
class SqlProcess(Process):
    """An SQL node."""

    options: str = ""
    """The option file that it has read."""
    tables_of: str = ""
    """The release whose system tables it has read."""
    is_offline: bool = False
    """It takes no clients."""
    socket: str = ""
    """Where it answers."""
    ports: frozenset[str] = frozenset()
    """On which it listens."""


@dataclass
class DataNodeProcess(Process):
    """A data node."""

    group: int | None = None
    rows: float = 0.0
    """Committed rows that it holds; all groups alike."""
    tables: bool = False
    configuration: str = ""
    """By which it runs."""
    made_by: str = ""
    """The configuration by which its redo log was made: a start without --initial keeps it."""
    initial_starts: int = 0
    backups: str = ""
    """Where those are that it takes."""

    def is_started(self, now: float) -> bool:
        """Whether it reports so."""
        return self.active and self.ends_at is None and now >= self.ready_at


def release_of(plan: Plan) -> str:
    """A release of the plan's series, as programs say it."""
    return str(plan.version).replace("x", "3.0")


@cache
def read_configuration(configuration: str, version: str) -> Plan:
    """What a config.ini says."""
    return import_config({"config.ini": configuration.encode()}, version)[0]


@cache
def servers_of(configuration: str, version: str) -> frozenset[tuple[int, str, int]]:
    """Id, host and port of each management server of a config.ini."""
    plan = read_configuration(configuration, version)
    return frozenset(
        (node.node_id, plan.host(node.host_id).hostname, management_port(plan, node))
        for node in plan.management_nodes
    )


class RefusedError(Exception):
    """A program ends with a message."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


class Failure(Enum):
    """What becomes of a connection to a host."""

    BEFORE = "lost before the command"
    BEHIND = "lost behind the command, which was done"
    REFUSED = "the command fails, and nothing is done: no room"


_OF_PLAN = ("plan", "paths", "lasts")
"""What two clusters may share."""
_KEPT = (
    "foreign_keys",
    "objects",
    "units",
    "users",
    "enabled",
    "executable",
    "releases",
    "restored",
    "packaged",
    "confined",
    "selinux",
)
"""Plain sets and dictionaries in which a script leaves what it did."""


def _copied(value: object) -> object:
    """A copy of what may change in a cluster."""
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()} if _changes(value.values()) else value.copy()
    if isinstance(value, list):
        return [_copied(one) for one in value] if _changes(value) else value.copy()
    if isinstance(value, set | Process):
        return copy.copy(value)
    return copy.deepcopy(value) if isinstance(value, random.Random) else value


def _changes(values: Iterable[object]) -> bool:
    """Whether what a container holds may change: all of it is of one kind."""
    return not isinstance(next(iter(values), ""), str | tuple)


@cache
def _is_earlier(path: str) -> bool:
    """Whether a file is a former version of another one, by its name."""
    return re.search(r"[.]\d{8}T\d{6}$", path) is not None


def _digest(value: object) -> int:
    """Of sets and dictionaries, whatever their order, and of what they hold."""
    if isinstance(value, dict):
        return hash(frozenset((key, _digest(one)) for key, one in value.items()))
    return hash(frozenset(value) if isinstance(value, set) else value)


Some = TypeVar("Some", bound=Process)


@dataclass
class ActedState:
    """Processes, files and rows of a cluster under a load, at one moment after the other."""

    plan: Plan
    seed: int = 1
    now: float = 0.0
    calls: int = 0
    connections: int = 0
    fails: tuple[int, Failure | None] = (0, None)
    """At the connection with this number, and how."""
    dies_after: int | None = None
    """The script is killed behind this command."""
    lasts: Callable[[str, int | str], float] | None = None
    """How long a start of some kind of a data node lasts, its stop, a backup, a statement; None: short."""
    watch: Callable[[], None] | None = None
    """Looks on behind every command."""
    line: int = 0
    host: str = ""
    """On which the last command was."""
    arrives: Callable[[int], bool] | None = None
    """Told of each line of the script before what it does; true: the script is killed here."""
    has_joined: bool = False
    """It was."""
    files: dict[tuple[str, str], str] = field(default_factory=dict)
    """Content by host and path; folders end with `/`."""
    in_service: bool = False
    """All data nodes have been started: from now on no group may be gone, except while `may_be_down`."""
    may_be_down: bool = False
    rows_may_go_back: bool = False
    """A restore gives what was in the backup, and nothing later."""
    objects: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    units: dict[tuple[str, str], str] = field(default_factory=dict)
    """Units as each host has loaded them."""
    held_by: dict[str, str] = field(default_factory=dict)
    """Whose run is under way, by management host."""
    unreachable: set[str] = field(default_factory=set)
    """Hosts that no connection reaches."""
    users: set[str] = field(default_factory=set)
    """Hosts that have the user of the processes."""
    enabled: set[tuple[str, str]] = field(default_factory=set)
    executable: set[tuple[str, str]] = field(default_factory=set)
    """Init scripts that may be run."""
    altered: list[str] = field(default_factory=list)
    """Statements on tables that were taken."""
    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    """Columns and keys of every table, as they were typed."""
    made_with: dict[str, str] = field(default_factory=dict)
    """What stands behind the columns where a table is made."""
    foreign_keys: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Tables that refer, and those that they refer to; somebody made them beside the plan."""
    accounts: dict[int, dict[str, str]] = field(default_factory=dict)
    """Passwords of the accounts of each SQL node."""
    granted: dict[tuple[int, str], set[str]] = field(default_factory=dict)
    releases: dict[str, str] = field(default_factory=dict)
    """What is installed, by host; at first the plan's, everywhere."""
    native: set[str] = field(default_factory=set)
    """Accounts that log in by mysql_native_password."""
    systemd: int = 219
    """The release of every host's systemd."""
    confined: dict[str, set[str]] = field(default_factory=dict)
    """Rules of AppArmor for mysqld that are loaded, by host that has any."""
    selinux: dict[str, str] = field(default_factory=dict)
    """Whether mysqld may connect to any port (on, off), by host that has SELinux."""
    packaged: set[str] = field(default_factory=set)
    """Hosts on which the mysqld of packages runs."""
    rows: float = 0.0
    """Rows that clients were told are committed: one a second while the cluster serves."""
    backups: dict[
        int, tuple[float, frozenset[int], dict[str, dict[str, str]], dict[str, tuple[str, str]]]
    ] = field(default_factory=dict)
    """Rows of each backup, the data nodes that took it, and the tables."""
    passwords: dict[int, str] = field(default_factory=dict)
    """Of backups."""
    last_backup: int = 0
    """As the cluster itself counts them, in a table of its own."""
    lacks_grants: bool = False
    """Whether accounts that SQL nodes share came back into a table without its index: none reads it then."""
    lacks_event: bool = False
    """Whether the tables of index statistics have no event: SQL nodes wait for it, and have no statistics."""
    restored: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.management: dict[int, ManagementServer] = {}
        self.data_nodes: dict[int, DataNodeProcess] = {}
        self.sql_nodes: dict[int, SqlProcess] = {}
        self.left: list[Process] = []
        self.paths: dict[int, DataNodePaths] = {}
        self.know(self.plan)
        self._form_groups()

    def _form_groups(self) -> None:
        """What a cluster without files does when it starts."""
        for node in self.data_nodes.values():
            node.group = None
        for number, members in enumerate(node_groups(self.plan)):
            for member in members:
                self.data_nodes[member.node_id].group = number

    def know(self, plan: Plan) -> None:
        """Hosts and nodes of a plan, beside those that are there; one that moves is there twice."""
        self.plan = plan
        for node in plan.management_nodes:
            at = service_of(plan, node)
            self._at(self.management, ManagementServer(node.node_id, at.host, at.name))
        for data in plan.data_nodes:
            at = service_of(plan, data)
            was = self.data_nodes.get(data.node_id)
            group = None if was is None else was.group
            self._at(self.data_nodes, DataNodeProcess(data.node_id, at.host, at.name, group=group))
            self.paths[data.node_id] = data_node_paths(plan, data)
        for sql in plan.sql_nodes:
            at = service_of(plan, sql)
            self._at(self.sql_nodes, SqlProcess(sql.node_id, at.host, at.name))
        # A host that comes later is bare.
        release = "" if self.releases else release_of(plan)
        for process in self.processes():
            self.releases.setdefault(process.host, release)

    def _at(self, known: dict[int, Some], there: Some) -> None:
        """Know a process where a plan has it; what it is elsewhere is left."""
        was = known.get(there.node_id)
        if was is None or (was.host, was.unit) != (there.host, there.unit):
            if was is not None:
                self.left.append(was)
            known[there.node_id] = there

    def twin(self) -> Self:
        """Another cluster in the same state. Texts, and what a backup holds, are never changed."""
        found = copy.copy(self)
        for name, value in vars(self).items():
            if name not in _OF_PLAN:
                setattr(found, name, _copied(value))
        found.watch = found.arrives = None
        return found

    def standing(self) -> int:
        """A digest of what a script can find, whatever the moment: two clusters that are alike go on alike.

        The whole of a large cluster, kept for every command of a script, would fill the memory.
        """
        processes = [
            {
                **vars(one),
                "ends_at": one.ends_at is not None,
                "ready_at": one.serves(self.now),
                "initial_starts": 0,
            }
            | ({"rows": one.rows == self.rows} if isinstance(one, DataNodeProcess) else {})
            for one in self.processes()
        ]
        return hash(
            (
                frozenset(one for one in self.files.items() if not _is_earlier(one[0][1])),
                *(tuple(one.values()) for one in processes),
                *(_digest(vars(self)[name]) for name in _KEPT),
                *map(_digest, (self.tables, self.accounts, self.granted)),
                (tuple(self.backups), self.last_backup),
                (self.in_service, self.may_be_down, self.sql_was_up, self.lacks_grants, self.lacks_event),
            )
        )

    def work(self, kind: str, what: int | str, short_s: float) -> None:
        """Let something last as long as it does; as short as said where nobody looks."""
        self.pass_time(short_s if self.lasts is None else self.lasts(kind, what))

    # Time, and what must never be.

    def processes(self) -> Iterator[Process]:
        """All of them, those that left included."""
        yield from self.management.values()
        yield from self.data_nodes.values()
        yield from self.sql_nodes.values()
        yield from self.left

    def pass_time(self, seconds: float) -> None:
        """Let processes end and become ready."""
        until = self.now + seconds
        moments = {
            moment
            for process in self.processes()
            for moment in (process.ends_at, process.ready_at)
            if moment is not None and self.now < moment < until
        }
        for moment in (*sorted(moments), until):
            self._serve(moment - self.now)
            self.now = moment
            for process in self.processes():
                if process.ends_at is not None and self.now >= process.ends_at:
                    process.active, process.ends_at = False, None
            self._catch_up()
            self._look()

    def servers(self) -> list[ManagementServer]:
        """Management servers, those that left included."""
        return [one for one in self.processes() if isinstance(one, ManagementServer)]

    def mysqlds(self) -> list[SqlProcess]:
        """SQL nodes, those that left included."""
        return [one for one in self.processes() if isinstance(one, SqlProcess)]

    def _members(self) -> list[DataNodeProcess]:
        return [node for node in map(self.running, self.data_nodes) if node.group is not None]

    def running(self, node_id: int) -> DataNodeProcess:
        """A data node where it runs: perhaps on the host that it leaves."""
        for one in self.left:
            if one.node_id == node_id and isinstance(one, DataNodeProcess) and one.active:
                return one
        return self.data_nodes[node_id]

    def down(self) -> tuple[int, ...]:
        """Data nodes that are not started beside others that are."""
        found = tuple(one for one in self.data_nodes if not self.running(one).is_started(self.now))
        return found if len(found) < len(self.data_nodes) else ()

    def _serve(self, seconds: float) -> None:
        """The load: rows that are written, to every node that is started."""
        if self.in_service and self._is_whole() and self._open_sql_nodes():
            if any(node.rows < self.rows for node in self._members() if node.is_started(self.now)):
                self.faults.append(f"{self.now:.1f} s: committed rows are gone")
            self.rows += seconds
            for node in self._members():
                if node.is_started(self.now):
                    node.rows, node.tables = self.rows, True

    def _open_sql_nodes(self) -> list[Process]:
        return [one for one in self.mysqlds() if one.serves(self.now) and not one.is_offline]

    def _is_whole(self) -> bool:
        members = self._members()
        started = {node.group for node in members if node.is_started(self.now)}
        return bool(members) and started == {node.group for node in members}

    def _catch_up(self) -> None:
        """Nodes that are started now have the rows of their node group."""
        started = defaultdict[int | None, list[DataNodeProcess]](list)
        for node in self._members():
            if node.is_started(self.now):
                started[node.group].append(node)
        for mates in started.values():
            rows, tables = max(mate.rows for mate in mates), any(mate.tables for mate in mates)
            for mate in mates:
                mate.rows, mate.tables = rows, tables

    def _look(self) -> None:
        members = self._members()
        if members and all(node.is_started(self.now) for node in members):
            self.in_service = True
        if not self.in_service or self.may_be_down:
            return
        started = {node.group for node in members if node.is_started(self.now)}
        for group in {node.group for node in members} - started:
            self.faults.append(f"{self.now:.1f} s: node group {group} is gone")
        serving = self._open_sql_nodes()
        if len(self.plan.sql_nodes) > 1 and self.sql_was_up and not serving and not self.clients_wait:
            self.faults.append(f"{self.now:.1f} s: all SQL nodes are down")
        self.sql_was_up = self.sql_was_up or len(serving) == len(self.sql_nodes)

    sql_was_up: bool = False
    clients_wait: bool = False
    """The part says that there is one SQL node for them while it restarts."""
