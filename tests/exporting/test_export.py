"""The exported folder: its files, the scripts in it, and what can go wrong."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.resources import resource_path
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import add, remove, set_plan, update
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.exporting.export import KINDS, ExportError, export, render_files, replaced
from ndbplan.exporting.runbook import in_all, markdown_blocks, render_script
from ndbplan.exporting.written import RECORD
from ndbplan.importing.my_cnf import with_options
from ndbplan.operations.add_nodes import add_nodes
from ndbplan.operations.commands import (
    CreateNodeGroup,
    Shell,
    Sql,
    StartService,
    StopDataNode,
    WaitStarted,
)
from ndbplan.operations.first_start import disk_data_statements
from ndbplan.operations.life import operations
from ndbplan.operations.operation import Step
from ndbplan.operations.table_moves import reorganise_statement
from ndbplan.plan import file
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.tables import Column, LogfileGroup, SpaceFile, Table, Tablespace

SAMPLES = sorted(path.stem for path in resource_path("samples").glob("*.ndbplan"))
NASTY = "a`b'c\"$(x);d “e” ‘f’\u00a0g\\"


def sample(name: str) -> Plan:
    return file.load(resource_path(f"samples/{name}.ndbplan"))


def run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, timeout=60)


_SHELLCHECK_MOST = 200_000
"""Bytes: a script of 144 data nodes has more of the same lines, over which shellcheck takes a minute."""


def check_script(path: Path) -> None:
    assert run("bash", "-n", str(path)).stderr == ""
    if path.stat().st_size < _SHELLCHECK_MOST:
        found = run("shellcheck", str(path))
        assert found.returncode == 0, found.stdout


def test_shellcheck_is_there() -> None:
    assert shutil.which("shellcheck"), "install Debian's package shellcheck (packaging/debian-packages)"


@pytest.mark.parametrize("name", SAMPLES)
def test_scripts_of_every_sample_pass_bash(name: str, tmp_path: Path) -> None:
    for path in export(sample(name), tmp_path / "out", ["runbook"]):
        if path.suffix == ".sh":
            assert run("bash", "-n", str(path)).returncode == 0


# Each kind of part is in one of them: disk data, nodes that join, an old version, one server.
@pytest.mark.parametrize("name", ["add-nodes", "disk-data-8.4", "measured-7.4.10"])
def test_scripts_pass_shellcheck(name: str, tmp_path: Path) -> None:
    for path in export(sample(name), tmp_path / "out"):
        if path.suffix == ".sh":
            check_script(path)


@pytest.mark.parametrize("name", ["starter", "measured-7.4.10"])
def test_every_file_that_a_script_copies_lies_in_its_folder(name: str, tmp_path: Path) -> None:
    """In the folder that holds once nodes are added too: it adds no more, and says so."""
    export(sample(name), tmp_path / "out")
    scripts = sorted((tmp_path / "out").rglob("runbook.sh"))
    assert len(scripts) == 2
    for script in scripts:
        text = script.read_text()
        copied = set(re.findall(r"^copy_file (\S+) ", text, re.MULTILINE))
        assert "config.ini" in copied
        assert [file for file in copied if not (script.parent / file).is_file()] == []
        assert ("\n  add-nodes)" in text) is (script.parent.name == "out")
        assert ("- adding data nodes: export the plan" in text) is (script.parent.name != "out")


def test_a_runbook_states_the_time_of_what_it_does() -> None:
    """Without an SQL node it moves no rows, and its procedure says how long that takes."""
    plan = sample("measured-7.4.10")
    part = next(part for part in operations(plan) if part.key == "add-nodes")
    left_out = sum(one.duration_s.value for one in part.timeline if not one.step.text)
    stated = in_all(part)
    assert left_out > 60
    assert stated is not None
    assert stated.value == pytest.approx(part.duration_s.value - left_out)
    assert f"Expected in all: {stated}" in render_files(plan, ["runbook"])["runbook.md"]


@pytest.mark.parametrize("plan", [EMPTY_PLAN, remove(sample("starter"), ["ndb1", "ndb2"])])
def test_a_plan_without_data_nodes_exports_too(plan: Plan, tmp_path: Path) -> None:
    for path in export(plan, tmp_path / "out"):
        if path.suffix == ".sh":
            check_script(path)


def test_one_my_cnf_for_each_sql_host() -> None:
    plan = sample("starter")
    files = render_files(plan, ["mycnf"])
    assert set(files) == {"app-a1.my.cnf", "app-b1.my.cnf"}
    text = files["app-a1.my.cnf"]
    assert "\nndbcluster\n" in text
    assert "\nndb-connectstring=mgm-c1:1186,app-b1:1186\n" in text
    assert "\nndb-nodeid=147\n" in text


def test_my_cnf_speaks_of_several_management_hosts_only_where_there_are_some() -> None:
    for name, there in (("starter", True), ("disk-data", False)):
        plan = sample(name)
        assert (len(plan.management_nodes) > 1) is there
        texts = [text for file, text in render_files(plan, ["mycnf"]).items() if file.endswith(".cnf")]
        assert [("one of them may be down" in text) for text in texts] == [there] * len(texts), name


def test_connection_pool_with_its_ids() -> None:
    plan = update(sample("starter"), "sql147", pool_node_ids=(160, 161))
    text = render_files(plan, ["mycnf"])["app-a1.my.cnf"]
    assert "ndb-cluster-connection-pool=3\n" in text
    assert "ndb-cluster-connection-pool-nodeids=147,160,161\n" in text
    assert "ndb-nodeid=147" not in text
    old = render_files(set_plan(plan, ndb_version="7.4"), ["mycnf"])["app-a1.my.cnf"]
    assert "pool-nodeids" not in old


def test_two_mysqld_on_one_host_get_a_group_each() -> None:
    plan = update(sample("starter"), "sql148", host_id=sample("starter").sql_nodes[0].host_id)
    text = render_files(plan, ["mycnf"])["app-a1.my.cnf"]
    assert "[mysqld@147]" in text
    assert "[mysqld@148]" in text
    assert "port=3307" in text
    # The second would otherwise start without the X protocol: its port is taken.
    assert "mysqlx-port=33060\nmysqlx-socket=/var/lib/mysql-147/mysqlx.sock\n" in text
    assert "mysqlx-port=33061\nmysqlx-socket=/var/lib/mysql-148/mysqlx.sock\n" in text
    assert with_options(plan, text, "app-a1.my.cnf").changes == ()


def test_the_runbook_adds_nodes_in_the_order_of_the_manual() -> None:
    part = add_nodes(Estimation(sample("add-nodes")))
    names = [step.key for step in part.steps]
    wanted = [
        "configuration",
        "management",
        "restart-3",
        "restart-4",
        "sql-nodes",
        "directories",
        "start-new",
        "create-nodegroup",
        "close-sql",
        "reorganise-1",
        "optimise-1",
        "open-sql",
        "verify",
    ]
    assert names == wanted
    commands = [c for step in part.steps for c in step.commands]
    assert CreateNodeGroup((5, 6)) in commands
    assert StopDataNode(3, "computer3", "ndbmtd-3.service", (4,)) in commands
    sql = [s for step in part.steps for c in step.commands if isinstance(c, Sql) for s in c.statements]
    assert sql == ["ALTER ONLINE TABLE `test`.`t1` REORGANIZE PARTITION;", "OPTIMIZE TABLE `test`.`t1`;"]
    shells = [c.command for step in part.steps for c in step.commands if isinstance(c, Shell)]
    assert StartService("computer1", "ndb_mgmd-1.service", "--reload") in commands
    assert any("ndb_desc" in c and "--extra-partition-info" in c for c in shells)
    initial = [
        step.key
        for step in part.steps
        for c in step.commands
        if isinstance(c, StartService) and c.option == "--initial"
    ]
    assert initial == ["start-new", "start-new"]


@pytest.mark.parametrize(
    ("version", "statement"),
    [
        ("7.0", "ALTER ONLINE TABLE `test`.`t1` REORGANIZE PARTITION;"),
        ("7.4", "ALTER ONLINE TABLE `test`.`t1` REORGANIZE PARTITION;"),
        ("7.5", "ALTER TABLE `test`.`t1` ALGORITHM=INPLACE, REORGANIZE PARTITION;"),
        ("8.4", "ALTER TABLE `test`.`t1` ALGORITHM=INPLACE, REORGANIZE PARTITION;"),
    ],
)
def test_syntax_of_reorganise_by_version(version: str, statement: str) -> None:
    plan = set_plan(sample("add-nodes"), ndb_version=version)
    assert reorganise_statement(plan, plan.tables[0]) == statement


def test_tables_that_refuse_to_be_reorganised() -> None:
    plan = set_plan(sample("add-nodes"), ndb_version="8.4")
    fixed = update(plan, plan.tables[0].id, partitions=8)
    assert reorganise_statement(fixed, fixed.tables[0]) is None
    sized = update(plan, plan.tables[0].id, max_rows=10**9)
    assert reorganise_statement(sized, sized.tables[0]) == (
        "ALTER TABLE `test`.`t1` ALGORITHM=INPLACE, MAX_ROWS=1000000000;"
    )


def test_two_groups_at_once_and_the_grown_configuration() -> None:
    plan = sample("add-nodes")
    files = render_files(plan, add_groups=2)
    assert "create_nodegroup 5 6" in files["runbook.sh"]
    assert "create_nodegroup 7 8" in files["runbook.sh"]
    grown = add_node_group(plan, 2)
    assert files["after-add-nodes/config.ini"] == render_config_ini(grown)
    own = render_files(grown, [kind for kind in KINDS if kind not in ("runbook", "schedule")])
    del own["ansible/add_nodes.yml"]
    assert {f"after-add-nodes/{name}" for name in own} < files.keys(), "units, inventory and options too"


def test_reserved_nodes_need_no_rolling_restart() -> None:
    grown = add_node_group(sample("add-nodes"))
    for node in grown.data_nodes[-2:]:
        grown = update(grown, node.id, node_group=65536)
    part = add_nodes(Estimation(grown))
    assert [step.key for step in part.steps][:3] == ["directories", "start-new", "create-nodegroup"]
    files = render_files(grown)
    assert "Nodegroup=65536" in files["config.ini"]
    assert "65536" not in files["after-add-nodes/config.ini"]


def test_a_version_without_online_growth_has_no_such_part() -> None:
    assert "add-nodes" in [part.key for part in operations(sample("starter"))]
    assert "add-nodes" not in [part.key for part in operations(sample("disk-data"))]


def test_disk_data_objects_with_planned_sizes() -> None:
    statements = list(disk_data_statements(sample("disk-data")))
    assert statements[0].startswith("CREATE LOGFILE GROUP ")
    assert f"INITIAL_SIZE {20 * 2**30}" in statements[0]
    spaces = [s for s in statements if "TABLESPACE" in s]
    assert len(spaces) == 100
    assert all(f"INITIAL_SIZE {128 * 2**20}" in s for s in spaces)


def test_dry_run_shows_every_command_and_runs_none(tmp_path: Path) -> None:
    export(sample("add-nodes"), tmp_path)
    done = run("./runbook.sh", "add-nodes", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "CREATE NODEGROUP 5,6" in done.stdout
    assert not (tmp_path / "runbook.state.add-nodes").exists()


def fake_programs(folder: Path) -> dict[str, str]:
    """ssh that writes down what it is asked, to a host without flock.

    While a file `broken` is there it fails, or only reaches.
    """
    folder.mkdir()
    script = folder / "ssh"
    script.write_text(
        f'#!/bin/bash\necho "ssh $*" >>"{folder}/log"\n[[ $* != *flock* ]] || exit\ncat >>"{folder}/log"\n'
        f'[[ ! -e "{folder}/broken" || ( -s "{folder}/broken" && ${{!#}} == true ) ]]\n'
    )
    script.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def test_steps_say_how_long_they_take_and_wait_long_enough() -> None:
    plan = sample("add-nodes")
    part = next(p for p in operations(plan) if p.key == "add-nodes")
    step = next(s for s in part.steps if s.key == "reorganise-1")
    assert step.duration_s is not None
    assert step.duration_s.value == pytest.approx(248, rel=0.15)
    files = render_files(plan)
    assert f"Expected: {step.duration_s}" in files["runbook.md"]
    assert "'4 min 8 s (" in files["runbook.sh"]
    slow = sample("terabyte-load")
    rolling = next(p for p in operations(slow) if p.key == "rolling-restart")
    waits = [c for s in rolling.steps for c in s.commands if isinstance(c, WaitStarted)]
    assert waits
    assert min(wait.timeout_s for wait in waits) > 2732


def test_the_script_stops_at_an_error_and_goes_on_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(sample("starter"), out)
    environment = fake_programs(tmp_path / "bin")

    def script(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["./runbook.sh", *arguments],
            cwd=out,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    broken = tmp_path / "bin" / "broken"
    broken.touch()
    unreached = script("start", "--yes")
    assert unreached.returncode != 0
    assert "no management host can be reached over ssh: mgm-c1 app-b1" in unreached.stderr
    assert "go on with: ./runbook.sh start" in unreached.stderr
    broken.write_text("but for what reaches a host")
    stopped = script("start", "--yes")
    assert stopped.returncode != 0
    assert "step directories is not done" in stopped.stderr
    assert "go on with: ./runbook.sh start" in stopped.stderr
    broken.unlink()
    from_verify = script("start", "--from", "verify")
    assert "== verify" in from_verify.stdout
    assert "== directories" not in from_verify.stdout
    assert script("start", "--from", "nonsense").returncode == 2
    assert script("nonsense").returncode == 2


def test_who_stays_down_after_a_failure_stands_at_the_top_of_the_runbook() -> None:
    plan = sample("starter")
    said = "a data node that failed: StopOnError of {} is 1"
    assert "StopOnError" not in render_files(plan, ["runbook"])["runbook.md"], "a node comes back there"
    plan = set_parameter(plan, "data_node", "StopOnError", 1)
    assert said.format("every data node") in render_files(plan, ["runbook"])["runbook.md"]
    first = set_parameter(plan, plan.data_nodes[0].id, "StopOnError", 0)
    assert said.format("data node 2") in render_files(first, ["runbook"])["runbook.md"]
    both = set_parameter(plan, "data_node", "StopOnError", 0)
    assert "StopOnError" not in render_files(both, ["runbook"])["runbook.md"]


def test_what_nodes_need_that_no_plan_holds_is_named() -> None:
    plan = sample("starter")
    for name, said in (("RequireTls", "certificates of TLS"), ("EncryptedFileSystem", "filesystem-password")):
        assert said not in render_files(plan, ["runbook"])["runbook.md"]
        asked = set_parameter(plan, "data_node", name, 1)
        assert said in render_files(asked, ["runbook"])["runbook.md"]
        older = set_plan(asked, ndb_version="7.4")
        assert said not in render_files(older, ["runbook"])["runbook.md"], "the release has no such parameter"


def test_hosts_without_locks_and_nodes_with_one_thread_stand_at_the_top() -> None:
    top = render_files(sample("starter"), ["runbook"])["runbook.md"].partition("\n## ")[0]
    assert "host has none or does not answer, that is named and gone on without" in top
    assert "the units start ndbmtd, also where ndbd runs" in top
    older = set_plan(sample("starter"), ndb_version="6.3")
    assert "the units start ndbmtd" not in render_files(older, ["runbook"])["runbook.md"]


def test_a_host_that_answers_nothing_holds_nobody_up(tmp_path: Path) -> None:
    export(sample("starter"), tmp_path / "out")
    environment = fake_programs(tmp_path / "bin")
    ssh, script = tmp_path / "bin" / "ssh", tmp_path / "out" / "runbook.sh"
    ssh.write_text(ssh.read_text().replace("[[ $* != *flock* ]] || exit", "true"))
    assert "read -r -t 30 " in script.read_text()
    script.write_text(script.read_text().replace("read -r -t 30 ", "read -r -t 1 "))
    done = subprocess.run(
        [script, "start", "--from", "verify"], env=environment, capture_output=True, text=True, check=False,
        timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stderr.count("keeps no lock: nothing there tells of a run from elsewhere") == 2
    assert "== verify" in done.stdout


def test_a_script_without_flock_says_that_nothing_tells_of_another_run(tmp_path: Path) -> None:
    export(sample("starter"), tmp_path / "out")
    fake_programs(tmp_path / "bin")
    for program in (
        "bash",
        "cat",
        "cksum",
        "dirname",
        "env",
        "find",
        "grep",
        "mkfifo",
        "mktemp",
        "rm",
        "sed",
    ):
        (tmp_path / "bin" / program).symlink_to(shutil.which(program) or "")
    said = {}
    for has_flock in (False, True):
        if has_flock:
            (tmp_path / "bin" / "flock").symlink_to(shutil.which("flock") or "")
        done = subprocess.run(
            [tmp_path / "out" / "runbook.sh", "start", "--from", "verify"], stdin=subprocess.DEVNULL,
            env={"PATH": f"{tmp_path}/bin"}, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert "== verify" in done.stdout
        said[has_flock] = "has no flock: nothing tells of another run of this folder" in done.stderr
    assert said == {False: True, True: False}


def test_destructive_steps_are_asked_about(tmp_path: Path) -> None:
    export(sample("add-nodes"), tmp_path / "out")
    environment = fake_programs(tmp_path / "bin")
    refused = subprocess.run(
        ["./runbook.sh", "add-nodes", "--from", "sql-nodes"],
        cwd=tmp_path / "out",
        env=environment,
        input="no\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert refused.returncode == 2
    assert "Connections to each SQL node break" in refused.stdout
    assert "systemctl" not in (tmp_path / "bin" / "log").read_text(), "it has looked, and done nothing"


TEXT = st.text(
    st.characters(blacklist_categories=("Cc", "Cs"), blacklist_characters="\u2028\u2029"),
    min_size=1,
    max_size=20,
)


@given(table=TEXT, database=TEXT, name=TEXT)
def test_whatever_is_typed_stays_inside_its_quotes(table: str, database: str, name: str) -> None:
    plan = sample("add-nodes")
    column = Column(name="a", type="int")
    tables = (Table(id="t", database=database, name=table, columns=(column,)),)
    plan = plan.replace(name=name, tables=tables, workloads=())
    statement = reorganise_statement(plan, plan.tables[0])
    assert statement is not None
    quoted = f"`{database.replace('`', '``')}`.`{table.replace('`', '``')}`"
    assert quoted in statement
    assert f"\n{statement}\n" in render_script(plan, operations(plan))


def test_nasty_names_pass_shellcheck(tmp_path: Path) -> None:
    plan = sample("add-nodes")
    column = Column(name="a", type="int")
    table = Table(id="nasty", database=NASTY, name=NASTY, columns=(column,))
    group = LogfileGroup(id="lg", name=NASTY, undo_files=(SpaceFile(name=NASTY, size_bytes=2**20),))
    space = Tablespace(
        id="ts", name=NASTY, logfile_group_id="lg", data_files=(SpaceFile(name=NASTY, size_bytes=2**20),)
    )
    plan = add(plan.replace(name=NASTY), table, group, space)
    for path in export(plan, tmp_path):
        if path.suffix == ".sh":
            check_script(path)
            assert run("bash", str(path), "start", "--dry-run").returncode == 0
            assert (
                f"ADD UNDOFILE '{NASTY.replace(chr(92), chr(92) * 2).replace(chr(39), chr(39) * 2)}'"
                in path.read_text()
            )


def test_only_some_kinds() -> None:
    assert set(render_files(sample("starter"), ["config"])) == {"config.ini"}
    with pytest.raises(ExportError, match="there is no kind of file 'bogus'"):
        render_files(sample("starter"), ["bogus"])
    assert {"config", "mycnf", "runbook"} <= set(KINDS)


def test_names_that_no_file_system_has_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    plan = sample("starter")
    node = plan.sql_nodes[0]
    longest = ".".join(["h" * 61] * 4)
    fits = update(plan, node.host_id, hostname=longest)
    assert f"{longest}.my.cnf" in {path.name for path in export(fits, tmp_path / "fits", ["mycnf"])}
    long = update(plan, node.host_id, hostname=f"{longest}.xyz")
    with pytest.raises(ExportError, match="has 258 bytes; file systems allow 255") as refused:
        export(long, tmp_path / "out", ["config", "mycnf"])
    assert refused.value.fix.startswith("shorten the name of the host")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="the folder cannot be made"):
        export(sample("starter"), tmp_path / "file" / "out")


def test_nothing_of_a_typed_command_runs_where_it_must_not_be_given(tmp_path: Path) -> None:
    """A data directory that is filled would be taken for one that is being filled, and emptied."""
    marks = [tmp_path / name for name in ("first", "second")]
    tries = " && ".join(f"touch {mark}" for mark in marks)
    for unless, runs in (("{ test -e / && true; }", False), ("test ! -e /", True), ("", True)):
        step = Step("a", "A", commands=(Shell("h", tries, unless=unless),))
        (block,) = markdown_blocks(sample("starter"), step)
        *_, typed = shlex.split(block.splitlines()[1])
        assert run("bash", "-c", typed).returncode == 0
        assert [mark.exists() for mark in marks] == [runs, runs]
        for mark in marks:
            mark.unlink(missing_ok=True)


def test_a_node_that_runs_gets_no_option_that_would_erase_its_files_later() -> None:
    for unit, test in (("ndbmtd-3.service", "systemctl is-active --quiet"), ("ndbmtd-3", "service")):
        step = Step("a", "A", commands=(StartService("h", unit, "--initial"),))
        (block,) = markdown_blocks(sample("starter"), step)
        *_, typed = shlex.split(block.splitlines()[1])
        # The programs are functions here: it runs.
        typed = re.sub(r">\S+", ">/dev/null", typed)
        programs = "systemctl() { test $1 = is-active || printf started; }; "
        programs += "service() { test $2 = status || printf started; }; "
        assert typed.startswith(test)
        assert run("bash", "-c", programs + typed).stdout == ""
        assert run("bash", "-c", programs + typed.partition("|| ")[2]).stdout == "started"


def test_an_export_that_breaks_off_says_how_much_of_it_is_there(tmp_path: Path) -> None:
    """Files are replaced one by one: a full disk leaves the first ones new, and the rest as it was."""
    names = list(render_files(sample("starter")))
    (tmp_path / names[2]).mkdir()
    with pytest.raises(ExportError) as caught:
        export(sample("starter"), tmp_path)
    assert f"2 of {len(names)} files are new, the others as before" in caught.value.line
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names[:3], RECORD])


@pytest.mark.parametrize("name", ["starter", "disk-data"])
def test_what_a_plan_does_not_hold_of_tables_stands_at_the_top(name: str) -> None:
    """For a person who types and for one who runs the script."""
    files = render_files(sample(name), ("runbook",))
    tops = files["runbook.md"].partition("\n## ")[0], files["runbook.sh"].partition("USAGE\n}")[0]
    for top in tops:
        [keys] = [line for line in top.splitlines() if "foreign keys, which" in line]
        assert all(part in keys for part in ("schema.sql", "add-nodes", "restore", "3730"))
        [views] = [line for line in top.splitlines() if "triggers, routines" in line]
        assert "on every SQL node" in views


def test_a_table_that_goes_is_said_to_need_its_foreign_keys_gone() -> None:
    before = sample("starter")
    after = before.replace(tables=before.tables[1:], workloads=())
    [part] = [one for one in operations(after, before=before) if one.key == "change"]
    [step] = [one for one in part.steps if one.key == "drop-tables"]
    assert "Foreign keys of other tables" in step.text
    assert "3730" in step.if_it_fails


def test_files_that_say_something_else_are_told_from_those_that_are_the_same(tmp_path: Path) -> None:
    files = {"config.ini": "a\n", "systemd/one.service": "b\n", "new.txt": "c\n"}
    (tmp_path / "systemd").mkdir()
    (tmp_path / "config.ini").write_text("a\n")
    (tmp_path / "systemd" / "one.service").write_text("mine\n")
    assert replaced(files, tmp_path) == ("systemd/one.service",)
    assert replaced(files, tmp_path / "none") == ()


def test_what_the_program_wrote_is_written_anew_and_what_others_made_is_kept(tmp_path: Path) -> None:
    plan, kinds = sample("starter"), ["config", "runbook"]
    changed = set_parameter(plan, "data_node", "DataMemory", "7G")
    export(plan, tmp_path, kinds)
    export(changed, tmp_path, kinds)
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert replaced(render_files(plan, kinds), tmp_path) == ()
    for name, how in (
        ("config.ini", "was changed since it was exported"),
        ("schema.sql", "is not from an export"),
    ):
        (tmp_path / name).write_text("mended by hand\n")
        with pytest.raises(ExportError) as caught:
            export(plan, tmp_path, [*kinds, "schema"])
        # Nothing is written where one file is somebody's work.
        assert {p: p.read_bytes() for p in written if p.name != "config.ini"} == {
            p: text for p, text in written.items() if p.name != "config.ini"
        }
        (tmp_path / name).unlink()
        assert how in caught.value.line
        assert name in caught.value.line
    assert export(plan, tmp_path, [*kinds, "schema"])


@pytest.mark.parametrize("record", [None, b"\xff\x00", b"nonsense\n", b"0  config.ini\n"])
def test_without_a_record_a_file_that_says_the_same_is_written_anew(
    tmp_path: Path, record: bytes | None
) -> None:
    plan = sample("starter")
    export(plan, tmp_path, ["config"])
    (tmp_path / RECORD).unlink()
    if record is not None:
        (tmp_path / RECORD).write_bytes(record)
    export(plan, tmp_path, ["config"])
    (tmp_path / RECORD).unlink()
    with pytest.raises(ExportError):
        export(set_parameter(plan, "data_node", "DataMemory", "7G"), tmp_path, ["config"])
    export(set_parameter(plan, "data_node", "DataMemory", "7G"), tmp_path, ["config"], replace=True)
    export(plan, tmp_path, ["config"])


def test_sha256sum_names_what_was_changed(tmp_path: Path) -> None:
    export(sample("starter"), tmp_path)
    assert run("sha256sum", "--strict", "--quiet", "-c", RECORD, cwd=tmp_path).returncode == 0
    (tmp_path / "config.ini").write_text("mine\n")
    assert "config.ini: FAILED" in run("sha256sum", "-c", RECORD, cwd=tmp_path).stdout


def test_a_shell_that_is_too_old_is_named(tmp_path: Path) -> None:
    """Nothing before it is more than such a shell reads: it would end at its first table of names."""
    plan = sample("starter")
    head, mark, rest = render_script(plan, operations(plan)).partition("\nhere=")
    assert mark
    assert "declare -A" in rest
    for major, minor, code in ((3, 2, 2), (4, 1, 2), (4, 2, 0), (5, 0, 0)):
        text = f"OLD=({major} {minor})\n{head.replace('BASH_VERSINFO', 'OLD')}"
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=False)
        assert done.returncode == code, (major, minor)
        assert ("needs 4.2 or later" in done.stderr) is bool(code)
