"""What of tables and disk data differs between two plans: statements that NDB does online, or why it cannot.

    for step in table_steps(times, before, plan): ...
    for line in left_to_people(before, plan): ...

Sources: manual, Online Operations with ALTER TABLE in NDB Cluster, with its limitations; running 8.4.8 and
7.4.10 clusters (columns without COLUMN_FORMAT are converted with warning 1478; columns of a table on disk,
changed types and NOT NULL columns are refused with 1845 or 1846; READ_BACKUP changes in place; MAX_ROWS of a
table that was made without it copies); mysql-server 8.4, storage/ndb/plugin/ha_ndbcluster.cc
(update_comment_info: what a comment does not say must be the default; create: ROW_FORMAT=FIXED takes no
columns online).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ndbplan.base.quoting import sql_identifier, sql_text
from ndbplan.base.units import how_many
from ndbplan.configuration.table_options import has_own_balance
from ndbplan.estimate.storage.rows import row_layout
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.operations.commands import HasTable, Shell, on_an_sql_node
from ndbplan.operations.meanwhile import who_waits
from ndbplan.operations.operation import Step, Times
from ndbplan.operations.read_back import has_files, has_logging, has_no_table, has_table, read_back_step
from ndbplan.operations.schema import (
    column_text,
    disk_data_statements,
    index_text,
    online_alter,
    space_files,
    table_name,
)
from ndbplan.operations.schema_part import tables_step
from ndbplan.operations.steps import on_a_closed_sql_node
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table

_OF_A_COLUMN = (
    "type", "unsigned", "length", "scale", "members", "collation", "nullable", "storage", "column_format",
    "blob_inline_bytes", "blob_part_bytes", "default", "on_update", "auto_increment",
)  # fmt: skip
_OF_A_TABLE = {
    "primary_key": "its primary key",
    "primary_key_using_hash": "its primary key",
    "distribution_key": "its distribution key",
    "partitions": "its number of partitions",
    "partition_balance": "PARTITION_BALANCE",
    "fully_replicated": "FULLY_REPLICATED",
    "logging": "whether it is logged",
    "row_format_fixed": "ROW_FORMAT",
}
_COPIES = "the product copies the whole table, and clients must not write meanwhile"


class Altered(NamedTuple):
    """What brings one table from one definition to another."""

    statements: tuple[str, ...]
    """Each done at once or not at all; done before, it fails and changes nothing."""
    refused: tuple[str, ...]
    """What is not done online, and why."""
    added: tuple[Column, ...] = ()
    """Columns that it gets, behind all others."""


def knows_tables(before: Plan) -> bool:
    """Whether what runs says which tables there are: a config.ini does not."""
    return bool(before.tables or before.logfile_groups)


def stay(before: Plan, after: Plan) -> tuple[Table, ...]:
    """Tables of the plan that are there already; all of them where what runs says nothing of tables."""
    if not knows_tables(before):
        return after.tables
    old = {table.full_name for table in before.tables}
    return tuple(table for table in after.tables if table.full_name in old)


def table_steps(times: Times, before: Plan, after: Plan) -> Iterator[Step]:
    """The steps for tables and files that come, change and go, in this order."""
    if not (knows_tables(before) and after.sql_nodes):
        return
    fresh = tuple(disk_data_statements(after, before))
    if fresh:
        yield Step(
            "disk-data",
            "Create new files of disk data",
            "Data and undo files are written in full on every data node at once.",
            (*(on_an_sql_node(after, one, makes=True) for one in fresh), has_files(after, before)),
        )
    there = stay(before, after)
    new = [table for table in after.tables if table not in there]
    yield from tables_step(after, new, "new-tables", "Make the new tables")
    yield from on_a_closed_sql_node(times, after, _on_tables_there(before, after, there), "-tables")
    yield from read_back_step(after, _read_back(before, after, new, there))


def _read_back(
    before: Plan, after: Plan, new: Collection[Table], there: Iterable[Table]
) -> Iterator[HasTable | Shell]:
    """What is made and changed as it must be then, and what is removed."""
    yield from (has_table(after, table) for table in new)
    yield from has_logging(after, new)
    old = {table.full_name: table for table in before.tables}
    for table in there:
        was = old[table.full_name]
        altered = alter(after, was, table, before)
        if altered.statements:
            columns = (*was.columns, *altered.added)
            reached = was.model_copy(update={"columns": columns, "indexes": table.indexes})
            yield has_table(
                after,
                reached,
                known=[column.name for column in was.columns],
                dropped=[index.name for index in was.indexes],
            )
    wanted = {table.full_name for table in after.tables}
    yield from (has_no_table(after, table) for table in before.tables if table.full_name not in wanted)


def _on_tables_there(before: Plan, after: Plan, there: Collection[Table]) -> Iterator[Step]:
    """Steps of tables that clients may be using."""
    old = {table.full_name: table for table in before.tables}
    statements = [s for table in there for s in alter(after, old[table.full_name], table, before).statements]
    if statements:
        yield Step(
            "alter-tables",
            "Change tables online",
            "Without copies of the tables: where the product would need one, it refuses the statement. "
            f"{_sentence(who_waits(after))}",
            tuple(on_an_sql_node(after, one, makes=True) for one in statements),
            check="SHOW CREATE TABLE",
            rollback="columns cannot be dropped online; indexes can",
            if_it_fails="what was done stays, and is passed by when the part runs again; error 1553: a "
            "foreign key needs the index, and goes before (ALTER TABLE … DROP FOREIGN KEY)",
        )
    yield from _dropped(before, after)


def _dropped(before: Plan, after: Plan) -> Iterator[Step]:
    wanted = {table.full_name for table in after.tables}
    gone = [table_name(table) for table in before.tables if table.full_name not in wanted]
    if gone:
        yield Step(
            "drop-tables",
            "Remove tables that the plan no longer has",
            f"{_sentence(who_waits(after))} Foreign keys of other tables that refer to them go before.",
            tuple(on_an_sql_node(after, f"DROP TABLE IF EXISTS {name};") for name in gone),
            destructive=f"All rows of {how_many(len(gone), 'table')} are lost: " + ", ".join(gone[:8]),
            if_it_fails="error 3730 or 1217: another table refers to this one; drop its foreign key (ALTER "
            "TABLE … DROP FOREIGN KEY) and run the part again",
        )


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def left_to_people(before: Plan, after: Plan) -> Iterator[str]:
    """What of tables a change leaves out, and why."""
    if not knows_tables(before):
        if after.tables:
            yield (
                "left out: tables. What runs says nothing of them; the part schema makes those that are "
                "missing"
            )
        return
    if not after.sql_nodes:
        if before.tables != after.tables:
            yield "left out: tables. The plan has no SQL node"
        return
    old = {table.full_name: table for table in before.tables}
    for table in stay(before, after):
        for why in alter(after, old[table.full_name], table, before).refused:
            yield f"left out: {table.full_name}: {why}"
    yield from _sizes_of_spaces(before, after)
    now, then = space_files(before), space_files(after)
    for space, files in now.items():
        for name, size in files.items():
            if then.get(space, {}).get(name) != size:
                yield f"left out: file {name} of {space} goes or gets another size: not done online"


def _sizes_of_spaces(before: Plan, after: Plan) -> Iterator[str]:
    """What log file groups and tablespaces are made with, and no statement changes."""
    groups = {group.name: group for group in after.logfile_groups}
    for group in before.logfile_groups:
        new = groups.get(group.name)
        if new is not None and new.undo_buffer_bytes != group.undo_buffer_bytes:
            yield (
                f"left out: UNDO_BUFFER_SIZE of {group.name} changes from {group.undo_buffer_bytes} to "
                f"{new.undo_buffer_bytes}: only a log file group that is made anew has another one"
            )
    spaces = {space.name: space for space in after.tablespaces}
    for space in before.tablespaces:
        other = spaces.get(space.name)
        if other is not None and other.extent_size_bytes != space.extent_size_bytes:
            yield (
                f"left out: EXTENT_SIZE of {space.name} changes from {space.extent_size_bytes} to "
                f"{other.extent_size_bytes}: only a tablespace that is made anew has another one"
            )


def alter(plan: Plan, old: Table, new: Table, before: Plan) -> Altered:
    """What is done online to a table of `before` so that it becomes one of `plan`, and what is not."""
    columns = _columns(plan, old, new)
    statements: list[str] = []
    refused: list[str] = []
    for name, words in _OF_A_TABLE.items():
        if getattr(old, name) != getattr(new, name):
            refused.append(f"{words} changes: {_COPIES}")
    if _space(before, old) != _space(plan, new):
        refused.append(f"its tablespace changes: {_COPIES}")
    for part in (columns, _indexes(plan, old, new), _sizes(plan, old, new)):
        statements += part.statements
        refused += part.refused
    return Altered(tuple(statements), tuple(dict.fromkeys(refused)), columns.added)


def _space(plan: Plan, table: Table) -> str:
    return "" if table.tablespace_id is None else plan.by_id[table.tablespace_id].name


def _columns(plan: Plan, old: Table, new: Table) -> Altered:
    statements, refused, added = [], [], []
    were, are = {c.name: c for c in old.columns}, {c.name: c for c in new.columns}
    for name in were.keys() - are.keys():
        refused.append(f"column {name} goes: {_COPIES}")
    for name in were.keys() & are.keys():
        if changed := [f for f in _OF_A_COLUMN if getattr(were[name], f) != getattr(are[name], f)]:
            refused.append(f"column {name} has another {', '.join(changed)}: {_COPIES}")
    kept = [c.name for c in new.columns if c.name in were]
    if [name for name in were if name in are] != kept or [c.name for c in new.columns[: len(kept)]] != kept:
        refused.append("columns are in another order: new ones come behind all others online")
        return Altered((), tuple(sorted(refused)))
    for column in new.columns:
        if column.name in were:
            continue
        if why := _no_online_column(plan, old, column):
            refused.append(f"column {column.name} cannot be added online: {why}")
        else:
            text = column_text(plan, new, column.model_copy(update={"column_format": "dynamic"}))
            statements.append(online_alter(plan, new, f"ADD COLUMN {text}"))
            added.append(column)
    return Altered(tuple(statements), tuple(sorted(refused)), tuple(added))


def _no_online_column(plan: Plan, table: Table, column: Column) -> str:
    """Why a column is not added to a table without copying it; nothing: it is."""
    if not table.primary_key:
        return "the table has no primary key of its own"
    if table.row_format_fixed and not row_layout(table, plan.version).variable_words:
        return "its table has ROW_FORMAT FIXED, and no part of variable width"
    if not column.nullable:
        return "it must take NULL"
    if column.storage == "disk":
        return "columns on disk are not"
    if COLUMN_TYPES[column.type].is_blob:
        return "BLOB, TEXT and JSON are not"
    if column.default is not None or column.on_update is not None or column.auto_increment:
        return "its DEFAULT must be NULL"
    return "COLUMN_FORMAT FIXED is not" if column.column_format == "fixed" else ""


def _indexes(plan: Plan, old: Table, new: Table) -> Altered:
    statements = []
    were, are = ({i.name: (i.columns, i.kind) for i in table.indexes} for table in (old, new))
    for name, what in were.items():
        if are.get(name) != what:
            statements.append(online_alter(plan, new, f"DROP INDEX {sql_identifier(name)}"))
    for index in new.indexes:
        if were.get(index.name) != (index.columns, index.kind):
            statements.append(online_alter(plan, new, f"ADD {index_text(index)}"))
    return Altered(tuple(statements), ())


def _sizes(plan: Plan, old: Table, new: Table) -> Altered:
    """MAX_ROWS and READ_BACKUP."""
    statements, refused = [], []
    if old.max_rows != new.max_rows:
        raised = old.max_rows is not None and new.max_rows is not None and new.max_rows > old.max_rows
        if raised and plan.features.max_rows_online:
            statements.append(online_alter(plan, new, f"MAX_ROWS={new.max_rows}"))
        else:
            refused.append(
                f"MAX_ROWS changes: it is raised online where the table was made with it; else {_COPIES}"
            )
    if old.read_backup != new.read_backup and plan.features.read_backup:
        value = plan.features.read_backup_by_default if new.read_backup is None else new.read_backup
        if old.partitions is not None or (
            old.max_rows is not None and not has_own_balance(old, plan.version)
        ):
            refused.append(f"READ_BACKUP changes: its number of partitions is its own, and {_COPIES}")
        else:
            # What is said is kept; what is not said must be the default, and it has no logging.
            more = "" if old.logging else ",NOLOGGING=1"
            comment = sql_text(f"NDB_TABLE=READ_BACKUP={int(value)}{more}")
            statements.append(online_alter(plan, new, f"COMMENT={comment}"))
    return Altered(tuple(statements), tuple(refused))
