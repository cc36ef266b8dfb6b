"""Which assumptions decide the memory that is shown, and where to state what was measured."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from ndbplan.base.units import format_bytes_binary, format_count, format_percent
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets.sections import Elided, empty, link
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.advise.tighten import Assumption

_SHOWN = 3
_NONE = (
    "No single assumption decides more than a fifth of the memory.",
    "No assumption decides more than a fifth.",
    "Nothing to tighten.",
)


class Tighten(QWidget):
    """One line that keeps its height: what rests on assumptions, and the two or three to measure first."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._task: Task | None = None
        self._asked: Plan | None = None
        self.words = Elided("muted")
        self._links = QHBoxLayout()
        self._links.setSpacing(8)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.words, 1)
        row.addLayout(self._links)
        self.setFixedHeight(22)

    def ask(self, plan: Plan) -> None:
        """Look for the assumptions of a plan, in a thread; a plan that was asked about is not again."""
        if plan is self._asked:
            return
        self._asked = plan
        if self._task is not None:
            self._task.cancel()
        self._task = self._context.tasks.start(lambda _task: _deciding(plan), self._done)

    def _done(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        self._show(outcome.value or ())

    def _show(self, found: tuple[Assumption, ...]) -> None:
        empty(self._links)
        if not found:
            self.words.setText(*_NONE)
            self.words.setToolTip("")
            return
        first = found[0]
        self.words.setText(
            _sentence(first), f"{format_percent(first.share)} of the memory is assumed:", "Assumed:"
        )
        self.words.setToolTip("\n".join(map(_sentence, found)))
        for one in found[:_SHOWN]:
            name = one.what.removeprefix("mean length of ")
            button = link(name, partial(self._go, one.object_id), f"Tighten {one.what}")
            button.setToolTip(f"{_sentence(one)}\nClick to state what you measured.")
            self._links.addWidget(button)

    def _go(self, object_id: str) -> None:
        if object_id in self._context.plan.by_id:
            self._context.selection.set((object_id,))


def _deciding(plan: Plan) -> tuple[Assumption, ...]:
    from ndbplan.advise.tighten import assumptions, deciding
    from ndbplan.estimate.estimation import Estimation

    return deciding(assumptions(Estimation(plan)))


def _sentence(one: Assumption) -> str:
    value = f"{format_count(one.assumed)}{'' if one.what.startswith('rows') else ' bytes'}"
    low, high = format_bytes_binary(one.low_bytes), format_bytes_binary(one.high_bytes)
    return (
        f"{format_percent(one.share)} of the memory rests on the {one.what}, which is assumed ({value}): "
        f"{low} to {high} in all."
    )
