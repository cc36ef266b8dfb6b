"""ALTER TABLE of tables that the text makes: what figures depend on is followed."""

from __future__ import annotations

import pytest

from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table

V84 = NdbVersion.parse("8.4")
MADE = """CREATE TABLE t (a INT, b VARCHAR(10), c TEXT, d VARCHAR(9) CHARSET utf8mb4 DEFAULT 'old',
PRIMARY KEY (a, b)) ENGINE=NDB CHARSET=latin1 PARTITION BY KEY (b) PARTITIONS 8;
"""


def altered(statement: str) -> tuple[Table, list[tuple[int, int, str]]]:
    found = read_ddl(f"{MADE}ALTER TABLE t {statement};", V84)
    (table,) = found.tables
    return table, [(one.line, one.column, one.message) for one in found.problems]


@pytest.mark.parametrize(
    ("charset", "types", "collations"),
    [
        ("CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "int varchar mediumtext varchar", "utf8mb4_bin"),
        ("CHARSET utf8mb3", "int varchar mediumtext varchar", "utf8mb3_general_ci"),
        ("CHARACTER SET ascii", "int varchar text varchar", "ascii_general_ci"),
        ("CHARACTER SET binary", "int varbinary blob varbinary", None),
        ("CHARACTER SET DEFAULT", "int varchar mediumtext varchar", None),
    ],
)
def test_another_character_set_is_that_of_every_text_column(
    charset: str, types: str, collations: str | None
) -> None:
    table, problems = altered(f"CONVERT TO {charset}")
    assert [column.type for column in table.columns] == types.split()
    assert {column.collation for column in table.columns[1:]} == {collations}
    assert not problems


@pytest.mark.parametrize(
    "statement",
    [
        "ADD e CHAR(3), DEFAULT CHARACTER SET = utf8mb4 COLLATE utf8mb4_bin",
        "CHARSET utf8mb4 COLLATE utf8mb4_bin, ADD (e CHAR(3))",
    ],
)
def test_the_default_is_for_columns_that_come(statement: str) -> None:
    table, problems = altered(statement)
    assert [column.collation for column in table.columns] == [
        None, "latin1_swedish_ci", "latin1_swedish_ci", "utf8mb4_0900_ai_ci", "utf8mb4_bin",
    ]  # fmt: skip
    assert not problems


@pytest.mark.parametrize(
    ("statement", "key", "partitions"),
    [
        ("PARTITION BY KEY (a) PARTITIONS 4", ("a",), 4),
        ("PARTITION BY LINEAR KEY ()", (), None),
        ("ADD e INT PARTITION BY KEY (a)", ("a",), None),
        ("REMOVE PARTITIONING", (), None),
        ("DROP c REMOVE PARTITIONING", (), None),
    ],
)
def test_partitions_are_those_of_the_last_statement(
    statement: str, key: tuple[str, ...], partitions: int | None
) -> None:
    table, problems = altered(statement)
    assert (table.distribution_key, table.partitions) == (key, partitions)
    assert not problems


def test_what_ndb_refuses_of_partitions_changes_nothing() -> None:
    table, problems = altered("PARTITION BY RANGE (a)")
    assert (table.distribution_key, table.partitions) == (("b",), 8)
    assert problems == [(3, 15, "PARTITION BY RANGE: NDB distributes by KEY only; it is left out")]


def test_defaults_come_and_go() -> None:
    changes = "ALTER COLUMN c SET DEFAULT ('new'), ALTER d DROP DEFAULT, ALTER b SET DEFAULT NULL"
    table, problems = altered(changes)
    assert [column.default for column in table.columns] == [None, None, "('new')", None]
    assert not problems
    assert altered("ALTER x SET DEFAULT 1")[1] == [(3, 23, "there is no column x; it is left out")]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("ORDER BY a", "ORDER BY"), ("ALTER INDEX i INVISIBLE", "ALTER INDEX"), ("FORCE", "FORCE"),
        ("COALESCE PARTITION 2", "COALESCE PARTITION"), ("ADD PARTITION PARTITIONS 2", "ADD PARTITION"),
    ],
)  # fmt: skip
def test_what_is_not_followed_has_its_place(statement: str, said: str) -> None:
    assert altered(statement)[1] == [(3, 15, f"ALTER TABLE ... {said} is not followed; it is left out")]


def test_or_replace_takes_the_place_of_the_table() -> None:
    found = read_ddl(f"{MADE}CREATE OR REPLACE TABLE t (z INT PRIMARY KEY) ENGINE=NDB;", V84)
    assert [[column.name for column in table.columns] for table in found.tables] == [["z"]]
    assert [(one.line, one.column) for one in found.problems] == [(3, 1), (3, 1)]
    assert "no CREATE OR REPLACE TABLE" in found.problems[0].message
    for cut in ("CREATE TABLE a (x INT PRIMARY KEY) CREATE OR", "CREATE OR REPLACE TABLE"):
        assert read_ddl(cut, V84).problems


def test_what_a_database_says_later_changes_no_column_that_is_there() -> None:
    then = (
        "ALTER DATABASE test CHARACTER SET latin1;ALTER TABLE t ADD c CHAR(3), ADD d CHAR(3) CHARSET latin1;"
    )
    (table,) = read_ddl(f"CREATE TABLE t (a INT PRIMARY KEY, b CHAR(3));{then}", V84).tables
    assert [column.collation for column in table.columns] == [None, None, None, "latin1_swedish_ci"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("(SELECT 1)", "(SELECT: passed"),
        ("{ }", "{: passed"),
        ("\\. more.sql", "\\.: passed"),
        ("/* a */ -- b\n", ""),
    ],
)
def test_what_is_no_statement_is_named_and_comments_are_not(statement: str, said: str) -> None:
    found = read_ddl(f"SET x = 1;\n  {statement};", V84).problems
    told = [(one.line, one.column, one.message) for one in found if one.line == 2]
    assert [message.startswith(said) for *_, message in told] == [True] * bool(said)
    assert [place for *place, _ in told] == [[2, 3]] * bool(said)


def test_a_comment_about_parts_is_named_where_there_are_none() -> None:
    made = "CREATE TABLE t (a INT PRIMARY KEY,\n b CHAR(3) COMMENT 'NDB_COLUMN=MAX_BLOB_PART_SIZE=1');"
    (problem,) = read_ddl(made, V84).problems
    assert (problem.line, problem.column) == (2, 20)
    assert problem.message == "NDB_COLUMN=MAX_BLOB_PART_SIZE=1 is left out; CHAR has no parts"


@pytest.mark.parametrize(
    "clause", ["INT(z)", "INT(11 z)", "DECIMAL(9,2 z)", "ENUM('a' z, 'b')", "CHAR(3), KEY (c z)"]
)
def test_words_where_none_belong_are_named(clause: str) -> None:
    made = f"CREATE TABLE t (a INT PRIMARY KEY, c {clause}) ENGINE=NDB;"
    (problem,) = read_ddl(made, V84).problems
    assert (problem.line, problem.column) == (1, made.index("z") + 1)
    assert "it is left out" in problem.message


def test_an_order_of_keys_and_the_storage_engine_are_known() -> None:
    made = (
        "CREATE TABLE t (a INT PRIMARY KEY, KEY k (a ASC)); CREATE LOGFILE GROUP l ADD UNDOFILE 'u' STORAGE"
    )
    assert not read_ddl(f"{made} ENGINE NDB;", V84).problems
    (problem,) = read_ddl(f"{made} INITIAL_SIZE 1M ENGINE NDB;", V84).problems
    assert problem.message == "STORAGE is not used; it is left out"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("CREATE TABLE t (x INT NULL, y INT, PRIMARY KEY (x)) ENGINE=NDB;", 1, 23),
        ("CREATE TABLE t (x INT NULL PRIMARY KEY) ENGINE=NDB;", 1, 23),
        ("CREATE TABLE t (x INT NULL) ENGINE=NDB;\nALTER TABLE t ADD PRIMARY KEY (x);", 1, 23),
    ],
)
def test_null_in_the_primary_key_is_named(text: str, line: int, column: int) -> None:
    found = read_ddl(text, V84)
    (table,) = found.tables
    assert not table.columns[0].nullable
    (problem,) = found.problems
    assert (problem.line, problem.column) == (line, column)
    assert "1171" in problem.message


def test_no_null_is_named_where_the_key_has_none() -> None:
    text = "CREATE TABLE t (x INT NULL, y INT NOT NULL PRIMARY KEY) ENGINE=NDB;"
    assert not read_ddl(text, V84).problems
    assert not read_ddl(text[:-1] + ";\nALTER TABLE t MODIFY x INT NOT NULL;", V84).problems
