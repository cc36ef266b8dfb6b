"""What would help: changes of the plan that raise the load it can take, each with one-click Try."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_count, format_duration, format_percent
from ndbplan.describe.measured_runs import near_runs
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.estimates import Estimate
from ndbplan.desktop.inspector.remedies import Answer, RemedySearch, is_ready
from ndbplan.desktop.widgets.explain import QuantityLabel
from ndbplan.desktop.widgets.fields import LineField
from ndbplan.desktop.widgets.preview_card import preview_on
from ndbplan.desktop.widgets.sections import QuantityRow, Section, empty, label, link
from ndbplan.desktop.widgets.units import SECONDS
from ndbplan.edits.variants import shortened
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.processes import DataNode
from ndbplan.plan.workloads import Workload

if TYPE_CHECKING:
    from ndbplan.advise.max_load import MaxLoad
    from ndbplan.advise.remedies import Remedy
    from ndbplan.base.quantity import Quantity

_OVERLOADED = 0.95
_BY_ITSELF_UP_TO_NODES = 16
"""Larger plans are searched only when somebody asks: it takes many simulations."""
_PAUSE_MS = 600
_NO_LIMIT_PER_S = 1e9
"""The search stops here: nothing that is modelled limits the workload."""


class Advice(QWidget):
    """Shows what the search found; starts it by itself where a disk is overloaded."""

    def __init__(self, context: Context, ids: Sequence[str], search: RemedySearch) -> None:
        super().__init__()
        self._context, self._ids, self._search = context, tuple(ids), search
        self._shown: object = None
        self._bar: QProgressBar | None = None
        self._section = Section("What would help")
        self._action = link("Search", self.search, "Search for what would help")
        self._section.add_action(self._action)
        self._duration = LineField(
            "Sustained for",
            SECONDS,
            self._choose_duration,
            empty="as long as the workload",
            tip="How long the highest load must hold while rows grow, for example 1 min, 1 h, 24 h",
        )
        self._section.body.addWidget(self._duration)
        self._column = QVBoxLayout()
        self._column.setSpacing(6)
        self._section.body.addLayout(self._column)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._section)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._search_by_itself)
        search.changed.connect(self._render)
        self._render()
        if not self._applies():
            self.hide()

    def show_estimate(self, estimate: Estimate) -> None:
        """Follow the plan; look for help when a disk cannot take its load."""
        self.setVisible(self._applies())
        self._render()
        now = estimate.now
        if now is None or not self._applies() or self._search.answer(self._workload_id) is not None:
            return
        busiest = now.disks.busiest
        few = len(estimate.plan.data_nodes) <= _BY_ITSELF_UP_TO_NODES
        # A rule that names the workload says what cannot carry it: disks, logs, SQL nodes.
        told = any(self._workload_id in p.object_ids for p in estimate.problems if not p.waived)
        if few and (told or (busiest is not None and busiest.utilisation.value >= _OVERLOADED)):
            self._pause.start()

    def begin(self) -> None:
        """Search, unless what helps is known or looked for already."""
        workload_id = self._workload_id
        if self._search.answer(workload_id) is None and not self._search.is_searching(workload_id):
            self.search()

    def search(self) -> None:
        """Look for remedies, in a thread; while it runs: stop."""
        self._pause.stop()
        if self._search.is_searching(self._workload_id):
            self._search.cancel()
        else:
            self._search.search(self._workload_id)

    def _choose_duration(self, duration_s: float | None) -> None:
        self._search.choose_duration(self._workload_id, duration_s)

    @property
    def _is_job(self) -> bool:
        part = self._context.plan.by_id.get(self._workload_id or "")
        return isinstance(part, Workload) and part.load.kind == "job"

    @property
    def _workload_id(self) -> str | None:
        part = self._context.plan.by_id.get(self._ids[0]) if len(self._ids) == 1 else None
        return part.id if isinstance(part, Workload) else self._context.estimates.workload_id

    def _applies(self) -> bool:
        plan = self._context.plan
        kinds = (Disk, Host, DataNode, Workload)
        return bool(plan.workloads and plan.data_nodes) and (
            not self._ids or (len(self._ids) == 1 and isinstance(plan.by_id.get(self._ids[0]), kinds))
        )

    def _search_by_itself(self) -> None:
        fresh = self._search.answer(self._workload_id) is None
        if fresh and self._applies() and self.isVisible() and is_ready():
            self._search.search(self._workload_id)

    def _render(self) -> None:
        # A job is done when its rows are in.
        self._duration.setVisible(not self._is_job)
        if not self._duration.is_edited:
            self._duration.show_value(self._search.duration_s(self._workload_id))
        answer = self._search.answer(self._workload_id)
        if self._search.is_searching(self._workload_id):
            if self._shown != "searching":
                self._show_search()
            self._show_progress()
        elif answer is None:
            if self._shown != "idle":
                self._show_text("Finds changes that let the cluster take more of the workload.", "muted")
                self._shown = "idle"
        elif self._shown is not answer:
            self._show_answer(answer)
        self._action.setText("Cancel" if self._shown == "searching" else "Search")
        self._action.setVisible(answer is None)

    def _show_text(self, text: str, look: str) -> None:
        empty(self._column)
        self._column.addWidget(label(text, look))

    def _show_search(self) -> None:
        empty(self._column)
        self._what = label("", "muted")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Searching for what would help")
        self._column.addWidget(self._what)
        self._column.addWidget(self._bar)
        self._shown = "searching"

    def _show_progress(self) -> None:
        progress = self._search.progress
        self._what.setText(progress.text)
        if self._bar is not None:
            self._bar.setRange(0, 0 if progress.fraction is None else 1000)
            if progress.fraction is not None:
                self._bar.setValue(round(progress.fraction * 1000))

    def _show_answer(self, answer: Answer) -> None:
        self._shown = answer
        if answer.error:
            self._show_text(answer.error, "fieldError")
            return
        empty(self._column)
        if answer.highest is not None:
            self._show_highest(answer.highest)
        if not answer.remedies:
            text = "None of the changes tried raises what the cluster takes."
            if answer.missing:
                text += f" What limits it is only assumed: measure and enter {answer.missing}."
            self._column.addWidget(label(text, "muted"))
        for remedy in answer.remedies:
            self._column.addWidget(RemedyCard(self._context, remedy))

    def _show_highest(self, highest: MaxLoad) -> None:
        """The highest load, for how long, and what ends it; of a job the time it takes."""
        if highest.is_job:
            name = "The rows are in after"
            row = QuantityRow(name, highest.takes_s)
        else:
            name = f"Sustained for {format_duration(highest.duration_s)}, nothing refused"
            row = QuantityRow(name, highest.max_per_s)
            row.number.setText(_rate_text(highest.max_per_s))
        row.number.near_runs = near_runs(self._context.document.plan, "load")
        self._column.addWidget(row)
        offered = highest.offered_per_s
        if not highest.is_job and offered > 0 and 0 < highest.max_per_s.value < _NO_LIMIT_PER_S:
            share, times = offered / highest.max_per_s.value, highest.max_per_s.value / offered
            room = (
                "too much"
                if share > 1
                else f"it could grow {times:.3g} times"
                if times >= 1.1
                else "no headroom"
            )
            asked = f"The load asks for {format_count(round(offered))} tx/s, {format_percent(share)} of that"
            self._column.addWidget(label(f"{asked}: {room}", "muted"))
        verb = "Limited by" if highest.is_job or highest.error_code is None else "A higher one ends with"
        if not highest.is_job and highest.limited_by.resource == "none":
            verb = "Looked further:"
        self._column.addWidget(label(f"{verb} {highest.end_text}", "muted"))
        if highest.note is not None:
            self._column.addWidget(label(highest.note, "muted"))


class RemedyCard(QFrame):
    """One change: what it does to the highest load, and Try."""

    def __init__(self, context: Context, remedy: Remedy) -> None:
        super().__init__()
        self._context, self._remedy = context, remedy
        self.setProperty("look", "card")
        text = QVBoxLayout()
        text.setSpacing(2)
        text.addWidget(label(remedy.title, "cardTitle"))
        numbers = QHBoxLayout()
        numbers.setSpacing(4)
        numbers.addWidget(_number("Before", remedy.before))
        numbers.addWidget(label("→", "gain", wrap=False))
        numbers.addWidget(_number("After", remedy.after))
        numbers.addStretch(1)
        text.addLayout(numbers)
        then = remedy.limited_by
        if then.resource != "none":
            text.addWidget(label(f"Then limited by {then.text}", "muted"))
        self._error = label("", "fieldError")
        self._error.hide()
        text.addWidget(self._error)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.addLayout(text, 1)
        try_link = link("Try", self.apply, f"Try: {remedy.title}")
        try_link.setToolTip("Apply it to the plan; undo takes it back")
        row.addWidget(try_link, 0, Qt.AlignmentFlag.AlignVCenter)
        variant_link = link("As a variant", self.apply_as_variant, f"As a variant: {remedy.title}")
        variant_link.setToolTip("Make it in a new variant, beside the plan as it is")
        row.addWidget(variant_link, 0, Qt.AlignmentFlag.AlignVCenter)
        for offered in (try_link, variant_link):
            preview_on(offered, context.estimates.previews, remedy.title, remedy.edit)

    def apply(self) -> None:
        """Do the change as one undoable edit."""
        self._try(partial(self._context.document.edit, self._remedy.title, self._remedy.edit))

    def apply_as_variant(self) -> None:
        """Do the change in a new variant that is called like it, and show that."""
        name = shortened(self._remedy.title)
        self._try(partial(self._context.document.edit_as_variant, name, self._remedy.edit))

    def _try(self, do: Callable[[], object]) -> None:
        try:
            do()
        except UserError as error:
            self._error.setText(error.line)
            self._error.show()


def _number(title: str, quantity: Quantity) -> QuantityLabel:
    shown = QuantityLabel(title, quantity)
    shown.setProperty("look", "gain")
    shown.setText(_rate_text(quantity))
    return shown


def _rate_text(quantity: Quantity) -> str:
    if quantity.value >= _NO_LIMIT_PER_S:
        return "no limit found"
    return f"{format_count(round(quantity.value))} tx/s"
