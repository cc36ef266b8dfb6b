"""What SQL does to tables and disk data that it does not make: the plan's are renamed, emptied, dropped."""

from __future__ import annotations

import pytest

from ndbplan.importing.ddl.into_plan import Taken, with_ddl
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.files import import_files
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

V84 = NdbVersion.parse("8.4")
MADE = b"""CREATE LOGFILE GROUP lg ADD UNDOFILE 'u' INITIAL_SIZE 16M UNDO_BUFFER_SIZE 2M ENGINE=NDB;
CREATE TABLESPACE ts ADD DATAFILE '/d/a.dat' USE LOGFILE GROUP lg INITIAL_SIZE 32M ENGINE=NDB;
CREATE TABLESPACE free ADD DATAFILE 'f_1' USE LOGFILE GROUP lg INITIAL_SIZE 32M ENGINE=NDB;
ALTER TABLESPACE free ADD DATAFILE 'f_2' INITIAL_SIZE 32M ENGINE=NDB;
USE a; CREATE TABLE t (i int PRIMARY KEY, d int STORAGE DISK) TABLESPACE ts AUTO_INCREMENT=11;
CREATE TABLE u (i int PRIMARY KEY); CREATE TABLE b.t (i int PRIMARY KEY);"""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return import_files({"a.sql": MADE}).plan


def _taken(plan: Plan, sql: str) -> tuple[Taken, list[str]]:
    found = read_ddl(sql, V84)
    taken = with_ddl(plan, found)
    assert with_ddl(plan, found) == taken, "seen before it is taken"
    return taken, [str(p) for p in (*found.problems, *taken.missing)]


@pytest.mark.parametrize(
    ("sql", "names", "changes"),
    [
        ("RENAME TABLE a.t TO a.old, b.t TO a.t", ["a.old", "a.u", "a.t"], 2),
        ("USE a; RENAME TABLE t TO x, u TO t, x TO u", ["a.u", "a.t", "b.t"], 2),
        ("USE a; ALTER TABLE t RENAME v; ALTER TABLE `v` RENAME TO `b`.`v`;", ["b.v", "a.u", "b.t"], 1),
        ("RENAME TABLE a.t TO a.x; RENAME TABLE a.x TO a.t", ["a.t", "a.u", "b.t"], 0),
        ("DROP TABLE a.t, b.t; DROP TABLE IF EXISTS none", ["a.u"], 2),
        ("DROP DATABASE a", ["b.t"], 2),
        ("DROP VIEW a.t", ["a.t", "a.u", "b.t"], 0),
        ("USE a; RENAME TABLE t TO x; DROP TABLE x", ["a.u", "b.t"], 1),
        # Dumps drop what they make, even where they cannot be read: it stays, with its rows.
        ("USE a; DROP TABLE IF EXISTS t; CREATE TABLE t (i WHAT, PRIMARY KEY (i))", ["a.t", "a.u", "b.t"], 0),
        ("DROP DATABASE a; CREATE DATABASE a; CREATE TABLE a.t (i int PRIMARY KEY)", ["a.t", "b.t"], 2),
        ("USE a; RENAME TABLE t TO o; CREATE TABLE t (i int)", ["a.o", "a.u", "b.t", "a.t"], 2),
    ],
)
def test_tables_of_the_plan_follow(plan: Plan, sql: str, names: list[str], changes: int) -> None:
    taken, _ = _taken(plan, sql)
    assert [table.full_name for table in taken.plan.tables] == names
    assert len(taken.changes) == changes
    kept = {table.id: table.rows for table in plan.tables}
    assert all(table.rows == kept.get(table.id, 0) for table in taken.plan.tables)


def test_an_emptied_table_has_no_rows(plan: Plan) -> None:
    taken, said = _taken(plan, "TRUNCATE a.t")
    assert (taken.plan.tables[0].rows, taken.plan.tables[0].assumed) == (0, ())
    assert taken.changes == ["a.t: emptied, 10 rows before"]
    made = "CREATE TABLE n (i int PRIMARY KEY) AUTO_INCREMENT=5; RENAME TABLE n TO m; TRUNCATE TABLE m"
    taken, _ = _taken(plan, made)
    assert (taken.plan.tables[-1].full_name, taken.plan.tables[-1].rows) == ("test.m", 0)
    assert said == []


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("\nRENAME TABLE a.none TO a.x", "line 2, column 14: there is no table a.none above"),
        ("\nTRUNCATE a.none", "line 2, column 10: there is no table a.none above"),
        ("\nDROP TABLE a.none", "line 2, column 12: there is no table a.none above"),
        ("\nRENAME TABLE a.t TO a.u", "line 2, column 14: table a.t cannot become a.u: there is one already"),
        ("DROP TABLE a.t;\nTRUNCATE a.t", "line 2, column 10: there is no table a.t above"),
        ("DROP TABLE a.t;\nRENAME TABLE a.t TO a.v", "line 2, column 14: there is no table a.t above"),
        (
            "CREATE TABLE c (i int);\nRENAME TABLE a.t TO test.c",
            "column 14: a.t cannot become test.c",
        ),
        ("\nDROP TABLESPACE ts ENGINE=NDB", "line 2, column 17: tablespace ts stays: a.t uses it"),
        ("\nDROP LOGFILE GROUP lg ENGINE=NDB", "group lg stays: tablespace ts, tablespace free use it"),
        ("\nRENAME TABLE a.t TO a.`a\tb`", "line 2, column 14: table name: 'a\\tb' is refused"),
        ("\nALTER TABLESPACE free ADD DATAFILE 'a\tb'", "line 2, column 18: tablespace free: name: 'a\\tb'"),
        ("\nDROP TABLESPACE no ENGINE=NDB", "line 2, column 17: there is no tablespace 'no' above"),
        ("DROP TABLESPACE free;\nALTER TABLESPACE free ADD DATAFILE 'x'", "line 2, column 18: there is no"),
        (
            "\nALTER TABLESPACE free DROP DATAFILE 'f_3'",
            "column 18: tablespace free has no file 'f_3'",
        ),
        (
            "\nALTER TABLESPACE free ADD DATAFILE 'f_2' INITIAL_SIZE 64M",
            "tablespace free has a file 'f_2' of 32 MiB already",
        ),
        (
            "\nCREATE TABLESPACE ts ADD DATAFILE '/d/a.dat' USE LOGFILE GROUP lg INITIAL_SIZE 1G ENGINE NDB",
            "column 19: tablespace ts is there already and stays as it is: 32 MiB of files, 1 GiB here",
        ),
        (
            "\nCREATE LOGFILE GROUP lg ADD UNDOFILE 'u' INITIAL_SIZE 16M UNDO_BUFFER_SIZE 4M ENGINE NDB",
            "log file group lg is there already and stays as it is: undo buffer differ here",
        ),
    ],
)
def test_what_cannot_be_followed_is_said_where_it_stands(plan: Plan, sql: str, said: str) -> None:
    taken, problems = _taken(plan, sql)
    assert len(problems) == 1
    assert said in problems[0]
    assert taken.plan.replace(tables=(), tablespaces=()) == plan.replace(tables=(), tablespaces=())
    if "free" not in sql and "a.t;" not in sql and "int" not in sql:
        assert taken.plan == plan


def test_files_keep_their_names(plan: Plan) -> None:
    ts, free = plan.tablespaces
    assert (ts.directory, [(f.name, f.count) for f in ts.data_files]) == ("/d", [("a.dat", 1)])
    assert [(f.name, f.count) for f in free.data_files] == [("f", 2)]
    taken, said = _taken(plan, "ALTER TABLESPACE free DROP DATAFILE 'f_1' ENGINE=NDB")
    assert [(f.name, f.count) for f in taken.plan.tablespaces[1].data_files] == [("f_2", 1)]
    assert said == []
    again, _ = _taken(plan, "ALTER TABLESPACE free ADD DATAFILE 'f_2' INITIAL_SIZE 32M ENGINE=NDB")
    assert again.plan == plan


def test_disk_data_is_dropped_and_made_anew(plan: Plan) -> None:
    everything = "DROP DATABASE a; DROP TABLESPACE ts; DROP TABLESPACE free; DROP LOGFILE GROUP lg"
    taken, said = _taken(plan, everything)
    assert (taken.plan.tablespaces, taken.plan.logfile_groups, said) == ((), (), [])
    larger = "DROP TABLESPACE ts; CREATE TABLESPACE ts ADD DATAFILE 'n' USE LOGFILE GROUP lg ENGINE=NDB;"
    taken, _ = _taken(plan, larger)
    assert taken.changes == ["tablespace ts: dropped and made anew"]
    assert [f.size_bytes for f in taken.plan.tablespaces[0].data_files] == [128 * 2**20]
    assert taken.plan.tables[0].tablespace_id == plan.tablespaces[0].id


def test_what_cannot_live_without_a_dropped_table_is_named() -> None:
    plan = sample_plan("starter")
    name = plan.tables[0].full_name
    taken, _ = _taken(plan, f"DROP TABLE {name}")
    assert taken.changes[0].startswith(f"{name}: dropped, and with it workloads[")


@pytest.mark.parametrize(
    "then",
    [
        "RENAME TABLE w TO warehouse;",
        "RENAME TABLE w TO warehouse; ALTER TABLE d ADD b int;",
        "ALTER TABLE d ADD b int; RENAME TABLE w TO warehouse; ALTER TABLE d ADD c int;",
        "RENAME TABLE w TO x, d TO y; ALTER TABLE y ADD b int; RENAME TABLE x TO warehouse, y TO d;",
        "RENAME TABLE w TO warehouse; CREATE TABLE w (id int PRIMARY KEY); RENAME TABLE w TO v;",
        "RENAME TABLE w TO x; RENAME TABLE x TO w; RENAME TABLE w TO warehouse;",
        "RENAME TABLE w TO warehouse; ALTER TABLE d CHANGE w warehouse_id int NOT NULL;",
    ],
)
def test_foreign_keys_go_along_with_a_renamed_table(then: str) -> None:
    sql = """CREATE TABLE w (id int PRIMARY KEY);
CREATE TABLE d (id int, w int, PRIMARY KEY (id, w), FOREIGN KEY (w) REFERENCES w (id)) PARTITION BY KEY (w);
"""
    tables = {table.name: table for table in read_ddl(sql + then, V84).tables}
    assert tables["d"].distribution_key_table_id == tables["warehouse"].id


def test_a_foreign_key_added_later_names_the_table_that_is_called_so_then() -> None:
    sql = """CREATE TABLE w (id int PRIMARY KEY); RENAME TABLE w TO old;
CREATE TABLE d (id int, w int, PRIMARY KEY (id, w)) PARTITION BY KEY (w);
CREATE TABLE w (id int PRIMARY KEY); ALTER TABLE d ADD FOREIGN KEY (w) REFERENCES w (id);
RENAME TABLE w TO new;"""
    tables = {table.name: table for table in read_ddl(sql, V84).tables}
    assert tables["d"].distribution_key_table_id == tables["new"].id


@pytest.mark.parametrize(
    ("clause", "word"),
    [
        ("c int INVISIBLE", "INVISIBLE"),
        ("c int ENGINE_ATTRIBUTE='x' VISIBLE", "ENGINE_ATTRIBUTE"),
        ("c int SRID 4326", "SRID"),
        ("c int WITHOUT = 1", "WITHOUT"),
        ("c int CONSTRAINT x CHECK (c > 1) NOT ENFORCED", "CHECK"),
        ("c int REFERENCES o.p (a) MATCH FULL ON DELETE SET NULL ON UPDATE NO ACTION", "REFERENCES"),
        ("c int, KEY (c) INVISIBLE", "INVISIBLE"),
        ("c int, KEY (c DESC)", "DESC"),
        ("c int, UNIQUE (c) PARSER x VISIBLE", "PARSER"),
        ("c int, UNIQUE (c) COMMENT 'x'", "COMMENT"),
        ("c int, PRIMARY KEY (id)", "PRIMARY KEY is there already"),
        ("c int) UNION=(a, b), ENGINE=NDB", "UNION"),
        ("c int) CHARSET=latin1 WHAT=5 COLLATE latin1_bin ENGINE NDB", "WHAT"),
        ("c int) DEFAULT CHARACTER SET = utf8 DATA DIRECTORY='/x' MAX_ROWS=4", "DATA"),
    ],
)
def test_every_clause_that_is_not_used_is_named(clause: str, word: str) -> None:
    closing = "" if clause.startswith("c int)") else ")"
    found = read_ddl(f"CREATE TABLE t (id int PRIMARY KEY,\n {clause}{closing};", V84)
    assert len(found.tables[0].columns) == 2
    [problem] = found.problems
    assert problem.line == 2
    assert word in problem.message


def test_what_tables_say_themselves_of_logging_wins() -> None:
    text = (
        "SET ndb_table_no_logging=1;"
        "CREATE TABLE a (i int PRIMARY KEY) COMMENT='NDB_TABLE=NOLOGGING=0';"
        "CREATE TABLE b (i int PRIMARY KEY, j int STORAGE DISK) TABLESPACE ts;"
        "CREATE TABLE c (i int PRIMARY KEY) TABLESPACE ts;"
        "CREATE TABLE d (i int PRIMARY KEY);"
    )
    assert [table.logging for table in read_ddl(text, V84).tables] == [True, True, True, False]


@pytest.mark.parametrize(
    ("sql", "logging"),
    [
        ("SET ndb_table_temporary=1", False),
        ("SET @@session.ndb_table_temporary=ON, ndb_table_no_logging=0", False),
        ("SET ndb_table_temporary=1; SET SESSION ndb_table_temporary=DEFAULT", True),
    ],
)
def test_temporary_tables_of_a_session_are_not_logged(sql: str, logging: bool) -> None:
    found = read_ddl(f"{sql}; CREATE TABLE t (a int PRIMARY KEY);", V84)
    assert found.tables[0].logging is logging
    assert not found.problems
