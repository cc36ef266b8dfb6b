"""Figures of tables from a spreadsheet: lines of cells with tabs between them, as its clipboard holds them.

    plan, unknown = put_pasted(plan, "orders\t20M\t1M\ncustomers\t3M")       # table, rows, growth a month
    plan = put_below(plan, "20M\n3M", tables, ("rows",))                       # a column, table by table

The first cell of a line names the table, alone or as `database.table`; a line of headings may stand above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ndbplan.base import units
from ndbplan.base.errors import UserError
from ndbplan.base.units import how_many
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
    lines = _lines(text)
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


def is_figures_alone(plan: Plan, text: str) -> bool:
    """Whether a text is figures without names: a column, or two, copied out of a spreadsheet."""
    cells = [cell for line in _lines(text) for cell in line if cell.strip()]
    by_name = _by_name(plan)
    if not cells or any(_table(by_name, cell) for cell in cells):
        return False
    try:
        return bool([units.parse_whole(_bare(_spelt_out(cell, apart=True))) for cell in cells])
    except UserError:
        return False


def put_below(plan: Plan, text: str, tables: Sequence[Table], fields: Sequence[str]) -> Plan:
    """The plan with figures in these tables, a line for each. Raises UserError for what has no place."""
    lines = _lines(text)
    if len(lines) > len(tables):
        shown = how_many(len(tables), "table")
        raise UserError(f"there are {len(lines)} lines and {shown} from here on", fix="begin farther above")
    widest = max(map(len, lines), default=0)
    if widest > len(fields):
        raise UserError(f"there are {widest} figures in a line and room for {len(fields)}", fix="paste fewer")
    changes = dict[str, Callable[[Table], Table]]()
    for table, line in zip(tables, lines, strict=False):
        cells = {name: cell for name, cell in zip(fields, line, strict=False) if cell.strip()}
        values = {name: _count(table, name, cell) for name, cell in cells.items()}
        if any(getattr(table, name) != value for name, value in values.items()):
            changes[table.id] = partial(_with, values=values)
    return edits.update_each(plan, changes) if changes else plan


def read_so(text: str, *, apart: bool) -> str:
    """The text with figures such as `1,500` spelt out: thousands are set apart, or they have decimals."""
    return "\n".join("\t".join(_spelt_out(cell, apart) for cell in line) for line in _lines(text))


def _spelt_out(cell: str, apart: bool) -> str:
    try:
        units.refuse_group(_bare(cell))
    except units.TwoReadingsError as error:
        return error.readings[0 if apart else -1]
    return cell


def _lines(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()[:_MOST_LINES] if line.strip()]


def _bare(cell: str) -> str:
    """Without the spaces that thousands are set apart by."""
    return cell.replace("\u2009", "").replace("\u00a0", "")


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
        return units.parse_whole(_bare(cell))
    except UserError as error:
        raise error.at(where) from None
