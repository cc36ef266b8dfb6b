"""Every part of the exported runbook acted out on a cluster of stubs: to the end, broken off, once more."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from exporting.acted_changes import with_init_scripts, with_linked_redo, with_management_nodes
from exporting.acted_cluster import PASSWORDS, ActedCluster
from exporting.acted_drawn import is_refused
from exporting.acted_life import LIFE, Life
from exporting.acted_sql import NOT_LOGGED
from exporting.acted_state import release_of
from exporting.acted_typing import typed
from ndbplan.base.errors import UserError
from ndbplan.configuration.deployment import connect_string
from ndbplan.configuration.directories import named_folders
from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.export import export
from ndbplan.operations.add_nodes import GROWN_FOLDER, grown_configuration
from ndbplan.operations.commands import StartService
from ndbplan.operations.life import operations
from ndbplan.operations.schema import placed_files, table_name
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column
from random_plans import random_plan


@pytest.fixture
def acted(tmp_path: Path) -> Callable[..., tuple[ActedCluster, Path]]:
    """A cluster on bare hosts, and the exported folder of its plan."""

    def made(plan: Plan, seed: int = 1) -> tuple[ActedCluster, Path]:
        folder = tmp_path / "acted" / "out"
        folder.parent.mkdir()
        export(plan, folder, ("config", "mycnf", "runbook", "systemd", "hosts"))
        return ActedCluster(plan, seed), folder

    return made


def versions(name: str) -> Plan:
    sample, _, version = name.partition(" ")
    plan = sample_plan(sample)
    return set_plan(plan, ndb_version=version) if version else plan


def act(cluster: ActedCluster, folder: Path, part: str) -> None:
    cluster.may_be_down = cluster.rows_may_go_back = part == "restore"
    if part == "add-nodes":
        grown = grown_configuration(cluster.plan)
        cluster.know(grown)
        # Somebody has installed the new hosts before.
        cluster.releases = dict.fromkeys(cluster.releases, release_of(grown))
    done = cluster.run(folder, part)
    assert done.returncode == 0, (part, done.stderr, done.stdout[-2000:], cluster.log[-30:])
    assert cluster.faults == [], part


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[ActedCluster, Path]]:
    """A cluster of a sample that was started for the first time, and its folder: they are only copied."""

    @cache
    def made(name: str) -> tuple[ActedCluster, Path]:
        plan, folder = versions(name), tmp_path_factory.mktemp("started") / "out"
        export(plan, folder, ("config", "mycnf", "runbook", "systemd", "hosts"))
        cluster = ActedCluster(plan, 1)
        act(cluster, folder, "start")
        return cluster, folder

    return made


@pytest.fixture
def started(
    tmp_path: Path, once: Callable[[str], tuple[ActedCluster, Path]]
) -> Callable[[str], tuple[ActedCluster, Path]]:
    """A cluster of a sample behind its first start."""

    def copied(name: str) -> tuple[ActedCluster, Path]:
        cluster, folder = once(name)
        return cluster.twin(), shutil.copytree(folder, tmp_path / "acted" / "out")

    return copied


def accounts_are_saved(life: Life) -> None:
    """With the passwords that were given, which are written nowhere else."""
    wanted = {"'ndb_app'@'%'": PASSWORDS["ndb_app"], "'ndb_backup'@'localhost'": PASSWORDS["ndb_backup"]}
    assert all(life.cluster.accounts[node.node_id] == wanted for node in life.cluster.sql_nodes.values())
    dumps = [path for _, path in life.cluster.files if path.startswith("/var/lib/mysql-dumps/")]
    assert len(dumps) >= 2 * len(life.cluster.sql_nodes)
    written = [path.read_text() for path in life.place.rglob("*") if path.is_file()]
    assert sum(PASSWORDS["ndb_backup"] in text for text in written) == 1, "where the operator keeps it"


def test_a_life_is_broken_off_and_goes_on(tmp_path: Path) -> None:
    """tests/attack/acts.py acts out every sample at every version, broken off behind every command."""
    life = Life(with_linked_redo(versions("starter")), tmp_path / "life", seed=7)
    for part, host in life.parts():
        assert list(life.act(part, 1, host, again=not life.operations[part].each_time)) == []
        if part == "backup":
            accounts_are_saved(life)
    assert life.runs > 2 * len(LIFE)


def test_a_life_of_an_older_release_with_one_management_node(tmp_path: Path) -> None:
    """In the stated times, with all that data nodes do in its own range."""
    plan = with_management_nodes(versions("disk-data 7.4"), 1)
    life = Life(plan, tmp_path / "life", timed=True)
    for part, host in life.parts():
        # Its fresh data directories have accounts without a name, which clients would be taken for.
        assert list(life.act(part, 0, host, again=part == "schema")) == []
        if part == "backup":
            accounts_are_saved(life)
    assert life.took.keys() >= {"start", "backup", "restore", "rolling-restart", "stop"}


def test_the_markdown_typed_does_what_the_script_does(tmp_path: Path) -> None:
    """With links of the redo log, which have a test before STOP."""
    life = Life(with_linked_redo(versions("starter")), tmp_path / "life")
    for part in LIFE:
        if part not in ("tune-hosts", "rolling-restart", "replace-host"):
            assert list(typed(life, part)) == [], part
    assert all(node.initial_starts for node in life.cluster.data_nodes.values())


def test_the_markdown_is_typed_on_hosts_without_systemd_too(tmp_path: Path) -> None:
    life = Life(with_init_scripts(versions("starter 7.4")), tmp_path / "life")
    for part in ("install", "start", "schema", "add-nodes", "stop"):
        assert list(typed(life, part)) == [], part


def test_a_part_that_is_done_is_done_again_from_its_first_step(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    cluster, folder = acted(versions("redo-overload"))
    for part in ("start", "rolling-restart", "rolling-restart"):
        done = cluster.run(folder, part)
        assert done.returncode == 0, (done.stderr, cluster.log[-20:])
        assert "done before" not in done.stdout
    assert (folder / "runbook.log").read_text().count("rolling-restart: done") == 2


def test_an_older_folder_is_refused_once_nodes_are_added(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    cluster, folder = acted(versions("starter"))
    for part in ("start", "schema", "add-nodes"):
        act(cluster, folder, part)
    only_this = folder / "runbook.sh"
    text = only_this.read_text().replace("data_nodes=(1 2 3 4)", "data_nodes=(1 2)")
    only_this.write_text(text)
    refused = cluster.run(folder, "rolling-restart")
    assert refused.returncode == 2
    assert "data node 3, which this folder's config.ini lacks" in refused.stderr
    assert cluster.run(folder / GROWN_FOLDER, "rolling-restart").returncode == 0


@pytest.mark.parametrize("name", ["redo-overload 8.4", "redo-overload 7.4"])
def test_a_data_directory_that_is_filled_half_way_is_not_taken_for_filled(
    name: str, acted: Callable[..., tuple[ActedCluster, Path]]
) -> None:
    """The script and the program are killed when the folder of system tables is there, and nothing in it."""
    cluster, folder = acted(versions(name))
    half_way: list[ActedCluster] = []

    def look() -> None:
        if not half_way and any(path.endswith("/mysql/mysql/") for _, path in cluster.files):
            half_way.append(cluster.twin())

    cluster.watch = look
    act(cluster, folder, "start")
    killed = half_way[0]
    assert not any(process.active for process in killed.sql_nodes.values())
    act(killed, folder, "start")
    assert all(process.serves(killed.now) for process in killed.sql_nodes.values())


def test_what_does_not_come_is_said_with_what_was_found(
    started: Callable[[str], tuple[ActedCluster, Path]],
) -> None:
    cluster, folder = started("starter")
    cluster.may_be_down = True
    cluster.data_nodes[2].active = False
    script = folder / "runbook.sh"
    script.write_text(script.read_text().replace('await "$start" ', "await 3 "))
    refused = cluster.run(folder, "rolling-restart")
    assert refused.returncode == 1
    assert "step restart-1 stops" in refused.stderr
    assert "expected: data node 2 of the same node group is started" in refused.stderr
    assert "found:    Node 2: starting" in refused.stderr, "the part has started what it needs"
    assert "to do:    the cluster works without the node; read its error log" in refused.stderr
    assert "runbook.sh rolling-restart" in refused.stderr
    assert cluster.data_nodes[1].is_started(cluster.now), "its partner was left alone"


def test_a_look_that_fails_says_what_it_looked_for(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    """A first start over old files, a restore of a backup that is not there, one of nodes not started."""
    cluster, folder = acted(versions("redo-overload"))
    node = next(iter(cluster.data_nodes.values()))
    old = f"{cluster.paths[node.node_id].file_system}/ndb_{node.node_id}_fs/D1"
    cluster.files[node.host, f"{old}/"] = ""
    refused = cluster.run(folder, "start")
    assert refused.returncode == 1
    assert "step data-nodes stops" in refused.stderr
    assert f"|| test ! -e {old}\n" in refused.stderr
    # A node that dies late in its first start leaves the same.
    del cluster.files[node.host, f"{old}/"]
    act(cluster, folder, "start")
    node.active = False
    refused = cluster.run(folder, "start")
    asks = f"systemctl is-active --quiet {node.unit} || "
    given = f"echo START_OPTION=--initial | install -m 0644 /dev/stdin /run/{node.unit}.option"
    told = f"{{ {given} && systemctl start {node.unit}; }}"
    assert f"data node {node.node_id} on {node.host}: {asks}{told}" in refused.stderr
    cluster.files[node.host, f"/run/{node.unit}.option"] = "START_OPTION=--initial\n"
    cluster._systemctl(node.host, ["start", node.unit])
    act(cluster, folder, "start")
    cluster.may_be_down = True
    refused = cluster.run(folder, "restore", "--backup", "7")
    assert "step look stops" in refused.stderr
    assert f"/BACKUP-7.{node.node_id}.ctl': No such file" in refused.stderr
    assert node.is_started(cluster.now), "nothing was stopped or removed"
    node.ready_at = float("inf")
    refused = cluster.run(folder, "backup")
    assert "expected: every data node that runs is started" in refused.stderr
    assert not any("START BACKUP" in line for line in cluster.log), "it might never answer"


def test_a_backup_that_lacks_the_files_of_one_node_is_not_brought_back(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    """Nodes of a host may share BackupDataDir, and its folder is there as soon as one of them has written."""
    cluster, folder = acted(versions("redo-overload"))
    for part in ("start", "schema", "backup"):
        act(cluster, folder, part)
    last = cluster.data_nodes[max(cluster.data_nodes)]
    backup = f"{cluster.paths[last.node_id].backup}/BACKUP/BACKUP-1"
    whole = dict(cluster.files)
    for lacks in (f"-0.{last.node_id}.Data", f".{last.node_id}.ctl", f".{last.node_id}.log"):
        cluster.files = dict(whole)
        del cluster.files[last.host, f"{backup}/BACKUP-1{lacks}"]
        refused = cluster.run(folder, "restore")
        assert refused.returncode == 1
        assert "step look stops" in refused.stderr
    assert last.is_started(cluster.now), "nothing was stopped or removed"
    assert all(sql.active for sql in cluster.sql_nodes.values()), "clients are served"
    # Several threads write a folder each.
    cluster.files = {
        (host, path.replace("BACKUP-1/BACKUP-1", "BACKUP-1/BACKUP-1-PART-*/BACKUP-1")): text
        for (host, path), text in whole.items()
    }
    act(cluster, folder, "restore")


def test_a_restore_is_taken_up_with_the_backup_that_it_began_with(
    acted: Callable[..., tuple[ActedCluster, Path]], tmp_path: Path
) -> None:
    """Which is not the last one: the refusal says how to go on, and nothing mixes the rows of two."""
    cluster, folder = acted(versions("starter"))
    for part in ("start", "schema", "backup", "backup"):
        act(cluster, folder, part)
    cluster.may_be_down = cluster.rows_may_go_back = True
    cluster.watch = lambda: setattr(cluster, "dies_after", cluster.calls) if cluster.restored else None
    state = tmp_path / "state"
    assert cluster.run(folder, "restore", "--backup", "1", state=state).returncode
    cluster.watch = cluster.dies_after = None
    restored = set(cluster.restored)
    assert restored
    refused = cluster.run(folder, "restore", "--backup", "2", state=state)
    assert "part restore has begun to bring back backup 1" in refused.stderr
    assert cluster.restored == restored
    cluster.files = {place: text for place, text in cluster.files.items() if "/BACKUP-1/" not in place[1]}
    stopped = cluster.run(folder, "restore", state=state)
    assert f"go on with: {folder}/runbook.sh restore --yes" in stopped.stderr
    assert "ndb_restore takes the files of node" in stopped.stderr
    done = cluster.run(folder, "restore", "--backup", "2", "--fresh", state=state)
    assert done.returncode == 0, done.stderr
    assert all(node.is_started(cluster.now) for node in cluster.data_nodes.values())
    assert not state.with_name("state.restore-backup").exists()


@pytest.mark.parametrize("down", [0, 1])
def test_a_backup_that_was_taken_while_a_node_was_down_comes_back(down: int, tmp_path: Path) -> None:
    """Its share was asked for, which there is not: the others of its group have written all."""
    life = Life(versions("starter"), tmp_path / "life")
    cluster = life.cluster
    for part in ("install", "start", "schema"):
        assert list(life.act(part, 0, again=False)) == []
    node = [*cluster.data_nodes.values()][down]
    cluster._ndb_mgm(
        node.host, [f"--ndb-connectstring={connect_string(life.plan)}", f"--execute={node.node_id} STOP"]
    )
    cluster.pass_time(60)
    assert not node.active
    state = tmp_path / "state"
    assert cluster.run(life.folder, "backup", state=state).returncode == 0
    assert cluster.backups[1][1] == {one.node_id for one in cluster.data_nodes.values() if one is not node}
    cluster._systemctl(node.host, ["start", node.unit])
    cluster.pass_time(600)
    cluster.may_be_down = cluster.rows_may_go_back = True
    for _ in range(2):
        done = cluster.run(life.folder, "restore", state=state)
        assert done.returncode == 0, done.stderr
        assert f"data node {node.node_id} was down, and took no part in backup 1" in done.stdout
        assert cluster.backups[1][0] <= cluster.rows < cluster.backups[1][0] + 60, "they came back"
        assert cluster.tables
        cluster.pass_time(600)
    assert cluster.faults == []
    elsewhere = cluster.run(life.folder, "restore", "--backup", "1", state=tmp_path / "other")
    assert "step look stops" in elsewhere.stderr


@pytest.mark.parametrize("secret", [False, True])
def test_a_backup_behind_a_restore_gets_a_number_that_no_host_has(secret: bool, tmp_path: Path) -> None:
    """Empty data nodes count from 1 on, and say of the files of the first backup that they exist (1350)."""
    plan = versions("starter")
    plan = set_parameter(plan, "data_node", "RequireEncryptedBackup", 1) if secret else plan
    life = Life(plan, tmp_path / "life")
    for part in ("install", "start", "schema", "backup", "backup", "restore", "backup", "backup", "restore"):
        assert list(life.act(part, 0, again=False)) == []
    assert sorted(life.cluster.backups) == [1, 2, 3, 4]
    told = list(life.place.rglob("*.last-backup"))
    assert [path.read_text() for path in told] == ["4\n"]
    silent = life.cluster.data_nodes[1].host
    life.cluster.unreachable.add(silent)
    done = life.cluster.run(life.folder, "backup")
    assert "START BACKUP 5 WAIT COMPLETED" in done.stdout, "hosts that do not answer are passed by"
    life.cluster.unreachable.clear()


def test_an_encrypted_backup_comes_back_by_its_password_alone(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    """Which no command line shows; a wrong one is found before anything is stopped or removed."""
    plan = set_parameter(versions("redo-overload 8.4"), "data_node", "RequireEncryptedBackup", 1)
    cluster, folder = acted(plan)
    for part in ("start", "schema", "backup", "restore", "backup"):
        act(cluster, folder, part)
    secret = PASSWORDS["backup"]
    assert cluster.passwords == {1: secret, 2: secret}
    assert not any(secret in line.partition(" stdin:")[0] for line in cluster.log)
    assert secret not in (folder / "runbook.log").read_text()
    cluster.passwords[2] = "another"
    refused = cluster.run(folder, "restore")
    assert "step look stops" in refused.stderr
    assert "a wrong password" in refused.stderr
    assert secret not in refused.stdout + refused.stderr
    assert all(node.is_started(cluster.now) for node in cluster.data_nodes.values())


def test_whatever_stops_a_step_is_said_with_what_was_expected(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    """A program that is missing, a host that answers no more: the step, what was found, and how to go on."""
    cluster, folder = acted(versions("redo-overload"))
    node = next(iter(cluster.data_nodes.values()))
    cluster.releases[node.host] = ""
    script = (folder / "runbook.sh").read_text()
    (folder / "runbook.sh").write_text(script.replace("daemon-reload && systemctl enable", "not-known"))
    refused = cluster.run(folder, "start")
    assert "step services stops\n  expected: [" in refused.stderr
    assert "found:    exit status 1, and what is printed above" in refused.stderr
    (folder / "runbook.sh").write_text(script)
    refused = cluster.run(folder, "start")
    assert f"step data-nodes stops\n  expected: on {node.host}: systemctl start {node.unit}" in refused.stderr
    assert f"found:    {node.unit}: inactive (dead)" in refused.stderr
    assert "runbook.sh start" in refused.stderr


def test_an_option_of_a_start_that_never_came_does_not_erase_files_later(
    started: Callable[[str], tuple[ActedCluster, Path]],
) -> None:
    cluster, folder = started("redo-overload")
    node = next(iter(cluster.data_nodes.values()))
    cluster.files[node.host, f"/run/{node.unit}.option"] = "START_OPTION=--initial\n"
    act(cluster, folder, "rolling-restart")
    assert node.initial_starts == 0


def test_a_data_directory_that_is_in_use_is_not_filled_anew(
    started: Callable[[str], tuple[ActedCluster, Path]],
) -> None:
    """The mark of one that was filled half way, where somebody has filled it by hand since."""
    cluster, folder = started("redo-overload 8.4")
    [process] = cluster.sql_nodes.values()
    rows = process.host, "/var/lib/mysql/own/rows.ibd"
    cluster.files |= {(process.host, "/var/lib/mysql.being-filled"): "", rows: "of InnoDB"}
    act(cluster, folder, "start")
    process.active = False
    act(cluster, folder, "start")
    assert rows in cluster.files
    assert process.serves(cluster.now)


def test_no_start_erases_the_last_copy_of_rows(
    started: Callable[[str], tuple[ActedCluster, Path]],
) -> None:
    """The host that is named is not the lost one; or the other node goes down while a part is broken off."""
    cluster, folder = started("redo-overload")
    first, second = cluster.data_nodes.values()
    stopped: list[ActedCluster] = []
    cluster.watch = lambda: stopped.append(cluster.twin()) if not first.active and not stopped else None
    act(cluster, folder, "initial-rolling-restart")
    assert first.initial_starts == 1
    for part, *host in (("initial-rolling-restart",), ("replace-host", "--host", first.host)):
        later = stopped[0].twin()
        later.may_be_down = True
        later.data_nodes[second.node_id].active = False
        refused = later.run(folder, part, *host)
        # Which of the two is started first differs; neither erases what it has before the other is there.
        assert re.search("expected: one of data nodes [34] is started, so that .* can copy", refused.stderr)
        assert re.search("found: *Node [34]: not connected", refused.stderr)
        # Both are down: the way on is the one of them that was not restarted, without erasing.
        hosts = [f"ndbmtd-{one.node_id}.service on {one.host}" for one in (first, second)]
        advice = refused.stderr.partition("to do:")[2]
        assert all(one in advice for one in hosts)
        assert "still without --initial" in advice
        assert [node.initial_starts for node in later.data_nodes.values()] == [0, 0]


def test_two_runs_at_once_and_hosts_without_root_logins(
    started: Callable[[str], tuple[ActedCluster, Path]],
) -> None:
    """The second run is refused: each could stop a node of the same group. Elsewhere sudo makes root."""
    cluster, folder = started("redo-overload")
    with (folder / "runbook.state.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = cluster.run(folder, "rolling-restart")
    assert refused.returncode == 2
    assert "another run of this folder's script is under way" in refused.stderr
    script = (folder / "runbook.sh").read_text()
    (folder / "runbook.sh").write_text(script.replace("ssh_user=${SSH_USER:-root}", "ssh_user=admin"))
    assert cluster.run(folder, "rolling-restart").returncode == 0
    assert cluster.faults == []


def test_a_stop_that_takes_longer_than_the_client_waits_is_waited_for(
    started: Callable[[str], tuple[ActedCluster, Path]],
) -> None:
    """The client is ended after a minute and says nothing; a second STOP is refused (5026)."""
    cluster, folder = started("redo-overload")
    cluster.lasts = lambda kind, _: 400.0 if kind == "stop" else 30.0
    act(cluster, folder, "rolling-restart")


def test_no_text_of_a_plan_is_run(tmp_path: Path, acted: Callable[..., tuple[ActedCluster, Path]]) -> None:
    """Paths, names, values of an ENUM: in words of commands on hosts, and between the lines of SQL."""
    mark = tmp_path / "mark"
    evil = f"a\"' || : >{mark} || \"'"
    plan = versions("starter")
    for name in ("DataDir", "FileSystemPath", "BackupDataDir"):
        plan = set_parameter(plan, "data_node", name, f"/{evil}")
    table = plan.tables[0]
    ends = tuple(f"{end}\n: >{mark}\ncat <<'{end}'" for end in ("END_OF_SQL", "END_OF_SQL_"))
    column = Column(name="END_OF_SQL", type="enum", members=(*(f"x\n{e}" for e in ends), evil))
    plan = update(plan, table.id, columns=(*table.columns, column))
    cluster, folder = acted(plan)
    for part in ("start", "schema", "backup", "restore"):
        act(cluster, folder, part)
        assert not mark.exists(), part
    assert "END_OF_SQL_" in (folder / "runbook.sh").read_text()


DISKLESS = {"backup", "restore", "initial-rolling-restart", "replace-host"}
"""Parts that a cluster of one replica without disks has no use for."""


@pytest.mark.parametrize(
    ("name", "without"),
    [("starter 8.4", set()), ("measured-7.4.10 8.0", {"replace-host"}), ("tick-store 8.4", DISKLESS)],
)
def test_stated_times_hold_what_the_parts_take(name: str, without: set[str], tmp_path: Path) -> None:
    """With all that data nodes do in its own range, and what the script waits for beside it.

    Reserved nodes restart too, hold no rows of a backup, and run when node groups are made of them.
    """
    timed = {*LIFE} - {"tune-hosts", "stop", "start-again"}
    life = Life(versions(name), tmp_path / "life", timed=True)
    for part, host in life.parts():
        if part in timed:
            assert list(life.act(part, 0, host, again=False)) == []
    assert life.took.keys() == timed - {"install", "schema"} - without


def test_a_host_is_replaced_in_the_stated_time_with_all_its_data_nodes(tmp_path: Path) -> None:
    """They make their files on one disk and fetch their rows over one link: two take longer than one."""
    plan = add_node_group(versions("disk-data 8.4"))
    data = plan.data_nodes
    for node, beside in ((data[2], data[0]), (data[3], data[1])):
        plan = move_process(plan, node.id, beside.host_id)
    life = Life(plan, tmp_path / "life", timed=True)
    for part in ("install", "start", "schema"):
        assert list(life.act(part, 0, again=False)) == [], part
    host = plan.host(data[0].host_id).hostname
    assert list(life.act("replace-host", 0, host, again=False)) == []
    assert life.took.keys() >= {"start", "replace-host"}


def test_hosts_that_are_alike_are_broken_off_on_once(tmp_path: Path) -> None:
    """The first of each kind: a node group more brings hosts that are like those that are there."""
    plan = add_node_group(versions("starter"))
    life = Life(plan, tmp_path / "life")
    found = life.one_host_of_each_kind()
    assert found < {host.hostname for host in plan.hosts}
    assert found == Life(versions("starter"), tmp_path / "smaller").one_host_of_each_kind()
    life.breaks_on = found
    assert list(life.act("install", None, again=False)) == []
    assert 0 < life.breaks < life.cluster.calls


def test_a_plan_that_no_time_can_be_stated_of_is_acted_without_times(tmp_path: Path) -> None:
    plan = versions("starter")
    for node in plan.data_nodes:
        plan = update(plan, node.id, node_group=NODE_GROUP_NONE)
    life = Life(plan, tmp_path / "life", timed=True)
    for part in ("install", "start"):
        assert list(life.act(part, 0, again=False)) == [], part
    assert not life.took


def test_units_are_loaded_by_the_host_that_is_told_to() -> None:
    cluster = ActedCluster(versions("starter"))
    hosts = sorted(cluster.releases)
    for host in hosts:
        cluster.files[host, "/etc/systemd/system/ndbmtd-1.service"] = ""
    cluster.answer(1, hosts[0], ["systemctl", "daemon-reload"])
    assert {host for host, _ in cluster.units} == {hosts[0]}


def test_redo_logs_of_data_nodes_that_wait_for_their_rows_move_at_once(tmp_path: Path) -> None:
    """A restore moves them while nothing is there that a restart would read."""
    life = Life(with_linked_redo(versions("starter 7.4")), tmp_path / "life", timed=True)
    for part in ("install", "start", "schema", "backup", "restore"):
        assert list(life.act(part, 0, again=False)) == [], part


def test_a_first_start_by_another_file_than_the_kept_one_is_refused(
    acted: Callable[..., tuple[ActedCluster, Path]],
) -> None:
    """ndb_mgmd would go on with what it keeps. Before any data node has started it may be begun anew."""
    plan = versions("starter")
    cluster, folder = acted(plan)
    cluster.watch = lambda: setattr(cluster, "dies_after", cluster.calls) if _serve(cluster) else None
    assert cluster.run(folder, "start").returncode
    cluster.watch = cluster.dies_after = None
    other = set_parameter(plan, "data_node", "DataMemory", 2**33)
    export(other, folder, ("config", "mycnf", "runbook", "systemd", "hosts"))
    for runs in (True, False):
        for server in cluster.management.values():
            server.active = runs
        refused = cluster.run(folder, "start", "--fresh")
        assert refused.returncode == 2
        assert "< DataMemory=128G\n" in refused.stderr
        assert "begin anew: on each of mgm-c1 app-b1 stop ndb_mgmd, remove /var/lib/" in refused.stderr
    cluster.files = {
        place: text
        for place, text in cluster.files.items()
        if not place[1].endswith(("config.ini", ".bin.1"))
    }
    act(cluster, folder, "start")
    assert all("DataMemory=8G" in node.configuration for node in cluster.data_nodes.values())


def _serve(cluster: ActedCluster) -> bool:
    """Whether all management nodes do."""
    return all(server.serves(cluster.now) for server in cluster.management.values())


def test_a_cluster_without_disks_is_empty_when_it_starts_again(tmp_path: Path) -> None:
    """Which its runbook says: rows and tables live as long as one data node of each group."""
    plan = set_parameter(versions("starter"), "data_node", "Diskless", 1)
    life = Life(plan, tmp_path / "life")
    for part in ("install", "start", "schema", "rolling-restart", "initial-rolling-restart"):
        assert list(life.act(part, 0, again=False)) == []
    assert life.cluster.rows > 0
    assert life.cluster.tables
    for part in ("stop", "start-again"):
        assert list(life.act(part, 1)) == []
    assert not life.cluster.tables
    assert list(life.act("schema", 0)) == []
    assert life.cluster.tables
    text = (life.folder / "runbook.md").read_text()
    assert "Every row is lost, as Diskless is 1" in text
    assert "rows lie on the disks" not in text
    assert "loads its last checkpoint" not in text


def test_a_node_group_without_disks_takes_the_others_with_it(tmp_path: Path) -> None:
    """Files of a group do not start without those of all others."""
    plan = add_node_group(versions("starter"))
    for node in node_groups(plan)[1]:
        plan = set_parameter(plan, node.id, "Diskless", 1)
    for group in (1, 2):
        parts = {part.key: part for part in operations(plan)}
        ids = ", ".join(str(node.node_id) for node in plan.data_nodes[2:])
        lost = "Every row is lost, as Diskless"
        assert (f"{lost} of data nodes {ids} is 1." if group == 1 else f"{lost} is 1.") in parts["stop"].text
        start = parts["start-again"].step("data-nodes")
        assert start is not None
        options = [c.option for c in start.commands if isinstance(c, StartService)]
        assert options == (["--initial"] * 2 + [""] * 2 if group == 1 else [""] * 4)
        with pytest.raises(UserError, match="every row is gone"):
            Estimation(plan).restart("system")
        for node in node_groups(plan)[0]:
            plan = set_parameter(plan, node.id, "Diskless", 1)


def test_one_data_node_without_disks_copies_its_rows_when_the_cluster_starts_again(tmp_path: Path) -> None:
    """The other one of its group has them in its files, whichever starts first."""
    for index in (0, 1):
        plan = versions("starter")
        plan = set_parameter(plan, plan.data_nodes[index].id, "Diskless", 1)
        life = Life(plan, tmp_path / f"life-{index}")
        for part in ("install", "start", "schema", "stop", "start-again"):
            assert list(life.act(part, 0, again=False)) == [], (index, part)
        assert life.cluster.rows > 0


@pytest.mark.parametrize(("seed", "own_port"), [(3, ""), (21, "m1")])
def test_a_plan_that_nobody_designed_lives(seed: int, own_port: str, tmp_path: Path) -> None:
    """Three management nodes, two of them on one host, paths below DataDir, no SQL node or two on a host."""
    plan = random_plan(seed)
    if own_port:
        plan = set_parameter(plan, own_port, "PortNumber", 1187)
    for place, node in enumerate(plan.management_nodes):
        # Of two on one host with one port only the first comes up.
        plan = set_parameter(plan, node.id, "PortNumber", 1186 + place)
    assert not is_refused(plan)
    life = Life(plan, tmp_path / "life", seed)
    assert [fault for part, host in life.parts() for fault in life.act(part, 0, host)] == []


@pytest.mark.parametrize("version", ["7.4", "8.4"])
def test_folders_of_files_that_statements_name_are_made(version: str, tmp_path: Path) -> None:
    """However the plan says it: the server refuses a file without its folder (1528)."""
    plan = versions(f"disk-data {version}")
    (group,), (space,) = plan.logfile_groups, plan.tablespaces
    undo, data = ([file.model_dump() for file in files] for files in (group.undo_files, space.data_files))
    undo.append({"name": "/srv/undo/two.dat", "size_bytes": 2**26})
    data.append({"name": "more", "directory": "/srv/data", "size_bytes": 2**26, "count": 2})
    data.append({"name": "it's", "size_bytes": 2**26})
    plan = update(update(plan, group.id, undo_files=undo), space.id, data_files=data)
    assert (plan.logfile_groups[0].undo_files[-1].directory, named_folders(plan)) == (
        "/srv/undo",
        ("/srv/undo", "/srv/data"),
    )
    life = Life(plan, tmp_path / "life")
    for part in ("install", "start", "schema", "backup", "restore"):
        assert list(life.act(part, 0, again=False)) == []
    unit = next((life.folder / "systemd").rglob("ndbmtd-*.service")).read_text()
    assert "RequiresMountsFor=/srv/undo\nRequiresMountsFor=/srv/data\n" in unit
    names = {name for owner in placed_files(plan) for name in owner[1:2] if name.startswith("/srv/")}
    assert names == {"/srv/undo/two.dat", "/srv/data/more_1", "/srv/data/more_2"}


def test_a_host_of_several_nodes_of_each_kind_is_replaced(tmp_path: Path) -> None:
    """Of two management nodes, each of which waits for the other, two data nodes and two SQL nodes."""
    plan = versions("starter")
    first, second = plan.management_nodes
    data = plan.data_nodes[0]
    plan = update(plan, first.id, host_id=data.host_id, parameters={"PortNumber": 1187})
    plan = update(plan, second.id, host_id=data.host_id)
    for node in plan.sql_nodes:
        plan = update(plan, node.id, host_id=data.host_id)
    twin = data.model_copy(update={"id": "twin", "node_id": 5, "node_group": 1})
    other = plan.data_nodes[1].model_copy(update={"id": "other", "node_id": 6, "node_group": 1})
    life = Life(plan.replace(processes=(*plan.processes, twin, other)), tmp_path / "life")
    for part in ("install", "start", "schema"):
        assert list(life.act(part, 0, again=False)) == []
    assert list(life.act("replace-host", 2, plan.host(data.host_id).hostname)) == []
    assert life.cluster.data_nodes[1].initial_starts == life.cluster.data_nodes[5].initial_starts == 1


def test_paths_that_are_not_absolute_count_from_the_data_directory(tmp_path: Path) -> None:
    """Where a data node goes before it looks for the others: they are made, backed up into and read there."""
    plan = versions("redo-overload-8.4")
    for name, path in (("BackupDataDir", "back ups/now"), ("FileSystemPathDD", "./dd")):
        plan = set_parameter(plan, "data_node", name, path)
    life = Life(plan, tmp_path / "life")
    for part in ("install", "start", "schema", "backup", "restore", "add-nodes"):
        assert list(life.act(part, 1, again=False)) == []
    inside = life.cluster.paths[life.plan.data_nodes[-1].node_id]
    assert inside.backup == f"{inside.data_dir}/back ups/now"
    assert inside.data_files == inside.undo_files == f"{inside.data_dir}/dd"
    for process in life.cluster.data_nodes.values():
        assert (process.host, f"{inside.data_dir}/dd/") in life.cluster.files
    assert "\nBackupDataDir=back ups/now\n" in (life.folder / "config.ini").read_text()


def test_another_management_host_is_asked_where_the_first_is_lost(
    started: Callable[[str], tuple[ActedCluster, Path]],
) -> None:
    """A part goes as far as it does not need that host."""
    cluster, folder = started("starter")
    first = cluster.management[cluster.plan.management_nodes[0].node_id]
    cluster.unreachable = {first.host}
    first.active = False
    for part in ("backup", "start-again"):
        found = cluster.run(folder, part)
        assert f"{first.host} does not answer: what its management node reads is not compared" in found.stderr
    assert len(cluster.backups) == 1
    assert "step management stops" in found.stderr
    cluster.unreachable |= {one.host for one in cluster.management.values()}
    assert "no management host can be reached over ssh: mgm-c1 app-b1" in cluster.run(folder, "backup").stderr


def test_a_management_host_is_lost_in_the_middle_of_a_part(
    started: Callable[[str], tuple[ActedCluster, Path]],
) -> None:
    """What does not need that host goes on by way of the other one."""
    cluster, folder = started("starter")
    first = cluster.management[cluster.plan.management_nodes[0].node_id]

    def lose() -> None:
        if any(not node.active for node in cluster.data_nodes.values()):
            cluster.unreachable = {first.host}
            first.active = False

    cluster.watch = lose
    act(cluster, folder, "rolling-restart")
    assert cluster.unreachable


@pytest.mark.parametrize("version", ["7.4", "8.4"])
def test_a_table_or_a_file_that_was_made_otherwise_does_not_count_as_done(
    version: str, acted: Callable[..., tuple[ActedCluster, Path]]
) -> None:
    """Members of an ENUM, options, comment, partitions, logging; a file, its size, its extents, its owner."""
    plan = versions(f"disk-data {version}")
    table, other = (
        plan.tables[0],
        versions("starter")
        .tables[3]
        .model_copy(update={"partitions": 6, "logging": False, "read_backup": None}),
    )
    plan = plan.replace(tables=(table, other))
    members = Column(name="kind", type="enum", members=("a 'b'", "c\\d\\te", "C "))
    plan = update(plan, table.id, columns=(*table.columns, members), max_rows=5_000_000_000)
    plan = update(plan, table.id, row_format_fixed=True)
    if version == "8.4":
        plan = update(plan, table.id, partition_balance="FOR_RA_BY_NODE", read_backup=True)
    cluster, folder = acted(plan)
    for part in ("start", "schema", "schema"):
        act(cluster, folder, part)
    comments = (
        ("BALANCE=FOR_RA_BY_NODE", "BALANCE=FOR_RA_BY_NODE_X", "not PARTITION_BALANCE=FOR_RA_BY_NODE"),
        ("READ_BACKUP=1", "READ_BACKUP=0", "not READ_BACKUP=1"),
    )
    ways = (
        ("MAX_ROWS=5000000000", "MAX_ROWS=50", "not MAX_ROWS=5000000000"),
        (" ROW_FORMAT=FIXED", "", "not ROW_FORMAT=FIXED"),
        *(comments if version == "8.4" else ()),
    )
    changed = [(table, *way) for way in ways]
    changed += [
        (other, "PARTITIONS 6", "PARTITIONS 4", "partitions\t4"),
        (other, f"BY KEY (`{other.distribution_key[0]}`)", "BY KEY (`other`)", "distributed by\tother"),
        (other, NOT_LOGGED, "", "made\twith logging"),
    ]
    for of, old, new, found in changed:
        twin, name = cluster.twin(), table_name(of)
        assert old in cluster.made_with[name]
        twin.made_with[name] = cluster.made_with[name].replace(old, new)
        refused = twin.run(folder, "schema").stderr
        if old == NOT_LOGGED and version == "7.4":
            assert f"otherwise: 'Yes'\t'{of.database}'\t'def'\t'{of.name}'" in refused
            continue
        assert f"expected: table {of.full_name} is as it must be" in refused
        assert re.search(f"< .*{re.escape(found)}", refused)
    twin = cluster.twin()
    twin.tables[table_name(table)]["`kind`"] = cluster.tables[table_name(table)]["`kind`"].replace(
        "'C '", "'c'"
    )
    assert "step read-back stops" in twin.run(folder, "schema").stderr
    size = str(plan.tablespaces[0].data_files[0].size_bytes)
    extent = f"EXTENT_SIZE {plan.tablespaces[0].extent_size_bytes}"
    for old, new in (
        (f"INITIAL_SIZE {size}", "INITIAL_SIZE 65536"),
        (" TABLESPACE `", " TABLESPACE `not_"),
        (extent, "EXTENT_SIZE 65536"),
    ):
        twin = cluster.twin()
        twin.objects = {one.replace(old, new) for one in cluster.objects}
        assert twin.objects != cluster.objects
        refused = twin.run(folder, "start", "--from", "disk-data").stderr
        assert "expected: every file of disk data is as it must be" in refused


def test_two_runs_from_different_folders_are_not_under_way_at_once(
    started: Callable[[str], tuple[ActedCluster, Path]],
) -> None:
    """Whatever they do: a management host tells of one for as long as its connection lasts."""
    cluster, folder = started("starter 8.4")
    host = next(iter(cluster.management.values())).host
    for part in ("backup", "rolling-restart", "stop"):
        cluster.held_by[host] = "other@elsewhere:/out/runbook.state"
        seen = cluster.calls
        refused = cluster.run(folder, part)
        assert refused.returncode == 2
        assert f"another run is under way, says /var/lock/ndb-runbook on {host}: other@else" in refused.stderr
        assert cluster.calls == seen
        # Its own last run, whose connection was lost, stands in nobody's way.
        cluster.held_by[host] = f"operator@{socket.gethostname()}:{folder}/runbook.state"
        assert cluster.run(folder, part, "--list").returncode == 0
    assert cluster.run(folder, "rolling-restart").returncode == 0


def test_the_lock_of_a_host_is_held_until_the_script_ends(tmp_path: Path) -> None:
    """As flock and a shell do it: another folder's script is refused, and a killed one holds it no longer."""
    export(versions("starter 8.4"), tmp_path / "one", ("config", "runbook"))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    ssh, reached = tmp_path / "bin" / "ssh", tmp_path / "reached"
    ssh.parent.mkdir()
    os.mkfifo(reached)
    # The first one waits where it would look at the cluster.
    ssh.write_text(
        "#!/bin/bash\nuntil [[ $1 == -- ]]; do shift; done\nshift 2\n"
        f'if [[ $* == *flock* ]]; then exec bash -c "$*"; fi\n: >{reached}\nexec sleep 60\n'
    )
    ssh.chmod(0o755)
    environment = {"PATH": f"{ssh.parent}:/usr/bin:/bin", "USER": "one"}
    for folder in ("one", "two"):
        script = tmp_path / folder / "runbook.sh"
        text = script.read_text().replace("run_lock=/var/lock/", f"run_lock={tmp_path}/")
        script.write_text(text)
    first = subprocess.Popen(
        ["bash", str(tmp_path / "one" / "runbook.sh"), "backup"], env=environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert reached.read_text() == ""
        second = ["bash", str(tmp_path / "two" / "runbook.sh"), "backup"]
        refused = subprocess.run(second, env=environment, capture_output=True, text=True, check=False)
        assert refused.returncode == 2, refused.stderr
        assert "one/runbook.state. Where that one has ended" in refused.stderr
    finally:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    taken = ["flock", "--timeout", "20", str(tmp_path / "ndb-runbook"), "true"]
    assert subprocess.run(taken, check=False).returncode == 0


def test_a_script_that_is_told_to_end_waits_for_the_command_that_is_under_way(tmp_path: Path) -> None:
    """A command on a host would go on without it, and the next run would give another one beside it."""
    export(versions("starter 8.4"), tmp_path, ("config", "runbook"))
    ssh, reached, goes_on = (tmp_path / name for name in ("ssh", "reached", "goes_on"))
    os.mkfifo(reached)
    os.mkfifo(goes_on)
    ssh.write_text(
        f"#!/bin/bash\n[[ $* != *flock* ]] || exit 0\n: >{reached}\nread -r <{goes_on}\n: >{tmp_path}/ended\n"
    )
    ssh.chmod(0o755)
    script = subprocess.Popen(
        ["bash", str(tmp_path / "runbook.sh"), "backup"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "USER": "one"}, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert reached.read_text() == ""
    script.terminate()
    goes_on.write_text("\n")
    assert script.wait(60) == 143
    assert (tmp_path / "ended").exists()
