"""What a table as a whole may be, on both sides of each limit and of the versions where it moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.checks.refused.limit_cures import limit_cures
from ndbplan.checks.run import check, find
from ndbplan.configuration.table_limits import over_limits, row_words_most
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan import file
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Index, Table

BY_A = (Index(name="a", columns=("a",), kind="ordered"),)
ID = Column(name="id", type="int", nullable=False)


def table(*columns: Column, indexes: tuple[Index, ...] = (), key: tuple[str, ...] = ("id",)) -> Table:
    return Table(
        id="t", database="d", name="t", columns=(ID, *columns), primary_key=key, indexes=indexes, rows=10
    )


def text(name: str, length: int, **fields: object) -> Column:
    declared = {"type": "varchar", "collation": "latin1_bin", **fields}
    return Column.model_validate({"name": name, "length": length, **declared})


def letters(count: int) -> tuple[Column, ...]:
    return tuple(text(f"c{i}", 1) for i in range(count))


def errors(made: Table, version: str = "8.4.8") -> list[int]:
    return [one.error for one in over_limits(made, NdbVersion.parse(version))]


@pytest.mark.parametrize(
    ("version", "row_bytes"),
    [("7.1", 8052), ("7.2", 14000), ("8.0.17", 14000), ("8.0.18", 30000), ("8.4", 30000)],
)
def test_a_row_has_so_many_bytes(version: str, row_bytes: int) -> None:
    """Manual, limits of database objects: 30000 bytes from 8.0.18 on; the INT key has 4, the length 2."""
    assert errors(table(text("a", row_bytes - 6)), version) == []
    assert errors(table(text("a", row_bytes - 5)), version) == [738]


def test_a_text_counts_with_its_head_and_first_bytes() -> None:
    blob = table(Column(name="b", type="text"))
    version = NdbVersion.parse("8.4.8")
    assert (row_words_most(blob, version) - row_words_most(table(), version)) * 4 == 256 + 16


@pytest.mark.parametrize(
    ("made", "most", "error"),
    [
        (lambda n: table(*letters(n), indexes=single(n)), 63, 1069),
        (lambda n: table(*letters(n), key=tuple(f"c{i}" for i in range(n))), 16, 1070),
        (lambda n: table(text("a", n, nullable=False), key=("a",)), 3072, 1071),
        (lambda n: table(text("a", n), indexes=BY_A), 3072, 1071),
        (lambda n: table(*(Column(name=f"c{i}", type="bit", length=64) for i in range(n))), 64, 791),
        (lambda n: table(*(text("c", 65535, type="varbinary") for _ in range(n))), 0, 1118),
    ],
)  # fmt: skip
def test_each_limit_stands_where_the_server_has_it(
    made: Callable[[int], Table], most: int, error: int
) -> None:
    assert errors(made(most)) == []
    assert errors(made(most + 1)) == [error]


def single(count: int) -> tuple[Index, ...]:
    return tuple(Index(name=f"k{i}", columns=(f"c{i}",), kind="ordered") for i in range(count))


def test_columns_of_fixed_width_begin_below_8188_bytes() -> None:
    """The key before them has 4 bytes; variable and dynamic columns do not count."""
    padded = [text(f"c{i}", 248, type="char") for i in range(35)]
    assert errors(table(*padded[:33])) == []
    assert errors(table(*padded)) == [851]
    dynamic = [column.model_copy(update={"column_format": "dynamic"}) for column in padded]
    assert errors(table(*dynamic)) == errors(table(*(text(c.name, 248) for c in padded))) == []


def test_the_columns_of_a_table_by_version() -> None:
    many = table(*(Column(name=f"c{i}", type="tinyint") for i in range(128)))
    assert errors(many, "6.3") == [708]
    assert errors(many, "7.0") == []


def test_names_have_63_bytes_before_8_0() -> None:
    long = table().model_copy(update={"name": "é" * 32})
    assert errors(long, "7.6") == [1059]
    assert errors(long, "8.0") == errors(table().model_copy(update={"name": "é" * 31}), "7.6") == []


def starter_with(made: Table) -> Plan:
    plan = file.load(resource_path("samples/starter.ndbplan"))
    return plan.replace(tables=(*plan.tables, made))


@pytest.mark.parametrize(
    ("made", "ways"),
    [
        (table(text("a", 20_000), text("b", 11_000)), ["Make a TEXT or BLOB"]),
        (table(*(text(f"c{i}", 248, type="char") for i in range(35))),
         ["Make c0 dynamic", "Make c0 of variable length", "Make c0 TEXT or BLOB"]),
        (table(text("a", 4000), indexes=BY_A),
         ["Make a VARCHAR(3072)", "Take index a out"]),
        (table(*letters(66), indexes=single(66)), ["Take the last 3 indexes out"]),
        (table(*(Column(name=f"c{i}", type="bit", length=64) for i in range(65))), []),
    ],
)  # fmt: skip
def test_a_table_that_is_too_large_is_told_and_mended(made: Table, ways: list[str]) -> None:
    plan = starter_with(made)
    (told,) = (problem for problem in check(plan) if problem.rule == "table-too-large")
    assert told.severity == "error"
    assert [way.title for way in told.solutions] == ways
    for way in told.solutions:
        assert not any(problem.rule == "table-too-large" for problem in find(way.edit(plan)))


def test_a_cure_keeps_columns_of_one_name_and_keys_that_name_none() -> None:
    twice = table(text("a", 20_000), text("a", 12_000), text("b", 5))
    plan = starter_with(twice)
    (told,) = (problem for problem in check(plan) if problem.rule == "table-too-large")
    for way in told.solutions:
        assert len(way.edit(plan).table("t").columns) == 4
    (over,) = over_limits(table(text("a", 4000), indexes=BY_A), NdbVersion.parse("8.4"))
    lost = over._replace(columns=("gone", "a"))
    assert [way.title for way in limit_cures(starter_with(table(text("a", 4000), indexes=BY_A)), lost)]


def test_sql_that_is_read_says_so() -> None:
    read = read_ddl(
        "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(9000)) ENGINE=NDB;", NdbVersion.parse("8.4")
    )
    said = " ".join(problem.message for problem in read.problems)
    assert "(error 738)" in said
