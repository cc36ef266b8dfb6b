"""Landing: into which location, and before which of its hosts, hosts would fall at a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QGraphicsLineItem

from ndbplan.desktop.canvas.items import Z_DRAGGED, CanvasItem
from ndbplan.desktop.layout.cards import HOST_WIDTH
from ndbplan.desktop.layout.layout import HOST_GAP, LOCATION_HEADER, LOCATION_PAD, HostBox
from ndbplan.desktop.look import paint

if TYPE_CHECKING:
    from ndbplan.desktop.canvas.scene import CanvasScene


class HostDropTarget:
    """Follows the pointer and shows a line where hosts would be inserted."""

    def __init__(self, scene: CanvasScene, host_ids: Sequence[str] = ()) -> None:
        self._scene = scene
        self._carried = set(host_ids)
        self._line: QGraphicsLineItem | None = None
        self.location_item: CanvasItem | None = None
        self.before_id: str | None = None
        """The host to stand before; None: at the end."""

    @property
    def location_id(self) -> str | None:
        """The location under the pointer."""
        return self.location_item.object_id if self.location_item is not None else None

    def aim(self, point: QPointF) -> None:
        """The pointer is here now."""
        self.location_item = self._scene.item_at(point, "location")
        self.before_id = None
        if self.location_id is None:
            self.clear()
            return
        box = self._scene.layout.locations[self.location_id]
        hosts = [self._scene.layout.hosts[h] for h in box.hosts if h not in self._carried]
        if not hosts:
            below = box.rect.bottom - LOCATION_PAD + HOST_GAP / 2
            self._draw(box.rect.x + LOCATION_PAD, below if box.children else box.rect.y + LOCATION_HEADER)
            return
        left = min((h.x for h in hosts), key=lambda x: abs(x + HOST_WIDTH / 2 - point.x()))
        column = [h for h in hosts if h.x == left]
        follower = next((h for h in column if h.y + h.card.height / 2 > point.y()), None)
        if follower is not None:
            self.before_id = follower.card.host.id
            self._draw(left, follower.y - HOST_GAP / 2)
            return
        last = column[-1]
        self.before_id = _next(hosts, last)
        self._draw(left, last.y + last.card.height + HOST_GAP / 2 - 2)

    def clear(self) -> None:
        """Take the line away."""
        if self._line is not None:
            self._scene.removeItem(self._line)
            self._line = None

    def _draw(self, x: float, y: float) -> None:
        if self._line is None:
            self._line = QGraphicsLineItem()
            self._line.setZValue(Z_DRAGGED - 1)
            thick = QPen(paint.colour(self._scene.look.tokens.accent), 3.0)
            thick.setCosmetic(True)
            self._line.setPen(thick)
            self._scene.addItem(self._line)
        self._line.setLine(x, y, x + HOST_WIDTH, y)


def _next(hosts: list[HostBox], last: HostBox) -> str | None:
    at = hosts.index(last) + 1
    return hosts[at].card.host.id if at < len(hosts) else None
