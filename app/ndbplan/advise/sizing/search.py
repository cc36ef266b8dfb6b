"""From requirements to ranked plans: of each class of hosts the smallest cluster that passes, cheapest first.

    sized = size(requirements, begun, choices, client_host)
    sized.plans[0].title, sized.plans[0].plan, sized.plans[0].why
    sized.excuses                 # why a class has no such cluster, and what would let it pass

Classes are looked at in the order of the least that their next cluster may cost (what is not priced: by
hosts, cores, memory, disks). One that passes waits until no other may cost less, so that the first taken is
the best of all. Numbers of node groups are passed over only where `Verdict.at_least` proves that the limit is
broken there too. Several data nodes share a host where that is cheaper; of the same price the fewest win.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ndbplan.advise.cost import cost_of
from ndbplan.advise.executors import Each, count_of_pieces, crew
from ndbplan.advise.sizing.build import Builder, Clients, other_hosts
from ndbplan.advise.sizing.choices import Choice, size_of
from ndbplan.advise.sizing.choosing import Choosing, choosing_among
from ndbplan.advise.sizing.excuses import Excuse, excuse
from ndbplan.advise.sizing.limits import FEWEST_CLIENTS, LOADER, UNMOVED, Judge
from ndbplan.advise.sizing.sized_plan import SizedPlan
from ndbplan.advise.sizing.verdict import Verdict
from ndbplan.base.shapes import Shape
from ndbplan.base.units import how_many
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits.changes import value_changes
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import Requirements

Key = tuple[float, ...]
_SEARCHED = 0.5
"""Share of the work that is done when the last class has been looked at."""


@dataclass(frozen=True)
class Sized(Shape):
    """What there is to choose from."""

    JSON = "plans excuses not_looked_at choosing"

    plans: tuple[SizedPlan, ...]
    excuses: tuple[Excuse, ...]
    """Of every class that was looked at and does not pass, whatever the number of its node groups."""
    not_looked_at: tuple[str, ...]
    """Classes whose clusters all cost more than the plans that were found."""

    @cached_property
    def choosing(self) -> Choosing:
        """What speaks for which of the plans."""
        return choosing_among(self.plans)


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
) -> Sized:
    """The plans that pass, best first, and the excuses of the classes without one.

    With several `workers`, or with the `scheduler` of a Dask cluster, other processes look at the clusters
    that are likely to be asked about next; the answer is the same. Raises Cancelled when told to stop,
    UserError where tables or loads are too incomplete for an answer.
    """
    through_api = bool(begun.workloads) and all(one.through == "api" for one in begun.workloads)
    judge = Judge(requirements, Builder(begun, clients, through_api), cancelled)
    with crew(workers, scheduler) as each:
        ahead = 1 if workers == 1 and scheduler is None else count_of_pieces(workers, scheduler)
        return _Search(judge, choices, progress, each, ahead).sized()


def _judged(asked: tuple[Judge, Choice, int]) -> Verdict:
    judge, choice, groups = asked
    return judge.verdict(choice, groups)


def _excused(asked: tuple[Judge, Verdict, Verdict | None]) -> Excuse:
    return excuse(*asked)


@dataclass
class _Search:
    judge: Judge
    choices: Sequence[Choice]
    progress: Callable[[float], None]
    each: Each
    ahead: int
    """Clusters that are looked at together."""
    _known: dict[tuple[int, int], Verdict] = field(default_factory=dict)
    """By place among `_shared` and number of node groups: what is known before it is asked for."""

    @cached_property
    def _shared(self) -> tuple[tuple[int, Choice], ...]:
        """Every class with each number of data nodes on a host, fewest first, and its place in `choices`."""
        wanted = set(self.requirements.hardware.nodes_per_host)
        return tuple(
            (place, choice.with_nodes(count))
            for place, choice in enumerate(self.choices)
            for count in sorted(wanted | ({choice.nodes_per_host} if choice.is_planned else set()))
        )

    def _class_of(self, entry: tuple[Key, int, int]) -> int:
        """Place in `choices`."""
        return self._shared[entry[1]][0]

    @property
    def requirements(self) -> Requirements:
        return self.judge.requirements

    def sized(self) -> Sized:
        passed: dict[int, Verdict] = {}
        rejected: dict[int, Verdict] = {}
        beyond: dict[int, Verdict] = {}
        wanted = min(self.requirements.answers, len(self.choices))
        places = range(len(self._shared))
        heap = [entry for place in places for entry in self._entries(place, self.requirements.least_groups)]
        heapq.heapify(heap)
        while heap and len(passed) < wanted:
            if self._class_of(heap[0]) in passed:
                heapq.heappop(heap)
                continue
            verdict = self._verdict(heap)
            entry = heapq.heappop(heap)
            key, place, _ = entry
            of_class = self._class_of(entry)
            following = self._next(verdict)
            if verdict.broken is None:
                costs = self._key(verdict.choice, verdict.groups, verdict.clients)
                if costs > key:
                    self._known[place, verdict.groups] = verdict
                    heapq.heappush(heap, (costs, place, verdict.groups))
                    continue
                passed[of_class] = verdict
                rejected.pop(of_class, None)
            else:
                nearest = rejected.setdefault(of_class, verdict)
                if verdict.plan is None:
                    beyond.setdefault(of_class, verdict)
                elif verdict.broken.kind == LOADER or verdict.distance < nearest.distance:
                    rejected[of_class] = verdict
            if following is not None:
                for one in self._entries(place, following):
                    heapq.heappush(heap, one)
            self.progress(_SEARCHED * (1 - len(heap) / len(places)))
        left = {self._class_of(entry) for entry in heap} - passed.keys()
        given_up = [(one, beyond.get(place)) for place, one in sorted(rejected.items()) if place not in left]
        found = Sized(
            tuple(self._answer(rank, verdict) for rank, verdict in enumerate(passed.values(), 1)),
            tuple(self._excuses(given_up)),
            tuple(self.choices[place].title for place in sorted(left)),
        )
        self.progress(1.0)
        return found

    def _verdict(self, heap: Sequence[tuple[Key, int, int]]) -> Verdict:
        """That of the first entry; where others work, they look at the next ones meanwhile."""
        first = heap[0][1:]
        if first not in self._known:
            near = (entry[1:] for entry in heapq.nsmallest(self.ahead, heap))
            new = [entry for entry in near if entry not in self._known]
            asked = [(self.judge, self._shared[place][1], groups) for place, groups in new]
            for entry, verdict in zip(new, self.each(_judged, asked), strict=True):
                self._known[entry] = verdict
                self.judge.stop_if_told()
        return self._known.pop(first)

    def _excuses(self, given_up: Sequence[tuple[Verdict, Verdict | None]]) -> Iterator[Excuse]:
        asked = [(self.judge, *verdicts) for verdicts in given_up]
        for done, found in enumerate(self.each(_excused, asked)):
            self.progress(_SEARCHED + (1 - _SEARCHED) * done / len(given_up))
            self.judge.stop_if_told()
            yield found

    def _next(self, verdict: Verdict) -> int | None:
        """How many node groups of the same class are looked at next; None: it passes, or none is left.

        Where none can pass any more, the largest that the version takes says best how far away they are;
        one that is larger, whether a later version helps.
        """
        if verdict.broken is None or verdict.plan is None or verdict.broken.kind in UNMOVED:
            return None
        most, following = self.requirements.most_groups, max(verdict.groups + 1, verdict.at_least)
        largest = verdict.choice.most_full(self.judge.most_groups)
        if verdict.groups < largest:
            return min(following, largest)
        return following if following <= most else None

    def _entries(self, place: int, groups: int) -> Iterator[tuple[Key, int, int]]:
        """At least so many node groups that leave no host with room; nothing where those are too many."""
        choice = self._shared[place][1]
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

    def _price(self, host: Host) -> float | None:
        """Of one host with its disks over the months of cost; None: not stated."""
        begun = self.judge.begun
        cost = cost_of(begun.replace(hosts=(host,)))
        return None if cost.total is None or cost.unpriced else cost.total.value

    def _answer(self, rank: int, verdict: Verdict) -> SizedPlan:
        assert verdict.plan is not None
        limits = sorted(verdict.met, key=lambda met: -met.nearness)
        moved = [met for met in limits if met.is_moved]
        why = moved[0].line if moved else "nothing limits it"
        title = title_of(verdict, self.judge)
        bare = self.judge.builder.plan(verdict.choice, verdict.groups, verdict.clients)
        changes = value_changes(bare, verdict.plan) if verdict.steps else ()
        settings = tuple(f"{change.name} {change.shown[1]}" for change in changes)
        return SizedPlan(rank, title, verdict.plan, why, tuple(limits), verdict.groups, settings)


def title_of(verdict: Verdict, judge: Judge) -> str:
    """`2 node groups of 2: 8 cores, 64 GiB, NVMe 3.2 TB; 3 SQL nodes`."""
    replicas = no_of_replicas(judge.begun)
    through_api, coming = judge.builder.through_api, verdict.clients
    clients = how_many(coming.hosts, "API host" if through_api else "SQL node")
    if coming.connections > 1:
        clients += f" with {coming.connections} {'API slots' if through_api else 'cluster connections'} each"
    return f"{how_many(verdict.groups, 'node group')} of {replicas}: {verdict.choice.words}; {clients}"
