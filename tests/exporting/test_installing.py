"""Programs that are installed beside servers of packages: one that runs is left alone, theirs is stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporting.acted_changes import with_init_scripts
from exporting.acted_cluster import ActedCluster
from exporting.acted_life import Life
from exporting.acted_state import RefusedError, release_of
from ndbplan.edits.parts import set_plan, update
from ndbplan.exporting.export import export
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")


def exported(plan: Plan, place: Path) -> tuple[ActedCluster, Path]:
    """A cluster on bare hosts, with the folder of its plan and packages that start their server."""
    folder = place / "acted" / "out"
    folder.parent.mkdir()
    export(plan, folder, ("config", "mycnf", "runbook", "systemd"))
    cluster = ActedCluster(plan, 1)
    cluster.releases = dict.fromkeys(cluster.releases, "")
    programs = folder.parent / "programs"
    programs.mkdir()
    (programs / "ndb.deb").write_text("8.4.8")
    return cluster, folder


@pytest.mark.parametrize("is_there", [False, True])
def test_a_server_that_runs_is_not_stopped_but_named(tmp_path: Path, *, is_there: bool) -> None:
    """Whether or not the programs are those of the plan: beside an SQL node it cannot run."""
    cluster, folder = exported(STARTER, tmp_path)
    host = STARTER.host(STARTER.sql_nodes[0].host_id).hostname
    programs = str(folder.parent / "programs")
    cluster.packaged.add(host)
    if is_there:
        cluster.releases[host] = "8.4.8"
    stopped = cluster.run(folder, "install", "--programs", programs)
    assert stopped.returncode == 1
    assert f"expected: no server of packages runs on {host}" in stopped.stderr
    assert "found:    mysql.service runs: " in stopped.stderr
    assert f"systemctl stop mysql.service; systemctl disable mysql.service on {host}" in stopped.stderr
    assert f"go on with: {folder}/runbook.sh install --programs {programs} --yes" in stopped.stderr
    assert cluster.packaged == {host}
    assert cluster.releases[host] == ("8.4.8" if is_there else "")
    assert not [path for at, path in cluster.files if at == host and "ndb-programs" in path]
    cluster.packaged.clear()
    done = cluster.run(folder, "install", "--programs", programs)
    assert done.returncode == 0, done.stderr
    assert cluster.packaged == set()
    assert set(cluster.releases.values()) == {"8.4.8"}
    again = cluster.run(folder, "install", "--programs", programs)
    assert "Changed: nothing" in again.stdout


@pytest.mark.parametrize("plan", [STARTER, with_init_scripts(STARTER)], ids=["systemd", "init scripts"])
def test_a_server_that_packages_start_is_stopped_wherever_the_script_was_broken_off(
    plan: Plan, tmp_path: Path
) -> None:
    life = Life(plan, tmp_path / "life", seed=3)
    (life.programs / "ndb.rpm").rename(life.programs / "ndb.deb")
    assert list(life.act("install", None)) == []
    assert life.breaks > 20


def test_each_host_takes_packages_of_its_own_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder may hold both kinds for hosts of two systems: all of them took .rpm."""
    cluster, folder = exported(STARTER, tmp_path)
    programs = folder.parent / "programs"
    (programs / "ndb.rpm").write_text("8.4.8")
    debian = {"host-a1", "app-b1"}
    cluster.files.update({(host, "/var/lib/dpkg/status"): "Package: dpkg" for host in debian})
    took = dict[str, str]()
    install = ActedCluster._dnf

    def installed(host: str, words: list[str]) -> str:
        took[host] = next(p[-3:] for h, p in cluster.files if h == host and "/ndb-programs/ndb." in p)
        return install(cluster, host, words)

    monkeypatch.setattr(cluster, "_dnf", installed)
    done = cluster.run(folder, "install", "--programs", str(programs))
    assert done.returncode == 0, done.stderr
    assert took == {host: "deb" if host in debian else "rpm" for host in cluster.releases}


@pytest.mark.parametrize("plan", [STARTER, with_init_scripts(STARTER)], ids=["systemd", "init scripts"])
def test_the_markdown_looks_for_one_before_packages_come(plan: Plan, tmp_path: Path) -> None:
    _, folder = exported(plan, tmp_path)
    text = (folder / "runbook.md").read_text()
    section = text.partition("## Install the programs")[2].partition("\n## ")[0]
    for host in {plan.host(process.host_id).hostname for process in plan.data_nodes}:
        looks, _, installs = section.partition("for one in mysqld mysql; do")[2].partition("yum) install")
        assert host in section
        assert "echo $one runs" in looks
        assert "disable" in installs


def test_a_password_of_root_that_packages_made_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packages of 7.x fill the data directory themselves, with a password that has expired."""
    cluster, folder = exported(STARTER, tmp_path)
    cluster.releases = dict.fromkeys(cluster.releases, release_of(STARTER))
    answer = ActedCluster._mysql

    def refused(self: ActedCluster, host: str, words: list[str]) -> str:
        if "--execute=SELECT 1" in words:
            raise RefusedError("ERROR 1045 (28000): Access denied for user 'root'@'localhost'\n")
        return answer(self, host, words)

    monkeypatch.setattr(ActedCluster, "_mysql", refused)
    began = cluster.now
    stopped = cluster.run(folder, "start")
    assert stopped.returncode == 1
    assert "expected: SQL node 147 answers a query" in stopped.stderr
    assert "write it into /root/.my.cnf of that host" in stopped.stderr
    assert cluster.now - began < 300


@pytest.mark.parametrize(
    "options",
    [
        {"default_storage_engine": "NDB"},
        {"log_bin": "/binlog/of it/bin", "slow_query_log_file": "/var/log/s.log"},
    ],
)
def test_apparmor_lets_mysqld_have_what_the_plan_names(options: dict[str, int | str], tmp_path: Path) -> None:
    """Packages of Debian confine it to files of theirs, and /etc/my.cnf is none of them."""
    plan = update(STARTER, STARTER.sql_nodes[0].id, options=options)
    life = Life(plan, tmp_path / "life", seed=3)
    (life.programs / "ndb.rpm").rename(life.programs / "ndb.deb")
    assert list(life.act("install", 0)) == []
    assert len(life.cluster.confined) > 1
    assert list(life.act("start", 5)) == []
    assert all("/etc/my.cnf r," in life.cluster.confined[one.host] for one in life.cluster.mysqlds())
    again = life.cluster.run(life.folder, "start")
    assert "Changed: nothing" in again.stdout


def test_folders_that_options_name_are_made_before_mysqld_starts(tmp_path: Path) -> None:
    """Also one inside the data directory, which must be empty when it is filled; those of the system stay."""
    node = STARTER.sql_nodes[0]
    options = {"log_bin": "logs/bin", "tmpdir": "/tmp:/fast/tmp", "general_log_file": "/var/log/general.log"}
    life = Life.of_change(STARTER, update(STARTER, node.id, options=options), tmp_path / "life", seed=3)
    assert list(life.act("change", None)) == []
    host = STARTER.host(node.host_id).hostname
    made = {path: whose for (at, path), whose in life.cluster.files.items() if at == host}
    assert made["/var/lib/mysql/logs/"] == made["/fast/tmp/"] == "mysql:mysql:750"
    assert "/var/log/general.log" in made
    assert made.keys().isdisjoint({"/tmp/", "/var/log/"})


@pytest.mark.parametrize("plan", [STARTER, with_init_scripts(STARTER)], ids=["systemd", "init scripts"])
def test_packages_of_debian_are_upgraded_while_sql_nodes_serve(plan: Plan, tmp_path: Path) -> None:
    """They look for a server of theirs in the list of processes, and end where they find one."""
    before = set_plan(plan, ndb_version="8.0.30")
    old = Life(before, tmp_path / "old", 3)
    life = Life(plan, tmp_path / "life", 3, before)
    for one in (old, life):
        (one.programs / "ndb.rpm").rename(one.programs / "ndb.deb")
    assert [fault for part in ("install", "start", "schema") for fault in old.act(part, 0, again=False)] == []
    life.cluster, life.has_tables = old.cluster, old.has_tables
    assert list(life.act("change", 3)) == []
    assert {one.release for one in life.cluster.mysqlds()} == {release_of(plan)}


def test_selinux_lets_mysqld_reach_data_nodes(tmp_path: Path) -> None:
    """By itself it lets mysqld connect to the port of ndb_mgmd alone."""
    life = Life(STARTER, tmp_path / "life", seed=3)
    hosts = {one.host for one in life.cluster.mysqlds()}
    life.cluster.selinux = dict.fromkeys([*hosts, "host-a1"], "off")
    assert list(life.act("install", 0)) == []
    assert list(life.act("start", 5)) == []
    assert life.cluster.selinux == {**dict.fromkeys(hosts, "on"), "host-a1": "off"}
    assert "Changed: nothing" in life.cluster.run(life.folder, "start").stdout
