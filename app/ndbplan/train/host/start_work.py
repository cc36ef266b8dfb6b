"""What data nodes that start read and write on the disks of a host, phase after phase, as estimated.

work_of_starts(cluster, host)["host1-nvme0"].read_bytes_per_s

The simulation has the load and checkpoints of nodes that run; of a start it has how long its phases take.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.estimate.space.disk_space import disk_space
from ndbplan.estimate.stored import node_data_by_id
from ndbplan.estimate.times.restart_phases import DISK_FILES, REDO_LOG_FILES
from ndbplan.plan.hardware import Host
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.simulate.series import latest_restarts
from ndbplan.train.configuring import node_plan
from ndbplan.train.live import LiveCluster

_RESTORES = "restore from local checkpoint"
_MADE = {REDO_LOG_FILES: (DiskRole.REDO,), DISK_FILES: (DiskRole.UNDO, DiskRole.DATA_FILES)}
"""What is written in full in a phase."""


class DiskWork(NamedTuple):
    """Of one disk."""

    read_bytes_per_s: float = 0.0
    written_bytes_per_s: float = 0.0


def work_of_starts(cluster: LiveCluster, host: Host) -> dict[str, DiskWork]:
    """By the id of the disk: at this moment, of all data nodes of the host that go through a restart.

    A checkpoint is read when fragments are restored; redo log, undo and data files are made in full. Rows
    that are copied from other nodes are not counted.
    """
    sim, found = cluster.session.simulation, dict[str, DiskWork]()
    running = {one.node_id: one for one in latest_restarts(sim.restarts, sim.at_s)}
    for node in (one for one in cluster.plan.data_nodes if one.host_id == host.id):
        restart = running.get(node.node_id)
        number = None if restart is None else restart.phase_at(sim.at_s)
        if restart is None or number is None or not cluster.state.nodes[node.node_id].runs:
            continue
        name, seconds = restart.phases[number]
        for disk_id, work in _work(cluster, node, name):
            old = found.get(disk_id, DiskWork())
            read, written = (amount / max(seconds, 1.0) for amount in work)
            found[disk_id] = DiskWork(old.read_bytes_per_s + read, old.written_bytes_per_s + written)
    return found


def _work(cluster: LiveCluster, node: DataNode, phase: str) -> Iterator[tuple[str, tuple[float, float]]]:
    """Bytes that a whole phase reads and writes, by disk."""
    plan = node_plan(cluster.session.simulation, node.node_id)
    if phase == _RESTORES:
        disk_id, data = node.disk_roles.disk_of(DiskRole.LCP), node_data_by_id(plan).get(node.node_id)
        if disk_id is not None and data is not None:
            yield disk_id, (data.checkpoint_bytes, 0.0)
    for space in disk_space(plan).disks if phase in _MADE else ():
        own = (one for one in space.files if one.node_id == node.node_id)
        size = sum(one.bytes.value for one in own if one.role in _MADE[phase])
        if size:
            yield space.disk_id, (0.0, size)
