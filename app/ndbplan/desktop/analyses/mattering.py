"""What matters most: every single change of the plan that gains for one headline figure, best first.

Rows come as they are found; one click tries one, one more makes a variant of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_value
from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Progress, Task
from ndbplan.desktop.widgets import numbers
from ndbplan.desktop.widgets.sections import Elided, label
from ndbplan.desktop.widgets.task_bar import TaskBar
from ndbplan.edits.first_steps import next_step
from ndbplan.edits.variants import shortened
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.advise.what_matters import Mattering, WhatMatters

_HEADERS = ("Change", "After", "Gain", "Cost", "Why the limit moves")
_AFTER, _COST = _HEADERS.index("After"), _HEADERS.index("Cost")
_AIM = "max-load"


def _aims() -> list[tuple[str, str]]:
    """Names and titles of the figures that a change can gain for."""
    from ndbplan.advise.figures import FIGURES

    return [(figure.name, figure.title) for figure in FIGURES.values() if figure.better]


class MatteringPanel(Panel):
    """The list for one aim; it is looked for when somebody asks."""

    name: ClassVar[str] = "What matters"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.rows: list[Mattering] = []
        self._task: Task | None = None
        self._of: Plan | None = None
        self.aim = QComboBox()
        self.aim.setAccessibleName("Figure that the changes are to better")
        for name, title in _aims():
            self.aim.addItem(title, name)
        self.aim.setCurrentIndex(self.aim.findData(_AIM))
        self.aim.activated.connect(lambda _index: self._forget())
        self.start = QPushButton("Look for it")
        self.start.setProperty("kind", "primary")
        self.start.clicked.connect(self.search)
        self.bar = TaskBar("Changes looked at")
        self.line = Elided()
        self._said: tuple[str, ...] = ("",)
        self.try_it = QPushButton("Try it")
        self.try_it.setToolTip("Make the chosen change; undo takes it back")
        self.try_it.clicked.connect(self.apply)
        self.as_variant = QPushButton("As a variant")
        self.as_variant.setToolTip("Make the chosen change in a new variant, beside the plan as it is")
        self.as_variant.clicked.connect(self.apply_as_variant)
        self.table = numbers.NumbersTable("Changes that gain, best first", _HEADERS)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._enable())
        self.table.doubleClicked.connect(lambda _index: self.apply())
        self._empty = Empty()
        self._empty.step_wanted.connect(self.step_wanted)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self.table)
        top = QHBoxLayout()
        top.setSpacing(8)
        for widget in (label("Better", "muted", wrap=False), self.aim, self.start, self.bar):
            top.addWidget(widget)
        top.addStretch(1)
        top.addWidget(self.try_it)
        top.addWidget(self.as_variant)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 10, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(top)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.line)
        self._forget()

    def refresh(self) -> None:
        if self._of is not self.context.plan:
            self._forget()

    def search(self) -> None:
        """Look for changes that gain; while it runs: stop, and keep what was found."""
        if self._task is not None:
            self._task.cancel()
            self._end("Stopped. What was found so far is listed.", "Stopped.")
            if not self.rows:
                self._empty.say("Stopped", "No change that gains was found so far.")
            return
        self._forget()
        plan, workload_id, aim = self.context.plan, self.context.estimates.workload_id, self.aim.currentData()
        self._of = plan
        self.start.setText("Stop")
        self.bar.begin()
        self._say("Looking at every single change…")
        self._empty.say(
            "Looking at every single change", "Those that gain and do no harm come here, each as it is found."
        )
        self._task = self.context.tasks.start(
            lambda task: found_in_thread(plan, workload_id, aim, task),
            self._found,
            self._moved,
            self._one_more,
        )

    def _moved(self, progress: Progress) -> None:
        if progress.fraction is not None:
            self.bar.follow(progress.fraction)

    def _one_more(self, row: Mattering) -> None:
        self.rows.append(row)
        self.rows.sort(key=lambda one: -one.gain)
        self._show()

    def _found(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        if outcome.error:
            self.rows = []
            self._end("")
            self._empty.say("There is no list", outcome.error)
            self._pages.setCurrentWidget(self._empty)
            return
        found: WhatMatters = outcome.value
        self.rows = list(found.changes)
        order = "gain for the money" if found.by_cost else "gain; no price is stated"
        few = f"{found.legal_gains} of {found.tried}"
        told = f"{few} changes gain and do no harm"
        self._end(f"{told}; by {order}", told, f"{few} changes gain", f"{few} gain", few)
        if self.rows:
            self._show()
        else:
            text = f"None of {found.tried} single changes betters it without harm elsewhere."
            self._empty.say("No single change helps", text)
            self._pages.setCurrentWidget(self._empty)

    def _end(self, line: str, *shorter: str) -> None:
        self._task = None
        self.bar.hide()
        self.start.setText("Look for it")
        self._say(line, *shorter)

    def _say(self, line: str, *shorter: str) -> None:
        self._said = (line, *shorter)
        self._tell()

    def _tell(self) -> None:
        """The whole of the chosen change, of which the table may cut words; else how the search stands."""
        row = self.chosen
        self.line.setText(*((f"{row.title}: {row.why}",) if row is not None else self._said))

    def _forget(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self.rows, self._of = [], None
        self._end("")
        self.table.show_rows([])
        self._empty.say(
            "What would help most?",
            "Every parameter, disk, host and node is changed by one sensible step, alone; those that gain "
            "for the figure above are listed.",
        )
        missing = next_step(self.context.plan)
        if missing is not None:
            self._empty.say_step(missing)
        self.start.setEnabled(missing is None)
        self._pages.setCurrentWidget(self._empty)
        self._enable()

    def _show(self) -> None:
        rows, headers = [_cells(row) for row in self.rows], list(_HEADERS)
        before = self.rows[0].before if self.rows else None
        if before is not None:
            # One plan: the same for each change.
            headers[_AFTER] = f"Instead of {format_value(before.value, before.unit)}"
        if all(row.cost is None for row in self.rows):
            # The line above says so.
            headers.pop(_COST)
            for row in rows:
                row.pop(_COST)
        self.table.show_rows(rows, headers)
        self._pages.setCurrentWidget(self.table)
        self._enable()

    @property
    def chosen(self) -> Mattering | None:
        """The change that is selected."""
        rows = self.table.selectionModel().selectedRows()
        return self.rows[self.table.row_of(rows[0])] if rows and self.rows else None

    def _enable(self) -> None:
        able = self.chosen is not None
        self.try_it.setEnabled(able)
        self.as_variant.setEnabled(able)
        self._tell()

    def apply(self) -> None:
        """Make the chosen change as one undoable step."""
        row = self.chosen
        if row is not None:
            self._do(lambda: self.context.document.edit(row.title, row.edit))

    def apply_as_variant(self) -> None:
        """Make it in a new variant that is called like it, and show that."""
        row = self.chosen
        if row is not None:
            self._do(lambda: self.context.document.edit_as_variant(shortened(row.title), row.edit))

    def _do(self, step: Callable[[], object]) -> None:
        try:
            step()
        except UserError as error:
            self.line.setText(error.line)


def _cells(row: Mattering) -> list[numbers.Cell]:
    """As `_HEADERS` name them."""
    unit = row.after.unit if row.after is not None else row.before.unit if row.before is not None else ""
    gain = "no more" if row.after is None else f"+{format_value(row.gain, unit)}"
    cost = numbers.Cell("not stated", -1.0) if row.cost is None else numbers.number(row.cost, "It costs")
    return [
        numbers.text(row.title),
        numbers.Cell("none", -1.0) if row.after is None else numbers.number(row.after, "After"),
        numbers.Cell(gain, row.gain, colour="good"),
        cost,
        numbers.text(row.why),
    ]


def found_in_thread(plan: Plan, workload_id: str | None, aim: str, task: Task) -> Any:
    """The changes that gain; each is shown as soon as it is known. Runs in a thread."""
    from ndbplan.advise.figures import FIGURES
    from ndbplan.advise.what_matters import what_matters
    from ndbplan.desktop.document.kernel import prepare_kernel
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    if FIGURES[aim].simulated:
        prepare_kernel(task)
    now = Estimation(plan, chosen_workload(plan, workload_id))
    return what_matters(
        now,
        FIGURES[aim],
        progress=task.report,
        cancelled=task.cancelled,
        found=task.show_partial_result,
    )
