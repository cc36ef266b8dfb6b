"""Page for workloads: how often transactions come, and what they do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.inspector.pages.events import EventEditor
from ndbplan.desktop.inspector.pages.tables import NAMES
from ndbplan.desktop.widgets.forms import Form, Inner
from ndbplan.desktop.widgets.grid import Cell, Grid, Rows
from ndbplan.desktop.widgets.sections import Section, link
from ndbplan.desktop.widgets.units import BYTES, BYTES_PER_S, COUNT, LATENCY, NUMBER, SECONDS, TEXT, WHOLE
from ndbplan.edits import offers, validated
from ndbplan.edits import parts as edits
from ndbplan.edits.load_shapes import put_load_kind, put_points
from ndbplan.estimate.load.jobs import TOOL_NAMES
from ndbplan.plan.field_words import TITLES
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import (
    ClosedLoad,
    JobLoad,
    JobRows,
    JobTool,
    OpenLoad,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)

_KEY_CHOICES = [("evenly", "evenly"), ("power_law", "power law"), ("in_turn", "in turn")]
"""How an operation chooses among the values of its table's distribution key."""
_KINDS = [(kind, kind.value) for kind in OperationKind]


class WorkloadPage(Page):
    """Workloads; the load and the transactions of a single one."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("name", TEXT)
        form.line("duration_s", SECONDS, tip="How long a simulation of it lasts")
        workload = self.only
        if isinstance(workload, Workload):
            self._load(workload)
            for i, transaction in enumerate(workload.transactions):
                self._transaction(i, transaction)
            self.column.addWidget(
                link("+ Add transaction", self._add_transaction), 0, Qt.AlignmentFlag.AlignLeft
            )
            EventEditor(self, workload)

    def shape(self) -> object:
        workload = self.only
        if not isinstance(workload, Workload):
            return None
        points = len(workload.load.points) if isinstance(workload.load, OpenLoad) else 0
        if isinstance(workload.load, JobLoad):
            points = 2 if workload.load.rows else 0
        # A side of a cut has a line for each of its members.
        kinds = tuple(
            (event.kind, len(getattr(event, "object_ids", ())), len(getattr(event, "other_ids", ())))
            for event in workload.events
        )
        return (workload.load.kind, len(workload.transactions), points > 1, kinds)

    def _load(self, workload: Workload) -> None:
        section = self.section("Load")
        section.add_action(link("From CSV…", self._ask_schedule, "Read the rate over time from a CSV file"))
        self.form(section.body).choice(
            "through",
            [(None, "SQL nodes, if any"), ("sql", "SQL nodes"), ("api", "API nodes")],
            tip="SQL nodes are mysqld, API nodes are programs on the NDB API; a job by its tool",
        )
        form = self.form(section.body, Inner(lambda w: w.load, _put_load))
        form.choice(
            "kind",
            [("open", "arrive at a rate"), ("closed", "wait for answers"), ("job", "load rows, then end")],
            label="Clients",
            tip="At a rate: transactions come whether or not earlier ones are done",
            edit=put_load_kind,
        )
        if isinstance(workload.load, ClosedLoad):
            form.line("clients", COUNT, label="Number of clients")
            form.line("latency_s", LATENCY, tip="Of one transaction, round trips included")
            form.line("think_time_s", SECONDS)
            return
        if isinstance(workload.load, JobLoad):
            self._job(form, section, workload.load)
            return
        if len(workload.load.points) == 1:
            form.line(
                "points",
                NUMBER,
                label=TITLES["rate_per_s"],
                get=lambda load: load.points[0].rate_per_s,
                edit=lambda plan, i, rate: put_points(plan, i, (RatePoint(at_s=0, rate_per_s=rate),)),
            )
        else:
            form.choice("shape", [("step", "the rate stays"), ("linear", "the rate slides")])
        form.line(
            "clients", COUNT, label="Client threads", empty="no limit", tip="Transactions under way at most"
        )
        form.line("retries", COUNT, tip="How often a client tries again after a temporary error")
        form.line("retry_after_s", SECONDS)
        form.line("repeat_s", SECONDS, tip="The schedule starts again after this time; 0: never")
        workload_id = self.ids[0]
        points = Grid(
            self.context.document,
            Rows(
                "rate point",
                lambda plan: _points(plan, workload_id),
                _putter(workload_id),
                lambda _plan, points: offers.make_point(points),
            ),
            (Cell("at_s", "From", 110, SECONDS), Cell("rate_per_s", "Transactions per s", 140, NUMBER)),
        )
        section.body.addWidget(points)
        self.keep_fresh(points)

    def _job(self, form: Form, section: Section, load: JobLoad) -> None:
        form.choice("tool", [(tool, TOOL_NAMES[tool]) for tool in JobTool])
        form.line("threads", COUNT, tip="Threads of the tool, or sessions that load at a time")
        form.line(
            "rows_per_s_per_thread",
            NUMBER,
            empty="usual for the tool",
            tip="What one thread loads into an idle cluster, where it was measured",
        )
        form.line(
            "source_bytes_per_s",
            BYTES_PER_S,
            empty="no limit",
            tip="How fast the files with the rows are read",
        )
        if not load.rows:
            form.line(
                "total_bytes",
                BYTES,
                empty="all rows of the tables",
                tip="Values of all rows together; the rows are among those that the tables state",
            )
        workload_id = self.ids[0]
        rows = Grid(
            self.context.document,
            Rows("table", lambda plan: _job_rows(plan, workload_id), _job_putter(workload_id), _new_job_rows),
            (Cell("table_id", "Table", 150, choices=_tables), Cell("rows", "Rows to load", 110, COUNT)),
        )
        section.body.addWidget(rows)
        self.keep_fresh(rows)

    def _ask_schedule(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, "Moments and transactions per second", "", "CSV (*.csv *.txt);;All files (*)"
        )
        if name:
            self.read_schedule(Path(name))

    def read_schedule(self, path: Path) -> None:
        """Let the workload arrive as a CSV file says; what is wrong with the file is said in one line."""
        from ndbplan.importing.load_schedule import read_schedule_file, with_schedule

        try:
            after = with_schedule(self.context.plan, self.ids[0], read_schedule_file(path))
        except UserError as error:
            self.say(UserError(error.what, where=f"{path.name} {error.where}".strip(), fix=error.fix).line)
            return
        self.context.document.edit(f"Load from {path.name}", after)

    def _transaction(self, i: int, transaction: Transaction) -> None:
        workload_id = self.ids[0]
        section = self.section(f"Transaction {i + 1}")
        several = len(self.only.transactions) > 1
        if several:
            section.add_action(
                link("Remove", lambda: self._remove_transaction(i), f"Remove transaction {transaction.name}")
            )
        inner = Inner(
            lambda w: w.transactions[i] if i < len(w.transactions) else None,
            lambda plan, w, new: _put_transaction(plan, w, i, new),
        )
        form = self.form(section.body, inner)
        form.line("name", TEXT)
        if several:
            form.line("weight", NUMBER, tip="Share of the mix, relative to the other weights")

        def get(plan: Plan) -> tuple[Any, ...]:
            workload = plan.by_id.get(workload_id)
            there = isinstance(workload, Workload) and i < len(workload.transactions)
            return workload.transactions[i].operations if there and workload is not None else ()

        operations = Grid(
            self.context.document,
            Rows(
                "operation",
                get,
                lambda plan, parts: _set_transaction(plan, workload_id, i, operations=parts),
                offers.make_operation,
            ),
            (
                Cell("kind", "Does", 64, choices=lambda _plan: _KINDS),
                Cell("rows", "Rows", 50, NUMBER, tip="Rows of this kind in one transaction"),
                Cell("table_id", "Table", 110, choices=_tables),
                Cell(
                    "columns", "Columns", 120, NAMES, tip="That an update changes; empty: all outside the key"
                ),
                Cell("key_choice", "Keys", 92, choices=lambda _plan: _KEY_CHOICES),
                Cell(
                    "key_exponent",
                    "Exponent",
                    62,
                    NUMBER,
                    tip="Of a power law: 0 chooses evenly, 1 the second key half as often as the first",
                ),
                Cell("key_threads", "Threads", 56, WHOLE, tip="Of a loader that takes keys in turn"),
                Cell(
                    "key_run_rows",
                    "Run",
                    56,
                    NUMBER,
                    optional=True,
                    tip="In turn: rows of one key before the next; empty: the table's rows over its keys",
                ),
            ),
        )
        section.body.addWidget(operations)
        self.keep_fresh(operations)

    def _add_transaction(self) -> None:
        def add(plan: Plan) -> Plan:
            workload = plan.by_id[self.ids[0]]
            new = offers.make_transaction(plan, workload)
            return edits.update(plan, workload.id, transactions=(*workload.transactions, new))

        self.context.document.edit("Add transaction", add)

    def _remove_transaction(self, i: int) -> None:
        def remove(plan: Plan) -> Plan:
            workload = plan.by_id[self.ids[0]]
            left = (*workload.transactions[:i], *workload.transactions[i + 1 :])
            return edits.update(plan, workload.id, transactions=left)

        self.context.document.edit("Remove transaction", remove)


def _put_load(plan: Plan, workload_id: str, load: Any) -> Plan:
    return edits.update(plan, workload_id, load=load)


def _points(plan: Plan, workload_id: str) -> tuple[Any, ...]:
    workload = plan.by_id.get(workload_id)
    if isinstance(workload, Workload) and isinstance(workload.load, OpenLoad):
        return workload.load.points
    return ()


def _job_rows(plan: Plan, workload_id: str) -> tuple[Any, ...]:
    workload = plan.by_id.get(workload_id)
    if isinstance(workload, Workload) and isinstance(workload.load, JobLoad):
        return workload.load.rows
    return ()


def _job_putter(workload_id: str) -> Any:
    def put(plan: Plan, rows: tuple[JobRows, ...]) -> Plan:
        load = plan.by_id[workload_id].load
        return edits.update(plan, workload_id, load=validated.changed(load, rows=rows))

    return put


def _new_job_rows(plan: Plan, rows: tuple[Any, ...]) -> JobRows:
    named = {part.table_id for part in rows}
    table = next((t for t in plan.tables if t.id not in named), None)
    if table is None:
        raise UserError("every table of the plan is listed", fix="change the rows of one that is there")
    return JobRows(table_id=table.id, rows=max(1, table.rows))


def _putter(workload_id: str) -> Any:
    return lambda plan, points: put_points(plan, workload_id, points)


def _set_transaction(plan: Plan, workload_id: str, i: int, **fields: Any) -> Plan:
    new = validated.changed(plan.by_id[workload_id].transactions[i], **fields)
    return _put_transaction(plan, workload_id, i, new)


def _put_transaction(plan: Plan, workload_id: str, i: int, new: Transaction) -> Plan:
    transactions = plan.by_id[workload_id].transactions
    return edits.update(plan, workload_id, transactions=(*transactions[:i], new, *transactions[i + 1 :]))


def _tables(plan: Plan) -> list[tuple[str, str]]:
    return [(table.id, table.full_name) for table in plan.tables]
