"""What each data node holds: rows, bytes in memory, on disk, in a checkpoint, index entries, by LDM thread.

    held_by_nodes(tables, version, *shares)[0].checkpoint_bytes
    held_by_nodes(tables, version, *shares)[0].fullest_ldm.rows

Hidden tables count too: parts of blobs lie with their rows, entries of unique indexes by their own key.

Sources: those of `row_cost` and `shares`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ndbplan.base.kept import kept_by_identity
from ndbplan.estimate.storage.row_cost import RowCost, stored_costs
from ndbplan.estimate.storage.rows import stored_name
from ndbplan.estimate.storage.shares import NodeShare, Shares, alike
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table


@dataclass(frozen=True, slots=True)
class TablePart:
    """Share of one table, or of the hidden table of one of its unique indexes, on one node."""

    table: Table
    share: float
    """Share of its rows of which the node has a copy."""
    rows: float
    """Rows of the table itself, or entries of the index."""
    row_bytes: float
    checkpoint_bytes: float
    index_entries: float
    unique_index: int | None
    """Which of the table's unique indexes, counted from 0; None: the table itself."""
    by_ldm: tuple[tuple[int, float], ...] = ()
    """`share` by LDM instance, of a table without rows yet as well."""
    in_turn: float = 1.0
    """Fragments of it that an LDM thread has."""

    @property
    def name(self) -> str:
        """What it is of."""
        return stored_name(self.table, self.unique_index)

    @property
    def fragments(self) -> float:
        """Fragments of it that the node has."""
        return max(1.0, self.in_turn * len(self.by_ldm))


@dataclass(frozen=True, slots=True)
class LdmData:
    """What one LDM thread of a node holds, or the most that any of them holds (`NodeData.fullest_ldm`)."""

    rows: float = 0.0
    row_bytes: float = 0.0
    index_entries: float = 0.0
    random_entries: float = 0.0
    disk_row_bytes: float = 0.0
    saved_rows: float = 0.0
    """Records of a backup: of rows whose primary replica is here."""
    saved_bytes: float = 0.0
    """Their bytes without heads, columns on disk included."""


_LDM_FIELDS = tuple(LdmData.__dataclass_fields__)


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
    random_entries: float
    """Those of indexes whose keys come in no order."""
    primary_row_bytes: float
    """Bytes of rows whose primary replica is here, each row of the cluster being counted on one node."""
    primary_rows: float
    tables: tuple[TablePart, ...]
    disk_row_bytes: float
    """Bytes of columns on disk: values of mean length, as they are copied and backed up."""
    disk_page_bytes: float
    """Bytes of data file pages with rows: full declared width."""
    primary_disk_row_bytes: float
    primary_disk_page_bytes: float
    saved_rows: float
    """Records of a backup: of rows whose primary replica is here."""
    saved_bytes: float
    """Their bytes without heads, columns on disk included."""
    by_ldm: tuple[tuple[int, LdmData], ...]
    """By LDM instance, those without rows left out."""
    fullest_low: float
    """What the fullest LDM thread holds at least, against what is computed: key values are chance."""
    fullest_high: float
    """The same at most."""
    first: NodeData | None = field(default=None, compare=False, repr=False)
    """The first node that holds the same; None: this is the one."""

    @property
    def alike(self) -> NodeData:
        """One and the same object for all nodes that hold the same: what is computed of it holds for all."""
        return self.first or self

    @property
    def moved_bytes(self) -> float:
        """Bytes that cross over when all rows of the node are copied: in memory and on disk."""
        return self.row_bytes + self.disk_row_bytes

    @property
    def primary_bytes(self) -> float:
        """Bytes of the rows whose primary replica is here: in memory and on disk."""
        return self.primary_row_bytes + self.primary_disk_row_bytes

    @property
    def fullest_ldm(self) -> LdmData:
        """The most that any LDM thread holds of each quantity: no phase ends before this one is done."""
        return _fullest_ldm(self.alike)


@kept_by_identity(size=512)
def _fullest_ldm(held: NodeData) -> LdmData:
    ldms = [data for _, data in held.by_ldm]
    return LdmData(*(max((getattr(d, name) for d in ldms), default=0.0) for name in _LDM_FIELDS))


_SUMMED = (
    "rows", "row_bytes", "checkpoint_bytes", "index_entries", "random_entries", "primary_row_bytes",
    "primary_rows", "disk_row_bytes", "disk_page_bytes", "primary_disk_row_bytes", "primary_disk_page_bytes",
    "saved_rows", "saved_bytes",
)  # fmt: skip
"""Fields of NodeData that are sums over tables; behind them come the fullest LDM threads and each of them."""
_FULLEST = slice(len(_SUMMED), len(_SUMMED) + 3)


@kept_by_identity(size=96)
def held_by_nodes(tables: tuple[Table, ...], version: NdbVersion, *held: Shares) -> tuple[NodeData, ...]:
    """What every data node holds of the tables, by node id; nodes without a partition are left out.

    `held`: shares of each table, followed by those of its unique indexes.
    """
    import numpy as np

    stored = [
        (table, at - 1 if at else None, cost)
        for table in tables
        for at, cost in enumerate(stored_costs(table, version))
    ]
    # Nodes that have the same share of a table hold the same of it, whatever they hold of others.
    different = [{id(share): share for share in by_node.values()} for by_node in held]
    ldms = 1 + max((ldm for shares in different for s in shares.values() for ldm, _ in s.by_ldm), default=0)
    places: list[dict[int, int]] = []
    parts: list[TablePart] = []
    amounts: list[list[float]] = []
    for (table, unique_index, cost), shares in zip(stored, different, strict=True):
        places.append({one: len(parts) + at for at, one in enumerate(shares)})
        for share in shares.values():
            parts.append(_part(table, unique_index, cost, share))
            amounts.append(_amounts(parts[-1], cost, share, ldms))
    summands = np.array(amounts)
    by_node: dict[int, NodeData] = {}
    for own, node_ids in alike(held):
        chosen = [of[id(share)] for of, share in zip(places, own, strict=True) if share is not None]
        totals = summands[chosen].sum(axis=0).tolist()
        first = _node_data(node_ids[0], tuple([parts[i] for i in chosen]), totals)
        by_node[first.node_id] = first
        by_node.update({i: replace(first, node_id=i, first=first) for i in node_ids[1:]})
    return tuple(by_node[node_id] for node_id in sorted(by_node))


def _part(table: Table, unique_index: int | None, cost: RowCost, share: NodeShare) -> TablePart:
    rows = share.replicas * table.rows
    return TablePart(
        table,
        share.replicas,
        rows if unique_index is None else rows * cost.rows,
        rows * cost.row_bytes,
        rows * cost.checkpoint_bytes,
        rows * cost.ordered_indexes,
        unique_index,
        share.by_ldm,
        share.in_turn,
    )


def _amounts(part: TablePart, cost: RowCost, share: NodeShare, ldms: int) -> list[float]:
    """What a share of a table adds to what a node holds: `_SUMMED`, the fullest LDM threads, each thread."""
    rows, primaries = share.replicas * part.table.rows, share.saved * part.table.rows
    added = [
        rows * cost.rows, part.row_bytes, part.checkpoint_bytes, part.index_entries,
        rows * cost.random_indexes, primaries * cost.row_bytes, primaries * cost.rows,
        rows * cost.disk_row_bytes, rows * cost.disk_page_bytes,
        primaries * cost.disk_row_bytes, primaries * cost.disk_page_bytes,
        primaries * cost.saved_rows, primaries * cost.saved_bytes,
        *(fraction * part.table.rows * cost.rows for fraction in share.fullest_ldm),
    ]  # fmt: skip
    by_ldm = [[0.0] * len(_LDM_FIELDS) for _ in range(ldms)]
    entries = cost.ordered_indexes, cost.random_indexes
    each = cost.rows, cost.row_bytes, *entries, cost.disk_row_bytes
    for ldm, fraction in share.by_ldm:
        of_table = fraction * part.table.rows
        by_ldm[ldm][: len(each)] = [of_table * value for value in each]
    for ldm, fraction in share.saved_by_ldm:
        of_table = fraction * part.table.rows
        by_ldm[ldm][len(each) :] = [of_table * cost.saved_rows, of_table * cost.saved_bytes]
    return [*added, *(value for values in by_ldm for value in values)]


def _node_data(node_id: int, parts: tuple[TablePart, ...], totals: list[float]) -> NodeData:
    value, low, high = totals[_FULLEST]
    wide = len(_LDM_FIELDS)
    by_ldm = [totals[at : at + wide] for at in range(_FULLEST.stop, len(totals), wide)]
    return NodeData(
        node_id=node_id,
        tables=parts,
        first=None,
        **dict(zip(_SUMMED, totals, strict=False)),
        by_ldm=tuple((ldm, LdmData(*values)) for ldm, values in enumerate(by_ldm) if any(values)),
        fullest_low=low / value if value else 1.0,
        fullest_high=high / value if value else 1.0,
    )
