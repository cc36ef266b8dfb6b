"""What fields of a plan and their values are called: by one writer for inspector, previews and changes.

TITLES["capacity_bytes"]                    # "Capacity"
title_of("columns[email].length")           # "length of column email"
value_words("capacity_bytes", 6.4e12)       # "6.4 TB"
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

from ndbplan.base.units import (
    THIN_SPACE,
    format_bytes,
    format_bytes_binary,
    format_bytes_per_s,
    format_duration,
    format_ndb_size,
    whole_number,
)
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import DiskKind, RaidLevel, ServiceManager

TITLES = {
    "average_bytes": "Average bytes", "backups_kept": "Backups kept", "capacity_bytes": "Capacity",
    "clock_ghz": "Clock (GHz)", "container_memory_bytes": "Memory of its container",
    "core_gain_per_clock": "Work per clock", "cores": "Cores", "database": "Database", "devices": "Devices",
    "directory": "Directory", "distribution_key": "Distribution key",
    "distribution_key_first": "First key value",
    "distribution_key_table_id": "Key values are the rows of", "distribution_key_values": "Key values",
    "duration_s": "Duration", "extent_size_bytes": "Extent size", "fully_replicated": "Fully replicated",
    "growth_rows_per_month": "Growth per month", "hash_map_buckets": "Hash map buckets", "host_id": "Host",
    "hostname": "Host name", "kind": "Kind", "latency_s": "Latency when idle",
    "location_domain_id": "LocationDomainId", "location_id": "Location", "logfile_group_id": "Log file group",
    "logging": "Logged", "max_rows": "MAX_ROWS", "memory_bytes": "Memory", "mount_point": "Mount point",
    "name": "Name", "ndb_version": "NDB version", "network_bytes_per_s": "Network",
    "node_group": "Node group", "node_id": "Node id", "null_fraction": "Share of NULL",
    "other_load": "Other load", "parent_id": "Inside", "partition_balance": "Partition balance",
    "partitions": "Partitions", "primary_key": "Primary key", "primary_key_using_hash": "Hash key only",
    "raid": "Array", "random_read_iops": "Random reads/s", "random_write_iops": "Random writes/s",
    "rate_per_s": "Transactions per s", "read_backup": "READ_BACKUP", "repeat_s": "Repeat after",
    "retries": "Retries", "retry_after_s": "Retry after", "row_format_fixed": "ROW_FORMAT=FIXED",
    "rows": "Rows", "rows_per_s_per_thread": "Rows/s per thread",
    "sequential_read_bytes_per_s": "Sequential read", "sequential_write_bytes_per_s": "Sequential write",
    "service_manager": "Services", "shape": "Between points", "size_bytes": "Size", "sockets": "Sockets",
    "source_bytes_per_s": "Source is read at", "sync_write_latency_s": "Sync write latency",
    "tablespace_id": "Tablespace", "think_time_s": "Think time", "threads": "Threads",
    "through": "Come through", "tool": "Loaded by", "total_bytes": "Bytes to load",
    "undo_buffer_bytes": "Undo buffer", "uplink_bytes_per_s": "Uplink", "weight": "Weight",
}  # fmt: skip
"""Titles of fields, as the inspector shows them."""

DISK_KINDS = {
    DiskKind.NVME: "NVMe",
    DiskKind.SATA_SSD: "SATA SSD",
    DiskKind.HDD: "Hard disk",
    DiskKind.CLOUD: "Cloud volume",
}
RAID_LEVELS = {level: f"RAID {level.value}" for level in RaidLevel}
SERVICE_MANAGERS = {ServiceManager.SYSTEMD: "systemd", ServiceManager.INIT_SCRIPTS: "init scripts"}
_VALUES: dict[object, str] = dict((*DISK_KINDS.items(), *RAID_LEVELS.items(), *SERVICE_MANAGERS.items()))
_NOTHING = {"raid": "one device", "uplink_bytes_per_s": "no limit"}
"""What a field says that has no value, where that is more than nothing."""
_OF_MEMORY = (
    "memory_bytes", "container_memory_bytes", "extent_size_bytes", "size_bytes", "undo_buffer_bytes",
)  # fmt: skip
"""Bytes that are counted as memory is."""
_SHARES = ("other_load", "null_fraction")
_GROUPED_FROM = 10_000

_STEP = re.compile(r"(\w+)(?:\[([^\[\]]*)\])?")
_ONE = {"indexes": "index"}


def title_of(address: str) -> str:
    """What a field is called inside of a sentence; of members by which one: `length of column email`."""
    for before in ("order of ", "assumed."):
        if address.startswith(before):
            return before.replace(".", " ") + title_of(address.removeprefix(before))
    steps: list[tuple[str, str]] = _STEP.findall(address)
    if not steps or ".".join(f"{name}[{which}]" if which else name for name, which in steps) != address:
        return address
    *around, last = steps
    said = [_member(*last) if last[1] else _in_a_sentence(TITLES.get(last[0], _bare(last[0])))]
    return " of ".join([*said, *(_member(*one) for one in reversed(around) if one[1])])


def _member(kind: str, which: str) -> str:
    one = _ONE.get(kind, kind.removesuffix("s")).replace("_", " ")
    # People count from one.
    number = whole_number(which)
    return f"{one} {which if number is None else number + 1}"


def _bare(name: str) -> str:
    """Without the unit, which the values have."""
    return re.sub(r"(_bytes)?(_per_s)?(_s)?(_id)?$", "", name).replace("_", " ") or name


def _in_a_sentence(title: str) -> str:
    is_name = any(letter.isupper() for letter in title.split()[0][1:])
    return title if is_name else title[:1].lower() + title[1:]


def value_words(name: str, value: Any) -> str | None:
    """A value of a field as people read it; None: this knows nothing better than its text."""
    if value is None:
        return _NOTHING.get(name, "none")
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Enum):
        return _VALUES.get(value)
    if not isinstance(value, int | float):
        return None
    if name.endswith("_bytes_per_s"):
        return format_bytes_per_s(value)
    if name.endswith("_bytes"):
        return format_bytes_binary(value) if name in _OF_MEMORY else format_bytes(value)
    if name.endswith("_s") and not name.endswith("_per_s"):
        return format_duration(value)
    return f"{grouped(value * 100)} %" if name in _SHARES else grouped(value)


_COUNTED = ("count", "rows")
"""Units of parameters that are read as quantities; ports, ids and masks are names."""


def parameter_words(name: str, value: int) -> str:
    """The number of a configuration parameter as people read it: `64M`."""
    sections = ("DB", "MGM", "API", "TCP", "SHM", "SYSTEM")
    section = next((s for s in sections if catalogue.exists(s, name)), None)
    unit = catalogue.parameter(section, name).unit if section else ""
    if unit.startswith("bytes"):
        return format_ndb_size(value)
    return grouped(value) if unit in _COUNTED else str(value)


def grouped(value: float) -> str:
    """A number as exact as it is, its thousands apart where they are many; `4321` is read as it is typed."""
    return f"{value:.15g}" if abs(value) < _GROUPED_FROM else f"{value:,.15g}".replace(",", THIN_SPACE)
