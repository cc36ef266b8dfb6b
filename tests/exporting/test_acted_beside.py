"""What people do to an acted cluster beside its plan: nodes that they start, foreign keys that they make."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exporting.acted_changes import moved, on_the_lcp_disk, with_init_scripts
from exporting.acted_cluster import ActedCluster
from exporting.acted_drawn import is_refused
from exporting.acted_life import KINDS, Life
from exporting.acted_shell import is_option_of, run_script
from exporting.acted_state import Failure, Process
from ndbplan.configuration.services import service_of
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.exporting.export import Running, export
from ndbplan.operations.add_nodes import grown_configuration
from ndbplan.operations.schema import table_name
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

_BY_HAND = {
    "data_nodes": "ndb_mgm> {} STOP",
    "management": "ndb_mgm> {} STOP",
    "sql_nodes": "mysqladmin shutdown",
}


def _begun(plan: Plan, place: Path) -> Life:
    """A cluster that serves, with its tables and accounts."""
    life = Life(plan, place / "life", 3)
    for part in ("install", "start", "schema"):
        assert list(life.act(part, 0, again=False)) == []
    return life


@pytest.mark.parametrize("kind", _BY_HAND)
@pytest.mark.parametrize("version", ["7.4", "8.4", "init scripts"])
def test_a_node_that_was_started_by_hand_is_named_and_handed_over(
    tmp_path: Path, version: str, kind: str
) -> None:
    """No part starts a second program of its id, or takes it for stopped; afterwards the part goes on."""
    plan = sample_plan("starter")
    plan = with_init_scripts(plan) if version == "init scripts" else set_plan(plan, ndb_version=version)
    life = _begun(plan, tmp_path)
    cluster, folder = life.cluster, life.folder
    process: Process = next(iter(getattr(cluster, kind).values()))
    process.is_by_hand = True
    said = _BY_HAND[kind].format(process.node_id)
    for part in ("rolling-restart", "stop", "start", "start-again", "initial-rolling-restart"):
        done = cluster.run(folder, part)
        assert done.returncode == 2, part
        assert f"node {process.node_id}: stop it ({said}" in done.stderr
        assert process.unit in done.stderr
        assert process.active
    backed_up = cluster.run(folder, "backup")
    assert backed_up.returncode == 0
    assert said in backed_up.stderr
    assert cluster.faults == []
    process.is_by_hand = False
    assert list(life.act("rolling-restart", 0)) == []


def test_a_node_that_ended_a_moment_ago_is_shown_for_some_seconds_and_waited_for(tmp_path: Path) -> None:
    life = _begun(sample_plan("starter"), tmp_path)
    node, until = life.cluster.data_nodes[1], life.cluster.now + 7
    node.is_by_hand = True
    life.cluster.watch = lambda: setattr(node, "is_by_hand", life.cluster.now < until)
    done = life.cluster.run(life.folder, "rolling-restart")
    assert done.returncode == 0, done.stderr
    assert life.cluster.faults == []


def test_the_script_knows_the_units_of_nodes_that_it_adds(tmp_path: Path) -> None:
    life = Life(sample_plan("starter"), tmp_path / "life")
    text = (life.folder / "runbook.sh").read_text()
    grown = grown_configuration(life.plan)
    assert len(grown.data_nodes) > len(life.plan.data_nodes)
    for node in grown.data_nodes:
        service = service_of(grown, node)
        assert f"  '{node.node_id} {service.host} {service.name}'\n" in text


def _with_a_child(version: str) -> Plan:
    """The starter, whose tables have unique indexes and texts, with one more table that refers to one."""
    plan = set_plan(sample_plan("starter"), ndb_version=version)
    parent = plan.tables[0]
    child = parent.model_copy(update={"id": "child", "name": "child"})
    return plan.replace(tables=(*plan.tables, child))


@pytest.mark.parametrize("version", ["7.4", "8.0", "8.4"])
def test_foreign_keys_made_beside_the_plan_live_as_long_as_the_cluster(tmp_path: Path, version: str) -> None:
    """Through a backup and its restore, restarts, a grown cluster and a host that is replaced."""
    plan = _with_a_child(version)
    life = Life(plan, tmp_path / "life", 3)
    child, parent = (table_name(plan.table(one)) for one in ("child", plan.tables[0].id))
    made = {"fk1": (child, parent), "fk2": (child, child)}
    for part, host in life.parts():
        breaks = 2 if part in ("backup", "restore", "add-nodes") else 0
        found = list(life.act(part, breaks, host))
        if part == "schema":
            life.cluster.foreign_keys = dict(made)
        assert found == [], part
        if part not in ("install", "tune-hosts", "start"):
            assert life.cluster.foreign_keys == made, part


@pytest.mark.parametrize("version", ["7.4", "8.4"])
def test_foreign_keys_that_are_there_in_part_are_not_taken_for_all(tmp_path: Path, version: str) -> None:
    """The client ends at the first that is there: those behind it are missing."""
    plan = _with_a_child(version)
    life = _begun(plan, tmp_path)
    child, parent = (table_name(plan.table(one)) for one in ("child", plan.tables[0].id))
    life.cluster.foreign_keys = {"fk1": (child, parent), "fk2": (child, child)}
    assert list(life.act("backup", 0, again=False)) == []
    del life.cluster.foreign_keys["fk2"]
    life.prepared(life.cluster, "restore")
    stopped = life.cluster.run(life.folder, "restore", "--from", "restore-indexes", "--backup", "1")
    assert stopped.returncode == 1
    assert "--from sql-nodes" in stopped.stderr
    assert "fk1" in stopped.stderr
    done = life.cluster.run(life.folder, "restore", "--from", "sql-nodes")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("version", "code"), [("7.4", "1217"), ("8.4", "3730")])
def test_a_table_that_others_refer_to_is_not_dropped_before_their_foreign_keys(
    tmp_path: Path, version: str, code: str
) -> None:
    before = _with_a_child(version)
    parent, child = before.tables[0], before.table("child")
    after = remove(before, [parent.id])
    life = Life.of_change(before, after, tmp_path)
    life.cluster.foreign_keys = {"fk1": (table_name(child), table_name(parent))}
    (stopped,) = life.act("change", 0, again=False)
    assert code in stopped
    assert "DROP FOREIGN KEY" in stopped
    life.cluster.foreign_keys = {}
    assert list(life.act("change", 2)) == []


def test_a_node_that_runs_by_the_unit_of_its_new_host_is_not_taken_for_another(tmp_path: Path) -> None:
    """The unit of its old host is down for good, and the node is started: wherever the part broke off."""
    before = sample_plan("starter")
    life = Life.of_change(before, moved(before), tmp_path)
    assert list(life.act("change", None)) == []


def test_a_node_that_somebody_starts_while_a_part_runs_is_not_taken_for_stopped(tmp_path: Path) -> None:
    life = _begun(sample_plan("starter"), tmp_path)
    node = life.cluster.data_nodes[2]
    begun = life.cluster.calls
    life.cluster.watch = lambda: setattr(node, "is_by_hand", life.cluster.calls > begun + 12)
    done = life.cluster.run(life.folder, "rolling-restart")
    assert done.returncode == 1
    assert "step restart-2 stops" in done.stderr
    assert "ndb_mgm> 2 STOP" in done.stderr


def test_a_configuration_that_means_the_same_is_no_other_cluster(tmp_path: Path) -> None:
    """Somebody wrote config.ini by hand: the plan that was read from it works on that cluster as it is."""
    plan = set_plan(sample_plan("starter"), ndb_version="8.0")
    life = _begun(plan, tmp_path)
    path = "/var/lib/mysql-cluster/config.ini"
    mine = life.cluster.files["mgm-c1", path].replace("\nODirect=1", "\nODIRECT: 1")
    for place in [place for place in life.cluster.files if place[1] == path]:
        life.cluster.files[place] = mine
    refused = life.cluster.run(life.folder, "rolling-restart")
    assert "Export the plan with --from that file" in refused.stderr
    again = tmp_path / "again" / "out"
    export(plan, again, KINDS, running=Running(plan, configuration=mine))
    for part in ("rolling-restart", "backup", "stop", "start-again"):
        life.cluster.may_be_down = part == "stop"
        done = life.cluster.run(again, part)
        assert done.returncode == 0, (part, done.stderr)


def test_a_change_that_leaves_the_configuration_is_made_once(tmp_path: Path) -> None:
    """A parameter that is stated as it is by default changes the text alone; the files move all the same."""
    before = set_plan(sample_plan("starter"), ndb_version="8.0")
    name = "TimeBetweenInactiveTransactionAbortCheck"
    after = set_parameter(on_the_lcp_disk(before), "data_node", name, 1000)
    life = Life.of_change(before, after, tmp_path)
    assert list(life.act("change", 1)) == []
    assert life.cluster.run(life.folder, "backup").returncode == 0


def test_an_option_is_left_for_no_later_start_where_a_host_was_silent(tmp_path: Path) -> None:
    """A replaced host copies its rows once; a crash on another day must not have them copied again."""
    life = _begun(sample_plan("starter"), tmp_path)
    node, started = life.cluster.data_nodes[1], list[ActedCluster]()

    def look() -> None:
        if node.initial_starts and not started:
            started.append(life.cluster.twin())

    life.cluster.watch = look
    assert list(life.act("replace-host", 0, node.host, again=False)) == []
    options = ("--host", node.host, "--programs", str(life.programs))
    begun = started[0].connections
    whole = started[0].twin()
    assert whole.run(life.folder, "replace-host", *options, state=tmp_path / "whole").returncode == 0
    for lost in range(begun + 1, whole.connections + 1):
        cluster = started[0].twin()
        cluster.fails = (lost, Failure.BEFORE)
        cluster.run(life.folder, "replace-host", *options, state=tmp_path / f"{lost}")
        assert [path for host, path in cluster.files if path.endswith(".option")] == [], lost


def test_a_host_whose_systemd_is_too_old_is_refused_before_anything_starts(tmp_path: Path) -> None:
    life = Life(sample_plan("starter"), tmp_path / "life")
    assert list(life.act("install", 0, again=False)) == []
    life.cluster.systemd = 215
    (refused,) = life.act("start", 0, again=False)
    assert "step services stops" in refused
    assert "units need systemd 219 or later" in refused
    assert not any(one.active for one in life.cluster.processes())


@pytest.mark.parametrize(
    ("version", "way"), [("8.4", "ndbinfo"), ("7.4", "ndbinfo"), ("7.1", "information_schema")]
)
def test_a_cluster_without_api_slots_grows_to_the_end(version: str, way: str, tmp_path: Path) -> None:
    """No program of the NDB API gets a node id there, ndb_desc neither."""
    plan = set_plan(sample_plan("redo-overload"), ndb_version=version)
    plan = remove(plan, [slot.id for slot in plan.api_slots])
    life = Life(plan, tmp_path / "life", 5)
    assert f"Verify with {way}" in (life.folder / "runbook.sh").read_text()
    for part in ("install", "start", "schema", "add-nodes"):
        assert list(life.act(part, 0)) == []
    assert not any("ndb_desc --ndb" in line for line in life.cluster.log)


def test_dumps_of_a_server_with_global_ids_can_be_read_back(tmp_path: Path) -> None:
    plan = sample_plan("redo-overload-8.4")
    options = {"gtid_mode": "on", "enforce_gtid_consistency": 1}
    life = Life(update(plan, plan.sql_nodes[0].id, options=options), tmp_path / "life", 5)
    for part in ("install", "start", "schema", "backup"):
        assert list(life.act(part, 0)) == []
    assert any("mysqldump" in line for line in life.cluster.log)
    assert life.cluster.faults == []


def test_of_two_management_nodes_with_one_port_the_one_that_ends_is_named(tmp_path: Path) -> None:
    """Servers before 8.0 take the file; both were acted as if the port were free."""
    plan = set_plan(sample_plan("starter"), ndb_version="7.4.10")
    first, second = plan.management_nodes
    plan = move_process(plan, second.id, first.host_id)
    life = Life(plan, tmp_path)
    assert list(life.act("install", 0, again=False)) == []
    (told,) = life.act("start", 0, again=False)
    assert "expected: on mgm-c1: systemctl start ndb_mgmd-146.service" in told
    assert is_refused(plan)
    free = set_parameter(plan, second.id, "PortNumber", 1187)
    assert not is_refused(free)


_NAMED_WRONGLY = (
    (("no-part",), "there is no part no-part"),
    (("start", "--from", "no-step"), "there is no step no-step in part start"),
    (("start", "--from"), "--from needs a value"),
    (("rolling-restart", "--host", "host-a1"), "has no use for --host: it belongs to replace-host"),
    (("rolling-restart", "--programs", "/"), "--programs: it belongs to install add-nodes replace-host"),
    (("start", "--backup", "7"), "has no use for --backup: it belongs to restore"),
    (("backup", "--passwords", "{words}"), "part backup has no use for --passwords: it belongs to schema"),
    (("install", "--programs", "/no/such/archive.tar.gz"), "/no/such/archive.tar.gz cannot be read"),
    (("install", "--programs", "/", "--programs", "/tmp"), "--programs names / and /tmp: one of them"),
    (("restore", "--backup", "1", "--backup", "2"), "--backup names 1 and 2"),
    (("schema", "--passwords", "/"), "/ cannot be read"),
    (("schema", "--passwords", "{open}"), "others may read"),
    (("add-nodes", "--from", "no-step"), "there is no step no-step in part add-nodes"),
    (("replace-host",), "part replace-host needs --host NAME"),
    (("replace-host", "--host", "none"), "part replace-host has nothing for a host none"),
    (("replace-host", "--host", "app-a1", "--from", "host-app-b1"), "there is no step host-app-b1"),
)


def test_what_is_named_wrongly_is_said_before_anything_is_begun(tmp_path: Path) -> None:
    """A restart of every node because one host was named, or a mark of a change that nobody began."""
    life = Life(sample_plan("starter"), tmp_path / "life")
    for part in ("install", "start"):
        assert list(life.act(part, 0, again=False)) == []
    files = {"words": 0o600, "open": 0o644}
    for name, mode in files.items():
        (tmp_path / name).touch(mode=mode)
    calls, connections = life.cluster.calls, life.cluster.connections
    state = tmp_path / "state" / "runbook.state"
    state.parent.mkdir()
    kept = {"RUNBOOK_STATE": f"{state}", "RUNBOOK_LOG": f"{state}.log"}
    for words, said in _NAMED_WRONGLY:
        named = [word.format(**{name: tmp_path / name for name in files}) for word in words]
        # As it is typed: the cluster would add the passwords that a part takes.
        script = life.folder / "runbook.sh"
        done = run_script(life.cluster.answer, script, "--yes", *named, environment=kept)
        assert done.returncode == 2, words
        assert said in done.stderr
    assert (life.cluster.calls, life.cluster.connections) == (calls, connections)
    assert not list(state.parent.iterdir())
    # Of a link the file counts that it leads to.
    for name, mode in files.items():
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(tmp_path / name)
        words = ("schema", "--list", "--passwords", f"{tmp_path}/link")
        listed = run_script(life.cluster.answer, life.folder / "runbook.sh", *words, environment=kept)
        assert (listed.returncode == 0) is (mode == 0o600)


@pytest.mark.parametrize("version", ["7.4", "8.4", "encrypted", "fewer groups"])
def test_each_option_belongs_to_the_parts_that_read_it(version: str, tmp_path: Path) -> None:
    """As the script itself says it, and as its functions use them."""
    plan, before = sample_plan("starter"), None
    if version == "encrypted":
        plan = set_parameter(plan, "data_node", "RequireEncryptedBackup", 1)
    elif version == "fewer groups":
        before = add_node_group(plan)
    else:
        plan = set_plan(plan, ndb_version=version)
    export(plan, tmp_path, KINDS, running=None if before is None else Running(before))
    script = tmp_path / "runbook.sh"
    asks = {
        "host": "for_host ",
        "programs": "install_programs ",
        "passwords": "make_account |keep_login |back_up .*--encrypt|(has_backup|restore) .*--decrypt",
        "backup": "has_backup |restore ",
    }
    *_, cases = script.read_text().split("\ncase $part in\n")
    parts = dict(re.findall(r"^  ([a-z-]+)\)\n(.*?)^    ;;$", cases, re.MULTILINE | re.DOTALL))
    assert {"install", "restore", "stop"} <= parts.keys()
    (tmp_path / "words").touch(mode=0o600)
    values = {"host": "none", "programs": "/", "passwords": f"{tmp_path}/words", "backup": "7"}
    for part, lines in parts.items():
        for option, how in asks.items():
            words = (part, f"--{option}", values[option], "--list")
            done = run_script(lambda *_: ("0", ""), script, *words)
            is_used = re.search(rf"^ *(if )?({how})", lines, re.MULTILINE) is not None
            assert (f"has no use for --{option}" in done.stderr) is not is_used, (part, option)
            assert is_option_of(script, part, option) is is_used


def test_who_only_looks_forgets_nothing(tmp_path: Path) -> None:
    life = Life(sample_plan("starter"), tmp_path / "life")
    state = tmp_path / "state" / "runbook.state"
    state.parent.mkdir()
    (kept := state.with_name("runbook.state.start")).write_text("tune-hosts\ndirectories\n")
    for fresh in ((), ("--fresh",)):
        listed = life.cluster.run(life.folder, "start", "--list", *fresh, state=state)
        assert ("[x] directories" in listed.stdout) is not bool(fresh)
        assert kept.exists()
