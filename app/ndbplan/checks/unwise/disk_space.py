"""Rules about disk space: do redo log, checkpoints, disk data and backups fit, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_bytes, format_ndb_size, format_percent, how_many
from ndbplan.checks.fits import ROOM_LEFT
from ndbplan.checks.layouts import uses_disk_data
from ndbplan.checks.problem import Problem, Severity, Solution
from ndbplan.checks.rule import hint, rule, warning
from ndbplan.checks.unwise.disk_cures import (
    MOVED_FIRST,
    Finding,
    by_cause,
    larger_disk,
    less_in_memory,
    less_memory,
    less_on_disk,
    less_or_larger,
)
from ndbplan.checks.unwise.growth_ways import room_to_grow
from ndbplan.checks.unwise.space_ways import fewer_backups
from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.space.disk_space import DiskSpace
from ndbplan.estimate.space.growth import (
    Filling,
    disk_fillings,
    first_of,
    grows,
    memory_full,
    tablespace_fillings,
)
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.workloads import Workload

_SOON_MONTHS = 12
"""What is full within a year is said: judgement."""
_HOSTS_NAMED = 3
"""Hosts that a message names."""
NAMES = {
    DiskRole.REDO: "redo log",
    DiskRole.LCP: "checkpoints",
    DiskRole.UNDO: "undo files",
    DiskRole.DATA_FILES: "data files",
    DiskRole.BACKUP: "backups",
}


def _without_backups(disk: DiskSpace) -> float:
    return disk.likely_bytes - disk.likely_of(DiskRole.BACKUP)


@rule("disk-space", "The files of the data nodes do not fit on a disk")
def disk_space_now(now: Estimation) -> Iterator[Problem]:
    findings = []
    for disk in now.disk_space.disks:
        needed = _without_backups(disk)
        if needed <= (1 - ROOM_LEFT) * disk.capacity_bytes:
            continue
        text = (
            f"the files of {_nodes(disk)} take {format_bytes(needed)} on disk {disk.disk} of {disk.host} "
            f"({_parts(disk, DiskRole.BACKUP)}); its capacity is {format_bytes(disk.capacity_bytes)}"
        )
        share = needed / disk.capacity_bytes
        if share > 1:
            severity = Severity.ERROR
            what = "the files cannot be made" if _made_at_start(disk) else "a data node stops when it is full"
            text = f"{text}: {what}"
        else:
            severity = Severity.WARNING
            text = f"{text}, {format_percent(share)} of it is taken; little is left"
        findings.append(
            Finding(
                disk, severity, text, share, MOVED_FIRST, partial(less_or_larger, now.plan, disk),
                partial(less_on_disk, now.plan),
            )
        )  # fmt: skip
    yield from by_cause(now, findings, "disk-space")


@rule("backups-kept", "The backups that are kept do not fit on a disk")
def backups_kept(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    loaded = [(workload.name, now.under(workload)) for workload in plan.workloads]
    findings = []
    for disk in now.disk_space.disks:
        taken, others, limit = disk.likely_of(DiskRole.BACKUP), _without_backups(disk), disk.capacity_bytes
        if not taken or others > (1 - ROOM_LEFT) * limit:
            continue
        under = ""
        if others + taken <= (1 - ROOM_LEFT) * limit:
            # The log of a backup holds what is changed while it runs.
            workload, taken = _most_changed(loaded, disk)
            if others + taken <= limit:
                continue
            under = f"under workload '{workload}' "
        kept = plan.backups_kept
        text = (
            f"{under}{kept} backup{'s take' if kept > 1 else ' takes'} {format_bytes(taken)} on disk "
            f"{disk.disk} of {disk.host}, where {format_bytes(max(0.0, limit - others))} of "
            f"{format_bytes(limit)} are left by {_parts(disk, DiskRole.BACKUP) or 'nothing else'}"
        )
        share = (others + taken) / limit
        severity = Severity.ERROR if others and share > 1 and not under else Severity.WARNING
        if severity is Severity.ERROR:
            follows = "a backup fills the disk that the data node needs to go on"
        else:
            follows = "the last one fails" if share > 1 else "little is left"
        otherwise = partial(_fewer_backups, plan, disk, taken)
        roles, fewer = (DiskRole.BACKUP,), partial(_kept_fewer, plan, taken)
        findings.append(
            Finding(disk, severity, f"{text}: {follows}", share, roles, otherwise, fewer, DiskRole.BACKUP)
        )
    yield from by_cause(now, findings, "backups-kept")


def _most_changed(loaded: Sequence[tuple[str, Estimation]], disk: DiskSpace) -> tuple[str, float]:
    """The workload under which backups take most of a disk, and how many bytes."""
    most = ("", disk.likely_of(DiskRole.BACKUP))
    for name, now in loaded:
        space = now.disk_space.of(disk.disk_id)
        if space is not None and (taken := space.likely_of(DiskRole.BACKUP)) > most[1]:
            most = (name, taken)
    return most


def _backups_that_fit(plan: Plan, disk: DiskSpace, backups: float) -> int:
    limit, others = disk.capacity_bytes, _without_backups(disk)
    full = disk.memory_full_bytes.value - disk.full_of(DiskRole.BACKUP).value
    most = [(limit * (1 - ROOM_LEFT) - others) / backups]
    if disk.full_of(DiskRole.BACKUP).value:
        most.append((limit - full) / disk.full_of(DiskRole.BACKUP).value)
    return int(plan.backups_kept * max(0.0, min(most)))


def _kept_fewer(plan: Plan, backups: float, disks: Sequence[DiskSpace]) -> Iterator[Solution]:
    """As many as fit on each of the disks."""
    fits = min(_backups_that_fit(plan, disk, backups) for disk in disks)
    if fits:
        yield fewer_backups(fits)


def _fewer_backups(plan: Plan, disk: DiskSpace, backups: float) -> str:
    fits, others = _backups_that_fit(plan, disk, backups), _without_backups(disk)
    fewer = f"keep {how_many(fits, 'backup')}" if fits else "keep backups elsewhere"
    least = max((others + backups) / (1 - ROOM_LEFT), disk.memory_full_bytes.value)
    return f"{fewer}, or {larger_disk(disk, least)}"


@rule("disk-space-of-memory", "A full DataMemory cannot be checkpointed to its disk")
def disk_space_of_memory(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    findings = []
    for disk in now.disk_space.disks:
        limit, full = disk.capacity_bytes, disk.memory_full_bytes
        if full.value <= limit or disk.used_bytes.value > (1 - ROOM_LEFT) * limit:
            continue
        nodes = [node for node in plan.data_nodes if node.node_id in disk.node_ids]
        memory = max((node_settings(plan, node).number("DataMemory") for node in nodes), default=0)
        text = (
            f"when {_nodes(disk)} filled DataMemory ({format_ndb_size(memory)}), checkpoints and what else "
            f"lies on disk {disk.disk} of {disk.host} would need {format_bytes(full.value)} "
            f"({format_bytes(full.low)} … {format_bytes(full.high)}); its capacity is {format_bytes(limit)}"
        )
        severity = Severity.ERROR if full.low > limit else Severity.WARNING
        if severity is Severity.ERROR:
            text = f"{text}: that memory can never be filled with rows"
        otherwise = partial(_less_memory, now, disk)
        less = partial(less_in_memory, now)
        findings.append(Finding(disk, severity, text, full.value / limit, MOVED_FIRST, otherwise, less))
    yield from by_cause(now, findings, "disk-space-of-memory")


def _less_memory(now: Estimation, disk: DiskSpace) -> str:
    smaller = less_memory(now, disk)
    return f"{larger_disk(disk)}{f', or {smaller}' if smaller else ''}"


@rule("disks-unknown", "A data node writes to a disk that is not in the plan")
def disks_unknown(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    unplaced = [node for node in now.disk_space.nodes if node.files and node.files[0].disk_id is None]
    if not unplaced:
        return
    numbers = {node.node_id for node in unplaced}
    nodes = [node for node in plan.data_nodes if node.node_id in numbers]
    hosts = {node.host_id: plan.host(node.host_id).hostname for node in nodes}
    names = ", ".join(list(hosts.values())[:_HOSTS_NAMED]) + (" …" if len(hosts) > _HOSTS_NAMED else "")
    most = max(node.total_bytes.value for node in unplaced)
    yield hint(
        "disks",
        f"{how_many(len(hosts), 'host')} of data nodes ({names}) without disks in the "
        f"plan: whether the files of a data node fit, {format_bytes(most)} at most, is not known",
        "state the disks of these hosts with their capacity",
        [*hosts, *(node.id for node in nodes)],
        missing="which disks these hosts have, and their capacity",
    )


@rule("fills-with-growth", "Growing tables fill memory or a disk within a year")
def fills_with_growth(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not grows(plan):
        return
    # Rows in memory cannot outgrow DataMemory: disks that hold a full one need no look at every month.
    spaces = (now.under(load).disk_space for load in _loads_of_backups(plan))
    beyond = any(disk.may_outgrow for space in spaces for disk in space.disks)
    disks = _fillings_of_disks(plan) if beyond or uses_disk_data(plan) else ()
    for kind, full in (("disk", disks), ("tablespace", tablespace_fillings(plan, float(_SOON_MONTHS)))):
        soon = tuple(one for one in full if _time_left(one))
        first = first_of(soon)
        if first is None or first.months_until_full is None:
            continue
        more = f", {len(soon) - 1} more later" if len(soon) > 1 else ""
        if kind == "disk":
            where, follows = f"disk {first.name} of {first.host}", "the data node stops when it is full"
            fix = "take larger disks, move BACKUP or LCP to another disk, or add a node group"
        else:
            where, follows = f"tablespace {first.name}", "inserts fail when no extent is left"
            fix = "add data files in time, where the disks have room, or add a node group"
        whose = _under(plan, first) if kind == "disk" else ""
        when = _months(first.months_until_full)
        text = f"{where} is full in {when} as the tables grow{whose}{more}; {follows}"
        ids = tuple(one.object_id for one in soon)
        solve = partial(room_to_grow, now, kind, ids, fix)
        yield replace(warning(where, text, fix, ids), solve=solve)
    left = memory_full(plan, horizon=2.0 * _SOON_MONTHS)
    if left is None or left.value == 0 or left.low > _SOON_MONTHS:
        return
    report, can = (warning, "is") if left.value <= _SOON_MONTHS else (hint, "may be")
    fix = "raise DataMemory where the hosts have the memory, or add a node group"
    told = report(
        "DataMemory",
        f"DataMemory of the first data node {can} full in {_months(left)} as the tables grow; inserts then "
        "fail with error 827",
        fix,
    )
    yield replace(told, solve=partial(room_to_grow, now, "memory", (), fix))


def _loads_of_backups(plan: Plan) -> tuple[Workload | None, ...]:
    """Loads under which disks may be fullest: a backup's log has what changes meanwhile, idle nothing."""
    return plan.workloads if plan.backups_kept and plan.workloads else (None,)


def _fillings_of_disks(plan: Plan) -> tuple[Filling, ...]:
    """When each disk is full, under the workload that writes most into the log of the backups there."""
    loaded = (disk_fillings(plan, float(_SOON_MONTHS), load) for load in _loads_of_backups(plan))
    return tuple(first_of(same) or same[0] for same in zip(*loaded, strict=True))


def _under(plan: Plan, full: Filling) -> str:
    """Which workload's changes during a backup make it full so soon; nothing: it is the same under each."""
    months = dict[str, float]()
    for load in plan.workloads if plan.backups_kept else ():
        fillings = disk_fillings(plan, float(_SOON_MONTHS), load)
        left = next(one.months_until_full for one in fillings if one.object_id == full.object_id)
        months[load.name] = left.value if left is not None else 2.0 * _SOON_MONTHS
    if not months or f"{min(months.values()):.1f}" == f"{max(months.values()):.1f}":
        return ""
    return f", with what '{min(months, key=months.__getitem__)}' changes during backups"


def _time_left(one: Filling) -> bool:
    """Whether it is full later, not now: what is full now has a rule of its own."""
    return one.months_until_full is not None and one.months_until_full.value > 0


def _months(left: Quantity) -> str:
    value, low, high = (round(part, 1) for part in (left.value, left.low, left.high))
    if low == high:
        return f"{value:g} months"
    return f"{value:g} months ({low:g} … {high:g})"


def _nodes(disk: DiskSpace) -> str:
    first, *others = disk.node_ids
    if not others:
        return f"data node {first}"
    return f"data nodes {', '.join(str(i) for i in disk.node_ids[:-1])} and {disk.node_ids[-1]}"


def _parts(disk: DiskSpace, *but: DiskRole) -> str:
    return ", ".join(
        f"{NAMES[role]} {format_bytes(size.value)}" for role, size in disk.by_role if role not in (*but,)
    )


def _made_at_start(disk: DiskSpace) -> bool:
    """Whether files that are made as a whole are more than the disk holds."""
    made = sum(disk.of(role).value for role in (DiskRole.REDO, DiskRole.UNDO, DiskRole.DATA_FILES))
    return made > disk.capacity_bytes
