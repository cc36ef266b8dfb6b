"""The management client, held against what real ones answered in the same states."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ndbplan.base.kept import keeping
from ndbplan.base.units import MIB
from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.load.redo import log_bytes_per_part
from ndbplan.plan.plan import Plan
from ndbplan.simulate.events.orders import Kill
from ndbplan.simulate.world.indices import Part
from ndbplan.train.answer import carry_out
from ndbplan.train.dumps import log_parts
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm.console import WORDS, answer, greeting
from ndbplan.train.quantities import value
from ndbplan.train.starts import StartProcess

from .recorded import answers, form_of, recorded, without_api


def say(cluster: LiveCluster, line: str) -> str:
    return carry_out(answer(line, cluster), cluster).text


def alive(plan: Plan) -> LiveCluster:
    with keeping():
        cluster = LiveCluster.begin(plan, hours=0.5)
        cluster.advance(5.0)
    return cluster


@pytest.fixture(scope="module")
def new() -> Callable[[], LiveCluster]:
    """8.4.8 as recorded; each call gives one of its own."""
    return alive(recorded("8.4.8")).branch


@pytest.fixture(scope="module")
def spare() -> Callable[[], LiveCluster]:
    """The same with three reserved data nodes, none of them running."""
    return alive(recorded("8.4.8", spare=3, servers=2)).branch


def differ(cluster: LiveCluster, state: str, cluster_name: str = "", version: str = "8.4.8") -> list[str]:
    """Commands whose answers differ in form from those that were recorded in a state, in their order."""
    wrong = []
    rows = [row for row in answers()[version] if not state or row["state"] == state]
    for row in rows:
        reply = answer(row["command"], cluster)
        done = carry_out(reply, cluster)
        got, expected = form_of(done.text), form_of(row["output"])
        if row["command"].upper().startswith("SHOW") and version == "8.4.8" and row["exit"] == 0:
            got, expected = without_api(got), without_api(expected)
        if (got, done.exit) != (expected, row["exit"]):
            wrong.append(
                f"{row['command']}\n--- recorded {row['exit']}\n{expected}--- now {done.exit}\n{got}"
            )
    return wrong


def test_a_running_cluster_of_8_4_8(new: Callable[[], LiveCluster]) -> None:
    assert "\n".join(differ(new(), "started")) == ""


def test_a_running_cluster_of_7_4_10() -> None:
    assert "\n".join(differ(alive(recorded("7.4.10")), "", version="7.4.10")) == ""


def test_without_data_nodes(new: Callable[[], LiveCluster]) -> None:
    cluster = new()
    say(cluster, "ALL STOP")
    assert "\n".join(differ(cluster, "down")) == ""


def test_data_nodes_that_wait(new: Callable[[], LiveCluster]) -> None:
    cluster = new()
    say(cluster, "ALL RESTART -n")
    cluster.advance(5.0)
    assert "\n".join(differ(cluster, "waiting")) == ""


def test_a_killed_node(new: Callable[[], LiveCluster]) -> None:
    cluster = new()
    cluster.act(Kill("n4"))
    cluster.advance(2.0)
    assert "\n".join(differ(cluster, "node 4 killed")) == ""


def test_single_user_mode(new: Callable[[], LiveCluster]) -> None:
    cluster = new()
    assert "\n".join(differ(cluster, "single user")) == ""
    assert say(cluster, "CREATE NODEGROUP 1").startswith("*   299: Error\n*        299-")
    assert say(cluster, "ENTER SINGLE USER MODE 62").endswith("for API node 62 only.\n")
    assert "id=62\t@10.24.0.62  (mysql-8.4.8 ndb-8.4.8, allowed single user)" in say(cluster, "SHOW")


def test_a_node_that_starts_in_single_user_mode_is_seen_before_it_ends(
    new: Callable[[], LiveCluster],
) -> None:
    cluster = new()
    cluster.act(Kill("n4"))
    cluster.advance(2.0)
    say(cluster, "ENTER SINGLE USER MODE 61")
    cluster.act(StartProcess(4))
    said = []
    for _ in range(40):
        said.append(say(cluster, "4 STATUS").partition(" (mysql")[0].strip())
        cluster.advance(0.2)
    starts = "Node 4: starting (Last completed phase 0)"
    assert list(dict.fromkeys(said)) == ["Node 4: not connected", starts]
    assert said[-1] == "Node 4: not connected"


def test_the_whole_cluster_log_is_switched_by_its_own_words(new: Callable[[], LiveCluster]) -> None:
    """As CommandInterpreter.cpp reads it: ON and OFF are severities to TOGGLE only."""
    cluster = new()
    assert say(cluster, "CLUSTERLOG OFF") == "Cluster logging is disabled\n"
    assert say(cluster, "CLUSTERLOG INFO") == "Cluster logging is disabled.\n"
    assert say(cluster, "CLUSTERLOG TOGGLE ON") == "ON enabled\n"
    assert say(cluster, "CLUSTERLOG ON OFF") == "Invalid severity level: OFF\n"
    assert say(cluster, "CLUSTERLOG OFF INFO x") == "INFO disabled\nInvalid severity level: x\n"
    assert say(cluster, "CLUSTERLOG INFO") == "Severities enabled: WARNING ERROR CRITICAL ALERT \n"
    assert say(cluster, "CLUSTERLOG OFF ALL") == "ALL disabled\n"
    assert say(cluster, "CLUSTERLOG INFO").strip() == "Severities enabled:"


def test_reserved_nodes_that_do_not_run(spare: Callable[[], LiveCluster]) -> None:
    cluster = spare()
    assert "\n".join(differ(cluster, "spare down")) == ""
    assert say(cluster, "CREATE NODEGROUP 5,6").startswith("*   324: Error")


def test_reserved_nodes_that_run(spare: Callable[[], LiveCluster]) -> None:
    cluster = spare()
    for node_id in (5, 6):
        cluster.act(StartProcess(node_id))
    assert cluster.advance_until(lambda c: set(c.state.alive()) >= {5, 6}, 600.0, 1.0)
    assert "\n".join(differ(cluster, "spare 5 6")) == ""
    assert say(cluster, "DROP NODEGROUP 2") == "Drop Node Group 2 done\n"
    # A node outside every group counts for no group, and its stop in order has no end in 8.4.8.
    waits = answer("5 STOP", cluster)
    assert waits.waits is not None
    assert cluster.act(waits.orders[0]) is None
    cluster.advance(300.0)
    assert "id=5\t@10.25.0.5  (mysql-8.4.8 ndb-8.4.8, shutting down, no nodegroup)" in say(cluster, "SHOW")
    assert say(cluster, "6 STOP -a") == "Node 6 has shutdown.\n\n"


def test_a_new_node_group_counts_when_nodes_are_lost(spare: Callable[[], LiveCluster]) -> None:
    cluster = spare()
    for node_id in (5, 6):
        cluster.act(StartProcess(node_id))
    cluster.advance_until(lambda c: set(c.state.alive()) >= {5, 6}, 600.0, 1.0)
    outside = cluster.branch()
    assert say(cluster, "create nodegroup 5,6;") == "Nodegroup 2 created\n"
    for one, up in ((cluster, set()), (outside, {1, 2, 3, 4})):
        one.act(Kill("n5"))
        one.act(Kill("n6"))
        one.advance(5.0)
        assert set(one.state.alive()) == up


def test_stops_and_restarts_wait_and_say_what_they_did(new: Callable[[], LiveCluster]) -> None:
    cluster = new()
    begin_s = cluster.now_s
    assert say(cluster, "4 STOP") == "Node 4 has shutdown.\n\n"
    assert 10.0 < cluster.now_s - begin_s < 30.0
    assert say(cluster, "4 START").startswith("Start failed.\n*    22: Error\n")
    refused = carry_out(answer("3 RESTART", cluster), cluster)
    assert refused.text.startswith("Restart failed.\n*  2003: Restart failed\n*        5028-")
    assert refused.exit == 255
    assert say(cluster, "3 STOP -f") == "Node 3 has shutdown.\n\n"
    cluster.advance(2.0)
    assert say(cluster, "ALL STATUS").count("not connected") == 4
    cluster = new()
    assert say(cluster, "2 RESTART -n") == "Node 2 is being restarted\n\n"
    cluster.advance(3.0)
    assert say(cluster, "2 STATUS") == "Node 2: not started (mysql-8.4.8 ndb-8.4.8)\n\n"
    assert say(cluster, "1 3 RESTART -a").startswith("Restart failed.\n*  2003")
    assert say(cluster, "2 4 RESTART -a") == "Node 2 4 is being restarted\n"
    cluster.advance(5.0)
    assert say(cluster, "SHUTDOWN").startswith("5 NDB Cluster node(s) have shutdown.\n")
    assert say(cluster, "SHOW") == "ERROR: Unable to connect with connect string: nodeid=0,10.24.0.51:1186\n"


def test_a_stop_beside_a_start_is_refused_by_7_4() -> None:
    cluster = alive(recorded("7.4.10"))
    cluster.act(Kill("n5"))
    cluster.advance(2.0)
    cluster.act(StartProcess(5))
    cluster.advance(3.0)
    assert "starting (Last completed phase" in say(cluster, "5 STATUS")
    refused = say(cluster, "2 STOP")
    assert refused.startswith("Shutdown failed.\n*  2002: Stop failed\n*        Operation not allowed while")


def test_backups(new: Callable[[], LiveCluster]) -> None:
    cluster = new()
    lines = say(cluster, "START BACKUP").splitlines()
    assert lines[:3] == [
        "Waiting for completed, this may take several minutes",
        "Node 1: Backup 1 started from node 51",
        "Node 1: Backup 1 started from node 51 completed",
    ]
    assert [line.split()[0] for line in lines[3:]] == ["StartGCP:", "#Records:", "Data:"]
    assert say(cluster, "START BACKUP 7 NOWAIT") == ""
    assert say(cluster, "START BACKUP").splitlines()[1:3] == [
        "Backup failed",
        "*  3001: Could not start backup",
    ]
    assert "Local backup status: backup 7 started from node 51" in say(cluster, "1 REPORT BACKUP")
    assert say(cluster, "ABORT BACKUP 7") == "Abort of backup 7 ordered\n"
    say(cluster, "ENTER SINGLE USER MODE 61")
    reply = answer("START BACKUP", cluster)
    assert reply.waits is not None
    assert reply.waits(cluster) is None
    assert "Waiting for started" in say(cluster.branch(), "START BACKUP 9 WAIT STARTED")[:20]


def test_what_data_nodes_dump_stands_in_logs_and_not_in_the_client(new: Callable[[], LiveCluster]) -> None:
    cluster = new()
    assert say(cluster, "1 DUMP 2399") == "Sending dump signal with data:\n0x0000095f \n\n"
    assert cluster.log_text().count("Node 1: Logpart: ") == 4
    assert "REDO part: 0 HEAD: file: " not in cluster.log_text()
    say(cluster, "ALL DUMP 2398")
    assert sum(text.startswith("REDO part: ") for _, _, text, _ in cluster.state.node_logs) == 16
    sim = cluster.session.simulation
    n = sim.node(next(node.id for node in cluster.plan.data_nodes if node.node_id == 2))
    file_mb = round(float(sim.laws.nodes[n].file_bytes) / MIB)
    # All files, also what is kept free for what is under way [8.4.8: 8 files of 8 MiB are 64].
    total_mb = log_bytes_per_part(node_settings(cluster.plan)) // MIB
    # Of part 1 the log goes on from its begin again; part 2 has written more than there is room for.
    ends = [(5, 9), (total_mb - 1, total_mb + file_mb + 2), (0, total_mb + 9)]
    for part, (tail_mb, head_mb) in enumerate(ends):
        sim.state.parts[[Part.TAIL, Part.MADE], n, part] = tail_mb * MIB, head_mb * MIB
    assert [tuple(part)[1:] for part in log_parts(sim, 2)[:3]] == [
        (0, 9, 0, 5, total_mb, total_mb - 4),
        (1, 2, *divmod(total_mb - 1, file_mb), total_mb, total_mb - file_mb - 3),
        (0, 9, 0, 0, total_mb, 0),
    ]
    limit_mb = float(sim.laws.nodes[n].log_limit_bytes) / MIB
    assert value("redo_log", sim) == pytest.approx((total_mb + 9) / limit_mb, rel=1e-3)
    for node_id in (1, 2):
        at = sim.node(next(node.id for node in cluster.plan.data_nodes if node.node_id == node_id))
        sim.state.node_state[at].lcp_left_bytes = 1000.0 * node_id
        say(cluster, f"{node_id} DUMP 2303")
        assert f"bytes left {1000 * node_id}" in cluster.log_text()
    say(cluster, "2 DUMP 1000")
    assert "Node 2: Data usage is " in cluster.log_text()
    assert "Node 2: Resource 3 min: " in cluster.log_text()
    say(cluster, "3 DUMP 2305")
    cluster.advance(2.0)
    assert "Node 3: Forced node shutdown completed. Caused by error 2303" in cluster.log_text()


@pytest.mark.parametrize(("version", "knows"), [("8.0.20", False), ("8.0.22", True)])
def test_backups_are_encrypted_from_8_0_22_on(version: str, knows: bool) -> None:
    """Manual 8.0, ndb_mgm: START BACKUP ENCRYPT."""
    said = say(
        alive(recorded("8.4.8").replace(ndb_version=version)), "START BACKUP NOWAIT ENCRYPT PASSWORD='x'"
    )
    assert said.startswith("Invalid command") is not knows


def test_old_versions_know_fewer_words_and_mark_the_master_with_a_word() -> None:
    cluster = alive(recorded("7.1.9"))
    assert "(mysql-5.1.51 ndb-7.1.9, Nodegroup: 0, Master)" in say(cluster, "SHOW")
    assert say(cluster, "PROMPT x").startswith("Invalid command: PROMPT x\n")
    assert "8K pages of total" in say(cluster, "2 REPORT MEMORY")
    assert "PROMPT" not in say(cluster, "HELP")
    assert greeting(cluster) == "Connected to Management Server at: 127.0.0.1:1186\n"


def random_line(rng: random.Random) -> str:
    """Words that mean something, put together without sense, with some that mean nothing."""
    words = f"{' '.join(WORDS)} 1 2 4 51 61 99 0 -1 5,6 x -a -f -n -i DUMP 2305 7099 = ; #".split()
    words = [*words, "WAIT", "STARTED", "NOWAIT", "CHECKPOINT=15", "\x00", "é" * 40]
    if rng.random() < 0.2:
        return "".join(chr(rng.randrange(1, 0x2FF)) for _ in range(rng.randrange(30)))
    begin = rng.choice(WORDS) if rng.random() < 0.5 else rng.choice(words)
    return " ".join([begin, *(rng.choice(words) for _ in range(rng.randrange(4)))])


@pytest.mark.parametrize("seed", range(4))
def test_random_lines_are_answered_whatever_state_the_cluster_is_in(
    spare: Callable[[], LiveCluster], seed: int
) -> None:
    rng, cluster = random.Random(seed), spare()
    for turn in range(1500):
        line = random_line(rng)
        reply = answer(line, cluster)
        assert reply.exit in (0, 255), line
        assert reply.text or not reply.exit, line
        if turn % 10 == 0:
            for order in reply.orders:
                assert cluster.act(order) is None, line
            cluster.advance(rng.choice([0.1, 2.0, 15.0]))
        if turn % 100 == 0:
            cluster = spare()


def test_what_tls_info_tells_has_the_form_of_a_running_8_4(begun: Callable[[str], LiveCluster]) -> None:
    new, old = begun("8.4.8"), begun("7.4.10")
    counts = answer("TLS INFO", new).text.partition("    Server statistics since restart\n")[2]
    assert [line[:37].rstrip() for line in counts.splitlines() if line] == [
        "  Total accepted connections:", "  Total connections upgraded to TLS:", "  Current connections:",
        "  Current connections using TLS:", "  Authorization failures:",
    ]  # fmt: skip
    refused = answer("START TLS", new)
    assert (refused.exit, refused.text.splitlines()[0]) == (255, "*  1014: Error")
    assert answer("TLS INFO", old).text.startswith("Invalid command")


def test_what_ends_the_master_of_an_old_cluster_is_not_done_but_told(new: Callable[[], LiveCluster]) -> None:
    """Real 7.4.10 masters ended with 2306 for an id above 48; 8.4.8 refuses it as any other."""
    old = alive(recorded("7.4.10"))
    said = say(old, "CREATE NODEGROUP 50")
    assert said.startswith("*   322: Error\n")
    assert "do not type this on a real NDB 7.4.10: an id above 48 ends its master" in said
    assert "ndbplan:" not in say(old, "CREATE NODEGROUP 48")
    assert "ndbplan:" not in say(new(), "CREATE NODEGROUP 150")


def test_of_several_nodes_one_that_is_not_connected_refuses_the_stop(
    new: Callable[[], LiveCluster],
) -> None:
    cluster = new()
    cluster.act(Kill("n4"))
    cluster.advance(2.0)
    for line in ("3 4 STOP -a", "4 STOP", "4 3 STOP -a"):
        assert "Send to process or receive failed." in say(cluster, line), line
    assert "Send to process or receive failed." not in say(cluster, "3 STOP -a")


@pytest.mark.parametrize("password", ["abc", "'", "'abc", "abc'", "'abc\"", ""])
def test_a_password_of_a_backup_stands_within_quotes(new: Callable[[], LiveCluster], password: str) -> None:
    cluster = new()
    assert "Encryption password should be within quotes" in say(
        cluster, f"START BACKUP ENCRYPT PASSWORD={password}"
    )
    assert "within quotes" not in say(cluster, "START BACKUP ENCRYPT PASSWORD='abc'")


_PAGE = "Management Client -- Help for"


@pytest.mark.parametrize(
    ("version", "known", "unknown"),
    [
        ("8.4.8", ("TLS INFO", "nodelog debug off", "PROMPT"), ("TLS", "NODELOG ON")),
        ("7.4.10", ("REPORT",), ("TLS INFO", "NODELOG", "PROMPT")),
    ],
)
def test_help_has_a_page_for_whole_names_alone(
    version: str, known: tuple[str, ...], unknown: tuple[str, ...]
) -> None:
    """CommandInterpreter.cpp; recorded on 7.4.10: NODEGROUP, PROMPT, QUIT, SHOW, START, STATUS."""
    cluster = alive(recorded(version))
    for topic in (
        "SHOW", "help", "BACKUP", "START BACKUP", "start backup wait", "ABORT BACKUP", "SHUTDOWN",
        "CLUSTERLOG", "CLUSTERLOG ON", "CLUSTERLOG INFO", "START", "RESTART", "STOP", "STATUS", "CONNECT",
        "ENTER SINGLE USER MODE", "EXIT SINGLE USER MODE", "PURGE STALE SESSIONS", "QUIT", *known,
    ):  # fmt: skip
        reply = answer(f"HELP {topic}", cluster)
        assert _PAGE in reply.text, topic
        assert reply.exit == 0
        assert not reply.text.endswith("\n\n")
    for topic in (
        "NODEGROUP",
        "CREATE NODEGROUP",
        "PURGE",
        "SINGLE USER MODE",
        "EXIT",
        " SHOW",
        "ALL",
        *unknown,
    ):
        reply = answer(f"? {topic}", cluster)
        assert (reply.text, reply.exit) == (f"No help for {topic} available\n", 255)


def test_help_lists_usages_in_the_order_of_a_running_7_4_10() -> None:
    """Usages end before the column of sentences; those are in our own words."""
    rows = answer("HELP", alive(recorded("7.4.10"))).text.splitlines()
    usages = [row[:39].rstrip() for row in rows[3:-8] if row[:1] in ("<", *"ABCDEHPQRST")]
    assert (
        usages
        == """HELP
HELP COMMAND
SHOW
CREATE NODEGROUP <id>,<id>...
DROP NODEGROUP <NG>
START BACKUP [NOWAIT | WAIT STARTED | W
START BACKUP [<backup id>] [NOWAIT | WA
START BACKUP [<backup id>] [SNAPSHOTSTA
ABORT BACKUP <backup id>
SHUTDOWN
CLUSTERLOG ON [<severity>] ...
CLUSTERLOG OFF [<severity>] ...
CLUSTERLOG TOGGLE [<severity>] ...
CLUSTERLOG INFO
<id> START
<id> RESTART [-n] [-i] [-a] [-f]
<id> STOP [-a] [-f]
ENTER SINGLE USER MODE <id>
EXIT SINGLE USER MODE
<id> STATUS
<id> CLUSTERLOG {<category>=<level>}+
PURGE STALE SESSIONS
CONNECT [<connectstring>]
<id> REPORT <report-type>
QUIT""".splitlines()
    )
    oldest = answer("HELP", alive(recorded("7.4.10").replace(ndb_version="6.3.27"))).text
    assert oldest.count("START BACKUP") == 1
    newer = answer("HELP", alive(recorded("8.4.8"))).text
    assert [line[:30].rstrip() for line in newer.splitlines() if "NODELOG" in line] == [
        "<id> NODELOG DEBUG ON", "<id> NODELOG DEBUG OFF",
    ]  # fmt: skip
    assert newer.count("START BACKUP") == 1
    assert rows[-7:-2] == newer.splitlines()[-7:-2]
    assert rows[-6].endswith(" | BACKUP | SCHEMA")


_LINES = json.loads((Path(__file__).parent / "client_lines.json").read_text("utf-8"))["lines"]


@pytest.mark.parametrize(("line", "text", "failed"), _LINES)
def test_lines_beside_the_recorded_ones_are_taken_apart_as_the_client_does(
    line: str, text: str, failed: bool, new: Callable[[], LiveCluster]
) -> None:
    reply = answer(line, new())
    assert (reply.text, reply.exit) == (text, 255 if failed else 0)


def test_what_stands_behind_shutdown_and_exit_single_user_mode_counts_for_nothing(
    new: Callable[[], LiveCluster],
) -> None:
    cluster = new()
    assert answer("EXIT SINGLE USER MODE now", cluster).text.startswith(
        "Exiting single user mode in progress."
    )
    assert "have shutdown" in say(cluster, "SHUTDOWN now")


def test_several_nodes_are_started_in_one_line(new: Callable[[], LiveCluster]) -> None:
    cluster = new()
    for node_id in (1, 3):
        say(cluster, f"{node_id} RESTART -n")
        cluster.advance(30.0)
    assert say(cluster, "1 3 START") == "Node 1 3 is being started\n"
