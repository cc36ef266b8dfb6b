"""What rows become when ALTER TABLE changes their columns; words of columns and indexes that are refused.

Facts: field_conv.cc, sql_table.cc and sql_yacc.yy of the product; ndb_index_unique.result and
ndb_alter_table.result of its tests.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.live import LiveCluster

from .test_new_tables import Ask, asks


@pytest.fixture
def ask(cluster: LiveCluster) -> Ask:
    ask = asks(cluster)
    ask("create table t (a int primary key, b int, c varchar(20)) engine=ndb")
    ask("insert into t values (1, 200, 'abc')")
    return ask


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("modify c varchar(1)", "ERROR 1265 (01000): Data truncated for column 'c' at row 1"),
        ("modify c char(1)", "ERROR 1406 (22001): Data too long for column 'c' at row 1"),
        ("modify c int", "ERROR 1366 (HY000): Incorrect integer value: 'abc' for column 'c' at row 1"),
        ("modify c enum('x','y')", "ERROR 1265 (01000): Data truncated for column 'c' at row 1"),
        ("modify b tinyint", "ERROR 1264 (22003): Out of range value for column 'b' at row 1"),
        ("change b d varchar(2)", "ERROR 1406 (22001): Data too long for column 'd' at row 1"),
        (
            "add d datetime not null",
            "ERROR 1292 (22007): Incorrect datetime value: '0000-00-00 00:00:00' for column 'd' at row 1",
        ),
    ],
)
def test_a_change_that_loses_what_rows_hold_is_refused_and_changes_nothing(
    ask: Ask, change: str, error: str
) -> None:
    before = ask("show create table t")
    assert ask(f"alter table t {change}") == f"{error}\n"
    assert ask("show create table t") == before
    assert "|    1 | 200 |" in ask("select 1, b from t").replace("| 1 |  200 |", "|    1 | 200 |")


def test_a_null_is_no_value_of_a_column_that_has_to_hold_one(ask: Ask) -> None:
    ask("update t set b = null")
    assert "Data truncated for column 'b' at row 1" in ask("alter table t modify b int not null")


def test_lax_servers_cut_and_warn(begun: Callable[[str], LiveCluster]) -> None:
    ask = asks(begun("7.4.10"))
    ask("create table t (a int primary key, b int, c varchar(20)) engine=ndb")
    ask("insert into t values (1, 200, 'abc')")
    assert "1 row affected, 1 warning" in ask("alter table t modify c varchar(1), modify b smallint")
    assert "Data truncated for column 'c' at row 1" in ask("show warnings")
    assert "| a    |" in ask("select c from t")


def test_values_are_read_anew_by_their_new_type(ask: Ask) -> None:
    ask("alter table t modify b varchar(5), add d enum('x', 'y') default 'y', add e datetime "
        "default '2026-01-02 03:04:05'")  # fmt: skip
    ask("alter table t modify d int, modify e bigint")
    row = ask("select concat(b, '!'), d, e from t").splitlines()[3]
    assert [one.strip() for one in row.strip("|").split("|")] == ["200!", "2", "20260102030405"]


def test_new_columns_of_rows_that_are_there_hold_their_default(ask: Ask) -> None:
    ask("insert into t values (2, 3, 'b')")
    ask("alter table t add d int not null, add e varchar(3) default 'q', add f int")
    ask("alter table t add g int not null auto_increment unique")
    rows = ask("select d, e, f, g from t order by g").splitlines()[3:5]
    assert [[one.strip() for one in row.strip("|").split("|")] for row in rows] == [
        ["0", "q", "NULL", "1"], ["0", "q", "NULL", "2"]]  # fmt: skip


def test_so_do_rows_that_nobody_typed(ask: Ask) -> None:
    ask("alter table blobs_1k add x int")
    ask("alter table blobs_1k add y int not null default 7")
    assert "| NULL | 7 |" in ask("select x, y from blobs_1k where id = 5")
    ask("update blobs_1k set x = 1 where id = 5")
    assert "|    1 | 7 |" in ask("select x, y from blobs_1k where id = 5")
    ask("alter table blobs_1k change y z bigint, drop x")
    assert "|    7 |" in ask("select z from blobs_1k where id = 6")


def test_a_unique_index_over_values_that_stand_twice_is_refused(ask: Ask) -> None:
    ask("insert into t values (2, 200, 'b'), (3, null, 'c'), (4, null, 'd')")
    said = "ERROR 1169 (23000): Can't write, because of unique constraint, to table 't'\n"
    assert ask("create unique index u on t (b)") == said
    assert ask("alter table t add unique u (b)") == said
    assert ask("alter table t add unique u (b), algorithm=copy") == (
        "ERROR 1062 (23000): Duplicate entry '200' for key 't.u'\n"
    )
    ask("delete from t where a = 2")
    assert ask("create unique index u on t (b)").startswith("Query OK")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("modify x int", "1054 (42S22): Unknown column 'x' in 't'"),
        ("change x y int", "1054 (42S22): Unknown column 'x' in 't'"),
        ("rename column x to y", "1054 (42S22): Unknown column 'x' in 't'"),
        ("alter x set default 1", "1054 (42S22): Unknown column 'x' in 't'"),
        ("rename index x to y", "1176 (42000): Key 'x' doesn't exist in table 't'"),
        ("drop x", "1091 (42000): Can't DROP 'x'; check that column/key exists"),
    ],
)
def test_what_is_changed_and_not_there_is_told_by_the_change(ask: Ask, change: str, error: str) -> None:
    assert ask(f"alter table t {change}") == f"ERROR {error}\n"


@pytest.mark.parametrize(
    ("statement", "near"),
    [
        ("create index on t (b)", "on t (b)"), ("create index i t (b)", "t (b)"), ("create index i on t", ""),
        ("create index i on t ()", ")"), ("create index i on t (b,)", ")"), ("create index i on t b", "b"),
        ("create index i on t (b) nosuch", "nosuch"), ("create unique i on t (b)", "i on t (b)"),
        ("drop index i", ""), ("drop index on t", "on t"), ("drop index i on t nosuch", "nosuch"),
        ("create table w (a) engine=ndb", ") engine=ndb"), ("create table w (a int primary key) engine", ""),
        ("create table w (a int primary key, index) engine=ndb", ") engine=ndb"),
    ],
)  # fmt: skip
def test_words_that_no_server_reads_are_named(ask: Ask, statement: str, near: str) -> None:
    assert ask(statement).endswith(f"for the right syntax to use near '{near}' at line 1\n")


@pytest.mark.parametrize(
    ("column", "error"),
    [
        ("b year(2)", "1818 (HY000): Supports only YEAR or YEAR(4) column."),
        ("b bit(0)", "3013 (HY000): Invalid size for column 'b'."),
        ("b int(256)", "1439 (42000): Display width out of range for column 'b' (max = 255)"),
        ("b varchar(10) auto_increment", "1063 (42000): Incorrect column specifier for column 'b'"),
        ("b set('x,y')", "1367 (22007): Illegal set 'x,y' value found during parsing"),
        ("b int, key (b, b)", "1060 (42S21): Duplicate column name 'b'"),
        ("b int, key `primary` (b)", "1280 (42000): Incorrect index name 'primary'"),
        ("b int primary key default null", "1067 (42000): Invalid default value for 'b'"),
    ],
)
def test_columns_and_keys_that_no_server_takes(ask: Ask, column: str, error: str) -> None:
    key = "" if "primary key" in column else "a int primary key, "
    assert ask(f"create table w ({key}{column}) engine=ndb") == f"ERROR {error}\n"


def test_unique_keys_are_of_whole_columns(ask: Ask) -> None:
    made = "create table w (a int primary key, b varchar(10), {} (b({}))) engine=ndb"
    assert ask(made.format("unique", 5)).startswith("ERROR 1089 (HY000): Incorrect prefix key;")
    assert ask(made.format("unique", 10)).startswith("Query OK")
    ask("drop table w")
    assert ask(made.format("key", 5)).startswith("Query OK")


def test_a_view_is_no_table_to_make_another_like(ask: Ask) -> None:
    assert ask("create table w like ndbinfo.nodes") == (
        "ERROR 1347 (HY000): 'ndbinfo.nodes' is not BASE TABLE\n"
    )


def test_unique_hashes_of_columns_that_may_be_null_are_warned_of(ask: Ask) -> None:
    said = "full table scan |"
    made = ask("create table w (a int primary key, b int, unique (b) using hash) engine=ndb")
    assert "1 warning" in made
    assert said in ask("show warnings")
    assert "1 warning" in ask("create unique index u using hash on t (b)")
    assert said in ask("show warnings")
    assert "warning" not in ask("create table x (a int primary key, b int not null, unique (b) using hash) "
                                "engine=ndb")  # fmt: skip


def test_members_that_go_or_change_places_are_read_anew(ask: Ask) -> None:
    ask("create table k (id int primary key, e enum('x','y')) engine=ndb")
    ask("insert into k values (1,'x'),(2,'y')")
    said = ask("alter table k modify e enum('y','z')")
    assert said.startswith("ERROR 1265 (01000): Data truncated for column 'e' at row "), "as of SET"
    assert ask("alter table k modify e enum('y','x')").startswith("Query OK, 2 rows affected")
    assert "| x    |    2 |" in ask("select e, e+0 from k")
