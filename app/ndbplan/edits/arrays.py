"""A disk made of several devices: what a RAID level makes of the capacity and speeds of one.

    plan = set_array(plan, disk_id, "10", 4)      # the speeds of the plan become those of the whole array

A plan states the speeds of the array, as a host sees it; what one device has is worked out from them, and
back, when level or number change.
"""

from __future__ import annotations

from typing import Any

from ndbplan.configuration.arrays import MOST_DEVICES, against_one, levels
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.validated import EditError
from ndbplan.plan.fields import MAX_BYTES, MAX_RATE
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan

_MOST_IOPS = 1e9
_RATES = {
    "sequential_read_bytes_per_s": "sequential_read",
    "sequential_write_bytes_per_s": "sequential_write",
    "random_read_iops": "random_read",
    "random_write_iops": "random_write",
}
_DEVICE_LATENCY = "sync_write_latency"
_OF_EACH_DEVICE = ("purchase_price", "monthly_price", "watts")


def as_array(disk: Disk, level: str | None, devices: int) -> Disk:
    """The disk with its devices put together otherwise; None: one device. Raises EditError."""
    fields: dict[str, Any] = {"raid": level, "devices": devices if level is not None else 1}
    if level is not None:
        known = next((one for one in levels() if one.name == level), None)
        if known is None:
            names = ", ".join(one.name for one in levels())
            raise EditError(f"there is no RAID level '{level[:20]}'", fix=f"use one of {names}")
        if not known.fits(devices):
            more = f", in steps of {known.step}" if known.step > 1 else ""
            raise EditError(
                f"{known.text} cannot be made of {devices} devices",
                fix=f"use {known.least} to {MOST_DEVICES}{more}",
            )
    if (fields["raid"], fields["devices"]) == (disk.raid, disk.devices):
        return disk

    def scaled(value: float, of: str, most: float) -> float:
        ratio = against_one(level, fields["devices"], of) / against_one(disk.raid, disk.devices, of)
        return min(most, max(1.0, value * ratio))

    fields["capacity_bytes"] = int(scaled(disk.capacity_bytes, "capacity", MAX_BYTES))
    for name, of in _RATES.items():
        fields[name] = scaled(getattr(disk, name), of, _MOST_IOPS if name.endswith("iops") else MAX_RATE)
    latency = against_one(level, devices, _DEVICE_LATENCY) / against_one(
        disk.raid, disk.devices, _DEVICE_LATENCY
    )
    for name in _OF_EACH_DEVICE:
        paid = getattr(disk, name)
        fields[name] = None if paid is None else paid * fields["devices"] / disk.devices
    return validated.changed(disk, sync_write_latency_s=disk.sync_write_latency_s * latency, **fields)


def put_level(plan: Plan, disk_id: str, level: str | None) -> Plan:
    """The disk with another RAID level, of as many devices as it has, or the fewest that the level takes."""
    disk: Disk = plan.by_id[disk_id]
    known = next((one for one in levels() if one.name == level), None)
    devices = disk.devices if known is None or known.fits(disk.devices) else known.least
    return _put(plan, disk, as_array(disk, level, devices))


def put_devices(plan: Plan, disk_id: str, devices: int) -> Plan:
    """The disk with so many devices: one has no level, several are striped where none is stated."""
    disk: Disk = plan.by_id[disk_id]
    return _put(plan, disk, with_devices(disk, devices))


def with_devices(disk: Disk, devices: int) -> Disk:
    """A disk with so many devices: one has no level, several are striped where none is stated."""
    return as_array(disk, None if devices == 1 else disk.raid or levels()[0].name, devices)


def _put(plan: Plan, disk: Disk, new: Disk) -> Plan:
    return plan if new is disk else edits.update(plan, disk.id, **{n: getattr(new, n) for n in CHANGED})


CHANGED = ("raid", "devices", "capacity_bytes", "sync_write_latency_s", *_RATES, *_OF_EACH_DEVICE)
"""Fields of a disk that follow its array."""
