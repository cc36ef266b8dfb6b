"""What a cluster may be made of: hosts with disks, and which role each disk has.

for choice in choices(requirements, source, own):
    choice.title, choice.host, choice.roles
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_bytes_binary, how_many
from ndbplan.edits import offers
from ndbplan.edits.arrays import as_array
from ndbplan.edits.own_hardware import OWN, Own
from ndbplan.edits.own_hardware import own as kept_one
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.requirements import Requirements

PLANNED = "plan"
"""Key of the hosts that a plan has."""
_STRIPED = ("10", 4)


@dataclass(frozen=True)
class Choice:
    """One class of data node hosts."""

    title: str
    host: Host
    roles: tuple[tuple[DiskRole, int], ...]
    """Which of the host's disks a role is on; a role that is not named is where DataDir is."""
    is_planned: bool = False
    """Whether the plan has such hosts: what it states of data nodes holds for them as it is."""
    nodes_per_host: int = 1
    """Data nodes on each, of as many node groups."""

    def with_nodes(self, count: int) -> Choice:
        """The same hosts with so many data nodes on each: no longer as in the plan where it has others."""
        is_planned = self.is_planned and count == self.nodes_per_host
        return replace(self, nodes_per_host=count, is_planned=is_planned)

    def hosts_for(self, groups: int, replicas: int) -> int:
        """Hosts of data nodes of so many node groups."""
        return replicas * math.ceil(groups / self.nodes_per_host)

    def full(self, groups: int) -> int:
        """The least number of node groups, of at least so many, that leaves no host with room."""
        return math.ceil(groups / self.nodes_per_host) * self.nodes_per_host

    def most_full(self, groups: int) -> int:
        """The largest number of node groups, of at most so many, that leaves no host with room."""
        return groups // self.nodes_per_host * self.nodes_per_host

    @property
    def words(self) -> str:
        """`8 cores, 64 GiB, NVMe 3.2 TB, 2 data nodes on each`."""
        return self.title + (f", {self.nodes_per_host} data nodes on each" if self.nodes_per_host > 1 else "")


def size_of(host: Host) -> tuple[float, ...]:
    """What a host is, for a comparison without prices: one, its cores, memory, disks, what they write."""
    writing = sum(disk.sequential_write_bytes_per_s for disk in host.disks)
    return 1, host.cores, host.memory_bytes, len(host.disks), writing


@dataclass(frozen=True)
class Offer:
    """A host or disk under the name that it is chosen by."""

    text: str
    part: Host | Disk
    is_planned: bool = False


def choices(requirements: Requirements, source: Plan | None, own: Sequence[Own]) -> tuple[Choice, ...]:
    """Every class, in the order stated, each once. Raises UserError for a key that names nothing."""
    wanted = requirements.hardware
    hosts = _offers("host", wanted.hosts, source, own)
    disks = _offers("disk", wanted.disks, source, own)
    found: dict[tuple[object, ...], Choice] = {}
    for host in hosts:
        for layout in wanted.layouts:
            for choice in _laid_out(host, layout, disks, source):
                found.setdefault((choice.host, choice.roles), choice)
    if not found:
        fix = "add a layout: 'as it is' needs hosts of your own with disks"
        raise UserError("no host with disks comes of it", where="hardware", fix=fix)
    return tuple(found.values())


def client_host(requirements: Requirements, source: Plan | None, own: Sequence[Own]) -> Host:
    """The class of hosts for SQL nodes. Raises UserError."""
    key = requirements.hardware.clients
    if key is not None:
        part = _offers("host", (key,), source, own, "hardware.clients")[0].part
        assert isinstance(part, Host)
        return part
    if source is not None:
        data = {node.host_id for node in source.data_nodes}
        for process in source.processes:
            if process.kind == "sql" and process.host_id not in data:
                return source.host(process.host_id)
    return offers.make_host(EMPTY_PLAN, offers.DEFAULT_HOST)


def planned_host(source: Plan | None) -> Host | None:
    """The host of the plan's first data node; None without one."""
    nodes = () if source is None else source.data_nodes
    return source.host(nodes[0].host_id) if source is not None and nodes else None


def usually_offered(kind: str, source: Plan | None) -> tuple[tuple[str, str], ...]:
    """Keys and texts of what nobody has to name: the plan's host, and usual classes unlike it."""
    usual = [(row["key"], offers.class_text(row)) for row in offers.hardware()[f"{kind}s"]]
    planned = planned_host(source) if kind == "host" else None
    if planned is None:
        return tuple(usual)
    others = [(key, text) for key, text in usual if not _is_like(key, planned)]
    return ((PLANNED, _text_of(planned)), *others)


def _text_of(planned: Host) -> str:
    return f"{how_many(planned.cores, 'core')}, {format_bytes_binary(planned.memory_bytes)} as in the plan"


def _offers(
    kind: str, keys: Sequence[str], source: Plan | None, own: Sequence[Own], where: str = ""
) -> list[Offer]:
    """What the keys name; without any the plan's host, the requirements' own, all usual classes."""
    mine = {one.name: Offer(one.name, one.part) for one in own if one.kind == kind}
    usual = {row["key"]: offers.class_text(row) for row in offers.hardware()[f"{kind}s"]}
    planned = planned_host(source) if kind == "host" else None
    if not keys:
        known = [key for key, _ in usually_offered(kind, source)]
        keys = [*(key for key in known if key == PLANNED), *mine, *(key for key in known if key != PLANNED)]
    found = []
    for n, key in enumerate(keys):
        if key == PLANNED and planned is not None:
            found.append(Offer(_text_of(planned), planned, is_planned=True))
        elif key in mine:
            found.append(mine[key])
        elif key.startswith(f"{OWN}{kind}:"):
            found.append(Offer(key.rpartition(":")[2], kept_one(key).part))
        elif key in usual:
            found.append(Offer(usual[key], _usual(kind, key)))
        else:
            names = ", ".join([*([PLANNED] if planned is not None else []), *mine, *usual])
            place = where or f"hardware.{kind}s[{n}]"
            raise UserError(f"there is no {kind} '{key[:60]}'", where=place, fix=f"use one of {names}")
    return found


def _is_like(key: str, planned: Host) -> bool:
    """Whether a usual class of hosts is what the plan has."""
    model = _usual("host", key)
    assert isinstance(model, Host)
    return (model.cores, model.memory_bytes) == (planned.cores, planned.memory_bytes)


def _usual(kind: str, key: str) -> Host | Disk:
    if kind == "host":
        return offers.make_host(EMPTY_PLAN, key).model_copy(update={"disks": ()})
    return offers.make_disk(EMPTY_PLAN, Host(id="x", hostname="x", memory_bytes=1), key)


def _laid_out(host: Offer, layout: str, disks: Sequence[Offer], source: Plan | None) -> Iterator[Choice]:
    machine = host.part
    assert isinstance(machine, Host)
    if layout == "as it is":
        if machine.disks:
            roles = _planned_roles(source, machine) if host.is_planned else ()
            text = f"{host.text}, {how_many(len(machine.disks), 'disk')} as they are"
            yield Choice(text, machine, roles, host.is_planned, _planned_nodes(source, host))
        return
    if layout == "redo log apart" and len(machine.disks) > 1:
        text = f"{host.text}, its disks, redo log on {machine.disks[0].name} alone"
        yield Choice(text, machine, _apart(), host.is_planned, _planned_nodes(source, host))
    for offer in disks:
        disk = offer.part
        assert isinstance(disk, Disk)
        if layout == "redo log apart":
            mounted = [_numbered(disk, number) for number in range(2)]
            text = f"{host.text}, 2 x {offer.text}, redo log on its own"
            yield Choice(text, _with_disks(machine, mounted), _apart())
        elif layout == "one disk":
            yield Choice(f"{host.text}, {offer.text}", _with_disks(machine, [_numbered(disk, 0)]), ())
        else:
            level, devices = _STRIPED
            striped = as_array(_numbered(disk, 0), level, devices)
            text = f"{host.text}, {devices} x {offer.text} as RAID {level}"
            yield Choice(text, _with_disks(machine, [striped]), ())


def _planned_nodes(source: Plan | None, host: Offer) -> int:
    """Data nodes on the host of the plan's first one; 1 on hosts that no plan has."""
    if source is None or not host.is_planned:
        return 1
    return sum(node.host_id == source.data_nodes[0].host_id for node in source.data_nodes)


def _with_disks(host: Host, disks: Sequence[Disk]) -> Host:
    return host.model_copy(update={"disks": tuple(disks)})


def _numbered(disk: Disk, number: int) -> Disk:
    stem = disk.name.rstrip("0123456789")
    mount = f"/data{number or ''}"
    return disk.model_copy(update={"name": f"{stem}{number}", "mount_point": mount})


def _apart() -> tuple[tuple[DiskRole, int], ...]:
    return tuple((role, 0 if role is DiskRole.REDO else 1) for role in DiskRole)


def _planned_roles(source: Plan | None, host: Host) -> tuple[tuple[DiskRole, int], ...]:
    """The roles that the plan's first data node has on its host."""
    assert source is not None
    node: DataNode = source.data_nodes[0]
    places = {disk.id: number for number, disk in enumerate(host.disks)}
    roles = ((role, node.disk_roles.disk_of(role)) for role in DiskRole)
    return tuple((role, places[disk_id]) for role, disk_id in roles if disk_id is not None)
