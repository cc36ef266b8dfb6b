from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.units import format_count
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.estimate.storage.rows import row_layout
from ndbplan.estimate.stored import distribute
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.mysql_output import read_rows
from ndbplan.importing.statistics import TableStatistics, apply_statistics, read_statistics
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from reality.cluster import cluster_plan

REALITY = Path(__file__).parent.parent / "reality" / "clusters"
T1 = (
    "CREATE TABLE big.t1 (a bigint unsigned primary key, b int unsigned, c timestamp not null, "
    "d varbinary(1024), key(c)) engine=ndb"
)
ROWS = (249710, 250135, 250154, 250001)


def _plan() -> Plan:
    return Plan(ndb_version="7.4.10", tables=read_ddl(T1, NdbVersion.parse("7.4.10")).tables)


@pytest.mark.parametrize("name", ["ndb-desc-t1-1m-4part.txt", "memory-per-fragment-t1-1m-node2.tsv"])
def test_outputs_of_a_running_cluster(name: str) -> None:
    found = read_statistics((REALITY / name).read_text())
    assert not found.problems
    (table,) = found.tables
    assert (table.rows, table.partition_rows) == (1_000_000, ROWS)
    plan, report = apply_statistics(_plan(), found.tables)
    (t1,) = plan.tables
    assert (t1.rows, t1.partition_rows) == (1_000_000, ROWS)
    # 640 bytes were loaded into d; pages alone tell them within the room of one row.
    assert t1.columns[3].average_bytes == pytest.approx(640, rel=0.011)
    assert row_layout(t1, plan.version).rows_per_variable_page == 49
    assert f"{format_count(1_000_000)} rows" in report[0]


def test_hash_map_of_a_reorganised_table_is_taken() -> None:
    text = (REALITY / "ndb-desc-t1-1m-4part.txt").read_text()
    (table,) = read_statistics(text.replace("DEFAULT-HASHMAP-3840-4", "HASHMAP-240-3-4")).tables
    assert (table.buckets, table.grown_from) == (240, (3,))


BOXED = """mysql> SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS, AVG_ROW_LENGTH FROM information_schema.TABLES;
+--------------+------------+------------+----------------+
| TABLE_SCHEMA | TABLE_NAME | TABLE_ROWS | AVG_ROW_LENGTH |
+--------------+------------+------------+----------------+
| big          | t1         |        500 |            244 |
| big          | other      |       NULL |           NULL |
+--------------+------------+------------+----------------+
2 rows in set (0.00 sec)
"""
VERTICAL = """*************************** 1. row ***************************
  TABLE_SCHEMA: big
    TABLE_NAME: t1
    TABLE_ROWS: 500
AVG_ROW_LENGTH: 244
1 row in set (0.00 sec)
"""
TABBED = "TABLE_SCHEMA\tTABLE_NAME\tTABLE_ROWS\tAVG_ROW_LENGTH\nbig\tt1\t500\t244\n"


@pytest.mark.parametrize("text", [BOXED, VERTICAL, TABBED])
def test_information_schema_in_every_form(text: str) -> None:
    found = read_statistics(text)
    plan, report = apply_statistics(_plan(), found.tables)
    (t1,) = plan.tables
    assert t1.rows == 500
    layout = row_layout(t1, plan.version)
    assert layout.fixed_bytes + layout.variable_bytes == pytest.approx(244, abs=4)
    assert not any("t1: not in the plan" in line for line in report)


def test_tables_that_the_plan_lacks_are_told() -> None:
    plan, report = apply_statistics(_plan(), read_statistics(BOXED).tables)
    assert any(line.startswith("other: not in the plan") for line in report)
    assert len(plan.tables) == 1


def test_desc_without_partitions_says_what_to_do() -> None:
    text = (REALITY / "ndb-desc-t1-1m-4part.txt").read_text().split("-- Per partition info")[0]
    assert "-p" in read_statistics(text).problems[0]


def test_other_text_is_told_apart() -> None:
    assert read_statistics("hello\nworld").problems


@given(st.text(alphabet="|+-\t\n* rowtable_namefq:19", max_size=200))
def test_any_text_gives_an_answer(text: str) -> None:
    list(read_rows(text))
    read_statistics(text)


def test_counted_pages_replace_those_by_lengths_until_the_table_changes() -> None:
    text = (REALITY / "ndb-desc-t1-1m-4part.txt").read_text()
    (found,) = read_statistics(text).tables
    assert len(found.partition_variable_bytes) == 4
    plan, _ = apply_statistics(cluster_plan(_plan().tables[0]), [found])
    (t1,) = plan.tables
    assert t1.partition_variable_bytes == found.partition_variable_bytes
    assert tuple(distribute(plan, t1).variable_bytes) == found.partition_variable_bytes
    longer = validated.changed(t1.columns[3], average_bytes=1000)
    changed = edits.update(plan, t1.id, columns=(*t1.columns[:3], longer))
    assert changed.tables[0].partition_variable_bytes == ()


def test_both_outputs_tell_the_same_pages() -> None:
    found = [
        read_statistics((REALITY / name).read_text()).tables[0].partition_variable_bytes
        for name in ("ndb-desc-t1-1m-4part.txt", "memory-per-fragment-t1-1m-node2.tsv")
    ]
    assert found[0] == found[1]
    assert all(size % 32768 == 0 for size in found[0])


def test_table_status() -> None:
    text = "Name\tEngine\tRows\tAvg_row_length\nt1\tndbcluster\t500\t244\n"
    (table,) = read_statistics(text).tables
    assert (table.name, table.rows, table.average_row_bytes) == ("t1", 500, 244)


@pytest.mark.parametrize(
    ("names", "values", "found"),
    [
        ("TABLE_NAME\tTABLE_ROWS", "t1\t500", [("t1", 500, None)]),
        ("TABLE_NAME\tAVG_ROW_LENGTH", "t1\t244", [("t1", None, 244)]),
        ("TABLE_NAME\tENGINE", "t1\tndbcluster", []),
        ("Name\tRows", "t1\t500", []),
    ],
)
def test_columns_that_were_asked_for_are_enough(
    names: str, values: str, found: list[tuple[str, int | None, int | None]]
) -> None:
    tables = read_statistics(f"{names}\n{values}\n").tables
    assert [(table.name, table.rows, table.average_row_bytes) for table in tables] == found


def test_rows_that_cannot_be_read_are_told_with_their_place() -> None:
    text = BOXED.replace("| big          | other ", "| big | a|b ").replace("   500 |", "   5x0 |")
    found = read_statistics(text)
    assert [table.name for table in found.tables] == ["t1"]
    assert found.problems == (
        "line 5: TABLE_ROWS '5x0' is not a whole number",
        "line 6, column 1: 5 values for 4 columns",
    )


def test_headings_inside_a_table_and_hidden_tables_are_no_tables() -> None:
    text = (REALITY / "ndb-desc-t1-1m-4part.txt").read_text()
    inside = text.replace("-- Indexes --", "-- IndexTable 12 --\n-- Indexes --")
    blob = text.replace("-- t1 --", "-- NDB$BLOB_38_4 --")
    found = read_statistics(inside + blob)
    assert [(table.name, table.partition_rows) for table in found.tables] == [("t1", ROWS)]
    assert not found.problems


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_lengths_that_nobody_stated_come_from_the_words_that_rows_take(version: str) -> None:
    """Beside a stated length and a blob, which keep theirs: words of a table whose lengths are known."""
    release = NdbVersion.parse(version)
    sql = (
        "CREATE TABLE d.t (id INT PRIMARY KEY, a VARCHAR(400) CHARACTER SET latin1, "
        "b VARCHAR(90) CHARACTER SET latin1, c TEXT, d BLOB) ENGINE=NDB"
    )
    (table,) = read_ddl(sql, release).tables
    averages: dict[str, float | None] = {"a": 52.0, "b": 17.0, "c": 900.0, "d": 4000.0}

    def with_lengths(**stated: float | None) -> Table:
        return validated.changed(
            table,
            columns=tuple(
                validated.changed(c, average_bytes=stated.get(c.name), nullable=False) for c in table.columns
            ),
        )

    words = row_layout(with_lengths(**averages), release).variable_words
    plan = Plan(ndb_version=version, tables=(with_lengths(**(averages | {"a": None})),))
    found = TableStatistics(name="t", database="d", rows=10, variable_words=words)
    (t,) = apply_statistics(plan, [found])[0].tables
    means = {column.name: column.average_bytes for column in t.columns if column.name in averages}
    assert means == averages | {"a": pytest.approx(52.0, abs=4.0)}
