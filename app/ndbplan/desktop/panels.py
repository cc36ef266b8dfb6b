"""The inspector and the analyses in their frames, built after the window is on the screen.

They bring charts and estimates with them; loading those must not keep anybody from seeing the canvas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget

from ndbplan.describe.overlay import NO_LOADS
from ndbplan.desktop.canvas.estimated import loads_at, loads_of
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.selection import Selection

if TYPE_CHECKING:
    from ndbplan.desktop.document.estimates import Estimate
    from ndbplan.simulate.moment import Moment


class SidePanels(QObject):
    """Holds the frames from the start and fills them with `build_inspector()` and `build_analyses()`."""

    ready = Signal()

    def __init__(self, document: Document, selection: Selection, canvas: CanvasView) -> None:
        super().__init__(canvas)
        self._document = document
        self._selection = selection
        self._canvas = canvas
        self.inspector_frame = _frame("inspectorFrame")
        self.inspector_frame.setMinimumWidth(280)
        self.analyses_frame = _frame("analysesFrame")
        self.analyses_frame.setMinimumHeight(120)
        self.estimates: Any = None
        self.inspector: Any = None
        self.analyses: Any = None
        self._at_rest = NO_LOADS

    def build_inspector(self) -> None:
        """Load and place the inspector, and start to estimate."""
        from ndbplan.desktop.document.estimates import Estimates
        from ndbplan.desktop.inspector import Inspector

        self.estimates = Estimates(self._document, self)
        self.estimates.updated.connect(self._paint_loads)
        self.inspector = Inspector(self._document, self._selection, self.estimates)
        self._fill(self.inspector_frame, self.inspector)

    def build_analyses(self) -> None:
        """Load and place the analyses; the inspector is there."""
        from ndbplan.desktop.analyses import AnalysisArea

        self.analyses = AnalysisArea(self._document, self._selection, self.estimates)
        self.analyses.moment.connect(self._paint_moment)
        self._fill(self.analyses_frame, self.analyses)
        self.ready.emit()

    def _paint_loads(self, estimate: Estimate) -> None:
        self._at_rest = loads_of(estimate)
        self._canvas.show_loads(self._at_rest)

    def _paint_moment(self, moment: Moment | None) -> None:
        if moment is None:
            self._canvas.show_loads(self._at_rest)
        else:
            self._canvas.show_loads(loads_at(moment, self._document.plan, self._at_rest))

    @property
    def is_busy(self) -> bool:
        """Whether an estimate is due or the analyses compute."""
        return (self.estimates is not None and not self.estimates.is_fresh) or (
            self.analyses is not None and self.analyses.context.tasks.is_busy
        )

    def close(self) -> None:
        """Stop what computes."""
        for panel in (self.inspector, self.analyses):
            if panel is not None:
                panel.close_tasks()
        if self.estimates is not None:
            self.estimates.close()

    def focus_inspector(self) -> None:
        """Go to the first field of the inspector."""
        self.inspector_frame.show()
        _focus_first(self.inspector_frame)

    def focus_analyses(self) -> None:
        """Go to the analyses."""
        _focus_first(self.analyses_frame)

    @staticmethod
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
