"""DEFAULT, ON UPDATE and names that SQL nodes take or refuse, on both sides of each limit."""

from __future__ import annotations

import pytest

from ndbplan.checks.refused.table_cures import table_cures
from ndbplan.checks.run import find
from ndbplan.configuration.refused_tables import impossible_in
from ndbplan.edits.parts import update
from ndbplan.exporting.schema_sql import render_schema
from ndbplan.ndb.version import NdbVersion
from ndbplan.operations.schema import column_text
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index, Table

ID = Column(name="id", type="int", nullable=False)
MEMBERS = tuple(f"m{i}" for i in range(65))
EVERY = ("7.2", "7.4.10", "7.6", "8.0", "8.4.8")


def table(*columns: Column, **fields: object) -> Table:
    own = {"id": "t", "database": "d", "name": "t", "columns": (ID, *columns), "primary_key": ("id",)}
    return Table.model_validate(own | fields)


def against(made: Table, version: str = "8.4.8", *, strict: bool = True) -> list[str]:
    return [one.why for one in impossible_in(made, NdbVersion.parse(version), strict=strict)]


def column(kind: str, default: str | None = None, **fields: object) -> Column:
    return Column.model_validate({"name": "c", "type": kind, "default": default, **fields})


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(
    ("taken", "refused"),
    [
        (column("tinyint", "127"), column("tinyint", "128")),
        (column("tinyint", "-128"), column("tinyint", "-129")),
        (column("tinyint", "127.4"), column("tinyint", "127.5")),
        (column("tinyint", "255", unsigned=True), column("tinyint", "-1", unsigned=True)),
        (column("int", "'12'"), column("int", "'12x'")),
        (column("int", "TRUE"), column("int", "CURRENT_TIMESTAMP")),
        (column("int", "0"), column("int", "''")),
        (column("bigint", "9223372036854775807"), column("bigint", "9223372036854775808")),
        (column("float", "-1e3"), column("float", "-1e3", unsigned=True)),
        (column("decimal", "99.94", length=3, scale=1), column("decimal", "99.95", length=3, scale=1)),
        (column("decimal", "9" * 65, length=65), column("decimal", "1" + "0" * 65, length=65)),
        (column("varchar", "'abc  '", length=3), column("varchar", "'abcd'", length=3)),
        (column("varchar", "'it''s'", length=4), column("varchar", "'it''s!'", length=4)),
        (column("char", "'a'"), column("char", "'ab'")),
        (column("binary", "'äö'", length=2), column("binary", "'abc'", length=2)),
        (column("enum", "'B'", members=("a", "b")), column("enum", "'c'", members=("a", "b"))),
        (column("set", "'a,b'", members=("a", "b")), column("set", "'a,c'", members=("a", "b"))),
        (column("year", "2155"), column("year", "1900")),
        (column("date", "'2024-02-29'"), column("date", "'2023-02-29'")),
        (column("date", "'20240229'"), column("date", "CURRENT_TIMESTAMP")),
        (column("timestamp", "'2038-01-01 00:00:00'"), column("timestamp", "'2039-01-01'")),
        (column("timestamp", "now()"), column("timestamp", "now")),
        (column("int", "NULL"), column("int", "NULL", nullable=False)),
        (column("timestamp", on_update="CURRENT_TIMESTAMP"), column("int", on_update="CURRENT_TIMESTAMP")),
        (column("set", members=MEMBERS[:64]), column("set", members=MEMBERS)),
        (column("text", "NULL"), column("text", "'x'")),
        (column("int", name="a b"), column("int", name="ab ")),
        (column("int", name="\uffdc"), column("int", name="\U0001f600")),
    ],
)  # fmt: skip
def test_what_every_server_takes_and_refuses(taken: Column, refused: Column, version: str) -> None:
    assert against(table(taken), version) == []
    assert len(against(table(refused), version)) == 1


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ((column("datetime", "CURRENT_TIMESTAMP"),), (1, 0, 0, 0, 0)),
        ((column("datetime", "CURRENT_TIMESTAMP(3)", length=3),), (1, 0, 0, 0, 0)),
        ((column("datetime", "CURRENT_TIMESTAMP", length=3),), (1, 1, 1, 1, 1)),
        ((column("datetime", "'0000-00-00'"),), (0, 0, 1, 1, 1)),
        ((column("datetime", "0"),), (0, 0, 1, 1, 1)),
        ((column("date", "'2024-00-01'"),), (0, 0, 1, 1, 1)),
        ((column("timestamp", nullable=False),), (0, 0, 0, 0, 0)),
        ((column("timestamp", nullable=False, on_update="CURRENT_TIMESTAMP"),), (0, 0, 1, 0, 0)),
        ((column("timestamp"), column("timestamp", name="e", nullable=False)), (0, 0, 1, 0, 0)),
        (
            (column("timestamp", "NOW()"), column("timestamp", name="e", on_update="NOW()")),
            (1, 0, 0, 0, 0),
        ),
    ],
)
def test_moments_by_version(columns: tuple[Column, ...], said: tuple[int, ...]) -> None:
    assert tuple(len(against(table(*columns), version)) for version in EVERY) == said


def test_another_sql_mode_takes_dates_of_zeros() -> None:
    zeros = table(column("datetime", "'0000-00-00'"), column("timestamp", "0", name="e"))
    plan = sample_plan("starter")
    plan = plan.replace(tables=(zeros,), workloads=())
    assert [p.rule for p in find(plan) if p.rule == "table-impossible"] == ["table-impossible"] * 2
    node = plan.sql_nodes[0]
    plan = update(plan, node.id, options={"sql_mode": "NO_ENGINE_SUBSTITUTION"})
    assert [p for p in find(plan) if p.rule == "table-impossible"] == []
    assert "refuses" not in render_schema(plan)


@pytest.mark.parametrize(
    "made",
    [
        table(name="t "),
        table(name="\U0001f600"),
        table(database="d "),
        table(database="INFORMATION_SCHEMA"),
        table(column("int"), indexes=(Index(name="i ", columns=("c",)),)),
        table(column("int", "CURRENT_TIMESTAMP", name="c ")),
        table(column("int", on_update="CURRENT_TIMESTAMP")),
        table(column("set", members=tuple(f"m{i}" for i in range(65)))),
        table(
            column("float", nullable=False, auto_increment=True),
            indexes=(Index(name="i", columns=("c",)),),
        ),
    ],
)
def test_each_has_a_way_out_and_stands_in_the_head(made: Table) -> None:
    plan = sample_plan("starter").replace(tables=(made,), workloads=())
    assert "-- mysqld of NDB 8.4 refuses:" in render_schema(plan)
    for left in range(len(against(made)), 0, -1):
        problems = list(impossible_in(plan.tables[0], plan.version))
        assert len(problems) == left
        plan = next(table_cures(plan, problems[0])).edit(plan)
    assert [p for p in find(plan) if p.rule == "table-impossible"] == []


def test_words_that_a_type_does_not_take_are_not_written() -> None:
    plan = sample_plan("starter")
    made = table(
        column("date", unsigned=True),
        column("varchar", name="v", length=9, unsigned=True, blob_inline_bytes=99),
        column("decimal", name="n", unsigned=True),
    )
    said = [column_text(plan, made, one) for one in made.columns[1:]]
    assert said == ["`c` DATE NULL", "`v` VARCHAR(9) NULL", "`n` DECIMAL UNSIGNED NULL"]
