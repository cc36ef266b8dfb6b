"""What SQL nodes and ndbinfo tell of lost nodes, as clusters of 7.4.10 and 8.4.8 were recorded."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

MEMBERS = "mysql> SELECT node_id, succession_order, right_node, arb_state, arb_ticket FROM ndbinfo.membership"
WAYS = (
    "mysql> SELECT remote_node_id, status, connect_count FROM ndbinfo.transporters WHERE node_id = 3 "
    "AND remote_node_id IN (1, 4, 49)"
)


def rows(answer: str) -> list[list[str]]:
    found = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in answer.splitlines() if "|" in line
    ]
    return found[1:]


def test_a_node_that_joins_again_is_the_last_of_all(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    before = rows(consoles.answer(MEMBERS))
    assert [row[:3] for row in before] == [["3", "1", "4"], ["4", "2", "5"], ["5", "3", "6"], ["6", "4", "3"]]
    assert rows(consoles.answer(WAYS)) == [
        ["1", "CONNECTED", "1"],
        ["4", "CONNECTED", "1"],
        ["49", "CONNECTED", "1"],
    ]
    for line in ("! kill node:4", "! wait 1s"):
        consoles.answer(line)
    assert rows(consoles.answer(WAYS))[1] == ["4", "DISCONNECTED", "1"]
    assert [row[:3] for row in rows(consoles.answer(MEMBERS))] == [
        ["3", "1", "5"],
        ["5", "3", "6"],
        ["6", "4", "3"],
    ]
    for line in ("! wait 4s", "! start node:4", "! until node:4 1 within 20min"):
        consoles.answer(line)
    after = rows(consoles.answer(MEMBERS))
    assert [row[:3] for row in after] == [["3", "1", "5"], ["4", "5", "3"], ["5", "3", "6"], ["6", "4", "4"]]
    assert rows(consoles.answer(WAYS))[1] == ["4", "CONNECTED", "2"]


def test_a_silent_node_keeps_its_place_until_the_others_declare_it_dead(cluster: LiveCluster) -> None:
    """A data node tells what it knows itself (QMGR): a neighbour that was not missed four times is there."""
    consoles = Consoles(cluster)
    consoles.answer("! hang node:4")
    while "declared dead" not in consoles.cluster.log_text():
        seen = rows(consoles.answer(MEMBERS)), rows(consoles.answer(WAYS))
        consoles.answer("! wait 1s")
    assert "disconnecting node 4 due to missed heartbeat" in cluster.log_text()
    assert [row[:3] for row in seen[0]] == [["3", "1", "4"], ["5", "3", "6"], ["6", "4", "3"]]
    assert seen[1][1] == ["4", "CONNECTED", "1"]
    after = [row[:3] for row in rows(consoles.answer(MEMBERS))]
    assert after == [["3", "1", "5"], ["5", "3", "6"], ["6", "4", "3"]]
    assert rows(consoles.answer(WAYS))[1][1] != "CONNECTED"


def test_a_president_without_an_arbitrator_has_the_ticket_of_the_next(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    old = {row[4] for row in rows(consoles.answer(MEMBERS))}
    assert len(old) == 1
    for line in ("! kill node:1", "! wait 2s"):
        consoles.answer(line)
    found = rows(consoles.answer(MEMBERS))
    assert [row[3] for row in found] == ["ARBIT_FIND", "ARBIT_NULL", "ARBIT_NULL", "ARBIT_NULL"]
    assert {row[4] for row in found[1:]} == old
    new = found[0][4]
    ((was,), numbers) = old, re.compile("[0-9a-f]{16}")
    assert numbers.fullmatch(new)
    assert new[:4] == was[:4], "the process of the president"
    assert int(new[4:8], 16) == int(was[4:8], 16) + 1
    assert int(new[8:], 16) > int(was[8:], 16), "a clock"
    for line in ("! start node:1", "! wait 5s"):
        consoles.answer(line)
    assert {row[4] for row in rows(consoles.answer(MEMBERS))} == {new}
    assert f"Started arbitrator node 1 [ticket={new}]" in cluster.log_text()


def lost(begun: Callable[[str], LiveCluster], version: str) -> Consoles:
    consoles = Consoles(begun(version))
    for line in ("mysql> USE test", "! kill node:3", "! kill node:4", "! wait 2s"):
        consoles.answer(line)
    return consoles


def test_a_server_that_lost_the_cluster_keeps_its_id_and_opens_no_table(
    begun: Callable[[str], LiveCluster],
) -> None:
    consoles = lost(begun, "8.4.8")
    status = consoles.answer("mysql> SHOW ENGINE NDB STATUS")
    assert "cluster_node_id=49," in status
    assert "number_of_ready_data_nodes=0, connect_count=1 " in status
    refused = "ERROR 1296 (HY000): Got error 4009 'Cluster Failure' from NDBCLUSTER\n"
    assert consoles.answer("mysql> SHOW CREATE TABLE blobs_1k").startswith(refused)
    listed = consoles.answer(
        "mysql> SELECT TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA='test'"
    )
    assert rows(listed) == [["blobs_1k", "0"], ["blobs_5k", "0"]]
    assert "2 rows in set, 6 warnings" in listed
    warned = [row[2] for row in rows(consoles.answer("mysql> SHOW WARNINGS"))]
    assert warned[:3] == [
        "Can't open table 'test.blobs_1k' from NDB, schema distribution is not ready",
        "Could not open NDB_SHARE for 'test.blobs_1k'",
        "Got error 4009 'Cluster Failure' from NDBCLUSTER",
    ]
    names = consoles.answer(
        "mysql> SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA='test'"
    )
    assert "2 rows in set (" in names
    assert "2 rows in set (" in consoles.answer("mysql> SHOW TABLES")


def test_the_tables_behind_ndbinfo_take_no_change(begun: Callable[[str], LiveCluster]) -> None:
    said = {
        version: Consoles(begun(version)).answer("mysql> truncate table ndbinfo.ndb$nodes")
        for version in ("7.4.10", "8.4.8")
    }
    assert said["7.4.10"] == "ERROR 1036 (HY000): Table 'ndb$nodes' is read only\n"
    assert said["8.4.8"].startswith("ERROR 1146 (42S02)"), "its dictionary does not show them"


def test_a_client_of_one_line_does_not_listen(begun: Callable[[str], LiveCluster]) -> None:
    consoles = Consoles(begun("8.4.8"))
    lines = {prompt: consoles.answer(f"{prompt}").splitlines()
             for prompt in ("ndb_mgm> TLS INFO", "data1$ ndb_mgm -e 'TLS INFO'")}  # fmt: skip
    ends = ("is using cleartext.", "is not connected.")
    for (prompt, said), end in zip(lines.items(), ends, strict=True):
        assert f"Event listener connection {end}" in said, prompt


def test_older_servers_ask_the_cluster_which_tables_there_are(begun: Callable[[str], LiveCluster]) -> None:
    consoles = lost(begun, "7.4.10")
    assert "2 rows in set, 1 warning (" in consoles.answer("mysql> SHOW TABLES")
    shown = consoles.answer("mysql> SHOW TABLE STATUS LIKE 'blobs_1k'")
    (row,) = rows(shown)
    assert row[:2] == ["blobs_1k", "NULL"]
    assert row[-1] == "Got error 4009 'Cluster Failure' from NDBCLUSTER"
    assert "1 row in set, 3 warnings" in shown


def test_every_counter_of_a_node_has_a_row(begun: Callable[[str], LiveCluster]) -> None:
    for version, sorted_by in (("8.4.8", ["DBTC", "DBLQH", "DBSPJ"]), ("7.4.10", ["DBLQH", "DBSPJ", "DBTC"])):
        consoles = Consoles(begun(version))
        asked = "mysql> SELECT block_name, COUNT(*) / COUNT(DISTINCT block_instance) FROM ndbinfo.counters"
        found = rows(consoles.answer(f"{asked} WHERE node_id = 3 GROUP BY block_name"))
        assert [row[0] for row in found] == sorted_by, "from 8.0 on groups come as they are met"
        assert {row[0]: float(row[1]) for row in found} == {"DBTC": 11, "DBLQH": 7, "DBSPJ": 13}
        both = consoles.answer(
            "mysql> SELECT SUM(val) FROM ndbinfo.counters WHERE counter_name IN ('LOCAL_WRITES')"
        )
        every = consoles.answer("mysql> SELECT SUM(val) FROM ndbinfo.counters WHERE counter_name = 'WRITES'")
        assert 4 * int(rows(both)[0][0]) == pytest.approx(int(rows(every)[0][0]), rel=0.01)


def test_typed_rows_are_counted_on_each_replica(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    asked = (
        "mysql> SELECT SUM(tot_key_inserts) FROM ndbinfo.operations_per_fragment WHERE fq_name = 'test/def/c'"
    )
    consoles.answer("mysql> CREATE TABLE test.c (a INT PRIMARY KEY) ENGINE=NDB")
    consoles.answer(f"mysql> INSERT INTO test.c VALUES {','.join(f'({i})' for i in range(1000))}")
    assert int(rows(consoles.answer(asked))[0][0]) == pytest.approx(2000, abs=20)


def test_a_client_without_a_server_tries_again_as_its_release_does(
    begun: Callable[[str], LiveCluster],
) -> None:
    for version, tries_s, said in (
        (
            "7.4.10",
            10.0,
            ["Unable to connect", "Retrying every 5 seconds.", "Could not get status", "*  1010: "],
        ),
        ("8.4.8", 0.0, ["ERROR: Unable to connect", "Could not get status"]),
    ):
        consoles = Consoles(begun(version))
        assert consoles.answer("ndb_mgm> HELP SHOW").startswith("----"), "help needs no server"
        for line in ("ndb_mgm> SHOW", "! kill node:1", "! wait 1s"):
            consoles.answer(line)
        begin_s = consoles.cluster.now_s
        lines = consoles.answer("ndb_mgm> ALL STATUS").splitlines()
        assert consoles.cluster.now_s - begin_s == pytest.approx(tries_s)
        told = [line.startswith(begin) for line, begin in zip(lines, said, strict=False)]
        assert told == [True] * len(said)
    assert consoles.answer("ndb_mgm> SHOW").count("\n") == 1, "8.4.8: it has no connection to lose now"


def test_a_transaction_of_an_older_server_has_no_savepoint(begun: Callable[[str], LiveCluster]) -> None:
    consoles = Consoles(begun("7.4.10"))
    consoles.answer("mysql> BEGIN")
    said = consoles.answer("mysql> SAVEPOINT sp1")
    assert said == "ERROR 1178 (42000): The storage engine for the table doesn't support SAVEPOINT\n"
    assert consoles.answer("mysql> ROLLBACK TO SAVEPOINT sp1").startswith(
        "ERROR 1305 (42000): SAVEPOINT sp1 "
    )
