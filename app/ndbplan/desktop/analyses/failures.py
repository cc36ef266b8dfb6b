"""Failures: every node, host, disk, rack and link with what its loss means, also as colours of the canvas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetricsF, QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
)

from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_count, format_value
from ndbplan.describe.losses import VERDICTS, ids_of, loss_of, losses_of
from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.document.turns import next_turn
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.flow_layout import FlowLayout
from ndbplan.desktop.widgets.sections import Elided, chip
from ndbplan.desktop.widgets.sentence_table import SentenceTable
from ndbplan.edits.first_steps import step
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.advise.survival import Failure, SurvivalReport

_COLUMNS = ("What fails", "The cluster", "Load left", "Whole again after", "Why")
_CLUSTER, _LOAD, _AGAIN, _WHY = range(1, len(_COLUMNS))
_SENTENCES = (_CLUSTER, _LOAD, _WHY)
"""Columns that wrap."""
_LEAST_NAME_PX = 240
"""Of what fails, however narrow the panel."""
_LEAST_WHY_PX = 160
"""Of a reason, which wraps; with less it stands out of sight, in one line."""
_WIDTHS_TRIED = 5
"""Of what the cluster does, from its least to its whole width."""
_BESIDE_TEXT_PX = 14
_ASKS = "asks the arbitrator"
_LESS = ", less than the peak"
_KINDS = ("", "rack", "switch", "host", "node", "disk", "link")
_NAMES = {
    "": "All", "rack": "Racks", "switch": "Switches", "host": "Hosts", "node": "Nodes",
    "disk": "Disks", "link": "Links",
}  # fmt: skip
_RANK = {kind: i for i, kind in enumerate(_KINDS)}
_LISTED_WITH = {"device": "disk"}
"""Kinds of parts that are listed with another one."""
_Index = QModelIndex | QPersistentModelIndex


def found_in_thread(plan: Plan, workload_id: str | None, task: Task) -> SurvivalReport:
    """Every single failure; runs in a thread."""
    from ndbplan.advise.survival import survive
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    return survive(Estimation(plan, chosen_workload(plan, workload_id)), 1, task.cancelled)


class _Rows(QAbstractTableModel):
    def __init__(self) -> None:
        super().__init__()
        self.failures: tuple[Failure, ...] = ()

    def show_failures(self, failures: Sequence[Failure]) -> None:
        self.beginResetModel()
        self.failures = tuple(failures)
        self.endResetModel()

    def texts(self, column: int) -> Iterator[str]:
        """What stands in a column."""
        return (self._text(failure, column) for failure in self.failures)

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.failures)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(_COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        failure = self.failures[index.row()]
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == _CLUSTER:
            return loss_of(failure.judged).text
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self._text(failure, index.column())
        if role == Qt.ItemDataRole.ForegroundRole:
            colours = theme.tokens()
            if index.column() == 1:
                return QColor(verdict_ink(loss_of(failure.judged).verdict, colours))
            if index.column() == 2 and failure.carries_peak is False:
                return QColor(colours.warning)
        return None

    def _text(self, failure: Failure, column: int) -> str:
        if column == 0:
            return failure.dead[0].text
        if column == 1:
            loss = loss_of(failure.judged)
            # As the legend beside it says; which arbitrator stands in the reason.
            return _ASKS if loss.verdict == "asks" else loss.text
        if column == 2:
            short = "" if failure.carries_peak is not False else _LESS
            return f"{_shown(failure.load_left_per_s)}{short}"
        if column == 3:
            again = failure.whole_again_s
            return "–" if again is None or again.value <= 0 else format_value(again.value, "s")
        # In this list the failure is the line.
        return failure.why.replace(" in this failure", "")


def _kind(failure: Failure) -> str:
    kind = failure.dead[0].kind
    return _LISTED_WITH.get(kind, kind)


def _shown(rate: Quantity | None) -> str:
    if rate is None:
        return "–"
    return "no limit found" if rate.value >= 1e12 else f"{format_count(round(rate.value))} tx/s"


def verdict_ink(verdict: str, colours: theme.Tokens) -> str:
    """Colour of a verdict."""
    return {"stops": colours.error, "asks": colours.warning}.get(verdict, colours.good)


class FailuresPanel(Panel):
    """The table; while it is on show the canvas is coloured by it."""

    name: ClassVar[str] = "Failures"
    losses = Signal(object)
    """What each loss means by object id, to colour the canvas with; None: nothing to colour."""
    kill_wanted = Signal(object)
    """Ids of what somebody wants to see fail in the simulation."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._report: SurvivalReport | None = None
        self._plan: Plan | None = None
        self._task: Task | None = None
        self.rows = _Rows()
        self.table = SentenceTable(_SENTENCES)
        self._wanted: list[int] = []
        """How wide the columns would be with all of their texts."""
        self.table.widened.connect(self._share_out)
        self.table.setAccessibleName("What each single failure means")
        self.table.setModel(self.rows)
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        head = self.table.horizontalHeader()
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setStretchLastSection(True)
        head.setHighlightSections(False)
        self._kinds: dict[str, QToolButton] = {}
        self._group = QButtonGroup(self)
        self.line = Elided()
        self.watch = QPushButton("Kill it")
        self.watch.setToolTip("Let it fail in the simulation, where the replay stands, and watch the run")
        self.watch.setEnabled(False)
        self.watch.clicked.connect(self._kill)
        self._empty = Empty("", "")
        self._empty.step_wanted.connect(self.step_wanted)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self.table)
        self._build()
        self.table.selectionModel().selectionChanged.connect(lambda _new, _old: self._lead())
        self.table.doubleClicked.connect(lambda _index: self._kill())
        context.selection.changed.connect(self._follow)
        theme.theme().changed.connect(self.table.viewport().update)
        theme.theme().scaled.connect(self._fit_soon)

    def _build(self) -> None:
        bar, kinds = QHBoxLayout(), FlowLayout(spacing=4)
        bar.setSpacing(8)
        bar.addLayout(kinds, 1)
        for kind in _KINDS:
            button = chip("", on=not kind)
            button.clicked.connect(lambda _on=False: self._show())
            self._group.addButton(button)
            self._kinds[kind] = button
            kinds.addWidget(button)
        bar.addWidget(self.watch, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 10, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(bar)
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.line)

    @property
    def report(self) -> SurvivalReport | None:
        """What was found for the plan on show."""
        return self._report

    def refresh(self) -> None:
        plan = self.context.plan
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._report = None
        if not plan.data_nodes:
            self._show_nothing("", "")
            self._empty.say_step(step("hosts"))
            return
        if not self.rows.failures:
            self._show_nothing("Looking at every failure…", "")
        workload_id = self.context.estimates.workload_id
        self._task = self.context.tasks.start(
            lambda task: found_in_thread(plan, workload_id, task), lambda outcome: self._found(plan, outcome)
        )

    def _found(self, plan: Plan, outcome: Outcome) -> None:
        if outcome.cancelled or plan is not self.context.plan:
            return
        self._task = None
        if outcome.error:
            self._show_nothing("Failures cannot be judged", outcome.error)
            return
        self._report, self._plan = outcome.value, plan
        self._show()
        next_turn(self, self._colour)

    def _show_nothing(self, heading: str, text: str) -> None:
        self.rows.show_failures(())
        self.line.setText("")
        self._empty.say(heading, text)
        self._pages.setCurrentIndex(0)
        for button in self._kinds.values():
            button.hide()
        self.losses.emit(None)

    def _show(self) -> None:
        report = self._report
        if report is None:
            return
        every = report.failures
        counts = {kind: sum(kind in ("", _kind(f)) for f in every) for kind in _KINDS}
        for kind, button in self._kinds.items():
            button.setText(f"{_NAMES[kind]}  {counts[kind]}")
            button.setVisible(counts[kind] > 0)
        chosen = next((k for k, button in self._kinds.items() if button.isChecked()), "")
        listed = [f for f in every if chosen in ("", _kind(f))]
        listed.sort(key=lambda f: (VERDICTS.index(loss_of(f.judged).verdict), _RANK[_kind(f)]))
        self.rows.show_failures(listed)
        self._fit_columns()
        self._say(report)
        self._pages.setCurrentWidget(self.table)
        self._follow(self.context.selection.ids)

    def _widest(self, texts: Iterable[str]) -> str:
        """Of texts that are as wide in whole pixels, which are known quickly, the widest in parts of one."""
        whole = {text: self.table.fontMetrics().horizontalAdvance(text) for text in texts}
        most = max(whole.values())
        near = [text for text, width in whole.items() if width >= most - 1]
        return max(near, key=QFontMetricsF(self.table.font()).horizontalAdvance)

    @Slot()
    def _fit_soon(self) -> None:
        """The table has its larger font in the next turn. A slot, which ends with the panel."""
        next_turn(self, self._fit_columns)

    def _fit_columns(self) -> None:
        """As wide as their contents: Qt would ask six things of each of thousands of cells.

        Long names are cut in their middle: what a loss means is seen beside them.
        """
        head = self.table.horizontalHeader()
        if not self.rows.failures:
            return
        widths = []
        for column in range(self.rows.columnCount()):
            row_of = {text: row for row, text in enumerate(self.rows.texts(column))}
            widest = self.rows.index(row_of[self._widest(row_of)], column) if row_of else QModelIndex()
            width = max(head.sectionSizeHint(column), self.table.sizeHintForIndex(widest).width())
            widths.append(width)
        self._wanted = widths
        self._share_out()

    def _share_out(self) -> None:
        """Give columns the room there is: sentences wrap; where the last cannot, it is out of sight."""
        widths = [*self._wanted]
        if not widths:
            return
        whole = self.table.viewport().width()
        cluster, load = self._least(_CLUSTER), self._least(_LOAD)
        fixed = widths[_AGAIN]
        widths[0] = min(widths[0], max(_LEAST_NAME_PX, whole - fixed - load - cluster))
        room = whole - fixed - widths[0]
        if room >= cluster + load + min(widths[_WHY], _LEAST_WHY_PX):
            widths = self._lowest(widths, room)
        else:
            widths[_LOAD] = max(load, min(widths[_LOAD], room - cluster))
            widths[_CLUSTER] = max(cluster, min(widths[_CLUSTER], room - widths[_LOAD]))
            # What has no room lies beyond the edge, not half before it.
            ends = [at for at in accumulate(widths[:_WHY], initial=0) if at <= max(whole, widths[0])]
            widths[0] += max(0, whole - max(ends))
        self.table.widen(widths)

    def _least(self, column: int) -> int:
        """How narrow a column of sentences may be."""
        rates = {text.replace(_LESS, ",") for text in self.rows.texts(column)}
        whole = _ASKS if column == _CLUSTER else self._widest(rates)
        least = self.table.fontMetrics().horizontalAdvance(whole) + _BESIDE_TEXT_PX
        return min(self._wanted[column], max(least, self.table.horizontalHeader().sectionSizeHint(column)))

    def _lowest(self, widths: list[int], room: int) -> list[int]:
        """The sentences of a row share this room so that all rows together are as low as may be."""
        why, best = min(widths[_WHY], _LEAST_WHY_PX), (0, widths)
        least_load, tail = self._least(_LOAD), self.table.fontMetrics().horizontalAdvance(_LESS[2:])
        # In one line, in two, and as narrow as may be.
        in_two = min(widths[_LOAD], max(least_load, tail + _BESIDE_TEXT_PX))
        for load in dict.fromkeys((widths[_LOAD], in_two, least_load)):
            least, most = self._least(_CLUSTER), min(widths[_CLUSTER], room - load - why)
            steps = [most - (most - least) * step // _WIDTHS_TRIED for step in range(_WIDTHS_TRIED + 1)]
            for cluster in dict.fromkeys(one for one in steps if one >= least):
                shared = [widths[0], cluster, load, widths[_AGAIN], room - load - cluster]
                height = sum(self.table.heights(shared))
                # Of those that are as low the first: what the cluster does stays in one line.
                if best[1] is widths or height < best[0]:
                    best = (height, shared)
        return best[1]

    def _say(self, report: SurvivalReport, chosen: Failure | None = None) -> None:
        if chosen is not None:
            self.line.setText(f"{chosen.dead[0].text}: {chosen.why}")
            return
        stops = sum(loss_of(f.judged).verdict == "stops" for f in report.failures)
        count = len(report.failures)
        text = (
            f"{stops} of {count} single failures stop the cluster"
            if stops
            else (f"none of {count} single failures stops the cluster")
        )
        self.line.setText(text)

    def _lead(self) -> None:
        chosen = self.table.selectionModel().selectedRows()
        self.watch.setEnabled(bool(chosen) and bool(self.context.plan.workloads))
        if self._report is not None:
            self._say(self._report, self.rows.failures[chosen[0].row()] if chosen else None)
        if chosen and self._plan is self.context.plan:
            self.context.selection.set(ids_of(self.context.plan, self.rows.failures[chosen[0].row()].dead[0]))

    def _follow(self, ids: tuple[str, ...]) -> None:
        """Mark the row of what is selected elsewhere."""
        if self._plan is None or self._plan is not self.context.plan:
            return
        chosen = self.table.selectionModel().selectedRows()
        if chosen and ids_of(self._plan, self.rows.failures[chosen[0].row()].dead[0]) == tuple(ids):
            return
        for row, failure in enumerate(self.rows.failures):
            if len(ids) == 1 and ids_of(self._plan, failure.dead[0]) == tuple(ids):
                self.table.selectRow(row)
                return
        self.table.clearSelection()

    def _kill(self) -> None:
        chosen = self.table.selectionModel().selectedRows()
        if chosen:
            self.kill_wanted.emit(self.rows.failures[chosen[0].row()].dead[0])

    def _colour(self) -> None:
        if self._report is not None and self._plan is not None and self.isVisible():
            self.losses.emit(losses_of(self._plan, self._report))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._colour()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.losses.emit(None)
