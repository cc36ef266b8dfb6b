"""Disks of data nodes, as far as they decide which nodes are simulated as one.

Source: judgement; nodes that write to one disk are simulated apart, as they take its time from one another.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.space_files import FileShares
from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DataNode, DiskRole


class NodeDisks(NamedTuple):
    """The disks of data nodes, by process id."""

    of: Mapping[str, tuple[Mapping[DiskRole, Disk], Hashable]]
    """The disk of each role; kind and speed of the disks, and which roles share one."""
    shared: frozenset[str]
    """Nodes whose disks other nodes use too: these are simulated one by one."""
    without: DataNode | None
    """A node on a host without disks."""


@kept_by_identity(16)
def disks_of_nodes(
    nodes: tuple[DataNode, ...],
    by_role: tuple[Mapping[DiskRole, Disk | None], ...],
    files: tuple[FileShares, ...],
) -> NodeDisks:
    """The disks of these nodes; `files`: where their data files and undo files are on several."""
    of: dict[str, tuple[Mapping[DiskRole, Disk], Hashable]] = {}
    for node, disks, shares in zip(nodes, by_role, files, strict=True):
        own = {role: disk for role, disk in disks.items() if disk is not None}
        if len(own) < len(DiskRole):
            return NodeDisks({}, frozenset(), node)
        of[node.id] = own, (_disk_signature(own), _files_signature(own, shares))
    users: dict[str, list[str]] = {}
    for (node_id, (mine, _)), shares in zip(of.items(), files, strict=True):
        of_files = (disk for on in shares.values() for disk, _ in on)
        for disk_id in {disk.id for disk in (*mine.values(), *of_files)}:
            users.setdefault(disk_id, []).append(node_id)
    return NodeDisks(of, frozenset(id_ for ids in users.values() if len(ids) > 1 for id_ in ids), None)


def _disk_signature(by_role: Mapping[DiskRole, Disk]) -> Hashable:
    """Kind and speed of the node's disks, and which roles share one."""
    disks = [by_role[role] for role in DiskRole]
    ids = [disk.id for disk in disks]
    return tuple((ids.index(disk.id), disk.kind, _speeds(disk)) for disk in disks)


def _files_signature(by_role: Mapping[DiskRole, Disk], shares: FileShares) -> Hashable:
    """The same of files that lie on several disks."""
    ids = [by_role[role].id for role in DiskRole]
    ids += [disk.id for on in shares.values() for disk, _ in on if disk.id not in ids]
    return tuple(
        (role, ids.index(disk.id), share, disk.kind, _speeds(disk))
        for role, on in shares.items()
        for disk, share in on
    )


def _speeds(disk: Disk) -> Hashable:
    return (
        disk.sequential_write_bytes_per_s,
        disk.random_read_iops,
        disk.random_write_iops,
        disk.other_load,
    )
