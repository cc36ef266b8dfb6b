"""While the zoom moves, a large plan is a picture that is scaled; it is painted anew when the zoom rests.

The text and rounded boxes of a thousand items take longer than a frame at each new size.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QRectF, Qt, QTimer
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QGraphicsView

from ndbplan.desktop.canvas.look import process_colour
from ndbplan.desktop.layout.layout import Layout
from ndbplan.desktop.look import paint, theme

_REST_MS = 80


class Zooming(QObject):
    """The picture of one view; `layout` says where everything is."""

    def __init__(self, view: QGraphicsView, layout: Callable[[], Layout]) -> None:
        super().__init__(view)
        self._view, self._layout = view, layout
        self._picture: QPixmap | None = None
        self._shows = QRectF()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REST_MS)
        self._timer.timeout.connect(self.rest)

    @property
    def is_moving(self) -> bool:
        """Whether the view shows the scaled picture."""
        return self._picture is not None

    def step(self) -> None:
        """Keep what is seen, to scale it from here on."""
        if self._picture is None:
            self._picture = self._view.viewport().grab()
            self._shows = self._view.mapToScene(self._view.viewport().rect()).boundingRect()
        self._timer.start()

    def rest(self) -> None:
        """Paint what is there, at this size."""
        self._timer.stop()
        if self._picture is not None:
            self._picture = None
            self._view.viewport().update()

    def paint(self) -> None:
        """The scaled picture, and around it everything as plain boxes."""
        if self._picture is None:
            return
        view = self._view
        painter = QPainter(view.viewport())
        painter.fillRect(view.viewport().rect(), paint.colour(theme.tokens().canvas))
        target = view.viewportTransform().mapRect(self._shows)
        if not target.contains(QRectF(view.viewport().rect())):
            painter.setTransform(view.viewportTransform())
            _paint_boxes(painter, self._layout())
            painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(target, self._picture, QRectF(self._picture.rect()))
        painter.end()


def _paint_boxes(painter: QPainter, layout: Layout) -> None:
    t = theme.tokens()
    boxes: dict[str, list[QRectF]] = {t.location: [paint.qrect(b.rect) for b in layout.locations.values()]}
    boxes[t.card] = [paint.qrect(box.rect) for box in layout.hosts.values()]
    inside: dict[str, list[QRectF]] = {}
    for card, x, y in layout.hosts.values():
        for chip in card.chips:
            inside.setdefault(process_colour(chip, t), []).append(paint.qrect(chip.rect.moved(x, y)))
        for tile in card.tiles:
            inside.setdefault(t.location, []).append(paint.qrect(tile.rect.moved(x, y)))
    painter.setPen(Qt.PenStyle.NoPen)
    for colour, rects in (*boxes.items(), *inside.items()):
        painter.setBrush(paint.brush(colour))
        painter.drawRects(rects)
