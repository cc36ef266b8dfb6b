"""What would help: every offer can be done, gains what it says, and none only delays the error."""

from __future__ import annotations

import re

import pytest

from ndbplan.advise.max_load import max_load
from ndbplan.advise.remedies import ROOM, remedies, set_arguments
from ndbplan.base.units import MIB
from ndbplan.checks.harm import harm
from ndbplan.checks.layouts import layouts
from ndbplan.checks.run import find
from ndbplan.checks.unwise.disks import MANY_FILES
from ndbplan.configuration.directories import disk_for
from ndbplan.edits import parts as edits
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import value_changes
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import assign_role
from ndbplan.estimate.loaded import disk_demand
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.model.workload import estimation_of

BIG = "blobs-5k"


def with_disks(plan: Plan, count: int) -> Plan:
    """Hosts of data nodes with so many disks like their first, which all data nodes use alone."""
    for node in plan.data_nodes:
        host = plan.host(node.host_id)
        model = host.disks[0]
        more = tuple(
            model.model_copy(update={"id": f"{host.id}-x{i}", "name": f"x{i}", "mount_point": f"/x{i}"})
            for i in range(count - 1)
        )
        for role in DiskRole:
            plan = assign_role(plan, node.id, role, model.id)
        plan = edits.update(plan, host.id, disks=(model, *more))
        if more:
            plan = assign_role(plan, node.id, DiskRole.BACKUP, more[0].id)
    return plan


@pytest.mark.parametrize(
    ("sample", "workload"), [("redo-overload", BIG), ("disk-data", "random-read"), ("starter", "sale")]
)
def test_every_remedy_passes_all_checks_and_keeps_its_promise(sample: str, workload: str) -> None:
    plan = sample_plan(sample)
    before = find(plan)
    found = remedies(estimation_of(plan, workload))
    assert found
    for remedy in found:
        after = remedy.edit(plan)
        assert harm(before, find(after), anywhere=True) == ""
        reached = max_load(estimation_of(after, workload), duration_s=remedy.duration_s, with_next=False)
        assert remedy.after.value <= reached.max_per_s.value
        assert remedy.changes == value_changes(plan, after)


def test_a_log_or_buffer_that_only_delays_the_error_is_no_help() -> None:
    plan = sample_plan("redo-overload")
    plan = set_parameter(plan, "data_node", "DataMemory", 2**36)
    for host in {node.host_id for node in plan.data_nodes}:
        plan = edits.update(plan, host, memory_bytes=2**38)
    for remedy in remedies(estimation_of(plan, BIG), duration_s=300, also_useless=True):
        if not remedy.title.startswith(("RedoBuffer", "Twice as much redo log", "DiskCheckpointSpeed")):
            continue
        if not remedy.helps:
            continue
        load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=remedy.after.value),))
        after = edits.update(remedy.edit(plan), BIG, load=load)
        demand = disk_demand(after, after.workload(BIG))
        assert max(disk.utilisation.value for disk in demand.disks) <= 1.001


def test_disks_that_are_there_are_used_three_as_three() -> None:
    plan = with_disks(sample_plan("disk-data"), 3)
    found = list(layouts(plan))
    assert {each.more_disks for each in found} == {0, 1}
    three = [each for each in found if each.more_disks == 0 and len(each.groups) == 3]
    # Six ways to put four roles on three equal disks.
    assert len(three) == 6
    for layout in found:
        after = layout.edit(plan)
        for node in after.data_nodes:
            disks = {id(disk_for(after, node, role)) for group in layout.groups for role in group}
            assert len(disks) == len(layout.groups)


def test_symmetric_layouts_come_once_and_the_present_one_never() -> None:
    plan = with_disks(sample_plan("disk-data"), 2)
    found = [each for each in layouts(plan) if each.more_disks == 0]
    assert len(found) == 7
    present = found[0].edit(plan)
    assert found[0].groups not in [each.groups for each in layouts(present)]


def test_undo_and_data_files_are_tried_apart_from_the_log() -> None:
    plan = sample_plan("disk-data")
    apart = (DiskRole.UNDO, DiskRole.DATA_FILES)
    tried = [set(group) for each in layouts(plan) for group in each.groups]
    assert set(apart) in tried
    assert {DiskRole.UNDO} in tried
    assert {DiskRole.DATA_FILES} in tried
    titles = [remedy.title for remedy in remedies(estimation_of(plan, "insert"))]
    assert any("UNDO with DATA FILES" in title for title in titles)


def test_set_makes_the_same_plan() -> None:
    plan = sample_plan("redo-overload")
    arguments_seen = 0
    for remedy in remedies(estimation_of(plan, BIG), also_useless=True):
        if remedy.arguments is None:
            continue
        made = plan
        for argument in remedy.arguments:
            assert not re.search(r"\.0$|\d{9}", argument), "bytes are told as people write them"
            made = assign(made, argument)[0]
        assert not value_changes(made, remedy.edit(plan))
        arguments_seen += 1
    assert arguments_seen
    more = add_node_group(plan)
    assert set_arguments(plan, more, value_changes(plan, more)) is None


def test_what_the_host_has_no_memory_for_is_not_offered() -> None:
    plan = set_parameter(sample_plan("redo-overload"), "data_node", "RedoBuffer", 512 * MIB)
    for host in {node.host_id for node in plan.data_nodes}:
        plan = edits.update(plan, host, memory_bytes=6 * 2**30)
    titles = [remedy.title for remedy in remedies(estimation_of(plan, BIG), also_useless=True)]
    assert not any(title.startswith("RedoBuffer") for title in titles)


def test_what_a_change_is_worth_once_the_rows_have_room() -> None:
    plan = sample_plan("disk-data")
    before = max_load(estimation_of(plan, "insert"), duration_s=60, with_next=False)
    assert before.limited_by.resource not in ROOM
    found = remedies(estimation_of(plan, "insert"))
    # Two changes that differ much end at the same tablespace: room is tried along, and tells them apart.
    assert any(remedy.limited_by.resource == "tablespace" for remedy in found)
    article = [remedy for remedy in found if "UNDO with DATA FILES on a disk of its own" in remedy.title]
    assert max(remedy.after.value for remedy in article) > 1.5 * before.max_per_s.value
    for remedy in found:
        if "data files" in remedy.title.rpartition(", with ")[2]:
            assert remedy.limited_by.resource not in ROOM
            assert remedy.edit(plan).tablespaces != plan.tablespaces


def test_space_of_data_files_grows_without_too_many_files() -> None:
    plan = sample_plan("disk-data")
    files = plan.tablespaces[0].data_files[0].model_copy(update={"count": MANY_FILES})
    plan = edits.update(plan, plan.tablespaces[0].id, data_files=(files,))
    found = remedies(estimation_of(plan, "insert"), duration_s=3600)
    assert any("space in data files" in remedy.title for remedy in found)
    for remedy in found:
        for space in remedy.edit(plan).tablespaces:
            assert sum(file.count for file in space.data_files) <= MANY_FILES


def test_enough_is_what_the_workload_asks_for() -> None:
    plan = sample_plan("disk-data")
    asked = max_load(estimation_of(plan, "insert"), duration_s=60, with_next=False).offered_per_s
    for remedy in remedies(estimation_of(plan, "insert"), also_useless=True):
        assert remedy.is_enough == (remedy.after.value >= asked * 0.998), remedy.title


def test_roles_on_the_same_disks_are_one_remedy_named_by_what_limits() -> None:
    """Twice the disks came twice, as those of the redo log and as those of the data files."""
    plan = sample_plan("disk-data")
    found = remedies(estimation_of(plan, "random-read"))
    doubled = [remedy.title for remedy in found if "RAID" in remedy.title]
    assert doubled == ["Disks of the data files of 2 devices each, RAID 0"]
    afters = [remedy.edit(plan) for remedy in found]
    assert not any(after in afters[:i] for i, after in enumerate(afters))


def test_what_a_higher_load_comes_through_is_widened_before_it_is_a_problem() -> None:
    """At the load that is asked the checks find nothing: nothing was offered against the limit."""
    plan = sample_plan("add-nodes-8.4")
    assert not [problem for problem in find(plan) if problem.rule == "client-nodes"]
    offered = {remedy.title: remedy for remedy in remedies(estimation_of(plan, None))}
    wider = offered["Give each SQL node 2 cluster connections"]
    assert wider.after.value == pytest.approx(2 * wider.before.value, rel=0.05)
    assert any(title.startswith("Add ") and "SQL node" in title for title in offered)
