"""Configuration values as the estimates need them, in every version."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ndbplan.base.frozen import FrozenMap
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import EMPTY_PLAN, Calibration, ClusterParameters, Plan
from ndbplan.plan.processes import DataNode

_versions: dict[NdbVersion, NdbVersion] = {}


def version_of(plan: Plan) -> NdbVersion:
    """The plan's version as one object for all plans, so that results can be kept by identity."""
    return _versions.setdefault(plan.version, plan.version)


KEPT_NODES = 600
"""Figures of nodes that are kept for the next edit: four plans of the largest cluster.

More would only make Python's garbage collector walk over what nobody asks for again.
"""

NODE_SETTINGS = frozenset(
    {
        "BackupDiskWriteSpeedPct",
        "Diskless",
        "CompressedBackup",
        "CompressedLCP",
        "DiskCheckpointSpeed",
        "DiskCheckpointSpeedInRestart",
        "DiskPageBufferMemory",
        "EnableMultithreadedBackup",
        "EnablePartialLcp",
        "EnableRedoControl",
        "FragmentLogFileSize",
        "InsertRecoveryWork",
        "MaxDiskWriteSpeed",
        "MaxDiskWriteSpeedOtherNodeRestart",
        "MaxDiskWriteSpeedOwnRestart",
        "MinDiskWriteSpeed",
        "NoOfFragmentLogFiles",
        "RecoveryWork",
    }
)
"""Parameters that estimates of one data node under a workload read."""


FILE_SETTINGS = NODE_SETTINGS | {
    "DataMemory",
    "Discless",
    "Diskless",
    "InitFragmentLogFiles",
    "InitialLogfileGroup",
    "InitialTablespace",
    "MinFreePct",
    "NoOfFragmentLogParts",
}
"""Parameters that decide how large the files of a data node are."""


@lru_cache(maxsize=64)
def _settings(
    parameters: tuple[tuple[str, int | str], ...], calibrations: tuple[Calibration, ...], version: str
) -> Plan:
    data_node = FrozenMap(parameters)
    return EMPTY_PLAN.replace(
        parameters=ClusterParameters(data_node=data_node), calibrations=calibrations, ndb_version=version
    )


def settings_of(plan: Plan) -> Plan:
    """A plan with only the version, the calibrations and the NODE_SETTINGS of this one.

    The same object for all plans that agree in them, so that figures of a node can be kept by identity while
    hosts are dragged and other parameters change.
    """
    return _chosen(plan, plan.parameters.data_node, NODE_SETTINGS)


def settings_of_node(plan: Plan, node: DataNode, names: frozenset[str] = NODE_SETTINGS) -> Plan:
    """The same of one data node, its own parameters for those of all: what holds for it without naming it.

    One and the same object for all nodes that agree, so that a figure is computed once for all of them.
    """
    shared = plan.parameters.data_node
    return _chosen(plan, {**shared, **node.parameters} if node.parameters else shared, names)


def _chosen(plan: Plan, stated: Mapping[str, int | str], names: frozenset[str]) -> Plan:
    used = tuple((name, stated[name]) for name in sorted(names & stated.keys()))
    return _settings(used, plan.calibrations, plan.ndb_version)
