"""Disk data: space in tablespaces and undo log, page cache, and what tables on disk ask of the devices.

    disk_data(machines, tables, held, files, loads).nodes[0].hit_ratio

Rows on disk take their full declared width (NDB 7.4.10, Dbtup::computeTableMetaData; article disk-data).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.demand import TableLoad
from ndbplan.estimate.load.node_settings import KEPT_NODES
from ndbplan.estimate.storage.machines import Machines
from ndbplan.estimate.storage.rows import RowLayout, blob_parts, row_layout
from ndbplan.estimate.storage.shares import Shares
from ndbplan.ndb.features import features
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace


@dataclass(frozen=True, slots=True)
class TablespaceUse(Shape):
    """Space of one tablespace on the data node that needs most of it."""

    JSON = "tablespace used_bytes capacity_bytes fill"

    tablespace: str
    used_bytes: Quantity
    capacity_bytes: int
    fill: Quantity
    pages_bytes: float
    """Pages of rows alone, without what their extents hold unused."""


@dataclass(frozen=True, slots=True)
class NodeDiskData(Shape):
    """Disk data traffic of one data node."""

    JSON = (
        "node_id pages_bytes hit_ratio random_reads_per_s page_write_bytes_per_s random_writes_per_s "
        "undo_bytes_per_s"
    )
    SHARES = ("hit_ratio",)

    node_id: int
    pages_bytes: Quantity
    """Pages of all replicas on the node."""
    hit_ratio: Quantity
    """Share of page accesses that DiskPageBufferMemory answers, accesses spread evenly."""
    random_reads_per_s: Quantity
    page_write_bytes_per_s: Quantity
    """Pages written in order, of inserts."""
    random_writes_per_s: Quantity
    """Pages written at random places, of updates and deletes."""
    undo_bytes_per_s: Quantity
    accesses_per_s: float
    """Rows and pages on disk asked for at random places, whether the cache has their pages or not."""
    touched_bytes: float
    """Pages that are asked for: of primary replicas only where others are not read."""
    grown_bytes_per_s: float
    """By how much these grow with the rows."""
    cached_bytes: float
    """Of these pages what the cache holds, those that are hot counted as often as they are asked for."""


@dataclass(frozen=True, slots=True)
class DiskDataEstimate(Shape):
    """Disk data of the cluster; empty when no table has columns on disk."""

    JSON = "tablespaces undo_capacity_bytes nodes"

    tablespaces: tuple[TablespaceUse, ...]
    undo_capacity_bytes: int
    nodes: tuple[NodeDiskData, ...]

    def node(self, node_id: int) -> NodeDiskData | None:
        """The node's figures; None when it holds no disk data."""
        return next((node for node in self.nodes if node.node_id == node_id), None)


@dataclass(frozen=True, slots=True)
class UndoUse:
    """What a load keeps in the undo log of one data node."""

    node_id: int
    bytes_per_s: Quantity
    needed_bytes: Quantity
    """Undo log that no checkpoint has made superfluous, with the part that must stay free."""
    capacity_bytes: int

    @property
    def fill(self) -> float:
        """What is needed as a share of all undo files; without any: infinite."""
        return self.needed_bytes.value / self.capacity_bytes if self.capacity_bytes else float("inf")


def undo_use(
    constants: Constants, node: NodeDiskData, checkpoint_s: Quantity, waits_s: float, capacity_bytes: int
) -> UndoUse:
    """Undo log of a node whose local checkpoints last and wait so long under its load.

    A checkpoint that ends frees what was written before its start: just before, the log reaches back over two
    checkpoints and the pause between them (NDB 7.4.10, Lgman::cut_log_tail). Writes are refused with error
    1501 as soon as less than `undo_reserve` is free.
    """
    span = 2 * checkpoint_s.named("duration of a checkpoint") + constants["lcp_pause_s"]
    if waits_s > 0:
        span += Quantity.stated("until enough is written for the next", waits_s, "s", "formula")
    kept = node.undo_bytes_per_s.named("undo log of the load") * span
    needed = kept.in_unit("bytes") / (1 - constants["undo_reserve"].value)
    return UndoUse(node.node_id, node.undo_bytes_per_s, needed, capacity_bytes)


@dataclass(frozen=True, slots=True)
class _DiskRow:
    """Disk rows that one row of a table has: its own disk part, parts of blobs on disk."""

    count: float
    layout: RowLayout
    blob: str = ""
    """The column of the blob that these are parts of; nothing: the row's own disk part."""

    @property
    def page_bytes(self) -> float:
        """Share of pages, in bytes, that these rows take."""
        return self.count * PAGE_BYTES / self.layout.rows_per_disk_page


@kept_by_identity(size=4096)
def disk_rows(table: Table, version: NdbVersion) -> tuple[_DiskRow, ...]:
    """Disk rows of each row of the table; empty for a table in memory."""
    rows = []
    layout = row_layout(table, version)
    if layout.disk_words:
        rows.append(_DiskRow(1.0, layout))
    for part in blob_parts(table, version):
        if part.layout.disk_words and part.parts_per_row:
            rows.append(_DiskRow(part.parts_per_row, part.layout, part.column))
    return tuple(rows)


def reads_backup(table: Table, version: NdbVersion) -> bool:
    """Whether committed reads use any replica; always so when fully replicated (ha_ndbcluster::create)."""
    if table.fully_replicated:
        return True
    if table.read_backup is None:
        return features(version).read_backup_by_default
    return table.read_backup


Stored = tuple[tuple[Table, Shares], ...]
"""Tables with what each data node holds of their rows."""


def tablespace_use_by_node(
    space: Tablespace, stored: Stored, version: NdbVersion, *, in_extents: bool = True
) -> dict[int, float]:
    """Bytes of extents, or of pages alone, that tables take of a tablespace on each data node, by node id."""
    by_node: dict[int, float] = {}
    for table, shares in stored:
        rows = disk_rows(table, version)
        if table.tablespace_id != space.id or not rows:
            continue
        each = sum(row.page_bytes for row in rows)
        for node_id, share in shares.items():
            pages = share.replicas * table.rows * each
            # An extent belongs to one fragment: each replica wastes half of one on average.
            fragments = max(1, len(share.by_ldm)) * len(rows)
            least = fragments * space.extent_size_bytes
            taken = max(pages + least / 2, float(least)) if in_extents else pages
            by_node[node_id] = by_node.get(node_id, 0.0) + taken
    return by_node


def tablespace_capacity_bytes(space: Tablespace) -> int:
    """Size of all data files of a tablespace; each data node has them all."""
    return sum(f.size_bytes * f.count for f in space.data_files)


def _space(machines: Machines, space: Tablespace, stored: Stored) -> TablespaceUse | None:
    capacity, version = tablespace_capacity_bytes(space), machines.version
    by_node = tablespace_use_by_node(space, stored, version)
    if not by_node:
        return None
    terms = tuple(
        Term(
            f"a row of {table.full_name}",
            sum(row.page_bytes for row in disk_rows(table, version)),
            "bytes",
            "full declared width",
        )
        for table, _ in stored
        if table.tablespace_id == space.id and disk_rows(table, version)
    )
    used = max(by_node.values())
    pages = max(tablespace_use_by_node(space, stored, version, in_extents=False).values())
    quantity = Quantity.exact(used, "bytes", terms) * machines.constants["tablespace_fill"]
    fill = quantity.scaled(
        1 / capacity, "fraction", (quantity.as_term("used"), Term("files", capacity, "bytes", "plan"))
    )
    return TablespaceUse(space.name, quantity, capacity, fill, pages)


@dataclass(slots=True)
class _Sums:
    """Bytes, and operations or bytes per second, of one node."""

    pages: float = 0.0
    touched: float = 0.0
    reads: float = 0.0
    updates: float = 0.0
    page_writes: float = 0.0
    undo: float = 0.0
    grown: float = 0.0

    def parts(self) -> tuple[float, ...]:
        """The sums in their order."""
        return (
            self.pages, self.touched, self.reads, self.updates, self.page_writes, self.undo, self.grown
        )  # fmt: skip


def _changes_per_s(row: _DiskRow, load: TableLoad) -> float:
    """Updates and deletes of these disk rows."""
    updates = dict(load.blob_updates_per_s).get(row.blob, 0.0) if row.blob else load.disk_updates_per_s
    return row.count * (updates + load.deletes_per_s)


def _undo_of(constants: Constants, row: _DiskRow, load: TableLoad) -> float:
    inserts = row.count * load.inserts_per_s * constants["undo_insert_bytes"].value
    change = constants["undo_change_bytes"].value + row.layout.disk_bytes
    return inserts + _changes_per_s(row, load) * change


@kept_by_identity(size=48)
def _gather(
    version: NdbVersion, constants: Constants, loads: tuple[TableLoad, ...], stored: Stored
) -> dict[int, _Sums]:
    """Sums of every node, by node id."""
    by_table = {load.table.id: load for load in loads}
    by_node: dict[int, _Sums] = {}
    for table, shares in stored:
        rows = disk_rows(table, version)
        each = sum(row.page_bytes for row in rows)
        load = by_table.get(table.id)
        backup = reads_backup(table, version)
        undo = sum(_undo_of(constants, row, load) for row in rows) if load else 0.0
        for node_id, share in shares.items():
            sums = by_node.setdefault(node_id, _Sums())
            sums.pages += share.replicas * table.rows * each
            # Reads of the primary only keep other replicas' pages out of the cache.
            sums.touched += (share.replicas if backup else share.primaries) * table.rows * each
            if load is None:
                continue
            # Room of deleted rows is used again by rows that are inserted.
            kept = max(0.0, load.inserts_per_s - load.deletes_per_s)
            sums.grown += (share.replicas if backup else share.primaries) * kept * each
            sums.reads += share.reads * load.disk_reads_per_s
            sums.updates += share.replicas * sum(_changes_per_s(row, load) for row in rows)
            sums.page_writes += share.replicas * load.inserts_per_s * each
            sums.undo += share.replicas * undo
    return by_node


@kept_by_identity(size=KEPT_NODES)
def _of(of_alike: NodeDiskData, node_id: int) -> NodeDiskData:
    return replace(of_alike, node_id=node_id)


@kept_by_identity(size=KEPT_NODES)
def _figures(cache: int, constants: Constants, *sums_of_node: float) -> NodeDiskData:
    """Of the nodes with these sums; `cache`: their DiskPageBufferMemory."""
    sums = _Sums(*sums_of_node)
    hot = constants["disk_page_buffer_hot"]
    touched = max(sums.touched, 1.0)
    buffer = Quantity.stated("DiskPageBufferMemory", cache, "bytes")
    asked_for = Quantity.stated("pages that are touched", sums.touched, "bytes", "formula")
    hit = (hot * cache / touched).within(most=1.0).because(*buffer.why, *asked_for.why, *hot.why)
    accesses = sums.reads + sums.updates
    missed = 1 - hit.named("cache hits")
    asked = Quantity.stated("accesses of rows on disk", accesses, "per s", "workload")
    reads = (asked * missed).in_unit("reads/s")
    held = Quantity.stated("rows x page share", sums.pages, "bytes", "formula")
    inserted = Quantity.stated("inserted pages", sums.page_writes, "bytes/s", "formula")
    changed = Quantity.stated("changed rows", sums.updates, "per s", "workload")
    entries = Term("12 B for an insert, 16 B and the row for a change", sums.undo, "bytes/s", "source: lgman")
    undo = Quantity.exact(sums.undo, "bytes/s", (entries,))
    return NodeDiskData(
        0,
        held * constants["disk_pages_held"],
        hit,
        reads,
        inserted * constants["disk_pages_inserted"],
        (changed * constants["disk_page_writes_per_change"]).in_unit("writes/s"),
        undo,
        accesses_per_s=accesses,
        touched_bytes=sums.touched,
        grown_bytes_per_s=sums.grown,
        cached_bytes=hot.value * cache,
    )


_Caches = tuple[tuple[int, int], ...]
"""(node id, DiskPageBufferMemory) of each data node."""


@kept_by_value(48)
def _caches(*of_nodes: tuple[int, int]) -> _Caches:
    """The same object for all that are equal, so that results can be kept by identity."""
    return of_nodes


@kept_by_identity(size=48)
def _nodes(constants: Constants, caches: _Caches, sums: Mapping[int, _Sums]) -> tuple[NodeDiskData, ...]:
    """`sums`: by node id, of those with rows on disk."""
    alike: dict[tuple[float, ...], NodeDiskData] = {}
    nodes = []
    for node_id, cache in caches:
        if node_id in sums:
            key = cache, *sums[node_id].parts()
            one = alike.get(key)
            if one is None:
                one = alike[key] = _figures(cache, constants, *key[1:])
            nodes.append(_of(one, node_id))
    return tuple(nodes)


@kept_by_identity(size=48)
def disk_data(
    machines: Machines,
    stored: Stored,
    spaces: tuple[Tablespace, ...],
    groups: tuple[LogfileGroup, ...],
    loads: tuple[TableLoad, ...],
) -> DiskDataEstimate:
    """Space and traffic of tables with columns on disk. `stored`: those tables; `loads`: on whole tables."""
    undo = sum(f.size_bytes * f.count for group in groups for f in group.undo_files)
    sums = _gather(machines.version, machines.constants, loads, stored)
    caches = _caches(*((i, one.settings.number("DiskPageBufferMemory")) for i, one in machines.by_id.items()))
    nodes = _nodes(machines.constants, caches, sums)
    uses = (_space(machines, space, stored) for space in spaces)
    return DiskDataEstimate(tuple(use for use in uses if use is not None), undo, nodes)
