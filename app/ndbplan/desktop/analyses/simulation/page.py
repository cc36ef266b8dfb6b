"""Simulation: run a workload against the plan, see it over time, and replay it on the canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout

from ndbplan.base.errors import UserError
from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.analyses.simulation import parts
from ndbplan.desktop.analyses.simulation.duration_field import DurationField
from ndbplan.desktop.analyses.simulation.event_edits import EventEdits
from ndbplan.desktop.analyses.simulation.first_error import FirstError
from ndbplan.desktop.analyses.simulation.measured_overlay import MeasuredOverlay
from ndbplan.desktop.analyses.simulation.playback import Scrubber
from ndbplan.desktop.analyses.simulation.run import KeptRun, Run, simulate
from ndbplan.desktop.analyses.simulation.save_menu import SaveMenu
from ndbplan.desktop.analyses.simulation.shown_run import ShownRun
from ndbplan.desktop.analyses.simulation.summary import Summary
from ndbplan.desktop.analyses.simulation.variant_overlay import VariantOverlay
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Progress, Task
from ndbplan.desktop.document.turns import Steps
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.sections import Elided
from ndbplan.desktop.widgets.task_bar import TaskBar
from ndbplan.edits.first_steps import next_step, step
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.desktop.analyses.simulation.charts import SimulationCharts
    from ndbplan.desktop.analyses.simulation.ndbinfo_page import NdbinfoPage
    from ndbplan.simulate.result import SimulationResult

_LIVE_BELOW_S = 1.0
"""A run that took no longer is repeated by itself after an edit."""
_LIVE_PAUSE_MS = 200
_RUNS = 60
_LEAD = 0.03
"""Share of a run before what somebody wants to watch."""


class SimulationPanel(Panel):
    """Workload, duration, Simulate; charts over time; a scrubber."""

    name: ClassVar[str] = "Simulation"
    moment = Signal(object)
    """The Moment the scrubber stands at; None when there is none."""
    help_wanted = Signal()
    shown = Signal()
    """A run that is over is on show, at the moment that was asked for."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._task: Task | None = None
        self._run: Run | None = None
        self._before: SimulationResult | None = None
        self._asked = (context.plan, 0.0)
        self._streaming = False
        self.workload = parts.workload_box()
        self.duration = DurationField()
        self.start = parts.start_button()
        self.uncertain = parts.range_chip(_RUNS)
        self.uncertain.toggled.connect(self._range_toggled)
        self.cancel = QPushButton("Cancel")
        self.cancel.hide()
        self.state = Elided()
        self.state.hide()
        self.bar = TaskBar("Progress of the simulation")
        self.summary = Summary(self)
        self.summary.help_wanted.connect(self.help_wanted)
        self.scrubber = Scrubber()
        self.events = EventEdits(
            self.scrubber.events, context, lambda: round(self.scrubber.at_s), self._refuse
        )
        self._watch_from_s: float | None = None
        self._go_to_s: float | None = None
        self._only = ""
        self.tables = parts.tables_chip()
        self.tables.toggled.connect(self._tables_toggled)
        self.save_menu = SaveMenu()
        self.save_menu.saved.connect(self._say)
        self.save_menu.failed.connect(self._refuse)
        self.measured = MeasuredOverlay(context, self.save_menu, self.scrubber)
        self.variants = VariantOverlay(context, self.save_menu.variants)
        for overlay in (self.measured, self.variants):
            overlay.changed.connect(self._draw)
            overlay.failed.connect(self._refuse)
        self.charts: SimulationCharts | None = None
        self._building = Steps(self, lambda: self._made_charts().build_next())
        self.ndbinfo: NdbinfoPage | None = None
        self._empty = Empty()
        self._empty.step_wanted.connect(self.step_wanted)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._build()
        self._live = parts.once(self, _LIVE_PAUSE_MS, self.simulate)
        self.start.clicked.connect(self.simulate)
        self.cancel.clicked.connect(self.stop)
        self.workload.activated.connect(self._workload_chosen)
        self.duration.returnPressed.connect(self.simulate)
        self.scrubber.moved.connect(self._moved)
        for over in (self.stop, self._forget):
            context.document.replaced.connect(over)
        for look in (theme.theme().changed, theme.theme().scaled):
            look.connect(self._restyle)

    def _build(self) -> None:
        controls = parts.row(
            8, self.workload, self.duration, self.start, self.cancel, self.uncertain, self.bar
        )
        controls.addWidget(self.state, 100)
        controls.addStretch(1)
        controls.addWidget(self.save_menu)
        self._first_error = FirstError()
        self._first_error.wanted_at.connect(self.scrubber.go_to)
        self.foot = parts.foot(self.scrubber, self.events.button, self.tables, self._first_error)
        layout = QVBoxLayout(self)
        layout.addLayout(controls)
        self._controls, self._lines = controls, layout
        layout.addWidget(self._pages, 1)
        layout.addWidget(self.foot)

    def refresh(self) -> None:
        plan = self.context.plan
        chosen = self.workload.currentData()
        self.workload.blockSignals(True)
        self.workload.clear()
        for workload in plan.workloads:
            self.workload.addItem(workload.name, workload.id)
        index = self.workload.findData(chosen)
        self.workload.setCurrentIndex(max(0, index))
        self.workload.blockSignals(False)
        self._show_duration()
        for widget in (self.workload, self.duration, self.start, self.uncertain):
            widget.setEnabled(bool(plan.workloads and plan.data_nodes))
        parts.show(bool(plan.workloads), self.workload, self.duration, self.uncertain)
        if self._run is not None and self._run.workload_id not in plan.by_id:
            self._forget()
        self._empty.say_step(next_step(plan) or step("simulate"))
        if self._run is not None:
            self.events.show_workload(self._run.workload_id, self._run.result.duration_s)
        self._follow_edit(plan)

    def simulate(self) -> None:
        """Run the chosen workload, in a thread."""
        self._live.stop()
        plan, workload_id = self.context.plan, self.workload.currentData()
        if workload_id is None or not plan.data_nodes:
            return
        try:
            duration_s = self.duration.seconds()
        except UserError as error:
            self._refuse(error.line)
            return
        if self._task is not None:
            self._task.cancel()
        self._refuse("")
        # What stands behind the button stays where it is.
        self.cancel.setFixedWidth(self.start.width())
        self.cancel.show()
        self.start.hide()
        self._say("Starting…")
        self._empty.say("Simulating…", "The charts appear here.")
        self.bar.begin()
        runs = _RUNS if self.uncertain.isChecked() else 0
        self._asked = (plan, duration_s)
        self._task = self.context.tasks.start(
            lambda task: simulate(plan, workload_id, duration_s, runs, task),
            self._done,
            self._progressed,
            self._show_partial_result,
        )

    def watch(self, at_s: float) -> None:
        """Simulate anew, then play from shortly before this moment."""
        self._watch_from_s = at_s
        self.simulate()

    def show_moment(self, workload_id: str, at_s: float, chart: str = "") -> None:
        """Show a moment of the run of a workload; it is simulated first where that was not done.

        `chart`: the one that has all the room then; nothing: all share it.
        """
        self._only = chart
        self._catch_up()
        run = self._run
        self._choose(workload_id)
        if run is not None and run.plan is self.context.plan and run.workload_id == workload_id:
            self.scrubber.go_to(at_s)
            self._show_only()
            self.shown.emit()
        else:
            self._go_to_s = at_s
            self.simulate()

    def _choose(self, workload_id: str | None) -> None:
        index = self.workload.findData(workload_id)
        if index >= 0 and index != self.workload.currentIndex():
            self.workload.setCurrentIndex(index)
            self._show_duration()
            self.context.estimates.choose_workload(workload_id)

    def keep(self) -> KeptRun:
        """What is shown, to be given back."""
        alone = None if self.charts is None else self.charts.alone
        return KeptRun(self._run, self._before, self.workload.currentData(), self.scrubber.at_s, alone)

    def give_back(self, kept: KeptRun) -> None:
        """Show what was shown before."""
        self.stop()
        self._say("")
        self._choose(kept.workload_id)
        self._before, self._run = kept.before, kept.run
        if kept.run is None:
            self._forget()
        else:
            self._show(kept.run, keep_moment=True)
        self.scrubber.go_to(kept.at_s)
        if self.charts is not None:
            self.charts.show_only(kept.alone)

    def _play_watched(self) -> None:
        """Go where somebody wanted to look when the run began."""
        at_s, self._go_to_s = self._go_to_s, None
        if at_s is not None:
            self.scrubber.go_to(at_s)
            self._show_only()
        self.shown.emit()
        at_s, self._watch_from_s = self._watch_from_s, None
        if at_s is not None and self._run is not None:
            self.scrubber.go_to(max(0.0, at_s - _LEAD * self._run.result.duration_s))
            self.scrubber.play.setChecked(True)

    def _show_only(self) -> None:
        if self.charts is not None:
            self.charts.show_only(getattr(self.charts, self._only) if self._only else None)

    def _range_toggled(self, on: bool) -> None:
        run = self._run
        if on and run is not None and run.bands is None:
            self.simulate()
        elif run is not None:
            self._show(run, keep_moment=True)

    def stop(self) -> None:
        """Cancel the run."""
        self._live.stop()
        self._watch_from_s = self._go_to_s = None
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._back_to_last()
        self._idle("Cancelled")

    def _back_to_last(self) -> None:
        """A run that did not come to its end leaves the charts to the one before."""
        if not self._streaming:
            return
        self._streaming = False
        if self._run is None:
            self._pages.setCurrentIndex(0)
        else:
            self._show(self._run, keep_moment=True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._first_error.fit(self.width())
        self.events.fit(self.width())
        parts.place_summary(self, self.summary, self.workload, self._controls, self.state, self._lines)
        parts.give_room(self._lines, self.height())

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.scrubber.stop()

    @property
    def result(self) -> SimulationResult | None:
        """The result on show."""
        return self._run.result if self._run is not None else None

    def _workload_chosen(self) -> None:
        self._show_duration()
        self.context.estimates.choose_workload(self.workload.currentData())
        if self._run is not None:
            self.simulate()

    def _show_duration(self) -> None:
        self.duration.follow(self.context.plan, self.workload.currentData())

    def _follow_edit(self, plan: Plan) -> None:
        run = self._run
        if run is None:
            return
        has_changed = run.plan is not plan
        self._say(*(("The plan has changed since.", "Changed since.") if has_changed else ("",)))
        if has_changed and run.elapsed_s <= _LIVE_BELOW_S and self._task is None:
            self._live.start()

    def _progressed(self, progress: Progress) -> None:
        if self._task is None:
            return
        self._say(progress.text)
        if progress.text.startswith("Preparing"):
            self._empty.say(*parts.PREPARING)
        elif self.charts is None:
            self._building.go()
        self.bar.follow(progress.fraction)

    def _show_partial_result(self, result: SimulationResult) -> None:
        """Draw what a run that is not over has found; the charts are as wide as the whole run."""
        if self._task is None:
            return
        plan, duration_s = self._asked
        before = self._run.result if self._run is not None else None
        self._open_charts().show_run(ShownRun(result, plan, length_s=duration_s, before=before))
        self._streaming = True

    def _done(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        if not outcome.error and not self._made_charts().are_built:
            # One in each turn, as while it ran.
            task = self._task
            self._building.go(lambda: self._done(outcome) if self._task is task else None)
            return
        self._streaming, self._task = False, None
        self._idle("")
        if outcome.error:
            self._back_to_last()
            self._refuse(outcome.error)
            return
        first = self._run is None or self._run.workload_id != outcome.value.workload_id
        if first:
            self._before = None
        elif self._run is not None and self._run.plan is not outcome.value.plan:
            self._before = self._run.result
        self._run = outcome.value
        self._show(outcome.value, keep_moment=not first)
        self._play_watched()
        if outcome.value.plan is not self.context.plan:
            self._follow_edit(self.context.plan)

    def _idle(self, text: str) -> None:
        self.cancel.hide()
        self.bar.hide()
        self.start.show()
        self._say(text)
        self._empty.say_step(next_step(self.context.plan) or step("simulate"))

    def _say(self, text: str, *shorter: str) -> None:
        """What the run is doing; nothing takes no room."""
        self.state.setText(text, *shorter)
        self.state.setVisible(bool(text))

    def _refuse(self, line: str, *shorter: str, look: str = "fieldError") -> None:
        self._say(line, *shorter)
        if line and look == "fieldError":
            # The line beside the button has no room for it.
            self._empty.say("It cannot be simulated", line)
        self.state.setProperty("look", look if line else "muted")
        theme.restyle(self.state)

    def _forget(self) -> None:
        self._run = None
        self.duration.forget(self.context.plan, self.workload.currentData())
        self._pages.setCurrentIndex(0)
        self.foot.hide()
        self.save_menu.offer(None)
        self.summary.hide()
        self._say("")
        self.moment.emit(None)

    def _made_charts(self) -> SimulationCharts:
        if self.charts is None:
            from ndbplan.desktop.analyses.simulation.charts import SimulationCharts

            self.charts = SimulationCharts(self.context)
            self.charts.clicked_at.connect(self.scrubber.go_to)
            self.charts.event_moved.connect(self.events.drag)
            self.charts.dropped.connect(self.measured.take)
            self._pages.addWidget(self.charts)
        return self.charts

    def _open_charts(self) -> SimulationCharts:
        charts = self._made_charts()
        if not self.tables.isChecked() or self.ndbinfo is None:
            self._pages.setCurrentWidget(charts)
        return charts

    def _tables_toggled(self, on: bool) -> None:
        """The tables of ndbinfo at the scrubber's moment in place of the charts, or the charts again."""
        if self._run is None:
            return
        if on and self.ndbinfo is None:
            from ndbplan.desktop.analyses.simulation.ndbinfo_page import NdbinfoPage

            self.ndbinfo = NdbinfoPage()
            self._pages.addWidget(self.ndbinfo)
        page = self.ndbinfo if on else self.charts
        if page is not None:
            self._pages.setCurrentWidget(page)
        self._moved(self.scrubber.at_s)

    def _show(self, run: Run, *, keep_moment: bool) -> None:
        result = run.result
        self._open_charts()
        self._draw()
        self.summary.show_run(run, self.uncertain.isChecked())
        self.foot.show()
        self.save_menu.offer(result, self.charts)
        marks = [(error.first_at_s.value, "error") for error in result.errors]
        if result.cluster_stop is not None:
            marks.append((result.cluster_stop.at_s.value, "error"))
        error = result.first_error
        self._first_error.show_result(result, self._before)
        self.events.show_workload(run.workload_id, result.duration_s)
        begin_s = error.first_at_s.value if error is not None else 0.0
        self.scrubber.set_length(result.duration_s, marks, None if keep_moment else begin_s)

    def _moved(self, at_s: float) -> None:
        if self._run is None or self.charts is None:
            return
        self.charts.show_position(at_s)
        if self.ndbinfo is not None and self.tables.isChecked():
            self.ndbinfo.show_moment(self._run.result, self._run.plan, at_s)
        from ndbplan.simulate.moment import moment_of

        self.moment.emit(moment_of(self._run.result, at_s))

    def _restyle(self) -> None:
        self.save_menu.restyle()
        if self.charts is not None and self._run is not None:
            self.charts.restyle()
            self._draw()

    def _draw(self) -> None:
        """The run with what was measured, what most of many runs do, and the run before it."""
        run = self._run
        if run is None:
            return
        held, beside = self.measured.held(run.result, run.plan), self.variants.beside(run)
        bands = run.bands if self.uncertain.isChecked() else None
        shown = ShownRun(run.result, run.plan, bands, before=self._before, held=held, beside=beside)
        self._made_charts().show_run(shown)
        self._refuse(*self.measured.in_words(held), look="muted")
