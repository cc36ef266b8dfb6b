"""Ways out for a disk that is too full where nothing can be moved: more capacity, a disk more, or less on it.

ways_for_space(now, "disk-space", Shortage(disks, sizes, more), look)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ndbplan.base.units import format_bytes, format_bytes_binary, how_many
from ndbplan.checks.fits import ROOM_LEFT, rounded_up
from ndbplan.checks.problem import Edit, Look, Solution, WaysOut
from ndbplan.checks.solutions import that_mend
from ndbplan.configuration.settings import scope_of
from ndbplan.edits import parts as edits
from ndbplan.edits.changes import SetField, SetParameter, together
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.ids import NewIds
from ndbplan.edits.roles import assign_role
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.space.disk_space import DiskSpace
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole


@dataclass(frozen=True, eq=False)
class Shortage:
    """Disks of one kind that are too full for the same cause."""

    disks: tuple[DiskSpace, ...]
    capacity_bytes: int
    """With which each of them has room."""
    less: Callable[[], Iterator[Solution]]
    """Ways to put less on them."""
    own_disk: DiskRole | None = None
    """What may go to a disk of its own."""


def ways_for_space(now: Estimation, rule: str, short: Shortage, look: Look) -> WaysOut:
    """Ways after which the rule has nothing to say of these disks; each is tried with all rules."""
    ids = [disk.disk_id for disk in short.disks]
    return WaysOut(that_mend(look, now.plan, _ways(now.plan, short), rule, ids), "")


def _ways(plan: Plan, short: Shortage) -> Iterator[Solution]:
    yield _larger(short)
    if short.own_disk is not None:
        yield _own_disk(plan, short, short.own_disk)
    yield from short.less()


def _larger(short: Shortage) -> Solution:
    size, first = short.capacity_bytes, short.disks[0]
    edit: Edit = together(SetField(disk.disk_id, "capacity_bytes", size) for disk in short.disks)
    whose = f"disk {first.disk} of {first.host}" if len(short.disks) == 1 else f"{len(short.disks)} disks"
    why = f"instead of {format_bytes(first.capacity_bytes)}; everything stays where it is"
    each = " each" if len(short.disks) > 1 else ""
    return Solution(f"Give {whose} {format_bytes(size)}{each}", why, edit, buys=True)


def _own_disk(plan: Plan, short: Shortage, role: DiskRole) -> Solution:
    """A disk more in each of the hosts, like the one that is full, for one kind of files."""
    first = short.disks[0]
    most = max(max(disk.of(role).value, disk.full_of(role).value) for disk in short.disks)
    size = max(first.capacity_bytes, int(rounded_up(most / (1 - ROOM_LEFT))))
    edit: Edit = together(
        partial(_with_own_disk, disk_id=disk.disk_id, role=role, size_bytes=size) for disk in short.disks
    )
    hosts = len({disk.host_id for disk in short.disks})
    name = role.value.replace("_", " ").upper()
    where = first.host if hosts == 1 else f"each of {how_many(hosts, 'host')}"
    return Solution(
        f"Put {name} on a disk of its own in {where}",
        f"one more of {format_bytes(size)}, else like the full one",
        edit,
        buys=True,
    )


def _with_own_disk(plan: Plan, disk_id: str, role: DiskRole, size_bytes: int) -> Plan:
    host, model = plan.host_of_disk[disk_id], plan.by_id[disk_id]
    number = next(i for i in range(1, 1001) if not _is_taken(host.disks, model, i))
    own = model.model_copy(
        update={
            "id": NewIds(plan).of(Disk),
            "name": f"{model.name}-{number}",
            "mount_point": f"{model.mount_point}-{number}",
            "capacity_bytes": size_bytes,
        }
    )
    plan = edits.add_disk(plan, host.id, own)
    for node in plan.processes_of_host[host.id]:
        if isinstance(node, DataNode):
            plan = assign_role(plan, node.id, role, own.id)
    return plan


def _is_taken(disks: tuple[Disk, ...], model: Disk, number: int) -> bool:
    return any(
        disk.name == f"{model.name}-{number}" or disk.mount_point == f"{model.mount_point}-{number}"
        for disk in disks
    )


def fewer_log_files(plan: Plan, node_ids: Sequence[int], files: int) -> Solution:
    """A shorter redo log of these data nodes."""
    name = "NoOfFragmentLogFiles"
    return Solution(
        f"Set {name} to {files}", "it takes nothing new; an initial restart of each node makes the log anew",
        _set_for(plan, node_ids, name, files),
    )  # fmt: skip


def less_data_memory(plan: Plan, node_ids: Sequence[int], size_bytes: int) -> Solution:
    """Less DataMemory of these data nodes: the rows of today fit."""
    return Solution(
        f"Lower DataMemory to {format_bytes_binary(size_bytes)}",
        "the rows of today fit; a rolling restart does it",
        _set_for(plan, node_ids, "DataMemory", size_bytes),
    )


def fewer_backups(count: int) -> Solution:
    """Fewer backups on the disks."""
    kept: Edit = partial(edits.set_plan, backups_kept=count)
    return Solution(f"Keep {how_many(count, 'backup')}", "older ones go elsewhere, or away", kept)


def more_node_groups(groups: int, replicas: int) -> Solution:
    """More node groups: less rows on each disk."""
    why = (
        f"{groups * replicas} more hosts like the last ones; ALTER TABLE ... REORGANIZE PARTITION moves rows "
        "there"
    )
    return Solution(
        f"Add {how_many(groups, 'node group')}", why, partial(add_node_group, groups=groups), True
    )


def _set_for(plan: Plan, node_ids: Sequence[int], name: str, value: int) -> Edit:
    scopes = dict.fromkeys(scope_of(node, name) for node in plan.data_nodes if node.node_id in node_ids)
    edit: Edit = together(SetParameter(scope, name, value) for scope in scopes)
    return edit
