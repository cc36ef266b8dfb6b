"""What ndb_desc prints of disk data: log file groups, tablespaces and their files, by their names.

Source: ndb_desc of the product (desc_logfilegroup and others). Nothing grows by itself: AutoGrow is 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.train.live import LiveCluster
from ndbplan.train.space import UNDO_EXTENT_BYTES, FileUse, file_uses

_WORD_BYTES = UNDO_EXTENT_BYTES
"""The undo log is counted in them."""


def described(cluster: LiveCluster, name: str) -> list[str]:
    """Lines of the object of this name, as it is looked for: tablespace, group, data file, undo file."""
    plan, uses = cluster.plan, file_uses(cluster)
    space = next((one for one in plan.tablespaces if one.name == name), None)
    if space is not None:
        group = next(one.name for one in plan.logfile_groups if one.id == space.logfile_group_id)
        return [
            "Type: Tablespace", f"Name: {name}", "Object Version: 1",
            f"Extent Size: {space.extent_size_bytes}", f"Default Logfile Group: {group}", "",
        ]  # fmt: skip
    own = next((one for one in plan.logfile_groups if one.name == name), None)
    if own is not None:
        size = sum(one.size_bytes for one in uses if one.is_undo and one.group == name)
        return [
            "Type: LogfileGroup", f"Name: {name}", f"UndoBuffer size: {own.undo_buffer_bytes}", "Version: 1",
            f"Free Words: {max(0, size - _undo_used(cluster)) // _WORD_BYTES}",
            "AutoGrow.min_free: 0", "AutoGrow.max_size: 0", "AutoGrow.file_size: 0",
            "AutoGrow.filename_pattern: (null)", "",
        ]  # fmt: skip
    files = [one for one in uses if one.name == name]
    return [
        line for one in files for node_id in sorted(cluster.state.alive()) for line in _file(one, node_id)
    ]


def _undo_used(cluster: LiveCluster) -> int:
    return round(max(float(node.undo_used_bytes) for node in cluster.session.simulation.state.node_state))


def _file(one: FileUse, node_id: int) -> Iterator[str]:
    kind = "Undofile" if one.is_undo else "Datafile"
    yield from (f"Type: {kind}", f"Name: {one.name}", f"Node: {node_id}", f"Path: {one.name}")
    yield f"Size: {one.size_bytes}"
    if one.is_undo:
        yield f"Logfile Group: {one.group}"
    else:
        yield from (f"Free: {one.free_extents}", f"Tablespace: {one.parent}")
    yield ""
