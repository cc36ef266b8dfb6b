"""How near a plan lies to runs that were measured: at one, between them, or beyond all of them.

    plan = Situation(version, nodes=4, ldm=8, rows=1e8, row_bytes=300, disk_bytes_per_s=5e8)
    near = nearness("restart", plan)
    near.mark, near.nearest         # "between", ("8.4.8, 2 M rows", …)

The data is `resources/ndb/measured_runs.json`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ndbplan.base.kept import kept_by_identity, kept_each_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.base.resources import read_json
from ndbplan.base.shapes import Shape
from ndbplan.ndb.evidence import stands_for, unheld
from ndbplan.ndb.version import NdbVersion

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)

Part = TypeVar("Part")

_SAME = math.log(1.25)
"""Figures of two runs that differ by no more count as one."""
_NEAREST = 3
_NOBODY = 3.333
"""Distance of what nobody measured."""


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
    log_parts: float = 4.0
    """Redo log parts of a data node; the product's default is what most runs had."""
    core: float = 1.0
    """Work of a core of its host against the current ones that most runs were measured on."""

    @property
    def logarithms(self) -> tuple[float, ...]:
        """The figures that are compared by their ratio; cores as far as those of the runs are known."""
        *others, core = (math.log(max(1e-3, one)) for one in self[1:])
        return (*others, math.copysign(max(0.0, abs(core) - _SAME), core))


@dataclass(frozen=True, slots=True)
class Nearness(Shape):
    """Where a figure lies among measurements of its kind."""

    JSON = "mark distance nearest rules"

    mark: str
    """`measured`: at a run of its version; `between`: between runs; `beyond`: further than any of them."""
    distance: float
    """How far beyond all runs, as a logarithm of factors; 0: between them."""
    nearest: tuple[str, ...]
    """The runs that are most like it."""
    rules: str
    """What the rules of its version rest on where its own servers were not asked: `interpolated from …`."""
    room: float
    """Factor by which the high end of a range lies further from the value; 1 where only rows are fewer."""
    room_below: float
    """The same of the low end. Times differ: more work makes none shorter, a quicker disk none longer."""

    def widened(self, found: Quantity, most: float = math.inf) -> Quantity:
        """The same figure, its range the wider the further it lies from all runs; `most`: it cannot be more.

        What is certain stays certain.
        """
        if self.is_none or found.low == found.high:
            return found
        high = max(found.high, min(most, found.high * self.room))
        return found.between(found.low / self.room_below, high)

    @property
    def is_none(self) -> bool:
        """Whether ranges stay as they are."""
        return self.room == self.room_below == 1.0

    def widened_in(self, row: Row, names: tuple[str, ...]) -> Row:
        """The same results with the ranges of these figures widened; what is not known stays so."""
        if self.is_none:
            return row
        figures = {name: getattr(row, name) for name in names}
        return replace(row, **{name: self.widened(one) for name, one in figures.items() if one is not None})

    def widened_throughout(self, part: Part) -> Part:
        """A whole result with the range of every figure widened, however deep it lies."""
        return part if self.is_none else _throughout(part, self)


# One object for each nearness: what was widened by it is known again by its identity.
@lru_cache(maxsize=64)
def upwards(near: Nearness) -> Nearness:
    """The same for what has a known floor, as what a disk has to write: the high end alone goes further."""
    return replace(near, room_below=1.0)


@lru_cache(maxsize=64)
def downwards(near: Nearness) -> Nearness:
    """The same for what has a known ceiling, as speeds have: the low end alone goes further."""
    return replace(near, room=1.0, room_below=near.room)


@kept_by_identity(size=96)
def _throughout(part: Any, near: Nearness) -> Any:
    if isinstance(part, Quantity):
        return near.widened(part)
    if not isinstance(part, tuple):
        return _parts([(part, near)])[0]
    found = iter(_parts([(one, near) for one in part if isinstance(one, Shape)]))
    return tuple([next(found) if isinstance(one, Shape) else one for one in part])


@kept_each_by_identity(size=2400)
def _parts(asked: Sequence[tuple[Any, Nearness]]) -> list[Any]:
    """Nodes and hosts one by one, as an edit changes few of them; figures that several share stay shared."""
    shared: dict[tuple[int, int], Quantity] = {}
    return [_part(one, near, shared) for one, near in asked]


def _part(part: Any, near: Nearness, shared: dict[tuple[int, int], Quantity]) -> Any:
    found = {name: getattr(part, name) for name in _names(part.__class__)}
    for name, one in found.items():
        if isinstance(one, Quantity):
            if name in part.SHARES:
                found[name] = near.widened(one, 1.0)
                continue
            wider = shared.get((id(one), id(near)))
            if wider is None:
                wider = shared[id(one), id(near)] = near.widened(one)
            found[name] = wider
        elif isinstance(one, Shape | tuple):
            found[name] = _throughout(one, near)
    return part.__class__(**found)


@cache
def _names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _compared(kind: str) -> tuple[bool, ...]:
    """Which of `Situation.logarithms` matter to a kind."""
    other = read_json("ndb/measured_runs.json")["does_not_matter"].get(kind, [])
    return tuple(name not in other for name in Situation._fields[1:])


@cache
def _directions(kind: str) -> tuple[int, ...]:
    """Of each of `Situation.logarithms`: 1: more of it makes no figure less; -1: none more; 0: either."""
    lawful = read_json("ndb/measured_runs.json")["lawful"].get(kind, {})
    less, more = lawful.get("never_less", ()), lawful.get("never_more", ())
    return tuple((name in less) - (name in more) for name in Situation._fields[1:])


@cache
def _room(kind: str, distance: float) -> float:
    """How much wider ranges of a kind are so far from all runs."""
    rates = read_json("ndb/measured_runs.json")["wider"]
    rate = rates.get(kind, rates["others"])
    return math.exp(min(rate["most"], rate["per_unit"] * distance))


def kinds() -> tuple[str, ...]:
    """What there may be measurements of."""
    return tuple(read_json("ndb/measured_runs.json")["kinds"])


@cache
def _runs(kind: str) -> tuple[tuple[str, Situation], ...]:
    runs = []
    for run in read_json("ndb/measured_runs.json")["kinds"][kind]:
        figures = {name: run[name] for name in Situation._fields[1:] if name in run}
        runs.append((run["run"], Situation(NdbVersion.parse(run["version"]), **figures)))
    return tuple(runs)


def slowest_disk_bytes_per_s(kind: str) -> float:
    """What the slowest disk of all runs of a kind writes in order; 0: there is no run."""
    return min((run.disk_bytes_per_s for _, run in _runs(kind)), default=0.0)


@lru_cache(maxsize=64)
def nearness(kind: str, plan: Situation) -> Nearness:
    """Of a figure of one of the `kinds`: an operation, `load` or `storage`."""
    runs, version = _runs(kind), stands_for(plan.version)
    rules = unheld(version)
    if not runs:
        room = _room(kind, _NOBODY)
        return Nearness("beyond", _NOBODY, (), rules, room, room)
    # Of a cluster without rows it matters to nobody how many there are and what a row is.
    empty = [plan.rows >= 1 or name not in ("rows", "row_bytes") for name in Situation._fields[1:]]
    chosen = [a and b for a, b in zip(_compared(kind), empty, strict=True)]
    own = tuple(compress(plan.logarithms, chosen))
    others = [tuple(compress(run.logarithms, chosen)) for _, run in runs]
    sides = [
        (max(0.0, min(side) - one), max(0.0, one - max(side)))
        for one, side in zip(own, zip(*others, strict=True), strict=True)
    ]
    beyond = [max(side) for side in sides]
    versions = [run.version for _, run in runs]
    # A version older or newer than all that were measured lies as far away as a factor of two.
    is_outside = not min(versions) <= version <= max(versions)
    older = math.log(2) if is_outside else 0.0
    distance = round(math.hypot(*beyond, older), 3)
    weights = tuple(compress(_weights(plan.rows, min(run.rows for _, run in runs)), chosen))
    directions = tuple(compress(_directions(kind), chosen))
    fields = tuple(compress(Situation._fields[1:], chosen))
    below, above = (
        round(math.hypot(*_towards(end, fields, sides, weights, directions), older), 3) for end in (-1, 1)
    )
    apart = [
        (math.dist(own, other), run.version != version, name)
        for (name, run), other in zip(runs, others, strict=True)
    ]
    at_one = any(
        run.version == version and all(abs(a - b) <= _SAME for a, b in zip(own, other, strict=True))
        for (_, run), other in zip(runs, others, strict=True)
    )
    mark = "measured" if at_one else "beyond" if distance else "between"
    nearest = tuple(name for *_, name in sorted(apart)[:_NEAREST])
    return Nearness(mark, distance, nearest, rules, _room(kind, above), _room(kind, below))


def _towards(
    end: int,
    fields: Sequence[str],
    sides: Sequence[tuple[float, float]],
    weights: Sequence[float],
    directions: Sequence[int],
) -> Iterator[float]:
    """How far beyond all runs a plan lies in each figure, as far as that makes an end of a range uncertain.

    `end`: 1 the high one, -1 the low one. Where more of a figure never takes less time, having more than in
    any run leaves the low end of the range, and having less the high one: the runs bound them.
    """
    for field, (fewer, more), weight, direction in zip(fields, sides, weights, directions, strict=True):
        if not direction:
            yield max(fewer, more) * weight
        elif field == "row_bytes" and end < 0:
            # What is counted for each row is known: smaller rows take no less, however many there are.
            yield 0.0
        else:
            yield (more if direction == end else fewer) * weight


def _weights(rows: float, fewest: float) -> tuple[float, ...]:
    """How much less is known for each of `Situation.logarithms` that lies beyond all runs.

    With fewer rows than in any run there is less work, not another one: what stays are waits that do not ask
    for rows, and what a row is counts the less the fewer there are.
    """
    of_rows = min(1.0, rows / fewest) if fewest > 0 else 1.0
    known = {"rows": 0.0 if rows < fewest else 1.0, "row_bytes": of_rows}
    return tuple(known.get(name, 1.0) for name in Situation._fields[1:])
