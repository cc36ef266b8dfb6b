"""Warnings that an NDB architect would laugh at, and those that he would miss."""

from __future__ import annotations

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.base.units import GIB, MIB
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.run import check, find
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import add, remove, set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.plan import file
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, SqlNode
from ndbplan.plan.tables import SpaceFile
from one_rule import of_rule


def sample(name: str) -> Plan:
    return file.load(resource_path(f"samples/{name}.ndbplan"))


def found(plan: Plan, rule: str) -> list[Problem]:
    return of_rule(plan, rule)


def with_parameters(plan: Plan, **values: int | str | None) -> Plan:
    for name, value in values.items():
        plan = set_parameter(plan, "data_node", name, value)
    return plan


def test_a_moderate_log_is_right_where_checkpoints_follow_it() -> None:
    terabyte = sample("terabyte-load")
    assert not found(terabyte, "redo-log-and-memory")
    assert found(with_parameters(terabyte, EnableRedoControl=0), "redo-log-and-memory")
    assert found(with_parameters(terabyte, EnablePartialLcp=0), "redo-log-and-memory")
    assert found(set_plan(terabyte, ndb_version="7.5"), "redo-log-and-memory")


@pytest.mark.parametrize(
    ("version", "is_bad"), [("6.3.19", True), ("7.0", False), ("7.4", False), ("8.4", False)]
)
def test_one_data_file_is_bad_only_before_7_0(version: str, is_bad: bool) -> None:
    plan = set_plan(sample("disk-data"), ndb_version=version)
    space = plan.tablespaces[0]
    total = sum(each.size_bytes * each.count for each in space.data_files)
    one = update(plan, space.id, data_files=(SpaceFile(name="one", size_bytes=total),))
    assert any("one data file" in p.message for p in found(one, "data-files")) is is_bad


def slots(count: int, sql: int = 0) -> Plan:
    """The starter with so many sections without HostName and SQL nodes with one."""
    plan = sample("starter")
    host = plan.sql_nodes[0].host_id
    plan = remove(plan, [p.id for p in (*plan.sql_nodes, *plan.api_slots)])
    for i in range(count):
        plan = add(plan, ApiSlot(id=f"slot{i}", node_id=200 + i))
    for i in range(sql):
        plan = add(plan, SqlNode(id=f"sql{i}", node_id=220 + i, host_id=host))
    return plan


@pytest.mark.parametrize(
    ("free", "named", "too_few", "missing"),
    [
        (4, 0, False, 0),
        (3, 0, False, 1),
        (2, 0, False, 2),
        (1, 0, True, 3),
        (2, 1, True, 0),
        (2, 2, False, 0),
    ],
)
def test_sections_without_host_are_sql_nodes_from_any_host(
    free: int, named: int, too_few: bool, missing: int
) -> None:
    plan = slots(free, named)
    assert bool(found(plan, "sql-nodes")) is too_few
    spare = found(plan, "spare-api-slots")
    assert bool(spare) is (missing > 0)
    if spare:
        assert spare[0].edit is not None
        assert len(spare[0].edit(plan).api_slots) == free + missing


def bare(cores: int) -> Plan:
    """The starter with automatic threads off on hosts of so many cores."""
    plan = with_parameters(sample("starter"), AutomaticThreadConfig=None)
    for node in plan.data_nodes:
        plan = update(plan, node.host_id, cores=cores)
    return plan


@pytest.mark.parametrize(
    "values",
    [
        {"MaxNoOfExecutionThreads": 72},
        {"ThreadConfig": "ldm={count=8},tc={count=4},recv={count=2},main,rep"},
        {"AutomaticThreadConfig": 1, "NumCPUs": 64},
    ],
)
def test_more_threads_than_cores_in_each_way_to_ask(values: dict[str, int | str]) -> None:
    plan = with_parameters(bare(4), **values)
    problems = found(plan, "threads-and-cores")
    assert [p.severity for p in problems] == [Severity.WARNING]
    # One row for the cause, whatever the number of nodes.
    assert {node.id for node in plan.data_nodes} <= set(problems[0].object_ids)
    assert "on 4 cores" in problems[0].message
    many = bare(128)
    assert not found(with_parameters(many, **values), "threads-and-cores")


def test_threads_of_all_nodes_and_servers_of_a_host_count() -> None:
    plan = with_parameters(bare(8), MaxNoOfExecutionThreads=8)
    assert not found(plan, "threads-and-cores")
    first, second = plan.data_nodes
    assert found(move_process(plan, second.id, first.host_id), "threads-and-cores")
    full = with_parameters(bare(6), MaxNoOfExecutionThreads=8)
    assert not found(full, "threads-and-cores")
    assert found(move_process(full, full.sql_nodes[0].id, first.host_id), "threads-and-cores")


def test_the_number_of_threads_that_is_told_fits() -> None:
    plan = with_parameters(bare(4), MaxNoOfExecutionThreads=72)
    fix = found(plan, "threads-and-cores")[0].fix or ""
    number = int(fix.removeprefix("set MaxNoOfExecutionThreads to ").split()[0])
    assert not found(with_parameters(plan, MaxNoOfExecutionThreads=number), "threads-and-cores")
    assert found(with_parameters(plan, MaxNoOfExecutionThreads=number + 1), "threads-and-cores")


def test_the_least_that_ndbmtd_can_be_is_no_fault_of_the_plan() -> None:
    assert not found(bare(2), "threads-and-cores")


def test_memory_that_no_host_has_is_not_proposed() -> None:
    plan = sample("starter")
    tight = plan
    for node in plan.data_nodes:
        tight = update(tight, node.host_id, memory_bytes=4 * GIB)
    tight = with_parameters(tight, DataMemory=2 * GIB)
    tight = update(tight, plan.tables[0].id, rows=10**9)
    (problem,) = found(tight, "data-memory-fill")
    assert problem.solutions
    for way in problem.solutions:
        assert way.buys, "what the hosts do not have has to be bought"
        assert not found(way.edit(tight), "data-memory-fill")
        assert not found(way.edit(tight), "memory-of-host")


def test_what_a_version_lacks_is_not_proposed() -> None:
    plan = sample("starter")
    fixed = update(plan, plan.tables[0].id, partitions=8)
    assert not found(set_plan(fixed, ndb_version="6.3"), "reorganise-refused")
    (old,) = found(set_plan(fixed, ndb_version="7.4"), "reorganise-refused")
    assert "PARTITION_BALANCE" not in (old.fix or "")
    (new,) = found(fixed, "reorganise-refused")
    assert "PARTITION_BALANCE" in (new.fix or "")


def test_with_one_replica_there_is_no_other_to_read() -> None:
    plan = sample("starter")
    plan = update(set_plan(plan, ndb_version="7.6"), plan.tables[0].id, read_backup=False)
    assert found(plan, "read-backup")
    assert not found(set_parameter(plan, "data_node", "NoOfReplicas", 1), "read-backup")


def test_index_memory_that_goes_is_added_to_data_memory() -> None:
    plan = with_parameters(sample("starter"), IndexMemory=GIB, DataMemory=4 * GIB)
    (problem,) = found(plan, "deprecated-parameter")
    assert problem.edit is not None
    assert dict(problem.edit(plan).parameters.data_node)["DataMemory"] == 5 * GIB


def test_only_a_disk_with_both_is_told_to_be_parted() -> None:
    overload = sample("redo-overload")
    fixes = {p.object_ids[0]: p.fix or "" for p in find(overload) if p.rule == "disk-demand"}
    assert fixes
    for disk_id, fix in fixes.items():
        roles = {
            role
            for node in overload.data_nodes
            for role in ("redo", "lcp")
            if getattr(node.disk_roles, role) == disk_id
        }
        assert ("disks of their own" in fix) is (roles == {"redo", "lcp"})


def test_two_rules_want_the_same_value() -> None:
    plan = with_parameters(
        sample("starter"), MaxNoOfConcurrentOperations=100, MaxDMLOperationsPerTransaction=40_000
    )
    for rule in ("operations-and-transactions", "dml-operations"):
        (problem,) = found(plan, rule)
        assert problem.edit is not None
        values = problem.edit(plan).parameters.data_node
        assert values["MaxNoOfConcurrentOperations"] == 40_000


def test_a_fix_that_does_not_fit_is_told_but_not_offered() -> None:
    plan = sample("redo-overload")
    for node in plan.data_nodes:
        plan = update(plan, node.host_id, memory_bytes=8 * GIB)
    plan = with_parameters(plan, DataMemory=6 * GIB, MaxDMLOperationsPerTransaction=None)
    workload = plan.workloads[0]
    operation = workload.transactions[0].operations[0].model_copy(update={"rows": 1e7})
    transaction = workload.transactions[0].model_copy(update={"operations": (operation,)})
    plan = update(plan, workload.id, transactions=(transaction,))
    (problem,) = [p for p in check(plan) if p.rule == "concurrent-operations"]
    assert problem.edit is None
    assert (problem.fix or "").startswith("make room first")


def test_a_refused_value_counts_as_its_default() -> None:
    plan = with_parameters(sample("starter"), MaxNoOfConcurrentTransactions=10**12)
    assert {p.rule for p in check(plan) if p.severity is Severity.ERROR} == {"parameter-value"}


def test_log_parts_are_not_raised_for_threads_that_have_no_core() -> None:
    plan = set_plan(with_parameters(bare(4), MaxNoOfExecutionThreads=72), ndb_version="7.4")
    (problem,) = found(plan, "ldm-and-log-parts")
    assert problem.edit is None
    assert "4 cores" in (problem.fix or "")
    many = set_plan(with_parameters(bare(128), MaxNoOfExecutionThreads=72), ndb_version="7.4")
    (problem,) = found(many, "ldm-and-log-parts")
    assert "NoOfFragmentLogParts" in (problem.fix or "")


@pytest.mark.parametrize("rows", [20.0, 300.0])
def test_a_log_that_lasts_is_the_same_from_whatever_log_it_starts(rows: float) -> None:
    """Two rules set the redo log; whichever was done before, the length that lasts is one number."""
    plan = set_plan(with_parameters(sample("redo-overload"), NoOfFragmentLogParts=None), ndb_version="7.4")
    for host in plan.hosts:
        disks = tuple(disk.model_copy(update={"capacity_bytes": 10**15}) for disk in host.disks)
        plan = update(plan, host.id, disks=disks)
    workload = plan.workloads[0]
    operation = workload.transactions[0].operations[0].model_copy(update={"rows": rows})
    transaction = workload.transactions[0].model_copy(update={"operations": (operation,)})
    plan = update(plan, workload.id, transactions=(transaction,))
    logs = set()
    for files, size in ((3, 256 * MIB), (16, 256 * MIB), (16, 16 * MIB), (3, 16 * MIB)):
        small = with_parameters(
            plan, NoOfFragmentLogFiles=files, FragmentLogFileSize=size, RedoBuffer=32 * MIB
        )
        first = next(p for p in find(small) if p.rule == "redo-log-seconds" and workload.id in p.object_ids)
        assert first.edit is not None
        values = first.edit(small).parameters.data_node
        logs.add((values["NoOfFragmentLogFiles"], values["FragmentLogFileSize"]))
    assert len(logs) == 1
