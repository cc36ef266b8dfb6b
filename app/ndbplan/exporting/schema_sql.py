"""schema.sql: databases, log file groups, tablespaces and tables of a plan, for the mysql client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Protocol

from ndbplan.configuration.refused_tables import refused_by_sql
from ndbplan.configuration.space_limits import refused_spaces, rounded_spaces
from ndbplan.configuration.table_options import ignored_options, refused_options
from ndbplan.ndb.sql_versions import charset_of_statements
from ndbplan.operations.schema import create_databases, create_table, disk_data_statements, unsaid
from ndbplan.plan.plan import Plan


class _Said(Protocol):
    """Something of a plan, and what is said of it."""

    @property
    def where(self) -> str: ...
    @property
    def why(self) -> str: ...


def render_schema(plan: Plan) -> str:
    """The text of schema.sql; empty for a plan without tables and disk data."""
    if not plan.tables and not plan.logfile_groups:
        return ""
    lines = [
        f"-- Schema of cluster '{' '.join(plan.name.split())}' for NDB {plan.ndb_version}, by ndbplan.",
        *_what_is_not_there(plan),
        "",
        f"SET NAMES {charset_of_statements(plan.version)};",
    ]
    lines += disk_data_statements(plan)
    lines += create_databases(plan.tables)
    logging = True
    for table in plan.tables:
        if table.logging != logging:
            logging = table.logging
            lines.append(f"SET ndb_table_no_logging={0 if logging else 1};")
        lines.append(create_table(plan, table))
    return "\n".join(lines) + "\n"


def _what_is_not_there(plan: Plan) -> Iterator[str]:
    """Comments about what the plan does not hold of its tables, and what SQL nodes of its version refuse."""
    lost = [(table, clause) for table in plan.tables for clause in table.left_out]
    if lost:
        yield "-- Not in this file, because the plan does not hold it:"
    for table, clause in lost:
        yield f"--   {_line(table.full_name)}: {_line(clause)}"
    without_words = [one for table in plan.tables for one in unsaid(plan, table)]
    if without_words:
        yield f"-- Not in this file, because NDB {plan.ndb_version} has no clause for it:"
    for where, what in without_words:
        yield f"--   {_line(where)}: {_line(what)}"
    refused: Iterable[_Said] = chain(refused_spaces(plan), refused_by_sql(plan), refused_options(plan))
    otherwise: Iterable[_Said] = chain(rounded_spaces(plan), ignored_options(plan))
    for how, found in (("refuses", refused), ("takes, but does not do as it stands", otherwise)):
        lines = [f"--   {_line(one.where)}: {_line(one.why)}" for one in found]
        if lines:
            yield f"-- mysqld of NDB {plan.ndb_version} {how}:"
        yield from lines


def _line(text: str) -> str:
    """A text that ends with its line."""
    return " ".join(text.split())
