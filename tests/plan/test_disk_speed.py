"""Disks of another speed, as inputs of what a plan would do with them."""

from __future__ import annotations

import pytest

from ndbplan.edits.parts import update
from ndbplan.plan.disk_speed import at_disk_speed
from ndbplan.plan.fields import MAX_RATE
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.samples import sample_plan

PLAN = sample_plan("redo-overload")


@pytest.mark.parametrize("factor", [0.5, 1.05, 4.0])
def test_every_figure_of_a_disk_follows_the_factor(factor: float) -> None:
    for host, before in zip(at_disk_speed(PLAN, factor).hosts, PLAN.hosts, strict=True):
        for disk, was in zip(host.disks, before.disks, strict=True):
            for name in ("sequential_read_bytes_per_s", "sequential_write_bytes_per_s", "random_read_iops"):
                assert getattr(disk, name) == pytest.approx(factor * getattr(was, name))
            assert disk.random_write_iops == pytest.approx(factor * was.random_write_iops)
            assert disk.sync_write_latency_s == pytest.approx(was.sync_write_latency_s / factor)


def test_the_same_speed_is_the_same_plan() -> None:
    assert at_disk_speed(PLAN, 1.0) is PLAN


@pytest.mark.parametrize(
    ("factor", "rate", "iops", "latency_s"), [(1e30, MAX_RATE, 1e9, 0.0), (1e-30, 1.0, 1.0, 1e9)]
)
def test_a_figure_stays_what_a_plan_may_state(
    factor: float, rate: float, iops: float, latency_s: float
) -> None:
    plan = at_disk_speed(update(PLAN, PLAN.hosts[0].disks[0].id, sync_write_latency_s=0.001), factor)
    disk = plan.hosts[0].disks[0]
    assert (disk.sequential_write_bytes_per_s, disk.random_read_iops, disk.random_write_iops) == (
        rate,
        iops,
        iops,
    )
    assert disk.sync_write_latency_s == pytest.approx(latency_s, abs=1e-12)
    assert loads(dumps(plan)) == plan
