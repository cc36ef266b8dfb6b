"""A read-only table of texts and numbers: sortable, copied as CSV, numbers open their derivation."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QFontMetrics,
    QGuiApplication,
    QKeySequence,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_count, format_percent, format_value
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.explain import Explanation, Say
from ndbplan.desktop.widgets.whole_rows import Table

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_CELL_PX, _CELL_PAD, _ROW_PX = 12, 6, 24
_LEAST_WORDS = 120
"""Pixels of the last column, if it has words: it gives way before it goes out of sight."""
_MEASURED = 8
_WIDEST = 260
_HEAVIER = 1.07


@dataclass(frozen=True)
class Cell:
    """What one cell shows and by what it sorts."""

    text: str
    value: Any = ""
    quantity: Quantity | None = None
    title: str = ""
    """Title of the derivation."""
    colour: str = ""
    """Token of the text's colour."""
    bar: float | None = None
    """Share to draw as a bar behind the text."""
    say: Say = format_value
    """How the derivation tells its values."""


def text(value: str, colour: str = "") -> Cell:
    """A cell with text."""
    return Cell(value, value.lower(), colour=colour)


def count(value: int | float) -> Cell:
    """A cell with an exact count."""
    return Cell(format_count(value), value)


def size(value: int | float, say: Say = format_value) -> Cell:
    """A cell with an exact number of bytes."""
    return Cell(say(value, "bytes"), value)


def number(quantity: Quantity | None, title: str, colour: str = "", say: Say = format_value) -> Cell:
    """A cell with an estimated number that opens its derivation."""
    if quantity is None:
        return Cell("–", -1.0)
    return Cell(say(quantity.value, quantity.unit), quantity.value, quantity, title, colour, say=say)


def share(
    fraction: float, quantity: Quantity | None = None, title: str = "", say: Say = format_value
) -> Cell:
    """A cell with a share as a bar; green, amber from 75 %, red from 95 %."""
    colour = "error" if fraction >= 0.95 else "warning" if fraction >= 0.75 else "good"
    return Cell(format_percent(fraction), fraction, quantity, title, colour, fraction, say)


class _Cells(QStyledItemDelegate):
    """Draws a cell: its text, and its bar along the lower edge.

    By itself: the style sheet takes ten times as long for each cell, which holds the window up.
    """

    def __init__(self, table: NumbersTable) -> None:
        super().__init__(table)
        self._table = table

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        cell, colours = self._table.cell_at(index), theme.tokens()
        place: QRect = option.rect
        state: QStyle.StateFlag = option.state
        ink = getattr(colours, cell.colour) if cell.colour else colours.text
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(place, QColor(colours.accent_soft))
            ink = ink if cell.colour else colours.text_strong
        # What only begins to be seen is cut with …: half a figure would be read as a whole one.
        words = place.adjusted(_CELL_PAD, 0, -_CELL_PAD, 0)
        words.setRight(min(words.right(), self._table.viewport().rect().right()))
        painter.setFont(theme.font(_cell_px()))
        painter.setPen(QColor(ink))
        # Names that begin alike differ at their end.
        text = _metrics().elidedText(cell.text, Qt.TextElideMode.ElideMiddle, words.width() + 1)
        if text != cell.text and not isinstance(cell.value, str):
            text = "…"
        if _metrics().horizontalAdvance(text[:1]) > words.width():
            # A dot of … would be read as a mark.
            text = ""
        painter.drawText(words, _alignment(cell), text)
        if cell.bar is not None:
            self._paint_bar(painter, place, cell.bar)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QColor(colours.accent))
            painter.drawRect(place.adjusted(0, 0, -1, -1))

    @staticmethod
    def _paint_bar(painter: QPainter, place: QRect, bar: float) -> None:
        colours = theme.tokens()
        track = QRectF(place.left() + 6, place.bottom() - 4, place.width() - 12, 3)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.line))
        painter.drawRoundedRect(track, 1.5, 1.5)
        track.setWidth(track.width() * max(0.0, min(1.0, bar)))
        painter.setBrush(QColor(colours.load(bar)))
        painter.drawRoundedRect(track, 1.5, 1.5)
        painter.restore()


def _cell_px() -> int:
    return round(_CELL_PX * theme.theme().text_scale)


def _metrics() -> QFontMetrics:
    return _metrics_of(_cell_px())


@cache
def _metrics_of(size_px: int) -> QFontMetrics:
    return QFontMetrics(theme.font(size_px))


def _width(texts: Iterable[str]) -> int:
    """Pixels that the widest of these texts needs; only the longest are measured."""
    longest = sorted(texts, key=len, reverse=True)[:_MEASURED]
    return max((_metrics().horizontalAdvance(text) for text in longest), default=0)


class _Model(QAbstractTableModel):
    def __init__(self, headers: Sequence[str], parent: QObject) -> None:
        super().__init__(parent)
        self.headers = list(headers)
        self.rows: list[Sequence[Cell]] = []

    def show_rows(self, rows: Sequence[Sequence[Cell]], headers: Sequence[str] | None) -> None:
        self.beginResetModel()
        self.rows = list(rows)
        self.headers = list(headers or self.headers)
        self.endResetModel()

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.headers)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self.headers[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self.rows[0][section] if self.rows else None)
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cell = self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text
        if role == Qt.ItemDataRole.UserRole:
            return cell.value
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(cell)
        if role == Qt.ItemDataRole.ForegroundRole and cell.colour:
            return QColor(getattr(theme.tokens(), cell.colour))
        if role == Qt.ItemDataRole.ToolTipRole and cell.quantity is not None:
            return f"{cell.quantity}\nClick to see where it comes from."
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(cell.value, str):
            # Columns give way: what is cut is there as a whole.
            return cell.text
        return None


def _alignment(cell: Cell | None) -> Qt.AlignmentFlag:
    side = (
        Qt.AlignmentFlag.AlignLeft
        if cell is None or isinstance(cell.value, str)
        else Qt.AlignmentFlag.AlignRight
    )
    return side | Qt.AlignmentFlag.AlignVCenter


class _Header(QHeaderView):
    """Names of columns; of one that only begins to be seen as much as there is room for."""

    def paintSection(self, painter: QPainter, rect: QRect, logical_index: int) -> None:
        super().paintSection(painter, rect.intersected(self.viewport().rect()), logical_index)


class NumbersTable(Table):
    """The table."""

    def __init__(self, name: str, headers: Sequence[str]) -> None:
        super().__init__()
        self._source = _Model(headers, self)
        self.near_runs = ""
        """How near its figures lie to runs that were measured."""
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self._source)
        self._sorted.setSortRole(Qt.ItemDataRole.UserRole)
        self.setModel(self._sorted)
        self.setItemDelegate(_Cells(self))
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setProperty("look", "numbers")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_PX)
        header = _Header(Qt.Orientation.Horizontal, self)
        header.setSectionsClickable(True)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalHeader(header)
        header.setHighlightSections(False)
        header.setMinimumSectionSize(36)
        self._is_fitting = self._is_by_hand = False
        """Whether the columns are as somebody dragged them: they stay until other rows come."""
        header.sectionResized.connect(self._resized)
        header.setStretchLastSection(True)
        self.setSortingEnabled(True)
        # The indicator would widen every column by its own width.
        header.setSortIndicatorShown(False)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.activated.connect(self._open)
        self.clicked.connect(self._open)
        copy = QAction("Copy as CSV", self)
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy_csv)
        self.addAction(copy)
        theme.theme().scaled.connect(self._fit)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def show_rows(self, rows: Sequence[Sequence[Cell]], headers: Sequence[str] | None = None) -> None:
        """Show other rows."""
        self._source.show_rows(rows, headers)
        self._fit()

    def show_only(self, text: str) -> None:
        """Show only rows that have a text in one of their cells, however it is written; nothing: all rows."""
        self._sorted.setFilterKeyColumn(-1)
        self._sorted.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._sorted.setFilterFixedString(text.strip())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width() and not self._is_by_hand:
            self._fit()

    def _resized(self, column: int, _before: int, _after: int) -> None:
        # The last one follows the window.
        if not self._is_fitting and column < len(self._source.headers) - 1:
            self._is_by_hand = True

    def _fit(self) -> None:
        """Give rows and columns the room that their texts take, as large as these are now.

        Where there is no room for all columns, those that have it share what is left: none is seen in part
        until somebody scrolls.
        """
        self.verticalHeader().setDefaultSectionSize(round(_ROW_PX * theme.theme().text_scale))
        widths = [self._wanted(column, name) for column, name in enumerate(self._source.headers)]
        room, whole = self.viewport().width(), 0
        if self._source.rows and isinstance(self._source.rows[0][-1].value, str):
            least = max(_LEAST_WORDS, self.room_for([self._source.headers[-1]]))
            widths[-1] = min(widths[-1], max(least, room - sum(widths[:-1])))
        while whole < len(widths) and sum(widths[: whole + 1]) <= room:
            whole += 1
        if 0 < whole < len(widths):
            spare = room - sum(widths[:whole])
            widths[:whole] = [
                w + (spare * (n + 1) // whole - spare * n // whole) for n, w in enumerate(widths[:whole])
            ]
        spare = room - sum(widths)
        for column, name in enumerate(self._source.headers[:-1]):
            # The last one stretches: others are whole first.
            more = max(0, min(spare, self._wanted(column, name, room) - widths[column]))
            widths[column] += more
            spare -= more
        self._is_fitting = True
        for column, width in enumerate(widths):
            self.horizontalHeader().resizeSection(column, width)
        self._is_fitting = self._is_by_hand = False

    def _wanted(self, column: int, name: str, most: int = _WIDEST) -> int:
        # Headers are smaller, but heavier.
        cells = _width(row[column].text for row in self._source.rows)
        return min(most, max(round(_width([name]) * _HEAVIER), cells) + 2 * _CELL_PAD + 4)

    def width_of_all(self) -> int:
        """How wide it is with every column whole and a bar to scroll rows."""
        widths = [self._wanted(column, name) for column, name in enumerate(self._source.headers)]
        return sum(widths) + self.verticalScrollBar().sizeHint().width()

    @staticmethod
    def room_for(texts: Iterable[str]) -> int:
        """How wide a column is that has these texts whole."""
        return _width(texts) + 2 * _CELL_PAD + 4

    def cell_at(self, index: _Index) -> Cell:
        """The cell behind an index of the view."""
        source = self._sorted.mapToSource(index)
        return self._source.rows[source.row()][source.column()]

    def row_of(self, index: QModelIndex) -> int:
        """The row of `show_rows` behind an index of the view."""
        return self._sorted.mapToSource(index).row()

    def select_source_row(self, row: int) -> bool:
        """Select a row of `show_rows`, wherever it is sorted to, and show it; False: a filter hides it."""
        index = self._sorted.mapFromSource(self._source.index(row, 0))
        if index.isValid():
            self.selectRow(index.row())
            self.scrollTo(index)
        return index.isValid()

    def as_csv(self) -> str:
        """The table as CSV: plain numbers, one header line."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self._source.headers)
        for row in self._source.rows:
            writer.writerow([cell.text if isinstance(cell.value, str) else cell.value for cell in row])
        return out.getvalue()

    def copy_csv(self) -> None:
        """Put the table on the clipboard as CSV."""
        QGuiApplication.clipboard().setText(self.as_csv())

    def _open(self, index: QModelIndex) -> None:
        cell = self.cell_at(index)
        if cell.quantity is not None:
            popover = Explanation(cell.quantity, cell.title, self, say=cell.say, near_runs=self.near_runs)
            corner = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
            popover.show_at(corner)
