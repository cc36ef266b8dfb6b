"""Random reads of data files: what the disk does, and no more than DiskIOThreadPool threads ask for."""

from __future__ import annotations

import pytest

from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.load.file_threads import PageReads, reads_of
from ndbplan.estimate.stored import machines_of
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan


def reads(plan: Plan) -> PageReads:
    machines = machines_of(plan)
    [(disk, _)] = machines.nodes[0].on_disks(DiskRole.DATA_FILES)
    return reads_of(machines, disk)


def with_latency(plan: Plan, latency_s: float) -> Plan:
    for host in plan.hosts:
        for disk in host.disks:
            plan = edits.update(plan, disk.id, sync_write_latency_s=latency_s)
    return plan


@pytest.mark.parametrize("threads", [1, 2, 4, 8])
def test_few_threads_read_as_much_as_each_waits_for(threads: int) -> None:
    plan = set_parameter(sample_plan("disk-data-8.4"), "data_node", "DiskIOThreadPool", threads)
    found = reads(plan)
    assert found.threads == threads
    assert found.per_s.value * found.one_read_s == pytest.approx(threads)
    assert found.threads_for(found.per_s.value) == threads


def test_no_more_is_read_than_the_disk_does() -> None:
    plan = sample_plan("disk-data-8.4")
    for many in (set_parameter(plan, "data_node", "DiskIOThreadPool", 200), with_latency(plan, 1e-7)):
        assert reads(many).threads is None
        assert reads(many).per_s.value == 600_000


def test_of_a_disk_that_states_no_latency_nothing_more_is_known() -> None:
    assert reads(with_latency(sample_plan("disk-data-8.4"), 0.0)).per_s.value == 600_000


def test_a_disk_that_takes_longer_gives_less_to_the_same_threads() -> None:
    plan = sample_plan("disk-data-8.4")
    found = [reads(with_latency(plan, latency_s)).per_s.value for latency_s in (3e-5, 3e-4, 3e-3)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(100 * found[2])
