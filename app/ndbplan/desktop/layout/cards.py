"""Cards: what one host shows — its processes as chips, its disks as tiles — measured, in host coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ndbplan.base.units import format_bytes, format_bytes_binary, format_bytes_per_s, how_many
from ndbplan.configuration.directories import disks_of_node
from ndbplan.configuration.space_files import NO_FOLDERS, NamedFolders, roles_by_folders
from ndbplan.desktop.look.rect import Rect
from ndbplan.desktop.look.text import text_width
from ndbplan.edits.palette import ROLE_TEXT
from ndbplan.plan.fields import NO_PARAMETERS, Parameters
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, DiskRole, Process

HOST_WIDTH = 440.0
PAD = 12.0
HEADER = 50.0
CHIP_HEIGHT = 26.0
TILE_HEIGHT = 46.0
GAP = 8.0
_TILE_TEXT_LEFT = 44.0
WIDE_TILE = 160.0
"""From this width a tile has room for how full its disk is beside the roles."""
FULL_WIDTH = 64.0
"""Room of `100 % full` in a tile."""
_API_CHIPS = 2
"""More API slots than this on one host share a chip."""
_ALWAYS_WRITTEN = (DiskRole.REDO, DiskRole.LCP, DiskRole.BACKUP)


class Chip(NamedTuple):
    """One process, or several API slots that share a chip."""

    ids: tuple[str, ...]
    kind: str
    text: str
    number: str
    """What is left of the text when there is room for little: the node id."""
    group: int | None
    """Number of its node group; None: not a data node, or reserved."""
    rect: Rect


class Tile(NamedTuple):
    """One disk."""

    disk: Disk
    roles: str
    all_roles: str
    rect: Rect


class Card(NamedTuple):
    """A host with everything inside it."""

    host: Host
    subtitle: str
    chips: tuple[Chip, ...]
    tiles: tuple[Tile, ...]
    height: float


def make_card(
    host: Host,
    processes: Sequence[Process],
    groups: Mapping[str, int],
    paths: Parameters = NO_PARAMETERS,
    *,
    disk_data: bool,
    folders: NamedFolders = NO_FOLDERS,
    data_program: str = "ndbmtd",
) -> Card:
    """The card of a host.

    `groups`: node group by id of data node; `paths`: the plan's `path_parameters`; `disk_data`: it has
    tablespaces; `folders`: those that it names for their files; `data_program`: ndbmtd, or ndbd in versions
    that have no other.
    """
    chips, y = _chips(processes, groups, data_program)
    nodes = [p for p in processes if isinstance(p, DataNode)]
    tiles, y = _tiles(host, roles_by_disk(host, nodes, paths, folders, disk_data=disk_data), bool(nodes), y)
    memory = format_bytes_binary(host.memory_bytes)
    cores = how_many(host.cores, "core")
    return Card(host, f"{cores} · {memory} · {_network(host)}", chips, tiles, max(y + PAD - GAP, 96.0))


def _network(host: Host) -> str:
    """`10 GbE` for what a link of a usual class carries, else the rate itself."""
    gigabits = host.network_bytes_per_s * 8 / 1e9
    usual = next((g for g in (1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400) if 0.85 * g <= gigabits <= g), None)
    return f"{usual:g} GbE" if usual else format_bytes_per_s(host.network_bytes_per_s)


def _chips(
    processes: Sequence[Process], groups: Mapping[str, int], data_program: str
) -> tuple[tuple[Chip, ...], float]:
    labels: list[tuple[tuple[str, ...], str, str, str, int | None]] = []
    slots = [p for p in processes if p.kind == "api"]
    order = {"data": 0, "management": 1, "sql": 2, "api": 3}
    for process in sorted(processes, key=lambda p: (order[p.kind], p.node_id)):
        if process.kind == "api" and len(slots) > _API_CHIPS:
            continue
        group = groups.get(process.id)
        text = _label(process, group, data_program)
        labels.append(((process.id,), process.kind, text, str(process.node_id), group))
    if len(slots) > _API_CHIPS:
        text = f"api × {len(slots)}"
        labels.append((tuple(p.id for p in slots), "api", text, f"× {len(slots)}", None))
    chips: list[Chip] = []
    x, y = PAD, HEADER + GAP
    for ids, kind, text, number, group in labels:
        width = round(text_width(text, 13, 600) + 22.0)
        if x > PAD and x + width > HOST_WIDTH - PAD:
            x, y = PAD, y + CHIP_HEIGHT + GAP
        chips.append(Chip(ids, kind, text, number, group, Rect(x, y, width, CHIP_HEIGHT)))
        x += width + GAP
    return tuple(chips), (y + CHIP_HEIGHT + GAP if chips else HEADER + GAP)


def _label(process: Process, group: int | None, data_program: str) -> str:
    if isinstance(process, DataNode):
        if process.node_group == NODE_GROUP_NONE:
            return f"{data_program} {process.node_id} · no group"
        name = f"{data_program} {process.node_id}"
        return name if group is None else f"{name} · NG {group}"
    name = {"management": "ndb_mgmd", "sql": "mysqld", "api": "api"}[process.kind]
    return f"{name} {process.node_id}"


def _tiles(
    host: Host, roles: Mapping[str, set[DiskRole]], has_nodes: bool, y: float
) -> tuple[tuple[Tile, ...], float]:
    if not host.disks:
        return (), y
    columns = 2 if len(host.disks) <= 2 else 3
    width = (HOST_WIDTH - 2 * PAD - (columns - 1) * GAP) / columns
    tiles: list[Tile] = []
    for i, disk in enumerate(host.disks):
        row, column = divmod(i, columns)
        rect = Rect(PAD + column * (width + GAP), y + row * (TILE_HEIGHT + GAP), width, TILE_HEIGHT)
        names = [ROLE_TEXT[r] for r in DiskRole if r in roles[disk.id]]
        room = width - _TILE_TEXT_LEFT - 6.0 - (FULL_WIDTH if width >= WIDE_TILE else 0.0)
        short = _fitting(names, room) if has_nodes else format_bytes(disk.capacity_bytes)
        tiles.append(Tile(disk, short, ", ".join(names), rect))
    rows = -(-len(host.disks) // columns)
    return tuple(tiles), y + rows * (TILE_HEIGHT + GAP)


def roles_by_disk(
    host: Host, nodes: Sequence[DataNode], paths: Parameters, folders: NamedFolders, *, disk_data: bool
) -> dict[str, set[DiskRole]]:
    """What the data nodes of a host write to each of its disks, by the plan's `path_parameters`.

    UNDO and DATA FILES count only when the plan has disk data or somebody gave them a disk.
    Files that name a folder lie on its disk, beside that of their role.
    """
    roles: dict[str, set[DiskRole]] = {disk.id: set() for disk in host.disks}
    for node in nodes:
        own = disks_of_node(node, host.disks, paths)
        for role, disk in own.items():
            stated = node.disk_roles.disk_of(role) is not None
            if disk is not None and (stated or disk_data or role in _ALWAYS_WRITTEN):
                roles[disk.id].add(role)
        for disk_id, beside in roles_by_folders(folders, host, own).items():
            roles[disk_id].update(beside)
    return roles


def _fitting(names: Sequence[str], width: float) -> str:
    if not names:
        return "no role"
    if len(names) == len(DiskRole):
        return "All roles"
    for shown in range(len(names), 0, -1):
        rest = len(names) - shown
        text = " + ".join(names[:shown]) + (f", {rest} more" if rest else "")
        if text_width(text, 11, 500) <= width:
            return text
    return f"{len(names)} roles"
