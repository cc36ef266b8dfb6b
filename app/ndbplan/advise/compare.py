"""Plans side by side: what differs between them, their headline figures, and which differences are sure.

    found = compare([("Main", now), ("More cores", other)])
    found.differences[0].values, found.rows[0].judged

Every column is judged against the first one. A number from a closed form is better or worse where the ranges
do not overlap; where a simulation decides and they do, both plans run in the same drawn worlds (`paired`),
and one is better that is so in nearly all of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from ndbplan.advise.figures import FIGURES, Figure, settled_between
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.kept import Kept, keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.checks.settled import Settled
from ndbplan.edits.changes import ValueChange, value_changes
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Workload

if TYPE_CHECKING:
    from ndbplan.advise.paired import Simulated
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.plan.plan import Plan


class Judgement(StrEnum):
    """What a number is against that of the first column."""

    BETTER = "better"
    WORSE = "worse"
    WITHIN = "within the uncertainty"


BETTER, WORSE, WITHIN = Judgement
PER_COST = ("cost-per-load", "cost-per-tb")
"""Figures that rest on the cost."""
Column = tuple[str, "Estimation"]
MOST_COLUMNS = 4
WORLDS = 20
"""Drawn worlds in which two plans run at most."""
_FIRST_WORLDS = 8
"""Where all of these agree, no more are asked."""
_MOST_DISSENT = 0.05
_SAME = 0.005
"""Results of two runs that are nearer than this are the same: the search for a rate is no finer."""


_NAMED = 3
_SAME_MIDDLE = 0.03
_OTHER_SPREAD = 2.0
"""So many times as wide is another spread."""


@dataclass(frozen=True)
class Difference(Shape):
    """One value in which the plans differ."""

    JSON = "where kind values"

    name: str
    """Of the field or parameter; nothing where a whole part is there or not."""
    place: str
    """What it is of, in words."""
    kind: str
    """parts, parameters, hardware, tables, load or plan."""
    values: tuple[str | float | None, ...]
    """One for each column; None: it is not there, or has its default."""
    shown: tuple[str, ...]
    """The same as people read them."""

    @property
    def where(self) -> str:
        """What differs, in words."""
        return " of ".join(filter(None, (self.name, self.place)))


@dataclass(frozen=True)
class Row(Shape):
    """One headline figure of all plans."""

    JSON = "figure title unit values=printed judged notes spread"

    figure: str
    title: str
    unit: str
    values: tuple[Quantity | None, ...]
    judged: tuple[Judgement | None, ...]
    """None: of the first column, where neither way is better, or where it cannot be told."""
    notes: tuple[str, ...]
    """For each column why there is no number, or what a sum leaves out; else nothing."""
    spread: tuple[str, ...]
    """`narrower` or `wider` where drawn worlds differ far more in one plan than in the first, but not in the
    middle: the same mean, another spread; nothing for all others."""
    winners: tuple[int, ...]
    """The columns that beat another one and that none beats, each judged against each."""

    @property
    def printed(self) -> tuple[Quantity | float | None, ...]:
        """The values: exact counts are plain numbers."""
        return tuple(
            value.value if value is not None and value.unit == "count" and value.low == value.high else value
            for value in self.values
        )


@dataclass(frozen=True)
class Comparison(Shape):
    """Plans side by side."""

    JSON = "columns differences figures=rows problems"

    columns: tuple[str, ...]
    differences: tuple[Difference, ...]
    rows: tuple[Row, ...]
    problems: tuple[Settled, ...]
    """Of each column but the first what it settles and brings; nothing where no figure counts problems."""


@dataclass
class _Compared:
    """One comparison while it is worked out."""

    columns: Sequence[Column]
    worlds: int
    duration_s: float
    cancelled: Callable[[], bool] | None
    kept: Kept
    _values: dict[tuple[str, int], tuple[Quantity | None, str]] = field(default_factory=dict)
    _loads: dict[tuple[int, int], float] = field(default_factory=dict)
    _runs: dict[tuple[int, int], Simulated] = field(default_factory=dict)
    _spread: dict[tuple[str, int], str] = field(default_factory=dict)

    def row(self, figure: Figure) -> Row:
        """The figure of every column, and how each is judged."""
        values, notes = zip(*(self.value(figure, place) for place in range(len(self.columns))), strict=True)
        judged: list[Judgement | None] = [None]
        # No number because a plan is incomplete is not the best one, such as no error at all.
        known = [value is not None or not note for value, note in zip(values, notes, strict=True)]
        judged += [
            self._judged(figure, 0, place, values) if known[0] and known[place] else None
            for place in range(1, len(values))
        ]
        winners = self._winners(figure, judged, values)
        unit = next((value.unit for value in values if value is not None), figure.unit)
        spread = tuple(self._spread.get((figure.name, place), "") for place in range(len(values)))
        return Row(
            figure.name, figure.title, figure.unit or unit, values, tuple(judged), notes, spread, winners
        )

    def value(self, figure: Figure, place: int) -> tuple[Quantity | None, str]:
        """The figure of one column, and why there is none or what it leaves out."""
        known = self._values.get((figure.name, place))
        if known is None:
            known = self._values[figure.name, place] = self._worked_out(figure, self.columns[place][1])
        return known

    def _worked_out(self, figure: Figure, now: Estimation) -> tuple[Quantity | None, str]:
        if self.cancelled is not None and self.cancelled():
            raise Cancelled
        try:
            value = figure.of(now)
        except UserError as error:
            return None, error.what
        if value is None and figure.none_is_best and now.workload is None:
            return None, "nobody asks for anything"
        is_money = figure.name == "cost" or figure.name in PER_COST
        return value, _left_out(now) if is_money and value is not None else ""

    def _winners(
        self, figure: Figure, judged: Sequence[Judgement | None], values: Sequence[Quantity | None]
    ) -> tuple[int, ...]:
        """Where one column beats another, those that neither the first nor one of them beats."""
        if BETTER in judged:
            best = [place for place, one in enumerate(judged) if one == BETTER]
        elif WORSE in judged:
            best = [place for place, one in enumerate(judged) if place == 0 or one == WITHIN]
        else:
            return ()
        return tuple(
            place
            for place in best
            if not any(
                self._judged(figure, place, other, values) == BETTER for other in best if other != place
            )
        )

    def _judged(
        self, figure: Figure, against: int, place: int, values: Sequence[Quantity | None]
    ) -> Judgement | None:
        first, other = self.columns[against][1], self.columns[place][1]
        one, two = values[against], values[place]
        if not figure.better:
            return None
        if figure.measured_as == "load" and (first.workload is None or other.workload is None):
            # Where nobody asks for anything, no error is no merit.
            return None
        if first.plan == other.plan and first.workload == other.workload:
            return WITHIN if one is not None or figure.none_is_best else None
        if figure.name == "cost":
            return judge_cost(first.plan, other.plan)
        if figure.name in PER_COST:
            # Where other parts have no price, less is no less.
            is_told = judge_cost(first.plan, other.plan) is not None
            return judge(figure, one, two) if is_told else None
        if (
            figure.simulated
            and self.worlds
            and (one is not None or figure.none_is_best)
            and _may_be_either(one, two)
        ):
            return self._in_worlds(figure, against, place)
        return judge(figure, one, two)

    def _in_worlds(self, figure: Figure, against: int, place: int) -> Judgement:
        """What the same drawn worlds make of both."""
        sign = 1.0 if figure.better == "higher" else -1.0
        won = lost = done = 0
        seen: list[tuple[float, float]] = []
        for numbers in (range(min(_FIRST_WORLDS, self.worlds)), range(_FIRST_WORLDS, self.worlds)):
            for one, two in self._pairs(figure, against, place, numbers):
                seen.append((one, two))
                gain = _gain(sign * one, sign * two)
                won, lost, done = won + (gain > 0), lost + (gain < 0), done + 1
            if done in (won, lost) or done - max(won, lost) > _MOST_DISSENT * self.worlds:
                break
        if max(won, lost) < (1 - _MOST_DISSENT) * done:
            if against == 0:
                self._spread[figure.name, place] = _other_spread(*zip(*seen, strict=True))
            return WITHIN
        return BETTER if won > lost else WORSE

    def _pairs(
        self, figure: Figure, against: int, place: int, numbers: Iterable[int]
    ) -> Iterator[tuple[float, float]]:
        asked = [(column, number) for number in numbers for column in (against, place)]

        def work(one: tuple[int, int]) -> float:
            with keeping(self.kept):
                return self._in_world(figure.name, *one)

        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            found = list(pool.map(work, asked))
        yield from zip(found[::2], found[1::2], strict=True)

    def _in_world(self, name: str, column: int, number: int) -> float:
        from ndbplan.advise.paired import highest, simulated

        now = self.columns[column][1]
        if name == "max-load":
            if (column, number) not in self._loads:
                self._loads[column, number] = highest(now, number, self.duration_s, self.cancelled)
            return self._loads[column, number]
        if (column, number) not in self._runs:
            self._runs[column, number] = simulated(now, number, self.cancelled)
        run = self._runs[column, number]
        return {"first-error": run.first_error_s, "accepted": run.accepted_per_s, "latency": run.latency_s}[
            name
        ]


def compare(
    columns: Sequence[Column],
    figures: Iterable[Figure] = tuple(FIGURES.values()),
    *,
    worlds: int = WORLDS,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """The plans, each with its workload, side by side; the first is what the others are judged against.

    `worlds`: in so many drawn worlds a simulated figure is judged at most; 0: by its ranges alone. Raises
    UserError for fewer than 2 or more than MOST_COLUMNS of them, Cancelled when told to stop.
    """
    if not 2 <= len(columns) <= MOST_COLUMNS:
        raise UserError(
            f"{len(columns)} plans cannot be compared", where="columns", fix=f"name 2 to {MOST_COLUMNS}"
        )
    from ndbplan.advise.max_load import DEFAULT_S

    asked = list(figures)
    rows: list[Row] = []
    with keeping() as kept:
        compared = _Compared(columns, worlds, DEFAULT_S, cancelled, kept)
        # Plan by plan: what the figures of one share is still known.
        steps = [*product(range(len(columns)), asked), *((None, figure) for figure in asked)]
        for done, (place, figure) in enumerate(steps, 1):
            if place is None:
                rows.append(compared.row(figure))
            else:
                compared.value(figure, place)
            if progress is not None:
                progress(done / len(steps))
        problems: tuple[Settled, ...] = ()
        if any(figure.counts_problems for figure in asked):
            problems = tuple(settled_between(columns[0][1], now) for _, now in columns[1:])
    plans = [now.plan for _, now in columns]
    return Comparison(tuple(name for name, _ in columns), differences(plans), tuple(rows), problems)


def judge(figure: Figure, one: Quantity | None, two: Quantity | None) -> Judgement | None:
    """The second number against the first, by their ranges alone; None: it cannot be told."""
    if not figure.better:
        return None
    if one is None or two is None:
        if not figure.none_is_best:
            return None
        return WITHIN if one is two else BETTER if two is None else WORSE
    if one.low <= two.high and two.low <= one.high:
        return WITHIN
    return BETTER if (two.value > one.value) == (figure.better == "higher") else WORSE


def _may_be_either(one: Quantity | None, two: Quantity | None) -> bool:
    """Whether the ranges leave open which is the larger."""
    return one is None or two is None or (one.low <= two.high and two.low <= one.high)


def _gain(one: float, two: float) -> float:
    """Above 0: the second is more, below: less; 0 where they are the same, infinite ones too."""
    if one == two or (math.isfinite(one) and math.isfinite(two) and math.isclose(one, two, rel_tol=_SAME)):
        return 0.0
    return two - one


def _other_spread(one: Sequence[float], two: Sequence[float]) -> str:
    """Whether the second numbers lie `wider` or `narrower` about the same middle; nothing: neither."""
    if len(one) < _FIRST_WORLDS or not all(map(math.isfinite, (*one, *two))):
        return ""
    (first, wide), (other, than) = ((median(each), _width(each)) for each in (one, two))
    if not math.isclose(first, other, rel_tol=_SAME_MIDDLE) or max(wide, than) <= _SAME * max(
        abs(first), abs(other)
    ):
        return ""
    if _OTHER_SPREAD * wide < than:
        return "wider"
    return "narrower" if _OTHER_SPREAD * than < wide else ""


def _width(values: Sequence[float]) -> float:
    """From the lowest quarter to the highest."""
    low, _, high = quantiles(values, n=4)
    return high - low


def _left_out(now: Estimation) -> str:
    """What the cost of a plan leaves out, as nobody says what it costs."""
    from ndbplan.advise.cost import cost_of

    names = cost_of(now.plan).not_stated
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"not stated: {', '.join(names[:_NAMED])}{more}" if names else ""


def judge_cost(first: Plan, other: Plan) -> Judgement | None:
    """The cost of the second plan against that of the first, by what the step costs, both ways.

    What is not stated never counts as nothing.
    """
    from ndbplan.advise.cost import cost_of, cost_of_change

    if first.currency != other.currency:
        return None
    there, back = cost_of_change(first, other), cost_of_change(other, first)
    if there is None or back is None:
        return None
    one, two = cost_of(first), cost_of(other)
    if {*one.not_stated} != {*two.not_stated} or (one.total is None and two.total is None):
        return None
    return WITHIN if there.value == 0 else BETTER if there.value < 0 else WORSE


_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("hardware", (Host, Disk, Location)),
    ("tables", (Table, Tablespace, LogfileGroup)),
    ("load", (Workload,)),
)


def differences(plans: Sequence[Any]) -> tuple[Difference, ...]:
    """Every value in which any plan differs from the first: parts, hardware, parameters, tables, load."""
    first = plans[0]
    found: dict[tuple[str, str], dict[int, ValueChange]] = {}
    for place, plan in enumerate(plans[1:], 1):
        for change in value_changes(first, plan):
            found.setdefault((change.scope, change.name), {})[place] = change
    rows = [
        _difference(changes, len(plans), _kind(next(iter(changes.values())), plans))
        for changes in found.values()
    ]
    order = ("parts", "hardware", "parameters", "tables", "load", "plan")
    return tuple(sorted(rows, key=lambda row: order.index(row.kind)))


def _difference(changes: dict[int, ValueChange], columns: int, kind: str) -> Difference:
    one = next(iter(changes.values()))
    name = "" if one.name == "object" else one.name
    values = [one.names[0] or one.plain_before] * columns
    shown = [one.shown[0]] * columns
    for place, change in changes.items():
        values[place], shown[place] = change.names[1] or change.plain_after, change.shown[1]
    return Difference(name, one.where, kind, tuple(values), tuple(shown))


def _kind(change: ValueChange, plans: Sequence[Any]) -> str:
    if change.name == "object":
        return "parts"
    if change.is_parameter:
        return "parameters"
    part = next((plan.by_id[change.scope] for plan in plans if change.scope in plan.by_id), None)
    of_kind = (kind for kind, types in _KINDS if isinstance(part, types))
    return next(of_kind, "plan" if part is None else "parts")
