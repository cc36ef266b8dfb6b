"""Which value a configuration parameter has for a node: its own, the cluster's, or the version's default."""

from __future__ import annotations

from functools import lru_cache

from ndbplan.base.units import MIB
from ndbplan.ndb import catalogue
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import Parameters
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, Process, SqlNode

SECTIONS = {"data": "DB", "management": "MGM", "sql": "API", "api": "API"}
"""Section of the parameter catalogue for each kind of process."""

SCOPES = {
    "data_node": "DB",
    "management": "MGM",
    "sql": "API",
    "tcp": "TCP",
    "shm": "SHM",
    "system": "SYSTEM",
}
"""Section of the catalogue for each field of `Plan.parameters`."""


def data_node_text(plan: Plan, node: DataNode | None, name: str) -> int | str | None:
    """Value of a data node parameter; without a node: the cluster's. KeyError for an unknown name."""
    if node is not None and name in node.parameters:
        return node.parameters[name]
    if name in plan.parameters.data_node:
        return plan.parameters.data_node[name]
    return catalogue.default("DB", name, plan.version)


def data_node_number(plan: Plan, node: DataNode | None, name: str) -> int:
    """Value of a numeric data node parameter (bytes, count, flag as 0 or 1); 0 when nothing is set.

    A value that the product would refuse counts as the nearest one it takes, text as the default: checks name
    such a value, and everything else can still be computed.
    """
    value = data_node_text(plan, node, name)
    if is_set(plan, node, name):
        return _taken(name, value, plan.version)
    return value if isinstance(value, int) else 0


@lru_cache(maxsize=4096)
def _taken(name: str, value: int | str | None, version: NdbVersion) -> int:
    try:
        parameter = catalogue.parameter("DB", name, version)
    except KeyError:
        return value if isinstance(value, int) else 0
    if not isinstance(value, int):
        return parameter.default if isinstance(parameter.default, int) else 0
    if not parameter.is_number:
        return value
    low = value if parameter.minimum is None else parameter.minimum
    high = value if parameter.maximum is None else parameter.maximum
    return min(max(value, low), high)


def is_set(plan: Plan, node: DataNode | None, name: str) -> bool:
    """Whether the plan states the parameter, for the node or for all data nodes."""
    return (node is not None and name in node.parameters) or name in plan.parameters.data_node


def no_of_replicas(plan: Plan) -> int:
    """NoOfReplicas: copies of every row, and members of a node group."""
    return max(1, data_node_number(plan, None, "NoOfReplicas"))


def redo_buffer_bytes(plan: Plan, node: DataNode | None) -> int:
    """RedoBuffer of one log part, rounded up to 512 KiB as the product does."""
    step = MIB // 2
    return -(-data_node_number(plan, node, "RedoBuffer") // step) * step


def redo_log_parts(plan: Plan, node: DataNode | None) -> int:
    """NoOfFragmentLogParts: log parts of a data node."""
    return max(1, data_node_number(plan, node, "NoOfFragmentLogParts"))


def cluster_parameters_of(plan: Plan, process: Process) -> Parameters:
    """The parameters set for all nodes of the kind of this process."""
    if isinstance(process, DataNode):
        return plan.parameters.data_node
    if isinstance(process, ManagementNode):
        return plan.parameters.management
    return plan.parameters.sql


def effective(
    plan: Plan, process: ManagementNode | DataNode | SqlNode | ApiSlot, name: str
) -> int | str | None:
    """Value of a parameter for one process: its own, its kind's, or the version's default."""
    shared = cluster_parameters_of(plan, process)
    if name in process.parameters:
        return process.parameters[name]
    return shared[name] if name in shared else catalogue.default(SECTIONS[process.kind], name, plan.version)
