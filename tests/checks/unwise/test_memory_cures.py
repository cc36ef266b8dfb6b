"""Ways out of tables that do not fit: each cures, none harms, and the first one is the one to take."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.units import GIB
from ndbplan.checks.fix import fix_all
from ndbplan.checks.harm import harm
from ndbplan.checks.problem import Problem
from ndbplan.checks.run import check, find
from ndbplan.edits.offers import make_host, make_process, make_table, most_memory_bytes
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import add, update
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.tables import Column
from one_rule import of_rule


def cluster(rows: int, *, nodes: int = 4, memory: int = 64 * GIB, stated_rows: bool = True) -> Plan:
    """Data nodes with the product's default DataMemory, and a table of so many rows."""
    plan = EMPTY_PLAN
    for _ in range(nodes):
        host = make_host(plan, "host-small").model_copy(update={"memory_bytes": memory})
        plan = add(plan, host)
        plan = add(plan, make_process(plan, "data", host.id))
    table = make_table(plan)
    assumed = () if stated_rows else ("rows",)
    return add(plan, table.model_copy(update={"rows": rows, "assumed": assumed}))


def fill(plan: Plan) -> Problem | None:
    return next(iter(of_rule(plan, "data-memory-fill")), None)


def data_memory(plan: Plan) -> int:
    return int(plan.parameters.data_node["DataMemory"])


def test_memory_that_is_bought_comes_with_disks_that_hold_its_checkpoints() -> None:
    plan = cluster(150_000_000, nodes=2)
    # How long the documents are is not known: the last way is for long ones.
    wider = (*plan.tables[0].columns, Column(name="doc", type="json"))
    plan = update(plan, plan.tables[0].id, columns=wider)
    problem = fill(plan)
    assert problem is not None
    *likely, way = problem.solutions
    assert all("measure" in one.why for one in likely)
    assert "disks of" in way.title
    assert way.buys
    after = way.edit(plan)
    assert fill(after) is None
    assert harm(find(plan), find(after)) == ""
    disks = [disk.capacity_bytes for host in plan.hosts for disk in host.disks]
    assert [disk.capacity_bytes for host in after.hosts for disk in host.disks] > disks
    assert len(after.hosts) == len(plan.hosts)


def test_what_the_hosts_have_room_for_is_recommended_and_done_by_fix_all() -> None:
    plan = cluster(300_000_000)
    problem = fill(plan)
    assert problem is not None
    first, *others = problem.solutions
    assert first.title.startswith("Raise DataMemory to ")
    assert not first.buys
    assert "keeps" in first.why, "how much memory is left"
    assert [way.title for way in others if "node group" in way.title]
    assert all(way.buys for way in others)
    fixed = fix_all(plan).plan
    assert fill(fixed) is None
    assert fixed.hosts == plan.hosts, "nothing is bought"


def test_one_row_for_all_nodes_also_for_two() -> None:
    for nodes in (2, 4):
        problem = fill(cluster(300_000_000, nodes=nodes))
        assert problem is not None
        assert len(problem.alike) == nodes
        assert [p.rule for p in check(cluster(300_000_000, nodes=nodes))].count("data-memory-fill") == 1


def test_hosts_that_are_too_small_get_memory_before_many_more_are_bought() -> None:
    plan = cluster(2_000_000_000)
    problem = fill(plan)
    assert problem is not None
    first, second = problem.solutions
    assert first.title.startswith("Give 4 hosts ")
    assert second.title.startswith("Add ")
    larger = first.edit(plan)
    assert {host.memory_bytes for host in larger.hosts} != {64 * GIB}
    assert len(larger.hosts) == 4
    assert len(second.edit(plan).hosts) > 4
    fixed = fix_all(plan).plan
    assert fixed.hosts == plan.hosts, "nobody's click on Fix all buys hardware"
    assert fill(fixed) is not None


def test_beyond_usual_servers_more_hosts_are_recommended() -> None:
    plan = cluster(40_000_000_000, memory=256 * GIB)
    problem = fill(plan)
    assert problem is not None
    first, small, *_ = (way.edit(plan).hosts for way in problem.solutions)
    assert len(plan.hosts) < len(first) < len(small), "few hosts of usual size before many small ones"
    assert max(host.memory_bytes for host in first) == most_memory_bytes()
    assert {host.memory_bytes for host in small} == {256 * GIB}


@pytest.mark.parametrize(
    ("rows", "nodes", "gib"), [(2 * 10**9, 4, 64), (10**10, 6, 64), (4 * 10**10, 4, 256)]
)
def test_no_more_node_groups_are_added_than_the_rows_need(rows: int, nodes: int, gib: int) -> None:
    """With 5 % more than the rows take, and 5 % of pages free, DataMemory takes 80 % of a host at most."""
    plan = cluster(rows, nodes=nodes, memory=gib * GIB)
    problem = fill(plan)
    assert problem is not None
    after = next(way for way in problem.solutions if way.title.startswith("Add ")).edit(plan)
    groups = len(after.data_nodes) // 2
    wanted = max(node.data_memory_bytes.high for node in Estimation(after).memory.nodes) * 1.05 / 0.95
    assert wanted <= 0.8 * gib * GIB < wanted * groups / (groups - 1)


def test_what_no_data_node_may_have_is_not_asked_for() -> None:
    plan = cluster(10**15, nodes=2).replace(ndb_version="7.6")
    problem = fill(plan)
    assert problem is not None
    assert not problem.solutions
    assert "a data node has at most 1 TiB of DataMemory" in (problem.fix or "")
    assert "would have to be raised" not in (problem.fix or "")


@pytest.mark.parametrize("version", ["7.0", "7.4", "7.5", "7.6", "8.0", "8.4"])
@pytest.mark.parametrize("rows", [8 * 10**9, 30 * 10**9])
def test_tables_larger_than_data_memory_may_be_have_a_way_out_in_every_version(
    version: str, rows: int
) -> None:
    """Up to 7.6 it may have 1 TiB: more was asked for, counted as the default, and nothing was offered."""
    plan = cluster(rows, nodes=2).replace(ndb_version=version)
    problem = fill(plan)
    assert problem is not None
    assert problem.solutions, problem.fix
    after = problem.solutions[0].edit(plan)
    assert fill(after) is None
    assert harm(find(plan), find(after), anywhere=True) == ""


@pytest.mark.parametrize("stated", [True, False])
def test_where_nothing_helps_it_says_what_is_missing(stated: bool) -> None:
    problem = fill(cluster(10**13, stated_rows=stated))
    assert problem is not None
    assert not problem.solutions
    assert problem.fix is not None
    assert ("enter the rows of test.t1" in problem.fix) is not stated


@settings(max_examples=12)
@given(st.integers(10**7, 2 * 10**9), st.sampled_from([2, 4, 6]), st.sampled_from([32, 64, 256]))
def test_every_way_cures_and_harms_nothing(rows: int, nodes: int, gib: int) -> None:
    plan = cluster(rows, nodes=nodes, memory=gib * GIB)
    problem = fill(plan)
    for way in problem.solutions if problem is not None else ():
        after = way.edit(plan)
        assert fill(after) is None
        assert harm(find(plan), find(after), anywhere=len(after.hosts) > len(plan.hosts)) == ""
        assert way.buys is (after.hosts != plan.hosts)
        most = max(need.data_memory_bytes.high for need in Estimation(after).memory.nodes)
        assert data_memory(after) > most, "with room for the highest estimate"


def test_data_nodes_larger_than_their_host_can_be_lowered_or_the_host_raised() -> None:
    plan = set_parameter(cluster(1_000_000), "data_node", "DataMemory", 62 * GIB)
    problem = next(p for p in check(plan) if p.rule == "memory-of-host")
    lower, larger = problem.solutions
    assert lower.title.startswith("Lower DataMemory to ")
    assert larger.title.startswith("Give 4 hosts ")
    for way in problem.solutions:
        assert not [p for p in check(way.edit(plan)) if p.rule in ("memory-of-host", "data-memory-of-host")]
    held = set_parameter(cluster(2_000_000_000), "data_node", "DataMemory", 62 * GIB)
    full = next(p for p in check(held) if p.rule == "memory-of-host")
    assert not [way for way in full.solutions if way.title.startswith("Lower")], "the rows need it"


def contained(plan: Plan, limit: int) -> Plan:
    for node in plan.data_nodes:
        plan = update(plan, node.id, container_memory_bytes=limit)
    return plan


def test_containers_are_raised_as_far_as_the_host_has_memory_or_data_memory_is_lowered() -> None:
    plan = contained(set_parameter(cluster(1_000_000), "data_node", "DataMemory", 30 * GIB), 16 * GIB)
    problem = next(p for p in check(plan) if p.rule == "memory-of-container")
    lower, raised = problem.solutions
    assert lower.title.startswith("Lower DataMemory to ")
    assert raised.title.startswith("Raise the limit of the containers to ")
    for way in problem.solutions:
        after = way.edit(plan)
        assert not [p for p in check(after) if p.rule in ("memory-of-container", "memory-of-host")]
        assert after.hosts == plan.hosts


def test_what_makes_data_nodes_larger_makes_their_containers_larger_too() -> None:
    plan = contained(cluster(300_000_000), 4 * GIB)
    assert not [p for p in check(plan) if p.rule == "memory-of-container"]
    problem = fill(plan)
    assert problem is not None
    (way, *_) = problem.solutions
    assert "and the limit of the containers to" in way.title
    assert not [p for p in check(way.edit(plan)) if p.rule in ("memory-of-container", "data-memory-fill")]


def test_32_cores_without_a_thread_setting_are_a_hint_with_a_fix(tmp_path: Path) -> None:
    plan = EMPTY_PLAN
    for _ in range(2):
        host = make_host(plan, "host-large")
        plan = add(plan, host)
        plan = add(plan, make_process(plan, "data", host.id))
    hint = next(p for p in check(plan) if p.rule == "threads-not-set")
    assert "starts 1 LDM thread" in hint.message
    (way,) = hint.solutions
    assert "8 LDM threads" in way.why
    mended = way.edit(plan)
    assert mended.parameters.data_node["AutomaticThreadConfig"] == 1
    assert not [p for p in check(mended) if p.rule == "threads-not-set"]
    small = plan
    for host in plan.hosts:
        small = update(small, host.id, cores=4)
    assert not [p for p in check(small) if p.rule == "threads-not-set"]
