"""The ground of the canvas: faint dots, plain from far away."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtGui import QBrush, QColor, QPainter, QPixmap

from ndbplan.desktop.look.theme import Tokens

_SPACING = 26
_PLAIN_BELOW = 0.5


class Backdrop:
    """Paints the ground for one theme and zoom."""

    def __init__(self) -> None:
        self._plain = QBrush()
        self._dots: QBrush | None = None

    def prepare(self, tokens: Tokens, zoom: float) -> None:
        """Paint for this theme and zoom from now on."""
        self._plain = QBrush(QColor(tokens.canvas))
        self._dots = None
        if zoom < _PLAIN_BELOW:
            return
        side = max(8, round(_SPACING * zoom))
        tile = QPixmap(side, side)
        tile.fill(QColor(tokens.canvas))
        painter = QPainter(tile)
        dot = QColor(tokens.grid).lighter(125 if tokens.is_dark else 95)
        painter.setPen(dot)
        painter.drawPoint(side // 2, side // 2)
        painter.end()
        self._dots = QBrush(tile)

    def paint(self, painter: QPainter, exposed: QRectF, window: QRect, origin: QPoint) -> None:
        """Fill what is exposed; `origin` is where the scene's origin lies in the window."""
        if self._dots is None:
            painter.fillRect(exposed, self._plain)
            return
        # In window pixels: a pattern that has to be scaled costs as much as everything on it.
        painter.save()
        painter.resetTransform()
        painter.setBrushOrigin(origin)
        painter.fillRect(window, self._dots)
        painter.restore()
