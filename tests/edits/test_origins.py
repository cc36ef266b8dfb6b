"""Who set a value follows from what sets it."""

from __future__ import annotations

import random

import pytest

from ndbplan.base.errors import UserError
from ndbplan.configuration.stated import link_scope, stated
from ndbplan.edits import parts as edits
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import credited, value_changes
from ndbplan.edits.clipboard import copy, paste
from ndbplan.edits.first_steps import lacking
from ndbplan.edits.parameters import put_origin, set_parameter, stated_at
from ndbplan.plan.fields import NO_PARAMETERS, Parameters
from ndbplan.plan.origins import SetByImport, SetByProgram
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Link
from ndbplan.plan.samples import sample_plan

RULE = SetByProgram(rule="some-rule", reason="because")
FILE = SetByImport(file="config.ini", line=3)
SCOPES = ("data_node", "sql", "ndb1", "ndb2")


def _plan() -> Plan:
    plan = sample_plan("starter")
    nodes = plan.data_nodes
    plan = edits.update(plan, nodes[0].id, id="ndb1")
    return edits.update(plan, nodes[1].id, id="ndb2")


def _origin(plan: Plan, scope: str, name: str) -> object:
    return stated_at(plan, scope)[1].get(name)


@pytest.mark.parametrize("scope", ["data_node", "ndb1"])
def test_what_a_person_sets_is_pinned(scope: str) -> None:
    plan = set_parameter(_plan(), scope, "RedoBuffer", 2**26, FILE)
    assert _origin(plan, scope, "RedoBuffer") == FILE
    place = "parameters.data_node" if scope == "data_node" else "processes[ndb1]"
    other, _ = assign(plan, f"{place}.RedoBuffer=128M")
    assert _origin(other, scope, "RedoBuffer") is None
    same, _ = assign(plan, f"{place}.RedoBuffer=64M")
    assert _origin(same, scope, "RedoBuffer") is None
    assert not value_changes(plan, same)
    again, _ = assign(same, f"{place}.RedoBuffer=64M")
    assert again is same


def test_of_several_links_one_alone_is_told_of() -> None:
    plan = _plan()
    pairs = [("ndb1", "ndb2"), ("ndb1", plan.sql_nodes[0].id)]
    stated_there: Parameters = NO_PARAMETERS.with_("SendBufferMemory", 2**21)
    links = tuple(Link(process_id_1=a, process_id_2=b, parameters=stated_there) for a, b in pairs)
    one, other = (link_scope(link) for link in links)
    told = put_origin(plan.replace(links=links), one, "SendBufferMemory", FILE)
    assert _origin(told, one, "SendBufferMemory") == FILE
    assert _origin(told, other, "SendBufferMemory") is None


def test_parameters_that_are_set_whole_are_pinned_where_they_change() -> None:
    plan = set_parameter(_plan(), "ndb1", "RedoBuffer", 2**26, FILE)
    plan = set_parameter(plan, "ndb1", "ODirect", 1, RULE)
    plan, _ = assign(plan, 'processes[ndb1].parameters={"RedoBuffer": 67108864, "ODirect": 0}')
    assert _origin(plan, "ndb1", "RedoBuffer") == FILE
    assert _origin(plan, "ndb1", "ODirect") is None


def test_the_program_keeps_what_it_replaced_and_gives_it_back() -> None:
    plan = set_parameter(_plan(), "data_node", "RedoBuffer", 2**26, FILE)
    plan = set_parameter(plan, "data_node", "redobuffer", 2**27, RULE)
    plan = set_parameter(plan, "data_node", "RedoBuffer", 2**28, RULE)
    decided = _origin(plan, "data_node", "RedoBuffer")
    assert isinstance(decided, SetByProgram)
    assert (decided.instead, decided.imported) == (2**26, FILE)
    assert (
        _origin(set_parameter(plan, "data_node", "RedoBuffer", 2**26, RULE), "data_node", "RedoBuffer")
        == FILE
    )


def test_a_change_of_any_kind_is_credited_to_who_made_it() -> None:
    before = set_parameter(_plan(), "ndb2", "ODirect", 0, FILE)
    after = set_parameter(before, "data_node", "RedoBuffer", 2**27)
    after = set_parameter(after, "ndb2", "ODirect", 1)
    after = edits.update(after, after.hosts[0].id, cores=3)
    told = credited(before, after, RULE)
    assert not value_changes(after, told)
    assert _origin(told, "ndb2", "ODirect") == RULE.model_copy(update={"instead": 0, "imported": FILE})
    assert isinstance(_origin(told, "data_node", "RedoBuffer"), SetByProgram)
    others = [one for one in stated(told) if one.reading.name not in ("ODirect", "RedoBuffer")]
    assert others
    assert all(one.origin is None for one in others)


def test_origins_are_not_set_by_their_address() -> None:
    plan = set_parameter(_plan(), "data_node", "RedoBuffer", 2**26, FILE)
    for text in ('origins={"data_node": {}}', "origins.data_node={}", "processes[ndb1].origins={}"):
        with pytest.raises(UserError):
            assign(plan, text)


def test_a_copy_of_a_node_keeps_who_set_its_values() -> None:
    plan = set_parameter(_plan(), "ndb1", "ODirect", 1, RULE)
    pasted, new = paste(plan, copy(plan, ["ndb1"]), onto_host=plan.hosts[1].id)
    [node] = [pasted.by_id[i] for i in new if i in pasted.by_id]
    assert node.origins == plan.by_id["ndb1"].origins


def test_an_origin_stands_exactly_where_the_last_edit_of_a_value_left_it() -> None:
    """A law: whatever the order of edits, each value says who set it last, and no other value does."""
    draw = random.Random(15)
    for _ in range(60):
        plan, expected = _plan(), dict[tuple[str, str], object]()
        values: dict[tuple[str, str], int | None] = {}
        for _ in range(25):
            scope, name = draw.choice(SCOPES[:1] + SCOPES[2:]), draw.choice(("RedoBuffer", "ODirect", "Numa"))
            value = draw.choice((None, 0, 1, 2**25, 2**26))
            origin = draw.choice((None, RULE, FILE))
            plan = set_parameter(plan, scope, name, value, origin)
            known, had = expected.get((scope, name)), values.get((scope, name))
            values[scope, name] = value
            if value is None:
                expected[scope, name] = None
            elif origin is not RULE:
                expected[scope, name] = origin
            elif isinstance(known, SetByProgram) and had == value:
                pass
            else:
                base = known.instead if isinstance(known, SetByProgram) else had
                source = known.imported if isinstance(known, SetByProgram) else known
                if base is None and (scope, name) not in expected:
                    base = stated_at(_plan(), scope)[0].get(name)
                returned = base is not None and base == value
                expected[scope, name] = (
                    source if returned else RULE.model_copy(update={"instead": base, "imported": source})
                )
        for (scope, name), origin in expected.items():
            assert _origin(plan, scope, name) == origin


def test_what_a_plan_lacks_is_counted_by_kind() -> None:
    plan = _plan()
    clients = [process.id for process in (*plan.sql_nodes, *plan.api_slots, *plan.management_nodes)]
    assert lacking(plan) == []
    assert lacking(edits.remove(plan, [*clients, "ndb2"])) == ["data", "management", "sql"]
    assert lacking(edits.remove(plan, ["ndb1", "ndb2"])) == ["data", "data"]
