"""What fills a data node's memory and a disk: parts of parts whose sizes add up to the whole.

    found = node_contents(now, 3)
    found.whole_bytes, found.parts[0].name, found.parts[0].parts

Sizes are the values of the estimates, without their ranges. What does not fit makes the whole larger than
memory or disk are, by `missing_bytes`; then nothing is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ndbplan.base.units import format_bytes, format_bytes_binary, format_percent, how_many
from ndbplan.checks.fits import ROOM_LEFT
from ndbplan.configuration.node_groups import groups_by_number
from ndbplan.describe.titles import SPACE_OF_ROLE
from ndbplan.estimate.storage.memory import NodeMemory, data_memory_kinds
from ndbplan.estimate.storage.pages_of_tables import BLOB, FIXED, VARIABLE
from ndbplan.estimate.stored import table_sizes
from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DataNode, DiskRole

if TYPE_CHECKING:
    from ndbplan.base.quantity import Quantity
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.estimate.space.disk_space import NodeFiles

Kind = Literal[
    "memory", "rows", "indexes", "buffers", "node", "system", "free",
    "redo", "lcp", "undo", "data_files", "backup",
]  # fmt: skip
"""What a part is: decides its colour, and whether it counts as taken."""
_OF_ROLE: dict[DiskRole, Kind] = {
    DiskRole.REDO: "redo", DiskRole.LCP: "lcp", DiskRole.UNDO: "undo",
    DiskRole.DATA_FILES: "data_files", DiskRole.BACKUP: "backup",
}  # fmt: skip
_PARAMETERS_OF_TABLES = ("DataMemory", "IndexMemory")
_ROWS = (FIXED, VARIABLE, BLOB)


@dataclass(frozen=True)
class Part:
    """A part of memory or of a disk."""

    name: str
    size_bytes: float
    kind: Kind
    detail: str = ""
    """What there is to say about it beside its size."""
    object_id: str = ""
    """Id of what it stands for in the plan."""
    parts: tuple[Part, ...] = ()
    """What it consists of; their sizes add up to it."""


@dataclass(frozen=True)
class Contents:
    """All of one memory or disk."""

    title: str
    capacity_bytes: float
    parts: tuple[Part, ...]
    object_id: str
    is_memory: bool = False

    def said(self, size_bytes: float) -> str:
        """A size as people count it here: memory in GiB, a disk in GB, if neither is chosen for all."""
        return format_bytes_binary(size_bytes) if self.is_memory else format_bytes(size_bytes)

    @property
    def whole_bytes(self) -> float:
        """What all parts add up to: the capacity, or more where that is too small."""
        return sum(part.size_bytes for part in self.parts)

    @property
    def missing_bytes(self) -> float:
        """How much more than the capacity is needed; 0 when it fits."""
        return max(0.0, self.whole_bytes - self.capacity_bytes)

    @property
    def taken(self) -> float:
        """Share of the capacity that is taken."""
        free = sum(part.size_bytes for part in self.parts if part.kind in ("free", "system"))
        return (self.whole_bytes - free) / self.capacity_bytes if self.capacity_bytes else 0.0


def node_contents(now: Estimation, node_id: int) -> Contents:
    """What takes the memory of a data node's host, or of its container. KeyError for no node of the plan."""
    memory = {one.node_id: one for one in now.memory.nodes}
    own = memory[node_id]
    node = next(one for one in now.plan.data_nodes if one.node_id == node_id)
    host = now.plan.host(node.host_id)
    parts = [*_tables(now, node, own), _buffers(own)]
    whole = float(own.ram_limit_bytes)
    title = f"Data node {node_id} on {host.hostname}"
    if own.container_memory_bytes is None:
        for process in now.plan.processes_of_host[host.id]:
            if isinstance(process, DataNode) and process.node_id != node_id:
                ram = memory[process.node_id].ram_bytes.value
                parts.append(Part(f"Data node {process.node_id}", ram, "node", object_id=process.id))
        left = whole - sum(part.size_bytes for part in parts)
        system = min(max(0.0, left), ROOM_LEFT * whole)
        detail = f"its file cache and other programs: {format_percent(ROOM_LEFT)} of the memory at least"
        parts.append(Part("Operating system", system, "system", detail))
    parts.append(_free(whole, parts))
    return Contents(title, whole, _some(parts), node.id, is_memory=True)


def _tables(now: Estimation, node: DataNode, own: NodeMemory) -> Iterator[Part]:
    """DataMemory and, up to 7.5, IndexMemory with what the tables take of them."""
    joined = now.features.index_memory_joined
    in_data = data_memory_kinds(joined)
    groups = groups_by_number(now.plan).values()
    at = next((i for i, members in enumerate(groups) if node in members), None)
    ids = {table.full_name: table.id for table in now.plan.tables}
    tables, hashes = [], 0.0
    for sizes in now.kept(table_sizes, now.plan) if at is not None else ():
        of_kind = sizes.by_group[:, at].tolist()
        name = sizes.memory.table
        rows = sum(of_kind[kind] for kind in _ROWS)
        indexes = sum(size for kind, size in enumerate(of_kind) if kind not in _ROWS and in_data[kind])
        hashes += sum(size for kind, size in enumerate(of_kind) if not in_data[kind])
        inner = (
            Part(f"Rows of {name}", rows, "rows", object_id=ids[name]),
            Part(f"Indexes of {name}", indexes, "indexes", object_id=ids[name]),
        )
        tables.append(Part(name, rows + indexes, "rows", object_id=ids[name], parts=_some(inner)))
    yield _filled("DataMemory", own.data_memory_limit_bytes, tables, node.id)
    if own.index_memory_limit_bytes:
        hash_indexes = Part("Hash indexes", hashes, "indexes", "of all tables")
        yield _filled("IndexMemory", own.index_memory_limit_bytes, [hash_indexes], node.id)


def _filled(name: str, limit_bytes: int, parts: Sequence[Part], object_id: str) -> Part:
    """A memory of a fixed size with what lies in it, largest first, and what is free of it."""
    taken = sum(part.size_bytes for part in parts)
    ordered = sorted(parts, key=lambda part: -part.size_bytes)
    free = Part(f"Free {name}", max(0.0, limit_bytes - taken), "free", "allocated, and not used yet")
    detail = f"{format_percent(taken / max(1, limit_bytes))} of {format_bytes_binary(limit_bytes)} used"
    return Part(name, max(taken, float(limit_bytes)), "memory", detail, object_id, _some([*ordered, free]))


def _buffers(own: NodeMemory) -> Part:
    """Everything else that the node allocates."""
    parts = [
        Part(_capital(term.term), term.value, "buffers")
        for term in own.ram_bytes.why
        if term.unit == "bytes" and term.term not in _PARAMETERS_OF_TABLES
    ]
    tables = own.data_memory_limit_bytes + own.index_memory_limit_bytes
    rest = own.ram_bytes.value - tables - sum(part.size_bytes for part in parts)
    # IndexMemory takes pages of its own for each thread.
    if rest > 0.5:
        parts.append(Part("Pages of threads", rest, "buffers"))
    parts.sort(key=lambda part: -part.size_bytes)
    whole = sum(part.size_bytes for part in parts)
    return Part("Buffers", whole, "buffers", "logs, sending, disk pages, transactions", "", _some(parts))


def disk_contents(now: Estimation, disk_id: str) -> Contents:
    """What a disk is taken by, role by role; of a disk that no data node uses all is free. KeyError."""
    disk = now.plan.by_id[disk_id]
    assert isinstance(disk, Disk)
    space = now.disk_space.of(disk_id)
    host = now.plan.host_of_disk[disk_id]
    parts = [] if space is None else [_role(role, size, space.files) for role, size in space.by_role]
    parts = [*parts, _free(disk.capacity_bytes, parts)]
    return Contents(f"{host.hostname} / {disk.name}", float(disk.capacity_bytes), _some(parts), disk_id)


def _role(role: DiskRole, size: Quantity, files: Sequence[NodeFiles]) -> Part:
    own = [one for one in files if one.role is role and one.bytes.value]
    nodes = {one.node_id for one in own}
    kind = _OF_ROLE[role]
    if len(own) < 2:
        return Part(SPACE_OF_ROLE[role], size.value, kind, own[0].files if own else "")
    inner = tuple(
        Part(f"{_capital(one.files)} of node {one.node_id}", one.bytes.value, kind)
        for one in sorted(own, key=lambda one: -one.bytes.value)
    )
    return Part(SPACE_OF_ROLE[role], size.value, kind, f"of {how_many(len(nodes), 'data node')}", parts=inner)


def _free(whole: float, parts: Sequence[Part]) -> Part:
    return Part("Free", max(0.0, whole - sum(part.size_bytes for part in parts)), "free")


def _some(parts: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(part for part in parts if part.size_bytes > 0)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
