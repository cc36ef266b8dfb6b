"""What changes between two configurations, and what that restarts.

diff(running, planned).restart      # node
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.shapes import Shape
from ndbplan.configuration.connections import connections_of, nodes_that_differ
from ndbplan.configuration.mysqld import as_read, stated_options
from ndbplan.configuration.node_groups import reserved_nodes
from ndbplan.configuration.sections import (
    NodeConfiguration,
    connection_defaults,
    effective_configuration,
    link_configuration,
)
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.values import format_value
from ndbplan.plan.plan import Plan

_KIND_WORDS = {
    "DB": "data node",
    "MGM": "management node",
    "API": "SQL or API node",
    "TCP": "connections of data node",
    "SHM": "connections of data node",
    "MYSQLD": "mysqld of SQL node",
}
MYSQLD = "MYSQLD"
"""Section of what stands in my.cnf, beside the sections of config.ini."""


RESTART_DATA_NODES = ("DB", "TCP", "SHM", "SYSTEM")
"""Sections whose changes data nodes read when they restart."""


_MOST_NAMED = 12
"""Parameters that a sentence names."""


@dataclass(frozen=True)
class ParameterChange(Shape):
    """One parameter that has another effective value on some nodes."""

    JSON = "section parameter=name node_ids before after restart"

    section: str
    name: str
    node_ids: tuple[int, ...]
    before: int | str | None
    after: int | str | None
    restart: str
    """node, initial_node, system or initial_system."""

    @property
    def where(self) -> str:
        """The nodes in words."""
        ids = ", ".join(map(str, self.node_ids[:6])) + (" …" if len(self.node_ids) > 6 else "")
        return f"{_KIND_WORDS.get(self.section, self.section)}{'s' if len(self.node_ids) > 1 else ''} {ids}"

    def shown(self, value: int | str | None) -> str:
        """A value as config.ini shows it."""
        if value is None:
            return "not set"
        known = catalogue.exists(self.section, self.name)
        return format_value(catalogue.parameter(self.section, self.name) if known else None, value)


@dataclass(frozen=True)
class Difference(Shape):
    """Everything that differs between two configurations."""

    JSON = "restart parameters added_node_ids removed_node_ids links"

    parameters: tuple[ParameterChange, ...]
    """Heaviest restart first."""
    added: tuple[NodeConfiguration, ...]
    removed: tuple[NodeConfiguration, ...]
    links: tuple[tuple[int, int], ...]
    """Connections with other settings, by node ids."""
    restart: str
    """The heaviest restart that any of it needs; nothing when nothing changes."""

    @property
    def is_empty(self) -> bool:
        """Whether both configurations mean the same."""
        return not (self.parameters or self.added or self.removed or self.links)

    @property
    def added_node_ids(self) -> tuple[int, ...]:
        """Ids of the new nodes."""
        return tuple(node.node_id for node in self.added)

    @property
    def removed_node_ids(self) -> tuple[int, ...]:
        """Ids of the nodes that go."""
        return tuple(node.node_id for node in self.removed)


@kept_by_identity(size=4)
def in_words(difference: Difference) -> str:
    """The parameters that change, as a further sentence; nothing where none does."""
    named = [
        f"{one.name} of {one.where} from {one.shown(one.before)} to {one.shown(one.after)}"
        for one in difference.parameters[:_MOST_NAMED]
    ]
    more = len(difference.parameters) - len(named)
    named += [f"{more} more, which `ndbplan diff` lists"] if more else []
    return f" What changes: {'; '.join(named)}." if named else ""


def diff(before: Plan, after: Plan) -> Difference:
    """What changes from one configuration to another; restarts as the version of `after` needs them."""
    old, new = effective_configuration(before), effective_configuration(after)
    both = [node_id for node_id in new if node_id in old and new[node_id].section == old[node_id].section]
    added = tuple(new[node_id] for node_id in sorted(new) if node_id not in both)
    removed = tuple(old[node_id] for node_id in sorted(old) if node_id not in both)
    parameters = _parameters(before, after, {node_id: (old[node_id], new[node_id]) for node_id in both})
    links_old, links_new = link_configuration(before), link_configuration(after)
    pairs = {
        pair for pair in links_old.keys() | links_new.keys() if links_old.get(pair) != links_new.get(pair)
    }
    links = tuple(sorted(pairs | _made_otherwise(before, after, frozenset(both))))
    parameters += _of_connections(before, after)
    parameters += _of_mysqld(before, after)
    return _difference(tuple(sorted(parameters, key=_weight)), added, removed, links, _without_rows(before))


def _without_rows(plan: Plan) -> frozenset[int]:
    """Data nodes that hold nothing, as they wait for their node group."""
    return frozenset(node.node_id for node in reserved_nodes(plan))


def diff_from_defaults(plan: Plan) -> Difference:
    """What the plan states other than the defaults of its version."""
    found: dict[tuple[str, str, str], list[int]] = {}
    values: dict[tuple[str, str, str], tuple[int | str | None, int | str]] = {}
    for node in effective_configuration(plan).values():
        for name, value in node.stated.items():
            default = catalogue.default(node.section, name, plan.version)
            if value != default and name not in ("HostName", "Nodegroup", "LocationDomainId"):
                key = (node.section, name, str(value))
                found.setdefault(key, []).append(node.node_id)
                values[key] = (default, value)
    changes = tuple(
        _change(plan, (section, name), ids, values[section, name, shown])
        for (section, name, shown), ids in found.items()
    )
    return _difference(tuple(sorted(changes, key=_weight)), (), (), ())


def _weight(change: ParameterChange) -> tuple[int, str, str]:
    return (-catalogue.RESTARTS.index(change.restart), change.section, change.name)


def _restart(plan: Plan, section: str, name: str) -> str:
    if not catalogue.exists(section, name):
        return "node"
    return catalogue.parameter(section, name, plan.version).restart


def _change(
    plan: Plan, what: tuple[str, str], ids: list[int], values: tuple[int | str | None, int | str | None]
) -> ParameterChange:
    return ParameterChange(*what, tuple(sorted(ids)), *values, _restart(plan, *what))


def _parameters(
    before: Plan, after: Plan, pairs: dict[int, tuple[NodeConfiguration, NodeConfiguration]]
) -> list[ParameterChange]:
    changes: dict[tuple[str, str, str, str], list[int]] = {}
    values: dict[tuple[str, str, str, str], tuple[int | str | None, int | str | None]] = {}
    for node_id, (old, new) in pairs.items():
        for name in dict.fromkeys((*old.stated, *new.stated)):
            was, will_be = _value(old, name, before), _value(new, name, after)
            if was != will_be:
                key = (new.section, name, str(was), str(will_be))
                changes.setdefault(key, []).append(node_id)
                values[key] = (was, will_be)
    found = [
        _change(after, (section, name), ids, values[section, name, was, will_be])
        for (section, name, was, will_be), ids in changes.items()
    ]
    joining = _without_rows(before) - _without_rows(after)
    return [_of_a_group(one, joining) if one.name == "Nodegroup" else one for one in found]


def _of_a_group(change: ParameterChange, joining: frozenset[int]) -> ParameterChange:
    """Data nodes remember their groups: what the file says counts in the first start of a cluster.

    Of those that have none yet, CREATE NODEGROUP makes groups while the cluster works; `joining` are theirs.
    """
    return replace(change, restart="node" if joining.issuperset(change.node_ids) else "initial_system")


def _value(node: NodeConfiguration, name: str, plan: Plan) -> int | str | None:
    return node.value(name, plan) if catalogue.exists(node.section, name) else node.stated.get(name)


def _made_otherwise(before: Plan, after: Plan, both: frozenset[int]) -> set[tuple[int, int]]:
    """Connections without a section of their own that ndb_mgmd makes otherwise than before.

    Between nodes that are of the same kind in both plans (`both`, by id): through shared memory instead of
    TCP, with the buffers of a wide area, at another port, bound or with TLS as their nodes are. New nodes
    bring theirs along, and defaults of a kind are parameters that are told.
    """
    asked = nodes_that_differ(before, after) & both
    if not asked:
        return set()
    old, new = (
        {
            (min(one.node_ids), max(one.node_ids)): (one.kind, one.given)
            for one in connections_of(plan, asked)
            if one.link is None and both.issuperset(one.node_ids)
        }
        for plan in (before, after)
    )
    return {pair for pair in old.keys() & new.keys() if old[pair] != new[pair]}


def _of_connections(before: Plan, after: Plan) -> list[ParameterChange]:
    """Changes in [tcp default] and [shm default], which concern every data node."""
    ids = tuple(node.node_id for node in after.data_nodes)
    changes = []
    defaults_before, defaults_after = connection_defaults(before), connection_defaults(after)
    for section, old in defaults_before.items():
        new = defaults_after[section]
        for name in dict.fromkeys((*old, *new)):
            was = old.get(name, catalogue.default(section, name, before.version))
            will_be = new.get(name, catalogue.default(section, name, after.version))
            if was != will_be:
                changes.append(
                    ParameterChange(section, name, ids, was, will_be, _restart(after, section, name))
                )
    return changes


def _of_mysqld(before: Plan, after: Plan) -> Iterator[ParameterChange]:
    """Options of mysqld that the plans state otherwise, for SQL nodes of both.

    What else my.cnf says follows from hosts and node ids, whose change is told as such.
    """
    old = {node.node_id: stated_options(node) for node in before.sql_nodes}
    changed: dict[tuple[str, str | None, str | None], list[int]] = {}
    for node in after.sql_nodes:
        if (was := old.get(node.node_id)) is None:
            continue
        will_be = stated_options(node)
        read_before, read_after = as_read(before, was), as_read(after, will_be)
        for name in dict.fromkeys((*was, *will_be)):
            if read_before.get(name) != read_after.get(name):
                changed.setdefault((name, was.get(name), will_be.get(name)), []).append(node.node_id)
    for (name, value, now), ids in changed.items():
        yield ParameterChange(MYSQLD, name, tuple(ids), value, now, "node")


def _difference(
    parameters: tuple[ParameterChange, ...],
    added: tuple[NodeConfiguration, ...],
    removed: tuple[NodeConfiguration, ...],
    links: tuple[tuple[int, int], ...],
    without_rows: frozenset[int] = frozenset(),
) -> Difference:
    needs = ["nothing"]
    needs += [change.restart for change in parameters if change.section in RESTART_DATA_NODES]
    if links or added or removed or parameters:
        needs.append("node")
    if any(node.section == "DB" and node.node_id not in without_rows for node in removed):
        needs.append("initial_system")
    heaviest = max(needs, key=catalogue.RESTARTS.index)
    return Difference(parameters, added, removed, links, heaviest)
