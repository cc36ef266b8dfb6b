"""Compare with what runs: parameters that a file of the running cluster has otherwise, and the way there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from ndbplan.desktop.dialogs.frame import Dialog, side_by_side
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome
from ndbplan.desktop.widgets.sections import label
from ndbplan.desktop.widgets.what_runs import ask_what_runs
from ndbplan.desktop.widgets.whole_rows import Rows
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.configuration.difference import Difference

_HEADINGS = ("Parameter", "Runs with", "Plan", "Where", "Restart")


class _Compared(NamedTuple):
    """How a plan differs from what runs, and the steps that bring it there."""

    difference: Difference
    steps: tuple[str, ...]


class CompareDialog(Dialog):
    """Left what changes, right the order in which it is brought in; shows and changes nothing."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("Compare with what runs", "Choose another file…", parent, leave="Close")
        self._document = document
        self.resize(940, 520)
        self.what = label("", "problemText")
        self.changes = QTableWidget(0, len(_HEADINGS))
        self.changes.setProperty("look", "numbers")
        self.changes.setAccessibleName("Parameters that differ")
        self.changes.setHorizontalHeaderLabels(list(_HEADINGS))
        self.changes.setShowGrid(False)
        self.changes.verticalHeader().hide()
        self.changes.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.changes.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        header = self.changes.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        self.steps = Rows()
        self.steps.setAccessibleName("Steps, in their order")
        self.steps.setWordWrap(True)
        self.body.addWidget(self.what)
        self.body.addWidget(side_by_side(self.changes, self.steps, (600, 320)), 1)
        defaults = QPushButton("With the defaults")
        defaults.setToolTip("What the plan states other than the defaults of its version")
        defaults.clicked.connect(lambda: self.compare(None))
        pasted = QPushButton("Paste text")
        pasted.setToolTip(
            "The config.ini, or what ndb_config --diff-default prints, from the clipboard (Ctrl+V)"
        )
        pasted.clicked.connect(self.paste)
        self.add_foot(self._ask_file, defaults, pasted)
        self.compare(None)

    def compare(self, with_what: Path | str | None) -> None:
        """Compare with the configuration in a file or a text; None: with the defaults of the version."""
        self.stop_task()
        self.state.say("Comparing…")
        plan = self._document.plan
        if with_what is None:
            self._named = f"the defaults of NDB {plan.ndb_version}"
        else:
            self._named = with_what.name if isinstance(with_what, Path) else "the pasted text"
        self.task = self.tasks.start(lambda _task: _compared(plan, with_what), self._was_compared)

    def paste(self) -> None:
        """Compare with the configuration in the clipboard's text."""
        text = QGuiApplication.clipboard().text()
        if text.strip():
            self.compare(text)
        else:
            self.state.say("The clipboard holds no text.", is_error=True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        else:
            super().keyPressEvent(event)

    def _ask_file(self) -> None:
        path = ask_what_runs(self, self.windowTitle())
        if path is not None:
            self.compare(path)

    def _was_compared(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self.task = None
        if outcome.error:
            self.state.say(outcome.error, is_error=True)
            return
        self.state.say("")
        compared: _Compared = outcome.value
        self._show(compared.difference, also=bool(compared.steps))
        self.steps.clear()
        self.steps.addItems(compared.steps)
        self.steps.setVisible(bool(compared.steps))

    def _show(self, difference: Difference, *, also: bool) -> None:
        changes = difference.parameters
        parts = [f"{len(changes)} parameter{'' if len(changes) == 1 else 's'}"]
        for word, ids in (("new", difference.added_node_ids), ("gone", difference.removed_node_ids)):
            if ids:
                parts.append(f"{word} node ids {', '.join(map(str, ids))}")
        parts += [f"the connection {one}–{other}" for one, other in difference.links[:4]]
        said = f"From {self._named} to the plan: {'; '.join(parts)}."
        if difference.is_empty:
            what = "No parameter" if also else "Nothing"
            said = f"{what} differs from {self._named}."
        self.what.setText(said)
        self.changes.setRowCount(len(changes))
        for row, change in enumerate(changes):
            values = (change.name, change.shown(change.before), change.shown(change.after), change.where)
            for column, text in enumerate((*values, change.restart.replace("_", " "))):
                item = QTableWidgetItem(text)
                item.setToolTip(text)
                self.changes.setItem(row, column, item)


def _compared(plan: Plan, with_what: Path | str | None) -> _Compared:
    from ndbplan.configuration.difference import diff, diff_from_defaults
    from ndbplan.operations.change_in_short import order_or_refusal

    if with_what is None:
        return _Compared(diff_from_defaults(plan), ())
    from ndbplan.importing.running import what_runs, what_text_says_runs

    if isinstance(with_what, Path):
        before, _ = what_runs(with_what, plan)
    else:
        before = what_text_says_runs(with_what, plan)
    return _Compared(diff(before, plan), order_or_refusal(plan, before).lines)
