"""What of a host an excuse may ask more of: how it is made larger, told, and brought down to the least.

host, words = HARDWARE["memory"](host, 1.5)         # `48 GiB of memory a host`
SIZES["memory"].as_in(before, host)                 # with the memory that it had before
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ndbplan.advise.sizing.build import Builder
from ndbplan.advise.sizing.choices import Choice
from ndbplan.advise.sizing.limits import Judge
from ndbplan.advise.sizing.verdict import CHECK
from ndbplan.base.units import (
    format_bytes,
    format_bytes_binary,
    format_bytes_per_s,
    parse_bytes,
    parse_bytes_per_s,
    told_size,
)
from ndbplan.edits.solutions import MOST_CORES
from ndbplan.plan.hardware import Disk, Host

_GIB = 2**30
HARDEST = 4.0
"""Where so many times more hardware did not move a limit, no more of it is tried. Judgement."""


def _memory(host: Host, times: float) -> tuple[Host, str]:
    whole = math.ceil(host.memory_bytes * times / _GIB) * _GIB
    size = math.ceil(told_size(whole, format_bytes_binary, parse_bytes))
    return host.model_copy(update={"memory_bytes": size}), f"{format_bytes_binary(size)} of memory a host"


def _cores(host: Host, times: float) -> tuple[Host, str] | None:
    cores = math.ceil(host.cores * times)
    if cores > MOST_CORES:
        return None
    return host.model_copy(update={"cores": cores}), f"{cores} cores a host"


def _network(host: Host, times: float) -> tuple[Host, str]:
    rate = told_size(host.network_bytes_per_s * times, format_bytes_per_s, parse_bytes_per_s)
    return host.model_copy(update={"network_bytes_per_s": rate}), f"links of {format_bytes_per_s(rate)}"


def _space(host: Host, times: float) -> tuple[Host, str]:
    most = max(disk.capacity_bytes for disk in host.disks)
    times = told_size(most * times, format_bytes, parse_bytes) / most

    def larger(disk: Disk) -> Disk:
        return disk.model_copy(update={"capacity_bytes": round(disk.capacity_bytes * times)})

    disks = tuple(map(larger, host.disks))
    sizes = format_bytes(max(disk.capacity_bytes for disk in disks))
    return host.model_copy(update={"disks": disks}), f"disks of {sizes}"


def _speed(host: Host, times: float) -> tuple[Host, str]:
    most = max(disk.sequential_write_bytes_per_s for disk in host.disks)
    times = told_size(most * times, format_bytes_per_s, parse_bytes_per_s) / most

    def faster(disk: Disk) -> Disk:
        rates = {
            "sequential_write_bytes_per_s": disk.sequential_write_bytes_per_s * times,
            "random_read_iops": disk.random_read_iops * times,
            "random_write_iops": disk.random_write_iops * times,
        }
        return disk.model_copy(update=rates)

    disks = tuple(map(faster, host.disks))
    rate = format_bytes_per_s(max(disk.sequential_write_bytes_per_s for disk in disks))
    return host.model_copy(update={"disks": disks}), f"disks that write {rate}"


HARDWARE: dict[str, Callable[[Host, float], tuple[Host, str] | None]] = {
    "memory": _memory,
    "cpu": _cores,
    "network": _network,
    "disk space": _space,
    "disk": _speed,
    "disk reads": _speed,
}
"""What of a host moves a limit, and how."""


@dataclass(frozen=True)
class Size:
    """What of a host one kind of change moves, and in what steps the least of it is looked for."""

    of_host: str = ""
    of_disks: tuple[str, ...] = ()
    step: float | None = None
    """None: a hundredth."""

    def of(self, host: Host) -> float:
        """The size; of disks that of the first."""
        return float(
            getattr(host, self.of_host) if self.of_host else getattr(host.disks[0], self.of_disks[0])
        )

    def step_of(self, host: Host) -> float:
        """One step."""
        return self.step or self.of(host) / 100

    def as_in(self, begun: Host, host: Host) -> Host:
        """The host with this as another has it."""
        if self.of_host:
            return host.model_copy(update={self.of_host: getattr(begun, self.of_host)})
        disks = tuple(
            disk.model_copy(update={name: getattr(old, name) for name in self.of_disks})
            for disk, old in zip(host.disks, begun.disks, strict=True)
        )
        return host.model_copy(update={"disks": disks})


EXACT = 1e-6
"""Of a step: sizes are rounded up, and a whole step is not to become one more."""
_RATES = ("sequential_write_bytes_per_s", "random_read_iops", "random_write_iops")
SIZES = {
    "memory": Size("memory_bytes", step=_GIB),
    "cpu": Size("cores", step=1),
    "network": Size("network_bytes_per_s"),
    "disk space": Size(of_disks=("capacity_bytes",)),
    "disk": Size(of_disks=_RATES),
    "disk reads": Size(of_disks=_RATES),
}


def disks_mend(judge: Judge, choice: Choice, groups: int) -> bool:
    """Whether check finds no error with much larger disks."""
    larger = HARDWARE["disk space"](choice.host, HARDEST)
    if larger is None or not choice.host.disks:
        return False
    broken = judge.verdict(replace(choice, host=larger[0], is_planned=False), groups).broken
    return broken is None or broken.kind != CHECK


def disks_decide(builder: Builder, choice: Choice) -> bool:
    """Whether DataMemory is so small because its checkpoints need room on a disk."""
    more = choice.host.model_copy(update={"memory_bytes": 2 * choice.host.memory_bytes})
    free = replace(choice, is_planned=False)
    larger = replace(free, host=more)
    return builder.data_memory_bytes(larger) <= builder.data_memory_bytes(free)
