"""View: the canvas as a widget — pointer, keys and drops turned into gestures.

What is seen is in `stage.py`, keys are in `input/keys.py`, the context menu is in `input/menus.py`; all act
through the Editor.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from ndbplan.desktop.canvas.input import gestures, keys
from ndbplan.desktop.canvas.input.edge_scroll import EdgeScroll
from ndbplan.desktop.canvas.input.rename import RenameField, name_of
from ndbplan.desktop.canvas.input.wheel import turn
from ndbplan.desktop.canvas.items import CanvasItem
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.document.editor import Editor
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.desktop.canvas.input.drops import Drop

_AFTER_RELEASE_MS = 60
_COPY = Qt.KeyboardModifier.ControlModifier


class CanvasView(Stage):
    """Shows the document's plan and lets a person take hold of it."""

    rename_settled = Signal()
    """A name was taken, or giving one was given up: what was said of a refused one is past."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(editor, parent)
        self._gesture: gestures.Gesture | None = None
        self._drop: Drop | None = None
        self._dropped_at = QPoint()
        self._pressed_on: CanvasItem | None = None
        self._press_at = QPoint()
        self._hovered: CanvasItem | None = None
        self._rename: RenameField | None = None
        self._space_down = False
        self._edges = EdgeScroll(self, self._carry_on)
        self.moved.connect(self._follow_renamed)
        self.setAcceptDrops(True)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)

    def _show_change(self, before: Plan, after: Plan) -> None:
        self._cancel_gesture()
        super()._show_change(before, after)
        self._follow_renamed()

    def move_apart(self) -> None:
        """Put what covers something to the nearest free place."""
        self.editor.move_apart(self.canvas_scene.overlaps.pairs)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turn(self, event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)
        super().leaveEvent(event)

    # Pointer

    @property
    def is_busy(self) -> bool:
        """Whether a gesture or drop is under way."""
        return self._gesture is not None or self._drop is not None

    def _carry_on(self, by: QPoint, at: QPoint) -> bool:
        """Pan under a drag that rests at this place of the viewport; False: nothing is dragged any more."""
        if self.is_busy:
            self.pan_by(by)
        for carrying in (self._gesture, self._drop):
            if carrying is not None:
                carrying.move(self.mapToScene(at))
        return self.is_busy

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._end_rename(commit=True)
        self.rest()
        at = event.position().toPoint()
        point = self.mapToScene(at)
        button = event.button()
        if button == Qt.MouseButton.MiddleButton or (
            button == Qt.MouseButton.LeftButton and self._space_down
        ):
            self._gesture = gestures.Pan(self, point, at)
            return
        if button != Qt.MouseButton.LeftButton:
            return
        self._press_at = at
        adding = bool(
            event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier)
        )
        item = self.canvas_scene.item_at(point)
        ribbon = self.ribbon_under(point)
        if ribbon is not None:
            self.selection.set(ribbon.members)
            return
        self._pressed_on = item
        if item is None:
            self._gesture = gestures.Marquee(self, point, adding=adding)
        elif event.modifiers() & _COPY:
            # A click toggles, a drag copies: which of them it is shows when it moves or ends.
            pass
        elif adding:
            self._toggle(item)
        elif item.object_id not in self.selection.ids:
            self.selection.set(item.object_ids)

    def _toggle(self, item: CanvasItem) -> None:
        if item.object_id in self.selection.ids:
            self.selection.set(i for i in self.selection.ids if i not in item.object_ids)
        else:
            self.selection.add(item.object_ids)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        point = self.mapToScene(at)
        if isinstance(self._gesture, gestures.Pan):
            self._gesture.pan_to(at)
            return
        if self._gesture is None and self._pressed_on is not None:
            if (at - self._press_at).manhattanLength() < QApplication.startDragDistance():
                return
            if event.modifiers() & _COPY and self._pressed_on.object_id not in self.selection.ids:
                self.selection.set(self._pressed_on.object_ids)
            self._gesture = gestures.begin(self, self._pressed_on, self.mapToScene(self._press_at))
            self._pressed_on = None
        if self._gesture is not None:
            self._gesture.copy(bool(event.modifiers() & _COPY))
            self._gesture.move(point)
            self._edges.follow(at)
        else:
            self._hover(self.canvas_scene.item_at(point))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._edges.stop()
        pressed, self._pressed_on = self._pressed_on, None
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            gesture.copy(bool(event.modifiers() & _COPY))
            gesture.commit()
        elif pressed is not None and event.modifiers() & _COPY:
            self._toggle(pressed)
        elif pressed is not None and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            self.selection.set(pressed.object_ids)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        item = self.canvas_scene.item_at(self.mapToScene(event.position().toPoint()))
        if item is None:
            self.fit()
        elif name_of(self.document.plan, item.object_id) is not None and item.kind in ("host", "location"):
            self.start_rename(item.object_id)
        else:
            self.opened.emit(item.object_id)

    def _hover(self, item: CanvasItem | None) -> None:
        if item is self._hovered:
            return
        # An item that left the scene with an edit must not be touched.
        if self._hovered is not None and self._hovered.scene() is self.canvas_scene:
            self._hovered.hover(False)
        self._hovered = item
        if item is not None:
            item.hover(True)

    def _cancel_gesture(self) -> bool:
        gesture, self._gesture = self._gesture, None
        self._pressed_on = None
        if gesture is not None:
            gesture.cancel()
        return gesture is not None

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        from ndbplan.desktop.canvas.input.menus import open_menu

        open_menu(self, event, self.start_rename)

    # Keys and renaming

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and (self._cancel_gesture() or self._end_rename(commit=False)):
            event.accept()
        elif event.key() == Qt.Key.Key_Space and not event.isAutoRepeat() and self._gesture is None:
            self._space_down = True
            event.accept()
        elif event.key() == Qt.Key.Key_Control and self._gesture is not None:
            self._gesture.copy(True)
            event.accept()
        elif keys.press(self, event):
            event.accept()
        else:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._space_down = False
        if event.key() == Qt.Key.Key_Control and self._gesture is not None:
            self._gesture.copy(False)
        super().keyReleaseEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes from object to object, and on to the next panel behind the last one."""
        # Also called when something over the canvas is hidden that had the focus: that selects nothing.
        return (self.hasFocus() and keys.step(self, forward=forward)) or super().focusNextPrevChild(forward)

    def start_rename(self, object_id: str) -> None:
        """Let a person type another name where the name is."""
        item = self.canvas_scene.item_of(object_id)
        name = name_of(self.document.plan, object_id)
        if item is None or name is None:
            return
        self._end_rename(commit=True)
        field = RenameField(object_id, name, partial(self.editor.rename, object_id), self.viewport())
        field.ended.connect(self._rename_ended)
        self._rename = field
        self._follow_renamed()
        field.show()
        field.setFocus()

    def _follow_renamed(self) -> None:
        """Keep the field over the name it is of; without its object it goes."""
        if self._rename is None:
            return
        item = self.canvas_scene.item_of(self._rename.object_id)
        if item is None:
            self._end_rename(commit=False)
            return
        rect = item.rect_in_scene()
        self._rename.cover(self.mapFromScene(rect.topLeft()), round(rect.width() * self.zoom))

    def _end_rename(self, *, commit: bool) -> bool:
        if self._rename is None:
            return False
        self._rename.finish(commit=commit)
        return True

    @property
    def is_renaming(self) -> bool:
        """Whether a new name is being typed."""
        return self._rename is not None

    def _rename_ended(self, is_settled: bool) -> None:
        field, self._rename = self._rename, None
        # Who clicked into another field stays there.
        if field is not None and field.hasFocus():
            self.setFocus()
        if is_settled:
            self.rename_settled.emit()

    # Drops

    def event(self, event: QEvent) -> bool:
        # What lies over the canvas (first steps, an empty plan's words) hands drops to the view, not to its
        # viewport, and there Qt takes none.
        if isinstance(event, QDragEnterEvent):
            self.dragEnterEvent(event)
        elif isinstance(event, QDragMoveEvent):
            self.dragMoveEvent(event)
        elif isinstance(event, QDragLeaveEvent):
            self.dragLeaveEvent(event)
        elif isinstance(event, QDropEvent):
            self.dropEvent(event)
        else:
            return super().event(event)
        return True

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        from ndbplan.desktop.canvas.input import drops

        key = drops.key_in(event.mimeData())
        if key is not None:
            self._drop = drops.Drop(self, key)
            event.acceptProposedAction()
        else:
            # Files are the window's.
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if self._drop is not None:
            self._drop.move(self.mapToScene(event.position().toPoint()))
            self._edges.follow(event.position().toPoint())
            event.setAccepted(self._drop.can_land)
            self._dropped_at = event.position().toPoint()
            self.say_along(self._dropped_at, self._drop.refusal or self._drop.consequence)
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._edges.stop()
        if self._drop is not None:
            refusal = self._drop.refusal
            self._drop.cancel()
            self._drop = None
            over = self.viewport().rect().contains(self.viewport().mapFromGlobal(QCursor.pos()))
            self.say_along(self._dropped_at, "")
            if refusal and over:
                # Let go where it cannot land, it leaves as well. The button hides tips once it is up.
                say = partial(self.say_at, self.mapToScene(self._dropped_at), refusal)
                QTimer.singleShot(_AFTER_RELEASE_MS, self, say)

    def dropEvent(self, event: QDropEvent) -> None:
        self._edges.stop()
        drop, self._drop = self._drop, None
        if drop is not None:
            drop.move(self.mapToScene(event.position().toPoint()))
            drop.commit()
            event.acceptProposedAction()
            self.setFocus()
