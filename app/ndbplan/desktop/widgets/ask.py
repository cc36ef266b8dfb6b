"""A small popup that asks for one to three values where the pointer is: Enter takes them, Esc does not.

A value that is refused stays as typed, with what is wrong below it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.base.units import TwoReadingsError
from ndbplan.desktop.widgets.readings import Readings
from ndbplan.desktop.widgets.sections import label
from ndbplan.desktop.widgets.units import Unit


class Question(NamedTuple):
    """One line of the popup."""

    name: str
    unit: Unit
    text: str
    """What stands in the field at first."""
    empty: str = ""
    """What an empty field means; without it the field must not be empty."""


class Ask(QFrame):
    """Asks, and calls back with the values in the order of the questions; None: left empty."""

    def __init__(
        self,
        title: str,
        questions: Sequence[Question],
        button: str,
        take: Callable[..., object],
        parent: QWidget,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("card")
        self.setAccessibleName(title)
        self._questions, self._take = questions, take
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 12, 14, 12)
        layout.setSpacing(8)
        layout.addWidget(label(title, "heading", wrap=False))
        grid = QGridLayout()
        grid.setSpacing(8)
        self.fields: list[QLineEdit] = []
        for row, question in enumerate(questions):
            field = QLineEdit(question.text)
            field.setAccessibleName(question.name)
            field.setPlaceholderText(question.empty)
            field.setToolTip(f"For example {question.unit.example}")
            field.setMinimumWidth(120)
            field.returnPressed.connect(self.accept)
            caption = QLabel(question.name)
            caption.setBuddy(field)
            grid.addWidget(caption, row, 0)
            grid.addWidget(field, row, 1)
            self.fields.append(field)
        layout.addLayout(grid)
        self.error = QLabel()
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.error.setProperty("look", "fieldError")
        self.error.setWordWrap(True)
        self.error.hide()
        layout.addWidget(self.error)
        self.readings = Readings()
        layout.addWidget(self.readings)
        self.button = QPushButton(button)
        self.button.setProperty("kind", "primary")
        self.button.clicked.connect(self.accept)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignRight)

    def ask_at(self, where: QPoint) -> None:
        """Open at this place of the screen, as far as it fits there."""
        self.adjustSize()
        screen = QGuiApplication.screenAt(where) or QGuiApplication.primaryScreen()
        room = screen.availableGeometry()
        self.move(
            max(room.left(), min(where.x(), room.right() - self.width())),
            max(room.top(), min(where.y(), room.bottom() - self.height())),
        )
        self.show()
        self.fields[0].setFocus(Qt.FocusReason.PopupFocusReason)
        self.fields[0].selectAll()

    def accept(self) -> None:
        """Take what is typed, unless a field is refused."""
        values: list[Any] = []
        for question, field in zip(self._questions, self.fields, strict=True):
            text = field.text().strip()
            if not text and question.empty:
                values.append(None)
                continue
            try:
                values.append(question.unit.parse(text))
            except UserError as error:
                self.refuse(error.line)
                if isinstance(error, TwoReadingsError):
                    self.readings.ask(error.readings, partial(self._mean, field))
                    self.adjustSize()
                field.setFocus()
                return
        self.close()
        self._take(*values)

    def _mean(self, field: QLineEdit, text: str) -> None:
        field.setText(text)
        self.accept()

    def refuse(self, line: str) -> None:
        """Say what is wrong."""
        self.readings.forget()
        self.error.setText(line)
        self.error.setVisible(bool(line))
        self.adjustSize()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)
