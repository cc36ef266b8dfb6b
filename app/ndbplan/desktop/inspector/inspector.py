"""The right side of the window: what is selected, why it is so, what would help, what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from ndbplan.base.units import how_many
from ndbplan.describe.titles import KINDS, subtitle, title
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimate, Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.document.tasks import Tasks
from ndbplan.desktop.inspector.advice import Advice
from ndbplan.desktop.inspector.loss import LossSection
from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.inspector.pages.hardware import DiskPage, HostPage, LocationPage
from ndbplan.desktop.inspector.pages.plan import MixedPage, PlanPage
from ndbplan.desktop.inspector.pages.processes import DataNodePage, ProcessPage
from ndbplan.desktop.inspector.pages.tables import LogfileGroupPage, TablePage, TablespacePage
from ndbplan.desktop.inspector.pages.workloads import WorkloadPage
from ndbplan.desktop.inspector.parameters import ParametersPanel, parameters_for
from ndbplan.desktop.inspector.remedies import RemedySearch
from ndbplan.desktop.inspector.why import Why
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.fade import Fade
from ndbplan.desktop.widgets.problem_list import ProblemList, concerning
from ndbplan.desktop.widgets.sections import Section, empty, label
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, SqlNode
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Workload

PAGES: dict[type, Callable[[Context, Sequence[str]], Page]] = {
    Location: LocationPage,
    Host: HostPage,
    Disk: DiskPage,
    DataNode: DataNodePage,
    ManagementNode: ProcessPage,
    SqlNode: ProcessPage,
    ApiSlot: ProcessPage,
    Table: TablePage,
    Tablespace: TablespacePage,
    LogfileGroup: LogfileGroupPage,
    Workload: WorkloadPage,
}
MARGIN = 16


class _Content(QWidget):
    """What scrolls: as wide as the inspector, whatever its fields would like."""

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())


class Inspector(QWidget):
    """Shows the selection; a selection of nothing shows the plan itself."""

    left = Signal()
    """What had the keyboard is gone, with the page that it led away from."""

    def __init__(
        self,
        document: Document,
        selection: Selection,
        estimates: Estimates,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName("Inspector")
        self.setMinimumWidth(280)
        self._context = Context(document, selection, estimates, Tasks(self))
        self._remedies = RemedySearch(self._context, self)
        self._page: Page | None = None
        self._parameters: tuple[Section, ParametersPanel] | None = None
        self._built_for: object = None
        self._expanded: dict[str, bool] = {}
        self._title = label("", "title")
        self._title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._subtitle = label("", "muted")
        self._content = _Content()
        self._column = QVBoxLayout(self._content)
        self._column.setContentsMargins(MARGIN, 4, MARGIN, MARGIN)
        self._column.setSpacing(10)
        self._led_to: QWidget | None = None
        self._scroll = scroll = QScrollArea()
        scroll.verticalScrollBar().rangeChanged.connect(lambda _least, _most: self._lead())
        scroll.verticalScrollBar().actionTriggered.connect(lambda _action: self._let_go())
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self._content)
        Fade(scroll)
        self.head = QWidget()
        """The title and the line below it."""
        head = QVBoxLayout(self.head)
        head.setContentsMargins(MARGIN, 14, MARGIN, 6)
        head.setSpacing(2)
        head.addWidget(self._title)
        head.addWidget(self._subtitle)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.head)
        layout.addWidget(scroll, 1)
        selection.changed.connect(lambda _ids: self._reconcile())
        selection.meant.connect(self._lead_to)
        document.changed.connect(lambda _before, _after: self._reconcile())
        estimates.updated.connect(self._show_estimate)
        theme.theme().changed.connect(self._rebuild)
        self._reconcile()

    def open_parameter(self, scope: str, name: str) -> None:
        """Show the plan's parameters, and open the value of one."""
        self._context.selection.clear()
        if self._parameters is None:
            return
        fold, panel = self._parameters
        fold.expand()
        panel.edit_parameter(scope, name)
        self._led_to = panel
        self._lead()

    def show_help(self) -> None:
        """Show what would help against what limits the load, and search for it."""
        if not self._advice.isVisibleTo(self):
            self._context.selection.clear()
        self._advice.begin()
        self._led_to = self._advice
        self._lead()

    def _lead(self) -> None:
        """Keep what was asked for in sight while parts take their heights, until somebody scrolls."""
        if self._led_to is not None:
            self._scroll.verticalScrollBar().setValue(self._led_to.mapTo(self._content, QPoint(0, 0)).y())

    def _lead_to(self, part: str) -> None:
        self._led_to = self._page.findChild(QWidget, part) if self._page is not None else None
        self._lead()

    def _let_go(self) -> None:
        self._led_to = None

    def close_tasks(self) -> None:
        """Stop the background work; the window calls this before it goes."""
        self._context.tasks.close()

    def _reconcile(self) -> None:
        plan = self._context.plan
        ids = tuple(i for i in self._context.selection.ids if i in plan.by_id)
        page = self._page
        shape = page.shape() if page is not None else None
        if page is None or self._built_for != (ids, shape, _kinds(plan, ids)):
            self._build(ids)
        elif page is not None:
            page.refresh()
        self._show_titles(plan, ids)

    def _rebuild(self) -> None:
        ids = self._page.ids if self._page is not None else ()
        self._build(ids)
        self._show_titles(self._context.plan, ids)

    def _build(self, ids: tuple[str, ...]) -> None:
        plan = self._context.plan
        focused = self._focused() if self._page is not None and self._page.ids == ids else None
        held = self.window().focusWidget()
        leaves = focused is None and held is not None and self._content.isAncestorOf(held)
        # Parts take their heights in later turns: until all have theirs, what was there stays on the screen.
        self._scroll.setUpdatesEnabled(False)
        QTimer.singleShot(0, self._scroll, lambda: self._scroll.setUpdatesEnabled(True))
        self._led_to = None
        empty(self._column)
        kinds = _kinds(plan, ids)
        page: Page
        if not ids:
            page = PlanPage(self._context)
        elif len(kinds) == 1:
            page = PAGES[next(iter(kinds))](self._context, ids)
        else:
            page = MixedPage(self._context, ids)
        self._page = page
        self._column.addWidget(page)
        parameters = parameters_for(self._context, ids)
        if parameters is not None:
            fold = Section(
                "Configuration", collapsible=True, expanded=self._expanded.get("parameters", False)
            )
            fold.body.addWidget(parameters)
            fold.toggled.connect(lambda on: self._expanded.update(parameters=on))
            self._column.addWidget(fold)
            page.keep_fresh(parameters)
        self._parameters = (fold, parameters) if parameters is not None else None
        loss = LossSection(self._context, ids)
        page.keep_fresh(loss)
        self._why = Why(self._context, ids)
        self._advice = Advice(self._context, ids, self._remedies)
        self._problems = ProblemList(self._context)
        section = Section("Problems")
        section.body.addWidget(self._problems)
        self._column.addWidget(self._why)
        self._column.addWidget(loss)
        self._column.addWidget(self._advice)
        self._column.addWidget(section)
        self._column.addStretch(1)
        self._built_for = (ids, page.shape(), kinds)
        page.refresh()
        if self._context.estimates.latest is not None:
            self._show_estimate(self._context.estimates.latest)
        if leaves:
            self.left.emit()
        if focused is not None:
            # What is not shown yet takes no keyboard.
            QTimer.singleShot(0, page, lambda: self._focus(page, *focused))

    def _focused(self) -> tuple[str, int] | None:
        """The field that has the keyboard: its name, and which it is of those that share it."""
        widget = self.window().focusWidget()
        if self._page is None or widget is None or not self._page.isAncestorOf(widget):
            return None
        name = widget.accessibleName()
        alike = _of_name(self._page, name)
        return (name, alike.index(widget)) if name and widget in alike else None

    def _focus(self, page: Page, name: str, number: int) -> None:
        """Give the keyboard back: the page was made anew under the hand that changed it."""
        alike = _of_name(page, name) if page is self._page else []
        if number < len(alike):
            alike[number].setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_titles(self, plan: Plan, ids: tuple[str, ...]) -> None:
        if not ids:
            self._title.setText(plan.name)
            counts = f"{how_many(len(plan.data_nodes), 'data node')} · {how_many(len(plan.tables), 'table')}"
            self._subtitle.setText(f"Cluster · NDB {plan.ndb_version} · {counts}")
        elif len(ids) == 1:
            self._title.setText(title(plan, plan.by_id[ids[0]]))
            self._subtitle.setText(subtitle(plan, plan.by_id[ids[0]]))
        else:
            kinds = _kinds(plan, ids)
            what = KINDS[next(iter(kinds))][1] if len(kinds) == 1 else "objects"
            self._title.setText(f"{len(ids)} {what}")
            self._subtitle.setText("A change applies to all of them" if len(kinds) == 1 else "")

    def _show_estimate(self, estimate: Estimate) -> None:
        if self._page is None:
            return
        self._page.show_estimate(estimate)
        self._why.show_estimate(estimate)
        self._advice.show_estimate(estimate)
        listed = concerning(estimate.problems, estimate.plan, self._page.ids)
        self._problems.show_problems(listed, estimate.error or "None found.")


def _of_name(page: QWidget, name: str) -> list[QWidget]:
    return [one for one in page.findChildren(QWidget) if one.accessibleName() == name]


def _kinds(plan: Plan, ids: Sequence[str]) -> frozenset[type]:
    return frozenset(type(plan.by_id[i]) for i in ids)
