"""Disks that go elsewhere, and what is written to them."""

from __future__ import annotations

from ndbplan.edits.names import free_name
from ndbplan.edits.roles import assign_role
from ndbplan.edits.validated import changed
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole


def move_roles(plan: Plan, disk_id: str, other_id: str) -> Plan:
    """Everything that data nodes write to one disk goes to another disk of the host."""
    host = plan.host_of_disk[disk_id]
    is_first = host.disks[0].id == disk_id
    for node in _data_nodes(plan, host.id):
        for role in DiskRole:
            at = node.disk_roles.disk_of(role)
            if at == disk_id or (at is None and is_first):
                plan = assign_role(plan, node.id, role, other_id)
    return plan


def move_disk(plan: Plan, disk_id: str, host_id: str) -> Plan:
    """A disk goes to another host, where data nodes write to it what those of its old host did.

    Data nodes of the old host write that to the disk of their DataDir.
    """
    source, target = plan.host_of_disk[disk_id], plan.host(host_id)
    if source is target:
        return plan
    roles = [
        (node.id, role)
        for node in _data_nodes(plan, source.id)
        for role in DiskRole
        if node.disk_roles.disk_of(role) == disk_id
    ]
    for node_id, role in roles:
        plan = assign_role(plan, node_id, role, None)
    disk = next(disk for disk in source.disks if disk.id == disk_id)
    moved = changed(disk, name=free_name(disk.name, {other.name for other in target.disks}))
    disks = {
        source.id: tuple(other for other in source.disks if other is not disk),
        target.id: (*target.disks, moved),
    }
    plan = plan.replace(
        hosts=tuple(changed(host, disks=disks[host.id]) if host.id in disks else host for host in plan.hosts)
    )
    for node in _data_nodes(plan, target.id):
        for role in dict.fromkeys(role for _, role in roles):
            plan = assign_role(plan, node.id, role, disk_id)
    return plan


def _data_nodes(plan: Plan, host_id: str) -> list[DataNode]:
    return [node for node in plan.processes_of_host[host_id] if isinstance(node, DataNode)]
