"""A table some columns of which are sentences: they wrap, and a row is as high as they need."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem

from ndbplan.desktop.widgets.whole_rows import Table

_HIGHEST_PX = 10_000


class _Sentences(QStyledItemDelegate):
    """Of what would not fit the end is cut, not the middle."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        option.features |= QStyleOptionViewItem.ViewItemFeature.WrapText
        option.textElideMode = Qt.TextElideMode.ElideRight


class SentenceTable(Table):
    """The table; `widen` gives its columns their widths, which may then be changed by hand."""

    widened = Signal()
    """The table has another width."""

    def __init__(self, sentences: Collection[int]) -> None:
        """`sentences`: columns that wrap."""
        super().__init__()
        self._sentences = tuple(sentences)
        self._is_widening = False
        self.setWordWrap(False)
        # A row of several lines may be higher than what a step of one row would leave in sight.
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        for column in sentences:
            self.setItemDelegateForColumn(column, _Sentences(self))
        self.horizontalHeader().sectionResized.connect(lambda _column, _old, _new: self._follow_hand())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.widened.emit()

    def widen(self, widths: Sequence[int]) -> None:
        """Give columns these widths, and rows the heights that their sentences need in them."""
        self._is_widening = True
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self._is_widening = False
        self._heighten(widths)

    def heights(self, widths: Sequence[int]) -> list[int]:
        """How high the rows are with columns of these widths; of texts that are the same one is asked."""
        model, known = self.model(), dict[tuple[int, str], int]()
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)

        def height(row: int, column: int) -> int:
            index = model.index(row, column)
            key = (column, str(index.data()))
            if key not in known:
                option.rect = QRect(0, 0, widths[column], _HIGHEST_PX)
                known[key] = self.itemDelegateForIndex(index).sizeHint(option, index).height()
            return known[key]

        least = self.verticalHeader().defaultSectionSize()
        rows = range(model.rowCount())
        return [max(least, *(height(row, column) for column in self._sentences)) for row in rows]

    def _heighten(self, widths: Sequence[int]) -> None:
        head = self.verticalHeader()
        for row, height in enumerate(self.heights(widths)):
            if head.sectionSize(row) != height:
                head.resizeSection(row, height)

    def _follow_hand(self) -> None:
        model = self.model()
        if not self._is_widening and model is not None and model.rowCount():
            self._heighten([self.columnWidth(column) for column in range(model.columnCount())])
