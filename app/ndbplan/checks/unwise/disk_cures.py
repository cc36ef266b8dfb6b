"""What cures a disk that is too full: files moved to another disk, a larger disk, or less of something.

moved_away(now, disk, MOVED_FIRST)       # ("put BACKUP on disk d1, which has room", edit)
less_or_larger(plan, disk)               # "take a disk of 300 GB at least, or ..."
by_cause(now, findings, "disk-space")    # one problem for all equal disks
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ndbplan.base.units import GIB, MIB, format_bytes, format_ndb_size, how_many
from ndbplan.checks.fits import ROOM_LEFT, disk_severity, misfit, rounded_down, rounded_up, severity_of_space
from ndbplan.checks.problem import Edit, Problem, Severity, Solution
from ndbplan.checks.rule import problem
from ndbplan.checks.unwise.space_ways import (
    Shortage,
    fewer_log_files,
    less_data_memory,
    more_node_groups,
    ways_for_space,
)
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import no_of_replicas, node_settings, redo_log_parts
from ndbplan.edits.changes import SetRole, together
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.space.disk_space import DiskSpace
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole

MOVED_FIRST = (DiskRole.BACKUP, DiskRole.DATA_FILES, DiskRole.UNDO, DiskRole.LCP, DiskRole.REDO)
"""Which files are moved to another disk first: those that the cluster waits for least."""
_MADE_WHOLE = (DiskRole.REDO, DiskRole.UNDO, DiskRole.DATA_FILES)
_FEWEST_FILES = 3
_UNEVEN = 1.25
"""Times the mean: keys do not spread evenly over fragments."""
_HOSTS_NAMED = 3
"""Hosts that a cure names."""


@dataclass(frozen=True)
class Finding:
    """What a rule finds on one disk."""

    disk: DiskSpace
    severity: Severity
    message: str
    measure: float
    """What is asked of the disk as a share of what it gives."""
    roles: tuple[DiskRole, ...]
    """Files that may be moved to another disk, those to move first in front."""
    otherwise: Callable[[], str]
    """What to do when nothing can be moved."""
    less: Callable[[Sequence[DiskSpace]], Iterator[Solution]]
    """Ways to put less on disks that are too full for the same cause."""
    own_disk: DiskRole | None = None
    """What may go to a disk of its own."""

    @property
    def least_bytes(self) -> float:
        """Capacity with which the disk has room."""
        asked = max(self.disk.used_bytes.value, self.measure * self.disk.capacity_bytes)
        return max(asked / (1 - ROOM_LEFT), self.disk.memory_full_bytes.value)


def by_cause(now: Estimation, of_disks: Iterable[Finding], rule: str) -> Iterator[Problem]:
    """One problem for all disks of one name and capacity that the same helps: it tells of the fullest."""
    plan = now.plan
    groups: dict[tuple[str, int, str], list[tuple[Finding, Edit | None]]] = {}
    for one in of_disks:
        words, edit = moved_away(now, one.disk, one.roles)
        key = (one.disk.disk, one.disk.capacity_bytes, words)
        groups.setdefault(key, []).append((one, edit))
    for name, capacity, words in list(groups):
        edits = [edit for _, edit in groups[name, capacity, words] if edit is not None]
        if edits and not _helps(now, groups[name, capacity, words], together(edits)):
            left = groups.pop((name, capacity, words))
            groups.setdefault((name, capacity, ""), []).extend((one, None) for one, _ in left)
    for (_, _, words), group in groups.items():
        findings = sorted((one for one, _ in group), key=lambda one: (one.severity.rank, -one.measure))
        first, edits = findings[0], [edit for _, edit in group if edit is not None]
        told = problem(
            first.severity,
            _where(plan, first.disk),
            first.message + _others([one.disk for one in findings[1:]]),
            words or None,
            _ids(plan, [one.disk for one in findings]),
            together(edits) if edits else None,
            first.measure,
        )
        disks = tuple(one.disk for one in findings)
        size = int(rounded_up(max(one.least_bytes for one in findings)))
        short = Shortage(disks, size, partial(first.less, disks), first.own_disk)
        told = replace(told, solve=partial(ways_for_space, now, rule, short))
        yield told if words else replace(told, advice=first.otherwise)


def _helps(now: Estimation, group: list[tuple[Finding, Edit | None]], edit: Edit) -> bool:
    """Whether every disk of the group has room after the edit, or at least more, and no other one less."""
    after = edit(now.plan)
    then = {disk.disk_id: disk_severity(disk) for disk in now.of(after).disk_space.disks}
    cured = all(_is_better(then.get(one.disk.disk_id), disk_severity(one.disk)) for one, _ in group)
    return cured and not misfit(now, after)


def _is_better(now: Severity | None, before: Severity | None) -> bool:
    return before is not None and (now is None or now.rank > before.rank)


def _where(plan: Plan, disk: DiskSpace) -> str:
    """The place; the same for all disks of one name and capacity, however full each is: empty ones too."""
    alike = [
        other
        for host_id in dict.fromkeys(node.host_id for node in plan.data_nodes)
        for other in plan.host(host_id).disks
        if (other.name, other.capacity_bytes) == (disk.disk, disk.capacity_bytes)
    ]
    if len(alike) == 1:
        return f"disk {disk.disk} of {disk.host}"
    return f"disks {disk.disk} of {format_bytes(disk.capacity_bytes)}"


def _others(disks: list[DiskSpace]) -> str:
    if not disks:
        return ""
    named = [disk.host for disk in disks[:_HOSTS_NAMED]]
    more = " …" if len(disks) > _HOSTS_NAMED else ""
    have = "disks have" if len(disks) > 1 else "disk has"
    return f"; {len(disks)} more such {have} too little room as well ({', '.join(named)}{more})"


def _ids(plan: Plan, disks: list[DiskSpace]) -> list[str]:
    numbers = {node_id for disk in disks for node_id in disk.node_ids}
    nodes = [node.id for node in plan.data_nodes if node.node_id in numbers]
    return list(dict.fromkeys([*(d.disk_id for d in disks), *(d.host_id for d in disks), *nodes]))


def moved_away(now: Estimation, disk: DiskSpace, roles: tuple[DiskRole, ...]) -> tuple[str, Edit | None]:
    """Move one kind of files, or as many as it takes, to another disk of the host that has room for them.

    What cures comes before what only helps.
    """
    plan = now.plan
    host = plan.host(disk.host_id)
    others = [other for other in host.disks if other.id != disk.disk_id]
    nodes = {role: _nodes_of_role(plan, disk, role) for role in roles} if others else {}
    movable = [role for role in roles if nodes.get(role) and disk.full_of(role).high + disk.of(role).high]
    choices: list[tuple[DiskRole, ...]] = [(role,) for role in movable]
    choices += [tuple(movable[:count]) for count in range(2, len(movable) + 1)]
    before = disk_severity(disk)
    for wanted in (None, Severity.WARNING):
        for chosen in choices:
            left = _severity(disk, -1, disk, chosen, disk.capacity_bytes)
            if left is not wanted or not _is_better(left, before):
                continue
            place = _place_for(now, others, disk, chosen)
            if place is not None:
                names = " and ".join(role.value.replace("_", " ").upper() for role in chosen)
                edit = together(SetRole(node, role, place.id) for role in chosen for node in nodes[role])
                return f"put {names} on disk {place.name}, which has room", edit
    return "", None


def _nodes_of_role(plan: Plan, disk: DiskSpace, role: DiskRole) -> list[str]:
    return [
        node.id
        for node in plan.data_nodes
        if node.host_id == disk.host_id
        and (place := disk_for(plan, node, role)) is not None
        and place.id == disk.disk_id
    ]


def _severity(
    there: DiskSpace | None, sign: int, disk: DiskSpace, roles: tuple[DiskRole, ...], capacity: int
) -> Severity | None:
    """How full a disk is with the files of these roles of another one (sign 1), or without its own (-1)."""
    used = sign * sum(disk.of(role).value for role in roles)
    full = sign * sum(disk.full_of(role).value for role in roles)
    low = sign * sum(disk.full_of(role).low for role in roles)
    if there is not None:
        used += there.used_bytes.value
        full, low = full + there.memory_full_bytes.value, low + there.memory_full_bytes.low
    return severity_of_space(used, full, low, capacity)


def _place_for(
    now: Estimation, others: list[Disk], disk: DiskSpace, roles: tuple[DiskRole, ...]
) -> Disk | None:
    """The emptiest other disk that takes the files without being too full itself."""
    there = {other.id: now.disk_space.of(other.id) for other in others}

    def room(other: Disk) -> float:
        space = there[other.id]
        return space.free_bytes if space is not None else other.capacity_bytes

    for other in sorted(others, key=lambda one: -room(one)):
        if _severity(there[other.id], 1, disk, roles, other.capacity_bytes) is None:
            return other
    return None


def larger_disk(disk: DiskSpace, least_bytes: float = 0.0) -> str:
    """The capacity at which no rule about space has anything to say, in words; `least_bytes`: at least."""
    used, full = max(least_bytes, disk.used_bytes.value / (1 - ROOM_LEFT)), disk.memory_full_bytes.value
    words = f"take a disk of {format_bytes(rounded_up(max(used, full)))} at least"
    return f"{words}, for a full DataMemory too" if full > used else words


def less_or_larger(plan: Plan, disk: DiskSpace) -> str:
    """A larger disk, or less of what lies on it; every way that is named cures by itself."""
    ways = [larger_disk(disk)]
    for role, least in ((DiskRole.REDO, "log"), (DiskRole.DATA_FILES, "data"), (DiskRole.UNDO, "undo")):
        size, left = disk.of(role).value, disk.of(role).value - _too_much(disk)
        if left >= size or left <= 0:
            continue
        if role is DiskRole.REDO:
            files = _log_files(plan, disk, left)
            if files >= _FEWEST_FILES:
                ways.append(f"set NoOfFragmentLogFiles to {files} at most")
        else:
            each = left / max(1, len({one.node_id for one in disk.files}))
            ways.append(f"make no more than {format_bytes(rounded_down(each))} of {least} files")
    ways += _more_groups(plan, disk)
    return ", or ".join(ways)


def _too_much(disk: DiskSpace) -> float:
    """Bytes that have to go before no rule about space has anything to say."""
    room = (1 - ROOM_LEFT) * disk.capacity_bytes
    return max(disk.used_bytes.value - room, disk.memory_full_bytes.value - disk.capacity_bytes)


def _more_groups(plan: Plan, disk: DiskSpace) -> list[str]:
    """How many node groups more leave so few rows on the disk that all fits, if a cluster may have them."""
    more = _groups_wanted(plan, disk)
    if not more:
        return []
    words = f"add {how_many(more, 'node group')}"
    too_large = disk.memory_full_bytes.value > disk.capacity_bytes
    return [f"{words} and lower DataMemory" if too_large else words]


def _groups_wanted(plan: Plan, disk: DiskSpace) -> int:
    """So many; 0 where more do not help, or more than there may be were needed."""
    rows = disk.of(DiskRole.LCP).value + disk.of(DiskRole.BACKUP).value
    left = (1 - ROOM_LEFT) * disk.capacity_bytes - (disk.used_bytes.value - rows)
    groups = len(node_groups(plan))
    if not groups or left <= 0 or rows <= left:
        return 0
    wanted = math.ceil(_UNEVEN * groups * rows / left)
    most = catalogue.parameter("DB", "NodeId", plan.version).maximum or 0
    return wanted - groups if wanted * no_of_replicas(plan) <= most else 0


def less_on_disk(plan: Plan, disks: Sequence[DiskSpace]) -> Iterator[Solution]:
    """A shorter redo log, more node groups: what leaves less on disks that are too full."""
    files = min(_log_files(plan, d, d.of(DiskRole.REDO).value - _too_much(d)) for d in disks)
    if files >= _FEWEST_FILES and all(d.of(DiskRole.REDO).value > _too_much(d) for d in disks):
        yield fewer_log_files(plan, _node_ids(disks), files)
    groups = max(_groups_wanted(plan, disk) for disk in disks)
    if groups:
        yield more_node_groups(groups, no_of_replicas(plan))


def less_in_memory(now: Estimation, disks: Sequence[DiskSpace]) -> Iterator[Solution]:
    """Less DataMemory, which can be checkpointed to each of the disks."""
    size = min(_memory_that_fits(now, disk) for disk in disks)
    if size:
        yield less_data_memory(now.plan, _node_ids(disks), size)


def _node_ids(disks: Sequence[DiskSpace]) -> list[int]:
    return list(dict.fromkeys(node_id for disk in disks for node_id in disk.node_ids))


def _log_files(plan: Plan, disk: DiskSpace, left: float) -> int:
    """NoOfFragmentLogFiles for which the redo logs on the disk take no more than `left` bytes."""
    here = {one.node_id for one in disk.files if one.role is DiskRole.REDO}
    each = sum(
        redo_log_parts(node_settings(plan, node)) * node_settings(plan, node).number("FragmentLogFileSize")
        for node in plan.data_nodes
        if node.node_id in here
    )
    return int(left // max(1, each))


def less_memory(now: Estimation, disk: DiskSpace) -> str:
    """The largest DataMemory that can be checkpointed to the disk, in words, if rows of today fit into it."""
    size = _memory_that_fits(now, disk)
    return f"set DataMemory to {format_ndb_size(size)} at most" if size else ""


def _memory_that_fits(now: Estimation, disk: DiskSpace) -> int:
    plan = now.plan
    nodes = {node.node_id: node for node in plan.data_nodes if node.node_id in disk.node_ids}
    memory = max((node_settings(plan, node).number("DataMemory") for node in nodes.values()), default=0)
    fixed = sum(disk.of(role).value for role in _MADE_WHOLE)
    grown = disk.memory_full_bytes.value - fixed
    fits = memory * max(0.0, (1 - ROOM_LEFT) * disk.capacity_bytes - fixed) / max(1.0, grown)
    unit = GIB if fits >= 10 * GIB else MIB
    size = int(fits // unit) * unit
    held = max((n.data_memory_bytes.high for n in now.memory.nodes if n.node_id in nodes), default=0.0)
    return 0 if size < memory // 10 or held > (1 - ROOM_LEFT) * size else size
