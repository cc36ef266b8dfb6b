"""What an SQL text says and no figure uses is named with its place; hints count as assumptions."""

from __future__ import annotations

import pytest

from ndbplan.importing.ddl.into_plan import with_ddl
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import EMPTY_PLAN

V84 = NdbVersion.parse("8.4")
CLAUSES = (
    ("g geometry", "GEOMETRY is planned as a BLOB"),
    ("p point NOT NULL", "POINT is planned as a BLOB"),
    ("n int COMMENT 'for people'", "COMMENT is for people"),
    ("n int CHECK (n > 0)", "CHECK is looked at by SQL nodes"),
    ("n int REFERENCES other (id)", "REFERENCES of a column makes no foreign key"),
    ("p point /*!80003 SRID 4326 */ NOT NULL", "SRID is not used"),
    ("n int /*!80023 INVISIBLE */ DEFAULT NULL", "INVISIBLE is not used"),
    ("KEY k (id) COMMENT 'x'", "COMMENT of an index"),
    ("SPATIAL KEY s (id)", "no SPATIAL index"),
    ("CONSTRAINT fk FOREIGN KEY (id) REFERENCES other (id) ON DELETE CASCADE", "FOREIGN KEY to other"),
    ("CONSTRAINT c CHECK ((id > 0))", "CHECK is looked at"),
)
OPTIONS = (
    ("COMMENT='plain words'", "COMMENT is for people"),
    ("COMMENT='NDB_TABLE=READ_BACKUP=1,FOO=2'", "NDB_TABLE has no FOO"),
    ("KEY_BLOCK_SIZE=8", "KEY_BLOCK_SIZE changes nothing"),
    ("STATS_PERSISTENT 0", "STATS_PERSISTENT changes nothing"),
    ("DATA DIRECTORY='/x'", "DATA changes nothing"),
)


@pytest.mark.parametrize(("clause", "said"), CLAUSES)
def test_a_clause_of_a_table_that_is_not_used_is_named_where_it_stands(clause: str, said: str) -> None:
    text = f"CREATE TABLE t (\n  id int PRIMARY KEY,\n  {clause}\n) ENGINE=NDB;"
    found = read_ddl(text, V84)
    [problem] = [p for p in found.problems if said in p.message]
    assert (problem.line, problem.column >= 3) == (3, True)
    assert len(found.tables) == 1


@pytest.mark.parametrize(("option", "said"), OPTIONS)
def test_an_option_that_is_not_used_is_named_where_it_stands(option: str, said: str) -> None:
    text = f"CREATE TABLE t (id int PRIMARY KEY)\n{option}\nMAX_ROWS=77;"
    found = read_ddl(text, V84)
    [problem] = found.problems
    assert problem.line == 2
    assert said in problem.message
    # What stands behind it is read all the same.
    assert found.tables[0].max_rows == 77


def test_what_is_used_is_not_named() -> None:
    text = """CREATE TABLE t (id int PRIMARY KEY COMMENT 'NDB_COLUMN=MAX_BLOB_PART_SIZE',
        b blob COMMENT 'NDB_COLUMN=BLOB_INLINE_SIZE=100', KEY k (id))
        ENGINE=NDB DEFAULT CHARSET=latin1 COLLATE latin1_bin ROW_FORMAT=FIXED
        COMMENT='NDB_TABLE=READ_BACKUP=1,PARTITION_BALANCE=FOR_RA_BY_NODE,NOLOGGING=1';"""
    assert not read_ddl(text, V84).problems


def test_a_dump_names_its_database_in_its_head_or_on_the_way() -> None:
    head = "-- MySQL dump 10.13  Distrib 8.4.8\n--\n-- Host: localhost    Database: shop\n-- ----\n"
    table = "CREATE TABLE t (id int PRIMARY KEY, name varchar(10));"
    [found] = read_ddl(head + table, V84).tables
    assert found.full_name == "shop.t"
    several = head.replace("shop", "") + "USE `other`;\n" + table
    assert read_ddl(several, V84, "mine").tables[0].full_name == "other.t"
    assert read_ddl(head.replace("shop", "") + table, V84, "mine").tables[0].full_name == "mine.t"


@pytest.mark.parametrize("name", ["`shop` ", ""])
def test_the_character_set_of_a_database_that_is_altered_holds_for_its_tables(name: str) -> None:
    text = f"USE shop; ALTER DATABASE {name}CHARACTER SET latin1 COLLATE latin1_bin;"
    [table] = read_ddl(text + "CREATE TABLE t (id int PRIMARY KEY, name varchar(10));", V84).tables
    assert table.column("name").collation == "latin1_bin"


def test_the_next_number_of_a_key_is_a_hint_for_rows() -> None:
    text = "CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT={}"
    plan = with_ddl(EMPTY_PLAN, read_ddl(text.format(1001), V84)).plan
    [table] = plan.tables
    assert (table.rows, table.assumed) == (1000, ("rows",))
    # A plan that has the table knows better.
    known = plan.replace(tables=(table.model_copy(update={"rows": 7, "assumed": ()}),))
    [again] = with_ddl(known, read_ddl(text.format(5001), V84)).plan.tables
    assert (again.rows, again.assumed) == (7, ())
    for number in (0, 1, 2**64 - 1):
        [other] = read_ddl(text.format(number), V84).tables
        assert (other.rows, other.assumed) == (0, ())


def test_named_partitions_count_and_their_options_are_named() -> None:
    text = """CREATE TABLE t (id int PRIMARY KEY) ENGINE=NDB
/*!50100 PARTITION BY KEY () (PARTITION p0 ENGINE = ndbcluster,
 PARTITION p1 NODEGROUP = 1 ENGINE = ndbcluster, PARTITION p2 COMMENT 'x') */;"""
    found = read_ddl(text, V84)
    assert found.tables[0].partitions == 3
    assert [(p.line, p.column, p.message.split()[0]) for p in found.problems] == [
        (3, 15, "NODEGROUP"),
        (3, 63, "COMMENT"),
    ]
    several = (
        "CREATE TABLE t (id int PRIMARY KEY) PARTITION BY KEY (id) PARTITIONS 4 (PARTITION a, PARTITION b);"
    )
    found = read_ddl(several, V84)
    assert found.tables[0].partitions == 4
    assert ["PARTITIONS 4, but 2 are named" in p.message for p in found.problems] == [True]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("CREATE TABLESPACE\n i ADD DATAFILE 'i.ibd' ENGINE=InnoDB", "one of InnoDB, not of NDB"),
        ("CREATE TABLESPACE\n i ADD DATAFILE 'i.ibd' FILE_BLOCK_SIZE=8K", "one of InnoDB, not of NDB"),
        ("CREATE UNDO TABLESPACE\n u ADD DATAFILE 'u.ibu'", "one of InnoDB, not of NDB"),
        ("ALTER UNDO TABLESPACE\n u SET INACTIVE", "one of InnoDB, not of NDB"),
        ("\nALTER TABLE a RENAME TO b, ADD c int", "ALTER TABLE is not followed"),
        ("CREATE TABLESPACE ts ADD DATAFILE 'd' ENGINE=NDB USE LOGFILE\n", "expected GROUP"),
        ("RENAME TABLE\n a", "expected TO, found the end"),
        ("TRUNCATE TABLE\n 5", "expected table name"),
        ("CREATE ALGORITHM=UNDEFINED DEFINER=`r`@`h` SQL SECURITY DEFINER\nVIEW v AS SELECT 1", "VIEW makes"),
        ("CREATE DEFINER=`r`@`h`\nTRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @a=1", "TRIGGER makes"),
        ("CREATE\nPROCEDURE p () SELECT 1", "PROCEDURE makes"),
    ],
)
def test_a_statement_that_is_not_used_is_named_where_it_stands(statement: str, said: str) -> None:
    found = read_ddl(statement + ";", V84)
    [problem] = found.problems
    assert problem.line == 2
    assert said in problem.message
    assert found.is_empty


def test_options_of_disk_data_that_are_not_used_are_named() -> None:
    text = """CREATE LOGFILE GROUP lg ADD UNDOFILE 'u' INITIAL_SIZE 16M REDO_BUFFER_SIZE=8M NODEGROUP=0 WAIT
COMMENT='x' ENGINE=NDB;
CREATE TABLESPACE ts ADD DATAFILE 'd' USE LOGFILE GROUP lg AUTOEXTEND_SIZE 4M MAX_SIZE=1G INITIAL_SIZE 32M;
ALTER TABLESPACE ts RENAME TO other ENGINE=NDB;
CREATE TABLESPACE lost ADD DATAFILE 'e' USE LOGFILE GROUP gone ENGINE=NDB;"""
    found = read_ddl(text, V84)
    assert [(p.line, p.message.split()[0]) for p in found.problems] == [
        (1, "REDO_BUFFER_SIZE"),
        (1, "NODEGROUP"),
        (1, "WAIT"),
        (2, "COMMENT"),
        (3, "AUTOEXTEND_SIZE"),
        (3, "MAX_SIZE"),
        (4, "RENAME"),
    ]
    taken = with_ddl(EMPTY_PLAN, found)
    assert [file.size_bytes for file in taken.plan.tablespaces[0].data_files] == [32 * 2**20]
    [missing] = taken.missing
    assert str(missing).startswith("line 5, column 19: tablespace lost uses log file group 'gone'")


def test_defaults_of_a_table_are_named_once_where_the_first_stands() -> None:
    text = """CREATE TABLE t (id int NOT NULL PRIMARY KEY,
  a int DEFAULT NULL,
  b varchar(9) DEFAULT 'x;y', c timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  d int NOT NULL DEFAULT (coalesce(NULL, 1)));"""
    found = read_ddl(text, V84)
    assert [column.name for column in found.tables[0].columns] == ["id", "a", "b", "c", "d"]
    [problem] = found.problems
    assert (problem.line, problem.column) == (3, 16)
    assert problem.message == "DEFAULT of column b and 2 more is not used; it is left out"
    # What stands in the parenthesis is no attribute of the column.
    assert not found.tables[0].column("d").nullable
