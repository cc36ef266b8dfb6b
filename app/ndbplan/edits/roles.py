"""Which host a process runs on, and which disks a data node writes to."""

from __future__ import annotations

from typing import Any, NamedTuple

from ndbplan.edits.parts import update, update_each
from ndbplan.edits.validated import EditError, changed
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole, DiskRoles


def move_process(plan: Plan, process_id: str, host_id: str) -> Plan:
    """Move a process to another host; a data node's roles go to the disks of the same names there."""
    process = plan.by_id[process_id]
    if process.host_id == host_id:
        return plan
    fields: dict[str, Any] = {"host_id": host_id}
    if isinstance(process, DataNode):
        names = {disk.name: disk.id for disk in plan.host(host_id).disks}
        known = plan.by_id
        roles = {
            r.value: names.get(known[disk_id].name) if disk_id else None
            for r in DiskRole
            for disk_id in [process.disk_roles.disk_of(r)]
        }
        fields["disk_roles"] = DiskRoles(**roles)
    return update(plan, process_id, **fields)


def assign_role(plan: Plan, process_id: str, role: DiskRole, disk_id: str | None) -> Plan:
    """Let a data node write one purpose to a disk of its host; None: back to the disk of its DataDir."""
    return update_each(plan, {process_id: lambda node: with_role(node, role, disk_id)})


def with_role(node: Any, role: DiskRole, disk_id: str | None) -> DataNode:
    """A data node that writes one purpose to this disk."""
    if not isinstance(node, DataNode):
        raise EditError(f"'{node.id}' is not a data node; only data nodes have disk roles")
    return changed(node, disk_roles=node.disk_roles.model_copy(update={role.value: disk_id}))


class RoleMoved(NamedTuple):
    """A role that went to another disk of its host."""

    what: str
    role: DiskRole
    disk_id: str
    left_id: str
    """The disk that it left."""
