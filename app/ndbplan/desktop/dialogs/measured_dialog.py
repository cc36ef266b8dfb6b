"""I measured …: how long something took on the real cluster, from which the plan learns."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QComboBox, QFormLayout, QLineEdit, QWidget

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_duration
from ndbplan.desktop.dialogs.frame import Dialog
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome
from ndbplan.desktop.widgets.explain import range_text
from ndbplan.desktop.widgets.sections import label, spin_box
from ndbplan.desktop.widgets.units import SECONDS
from ndbplan.plan.plan import Plan

_PAUSE_MS = 300
RESTART, INITIAL, REORGANISED, BACKUP = "node", "initial", "reorganise", "backup"
_KINDS = (
    (RESTART, "Restart of a data node"),
    (INITIAL, "Restart of a data node with --initial"),
    (REORGANISED, "Adding node groups: reorganising all tables"),
    (BACKUP, "Backup"),
)
_MOST_SHOWN = 6


class _Asked(NamedTuple):
    """What was timed."""

    kind: str
    seconds: float | None
    node_id: int | None
    groups: int
    source: str


class _Learned(NamedTuple):
    """What the plan says of it, before and (with a time) after."""

    before: str
    after: str = ""
    plan: Plan | None = None
    lines: tuple[str, ...] = ()
    """What it changes."""


class MeasuredDialog(Dialog):
    """One time at a time; shows what it changes before it is taken."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("I measured…", "Use it", parent)
        self._document = document
        self._learned: _Learned | None = None
        self.resize(560, 400)
        self.what = QComboBox()
        self.what.setAccessibleName("What took so long")
        for kind, text in _KINDS:
            self.what.addItem(text, kind)
        self.node = QComboBox()
        self.node.setAccessibleName("Data node")
        for node in document.plan.data_nodes:
            self.node.addItem(f"{node.node_id} on {document.plan.host(node.host_id).hostname}", node.node_id)
        self.groups = spin_box()
        self.groups.setRange(1, 71)
        self.groups.setAccessibleName("Node groups that were added")
        self.time = QLineEdit()
        self.time.setAccessibleName("How long it took")
        self.time.setPlaceholderText(SECONDS.example)
        self.source = QLineEdit()
        self.source.setAccessibleName("Where and when")
        self.source.setPlaceholderText("timed by hand")
        self._form = QFormLayout()
        self._form.addRow("What", self.what)
        self._form.addRow("Data node", self.node)
        self._form.addRow("Node groups", self.groups)
        self._form.addRow("It took", self.time)
        self._form.addRow("Where, when", self.source)
        self.before = label("", "muted")
        self.after = label("", "problemText")
        self.body.addWidget(
            label("The plan's estimates are fitted to your machines by what you time on them.", "muted")
        )
        self.body.addLayout(self._form)
        self.body.addWidget(self.before)
        self.body.addWidget(self.after)
        self.body.addStretch(1)
        self.add_foot(self.put_in)
        self.take.setEnabled(False)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        self.what.currentIndexChanged.connect(self._chosen)
        self.node.currentIndexChanged.connect(lambda _i: self._ask())
        self.groups.valueChanged.connect(lambda _n: self._ask())
        for line in (self.time, self.source):
            line.textChanged.connect(self._forget)
            line.textChanged.connect(self._pause.start)
        self._chosen()

    def _chosen(self) -> None:
        kind = self.what.currentData()
        self._form.setRowVisible(self.node, kind in (RESTART, INITIAL))
        self._form.setRowVisible(self.groups, kind == REORGANISED)
        self._ask()

    def _forget(self) -> None:
        """What an earlier time said is of no other one."""
        self.stop_task()
        self._learned = None
        self.after.setText("")
        self.take.setEnabled(False)

    def _ask(self) -> None:
        self._forget()
        text = self.time.text().strip()
        try:
            seconds = SECONDS.parse(text) if text else None
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self.state.say("")
        kind = self.what.currentData()
        node_id = self.node.currentData() if kind in (RESTART, INITIAL) else None
        source = self.source.text().strip() or self.source.placeholderText()
        asked = _Asked(kind, seconds, node_id, self.groups.value(), source)
        plan = self._document.plan
        self.task = self.tasks.start(lambda _task: _learn(plan, asked), self._show)

    def _show(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self.task = None
        if outcome.error:
            self.state.say(outcome.error, is_error=True)
            self.make_room()
            return
        learned: _Learned = outcome.value
        self._learned = learned
        self.before.setText(f"The plan says {learned.before}.")
        said = [f"With your time it says {learned.after}:", *learned.lines]
        self.after.setText("\n".join(said) if learned.plan is not None else "")
        self.take.setEnabled(learned.plan is not None)
        self.make_room()

    def put_in(self) -> None:
        """Take the constants over as one undoable step."""
        if self._learned is None or self._learned.plan is None:
            return
        calibrations = self._learned.plan.calibrations
        try:
            self._document.edit(
                f"Measured: {self.what.currentText().lower()}",
                lambda plan: plan.replace(calibrations=calibrations),
            )
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self.accept()


def _learn(plan: Plan, asked: _Asked) -> _Learned:
    from ndbplan.importing.calibrate import changes_of, timed_backup, timed_reorganise, timed_restart

    before = _duration(plan, asked)
    if asked.seconds is None:
        return _Learned(before)
    if asked.kind == REORGANISED:
        after = timed_reorganise(plan, asked.seconds, asked.groups, asked.source)
    elif asked.kind == BACKUP:
        after = timed_backup(plan, asked.seconds, asked.source)
    elif asked.kind == INITIAL:
        after = timed_restart(plan, "initial", asked.seconds, asked.node_id, source=asked.source)
    else:
        after = timed_restart(plan, "node", asked.seconds, asked.node_id, source=asked.source)
    moved = [f"{one.what}: {one.before} → {one.after}" for one in changes_of(plan, after)]
    if len(moved) > _MOST_SHOWN:
        moved[_MOST_SHOWN:] = [f"and {len(moved) - _MOST_SHOWN} more"]
    return _Learned(before, _duration(after, asked), after, tuple(moved))


def _duration(plan: Plan, asked: _Asked) -> str:
    """How long the plan takes it to last, with its range."""
    from ndbplan.estimate.estimation import Estimation

    now = Estimation(plan)
    if asked.kind == REORGANISED:
        time = now.reorganise(asked.groups).duration_s
    elif asked.kind == BACKUP:
        time = now.backup().duration_s
    else:
        time = now.restart("initial" if asked.kind == INITIAL else "node", asked.node_id).duration_s
    return (
        f"{format_duration(time.value)} ({range_text(time)})"
        if time.low != time.high
        else format_duration(time.value)
    )
