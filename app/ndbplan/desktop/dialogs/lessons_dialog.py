"""The lessons there are, what one has reached in each, and the plans that one can be played on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_duration
from ndbplan.desktop.dialogs.frame import Dialog, side_by_side
from ndbplan.desktop.document.preferences import LESSONS, TRAINEE, Preferences
from ndbplan.desktop.document.tasks import Outcome
from ndbplan.desktop.widgets.sections import label
from ndbplan.desktop.widgets.whole_rows import Rows

if TYPE_CHECKING:
    from ndbplan.train.lessons.files import Read

_MOST_NAME = 80
_FILTER = "Lessons (*.yaml *.yml);;All files (*)"


class LessonsDialog(Dialog):
    """Choose a lesson and who plays it."""

    chosen = Signal(object, object, str)
    """What was read of the lesson, the plan to begin with (`Begin`), and the trainee."""

    def __init__(self, preferences: Preferences, parent: QWidget | None) -> None:
        super().__init__("Lessons", "Begin", parent)
        self._preferences = preferences
        self._read: list[Read] = []
        self.resize(820, 520)
        self.list = Rows()
        self.list.setProperty("look", "listing")
        self.list.setAccessibleName("Lessons")
        self.list.setWordWrap(True)
        self.list.currentRowChanged.connect(self._show)
        self.list.itemActivated.connect(lambda _item: self.begin())
        self.title = label("", "title")
        self.about = label("", "calloutText")
        self.story = label("", "muted")
        self.facts = label("", "muted")
        self.starts = QComboBox()
        self.starts.setAccessibleName("Plan to begin with")
        self.trainee = QLineEdit(preferences.get(TRAINEE))
        self.trainee.setMaxLength(_MOST_NAME)
        self.trainee.setPlaceholderText("stands on the page to hand in")
        self.trainee.setAccessibleName("Your name")
        form = QFormLayout()
        form.addRow("Plan", self.starts)
        form.addRow("Your name", self.trainee)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        for widget in (self.title, self.about, self.story, self.facts):
            column.addWidget(widget)
        column.addStretch(1)
        column.addLayout(form)
        left = QWidget()
        beside = QVBoxLayout(left)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.addWidget(self.list, 1)
        own = QHBoxLayout()
        file = QPushButton("A lesson from a file…")
        file.clicked.connect(self._open)
        own.addWidget(file)
        own.addStretch(1)
        beside.addLayout(own)
        self.body.addWidget(side_by_side(left, right, (380, 420)), 1)
        self.add_foot(self.begin)
        self.take.setEnabled(False)
        self.list.setFocus()
        self.state.say("Reading the lessons…")
        self.task = self.tasks.start(lambda _task: _own(), self._take)

    def _take(self, outcome: Outcome) -> None:
        if outcome.error:
            self.state.say(outcome.error, is_error=True)
        elif not outcome.cancelled:
            self.state.say("")
            for read in outcome.value:
                self._add(read)
            # The focus stays: whoever types a name meanwhile goes on in that field.
            self.list.setCurrentRow(0)

    def _add(self, read: Read) -> None:
        best = self._preferences.get(LESSONS).get(read.value.name)
        reached = f"  ·  {best:g} points" if isinstance(best, int | float) else ""
        item = QListWidgetItem(f"{read.value.title}{reached}")
        item.setToolTip(read.value.about)
        self._read.append(read)
        self.list.addItem(item)

    def _show(self, row: int) -> None:
        self.take.setEnabled(row >= 0)
        if row < 0:
            return
        lesson = self._read[row].value
        self.title.setText(lesson.title)
        self.about.setText(lesson.about)
        story = lesson.worded(lesson.starts[0]).story
        self.story.setText(" ".join(story.split()))
        stages = len(lesson.stages)
        self.facts.setText(
            f"{stages} {'stage' if stages == 1 else 'stages'} · {format_duration(lesson.limit)} of simulated "
            f"time{f' · {lesson.source}' if lesson.source else ''}"
        )
        self.starts.clear()
        for start in lesson.starts:
            self.starts.addItem(start.name, start)

    def ask_file(self) -> Path | None:
        """Which file to read."""
        name, _ = QFileDialog.getOpenFileName(self, "A lesson", str(Path.home()), _FILTER)
        return Path(name) if name else None

    def _open(self) -> None:
        from ndbplan.train.lessons.files import LESSONS as KIND

        path = self.ask_file()
        if path is None:
            return
        try:
            self._add(KIND.read(path))
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self.state.say("")
        self.list.setCurrentRow(self.list.count() - 1)

    def begin(self) -> None:
        """Take the lesson that is marked."""
        row = self.list.currentRow()
        if row < 0 or not self.take.isEnabled():
            return
        trainee = self.trainee.text().strip()
        self._preferences.put(TRAINEE, trainee)
        start: Any = self.starts.currentData(Qt.ItemDataRole.UserRole)
        read = self._read[row]
        self.accept()
        self.chosen.emit(read, start, trainee)


def _own() -> list[Read]:
    from ndbplan.train.lessons.files import own

    return own()
