"""Keys: the whole canvas without a pointer.

Arrows go to the next object in that direction, Tab through all, Enter into one and Backspace out of it;
Alt with arrows moves hosts; R, L, U, D, B give the selected disk a role.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

from ndbplan.desktop.canvas.items import CanvasItem
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.layout.collision import GRID
from ndbplan.desktop.layout.slots import offset
from ndbplan.edits import arrange
from ndbplan.edits import parts as edits
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.processes import DiskRole

_ARROWS = {
    Qt.Key.Key_Left: QPointF(-1, 0),
    Qt.Key.Key_Right: QPointF(1, 0),
    Qt.Key.Key_Up: QPointF(0, -1),
    Qt.Key.Key_Down: QPointF(0, 1),
}
ROLE_KEYS = {
    Qt.Key.Key_R: DiskRole.REDO,
    Qt.Key.Key_L: DiskRole.LCP,
    Qt.Key.Key_U: DiskRole.UNDO,
    Qt.Key.Key_D: DiskRole.DATA_FILES,
    Qt.Key.Key_B: DiskRole.BACKUP,
}


def press(view: Stage, event: QKeyEvent) -> bool:
    """Do what a key stands for; False when it stands for nothing here."""
    key, current = Qt.Key(event.key()), view.selection.current
    if key in _ARROWS and _held(event) == Qt.KeyboardModifier.AltModifier:
        return _move(view, _ARROWS[key])
    if walk(view, event):
        return True
    if _held(event) != Qt.KeyboardModifier.NoModifier:
        return False
    if key in ROLE_KEYS and isinstance(view.document.plan.by_id.get(current or ""), Disk):
        return view.editor.assign_role(ROLE_KEYS[key], str(current), toggle=True) or True
    return False


def walk(view: Stage, event: QKeyEvent) -> bool:
    """Go from object to object, into one and out of it; False for a key that does not."""
    key, held, current = Qt.Key(event.key()), _held(event), view.selection.current
    if key in _ARROWS and held in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
        return _go(view, _ARROWS[key], extend=bool(held))
    if held != Qt.KeyboardModifier.NoModifier:
        return False
    if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and current is not None:
        children = view.canvas_scene.children_of(current)
        if children and children[0].isVisible():
            _select(view, children[0])
        else:
            view.opened.emit(current)
        return True
    if key in (Qt.Key.Key_Escape, Qt.Key.Key_Backspace) and current is not None:
        parent = _parent(view, current) if key == Qt.Key.Key_Backspace else None
        if parent is None:
            view.selection.clear()
        else:
            view.selection.set([parent])
        return True
    return False


def _held(event: QKeyEvent) -> Qt.KeyboardModifier:
    return event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier


def step(view: Stage, *, forward: bool) -> bool:
    """Select the next object in reading order; False behind the last one."""
    items = view.canvas_scene.in_order()
    at = next((i for i, item in enumerate(items) if view.selection.current in item.object_ids), None)
    target = (0 if forward else len(items) - 1) if at is None else at + (1 if forward else -1)
    if not 0 <= target < len(items):
        return False
    _select(view, items[target])
    return True


def _select(view: Stage, item: CanvasItem, *, extend: bool = False) -> None:
    if extend:
        view.selection.add(item.object_ids)
    else:
        view.selection.set(item.object_ids)
    view.bring_into_view(item.object_ids)


def _parent(view: Stage, object_id: str) -> str | None:
    part = view.document.plan.by_id[object_id]
    if isinstance(part, Host):
        return part.location_id
    if isinstance(part, Location):
        return part.parent_id
    return view.canvas_scene.host_of(object_id)


def _go(view: Stage, direction: QPointF, *, extend: bool) -> bool:
    """To the nearest object of the same kind in a direction; nothing selected: to the first one."""
    scene = view.canvas_scene
    here = scene.item_of(view.selection.current or "")
    if here is None:
        items = scene.in_order()
        if items:
            _select(view, items[0])
        return bool(items)
    kinds = ("process", "disk") if here.kind in ("process", "disk") else (here.kind,)
    origin = here.rect_in_scene().center()
    best: tuple[float, CanvasItem] | None = None
    for item in scene.in_order():
        if item is here or item.kind not in kinds:
            continue
        away = item.rect_in_scene().center() - origin
        ahead = QPointF.dotProduct(away, direction)
        aside = abs(away.x() * direction.y()) + abs(away.y() * direction.x())
        if ahead > 1 and aside <= 2.5 * ahead:
            cost = ahead + 2 * aside
            if best is None or cost < best[0]:
                best = (cost, item)
    if best is not None:
        _select(view, best[1], extend=extend)
    return True


def _move(view: Stage, direction: QPointF) -> bool:
    """Move what is selected: a host of a location by a slot, everything free by a grid step."""
    plan, chosen = view.document.plan, view.selection.ids
    parts = [plan.by_id[i] for i in chosen]
    names = view.editor.names(chosen)
    inside = [p for p in parts if isinstance(p, Host) and p.location_id is not None]
    if inside:
        _change_places(view, inside[-1], round(direction.x() + direction.y()))
        return True
    boxes = view.canvas_scene.layout
    dx, dy = direction.x() * GRID, direction.y() * GRID
    places = boxes.moved([part.id for part in parts if isinstance(part, Location)], dx, dy)
    for part in parts:
        if isinstance(part, Host):
            box = boxes.hosts[part.id]
            places[part.id] = Point(x=box.x + dx, y=box.y + dy)
    if places:
        view.editor.do(f"Move {names}", lambda p: edits.move(p, places), merge_key=f"nudge {sorted(places)}")
    return True


def _change_places(view: Stage, host: Host, by: int) -> None:
    """Of a host and the next one of its location, before (-1) or behind it: nothing else moves."""
    layout, place_id = view.canvas_scene.layout, str(host.location_id)
    box = layout.locations[place_id]
    mates = sorted(box.hosts, key=lambda i: (layout.hosts[i].x, layout.hosts[i].y))
    at = mates.index(host.id)
    if not 0 <= at + by < len(mates):
        return
    first, second = (mates[i] for i in sorted((at, at + by)))
    above, below = layout.hosts[first].rect, layout.hosts[second].rect
    # One below the other, both together take the room that they took.
    last = below.bottom - above.height if above.x == below.x else below.y
    slots = {
        second: offset(box, below._replace(x=above.x, y=above.y)),
        first: offset(box, above._replace(x=below.x, y=last)),
    }
    view.editor.do(
        f"Move {host.hostname}",
        lambda plan: arrange.put_in_slots(
            arrange.put_into_location(plan, [second], place_id, first), dict(slots)
        ),
    )
