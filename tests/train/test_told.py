"""What the management client prints on its own, what nodes leave behind, what machines show of them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ndbplan.edits.assign import assign
from ndbplan.edits.parts import update
from ndbplan.ndb.errors import every_exit_said
from ndbplan.train import starts, watching
from ndbplan.train.consoles import Consoles
from ndbplan.train.lessons.begin import plan_of
from ndbplan.train.lessons.files import LESSONS
from ndbplan.train.live import LiveCluster
from ndbplan.train.quantities import value

from .conftest import two_by_two

Begun = Callable[[str], LiveCluster]


def typed(cluster: LiveCluster, *lines: str) -> list[str]:
    consoles = Consoles(cluster)
    return [consoles.answer(line) for line in lines]


@pytest.mark.parametrize(("wait", "version"), [("", "7.4.10"), ("", "8.4.8"), ("! wait 1s", "8.4.8")])
def test_a_server_that_is_back_before_its_loss_is_judged_arbitrates_again(
    wait: str, version: str, begun: Begun
) -> None:
    cluster = begun(version)
    typed(cluster, "ndb_mgm> 1 STOP", *([wait] if wait else []), "app1$ ndb_mgmd -f config.ini", "! wait 3s")
    told = [line.text for line in cluster.state.log if "arbitrator node 1" in line.text]
    assert [text.split(" ")[0] for text in told[-1:]] == ["Started"]
    typed(cluster, "! kill node:3", "! wait 1s", "! kill node:5", "! wait 3s")
    assert set(cluster.state.alive()) == {4, 6}


def test_a_server_that_is_not_back_does_not_arbitrate(begun: Begun) -> None:
    cluster = begun("8.4.8")
    typed(cluster, "ndb_mgm> 1 STOP", "! wait 3s")
    assert cluster.session.simulation.outage.running.arbitrator is None


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_the_client_tells_of_a_restart_in_its_own_words(version: str, begun: Begun) -> None:
    cluster = begun(version)
    *_, said = typed(
        cluster, "ndb_mgm> 4 RESTART", "! until nodes_started 4 within 10min", "ndb_mgm> 4 STATUS"
    )
    assert said.startswith(f"Node 4: Start initiated (version {version})\n")
    assert f"Node 4: Started (version {version})\n" in said
    assert "Start initiated (mysql-" in cluster.log_text()


@pytest.mark.parametrize(
    ("change", "how"),
    [
        ("set RedoBuffer=48M", "restarting, no start."),
        ("set NoOfFragmentLogFiles=20", "restarting, no start, initial."),
        ("move lcp to c0d0", "restarting, no start, initial."),
    ],
)
def test_a_rolling_restart_says_how_its_nodes_start(change: str, how: str, begun: Begun) -> None:
    cluster = begun("8.4.8")
    said = typed(cluster, "ndb_mgm> SHOW", f"! {change}", "! wait 1s", "ndb_mgm> 3 STATUS")
    assert ("each node with --initial" in said[1]) == ("initial" in how)
    told = said[-1].splitlines()
    assert told[:2] == ["Node 3: Node shutdown initiated", f"Node 3: Node shutdown completed, {how}"]


def test_a_backup_asked_for_in_single_user_mode_begins_when_it_ends(begun: Begun) -> None:
    lines = ("ndb_mgm> ENTER SINGLE USER MODE 49", "ndb_mgm> START BACKUP 5 NOWAIT", "! wait 2s")
    for version, waits in (("7.4.10", False), ("8.4.8", True)):
        cluster = begun(version)
        typed(cluster, *lines)
        assert (cluster.state.backup is None) == waits
        typed(cluster, "ndb_mgm> EXIT SINGLE USER MODE")
        run = cluster.state.backup
        assert run is not None
        assert (run.number, run.ended_s) == (5, None)


def test_a_client_that_waits_prints_what_the_log_has_of_a_backup(begun: Begun) -> None:
    cluster = begun("8.4.8")
    (said,) = typed(cluster, "ndb_mgm> START BACKUP")
    line = next(one.text for one in cluster.state.log if one.key == "backup_completed")
    figures = re.findall(r"[0-9]+", line.partition("completed")[2])
    assert re.findall(r"[0-9]+", said.partition("completed\n")[2]) == figures
    assert int(figures[3]) > 0, "clients wrote meanwhile"


def test_the_event_of_a_backup_breaks_its_lines_as_the_client_does(begun: Begun) -> None:
    cluster = begun("7.4.10")
    *_, said = typed(cluster, "ndb_mgm> START BACKUP NOWAIT", "! until backups_done 1", "ndb_mgm> 3 STATUS")
    figures = said.partition("Node 3: Backup 1 started from node 1 completed\n")[2]
    assert re.match(
        r" StartGCP: \d+ StopGCP: \d+\n #Records: \d+ #LogRecords: \d+\n Data: \d+ bytes", figures
    )


def test_every_end_of_a_data_node_has_words() -> None:
    codes = [
        getattr(one, name) for one in (starts, watching) for name in dir(one) if name.startswith("EXIT_")
    ]
    assert set(codes) <= every_exit_said().keys()


def test_an_error_log_has_a_record_for_each_error(begun: Begun) -> None:
    cluster = begun("8.4.8")
    before, _, _, after, own = typed(
        cluster,
        "data1$ tail ndb_3_error.log",
        "! hang node:3",
        "! wait 60s",
        "! wake node:3",
        "data1$ tail -1 ndb_3_out.log",
    )
    assert "No such file" in before
    assert after == "1:10 node:3 goes on\n"
    assert "[ndbd] ALERT    -- Forced node shutdown completed. Caused by error 2315" in own
    (log,) = typed(cluster, "data1$ tail -20 ndb_3_error.log")
    assert log.startswith("Current byte-offset of file-pointer is: 1067  ")
    assert "\nTime: Monday 5 January 2026 - 08:01:10\nStatus: Temporary error, restart node\n" in log
    assert "\nError: 2315\n" in log
    assert log.endswith("\n***EOM***\n")


def test_the_share_of_data_memory_is_the_one_that_nodes_report(begun: Begun) -> None:
    for version in ("7.4.10", "8.4.8"):
        cluster = begun(version)
        (said,) = typed(
            cluster, "mysql> SELECT 100*used/total FROM ndbinfo.memoryusage WHERE memory_type='Data memory';"
        )
        shown = max(float(number) for number in re.findall(r"\| +([0-9.]+) \|", said))
        assert 100 * value("data_memory", cluster.session.simulation) == pytest.approx(shown, abs=0.2)


def test_the_thread_of_a_hot_key_is_the_busy_one() -> None:
    lesson = LESSONS.find("hot-key").value
    cluster = LiveCluster.begin(plan_of(lesson.starts[0]), hours=0.2)
    cluster.advance(60)

    def ldm() -> list[float]:
        (said,) = typed(cluster, "data1$ top -H")
        return [float(line.split()[7]) for line in said.splitlines() if line.endswith(" ldm")]

    busy = ldm()
    assert busy[0] > 2 * busy[1] > 0
    typed(cluster, "! spread", "! wait 10s")
    assert max(ldm()) < 1.1 * min(ldm())


def test_iostat_reports_as_often_as_it_is_told_and_time_passes_between(begun: Begun) -> None:
    cluster = begun("8.4.8")
    begin_s = cluster.now_s
    several, one, last = typed(cluster, "data1$ iostat -kx 5 3", "data1$ iostat -kx 5 1", "data1$ echo $?")
    assert (several.count("Linux"), several.count("avg-cpu"), several.count("%util")) == (1, 3, 3)
    assert cluster.now_s == pytest.approx(begin_s + 10.0)
    # The last of them is what one report says then.
    assert one.startswith("Linux")
    assert several.endswith(one[one.index("avg-cpu") :])
    assert last == "0\n"
    after, none, long = typed(
        cluster, "data1$ iostat -ykx 2 2", "data1$ iostat -kx 0", "data1$ iostat -kx 60 999"
    )
    assert after.count("avg-cpu") == 2
    assert cluster.now_s == pytest.approx(begin_s + 14.0)
    assert none.startswith("iostat: neither")
    assert "at most 3600 s" in long
    typed(cluster, "! fail host:data1")
    assert "No route to host" in typed(cluster, "data1$ iostat -kx 1 2")[0]


def test_a_cluster_that_starts_without_its_files_has_no_rows(begun: Begun) -> None:
    count = "mysql> SELECT COUNT(*) FROM test.blobs_1k;"
    for line, error in (("ndb_mgm> ALL RESTART", ""), ("ndb_mgm> ALL RESTART -i", "ERROR 1146 (42S02)")):
        cluster = begun("8.4.8")
        typed(cluster, line, "! until nodes_started 4 within 20min")
        (said,) = typed(cluster, count)
        assert said.startswith(error or "+--")
        (shown,) = typed(cluster, "mysql> SHOW TABLES FROM test;")
        assert ("blobs_1k" in shown) == (not error)
        assert (cluster.moment().accepted_per_s > 0) == (not error)
    assert value("data_memory", cluster.session.simulation) < 0.01


def test_a_table_without_logging_is_there_and_empty_after_a_system_restart() -> None:
    plan = two_by_two("8.4.8")
    table = next(one for one in plan.tables if one.name == "blobs_1k")
    plan = update(plan.replace(workloads=()), table.id, logging=False, rows=1000)
    cluster = LiveCluster.begin(plan, hours=0.5)
    count = "mysql> SELECT COUNT(*) AS n FROM test.blobs_1k;"
    started = "! until nodes_started 4 within 20min"
    told = typed(cluster, "ndb_mgm> 3 RESTART", started, count, "ndb_mgm> ALL RESTART", started, count)
    after_one, after_all = told[2], told[5]
    assert "1000" in after_one, "another node has the rows"
    assert re.search(r"\| +0 \|", after_all)


def test_a_diskless_cluster_keeps_nothing_and_makes_no_file() -> None:
    plan = assign(two_by_two("8.4.8"), "parameters.data_node.Diskless=1")[0]
    cluster = LiveCluster.begin(plan, hours=0.5)
    backup, group, _, _, shown = typed(
        cluster,
        "ndb_mgm> START BACKUP",
        "mysql> CREATE LOGFILE GROUP lg ADD UNDOFILE 'u.dat' INITIAL_SIZE 16M ENGINE NDB;",
        "ndb_mgm> ALL RESTART",
        "! until nodes_started 4 within 20min",
        "mysql> SHOW TABLES FROM test;",
    )
    assert "*  3001: Could not start backup\n" in backup
    assert cluster.state.backup is None
    assert group.startswith("ERROR 1528 (HY000)")
    assert shown.startswith("Empty set")


def test_a_file_of_disk_data_needs_a_folder_that_is_there(begun: Begun) -> None:
    making = "mysql> CREATE LOGFILE GROUP lg ADD UNDOFILE '{}' INITIAL_SIZE 16M ENGINE NDB;"
    cluster = begun("8.4.8")
    refused, told, made = typed(
        cluster, making.format("/nosuch/u.log"), "mysql> SHOW WARNINGS;", making.format("/c0d0/u.log")
    )
    assert refused.startswith("ERROR 1528 (HY000): Failed to create LOGFILE GROUP")
    assert "Got error 1509 'File system error, check if path,permissions etc' from NDB" in told
    assert made.startswith("Query OK")


@pytest.mark.parametrize(
    ("sizes", "code", "words"),
    [
        ("INITIAL_SIZE 1K", 1516, ["Undofile size rounded down to kernel page size", "File too small"]),
        ("INITIAL_SIZE 16M UNDO_BUFFER_SIZE 4K", 779, ["Invalid undo buffer size"]),
    ],
)
def test_an_undo_log_of_no_page_is_refused(sizes: str, code: int, words: list[str], begun: Begun) -> None:
    line = f"mysql> create logfile group lg0 add undofile 'u.log' {sizes} engine=ndb;"
    said, told = typed(begun("8.4.8"), line, "mysql> SHOW WARNINGS;")
    assert said.startswith("ERROR 1528 (HY000): Failed to create LOGFILE GROUP")
    assert f"Got error {code} " in told
    assert all(word in told for word in words)
