"""Copies that are dragged out: pure edits, each answers the plan and the ids of what was added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ndbplan.edits import arrange
from ndbplan.edits import parts as edits
from ndbplan.edits.roles import assign_role
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole

Copied = tuple[Plan, Sequence[str]]


def hosts_into(
    plan: Plan, location_id: str, before_id: str | None, slots: Mapping[str, Point | None]
) -> Copied:
    """Copies of hosts, with what stands on them, in a location before one of its hosts.

    `slots`: where each goes, by id of the original.
    """
    plan, new, olds = _copied(plan, list(slots), Host)
    own = {i: slot for i, old in zip(new, olds, strict=True) if (slot := slots[old]) is not None}
    return arrange.put_into_location(plan, new, location_id, before_id, own), new


def hosts_at(plan: Plan, places: Mapping[str, Point]) -> Copied:
    """Copies of hosts, with what stands on them, at places of the canvas: by id of the original."""
    plan, new, olds = _copied(plan, list(places), Host)
    return arrange.put_on_canvas(plan, {i: places[old] for i, old in zip(new, olds, strict=True)}), new


def locations_at(plan: Plan, places: Mapping[str, Point], parent_id: str | None = None) -> Copied:
    """Copies of locations with everything inside, at places of the canvas: by id of the original.

    `places` has those in them too; the outermost come into the location `parent_id`.
    """
    outermost = {old for old in places if plan.by_id[old].parent_id not in places}
    plan, new, olds = _copied(plan, list(places), Location)
    copies = dict(zip(olds, new, strict=True))
    plan = arrange.put_inside(plan, [copies[old] for old in olds if old in outermost], parent_id)
    return edits.move(plan, {copies[old]: places[old] for old in olds}), new


def processes_onto(plan: Plan, process_ids: Sequence[str], host_id: str) -> Copied:
    """Copies of processes on a host; a data node writes to the disks there that have the same names."""
    olds = [p for p in plan.processes if p.id in process_ids]
    plan, new = _pasted(plan, process_ids, onto_host=host_id)
    names = {disk.name: disk.id for disk in plan.host(host_id).disks}
    for old, new_id in zip(olds, new, strict=True):
        if isinstance(old, DataNode):
            for role in DiskRole:
                disk = plan.by_id.get(old.disk_roles.disk_of(role) or "")
                if getattr(disk, "name", None) in names:
                    plan = assign_role(plan, new_id, role, names[str(getattr(disk, "name", ""))])
    return plan, new


def disk_onto(plan: Plan, disk_id: str, host_id: str) -> Copied:
    """A copy of a disk in a host, without what is written to it."""
    return _pasted(plan, [disk_id], onto_host=host_id)


def _copied(
    plan: Plan, object_ids: Sequence[str], kind: type[Host | Location]
) -> tuple[Plan, list[str], list[str]]:
    """The plan with copies, the ids of those of one kind, and of their originals in the same order."""
    objects: tuple[Host | Location, ...] = plan.hosts if kind is Host else plan.locations
    olds = [part.id for part in objects if part.id in object_ids]
    plan, new = _pasted(plan, object_ids)
    return plan, [i for i in new if isinstance(plan.by_id[i], kind)], olds


def _pasted(plan: Plan, object_ids: Sequence[str], onto_host: str | None = None) -> Copied:
    # Not before somebody copies: text of a plan needs the schemas of all its parts.
    from ndbplan.edits import clipboard

    return clipboard.paste(plan, clipboard.copy(plan, object_ids), onto_host=onto_host, offset=0.0)
