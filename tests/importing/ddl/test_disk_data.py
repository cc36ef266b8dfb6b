"""Log file groups, tablespaces and sessions without logging, from SQL text."""

from __future__ import annotations

import pytest

from ndbplan.checks.problem import Severity
from ndbplan.checks.run import check
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.exporting.schema_sql import render_schema
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.files import import_files
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import SpaceFile

V84 = NdbVersion.parse("8.4")
SQL = b"""
CREATE LOGFILE GROUP lg_1 ADD UNDOFILE 'undo_1' INITIAL_SIZE 16M UNDO_BUFFER_SIZE = 2M ENGINE NDBCLUSTER;
ALTER LOGFILE GROUP lg_1 ADD UNDOFILE 'undo_2' INITIAL_SIZE=16777216 ENGINE=NDB;
CREATE TABLESPACE `ts 1` ADD DATAFILE 'data_1.dat' USE LOGFILE GROUP lg_1
 EXTENT_SIZE 512K INITIAL_SIZE 32M ENGINE NDB;
ALTER TABLESPACE `ts 1` ADD DATAFILE 'data_2.dat' INITIAL_SIZE 1G ENGINE NDB;
CREATE TABLESPACE lost ADD DATAFILE 'x.dat' USE LOGFILE GROUP nowhere ENGINE NDB;
ALTER TABLESPACE unknown ADD DATAFILE 'y.dat' ENGINE NDB;
CREATE TABLE t1 (a INT PRIMARY KEY, b BINARY(20) STORAGE DISK)
 TABLESPACE `ts 1` ENGINE=NDB AUTO_INCREMENT=101;
SET ndb_table_no_logging=1;
CREATE TABLE t2 (a INT PRIMARY KEY) ENGINE=NDB;
SET @@session.ndb_table_no_logging = OFF;
CREATE TABLE t3 (a INT PRIMARY KEY) ENGINE=NDB;
"""


def test_disk_data_of_a_text_is_part_of_the_plan() -> None:
    done = import_files({"schema.sql": SQL})
    (group,) = done.plan.logfile_groups
    assert (group.name, group.undo_buffer_bytes) == ("lg_1", 2 * 2**20)
    assert [(f.name, f.size_bytes, f.count) for f in group.undo_files] == [("undo", 2**24, 2)]
    (space,) = done.plan.tablespaces
    assert (space.name, space.extent_size_bytes, space.logfile_group_id) == ("ts 1", 512 * 1024, group.id)
    assert [(f.name, f.size_bytes, f.count) for f in space.data_files] == [
        ("data_1.dat", 32 * 2**20, 1),
        ("data_2.dat", 2**30, 1),
    ]
    tables = {table.name: table for table in done.plan.tables}
    assert tables["t1"].tablespace_id == space.id
    assert [tables[name].logging for name in ("t1", "t2", "t3")] == [True, False, True]
    said = " | ".join(f.message for f in done.findings)
    assert "log file group 'nowhere', which nothing makes" in said
    assert "there is no 'unknown' above" in said
    assert "AUTO_INCREMENT=101: 100 rows are assumed" in said


def test_what_is_there_already_stays() -> None:
    once = import_files({"schema.sql": SQL}).plan
    again = import_files({"schema.sql": SQL}, once).plan
    assert again.logfile_groups == once.logfile_groups
    assert again.tablespaces == once.tablespaces


@pytest.mark.parametrize("size", ["lots", "9" * 5000])
def test_a_size_that_is_none_has_its_place(size: str) -> None:
    found = read_ddl(f"\nCREATE TABLESPACE t ADD DATAFILE 'x' INITIAL_SIZE {size} ENGINE NDB;", V84)
    (problem,) = found.problems
    assert problem.line == 2
    assert f"'{size[:40]}' is not a size" in problem.message


def test_alter_changes_what_the_plan_has() -> None:
    plan = import_files({"schema.sql": SQL}).plan
    sql = """ALTER TABLESPACE `ts 1` ADD DATAFILE 'more.dat' INITIAL_SIZE 64M ENGINE NDB;
ALTER TABLESPACE `ts 1` DROP DATAFILE 'data_2.dat' ENGINE NDB;
ALTER LOGFILE GROUP lg_1 ADD UNDOFILE 'u9.log' INITIAL_SIZE 32M ENGINE NDB;
  ALTER TABLESPACE other ADD DATAFILE 'x.dat' ENGINE NDB;"""
    done = import_files({"more.sql": sql.encode()}, plan)
    files = {f.name: f.size_bytes for f in done.plan.tablespaces[0].data_files}
    assert files == {"data_1.dat": 32 * 2**20, "more.dat": 64 * 2**20}
    assert sum(f.count for f in done.plan.logfile_groups[0].undo_files) == 3
    assert (4, "column 20: there is no 'other' above; left out") in [
        (f.line, f.message) for f in done.findings
    ]
    again = import_files({"more.sql": sql.encode()}, done.plan)
    assert again.plan == done.plan


LOST = b"""SET NAMES utf8mb4;
CREATE TABLE q (a int primary key, b int) /*!50100 TABLESPACE ts1 STORAGE DISK */ ENGINE=ndbcluster;
"""


def test_a_tablespace_that_nothing_makes_is_said_and_the_columns_stay_on_disk() -> None:
    done = import_files({"q.sql": LOST})
    [said] = [f for f in done.findings if "ts1" in f.message]
    assert said.line == 2
    assert said.message.startswith("column 63: table test.q is in tablespace 'ts1', which nothing makes")
    (table,) = done.plan.tables
    assert [(c.name, c.storage) for c in table.columns] == [("a", "memory"), ("b", "disk")]
    assert "`b` INT NULL STORAGE DISK" in render_schema(done.plan)
    (problem,) = [p for p in check(done.plan) if p.rule == "tablespace-of-table"]
    assert (problem.severity, problem.object_ids) == (Severity.ERROR, (table.id,))
    # An InitialTablespace makes the one that NDB asks for by itself.
    made = set_parameter(done.plan, "data_node", "InitialTablespace", "name=DEFAULT-TS;d.dat:1G")
    assert not [p for p in check(made) if p.rule == "tablespace-of-table"]


def test_a_known_table_goes_where_the_text_puts_it() -> None:
    plan = import_files({"q.sql": LOST}).plan
    spaces = SQL[: SQL.index(b"CREATE TABLE t1")].replace(b"`ts 1`", b"ts1")
    done = import_files({"q.sql": spaces + LOST}, plan)
    assert done.plan.tables[0].tablespace_id == next(s.id for s in done.plan.tablespaces if s.name == "ts1")
    assert not [f for f in done.findings if "is in tablespace" in f.message]
    assert not [p for p in check(done.plan) if p.rule == "tablespace-of-table"]


@pytest.mark.parametrize(
    ("statement", "logging"),
    [
        ("SET SESSION ndb_table_no_logging=1", False),
        ("SET LOCAL ndb_table_no_logging = 'ON'", False),
        ('set @@session.ndb_table_no_logging := "on"', False),
        ("SET @@local.`ndb_table_no_logging`=TRUE", False),
        ("SET @@ndb_table_no_logging=1", False),
        ("SET sql_mode='a,b', @x=CONCAT(1,2), ndb_table_no_logging=ON, autocommit=0", False),
        ("SET @old=@@ndb_table_no_logging, SESSION ndb_table_no_logging=1", False),
        ("SET ndb_table_no_logging=1, ndb_table_no_logging='OFF'", True),
        ("SET ndb_table_no_logging=DEFAULT", True),
        ("SET @ndb_table_no_logging=1", True),
    ],
)
def test_every_spelling_of_a_session_without_logging_is_read(statement: str, logging: bool) -> None:
    found = read_ddl(f"{statement}; CREATE TABLE t (a int PRIMARY KEY) ENGINE=NDB;", V84)
    assert not found.problems
    assert found.tables[0].logging is logging


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SET autocommit=0,\n ndb_table_no_logging=@old", "set to '@ old'"),
        ("SET\n ndb_table_no_logging=2", "set to '2'"),
        ("SET GLOBAL autocommit=1,\n ndb_table_no_logging=1", "SET GLOBAL is refused"),
        ("SET\n @@global.ndb_table_no_logging=1", "SET GLOBAL is refused"),
    ],
)
def test_what_cannot_be_read_of_a_session_without_logging_has_its_line(statement: str, said: str) -> None:
    found = read_ddl(f"{statement}; CREATE TABLE t (a int PRIMARY KEY) ENGINE=NDB;", V84)
    [problem] = found.problems
    assert problem.line == 2
    assert said in problem.message
    assert found.tables[0].logging


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("DROP TABLE t", ["a.t", "a.x.y"]),
        ("DROP TABLE IF EXISTS a.t", ["b.t", "a.x.y"]),
        ("DROP TABLES `a`.`t` , b . t", ["a.x.y"]),
        ("DROP TABLE a.`x.y`", ["a.t", "b.t"]),
        ("DROP DATABASE IF EXISTS `a`", ["b.t"]),
        ("DROP SCHEMA b", ["a.t", "a.x.y"]),
        ("DROP DATABASE c", ["a.t", "b.t", "a.x.y"]),
    ],
)
def test_what_is_dropped_is_the_table_of_that_database(statement: str, left: list[str]) -> None:
    tables = "".join(f"CREATE TABLE {name} (i int PRIMARY KEY);" for name in ("a.t", "b.t", "a.`x.y`"))
    found = read_ddl(f"USE b; {tables} {statement};", V84)
    assert [table.full_name for table in found.tables] == left


def test_what_is_made_twice_or_dropped_for_nothing_has_its_line() -> None:
    text = """CREATE LOGFILE GROUP lg ADD UNDOFILE 'u1' ENGINE=NDB;
        CREATE LOGFILE GROUP lg ADD UNDOFILE 'u2' ENGINE=NDB;
        CREATE TABLESPACE ts ADD DATAFILE 'd1' USE LOGFILE GROUP lg ENGINE=NDB;
        CREATE TABLESPACE ts ADD DATAFILE 'd2' USE LOGFILE GROUP lg ENGINE=NDB;
        ALTER TABLESPACE ts DROP DATAFILE 'd1' ENGINE=NDB;
        CREATE TABLESPACE other ADD DATAFILE 'd3' ENGINE=NDB;"""
    done = import_files({"a.sql": text.encode()}, EMPTY_PLAN.replace(ndb_version="8.4"))
    assert [(f.line, f.message.split(":")[-1].strip()) for f in done.findings] == [
        (2, "log file group lg is there already; SQL nodes refuse this one, planned with"),
        (4, "tablespace ts is there already; SQL nodes refuse this one, planned with"),
        (5, "ts has no file 'd1'; left out"),
        (6, "tablespace other names no log file group; add USE LOGFILE GROUP"),
    ]
    assert [f.name for f in done.plan.logfile_groups[0].undo_files] == ["u2"]


SPACES = """CREATE LOGFILE GROUP lg ADD UNDOFILE 'u' INITIAL_SIZE 16M ENGINE NDB;
CREATE TABLESPACE a ADD DATAFILE 'd_1' USE LOGFILE GROUP lg ENGINE NDB;
"""


@pytest.mark.parametrize(
    ("then", "said", "twice"),
    [
        # 7.4.10 answers this with error 760, File already exists; 8.4.8 a second file of one tablespace.
        ("CREATE TABLESPACE b ADD DATAFILE 'd_1' USE LOGFILE GROUP lg ENGINE NDB;", 34, "in a and in b"),
        ("CREATE TABLESPACE b ADD DATAFILE 'u' USE LOGFILE GROUP lg ENGINE NDB;", 34, "in lg and in b"),
        ("ALTER LOGFILE GROUP lg ADD UNDOFILE 'd_1' ENGINE NDB;", 37, "in lg and in a"),
        ("CREATE TABLESPACE b ADD DATAFILE 'x/d_1' USE LOGFILE GROUP lg ENGINE NDB;", 0, ""),
        ("CREATE TABLESPACE b ADD DATAFILE '/x/d_1' USE LOGFILE GROUP lg ENGINE NDB;", 0, ""),
        ("DROP TABLESPACE a; CREATE TABLESPACE b ADD DATAFILE 'd_1' USE LOGFILE GROUP lg ENGINE NDB;", 0, ""),
    ],
)
def test_a_file_of_two_is_named_at_its_place_and_is_an_error(then: str, said: int, twice: str) -> None:
    done = import_files({"s.sql": (SPACES + then).encode()}, sample_plan("starter"))
    found = [
        (one.line, one.message.partition(": ")[0]) for one in done.findings if "error 760" in one.message
    ]
    assert found == [(3, f"column {said}")] * bool(said)
    problems = [one for one in check(done.plan) if one.rule == "file-twice"]
    assert [f"is {twice};" in problem.message for problem in problems] == [True] * bool(twice)
    for problem in problems:
        assert problem.severity is Severity.ERROR
        assert problem.edit is not None
        fixed = problem.edit(done.plan)
        assert not [one for one in check(fixed) if one.rule == "file-twice"]


def test_numbered_files_meet_single_ones() -> None:
    again = "ALTER TABLESPACE a ADD DATAFILE 'd_2' ENGINE NDB;"
    plan = import_files({"s.sql": (SPACES + again).encode()}, sample_plan("starter")).plan
    (space,) = plan.tablespaces
    assert [(file.name, file.count) for file in space.data_files] == [("d", 2)]
    more = SpaceFile(name="d_2", size_bytes=2**20)
    plan = update(plan, space.id, data_files=(*space.data_files, more))
    assert ["is twice in a;" in one.message for one in check(plan) if one.rule == "file-twice"] == [True]
