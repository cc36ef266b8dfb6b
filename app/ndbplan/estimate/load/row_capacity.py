"""Room for rows on a data node: how fast a transaction of the mix takes it, and how much there is."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.memo import memo_by_identity
from ndbplan.estimate.load.demand import TableLoad
from ndbplan.estimate.load.disk_data import disk_rows
from ndbplan.estimate.storage.rows import unique_tables
from ndbplan.estimate.storage.shares import Shares
from ndbplan.estimate.stored import memory
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table

_SAMPLE_ROWS = 1_000_000


@dataclass(frozen=True)
class TablespaceRoom:
    """The tablespace of a node that inserts fill first."""

    used_bytes: float = 0.0
    capacity_bytes: float = 0.0
    """0: the node has none."""
    bytes_per_s: float = 0.0
    """Pages that inserted rows take, those of deleted rows taken off."""


def kept_rows_per_s(load: TableLoad) -> float:
    """Rows by which a table grows. Room of deleted rows is used by inserts into the same table only (manual,
    "Limits and Differences of NDB Cluster from Standard MySQL Limits": memory freed by deletes)."""
    return max(0.0, load.inserts_per_s - load.deletes_per_s)


def memory_per_row(plan: Plan, load: TableLoad) -> tuple[float, float]:
    """(DataMemory, IndexMemory) of one row on one replica, ordered indexes and blob parts included.

    Of a load on a unique index what one of its entries takes.
    """
    return _memory_per_entry(plan, load.table, load.unique_index)


@memo_by_identity(size=64)
def _memory_per_entry(plan: Plan, table: Table, unique_index: int | None) -> tuple[float, float]:
    unique = [index for index in table.indexes if index.kind != "ordered"]
    others = tuple(index for index in table.indexes if index.kind == "ordered")
    # UNIQUE without USING HASH has an ordered index too, which lies with the rows.
    kept = tuple(index.model_copy(update={"kind": "ordered"}) for index in unique if index.kind == "unique")
    alone = table.model_copy(update={"indexes": (*others, *kept)})
    own = _memory_per_row(plan, alone)
    if unique_index is None:
        return own
    entries = unique_tables(table, plan.version)[unique_index].rows_fraction
    index = unique[unique_index].model_copy(update={"kind": "unique_hash"})
    both = _memory_per_row(plan, alone.model_copy(update={"indexes": (*alone.indexes, index)}))
    return (both[0] - own[0]) / entries, (both[1] - own[1]) / entries


def _memory_per_row(plan: Plan, table: Table) -> tuple[float, float]:
    sample = table.model_copy(update={"rows": _SAMPLE_ROWS, "partition_rows": ()})
    sampled = memory(plan.replace(tables=(sample,)))
    rows = max(1, sampled.tables[0].replicas) * _SAMPLE_ROWS
    data = sum(node.data_memory_bytes.value for node in sampled.nodes)
    return data / rows, sum(node.index_memory_bytes.value for node in sampled.nodes) / rows


def tablespace_rooms(
    plan: Plan, by_table: list[tuple[Table, TableLoad | None, Shares]]
) -> dict[int, TablespaceRoom]:
    """For each data node, by node id, the tablespace that is full first; `by_table`: every table of the plan.

    Half an extent of each fragment is taken as not filled, as the estimate does.
    """
    version = plan.version
    capacity = {s.id: float(sum(f.size_bytes * f.count for f in s.data_files)) for s in plan.tablespaces}
    extent = {s.id: s.extent_size_bytes for s in plan.tablespaces}
    sums: dict[tuple[int, str], list[float]] = {}
    for table, load, shares in by_table:
        rows = disk_rows(table, version)
        if not rows or table.tablespace_id not in capacity:
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
