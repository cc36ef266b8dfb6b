"""What is wrong with files of disk data, and SQL nodes beside data nodes, is mended by what is offered."""

from __future__ import annotations

import pytest

from ndbplan.base.units import GIB, MIB
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.run import check
from ndbplan.checks.unwise.disk_data_cures import offered_home
from ndbplan.edits.disk_data import new_logfile_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import add, set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import SpaceFile


def of_rule(plan: Plan, rule: str) -> list[Problem]:
    return [problem for problem in check(plan) if problem.rule == rule]


def capacity(plan: Plan) -> int:
    return sum(f.size_bytes * f.count for space in plan.tablespaces for f in space.data_files)


def test_a_tablespace_that_is_too_small_grows_by_what_the_tables_need() -> None:
    plan = sample_plan("disk-data-8.4")
    space = plan.tablespaces[0]
    small = update(plan, space.id, data_files=(SpaceFile(name="d.dat", size_bytes=GIB, count=2),))
    (problem,) = of_rule(small, "data-files")
    assert problem.edit is not None
    mended = problem.edit(small)
    assert of_rule(mended, "data-files") == []
    assert capacity(small) < capacity(mended)
    assert [f.name for f in mended.tablespaces[0].data_files] == ["d.dat"]


def test_many_files_become_few_larger_ones_and_one_becomes_four_where_threads_write_each() -> None:
    plan = sample_plan("disk-data-8.4")
    space = plan.tablespaces[0]
    many = update(plan, space.id, data_files=(SpaceFile(name="d.dat", size_bytes=GIB // 8, count=512),))
    (problem,) = [p for p in of_rule(many, "data-files") if "gain nothing" in p.message]
    assert problem.edit is not None
    assert capacity(problem.edit(many)) == capacity(many)
    assert sum(f.count for f in problem.edit(many).tablespaces[0].data_files) == 128
    old = sample_plan("disk-data")
    one = update(old, old.tablespaces[0].id, data_files=(SpaceFile(name="d", size_bytes=48 * GIB),))
    (problem,) = [p for p in of_rule(one, "data-files") if "one data file" in p.message]
    assert problem.edit is not None
    assert sum(f.count for f in problem.edit(one).tablespaces[0].data_files) == 4
    assert capacity(problem.edit(one)) == capacity(one)


def test_several_log_file_groups_become_one_with_all_undo_files() -> None:
    plan = sample_plan("disk-data-8.4")
    two = add(plan, new_logfile_group(plan))
    moved = update(two, two.tablespaces[0].id, logfile_group_id=two.logfile_groups[1].id)
    (problem,) = of_rule(moved, "logfile-groups")
    assert problem.edit is not None
    mended = problem.edit(moved)
    (group,) = mended.logfile_groups
    assert mended.tablespaces[0].logfile_group_id == group.id
    assert len(group.undo_files) == sum(len(g.undo_files) for g in moved.logfile_groups)


def test_an_sql_node_beside_a_data_node_goes_to_a_host_without_one_or_gets_its_own() -> None:
    plan = sample_plan("starter")
    together = move_process(plan, plan.sql_nodes[0].id, plan.data_nodes[0].host_id)
    together = set_parameter(together, "data_node", "AutomaticThreadConfig", 0)
    found = of_rule(together, "data-and-sql-together")
    assert found
    titles = [way.title for way in found[0].solutions]
    assert titles[0] == "Move SQL node 147 to app-a1"
    assert titles[1] == "Give SQL node 147 a host of its own"
    for way in found[0].solutions:
        assert of_rule(way.edit(together), "data-and-sql-together") == []


def test_a_tablespace_of_its_own_is_four_fifths_full_in_two_years_in_whole_gibibytes() -> None:
    plan = sample_plan("disk-data-8.4")
    space = plan.tablespaces[0]
    table = next(table for table in plan.tables if table.tablespace_id == space.id)
    small = update(plan, space.id, data_files=(SpaceFile(name="d.dat", size_bytes=32 * MIB, count=1),))
    small = update(small, table.id, tablespace_id=None, rows=10**7, growth_rows_per_month=10**6)
    offered = offered_home(Estimation(small), small.by_id[table.id])
    assert offered is not None
    after = update(offered.edit(small), table.id, rows=34 * 10**6)
    new = after.tablespaces[-1]
    size = sum(file.size_bytes * file.count for file in new.data_files)
    (use,) = (use for use in Estimation(after).disk_data.tablespaces if use.tablespace == new.name)
    assert size % GIB == 0
    assert 0.8 * (size - GIB) < use.used_bytes.high <= 0.8 * size


@pytest.mark.parametrize(("version", "shared"), [("7.4", None), ("8.4", 64 * MIB)])
def test_an_undo_buffer_comes_from_the_shared_memory(version: str, shared: int | None) -> None:
    """As much as there is in all is too much (error 1504); half of it is taken."""
    plan = set_plan(sample_plan("disk-data"), ndb_version=version)
    plan = set_parameter(plan, "data_node", "SharedGlobalMemory", shared)
    there = shared or 128 * MIB
    group = plan.logfile_groups[0].id
    assert of_rule(update(plan, group, undo_buffer_bytes=there - 1), "logfile-groups") == []
    (problem,) = of_rule(update(plan, group, undo_buffer_bytes=there), "logfile-groups")
    assert problem.severity is Severity.ERROR
    assert "1504" in problem.message
    assert problem.edit is not None
    cured = problem.edit(update(plan, group, undo_buffer_bytes=there))
    assert of_rule(cured, "logfile-groups") == []
    assert cured.logfile_groups[0].undo_buffer_bytes == there // 2
