"""Why is it at 95 %: what fills a disk or a memory, as bars of numbers that explain themselves."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from ndbplan.base.units import format_memory, format_value
from ndbplan.describe.breakdown import Breakdown, breakdowns
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.estimates import Estimate
from ndbplan.desktop.widgets.explain import explain
from ndbplan.desktop.widgets.sections import Callout, QuantityRow, Section, empty, link


class Why(QWidget):
    """The breakdowns of the one object that is selected."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__()
        self._context, self._ids = context, tuple(ids)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(10)
        self.hide()

    def show_estimate(self, estimate: Estimate) -> None:
        """Show what the engine says about the object."""
        shown = []
        if estimate.now is not None and len(self._ids) == 1:
            shown = breakdowns(estimate.now, self._ids[0])
        empty(self._column)
        for breakdown in shown:
            self._column.addWidget(_section(breakdown))
        self.setVisible(bool(shown))


def _section(breakdown: Breakdown) -> Section:
    section = Section(breakdown.heading)
    say = format_memory if breakdown.is_binary else format_value
    total = breakdown.total
    if total is not None:
        opener = link(
            "explain",
            lambda: explain(total, breakdown.about, near=opener, say=say),
            f"Explain {breakdown.about}",
        )
        section.add_action(opener)
    for row in breakdown.rows:
        section.body.addWidget(QuantityRow(row.name, row.quantity, row.fraction, row.colour, row.detail, say))
    for callout in breakdown.callouts:
        section.body.addWidget(Callout(callout.heading, callout.text, callout.look))
    return section
