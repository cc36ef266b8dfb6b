"""Room for rows on a data node: how fast a transaction of the mix takes it, and how much there is.

Source: engine model 2.1, 2.6 and 5.1; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.settings import NodeSettings, usable_data_memory
from ndbplan.estimate.load.demand import TableLoad
from ndbplan.estimate.load.disk_data import Stored, disk_rows
from ndbplan.estimate.storage.memory import NodeMemory
from ndbplan.estimate.storage.shares import Shares
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Tablespace


@dataclass(frozen=True)
class TablespaceRoom:
    """The tablespace of a node that inserts fill first."""

    used_bytes: float = 0.0
    capacity_bytes: float = 0.0
    """0: the node has none."""
    bytes_per_s: float = 0.0
    """Pages that inserted rows take, those of deleted rows taken off."""


class MemoryLimits(NamedTuple):
    """Bytes of a data node's memory at which no row is taken any more."""

    data_bytes: float
    """DataMemory without what is kept free (error 827)."""
    index_bytes: float
    """IndexMemory up to 7.5 (error 625)."""

    def full_after_s(self, used: NodeMemory, data_per_s: float, index_per_s: float) -> float:
        """Seconds until one of them is full that grows by so many bytes a second; infinite: never."""
        data, index = used.data_memory_bytes.value, used.index_memory_bytes.value
        each = ((self.data_bytes - data, data_per_s), (self.index_bytes - index, index_per_s))
        return min((max(0.0, left) / growth for left, growth in each if growth > 0), default=math.inf)


def memory_limits(used: NodeMemory, settings: NodeSettings) -> MemoryLimits:
    """What a data node may use of its memory; of IndexMemory all where the version has none."""
    usable = usable_data_memory(settings)
    return MemoryLimits(
        used.data_memory_limit_bytes * usable, used.index_memory_limit_bytes * usable or math.inf
    )


def kept_rows_per_s(load: TableLoad) -> float:
    """Rows by which a table grows. Room of deleted rows is used by inserts into the same table only (manual,
    "Limits and Differences of NDB Cluster from Standard MySQL Limits": memory freed by deletes)."""
    return max(0.0, load.inserts_per_s - load.deletes_per_s)


def memory_growth(
    loads: Iterable[tuple[TableLoad, Shares, tuple[float, float]]],
) -> dict[int, tuple[float, float]]:
    """Bytes a second by which DataMemory and IndexMemory in use grow, by node id, of nodes whose rows grow.

    `loads`: with the shares of rows of each data node, and the bytes of one row in either memory.
    """
    growth: dict[int, tuple[float, float]] = {}
    for load, shares, (data, index) in loads:
        rows = kept_rows_per_s(load)
        for node_id, share in shares.items() if rows > 0 else ():
            before, kept = growth.get(node_id, (0.0, 0.0)), rows * share.replicas
            growth[node_id] = (before[0] + kept * data, before[1] + kept * index)
    return growth


@kept_by_identity(48)
def tablespace_rooms(
    spaces: tuple[Tablespace, ...], version: NdbVersion, stored: Stored, loads: tuple[TableLoad, ...]
) -> dict[int, TablespaceRoom]:
    """For each data node, by node id, the tablespace that is full first; `stored`: tables with rows on disk.

    Half an extent of each fragment is taken as not filled, as the estimate does.
    """
    loaded = {load.table.id: load for load in loads}
    capacity = {s.id: float(sum(f.size_bytes * f.count for f in s.data_files)) for s in spaces}
    extent = {s.id: s.extent_size_bytes for s in spaces}
    sums: dict[tuple[int, str], list[float]] = {}
    for table, shares in stored:
        rows, load = disk_rows(table, version), loaded.get(table.id)
        if table.tablespace_id not in capacity:
            continue
        each = sum(row.page_bytes for row in rows)
        for node_id, share in shares.items():
            held = sums.setdefault((node_id, table.tablespace_id), [0.0, 0.0])
            fragments = max(1, len(share.by_ldm)) * len(rows)
            held[0] += share.replicas * table.rows * each + fragments * extent[table.tablespace_id] / 2
            if load is not None:
                held[1] += share.replicas * kept_rows_per_s(load) * each
    rooms: dict[int, TablespaceRoom] = {}
    first: dict[int, tuple[float, float]] = {}
    for (node_id, space_id), (used, growth) in sums.items():
        left = capacity[space_id] - used
        order = (left / growth if growth > 0 else float("inf"), left)
        if node_id not in first or order < first[node_id]:
            first[node_id] = order
            rooms[node_id] = TablespaceRoom(used, capacity[space_id], growth)
    return rooms
