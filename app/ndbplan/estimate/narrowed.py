"""Data nodes as figures of loads and times see them, so that these are kept while the rest changes.

machines = narrowed(machines_of(plan))          # one object for all plans that agree in what they read
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ndbplan.base.kept import kept_by_identity, kept_by_value, same
from ndbplan.configuration.settings import NodeSettings
from ndbplan.configuration.space_files import FileShares
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.node_settings import KEPT_NODES, NODE_SETTINGS
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.ndb.threads.layout import THREAD_PARAMETERS
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.processes import DataNode, DiskRole

READ = (
    NODE_SETTINGS
    | frozenset(THREAD_PARAMETERS)
    | {
        "BackupLogBufferSize",
        "BuildIndexThreads",
        "ClassicFragmentation",
        "DataMemory",
        "DiskIOThreadPool",
        "IndexMemory",
        "InitFragmentLogFiles",
        "MaxParallelCopyInstances",
        "MaxReorgBuildBatchSize",
        "NoOfFragmentLogParts",
        "MinFreePct",
        "NoOfReplicas",
        "TwoPassInitialNodeRestartCopy",
    }
)
"""Parameters that figures of loads and of times read of data nodes."""

_OF_HOSTS = (
    "id", "hostname", "location_id", "cores", "clock_ghz", "core_gain_per_clock", "network_bytes_per_s",
    "disks",
)  # fmt: skip
"""What these figures read of hosts."""


@kept_by_identity(size=96)
def narrowed(machines: Machines, names: frozenset[str] = READ) -> Machines:
    """The same with no other parameters than these: one object for all clusters that agree in the rest."""
    nodes = (
        _machine(
            one.node,
            bare(one.host),
            one.settings.only(names),
            one.disks,
            one.file_shares,
            one.small_log_files,
        )
        for one in machines.nodes
    )
    groups = _groups(tuple(tuple(one.node_id for one in group) for group in machines.groups))
    return _machines(
        machines.constants, machines.settings.only(names), machines.locations, groups, same(nodes)
    )


def bare(host: Host) -> Host:
    """A host with what figures of loads, times and files read of it: one object for all that agree in that.

    Whatever else is asked of it, such as its memory or its prices, raises AttributeError.
    """
    return _bare(
        host.id, host.hostname, host.location_id, host.cores, host.clock_ghz, host.core_gain_per_clock,
        host.network_bytes_per_s, host.disks,
    )  # fmt: skip


@kept_by_identity(size=4 * KEPT_NODES)
def _bare(*values: Any) -> Host:
    host = Host.model_construct(**dict(zip(_OF_HOSTS, values, strict=True)))
    for name in Host.model_fields.keys() - {*_OF_HOSTS}:
        host.__dict__.pop(name, None)
    return host


@kept_by_identity(size=4 * KEPT_NODES)
def _machine(
    node: DataNode,
    host: Host,
    settings: NodeSettings,
    disks: Mapping[DiskRole, Disk | None],
    file_shares: FileShares,
    small_log_files: bool,
) -> Machine:
    return Machine(node, host, settings, disks, file_shares, small_log_files)


@kept_by_value(16)
def _groups(node_ids: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    return node_ids


@kept_by_identity(size=48)
def _machines(
    constants: Constants,
    settings: NodeSettings,
    locations: tuple[Location, ...],
    groups: tuple[tuple[int, ...], ...],
    nodes: tuple[Machine, ...],
) -> Machines:
    by_id = {one.node_id: one for one in nodes}
    members = tuple(tuple(by_id[node_id] for node_id in group) for group in groups)
    return Machines(constants, settings, by_id, members, locations)
