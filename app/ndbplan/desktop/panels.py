"""The inspector and the analyses in their frames, built after the window is on the screen.

They bring charts and estimates with them; loading those must not keep anybody from seeing the canvas.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget

from ndbplan.base.units import format_clock
from ndbplan.describe.estimated import carried_at, loads_at
from ndbplan.describe.overlay import NO_LOADS
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ndbplan.configuration.failing_parts import Part
    from ndbplan.desktop.analyses import AnalysisArea
    from ndbplan.desktop.colours import Colours
    from ndbplan.desktop.document.estimates import Estimate, Estimates
    from ndbplan.desktop.inspector import Inspector
    from ndbplan.plan.plan import Plan
    from ndbplan.simulate.moment import Moment


class SidePanels(QObject):
    """Holds the frames from the start; what is in them is built when it is first asked for."""

    ready = Signal()
    moved = Signal()
    """Another moment of a simulation is shown."""

    def __init__(self, document: Document, selection: Selection, canvas: CanvasView) -> None:
        super().__init__(canvas)
        self._document = document
        self._selection = selection
        self._canvas = canvas
        self.inspector_frame = _frame("inspectorFrame")
        self.inspector_frame.setMinimumWidth(280)
        self.analyses_frame = _frame("analysesFrame")
        self.analyses_frame.setMinimumHeight(120)
        self._at_rest = NO_LOADS
        self._painted_at_s: float | None = None
        self._moment: Moment | None = None
        self._painted_of: tuple[Plan, str | None] | None = None
        """The plan and the workload of the estimate on show."""
        """The moment of a run that the canvas shows; None: the plan at rest."""

    @cached_property
    def estimates(self) -> Estimates:
        """What the engine says of the plan, from now on."""
        from ndbplan.desktop.document.estimates import Estimates

        estimates = Estimates(self._document, self)
        estimates.updated.connect(self._paint_loads)
        self._canvas.editor.event_edits.chosen = lambda: estimates.workload_id
        return estimates

    @cached_property
    def inspector(self) -> Inspector:
        """The inspector, in its frame."""
        from ndbplan.desktop.inspector import Inspector

        inspector = Inspector(self._document, self._selection, self.estimates)
        # The keys that rename, copy and delete what is selected act there.
        inspector.left.connect(self._canvas.setFocus)
        _fill(self.inspector_frame, inspector)
        return inspector

    @cached_property
    def analyses(self) -> AnalysisArea:
        """The analyses, in their frame."""
        from ndbplan.desktop.analyses import AnalysisArea

        analyses = AnalysisArea(self._document, self._selection, self.estimates)
        analyses.moment.connect(self._paint_moment)
        analyses.tabs.currentChanged.connect(lambda _index: self._name_moment())
        analyses.losses.connect(self.colours.lend)
        analyses.kill_wanted.connect(self._kill)
        analyses.help_wanted.connect(self.show_help)
        _fill(self.analyses_frame, analyses)
        return analyses

    @cached_property
    def colours(self) -> Colours:
        """What the canvas is coloured by."""
        from ndbplan.desktop.colours import Colours

        return Colours(self._canvas, self.estimates)

    @property
    def coloured_by(self) -> tuple[str, str]:
        """What the canvas is coloured by, and the variant that changes are told against; empty: nothing."""
        return (self.colours.name, self.colours.against) if self._has("colours") else ("", "")

    def build_inspector(self) -> None:
        """Place the inspector, and start to estimate."""
        self.inspector.show()

    def build_analyses(self) -> None:
        """Place the analyses; all panels are there then."""
        self.analyses.show()
        self.colours.legend.follow()
        self.ready.emit()

    def _paint_loads(self, estimate: Estimate) -> None:
        self._at_rest = estimate.loads
        of = estimate.plan, estimate.workload_id
        if self._moment is not None and of == self._painted_of:
            # The same in other words, such as other units: what is replayed stays where it stands.
            self._paint_moment(self._moment)
        else:
            self._canvas.show_loads(self._at_rest)
            self._moment = self._painted_at_s = None
            self._name_moment()
        self._painted_of = of

    def _paint_moment(self, moment: Moment | None) -> None:
        self.moved.emit()
        self._moment = moment
        event_edits = self._canvas.editor.event_edits
        event_edits.stands_at_s = self._painted_at_s = None if moment is None else moment.at_s
        event_edits.run_lasts_s = None if moment is None else self.analyses.run_lasts_s
        if moment is None:
            self._canvas.show_loads(self._at_rest)
        else:
            carried = carried_at(moment, event_edits.workload)
            self._canvas.show_loads(loads_at(moment, self._document.plan, self._at_rest, carried))
        self._name_moment()

    def _name_moment(self) -> None:
        """Beside other analyses the canvas says itself that it shows a moment of the run."""
        at_s = self._painted_at_s
        is_seen = at_s is None or self.tab == "Simulation"
        self._canvas.name_moment("" if is_seen or at_s is None else f"The run at {format_clock(at_s)}")

    def ask_rows(self) -> None:
        """Let somebody type how many rows the tables have."""
        from ndbplan.desktop.analyses.tables import TablesPanel

        panel = self.analyses.show_tab("Tables")
        if isinstance(panel, TablesPanel):
            panel.ask_rows()

    def show_help(self) -> None:
        """What would help, in the inspector."""
        self.inspector_frame.show()
        self.inspector.show_help()

    def _kill(self, part: Part) -> None:
        """Let a part fail where the replay stands: a switch or link is cut, anything else dies."""
        from ndbplan.describe.losses import ids_of

        plan, event_edits = self._document.plan, self._canvas.editor.event_edits
        ids, at_s = ids_of(plan, part), event_edits.moment_s
        if part.kind == "link":
            event_edits.cut_off(ids[:1], at_s, ids[1:])
        elif part.kind == "switch":
            event_edits.cut_off(ids, at_s)
        elif part.kind == "device":
            event_edits.lose_device(ids, at_s)
        else:
            event_edits.kill(ids, at_s)

    def listed_problems(self) -> Iterator[tuple[str, str, str | None]]:
        """Message, severity and the object of each problem that stands."""
        latest = self.estimates.latest
        for problem in latest.problems if latest is not None else ():
            if not problem.waived:
                first = problem.object_ids[0] if problem.object_ids else None
                yield problem.message, problem.severity.value, first

    def show_anew(self) -> None:
        """Show the same in other words: bytes are shown in other units now."""
        if self._has("estimates"):
            self.estimates.say_anew()
        if self._has("analyses"):
            self.analyses.show_anew()

    @property
    def tab(self) -> str:
        """The analysis on show; nothing: they are not there yet."""
        return self.analyses.tab if self._has("analyses") else ""

    def show_tab(self, name: str) -> None:
        """Bring an analysis to the front as soon as they are there; one that is not known: nothing."""
        if self._has("analyses"):
            self.analyses.choose_tab(name)
        else:
            self.ready.connect(lambda: self.analyses.choose_tab(name))

    @property
    def is_busy(self) -> bool:
        """Whether an estimate is due or the analyses compute."""
        return (self._has("estimates") and not self.estimates.is_fresh) or (
            self._has("analyses") and self.analyses.context.tasks.is_busy
        )

    def close(self) -> None:
        """Stop what computes."""
        if self._has("inspector"):
            self.inspector.close_tasks()
        if self._has("analyses"):
            self.analyses.close_tasks()
        if self._has("colours"):
            self.colours.close()
        if self._has("estimates"):
            self.estimates.close()

    def _has(self, panel: str) -> bool:
        """Whether a panel was asked for: looking at what it does must not build it."""
        return panel in vars(self)

    def focus_inspector(self) -> None:
        """Go to the first field of the inspector."""
        self.inspector_frame.show()
        _focus_first(self.inspector_frame)

    def focus_analyses(self) -> None:
        """Go to the analyses."""
        _focus_first(self.analyses_frame)


def _fill(frame: QWidget, content: QWidget) -> None:
    layout = frame.layout()
    if layout is not None:
        layout.addWidget(content)


def _frame(name: str) -> QFrame:
    frame = QFrame()
    frame.setObjectName(name)
    frame.setProperty("role", "panel")
    column = QVBoxLayout(frame)
    column.setContentsMargins(0, 0, 0, 0)
    return frame


def _focus_first(root: QWidget) -> None:
    for widget in root.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled():
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            return
    QApplication.beep()
