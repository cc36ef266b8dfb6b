"""Parameters that ndb_mgmd takes with a warning: deprecated, or without effect."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.checks.parameters import without
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import rule, warning
from ndbplan.configuration.settings import node_settings
from ndbplan.configuration.stated import Fate, Stated, stated
from ndbplan.configuration.stated import counting as counting_of
from ndbplan.edits.changes import SetParameter, together
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan


@rule("deprecated-parameter", "A parameter is deprecated")
def deprecated_parameter(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for one in stated(plan):
        entry = one.reading.parameter
        if entry is None or entry.status != "deprecated" or one.reading.fate is Fate.DOUBLED:
            continue
        name = entry.name
        instead = f"; {entry.replaced_by} takes its place" if entry.replaced_by else ""
        removed = without(one.scope, one.reading.written)
        added = _added_to_data_memory(plan, one)
        yield warning(
            one.where,
            f"{name} is deprecated in NDB {plan.ndb_version}{instead}",
            f"remove {name}" if added is None else f"remove {name} and add its value to DataMemory",
            one.object_ids,
            removed if added is None else together((removed, added)),
        )


@rule("not-implemented", "A parameter does nothing yet")
def not_implemented(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for one in stated(plan):
        entry = one.reading.parameter
        if entry is not None and entry.status == "not_implemented" and one.reading.fate is Fate.COUNTS:
            yield warning(
                one.where,
                f"{entry.name} is not implemented in NDB {plan.ndb_version}; ndb_mgmd takes it with a "
                "warning, and nothing heeds it",
                f"remove {entry.name}",
                one.object_ids,
                without(one.scope, one.reading.written),
            )


def _added_to_data_memory(plan: Plan, one: Stated) -> SetParameter | None:
    """From 7.6 on the data node adds a stated IndexMemory to DataMemory; the same memory, stated once."""
    own = any(
        {"DataMemory", "IndexMemory"} & counting_of("DB", node.parameters, plan.ndb_version).keys()
        for node in plan.data_nodes
        if node.parameters
    )
    counts = one.reading.name == "IndexMemory" and one.reading.fate is Fate.COUNTS
    if not counts or not plan.features.index_memory_joined or one.scope != "data_node" or own:
        return None
    entry = catalogue.parameter("DB", "DataMemory", plan.version)
    value = one.reading.value
    total = node_settings(plan).number("DataMemory") + value if isinstance(value, int) else 0
    return SetParameter("data_node", "DataMemory", total) if 0 < total <= (entry.maximum or total) else None
