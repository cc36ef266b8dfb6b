"""Effective data node parameters, once per different set of own parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ndbplan.base.memo import memo_by_identity
from ndbplan.configuration.settings import taken
from ndbplan.ndb import catalogue
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode


@dataclass(frozen=True)
class NodeSettings:
    """What holds for some data nodes that have the same parameters of their own."""

    plan: Plan
    nodes: tuple[DataNode, ...]
    shared: bool
    """Whether they have no parameters of their own."""

    @property
    def where(self) -> str:
        """The place in words."""
        if self.shared:
            return "all data nodes"
        ids = ", ".join(str(node.node_id) for node in self.nodes[:4])
        return f"data node{'s' if len(self.nodes) > 1 else ''} {ids}{' …' if len(self.nodes) > 4 else ''}"

    @property
    def object_ids(self) -> tuple[str, ...]:
        """The nodes; none when the setting is the cluster's."""
        return () if self.shared else tuple(node.id for node in self.nodes)

    def value(self, name: str) -> int | str | None:
        """Effective value of a data node parameter; one that ndb_mgmd refuses or lacks is not stated."""
        value = self._stated(name)
        return catalogue.default("DB", name, self.plan.version) if value is None else value

    def _stated(self, name: str) -> int | str | None:
        own = self.nodes[0].parameters if self.nodes else {}
        value = own[name] if name in own else self.plan.parameters.data_node.get(name)
        return None if value is None else taken("DB", name, value, self.plan.version)

    def number(self, name: str) -> int:
        """Effective value of a numeric parameter; 0 when nothing is set."""
        value = self.value(name)
        return value if isinstance(value, int) else 0

    def is_set(self, name: str) -> bool:
        """Whether the plan states the parameter, with a value that ndb_mgmd takes."""
        return self._stated(name) is not None

    def scope_of(self, name: str) -> str:
        """Where an edit changes the parameter: the node that sets it itself, else all data nodes."""
        if self.nodes and name in self.nodes[0].parameters:
            return self.nodes[0].id
        return "data_node"


def settings_of(plan: Plan) -> Iterator[NodeSettings]:
    """The different settings in the plan, those of nodes without own parameters first."""
    return iter(_different(plan))


@memo_by_identity(4)
def _different(plan: Plan) -> tuple[NodeSettings, ...]:
    groups: dict[object, list[DataNode]] = {}
    for node in plan.data_nodes:
        groups.setdefault(tuple(sorted(node.parameters.items(), key=str)), []).append(node)
    if not groups:
        return (NodeSettings(plan, (), True),)
    return tuple(
        NodeSettings(plan, tuple(nodes), key == ())
        for key, nodes in sorted(groups.items(), key=lambda item: item[0] != ())
    )
