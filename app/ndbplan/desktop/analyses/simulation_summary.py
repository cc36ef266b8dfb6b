"""One line about a simulation: what was accepted, and what limits it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from ndbplan.base.units import format_count, format_percent
from ndbplan.desktop.explain import QuantityLabel
from ndbplan.desktop.parts import Elided, label

if TYPE_CHECKING:
    from ndbplan.simulate.monte_carlo import Bands
    from ndbplan.simulate.result import SimulationResult


class Summary(QWidget):
    """One line: what was accepted, and what limits it."""

    def __init__(self) -> None:
        super().__init__()
        self._accepted = QuantityLabel("Accepted transactions per second")
        self._text = label("", "muted", wrap=False)
        self._limit = Elided()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(label("accepted", "muted", wrap=False))
        row.addWidget(self._accepted)
        row.addWidget(self._text)
        row.addWidget(self._limit, 1)
        self.hide()

    def show_result(self, result: SimulationResult, bands: Bands | None) -> None:
        """Show the totals of a run; with bands their range over many runs."""
        accepted = bands.accepted_per_s if bands is not None else result.accepted_per_s
        self._accepted.show_quantity(accepted)
        shown = format_count(round(accepted.value))
        if bands is not None:
            shown = f"{format_count(round(accepted.low))} … {format_count(round(accepted.high))}"
        self._accepted.setText(f"{shown}/s")
        self._text.setText(f"of {format_count(round(result.offered_per_s))}/s")
        bottleneck = result.bottleneck
        verb = "limited by" if bottleneck.used >= 1 else "next limit"
        text = f"· {verb} {bottleneck.resource} {bottleneck.where}"
        if bands is not None and bands.errors:
            odds = bands.errors[0]
            text += f" · {odds.code} in {format_percent(odds.probability)} of runs"
        self._limit.setText(text)
        self.show()
