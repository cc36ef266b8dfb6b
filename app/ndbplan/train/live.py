"""A live cluster: a simulated one to which things happen, and whose processes and logs say what they know.

    cluster = LiveCluster.begin(plan)
    cluster.advance(60.0)
    cluster.act(Kill("n3"))                  # a failure, or an order; None, or why it cannot be
    cluster.state.nodes[3].status            # what the management server says of it
    cluster.log_text()                       # the cluster log so far
    cluster.rewind(30.0)

Whoever gives the same orders at the same moments of the same plan finds the same, to the byte.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import floor
from typing import NamedTuple

from ndbplan.configuration.deployment import management_directory
from ndbplan.configuration.directories import disk_of_path
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb.cluster_log import LogLine, written
from ndbplan.plan.events import Event, NodesAdded
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ManagementNode
from ndbplan.plan.tables import Table
from ndbplan.simulate.events.handlers import Asked, Order, dues_of, planned
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.model.start import MOST_BUCKETS
from ndbplan.simulate.model.workload import workload_or_idle
from ndbplan.simulate.moment import Moment, moment_of, within
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import Course
from ndbplan.simulate.session import Act, Refusal, Session
from ndbplan.simulate.simulation import Due, in_order
from ndbplan.simulate.steps import Watch
from ndbplan.train import (
    backups,
    configuring,
    dumps,
    growing,
    orders,
    schema,
    starts,
    stops,
    transacting,
)
from ndbplan.train.contents import Held
from ndbplan.train.locks import NOBODY
from ndbplan.train.lying import lies_by
from ndbplan.train.state import ClusterState, Observer, state_of
from ndbplan.train.watching import Begins, Look, Watching

Script = Callable[["LiveCluster"], Iterable[tuple[float, "Event | Order"]]]
"""What is to happen to a cluster, and when."""
KINDS = (backups, configuring, dumps, growing, orders, schema, starts, stops, transacting)
"""Whose handlers there are."""
LONGEST_H = 24.0
LOOKS_EVERY_S = 0.1
"""How often a console looks whether what it waits for is there."""
BEGIN = datetime(2026, 1, 5, 8, 0, 0)
"""What the clocks of the cluster show at the start: a Monday morning."""
SHORT_S = 0.5
"""What lasts no longer is answered at once."""
MOST_CELLS = 4_000_000
"""Moments times log parts that are recorded at most: beyond it a moment lasts longer than a second."""


@dataclass(frozen=True)
class Later(Order):
    """Something that happens at its own moment."""

    when_s: float
    what: Event | Order


@planned(Later)
def later(order: Later, asked: Asked) -> Iterable[Due]:
    """As if it were asked for then."""
    what = order.what
    then = (
        replace(what, at_s=order.when_s)
        if isinstance(what, Order)
        else what.model_copy(update={"at_s": order.when_s})
    )
    return dues_of(then, asked)


class SqlSession(NamedTuple):
    """A session of a mysql client, after its last statement."""

    database: str
    """The one in use; empty: none."""
    last_s: float
    node_id: int
    """The SQL node that it is connected to."""
    killed: int
    """How often it had been ended by KILL."""
    counts: Mapping[str, int]
    """Its statements, by what counts them; `all` of them."""


class Hold(NamedTuple):
    """What a statement waits for that has begun."""

    is_done: Callable[[LiveCluster], bool]
    ends: Callable[[LiveCluster, str], str]
    """What is printed then, of what would be printed at once. Raises SqlError."""
    stops: Callable[[LiveCluster], None] | None = None
    """What KILL QUERY does; None: the data nodes go on, and so does the client."""
    until_s: float = 0.0
    """When it is done, where that is known."""


def time_passes(until_s: float, stops: Callable[[LiveCluster], None] | None = None) -> Hold:
    """Nothing but time is waited for."""
    return Hold(lambda now: now.now_s >= until_s - 1e-9, lambda _now, text: text, stops, until_s)


class LiveCluster:
    """A cluster under way. Raises SimulationError for a plan that cannot be simulated."""

    def __init__(self, session: Session, begin: datetime) -> None:
        self.session, self._begin = session, begin
        self._result: tuple[int, int, SimulationResult] | None = None
        self.watch: Watch | None = None
        """Who looks at it while time passes, and may stop that by Cancelled; not with a branch."""
        self.attendant: Callable[[], None] | None = None
        """Who goes on with statements that wait, as soon as they may; not with a branch."""
        self.apart = False
        """What waits at a console holds nobody up: its answer comes as time passes."""
        self.looks: dict[str, float] = {}
        """What is under way at consoles, and since when; the same for all who look at the cluster."""
        self.holds: list[Hold] = []
        """What the statement waits for that was answered last, if it is under way; the same for all."""
        self.past_holds: list[Hold] = []
        """What it waited for, if that is there already; the same for all."""
        self.returned: Callable[[], None] | None = None
        """Who is told that time went back; not with a branch."""
        self._turns: set[str] = set()
        """What is being done: nothing, or statements go on; the same for all who look at the cluster."""
        self.sql_session = NOBODY
        """By whose eyes tables are looked at."""
        self.sql_modes: frozenset[str] | None = None
        """Those of that session; None: as servers have them by themselves."""
        self.sessions: dict[int, SqlSession] = {}
        """Sessions of mysql clients that are connected, by their numbers."""

    @classmethod
    def begin(
        cls,
        plan: Plan,
        workload_id: str | None = None,
        *,
        hours: float = 2.0,
        seed: int = 1,
        begin: datetime = BEGIN,
        step_s: float = 0.1,
        script: Script | None = None,
        observer: Observer | None = None,
        reserved: int = 0,
    ) -> LiveCluster:
        """All data nodes with a node group are started, and clients send what the workload says.

        Of a plan without a workload they send nothing.

        `script` is asked before the first moment passes: what it gives happens when it says.
        `reserved`: so many node groups more are configured, as the last one, and do not run; those of the
        plan's own nodes without a node group are among them.
        """
        seconds = min(hours, LONGEST_H) * 3600.0
        now = Estimation(plan, workload_or_idle(plan, workload_id))
        reserved = max(reserved, growing.groups_set_apart(plan))
        added = (NodesAdded(at_s=0.0, groups=reserved),) if reserved else ()
        story = Course(now, added, step_s, seed, every_node=True, every_disk=True).story(seconds)
        growth = None
        if reserved:
            story, growth, plan = growing.set_apart(story, plan)
        dues = (Due(0.0, Begins(), of_cluster=False), Due(1.0, Look(), of_cluster=False, is_look=True))
        story = story._replace(dues=in_order([*story.dues, *dues]))
        beside = Watching.at_rest(plan, begin)
        buckets = min(int(seconds), max(MOST_BUCKETS, MOST_CELLS // max(1, story.scenario.laws.load.size)))
        beside.observer, beside.growth = observer, growth
        cluster = cls(Session(story, beside=beside, most_buckets=buckets), begin)
        for at_s, what in () if script is None else script(cluster):
            refused = cluster.act(Later(at_s, what))
            if refused is not None:
                raise SimulationError(
                    refused.text, where="events", fix=refused.fix or "name what the plan has"
                )
        cluster.advance(step_s)
        return cluster

    @property
    def plan(self) -> Plan:
        """The plan as it is now."""
        return self.state.plan

    @property
    def state(self) -> ClusterState:
        """What its processes know now; for looking at."""
        return state_of(self.session.simulation)

    @property
    def now_s(self) -> float:
        """Simulated seconds since the start."""
        return self.session.now_s

    @property
    def clock(self) -> datetime:
        """What the clocks of the cluster show."""
        return self._begin + timedelta(seconds=self.now_s)

    @property
    def clients(self) -> frozenset[int]:
        """Ids of the SQL and API nodes that are connected."""
        state = self.state
        assert isinstance(state, Watching)
        return state.clients

    def plan_of(self, table: Table) -> Plan:
        """The plan by which the rows of a table lie: one that is reorganised lies on new nodes already."""
        return lies_by(self.session.simulation, table)

    def plan_host(self, name: str) -> str:
        """Id of the host with a name or id. Raises KeyError."""
        return next(host.id for host in self.plan.hosts if name in (host.hostname, host.id))

    @property
    def is_over(self) -> bool:
        """Whether the session's time is up."""
        sim = self.session.simulation
        return sim.step >= sim.scenario.steps

    @property
    def history(self) -> tuple[Act, ...]:
        """What was done to it, earliest first."""
        return self.session.history

    def advance(self, seconds: float) -> None:
        """Let so much time pass, until the end of the session at most."""
        step_s = self.session.simulation.scenario.step_s
        end_s = self.now_s + max(0.0, seconds)
        while self._is_attended and not self.is_over and end_s - self.now_s > step_s / 2:
            self.session.advance(min(end_s, self._next_turn_s()) - self.now_s, self.watch)
            self.attend()
        self.session.advance(end_s - self.now_s, self.watch)

    def _next_turn_s(self) -> float:
        """The next moment at which a statement that waits may go on: something happens, or it is given up."""
        sim = self.session.simulation
        dues = [due.at_s + sim.scenario.step_s for due in sim.due[:1]]
        given_up = (one.until_s for one in self.state.waits.values())
        next_looks = (
            since_s + (floor((self.now_s - since_s) / LOOKS_EVERY_S + 1e-6) + 1) * LOOKS_EVERY_S
            for since_s in self.looks.values()
        )
        return max(self.now_s + sim.scenario.step_s, min([*dues, *given_up, *next_looks]))

    @property
    def takes_turns(self) -> bool:
        """Statements that waited go on: none of them lets time pass for the others."""
        return bool(self._turns)

    @property
    def _is_attended(self) -> bool:
        """Statements wait, and somebody goes on with them who is not at it already."""
        waits = bool(self.state.waits or self.looks)
        return self.attendant is not None and waits and not self._turns

    def attend(self) -> None:
        """Go on with statements that waited and need not any more."""
        if self.attendant is not None and self._is_attended:
            self._turns.add("statements")
            try:
                self.attendant()
            finally:
                self._turns.clear()

    def lets_pass(
        self, seconds: float, hold: Callable[[float], Hold] = time_passes, *, at_once_s: float = SHORT_S
    ) -> bool:
        """Let the time of a statement pass; True: it is under way, as others are not held up by it.

        `hold` says what is waited for until a moment. Parts of one statement follow one another.
        """
        step_s = self.session.simulation.scenario.step_s
        seconds = round(seconds / step_s) * step_s
        one = hold(max([self.now_s, *(part.until_s for part in self.holds)]) + seconds)
        if seconds > 0.0 and (self._turns or (self.apart and seconds > at_once_s)):
            self.holds.append(one)
            return True
        self.past_holds.append(one)
        self.advance(seconds)
        return False

    def advance_until(
        self, reached: Callable[[LiveCluster], bool], at_most_s: float, every_s: float = LOOKS_EVERY_S
    ) -> bool:
        """Let time pass until something is so; False: it was not within that time."""
        end_s = self.now_s + at_most_s
        while not reached(self):
            if self.now_s >= end_s - 1e-9 or self.is_over:
                return False
            self.advance(min(every_s, end_s - self.now_s))
        return True

    def act(self, what: Event | Order) -> Refusal | None:
        """A failure or an order, now; or why it cannot be."""
        return self.session.act(what)

    def rewind(self, to_s: float) -> None:
        """Go back: what was done from then on has not happened, and what was under way goes on."""
        self.session.rewind(max(to_s, self.session.simulation.scenario.step_s))
        if self.returned is not None:
            self.returned()
        self.attend()

    def branch(self) -> LiveCluster:
        """The same moment once more, which goes on apart from this one."""
        other = LiveCluster(self.session.branch(), self._begin)
        other.apart = self.apart
        return other

    def seen_by(self, session: int) -> LiveCluster:
        """The same cluster by the eyes of an SQL session: what is committed, and its own changes."""
        if session == self.sql_session:
            return self
        other = copy.copy(self)
        other.sql_session = session
        return other

    def held(self, table: Table) -> Held:
        """The rows of a table now, as far as they are known and the session sees them."""
        return schema.held_rows(self.session.simulation, table, self.sql_session)

    def rows_of(self, table: Table) -> int:
        """How many rows of a table the session sees."""
        return schema.rows_of(self.session.simulation, table, self.sql_session)

    def result(self) -> SimulationResult:
        """What was found so far."""
        key = (self.session.simulation.step, self.session.simulation.number)
        if self._result is None or self._result[:2] != key:
            self._result = (*key, self.session.result())
        return self._result[2]

    def moment(self) -> Moment:
        """What the cluster looks like now."""
        return moment_of(self.result(), max(0.0, self.now_s - 1e-6))

    def log_text(self, last: int | None = None) -> str:
        """The cluster log, or its last lines."""
        begin = 0 if last is None else max(0, len(self.state.log) - last)
        return "".join(f"{line}\n" for line in self.log_lines(begin))

    def log_lines(self, begin: int = 0) -> list[str]:
        """Lines of the cluster log, from one on."""
        servers = self.plan.management_nodes
        return [written(line, self._begin) for line in self.log_file(servers[0] if servers else None, begin)]

    def log_file(self, server: ManagementNode | None, begin: int = 0) -> list[LogLine]:
        """What stands in the cluster log of a management server, from a line on.

        What was said while its disk was full is not in there: it goes on without [assumed: nobody looks at
        what became of a line that was written].
        """
        lines, full = self.state.log[begin:], self.session.simulation.full_disks
        if server is None or not full:
            return lines
        folder = management_directory(self.plan, server)
        disk_id = disk_of_path(self.plan.host(server.host_id).disks, folder)
        return [line for line in lines if disk_id not in within(full, line.at_s)]
