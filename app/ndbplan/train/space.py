"""Room of disk data in a live cluster: extents of fragments, and files of tablespaces.

Each data node that holds a fragment gives it whole extents; every node has all files.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from ndbplan.configuration.space_files import named_files
from ndbplan.estimate.load.disk_data import disk_rows
from ndbplan.estimate.storage.fragments import Partition
from ndbplan.plan.tables import Table
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import partitions_of

UNDO_EXTENT_BYTES = 4
"""An undo file counts in words [7.4.10, 8.4.8]."""


class FragmentSpace(NamedTuple):
    """Extents of one replica of a fragment."""

    extents: int
    extent_bytes: int
    free_bytes: int
    """Of these extents what no row takes."""


NOTHING = FragmentSpace(0, 0, 0)


def fragment_space(cluster: LiveCluster, table: Table, part: Partition) -> FragmentSpace:
    """What a fragment has of its tablespace; nothing where the table is in memory."""
    plan = cluster.plan
    space = next((one for one in plan.tablespaces if one.id == table.tablespace_id), None)
    rows = disk_rows(table, plan.version)
    if space is None or not rows:
        return NOTHING
    extents = free = 0
    for row in rows:
        used = ceil(part.rows * row.page_bytes)
        mine = ceil(used / space.extent_size_bytes)
        extents += mine
        free += mine * space.extent_size_bytes - used
    return FragmentSpace(extents, space.extent_size_bytes, free)


class FileUse(NamedTuple):
    """A file of disk data on each data node."""

    parent: str
    """Its tablespace or log file group."""
    group: str
    """The log file group."""
    name: str
    is_undo: bool
    size_bytes: int
    extent_bytes: int
    free_extents: int | None
    """None: nobody says, of undo files."""

    @property
    def extents(self) -> int:
        """All of them."""
        return self.size_bytes // self.extent_bytes


def file_uses(cluster: LiveCluster) -> list[FileUse]:
    """Files of disk data as the node has them that holds most; the last one is filled first [7.4.10]."""
    plan, sim = cluster.plan, cluster.session.simulation
    groups = {group.id: group for group in plan.logfile_groups}
    found = [
        FileUse(group.name, group.name, name, True, size, UNDO_EXTENT_BYTES, None)
        for group in plan.logfile_groups
        for name, size in named_files(group.undo_files, None)
    ]
    for space in plan.tablespaces:
        taken: dict[int, int] = {}
        for table in (one for one in plan.tables if one.tablespace_id == space.id):
            for part in partitions_of(sim, cluster.plan_of(table), table):
                for node_id in part.nodes:
                    mine = fragment_space(cluster, table, part).extents
                    taken[node_id] = taken.get(node_id, 0) + mine
        left = max(taken.values(), default=0)
        files = list(named_files(space.data_files, space.directory))
        free: dict[str, int] = {}
        for name, size in reversed(files):
            extents = size // space.extent_size_bytes
            free[name] = max(0, extents - left)
            left -= extents - free[name]
        group = groups[space.logfile_group_id].name
        found += [
            FileUse(space.name, group, name, False, size, space.extent_size_bytes, free[name])
            for name, size in files
        ]
    return found
