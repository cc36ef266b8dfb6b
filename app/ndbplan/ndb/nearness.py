"""How near a plan lies to runs that were measured: at one, between them, or beyond all of them.

    plan = Situation(version, nodes=4, ldm=8, rows=1e8, row_bytes=300, disk_bytes_per_s=5e8)
    near = nearness("restart", plan)
    near.mark, near.nearest         # "between", ("8.4.8, 2 M rows", …)

The data is `resources/ndb/measured_runs.json`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import compress
from typing import NamedTuple

from ndbplan.base.quantity import Quantity
from ndbplan.base.resources import read_json
from ndbplan.base.shapes import Shape
from ndbplan.ndb.version import NdbVersion

_SAME = math.log(1.25)
"""Figures of two runs that differ by no more count as one."""
_PER_UNIT = 0.06
"""How much further an end of a range goes, on the scale of factors, for each unit of distance."""
_MOST = 0.2
"""No end of a range goes further than this."""
_NEAREST = 3


class Situation(NamedTuple):
    """What decides whether a run is like another."""

    version: NdbVersion
    nodes: float
    ldm: float
    """LDM threads of a data node."""
    rows: float
    """Of a data node."""
    row_bytes: float
    disk_bytes_per_s: float
    """What its disk writes in order."""

    @property
    def logarithms(self) -> tuple[float, ...]:
        """The figures that are compared by their ratio."""
        return tuple(math.log(max(1e-3, one)) for one in self[1:])


@dataclass(frozen=True, slots=True)
class Nearness(Shape):
    """Where a figure lies among measurements of its kind."""

    JSON = "mark distance nearest"

    mark: str
    """`measured`: at a run of its version; `between`: between runs; `beyond`: further than any of them."""
    distance: float
    """How far beyond all runs, as a logarithm of factors; 0: between them."""
    nearest: tuple[str, ...]
    """The runs that are most like it."""

    def widened(self, found: Quantity) -> Quantity:
        """The same figure, its range the wider the further it lies from all runs."""
        room = math.exp(min(_MOST, _PER_UNIT * self.distance))
        if room == 1.0:
            return found
        return Quantity(found.value, found.low / room, found.high * room, found.unit, found.why)


@cache
def _compared(kind: str) -> tuple[bool, ...]:
    """Which of `Situation.logarithms` matter to a kind."""
    other = read_json("ndb/measured_runs.json")["does_not_matter"].get(kind, [])
    return tuple(name not in other for name in Situation._fields[1:])


def kinds() -> tuple[str, ...]:
    """What there may be measurements of."""
    return tuple(read_json("ndb/measured_runs.json")["kinds"])


@cache
def _runs(kind: str) -> tuple[tuple[str, Situation], ...]:
    found = []
    for run in read_json("ndb/measured_runs.json")["kinds"][kind]:
        figures = (run[name] for name in Situation._fields[1:])
        found.append((run["run"], Situation(NdbVersion.parse(run["version"]), *figures)))
    return tuple(found)


def nearness(kind: str, plan: Situation) -> Nearness:
    """Of a figure of one of the `kinds`: an operation, `load` or `storage`."""
    runs = _runs(kind)
    if not runs:
        return Nearness("beyond", round(_MOST / _PER_UNIT, 3), ())
    # Of a cluster without rows it matters to nobody how many there are and what a row is.
    empty = (True, True, False, False, True) if plan.rows < 1 else (True,) * 5
    chosen = [a and b for a, b in zip(_compared(kind), empty, strict=True)]
    own = tuple(compress(plan.logarithms, chosen))
    others = [tuple(compress(run.logarithms, chosen)) for _, run in runs]
    beyond = [
        max(0.0, min(side) - one, one - max(side))
        for one, side in zip(own, zip(*others, strict=True), strict=True)
    ]
    versions = [run.version for _, run in runs]
    # A version older or newer than all that were measured lies as far away as a factor of two.
    is_outside = not min(versions) <= plan.version <= max(versions)
    distance = math.hypot(*beyond, math.log(2) if is_outside else 0.0)
    apart = [
        (math.dist(own, other), run.version != plan.version, name)
        for (name, run), other in zip(runs, others, strict=True)
    ]
    at_one = any(
        run.version == plan.version and all(abs(a - b) <= _SAME for a, b in zip(own, other, strict=True))
        for (_, run), other in zip(runs, others, strict=True)
    )
    mark = "measured" if at_one else "beyond" if distance else "between"
    return Nearness(mark, round(distance, 3), tuple(name for *_, name in sorted(apart)[:_NEAREST]))
