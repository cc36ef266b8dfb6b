"""Problems: everything the rules find, by severity; a click goes there, Fix mends."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
)

from ndbplan.desktop.analyses.panel import Panel
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.estimates import Estimate
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets.fade import Fade
from ndbplan.desktop.widgets.flow_layout import FlowLayout
from ndbplan.desktop.widgets.problem_list import ProblemList, WaiverRow
from ndbplan.desktop.widgets.sections import Elided, chip, empty, label
from ndbplan.ndb.evidence import unheld
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.checks.fix import Fixed
    from ndbplan.checks.problem import Problem

_KINDS = (
    ("", "All"), ("error", "Errors"), ("warning", "Warnings"), ("hint", "Hints"), ("waived", "Accepted"),
)  # fmt: skip
_MOST = 100
_MOST_TOLD = 12


def fixed_in_thread(plan: Plan, task: Task) -> Fixed:
    """The plan after every fix; runs in a thread."""
    from ndbplan.checks.fix import fix_all

    return fix_all(plan, cancelled=task.cancelled)


class ProblemsPanel(Panel):
    """The whole list, with a filter."""

    name: ClassVar[str] = "Problems"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._problems: tuple[Problem, ...] = ()
        self.list = ProblemList(context, most=_MOST)
        self._buttons: dict[str, QToolButton] = {}
        bar, kinds = QHBoxLayout(), FlowLayout(spacing=4)
        bar.setSpacing(8)
        bar.addLayout(kinds, 1)
        group = QButtonGroup(self)
        for kind, name in _KINDS:
            button = chip(name, on=not kind)
            button.clicked.connect(lambda _on=False: self._show())
            group.addButton(button)
            kinds.addWidget(button)
            self._buttons[kind] = button
        self._error = Elided("fieldError")
        bar.addWidget(self._error)
        self.fix_all = QPushButton("Fix all")
        self.fix_all.setAccessibleName("Fix all that costs nothing")
        self.fix_all.clicked.connect(self.apply_all)
        bar.addWidget(self.fix_all, 0, Qt.AlignmentFlag.AlignTop)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        Fade(scroll)
        holder = QFrame()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 8, 0)
        column.addWidget(self.list)
        self._waivers = QVBoxLayout()
        column.addLayout(self._waivers)
        self.unheld = label("", "muted")
        """What the rules of the version rest on, where its own servers were never asked."""
        column.addWidget(self.unheld)
        column.addStretch(1)
        scroll.setWidget(holder)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 10, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(bar)
        layout.addWidget(scroll, 1)

    def show_estimate(self, estimate: Estimate) -> None:
        self._problems = estimate.problems
        self._error.setText(estimate.error)
        about = unheld(estimate.plan.version)
        self.unheld.setText(f"The {about}." if about else "")
        self.unheld.setVisible(bool(about))
        counts = Counter(str(problem.severity) for problem in self._problems)
        for kind, name in _KINDS:
            count = counts[kind] if kind else len(self._problems)
            if kind == "waived":
                count = len(estimate.plan.waivers)
            self._buttons[kind].setText(f"{name}  {count}")
        free = sum(problem.free_way is not None for problem in self._problems)
        self.fix_all.setVisible(free > 0)
        # What has to be bought or answered first somebody chooses, problem by problem.
        whole = free == len(self._problems)
        self.fix_all.setText("Fix all" if whole else f"Fix {free} of {len(self._problems)}")
        self._tell_what_is_fixed()
        self._show()

    def apply_all(self) -> None:
        """Apply every fix as one undoable edit, and those that only come once others are done."""
        plan = self.context.plan
        if self.fix_all.hasFocus():
            # A button that rests gives the focus to whatever comes next, be it a field for the plan's name.
            self._buttons[""].setFocus()
        self.fix_all.setEnabled(False)
        self.context.tasks.start(
            lambda task: fixed_in_thread(plan, task), lambda outcome: self._fixed(plan, outcome)
        )

    def _fixed(self, plan: Plan, outcome: Outcome) -> None:
        self.fix_all.setEnabled(True)
        if outcome.cancelled or plan is not self.context.plan:
            return
        if outcome.error:
            self._error.setText(outcome.error)
            return
        fixed: Fixed = outcome.value
        count = len(fixed.problems)
        title = f"Fix {count} problem{'' if count == 1 else 's'}"
        self.context.document.edit(title, lambda _plan: fixed.plan)

    def _tell_what_is_fixed(self) -> None:
        fixes = [
            problem.solutions[0].title if problem.solutions else problem.fix or problem.rule
            for problem in self._problems
            if problem.free_way is not None
        ]
        shown = [f"• {text}" for text in dict.fromkeys(fixes)]
        if len(shown) > _MOST_TOLD:
            shown = [*shown[:_MOST_TOLD], f"• and {len(shown) - _MOST_TOLD} more"]
        self.fix_all.setToolTip(
            "\n".join(["Apply every fix that costs nothing, as one undoable step:", *shown])
        )

    def _show(self) -> None:
        kind = next((k for k, button in self._buttons.items() if button.isChecked()), "")
        self.list.setVisible(kind != "waived")
        empty(self._waivers)
        if kind == "waived":
            waivers = self.context.plan.waivers
            for waiver in waivers:
                self._waivers.addWidget(WaiverRow(self.context, waiver))
            if not waivers:
                hint = "None. Right-click a problem to accept it with a reason."
                self._waivers.addWidget(label(hint, "muted"))
            return
        listed = [problem for problem in self._problems if kind in ("", str(problem.severity))]
        self.list.show_problems(listed, "No problem found." if not kind else "None of this kind.")
