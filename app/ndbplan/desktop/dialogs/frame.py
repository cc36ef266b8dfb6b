"""What dialogs share: one button that does it, a line that says how it goes, work that ends with the dialog.

class KeysDialog(Dialog):
    def __init__(self, document, parent):
        super().__init__("Real keys", "Use the counted rows", parent)
        self.body.addWidget(...)
        self.add_foot(self.put_in)
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from ndbplan.desktop.document.tasks import Task, Tasks
from ndbplan.desktop.widgets.sections import StateLine

_TITLE = 40
"""Height of a title bar, which is not known before the dialog is there."""


class Dialog(QDialog):
    """Deletes itself when it is closed; `tasks` are told to stop then."""

    def __init__(self, title: str, take: str, parent: QWidget | None, leave: str = "Cancel") -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.tasks = Tasks(self)
        self.task: Task | None = None
        """What is under way; a newer one takes its place."""
        self.state = StateLine()
        self.take = QPushButton(take)
        self.take.setProperty("kind", "primary")
        self.buttons = QDialogButtonBox()
        self.buttons.addButton(self.take, QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.addButton(leave, QDialogButtonBox.ButtonRole.RejectRole)
        self.buttons.rejected.connect(self.reject)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(16, 16, 16, 16)
        self.body.setSpacing(12)

    def add_foot(self, take: Callable[[], object], *before: QWidget) -> None:
        """The last row: what stands before the line, the line, the buttons."""
        self.buttons.accepted.connect(take)
        foot = QHBoxLayout()
        for widget in before:
            foot.addWidget(widget)
        foot.addWidget(self.state, 1)
        foot.addWidget(self.buttons)
        self.body.addLayout(foot)

    def showEvent(self, event: QShowEvent) -> None:
        fit_on_screen(self)
        super().showEvent(event)

    def make_room(self) -> None:
        """Be as high as the texts are now, where the screen is."""
        wanted = self.body.totalHeightForWidth(self.width())
        if wanted > self.height():
            self.resize(self.width(), wanted)
            fit_on_screen(self)

    def stop_task(self) -> None:
        """Tell what is under way that nobody waits for it."""
        if self.task is not None:
            self.task.cancel()
            self.task = None

    def done(self, result: int) -> None:
        self.tasks.close()
        super().done(result)


def fit_on_screen(window: QWidget) -> None:
    """Make a window no larger than its screen: what stands at its foot may not lie below the edge."""
    room = window.screen().availableGeometry()
    window.resize(window.size().boundedTo(room.size() - QSize(0, _TITLE)))


def side_by_side(left: QWidget, right: QWidget, sizes: tuple[int, int]) -> QSplitter:
    """Two halves of a dialog with a gap that can be dragged."""
    split = QSplitter(Qt.Orientation.Horizontal)
    split.setProperty("look", "gap")
    split.setHandleWidth(12)
    split.setChildrenCollapsible(False)
    split.addWidget(left)
    split.addWidget(right)
    split.setSizes(list(sizes))
    return split
