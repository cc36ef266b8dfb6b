"""Drops: what the palette drags in, from entering the canvas to falling onto something."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QByteArray, QMimeData, QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QGraphicsRectItem

from ndbplan.desktop.canvas.drop_target import HostDropTarget
from ndbplan.desktop.canvas.items import Z_DRAGGED, CanvasItem
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.layout.cards import CHIP_HEIGHT, HEADER, HOST_WIDTH, PAD
from ndbplan.desktop.layout.collision import GRID
from ndbplan.desktop.layout.layout import EMPTY_LOCATION
from ndbplan.desktop.look import paint
from ndbplan.desktop.look.rect import Rect
from ndbplan.desktop.widgets.preview_card import look_away, looker
from ndbplan.edits import palette as catalogue
from ndbplan.plan.fields import Point
from ndbplan.plan.processes import DiskRole

MIME = "application/x-ndbplan-offer"
_HOST_SIZE = (HOST_WIDTH, 116.0)
_HELD = QPointF(HOST_WIDTH / 2, 24.0)
"""Where on its card the pointer holds a host or location; a node on the host that it brings along:"""
_HELD_NODE = QPointF(PAD + 40.0, HEADER + CHIP_HEIGHT / 2)


def mime_of(key: str) -> QMimeData:
    """What a drag of one palette entry carries."""
    data = QMimeData()
    data.setData(MIME, QByteArray(key.encode()))
    return data


def key_in(data: QMimeData) -> str | None:
    """The palette entry that a drag carries, if it does."""
    if not data.hasFormat(MIME):
        return None
    key = bytes(data.data(MIME).data()).decode("utf-8", "replace")
    return key if any(entry.key == key for entry in catalogue.offers()) else None


class Drop:
    """A palette entry over the canvas."""

    def __init__(self, view: Stage, key: str) -> None:
        self._view = view
        self._scene = view.canvas_scene
        self._entry = catalogue.offer(key)
        self._drop_target = HostDropTarget(self._scene)
        self._target: CanvasItem | None = None
        self._ghost: QGraphicsRectItem | None = None
        self._point = QPointF()

    @property
    def can_land(self) -> bool:
        """Whether a drop here does something."""
        return self._target is not None or self._entry.kind in ("location", "host", "process")

    @property
    def refusal(self) -> str:
        """Why a drop here does nothing."""
        if self.can_land:
            return ""
        place = "disk" if self._entry.kind == "role" else "host"
        nearer = "zoom in, and " if place == "disk" and self._scene.look.is_far else ""
        return f"{self._entry.text} goes onto a {place}: {nearer}drop it on one."

    @property
    def consequence(self) -> str:
        """What else a drop here does."""
        if self._entry.kind != "role" or self._target is None:
            return ""
        return self._view.editor.role_leaves(DiskRole(self._entry.key), self._target.object_id)

    def move(self, point: QPointF) -> None:
        """The pointer is here now (in the scene)."""
        self._point = point
        kind = self._entry.kind
        if kind == "host":
            corner = point - self._held
            self._drop_target.aim(point, {self._entry.key: Rect(corner.x(), corner.y(), *_HOST_SIZE)})
            self._aim(self._drop_target.location_item)
        elif kind == "location":
            around = self._scene.item_at(point, "location", "host")
            self._aim(around if around is not None and around.kind == "location" else None)
        elif kind == "role":
            self._aim(self._scene.item_at(point, "disk"))
        elif kind in ("disk", "process"):
            self._aim(self._scene.item_at(point, "host"))
        show_ghost = kind == "location" or (kind in ("host", "process") and self._target is None)
        self._show_ghost(EMPTY_LOCATION if kind == "location" else _HOST_SIZE if show_ghost else None)

    @property
    def _held(self) -> QPointF:
        """Where on the card that it becomes the pointer is."""
        if self._entry.kind == "process":
            return _HELD_NODE
        return QPointF(EMPTY_LOCATION[0] / 2, _HELD.y()) if self._entry.kind == "location" else _HELD

    def commit(self) -> bool:
        """Fall: add it here."""
        target = self._target.object_id if self._target is not None else None
        before, slot = self._drop_target.before_id, self._drop_target.slots.get(self._entry.key)
        self.cancel()
        corner = self._point - self._held
        position = Point(x=round(corner.x() / GRID) * GRID, y=round(corner.y() / GRID) * GRID)
        return self._view.editor.add_offer(
            self._entry.key,
            onto=target,
            before_host=before,
            slot=slot,
            position=None if target is not None and self._entry.kind != "location" else position,
        )

    def cancel(self) -> None:
        """Left the canvas or given up."""
        self._aim(None)
        self._drop_target.clear()
        self._show_ghost(None)

    def _look(self, item: CanvasItem | None) -> None:
        """Show what a drop onto an item would do while it is aimed at."""
        view, previews = self._view, self._view.editor.previews
        if item is None or previews is None:
            look_away(view)
            return
        make = partial(view.editor.rehearsed, self._entry.key, item.object_id)
        corner = view.viewport().mapToGlobal(view.mapFromScene(item.rect_in_scene().topLeft()))
        size = view.mapFromScene(item.rect_in_scene()).boundingRect().size()
        looker(previews, view).look(f"Add: {self._entry.text}", make, lambda: QRect(corner, size))

    def _aim(self, item: CanvasItem | None) -> None:
        if item is not self._target:
            self._look(item)
            if self._target is not None:
                self._target.target(False)
            if item is not None:
                item.target(True)
            self._target = item

    def _show_ghost(self, size: tuple[float, float] | None) -> None:
        if size is None:
            if self._ghost is not None:
                self._scene.removeItem(self._ghost)
                self._ghost = None
            return
        if self._ghost is None:
            self._ghost = QGraphicsRectItem()
            outline = QPen(paint.colour(self._scene.look.tokens.accent), 1.5, Qt.PenStyle.DashLine)
            outline.setCosmetic(True)
            self._ghost.setPen(outline)
            self._ghost.setBrush(paint.brush(self._scene.look.tokens.accent, 24))
            self._ghost.setZValue(Z_DRAGGED)
            self._scene.addItem(self._ghost)
        self._ghost.setRect(QRectF(self._point - self._held, QSizeF(*size)))
