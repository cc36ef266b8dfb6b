"""Real keys: count where the keys of a CSV fall, see the skew they make, take the counts into the plan."""

from __future__ import annotations

from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_count, format_percent
from ndbplan.desktop.dialogs.frame import Dialog
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome, Progress, Task
from ndbplan.desktop.widgets.sections import Bar, Elided, label
from ndbplan.edits import parts as edits
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table

if TYPE_CHECKING:
    from ndbplan.estimate.storage.fragments import Skew
    from ndbplan.estimate.storage.real_keys import KeyCount
    from ndbplan.estimate.storage.skew import SkewReport

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_WHY = {
    "even": "nothing: they lie evenly",
    "chance": "chance, as any hash spreads",
    "hash map": "uneven buckets of the hash map",
    "keys": "the keys themselves",
    "few values": "few different keys, as any hash spreads so many",
}


@dataclass(frozen=True)
class _Counted:
    """The keys of a table, and what they make of it."""

    count: KeyCount
    fields: dict[str, Any]
    """Of the table, for the plan."""
    skew: Skew
    report: SkewReport


class RealKeysDialog(Dialog):
    """Counts in a thread with progress; deletes itself when it is closed."""

    def __init__(self, document: Document, table_id: str, parent: QWidget | None = None) -> None:
        table: Table = document.plan.by_id[table_id]
        super().__init__(f"Real keys of {table.full_name}", "Use the counted rows", parent)
        self._document = document
        self._table = table
        self._counted: _Counted | None = None
        self.resize(620, 520)
        names = self._table.distribution_key or self._table.primary_key
        columns = ", ".join(names) if names else "none: the table has a hidden key"
        self.choose = QPushButton("Choose a CSV file…")
        self.choose.clicked.connect(self._ask_file)
        self.file = Elided()
        self.bar = Bar()
        self.bar.hide()
        self.facts = QGridLayout()
        self.facts.setHorizontalSpacing(24)
        self.facts.setVerticalSpacing(6)
        self.facts.setColumnStretch(1, 1)
        self.hot = QTableWidget(0, 3)
        self.hot.setProperty("look", "numbers")
        self.hot.setAccessibleName("Most frequent keys")
        for column, text in enumerate(("Most frequent keys", "Rows", "Share")):
            heading = QTableWidgetItem(text)
            heading.setTextAlignment(_RIGHT if column else _LEFT)
            self.hot.setHorizontalHeaderItem(column, heading)
        self.hot.setShowGrid(False)
        self.hot.verticalHeader().hide()
        self.hot.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.hot.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.hot.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.take.setEnabled(False)
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(self.choose)
        top.addWidget(self.file, 1)
        self.body.addWidget(
            label(
                f"One key per line, under a header with the columns of the distribution key ({columns}). "
                "Other columns are passed over; ten million lines take a few seconds.",
                "muted",
            )
        )
        self.body.addLayout(top)
        self.body.addWidget(self.bar)
        self.body.addLayout(self.facts)
        self.body.addWidget(self.hot, 100)
        self.body.addStretch(1)
        self.add_foot(self.put_in)
        self.hot.hide()

    def count(self, path: Path) -> None:
        """Count the keys of a file; what is wrong with it is said below."""
        self.stop_task()
        self._counted = None
        self.take.setEnabled(False)
        self.file.setText(path.name)
        self.file.setToolTip(str(path))
        self.state.say("Counting…")
        self.bar.show_fraction(0.0)
        self.bar.show()
        plan, table = self._document.plan, self._table
        self.task = self.tasks.start(
            lambda task: _count(plan, table, path, task), self._was_counted, self._show_progress
        )

    def put_in(self) -> None:
        """Take rows and rows of each partition into the plan, as one undoable step."""
        if self._counted is None:
            return
        fields = self._counted.fields
        try:
            self._document.edit(
                f"Count the keys of {self._table.full_name}",
                lambda plan: edits.update(plan, self._table.id, **fields),
            )
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self.accept()

    def _ask_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, self.windowTitle(), "", "Keys (*.csv *.txt);;All files (*)"
        )
        if name:
            self.count(Path(name))

    def _show_progress(self, progress: Progress) -> None:
        self.bar.show_fraction(progress.fraction or 0.0)

    def _was_counted(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self.task = None
        self.bar.hide()
        self._clear_facts()
        self.hot.hide()
        if outcome.error:
            self.state.say(outcome.error, is_error=True)
            return
        counted: _Counted = outcome.value
        self._counted = counted
        count = counted.count
        self._fact("Rows", format_count(count.rows))
        if count.distinct is not None:
            self._fact("Different keys", format_count(count.distinct))
        if count.exact:
            over = format_percent(counted.skew.partition_ratio - 1)
            self._fact("Fullest partition", f"{over} over mean")
            cause = counted.report.cause
            self._fact("Uneven because of", _WHY["keys" if cause != "even" and count.is_hot else cause])
        self._show_hot(count)
        self.take.setEnabled(count.rows > 0)
        if count.faulty:
            lines = "; ".join(count.problems[:3])
            faulty = "1 row" if count.faulty == 1 else f"{format_count(count.faulty)} rows"
            self.state.say(f"{faulty} could not be read, left out of the count: {lines}", is_error=True)
        else:
            self.state.say(count.note)

    def _show_hot(self, count: KeyCount) -> None:
        self.hot.setRowCount(len(count.hot_keys))
        for row, (text, rows) in enumerate(count.hot_keys):
            cells = (text, format_count(rows), format_percent(rows / max(1, count.rows)))
            for column, cell in enumerate(cells):
                item = QTableWidgetItem(cell)
                item.setTextAlignment(_RIGHT if column else _LEFT)
                self.hot.setItem(row, column, item)
        self.hot.setVisible(bool(count.hot_keys))

    def _fact(self, name: str, text: str) -> None:
        row = self.facts.rowCount()
        self.facts.addWidget(label(name, "muted", wrap=False), row, 0)
        self.facts.addWidget(label(text, "factValue", wrap=False), row, 1)

    def _clear_facts(self) -> None:
        while (item := self.facts.takeAt(0)) is not None:
            widget = item.widget()
            if isinstance(widget, QLabel):
                widget.hide()
                widget.deleteLater()


class _Metered(BufferedReader):
    """A file that tells how much of it was read."""

    def __init__(self, raw: FileIO, size: int, task: Task) -> None:
        super().__init__(raw)
        self._size = max(1, size)
        self.task = task

    def read(self, size: int | None = -1) -> bytes:
        self.task.report(min(1.0, self.raw.tell() / self._size))
        return super().read(size)


def _count(plan: Plan, table: Table, path: Path, task: Task) -> _Counted:
    from ndbplan.estimate.storage.skew import skew_report
    from ndbplan.estimate.stored import count_keys, distribute

    try:
        with _Metered(FileIO(path), path.stat().st_size, task) as stream:
            count = count_keys(plan, table, stream, task.cancelled)
    except OSError as error:
        raise UserError(f"cannot be read ({error.strerror})", where=str(path), fix="check the name") from None
    if not count.rows:
        what = count.problems[0] if count.problems else "it holds no keys"
        raise UserError(what, where=str(path), fix="give one key per line under a header")
    fields = count.table_fields()
    after = edits.update(plan, table.id, **fields)
    distribution = distribute(after, after.by_id[table.id])
    return _Counted(count, fields, distribution.skew, skew_report(distribution, measured=count.exact))
