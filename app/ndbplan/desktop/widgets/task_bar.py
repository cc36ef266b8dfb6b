"""How far a task is: a thin bar that is there while it runs."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar

_STEPS = 1000


class TaskBar(QProgressBar):
    """`follow` it with what the task reports; hide it at the end."""

    def __init__(self, name: str, most_px: int = 150) -> None:
        super().__init__()
        self.setTextVisible(False)
        self.setMinimumWidth(24)
        self.setMaximumWidth(most_px)
        self.setAccessibleName(name)
        self.hide()

    def begin(self) -> None:
        """It runs; nobody knows yet how far it is."""
        self.follow(None)
        self.show()

    def follow(self, fraction: float | None) -> None:
        """So far, from 0 to 1; None: it cannot tell."""
        self.setRange(0, 0 if fraction is None else _STEPS)
        if fraction is not None:
            self.setValue(round(fraction * _STEPS))
