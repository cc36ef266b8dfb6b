"""Pictures of the memory panel: what fills a data node and its disks, how it grows, and what if."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.desktop.analyses.growth_chart import GrowthChart, growth_picture
from ndbplan.desktop.analyses.memory_answer import MemoryAnswer, MemoryQuestion, WhatIf, ask_memory
from ndbplan.desktop.analyses.treemap_view import TreemapView
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.combo_box import ComboBox
from ndbplan.desktop.widgets.preview_card import preview_made
from ndbplan.desktop.widgets.sections import Elided, FactorBox, label, spin_box
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode

_WAIT_MS = 120
"""Until somebody who steps on is taken to have arrived."""
_ROOM_FOR_GROWTH, _ROOM_FOR_WORDS, _ROOM_FOR_TABLES = 760, 900, 545
_MOST_TIMES = 1000.0


class WhatIfControls(QWidget):
    """How many times the rows, of which table, and how many node groups more."""

    changed = Signal()
    wanted = Signal()
    """It shall be made so."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = FactorBox()
        self.rows.setRange(0.1, _MOST_TIMES)
        self.rows.setDecimals(1)
        self.rows.setSingleStep(0.5)
        self.rows.setValue(1.0)
        self.rows.setPrefix("Rows × ")
        self.rows.setAccessibleName("What if there were so many times the rows")
        self.rows.setToolTip("What if there were so many times the rows: the plan stays as it is")
        self.table = ComboBox()
        self.table.setAccessibleName("Table that has more rows")
        self.table.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.table.setMinimumContentsLength(9)
        self.groups = spin_box()
        self.groups.setRange(0, 71)
        self.groups.setPrefix("Groups + ")
        self.groups.setAccessibleName("What if there were so many more node groups")
        self.groups.setToolTip("What if there were so many more node groups: the plan stays as it is")
        self.button = QPushButton("Make it so")
        self.button.setToolTip("Change the plan so, as one step that undo takes back")
        self.button.clicked.connect(lambda: self.wanted.emit())
        self._name = label("What if", "fieldLabel", wrap=False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for widget in (self._name, self.rows, self.table, self.groups, self.button):
            row.addWidget(widget)
        self.rows.valueChanged.connect(lambda _v: self._moved())
        self.groups.valueChanged.connect(lambda _v: self._moved())
        self.table.activated.connect(lambda _i: self._moved())
        self._moved()

    @property
    def value(self) -> WhatIf:
        """What is asked."""
        return WhatIf(round(self.rows.value(), 1), self.groups.value(), self.table.currentData())

    def show_tables(self, plan: Plan) -> None:
        """Offer the tables of a plan; a choice that is still there stays."""
        chosen = self.table.currentData()
        self.table.blockSignals(True)
        self.table.clear()
        self.table.addItem("of all tables", None)
        for table in plan.tables:
            self.table.addItem(f"of {table.full_name}", table.id)
        self.table.setCurrentIndex(max(0, self.table.findData(chosen)) if chosen else 0)
        self.table.blockSignals(False)

    def take_back(self) -> None:
        """Ask for the plan as it is."""
        for box in (self.rows, self.groups):
            box.blockSignals(True)
        self.rows.setValue(1.0)
        self.groups.setValue(0)
        for box in (self.rows, self.groups):
            box.blockSignals(False)
        self._moved()

    def fit(self, width: int) -> None:
        """Leave out words where there is little room, then the choice of a table."""
        self._name.setHidden(width < _ROOM_FOR_WORDS)
        self.table.setHidden(width < _ROOM_FOR_TABLES)
        if width < _ROOM_FOR_TABLES and self.table.currentIndex() > 0:
            self.table.setCurrentIndex(0)
            self._moved()

    def _moved(self) -> None:
        self.button.setEnabled(not self.value.is_nothing)
        self.changed.emit()


class MemoryPictures(QWidget):
    """A node's memory and disks as areas, growth beside them, and one line of figures."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self._task: Task | None = None
        self._growing: Task | None = None
        self._grown: Plan | None = None
        self.answer: MemoryAnswer | None = None
        self.memory = TreemapView("What fills the memory of a data node")
        self.disks = TreemapView("What fills the disks of a data node")
        self.chart = GrowthChart(is_framed=True)
        self.line = Elided("factValue")
        self.nodes = ComboBox()
        self.nodes.setAccessibleName("Data node")
        self.nodes.setToolTip("The data node that is shown; one that is selected on the canvas comes here")
        self.nodes.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.nodes.setMinimumContentsLength(11)
        self.nodes.setMaxVisibleItems(18)
        self.what_if = WhatIfControls()
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(_WAIT_MS)
        self._wait.timeout.connect(self.compute)
        for view in (self.memory, self.disks):
            view.chosen.connect(self._choose)
        self.nodes.activated.connect(lambda _i: self.compute())
        self.what_if.changed.connect(self._step)
        self.what_if.wanted.connect(self.make_it_so)
        preview_made(
            self.what_if.button,
            lambda: context.estimates.previews,
            "Make it so",
            lambda: self.what_if.value.of,
        )
        context.selection.changed.connect(self._selected)
        self._build()

    def _build(self) -> None:
        maps = QHBoxLayout()
        maps.setSpacing(10)
        maps.addWidget(self.memory, 6)
        maps.addWidget(self.disks, 5)
        maps.addWidget(self.chart, 4)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(maps, 1)
        layout.addWidget(self.line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        has_room = self.width() >= _ROOM_FOR_GROWTH
        self.chart.setVisible(has_room and self.chart.picture is not None)

    def show_plan(self) -> None:
        """Show the plan as it is now; a node that is still there stays."""
        plan = self.context.plan
        chosen = self.nodes.currentData()
        self.nodes.blockSignals(True)
        self.nodes.clear()
        for node in plan.data_nodes:
            self.nodes.addItem(f"Data node {node.node_id}", node.node_id)
        at = self.nodes.findData(chosen) if chosen is not None else -1
        self.nodes.setCurrentIndex(at if at >= 0 else self._first(plan))
        self.nodes.blockSignals(False)
        self.what_if.show_tables(plan)
        self.compute()

    def _first(self, plan: Plan) -> int:
        """The place of the node to begin with: what is selected, else the fullest."""
        wanted = _node_of(plan, self.context.selection.ids)
        latest = self.context.estimates.latest
        if wanted is None and latest is not None and latest.now is not None and latest.plan is plan:
            fullest = max(latest.now.memory.nodes, key=lambda node: node.fill, default=None)
            wanted = None if fullest is None else fullest.node_id
        return max(0, self.nodes.findData(wanted))

    def _selected(self, ids: tuple[str, ...]) -> None:
        at = self.nodes.findData(_node_of(self.context.plan, ids))
        if at >= 0 and at != self.nodes.currentIndex():
            self.nodes.setCurrentIndex(at)
            if self.isVisible():
                self.compute()

    def _step(self) -> None:
        """Somebody steps: ask once they have arrived."""
        if self.isVisible():
            self._wait.start()

    def compute(self) -> None:
        """Ask the engine, in a thread."""
        self._wait.stop()
        node_id = self.nodes.currentData()
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if node_id is None:
            return
        workload_id = self.context.estimates.workload_id
        question = MemoryQuestion(self.context.plan, workload_id, node_id, self.what_if.value)
        self._task = self.context.tasks.start(
            lambda task: ask_memory(question, task.show_partial_result),
            self._done,
            on_partial_result=self._show,
        )

    def _done(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        answer: MemoryAnswer | None = outcome.value
        if answer is None:
            self._say(outcome.error, is_error=True)
            return
        self._show(answer)
        self._ask_growth(answer.plan)

    def _show(self, answer: MemoryAnswer) -> None:
        self.answer = answer
        self.memory.show_contents([answer.node] if answer.node is not None else [])
        self.disks.show_contents(answer.disks)
        if answer.refusal:
            # Its tip says what can be done as well.
            self._say(answer.refusal, answer.refusal.partition(" — ")[0], is_error=True)
        else:
            # What comes last is left out first.
            fewer = (" · ".join(answer.figures[:many]) for many in range(len(answer.figures), 0, -1))
            self._say(*(fewer if answer.figures else ("",)), is_error=False)
        self.what_if.button.setEnabled(not answer.refusal and not self.what_if.value.is_nothing)

    def _say(self, *words: str, is_error: bool) -> None:
        self.line.setText(*words)
        self.line.setProperty("look", "fieldError" if is_error else "factValue")
        theme.restyle(self.line)

    def _ask_growth(self, plan: Plan) -> None:
        """How it fills, in a thread: that takes dozens of estimates."""
        if plan is self._grown:
            return
        self._grown = plan
        if self._growing is not None:
            self._growing.cancel()
        self._growing = self.context.tasks.start(lambda _task: growth_picture(plan), self._show_growth)

    def _show_growth(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._growing = None
        self.chart.show_picture(outcome.value)
        self._fit()

    def _choose(self, ids: tuple[str, ...]) -> None:
        self.context.selection.set([one for one in ids if one in self.context.plan.by_id])

    def make_it_so(self) -> None:
        """Change the plan as was asked, as one undoable edit."""
        asked, plan = self.what_if.value, self.context.plan
        if asked.is_nothing:
            return
        try:
            self.context.document.edit(asked.title(plan), asked.of)
        except UserError as error:
            self._say(error.line, is_error=True)
            return
        self.what_if.take_back()


def _node_of(plan: Plan, ids: tuple[str, ...]) -> int | None:
    """Node id of the data node that is selected, or that runs on the selected host or by its disk."""
    part = plan.by_id.get(ids[-1]) if ids else None
    if isinstance(part, DataNode):
        return part.node_id
    if part is None:
        return None
    host = plan.host_of_disk.get(part.id, part)
    there = [node.node_id for node in plan.data_nodes if node.host_id == host.id]
    return there[0] if there else None
