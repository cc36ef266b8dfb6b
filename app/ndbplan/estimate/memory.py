"""Memory that tables take, and whether it fits: per table, data node and cluster.

    memory(plan).nodes[0].data_memory_bytes

Bytes of a table are of one replica set, as the sums of `ndb_desc -p`; those of a node count every replica it
holds. Formulas: engine model 2.1 to 2.6 and 15.3; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndbplan.base.memo import memo_by_identity
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.estimate.distribution import distribute, hash_map_of, node_group_ids, spread_rows
from ndbplan.estimate.fragments import TableDistribution, page_bytes
from ndbplan.estimate.node_memory import node_memory
from ndbplan.estimate.parameters import version_of
from ndbplan.estimate.quantity import Quantity, Term, total
from ndbplan.estimate.rows import RowLayout, blob_parts, key_columns, unique_tables
from ndbplan.estimate.topology import placements
from ndbplan.ndb.constants import Constant
from ndbplan.ndb.placement import Placement
from ndbplan.ndb.rowformat import BLOB_TYPES, FIXED_PAGE_WORDS, PAGE_BYTES, Storage
from ndbplan.ndb.version import NdbVersion
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
        fill, hash_row, in_order, random, node_size = (constant_for(plan, name) for name in _CONSTANTS)
        version, placed = version_of(plan), placements(plan)
        for table in plan.tables:
            where, unique = distribute(plan, table), placed[table.id][1:]
            parts.append(
                _table_parts(table, version, where, fill, hash_row, in_order, random, node_size, *unique)
            )
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


@memo_by_identity(4096)
def _table_parts(
    table: Table,
    version: NdbVersion,
    distribution: TableDistribution,
    fill: Constant,
    hash_row: Constant,
    in_order: Constant,
    random: Constant,
    node_size: Constant,
    *unique: Placement,
) -> _Parts:
    import numpy as np

    placed, rows, layout = distribution.placement, distribution.rows, distribution.layout
    groups = len(distribution.group_ids)
    copies = max(1, placed.fragments // max(1, placed.partitions))
    by_group = np.zeros((len(_KINDS), groups))

    def put(kind: str, where: Placement, pages: Array) -> float:
        """Count bytes per fragment under a kind; returns the bytes of one copy of the table."""
        by_group[_KINDS.index(kind)] += np.bincount(where.node_group, weights=pages, minlength=groups)
        return float(pages.sum()) * where.partitions / max(1, where.fragments)

    hash_page = _hash_page_bytes(version)
    spread = _variable_spread(table, layout, fill, version)
    fixed = put("fixed", placed, distribution.fixed_bytes)
    variable = Quantity.exact(0.0, "bytes")
    if distribution.counted_variable_bytes:
        pages = put("variable", placed, distribution.variable_bytes)
        counted = Term("pages counted in each partition", pages, "bytes", "plan: ndb_desc -p")
        variable = Quantity.exact(pages, "bytes", (counted,))
    elif layout.rows_per_variable_page:
        variable = _ranged(put("variable", placed, distribution.variable_bytes), *spread, fill)
    hashed = _ranged(
        put("hash_index", placed, _rounded(rows * hash_row.value, hash_page)), *_range(hash_row), hash_row
    )
    ordered = _ordered_index(
        table, rows, in_order, random, node_size, lambda p: put("ordered_index", placed, p)
    )
    unique_bytes = 0.0
    for index, where in zip(unique_tables(table, version), unique, strict=True):
        share = spread_rows(
            round(table.rows * index.rows_fraction),
            hash_map_of(_fresh(table), where.partitions, version),
        )
        unique_bytes += put("unique_index", where, _hidden_bytes(index.layout, share, hash_row, hash_page))
    blob_bytes = 0.0
    for blob in blob_parts(table, version):
        if blob.parts_per_row:
            counts = np.ceil(rows * blob.parts_per_row).astype(np.int64)
            blob_bytes += put("blob", placed, _hidden_bytes(blob.layout, counts, hash_row, hash_page))
    blob_range = (0.0, 3.0) if _has_unknown_blob(table) else (min(0.97, spread[0]), max(1.03, spread[1]))
    found = TableMemory(
        table=table.full_name,
        rows=int(rows.sum()) // copies,
        replicas=copies * placed.nodes.shape[1],
        fixed_bytes=int(fixed),
        variable_bytes=variable,
        hash_index_bytes=hashed,
        ordered_index_bytes=ordered,
        unique_index_bytes=_ranged(unique_bytes, *_range(hash_row), hash_row),
        blob_bytes=_ranged(blob_bytes, *blob_range, fill),
        disk_bytes=int(page_bytes(rows, layout.rows_per_disk_page).sum()) // copies,
    )
    quantities = (None, variable, hashed, ordered, found.unique_index_bytes, found.blob_bytes)
    return _Parts(
        found,
        by_group,
        tuple(1.0 if q is None or not q.value else q.low / q.value for q in quantities),
        tuple(1.0 if q is None or not q.value else q.high / q.value for q in quantities),
    )


def _fresh(table: Table) -> Table:
    """A table whose map is the default one: what a hidden unique index table has."""
    return table if not table.grown_from else table.model_copy(update={"grown_from": ()})


def _hash_page_bytes(version: NdbVersion) -> int:
    """Hash indexes grow by pages of 8 KiB in IndexMemory, by 32 KiB in DataMemory."""
    return PAGE_BYTES if version >= _HASH_INDEX_IN_DATA_MEMORY else 8192


def _rounded(sizes: Array, page: int) -> Array:
    import numpy as np

    return np.ceil(sizes / page) * page


def _hidden_bytes(layout: RowLayout, rows: Array, hash_row: Constant, hash_page: int) -> Array:
    """Bytes per fragment of a hidden table: fixed and variable pages and its hash index."""
    return (
        page_bytes(rows, layout.rows_per_fixed_page)
        + page_bytes(rows, layout.rows_per_variable_page)
        + _rounded(rows * hash_row.value, hash_page)
    )


def _range(constant: Constant) -> tuple[float, float]:
    return constant.low / constant.value, constant.high / constant.value


def _ranged(value: float, low: float, high: float, constant: Constant) -> Quantity:
    return Quantity(value, value * low, value * high, "bytes", (term_of(constant),) if value else ())


def _variable_spread(
    table: Table, layout: RowLayout, fill: Constant, version: NdbVersion
) -> tuple[float, float]:
    """Factors of the ends of the variable part: of the page rule, and of lengths that nobody stated."""
    unknown = [c for c in layout.columns if c.length_is_assumed and c.type.storage is Storage.VARIABLE]
    if not unknown:
        return fill.low, fill.high
    assumed = sum(c.mean_bytes for c in unknown)
    most = sum(c.type.length_bytes + c.type.max_bytes for c in unknown)
    whole = max(4.0, layout.variable_bytes)
    return fill.low * max(0.05, (whole - assumed) / whole), fill.high * (whole - assumed + most) / whole


def _has_unknown_blob(table: Table) -> bool:
    return any(c.type in BLOB_TYPES and c.average_bytes is None for c in table.columns)


def _ordered_index(
    table: Table,
    rows: Array,
    in_order: Constant,
    random: Constant,
    node_size: Constant,
    put: Callable[[Array], float],
) -> Quantity:
    """Ordered indexes: nodes filled by how keys arrive, 120 nodes in a page, whole pages per fragment."""
    # Unless stated: numbers of a primary key and times of any index come in order, all else at random.
    indexes = [
        (table.column(index.columns[0]).type in _TIMES, index.key_arrival)
        for index in table.indexes
        if index.kind != "unique_hash"
    ]
    if table.primary_key and not table.primary_key_using_hash:
        indexes.append((key_columns(table)[0].type in _TIMES | _NUMBERS, table.key_arrival))
    value = low = high = 0.0
    terms: list[Term] = []
    for likely_in_order, arrival in indexes:
        entries = in_order if (arrival == "in_order" if arrival else likely_in_order) else random
        found = put(_index_pages(rows, entries.value, node_size.value))
        fullest, emptiest = (entries, entries) if arrival else (random, in_order)
        value += found
        low += found * entries.value / fullest.high
        high += found * entries.value / emptiest.low
        terms.append(term_of(entries))
    return Quantity(value, low, high, "bytes", tuple(dict.fromkeys(terms)))


def _index_pages(rows: Array, entries: float, node_bytes: float) -> Array:
    import numpy as np

    nodes = np.ceil(rows / entries)
    return np.ceil(nodes / (FIXED_PAGE_WORDS * 4 // int(node_bytes))) * PAGE_BYTES


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
    by_group = {
        group: tuple(
            _of_kinds(value[:, i], low[:, i], high[:, i], in_data, wanted) for wanted in (True, False)
        )
        for group, i in order.items()
    }
    nothing = (Quantity.exact(0.0, "bytes"), Quantity.exact(0.0, "bytes"))
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


def _of_kinds(value: Array, low: Array, high: Array, in_data: list[bool], wanted: bool) -> Quantity:
    chosen = [i for i, inside in enumerate(in_data) if inside is wanted]
    terms = tuple(
        Term(f"{_KIND_TERMS[i]} of all tables", float(value[i]), "bytes", "formula")
        for i in chosen
        if value[i]
    )
    mid = float(value[chosen].sum())
    return Quantity(
        mid, min(mid, float(low[chosen].sum())), max(mid, float(high[chosen].sum())), "bytes", terms
    )
