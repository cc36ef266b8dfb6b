"""Rules about disks: does the load fit them, what shares a device."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.base.units import format_bytes, format_bytes_per_s, format_percent
from ndbplan.checks.fits import misfit
from ndbplan.checks.problem import Edit, Problem
from ndbplan.checks.rule import error, hint, rule, warning
from ndbplan.checks.shared import demand_of, disk_data_of, paths_of
from ndbplan.estimate.disk_data import TablespaceUse
from ndbplan.plan.edits import assign_role, update
from ndbplan.plan.hardware import Disk
from ndbplan.plan.paths import disk_for
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.tables import SpaceFile

_BUSY_WARNING = 0.70
_MANY_FILES = 128
_SPACE_WARNING = 0.95
_GOOD_HIT_RATIO = 0.9


def uses_disk_data(plan: Plan) -> bool:
    """Whether the plan has tablespaces or tables with columns on disk."""
    return bool(plan.tablespaces) or any(c.storage == "disk" for t in plan.tables for c in t.columns)


def _moved(node_id: str, roles: tuple[DiskRole, ...], disk_id: str) -> Edit:
    def edit(plan: Plan) -> Plan:
        for role in roles:
            plan = assign_role(plan, node_id, role, disk_id)
        return plan

    return edit


@rule("disk-demand", "Disks keep up with every workload")
def disk_load(plan: Plan) -> Iterator[Problem]:
    for workload in plan.workloads:
        for demand in demand_of(plan, workload).disks:
            busy = demand.utilisation.value
            if busy <= _BUSY_WARNING:
                continue
            writes = demand.write_bytes_per_s.value
            random = sum(s.random_reads_per_s.value + s.random_writes_per_s.value for s in demand.streams)
            what = [f"write {format_bytes_per_s(writes)}"] if writes else []
            what += [f"do {random:.0f} random accesses per second"] if random else []
            text = (
                f"under workload '{workload.name}' {demand.host} {demand.disk} has to {' and '.join(what)}: "
                f"{format_percent(busy)} of what it can do"
            )
            fix = (
                "put REDO and LCP on disks of their own, take faster disks or add a node group; a larger "
                "RedoBuffer only delays it"
                if writes
                else "raise DiskPageBufferMemory, take faster disks or add a node group"
            )
            follows = "errors 1221 or 410 follow" if writes else "reads queue up and time out"
            ids = [demand.disk_id, demand.host_id, workload.id]
            where = f"disk {demand.disk} of {demand.host}"
            if busy <= 1:
                yield warning(where, f"{text}; above 70 % {follows} with every burst", fix, ids)
            elif workload.load.kind == "closed":
                yield warning(where, f"{text}; the clients wait for it and are slower than planned", fix, ids)
            else:
                yield error(where, f"{text}; it cannot keep up, {follows}", fix, ids)


@rule("shared-device", "Streams are kept apart when there are disks for it")
def shared_device(plan: Plan) -> Iterator[Problem]:
    if not uses_disk_data(plan):
        return
    for node in plan.data_nodes:
        host = plan.host(node.host_id)
        if len(host.disks) < 2:
            continue
        redo = disk_for(plan, node, DiskRole.REDO)
        together = [
            role for role in (DiskRole.UNDO, DiskRole.DATA_FILES) if disk_for(plan, node, role) is redo
        ]
        if together and redo is not None:
            free = _least_used(plan, node, host.disks)
            names = " and ".join(role.value.replace("_", " ").upper() for role in together)
            yield warning(
                f"data node {node.node_id}",
                f"{names} of data node {node.node_id} share disk {redo.name} with its REDO log although "
                f"{host.hostname} has {len(host.disks)} disks; the streams slow one another down",
                f"move {names} to disk {free.name}" if free is not redo else None,
                [node.id, redo.id],
                _moved(node.id, tuple(together), free.id) if free is not redo else None,
            )


def _least_used(plan: Plan, node: DataNode, disks: tuple[Disk, ...]) -> Disk:
    used = {disk.id: 0 for disk in disks}
    for other in plan.processes_of_host[node.host_id]:
        if isinstance(other, DataNode):
            for role in DiskRole:
                disk = disk_for(plan, other, role)
                if disk is not None:
                    used[disk.id] += 1
    return min(disks, key=lambda disk: used[disk.id])


@rule("data-files", "Tablespaces have a sensible number of files and room")
def data_files(plan: Plan) -> Iterator[Problem]:
    for space in plan.tablespaces:
        files = sum(file.count for file in space.data_files)
        if files == 1:
            yield warning(
                f"tablespace {space.name}",
                f"tablespace {space.name} has one data file; files are what data nodes write in parallel",
                "use several files of the same total size",
                [space.id],
            )
        elif files > _MANY_FILES:
            yield warning(
                f"tablespace {space.name}",
                f"tablespace {space.name} has {files} data files; more than {_MANY_FILES} are overkill",
                "use fewer, larger files",
                [space.id],
            )
    for use in disk_data_of(plan).tablespaces:
        fill = use.fill.value
        if fill > _SPACE_WARNING:
            report = error if fill > 1 else warning
            yield report(
                f"tablespace {use.tablespace}",
                f"the tables take {format_percent(fill)} of tablespace {use.tablespace} on a data node; an "
                f"extent "
                "belongs to one fragment, so each fragment takes one at least",
                _more_files(plan, use),
                [space.id for space in plan.tablespaces if space.name == use.tablespace],
            )


def _more_files(plan: Plan, use: TablespaceUse) -> str:
    """Add data files where the disks have room for them, else what would make room."""
    missing = use.used_bytes.high / _SPACE_WARNING - use.capacity_bytes
    space = next(space for space in plan.tablespaces if space.name == use.tablespace)
    size = -(-int(missing) // space.extent_size_bytes) * space.extent_size_bytes
    more = SpaceFile(name="more", size_bytes=max(size, space.extent_size_bytes))
    grown = update(plan, space.id, data_files=(*space.data_files, more))
    reason = misfit(plan, grown)
    if not reason:
        return f"add {format_bytes(more.size_bytes)} of data files or use a smaller EXTENT_SIZE"
    return (
        f"use a smaller EXTENT_SIZE, add a node group, or take larger disks: {format_bytes(more.size_bytes)} "
        f"more of data files do not fit ({reason})"
    )


@rule("disk-page-buffer", "Disk data pages are cached")
def disk_page_buffer(plan: Plan) -> Iterator[Problem]:
    for node in disk_data_of(plan).nodes[:1]:
        ratio = node.hit_ratio.value
        if ratio < _GOOD_HIT_RATIO and node.pages_bytes.value:
            yield hint(
                "DiskPageBufferMemory",
                f"DiskPageBufferMemory answers {format_percent(ratio)} of evenly spread accesses to disk "
                f"data; every "
                "miss is a random read",
                "raise DiskPageBufferMemory, if memory allows",
            )


@rule("redo-and-lcp-apart", "REDO and LCP on different disks need a link")
def redo_and_lcp_apart(plan: Plan) -> Iterator[Problem]:
    linked = [node for node in plan.data_nodes if paths_of(plan)[node.id].lcp]
    moved = [node for node in plan.data_nodes if paths_of(plan)[node.id].redo]
    if linked:
        count = len(linked)
        yield hint(
            "REDO and LCP",
            f"{count} data node{'s keep' if count > 1 else ' keeps'} REDO and LCP on different disks, but "
            f"NDB "
            "has one FileSystemPath for both; the runbook links the folder LCP to its disk before the first "
            "start",
            "make the links in new nodes too; nothing else is needed",
            [node.id for node in linked],
        )
    for node in moved:
        yield warning(
            f"data node {node.node_id}",
            f"FileSystemPath of data node {node.node_id} is fixed on another disk than its REDO log; the "
            f"redo "
            "folders have to be moved and linked by hand after every start with --initial",
            "set FileSystemPath on the disk of the REDO log, or leave it out",
            [node.id],
        )
