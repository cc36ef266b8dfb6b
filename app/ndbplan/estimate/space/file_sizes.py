"""How large the files of a data node are, by role, wherever they lie: log, checkpoints, files, backups.

Source: engine model 3.2, 4.2, 4.3 and 5.1, and resources/ndb/file_space.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term, total
from ndbplan.base.units import how_many
from ndbplan.configuration.settings import NodeSettings, is_diskless, redo_log_parts, usable_data_memory
from ndbplan.estimate.constants import Constants, quantity_of
from ndbplan.estimate.load.checkpoint_speed import is_partial
from ndbplan.estimate.load.node_settings import KEPT_NODES, NODE_SETTINGS
from ndbplan.estimate.load.redo import log_bytes_per_part
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.ndb.features import Features
from ndbplan.ndb.file_space import full_checkpoint_copies, specified_files
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace

_NOTHING = Quantity.exact(0.0, "bytes")


def in_bytes(parts: Iterable[tuple[str, Quantity]]) -> Quantity:
    """Their sum."""
    return total(parts, "bytes")


FILE_SETTINGS = NODE_SETTINGS | {
    "DataMemory",
    "Discless",
    "InitFragmentLogFiles",
    "InitialLogfileGroup",
    "InitialTablespace",
    "MinFreePct",
    "NoOfFragmentLogParts",
}
"""Parameters that decide how large the files of a data node are."""


def redo_space(settings: NodeSettings, constants: Constants) -> Quantity:
    """Redo log of a node: parts x files x size. The low end is that of sparse files at first."""
    parts, each = redo_log_parts(settings), log_bytes_per_part(settings)
    size = float(parts * each)
    terms = [
        Term("log parts", parts, "", "NoOfFragmentLogParts; 4 before it existed"),
        Term("log of one part", each, "bytes", "NoOfFragmentLogFiles × FragmentLogFileSize"),
    ]
    in_full = str(_text(settings, "InitFragmentLogFiles") or "sparse").lower() == "full"
    if in_full or not settings.features.redo_files_sparse:
        return Quantity.exact(size, "bytes", terms)
    sparse = constants["sparse_redo_share"]
    return Quantity.spanning(size, (size * sparse.low,), "bytes", (*terms, *sparse.why))


def _text(settings: NodeSettings, name: str) -> int | str | None:
    try:
        return settings.value(name)
    except KeyError:
        return None


def _checkpoint_space(
    settings: NodeSettings, constants: Constants, row_bytes: Quantity, largest: float
) -> Quantity:
    """Local checkpoints on disk when one full checkpoint of the node's rows has `row_bytes`.

    `largest` is the part of the largest table, whose fragments have an old and a new file at the same time
    where otherwise a single one is kept.
    """
    rows = row_bytes.named("rows in memory, as a checkpoint writes them")
    if is_partial(settings):
        work = Quantity.stated("RecoveryWork", max(1, settings.number("RecoveryWork")) / 100, "fraction")
        most = (1 + work) * constants["partial_checkpoint_factor"]
        # Just after a full checkpoint there is nothing beside it.
        size = rows * Quantity.spanning(most.value, (1.0, most.high), "factor", most.why)
    else:
        copies = quantity_of(full_checkpoint_copies(settings.version))
        size = (rows * copies).in_unit("bytes")
        if copies.value < 2 and largest:
            beside = Quantity.stated(
                "largest table, old and new file at once", largest, "bytes", "distribution"
            )
            both = size + beside
            size = Quantity.spanning(both.value, (size.low, size.high), "bytes", both.why)
    if settings.number("CompressedLCP"):
        size = size * constants["lcp_compressed_factor"]
    return size


def _rows_now(data: NodeData) -> Quantity:
    return Quantity.exact(data.checkpoint_bytes, "bytes", (Term("rows", data.rows, "rows", "distribution"),))


def _rows_of_full_memory(
    known: Features, constants: Constants, data: NodeData | None, data_memory: int
) -> Quantity:
    """Bytes of a full checkpoint when DataMemory is full of rows like those of today.

    Without rows all of DataMemory counts: what share of it indexes will take is not known.
    """
    now = data.checkpoint_bytes if data is not None else 0.0
    share = 1.0
    if data is not None and data.tables and not any(part.table.logging for part in data.tables):
        share = 0.0
    elif data is not None and data.row_bytes:
        entry = constants["ordered_index_node_bytes"].value
        entry /= constants["ordered_index_entries_in_order"].value
        held = data.row_bytes + entry * data.index_entries
        if known.index_memory_joined:
            held += constants["hash_index_row_bytes"].value * data.rows
        share = min(1.0, data.checkpoint_bytes / held)
    memory = Quantity.stated("DataMemory without MinFreePct", data_memory, "bytes")
    name = "share of it that a checkpoint writes"
    written = Quantity.stated(name, share, "fraction", "rows of today, without indexes")
    full = memory * written * constants["checkpointed_share_range"]
    return full.within(most=data_memory).within(least=now)


def _backup_space(kept: int, written: Quantity | None, log: Quantity | None) -> Quantity:
    if written is None or log is None or not kept:
        return _NOTHING
    one = total((("data", written), ("log of changes meanwhile", log)), "bytes")
    times = Term("backups kept", kept, "", "plan")
    return one.scaled(kept, why=(one.as_term("one backup"), times))


def _stated_files(
    role: DiskRole, name: str, files: Iterable[SpaceFile], directory: str | None
) -> Iterator[SizedFiles]:
    """Files that the plan lists, those in one folder together."""
    sizes: dict[str | None, int] = {}
    for file in files:
        folder = file.directory or directory
        sizes[folder] = sizes.get(folder, 0) + file.size_bytes * file.count
    for folder, size in sizes.items():
        why = (Term(name.partition(" of ")[0], size, "bytes", "plan"),)
        yield SizedFiles(role, name, Quantity.exact(float(size), "bytes", why), folder)


def _specified(settings: NodeSettings, parameter: str, known: set[str]) -> Quantity:
    """Files that a parameter creates at the first start, when the plan does not list them itself."""
    text = str(_text(settings, parameter) or "") if settings.states(parameter) else ""
    name, size = specified_files(text)
    if not size or name in known:
        return _NOTHING
    return Quantity.exact(float(size), "bytes", (Term(f"files of {parameter}", size, "bytes", "plan"),))


class SizedFiles(NamedTuple):
    """Files of one role, wherever they lie."""

    role: DiskRole
    files: str
    bytes: Quantity
    directory: str | None = None
    """Where the plan puts them, whatever the disk of the role."""


class FileSizes(NamedTuple):
    """Files of a data node, by size alone."""

    files: tuple[SizedFiles, ...]
    filled: tuple[tuple[DiskRole, Quantity], ...]
    """Checkpoints and backups when DataMemory is full; none of a diskless node."""


@kept_by_identity(size=KEPT_NODES)
def file_sizes(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData | None,
    written: Quantity | None,
    log: Quantity | None,
    groups: tuple[LogfileGroup, ...],
    spaces: tuple[Tablespace, ...],
    kept: int,
    replicas: int,
) -> FileSizes:
    """Sizes for all nodes with the same settings and data.

    `written`, `log`: of one backup; `kept`: backups that are.
    """
    if is_diskless(settings):
        return FileSizes((), ())
    stored = [SizedFiles(DiskRole.REDO, "redo log", redo_space(settings, constants))]
    if data is not None:
        largest = max((part.checkpoint_bytes for part in data.tables), default=0.0)
        size = _checkpoint_space(settings, constants, _rows_now(data), largest)
        stored.append(SizedFiles(DiskRole.LCP, "checkpoints", size))
    for group in groups:
        stored += _stated_files(DiskRole.UNDO, f"undo files of {group.name}", group.undo_files, None)
    known = {group.name for group in groups}
    stored.append(SizedFiles(DiskRole.UNDO, "undo files", _specified(settings, "InitialLogfileGroup", known)))
    for space in spaces:
        name = f"data files of {space.name}"
        stored += _stated_files(DiskRole.DATA_FILES, name, space.data_files, space.directory)
    known = {space.name for space in spaces}
    stored.append(
        SizedFiles(DiskRole.DATA_FILES, "data files", _specified(settings, "InitialTablespace", known))
    )
    stored.append(SizedFiles(DiskRole.BACKUP, _backups(kept), _backup_space(kept, written, log)))
    files = tuple(one for one in stored if one.bytes.high)
    return FileSizes(files, _filled(settings, constants, data, files, kept, replicas))


def _backups(kept: int) -> str:
    return how_many(kept, "backup")


def _filled(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData | None,
    files: tuple[SizedFiles, ...],
    kept: int,
    replicas: int,
) -> tuple[tuple[DiskRole, Quantity], ...]:
    """Checkpoints and backups of a node whose DataMemory is full; no less than what they are now.

    Of rows to come no more columns on disk are saved than its data files have room for.
    """
    now = {
        role: in_bytes((one.files, one.bytes) for one in files if one.role is role) for role in GROW_WITH_ROWS
    }
    limit = int(settings.number("DataMemory") * usable_data_memory(settings))
    rows = _rows_of_full_memory(settings.features, constants, data, limit)
    held = data.checkpoint_bytes if data is not None else 0.0
    largest = max((part.checkpoint_bytes for part in data.tables), default=0.0) if data is not None else 0.0
    largest = largest * rows.value / held if held else rows.value
    lcp = _checkpoint_space(settings, constants, rows, largest)
    more = (rows - held).within(least=0.0)
    packed = constants["lcp_compressed_factor"].value if settings.number("CompressedBackup") else 1.0
    if data is None or not data.row_bytes:
        saved_more = more * (kept * packed / replicas)
    else:
        on_disk = data.primary_disk_row_bytes
        in_memory = max(0.0, data.saved_bytes - on_disk)
        saved_more = more * (kept * packed * in_memory / data.row_bytes)
        saved_more += (more * (on_disk / data.row_bytes)).within(most=_room_on_disk(data, files)) * (
            kept * packed
        )
    saved = total((("rows of today", now[DiskRole.BACKUP]), ("rows to come", saved_more)), "bytes")
    return ((DiskRole.LCP, lcp), (DiskRole.BACKUP, saved))


def _room_on_disk(data: NodeData, files: tuple[SizedFiles, ...]) -> float:
    """Bytes of primary rows for which a node's data files have room beside those of today."""
    size = sum(one.bytes.high for one in files if one.role is DiskRole.DATA_FILES)
    left = size / data.disk_page_bytes - 1.0 if data.disk_page_bytes else 0.0
    return max(0.0, left) * data.primary_disk_row_bytes


GROW_WITH_ROWS = (DiskRole.LCP, DiskRole.BACKUP)
"""Roles whose files grow with the rows; the others are as large as they are made."""
