"""Landing: into which location, and onto which of its free places, hosts would fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QGraphicsRectItem

from ndbplan.desktop.canvas.items import Z_DRAGGED, CanvasItem
from ndbplan.desktop.layout.layout import HOST_GAP, LOCATION_HEADER, LOCATION_PAD
from ndbplan.desktop.layout.slots import offset, slot_near
from ndbplan.desktop.look import paint
from ndbplan.desktop.look.rect import Rect
from ndbplan.plan.fields import Point

if TYPE_CHECKING:
    from ndbplan.desktop.canvas.scene import CanvasScene


class HostDropTarget:
    """Follows the pointer and frames the places where hosts would stand."""

    def __init__(self, scene: CanvasScene, host_ids: Sequence[str] = ()) -> None:
        self._scene = scene
        self._carried = set(host_ids)
        self._frames: list[QGraphicsRectItem] = []
        self.location_item: CanvasItem | None = None
        self.before_id: str | None = None
        """The host to stand before in the order of the plan; None: at the end."""
        self.slots: dict[str, Point] = {}
        """Where each would stand in the location; none in one without hosts, where they flow."""

    @property
    def location_id(self) -> str | None:
        """The location under the pointer."""
        return self.location_item.object_id if self.location_item is not None else None

    @property
    def other_slots(self) -> dict[str, Point]:
        """Those of hosts that do not stand there already."""
        boxes, place_id = self._scene.layout, self.location_id
        return {
            host_id: slot
            for host_id, slot in self.slots.items()
            if boxes.hosts[host_id].card.host.location_id != place_id
            or slot != offset(boxes.locations[place_id or ""], boxes.hosts[host_id].rect)
        }

    def emptied(self, host_ids: Sequence[str]) -> HostDropTarget:
        """Another one, for which only these leave where they stand."""
        self.clear()
        return HostDropTarget(self._scene, host_ids)

    def aim(self, point: QPointF, cards: Mapping[str, Rect]) -> None:
        """The pointer is here now, and holds cards there."""
        self.location_item = self._scene.item_at(point, "location")
        self.before_id, self.slots = None, {}
        self.clear()
        if self.location_id is None:
            return
        layout = self._scene.layout
        box = layout.locations[self.location_id]
        if not box.hosts:
            below = box.rect.bottom - LOCATION_PAD + HOST_GAP
            top = below if box.children else box.rect.y + LOCATION_HEADER
            for card in cards.values():
                self._draw(card._replace(x=box.rect.x + LOCATION_PAD, y=top))
                top += card.height + HOST_GAP
            return
        taken = list[Rect]()
        for host_id, card in cards.items():
            spot = slot_near(layout, self.location_id, card, self._carried, taken)
            taken.append(spot)
            self.slots[host_id] = offset(box, spot)
            self._draw(spot)
        staying = [(h, layout.hosts[h]) for h in box.hosts if h not in self._carried]
        at = (taken[0].x, taken[0].y)
        self.before_id = next((h for h, stands in staying if (stands.x, stands.y) > at), None)

    def clear(self) -> None:
        """Take the frames away."""
        for frame in self._frames:
            self._scene.removeItem(frame)
        self._frames = []

    def _draw(self, rect: Rect) -> None:
        frame = QGraphicsRectItem(paint.qrect(rect))
        frame.setZValue(Z_DRAGGED - 1)
        outline = QPen(paint.colour(self._scene.look.tokens.accent), 2.0, Qt.PenStyle.DashLine)
        outline.setCosmetic(True)
        frame.setPen(outline)
        frame.setBrush(paint.brush(self._scene.look.tokens.accent, 24))
        self._scene.addItem(frame)
        self._frames.append(frame)
