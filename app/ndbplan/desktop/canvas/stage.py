"""Stage: the canvas as a picture — what is shown, zoom and pan. It knows no pointer and no keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmapCache,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsView, QToolTip, QWidget

from ndbplan.describe.colouring import Colouring
from ndbplan.describe.overlay import Loads, percent
from ndbplan.desktop.canvas.backdrop import Backdrop
from ndbplan.desktop.canvas.banner import Banner
from ndbplan.desktop.canvas.items import rect_around
from ndbplan.desktop.canvas.ribbons import RibbonItem
from ndbplan.desktop.canvas.scene import CanvasScene
from ndbplan.desktop.canvas.sight import is_seen, way_into
from ndbplan.desktop.canvas.tips import item_name
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.layout.stillness import Stillness
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.text import sentence
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.desktop.canvas.zooming import Zooming

MIN_ZOOM, MAX_ZOOM = 0.05, 3.0
_STANDS = "Transactions stand still until the loss is noticed"
_FIT_MARGIN = 32.0
_FIT_MAX = 1.0
_EMPTY_WIDTH, _EMPTY_LEAST = 1060.0, 0.7
"""How wide an empty plan begins, so that two hosts find room side by side, and the least zoom for that."""
_BESIDE = 40
"""Pixels left beside what is brought into view."""
_STEP = 1.25
_LARGE = 40
"""Hosts from which on painting at a new size takes longer than a frame."""
_PIXELS_KIB = 96 * 1024
"""For the pixels that hosts keep between paints."""


class Stage(QGraphicsView):
    """Shows the document's plan: what of it is seen, and how large."""

    zoom_changed = Signal(float)
    moved = Signal()
    """The visible part changed: pan, zoom or resize."""
    out_of_sight = Signal(object)
    """Ids of objects that were added where nobody sees them."""
    covering = Signal(object)
    """Ids of all pairs of hosts and locations that cover one another, where an edit has changed that."""
    loaded = Signal()
    """Other loads are on show: of a new estimate, or of another moment of a replay."""
    coloured = Signal(object)
    """A Colouring that is on show from now on."""
    foot_changed = Signal()
    """Something lies over the foot of the window, or no longer does."""
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
        self._fit_on_resize = True
        self._fitted_in = QSize()
        self._fit_most = _FIT_MAX
        self.foot_px = 0
        """Height at the foot of the window that something lies over: fitting keeps out of it."""
        self.legend_px = 0
        """The same of the legend, which lies in the margin that fitting leaves anyway."""
        self.head_px = 0
        """The same at the head, in the margin too."""
        self._shows_focus = False
        self._backdrop = Backdrop()
        self.banner = Banner(self)
        self._moment = ""
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
        self.document.changed.connect(self._show_change)
        self.document.replaced.connect(self._start_over)
        self.selection.changed.connect(self._show_selection)
        editor.added.connect(self._look_for)
        editor.wanted.connect(self.bring_into_view)
        self.document.after_edit = Stillness(self.canvas_scene.layouter).held
        theme.theme().changed.connect(self._restyle)
        self._restyle()
        self.canvas_scene.show_plan(self.document.plan)
        self._widen()

    # What is shown

    def keep_foot_free(self, height_px: int) -> None:
        """Something lies over the foot of the window."""
        if height_px != self.foot_px:
            self.foot_px = height_px
            self.foot_changed.emit()

    def show_loads(self, loads: Loads) -> None:
        """Paint utilisations and problems, and say when the cluster stopped."""
        self.canvas_scene.show_loads(loads)
        if loads.stopped:
            self.banner.say(sentence(loads.stopped), "error")
        elif loads.stands_still:
            self.banner.say(_STANDS, "warning")
        elif loads.reorganised is not None:
            self.banner.say(f"Tables are reorganised: {percent(loads.reorganised)} of the rows moved", "info")
        else:
            self.banner.say(self._moment, "info")
        self.loaded.emit()

    def name_moment(self, text: str) -> None:
        """Say which moment is shown, where nothing else in the window does; "": none, or it is seen there."""
        if text != self._moment:
            self._moment = text
            self.show_loads(self.canvas_scene.look.loads)

    @property
    def colour_by(self) -> str:
        """Name of the colouring on show; nothing: there is none."""
        return self.canvas_scene.look.colouring.name

    def show_colouring(self, colouring: Colouring) -> None:
        """Colour hosts, nodes and disks by one thing; NOTHING: by what they are."""
        self.canvas_scene.show_colouring(colouring)
        self.coloured.emit(colouring)

    def _show_change(self, _before: Plan, after: Plan) -> None:
        covered = self.canvas_scene.overlaps.pairs
        self.canvas_scene.show_plan(after)
        self._widen()
        self.moved.emit()
        if self.canvas_scene.overlaps.pairs != covered:
            self.covering.emit(self.canvas_scene.overlaps.pairs)

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
            # What was painted before leaves its brush, and the frame would cover everything.
            painter.setBrush(Qt.BrushStyle.NoBrush)
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
                from ndbplan.desktop.canvas.zooming import Zooming

                self._zooming = Zooming(self, lambda: self.canvas_scene.layout)
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

    @property
    def is_fitted(self) -> bool:
        """Whether everything is shown, also when the window changes its size."""
        return self._fit_on_resize

    def look_at(self, point: QPointF) -> None:
        """Bring a point of the canvas to the middle."""
        self._scroll(self.mapFromScene(point) - self.viewport().rect().center())
        self._fit_on_resize = False
        self.moved.emit()

    def rest(self) -> None:
        """Paint what a moving zoom only scaled."""
        if self._zooming is not None:
            self._zooming.rest()

    def _apply_zoom(self, zoom: float) -> None:
        self._zoom = zoom
        self._backdrop.prepare(theme.tokens(), zoom)
        self.canvas_scene.set_zoom(zoom)
        self.resetTransform()
        self.scale(zoom, zoom)
        self._widen()
        self.zoom_changed.emit(zoom)

    def zoom_in(self) -> None:
        """One step nearer."""
        self.step_zoom(_STEP)

    def zoom_out(self) -> None:
        """One step away."""
        self.step_zoom(1 / _STEP)

    def zoom_normal(self) -> None:
        """One window pixel per canvas unit."""
        self.set_zoom(1.0)

    def fit(self) -> None:
        """Show everything."""
        self._fit_rect(self.canvas_scene.content_rect(), self._fit_most)
        self._fit_on_resize = True
        self._fitted_in = self.viewport().size()

    def fit_at_most(self, zoom: float) -> None:
        """How large fitting may draw everything, from now on."""
        self._fit_most = zoom

    def keep_right(self, width_px: int) -> None:
        """Leave so much of the right edge to something that lies over it, from now on."""
        self.setViewportMargins(0, 0, width_px, 0)

    def fit_selection(self) -> None:
        """Show what is selected, large."""
        items = [i for i in map(self.canvas_scene.item_of, self.selection.ids) if i is not None]
        if items:
            self._fit_rect(rect_around(items), 1.5)
            self._fit_on_resize = False

    def _fit_rect(self, rect: QRectF, most: float) -> None:
        area = self.viewport().size()
        if rect.isEmpty() or area.width() < 2 * _FIT_MARGIN + 10 or area.height() < 2 * _FIT_MARGIN + 10:
            self._apply_zoom(min(1.0, max(_EMPTY_LEAST, area.width() / _EMPTY_WIDTH)))
            self.centerOn(rect.center())
        else:
            wide = (area.width() - 2 * _FIT_MARGIN) / rect.width()
            foot = max(float(self.foot_px), self.legend_px - _FIT_MARGIN)
            foot = foot if foot < area.height() / 3 else 0.0
            head = max(0.0, self.head_px - _FIT_MARGIN)
            high = (area.height() - head - foot - 2 * _FIT_MARGIN) / rect.height()
            self._apply_zoom(max(MIN_ZOOM, min(wide, high, most)))
            self.centerOn(rect.center() + QPointF(0, (foot - head) / 2 / self._zoom))
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

    def say_at(self, point: QPointF, text: str) -> None:
        """Say where the pointer is why something was not done."""
        QToolTip.showText(self.viewport().mapToGlobal(self.mapFromScene(point)), text, self)

    def say_along(self, at: QPoint, text: str) -> None:
        """Say it where the pointer is in the viewport while it goes on: the same words move with it."""
        # Qt leaves a tip with the same words where it is, unless the pointer left its rectangle.
        where = self.viewport().mapToGlobal(at)
        QToolTip.showText(where, text, self, QRect(self.mapFromGlobal(where), QSize(1, 1)))

    def _look_for(self, ids: tuple[str, ...]) -> None:
        """Say which of these cannot be seen: the view moves only when a person moves it."""
        items = {i: item for i in ids if (item := self.canvas_scene.item_of(i)) is not None}
        unseen = {i for i, item in items.items() if not is_seen(self, item.rect_in_scene())}
        # What stands on a host that is told of is not told of too.
        told = tuple(i for i in ids if i in unseen and self.canvas_scene.host_of(i) not in unseen - {i})
        if told:
            self.out_of_sight.emit(told)

    def bring_into_view(self, ids: tuple[str, ...]) -> None:
        """Show these objects with the whole hosts they stand on: fit everything, pan, or zoom out to them."""
        scene = self.canvas_scene
        items = [i for i in (scene.item_of(scene.host_of(d) or d) for d in ids) if i is not None]
        if not items:
            return
        rect = rect_around(items)
        place = self.mapFromScene(rect).boundingRect()
        room = self.viewport().rect().adjusted(0, 0, 0, -self.foot_px)
        if room.contains(place) and is_seen(self, rect):
            return
        if self._fit_on_resize:
            self.fit()
        elif len(items) > 1 and (place.width() > room.width() or place.height() > room.height()):
            self._fit_rect(rect, self._zoom)
        else:
            self._scroll(-way_into(place, room.adjusted(_BESIDE, _BESIDE, -_BESIDE, -_BESIDE)))
            if not is_seen(self, rect):
                # Where the overview or a card lies: to the middle.
                self._scroll(self.mapFromScene(rect).boundingRect().center() - room.center())
            self.moved.emit()

    def ribbon_under(self, point: QPointF) -> RibbonItem | None:
        """The node group whose name lies there, unless a node lies on top of it or all is seen from far."""
        scene = self.canvas_scene
        if scene.look.is_far or scene.item_at(point, "process") is not None:
            return None
        return scene.ribbon_at(point)

    def visible_rect(self) -> QRectF:
        """The part of the scene that can be seen."""
        return self.mapToScene(self.viewport().rect()).boundingRect()

    def _widen(self) -> None:
        room = max(self.viewport().width(), self.viewport().height(), 400) / self._zoom
        wide = self.canvas_scene.content_rect().adjusted(-room, -room, room, room)
        # What is seen stays inside: else an edit that takes the outermost away would move the view.
        self.canvas_scene.setSceneRect(wide.united(self.visible_rect()))

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
        # What was only covered is found as it was left.
        if self._fit_on_resize and self._fitted_in != self.viewport().size():
            self.fit()
