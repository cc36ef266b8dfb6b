"""Changes that lift a limit, as edits: the checks offer them for problems, the advice tries them under load.

How much of each is needed is the business of who estimates; here is only how it is done.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ndbplan.base.units import GIB, MIB
from ndbplan.configuration.arrays import MOST_DEVICES
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.settings import scope_of
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.arrays import with_devices
from ndbplan.edits.growth import free_node_id
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.hardware import Disk, Host, RaidLevel
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole, process_node_ids

_COARSE_FROM_BYTES = 8 * GIB
"""Sizes of memory from here on are whole GiB: nobody means the MiB."""
MOST_CORES = 4096
NEXT_NETWORK = 10.0
"""How many times as fast the next generation of links is."""


def memory_size(least_bytes: float) -> int:
    """The next size of DataMemory as people write it: whole GiB of large ones, else whole 16 MiB."""
    return math.ceil(least_bytes / _step(least_bytes)) * _step(least_bytes)


def memory_size_within(most_bytes: float) -> int:
    """The last such size that is no more than this."""
    return int(most_bytes // _step(most_bytes)) * _step(most_bytes)


def _step(size_bytes: float) -> int:
    return GIB if size_bytes >= _COARSE_FROM_BYTES else 16 * MIB


def module_size(least_bytes: float) -> int:
    """The next memory of a host that can be had: 2, 3, 4, 6, 8, 12 ... GiB, as modules come."""
    power = 2 * GIB
    while True:
        for size in (power, power * 3 // 2):
            if size >= least_bytes:
                return size
        power *= 2


def set_everywhere(plan: Plan, name: str, value: int) -> Plan:
    """A parameter for all data nodes, those that state it themselves included."""
    plan = set_parameter(plan, "data_node", name, value)
    for node in plan.data_nodes:
        if scope_of(node, name) == node.id:
            plan = set_parameter(plan, node.id, name, value)
    return plan


def host_memory(plan: Plan, host_ids: Iterable[str], memory_bytes: int) -> Plan:
    """Hosts with so much memory at least."""
    for host_id in host_ids:
        if plan.host(host_id).memory_bytes < memory_bytes:
            plan = edits.update(plan, host_id, memory_bytes=memory_bytes)
    return plan


def times_connections(plan: Plan, times: float) -> Plan:
    """SQL nodes with so many times their cluster connections, one at least. Raises EditError where no node id
    is free.
    """
    for node in plan.sql_nodes:
        wanted = max(1, math.floor(times * len(process_node_ids(node))))
        taken = list(node.pool_node_ids[: wanted - 1])
        while len(taken) + 1 < wanted:
            taken.append(free_node_id(plan, "sql", taken))
        plan = edits.update(plan, node.id, pool_node_ids=tuple(taken))
    return plan


def more_space(plan: Plan, factor: float, most_files: int) -> Plan:
    """Every tablespace with so much more space: more data files, or larger ones where those are too many."""
    for space in plan.tablespaces:
        count = sum(math.ceil(file.count * factor) for file in space.data_files)
        files = tuple(
            f.model_copy(
                update={"count": math.ceil(f.count * factor)}
                if count <= most_files
                else {"size_bytes": math.ceil(f.size_bytes * factor / MIB) * MIB}
            )
            for f in space.data_files
        )
        plan = edits.update(plan, space.id, data_files=files)
    return plan


def faster_disks(plan: Plan, role: DiskRole) -> Plan:
    """Every disk that a data node uses for `role`, twice as fast."""
    disks = {disk.id for node in plan.data_nodes if (disk := disk_for(plan, node, role)) is not None}
    return faster_each(plan, disks, 2)


def can_have_devices(disk: Disk, times: int) -> bool:
    """Whether so many times its devices make a disk so many times as fast."""
    striped = (None, RaidLevel.STRIPED, RaidLevel.STRIPED_MIRRORS)
    return disk.raid in striped and disk.devices * times <= MOST_DEVICES


def faster_disk(plan: Plan, disk_id: str, times: int) -> Plan:
    """A disk so many times as fast: of more devices where it is striped, as one device becomes by RAID 0.

    Mirrors and parity become as fast as is asked for.
    """
    return faster_each(plan, [disk_id], times)


def faster_each(plan: Plan, disk_ids: Iterable[str], times: int) -> Plan:
    """The same of several disks, in one step."""

    def faster(disk: Disk) -> Disk:
        if can_have_devices(disk, times):
            return with_devices(disk, times * disk.devices)
        fields = ("sequential_write_bytes_per_s", "random_write_iops", "random_read_iops")
        return validated.changed(disk, **{name: times * getattr(disk, name) for name in fields})

    return edits.update_disks(plan, dict.fromkeys(disk_ids, faster))


def faster_network(plan: Plan, times: float = NEXT_NETWORK) -> Plan:
    """Links of every host and location so many times as fast."""
    uplinks: dict[str, Any] = {
        place.id: lambda one: validated.changed(one, uplink_bytes_per_s=times * one.uplink_bytes_per_s)
        for place in plan.locations
        if place.uplink_bytes_per_s is not None
    }
    return times_each(edits.update_each(plan, uplinks), plan.hosts, "network_bytes_per_s", times)


def times_each(plan: Plan, hosts: Iterable[Host], field: str, times: float) -> Plan:
    """Hosts with so many times what they have of something."""

    def change(host: Host) -> Host:
        now = getattr(host, field)
        return validated.changed(host, **{field: type(now)(now * times)})

    return edits.update_each(plan, {host.id: change for host in hosts})


def more_cores(plan: Plan) -> Plan:
    """Every host that runs data, SQL or API nodes with twice as many cores."""
    hosts = [
        host
        for host in plan.hosts
        if any(process.kind != "management" for process in plan.processes_of_host[host.id])
        and 2 * host.cores <= MOST_CORES
    ]
    return times_each(plan, hosts, "cores", 2)
