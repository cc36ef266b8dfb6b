"""The field that says how long to simulate."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QLineEdit

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_duration
from ndbplan.desktop.widgets.units import SECONDS
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

MAX_DURATION_S = 30 * 86400.0
_LEAST_PX, _MOST_PX, _AROUND_PX = 84, 200, 28


class DurationField(QLineEdit):
    """A time in words, from a second to a month."""

    def __init__(self) -> None:
        super().__init__()
        self._stated: tuple[str, float] | None = None
        self.setAccessibleName("Duration")
        self.setToolTip("How long to simulate, for example 10min or 24 h")
        self.textChanged.connect(lambda _text: self._fit())
        self._fit()

    def _fit(self) -> None:
        """Show the whole time, however it is written and however large texts are."""
        taken = self.fontMetrics().horizontalAdvance(self.text())
        self.setFixedWidth(min(_MOST_PX, max(_LEAST_PX, taken + _AROUND_PX)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def seconds(self) -> float:
        """What it says. Raises UserError for what is not a duration, or too short or long."""
        value = float(SECONDS.parse(self.text()))
        if not 1 <= value <= MAX_DURATION_S:
            raise UserError(
                f"a simulation lasts from 1 s to {format_duration(MAX_DURATION_S)}",
                fix="type for example 10min",
            )
        return value

    def follow(self, plan: Plan, workload_id: str | None) -> None:
        """Say how long a workload lasts; what somebody typed instead stays until that is another time."""
        workload = plan.by_id.get(workload_id or "")
        if not isinstance(workload, Workload):
            self._stated = None
        elif (stated := (workload.id, workload.duration_s)) != self._stated:
            self._stated = stated
            self.setText(SECONDS.show(workload.duration_s))
            self.setCursorPosition(0)

    def forget(self, plan: Plan, workload_id: str | None) -> None:
        """The same in another plan, in which nobody has typed anything."""
        self._stated = None
        self.follow(plan, workload_id)
