"""What would help: changes of the plan that raise the load it can take, each with one-click Try."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_count
from ndbplan.desktop.context import Context
from ndbplan.desktop.estimates import Estimate
from ndbplan.desktop.explain import QuantityLabel
from ndbplan.desktop.parts import Section, empty, label, link
from ndbplan.desktop.tasks import Outcome, Progress, Task
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.workloads import Workload

if TYPE_CHECKING:
    from ndbplan.advise.help import Remedy
    from ndbplan.estimate.quantity import Quantity


class Advice(QWidget):
    """Searches when asked, off the GUI thread; an edit makes the answer old."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__()
        self._context, self._ids = context, tuple(ids)
        self._task: Task | None = None
        self._plan: Plan | None = None
        self._section = Section("What would help")
        self._again = link("Search", self.search, "Search for what would help")
        self._section.add_action(self._again)
        self._column = QVBoxLayout()
        self._column.setSpacing(6)
        self._section.body.addLayout(self._column)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._section)
        self._idle("Finds changes that let the cluster take more of the workload.")
        if not self._applies():
            self.hide()

    def _applies(self) -> bool:
        plan = self._context.plan
        kinds = (Disk, Host, DataNode, Workload)
        return bool(plan.workloads) and (
            not self._ids or (len(self._ids) == 1 and isinstance(plan.by_id.get(self._ids[0]), kinds))
        )

    def show_estimate(self, estimate: Estimate) -> None:
        """An edit happened: what was found for the plan before is no longer true."""
        self.setVisible(self._applies())
        if self._plan is not None and self._plan is not estimate.plan:
            self._cancel()
            self._plan = None
            self._idle("The plan has changed: search again.")

    def search(self) -> None:
        """Look for remedies, in a thread."""
        self._cancel()
        plan = self._context.plan
        selected = plan.by_id.get(self._ids[0]) if len(self._ids) == 1 else None
        workload_id = selected.id if isinstance(selected, Workload) else self._context.estimates.workload_id
        self._plan = plan
        empty(self._column)
        bar = QProgressBar()
        bar.setTextVisible(False)
        bar.setRange(0, 0)
        bar.setAccessibleName("Searching for what would help")
        what = label("Trying changes…", "muted")
        self._column.addWidget(what)
        self._column.addWidget(bar)
        self._again.setText("Cancel")
        self._task = self._context.tasks.start(
            lambda task: _search(plan, workload_id, task), self._found, partial(_show, bar, what)
        )
        self._again.clicked.disconnect()
        self._again.clicked.connect(self._cancel_clicked)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def _cancel_clicked(self) -> None:
        self._cancel()
        self._plan = None
        self._idle("Cancelled.")

    def _idle(self, text: str) -> None:
        empty(self._column)
        self._column.addWidget(label(text, "muted"))
        self._again.setText("Search")
        self._reconnect(self.search)

    def _reconnect(self, clicked: Callable[[], None]) -> None:
        self._again.clicked.disconnect()
        self._again.clicked.connect(lambda: clicked())

    def _found(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        self._idle("")
        empty(self._column)
        if outcome.error:
            self._column.addWidget(label(outcome.error, "fieldError"))
            return
        for remedy in outcome.value:
            self._column.addWidget(RemedyCard(self._context, remedy))
        if not outcome.value:
            self._column.addWidget(label("None of the changes tried raises what the cluster takes.", "muted"))


class RemedyCard(QFrame):
    """One change: what it does to the highest load, and Try."""

    def __init__(self, context: Context, remedy: Remedy) -> None:
        super().__init__()
        self._context, self._remedy = context, remedy
        self.setProperty("look", "card")
        text = QVBoxLayout()
        text.setSpacing(2)
        text.addWidget(label(remedy.title, "cardTitle"))
        numbers = QHBoxLayout()
        numbers.setSpacing(4)
        numbers.addWidget(_number("Before", remedy.before))
        numbers.addWidget(label("→", "gain", wrap=False))
        numbers.addWidget(_number("After", remedy.after))
        numbers.addWidget(label("tx/s", "gain", wrap=False))
        numbers.addStretch(1)
        text.addLayout(numbers)
        self._error = label("", "fieldError")
        self._error.hide()
        text.addWidget(self._error)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.addLayout(text, 1)
        try_link = link("Try", self.apply, f"Try: {remedy.title}")
        try_link.setToolTip("Apply it to the plan; undo takes it back")
        row.addWidget(try_link, 0, Qt.AlignmentFlag.AlignVCenter)

    def apply(self) -> None:
        """Do the change as one undoable edit."""
        try:
            self._context.document.edit(self._remedy.title, self._remedy.edit)
        except UserError as error:
            self._error.setText(error.line)
            self._error.show()


def _number(title: str, quantity: Quantity) -> QuantityLabel:
    shown = QuantityLabel(title, quantity)
    shown.setProperty("look", "gain")
    shown.setText(format_count(round(quantity.value)))
    return shown


def _show(bar: QProgressBar, text: QLabel, progress: Progress) -> None:
    if progress.text:
        text.setText(progress.text)
    if progress.fraction is not None:
        bar.setRange(0, 1000)
        bar.setValue(round(progress.fraction * 1000))


def _search(plan: Plan, workload_id: str | None, task: Task) -> Any:
    from ndbplan.advise.help import remedies
    from ndbplan.simulate import kernel

    if not kernel.is_prepared():
        task.report(None, "Preparing the simulation engine (once on this machine)…")
    kernel.prepare()
    return remedies(plan, workload_id, cancelled=task.cancelled, progress=task.report)
