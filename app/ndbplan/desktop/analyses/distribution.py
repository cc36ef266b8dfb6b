"""Distribution: rows and bytes of each partition, before and after node groups are added, and what moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import Qt
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
from ndbplan.base.units import format_bytes, format_count, format_percent
from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.analyses.partition_bars import Bar, PartitionBars, Picture
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets import numbers
from ndbplan.desktop.widgets.explain import QuantityLabel, range_text
from ndbplan.desktop.widgets.sections import empty, label, spin_box
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.estimate.storage.distribution import Redistribution
    from ndbplan.estimate.storage.fragments import Skew, TableDistribution
    from ndbplan.estimate.storage.skew import SkewReport
    from ndbplan.estimate.times.reorganise import ReorganiseEstimate, TableReorganise

_FACTS_WIDTH = 224
_MOST_ROWS = 2000
_CAUSES = {
    "even": ("none", "The hash map gives each partition as many buckets"),
    "chance": ("chance", "Counted rows differ no more than a hash makes them by chance"),
    "hash map": ("the hash map", "The number of partitions does not divide the buckets of the map"),
    "keys": ("the keys", "Chance would not spread rows so far: some keys of the distribution key are hot"),
    "few values": (
        "few key values",
        "All rows of one value of the distribution key lie together; few values never spread evenly",
    ),
}
_ROOMY = 840
"""Width from which on the controls have room for all their words."""
_ONE_LINE = 640
"""Width from which on all controls fit side by side."""
_HEADERS = ("Part.", "Group", "Nodes", "Rows", "Bytes", "LDM")


@dataclass(frozen=True)
class _Question:
    """One table; node groups to add to the plan, or a plan from before groups were added to it."""

    plan: Plan
    table_id: str
    groups: int
    baseline: Plan | None
    workload_id: str | None


@dataclass(frozen=True)
class _Answer:
    """What the engine says about one table."""

    question: _Question
    before: TableDistribution
    moved: Redistribution | None
    estimate: ReorganiseEstimate | None
    skew: SkewReport | None = None
    """Of the partitions as they end up."""
    refusal: str = ""
    """Why the node groups cannot be added."""

    @property
    def of_table(self) -> TableReorganise | None:
        """The reorganisation of this table."""
        tables = self.estimate.tables if self.estimate is not None else ()
        return next((t for t in tables if t.table == self.before.table), None)


class DistributionPanel(Panel):
    """Bars and table of one table's partitions."""

    name: ClassVar[str] = "Distribution"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._task: Task | None = None
        self._answer: _Answer | None = None
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
        self._facts = QVBoxLayout()
        self._facts.setSpacing(5)
        self._error = label("", "fieldError")
        self._error.hide()
        self._empty = Empty("No table yet", "Add a table to the plan, then see here where its rows land.")
        self._pages = QStackedWidget()
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
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
            button = QToolButton()
            button.setText(unit.capitalize())
            button.setCheckable(True)
            button.setChecked(unit == "rows")
            button.setProperty("look", "chip")
            button.setAccessibleName(f"Show {unit} per partition")
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
        if not plan.data_nodes:
            self._empty.say("No data node yet", "Drag data nodes onto hosts, then see here where rows land.")
        elif not plan.tables:
            self._empty.say("No table yet", "Add a table to the plan, then see here where its rows land.")
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
        question = _Question(plan, table_id, groups, baseline, self.load_box.currentData())
        self._task = self.context.tasks.start(lambda _task: _ask(question), self._done)

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
        self._state_facts(outcome.value)

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

    def _state_facts(self, answer: _Answer) -> None:
        empty(self._facts)
        before, moved = answer.before, answer.moved
        skew = (moved.after if moved else before).skew
        if moved is not None:
            if answer.question.baseline is not None:
                self._facts.addWidget(label("Against the plan before nodes were added", "muted"))
            self._fact("Partitions", f"{before.placement.partitions} → {moved.after.placement.partitions}")
            total = max(1, int(before.rows.sum()))
            share = format_percent(moved.rows_moved / total)
            self._fact("Rows that move", f"{format_count(moved.rows_moved)} ({share})")
            self._fact("Bytes that move", format_bytes(moved.bytes_moved))
            self._state_times(answer)
        else:
            self._fact("Partitions", str(before.placement.partitions))
            self._fact("Rows", format_count(int(before.rows.sum())))
        over = format_percent(skew.partition_ratio - 1)
        self._fact("Fullest partition", f"{over} over mean", "Rows of the fullest partition against the mean")
        if answer.skew is not None:
            self._state_keys(answer.skew)
        if answer.skew is not None:
            self._state_skew(answer.skew, skew)
        self._fact("Hash map", f"{before.buckets} buckets", before.hash_map_name)
        self.add_button.setEnabled(self.groups.value() > 0 and not answer.refusal)

    def _state_keys(self, report: SkewReport) -> None:
        """How many values the distribution key has, and what chance may make of the fullest partition."""
        keys, most = report.keys, report.fullest_percent
        if keys is not None and keys.count:
            self._fact("Key values", format_count(keys.count), f"Of the distribution key: {keys.why}")
            if not keys.is_unique:
                self._facts.addWidget(label(keys.why, "muted"))
            if report.cause == "few values" and not report.exact:
                self._facts.addWidget(label("The bars show a typical set of so many values", "muted"))
        if report.exact:
            if report.cause == "few values" and keys is not None and keys.first is not None:
                last = keys.first + keys.count - 1
                self._facts.addWidget(label(f"Rows lie as the hash of {keys.first} … {last} says", "muted"))
            return
        low, high = (format_percent(end / 100) for end in (most.low, most.high))
        self._fact(
            "Fullest may be",
            f"{low} to {high} over",
            "In 98 of 100 sets of so many values; which partition it is depends on the values",
        )

    def _state_skew(self, report: SkewReport, skew: Skew) -> None:
        """Why partitions differ, what is hottest, and what the loss of a node makes of it."""
        cause, why = _CAUSES[report.cause]
        if report.probability is not None:
            why += f" (chance alone does it in {format_percent(report.probability)} of cases)"
        self._fact("Skew comes from", cause, why)
        self._fact(
            "Spread by chance",
            f"± {format_percent(report.expected_percent / 100)}",
            "One standard deviation of a partition's rows when a hash spreads them",
        )
        if skew.hottest_log_part is not None:
            node, part = skew.hottest_log_part
            self._fact(
                "Fullest log part",
                f"{format_count(skew.log_part_ratio)} × mean",
                f"Log part {part} of node {node}: rows it stores against the mean of all log parts",
            )
        loss = report.worst_loss
        if loss is not None:
            self._fact(
                "After losing a node",
                f"{format_count(loss.factor)} × on node {loss.loaded_node}",
                f"The worst case: without node {loss.lost_node}, node {loss.loaded_node} is primary for "
                f"{format_count(loss.primary_rows)} rows, {format_count(loss.factor)} times the mean now",
            )

    def _state_times(self, answer: _Answer) -> None:
        estimate, of_table = answer.estimate, answer.of_table
        if estimate is None or of_table is None:
            return
        if of_table.moves:
            self._number("Reorganising takes", of_table.duration_s)
            spread = range_text(of_table.duration_s)
            self._facts.addWidget(label(f"{spread}; bound by {of_table.bound}", "muted"))
        if len(estimate.tables) > 1:
            self._number("All tables take", estimate.duration_s)
        self._fact("Pages at the peak", format_bytes(estimate.memory_peak_bytes))
        tight = [peak for peak in estimate.node_peaks if not peak.fits]
        if tight:
            nodes = ", ".join(str(peak.node_id) for peak in tight)
            self._facts.addWidget(label(f"DataMemory is too small on node {nodes}", "fieldError"))
        for note in of_table.notes if of_table.moves else (of_table.bound, *of_table.notes):
            self._facts.addWidget(label(note, "muted"))

    def _fact(self, name: str, text: str, tip: str = "") -> None:
        row = QHBoxLayout()
        row.addWidget(label(name, "muted", wrap=False), 1)
        value = label(text, "factValue", wrap=False)
        value.setToolTip(tip or text)
        row.addWidget(value)
        self._facts.addLayout(row)

    def _number(self, name: str, quantity: Any) -> None:
        row = QHBoxLayout()
        row.addWidget(label(name, "muted", wrap=False), 1)
        row.addWidget(QuantityLabel(name, quantity))
        self._facts.addLayout(row)


def _fill(box: QComboBox, entries: list[tuple[str, Any]]) -> None:
    chosen = box.currentData()
    box.blockSignals(True)
    box.clear()
    for text, value in entries:
        box.addItem(text, value)
    box.setCurrentIndex(max(0, box.findData(chosen)))
    box.blockSignals(False)


def _grown(plan: Plan, groups: int) -> Plan:
    from ndbplan.estimate.times.reorganise import reorganise

    return reorganise(plan, groups).plan_after


def _ask(question: _Question) -> _Answer:
    from dataclasses import replace

    from ndbplan.estimate.storage.skew import skew_report

    answer = _asked(question)
    last = answer.moved.after if answer.moved is not None else answer.before
    return replace(answer, skew=skew_report(last, measured=last.measured))


def _asked(question: _Question) -> _Answer:
    from ndbplan.configuration.node_groups import node_groups
    from ndbplan.estimate.stored import distribute, redistribute
    from ndbplan.estimate.times.reorganise import reorganise

    plan, table_id, baseline = question.plan, question.table_id, question.baseline
    workload = plan.by_id.get(question.workload_id) if question.workload_id else None
    if question.groups:
        before = distribute(plan, plan.table(table_id))
        try:
            estimate = reorganise(plan, question.groups, workload)
        except UserError as error:
            return _Answer(question, before, None, None, refusal=error.line)
        moved = next(t.redistribution for t in estimate.tables if t.table == before.table)
        return _Answer(question, before, moved, estimate)
    if baseline is not None and any(table.id == table_id for table in baseline.tables):
        added = len(node_groups(plan)) - len(node_groups(baseline))
        if added > 0:
            moved = redistribute(baseline, plan, table_id)
            return _Answer(question, moved.before, moved, reorganise(baseline, added, workload))
    return _Answer(question, distribute(plan, plan.table(table_id)), None, None)
