"""Tables from SQL: paste statements or a dump, see what is understood, take it into the plan.

Log file groups and tablespaces come with the tables, as on the command line.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import (
    QFileDialog,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import how_many
from ndbplan.desktop.dialogs.frame import Dialog, side_by_side
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.listing import Listing
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.importing.ddl.statements import DdlResult
    from ndbplan.importing.ddl.tokens import DdlProblem

_PAUSE_MS = 250
_HINT = "Paste SHOW CREATE TABLE output, CREATE TABLE, CREATE TABLESPACE, or a mysqldump here."


class SqlDialog(Dialog):
    """Text on the left, what was understood on the right; deletes itself when it is closed."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("Tables from SQL", "Add tables", parent)
        self.resize(900, 560)
        self._document = document
        self._ddl: DdlResult | None = None
        """What the text makes, as long as the plan can take it."""
        self.text = QPlainTextEdit()
        self.text.setTabChangesFocus(True)
        self.text.setFont(theme.mono_font())
        self.text.setPlaceholderText(_HINT)
        self.text.setAccessibleName("SQL text")
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.read_back = Listing("What was understood")
        self.read_back.itemActivated.connect(self._go_to)
        self.read_back.itemClicked.connect(self._go_to)
        load = QPushButton("Open a file…")
        load.clicked.connect(self._ask_file)
        self.take.setEnabled(False)
        self.body.addWidget(side_by_side(self.text, self.read_back, (560, 320)), 1)
        self.add_foot(self.add_tables, load)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._read)
        self.text.textChanged.connect(self._pause.start)

    def open(self, path: Path | None = None) -> None:
        """Show the dialog, with the text of a file when one is given."""
        if path is not None:
            self.load(path)
        super().open()

    def load(self, path: Path) -> None:
        """Show the text of a file; what is wrong with it is said below."""
        from ndbplan.importing.files import read_file

        try:
            self.text.setPlainText(read_file(path).decode("utf-8", "replace"))
        except UserError as error:
            self.state.say(error.line, is_error=True)

    def add_tables(self) -> None:
        """Take what was read into the plan as one undoable edit; known tables keep their rows and growth."""
        ddl = self._ddl
        if ddl is None or ddl.is_empty:
            return
        from ndbplan.importing.ddl.into_plan import with_ddl

        try:
            self._document.edit(f"Add {_what_comes(ddl)} from SQL", lambda plan: with_ddl(plan, ddl).plan)
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self.accept()

    def _ask_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Tables from SQL", "", "SQL (*.sql *.txt);;All files (*)")
        if name:
            self.load(Path(name))

    def _read(self) -> None:
        self.stop_task()
        text, plan = self.text.toPlainText(), self._document.plan
        if text.strip() and not self.read_back.count():
            self.state.say("Reading…")
        self.task = self.tasks.start(lambda task: _read_ddl(text, plan, task), self._was_read)

    def _was_read(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self.task = None
        self.read_back.clear()
        self._ddl = None
        self.take.setEnabled(False)
        if outcome.error:
            self.state.say(outcome.error, is_error=True)
            return
        ddl, changes, problems, refusal = outcome.value
        self._ddl = None if refusal else ddl
        for line in changes:
            self._item(line, _icon_of(line), None)
        for problem in problems:
            self._item(str(problem), "triangle-alert", (problem.line, problem.column))
        if refusal:
            self._item(refusal, "triangle-alert", None)
        self.take.setEnabled(not (ddl.is_empty or refusal))
        self.take.setText(f"Add {_what_comes(ddl)}")
        notes, what = len(problems), _what_comes(ddl)
        if refusal:
            self.state.say(refusal, is_error=True)
        elif notes or not ddl.is_empty:
            noted = f", {notes} note{'' if notes == 1 else 's'}" if notes else ""
            self.state.say(f"{what} understood{noted}")
        else:
            self.state.say(_HINT)

    def _item(self, text: str, icon: str, place: tuple[int, int] | None) -> None:
        self.read_back.add(text, icon, "warning" if icon == "triangle-alert" else "good", place)

    def _go_to(self, item: QListWidgetItem) -> None:
        place = item.data(Qt.ItemDataRole.UserRole)
        if place is None:
            return
        block = self.text.document().findBlockByLineNumber(place[0] - 1)
        cursor = QTextCursor(block)
        cursor.movePosition(
            QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, max(0, place[1] - 1)
        )
        self.text.setTextCursor(cursor)
        self.text.setFocus()


def _icon_of(line: str) -> str:
    return "hard-drive" if line.startswith(("log file group ", "tablespace ")) else "table-2"


def _what_comes(ddl: DdlResult) -> str:
    """`2 tables, 1 tablespace`."""
    counts = (
        (len(ddl.disk_data.logfile_groups), "log file group"),
        (len(ddl.disk_data.tablespaces), "tablespace"),
    )
    words = [how_many(count, kind) for count, kind in counts if count]
    others = len(ddl.disk_data.altered) + len(ddl.disk_data.dropped) + len(ddl.fates)
    words += [f"{how_many(others, 'change')} of what is there"] if others else []
    tables = len(ddl.tables)
    if tables or not words:
        words.insert(0, how_many(tables, "table"))
    return ", ".join(words)


class _Read(NamedTuple):
    """What a text makes, and what the plan would say to it."""

    ddl: DdlResult
    changes: list[str]
    problems: list[DdlProblem]
    """What is not used or cannot come, in the order of the text."""
    refusal: str


def _read_ddl(text: str, plan: Plan, task: Task) -> _Read:
    from ndbplan.importing.ddl.into_plan import with_ddl
    from ndbplan.importing.ddl.statements import read_ddl

    database = plan.tables[-1].database if plan.tables else "test"
    ddl = read_ddl(text, plan.version, database, task.cancelled)
    changes: list[str] = []
    missing: list[DdlProblem] = []
    refusal = ""
    try:
        _, changes, missing = with_ddl(plan, ddl)
    except UserError as error:
        refusal = error.line
    problems = sorted((*ddl.problems, *missing), key=lambda one: (one.line, one.column))
    return _Read(ddl, changes, problems, refusal)
