"""set, add, remove: a plan is built and changed without a window, whole or not at all."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ndbplan.base.errors import UserError
from ndbplan.edits.additions import KINDS, add
from ndbplan.edits.removal import remove
from ndbplan.plan.file import dumps, load, loads
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.processes import DataNode
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")


# set


def test_set_changes_the_file_in_place_and_keeps_the_one_before(call: Any, saved: Any) -> None:
    path = saved("starter")
    shape = call("set", path, "hosts[host-a1].memory=512GiB", "RedoBuffer=64M", "--json").json("set")
    assert shape["files"] == [str(path)]
    assert [c["address"] for c in shape["set"]] == [
        "hosts[host-a1].memory_bytes",
        "parameters.data_node.RedoBuffer",
    ]
    assert shape["set"][0] == {
        "address": "hosts[host-a1].memory_bytes",
        "before": STARTER.host("host-a1").memory_bytes,
        "after": 512 * 2**30,
    }
    assert load(path).host("host-a1").memory_bytes == 512 * 2**30
    assert load(path.with_name(path.name + "~")) == STARTER


def test_set_with_an_output_leaves_the_plan_alone(call: Any, saved: Any, tmp_path: Path) -> None:
    path, out = saved("starter"), tmp_path / "out.ndbplan"
    before = path.read_bytes()
    assert "wrote" in call("set", path, "RedoBuffer=64M", "-o", out).out
    assert path.read_bytes() == before
    assert load(out).parameters.data_node["RedoBuffer"] == 64 * 2**20


@pytest.mark.parametrize("address", ["hosts[host-a1]", "tables[*]", "workloads[day]", "processes[ndb1]"])
@pytest.mark.parametrize("value", ["3", "true", "1e999", "[]", "[[[]]]", '{"id": "x"}', "x", "null", ""])
def test_a_part_is_never_something_else(call: Any, saved: Any, address: str, value: str) -> None:
    path = saved("starter")
    before = path.read_bytes()
    assert address.partition("[")[0] in call("set", path, f"{address}={value}").refused()
    assert path.read_bytes() == before


def test_one_error_and_nothing_is_written(call: Any, saved: Any, tmp_path: Path) -> None:
    path, out = saved("starter"), tmp_path / "out.ndbplan"
    before = path.read_bytes()
    line = call("set", path, "RedoBuffer=64M", "hosts[host-a1].cores=0", "-o", out).refused()
    assert "hosts[host-a1].cores=0" in line
    assert path.read_bytes() == before
    assert not out.exists()
    assert not path.with_name(path.name + "~").exists()


def test_what_is_there_already_writes_nothing(call: Any, saved: Any) -> None:
    path = saved("starter")
    shape = call("set", path, f"hosts[host-a1].cores={STARTER.host('host-a1').cores}", "--json").json("set")
    assert shape["files"] == []
    assert shape["set"][0]["before"] == shape["set"][0]["after"]
    assert not path.with_name(path.name + "~").exists()
    assert "nothing changes" in call("set", path, "name=" + STARTER.name).out


def test_a_plan_of_an_older_format_stays_readable(call: Any, tmp_path: Path) -> None:
    old = Path(__file__).parent.parent / "plan" / "format_1" / "starter.ndbplan"
    path = tmp_path / "old.ndbplan"
    path.write_bytes(old.read_bytes())
    assert call("set", path, "name=New").code == 0
    assert load(path).name == "New"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("set",), "ADDRESS"),
        (("set", "nonsense=1"), "nonsense=1"),
        (("set", "DataMemory=64x"), "DataMemory=64x"),
        (("add",), "KIND"),
        (("add", "hots"), "did you mean host"),
        (("add", "data"), "on which host"),
        (("add", "host", "host-a1"), "already"),
        (("add", "host", "x", "cors=4"), "did you mean cores"),
        (("add", "host", "x", "class=huge"), "host-large"),
        (("add", "host", "x y"), "host name"),
        (("add", "host", "x", "cores=1", "cores=2"), "twice"),
        (("add", "disk", "host=host-a1", "disk2", "other"), ""),
        (("add", "event", "node_failure", "workload=nobody"), "nobody"),
        (("add", "event", "flood"), "node_failure"),
        (("add", "event", "node_failure", "workload=day"), "event node_failure needs object_id"),
        (("add", "link", "1"), "two nodes"),
        (("add", "table", "a.b", "--ddl", "CREATE TABLE t (a INT)"), "SQL names its tables"),
        (("add", "table", "--ddl", "SELECT (1)"), "no table"),
        (("add", "table", "--ddl", "nowhere.sql"), "nowhere.sql"),
        (("add", "host", "--ddl", "CREATE TABLE t (a INT)"), "SQL makes tables"),
        (("add", "waiver", "redo-log-sise", "reason=x"), "did you mean redo-log-size"),
        (("add", "waiver", "redo-log-size"), "reason"),
        (("add", "calibration", "lcp_devise_share"), "lcp_device_share"),
        (("add", "node-group", "0"), "1 to 144"),
        (("remove",), "ADDRESS"),
        (("remove", "hosts[nowhere]"), "nowhere"),
        (("remove", "hosts"), "hosts[*]"),
        (("remove", "hosts[host-a1].hostname"), "must have a value"),
    ],
)
def test_what_is_refused_is_said_in_one_line(
    call: Any, saved: Any, arguments: tuple[str, ...], said: str
) -> None:
    path = saved("starter")
    before = path.read_bytes()
    done = call(arguments[0], path, *arguments[1:])
    if said:
        assert said in done.refused()
        assert path.read_bytes() == before
    else:
        assert done.code == 0


# add


FROM_NOTHING = """
set name="Four nodes" ndb_version=8.4
add location rack-a location_domain_id=1
add location rack-b location_domain_id=2
add location rack-c location_domain_id=3
add host a1 b1 cores=16 memory=64GB disks=nvme,nvme
add host c1 cores=4 memory=16GB location=rack-c
set hosts[a1].location=rack-a hosts[b1].location=rack-b
add management mgm1 host=c1
add data host=a1
add data host=b1
set lcp=nvme1
add node-group
set DataMemory=24G NoOfFragmentLogFiles=32 FragmentLogFileSize=256M RedoBuffer=64M
add sql host=a1
add sql host=b1
add api
add table --ddl 'CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, note VARCHAR(99), KEY n (note))' rows=5M
add column price table=shop.orders type=decimal length=10 scale=2
set tables[shop.orders].columns[note].average_bytes=40
add workload peak table=shop.orders operation=insert rate=2k
add point workload=peak at=5min rate=3k
add transaction read table=shop.orders operation=read weight=4
add event node_failure at=60s object=3 back_after=2min
"""


def test_a_cluster_of_four_nodes_is_built_from_nothing_checked_and_exported(
    call: Any, tmp_path: Path
) -> None:
    path = tmp_path / "four.ndbplan"
    assert call("new", "-o", path).code == 0
    for line in FROM_NOTHING.strip().splitlines():
        command, *words = shlex.split(line)
        done = call(command, path, *words, "--json")
        assert done.code == 0, f"{line}: {done.err}"
        done.json(command)
    plan = load(path)
    assert [node.node_id for node in plan.data_nodes] == [1, 2, 3, 4]
    assert {host.hostname for host in plan.hosts} == {"a1", "b1", "a2", "b2", "c1"}
    (a2,) = (host for host in plan.hosts if host.hostname == "a2")
    assert plan.by_id[a2.location_id].name == "rack-a"
    assert plan.data_nodes[2].disk_roles.lcp in {disk.id for disk in a2.disks}
    assert plan.table("shop.orders").rows == 5_000_000
    checked = call("check", path, "--json")
    errors = [p for p in checked.json("check")["problems"] if p["severity"] == "error"]
    assert errors == []
    assert call("estimate", path, "--json").code == 0
    exported = call("export", path, "--to", tmp_path / "out", "--only", "config,mycnf,runbook", "--json")
    files = exported.json("export")["files"]
    config = next(Path(name).read_text() for name in files if name.endswith("config.ini"))
    assert config.count("[ndbd]") == 4
    assert "DataMemory=24G" in config.replace(" ", "")


def test_tables_come_from_a_file_and_known_ones_keep_their_rows(
    call: Any, saved: Any, tmp_path: Path
) -> None:
    path = saved("starter")
    table = STARTER.tables[0]
    sql = tmp_path / "t.sql"
    sql.write_text(
        f"CREATE TABLE {table.database}.{table.name} (id INT PRIMARY KEY) ENGINE=ndb;\n"
        "CREATE TABLE new_one (id INT PRIMARY KEY) ENGINE=ndb; CREATE TABLE broken (id WHAT);"
    )
    done = call("add", path, "table", "--ddl", sql, "--json")
    added = done.json("add")["added"]
    assert f"tables[{table.id}]" in added
    assert "broken" in done.err or "WHAT" in done.err or len(added) == 3
    after = load(path)
    assert after.table(table.id).rows == table.rows
    assert [c.name for c in after.table(table.id).columns] == ["id"]


SAID = {
    "location": ["rack-z"],
    "host": ["new", "cores=4", "memory=8GB", "location=Rack A"],
    "disk": ["spare", "host=host-a1", "class=sata", "capacity=2TB"],
    "management": ["host=host-a1"],
    "data": ["host=host-a1", "redo=nvme0", "RedoBuffer=64M"],
    "sql": ["host=host-a1", "node_id=200"],
    "api": [],
    "node-group": ["2"],
    "table": ["shop.more", "rows=10k"],
    "column": ["more", "table={table}", "type=varchar", "length=20"],
    "index": ["more", "table={table}"],
    "logfile-group": ["lg9", "size=1GB", "count=2"],
    "workload": ["new", "operation=insert", "rate=500"],
    "transaction": ["new", "workload={workload}", "rows=2"],
    "operation": ["workload={workload}", "transaction={transaction}", "kind=read"],
    "point": ["workload={workload}", "at=1h", "rate=1k"],
    "event": ["backup", "workload={workload}"],
    "link": ["1", "2", "SendBufferMemory=4M"],
    "waiver": ["redo-log-size", "object=host-a1", "reason=measured"],
    "calibration": ["lcp_device_share", "value=0.5"],
    "copy": ["host-a1"],
}


def words_for(kind: str) -> list[str]:
    """What to say of a part of a kind that is added to the starter."""
    workload = STARTER.workloads[0]
    names = {
        "table": STARTER.tables[0].full_name,
        "workload": workload.id,
        "transaction": workload.transactions[0].name,
    }
    return [word.format(**names) for word in SAID[kind]]


@pytest.mark.parametrize("kind", SAID)
def test_each_kind_is_added_and_removed_again(kind: str) -> None:
    done = add(STARTER, kind, words_for(kind))
    assert done.added
    assert loads(dumps(done.plan)) == done.plan
    assert remove(done.plan, done.added).plan == STARTER


def test_there_is_an_example_of_every_kind() -> None:
    files = {"tablespace", "data-file", "undo-file"}
    assert set(SAID) | files == set(KINDS)


def test_disk_data_is_made_from_one_line_each() -> None:
    plan = add(EMPTY_PLAN, "logfile-group", ["lg_1", "size=4GB", "undo_buffer=32M"]).plan
    plan = add(plan, "undo-file", ["undo_2.log", "size=2GB"]).plan
    plan = add(plan, "tablespace", ["ts_1", "file=d1.dat", "size=8GB", "count=4", "extent_size=1M"]).plan
    plan = add(plan, "data-file", ["d2.dat"]).plan
    (group,), (space,) = plan.logfile_groups, plan.tablespaces
    assert [(f.name, f.size_bytes) for f in group.undo_files] == [
        ("undo_1.log", 4 * 10**9),
        ("undo_2.log", 2 * 10**9),
    ]
    assert [(f.size_bytes, f.count) for f in space.data_files] == [(8 * 10**9, 4), (8 * 10**9, 1)]
    assert group.undo_buffer_bytes == 32 * 2**20


def test_roles_and_parameters_of_a_new_node_are_set_in_one_line() -> None:
    done = add(STARTER, "data", ["host=host-a1", "redo=nvme1", "RedoBuffer=64M", "group=0"])
    node = done.plan.by_id[done.added[0].removeprefix("processes[").removesuffix("]")]
    assert isinstance(node, DataNode)
    assert node.disk_roles.redo == "host-a1-nvme1"
    assert node.parameters["RedoBuffer"] == 64 * 2**20


def test_events_know_objects_by_name_and_node_id_and_their_values_by_parameter() -> None:
    workload = STARTER.workloads[0].id
    plan = add(STARTER, "event", ["node-failure", f"workload={workload}", "object=2", "at=1min"]).plan
    plan = add(plan, "event", ["parameter", f"workload={workload}", "name=redobuffer", "value=128M"]).plan
    failure, change = plan.workload(workload).events[-2:]
    assert plan.by_id[failure.object_id].node_id == 2
    assert (change.name, change.value, change.at_s) == (
        "RedoBuffer",
        128 * 2**20,
        round(plan.workload(workload).duration_s / 2),
    )


def test_copies_come_from_another_plan_too(call: Any, saved: Any) -> None:
    into, other = saved("starter"), saved("disk-data")
    table = sample_plan("disk-data").tables[0]
    added = call("add", into, "copy", f"tables[{table.full_name}]", "--from", other, "--json").json("add")
    assert len(added["added"]) == 1
    names = {c.name for c in load(into).tables[-1].columns}
    assert names == {c.name for c in table.columns}
    done = add(STARTER, "copy", ["1", "onto=host-b1"] if "1" in STARTER.by_id else ["ndb1", "onto=host-b1"])
    assert done.plan.processes[-1].host_id == "host-b1"
    assert "not an object" in call("add", into, "copy", "hosts[host-a1].cores").refused()


def test_a_load_over_time_comes_from_a_file(call: Any, saved: Any, tmp_path: Path) -> None:
    path, csv = saved("starter"), tmp_path / "load.csv"
    csv.write_text("at,rate\n0,100\n60,500\n")
    workload = STARTER.workloads[0]
    shape = call("set", path, f"workloads[{workload.id}].load=@{csv}", "--json").json("set")
    assert [c["address"] for c in shape["set"]] == [f"workloads[{workload.id}].load"]
    assert [p.rate_per_s for p in load(path).workloads[0].load.points] == [100.0, 500.0]
    assert "nowhere" in call("set", path, f"workloads[{workload.id}].load=@nowhere.csv").refused()


def test_a_reorganised_plan_and_counted_keys_are_written(call: Any, saved: Any, tmp_path: Path) -> None:
    path, out, keys = saved("starter"), tmp_path / "out.ndbplan", tmp_path / "keys.csv"
    assert call("reorg", path, "--add-groups", 1, "-o", out, "--json").json("reorg")["files"] == [str(out)]
    assert len(load(out).data_nodes) == 2 * len(STARTER.data_nodes)
    table = STARTER.tables[0]
    key = table.primary_key[0]
    keys.write_text(f"{key}\n" + "".join(f"{n}\n" for n in range(50)))
    done = call("distribute", path, "--table", table.full_name, "--keys", keys, "-o", out, "--json")
    assert done.json("distribute")["files"] == [str(out)]
    assert load(out).table(table.id).rows == 50
    assert "--keys" in call("distribute", path, "-o", out).refused()


# remove


def test_removing_says_what_went_along(call: Any, saved: Any) -> None:
    path = saved("starter")
    host = STARTER.hosts[0]
    shape = call("remove", path, host.id, "--json").json("remove")
    assert shape["removed"] == [f"hosts[{host.id}]"]
    gone = {*(d.id for d in host.disks), *(p.id for p in STARTER.processes if p.host_id == host.id)}
    assert {address.split("[")[-1].rstrip("]") for address in shape["along"]} >= gone
    after = load(path)
    assert not gone & after.by_id.keys()


def test_every_object_that_goes_is_told_and_nothing_else() -> None:
    for name in ("starter", "redo-overload", "disk-data"):
        plan = sample_plan(name)
        for part in plan.objects():
            found = remove(plan, [part.id])
            told = {a.split("[")[-1].rstrip("]") for a in (*found.removed, *found.along) if "events" not in a}
            gone = plan.by_id.keys() - found.plan.by_id.keys()
            assert gone <= told, part.id
            assert part.id in gone


def test_a_location_that_goes_frees_its_hosts() -> None:
    found = remove(STARTER, ["rack-a"])
    inside = [host for host in STARTER.hosts if host.location_id == "rack-a"]
    assert inside
    assert [(c.address, c.before, c.after) for c in found.changed] == [
        (f"hosts[{host.id}].location_id", "rack-a", None) for host in inside
    ]


def test_members_without_names_go_by_their_place_in_any_order() -> None:
    workload = STARTER.workloads[0].id
    plan = STARTER
    for at in ("1s", "2s", "3s", "4s"):
        plan = add(plan, "event", ["backup", f"workload={workload}", f"at={at}"]).plan
    first = len(STARTER.workload(workload).events)
    named = [f"workloads[{workload}].events[{first + i}]" for i in (0, 2)]
    left = [event.at_s for event in remove(plan, named).plan.workload(workload).events[first:]]
    assert left == [2.0, 4.0]
    assert remove(plan, reversed(named)).plan == remove(plan, named).plan


def test_the_last_of_what_must_be_there_stays(call: Any, saved: Any) -> None:
    path = saved("starter")
    workload = STARTER.workloads[0]
    names = [f"workloads[{workload.id}].transactions[{t.name}]" for t in workload.transactions]
    line = call("remove", path, *names).refused()
    assert "one must stay" in line


def test_a_parameter_or_field_that_goes_is_no_longer_stated() -> None:
    name = next(iter(STARTER.parameters.data_node))
    assert name not in remove(STARTER, [name]).plan.parameters.data_node
    assert remove(STARTER, ["hosts[host-a1].location"]).plan.host("host-a1").location_id is None


# waivers


def test_waivers_are_accepted_listed_and_withdrawn(call: Any, saved: Any) -> None:
    path = saved("starter")
    problems = call("check", path, "--json").json("check")["problems"]
    assert problems
    rule = problems[0]["rule"]
    assert call("add", path, "waiver", rule, "reason=seen and accepted").code == 0
    shape = call("check", path, "--json").json("check")
    assert rule not in {p["rule"] for p in shape["problems"]}
    assert {(p["rule"], p["reason"]) for p in shape["waived"]} == {(rule, "seen and accepted")}
    assert len(shape["waived"]) + len(shape["problems"]) == len(problems)
    assert shape["waivers"][0]["problems"] == len(shape["waived"])
    assert "because: seen and accepted" in call("check", path).out
    assert call("remove", path, shape["waivers"][0]["address"]).code == 0
    assert call("check", path, "--json").json("check")["problems"] == problems


def test_a_waiver_without_its_problem_is_named(call: Any, saved: Any) -> None:
    path = saved("starter")
    call("add", path, "waiver", "thread-config", "reason=x")
    shape = call("check", path, "--json")
    assert not shape.json("check")["waived"], "the starter has no such problem"
    assert "accepts no problem any more" in call("check", path).out


# Whatever is typed


WORDS = st.lists(
    st.sampled_from(
        ["host=host-a1", "workload=peak", "cores=0", "a b", "=", "x=", "size=1G", "at=1s", "[", "rows=1e9"]
    )
    | st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=8),
    max_size=4,
)


@given(st.sampled_from(list(KINDS)), WORDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_added_is_a_plan_or_refused_in_one_line(kind: str, words: list[str]) -> None:
    try:
        after = add(STARTER, kind, words).plan
    except UserError as refused:
        line = refused.line
    else:
        line = ""
        assert loads(dumps(after)) == after
    assert "\n" not in line


def test_a_first_data_node_says_what_it_takes_from_its_host(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "new.ndbplan"
    call("new", "-o", path)
    call("add", path, "host", "a1", "memory=64GiB", "cores=8")
    said = call("add", path, "data", "host=a1").out
    assert "parameters.data_node.DataMemory = 32G: half of the 64 GiB of a1" in said
    assert "AutomaticThreadConfig = 1: 2 LDM threads" in said
    assert "parameters" not in call("add", path, "data", "host=a1").out, "the second one is like the first"


def test_a_load_can_be_made_from_the_tables(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "new.ndbplan"
    call("new", "-o", path)
    call("add", path, "table", "shop.a")
    call("add", path, "workload", "day", "from=tables")
    assert {t.name for t in load(path).workloads[0].transactions} == {"read a", "insert a"}
    assert "from=tables" in call("add", path, "workload", "night", "from=clouds").refused()


def test_disk_data_comes_with_its_tables(call: Any, saved: Any) -> None:
    path = saved("starter")
    sql = (
        "CREATE LOGFILE GROUP lg_9 ADD UNDOFILE 'u.log' INITIAL_SIZE 64M ENGINE NDB;"
        "CREATE TABLESPACE ts_9 ADD DATAFILE 'd.dat' USE LOGFILE GROUP lg_9 INITIAL_SIZE 128M ENGINE NDB;"
    )
    added = call("add", path, "table", "--ddl", sql, "--json").json("add")["added"]
    assert [one.partition("[")[0] for one in added] == ["logfile_groups", "tablespaces"]
    table = "CREATE TABLE shop.d (id INT PRIMARY KEY, x INT) TABLESPACE ts_9 STORAGE DISK ENGINE NDB;"
    call("add", path, "table", "--ddl", table)
    plan = load(path)
    space = next(one for one in plan.tablespaces if one.name == "ts_9")
    assert plan.table("shop.d").tablespace_id == space.id
