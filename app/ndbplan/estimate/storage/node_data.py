"""What each data node holds: rows, bytes in memory, on disk, in a checkpoint, index entries, by LDM thread.

    held_by_nodes(tables, version, *shares)[0].checkpoint_bytes
    held_by_nodes(tables, version, *shares)[0].fullest_ldm.rows

Hidden tables count too: parts of blobs lie with their rows, entries of unique indexes by their own key.

Sources: those of `row_cost` and `shares`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ndbplan.base.kept import kept_by_identity
from ndbplan.estimate.storage.row_cost import stored_costs
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

    @property
    def name(self) -> str:
        """What it is of."""
        return stored_name(self.table, self.unique_index)


@dataclass(frozen=True, slots=True)
class LdmData:
    """What one LDM thread of a node holds, or the most that any of them holds (`NodeData.fullest_ldm`)."""

    rows: float = 0.0
    row_bytes: float = 0.0
    index_entries: float = 0.0
    random_entries: float = 0.0
    disk_row_bytes: float = 0.0
    primary_bytes: float = 0.0
    """Bytes of rows whose primary replica is here, columns on disk included."""
    primary_rows: float = 0.0


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
        ldms = [data for _, data in self.by_ldm]
        return LdmData(*(max((getattr(d, name) for d in ldms), default=0.0) for name in _LDM_FIELDS))


class _Sums:
    """Adds up what one node holds."""

    def __init__(self) -> None:
        self.parts: list[TablePart] = []
        self.rows = self.primary_row_bytes = self.primary_rows = self.at_random = 0.0
        self.disk = self.pages = self.primary_disk = self.primary_pages = 0.0
        self.ldms: dict[int, list[float]] = {}
        self.fullest = [0.0, 0.0, 0.0]

    def spread(self, at: int) -> float:
        """Low (1) or high (2) of the fullest LDM threads of all tables, against their middle."""
        return self.fullest[at] / self.fullest[0] if self.fullest[0] else 1.0


@kept_by_identity(size=32)
def held_by_nodes(tables: tuple[Table, ...], version: NdbVersion, *held: Shares) -> tuple[NodeData, ...]:
    """What every data node holds of the tables, by node id; nodes without a partition are left out.

    `held`: shares of each table, followed by those of its unique indexes.
    """
    by_node: dict[int, NodeData] = {}
    for own, node_ids in alike(held):
        first = _of_shares(tables, version, own, node_ids[0])
        by_node[first.node_id] = first
        by_node.update({i: replace(first, node_id=i, first=first) for i in node_ids[1:]})
    return tuple(by_node[node_id] for node_id in sorted(by_node))


def _of_shares(
    tables: tuple[Table, ...], version: NdbVersion, own: tuple[NodeShare | None, ...], node_id: int
) -> NodeData:
    """What a node with these shares of the tables and their unique indexes holds."""
    sums = _Sums()
    stored = [
        (table, at - 1 if at else None, cost)
        for table in tables
        for at, cost in enumerate(stored_costs(table, version))
    ]
    for (table, unique_index, cost), share in zip(stored, own, strict=True):
        if share is None:
            continue
        rows = share.replicas * table.rows
        primaries = share.saved * table.rows
        sums.parts.append(
            TablePart(
                table,
                share.replicas,
                rows if unique_index is None else rows * cost.rows,
                rows * cost.row_bytes,
                rows * cost.checkpoint_bytes,
                rows * cost.ordered_indexes,
                unique_index,
            )
        )
        for i, fraction in enumerate(share.fullest_ldm):
            sums.fullest[i] += fraction * table.rows * cost.rows
        sums.rows += rows * cost.rows
        sums.at_random += rows * cost.random_indexes
        sums.primary_row_bytes += primaries * cost.row_bytes
        sums.primary_rows += primaries * cost.rows
        sums.disk += rows * cost.disk_row_bytes
        sums.pages += rows * cost.disk_page_bytes
        sums.primary_disk += primaries * cost.disk_row_bytes
        sums.primary_pages += primaries * cost.disk_page_bytes
        entries = float(cost.ordered_indexes), float(cost.random_indexes)
        amounts = enumerate((cost.rows, cost.row_bytes, *entries, cost.disk_row_bytes))
        each = [(i, value) for i, value in amounts if value]
        for ldm, fraction in share.by_ldm:
            sums_of_ldm = sums.ldms.setdefault(ldm, [0.0] * len(_LDM_FIELDS))
            of_table = fraction * table.rows
            for i, value in each:
                sums_of_ldm[i] += of_table * value
        for ldm, fraction in share.saved_by_ldm:
            sums_of_ldm = sums.ldms.setdefault(ldm, [0.0] * len(_LDM_FIELDS))
            sums_of_ldm[5] += fraction * table.rows * cost.moved_bytes
            sums_of_ldm[6] += fraction * table.rows * cost.rows
    return NodeData(
        node_id=node_id,
        rows=sums.rows,
        row_bytes=sum(p.row_bytes for p in sums.parts),
        checkpoint_bytes=sum(p.checkpoint_bytes for p in sums.parts),
        index_entries=sum(p.index_entries for p in sums.parts),
        random_entries=sums.at_random,
        primary_row_bytes=sums.primary_row_bytes,
        primary_rows=sums.primary_rows,
        tables=tuple(sums.parts),
        disk_row_bytes=sums.disk,
        disk_page_bytes=sums.pages,
        primary_disk_row_bytes=sums.primary_disk,
        primary_disk_page_bytes=sums.primary_pages,
        by_ldm=tuple((ldm, LdmData(*values)) for ldm, values in sorted(sums.ldms.items()) if any(values)),
        fullest_low=sums.spread(1),
        fullest_high=sums.spread(2),
    )
