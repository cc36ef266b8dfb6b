"""Configuration values as the estimates need them, in every version."""

from __future__ import annotations

from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.settings import data_node_number


def number(plan: Plan, node: DataNode | None, name: str, otherwise: int) -> int:
    """A numeric data node parameter; `otherwise` when the version has no such parameter or no value."""
    try:
        value = data_node_number(plan, node, name)
    except KeyError:
        stated = (node.parameters if node is not None else {}).get(name)
        if stated is None:
            stated = plan.parameters.data_node.get(name)
        return stated if isinstance(stated, int) else otherwise
    return value if value or _states(plan, node, name) else otherwise


def _states(plan: Plan, node: DataNode | None, name: str) -> bool:
    return (node is not None and name in node.parameters) or name in plan.parameters.data_node


_versions: dict[NdbVersion, NdbVersion] = {}


def version_of(plan: Plan) -> NdbVersion:
    """The plan's version as one object for all plans, so that results can be kept by identity."""
    return _versions.setdefault(plan.version, plan.version)
