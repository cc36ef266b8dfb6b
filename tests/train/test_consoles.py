"""Transcripts, shells of hosts, what befalls the cluster, and the terminal."""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import pytest
from click.testing import CliRunner
from prompt_toolkit.document import Document

from ndbplan.base.errors import UserError
from ndbplan.cli import all_commands
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import memory
from ndbplan.plan.file import save
from ndbplan.train import world
from ndbplan.train.answer import carry_out
from ndbplan.train.consoles import Consoles, transcript
from ndbplan.train.host.console import PROGRAMS, Shell
from ndbplan.train.host.machine import SYSTEM_BYTES
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm.console import WORDS
from ndbplan.train.terminal import Terminal

from .conftest import two_by_two

STORY = """\
# a node is lost and comes back
ndb_mgm> SHOW
! kill node:4
! wait 2s
ndb_mgm> 4 STATUS
data2$ ndbmtd
! until nodes_started 4 within 10min
ndb_mgm> 3 STOP
app1$ tail -n 3 ndb_1_cluster.log

data1$ iostat -kx
nobody knows
"""


def sh(cluster: LiveCluster, host: str, line: str) -> str:
    found = next(one for one in cluster.plan.hosts if one.hostname == host)
    return carry_out(Shell(found.id).answer(line, cluster), cluster).text


def test_a_transcript_repeats_each_line_with_its_answer_and_plays_again(
    begun: Callable[[str], LiveCluster],
) -> None:
    first, again = ("".join(transcript(io.StringIO(STORY), begun("8.4.8"))) for _ in range(2))
    assert first == again
    lines = [line for line in STORY.splitlines() if line]
    assert [line for line in first.splitlines() if line in lines] == lines
    assert "Node 4: not connected" in first
    assert "Node 3 has shutdown." in first
    assert "Node 3: Node shutdown initiated\n" in first, "the client prints events on its own"
    assert first.rstrip().endswith("'! wait 30s'")
    assert "'nobody knows' names no console" in first


def test_the_command_reads_a_transcript(tmp_path: object) -> None:
    path = tmp_path / "plan.ndbplan"  # type: ignore[operator]
    save(two_by_two(), path)
    done = CliRunner().invoke(
        all_commands(), ["train", str(path), "--for", "5min"], input="! wait 10s\nndb_mgm> 3 STATUS\n"
    )
    assert done.exit_code == 0
    greeting = "Connected to management server at app1 port 1186 (using cleartext)\n"
    status = "Node 3: started (mysql-8.4.8 ndb-8.4.8)\n\n"
    assert done.output == f"! wait 10s\n0:10\nndb_mgm> 3 STATUS\n{greeting}{status}"


def test_a_machine_whose_node_is_gone_does_nothing(cluster: LiveCluster) -> None:
    def user() -> float:
        lines = sh(cluster, "data1", "iostat -kx").splitlines()
        return float(
            lines[next(i for i, line in enumerate(lines) if line.startswith("avg-cpu")) + 1].split()[0]
        )

    assert user() > 1.0
    world.do("kill node:3", cluster)
    cluster.advance(3)
    assert user() == 0.0
    assert "Threads: 0 total" in sh(cluster, "data1", "top -H")


def test_a_machine_shows_what_its_node_and_the_system_take(cluster: LiveCluster) -> None:
    used = {one: int(sh(cluster, "data1", f"free{one}").split()[8]) for one in ("", " -m", " -g")}
    node = next(one for one in memory(cluster.plan).nodes if one.node_id == 3)
    taken = node.ram_bytes.value + SYSTEM_BYTES
    assert [used[one] for one in ("", " -m", " -g")] == [round(taken / 2.0**n) for n in (10, 20, 30)]
    cpu = Estimation(cluster.plan, cluster.session.simulation.scenario.workload).cpu.node(3)
    busy: dict[str, list[float]] = {}
    for line in sh(cluster, "data1", "top -H").splitlines()[4:]:
        busy.setdefault(line.split()[-1], []).append(float(line.split()[7]))
    share = busy["ldm"][0] / 100 / cpu.ldm_utilisation.value
    assert 0.5 < share <= 1.01
    assert busy["recv"] == [pytest.approx(100 * share * cpu.receive_utilisation.value, rel=0.01)]
    # The other threads share what they take together.
    rest = [*busy["main"], *busy["rep"]]
    assert len(set(rest)) == 1
    assert sum(rest) == pytest.approx(100 * share * cpu.other_utilisation.value, rel=0.02)


def test_what_a_machine_shows_follows_the_cluster(cluster: LiveCluster) -> None:
    busy = sh(cluster, "data1", "iostat -kx")
    assert busy.splitlines()[5].split()[0] == "Device"
    assert all(len(line.split()) == len(busy.splitlines()[5].split()) for line in busy.splitlines()[6:8])
    assert sh(cluster, "data1", "free -m").splitlines()[1].startswith("Mem:")
    threads = sh(cluster, "data1", "top -H").splitlines()[4:]
    assert {line.split()[-1] for line in threads} == {"main", "rep", "ldm", "recv"}
    used = int(sh(cluster, "data1", "free -m").split()[8])
    world.do("kill node:3", cluster)
    cluster.advance(5.0)
    assert int(sh(cluster, "data1", "free -m").split()[8]) < used
    assert sh(cluster, "data1", "top -H").splitlines()[1] == "Threads: 0 total"
    world.do("fail host:data1", cluster)
    assert sh(cluster, "data1", "df -h").startswith("ssh: connect to host data1")
    world.do("restore host:data1", cluster)
    assert sh(cluster, "data1", "df -h").startswith("Filesystem")


def test_processes_are_started_where_they_are_down(cluster: LiveCluster) -> None:
    assert "every data node of this host runs" in sh(cluster, "data1", "ndbmtd")
    world.do("kill node:1,node:3", cluster)
    cluster.advance(2.0)
    assert "Could not connect to app1:1186" in sh(cluster, "data1", "ndbmtd")
    assert sh(cluster, "app1", "ndb_mgmd -f config.ini").endswith("ndb-8.4.8\n")
    assert sh(cluster, "app1", "ndb_mgmd -f config.ini").endswith("the server runs already\n")
    assert "Failed to allocate nodeid 9" in sh(cluster, "data1", "ndbmtd --ndb-nodeid=9")
    assert "Angel allocated nodeid: 3" in sh(cluster, "data1", "ndbmtd --nostart")
    cluster.advance(3.0)
    assert cluster.state.nodes[3].status == "not started"


def test_the_tools_of_ndb(cluster: LiveCluster) -> None:
    desc = sh(cluster, "data1", "ndb_desc -d test blobs_5k -p -n")
    rows = [line.split() for line in desc.partition("-- Per partition info --")[2].splitlines()[2:] if line]
    assert [int(row[0]) for row in rows] == list(range(len(rows)))
    assert {frozenset(row[-1].split(",")) for row in rows} == {frozenset("34"), frozenset("56")}
    assert sh(cluster, "data1", "ndb_desc -d test nosuch") == "No such object: nosuch\n\n"
    assert sh(cluster, "data1", "ndb_config --type=ndbd --query=nodeid,host") == (
        "3,data1 4,data2 5,data3 6,data4\n"
    )
    assert sh(cluster, "data1", "ndb_config --query=nosuch") == "Unknown query option: nosuch\n"
    assert sh(cluster, "data1", "ndb_perror 1221").startswith("NDB error code 1221: ")
    assert sh(cluster, "data1", "ndb_perror 410").endswith(": Temporary error: Overload error\n")
    assert sh(cluster, "data1", "ndb_perror 99999") == "Illegal ndb error code: 99999\n"
    assert "not on this machine" in sh(cluster, "data1", "vi /etc/passwd")


def test_time_goes_to_a_breakpoint_and_back(cluster: LiveCluster) -> None:
    begin_s = cluster.now_s
    world.do("load x3", cluster)
    assert "redo_log is " in world.do("until redo_log 2% within 5min", cluster)
    reached_s = cluster.now_s
    assert begin_s < reached_s
    before = cluster.log_text()
    world.do("kill node:4", cluster)
    world.do("wait 20s", cluster)
    world.do(f"rewind to {reached_s:g}s", cluster)
    assert (cluster.now_s, cluster.log_text()) == (reached_s, before)
    world.do("rewind 5h", cluster)
    assert cluster.now_s < 0.5


def test_a_disk_is_slowed_to_a_speed_by_its_role(cluster: LiveCluster) -> None:
    world.do("slow disk:data1/redo 10MB/s", cluster)
    sim = cluster.session.simulation
    disk = sim.scenario.node_classes[0].redo_disk
    full = sim.scenario.disk_classes[disk]
    share = float(sim.laws.disks[disk].write_bytes_per_s) / full.bytes_per_s
    assert share == pytest.approx(10e6 / full.disks[0].sequential_write_bytes_per_s)
    name = f"{full.hostnames[0]}/{full.disks[0].name}"
    world.do(f"restore disk:{name}", cluster)
    assert float(sim.laws.disks[disk].write_bytes_per_s) == pytest.approx(full.bytes_per_s)


def test_a_parameter_changes_with_a_rolling_restart(cluster: LiveCluster) -> None:
    world.do("set RedoBuffer=64M", cluster)
    cluster.advance(1.0)
    assert sum(node.status == "started" for node in cluster.state.nodes.values()) == 2
    assert "Node 3: Node shutdown completed, restarting, no start." in cluster.log_text()
    assert cluster.advance_until(lambda c: c.log_text().count(": Started (mysql-8.4.8") == 4, 1200.0, 5.0)
    assert "Forced node shutdown" not in cluster.log_text()


@pytest.mark.parametrize(
    "line",
    ["", "fly", "kill", "kill host:data1", "kill node:99", "wait", "wait x", "until x 3", "until redo_log y",
     "slow disk:data1/none 1MB/s", "slow node:3 1MB/s", "set RedoBuffer", "set NoSuch=1", "load", "load xx",
     "rewind a", "cut disk:data1/x", "cut link:a/b", "fail link:data1/data2", "restore node:3"],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_line(cluster: LiveCluster, line: str) -> None:
    before = cluster.now_s
    with pytest.raises(UserError) as found:
        world.do(line, cluster)
    assert "\n" not in found.value.line
    assert cluster.now_s == before


def test_random_lines_to_any_console_are_answered(begun: Callable[[str], LiveCluster]) -> None:
    rng = random.Random(5)
    more = (
        "node:3 host:data1 disk:data1/c0d1 5s x2 80% redo_log -p -h 'unclosed -n 3 /c0d1/mysqlcluster to "
        "ndb_3_out.log --initial --ndb-nodeid=4 RedoBuffer=1"
    )
    words = [*WORDS, *PROGRAMS, *world.VERBS, *more.split(" ")]
    consoles = Consoles(begun("8.4.8"))
    for turn in range(600):
        if turn % 60 == 0:
            consoles = Consoles(begun("8.4.8"))
        prompt = rng.choice(["ndb_mgm>", "!", "data1$", "app1$", "nowhere$", ""])
        text = " ".join(rng.choice(words) for _ in range(rng.randrange(5)))
        if "STOP" in text or "RESTART" in text or "until" in text or "BACKUP" in text:
            continue
        assert isinstance(consoles.answer(f"{prompt} {text}"), str)


def test_the_terminal_lets_time_pass_and_records_what_plays_again(
    begun: Callable[[str], LiveCluster],
) -> None:
    record = io.StringIO()
    cluster = begun("8.4.8")
    begin_s = cluster.now_s
    terminal = Terminal(cluster, 10.0, record)
    assert terminal.prompt == "ndb_mgm> "
    seen = terminal.line("show", 1.25)
    assert cluster.now_s == pytest.approx(begin_s + 12.5)
    assert terminal.line("data1$", 0.0) == ""
    assert terminal.prompt == "data1$ "
    seen += terminal.line("df -h", 0.0)
    seen += terminal.line("! kill node:4", 0.5)
    words = terminal._completer.get_completions(Document("to"), None)  # type: ignore[arg-type]
    assert [word.text for word in words] == ["top"]
    played = "".join(transcript(io.StringIO(record.getvalue()), begun("8.4.8")))
    told = [line for line in played.splitlines() if line and not line.startswith(("! wait", "0:"))]
    assert [line for line in seen.splitlines() if line and not line.startswith("0:")] == [
        line for line in told if line not in record.getvalue().splitlines()
    ]


def test_a_log_is_followed_until_ctrl_c(
    begun: Callable[[str], LiveCluster], capsys: pytest.CaptureFixture[str]
) -> None:
    record = io.StringIO()
    terminal = Terminal(begun("8.4.8"), 0.0, record)
    terminal.line("app1$ tail -f ndb_1_cluster.log", 0.0)
    waits = iter((lambda: terminal.consoles.passes(30.0), lambda: None))

    def wait() -> None:
        act = next(waits, None)
        if act is None:
            raise KeyboardInterrupt
        act()

    terminal.follow(wait)
    printed = capsys.readouterr().out
    assert printed.count("Local checkpoint") > 2
    assert terminal.consoles.following == ""
    assert record.getvalue() == "app1$ tail -f ndb_1_cluster.log\napp1$ ^C\n"


def test_ctrl_c_at_the_prompt_is_for_the_console_in_front(
    begun: Callable[[str], LiveCluster], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed: list[str | BaseException] = [
        "mysql> SELECT SLEEP(3000);", "mysql>", KeyboardInterrupt(), "SELECT 7;", "!", KeyboardInterrupt(),
        EOFError(),
    ]  # fmt: skip

    def prompt(_self: object, _text: str) -> str:
        one = typed.pop(0)
        if isinstance(one, BaseException):
            raise one
        return one

    monkeypatch.setattr("prompt_toolkit.PromptSession.prompt", prompt)
    record = io.StringIO()
    Terminal(begun("8.4.8"), 1.0, record).run()
    printed = capsys.readouterr().out
    assert "under way" in printed
    assert printed.index("^C -- query aborted") < printed.index("| 7 |")
    lines = [line for line in record.getvalue().splitlines() if not line.startswith("! wait")]
    assert lines == ["! apart", "mysql> SELECT SLEEP(3000);", "mysql> ^C", "mysql> SELECT 7;"]


def test_rows_and_tables_of_a_backup_come_back(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    world.do("load x0.1", cluster)
    consoles.answer("ndb_mgm> START BACKUP")
    restore = "ndb_restore -b 1 --include-tables=test.blobs_1k"
    assert "721" in consoles.answer(f"data1$ {restore} -n 3 -m")
    memory = cluster.session.simulation.state.node_state[0].memory_bytes
    consoles.answer("mysql> DROP TABLE test.blobs_1k;")
    assert "Unable to find table: blobs_1k error: 723: " in consoles.answer(f"data1$ {restore} -n 3 -r")
    assert "Failed to open" in consoles.answer(f"data2$ {restore} -n 3 -m"), "it lies on its own host"
    assert "Successfully created table test/def/blobs_1k" in consoles.answer(f"data1$ {restore} -n 3 -m")
    begin_s = cluster.now_s
    for node_id in (3, 4, 5, 6):
        answer = consoles.answer(f"data{node_id - 2}$ {restore} -n {node_id} -r")
        assert answer.endswith("Data and log restore successful\n")
    assert cluster.now_s - begin_s > 100_000 / 10_000 * 0.9
    assert "|   100000 |" in consoles.answer("mysql> SELECT COUNT(*) FROM test.blobs_1k;")
    assert cluster.session.simulation.state.node_state[0].memory_bytes == pytest.approx(memory, rel=0.05)


RESTORE = "ndb_restore -b 1 --include-tables=test.blobs_1k -n 3"


def _with_a_dropped_table_saved(cluster: LiveCluster) -> Consoles:
    """A backup of a table that is gone, its definition back, and time that passes with the clock."""
    consoles = Consoles(cluster)
    for line in ("! load x0.1", "ndb_mgm> START BACKUP", "mysql> DROP TABLE test.blobs_1k;"):
        consoles.answer(line)
    consoles.answer(f"data1$ {RESTORE} -m")
    consoles.answer("! apart")
    return consoles


def test_a_restore_holds_its_own_shell_alone_and_goes_back_with_time(cluster: LiveCluster) -> None:
    consoles = _with_a_dropped_table_saved(cluster)
    begin_s = cluster.now_s
    assert "(under way:" in consoles.answer(f"data1$ {RESTORE} -r")
    assert cluster.now_s == begin_s
    assert "| 1 |" in consoles.answer("mysql> SELECT 1;")
    assert "has been at this for 0.0 s" in consoles.answer("data1$ df -h")
    consoles.answer("! wait 2s")
    elsewhere = consoles.on(cluster.branch())
    ends = [one.answer("! wait 10s") for one in (consoles, elsewhere)]
    assert ends[0] == ends[1]
    assert ends[0].endswith("Data and log restore successful\n")
    consoles.answer("! rewind 11s")
    assert "|        0 |" in consoles.answer("mysql> SELECT COUNT(*) FROM test.blobs_1k;")


def test_steps_of_a_restore_that_time_goes_back_over_are_done_again(cluster: LiveCluster) -> None:
    consoles = _with_a_dropped_table_saved(cluster)
    consoles.answer(f"data1$ {RESTORE} -r")
    consoles.answer("! wait 1s")
    straight = consoles.on(cluster.branch()).answer("! wait 11s")
    consoles.answer("! wait 1.5s")
    consoles.answer("! rewind 1.5s")
    assert consoles.answer("! wait 11s") == straight
    assert consoles.answer("mysql> SELECT COUNT(*) > 0 v FROM test.blobs_1k;").splitlines()[3] == "| 1 |"


def test_what_copies_rows_to_reorganise_holds_its_own_session_alone(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    consoles.answer("! apart")
    alter = "mysql> ALTER TABLE test.blobs_1k ALGORITHM=COPY, REORGANIZE PARTITION;"
    begin_s = cluster.now_s
    assert "(under way:" in consoles.answer(alter)
    assert cluster.now_s == begin_s
    assert "| 1 |" in consoles.answer("mysql2> SELECT 1;")
    said = consoles.answer("! wait 30s")
    assert "Query OK, 100000 rows affected (5." in said


def test_a_backup_of_a_number_that_has_files_is_not_one(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    consoles.answer("ndb_mgm> START BACKUP 1")
    consoles.answer("ndb_mgm> START BACKUP 1")
    assert [one.number for one in cluster.state.backups if not one.error] == [1]
    assert cluster.state.backup is not None
    assert cluster.state.backup.error == 1350


def test_numbers_of_backups_begin_anew_with_empty_data_nodes(cluster: LiveCluster) -> None:
    """They are counted in a table of the cluster; files of earlier ones stay, and refuse their numbers."""
    consoles = Consoles(cluster)
    consoles.answer("ndb_mgm> START BACKUP")
    consoles.answer("ndb_mgm> ALL RESTART -i")
    consoles.answer(f"! until nodes_started {len(cluster.plan.data_nodes)} within 60min")
    found = []
    for _ in range(2):
        consoles.answer("ndb_mgm> START BACKUP")
        assert cluster.state.backup is not None
        found.append((cluster.state.backup.number, cluster.state.backup.error))
    assert found == [(1, 1350), (2, 0)]


def test_connect_tells_of_its_server(cluster: LiveCluster) -> None:
    consoles = Consoles(cluster)
    greeting = consoles.answer("ndb_mgm> CONNECT")
    assert greeting == "Connected to management server at app1 port 1186 (using cleartext)\n"
    assert consoles.answer("ndb_mgm> SHOW").startswith("Cluster Configuration")
    assert consoles.answer("ndb_mgm> CONNECT app1:1186") == greeting
    assert consoles.answer("ndb_mgm> CONNECT nowhere").startswith("ERROR: Unable to connect")
