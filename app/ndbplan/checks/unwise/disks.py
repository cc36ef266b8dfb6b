"""Rules about disks: does the load fit them, what shares a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.units import (
    format_bytes_binary,
    format_bytes_per_s,
    format_count,
    format_percent,
    how_many,
)
from ndbplan.checks.fits import misfit
from ndbplan.checks.layouts import disk_beside_redo, uses_disk_data
from ndbplan.checks.parameters import without
from ndbplan.checks.problem import Edit, Problem
from ndbplan.checks.rule import error, hint, rule, warning
from ndbplan.checks.unwise.disk_data_cures import home_for
from ndbplan.checks.unwise.load_cures import BUSY, ways_to_keep_up
from ndbplan.checks.unwise.page_cures import room_for_pages
from ndbplan.configuration.directories import data_node_paths, disk_for, disks_of_roles
from ndbplan.configuration.redo_problems import seen_as
from ndbplan.configuration.settings import is_diskless, nodes_alike, scope_of
from ndbplan.edits.changes import SetField, SetParameter, SetRole, together
from ndbplan.edits.disk_data import FewerFiles, GrowFiles, MoreFiles, OneLogfileGroup
from ndbplan.edits.solutions import memory_size
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.estimate.load.disk_data import TablespaceUse, UndoUse
from ndbplan.estimate.load.file_threads import THREADS, reads_of
from ndbplan.estimate.stored import machines_of
from ndbplan.ndb.file_space import specified_files
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole

MANY_FILES = 128
"""Data files of a tablespace above which more gain nothing: a data node keeps so many open."""
_MOST_THREADS = 64
"""Threads for data files that are proposed at most: judgement."""
_PARALLEL_FILES = 4
"""Into which one data file is divided where one thread writes each."""
_NO_CURE = ", and a larger RedoBuffer only delays them"
SPACE_WARNING = 0.95
_GOOD_HIT_RATIO = 0.9
UNDO_WARNING = 0.9
"""Shares from which on a tablespace, the page buffer's hits and an undo log are worth a word: judgement."""


def _moved(node_id: str, roles: tuple[DiskRole, ...], disk_id: str) -> Edit:
    moved: Edit = together(SetRole(node_id, role, disk_id) for role in roles)
    return moved


@rule("disk-demand", "A disk does not keep up with a workload")
def disk_load(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for workload in plan.workloads:
        solve = partial(ways_to_keep_up, now, workload)
        for demand in now.under(workload).disks.disks:
            busy = demand.utilisation.value
            if busy <= BUSY:
                continue
            writes = demand.write_bytes_per_s.value
            random = sum(s.random_reads_per_s.value + s.random_writes_per_s.value for s in demand.streams)
            what = [f"write {format_bytes_per_s(writes)}"] if writes else []
            what += [f"do {random:.0f} random accesses per second"] if random else []
            text = (
                f"under workload '{workload.name}' {demand.host} {demand.disk} has to {' and '.join(what)}: "
                f"{format_percent(busy)} of what it can do"
            )
            apart = "put REDO and LCP on disks of their own, " if _holds_both(plan, demand.disk_id) else ""
            fix = (
                f"{apart}take faster disks or add a node group"
                if writes
                else "raise DiskPageBufferMemory, take faster disks or add a node group"
            )
            errors = f"errors {seen_as(plan, 1221)} or 410 follow"
            follows = errors if writes else "reads queue up and time out"
            ids = [demand.disk_id, demand.host_id, workload.id]
            where = f"disk {demand.disk} of {demand.host}"
            if busy <= 1:
                text += f"; above 70 % {follows} with every burst"
                found = warning(where, text, fix, ids, measure=busy)
            elif workload.load.kind == "closed":
                text += "; the clients wait for it and are slower than planned"
                found = warning(where, text, fix, ids, measure=busy)
            else:
                text += f"; it cannot keep up, {follows}{_NO_CURE if writes else ''}"
                found = error(where, text, fix, ids, measure=busy)
            yield replace(found, solve=solve)


def _holds_both(plan: Plan, disk_id: str) -> bool:
    """Whether a data node keeps both REDO and LCP on the disk."""
    return any(
        all(
            (disk := disk_for(plan, node, role)) and disk.id == disk_id
            for role in (DiskRole.REDO, DiskRole.LCP)
        )
        for node in plan.data_nodes
    )


@rule("shared-device", "The redo log shares a disk while another is free")
def shared_device(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not uses_disk_data(plan):
        return
    for node in plan.data_nodes:
        host = plan.host(node.host_id)
        if len(host.disks) < 2:
            continue
        disks = disks_of_roles(plan, node)
        redo = disks[DiskRole.REDO]
        together = [role for role in (DiskRole.UNDO, DiskRole.DATA_FILES) if disks[role] is redo]
        if together and redo is not None:
            free = disk_beside_redo(plan, node)
            names = " and ".join(role.value.replace("_", " ").upper() for role in together)
            yield warning(
                f"data node {node.node_id}",
                f"{names} of data node {node.node_id} share disk {redo.name} with its REDO log although "
                f"{host.hostname} has {len(host.disks)} disks; the streams slow one another down",
                f"move {names} to disk {free.name}" if free is not redo else None,
                [node.id, redo.id],
                _moved(node.id, tuple(together), free.id) if free is not redo else None,
            )


@rule("logfile-groups", "There are several log file groups, or one whose undo buffer is too large")
def logfile_groups(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    names = {group.name: group.id for group in plan.logfile_groups}
    for alike in nodes_alike(plan):
        if alike.settings.states("InitialLogfileGroup") and alike.nodes:
            name, size = specified_files(str(alike.settings.value("InitialLogfileGroup") or ""))
            if size:
                names.setdefault(name, alike.nodes[0].id)
    if len(names) > 1:
        yield error(
            "log file groups",
            f"the plan has {len(names)} log file groups ({', '.join(sorted(names))}); a cluster takes one, "
            "CREATE LOGFILE GROUP of another fails with error 1514",
            "put the undo files of all into one log file group and let every tablespace use it",
            list(names.values()),
            OneLogfileGroup() if len(plan.logfile_groups) == len(names) else None,
        )
    shared = min((alike.settings.number("SharedGlobalMemory") for alike in nodes_alike(plan)), default=0)
    for group in plan.logfile_groups if plan.data_nodes else ():
        if group.undo_buffer_bytes >= shared:
            yield error(
                f"log file group {group.name}",
                f"the undo buffer of {group.name} takes {format_bytes_binary(group.undo_buffer_bytes)} of "
                f"SharedGlobalMemory, of {format_bytes_binary(shared)}; CREATE LOGFILE GROUP fails with "
                "error 1504. More SharedGlobalMemory would hold it",
                f"let it have {format_bytes_binary(shared // 2)}",
                [group.id],
                SetField(group.id, "undo_buffer_bytes", max(1, shared // 2)),
            )


@rule("diskless-disk-data", "A cluster without disks can have no disk data")
def diskless_disk_data(now: Estimation) -> Iterator[Problem]:
    """Source: reference manual, limitations of NDB Cluster: disk data and diskless mode."""
    plan = now.plan
    names = {one.id: one.name for one in plan.logfile_groups} | {one.id: one.name for one in plan.tablespaces}
    for alike in nodes_alike(plan) if names else ():
        if not is_diskless(alike.settings):
            continue
        for name in ("Diskless", "Discless"):
            if alike.settings.states(name):
                yield error(
                    alike.where,
                    f"{name} is 1: disk data is not supported then, and neither "
                    f"{' nor '.join(names.values())} can be made; "
                    "with all columns in memory none would be needed",
                    f"take {name} away",
                    [*alike.object_ids, *names],
                    without(alike.scope_of(name), name),
                )


@rule("tablespace-of-table", "Columns on disk are in no tablespace")
def tablespace_of_table(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    # The SQL node asks for DEFAULT-TS then, which InitialTablespace makes unless it names another.
    if any(alike.settings.states("InitialTablespace") for alike in nodes_alike(plan)):
        return
    for table in plan.tables:
        on_disk = [column.name for column in table.columns if column.storage == "disk"]
        if on_disk and table.tablespace_id is None:
            others = f" and {len(on_disk) - 1} more" if len(on_disk) > 1 else ""
            without = error(
                f"table {table.full_name}",
                f"{table.full_name} has columns on disk ({on_disk[0]}{others}) without a tablespace; CREATE "
                "TABLE fails",
                "choose a tablespace of the table, or keep its columns in memory",
                [table.id],
            )
            yield replace(without, solve=home_for(now, table))


@rule("undo-log-size", "The undo log is full before a checkpoint frees it")
def undo_log_size(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for workload in plan.workloads:
        uses = [use for use in now.under(workload).undo_log if use.fill > UNDO_WARNING]
        if not uses or not plan.logfile_groups:
            continue
        fullest = max(uses, key=lambda use: use.fill)
        group, grow = plan.logfile_groups[0], larger_undo_files(plan, fullest)
        reason = misfit(now, grow(plan))
        size = format_bytes_binary(grow.total_bytes)
        report = error if fullest.needed_bytes.low > fullest.capacity_bytes else warning
        yield report(
            f"log file group {group.name}",
            f"under workload '{workload.name}' data node {fullest.node_id} keeps "
            f"{format_bytes_binary(fullest.needed_bytes.value)} of undo log until checkpoints free it, with "
            f"the third that must stay free; the undo files have "
            f"{format_bytes_binary(fullest.capacity_bytes)}, then writes fail with error 1501",
            f"let the undo files have {size}" if not reason else f"{size} of undo files would do: {reason}",
            [group.id, workload.id],
            None if reason else grow,
            measure=fullest.fill,
        )


@rule("data-files", "A tablespace has too few or too many files, or no room")
def data_files(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for space in plan.tablespaces:
        files = sum(file.count for file in space.data_files)
        if files == 1 and not plan.features.data_files_by_many_threads:
            yield warning(
                f"tablespace {space.name}",
                f"tablespace {space.name} has one data file; before 7.0 one thread writes a file, so several "
                "are written in parallel",
                f"use {_PARALLEL_FILES} files of the same total size",
                [space.id],
                MoreFiles(space.id, _PARALLEL_FILES),
            )
        elif files > MANY_FILES:
            yield warning(
                f"tablespace {space.name}",
                f"tablespace {space.name} has {files} data files; more than {MANY_FILES} gain nothing",
                "use fewer, larger files: half as many, twice as large, until they are few enough",
                [space.id],
                FewerFiles(space.id, MANY_FILES),
            )
    for use in now.under(chosen_workload(plan)).disk_data.tablespaces:
        fill = use.fill.value
        if fill > SPACE_WARNING:
            report = error if fill > 1 else warning
            words, larger = _more_files(now, use)
            yield report(
                f"tablespace {use.tablespace}",
                f"the tables take {format_percent(fill)} of tablespace {use.tablespace} on a data node"
                + (_OF_EXTENTS if _is_of_extents(use) else ""),
                words,
                [space.id for space in plan.tablespaces if space.name == use.tablespace],
                larger,
                measure=fill,
            )


_OF_EXTENTS = (
    "; most of its extents, one of each fragment at least, is unused: a smaller EXTENT_SIZE takes less"
)


def _is_of_extents(use: TablespaceUse) -> bool:
    """Whether more of it lies unused in extents than is in pages of rows."""
    return use.pages_bytes < use.used_bytes.value / 2


def larger_undo_files(plan: Plan, use: UndoUse) -> GrowFiles:
    """The first log file group with as much undo log as a load needs until a checkpoint frees it, at most."""
    return GrowFiles(plan.logfile_groups[0].id, memory_size(use.needed_bytes.high))


def larger_data_files(plan: Plan, use: TablespaceUse) -> GrowFiles:
    """A tablespace with so much more, in whole extents, that there is room for what is in it at most."""
    space = next(space for space in plan.tablespaces if space.name == use.tablespace)
    missing = use.used_bytes.high / SPACE_WARNING - use.capacity_bytes
    size = -(-int(missing) // space.extent_size_bytes) * space.extent_size_bytes
    return GrowFiles(space.id, use.capacity_bytes + max(size, space.extent_size_bytes))


def _more_files(now: Estimation, use: TablespaceUse) -> tuple[str, Edit | None]:
    """Larger data files where the disks have room for them, else what would make room."""
    larger = larger_data_files(now.plan, use)
    more = larger.total_bytes - use.capacity_bytes
    reason = misfit(now, larger(now.plan))
    if not reason:
        return f"let the data files have {format_bytes_binary(more)} more", larger
    first = "use a smaller EXTENT_SIZE, " if _is_of_extents(use) else ""
    return (
        f"{first}add a node group, or take larger disks: {format_bytes_binary(more)} "
        f"more of data files do not fit ({reason})",
        None,
    )


@rule("disk-page-buffer", "Disk data pages are not cached")
def disk_page_buffer(now: Estimation) -> Iterator[Problem]:
    for node in now.under(chosen_workload(now.plan)).disk_data.nodes[:1]:
        ratio = node.hit_ratio.value
        if ratio < _GOOD_HIT_RATIO and node.pages_bytes.value:
            found = hint(
                "DiskPageBufferMemory",
                f"DiskPageBufferMemory answers {format_percent(ratio)} of evenly spread accesses to disk "
                "data; every miss is a random read",
                "raise DiskPageBufferMemory, if memory allows",
            )
            yield replace(found, solve=partial(room_for_pages, now, _GOOD_HIT_RATIO))


@rule("redo-and-lcp-apart", "REDO and LCP on different disks need a link")
def redo_and_lcp_apart(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    paths = {node.id: data_node_paths(plan, node) for node in plan.data_nodes}
    linked = [node for node in plan.data_nodes if paths[node.id].lcp]
    moved = [node for node in plan.data_nodes if paths[node.id].redo]
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
            missing="nothing: the plan is as it is meant, and the runbook makes the links",
        )
    for node in moved:
        yield warning(
            f"data node {node.node_id}",
            f"FileSystemPath of data node {node.node_id} is fixed on another disk than its REDO log; the "
            f"redo "
            "folders have to be moved and linked by hand after every start with --initial",
            "leave FileSystemPath out of the configuration",
            [node.id],
            SetParameter(scope_of(node, "FileSystemPath"), "FileSystemPath", None),
        )


@rule("file-threads", "Too few threads read data files")
def file_threads(now: Estimation) -> Iterator[Problem]:
    plan, machines = now.plan, machines_of(now.plan)
    for workload in plan.workloads:
        for demand in now.under(workload).disks.disks:
            asked = sum(stream.random_reads_per_s.value for stream in demand.streams)
            if not asked:
                continue
            able = reads_of(machines, demand.device)
            if able.threads is None or asked <= BUSY * able.per_s.value:
                continue
            asking = [i for i, node in machines.by_id.items() if demand.disk_id in node.used_disks]
            wanted = min(_MOST_THREADS, able.threads_for(min(asked / BUSY, demand.device.random_read_iops)))
            yield warning(
                f"disk {demand.disk} of {demand.host}",
                f"under workload '{workload.name}' {format_count(asked)} pages a second are read at random "
                f"from {demand.disk} of {demand.host}; with {how_many(round(able.threads), 'thread')} "
                f"({THREADS}), one page at a time, {able.per_s} are possible of the "
                f"{format_count(demand.device.random_read_iops)} that the disk does",
                f"set {THREADS} to {wanted}",
                [*(node.id for node in plan.data_nodes if node.node_id in asking), demand.disk_id],
                SetParameter("data_node", THREADS, wanted),
                measure=asked / able.per_s.value,
            )
