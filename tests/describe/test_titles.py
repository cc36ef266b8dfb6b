"""Headings of what is selected."""

from __future__ import annotations

from ndbplan.describe.titles import subtitle
from ndbplan.edits.parts import update
from ndbplan.plan.samples import sample_plan


def test_the_size_of_a_disk_is_not_that_of_each_of_its_devices() -> None:
    plan = sample_plan("starter")
    disk = plan.hosts[0].disks[0]
    one = subtitle(plan, disk)
    plan = update(plan, disk.id, raid="10", devices=4, capacity_bytes=1_920_000_000_000)
    several = subtitle(plan, plan.by_id[disk.id])
    assert one.endswith("TB")
    assert several == "Disk · 1.92 TB · RAID 10 of 4 × NVMe"
