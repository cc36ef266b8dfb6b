"""From requirements to ranked plans: of each class of hosts the smallest cluster that passes, cheapest first.

    sized = size(requirements, begun, choices, client_host)
    sized.plans[0].title, sized.plans[0].plan, sized.plans[0].why
    sized.excuses                 # why a class has no such cluster, and what would let it pass

Classes are looked at in the order of the least that their next cluster may cost (what is not priced: by
hosts, cores, memory, disks). One that passes waits until no other may cost less, so that the first taken is
the best of all. Then the cheapest is looked for that keeps every limit in nearly all drawn worlds too, from
where each class was left: what breaks a limit by likely values is not sure to keep it. Numbers of node
groups are passed over only where `Verdict.at_least` proves that the limit is broken there too. Several data
nodes share a host where that is cheaper; of the same price the fewest win.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from ndbplan.advise.cost import cost_of
from ndbplan.advise.executors import Each, count_of_pieces, crew, helped
from ndbplan.advise.sizing.build import MOST_NODES, Builder, Clients, other_hosts
from ndbplan.advise.sizing.choices import Choice, size_of
from ndbplan.advise.sizing.choosing import Choosing, choosing_among
from ndbplan.advise.sizing.excused import Excuse, not_looked_for, of_how_many
from ndbplan.advise.sizing.excuses import excuse
from ndbplan.advise.sizing.limits import FEWEST_CLIENTS, Judge, Work
from ndbplan.advise.sizing.sized_plan import SizedPlan
from ndbplan.advise.sizing.verdict import CHECK, LOADER, Verdict
from ndbplan.advise.sizing.worlds import SURE
from ndbplan.base.errors import UserError
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_percent, how_many
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits.changes import value_changes
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import Requirements

Key = tuple[float, ...]
_SEARCHED, _MADE_SURE = 0.4, 0.6
"""Shares of the work that are done when the last class has been looked at, and when the sure one is found."""

_PATIENCE = 4
"""Numbers of node groups that break one limit before the largest is asked whether any meets it."""
_MOST_EXCUSED = 30_000
"""Data nodes that are estimated for excuses, about ten seconds of one core. Judgement."""
_MOST_MADE_SURE = 200
"""Clusters, the cheapest first, among which there has to be one that is sure. Judgement: some seconds."""


@dataclass(frozen=True)
class Sized(Shape):
    """What there is to choose from."""

    JSON = "plans excuses not_looked_at ranked_by choosing"

    plans: tuple[SizedPlan, ...]
    excuses: tuple[Excuse, ...]
    """Of every class that was looked at and does not pass, whatever the number of its node groups."""
    not_looked_at: tuple[str, ...]
    """Classes whose clusters would all be ranked behind the plans that were found."""
    ranked_by: str
    """What puts a plan before another, in words."""
    not_sure: str
    """Why no cluster keeps every limit in nearly all drawn worlds; nothing where one does."""

    @property
    def not_excused(self) -> str:
        """For how many classes nobody looked what would let them pass; nothing without one."""
        return of_how_many(self.excuses)

    @property
    def further(self) -> str:
        """What is known of the classes that were not looked at; nothing without one."""
        count = len(self.not_looked_at)
        classes = "1 further class was" if count == 1 else f"{count} further classes were"
        its = "its" if count == 1 else "their"
        return f"{classes} not looked at: {its} clusters would be ranked behind these" if count else ""

    @cached_property
    def choosing(self) -> Choosing:
        """What speaks for which of the plans."""
        return choosing_among(self.plans, self.not_sure)


def size(
    requirements: Requirements,
    begun: Plan,
    choices: Sequence[Choice],
    clients: Host,
    *,
    progress: Callable[[float], None] = lambda share: None,
    cancelled: Callable[[], bool] = lambda: False,
    workers: int = 1,
    scheduler: str | None = None,
    helpers: int = 1,
) -> Sized:
    """The plans that pass, best first, and the excuses of the classes without one.

    With several `workers`, or with the `scheduler` of a Dask cluster, other processes look at the clusters
    that are likely to be asked about next; the answer is the same. Raises Cancelled when told to stop,
    UserError where tables or loads are too incomplete for an answer.
    """
    through_api = bool(begun.workloads) and all(one.through == "api" for one in begun.workloads)
    judge = Judge(requirements, Builder(begun, clients, through_api), cancelled)
    with crew(workers, scheduler) as each:
        if workers > 1 or scheduler is not None:
            return _Sizing(judge, choices, progress, each, count_of_pieces(workers, scheduler), each).sized()
        return _Sizing(judge, choices, progress, each, 1, partial(helped, helpers)).sized()


def _judged(asked: tuple[Judge, Choice, int, int]) -> Verdict:
    judge, choice, groups, most_clients = asked
    return judge.verdict(choice, groups, most_clients)


def _excused(asked: tuple[Judge, Verdict, Verdict | None]) -> tuple[Excuse, int]:
    """The excuse, and the data nodes that were estimated for it."""
    judge, nearest, beyond = asked
    counting = replace(judge, work=Work())
    return excuse(counting, nearest, beyond), counting.work.nodes


@dataclass(frozen=True)
class _Found:
    """What a search came to; by place among all classes, cheapest first."""

    passed: dict[int, tuple[Key, Verdict]]
    rejected: dict[int, Verdict]
    """Of the classes without a cluster that passes the one that comes nearest."""
    beyond: dict[int, Verdict]
    """Of them the first with more nodes than there may be."""
    left: frozenset[int]
    """Classes that may still have one, which would cost more."""
    begun: tuple[tuple[int, int], ...]
    """Where a search for more goes on: class and data nodes on a host, number of node groups."""
    looked_at: int
    """Clusters."""


@dataclass
class _Search:
    judge: Judge
    choices: Sequence[Choice]
    progress: Callable[[float], None]
    each: Each
    ahead: int
    """Clusters that are looked at together."""
    _least: Key | None = None
    """What the only cluster that is wanted costs at most; None: none is known, or several are wanted."""
    _known: dict[tuple[int, int], Verdict] = field(default_factory=dict)
    """By place among `shared` and number of node groups: what is known before it is asked for."""
    _in_a_row: dict[tuple[int, str], list[float]] = field(default_factory=dict)
    """By place among `shared` and kind of limit: how near those came that broke it, fewest groups first."""

    @cached_property
    def shared(self) -> tuple[tuple[int, Choice], ...]:
        """Every class with each number of data nodes on a host, fewest first, and its place in `choices`."""
        wanted = set(self.requirements.hardware.nodes_per_host)
        return tuple(
            (place, choice.with_nodes(count))
            for place, choice in enumerate(self.choices)
            for count in sorted(wanted | ({choice.nodes_per_host} if choice.is_planned else set()))
        )

    def _class_of(self, entry: tuple[Key, int, int]) -> int:
        """Place in `choices`."""
        return self.shared[entry[1]][0]

    @property
    def requirements(self) -> Requirements:
        return self.judge.requirements

    def found(self, wanted: int, begun: Iterable[tuple[int, int]], most: float = math.inf) -> _Found:
        """The cheapest clusters that pass, of so many classes, each from a number of node groups on.

        Where the `most` cheapest clusters have been looked at and none is known to pass, no more are.
        """
        passed: dict[int, tuple[Key, Verdict]] = {}
        rejected: dict[int, Verdict] = {}
        beyond: dict[int, Verdict] = {}
        further: list[tuple[int, int]] = []
        heap = [entry for place, groups in begun for entry in self._entries(place, groups)]
        in_all = len(heap)
        heapq.heapify(heap)
        looked_at = 0
        while heap and len(passed) < wanted and (looked_at < most or self._least is not None):
            if self._class_of(heap[0]) in passed:
                further.append(heapq.heappop(heap)[1:])
                continue
            looked_at += 1
            verdict = self._verdict(heap)
            entry = heapq.heappop(heap)
            key, place, _ = entry
            of_class = self._class_of(entry)
            following = self._next(verdict, place)
            if verdict.broken is None:
                costs = self._key(verdict.choice, verdict.groups, verdict.clients)
                if costs > key:
                    if wanted == 1 and (self._least is None or costs < self._least):
                        self._least = costs
                    self._known[place, verdict.groups] = verdict
                    heapq.heappush(heap, (costs, place, verdict.groups))
                    continue
                passed[of_class] = (key, verdict)
                rejected.pop(of_class, None)
                further.append(entry[1:])
            else:
                nearest = rejected.setdefault(of_class, verdict)
                if verdict.plan is None:
                    beyond.setdefault(of_class, verdict)
                elif verdict.broken.kind == LOADER or verdict.distance < nearest.distance:
                    rejected[of_class] = verdict
            if following is not None:
                for one in self._entries(place, following):
                    heapq.heappush(heap, one)
            self.progress(1 - len(heap) / in_all)
        left = frozenset(self._class_of(entry) for entry in heap) - passed.keys()
        begun = (*further, *(entry[1:] for entry in heap))
        return _Found(passed, dict(sorted(rejected.items())), beyond, left, begun, looked_at)

    def _verdict(self, heap: Sequence[tuple[Key, int, int]]) -> Verdict:
        """That of the first entry; where others work, they look at the next ones meanwhile."""
        first = heap[0][1:]
        if first not in self._known:
            near = (entry[1:] for entry in heapq.nsmallest(self.ahead, heap))
            new = [entry for entry in near if entry not in self._known]
            asked = [
                (self.judge, self.shared[place][1], groups, self._most_clients(place, groups))
                for place, groups in new
            ]
            for entry, verdict in zip(new, self.each(_judged, asked), strict=True):
                self._known[entry] = verdict
                self.judge.stop_if_told()
        return self._known.pop(first)

    def _most_clients(self, place: int, groups: int) -> int:
        """Hosts of clients with which so many node groups cost no more than what is known to pass."""
        choice, most = self.shared[place][1], FEWEST_CLIENTS.hosts
        while most < MOST_NODES and (
            self._least is None or self._key(choice, groups, Clients(most + 1)) <= self._least
        ):
            most = MOST_NODES if self._least is None else most + 1
        return most

    def _next(self, verdict: Verdict, place: int) -> int | None:
        """How many node groups of the same class are looked at next; None: it passes, or none is left.

        Where none can pass any more, the largest that the version takes says best how far away they are;
        one that is larger, whether a later version helps.
        """
        if verdict.broken is None or verdict.plan is None or not verdict.broken.depends_on_groups:
            return None
        most, following = self.requirements.most_groups, max(verdict.groups + 1, verdict.at_least)
        largest = verdict.choice.most_full(self.judge.most_groups)
        if verdict.groups >= largest:
            return following if following <= most else None
        return largest if following >= largest or self._is_in_vain(verdict, place, largest) else following

    def _is_in_vain(self, verdict: Verdict, place: int, largest: int) -> bool:
        """Whether no number of node groups meets a limit that several in a row have broken.

        With more of them a limit comes nearer, or goes further away, or one after the other: what comes
        nearer and is still broken by the largest is broken between, and what goes away stays broken. The
        number of errors of a check follows no such law.
        """
        assert verdict.broken is not None
        if verdict.broken.kind == CHECK:
            return False
        row = self._in_a_row.setdefault((place, verdict.broken.kind), [])
        row.append(verdict.broken.nearness)
        if len(row) != _PATIENCE:
            return False
        if row[-1] > row[0]:
            return True
        return 1 < self.judge.nearness(verdict, largest) <= row[-1]

    def _entries(self, place: int, groups: int) -> Iterator[tuple[Key, int, int]]:
        """At least so many node groups that leave no host with room; nothing where those are too many."""
        choice = self.shared[place][1]
        full = choice.full(groups)
        if full <= self.requirements.most_groups:
            yield self._key(choice, full, FEWEST_CLIENTS), place, full

    def _key(self, choice: Choice, groups: int, coming: Clients) -> Key:
        """What so many node groups of a class cost at least; never less with more of them, or of clients."""
        of_data = choice.hosts_for(groups, no_of_replicas(self.judge.begun))
        hosts = ((of_data, choice.host), (other_hosts(coming), self.judge.builder.clients))
        # A class of clients without a price adds nothing here: what it takes of them counts behind the price.
        price = sum(count * (self._price(host) or 0.0) for count, host in hosts)
        size = map(
            sum, zip(*([count * part for part in size_of(host)] for count, host in hosts), strict=True)
        )
        return (0.0, price, *size) if self._price(choice.host) is not None else (1.0, 0.0, *size)

    @property
    def order(self) -> str:
        """What `_key` puts first, in words."""
        by_size = (
            "the fewest hosts, then the fewest cores, the least memory, the fewest disks and the least that "
            "disks write: of hosts that are alike those with the slowest disks that pass come first"
        )
        priced = [self._price(choice.host) is not None for choice in self.choices]
        if all(priced):
            return "the price of all hosts with their disks, then the fewest hosts"
        if any(priced):
            return f"the price, what has none last; there by {by_size}"
        return f"{by_size}; no prices are stated"

    def _price(self, host: Host) -> float | None:
        """Of one host with its disks over the months of cost; None: not stated."""
        begun = self.judge.begun
        cost = cost_of(begun.replace(hosts=(host,)))
        return None if cost.total is None or cost.unpriced else cost.total.value


@dataclass
class _Sizing:
    judge: Judge
    choices: Sequence[Choice]
    progress: Callable[[float], None]
    each: Each
    ahead: int
    excusing: Each
    """Who works out the excuses."""

    def sized(self) -> Sized:
        """What passes, then what is sure to, then the excuses of what does not."""
        search = self._search(self.judge, 0.0, _SEARCHED)
        refused = self.judge.errors.of_all(self._clusters())
        if refused is not None:
            # No hardware lets such tables or parameters pass: there is nothing to look for.
            told = (
                Excuse(one.title, refused.line, None, one.full(self.judge.requirements.least_groups))
                for one in self.choices
            )
            return Sized((), tuple(told), (), search.order, "")
        wanted = min(self.judge.requirements.answers, len(self.choices))
        places = range(len(search.shared))
        found = search.found(wanted, [(place, self.judge.requirements.least_groups) for place in places])
        ranked = list(found.passed.values())
        not_sure = ""
        if ranked:
            surer = self._search(replace(self.judge, holds_in=SURE), _SEARCHED, _MADE_SURE)
            sure = surer.found(1, found.begun, _MOST_MADE_SURE)
            ranked = _with(ranked, sure)
            not_sure = self._not_sure(sure)
        given_up = [
            (one, found.beyond.get(place)) for place, one in found.rejected.items() if place not in found.left
        ]
        sized = Sized(
            tuple(self._answer(rank, verdict) for rank, (_, verdict) in enumerate(ranked, 1)),
            self._excuses(given_up),
            tuple(self.choices[place].title for place in sorted(found.left)),
            search.order,
            not_sure,
        )
        self.progress(1.0)
        return sized

    def _clusters(self) -> Iterator[Plan]:
        """The smallest cluster of each class, and the largest of the first with either DataMemory."""
        build, least = self.judge.builder.plan, self.judge.requirements.least_groups
        with suppress(UserError):
            for choice in self.choices:
                yield build(choice, choice.full(least), FEWEST_CLIENTS)
            first = self.choices[0]
            largest = first.most_full(self.judge.most_groups)
            yield from (build(first, largest, FEWEST_CLIENTS, most_memory=most) for most in (False, True))

    def _search(self, judge: Judge, begins: float, ends: float) -> _Search:
        """A search that is such a part of all the work."""

        def progress(share: float) -> None:
            self.progress(begins + (ends - begins) * share)

        return _Search(judge, self.choices, progress, self.each, self.ahead)

    def _not_sure(self, sure: _Found) -> str:
        """What keeps the nearest cluster from being sure; nothing where one is."""
        if sure.passed:
            return ""
        # One that passes by likely values is nearer than any other.
        nearest = min(
            sure.rejected.values(),
            key=lambda one: (one.broken is None or one.broken.in_worlds is None, *one.distance),
        )
        assert nearest.broken is not None
        of = f" of {how_many(sure.looked_at, 'cluster')} looked at"
        times, title = f"{nearest.broken.nearness:.3g} times", title_of(nearest, self.judge)
        share = format_percent(SURE)
        return (
            f"none{of} keeps every limit in {share} of the drawn worlds: the nearest, {title}, "
            f"would need {times} what is allowed of '{nearest.broken.line}'{nearest.broken.at_worst}"
        )

    def _excuses(self, given_up: Sequence[tuple[Verdict, Verdict | None]]) -> tuple[Excuse, ...]:
        """In the order of their classes; looked for in the order of how near they come."""
        places = sorted(range(len(given_up)), key=lambda one: (given_up[one][0].distance, one))
        found: dict[int, Excuse] = {}
        nodes = 0
        worked_out = self.excusing(_excused, [(self.judge, *given_up[place]) for place in places])
        for place, (told, looked_at) in zip(places, worked_out, strict=False):
            found[place], nodes = told, nodes + looked_at
            self.progress(_MADE_SURE + (1 - _MADE_SURE) * len(found) / len(given_up))
            self.judge.stop_if_told()
            if nodes >= _MOST_EXCUSED:
                # What others have begun of the rest is not waited for.
                break
        return tuple(
            found.get(place) or not_looked_for(verdict) for place, (verdict, _) in enumerate(given_up)
        )

    def _answer(self, rank: int, verdict: Verdict) -> SizedPlan:
        assert verdict.plan is not None
        limits = sorted(verdict.met, key=lambda met: -met.nearness)
        moved = [met for met in limits if met.is_moved]
        why = moved[0].line if moved else "nothing limits it"
        title = title_of(verdict, self.judge)
        bare = self.judge.builder.plan(verdict.choice, verdict.groups, verdict.clients)
        is_as_built = not verdict.steps and all(
            getattr(bare, name) == getattr(verdict.plan, name) for name in ("tablespaces", "logfile_groups")
        )
        changes = () if is_as_built else value_changes(bare, verdict.plan)
        settings = tuple(
            f"{change.name if change.is_parameter else change.what} {change.shown[1]}" for change in changes
        )
        return SizedPlan(rank, title, verdict.plan, why, tuple(limits), verdict.groups, settings)


def _with(ranked: Sequence[tuple[Key, Verdict]], sure: _Found) -> list[tuple[Key, Verdict]]:
    """The ranked clusters and the sure one, where it is none of them, in the order of what they cost."""
    new = [one for one in sure.passed.values() if all(one[1].plan != verdict.plan for _, verdict in ranked)]
    return sorted([*ranked, *new], key=lambda one: one[0])


def title_of(verdict: Verdict, judge: Judge) -> str:
    """`2 node groups of 2: 8 cores, 64 GiB, NVMe 3.2 TB; 3 SQL nodes`."""
    replicas = no_of_replicas(judge.begun)
    through_api, coming = judge.builder.through_api, verdict.clients
    clients = how_many(coming.hosts, "API host" if through_api else "SQL node")
    if coming.connections > 1:
        clients += f" with {coming.connections} {'API slots' if through_api else 'cluster connections'} each"
    return f"{how_many(verdict.groups, 'node group')} of {replicas}: {verdict.choice.words}; {clients}"
