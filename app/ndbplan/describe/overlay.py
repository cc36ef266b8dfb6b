"""Loads: what the estimates say about each thing on the canvas, ready to be painted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.frozen import FrozenMap

if TYPE_CHECKING:
    from ndbplan.simulate.moment import Starting

_NONE: Mapping[str, Any] = FrozenMap()


class Loss(NamedTuple):
    """What the loss of one part means for the cluster."""

    verdict: str
    """`goes on`, `asks` (goes on if the arbitrator answers), `stops`."""
    text: str
    """`goes on`, `goes on if the arbitrator answers`, `stops: node group 0 is gone`."""


class Loads(NamedTuple):
    """Utilisations as fractions and the worst problem, by object id; what is unknown is not in there."""

    disks: Mapping[str, float] = _NONE
    """How busy each disk is."""
    space: Mapping[str, float] = _NONE
    """How full each disk is; above 1 its files do not fit."""
    cpu: Mapping[str, float] = _NONE
    """By host id."""
    memory: Mapping[str, float] = _NONE
    """By host id."""
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
    losses: Mapping[str, Loss] = _NONE
    """What the loss of each part would mean, while that is shown; by object id."""
    stopped: str = ""
    """When and why the cluster stopped, while a moment after it is replayed."""
    stands_still: bool = False
    """At the moment that is replayed transactions wait until a loss is noticed."""


NO_LOADS = Loads()
