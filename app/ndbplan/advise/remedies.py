"""What would help a plan that cannot take its load: changes tried one by one, each with what it gains.

A change is offered when it can be done (no check finds a new or worse error or warning afterwards: memory,
disk space, maximum of the parameter), and when it raises the load that is sustained. A larger buffer or log
does not, where the disks take less than what comes in: it only delays the error. Where DataMemory or a
tablespace is what ends the time once a change is made, the change is tried with room for the rows too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ndbplan.advise.candidate import Change, Edit
from ndbplan.advise.candidate_limits import lifting, more_room
from ndbplan.advise.candidates import Legal, ways_against, ways_beyond
from ndbplan.advise.max_load import MaxLoad, max_load
from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.configuration.assumed import unknown
from ndbplan.configuration.directories import disk_for
from ndbplan.edits import parts as edits
from ndbplan.edits.changes import ASSUMED, ValueChange, credited, value_changes
from ndbplan.edits.places import address_of_part
from ndbplan.plan.origins import SetByProgram
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.workloads import OpenLoad, RatePoint, Workload

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.simulate.bottleneck import Bottleneck

ROOM = ("memory", "tablespace")
"""Resources that rows fill: what they limit is how long a rate is sustained."""
WORTHWHILE = 1.02
"""A change that gains less is not called a help."""


@dataclass(frozen=True)
class Remedy(Shape):
    """One change and the highest load before and after it, in transactions per second."""

    JSON = "title before_per_s=before after_per_s=after limited_by enough=is_enough changes set=arguments"

    title: str
    edit: Edit
    before: Quantity
    after: Quantity
    is_enough: bool
    """Whether the workload's own rate is sustained afterwards."""
    duration_s: float
    """How long both rates are sustained."""
    limited_by: Bottleneck
    """What ends the next higher rate afterwards."""
    changes: tuple[ValueChange, ...]
    arguments: tuple[str, ...] | None
    """What `ndbplan set PLAN` takes to do the same; None: it takes more than values."""

    @property
    def helps(self) -> bool:
        """Whether it raises the sustained load at all; more RedoBuffer, for one, only delays the error."""
        return self.after.value > self.before.value * WORTHWHILE


@dataclass(frozen=True)
class Remedies:
    """The highest load of a plan as it is, and what would raise it."""

    highest: MaxLoad
    remedies: tuple[Remedy, ...]
    missing: str
    """Where there are none: what is only assumed of what limits the load; nothing: all is stated."""


def remedies(
    now: Estimation,
    *,
    duration_s: float | None = None,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
    also_useless: bool = False,
) -> tuple[Remedy, ...]:
    """The remedies of `find_remedies`."""
    return find_remedies(
        now,
        duration_s=duration_s,
        cancelled=cancelled,
        progress=progress,
        also_useless=also_useless,
    ).remedies


def sustained_s(workload: Workload) -> float:
    """How long its load has to be sustained unless told otherwise: as long as the workload lasts."""
    return max(1.0, workload.duration_s)


def find_remedies(
    now: Estimation,
    *,
    duration_s: float | None,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
    also_useless: bool = False,
) -> Remedies:
    """The highest load sustained for a time, and changes that raise it, those that suffice first.

    Without `duration_s`: for as long as the workload lasts. Spreading the load over more nodes comes before
    more or better disks, as both do before parameters. With `also_useless`, changes that gain nothing are
    listed too, last. Raises SimulationError, Cancelled.
    """
    from ndbplan.simulate.model.workload import workload_of

    plan, workload = now.plan, now.workload or workload_of(now.plan, None)
    lasts_s = duration_s if duration_s is not None else sustained_s(workload)

    def highest(of: Plan) -> MaxLoad:
        loaded = now.of(of).under(of.workload(workload.id))
        return max_load(loaded, duration_s=lasts_s, cancelled=cancelled, with_next=False)

    before = highest(plan)
    harmless = Legal(plan)
    ways = ways_against(harmless.problems, before.limited_by.resource)
    beyond = ways_beyond(plan, workload, before)
    candidates = [*ways, *beyond, *lifting(plan, workload, before.limited_by)]
    tried: list[Remedy] = []
    had: set[str] = set()
    afters: list[Plan] = []
    best_layout = [0.0, 0.0]

    def take(candidate: Change, after: Plan, reached: MaxLoad, roomier: int) -> None:
        remedy = _remedy(plan, workload, candidate, after, before.max_per_s, reached)
        if candidate.more_disks is not None:
            # Layouts come by the number of disks: more of them must gain more.
            if remedy.after.value <= best_layout[roomier] * WORTHWHILE:
                return
            best_layout[roomier] = remedy.after.value
        tried.append(remedy)

    for done, candidate in enumerate(candidates, start=1):
        try:
            after = candidate.edit(plan)
            # Roles that lie on the same disks make one change of two.
            if candidate.one_of in had or after is plan or after in afters or not harmless(after):
                continue
            afters.append(after)
            reached = highest(after)
            had |= {candidate.one_of} - {""}
            take(candidate, after, reached, 0)
            if before.limited_by.resource not in ROOM and not candidate.only_holds_back:
                roomier = _roomier(plan, harmless, candidate, after, reached, highest)
                if roomier is not None:
                    take(*roomier, 1)
        except UserError:
            continue
        finally:
            if progress is not None:
                progress(done / len(candidates))
    useful = [r for r in tried if r.helps]
    enough = [r for r in useful if r.is_enough]
    rest = sorted((r for r in useful if not r.is_enough), key=lambda r: -r.after.value)
    useless = [r for r in tried if not r.helps] if also_useless else []
    missing = "" if useful else unknown(plan, before.limited_by.resource)
    return Remedies(before, (*enough, *rest, *useless), missing)


def _remedy(
    plan: Plan,
    workload: Workload,
    candidate: Change,
    after: Plan,
    before_rate: Quantity,
    reached: MaxLoad,
) -> Remedy:
    rate, is_enough = reached.max_per_s, reached.is_enough
    if candidate.only_holds_back and rate.value > 0:
        used = _used_in_the_long_run(after, workload, rate.value)
        if used >= _used_in_the_long_run(plan, workload, rate.value) * (1.0 - 1e-6):
            # Neither disks nor log take more than before: what is held back for a while comes all the same.
            rate = before_rate
        elif used > 1.0:
            rate = rate.scaled(1.0 / used)
        is_enough = is_enough and (reached.is_job or rate.value >= reached.offered_per_s)
    changes = value_changes(plan, after)
    origin = SetByProgram(rule="remedies", reason=candidate.title)
    return Remedy(
        candidate.title,
        lambda before: credited(before, candidate.edit(before), origin),
        before_rate,
        rate,
        is_enough,
        reached.duration_s,
        reached.limited_by,
        changes,
        set_arguments(plan, after, changes),
    )


def _roomier(
    plan: Plan,
    harmless: Callable[[Plan], bool],
    candidate: Change,
    after: Plan,
    reached: MaxLoad,
    highest: Callable[[Plan], MaxLoad],
) -> tuple[Change, Plan, MaxLoad] | None:
    """A change together with room for the rows that come, where they end the time once it is made.

    With the least room that does, or the most there is; None where it does not help further.
    """
    roomier = None
    rooms = list(more_room(after, reached.limited_by.resource))
    for room in reversed(rooms):

        def both(plan: Plan, then: Edit = room.edit) -> Plan:
            return then(candidate.edit(plan))

        larger = both(plan)
        if not harmless(larger):
            break
        roomier = (replace(candidate, title=f"{candidate.title}, with {room.title}", edit=both), larger)
        then = highest(larger)
        if then.limited_by.resource not in ROOM:
            break
    if roomier is None or then.max_per_s.value <= WORTHWHILE * reached.max_per_s.value:
        return None
    return (*roomier, then)


def _used_in_the_long_run(plan: Plan, workload: Workload, rate_per_s: float) -> float:
    """Share of what disks write, or of the log that checkpoints free in time, that a steady rate takes."""
    from ndbplan.estimate.estimation import Estimation

    load = OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=rate_per_s),))
    used = {
        disk.id
        for node in plan.data_nodes
        for role in (DiskRole.REDO, DiskRole.LCP)
        if (disk := disk_for(plan, node, role)) is not None
    }
    steady = workload.model_copy(update={"load": load, "events": ()})
    plan = edits.update(plan, workload.id, load=load, events=())
    now = Estimation(plan, steady)
    demand = now.disks
    busiest = max((d.utilisation.value for d in demand.disks if d.disk_id in used), default=0.0)
    log = max((node.redo_fill.value for node in now.checkpoint.nodes), default=0.0)
    return max(busiest, log)


def set_arguments(plan: Plan, after: Plan, changes: tuple[ValueChange, ...]) -> tuple[str, ...] | None:
    """Arguments with which `ndbplan set` makes `after` of `plan`; None when values alone do not."""
    from ndbplan.edits.address import resolve
    from ndbplan.edits.assign import assign
    from ndbplan.edits.spelled import spelled

    arguments = []
    for change in changes:
        part = plan.by_id.get(change.scope)
        if change.name == "object" or (part is None and change.scope == "links"):
            return None
        if change.is_parameter:
            place = f"parameters.{change.scope}" if part is None else f"processes[{change.scope}].parameters"
        else:
            # A field of the plan itself stands alone.
            place = address_of_part(plan, change.scope) if change.scope else ""
        name, value = change.name, change.after
        if name.startswith(ASSUMED):
            name = "assumed"
            value = ",".join(after.by_id[change.scope].assumed)
        if name.startswith("disk of "):
            name = f"disk_roles.{name.removeprefix('disk of ').lower().replace(' ', '_')}"
        address = f"{place}.{name}".lstrip(".")
        typed = "" if value is None else str(value)
        if isinstance(value, int | float):
            try:
                typed = spelled(resolve(plan, address)[0], value)
            except UserError:
                return None
        arguments.append(f"{address}={typed}")
    arguments = list(dict.fromkeys(arguments))
    made = plan
    try:
        for argument in arguments:
            made = assign(made, argument)[0]
    except UserError:
        return None
    return tuple(arguments) if not value_changes(made, after) else None
