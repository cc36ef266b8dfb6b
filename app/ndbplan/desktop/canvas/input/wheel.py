"""The wheel: it zooms; with Shift, or two fingers on a touchpad, it moves."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWheelEvent

from ndbplan.desktop.canvas.stage import Stage


def turn(stage: Stage, event: QWheelEvent) -> None:
    """Do what a turn of the wheel stands for."""
    held, fine = event.modifiers(), event.pixelDelta()
    if not fine.isNull() and not held & Qt.KeyboardModifier.ControlModifier:
        stage.pan_by(fine)
    elif held & Qt.KeyboardModifier.ShiftModifier:
        turned = event.angleDelta()
        stage.pan_by(QPoint(turned.y() or turned.x(), 0))
    else:
        stage.step_zoom(1.0015 ** event.angleDelta().y(), event.position())
    event.accept()
