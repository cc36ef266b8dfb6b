"""Every rule once broken and once kept, and fixes that mend."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from broken_plans import (
    BROKEN,
    linked,
    manual,
    sample,
    second_group_member_elsewhere,
    starter,
    with_parameters,
)
from ndbplan import checks
from ndbplan.base.units import MIB
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import check, load_rules
from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from one_rule import accepting_others, of_rule

ELSEWHERE = {
    # Tested in refused/test_servers.py.
    "cpus-for-threads", "prefer-ip-version", "receive-buffer-size", "link-host-names", "servers-fit",
    "old-and-new-name", "management-port-number", "configuration-generation", "log-destination", "path-names",
    "link-leaves-out",
    # Tested in tests/ndb/test_mysqld_options.py and tests/exporting/test_unknown_to_a_version.py.
    "mysqld-options", "paths-of-disk-roles",
    # Tested in tests/importing/ddl/test_disk_data.py.
    "file-twice",
    # Tested in tests/estimate/load/test_files_on_disks.py.
    "file-directory",
    # Tested in refused/test_table_options.py.
    "table-options-refused", "table-options-ignored", "space-refused", "space-rounded",
    # Tested in tests/configuration/test_table_limits.py.
    "table-too-large",
    # Tested in tests/exporting/test_schema_sql.py.
    "column-of-version", "column-in-key",
    # Tested in test_topology.py, test_memory_and_disks.py, test_disk_space.py and test_run.py.
    "node-kinds", "unknown-parameter", "parameter-value", "node-group-size",
    "number-of-replicas", "management-nodes",
    "sql-nodes", "spare-api-slots", "memory-of-host", "data-memory-of-host",
    "data-memory-fill", "disk-demand", "shared-device", "redo-and-lcp-apart", "disk-space", "backups-kept",
    "disk-space-of-memory", "disks-unknown", "logfile-groups",
    "tablespace-of-table",
    # Tested in test_calibrations.py.
    "calibrations",
}  # fmt: skip

SELDOM = {
    "node-count": "the file of a plan with 255 node ids is slow to draw; import_config has the same limit",
    "concurrent-operations": "tested below with a transaction of its own",
    "client-nodes": "tested below with one SQL node for all",
    "compressed-checkpoints": "tested below with a workload of its own",
}


def found(plan: Plan, rule: str) -> list[str]:
    return [problem.message for problem in of_rule(plan, rule)]


@pytest.mark.parametrize("rule", list(BROKEN))
def test_a_rule_finds_what_breaks_it_and_its_edit_mends_it(rule: str) -> None:
    plan = accepting_others(BROKEN[rule](), rule)
    problems = [problem for problem in check(plan) if problem.rule == rule]
    assert problems, f"{rule} finds nothing"
    for problem in problems:
        assert not re.search(r"(?:^its|' its?)\b", problem.message), "what it is about stands beside it only"
        assert problem.edit is None or problem.fix
        assert problem.edit is None or not _names_two(problem.fix or ""), (
            "a button names the one deed it does"
        )
        ways = [problem.edit] if problem.edit is not None else [way.edit for way in problem.solutions]
        assert ways or problem.missing, "nothing to click, and not a word why"
        for way in ways:
            assert problem.message not in found(way(plan), rule)


def _names_two(words: str) -> bool:
    return re.search(r"\bor\b", words.split("together: ")[0]) is not None


def _said(tree: ast.Module) -> Iterator[tuple[str, ast.Call, ast.FunctionDef]]:
    for function in (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)):
        for call in (one for one in ast.walk(function) if isinstance(one, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id in ("error", "warning", "hint", "problem"):
                yield call.func.id, call, function


@pytest.mark.parametrize("path", sorted(Path(checks.__file__).parent.glob("*/*.py")), ids=lambda p: p.stem)
def test_whatever_a_rule_says_has_a_way_out_or_says_what_is_missing(path: Path) -> None:
    for name, call, function in _said(ast.parse(path.read_text("utf-8"))):
        has_edit = len(call.args) > (5 if name == "problem" else 4)
        named = {one.arg for one in call.keywords} & {"edit", "missing"}
        searched = any(isinstance(one, ast.keyword) and one.arg == "solve" for one in ast.walk(function))
        assert has_edit or named or searched, f"{path.name}:{call.lineno} {function.name}"


@pytest.mark.parametrize("path", sorted(Path(checks.__file__).parent.glob("*/*.py")), ids=lambda p: p.stem)
def test_what_has_a_button_names_one_deed(path: Path) -> None:
    for name, call, _ in _said(ast.parse(path.read_text("utf-8"))):
        at = 3 if name == "problem" else 2
        edit, fix = (call.args[i] if len(call.args) > i else None for i in (at + 2, at))
        if fix is None or edit is None or isinstance(edit, ast.IfExp):
            continue
        words = "".join(str(one.value) for one in ast.walk(fix) if isinstance(one, ast.Constant))
        assert not _names_two(words), f"{path.name}:{call.lineno} {words}"


@pytest.mark.parametrize("rule", sorted(set(BROKEN) - {"initial-start"}))
def test_a_good_plan_keeps_the_rule(rule: str) -> None:
    assert found(starter(), rule) == []


def test_no_rule_is_without_a_test() -> None:
    load_rules()
    assert set(RULES) == set(BROKEN) | ELSEWHERE | set(SELDOM)


def test_too_many_node_ids() -> None:
    plan = starter()
    node = plan.sql_nodes[0]
    pool = tuple(range(160, 222))
    assert not found(update(plan, node.id, pool_node_ids=pool), "node-count")


def test_a_transaction_too_large_for_the_pool() -> None:
    plan = sample("redo-overload")
    workload = plan.workloads[0]
    operation = workload.transactions[0].operations[0].model_copy(update={"rows": 200_000.0})
    transaction = workload.transactions[0].model_copy(update={"operations": (operation,)})
    large = update(plan, workload.id, transactions=(transaction,))
    assert found(large, "concurrent-operations")
    assert not found(plan, "concurrent-operations")


def test_one_sql_node_for_a_load_that_needs_many() -> None:
    plan = sample("starter")
    plan = plan.replace(workloads=plan.workloads[:1])
    assert not found(plan, "client-nodes")
    point = RatePoint(at_s=0, rate_per_s=200_000)
    busy = update(plan, plan.workloads[0].id, load=OpenLoad(points=(point,)))
    assert len(found(busy, "client-nodes")) == 2, "its cores, and its cluster connections"
    anywhere = update(busy, plan.workloads[0].id, through="api")
    assert not found(anywhere, "client-nodes")


def test_compression_with_busy_threads() -> None:
    plan = with_parameters(sample("redo-overload"), CompressedLCP=1)
    workload = plan.workloads[0]
    busy = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=100_000),))
    plan = update(plan, workload.id, load=busy)
    assert found(plan, "compressed-checkpoints")
    idle = plan.replace(workloads=())
    assert not found(idle, "compressed-checkpoints")


def test_two_links_of_one_pair() -> None:
    assert found(linked("ndb1", "sql147", times=2), "link-ends")
    assert not found(linked("ndb1", "sql147"), "link-ends")


def test_two_hosts_at_loopback_addresses_are_enough_to_be_one_machine() -> None:
    plan = starter()
    of_sql = dict.fromkeys(node.host_id for node in plan.sql_nodes)
    for place, host_id in enumerate([*of_sql][:2]):
        plan = update(plan, host_id, hostname=f"127.0.0.{2 + place}")
    assert of_rule(plan, "loopback-shared")


def test_loopback_clusters_are_for_trying_out() -> None:
    plan = starter()
    second = plan.data_nodes[1]
    same = move_process(plan, second.id, plan.data_nodes[0].host_id)
    local = update(same, plan.data_nodes[0].host_id, hostname="127.0.0.1")
    severities = {p.severity.value for p in check(local) if p.rule == "what-may-fail" and "host" in p.where}
    assert severities == {"warning"}


@pytest.mark.parametrize(
    ("version", "severity"), [("7.4", "warning"), ("7.6", "warning"), ("8.0", "error"), ("8.4", "error")]
)
def test_two_management_nodes_on_one_port_by_version(version: str, severity: str) -> None:
    plan = set_plan(second_group_member_elsewhere(), ndb_version=version)
    assert [p.severity.value for p in check(plan) if p.rule == "management-ports"] == [severity]


def test_before_8_0_counting_ends_at_the_first_reserved_node() -> None:
    plan = update(starter(), starter().data_nodes[0].id, node_group=65536)
    for version, severity in (("7.6", "warning"), ("8.4", "error")):
        found = check(set_plan(plan, ndb_version=version))
        assert [p.severity.value for p in found if p.rule == "node-group-size"] == [severity]


def test_ipv6_needs_8_0_22() -> None:
    plan = update(starter(), starter().data_nodes[0].host_id, hostname="2001:db8::5")
    assert not found(plan, "host-name-reserved")
    assert "IPv4 only" in found(set_plan(plan, ndb_version="8.0.21"), "host-name-reserved")[0]


def test_what_only_newer_servers_refuse() -> None:
    dml = starter(MaxDMLOperationsPerTransaction=40_000)
    assert not found(set_plan(dml, ndb_version="7.6"), "dml-operations")
    retries = starter(StopOnError=1, MaxStartFailRetries=5)
    assert found(set_plan(retries, ndb_version="7.4"), "start-fail-retries")
    assert not found(with_parameters(retries, StopOnError=0), "start-fail-retries")


def test_seventeen_partitions_per_ldm_are_one_too_many() -> None:
    few = manual(ClassicFragmentation=0, PartitionsPerNode=8, ThreadConfig="ldm={count=1},main,recv,rep")
    assert not found(few, "partitions-per-node")
    many = with_parameters(few, PartitionsPerNode=9)
    assert found(many, "partitions-per-node")
    assert remove(many, []) is many


@pytest.mark.parametrize(
    ("rule_name", "values"),
    [
        ("text-understood", {"SpinMethod": "bogus"}),
        ("text-understood", {"InitialLogfileGroup": "bogus"}),
        ("settings-lifted", {"TransactionMemory": 2 * MIB}),
        ("settings-lifted", {"ThreadConfig": "ldm={count=1,spintime=9001}"}),
        ("thread-settings-ignored", {"AutomaticThreadConfig": 1, "ClassicFragmentation": 1}),
    ],
)
def test_what_a_data_node_takes_otherwise_is_told(rule_name: str, values: dict[str, int | str]) -> None:
    assert rule_name in {problem.rule for problem in check(manual(**values))}


@pytest.mark.parametrize(
    "values",
    [
        {"SpinMethod": "costbasedspinning", "InitFragmentLogFiles": "FULL"},
        {"InitialLogfileGroup": "name=LG1; undo_buffer_size=128M; undo1.log:250M; undo2.log:150M"},
        {"InitialTablespace": "name=TS;extent_size=8M;a.dat:1G"},
        {"TransactionMemory": 256 * MIB, "TotalSendBufferMemory": 64 * MIB},
    ],
)
def test_what_a_data_node_takes_as_written_is_not(values: dict[str, int | str]) -> None:
    told = {problem.rule for problem in check(manual(**values))}
    assert not told & {"text-understood", "settings-lifted"}


def test_diskless_says_when_the_log_is_full_as_the_simulation_does() -> None:
    """The reader's cluster: error 410 after about an hour."""
    plan = sample_plan("tick-store")
    (found,) = [p for p in check(plan) if p.rule == "diskless"]
    assert "410 comes all the same, here after 1 h" in found.message


def test_diskless_says_what_is_lost_with_whom() -> None:
    """It said of one node in a group that has its rows on disk that a restart loses everything."""
    plan = add_node_group(sample_plan("starter"))
    groups = node_groups(plan)
    assert [len(group) for group in groups] == [2, 2]

    def told(*nodes: DataNode) -> list[str]:
        changed = plan
        for node in nodes:
            changed = set_parameter(changed, node.id, "Diskless", 1)
        return [problem.message for problem in check(changed) if problem.rule == "diskless"]

    everything = "a restart of the cluster loses everything"
    (one,) = told(groups[0][1])
    assert everything not in one
    assert "copied from its node group whenever it starts" in one
    assert all(everything not in text for text in told(groups[0][0], groups[1][1]))
    (group,) = told(*groups[1])
    assert "no data node of node group 1 keeps its rows in files" in group
    assert everything in group
    assert "no data node of" not in told(*groups[0], *groups[1])[0]
    assert everything in told(*groups[0], *groups[1])[0]
    (cluster,) = (p for p in check(set_parameter(plan, "data_node", "Diskless", 1)) if p.rule == "diskless")
    assert everything in cluster.message
