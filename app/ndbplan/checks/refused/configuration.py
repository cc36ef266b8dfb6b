"""Rules about the configuration as such: what ndb_mgmd of the version refuses or leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ndbplan.checks.problem import Edit, Problem
from ndbplan.checks.rule import error, rule, warning
from ndbplan.configuration.settings import SCOPES, SECTIONS
from ndbplan.edits.changes import SetParameter, Together
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.values import format_value, refusal
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan

KIND_NAMES = {"data": "data node", "management": "management node", "sql": "SQL node", "api": "API slot"}
"""What people call each kind of process."""


def parameter_scopes(plan: Plan) -> Iterator[tuple[str, str, str, Mapping[str, int | str], tuple[str, ...]]]:
    """Every place with parameters: scope for edits, section, place in words, parameters, object ids."""
    for scope, section in SCOPES.items():
        values = getattr(plan.parameters, scope)
        if values:
            yield scope, section, f"all {scope.replace('_', ' ')} settings", values, ()
    for process in plan.processes:
        if process.parameters:
            where = f"{KIND_NAMES[process.kind]} {process.node_id}"
            yield process.id, SECTIONS[process.kind], where, process.parameters, (process.id,)


def is_settable(section: str, name: str, version: NdbVersion) -> bool:
    """Whether a version knows the parameter and lets users set it."""
    return (
        catalogue.knows(section, name, version)
        and catalogue.parameter(section, name, version).status != "internal"
    )


def without(scope: str, name: str) -> Edit:
    """The edit that takes a parameter back to its default."""
    return SetParameter(scope, name, None)


def _renamed(scope: str, old: str, new: str, value: int | str) -> Edit:
    return Together((SetParameter(scope, old, None), SetParameter(scope, new, value)))


@rule("node-kinds", "A data node, a management node or an SQL or API node is missing", refused=True)
def node_kinds(plan: Plan) -> Iterator[Problem]:
    for kind, present in (
        ("data node", plan.data_nodes),
        ("management node", plan.management_nodes),
        ("SQL or API node", (*plan.sql_nodes, *plan.api_slots)),
    ):
        if not present:
            yield error(
                "cluster", f"there is no {kind}; ndb_mgmd asks for one of each kind at least", f"add a {kind}"
            )


@rule("unknown-parameter", "The version does not know a parameter")
def unknown_parameter(plan: Plan) -> Iterator[Problem]:
    for scope, section, where, values, ids in parameter_scopes(plan):
        for name, value in values.items():
            if is_settable(section, name, plan.version):
                proper = catalogue.parameter(section, name, plan.version).name
                if proper != name:
                    # A value that is refused, or stated a second time, is not worth a new name.
                    doubled = next(n for n in values if n.lower() == name.lower() or n == proper) != name
                    gone = (
                        doubled
                        or proper in values
                        or refusal(catalogue.parameter(section, name, plan.version), value, plan.version)
                    )
                    yield warning(
                        where,
                        f"'{name}' is written {proper} in the manual; only that spelling counts in estimates",
                        f"remove {name}" if gone else f"write {proper}",
                        ids,
                        without(scope, name) if gone else _renamed(scope, name, proper, value),
                    )
                continue
            if catalogue.knows(section, name, plan.version):
                text = f"{name} is internal and cannot be configured"
            elif catalogue.exists(section, name):
                entry = catalogue.parameter(section, name)
                since = f"came with {entry.since}"
                if entry.removed:
                    since = f"was removed in {entry.removed}"
                text = f"NDB {plan.ndb_version} does not know {name}: it {since}"
            else:
                text = f"no NDB version knows a parameter '{name}' for {where}"
            yield warning(
                where,
                f"{text}; the export leaves it out, because ndb_mgmd would refuse the file",
                f"remove {name}",
                ids,
                without(scope, name),
            )


@rule("parameter-value", "ndb_mgmd does not take a value", refused=True)
def parameter_value(plan: Plan) -> Iterator[Problem]:
    for scope, section, where, values, ids in parameter_scopes(plan):
        for name, value in values.items():
            if not is_settable(section, name, plan.version):
                continue
            entry = catalogue.parameter(section, name, plan.version)
            bad = refusal(catalogue.parameter(section, name, plan.version), value, plan.version)
            if bad:
                default = f" {format_value(entry, entry.default)}" if entry.default is not None else ""
                yield error(
                    where,
                    f"{entry.name} {bad}; ndb_mgmd refuses the configuration",
                    f"set it back to the default{default}",
                    ids,
                    without(scope, name),
                )
