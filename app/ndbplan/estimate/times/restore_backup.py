"""How long ndb_restore takes: files made anew, all rows at insert speed, then the ordered indexes.

Rows come no faster than the program sends them. From 8.0.16 on each part of a node's backup has a thread
of it, before there is one; whatever their number, they share the transactions that it has under way.

Source: engine model 9; NDB restore_main.cpp; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from ndbplan.base.quantity import Quantity, Term, largest, rising, total
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint_speed import speed_limits
from ndbplan.estimate.load.log_records import stored_redo
from ndbplan.estimate.load.processors import against_timed, core_speed, on_core
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.estimate.storage.shares import Shares
from ndbplan.estimate.times.backup import BackupEstimate, PhasedEstimate, phased
from ndbplan.estimate.times.backup_sites import Site, sites_of
from ndbplan.estimate.times.copy_links import crossings
from ndbplan.estimate.times.disk_files import disk_left
from ndbplan.estimate.times.restart import busy_threads
from ndbplan.estimate.times.restart_phases import Phase, busiest_thread
from ndbplan.estimate.times.speed_terms import Limit, slowest, spread_terms
from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind

RESTORE_ROWS, REBUILD_INDEXES = "restore rows", "rebuild indexes"
PROGRAM, UNDER_WAY = "ndb_restore", "transactions of ndb_restore under way"


def restore_backup(
    machines: Machines,
    stored: Sequence[tuple[Table, tuple[Shares, ...]]],
    held: Sequence[NodeData],
    saved: BackupEstimate,
    files: PhasedEstimate,
    *,
    one_by_one: bool = False,
) -> PhasedEstimate:
    """ndb_restore: undo and data files made anew, all rows at insert speed, then the ordered indexes.

    `stored`: each table with the shares of its rows and of the entries of its unique indexes on the nodes;
    `saved`: the backup, each node's is read from the disk that it was written to; `files`: making them;
    `one_by_one`: the program runs for one node after the other, not for all of them at once.
    """
    constants = machines.constants
    rate = constants["restore_client_rows_per_s"]
    rows = Quantity.exact(0.0, "s")
    entries = 0.0
    for data in held:
        node = machines.by_id[data.node_id]
        threads = busy_threads(node, data, together=machines.on_host(node.host.id))
        one = _insert_seconds(machines, node, data, threads, rate)
        rows = max(rows, one, key=lambda time: time.value)
        # Of the fullest LDM thread, or of all on the cores that there are.
        entries = max(entries, data.fullest_ldm.index_entries, data.index_entries / threads)
    limits = [
        Limit("LDM threads", rows),
        *_restore_disks(machines, stored, held, saved),
        *_restore_links(machines, held),
    ]
    if one_by_one:
        # Only the node group whose rows are in the files that are read is at work.
        turns = max(1, len(machines.groups))
        limits = [replace(one, duration_s=one.duration_s.scaled(turns)) for one in limits]
    rows, decides = slowest(*limits, *_program(machines, held, one_by_one=one_by_one))
    built = Quantity.stated("index entries of the fullest LDM thread", entries, "rows", "distribution")
    core = min((against_timed(node.host, constants) for node in machines.nodes), key=lambda one: one.value)
    indexes = built / on_core(constants["index_build_ldm_rows_per_s"], core)
    faster = decides.shorten or "more LDM threads; a faster redo disk; several ndb_restore at once"
    return phased(
        [
            *files.phases,
            Phase(RESTORE_ROWS, rows, decides.name, faster),
            Phase(REBUILD_INDEXES, indexes, "LDM threads", "more LDM threads"),
        ]
    )


def _program(machines: Machines, held: Sequence[NodeData], *, one_by_one: bool) -> list[Limit]:
    """What ndb_restore itself does: its threads, and the transactions that they share.

    Of several at once the one with most rows decides; one after the other, their sum.
    """
    sites, constants = sites_of(machines), machines.constants
    by_threads, by_transactions = [], []
    for data in held:
        rows, parts = _in_turn(sites[data.node_id], data)
        most = Quantity.stated("records of its busiest thread", rows, "rows", "distribution")
        by_threads.append((f"node {data.node_id}", most / constants["ndb_restore_thread_rows_per_s"]))
        # Whole transactions, at least one for each part.
        own = max(1, constants["ndb_restore_transactions"].value // parts)
        under_way = Quantity.stated("transactions of that thread under way", own, "count", "formula")
        taken = (most * constants["ndb_restore_transaction_s"] / under_way).in_unit("s")
        by_transactions.append((f"node {data.node_id}", taken))
    summed = total if one_by_one else largest
    return [
        Limit(
            PROGRAM, summed(by_threads, "s"), "several ndb_restore at once; from 8.0.20 on slices of a backup"
        ),
        Limit(UNDER_WAY, summed(by_transactions, "s"), "ndb_restore --parallelism above 128"),
    ]


def _in_turn(site: Site, data: NodeData) -> tuple[float, int]:
    """Records that one thread brings back, and the parts that share the transactions: each has a thread.

    Parts without a record have their share too.
    """
    if not site.multithreaded:
        return data.saved_rows, 1
    return data.fullest_ldm.saved_rows, site.ldm_threads


def _insert_seconds(
    machines: Machines, node: Machine, data: NodeData, threads: float, rate: Quantity
) -> Quantity:
    """Time of a node's LDM threads to insert all its rows: that of the fullest, or of all on its cores."""
    speed = core_speed(node.host, machines.constants)
    reference = machines.constants["core_gain_per_clock"].value
    rows = busiest_thread(data.fullest_ldm.rows, data.rows, threads)
    why = (
        Term("rows of the node", data.rows, "rows", "distribution"),
        Term("rows of its busiest LDM thread", rows, "rows", "distribution", spread_terms(machines.version)),
        speed.as_term("speed of a core"),
    )
    return Quantity.exact(rows * reference / speed.value, "rows", why) / rate


def _restore_disks(
    machines: Machines,
    stored: Sequence[tuple[Table, tuple[Shares, ...]]],
    held: Sequence[NodeData],
    backup: BackupEstimate,
) -> list[Limit]:
    """Reading the backup, writing the log of all inserts and the pages of columns on disk.

    What is on one device is done one after the other. More log comes than a disk takes, so checkpoints on it
    take their share, as in every overload.
    """
    constants = machines.constants
    overhead = constants["redo_page_overhead"].value * constants["device_write_factor"].value
    log: dict[int, float] = {}
    for table, shares in stored:
        logs = stored_redo(table, OperationKind.INSERT, machines.version)
        for one, by_node in zip(logs, shares, strict=True):
            each = one.value * table.rows * overhead
            for node_id, share in by_node.items():
                log[node_id] = log.get(node_id, 0.0) + each * share.replicas
    pages = {data.node_id: data.disk_page_bytes for data in held}
    saved = {node.node_id: node.written_bytes.low for node in backup.nodes}
    checkpoints = {node.node_id: speed_limits(node.settings).ceiling for node in machines.nodes if log}
    logged: dict[str, float] = {}
    written: dict[str, float] = {}
    read: dict[str, float] = {}
    beside: dict[str, float] = {}
    disks: dict[str, tuple[Disk, int]] = {}
    moves = (
        (DiskRole.REDO, log, logged),
        (DiskRole.DATA_FILES, pages, written),
        (DiskRole.BACKUP, saved, read),
        (DiskRole.LCP, checkpoints, beside),
    )
    for node in machines.nodes:
        for role, size, sums in moves:
            for disk, part in node.on_disks(role) if size.get(node.node_id) else ():
                sums[disk.id] = sums.get(disk.id, 0.0) + part * size[node.node_id]
                disks[disk.id] = (disk, node.node_id)
    limits = []
    for disk_id, (disk, node_id) in disks.items():
        out, back = written.get(disk_id, 0.0), read.get(disk_id, 0.0)
        writing = disk.sequential_write_bytes_per_s * disk_left(disk)
        reading = disk.sequential_read_bytes_per_s * disk_left(disk)
        records = Quantity.stated("redo log of all rows", logged.get(disk_id, 0.0), "bytes")
        for_log = _left_for_log(constants, writing, beside.get(disk_id, 0.0))
        why = (
            Term("pages of columns on disk", out, "bytes", "formula"),
            Term(f"sequential writing of {disk.name}", writing, "bytes/s", "plan"),
            Term("backup that is read", back, "bytes", "formula"),
            Term(f"sequential reading of {disk.name}", reading, "bytes/s", "plan"),
        )
        time = records / for_log + Quantity.exact(out / writing + back / reading, "s", why)
        limits.append(Limit(f"disk {disk.name} of node {node_id}", time * constants["device_time"]))
    # The one that decides, and the one that is never quicker.
    most = (
        max(limits, key=lambda limit: getattr(limit.duration_s, end)) for end in ("value", "low") if limits
    )
    return list(dict.fromkeys(most))


def _left_for_log(constants: Constants, writing: float, checkpoints: float) -> Quantity:
    """What a disk writes of log of which more comes; `checkpoints`: what those on it may write at most."""
    share = constants["redo_beside_checkpoints"]
    left = rising(lambda part: writing - min(checkpoints, (1.0 - part) * writing), share, unit="bytes/s")
    return left.named("what checkpoints on the disk leave")


def _restore_links(machines: Machines, nodes: Iterable[NodeData]) -> list[Limit]:
    """Rows on their way: each once to the nodes of a group, then from member to member."""
    held = {data.node_id: data for data in nodes}
    flows = []
    for group in machines.groups:
        for i, node in enumerate(group):
            own = held.get(node.node_id)
            if own is None:
                continue
            # From the primary to the first backup, from there to the next.
            chain = [group[(i + k) % len(group)].host for k in range(len(group))]
            flows += [(begin, end, own.primary_bytes) for begin, end in pairwise(chain)]
    limits = []
    usable = machines.constants["copy_network_share"]
    for link in crossings(machines.locations, flows).values():
        name = "bytes of rows sent on to other replicas"
        sent = Quantity.stated(name, link.crossing_bytes, "bytes", "distribution")
        speed = Quantity.stated(f"speed of {link.name}", link.bytes_per_s, "bytes/s")
        limits.append(Limit(link.name, sent / (speed * usable)))
    return sorted(limits, key=lambda limit: -limit.duration_s.value)[:1]
