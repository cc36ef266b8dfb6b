"""Whether one cluster meets the requirements: limit after limit, the cheap ones first, until one is broken.

    verdict = Judge(wanted...).verdict(choice, groups=4)
    verdict.broken                # None: it passes
    verdict.at_least              # with fewer node groups the same limit is broken too

Everything holds with the rows of the last month; the load is the peak and its headroom. `at_least` follows
from two laws: more node groups never hold less, or have less work, in all, and the fullest node of a cluster
is at least as full as the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

from ndbplan.advise.candidate import Change
from ndbplan.advise.candidate_settings import is_of_log_or_checkpoints, of_log_and_checkpoints
from ndbplan.advise.load_left import load_left
from ndbplan.advise.sizing.build import MOST_NODES, Builder, Clients
from ndbplan.advise.sizing.choices import Choice
from ndbplan.advise.sizing.coming import more_clients
from ndbplan.advise.sizing.errors import Errors
from ndbplan.advise.sizing.failing import carried_without, survives
from ndbplan.advise.sizing.files import with_data_files, with_undo_files
from ndbplan.advise.sizing.jobs import of_cluster, of_loader, when_done
from ndbplan.advise.sizing.loads import steady
from ndbplan.advise.sizing.sustaining import Asked, nearness_of_kind, not_sustained, sustained_share
from ndbplan.advise.sizing.verdict import (
    CHECK,
    CLIENTS,
    CONNECTIONS,
    FIXED_NODES,
    MEMORY,
    Met,
    Verdict,
    kind_of,
    too_many_nodes,
    within_budget,
    within_times,
)
from ndbplan.advise.sizing.worlds import Left, Worlds
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.checks.run import first_fixes
from ndbplan.configuration.settings import no_of_replicas, settings_by_node, usable_data_memory
from ndbplan.edits.changes import value_changes
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.space.growth import after_months
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import Requirements, WantedJob
from ndbplan.plan.workloads import JobLoad, Workload

_ROUNDING = 1e-9
_OF_LOADS = "tx/s"
"""Unit of the limits that clients move."""
_exact = Quantity.exact
FEWEST_CLIENTS = Clients(hosts=2)
"""Hosts of SQL nodes: one may fail."""


def _never() -> bool:
    return False


@dataclass
class Work:
    """What has been looked at, the same on any machine: one for each data node whenever one is estimated."""

    nodes: int = 0


@dataclass
class Judge:
    """The requirements, asked of cluster after cluster."""

    requirements: Requirements
    builder: Builder
    cancelled: Callable[[], bool] = _never
    most_steps: int = 3
    """Of redo and checkpoint parameters that are taken one after the other; 0: none is tried."""
    holds_in: float = 0.0
    """The share of the drawn worlds in which every limit has to be kept; 0: by likely values is enough."""
    work: Work = field(default_factory=Work, compare=False)
    _worlds: Worlds = field(default_factory=Worlds, init=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process that it is handed over to cannot be told to stop."""
        return Judge, (self.requirements, self.builder, _never, self.most_steps, self.holds_in)

    @cached_property
    def errors(self) -> Errors:
        """What checks found of the clusters that were looked at."""
        return Errors(self.begun, self.cancelled)

    def stop_if_told(self) -> None:
        """Raises Cancelled when told to stop."""
        if self.cancelled():
            raise Cancelled

    @property
    def begun(self) -> Plan:
        """Tables and workloads."""
        return self.builder.begun

    @property
    def most_groups(self) -> int:
        """Node groups that there may be, by the version and by the requirements."""
        by_version = self.begun.features.data_nodes_most // no_of_replicas(self.begun)
        return min(self.requirements.most_groups, by_version)

    @property
    def loads(self) -> tuple[Workload, ...]:
        """The workloads whose peak has to be carried."""
        return tuple(one for one in self.begun.workloads if not isinstance(one.load, JobLoad))

    def verdict(self, choice: Choice, groups: int, most_clients: int = MOST_NODES) -> Verdict:
        """What one class with so many node groups makes of the requirements.

        With more hosts of clients than `most_clients` it is not looked at: the limit that asks for them stays
        broken.
        """
        self.stop_if_told()
        with keeping():
            found = self._verdict(Verdict(choice, groups, FEWEST_CLIENTS, None))
            while (
                following := self._with_more_clients(found, most_clients) or self._after_a_step(found)
            ) is not None:
                found = following
            return found

    def nearness(self, found: Verdict, most: int) -> float:
        """How near the limit that a cluster breaks comes with as many node groups as there may be."""
        kind = found.broken.kind if found.broken is not None else ""
        larger = replace(found, groups=self._most_built(found, most))
        with keeping():
            larger.most_memory = kind == MEMORY
            near = self._worst(self._built(larger), kind)
            if found.broken is not None and found.broken.needed.unit == _OF_LOADS:
                # What the few clients of a small cluster carry hides other limits of a large one.
                grown = self._grown(larger)
                near = max(near, nearness_of_kind(grown, self._asked_loads(grown), kind))
            return near

    def sustained(self, found: Verdict) -> float:
        """The share of all peaks, with their headroom, that a cluster sustains when it is simulated."""
        with keeping():
            grown = self._grown(found)
            return sustained_share(grown, self._asked_loads(grown), self.cancelled)

    def again(self, found: Verdict, choice: Choice) -> Met | None:
        """The limit that a cluster breaks, asked of the same on other hosts; None: there it is met."""
        with keeping():
            trial = self._built(replace(found, choice=choice))
            ask = next(islice(self._asked(trial), found.place, None))
            return next((met for met in ask() if met.nearness > 1), None)

    def _grown(self, found: Verdict) -> Estimation:
        """The cluster with the rows of the last month."""
        assert found.plan is not None
        self.work.nodes += len(found.plan.data_nodes)
        return Estimation(after_months(found.plan, self.requirements.months))

    def _asked_loads(self, grown: Estimation) -> Asked:
        return [(one, self._asked_of(grown, one)) for one in self.loads]

    def _with_more_clients(self, found: Verdict, most: int) -> Verdict | None:
        """The same cluster where the load comes through more; None: that is not what it lacks.

        More node groups may answer sooner and need fewer, so that each number of groups begins with the
        fewest. A larger pool needs no host.
        """
        if found.broken is None:
            return None
        lacking, likely = partial(self._lacking, found), partial(self._likely, found)
        clients = more_clients(found.broken, found.clients, lacking, likely)
        if clients is None or clients.hosts > most:
            return None
        # After a step they are worked out again: a checkpoint that lasts longer keeps more undo log.
        files = None if found.steps else found
        return self._verdict(Verdict(found.choice, found.groups, clients, None, steps=found.steps), files)

    def _likely(self, found: Verdict) -> float:
        """How many times as many clients carry what the data nodes do, or the load."""
        assert found.plan is not None
        assert found.broken is not None
        grown = self._grown(found)
        loads = (grown.under(steady(*load)) for load in self._asked_loads(grown))
        carried = (
            load_left(one).least(lambda limit: kind_of(limit) not in (CONNECTIONS, CLIENTS)) for one in loads
        )
        return min((found.broken.needed.value, *carried)) / found.broken.allowed.value

    def _lacking(self, found: Verdict, clients: Clients) -> Met | None:
        """The limit of a load that the cluster breaks in closed form for want of clients, with these."""
        if too_many_nodes(self.begun, found.groups, clients) is not None:
            return found.broken
        assert found.plan is not None
        trial = self._built(replace(found, clients=clients, most_memory=False), found)
        grown = self._grown(trial)
        left = self._left()
        for before in found.met:
            if before.needed.unit != _OF_LOADS:
                left(before)
        for workload in self.loads:
            for met in map(left, self._load(trial, grown, workload)):
                if met.nearness > 1:
                    return met if met.kind in (CONNECTIONS, CLIENTS) else None
        return None

    def _after_a_step(self, found: Verdict) -> Verdict | None:
        """The same cluster after the step of a redo or checkpoint parameter that does most for it.

        None: no step comes nearer to passing. What the plan states of its own hosts stays.
        """
        broken = found.broken
        if broken is None or found.plan is None or len(found.steps) >= self.most_steps:
            return None
        if not broken.may_be_stepped:
            return None
        # What was simulated is known: it is the only limit of its place.
        is_known = broken.is_simulated and broken.in_worlds is None
        below = _WORTHWHILE * (broken.nearness if is_known else self._worst(found))
        steps = self._steps(found.plan, broken, found.choice.is_planned)
        for trial in islice(self._nearest(found, steps, below), _STEPS_HELD):
            judged = self._held(replace(trial, met=[], broken=None))
            # What was proved of fewer node groups was proved without this step.
            judged.at_least = found.at_least
            if judged.broken is None or judged.distance < found.distance:
                return judged
        return None

    def _nearest(self, found: Verdict, steps: Iterator[Change], below: float) -> Iterator[Verdict]:
        """The cluster after each step that comes nearer to what was asked last, nearest first."""
        assert found.plan is not None
        trials: list[tuple[float, int, Verdict]] = []
        for change in steps:
            try:
                trial = replace(found, plan=change.edit(found.plan), steps=(*found.steps, change))
                worst = self._worst(trial, below=below)
            except UserError:
                continue
            if worst <= 0:
                # Nothing of it is left: no other step comes nearer.
                yield trial
            elif worst < below:
                trials.append((worst, len(trials), trial))
        yield from (trial for _, _, trial in sorted(trials, key=lambda one: one[:2]))

    def _steps(self, plan: Plan, broken: Met, is_planned: bool) -> Iterator[Change]:
        """Redo and checkpoint parameters the plan does not state, stepped; against errors: their fixes."""
        stated = self.begun.parameters.data_node if is_planned else ()
        if broken.kind != CHECK:
            yield from of_log_and_checkpoints(plan, stated)
            return
        known: set[tuple[tuple[str, str, object], ...]] = set()
        for then in dict.fromkeys((plan, after_months(plan, self.requirements.months))):
            for problem, edit in first_fixes(then, self.cancelled):
                changes = value_changes(plan, edit(plan))
                sets = tuple((change.scope, change.name, change.after) for change in changes)
                if not sets or sets in known:
                    continue
                known.add(sets)
                if all(is_of_log_or_checkpoints(name) and name not in stated for _, name, _ in sets):
                    yield Change(problem.fix or problem.message, edit, "fix")

    def _worst(self, found: Verdict, kind: str | None = None, below: float = math.inf) -> float:
        """How near it comes to the limits (of one kind) asked for with the broken one; exact `below` this."""
        ask = next(islice(self._asked(found, below), found.place, None))
        return max((met.nearness for met in ask() if kind in (None, met.kind)), default=0.0)

    def _verdict(self, found: Verdict, files: Verdict | None = None) -> Verdict:
        """Of a cluster that nothing was asked of yet; `files`: see `_built`."""
        found.broken = too_many_nodes(self.begun, found.groups, found.clients)
        if found.broken is not None:
            return found
        first = self._held(self._built(found, files))
        if first.broken is None or first.broken.kind != MEMORY:
            return first
        # DataMemory is raised only where rows ask for it: a larger one takes longer to allocate.
        found = replace(found, met=[], broken=None, at_least=first.at_least, most_memory=True)
        return self._held(self._built(found, files))

    def _built(self, found: Verdict, files: Verdict | None = None) -> Verdict:
        """`files`: the same cluster with other clients, whose files on disk are its own too."""
        plan = self.builder.plan(found.choice, found.groups, found.clients, most_memory=found.most_memory)
        for step in found.steps:
            plan = step.edit(plan)
        if files is None or files.plan is None:
            found.plan = with_data_files(plan, self.requirements, self.loads)
            found.has_undo_files = False
        else:
            # They are those of tables and loads, whatever clients there are.
            own = files.plan
            found.plan = plan.replace(tablespaces=own.tablespaces, logfile_groups=own.logfile_groups)
            found.has_undo_files = files.has_undo_files
        return found

    def _grown_with_undo_files(self, found: Verdict) -> Estimation:
        """The cluster of the last month whose undo files have room: it takes long, few limits ask for it."""
        assert found.plan is not None
        if not found.has_undo_files:
            found.plan = with_undo_files(found.plan, self.requirements, self.loads)
            found.has_undo_files = True
        return self._grown(found)

    def _held(self, found: Verdict) -> Verdict:
        """A verdict with what the requirements say of its plan."""
        left = self._left()
        for place, ask in enumerate(self._asked(found)):
            found.place = place
            for met in map(left, ask()):
                self.stop_if_told()
                if met.nearness > 1:
                    found.broken = met
                    return found
                found.met.append(met)
        return found

    def _left(self) -> Callable[[Met], Met]:
        """Tells of one limit after the other how near it is in the drawn worlds, where they count."""
        left = Left(self._worlds, self.holds_in) if self.holds_in else None

        def told(met: Met) -> Met:
            if met.nearness <= 1 and left is not None and (times := left.times(met)) > 1:
                return replace(met, in_worlds=times)
            return met

        return told

    def _asked(self, found: Verdict, below: float = math.inf) -> Iterator[Callable[[], Iterator[Met]]]:
        """Limits in the order in which they are asked for: what takes long comes last."""
        assert found.plan is not None
        job = self.requirements.job
        grown = self._grown(found) if job is None else self._grown_with_undo_files(found)
        yield partial(within_budget, found.plan, self.requirements.budget)
        if job is not None:
            yield partial(of_loader, found.plan, job)
        yield partial(self._memory, found, grown)
        if job is not None:
            yield partial(self._loaded, found, job)
        for workload in self.loads:
            yield partial(self._load, found, grown, workload)
        grown = self._grown_with_undo_files(found)
        yield partial(self._space, grown)
        yield partial(within_times, grown, self.requirements.within)
        yield partial(survives, grown.plan, self.requirements.survive)
        yield partial(self._checks, found, found.plan, "")
        if grown.plan is not found.plan:
            yield partial(self._checks, found, grown.plan, f" in {self.requirements.months} months")
        for load in self._asked_loads(grown):
            yield partial(not_sustained, grown, *load, below, self.cancelled)
        if job is not None:
            yield partial(of_cluster, found.plan, job, self.cancelled)

    def _memory(self, found: Verdict, grown: Estimation) -> Iterator[Met]:
        room = 1.0 / (1.0 + self.requirements.headroom)
        yield self._fullest(found, grown, room, f"in {self.requirements.months} months")

    def _loaded(self, found: Verdict, job: WantedJob) -> Iterator[Met]:
        """Whether the rows of a load job have room in the memory of all node groups, and on their disks."""
        assert found.plan is not None
        then = when_done(found.plan, job)
        if then is not None:
            when = "when the load job is done"
            yield self._fullest(found, then, 1.0, when)
            yield from self._fullest_disk(then, 1.0, when)

    def _fullest(self, found: Verdict, then: Estimation, room: float, when: str) -> Met:
        """DataMemory of the fullest node, of which so much may be used; and that all need it in all."""
        nodes = [node for node in then.memory.nodes if node.data_memory_limit_bytes]
        most = max(nodes, key=lambda node: node.data_memory_bytes.value / node.data_memory_limit_bytes)
        # Rows cannot fill what MinFreePct keeps for restarts, which is no more than most headroom.
        room = min(room, usable_data_memory(settings_by_node(then.plan)[most.node_id]))
        limit = most.data_memory_limit_bytes * room
        largest = max(limit, room * self.builder.data_memory_bytes(found.choice, most_memory=True))
        if largest > 0:
            self._at_least(found, sum(n.data_memory_bytes.value for n in nodes) / largest / len(nodes))
        title = f"DataMemory of node {most.node_id} {when}"
        return Met(title, most.data_memory_bytes, _exact(limit, "bytes"), MEMORY)

    def _at_least(self, found: Verdict, mean_use: float) -> None:
        """What of a node is used in the mean: with fewer groups at least as much in all is on fewer nodes."""
        found.at_least = max(found.at_least, math.ceil(found.groups * mean_use - _ROUNDING))

    def _load(self, found: Verdict, grown: Estimation, workload: Workload) -> Iterator[Met]:
        peak, asked = self._peak(grown, workload), self._asked_of(grown, workload)
        now = grown.under(steady(workload, asked))
        uses = [host.utilisation.value for host in now.cpu.hosts if host.data_nodes]
        self._at_least(found, sum(uses) / max(1, len(uses)))
        left, limit = load_left(now).limited(())
        title = (
            f"peak of '{workload.name}' with headroom ({limit.text if limit else 'nobody sends anything'})"
        )
        yield Met(title, _exact(asked, "tx/s"), left, kind_of(limit))
        if self.requirements.carry_peak:
            yield from carried_without(grown.under(steady(workload, peak)), self.requirements.survive)

    def _peak(self, grown: Estimation, workload: Workload) -> float:
        return grown.under(workload).offered_per_s

    def _asked_of(self, grown: Estimation, workload: Workload) -> float:
        return self._peak(grown, workload) * (1.0 + self.requirements.headroom)

    def _space(self, grown: Estimation) -> Iterator[Met]:
        room = 1.0 / (1.0 + self.requirements.headroom)
        yield from self._fullest_disk(grown, room, f"in {self.requirements.months} months")

    def _fullest_disk(self, then: Estimation, room: float, when: str) -> Iterator[Met]:
        """The disk with the least room, under the load whose changes the log of a backup has most of."""
        loads = self.loads or (None,)
        disks = [(disk, load) for load in loads for disk in then.under(load).disk_space.disks]
        most = max(disks, key=lambda found: found[0].fill.value, default=None)
        if most is not None:
            disk, load = most
            under = f" under '{load.name}'" if load is not None and len(loads) > 1 else ""
            title = f"space of {disk.host}/{disk.disk} {when}{under}"
            yield Met(title, disk.fill, _exact(room, "fraction"), "disk space")

    def _checks(self, found: Verdict, plan: Plan, when: str) -> Iterator[Met]:
        yield self.errors.met(plan, when, partial(self._largest, found, plan))
        self.stop_if_told()

    def _largest(self, found: Verdict, plan: Plan) -> Plan:
        """As many node groups of a class as there may be, with the rows that a plan has."""
        groups = self._most_built(found, self.most_groups)
        return self.builder.plan(found.choice, groups, found.clients).replace(tables=plan.tables)

    def _most_built(self, found: Verdict, most: int) -> int:
        """Node groups of full hosts, up to so many, beside whose data nodes there are ids for the others."""
        left = MOST_NODES - FIXED_NODES - found.clients.nodes
        return found.choice.most_full(min(most, left // no_of_replicas(self.begun)))


_WORTHWHILE = 0.98
"""A step that comes no nearer than this is none."""
_STEPS_HELD = 3
"""Steps, of those that do most against the broken limit, that are held against all others."""
