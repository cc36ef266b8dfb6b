"""The plan with faster or slower disks: what if they did not do what is stated."""

from __future__ import annotations

from ndbplan.plan.fields import MAX_RATE
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan

_FASTEST = {
    "sequential_read_bytes_per_s": MAX_RATE,
    "sequential_write_bytes_per_s": MAX_RATE,
    "random_read_iops": 1e9,
    "random_write_iops": 1e9,
}
_SLOWEST, _LONGEST_S = 1.0, 1e9
"""What a plan may state of a disk: edits that follow check it."""


def at_disk_speed(plan: Plan, factor: float) -> Plan:
    """Every disk with so many times its speed, and its latency shorter by as much."""
    if factor == 1.0:
        return plan

    def faster(disk: Disk) -> Disk:
        speeds = {
            name: min(most, max(_SLOWEST, getattr(disk, name) * factor)) for name, most in _FASTEST.items()
        }
        return disk.model_copy(
            update={**speeds, "sync_write_latency_s": min(_LONGEST_S, disk.sync_write_latency_s / factor)}
        )

    hosts = tuple(host.model_copy(update={"disks": tuple(map(faster, host.disks))}) for host in plan.hosts)
    return plan.replace(hosts=hosts)
