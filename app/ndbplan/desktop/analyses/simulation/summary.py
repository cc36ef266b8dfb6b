"""One line about a simulation: what was accepted, how long it took, and what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ndbplan.base.units import format_count, format_percent, format_value
from ndbplan.describe.measured_runs import near_runs
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.explain import QuantityLabel
from ndbplan.desktop.widgets.sections import Elided, label, link

if TYPE_CHECKING:
    from ndbplan.desktop.analyses.simulation.run import Run
    from ndbplan.simulate.bands import Bands
    from ndbplan.simulate.odds import ErrorOdds
    from ndbplan.simulate.result import SimulationResult


_OF_RUN, _OF_RUN_SHORT = "accepted in this run", "this run"
"""What the cluster sustains is another number: also where room is scarce this one is of the run."""


class Summary(QWidget):
    """One line: what was accepted, how long a transaction took, and what limits the load."""

    help_wanted = Signal()
    """What would lift the limit is asked for."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._accepted = QuantityLabel("Accepted transactions per second")
        self._text = label("", "muted", wrap=False)
        self._latency_name = label("· latency", "muted", wrap=False)
        self._latency = QuantityLabel("Mean latency of a transaction")
        self._has_latency = False
        self._limit = Elided()
        self._help = link("What would help", self.help_wanted.emit)
        self._help.setToolTip("Changes that lift this limit, each tried, in the inspector")
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 0, 0)
        row.setSpacing(6)
        self._of_run = label(_OF_RUN, "muted", wrap=False)
        self._of_run.setToolTip(
            "The mean of this run, while the rest was refused or waited. What the cluster sustains without "
            "refusing anything is less: it stands under What would help."
        )
        row.addWidget(self._of_run)
        row.addWidget(self._accepted)
        row.addWidget(self._text)
        row.addWidget(self._latency_name)
        row.addWidget(self._latency)
        row.addWidget(self._limit)
        row.addWidget(self._help)
        row.addStretch(1)
        self.hide()

    def show_run(self, run: Run, is_uncertain: bool) -> None:
        """Show a run, or the range over many, and how near its load lies to measured ones."""
        self._accepted.near_runs = self._latency.near_runs = near_runs(run.plan, "load")
        self.show_result(run.result, run.bands if is_uncertain else None)

    def show_result(self, result: SimulationResult, bands: Bands | None) -> None:
        """Show the totals of a run; with bands their range over many runs."""
        accepted = bands.accepted_per_s if bands is not None else result.accepted_per_s
        self._accepted.show_quantity(accepted)
        low, high = accepted.low, accepted.high
        if bands is None:
            low = high = accepted.value
        self._accepted.setText(f"{_span(*(format_count(round(v)) for v in (low, high)))}/s")
        self._text.setText(f"of {format_count(round(result.offered_per_s))}/s")
        latency = bands.latency_mean_s if bands is not None else result.latency_mean_s
        self._latency.show_quantity(latency)
        if bands is not None:
            self._latency.setText(_span(*(format_value(v, "s") for v in (latency.low, latency.high))))
        self._has_latency = latency.value > 0
        stop = result.cluster_stop
        limited = result.bottleneck.used >= 1
        self._help.setVisible(limited and stop is None)
        verb, short = ("limited by", "limit") if limited else ("next limit", "next")
        limit, odds_text = result.bottleneck.text, ""
        if bands is not None and bands.errors:
            odds_text = f" · {_first_errors(bands.errors)} of runs"
        # Where the whole does not fit, a node that limits is named without its host.
        node = limit.partition(" on ")[0]
        few = f"{short}: {node.removeprefix('the ')}"
        said = (f"{verb} {limit}", f"{verb} {node}", few, few.partition(" (")[0], few.partition(",")[0])
        texts = [f"· {one}{odds_text}" for one in said]
        if stop is not None:
            # The canvas says why.
            texts = [f"· {stop.text}", f"· {stop.text.partition(': ')[0]}"]
            if bands is not None and bands.cluster_stop is not None:
                texts[0] += f" · in {format_percent(bands.cluster_stop.probability)} of runs"
        self._limit.setText(*texts)
        look = "alarm" if stop is not None else "muted"
        if self._limit.property("look") != look:
            self._limit.setProperty("look", look)
            theme.restyle(self._limit)
        self._fit()
        self.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Say less of what everybody knows, and of what charts tell too, before what limits is cut."""
        self._of_run.setText(_OF_RUN)
        beside = ((self._latency_name, self._latency), (self._text,))
        for parts in beside:
            for part in parts:
                part.setVisible(part is self._text or self._has_latency)
        if self.sizeHint().width() > self.width():
            self._of_run.setText(_OF_RUN_SHORT)
        cut = self._limit.sizeHint().width() - self._limit.least_width()
        for parts in beside:
            if self.sizeHint().width() - cut > self.width():
                for part in parts:
                    part.hide()


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} … {high}"


def _first_errors(errors: Sequence[ErrorOdds]) -> str:
    """In how many runs an error comes; where it is not always one that comes first, the likeliest two."""
    first = sorted((one for one in errors if one.comes_first), key=lambda one: -one.comes_first)[:2]
    if len(first) < 2:
        return f"{errors[0].code} in {format_percent(errors[0].probability)}"
    each = [f"{one.code} in {format_percent(one.comes_first)}" for one in first]
    return f"first {each[0]}, {each[1]}"
