"""Compare: variants side by side, what differs and the headline figures; a sign says which one is better.

What follows from formulas is there at once; what a simulation decides comes when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
)

from ndbplan.desktop.analyses.panel import VARIANT, Empty, Panel
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.estimates import Estimate
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.text import as_it_is
from ndbplan.desktop.widgets.flow_layout import FlowLayout
from ndbplan.desktop.widgets.sections import Elided, chip
from ndbplan.desktop.widgets.whole_rows import Table
from ndbplan.plan.project import Project, Variant

if TYPE_CHECKING:
    from ndbplan.advise.compare import Comparison
    from ndbplan.desktop.analyses.overlaid import OverlaidRuns, Run

_MOST = 4
_TITLE_WIDTH = 270
_LEAST_TITLE = 180
_SCROLL_BAR = 20
_LEAST_CHART = 200
_CHIP = 24
"""Letters of a name on a button."""
_Index = QModelIndex | QPersistentModelIndex
_SIGN = {"▲": "good", "▼": "error"}


class _Line(NamedTuple):
    """One row of the table."""

    title: str
    cells: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()
    winners: tuple[int, ...] = ()

    @property
    def is_heading(self) -> bool:
        """Whether it only says what follows."""
        return not self.cells


class _Rows(QAbstractTableModel):
    def __init__(self) -> None:
        super().__init__()
        self.columns: tuple[str, ...] = ()
        self.lines: tuple[_Line, ...] = ()

    def show_lines(self, columns: Sequence[str], lines: Sequence[_Line]) -> None:
        self.beginResetModel()
        self.columns, self.lines = tuple(columns), tuple(lines)
        self.endResetModel()

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.lines)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else 1 + len(self.columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return ("", *self.columns)[section]
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.ToolTipRole and section:
            return f"Show {self.columns[section - 1]}"
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line, place = self.lines[index.row()], index.column() - 1
        if place < 0:
            return self._title(line, role)
        if line.is_heading:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return line.cells[place]
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.tips[place]
        if role == Qt.ItemDataRole.FontRole and place in line.winners:
            return _bold()
        if role == Qt.ItemDataRole.ForegroundRole:
            ink = _SIGN.get(line.cells[place][:1])
            return None if ink is None else QColor(getattr(theme.tokens(), ink))
        return None

    @staticmethod
    def _title(line: _Line, role: int) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return line.title
        if role == Qt.ItemDataRole.FontRole and line.is_heading:
            return _bold()
        return None


def _bold() -> QFont:
    return theme.font(weight=600)


def found_in_thread(
    variants: Sequence[Variant], workload_id: str | None, task: Task, *, simulated: bool
) -> tuple[Comparison, tuple[Run, ...]]:
    """The variants side by side, with the figures that are simulated or with the others; runs in a thread.

    With the simulated ones also the runs themselves.
    """
    from ndbplan.advise.compare import compare
    from ndbplan.advise.figures import FIGURES
    from ndbplan.desktop.document.kernel import prepare_kernel
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    if simulated:
        prepare_kernel(task)
    columns = []
    for variant in variants:
        known = workload_id if any(w.id == workload_id for w in variant.plan.workloads) else None
        columns.append((variant.name, Estimation(variant.plan, chosen_workload(variant.plan, known))))
    figures = [figure for figure in FIGURES.values() if figure.simulated == simulated]
    found = compare(columns, figures, cancelled=task.cancelled, progress=task.report)
    if not simulated:
        return found, ()
    from ndbplan.desktop.analyses.overlaid import runs_of

    return found, runs_of(columns, task.cancelled)


class ComparePanel(Panel):
    """The chosen variants in one table; a click on a column's name shows that variant."""

    name: ClassVar[str] = "Compare"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._asked: tuple[Project | None, str | None] = (None, None)
        self._left_out: set[str] = set()
        self._task: Task | None = None
        self._closed: Comparison | None = None
        self._simulated: Comparison | None = None
        self.rows = _Rows()
        self.table = Table()
        self.table.setAccessibleName("Variants side by side")
        self.table.viewport().installEventFilter(self)
        self.table.setModel(self.rows)
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.setWordWrap(False)
        # Names of figures and of what differs begin alike, or end alike.
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        head = self.table.horizontalHeader()
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setSectionsClickable(True)
        head.setTextElideMode(Qt.TextElideMode.ElideRight)
        head.sectionClicked.connect(self._show_variant)
        self.chips: list[QToolButton] = []
        self._bar = FlowLayout(spacing=4)
        self.simulate = QPushButton("Simulate them too")
        self.simulate.setToolTip("The highest load, the first error, latency: each in the same drawn worlds")
        self.simulate.clicked.connect(lambda: self._start(simulated=True))
        self.instead = chip(
            "Runs", "Runs instead of the table", "There is no room for them beside all variants"
        )
        self.instead.setVisible(False)
        self.instead.clicked.connect(self._share_room)
        self.line = Elided()
        self._empty = Empty("", "")
        self._empty.step_wanted.connect(self.step_wanted)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self.runs: OverlaidRuns | None = None
        self._has_runs = False
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setProperty("look", "gap")
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(12)
        self._split.addWidget(self.table)
        self._split.installEventFilter(self)
        self._pages.addWidget(self._split)
        bar = QHBoxLayout()
        bar.setSpacing(4)
        bar.addLayout(self._bar, 1)
        bar.addWidget(self.instead)
        bar.addWidget(self.simulate)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 10, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(bar)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.line)
        context.document.variants_changed.connect(self.mark_stale)
        context.document.replaced.connect(self._left_out.clear)
        theme.theme().changed.connect(self._restyle)

    @property
    def chosen(self) -> tuple[Variant, ...]:
        """The variants that stand side by side."""
        there = self.context.document.project.variants
        return tuple(variant for variant in there if variant.name not in self._left_out)[:_MOST]

    def refresh(self) -> None:
        project = self.context.document.project
        workload_id = self.context.estimates.workload_id
        asked = (project, workload_id)
        same = project is self._asked[0] and workload_id == self._asked[1]
        if same and (self._closed is not None or self._task is not None):
            # Another variant is shown: the comparison is the same.
            return
        self._asked = asked
        self._left_out.intersection_update(project.names)
        self._show_chips()
        self._start(simulated=False)

    def show_estimate(self, estimate: Estimate) -> None:
        # Another workload may be meant now.
        self.refresh()

    def _show_chips(self) -> None:
        for button in self.chips:
            button.deleteLater()
        self.chips = []
        shown = self.chosen
        for variant in self.context.document.project.variants:
            name = variant.name
            short = name if len(name) <= _CHIP else f"{name[:_CHIP]}…"
            button = chip(as_it_is(short), name, on=variant in shown)
            button.setAutoExclusive(False)
            button.setToolTip(variant.note or f"{variant.name} side by side with the others, or not")
            button.clicked.connect(self._choose)
            self._bar.addWidget(button)
            self.chips.append(button)

    def _choose(self) -> None:
        names = self.context.document.project.names
        on = [name for name, button in zip(names, self.chips, strict=True) if button.isChecked()]
        # A fifth one takes the place of the last.
        self._left_out.clear()
        self._left_out.update(set(names) - {*on[: _MOST - 1], *on[-1:]})
        self._show_chips()
        self._start(simulated=False)

    def _start(self, *, simulated: bool) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if not simulated:
            self._closed = self._simulated = None
        variants, asked = self.chosen, self._asked
        self.simulate.setEnabled(False)
        if len(variants) < 2:
            several = len(self.context.document.project.variants) > 1
            how = "Choose two above" if several else "Make another variant of it"
            self._say_nothing("One plan alone", f"{how}: they stand side by side here.")
            if not several:
                self._empty.offer(VARIANT, "New variant…")
            return
        if self._closed is None:
            self._say_nothing("Looking at each variant…", "")
        else:
            self.line.setText("Each variant is simulated in the same drawn worlds…")
        self._task = self.context.tasks.start(
            lambda task: found_in_thread(variants, asked[1], task, simulated=simulated),
            lambda outcome: self._found(outcome, simulated=simulated),
        )

    def _found(self, outcome: Outcome, *, simulated: bool) -> None:
        if outcome.cancelled:
            return
        self._task = None
        if outcome.error:
            self._say_nothing("They cannot be compared", outcome.error)
            return
        found, runs = outcome.value
        if simulated:
            self._simulated = found
        else:
            self._closed = found
        self.simulate.setEnabled(self._simulated is None)
        self._show()
        self._show_runs(runs)

    def _show_runs(self, runs: Sequence[Run]) -> None:
        self._has_runs = bool(runs)
        if runs and self.runs is None:
            # Charts take long to load: they come with the first runs.
            from ndbplan.desktop.analyses.overlaid import OverlaidRuns

            self.runs = OverlaidRuns()
            self.runs.hide()
            self._split.addWidget(self.runs)
        self._share_room()
        if runs and self.runs is not None:
            self.runs.show_runs(runs)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Columns follow the width of the table, which comes after that of the panel."""
        if event.type() == QEvent.Type.Resize:
            if watched is self._split:
                self._share_room()
            self._fit_columns()
        return super().eventFilter(watched, event)

    def _share_room(self) -> None:
        """Table and runs side by side; where not every variant has room then, one of them, as is chosen."""
        if self.runs is None:
            return
        is_beside = self._has_runs and self._needed(_LEAST_TITLE) + _LEAST_CHART <= self._width
        was_beside = not (self.table.isHidden() or self.runs.isHidden())
        self.instead.setVisible(self._has_runs and not is_beside)
        shows_runs = self._has_runs and (is_beside or self.instead.isChecked())
        self.runs.setVisible(shows_runs)
        self.table.setVisible(is_beside or not shows_runs)
        if is_beside and not was_beside:
            self._share_width()

    def _fit_columns(self) -> None:
        """What figures and titles need first; names of variants share what is left: tips say them whole."""
        head, columns = self.table.horizontalHeader(), range(1, self.rows.columnCount())
        if not columns:
            return
        needed = [self.table.sizeHintForColumn(column) for column in columns]
        more = [max(0, head.sectionSizeHint(c) - width) for c, width in zip(columns, needed, strict=True)]
        room = self.table.width() - _SCROLL_BAR - sum(needed)
        most = max(_LEAST_TITLE, min(_TITLE_WIDTH, room), room - sum(more))
        title = min(self.table.sizeHintForColumn(0), most)
        share = max(0.0, min(1.0, (room - title) / max(1, sum(more))))
        widths = [title, *(w + int(share * wanted) for w, wanted in zip(needed, more, strict=True))]
        seen = self.table.viewport().width()
        whole = sum(end <= seen for end in accumulate(widths))
        if 1 < whole < len(widths):
            # The next one is seen whole or not at all: half a figure would be read as a whole one.
            widths[whole - 1] += seen - sum(widths[:whole])
        for column, width in enumerate(widths):
            self.table.setColumnWidth(column, width)

    def _share_width(self) -> None:
        """The table gets what its columns need, the chart the rest, as far as it can still be read.

        Where there is not room for both, titles give way: their tips say them whole.
        """
        # Titles as they are, not as what stood beside the chart until now left them.
        title = max(_LEAST_TITLE, min(_TITLE_WIDTH, self.table.sizeHintForColumn(0)))
        table = min(self._needed(title), self._width - _LEAST_CHART)
        self._split.setSizes([table, self._width - table])
        self._fit_columns()

    def _needed(self, title: int) -> int:
        """Width of the table with titles of this width and every figure whole."""
        columns = range(1, self.rows.columnCount())
        return title + sum(map(self.table.sizeHintForColumn, columns)) + _SCROLL_BAR

    @property
    def _width(self) -> int:
        """What table and runs share."""
        return self._split.width() - self._split.handleWidth()

    def _restyle(self) -> None:
        self.table.viewport().update()
        if self.runs is not None:
            self.runs.restyle()

    def _say_nothing(self, heading: str, text: str) -> None:
        self.rows.show_lines((), ())
        self.line.setText("")
        self._empty.say(heading, text)
        self._pages.setCurrentIndex(0)

    def _show(self) -> None:
        from ndbplan.describe.comparison import (
            LEGEND,
            alike,
            balance,
            mark,
            range_text,
            spread_text,
            value_text,
            verdicts,
        )

        closed, simulated = self._closed, self._simulated
        if closed is None:
            return
        found = (closed,) if simulated is None else (closed, simulated)
        told = ("", *verdicts(*found))
        lines = [_Line("Figures: better, worse", ("", *balance(*found)), told)]
        if any(one.lines for one in closed.problems):
            counts = (f"+{len(one.brings)}  −{len(one.settles)}" for one in closed.problems)
            whole = ("\n".join(one.lines) for one in closed.problems)
            lines.append(_Line("Problems: brought, settled", ("", *counts), ("", *whole)))
        lines.append(_Line("What differs" if closed.differences else "Nothing differs"))
        for one in alike(closed.differences):
            lines.append(_Line(f"{one.where}", one.shown, one.shown))
        lines.append(_Line("Headline figures"))
        places = range(len(closed.columns))
        for row in (*(simulated.rows if simulated is not None else ()), *closed.rows):
            cells = tuple(f"{mark(row, n)} {value_text(row, n)}".strip() for n in places)
            said = (row.notes[n] or range_text(row.values[n]) or value_text(row, n) for n in places)
            how = ((row.judged[n] or "", spread_text(row, n)) for n in places)
            tips = tuple(": ".join(filter(None, (text, *more))) for text, more in zip(said, how, strict=True))
            lines.append(_Line(row.title, cells, tips, row.winners))
        self.rows.show_lines(closed.columns, lines)
        self._fit_columns()
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.line.setText(LEGEND)
        self._pages.setCurrentWidget(self._split)

    def _show_variant(self, section: int) -> None:
        names = self.context.document.project.names
        if section > 0 and self.rows.columns[section - 1] in names:
            self.context.document.show_variant(names.index(self.rows.columns[section - 1]))
