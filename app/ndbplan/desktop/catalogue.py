"""What the palette offers, and the parts it makes: hosts and disks of usual classes, processes, roles."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.plan import edits
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, DiskRole, ManagementNode, Process, SqlNode

Kind = Literal["location", "host", "disk", "process", "role"]

_ASSUMED_OF_DISK = (
    "sequential_read_bytes_per_s",
    "sequential_write_bytes_per_s",
    "random_read_iops",
    "random_write_iops",
    "sync_write_latency_s",
)
_PROCESS_ID = {"management": "mgm", "data": "ndb", "sql": "sql", "api": "api"}
ROLE_TEXT = {
    DiskRole.REDO: "REDO",
    DiskRole.LCP: "LCP",
    DiskRole.UNDO: "UNDO",
    DiskRole.DATA_FILES: "DATA FILES",
    DiskRole.BACKUP: "BACKUP",
}


class Offer(NamedTuple):
    """One entry of the palette."""

    key: str
    kind: Kind
    text: str
    icon: str
    tip: str


@cache
def _hardware() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = read_json("hardware.json")
    return found


@cache
def offers() -> tuple[Offer, ...]:
    """Everything the palette offers, in its order."""
    hardware = _hardware()
    return (
        *(Offer(e["key"], "location", e["text"], "warehouse", "Groups hosts that fail together")
          for e in hardware["locations"]),
        *(Offer(e["key"], "host", e["text"], "server", "A machine with its disks")
          for e in hardware["hosts"]),
        *(Offer(e["key"], "disk", e["text"], "hard-drive", "Drop it on a host") for e in hardware["disks"]),
        Offer("management", "process", "Management node", "sliders-horizontal", "ndb_mgmd: drop on a host"),
        Offer("data", "process", "Data node", "database", "ndbmtd: drop it on a host"),
        Offer("sql", "process", "SQL node", "table-2", "mysqld: drop it on a host"),
        Offer("api", "process", "API slot", "plug", "A connection for an NDB API program"),
        *(Offer(role.value, "role", text, "circle-dot",
                f"Drop it on a disk: the data nodes of that host write {text} there")
          for role, text in ROLE_TEXT.items()),
    )  # fmt: skip


@cache
def offer(key: str) -> Offer:
    """The entry with this key; KeyError when there is none."""
    for entry in offers():
        if entry.key == key:
            return entry
    raise KeyError(key)


def make_location(plan: Plan, position: Point | None = None) -> Location:
    """A rack with the next free letter."""
    names = {place.name for place in plan.locations}
    letter = next((c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if f"Rack {c}" not in names), str(len(names) + 1))
    name = f"Rack {letter}"
    return Location(id=edits.free_id(plan, name.lower().replace(" ", "-")), name=name, position=position)


def make_host(plan: Plan, key: str, location_id: str | None = None, position: Point | None = None) -> Host:
    """A host of a usual class with its disk, under the next free name."""
    model = next(e for e in _hardware()["hosts"] if e["key"] == key)
    taken = {host.hostname for host in plan.hosts}
    hostname = model["hostname"] if model["hostname"] not in taken else edits.next_hostname("host-1", taken)
    host_id = edits.free_id(plan, hostname)
    host = Host(
        id=host_id,
        hostname=hostname,
        location_id=location_id,
        position=position,
        assumed=("clock_ghz", "network_bytes_per_s"),
        **{n: model[n] for n in ("cores", "sockets", "clock_ghz", "memory_bytes", "network_bytes_per_s")},
    )
    for disk_key in model["disks"]:
        host = host.model_copy(update={"disks": (*host.disks, make_disk(plan, host, disk_key))})
    return host


def make_disk(plan: Plan, host: Host, key: str) -> Disk:
    """A disk of a usual class with a name and mount point that are free on the host."""
    model = next(e for e in _hardware()["disks"] if e["key"] == key)
    names = {disk.name for disk in host.disks}
    stem = model["name"].rstrip("0123456789")
    name = next(f"{stem}{i}" for i in range(len(names) + 1) if f"{stem}{i}" not in names)
    mounts = {disk.mount_point for disk in host.disks}
    mount = next(
        m for i in range(len(mounts) + 1) for m in ["/data" if i == 0 else f"/data{i}"] if m not in mounts
    )
    values = {n: v for n, v in model.items() if n not in ("key", "text", "name", "mount_point")}
    disk_id = edits.free_id(plan, f"{host.id}-{name}", [d.id for d in host.disks])
    return Disk(id=disk_id, name=name, mount_point=mount, assumed=_ASSUMED_OF_DISK, **values)


def make_process(plan: Plan, kind: str, host_id: str | None) -> Process:
    """A process under the next free node id. Raises EditError when all are taken."""
    node_id = edits.free_node_id(plan, kind)
    object_id = edits.free_id(plan, f"{_PROCESS_ID[kind]}{node_id}")
    if kind == "api":
        return ApiSlot(id=object_id, node_id=node_id, host_id=host_id)
    if host_id is None:
        raise edits.EditError("a node needs a host", fix="drop it on a host, or select one first")
    if kind == "management":
        return ManagementNode(id=object_id, node_id=node_id, host_id=host_id)
    if kind == "sql":
        return SqlNode(id=object_id, node_id=node_id, host_id=host_id)
    return DataNode(id=object_id, node_id=node_id, host_id=host_id)
