"""What things are called in the inspector: one title and one line about what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ndbplan.base.units import format_bytes, format_bytes_binary, format_count, format_percent, how_many
from ndbplan.configuration.deployment import data_node_program
from ndbplan.edits.events import is_restart
from ndbplan.plan.events import (
    BetweenSides,
    Burst,
    DeviceFailure,
    DiskFull,
    DiskSlow,
    Event,
    ManagementNodeDown,
    NetworkSlow,
    NodesAdded,
    ParameterChange,
    SqlNodeDown,
)
from ndbplan.plan.field_words import DISK_KINDS, RAID_LEVELS
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.places import chain
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, ApiSlot, DataNode, DiskRole, ManagementNode, SqlNode
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Workload

DISK_ROLES = {
    DiskRole.REDO: "REDO",
    DiskRole.LCP: "LCP",
    DiskRole.UNDO: "UNDO",
    DiskRole.DATA_FILES: "DATA FILES",
    DiskRole.BACKUP: "BACKUP",
}
SPACE_OF_ROLE = {
    DiskRole.REDO: "Redo log",
    DiskRole.LCP: "Checkpoints",
    DiskRole.UNDO: "Undo files",
    DiskRole.DATA_FILES: "Data files",
    DiskRole.BACKUP: "Backups",
}
KINDS: dict[type, tuple[str, str]] = {
    Location: ("location", "locations"),
    Host: ("host", "hosts"),
    Disk: ("disk", "disks"),
    DataNode: ("data node", "data nodes"),
    ManagementNode: ("management node", "management nodes"),
    SqlNode: ("SQL node", "SQL nodes"),
    ApiSlot: ("API slot", "API slots"),
    Table: ("table", "tables"),
    Workload: ("workload", "workloads"),
    Tablespace: ("tablespace", "tablespaces"),
    LogfileGroup: ("log file group", "log file groups"),
}


def title(plan: Plan, part: Any) -> str:
    """The name of an object: `host-a1 / nvme0`, `Data node 3`, `test.t1`."""
    if isinstance(part, Host):
        return part.hostname
    if isinstance(part, Disk):
        return f"{plan.host_of_disk[part.id].hostname} / {part.name}"
    if isinstance(part, Table):
        return part.full_name
    if isinstance(part, DataNode | ManagementNode | SqlNode | ApiSlot):
        kind = KINDS[type(part)][0]
        return f"{kind[0].upper()}{kind[1:]} {part.node_id}"
    return str(part.name)


def how_called(plan: Plan, ids: Sequence[str]) -> str:
    """What is acted on: the name of one, `2 data nodes` of several; `3 objects` where they are of kinds."""
    if len(ids) == 1:
        return display_name(plan, plan.by_id[ids[0]])
    kinds = {type(plan.by_id[i]) for i in ids}
    return f"{len(ids)} {KINDS[kinds.pop()][1] if len(kinds) == 1 else 'objects'}"


def subtitle(plan: Plan, part: Any) -> str:
    """One line about what it is and where."""
    if isinstance(part, Location):
        around = ", ".join(place.name for place in chain(plan.locations, part.id)[1:])
        held = how_many(len(plan.hosts_in([part.id])), "host")
        return f"Location in {around} · {held}" if around else f"Location · {held}"
    if isinstance(part, Host):
        return f"Host · {how_many(part.cores, 'core')} · {format_bytes_binary(part.memory_bytes)}"
    if isinstance(part, Disk):
        kind, size = DISK_KINDS[part.kind], format_bytes(part.capacity_bytes)
        if part.raid is None:
            return f"Disk · {kind} {size}"
        return f"Disk · {size} · {RAID_LEVELS[part.raid]} of {part.devices} × {kind}"
    if isinstance(part, DataNode):
        return f"{_on_host(plan, part)} · {group_text(part)}"
    if isinstance(part, ManagementNode | SqlNode | ApiSlot):
        return _on_host(plan, part)
    if isinstance(part, Table):
        return f"Table · {format_count(part.rows)} rows · {len(part.columns)} columns"
    if isinstance(part, Workload):
        kinds = len(part.transactions)
        return f"Workload · {how_many(kinds, 'kind')} of transaction"
    kind = KINDS[type(part)][0]
    return f"{kind[0].upper()}{kind[1:]}"


def group_text(node: DataNode) -> str:
    """The node group as the plan states it."""
    if node.node_group is None:
        return "node group by node id"
    return "reserved" if node.node_group == NODE_GROUP_NONE else f"node group {node.node_group}"


def program(plan: Plan, kind: str) -> str:
    """The program of a kind of process, as this version calls it."""
    if kind == "data":
        return data_node_program(plan)
    return {"management": "ndb_mgmd", "sql": "mysqld", "api": "api"}[kind]


def display_name(plan: Plan, part: Any) -> str:
    """The name people know an object by: `host-a1`, `ndbmtd 3`, `shop.orders`."""
    kind = getattr(part, "kind", None)
    if isinstance(kind, str) and hasattr(part, "node_id"):
        return f"{program(plan, kind)} {part.node_id}"
    if hasattr(part, "full_name"):
        return str(part.full_name)
    return str(getattr(part, "hostname", None) or getattr(part, "name", None) or part.id)


def _on_host(plan: Plan, process: Any) -> str:
    what = "API program" if process.kind == "api" else program(plan, process.kind)
    if process.host_id is None:
        return f"{what} · on any host"
    return f"{what} on {plan.host(process.host_id).hostname}"


def event_line(plan: Plan, event: Event) -> str:
    """What happens, in a few words: `ndbmtd 3 fails`, `ndbmtd 3 restarts`, `host-a1 / nvme0 at 50 %`."""
    if isinstance(event, DiskSlow):
        name = title(plan, plan.by_id[event.object_id])
        return f"{name} fails" if event.factor == 0 else f"{name} at {format_percent(event.factor)}"
    if isinstance(event, DiskFull):
        return f"{title(plan, plan.by_id[event.object_id])} is full"
    if isinstance(event, DeviceFailure):
        return f"a device of {title(plan, plan.by_id[event.object_id])} fails"
    if isinstance(event, BetweenSides):
        shown = [display_name(plan, plan.by_id[i]) for i in event.object_ids]
        others = [display_name(plan, plan.by_id[i]) for i in event.other_ids]
        side = f"{shown[0]} and {len(shown) - 1} more" if len(shown) > 1 else shown[0]
        far = f"{others[0]} and {len(others) - 1} more" if len(others) > 1 else "".join(others)
        if isinstance(event, NetworkSlow):
            return f"network of {side}{f' to {far}' if far else ''} at {format_percent(event.factor)}"
        return f"{side} cut from {far}" if far else f"{side} cut off"
    if isinstance(event, NodesAdded):
        return "1 node group added" if event.groups == 1 else f"{event.groups} node groups added"
    if isinstance(event, Burst):
        return f"load × {event.factor:g}"
    if isinstance(event, ParameterChange):
        return f"{event.name} changes"
    object_id: str = getattr(event, "object_id", "")
    if not object_id:
        return event.title.lower()
    verb = "stops" if isinstance(event, SqlNodeDown | ManagementNodeDown) else "fails"
    verb = "restarts" if is_restart(event) else verb
    return f"{display_name(plan, plan.by_id[object_id])} {verb}"
