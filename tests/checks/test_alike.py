"""One row for each cause: what it stands for, its fix, waivers of single nodes, and what stays apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ndbplan.checks.alike import one_per_cause, single
from ndbplan.checks.harm import harm
from ndbplan.checks.problem import Problem, Severity, WaysOut
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import check_all, find, load_rules
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.plan.plan import Plan, Waiver
from ndbplan.plan.samples import sample_names, sample_plan
from one_rule import of_rule
from random_plans import random_plan


def telecom_at_7_6() -> Plan:
    return sample_plan("telecom-144").replace(ndb_version="7.6.20")


def test_one_cause_on_many_nodes_is_one_row_with_their_count_and_one_edit() -> None:
    plan = telecom_at_7_6()
    (row,) = of_rule(plan, "node-group-number")
    high = [node for node in plan.data_nodes if (node.node_group or 0) > 48]
    assert len(high) > 40
    assert row.where == "data node 99 and 45 more"
    assert f"the same with {len(high) - 1} more data nodes (100, 101, 102, 103 …)" in row.message
    assert set(row.object_ids) == {node.id for node in high}
    assert row.edit is not None
    assert not of_rule(row.edit(plan), "node-group-number")
    assert len(one_per_cause(plan, find(plan))) < 25


@pytest.fixture
def only_ids() -> Iterator[None]:
    """No rule but the one about ids of data nodes: 144 nodes keep all of them busy for seconds."""
    load_rules()
    every = dict(RULES)
    RULES.clear()
    RULES["data-node-ids"] = every["data-node-ids"]
    yield
    RULES.clear()
    # In their order, which others look at.
    RULES.update(every)


@pytest.mark.usefixtures("only_ids")
def test_a_waiver_of_one_node_takes_only_that_one_out_of_the_row() -> None:
    plan = telecom_at_7_6()
    known = plan.data_nodes[60].id
    waived = plan.replace(waivers=(Waiver(rule="data-node-ids", object_id=known, reason="renumbered later"),))
    rows = check_all(waived)
    (row,) = [p for p in rows if p.rule == "data-node-ids" and p.alike]
    assert known not in row.object_ids
    assert len(row.object_ids) == 95
    (accepted,) = [p for p in rows if p.waived]
    assert accepted.object_ids == (known,)


def test_the_same_words_are_said_once_and_other_parameters_are_other_causes() -> None:
    plan = sample_plan("telecom-144")
    nodes = plan.data_nodes[:4]
    for number, node in enumerate(nodes):
        # Nodes with the same parameters are one row anyhow.
        plan = set_parameter(plan, node.id, "RedoBuffer", 2**26 + number * 2**20)
    for node in nodes[:2]:
        plan = set_parameter(plan, node.id, "DataDir", "here")
    assert [row.where for row in of_rule(plan, "paths-absolute")] == ["data nodes 1, 2"]
    other = set_parameter(plan, nodes[2].id, "BackupDataDir", "here")
    assert [row.where for row in of_rule(other, "paths-absolute")] == ["data nodes 1, 2", "data node 3"]
    plan = set_parameter(plan, nodes[2].id, "DataDir", "here")
    (row,) = of_rule(plan, "paths-absolute")
    assert row.object_ids == tuple(node.id for node in nodes[:3])
    assert row.where == "data nodes 1, 2, 3"


def test_each_part_that_stops_the_cluster_is_told() -> None:
    killers = of_rule(random_plan(12), "what-may-fail")
    assert len(killers) > 1
    assert not any(row.alike for row in killers)


@pytest.mark.parametrize("plan", [*map(random_plan, range(3)), *map(sample_plan, sample_names()[::2])])
def test_rows_stand_for_all_that_rules_find(plan: Plan) -> None:
    rows = check_all(plan)
    told = Counter((p.rule, p.severity, p.where, p.message, p.waived) for p in single(rows))
    assert told == Counter((p.rule, p.severity, p.where, p.message, p.waived) for p in find(plan))
    assert harm(rows, find(plan)) == harm(find(plan), rows) == ""
    for row in rows:
        if row.alike:
            assert len({(one.rule, one.severity, one.waived) for one in row.alike}) == 1
            assert set(row.object_ids) == {i for one in row.alike for i in one.object_ids}
            assert (row.edit is None) == all(one.edit is None for one in row.alike)
            assert row.measure == max(one.measure for one in row.alike)


def test_a_row_that_loses_a_node_is_no_new_problem() -> None:
    plan = random_plan(11)
    (row,) = of_rule(plan, "arbitration-timeout")
    assert len(row.object_ids) > 3
    after = set_parameter(plan, row.object_ids[0], "ArbitrationTimeout", 20_000)
    (less,) = of_rule(after, "arbitration-timeout")
    assert (less.where, less.message) != (row.where, row.message)
    assert harm([row], [less]) == ""
    assert harm(_warned(row), _warned(less)) == ""
    assert harm(_warned(less), _warned(row)) != ""


def _warned(row: Problem) -> list[Problem]:
    """The row as a warning: hints are no harm."""
    return [replace(row, severity=Severity.WARNING)]


@pytest.mark.parametrize("name", ["memory-locked", "direct-io"])
def test_what_a_node_states_beside_the_rule_makes_no_row_of_its_own(name: str) -> None:
    plan = set_parameter(sample_plan("starter"), "data_node", "LockPagesInMainMemory", 0)
    plan = set_parameter(plan, "data_node", "ODirect", 0)
    node = plan.data_nodes[0]
    plan = set_parameter(plan, node.id, "TimeBetweenLocalCheckpoints", 21)
    assert [problem.where for problem in of_rule(plan, name)] == ["all data nodes"]
    own = {"memory-locked": "LockPagesInMainMemory", "direct-io": "ODirect"}[name]
    plan = set_parameter(plan, node.id, own, 1)
    assert [problem.where for problem in of_rule(plan, name)] == [f"data node {plan.data_nodes[1].node_id}"]
    plan = set_parameter(plan, node.id, own, 0)
    assert [problem.where for problem in of_rule(plan, name)] == ["all data nodes"]


def test_folders_of_their_own_do_not_make_one_cause_several() -> None:
    plan = sample_plan("starter").replace(ndb_version="7.6.20")
    plan = set_parameter(plan, "data_node", "ThreadConfig", "ldm={count=8},io={count=4}")
    (told,) = of_rule(plan, "thread-config")
    apart = set_parameter(plan, plan.data_nodes[0].id, "DataDir", "/data/1")
    (row,) = of_rule(apart, "thread-config")
    assert (row.where, row.message) == (told.where, told.message)
    assert set(row.object_ids) == {node.id for node in plan.data_nodes}
    assert row.edit is not None
    assert not of_rule(row.edit(apart), "thread-config")


def test_what_several_workloads_do_in_one_place_is_one_row_of_the_heaviest() -> None:
    plan = sample_plan("starter")
    for host in plan.hosts:
        plan = update(plan, host.id, network_bytes_per_s=5e6)
    (row,) = of_rule(plan, "network-demand")
    light, heavy = plan.workloads
    assert f"'{heavy.name}'" in row.message
    assert row.message.endswith(f"under '{light.name}' too")
    assert len(single([row])) == 2
    # Its first way out is enough for both.
    assert not of_rule(row.solutions[0].edit(plan), "network-demand")


def test_where_no_way_is_enough_for_the_heaviest_those_of_the_others_say_so() -> None:
    plan = sample_plan("starter")
    for host in {node.host_id for node in plan.sql_nodes}:
        plan = update(plan, host, cores=1)
    row = next(p for p in of_rule(plan, "client-nodes") if p.message.endswith("too"))
    light, heavy = plan.workloads
    assert row.solutions
    for way in row.solutions:
        assert way.title.endswith(f": enough for '{light.name}' only")
        left = of_rule(way.edit(plan), "client-nodes")
        assert {heavy.id} == {i for p in left for i in p.object_ids} & {light.id, heavy.id}


def test_numbers_with_their_thousands_apart_are_one_number() -> None:
    takes = ("950 %", "1\u2009050 %", "2\u2009050 %", "12\u2009001\u2009050.5 %")
    plan = sample_plan("telecom-144")
    found = [
        Problem(
            "x", Severity.HINT, f"data node {node.node_id}", f"it takes {words}", "", (node.id,), solve=_none
        )
        for node, words in zip(plan.data_nodes, takes, strict=False)
    ]
    assert len(one_per_cause(plan, found)) == 1


def test_the_id_of_a_node_is_no_part_of_a_number_in_its_row() -> None:
    plan = sample_plan("starter")
    found = [
        Problem("x", Severity.HINT, f"data node {node.node_id}", message, "", (node.id,), solve=_none)
        for node, message in zip(
            plan.data_nodes, ("1.03 TiB, 1\u2009000 rows", "1.03 TiB, 1\u2009000 rows"), strict=True
        )
    ]
    assert len(one_per_cause(plan, found)) == 1


def _none(_look: object) -> WaysOut:
    return WaysOut((), "")
