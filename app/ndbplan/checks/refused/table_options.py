"""Rules about options of tables and sizes of disk data that a cluster refuses, or makes otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ndbplan.checks.problem import Edit, Problem
from ndbplan.checks.rule import error, hint, rule, warning
from ndbplan.configuration.space_limits import refused_spaces, rounded_spaces
from ndbplan.configuration.table_options import (
    MAX_ROWS_MOST,
    OddOption,
    ignored_options,
    refused_options,
)
from ndbplan.edits import tables, validated
from ndbplan.edits.changes import SetField
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan


@rule("table-options-refused", "A table has options that no SQL node takes together")
def table_options_refused(now: Estimation) -> Iterator[Problem]:
    for one in refused_options(now.plan):
        fix, edit = _without(one)
        yield error(one.where, f"{one.where}: {one.why}; CREATE TABLE fails", fix, [one.table.id], edit)


@rule("table-options-ignored", "A table has options that SQL nodes leave aside")
def table_options_ignored(now: Estimation) -> Iterator[Problem]:
    for one in ignored_options(now.plan):
        fix, edit = _without(one)
        yield warning(one.where, f"{one.where}: {one.why}", fix, [one.table.id], edit)


@rule("space-refused", "A log file group or tablespace has a size or name that is refused")
def space_refused(now: Estimation) -> Iterator[Problem]:
    for one in refused_spaces(now.plan):
        what = f"call it {one.instead}" if one.field == "name" else "take the nearest size that is taken"
        yield error(
            one.where,
            f"{one.where}: {one.why}; its CREATE fails",
            what,
            [one.part.id],
            SetField(one.part.id, one.field, one.instead),
        )


@rule("space-rounded", "A size of disk data is rounded")
def space_rounded(now: Estimation) -> Iterator[Problem]:
    for one in rounded_spaces(now.plan):
        yield hint(
            one.where,
            f"{one.where}: {one.why}",
            "state the size that it gets",
            [one.part.id],
            SetField(one.part.id, one.field, one.instead),
        )


_WITHOUT: dict[str, tuple[str, str, object]] = {
    "read_backup": ("leave READ_BACKUP out", "read_backup", None),
    "partitions": ("leave PARTITIONS out", "partitions", None),
    "max_rows": ("leave MAX_ROWS out", "max_rows", None),
    "max_rows_most": (f"state MAX_ROWS={MAX_ROWS_MOST}", "max_rows", MAX_ROWS_MOST),
    "logging": ("state that it is logged", "logging", True),
}


def _without(one: OddOption) -> tuple[str, Edit]:
    """What to do about an option, in words and as an edit."""
    table = one.table
    if one.column:
        fields, fix = _OF_COLUMNS[one.option]
        if one.option == "auto_increment":
            larger = _larger(table.column(one.column).type)
            fields = {"type": larger}
            fix = f"make it {larger.upper()}, or lower ndb-autoincrement-prefetch-sz of every SQL node"
        return fix, partial(_with_column, table_id=table.id, name=one.column, fields=fields)
    if one.option == "distribution_key":
        inside = {name.casefold() for name in table.primary_key}
        kept = tuple(name for name in table.distribution_key if name.casefold() in inside)
        return "distribute it by columns of its primary key", SetField(table.id, "distribution_key", kept)
    fix, field, value = _WITHOUT[one.option]
    edit: Edit = SetField(table.id, field, value)
    return fix, edit


_OF_COLUMNS: dict[str, tuple[dict[str, object], str]] = {
    "column_format": ({"column_format": "default"}, "leave COLUMN_FORMAT out"),
    "blob_sizes": ({"blob_inline_bytes": None, "blob_part_bytes": None}, "leave its sizes out"),
    "auto_increment": ({}, ""),
}


def _larger(kind: str) -> str:
    """The next larger type of whole numbers."""
    return {"tinyint": "smallint", "smallint": "mediumint", "mediumint": "int"}.get(kind, "bigint")


def _with_column(plan: Plan, table_id: str, name: str, fields: dict[str, object]) -> Plan:
    columns = plan.table(table_id).columns
    new = tuple(validated.changed(one, **fields) if one.name == name else one for one in columns)
    return tables.put_columns(plan, table_id, new)
