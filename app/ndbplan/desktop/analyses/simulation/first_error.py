"""The line that says what fails first, and how that differs from the run before the last edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent

from ndbplan.desktop.analyses.simulation.run import clock, error_text
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.sections import Elided

if TYPE_CHECKING:
    from ndbplan.simulate.result import SimulationResult

_SHARE = 0.3
"""Of the line with the scrubber that the first error may take."""


class FirstError(Elided):
    """The first error of a run, or that the cluster stopped; hidden where there is nothing to say."""

    wanted_at = Signal(float)
    """Somebody wants to see that moment."""

    def __init__(self) -> None:
        super().__init__("alarm")
        self._at_s: float | None = None

    def fit(self, width: int) -> None:
        """Take a part of a line so wide, in pixels: the replay, which is moved by hand, keeps most of it."""
        self.setMaximumWidth(max(120, round(_SHARE * width)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.go()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.go()
        else:
            super().keyPressEvent(event)

    def go(self) -> None:
        """Jump to the moment that it speaks of."""
        if self._at_s is not None:
            self.wanted_at.emit(self._at_s)

    def show_result(self, result: SimulationResult, before: SimulationResult | None) -> None:
        """Say it of a run; `before`: the run before the last edit."""
        error, stop = result.first_error, result.cluster_stop
        text = stop.advice if stop is not None else _text(result, before)
        self.setText(text, *_shorter(result))
        self.setVisible(bool(text))
        self.setProperty("look", "alarm" if error is not None or stop is not None else "relief")
        theme.restyle(self)
        first = stop.at_s if stop is not None else error.first_at_s if error is not None else None
        self._at_s = None if first is None else first.value
        can_go = self._at_s is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if can_go else Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if can_go else Qt.FocusPolicy.NoFocus)
        self.setAccessibleDescription("Enter goes to that moment" if can_go else "")


def _shorter(result: SimulationResult) -> tuple[str, ...]:
    error, stop = result.first_error, result.cluster_stop
    if stop is not None:
        first = stop.advice.partition("; ")[0]
        return first, first.removeprefix("after it ")
    if error is None:
        return ("no error any more",)
    when = f"error {error.code} at {clock(error.first_at_s.value)}"
    return f"{when} — {error_text(error.code)}", when, f"error {error.code}"


def _text(result: SimulationResult, before: SimulationResult | None) -> str:
    error = result.first_error
    earlier = before.first_error if before is not None else None
    was = f"before: {earlier.code} at {clock(earlier.first_at_s.value)}" if earlier is not None else ""
    if error is None:
        return f"no error any more ({was})" if was else ""
    text = f"first error {error.code} at {clock(error.first_at_s.value)} — {error_text(error.code)}"
    if was and earlier is not None and abs(earlier.first_at_s.value - error.first_at_s.value) >= 1:
        text += f" ({was})"
    elif before is not None and earlier is None:
        text += " (before: none)"
    return text
