from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.version import NdbVersion

V74, V84 = NdbVersion.parse("7.4.10"), NdbVersion.parse("8.4")

DUMP = """-- MySQL dump 10.13
/*!40101 SET NAMES utf8 */;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop`;
USE `shop`;
DROP TABLE IF EXISTS `orders`;
CREATE TABLE `orders` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `customer` int DEFAULT NULL,
  `code` varchar(40) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'a;b' COMMENT 'not; the end',
  `state` enum('new','it''s done') NOT NULL DEFAULT 'new',
  `price` decimal(10,2) DEFAULT '0.00',
  `at` timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
  `year` int GENERATED ALWAYS AS (year(`at`)) VIRTUAL,
  `note` longblob COMMENT 'NDB_COLUMN=BLOB_INLINE_SIZE=512,MAX_BLOB_PART_SIZE',
  `old` int /*!50606 STORAGE DISK */ /*!50606 COLUMN_FORMAT DYNAMIC */ DEFAULT NULL,
  PRIMARY KEY (`id`,`state`) USING HASH,
  UNIQUE KEY `code` (`code`) USING HASH,
  UNIQUE KEY `both` (`code`,`state`),
  KEY `at` (`at` DESC,`code`(10)),
  CONSTRAINT `of` FOREIGN KEY (`customer`) REFERENCES `customers` (`id`) ON DELETE CASCADE
) /*!50100 TABLESPACE ts_1 */ ENGINE=ndbcluster AUTO_INCREMENT=17 DEFAULT CHARSET=utf8mb4
COLLATE=utf8mb4_general_ci MAX_ROWS=1000 ROW_FORMAT=FIXED
COMMENT='NDB_TABLE=READ_BACKUP=0,PARTITION_BALANCE=FOR_RA_BY_LDM,NOLOGGING=1'
/*!50100 PARTITION BY KEY (id) PARTITIONS 8 */;
INSERT INTO `orders` VALUES (1,2,'; CREATE TABLE no (a int);');
CREATE TABLE plain (a INT PRIMARY KEY, t TEXT, z timestamp) ENGINE=NDB;
"""


def test_a_dump() -> None:
    found = read_ddl(DUMP, V84)
    orders, plain = found.tables
    assert (orders.full_name, plain.full_name) == ("shop.orders", "shop.plain")
    assert orders.primary_key == ("id", "state")
    assert orders.primary_key_using_hash
    assert orders.distribution_key == ("id",)
    assert [(i.name, i.columns, i.kind) for i in orders.indexes] == [
        ("code", ("code",), "unique_hash"),
        ("both", ("code", "state"), "unique"),
        ("at", ("at", "code"), "ordered"),
        ("of", ("customer",), "ordered"),
    ]
    columns = {column.name: column for column in orders.columns}
    assert "year" not in columns
    assert [n for n, c in columns.items() if c.auto_increment] == ["id"]
    assert (columns["code"].default, columns["price"].default) == ("'a;b'", "'0.00'")
    assert columns["at"].default == columns["at"].on_update == "CURRENT_TIMESTAMP(3)"
    assert columns["customer"].default is None
    assert columns["id"].unsigned
    assert columns["code"].collation == "latin1_bin"
    assert columns["state"].collation == "utf8mb4_general_ci"
    assert columns["state"].members == ("new", "it's done")
    assert (columns["price"].length, columns["price"].scale) == (10, 2)
    assert (columns["at"].length, columns["at"].nullable) == (3, False)
    assert (columns["note"].blob_inline_bytes, columns["note"].blob_part_bytes) == (512, 13948)
    assert (columns["old"].storage, columns["old"].column_format) == ("disk", "dynamic")
    assert orders.partition_balance == "FOR_RA_BY_LDM"
    assert (orders.partitions, orders.max_rows, orders.read_backup) == (8, 1000, False)
    assert not orders.logging
    assert orders.row_format_fixed
    assert found.tablespaces == {orders.id: ("ts_1", 21, 23)}
    assert [(p.line, p.column, p.message.split()[0]) for p in found.problems] == [
        (9, 84, "COMMENT"),
        (13, 3, "column"),
        (19, 18, "DESC"),
        (19, 29, "NDB"),
        (20, 19, "FOREIGN"),
        (21, 64, "AUTO_INCREMENT=17:"),
        (25, 1, "INSERT:"),
    ]


def test_what_cannot_be_read_is_told_with_its_place_and_the_rest_is_kept() -> None:
    text = "CREATE TABLE a (x INT PRIMARY KEY,\n  y WIDGET, z INT);\n"
    text += "CREATE TABLE b (x INT;\nCREATE TABLE c (x INT);"
    found = read_ddl(text, V84)
    assert [t.name for t in found.tables] == ["a", "c"]
    assert [c.name for c in found.tables[0].columns] == ["x", "z"]
    assert [(p.line, p.column) for p in found.problems] == [(2, 5), (3, 22)]
    assert "WIDGET" in found.problems[0].message


def test_what_breaks_in_the_middle_takes_no_other_table_with_it() -> None:
    text = """CREATE TABLE a (id INT PRIMARY KEY COMMENT 'open,
  x INT) ENGINE=NDB;
CREATE TABLE b (id INT PRIMARY KEY COMMENT 'closed') ENGINE=NDB;
CREATE TABLE c (id INT PRIMARY KEY) ENGINE=NDB
CREATE TABLE d (id INT PRIMARY KEY, `e INT);
CREATE TABLE f (id INT PRIMARY KEY);
ALTER TABLE f ADD COLUMN x INT;
ALTER TABLE f DISABLE KEYS;
CREATE TEMPORARY TABLE g (id INT PRIMARY KEY);
"""
    found = read_ddl(text, V84)
    assert [t.name for t in found.tables] == ["b", "c", "f"]
    assert [column.name for column in found.tables[2].columns] == ["id", "x"]
    assert [(p.line, p.column, p.message) for p in found.problems] == [
        (1, 44, "this quote is not closed"),
        (3, 44, "COMMENT is for people; it is left out"),
        (5, 1, "a semicolon is missing before this"),
        (5, 37, "this quote is not closed"),
        (8, 1, "ALTER TABLE: passed over; a plan holds nothing of it"),
        (9, 1, "NDB has no temporary tables; it is left out"),
    ]


def test_a_semicolon_that_is_missing() -> None:
    text = "CREATE TABLE a (id INT PRIMARY KEY)\nCREATE TABLE b (id INT PRIMARY KEY, x WIDGET);"
    found = read_ddl(text, V84)
    assert [t.name for t in found.tables] == ["a", "b"]
    assert [(p.line, p.column) for p in found.problems] == [(2, 1), (2, 39)]


def test_tables_that_stand_in_for_views_are_dropped_again() -> None:
    text = """USE shop; CREATE TABLE kept (id INT PRIMARY KEY);
/*!50001 CREATE TABLE `v` (`a` tinyint NOT NULL) ENGINE=MyISAM */;
/*!50001 DROP TABLE IF EXISTS `v`*/;
/*!50001 CREATE ALGORITHM=UNDEFINED VIEW `v` AS select 1 AS `a` */;"""
    found = read_ddl(text, V84)
    assert [t.full_name for t in found.tables] == ["shop.kept"]
    assert [(p.line, p.message) for p in found.problems] == [
        (4, "VIEW makes no table of NDB; it is left out")
    ]


@pytest.mark.parametrize(
    ("declared", "key", "hashed"),
    [
        ("a INT NOT NULL, b INT NOT NULL, c INT, UNIQUE (c), UNIQUE u (b, a)", ("b", "a"), False),
        ("a INT NOT NULL, UNIQUE u (a) USING HASH", ("a",), True),
        ("a SERIAL, b INT", ("a",), False),
        ("a INT AUTO_INCREMENT, b INT NOT NULL, UNIQUE (a)", ("a",), False),
        ("a INT SERIAL DEFAULT VALUE, b INT", ("a",), False),
        ("a INT, UNIQUE u (a)", (), False),
    ],
)
def test_a_unique_key_serves_as_primary_key(declared: str, key: tuple[str, ...], hashed: bool) -> None:
    (table,) = read_ddl(f"CREATE TABLE t ({declared})", V84).tables
    assert (table.primary_key, table.primary_key_using_hash) == (key, hashed)
    assert key not in [index.columns for index in table.indexes]


def test_strings_of_the_binary_character_set_are_binary_strings() -> None:
    text = """CREATE TABLE t (a CHAR(5) CHARACTER SET binary PRIMARY KEY, b VARCHAR(9) COLLATE binary, c TEXT,
    d VARCHAR(3) CHARACTER SET latin1) DEFAULT CHARSET=binary"""
    (table,) = read_ddl(text, V84).tables
    assert [c.type for c in table.columns] == ["binary", "varbinary", "blob", "varchar"]


@pytest.mark.parametrize(
    ("declared", "options", "collation"),
    [
        ("VARCHAR(5) BINARY", "COLLATE=utf8mb4_unicode_ci", "utf8mb4_bin"),
        ("VARCHAR(5) BINARY", "CHARSET=latin1 COLLATE=latin1_general_cs", "latin1_bin"),
        ("VARCHAR(5) CHARACTER SET ascii BINARY", "CHARSET=latin1", "ascii_bin"),
        ("VARCHAR(5) ASCII", "", "latin1_swedish_ci"),
        ("CHAR(5) ASCII BINARY", "CHARSET=utf8mb4", "latin1_bin"),
        ("CHAR(5) UNICODE", "", "ucs2_general_ci"),
        ("CHAR(5) BYTE", "", None),
    ],
)
def test_attributes_that_stand_for_a_character_set_or_collation(
    declared: str, options: str, collation: str | None
) -> None:
    (table,) = read_ddl(f"CREATE TABLE t (a {declared} PRIMARY KEY) {options}", V84).tables
    assert table.columns[0].collation == collation
    assert table.columns[0].type == ("binary" if collation is None else declared.split("(")[0].lower())


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ("MAX_ROWS=5 MIN_ROWS=9", 9),
        ("MIN_ROWS=2 MAX_ROWS=7", 7),
        ("MAX_ROWS=0", None),
        ("MAX_ROWS=7 COMMENT='NDB_TABLE=PARTITION_BALANCE=FOR_RP_BY_LDM'", None),
        ("COMMENT='NDB_TABLE=READ_BACKUP=1' MAX_ROWS=7", 7),
    ],
)
def test_rows_that_decide_the_partitions(options: str, rows: int | None) -> None:
    # ha_ndbcluster::create: the larger of both, unless a balance is asked for.
    (table,) = read_ddl(f"CREATE TABLE t (a INT PRIMARY KEY) {options}", V84).tables
    assert table.max_rows == rows


def test_larger_parts_are_not_for_every_blob() -> None:
    # create_ndb_column: TINY types have no parts, JSON keeps parts of its own size.
    kinds = ("tinytext", "blob", "mediumtext", "longblob", "json")
    columns = ", ".join(f"c_{kind} {kind} COMMENT 'NDB_COLUMN=MAX_BLOB_PART_SIZE'" for kind in kinds)
    (table,) = read_ddl(f"CREATE TABLE t (a INT PRIMARY KEY, {columns})", V84).tables
    assert [c.blob_part_bytes for c in table.columns[1:]] == [None, 13948, 13948, 13948, None]


def test_the_character_set_of_the_database_counts_where_the_table_names_none() -> None:
    text = """CREATE DATABASE d /*!40100 DEFAULT CHARACTER SET latin1 COLLATE latin1_bin */; USE d;
    CREATE TABLE t (a CHAR(5) PRIMARY KEY); CREATE TABLE u (a CHAR(5) PRIMARY KEY) CHARSET=ascii;"""
    tables = read_ddl(text, V84).tables
    assert [t.columns[0].collation for t in tables] == ["latin1_bin", "ascii_general_ci"]


def test_row_formats() -> None:
    text = """CREATE TABLE d (a INT PRIMARY KEY, b INT, c INT COLUMN_FORMAT FIXED, e INT STORAGE DISK)
    ROW_FORMAT=DYNAMIC;
    CREATE TABLE z (a INT PRIMARY KEY) ROW_FORMAT=COMPRESSED;"""
    found = read_ddl(text, V84)
    assert [c.column_format for c in found.tables[0].columns] == ["dynamic", "dynamic", "fixed", "default"]
    assert [(p.line, "COMPRESSED" in p.message) for p in found.problems] == [(3, True)]
    assert not found.tables[1].row_format_fixed


def test_a_table_whose_key_cannot_be_read_is_left_out() -> None:
    found = read_ddl("CREATE TABLE a (x WIDGET, y INT, PRIMARY KEY (x))", V84)
    assert not found.tables
    assert any("key" in p.message for p in found.problems)


@pytest.mark.parametrize(
    ("declared", "type_name", "length"),
    [
        ("INTEGER(11)", "int", None),
        ("BOOL", "tinyint", None),
        ("NUMERIC(8)", "decimal", 8),
        ("DOUBLE PRECISION", "double", None),
        ("FLOAT(53)", "double", None),
        ("CHARACTER VARYING(7)", "varchar", 7),
        ("NATIONAL CHAR(3)", "char", 3),
        ("BLOB(100)", "tinyblob", None),
        ("TEXT(70000)", "mediumtext", None),
        ("POINT SRID 4326", "geometry", None),
        ("DATETIME(6)", "datetime", 6),
        ("BIT(7)", "bit", 7),
        ("LONG VARBINARY", "mediumblob", None),
        ("LONG VARCHAR", "mediumtext", None),
        ("LONG", "mediumtext", None),
    ],
)
def test_types_by_their_other_names(declared: str, type_name: str, length: int | None) -> None:
    found = read_ddl(f"CREATE TABLE t (a {declared} NOT NULL)", V84)
    (table,) = found.tables
    assert not any("varbinary" in p.message.lower() for p in found.problems)
    assert (table.columns[0].type, table.columns[0].length) == (type_name, length)


def test_defaults_follow_the_version() -> None:
    text = "CREATE TABLE t (a TIMESTAMP, b VARCHAR(3))"
    (old,), (new,) = (read_ddl(text, version).tables for version in (V74, V84))
    assert (old.columns[0].nullable, new.columns[0].nullable) == (False, True)


def test_other_partitioning_is_reported() -> None:
    found = read_ddl("CREATE TABLE t (a INT PRIMARY KEY) PARTITION BY HASH (a) PARTITIONS 4", V84)
    assert found.tables[0].partitions is None
    assert "HASH" in found.problems[0].message


@given(st.text(max_size=80))
def test_any_text_gives_an_answer(text: str) -> None:
    read_ddl("CREATE TABLE " + text, V84)


@given(st.integers(0, len(DUMP)))
def test_a_cut_dump_gives_an_answer(length: int) -> None:
    found = read_ddl(DUMP[:length], V84)
    assert len(found.tables) <= 2


def test_a_key_on_the_first_characters_of_a_column_is_reported() -> None:
    found = read_ddl("CREATE TABLE t (a VARCHAR(90), PRIMARY KEY (a(10)))", V84)
    assert [str(p) for p in found.problems] == [
        "line 1, column 46: NDB has no keys on a part of a column; taken whole"
    ]
    assert found.tables[0].primary_key == ("a",)


BODY = "BEGIN\n  DROP TABLE t; ALTER TABLE t ADD c int;\n  CREATE TABLE no (a int); TRUNCATE t;\nEND"


@pytest.mark.parametrize("head", ["PROCEDURE p()", "TRIGGER r BEFORE INSERT ON t FOR EACH ROW", "EVENT e DO"])
@pytest.mark.parametrize(
    ("sign", "ended"), [("$$", " $$"), (";;", ";;"), ("//", "\n//"), ("go", " go"), ("|", "")]
)
def test_bodies_of_procedures_are_one_statement(head: str, sign: str, ended: str) -> None:
    """What stands in a body happens when it is called, not now: DELIMITER says where it ends."""
    text = (
        "CREATE TABLE t (a int PRIMARY KEY,\n delimiter int,\ndelimiter2 int);\n-- so ;\n"
        f"DELIMITER {sign}\nCREATE {head} {BODY}{ended}\ndelimiter ;\nCREATE TABLE u (a int PRIMARY KEY);"
    )
    found = read_ddl(text, V84)
    assert [t.name for t in found.tables] == ["t", "u"]
    assert [c.name for c in found.tables[0].columns] == ["a", "delimiter", "delimiter2"]
    assert [p.line for p in found.problems] == [5, 6]
    assert head.split()[0] in found.problems[1].message


def test_a_serial_column_counts() -> None:
    (table,) = read_ddl("CREATE TABLE t (a SERIAL, b INT)", V84).tables
    assert (table.columns[0].auto_increment, table.columns[0].nullable) == (True, False)


def test_what_is_dropped_or_renamed_later_is_followed() -> None:
    text = (
        "CREATE TABLE t (a int NOT NULL, b int, c int, d int, PRIMARY KEY (a), KEY bc (b, c), KEY c (c));\n"
        "CREATE UNIQUE INDEX u ON t (d); DROP INDEX C ON t;\n"
        "ALTER TABLE t DROP COLUMN c, RENAME COLUMN b TO bb, RENAME KEY bc TO of_b, DROP PRIMARY KEY,\n"
        "  ADD PRIMARY KEY (bb), DROP a;\n"
        "DROP INDEX nowhere ON t; ALTER TABLE t DROP nothing, DROP FOREIGN KEY fk; DROP INDEX u ON other;"
    )
    found = read_ddl(text, V84)
    (table,) = found.tables
    assert [column.name for column in table.columns] == ["bb", "d"]
    assert table.primary_key == ("bb",)
    assert [(i.name, i.columns) for i in table.indexes] == [("of_b", ("bb",)), ("u", ("d",))]
    assert [(p.line, p.message.partition(";")[0]) for p in found.problems] == [
        (5, "there is no index nowhere"),
        (5, "there is no column nothing"),
        (5, "ALTER TABLE ... DROP FOREIGN is not followed"),
        (5, "DROP INDEX is not followed: there is no table test.other above"),
    ]


def test_changes_up_to_the_one_that_is_too_much_are_taken() -> None:
    """A table has 512 columns: those too many are said, the rest at once, and a later name holds."""
    text = "CREATE TABLE t (a INT PRIMARY KEY) ENGINE=NDB;\nALTER TABLE t MAX_ROWS=7;\n"
    text += "".join(f"ALTER TABLE t ADD c{n} INT;\n" for n in range(600))
    found = read_ddl(f"{text}RENAME TABLE t TO u;\n", NdbVersion.parse("8.4"))
    assert [(t.name, len(t.columns), t.max_rows) for t in found.tables] == [("u", 512, 7)]
    assert [(p.line, "512" in p.message) for p in found.problems] == [(n, True) for n in range(514, 522)]
    assert found.problems[-1].message.endswith("left out, and the 81 behind it")


def test_a_change_that_a_table_cannot_take_takes_no_other_with_it() -> None:
    text = """CREATE TABLE t (a INT PRIMARY KEY, b INT);
        ALTER TABLE t DROP COLUMN b,
            ADD z BIT(65),
            ADD c INT, RENAME TO u;
        ALTER TABLE u ADD d INT;
        ALTER TABLE u DROP PRIMARY KEY, ADD PRIMARY KEY (c);
        ALTER TABLE u RENAME other.v, COMMENT='x';"""
    found = read_ddl(text, V84)
    [table] = found.tables
    assert table.full_name == "other.v"
    # A column of a key that is dropped stays NOT NULL.
    assert [(c.name, c.nullable) for c in table.columns] == [("a", False), ("c", False), ("d", True)]
    assert table.primary_key == ("c",)
    assert [(p.line, p.message.partition(":")[0]) for p in found.problems] == [
        (3, "table t"),
        (7, "COMMENT is for people; it is left out"),
    ]


@pytest.mark.parametrize(
    ("inside", "at", "said"),
    [
        ("a INT KEY, b INT PRIMARY KEY", "PRIMARY", "PRIMARY KEY is there already"),
        ("a INT KEY, b ENUM('x', 'y', 'X ')", "b ", "column b: member 'X ' is there twice"),
        ("a INT KEY, b SET('x,y')", "b ", "column b: a member of a SET has a comma"),
        (
            "a INT KEY, c CHAR(255), d BINARY(255), b CHAR(256)",
            "b ",
            "b: CHAR(256); its length is 255 at most",
        ),
        ("a INT KEY, b VARCHAR", "b ", "VARCHAR without a length; SQL nodes refuse it, planned with 255"),
        ("a INT KEY, A INT", "A I", "column A: another column has this name"),
        ("a INT, b INT, KEY k (a), INDEX K (b)", "INDEX K", "KEY K is there twice"),
        ("a INT, KEY `primary` (a)", "KEY", "KEY primary: only the primary key"),
        ("a INT, b INT, UNIQUE u (a, b, A)", "UNIQUE", "KEY u: column a is there twice"),
        ("a INT AUTO_INCREMENT, b INT KEY", "a ", "column a: AUTO_INCREMENT of a column that is in no key"),
        ("a INT AUTO_INCREMENT, b INT AUTO_INCREMENT, KEY (a, b)", "b ", "as a has it already"),
        ("a CHAR(9) AUTO_INCREMENT KEY", "a ", "AUTO_INCREMENT of CHAR, which is not a number"),
        ("a INT KEY, b DECIMAL(3,4)", "b ", "fewer digits than stand behind its point"),
        ("a INT KEY, b TEXT DEFAULT 'x'", "b ", "DEFAULT 'x' of TEXT, which takes expressions only"),
        ("a INT KEY, b INT COLUMN_FORMAT COMPRESSED", "COMPR", "COMPRESSED: NDB has no such clause"),
        (
            "a INT KEY) COMMENT='NDB_TABLE=READ_BACKUP=7 x' UNION=(x",
            "'NDB",
            "no READ_BACKUP=7; SQL nodes refuse",
        ),
        ("a INT KEY) COMMENT='NDB_TABLE=PARTITION_BALANCE=X' UNION=(x", "'NDB", "no PARTITION_BALANCE=X"),
    ],
)
def test_what_servers_refuse_of_a_table_is_named_at_its_place(inside: str, at: str, said: str) -> None:
    text = f"CREATE TABLE t ({inside});\n"
    found = read_ddl(f"{text}CREATE TABLE u (a INT KEY);", V84)
    assert [table.name for table in found.tables] == ["t", "u"]
    problem = found.problems[0]
    assert (problem.line, problem.column) == (1, text.index(at) + 1)
    assert said in problem.message


def test_a_table_like_another_one_has_its_columns_and_none_of_its_rows() -> None:
    text = """
    CREATE TABLE a (id INT PRIMARY KEY, p INT, v VARCHAR(20), KEY (v), FOREIGN KEY (p) REFERENCES b (id))
        ENGINE=NDB AUTO_INCREMENT=5000;
    ALTER TABLE a ADD COLUMN later INT;
    CREATE TABLE a_copy LIKE a;
    CREATE TABLE other.again (LIKE a_copy);
    ALTER TABLE a_copy ADD KEY (later);
    CREATE TABLE nothing LIKE missing;
    """
    found = read_ddl(text, NdbVersion.parse("8.0"))
    first, copied, again = found.tables
    assert (copied.full_name, again.full_name) == ("test.a_copy", "other.again")
    assert first.rows == 4999
    assert copied.rows == again.rows == 0
    assert copied.columns == again.columns == first.columns
    # The index that a foreign key needs is one of the table's own; the key does not come along.
    assert {index.columns for index in copied.indexes} == {("v",), ("p",), ("later",)}
    assert {index.columns for index in again.indexes} == {("v",), ("p",)}
    assert [p.message for p in found.problems if "LIKE" in p.message] == [
        "LIKE: there is no table test.missing above; left out"
    ]
    assert len({(p.line, p.message) for p in found.problems}) == len(found.problems)


def test_what_servers_refuse_of_names_lengths_and_numbers_is_said() -> None:
    text = """
    CREATE TABLE x (a INT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS x (a INT PRIMARY KEY, b INT);
    CREATE TABLE y (a INT PRIMARY KEY, e ENUM(), f INT, KEY k (f), KEY k (a)) MAX_ROWS=99999999999999999999;
    """
    found = read_ddl(text, NdbVersion.parse("8.0"))
    assert [len(table.columns) for table in found.tables] == [1, 3]
    assert [(p.line, p.message) for p in found.problems] == [
        (3, "test.x is there already, so IF NOT EXISTS makes none; left out"),
        (4, "column e: ENUM of no members; SQL nodes refuse it"),
        (4, "KEY k is there twice; SQL nodes refuse it"),
        (4, "'99999999999999999999' is not a number of rows; it is left out"),
    ]
