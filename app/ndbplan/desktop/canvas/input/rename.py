"""The field in which a person types a new name on the canvas."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from ndbplan.desktop.document.editor import name_field
from ndbplan.desktop.look import theme
from ndbplan.plan.plan import Plan


class RenameField(QLineEdit):
    """Enter or leaving it renames, Esc does not. A name that Enter brings and is refused stays as typed."""

    ended = Signal(bool)
    """It goes away. True: no refused name is left behind, as it was given up or another one was taken."""

    def __init__(self, object_id: str, text: str, take: Callable[[str], bool], parent: QWidget) -> None:
        """`take`: renames; False: the name was refused, which was said."""
        super().__init__(text, parent)
        self.object_id = object_id
        self._before = text
        self._take = take
        self._ending = False
        self.setObjectName("renameField")
        self.setAccessibleName("New name")
        self.selectAll()

    def cover(self, corner: QPoint, width: int) -> None:
        """Lie over the name of an object that begins at this corner and is so wide, in pixels."""
        self.setGeometry(corner.x() + 6, corner.y() + 5, max(140, min(280, width - 12)), 28)

    def finish(self, *, commit: bool, stays: bool = False) -> None:
        """Go away; `commit`: with the new name; `stays`: unless that is refused."""
        if self._ending:
            return
        self._ending = True
        text = self.text().strip()
        taken = not commit or not text or text == self._before or self._take(text)
        if stays and not taken:
            self._ending = False
            self.setProperty("invalid", True)
            theme.restyle(self)
            return
        self.ended.emit(taken)
        self.hide()
        self.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.finish(commit=True, stays=True)
        elif event.key() == Qt.Key.Key_Escape:
            self.finish(commit=False)
        else:
            super().keyPressEvent(event)
        # Whatever it means here, it means nothing to the canvas below.
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.finish(commit=True)


def name_of(plan: Plan, object_id: str) -> str | None:
    """The name that a person may change on the canvas; None: it has none."""
    part = plan.by_id.get(object_id)
    field = name_field(part) if part is not None else None
    return None if field is None else str(getattr(part, field))
