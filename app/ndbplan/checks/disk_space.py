"""Rules about disk space: do redo log, checkpoints, disk data and backups fit, and for how long."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.base.units import format_bytes, format_ndb_size, format_percent
from ndbplan.checks.disks import uses_disk_data
from ndbplan.checks.fits import ROOM_LEFT, disk_severity, misfit
from ndbplan.checks.problem import Edit, Problem, Severity
from ndbplan.checks.rule import error, hint, rule, warning
from ndbplan.checks.shared import space_of
from ndbplan.estimate.disk_space import DiskSpace
from ndbplan.estimate.growth import (
    Filling,
    disk_fillings,
    first_of,
    grows,
    memory_full,
    tablespace_fillings,
)
from ndbplan.estimate.quantity import Quantity
from ndbplan.plan.changes import SetRole, together
from ndbplan.plan.paths import disk_for
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.settings import data_node_number, redo_log_parts

_SOON_MONTHS = 12
_FEWEST_FILES = 3
NAMES = {
    DiskRole.REDO: "redo log",
    DiskRole.LCP: "checkpoints",
    DiskRole.UNDO: "undo files",
    DiskRole.DATA_FILES: "data files",
    DiskRole.BACKUP: "backups",
}
_MOVED_FIRST = (DiskRole.BACKUP, DiskRole.DATA_FILES, DiskRole.UNDO, DiskRole.LCP, DiskRole.REDO)
"""Which files are moved to another disk first: those that the cluster waits for least."""


def _without_backups(disk: DiskSpace) -> float:
    return disk.used_bytes.value - disk.of(DiskRole.BACKUP).value


@rule("disk-space", "The files of the data nodes fit on their disks")
def disk_space_now(plan: Plan) -> Iterator[Problem]:
    for disk in space_of(plan).disks:
        needed = _without_backups(disk)
        if needed <= (1 - ROOM_LEFT) * disk.capacity_bytes:
            continue
        text = (
            f"the files of {_nodes(disk)} take {format_bytes(needed)} on disk {disk.disk} of {disk.host} "
            f"({_parts(disk, DiskRole.BACKUP)}); its capacity is {format_bytes(disk.capacity_bytes)}"
        )
        fix, edit = _cure(plan, disk, needed)
        where = f"disk {disk.disk} of {disk.host}"
        if needed > disk.capacity_bytes:
            what = "the files cannot be made" if _made_at_start(disk) else "a data node stops when it is full"
            yield error(where, f"{text}: {what}", fix, _ids(plan, disk), edit)
        else:
            share = format_percent(needed / disk.capacity_bytes)
            yield warning(
                where, f"{text}, {share} of it is taken; little is left", fix, _ids(plan, disk), edit
            )


@rule("backups-kept", "The backups that are kept fit on their disks")
def backups_kept(plan: Plan) -> Iterator[Problem]:
    for disk in space_of(plan).disks:
        backups, others = disk.of(DiskRole.BACKUP), _without_backups(disk)
        limit = disk.capacity_bytes
        if not backups.value or others + backups.value <= limit or others > (1 - ROOM_LEFT) * limit:
            continue
        kept = plan.backups_kept
        fits = int((limit * (1 - ROOM_LEFT) - others) * kept / backups.value)
        text = (
            f"{kept} backup{'s take' if kept > 1 else ' takes'} {format_bytes(backups.value)} on disk "
            f"{disk.disk} of {disk.host}, where {format_bytes(max(0.0, limit - others))} of "
            f"{format_bytes(limit)} are left by {_parts(disk, DiskRole.BACKUP) or 'nothing else'}"
        )
        fix, edit = _moved_away(plan, disk, (DiskRole.BACKUP,))
        if edit is None:
            fewer = f"keep {fits} backup{'s' if fits != 1 else ''}" if fits else "keep backups elsewhere"
            least = format_bytes((others + backups.value) / (1 - ROOM_LEFT))
            fix = f"{fewer}, or put them on a disk of {least} at least"
        where = f"disk {disk.disk} of {disk.host}"
        if others:
            follows = "a backup fills the disk that the data node needs to go on"
            yield error(where, f"{text}: {follows}", fix, _ids(plan, disk), edit)
        else:
            yield warning(where, f"{text}: the last one fails", fix, _ids(plan, disk), edit)


@rule("disk-space-of-memory", "A full DataMemory can be checkpointed to its disk")
def disk_space_of_memory(plan: Plan) -> Iterator[Problem]:
    for disk in space_of(plan).disks:
        limit, full = disk.capacity_bytes, disk.memory_full_bytes
        if full.value <= limit or disk.used_bytes.value > (1 - ROOM_LEFT) * limit:
            continue
        nodes = [node for node in plan.data_nodes if node.node_id in disk.node_ids]
        memory = max((data_node_number(plan, node, "DataMemory") for node in nodes), default=0)
        fixed = sum(disk.of(role).value for role in (DiskRole.REDO, DiskRole.UNDO, DiskRole.DATA_FILES))
        fits = int(memory * max(0.0, (1 - ROOM_LEFT) * limit - fixed) / max(1.0, full.value - fixed))
        text = (
            f"when {_nodes(disk)} filled DataMemory ({format_ndb_size(memory)}), checkpoints and what else "
            f"lies on disk {disk.disk} of {disk.host} would need {format_bytes(full.value)} "
            f"({format_bytes(full.low)} … {format_bytes(full.high)}); its capacity is {format_bytes(limit)}"
        )
        fix, edit = _moved_away(plan, disk, _MOVED_FIRST)
        if edit is None:
            smaller = f", or at most {format_bytes(fits)} of DataMemory" if fits > memory // 10 else ""
            least = format_bytes(full.value / (1 - ROOM_LEFT))
            fix = f"take a disk of {least} at least{smaller}, or more data nodes"
        where = f"disk {disk.disk} of {disk.host}"
        if full.low > limit:
            yield error(
                where, f"{text}: that memory can never be filled with rows", fix, _ids(plan, disk), edit
            )
        else:
            yield warning(where, text, fix, _ids(plan, disk), edit)


@rule("fills-with-growth", "Growing tables have room for a year")
def fills_with_growth(plan: Plan) -> Iterator[Problem]:
    if not grows(plan):
        return
    # Rows in memory cannot outgrow DataMemory: disks that hold a full one need no look at every month.
    outlast = all(disk.memory_full_bytes.high <= disk.capacity_bytes for disk in space_of(plan).disks)
    disks = () if outlast and not uses_disk_data(plan) else disk_fillings(plan, float(_SOON_MONTHS))
    for kind, found in (("disk", disks), ("tablespace", tablespace_fillings(plan, float(_SOON_MONTHS)))):
        soon = tuple(one for one in found if _time_left(one))
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
        text = f"{where} is full in {_months(first.months_until_full)} as the tables grow{more}; {follows}"
        yield warning(where, text, fix, [one.object_id for one in soon])
    left = memory_full(plan, horizon=2.0 * _SOON_MONTHS)
    if left is None or left.value == 0 or left.low > _SOON_MONTHS:
        return
    report, can = (warning, "is") if left.value <= _SOON_MONTHS else (hint, "may be")
    yield report(
        "DataMemory",
        f"DataMemory of the first data node {can} full in {_months(left)} as the tables grow; inserts then "
        "fail with error 827",
        "raise DataMemory where the hosts have the memory, or add a node group",
    )


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


def _ids(plan: Plan, disk: DiskSpace) -> list[str]:
    nodes = (node.id for node in plan.data_nodes if node.node_id in disk.node_ids)
    return [disk.disk_id, disk.host_id, *nodes]


def _cure(plan: Plan, disk: DiskSpace, needed: float) -> tuple[str, Edit | None]:
    """What makes the files fit: another disk with room, a larger one, or less of something."""
    fix, edit = _moved_away(plan, disk, _MOVED_FIRST)
    if edit is not None:
        return fix, edit
    room = (1 - ROOM_LEFT) * disk.capacity_bytes
    ways = [f"take a disk of {format_bytes(needed / (1 - ROOM_LEFT))} at least"]
    for role, least in ((DiskRole.REDO, "log"), (DiskRole.DATA_FILES, "data"), (DiskRole.UNDO, "undo")):
        size = disk.of(role).value
        left = room - (needed - size)
        if not size or left <= 0:
            continue
        if role is DiskRole.REDO:
            files = _log_files(plan, disk, left)
            if files >= _FEWEST_FILES:
                ways.append(f"set NoOfFragmentLogFiles to {files} at most")
        else:
            each = left / max(1, len({one.node_id for one in disk.files}))
            ways.append(f"make no more than {format_bytes(each)} of {least} files")
    if disk.of(DiskRole.LCP).value > needed / 4:
        ways.append("add a node group")
    return ", or ".join(ways), None


def _log_files(plan: Plan, disk: DiskSpace, left: float) -> int:
    """NoOfFragmentLogFiles for which the redo logs on the disk take no more than `left` bytes."""
    here = {one.node_id for one in disk.files if one.role is DiskRole.REDO}
    each = sum(
        redo_log_parts(plan, node) * data_node_number(plan, node, "FragmentLogFileSize")
        for node in plan.data_nodes
        if node.node_id in here
    )
    return int(left // max(1, each))


def _moved_away(plan: Plan, disk: DiskSpace, roles: tuple[DiskRole, ...]) -> tuple[str, Edit | None]:
    """Move the files of one role to another disk of the host, if that has room and helps this one."""
    host = plan.host(disk.host_id)
    if len(host.disks) < 2:
        return "", None
    spaces = space_of(plan)
    free = {other.id: other.capacity_bytes for other in host.disks if other.id != disk.disk_id}
    for other_id in free:
        there = spaces.of(other_id)
        if there is not None:
            free[other_id] = int(there.free_bytes)
    for role in roles:
        size = disk.of(role).value
        nodes = [
            node.id
            for node in plan.data_nodes
            if node.host_id == host.id
            and (place := disk_for(plan, node, role)) is not None
            and place.id == disk.disk_id
        ]
        if not size or not nodes:
            continue
        for other_id, room in sorted(free.items(), key=lambda item: -item[1]):
            if room < size:
                continue
            edit = _to_disk(tuple(nodes), role, other_id)
            after = edit(plan)
            now = space_of(after).of(disk.disk_id)
            cured = now is None or _better(disk_severity(now), disk_severity(disk))
            if cured and not misfit(plan, after):
                name = role.value.replace("_", " ").upper()
                return f"put {name} on disk {plan.by_id[other_id].name}, which has room", edit
    return "", None


def _better(now: Severity | None, before: Severity | None) -> bool:
    return before is not None and (now is None or now.rank > before.rank)


def _to_disk(node_ids: tuple[str, ...], role: DiskRole, disk_id: str) -> Edit:
    moved: Edit = together(SetRole(node_id, role, disk_id) for node_id in node_ids)
    return moved
