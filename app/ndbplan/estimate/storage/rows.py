"""What one row of a table takes: words in fixed, variable and disk pages; its blob parts and unique indexes.

    layout = row_layout(table, plan.version)
    layout.fixed_words, layout.rows_per_fixed_page      # 11 words, 741 rows

Exact for the fixed part; the variable part is exact for values of one length and a mean otherwise.

Source: engine model 2.1, 2.4, 2.5, 15.2 and 15.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.stored_types import stored_type
from ndbplan.ndb import rows as rowformat
from ndbplan.ndb.columns import COLUMN_TYPES, Storage, StoredType
from ndbplan.ndb.features import features
from ndbplan.ndb.rows import WORD_BYTES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Index, Table

HIDDEN_KEY = Column(name="$PK", type="bigint", unsigned=True, nullable=False)
"""The key the product adds to a table without one."""

ASSUMED_BLOB_BYTES = 1000.0
"""Mean length taken for a BLOB, TEXT or JSON column of unknown content."""
_MANY_TABLES = 4096
_MOST_SIZES = 256
"""Sizes of rows told apart where columns may be NULL; of more, neighbours are taken as their mean."""
_FIXED, _BITS, _VARIABLE, _BLOB = Storage.FIXED, Storage.BITS, Storage.VARIABLE, Storage.BLOB
"""Thousands of columns ask for them; Python 3.11 takes its time to find a member of an enumeration."""


Mix: TypeAlias = tuple[tuple[float, float], ...]
"""(words, share of the rows) of variable parts of different sizes."""


class StoredColumn(NamedTuple):
    """One column as NDB stores it."""

    name: str
    type: StoredType
    mean_bytes: float
    """Mean stored bytes of a value that is not NULL, length bytes included; of a blob: what is in the row."""
    null_fraction: float
    nullable: bool
    is_disk: bool
    is_dynamic: bool
    length_is_assumed: bool = False
    part_bytes: float = 0.0
    """Of a blob: mean bytes of a value that are not in the row."""

    @property
    def mean_words(self) -> float:
        """Mean words of a value that is not NULL when it is sent or logged."""
        return rowformat.mean_words(self.mean_bytes)


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Words of one row of a table (or of a hidden table) and rows of a page."""

    columns: tuple[StoredColumn, ...]
    fixed_words: int
    rows_per_fixed_page: int
    variable_words: float
    """Mean words of the variable part; 0: no variable part."""
    rows_per_variable_page: float
    """0: no variable part."""
    disk_words: int
    """0: no disk columns."""
    rows_per_disk_page: int

    @property
    def fixed_bytes(self) -> int:
        """Bytes of the fixed part."""
        return WORD_BYTES * self.fixed_words

    @property
    def variable_bytes(self) -> float:
        """Mean bytes of the variable part."""
        return WORD_BYTES * self.variable_words

    @property
    def disk_bytes(self) -> int:
        """Bytes of the part on disk."""
        return WORD_BYTES * self.disk_words

    def fixed_pages(self, rows: int) -> int:
        """Pages of fixed parts of so many rows of one fragment replica."""
        return rowformat.pages(rows, self.rows_per_fixed_page)

    def variable_pages(self, rows: int) -> int:
        """Pages of variable parts of so many rows of one fragment replica."""
        return rowformat.pages(rows, self.rows_per_variable_page)


@dataclass(frozen=True, slots=True)
class BlobParts:
    """The hidden table that holds what of a BLOB, TEXT or JSON column does not fit into the row."""

    column: str
    inline_bytes: int
    part_bytes: int
    parts_per_row: float
    """Mean part rows per row of the base table, NULLs included."""
    last_part_bytes: float
    """Mean bytes of the last part of a value that has parts."""
    layout: RowLayout
    """Row of a part of mean length."""


@dataclass(frozen=True, slots=True)
class UniqueTable:
    """The hidden table of a unique index, distributed by its own key."""

    index: Index
    layout: RowLayout
    rows_fraction: float
    """Rows per row of the base table: those whose indexed columns are not all NULL."""


def stored_name(table: Table, unique_index: int | None) -> str:
    """What a table, or one of its unique indexes (counted from 0), is called."""
    if unique_index is None:
        return table.full_name
    unique = [index.name for index in table.indexes if index.kind != "ordered"]
    return f"unique index {unique[unique_index]} of {table.full_name}"


def key_columns(table: Table) -> tuple[Column, ...]:
    """Primary key columns in the order of the key; the hidden key when the table has none."""
    return tuple(table.column(name) for name in table.primary_key) or (HIDDEN_KEY,)


def stored_column(column: Column, version: NdbVersion, *, in_memory: bool = False) -> StoredColumn:
    """How NDB stores a column; `in_memory`: it is indexed, so it stays in memory whatever it declares."""
    stored = stored_type(column, version)
    mean, assumed = _mean_bytes(column, stored)
    # The first bytes of a blob stay in memory; only its parts go to disk (manual, disk data).
    is_disk = column.storage == "disk" and not in_memory and stored.storage is not _BLOB
    nullable = column.nullable
    return StoredColumn(
        column.name,
        stored,
        mean,
        column.null_fraction if nullable else 0.0,
        nullable,
        is_disk,
        column.column_format == "dynamic",
        assumed,
        max(0.0, blob_mean_bytes(column) - stored.inline_bytes) if stored.storage is _BLOB else 0.0,
    )


def _mean_bytes(column: Column, stored: StoredType) -> tuple[float, bool]:
    if stored.storage is _FIXED:
        return float(stored.max_bytes), False
    if stored.storage is _BITS:
        return float((stored.bits + 31) // 32 * 4), False
    if stored.storage is _BLOB:
        mean = blob_mean_bytes(column)
        head = stored.max_bytes - stored.inline_bytes
        if stored.length_bytes == 0:
            return float(stored.max_bytes), column.average_bytes is None
        return head + min(mean, stored.inline_bytes), column.average_bytes is None
    if column.average_bytes is None:
        # Nothing is known: half of the declared characters, one byte each.
        length = COLUMN_TYPES[column.type].default_length if column.length is None else column.length
        return stored.length_bytes + min((length or 0) / 2, stored.max_bytes), True
    return stored.length_bytes + min(column.average_bytes, stored.max_bytes), False


def blob_mean_bytes(column: Column) -> float:
    """Mean bytes of a value of a BLOB, TEXT or JSON column; unknown, half of a type that holds little."""
    most = float(COLUMN_TYPES[column.type].most_bytes)
    if column.average_bytes is None:
        return min(ASSUMED_BLOB_BYTES, most / 2)
    return min(column.average_bytes, most)


@kept_by_identity(_MANY_TABLES)
def row_layout(table: Table, version: NdbVersion) -> RowLayout:
    """What a row of the table takes, blob heads included, blob parts not.

    Source of the formulas: engine model sections 2.1 and 15.3, see ndb.rowformat.
    """
    indexed = set(table.primary_key).union(
        *(index.columns for index in table.indexes), table.distribution_key
    )
    stored = [stored_column(c, version, in_memory=c.name in indexed) for c in table.columns]
    if not table.primary_key:
        stored.append(stored_column(HIDDEN_KEY, version))
    return layout_of(stored, reference_without_variable=not table.row_format_fixed)


def layout_of(stored: list[StoredColumn], *, reference_without_variable: bool) -> RowLayout:
    """Words of a record of these columns; those of a primary key may be dynamic like others.

    `reference_without_variable`: the table carries the reference to a variable part even without one, as
    all tables made by a MySQL server do unless ROW_FORMAT=FIXED.
    """
    memory_words = disk_column_words = null_bits = disk_null_bits = 0
    variables, value_bytes = 0, 0.0
    may_be_null: list[tuple[float, float]] = []
    dynamic: list[rowformat.DynamicValue] = []
    for column in stored:
        kind = column.type
        storage = kind.storage
        has_length = kind.length_bytes > 0 and (storage is _VARIABLE or storage is _BLOB)
        if column.is_disk:
            disk_null_bits += column.nullable
            if storage is _BITS:
                disk_null_bits += kind.bits
            else:
                disk_column_words += rowformat.words(kind.max_bytes + kind.length_bytes)
            continue
        present = 1.0 - column.null_fraction
        if column.is_dynamic:
            dynamic.append(rowformat.dynamic_value(kind, column.mean_bytes, present))
            continue
        null_bits += column.nullable
        if storage is _BITS:
            null_bits += kind.bits
        elif has_length:
            variables += 1
            if 0.0 < present < 1.0:
                may_be_null.append((column.mean_bytes, present))
            else:
                value_bytes += present * column.mean_bytes
        else:
            memory_words += rowformat.words(kind.max_bytes)
    has_variable = variables > 0 or bool(dynamic)
    has_disk = disk_column_words > 0 or disk_null_bits > 0
    fixed = rowformat.fixed_words(
        memory_words,
        null_bits,
        has_variable_reference=has_variable or reference_without_variable,
        has_disk_part=has_disk,
    )
    mix: Mix = ()
    if variables:
        mix = _mix(rowformat.variable_bytes(variables, value_bytes), may_be_null)
    if dynamic:
        mix = _with_dynamic(mix or ((0.0, 1.0),), dynamic)
    on_disk = rowformat.disk_words(disk_column_words, disk_null_bits) if has_disk else 0
    return RowLayout(
        columns=tuple(stored),
        fixed_words=fixed,
        rows_per_fixed_page=rowformat.rows_per_fixed_page(fixed),
        variable_words=sum(words * share for words, share in mix),
        rows_per_variable_page=_per_page(mix),
        disk_words=on_disk,
        rows_per_disk_page=rowformat.rows_per_fixed_page(on_disk) if has_disk else 0,
    )


def _mix(whole_bytes: float, may_be_null: Sequence[tuple[float, float]]) -> Mix:
    """Variable parts by their words: `whole_bytes` of every row, then (bytes, share of the rows) each."""
    by_words: dict[float, float] = {}
    for held, share in _shares({whole_bytes: 1.0}, may_be_null).items():
        words = rowformat.mean_words(held)
        by_words[words] = by_words.get(words, 0.0) + share
    return tuple(sorted(by_words.items()))


def _with_dynamic(mix: Mix, dynamic: Sequence[rowformat.DynamicValue]) -> Mix:
    """The same with dynamic columns: their mean words, spread by which of them are NULL."""
    sizes = [(value.mean_bytes / WORD_BYTES, value.present) for value in dynamic]
    always = rowformat.dynamic_words(dynamic) - sum(words * present for words, present in sizes)
    may_be_null = [(words, present) for words, present in sizes if words and 0.0 < present < 1.0]
    always += sum(words for words, present in sizes if present == 1.0)
    return tuple(sorted(_shares({words + always: share for words, share in mix}, may_be_null).items()))


def _shares(sizes: dict[float, float], may_be_null: Sequence[tuple[float, float]]) -> dict[float, float]:
    """Shares of the rows by size, once columns of (size, share of the rows where it is there) are added."""
    for size, present in may_be_null:
        added = {held: share * (1.0 - present) for held, share in sizes.items()}
        for held, share in sizes.items():
            added[held + size] = added.get(held + size, 0.0) + share * present
        sizes = _joined(added) if len(added) > _MOST_SIZES else added
    return sizes


def _joined(sizes: dict[float, float]) -> dict[float, float]:
    """The same in as few sizes as are told apart: neighbours as their mean."""
    least, width = min(sizes), (max(sizes) - min(sizes)) / (_MOST_SIZES - 1)
    joined: dict[int, tuple[float, float]] = {}
    for size, share in sizes.items():
        at = int((size - least) / width)
        held, of = joined.get(at, (0.0, 0.0))
        joined[at] = held + size * share, of + share
    return {held / of: of for held, of in joined.values() if of}


def _per_page(mix: Mix) -> float:
    """Variable parts in one page; 0: there are none."""
    if not mix or not any(words for words, _ in mix):
        return 0.0
    if len(mix) == 1:
        return rowformat.rows_per_variable_page(mix[0][0])
    return rowformat.rows_per_page_of_mix(mix)


@kept_by_identity(_MANY_TABLES)
def blob_parts(table: Table, version: NdbVersion) -> tuple[BlobParts, ...]:
    """The parts tables of the BLOB, TEXT and JSON columns, in column order; TINY ones have none.

    A part row holds the primary key of its row, NDB$PART, NDB$PKID and the data at its real length
    (engine model 2.4 and 15.2, where the redo of part rows confirmed these columns).
    """
    kept = []
    for column in table.columns:
        if not COLUMN_TYPES[column.type].has_parts:
            continue
        stored = stored_column(column, version)
        kind = replace(stored.type, part_bytes=_part_bytes(table, stored.type, version))
        behind = max(0.0, blob_mean_bytes(column) - kind.inline_bytes)
        parts = -(-behind // kind.part_bytes)
        last = behind - kind.part_bytes * (parts - 1) if parts else 0.0
        # All parts but the last are full.
        full, lengths = float(kind.part_bytes), {last if parts else float(kind.part_bytes): 1.0}
        if parts > 1 and last < full:
            lengths = {full: 1.0 - 1.0 / parts, last: 1.0 / parts}
        kept.append(
            BlobParts(
                column=column.name,
                inline_bytes=kind.inline_bytes,
                part_bytes=kind.part_bytes,
                parts_per_row=parts * (1.0 - stored.null_fraction),
                last_part_bytes=last,
                layout=_part_layout(table, version, kind, lengths, on_disk=column.storage == "disk"),
            )
        )
    return tuple(kept)


def _part_bytes(table: Table, kind: StoredType, version: NdbVersion) -> int:
    """Bytes of a part: up to 7.6 fewer than asked for where a long key leaves no room for them.

    A part row was kept within the longest row of its time, with its key and 7 words; 8.0 compares words with
    bytes and keeps nothing (ha_ndbcluster::create).
    """
    known = features(version)
    if not known.blob_parts_kept_in_row:
        return kind.part_bytes
    key = [stored_column(column, version, in_memory=True).type for column in key_columns(table)]
    room = known.row_words_most - 7 - sum(rowformat.words(c.max_bytes + c.length_bytes) for c in key)
    return min(kind.part_bytes, 4 * room) if room > 0 else kind.part_bytes


def _part_layout(
    table: Table, version: NdbVersion, kind: StoredType, lengths: Mapping[float, float], *, on_disk: bool
) -> RowLayout:
    """Row of a part; `lengths`: share of the parts of each length."""
    keys = [stored_column(column, version, in_memory=True) for column in key_columns(table)]
    number = StoredType(_FIXED, 4, is_aligned=True)
    data = StoredType(_VARIABLE, kind.part_bytes, length_bytes=2)
    if not features(version).blob_parts_by_length or on_disk:
        # Parts of full size: always before blobs of version 2, and on disk still.
        data = StoredType(_FIXED, kind.part_bytes)
        lengths = {kind.part_bytes - 2.0: 1.0}

    def of_length(part_bytes: float) -> RowLayout:
        columns = [
            *keys,
            StoredColumn("NDB$PART", number, 4.0, 0.0, nullable=False, is_disk=False, is_dynamic=False),
            StoredColumn("NDB$PKID", number, 4.0, 0.0, nullable=False, is_disk=False, is_dynamic=False),
            StoredColumn(
                "NDB$DATA", data, 2 + part_bytes, 0.0, nullable=False, is_disk=on_disk, is_dynamic=False
            ),
        ]
        return layout_of(columns, reference_without_variable=False)

    layout = of_length(sum(length * share for length, share in lengths.items()))
    if len(lengths) == 1 or not layout.variable_words:
        return layout
    mix = tuple((of_length(length).variable_words, share) for length, share in sorted(lengths.items()))
    mean = sum(words * share for words, share in mix)
    return replace(layout, variable_words=mean, rows_per_variable_page=_per_page(mix))


@kept_by_identity(_MANY_TABLES)
def unique_tables(table: Table, version: NdbVersion) -> tuple[UniqueTable, ...]:
    """The hidden tables of the unique indexes: the indexed columns, then fragment id and primary key.

    28 bytes for UNIQUE(INT) on an INT key, as measured (engine model 15.3).
    """
    tables: list[UniqueTable] = []
    keys = [stored_column(column, version, in_memory=True) for column in key_columns(table)]
    has_variable_key = any(c.type.storage is _VARIABLE for c in keys)
    key_bytes = 4.0 + sum(4 * c.mean_words for c in keys)
    base_key = StoredType(
        _VARIABLE if has_variable_key else _FIXED,
        4 + sum(4 * rowformat.words(c.type.max_bytes + c.type.length_bytes) for c in keys),
        length_bytes=2 if has_variable_key else 0,
    )
    for index in table.indexes:
        if index.kind == "ordered":
            continue
        indexed = [stored_column(table.column(name), version, in_memory=True) for name in index.columns]
        columns = [
            *(
                StoredColumn(
                    c.name, c.type, c.mean_bytes, 0.0, nullable=False, is_disk=False, is_dynamic=False
                )
                for c in indexed
            ),
            StoredColumn(
                "NDB$PK",
                base_key,
                key_bytes + base_key.length_bytes,
                0.0,
                nullable=False,
                is_disk=False,
                is_dynamic=False,
            ),
        ]
        present = 1.0
        for c in indexed:
            present *= 1.0 - c.null_fraction
        tables.append(
            UniqueTable(
                index=index,
                layout=layout_of(columns, reference_without_variable=False),
                rows_fraction=present,
            )
        )
    return tuple(tables)
