"""Where things stand on the canvas: hosts ordered inside locations, free hosts at places, all tidy again.

A host inside a location takes the slot its order in the plan gives it; a host outside stands at its
`position`, or flows when it has none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ndbplan.edits.parts import move, update
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host
from ndbplan.plan.places import inside
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot


def put_into_location(
    plan: Plan, host_ids: Sequence[str], location_id: str, before_host_id: str | None = None
) -> Plan:
    """Hosts moved into a location, in their order, before one of its hosts (None: at the end)."""
    moved = [_stands(plan.host(host_id), location_id, None) for host_id in host_ids]
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
    hosts = tuple(_stands(host, None, places[host.id]) if host.id in places else host for host in plan.hosts)
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
    return move(plan, {i: None for i in every if object_ids is None or i in object_ids})


def _stands(host: Host, location_id: str | None, position: Point | None) -> Host:
    if host.location_id == location_id and host.position == position:
        return host
    return host.model_copy(update={"location_id": location_id, "position": position})
