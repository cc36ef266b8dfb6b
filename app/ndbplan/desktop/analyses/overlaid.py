"""Runs of several variants on one axis, with the moments at which they part from the first and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.chart_content import Content, Mark, Series
from ndbplan.desktop.widgets.charts import TimeChart
from ndbplan.desktop.widgets.sections import Elided

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.simulate.result import SimulationResult


_LEAST_WITH_WORDS = 220


class Run(NamedTuple):
    """What the simulated load comes to in one variant."""

    name: str
    result: SimulationResult
    parted_s: float | None
    """When it parts from the first; None: never, or it is that."""
    why: str
    """In a sentence; nothing for the first."""


def runs_of(columns: Sequence[tuple[str, Estimation]], cancelled: Callable[[], bool]) -> tuple[Run, ...]:
    """The simulated load of each plan, and where it parts from that of the first; nothing without a load."""
    from ndbplan.simulate.run import simulate

    if any(now.workload is None for _, now in columns):
        return ()
    runs: list[Run] = []
    for name, now in columns:
        result = simulate(now, cancelled=cancelled)
        runs.append(Run(name, result, *(_parted(runs[0].result, result) if runs else (None, ""))))
    return tuple(runs)


def _parted(first: SimulationResult, other: SimulationResult) -> tuple[float | None, str]:
    from ndbplan.describe.parting import sentence
    from ndbplan.simulate.parting.parted import parting

    try:
        found = parting(other, first)
    except UserError as error:
        return None, error.what
    return None if found is None else found.at_s, sentence(found)


class _Shown(NamedTuple):
    title: str
    unit: str
    of: Callable[[SimulationResult], Any]


def _answered(result: SimulationResult) -> Any:
    import numpy as np

    return np.where(result.latency_s > 0, result.latency_s, np.nan)


def _fullest(values: str, size: str) -> Callable[[SimulationResult], Any]:
    """The highest share of all log parts over time."""

    def of(result: SimulationResult) -> Any:
        import numpy as np

        shares = [getattr(part, values) / getattr(part, size) for part in result.parts]
        return np.max(shares, axis=0) if shares else np.zeros(len(result.times_s))

    return of


_SHOWN = (
    _Shown("Transactions/s", "", lambda result: result.accepted),
    _Shown("Latency, mean", "s", _answered),
    _Shown("Fullest redo buffer", "fraction", _fullest("high", "buffer_bytes")),
    _Shown("Fullest redo log", "fraction", _fullest("log_used", "log_bytes")),
)


class OverlaidRuns(QWidget):
    """One chart of all variants; the lines differ in their dashes too."""

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[Run, ...] = ()
        self.picker = QComboBox()
        self.picker.setAccessibleName("What the chart shows")
        self.picker.addItems([one.title for one in _SHOWN])
        self.picker.activated.connect(lambda _i: self.draw())
        self.chart = TimeChart("Simulated load", self.picker)
        self.chart.cursor_moved.connect(self.chart.show_cursor)
        self.words: list[Elided] = []
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(8, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.chart, 1)

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Draw these, and say where they part."""
        self._runs = tuple(runs)
        for old in self.words:
            old.deleteLater()
        self.words = [Elided() for _ in runs[1:]]
        for line, run in zip(self.words, runs[1:], strict=True):
            line.setText(f"{run.name}: {run.why}")
            self._column.addWidget(line)
        self.chart.setToolTip("\n".join(line.text() for line in self.words))
        self._give_way()
        self.draw()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_way()

    def _give_way(self) -> None:
        """Where it is low the chart has the room; its tip says where runs part."""
        for line in self.words:
            line.setVisible(self.height() >= _LEAST_WITH_WORDS)

    def restyle(self) -> None:
        """Take over the colours of the theme in use."""
        self.chart.restyle()
        self.draw()

    def draw(self) -> None:
        """Draw what the picker says."""
        import numpy as np

        if not self._runs:
            return
        shown, colours = _SHOWN[self.picker.currentIndex()], theme.tokens().series
        longest = max((run.result for run in self._runs), key=lambda one: len(one.times_s) * one.bucket_s)
        series, marks = [], []
        for place, run in enumerate(self._runs):
            values = np.asarray(shown.of(run.result), dtype=float)
            at = np.interp(longest.times_s, run.result.times_s, values, right=np.nan)
            series.append(Series(run.name, colours[place], at, dash=place))
            if run.parted_s is not None:
                marks.append(Mark(run.parted_s, f"{run.name}: {run.why}", colours[place]))
        content = Content(longest.times_s, longest.bucket_s, shown.unit, series, marks=marks)
        self.chart.show_content(content)
        self.chart.draw()
