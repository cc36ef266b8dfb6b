"""What happens while a workload runs, put into the plan: by kind, or by what a person does to a part.

plan = killed(plan, "peak", ["rack-a"], at_s=90)        # falls silent with all its hosts
plan = started_again(plan, "peak", ["ndb3"], at_s=120)  # ends what keeps it down, or restarts it
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

from ndbplan.base.errors import UserError
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.plan.events import (
    DeviceFailure,
    DiskFull,
    DiskSlow,
    Event,
    HostFailure,
    LocationFailure,
    ManagementNodeDown,
    NetworkCut,
    NetworkSlow,
    NodeFailure,
    ParameterChange,
    SqlNodeDown,
    kinds,
    shown_fields,
)
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, SqlNode
from ndbplan.plan.references import KINDS, what_fits

_AT_ONCE_S = 1.0
"""An SQL node that is restarted is away so long: 0 would mean for the rest of the run."""


def added(
    plan: Plan, workload_id: str, kind: str, at_s: float | None = None, preferred: Collection[str] = ()
) -> Plan:
    """The plan with another event, in the middle of the workload unless told when.

    It is about a part of `preferred` where one fits, else about the first that does. Raises UserError when
    nothing of the plan fits.
    """
    moment_s = round(plan.by_id[workload_id].duration_s / 2) if at_s is None else at_s
    return with_event(plan, workload_id, usual(plan, kind, moment_s, preferred))


def usual(plan: Plan, kind: str, at_s: float, preferred: Collection[str] = ()) -> Event:
    """An event of a kind as one is added: about a part of `preferred` where one fits. Raises UserError."""
    fields: dict[str, Any] = {"at_s": at_s}
    event = kinds()[kind]
    for name, _, ref, _ in shown_fields(event):
        if ref is not None and event.model_fields[name].is_required():
            first = _first(plan, ref.to, preferred)
            fields[name] = (first,) if name == "object_ids" else first
    if event is ParameterChange:
        fields |= {"name": "RedoBuffer", "value": 2 * node_settings(plan).number("RedoBuffer")}
    return cast(Event, validated.made(event, fields))


def _first(plan: Plan, to: str, preferred: Collection[str]) -> str:
    known = [str(part.id) for part in what_fits(plan, to)]
    if not known:
        what = f"a{'n' if KINDS[to][0].startswith('S') else ''} {KINDS[to][0]}"
        raise UserError(f"the event needs {what}", fix=f"add {what} to the plan first")
    return next((one for one in known if one in preferred), known[0])


def with_event(plan: Plan, workload_id: str, *new: Event) -> Plan:
    """The plan with events behind those that a workload has."""
    return edits.update(plan, workload_id, events=(*plan.by_id[workload_id].events, *new))


def put_event(plan: Plan, workload_id: str, i: int, new: Event) -> Plan:
    """The plan with one event of a workload exchanged."""
    events = plan.by_id[workload_id].events
    return edits.update(plan, workload_id, events=(*events[:i], new, *events[i + 1 :]))


def without_event(plan: Plan, workload_id: str, i: int) -> Plan:
    """The plan without one event of a workload."""
    events = plan.by_id[workload_id].events
    return edits.update(plan, workload_id, events=(*events[:i], *events[i + 1 :]))


def moved_event(plan: Plan, workload_id: str, i: int, at_s: float) -> Plan:
    """The plan with one event at another moment; how long it lasts stays."""
    event = plan.by_id[workload_id].events[i]
    return (
        plan if event.at_s == at_s else put_event(plan, workload_id, i, validated.changed(event, at_s=at_s))
    )


# What a person does to a part.


def can_be_killed(part: object) -> bool:
    """Whether a part may fail in a run: nodes, disks, hosts and locations; no API slots."""
    return isinstance(part, DataNode | ManagementNode | SqlNode | Host | Location | Disk)


def killed(
    plan: Plan, workload_id: str, object_ids: Iterable[str], at_s: float, back_after_s: float | None = None
) -> Plan:
    """The plan with events in which these parts fail at one moment.

    `back_after_s`: when they are started again; a disk that failed stays so. Raises UserError for a part that
    cannot fail in a run.
    """
    new = [_failure(plan, plan.by_id[object_id], at_s, back_after_s) for object_id in object_ids]
    return with_event(plan, workload_id, *new)


def _failure(plan: Plan, part: Any, at_s: float, back_after_s: float | None) -> Event:
    if isinstance(part, DataNode):
        return NodeFailure(at_s=at_s, object_id=part.id, back_after_s=back_after_s)
    if isinstance(part, ManagementNode):
        return ManagementNodeDown(at_s=at_s, object_id=part.id, back_after_s=back_after_s)
    if isinstance(part, SqlNode):
        away_s = 0.0 if back_after_s is None else max(_AT_ONCE_S, back_after_s)
        return SqlNodeDown(at_s=at_s, object_id=part.id, duration_s=away_s)
    if isinstance(part, Host):
        return HostFailure(at_s=at_s, object_id=part.id, back_after_s=back_after_s)
    if isinstance(part, Location):
        return LocationFailure(at_s=at_s, object_id=part.id, back_after_s=back_after_s)
    if isinstance(part, Disk):
        return DiskSlow(at_s=at_s, object_id=part.id, factor=0.0)
    raise UserError("no event lets this fail", fix="choose a node, a disk, a host or a location")


def started_again(plan: Plan, workload_id: str, object_ids: Iterable[str], at_s: float) -> Plan:
    """The plan in which these parts are started at a moment.

    What an earlier event keeps down is back then; what runs is stopped there and started at once.
    """
    for object_id in object_ids:
        i = _keeps_down(plan, workload_id, object_id, at_s)
        if i is None:
            plan = killed(plan, workload_id, [object_id], at_s, 0.0)
            continue
        event = plan.by_id[workload_id].events[i]
        field = "duration_s" if isinstance(event, SqlNodeDown | DiskSlow | DiskFull) else "back_after_s"
        plan = put_event(plan, workload_id, i, validated.changed(event, **{field: at_s - event.at_s}))
    return plan


def is_restart(event: Event) -> bool:
    """Whether what fails is started again at once: somebody restarts it."""
    if isinstance(event, SqlNodeDown):
        return 0.0 < event.duration_s <= _AT_ONCE_S
    return getattr(event, "back_after_s", None) == 0.0


def _keeps_down(plan: Plan, workload_id: str, object_id: str, at_s: float) -> int | None:
    """Which event keeps a part down, slow or full at a moment; of several the last."""
    last: int | None = None
    for i, event in enumerate(plan.by_id[workload_id].events):
        if getattr(event, "object_id", None) != object_id or event.at_s >= at_s:
            continue
        lasts_s = getattr(event, "back_after_s", None) or getattr(event, "duration_s", 0.0) or None
        if getattr(event, "back_after_s", None) == 0.0:
            continue
        later = last is None or event.at_s >= plan.by_id[workload_id].events[last].at_s
        if later and (lasts_s is None or event.at_s + lasts_s > at_s):
            last = i
    return last


def keeps_down(plan: Plan, workload_id: str, object_id: str, at_s: float) -> Event | None:
    """The event of the workload that keeps a part down, slow or full at a moment; None: it is well."""
    i = _keeps_down(plan, workload_id, object_id, at_s)
    return None if i is None else plan.by_id[workload_id].events[i]


def slowed(
    plan: Plan, workload_id: str, disk_ids: Iterable[str], factor: float, at_s: float, duration_s: float = 0.0
) -> Plan:
    """The plan with events in which disks have so much of their speed; a duration of 0: until the end."""
    _refuse_faster(factor)
    new = [
        validated.made(
            DiskSlow, {"at_s": at_s, "object_id": disk_id, "factor": factor, "duration_s": duration_s}
        )
        for disk_id in disk_ids
    ]
    return with_event(plan, workload_id, *new)


def _refuse_faster(factor: float) -> None:
    if not 0 < factor < 1:
        raise UserError(
            f"{factor:g} times its speed is not slower", fix="type more than 0 % and less than 100 %"
        )


def filled(
    plan: Plan, workload_id: str, disk_ids: Iterable[str], at_s: float, duration_s: float = 0.0
) -> Plan:
    """The plan with events in which other files take all room of disks; a duration of 0: until the end."""
    new = [DiskFull(at_s=at_s, object_id=disk_id, duration_s=duration_s) for disk_id in disk_ids]
    return with_event(plan, workload_id, *new)


def without_device(
    plan: Plan, workload_id: str, disk_ids: Iterable[str], at_s: float, back_after_s: float | None = None
) -> Plan:
    """The plan with events in which one device of each disk fails; `back_after_s`: when it is replaced."""
    new = [DeviceFailure(at_s=at_s, object_id=i, back_after_s=back_after_s) for i in disk_ids]
    return with_event(plan, workload_id, *new)


def cut_off(
    plan: Plan, workload_id: str, object_ids: Iterable[str], at_s: float, other_ids: Iterable[str] = ()
) -> Plan:
    """The plan with an event in which two sides lose sight of each other; no other side: everything else."""
    new = validated.made(
        NetworkCut, {"at_s": at_s, "object_ids": tuple(object_ids), "other_ids": tuple(other_ids)}
    )
    return with_event(plan, workload_id, new)


def slowed_link(
    plan: Plan,
    workload_id: str,
    object_ids: Iterable[str],
    at_s: float,
    factor: float,
    duration_s: float = 0.0,
    other_ids: Iterable[str] = (),
) -> Plan:
    """The plan with an event in which what crosses between two sides gets so much of its bandwidth.

    No other side: everything else. A duration of 0: until the end.
    """
    _refuse_faster(factor)
    sides = {"object_ids": tuple(object_ids), "other_ids": tuple(other_ids)}
    new = validated.made(NetworkSlow, {"at_s": at_s, **sides, "factor": factor, "duration_s": duration_s})
    return with_event(plan, workload_id, new)
