"""Pinching on a touchpad zooms the canvas."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QNativeGestureEvent

from ndbplan.desktop.canvas.stage import Stage


class Pinch(QObject):
    """Listens to the viewport of a canvas.

    A filter of its own, made after the window is shown: an override in the view that takes any event would
    load the classes of all events before the first paint.
    """

    def __init__(self, view: Stage) -> None:
        super().__init__(view)
        self._view = view
        view.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            isinstance(event, QNativeGestureEvent)
            and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture
        ):
            self._view.step_zoom(1.0 + event.value(), event.position())
            return True
        return False
