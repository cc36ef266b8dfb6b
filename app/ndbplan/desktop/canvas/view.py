"""View: the canvas as a widget — zoom, pan, pointer and drops turned into gestures.

Keys are in `keys.py`, the context menu in `menus.py`; both act through the Editor.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmapCache,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QGraphicsView, QWidget

from ndbplan.describe.overlay import Loads
from ndbplan.desktop.canvas.backdrop import Backdrop
from ndbplan.desktop.canvas.banner import Banner
from ndbplan.desktop.canvas.input import drops, gestures, keys, menus
from ndbplan.desktop.canvas.input.edge_scroll import EdgeScroll
from ndbplan.desktop.canvas.input.rename import RenameField, name_of
from ndbplan.desktop.canvas.items import CanvasItem, item_name, rect_around
from ndbplan.desktop.canvas.scene import CanvasScene
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.look import theme
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.desktop.canvas.input.zooming import Zooming

MIN_ZOOM, MAX_ZOOM = 0.05, 3.0
_STANDS = "Transactions stand still until the loss is noticed"
_FIT_MARGIN = 32.0
_FIT_MAX = 1.0
_STEP = 1.25
_COPY = Qt.KeyboardModifier.ControlModifier
_LARGE = 40
"""Hosts from which on painting at a new size takes longer than a frame."""
_PIXELS_KIB = 96 * 1024
"""For the pixels that hosts keep between paints."""


class CanvasView(QGraphicsView):
    """Shows the document's plan and lets a person take hold of it."""

    zoom_changed = Signal(float)
    moved = Signal()
    """The visible part changed: pan, zoom or resize."""
    files_dropped = Signal(object)
    """Paths of files that were dropped onto the canvas."""
    opened = Signal(str)
    """Id of an object that was double-clicked or opened with Enter."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # Asking Qt for a widget that Python has not made loads every class of QtWidgets to find its type.
        self._port = QWidget()
        self.setViewport(self._port)
        self.editor = editor
        self.document = editor.document
        self.selection = editor.selection
        self.canvas_scene = CanvasScene(theme.tokens(), self)
        self.canvas_scene.look.keeps_pixels = True
        QPixmapCache.setCacheLimit(_PIXELS_KIB)
        self.setScene(self.canvas_scene)
        self._gesture: gestures.Gesture | None = None
        self._drop: drops.Drop | None = None
        self._pressed_on: CanvasItem | None = None
        self._press_at = QPoint()
        self._hovered: CanvasItem | None = None
        self._rename: RenameField | None = None
        self._space_down = False
        self._fit_on_resize = True
        self._shows_focus = False
        self._backdrop = Backdrop()
        self._edges = EdgeScroll(self)
        self.banner = Banner(self)
        self._zoom = 1.0
        self._zooming: Zooming | None = None
        self.setObjectName("canvas")
        self.setAccessibleName("Canvas")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.SmartViewportUpdate)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.document.changed.connect(self._show_change)
        self.document.replaced.connect(self._start_over)
        self.selection.changed.connect(self._show_selection)
        editor.added.connect(self.bring_into_view)
        theme.theme().changed.connect(self._restyle)
        self._restyle()
        self.canvas_scene.show_plan(self.document.plan)
        self._widen()

    # What is shown

    def show_loads(self, loads: Loads) -> None:
        """Paint utilisations and problems, and say when the cluster stopped."""
        self.canvas_scene.show_loads(loads)
        if loads.stopped:
            self.banner.say(loads.stopped[:1].upper() + loads.stopped[1:], "error")
        else:
            self.banner.say(_STANDS if loads.stands_still else "", "warning")

    def _show_change(self, _before: Plan, after: Plan) -> None:
        self._cancel_gesture()
        self.canvas_scene.show_plan(after)
        self._widen()
        self.moved.emit()

    def _start_over(self) -> None:
        self._fit_on_resize = True
        self.fit()

    def _show_selection(self, ids: tuple[str, ...]) -> None:
        self.canvas_scene.mark_selection(ids)
        item = self.canvas_scene.item_of(ids[-1]) if ids else None
        self.setAccessibleDescription(item_name(item) if item is not None else "Nothing selected")

    def _restyle(self) -> None:
        t = theme.tokens()
        self.canvas_scene.set_tokens(t)
        self._backdrop.prepare(t, self._zoom)
        self.viewport().update()

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        self._backdrop.paint(painter, QRectF(rect), self.viewport().rect(), self.mapFromScene(0.0, 0.0))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._zooming is not None and self._zooming.is_moving:
            self._zooming.paint()
        else:
            super().paintEvent(event)

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        if self._shows_focus and self.hasFocus():
            painter.save()
            painter.resetTransform()
            painter.setPen(QPen(QColor(theme.tokens().accent), 2))
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))
            painter.restore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        reasons = (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        )
        self._shows_focus = event.reason() in reasons
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self._shows_focus:
            self.viewport().update()

    # Where one looks

    @property
    def zoom(self) -> float:
        """Window pixels per canvas unit."""
        return self._zoom

    def step_zoom(self, factor: float, at: QPointF | None = None) -> None:
        """A step of many: wheel, pinch, a key held down. A large plan is painted when they are over."""
        if len(self.canvas_scene.layout.hosts) >= _LARGE:
            if self._zooming is None:
                from ndbplan.desktop.canvas.input.zooming import Zooming

                self._zooming = Zooming(self)
            self._zooming.step()
        self.set_zoom(self._zoom * factor, at)

    def set_zoom(self, zoom: float, at: QPointF | None = None) -> None:
        """Zoom, keeping the viewport point `at` (None: the middle) where it is."""
        zoom = max(MIN_ZOOM, min(MAX_ZOOM, zoom))
        point = at if at is not None else QPointF(self.viewport().rect().center())
        held = self.mapToScene(point.toPoint())
        self._apply_zoom(zoom)
        shift = self.mapFromScene(held) - point.toPoint()
        self._scroll(shift)
        self._fit_on_resize = False
        self.moved.emit()

    def _apply_zoom(self, zoom: float) -> None:
        self._zoom = zoom
        self._backdrop.prepare(theme.tokens(), zoom)
        self.canvas_scene.set_zoom(zoom)
        self.resetTransform()
        self.scale(zoom, zoom)
        self._widen()
        self.zoom_changed.emit(zoom)

    def zoom_in(self) -> None:
        """A step nearer."""
        self.step_zoom(_STEP)

    def zoom_out(self) -> None:
        """A step away."""
        self.step_zoom(1 / _STEP)

    def zoom_normal(self) -> None:
        """One window pixel per canvas unit."""
        self.set_zoom(1.0)

    def fit(self) -> None:
        """Show everything."""
        self._fit_rect(self.canvas_scene.content_rect(), _FIT_MAX)
        self._fit_on_resize = True

    def fit_selection(self) -> None:
        """Show what is selected, large."""
        items = [i for i in map(self.canvas_scene.item_of, self.selection.ids) if i is not None]
        if items:
            self._fit_rect(rect_around(items), 1.5)
            self._fit_on_resize = False

    def _fit_rect(self, rect: QRectF, most: float) -> None:
        area = self.viewport().size()
        if rect.isEmpty() or area.width() < 2 * _FIT_MARGIN + 10 or area.height() < 2 * _FIT_MARGIN + 10:
            self._apply_zoom(1.0)
            self.centerOn(rect.center())
        else:
            wide = (area.width() - 2 * _FIT_MARGIN) / rect.width()
            high = (area.height() - 2 * _FIT_MARGIN) / rect.height()
            self._apply_zoom(max(MIN_ZOOM, min(wide, high, most)))
            self.centerOn(rect.center())
        self.moved.emit()

    def pan_by(self, by: QPoint) -> None:
        """Move the canvas under the window by these pixels."""
        self._scroll(-by)
        self._fit_on_resize = False
        self.moved.emit()

    def _scroll(self, by: QPoint) -> None:
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setValue(across.value() + by.x())
        down.setValue(down.value() + by.y())

    def bring_into_view(self, ids: tuple[str, ...]) -> None:
        """Show these objects with the whole hosts they stand on: fit everything, pan, or zoom out to them."""
        scene = self.canvas_scene
        items = [i for i in (scene.item_of(scene.host_of(d) or d) for d in ids) if i is not None]
        if not items:
            return
        rect = rect_around(items)
        seen = self.visible_rect()
        if not seen.contains(rect):
            if self._fit_on_resize:
                self.fit()
            elif len(items) > 1 and (rect.width() > seen.width() or rect.height() > seen.height()):
                self._fit_rect(rect, self._zoom)
            else:
                self.ensureVisible(rect, 40, 40)
                self.moved.emit()

    def visible_rect(self) -> QRectF:
        """The part of the scene that can be seen."""
        return self.mapToScene(self.viewport().rect()).boundingRect()

    def _widen(self) -> None:
        room = max(self.viewport().width(), self.viewport().height(), 400) / self._zoom
        self.canvas_scene.setSceneRect(self.canvas_scene.content_rect().adjusted(-room, -room, room, room))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.banner.place()
        if self._fit_on_resize:
            self.fit()
        else:
            self._widen()
            self.moved.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._fit_on_resize:
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        held = event.modifiers()
        fine = event.pixelDelta()
        if not fine.isNull() and not held & Qt.KeyboardModifier.ControlModifier:
            self.pan_by(fine)
        elif held & Qt.KeyboardModifier.ShiftModifier:
            turned = event.angleDelta()
            self.pan_by(QPoint(turned.y() or turned.x(), 0))
        else:
            self.step_zoom(1.0015 ** event.angleDelta().y(), event.position())
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)
        super().leaveEvent(event)

    # Pointer

    @property
    def is_busy(self) -> bool:
        """Whether a gesture or drop is under way."""
        return self._gesture is not None or self._drop is not None

    def drag_rests_at(self, at: QPoint) -> None:
        """The view moved under a drag that rests at this place of the viewport."""
        for carrying in (self._gesture, self._drop):
            if carrying is not None:
                carrying.move(self.mapToScene(at))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._end_rename(commit=True)
        if self._zooming is not None:
            self._zooming.rest()
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
        item = self.canvas_scene.found_at(point)
        ribbon = self.canvas_scene.ribbon_at(point) if item is None or item.kind != "process" else None
        if ribbon is not None and not self.canvas_scene.look.is_far:
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
            self._hover(self.canvas_scene.found_at(point))

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
        item = self.canvas_scene.found_at(self.mapToScene(event.position().toPoint()))
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
        menus.open_menu(self, event)

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
        return keys.step(self, forward=forward) or super().focusNextPrevChild(forward)

    def start_rename(self, object_id: str) -> None:
        """Let a person type another name where the name is."""
        item = self.canvas_scene.item_of(object_id)
        name = name_of(self.document.plan, object_id)
        if item is None or name is None:
            return
        self._end_rename(commit=True)
        rect = item.rect_in_scene()
        field = RenameField(name, self.viewport())
        field.cover(self.mapFromScene(rect.topLeft()), round(rect.width() * self._zoom))
        field.done.connect(lambda text: self.editor.rename(object_id, text))
        field.ended.connect(self._rename_ended)
        self._rename = field
        field.show()
        field.setFocus()

    def _end_rename(self, *, commit: bool) -> bool:
        if self._rename is None:
            return False
        self._rename.finish(commit=commit)
        return True

    def _rename_ended(self) -> None:
        self._rename = None
        self.setFocus()

    # Drops

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        key = drops.key_in(event.mimeData())
        if key is not None:
            self._drop = drops.Drop(self, key)
            event.acceptProposedAction()
        elif event.mimeData().hasUrls():
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if self._drop is not None:
            self._drop.move(self.mapToScene(event.position().toPoint()))
            self._edges.follow(event.position().toPoint())
            event.setAccepted(self._drop.can_land)
        else:
            event.setAccepted(event.mimeData().hasUrls())

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        if self._drop is not None:
            self._drop.cancel()
            self._drop = None

    def dropEvent(self, event: QDropEvent) -> None:
        drop, self._drop = self._drop, None
        if drop is not None:
            drop.move(self.mapToScene(event.position().toPoint()))
            drop.commit()
            event.acceptProposedAction()
            self.setFocus()
        elif event.mimeData().hasUrls():
            event.acceptProposedAction()
            names = (url.toLocalFile() for url in event.mimeData().urls())
            self.files_dropped.emit([Path(name) for name in names if name])
