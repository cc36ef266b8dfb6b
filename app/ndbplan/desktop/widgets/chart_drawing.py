"""How the content of a chart is drawn with pyqtgraph: bands, lines, limits, shades and marks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QGraphicsItem, QGraphicsPathItem

from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.chart_content import Content, Mark, Series, Shade, most

_DENSE = 200
"""Points of a line from which on there is about one for each pixel."""
_BEHIND_WORDS = 0.85
"""How much of what lies behind words in a chart their ground hides."""
_THINNEST = 0.004
"""Share of the height from which on a band is more than its line."""

_DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
)


_KEEPS_PIXELS = QGraphicsItem.CacheMode.DeviceCoordinateCache
"""The line of the replay moves over everything, which then is not drawn again."""


class Drawing:
    """What is drawn on one plot."""

    def __init__(self, pg: Any, plot: Any) -> None:
        self._pg, self._plot = pg, plot
        self._items: list[Any] = []
        self.grips: list[Any] = []
        """Lines of marks that can be dragged."""
        self.moved: Callable[[int, float], object] = lambda _number, _at_s: None
        """Called with the number of a mark and the moment to which it was dragged."""
        self.lines: list[Any] = []
        """Lines are kept from one content to the next: making one costs more than what it shows."""

    def draw(self, content: Content | None) -> None:
        """Draw what is to be shown, in place of what was; None: nothing."""
        pg, item = self._pg, self._plot.getPlotItem()
        for old in self._items:
            item.removeItem(old)
        self._items, self.grips = [], []
        if content is None:
            return
        colours = theme.tokens()
        times = content.times_s
        top = max(content.limit or 0.0, content.least_top)
        for series in content.series:
            top = max(top, most(series.high if series.high is not None else series.values, 0.0))
        drawn = 0
        # What is named first lies on top: what was accepted hides behind nothing.
        for z, series in zip(range(len(content.series), 0, -1), content.series, strict=True):
            colour = QColor(series.colour)
            if series.low is not None and most(series.high - series.low, 0.0) > top * _THINNEST:
                band = QColor(colour)
                band.setAlpha(60)
                self._fill(times, series.low, series.high, band, z)
            if series.area:
                fill = QColor(colour)
                fill.setAlpha(34 if colours.is_dark else 46)
                area = pg.PlotDataItem(
                    times, series.values, pen=None, fillLevel=0.0, brush=fill, antialias=True
                )
                area.curve.setCacheMode(_KEEPS_PIXELS)
                self._add(area, z)
            else:
                self._draw_line(drawn, times, series, 5 if series.ghost else z + 10)
                drawn += 1
        for unused in self.lines[drawn:]:
            item.removeItem(unused)
        del self.lines[drawn:]
        if content.limit is not None:
            line = pg.InfiniteLine(
                pos=content.limit, angle=0, pen=pg.mkPen(colours.error, width=1.2, style=Qt.PenStyle.DashLine)
            )
            line.setToolTip(content.limit_name)
            self._add(line, 25)
        for shade in content.shades:
            self._shade(shade, top)
        for mark in content.marks:
            self._mark(mark, content.width_s)
        self._plot.setYRange(0, top * 1.06 if top > 0 else 1.0, padding=0)

    def _mark(self, mark: Mark, length_s: float) -> None:
        """A line at a moment; what can be dragged is thicker under the pointer."""
        pg = self._pg
        pen = pg.mkPen(mark.colour, width=1.2, style=Qt.PenStyle.DotLine)
        line = pg.InfiniteLine(pos=mark.at_s, angle=90, pen=pen, movable=mark.number >= 0)
        line.setToolTip(mark.text)
        if mark.number >= 0:
            line.setToolTip(f"{mark.text}: drag it to another moment")
            line.setHoverPen(pg.mkPen(mark.colour, width=2.4))
            line.setBounds((0.0, length_s))
            line.setCursor(Qt.CursorShape.SizeHorCursor)
            line.sigPositionChangeFinished.connect(
                lambda moved, number=mark.number: self.moved(number, float(moved.value()))
            )
            self.grips.append(line)
        self._add(line, 30)

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
            ground = QColor(theme.tokens().sunken)
            ground.setAlphaF(_BEHIND_WORDS)
            words = pg.TextItem(shade.text, color=QColor(shade.colour), anchor=(0.0, 0.0), fill=ground)
            words.setFont(theme.font(11))
            words.setPos(shade.from_s, top * 0.92 if top > 0 else 1.0)
            self._add(words, 28)

    def _draw_line(self, number: int, times: Any, series: Series, z: int) -> None:
        width = 1.2 if series.ghost or series.dash else 1.6
        pen = self._pg.mkPen(QColor(series.colour), width=width, style=_DASHES[series.dash % len(_DASHES)])
        if number < len(self.lines):
            line = self.lines[number]
            line.setData(times, series.values, pen=pen)
        else:
            line = self._pg.PlotDataItem(times, series.values, pen=pen, antialias=True, connect="finite")
            line.curve.setCacheMode(_KEEPS_PIXELS)
            self._plot.getPlotItem().addItem(line, ignoreBounds=True)
            self.lines.append(line)
        # As one path a thick line of many points takes twenty times as long; of few its joints would be seen.
        # Of dashes each would begin anew.
        line.curve.setSegmentedLineMode("on" if len(times) > _DENSE and not series.dash else "off")
        line.setZValue(z)

    def _fill(self, times: Any, low: Any, high: Any, colour: QColor, z: int) -> None:
        """Fill what lies between two lines: there along one and back along the other."""
        import numpy as np

        there_and_back = np.concatenate((times, times[::-1])), np.concatenate((high, low[::-1]))
        band = QGraphicsPathItem(self._pg.arrayToQPath(*there_and_back))
        band.setPen(QPen(Qt.PenStyle.NoPen))
        band.setBrush(colour)
        band.setCacheMode(_KEEPS_PIXELS)
        self._add(band, z)

    def _add(self, item: Any, z: int) -> None:
        item.setZValue(z)
        self._plot.getPlotItem().addItem(item, ignoreBounds=True)
        self._items.append(item)
