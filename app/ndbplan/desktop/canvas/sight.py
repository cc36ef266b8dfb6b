"""What of the canvas is seen: it lies inside the window, and not under what lies over the canvas there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtGui import QRegion
from PySide6.QtWidgets import QGraphicsView, QWidget

_ENOUGH = 0.5
"""Share that has to be seen: of a thing, or of the window where the thing is larger."""


def lying_over(view: QGraphicsView) -> list[QRect]:
    """Where rows, cards and the overview lie over a canvas, in pixels of it."""
    over = [one for one in view.children() if isinstance(one, QWidget) and one.isVisibleTo(view)]
    return [one.geometry() for one in over if one is not view.viewport()]


def is_seen(view: QGraphicsView, rect: QRectF) -> bool:
    """Whether enough of a place of the scene is seen for somebody to notice what is there."""
    place, port = view.mapFromScene(rect).boundingRect(), view.viewport().rect()
    seen = QRegion(place & port)
    for over in lying_over(view):
        seen -= QRegion(over)
    # Parts of a region overlap nowhere; Qt's stubs do not know that there is a way through them.
    parts = cast("Iterable[QRect]", seen)
    return sum(map(_area, parts)) >= _ENOUGH * min(_area(place), _area(port))


def way_into(place: QRect, room: QRect) -> QPoint:
    """The least pan that brings a place into a room; of what is larger, its upper left corner."""
    right, down = min(0, room.right() - place.right()), min(0, room.bottom() - place.bottom())
    corner = place.topLeft() + QPoint(right, down)
    return QPoint(max(corner.x(), room.left()), max(corner.y(), room.top())) - place.topLeft()


def _area(rect: QRect) -> int:
    return rect.width() * rect.height()
