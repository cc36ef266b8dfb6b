"""Log file groups, tablespaces and sessions without logging, from SQL text."""

from __future__ import annotations

from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.files import import_files
from ndbplan.ndb.version import NdbVersion

V84 = NdbVersion.parse("8.4")
SQL = b"""
CREATE LOGFILE GROUP lg_1 ADD UNDOFILE 'undo_1.log' INITIAL_SIZE 16M UNDO_BUFFER_SIZE = 2M ENGINE NDBCLUSTER;
ALTER LOGFILE GROUP lg_1 ADD UNDOFILE 'undo_2.log' INITIAL_SIZE=16777216 ENGINE=NDB;
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
    assert [(f.size_bytes, f.count) for f in group.undo_files] == [(16 * 2**20, 2)]
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


def test_a_size_that_is_none_has_its_place() -> None:
    found = read_ddl("\nCREATE TABLESPACE t ADD DATAFILE 'x' INITIAL_SIZE lots ENGINE NDB;", V84)
    (problem,) = found.problems
    assert problem.line == 2
    assert "'lots' is no size" in problem.message


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
    assert "line 4, column 20: there is no 'other' above" in " ".join(f.message for f in done.findings)
    again = import_files({"more.sql": sql.encode()}, done.plan)
    assert again.plan == done.plan
