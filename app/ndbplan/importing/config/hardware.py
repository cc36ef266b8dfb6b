"""Hardware that a config.ini does not tell: hosts as large as what runs on them needs, all assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ndbplan.base.units import GIB
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters
from ndbplan.plan.processes import Process

_MEMORY_PARAMETERS = (
    "DataMemory", "IndexMemory", "DiskPageBufferMemory", "SharedGlobalMemory", "TransactionMemory",
)  # fmt: skip
_ASSUMED_HOST = ("cores", "memory_bytes", "network_bytes_per_s", "clock_ghz", "sockets")
_ASSUMED_DISK = (
    "kind",
    "capacity_bytes",
    "sequential_read_bytes_per_s",
    "sequential_write_bytes_per_s",
    "random_read_iops",
    "random_write_iops",
    "mount_point",
)


def host_for(
    fields: dict[str, Any],
    data_nodes: Iterable[Process],
    parameters: ClusterParameters,
    version: NdbVersion,
    new_disk_id: Callable[[], str],
) -> Host:
    """A host with assumed hardware that holds its data nodes; `fields`: what the file tells of it."""
    nodes, need = tuple(data_nodes), 0
    for node in nodes:
        for name in _MEMORY_PARAMETERS:
            value = node.parameters.get(name, parameters.data_node.get(name))
            if value is None and catalogue.knows("DB", name, version):
                value = catalogue.default("DB", name, version)
            need += value if isinstance(value, int) else 0
    memory = 8 * GIB
    while memory < need * 1.5 and memory < 2**59:
        memory *= 2
    disks: tuple[Disk, ...] = ()
    stated = [n.parameters.get("DataDir", parameters.data_node.get("DataDir")) for n in nodes]
    if nodes and all(isinstance(path, str) and path.startswith("/") for path in stated):
        disks = (_assumed_disk(new_disk_id()),)
    return Host(**{**fields, "memory_bytes": memory}, disks=disks, assumed=_ASSUMED_HOST)


def _assumed_disk(disk_id: str) -> Disk:
    return Disk(
        id=disk_id,
        name="disk",
        capacity_bytes=10**12,
        sequential_read_bytes_per_s=2e9,
        sequential_write_bytes_per_s=1e9,
        random_read_iops=200_000,
        random_write_iops=50_000,
        mount_point="/",
        assumed=_ASSUMED_DISK,
    )
