"""schema.sql: databases, log file groups, tablespaces and tables of a plan, for the mysql client."""

from __future__ import annotations

from ndbplan.operations.schema import create_databases, create_table, disk_data_statements
from ndbplan.plan.plan import Plan


def render_schema(plan: Plan) -> str:
    """The text of schema.sql; empty for a plan without tables and disk data."""
    if not plan.tables and not plan.logfile_groups:
        return ""
    lines = [
        f"-- Schema of cluster '{' '.join(plan.name.split())}' for NDB {plan.ndb_version}, by ndbplan.",
        "",
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
