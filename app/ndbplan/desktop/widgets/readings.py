"""Buttons for each meaning of what was typed, where it has two: whoever typed it says which."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget


class Readings(QWidget):
    """A row of buttons, hidden until something is asked."""

    def __init__(self) -> None:
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self.hide()

    def ask(self, readings: Sequence[str], mean: Callable[[str], object]) -> None:
        """Offer the readings; `mean` is told the one that is meant."""
        self.forget()
        for reading in readings:
            button = QPushButton(reading)
            button.setProperty("look", "solution")
            button.clicked.connect(lambda _on=False, text=reading: self._mean(text, mean))
            self._row.addWidget(button)
        self._row.addStretch(1)
        self.show()

    def _mean(self, text: str, mean: Callable[[str], object]) -> None:
        self.forget()
        mean(text)

    def forget(self) -> None:
        """Take the question back."""
        self.hide()
        while (item := self._row.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
