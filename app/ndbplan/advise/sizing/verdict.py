"""What was found of one cluster: the limits that it meets, and the first that it breaks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from ndbplan.advise.candidate import Change
from ndbplan.advise.cost import cost_of
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.sizing.build import CLIENT_HOST, MOST_NODES, Clients
from ndbplan.advise.sizing.choices import Choice
from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_memory, format_value, how_many
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import WantedTimes
from ndbplan.simulate.bottleneck import Bottleneck

CONNECTIONS, CLIENTS = "connections", "clients"
"""Limits of what the load comes through: its cluster connections, and its hosts."""
CHECK = "check"
MEMORY = "memory"
DESIGN = "design"
"""A limit that tables or loads break, whatever the cluster."""
LOADER = "loader"
PRICE = "price"
FIXED_NODES = 4
"""Two management nodes, two slots for programs."""
BARELY = 0.999
"""What lasts all but this share of the time is still not sustained."""
_TIMES = {
    "restart": "restart",
    "initial_restart": "initial-restart",
    "system_restart": "system-restart",
    "rolling_restart": "rolling-restart",
    "reorganise": "reorganise",
    "backup": "backup",
}
"""Fields of the requirements, and the figures that they limit."""
_STEPS_REACH = 8.0
"""What asks for more than so much of a limit is not brought down by halving or doubling three times."""


@dataclass(frozen=True)
class Met(Shape):
    """One limit of the requirements, and how near a cluster comes to it."""

    JSON = "limit needed allowed share=nearness certain"

    limit: str
    needed: Quantity
    """What the requirements ask of the cluster, or what something takes."""
    allowed: Quantity
    """What the cluster can do, or what something may take."""
    kind: str = ""
    """What would move it: memory, disk space, cpu, network, disk, money or another word."""
    is_ratio: bool = True
    """Whether nearness tells how much more is needed; a simulation tells only when it goes wrong."""

    is_simulated: bool = False
    """Whether it is a load that was not sustained when it was simulated."""

    in_worlds: float | None = None
    """How near in as many drawn worlds as have to keep it, where that is asked and breaks it."""

    @property
    def nearness(self) -> float:
        """1: exactly met; above: broken."""
        if self.in_worlds is not None:
            return self.in_worlds
        return self.needed.value / self.allowed.value if self.allowed.value > 0 else math.inf

    @property
    def is_moved(self) -> bool:
        """Whether hardware comes nearer to it step by step; what may fail, and a check, holds or does not."""
        return self.kind not in (CHECK, DESIGN) and not self.kind.startswith("survive")

    @property
    def is_impossible(self) -> bool:
        """Whether it is work that cannot be done at all, for which the limit tells why."""
        return not self.is_ratio and self.allowed.value <= 0

    @property
    def depends_on_groups(self) -> bool:
        """Whether more node groups may meet it: they neither let a host fail that one replica is on, nor mend
        what tables break, nor pay."""
        return self.kind not in (LOADER, PRICE, DESIGN) and not self.kind.startswith("survive.")

    @property
    def certain(self) -> bool:
        """Whether it is met at the unfavourable ends of both ranges."""
        return self.needed.high <= self.allowed.low

    @property
    def may_be_stepped(self) -> bool:
        """Whether a few steps of redo and checkpoint parameters may let it pass.

        Not of a load job, whose every step would have to be simulated to its end.
        """
        moved = self.kind in ("disk", "disk space", CHECK) or self.kind.startswith("within.")
        return moved and (self.nearness <= _STEPS_REACH or not self.is_ratio)

    @property
    def line(self) -> str:
        """`restart of a data node: 14 min of 10 min`; what holds or does not has no two numbers."""
        if self.kind in (CHECK, DESIGN):
            found = round(self.needed.value) - 1
            return f"{self.limit} ({how_many(found, 'error')})" if found > 1 else self.limit
        if self.kind == PRICE or not self.is_moved or self.is_impossible:
            return self.limit
        return f"{self.limit}: {self._told(self.needed.value)} of {self._told(self.allowed.value)}"

    @property
    def at_worst(self) -> str:
        """The unfavourable ends, as ` (likely; at worst 66 GiB of 46 GiB)`; nothing where there are none."""
        if not self.is_moved or self.is_impossible or self.kind in (CHECK, DESIGN, PRICE):
            return ""
        ends = f"{self._told(self.needed.high)} of {self._told(self.allowed.low)}"
        return "" if self.line.endswith(f": {ends}") else f" (likely; at worst {ends})"

    def _told(self, value: float) -> str:
        told = format_memory if self.kind == MEMORY else format_value
        return told(value, self.needed.unit)


@dataclass
class Verdict:
    """What was found of one cluster."""

    choice: Choice
    groups: int
    clients: Clients
    plan: Plan | None
    """None: it has more nodes than there may be."""
    met: list[Met] = field(default_factory=list)
    broken: Met | None = None
    at_least: int = 1
    """Node groups that the class needs in any case, by what was found here."""
    steps: tuple[Change, ...] = ()
    """Of redo and checkpoint parameters, that were taken because it does not pass without them."""
    most_memory: bool = False
    """Whether it was built with as much DataMemory as hosts have room for."""
    has_undo_files: bool = False
    """Whether undo files have room for its loads: not before a limit asks for it."""
    place: int = 0
    """Of what was asked last, among what is asked one after the other."""

    @property
    def distance(self) -> tuple[int, float]:
        """How far from passing: limits that were not reached, then how broken the first one is."""
        assert self.broken is not None
        return -len(self.met), self.broken.nearness


def kind_of(limit: Bottleneck | None) -> str:
    """What would move a limit of the load, by its resource."""
    if limit is None:
        return "nothing"
    if limit.is_of_connections:
        return CONNECTIONS
    if limit.resource in ("sql nodes", "api nodes") or limit.where.startswith(CLIENT_HOST):
        return CLIENTS
    if limit.resource in ("redo log", "redo files"):
        return "disk"
    return limit.resource


def within_budget(plan: Plan, budget: float | None) -> Iterator[Met]:
    """What a cluster costs against a budget, if there is one; what has no price breaks it."""
    if budget is None:
        return
    cost, unit = cost_of(plan), plan.currency or "money"
    if cost.total is None or cost.unpriced:
        told = f"budget: not stated is {' and '.join(cost.unpriced[:2])}"
        yield Met(told, Quantity.exact(2, unit), Quantity.exact(1, unit), PRICE)
    else:
        yield Met("budget", cost.total, Quantity.exact(budget, unit), "money")


def within_times(grown: Estimation, wanted: WantedTimes) -> Iterator[Met]:
    """How long a cluster takes for what has to be done in time."""
    for name, figure_name in _TIMES.items():
        limit = getattr(wanted, name)
        if limit is None:
            continue
        figure = FIGURES[figure_name]
        try:
            taken = figure.of(grown)
        except UserError as error:
            # Of this cluster: the largest of a version takes no further node group.
            title, one, none = f"{figure.title} ({error.what})", *(Quantity.exact(n, "count") for n in (1, 0))
            yield Met(title, one, none, f"within.{name}", is_ratio=False)
        else:
            assert taken is not None
            yield Met(figure.title, taken, Quantity.exact(limit, "s"), f"within.{name}")


def too_many_nodes(begun: Plan, groups: int, clients: Clients) -> Met | None:
    """What a version, or a cluster, may have less of than so many node groups and clients take."""
    replicas, features = no_of_replicas(begun), begun.features
    data = groups * replicas
    for limit, needed, allowed, kind in (
        ("replicas of this version", replicas, features.replicas_most_tested, "version"),
        ("data nodes of this version", data, features.data_nodes_most, "version"),
        ("nodes in all", data + clients.nodes + FIXED_NODES, MOST_NODES, "nodes"),
    ):
        if needed > allowed:
            return Met(limit, Quantity.exact(needed, "count"), Quantity.exact(allowed, "count"), kind)
    return None
