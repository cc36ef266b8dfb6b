"""Which disks of a plan the devices of iostat are.

pairs, aside = disks_of_devices(plan, read_measurements(text), disk_ids=(), devices=None)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ndbplan.importing.measurements import Measurement, MeasurementError
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan

DISK_FIELDS = {
    "sequential_read_bytes_per_s": "bytes/s",
    "sequential_write_bytes_per_s": "bytes/s",
    "random_read_iops": "per s",
    "random_write_iops": "per s",
    "sync_write_latency_s": "s",
}
"""Fields of a disk that are measured, and their units."""

_ABOVE_DEVICES = re.compile(r"(?:dm-|md|loop|zram|drbd)[0-9]+$")
"""What iostat lists beside the devices below it: their bytes would count twice."""


def busy_devices(measurements: Sequence[Measurement]) -> list[str]:
    """Names of the devices of iostat that say what a disk can do, as they stand there."""
    return [one.name for one in measurements if any(one.values.get(name, 0.0) > 0 for name in DISK_FIELDS)]


def disks_of_devices(
    plan: Plan,
    measurements: Sequence[Measurement],
    disk_ids: Sequence[str],
    devices: Mapping[str, Sequence[str]] | None,
) -> tuple[list[tuple[Measurement, str]], tuple[str, ...]]:
    """Which disks the busy devices of iostat are, and which devices were left aside.

    `devices`: disks of a device, as somebody says; then no other device counts. Otherwise a device is the
    disk of its name (`cciss/c0d1` and `nvme0n1p2` are `c0d1` and `nvme0`), on the host that iostat ran on
    when the plan has it, else on every host that has one, or among `disk_ids` when these are given; a device
    without such a disk is those `disk_ids` when it is the only busy one. Of a device and its partitions the
    device counts. Raises MeasurementError when it must be asked which disk a device is.
    """
    names = busy_devices(measurements)
    busy = [one for one in measurements if one.name in names]
    if not busy:
        shown = ", ".join(one.name for one in measurements)
        raise MeasurementError(
            f"{shown[:80]}: nothing in it says what a disk can do",
            fix="measure while the device is at least 30 % busy, or run fio with large sequential blocks",
        )
    if devices:
        unknown = sorted(set(devices) - {one.name for one in busy})
        if unknown:
            raise MeasurementError(
                f"iostat shows no busy device '{unknown[0][:40]}'", fix=f"name {_listed(busy)}"
            )
        return _one_for_each_disk([(one, disk) for one in busy for disk in devices.get(one.name, ())]), ()
    pairs: list[tuple[Measurement, str]] = []
    unmatched: list[Measurement] = []
    for one in busy:
        wanted = [
            disk
            for host in hosts_of(plan, one.host)
            for disk in host.disks
            if not disk_ids or disk.id in disk_ids
        ]
        mine = [disk.id for disk in wanted if is_device(disk.name, one.name)]
        pairs += [(one, disk_id) for disk_id in mine]
        if not mine:
            unmatched.append(one)
    aside = tuple(one.name for one in unmatched if _ABOVE_DEVICES.fullmatch(one.name))
    if pairs or len(unmatched) > len(aside):
        unmatched = [one for one in unmatched if one.name not in aside]
    else:
        aside = ()
    if unmatched and not pairs and len(unmatched) == 1 and disk_ids:
        return [(unmatched[0], disk_id) for disk_id in disk_ids], aside
    if unmatched:
        is_one = len(unmatched) == 1
        raise MeasurementError(
            f"no disk of the plan is called like the busy device{'' if is_one else 's'} of iostat "
            f"({_listed(unmatched)}); it is not said which disk {'it is' if is_one else 'each is'}",
            fix="choose the disk that was measured (on the command line: --disk DISK="
            f"{unmatched[0].name}), or name it like the device",
        )
    return _one_for_each_disk(pairs), aside


def hosts_of(plan: Plan, name: str) -> list[Host]:
    """The host that iostat names, by its full name or the first word of it; all when the plan has no such."""
    name = name.lower()
    exact = [host for host in plan.hosts if name and host.hostname.lower() == name]
    first = name.partition(".")[0]
    alike = [host for host in plan.hosts if name and host.hostname.lower().partition(".")[0] == first]
    return exact or alike or list(plan.hosts)


def _one_for_each_disk(pairs: list[tuple[Measurement, str]]) -> list[tuple[Measurement, str]]:
    """Every disk with one device: of a device and its partitions the device. Raises MeasurementError."""
    measured: dict[str, Measurement] = {}
    for one, disk_id in sorted(pairs, key=lambda pair: len(pair[0].name)):
        whole = measured.setdefault(disk_id, one)
        if whole is not one and not (whole.host == one.host and one.name.startswith(whole.name)):
            raise MeasurementError(
                f"disk {disk_id} is two devices of iostat: {_place(whole)} and {_place(one)}",
                fix="choose the device (on the command line: --disk DISK=DEVICE), or give iostat of one "
                "machine",
            )
    return [(one, disk_id) for one, disk_id in pairs if measured[disk_id] is one]


def _place(one: Measurement) -> str:
    return f"{one.name[:40]} of {one.host[:60]}" if one.host else one.name[:40]


def _listed(measurements: Sequence[Measurement]) -> str:
    names = [one.name[:40] for one in measurements]
    return ", ".join(names[:6]) + (" …" if len(names) > 6 else "")


def is_device(disk: str, device: str) -> bool:
    """Whether a disk of this name is the device: to the letter, without its folder, or with a partition."""
    name, device = disk.strip().lower(), device.lower().removeprefix("/dev/")
    last = device.rpartition("/")[2]
    whole = (
        re.sub(r"n[0-9]+(?:p[0-9]+)?$", "", last)
        if last.startswith("nvme")
        else re.sub(r"p?[0-9]+$", "", last)
    )
    if last.startswith(("c", "mmcblk")):
        # cciss/c0d1p2: only what follows a p is a partition.
        whole = re.sub(r"p[0-9]+$", "", last)
    return name in (device, last, whole, f"/dev/{device}")
