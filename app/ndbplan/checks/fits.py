"""Whether a change still fits: disks, memory of the hosts, the largest value a parameter takes.

    misfit(now, edit(now.plan))     # "" or why the second plan has no room for what the first one had

Rules choose among several ways with it; what is offered in the end is tried as a whole (see offers.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from ndbplan.base.units import format_bytes, format_bytes_binary
from ndbplan.checks.problem import Edit, Severity
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.space.disk_space import DiskSpace
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode

ROOM_LEFT = 0.10
"""Share of a disk, or of the memory of a host, that something else needs."""


def disk_severity(disk: DiskSpace) -> Severity | None:
    """How bad it is what lies on a disk: an error when it does not fit; None: there is room."""
    full = disk.memory_full_bytes
    return severity_of_space(disk.used_bytes.value, full.value, full.low, disk.capacity_bytes)


def severity_of_space(used: float, full: float, full_low: float, capacity: float) -> Severity | None:
    """How bad so many bytes are, now and with DataMemory full, on a disk of this capacity."""
    if used > capacity or full_low > capacity:
        return Severity.ERROR
    if used > (1 - ROOM_LEFT) * capacity or full > capacity:
        return Severity.WARNING
    return None


def misfit(now: Estimation, after: Plan) -> str:
    """Why `after` does not fit where the plan did, in words; nothing when it fits as well as before."""
    changed = _changed(now.plan, after)
    if not changed or (changed == {"node_group"} and _has_room(now)):
        return ""
    return (
        next(_over_maximum(now.plan, after), "")
        or next(_full_hosts(now, now.of(after)), "")
        or next(_full_disks(now, now.of(after)), "")
    )


def first_that_fits(
    now: Estimation, ways: Iterable[tuple[str, Edit]], cured: Callable[[Plan], bool]
) -> tuple[str, Edit] | None:
    """The first change, with its words, that the plan has room for and that cures; None: none does."""
    for words, edit in ways:
        after = edit(now.plan)
        if not misfit(now, after) and cured(after):
            return words, edit
    return None


def _changed(before: Plan, after: Plan) -> set[str]:
    """What differs between two plans of all that takes room."""
    names = ("ndb_version", "hosts", "tables", "tablespaces", "logfile_groups", "backups_kept")
    changed = {name for name in names if getattr(before, name) is not getattr(after, name)}
    if before.parameters.data_node != after.parameters.data_node:
        changed.add("parameters")
    if before.processes is not after.processes:
        old = {node.id: node for node in before.data_nodes}
        for node in after.data_nodes:
            was = old.get(node.id)
            if was is not node:
                changed |= {"nodes"} if was is None else _node_changes(was, node)
        if len(old) != len(after.data_nodes):
            changed.add("nodes")
    return changed


def _node_changes(was: DataNode, node: DataNode) -> set[str]:
    names = ("parameters", "disk_roles", "host_id", "node_group", "container_memory_bytes")
    return {name for name in names if getattr(was, name) != getattr(node, name)}


def _has_room(now: Estimation) -> bool:
    """Whether every disk holds what full data nodes would write, so that moving rows about does no harm."""
    return all(
        disk.memory_full_bytes.high <= (1 - ROOM_LEFT) * disk.capacity_bytes for disk in now.disk_space.disks
    )


def _over_maximum(before: Plan, after: Plan) -> Iterator[str]:
    version = after.version
    old = [before.parameters.data_node, *(node.parameters for node in before.data_nodes)]
    new = [after.parameters.data_node, *(node.parameters for node in after.data_nodes)]
    known = {id(parameters) for parameters in old}
    was = {(name, value) for parameters in old for name, value in parameters.items()}
    for parameters in new:
        if id(parameters) in known:
            continue
        for name, value in parameters.items():
            if (name, value) in was or not catalogue.knows("DB", name, version):
                continue
            most = catalogue.parameter("DB", name, version).maximum
            if isinstance(value, int) and most is not None and value > most:
                yield f"{name} takes {most} at most"


def _full_disks(before: Estimation, after: Estimation) -> Iterator[str]:
    old = {disk.disk_id: disk for disk in before.disk_space.disks}
    for disk in after.disk_space.disks:
        was = old.get(disk.disk_id)
        shares_before = _shares(was) if was is not None else (0.0,) * 3
        for share, share_before in zip(_shares(disk), shares_before, strict=True):
            # What is over its limit already must not go further either.
            if share > 1 and share > share_before * (1 + 1e-6):
                most = max(disk.used_bytes.value, disk.memory_full_bytes.value)
                yield (
                    f"disk {disk.disk} of {disk.host} would have to hold {format_bytes(most)}, its capacity "
                    f"is {format_bytes(disk.capacity_bytes)}"
                )
                break


def _shares(disk: DiskSpace) -> tuple[float, ...]:
    """How much of their limits the files of a disk take, now and with DataMemory full; above 1: too much."""
    full, capacity = disk.memory_full_bytes, disk.capacity_bytes
    used = disk.used_bytes.value / capacity
    return used / (1 - ROOM_LEFT), full.value / capacity, full.low / capacity


def _full_hosts(before: Estimation, after: Estimation) -> Iterator[str]:
    old = {host.host_id: host for host in before.memory.hosts}
    for host in after.memory.hosts:
        was = old.get(host.host_id)
        if host.fill > 1 - ROOM_LEFT and host.fill > (was.fill if was is not None else 0.0) + 1e-9:
            yield (
                f"the data nodes of {after.plan.host(host.host_id).hostname} would take "
                f"{format_bytes_binary(host.data_nodes_bytes.value)} of its "
                f"{format_bytes_binary(host.memory_bytes)}"
            )


def rounded_up(size: float) -> float:
    """The next number of three digits, as sizes are written."""
    step = 10.0 ** max(0, math.floor(math.log10(max(1.0, size))) - 2)
    return math.ceil(size / step) * step


def rounded_down(size: float) -> float:
    """The last number of three digits before it."""
    step = 10.0 ** max(0, math.floor(math.log10(max(1.0, size))) - 2)
    return math.floor(size / step) * step
