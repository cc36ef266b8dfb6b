"""Parts that may fail as people write them, `node:4`, `host:a1`, `disk:a1/nvme0`, and what they mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.arrays import may_lose
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.places import chain
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Process, process_node_ids

KINDS = ("node", "host", "disk", "device", "rack", "link", "switch")
"""What may fail: a process, a machine, a disk with all its devices, one device of a disk, a location, the
link of two hosts, a location's switch."""


class PartError(UserError, ValueError):
    """A part that a plan does not have, or a text that names none."""


class Part(NamedTuple):
    """One part that may fail, as people write it: `node:4`, `host:a1`, `disk:a1/nvme0`, `rack:A`."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    @property
    def text(self) -> str:
        """Within a sentence: `node 4`, `disk nvme0 of a1`, `everything in Rack A`."""
        first, _, last = self.name.rpartition("/")
        return _TEXTS[self.kind].format(name=self.name, first=first, last=last)


_TEXTS = {
    "node": "node {name}",
    "host": "host {name}",
    "disk": "disk {last} of {first}",
    "device": "a device of {last} of {first}",
    "rack": "everything in {name}",
    "link": "the link of {first} and {last}",
    "switch": "the switch of {name}",
}


def parts(plan: Plan) -> tuple[Part, ...]:
    """Every part of a plan that may fail by itself; links only where the plan has a connection of its own."""
    return tuple(dict.fromkeys(_parts(plan)))


def _parts(plan: Plan) -> Iterator[Part]:
    for process in sorted(plan.processes, key=lambda p: p.node_id):
        if process.host_id is not None:
            yield Part("node", str(process.node_id))
    for host in plan.hosts:
        yield Part("host", host.hostname)
    for host in plan.hosts:
        for disk in host.disks:
            yield single_failure(host, disk)
    held = Counter(p.id for host in plan.hosts for p in chain(plan.locations, host.location_id))
    racks = [location for location in plan.locations if held[location.id]]
    for location in racks:
        yield place_part(plan, location)
    for link in plan.links:
        ends = [_host_of(plan, process_id) for process_id in (link.process_id_1, link.process_id_2)]
        names = sorted({end.hostname for end in ends if end is not None})
        if len(names) == 2:
            yield Part("link", "/".join(names))
    for location in racks:
        if held[location.id] < len(plan.hosts):
            yield place_part(plan, location)._replace(kind="switch")


def single_failure(host: Host, disk: Disk) -> Part:
    """What one failed device of a disk is: one of several that it goes on without, else all of the disk."""
    return Part("device" if may_lose(disk) else "disk", f"{host.hostname}/{disk.name}")


def place_part(plan: Plan, place: Location) -> Part:
    """The loss of a location, by its name; one in another that shares its name by the whole way to it."""
    alike = place.parent_id is not None and sum(one.name == place.name for one in plan.locations) > 1
    return Part("rack", _way(plan, place) if alike else place.name)


def _way(plan: Plan, place: Location) -> str:
    """`Site 1/Room 2/Rack A`."""
    return "/".join(one.name for one in reversed(chain(plan.locations, place.id)))


def _host_of(plan: Plan, process_id: str) -> Host | None:
    host_id = plan.by_id[process_id].host_id
    return None if host_id is None else plan.host(host_id)


_PART = re.compile(r"\s*+([A-Za-z]+)\s*+:(.*)", re.DOTALL)
_BETWEEN = re.compile(r",(?=\s*(?:" + "|".join(KINDS) + r")\s*:)")


def parse_parts(plan: Plan, text: str) -> tuple[Part, ...]:
    """The parts in `node:4,host:a1`, each once; PartError names the one that the plan does not have.

    A name may hold a comma: a new part begins where a kind and a colon follow it.
    """
    return tuple(dict.fromkeys(_parsed(plan, piece) for piece in _BETWEEN.split(text)))


def _parsed(plan: Plan, text: str) -> Part:
    match = _PART.fullmatch(text)
    name = match[2].strip() if match is not None else ""
    if match is None or match[1].lower() not in KINDS or not name:
        raise PartError(
            f"'{text.strip()[:60]}' does not name a part",
            fix="write node:4, host:NAME, disk:HOST/NAME, device:HOST/DISK, rack:NAME, link:HOST/HOST or "
            "switch:NAME",
        )
    part = Part(match[1].lower(), name)
    called_so(plan, part)
    return part


def called_so(plan: Plan, part: Part) -> list[Any]:
    """What of the plan a part means; PartError when there is nothing of that name."""
    called = called_in(plan).of(part)
    if called:
        return called
    if part.kind == "node":
        known = [str(p.node_id) for p in sorted(plan.processes, key=lambda p: p.node_id)]
    elif part.kind == "host":
        known = [host.hostname for host in plan.hosts]
    elif part.kind in ("disk", "device"):
        known = [f"{host.hostname}/{disk.name}" for host in plan.hosts for disk in host.disks]
    elif part.kind == "link":
        known = [f"{a.hostname}/{b.hostname}" for a, b in combinations(plan.hosts[:5], 2)]
    else:
        known = [place.name for place in plan.locations]
    shown = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
    words = {"rack": "rack or location", "switch": "rack or location", "device": "disk"}
    kind = words.get(part.kind, part.kind)
    raise PartError(f"the plan has no {kind} '{part.name}'", fix=f"it has {shown or 'none'}")


class _Called:
    """Nodes, hosts and places of a plan by what people call them."""

    def __init__(self, plan: Plan) -> None:
        self.nodes: dict[str, list[Process]] = {}
        for process in plan.processes:
            for node_id in process_node_ids(process):
                self.nodes.setdefault(str(node_id), []).append(process)
        self._hosts: dict[str, list[Host]] = {}
        self._by_id = {host.id: host for host in plan.hosts}
        for host in plan.hosts:
            self._hosts.setdefault(host.hostname.lower(), []).append(host)
        self.places: dict[str, list[Location]] = {}
        for place in plan.locations:
            for name in {place.name, place.id, _way(plan, place)}:
                self.places.setdefault(name, []).append(place)

    def hosts(self, name: str) -> list[Host]:
        """Hosts called so, or with this id; two of one name are one machine to the product."""
        hosts = self._hosts.get(name.lower(), [])
        by_id = self._by_id.get(name)
        return hosts if by_id is None or by_id in hosts else [*hosts, by_id]

    def of(self, part: Part) -> list[Any]:
        """What a part means; nothing when the plan has none of that name."""
        if part.kind == "node":
            return list(self.nodes.get(part.name, ()))
        if part.kind == "host":
            return list(self.hosts(part.name))
        if part.kind in ("disk", "device"):
            hostname, _, disk_name = part.name.partition("/")
            return [d for host in self.hosts(hostname) for d in host.disks if disk_name in (d.name, d.id)]
        if part.kind == "link":
            ends = [self.hosts(name) for name in part.name.split("/")]
            whole = len(ends) == 2 and all(ends) and ends[0] != ends[1]
            return [host for end in ends for host in end] if whole else []
        return list(self.places.get(part.name, ()))


@kept_by_identity(size=16)
def called_in(plan: Plan) -> _Called:
    return _Called(plan)
