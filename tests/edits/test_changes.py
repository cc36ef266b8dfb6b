"""What an edit changed, told value by value: members of lists each by their address, in words for people."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from ndbplan.advise.remedies import set_arguments
from ndbplan.edits import parts as edits
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import value_changes
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.samples import sample_names, sample_plan
from random_plans import random_plan

STARTER = sample_plan("starter")


def test_a_change_inside_a_table_or_a_load_has_the_address_that_makes_it() -> None:
    for owner, path, typed in (
        ("tables[customer]", "columns[email].length", "99"),
        ("tables[customer]", "columns[email].collation", "utf8mb4_bin"),
        ("tables[customer]", "indexes[email].kind", "unique_hash"),
        ("workloads[day]", "load.points[1].rate_per_s", "4321"),
    ):
        after, told = assign(STARTER, f"{owner}.{path}={typed}")
        [change] = value_changes(STARTER, after)
        assert change.name == path
        assert [(change.before, change.after)] == [(each.before, each.after) for each in told]
        assert change.line.endswith(f" -> {typed}")


def test_members_that_come_go_and_change_places_are_told_by_name() -> None:
    table = STARTER.tables[0]
    first, second, *others = table.columns
    after = edits.update(STARTER, table.id, columns=(second, first, *others[:-1]))
    [gone] = value_changes(STARTER, after)
    assert gone.line == f"columns[{others[-1].name}] of table shop.customer: there -> none"
    after = edits.update(STARTER, table.id, columns=(second, first, *others))
    [moved] = value_changes(STARTER, after)
    assert moved.line.startswith("order of columns of table shop.customer: customer_id, email, ")
    after = edits.update(STARTER, table.id, distribution_key=("customer_id",))
    [key] = value_changes(STARTER, after)
    assert key.line == "distribution_key of table shop.customer: none -> customer_id"


def test_no_change_between_samples_is_told_as_the_program_holds_it() -> None:
    """Whatever differs between two whole plans, no line shows a class or the names of its fields."""
    plans = [sample_plan(name) for name in sample_names()]
    for before, after in pairwise(plans):
        for change in value_changes(before, after):
            for text in (change.line, str(change.plain_before), str(change.plain_after)):
                assert not re.search(r"\w+\(\w+=|\('|<\w+\.", text), text


def test_equal_plans_that_were_read_apart_differ_in_nothing() -> None:
    for name in sample_names():
        plan = sample_plan(name)
        assert not value_changes(plan, loads(dumps(plan)))


def test_sizes_are_told_with_units() -> None:
    plan = sample_plan("disk-data-8.4")
    after, _ = assign(plan, f"tablespaces[{plan.tablespaces[0].id}].data_files[data].size_bytes=2G")
    [change] = value_changes(plan, after)
    assert change.line.split(": ")[-1] == "1G -> 2G"
    assert set_arguments(plan, after, (change,)) is not None


def test_thousands_stand_apart_in_quantities_and_not_in_names() -> None:
    node = STARTER.data_nodes[0]
    after = edits.update(
        STARTER, node.id, parameters={"MaxNoOfConcurrentOperations": 1_000_000, "ServerPort": 11_860}
    )
    table = after.tables[0]
    after = edits.update(after, table.id, rows=25_000_000)
    shown = {change.name: change.shown[1] for change in value_changes(STARTER, after)}
    assert shown == {
        "MaxNoOfConcurrentOperations": "1\u2009000\u2009000", "ServerPort": "11860",
        "rows": "25\u2009000\u2009000",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["redo-overload", "add-nodes-8.4"])
def test_parts_of_other_types_with_one_id_are_two_parts(name: str) -> None:
    """Ids of plans of different origin mean different things: fields were read that were not there."""
    sample, met = sample_plan(name), 0
    for seed in range(30):
        drawn = random_plan(seed)
        for before, after in ((sample, drawn), (drawn, sample)):
            both = {*before.by_id} & {*after.by_id}
            others = {one for one in both if type(before.by_id[one]) is not type(after.by_id[one])}
            changes = value_changes(before, after)
            for one in others:
                (change,) = (change for change in changes if change.scope == one)
                assert change.name == "object"
                assert change.before
                assert change.after
                met += 1
    assert met


def test_a_management_node_is_no_field_of_an_sql_node() -> None:
    plan = sample_plan("starter")
    sql = next(one for one in plan.processes if one.kind == "sql")
    data = plan.data_nodes[0].model_copy(update={"id": sql.id, "node_id": 40})
    there = tuple(data if one is sql else one for one in plan.processes)
    (change,) = (one for one in value_changes(plan, plan.replace(processes=there)) if one.scope == sql.id)
    assert change.shown == (f"SQL node {sql.node_id}", "data node 40")


@pytest.mark.parametrize(
    ("capacity_bytes", "line"),
    [
        (6_400_000_000_000, "capacity of disk nvme0 of host1: 3.2 TB -> 6.4 TB"),
        (3_200_000_000_001, "capacity of disk nvme0 of host1: 3200000000000 -> 3200000000001"),
        (4 * 2**40, "capacity of disk nvme0 of host1: 3.2 TB -> 4096G"),
    ],
)
def test_sizes_are_told_as_people_read_them(capacity_bytes: int, line: str) -> None:
    plan = sample_plan("starter")
    disk = plan.hosts[0].disks[0]
    before = edits.update(plan, disk.id, capacity_bytes=3_200_000_000_000)
    (change,) = value_changes(before, edits.update(before, disk.id, capacity_bytes=capacity_bytes))
    assert change.line.replace(change.where, "disk nvme0 of host1") == line
