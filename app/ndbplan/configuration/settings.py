"""Which value a configuration parameter has for a node: its own, the cluster's, or the version's default."""

from __future__ import annotations

from functools import lru_cache

from ndbplan.base.units import MIB
from ndbplan.ndb import catalogue
from ndbplan.ndb.values import parse_integer, refusal
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
    value = _stated(plan, node, name)
    return catalogue.default("DB", name, plan.version) if value is None else value


def _stated(plan: Plan, node: DataNode | None, name: str) -> int | str | None:
    own = node.parameters if node is not None else {}
    value = own[name] if name in own else plan.parameters.data_node.get(name)
    return None if value is None else taken("DB", name, value, plan.version)


@lru_cache(maxsize=4096)
def taken(section: str, name: str, value: int | str, version: NdbVersion) -> int | str | None:
    """A stated value as it counts: not at all when ndb_mgmd of the version refuses or does not know it.

    Checks name such a value and offer to take it away; everything else can still be computed, with the
    numbers that come out then.
    """
    if not catalogue.knows(section, name, version):
        return None
    parameter = catalogue.parameter(section, name, version)
    if refusal(parameter, value, version):
        return None
    if isinstance(value, str) and (parameter.is_number or parameter.type == "bool"):
        return parse_integer(value, version)
    return value


def data_node_number(plan: Plan, node: DataNode | None, name: str) -> int:
    """Value of a numeric data node parameter (bytes, count, flag as 0 or 1); 0 when nothing is set."""
    value = data_node_text(plan, node, name)
    return value if isinstance(value, int) else 0


def is_set(plan: Plan, node: DataNode | None, name: str) -> bool:
    """Whether the plan states the parameter, for the node or for all data nodes, so that it counts."""
    return _stated(plan, node, name) is not None


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
