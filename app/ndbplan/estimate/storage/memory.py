"""Memory that tables take, and whether it fits: per table, data node and cluster.

    memory_of_nodes(tables, nodes).nodes[0].data_memory_bytes

Bytes of a table are of one replica set, as the sums of `ndb_desc -p`; those of a node count every replica it
holds. Formulas: engine model 2.1 to 2.6 and 15.3; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term, told_later, total
from ndbplan.base.shapes import Shape
from ndbplan.base.units import how_many
from ndbplan.configuration.settings import NodeSettings, index_memory_bytes
from ndbplan.estimate.storage.pages_of_tables import KINDS
from ndbplan.estimate.storage.table_memory import TableMemory, TableSizes
from ndbplan.ndb.nearness import Nearness
from ndbplan.plan.hardware import Host
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_NOTHING = Quantity.exact(0.0, "bytes")


@dataclass(frozen=True)
class NodeMemory(Shape):
    """Memory of one data node."""

    JSON = (
        "node_id data_memory_bytes index_memory_bytes data_memory_limit_bytes headroom_bytes ram_bytes "
        "host_memory_bytes ram_limit_bytes"
    )

    node_id: int
    data_memory_bytes: Quantity
    """Needed for the tables, hash indexes included from 7.6 on."""
    index_memory_bytes: Quantity
    """Hash indexes up to 7.5; 0 later."""
    data_memory_limit_bytes: int
    """DataMemory (with IndexMemory from 7.6 on)."""
    index_memory_limit_bytes: int
    """IndexMemory with what its LDM threads add, up to 7.5; 0 later."""
    ram_bytes: Quantity
    """What the node allocates, by its parameters."""
    host_memory_bytes: int
    """Memory of its host."""
    container_memory_bytes: int | None
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
    def index_fill(self) -> float:
        """Share of IndexMemory that is used; 0 from 7.6 on."""
        return self.index_memory_bytes.value / max(1, self.index_memory_limit_bytes)

    @property
    def headroom_bytes(self) -> float:
        """DataMemory left; negative: too little."""
        return self.data_memory_limit_bytes - self.data_memory_bytes.value


@dataclass(frozen=True)
class HostMemory(Shape):
    """What the data nodes of one host take of its memory."""

    JSON = "host=hostname memory_bytes data_nodes_bytes"

    host_id: str
    hostname: str
    memory_bytes: int
    data_nodes_bytes: Quantity

    @property
    def fill(self) -> float:
        """Share of the host's memory that its data nodes take."""
        return self.data_nodes_bytes.value / self.memory_bytes


@dataclass(frozen=True)
class MemoryEstimate(Shape):
    """Memory of every table and data node."""

    JSON = "tables nodes hosts"

    tables: tuple[TableMemory, ...]
    nodes: tuple[NodeMemory, ...]
    """By node id; reserved nodes too."""
    hosts: tuple[HostMemory, ...]
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


def _sum(parts: Iterable[tuple[str, Quantity]]) -> Quantity:
    return total(parts, "bytes")


def data_memory_kinds(index_memory_joined: bool) -> list[bool]:
    """Which kinds of pages lie in DataMemory; the others lie in IndexMemory."""
    return [kind != "hash_index" or index_memory_joined for kind in KINDS]


class NodeToFill(NamedTuple):
    """A data node, for what tables and parameters take of it."""

    node: DataNode
    group: int
    """Number of its node group; 65536: reserved."""
    settings: NodeSettings
    host: Host
    ldm_instances: int
    ram_bytes: Quantity
    """What it allocates for its parameters."""


def memory_of_nodes(
    tables: tuple[TableSizes, ...], nodes: Sequence[NodeToFill], near: Nearness
) -> MemoryEstimate:
    """Memory of tables and data nodes; `tables` has those that have a place, by node group.

    Ranges of what tables take are the wider the further they lie from all measured runs.
    """
    of_tables = tuple([_widened(sizes.memory, near) for sizes in tables])
    return MemoryEstimate(of_tables, memories_of_nodes(tables, nodes, near), _hosts(nodes))


@kept_by_identity(size=1024)
def _widened(table: TableMemory, near: Nearness) -> TableMemory:
    if near.is_none:
        return table
    ranges = (
        (value, low, high, why) if low == high else (value, low / near.room_below, high * near.room, why)
        for value, low, high, why in table.ranges
    )
    return replace(table, ranges=tuple(ranges))


def _hosts(nodes: Sequence[NodeToFill]) -> tuple[HostMemory, ...]:
    by_host: dict[str, tuple[Host, list[tuple[str, Quantity]]]] = {}
    for one in nodes:
        parts = by_host.setdefault(one.host.id, (one.host, []))[1]
        parts.append((f"data node {one.node.node_id}", one.ram_bytes))
    return tuple(
        HostMemory(host.id, host.hostname, host.memory_bytes, _sum(parts)) for host, parts in by_host.values()
    )


@kept_by_identity(size=48)
def _of_groups(
    tables: tuple[TableSizes, ...], groups: int, joined: bool, near: Nearness
) -> list[tuple[Quantity, Quantity]]:
    """DataMemory and IndexMemory that tables take of a node of each node group; `joined`: as one memory."""
    import numpy as np

    in_data = data_memory_kinds(joined)
    if tables:
        sizes = np.concatenate([table.by_group for table in tables]).reshape(len(tables), len(KINDS), -1)
        low = np.einsum("tkg,tk->kg", sizes, np.array([table.low for table in tables]))
        high = np.einsum("tkg,tk->kg", sizes, np.array([table.high for table in tables]))
        value = sizes.sum(axis=0)
    else:
        value = low = high = np.zeros((len(KINDS), max(1, groups)))
    in_data_memory, in_index_memory = (
        [near.widened(found) for found in _of_kinds(value, low, high, kinds, tables)]
        for kinds in (in_data, [not inside for inside in in_data])
    )
    return list(zip(in_data_memory, in_index_memory, strict=True))


def memories_of_nodes(
    tables: tuple[TableSizes, ...], nodes: Sequence[NodeToFill], near: Nearness
) -> tuple[NodeMemory, ...]:
    """Memory of the data nodes alone."""
    order = {group: i for i, group in enumerate(sorted({one.group for one in nodes} - {NODE_GROUP_NONE}))}
    joined = any(one.settings.features.index_memory_joined for one in nodes)
    of_groups = _of_groups(tables, len(order), joined, near)
    by_group = {group: of_groups[i] for group, i in order.items()}
    nothing = (_NOTHING, _NOTHING)
    memories = []
    limits: dict[tuple[int, int], tuple[int, int]] = {}
    for node, group, settings, host, ldm_instances, ram_bytes in nodes:
        data, index = by_group.get(group, nothing)
        key = id(settings), ldm_instances
        if key not in limits:
            limits[key] = settings.number("DataMemory"), index_memory_bytes(settings, ldm_instances)
        limit, index_limit = limits[key]
        memories.append(
            NodeMemory(
                node_id=node.node_id,
                data_memory_bytes=data,
                index_memory_bytes=index,
                data_memory_limit_bytes=limit + (index_limit if joined else 0),
                index_memory_limit_bytes=0 if joined else index_limit,
                ram_bytes=ram_bytes,
                host_memory_bytes=host.memory_bytes,
                container_memory_bytes=node.container_memory_bytes,
            )
        )
    return tuple(memories)


_TABLES_TOLD = 8
"""Tables that a derivation names: judgement."""
_KIND_TERMS = (
    "fixed parts",
    "variable parts",
    "hash indexes",
    "ordered indexes",
    "unique indexes",
    "blob parts",
)


def _of_tables(tables: tuple[TableSizes, ...], kind: int, group: int) -> tuple[Term, ...]:
    """What of a kind of pages is which table's in a node group: the largest first, down to their columns."""
    sizes = [(float(one.by_group[kind, group]), one.memory) for one in tables]
    sizes = sorted((one for one in sizes if one[0]), key=lambda one: -one[0])
    name = _KIND_TERMS[kind]
    told = []
    for size, table in sizes[:_TABLES_TOLD]:
        share = size / max(1.0, table.ranges[kind][0])
        why = told_later(partial(table.why_of, kind, share))
        told.append(Term(f"{name} of {table.table}", size, "bytes", "formula", why))
    others = sizes[_TABLES_TOLD:]
    if others:
        rest = sum(size for size, _ in others)
        told.append(Term(f"{name} of {how_many(len(others), 'other table')}", rest, "bytes", "formula"))
    return tuple(told)


def _of_kinds(
    value: Array, low: Array, high: Array, chosen: list[bool], tables: tuple[TableSizes, ...]
) -> list[Quantity]:
    """For each node group the sum over some kinds, of bytes by kind and node group."""
    kinds = [kind for kind, taken in enumerate(chosen) if taken]
    ends = [sizes[chosen].sum(axis=0).tolist() for sizes in (value, low, high)]
    quantities = []
    for group, (sizes, mid, least, most) in enumerate(zip(value[chosen].T.tolist(), *ends, strict=True)):
        terms = [
            Term(
                f"{_KIND_TERMS[kind]} of all tables",
                size,
                "bytes",
                "formula",
                told_later(partial(_of_tables, tables, kind, group)),
            )
            for kind, size in zip(kinds, sizes, strict=True)
            if size
        ]
        quantities.append(Quantity.spanning(mid, (least, most), "bytes", terms))
    return quantities
