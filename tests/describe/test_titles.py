"""Headings of what is selected."""

from __future__ import annotations

from ndbplan.advise.sizing.choices import usually_offered
from ndbplan.describe.titles import subtitle
from ndbplan.edits.from_host import thread_setting
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


def test_a_host_with_one_core_has_no_cores() -> None:
    plan = sample_plan("starter")
    plan = update(plan, plan.hosts[0].id, cores=1, memory_bytes=2**33)
    assert subtitle(plan, plan.hosts[0]) == "Host · 1 core · 8 GiB"
    assert usually_offered("host", plan)[0] == ("plan", "1 core, 8 GiB as in the plan")
    reasons = [one.reason for one in thread_setting(plan, plan.data_nodes[0])]
    assert any("1 core of" in one for one in reasons), reasons
