"""Figures of tables from a spreadsheet: lines of cells with tabs between them, as its clipboard holds them.

    plan, unknown = put_pasted(plan, "orders\t20M\t1M\ncustomers\t3M")       # table, rows, growth a month

The first cell of a line names the table, alone or as `database.table`; a line of headings may stand above.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ndbplan.base import units
from ndbplan.base.errors import UserError
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table

FIELDS = ("rows", "growth_rows_per_month")
_HEADINGS = {
    "rows": "rows", "row count": "rows", "table_rows": "rows",
    "growth": "growth_rows_per_month", "growth per month": "growth_rows_per_month",
    "growth_rows_per_month": "growth_rows_per_month",
}  # fmt: skip
_MOST_LINES = 30_000


def put_pasted(plan: Plan, text: str) -> tuple[Plan, tuple[str, ...]]:
    """The plan with the figures, and names that no table has. Raises UserError for what is not a figure."""
    lines = [line.split("\t") for line in text.splitlines()[:_MOST_LINES] if line.strip()]
    fields = list(FIELDS)
    by_name = _by_name(plan)
    if lines and _table(by_name, lines[0][0]) is None:
        headings = [_HEADINGS.get(cell.strip().lower(), "") for cell in lines[0][1:]]
        if any(headings):
            fields, lines = headings, lines[1:]
    unknown: list[str] = []
    changes: dict[str, Callable[[Table], Table]] = {}
    for line in lines:
        table = _table(by_name, line[0])
        if table is None:
            unknown.append(line[0].strip())
            continue
        values = {
            name: _count(table, name, cell)
            for name, cell in zip(fields, line[1:], strict=False)
            if name and cell.strip()
        }
        if any(getattr(table, name) != value for name, value in values.items()):
            changes[table.id] = partial(_with, values=values)
    return (edits.update_each(plan, changes) if changes else plan), tuple(unknown)


def _with(table: Table, values: dict[str, int]) -> Table:
    assumed = tuple(name for name in table.assumed if name not in values)
    return validated.changed(table, **values, assumed=assumed)


def _by_name(plan: Plan) -> dict[str, list[Table]]:
    """Tables by full name, and by the name alone."""
    by_name: dict[str, list[Table]] = {}
    for table in plan.tables:
        for name in {table.full_name.lower(), table.name.lower()}:
            by_name.setdefault(name, []).append(table)
    return by_name


def _table(by_name: dict[str, list[Table]], name: str) -> Table | None:
    # A name that two databases have names neither.
    named = by_name.get(name.strip().strip("`").lower(), [])
    return named[0] if len(named) == 1 else None


def _count(table: Table, field: str, cell: str) -> int:
    where = f"{table.full_name} {'rows' if field == 'rows' else 'growth'}"
    try:
        number = units.parse_count(cell.replace("\u2009", "").replace("\u00a0", ""))
    except UserError as error:
        raise UserError(error.what, where=where, fix=error.fix) from None
    if number != round(number):
        raise UserError(
            f"'{cell.strip()[:40]}' is not a whole number", where=where, fix="write a whole number"
        )
    return round(number)
