"""How long a backup and the creation of disk data files take.

backup(cluster).duration_s
create_disk_data(constants, files, disks).duration_s

Source: engine model 5.5, 9 and 16.4; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term, largest, total
from ndbplan.base.shapes import Shape
from ndbplan.base.units import MIB, format_bytes_per_s, format_percent
from ndbplan.configuration.settings import NodeSettings, is_diskless
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint import CheckpointEstimate
from ndbplan.estimate.load.checkpoint_speed import speed_limits
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.disks import DisksEstimate
from ndbplan.estimate.load.node_settings import KEPT_NODES, NODE_SETTINGS
from ndbplan.estimate.load.processors import on_core
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.estimate.storage.node_data import LdmData, NodeData
from ndbplan.estimate.times.backup_disks import Target, left_to, targets_of, written_beside
from ndbplan.estimate.times.backup_sites import Device, Devices, sites_of
from ndbplan.estimate.times.disk_files import (
    create_file,
    files_of_disk_data,
)
from ndbplan.estimate.times.restart_phases import Phase
from ndbplan.estimate.times.running import Files
from ndbplan.estimate.times.speed_terms import Limit, change_term, slowest, spread_terms
from ndbplan.ndb.nearness import Nearness
from ndbplan.ndb.speed_changes import speed_change
from ndbplan.plan.hardware import Disk

_BY_PARAMETERS = "MaxDiskWriteSpeed × BackupDiskWriteSpeedPct"
"""What bounds a node that writes as fast as its parameters allow."""


@dataclass(frozen=True, slots=True)
class NodeBackup(Shape):
    """Backup of one data node: the fragments whose primary replica it holds."""

    JSON = "node_id written_bytes speed_bytes_per_s duration_s bound log_bytes"

    node_id: int
    written_bytes: Quantity
    speed_bytes_per_s: Quantity
    duration_s: Quantity
    bound: str
    log_bytes: Quantity
    """Changes that the backup's log takes up meanwhile."""

    @property
    def figures(self) -> tuple[Quantity, Quantity, Quantity, Quantity]:
        """Those with a range: the same objects for all nodes that back up alike."""
        return self.written_bytes, self.speed_bytes_per_s, self.duration_s, self.log_bytes

    def with_figures(self, written: Quantity, speed: Quantity, lasts: Quantity, log: Quantity) -> NodeBackup:
        """The same node with these instead."""
        return NodeBackup(self.node_id, written, speed, lasts, self.bound, log)


@dataclass(frozen=True, slots=True)
class BackupEstimate(Shape):
    """Backup of the whole cluster: all nodes at the same time, the slowest counts."""

    JSON = "nodes duration_s=taken_s notes nearness"

    nodes: tuple[NodeBackup, ...]
    duration_s: Quantity
    """For what waits for it: nothing where none is made."""
    notes: tuple[str, ...]
    nearness: Nearness | None = None
    """How near it lies to backups that were measured."""

    @property
    def taken_s(self) -> Quantity | None:
        """How long it takes; None: none is made, and the notes say why."""
        return self.duration_s if self.nodes else None


@dataclass(frozen=True, slots=True)
class PhasedEstimate(Shape):
    """Something that takes several phases."""

    JSON = "phases duration_s"

    phases: tuple[Phase, ...]
    duration_s: Quantity
    """Sum of the phases."""


def phased(phases: list[Phase]) -> PhasedEstimate:
    """Phases that follow one another."""
    return PhasedEstimate(tuple(phases), total(((p.name, p.duration_s) for p in phases), "s"))


class _Machine(NamedTuple):
    """What of its host and threads decides how fast a data node writes a backup."""

    ldm_threads: int
    multithreaded: bool
    """Whether each of them writes its own part of the backup."""
    cores: float
    """Cores of the host over the data nodes that share it."""
    core: Quantity
    """Work of one of them against those that were timed."""
    target: Target | None
    """Where the backup goes."""
    source: Device | None
    """Where the columns on disk are."""
    one_disk: bool
    """Whether both are on the same disk."""


def _writers(
    settings: NodeSettings, constants: Constants, data: NodeData, machine: _Machine
) -> tuple[list[tuple[float, float]], Term]:
    """(bytes, bytes per second that it may write) of each LDM thread that writes, and the share as a term.

    The first thread writes at its full share of MaxDiskWriteSpeed, every other at BackupDiskWriteSpeedPct of
    its share (running 8.4.8 cluster). There the first thread alone writes at its full share and more; before
    8.0.16 one thread gets that part of the whole speed.
    """
    limits, part = speed_limits(settings), 1.0
    if speed_change("backup_share").is_in(settings.version):
        part = max(1, settings.number("BackupDiskWriteSpeedPct")) / 100
    term = Term("share that a backup gets", part, "fraction", "BackupDiskWriteSpeedPct")
    each = limits.ceiling / max(1, machine.ldm_threads)
    if not machine.multithreaded:
        by_share = speed_change("multithreaded_backup").is_in(settings.version)
        return [(_saved(constants, data), each if by_share else limits.ceiling * part)], term
    first = constants["backup_first_ldm_share"].value
    own = [
        (_saved(constants, one), each * (max(first, part) if ldm == 1 else part)) for ldm, one in data.by_ldm
    ]
    return own, term


def _saved(constants: Constants, data: NodeData | LdmData) -> float:
    """Bytes of a node's, or of an LDM thread's, part of a backup."""
    return data.saved_bytes + constants["backup_row_overhead_bytes"].value * data.saved_rows


def _limits(
    settings: NodeSettings, constants: Constants, data: NodeData, size: Quantity, machine: _Machine
) -> list[Limit]:
    """What bounds the time to write a node's backup of so many bytes on disk."""
    writers, share = _writers(settings, constants, data, machine)
    # Speeds count bytes before compression (product worklog 4081).
    raw = _saved(constants, data)
    seconds = max((own / speed for own, speed in writers), default=0.0)
    slowest_bytes = max((own for own, _ in writers), default=0.0)
    cores = max(0.25, machine.cores)
    work = max(slowest_bytes, raw / min(float(max(1, len(writers))), cores))
    changes = tuple(
        change_term(name, settings.version)
        for name in (
            "checkpoint_speed_by_parameters",
            "backup_share",
            "multithreaded_backup",
            "measured_on_8_4",
        )
    )
    ceiling = Term("MaxDiskWriteSpeed", speed_limits(settings).ceiling, "bytes/s", "plan")
    threads = Term("LDM threads that take part", len(writers), "", "plan", spread_terms(settings.version))
    slow = Term("bytes of the slowest thread", slowest_bytes, "bytes", "distribution")
    holding = Term(
        f"LDM threads that hold primary replicas, of {machine.ldm_threads}",
        sum(1 for _, one in data.by_ldm if one.saved_rows),
        "",
        "distribution: each writes its own rows at its share of the speed; more threads can be slower",
    )
    terms = (ceiling, share, threads, holding, slow, *changes)
    held = constants["backup_speed_held"]
    if not machine.multithreaded and speed_change("multithreaded_backup").is_in(settings.version):
        held = constants["backup_single_thread_held"]
    by_threads = {"scan": "backup_scan_ldm_bytes_per_s"}
    if settings.number("CompressedBackup"):
        by_threads["compress"] = "backup_compress_bytes_per_s"
    limits = [Limit(_BY_PARAMETERS, Quantity.exact(seconds, "s", terms) / held)]
    for does, name in by_threads.items():
        time = Quantity.exact(work, "bytes", terms) / on_core(constants[name], machine.core)
        limits.append(Limit(f"LDM threads that {does}", time))
    return [*limits, *_device_limits(constants, data, size, machine, slowest(*limits)[0])]


def _device_limits(
    constants: Constants, data: NodeData, size: Quantity, machine: _Machine, alone: Quantity
) -> list[Limit]:
    """Writing the backup and reading the pages of columns on disk: in turn when both are on one device.

    `alone`: what the node would need without any limit of its disks: so quickly it asks them to write.
    """
    target, source, one_disk = machine.target, machine.source, machine.one_disk
    pages, slower = data.primary_disk_page_bytes, constants["device_time"]
    read = Quantity.stated("pages of columns on disk to read", pages, "bytes", "rows at their declared width")
    limits = []
    if target is not None:
        asked, most = (size.value / s if s > 0 else 0.0 for s in (alone.value, alone.low))
        speed = written_beside(constants, target, asked, most).named("writing")
        limits.append(Limit(f"disk {target.name}", size.named("bytes") / speed))
        if one_disk and source is not None:
            reading = Quantity.exact(read.value / source.reads_bytes_per_s, "s", read.why)
            alone_on_it = size.named("bytes") / left_to(target).named("writing")
            limits.append(Limit(f"disk {target.name}", alone_on_it + reading * slower))
    if source is not None and not one_disk and pages:
        speed = Quantity.stated(f"reading of {source.name}", source.reads_bytes_per_s, "bytes/s")
        limits.append(Limit(f"disk {source.name}", read / speed * slower))
    return limits


@kept_by_identity(size=KEPT_NODES)
def _node(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData,
    change_bytes_per_s: float,
    ldm_threads: int,
    multithreaded: bool,
    cores: float,
    core: Quantity,
    target: Target | None,
    source: Device | None,
    one_disk: bool,
    job_s: float | None,
) -> NodeBackup:
    """Backup of the nodes with these data, settings and machine (see _Machine).

    `job_s`: after so long a job has nothing left to change at this rate.
    """
    machine = _Machine(ldm_threads, multithreaded, cores, core, target, source, one_disk)
    values = Quantity.stated(
        "values whose primary is here, packed", data.saved_bytes, "bytes", "distribution"
    )
    rows = Quantity.stated("rows", data.saved_rows, "rows", "distribution")
    size = values + (rows * constants["backup_row_overhead_bytes"]).in_unit("bytes")
    if settings.number("CompressedBackup"):
        size = size * constants["lcp_compressed_factor"]
    writing, decides = slowest(*_limits(settings, constants, data, size, machine))
    fixed = constants["backup_fixed_s"]
    duration = (fixed + writing).because(*fixed.why, size.as_term("bytes"), writing.as_term("writing"))
    speed = _speed(settings, size, writing)
    lasts, terms = duration, [duration.as_term("duration")]
    if job_s is not None:
        lasts = duration.within(most=job_s)
        terms.append(Term("the job lasts", job_s, "s", "workload"))
    changes = Term("changes, as far as the disk takes them", change_bytes_per_s, "bytes/s", "workload")
    log = lasts.scaled(change_bytes_per_s, "bytes", (*terms, changes))
    return NodeBackup(data.node_id, size, speed, duration, decides.name, log)


def _speed(settings: NodeSettings, size: Quantity, writing: Quantity) -> Quantity:
    """Bytes per second that the node writes on average; of a node without rows what it might write."""
    if writing.value <= 0 or writing.low <= 0 or size.value <= 0:
        ceiling = speed_limits(settings).ceiling
        return Quantity.exact(ceiling, "bytes/s", (Term("MaxDiskWriteSpeed", ceiling, "bytes/s", "plan"),))
    # What is written and how long it takes belong together: the range is that of the time.
    written = Quantity.exact(size.value, "bytes", (size.as_term("bytes"),))
    return written / writing.named("writing")


@kept_by_identity(size=KEPT_NODES)
def _of(of_alike: NodeBackup, node_id: int) -> NodeBackup:
    return of_alike if of_alike.node_id == node_id else replace(of_alike, node_id=node_id)


@kept_by_identity(size=48)
def backup(
    machines: Machines,
    held: tuple[NodeData, ...],
    loads: Mapping[int, NodeLoad],
    disks: DisksEstimate,
    checkpoints: CheckpointEstimate,
    job_s: float | None = None,
) -> BackupEstimate:
    """START BACKUP: every node writes the fragments whose primary it holds, under a load or idle.

    Columns on disk are part of it. No node is faster than its slowest LDM thread, its cores and its disks.
    `loads`, `disks`, `checkpoints`: what is asked of nodes and disks meanwhile; `job_s`: for so long, if it
    ends.
    """
    if (diskless := is_diskless(machines.settings)) or not held:
        why = "a diskless cluster makes no backup" if diskless else "there is no table to save"
        return BackupEstimate((), largest((), "s"), (why,))
    targets, sites = targets_of(machines, loads, disks, checkpoints), sites_of(machines)
    devices = Devices.of(machines, disks.busy())
    alike: dict[object, NodeBackup] = {}
    nodes = []
    notes = []
    for data in held:
        load, site = loads.get(data.node_id), sites[data.node_id]
        changes = load.backup_log_bytes_per_s if load is not None else 0.0
        place, source = targets.get(data.node_id), devices.slowest(site.sources)
        logged = min(changes, site.most_logged_bytes_per_s)
        key = site.kind, id(data.alike), logged, id(place), id(source)
        one = alike.get(key)
        if one is None:
            bare = site.settings.only(NODE_SETTINGS)
            machine = (
                site.ldm_threads, site.multithreaded, site.cores, site.core, place, source, site.one_disk,
            )  # fmt: skip
            one = alike[key] = _node(bare, machines.constants, data.alike, logged, *machine, job_s)
        nodes.append(_of(one, data.node_id))
        if changes and changes > nodes[-1].speed_bytes_per_s.value:
            buffer = site.settings.number("BackupLogBufferSize")
            notes.append(
                f"node {data.node_id}: changes come faster than the backup writes; its log buffer of "
                f"{buffer // MIB} MiB overruns and the backup fails"
            )
    slow = largest(((f"node {n.node_id}", n.duration_s) for n in nodes), "s")
    slowest_node = max(nodes, key=lambda one: one.duration_s.value, default=None)
    if slowest_node is not None:
        data = next(data for data in held if data.node_id == slowest_node.node_id)
        node = machines.by_id[data.node_id]
        if sites[data.node_id].multithreaded:
            notes += _threads_that_wait(slowest_node, data.alike, node)
    return BackupEstimate(tuple(nodes), slow, tuple(notes))


_EVEN_ENOUGH = 1.5
"""Up to so many times its even part, the rows of the fullest LDM thread need no word."""


def _threads_that_wait(one: NodeBackup, data: NodeData, node: Machine) -> list[str]:
    """Says where fewer LDM threads would write faster: each has its share of the speed, whatever it holds."""
    threads, fullest = node.ldm_threads, max((ldm.saved_bytes for _, ldm in data.by_ldm), default=0.0)
    part = fullest / data.saved_bytes if data.saved_bytes else 0.0
    if one.bound != _BY_PARAMETERS or part * threads < _EVEN_ENOUGH:
        return []
    ceiling = format_bytes_per_s(speed_limits(node.settings).ceiling)
    return [
        f"node {one.node_id}: each of its {threads} LDM threads writes its own primary replicas at its share "
        f"of MaxDiskWriteSpeed ({ceiling}), and one holds {format_percent(part)} of them. "
        "More cores make more threads with smaller shares, and this backup slower: raise MaxDiskWriteSpeed"
    ]


def create_disk_data(constants: Constants, files: Files, nodes: Sequence[Machine]) -> PhasedEstimate:
    """Creating every undo file and data file, one after the other; the slowest disk counts.

    Data nodes whose files lie on one disk share it: each makes its own copy of every file at the same time.
    """
    phases = []
    for name, role, folder, file in files_of_disk_data(files):
        users: dict[str, list[Disk]] = {}
        for disk in (node.disk_of_folder(role, folder) for node in nodes):
            if disk is not None:
                users.setdefault(disk.id, []).append(disk)
        made = [
            (create_file(constants, d[0], file.size_bytes, together=len(d)), d[0]) for d in users.values()
        ]
        if not made:
            continue
        one, slow = max(made, key=lambda pair: pair[0].value)
        times = Term("files", file.count, "", "plan")
        time = one.scaled(file.count, "s", (one.as_term("one file"), times)) if file.count > 1 else one
        phases.append(Phase(name, time, f"disk {slow.name}", "smaller or fewer files; a faster disk"))
    return phased(phases)
