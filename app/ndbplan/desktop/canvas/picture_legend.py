"""The legend below a picture of the canvas, which has no chooser: what its colours mean."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from ndbplan.describe.colouring import Colouring
from ndbplan.desktop.canvas.shading import swatch
from ndbplan.desktop.look import paint
from ndbplan.desktop.look.text import text_width
from ndbplan.desktop.look.theme import Tokens

_HIGH, _SWATCH, _GAP, _TEXT_PX = 40.0, 16.0, 26.0, 15


class PictureLegend(QGraphicsItem):
    """One row from a place on."""

    def __init__(self, colouring: Colouring, tokens: Tokens, at: QPointF) -> None:
        super().__init__()
        self._colouring, self._tokens = colouring, tokens
        self._texts = [entry.text for entry in colouring.legend]
        widths = [text_width(text, _TEXT_PX, 400) + _SWATCH + 8 + _GAP for text in self._texts]
        title = text_width(colouring.title, _TEXT_PX, 600) + _GAP
        self._starts = [title + sum(widths[:i]) for i in range(len(widths) + 1)]
        self._note_width = text_width(colouring.note, _TEXT_PX, 400) + 4.0
        self.setPos(at)

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, self._starts[-1] + self._note_width, _HIGH)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        t = self._tokens
        first = QRectF(0, 0, self._starts[0], _HIGH)
        paint.text(painter, first, self._colouring.title, t.text_strong, _TEXT_PX, 600)
        for entry, x, end in zip(self._colouring.legend, self._starts, self._starts[1:], strict=False):
            swatch(painter, QRectF(x, (_HIGH - _SWATCH) / 2, _SWATCH, _SWATCH), entry, t)
            room = QRectF(x + _SWATCH + 8, 0, end - x - _SWATCH - 8, _HIGH)
            paint.text(painter, room, entry.text, t.text, _TEXT_PX)
        note = QRectF(self._starts[-1], 0, self._note_width, _HIGH)
        paint.text(painter, note, self._colouring.note, t.muted, _TEXT_PX)
