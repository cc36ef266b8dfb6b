"""What an edit changed, told value by value: members of lists each by their address, in words for people."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from ndbplan.advise.remedies import set_arguments
from ndbplan.edits import parts as edits
from ndbplan.edits.arrays import put_level
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import value_changes
from ndbplan.plan.field_words import title_of
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.hardware import RaidLevel
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Link
from ndbplan.plan.samples import sample_names, sample_plan
from random_plans import random_plan

STARTER = sample_plan("starter")


def test_a_connection_that_goes_is_a_change_that_no_set_makes() -> None:
    """*What matters* ended with "there is no 'links' in the plan"."""
    data, sql = STARTER.data_nodes[0], STARTER.sql_nodes[-1]
    plan = STARTER.replace(links=(Link(kind="tcp", process_id_1=data.id, process_id_2=sql.id),))
    for after in (plan.replace(links=()), edits.remove(plan, (sql.id,))):
        changes = value_changes(plan, after)
        assert [one.name for one in changes if one.scope == "links"] == ["connections"]
        assert set_arguments(plan, after, changes) is None


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
        assert not re.search(r"[_\[]", change.what), change.what


def test_members_that_come_go_and_change_places_are_told_by_name() -> None:
    table = STARTER.tables[0]
    first, second, *others = table.columns
    after = edits.update(STARTER, table.id, columns=(second, first, *others[:-1]))
    [gone] = value_changes(STARTER, after)
    assert gone.line == f"column {others[-1].name} of table shop.customer: there -> none"
    after = edits.update(STARTER, table.id, columns=(second, first, *others))
    [moved] = value_changes(STARTER, after)
    assert moved.line.startswith("order of columns of table shop.customer: customer_id, email, ")
    after = edits.update(STARTER, table.id, distribution_key=("customer_id",))
    [key] = value_changes(STARTER, after)
    assert key.line == "distribution key of table shop.customer: none -> customer_id"


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
    assert change.line.split(": ")[-1] == "1 GiB -> 2 GiB"
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


def test_tables_of_one_id_that_have_nothing_in_common_are_two_tables() -> None:
    """`table_1` of a feature store and of an HLR were told as one whose columns had changed."""
    table = STARTER.tables[0]
    columns = tuple(one.model_copy(update={"name": f"f{n}"}) for n, one in enumerate(table.columns))
    renamed = table.model_copy(update={"name": "renamed"})
    (change,) = value_changes(STARTER, STARTER.replace(tables=(renamed, *STARTER.tables[1:])))
    assert change.line == f"name of table {renamed.full_name}: {table.name} -> renamed"
    other = renamed.model_copy(update={"columns": columns})
    (change,) = value_changes(STARTER, STARTER.replace(tables=(other, *STARTER.tables[1:])))
    assert change.shown == (f"table {table.full_name}", f"table {other.full_name}")


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
        (3_200_000_000_001, "capacity of disk nvme0 of host1: 3 200 000 000 000 -> 3 200 000 000 001"),
        (4 * 2**40, "capacity of disk nvme0 of host1: 3.2 TB -> 4.4 TB"),
    ],
)
def test_sizes_are_told_as_people_read_them(capacity_bytes: int, line: str) -> None:
    plan = sample_plan("starter")
    disk = plan.hosts[0].disks[0]
    before = edits.update(plan, disk.id, capacity_bytes=3_200_000_000_000)
    (change,) = value_changes(before, edits.update(before, disk.id, capacity_bytes=capacity_bytes))
    assert change.line.replace(change.where, "disk nvme0 of host1").replace("\u2009", " ") == line


def test_what_an_array_changes_is_told_as_the_inspector_tells_it() -> None:
    disk, host = STARTER.hosts[0].disks[0], STARTER.hosts[0].hostname
    after = put_level(STARTER, disk.id, RaidLevel.PARITY)
    told = {change.name: change.line for change in value_changes(STARTER, after)}
    where = f"of disk {disk.name} of {host}: "
    assert told["raid"] == f"array {where}one device -> RAID 5"
    assert told["sync_write_latency_s"] == f"sync write latency {where}0.05 ms -> 0.1 ms"
    assert told["random_read_iops"].startswith(f"random reads/s {where}")


def test_no_field_is_told_by_the_name_that_the_program_has_for_it() -> None:
    """Whatever is edited: `random_read_iops`, `service_manager` and `columns[email].length` are for files."""
    classes: list[type[BaseModel]] = [Plan]
    seen = set()
    while classes:
        one = classes.pop()
        if one in seen:
            continue
        seen.add(one)
        for name, field in one.model_fields.items():
            assert re.fullmatch(r"[^_\[]+|MAX_ROWS|READ_BACKUP|ROW_FORMAT=FIXED", title_of(name)), name
            assert title_of(f"members[x y].{name}") == f"{title_of(name)} of member x y"
            classes += parts_of(field.annotation)
    assert len(seen) > 30


def parts_of(annotation: Any) -> list[type[BaseModel]]:
    """The parts of a plan that a field may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [part for inner in get_args(annotation) for part in parts_of(inner)]
