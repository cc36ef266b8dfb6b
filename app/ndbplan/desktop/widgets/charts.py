"""Charts over time: themed, with linked crosshairs; copied as CSV or picture.

pyqtgraph takes half a second to import: it is imported when the first chart is built, after `preload()` has
done so in a thread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsItem,
    QGraphicsView,
    QHBoxLayout,
    QLabel,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.units import format_duration
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.axes import shown, time_axis, value_axis
from ndbplan.desktop.widgets.sections import label

_AXIS_WIDTH = 58
_HEAD_HEIGHT = 22
_DENSE = 200
"""Points of a line from which on there is about one for each pixel."""
_THINNEST = 0.004
"""Share of the height from which on a band is more than its line."""


def preload() -> None:
    """Import what charts need; may run in any thread."""
    import pyqtgraph  # noqa: F401 — loading it is the aim


@dataclass(frozen=True)
class Series:
    """One line of a chart: an array of values for each moment."""

    name: str
    colour: str
    """#rrggbb."""
    values: Any
    """NaN: nothing is known of this moment; the line has a gap."""
    low: Any = None
    high: Any = None
    """Extremes of each moment, drawn as a band so that no spike is lost."""
    area: bool = False
    """Filled down to zero, without a line."""
    ghost: bool = False
    """What was before: thin and faint behind all other lines."""


@dataclass(frozen=True)
class Mark:
    """A moment worth seeing."""

    at_s: float
    text: str
    colour: str


@dataclass(frozen=True)
class Shade:
    """A span of time in a colour, with a word at its begin."""

    from_s: float
    to_s: float
    text: str
    colour: str


@dataclass(frozen=True)
class Content:
    """All that one chart shows."""

    times_s: Any
    bucket_s: float
    unit: str
    series: Sequence[Series] = ()
    limit: float | None = None
    """A dashed line: capacity, or what is offered at most."""
    limit_name: str = ""
    marks: Sequence[Mark] = ()
    scales: dict[str, tuple[float, str]] = field(default_factory=dict)
    """Series drawn on another scale: name to (factor to divide by, unit)."""
    shades: Sequence[Shade] = ()
    """Spans of time in which something holds, behind the lines."""
    length_s: float | None = None
    """Time that the chart is wide; None: as long as the series. A run that is not over leaves room."""


class TimeChart(QWidget):
    """One chart with its title, the values under the crosshair, and room for a picker."""

    cursor_moved = Signal(object)
    """Time under the pointer in seconds; None when it left."""
    clicked_at = Signal(float)
    """Somebody clicked on a moment."""
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
        self._items: list[Any] = []
        self._lines: list[Any] = []
        """Lines are kept from one content to the next: making one costs more than what it shows."""
        self._read_at_s: float | None = None
        self._drawn_length_s = -1.0
        self.is_drawn = True
        """Whether what is drawn is what was last given to `show_content`."""
        self.title = label(title, "chartTitle", wrap=False)
        self.readout = QLabel()
        self.readout.setProperty("look", "readout")
        self.readout.setTextFormat(Qt.TextFormat.RichText)
        self.readout.setMinimumWidth(10)
        self.readout.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        head = QHBoxLayout()
        head.setContentsMargins(2, 0, 2, 0)
        head.setSpacing(8)
        head.addWidget(self.title)
        if picker is not None:
            head.addWidget(picker)
        head.addWidget(self.readout, 1)
        self.title.setFixedHeight(_HEAD_HEIGHT)
        self.title.installEventFilter(self)
        self.plot = pg.PlotWidget(
            axisItems={"left": value_axis(pg, self._unit), "bottom": time_axis(pg)},
            background=None,
            enableMenu=False,
        )
        self.plot.setFrameShape(QFrame.Shape.NoFrame)
        self.plot.setProperty("look", "chart")
        self.plot.setAccessibleName(title)
        self.plot.setMinimumHeight(40)
        self.legend = QLabel(self.plot)
        self.legend.setProperty("look", "legend")
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.legend.setWordWrap(True)
        self.legend.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self.legend.hide()
        self._above = 4
        """Room over the lines, in pixels."""
        self.plot.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        item = self.plot.getPlotItem()
        item.hideButtons()
        item.setMouseEnabled(x=True, y=False)
        item.setDownsampling(auto=True, mode="peak")
        item.setClipToView(True)
        item.getAxis("left").setWidth(_AXIS_WIDTH)
        item.layout.setContentsMargins(0, 6, 8, 2)
        item.getViewBox().sigXRangeChanged.connect(lambda _view, span: self.time_changed.emit(*span))
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
            "Left and Right move the crosshair, Enter goes there, M shows it alone, Ctrl+C copies"
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
        self._draw()
        length = self._length_s()
        if content is not None and abs(self._drawn_length_s - length) > 1e-9:
            self._drawn_length_s = length
            # The limits first: they would cut the range.
            self.plot.getViewBox().setLimits(
                xMin=0, xMax=length, yMin=0, minXRange=min(length, 2 * content.bucket_s)
            )
            self.plot.setXRange(0, length, padding=0)

    def show_cursor(self, at_s: float | None) -> None:
        """Draw the crosshair at a time and show the values there."""
        self._cursor.setVisible(at_s is not None)
        if at_s is not None:
            self._cursor.setValue(at_s)
        self.show_values_at(at_s)

    def show_position(self, at_s: float | None) -> None:
        """Draw the line of the replay."""
        self._position.setVisible(at_s is not None)
        if at_s is not None:
            self._position.setValue(at_s)

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
            self.readout.setText("")
            self._show_legend([], [])
            return
        parts: list[tuple[str, str, str]] = []
        for series in content.series:
            if series.ghost and at_s is None:
                continue
            values = series.values if at_s is not None or series.high is None else series.high
            value = _most(values) if at_s is None else float(values[self._bucket(at_s)])
            factor, unit = content.scales.get(series.name, (1.0, content.unit))
            text = "–" if math.isnan(value) else shown(value / factor, unit)
            parts.append((series.name, text, series.colour))
        when = "max" if at_s is None else format_duration(at_s)
        self.readout.setText(self._fitting(when, parts))
        self.readout.setToolTip(f"{when}: " + ", ".join(f"{name} {text}" for name, text, _ in parts))

    def _fitting(self, when: str, parts: list[tuple[str, str, str]]) -> str:
        """Names with values as far as the header has room for all of them, else the values or names alone.

        Where no name stands in the header they stand in the chart: every line can be told apart.
        """
        metrics = self.readout.fontMetrics()
        head = self.width() - self.readout.x() if self.readout.x() else self.readout.width()
        names, values = [name for name, _, _ in parts], [value for _, value, _ in parts]
        both = [f"{name} {value}" for name, value, _ in parts]
        # Under the crosshair values matter most; else who is who does.
        order = [(both, True), (names, False)] if when == "max" else [(both, True), (values, True)]
        for texts, timed in order:
            shown = [when, *texts] if timed else texts
            if metrics.horizontalAdvance("   ".join(shown)) > head - 8:
                continue
            in_chart = [] if texts is both or texts is names or len(parts) < 2 else names
            self._show_legend(in_chart, parts)
            colours = [*([theme.tokens().muted] if timed else []), *(colour for _, _, colour in parts)]
            return " &nbsp;".join(_ink(text, colour) for text, colour in zip(shown, colours, strict=True))
        if when == "max":
            self._show_legend(self._fitting_in_chart(names) if len(parts) > 1 else [], parts)
            return ""
        self._show_legend(self._fitting_in_chart(both, names), parts)
        return _ink(when, theme.tokens().muted) if metrics.horizontalAdvance(when) <= head - 8 else ""

    def _fitting_in_chart(self, *choices: list[str]) -> list[str]:
        """The first of these that the chart has room for; else the last, what all begin with said once."""
        metrics, room = self.legend.fontMetrics(), self.plot.width() - _AXIS_WIDTH - 20
        for texts in choices:
            if metrics.horizontalAdvance("   ".join(texts)) <= room:
                return texts
        first, *others = choices[-1]
        shared = f"{first.partition(' ')[0]} "
        if all(text.startswith(shared) for text in others):
            return [first, *(text.removeprefix(shared) for text in others)]
        return choices[-1]

    def _show_legend(self, texts: list[str], parts: list[tuple[str, str, str]]) -> None:
        """What is said of the lines inside of the chart, for a header without room; nothing: no legend."""
        colours = [colour for _, _, colour in parts]
        spans = [_ink(text, colour) for text, colour in zip(texts, colours, strict=False)]
        self.legend.setText(" &nbsp; ".join(spans))
        room = max(1, self.plot.width() - _AXIS_WIDTH - 10)
        width = min(room, self.legend.fontMetrics().horizontalAdvance("   ".join(texts)) + 16)
        self.legend.resize(width, self.legend.heightForWidth(width) if spans else 0)
        self.legend.setVisible(bool(spans))
        self.legend.move(self.plot.width() - width - 8, 2)
        # The lines begin below it: it never lies over the highest values, and is never cut.
        above = self.legend.height() if spans else 4
        if above != self._above:
            self._above = above
            self.plot.getPlotItem().layout.setContentsMargins(0, above + 2, 8, 2)

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
        menu.addAction("Copy as CSV", self.copy_csv)
        menu.addAction("Copy as picture", self.copy_picture)
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
            if at_s is not None:
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
        return _length_s(self._content) if self._content is not None else 1.0

    def _bucket(self, at_s: float) -> int:
        content = self._content
        if content is None:
            return 0
        return max(0, min(len(content.times_s) - 1, int(at_s / content.bucket_s)))

    def _time_at(self, place: QPointF) -> float | None:
        if self._content is None:
            return None
        view = self.plot.getViewBox()
        scene = self.plot.mapToScene(place.toPoint())
        if not view.sceneBoundingRect().contains(scene):
            return None
        at_s = float(view.mapSceneToView(scene).x())
        return max(0.0, min(self._length_s(), at_s))

    def _draw(self) -> None:
        content, pg = self._content, self._pg
        item = self.plot.getPlotItem()
        for old in self._items:
            item.removeItem(old)
        self._items = []
        if content is None:
            return
        colours = theme.tokens()
        times = content.times_s
        top = content.limit or 0.0
        for series in content.series:
            top = max(top, _most(series.high if series.high is not None else series.values, 0.0))
        drawn = 0
        for z, series in enumerate(content.series):
            colour = QColor(series.colour)
            if series.low is not None and _most(series.high - series.low, 0.0) > top * _THINNEST:
                band = QColor(colour)
                band.setAlpha(60)
                low = pg.PlotCurveItem(times, series.low)
                high = pg.PlotCurveItem(times, series.high)
                self._add(pg.FillBetweenItem(low, high, brush=band), z)
            if series.area:
                fill = QColor(colour)
                fill.setAlpha(34 if colours.is_dark else 46)
                self._add(
                    pg.PlotDataItem(
                        times, series.values, pen=None, fillLevel=0.0, brush=fill, antialias=True
                    ),
                    z,
                )
            else:
                self._draw_line(drawn, times, series, 5 if series.ghost else z + 10)
                drawn += 1
        for unused in self._lines[drawn:]:
            item.removeItem(unused)
        del self._lines[drawn:]
        if content.limit is not None:
            line = pg.InfiniteLine(
                pos=content.limit, angle=0, pen=pg.mkPen(colours.error, width=1.2, style=Qt.PenStyle.DashLine)
            )
            line.setToolTip(content.limit_name)
            self._add(line, 25)
        for shade in content.shades:
            self._shade(shade, top)
        for mark in content.marks:
            pen = pg.mkPen(mark.colour, width=1.2, style=Qt.PenStyle.DotLine)
            line = pg.InfiniteLine(pos=mark.at_s, angle=90, pen=pen)
            line.setToolTip(mark.text)
            self._add(line, 30)
        self.plot.setYRange(0, top * 1.06 if top > 0 else 1.0, padding=0)

    def _shade(self, shade: Shade, top: float) -> None:
        """Colour a span of time and say at its begin what it is."""
        pg = self._pg
        fill = QColor(shade.colour)
        fill.setAlpha(30)
        region = pg.LinearRegionItem(
            (shade.from_s, shade.to_s), movable=False, brush=fill, pen=pg.mkPen(shade.colour, width=1.6)
        )
        region.setToolTip(shade.text)
        for edge in region.lines:
            edge.setPen(pg.mkPen(None))
        region.lines[0].setPen(pg.mkPen(shade.colour, width=1.6))
        self._add(region, 1)
        if shade.text:
            words = pg.TextItem(shade.text, color=QColor(shade.colour), anchor=(0.0, 0.0))
            words.setFont(theme.font(11))
            words.setPos(shade.from_s, top * 0.92 if top > 0 else 1.0)
            self._add(words, 28)

    def _draw_line(self, number: int, times: Any, series: Series, z: int) -> None:
        pen = self._pg.mkPen(QColor(series.colour), width=1.2 if series.ghost else 1.6)
        if number < len(self._lines):
            line = self._lines[number]
            line.setData(times, series.values, pen=pen)
        else:
            line = self._pg.PlotDataItem(times, series.values, pen=pen, antialias=True, connect="finite")
            # The line of the replay moves over it: it keeps its pixels.
            line.curve.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)
            self.plot.getPlotItem().addItem(line, ignoreBounds=True)
            self._lines.append(line)
        # As one path a thick line of many points takes twenty times as long; of few its joints would be seen.
        line.curve.setSegmentedLineMode("on" if len(times) > _DENSE else "off")
        line.setZValue(z)

    def _add(self, item: Any, z: int) -> None:
        item.setZValue(z)
        self.plot.getPlotItem().addItem(item, ignoreBounds=True)
        self._items.append(item)

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


def _ink(text: str, colour: str) -> str:
    return f'<span style="color:{colour}">{text.replace(" ", "&nbsp;")}</span>'


def _length_s(content: Content) -> float:
    return content.length_s or len(content.times_s) * content.bucket_s


def _most(values: Any, at_least: float = math.nan) -> float:
    """The greatest of the values that are known; `at_least` when that is less, or none is known."""
    import numpy as np

    return float(np.fmax.reduce(values, initial=at_least))
