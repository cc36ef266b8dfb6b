"""Who is alive in a run, who sees whom, and since when: the state that failures change.

What becomes of the cluster is for the product's rules to say (ndb/survival.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import product

from ndbplan.configuration.failures import Damage, Failures, Judged
from ndbplan.configuration.settings import node_settings, settings_by_node
from ndbplan.ndb.heartbeat_ring import most_in_a_row, stated_ring
from ndbplan.ndb.survival import (
    Arbitration,
    Outcome,
    Running,
    Side,
    decide,
    handled_s,
    in_a_row,
    killed_after_s,
    silent_after_s,
)
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, Process, SqlNode, process_node_ids
from ndbplan.simulate.stop import ClusterStop, DownTime, system_restart_s

Span = tuple[float, float, float]
"""Seconds: least, likely, most."""


@dataclass
class Loss:
    """What failed and is not yet judged."""

    since_s: float
    due: Span
    """Moments at which it is judged: earliest, likely, latest."""
    silent: dict[int, bool] = field(default_factory=dict)
    """By node id of what is lost: whether it fell silent, or its connections broke at once."""
    hidden: set[int] = field(default_factory=set)
    """Data nodes that run out of the sight of those that go on."""
    waited: bool = False
    """The question was asked, and ArbitrationTimeout is over."""
    back: set[int] = field(default_factory=set)
    """Management and API nodes that were started again meanwhile: they connect once it is judged."""


@dataclass
class Outage:
    """Processes that are down, cuts of the network, and the cluster as its data nodes see it."""

    failures: Failures
    """Of the plan as it is now: nodes that are added later are not in it."""
    running: Running
    held: dict[str, set[int]] = field(default_factory=dict)
    """Numbers of the events that keep a process down, by its id."""
    cuts: dict[int, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)
    """Ids of the hosts of both sides, by the number of the event; no other side: all other hosts."""
    striking: dict[str, bool] = field(default_factory=dict)
    """Processes that fail at this moment; whether silently."""
    loss: Loss | None = None
    lost: set[int] = field(default_factory=set)
    """Node ids of the data nodes that do not run: killed, silent, or stopped by themselves."""
    attempts: dict[str, int] = field(default_factory=dict)
    """How often each data node was started or lost: what was planned for an earlier start does not happen."""
    stop: ClusterStop | None = None
    spells: dict[str, list[DownTime]] = field(default_factory=dict)

    @classmethod
    def fresh(cls, plan: Plan) -> Outage:
        """Everything up."""
        failures = Failures(plan)
        return cls(failures=failures, running=failures.running)

    def copy(self) -> Outage:
        """The same, to go on apart."""
        loss = self.loss and replace(
            self.loss,
            silent=self.loss.silent.copy(),
            hidden=self.loss.hidden.copy(),
            back=self.loss.back.copy(),
        )
        return replace(
            self,
            held={process_id: numbers.copy() for process_id, numbers in self.held.items()},
            cuts=self.cuts.copy(),
            striking=self.striking.copy(),
            loss=loss,
            lost=self.lost.copy(),
            attempts=self.attempts.copy(),
            spells={object_id: spells.copy() for object_id, spells in self.spells.items()},
        )

    @property
    def plan(self) -> Plan:
        """The plan as it is now."""
        return self.failures.plan

    def grow(self, plan: Plan) -> None:
        """Data nodes were added and are started: from now on they count."""
        self.failures = Failures(plan)
        old = self.running
        new = self.failures.cluster.data_nodes - old.started - old.starting
        self.running = replace(old, started=old.started | (new - self.lost))

    def is_down(self, process_id: str) -> bool:
        """Whether an event keeps a process down."""
        return bool(self.held.get(process_id))

    def hold(self, number: int, process_ids: Iterable[str]) -> None:
        for process_id in process_ids:
            self.held.setdefault(process_id, set()).add(number)

    def release(self, number: int, process_ids: Iterable[str]) -> None:
        for process_id in process_ids:
            self.held.get(process_id, set()).discard(number)

    def sees(self, one: Process, other: Process) -> bool:
        """Whether no cut is between two processes."""
        for here, there in self.cuts.values():
            for a, b in ((one.host_id, other.host_id), (other.host_id, one.host_id)):
                if a in here and (b in there if there else b not in here):
                    return False
        return True

    def process_of(self, node_id: int) -> Process:
        """The process with a node id."""
        return next(p for p in self.plan.processes if node_id in process_node_ids(p))

    def damage(self) -> Damage:
        """What was lost since the last judgement, and what is cut now."""
        apart: set[frozenset[int]] = set()
        links: set[frozenset[str]] = set()
        for here, there in self.cuts.values():
            if there:
                links |= {frozenset(pair) for pair in product(here, there)}
            else:
                apart.add(
                    frozenset(
                        node_id
                        for process in self.plan.processes
                        if process.host_id in here
                        for node_id in process_node_ids(process)
                    )
                )
        dead = self.loss.silent.keys() if self.loss is not None else ()
        return Damage(frozenset(dead), frozenset(apart), frozenset(links))

    def judged(self, at_s: float) -> Judged:
        """What becomes of the cluster with what is lost and cut now."""
        return self.failures.after(self.running, self.damage(), at_s)

    def goes_down(self, object_id: str, at_s: float) -> None:
        """Note since when something does not run."""
        spells = self.spells.setdefault(object_id, [])
        if not spells or spells[-1].to_s is not None:
            spells.append(DownTime(object_id, at_s))

    def comes_up(self, object_id: str, at_s: float) -> None:
        """Note until when something did not run."""
        spells = self.spells.get(object_id)
        if spells and spells[-1].to_s is None:
            spells[-1] = replace(spells[-1], to_s=at_s)

    def down_times(self) -> tuple[DownTime, ...]:
        """Every spell in which something did not run, earliest first."""
        every = [spell for spells in self.spells.values() for spell in spells]
        return tuple(sorted(every, key=lambda spell: (spell.from_s, spell.object_id)))

    def stop_with_restart(self) -> ClusterStop | None:
        """The stop of the cluster with what a system restart would take."""
        if self.stop is None:
            return None
        return replace(self.stop, system_restart_s=system_restart_s(self.plan))

    # How long until a loss is noticed.

    def noticed(
        self, silent_data: Collection[int], seeing: Collection[int], killed: bool, silent_others: bool
    ) -> Span:
        """Seconds until the data nodes know of a loss and have decided.

        Silent data nodes are declared dead by missed heartbeats of their neighbours, those that are left
        (`seeing`), in a ring whose order is known where HeartbeatOrder states it; management and API nodes by
        their own heartbeats; connections of killed processes break at once.
        Source: resources/ndb/survival.json, detection.
        """
        span = (0.0, 0.0, 0.0)
        if killed:
            low, high = killed_after_s()
            span = (low, (low + high) / 2.0, high)
        if silent_others and not silent_data:
            span = later_of(span, self._silent("HeartbeatIntervalDbApi"))
        if silent_data:
            check = node_settings(self.plan).number("ConnectCheckIntervalDelay")
            turns = self._turns(silent_data, seeing)
            span = later_of(span, self._silent("HeartbeatIntervalDbDb", turns, check))
        return added(span, handled_s())

    def _turns(self, silent: Collection[int], seeing: Collection[int]) -> tuple[int, int, int]:
        """How many silent data nodes are noticed one after the other: least, likely and most."""
        settings, there = settings_by_node(self.plan), {*silent, *seeing}
        ring = stated_ring({i: settings[i].number("HeartbeatOrder") for i in settings})
        if ring is None or not seeing:
            return in_a_row(len(silent), len(seeing))
        found = most_in_a_row([i for i in ring if i in there], silent)
        return found, found, found

    def _silent(self, name: str, turns: tuple[int, int, int] = (1, 1, 1), check: int = 0) -> Span:
        return silent_after_s(node_settings(self.plan).number(name), turns, check)

    def waits_s(self, found: Judged) -> float:
        """How long the data nodes wait for the answer to their question: ArbitrationTimeout, or not at all.

        An arbitrator that is out of sight or silent does not answer, and under WaitExternal nobody is asked
        but the time is waited for. One that is known to be gone costs nothing. Source:
        resources/ndb/survival.json.
        """
        cluster, side = self.failures.cluster, found.best
        if cluster.nobody_arbitrates or not side.survivors:
            return 0.0
        due, _ = decide(cluster.rule, cluster.groups.values(), self.running.started, side.survivors)
        if due is not Outcome.ASKS:
            return 0.0
        silent = self.loss is not None and self.loss.silent.get(self.running.arbitrator or 0, False)
        unanswered = side.verdict.outcome is Outcome.STOPS and (silent or side.verdict.asked is not None)
        if cluster.arbitration is Arbitration.WAIT_EXTERNAL or unanswered:
            return node_settings(self.plan).number("ArbitrationTimeout") / 1000.0
        return 0.0

    def winner(self, found: Judged) -> Side | None:
        """The side that the run goes on with: the largest that goes on; None: all stop."""
        going = [side for side in found.sides if side.after is not None]
        return min(going, key=lambda side: (-len(side.survivors), min(side.survivors)), default=None)


def added(span: Span, more: Span) -> Span:
    """The sum of two times."""
    return span[0] + more[0], span[1] + more[1], span[2] + more[2]


def later_of(one: Span, other: Span) -> Span:
    return max(one[0], other[0]), max(one[1], other[1]), max(one[2], other[2])


def clients_of(plan: Plan) -> tuple[Process, ...]:
    """Processes that clients send through: SQL nodes, or API slots where there are none."""
    return plan.sql_nodes or plan.api_slots


def name_of(process: Process) -> str:
    """`node 3`, `SQL node 49`."""
    if isinstance(process, DataNode):
        return f"node {process.node_id}"
    kind = "SQL node" if isinstance(process, SqlNode) else f"{process.kind} node"
    return f"{kind} {process.node_id}"
