"""The way of a first plan: hosts, tables, load, simulate, export; there until it is done or sent away."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton

from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.look import theme
from ndbplan.edits.first_steps import STEPS, is_done, said_lacking
from ndbplan.plan.plan import Plan

_MARGIN = 12
_SAYINGS: tuple[Callable[[int, str], str], ...] = (
    lambda number, text: f"{number}  {text}",
    lambda _number, text: text,
    lambda number, _text: str(number),
)
"""What buttons say, the longest first; their tips say all of it."""
_OF_A_PLAN = ("hosts", "tables", "load")
"""Steps that leave something in the plan."""


class FirstSteps(QFrame):
    """A row of steps at the foot of the canvas; a click does one. It moves nothing."""

    wanted = Signal(str)
    """Key of a step."""
    over = Signal()
    """All is done, or the row was sent away: it does not come back."""

    def __init__(self, view: Stage) -> None:
        super().__init__(view)
        self._view = view
        self._seen: set[str] = set()
        """Steps that change no plan and were done all the same."""
        self._shown: tuple[object, ...] = ()
        """What the buttons say."""
        self._is_over = False
        self._is_on_the_way = bool(_missing(view.document.plan))
        """Somebody makes the plan here: a sample, or a file that is whole, needs no way."""
        self.setObjectName("firstSteps")
        self.setAccessibleName("First steps")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(8, 5, 5, 5)
        row.setSpacing(4)
        self.buttons: dict[str, QPushButton] = {}
        for number, step in enumerate(STEPS, start=1):
            button = QPushButton()
            button.setProperty("look", "chip")
            button.setAccessibleName(f"Step {number}: {step.text}")
            button.clicked.connect(lambda _on=False, key=step.key: self.wanted.emit(key))
            self.buttons[step.key] = button
            row.addWidget(button)
        self.close_button = QToolButton()
        self.close_button.setProperty("kind", "quiet")
        self.close_button.setAccessibleName("Send the first steps away")
        self.close_button.setToolTip("Send the first steps away for good; the guide tells of them (F1)")
        self.close_button.clicked.connect(self.end)
        row.addWidget(self.close_button)
        view.installEventFilter(self)
        view.document.changed.connect(self._changed)
        view.document.replaced.connect(self._start_over)
        theme.theme().changed.connect(self.refresh)
        self.refresh()

    def _changed(self, before: Plan, after: Plan) -> None:
        # A plan that becomes whole at once was opened.
        made_here = self._is_on_the_way and _missing(before) <= 1
        self._is_on_the_way = bool(_missing(after)) or made_here
        self.refresh()

    def _start_over(self) -> None:
        self._seen.clear()
        self.refresh()

    def done(self, key: str) -> None:
        """A step that changes no plan is done."""
        if key not in self._seen:
            self._seen.add(key)
            self.refresh()

    def end(self) -> None:
        """It is done, or not wanted: away with it."""
        if not self._is_over:
            self._is_over = True
            self._view.keep_foot_free(0)
            self.hide()
            self.over.emit()

    def refresh(self) -> None:
        """Tick what is done; show what comes next."""
        if self._is_over:
            return
        plan = self._view.document.plan
        done = {step.key for step in STEPS if step.key in self._seen or is_done(plan, step.key)}
        lacks = said_lacking(plan)
        if lacks:
            done.discard("hosts")
        if len(done) == len(STEPS):
            self.end()
            return
        following = next(step.key for step in STEPS if step.key not in done)
        says = (done, following, lacks, theme.tokens())
        if says != self._shown:
            self._shown = says
            self._dress(done, following, f"Still missing: {lacks}" if plan.data_nodes else "")
        self.setVisible(self._is_on_the_way)
        self._place()

    def _dress(self, done: set[str], following: str, lacks: str) -> None:
        t = theme.tokens()
        for step in STEPS:
            button = self.buttons[step.key]
            # A sign in any case, so that a step that is done moves nothing beside it.
            sign, ink = ("circle-check", t.good) if step.key in done else ("circle-dot", t.muted)
            ink = t.on_accent if step.key == following else ink
            button.setIcon(theme.icon(sign, ink, 14))
            button.setProperty("next", step.key == following)
            missing = lacks if lacks and step.key == "hosts" else f"{step.missing}. {step.hint}"
            button.setToolTip(missing if step.key not in done else f"{step.text}: done")
            theme.restyle(button)
        self.close_button.setIcon(theme.icon("x"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._view and event.type() == QEvent.Type.Resize:
            self._place()
        return False

    def _place(self) -> None:
        """Lie inside of the canvas, with fewer words where it is narrow."""
        room = self._view.width() - 2 * _MARGIN
        for say in _SAYINGS:
            for number, step in enumerate(STEPS, start=1):
                self.buttons[step.key].setText(say(number, step.text))
            self._row.activate()
            if self.minimumSizeHint().width() <= room:
                break
        self.adjustSize()
        self._row.setGeometry(self.rect())
        self.move(_MARGIN, self._view.height() - self.height() - _MARGIN)
        self._view.keep_foot_free(self.height() + _MARGIN if self._is_on_the_way else 0)


def _missing(plan: Plan) -> int:
    """How much a plan lacks for a simulation."""
    return sum(not is_done(plan, key) for key in _OF_A_PLAN)
