"""A sweep: some inputs of a plan varied together, and what each combination does to its headline figures.

    asked = Sweep(plan, (vary(plan, "redo.disk.write=100..800MB/s:8"),), (FIGURES["max-load"],))
    for row in asked.rows(): ...

A cell is the plan with one value of each input, set as `ndbplan set` does; its numbers are those that the
commands of the figures print for that plan. Cells know nothing of one another, so that any number of workers
gives the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import NamedTuple

from ndbplan.advise.executors import each_of
from ndbplan.advise.figures import FIGURES
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.kept import keeping
from ndbplan.base.precision import checked_precision, precise
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_percent, whole_number
from ndbplan.edits.address import resolve
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import value_changes
from ndbplan.edits.places import Path
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.plan.plan import Plan

MOST_CELLS = 100_000
_MOST_VALUES = 10_000
_DIGITS = "+-.0123456789eE "
_AT_ONCE = 8
"""Pieces of the work for each worker: few enough to hand out, small enough that little is lost."""


class Varied(NamedTuple):
    """One input and its values, as `ndbplan set` takes them."""

    address: str
    values: tuple[str, ...]


class Row(NamedTuple):
    """One cell: its number in the grid, and (value, low, high) of each figure, or why there are none."""

    number: int
    figures: tuple[tuple[float, float, float] | None, ...]
    error: str = ""


def vary(plan: Plan, text: str) -> Varied:
    """An input as typed: `RedoBuffer=32M,64M` or `redo.disk.write=100..800MB/s:8`, ends included.

    Every value is set once, of a range its ends, so that all are known to be taken. Raises UserError that
    names the value.
    """
    address, equals, values = text.partition("=")
    if not equals or not address.strip() or not values.strip():
        raise UserError(
            f"'{text[:80]}' varies nothing", fix="write ADDRESS=VALUE,VALUE… or ADDRESS=FROM..TO:COUNT"
        )
    address = address.strip()
    ends, colon, count = values.strip().rpartition(":")
    first, dots, last = ends.partition("..")
    if colon and dots:
        return Varied(address, _between(plan, address, first.strip(), last.strip(), count))
    typed = tuple(dict.fromkeys(one.strip() for one in values.split(",")))
    if "" in typed:
        raise UserError(f"'{text[:80]}' has an empty value", fix="take the comma away")
    bare = [one for one in typed if not one.lstrip(_DIGITS)]
    units = [unit for one in typed if one[:1].isdecimal() and (unit := one.lstrip(_DIGITS))]
    if bare and units:
        # 30,60MB/s: thirty bytes a second are hardly meant, and could be.
        raise UserError(
            f"'{text[:80]}': {bare[0][:20]} has no unit, and others have one",
            where=address,
            fix=f"write {bare[0][:20]}{units[0][:20]}, or give none of them a unit",
        )
    for value in typed:
        try:
            assign(plan, f"{address}={value}")
        except UserError as error:
            if ".." not in value:
                raise
            fix = f"write how many: {value[:60]}:8"
            raise UserError(f"'{value[:60]}' is two ends", where=error.where or address, fix=fix) from None
    return Varied(address, typed)


def _between(plan: Plan, address: str, first: str, last: str, count_text: str) -> tuple[str, ...]:
    count = whole_number(count_text)
    if count is None or not 2 <= count <= _MOST_VALUES:
        raise UserError(
            f"'{count_text[:20]}' values between two ends", where=address, fix=f"write 2 to {_MOST_VALUES}"
        )
    if not first.lstrip(_DIGITS):
        # 100..800MB/s: the unit of the end is that of the beginning.
        first += last.lstrip(_DIGITS)
    low, high = (_number(plan, address, text) for text in (first, last))
    step = (high - low) / (count - 1)
    if isinstance(low, int) and isinstance(high, int):
        return tuple(dict.fromkeys(str(round(low + step * i)) for i in range(count)))
    return tuple(f"{low + step * i:.12g}" for i in range(count))


def _number(plan: Plan, address: str, typed: str) -> float:
    """The number that a value means at an address. Raises UserError."""
    _, changes = assign(plan, f"{address}={typed}")
    value = changes[0].after
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UserError(
            f"{address} is not a number, so nothing lies between two values",
            fix="write the values with commas",
        )
    return value


def _as_it_is(plan: Plan, one: Varied) -> str:
    same = (v for v in one.values if not value_changes(plan, assign(plan, f"{one.address}={v}")[0]))
    return next(same, one.values[len(one.values) // 2])


@dataclass(frozen=True)
class Sweep:
    """What is varied, and what is asked of each combination."""

    plan: Plan
    varied: tuple[Varied, ...]
    measures: tuple[str, ...]
    """Names of headline figures."""
    workload_id: str | None = None
    precision: float | None = None
    """How well the mean of what is simulated is to be known; None: the likeliest world alone."""
    alone: bool = False
    """Whether each input is varied by itself, the others with what stands for them."""

    def __post_init__(self) -> None:
        if self.precision is not None:
            checked_precision(self.precision)
            if set(self.measures) <= set(self.in_closed_form):
                names, asked = " and ".join(self.measures), format_percent(self.precision)
                raise UserError(
                    f"no world is drawn for {names}: a precision of {asked} changes nothing",
                    where="--precision",
                    fix=f"leave it out, or measure {', '.join(_DRAWN)} of a plan with a load",
                )
        self._is_each_varied_once()
        if self.count > MOST_CELLS:
            raise UserError(
                f"{self.count} combinations are too many: a sweep has at most {MOST_CELLS}",
                fix="vary fewer inputs, or give them fewer values",
            )

    def _is_each_varied_once(self) -> None:
        """Raises UserError where two inputs set the same field: rows would have what they do not say."""
        by_path: dict[Path, str] = {}
        for one in self.varied:
            for place in resolve(self.plan, one.address):
                other = by_path.setdefault(place.path, one.address)
                if other is not one.address:
                    raise UserError(
                        f"'{other[:80]}' and '{one.address[:80]}' both set {place.address(self.plan)[:80]}",
                        fix="write all values of an input into one --vary, and vary each field once",
                    )

    @property
    def in_closed_form(self) -> tuple[str, ...]:
        """The figures that a precision says nothing of: one value in each cell, with its range."""
        is_loaded = bool(self.plan.workloads)
        return tuple(name for name in self.measures if name not in _DRAWN or not is_loaded)

    @property
    def count(self) -> int:
        """Cells of the grid, or of one line through it for each input."""
        counts = [len(one.values) for one in self.varied]
        return 1 + sum(counts) - len(counts) if self.alone else math.prod(counts)

    @cached_property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The values of each cell, the last input changing fastest; each alone: one input after the other."""
        if not self.alone:
            return tuple(product(*(one.values for one in self.varied)))
        lines = (self.line(at) for at in range(len(self.varied)))
        return tuple(dict.fromkeys(cell for line in lines for cell in line)) or ((),)

    @cached_property
    def middle(self) -> tuple[str, ...]:
        """What stands for inputs that stay: what the plan has, where that is not among its values the one in
        their middle."""
        return tuple(_as_it_is(self.plan, one) for one in self.varied)

    def line(self, at: int) -> tuple[tuple[str, ...], ...]:
        """The cells in which one input alone has each of its values."""
        middle = self.middle
        return tuple((*middle[:at], value, *middle[at + 1 :]) for value in self.varied[at].values)

    def plan_of(self, cell: Sequence[str]) -> Plan:
        """The plan of a cell. Raises UserError where the values do not go together."""
        plan = self.plan
        for one, value in zip(self.varied, cell, strict=True):
            plan = assign(plan, f"{one.address}={value}")[0]
        return plan

    def row(self, number: int) -> Row:
        """The figures of one cell, each by itself; without those that its plan has not, and why."""
        try:
            plan = self.plan_of(self.cells[number])
            workload = chosen_workload(plan, self.workload_id)
        except UserError as error:
            return Row(number, (None,) * len(self.measures), error.line)
        found: list[tuple[float, float, float] | None] = []
        without: dict[str, list[str]] = {}
        with keeping():
            now = Estimation(plan, workload)
            for name in self.measures:
                q = None
                try:
                    q = self._figure(name, now)
                except UserError as error:
                    without.setdefault(error.line, []).append(name)
                found.append(None if q is None else (q.value, q.low, q.high))
        return Row(number, tuple(found), self._told(without))

    def _told(self, without: Mapping[str, Sequence[str]]) -> str:
        """Why there are no figures; of some of them with their names."""
        if [len(names) for names in without.values()] == [len(self.measures)]:
            return next(iter(without))
        return "; ".join(f"{', '.join(names)}: {line}" for line, names in without.items())

    def _figure(self, name: str, now: Estimation) -> Quantity | None:
        if self.precision is None or name not in _DRAWN or now.workload is None:
            return FIGURES[name].of(now)
        draw = _DRAWN[name]
        return precise(
            lambda numbers: [draw(now, number) for number in numbers], self.precision, FIGURES[name].unit
        ).mean

    def rows(
        self,
        known: Mapping[int, Row] | None = None,
        *,
        workers: int = 1,
        scheduler: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[Row]:
        """Every row that is not known, as they come; `scheduler`: of a Dask cluster. Raises Cancelled."""
        left = [number for number in range(self.count) if number not in (known or {})]
        size = max(1, min(64, len(left) // (workers * _AT_ONCE)))
        pieces = [tuple(islice(left, i, i + size)) for i in range(0, len(left), size)]
        for done in each_of(_work, [(self, piece) for piece in pieces], workers=workers, scheduler=scheduler):
            yield from done
            if cancelled():
                raise Cancelled


def _highest(now: Estimation, number: int) -> float:
    from ndbplan.advise.max_load import DEFAULT_S
    from ndbplan.advise.paired import highest

    return highest(now, number, DEFAULT_S)


def _simulated(field: str) -> Callable[[Estimation, int], float]:
    def draw(now: Estimation, number: int) -> float:
        from ndbplan.advise.paired import simulated

        return float(getattr(simulated(now, number), field))

    return draw


_DRAWN: Mapping[str, Callable[[Estimation, int], float]] = {
    "max-load": _highest,
    "accepted": _simulated("accepted_per_s"),
    "latency": _simulated("latency_s"),
}
"""Figures that are another number in each drawn world."""


def _work(asked: tuple[Sweep, tuple[int, ...]]) -> tuple[Row, ...]:
    sweep, numbers = asked
    # Cells differ in what is varied alone: the rest is worked out once for a piece.
    with keeping():
        return tuple(sweep.row(number) for number in numbers)
