"""What has no place on the canvas is added to a plan and selected, so that its page is shown."""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.selection import Selection
from ndbplan.edits import offers
from ndbplan.edits import parts as edits
from ndbplan.edits.disk_data import with_tablespace
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload


def add_table(document: Document, selection: Selection) -> None:
    """A table with a key and a column."""
    table = offers.make_table(document.plan)
    document.edit(f"Add table {table.full_name}", lambda plan: edits.add(plan, table))
    selection.set((table.id,))


def add_tablespace(document: Document, selection: Selection) -> None:
    """A tablespace, with the log file group that it needs."""
    new = ""

    def edit(plan: Plan) -> Plan:
        nonlocal new
        plan, new = with_tablespace(plan)
        return plan

    document.edit("Add a tablespace", edit)
    selection.set((new,))


def add_workload(
    document: Document, selection: Selection, make: Callable[[Plan], Workload] = offers.make_workload
) -> None:
    """A workload; without a table a plan gets one first, as it is about tables."""
    if not document.plan.tables:
        add_table(document, selection)
    workload = make(document.plan)
    document.edit(f"Add workload {workload.name}", lambda plan: edits.add(plan, workload))
    selection.set((workload.id,))
