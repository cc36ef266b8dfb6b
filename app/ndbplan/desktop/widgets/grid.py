"""A table editor for a tuple of parts of the plan: columns, indexes, rate points, operations, files."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import TwoReadingsError
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.fields import Choices
from ndbplan.desktop.widgets.readings import Readings
from ndbplan.desktop.widgets.sections import label, link
from ndbplan.desktop.widgets.units import Unit
from ndbplan.edits import validated
from ndbplan.ndb.modelled import mark_words
from ndbplan.plan.plan import Plan

_ROW_HEIGHT, _MOST_ROWS = 26, 9
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


@dataclass(frozen=True)
class Cell:
    """One column of the editor: an attribute of the parts."""

    name: str
    header: str
    width: int
    unit: Unit | None = None
    """How it is typed; None: it is chosen or switched."""
    choices: Callable[[Plan], Choices] | None = None
    flag: bool = False
    optional: bool = False
    """An empty text means None."""
    tip: str = ""
    instead: Callable[[Plan, Any], Any] | None = None
    """What is assumed of a part that states nothing; None of it: nothing is."""


@dataclass(frozen=True)
class Rows:
    """Where the parts are in the plan."""

    what: str
    """One of them, for the menu: `column`."""
    get: Callable[[Plan], tuple[Any, ...]]
    put: Callable[[Plan, tuple[Any, ...]], Plan]
    new: Callable[[Plan, tuple[Any, ...]], Any]
    """Another one to add; raises UserError when there can be none."""


class GridModel(QAbstractTableModel):
    """The parts as rows; an edit of a cell is one undoable step."""

    refused = Signal(str)
    asked = Signal(object, object)
    """Readings of what was typed, and what is to be told the one that is meant."""
    """One line about what is wrong; empty: nothing is."""

    def __init__(self, document: Document, rows: Rows, cells: Sequence[Cell], parent: QObject) -> None:
        super().__init__(parent)
        self._document, self._rows = document, rows
        self.cells = tuple(cells)
        self._parts = rows.get(document.plan)

    def refresh(self) -> None:
        """Show what the plan says now."""
        parts = self._rows.get(self._document.plan)
        if parts is self._parts:
            return
        if len(parts) != len(self._parts):
            self.beginResetModel()
            self._parts = parts
            self.endResetModel()
            return
        self._parts = parts
        if parts:
            self.dataChanged.emit(self.index(0, 0), self.index(len(parts) - 1, len(self.cells) - 1))

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._parts)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.cells)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.cells[section].header
        if role == Qt.ItemDataRole.ToolTipRole:
            cell, kinds = self.cells[section], {type(part).__name__ for part in self._parts}
            mark = mark_words(kinds.pop(), cell.name) if len(kinds) == 1 else ""
            return ". ".join(filter(None, (cell.tip.rstrip("."), mark))) or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if self.cells[index.column()].flag:
            return flags | Qt.ItemFlag.ItemIsUserCheckable
        return flags | Qt.ItemFlag.ItemIsEditable

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cell, part = self.cells[index.column()], self._parts[index.row()]
        value = getattr(part, cell.name)
        if role == Qt.ItemDataRole.CheckStateRole and cell.flag:
            return Qt.CheckState.Checked if value else Qt.CheckState.Unchecked
        instead = None if value is not None or cell.instead is None else self._instead(cell, part)
        if role == Qt.ItemDataRole.DisplayRole and instead is not None:
            return f"{self._text(cell, instead)} assumed"
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return None if cell.flag else self._text(cell, value)
        if instead is not None:
            if role == Qt.ItemDataRole.ForegroundRole:
                return QColor(theme.tokens().warning)
            if role == Qt.ItemDataRole.ToolTipRole:
                return "Nothing is stated, so this is assumed; type what you measured."
        if cell.name in getattr(part, "assumed", ()):
            if role == Qt.ItemDataRole.ForegroundRole:
                return QColor(theme.tokens().warning)
            if role == Qt.ItemDataRole.ToolTipRole:
                return "This value is assumed; type another to state it."
        return None

    def _instead(self, cell: Cell, part: Any) -> Any:
        assert cell.instead is not None
        try:
            return cell.instead(self._document.plan, part)
        except UserError:
            return None

    def _text(self, cell: Cell, value: Any) -> str:
        if cell.choices is not None:
            return dict(cell.choices(self._document.plan)).get(value, "" if value is None else str(value))
        if value is None or cell.unit is None:
            return ""
        return cell.unit.show(value)

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        cell, row, at = self.cells[index.column()], index.row(), QPersistentModelIndex(index)
        try:
            new = self._parsed(cell, value)
            part = self._parts[row]
            if new == getattr(part, cell.name):
                self.refused.emit("")
                return True
            fields: dict[str, Any] = {cell.name: new}
            if cell.name in getattr(part, "assumed", ()):
                fields["assumed"] = tuple(name for name in part.assumed if name != cell.name)
            changed = validated.changed(part, **fields)
            parts = (*self._parts[:row], changed, *self._parts[row + 1 :])
            self._document.edit(f"Set {cell.header} of {self._rows.what}", lambda p: self._rows.put(p, parts))
        except UserError as error:
            self.refused.emit(error.line)
            if isinstance(error, TwoReadingsError):
                self.asked.emit(error.readings, lambda text: self.setData(at, text))
            return False
        self.refused.emit("")
        return True

    def _parsed(self, cell: Cell, value: Any) -> Any:
        if cell.flag:
            return Qt.CheckState(value) == Qt.CheckState.Checked
        if cell.choices is not None:
            return value
        text = str(value).strip()
        if cell.optional and not text:
            return None
        if cell.unit is None:
            raise TypeError(f"{cell.name} has neither a unit nor choices")
        return cell.unit.parse(text)

    def add(self) -> None:
        """Add another part at the end."""
        try:
            plan = self._document.plan
            parts = (*self._parts, self._rows.new(plan, self._parts))
            self._document.edit(f"Add {self._rows.what}", lambda p: self._rows.put(p, parts))
        except UserError as error:
            self.refused.emit(error.line)
        else:
            self.refused.emit("")

    def remove(self, rows: Sequence[int]) -> None:
        """Remove parts."""
        gone = set(rows)
        parts = tuple(part for i, part in enumerate(self._parts) if i not in gone)
        if not gone:
            return
        try:
            self._document.edit(f"Remove {self._rows.what}", lambda p: self._rows.put(p, parts))
        except UserError as error:
            self.refused.emit(error.line)
        else:
            self.refused.emit("")


class _Delegate(QStyledItemDelegate):
    """Combo boxes for cells that are chosen."""

    def __init__(self, document: Document, model: GridModel, parent: QObject) -> None:
        super().__init__(parent)
        self._document, self._model = document, model

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: _Index) -> QWidget:
        cell = self._model.cells[index.column()]
        if cell.choices is None:
            return super().createEditor(parent, option, index)
        box = QComboBox(parent)
        for value, text in cell.choices(self._document.plan):
            box.addItem(text, value)
        box.activated.connect(lambda _i: self._chosen(box))
        return box

    def _chosen(self, box: QComboBox) -> None:
        self.commitData.emit(box)
        self.closeEditor.emit(box)

    def setEditorData(self, editor: QWidget, index: _Index) -> None:
        if isinstance(editor, QComboBox):
            text = str(index.data(Qt.ItemDataRole.EditRole))
            if editor.findText(text) < 0:
                # A value of another version of the program: looking at it must not change it.
                editor.insertItem(0, text, text or None)
            editor.setCurrentText(text)
            editor.showPopup()
        else:
            super().setEditorData(editor, index)

    def setModelData(self, editor: QWidget, model: Any, index: _Index) -> None:
        if isinstance(editor, QComboBox):
            model.setData(index, editor.currentData())
        else:
            super().setModelData(editor, model, index)


def pages_of(widths: Sequence[int], room: int) -> list[dict[int, int]]:
    """Columns that stand side by side, page by page, each with the width that lets its page fill the room."""
    pages: list[dict[int, int]] = [{}]
    for column, width in enumerate(widths):
        if pages[-1] and sum(pages[-1].values()) + width > room:
            pages.append({})
        pages[-1][column] = width
    for page in pages:
        spare, first = room - sum(page.values()), next(iter(page))
        each = int(spare / len(page))
        for column in page:
            page[column] += each
        page[first] += spare - each * len(page)
    return pages


class Grid(QWidget):
    """The table with its links to add and remove rows and a line for what is wrong."""

    def __init__(self, document: Document, rows: Rows, cells: Sequence[Cell]) -> None:
        super().__init__()
        self.model = GridModel(document, rows, cells, self)
        self.view = QTableView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(_Delegate(document, self.model, self.view))
        self.view.setAccessibleName(f"{rows.what}{'es' if rows.what.endswith('x') else 's'}")
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setShowGrid(False)
        self.view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.view.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
            | QAbstractItemView.EditTrigger.SelectedClicked
        )
        self.view.setTabKeyNavigation(False)
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        header = self.view.horizontalHeader()
        header.setHighlightSections(False)
        self.view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.installEventFilter(self)
        self.view.viewport().installEventFilter(self)
        self._left_px = 0
        self.view.horizontalScrollBar().valueChanged.connect(self._scrolled)
        self.view.horizontalScrollBar().sliderReleased.connect(self._released)
        self._error: QLabel = label("", "fieldError")
        self._error.hide()
        self._what = rows.what
        bar = QHBoxLayout()
        bar.setSpacing(4)
        bar.addWidget(link(f"+ Add {rows.what}", self.model.add))
        bar.addStretch(1)
        self._remove = link("Remove", self.remove_selected, f"Remove selected {rows.what}s")
        bar.addWidget(self._remove)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.view)
        layout.addWidget(self._error)
        self.readings = Readings()
        layout.addWidget(self.readings)
        layout.addLayout(bar)
        self.model.refused.connect(self._refused)
        self.model.asked.connect(self.readings.ask)
        self.model.modelReset.connect(self._fit)
        self.view.selectionModel().selectionChanged.connect(self._selection_changed)
        self._fit()
        self._selection_changed()

    def refresh(self) -> None:
        """Show what the plan says now."""
        self.model.refresh()

    def remove_selected(self) -> None:
        """Remove the selected rows."""
        self.model.remove([index.row() for index in self.view.selectionModel().selectedRows()])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.view.viewport():
            if event.type() == QEvent.Type.Resize:
                self._fit_columns()
            return False
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Delete
        ):
            self.remove_selected()
            return True
        return super().eventFilter(watched, event)

    def _fit_columns(self) -> None:
        """Give columns such widths that as many as have room fill the view: none is ever cut in half."""
        room = self.view.viewport().width()
        for page in pages_of([cell.width for cell in self.model.cells], room):
            for column, width in page.items():
                self.view.setColumnWidth(column, width)
        self.view.horizontalScrollBar().setSingleStep(room)

    def _scrolled(self, left_px: int) -> None:
        """Go on to the next whole page of columns, in the direction in which it goes."""
        bar, room = self.view.horizontalScrollBar(), max(1, self.view.viewport().width())
        if bar.isSliderDown():
            return
        pages = left_px / room
        whole = math.ceil(pages) if left_px > self._left_px else math.floor(pages)
        self._left_px = min(bar.maximum(), whole * room)
        if self._left_px != left_px:
            bar.setValue(self._left_px)

    def _released(self) -> None:
        bar, room = self.view.horizontalScrollBar(), max(1, self.view.viewport().width())
        self._left_px = round(bar.value() / room) * room
        bar.setValue(self._left_px)

    def _fit(self) -> None:
        rows = min(_MOST_ROWS, self.model.rowCount())
        if not rows:
            self.view.hide()
            return
        self.view.show()
        header = self.view.horizontalHeader().sizeHint().height()
        scroll = 12 if sum(cell.width for cell in self.model.cells) > 230 else 2
        self.view.setFixedHeight(rows * _ROW_HEIGHT + header + scroll)

    def _selection_changed(self) -> None:
        self._remove.setVisible(self.view.selectionModel().hasSelection())

    def _refused(self, line: str) -> None:
        self.readings.forget()
        self._error.setText(line)
        self._error.setVisible(bool(line))
