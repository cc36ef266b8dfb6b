"""Disks made of several devices: what each RAID level makes of one device, and what is left when one fails.

    may_lose(disk)          # devices that may fail, whichever they are: 0 of a single device and RAID 0
    worn(disk)              # the disk as its host sees it while one device is missing

The arithmetic of equal devices; its factors and their source lie in `hardware.json`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.plan.hardware import Disk, RaidLevel

MOST_DEVICES = 64
"""Devices of one array: judgement."""
_DEVICE_LATENCY = "sync_write_latency"


class Level(NamedTuple):
    """What a RAID level makes of equal devices."""

    name: str
    """As a plan writes it: `10`."""
    text: str
    least: int
    """Devices that it needs."""
    step: int
    """It takes multiples of so many."""
    tip: str

    def fits(self, devices: int) -> bool:
        """Whether it can be made of so many devices."""
        return self.least <= devices <= MOST_DEVICES and devices % self.step == 0


def known_hardware() -> dict[str, Any]:
    """What is known of hardware: classes of locations, hosts, disks and arrays of disks, and limits."""
    known: dict[str, Any] = read_json("hardware.json")
    return known


@cache
def _rows() -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in known_hardware()["arrays"]}


def levels() -> tuple[Level, ...]:
    """The levels that are known, in their order."""
    return tuple(Level(e["key"], e["text"], e["least"], e["step"], e["tip"]) for e in _rows().values())


def against_one(level: str | None, devices: int, of: str) -> float:
    """What an array of a level (None: a single device) has against one device; `of` as in the data."""
    if level is None:
        return 1.0
    row = _rows()[level]
    if of == _DEVICE_LATENCY:
        return float(row[of])
    for_each, fixed = row[of]
    return float(for_each * max(devices, row["least"]) + fixed)


def may_lose(disk: Disk) -> int:
    """Devices of a disk that may fail, whichever they are; 0: with any of them all of the disk is gone."""
    return 0 if disk.raid is None else int(against_one(disk.raid, disk.devices, "may_lose"))


def one_device_bytes(disk: Disk) -> float:
    """What one of its devices holds."""
    return disk.capacity_bytes / against_one(disk.raid, disk.devices, "capacity")


def worn(disk: Disk, lost: int = 1) -> Disk:
    """A disk as its host sees it with so many devices less, of those it may lose; never faster than whole."""
    reads = writes = 1.0
    for missing in range(min(lost, may_lose(disk))):
        devices = disk.devices - missing
        whole = against_one(disk.raid, devices, "random_read")
        reads *= min(1.0, against_one(disk.raid, devices, "random_read_without_one") / whole)
        if disk.raid is RaidLevel.PARITY:
            writes *= min(1.0, _parity_writes(devices))
    return disk.model_copy(
        update={
            "random_read_iops": disk.random_read_iops * reads,
            "random_write_iops": disk.random_write_iops * writes,
        }
    )


def _parity_writes(devices: int) -> float:
    """Small writes of RAID 5 without one device against those with all, by counting operations.

    One block in n lies on the missing device: its writes read the n - 2 others and write the parity. One in n
    has its parity there: written alone. All others take four operations as ever, on one device less.
    """
    n = max(3, devices)
    operations = ((n - 1) + 1 + 4 * (n - 2)) / n
    return (n - 1) / operations / (n / 4)
