"""A disk of several devices: what a RAID level makes of one device, and back."""

from __future__ import annotations

import pytest

from ndbplan.base.errors import UserError
from ndbplan.configuration.arrays import levels, may_lose, one_device_bytes, worn
from ndbplan.edits.arrays import put_devices, put_level
from ndbplan.edits.assign import assign
from ndbplan.plan.samples import sample_plan

PLAN = sample_plan("starter")
DISK = PLAN.hosts[0].disks[0]


@pytest.mark.parametrize(
    ("level", "devices", "ratios"),
    [
        ("0", 3, (3, 3, 3, 3, 3, 1)),
        ("1", 3, (1, 1, 1, 3, 1, 1)),
        ("10", 6, (3, 3, 3, 6, 3, 1)),
        ("5", 4, (3, 3, 3, 4, 1, 2)),
        ("5", 8, (7, 7, 7, 8, 2, 2)),
    ],
)
def test_an_array_against_one_device(level: str, devices: int, ratios: tuple[float, ...]) -> None:
    made = put_devices(put_level(PLAN, DISK.id, level), DISK.id, devices).by_id[DISK.id]
    fields = (
        "capacity_bytes", "sequential_read_bytes_per_s", "sequential_write_bytes_per_s",
        "random_read_iops", "random_write_iops", "sync_write_latency_s",
    )  # fmt: skip
    assert [getattr(made, name) / getattr(DISK, name) for name in fields] == pytest.approx(ratios)
    assert (made.raid, made.devices) == (level, devices)


def test_the_way_back_is_exact_and_touches_nothing_else() -> None:
    plan = PLAN
    for level in ("5", "10", "1", "0"):
        plan = put_level(plan, DISK.id, level)
    one = put_devices(plan, DISK.id, 1)
    assert one.by_id[DISK.id].raid is None
    assert one.by_id[DISK.id].random_write_iops == pytest.approx(DISK.random_write_iops)
    assert one.hosts[1:] == PLAN.hosts[1:]
    assert one.tables is PLAN.tables


def test_what_a_level_does_not_take_is_refused_with_what_it_takes() -> None:
    ten = put_level(PLAN, DISK.id, "10")
    assert ten.by_id[DISK.id].devices == 4
    with pytest.raises(UserError, match="RAID 10 cannot be made of 5 devices — use 4 to 64, in steps of 2"):
        put_devices(ten, DISK.id, 5)
    with pytest.raises(UserError, match="cannot be made of 2 devices"):
        put_devices(put_level(PLAN, DISK.id, "5"), DISK.id, 2)
    assert [level.name for level in levels()] == ["0", "1", "10", "5"]


@pytest.mark.parametrize(("level", "devices"), [("1", 2), ("1", 3), ("1", 4), ("5", 5), ("10", 6)])
def test_devices_that_fail_one_after_the_other_take_what_the_smaller_array_had(
    level: str, devices: int
) -> None:
    whole = put_devices(put_level(PLAN, DISK.id, level), DISK.id, devices).by_id[DISK.id]
    left = worn(whole)
    assert left.random_read_iops < whole.random_read_iops
    if may_lose(whole) >= 2:
        smaller = put_devices(put_level(PLAN, DISK.id, level), DISK.id, devices - 1).by_id[DISK.id]
        share = worn(smaller).random_read_iops / smaller.random_read_iops
        assert worn(whole, 2).random_read_iops == pytest.approx(left.random_read_iops * share)
    assert worn(whole, 99) == worn(whole, may_lose(whole)), "no more than it may lose"


def test_the_command_line_sets_it_with_its_speeds() -> None:
    address = f"hosts[{PLAN.hosts[0].id}].disks[{DISK.id}]"
    striped, _ = assign(PLAN, f"{address}.devices=2")
    assert striped.by_id[DISK.id].raid == "0"
    assert striped.by_id[DISK.id].capacity_bytes == 2 * DISK.capacity_bytes
    back, _ = assign(striped, f"{address}.raid=")
    assert back == PLAN


@pytest.mark.parametrize(
    ("level", "devices", "lose", "reads", "writes"),
    [
        ("0", 4, 0, 1.0, 1.0),
        ("1", 2, 1, 1 / 2, 1.0),
        ("1", 3, 2, 2 / 3, 1.0),
        ("10", 8, 1, 1 / 2, 1.0),
        ("5", 3, 1, 1 / 2, 1.0),
        # Of eight: 56 operations a second of seven devices for 32 of what eight did with four each.
        ("5", 8, 1, 1 / 2, 7 / 4 / 2),
    ],
)
def test_one_device_less(level: str, devices: int, lose: int, reads: float, writes: float) -> None:
    disk = put_devices(put_level(PLAN, DISK.id, level), DISK.id, devices).by_id[DISK.id]
    left = worn(disk)
    assert may_lose(disk) == lose
    assert left.random_read_iops / disk.random_read_iops == pytest.approx(reads)
    assert left.random_write_iops / disk.random_write_iops == pytest.approx(writes)
    assert left.sequential_write_bytes_per_s == disk.sequential_write_bytes_per_s
    assert one_device_bytes(disk) == pytest.approx(DISK.capacity_bytes)
