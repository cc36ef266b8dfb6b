"""schema.sql: databases, log file groups, tablespaces and tables of a plan, for the mysql client."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.base.quoting import sql_identifier, sql_text
from ndbplan.ndb.columns import COLUMN_TYPES, Length
from ndbplan.operations.first_start import disk_data_statements
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Index, PartitionBalance, Table

_LARGEST_PART = 13948
"""Bytes of a blob part that MAX_BLOB_PART_SIZE asks for."""


def render_schema(plan: Plan) -> str:
    """The text of schema.sql; empty for a plan without tables and disk data."""
    if not plan.tables and not plan.logfile_groups:
        return ""
    lines = [
        f"-- Schema of cluster '{' '.join(plan.name.split())}' for NDB {plan.ndb_version}, by ndbplan.",
        "",
    ]
    lines += disk_data_statements(plan)
    for database in dict.fromkeys(table.database for table in plan.tables):
        lines.append(f"CREATE DATABASE IF NOT EXISTS {sql_identifier(database)};")
    logging = True
    for table in plan.tables:
        if table.logging != logging:
            logging = table.logging
            lines.append(f"SET ndb_table_no_logging={0 if logging else 1};")
        lines.append(create_table(plan, table))
    return "\n".join(lines) + "\n"


def create_table(plan: Plan, table: Table) -> str:
    """The CREATE TABLE statement of one table."""
    inside = [_column(plan, table, column) for column in table.columns]
    if table.primary_key:
        using = " USING HASH" if table.primary_key_using_hash else ""
        inside.append(f"PRIMARY KEY{using} ({_names(table.primary_key)})")
    inside += [_index(index) for index in table.indexes]
    name = f"{sql_identifier(table.database)}.{sql_identifier(table.name)}"
    body = ",\n  ".join(inside)
    return f"CREATE TABLE {name} (\n  {body}\n) {' '.join(_options(plan, table))};"


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(sql_identifier, columns))


def _index(index: Index) -> str:
    name, columns = sql_identifier(index.name), _names(index.columns)
    if index.kind == "ordered":
        return f"INDEX {name} ({columns})"
    using = " USING HASH" if index.kind == "unique_hash" else ""
    return f"UNIQUE INDEX {name} ({columns}){using}"


def _options(plan: Plan, table: Table) -> Iterator[str]:
    if table.tablespace_id is not None:
        yield f"TABLESPACE {sql_identifier(plan.by_id[table.tablespace_id].name)}"
        if any(column.storage == "disk" for column in table.columns):
            yield "STORAGE DISK"
    yield "ENGINE=NDB"
    if table.max_rows is not None:
        yield f"MAX_ROWS={table.max_rows}"
    if table.row_format_fixed:
        yield "ROW_FORMAT=FIXED"
    told = []
    if table.partition_balance is not PartitionBalance.FOR_RP_BY_LDM:
        told.append(f"PARTITION_BALANCE={table.partition_balance.value}")
    if table.read_backup is not None and plan.features.read_backup:
        told.append(f"READ_BACKUP={int(table.read_backup)}")
    if table.fully_replicated and plan.features.read_backup:
        told.append("FULLY_REPLICATED=1")
    if told and plan.features.partition_balance:
        yield f"COMMENT='NDB_TABLE={','.join(told)}'"
    if table.distribution_key or table.partitions:
        count = f" PARTITIONS {table.partitions}" if table.partitions else ""
        yield f"PARTITION BY KEY ({_names(table.distribution_key)}){count}"


def _column(plan: Plan, table: Table, column: Column) -> str:
    words = [sql_identifier(column.name), _type(column)]
    if column.unsigned:
        words.append("UNSIGNED")
    if column.collation is not None and COLUMN_TYPES[column.type].is_text:
        words.append(f"COLLATE {column.collation}")
    words.append("NULL" if column.nullable and column.name not in table.primary_key else "NOT NULL")
    if table.tablespace_id is not None or column.storage == "disk":
        # Said of each column: the table's own STORAGE holds for those that say nothing.
        words.append(f"STORAGE {column.storage.upper()}")
    if column.column_format != "default":
        words.append(f"COLUMN_FORMAT {column.column_format.upper()}")
    told = []
    if column.blob_inline_bytes is not None and plan.features.blob_inline_by_comment:
        told.append(f"BLOB_INLINE_SIZE={column.blob_inline_bytes}")
    if column.blob_part_bytes is not None and column.blob_part_bytes >= _LARGEST_PART:
        told.append("MAX_BLOB_PART_SIZE=1")
    if told:
        words.append(f"COMMENT 'NDB_COLUMN={','.join(told)}'")
    return " ".join(words)


def _type(column: Column) -> str:
    kind, name = COLUMN_TYPES[column.type], column.type.upper()
    if kind.length is Length.MEMBERS:
        members = column.members or tuple(f"v{number}" for number in range(1, (column.length or 1) + 1))
        return f"{name}({','.join(map(sql_text, members))})"
    if kind.length is Length.NOTHING or column.length is None:
        return name
    if kind.length is Length.DIGITS:
        return f"{name}({column.length},{column.scale or 0})"
    if kind.length is Length.FRACTION_DIGITS and not column.length:
        return name
    return f"{name}({column.length})"
