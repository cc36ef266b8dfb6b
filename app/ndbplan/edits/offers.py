"""Parts of usual kinds, ready to be added: hosts and disks of hardware classes, processes, tables, loads.

Palette, inspector and command line make new parts here, so that each begins the same way everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from itertools import count
from typing import Any

from ndbplan.base.units import format_bytes, format_bytes_binary
from ndbplan.configuration.arrays import known_hardware
from ndbplan.edits import validated
from ndbplan.edits.growth import free_node_id
from ndbplan.edits.ids import NewIds
from ndbplan.edits.names import free_name, next_hostname, next_location_name
from ndbplan.edits.own_hardware import OWN, own
from ndbplan.edits.validated import EditError
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, Process, SqlNode
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload

_ASSUMED_OF_DISK = (
    "sequential_read_bytes_per_s",
    "sequential_write_bytes_per_s",
    "random_read_iops",
    "random_write_iops",
    "sync_write_latency_s",
)
DEFAULT_HOST = "host-small"
"""Class of a host that is made where none is named."""
DEFAULT_DISK = "nvme"


@cache
def hardware() -> dict[str, list[dict[str, Any]]]:
    """Classes of locations, hosts, disks and arrays of disks, by what they are of; each has a key."""
    return {name: rows for name, rows in known_hardware().items() if isinstance(rows, list)}


def class_text(row: Mapping[str, Any]) -> str:
    """What a class of `hardware` is called: `NVMe 3.2 TB`, in the units of bytes in use."""
    if "capacity_bytes" in row:
        return str(row["text"]).format(size=format_bytes(row["capacity_bytes"]))
    return str(row["text"]).format(size=format_bytes_binary(row.get("memory_bytes", 0)))


@cache
def most_memory_bytes() -> int:
    """The most memory of a host that is recommended before more hosts are."""
    return int(known_hardware()["most_memory_bytes"])


def make_location(plan: Plan, position: Point | None = None, parent_id: str | None = None) -> Location:
    """A rack with the next free letter, in the location `parent_id`."""
    names = {place.name for place in plan.locations}
    name = next_location_name("Rack A", names)
    return Location(id=NewIds(plan).of(Location), name=name, position=position, parent_id=parent_id)


def make_host(plan: Plan, key: str, location_id: str | None = None, position: Point | None = None) -> Host:
    """A host of a usual class with its disk, or one of the user's own, under the next free name.

    Raises EditError for one that is kept no more.
    """
    if key.startswith(OWN):
        return _own_host(plan, own(key).part, location_id, position)
    model = next(e for e in hardware()["hosts"] if e["key"] == key)
    taken = {host.hostname for host in plan.hosts}
    hostname = model["hostname"] if model["hostname"] not in taken else next_hostname("host-1", taken)
    host = Host(
        id=NewIds(plan).of(Host),
        hostname=hostname,
        location_id=location_id,
        position=position,
        assumed=("clock_ghz", "network_bytes_per_s"),
        **{n: model[n] for n in ("cores", "sockets", "clock_ghz", "memory_bytes", "network_bytes_per_s")},
    )
    for disk_key in model["disks"]:
        host = host.model_copy(update={"disks": (*host.disks, make_disk(plan, host, disk_key))})
    return host


def _own_host(plan: Plan, model: Any, location_id: str | None, position: Point | None) -> Host:
    """A host like one that was kept, with its disks."""
    taken = {host.hostname for host in plan.hosts}
    ids = NewIds(plan)
    fields = {
        "id": ids.of(Host),
        "hostname": next_hostname("host-1", taken) if "host-1" in taken else "host-1",
        "location_id": location_id,
        "position": position,
        "slot": None,
        "disks": tuple(disk.model_copy(update={"id": ids.of(Disk)}) for disk in model.disks),
    }
    host: Host = model.model_copy(update=fields)
    return host


def make_disk(plan: Plan, host: Host, key: str) -> Disk:
    """A disk of a usual class, or one of the user's own, with a name and mount point free on the host.

    Raises EditError for one that is kept no more.
    """
    if key.startswith(OWN):
        model = own(key).part.model_dump()
    else:
        model = next(e for e in hardware()["disks"] if e["key"] == key)
    names = {disk.name for disk in host.disks}
    stem = model["name"].rstrip("0123456789")
    name = next(f"{stem}{i}" for i in range(len(names) + 1) if f"{stem}{i}" not in names)
    mounts = {disk.mount_point for disk in host.disks}
    mount = next(
        m for i in range(len(mounts) + 1) for m in ["/data" if i == 0 else f"/data{i}"] if m not in mounts
    )
    left_out = ("key", "text", "name", "mount_point", "id")
    values = {"assumed": _ASSUMED_OF_DISK, **{n: v for n, v in model.items() if n not in left_out}}
    disk_id = NewIds(plan, [disk.id for disk in host.disks]).of(Disk)
    return Disk(id=disk_id, name=name, mount_point=mount, **values)


def make_process(plan: Plan, kind: str, host_id: str | None) -> Process:
    """A process under the next free node id. Raises EditError when all are taken."""
    node_id = free_node_id(plan, kind)
    object_id = NewIds(plan).of_node(kind, node_id)
    if kind == "api":
        return ApiSlot(id=object_id, node_id=node_id, host_id=host_id)
    if host_id is None:
        raise EditError("a node needs a host", fix="drop it on a host, or select one first")
    if kind == "management":
        return ManagementNode(id=object_id, node_id=node_id, host_id=host_id)
    if kind == "sql":
        return SqlNode(id=object_id, node_id=node_id, host_id=host_id)
    return DataNode(id=object_id, node_id=node_id, host_id=host_id)


def make_table(plan: Plan, database: str | None = None, name: str | None = None) -> Table:
    """A table with one column, in the database of the last one, under the next free name."""
    names = {table.full_name for table in plan.tables}
    database = database or (plan.tables[-1].database if plan.tables else "test")
    name = name or next(f"t{n}" for n in range(1, 20_000) if f"{database}.t{n}" not in names)
    fields = {
        "id": NewIds(plan).of(Table),
        "database": database,
        "name": name,
        "columns": (Column(name="id", type="bigint", unsigned=True, nullable=False),),
        "primary_key": ("id",),
        "rows": 1_000_000,
        "assumed": ("rows",),
    }
    return validated.made(Table, fields)


def make_column(columns: Collection[Column]) -> Column:
    """A number beside these columns."""
    return Column(name=free_name("column", {column.name for column in columns}, "_"), type="int")


def make_index(table: Table) -> Index:
    """An ordered index on the first column without one."""
    key = {*table.primary_key, *(name for index in table.indexes for name in index.columns)}
    column = next((c.name for c in table.columns if c.name not in key), table.columns[-1].name)
    name = free_name(f"idx_{column}", {index.name for index in table.indexes}, "_")
    return Index(name=name, columns=(column,))


def make_workload(plan: Plan, name: str | None = None) -> Workload:
    """1000 transactions per second that update a row of the first table. Raises EditError without one."""
    names = {workload.name for workload in plan.workloads}
    name = name or next(f"Load {n}" for n in range(1, 20_000) if f"Load {n}" not in names)
    transaction = Transaction(name="update", operations=(make_operation(plan),))
    fields = {
        "id": NewIds(plan).of(Workload),
        "name": name,
        "transactions": (transaction,),
        "load": OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1000),), assumed=("points",)),
    }
    return validated.made(Workload, fields)


_MIX = ((OperationKind.READ, 6.0), (OperationKind.UPDATE, 3.0), (OperationKind.INSERT, 1.0))
"""What clients do with a row in a load that is made from the tables, and how often."""
_TABLES_OF_A_LOAD = 8


def workload_of_tables(plan: Plan, name: str | None = None) -> Workload:
    """1000 transactions per second that read, change and add rows of the largest tables, all of it assumed.

    Raises EditError without a table.
    """
    workload = make_workload(plan, name)
    largest = sorted(plan.tables, key=lambda table: -table.rows)[:_TABLES_OF_A_LOAD]
    transactions: dict[str, Transaction] = {}
    for table in largest:
        for kind, weight in _MIX:
            if kind is OperationKind.UPDATE and len(table.columns) == len(table.primary_key):
                continue
            # Tables of two databases may be called the same, and a name may be as long as it can be.
            called = free_name(f"{kind.value} {table.name}", transactions, " ")
            transactions[called] = Transaction(
                name=called,
                weight=weight,
                operations=(Operation(table_id=table.id, kind=kind),),
                assumed=("weight",),
            )
    return validated.changed(workload, transactions=tuple(transactions.values()))


def make_transaction(plan: Plan, workload: Workload) -> Transaction:
    """Another kind of transaction of a workload. Raises EditError without a table."""
    names = {transaction.name for transaction in workload.transactions}
    numbered = (f"transaction {n}" for n in count(len(names) + 1))
    name = next(name for name in numbered if name not in names)
    return Transaction(name=name, operations=(make_operation(plan),))


def make_operation(plan: Plan, operations: tuple[Operation, ...] = ()) -> Operation:
    """An update of one row: of the table of the last of `operations`, else of the plan's first."""
    if not plan.tables:
        raise EditError("an operation needs a table", fix="add a table to the plan first")
    table_id = operations[-1].table_id if operations else plan.tables[0].id
    return Operation(table_id=table_id, kind=OperationKind.UPDATE)


def make_point(points: tuple[RatePoint, ...]) -> RatePoint:
    """The rate a minute after the last point, the same as there."""
    last = points[-1]
    return RatePoint(at_s=last.at_s + 60, rate_per_s=last.rate_per_s)
