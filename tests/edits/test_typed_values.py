"""What people type for fields and parameters, how it is read and shown again, against a kept table.

After a change of what is read, `.venv/bin/python tests/edits/test_typed_values.py` writes the table anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ndbplan.base import units
from ndbplan.base.errors import UserError
from ndbplan.edits.reading import UNSET, read, read_parameter, shape_of, text_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, SqlNode
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OpenLoad, Operation, Workload

TABLE = Path(__file__).parent / "typed_values.txt"
TYPED = (
    "", "0", "1", "7", "-3", "0.5", "2.5", "1e3", "007", "0x10", "1_000", "1 000", "10k", "3K", "64M",
    "64 MB", "64 MiB", "1.5 GiB", "2G", "1 T", "100 MB/s", "1 Gbit/s", "20ms", "2s", "1.5 s", "0.0015 s",
    "10min", "1 h 30 min", "25 %", "120%", "yes", "Off", "true", "none", "default", "plenty", "'quoted'",
    "[1, 2]", "a,b", "1,2,3", "null", "9" * 25, "1,500", "1.500", "1.000",
)  # fmt: skip
PARAMETERS = (
    ("DB", "DataMemory"), ("DB", "NoOfReplicas"), ("DB", "HeartbeatIntervalDbDb"),
    ("DB", "LockPagesInMainMemory"), ("DB", "ODirect"), ("DB", "MaxNoOfConcurrentOperations"),
    ("DB", "ThreadConfig"), ("DB", "BackupMaxWriteSize"), ("DB", "MaxDiskWriteSpeed"), ("DB", "RecoveryWork"),
    ("DB", "TimeBetweenLocalCheckpoints"), ("DB", "FileSystemPath"), ("DB", "Arbitration"),
    ("DB", "SchedulerSpinTimer"), ("DB", "TimeBetweenWatchDogCheck"), ("API", "BatchSize"),
    ("API", "DefaultOperationRedoProblemAction"), ("MGM", "PortNumber"), ("TCP", "SendBufferMemory"),
)  # fmt: skip
FIELDS: tuple[tuple[type, str], ...] = (
    (Disk, "capacity_bytes"), (Disk, "sync_write_latency_s"), (Disk, "random_read_iops"), (Disk, "kind"),
    (Disk, "sequential_write_bytes_per_s"), (Host, "cores"), (Host, "memory_bytes"), (Host, "hostname"),
    (Table, "rows"), (Table, "read_backup"), (Table, "primary_key"), (Column, "average_bytes"),
    (Column, "nullable"), (Workload, "duration_s"), (OpenLoad, "points"), (Operation, "rows"),
    (DataNode, "node_group"), (SqlNode, "pool_node_ids"), (Plan, "backups_kept"), (Plan, "name"),
)  # fmt: skip
NUMBERS = (
    0.0, 1e-7, 4.9e-5, 9.994e-4, 9.996e-4, 0.0123, 0.4995, 0.5, 0.9994, 0.9996, 1.0, 1.5, 9.994, 9.996, 12.34,
    59.4, 59.6, 60.0, 89.0, 99.94, 99.96, 119.0, 121.0, 999.4, 999.6, 1000.0, 1023.4, 1024.0, 1500.0, 3599.0,
    3601.0, 7200.0, 9999.0, 10_000.0, 86_399.0, 90_000.0, 172_800.0, 999_499.0, 999_501.0, 2.0**20,
    1.5 * 2**20, 5e8, 2.0**30, 123e9, 2.0**40, 7.7e12, 1e15, -1.0, -2500.0,
)  # fmt: skip
SHOWN: tuple[Callable[[Any], str], ...] = (
    units.format_bytes, units.format_bytes_binary, units.format_bytes_per_s, units.format_duration,
    units.format_count, units.format_percent,
)  # fmt: skip


def _told(read_it: Callable[[], Any]) -> str:
    try:
        return f"{read_it()!r}"
    except UserError as error:
        return f"refused: {error.line}"


def _field(model: type, name: str, typed: str) -> str:
    shape = shape_of(model, name)
    value = read(shape, typed)
    return "unset" if value is UNSET else f"{value!r} shown as {text_of(shape, value)}"


def lines() -> Iterator[str]:
    """The table: parameters, fields, and numbers as they are shown."""
    for version in (NdbVersion.parse("7.4"), NdbVersion.parse("8.4")):
        for section, name in PARAMETERS:
            for typed in TYPED:
                found = _told(partial(read_parameter, section, name, typed, version))
                yield f"{version} {name} {typed!r}: {found}"
    for model, name in FIELDS:
        for typed in TYPED:
            yield f"{model.__name__}.{name} {typed!r}: {_told(partial(_field, model, name, typed))}"
    for number in NUMBERS:
        yield f"{number:.10g}: " + " | ".join(_told(partial(form, number)).strip("'") for form in SHOWN)
    for number in (0, 1, 1023, 1024, 1025, 2**20 - 1, 2**20, 3 * 2**20, 2**30, 5 * 2**30 + 2**20, 2**40):
        yield f"{number}: {units.format_ndb_size(number)}"


def test_what_is_typed_is_read_as_the_table_says() -> None:
    assert list(lines()) == TABLE.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    TABLE.write_text("\n".join(lines()) + "\n", encoding="utf-8")
