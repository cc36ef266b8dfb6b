"""Memory that tables take: what fills pages in each fragment, counted for many tables at once.

    table_memory([(table, distribution, rules_with(version, constants), *placements_of_unique_indexes)])

Bytes of a table are of one replica set, as the sums of `ndb_desc -p`. Formulas: engine model 2.1 to 2.6 and
15.3; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ndbplan.base.kept import kept_by_value, kept_each_by_identity
from ndbplan.base.quantity import Quantity, Term, total
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_percent
from ndbplan.estimate.constants import Constants, term_of
from ndbplan.estimate.storage.distribution import hash_map_of, not_grown, spread_rows
from ndbplan.estimate.storage.fragments import TableDistribution
from ndbplan.estimate.storage.index_keys import IndexKeys, index_keys
from ndbplan.estimate.storage.pages_of_tables import (
    BLOB,
    COUNTED_PAGES,
    DISK,
    FIXED,
    HASH_INDEX,
    ORDERED_INDEX,
    UNIQUE_INDEX,
    VARIABLE,
    PagePart,
    Pages,
    Spread,
    count_pages,
)
from ndbplan.estimate.storage.rows import RowLayout, StoredColumn, blob_parts, unique_tables
from ndbplan.ndb.columns import COLUMN_TYPES, Storage
from ndbplan.ndb.constants import Constant
from ndbplan.ndb.features import features
from ndbplan.ndb.hash_index import hash_index_facts
from ndbplan.ndb.placement.fragments import Placement
from ndbplan.ndb.rows import FIXED_PAGE_WORDS, VARIABLE_PAGE_WORDS, WORD_BYTES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_CONSTANTS = (
    "variable_page_fill",
    "variable_kept_share",
    "hash_index_row_bytes",
    "hash_index_kept_share",
    "ordered_index_entries_in_order",
    "ordered_index_entries_random",
    "ordered_index_node_bytes",
    "blob_parts_fill",
    "blob_length_unknown",
)
_TABLES_AT_ONCE = 32
"""Enough to forget what a call of numpy costs, few enough to stay in the processor's cache."""

_COLUMNS_TOLD = 8
"""Columns that a derivation names: those that take most."""
_LENGTH = {
    True: "assumption: the plan does not state the mean length",
    False: "plan: the mean length that it states",
}

_Range: TypeAlias = tuple[float, float, float, tuple[Term, ...]]
"""Bytes: value, low, high, and why."""
_NOTHING: _Range = (0.0, 0.0, 0.0, ())
"""Value, low and high factor and terms of what is not there."""


@dataclass(frozen=True, slots=True)
class TableMemory(Shape):
    """Memory of one table, one replica set; every part of it is rounded up to pages per fragment."""

    JSON = (
        "table rows replicas fixed_bytes var_bytes=variable_bytes hash_index_bytes ordered_index_bytes "
        "unique_index_bytes blob_bytes disk_bytes"
    )

    table: str
    rows: int
    replicas: int
    """Copies of each row in the cluster; more than NoOfReplicas when fully replicated."""
    fixed_bytes: int
    ranges: tuple[_Range, ...]
    """By kind. Quantities are made of them when asked for: few of them are, of hundreds of tables."""
    disk_bytes: int
    """Pages in tablespaces; no memory."""
    columns: tuple[StoredColumn, ...]
    """Of a row, to say what of its variable part is which column's; none: bytes were counted."""

    @property
    def variable_bytes(self) -> Quantity:
        """Variable parts of the rows."""
        return self._quantity(VARIABLE)

    @property
    def hash_index_bytes(self) -> Quantity:
        """The hash index of the primary key; where IndexMemory holds them, those of hidden tables too."""
        return self._quantity(HASH_INDEX)

    @property
    def ordered_index_bytes(self) -> Quantity:
        """All ordered indexes."""
        return self._quantity(ORDERED_INDEX)

    @property
    def unique_index_bytes(self) -> Quantity:
        """Hidden tables of the unique indexes; with their hash indexes where DataMemory holds these."""
        return self._quantity(UNIQUE_INDEX)

    @property
    def blob_bytes(self) -> Quantity:
        """Parts tables of BLOB, TEXT and JSON columns; with hash indexes where DataMemory holds these."""
        return self._quantity(BLOB)

    @property
    def total_bytes(self) -> Quantity:
        """Memory of one replica set."""
        parts = (
            ("fixed parts", Quantity.exact(self.fixed_bytes, "bytes")),
            ("variable parts", self.variable_bytes),
            ("hash index", self.hash_index_bytes),
            ("ordered indexes", self.ordered_index_bytes),
            ("unique indexes", self.unique_index_bytes),
            ("blob parts", self.blob_bytes),
        )
        return total(parts, "bytes")

    def _quantity(self, kind: int) -> Quantity:
        value, low, high, _ = self.ranges[kind]
        return Quantity(value, low, high, "bytes", self.why_of(kind) if value else ())

    def why_of(self, kind: int, share: float = 1.0) -> tuple[Term, ...]:
        """What leads to a part of it, or to a share of that: down to the columns where lengths matter."""
        columns = self._by_column(kind, share) if kind in (VARIABLE, BLOB) else ()
        return (*self.ranges[kind][3], *columns)

    def _by_column(self, kind: int, share: float) -> Iterator[Term]:
        """What values take in variable parts of rows, or those of blobs in their parts; largest first."""
        storages = (Storage.BLOB,) if kind == BLOB else (Storage.VARIABLE, Storage.BLOB)
        sizes = [
            (column.part_bytes if kind == BLOB else column.mean_bytes, column)
            for column in self.columns
            if not column.is_disk and column.type.storage in storages
        ]
        taken = [(share * self.rows * (1.0 - one.null_fraction) * mean, mean, one) for mean, one in sizes]
        what = "parts of values" if kind == BLOB else "values"
        for size, mean, column in sorted(taken, key=lambda each: -each[0])[:_COLUMNS_TOLD]:
            some = f"{format_percent(1.0 - column.null_fraction)} of the rows"
            each = f"{mean:.4g} bytes in {some if column.null_fraction else 'every row'}"
            yield Term(f"{what} of {column.name}, {each}", size, "bytes", _LENGTH[column.length_is_assumed])


class TableSizes(NamedTuple):
    """Memory of a table, and what of it is in each node group."""

    memory: TableMemory
    by_group: Array
    """Bytes of one replica, [kind, node group]."""
    low: tuple[float, ...]
    """Factor of the low end, by kind."""
    high: tuple[float, ...]


class _OrderedIndex(NamedTuple):
    """An ordered index: entries in its nodes as expected, and in nodes as full or as empty as they may be."""

    part: PagePart
    entries: float
    most_entries: float
    least_entries: float
    term: Term


class Rules(NamedTuple):
    """How parts of tables fill pages in a version, by the plan's calibrations."""

    version: NdbVersion
    fill: Constant
    fill_why: tuple[Term, ...]
    variable_kept: float
    """Share that stays of the variable pages of rows that moved, after OPTIMIZE."""
    hash_why: tuple[Term, ...]
    hash_spread: tuple[float, float]
    """Factors of the ends of hash indexes."""
    hash_index: PagePart
    in_order: Constant
    random: Constant
    """Entries of a node of an ordered index, by how keys come."""
    nodes_per_page: int
    """Of ordered indexes."""
    blob_parts: Constant
    blob_length: Constant
    """Factors of the ends of blob parts: of the page rule, and of lengths that nobody stated."""


def rules_with(version: NdbVersion, constants: Constants) -> Rules:
    """One object for all plans that agree in it, so that results can be kept by identity."""
    return _rules(version, *(constants.constant(name) for name in _CONSTANTS))


@kept_by_value(16)
def _rules(
    version: NdbVersion,
    fill: Constant,
    variable_kept: Constant,
    hash_row: Constant,
    hash_kept: Constant,
    in_order: Constant,
    random: Constant,
    node_size: Constant,
    blob_parts: Constant,
    blob_length: Constant,
) -> Rules:
    facts = hash_index_facts()
    return Rules(
        version,
        fill,
        (term_of(fill),),
        variable_kept.value,
        (term_of(hash_row),),
        (hash_row.low / hash_row.value, hash_row.high / hash_row.value),
        PagePart(
            HASH_INDEX,
            0.0,
            hash_row.value / facts.reference_row_bytes,
            facts.page_bytes,
            kept=hash_kept.value,
        ),
        in_order,
        random,
        FIXED_PAGE_WORDS * WORD_BYTES // int(node_size.value),
        blob_parts,
        blob_length,
    )


Question: TypeAlias = tuple[Table, TableDistribution, Rules, *tuple[Placement, ...]]
"""A table, where its rows are, the rules of its plan, and the placements of its unique indexes."""


@kept_each_by_identity(4096)
def table_memory(questions: Sequence[Question]) -> list[TableSizes]:
    """Memory of tables of one plan; an answer is the same whatever else is asked with it."""
    sizes: list[TableSizes] = []
    for start in range(0, len(questions), _TABLES_AT_ONCE):
        sizes += _together(questions[start : start + _TABLES_AT_ONCE])
    return sizes


def _together(questions: Sequence[Question]) -> Iterator[TableSizes]:
    indexes = [_ordered_indexes(table, where, rules) for table, where, rules, *_ in questions]
    spreads = [_spreads(*question, indexes=own) for question, own in zip(questions, indexes, strict=True)]
    counted = count_pages(spreads, len(questions[0][1].group_ids))
    for (table, where, rules, *_), own, pages in zip(questions, indexes, counted, strict=True):
        yield _sizes(table, where, rules, own, pages)


def _spreads(
    table: Table, where: TableDistribution, rules: Rules, *unique: Placement, indexes: list[_OrderedIndex]
) -> list[Spread]:
    """The rows of a table and of its unique indexes; its ordered indexes come first."""
    import numpy as np

    layout, node_group = where.layout, where.placement.node_group
    parts = [index.part for index in indexes]
    parts.append(PagePart(FIXED, layout.rows_per_fixed_page, kept=1.0))
    parts.append(rules.hash_index)
    if layout.rows_per_variable_page and not where.counted_variable_bytes:
        parts.append(PagePart(VARIABLE, layout.rows_per_variable_page, kept=rules.variable_kept))
    if layout.rows_per_disk_page:
        parts.append(PagePart(DISK, layout.rows_per_disk_page))
    for blob in blob_parts(table, rules.version):
        parts += _hidden(BLOB, blob.layout, rules, blob.parts_per_row)
    spreads = [Spread(where.rows, where.most_rows, node_group, parts)]
    if where.counted_variable_bytes:
        counted = where.variable_bytes
        spreads.append(Spread(counted, counted, node_group, [COUNTED_PAGES]))
    for index, placed in zip(unique_tables(table, rules.version), unique, strict=True):
        keys = round(table.rows * index.rows_fraction)
        rows = spread_rows(keys, hash_map_of(not_grown(table), placed.partitions, rules.version))
        if placed.partitions < placed.fragments:
            rows = np.tile(rows, placed.fragments // placed.partitions)
        spreads.append(Spread(rows, rows, placed.node_group, _hidden(UNIQUE_INDEX, index.layout, rules)))
    return spreads


def _hidden(kind: int, layout: RowLayout, rules: Rules, per_row: float = 1.0) -> list[PagePart]:
    """Fixed and variable pages of a hidden table and its hash index.

    Where hash indexes have a memory of their own, IndexMemory, that of a hidden table is there too (Dbacc has
    the pages of every table).
    """
    parts = [PagePart(FIXED, layout.rows_per_fixed_page, kept=1.0), rules.hash_index]
    if layout.rows_per_variable_page:
        parts.append(PagePart(VARIABLE, layout.rows_per_variable_page, kept=rules.variable_kept))
    of_kind = [kind] * len(parts)
    if not features(rules.version).index_memory_joined:
        of_kind[1] = HASH_INDEX
    return [part._replace(kind=one, per_row=per_row) for part, one in zip(parts, of_kind, strict=True)]


def entries_of_nodes(keys: IndexKeys, rules: Rules, rows: float) -> float:
    """Mean entries of the nodes of an ordered index in a fragment of so many rows."""
    return keys.entries(rows, rules.in_order.value, rules.random.value)


def _ordered_indexes(table: Table, where: TableDistribution, rules: Rules) -> list[_OrderedIndex]:
    """Ordered indexes of a table: their nodes are filled by how keys arrive."""
    rows = table.rows / max(1, where.placement.partitions)
    return [_ordered_index(keys, rules, rows) for keys in index_keys(table, rules.version)]


def _ordered_index(keys: IndexKeys, rules: Rules, rows: float) -> _OrderedIndex:
    entries = entries_of_nodes(keys, rules, rows)
    of = rules.in_order if keys.in_order else rules.random
    fullest, emptiest = entries * of.high / of.value, entries * of.low / of.value
    if keys.stated is None:
        # Several clients with numbers of their own, or keys that fall, fill nodes; one that counts does not.
        in_order = keys._replace(stated="in_order", nulls=0.0)
        fullest = float(keys.most)
        emptiest = min(emptiest, in_order.entries(rows, rules.in_order.low, rules.random.low))
    part = PagePart(ORDERED_INDEX, entries * rules.nodes_per_page, kept=1.0)
    return _OrderedIndex(part, entries, fullest, emptiest, term_of(of))


def _sizes(
    table: Table,
    where: TableDistribution,
    rules: Rules,
    indexes: list[_OrderedIndex],
    pages: Pages,
) -> TableSizes:
    placed, of_kind = where.placement, pages.of_kind
    copies = max(1, placed.fragments // max(1, placed.partitions))
    spread = _variable_spread(where.layout, rules.fill)
    blob = _blob_spread(table, rules, spread) if of_kind[BLOB] else spread
    variable = of_kind[VARIABLE] / copies
    ranges = (
        _range(of_kind[FIXED] / copies, 1.0, 1.0),
        _counted(variable) if where.counted_variable_bytes else _range(variable, *spread, rules.fill_why),
        _range(of_kind[HASH_INDEX] / copies, *rules.hash_spread, rules.hash_why),
        _ordered(pages.of_part, copies, indexes),
        _range(of_kind[UNIQUE_INDEX] / copies, *rules.hash_spread, rules.hash_why),
        _range(of_kind[BLOB] / copies, *blob, rules.fill_why),
    )
    memory = TableMemory(
        table.full_name,
        table.rows,
        copies * placed.nodes.shape[1],
        int(of_kind[FIXED]) // copies,
        ranges,
        int(of_kind[DISK]) // copies,
        () if where.counted_variable_bytes else where.layout.columns,
    )
    return TableSizes(
        memory,
        pages.by_group,
        tuple([low / value if value else 1.0 for value, low, _, _ in ranges]),
        tuple([high / value if value else 1.0 for value, _, high, _ in ranges]),
    )


def _range(value: float, low: float, high: float, why: tuple[Term, ...] = ()) -> _Range:
    return (value, value * low, value * high, why) if value else _NOTHING


def _counted(value: float) -> _Range:
    term = Term("pages counted in each partition", value, "bytes", "plan: ndb_desc -p")
    return value, value, value, (term,)


def _variable_spread(layout: RowLayout, fill: Constant) -> tuple[float, float]:
    """Factors of the ends of the variable part: of the page rule, and of lengths that nobody stated.

    Values of a mean length lie closer than ones that all have it, down to pages that are full.
    """
    full = layout.rows_per_variable_page * (layout.variable_words + 1.0) / VARIABLE_PAGE_WORDS
    least = min(fill.low, full) if full else fill.low
    unknown = [_assumed_and_most(c) for c in layout.columns if c.length_is_assumed and c.type.length_bytes]
    if not unknown:
        return least, fill.high
    assumed, most = map(sum, zip(*unknown, strict=True))
    whole = max(4.0, layout.variable_bytes)
    return least * max(4.0, whole - assumed) / whole, fill.high * (whole - assumed + most) / whole


def _assumed_and_most(column: StoredColumn) -> tuple[float, float]:
    """Bytes of a value in the row, as assumed and at most: of a blob, of its beginning that lies there."""
    kind = column.type
    if kind.storage is Storage.BLOB:
        head = kind.max_bytes - kind.inline_bytes
        return column.mean_bytes - head, float(kind.inline_bytes)
    return column.mean_bytes, float(kind.length_bytes + kind.max_bytes)


def _blob_spread(table: Table, rules: Rules, variable: tuple[float, float]) -> tuple[float, float]:
    """Factors of the ends of blob parts, from those of the variable part."""
    if any(COLUMN_TYPES[c.type].is_blob and c.average_bytes is None for c in table.columns):
        return rules.blob_length.low, rules.blob_length.high
    return min(rules.blob_parts.low, variable[0]), max(rules.blob_parts.high, variable[1])


def _ordered(sizes: Sequence[float], copies: int, indexes: Sequence[_OrderedIndex]) -> _Range:
    """Sum over ordered indexes of these sizes, with what it would be were their nodes fuller or emptier."""
    value = low = high = 0.0
    # Sizes of what else the table consists of follow.
    for whole, index in zip(sizes, indexes, strict=False):
        size = whole / copies
        value += size
        low += size * index.entries / index.most_entries
        high += size * index.entries / index.least_entries
    return value, low, high, tuple(dict.fromkeys([index.term for index in indexes]))
