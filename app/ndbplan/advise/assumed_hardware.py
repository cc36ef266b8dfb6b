"""Which hardware that nobody stated decides a headline figure: half of it is taken, and the figure moves.

    for one in deciding_hardware(now): print(one.what, one.hosts, one.figures)

Told of the figures that a closed form answers; what the highest load rests on is what it is limited by.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from ndbplan.advise.figures import FIGURES, Figure
from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.storage.column_bytes import DECIDES
from ndbplan.estimate.stored import reach
from ndbplan.ndb.nearness import Nearness
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan

P = TypeVar("P", Host, Disk)
_FIGURES = ("disk-space", "restart", "system-restart", "backup")
_OF_HOST = ("cores", "clock_ghz", "memory_bytes", "network_bytes_per_s")
_OF_DISK = (
    "capacity_bytes", "sequential_read_bytes_per_s", "sequential_write_bytes_per_s", "random_read_iops",
    "random_write_iops",
)  # fmt: skip


@dataclass(frozen=True)
class Moved(Shape):
    """A figure that another value would move by more than a fifth."""

    JSON = "figure title now halved nearness"

    figure: str
    """Its name, as in `advise/figures.py`."""
    title: str
    now: Quantity
    halved: Quantity
    """With half of what is assumed."""
    nearness: Nearness
    """How near the figure lies to runs that were measured."""


@dataclass(frozen=True)
class HardwareAssumption(Shape):
    """A value of hosts, or of their disks, that nobody stated and that decides a figure."""

    JSON = "field of hosts values figures"

    field: str
    """As in a plan file: `cores`."""
    of: str
    """`host` or `disk`."""
    hosts: tuple[str, ...]
    """Names of the hosts of which it is assumed, in the order of the plan."""
    values: tuple[float, ...]
    """What is assumed, each value once, ascending."""
    figures: tuple[Moved, ...]


def deciding_hardware(now: Estimation) -> tuple[HardwareAssumption, ...]:
    """What is assumed of hosts and disks on which more than a fifth of a figure rests, as the plan lists it.

    Hosts of which the same is assumed are taken together. Nothing where no figure can be told.
    """
    before = {name: quantity for name in _FIGURES if (quantity := _told(FIGURES[name], now)) is not None}
    found = []
    for of, names in (("host", _OF_HOST), ("disk", _OF_DISK)):
        for name in names:
            halved, hosts, values = _halved(now.plan, of, name)
            if not hosts:
                continue
            then = now.of(halved)
            figures = tuple(_moved(before, then))
            if figures:
                found.append(HardwareAssumption(name, of, hosts, values, figures))
    return tuple(found)


def _told(figure: Figure, now: Estimation) -> Quantity | None:
    try:
        return figure.of(now)
    except UserError:
        return None


def _moved(before: dict[str, Quantity], then: Estimation) -> Iterator[Moved]:
    for name, was in before.items():
        after = _told(FIGURES[name], then)
        if after is not None and abs(after.value - was.value) > DECIDES * was.value:
            near = reach(then.plan, FIGURES[name].measured_as)
            yield Moved(name, FIGURES[name].title, was, after, near)


def _halved(plan: Plan, of: str, name: str) -> tuple[Plan, tuple[str, ...], tuple[float, ...]]:
    """The plan with half of what is assumed, the hosts of which it is, and what it is."""
    hosts, names, values = [], [], set()
    for host in plan.hosts:
        parts: tuple[Host | Disk, ...] = (host,) if of == "host" else host.disks
        assumed = {part.id for part in parts if name in part.assumed}
        values |= {float(getattr(part, name)) for part in parts if part.id in assumed}
        if not assumed:
            hosts.append(host)
        elif of == "host":
            names.append(host.hostname)
            hosts.append(_half(host, name))
        else:
            names.append(host.hostname)
            disks = tuple(_half(disk, name) if disk.id in assumed else disk for disk in host.disks)
            hosts.append(host.model_copy(update={"disks": disks}))
    return plan.replace(hosts=tuple(hosts)), tuple(names), tuple(sorted(values))


def _half(part: P, name: str) -> P:
    value = getattr(part, name)
    return part.model_copy(update={name: max(1, value // 2) if isinstance(value, int) else value / 2})
