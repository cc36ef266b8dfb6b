"""A run under way: its world, what was recorded of it, who is alive, and what is still due.

All that a run remembers is here, as values: a copy is a snapshot, and goes on as the original does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ndbplan.base.row_types import Floats, column
from ndbplan.configuration.failures import Judged
from ndbplan.estimate.times.copy_links import SlowLink
from ndbplan.ndb.survival import Running
from ndbplan.plan.events import Event
from ndbplan.simulate.model.load_over_time import Service
from ndbplan.simulate.model.page_cache import PageCache
from ndbplan.simulate.model.scenario import Scenario
from ndbplan.simulate.model.slow_links import slow_send_buffered, slow_services
from ndbplan.simulate.model.start import MOST_BUCKETS, StartState, first_history, first_world
from ndbplan.simulate.outage import Outage
from ndbplan.simulate.series import Restart
from ndbplan.simulate.stop import DownTime, LinkTime, ReorganiseTime, SlowTime
from ndbplan.simulate.world.indices import OfCluster, Part
from ndbplan.simulate.world.laws import Laws, Run
from ndbplan.simulate.world.state import State
from ndbplan.simulate.world.world import History, World

JOB_REST = 1e-6
"""Share of a job's rows that rounding may leave."""


class Due(NamedTuple):
    """Something that happens at a moment: a value, which `events.happen` finds the handler of."""

    at_s: float
    event: object
    last: bool = False
    """After everything else of the same moment: what fails at one moment fails at once."""
    of_cluster: bool = True
    """It concerns the data nodes: nothing of it happens after the cluster stopped."""
    is_look: bool = False
    """It only looks at the run, and is no reason to wait for it."""

    @property
    def order(self) -> tuple[float, bool]:
        """Events happen in this order; those that are equal as they were asked for."""
        return self.at_s, self.last


class Judgement(NamedTuple):
    """A loss that the data nodes noticed, and what became of it."""

    at_s: float
    before: Running
    """The cluster just before the loss."""
    found: Judged


class Beside(Protocol):
    """What somebody notes beside a run as it goes on; copied with it, so that it goes back with it."""

    def copy(self) -> Beside:
        """The same, to go on apart."""

    def saw(self, simulation: Simulation, due: Due) -> None:
        """Something has just happened."""

    def acted_on(self, simulation: Simulation) -> None:
        """Somebody acts now, and what comes of it has not happened yet."""


class Story(NamedTuple):
    """What a run begins with, and what is to happen in it."""

    scenario: Scenario
    grown: Scenario
    """The same once node groups are added that an event adds; else the scenario itself."""
    dues: tuple[Due, ...] = ()
    absent: frozenset[str] = frozenset()
    """Ids of the data nodes that are not there yet."""
    events: tuple[Event, ...] = ()
    """What the plan says is to happen."""
    reserved: frozenset[str] = frozenset()
    """Ids of the data nodes that are configured, have no rows and do not run."""


@dataclass
class Simulation:
    """One run: where it is, and what it found so far."""

    story: Story
    scenario: Scenario
    world: World
    history: History
    start: StartState = field(default_factory=StartState)
    step: int = 0
    """Steps that are done."""
    now_s: float = 0.0
    """The step at which the last event happened."""
    at_s: float = 0.0
    """The moment of that event; steps round it."""
    look_at_step: int = 0
    """When reads of disks, or the places of loaders, are worked out anew."""
    reads_at_step: int = 0
    """When reads are."""
    page_cache: PageCache | None = None
    is_grown: bool = False
    """Added nodes have their share of the rows."""
    due: list[Due] = field(default_factory=list)
    number: int = 0
    """Events that were asked for so far."""
    asked: list[Event] = field(default_factory=list)
    """Those that somebody asked for while it ran."""
    bursts: dict[int, float] = field(default_factory=dict)
    """Factor of each burst under way, by the number of its event."""
    made_at_death: dict[int, float] = field(default_factory=dict)
    """Log that the other nodes of its group had made when a node died."""
    copy_goal: dict[int, float] = field(default_factory=dict)
    """Log of copying that a node has made when it has its rows."""
    not_durable: dict[int, frozenset[str]] = field(default_factory=dict)
    """Nodes of the running turn of a rolling restart that are not durable again, by number of its event."""
    restarts: list[Restart] = field(default_factory=list)
    happened: list[tuple[float, str]] = field(default_factory=list)
    settings: list[tuple[float, Run]] = field(default_factory=list)
    """Settings of the run from a moment on, where they change."""
    slowed: list[SlowTime] = field(default_factory=list)
    """Disks that lost speed, as the events came."""
    link_times: list[LinkTime] = field(default_factory=list)
    """Links that were slow or cut, or are."""
    full_disks: list[DownTime] = field(default_factory=list)
    """Disks that were full, or are."""
    lost_devices: dict[str, int] = field(default_factory=dict)
    """Devices that each disk is without."""
    reorganising: list[ReorganiseTime] = field(default_factory=list)
    """When rows are moved to added nodes."""
    standing: list[tuple[float, float]] = field(default_factory=list)
    """From when to when every transaction stood still; infinite: it still does."""
    stopped_s: float = math.inf
    """When the cluster stopped."""
    failing: Outage | None = None
    judgements: list[Judgement] = field(default_factory=list)
    """What became of each loss that was noticed."""
    beside: Beside | None = None
    """What somebody notes of the run meanwhile."""

    @classmethod
    def begin(
        cls, story: Story, start: StartState | None = None, most_buckets: int = MOST_BUCKETS
    ) -> Simulation:
        """The start of a run that records `most_buckets` moments at most."""
        scenario = story.scenario
        world = first_world(scenario, start, most_buckets)
        for n, node_class in enumerate(scenario.node_classes):
            if node_class.nodes[0].id in story.absent | story.reserved:
                world.state.node_state[n].is_dead = True
        return cls(
            story, scenario, world, first_history(scenario, world), start or StartState(),
            page_cache=scenario.page_cache,
            due=sorted(story.dues, key=lambda due: due.order), number=len(story.dues),
            settings=[(0.0, world.laws.run.copy())],
        )  # fmt: skip

    def copy(self, *, with_history: bool = True) -> Simulation:
        """A snapshot, which goes on apart from this one; without its history it shares that."""
        parts: dict[str, Any] = {
            one.name: value.copy()
            for one in fields(self)
            if isinstance(value := getattr(self, one.name), World | Outage | list | dict)
        }
        if self.beside is not None:
            parts["beside"] = self.beside.copy()
        return replace(self, **parts, history=self.history.copy() if with_history else self.history)

    @property
    def laws(self) -> Laws:
        """What holds now."""
        return self.world.laws

    @property
    def state(self) -> State:
        """What the last step left."""
        return self.world.state

    @property
    def outage(self) -> Outage:
        """Who is alive, and who sees whom."""
        if self.failing is None:
            plan, absent = self.story.scenario.plan, self.story.absent
            there = tuple(process for process in plan.processes if process.id not in absent)
            self.failing = Outage.fresh(plan.replace(processes=there) if absent else plan)
        return self.failing

    @property
    def is_moving(self) -> bool:
        """Whether rows are being moved to added data nodes."""
        if not self.reorganising or self.is_grown:
            return False
        step_s = self.scenario.step_s
        return self.step * step_s < self.reorganising[-1].to_s + step_s

    @property
    def accepted(self) -> float:
        """Transactions accepted so far."""
        return float(self.state.cluster.accepted)

    # What handlers of events need.

    def node(self, object_id: str) -> int:
        """Index of a data node; -1 when it takes no part."""
        for n, node_class in enumerate(self.scenario.node_classes):
            if node_class.nodes[0].id == object_id:
                return n
        return -1

    def disk(self, object_id: str) -> int:
        """Index of a disk; -1 when no data node uses it."""
        for d, disk_class in enumerate(self.scenario.disk_classes):
            if any(disk.id == object_id for disk in disk_class.disks):
                return d
        return -1

    def is_dead(self, n: int) -> bool:
        """Whether a data node takes no part."""
        return bool(self.state.node_state[n].is_dead)

    def living_load(self) -> Floats:
        """Log of each part for one transaction, the mean over all values: none of nodes that are dead."""
        dead = column(self.state.node_state, lambda node: node.is_dead).astype(bool)
        return np.where(dead[:, None], 0.0, self.full_load)

    @property
    def full_load(self) -> Floats:
        """Log of each part for one transaction while every node lives."""
        return (self.story.grown if self.is_grown else self.scenario).laws.load

    def forget_room(self) -> None:
        """Disks have other work from now on: what they wrote last step is not a measure any more."""
        limits = column(self.laws.nodes, lambda node: node.buffer_limit_bytes)[:, None]
        self.state.parts[Part.LIMIT] = np.broadcast_to(limits, self.laws.load.shape)

    def slow_limits(self) -> tuple[list[Service], float]:
        """(what slowed links pass, transactions that fit the send buffers of the slowest link of all)."""
        plan, workload = self.outage.plan, self.scenario.workload
        buffered = float(self.scenario.laws.run.send_buffered)
        least = min((one.max_per_s for one in self.scenario.services), default=math.inf)
        found: list[Service] = []
        for link in self.slow_links:
            limits = slow_services(plan, workload, link)
            found += limits
            if limits and limits[0].max_per_s < least:
                least, buffered = limits[0].max_per_s, slow_send_buffered(plan, workload, link)
        return found, buffered

    @property
    def slow_links(self) -> tuple[SlowLink, ...]:
        """Those that carry less now."""
        return tuple(one.link for one in self.link_times if one.to_s is None and one.link.factor > 0)

    def slow_link(self, number: int, link: SlowLink) -> None:
        """Note that a link carries less from now on, or nothing, by the event of this number."""
        self.link_times.append(LinkTime(number, link, self.at_s))

    def whole_link(self, number: int) -> bool:
        """Note that it is whole again; False: it was already."""
        under_way = [i for i, one in enumerate(self.link_times) if one.number == number and one.to_s is None]
        for i in under_way:
            self.link_times[i] = replace(self.link_times[i], to_s=self.at_s)
        return bool(under_way)

    def later(self, *dues: Due) -> None:
        """Let something happen at a later moment, or at the end of this one."""
        self.due = sorted([*self.due, *dues], key=lambda due: due.order)

    def note_settings(self) -> None:
        """Remember the settings of the run from now on."""
        self.settings.append((self.now_s, self.laws.run.copy()))

    def note_service(self) -> None:
        """The same, when what lets transactions pass has changed by itself."""
        if self.laws.run.service_per_s != self.settings[-1][1].service_per_s:
            self.settings.append((self.step * self.scenario.step_s, self.laws.run.copy()))

    def say(self, text: str) -> None:
        """Note what happened now."""
        self.happened.append((self.now_s, text))

    def stands_from(self, at_s: float) -> None:
        """Transactions stand still from now on."""
        if not self.standing or self.standing[-1][1] <= at_s:
            self.standing.append((at_s, math.inf))

    def moves_on(self, at_s: float) -> None:
        """Transactions stand still no longer."""
        if self.standing and self.standing[-1][1] == math.inf:
            self.standing[-1] = (self.standing[-1][0], at_s)

    # What was found.

    def partial_run(self) -> Simulation:
        """The run as if it ended here. For looking at; it shares what was recorded."""
        per_bucket = int(self.laws.run.steps_per_bucket)
        buckets = max(1, -(-self.step // per_bucket))
        history = History(*(recorded[:buckets] for recorded in self.history))
        return replace(self, scenario=replace(self.scenario, steps=max(1, self.step)), history=history)

    def with_errors(self, errors: Floats) -> Simulation:
        """The same run, as if it had refused no more than these. For looking at."""
        return replace(self, world=self.world._replace(state=self.state._replace(errors=errors)))

    def bucket_lengths_s(self) -> Floats:
        """Simulated time of each bucket; the last one may be shorter."""
        lengths = np.full(
            len(self.history.totals), int(self.laws.run.steps_per_bucket) * self.scenario.step_s
        )
        lengths[-1] = self.scenario.duration_s - lengths[:-1].sum()
        return lengths

    def running(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Buckets in which transactions ran all the time: the cluster ran, and none stood still."""
        ends = np.cumsum(self.bucket_lengths_s())
        begins = np.concatenate([[0.0], ends[:-1]])
        runs = ends <= self.stopped_s + 1e-9
        for begin, end in self.standing:
            runs &= (ends <= begin + 1e-9) | (begins >= end - 1e-9)
        return runs

    def loaded_after_s(self) -> float | None:
        """When the rows of a job were all loaded; None: it is not a job, or they were not."""
        total = float(self.laws.run.job_transactions)
        if total <= 0:
            return None
        accepted = self.history.totals[:, OfCluster.ACCEPTED]
        done = np.cumsum(accepted)
        reached = np.flatnonzero(done >= total * (1.0 - JOB_REST))
        if len(reached) == 0:
            return None
        bucket = int(reached[0])
        lengths = self.bucket_lengths_s()
        before = float(done[bucket - 1]) if bucket else 0.0
        # Within the bucket rows came at the rate of the bucket before: this one may have ended early.
        rate = float(accepted[bucket - 1]) / lengths[bucket - 1] if bucket else 0.0
        inside = (total - before) / rate if rate > 0 else lengths[bucket]
        return float(lengths[:bucket].sum() + min(inside, lengths[bucket]))

    def forget_after(self, step: int) -> None:
        """Nothing was recorded from this step on, the first of a bucket; for a run that goes back."""
        bucket = step // int(self.laws.run.steps_per_bucket)
        for recorded in self.history:
            recorded[bucket:] = 0.0
        self.history.low[bucket:] = math.inf


def in_order(dues: Iterable[Due]) -> tuple[Due, ...]:
    """Earliest first."""
    return tuple(sorted(dues, key=lambda due: due.order))
