"""What would help a plan that cannot take its load: changes tried one by one, each with what it gains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ndbplan.advise.max_load import MaxLoad, max_load
from ndbplan.base.errors import UserError
from ndbplan.base.units import MIB, format_bytes_per_s, format_ndb_size
from ndbplan.estimate.parameters import number
from ndbplan.estimate.quantity import Quantity
from ndbplan.plan import edits
from ndbplan.plan.paths import disk_for
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.settings import data_node_number, redo_buffer_bytes

Edit = Callable[[Plan], Plan]
WORTHWHILE = 1.02
"""A change that gains less is not called a help."""


@dataclass(frozen=True)
class Remedy:
    """One change and the highest load before and after it, in transactions per second."""

    title: str
    edit: Edit
    before: Quantity
    after: Quantity
    is_enough: bool
    """Whether the workload's own rate is sustained afterwards."""

    @property
    def helps(self) -> bool:
        """Whether it raises the sustained load at all; more RedoBuffer, for one, only delays the error."""
        return self.after.value > self.before.value * WORTHWHILE

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One remedy."""
        return {
            "title": self.title,
            "before_per_s": self.before.to_json(why=why),
            "after_per_s": self.after.to_json(why=why),
            "enough": self.is_enough,
        }


def remedies(
    plan: Plan,
    workload_id: str | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
    also_useless: bool = False,
) -> tuple[Remedy, ...]:
    """Changes that raise the highest sustained load, those that suffice for the workload first.

    Spreading the load over more nodes comes before more or better disks, as both do before parameters.
    With `also_useless`, changes that gain nothing are listed too, last. Raises SimulationError, Cancelled.
    """
    before = max_load(plan, workload_id, cancelled=cancelled, with_next=False)
    tried = list(_candidates(plan, before))
    found: list[Remedy] = []
    for done, (title, edit) in enumerate(tried, start=1):
        try:
            after = max_load(edit(plan), workload_id, cancelled=cancelled, with_next=False)
        except UserError:
            continue
        finally:
            if progress is not None:
                progress(done / len(tried))
        found.append(Remedy(title, edit, before.max_per_s, after.max_per_s, after.is_enough))
    useful = [r for r in found if r.helps]
    enough = [r for r in useful if r.is_enough]
    rest = sorted((r for r in useful if not r.is_enough), key=lambda r: -r.after.value)
    return (*enough, *rest, *([r for r in found if not r.helps] if also_useless else ()))


def _candidates(plan: Plan, before: MaxLoad) -> Iterator[tuple[str, Edit]]:
    yield "Add a node group", edits.add_node_group
    yield from _disk_changes(plan)
    if before.limited_by.resource == "network":
        yield "Network links ten times as fast", _faster_network
    if before.limited_by.resource == "disk reads":
        pages = 2 * number(plan, None, "DiskPageBufferMemory", 64 * MIB)
        title = f"DiskPageBufferMemory doubled ({format_ndb_size(pages)})"
        yield title, lambda p: _set(p, "DiskPageBufferMemory", pages)
        yield "Disks of the data files twice as fast", lambda p: _faster_disks(p, DiskRole.DATA_FILES)
    yield from _parameter_changes(plan, before)


def _disk_changes(plan: Plan) -> Iterator[tuple[str, Edit]]:
    nodes = [n for n in plan.data_nodes if disk_for(plan, n, DiskRole.REDO) is not None]
    if not nodes:
        return
    shared = [n for n in nodes if disk_for(plan, n, DiskRole.REDO) is disk_for(plan, n, DiskRole.LCP)]
    if shared:
        yield "Give checkpoints a disk of their own", lambda p: _separate(p, DiskRole.LCP, "lcp")
    disk = disk_for(plan, nodes[0], DiskRole.REDO)
    assert disk is not None
    twice = format_bytes_per_s(2 * disk.sequential_write_bytes_per_s)
    yield f"Redo disks twice as fast ({twice})", lambda p: _faster_disks(p, DiskRole.REDO)


def _separate(plan: Plan, role: DiskRole, name: str) -> Plan:
    """Let every data node write `role` to a disk apart from its redo log, free or new."""
    for node in plan.data_nodes:
        used = disk_for(plan, node, DiskRole.REDO)
        if used is None or disk_for(plan, node, role) is not used:
            continue
        host = plan.host(node.host_id)
        taken = {
            disk.id
            for process in plan.processes_of_host[host.id]
            if isinstance(process, DataNode)
            for each in DiskRole
            if (disk := disk_for(plan, process, each)) is not None
        }
        free = next((disk for disk in host.disks if disk.id not in taken), None)
        if free is None:
            names = {disk.name for disk in host.disks}
            title = next(f"{name}{i or ''}" for i in range(1000) if f"{name}{i or ''}" not in names)
            free = used.model_copy(
                update={
                    "id": edits.free_id(plan, f"{host.id}-{title}"),
                    "name": title,
                    "mount_point": f"/{title}",
                }
            )
            plan = edits.add_disk(plan, host.id, free)
        plan = edits.assign_role(plan, node.id, role, free.id)
    return plan


def _faster_disks(plan: Plan, role: DiskRole) -> Plan:
    """Every disk that a data node uses for `role`, twice as fast."""
    disks = {disk.id for node in plan.data_nodes if (disk := disk_for(plan, node, role)) is not None}
    for disk_id in sorted(disks):
        disk = plan.by_id[disk_id]
        fields = ("sequential_write_bytes_per_s", "random_write_iops", "random_read_iops")
        plan = edits.update(plan, disk_id, **{name: 2 * getattr(disk, name) for name in fields})
    return plan


def _faster_network(plan: Plan) -> Plan:
    """Links of every host and location ten times as fast: the next generation."""
    for location in plan.locations:
        if location.uplink_bytes_per_s is not None:
            plan = edits.update(plan, location.id, uplink_bytes_per_s=10 * location.uplink_bytes_per_s)
    for host in plan.hosts:
        plan = edits.update(plan, host.id, network_bytes_per_s=10 * host.network_bytes_per_s)
    return plan


def _parameter_changes(plan: Plan, before: MaxLoad) -> Iterator[tuple[str, Edit]]:
    def setting(name: str, value: int) -> Edit:
        return lambda p: _set(p, name, value)

    files = data_node_number(plan, None, "NoOfFragmentLogFiles")
    size = data_node_number(plan, None, "FragmentLogFileSize")
    if before.limited_by.resource == "redo files" or size < 64 * MIB:
        yield (
            "Redo log files of 256 MiB",
            lambda p: _set(
                _set(p, "FragmentLogFileSize", 256 * MIB),
                "NoOfFragmentLogFiles",
                max(3, files * size // (256 * MIB)),
            ),
        )
    if before.limited_by.resource == "redo log":
        yield f"Twice as much redo log ({2 * files} files)", setting("NoOfFragmentLogFiles", 2 * files)
    name = "DiskCheckpointSpeed" if plan.version < (7, 4) else "MinDiskWriteSpeed"
    speed = data_node_number(plan, None, name)
    if before.limited_by.resource == "disk" and speed > 2 * MIB:
        yield f"{name} at half ({format_ndb_size(speed // 2)})", setting(name, speed // 2)
    if before.limited_by.resource == "redo log" and plan.version >= (7, 4):
        speed = data_node_number(plan, None, "MaxDiskWriteSpeed")
        yield (
            f"MaxDiskWriteSpeed doubled ({format_ndb_size(2 * speed)})",
            setting("MaxDiskWriteSpeed", 2 * speed),
        )
    buffer = 2 * redo_buffer_bytes(plan, None)
    yield f"RedoBuffer doubled ({format_ndb_size(buffer)})", setting("RedoBuffer", buffer)


def _set(plan: Plan, name: str, value: int) -> Plan:
    plan = edits.set_parameter(plan, "data_node", name, value)
    for node in plan.data_nodes:
        if name in node.parameters:
            plan = edits.set_parameter(plan, node.id, name, value)
    return plan
