"""Vary inputs: one or two of them over values, a headline figure of every combination as table and chart.

A click on a cell opens exactly that plan as a variant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.describe.inputs import value_in_words
from ndbplan.desktop.dialogs.frame import Dialog, side_by_side
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets import numbers
from ndbplan.desktop.widgets.search_field import SearchField
from ndbplan.desktop.widgets.sections import label
from ndbplan.desktop.widgets.sweep_chart import Dot, SweepChart
from ndbplan.desktop.widgets.swing_bars import SwingBars
from ndbplan.edits.variants import shortened

if TYPE_CHECKING:
    from ndbplan.advise.sweep import Row, Sweep

_INPUTS = 2
_MOST = 2000
"""Cells that a window measures: more belong to `ndbplan sweep`, which goes on where it was broken off."""
_LEAST_CHART_PX = 360
_MEASURE = "max-load"
_EXAMPLES = ("RedoBuffer=16M,32M,64M,128M", "redo.disk.write=100..800MB/s:8")
_HOW = (
    "A parameter, or a field of the plan by its address, and its values: listed, or as a range with how many "
    "(100..800MB/s:8 are eight from 100 to 800)."
)
_NOTHING_YET = "Every combination is measured once, and shown here as a table and a picture."


class SweepDialog(Dialog):
    """What is varied and measured above, what was found below."""

    def __init__(
        self, document: Document, workload_id: str | None, vary: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__("Vary inputs", "Measure", parent, leave="Close")
        self._document, self._workload_id = document, workload_id
        self._sweep: Sweep | None = None
        self._title = ""
        self.rows: list[Row] = []
        self._words: list[list[str]] = []
        self._unit = ""
        self.resize(980, 600)
        self.inputs = [QLineEdit() for _ in range(_INPUTS)]
        form = QFormLayout()
        for line, example, text in zip(self.inputs, _EXAMPLES, ("Vary", "and"), strict=True):
            line.setPlaceholderText(f"{example}   (may be empty)" if text == "and" else example)
            line.setAccessibleName(f"Input and its values, such as {example}")
            form.addRow(text, line)
        if vary:
            self.inputs[0].setText(vary)
        self.measure = QComboBox()
        self.measure.setAccessibleName("Headline figure that is measured")
        self._fill_measures()
        form.addRow("Measure", self.measure)
        self.body.addLayout(form)
        self.body.addWidget(label(_HOW, "muted"))
        self.table = numbers.NumbersTable("Cells", ("",))
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self.table.doubleClicked.connect(lambda _index: self.open_cell())
        self.chart = SweepChart()
        self.chart.chosen.connect(self._choose)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.hide()
        self.body.addWidget(self.bar)
        self.filter = SearchField()
        self.filter.setAccessibleName("Show only cells with this text")
        self.filter.setPlaceholderText("Show only cells with…")
        self.filter.textChanged.connect(self._show_only)
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.filter)
        column.addWidget(self.table, 1)
        self.swings = SwingBars()
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.chart, 1)
        column.addWidget(self.swings)
        self.cells = side_by_side(left, right, (440, 500))
        self.body.addWidget(self.cells, 1)
        self.nothing = label(_NOTHING_YET, "muted")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.body.addWidget(self.nothing, 1)
        self.cells.hide()
        self.opens = QPushButton("Open as a variant")
        self.opens.setToolTip("The plan of the chosen cell")
        self.opens.clicked.connect(self.open_cell)
        self.add_foot(self.run, self.opens)
        self._enable()

    def _fill_measures(self) -> None:
        from ndbplan.advise.figures import FIGURES

        for figure in FIGURES.values():
            if figure.better:
                self.measure.addItem(figure.title, figure.name)
        self.measure.setCurrentIndex(self.measure.findData(_MEASURE))

    def run(self) -> None:
        """Measure every combination; while it runs: stop."""
        if self.task is not None:
            self.stop_task()
            self._end()
            self.state.say("stopped; what was measured is shown")
            return
        try:
            sweep = self._asked()
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self._sweep, self._title, self.rows = sweep, self.measure.currentText(), []
        self.state.say("")
        self.nothing.hide()
        self.cells.show()
        self.table.show_rows([], [*(one.address for one in sweep.varied), self._title])
        # The figure stands in the last column: long names of inputs leave it in sight.
        left, right = self.cells.sizes()
        wide = max(left, min(self.table.width_of_all(), left + right - _LEAST_CHART_PX))
        self.cells.setSizes([wide, left + right - wide])
        self.bar.setRange(0, sweep.count)
        self.bar.setValue(0)
        self.bar.show()
        self.take.setText("Stop")
        self._words = [
            [value_in_words(sweep.plan, one.address, value, one.values) for value in one.values]
            for one in sweep.varied
        ]
        self._show_axes("")
        self.swings.show_swings((), "")
        self.task = self.tasks.start(
            lambda task: measured_in_thread(sweep, task), self._done, on_partial_result=self._take_row
        )

    def _show_axes(self, unit: str) -> None:
        sweep = self._sweep
        assert sweep is not None
        names = (one.address for one in sweep.varied)
        self.chart.show_axes(dict(zip(names, self._words, strict=True)), self._title, unit)

    def _asked(self) -> Sweep:
        from ndbplan.advise.sweep import Sweep, vary

        plan = self._document.plan
        texts = [line.text().strip() for line in self.inputs if line.text().strip()]
        if not texts:
            raise UserError("nothing is varied", fix=f"type for example {_EXAMPLES[0]}")
        sweep = Sweep(
            plan, tuple(vary(plan, text) for text in texts), (self.measure.currentData(),), self._workload_id
        )
        if sweep.count > _MOST:
            raise UserError(
                f"{sweep.count} combinations are too many for the window: {_MOST} at most",
                fix="give fewer values, or use `ndbplan sweep`",
            )
        return sweep

    def _take_row(self, found: tuple[Row, str]) -> None:
        row, unit = found
        sweep = self._sweep
        assert sweep is not None
        if not self.rows and unit:
            self._show_axes(unit)
        self.rows.append(row)
        self.bar.setValue(len(self.rows))
        cell = sweep.cells[row.number]
        place = _place(sweep, cell)
        three = row.figures[0]
        self.chart.add(row.number, Dot(place, None) if three is None else Dot(place, *three))
        self._unit = unit
        if len(self.rows) == sweep.count or len(self.rows) % 16 == 1:
            self._show_rows()

    def _show_rows(self) -> None:
        sweep = self._sweep
        assert sweep is not None
        cells = []
        for row in self.rows:
            three = row.figures[0]
            last = (
                numbers.text(row.error or "none")
                if three is None
                else numbers.number(Quantity(*three, self._unit), self._title)
            )
            place = _place(sweep, sweep.cells[row.number])
            words = (words[at] for words, at in zip(self._words, place, strict=True))
            cells.append([*(numbers.text(text) for text in words), last])
        self.table.show_rows(cells)

    def _done(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._end()
        if outcome.error:
            self.state.say(outcome.error, is_error=True)
            return
        self._show_rows()
        self._show_swings()
        same = len({row.figures for row in self.rows}) == 1 < len(self.rows)
        found = "all alike: something else limits this figure" if same else "open one with a double click"
        self.state.say(f"{len(self.rows)} cells measured; {found}")

    def _show_swings(self) -> None:
        from ndbplan.advise.swings import swings_of

        sweep = self._sweep
        # Of one input alone the line says it.
        if sweep is not None and len(sweep.varied) > 1:
            self.swings.show_swings(swings_of(sweep, self.rows), self._unit)

    def _end(self) -> None:
        self.task = None
        self.bar.hide()
        self.take.setText("Measure")
        self._enable()

    def _show_only(self, text: str) -> None:
        self.table.show_only(text)
        self._enable()

    def _choose(self, number: int) -> None:
        """Select a cell of the picture; one that the filter hides is shown again."""
        at = next((n for n, row in enumerate(self.rows) if row.number == number), None)
        if at is not None and not self.table.select_source_row(at):
            self.filter.clear()
            self.table.select_source_row(at)

    @property
    def chosen(self) -> Row | None:
        """The cell that is selected."""
        rows = self.table.selectionModel().selectedRows()
        return self.rows[self.table.row_of(rows[0])] if rows and self.rows else None

    def _enable(self) -> None:
        self.opens.setEnabled(self.chosen is not None)

    def open_cell(self) -> None:
        """Open the plan of the chosen cell as a variant."""
        row, sweep = self.chosen, self._sweep
        if row is None or sweep is None:
            return
        cell = sweep.cells[row.number]
        title = ", ".join(f"{one.address}={value}" for one, value in zip(sweep.varied, cell, strict=True))
        try:
            name = self._document.edit_as_variant(shortened(title), lambda _plan: sweep.plan_of(cell))
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self.state.say(f"opened as the variant '{name}'")


def _place(sweep: Sweep, cell: Sequence[str]) -> tuple[int, ...]:
    """The places of a cell's values among those of the inputs."""
    return tuple(one.values.index(value) for one, value in zip(sweep.varied, cell, strict=True))


def measured_in_thread(sweep: Sweep, task: Task) -> None:
    """Measure every cell; each is shown as soon as it is known. Runs in a thread."""
    from ndbplan.advise.figures import FIGURES
    from ndbplan.desktop.document.kernel import prepare_kernel

    figure = FIGURES[sweep.measures[0]]
    if figure.simulated:
        prepare_kernel(task)
    for row in sweep.rows(cancelled=task.cancelled):
        task.show_partial_result((row, figure.unit or sweep.plan.currency or ""))
