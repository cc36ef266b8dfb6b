"""schema.sql: what it says is read back to the same tables, tablespaces and log file groups."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.exporting.schema_sql import render_schema
from ndbplan.importing.files import import_files
from ndbplan.plan import file
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.tables import Table

SAMPLES = sorted(path.stem for path in resource_path("samples").glob("*.ndbplan"))
SHAPE = (
    "primary_key",
    "primary_key_using_hash",
    "distribution_key",
    "partitions",
    "fully_replicated",
    "logging",
)


def shape(plan: Plan, table: Table) -> dict[str, Any]:
    """What a CREATE TABLE says of a table."""
    found: dict[str, Any] = {name: getattr(table, name) for name in SHAPE}
    found["balance"] = table.partition_balance if plan.features.partition_balance else None
    found["columns"] = [
        (c.name, c.type, c.unsigned, c.scale or 0, c.nullable, c.storage, c.column_format)
        for c in table.columns
    ]
    found["indexes"] = {(i.name, i.columns, i.kind) for i in table.indexes}
    spaces = {space.id: space.name for space in plan.tablespaces}
    found["tablespace"] = spaces.get(table.tablespace_id or "")
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_the_schema_is_read_back(name: str) -> None:
    plan = file.load(resource_path(f"samples/{name}.ndbplan"))
    text = render_schema(plan)
    if not plan.tables:
        return
    done = import_files({"schema.sql": text.encode()}, EMPTY_PLAN.replace(ndb_version=plan.ndb_version))
    assert [f.message for f in done.findings] == []
    again = {table.full_name: table for table in done.plan.tables}
    for table in plan.tables:
        assert shape(done.plan, again[table.full_name]) == shape(plan, table)
    assert [(g.name, g.undo_buffer_bytes) for g in done.plan.logfile_groups] == [
        (g.name, g.undo_buffer_bytes) for g in plan.logfile_groups
    ]
    for one, other in zip(plan.tablespaces, done.plan.tablespaces, strict=True):
        assert one.extent_size_bytes == other.extent_size_bytes
        assert sum(f.size_bytes * f.count for f in one.data_files) == sum(
            f.size_bytes * f.count for f in other.data_files
        )


def test_a_plan_without_tables_has_no_schema() -> None:
    assert render_schema(EMPTY_PLAN) == ""
