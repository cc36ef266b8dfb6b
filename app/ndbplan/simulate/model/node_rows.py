"""What the kernel must know of each data node, worked out from the plan's estimates for one transaction.

Source: the estimates of one transaction (estimate.load, estimate.storage); constants by name in
resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.errors import UserError
from ndbplan.base.kept import kept_by_identity, same
from ndbplan.base.row_types import values
from ndbplan.configuration.settings import NodeSettings, redo_buffer_bytes, redo_buffers, redo_log_parts
from ndbplan.configuration.space_files import ON_ONE_DISK, FileShares
from ndbplan.estimate.constants import constant_for, constants_of
from ndbplan.estimate.load.checkpoint import checkpoint_writers
from ndbplan.estimate.load.checkpoint_files import bytes_beside_rows
from ndbplan.estimate.load.checkpoint_speed import is_partial, speed_limits
from ndbplan.estimate.load.checkpoint_threads import Writers
from ndbplan.estimate.load.demand import TableLoad
from ndbplan.estimate.load.disk_data import NodeDiskData
from ndbplan.estimate.load.partial_checkpoint import ALL_PARTS_ABOVE
from ndbplan.estimate.load.redo import log_bytes_per_part, log_reserve
from ndbplan.estimate.load.row_capacity import (
    TablespaceRoom,
    kept_rows_per_s,
    memory_limits,
    tablespace_rooms,
)
from ndbplan.estimate.load.turns import fragments_in_turn
from ndbplan.estimate.loaded import (
    chosen_loads,
    disk_data,
    memory_per_row,
    rate_of,
    stored_on_disk,
    table_loads,
)
from ndbplan.estimate.storage.machines import Machine
from ndbplan.estimate.storage.memory import NodeMemory
from ndbplan.estimate.storage.shares import NodeShare, Shares
from ndbplan.estimate.stored import machines_of, node_data_by_id, node_memories
from ndbplan.estimate.timed import backup
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.plan.events import Backup
from ndbplan.plan.hardware import Disk, DiskKind
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.model.node_disks import disks_of_nodes
from ndbplan.simulate.world.laws import Node

Floats = NDArray[np.float64]


_NOBODY = 0
"""No node id."""
_NO_ROOM = TablespaceRoom()


class SimulationError(UserError):
    """A plan or setting that cannot be simulated."""


@dataclass(frozen=True)
class NodeFacts:
    """One data node as the kernel sees it, per transaction of the workload's mix."""

    row: Node
    redo_bytes: Floats
    """Log of each part."""
    row_share: Floats
    """Share of a transaction's logged rows that each part of the node's group gets."""
    parts: int
    redo_buffer: int
    start: tuple[float, float, float, float]
    """At the start: checkpoint bytes of all rows, DataMemory, tablespace and IndexMemory in use."""
    disks: Mapping[DiskRole, Disk]
    signature: Hashable
    """Equal for nodes that behave alike."""
    file_shares: FileShares = ON_ONE_DISK


def disks_of(machine: Machine) -> dict[DiskRole, Disk]:
    """The disk of every role. Raises SimulationError when the host has none."""
    disks = {role: disk for role, disk in machine.disks.items() if disk is not None}
    if len(disks) < len(DiskRole):
        host = machine.host
        raise SimulationError(
            f"host {host.hostname} of data node {machine.node_id} has no disk",
            where=f"hosts.{host.id}.disks",
            fix="give the host at least one disk",
        )
    return disks


def node_facts(
    plan: Plan, workload: Workload, groups: tuple[tuple[DataNode, ...], ...]
) -> dict[str, NodeFacts]:
    """Facts of every data node in a node group, by process id."""
    rate = rate_of(plan, workload)
    by_table = chosen_loads(plan, workload) if rate > 0 else ()
    grow = {(load.table.id, load.unique_index): memory_per_row(plan, load) for load, _ in by_table}
    held = node_data_by_id(plan)
    used = {node.node_id: node for node in node_memories(plan)}
    on_disk = {node.node_id: node for node in disk_data(plan, workload).nodes}
    loads = table_loads(plan, workload) if rate > 0 else ()
    rooms = tablespace_rooms(plan.tablespaces, plan.version, stored_on_disk(plan), loads)
    machines, writers = machines_of(plan).by_id, checkpoint_writers(machines_of(plan), held, loads)
    nodes, constants = same(node for group in groups for node in group), constants_of(plan)
    disks = disks_of_nodes(
        nodes,
        same(machines[node.node_id].disks for node in nodes),
        same(machines[node.node_id].file_shares for node in nodes),
    )
    if disks.without is not None:
        disks_of(machines[disks.without.node_id])
    parts = _parts_of_nodes(by_table)
    has_backup = any(isinstance(event, Backup) for event in workload.events)
    backups = {n.node_id: n.speed_bytes_per_s.value for n in backup(plan).nodes} if has_backup else {}
    # Most nodes of a cluster differ in nothing: what is worked out for one holds for all of its kind.
    kinds: dict[Hashable, NodeFacts] = {}
    numbers: dict[Hashable, int] = {}
    found: dict[str, NodeFacts] = {}
    for node in nodes:
        machine, node_id = machines[node.node_id], node.node_id
        one = _Node(
            plan, machine.settings,
            writers.get(node_id) or Writers(max(1, machine.ldm_threads), 1.0),
            *disks.of[node.id],
            machine.on_disks(DiskRole.DATA_FILES), used[node_id],
            held[node_id].checkpoint_bytes if node_id in held else 0.0,
            bytes_beside_rows(machine.settings, constants, held.get(node_id), machine.ldm_threads).value,
            on_disk.get(node_id), rooms.get(node_id, _NO_ROOM), parts.get(node_id, parts[_NOBODY]),
            backups.get(node_id, 0.0),
        )  # fmt: skip
        key = one.kind
        facts = kinds.get(key)
        if facts is None:
            made = _facts(one, [load for load, _ in by_table], grow, rate)
            # Two kinds may come to the same; a number is compared faster.
            number = numbers.setdefault(made.signature, len(numbers))
            facts = kinds[key] = replace(made, signature=number)
        signature = (facts.signature, node.id if node.id in disks.shared else None)
        found[node.id] = replace(facts, disks=one.disks, file_shares=machine.file_shares, signature=signature)
    return found


_Part = tuple[NodeShare | None, ...]
"""What a data node has of each load: one object for all nodes that have the same."""


@kept_by_identity(16)
def _parts_of_nodes(by_table: tuple[tuple[TableLoad, Shares], ...]) -> dict[int, _Part]:
    """By node id; under 0 what a node without any has."""
    known: dict[Hashable, _Part] = {}
    found = {}
    for node_id in {_NOBODY, *(node_id for _, shares in by_table for node_id in shares)}:
        shares = tuple([shares.get(node_id) for _, shares in by_table])
        found[node_id] = known.setdefault(tuple(map(id, shares)), shares)
    return found


class _Node(NamedTuple):
    """A data node and what of the plan concerns it."""

    plan: Plan
    settings: NodeSettings
    writers: Writers
    """LDM threads that write its checkpoints."""
    disks: Mapping[DiskRole, Disk]
    disk_signature: Hashable
    data_disks: tuple[tuple[Disk, float], ...]
    """Disks of its data files, with the share that each has of them."""
    used: NodeMemory
    held_bytes: float
    """In a checkpoint of all its rows."""
    files_bytes: float
    """That a checkpoint writes beside rows."""
    on_disk: NodeDiskData | None
    room: TablespaceRoom
    part: _Part
    backup_bytes_per_s: float
    """While it writes a backup; 0: none is planned."""

    @property
    def kind(self) -> Hashable:
        """Equal for nodes of one plan whose facts are."""
        used, found = self.used, self.on_disk
        return (
            id(self.settings),
            self.writers,
            id(self.part),
            (used.data_memory_bytes.value, used.index_memory_bytes.value),
            (used.data_memory_limit_bytes, used.index_memory_limit_bytes),
            (self.held_bytes, self.files_bytes),
            self.room,
            self.backup_bytes_per_s,
            None if found is None else (_asked_of_disks(found), _cache_signature(found)),
            self.disk_signature,
        )


def _facts(
    one: _Node, loads: list[TableLoad], grow: dict[tuple[str, int | None], tuple[float, float]], rate: float
) -> NodeFacts:
    sums = _sums(one, loads, grow, rate)
    row = _settings_row(one, sums)
    row.fragments = _fragments(one)
    row.lcp_files_bytes = one.files_bytes
    mine = one.used
    limits = memory_limits(mine, one.settings)
    row.memory_limit_bytes, row.index_limit_bytes = limits.data_bytes, min(1e18, limits.index_bytes)
    space = _disk_data_row(one, row, rate)
    # A table without rows yet will be most of the node: the share counts as whole.
    row.fragment_share = sums.fragment_share(one.held_bytes)
    row.untouched_bytes = max(0.0, one.held_bytes - sums.held)
    start = (one.held_bytes, mine.data_memory_bytes.value, space, mine.index_memory_bytes.value)
    return NodeFacts(
        row=row,
        redo_bytes=sums.redo,
        row_share=sums.row_share,
        parts=len(sums.redo),
        redo_buffer=int(
            redo_buffer_bytes(one.settings) * _share_of_buffer(sums.redo, one.settings, one.writers.threads)
        ),
        start=start,
        disks=one.disks,
        signature=(
            values(row),
            sums.redo.tobytes(),
            sums.row_share.tobytes(),
            start,
            _cache_signature(one.on_disk),
            one.disk_signature,
        ),
    )


@dataclass
class _Sums:
    redo: Floats
    row_share: Floats
    inserted: float = 0.0
    new: float = 0.0
    updated: float = 0.0
    deleted: float = 0.0
    operations: float = 0.0
    memory: float = 0.0
    index: float = 0.0
    held: float = 0.0
    """Rows of tables that are changed."""
    touched: float = 0.0
    spread: float = 0.0
    """What is touched times the bytes of a fragment of its table, and of all of an LDM thread."""
    in_turn: float = 0.0
    """What is touched by the fragments of its table that an LDM thread has."""

    def fragment_share(self, data: float) -> float:
        """Share of an LDM thread's rows that a fragment of a changed table has; the node has `data` bytes.

        A table without rows yet will be most of the node: it counts as alone.
        """
        if self.touched <= 0:
            return 1.0
        alone = self.in_turn / self.touched
        return min(alone, self.spread / (self.touched * data)) if self.spread > 0 and data > 0 else alone


def _sums(
    one: _Node, loads: list[TableLoad], grow: dict[tuple[str, int | None], tuple[float, float]], rate: float
) -> _Sums:
    plan, parts = one.plan, redo_log_parts(one.settings)
    sums = _Sums(np.zeros(parts), np.zeros(parts))
    if rate <= 0:
        return sums
    page = constant_for(plan, "redo_page_overhead").value
    rows_per_tx = sum(load.writes_per_s for load in loads if load.redo_bytes_per_s.value > 0) / rate
    for load, share in zip(loads, one.part, strict=True):
        if share is None:
            continue
        for part, amount in share.by_log_part:
            sums.redo[part % parts] += amount * load.redo_bytes_per_s.value * page / rate
            if load.redo_bytes_per_s.value > 0 and rows_per_tx > 0:
                sums.row_share[part % parts] += amount * load.writes_per_s / rate / rows_per_tx
        row_bytes = load.checkpoint_row_bytes * share.replicas / rate
        added = load.inserts_per_s - load.deletes_per_s
        sums.inserted += added * row_bytes
        data, index = grow[load.table.id, load.unique_index]
        sums.memory += kept_rows_per_s(load) * share.replicas / rate * data
        sums.index += kept_rows_per_s(load) * share.replicas / rate * index
        sums.new += load.inserts_per_s * row_bytes
        sums.updated += load.updates_per_s * row_bytes
        sums.deleted += load.deletes_per_s * row_bytes
        touched = (load.updates_per_s + load.inserts_per_s + load.deletes_per_s) * row_bytes
        held, in_turn = load.rows * load.checkpoint_row_bytes * share.replicas, share.in_turn
        sums.held += held if touched > 0 else 0.0
        sums.touched += touched
        sums.in_turn += touched / in_turn
        sums.spread += touched / in_turn * held
        if load.table.logging:
            sums.operations += load.write_operations_per_s * share.replicas / rate
    return sums


def _share_of_buffer(redo: Floats, settings: NodeSettings, ldm_threads: int) -> float:
    """What the busiest log part holds of its redo buffer when that is full: all, or as log parts share one.

    Source: Dblqh of 7.x, whose free log pages (cnoOfLogPages) are those of an LDM instance. The instance with
    the most log decides; its parts fill as they are written.
    """
    if redo_buffers(settings, ldm_threads) == len(redo):
        return 1.0
    of_ldm = [redo[ldm::ldm_threads] for ldm in range(min(ldm_threads, len(redo)))]
    busiest = max(of_ldm, key=lambda parts: float(parts.sum()))
    return float(busiest.max() / busiest.sum()) if busiest.sum() > 0 else 1.0


def _settings_row(one: _Node, sums: _Sums) -> Node:
    row, plan, settings = Node(), one.plan, one.settings
    file_bytes = max(1, settings.number("FragmentLogFileSize"))
    log_bytes = log_bytes_per_part(settings)
    scanned = constant_for(plan, "backup_scan_ldm_bytes_per_s").value * one.writers.threads
    limits = speed_limits(settings).by_threads(one.writers.speed_share)
    buffer = redo_buffer_bytes(settings) - constant_for(plan, "redo_buffer_reserve_bytes").value
    row.buffer_limit_bytes = max(1.0, buffer * _share_of_buffer(sums.redo, settings, one.writers.threads))
    row.log_bytes = max(1.0, log_bytes)
    row.log_limit_bytes = max(1.0, log_bytes - log_reserve(settings.features, constants_of(plan)).value)
    row.file_bytes = file_bytes
    row.file_open_after_bytes = min(
        constant_for(plan, "redo_next_file_open_bytes").value,
        constant_for(plan, "redo_next_file_open_share").value * file_bytes,
    )
    row.file_spare_bytes = min(
        constant_for(plan, "redo_file_spare_bytes").value,
        constant_for(plan, "redo_file_spare_share").value * file_bytes,
    )
    row.lcp_min_bytes_per_s = limits.floor
    row.lcp_max_bytes_per_s = limits.ceiling
    row.lcp_max_other_bytes_per_s = limits.other_restart
    row.lcp_max_own_bytes_per_s = limits.own_restart
    row.lcp_followed_bytes_per_s = scanned
    compressed = settings.number("CompressedLCP")
    row.lcp_factor = constant_for(plan, "lcp_compressed_factor").value if compressed else 1.0
    row.lag_limit_s = settings.number("RedoOverCommitLimit")
    counts = not plan.features.redo_lag_at_once
    row.lag_looks = max(1, settings.number("RedoOverCommitCounter")) if counts else 1.0
    row.redo_control = bool(limits.redo_control)
    row.partial_lcp = is_partial(settings)
    row.recovery_work, row.all_parts_above = max(1, settings.number("RecoveryWork")) / 100, ALL_PARTS_ABOVE
    row.lcp_headroom = constant_for(plan, "lcp_target_headroom").value
    row.lcp_steps_up = settings.features.lcp_speed_steps_up
    # Alerts are known where redo control is, also when it is off.
    row.lcp_steps_up_at_alert = row.lcp_steps_up / (2.0 if settings.features.redo_control else 1.0)
    row.lcp_steps_down = settings.features.lcp_speed_steps_down
    row.adaptive_lcp = settings.features.checkpoint_speed_by_parameters
    row.device_factor = constant_for(plan, "device_write_factor").value
    row.inserted_bytes = sums.inserted
    row.new_bytes = sums.new
    row.updated_bytes = sums.updated
    row.deleted_bytes = sums.deleted
    row.insert_weight = settings.number("InsertRecoveryWork") / 100
    row.memory_bytes = sums.memory
    row.index_bytes = sums.index
    saved = constant_for(plan, "redo_commit_bytes").value - constant_for(plan, "redo_abort_bytes").value
    logged = float(sums.redo.sum())
    row.abort_share = max(0.0, 1.0 - saved * sums.operations / logged) if logged > 0 else 1.0
    row.ldms = one.writers.threads
    seeks = one.disks[DiskRole.REDO].kind == DiskKind.HDD
    unevenness = "redo_part_unevenness_hdd" if seeks else "redo_part_unevenness"
    row.unevenness = constant_for(plan, unevenness).value
    row.backup_bytes_per_s = one.backup_bytes_per_s
    return row


def _fragments(one: _Node) -> float:
    """Fragments of the tables in question that an LDM thread of the node checkpoints in turn."""
    shares = (share for share in one.part if share is not None)
    return float(round(fragments_in_turn(shares, constant_for(one.plan, "lcp_fragments_in_turn").value)))


def _disk_data_row(one: _Node, row: Node, rate: float) -> float:
    """Fill in the columns of disk data; returns the tablespace in use."""
    plan, found, room = one.plan, one.on_disk, one.room
    row.dirty_cost = 1.0
    row.clean_bytes_per_s = cleaned_bytes_per_s(plan, one.writers.threads)
    row.undo_limit_bytes = row.undo_buffer_bytes = row.dirty_limit_bytes = row.space_limit_bytes = 1e18
    if found is None:
        return 0.0
    reserve = constant_for(plan, "undo_reserve").value
    undo_bytes = sum(f.size_bytes * f.count for group in plan.logfile_groups for f in group.undo_files)
    if undo_bytes > 0:
        row.undo_limit_bytes = undo_bytes * (1.0 - reserve)
        row.undo_buffer_bytes = max(1.0, sum(group.undo_buffer_bytes for group in plan.logfile_groups))
    cache = max(PAGE_BYTES, one.settings.number("DiskPageBufferMemory"))
    row.dirty_limit_bytes = cache * constant_for(plan, "disk_page_buffer_dirty").value
    if room.capacity_bytes > 0:
        row.space_limit_bytes = room.capacity_bytes
    if rate <= 0:
        return room.used_bytes
    written_per_s, random_writes_per_s, undo_per_s, reads_per_s = _asked_of_disks(found)
    in_order = written_per_s / rate
    at_random = random_writes_per_s * PAGE_BYTES / rate
    row.undo_bytes = undo_per_s / rate
    row.dirty_bytes = in_order + at_random
    row.reads = reads_per_s / rate
    row.space_bytes = room.bytes_per_s / rate
    if row.dirty_bytes > 0:
        # A page at a random place takes as long as the disk needs for one operation, at least.
        cost = sum(
            share * max(1.0, disk.sequential_write_bytes_per_s / (disk.random_write_iops * PAGE_BYTES))
            for disk, share in one.data_disks
        )
        row.dirty_cost = (in_order + at_random * cost) / row.dirty_bytes
    return room.used_bytes


def cleaned_bytes_per_s(plan: Plan, ldm_threads: int) -> float:
    """Dirty pages of disk data that so many LDM threads write in the background at most: each begins so many
    in every round (Pgman::process_cleanup)."""
    pages = plan.features.pages_cleaned_at_once * ldm_threads
    return pages * PAGE_BYTES / constant_for(plan, "disk_page_clean_every_s").value


def _asked_of_disks(found: NodeDiskData) -> tuple[float, float, float, float]:
    """Bytes of pages and pages at random that are written, bytes of undo log and pages read, per second."""
    return (
        found.page_write_bytes_per_s.value,
        found.random_writes_per_s.value,
        found.undo_bytes_per_s.value,
        found.random_reads_per_s.value,
    )


def _cache_signature(found: NodeDiskData | None) -> Hashable:
    """What decides how many pages the node reads while rows grow."""
    if found is None:
        return None
    return found.accesses_per_s, found.touched_bytes, found.grown_bytes_per_s, found.cached_bytes
