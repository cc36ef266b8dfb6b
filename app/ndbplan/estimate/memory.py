"""Memory that tables take, and whether it fits: per table, data node and cluster.

    memory(plan).nodes[0].data_memory_bytes

Bytes of a table are of one replica set, as the sums of `ndb_desc -p`; those of a node count every replica it
holds. Formulas: engine model 2.1 to 2.6 and 15.3; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.memo import memo_by_identity
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.estimate.distribution import distribute, hash_map_of, spread_rows
from ndbplan.estimate.fragments import PageRule, TableDistribution, bytes_by_rule, page_bytes
from ndbplan.estimate.node_memory import node_memory
from ndbplan.estimate.parameters import version_of
from ndbplan.estimate.quantity import Quantity, Term, total
from ndbplan.estimate.rows import RowLayout, blob_parts, unique_tables
from ndbplan.estimate.topology import placements
from ndbplan.ndb.constants import Constant
from ndbplan.ndb.placement import Placement
from ndbplan.ndb.rowformat import BLOB_TYPES, FIXED_PAGE_WORDS, PAGE_BYTES, Storage
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.node_groups import node_group_ids
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.plan.settings import data_node_number
from ndbplan.plan.tables import Table

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_CONSTANTS = (
    "variable_page_fill",
    "hash_index_row_bytes",
    "ordered_index_entries_in_order",
    "ordered_index_entries_random",
    "ordered_index_node_bytes",
)
_KINDS = ("fixed", "variable", "hash_index", "ordered_index", "unique_index", "blob")
_FIXED, _VARIABLE, _HASH_INDEX, _ORDERED_INDEX, _UNIQUE_INDEX, _BLOB = range(len(_KINDS))
_NOTHING = Quantity.exact(0.0, "bytes")
_TIMES = frozenset({"date", "datetime", "timestamp", "year"})
_NUMBERS = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint"})
_HASH_INDEX_IN_DATA_MEMORY = (7, 6)
"""From this version on hash indexes lie in DataMemory, not in IndexMemory."""


@dataclass(frozen=True)
class TableMemory:
    """Memory of one table, one replica set; every part of it is rounded up to pages per fragment."""

    table: str
    rows: int
    replicas: int
    """Copies of each row in the cluster; more than NoOfReplicas when fully replicated."""
    fixed_bytes: int
    variable_bytes: Quantity
    hash_index_bytes: Quantity
    ordered_index_bytes: Quantity
    unique_index_bytes: Quantity
    """Hidden tables of the unique indexes with their hash indexes."""
    blob_bytes: Quantity
    """Parts tables of BLOB, TEXT and JSON columns with their hash indexes."""
    disk_bytes: int
    """Pages in tablespaces; no memory."""

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
        return _sum(parts)

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape of one entry of `tables`."""
        return {
            "table": self.table,
            "rows": self.rows,
            "replicas": self.replicas,
            "fixed_bytes": self.fixed_bytes,
            "var_bytes": self.variable_bytes.to_json(why=why),
            "hash_index_bytes": self.hash_index_bytes.to_json(why=why),
            "ordered_index_bytes": self.ordered_index_bytes.to_json(why=why),
            "unique_index_bytes": self.unique_index_bytes.to_json(why=why),
            "blob_bytes": self.blob_bytes.to_json(why=why),
            "disk_bytes": self.disk_bytes,
        }


@dataclass(frozen=True)
class NodeMemory:
    """Memory of one data node."""

    node_id: int
    data_memory_bytes: Quantity
    """Needed for the tables, hash indexes included from 7.6 on."""
    index_memory_bytes: Quantity
    """Hash indexes up to 7.5; 0 later."""
    data_memory_limit_bytes: int
    """DataMemory (with IndexMemory from 7.6 on)."""
    index_memory_limit_bytes: int
    ram_bytes: Quantity
    """What the node allocates, by its parameters."""
    host_memory_bytes: int
    """Memory of its host."""
    container_memory_bytes: int | None = None
    """Memory limit of its container."""

    @property
    def ram_limit_bytes(self) -> int:
        """What the node may take: its host's memory or its container's limit."""
        return min(self.host_memory_bytes, self.container_memory_bytes or self.host_memory_bytes)

    @property
    def fill(self) -> float:
        """Share of DataMemory that is used."""
        return self.data_memory_bytes.value / max(1, self.data_memory_limit_bytes)

    @property
    def headroom_bytes(self) -> float:
        """DataMemory left; negative: too little."""
        return self.data_memory_limit_bytes - self.data_memory_bytes.value

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape of one entry of `nodes`."""
        return {
            "node_id": self.node_id,
            "data_memory_bytes": self.data_memory_bytes.to_json(why=why),
            "index_memory_bytes": self.index_memory_bytes.to_json(why=why),
            "data_memory_limit_bytes": self.data_memory_limit_bytes,
            "headroom_bytes": self.headroom_bytes,
            "ram_bytes": self.ram_bytes.to_json(why=why),
            "host_memory_bytes": self.host_memory_bytes,
            "ram_limit_bytes": self.ram_limit_bytes,
        }


@dataclass(frozen=True)
class HostMemory:
    """What the data nodes of one host take of its memory."""

    host_id: str
    memory_bytes: int
    data_nodes_bytes: Quantity

    @property
    def fill(self) -> float:
        """Share of the host's memory that its data nodes take."""
        return self.data_nodes_bytes.value / self.memory_bytes

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape of one entry of `hosts`."""
        return {
            "host": self.host_id,
            "memory_bytes": self.memory_bytes,
            "data_nodes_bytes": self.data_nodes_bytes.to_json(why=why),
        }


@dataclass(frozen=True)
class MemoryEstimate:
    """Memory of every table and data node."""

    tables: tuple[TableMemory, ...]
    nodes: tuple[NodeMemory, ...]
    """By node id; nodes kept aside too."""
    hosts: tuple[HostMemory, ...] = ()
    """Hosts that carry data nodes."""

    @property
    def cluster_bytes(self) -> Quantity:
        """DataMemory and IndexMemory used over all nodes."""
        return _sum(
            (f"data node {node.node_id}", quantity)
            for node in self.nodes
            for quantity in (node.data_memory_bytes, node.index_memory_bytes)
            if quantity.value
        )

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape of `memory`."""
        return {
            "tables": [table.to_json(why) for table in self.tables],
            "nodes": [node.to_json(why) for node in self.nodes],
            "hosts": [host.to_json(why) for host in self.hosts],
        }


def _sum(parts: Iterable[tuple[str, Quantity]]) -> Quantity:
    return total(parts, "bytes")


@dataclass(frozen=True)
class _Parts:
    """Bytes of a table by kind and node group, and how far each kind may be off."""

    memory: TableMemory
    by_group: Array
    """Bytes of one replica, [kind, node group]."""
    low: tuple[float, ...]
    """Factor of the low end, by kind."""
    high: tuple[float, ...]


def memory(plan: Plan) -> MemoryEstimate:
    """Memory of the plan's tables and data nodes; without node groups there are no tables to count."""
    parts: list[_Parts] = []
    if plan.tables and any(group != NODE_GROUP_NONE for group in node_group_ids(plan).values()):
        constants = _constants(version_of(plan), *(constant_for(plan, name) for name in _CONSTANTS))
        placed = placements(plan)
        for table in plan.tables:
            where, unique = distribute(plan, table), placed[table.id][1:]
            parts.append(_table_parts(table, where, constants, *unique))
    nodes = _nodes(plan, parts)
    return MemoryEstimate(tuple(part.memory for part in parts), nodes, _hosts(plan, nodes))


def _hosts(plan: Plan, nodes: tuple[NodeMemory, ...]) -> tuple[HostMemory, ...]:
    by_host: dict[str, list[tuple[str, Quantity]]] = {}
    for node, found in zip(plan.data_nodes, nodes, strict=True):
        by_host.setdefault(node.host_id, []).append((f"data node {node.node_id}", found.ram_bytes))
    return tuple(
        HostMemory(host_id, plan.host(host_id).memory_bytes, _sum(parts))
        for host_id, parts in by_host.items()
    )


class _Constants(NamedTuple):
    """What the memory of every table of a plan depends on."""

    version: NdbVersion
    fill: Constant
    hash_row: Constant
    in_order: Constant
    random: Constant
    node_size: Constant

    @property
    def hash_index(self) -> PageRule:
        """Pages of a hash index: of 8 KiB in IndexMemory, of 32 KiB in DataMemory."""
        page = PAGE_BYTES if self.version >= _HASH_INDEX_IN_DATA_MEMORY else 8192
        return PageRule(page, self.hash_row.value, page)

    def ordered_index(self, entries: Constant) -> PageRule:
        """Pages of an ordered index with so many entries in each of its nodes."""
        nodes_per_page = FIXED_PAGE_WORDS * 4 // int(self.node_size.value)
        return PageRule(entries.value * nodes_per_page)


@lru_cache(maxsize=16)
def _constants(version: NdbVersion, *constants: Constant) -> _Constants:
    """One object for the same constants, so that results can be kept by identity."""
    return _Constants(version, *constants)


@lru_cache(maxsize=1024)
def _first_places(kinds: tuple[int, ...], groups: int) -> Array:
    """Place of the first node group of each of these kinds in sums that go by kind, then node group."""
    import numpy as np

    return np.array(kinds)[:, None] * groups


@memo_by_identity(4096)
def _table_parts(
    table: Table, distribution: TableDistribution, constants: _Constants, *unique: Placement
) -> _Parts:
    import numpy as np

    version, fill, hash_row = constants.version, constants.fill, constants.hash_row
    placed, rows, layout = distribution.placement, distribution.rows, distribution.layout
    groups = len(distribution.group_ids)
    copies = max(1, placed.fragments // max(1, placed.partitions))
    entries = _ordered_indexes(table, constants)
    kinds = [_FIXED, _HASH_INDEX, *([_ORDERED_INDEX] * len(entries))]
    rules = [
        PageRule(layout.rows_per_fixed_page),
        constants.hash_index,
        *(constants.ordered_index(nodes.filled_by) for nodes in entries),
    ]
    counted = distribution.counted_variable_bytes
    if layout.rows_per_variable_page and not counted:
        kinds.append(_VARIABLE)
        rules.append(PageRule(layout.rows_per_variable_page))
    pages = bytes_by_rule(rows, rules)
    others = [distribution.variable_bytes] if counted else []
    kinds += [_VARIABLE] * len(others)
    for blob in blob_parts(table, version):
        if blob.parts_per_row:
            kinds.append(_BLOB)
            others.append(_hidden_bytes(blob.layout, np.ceil(rows * blob.parts_per_row), constants))
    if others:
        pages = np.vstack([pages, *others])
    # All kinds at once: a place in the sums for each pair of kind and node group.
    places = _first_places(tuple(kinds), groups) + placed.node_group
    by_group = np.bincount(places.ravel(), pages.ravel(), len(_KINDS) * groups).reshape(-1, groups)
    for index, where in zip(unique_tables(table, version), unique, strict=True):
        share = spread_rows(
            round(table.rows * index.rows_fraction),
            hash_map_of(_fresh(table), where.partitions, version),
        )
        hidden = _hidden_bytes(index.layout, share, constants)
        by_group[_UNIQUE_INDEX] += np.bincount(where.node_group, hidden, groups)

    # Hidden tables of unique indexes are never fully replicated: they have one copy.
    sums = by_group.sum(axis=1).tolist()
    of_index = sums[_ORDERED_INDEX : _ORDERED_INDEX + 1]
    if len(entries) != 1:
        of_index = pages[2 : 2 + len(entries)].sum(axis=1).tolist()
    spread = _variable_spread(layout, fill)
    variable = sums[_VARIABLE] / copies
    quantities = (
        _NOTHING,
        _counted(variable) if counted else _ranged(variable, *spread, fill),
        _ranged(sums[_HASH_INDEX] / copies, *_range(hash_row), hash_row),
        _ordered_bytes([size / copies for size in of_index], entries),
        _ranged(sums[_UNIQUE_INDEX], *_range(hash_row), hash_row),
        _ranged(sums[_BLOB] / copies, *_blob_spread(table, spread), fill) if sums[_BLOB] else _NOTHING,
    )
    found = TableMemory(
        table.full_name,
        int(rows.sum()) // copies,
        copies * placed.nodes.shape[1],
        int(sums[_FIXED]) // copies,
        *quantities[1:],
        disk_bytes=(
            int(page_bytes(rows, layout.rows_per_disk_page).sum()) // copies
            if layout.rows_per_disk_page
            else 0
        ),
    )
    return _Parts(
        found,
        by_group,
        tuple([q.low / q.value if q.value else 1.0 for q in quantities]),
        tuple([q.high / q.value if q.value else 1.0 for q in quantities]),
    )


def _fresh(table: Table) -> Table:
    """A table whose map is the default one: what a hidden unique index table has."""
    return table if not table.grown_from else table.model_copy(update={"grown_from": ()})


def _hidden_bytes(layout: RowLayout, rows: Array, constants: _Constants) -> Array:
    """Bytes per fragment of a hidden table: fixed and variable pages and its hash index."""
    rules = [PageRule(layout.rows_per_fixed_page), constants.hash_index]
    if layout.rows_per_variable_page:
        rules.append(PageRule(layout.rows_per_variable_page))
    pages: Array = bytes_by_rule(rows, rules).sum(axis=0)
    return pages


def _range(constant: Constant) -> tuple[float, float]:
    return constant.low / constant.value, constant.high / constant.value


def _ranged(value: float, low: float, high: float, constant: Constant) -> Quantity:
    if not value:
        return _NOTHING
    return Quantity(value, value * low, value * high, "bytes", (term_of(constant),))


def _counted(value: float) -> Quantity:
    term = Term("pages counted in each partition", value, "bytes", "plan: ndb_desc -p")
    return Quantity.exact(value, "bytes", (term,))


def _variable_spread(layout: RowLayout, fill: Constant) -> tuple[float, float]:
    """Factors of the ends of the variable part: of the page rule, and of lengths that nobody stated."""
    unknown = [c for c in layout.columns if c.length_is_assumed and c.type.storage is Storage.VARIABLE]
    if not unknown:
        return fill.low, fill.high
    assumed = sum(c.mean_bytes for c in unknown)
    most = sum(c.type.length_bytes + c.type.max_bytes for c in unknown)
    whole = max(4.0, layout.variable_bytes)
    return fill.low * max(0.05, (whole - assumed) / whole), fill.high * (whole - assumed + most) / whole


def _blob_spread(table: Table, variable: tuple[float, float]) -> tuple[float, float]:
    """Factors of the ends of blob parts, from those of the variable part."""
    if any(c.type in BLOB_TYPES and c.average_bytes is None for c in table.columns):
        return 0.0, 3.0
    return min(0.97, variable[0]), max(1.03, variable[1])


class _OrderedIndex(NamedTuple):
    """Entries in the nodes of one ordered index: expected, and if it is as full or as empty as it may be."""

    filled_by: Constant
    fullest: Constant
    emptiest: Constant


def _ordered_indexes(table: Table, constants: _Constants) -> list[_OrderedIndex]:
    """Ordered indexes of a table: their nodes are filled by how keys arrive."""
    # Unless stated: numbers of a primary key and times of any index come in order, all else at random.
    indexes = [
        (table.column(index.columns[0]).type in _TIMES, index.key_arrival)
        for index in table.indexes
        if index.kind != "unique_hash"
    ]
    if table.primary_key and not table.primary_key_using_hash:
        indexes.append((table.column(table.primary_key[0]).type in _TIMES | _NUMBERS, table.key_arrival))
    in_order, random = constants.in_order, constants.random
    found = []
    for likely_in_order, arrival in indexes:
        entries = in_order if (arrival == "in_order" if arrival else likely_in_order) else random
        found.append(_OrderedIndex(entries, *((entries, entries) if arrival else (random, in_order))))
    return found


def _ordered_bytes(sizes: Sequence[float], indexes: Sequence[_OrderedIndex]) -> Quantity:
    """Sum over ordered indexes of these sizes, with what it would be were their nodes fuller or emptier."""
    value = low = high = 0.0
    for size, index in zip(sizes, indexes, strict=True):
        value += size
        low += size * index.filled_by.value / index.fullest.high
        high += size * index.filled_by.value / index.emptiest.low
    terms = [term_of(index.filled_by) for index in indexes]
    return Quantity(value, low, high, "bytes", tuple(dict.fromkeys(terms) if len(terms) > 1 else terms))


def _nodes(plan: Plan, parts: list[_Parts]) -> tuple[NodeMemory, ...]:
    import numpy as np

    group_ids = node_group_ids(plan)
    order = {group: i for i, group in enumerate(sorted(set(group_ids.values()) - {NODE_GROUP_NONE}))}
    in_data = [kind != "hash_index" or plan.version >= _HASH_INDEX_IN_DATA_MEMORY for kind in _KINDS]
    if parts:
        sizes = np.stack([part.by_group for part in parts])
        low = np.einsum("tkg,tk->kg", sizes, np.array([part.low for part in parts]))
        high = np.einsum("tkg,tk->kg", sizes, np.array([part.high for part in parts]))
        value = sizes.sum(axis=0)
    else:
        value = low = high = np.zeros((len(_KINDS), max(1, len(order))))
    in_data_memory = _of_kinds(value, low, high, in_data)
    in_index_memory = _of_kinds(value, low, high, [not inside for inside in in_data])
    by_group = {group: (in_data_memory[i], in_index_memory[i]) for group, i in order.items()}
    nothing = (_NOTHING, _NOTHING)
    found = []
    for node in plan.data_nodes:
        data, index = by_group.get(group_ids[node.node_id], nothing)
        limit = data_node_number(plan, node, "DataMemory")
        index_limit = data_node_number(plan, node, "IndexMemory")
        joined = plan.version >= _HASH_INDEX_IN_DATA_MEMORY
        found.append(
            NodeMemory(
                node_id=node.node_id,
                data_memory_bytes=data,
                index_memory_bytes=index,
                data_memory_limit_bytes=limit + (index_limit if joined else 0),
                index_memory_limit_bytes=0 if joined else index_limit,
                ram_bytes=node_memory(plan, node),
                host_memory_bytes=plan.host(node.host_id).memory_bytes,
                container_memory_bytes=node.container_memory_bytes,
            )
        )
    return tuple(found)


_KIND_TERMS = (
    "fixed parts",
    "variable parts",
    "hash indexes",
    "ordered indexes",
    "unique indexes",
    "blob parts",
)


def _of_kinds(value: Array, low: Array, high: Array, chosen: list[bool]) -> list[Quantity]:
    """For each node group the sum over some kinds, of bytes by kind and node group."""
    names = [f"{name} of all tables" for name, taken in zip(_KIND_TERMS, chosen, strict=True) if taken]
    kinds = value[chosen]
    ends = [sizes[chosen].sum(axis=0).tolist() for sizes in (value, low, high)]
    found = []
    for sizes, mid, least, most in zip(kinds.T.tolist(), *ends, strict=True):
        terms = [
            Term(name, size, "bytes", "formula") for name, size in zip(names, sizes, strict=True) if size
        ]
        found.append(Quantity(mid, min(mid, least), max(mid, most), "bytes", tuple(terms)))
    return found
