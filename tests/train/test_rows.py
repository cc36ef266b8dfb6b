"""Rows that somebody types at the mysql client: kept, found, changed, refused, taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.tables import Column, Table
from ndbplan.train import world
from ndbplan.train.consoles import Consoles
from ndbplan.train.contents import Contents, Held, sample_value
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import partitions_of
from ndbplan.train.sql.console import Client
from ndbplan.train.sql.values import limits

from .conftest import two_by_two

Ask = Callable[[str], str]


@pytest.fixture
def consoles(cluster: LiveCluster) -> Consoles:
    found = Consoles(cluster)
    found.answer("mysql> USE test")
    return found


@pytest.fixture
def ask(consoles: Consoles) -> Ask:
    return lambda line: consoles.answer(f"mysql> {line}")


def cells(answer: str) -> list[list[str]]:
    rows = [line for line in answer.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1:]]


MADE = (
    "create table t (id int primary key auto_increment, a int, b varchar(5), d decimal(6,2) default 1.5) "
    "engine=ndb"
)


def test_what_is_inserted_is_found_changed_and_deleted(ask: Ask) -> None:
    ask(MADE)
    assert ask("insert into t (a, b) values (1,'x'),(2,'y'),(3,null)") == (
        "Query OK, 3 rows affected (0.00 sec)\nRecords: 3  Duplicates: 0  Warnings: 0\n\n"
    )
    assert cells(ask("select * from t where id = 2")) == [["2", "2", "y", "1.50"]]
    assert ask("update t set a = a + 10, b = 'z' where b = 'Y'").splitlines()[1] == (
        "Rows matched: 1  Changed: 1  Warnings: 0"
    )
    assert ask("update t set a = a where id < 3").splitlines() == [
        "Query OK, 0 rows affected (0.00 sec)", "Rows matched: 2  Changed: 0  Warnings: 0", "",
    ]  # fmt: skip
    assert cells(ask("select id, a from t order by a desc limit 2")) == [["2", "12"], ["3", "3"]]
    assert cells(ask("select count(*), sum(a), avg(d) from t")) == [["3", "16", "1.500000"]]
    assert cells(ask("select x.id, y.b from t x join t y on x.a = y.id + 10")) == [["2", "z"]]
    assert ask("delete from t where a > 5").startswith("Query OK, 1 row affected")
    assert cells(ask("select last_insert_id(), count(*) from t")) == [["1", "2"]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("insert into t values (1,1,'a',1)", "ERROR 1062 (23000): Duplicate entry '1' for key 't.PRIMARY'"),
        ("insert into t (id) values (8), (1)", "ERROR 1022 (23000): Can't write; duplicate key in table 't'"),
        ("insert into t (a) values (9999999999)", "ERROR 1264 (22003): Out of range value for column 'a' at"),
        ("insert into t (a) values ('x')", "ERROR 1366 (HY000): Incorrect integer value: 'x' for column 'a'"),
        ("insert into t (b) values ('abcdef')", "ERROR 1406 (22001): Data too long for column 'b' at"),
        ("insert into t (a, a) values (1, 2)", "ERROR 1110 (42000): Column 'a' specified twice"),
        ("update t set id = 2 where id = 1", "ERROR 1062 (23000): Duplicate entry '2' for key 't.PRIMARY'"),
        ("update t set nix = 1", "ERROR 1054 (42S22): Unknown column 'nix' in 'field list'"),
        ("insert into u values (3, 'A')", "ERROR 1062 (23000): Duplicate entry 'A' for key 'u.un'"),
        ("update u set n = 'a' where id = 2", "ERROR 1022 (23000): Can't write; duplicate key in table 'u'"),
        ("insert into u (id) values (9)", "ERROR 1364 (HY000): Field 'n' doesn't have a default value"),
    ],
)  # fmt: skip
def test_what_a_table_does_not_take_leaves_it_as_it_was(line: str, said: str, ask: Ask) -> None:
    ask(MADE)
    ask("create table u (id int primary key, n varchar(10) not null, unique key un (n)) engine=ndb")
    ask("insert into t (a) values (1), (2)")
    ask("insert into u values (1, 'a'), (2, 'b')")
    before = ask("select * from t order by id"), ask("select * from u order by id")
    assert ask(line).startswith(said)
    assert (ask("select * from t order by id"), ask("select * from u order by id")) == before


def test_old_servers_store_what_fits_and_warn(begun: Callable[[str], LiveCluster]) -> None:
    old = Consoles(begun("7.4.10"))
    for line in ("use test", MADE):
        old.answer(f"mysql> {line}")
    said = old.answer("mysql> insert into t values (1, 'x', 'abcdef', 1)")
    assert said.startswith("Query OK, 1 row affected, 2 warnings")
    assert cells(old.answer("mysql> select * from t")) == [["1", "0", "abcde", "1.00"]]
    assert "for key 'PRIMARY'" in old.answer("mysql> insert into t (id) values (1)")


def test_a_transaction_is_taken_back_and_a_duplicate_ends_it(ask: Ask, consoles: Consoles) -> None:
    ask(MADE)
    ask("begin")
    ask("insert into t (a) values (5)")
    assert ask("savepoint s").startswith("ERROR 1178 (42000)")
    assert ask("rollback").startswith("Query OK")
    assert cells(ask("select count(*) from t")) == [["0"]]
    ask("begin")
    ask("insert into t (id) values (7)")
    assert ask("insert into t (id) values (7)").startswith("ERROR 1062")
    assert ask("commit").startswith("Query OK")
    assert ask("select * from t") == "Empty set (0.00 sec)\n\n", "the data nodes took all of it back"
    ask("begin")
    ask("insert into t (id) values (8)")
    world.do("kill node:4", consoles.cluster)
    consoles.cluster.advance(1.0)
    assert ask("update t set a = 1").startswith("ERROR 1297 (HY000): Got temporary error 286 ")
    assert ask("select * from t").startswith("Empty set")


def test_rows_go_back_with_time(ask: Ask, consoles: Consoles) -> None:
    ask(MADE)
    ask("insert into t (id) values (1)")
    consoles.cluster.advance(2.0)
    then = consoles.cluster.now_s
    consoles.cluster.advance(1.0)
    ask("update t set a = 9")
    ask("insert into t (id) values (2)")
    consoles.cluster.rewind(then)
    assert cells(ask("select id, a from t")) == [["1", "NULL"]]


def test_rows_of_the_plan_are_samples_by_their_keys(ask: Ask) -> None:
    [row] = cells(ask("select id from blobs_1k where id = 77"))
    assert row == ["77"]
    assert ask("select * from blobs_1k where id = 100001").startswith("Empty set")
    assert ask("insert into blobs_1k (id) values (77)").startswith("ERROR 1062")
    assert ask("delete from blobs_1k where id in (77, 100001)").startswith("Query OK, 1 row affected")
    assert ask("select id from blobs_1k where id = 77").startswith("Empty set")
    assert ask("insert into blobs_1k (id) values (77)").startswith("Query OK, 1 row")
    assert cells(ask("select count(*) from blobs_1k where id between 71 and 80")) == [["10"]]
    assert cells(ask("select count(*) from blobs_1k")) == [["100000"]]
    assert ask("select count(*) from blobs_1k limit 0").startswith("Empty set")
    assert ask("select count(*) from blobs_1k limit 1 offset 1").startswith("Empty set")
    assert len(cells(ask("select id from blobs_1k limit 5"))) == 5


def test_samples_go_round_typed_keys() -> None:
    """As many rows as were not typed are there, whatever keys were typed."""
    table = Table(
        id="t", database="d", name="t", columns=(Column(name="id", type="int"),), primary_key=("id",)
    )
    typed = Contents(("id",), {(2,): (2,), (9,): (9,)}, frozenset({(4,)}))
    held = Held(table, typed, 6)
    keys = [key[0] for key, _ in held.keyed()]
    assert sorted(keys) == [1, 2, 3, 5, 6, 7, 9]
    assert len(keys) == held.count
    assert [held.is_sample((n,)) for n in range(9)] == [n in keys and n not in (2, 9) for n in range(9)]
    assert sample_value(table.columns[0], 77, is_unique=True) == 77


def test_of_a_thousand_rows_as_many_are_null_as_the_plan_says() -> None:
    column = Column(name="c", type="int", null_fraction=0.3)
    empty = [number for number in range(2000) if sample_value(column, number) is None]
    assert empty == [*range(300), *range(1000, 1300)]


def test_a_table_that_gets_a_column_keeps_its_rows(ask: Ask) -> None:
    ask(MADE)
    ask("insert into t (id, a) values (1, 5)")
    ask("alter table t add column z int, drop column b")
    assert cells(ask("select * from t")) == [["1", "5", "1.50", "NULL"]]
    ask("truncate table t")
    assert ask("select * from t").startswith("Empty set")


def test_rows_without_an_order_come_partition_by_partition(ask: Ask, consoles: Consoles) -> None:
    ask("create table p (id int primary key) engine=ndb")
    ask("insert into p values " + ", ".join(f"({n})" for n in range(1, 41)))
    found = [int(row[0]) for row in cells(ask("select * from p"))]
    assert sorted(found) == list(range(1, 41)) != found
    sim = consoles.cluster.session.simulation
    parts = len(partitions_of(sim, consoles.cluster.plan, consoles.cluster.plan.tables[-1]))
    descents = sum(a > b for a, b in pairwise(found))
    assert 0 < descents < parts, "within a partition they lie as they came"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("notee", "Outfile disabled.\n"), ("tee /tmp/x", "Logging to file '/tmp/x'\n"), ("delimiter ;", ""),
        ("source f.sql", "ERROR: \nFailed to open file 'f.sql', error: 2\n"),
        ("nopager", "PAGER set to stdout\n"), ("pager less", "PAGER set to 'less'\n"),
        ("warnings", "Show warnings enabled.\n"), ("\\w", "Show warnings disabled.\n"), ("\\c", ""),
        ("prompt x>", "PROMPT set to 'x>'\n"), ("\\u test", "Database changed\n"),
        ("use", "ERROR: \nUSE must be followed by a database name\n"),
        ("set collation_connection='x,y', ndb_join_pushdown=0", "Query OK, 0 rows affected (0.00 sec)\n"),
    ],
)  # fmt: skip
def test_commands_of_the_client_answer_as_recorded(line: str, said: str, ask: Ask) -> None:
    assert ask(line) == said


def test_commas_inside_quotes_part_no_assignments(ask: Ask) -> None:
    ask("set collation_connection='x, ndb_join_pushdown=1', ndb_join_pushdown=0")
    assert cells(ask("show variables like 'ndb_join_pushdown'")) == [["ndb_join_pushdown", "OFF"]]


def test_status_names_server_and_database(ask: Ask) -> None:
    lines = ask("status").splitlines()
    assert lines[0] == lines[-1] == "-" * 14
    assert "Current database:\ttest" in lines
    assert any(line.startswith("Server version:\t\t8.4.8-cluster ") for line in lines)


def test_changes_may_read_several_tables(ask: Ask) -> None:
    for line in (
        "CREATE TABLE test.ja (id INT PRIMARY KEY, x INT) ENGINE=NDB",
        "CREATE TABLE test.jb (id INT PRIMARY KEY, y INT) ENGINE=NDB",
        "USE test",
        "INSERT INTO ja VALUES (1,1),(2,2),(3,3)",
        "INSERT INTO jb VALUES (1,10),(2,20),(4,40)",
        "UPDATE ja JOIN jb ON ja.id=jb.id SET x=jb.y",
        "DELETE t FROM ja t WHERE t.id=3",
        "DELETE FROM jb USING jb LEFT JOIN ja ON ja.id=jb.id WHERE ja.id IS NULL",
    ):
        assert ask(line).startswith(("Query OK", "Database changed")), line
    assert cells(ask("SELECT id, x FROM ja ORDER BY id")) == [["1", "10"], ["2", "20"]]
    assert cells(ask("SELECT id FROM jb ORDER BY id")) == [["1"], ["2"]]
    for line, said in (
        ("DELETE z FROM ja JOIN jb USING (id)", "ERROR 1109 (42S02): Unknown table 'z' in MULTI DELETE"),
        ("UPDATE ja JOIN jb USING (id) SET id=5", "ERROR 1052 (23000): Column 'id' in field list is ambig"),
        ("UPDATE ja JOIN jb USING (id) SET x=5 LIMIT 1", "ERROR 1221 (HY000): Incorrect usage of UPDATE"),
        ("DELETE ja, jb FROM ja JOIN jb USING (id)", "ndbplan: a change of several tables at once"),
    ):
        assert ask(line).startswith(said), line


def test_statements_are_kept_by_their_names(ask: Ask) -> None:
    assert ask("PREPARE p FROM 'SELECT 6*7'").endswith("Statement prepared\n\n")
    assert cells(ask("EXECUTE p")) == [["42"]]
    assert ask("DEALLOCATE PREPARE p").startswith("Query OK")
    missing = "ERROR 1243 (HY000): Unknown prepared statement handler (p) given to EXECUTE\n"
    assert ask("EXECUTE p") == missing
    assert ask("PREPARE p FROM 'SELECT ?'").endswith("Statement prepared\n\n")


@pytest.mark.parametrize(
    ("statement", "near"),
    [
        ("ALTER TABLE test.blobs_1k ADD b NOSUCH", "NOSUCH"),
        ("ALTER TABLE test.blobs_1k ADD COLUMN b NOSUCH(5) NULL", "NOSUCH(5) NULL"),
        ("ALTER TABLE test.blobs_1k ADD (b INT, c NOSUCH)", "NOSUCH)"),
        ("ALTER TABLE test.blobs_1k MODIFY id NOSUCH", "NOSUCH"),
        ("ALTER TABLE test.blobs_1k CHANGE id id2 NOSUCH", "NOSUCH"),
        ("ALTER TABLE test.blobs_1k FROB", "FROB"),
        ("ALTER TABLE test.blobs_1k ADD", ""),
        ("ALTER TABLE test.blobs_1k MODIFY", ""),
        ("CREATE TABLE test.z1 (id INT PRIMARY KEY, b NOSUCH) ENGINE=NDB", "NOSUCH) ENGINE=NDB"),
        ("SHOW PRIVILEGES LIKE 'x'", "LIKE 'x'"),
    ],
)
def test_what_cannot_be_read_is_named(statement: str, near: str, ask: Ask) -> None:
    answer = ask(statement)
    assert answer.startswith("ERROR 1064 (42000): ")
    assert answer.endswith(f"near '{near}' at line 1\n")


@pytest.mark.parametrize("call", ["WEEK()", "TO_DAYS()", "DATE_ADD()", "DATE_FORMAT(DATE_ADD(1), 2)"])
def test_calls_without_what_they_need_are_answered(call: str, ask: Ask) -> None:
    assert ask(f"SELECT {call}").startswith(("ndbplan: this statement is too much", "ERROR 1"))


_EDGES = (
    "create table e (id int not null primary key, u int, s set('p','q'), d decimal(6,2), t time, "
    "unique key u (u)) engine=ndb"
)


def test_a_replace_takes_away_all_that_is_in_its_way(ask: Ask) -> None:
    """A unique key is read before; without one NDB writes over what is there and counts one row."""
    ask(_EDGES)
    ask("insert into e (id, u) values (1, 10), (2, 20)")
    assert ask("replace into e (id, u) values (1, 20)").startswith("Query OK, 3 rows affected")
    assert cells(ask("select id, u from e")) == [["1", "20"]]
    several = ask("replace into e (id, u) values (1, 21), (2, 21), (3, 22)")
    assert several.startswith("Query OK, 5 rows affected")
    assert cells(ask("select id, u from e order by id")) == [["2", "21"], ["3", "22"]]
    ask(MADE)
    ask("insert into t (id) values (1)")
    assert ask("replace into t (id, a) values (1, 2)").startswith("Query OK, 1 row affected")


@pytest.mark.parametrize(
    ("values", "said", "stored"),
    [
        ("s) values (6, 3)", "Query OK, 1 row affected (", ["p,q", "NULL", "NULL"]),
        ("s) values (6, 4)", "ERROR 1265 (01000): Data truncated for column 's' at row 1", None),
        ("d) values (6, 1.005)", "Query OK, 1 row affected, 1 warning (", ["NULL", "1.01", "NULL"]),
        ("d) values (6, 0.1+0.2)", "Query OK, 1 row affected (", ["NULL", "0.30", "NULL"]),
        ("t) values (6, '838:59:59')", "Query OK, 1 row affected (", ["NULL", "NULL", "838:59:59"]),
        ("t) values (6, '-839:00:00')", "ERROR 1292 (22007): Incorrect time value: '-839:00:00'",
         None),
    ],
)  # fmt: skip
def test_values_at_the_edge_of_their_column(
    values: str, said: str, stored: list[str] | None, ask: Ask
) -> None:
    ask(_EDGES)
    assert ask(f"insert into e (id, {values}").startswith(said)
    assert cells(ask("select s, d, t from e")) == ([] if stored is None else [stored])


def test_new_rows_have_a_name_from_8_0_19_on(begun: Callable[[str], LiveCluster]) -> None:
    """Source: manual 8.4, INSERT … ON DUPLICATE KEY UPDATE."""
    consoles = Consoles(begun("8.4.8"))
    for line in ("USE test", "CREATE TABLE w (id INT PRIMARY KEY, n INT) ENGINE=NDB",
                 "INSERT INTO w VALUES (1, 5), (2, 6)"):  # fmt: skip
        consoles.answer(f"mysql> {line}")
    named = "INSERT INTO w (id, n) VALUES (1, 9), (3, 7) AS new ON DUPLICATE KEY UPDATE n = n + new.n"
    assert "Query OK, 3 rows affected (" in consoles.answer(f"mysql> {named}")
    listed = "INSERT INTO w (id, n) VALUES (2, 9) AS new(a, b) ON DUPLICATE KEY UPDATE n = b + 1"
    assert "Query OK, 2 rows affected (" in consoles.answer(f"mysql> {listed}")
    assert cells(consoles.answer("mysql> SELECT n FROM w ORDER BY id")) == [["14"], ["10"], ["7"]]
    older = Consoles(begun("8.0.18")).answer(f"mysql> {named}")
    assert "near 'AS new ON DUPLICATE KEY UPDATE n = n + new.n' at line 1" in older


@pytest.mark.parametrize(
    ("column", "value", "said", "stored"),
    [
        ("FLOAT", "1e39", "ERROR 1264 (22003): Out of range value for column 'c' at row 1", ""),
        ("FLOAT UNSIGNED", "-1", "ERROR 1264 (22003): Out of range value for column 'c' at row 1", ""),
        ("FLOAT", "-3.4e38", "", "-3.4e38"),
        ("VARCHAR(3)", "'abc '", "Note 1265 Data truncated for column 'c' at row 1", "abc"),
        ("CHAR(3)", "'abc  '", "", "abc"),
        ("VARCHAR(30)", "1e20", "", "1e20"),
        ("DATE", "'2024-02-29 12:34:56'", "Note 1265 Data truncated for column 'c' at row 1", "2024-02-29"),
        ("DATE", "'2024-02-29 00:00:00'", "", "2024-02-29"),
        ("TIME", "'1 10:00'", "", "34:00:00"),
        ("TIME", "'-2 10'", "", "-58:00:00"),
        ("TIME", "'35 00:00:00'",
         "ERROR 1292 (22007): Incorrect time value: '35 00:00:00' for column 'c' at row 1",
         ""),
        ("TIME", "'2024-01-01 10:11:12'", "", "10:11:12"),
        ("BIT(4)", "b'1010'", "", "0x0A"),
    ],
)  # fmt: skip
def test_what_a_column_makes_of_a_value(column: str, value: str, said: str, stored: str, ask: Ask) -> None:
    """Source: manual, data types; Field_*::store of the server."""
    ask(f"create table c (id int primary key, c {column}) engine=ndb")
    answer = ask(f"insert into c values (1, {value})")
    if not stored:
        assert answer.strip() == said
        return
    assert answer.startswith("Query OK, 1 row affected" + (", 1 warning (" if said else " ("))
    assert [" ".join(row) for row in cells(ask("show warnings"))] == ([said] if said else [])
    assert cells(ask("select c from c")) == [[stored]]


def test_members_of_a_set_are_bits_where_they_are_reckoned_with(ask: Ask) -> None:
    ask("create table m (id int primary key, s set('p', 'q', 'r')) engine=ndb")
    ask("insert into m values (1, 'q,p'), (2, 5), (3, 'r'), (4, 'q')")
    assert cells(ask("select id, s+0 from m order by s")) == [["4", "2"], ["1", "3"], ["3", "4"], ["2", "5"]]
    assert cells(ask("select s from m where s = 3")) == [["p,q"]]


_KINDS = (
    "create table k (id int primary key, e enum('z', 'y'), d date, t time, s varchar(9)) engine=ndb",
    "insert into k values (1, 'z', '2024-01-31', '-10:20:30', '3x'), (2, 'y', '2023-12-01', '1:2:3', '4')",
)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("select e+0, e/2, -e, d+0, t+0, s*2 from k order by e",
         [["1", "0.5", "-1", "20240131", "-102030", "6"], ["2", "1", "-2", "20231201", "10203", "8"]]),
        ("select sum(e), avg(e), max(e), sum(d) from k", [["3", "1.5", "z", "40471332"]]),
        ("select id from k where e = 2", [["2"]]),
        ("select id from k where e in (1) and d = 20240131 and d between 20240101 and 20240201", [["1"]]),
        ("select id from k where e = 'y' and d = '2023-12-01'", [["2"]]),
        ("select cast(d as unsigned), cast(e as signed) from k where id = 1", [["20240131", "1"]]),
        ("select i from (select id as i from k) x where i > 1", [["2"]]),
        ("select id as e from k where e = 'z'", [["1"]]),
    ],
)  # fmt: skip
def test_texts_that_stand_for_numbers_are_reckoned_with_as_such(
    query: str, shown: list[list[str]], ask: Ask
) -> None:
    for made in _KINDS:
        ask(made)
    assert cells(ask(query)) == shown


def test_letters_are_equal_whatever_their_case_and_accents(ask: Ask) -> None:
    ask("create table w (id int primary key, s varchar(20)) engine=ndb")
    ask("insert w values (1, 'Ähre'), (2, 'ahr'), (3, 'zebra'), (4, 'Ärger'), (5, 'ndb_x'), (6, 'ndbax')")
    assert cells(ask("select id from w where s <> 'NDB_X' and s not like 'n%' order by s")) == [
        ["2"], ["1"], ["4"], ["3"]
    ]  # fmt: skip
    assert cells(ask("select id from w where s in ('arger', 'AHRE') order by id")) == [["1"], ["4"]]
    assert cells(ask("select upper(s), instr(s, 'R') from w where s like 'ä%' and id = 1")) == [["ÄHRE", "3"]]
    assert cells(ask(r"select id from w where s like 'ndb\_%'")) == [["5"]]


def test_names_that_stand_for_nothing_or_for_two_are_refused(ask: Ask) -> None:
    for made in _KINDS:
        ask(made)
    assert ask("select id as i from k where i > 1") == (
        "ERROR 1054 (42S22): Unknown column 'i' in 'where clause'\n"
    )
    for query in ("select id from k, k", "select 1 from k x join k K on 1 = 1 join k x on 1 = 1"):
        assert ask(query).startswith("ERROR 1066 (42000): Not unique table/alias: '")
    assert ask("select id from k where s + 0 > 3").endswith("1 row in set, 1 warning (0.00 sec)\n\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{bad", "Missing a name for object member.\" at position 1"),
        ('{"a" 1}', "Missing a colon after a name of object member.\" at position 5"),
        ("[1, 2", "Missing a comma or ']' after an array element.\" at position 5"),
        ('{"a": 1', "Missing a comma or '}' after an object member.\" at position 7"),
        ("nix", 'Invalid value." at position 1'), ("", 'The document is empty." at position 0'),
        ("1 2", "The document root must not be followed by other values.\" at position 2"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused_where_it_begins(text: str, said: str, ask: Ask) -> None:
    ask("create table j (id int primary key, d json) engine=ndb")
    assert ask(f"insert into j values (1, '{text}')") == (
        f"ERROR 3140 (22032): Invalid JSON text: \"{said} in value for column 'j.d'.\n"
    )


_OTHERS = (
    ("select i from k limit 0", "Unknown column 'i' in 'field list'"),
    ("select count() from k", "near ') from k' at line 1"),
    ("select q.* from k", "ERROR 1051 (42S02): Unknown table 'q'"),
    ("select id from k group by nosuch", "Unknown column 'nosuch' in 'group statement'"),
    ("select * from k group by e", "Expression #1 of SELECT list is not in GROUP BY clause and contains "
     "nonaggregated column 'test.k.id'"),
    ("select max(count(*)) from k", "ERROR 1111 (HY000): Invalid use of group function"),
    ("select id from k where max(id) = 1", "ERROR 1111 (HY000): Invalid use of group function"),
    ("select id from k where id in (select id from k limit 1)", "ERROR 1235 (42000): This version"),
    ("select id, e from k order by 3", "Unknown column '3' in 'order clause'"),
    ("delete from k where id in (select id from k)", "ERROR 1093 (HY000): You can't specify target"),
    ("update k set s = (select max(s) from k x)", "ERROR 1093 (HY000): You can't specify target table 'k'"),
    ("delete from k where id in (select id from (select id from k) x)", "Query OK, 2 rows affected"),
    ("insert into k (id) values ((select 5 from k limit 1))", "ERROR 1093 (HY000): You can't specify target"),
    ("insert into k (id) select id + (select max(id) from k) from k", "Query OK, 2 rows affected"),
    ("select id from k where id in (select id from k where id > 1)", "|  2 |"),
    ("select sum(id), count(distinct e, id) from k order by 2", "|       3 |                     2 |"),
    ("select bit_and(id), bit_or(id) from k where id > 5", "| 18446744073709551615 |          0 |"),
    ("select cast(d as char(4)) from k where id = 1", "1 row in set, 1 warning"),
    ("select sum(id) over (order by id) r from k order by 1 desc limit 1", "|    3 |"),
)  # fmt: skip


@pytest.mark.parametrize(("sql", "said"), _OTHERS)
def test_what_lists_and_conditions_may_name(sql: str, said: str, ask: Ask) -> None:
    for made in _KINDS:
        ask(made)
    assert said in ask(sql)


def test_seconds_are_rounded_to_what_a_column_holds(ask: Ask) -> None:
    ask("create table m (id int primary key, t datetime(3), d datetime, c time(1), e time) engine=ndb")
    ask("insert m values (1, '2024-12-31 23:59:59.9996', '24-2-28 23:59:59.5', '12:59:59.96','-0:0:59.5')")
    ask("insert into m values (2, '2024-12-31 23:59:59.0004', '2024-02-28 23:59:59.49', '12:59:59', '10:00')")
    assert cells(ask("select t, d, c, e from m order by id")) == [
        ["2025-01-01 00:00:00.000", "2024-02-29 00:00:00", "13:00:00.0", "-00:01:00"],
        ["2024-12-31 23:59:59.000", "2024-02-28 23:59:59", "12:59:59.0", "10:00:00"],
    ]


def test_servers_without_fractions_cut_them_off(begun: Callable[[str], LiveCluster]) -> None:
    consoles = Consoles(begun("7.2.20"))
    consoles.answer("mysql> create table test.m (id int primary key, d datetime, e time) engine=ndb;")
    consoles.answer("mysql> insert into test.m values (1, '2024-02-28 23:59:59.9', '12:59:59.9');")
    assert cells(consoles.answer("mysql> select d, e from test.m;")) == [["2024-02-28 23:59:59", "12:59:59"]]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select id as i from e having i > 3 order by i limit 1, 3", [["5"], ["6"]]),
        ("select u, t from e group by id limit 1", [["NULL", "NULL"]]),
        ("select u + 1, count(*) from e group by u + 1", [["NULL", "6"]]),
        ("select u as w, count(*) from e group by w", [["NULL", "6"]]),
        ("select u, count(*) from e group by 1", [["NULL", "6"]]),
        ("select u, t, count(*) from e where t = '00:00:01' group by u", []),
        ("select id, t from e group by t", "ERROR 1055 (42000): Expression #1 of SELECT list"),
        ("select node_id, used from ndbinfo.logspaces group by node_id", "ERROR 1055 (42000): Expression #2"),
        ("select json_arrayagg(id), json_objectagg(id, t) from e where id < 3",
         [["[1, 2]", '{"1": null, "2": null}']]),
        ("select u, json_arrayagg(t) from e where id < 3 group by u", [["NULL", "[null, null]"]]),
    ],
)  # fmt: skip
def test_groups_and_conditions_behind_them(query: str, said: str | list[list[str]], ask: Ask) -> None:
    ask(_EDGES)
    ask("insert into e (id) values (1), (2), (3), (4), (5), (6)")
    found = ask(query)
    if isinstance(said, str):
        assert found.startswith(said)
    else:
        assert cells(found) == said


def test_a_database_that_is_dropped_is_no_longer_the_one_in_use(ask: Ask) -> None:
    ask("create database d")
    ask("use d")
    ask("create table t (id int primary key) engine=ndb")
    assert ask("drop table t").startswith("Query OK")
    assert ask("select database()").splitlines()[3] == "| d          |"
    ask("drop database d")
    assert ask("show tables") == "ERROR 1046 (3D000): No database selected\n"
    assert ask("lock tables test.t1 read") == "ERROR 1146 (42S02): Table 'test.t1' doesn't exist\n"


def test_bytes_that_a_statement_reads_are_those_that_it_writes(ask: Ask) -> None:
    """The client shows them as 0x7878; rows that were copied, or set to what they are, kept that text."""
    ask("create table t (id int primary key, b varbinary(4), f bit(8)) engine=ndb;")
    ask("insert into t values (1, repeat('x', 4), 5);")
    assert ask("insert into t select id + 1, b, f from t;").startswith("Query OK, 1 row affected")
    assert ask("update t set b = b, f = f where id = 2;").startswith("Query OK")
    assert ask("create table copied engine=ndb as select * from t;").startswith("Query OK, 2 rows affected")
    expected = [["1", "0x78787878", "0x05"], ["2", "0x78787878", "0x05"]]
    assert cells(ask("select * from t order by id;")) == expected
    assert cells(ask("select id, b, f from copied order by id;")) == expected


def test_full_memory_refuses_what_needs_room_and_takes_the_rest(begun: Callable[[str], LiveCluster]) -> None:
    """Recorded: changes and deletes of rows go on; a new table is 625 on 8.4.8 and made on 7.4.10."""
    said = {}
    for version in ("8.4.8", "7.4.10"):
        plan = two_by_two(version)
        for name, value in (("DataMemory", "64M"), ("IndexMemory", "2G" if version < "8" else None)):
            plan = set_parameter(plan, "data_node", name, value)
        table = plan.tables[0]
        key = table.primary_key[0]
        cluster = LiveCluster.begin(plan, hours=0.2)
        cluster.advance(5.0)
        consoles = Consoles(cluster)

        def ask(line: str, consoles: Consoles = consoles) -> str:
            return consoles.answer(f"mysql> {line}")

        ask(f"use {table.database};")
        known = cells(ask(f"select {key} from {table.name} limit 1;"))[0][0]
        assert ask(f"delete from {table.name} where {key} = {known};").startswith("Query OK, 1 row affected")
        assert ask(f"insert into {table.name} ({key}) values (987654321);").startswith("ERROR 1114 (HY000)")
        said[version] = ask("create table later (a int primary key) engine=ndb;")[:24]
    assert said == {"8.4.8": "ERROR 1005 (HY000): Can'", "7.4.10": "Query OK, 0 rows affecte"}


@pytest.mark.parametrize(
    ("kind", "least", "most", "most_unsigned"),
    [
        ("tinyint", -128, 127, 255),
        ("smallint", -32768, 32767, 65535),
        ("mediumint", -8388608, 8388607, 16777215),
        ("int", -2147483648, 2147483647, 4294967295),
        ("bigint", -9223372036854775808, 9223372036854775807, 18446744073709551615),
    ],
)
def test_whole_numbers_have_the_limits_of_the_manual(
    kind: str, least: int, most: int, most_unsigned: int
) -> None:
    """Source: MySQL manual, Integer Types."""
    assert limits(Column(name="c", type=kind)) == (least, most)
    assert limits(Column(name="c", type=kind, unsigned=True)) == (0, most_unsigned)


def test_a_column_of_single_precision_is_shown_with_six_digits_and_reckoned_with_as_it_is(ask: Ask) -> None:
    """Source: manual, Problems with Floating-Point Values; Field_float::val_str (FLT_DIG), val_real."""
    ask("create table c (id int primary key, x float) engine=ndb")
    ask("insert into c values (1, 1.1), (2, 16777217), (3, 123456.789)")

    def values(listed: str, behind: str) -> list[str]:
        return cells(ask(f"select {listed} {behind}"))[0]

    of_one = "from c where id=1 group by x"
    assert values("x, max(x), concat(x), coalesce(x, x), if(1, x, x)", of_one) == ["1.1"] * 5
    single = "1.100000023841858"
    assert values("x+0, sum(x), ifnull(x, 0), -x, x=1.1, round(x, 1), x*10", of_one) == [
        single, single, single, f"-{single}", "0", "1.1", "11.000000238418579",
    ]  # fmt: skip
    assert values("x, x+0, cast(x as decimal(12,4))", "from c where id=2") == [
        "16777200", "16777216", "16777216.0000",
    ]  # fmt: skip
    assert values("x, x+0", "from c where id=3") == ["123457", "123456.7890625"]
    assert ask("select id from c where x=123456.789").startswith("Empty set")
    assert values("cast(1/3 as float), cast(1/3 as float)+0", "") == ["0.333333", "0.3333333432674408"]


def test_days_and_times_are_taken_and_compared_in_every_form(ask: Ask) -> None:
    """Source: sql-common/my_time.cc; a text that is no moment is an error beside one from 8.0.16 on."""
    ask("create table m (id int primary key, d date, t datetime, c time, s timestamp(3) null) engine=ndb")
    rows = "(1, '98-2-3', 19980203, '1 2:3', 19980203101112), (2, 20240131, '2024.1.31 1.2.3', 1234, null)"
    assert ask(f"insert into m values {rows}").startswith("Query OK, 2 rows affected")
    shown = ask("select * from m order by id")
    assert "|  1 | 1998-02-03 | 1998-02-03 00:00:00 | 26:03:00 | 1998-02-03 10:11:12.000 |" in shown
    assert "|  2 | 2024-01-31 | 2024-01-31 01:02:03 | 00:12:34 | NULL                    |" in shown
    for condition in (
        "d = t",
        "t = '98-2-3'",
        "d < '1998-02-03 10:00'",
        "d in ('98.2.3')",
        "hour(d) = hour(t)",
    ):
        assert "\n|  1 |\n" in ask(f"select id from m where id = 1 and {condition}"), condition
    assert "| 20240131 | 20240131010203 |" in ask("select d + 0, t + 0 from m where id = 2")
    assert ask("select id from m where d = 'x'") == "ERROR 1525 (HY000): Incorrect DATE value: 'x'\n"
    for column, value, kind in (("s", "2038-01-19 03:14:08", "datetime"), ("c", "10:61", "time")):
        assert ask(f"insert into m (id, {column}) values (3, '{value}')") == (
            f"ERROR 1292 (22007): Incorrect {kind} value: '{value}' for column '{column}' at row 1\n"
        )


def test_partitions_take_numbers_of_32_bits_and_ignore_leaves_out_what_none_takes(ask: Ask) -> None:
    """Source: the product's own tests (ndb_partition_error); the highest number stands for MAXVALUE."""
    told = "ERROR 1523 (HY000): The NDB handler only supports 32 bit integers in VALUES\n"
    create = "create table q (id int primary key) engine=ndb partition by"
    for clause in (
        "list(id) (partition p values in (2147483648))",
        "list(id) (partition p values in (-2147483649))",
        "range(id) (partition p values less than (2147483647))",
    ):
        assert ask(f"{create} {clause}") == told
    assert "OK" in ask(f"{create} list(id) (partition p values in (2147483647, -2147483648))")
    assert "1 row affected, 1 warning" in ask("insert ignore into q values (1), (2147483647)")
    assert "| Warning | 1526 | Table has no partition for value 1 |" in ask("show warnings")


@pytest.mark.parametrize("version", ["8.4.8", "7.4.10"])
def test_numbers_go_by_steps(version: str, begun: Callable[[str], LiveCluster]) -> None:
    """Manual 8.4, auto_increment_increment: an offset beyond the step is not looked at."""
    cluster, client = begun(version), Client()
    client.answer("use test; create table n (id int auto_increment primary key, a int) engine=ndb", cluster)
    for line in (
        "insert into n (a) values (1), (2)",
        "set auto_increment_increment = 10, auto_increment_offset = 5; insert into n (a) values (3), (4)",
        "set auto_increment_offset = 50; insert into n (a) values (5); insert into n values (30, 6), (0, 7)",
    ):
        assert "ERROR" not in client.answer(line, cluster)
    found = client.answer("select id from n order by 1", cluster)
    assert re.findall("[0-9]+", found.partition("rows")[0])[:-1] == ["1", "2", "5", "15", "21", "30", "31"]
    assert "|               31 |" in client.answer("select last_insert_id()", cluster)


@pytest.mark.parametrize(("version", "end"), [("8.4.8", "KEY column. "), ("7.4.10", "KEY column")])
def test_safe_updates_ask_for_a_key(version: str, end: str, begun: Callable[[str], LiveCluster]) -> None:
    cluster, client = begun(version), Client()
    client.answer(
        "use test; create table s (id int primary key, a int, b varchar(9), key (b)) engine=ndb; "
        "insert into s values (1, 1, 'x'), (2, 2, 'y'); set sql_safe_updates = 1", cluster
    )  # fmt: skip
    for where in ("", " where a = 1", " where id + 0 = 1", " where b like '%x'", " where id = 1 or a = 2"):
        for line in (f"update s set a = 5{where}", f"delete from s{where}"):
            said = client.answer(line, cluster)
            assert said.startswith("ERROR 1175 (HY000): You are using safe update mode"), line
            assert said.endswith(f"{end}\n"), line
    for where in (" where id = 1", " where id > 0 and a = 1", " where b = 'x' or b in ('z')", " limit 1"):
        assert client.answer(f"update s set a = a{where}", cluster).startswith("Query OK"), where


def test_an_update_sets_defaults(cluster: LiveCluster) -> None:
    client = Client()
    client.answer(
        "use test; create table d (id int primary key, a int default 7, b varchar(9) default 'x', c int, "
        "n int not null) engine=ndb; insert into d values (1, 1, 'y', 1, 1)", cluster
    )  # fmt: skip
    assert client.answer("update d set a = default, b = DEFAULT, c = default", cluster).startswith("Query OK")
    assert "|  1 |    7 | x    | NULL | 1 |" in client.answer("select * from d", cluster)
    said = client.answer("update d set n = default", cluster)
    assert said == "ERROR 1364 (HY000): Field 'n' doesn't have a default value\n"
