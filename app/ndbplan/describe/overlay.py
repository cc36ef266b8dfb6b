"""Loads: what the estimates say about each thing on the canvas, ready to be painted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.frozen import FrozenMap

if TYPE_CHECKING:
    from ndbplan.plan.hardware import Host
    from ndbplan.simulate.moment import Starting
    from ndbplan.simulate.stop import LinkTime

_NONE: Mapping[str, Any] = FrozenMap()


NEAR, OVER = 0.75, 0.95
"""Shares of its capacity from which a thing is told to come near to it, and to be at it."""


class Loss(NamedTuple):
    """What the loss of one part means for the cluster."""

    verdict: str
    """`goes on`, `asks` (goes on if the arbitrator answers), `stops`."""
    text: str
    """`goes on`, `goes on if the arbitrator answers`, `stops: node group 0 is gone`."""


class State(NamedTuple):
    """What the process of a live cluster does, where it is not simply there."""

    words: str
    """`phase 4`, `single user`; short enough for a chip."""
    tone: str
    """`warning`, `error` or `info`."""


class Loads(NamedTuple):
    """Utilisations as fractions and the worst problem, by object id; what is unknown is not in there."""

    disks: Mapping[str, float] = _NONE
    """How busy each disk is."""
    space: Mapping[str, float] = _NONE
    """How full each disk is; above 1 its files do not fit."""
    cpu: Mapping[str, float] = _NONE
    """Of the cores of a host, by its id; of the busiest LDM thread of a data node, by process id."""
    cpu_without_work: Mapping[str, float] = _NONE
    """How much of `cpu` threads take that find nothing to do, whatever the load."""
    memory: Mapping[str, float] = _NONE
    """Of the RAM of a host, by its id; of the DataMemory of a data node, by process id."""
    network: Mapping[str, float] = _NONE
    """Of the busier direction of a host, by its id; of an uplink whose speed is stated, by location id."""
    redo_buffers: Mapping[str, float] = _NONE
    """Fullest redo buffer of a data node, by process id; only while a simulation is replayed."""
    redo_logs: Mapping[str, float] = _NONE
    """Fullest redo log part of a data node, by process id; only while a simulation is replayed."""
    problems: Mapping[str, str] = _NONE
    """Severity of the worst problem that names the object."""
    down: Mapping[str, bool] = _NONE
    """What does not run at the moment of a simulation that is replayed: processes, hosts, locations."""
    starting: Mapping[str, Starting] = _NONE
    """Which phase of its start a data node is in, by process id."""
    slow: Mapping[str, float] = _NONE
    """Share of its speed that a disk has; 0: it failed. Those at full speed are not in there."""
    reorganised: float | None = None
    """Share of the rows that were moved to added data nodes; None: none are being moved."""
    stopped: str = ""
    """When and why the cluster stopped, while a moment after it is replayed."""
    stands_still: bool = False
    """At the moment that is replayed transactions wait until a loss is noticed."""
    states: Mapping[str, State] = _NONE
    """Of processes of a live cluster, by id; those that simply run or are down are not in there."""
    links: tuple[LinkTime, ...] = ()
    """Links between hosts that carry less at the moment on show, or nothing."""


NO_LOADS = Loads()


def state_of_network(loads: Loads, host_id: str) -> State | None:
    """What a host's links carry at the moment on show, where that is less than they could."""
    for one in loads.links:
        link = one.link
        if host_id in link.here | link.there:
            what = "link" if link.there else "network"
            if link.factor:
                return State(f"{what} at {percent(link.factor)}", "warning")
            return State(f"{what} cut", "error")
    return None


class Use(NamedTuple):
    """How much of one thing is used."""

    what: str
    """`CPU`, `memory`, `nvme0`, `nvme0 full`."""
    share: float


def worst_use(loads: Loads, host: Host) -> Use | None:
    """What a host, or a disk of it, has used most of its capacity; None: nothing is known of it."""
    named = [("CPU", loads.cpu), ("memory", loads.memory), ("network", loads.network)]
    uses = [Use(what, table[host.id]) for what, table in named if host.id in table]
    for disk in host.disks:
        if disk.id in loads.disks:
            uses.append(Use(disk.name, loads.disks[disk.id]))
        if disk.id in loads.space:
            uses.append(Use(f"{disk.name} full", loads.space[disk.id]))
    return max(uses, key=lambda use: use.share, default=None)


def percent(fraction: float) -> str:
    """`95 %`, `0.4 %`, `0 %`, `> 999 %`: short enough for a tile."""
    value = fraction * 100
    if value > 999:
        return "> 999 %"
    return f"{value:.0f} %" if value >= 0.95 or value < 0.05 else f"{value:.1f} %"
