"""Views of rows and lines that end at an edge: the last one is there as a whole, or not at all."""

from __future__ import annotations

from itertools import accumulate

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QListWidget, QPlainTextEdit, QTableView, QTreeView


def _end_with_a_whole_row(view: QTableView | QTreeView | QListWidget, row_px: int) -> None:
    """Leave free what is too low for a row, where there are more rows than are seen."""
    room = view.viewport().height() + view.viewportMargins().bottom()
    is_longer = view.verticalScrollBar().maximum() > 0 and room > row_px > 0
    _leave_free(view, room % row_px if is_longer else 0)


def _leave_free(view: QTableView | QTreeView | QListWidget, bottom: int) -> None:
    margins = view.viewportMargins()
    if bottom != margins.bottom():
        view.setViewportMargins(margins.left(), margins.top(), margins.right(), bottom)


class Table(QTableView):
    """A table; it ends with a whole row: whatever heights rows have, as long as it stands at its top."""

    def updateGeometries(self) -> None:
        super().updateGeometries()
        head, row_px = self.verticalHeader(), self.verticalHeader().defaultSectionSize()
        has_one_height = head.length() == row_px * head.count()
        if has_one_height:
            _end_with_a_whole_row(self, row_px)
            return
        room = self.viewport().height() + self.viewportMargins().bottom()
        ends = list(accumulate(head.sectionSize(head.logicalIndex(row)) for row in range(head.count())))
        seen = [end for end in ends if end <= room]
        _leave_free(self, room - seen[-1] if seen and seen != ends else 0)


class Tree(QTreeView):
    """A tree whose rows have one height."""

    def updateGeometries(self) -> None:
        super().updateGeometries()
        _end_with_a_whole_row(self, self.sizeHintForRow(0))


class Rows(QListWidget):
    """A list; half a check box says nothing."""

    def updateGeometries(self) -> None:
        super().updateGeometries()
        heights = {self.sizeHintForRow(row) for row in range(self.count())}
        _end_with_a_whole_row(self, heights.pop() if len(heights) == 1 else 0)


class Lines(QPlainTextEdit):
    """A text to be read, of lines that are not wrapped."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        margins, line_px = self.viewportMargins(), self.blockBoundingRect(self.firstVisibleBlock()).height()
        first_px = self.document().documentMargin()
        room = self.viewport().height() + margins.bottom() - first_px
        bottom = int(room % line_px) if room > line_px > 0 else 0
        if bottom != margins.bottom():
            self.setViewportMargins(margins.left(), margins.top(), margins.right(), bottom)
