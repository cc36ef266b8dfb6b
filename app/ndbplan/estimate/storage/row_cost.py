"""What one row of a table takes in memory and in a checkpoint, the rows of hidden tables included.

Source: engine model 2.1 to 2.5, 15.3 and 15.4; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ndbplan.base.kept import kept_by_identity
from ndbplan.estimate.storage.index_keys import index_keys
from ndbplan.estimate.storage.rows import RowLayout, blob_parts, row_layout, unique_tables
from ndbplan.estimate.storage.saved_rows import saved_bytes
from ndbplan.ndb.constants import constant
from ndbplan.ndb.rows import PAGE_BYTES
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
    disk_row_bytes: float
    """Bytes of columns on disk as they are sent, copied and backed up: values of mean length."""
    disk_page_bytes: float
    """Bytes of data file pages that the columns on disk take: full declared width."""
    random_indexes: int
    """Of the ordered indexes those whose keys come in no order."""
    saved_rows: float
    """Records of a backup for each row: none of unique indexes."""
    saved_bytes: float
    """Bytes of these records, without their heads."""

    @property
    def moved_bytes(self) -> float:
        """Bytes that cross over when the row is copied or backed up: its parts in memory and on disk."""
        return self.row_bytes + self.disk_row_bytes


def ordered_indexes(table: Table) -> int:
    """Ordered indexes of a table: of the primary key unless USING HASH, secondary ones, those of UNIQUE."""
    own = 1 if table.primary_key and not table.primary_key_using_hash else 0
    return own + sum(1 for index in table.indexes if index.kind in ("ordered", "unique"))


def random_indexes(table: Table, version: NdbVersion) -> int:
    """Ordered indexes of a table whose keys come in no order, those of few values among them."""
    return sum(not keys.in_order for keys in index_keys(table, version))


def _checkpoint_bytes(layout: RowLayout) -> float:
    return constant("lcp_record_overhead_bytes").value + layout.fixed_bytes + layout.variable_bytes


_DISK_HEAD_BYTES = 12
"""Header and global checkpoint of a disk row: three words (NDB 7.4.10 Dbtup::computeTableMetaData)."""


def disk_row_bytes(layout: RowLayout) -> float:
    """Mean bytes of a row's columns on disk, its head included; 0 when it has none."""
    if not layout.disk_words:
        return 0.0
    values = sum(c.mean_words * (1.0 - c.null_fraction) for c in layout.columns if c.is_disk)
    return _DISK_HEAD_BYTES + 4 * values


def _disk_page_bytes(layout: RowLayout) -> float:
    return PAGE_BYTES / layout.rows_per_disk_page if layout.disk_words else 0.0


def _cost(table: Table, held: list[tuple[float, RowLayout]], ordered: int, at_random: int = 0) -> RowCost:
    """What so many rows of each layout take."""
    rows = size = checkpoint = on_disk = pages = saved = 0.0
    for count, part in held:
        rows += count
        size += count * (part.fixed_bytes + part.variable_bytes)
        checkpoint += count * _checkpoint_bytes(part)
        on_disk += count * disk_row_bytes(part)
        pages += count * _disk_page_bytes(part)
        saved += count * saved_bytes(part.columns)
    # A table without logging is not checkpointed either: it is empty after a system restart.
    logged = checkpoint if table.logging else 0.0
    return RowCost(rows, size, logged, ordered, on_disk, pages, at_random, rows, saved)


@kept_by_identity(size=4096)
def stored_costs(table: Table, version: NdbVersion) -> tuple[RowCost, ...]:
    """What one row of the table takes where it lies, its blob parts included, then in each unique index.

    The hidden table of a unique index is distributed by its own key: its rows lie elsewhere.
    """
    own = [(1.0, row_layout(table, version))]
    own += [(p.parts_per_row, p.layout) for p in blob_parts(table, version)]
    hidden = [
        replace(_cost(table, [(u.rows_fraction, u.layout)], 0), saved_rows=0.0, saved_bytes=0.0)
        for u in unique_tables(table, version)
    ]
    return (_cost(table, own, ordered_indexes(table), random_indexes(table, version)), *hidden)


@kept_by_identity(size=4096)
def row_cost(table: Table, version: NdbVersion) -> RowCost:
    """What one row of the table takes in memory and in a checkpoint, wherever that lies."""
    own, *hidden = stored_costs(table, version)
    return RowCost(
        rows=own.rows + sum(one.rows for one in hidden),
        row_bytes=own.row_bytes + sum(one.row_bytes for one in hidden),
        checkpoint_bytes=own.checkpoint_bytes + sum(one.checkpoint_bytes for one in hidden),
        ordered_indexes=own.ordered_indexes,
        disk_row_bytes=own.disk_row_bytes,
        disk_page_bytes=own.disk_page_bytes,
        random_indexes=own.random_indexes,
        saved_rows=own.saved_rows,
        saved_bytes=own.saved_bytes,
    )
