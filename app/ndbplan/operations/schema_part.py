"""Tables and accounts of a cluster that has none yet; what is there already stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ndbplan.estimate.estimation import Estimation
from ndbplan.operations.accounts import make_accounts
from ndbplan.operations.commands import Command, on_an_sql_node
from ndbplan.operations.operation import Operation, Step
from ndbplan.operations.read_back import has_logging, has_table, read_back_step
from ndbplan.operations.schema import create_databases, create_table
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table


def make_schema(now: Estimation, *, timed: bool = True) -> Operation | None:
    """Tables and accounts; None without an SQL node. It has no estimate."""
    del timed
    plan = now.plan
    if not plan.sql_nodes:
        return None
    steps = (
        *tables_step(plan, plan.tables, "tables", "Make the tables"),
        *make_accounts(plan),
        *read_back_step(
            plan, (*(has_table(plan, table) for table in plan.tables), *has_logging(plan, plan.tables))
        ),
    )
    return Operation(
        "schema",
        "Make tables and accounts",
        steps,
        "After the first start, or whenever some are missing: a table that is there is left as it is.",
    )


def tables_step(plan: Plan, tables: Iterable[Table], key: str, title: str) -> Iterator[Step]:
    """Databases and tables that are made where they are not there yet; nothing for no tables."""
    tables = tuple(tables)
    if tables:
        yield Step(
            key,
            title,
            "The statements of schema.sql, one table after the other. One that is there counts as done.",
            tuple(_made(plan, tables)),
            check="SHOW TABLES lists them on every SQL node",
            rollback="DROP TABLE, as long as they are empty",
        )


def _made(plan: Plan, tables: tuple[Table, ...]) -> Iterator[Command]:
    for statement in create_databases(tables):
        yield on_an_sql_node(plan, statement, makes=True)
    for table in tables:
        statements = [create_table(plan, table)]
        if not table.logging:
            # Who types has one session for all tables.
            statements = ["SET ndb_table_no_logging=1;", *statements, "SET ndb_table_no_logging=0;"]
        yield on_an_sql_node(plan, *statements, makes=True)
