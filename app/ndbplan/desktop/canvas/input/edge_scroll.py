"""Edge scroll: what is dragged to the edge of the window takes the view along.

Not what comes in over an edge or is taken hold of there: it has to have been further inside first.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, QTimer

from ndbplan.desktop.canvas.stage import Stage

_BAND_PX = 28
_STEP_PX = 14
_FRAME_MS = 16


class EdgeScroll(QObject):
    """Pans while a drag rests near an edge.

    `carry_on(by, at)` pans by these pixels under a drag at this place, and says whether there is one.
    """

    def __init__(self, stage: Stage, carry_on: Callable[[QPoint, QPoint], bool]) -> None:
        super().__init__(stage)
        self._view, self._carry_on = stage, carry_on
        self._at = QPoint()
        self._was_inside = False
        self._timer = QTimer(self)
        self._timer.setInterval(_FRAME_MS)
        self._timer.timeout.connect(self._step)

    def follow(self, at: QPoint) -> None:
        """A drag is here now (in the viewport)."""
        self._at = at
        if self._direction().isNull():
            self._was_inside = True
            self._timer.stop()
        elif self._was_inside and not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        """The drag has ended."""
        self._was_inside = False
        self._timer.stop()

    def _direction(self) -> QPoint:
        area = self._view.viewport().rect()
        across = (self._at.x() < _BAND_PX) - (self._at.x() > area.width() - _BAND_PX)
        down = (self._at.y() < _BAND_PX) - (self._at.y() > area.height() - _BAND_PX)
        return QPoint(across, down)

    def _step(self) -> None:
        if not self._carry_on(self._direction() * _STEP_PX, self._at):
            self.stop()
