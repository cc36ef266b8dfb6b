"""Ways out that take hardware, or less of something: disks, cores, links, replicas, longer logs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ndbplan.checks.problem import Problem
from ndbplan.checks.run import check
from ndbplan.checks.unwise.fragment_cures import numbers_that_divide
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan


def _with_disks(plan: Plan, **capacity_gb: int) -> Plan:
    for host in plan.hosts:
        for disk in host.disks:
            if disk.name in capacity_gb:
                plan = edits.update(plan, disk.id, capacity_bytes=capacity_gb[disk.name] * 10**9)
    return plan


def _too_many_backups() -> Plan:
    return edits.set_plan(_with_disks(sample_plan("starter"), nvme1=250), backups_kept=20)


def _too_long_a_log() -> Plan:
    return edits.set_plan(_with_disks(sample_plan("starter"), nvme0=36), backups_kept=0)


def _too_much_memory() -> Plan:
    return edits.set_plan(_with_disks(sample_plan("starter"), nvme0=40, nvme1=100), backups_kept=0)


def _too_few_cores() -> Plan:
    # Under its other load six cores are too few for fewer threads as well.
    plan = sample_plan("starter")
    plan = plan.replace(workloads=plan.workloads[:1])
    plan = edits.update(plan, plan.data_nodes[0].host_id, cores=6)
    return set_parameter(plan, "data_node", "NumCPUs", 16)


def _slow_links() -> Plan:
    plan = sample_plan("starter")
    for host in plan.hosts:
        plan = edits.update(plan, host.id, network_bytes_per_s=1.17e8)
    for table in plan.tables:
        plan = edits.update(plan, table.id, rows=table.rows * 4)
    return plan


def _long_backup() -> Plan:
    return sample_plan("terabyte-load")


def _large_fixed_parts() -> Plan:
    """Hosts have room for the links to more data nodes."""
    plan = sample_plan("node-restart")
    for host in plan.hosts:
        plan = edits.update(plan, host.id, memory_bytes=2 * host.memory_bytes)
    return edits.update(plan, plan.tables[0].id, rows=plan.tables[0].rows * 80)


def _one_copy() -> Plan:
    plan = sample_plan("starter")
    plan = edits.remove(plan, [plan.data_nodes[1].id])
    return set_parameter(plan, "data_node", "NoOfReplicas", 1)


def _slow_checkpoints() -> Plan:
    return _no_room_for_the_log(files=30, times=1.02)


def _no_room_for_the_log(files: int = 3, times: float = 1.2) -> Plan:
    plan = set_parameter(sample_plan("redo-overload-8.4"), "data_node", "NoOfFragmentLogFiles", files)
    plan = set_parameter(plan, "data_node", "FragmentLogFileSize", 16 * 2**20)
    for node in plan.data_nodes:
        disk = disk_for(plan, node, DiskRole.REDO)
        assert disk is not None
        space = Estimation(plan).disk_space.of(disk.id)
        assert space is not None
        plan = edits.update(plan, disk.id, capacity_bytes=int(space.used_bytes.value * times))
    return plan


@pytest.mark.parametrize(
    ("rule", "make", "titles"),
    [
        ("backups-kept", _too_many_backups, ("Give 2 disks", "Put BACKUP on a disk of its own", "Keep ")),
        ("disk-space", _too_long_a_log, ("Give 2 disks", "Set NoOfFragmentLogFiles to ")),
        ("disk-space-of-memory", _too_much_memory, ("Give 2 disks", "Lower DataMemory to ")),
        ("threads-and-cores", _too_few_cores, ("Set NumCPUs to 6", "Give host-a1 14 cores")),
        ("copy-over-slow-link", _slow_links, ("Give the hosts 10 GbE", "Add 2 node groups")),
        ("number-of-replicas", _one_copy, ("Set NoOfReplicas to 2 and add 1 data node",)),
        ("redo-log-size", _no_room_for_the_log, ("Raise NoOfFragmentLogFiles to ",)),
        ("backup-duration", _long_backup, ("Raise MaxDiskWriteSpeed to ", "Add 1 node group")),
        ("fixed-part-limit", _large_fixed_parts, ("Add 1 node group",)),
        (
            "redo-log-size",
            _slow_checkpoints,
            ("Raise NoOfFragmentLogFiles to ", "Make the 2 disks with checkpoints of "),
        ),
    ],
)
def test_each_way_mends_what_it_is_offered_for(
    rule: str, make: Callable[[], Plan], titles: tuple[str, ...]
) -> None:
    plan = make()
    (first, *_) = _found(plan, rule)
    assert len(first.solutions) == len(titles)
    for way, title in zip(first.solutions, titles, strict=True):
        assert way.title.startswith(title)
        after = _found(way.edit(plan), rule)
        assert not [p for p in after if (p.where, p.message) == (first.where, first.message)]


def _found(plan: Plan, rule: str) -> list[Problem]:
    return [problem for problem in check(plan) if problem.rule == rule]


def test_a_second_replica_stands_in_the_group_of_the_first() -> None:
    (problem,) = _found(_one_copy(), "number-of-replicas")
    plan = problem.solutions[0].edit(_one_copy())
    assert [len(members) for members in node_groups(plan)] == [2]
    assert len({node.host_id for node in plan.data_nodes}) == 2


def test_a_second_replica_comes_with_an_arbitrator_that_does_not_fail_with_one_of_them() -> None:
    """Beside the only data node the management node would have stopped the pair: no way was offered."""
    plan = sample_plan("tick-store")
    (problem,) = _found(plan, "number-of-replicas")
    (way,) = problem.solutions
    after = way.edit(plan)
    hosts = {node.host_id for node in after.data_nodes}
    assert len(hosts) == 2
    assert not hosts & {node.host_id for node in after.management_nodes}
    assert not _found(after, "number-of-replicas")
    assert not [problem for problem in check(after) if "stops the cluster" in problem.message]


def test_a_table_on_disk_that_fits_nowhere_is_told_what_lacks_room() -> None:
    plan = sample_plan("disk-data")
    table = next(t for t in plan.tables if t.tablespace_id is not None)
    plan = edits.update(plan, table.id, tablespace_id=None, rows=table.rows * 10_000)
    (problem,) = _found(plan, "tablespace-of-table")
    assert not problem.solutions
    assert "its capacity is" in (problem.fix or "")


def test_numbers_that_divide_the_buckets_are_named() -> None:
    assert numbers_that_divide(3840, 288, 72) == (
        "no number of partitions does on 72 node groups: 64 or 80 node groups would"
    )
    assert "have 6 or 8 partitions in each node group" in numbers_that_divide(3840, 14, 2)
