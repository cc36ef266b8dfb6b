"""The configuration that each node ends up with: defaults of its kind and what is set for it alone."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.exporting.config_ini import Section, sections
from ndbplan.ndb import catalogue
from ndbplan.ndb.values import BadValueError, parse_value
from ndbplan.plan.plan import Plan

KINDS = {"ndb_mgmd": "MGM", "ndbd": "DB", "mysqld": "API", "api": "API"}


@dataclass(frozen=True)
class NodeConfiguration:
    """What config.ini says about one node."""

    node_id: int
    section: str
    """MGM, DB or API."""
    stated: dict[str, int | str]
    """Parameters that the file states for it, by name; the id is left out."""

    def value(self, name: str, plan: Plan) -> int | str | None:
        """Effective value, the version's default included."""
        if name in self.stated:
            return self.stated[name]
        return catalogue.default(self.section, name, plan.version)


def effective_configuration(plan: Plan) -> dict[int, NodeConfiguration]:
    """The configuration of every node by node id, as the exported config.ini states it."""
    defaults: dict[str, dict[str, int | str]] = {}
    found: dict[int, NodeConfiguration] = {}
    for section in sections(plan):
        word, _, default = section.header.partition(" ")
        if default:
            defaults[KINDS.get(word, word.upper())] = _values(plan, KINDS.get(word, word.upper()), section)
        elif word in KINDS:
            kind = KINDS[word]
            values = {**defaults.get(kind, {}), **_values(plan, kind, section)}
            node_id = int(values.pop("NodeId"))
            found[node_id] = NodeConfiguration(node_id, kind, values)
    return found


def link_configuration(plan: Plan) -> dict[tuple[int, int], dict[str, int | str]]:
    """Settings of the connections that have a section of their own, by node ids in ascending order."""
    found: dict[tuple[int, int], dict[str, int | str]] = {}
    for section in sections(plan):
        if section.header in ("tcp", "shm"):
            values = _values(plan, section.header.upper(), section)
            ends = sorted((int(values.pop("NodeId1")), int(values.pop("NodeId2"))))
            found[ends[0], ends[1]] = {"section": section.header, **values}
    return found


def _values(plan: Plan, kind: str, section: Section) -> dict[str, int | str]:
    values: dict[str, int | str] = {}
    for entry in section.entries:
        parameter = catalogue.parameter(kind, entry.name, plan.version)
        try:
            values[parameter.name] = parse_value(parameter, entry.value, plan.version)
        except BadValueError:
            values[parameter.name] = entry.value
    return values
