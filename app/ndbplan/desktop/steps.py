"""What the steps of a first plan do: those of the row on the canvas, and of panels with nothing to show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QWidget

from ndbplan.desktop.actions import Actions
from ndbplan.desktop.analyses.panel import VARIANT
from ndbplan.desktop.canvas.first_steps import FirstSteps
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.preferences import FIRST_STEPS_OVER, Preferences
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.edits import first_steps, offers
from ndbplan.edits import parts as edits
from ndbplan.plan.plan import Plan


class Steps:
    """Does steps in one window, and shows them on its canvas until they are done or sent away."""

    def __init__(
        self,
        window: QWidget,
        canvas: CanvasView,
        actions: Actions,
        messages: MessageBar,
        preferences: Preferences,
        ask_rows: Callable[[], object],
    ) -> None:
        """`ask_rows`: lets somebody type how many rows the tables have."""
        self._window, self._canvas, self._ask_rows = window, canvas, ask_rows
        self._of_rows = ""
        """What is said of tables without rows."""
        self._editor, self._actions, self._messages = canvas.editor, actions, messages
        self._editor.document.changed.connect(self._tell_of_rows)
        self.row: FirstSteps | None = None
        if not preferences.get(FIRST_STEPS_OVER):
            self.row = FirstSteps(canvas)
            self.row.wanted.connect(self.do)
            self.row.over.connect(partial(preferences.put, FIRST_STEPS_OVER, True))

    def do(self, key: str) -> None:
        """Do a step, or open what it is done with."""
        if key == VARIANT:
            self._actions["variant_new"].trigger()
        elif key in ("simulate", "export"):
            missing = first_steps.next_step(self._editor.plan) if key == "simulate" else None
            if missing is not None:
                self._messages.say(
                    "info", f"{missing.missing}.", missing.button, partial(self.do, missing.key)
                )
            self._actions[key].trigger()
        else:
            {"hosts": self._add_cluster, "tables": self._take_tables, "load": self._add_load}[key]()

    def done(self, key: str) -> None:
        """A step that changes no plan is done."""
        if self.row is not None:
            self.row.done(key)

    def _add_cluster(self) -> None:
        plan = self._editor.plan
        lacks = first_steps.said_lacking(plan)
        text = f"Add {lacks}" if plan.data_nodes else "Add a small cluster"
        if not lacks:
            self._messages.say("info", "The plan has all kinds of nodes; drag more from the palette.")
        elif self._editor.do(text, first_steps.small_cluster):
            if not plan.hosts and not plan.locations:
                # There was nothing to look at.
                self._canvas.fit()
            new = [host.id for host in self._editor.plan.hosts if host.id not in plan.by_id]
            self._editor.added.emit(tuple(new))

    def _take_tables(self) -> None:
        from ndbplan.desktop.dialogs.sql_dialog import SqlDialog

        SqlDialog(self._editor.document, self._window).open()

    def _tell_of_rows(self, before: Plan, after: Plan) -> None:
        """Statements say nothing of rows, without which memory and times are those of empty tables."""
        empty = [table for table in after.tables if not table.rows]
        if before.hosts is after.hosts and any(table.id not in before.by_id for table in empty):
            names = empty[0].name if len(empty) == 1 else f"{len(empty)} tables"
            has = "has" if len(empty) == 1 else "have"
            self._of_rows = f"{names} {has} no rows yet: figures are those of empty tables."
            self._messages.say("info", self._of_rows, "How many rows…", self._ask_rows)
        elif self._of_rows and not empty:
            if self._messages.text == self._of_rows:
                self._messages.hide()
            self._of_rows = ""

    def _add_load(self) -> None:
        if not self._editor.plan.tables:
            tables = first_steps.step("tables")
            self._messages.say("info", "A load needs tables.", tables.button, partial(self.do, "tables"))
            return
        workload = offers.workload_of_tables(self._editor.plan)
        if self._editor.do(f"Add workload {workload.name}", lambda plan: edits.add(plan, workload)):
            self._editor.selection.set((workload.id,))
