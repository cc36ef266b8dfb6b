"""Time goes back into the middle of what a console did: it goes on from there, as it did."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from attack.lines import MGM, OTHER, SQL, lines
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

from .test_live import known

_RESTORE = "ndb_restore -b 1 --include-tables=test.blobs_1k -n 3"
_LINES = (
    f"data1$ {_RESTORE} -m -r",
    "data2$ iostat -kx 2 4",
    "data1$ ndb_waiter --not-started -t 7",
    "ndb_mgm> START BACKUP",
    "ndb_mgm> 4 STOP",
    "ndb_mgm> 6 RESTART",
    "ndb_mgm> ENTER SINGLE USER MODE 49",
    "mysql> SELECT SLEEP(6); USE test; INSERT INTO blobs_5k (id) VALUES (7000001); SELECT LAST_INSERT_ID();",
    "mysql> ALTER TABLE test.blobs_5k ADD COLUMN more INT, ALGORITHM=COPY; CREATE DATABASE behind;",
    "mysql> ALTER TABLE test.blobs_5k ALGORITHM=COPY, REORGANIZE PARTITION; CREATE DATABASE behind;",
    "mysql> OPTIMIZE TABLE test.blobs_5k; DROP TABLE test.blobs_5k;",
    "mysql> CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.t (x INT PRIMARY KEY) ENGINE=NDB; DROP SCHEMA b",
)

_SHORT = ("mysql> CREATE", "mysql> OPTIMIZE")
"""Of these the next statement may begin at the very moment."""


def _whole(consoles: Consoles) -> tuple[object, ...]:
    cluster = consoles.cluster
    state = cluster.state
    rows = [cluster.rows_of(table) for table in cluster.plan.tables]
    sessions = (state.of_servers, dict(state.transactions), dict(state.waits), dict(state.killed))
    return (*known(cluster), state.ids, state.contents, state.databases, cluster.plan.tables, rows, sessions)


@pytest.fixture(scope="module")
def saved(begun: Callable[[str], LiveCluster]) -> Consoles:
    consoles = Consoles(begun("8.4.8"))
    for line in ("! load x0.1", "ndb_mgm> START BACKUP", "mysql> DROP TABLE test.blobs_1k;"):
        consoles.answer(line)
    return consoles


@pytest.mark.parametrize("is_apart", [False, True])
@pytest.mark.parametrize("line", _LINES)
def test_what_had_ended_goes_on_from_its_middle(saved: Consoles, line: str, is_apart: bool) -> None:
    consoles = saved.on(saved.cluster.branch())
    cluster, prompt = consoles.cluster, line.split(" ", 1)[0]
    consoles.answer("! apart" if is_apart else "! apart off")
    begin_s = cluster.now_s
    said = consoles.answer(line)
    while cluster.looks:
        cluster.advance(0.1)
    told = said + "".join(text for _, text in consoles.news())
    cluster.advance(1.0)
    end_s, whole = cluster.now_s, _whole(consoles)
    assert end_s > begin_s + 1.1
    for share in (0.1, 0.5, 0.9):
        back_s = round(max(begin_s + 0.1, begin_s + share * (end_s - 1.0 - begin_s)), 1)
        cluster.rewind(back_s)
        if not line.startswith(_SHORT):
            assert "has been at this for" in consoles.answer(f"{prompt} select 1")
        cluster.advance(end_s - back_s)
        assert _whole(consoles) == whole
        again = consoles.news()
        assert {one for one, _ in again} == {prompt}
        assert told.endswith("".join(text for _, text in again))


def test_another_deed_in_the_middle_of_a_restore_is_felt_by_it(saved: Consoles) -> None:
    consoles = saved.on(saved.cluster.branch())
    begin_s = consoles.cluster.now_s
    assert "restore successful" in consoles.answer(f"data1$ {_RESTORE} -m -r")
    end_s = consoles.cluster.now_s
    consoles.answer(f"! rewind to {(begin_s + end_s) / 2:.1f}s")
    for node in consoles.cluster.plan.data_nodes:
        consoles.answer(f"! kill node:{node.node_id}")
    assert "Failed to restore BACKUP-1" in consoles.answer("! wait 30s")


def test_a_session_is_what_it_was_before_the_moment_gone_back_to(saved: Consoles) -> None:
    consoles = saved.on(saved.cluster.branch())
    for line in ("mysql> USE test; SET @x = 1;", "! wait 5s", "data1$ ls /nowhere", "! wait 5s"):
        consoles.answer(line)
    at_s = consoles.cluster.now_s
    for line in ("mysql> USE ndbinfo; SET @x = 2;", "data1$ df -h", "data3$ tail -f /var/lib/x", "! wait 5s"):
        consoles.answer(line)
    consoles.answer(f"! rewind to {at_s:.1f}s")
    assert "| test       |    1 |" in consoles.answer("mysql> SELECT DATABASE(), @x;")
    assert consoles.answer("data1$ echo $?") == "2\n"


def test_a_client_that_lost_its_server_tells_no_event_twice(saved: Consoles) -> None:
    consoles = saved.on(saved.cluster.branch())
    consoles.is_apart = True
    for line in ("ndb_mgm> SHOW", "! kill node:4", "! wait 5s", "ndb_mgm> ", "ndb_mgm> ^C", "! wait 5s"):
        consoles.answer(line)
    at_s = consoles.cluster.now_s
    consoles.answer("! wait 5s")
    consoles.answer(f"! rewind to {at_s:.1f}s")
    assert consoles.answer("ndb_mgm> ") == ""


_OTHERS = (
    "! kill node:4", "! hang node:6", "! fail host:data3", "! restore host:data3", "! start node:4", "! heal",
    "ndb_mgm> START BACKUP", "ndb_mgm> 3 RESTART", "data1$ iostat -kx 1 4",
    "mysql2> SELECT SLEEP(3); SELECT 1",
    "mysql> ALTER TABLE test.blobs_5k ADD COLUMN x INT, ALGORITHM=COPY", "data1$ ndb_waiter -t 20",
)  # fmt: skip


_OF_SERVERS = (
    "mysql> LOCK TABLES test.blobs_5k AS a READ", "mysql> LOCK TABLES test.blobs_5k WRITE, test.g AS x READ",
    "mysql2> LOCK TABLES test.blobs_5k READ", "mysql> UNLOCK TABLES", "mysql2> UNLOCK TABLES", "mysql> BEGIN",
    "mysql2> FLUSH TABLES WITH READ LOCK", "mysql2> BEGIN", "mysql> COMMIT", "mysql2> ROLLBACK",
    "mysql2> UPDATE test.blobs_5k SET id = 7000002 WHERE id = 7000001", "mysql2> ^C", "mysql> KILL 9",
    "mysql3> INSERT INTO test.blobs_5k (id) VALUES (7000001)", "mysql3> SELECT COUNT(*) FROM test.blobs_5k",
    "mysql> SET GLOBAL lock_wait_timeout = 3", "mysql2> SET PERSIST max_connections = 200",
    "mysql2> SELECT @@global.lock_wait_timeout, @@lock_wait_timeout, @@max_connections", "mysql3> quit",
    "mysql> CREATE TABLE test.g (a INT PRIMARY KEY, b INT AS (a * 2) STORED, CHECK (a > 1)) ENGINE=NDB",
    "mysql> INSERT INTO test.g (a) VALUES (1)", "mysql3> INSERT INTO test.g (a) VALUES (2)",
    "mysql3> UPDATE test.g SET a = a + 1", "mysql2> DROP TABLE test.g", "mysql> SELECT * FROM test.g AS x",
    "mysql2> SHOW PROCESSLIST", "! kill node:49", "! start node:49",
)  # fmt: skip
"""What SQL nodes keep for their sessions: locked tables, variables of all, rows that are checked."""


@pytest.mark.parametrize(
    ("seed", "others", "share"),
    [*((seed, _OTHERS, 0.3) for seed in range(4)), *((seed, _OF_SERVERS, 0.95) for seed in range(4, 12))],
)
def test_any_lines_after_any_moment_give_the_same_answers_again(
    saved: Consoles, seed: int, others: tuple[str, ...], share: float
) -> None:
    pick = Random(seed)
    consoles = saved.on(saved.cluster.branch())
    cluster, consoles.is_apart = consoles.cluster, True
    cluster.apart = seed % 2 == 0
    drawn = {prompt: lines(prompt, pick) for prompt in (MGM, SQL, OTHER, "data1$", "app1$")}
    typed, begin_s = list[tuple[float, str, str]](), cluster.now_s
    for _ in range(30):
        consoles.passes(pick.choice([0.1, 1.0, 3.3, 8.0]))
        prompt = pick.choice(list(drawn))
        line = pick.choice(others) if pick.random() < share else f"{prompt} {next(drawn[prompt])}"
        typed.append((cluster.now_s, line, consoles.answer(line)))
        consoles.news()
    cluster.advance(3.0)
    end_s, whole = cluster.now_s, _whole(consoles)
    back_s = round(pick.uniform(begin_s, end_s), 1)
    cluster.rewind(back_s)
    assert cluster.now_s == pytest.approx(back_s)
    for at_s, line, answer in typed:
        if at_s >= back_s - 1e-9:
            cluster.advance(at_s - cluster.now_s)
            assert consoles.answer(line) == answer, line
            consoles.news()
    cluster.advance(end_s - cluster.now_s)
    assert _whole(consoles) == whole
