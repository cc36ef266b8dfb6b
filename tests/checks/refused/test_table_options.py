"""Options of tables and sizes of disk data: what is refused, what is left aside, and what mends it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.configuration.space_limits import refused_spaces, rounded_spaces
from ndbplan.edits.parts import set_plan, update
from ndbplan.exporting.schema_sql import render_schema
from ndbplan.operations.table_changes import alter
from ndbplan.operations.table_moves import reorganise_statement
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, LogfileGroup, PartitionBalance, SpaceFile, Table, Tablespace
from one_rule import of_rule

ID = Column(name="id", type="int", nullable=False)
TEXT = Column(name="v", type="varchar", length=20)
PAGE = 32768


def with_table(*columns: Column, version: str = "8.4", **fields: Any) -> Plan:
    """A cluster with two SQL nodes, disk data and one table."""
    table = Table(
        id="t", database="d", name="t", columns=columns or (ID, TEXT), **{"primary_key": ("id",), **fields}
    )
    plan = set_plan(sample_plan("starter"), ndb_version=version)
    group = LogfileGroup(id="lg", name="lg", undo_files=(SpaceFile(name="u", size_bytes=2**24),))
    space = Tablespace(
        id="ts", name="ts", logfile_group_id="lg", data_files=(SpaceFile(name="f", size_bytes=2**27),)
    )
    return plan.replace(tables=(table,), workloads=(), logfile_groups=(group,), tablespaces=(space,))


REFUSED = {
    "READ_BACKUP=0": with_table(fully_replicated=True, read_backup=False),
    "error 797": with_table(fully_replicated=True, partitions=4),
    "by v, outside": with_table(distribution_key=("v",)),
    "no primary key": with_table(distribution_key=("id",), primary_key=()),
}
IGNORED = {
    "with logging": with_table(tablespace_id="ts", logging=False),
    "beside PARTITION_BALANCE": with_table(max_rows=10**9, partition_balance=PartitionBalance.FOR_RA_BY_NODE),
    "beside FULLY_REPLICATED": with_table(max_rows=10**9, fully_replicated=True),
    "is taken as 4294967295": with_table(max_rows=2**32),
    "made FIXED": with_table(
        ID, TEXT.model_copy(update={"storage": "disk", "column_format": "dynamic"}), tablespace_id="ts"
    ),
    "sizes of TINYTEXT": with_table(ID, Column(name="b", type="tinytext", blob_inline_bytes=100)),
    "ends at 127": with_table(
        Column(name="id", type="tinyint", nullable=False, auto_increment=True), version="8.0.30"
    ),
}


@pytest.mark.parametrize(
    ("rule", "said", "plan"),
    [
        *(("table-options-refused", said, plan) for said, plan in REFUSED.items()),
        *(("table-options-ignored", said, plan) for said, plan in IGNORED.items()),
    ],
)
def test_an_option_is_named_and_its_fix_mends_it(rule: str, said: str, plan: Plan) -> None:
    (problem,) = of_rule(plan, rule)
    assert said in problem.message
    assert problem.edit is not None
    assert not of_rule(problem.edit(plan), rule)
    head = render_schema(plan).partition("SET NAMES")[0]
    assert said in head
    assert ("refuses:" in head) == (rule == "table-options-refused")


@pytest.mark.parametrize(
    "plan",
    [
        with_table(fully_replicated=True, read_backup=False, version="7.4"),
        with_table(max_rows=2**32 - 1),
        with_table(primary_key=(), partitions=4),
        with_table(distribution_key=("ID",)),
        with_table(Column(name="id", type="tinyint", nullable=False, auto_increment=True), version="7.6"),
        with_table(Column(name="id", type="smallint", nullable=False, auto_increment=True)),
    ],
)
def test_what_means_something_is_not_named(plan: Plan) -> None:
    assert not of_rule(plan, "table-options-refused")
    assert not of_rule(plan, "table-options-ignored")


def test_an_sql_node_that_takes_few_values_at_once_has_room_in_a_tinyint() -> None:
    plan = IGNORED["ends at 127"]
    for node in plan.sql_nodes:
        assert of_rule(plan, "table-options-ignored")
        plan = update(plan, node.id, options={"ndb_autoincrement_prefetch_sz": 1})
    assert not of_rule(plan, "table-options-ignored")


@pytest.mark.parametrize(
    ("part", "fields", "error"),
    [
        ("lg", {"undo_buffer_bytes": 3 * PAGE - 1}, "error 779"),
        ("lg", {"undo_buffer_bytes": 2**32}, "error 1531"),
        ("lg", {"undo_files": (SpaceFile(name="u", size_bytes=PAGE - 1),)}, "error 1516"),
        ("lg", {"name": "u"}, "errors 721 and 760"),
        ("ts", {"name": "lg"}, "error 721"),
        ("ts", {"name": "ts "}, "ends with a blank"),
        ("ts", {"extent_size_bytes": 2**32}, "error 1531"),
        ("ts", {"data_files": (SpaceFile(name="f", size_bytes=2**20 - 1),)}, "error 1516"),
    ],
)
def test_what_no_statement_makes_of_disk_data_is_named_and_mended(
    part: str, fields: dict[str, Any], error: str
) -> None:
    good = with_table()
    assert not of_rule(good, "space-refused")
    plan = update(good, part, **fields)
    problem = of_rule(plan, "space-refused")[0]
    assert error in problem.message
    assert error in render_schema(plan)
    for _ in range(2):
        edit = next((p.edit for p in of_rule(plan, "space-refused") if p.edit is not None), None)
        plan = plan if edit is None else edit(plan)
    assert not of_rule(plan, "space-refused")


@given(
    extent=st.integers(1, 2**22),
    data=st.integers(1, 2**26),
    undo=st.integers(1, 2**26),
    buffer=st.integers(1, 2**24),
)
@settings(max_examples=60)
def test_sizes_that_are_cured_are_made_as_they_stand(extent: int, data: int, undo: int, buffer: int) -> None:
    """Files are whole extents or pages then, none is empty, and the next look finds nothing."""
    plan = update(
        with_table(), "lg", undo_buffer_bytes=buffer, undo_files=(SpaceFile(name="u", size_bytes=undo),)
    )
    plan = update(plan, "ts", extent_size_bytes=extent, data_files=(SpaceFile(name="f", size_bytes=data),))
    for _ in range(6):
        for one in (*refused_spaces(plan), *rounded_spaces(plan)):
            plan = update(plan, one.part.id, **{one.field: one.instead})
    assert not [*refused_spaces(plan), *rounded_spaces(plan)]
    group, space = plan.logfile_groups[0], plan.tablespaces[0]
    assert space.extent_size_bytes % PAGE == group.undo_files[0].size_bytes % PAGE == 0
    assert space.data_files[0].size_bytes % space.extent_size_bytes == 0
    assert group.undo_buffer_bytes >= 3 * PAGE
    assert abs(space.data_files[0].size_bytes - data) <= max(data, space.extent_size_bytes)


@pytest.mark.parametrize("fields", [{"fully_replicated": True}, {"partition_balance": "FOR_RA_BY_NODE"}])
def test_a_table_whose_partitions_are_told_otherwise_is_not_spread_by_max_rows(
    fields: dict[str, Any],
) -> None:
    plan = with_table(max_rows=10**9, **fields)
    assert reorganise_statement(plan, plan.tables[0]) is None
    assert "MAX_ROWS" in (
        reorganise_statement(with_table(max_rows=10**9), with_table(max_rows=10**9).tables[0]) or ""
    )
    assert not of_rule(plan, "reorganise-refused")


def _altered(**fields: Any) -> tuple[str, str]:
    """What is done and what is refused where READ_BACKUP of such a table changes."""
    plan = with_table(read_backup=False, **fields)
    before = plan.replace(tables=(plan.tables[0].model_copy(update={"read_backup": True}),))
    found = alter(plan, before.tables[0], plan.tables[0], before)
    return " ".join(found.statements), " ".join(found.refused)


def test_read_backup_changes_where_the_rest_of_the_comment_is_the_default() -> None:
    assert re.search(r"COMMENT='NDB_TABLE=READ_BACKUP=0';$", _altered()[0])
    assert _altered(logging=False)[0].endswith("COMMENT='NDB_TABLE=READ_BACKUP=0,NOLOGGING=1';")
    for own in ({"partitions": 4}, {"max_rows": 10**9}):
        done, refused = _altered(**own)
        assert not done
        assert "number of partitions is its own" in refused


def test_no_column_comes_online_to_rows_of_fixed_width() -> None:
    more = Column(name="n", type="int")
    for columns, taken in (((ID,), False), ((ID, TEXT), True)):
        before = with_table(*columns, row_format_fixed=True)
        plan = with_table(*columns, more, row_format_fixed=True)
        found = alter(plan, before.tables[0], plan.tables[0], before)
        assert bool(found.statements) == taken
        assert ("ROW_FORMAT FIXED" in " ".join(found.refused)) != taken
