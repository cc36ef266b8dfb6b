"""What matters most: every legal single change of a plan, ranked by what it gains for one headline figure.

    found = what_matters(estimation_of(plan), FIGURES["max-load"], top=20)
    found.changes[0].title, found.changes[0].gain

A row's numbers are those that the command of the figure gives without and with the change. The highest load
is searched for only where a change can raise it: one that leaves everything the simulation reads as it was
changes nothing, and one whose rate just above the present one does not hold gains nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.advise.aims import Aim, HighestLoad
from ndbplan.advise.candidate import Change
from ndbplan.advise.candidates import Legal, single_changes, ways_beyond
from ndbplan.advise.cost import cost_of, cost_of_change
from ndbplan.advise.executors import count_of_pieces, each_of
from ndbplan.advise.extent import Extent, extent_of
from ndbplan.advise.figures import FIGURES, Figure
from ndbplan.advise.remedies import set_arguments
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_value
from ndbplan.edits.changes import credited, value_changes
from ndbplan.plan.origins import SetByProgram
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.plan.workloads import Workload

TOP = 20
_WORKERS = 2
_EARLY = 8
"""Of a kind that is likely to gain so many are tried before all others."""
_FIX = "fix"
"""What a change is that a check offers, see `Change.what`."""


@dataclass(frozen=True)
class Mattering(Shape):
    """One change, and the figure before and after it."""

    JSON = "title set before after gain cost why what"

    title: str
    edit: Callable[[Plan], Plan]
    what: str
    set: tuple[str, ...] | None
    """Arguments with which `ndbplan set PLAN` makes it; None: it takes more than values."""
    before: Quantity | None
    after: Quantity | None
    """None: there is none, such as no error at all."""
    gain: float
    """How much better the figure becomes, in its unit; below 0: worse."""
    cost: Quantity | None
    """What the change adds to the plan's cost; None: a price that it needs is not stated."""
    why: str
    hints: int
    """Of how many more rules the plan then has hints."""
    extent: Extent
    """How much of the cluster it touches."""
    includes: str = ""
    """See `Change.includes`."""


@dataclass(frozen=True)
class WhatMatters(Shape):
    """The changes that were found, best first."""

    JSON = "aim=aim_name before changes tried legal_gains by_cost"

    figure: Figure
    before: Quantity | None
    changes: tuple[Mattering, ...]
    tried: int
    """Changes that can be made at all."""
    legal_gains: int
    """Those of them that gain and do no harm."""
    by_cost: bool
    """Whether gain per cost ranks; else the gain alone, as no price is stated."""

    @property
    def aim_name(self) -> str:
        """Name of the figure."""
        return self.figure.name


def what_matters(
    now: Estimation,
    figure: Figure,
    *,
    top: int | None = TOP,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    found: Callable[[Mattering], None] = lambda row: None,
    workers: int = 1,
    scheduler: str | None = None,
) -> WhatMatters:
    """The legal single changes that gain, the best `top` of them; None: all that are legal, worse ones too.

    A change is legal when no rule finds a new or worse error or warning after it. `found` hears of each that
    gains as soon as it is known, `progress` the share that is done. With several `workers`, or with the
    `scheduler` of a Dask cluster, other processes work out the same rows. Raises UserError where the plan has
    no such figure, Cancelled when told to stop.
    """
    with keeping(now.kept):
        search = Search(
            now, figure, cancelled, progress or (lambda share: None), found, lists_all=top is None
        )
        rows = search.rows() if workers == 1 and scheduler is None else search.rows_from(workers, scheduler)
        return search.ranked(rows, top)


class _Tried(NamedTuple):
    """A change that can be made, the plan after it, and its place among all changes."""

    change: Change
    after: Plan
    place: int
    values: frozenset[tuple[str, str, str]]
    """What it sets, of what, to what."""


class _Row(NamedTuple):
    """What a change comes to: such that another process can hand it over."""

    place: int
    set: tuple[str, ...] | None
    after: Quantity | None
    gain: float
    cost: Quantity | None
    why: str
    hints: int
    extent: Extent


class _Asked(NamedTuple):
    """Some of the changes of a plan, for another process."""

    plan: Plan
    workload: Workload | None
    figure: str
    lists_all: bool
    places: frozenset[int]


def _answered(asked: _Asked) -> list[_Row]:
    """The rows of some changes."""
    from ndbplan.estimate.estimation import Estimation

    with keeping():
        now = Estimation(asked.plan, asked.workload)
        search = Search(now, FIGURES[asked.figure], lists_all=asked.lists_all)
        return [row for one in search.tried(asked.places) if (row := search.row(one)) is not None]


def in_turn(changes: Sequence[Change], first: Sequence[str] = ()) -> list[tuple[int, Change]]:
    """The changes with their places, one of each kind after the other: some kind gains soon, if any does.

    A few of the kinds `first` come before all others.
    """
    of_kind: Counter[str] = Counter()
    turns = []
    for place, change in enumerate(changes):
        of_kind[change.what] = turn = of_kind[change.what] + 1
        turns.append((change.what not in first or turn > _EARLY, turn, place, change))
    return [turn[2:] for turn in sorted(turns, key=lambda turn: turn[:3])]


class Search:
    """The changes of a plan, and what each comes to."""

    def __init__(
        self,
        now: Estimation,
        figure: Figure,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[float], None] = lambda share: None,
        found: Callable[[Mattering], None] = lambda row: None,
        *,
        lists_all: bool = False,
    ) -> None:
        self.now, self.figure, self.lists_all = now, figure, lists_all
        self.cancelled, self.progress, self.found = cancelled, progress, found
        is_searched = figure is FIGURES["max-load"] and now.workload is not None
        if is_searched and now.workload is not None and now.workload.load.kind != "job":
            self.measure: Aim = HighestLoad(now, cancelled)
        else:
            self.measure = Aim(now, figure)
        self.by_cost = cost_of(now.plan).total is not None
        self.count = 0
        """Changes that can be made at all."""
        self._told_of: set[frozenset[tuple[str, str, str]]] = set()

    @cached_property
    def legal(self) -> Legal:
        """Which changes may be made."""
        return Legal(self.now.plan)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All that are tried."""
        plan, workload, highest = self.now.plan, self.now.workload, self.measure.highest
        beyond = () if highest is None or workload is None else ways_beyond(plan, workload, highest)
        return (*single_changes(plan), *beyond)

    def ranked(self, rows: Sequence[Mattering], top: int | None) -> WhatMatters:
        """The rows, best first."""
        alone = {row.title: row.gain for row in rows}
        gains = [row for row in rows if row.gain > 0 and alone.get(row.includes) != row.gain]
        equal = self._equal_gains(rows)
        listed = rows if self.lists_all else gains
        changes = sorted(listed, key=lambda row: (*self._rank(row, equal), row.hints, row.extent))[:top]
        return WhatMatters(
            self.figure, self.measure.before, tuple(changes), self.count, len(gains), self.by_cost
        )

    def rows(self) -> list[Mattering]:
        """Worked out here, two at a time."""
        changes = in_turn(self.changes, self.measure.lifted_by)
        answers: list[tuple[_Tried, Mattering | None]] = []

        def answered(numbered: tuple[int, Change]) -> tuple[_Tried | None, Mattering | None]:
            """The change where it can be made, and its row."""
            with keeping(self.now.kept):
                one = self.made(*numbered)
                row = None if one is None else self.row(one)
            return one, None if row is None else self._told(row, numbered[1])

        with ThreadPoolExecutor(_WORKERS) as pool:
            for done, (one, row) in enumerate(pool.map(answered, changes), start=1):
                if one is not None:
                    answers.append((one, row))
                self.progress(done / len(changes))
        rows = []
        for one, row in sorted(answers, key=lambda answer: answer[0].place):
            if not self._is_told(one):
                self.count += 1
                rows += [] if row is None else [row]
        return rows

    def rows_from(self, workers: int, scheduler: str | None) -> list[Mattering]:
        """The same, worked out in other processes."""
        changes = {one.place: one.change for one in self.tried() if not self._is_told(one)}
        self.count, places = len(changes), list(changes)
        several = count_of_pieces(workers, scheduler)
        pieces = [
            _Asked(self.now.plan, self.now.workload, self.figure.name, self.lists_all, frozenset(some))
            for at in range(several)
            if (some := places[at::several])
        ]
        rows: list[_Row] = []
        for done, part in enumerate(
            each_of(_answered, pieces, workers=workers, scheduler=scheduler), start=1
        ):
            rows += part
            self.progress(done / len(pieces))
            if self.cancelled():
                raise Cancelled
        return [self._told(row, changes[row.place]) for row in sorted(rows, key=lambda row: row.place)]

    def tried(self, places: frozenset[int] | None = None) -> Iterator[_Tried]:
        """The changes at some places that can be made; without any: all of them."""
        for place, change in enumerate(self.changes):
            if places is None or place in places:
                one = self.made(place, change)
                if one is not None:
                    yield one

    def made(self, place: int, change: Change) -> _Tried | None:
        """A change and the plan after it; None where it cannot be made, or changes nothing."""
        if self.cancelled():
            raise Cancelled
        plan = self.now.plan
        with suppress(UserError):
            after = change.edit(plan)
            if after is not plan and (values := value_changes(plan, after)):
                made = frozenset((one.scope, one.name, str(one.after)) for one in values)
                return _Tried(change, after, place, made)
        return None

    def _is_told(self, one: _Tried) -> bool:
        """Whether a change that a check offers does what one before it does."""
        if one.change.what == _FIX and one.values in self._told_of:
            return True
        self._told_of.add(one.values)
        return False

    def _estimation(self, after: Plan) -> Estimation:
        workload = self.now.workload
        estimation = self.now.of(after)
        return estimation if workload is None else estimation.under(after.workload(workload.id))

    def _may_gain(self, one: _Tried) -> bool:
        try:
            return self.measure.may_gain(self._estimation(one.after))
        except UserError:
            return False

    def _hints(self, after: Plan) -> int | None:
        if self.cancelled():
            raise Cancelled
        return self.legal.hints(after)

    def row(self, one: _Tried) -> _Row | None:
        """The figures of a change; None where there are none after it, or it may not be made."""
        if self.cancelled():
            raise Cancelled
        plan, after = self.now.plan, one.after
        leaves_it = one.change.is_carried and not self.figure.counts_problems
        if not self.lists_all and (leaves_it or not self._may_gain(one)):
            return None
        hints = self._hints(after) if self.measure.is_dear else None
        if self.measure.is_dear and hints is None:
            return None
        before = self.measure.before
        try:
            number, why = (before, "") if leaves_it else self.measure.of(self._estimation(after))
        except UserError:
            return None
        gain = _gain(self.figure, before, number)
        is_listed = gain is not None and (gain > 0 or self.lists_all)
        if gain is None or not is_listed:
            return None
        hints = hints if self.measure.is_dear else self._hints(after)
        if hints is None:
            return None
        changes = value_changes(plan, after)
        arguments, extent = set_arguments(plan, after, changes), extent_of(plan, after, changes)
        cost = cost_of_change(plan, after)
        return _Row(one.place, arguments, number, gain, cost, why, hints, extent)

    def _told(self, row: _Row, change: Change) -> Mattering:
        origin = SetByProgram(rule="what-matters", reason=change.title)
        told = Mattering(
            change.title,
            lambda plan: credited(plan, change.edit(plan), origin),
            change.what,
            row.set,
            self.measure.before,
            row.after,
            row.gain,
            row.cost,
            row.why,
            row.hints,
            row.extent,
            change.includes,
        )
        if row.gain > 0:
            self.found(told)
        return told

    def _equal_gains(self, rows: Sequence[Mattering]) -> dict[float, float]:
        """Each gain, or the largest that reads the same: where a search ends within a figure's last digits is
        no merit of a change."""
        if not self.measure.is_dear:
            return {row.gain: row.gain for row in rows}
        largest: dict[str, float] = {}
        read = [(row.gain, "" if row.after is None else _read(row.after)) for row in rows]
        for gain, text in read:
            largest[text] = max(gain, largest.get(text, gain))
        return {gain: largest[text] for gain, text in read}

    def _rank(self, row: Mattering, equal: dict[float, float]) -> tuple[int, float, float]:
        """By gain; with prices by gain for the money: what costs nothing first, unknown prices last."""
        gain = equal[row.gain]
        if not self.by_cost or gain <= 0:
            return (3 if gain <= 0 else 0), -gain, 0.0
        if row.cost is None:
            return 2, -gain, 0.0
        cost = row.cost.value
        return (0, -gain, 0.0) if cost <= 0 else (1, -gain / cost, cost)


def _gain(figure: Figure, before: Quantity | None, after: Quantity | None) -> float | None:
    """How much better; None where one of them is missing and that is neither best nor worst.

    What reads the same as before gains nothing: `1 114 tx/s -> 1 114 tx/s` helps nobody.
    """
    if before is None or after is None:
        if before is after:
            return 0.0
        if not figure.none_is_best:
            return None
        return math.inf if after is None else -math.inf
    if _read(before) == _read(after):
        return 0.0
    return before.value - after.value if figure.better == "lower" else after.value - before.value


def _read(quantity: Quantity) -> str:
    """As people read it."""
    return format_value(quantity.value, quantity.unit)
