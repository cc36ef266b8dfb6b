"""Two sessions of the mysql client on one cluster: locks, waits, what each sees, and how they end.

Answers: recorded on running 8.4.8 and 7.4.10 clusters; times as TransactionDeadlockDetectionTimeout says.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.terminal import Terminal

Say = Callable[[str], str]
LOCKED = "ERROR 1205 (HY000): Lock wait timeout exceeded; try restarting transaction\n"
WAITS = "(it waits for what mysql> has locked"
LOST = "Transaction rolled back and must be restarted"


def beginning(cluster: LiveCluster) -> Consoles:
    found = Consoles(cluster)
    found.answer(
        "mysql> use test; create table t (id int primary key, k int, unique key k (k)) engine=ndb; "
        "insert into t values (1,1),(2,2),(3,3)"
    )
    found.answer("mysql2> use test")
    return found


@pytest.fixture
def consoles(cluster: LiveCluster) -> Consoles:
    return beginning(cluster)


@pytest.fixture
def say(consoles: Consoles) -> Say:
    return consoles.answer


def values(answer: str) -> list[list[str]]:
    rows = [line for line in answer.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1:]]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("update t set k=12 where id=1", 266),
        ("delete from t where id=1", 266),
        ("insert into t values (1,9)", 266),
        ("select * from t where id=1 for update", 266),
        ("select * from t where id=1 for update nowait", 266),
        ("select * from t where id=1 lock in share mode", 266),
        ("select count(*) from t where k<100 for update", 274),
        ("update t set k=k+100 where k<100", 274),
        ("replace into t values (1,9)", 266),
        ("insert into t values (9,11)", 266),
    ],
)
def test_a_row_that_another_session_changes_is_waited_for(
    line: str, code: int, say: Say, consoles: Consoles
) -> None:
    say("mysql> begin; update t set k=11 where id=1")
    begin_s = consoles.cluster.now_s
    assert say(f"mysql2> {line}").startswith(WAITS)
    assert consoles.cluster.now_s == begin_s, "time passes as somebody lets it"
    assert say("mysql2> select 1").startswith("ndbplan: mysql2> has waited")
    assert LOCKED not in say("! wait 1.1s")
    assert say("! wait 1.2s").endswith(f"(mysql2> waited)\n{LOCKED}")
    warned = values(say("mysql2> show warnings"))
    assert [row[1] for row in warned] == ["1297", "1205"]
    assert f"error {code} " in warned[0][2]
    assert values(say("mysql> select k from t where id=1")) == [["11"]], "the other goes on"


def test_reads_never_wait_and_see_what_is_committed(say: Say) -> None:
    say("mysql> begin; update t set k=11 where id=1; insert into t values (4,4); delete from t where id=2")
    assert values(say("mysql2> select * from t order by id")) == [["1", "1"], ["2", "2"], ["3", "3"]]
    assert values(say("mysql2> select count(*) from t")) == [["3"]]
    assert values(say("mysql> select * from t order by id")) == [["1", "11"], ["3", "3"], ["4", "4"]]
    assert say("mysql2> update t set k=33 where id=3").startswith("Query OK, 1 row"), "another row"
    say("mysql> commit")
    assert values(say("mysql2> select * from t order by id")) == [["1", "11"], ["3", "33"], ["4", "4"]]


def test_who_waits_goes_on_with_what_was_committed(say: Say) -> None:
    say("mysql> begin; update t set k=11 where id=1")
    say("mysql2> update t set k=k+100 where id=1; select k from t where id=1")
    say("! wait 0.5s")
    said = say("mysql> commit")
    assert said.startswith(
        "Query OK, 0 rows affected (0.00 sec)\n(mysql2> waited)\nQuery OK, 1 row affected (0.50"
    )
    assert values(said) == [["111"]], "the rest of the line follows"


def test_rows_of_others_that_are_rolled_back_were_never_there(say: Say) -> None:
    say("mysql> begin; delete from t where id=1; insert into t values (7,7)")
    assert say("mysql2> insert into t values (1,5)").startswith(WAITS)
    assert "ERROR 1062" in say("mysql> rollback")
    assert values(say("mysql2> select id from t order by id")) == [["1"], ["2"], ["3"]]


def test_readers_that_lock_share(say: Say) -> None:
    say("mysql> begin; select * from t where id=1 lock in share mode")
    assert values(say("mysql2> select k from t where id=1 for share")) == [["1"]]
    assert say("mysql2> update t set k=5 where id=1").startswith(WAITS)


def test_of_two_that_wait_for_one_another_the_first_is_given_up(say: Say) -> None:
    say("mysql> begin; update t set k=21 where id=2")
    say("mysql2> begin; update t set k=31 where id=3")
    assert say("mysql> update t set k=32 where id=3").startswith("(it waits for what mysql2> has")
    say("! wait 0.3s")
    assert say("mysql2> update t set k=22 where id=2").startswith(WAITS)
    said = say("! wait 3s")
    assert f"(mysql> waited)\n{LOCKED}(mysql2> waited)\nQuery OK, 1 row affected" in said
    assert LOST in say("mysql> show warnings")
    assert say("mysql> commit").startswith("Query OK"), "and commits nothing"
    say("mysql2> commit")
    assert values(say("mysql> select k from t order by id")) == [["1"], ["22"], ["31"]]


def test_after_an_error_a_session_is_in_a_transaction_still(say: Say) -> None:
    say("mysql> begin; update t set k=11 where id=1; insert into t values (2,2)")
    assert LOST in say("mysql> show warnings")
    say("mysql> update t set k=12 where id=1")
    assert values(say("mysql2> select k from t where id=1")) == [["1"]]
    say("mysql> rollback")
    assert values(say("mysql> select k from t where id=1")) == [["1"]]


def test_without_autocommit_every_statement_is_in_a_transaction(say: Say) -> None:
    say("mysql> set autocommit=0; update t set k=11 where id=1")
    assert say("mysql2> update t set k=12 where id=1").startswith(WAITS)
    assert "Query OK, 1 row" in say("mysql> set autocommit=1"), "it commits"
    assert values(say("mysql2> select k from t where id=1")) == [["12"]]


@pytest.mark.parametrize("end", ["mysql> quit", "! kill node:101"])
def test_a_session_that_ends_lets_its_locks_go(end: str, say: Say, consoles: Consoles) -> None:
    node = consoles.cluster.plan.sql_nodes[0]
    say("mysql> begin; update t set k=11 where id=1")
    say(end.replace("101", str(node.node_id)))
    assert consoles.cluster.state.transactions == {}
    if end.startswith("!"):
        assert say("mysql> select 1") == "ERROR 2013 (HY000): Lost connection to MySQL server during query\n"
        say(f"! start node:{node.node_id}")
        say("! wait 60s")
    assert say("mysql2> update t set k=12 where id=1").startswith("Query OK, 1 row")


def test_a_data_node_that_fails_takes_open_transactions_with_it(say: Say, consoles: Consoles) -> None:
    say("mysql> begin; update t set k=11 where id=1")
    say("mysql2> begin")
    assert say("mysql2> update t set k=12 where id=1").startswith(WAITS)
    said = say(f"! kill node:{consoles.cluster.plan.data_nodes[0].node_id}") + say("! wait 0.5s")
    assert "(mysql2> waited)\nQuery OK, 1 row affected" in said, "what waited goes on"
    assert say("mysql> update t set k=13 where id=3").startswith(
        "ERROR 1297 (HY000): Got temporary error 286"
    )
    assert LOST in say("mysql> show warnings")
    assert say("mysql> commit").startswith("Query OK")


def test_a_commit_that_is_lost_says_so_once_more(begun: Callable[[str], LiveCluster]) -> None:
    for version, told in (
        ("7.4.10", "Got error 286 during COMMIT"),
        ("8.4.8", "286 - 'Unknown error 286' dur"),
    ):
        say = beginning(cluster := begun(version)).answer
        say("mysql> begin; update t set k=11 where id=1")
        say(f"! kill node:{cluster.plan.data_nodes[0].node_id}")
        assert say("mysql> commit").startswith("ERROR 1297 (HY000): Got temporary error 286")
        warned = values(say("mysql> show warnings"))
        assert [row[1] for row in warned] == ["1297", "1297", "1180"]
        assert told in warned[2][2]
        assert cluster.state.transactions == {}


def test_a_table_in_use_is_not_altered(say: Say) -> None:
    say("mysql> begin; select * from t where id=1")
    assert say("mysql2> alter table t add column c int").startswith(WAITS)
    assert say("mysql3> select count(*) from test.t").startswith("(it waits for what mysql2> has")
    assert say("! wait 30s").count("waited") == 0
    assert "(mysql2> waited)" not in say("mysql> commit"), "it begins now, beside those that read"
    said = say("! wait 1s")
    assert said.count("waited") == 1
    assert "(30." in said.partition("(mysql2> waited)")[2]
    assert values(say("mysql> select c from t where id=1")) == [["NULL"]]
    say("mysql2> set lock_wait_timeout=5")
    say("mysql> begin; select * from t where id=1")
    say("mysql2> drop table t")
    assert say("! wait 6s").endswith(f"(mysql2> waited)\n{LOCKED}")


def test_at_a_terminal_the_answer_comes_with_the_clock(cluster: LiveCluster) -> None:
    beginning(cluster)
    terminal = Terminal(cluster, speed=1.0)
    terminal.line("mysql> use test; begin; update t set k=11 where id=1", 0.0)
    assert terminal.line("mysql2>", 0.0) == ""
    assert terminal.line("use test", 0.0) == "Database changed\n"
    assert terminal.line("update t set k=12 where id=1", 0.0).startswith(WAITS)
    assert terminal.line("", 0.5) == ""
    assert terminal.line("", 2.0) == f"(mysql2>)\n{LOCKED}", "an empty line asks for news"


def test_locks_are_told_of_where_they_are(say: Say) -> None:
    say("mysql> begin; update t set k=11 where id=1")
    say("mysql2> delete from t where id=1")
    say("! wait 0.5s")
    asks = "select mode, state, op, duration_millis, lock_num, waiting_for from ndbinfo.{}_locks"
    holds, waits = values(say(f"mysql3> {asks.format('cluster')}"))
    assert holds[:3] == ["X", "H", "UPDATE"]
    assert waits[:2] == ["X", "W"]
    assert waits[3] == holds[3] == "500"
    assert waits[5] == holds[4], "it waits for that lock"
    assert values(say(f"mysql3> {asks.format('server')}")) == [holds, waits]
    counts = "select count_operations, outstanding_operations from ndbinfo.cluster_transactions"
    assert values(say(f"mysql3> {counts}")) == [["1", "0"], ["0", "1"]]
    listed = [row[4:] for row in values(say("mysql3> show processlist"))[-3:]]
    assert [row[2] for row in listed] == ["", "updating", "init"]
    assert listed[1][3] == "delete from t where id=1"
    say("mysql> rollback")
    assert say(f"mysql3> {asks.format('cluster')}").startswith("Empty set")


def test_an_idle_transaction_is_given_up(begun: Callable[[str], LiveCluster]) -> None:
    cluster = begun("8.4.8")
    plan = cluster.plan.replace(
        parameters=cluster.plan.parameters.model_copy(
            update={"data_node": {**cluster.plan.parameters.data_node, "TransactionInactiveTimeout": 8000}}
        )
    )
    say = beginning(LiveCluster.begin(plan, hours=0.1)).answer
    say("mysql> begin; update t set k=11 where id=1")
    say("! wait 9s")
    assert say("mysql2> update t set k=12 where id=1").startswith("Query OK, 1 row")
    assert say("mysql> commit") == LOCKED
    assert "Got error 146" in say("mysql> show warnings")


LINES = (
    "begin", "commit", "rollback", "update t set k=k+10 where id={i}", "delete from t where id={i}",
    "insert into t values ({i},{i})", "select * from t where id={i} for update",
    "select * from t order by id", "select * from t where k>1 lock in share mode", "update t set k=k+1",
    "set autocommit=0", "set autocommit=1", "replace into t values ({i},7)", "quit", "use test",
    "select count(*) from t",
)  # fmt: skip


def drawn(seed: int) -> list[str]:
    random_ = random.Random(seed)
    lines = []
    for _ in range(60):
        if random_.random() < 0.25:
            lines.append(f"! wait {random_.choice((0.1, 0.4, 1, 2.5))}s")
        else:
            line = random_.choice(LINES).format(i=random_.randrange(1, 6))
            lines.append(f"mysql{random_.choice(('', '2', '3'))}> {line}")
    return ["mysql3> use test", *lines]


@pytest.mark.parametrize("seed", range(6))
def test_how_time_is_cut_and_what_is_rewound_changes_no_answer(
    seed: int, begun: Callable[[str], LiveCluster]
) -> None:
    """The same lines give the same bytes: at once, in other pieces of time, and after going back."""
    lines = drawn(seed)
    one = beginning(begun("8.4.8"))
    said = [one.answer(line) for line in lines]
    other = beginning(begun("8.4.8"))
    again = []
    for line in lines:
        wait = re.fullmatch(r"! wait ([0-9.]+)s", line)
        if wait is None:
            again.append(other.answer(line))
        else:
            parts = [other.answer("! wait 0.1s") for _ in range(round(float(wait[1]) * 10))]
            late = "".join(part.partition("\n")[2] for part in parts)
            again.append(parts[-1].partition("\n")[0] + "\n" + late)
    assert again == said
    assert other.cluster.state == one.cluster.state
    now_s, state = one.cluster.now_s, one.cluster.state
    one.cluster.advance(5.0)
    one.cluster.rewind(now_s + 0.1)
    other.cluster.advance(0.1)
    assert one.cluster.state.transactions == other.cluster.state.transactions
    assert one.cluster.state.contents == other.cluster.state.contents == state.contents


@pytest.mark.parametrize("seed", range(6))
def test_no_change_of_a_row_is_lost_and_none_is_made_twice(
    seed: int, begun: Callable[[str], LiveCluster]
) -> None:
    """Sums are kept: what sessions add in transactions that commit is what is there in the end."""
    random_ = random.Random(seed)
    consoles = beginning(begun("8.4.8"))
    say = consoles.answer
    say(
        "mysql> create table s (id int primary key, n int) engine=ndb; insert into s values (1,0),(2,0),(3,0)"
    )
    added, open_ = 0, {1: 0, 2: 0, 3: 0}
    say("mysql3> use test")
    for number in open_:
        say(f"mysql{number if number > 1 else ''}> begin")
    for _ in range(60):
        number = random_.choice((1, 2, 3))
        prompt = f"mysql{number if number > 1 else ''}>"
        if number in consoles.cluster.state.waits:
            say("! wait 0.1s")
        elif random_.random() < 0.3:
            held = consoles.cluster.state.transactions[number]
            before = sum(int(row[0]) for row in values(say(f"{prompt} select sum(n) from s")))
            mine = sum(int(row[0]) for row in values(say("mysql9> select sum(n) from test.s")))
            added += (before - mine) if held.deltas else 0
            say(f"{prompt} commit")
            say(f"{prompt} begin")
        else:
            say(f"{prompt} update s set n=n+1 where id={random_.randrange(1, 4)}")
        assert values(say("mysql9> select sum(n) from test.s")) == [[str(added)]]


def test_kill_ends_a_statement_that_waits_or_a_connection(say: Say, consoles: Consoles) -> None:
    """Texts: the manual, KILL and automatic reconnection of the client."""
    say("mysql> begin; update t set k=11 where id=1")
    assert WAITS in say("mysql2> update t set k=12 where id=1")
    assert values(say("mysql2> select connection_id()")) == []
    shown = values(
        say("mysql> select id, info from information_schema.processlist where info like 'update%'")
    )
    assert shown == [["30", "update t set k=12 where id=1"]]
    said = say("mysql> kill query 30")
    assert "ERROR 1317 (70100): Query execution was interrupted" in said
    assert values(say("mysql2> select connection_id()")) == [["30"]]
    say("mysql2> begin; update t set k=13 where id=2; set @x = 1")
    assert say("mysql> kill 30").startswith("Query OK")
    assert "gone away" not in say("mysql> select 1")
    said = say("mysql2> select @x, k from t where id = 2")
    assert said.startswith(
        "ERROR 2006 (HY000): MySQL server has gone away\nNo connection. Trying to reconnect"
    )
    assert "Current database: test" in said
    assert values(said) == [["NULL", "2"]]
    assert values(say("mysql2> select connection_id()")) == [["112"]]
    assert say("mysql> kill 30") == "ERROR 1094 (HY000): Unknown thread id: 30\n"
    assert WAITS in say("mysql2> update t set k=12 where id=1")
    assert "Lost connection to MySQL server" in say("mysql> kill connection 112")
    assert say("mysql> kill 8") == "ERROR 1317 (70100): Query execution was interrupted\n"
    assert values(say("mysql2> update t set k=14 where id=1; select k from t where id=1")) == [["14"]]
    consoles.cluster.rewind(consoles.cluster.now_s)
    assert "not simulated" in say("mysql> kill 2")


@pytest.mark.parametrize(("version", "daemons"), [("8.4.8", ["2", "6"]), ("7.4.10", ["1"])])
def test_sessions_that_do_nothing_are_listed_each_with_its_database(
    version: str, daemons: list[str], begun: Callable[[str], LiveCluster]
) -> None:
    """Recorded on both: Sleep, the seconds since the last statement, no state and no statement."""
    cluster = begun(version)
    consoles = Consoles(cluster)
    say = consoles.answer

    def listed() -> list[list[str]]:
        rows = values(say("mysql> show processlist"))
        assert [row[0] for row in rows[: len(daemons)]] == daemons
        assert {row[4] for row in rows[: len(daemons)]} == {"Daemon"}
        return [[row[0], *row[3:]] for row in rows[len(daemons) :]]

    own = ["8", "NULL", "Query", "0", "init", "show processlist"]
    assert listed() == [own]
    say("mysql> create database d1")
    say("mysql2> use d1; select 1")
    say("mysql3> select nosuch")
    cluster.advance(11.0)
    two, three = ["30", "d1", "Sleep", "11", "", "NULL"], ["31", "NULL", "Sleep", "11", "", "NULL"]
    assert listed() == [own, two, three]
    other = consoles.on(cluster.branch())
    assert "| d1   | Sleep   |" in other.answer("mysql> show processlist")
    say("mysql3> quit")
    assert listed() == [own, two]
    say("mysql> kill 30")
    assert listed() == [own], "gone until its next line"
    say("mysql2> select 1")
    assert [row[1:3] for row in listed()] == [own[1:3], ["d1", "Sleep"]]
    cluster.rewind(cluster.now_s - 5.0)
    assert {row[3] for row in listed()} <= {"0", "6"}


def test_a_change_of_the_schema_goes_on_when_somebody_goes_back_into_it(cluster: LiveCluster) -> None:
    """Its session is at it for others, it comes to its end, and nobody else changes the schema meanwhile."""
    consoles = Consoles(cluster)
    name = cluster.plan.tables[0].full_name
    begin_s = cluster.now_s
    said = consoles.answer(f"mysql> alter table {name} add column more int not null, algorithm=copy")
    assert said.startswith("Query OK")
    end_s = cluster.now_s
    assert end_s > begin_s + 10.0
    assert cluster.plan.tables[0].columns[-1].name == "more"
    cluster.rewind(begin_s + 5.0)
    assert cluster.plan.tables[0].columns[-1].name != "more"
    shown = values(consoles.answer("mysql2> show processlist"))
    assert ["8", "Query", "5", "copy to tmp table"] in [[row[0], row[4], row[5], row[6]] for row in shown]
    made = "mysql2> create table test.x (a int primary key) engine=ndb"
    assert "SHOW PROCESSLIST tells of it" in consoles.answer(made)
    assert "goes on here" in consoles.answer("mysql2> kill 8")
    cluster.advance(end_s - cluster.now_s)
    assert cluster.plan.tables[0].columns[-1].name == "more"
    after = values(consoles.answer("mysql2> show processlist"))
    assert [row[4] for row in after] == [{"8": "Sleep"}.get(row[0], row[4]) for row in shown]
    assert consoles.answer("mysql2> create table test.x (a int primary key) engine=ndb").startswith(
        "Query OK"
    )
    cluster.rewind(begin_s + 5.0)
    for node in cluster.plan.data_nodes:
        consoles.answer(f"! kill node:{node.node_id}")
    cluster.advance(end_s - cluster.now_s)
    assert cluster.plan.tables[0].columns[-1].name != "more"


def test_tables_are_locked_for_sessions_of_the_server(consoles: Consoles, say: Say) -> None:
    """Manual 5.6 and 8.4, LOCK TABLES: what the session itself may do, and who waits."""
    assert say("mysql> lock tables t read") == "Query OK, 0 rows affected (0.00 sec)\n"
    assert values(say("mysql> select count(*) from t")) == [["3"]]
    for line, code in (
        ("update t set k = 9 where id = 1", 1099), ("delete from t", 1099), ("drop table t", 1099),
        ("select * from t for update", 1099), ("select count(*) from t for update", 1099),
        ("alter table t add column z int", 1099), ("select * from blobs_1k where id = 3", 1100),
        ("select count(*) from blobs_1k", 1100), ("create table n (a int primary key) engine=ndb", 1100),
    ):  # fmt: skip
        assert say(f"mysql> {line}").startswith(f"ERROR {code} (HY000): Table '"), line
    assert values(say("mysql2> select k from t where id = 1")) == [["1"]]
    assert say("mysql2> update t set k = 7 where id = 1").startswith(WAITS)
    assert "Query OK, 1 row affected" in say("mysql> unlock tables")
    say("mysql> lock tables t as x write, blobs_1k read")
    assert say("mysql> update t set k = 8 where id = 1").startswith("ERROR 1100 (HY000): Table 't' was not")
    assert say("mysql> update t as X set k = 8 where id = 1").startswith("Query OK, 1 row")
    assert say("mysql2> select k from t where id = 1").startswith(WAITS)
    assert "|    8 |" in say("mysql> begin") + say("! wait 1s"), "BEGIN lets go of tables"
    say("mysql> commit")


def test_tables_are_locked_by_the_names_that_statements_use(say: Say) -> None:
    """Manual, LOCK TABLES: each alias is locked of its own, and serves once in a statement."""
    say("mysql> lock tables t write, t as b read")
    for line, said in (
        ("insert into t select id + 10, k + 10 from t", "ERROR 1100 (HY000): Table 't' was not locked"),
        ("select count(*) from t as x", "ERROR 1100 (HY000): Table 'x' was not locked"),
        ("select * from t as b, t as B", "ERROR"),
        ("update t as b set k = 1", "ERROR 1099 (HY000): Table 'b' was locked with a READ lock"),
        ("insert into t select id + 10, k + 10 from t as b", "Query OK, 3 rows"),
        ("delete t from t join t as b on t.id = b.id where b.id > 11", "Query OK, 2 rows"),
        ("delete from t using t join t as b on t.id = b.id where b.id > 10", "Query OK, 1 row"),
        ("alter table t add column z int", "Query OK"),
        ("lock tables t read, t write", "ERROR 1066 (42000): Not unique table/alias: 't'"),
    ):  # fmt: skip
        assert say(f"mysql> {line}").startswith(said), line


@pytest.mark.parametrize(("version", "waits"), [("7.4.10", False), ("7.5.4", True), ("8.4.8", True)])
def test_a_read_lock_waits_for_transactions_that_have_written(
    begun: Callable[[str], LiveCluster], version: str, waits: bool
) -> None:
    """From MySQL 5.7 on (sp.cc); who has only read is not waited for."""
    say = beginning(begun(version)).answer
    say("mysql2> begin")
    say("mysql2> select * from t")
    assert say("mysql> lock tables t read").startswith("Query OK")
    say("mysql> unlock tables")
    say("mysql2> update t set k = 9 where id = 1")
    held = "(it waits for what mysql2> has locked"
    assert say("mysql> lock tables t as x read").startswith(held if waits else "Query OK")
    assert ("Query OK, 0 rows" in say("mysql2> commit").partition("waited")[2]) == waits
    assert values(say("mysql> select k from t as x where id = 1")) == [["9"]]


def test_a_global_read_lock_holds_changes_up(consoles: Consoles, say: Say) -> None:
    say("mysql> flush tables with read lock")
    assert say("mysql> insert into t values (5, 5)").startswith("ERROR 1223 (HY000): Can't execute the query")
    assert values(say("mysql2> select count(*) from t")) == [["3"]]
    assert say("mysql2> insert into t values (5, 5)").startswith(WAITS)
    end = say("mysql> quit") + say("! wait 1s")
    assert "Query OK, 1 row affected" in end, "the locks of a session end with it"
    for line, said in (
        ("lock tables nosuch read", "ERROR 1146 (42S02): Table 'test.nosuch' doesn't exist"),
        ("lock tables", "ERROR 1064"), ("lock tables t", "ERROR 1064"), ("unlock tables", "Query OK"),
    ):  # fmt: skip
        assert say(f"mysql2> {line}").startswith(said), line
