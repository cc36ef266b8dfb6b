"""schema.sql: what it says is read back to the same tables, tablespaces and log file groups."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ndbplan.base.resources import resource_path
from ndbplan.checks.run import find
from ndbplan.configuration.refused_tables import unknown_in
from ndbplan.exporting.schema_sql import render_schema
from ndbplan.importing.files import import_files
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan import file
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.tables import Column, Index, PartitionBalance, Table, is_sql_value

SAMPLES = sorted(path.stem for path in resource_path("samples").glob("*.ndbplan"))
SHAPE = (
    "primary_key",
    "primary_key_using_hash",
    "distribution_key",
    "partitions",
    "fully_replicated",
    "logging",
)


def shape(plan: Plan, table: Table) -> dict[str, Any]:
    """What a CREATE TABLE says of a table."""
    found: dict[str, Any] = {name: getattr(table, name) for name in SHAPE}
    found["balance"] = table.partition_balance if plan.features.partition_balance else None
    found["columns"] = [
        (c.name, c.type, c.unsigned, c.scale or 0, c.nullable, c.storage, c.column_format)
        for c in table.columns
    ]
    found["indexes"] = {(i.name, i.columns, i.kind) for i in table.indexes}
    spaces = {space.id: space.name for space in plan.tablespaces}
    found["tablespace"] = spaces.get(table.tablespace_id or "")
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_the_schema_is_read_back(name: str) -> None:
    plan = file.load(resource_path(f"samples/{name}.ndbplan"))
    text = render_schema(plan)
    if not plan.tables:
        return
    done = import_files({"schema.sql": text.encode()}, EMPTY_PLAN.replace(ndb_version=plan.ndb_version))
    assert [f.message for f in done.findings] == []
    again = {table.full_name: table for table in done.plan.tables}
    for table in plan.tables:
        assert shape(done.plan, again[table.full_name]) == shape(plan, table)
    assert [(g.name, g.undo_buffer_bytes) for g in done.plan.logfile_groups] == [
        (g.name, g.undo_buffer_bytes) for g in plan.logfile_groups
    ]
    for one, other in zip(plan.tablespaces, done.plan.tablespaces, strict=True):
        assert one.extent_size_bytes == other.extent_size_bytes
        assert sum(f.size_bytes * f.count for f in one.data_files) == sum(
            f.size_bytes * f.count for f in other.data_files
        )


def test_a_plan_without_tables_has_no_schema() -> None:
    assert render_schema(EMPTY_PLAN) == ""


def _read(sql: str, version: str) -> Plan:
    return import_files({"s.sql": sql.encode()}, EMPTY_PLAN.replace(ndb_version=version)).plan


FULL = """CREATE TABLE shop.t (
  id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  a varchar(9) CHARACTER SET latin1 NOT NULL DEFAULT 'x',
  b timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  c int AS (id * 2) VIRTUAL, d int AS (id * 3) STORED CHECK (d > 1),
  e int COMMENT 'for people', KEY k (e),
  CONSTRAINT fk FOREIGN KEY (e) REFERENCES other (id) ON DELETE CASCADE
) ENGINE=NDB COMMENT='mine';"""


def test_values_that_servers_make_are_written_and_what_is_lost_is_named_at_the_top() -> None:
    text = render_schema(_read(FULL, "8.4"))
    assert "`id` INT UNSIGNED NOT NULL AUTO_INCREMENT," in text
    assert "NOT NULL DEFAULT 'x'," in text
    assert "DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP," in text
    head = text[: text.index("SET NAMES")].splitlines()
    assert head[1] == "-- Not in this file, because the plan does not hold it:"
    assert head[2:-1] == [
        "--   shop.t: column c: AS (id * 2) VIRTUAL",
        "--   shop.t: column d: AS (id * 3) STORED",
        "--   shop.t: column d: CHECK (d > 1)",
        "--   shop.t: COMMENT of column e",
        "--   shop.t: CONSTRAINT fk FOREIGN KEY (e) REFERENCES other (id) ON DELETE CASCADE",
        "--   shop.t: COMMENT of the table",
    ]
    [again] = _read(text, "8.4").tables
    assert [(c.default, c.on_update, c.auto_increment) for c in again.columns] == [
        (None, None, True),
        ("'x'", None, False),
        ("CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP", False),
        (None, None, False),
        (None, None, False),
    ]


NEW = """CREATE TABLE t (
  id int PRIMARY KEY,
  doc json,
  a varchar(9) COLLATE utf8mb4_0900_ai_ci,
  b varchar(9) COLLATE utf8mb4_ja_0900_as_cs,
  c int DEFAULT (1 + 1),
  f text, KEY k (a, f), KEY m (doc), UNIQUE u (b)
) ENGINE=NDB;"""


def test_what_a_version_does_not_know_is_said_everywhere_and_has_a_cure() -> None:
    done = import_files({"s.sql": NEW.encode()}, EMPTY_PLAN.replace(ndb_version="7.4"))
    said = [f"{f.line} {f.message}" for f in done.findings]
    assert [line for line in said if "SQL nodes refuse it" in line] == [
        "3 column 3: column doc: JSON came with NDB 7.5; SQL nodes refuse it",
        "4 column 3: column a: collation utf8mb4_0900_ai_ci came with NDB 8.0; SQL nodes refuse it",
        "5 column 3: column b: collation utf8mb4_ja_0900_as_cs came with NDB 8.0; SQL nodes refuse it",
        "6 column 3: column c: DEFAULT (1 + 1): expressions came with 8.0.13; SQL nodes refuse it",
        "7 column 11: KEY k: TEXT columns are in no key or index of NDB; SQL nodes refuse it",
        "7 column 25: KEY m: JSON columns are in no key or index of NDB; SQL nodes refuse it",
    ]
    text = render_schema(done.plan)
    assert "-- mysqld of NDB 7.4 refuses:\n--   column doc of test.t: JSON came with NDB 7.5" in text
    wrong = {p.rule for p in find(done.plan) if p.rule.startswith("column-")}
    assert wrong == {"column-of-version", "column-in-key"}
    plan = done.plan
    for _ in range(8):
        cure = next((p.edit for p in find(plan) if p.rule.startswith("column-") and p.edit), None)
        plan = cure(plan) if cure else plan
    assert not [p for p in find(plan) if p.rule.startswith("column-")]
    [table] = plan.tables
    assert table.column("doc").type == "longtext"
    assert table.column("a").collation == "utf8mb4_general_ci"
    assert table.column("b").collation == "utf8mb4_bin"
    assert table.column("c").default is None
    assert [index.name for index in table.indexes] == ["u"]
    assert "refuses" not in render_schema(plan)
    newer = done.plan.replace(ndb_version="8.4")
    assert [p.rule for p in find(newer) if p.rule.startswith("column-")] == ["column-in-key"] * 2


@pytest.mark.parametrize(
    ("version", "column", "known"),
    [
        ("7.1", Column(name="a", type="varchar", length=9, collation="utf8mb4_general_ci"), False),
        ("7.2", Column(name="a", type="varchar", length=9, collation="utf8mb4_general_ci"), True),
        ("7.2", Column(name="a", type="varchar", length=9, collation="utf8_unicode_520_ci"), False),
        ("7.2", Column(name="a", type="varchar", length=9, collation="latin1_german2_ci"), True),
        ("7.2", Column(name="a", type="varchar", length=9, collation="utf8_german2_ci"), False),
        ("7.4", Column(name="a", type="text", collation="gb18030_chinese_ci"), False),
        ("7.5", Column(name="a", type="json"), True),
        ("7.2", Column(name="a", type="datetime", length=3), False),
        ("7.3", Column(name="a", type="datetime", length=3), True),
        ("8.0.12", Column(name="a", type="int", default="(1)"), False),
        ("8.0.13", Column(name="a", type="int", default="(1)"), True),
    ],
)
def test_versions_of_types_collations_and_defaults(version: str, column: Column, known: bool) -> None:
    assert (not list(unknown_in(column, NdbVersion.parse(version)))) is known


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("'it''s; \\\\ \\' -- (\\!'", True),
        ("(coalesce(`a``'`, '\\!'))", True),
        ("now(3)", True),
        ("(\\! touch /tmp/x)", False),
        ("(`'` \\! touch /tmp/x ')", False),
        ("(a'b)", False),
        ("(1), more int default (2)", False),
        ("f(1) engine(2)", False),
        ("(2 - -1)", True),
        ("(2 --1)", False),
        ("(2 / *)", True),
        ("(2 /* 1)", False),
        ("9" * 1000, True),
        ("9" * 1001, False),
    ],
)
def test_a_value_of_sql_ends_where_it_begins(text: str, taken: bool) -> None:
    """Nothing behind it is read otherwise, and the mysql client finds no command of its own in it."""
    assert is_sql_value(text) == taken


def test_values_of_an_enum_stay_in_their_line_and_are_read_back() -> None:
    column = Column(name="e", type="enum", members=("a\nEND_OF_SQL\r\tx", "\\n", "it's"), length=3)
    plan = EMPTY_PLAN.replace(tables=(Table(id="t", database="d", name="t", columns=(column,)),))
    text = render_schema(plan)
    assert next(line for line in text.splitlines() if "END_OF_SQL" in line).startswith("  `e` ENUM(")
    again = import_files({"schema.sql": text.encode()}, EMPTY_PLAN).plan.tables[0].columns
    assert [c.members for c in again] == [column.members]
    with pytest.raises(ValidationError, match=r"U\+001B"):
        Column(name="e", type="enum", members=("\x1b[2J",))


def test_a_length_that_nobody_knows_is_the_one_that_is_planned_with() -> None:
    columns = (
        Column(name="a", type="varchar"),
        Column(name="b", type="varbinary"),
        Column(name="c", type="char"),
    )
    table = Table(id="t", database="d", name="t", rows=1, columns=columns)
    text = render_schema(EMPTY_PLAN.replace(tables=(table,)))
    assert "`a` VARCHAR(255) NULL,\n  `b` VARBINARY(255) NULL,\n  `c` CHAR NULL\n" in text


def test_options_of_tables_that_a_version_has_not_are_named() -> None:
    table = Table(
        id="t", database="d", name="t", rows=1, columns=(Column(name="a", type="int"),), read_backup=False,
        fully_replicated=True, partition_balance=PartitionBalance.FOR_RA_BY_NODE,
    )  # fmt: skip
    for version, named in (("7.4", 3), ("8.4", 0)):
        text = render_schema(EMPTY_PLAN.replace(ndb_version=version, tables=(table,)))
        assert text.count("\n--   d.t: ") == named
        assert ("NDB_TABLE=" in text) is (named == 0)


@pytest.mark.parametrize(
    ("version", "said", "unsaid"),
    [
        ("6.3", (), ("a of d.t: 100 bytes", "b of d.t: parts of 13948", "c of d.t: parts of 5000")),
        ("7.3", ("b` LONGTEXT NULL COMMENT 'NDB_COLUMN=MAX",), ("a of d.t: 100 bytes", "c of d.t: parts of")),
        (
            "8.4",
            ("BLOB_INLINE_SIZE=100", "b` LONGTEXT NULL COMMENT 'NDB"),
            ("c of d.t: parts of 5000",),
        ),
    ],
)
def test_sizes_of_blobs_that_no_statement_says_are_named(
    version: str, said: tuple[str, ...], unsaid: tuple[str, ...]
) -> None:
    columns = (
        Column(name="a", type="blob", nullable=True, blob_inline_bytes=100, blob_part_bytes=2000),
        Column(name="b", type="longtext", nullable=True, blob_part_bytes=13948),
        Column(name="c", type="blob", nullable=True, blob_part_bytes=5000),
        Column(name="e", type="int", blob_part_bytes=5000),
    )
    table = Table(id="t", database="d", name="t", rows=1, columns=columns)
    head, _, body = render_schema(EMPTY_PLAN.replace(ndb_version=version, tables=(table,))).partition("\n\n")
    assert [part for part in said if part not in body] == []
    assert body.count("NDB_COLUMN") == len(said)
    assert [part for part in unsaid if part not in head] == []
    assert head.count("\n--   ") == len(unsaid)


def test_what_no_server_makes_is_an_error_and_stands_in_the_head() -> None:
    columns = (
        Column(name="a", type="int", nullable=False, auto_increment=True),
        Column(name="B", type="enum", members=("x", "X")),
        Column(name="b", type="set", members=("x", "X"), collation="latin1_bin"),
    )
    keys = (Index(name="K", columns=("B",)), Index(name="k", columns=("b", "b")))
    table = Table(id="t", database="d", name="t", rows=1, columns=columns, indexes=keys)
    plan = EMPTY_PLAN.replace(tables=(table,))
    found = [p.message for p in find(plan) if p.rule == "table-impossible"]
    assert [message.partition(": ")[2].partition(";")[0] for message in found] == [
        "AUTO_INCREMENT of a column that is in no key",
        "member 'X' is there twice",
        "another column has this name",
        "another index has this name",
        "column b is there twice",
    ]
    assert [p for p in find(plan) if p.rule.startswith("column-")] == []
    head = render_schema(plan).partition("\n\n")[0]
    assert "-- mysqld of NDB 8.4 refuses:" in head
    assert head.count("\n--   ") == len(found)
