"""Picture of a table's partitions: rows before and after, by node group, with arcs for the rows that move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ndbplan.base.units import format_count, format_memory
from ndbplan.desktop.look import theme

_MARGIN, _RIBBON, _TOP = 10, 20, 26
_MOST_ARCS = 160
_GAP_ABOVE = 5.0
"""Columns wider than this many pixels are set apart by a gap."""


@dataclass(frozen=True)
class Bar:
    """One partition."""

    partition: int
    node_group: int
    before: float
    after: float
    where: str
    """One line for the tooltip: nodes, LDM."""


@dataclass(frozen=True)
class Picture:
    """What to draw."""

    bars: tuple[Bar, ...] = ()
    moves: Mapping[tuple[int, int], int] | None = None
    """Rows by (old, new) partition."""
    unit: str = "rows"
    groups: Mapping[int, str] | None = None
    """Text of the ribbon under each node group."""


class PartitionBars(QWidget):
    """Hollow: before; filled: after. The pointer or the arrow keys pick a partition and light its arcs."""

    def __init__(self) -> None:
        super().__init__()
        self._picture = Picture()
        self._places: dict[int, int] = {}
        self._picked: int | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(110)
        self.setAccessibleName("Rows per partition")
        theme.theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(500, 180)

    def show_picture(self, picture: Picture) -> None:
        """Draw something else."""
        self._picture = picture
        self._places = {bar.partition: i for i, bar in enumerate(picture.bars)}
        self._picked = None
        self.setAccessibleDescription("; ".join(self._line(bar) for bar in picture.bars[:64]))
        self.update()

    @property
    def picked(self) -> int | None:
        """The place in the picture that the pointer or the keys picked."""
        return self._picked

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.accent if self.hasFocus() else colours.line), 1))
        painter.setBrush(QColor(colours.sunken))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        bars = self._picture.bars
        if not bars:
            return
        plot = self._plot()
        top = max((max(bar.before, bar.after) for bar in bars), default=0.0) or 1.0
        painter.setPen(QPen(QColor(colours.grid), 1))
        for part in (0.25, 0.5, 0.75, 1.0):
            y = round(plot.bottom() - part * plot.height()) + 0.5
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setFont(theme.font(11))
        painter.setPen(QColor(colours.muted))
        unit = self._picture.unit
        most = format_memory(top, "bytes") if unit == "bytes" else f"{format_count(top)} rows"
        head = QRectF(plot.left(), 4, plot.width(), _TOP - 6)
        # A number whose first digits are missing is another number.
        if painter.fontMetrics().horizontalAdvance(most) <= head.width():
            painter.drawText(head, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, most)
        width = plot.width() / len(bars)
        self._paint_arcs(painter, plot, width, top)
        inset = min(3.0, width * 0.15) if width > _GAP_ABOVE else 0.0
        has_before = any(bar.before != bar.after for bar in bars)
        for i, bar in enumerate(bars):
            x = plot.left() + i * width
            colour = QColor(colours.group(bar.node_group))
            if self._picked is not None and self._picked != i and not self._linked(i):
                colour.setAlpha(110)
            column = QRectF(x + inset, plot.bottom(), width - 2 * inset, 0)
            column.setTop(plot.bottom() - plot.height() * bar.after / top)
            painter.fillRect(column, colour)
            if has_before and bar.before > 0 and width > _GAP_ABOVE:
                ghost = QRectF(column)
                ghost.setTop(plot.bottom() - plot.height() * bar.before / top)
                faded = QColor(colour)
                faded.setAlpha(38)
                painter.fillRect(ghost, faded)
                painter.setPen(QPen(colour, 1, Qt.PenStyle.DashLine))
                painter.drawLine(ghost.topLeft() + QPointF(0, 0.5), ghost.topRight() + QPointF(0, 0.5))
            if width >= 26:
                painter.setPen(QColor(colours.muted))
                painter.drawText(
                    QRectF(x, plot.bottom() + 2, width, 15), Qt.AlignmentFlag.AlignCenter, str(bar.partition)
                )
        self._paint_ribbons(painter, plot, width)

    def _paint_arcs(self, painter: QPainter, plot: QRectF, width: float, top: float) -> None:
        moves = self._picture.moves or {}
        if not moves or (len(moves) > _MOST_ARCS and self._picked is None):
            return
        colours = theme.tokens()
        bars = self._picture.bars
        most = max(moves.values())
        for (old, new), rows in moves.items():
            source, target = self._places[old], self._places[new]
            lit = self._picked in (source, target)
            if len(moves) > _MOST_ARCS and not lit:
                continue
            start = QPointF(
                plot.left() + (source + 0.5) * width,
                plot.bottom() - plot.height() * bars[source].before / top,
            )
            end = QPointF(
                plot.left() + (target + 0.5) * width, plot.bottom() - plot.height() * bars[target].after / top
            )
            lift = max(plot.top() - 12, min(start.y(), end.y()) - 30 - abs(end.x() - start.x()) * 0.06)
            path = QPainterPath(start)
            path.cubicTo(QPointF(start.x(), lift), QPointF(end.x(), lift), end)
            shade = QLinearGradient(start, end)
            for place, number in ((0.0, bars[source].node_group), (1.0, bars[target].node_group)):
                colour = QColor(colours.group(number))
                colour.setAlpha(255 if lit else 70 if self._picked is None else 30)
                shade.setColorAt(place, colour)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(shade, 1.0 + 2.0 * rows / most if lit else 1.2))
            painter.drawPath(path)

    def _paint_ribbons(self, painter: QPainter, plot: QRectF, width: float) -> None:
        colours = theme.tokens()
        labels = self._picture.groups or {}
        bars = self._picture.bars
        spans: list[tuple[int, int, int]] = []
        for i, bar in enumerate(bars):
            if spans and spans[-1][0] == bar.node_group:
                spans[-1] = (bar.node_group, spans[-1][1], i + 1)
            else:
                spans.append((bar.node_group, i, i + 1))
        y = self.height() - _RIBBON
        metrics = QFontMetricsF(theme.font(11))
        for number, first, last in spans:
            colour = QColor(colours.group(number))
            left, right = plot.left() + first * width, plot.left() + last * width
            gap = 1.0 if width > _GAP_ABOVE else 0.0
            painter.fillRect(QRectF(left + gap, y, right - left - 2 * gap, 2), colour)
            full, short = labels.get(number, f"Group {number}"), str(number)
            for shown in (full, f"Group {number}", short):
                if metrics.horizontalAdvance(shown) + 4 <= right - left:
                    painter.setPen(colour)
                    painter.drawText(
                        QRectF(left, y + 2, right - left, _RIBBON - 3), Qt.AlignmentFlag.AlignCenter, shown
                    )
                    break

    def _plot(self) -> QRectF:
        names = 16 if len(self._picture.bars) * 26 <= self.width() - 2 * _MARGIN else 4
        return QRectF(
            _MARGIN, _TOP, self.width() - 2 * _MARGIN, max(10, self.height() - _TOP - _RIBBON - names - 2)
        )

    def _at(self, x: float) -> int | None:
        plot, count = self._plot(), len(self._picture.bars)
        if not count or not plot.left() <= x <= plot.right():
            return None
        return min(count - 1, int((x - plot.left()) / plot.width() * count))

    def _linked(self, i: int) -> bool:
        if self._picked is None:
            return False
        moves, bars = self._picture.moves or {}, self._picture.bars
        one, other = bars[self._picked].partition, bars[i].partition
        return (one, other) in moves or (other, one) in moves

    def _pick(self, i: int | None) -> None:
        if i != self._picked:
            self._picked = i
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pick(self._at(event.position().x()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pick(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        count = len(self._picture.bars)
        if step is None or not count:
            super().keyPressEvent(event)
            return
        picked = (0 if step > 0 else count - 1) if self._picked is None else (self._picked + step) % count
        self._pick(picked)
        plot = self._plot()
        place = QPointF(plot.left() + (picked + 0.5) * plot.width() / count, plot.top())
        QToolTip.showText(self.mapToGlobal(place).toPoint(), self.tip(picked), self)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            i = self._at(event.pos().x())
            QToolTip.showText(event.globalPos(), self.tip(i) if i is not None else "", self)
            return True
        return super().event(event)

    def tip(self, i: int) -> str:
        """What there is to say about the partition at a place of the picture."""
        moves = self._picture.moves or {}
        bar = self._picture.bars[i]
        lines = [self._line(bar), bar.where]
        for (source, target), rows in sorted(moves.items()):
            if source == bar.partition:
                lines.append(f"{format_count(rows)} rows move to partition {target}")
            elif target == bar.partition:
                lines.append(f"{format_count(rows)} rows come from partition {source}")
        return "\n".join(lines[:14])

    def _line(self, bar: Bar) -> str:
        def shown(value: float) -> str:
            return format_memory(value, "bytes") if self._picture.unit == "bytes" else format_count(value)

        after = "" if bar.before == bar.after else f" → {shown(bar.after)}"
        return f"Partition {bar.partition}: {shown(bar.before)}{after}"
