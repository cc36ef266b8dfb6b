"""What a plan comes to for the figure that is aimed at, before and after a change, and why it differs.

aim = HighestLoad(now, cancelled)
aim.before, aim.may_gain(after), aim.of(after)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ndbplan.advise.figures import FIGURES, Figure
from ndbplan.advise.highest_rate import PRECISION, ceiling_per_s, holds
from ndbplan.advise.max_load import DEFAULT_S, MaxLoad, max_load, steady_scenario
from ndbplan.advise.searched import Searched, key_of
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_value

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation

_TRIED_ABOVE = (1.0 + 2 * PRECISION, 1.05)
"""Rates, against the present highest one, of which one must hold where a change gains: a little less log may
meet a full log where a little more does not."""
_DEPTH = 4
_LIFTED_BY = {
    "cpu": ("group", "cores"),
    "sql nodes": ("sql", "cores", "parameter"),
    "api nodes": ("api", "cores"),
    "network": ("network", "group"),
    "disk": ("disk", "role", "group"),
    "disk reads": ("disk", "parameter", "memory"),
    **dict.fromkeys(("redo log", "redo files"), ("disk", "role", "parameter")),
    "memory": ("parameter", "memory", "group"),
}
"""Kinds of changes by what limits the highest load: only the order in which rows appear depends on it."""


class Aim:
    """The figure of a plan, before and after a change."""

    is_dear = False
    """Whether it takes longer than all checks."""
    lifted_by: Sequence[str] = ()
    """Kinds of changes likely to gain."""
    highest: MaxLoad | None = None
    """The highest load of the plan as it is, where that is the figure."""

    def __init__(self, now: Estimation, figure: Figure) -> None:
        self.figure = figure
        self.before = figure.of(now)

    def may_gain(self, after: Estimation) -> bool:
        """Whether it is worth asking for the figure after a change."""
        return True

    def of(self, after: Estimation) -> tuple[Quantity | None, str]:
        """The figure after a change, and why it is another."""
        number = self.figure.of(after)
        return number, _why(self.before, number)


class HighestLoad(Aim):
    """The highest load: simulated only where what the simulation reads is other than before."""

    is_dear = True

    def __init__(self, now: Estimation, cancelled: Callable[[], bool]) -> None:
        self.figure, self._cancelled = FIGURES["max-load"], cancelled
        self._searched = Searched()
        self.highest = self._load = self._highest_of(now)
        self.before = self._load.max_per_s
        self.lifted_by = _LIFTED_BY.get(self._load.limited_by.resource, ())
        self._hopes: dict[bytes, bool] = {key_of(steady_scenario(now)): False}

    def _highest_of(self, now: Estimation) -> MaxLoad:
        return max_load(now, cancelled=self._cancelled, with_next=False, searched=self._searched)

    def may_gain(self, after: Estimation) -> bool:
        """Whether a rate just above the present one holds."""
        scenario = steady_scenario(after)
        key = key_of(scenario)
        if key not in self._hopes:
            present = self._load.max_per_s.value
            rates = [times * present for times in _TRIED_ABOVE]
            most = ceiling_per_s(scenario, DEFAULT_S)
            self._hopes[key] = any(
                rate <= most and holds(scenario, rate, DEFAULT_S, self._cancelled) for rate in rates
            )
        return self._hopes[key]

    def of(self, after: Estimation) -> tuple[Quantity | None, str]:
        """The highest load after a change, and what ends it now."""
        load = self._highest_of(after)
        return load.max_per_s, load.end_after(self._load)


def _why(before: Quantity | None, after: Quantity | None) -> str:
    """The term of the derivation that changed most, down to where it comes from."""
    path, olds, news = [], before and before.why, after and after.why
    for _ in range(_DEPTH):
        known = {term.term: term for term in olds or ()}
        pairs = [(known[term.term], term) for term in news or () if term.term in known]
        moved = [(old, new) for old, new in pairs if old.value != new.value]
        if not moved:
            break
        old, new = max(moved, key=lambda pair: abs(pair[1].value - pair[0].value))
        path.append((old, new))
        olds, news = old.why, new.why
    if not path:
        return ""
    old, new = path[-1]
    return f"{new.term}: {format_value(old.value, old.unit)} -> {format_value(new.value, new.unit)}"
