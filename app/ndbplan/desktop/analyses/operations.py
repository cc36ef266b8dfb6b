"""Operations: how long restarts and online growth take, step by step, under conditions set with sliders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSlider,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.quantity import total
from ndbplan.configuration.needs import upgrades
from ndbplan.desktop.analyses.day_behind import Day, lasts
from ndbplan.desktop.analyses.idle_sliders import idle_sliders
from ndbplan.desktop.analyses.lanes import Block, Lane, beside_runs
from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.analyses.timeline import Timeline
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets.combo_box import ComboBox
from ndbplan.desktop.widgets.sections import Elided, chip, label, link, spin_box
from ndbplan.edits.first_steps import step
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.estimate.times.restart import Conditions
    from ndbplan.operations.operation import Operation

_ONE_LINE = 860
"""Width from which on all controls have room in one line."""
_NAMES = {
    "node": "Node restart",
    "initial": "Initial node restart",
    "system": "System restart",
    "rolling": "Rolling restart",
    "start": "First start",
}
_DISK_FACTORS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0)
_LOAD_FACTORS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
_LDM_THREADS = (None, 1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32)
"""None: as many as the plan says; the others are the counts that MaxNoOfExecutionThreads leads to."""
_EXAMPLES = ("DataMemory", "NoOfFragmentLogFiles", "NoOfReplicas")
"""A parameter for each way of a change into effect: rolling, rolling with --initial, a new cluster."""
_ADD, _CHANGE, _UPGRADE = "add", "change", "upgrade"
_ERROR = ": error: "
"""In a note: what keeps the operation from succeeding."""


class OperationsPanel(Panel):
    """A lane for each kind of restart, and one for the chosen procedure."""

    name: ClassVar[str] = "Operations"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._task: Task | None = None
        self._lanes: list[Lane] = []
        self._told: list[str] = []
        self._only = ""
        self._wanted = ""
        """Name of the lane that somebody asked for and that is not there yet."""
        self.load_box = ComboBox()
        self.load_box.setAccessibleName("Load during the operation")
        self.traffic, self._traffic_text = _slider(_LOAD_FACTORS, 1.0, "Rate of the load against the plan's")
        self.disk, self._disk_text = _slider(_DISK_FACTORS, 1.0, "Speed of the disks against the plan's")
        self.ldms, self._ldms_text = _slider(_LDM_THREADS, None, "LDM threads of each data node")
        self.together = QCheckBox("In parallel")
        self.together.setToolTip(
            "Rolling: restart one node of every group together instead of node after node"
        )
        self.procedure_box = ComboBox()
        self.procedure_box.setAccessibleName("Procedure")
        self.groups = spin_box()
        self.groups.setRange(1, 71)
        self.groups.setAccessibleName("Node groups to add")
        self._note = label("", "muted")
        self.lanes = Timeline("Restarts by phase")
        self.lanes.moved.connect(lambda _at_s: self._show_window())
        self.window_line = Elided()
        self.to_best = link("Best start", self.lanes.to_best, "Let it begin where least is offered")
        self.whole = chip("Whole schedule", "Whole schedule", "All of the load's schedule", on=True)
        self.steps = chip("Steps", "Steps", "As long as the operations take, with their steps")
        self.whole.toggled.connect(self.lanes.show_whole)
        self._asked: tuple[Any, ...] = ()
        self._empty = Empty()
        self._empty.step_wanted.connect(self.step_wanted)
        self._empty.say_step(step("hosts"))
        top = QHBoxLayout()
        top.setSpacing(6)
        top.addWidget(label("Load", "fieldLabel", wrap=False))
        top.addWidget(self.load_box)
        top.addWidget(self.traffic)
        top.addWidget(self._traffic_text)
        top.addWidget(label("Disks", "fieldLabel", wrap=False))
        top.addWidget(self.disk)
        top.addWidget(self._disk_text)
        ldms = label("LDMs", "fieldLabel", wrap=False)
        for part in (ldms, self._ldms_text):
            part.setToolTip("Local data manager threads of each data node; left: as many as the plan says")
        top.addWidget(ldms)
        top.addWidget(self.ldms)
        top.addWidget(self._ldms_text)
        top.addStretch(1)
        self._chosen = QWidget()
        what = QHBoxLayout(self._chosen)
        what.setContentsMargins(0, 0, 0, 0)
        what.setSpacing(6)
        what.addWidget(self.procedure_box)
        what.addWidget(self.groups)
        what.addWidget(self.together)
        what.addStretch(1)
        top.insertWidget(top.count() - 1, self._chosen)
        self._top = top
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(6)
        window = QHBoxLayout()
        window.setContentsMargins(0, 0, 0, 4)
        window.setSpacing(6)
        window.addWidget(self.window_line, 1)
        window.addWidget(self.to_best)
        shown = QButtonGroup(self)
        for button in (self.whole, self.steps):
            shown.addButton(button)
            window.addWidget(button)
        column.addLayout(window)
        column.addWidget(self.lanes)
        self._notes = label("", "muted")
        column.addWidget(self._notes)
        column.addStretch(1)
        scroll.setWidget(holder)
        bar = scroll.verticalScrollBar()
        bar.rangeChanged.connect(lambda *_: self._bring_wanted())
        # The axis stays at the edge.
        for changed in (bar.valueChanged, bar.rangeChanged):
            changed.connect(lambda *_: self.lanes.update())
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addLayout(top)
        self._lines = layout
        layout.addWidget(self._note)
        layout.addWidget(scroll, 1)
        self._note.hide()
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(content)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 10, 16, 8)
        outer.addWidget(self._pages)
        self.load_box.activated.connect(lambda _i: self.compute())
        self.traffic.valueChanged.connect(lambda _v: self.compute())
        self.disk.valueChanged.connect(lambda _v: self.compute())
        self.ldms.valueChanged.connect(lambda _v: self.compute())
        self.together.toggled.connect(lambda _on: self.compute())
        self.groups.valueChanged.connect(lambda _v: self.compute())
        self.procedure_box.activated.connect(lambda _i: self.compute())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        below = self.width() < _ONE_LINE
        if below and self._lines.indexOf(self._chosen) < 0:
            self._top.removeWidget(self._chosen)
            self._lines.insertWidget(1, self._chosen)
        elif not below and self._top.indexOf(self._chosen) < 0:
            self._lines.removeWidget(self._chosen)
            self._top.insertWidget(self._top.count() - 1, self._chosen)

    def refresh(self) -> None:
        plan = self.context.plan
        chosen = self.load_box.currentData()
        self.load_box.blockSignals(True)
        self.load_box.clear()
        self.load_box.addItem("idle", None)
        for workload in plan.workloads:
            self.load_box.addItem(workload.name, workload.id)
        self.load_box.setCurrentIndex(max(0, self.load_box.findData(chosen)))
        self.load_box.blockSignals(False)
        procedure = self.procedure_box.currentText()
        self.procedure_box.clear()
        for text, data in _procedures(plan):
            self.procedure_box.addItem(text, data)
        self.procedure_box.setCurrentIndex(max(0, self.procedure_box.findText(procedure)))
        self._pages.setCurrentIndex(1 if plan.data_nodes else 0)
        if plan.data_nodes:
            self.compute()

    def show_only(self, operation: str) -> None:
        """Give one operation all the room: a kind of restart, or `add_nodes`; nothing: all share it."""
        self._only = operation
        self._show_lanes()
        self._show_window()

    def bring(self, part: str) -> None:
        self._wanted = part
        if self._task is None:
            self._bring_wanted()

    def _bring_wanted(self) -> None:
        """Until it is in sight: lanes have their height some turns after they are known."""
        if self._wanted and self._lanes and self.lanes.bring(self._wanted):
            self._wanted = ""

    def _show_lanes(self) -> None:
        if self._only == "add_nodes":
            wanted = self._lanes[-1:]
        else:
            wanted = [lane for lane in self._lanes if lane.name == _NAMES.get(self._only)]
        self.lanes.show_lanes(wanted or self._lanes)
        names = tuple(f"{lane.name}: " for lane in wanted)
        told = [note for note in self._told if not names or note.startswith(names)]
        self._notes.setText("\n".join(_once(told)))

    def compute(self) -> None:
        """Ask the engine, in a thread."""
        if self._task is not None:
            self._task.cancel()
        factor, traffic = _DISK_FACTORS[self.disk.value()], _LOAD_FACTORS[self.traffic.value()]
        threads = _LDM_THREADS[self.ldms.value()]
        self._disk_text.setText(f"× {factor:g}")
        self._ldms_text.setText("plan's" if threads is None else str(threads))
        plan, workload_id = self.context.plan, self.load_box.currentData()
        self.traffic.setVisible(workload_id is not None)
        self._traffic_text.setVisible(workload_id is not None)
        self._traffic_text.setText(f"× {traffic:g}")
        settings = {
            "workload": plan.by_id.get(workload_id) if workload_id else None,
            "traffic_factor": traffic,
            "ldm_threads": threads,
            "disk_factor": factor,
            "one_of_each_group": self.together.isChecked(),
        }
        procedure = self.procedure_box.currentData() or (_ADD, "")
        self.groups.setVisible(procedure[0] == _ADD)
        groups = self.groups.value()
        self._task = self.context.tasks.start(
            lambda task: _ask(plan, settings, procedure, groups, task), self._done
        )

    def _done(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        wrong = outcome.error
        if not wrong:
            self._lanes, notes, day = outcome.value
            self._told = [note for note in notes if _ERROR not in note]
            self._show_lanes()
            self._show_day(day)
            self._bring_wanted()
            # What does not fit stands above the lanes, where errors do; the rest below them.
            wrong = "\n".join(note.replace(_ERROR, ": ") for note in notes if _ERROR in note)
        self._note.setVisible(bool(wrong))
        self._note.setText(wrong)

    def _show_day(self, day: Day | None) -> None:
        """Another operation, or another load, begins at its best start; else it stays where it was put."""
        asked = (self.load_box.currentData(), self.procedure_box.currentData())
        self.lanes.show_day(day, self.lanes.start_s if asked == self._asked else None)
        self._asked = asked
        self._show_window()

    def _show_window(self) -> None:
        """Say when the operation runs, what is offered then, and when it is best done."""
        day = self.lanes.day
        for part in (self.window_line, self.to_best, self.whole, self.steps):
            part.setVisible(day is not None)
        if day is None:
            return
        window = day.windows.at(self.lanes.start_s)
        is_best = window.start_s == day.windows.best.start_s
        told = day.in_words(window) if is_best else f"{day.in_words(window)}; {day.proposed()}"
        self.window_line.setText(f"{lasts(day)}; {told}", told, day.in_words(window))
        self.to_best.setEnabled(not is_best)


def _slider(values: tuple[float | None, ...], start: float | None, name: str) -> tuple[QSlider, QLabel]:
    """A slider over values that starts at one of them, and the text beside it."""
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setRange(0, len(values) - 1)
    slider.setValue(values.index(start))
    slider.setMinimumWidth(44)
    slider.setMaximumWidth(84)
    slider.setAccessibleName(name)
    slider.setToolTip(name)
    text = QLabel()
    text.setMinimumWidth(text.fontMetrics().horizontalAdvance("× 0.25"))
    return slider, text


def _procedures(plan: Plan) -> list[tuple[str, tuple[str, str]]]:
    """What can be chosen: growing, a change of each kind, an upgrade to each series in its reach."""
    choices = [("Add groups", (_ADD, ""))]
    choices += [(f"Change {name}", (_CHANGE, name)) for name in _EXAMPLES]
    return choices + [(f"Upgrade to {series}", (_UPGRADE, series)) for series in upgrades(plan.version)]


def _ask(
    plan: Plan, settings: dict[str, Any], chosen: tuple[str, str], groups: int, task: Task
) -> tuple[list[Lane], list[str], Day | None]:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.estimate.times.restart import KINDS, Conditions

    conditions: Conditions = Conditions(**settings)
    now, lanes, notes = Estimation(plan), [], []
    for kind in KINDS:
        if task.cancelled():
            break
        try:
            estimate = now.restart(kind, conditions=conditions)
        except UserError as error:
            notes.append(f"{_NAMES[kind]}: {_said(error)}")
            continue
        blocks = tuple(Block(p.name, p.duration_s, _why(p)) for p in estimate.phases)
        lanes.append(Lane(_NAMES[kind], estimate.duration_s, blocks))
        notes += [f"{_NAMES[kind]}: {note}" for note in estimate.notes]
    _add_backup(now.under(conditions.workload) if conditions.workload is not None else now, lanes, notes)
    day = None
    if not task.cancelled():
        notes += idle_sliders(now, conditions)
        operation = _add_procedure(now, chosen, groups, conditions, lanes, notes)
        day = None if operation is None else _day(now, operation, conditions)
    return beside_runs(lanes, plan), notes, day


def _day(now: Estimation, operation: Operation, conditions: Conditions) -> Day | None:
    """The operation on the schedule of the load; None for one without a schedule that changes."""
    from ndbplan.advise.kept_out import kept_out
    from ndbplan.estimate.load.maintenance_window import Offered, Windows

    load = None if conditions.workload is None else conditions.workload.load
    if not isinstance(load, OpenLoad):
        return None
    schedule = Offered(load)
    closed = kept_out(now.under(conditions.workload), conditions.traffic_factor)
    if not closed and len({rate for _, rate in schedule.curve()}) < 2:
        return None
    windows = Windows(schedule, operation.duration_s.value, closed)
    day = Day(operation.name, windows, conditions.traffic_factor)
    # Found here, in the thread, and not when it is painted.
    return day if day.windows.best is not None else None


def _add_backup(now: Estimation, lanes: list[Lane], notes: list[str]) -> None:
    """A backup, under the load that goes on, and restoring it into an empty cluster."""
    try:
        saved, restored = now.backup(), now.restore()
    except UserError as error:
        notes.append(f"Backup: {_said(error)}")
        return
    slowest = max(saved.nodes, key=lambda node: node.duration_s.value, default=None)
    notes += [f"Backup: {note}" for note in saved.notes]
    if slowest is None:
        return
    written = total((("", node.written_bytes) for node in saved.nodes), "bytes")
    why = f"Writes {written}, bound by {slowest.bound} on data node {slowest.node_id}."
    lanes.append(Lane("Backup", saved.duration_s, (Block("backup", saved.duration_s, why),)))
    blocks = tuple(Block(p.name, p.duration_s, _why(p)) for p in restored.phases)
    lanes.append(Lane("Restore it", restored.duration_s, blocks))


def _add_procedure(
    now: Estimation,
    chosen: tuple[str, str],
    groups: int,
    conditions: Conditions,
    lanes: list[Lane],
    notes: list[str],
) -> Operation | None:
    from ndbplan.exporting.runbook import step_text
    from ndbplan.operations.procedure import Procedure, operation_of

    what, detail = chosen
    if what == _CHANGE:
        name, asked = f"Change {detail}", Procedure("roll-out", names=(detail,), conditions=conditions)
    elif what == _UPGRADE:
        name, asked = f"Upgrade to {detail}", Procedure("upgrade", version=detail, conditions=conditions)
    else:
        name = "Add a node group" if groups == 1 else f"Add {groups} node groups"
        asked = Procedure(groups=groups, conditions=conditions)
    try:
        operation = operation_of(now, asked)
    except UserError as error:
        notes.append(f"{name}: {_said(error)}")
        return None
    blocks = []
    for interval in operation.timeline:
        step = interval.step
        back = f"Rollback: {step.rollback}" if step.rollback else ""
        said = "\n".join(text for text in (step.meanwhile, back, step.check) if text)
        blocks.append(Block(step.name, interval.duration_s, said, step_text(now.plan, step)))
    lanes.append(Lane(name, operation.duration_s, tuple(blocks)))
    if operation.point_of_no_return:
        last = operation.step(operation.point_of_no_return)
        notes.append(f"{name}: no way back from '{last.name if last else operation.point_of_no_return}' on")
    notes += [f"{name}: {note}" for note in operation.notes]
    return operation


def _said(error: UserError) -> str:
    """Without the place, which is an address: the operation is named before it."""
    return f"{error.what} — {error.fix}" if error.fix else error.what


def _once(notes: list[str]) -> list[str]:
    """What is said of several operations, once with all their names."""
    names: dict[str, list[str]] = {}
    for name, _, text in (note.partition(": ") for note in notes):
        names.setdefault(text, []).append(name)
    return [f"{', '.join(dict.fromkeys(of))}: {text}" for text, of in names.items()]


def _why(phase: Any) -> str:
    bound = f"Bound by {phase.bound}." if phase.bound else ""
    return " ".join(filter(None, (bound, phase.shorten)))
