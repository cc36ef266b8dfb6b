"""The plan with faster or slower disks: what if they did not do what is stated."""

from __future__ import annotations

from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan


def at_disk_speed(plan: Plan, factor: float) -> Plan:
    """Every disk with so many times its speed, and its latency shorter by as much."""
    if factor == 1.0:
        return plan

    def faster(disk: Disk) -> Disk:
        # Not validated: what is tried may lie outside what a plan may state.
        return disk.model_copy(
            update={
                "sequential_read_bytes_per_s": disk.sequential_read_bytes_per_s * factor,
                "sequential_write_bytes_per_s": disk.sequential_write_bytes_per_s * factor,
                "random_read_iops": disk.random_read_iops * factor,
                "random_write_iops": disk.random_write_iops * factor,
                "sync_write_latency_s": disk.sync_write_latency_s / factor,
            }
        )

    hosts = tuple(host.model_copy(update={"disks": tuple(map(faster, host.disks))}) for host in plan.hosts)
    return plan.replace(hosts=hosts)
