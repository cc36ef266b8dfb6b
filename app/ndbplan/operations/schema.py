"""What a plan says of tables and disk data, as statements of SQL.

create_table(plan, plan.tables[0])      # CREATE TABLE `d`.`t` (…) ENGINE=NDB;
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ndbplan.base.quoting import sql_identifier, sql_text
from ndbplan.configuration.directories import folders_in_statements
from ndbplan.configuration.space_files import named_files
from ndbplan.estimate.storage.rows import stored_column
from ndbplan.ndb.columns import COLUMN_TYPES, Length, Storage
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import (
    Column,
    Index,
    LogfileGroup,
    PartitionBalance,
    Table,
    Tablespace,
)


def table_name(table: Table) -> str:
    """Database and table, quoted."""
    return f"{sql_identifier(table.database)}.{sql_identifier(table.name)}"


def create_databases(tables: Iterable[Table]) -> Iterator[str]:
    """A statement for each database of tables."""
    for database in dict.fromkeys(table.database for table in tables):
        yield f"CREATE DATABASE IF NOT EXISTS {sql_identifier(database)};"


def online_alter(plan: Plan, table: Table, action: str) -> str:
    """ALTER TABLE without a copy of the table: refused by the product where it would need one."""
    if plan.features.algorithm_inplace:
        return f"ALTER TABLE {table_name(table)} ALGORITHM=INPLACE, {action};"
    return f"ALTER ONLINE TABLE {table_name(table)} {action};"


def create_table(plan: Plan, table: Table) -> str:
    """The CREATE TABLE statement of one table."""
    inside = [column_text(plan, table, column) for column in table.columns]
    if table.primary_key:
        using = " USING HASH" if table.primary_key_using_hash else ""
        inside.append(f"PRIMARY KEY{using} ({_names(table.primary_key)})")
    inside += [index_text(index) for index in table.indexes]
    body = ",\n  ".join(inside)
    return f"CREATE TABLE {table_name(table)} (\n  {body}\n) {' '.join(_options(plan, table))};"


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(sql_identifier, columns))


def index_text(index: Index) -> str:
    """A secondary index as CREATE TABLE and ADD take it."""
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


def column_text(plan: Plan, table: Table, column: Column) -> str:
    """A column as CREATE TABLE and ADD COLUMN take it."""
    words = [sql_identifier(column.name), type_text(column)]
    if column.unsigned and COLUMN_TYPES[column.type].is_number:
        words.append("UNSIGNED")
    if column.collation is not None and COLUMN_TYPES[column.type].is_text:
        words.append(f"COLLATE {column.collation}")
    words.append("NULL" if column.nullable and column.name not in table.primary_key else "NOT NULL")
    if column.default is not None:
        words.append(f"DEFAULT {column.default}")
    if column.on_update is not None:
        words.append(f"ON UPDATE {column.on_update}")
    if column.auto_increment:
        words.append("AUTO_INCREMENT")
    if table.tablespace_id is not None or column.storage == "disk":
        # Said of each column: the table's own STORAGE holds for those that say nothing.
        words.append(f"STORAGE {column.storage.upper()}")
    if column.column_format != "default":
        words.append(f"COLUMN_FORMAT {column.column_format.upper()}")
    told = ",".join(_blob_sizes(plan, column))
    if told:
        words.append(f"COMMENT 'NDB_COLUMN={told}'")
    return " ".join(words)


def _blob_sizes(plan: Plan, column: Column) -> Iterator[str]:
    if not COLUMN_TYPES[column.type].is_blob:
        return
    if column.blob_inline_bytes is not None and plan.features.blob_inline_by_comment:
        yield f"BLOB_INLINE_SIZE={column.blob_inline_bytes}"
    if column.blob_part_bytes is not None and _is_largest_part(plan, column.blob_part_bytes):
        yield "MAX_BLOB_PART_SIZE=1"


def _is_largest_part(plan: Plan, part_bytes: int) -> bool:
    return plan.features.blob_parts_by_comment and part_bytes == plan.features.blob_part_bytes_most


def unsaid(plan: Plan, table: Table) -> Iterator[tuple[str, str]]:
    """What the plan states of a table and no statement of the version can say: where, and what, in words."""
    told = []
    if table.partition_balance is not PartitionBalance.FOR_RP_BY_LDM and not plan.features.partition_balance:
        told.append(f"PARTITION_BALANCE={table.partition_balance.value}")
    if table.read_backup is not None and not plan.features.read_backup:
        told.append(f"READ_BACKUP={int(table.read_backup)}")
    if table.fully_replicated and not plan.features.read_backup:
        told.append("FULLY_REPLICATED=1")
    yield from ((table.full_name, what) for what in told)
    for column in table.columns:
        for what in _unsaid_sizes(plan, column):
            yield f"column {column.name} of {table.full_name}", what


def _unsaid_sizes(plan: Plan, column: Column) -> Iterator[str]:
    """Sizes of a BLOB that no statement of the version asks for; the type's own need none."""
    if not COLUMN_TYPES[column.type].is_blob:
        return
    usual = stored_column(column.model_copy(update=_NO_SIZES), plan.version).type
    inline, part = column.blob_inline_bytes, column.blob_part_bytes
    if inline not in (None, usual.inline_bytes) and not plan.features.blob_inline_by_comment:
        yield f"{inline} bytes in the row; without BLOB_INLINE_SIZE they are {usual.inline_bytes}"
    if part not in (None, usual.part_bytes) and not _is_largest_part(plan, part or 0):
        yield f"parts of {part} bytes; no statement asks for them, and they are of {usual.part_bytes}"


_NO_SIZES = {"blob_inline_bytes": None, "blob_part_bytes": None}


def type_text(column: Column) -> str:
    """A type with its length, as statements take it."""
    kind, name = COLUMN_TYPES[column.type], column.type.upper()
    if kind.length is Length.MEMBERS:
        return f"{name}({','.join(map(sql_text, members_of(column)))})"
    if column.length is None and kind.storage is Storage.VARIABLE:
        # Servers ask for a length; this is what is planned with.
        return f"{name}({kind.default_length})"
    if kind.length is Length.NOTHING or column.length is None:
        return name
    if kind.length is Length.DIGITS:
        return f"{name}({column.length},{column.scale or 0})"
    if kind.length is Length.FRACTION_DIGITS and not column.length:
        return name
    return f"{name}({column.length})"


def members_of(column: Column) -> tuple[str, ...]:
    """Members of an ENUM or SET; where only their number is stated they have names of ours."""
    return column.members or tuple(f"v{number}" for number in range(1, (column.length or 1) + 1))


_USUAL = {"decimal": "(10,0)", "bit": "(1)", "char": "(1)", "binary": "(1)"}
"""What is written of a type that is typed without a length (manual, data types)."""


def server_type(column: Column) -> str:
    """The type of a column as servers write it, but for the width of whole numbers: `int unsigned`."""
    if COLUMN_TYPES[column.type].length is Length.MEMBERS:
        # A tab stands as it is, and spaces at the ends are gone.
        members = (sql_text(member.rstrip(" ")).replace(r"\t", "\t") for member in members_of(column))
        return f"{column.type}({','.join(members)})"
    name, bracket, rest = type_text(column).partition("(")
    usual = "" if bracket else _USUAL.get(column.type, "")
    is_unsigned = column.unsigned and COLUMN_TYPES[column.type].is_number
    return f"{name.lower()}{bracket}{rest}{usual}{' unsigned' if is_unsigned else ''}"


def disk_data_statements(plan: Plan, before: Plan | None = None) -> Iterator[str]:
    """Statements that make the log file groups and tablespaces of a plan with every file.

    `before`: what is there already; only what it lacks is made then.
    """
    there = {} if before is None else space_files(before)
    folders = folders_in_statements(plan)
    for group in plan.logfile_groups:
        yield from _logfile_group(group, there.get(group.name), folders.get(DiskRole.UNDO))
        for space in plan.tablespaces:
            if space.logfile_group_id == group.id:
                folder = None if space.directory else folders.get(DiskRole.DATA_FILES)
                yield from _tablespace(plan, space, group, there.get(space.name), folder)


def space_files(plan: Plan) -> dict[str, dict[str, int]]:
    """Undo and data files with their sizes in bytes, by the log file group or tablespace that has them."""
    files = {group.name: dict(named_files(group.undo_files, None)) for group in plan.logfile_groups}
    return files | {
        space.name: dict(named_files(space.data_files, space.directory)) for space in plan.tablespaces
    }


def placed_files(plan: Plan) -> Iterator[tuple[str, str, int]]:
    """Each undo and data file: its log file group or tablespace, its name in statements, bytes."""
    folders = folders_in_statements(plan)
    for group in plan.logfile_groups:
        for name, size in named_files(group.undo_files, None):
            yield group.name, _placed(name, folders.get(DiskRole.UNDO)), size
    for space in plan.tablespaces:
        folder = None if space.directory else folders.get(DiskRole.DATA_FILES)
        for name, size in named_files(space.data_files, space.directory):
            yield space.name, _placed(name, folder), size


def _placed(name: str, folder: str | None) -> str:
    return f"{folder.rstrip('/')}/{name}" if folder and not name.startswith("/") else name


def _path(name: str, folder: str | None) -> str:
    """A file as a statement names it; `folder`: where no parameter of the version says it."""
    return sql_text(_placed(name, folder))


def _logfile_group(group: LogfileGroup, there: Mapping[str, int] | None, folder: str | None) -> Iterator[str]:
    (first, size), *others = files = list(named_files(group.undo_files, None))
    name = sql_identifier(group.name)
    if there is None:
        yield (
            f"CREATE LOGFILE GROUP {name} ADD UNDOFILE {_path(first, folder)} INITIAL_SIZE {size} "
            f"UNDO_BUFFER_SIZE {group.undo_buffer_bytes} ENGINE NDBCLUSTER;"
        )
    for other, size in others if there is None else files:
        if other not in (there or {}):
            yield (
                f"ALTER LOGFILE GROUP {name} ADD UNDOFILE {_path(other, folder)} INITIAL_SIZE {size} "
                "ENGINE NDBCLUSTER;"
            )


def _tablespace(
    plan: Plan,
    space: Tablespace,
    group: LogfileGroup,
    there: Mapping[str, int] | None,
    folder: str | None,
) -> Iterator[str]:
    (first, size), *others = files = list(named_files(space.data_files, space.directory))
    name = sql_identifier(space.name)
    if there is None:
        yield (
            f"CREATE TABLESPACE {name} ADD DATAFILE {_path(first, folder)} USE LOGFILE GROUP "
            f"{sql_identifier(group.name)} EXTENT_SIZE {space.extent_size_bytes} INITIAL_SIZE {size} "
            "ENGINE NDBCLUSTER;"
        )
    engine = " ENGINE NDBCLUSTER" if plan.features.tablespace_engine_named else ""
    for other, size in others if there is None else files:
        if other not in (there or {}):
            yield f"ALTER TABLESPACE {name} ADD DATAFILE {_path(other, folder)} INITIAL_SIZE {size}{engine};"
