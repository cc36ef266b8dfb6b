"""A cluster that stopped, and how long what failed was down: what a run says about failures."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_clock, format_value

if TYPE_CHECKING:
    from ndbplan.estimate.times.copy_links import SlowLink
    from ndbplan.plan.plan import Plan

REFUSED_WITH = 4009
"""Error of every statement after a cluster stopped: Cluster Failure [measured, 7.4.10 and 8.4.8]."""


@dataclass(frozen=True)
class DownTime:
    """A process, host or location that does not run, or a disk that is full, for a while or until the end."""

    object_id: str
    from_s: float
    to_s: float | None = None
    """None: until the end of the run."""


@dataclass(frozen=True)
class SlowTime:
    """A disk that does not have its speed for a while, or until the end."""

    disk_id: str
    factor: float
    """Speed against what it was; 0: it failed."""
    from_s: float
    to_s: float | None
    """None: until the end of the run."""


@dataclass(frozen=True)
class LinkTime:
    """A link that carries less, or nothing, for a while or until the end."""

    number: int
    """Of the event."""
    link: SlowLink
    """0 of its bandwidth: it is cut."""
    from_s: float
    to_s: float | None = None
    """None: until the end of the run."""

    def share(self, host_ids: Collection[str]) -> float:
        """What is left between two of these hosts; 1: it is not between any of them."""
        here, there = self.link.here, self.link.there
        near = any(i in here for i in host_ids)
        far = any(i in there if there else i not in here for i in host_ids)
        return self.link.factor if near and far else 1.0


@dataclass(frozen=True)
class ReorganiseTime:
    """Rows are moved to data nodes that were added, evenly over this time."""

    from_s: float
    to_s: float


@dataclass(frozen=True)
class ClusterStop(Shape):
    """When and why no data node runs any more. It is started by hand: the run does not come back."""

    JSON = "text at_s failed_at_s why code system_restart_s"

    at_s: Quantity
    """Seconds after the start; a range where the loss had to be noticed first."""
    failed_at_s: float
    """When the parts failed; from then on transactions stood still."""
    why: str
    system_restart_s: Quantity | None = None
    """Time of a system restart once all parts are whole; None: the plan does not allow to estimate it."""

    @classmethod
    def at_moment(cls, at_s: float, why: str) -> ClusterStop:
        """One that came when it was asked for."""
        return cls(Quantity.exact(at_s, "s"), at_s, why)

    @property
    def text(self) -> str:
        """`cluster stopped at 1:30: node group 0 is gone`."""
        return f"cluster stopped at {format_clock(self.at_s.value)}: {self.why}"

    @property
    def code(self) -> int:
        """The error of whatever is asked for after it."""
        return REFUSED_WITH

    @property
    def advice(self) -> str:
        """What a stop means for whoever runs the cluster."""
        restart = self.system_restart_s
        takes = f": {format_value(restart.value, 's')}" if restart is not None else ""
        return f"after it all is refused with {REFUSED_WITH}; back by a system restart by hand{takes}"


def system_restart_s(plan: Plan) -> Quantity | None:
    """How long a system restart takes; None for a plan that does not allow to estimate it."""
    from ndbplan.base.errors import UserError
    from ndbplan.estimate.timed import restart

    try:
        return restart(plan, "system").duration_s
    except UserError:
        return None
