"""What one row of a table takes in memory and in a checkpoint, the rows of hidden tables included."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.memo import memo_by_identity
from ndbplan.estimate.rows import RowLayout, blob_parts, row_layout, unique_tables
from ndbplan.ndb.constants import constant
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table


@dataclass(frozen=True, slots=True)
class RowCost:
    """What one row of a table takes beside its indexes, hidden rows included."""

    rows: float
    """Rows of the table and its hidden tables for each row."""
    row_bytes: float
    """Bytes of fixed and variable parts."""
    checkpoint_bytes: float
    """Bytes in a checkpoint: 4 + fixed + variable for each row (measured within 0.15 % on 8 tables)."""
    ordered_indexes: int
    """Ordered indexes of the table, that of the primary key included."""


def ordered_indexes(table: Table) -> int:
    """Ordered indexes of a table: of the primary key unless USING HASH, secondary ones, those of UNIQUE."""
    own = 1 if table.primary_key and not table.primary_key_using_hash else 0
    return own + sum(1 for index in table.indexes if index.kind in ("ordered", "unique"))


def _checkpoint_bytes(layout: RowLayout) -> float:
    return constant("lcp_record_overhead_bytes").value + layout.fixed_bytes + layout.variable_bytes


@memo_by_identity(size=4096)
def row_cost(table: Table, version: NdbVersion) -> RowCost:
    """What one row of the table takes in memory and in a checkpoint."""
    layout = row_layout(table, version)
    rows, size, checkpoint = 1.0, layout.fixed_bytes + layout.variable_bytes, _checkpoint_bytes(layout)
    hidden = [(p.parts_per_row, p.layout) for p in blob_parts(table, version)]
    hidden += [(u.rows_fraction, u.layout) for u in unique_tables(table, version)]
    for count, part in hidden:
        rows += count
        size += count * (part.fixed_bytes + part.variable_bytes)
        checkpoint += count * _checkpoint_bytes(part)
    # A table without logging is not checkpointed either: it is empty after a system restart.
    return RowCost(rows, size, checkpoint if table.logging else 0.0, ordered_indexes(table))
