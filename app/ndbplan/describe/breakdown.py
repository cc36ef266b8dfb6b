"""From an estimate to what fills an object: names, numbers, shares of its capacity."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from ndbplan.base.quantity import Quantity, Term, total
from ndbplan.base.units import format_memory, format_percent, format_value
from ndbplan.configuration.redo_problems import seen_as
from ndbplan.configuration.refused_tables import in_keys
from ndbplan.describe.titles import SPACE_OF_ROLE
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Workload

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.estimate.load.disks import DiskDemand

_WRITES = {
    DiskRole.REDO: "Redo log writes",
    DiskRole.LCP: "Local checkpoint",
    DiskRole.UNDO: "Undo log",
    DiskRole.DATA_FILES: "Data files",
    DiskRole.BACKUP: "Backup",
}
_MOST_PARTS = 6


@dataclass(frozen=True)
class Row:
    """One part of what fills the object."""

    name: str
    quantity: Quantity
    fraction: float | None = None
    """Share of the capacity; None: no bar."""
    colour: str = "accent"
    """Token of the bar's colour."""
    detail: str = ""


@dataclass(frozen=True)
class Notice:
    """A framed message under the bars."""

    heading: str
    text: str
    look: str = "error"


@dataclass(frozen=True)
class Breakdown:
    """Why something is as full as it is."""

    heading: str
    about: str
    """Title of the derivation of the total."""
    total: Quantity | None
    rows: tuple[Row, ...]
    callouts: tuple[Notice, ...] = ()
    is_binary: bool = False
    """Whether its bytes are counted as memory and the sizes of files that people state are, unlike disks."""


def breakdowns(now: Estimation, object_id: str) -> list[Breakdown]:
    """What there is to say about an object of the plan; nothing for objects that nothing fills."""
    part = now.plan.by_id.get(object_id)
    if isinstance(part, Disk):
        return [*_disk(now, part), *_disk_space(now, part)]
    if isinstance(part, Host):
        return _host(now, part)
    if isinstance(part, DataNode):
        return _data_node(now, part)
    if isinstance(part, Table):
        return _table(now, part)
    if isinstance(part, Tablespace):
        return _tablespace(now, part)
    if isinstance(part, LogfileGroup):
        return _undo_log(now)
    if isinstance(part, Workload) and now.workload is not None and now.workload.id == part.id:
        return _workload(now, part)
    return []


def _level(fraction: float) -> str:
    return "error" if fraction >= 0.95 else "warning" if fraction >= 0.75 else "accent"


def _disk(now: Estimation, disk: Disk) -> list[Breakdown]:
    demand = now.disks.of(disk.id)
    if demand is None:
        return []
    speed = disk.sequential_write_bytes_per_s
    rows = []
    for role, _ in demand.by_purpose:
        streams = [s for s in demand.streams if s.purpose == role]
        asked = total(((s.name, s.write_bytes_per_s) for s in streams), "bytes/s")
        rows.append(Row(_WRITES[role], asked, asked.value / speed))
    for name, what, most in (
        ("Random reads", "random_reads_per_s", disk.random_read_iops),
        ("Random writes", "random_writes_per_s", disk.random_write_iops),
    ):
        named = [(s.name, getattr(s, what)) for s in demand.streams if getattr(s, what).value]
        if named:
            asked = total(named, "per s")
            rows.append(Row(name, asked, asked.value / most))
    if disk.other_load:
        other = Quantity.exact(disk.other_load, "fraction")
        rows.append(Row("Other programs", other, disk.other_load, "faint"))
    rows.append(Row("Capacity", Quantity.exact(speed, "bytes/s", _stated(disk)), None))
    used = demand.utilisation
    heading = f"Why is it at {format_percent(used.value)}?" if demand.streams else "Nothing is written here"
    title = f"Utilisation of {demand.host} / {demand.disk}"
    return [Breakdown(heading, title, used, tuple(rows), _warn(now.plan, demand, disk))]


def _disk_space(now: Estimation, disk: Disk) -> list[Breakdown]:
    """What lies on a disk, by what it is."""
    space = now.disk_space.of(disk.id)
    if space is None:
        return []
    whole = disk.capacity_bytes
    rows = [
        Row(SPACE_OF_ROLE[role], size, size.value / whole, _level(space.fill.value))
        for role, size in space.by_role
    ]
    rows.append(Row("With DataMemory full", space.memory_full_bytes, None))
    assumed = "assumption" if "capacity_bytes" in disk.assumed else "plan"
    stated = (Term("Capacity", whole, "bytes", assumed),)
    rows.append(Row("Capacity", Quantity.exact(whole, "bytes", stated), None))
    notices: tuple[Notice, ...] = ()
    if space.free_bytes < 0:
        missing = format_value(-space.free_bytes, "bytes")
        notices = (Notice("The disk is too small", f"{missing} more is needed for the files."),)
    elif space.memory_full_bytes.value > whole:
        text = "A full DataMemory cannot be checkpointed to it."
        notices = (Notice("Too small for full data nodes", text, "warning"),)
    heading = f"Why is it {format_percent(space.fill.value)} full?"
    return [
        Breakdown(heading, f"Files on {space.host} / {space.disk}", space.used_bytes, tuple(rows), notices)
    ]


def _stated(disk: Disk) -> tuple[Term, ...]:
    assumed = "sequential_write_bytes_per_s" in disk.assumed
    source = "assumption" if assumed else "plan"
    return (Term("Sequential write", disk.sequential_write_bytes_per_s, "bytes/s", source),)


def _warn(plan: Plan, demand: DiskDemand, disk: Disk) -> tuple[Notice, ...]:
    used = demand.utilisation
    if used.value < 0.95:
        return ()
    writes_redo = any(role is DiskRole.REDO for role, _ in demand.by_purpose)
    if used.value <= 1:
        return (Notice("Little is left", "A peak of the load fills the redo buffers.", "warning"),)
    asked = format_value(demand.write_bytes_per_s.value, "bytes/s")
    can = format_value(disk.sequential_write_bytes_per_s, "bytes/s")
    text = f"Asked for {asked}, it writes {can}."
    if writes_redo:
        error = seen_as(plan, 1221)
        text += f" Redo buffers fill and error {error} follows; a larger RedoBuffer only delays it."
    return (Notice("The disk cannot keep up", text),)


def _host(now: Estimation, host: Host) -> list[Breakdown]:
    rows = []
    cpu = next((h for h in now.cpu.hosts if h.host_id == host.id), None)
    if cpu is not None:
        rows.append(Row("CPU", cpu.utilisation, cpu.utilisation.value, _level(cpu.utilisation.value)))
    node_ids = {p.node_id for p in now.plan.processes_of_host[host.id] if isinstance(p, DataNode)}
    memory = [(f"data node {n.node_id}", n.ram_bytes) for n in now.memory.nodes if n.node_id in node_ids]
    if memory:
        taken = total(memory, "bytes")
        share = taken.value / host.memory_bytes
        rows.append(Row("Memory", taken, share, _level(share), format_percent(share)))
    link = next((h for h in now.network.hosts if h.host_id == host.id), None)
    if link is not None:
        rows.append(Row("Network", link.utilisation, link.utilisation.value, _level(link.utilisation.value)))
    for disk in host.disks:
        demand = now.disks.of(disk.id)
        if demand is not None and demand.streams:
            share = demand.utilisation.value
            rows.append(Row(f"Disk {disk.name}", demand.utilisation, share, _level(share)))
    return [Breakdown("How loaded is it?", "", None, tuple(rows), is_binary=True)] if rows else []


def _data_node(now: Estimation, node: DataNode) -> list[Breakdown]:
    tables = []
    memory = next((n for n in now.memory.nodes if n.node_id == node.node_id), None)
    if memory is not None:
        limit = max(1, memory.data_memory_limit_bytes)
        rows = (
            *_parts_of(memory.data_memory_bytes, limit),
            Row("DataMemory", Quantity.exact(memory.data_memory_limit_bytes, "bytes"), None),
        )
        about = f"DataMemory used on node {node.node_id}"
        notices: tuple[Notice, ...] = ()
        if memory.fill > 1:
            missing = format_memory(-memory.headroom_bytes, "bytes")
            notices = (Notice("DataMemory is too small", f"{missing} more is needed for the tables."),)
        heading = f"Why is DataMemory at {format_percent(memory.fill)}?"
        tables.append(Breakdown(heading, about, memory.data_memory_bytes, rows, notices, is_binary=True))
        host = max(1, memory.host_memory_bytes)
        share = memory.ram_bytes.value / host
        rows = (
            *_parts_of(memory.ram_bytes, host),
            Row("Memory of the host", Quantity.exact(memory.host_memory_bytes, "bytes"), None),
        )
        heading = f"Why does it take {format_percent(share)} of RAM?"
        tables.append(
            Breakdown(heading, f"RAM of node {node.node_id}", memory.ram_bytes, rows, is_binary=True)
        )
    cpu = next((n for n in now.cpu.nodes if n.node_id == node.node_id), None)
    if cpu is not None:
        rows = tuple(
            Row(name, share, share.value if share.unit == "fraction" else None, _level(share.value))
            for name, share in (
                ("LDM threads, busiest", cpu.ldm_utilisation),
                ("Receive threads", cpu.receive_utilisation),
                ("Other threads", cpu.other_utilisation),
                ("Threads with nothing to do", cpu.idle_cores),
            )
        )
        tables.append(
            Breakdown("How busy are its threads?", f"Cores of node {node.node_id}", cpu.cores, rows)
        )
    return tables


def _parts_of(quantity: Quantity, whole: float) -> tuple[Row, ...]:
    """The parts a number is a sum of, the largest first."""
    terms = sorted((t for t in quantity.why if t.unit == "bytes" and t.value), key=lambda t: -t.value)
    shown = [
        Row(t.term, Quantity.exact(t.value, t.unit, t.why), t.value / whole) for t in terms[:_MOST_PARTS]
    ]
    rest = sum(t.value for t in terms[_MOST_PARTS:])
    if rest:
        others = tuple(terms[_MOST_PARTS:])
        shown.append(Row("others", Quantity.exact(rest, "bytes", others), rest / whole))
    return tuple(shown)


def _table(now: Estimation, table: Table) -> list[Breakdown]:
    memory = next((t for t in now.memory.tables if t.table == table.full_name), None)
    if memory is None:
        return []
    whole = max(1.0, memory.total_bytes.value)
    parts = (
        ("Fixed parts of rows", Quantity.exact(memory.fixed_bytes, "bytes")),
        ("Variable parts", memory.variable_bytes),
        ("Hash index", memory.hash_index_bytes),
        ("Ordered indexes", memory.ordered_index_bytes),
        ("Unique indexes", memory.unique_index_bytes),
        ("Blob parts", memory.blob_bytes),
    )
    rows = [Row(name, q, q.value / whole) for name, q in parts if q.value]
    rows.append(Row("One replica", memory.total_bytes, None))
    return [
        Breakdown(
            "What does it take in memory?",
            f"Memory of {table.full_name}",
            memory.total_bytes,
            tuple(rows),
            is_binary=True,
        )
    ]


def _tablespace(now: Estimation, space: Tablespace) -> list[Breakdown]:
    use = next((use for use in now.disk_data.tablespaces if use.tablespace == space.name), None)
    if use is None:
        inside = [table for table in now.plan.tables if table.tablespace_id == space.id]
        keyed = next(
            (one for table in inside for one in in_keys(table) if one.column.storage == "disk"), None
        )
        notice = (
            Notice("No table has columns on disk in it", "Choose it in a table's storage.", "warning")
            if keyed is None
            else Notice("Nothing can lie in it", f"{keyed.where} is in a key or index.", "warning")
        )
        return [Breakdown("How full is it?", "", None, (), (notice,))]
    fill = use.fill.value
    rows = (
        Row("Tables, on the fullest data node", use.used_bytes, fill, _level(fill)),
        Row("Data files of each data node", Quantity.exact(use.capacity_bytes, "bytes"), None),
    )
    heading = f"Why is it {format_percent(fill)} full?"
    return [Breakdown(heading, f"Extents of {space.name}", use.used_bytes, rows, is_binary=True)]


def _undo_log(now: Estimation) -> list[Breakdown]:
    """What the load leaves in the undo log, else the first one that does, and how much of it is enough."""
    others = (now.under(one) for one in now.plan.workloads if one is not now.workload)
    under = next((one for one in chain((now,), others) if one.undo_log), None)
    if under is None or under.workload is None:
        text = "A load that changes rows on disk does; inserts leave 12 bytes a row."
        return [Breakdown("How full is it?", "", None, (), (Notice("Nothing fills it", text, "warning"),))]
    most = max(under.undo_log, key=lambda use: use.needed_bytes.value)
    where = f"data node {most.node_id}" + ("" if under is now else f", by {under.workload.name}")
    rows = (
        Row("Written by the load", most.bytes_per_s, None, "accent", where),
        Row("Kept until checkpoints free it", most.needed_bytes, most.fill, _level(most.fill)),
        Row("Undo files of each data node", Quantity.exact(most.capacity_bytes, "bytes"), None),
    )
    notices: tuple[Notice, ...] = ()
    if most.fill > 1:
        text = f"{format_memory(most.needed_bytes.high, 'bytes')} of undo files would do at the most."
        notices = (Notice("The undo files are too small: error 1501", text),)
    heading = f"Why is it {format_percent(most.fill)} full?"
    return [Breakdown(heading, "Undo log that is kept", most.needed_bytes, rows, notices, is_binary=True)]


def _workload(now: Estimation, workload: Workload) -> list[Breakdown]:
    operations = [o for o in now.redo.operations if o.workload == workload.name]
    most = max((o.bytes_per_replica.value for o in operations), default=0.0)
    rows = [
        Row(
            f"{o.operation} {o.table}", o.bytes_per_replica, o.bytes_per_replica.value / most if most else 0.0
        )
        for o in operations
    ]
    if now.redo.time_to_full_s is not None:
        rows.append(Row("Log lasts without a checkpoint", now.redo.time_to_full_s, None))
    full = [n.overflow_after_s for n in now.checkpoint.nodes if n.overflow_after_s is not None]
    if full:
        rows.append(Row("Log is full (410) at this load after", min(full, key=lambda q: q.value), None))
    tables = [Breakdown("Redo log of one operation", "", None, tuple(rows))] if rows else []
    return [*tables, *_clients(now)]


def _clients(now: Estimation) -> list[Breakdown]:
    coming = now.cpu.clients
    if coming is None:
        return []
    hosts = {host.host_id: host.utilisation for host in now.cpu.hosts}
    rows = []
    for node in coming.nodes:
        busier = max(hosts[node.host_id], node.connection_utilisation, key=lambda q: q.value)
        rows.append(Row(node.title, busier, busier.value, _level(busier.value)))
    notices = () if coming.note is None else (Notice("Clients are not a limit", coming.note, "warning"),)
    return [Breakdown("How busy are SQL and API nodes?", "", None, tuple(rows), notices)]
