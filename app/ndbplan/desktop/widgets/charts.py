"""Charts over time: themed, with linked crosshairs; copied as CSV or picture.

pyqtgraph takes a fifth of a second to import: that is done before the first chart is built, in several turns
of the event loop, and never in a thread, as modules of Qt may not be loaded while the window uses others.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QEvent, QKeyCombination, QObject, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsView,
    QHBoxLayout,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.units import format_duration
from ndbplan.desktop.document.turns import Steps
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.axes import shown, time_axis, value_axis
from ndbplan.desktop.widgets.chart_content import Content, most
from ndbplan.desktop.widgets.chart_drawing import Drawing
from ndbplan.desktop.widgets.chart_readout import AXIS_WIDTH, Readout, Said
from ndbplan.desktop.widgets.sections import label

_HEAD_HEIGHT = 22
_COPY_PICTURE = QKeyCombination(
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, Qt.Key.Key_C
)
_REACH_PX = 6
"""From a mark, within which a press takes hold of it."""


def loading() -> Iterator[None]:
    """Load what draws charts, in steps of a few frames each; in the GUI thread.

    PySide makes a class of Qt when somebody asks for it, and pyqtgraph asks for all of them.
    """
    if "pyqtgraph" in sys.modules:
        return
    for module in (QtCore, QtGui, QtWidgets):
        for name in dir(module):
            getattr(module, name)
        yield
    import pyqtgraph  # noqa: F401 — loading it is the aim

    yield


def load_in_turns(of: QObject) -> None:
    """Load what draws charts before somebody waits for one, while `of` lives."""
    steps = loading()
    Steps(of, lambda: any(True for _ in steps)).go()


class TimeChart(QWidget):
    """One chart with its title, the values under the crosshair, and room for a picker."""

    cursor_moved = Signal(object)
    """Time under the pointer in seconds; None when it left."""
    clicked_at = Signal(float)
    """Somebody clicked on a moment."""
    mark_moved = Signal(int, float)
    """A mark was dragged: its number, and the moment in seconds."""
    maximise_wanted = Signal()
    """A double click on its title, or M: it alone, or all charts again."""
    time_changed = Signal(float, float)
    """It shows the time from here to there, in seconds: it was zoomed or moved."""

    def __init__(self, title: str, picker: QWidget | None = None) -> None:
        import pyqtgraph as pg

        super().__init__()
        self._pg = pg
        self._title = title
        self._content: Content | None = None
        self._read_at_s: float | None = None
        self._drawn_length_s = -1.0
        self.is_drawn = True
        """Whether what is drawn is what was last given to `show_content`."""
        self.plot = pg.PlotWidget(
            axisItems={"left": value_axis(pg, self._unit), "bottom": time_axis(pg)},
            background=None,
            enableMenu=False,
        )
        self.readout = Readout(self.plot)
        self.title = label(title, "chartTitle", wrap=False)
        head = QHBoxLayout()
        head.setContentsMargins(2, 0, 2, 0)
        head.setSpacing(6)
        head.addWidget(self.title)
        if picker is not None:
            head.addWidget(picker)
        head.addWidget(self.readout, 1)
        self.title.setFixedHeight(_HEAD_HEIGHT)
        self.title.installEventFilter(self)
        self.drawing = Drawing(pg, self.plot)
        self.drawing.moved = lambda number, at_s: self.mark_moved.emit(number, at_s)
        self.plot.setFrameShape(QFrame.Shape.NoFrame)
        self.plot.setProperty("look", "chart")
        self.plot.setAccessibleName(title)
        self.plot.setMinimumHeight(40)
        self.plot.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        item = self.plot.getPlotItem()
        item.hideButtons()
        item.setMouseEnabled(x=True, y=False)
        item.setDownsampling(auto=True, mode="peak")
        item.setClipToView(True)
        item.getAxis("left").setWidth(AXIS_WIDTH)
        item.layout.setContentsMargins(0, 6, 8, 2)
        self.readout.room_wanted.connect(lambda above: item.layout.setContentsMargins(0, above + 2, 8, 2))
        item.getViewBox().sigXRangeChanged.connect(lambda _view, span: self.time_changed.emit(*span))
        item.getViewBox().sigTransformChanged.connect(lambda _view: self._paint_anew())
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._position = pg.InfiniteLine(angle=90, movable=False)
        for line in (self._cursor, self._position):
            line.setZValue(50)
            line.hide()
            item.addItem(line, ignoreBounds=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        layout.addLayout(head)
        layout.addWidget(self.plot, 1)
        self.plot.viewport().setMouseTracking(True)
        self.plot.viewport().installEventFilter(self)
        self.plot.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.plot.setAccessibleDescription(
            "Left and Right move the crosshair, Enter goes there, M shows it alone, Ctrl+C copies values, "
            "Ctrl+Shift+C a picture"
        )
        self.plot.installEventFilter(self)
        self._restyle()

    def show_time(self, from_s: float, to_s: float) -> None:
        """Zoom and pan to this time: charts that stand together show the same.

        Not by pyqtgraph's linked axes, which align charts of different width by the pixel.
        """
        shown_s = self.plot.getViewBox().viewRange()[0]
        if max(abs(shown_s[0] - from_s), abs(shown_s[1] - to_s)) > 1e-9 * max(1.0, to_s):
            self.plot.setXRange(from_s, to_s, padding=0)

    def set_title(self, title: str, tip: str = "") -> None:
        """Show another title, with what it means as its tip."""
        self._title = title
        self.title.setToolTip(tip)
        self.title.setText(title)
        self.plot.setAccessibleName(title)

    def show_content(self, content: Content) -> None:
        """Show something else, after the next `draw`; the time range is reset when the length differs."""
        self._content = content
        self.is_drawn = False
        self.show_values_at(None)

    def draw(self) -> None:
        """Draw what is to be shown, which takes some milliseconds for each series."""
        content = self._content
        self.is_drawn = True
        self.drawing.draw(content)
        length = self._length_s()
        if content is not None and abs(self._drawn_length_s - length) > 1e-9:
            self._drawn_length_s = length
            # The limits first: they would cut the range.
            self.plot.getViewBox().setLimits(
                xMin=0, xMax=length, yMin=0, minXRange=min(length, 2 * content.bucket_s)
            )
            self.plot.setXRange(0, length, padding=0)
        self._paint_anew()

    def _paint_anew(self) -> None:
        """Paint all of it: another range moves everything in it."""
        self.plot.viewport().update()

    def show_cursor(self, at_s: float | None) -> None:
        """Draw the crosshair at a time and show the values there."""
        self._move(self._cursor, at_s)
        self.show_values_at(at_s)

    def show_position(self, at_s: float | None) -> None:
        """Draw the line of the replay."""
        self._move(self._position, at_s)

    def _move(self, line: Any, at_s: float | None) -> None:
        """Put an upright line at a moment, or (None) away.

        What it leaves and what it comes to is painted anew by name: where a limit or the room for words has
        changed the chart meanwhile, Qt forgets the place that the line was at, and it stays there.
        """
        if line.isVisible():
            self._paint_anew_at(float(line.value()))
        line.setVisible(at_s is not None)
        if at_s is not None:
            line.setValue(at_s)
            self._paint_anew_at(at_s)

    def _paint_anew_at(self, at_s: float) -> None:
        port, view = self.plot.viewport(), self.plot.getViewBox()
        x = round(view.mapViewToScene(QPointF(at_s, 0.0)).x())
        port.update(x - _REACH_PX, 0, 2 * _REACH_PX, port.height())

    def show_time_axis(self, shown: bool) -> None:
        """Show or hide the times below; charts above others may do without."""
        self.plot.getPlotItem().getAxis("bottom").setStyle(showValues=shown)
        self.plot.getPlotItem().getAxis("bottom").setHeight(None if shown else 3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.show_values_at(self._read_at_s)

    def show_values_at(self, at_s: float | None) -> None:
        """Values at a time, or (None) the greatest of each series, in the header."""
        content = self._content
        self._read_at_s = at_s
        if content is None or not len(content.times_s):
            self.readout.say("", [])
            return
        parts: list[Said] = []
        for series in content.series:
            if series.ghost and at_s is None:
                continue
            values = series.values if at_s is not None or series.high is None else series.high
            value = most(values) if at_s is None else float(values[content.bucket_at(at_s)])
            factor, unit = content.scales.get(series.name, (1.0, content.unit))
            text = "–" if math.isnan(value) else shown(value / factor, unit)
            parts.append((series.name, text, series.colour))
        when = "max" if at_s is None else format_duration(at_s)
        self.readout.say(when, parts)

    def as_csv(self) -> str:
        """The series as CSV, one line for each moment."""
        content = self._content
        if content is None:
            return ""
        head = ["t_s", *(series.name.replace(",", " ") for series in content.series)]
        columns = [content.times_s, *(series.values for series in content.series)]
        lines = [",".join(f"{value:.6g}" for value in row) for row in zip(*columns, strict=True)]
        return "\n".join([",".join(head), *lines]) + "\n"

    def copy_csv(self) -> None:
        """Put the series on the clipboard as CSV."""
        QGuiApplication.clipboard().setText(self.as_csv())

    def copy_picture(self) -> None:
        """Put a picture of the chart on the clipboard."""
        QGuiApplication.clipboard().setPixmap(self.grab())

    def reset_zoom(self) -> None:
        """Show the whole time again."""
        self.plot.setXRange(0, self._length_s(), padding=0)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.addAction("Copy as CSV\tCtrl+C", self.copy_csv)
        menu.addAction("Copy as picture\tCtrl+Shift+C", self.copy_picture)
        menu.addSeparator()
        menu.addAction("Whole time", self.reset_zoom)
        menu.addAction("This chart alone, or all\tM", self.maximise_wanted.emit)
        menu.exec(event.globalPos())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is self.title:
            if kind == QEvent.Type.MouseButtonDblClick:
                self.maximise_wanted.emit()
                return True
            return super().eventFilter(watched, event)
        if watched is self.plot:
            if kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._key(event)
            return super().eventFilter(watched, event)
        if kind == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self.cursor_moved.emit(self._time_at(event.position()))
        elif kind == QEvent.Type.Leave:
            self.cursor_moved.emit(None)
        elif kind == QEvent.Type.MouseButtonDblClick:
            self.reset_zoom()
            return True
        elif (
            kind == QEvent.Type.MouseButtonPress
            and isinstance(event, QMouseEvent)
            and event.button() == Qt.MouseButton.LeftButton
        ):
            at_s = self._time_at(event.position())
            if at_s is not None and not self._is_on_a_grip(event.position()):
                self.clicked_at.emit(at_s)
        elif kind == QEvent.Type.ContextMenu and isinstance(event, QContextMenuEvent):
            self.contextMenuEvent(event)
            return True
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        content = self._content
        if content is None:
            return False
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_csv()
            return True
        if event.keyCombination() == _COPY_PICTURE:
            self.copy_picture()
            return True
        at_s = float(self._cursor.value()) if self._cursor.isVisible() else 0.0
        step_s = max(content.bucket_s, self._length_s() / 200)
        moves = {Qt.Key.Key_Left: at_s - step_s, Qt.Key.Key_Right: at_s + step_s, Qt.Key.Key_Home: 0.0}
        key = Qt.Key(event.key())
        if key in moves:
            self.cursor_moved.emit(max(0.0, min(self._length_s(), moves[key])))
        elif key == Qt.Key.Key_M and not event.modifiers():
            self.maximise_wanted.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._cursor.isVisible():
            self.clicked_at.emit(at_s)
        elif key == Qt.Key.Key_Escape and self._cursor.isVisible():
            self.cursor_moved.emit(None)
        else:
            return False
        return True

    def restyle(self) -> None:
        """Take over the colours of the theme in use; the content must be given again."""
        self._restyle()

    def _unit(self) -> str:
        return self._content.unit if self._content is not None else ""

    def _length_s(self) -> float:
        return self._content.width_s if self._content is not None else 1.0

    def _time_at(self, place: QPointF) -> float | None:
        if self._content is None:
            return None
        view = self.plot.getViewBox()
        scene = self.plot.mapToScene(place.toPoint())
        if not view.sceneBoundingRect().contains(scene):
            return None
        at_s = float(view.mapSceneToView(scene).x())
        return max(0.0, min(self._length_s(), at_s))

    def _is_on_a_grip(self, place: QPointF) -> bool:
        """Whether a press there takes hold of a mark."""
        view, x = self.plot.getViewBox(), self.plot.mapToScene(place.toPoint()).x()
        at = (view.mapViewToScene(QPointF(line.value(), 0.0)).x() for line in self.drawing.grips)
        return any(abs(one - x) <= _REACH_PX for one in at)

    def _restyle(self) -> None:
        colours, pg = theme.tokens(), self._pg
        self.plot.setBackground(colours.sunken)
        item = self.plot.getPlotItem()
        for name in ("left", "bottom"):
            axis = item.getAxis(name)
            axis.setPen(pg.mkPen(colours.line))
            axis.setTextPen(pg.mkPen(colours.muted))
            axis.setStyle(
                tickFont=theme.font(round(10 * theme.theme().text_scale)), tickLength=0, maxTickLevel=0
            )
        item.getAxis("left").setGrid(40 if colours.is_dark else 60)
        item.getAxis("left").setTickPen(pg.mkPen(colours.muted))
        self._cursor.setPen(pg.mkPen(colours.muted, width=1))
        self._position.setPen(pg.mkPen(colours.accent, width=1.6))
