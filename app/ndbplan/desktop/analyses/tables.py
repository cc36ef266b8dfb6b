"""Tables: all of them in one grid, to edit, filter, sort and paste from a spreadsheet, with totals."""

from __future__ import annotations

from typing import Any, ClassVar

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import TwoReadingsError, format_bytes_binary, format_count, format_percent
from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.estimates import Estimate
from ndbplan.desktop.widgets.grid import Cell, GridModel, Rows
from ndbplan.desktop.widgets.readings import Readings
from ndbplan.desktop.widgets.search_field import SearchField
from ndbplan.desktop.widgets.sections import Elided
from ndbplan.desktop.widgets.units import COUNT, TEXT
from ndbplan.desktop.widgets.whole_rows import Table
from ndbplan.edits import offers
from ndbplan.edits.first_steps import step
from ndbplan.edits.pasted_tables import FIELDS, is_figures_alone, put_below, put_pasted, read_so
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

_FIGURES = (
    ("Average row", "Memory of a row with its share of indexes, one replica"),
    ("Storage", "Memory of all replicas"),
    ("Load", "Share of the rows that the chosen workload reads and writes"),
)
_CELLS = (
    Cell("database", "Database", 90, TEXT),
    Cell("name", "Table", 140, TEXT),
    Cell("rows", "Rows", 112, COUNT),
    Cell("growth_rows_per_month", "Growth a month", 112, COUNT),
)
_ROWS = next(at for at, cell in enumerate(_CELLS) if cell.name == "rows")
_COUNTS = {at for at, cell in enumerate(_CELLS) if cell.unit is COUNT}
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
"""Numbers below one another are compared."""
_NAMES = _CELLS[:2]
"""Database and table: words, of which a few letters less are still read."""
_USUAL_PX = (*(cell.width for cell in _CELLS), *(92 for _ in _FIGURES))
"""Widths of columns whose texts are short: a digit more moves nothing."""
_HEADING_MARGINS_PX = 16
_NUMBER = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex


def load_shares(plan: Plan, workload_id: str | None) -> dict[str, float]:
    """Share of the rows touched by a workload, by the id of the table; nothing without a load."""
    part = plan.by_id.get(workload_id or "")
    workload = part if isinstance(part, Workload) else next(iter(plan.workloads), None)
    touched: dict[str, float] = {}
    for transaction in workload.transactions if workload is not None else ():
        for operation in transaction.operations:
            rows = transaction.weight * operation.rows
            touched[operation.table_id] = touched.get(operation.table_id, 0.0) + rows
    whole = sum(touched.values())
    return {table_id: rows / whole for table_id, rows in touched.items()} if whole else {}


class TablesModel(GridModel):
    """What can be typed of every table, and behind it what the engine says."""

    figures: dict[str, tuple[float | None, float | None, float]]
    """By the id of a table: bytes of a row, bytes of all replicas, share of the load."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        rows = Rows("table", lambda plan: plan.tables, _put, lambda plan, _tables: offers.make_table(plan))
        super().__init__(context.document, rows, _CELLS, parent)
        self.figures = {}

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 — Qt's own default
        return 0 if parent.isValid() else len(_CELLS) + len(_FIGURES)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if section < len(_CELLS) or orientation != Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.TextAlignmentRole and section in _COUNTS:
                return _RIGHT
            return super().headerData(section, orientation, role)
        name, tip = _FIGURES[section - len(_CELLS)]
        return {
            Qt.ItemDataRole.DisplayRole: name,
            Qt.ItemDataRole.ToolTipRole: tip,
            Qt.ItemDataRole.TextAlignmentRole: _RIGHT,
        }.get(Qt.ItemDataRole(role))

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if index.column() < len(_CELLS):
            return super().flags(index)
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        column, table = index.column(), self._parts[index.row()]
        if role == Qt.ItemDataRole.TextAlignmentRole and (column in _COUNTS or column >= len(_CELLS)):
            return _RIGHT
        if column < len(_CELLS):
            return getattr(table, _CELLS[column].name) if role == _NUMBER else super().data(index, role)
        value = self.figures.get(table.id, (None, None, 0.0))[column - len(_CELLS)]
        if role == _NUMBER:
            return -1.0 if value is None else value
        if role != Qt.ItemDataRole.DisplayRole or value is None:
            return None
        return format_percent(value) if column == len(_CELLS) + 2 else format_bytes_binary(value)

    def show_figures(self, estimate: Estimate) -> None:
        """What the engine says of the plan as it was estimated."""
        plan, now = estimate.plan, estimate.now
        memory = {} if now is None else {table.table: table for table in now.memory.tables}
        shares = load_shares(plan, None)
        self.figures = {}
        for table in plan.tables:
            known = memory.get(table.full_name)
            size = known.total_bytes.value if known is not None else None
            row = size / table.rows if size is not None and table.rows else None
            whole = size * known.replicas if size is not None and known is not None else None
            self.figures[table.id] = (row, whole, shares.get(table.id, 0.0))
        if self._parts:
            last = self.index(len(self._parts) - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, len(_CELLS)), last)


def _put(plan: Plan, tables: tuple[Any, ...]) -> Plan:
    return plan.replace(tables=tables)


class TablesPanel(Panel):
    """The grid with its filter, totals and what was wrong last."""

    name: ClassVar[str] = "Tables"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.model = TablesModel(context, self)
        self.model.refused.connect(self._refuse)
        self.readings = Readings()
        self.model.asked.connect(self.readings.ask)
        self.shown = QSortFilterProxyModel(self)
        self.shown.setSourceModel(self.model)
        self.shown.setFilterKeyColumn(-1)
        self.shown.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.shown.setSortRole(_NUMBER)
        self.view = _View(self)
        self.view.setModel(self.shown)
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.view.widened.connect(self._show_whole)
        self.filter = SearchField()
        self.filter.setPlaceholderText("Filter")
        self.filter.setAccessibleName("Filter the tables")
        self.filter.setMaximumWidth(260)
        self.filter.textChanged.connect(self._filtered)
        self.totals = Elided("muted")
        self.error = Elided("fieldError")
        self.paste_button = QPushButton("Paste figures")
        self.paste_button.setToolTip(
            "Lines of a spreadsheet: table, rows, growth a month; or figures from the cell on"
        )
        self.paste_button.clicked.connect(self.paste)
        self._empty = Empty()
        self._empty.step_wanted.connect(self.step_wanted)
        self._empty.say_step(step("tables"))
        self._build()

    def _build(self) -> None:
        top = QHBoxLayout()
        for widget in (self.filter, self.paste_button):
            top.addWidget(widget)
        top.addWidget(self.readings)
        top.addWidget(self.error, 1)
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(top)
        column.addWidget(self.view, 1)
        column.addWidget(self.totals)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(whole)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 16, 8)
        layout.addWidget(self._pages)

    def refresh(self) -> None:
        self.model.refresh()
        self._pages.setCurrentIndex(1 if self.context.plan.tables else 0)
        self._show_whole()
        self._sum_up()

    def show_estimate(self, estimate: Estimate) -> None:
        self.model.show_figures(estimate)
        self._show_whole()
        self._sum_up()

    def _show_whole(self) -> None:
        """Give numbers the room they take, as one that is cut is another one, and names what is left.

        Who drags a column keeps its width, unless a number outgrows it.
        """
        taken = [self.view.width_of(column) for column in range(self.model.columnCount())]
        roomy = [max(px, usual) for px, usual in zip(taken, _USUAL_PX, strict=True)]
        room = self.view.viewport().width()
        if self.view.is_arranged_by_hand:
            now = [self.view.columnWidth(column) for column in range(len(taken))]
            widths = now[: len(_NAMES)] + [max(*pair) for pair in zip(now, taken, strict=True)][len(_NAMES) :]
        else:
            widths = roomy if sum(roomy) <= room else taken
            least = [self.view.heading_width(column) for column in range(len(_NAMES))]
            widths[: len(_NAMES)] = _names_in(room - sum(widths[len(_NAMES) :]), widths, least)
        self.view.arrange(widths)

    def paste(self) -> None:
        """Take figures from the clipboard, as one undoable edit; names that no table has are told.

        Figures without names go into the tables from the current cell downwards, as they are shown. Where
        a figure reads two ways it is asked once which, for all that are written so.
        """
        self._take(QGuiApplication.clipboard().text())

    def _take(self, text: str) -> None:
        unknown: tuple[str, ...] = ()

        def edit(plan: Plan) -> Plan:
            nonlocal unknown
            here = self.view.currentIndex()
            fields = [cell.name for cell in _CELLS[here.column() :] if cell.name in FIELDS]
            if here.isValid() and fields and is_figures_alone(plan, text):
                below = range(here.row(), self.shown.rowCount())
                rows = [self.shown.mapToSource(self.shown.index(row, 0)).row() for row in below]
                return put_below(plan, text, [plan.tables[row] for row in rows], fields)
            plan, unknown = put_pasted(plan, text)
            return plan

        try:
            done = self.context.document.edit("Paste figures of tables", edit)
        except TwoReadingsError as error:
            first = error.readings[0]
            self._refuse(error.what + "?")
            self.readings.ask(error.readings, lambda meant: self._take(read_so(text, apart=meant == first)))
            return
        except UserError as error:
            self._refuse(error.line)
            return
        more = f", … {len(unknown) - 3} more" if len(unknown) > 3 else ""
        said = f"no table is called {', '.join(unknown[:3])}{more}" if unknown else ""
        self._refuse(said or ("" if done else "the clipboard holds no figures: table, rows, growth a month"))

    @property
    def is_content(self) -> bool:
        """Whether what was typed last was taken."""
        return not self.error.text() and self.readings.isHidden()

    def ask_rows(self) -> None:
        """Begin to type the rows of the first table that has none."""
        self.filter.clear()
        for at in range(self.shown.rowCount()):
            index = self.shown.index(at, _ROWS)
            if not self.context.plan.tables[self.shown.mapToSource(index).row()].rows:
                self.view.setCurrentIndex(index)
                self.view.setFocus()
                self.view.edit(index)
                return

    def _filtered(self, text: str) -> None:
        self.shown.setFilterFixedString(text)
        self._sum_up()

    def _refuse(self, line: str) -> None:
        self.readings.forget()
        self.error.setText(line)

    def _sum_up(self) -> None:
        rows = [self.shown.mapToSource(self.shown.index(i, 0)).row() for i in range(self.shown.rowCount())]
        tables = [self.context.plan.tables[row] for row in rows if row < len(self.context.plan.tables)]
        figures = [self.model.figures.get(table.id, (None, None, 0.0)) for table in tables]
        of = f" of {len(self.context.plan.tables)}" if self.filter.text() else ""
        parts = [
            f"{len(tables)}{of} table{'s' if len(tables) != 1 else ''}",
            f"{format_count(sum(table.rows for table in tables))} rows",
            f"{format_count(sum(table.growth_rows_per_month for table in tables))} more a month",
            f"{format_bytes_binary(sum(whole or 0.0 for _, whole, _ in figures))} in all replicas",
            f"{format_percent(sum(share for _, _, share in figures))} of the load",
        ]
        tables_and_rows, storage = parts[:2], parts[3]
        shorter = (parts[:4], [*tables_and_rows, storage], tables_and_rows, parts[:1])
        self.totals.setText(" · ".join(parts), *(" · ".join(said) for said in shorter))


def _names_in(room: int, wanted: list[int], least: list[int]) -> list[int]:
    """Widths of database and table: the table gets all that is left over, and each less where it must."""
    database = min(wanted[0], max(least[0], room - wanted[1]))
    return [database, max(least[1], room - database)]


class _View(Table):
    """The grid; Ctrl+V takes figures from a spreadsheet."""

    widened = Signal()

    def __init__(self, panel: TablesPanel) -> None:
        super().__init__()
        self._panel = panel
        self._arranging = False
        self.is_arranged_by_hand = False
        """Whether somebody dragged the edge of a column."""
        self.setAccessibleName("Tables")
        self.verticalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().sectionResized.connect(self._resized)
        self.horizontalHeader().sortIndicatorChanged.connect(lambda _column, _order: self.widened.emit())
        self.setAlternatingRowColors(False)
        self.setTabKeyNavigation(False)

    def width_of(self, column: int) -> int:
        """Pixels that a column takes with its heading and all of its texts."""
        return max(self.sizeHintForColumn(column), self.heading_width(column))

    def heading_width(self, column: int) -> int:
        """Pixels that a heading takes; the arrow has room in the column alone by which rows are sorted."""
        head = self.horizontalHeader()
        is_sorted = head.sortIndicatorSection() == column
        text = self.model().headerData(column, Qt.Orientation.Horizontal)
        return (
            head.sectionSizeHint(column)
            if is_sorted
            else head.fontMetrics().horizontalAdvance(text) + _HEADING_MARGINS_PX
        )

    def arrange(self, widths: list[int]) -> None:
        """Make columns so wide, in pixels."""
        self._arranging = True
        for column, px in enumerate(widths):
            self.setColumnWidth(column, px)
        self._arranging = False

    def _resized(self, column: int, _before: int, _now: int) -> None:
        # The last one has what is left: it follows the others and the window.
        if not self._arranging and column < self.model().columnCount() - 1:
            self.is_arranged_by_hand = True

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.widened.emit()

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """As in a spreadsheet Enter goes on to the row below; what is refused or asked about stays."""
        super().closeEditor(editor, hint)
        if hint == QAbstractItemDelegate.EndEditHint.SubmitModelCache and self._panel.is_content:
            here = self.currentIndex()
            below = self.model().index(here.row() + 1, here.column())
            if below.isValid():
                self.setCurrentIndex(below)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste):
            self._panel.paste()
        else:
            super().keyPressEvent(event)
