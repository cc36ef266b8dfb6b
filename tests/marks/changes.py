"""Changes of single values of a plan, for every parameter, clause of DDL and field of hardware."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from ndbplan.base.errors import UserError
from ndbplan.configuration.stated import SCOPES
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.parameters import set_parameter
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.parameters import Parameter
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Index, LogfileGroup, Table, Tablespace

Value = int | str

_PATHS = ("/elsewhere", "/nvme0/x", "/d2/x")
_OF_EACH_NODE = ("HeartbeatOrder",)
_TEXTS: dict[str, tuple[Value, ...]] = {
    "ThreadConfig": ("ldm={count=2},tc={count=1},recv={count=1}", "ldm={count=4},tc={count=2}"),
    "LockExecuteThreadToCPU": ("0,1,2,3",), "DataDir": _PATHS, "FileSystemPath": _PATHS,
    "BackupDataDir": _PATHS, "FileSystemPathDD": _PATHS, "Arbitration": ("Disabled",),
    "FileSystemPathDataFiles": _PATHS, "FileSystemPathUndoFiles": _PATHS,
    "InitialTablespace": ("name=x;extent_size=8M;a.dat:512M",), "ConnectionMap": ("1",),
    "InitialLogfileGroup": ("name=x;undo_buffer_size=64M;u.log:512M",), "HostName": ("h",),
    "DefaultOperationRedoProblemAction": ("ABORT", "QUEUE"), "InitFragmentLogFiles": ("FULL", "SPARSE"),
}  # fmt: skip


def parameter_values(parameter: Parameter) -> tuple[Value, ...]:
    """Other values than its default that the version takes."""
    if parameter.name in _TEXTS:
        return _TEXTS[parameter.name]
    if parameter.type == "bool":
        return (0 if parameter.default else 1,)
    if parameter.allowed_values:
        return tuple(one for one in parameter.allowed_values if one != parameter.default)
    if not parameter.is_number:
        return ("other",)
    low, high = parameter.minimum or 0, parameter.maximum or 2**31
    default = parameter.default if isinstance(parameter.default, int) else low
    wanted = (
        4 * default,
        default // 4,
        default + 1,
        1,
        2,
        8,
        low,
        50 * 2**20,
        min(high, 1000 * max(1, default)),
        0,
    )
    return tuple(dict.fromkeys(one for one in wanted if low <= one <= high and one != default))


def parameter_keys() -> Iterator[tuple[str, str]]:
    """(scope, name) of every parameter that any version of the catalogue lets users set."""
    seen = set()
    for text in ("6.3", "7.0", "7.4", "7.6", "8.0", "8.4"):
        version = edits.NdbVersion.parse(text)
        for scope, section in SCOPES.items():
            for one in catalogue.parameters(section, version):
                if one.status != "internal" and (scope, one.name) not in seen:
                    seen.add((scope, one.name))
                    yield scope, one.name


def with_value(plan: Plan, scope: str, name: str, value: Value) -> Plan | None:
    """The plan with the parameter set for all nodes of the kind, to values of their own where the product
    wants that; None: its version has none such.
    """
    if not catalogue.knows(SCOPES[scope], name, plan.version):
        return None
    if name in _OF_EACH_NODE:
        for place, node in enumerate(plan.data_nodes):
            plan = set_parameter(plan, node.id, name, int(value) + place)
        return plan
    return set_parameter(plan, scope, name, value)


def _times(factor: float) -> Callable[[Any], Any]:
    return lambda now: None if now is None else type(now)(now * factor)


def _or(value: Any) -> Callable[[Any], Any]:
    """This value, where it is another than what is there."""
    return lambda now: value if now != value else None


_MANY_MEMBERS = tuple(str(number) for number in range(300))
_CLEARED: Final = object()
"""In place of None, which says that nothing changes."""


def _cleared(now: Any) -> Any:
    return None if now is None else _CLEARED


def _first(now: tuple[Any, ...]) -> Any:
    return now[:1] if len(now) > 1 else None


def _larger_files(now: tuple[Any, ...]) -> Any:
    return tuple(file.model_copy(update={"size_bytes": 2 * file.size_bytes}) for file in now)


def _more_files(now: tuple[Any, ...]) -> Any:
    return tuple(file.model_copy(update={"count": 3 * file.count}) for file in now)


FIELDS: dict[type, dict[str, tuple[Callable[[Any], Any], ...]]] = {
    Location: {
        "location_domain_id": (_or(3),), "uplink_bytes_per_s": (_or(1e6), _or(2e5)),
        "purchase_price": (_or(100.0),), "monthly_price": (_or(10.0),), "watts": (_or(100.0),),
    },
    Host: {
        "cores": (_times(2), _or(2), _or(64)), "sockets": (_times(2), _or(4)), "clock_ghz": (_times(1.5),),
        "core_gain_per_clock": (_or(0.5),), "memory_bytes": (_times(2), _times(0.1)),
        "network_bytes_per_s": (_times(0.01), _times(2)), "location_id": (_cleared,),
        "purchase_price": (_or(100.0),), "monthly_price": (_or(10.0),), "watts": (_or(100.0),),
    },
    Disk: {
        "kind": (_or("hdd"), _or("nvme")), "capacity_bytes": (_times(2), _times(0.01)),
        "sequential_read_bytes_per_s": (_times(0.01), _times(4)),
        "sequential_write_bytes_per_s": (_times(0.01), _times(4)),
        "random_read_iops": (_times(0.01), _times(4)), "random_write_iops": (_times(0.01), _times(4)),
        "sync_write_latency_s": (_or(0.05),), "mount_point": (_or("/elsewhere"),), "other_load": (_or(0.5),),
        "purchase_price": (_or(100.0),), "monthly_price": (_or(10.0),), "watts": (_or(100.0),),
    },
    Table: {
        "primary_key_using_hash": (lambda now: not now,), "key_arrival": (_or("random"), _or("in_order")),
        "distribution_key_values": (_or(3),), "distribution_key_first": (_or(0), _or(7)),
        "rows": (_times(2), _or(1000)), "growth_rows_per_month": (_or(10**6),),
        "partition_balance": (_or("FOR_RA_BY_NODE"), _or("FOR_RA_BY_LDM_X_2")),
        "partitions": (_or(6), _or(64)),
        "max_rows": (_or(10**10),), "grown_from": (_or((1,)), _or((2,))), "hash_map_buckets": (_or(240),),
        "fully_replicated": (lambda now: not now,), "read_backup": (_or(value=True), _or(value=False)),
        "logging": (lambda now: not now,), "row_format_fixed": (lambda now: not now,),
        "distribution_key": (lambda now: () if now else None,), "tablespace_id": (_cleared,),
        "primary_key": (_first,), "distribution_key_table_id": (_cleared,),
        "left_out": (_or(("CHECK (a)",)),),
    },
    DataNode: {"container_memory_bytes": (_or(2**33), _or(2**31)), "licence_per_month": (_or(10.0),)},
    Column: {
        "unsigned": (lambda now: not now,), "length": (_times(2), _or(7)), "scale": (_or(0), _or(9), _or(20)),
        "blob_inline_bytes": (_or(64),), "blob_part_bytes": (_or(4000),), "collation": (_or("latin1_bin"),),
        "nullable": (lambda now: not now,), "storage": (_or("disk"), _or("memory")),
        "column_format": (_or("fixed"), _or("dynamic")), "average_bytes": (_times(0.5), _or(9.0)),
        "auto_increment": (lambda now: not now,), "default": (_or("1"),), "on_update": (_or("now()"),),
        "null_fraction": (_or(0.5),), "members": (_or(_MANY_MEMBERS),), "type": (_or("int"), _or("char")),
    },
    Index: {
        "columns": (_first,),
        "kind": (_or("ordered"), _or("unique_hash")), "key_arrival": (_or("random"), _or("in_order")),
    },
    LogfileGroup: {"undo_buffer_bytes": (_times(8), _or(98_304)), "undo_files": (_larger_files, _more_files)},
    Tablespace: {
        "extent_size_bytes": (_times(8),), "directory": tuple(map(_or, _PATHS)),
        "data_files": (_larger_files, _more_files),
    },
}  # fmt: skip
"""What is tried of each field: ways from what it holds to another value; None: this way changes nothing."""


def with_field(plan: Plan, kind: type, name: str, change: Callable[[Any], Any]) -> Plan | None:
    """The plan with the field changed wherever it can be; None: nowhere."""
    before = plan
    for host in plan.hosts if kind is Disk else ():
        disks = tuple(_changed(disk, name, change) for disk in host.disks)
        plan = edits.update(plan, host.id, disks=disks)
    for table in plan.tables if kind in (Column, Index) else ():
        inside = "columns" if kind is Column else "indexes"
        for place in range(len(getattr(table, inside))):
            plan = _inside(plan, table.id, inside, place, name, change)
    for part in plan.objects() if kind not in (Disk, Column, Index) else ():
        if isinstance(part, kind):
            new = _changed(part, name, change)
            try:
                plan = plan if new is part else edits.update(plan, part.id, **{name: getattr(new, name)})
            except UserError:
                continue
    return None if plan is before else plan


def _inside(
    plan: Plan, table_id: str, inside: str, place: int, name: str, change: Callable[[Any], Any]
) -> Plan:
    parts = list(getattr(plan.by_id[table_id], inside))
    new = _changed(parts[place], name, change)
    if new is parts[place]:
        return plan
    parts[place] = new
    try:
        return edits.update(plan, table_id, **{inside: tuple(parts)})
    except UserError:
        return plan


def _changed(part: Any, name: str, change: Callable[[Any], Any]) -> Any:
    value = change(getattr(part, name))
    if value is None:
        return part
    try:
        return validated.changed(part, **{name: None if value is _CLEARED else value})
    except UserError:
        return part
