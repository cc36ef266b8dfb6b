"""What each data node holds: rows, bytes in memory and in a checkpoint, index entries.

    node_data(plan)[0].checkpoint_bytes

Hidden tables count too: parts of blobs (placed like their rows) and unique indexes (placed by their own key,
counted evenly).
"""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.memo import memo_by_identity
from ndbplan.estimate.parameters import version_of
from ndbplan.estimate.row_cost import row_cost
from ndbplan.estimate.shares import Shares, shares_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table


@dataclass(frozen=True, slots=True)
class TablePart:
    """Share of one table on one node."""

    table: Table
    rows: float
    """Rows of the table itself."""
    row_bytes: float
    checkpoint_bytes: float
    index_entries: float


@dataclass(frozen=True, slots=True)
class NodeData:
    """What one data node holds."""

    node_id: int
    rows: float
    """Rows in memory, hidden tables included."""
    row_bytes: float
    checkpoint_bytes: float
    index_entries: float
    """Entries of ordered indexes."""
    indexed_row_bytes: float
    """Bytes of rows, counted once for each ordered index they have."""
    primary_row_bytes: float
    """Bytes of rows whose primary replica is here."""
    primary_rows: float
    tables: tuple[TablePart, ...]


@memo_by_identity(size=32)
def _node_data(tables: tuple[Table, ...], version: NdbVersion, *held: Shares) -> tuple[NodeData, ...]:
    parts: dict[int, list[TablePart]] = {}
    primaries: dict[int, list[float]] = {}
    for table, by_node in zip(tables, held, strict=True):
        cost = row_cost(table, version)
        for node_id, share in by_node.items():
            rows = share.replicas * table.rows
            parts.setdefault(node_id, []).append(
                TablePart(
                    table,
                    rows,
                    rows * cost.row_bytes,
                    rows * cost.checkpoint_bytes,
                    rows * cost.ordered_indexes,
                )
            )
            own = primaries.setdefault(node_id, [0.0, 0.0, 0.0])
            own[0] += share.primaries * table.rows * cost.row_bytes
            own[1] += share.primaries * table.rows * cost.rows
            own[2] += rows * cost.rows
    return tuple(
        NodeData(
            node_id=node_id,
            rows=primaries[node_id][2],
            row_bytes=sum(p.row_bytes for p in parts[node_id]),
            checkpoint_bytes=sum(p.checkpoint_bytes for p in parts[node_id]),
            index_entries=sum(p.index_entries for p in parts[node_id]),
            indexed_row_bytes=sum(
                p.row_bytes * row_cost(p.table, version).ordered_indexes for p in parts[node_id]
            ),
            primary_row_bytes=primaries[node_id][0],
            primary_rows=primaries[node_id][1],
            tables=tuple(parts[node_id]),
        )
        for node_id in sorted(parts)
    )


def node_data(plan: Plan) -> tuple[NodeData, ...]:
    """What every data node holds of the plan's tables, by node id; nodes without a partition are left out."""
    held = [shares_of(plan, table) for table in plan.tables]
    return _node_data(plan.tables, version_of(plan), *held)


def node_data_by_id(plan: Plan) -> dict[int, NodeData]:
    """The same by node id."""
    return {data.node_id: data for data in node_data(plan)}
