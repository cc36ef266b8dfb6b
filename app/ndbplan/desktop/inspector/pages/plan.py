"""Page of the plan itself (nothing is selected), and of several objects of different kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QPlainTextEdit

from ndbplan.base.errors import UserError
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.describe.titles import KINDS
from ndbplan.desktop.document import new_parts
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.inspector.pages.calibration import calibration_grid
from ndbplan.desktop.inspector.pages.links import ObjectLinks
from ndbplan.desktop.widgets.fade import Fade
from ndbplan.desktop.widgets.sections import label, link
from ndbplan.desktop.widgets.units import NUMBER, TEXT, WHOLE
from ndbplan.edits import offers
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.ndb.version import SERIES
from ndbplan.plan.plan import Plan

_MONEY = (
    ("currency", "Currency", TEXT, "not stated", "Code of three letters, such as EUR"),
    ("cost_months", "Months", WHOLE, None, "What is bought is used so long"),
    ("price_per_kwh", "Price of a kWh", NUMBER, "not stated", "Electricity, with cooling if it counts"),
)


def _of_plan(name: str) -> Callable[[Plan], Any]:
    return lambda plan: getattr(plan, name)


def _to_plan(name: str) -> Callable[[Plan, str, Any], Plan]:
    return lambda plan, _id, value: edits.set_plan(plan, **{name: value})


def _replicas(plan: Plan) -> Any:
    """As stated, a number that the product refuses too; nothing stated: what counts."""
    return plan.parameters.data_node.get("NoOfReplicas", no_of_replicas(plan))


class PlanPage(Page):
    """Name, version, replicas; tables and workloads; notes."""

    def __init__(self, context: Context, ids: Sequence[str] = ()) -> None:
        super().__init__(context, ())
        form = self.form()
        form.line("name", TEXT)
        form.choice("ndb_version", _versions, tip="What the catalogue and the exports follow")
        form.line(
            "NoOfReplicas",
            WHOLE,
            label="Replicas",
            tip="NoOfReplicas: copies of every row, nodes in a node group",
            get=_replicas,
            edit=lambda plan, _i, value: set_parameter(plan, "data_node", "NoOfReplicas", value),
        )
        form.line(
            "backups_kept",
            WHOLE,
            tip="Backups on the disks at the same time, that being written included; counted as disk space",
            edit=lambda plan, _i, value: edits.set_plan(plan, backups_kept=value),
        )
        self._costs()
        tables = ObjectLinks(
            context, lambda plan: plan.tables, "No table yet: take them from SQL, or add one."
        )
        section = self.section("Tables")
        section.add_action(link("From SQL…", self._import_tables, "Tables from SQL"))
        section.add_action(link("+ Add", self._add_table, "Add a table"))
        section.body.addWidget(tables)
        self.keep_fresh(tables)
        self._disk_data()
        workloads = ObjectLinks(
            context, lambda plan: plan.workloads, "No workload yet: make one from the tables, or add one."
        )
        section = self.section("Workloads")
        made = link("From the tables", self._add_workload_of_tables, "Make a workload from the tables")
        made.setToolTip("Reads, changes and adds rows of the largest tables: put your figures in")
        section.add_action(made)
        section.add_action(link("+ Add", self._add_workload, "Add a workload"))
        section.body.addWidget(workloads)
        self.keep_fresh(workloads)
        measured = self.section("Measured here", collapsible=True, expanded=bool(context.plan.calibrations))
        measured.body.addWidget(
            label("Rates you measured replace the engine's constants in every estimate.", "muted")
        )
        grid = calibration_grid(context)
        measured.body.addWidget(grid)
        self.keep_fresh(grid)
        notes = self.section("Notes")
        self._notes = _Notes(context)
        notes.body.addWidget(self._notes)
        self.keep_fresh(self._notes)

    def _costs(self) -> None:
        plan = self.context.plan
        stated = plan.currency is not None or plan.price_per_kwh is not None
        form = self.form(self.section("Costs", collapsible=True, expanded=stated).body)
        for name, text, unit, empty, tip in _MONEY:
            form.line(name, unit, label=text, empty=empty, tip=tip, get=_of_plan(name), edit=_to_plan(name))

    def _disk_data(self) -> None:
        parts = ObjectLinks(
            self.context,
            lambda plan: (*plan.tablespaces, *plan.logfile_groups),
            "None: every column is in memory. Columns on disk need a tablespace.",
        )
        some = bool(self.context.plan.tablespaces or self.context.plan.logfile_groups)
        section = self.section("Disk data", collapsible=True, expanded=some)
        section.add_action(link("+ Tablespace", self._add_tablespace, "Add a tablespace"))
        section.body.addWidget(parts)
        self.keep_fresh(parts)

    def _add_tablespace(self) -> None:
        new_parts.add_tablespace(self.context.document, self.context.selection)

    def _add_table(self) -> None:
        new_parts.add_table(self.context.document, self.context.selection)

    def _import_tables(self) -> None:
        from ndbplan.desktop.dialogs.sql_dialog import SqlDialog

        SqlDialog(self.context.document, self.window()).open()

    def _add_workload(self) -> None:
        new_parts.add_workload(self.context.document, self.context.selection)

    def _add_workload_of_tables(self) -> None:
        made = offers.workload_of_tables
        new_parts.add_workload(self.context.document, self.context.selection, made)


class _Notes(QPlainTextEdit):
    """The plan's notes; one undoable edit when the focus leaves."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.setAccessibleName("Notes")
        self.setPlaceholderText("What this plan is for, where its figures come from…")
        self.setTabChangesFocus(True)
        self.setFixedHeight(150)
        Fade(self, "field")
        self.refresh()

    def refresh(self) -> None:
        """Show what the plan says now."""
        if not self.hasFocus() and self.toPlainText() != self._context.plan.notes:
            self.setPlainText(self._context.plan.notes)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        text = self.toPlainText()
        if text == self._context.plan.notes:
            return
        try:
            self._context.document.edit("Edit notes", lambda plan: edits.set_plan(plan, notes=text))
            self.setToolTip("")
        except UserError as error:
            self.setToolTip(error.line)


class MixedPage(Page):
    """Several objects of different kinds: what they are, and how to narrow the selection."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        plan = context.plan
        kinds = Counter(type(plan.by_id[i]) for i in ids)
        self.column.addWidget(label("Select one kind to edit what they have in common.", "muted"))
        for kind, count in kinds.items():
            one, many = KINDS[kind]
            members: tuple[str, ...] = tuple(i for i in ids if type(plan.by_id[i]) is kind)
            text = f"{count} {one if count == 1 else many}"
            only = link(text, partial(context.selection.set, members), f"Select only {text}")
            self.column.addWidget(only, 0, Qt.AlignmentFlag.AlignLeft)


def _versions(plan: Plan) -> list[tuple[str, str]]:
    known = [(series, f"NDB {series}") for series in reversed(SERIES)]
    current = plan.ndb_version
    return known if current in SERIES else [(current, f"NDB {current}"), *known]
