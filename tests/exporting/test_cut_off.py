"""Commands on hosts whose connection is lost, or whose script is broken off: they go on, or end half way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from exporting.acted_cluster import ActedCluster
from ndbplan.base.quoting import shell_quoted
from ndbplan.exporting.export import export
from ndbplan.exporting.runbook import render_script
from ndbplan.operations.commands import Shell
from ndbplan.operations.files import sql_data_directories
from ndbplan.operations.life import operations
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")
REDO = sample_plan("redo-overload")


def functions(place: Path, *ends: str) -> str:
    """What stands between comments of the script, with its locks and hosts in a folder of the test."""
    text = render_script(REDO, operations(REDO)).replace("/var/lock/", f"{place}/")
    ssh = 'remote() { shift; setsid bash -c "$*"; }\n'
    ssh += "ask() { printf '%s\\n' \"$2\" | setsid bash -euo pipefail -s; }\n"
    quoted = "quoted() { printf '%q' \"$1\"; }\n"
    parts = (
        text[text.index(first) : text.index(last)] for first, last in zip(ends[::2], ends[1::2], strict=True)
    )
    return f"set -euo pipefail\n{ssh}{quoted}{''.join(parts)}"


def run(text: str, *, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", text], input=given, capture_output=True, text=True, check=False)


def test_what_goes_on_without_its_script_is_waited_for(tmp_path: Path) -> None:
    """A data directory that is filled, an archive that is unpacked: a second one beside it spoils both."""
    work = functions(tmp_path, "# work HOST", "# place HOST")
    begun, goes_on, log = (tmp_path / name for name in ("begun", "goes_on", "log"))
    os.mkfifo(begun)
    os.mkfifo(goes_on)
    slow = f"echo begun >{begun}; read -r <{goes_on}; echo first >>{log}"
    first = subprocess.Popen(["bash", "-c", f"{work}work host {shell_quoted(slow)}"], start_new_session=True)
    assert begun.read_text() == "begun\n"
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    second = subprocess.Popen(
        ["bash", "-c", f"{work}work host 'echo second >>{log}'"], stderr=subprocess.PIPE, text=True
    )
    assert second.stderr is not None
    with second.stderr as said:
        assert "waits for what was begun here before: process " in said.readline()
        goes_on.write_text("\n")
    assert second.wait(60) == 0
    assert log.read_text() == "first\nsecond\n"


def test_what_a_command_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    work = functions(tmp_path, "# work HOST", "# place HOST")
    done = run(f"{work}work host 'sleep 60 >/dev/null 2>&1 & echo $! >{tmp_path}/pid'")
    try:
        assert done.returncode == 0, done.stderr
        assert run(f"flock -n {tmp_path}/ndb-runbook.work true").returncode == 0
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def broken_off(place: Path, name: str, program: str, text: str) -> subprocess.Popen[str]:
    """A script that is killed while a program works on a host, and the next one, which waits for it."""
    (place / "bin").mkdir()
    for pipe in ("begun", "goes_on"):
        os.mkfifo(place / pipe)
    busy = f"busy() {{ mkdir {place}/is_busy && echo >{place}/begun && read -r <{place}/goes_on; }}"
    (place / "bin" / name).write_text(f"#!/bin/bash\n{busy}\n{program}")
    (place / "bin" / name).chmod(0o755)
    first = subprocess.Popen(["bash", "-c", text], start_new_session=True, stdout=subprocess.DEVNULL)
    assert (place / "begun").read_text() == "\n"
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    second = subprocess.Popen(
        ["bash", "-c", text], stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL
    )
    assert second.stderr is not None
    assert "waits for what was begun here before: process " in second.stderr.readline()
    (place / "goes_on").write_text("\n")
    return second


def test_statements_that_go_on_without_their_script_are_waited_for(tmp_path: Path) -> None:
    """A table that is reorganised bears no restart of a data node; half of a statement is none."""
    log = tmp_path / "log"
    program = f"text=$(cat)\n[[ $text != first ]] || busy\nprintf '%s\\n' \"$text\" >>{log}\n"
    ends = ("# work HOST", "# place HOST", "# The locale of the host", "sql_look() {")
    text = functions(tmp_path, *ends, "# statements_end HOST", "exec 3<&0")
    text = f"export PATH={tmp_path}/bin:$PATH; dry_run=0 list_only=0\n{text}\n"
    first = f"[[ -e {tmp_path}/killed ]] || {{ : >{tmp_path}/killed; change_on host socket <<<first; }}\n"
    second = broken_off(tmp_path, "mysql", program, f"{text}{first}statements_end host\necho second >>{log}")
    assert second.stderr is not None
    with second.stderr:
        assert second.wait(60) == 0
    assert log.read_text() == "first\nsecond\n"
    for part, waits in (("rolling-restart", True), ("stop", True), ("backup", False)):
        steps = render_script(REDO, operations(REDO)).rpartition(f"\n  {part})\n")[2].partition("\n    ;;")[0]
        assert ("\n    statements_end app1 " in steps) is waits, part
    cut = text.replace("| setsid", "| { text=$(cat); printf '%s' \"${text% | mysql*}\"; } | setsid")
    run(f"{cut}change_on host socket <<<third")
    assert log.read_text() == "first\nsecond\n"


def test_a_start_that_goes_on_is_given_no_option_again(tmp_path: Path) -> None:
    """It has read its own and counts as down for seconds: another one would lie until a later start."""
    option, active = tmp_path / "a.service.option", tmp_path / "active"
    program = (
        f"case $1 in is-active) test -e {active} ;;\n"
        f"start) grep -q initial {option} && rm {option} && busy && : >{active} ;; esac\n"
    )
    ends = ("# A unit of systemd", "# Neither running", "# work HOST", "# place HOST")
    text = functions(tmp_path, *ends, "# start_service HOST", "# A stop returns")
    text = text.replace("place=/run ", f"place={tmp_path} ")
    text = f"export PATH={tmp_path}/bin:$PATH; dry_run=0; say() {{ :; }}; did() {{ :; }}\n{text}\n"
    second = broken_off(tmp_path, "systemctl", program, f"{text}start_service host a.service --initial\n")
    assert second.stderr is not None
    with second.stderr:
        assert second.wait(60) == 0
    assert active.exists()
    assert not option.exists()


@pytest.mark.parametrize("cut", [5, 30, -9])
def test_a_command_that_arrives_in_part_does_nothing(cut: int, tmp_path: Path) -> None:
    """The removal of /data/ndb_1_fs would be one of /data."""
    (tmp_path / "data").mkdir()
    work = functions(tmp_path, "# work HOST", "# place HOST")
    work = work.replace("| setsid", f"| {{ text=$(cat); printf '%s' \"${{text:0:{cut}}}\"; }} | setsid")
    remove = f"rm -rf -- {tmp_path}/data/ndb_1_fs"
    padded = f"{remove}{' ' * 3}"
    assert run(f"{work}behind_others=; work host {shell_quoted(padded)}").returncode != 0
    assert (tmp_path / "data").exists()


def test_a_file_that_arrives_in_part_takes_no_place(tmp_path: Path) -> None:
    place = functions(tmp_path, "# work HOST", "# Something is other")
    target, source = tmp_path / "config.ini", tmp_path / "new.ini"
    target.write_text("[ndbd default]\n")
    source.write_text("[ndbd default]\nNoOfReplicas=2\n")
    half = place.replace("remote() { shift;", "remote() { shift; head -c 20 |")
    assert run(f"{half}put {source} host {target}").returncode != 0
    assert target.read_text() == "[ndbd default]\n"
    assert run(f"{place}put {source} host {target}").returncode == 0
    assert target.read_text() == source.read_text()


def with_backup(plan: Plan, place: Path) -> tuple[ActedCluster, Path]:
    """A cluster with tables and a backup, and the folder of its plan."""
    folder = place / "acted" / "out"
    folder.parent.mkdir()
    export(plan, folder, ("config", "mycnf", "runbook", "systemd"))
    cluster = ActedCluster(plan, 1)
    for part in ("start", "schema", "backup"):
        done = cluster.run(folder, part)
        assert done.returncode == 0, done.stderr
    return cluster, folder


def test_tables_that_came_back_in_part_begin_anew(tmp_path: Path) -> None:
    """ndb_restore ends at the first table that is there, and whether it is the last one nobody knows."""
    cluster, folder = with_backup(REDO, tmp_path)
    cluster.may_be_down = cluster.rows_may_go_back = True
    broken = cluster.twin()
    broken.watch = lambda: _half_of_the_tables(broken)
    refused = broken.run(folder, "restore")
    assert refused.returncode == 1
    assert "expected: ndb_restore makes every table of backup 1" in refused.stderr
    assert "begin anew, with --from empty" in refused.stderr
    broken.watch = None
    again = broken.run(folder, "restore", "--from", "empty")
    assert again.returncode == 0, again.stderr
    assert broken.faults == []


def _half_of_the_tables(cluster: ActedCluster) -> None:
    """As one leaves them that was killed: between the start of empty data nodes and the step for tables."""
    if "ndb_waiter" in cluster.log[-1]:
        for node in cluster.data_nodes.values():
            node.tables = True


def test_a_backup_that_goes_on_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was asked for by a client that is gone: START BACKUP would be refused beside it."""
    cluster, folder = with_backup(REDO, tmp_path)
    began, answer = cluster.now, ActedCluster._ndb_mgm

    def busy(self: ActedCluster, host: str, words: list[str]) -> str:
        if "--execute=ALL REPORT BACKUPSTATUS" in words and self.now < began + 300:
            return (
                "Node 3: Local backup status: backup 2 started from node 145\n #Records: 1 #LogRecords: 0\n"
            )
        assert self.now >= began + 300 or not any("START BACKUP" in word for word in words)
        return answer(self, host, words)

    monkeypatch.setattr(ActedCluster, "_ndb_mgm", busy)
    done = cluster.run(folder, "backup")
    assert done.returncode == 0, done.stderr
    assert len(cluster.backups) == 2


def test_programs_that_came_in_part_come_again(tmp_path: Path) -> None:
    """Half of an archive has programs that say their release, and none of what they read."""
    folder = tmp_path / "acted" / "out"
    folder.parent.mkdir()
    export(STARTER, folder, ("config", "mycnf", "runbook", "systemd"))
    cluster = ActedCluster(STARTER, 1)
    archive = folder.parent / "ndb-8.4.tar.gz"
    archive.write_text("8.4.8")
    host = STARTER.host(STARTER.data_nodes[0].host_id).hostname
    cluster.releases[host] = "8.4.8"
    cluster.files[host, "/var/cache/ndb-programs/ndb-8.4.tar.gz"] = "8.4"
    refused = cluster.run(folder, "install")
    assert refused.returncode == 1
    assert f"expected: programs of NDB 8.4 on {host}\n  found:    none; name them" in refused.stderr
    done = cluster.run(folder, "install", "--programs", str(archive))
    assert done.returncode == 0, done.stderr
    assert any(f"{host}: tar " in line for line in cluster.log)
    assert any(f"{host}: restorecon -R /opt/ndb-" in line for line in cluster.log)
    inside = [path for at, path in cluster.files if at == host and "/ndb-" in path]
    assert inside == ["/opt/ndb-8.4/"]


def test_what_ssh_and_mysqld_say_is_shown(tmp_path: Path) -> None:
    """A host whose key is not known yet; a data directory that cannot be filled, as its error log says."""
    command = next(
        one.command
        for one in sql_data_directories(REDO)
        if isinstance(one, Shell) and "install_db" in one.command
    )
    log = tmp_path / "mysqld.log"
    log.write_text("[ERROR] no room\n")
    filled = command.partition("&& { ")[2].partition(" && rm ")[0]
    words = "{ " + filled.replace("/var/log/mysqld.log", str(log)).replace("mysql_install_db", "false")
    done = run(words)
    assert (done.returncode, done.stderr) == (1, "[ERROR] no room\n")
    reach = functions(tmp_path, "# The management client runs", "# ask_management")
    reach = reach.replace("remote() {", "remote() { echo 'Host key verification failed.' >&2; return 255;")
    hosts = 'management_host=a; management_hosts=(a b); go_on=(x); fail() { echo "$1" >&2; exit 2; };'
    refused = run(f"{reach}{hosts} reach_management")
    assert refused.returncode == 2
    assert refused.stderr.startswith("Host key verification failed.\nno management host can be reached")


def test_no_row_is_lost_for_a_pipe_whose_reader_ends_first(tmp_path: Path) -> None:
    """What says much to a reader that stops at the first line is ended by a signal: that is no answer."""
    both = functions(tmp_path, "# data_nodes_rest:", "# The one whose tables")
    given = "dry_run=0 backup_is_new=0\nback_up() { echo taken; }\nawait() { :; }\nrefuse() { exit 7; }\n"
    many = "client() { printf 'Node %s: started\\n' {1..9999}; }\n"
    done = run(f"{both}{given}{many}back_up_again")
    assert done.stdout == "taken\n"
    starting = "client() { printf 'Node %s: starting\\n' {1..9999}; }\n"
    assert run(f"{both}{given}{starting}data_nodes_rest >/dev/null").returncode == 1
    assert run(f"{both}{given}{starting}back_up_again").returncode == 7, "nothing is emptied behind it"


@pytest.mark.parametrize("name", ["starter", "disk-data", "measured-7.4.10"])
def test_no_reader_of_a_pipe_stops_before_its_end(name: str) -> None:
    """Which of both ends first is not said, and pipefail takes either for a failure."""
    plan = sample_plan(name)
    text = render_script(plan, operations(plan))
    assert re.findall(r"(?<!\|)\|\s*(?:grep\s+-\w*q|head\b|sed\s+-n\s+\S*q\b).*", text) == []
