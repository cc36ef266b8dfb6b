"""IndexMemory where it is a part of DataMemory: the same memory, stated once."""

from __future__ import annotations

import pytest

from ndbplan.base.units import GIB
from ndbplan.checks.refused.obsolete import _added_to_data_memory
from ndbplan.configuration.settings import node_settings
from ndbplan.configuration.stated import stated
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

PLAN = set_plan(sample_plan("starter"), ndb_version="7.6")
_DATA = node_settings(PLAN).number("DataMemory")
_MOST = catalogue.parameter("DB", "DataMemory", PLAN.version).maximum or 0


def cure(plan: Plan, name: str = "IndexMemory") -> int | str | None:
    """The DataMemory that is offered for a setting."""
    one = next(one for one in stated(plan) if one.reading.name == name)
    edit = _added_to_data_memory(plan, one)
    return None if edit is None else node_settings(edit(plan)).number("DataMemory")


@pytest.mark.parametrize(
    ("index_memory", "version", "total"),
    [
        (GIB, "7.6", _DATA + GIB),
        (_MOST - _DATA, "7.6", _MOST),
        (_MOST - _DATA + 1, "7.6", None),
        (GIB, "7.5", None),
    ],
)
def test_index_memory_is_added_where_data_memory_takes_it(
    index_memory: int, version: str, total: int | None
) -> None:
    plan = set_parameter(set_plan(PLAN, ndb_version=version), "data_node", "IndexMemory", index_memory)
    assert cure(plan) == total


def test_nothing_is_added_for_other_settings_or_where_a_node_has_its_own() -> None:
    plan = set_parameter(PLAN, "data_node", "IndexMemory", GIB)
    assert cure(plan, "DataMemory") is None
    first = plan.data_nodes[0].id
    assert cure(update(plan, first, parameters={"MaxNoOfTables": 200})) == _DATA + GIB
    assert cure(update(plan, first, parameters={"DataMemory": 2 * GIB})) is None
    assert cure(update(plan, first, parameters={"IndexMemory": 2 * GIB})) is None
    assert cure(update(PLAN, first, parameters={"IndexMemory": GIB})) is None
