"""What a failed device means for its disk: gone, or slower until a new one is filled; how long that takes.

Source: arithmetic of equal devices (resources/hardware.json); constants by name in
resources/ndb/constants.json.
"""

from __future__ import annotations

from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_percent, format_value
from ndbplan.configuration.arrays import against_one, may_lose, one_device_bytes, worn
from ndbplan.estimate.constants import Constants
from ndbplan.plan.hardware import Disk


def rebuild_share(constants: Constants) -> Quantity:
    """Share of the disk's speed that it takes while the load goes on."""
    return constants["array_rebuild_share"]


def rebuild_time(disk: Disk, constants: Constants) -> Quantity:
    """Seconds until a new device of the disk has what the lost one had: all of it is written once."""
    one = disk.sequential_write_bytes_per_s / against_one(disk.raid, disk.devices, "sequential_write")
    size = Quantity.stated(f"one device of {disk.name}", one_device_bytes(disk), "bytes")
    speed = Quantity.stated("sequential writing of one device", one, "bytes/s")
    return size / (speed * rebuild_share(constants))


def without_device(disk: Disk, constants: Constants) -> str:
    """What one failed device does to the disk, in words."""
    made = f"RAID {disk.raid.value} of {disk.devices}" if disk.raid is not None else "a single device"
    if not may_lose(disk):
        return f"{disk.name} ({made}) is gone with it"
    reads = worn(disk).random_read_iops / disk.random_read_iops
    filled = format_value(rebuild_time(disk, constants).value, "s")
    return (
        f"{disk.name} ({made}) goes on without it: {format_percent(reads)} of its random reads, writes in "
        f"order as before; a new one is filled in about {filled}"
    )
