"""What an SQL text says and no figure uses is named with its place; hints count as assumptions."""

from __future__ import annotations

import pytest

from ndbplan.importing.ddl.into_plan import with_ddl
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.tables import Column

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
    ("z int(8) ZEROFILL", "column z: ZEROFILL is for what is shown"),
    ("f float(7,4)", "column f: (7,4) of FLOAT is not kept"),
    ("KEY k (id, nowhere)", "KEY k: column nowhere is not among those of the table"),
    ("v int AS (id + 1) VIRTUAL, KEY kv (v)", "KEY kv: column v is not among those of the table"),
    ("v int AS (id + 1) VIRTUAL UNIQUE", "KEY v: column v is not among those of the table"),
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
    text = """CREATE TABLE t (id int PRIMARY KEY,
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


def test_defaults_are_kept_as_they_are_written() -> None:
    text = """CREATE TABLE t (id int NOT NULL PRIMARY KEY,
  a int DEFAULT NULL, b varchar(9) DEFAULT 'x;y', c timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  d int NOT NULL DEFAULT (coalesce(NULL, 1)), e int DEFAULT -1 SIGNED, f char(3) DEFAULT _latin1'x' NOT NULL,
  g bit DEFAULT b'1' NOT NULL, h date DEFAULT DATE '2020-01-01', i int DEFAULT 0x1F,
  j varchar(9) DEFAULT "it''s", k int DEFAULT '1\n2', l double DEFAULT +1.5e3);"""
    found = read_ddl(text, V84)
    [table] = found.tables
    assert [column.default for column in table.columns] == [
        None, None, "'x;y'", "CURRENT_TIMESTAMP(3)", "(coalesce(NULL, 1))", "-1", "_latin1'x'", "b'1'",
        "DATE '2020-01-01'", "0x1F", "\"it''s\"", None, "+1.5e3",
    ]  # fmt: skip
    # What stands in the parenthesis is not an attribute of the column.
    assert not table.column("d").nullable
    assert [(p.line, p.message) for p in found.problems] == [
        (5, "DEFAULT of column k is too long or holds line ends; it is left out")
    ]
    assert table.left_out == ("DEFAULT of column k is too long or holds line ends",)


@pytest.mark.parametrize(
    "text",
    ["1; DROP TABLE t", "1 -- x", "(1", "now() # x", "'a' 'b'", "", "1, c int", "(1) /* x */", "'a\nb'", "'"],
)
def test_what_is_no_value_is_no_default_of_a_plan(text: str) -> None:
    with pytest.raises(ValueError, match="SQL"):
        Column(name="a", type="int", default=text)


PHPMYADMIN = """SET SQL_MODE = "NO_AUTO_VALUE_ON_ZERO";
START TRANSACTION;
CREATE TABLE `a` (
  `id` int(11) NOT NULL,
  `name` varchar(20) DEFAULT NULL,
  `b` int NOT NULL
) ENGINE=ndbcluster DEFAULT CHARSET=latin1;
INSERT INTO `a` VALUES (1, 'x', 2);
INSERT INTO `a` VALUES (2, 'y', 2);
CREATE TABLE `b` (`id` int NOT NULL) ENGINE=ndbcluster;
INSERT INTO `b` VALUES (1);
ALTER TABLE `a`
  ADD PRIMARY KEY (`id`),
  ADD UNIQUE KEY `n` (`name`) USING HASH,
  ADD KEY `b` (`b`);
ALTER TABLE `b` ADD PRIMARY KEY (`id`);
ALTER TABLE `a`
  MODIFY `id` int(11) NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=101;
ALTER TABLE `a`
  ADD CONSTRAINT `fk` FOREIGN KEY (`b`) REFERENCES `b` (`id`) ON DELETE CASCADE;
CREATE INDEX late ON b (id);
ALTER TABLE a CHANGE COLUMN name title varchar(30) AFTER b, DROP CONSTRAINT x, ALGORITHM=COPY;
ALTER TABLE elsewhere ADD c int;
GRANT SELECT ON *.* TO 'u'@'%';
LOAD DATA INFILE 'x' INTO TABLE a;
LOCK TABLES a WRITE;
SELECT 1;
COMMIT;
"""


def test_a_dump_that_makes_keys_later() -> None:
    found = read_ddl(PHPMYADMIN, V84)
    a, b = found.tables
    assert (a.primary_key, b.primary_key) == (("id",), ("id",))
    assert a.column("id").auto_increment
    assert (a.rows, a.assumed) == (100, ("rows",))
    assert [(i.name, i.columns, i.kind) for i in a.indexes] == [
        ("n", ("title",), "unique_hash"),
        ("b", ("b",), "ordered"),
    ]
    assert a.column("title").length == 30
    assert [index.name for index in b.indexes] == ["late"]
    assert a.left_out == ("CONSTRAINT `fk` FOREIGN KEY (`b`) REFERENCES `b` (`id`) ON DELETE CASCADE",)
    assert [(p.line, p.column, p.message.split(":")[0].split(" is ")[0]) for p in found.problems] == [
        (1, 1, "SET"),
        (2, 1, "START TRANSACTION"),
        (8, 1, "INSERT (3 statements, lines 8 to 9, 11)"),
        (18, 63, "AUTO_INCREMENT=101"),
        (20, 23, "FOREIGN KEY to b"),
        (22, 61, "ALTER TABLE ... DROP CONSTRAINT"),
        (23, 13, "ALTER TABLE"),
        (24, 1, "GRANT"),
        (25, 1, "LOAD DATA"),
        (26, 1, "LOCK TABLES"),
        (27, 1, "SELECT"),
        (28, 1, "COMMIT"),
    ]


def test_a_table_that_servers_refuse_takes_no_other_with_it() -> None:
    text = (
        "CREATE TABLE a (x int PRIMARY KEY, y int)\nPARTITION BY KEY (y) PARTITIONS 4;\n"
        "CREATE TABLE b (x int, y int, x int);\n"
        "CREATE TABLE c (x int) PARTITION BY KEY (x);\n"
        "CREATE TABLE d (x int PRIMARY KEY) PARTITION BY KEY (x);"
    )
    found = read_ddl(text, V84)
    plan = with_ddl(EMPTY_PLAN, found).plan
    assert [(t.name, t.distribution_key, t.partitions) for t in plan.tables] == [
        ("a", (), 4),
        ("c", (), None),
        ("d", ("x",), None),
    ]
    assert [(p.line, p.message.partition(":")[0]) for p in found.problems] == [
        (2, "PARTITION BY KEY (y)"),
        (3, "table b"),
        (4, "PARTITION BY KEY (x)"),
    ]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (f"KEY {'k' * 70} (c1)", "name: it may have 64 letters at most"),
        (
            f"KEY k ({', '.join(f'c{i}' for i in range(33))})",
            "columns: it may have 32 at most, a limit of NDB",
        ),
    ],
)
def test_a_key_that_cannot_be_is_named_and_left_out(key: str, said: str) -> None:
    columns = ", ".join(f"c{i} int" for i in range(33))
    found = read_ddl(f"CREATE TABLE t ({columns}, {key}, KEY good (c2), PRIMARY KEY (c0))", V84)
    assert [index.name for index in found.tables[0].indexes] == ["good"]
    assert [p.message.partition(": ")[2] for p in found.problems] == [f"{said}; it is left out"]


def test_sizes_of_blobs_that_a_version_has_not_or_no_server_takes() -> None:
    text = """CREATE TABLE t (id int PRIMARY KEY,
        a blob COMMENT 'NDB_COLUMN=BLOB_INLINE_SIZE=0',
        b blob COMMENT 'NDB_COLUMN=BLOB_INLINE_SIZE=29981,MAX_BLOB_PART_SIZE',
        c blob COMMENT 'NDB_COLUMN=BLOB_INLINE_SIZE=29980');"""

    def sizes(version: str) -> tuple[list[object], list[tuple[int, str]]]:
        found = read_ddl(text, NdbVersion.parse(version))
        columns = [(c.blob_inline_bytes, c.blob_part_bytes) for c in found.tables[0].columns[1:]]
        return columns, [(p.line, p.message.split()[0].partition("=")[0]) for p in found.problems]

    assert sizes("8.4") == (
        [(None, None), (None, 13948), (29980, None)],
        # Beside other columns no row has room for the last.
        [(3, "BLOB_INLINE_SIZE"), (4, "table")],
    )
    assert sizes("8.0.29") == (
        [(None, None), (None, 13948), (None, None)],
        [(3, "BLOB_INLINE_SIZE"), (4, "BLOB_INLINE_SIZE")],
    )
    assert sizes("7.2") == (
        [(None, None)] * 3,
        [(3, "BLOB_INLINE_SIZE"), (3, "MAX_BLOB_PART_SIZE"), (4, "BLOB_INLINE_SIZE")],
    )
