"""What several consoles tell of one thing agrees, and what happens to a process needs one to happen to."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ndbplan.base.errors import UserError
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.world.indices import OfCluster
from ndbplan.train import world
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.state import Status

COUNT = "mysql> SELECT COUNT(*) FROM test.blobs_5k"
OTHERS = (
    "mysql> SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_NAME='blobs_5k'",
    "mysql> SELECT SUM(TABLE_ROWS) FROM information_schema.PARTITIONS WHERE TABLE_NAME='blobs_5k'",
    "mysql> SELECT SUM(fixed_elem_count) FROM ndbinfo.memory_per_fragment "
    "WHERE fq_name='test/def/blobs_5k' AND node_id IN (3, 5)",
)


def number(answer: str) -> int:
    return int(float(re.findall(r"\| +([0-9.]+) \|", answer)[-1]))


def committed(cluster: LiveCluster) -> float:
    return float(cluster.session.simulation.history.totals[:, OfCluster.ACCEPTED].sum())


def test_rows_that_clients_insert_are_the_same_wherever_they_are_asked_for(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    before = number(consoles.answer(COUNT))
    assert before > 200_000
    assert [number(consoles.answer(line)) for line in OTHERS] == [before] * 3
    listed = consoles.answer("app1$ ndb_desc -d test blobs_5k -p").partition("Per partition info")[2]
    assert sum(int(row) for row in re.findall(r"^[0-9]+ +\t([0-9]+)", listed, re.MULTILINE)) == before


def test_a_node_that_is_lost_takes_no_row_with_it(cluster: LiveCluster) -> None:
    lost, consoles = cluster.branch(), Consoles(cluster)
    world.do("kill node:4", lost)
    of_lost = Consoles(lost)
    assert number(of_lost.answer(COUNT)) == number(consoles.answer(COUNT))
    before, accepted = number(of_lost.answer(COUNT)), committed(lost)
    lost.advance(5.0)
    assert number(of_lost.answer(COUNT)) - before == pytest.approx(committed(lost) - accepted, abs=2), (
        "each transaction inserts a row"
    )


def test_rows_go_with_their_own_table_and_with_their_memory(cluster: LiveCluster) -> None:
    consoles, state = Consoles(cluster), cluster.session.simulation.state
    other, held = COUNT.replace("5k", "1k"), float(state.node_state[0].memory_bytes)
    before = number(consoles.answer(COUNT)) - committed(cluster)
    consoles.answer("mysql> INSERT INTO test.blobs_1k (id) VALUES (100001)")
    assert number(consoles.answer(other)) == 100_001
    consoles.answer("mysql> TRUNCATE TABLE test.blobs_1k")
    assert 0 < held - float(state.node_state[0].memory_bytes) < 0.2 * held
    assert number(consoles.answer(COUNT)) == pytest.approx(before + committed(cluster), abs=2)
    then = cluster.now_s
    consoles.answer("! wait 2s")
    cluster.rewind(then)
    assert number(consoles.answer(other)) == 0, "a rewind brings no row back"


def test_the_log_tells_of_checkpoints_shorter_than_a_look(cluster: LiveCluster) -> None:
    cluster.session.simulation.state.cluster.lcp_number += 3
    cluster.advance(1.0)
    begun = [int(i) for i in re.findall(r"Local checkpoint ([0-9]+) started", cluster.log_text())]
    ended = [int(i) for i in re.findall(r"Local checkpoint ([0-9]+) completed", cluster.log_text())]
    assert begun == list(range(begun[0], begun[0] + len(begun)))
    assert len(begun) > 3
    assert ended == begun[: len(ended)]
    assert len(ended) >= len(begun) - 1


def test_a_disk_that_is_written_once_in_each_global_checkpoint_is_seen_to_be_busy(
    cluster: LiveCluster,
) -> None:
    consoles = Consoles(cluster)
    consoles.answer("! load x0.02")
    for _ in range(8):
        consoles.answer("! wait 1100ms")
        written = re.findall(r"^c0d. +(?:[0-9.]+ +){7}([0-9.]+)", consoles.answer("data1$ iostat -kx"), re.M)
        assert max(float(one) for one in written) > 0


@pytest.mark.parametrize(
    ("before", "text", "said"),
    [
        ("kill node:4", "kill node:4", "node 4 does not run"),
        ("kill node:4", "hang node:4", "node 4 does not run"),
        ("hang node:4", "hang node:4", "node 4 hangs already"),
        ("clock", "wake node:4", "node 4 does not hang"),
        ("clock", "start node:4", "node 4 runs already"),
        ("kill node:49", "kill node:49", "node 49 does not run"),
        ("clock", "start node:49", "node 49 runs already"),
    ],
)
def test_nothing_happens_to_a_process_that_is_not_there(
    cluster: LiveCluster, before: str, text: str, said: str
) -> None:
    world.do(before, cluster)
    done = cluster.history
    with pytest.raises(UserError, match=said):
        world.do(text, cluster)
    assert cluster.history == done


def test_reserved_nodes_do_not_run_and_programs_come_from_some_host() -> None:
    consoles = Consoles(LiveCluster.begin(sample_plan("measured-7.4.10"), hours=0.05))
    assert "node 4 does not run" in consoles.answer("! kill node:4")
    assert "id=51\t@host  (" in consoles.answer("ndb_mgm> SHOW")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--query=nodeid,host --type=ndbd", "3,data1 4,data2 5,data3 6,data4\n"),
        ("-q nodeid,host -t ndbd -f : -r '\\n'", "3:data1\n4:data2\n5:data3\n6:data4\n"),
        ("--query=id,type --nodeid=1", "1,ndb_mgmd\n"),
        ("--system --query=PrimaryMGMNode,ConfigGenerationNumber", "1,1\n"),
        ("--query=nosuch", "Unknown query option: nosuch\n"),
        ("--query", "ndb_config: [ERROR] option '--query' requires an argument.\n"),
        ("--configinfo", "ndbplan: ndb_config --configinfo is not simulated; there are --query,"),
        ("--wrong", "ndb_config: [ERROR] unknown option '--wrong'.\n"),
    ],
)
def test_ndb_config_takes_its_options_or_says_that_it_does_not(
    cluster: LiveCluster, options: str, said: str
) -> None:
    assert Consoles(cluster).answer(f"app1$ ndb_config {options}").startswith(said)


def test_what_is_counted_is_what_was_committed(begun: Callable[[str], LiveCluster]) -> None:
    for version in ("7.4.10", "8.4.8"):
        cluster = begun(version)
        consoles, done = Consoles(cluster), committed(cluster)

        def asked(query: str, consoles: Consoles = consoles) -> int:
            return number(consoles.answer(f"mysql> SELECT {query}"))

        of = "SUM(val) FROM ndbinfo.counters WHERE counter_name ="
        assert asked(f"{of} 'COMMITS'") == pytest.approx(done, abs=4)
        assert asked(f"{of} 'WRITES'") == pytest.approx(done, abs=4), "each inserts a row"
        inserts = "SUM(tot_key_inserts) FROM ndbinfo.operations_per_fragment WHERE fq_name="
        assert asked(f"{inserts} 'test/def/blobs_5k'") == pytest.approx(2 * done, abs=32), "on both replicas"
        assert asked(f"{inserts} 'test/def/blobs_1k'") == 0
        assert asked("consensus_count FROM ndbinfo.arbitrator_validity_summary") == 4
        consoles.answer("! kill node:4")
        consoles.answer("! wait 5s")
        assert asked("COUNT(*) FROM ndbinfo.arbitrator_validity_detail") == 3
        assert asked("COUNT(*) FROM ndbinfo.counters WHERE node_id = 4") == 0


def test_threads_are_as_busy_in_cpustat_as_in_top(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    busiest = number(consoles.answer("mysql> SELECT MAX(thread_exec) FROM ndbinfo.cpustat WHERE node_id=3"))
    listed = re.findall(r" [RS] +([0-9.]+) +[0-9.]+ ", consoles.answer("data1$ top -H"))
    assert busiest == pytest.approx(max(float(one) for one in listed), abs=3)
    assert number(consoles.answer("mysql> SELECT id FROM ndbinfo.backup_id")) == 0


def test_a_process_that_is_started_before_the_loss_is_noticed_lives(cluster: LiveCluster) -> None:
    for first in ("kill node:4", "hang node:4"):
        one = cluster.branch()
        world.do(first, one)
        if first.startswith("hang"):
            world.do("wait 3s", one)
            world.do("kill node:4", one)
        world.do("start node:4", one)
        world.do("until nodes_started 4 within 20min", one)
        assert one.state.nodes[4].status is Status.STARTED, first


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("0", "NDB error code   0: No error: Success: No error\n"),
        ("289", ": Temporary error: Temporary Resource error\n"), ("721", ": Unknown result: \n"),
        ("1321", ": Permanent error: User defined error\n"),
        ("4009", ": Unknown result: Unknown result error\n"),
        ("2305", ": Temporary error, restart node: Arbitration error\n"),
        ("2310", ": Ndbd file system error, restart node initial: "
         "Ndbd file system inconsistency error, please report a bug\n"),
        ("2353", ": Temporary error, restart node: Restart error\n"),
        ("5028", ": Permanent error: Application error\n"), ("411", "Illegal ndb error code: 411\n"),
        ("99999", "Illegal ndb error code: 99999\n"),
        ("1799", "ndbplan: error 1799 is not among those that are known here\n"),
    ],
)  # fmt: skip
def test_errors_are_of_the_kind_that_the_product_says(number: str, said: str, cluster: LiveCluster) -> None:
    answer = Consoles(cluster).answer(f"app1$ ndb_perror {number}")
    assert answer.endswith(said)
    assert answer.startswith((said, f"NDB error code {int(number):3}: "))


def test_older_nodes_do_not_know_yet_how_they_start(begun: Callable[[str], LiveCluster]) -> None:
    for version, begin in (("7.4.10", ""), ("8.4.8", "(system restart)")):
        cluster = begun(version)
        world.do("kill node:4", cluster)
        world.do("start node:4", cluster)
        world.do("until nodes_started 4 within 20min", cluster)
        log = cluster.log_text()
        assert f"Node 4: Start phase 0 completed {begin}\n" in log
        assert f"Node 4: Start phase 1 completed {begin}\n" in log
        assert "Node 4: Start phase 2 completed (node restart)\n" in log
