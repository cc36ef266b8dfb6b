"""The part that brings a cluster from one plan to another, acted out under a load: broken off, and again."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from exporting.acted_changes import changes, parameter, with_init_scripts
from exporting.acted_cluster import ActedCluster
from exporting.acted_drawn import drawn_change
from exporting.acted_life import KINDS, Life, is_as_planned
from exporting.acted_state import ManagementServer, RefusedError
from ndbplan.configuration.difference import diff
from ndbplan.configuration.needs import CannotChangeError
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.export import Running, export
from ndbplan.exporting.my_cnf import render_my_cnf
from ndbplan.operations.change import change
from ndbplan.operations.roll_out import upgrade
from ndbplan.operations.schema import table_name
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")
OLD = set_plan(STARTER, ndb_version="7.4")
IN_SHORT = {
    "one node": STARTER,
    "directories": STARTER,
    "SQL nodes on one host": STARTER,
    "an SQL node in front of others of a host": STARTER,
    "initial node": OLD,
    "another server in front": STARTER,
    "another port": STARTER,
    "system": STARTER,
    "grow, tables": OLD,
    "reserved nodes": STARTER,
    "upgrade": OLD,
    "initial system": STARTER,
    "another id of a server, reserved nodes": STARTER,
    "an SQL node instead of a slot": STARTER,
    "SQL nodes elsewhere, grow": STARTER,
}
"""One of each way; tests/attack/acts.py runs them all, broken off behind more commands."""


@pytest.mark.parametrize("init", [False, True])
def test_accounts_that_newer_programs_do_not_know_are_named_before_an_upgrade(
    tmp_path: Path, *, init: bool
) -> None:
    """Behind it root itself would be refused (1524), where it was made before 8.0."""
    after = with_init_scripts(STARTER) if init else STARTER
    life = Life.of_change(set_plan(after, ndb_version="8.0.30"), after, tmp_path)
    life.cluster.native = {"app@%", "root@localhost"}
    begun = life.cluster.twin()
    (refused,) = life.act("change", 0, again=False)
    assert "step logins stops" in refused
    assert "found:    app@%\nroot@localhost\n  to do:    give each account that is named" in refused
    assert set(life.cluster.releases.values()) == {"8.0.30"}
    life.cluster.native.clear()
    assert list(life.act("change", 3)) == []
    # Elsewhere begun, and broken off while an SQL node was stopped: one that is down is not asked.
    node = next(iter(begun.sql_nodes.values()))
    begun.native, node.active = set(), False
    done = begun.run(life.folder, "change", "--programs", str(life.programs), state=tmp_path / "other")
    assert done.returncode == 0, done.stderr


def test_an_upgrade_says_that_no_change_takes_it_back() -> None:
    """Another direction is refused: a downgrade is not planned."""
    before = set_plan(STARTER, ndb_version="8.0.30")
    there = change(Estimation(STARTER), before)
    with pytest.raises(CannotChangeError, match="a downgrade from NDB"):
        change(Estimation(before), STARTER)
    assert (
        "programs of NDB 8.0.30 give way to those of NDB 8.4. There is no way back by a change" in there.text
    )
    assert there.step(there.point_of_no_return or "") in there.steps
    other = change(Estimation(set_parameter(STARTER, "data_node", "DataMemory", 2**36)), STARTER)
    for operation in (there, upgrade(Estimation(before), "8.4")):
        ways = {step.key: step.rollback for step in operation.steps}
        assert ways["sql-nodes"] == "", operation.key
        of_data_nodes = {way for key, way in ways.items() if key.startswith("restart-")}
        assert [way.startswith("by hand alone") for way in of_data_nodes] == [True], operation.key
        assert operation.point_of_no_return == "sql-nodes"
    assert {step.rollback for step in other.steps if step.key.startswith("restart-")} == {
        "restart once more with the old configuration"
    }
    assert other.text.count("The way back is a change in the other direction.") == 1
    assert other.point_of_no_return is None


def test_a_change_to_what_mysqld_does_not_start_with_is_refused() -> None:
    """The first SQL node stayed down in the middle of an upgrade; what one runs with is left alone."""
    before = set_plan(STARTER, ndb_version="8.0.30")
    before = update(before, before.sql_nodes[0].id, options={"expire_logs_days": 3})
    assert change(Estimation(set_parameter(before, "data_node", "DataMemory", 2**36)), before).steps
    with pytest.raises(
        CannotChangeError, match="SQL node 147 would not start: expire-logs-days is gone since"
    ):
        change(Estimation(set_plan(before, ndb_version="8.4")), before)
    runs = update(STARTER, STARTER.sql_nodes[0].id, options={"expire_logs_days": 3})
    assert change(Estimation(set_parameter(runs, "data_node", "DataMemory", 2**36)), runs).steps
    with pytest.raises(CannotChangeError, match="expire-logs-days is gone"):
        change(Estimation(runs), STARTER)


def test_a_change_to_a_binary_log_without_server_id_is_refused_where_mysqld_asks_for_one() -> None:
    """MySQL 5.7 does not start without (5.6 and 8.0 take a number of their own)."""
    logs = update(STARTER, STARTER.sql_nodes[0].id, options={"log_bin": "ON"})
    for version, refused in (("7.4", False), ("7.5", True), ("7.6", True), ("8.0", False)):
        before, after = (set_plan(plan, ndb_version=version) for plan in (STARTER, logs))
        numbered = update(after, after.sql_nodes[0].id, options={"log_bin": "ON", "server_id": 7})
        assert change(Estimation(numbered), before).steps
        if not refused:
            assert change(Estimation(after), before).steps
            continue
        with pytest.raises(CannotChangeError, match="would not start: log-bin without server-id"):
            change(Estimation(after), before)
        more = set_parameter(after, "data_node", "DataMemory", 2**36)
        assert change(Estimation(more), after).steps, "what it runs with already it starts with"
    with pytest.raises(CannotChangeError, match="log-bin without server-id"):
        change(Estimation(set_plan(logs, ndb_version="7.6")), set_plan(logs, ndb_version="7.4"))


def test_my_cnf_is_put_back_where_a_change_brought_a_new_one() -> None:
    """The step said that nothing had changed for SQL nodes."""
    found = change(
        Estimation(update(STARTER, STARTER.sql_nodes[0].id, options={"max_connections": 9})), STARTER
    )
    assert {step.rollback for step in found.steps if step.key == "sql-nodes"} == {
        "put the old my.cnf back and restart once more"
    }


def test_accounts_that_an_option_keeps_are_not_looked_for() -> None:
    before = set_plan(STARTER, ndb_version="8.0.30")
    for to, stated, looks in (
        ("8.4", "", True),
        ("8.4", "mysql_native_password", False),
        ("8.0.41", "", False),
    ):
        after = set_plan(before, ndb_version=to)
        for node in after.sql_nodes if stated else ():
            after = update(after, node.id, options={stated: "ON"})
        keys = [step.key for step in change(Estimation(after), before).steps]
        assert ("logins" in keys[:1]) is looks, (to, stated)
    keeps = set_plan(
        update(before, before.sql_nodes[0].id, options={"mysql-native-password": 1}), ndb_version="8.4"
    )
    assert "logins" in {
        step.key for step in change(Estimation(set_plan(keeps, ndb_version="9.x")), keeps).steps
    }


def test_a_host_keeps_options_that_no_plan_holds(tmp_path: Path) -> None:
    """An SQL node restarts with a my.cnf that leaves them to a folder, before a data node reads it."""
    before = update(STARTER, STARTER.sql_nodes[0].id, host_id=STARTER.data_nodes[0].host_id)
    shared = before.host(before.data_nodes[0].host_id).hostname
    hosts = {before.host(node.host_id).hostname for node in before.sql_nodes}
    for name, includes in (("EncryptedFileSystem", {shared}), ("RequireCertificate", hosts)):
        after = set_parameter(before, "data_node", name, 1)
        life = Life.of_change(before, after, tmp_path / name)
        for node in before.data_nodes:
            host = before.host(node.host_id).hostname
            path = "/etc/ndb.cnf.d/files.cnf" if host in includes else "/etc/my.cnf"
            life.cluster.files.setdefault((host, path), "[ndbd]\nfilesystem-password=x\n")
        assert list(life.act("change", 2)) == []
        files = render_my_cnf(after)
        assert {host for host in hosts if "\n!includedir /etc/ndb.cnf.d\n" in files[host]} == includes
        read = {node.host for node in life.cluster.sql_nodes.values() if "!includedir" in node.options}
        assert read == includes
        whole = Life(after, tmp_path / f"whole {name}")
        for part in ("install", "start", "schema"):
            assert list(whole.act(part, 0)) == []
    assert "!includedir" not in "".join(render_my_cnf(before).values())


def plans(kind: str) -> tuple[Plan, Plan]:
    """What runs, and what is wanted."""
    return {name: (before, after) for name, before, after in changes(IN_SHORT[kind])}[kind]


@pytest.mark.parametrize("kind", IN_SHORT)
def test_a_change_comes_to_its_end_and_is_not_done_again(kind: str, tmp_path: Path) -> None:
    """A second run must not empty the new cluster once more."""
    life = Life.of_change(*plans(kind), tmp_path)
    assert list(life.act("change", 1, again=kind == "initial system")) == []
    assert len(life.cluster.backups) == (kind == "initial system")


def test_a_drawn_change_has_steps_or_is_refused_with_why() -> None:
    """One to three edits at once, at three releases; acts.py acts them out."""
    random, done, refused = Random(36), 0, 0
    for number in range(80):
        before = set_plan(STARTER, ndb_version=("7.4", "8.0", "8.4")[number % 3])
        _, after = drawn_change(before, random)
        try:
            steps = change(Estimation(after), before, timed=False).steps
        except CannotChangeError:
            refused += 1
        else:
            done += bool(steps)
            assert steps or diff(before, after).is_empty
    assert done > 40
    assert refused > 8


def test_no_backup_is_begun_that_the_product_refuses(tmp_path: Path) -> None:
    """Whose password would be in a command line, where only encrypted ones are taken; one without disks."""
    for name, version in (("RequireEncryptedBackup", "8.0.23"), ("Diskless", "8.4")):
        before = set_parameter(set_plan(STARTER, ndb_version=version), "data_node", name, 1)
        export(before, tmp_path / name, KINDS)
        script = (tmp_path / name / "runbook.sh").read_text()
        assert "\n  backup)" not in script
        assert "\n  restore)" not in script
        assert f"a backup and its restoring: {name} of data nodes 1, 2 is 1" in script
        with pytest.raises(CannotChangeError, match=name):
            change(Estimation(before), add_node_group(before), timed=False)


def test_an_sql_node_whose_files_move_is_taken_up_where_it_was_stopped(tmp_path: Path) -> None:
    """Its my.cnf names the new place already, and it must be up before the next SQL node is restarted."""
    life = Life.of_change(*plans("SQL nodes on one host"), tmp_path)
    stopped: list[ActedCluster] = []
    second = life.cluster.sql_nodes[148]

    def look() -> None:
        if not stopped and not second.active:
            stopped.append(life.cluster.twin())

    life.cluster.watch = look
    assert list(life.act("change", 0, again=False)) == []
    done = stopped[0].run(life.folder, "change", "--from", "sql-nodes")
    assert done.returncode == 0, done.stderr
    assert all(one.serves(stopped[0].now) for one in stopped[0].sql_nodes.values())


def _broken_off(life: Life, place: Path) -> ActedCluster:
    """Where every management node has the new file and no data node runs by it yet."""
    found: list[ActedCluster] = []
    cluster = life.cluster.twin()
    life.prepared(cluster, "change")
    nodes = cluster.data_nodes.values()
    old = {node.configuration for node in nodes}

    def look() -> None:
        servers = cluster.management.values()
        if not found and not old & {one.configuration for one in servers if one.active}:
            found.append(cluster.twin())

    cluster.watch = look
    assert cluster.run(life.folder, "change", state=place / "first").returncode == 0
    assert old == {node.configuration for node in found[0].data_nodes.values()}
    return found[0]


def test_a_change_that_was_broken_off_goes_on_from_another_machine(tmp_path: Path) -> None:
    """What was done is written down where it was begun alone, and config.ini is the new one already."""
    life = Life.of_change(*plans("one node"), tmp_path)
    cluster = _broken_off(life, tmp_path)
    done = cluster.run(life.folder, "change", state=tmp_path / "other")
    assert done.returncode == 0, done.stderr
    assert list(is_as_planned(cluster, life.plan, has_tables=True)) == []
    assert "Changed: nothing" in cluster.run(life.folder, "change", state=tmp_path / "third").stdout


def test_a_change_that_is_broken_off_at_its_very_end_is_not_made_again(tmp_path: Path) -> None:
    """Between the marks of two management hosts: a second one would empty the new cluster once more."""
    life = Life.of_change(*plans("initial system"), tmp_path)
    ends: list[tuple[ActedCluster, dict[str, str]]] = []
    state = life._state("of-end")

    def look() -> None:
        ends.append((life.cluster.twin(), {file.name: file.read_text() for file in state.parent.iterdir()}))

    cluster = life.cluster
    life.prepared(cluster, "change")
    cluster.watch = look
    assert cluster.run(life.folder, "change", state=state).returncode == 0
    elsewhere = ends[-20][0].twin().run(life.folder, "change", state=tmp_path / "elsewhere")
    assert elsewhere.returncode == 2
    assert "bring elsewhere.change from there" in elsewhere.stderr
    for number, (broken, files) in enumerate(ends[-4:]):
        again = life._state(f"again-{number}")
        for name, text in files.items():
            again.with_name(name).write_text(text)
        starts = sum(node.initial_starts for node in broken.data_nodes.values())
        done = broken.run(life.folder, "change", state=again)
        assert done.returncode == 0, done.stderr
        assert sum(node.initial_starts for node in broken.data_nodes.values()) == starts


def test_no_other_change_is_begun_while_one_is_under_way(tmp_path: Path) -> None:
    """Not even the way back: half of what it would undo has not been done."""
    before, after = plans("one node")
    life, back = (
        Life.of_change(*way, tmp_path / name)
        for name, way in (("there", (before, after)), ("back", (after, before)))
    )
    cluster = _broken_off(life, tmp_path)
    for folder, part in ((back.folder, "change"), (life.folder, "add-nodes")):
        refused = cluster.run(folder, part, state=tmp_path / part)
        assert refused.returncode == 2, part
        assert "bring it to its end with the folder that it was begun from" in refused.stderr
    assert cluster.run(life.folder, "backup", state=tmp_path / "backup").returncode == 0
    assert cluster.run(life.folder, "change", state=tmp_path / "end").returncode == 0
    assert cluster.run(back.folder, "change", state=tmp_path / "way-back").returncode == 0
    assert list(is_as_planned(cluster, before, has_tables=True)) == []


def test_a_node_that_moves_copies_its_rows_when_the_others_are_started(tmp_path: Path) -> None:
    """On the way back its old files are there, which --initial erases; with a partner that is started."""
    before, after = plans("system")
    life = Life.of_change(before, after, tmp_path / "there")
    assert list(life.act("change", 0, again=False)) == []
    back = Life.of_change(after, before, tmp_path / "back")
    back.cluster = life.cluster
    assert list(back.act("change", 0, again=False)) == []


def test_a_node_outside_all_groups_is_not_told_to_wait_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where SHOW fails just then, nobody knows that it is outside: it is asked again before STOP."""
    life = Life.of_change(*plans("reserved nodes"), tmp_path)
    cluster, shown, failed = life.cluster, life.cluster._show, list[str]()
    reserved = next(node for node in cluster.data_nodes.values() if node.group is None)

    def show(server: ManagementServer) -> str:
        asked = cluster.log[-2]
        if not failed and "ActiveState" in asked and reserved.unit in asked:
            failed.append(asked)
            raise RefusedError("Unable to connect\n", 255)
        return shown(server)

    monkeypatch.setattr(cluster, "_show", show)
    assert list(life.act("change", 0, again=False)) == []
    assert failed


def test_a_table_that_an_old_folder_removed_is_not_removed_again(tmp_path: Path) -> None:
    """config.ini is as before, so that nothing else tells whose turn it is."""
    life = Life.of_change(*{name: (b, a) for name, b, a in changes(STARTER)}["tables"], tmp_path)
    old = dict(life.cluster.tables)
    state = tmp_path / "state"
    assert life.cluster.run(life.folder, "change", state=state).returncode == 0
    [gone] = old.keys() - life.cluster.tables.keys()
    life.cluster.tables[gone] = old[gone]
    again = life.cluster.run(life.folder, "change", state=state)
    assert "--fresh does it again" in again.stdout
    assert gone in life.cluster.tables
    assert life.cluster.run(life.folder, "change", "--fresh", state=state).returncode == 0
    assert gone not in life.cluster.tables
    # Another change in the same folder is one of its own.
    life.cluster.tables[gone] = old[gone]
    with (life.folder / "runbook.sh").open("a") as script:
        script.write("# exported anew\n")
    assert life.cluster.run(life.folder, "change", state=state).returncode == 0
    assert gone not in life.cluster.tables


@pytest.mark.parametrize("version", ["7.4", "8.4"])
def test_what_was_there_under_the_same_name_is_not_taken_for_the_plans(version: str, tmp_path: Path) -> None:
    """Somebody made a column, an index and a table beside the plan, and each otherwise."""
    at = set_plan(STARTER, ndb_version=version)
    before, after = next((b, a) for name, b, a in changes(at) if name == "tables")
    life = Life.of_change(before, after, tmp_path)
    begun = life.cluster.twin()
    assert list(life.act("change", 0, again=False)) == []
    first, fresh = table_name(after.tables[0]), table_name(after.table("fresh"))
    for table, part, text in (
        (first, "`note`", "INT NULL"),
        (first, "INDEX `by_name`", "(`other`)"),
        (fresh, "`other`", "INT NOT NULL"),
    ):
        cluster, state = begun.twin(), tmp_path / part.strip("`")
        cluster.tables.setdefault(table, {})[part] = text
        stopped = cluster.run(life.folder, "change", state=state)
        assert "step read-back stops" in stopped.stderr, part
        assert f"expected: table {table.replace('`', '')} is as it must be" in stopped.stderr
        assert "< " in stopped.stderr
        cluster.tables = life.cluster.tables
        done = cluster.run(life.folder, "change", state=state)
        assert done.returncode == 0, done.stderr


def test_rows_that_come_while_a_new_cluster_is_broken_off_are_not_lost(tmp_path: Path) -> None:
    """Behind the backup somebody lets clients come back, and goes on another day."""
    life = Life.of_change(*plans("initial system"), tmp_path)
    life.cluster.know(life.plan)
    life.cluster.may_be_down = True
    dead: list[ActedCluster] = []

    def look() -> None:
        if life.cluster.backups and not dead:
            life.cluster.dies_after = life.cluster.calls + 2
            dead.append(life.cluster)

    life.cluster.watch = look
    state = tmp_path / "state"
    assert life.cluster.run(life.folder, "change", state=state).returncode
    assert "backup" in (tmp_path / "state.change").read_text()
    life.cluster.watch = life.cluster.dies_after = None
    for node in life.before.sql_nodes if life.before else ():
        process = life.cluster.sql_nodes[node.node_id]
        life.cluster._systemctl(process.host, ["start", process.unit])
    life.cluster.pass_time(3600)
    rows = life.cluster.rows
    done = life.cluster.run(life.folder, "change", state=state)
    assert done.returncode == 0, done.stderr
    assert all(node.rows >= rows for node in life.cluster.data_nodes.values() if node.group is not None)
    held = {number: backup[0] for number, backup in life.cluster.backups.items()}
    assert held[max(held)] >= rows, "the last backup has all rows that came: another one if any did"
    assert len(held) == (2 if rows > held[1] else 1)


def test_no_backup_is_named_for_a_change_that_takes_its_own(tmp_path: Path) -> None:
    """It was passed over without a word."""
    life = Life.of_change(*plans("initial system"), tmp_path)
    life.cluster.know(life.plan)
    life.cluster.may_be_down = True
    stopped = life.cluster.run(life.folder, "change", "--backup", "7")
    assert "this part takes a backup of its own here: without --backup 7" in stopped.stderr
    assert not life.cluster.backups


@pytest.mark.parametrize("kind", ["grow, tables", "system", "reserved nodes", "SQL nodes on one host"])
def test_the_stated_time_of_a_change_holds_what_it_takes(kind: str, tmp_path: Path) -> None:
    """A node that moved copies its rows behind the start of all others."""
    life = Life.of_change(*plans(kind), tmp_path, timed=True)
    assert list(life.act("change", 0, again=False)) == []
    assert life.took.keys() == {"change"}


def test_a_host_is_replaced_only_with_programs(tmp_path: Path) -> None:
    """Of any release of the series 9.x, which no program says."""
    life = Life(set_plan(sample_plan("redo-overload"), ndb_version="9.x"), tmp_path / "life")
    for part in ("install", "start"):
        assert list(life.act(part, 0, again=False)) == []
    node = next(iter(life.cluster.data_nodes.values()))
    host = node.host
    life.cluster.lose(host)
    asked = life.cluster.run(life.folder, "replace-host", "--host", host)
    assert "found:    none; name them with --programs PATH" in asked.stderr
    assert list(life.act("replace-host", 0, host, again=False)) == []
    assert node.initial_starts == 1


def test_a_folder_of_another_configuration_is_refused(tmp_path: Path) -> None:
    """Neither a rolling restart nor a change from something else is begun."""
    life = Life(STARTER, tmp_path / "life", seed=3)
    for part in ("install", "start"):
        assert list(life.act(part, 0, again=False)) == []
    other = parameter("NoOfFragmentLogFiles", 20)(STARTER)
    wrong = Running(parameter("DataMemory", 2**35)(other))
    export(other, tmp_path / "life" / "other", KINDS)
    export(other, tmp_path / "life" / "wrong", KINDS, running=wrong)
    for folder, part in (("other", "rolling-restart"), ("wrong", "change")):
        refused = life.cluster.run(tmp_path / "life" / folder, part)
        assert refused.returncode == 2
        assert "> NoOfFragmentLogFiles=20" in refused.stderr
        assert "export the plan with --from that file" in refused.stderr.lower()
    assert life.cluster.run(life.folder, "rolling-restart").returncode == 0
