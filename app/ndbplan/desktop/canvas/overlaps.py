"""Where hosts and locations cover one another: hatched, and the names of both can be read all the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsRectItem,
    QGraphicsScene,
    QStyleOptionGraphicsItem,
    QWidget,
)

from ndbplan.desktop.canvas.items import Z_LABEL
from ndbplan.desktop.canvas.look import TITLE_LARGEST_PX, Look
from ndbplan.desktop.layout.collision import covered, each_standing
from ndbplan.desktop.layout.layout import Layout
from ndbplan.desktop.look import paint
from ndbplan.desktop.look.text import text_width

_ALPHA = 90
_LEFT, _TOP, _PAD = 12.0, 6.0, 6.0
_LINE = TITLE_LARGEST_PX + _PAD
"""Height that a name takes where it is largest."""


class Overlaps:
    """What a scene draws over what covers one another."""

    def __init__(self, scene: QGraphicsScene, look: Look) -> None:
        self._scene, self._look = scene, look
        self._items: list[QGraphicsItem] = []
        self.pairs: tuple[tuple[str, str], ...] = ()
        """Ids of hosts and locations that cover one another; the card of loose API slots has the id ''."""

    def show(self, layout: Layout) -> None:
        """Hatch what is covered now, and write the names that lie there above the hatching."""
        for item in self._items:
            self._scene.removeItem(item)
        self.pairs = covered(layout)
        self._items = list(self._drawn(layout)) if self.pairs else []
        for item in self._items:
            self._scene.addItem(item)

    def _drawn(self, layout: Layout) -> Iterator[QGraphicsItem]:
        rects = {i: paint.qrect(r) for one in each_standing(layout) for i, r in one.items()}
        for one, other in self.pairs:
            yield self._hatched(rects[one].intersected(rects[other]))
        names = dict[str, QRectF]()
        for pair in self.pairs:
            for object_id, above in zip(pair, reversed(pair), strict=True):
                if object_id and object_id not in names:
                    slot = _slot(rects[object_id], _name(layout, object_id), names.values())
                    if slot.intersects(rects[above]):
                        names[object_id] = slot
        for object_id, slot in names.items():
            yield NameTag(self._look, _name(layout, object_id), slot)

    def _hatched(self, rect: QRectF) -> QGraphicsItem:
        ink = self._look.tokens.warning
        item = QGraphicsRectItem(rect)
        item.setPen(QPen(paint.colour(ink), 1.0))
        item.setBrush(QBrush(paint.colour(ink, _ALPHA), Qt.BrushStyle.BDiagPattern))
        item.setZValue(Z_LABEL)
        return item


class NameTag(QGraphicsItem):
    """The name of a host or location on a ground of its own, above what covers it."""

    def __init__(self, look: Look, name: str, slot: QRectF) -> None:
        super().__init__()
        self._look, self.name, self.slot = look, name, slot
        self.setZValue(Z_LABEL + 1)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    def boundingRect(self) -> QRectF:
        return self.slot

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        t, px = self._look.tokens, self._look.title_px
        if self._look.names_stand_apart:
            return
        ground = QRectF(self.slot.topLeft(), self.slot.bottomRight())
        ground.setHeight(px + _PAD)
        ground.setWidth(min(self.slot.width(), text_width(self.name, px, 600) + 2 * _PAD))
        paint.box(painter, ground, t.card, t.warning, 5)
        words = ground.adjusted(_PAD, 0, -_PAD / 2, 0)
        paint.text(painter, words, self.name, t.text_strong, px, 600)


def _name(layout: Layout, object_id: str) -> str:
    box = layout.locations.get(object_id)
    return box.location.name if box is not None else layout.hosts[object_id].card.host.hostname


def _slot(rect: QRectF, name: str, taken: Collection[QRectF]) -> QRectF:
    """Where a name goes: where it stands on its card, or below names that are written there already."""
    width = min(rect.width() - 2 * _LEFT, text_width(name, TITLE_LARGEST_PX, 600) + 2 * _PAD)
    slot = QRectF(rect.x() + _LEFT, rect.y() + _TOP, width, _LINE)
    while any(slot.intersects(other) for other in taken):
        slot.translate(0.0, _LINE)
    return slot
