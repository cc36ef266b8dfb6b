"""SHOW CREATE TABLE of a table of the plan, in the form of the server [8.4.8, 7.4.10]."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ndbplan.base.quoting import sql_identifier
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.console import form
from ndbplan.operations.schema import server_type
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, PartitionBalance, Table
from ndbplan.train.sql.character_sets import clause, of_created, of_table
from ndbplan.train.sql.expressions_kept import check_lines, expressions_of
from ndbplan.train.sql.foreign_keys import keys_of
from ndbplan.train.sql.storage import named_space, said_of
from ndbplan.train.state import is_local

COMMENT, CONNECTION, LINEAR = "COMMENT=", "CONNECTION=", "PARTITION BY LINEAR KEY"
BESIDE, AS_TYPED = "COMMENT beside NDB_TABLE=", "COMMENT as typed="
"""How clauses begin that a table keeps in words alone."""
UNSAID = "ndb_table_no_logging"
"""Kept by a table that is not logged as its session said so: no statement tells it."""
_WIDTHS = {"tinyint": 4, "smallint": 6, "mediumint": 9, "int": 11, "bigint": 20, "year": 4}
"""Digits of a signed whole number, which older servers write behind its type."""


def created(plan: Plan, table: Table, next_number: int | None = None) -> str:
    """The statement that the server says made the table; `next_number`: what AUTO_INCREMENT gives next."""
    lines = [_column(plan, table, column) for column in table.columns]
    if table.primary_key:
        using = " USING HASH" if table.primary_key_using_hash else ""
        lines.append(f"PRIMARY KEY ({_names(table.primary_key)}){using}")
    for index in table.indexes:
        unique = "" if index.kind == "ordered" else "UNIQUE "
        using = " USING HASH" if index.kind == "unique_hash" else ""
        lines.append(f"{unique}KEY {sql_identifier(index.name)} ({_names(index.columns)}){using}")
    whole = not form(plan.version, "dictionary_of_its_own")
    lines += [key.text(whole=whole) for key in keys_of(plan, table)]
    lines += check_lines(table)
    body = ",\n  ".join(lines)
    options = " ".join(_options(plan, table, next_number))
    return f"CREATE TABLE {sql_identifier(table.name)} (\n  {body}\n) {options}{_parts(table)}"


def _names(names: tuple[str, ...]) -> str:
    return ",".join(map(sql_identifier, names))


def typed(plan: Plan, column: Column) -> str:
    """The type of a column as the server writes it: `int(10) unsigned`."""
    text, width = server_type(column), _WIDTHS.get(column.type)
    if width is None or "(" in text or not form(plan.version, "integer_widths"):
        return text
    name, space, unsigned = text.partition(" ")
    return f"{name}({width - (column.unsigned and column.type != 'bigint')}){space}{unsigned}"


def column_text(plan: Plan, column: Column) -> str:
    """A column by itself, such as a query gives it."""
    words = [sql_identifier(column.name), typed(plan, column)]
    if column.collation is not None and COLUMN_TYPES[column.type].is_text:
        words.append(f"COLLATE {column.collation}")
    return " ".join([*words, *_takes(column, can_be_null=column.nullable)])


def _column(plan: Plan, table: Table, column: Column) -> str:
    words = [sql_identifier(column.name), typed(plan, column), *of_created(table, column, plan.version)]
    if where := said_of(table).columns.get(column.name):
        words.append(f"/*!50606 STORAGE {where} */")
    if column.column_format != "default":
        words.append(f"/*!50606 COLUMN_FORMAT {column.column_format.upper()} */")
    can_be_null = column.nullable and column.name not in table.primary_key
    if (text := expressions_of(table).generated.get(column.name)) is not None:
        return " ".join([*words, f"GENERATED ALWAYS AS ({text}) STORED", *["NOT NULL"] * (not can_be_null)])
    words += _takes(column, can_be_null=can_be_null)
    return " ".join(words)


def _takes(column: Column, *, can_be_null: bool) -> Iterator[str]:
    """What a column takes, and by itself."""
    kind = COLUMN_TYPES[column.type]
    if not can_be_null:
        yield "NOT NULL"
    elif column.type == "timestamp":
        yield "NULL"
    if column.default is not None:
        yield f"DEFAULT {_default(column.default)}"
    elif can_be_null and (not kind.is_blob or column.type == "json"):
        yield "DEFAULT NULL"
    if column.on_update is not None:
        yield f"ON UPDATE {_default(column.on_update)}"
    if column.auto_increment:
        yield "AUTO_INCREMENT"


def _default(value: str) -> str:
    """Numbers stand in quotes; functions and texts as they were typed."""
    plain = value.replace("-", "", 1).replace(".", "", 1)
    if plain.isdigit():
        return f"'{value}'"
    moment = _NOW.fullmatch(value)
    if moment is not None:
        return f"CURRENT_TIMESTAMP{moment[1] or ''}"
    call = _CALLED.fullmatch(value)
    return value if call is None else f"({_NAMES.get(call[1].lower(), call[1].lower())}())"


_NOW = re.compile(r"(?:now|current_timestamp|localtime|localtimestamp)(?:\(\)|(\([0-9]\)))?", re.IGNORECASE)
_CALLED = re.compile(
    r"\((current_date|curdate|current_time|curtime|current_timestamp|now|uuid)(?:\(\))?\)", re.IGNORECASE
)
_NAMES = {"current_date": "curdate", "current_time": "curtime", "current_timestamp": "now"}
"""Names that the server writes for others of the same function (item_timefunc.h)."""


def _options(plan: Plan, table: Table, next_number: int | None) -> Iterator[str]:
    space = named_space(table)
    if table.tablespace_id is not None:
        space = plan.by_id[table.tablespace_id].name
    where = said_of(table).table
    said = [f"TABLESPACE {sql_identifier(space)}"] * bool(space) + [f"STORAGE {where}"] * bool(where)
    if said:
        yield f"/*!50100 {' '.join(said)} */"
    yield "ENGINE=InnoDB" if is_local(table) else "ENGINE=ndbcluster"
    if next_number is not None and next_number > 1:
        yield f"AUTO_INCREMENT={next_number}"
    yield clause(of_table(table, plan.version), plan.version)
    if table.max_rows is not None:
        yield f"MAX_ROWS={table.max_rows}"
    if table.row_format_fixed:
        yield "ROW_FORMAT=FIXED"
    comment = "" if is_local(table) else comment_of(plan, table)
    if comment:
        yield f"COMMENT='{comment}'"
    for begin in (COMMENT, CONNECTION):
        if text := _clause(table, begin):
            yield text


def made_with(table: Table) -> str:
    """CREATE_OPTIONS: what was stated when it was made (sql_show.cc)."""
    said = [f"max_rows={table.max_rows}"] if table.max_rows is not None else []
    said += ["row_format=FIXED"] * table.row_format_fixed
    said += ["partitioned"] * bool(table.partitions or table.distribution_key)
    return " ".join(said)


def comment_of(plan: Plan, table: Table) -> str:
    """The comment that says what NDB makes of the table; empty: the usual."""
    if typed := _clause(table, AS_TYPED):
        return typed.removeprefix(AS_TYPED)
    told = []
    if table.read_backup is not None and plan.features.read_backup:
        told.append(f"READ_BACKUP={int(table.read_backup)}")
    if table.fully_replicated and plan.features.read_backup:
        told.append("FULLY_REPLICATED=1")
    if table.partition_balance is not PartitionBalance.FOR_RP_BY_LDM and plan.features.partition_balance:
        told.append(f"PARTITION_BALANCE={table.partition_balance.value}")
    if not table.logging and UNSAID not in table.left_out:
        told.append("NOLOGGING=1")
    words = _clause(table, BESIDE).removeprefix(BESIDE)[1:-1]
    return f"NDB_TABLE={','.join(told)}{' ' * bool(words)}{words}" if told else ""


def _clause(table: Table, begin: str) -> str:
    """What a table keeps in words that begin so; empty: nothing."""
    return next((one for one in table.left_out if one.startswith(begin)), "")


_OF_PART = re.compile(r"(ENGINE = ndbcluster), (PARTITION )")


def _parts(table: Table) -> str:
    clause = _clause(table, "PARTITION BY ")
    if clause and not clause.startswith(LINEAR):
        head, bracket, parts = clause.partition(" (PARTITION ")
        head = head.replace(" PARTITIONS ", "\nPARTITIONS ")
        listed = _OF_PART.sub(r"\1,\n \2", f"\n(PARTITION {parts}") if bracket else ""
        return f"\n/*!50100 {head}{listed} */"
    linear = "LINEAR " if clause else ""
    if not table.distribution_key and not table.partitions:
        return ""
    names = ",".join(table.distribution_key)
    count = f"\nPARTITIONS {table.partitions}" if table.partitions else ""
    return f"\n/*!50100 PARTITION BY {linear}KEY ({names}){count} */"
