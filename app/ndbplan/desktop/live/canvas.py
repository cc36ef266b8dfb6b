"""The canvas of a live cluster: it shows what is, and lets something happen to it; the plan stays as it is.

It has a document of its own, so nothing that is done here is an edit of the plan that is open.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QWidget

from ndbplan.describe.estimated import loads_at
from ndbplan.describe.overlay import NO_LOADS, Loads
from ndbplan.desktop.canvas.input import keys
from ndbplan.desktop.canvas.input.wheel import turn
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.paint import brush
from ndbplan.plan.plan import Plan
from ndbplan.train.sight import Sight

CLOCK = QRect(12, 8, 110, 30)
"""Where the clock stands in the viewport."""
_APART = 8
"""Between the clock and what is shown whole below it."""
_GROUND = 215
"""Alpha of what it stands on."""


class LiveCanvas(Stage):
    """Shows a live cluster."""

    menu_wanted = Signal(object, QPoint)
    """Ids of what is to be acted on (none: the cluster), and where on the screen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        document = Document()
        super().__init__(Editor(document, Selection(document)), parent)
        for one in (document, self.selection, self.editor):
            one.setParent(self)
        self.setAccessibleName("Live cluster")
        self.head_px = CLOCK.bottom() + _APART
        self._at_rest = NO_LOADS
        self._shown: Plan | None = None
        self._from: QPoint | None = None
        """Where the pointer was last while it drags."""
        self.clock = ""
        """What the clocks of the cluster show."""

    def show_cluster(self, plan: Plan, at_rest: Loads) -> None:
        """Show another cluster; `at_rest`: what the estimates say of its plan."""
        self._at_rest = at_rest._replace(problems=NO_LOADS.problems)
        self.document.new(plan)
        self.show_loads(self._at_rest)

    def show_sight(self, sight: Sight) -> None:
        """Show it as it is now."""
        if sight.plan is not self._shown:
            self._shown = sight.plan
            if sight.plan.by_id.keys() != self.document.plan.by_id.keys():
                self.document.new(sight.plan)
            else:
                # Parameters or node groups are others: the view stays where it is.
                self.canvas_scene.show_plan(sight.plan)
        clock = f"{sight.clock:%H:%M:%S}"
        if clock != self.clock:
            self.clock = clock
            self.viewport().update(CLOCK)
        loads = loads_at(sight.moment, sight.plan, self._at_rest, sight.carried)
        self.show_loads(loads._replace(states=sight.states))

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        painter.save()
        painter.resetTransform()
        # It stays readable over what is panned below it.
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(brush(theme.tokens().canvas, _GROUND))
        painter.drawRoundedRect(CLOCK, 6, 6)
        painter.setFont(theme.mono_font(18, 600))
        painter.setPen(theme.tokens().text_strong)
        painter.drawText(CLOCK, Qt.AlignmentFlag.AlignCenter, self.clock)
        painter.restore()
        super().drawForeground(painter, rect)

    # Pointer and keys.

    def wheelEvent(self, event: QWheelEvent) -> None:
        turn(self, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        item = self.canvas_scene.item_at(self.mapToScene(at))
        if event.button() == Qt.MouseButton.LeftButton and item is not None:
            if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier):
                self.selection.add(item.object_ids)
            else:
                self.selection.set(item.object_ids)
        elif event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self.selection.clear()
            self._from = at
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._from is not None:
            at = event.position().toPoint()
            self.pan_by(at - self._from)
            self._from = at

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._from = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.canvas_scene.item_at(self.mapToScene(event.position().toPoint())) is None:
            self.fit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        scene, selection = self.canvas_scene, self.selection
        where, keyboard = event.globalPos(), event.reason() == QContextMenuEvent.Reason.Keyboard
        if keyboard:
            item = scene.item_of(selection.current or "")
            if item is not None:
                corner = self.mapFromScene(item.rect_in_scene().bottomLeft())
                where = self.viewport().mapToGlobal(corner)
            self.menu_wanted.emit(selection.ids, where)
            return
        point = self.mapToScene(event.pos())
        ribbon = self.ribbon_under(point)
        item = scene.item_at(point)
        if ribbon is not None:
            self.selection.set(ribbon.members)
        elif item is None:
            selection.clear()
        elif item.object_id not in selection.ids:
            selection.set(item.object_ids)
        self.menu_wanted.emit(selection.ids, where)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        near = {Qt.Key.Key_Plus: self.zoom_in, Qt.Key.Key_Minus: self.zoom_out, Qt.Key.Key_0: self.fit}
        act = near.get(Qt.Key(event.key()))
        if act is not None:
            act()
            event.accept()
        elif keys.walk(self, event):
            event.accept()
        else:
            event.ignore()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes from object to object, and on to the next panel behind the last one."""
        return keys.step(self, forward=forward) or super().focusNextPrevChild(forward)
