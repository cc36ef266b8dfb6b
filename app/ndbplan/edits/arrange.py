"""Where things stand on the canvas: hosts in slots of locations, free hosts at places, all tidy again.

A host inside a location stands in its `slot`; when it has none, in the one that its order in the plan
gives it. A host outside stands at its `position`, or flows when it has none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from ndbplan.edits.parts import move, update
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.places import inside
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot

NO_SLOTS: Mapping[str, Point] = MappingProxyType({})


def put_into_location(
    plan: Plan,
    host_ids: Sequence[str],
    location_id: str,
    before_host_id: str | None = None,
    slots: Mapping[str, Point] = NO_SLOTS,
) -> Plan:
    """Hosts moved into a location, in their order, before one of its hosts (None: at the end).

    `slots`: where they stand in it; one that has none keeps that of its location, or flows in another.
    """
    moved = [_stands(h, location_id, None, slots.get(h.id)) for h in map(plan.host, host_ids)]
    chosen = set(host_ids)
    rest = [host for host in plan.hosts if host.id not in chosen]
    if before_host_id is not None and before_host_id not in chosen:
        at = next(i for i, host in enumerate(rest) if host.id == before_host_id)
    else:
        inside = [i for i, host in enumerate(rest) if host.location_id == location_id]
        at = inside[-1] + 1 if inside else len(rest)
    hosts = (*rest[:at], *moved, *rest[at:])
    unchanged = all(old is new for old, new in zip(plan.hosts, hosts, strict=True))
    return plan if unchanged else plan.replace(hosts=hosts)


def put_inside(plan: Plan, location_ids: Sequence[str], parent_id: str | None) -> Plan:
    """Locations moved into another one (None: out of any), with all that is in them. Raises EditError.

    They flow there, and what is in them flows in them.
    """
    for location_id in location_ids:
        if plan.by_id[location_id].parent_id != parent_id:
            plan = update(plan, location_id, parent_id=parent_id)
            plan = move(plan, dict.fromkeys(inside(plan.locations, [location_id])))
    return plan


def put_on_canvas(plan: Plan, places: Mapping[str, Point]) -> Plan:
    """Hosts taken out of their locations and put at places of the canvas."""
    hosts = tuple(_stands(h, None, places[h.id], None) if h.id in places else h for h in plan.hosts)
    unchanged = all(old is new for old, new in zip(plan.hosts, hosts, strict=True))
    return plan if unchanged else plan.replace(hosts=hosts)


def put_anywhere(plan: Plan, slot_ids: Collection[str], place: Point) -> Plan:
    """API slots taken from their hosts: all without a host stand at a place of the canvas then."""
    for slot_id in slot_ids:
        plan = update(plan, slot_id, host_id=None)
    slots = (p for p in plan.processes if isinstance(p, ApiSlot) and p.host_id is None)
    return move(plan, {slot.id: place for slot in slots})


def tidy(plan: Plan, object_ids: Collection[str] | None = None) -> Plan:
    """Let hosts, locations and API slots without a host (None: all) flow again."""
    slots = (process.id for process in plan.processes if isinstance(process, ApiSlot))
    every = [*(place.id for place in plan.locations), *(host.id for host in plan.hosts), *slots]
    chosen = every if object_ids is None else [*object_ids, *_hosts_in(plan, object_ids)]
    plan = put_in_slots(plan, {h.id: None for h in plan.hosts if h.id in chosen})
    return move(plan, {i: None for i in every if i in chosen})


def put_in_slots(plan: Plan, slots: Mapping[str, Point | None]) -> Plan:
    """Hosts at places of the locations that they are in, from the corner; None: in the order of the plan."""
    if all(plan.host(host_id).slot == slot for host_id, slot in slots.items()):
        return plan
    return plan.replace(
        hosts=tuple(
            h.model_copy(update={"slot": slots[h.id]}) if h.id in slots and h.slot != slots[h.id] else h
            for h in plan.hosts
        )
    )


def _hosts_in(plan: Plan, object_ids: Collection[str]) -> list[str]:
    places = inside(plan.locations, [i for i in object_ids if isinstance(plan.by_id.get(i), Location)])
    return [host.id for host in plan.hosts if host.location_id in places]


def _stands(host: Host, location_id: str | None, position: Point | None, slot: Point | None) -> Host:
    if slot is None and host.location_id == location_id:
        slot = host.slot
    if (host.location_id, host.position, host.slot) == (location_id, position, slot):
        return host
    return host.model_copy(update={"location_id": location_id, "position": position, "slot": slot})
