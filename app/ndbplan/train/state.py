"""What the processes of a live cluster, and the management server that watches them, know at a moment.

All of it is values: a copy is a snapshot. How it follows from what happens in the simulation is in
`watching.py`; how orders change it in `starts.py`, `stops.py` and `orders.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Protocol, Self

from ndbplan.configuration.node_groups import node_group_ids
from ndbplan.ndb.cluster_log import SEVERITIES, LogLine, default_levels, in_node_logs, line_of
from ndbplan.ndb.console import Release, form, release_of
from ndbplan.plan.events import ParameterChange
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, Process, process_node_ids
from ndbplan.plan.tables import Table, Tablespace
from ndbplan.simulate.events.growth import NodesCome
from ndbplan.simulate.simulation import Simulation
from ndbplan.train.contents import NOTHING, Contents, TypedPages
from ndbplan.train.locks import EVERYONE, NO_DELTA, Delta, Running, Transaction, Waiting, with_delta
from ndbplan.train.object_ids import Ids, ids_of
from ndbplan.train.of_servers import NOTHING_SET, OfServers
from ndbplan.train.quiet_memory import QuietMemory
from ndbplan.train.saved import Saved


class Status(StrEnum):
    """What the management server says of a data node, in its words."""

    NOT_CONNECTED = "not connected"
    NOT_STARTED = "not started"
    STARTING = "starting"
    STARTED = "started"
    STOPPING = "shutting down"
    SINGLE_USER = "single user mode"


ANSWERS = (Status.STARTED, Status.SINGLE_USER, Status.STOPPING)
"""Those whose data can be read."""


class Observer(Protocol):
    """Who looks at the cluster once a second and before each act; goes back with it as a copy."""

    def copy(self) -> Observer:
        """The same, to go on apart."""

    def look(self, sim: Simulation) -> None:
        """What is so now counts."""


NO_RESTART = "Initial state"
"""What the cluster log says of the restart of a data node that made none since all started together."""


class NodeState(NamedTuple):
    """One data node."""

    status: Status = Status.NOT_CONNECTED
    phase: int = 0
    """Last start phase that it has completed."""
    attempt: int = 0
    """How often its process was started or ended: what was meant for an earlier one does not happen."""
    runs: bool = False
    """Its process is there, whether or not anybody hears of it."""
    hangs: bool = False
    then: str = ""
    """What follows when it has shut down: nothing, `start`, or `wait` until it is told to."""
    initial: bool = False
    """Its files are made anew at the start that is under way."""
    restart_status: str = NO_RESTART
    """Where its last restart is, in the words of the cluster log."""
    knows_group: bool = True
    """A starting node does not know its group at first."""


class BackupRun(NamedTuple):
    """A backup under way, or the last one."""

    number: int
    server: int
    """The management node that it was asked of."""
    master: int
    """The data node that leads it."""
    began_s: float
    first_gci: int
    bytes_by_node: tuple[tuple[int, float], ...]
    """What each node writes."""
    rows_by_node: tuple[tuple[int, float], ...]
    of_begin: bool = False
    """Whether it holds the rows as they were at its begin; else as at its end."""
    saved: Mapping[str, Saved] = MappingProxyType({})
    """The tables that it holds with their rows, by their ids."""
    redo_bytes: float = 0.0
    """Redo log that all nodes had written for the workload when it began."""
    log_records: int = 0
    log_bytes: int = 0
    """What changed meanwhile, once it is over."""
    ended_s: float | None = None
    last_gci: int = 0
    error: int = 0
    """Why it ended before its end; 0: it did not."""


class LocalTable(NamedTuple):
    """A table of another engine than NDB: one SQL node has it, and no other."""

    node_id: int
    table: Table
    made: datetime


_PIDS_A_START = 26000
"""How far the numbers of processes are on when a node has started again [assumed]."""
_UP_S = 2400.0
"""Since when the machines ran at the begin [assumed]."""


LOCAL_ID = "local-"
"""How ids of such tables begin; a plan has none of them."""


def is_local(table: Table) -> bool:
    """Whether a table is one of InnoDB on an SQL node."""
    return table.id.startswith(LOCAL_ID)


class NodeLine(NamedTuple):
    """A line of the log of a data node."""

    at_s: float
    node_id: int
    text: str
    severity: str


@dataclass
class ClusterState:
    """The cluster as its processes know it."""

    plan: Plan
    """As the management server knows it now."""
    begin: datetime
    """What the clocks show at the start."""
    nodes: dict[int, NodeState] = field(default_factory=dict)
    groups: dict[int, int] = field(default_factory=dict)
    """Node group of each data node; 65536: none."""
    used_groups: frozenset[int] = frozenset()
    """Groups that hold fragments."""
    joined: dict[int, int] = field(default_factory=dict)
    """Data nodes in the order in which they joined, and the number that each got then: the first leads."""
    members: frozenset[int] = frozenset()
    """Data nodes that have ever joined since all started together."""
    links: dict[tuple[int, int], int] = field(default_factory=dict)
    """How often the first data node was connected to the second; each member once where none is named."""
    closed: frozenset[int] = frozenset()
    """Data nodes that failed and cannot connect again yet."""
    made_on: frozenset[tuple[str, int]] = frozenset()
    """Tables that were made in this session, each with the groups that there were."""
    servers: frozenset[int] = frozenset()
    """Management nodes that run."""
    waiting: dict[int, float] = field(default_factory=dict)
    """Data nodes that are ready to start, and since when; they wait for others."""
    log: list[LogLine] = field(default_factory=list)
    node_logs: list[NodeLine] = field(default_factory=list)
    """What stands in logs of data nodes."""
    severities: frozenset[str] = frozenset(SEVERITIES) - {"DEBUG"}
    is_logging: bool = True
    levels: dict[tuple[int, str], int] = field(default_factory=dict)
    """Of a node and a category, where it is not the usual one."""
    single_user: int | None = None
    """The API node that alone has access."""
    mode_changes: bool = False
    """Single user mode is being entered."""
    backup: BackupRun | None = None
    backups: tuple[BackupRun, ...] = ()
    """Those that are over."""
    last_backup: int = 0
    gci: int = 1
    gcp_done_s: float = 0.0
    """When the last global checkpoint was completed."""
    gcp_told_s: float = 0.0
    """When the last warning about one that waits came."""
    lcp_id: int = 1
    lcp_writes: bool = False
    memory_told: dict[int, int] = field(default_factory=dict)
    """Threshold of DataMemory that each node last told of."""
    memory_quiet: dict[int, QuietMemory] = field(default_factory=dict)
    struck: dict[str, int] = field(default_factory=dict)
    """Processes that fail at this moment, and the error they end with; 0: they are killed or silent."""
    silent: dict[int, float] = field(default_factory=dict)
    """Node ids that are silent and not yet noticed, and since when."""
    judged: int = 0
    """Judgements of the simulation that are told of."""
    starts: dict[int, float] = field(default_factory=dict)
    """When the simulation began the last start of each data node that is told of."""
    arbitrator: int | None = None
    """The one that the log last told of."""
    losses: dict[int, int] = field(default_factory=dict)
    """SQL and API nodes that were connected since they started, and how often they lost all data nodes."""
    elections: int = 1
    """How often an arbitrator was looked for."""
    ticket: str = ""
    """Of the last election, which the president has."""
    ticket_told: str = ""
    """Of the last arbitrator that was started, which all have."""
    growth: NodesCome | None = None
    """What reorganising gives to the reserved data nodes; None: there are none that get rows."""
    ids: Ids = field(default_factory=dict)
    """Numbers of what the dictionary of the data nodes has."""
    databases: frozenset[str] = frozenset()
    """Databases that somebody made or that are there without tables."""
    emptied: frozenset[Tablespace] = frozenset()
    """Tablespaces that have no file any more, with the last one that they had."""
    rows_typed: dict[str, int] = field(default_factory=dict)
    """Rows that were typed in at consoles, or less, by the id of their table."""
    typed_pages: dict[str, TypedPages] = field(default_factory=dict)
    """What they have of each data node, by the id of their table."""
    running: dict[int, Running] = field(default_factory=dict)
    """Statements that take their time, by the number of their session; those that are done are among them."""
    killed: dict[int, int] = field(default_factory=dict)
    """How often the connection of a session was ended by KILL."""
    counted_from: dict[str, float] = field(default_factory=dict)
    """Transactions committed before a table was made or emptied, by the id of the table."""
    contents: dict[str, Contents] = field(default_factory=dict)
    """Rows that are known, by the id of their table."""
    local: tuple[LocalTable, ...] = ()
    """Tables of InnoDB, which SQL nodes have each for itself."""
    transactions: dict[int, Transaction] = field(default_factory=dict)
    """Those that are open, by the number of their session."""
    waits: dict[int, Waiting] = field(default_factory=dict)
    """Statements that wait for what others have locked, by the number of their session."""
    backup_asked: tuple[int, bool] | None = None
    """What was asked of a backup that begins when single user mode ends (8.x): number and `of_begin`."""
    moved: frozenset[str] = frozenset()
    """Ids of the tables that are reorganised, while others are not yet."""
    edited: ParameterChange | None = None
    """What the file of the management server has else, and no server has read yet."""
    served: ParameterChange | None = None
    """What the servers read last, and give to nodes that start."""
    configured: frozenset[int] = frozenset()
    """Data nodes that have started with it."""
    generation: int = 1
    """Of the configuration that the servers have."""
    of_servers: OfServers = NOTHING_SET
    generations: dict[int, int] = field(default_factory=dict)
    """That with which each data node started; 1 where none is named."""
    observer: Observer | None = None

    @classmethod
    def at_rest(cls, plan: Plan, begin: datetime) -> Self:
        """All that has a node group is started; reserved data nodes do not run."""
        groups = node_group_ids(plan)
        inside = [i for i, group in sorted(groups.items()) if group != NODE_GROUP_NONE]
        nodes = {
            i: NodeState(Status.STARTED, 0, 0, True) if groups[i] != NODE_GROUP_NONE else NodeState()
            for i in sorted(groups)
        }
        servers = frozenset(node.node_id for node in plan.management_nodes)
        used, joined = frozenset(groups[i] for i in inside), {i: n for n, i in enumerate(inside, 1)}
        return cls(
            plan, begin, nodes, dict(groups), used, joined, frozenset(inside), servers=servers,
            ids=ids_of(plan),
        )  # fmt: skip

    def copy(self) -> Self:
        """The same, to go on apart."""
        return replace(
            self,
            nodes=self.nodes.copy(),
            groups=self.groups.copy(),
            joined=self.joined.copy(),
            waiting=self.waiting.copy(),
            log=self.log.copy(),
            node_logs=self.node_logs.copy(),
            levels=self.levels.copy(),
            memory_told=self.memory_told.copy(),
            memory_quiet=self.memory_quiet.copy(),
            struck=self.struck.copy(),
            silent=self.silent.copy(),
            starts=self.starts.copy(),
            generations=self.generations.copy(),
            losses=self.losses.copy(),
            links=self.links.copy(),
            rows_typed=self.rows_typed.copy(),
            typed_pages=self.typed_pages.copy(),
            contents=self.contents.copy(),
            transactions=self.transactions.copy(),
            waits=self.waits.copy(),
            running=self.running.copy(),
            killed=self.killed.copy(),
            counted_from=self.counted_from.copy(),
            observer=None if self.observer is None else self.observer.copy(),
        )

    # Who there is.

    @property
    def release(self) -> Release:
        """What the programs call themselves."""
        return release_of(self.plan.version)

    @property
    def president(self) -> int | None:
        """The data node that leads: of those that run the one that joined first."""
        return next((i for i in self.joined if self.nodes[i].status in ANSWERS), None)

    @property
    def first_joined(self) -> int | None:
        """The data node that leads, also while all of them start."""
        runs = (Status.NOT_CONNECTED, Status.NOT_STARTED)
        return next((i for i in self.joined if self.nodes[i].status not in runs), None)

    @property
    def server(self) -> int | None:
        """The management node that clients are connected to: the first that runs."""
        return min(self.servers, default=None)

    def alive(self) -> list[int]:
        """Data nodes whose data can be read, in node-id order."""
        return [i for i, node in self.nodes.items() if node.status in ANSWERS and not node.hangs]

    def process_number(self, node_id: int) -> int:
        """What the system calls the process of a node, and its first thread."""
        starts = self.nodes[node_id].attempt if node_id in self.nodes else 0
        return 20000 + 100 * node_id + _PIDS_A_START * starts

    def process(self, node_id: int) -> Process | None:
        """The process of a node id of any kind."""
        return next((p for p in self.plan.processes if node_id in process_node_ids(p)), None)

    def data_node(self, node_id: int) -> DataNode | None:
        """The data node of an id."""
        found = self.process(node_id)
        return found if isinstance(found, DataNode) else None

    def address(self, node_id: int) -> str:
        """Name of the host of a node."""
        process = self.process(node_id)
        host_id = None if process is None else process.host_id
        return self.plan.host(host_id).hostname if host_id is not None else "any host"

    def seen_at(self, node_id: int) -> str:
        """Name of the host that a connected node comes from; a program that may be anywhere is on the first
        host without a data node [assumed: any host would do]."""
        process = self.process(node_id)
        if process is not None and process.host_id is not None:
            return self.address(node_id)
        busy = {node.host_id for node in self.plan.data_nodes}
        return min(self.plan.hosts, key=lambda host: host.id in busy).hostname

    def group(self, node_id: int) -> int | None:
        """The node group of a data node; None: it has none."""
        group = self.groups[node_id]
        return None if group == NODE_GROUP_NONE else group

    # What sessions see.

    def deltas(self, session: int, table_id: str) -> list[Delta]:
        """What a session has changed in a table and not committed; EVERYONE: what all of them have."""
        seen = self.transactions if session == EVERYONE else {session} & self.transactions.keys()
        return [self.transactions[one].deltas.get(table_id, NO_DELTA) for one in sorted(seen)]

    def contents_for(self, session: int, table_id: str) -> Contents:
        """What a session finds in a table."""
        found = self.contents.get(table_id, NOTHING)
        for delta in self.deltas(session, table_id):
            found = with_delta(found, delta)
        return found

    def typed_for(self, session: int, table_id: str) -> int:
        """Rows more that a session finds in a table than nobody typed."""
        more = sum(delta.rows for delta in self.deltas(session, table_id))
        return self.rows_typed.get(table_id, 0) + more

    # What changes.

    def join(self, node_id: int) -> None:
        """A data node joins the others, behind all of them."""
        self.joined.pop(node_id, None)
        for other in self.joined:
            self.links[other, node_id] = self.linked(other, node_id) + 1
        for other in self.nodes:
            self.links.pop((node_id, other), None)
            if other not in self.joined:
                self.links[node_id, other] = 0
        self.joined[node_id] = max(self.joined.values(), default=0) + 1
        self.members |= {node_id}

    def linked(self, node_id: int, other: int) -> int:
        """How often a data node was connected to another one since it started."""
        return self.links.get((node_id, other), int(other in self.members))

    def join_together(self, node_ids: Iterable[int]) -> None:
        """Data nodes start together, and nobody runs beside them: none of them restarts by itself."""
        self.joined, self.links = {i: place for place, i in enumerate(node_ids, 1)}, {}
        for node_id in self.nodes:
            self.change(node_id, restart_status=NO_RESTART)
        self.members = frozenset(self.joined)

    def elect(self, at_s: float) -> str:
        """The ticket of another election: process and count of the president, and its clock in ms."""
        first = int(form(self.plan.version, "first_ticket"))
        process, count = self.process_number(self.president or 0), first + self.elections
        self.elections += 1
        self.ticket = f"{process & 0xFFFF:04x}{count & 0xFFFF:04x}{round((at_s + _UP_S) * 1000):08x}"
        return self.ticket

    def change(self, node_id: int, **changes: object) -> NodeState:
        """Give a data node another state."""
        self.nodes[node_id] = self.nodes[node_id]._replace(**changes)  # type: ignore[arg-type]  # names of fields
        return self.nodes[node_id]

    def level(self, node_id: int | None, category: str) -> int:
        """What the cluster log takes of a node and category: levels up to this."""
        return self.levels.get((node_id or 0, category), default_levels()[category])

    def say(self, at_s: float, key: str, node_id: int | None, **values: object) -> None:
        """Write a line into the cluster log, if there is a server that keeps it and it is wanted."""
        line = line_of(key, at_s, node_id, self.plan.version, **values)
        if line is not None and node_id is not None and key in in_node_logs(self.plan.version):
            self.tell(at_s, node_id, line.text, line.severity)
        if line is None or not self.servers or not self.is_logging or line.severity not in self.severities:
            return
        if line.level <= self.level(node_id, line.category):
            self.log.append(line)

    def all_say(self, at_s: float, key: str, nodes: Iterable[int], **values: object) -> None:
        """The same line of several nodes."""
        for node_id in nodes:
            self.say(at_s, key, node_id, **values)

    def tell(self, at_s: float, node_id: int, text: str, severity: str = "INFO") -> None:
        """Write a line into the log of a data node."""
        self.node_logs.append(NodeLine(at_s, node_id, text, severity))


def state_of(sim: Simulation) -> ClusterState:
    """What the processes of a simulated cluster know."""
    assert isinstance(sim.beside, ClusterState)
    return sim.beside
