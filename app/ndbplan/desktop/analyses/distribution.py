"""Distribution: rows and bytes of each partition, before and after node groups are added, and what moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_count
from ndbplan.desktop.analyses.distribution_answer import Answer, Question, ask
from ndbplan.desktop.analyses.distribution_facts import Facts
from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.analyses.partition_bars import Bar, PartitionBars, Picture
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets import numbers
from ndbplan.desktop.widgets.sections import chip, label, spin_box
from ndbplan.edits.first_steps import next_step
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.estimate.storage.fragments import TableDistribution
    from ndbplan.estimate.storage.redistribution import Redistribution

_FACTS_WIDTH = 224
_MOST_ROWS = 2000
_ROOMY = 840
"""Width from which on the controls have room for all their words."""
_BARS_LEAST = 380
"""Pixels that the bars keep before the table gets all of its columns."""
_TABLE_SHARE = 0.54
"""Of the room, for the table, where there is not enough for both."""
_ONE_LINE = 640
"""Width from which on all controls fit side by side."""
_HEADERS = ("Part.", "Group", "Nodes", "Rows", "Bytes", "LDM")


class DistributionPanel(Panel):
    """Bars and table of one table's partitions."""

    name: ClassVar[str] = "Distribution"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._task: Task | None = None
        self._answer: Answer | None = None
        self._baseline: Plan | None = None
        self._wants_groups = False
        """Whether a person has said how many node groups to add."""
        self.table_box = QComboBox()
        self.table_box.setAccessibleName("Table")
        self.groups = spin_box()
        self.groups.setRange(0, 71)
        self.groups.setValue(1)
        self.groups.setAccessibleName("Node groups to add")
        self.groups.setToolTip("How many node groups to add: each with NoOfReplicas data nodes")
        self.load_box = QComboBox()
        self.load_box.setAccessibleName("Load while reorganising")
        self.load_box.setToolTip("What the clients do meanwhile")
        self.load_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.load_box.setMinimumContentsLength(9)
        self.add_button = QPushButton("Add and reorganise")
        self.add_button.setToolTip(
            "Put these node groups into the plan, on hosts like the last group's, and spread the tables over "
            "them; undo takes it back"
        )
        self.add_button.clicked.connect(self.add_groups)
        self.bars = PartitionBars()
        self.table = numbers.NumbersTable("Partitions", _HEADERS)
        self._facts = Facts()
        self._error = label("", "fieldError")
        self._error.hide()
        self._empty = Empty()
        self._empty.step_wanted.connect(self.step_wanted)
        self._pages = QStackedWidget()
        self._is_split_by_hand = False
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._content())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 10, 16, 12)
        layout.addWidget(self._pages)
        self.table_box.activated.connect(lambda _i: self.compute())
        self.groups.valueChanged.connect(self._groups_chosen)
        self.load_box.activated.connect(lambda _i: self.compute())
        context.selection.changed.connect(self._selected)
        context.document.changed.connect(self._note_growth)
        context.document.replaced.connect(self._start_over)

    def _content(self) -> QWidget:
        top = QHBoxLayout()
        top.setSpacing(8)
        self.table_box.setMinimumWidth(120)
        top.addWidget(self.table_box)
        top.addStretch(1)
        top.addLayout(self._unit_switch())
        self._growth = QWidget()
        growth = QHBoxLayout(self._growth)
        growth.setContentsMargins(0, 0, 0, 0)
        growth.setSpacing(8)
        growth.addWidget(label("Add node groups", "fieldLabel", wrap=False))
        growth.addWidget(self.groups)
        self._load_name = label("meanwhile", "fieldLabel", wrap=False)
        growth.addWidget(self._load_name)
        growth.addWidget(self.load_box, 20)
        self.load_box.setMaximumWidth(240)
        growth.addWidget(self.add_button)
        top.insertWidget(1, self._growth, 20)
        self._top = top
        facts = QWidget()
        column = QVBoxLayout(facts)
        column.setContentsMargins(0, 0, 8, 0)
        column.addLayout(self._facts)
        column.addWidget(self._error)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(facts)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFixedWidth(_FACTS_WIDTH)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setProperty("look", "gap")
        split.addWidget(self.bars)
        split.addWidget(self.table)
        split.setSizes([560, 440])
        split.setChildrenCollapsible(False)
        split.setHandleWidth(12)
        split.splitterMoved.connect(self._split_moved)
        self._split = split
        below = QHBoxLayout()
        below.setSpacing(12)
        below.addWidget(scroll)
        below.addWidget(split, 1)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addLayout(top)
        layout.addLayout(below, 1)
        self._lines = layout
        return content

    def _split_moved(self) -> None:
        self._is_split_by_hand = True

    def _share_out(self) -> None:
        """Give the table all of its columns where the bars keep enough room; a hand that moved it decides."""
        whole = self._split.width() - self._split.handleWidth()
        wanted = (
            self.table.horizontalHeader().length() + self.table.verticalScrollBar().sizeHint().width() + 4
        )
        if not self._is_split_by_hand and whole > 0:
            table = min(wanted, max(round(_TABLE_SHARE * whole), whole - _BARS_LEAST))
            self._split.setSizes([whole - table, table])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._share_out)
        below = self.width() < _ONE_LINE
        if below and self._lines.indexOf(self._growth) < 0:
            self._top.removeWidget(self._growth)
            self._lines.insertWidget(1, self._growth)
        elif not below and self._top.indexOf(self._growth) < 0:
            self._lines.removeWidget(self._growth)
            self._top.insertWidget(1, self._growth, 20)
        self._load_name.setHidden(self.width() < _ROOMY)
        self.add_button.setText("Add" if self.width() < _ROOMY else "Add and reorganise")

    def _unit_switch(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        group = QButtonGroup(self)
        self._units: dict[str, QToolButton] = {}
        for unit in ("rows", "bytes"):
            button = chip(unit.capitalize(), f"Show {unit} per partition", on=unit == "rows")
            button.clicked.connect(lambda _on=False: self._draw())
            group.addButton(button)
            row.addWidget(button)
            self._units[unit] = button
        return row

    @property
    def unit(self) -> str:
        """What the bars show: rows or bytes."""
        return "bytes" if self._units["bytes"].isChecked() else "rows"

    def refresh(self) -> None:
        plan = self.context.plan
        _fill(self.table_box, [(table.full_name, table.id) for table in plan.tables])
        _fill(self.load_box, [("no load", None), *((w.name, w.id) for w in plan.workloads)])
        missing = next_step(plan)
        if missing is not None:
            self._empty.say_step(missing)
        ready = bool(plan.tables and plan.data_nodes)
        self._pages.setCurrentIndex(1 if ready else 0)
        if ready:
            self.compute()

    def compute(self) -> None:
        """Ask the engine about the chosen table, in a thread."""
        if self._task is not None:
            self._task.cancel()
        plan, table_id, groups = self.context.plan, self.table_box.currentData(), self.groups.value()
        if table_id is None:
            return
        baseline = self._baseline if groups == 0 else None
        question = Question(plan, table_id, groups, baseline, self.load_box.currentData())
        self._task = self.context.tasks.start(lambda _task: ask(question), self._done)

    def _note_growth(self, before: Plan, after: Plan) -> None:
        """An edit that adds data nodes: compare with the plan before, until another plan comes."""
        now = {node.node_id for node in after.data_nodes}
        if self._baseline is not None and not {n.node_id for n in self._baseline.data_nodes} < now:
            self._baseline = None
            self._set_groups(1)
        known = {node.node_id for node in before.data_nodes}
        if known and known < now and before.by_id.keys() <= after.by_id.keys():
            self._baseline = self._baseline or before
            self._set_groups(0)

    def _start_over(self) -> None:
        """Another plan was opened: offer one more group again."""
        self._wants_groups = False
        self._set_groups(1)

    def _set_groups(self, groups: int) -> None:
        self.groups.blockSignals(True)
        self.groups.setValue(groups)
        self.groups.blockSignals(False)
        self.mark_stale()

    def add_groups(self) -> None:
        """Add the node groups to the plan, as one undoable edit."""
        groups = self.groups.value()
        try:
            what = "node group" if groups == 1 else f"{groups} node groups"
            self.context.document.edit(f"Add {what}", lambda plan: _grown(plan, groups))
        except UserError as error:
            self._refuse(error.line)

    def _groups_chosen(self) -> None:
        self._wants_groups = True
        self.compute()

    def _selected(self, ids: tuple[str, ...]) -> None:
        index = self.table_box.findData(ids[-1]) if ids else -1
        if index >= 0 and index != self.table_box.currentIndex():
            self.table_box.setCurrentIndex(index)
            self.compute()

    def _refuse(self, line: str) -> None:
        self._error.setText(line)
        self._error.setVisible(bool(line))

    def _done(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        self._refuse(outcome.error)
        if outcome.error:
            return
        self._answer = outcome.value
        if outcome.value.refusal and not self._wants_groups:
            # One more group is only an offer: a cluster that is full is no error.
            self._set_groups(0)
        else:
            self._refuse(outcome.value.refusal)
        self._draw()
        self._facts.show(outcome.value)
        self.add_button.setEnabled(self.groups.value() > 0 and not outcome.value.refusal)

    def _draw(self) -> None:
        answer = self._answer
        if answer is None:
            return
        before, moved = answer.before, answer.moved
        after = moved.after if moved is not None else before
        as_bytes = self.unit == "bytes"
        old = {p.fragment: p for p in before.partitions}
        kept = {p.partition: p.fixed_bytes + p.variable_bytes for p in moved.partitions} if moved else {}
        bars = []
        for p in after.partitions:
            was = old.get(p.fragment)
            if as_bytes:
                now: float = kept.get(p.fragment, p.fixed_bytes + p.variable_bytes)
                then: float = was.fixed_bytes + was.variable_bytes if was else 0
            else:
                now, then = p.rows, was.rows if was else 0
            nodes = ", ".join(str(n) for n in p.nodes)
            where = f"Node group {p.node_group} · primary on {p.primary} · nodes {nodes} · LDM {p.ldm}"
            bars.append(Bar(p.fragment, p.node_group, then, now, where))
        members: dict[int, set[int]] = {}
        for p in after.partitions:
            members.setdefault(p.node_group, set()).update(p.nodes)
        groups = {
            number: f"Node group {number} · nodes {', '.join(str(n) for n in sorted(nodes))}"
            for number, nodes in members.items()
        }
        bars.sort(key=lambda bar: (bar.node_group, bar.partition))
        self.bars.show_picture(Picture(tuple(bars), moved.moved_rows if moved else None, self.unit, groups))
        self._fill_table(after, old, moved)

    def _fill_table(
        self, after: TableDistribution, old: dict[int, Any], moved: Redistribution | None
    ) -> None:
        targets: dict[int, list[str]] = {}
        for (source, target), rows in (moved.moved_rows if moved else {}).items():
            targets.setdefault(source, []).append(f"{format_count(rows)} to {target}")
            targets.setdefault(target, []).append(f"{format_count(rows)} from {source}")
        rows_of = []
        for p in after.partitions[:_MOST_ROWS]:
            was = old[p.fragment].rows if p.fragment in old else 0
            cells = [
                numbers.count(p.fragment),
                numbers.count(p.node_group),
                numbers.text(", ".join(str(n) for n in p.nodes)),
                numbers.count(was),
            ]
            if moved is not None:
                cells += [numbers.count(p.rows), numbers.text(", ".join(targets.get(p.fragment, ["–"])))]
            else:
                cells.append(numbers.size(p.fixed_bytes + p.variable_bytes))
            cells.append(numbers.count(p.ldm))
            rows_of.append(cells)
        headers: tuple[str, ...]
        if moved is not None:
            headers = ("Part.", "Group", "Nodes", "Rows", "After", "Moves", "LDM")
        else:
            headers = ("Part.", "Group", "Nodes", "Rows", "Bytes", "LDM")
        self.table.show_rows(rows_of, headers)
        self._share_out()


def _fill(box: QComboBox, entries: list[tuple[str, Any]]) -> None:
    chosen = box.currentData()
    box.blockSignals(True)
    box.clear()
    for text, value in entries:
        box.addItem(text, value)
    box.setCurrentIndex(max(0, box.findData(chosen)))
    box.blockSignals(False)


def _grown(plan: Plan, groups: int) -> Plan:
    from ndbplan.estimate.estimation import Estimation

    return Estimation(plan).reorganise(groups).plan_after
