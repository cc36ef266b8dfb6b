"""Which failures a plan survives: every single part, every pair, or one course; and what is left.

report = survive(Estimation(plan), depth=2)
report.smallest_killers, report.failures[0].load_left_per_s

Decided by `configuration.failures` with the product's rules; the load by `load_left`, the time until all is
whole again by the estimate of restarts. Parts that do the same are worked out once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

from ndbplan.advise.executors import cut, each_of
from ndbplan.advise.load_left import LoadLeft, load_left
from ndbplan.base.errors import Cancelled
from ndbplan.base.kept import keeping, kept_by_identity
from ndbplan.base.quantity import Quantity, Term, largest, total
from ndbplan.base.shapes import Shape
from ndbplan.configuration.arrays import worn
from ndbplan.configuration.failing_parts import Part, called_so
from ndbplan.configuration.failures import Damage, Failures, Judged, Step, course
from ndbplan.configuration.killers import Killers, Search, search_of
from ndbplan.configuration.node_groups import node_group_ids
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.timed import RestartError
from ndbplan.estimate.times.rebuild import without_device
from ndbplan.estimate.times.restart import Conditions, Kind
from ndbplan.ndb.node_names import data_nodes, listed
from ndbplan.ndb.survival import Outcome, Side
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, process_node_ids
from ndbplan.plan.workloads import Workload

LISTED_PAIRS = 50_000
"""With more pairs than this, of parts that do the same only the first (a host before its disks) is paired."""
_PAIRED_FIRST = ("host", "rack", "switch", "link", "node", "disk", "device")


@dataclass(frozen=True)
class Failure(Shape):
    """What becomes of the cluster when some parts fail at once."""

    JSON = "dead=dead_names verdict why load_left_per_s carries_peak whole_again_s"

    dead: tuple[Part, ...]
    judged: Judged
    why: str
    load_left_per_s: Quantity | None
    """Highest rate that the survivors carry; None without a workload."""
    carries_peak: bool | None
    """Whether that is the workload's peak; None without a workload."""
    whole_again_s: Quantity | None
    """Seconds until all data nodes are up again, once what failed is repaired; None: cannot be estimated."""

    @property
    def verdict(self) -> Outcome:
        """What happens with the arbitrator that is left."""
        return self.judged.best.verdict.outcome

    @property
    def dead_names(self) -> tuple[str, ...]:
        """What fails, as commands name it."""
        return tuple(str(part) for part in self.dead)


@dataclass(frozen=True)
class SurvivalReport(Shape):
    """All failures of one, or two, parts and the smallest sets that stop the cluster."""

    JSON = "failures smallest_killers=killer_names offered_per_s notes left_out_pairs"

    failures: tuple[Failure, ...]
    smallest_killers: Killers
    offered_per_s: float | None
    """The workload's peak."""
    notes: tuple[str, ...]
    left_out_pairs: int
    """Pairs that are not listed because their parts do the same as others'."""

    @property
    def killer_names(self) -> tuple[tuple[str, ...], ...]:
        """The smallest sets that stop the cluster, as commands name their parts."""
        return tuple(tuple(str(part) for part in killer) for killer in self.smallest_killers)


def survive(
    now: Estimation,
    depth: int = 1,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    workers: int = 1,
    scheduler: str | None = None,
) -> SurvivalReport:
    """Every failure of up to `depth` (1 or 2) parts; with a workload its load must be carried.

    With several `workers`, or with the `scheduler` of a Dask cluster, other processes look at pairs: the same
    answer.
    """
    with keeping():
        return _Work(now, cancelled, Search(now.plan, cancelled)).report(depth, workers, scheduler)


class _Asked(NamedTuple):
    """Some sets of parts that fail together, for another process."""

    plan: Plan
    workload: Workload | None
    dead: tuple[tuple[Part, ...], ...]


def _answered(asked: _Asked) -> list[Failure]:
    with keeping():
        now = Estimation(asked.plan, asked.workload)
        work = _Work(now, lambda: False, Search(now.plan))
        return [work.failure(dead) for dead in asked.dead]


@dataclass(frozen=True)
class SingleFailures:
    """What the failures of single parts come to in short, without looking at each to its end."""

    stop: int
    """So many of them stop the cluster."""
    least_load_left_per_s: Quantity | None
    """What is left without the host whose loss leaves least; None: there is no workload."""


def single_failures(now: Estimation) -> SingleFailures:
    """The same numbers as the failures of `survive`, in a fraction of the time."""
    # Kept while a change leaves alone what failures depend on; parts that nobody uses stop nothing.
    with keeping(now.kept):
        return _in_short(search_of(now.plan), None if now.workload is None else load_left(now))


@kept_by_identity(size=16)
def _in_short(search: Search, load: LoadLeft | None) -> SingleFailures:
    least: Quantity | None = None
    if load is not None:
        hosts = [part for part in search.parts if part.kind == "host"]
        judged = [(search.of_parts(part), search.lost_with[part]) for part in hosts]
        values = [0.0 if one.stops else load.lowest(_gone(search, one, lost))[0] for one, lost in judged]
        if hosts:
            one, lost = judged[values.index(min(values))]
            least = _STOPPED if one.stops else load.per_s(_gone(search, one, lost))
    return SingleFailures(len(search.single_killers), least)


def _gone(search: Search, judged: Judged, lost: frozenset[int]) -> frozenset[int]:
    """All nodes that are down, whatever made them so."""
    return lost | (search.failures.running.started - judged.best.up)


_STOPPED = Quantity.exact(0.0, "tx/s", (Term("the cluster stops", 0.0, "tx/s", "formula"),))


_Same = tuple[Damage, frozenset[int], frozenset[int], tuple[Part, ...]]
"""Damage, all nodes lost, those whose disk is new, devices that disks go on without."""


@dataclass
class _Work:
    loaded: Estimation
    """Under the workload, if there is one."""
    cancelled: Callable[[], bool]
    search: Search
    _answers: dict[_Same, Failure] = field(default_factory=dict)
    _times: dict[tuple[Kind, int | None], Quantity | None] = field(default_factory=dict)
    _loads: dict[frozenset[int], Quantity] = field(default_factory=dict)
    _again: dict[tuple[frozenset[int], frozenset[int]], Quantity | None] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        return self.loaded.plan

    @cached_property
    def now(self) -> Estimation:
        return self.loaded.under(None)

    @cached_property
    def load(self) -> LoadLeft | None:
        return None if self.loaded.workload is None else load_left(self.loaded)

    def report(self, depth: int, workers: int, scheduler: str | None) -> SurvivalReport:
        parts = self.search.parts
        sets: list[tuple[Part, ...]] = [(part,) for part in parts]
        left_out = 0
        if depth > 1:
            paired = parts if len(parts) * (len(parts) - 1) // 2 <= LISTED_PAIRS else self._one_of_each()
            sets += combinations(paired, 2)
            left_out = (len(parts) * (len(parts) - 1) - len(paired) * (len(paired) - 1)) // 2
        if depth > 1 and (workers > 1 or scheduler is not None):
            failures = self._elsewhere(sets, workers, scheduler)
        else:
            failures = tuple(self.failure(dead) for dead in sets)
        offered = None if self.load is None else self.load.offered_per_s
        return SurvivalReport(failures, self.search.smallest(depth), offered, tuple(self._notes()), left_out)

    def _elsewhere(
        self, sets: Sequence[tuple[Part, ...]], workers: int, scheduler: str | None
    ) -> tuple[Failure, ...]:
        pieces = [
            _Asked(self.plan, self.loaded.workload, tuple(some)) for some in cut(sets, workers, scheduler)
        ]
        found: list[Failure] = []
        for answers in each_of(_answered, pieces, workers=workers, scheduler=scheduler):
            found += answers
            if self.cancelled():
                raise Cancelled
        return tuple(found)

    def _one_of_each(self) -> tuple[Part, ...]:
        """Of parts that take the same nodes along, one, in the order of the plan; harmless ones not."""
        chosen: dict[tuple[Damage, frozenset[int]], Part] = {}
        for part in sorted(self.search.parts, key=lambda part: _PAIRED_FIRST.index(part.kind)):
            damage = self.search.damage_of[part]
            if self.search.lost_with[part] or damage.apart or damage.links:
                chosen.setdefault((damage, self.search.lost_with[part]), part)
        kept = set(chosen.values())
        return tuple(part for part in self.search.parts if part in kept)

    def failure(self, dead: tuple[Part, ...]) -> Failure:
        """One entry; sets that do the same share their numbers."""
        lost = frozenset().union(*(self.search.lost_with[part] for part in dead))
        renewed = frozenset().union(*(self.search.lost_with[part] for part in dead if part.kind == "disk"))
        whole = Damage(
            frozenset().union(*(self.search.damage_of[part].dead for part in dead)),
            frozenset().union(*(self.search.damage_of[part].apart for part in dead)),
            frozenset().union(*(self.search.damage_of[part].links for part in dead)),
        )
        worn = tuple(part for part in dead if part.kind == "device")
        failure = self._answers.get((whole, lost, renewed, worn))
        if failure is None:
            judged = self.search.judge(whole)
            unreached = self.search.failures.unreached(whole, judged)
            load = self._load_left(judged, lost | unreached, worn)
            enough = None if load is None or self.load is None else load.value >= self.load.offered_per_s
            again = self._whole_again(judged, renewed)
            why = "; ".join([sentence(judged), *(self._without_device(part) for part in worn)])
            failure = Failure(dead, judged, why, load, enough, again)
            self._answers[whole, lost, renewed, worn] = failure
        return Failure(
            dead,
            failure.judged,
            failure.why,
            failure.load_left_per_s,
            failure.carries_peak,
            failure.whole_again_s,
        )

    def _is_read_at_random(self, disk_id: str) -> bool:
        """Whether a missing device slows what the load does there: what is written in order it does not."""
        demand = self.loaded.disks.of(disk_id)
        streams = demand.streams if demand is not None else ()
        return any(one.random_reads_per_s.value or one.random_writes_per_s.value for one in streams)

    def _without_device(self, part: Part) -> str:
        return without_device(called_so(self.plan, part)[0], self.now.constants)

    def _load_left(self, judged: Judged, lost: frozenset[int], worn_out: tuple[Part, ...]) -> Quantity | None:
        if self.load is None:
            return None
        if judged.stops:
            return _STOPPED
        gone = _gone(self.search, judged, lost)
        if worn_out:
            worn_ids = {disk.id for part in worn_out for disk in called_so(self.plan, part)}
            if any(map(self._is_read_at_random, worn_ids)):
                return load_left(self.loaded.of(_worn(self.plan, worn_ids))).per_s(gone)
        if gone not in self._loads:
            self._loads[gone] = self.load.per_s(gone)
        return self._loads[gone]

    def _whole_again(self, judged: Judged, renewed: frozenset[int]) -> Quantity | None:
        """Restarts of what is down: all nodes of a stopped cluster, else members of a group in turn.

        A node whose disk is new starts with --initial and copies everything from its group.
        """
        started = self.search.failures.running.started
        down = started - judged.best.up
        if not down:
            return Quantity.exact(0.0, "s", (Term("data nodes that are down", 0.0, "count", "formula"),))
        if judged.stops:
            return self._restart("system", None)
        key = (down, renewed & down)
        if key not in self._again:
            self._again[key] = self._in_turn(down, renewed)
        return self._again[key]

    def _in_turn(self, down: frozenset[int], renewed: frozenset[int]) -> Quantity | None:
        groups = node_group_ids(self.plan)
        by_group: dict[int, list[tuple[str, Quantity]]] = {}
        for node_id in sorted(down):
            kind: Kind = "initial" if node_id in renewed else "node"
            time = self._restart(kind, node_id)
            if time is None:
                return None
            named = (f"{kind} restart of data node {node_id}", time)
            by_group.setdefault(groups[node_id], []).append(named)
        each = [(f"node group {number}", total(times, "s")) for number, times in by_group.items()]
        return each[0][1] if len(each) == 1 else largest(each, "s")

    def _restart(self, kind: Kind, node_id: int | None) -> Quantity | None:
        key = (kind, node_id)
        if key not in self._times:
            try:
                self._times[key] = self.now.restart(kind, node_id, Conditions(crashed=True)).duration_s
            except RestartError:
                self._times[key] = None
        return self._times[key]

    def _notes(self) -> Iterator[str]:
        cluster = self.search.failures.cluster
        rule = cluster.rule
        yield f"which nodes go on is decided as the product's source does, read in {rule.read_in}"
        if rule.remark:
            yield rule.remark
        arbitrator = self.search.failures.running.arbitrator
        if cluster.nobody_arbitrates:
            yield "nobody arbitrates: after a cut of the network both halves may live and differ"
        elif arbitrator is not None:
            yield f"the arbitrator elected at rest is node {arbitrator}"
        if self.load is not None and self.load.refused_by is not None:
            yield f"no load is carried, whatever fails: {self.load.refused_by.text} has no room for its rows"
        free = [s.node_id for s in self.plan.api_slots if _from_anywhere(s, self.search.failures)]
        if free:
            yield f"API slots {listed(free)} may arbitrate but have no host, so nobody is counted on there"
        if any(part.kind in ("link", "switch") for part in self.search.parts):
            yield "of two equal halves of a cut that both ask, that with the lowest node id is taken to win"


def _worn(plan: Plan, disk_ids: Collection[str]) -> Plan:
    """The plan whose disks of these ids are one device short."""

    def of(host: Host) -> Host:
        if not any(disk.id in disk_ids for disk in host.disks):
            return host
        disks = tuple(worn(disk) if disk.id in disk_ids else disk for disk in host.disks)
        return host.model_copy(update={"disks": disks})

    return plan.replace(hosts=tuple(map(of, plan.hosts)))


def _from_anywhere(slot: ApiSlot, failures: Failures) -> bool:
    ids = process_node_ids(slot)
    return slot.host_id is None and any(c.node_id in ids for c in failures.cluster.candidates)


def sentence(judged: Judged) -> str:
    """Why the cluster does what it does, of all sides that have something to say."""
    best = judged.best
    text = best.verdict.why
    if judged.shut_out:
        text = (
            f"heartbeats shut out {data_nodes(judged.shut_out)} (which end of a broken link hangs on "
            "the order of joining; between a master and a node that is not beside it in the ring, the "
            f"cluster stands still until the link is back); {text}"
        )
    if judged.split_brain:
        halves = " and ".join(listed(side.up) for side in judged.sides if side.up)
        return f"split brain: data nodes {halves} live on apart and take different writes; {text}"
    for side in judged.sides:
        if side is not best and side.survivors:
            text += f"; {data_nodes(side.survivors)} cut off: {side.verdict.why}"
    return text


def course_to_json(plan: Plan, steps: tuple[Step, ...]) -> dict[str, Any]:
    """One course of failures, judged in turn: the shape of design.md."""
    rows = []
    for step, answers in zip(steps, course(plan, steps), strict=True):
        devices = [called_so(plan, part)[0] for part in step.dead if part.kind == "device"]
        tail = "".join(f"; {without_device(disk, constants_of(plan))}" for disk in devices)
        sides = [_side_to_json(side, judged, tail) for judged in answers for side in judged.sides]
        if not sides:
            sides = [_stopped_before()]
        rows.append(
            {
                "dead": [str(part) for part in step.dead],
                "cut": [str(part) for together in step.cut for part in together],
                "sides": sides,
            }
        )
    return {"steps": rows}


def _side_to_json(side: Side, judged: Judged, tail: str = "") -> dict[str, Any]:
    why = side.verdict.why
    if judged.shut_out and side is judged.best:
        why = sentence(judged)
    return {
        "up": sorted(side.up),
        "verdict": side.verdict.outcome.value,
        "asked": side.verdict.asked,
        "why": why + tail,
    }


def _stopped_before() -> dict[str, Any]:
    return {
        "up": [],
        "verdict": Outcome.STOPS.value,
        "asked": None,
        "why": "the cluster has stopped before",
    }
