"""Gestures: what a pressed pointer does on the canvas, one object for each; one undo step at commit.

gesture = MoveHosts(view, start, ["host-a1"])
gesture.move(point)
gesture.commit()      # or gesture.cancel() on Esc
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QPen, QPixmap
from PySide6.QtWidgets import QGraphicsPixmapItem, QGraphicsRectItem

from ndbplan.describe.titles import display_name
from ndbplan.desktop.canvas.disk_item import DiskItem
from ndbplan.desktop.canvas.drop_target import HostDropTarget
from ndbplan.desktop.canvas.items import Z_DRAGGED, Z_LABEL, CanvasItem
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.layout import copies
from ndbplan.desktop.layout.collision import GRID
from ndbplan.desktop.layout.layout import LOOSE_TEXT
from ndbplan.desktop.look import paint
from ndbplan.edits import arrange, disks
from ndbplan.edits import parts as edits
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.places import may_hold
from ndbplan.plan.processes import ApiSlot

LOOSE_CHIP = QPointF(LOOSE_TEXT + 24, 20)
"""Where on the card of API slots without a host the pointer holds it."""


class Gesture:
    """Something that a person does between press and release."""

    def __init__(self, view: Stage, start: QPointF) -> None:
        self.view = view
        self.scene = view.canvas_scene
        self.start = start

    def move(self, point: QPointF) -> None:
        """The pointer is here now (in the scene)."""
        raise NotImplementedError

    def commit(self) -> None:
        """The button was released: do it, as one undoable step."""
        raise NotImplementedError

    def cancel(self) -> None:
        """Esc: as though nothing had happened."""
        raise NotImplementedError

    def copy(self, on: bool) -> None:
        """Ctrl is held, or no longer: what can be carried is copied then."""


class Pan(Gesture):
    """Moves the view over the canvas; follows the pointer in window coordinates."""

    def __init__(self, view: Stage, start: QPointF, at: QPoint) -> None:
        super().__init__(view, start)
        self._last = at
        view.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)

    def pan_to(self, at: QPoint) -> None:
        """The pointer is here now (in the viewport)."""
        self.view.pan_by(at - self._last)
        self._last = at

    def move(self, point: QPointF) -> None:
        """Nothing: see `pan_to`."""

    def commit(self) -> None:
        self.view.viewport().unsetCursor()

    def cancel(self) -> None:
        self.commit()


class Marquee(Gesture):
    """Selects what a rectangle touches: hosts, or what lies inside of one host."""

    def __init__(self, view: Stage, start: QPointF, *, adding: bool) -> None:
        super().__init__(view, start)
        self._before = view.selection.ids
        self._chosen = self._before if adding else ()
        self._adding = adding
        t = self.scene.look.tokens
        self._frame = QGraphicsRectItem()
        outline = QPen(paint.colour(t.accent), 1.0)
        outline.setCosmetic(True)
        self._frame.setPen(outline)
        self._frame.setBrush(paint.brush(t.accent, 30))
        self._frame.setZValue(Z_DRAGGED + 1)
        self.scene.addItem(self._frame)

    def move(self, point: QPointF) -> None:
        rect = QRectF(self.start, point).normalized()
        self._frame.setRect(rect)
        kept = self._before if self._adding else ()
        self._chosen = (*kept, *(i for i in self._touched(rect) if i not in kept))
        # Only shown for now: inspector and outline need not follow every pixel.
        self.scene.mark_selection(self._chosen)

    def _touched(self, rect: QRectF) -> list[str]:
        items = [i for i in self.scene.in_order() if rect.intersects(i.rect_in_scene())]
        hosts = [i for i in items if i.kind == "host"]
        if len(hosts) == 1 and hosts[0].rect_in_scene().contains(rect):
            return [object_id for i in items if i.kind in ("process", "disk") for object_id in i.object_ids]
        places = [i.object_id for i in items if i.kind == "location" and rect.contains(i.rect_in_scene())]
        return [*places, *(i.object_id for i in hosts)]

    def commit(self) -> None:
        self.scene.removeItem(self._frame)
        self.view.selection.set(self._chosen)

    def cancel(self) -> None:
        self.scene.removeItem(self._frame)
        self.view.selection.set(self._before)
        self.scene.mark_selection(self._before)


class _Carry(Gesture):
    """Base of what carries items along with the pointer."""

    def __init__(self, view: Stage, start: QPointF, object_ids: Sequence[str]) -> None:
        super().__init__(view, start)
        self.object_ids = tuple(object_ids)
        self.delta = QPointF()
        self.copies = False
        self._items = self.scene.carried(object_ids)
        self._homes = [item.pos() for item in self._items]
        self._target: CanvasItem | None = None
        self._originals: list[QGraphicsPixmapItem] = []
        """Pictures of what is copied, where it stays."""
        self._lift()
        view.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)

    def _lift(self) -> None:
        for item in self._items:
            item.setZValue(item.home_z + Z_DRAGGED)
            item.setOpacity(0.93)

    def _lay_down(self) -> None:
        for item, home in zip(self._items, self._homes, strict=True):
            item.setZValue(item.home_z)
            item.setOpacity(1.0)
            item.setPos(home)

    def copy(self, on: bool) -> None:
        if on == self.copies:
            return
        self.copies = on
        cursor = Qt.CursorShape.DragCopyCursor if on else Qt.CursorShape.ClosedHandCursor
        self.view.viewport().setCursor(cursor)
        if on:
            self.aim(None)
            self._lay_down()
            self.scene.settle()
            # Of the whole viewport: of a piece of it Qt keeps items' pictures at the wrong place.
            seen = self.view.viewport().grab()
            self._originals = [self._picture_of(i, seen) for i in self.object_ids]
            self._lift()
            for picture in self._originals:
                self.scene.addItem(picture)
        else:
            self._forget_originals()
        self.move(self.start + self.delta)

    def _picture_of(self, object_id: str, viewport: QPixmap) -> QGraphicsPixmapItem:
        item = self.scene.item_of(object_id)
        rect = item.rect_in_scene() if item is not None else QRectF()
        seen = self.view.mapFromScene(rect).boundingRect() & self.view.viewport().rect()
        ratio = viewport.devicePixelRatio()
        piece = QRectF(QPointF(seen.topLeft()) * ratio, QSizeF(seen.size()) * ratio).toAlignedRect()
        # What lies outside has nobody seen.
        picture = QGraphicsPixmapItem(QPixmap() if seen.isEmpty() else viewport.copy(piece))
        picture.setPos(self.view.mapToScene(seen.topLeft()))
        picture.setScale(1 / self.view.zoom)
        picture.setZValue(Z_LABEL)
        return picture

    def _forget_originals(self) -> None:
        for picture in self._originals:
            self.scene.removeItem(picture)
        self._originals = []

    def carry_to(self, point: QPointF) -> None:
        """Put the items where the pointer has taken them."""
        self.delta = point - self.start
        for item, home in zip(self._items, self._homes, strict=True):
            item.setPos(home + self.delta)

    def aim(self, item: CanvasItem | None) -> None:
        """Show where a drop would land."""
        if item is not self._target:
            if self._target is not None:
                self._target.target(False)
            if item is not None:
                item.target(True)
            self._target = item

    def let_go(self) -> None:
        """Put everything back to where the plan has it."""
        self.aim(None)
        self._forget_originals()
        self._lay_down()
        self.view.viewport().unsetCursor()
        self.scene.settle()

    def cancel(self) -> None:
        self.let_go()


class MoveHosts(_Carry):
    """Carries hosts into a location, to another place of it, or onto the free canvas."""

    def __init__(self, view: Stage, start: QPointF, host_ids: Sequence[str]) -> None:
        super().__init__(view, start, host_ids)
        self._drop_target = HostDropTarget(self.scene, host_ids)

    def move(self, point: QPointF) -> None:
        self.carry_to(point)
        if not self.copies:
            self.scene.follow(self.object_ids)
        self._aim_at(point)

    def copy(self, on: bool) -> None:
        if on != self.copies:
            self._drop_target = self._drop_target.emptied(() if on else self.object_ids)
        super().copy(on)

    def _aim_at(self, point: QPointF) -> None:
        boxes = self.scene.layout.hosts
        self._drop_target.aim(
            point, {h: boxes[h].rect.moved(self.delta.x(), self.delta.y()) for h in self.object_ids}
        )
        self.aim(self._drop_target.location_item)

    def commit(self) -> None:
        target, delta = self._drop_target, self.delta
        slots = {host_id: target.slots.get(host_id) for host_id in self.object_ids}
        self._drop_target.clear()
        places = {
            host_id: _snapped(QPointF(box.x, box.y) + delta)
            for host_id in self.object_ids
            for box in [self.scene.layout.hosts[host_id]]
        }
        self.let_go()
        editor = self.view.editor
        names = editor.names(self.object_ids)
        location = target.location_id
        where = display_name(editor.plan, editor.plan.by_id[location]) if location is not None else ""
        if self.copies and location is not None:
            editor.add_copies(
                f"Copy {names} to {where}",
                lambda plan: copies.hosts_into(plan, location, target.before_id, slots),
            )
        elif self.copies:
            editor.add_copies(f"Copy {names}", lambda plan: copies.hosts_at(plan, places))
        elif location is not None:
            editor.do(
                f"Move {names} to {where}",
                lambda plan: arrange.put_into_location(
                    plan, self.object_ids, location, target.before_id, target.other_slots
                ),
            )
        else:
            editor.do(f"Move {names}", lambda plan: arrange.put_on_canvas(plan, places))

    def cancel(self) -> None:
        self._drop_target.clear()
        super().cancel()


class MoveLocations(_Carry):
    """Carries locations, with everything inside, over the canvas, into another one, or out of it."""

    def move(self, point: QPointF) -> None:
        self.carry_to(point)
        self.aim(self._landing(point))
        if not self.copies:
            inside = self.scene.layout.inside(self.object_ids)
            self.scene.follow(h for p in inside for h in self.scene.layout.locations[p].hosts)

    def _landing(self, point: QPointF) -> CanvasItem | None:
        """The location whose free ground is under the pointer, if it may hold these."""
        inside = self.scene.layout.inside(self.object_ids)
        hosts = [h for p in inside for h in self.scene.layout.locations[p].hosts]
        item = self.scene.item_at(point, "location", "host", but=[*inside, *hosts])
        if item is None or item.kind != "location":
            return None
        known = self.view.document.plan.locations
        fits = all(any(p.id == item.object_id for p in may_hold(known, i)) for i in self.object_ids)
        return item if fits else None

    def commit(self) -> None:
        target, layout = self._target, self.scene.layout
        first = layout.locations[self.object_ids[0]].origin
        to = _snapped(QPointF(first.x, first.y) + self.delta)
        places = layout.moved(self.object_ids, to.x - first.x, to.y - first.y)
        held = layout.inside(self.object_ids)
        outermost = [i for i in self.object_ids if layout.locations[i].location.parent_id not in held]
        parent_id = target.object_id if target is not None else None
        self.let_go()
        editor = self.view.editor
        names = editor.names(self.object_ids)
        where = f" into {editor.name_of(parent_id)}" if parent_id is not None else ""
        if self.copies:
            editor.add_copies(
                f"Copy {names}{where}", lambda plan: copies.locations_at(plan, places, parent_id)
            )
        else:
            editor.do(
                f"Move {names}{where}",
                lambda plan: edits.move(arrange.put_inside(plan, outermost, parent_id), places),
            )


class MoveProcesses(_Carry):
    """Carries processes to another host."""

    def move(self, point: QPointF) -> None:
        self.carry_to(point)
        host = self.scene.item_at(point, "host")
        at_home = host is not None and all(self.scene.host_of(i) == host.object_id for i in self.object_ids)
        self.aim(None if at_home and not self.copies else host)

    def commit(self) -> None:
        target, point = self._target, self.start + self.delta
        self.let_go()
        editor = self.view.editor
        if target is not None and self.copies:
            where = display_name(editor.plan, editor.plan.by_id[target.object_id])
            editor.add_copies(
                f"Copy {editor.names(self.object_ids)} to {where}",
                lambda plan: copies.processes_onto(plan, self.object_ids, target.object_id),
            )
        elif target is not None:
            editor.move_process(self.object_ids, target.object_id)
        elif self.scene.item_at(point, "host") is None:
            self._put_anywhere(point)

    def _put_anywhere(self, point: QPointF) -> None:
        """API slots need no host; what does says so."""
        editor, known = self.view.editor, self.view.document.plan.by_id
        if self.copies or not all(isinstance(known[i], ApiSlot) for i in self.object_ids):
            self.view.say_at(point, "A node runs on a host: drop it on one.")
            return
        at = _snapped(point - LOOSE_CHIP)
        text = f"Let {editor.names(self.object_ids)} connect from anywhere"
        editor.do(text, lambda plan: arrange.put_anywhere(plan, self.object_ids, at))


class MoveDisk(_Carry):
    """Carries a disk to another host, or its roles to another disk of its host; a copy of it to any."""

    def __init__(self, view: Stage, start: QPointF, disk_id: str) -> None:
        super().__init__(view, start, [disk_id])
        self._disk_id = disk_id

    def move(self, point: QPointF) -> None:
        self.carry_to(point)
        host = self.scene.item_at(point, "host")
        if not self.copies and self._is_home(host):
            self.aim(self.scene.item_at(point, "disk", but=[self._disk_id]))
        else:
            self.aim(host)

    def _is_home(self, host: CanvasItem | None) -> bool:
        return host is not None and host.object_id == self.scene.host_of(self._disk_id)

    def commit(self) -> None:
        target, point = self._target, self.start + self.delta
        self.let_go()
        editor, disk_id = self.view.editor, self._disk_id
        disk = editor.name_of(disk_id)
        if target is None:
            if not self._is_home(self.scene.item_at(point, "host")):
                self.view.say_at(
                    point,
                    "A disk stands in a host: drop it on one. Another disk of its host takes its roles.",
                )
        elif self.copies:
            name = editor.name_of(target.object_id)
            editor.add_copies(
                f"Copy {disk} to {name}", lambda plan: copies.disk_onto(plan, disk_id, target.object_id)
            )
        elif isinstance(target, DiskItem):
            name = f"{disk} to {target.tile.disk.name}"
            if not editor.do(
                f"Move what is written to {name}",
                lambda plan: disks.move_roles(plan, disk_id, target.object_id),
            ):
                self.view.say_at(point, f"No data node writes to {disk}: there is nothing to move.")
        else:
            name = editor.name_of(target.object_id)
            editor.do(f"Move {disk} to {name}", lambda plan: disks.move_disk(plan, disk_id, target.object_id))


def begin(view: Stage, item: CanvasItem, start: QPointF) -> Gesture | None:
    """What a drag that starts on an item does: with everything selected of its kind."""
    ids = view.selection.ids
    chosen = ids if item.object_id in ids else item.object_ids
    known = view.document.plan.by_id
    if item.kind == "host":
        if mark := _mark_at(view, item, start):
            view.say_at(
                start, f"From so far a drag takes {view.editor.names(item.object_ids)}: zoom in for {mark}."
            )
        return MoveHosts(view, start, [i for i in chosen if isinstance(known.get(i), Host)])
    if item.kind == "location":
        return MoveLocations(view, start, [i for i in chosen if isinstance(known.get(i), Location)])
    if item.kind == "process":
        return MoveProcesses(view, start, [i for i in chosen if hasattr(known.get(i), "node_id")])
    if item.kind == "disk":
        return MoveDisk(view, start, item.object_id)
    return None


def _mark_at(view: Stage, item: CanvasItem, point: QPointF) -> str:
    """The node or disk whose mark is at a place of a host that is seen from far."""
    look, card = view.canvas_scene.look, view.canvas_scene.layout.hosts[item.object_id].card
    if not look.is_far or look.shows_tiles:
        return ""
    at = point - item.rect_in_scene().topLeft()
    chips = (c.text for c in card.chips if paint.qrect(c.rect).contains(at))
    return next(chips, "") or next((t.disk.name for t in card.tiles if paint.qrect(t.rect).contains(at)), "")


def _snapped(point: QPointF) -> Point:
    return Point(x=round(point.x() / GRID) * GRID, y=round(point.y() / GRID) * GRID)
