"""What the pointer is told over an item: what it is, its state at the moment on show, and its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.base.units import format_bytes, how_many
from ndbplan.describe.overlay import Loads, percent, state_of_network
from ndbplan.desktop.canvas.disk_item import DiskItem
from ndbplan.desktop.canvas.items import CanvasItem, HostItem, LocationItem, ProcessItem

_SEVERITIES = {"error": "has an error", "warning": "has a warning"}


def tip(item: CanvasItem) -> str:
    """Lines about an item; empty for one that has nothing to say."""
    return "\n".join(line for line in _lines(item, item.look.loads) if line)


def _lines(item: CanvasItem, loads: Loads) -> Iterator[str]:
    if isinstance(item, LocationItem):
        held = [how_many(len(item.box.children), "location")] if item.box.children else []
        held += [how_many(len(item.box.hosts), "host")] if item.box.hosts or not held else []
        yield " · ".join([item.box.location.name, *held])
        domain = item.box.location.location_domain_id
        yield f"LocationDomainId {domain}" if domain is not None else ""
        yield "down" if item.is_down else ""
    elif isinstance(item, HostItem):
        yield item.card.host.hostname
        yield item.card.subtitle
        yield "down" if item.is_down else _host_loads(item, loads)
    elif isinstance(item, ProcessItem):
        yield item.chip.text
        yield _state(item, loads)
        yield _node_loads(item, loads)
    elif isinstance(item, DiskItem):
        disk = item.tile.disk
        yield f"{disk.name} · {format_bytes(disk.capacity_bytes)} · {disk.mount_point}"
        yield item.tile.all_roles or "no role"
        yield _disk_loads(item, loads)
    yield item.shade.why if item.shade is not None else ""
    for object_id in item.object_ids:
        yield _SEVERITIES.get(loads.problems.get(object_id, ""), "")


def _host_loads(item: HostItem, loads: Loads) -> str:
    host_id = item.object_id
    shares = (("CPU", loads.cpu.get(host_id)), ("memory", loads.memory.get(host_id)))
    network = state_of_network(loads, host_id)
    said = [] if network is None else [network.words]
    return " · ".join([*said, *(f"{name} {percent(share)}" for name, share in shares if share is not None)])


def _state(item: ProcessItem, loads: Loads) -> str:
    start = next((loads.starting[i] for i in item.object_ids if i in loads.starting), None)
    if start is not None:
        return f"starts, {start.text}"
    if item.state is not None:
        return item.state.words
    # That it runs is news only while a run is replayed.
    return "down" if item.is_down else "runs" if loads.redo_logs else ""


def _node_loads(item: ProcessItem, loads: Loads) -> str:
    if item.is_down:
        return ""
    shares = (
        ("busiest LDM thread {}", loads.cpu), ("DataMemory {} full", loads.memory),
        ("redo buffer {} full", loads.redo_buffers), ("redo log {} full", loads.redo_logs),
    )  # fmt: skip
    known = ((words, table[item.object_id]) for words, table in shares if item.object_id in table)
    return " · ".join(words.format(percent(share)) for words, share in known)


def _disk_loads(item: DiskItem, loads: Loads) -> str:
    disk_id = item.object_id
    busy, full, speed = loads.disks.get(disk_id), loads.space.get(disk_id), loads.slow.get(disk_id)
    said = []
    if speed is not None:
        said.append("failed" if speed <= 0 else f"at {percent(speed)} of its speed")
    if item.is_down:
        said.append("its host is down")
    if busy is not None and not item.is_down:
        said.append(f"{percent(busy)} busy")
    if full is not None:
        said.append(f"{percent(full)} full")
    return " · ".join(said)


def item_name(item: CanvasItem) -> str:
    """What a screen reader says about an item."""
    if isinstance(item, LocationItem):
        return f"Location {item.box.location.name}, {how_many(len(item.box.hosts), 'host')}"
    if isinstance(item, HostItem):
        card = item.card
        inside = f"{how_many(len(card.chips), 'node')}, {how_many(len(card.tiles), 'disk')}"
        return f"Host {card.host.hostname}, {card.subtitle}, {inside}"
    if isinstance(item, ProcessItem):
        return item.chip.text if item.state is None else f"{item.chip.text}, {item.state.words}"
    if isinstance(item, DiskItem):
        full = item.look.loads.space.get(item.tile.disk.id)
        space = "" if full is None else f", {percent(full)} full"
        return f"Disk {item.tile.disk.name}, {item.tile.all_roles or 'no role'}{space}"
    return ""
