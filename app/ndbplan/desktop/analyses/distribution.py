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
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.desktop.analyses.distribution_answer import Answer, Question, ask
from ndbplan.desktop.analyses.distribution_facts import Facts
from ndbplan.desktop.analyses.distribution_growth import GrowthControls
from ndbplan.desktop.analyses.distribution_map import MapPage
from ndbplan.desktop.analyses.distribution_moves import MovesPage
from ndbplan.desktop.analyses.distribution_pictures import HEADERS, bars_of, rows_of
from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.analyses.partition_bars import PartitionBars
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets import numbers
from ndbplan.desktop.widgets.combo_box import ComboBox
from ndbplan.desktop.widgets.fade import Fade
from ndbplan.desktop.widgets.sections import chip, label
from ndbplan.edits.first_steps import next_step
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.estimate.storage.fill_map import Measure

_FACTS_WIDTH, _MOST_FACTS, _FACTS_GAP = 232, 0.6, 8
"""Of the facts: pixels at least, share of the panel at most, pixels beside the bar that scrolls."""
_BOTH_LEAST = 380
"""Pixels from which on the table of what the bars show has room beside them."""
_BARS_LEAST = 320
"""Pixels that the bars keep before the table gets all of its columns."""
_TABLE_SHARE = 0.54
"""Of the room, for the table, where there is not enough for both."""
_ONE_LINE, _NARROW = 800, 580
"""Widths from which on all controls stand in one line, and from which on the first line has the units."""
_ROOMY = 950
"""Width from which on names of tables have room."""
_BESIDE, _MARGIN = 490, 16
"""What the first line needs beside the controls of a view, and at its ends."""
MOST_BARS = 32
"""Partitions that bars are looked at for; of more the map says more."""
ALL_TABLES = "*"
"""In place of the id of a table."""
_VIEWS = (
    ("bars", "Bars", "Rows of each partition, before and after"),
    ("map", "Map", "What each LDM thread, or each fragment of a node group, holds"),
    ("moves", "Moves", "The buckets that go to the new node groups"),
)
_UNIT_NAMES = {"rows": "Rows", "primaries": "Primary", "bytes": "Bytes"}
_UNIT_TIPS = {
    "rows": "Rows that are stored, replicas counted on every node",
    "primaries": "Rows of primary replicas: where reads and writes come first",
    "bytes": "Pages of the rows",
}


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
        self.table_box = ComboBox(shorter=lambda name: name.rpartition(".")[2])
        self.table_box.setAccessibleName("Table")
        self.growth = GrowthControls()
        self.groups, self.load_box, self.add_button = (
            self.growth.groups, self.growth.load_box, self.growth.add_button,
        )  # fmt: skip
        self.bars = PartitionBars()
        self.map = MapPage(context)
        self.map.loss_shown.connect(self._show_loss)
        self.moves = MovesPage()
        self._unit_before: Measure = "rows"
        self._chosen_view = ""
        """What a person chose to look at; nothing: what suits the table."""
        self.table = numbers.NumbersTable("Partitions", HEADERS)
        self._facts = Facts()
        self._error = label("", "fieldError")
        self._error.hide()
        self._empty = Empty()
        self._empty.step_wanted.connect(self.step_wanted)
        # From the outside to the inside: Qt dresses all that is in a widget again with each parent it gets.
        self._pages = QStackedWidget(self)
        self._is_split_by_hand = False
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._content(self._pages))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(_MARGIN, 10, _MARGIN, 12)
        layout.addWidget(self._pages)
        self.table_box.activated.connect(lambda _i: self.compute())
        self.growth.groups_chosen.connect(self._groups_chosen)
        self.growth.changed.connect(self.compute)
        self.growth.wanted.connect(self.add_groups)
        context.selection.changed.connect(self._selected)
        context.document.changed.connect(self._note_growth)
        context.document.replaced.connect(self._start_over)
        # As bars are shown: what the first answer does not change need not be laid out again.
        self._views["bars"].setChecked(True)
        self._units["primaries"].hide()
        self.map.controls.hide()

    def _content(self, parent: QWidget) -> QWidget:
        content = QWidget(parent)
        top = QHBoxLayout()
        top.setSpacing(8)
        self.table_box.setMinimumWidth(96)
        self.table_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.table_box.setMinimumContentsLength(9)
        top.addWidget(self.table_box, 1)
        self.table_box.setMaximumWidth(280)
        top.addLayout(self._view_switch())
        top.addStretch(1)
        controls = QHBoxLayout()
        controls.setSpacing(8)
        controls.addWidget(self.growth, 1)
        controls.addWidget(self.map.controls)
        controls.addStretch(1)
        self._controls, self._unit_box = QWidget(content), QWidget(content)
        self._controls.setLayout(controls)
        self._row = controls
        controls.setContentsMargins(0, 0, 0, 0)
        self._unit_box.setLayout(self._unit_switch())
        top.addWidget(self._controls, 20)
        top.addWidget(self._unit_box)
        self._top, self._second = top, second = top, QHBoxLayout()
        second.setSpacing(8)
        scroll = QScrollArea(content)
        facts = QWidget(scroll)
        column = QVBoxLayout(facts)
        column.setContentsMargins(0, 0, _FACTS_GAP, 0)
        column.addLayout(self._facts)
        column.addWidget(self._error)
        column.addStretch(1)
        scroll.setWidget(facts)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFixedWidth(_FACTS_WIDTH)
        Fade(scroll)
        self._stack = QStackedWidget(content)
        split = QSplitter(Qt.Orientation.Horizontal, self._stack)
        split.setProperty("look", "gap")
        split.addWidget(self.bars)
        split.addWidget(self.table)
        split.setSizes([560, 440])
        split.setChildrenCollapsible(False)
        split.setHandleWidth(12)
        split.splitterMoved.connect(self._split_moved)
        self._split, self._scroll = split, scroll
        for page in (split, self.map, self.moves):
            self._stack.addWidget(page)
        below = QHBoxLayout()
        below.setSpacing(12)
        below.addWidget(scroll)
        below.addWidget(self._stack, 1)
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addLayout(top)
        layout.addLayout(second)
        layout.addLayout(below, 1)
        return content

    def _split_moved(self) -> None:
        self._is_split_by_hand = True

    def _share_out(self) -> None:
        """Give the table all of its columns where the bars keep enough room; a hand that moved it decides."""
        whole = self._split.width() - self._split.handleWidth()
        wanted = (
            self.table.horizontalHeader().length() + self.table.verticalScrollBar().sizeHint().width() + 4
        )
        self.table.setVisible(whole >= _BOTH_LEAST)
        if not self._is_split_by_hand and whole > 0:
            table = min(wanted, max(round(_TABLE_SHARE * whole), whole - _BARS_LEAST))
            self._split.setSizes([whole - table, table])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit_facts)
        self._arrange()

    def _fit_facts(self) -> None:
        """As wide as names and values need, which is more where texts are large."""
        wanted = (
            self._facts.minimumSize().width()
            + _FACTS_GAP
            + self._scroll.verticalScrollBar().sizeHint().width()
        )
        self._scroll.setFixedWidth(max(_FACTS_WIDTH, min(wanted, round(_MOST_FACTS * self.width()))))
        QTimer.singleShot(0, self, self._share_out)

    def _arrange(self) -> None:
        """Put the controls into one line or into two, by the room there is."""
        width = self.width()
        self.table_box.setMinimumWidth(150 if width >= _ROOMY else 116 if width >= _NARROW else 96)
        for widget, least in ((self._controls, self._one_line()), (self._unit_box, _NARROW)):
            line, other = (self._top, self._second) if width >= least else (self._second, self._top)
            if line.indexOf(widget) < 0:
                other.removeWidget(widget)
                line.addWidget(widget, 20 if widget is self._controls else 0)
        stands_alone = self._second.indexOf(self._controls) >= 0
        self.map.say_beside(stands_alone)
        self._row.setStretchFactor(self.map.controls, 20 if stands_alone else 0)
        if width >= _NARROW and self._top.indexOf(self._controls) >= 0:
            self._top.removeWidget(self._unit_box)
            self._top.addWidget(self._unit_box)
        self.growth.fit(width - _BESIDE if width >= _ONE_LINE else width - (0 if width >= _NARROW else 190))
        self._give_to_names(width)

    def _give_to_names(self, width: int) -> None:
        """Let the names of tables have what nothing else in their line needs."""
        self._top.invalidate()
        box, least = self.table_box, self.table_box.minimumWidth()
        room = width - 2 * _MARGIN - (self._top.minimumSize().width() - least)
        box.setMinimumWidth(max(least, min(box.whole_width(), room, box.maximumWidth())))

    def _one_line(self) -> int:
        """Width from which on all controls stand in one line: those of more node groups say less instead."""
        if self.map.controls.isHidden():
            return _ONE_LINE
        primary = self._units["primaries"].sizeHint().width()
        return max(_ONE_LINE, _BESIDE + primary + self.map.controls.minimumSizeHint().width())

    def _unit_switch(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        group = QButtonGroup(self)
        self._units: dict[str, QToolButton] = {}
        for unit in ("rows", "primaries", "bytes"):
            button = chip(_UNIT_NAMES[unit], f"Show {unit}", _UNIT_TIPS[unit], on=unit == "rows")
            button.clicked.connect(lambda _on=False: self._unit_chosen())
            group.addButton(button)
            row.addWidget(button)
            self._units[unit] = button
        return row

    def _view_switch(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        group = QButtonGroup(self)
        self._views: dict[str, QToolButton] = {}
        for name, text, tip in _VIEWS:
            button = chip(text, text, tip)
            button.clicked.connect(lambda _on=False, name=name: self._choose_view(name))
            group.addButton(button)
            row.addWidget(button)
            self._views[name] = button
        return row

    def _choose_view(self, name: str) -> None:
        self._chosen_view = name
        self._show_view()

    def _show_view(self) -> None:
        """Bring the view that was chosen, or suits the table, to the front."""
        is_all = self.table_box.currentData() == ALL_TABLES
        count = self._answer.before.placement.fragments if self._answer is not None else 0
        view = "map" if is_all else self._chosen_view or ("map" if count > MOST_BARS else "bars")
        for name, button in self._views.items():
            button.setChecked(name == view)
            button.setEnabled(name == "map" or not is_all)
        self._stack.setCurrentIndex([name for name, _, _ in _VIEWS].index(view))
        self._units["primaries"].setVisible(view == "map")
        self._unit_box.setVisible(view != "moves")
        if view != "map" and self._units["primaries"].isChecked():
            self._units["rows"].setChecked(True)
        self._scroll.setHidden(is_all)
        if self.map.controls.isHidden() == (view == "map"):
            self.growth.setVisible(view != "map")
            self.map.controls.setVisible(view == "map")
            self._arrange()
        if view == "map":
            table_id = self.table_box.currentData()
            self.map.show_table(None if is_all else table_id, self.measure)
        if self._answer is not None and not is_all and self._answer.question.groups != self._asked_groups:
            self.compute()

    @property
    def _asked_groups(self) -> int:
        """Node groups to add: none on the map, which shows the plan as it is."""
        return 0 if self.view == "map" else self.groups.value()

    @property
    def view(self) -> str:
        """What is at the front: bars, map or moves."""
        return _VIEWS[self._stack.currentIndex()][0]

    @property
    def measure(self) -> Measure:
        """What is shown: rows, bytes, or on the map rows of primaries."""
        if self._units["primaries"].isChecked():
            return "primaries"
        return "bytes" if self._units["bytes"].isChecked() else "rows"

    @property
    def unit(self) -> str:
        """What the bars show: rows or bytes."""
        return "bytes" if self.measure == "bytes" else "rows"

    def _show_loss(self, on: bool) -> None:
        """What a loss changes are primaries: nothing else can be chosen meanwhile."""
        if on != self._units["rows"].isEnabled():
            return
        if on:
            self._unit_before = self.measure
        self._units["primaries" if on else self._unit_before].setChecked(True)
        for name, button in self._units.items():
            button.setEnabled(not on or name == "primaries")

    def _unit_chosen(self) -> None:
        self._draw()
        self._show_view()

    def refresh(self) -> None:
        plan = self.context.plan
        tables = [(table.full_name, table.id) for table in plan.tables]
        _fill(self.table_box, [*tables, ("All tables", ALL_TABLES)] if len(tables) > 1 else tables)
        _fill(self.load_box, [("no load", None), *((w.name, w.id) for w in plan.workloads)])
        if (missing := next_step(plan)) is not None:
            self._empty.say_step(missing)
        ready = bool(plan.tables and plan.data_nodes)
        self._pages.setCurrentIndex(1 if ready else 0)
        if ready:
            self._arrange()
            self.compute()

    def compute(self) -> None:
        """Ask the engine about the chosen table, in a thread."""
        if self._task is not None:
            self._task.cancel()
        plan, table_id, groups = self.context.plan, self.table_box.currentData(), self._asked_groups
        if table_id is None:
            return
        if table_id == ALL_TABLES:
            self._show_view()
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
        self.growth.set_groups(groups)
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
        self._show_view()
        self.moves.show_answer(outcome.value)
        self._facts.show(outcome.value)
        QTimer.singleShot(0, self, self._fit_facts)
        self.add_button.setEnabled(self.groups.value() > 0 and not outcome.value.refusal)

    def _draw(self) -> None:
        if self._answer is not None:
            self.bars.show_picture(bars_of(self._answer, self.unit))
            self.table.show_rows(*rows_of(self._answer))
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
