"""ALTER TABLE of NDB: what is done in place and what copies, as ha_ndbcluster.cc and running servers say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

MADE = (
    "create table t1 (id int not null primary key auto_increment, k int not null, c varchar(20),"
    " d int default 3, long_one varchar(60) not null, key k_1 (k)) engine=ndb"
)
IN_PLACE = "Query OK, 0 rows affected"


@pytest.fixture
def ask(cluster: LiveCluster) -> Callable[[str], str]:
    consoles = Consoles(cluster)
    consoles.answer("mysql> use test")
    return lambda sql: consoles.answer(f"mysql> {sql};")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("rename column c to cc", ""),
        ("change c cc varchar(20)", ""),
        ("comment='for people'", ""),
        ("add column e int column_format dynamic", ""),
        ("add index i2 (c)", ""),
        ("drop index k_1", ""),
        ("alter column c set default 'x'", ""),
        # As a running 8.4.8 answered.
        ("rename column k to kk", "Renaming column that is part of an index is not supported"),
        ("modify long_one varchar(70) not null", "Altering field type is not supported"),
        ("add column e int column_format dynamic storage disk",
         "Adding column(s) or add/reorganize partition not supported online"),
        # As its source says.
        ("modify c varchar(30)", "Altering field definition is not supported"),
        ("modify c varchar(20) not null", "Altering if field is nullable is not supported"),
        ("alter column d set default 4", "Altering default value is not supported"),
        ("drop column c", "Dropping column"),
        ("add column e int first", "Altering column order"),
        ("rename column c to cc, add column e int",
         "Only rename column exclusively can be performed inplace"),
        ("rename index k_1 to k_2", "Rename index can not be performed inplace"),
        ("add column e int default 1", "Adding column with non-null default value is not supported online"),
        ("add index i2 (c), add index i3 (d)", "Only one index can be added online"),
        ("auto_increment=7", "Not only AUTO_INCREMENT value changed"),
        ("max_rows=1000", "setting MAX_ROWS on table without MAX_ROWS"),
        ("force", "Detected unsupported change"),
        ("engine=ndb", "Detected unsupported change"),
    ],
)  # fmt: skip
def test_what_is_done_in_place(ask: Callable[[str], str], change: str, reason: str) -> None:
    ask(MADE)
    ask("insert into t1 (k, c, long_one) values (1, 'x', 'a'), (2, 'y', 'b')")
    if not reason:
        assert ask(f"alter table t1 {change}, algorithm=inplace").startswith(IN_PLACE)
        return
    said = f"ERROR 1846 (0A000): ALGORITHM=INPLACE is not supported. Reason: {reason}. Try ALGORITHM=COPY.\n"
    assert ask(f"alter table t1 {change}, algorithm=inplace") == said
    if "disk" not in change:
        assert ask(f"alter table t1 {change}").startswith("Query OK, 2 rows affected"), "it is copied"


@pytest.mark.parametrize(
    ("length", "reason"),
    [(255, "Altering field definition is not supported"), (256, "Altering field type is not supported")],
)
def test_a_length_that_needs_a_second_byte_is_another_type(
    ask: Callable[[str], str], length: int, reason: str
) -> None:
    """Source: ndbcluster's Varchar and Longvarchar."""
    ask("create table t2 (id int primary key, c varchar(254) character set latin1) engine=ndb")
    said = ask(f"alter table t2 modify c varchar({length}) character set latin1, algorithm=inplace")
    assert said.startswith(f"ERROR 1846 (0A000): ALGORITHM=INPLACE is not supported. Reason: {reason}.")


def test_what_alter_table_says_is_kept(ask: Callable[[str], str]) -> None:
    ask(MADE)
    ask("insert into t1 (k, long_one) values (1, 'a')")
    assert ask("alter table t1 order by k, algorithm=inplace").startswith("ERROR 1845 (0A000)")
    ask("alter table t1 comment='for people'")
    ask("alter table t1 add column e int after id")
    ask("alter table t1 auto_increment=100")
    ask("insert into t1 (k, long_one) values (5, 'b')")
    assert "| 100 |" in ask("select id from t1 where k = 5")
    said = ask("show create table t1\\G")
    assert "`id` int NOT NULL AUTO_INCREMENT,\n  `e` int DEFAULT NULL,\n  `k` int" in said
    # Numbers are taken in blocks of 512 from where they begin.
    assert "AUTO_INCREMENT=612 " in said
    assert "COMMENT='for people'" in said
    assert ask("alter table t1 add column f int after nosuch").startswith(
        "ERROR 1054 (42S22): Unknown column 'nosuch'"
    )
    assert "1 warning" in ask("alter table t1 disable keys")
    assert ask("alter table t1 add column f varchar(29990) character set latin1") == (
        "ERROR 1296 (HY000): Got error 140 'Record too big' from NDBCLUSTER\n"
    )


def test_ignore_makes_warnings_of_errors(begun: Callable[[str], LiveCluster]) -> None:
    """Words: strict.result of mysql/mysql-server; keys: the manuals of 5.6 and 5.7, INSERT."""
    for version, keys in (("8.4.8", ["1062"]), ("7.4.10", [])):
        consoles = Consoles(begun(version))
        consoles.answer("mysql> use test")
        consoles.answer(
            "mysql> create table t (id int primary key, n int not null, c varchar(3)) engine=ndb;"
        )
        consoles.answer("mysql> insert into t values (1, 1, 'a');")
        consoles.answer("mysql> insert ignore into t values (1, null, 'long'), (2, 'x', 'b');")
        told = consoles.answer("mysql> show warnings;")
        codes = [line.split("|")[2].strip() for line in told.splitlines() if line.startswith("| Warning")]
        assert codes == ["1048", "1265", "1366", *keys]


def test_what_is_no_day_is_none(ask: Callable[[str], str]) -> None:
    said = ask("select cast('2024-02-30' as date) a, cast('2024-02-28' as datetime) b, date '2024-02-29' c")
    assert "| NULL | 2024-02-28 00:00:00 | 2024-02-29 |" in said
    assert "Incorrect datetime value: '2024-02-30'" in ask("show warnings")
    assert ask("select point(1, 2)") == "ndbplan: POINT() is not simulated here\n"
    assert ask("analyze table orders update histogram on a").startswith("ndbplan: HISTOGRAM is not simulated")


def test_statements_are_prepared_with_values(ask: Callable[[str], str]) -> None:
    """Numbers and words of errors: the manual, server error messages."""
    ask(MADE)
    ask("insert into t1 (k, c, long_one) values (1, 'it''s', 'a'), (2, null, 'b')")
    said = ask("prepare p from 'select id from t1 where c = ? and long_one <> \"?\" limit ?'")
    assert said.endswith("Statement prepared\n\n")
    ask("set @c = 'it''s', @n = 1")
    assert "|  1 |" in ask("execute p using @c, @n")
    assert ask("execute p using @c") == "ERROR 1210 (HY000): Incorrect arguments to EXECUTE\n"
    assert ask("execute p using @nosuch, @n").startswith("Empty set (0"), "NULL is compared without a warning"


def test_windows_and_json_are_printed_as_the_server_prints_them(ask: Callable[[str], str]) -> None:
    ask("create table d (id int primary key, a decimal(6,2)) engine=ndb")
    ask("insert into d values (1, 10.5), (2, 20)")
    assert "|  2 | 10.50 |" in ask("select id, lag(a) over (order by id) l from d")
    assert '| {"a": 1, "b": [1, 2]} |' in ask("select json_object('a', 1, 'b', json_array(1, 2)) j")
