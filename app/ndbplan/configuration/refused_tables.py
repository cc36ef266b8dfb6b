"""What SQL nodes refuse of the tables of a plan: what their version does not know, what no key may hold, and
what no table can have.

for one in refused_by_sql(plan):
    print(one.where, one.why)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.configuration.mysqld import stated_options
from ndbplan.configuration.refused_defaults import refused_moments, refused_values
from ndbplan.configuration.table_limits import OverLimit, over_limits
from ndbplan.ndb import sql_versions
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table

_LONGEST_PADDED = 255
"""Characters of CHAR, bytes of BINARY (manual, the CHAR and BINARY types)."""
_LAST_LETTER = 0xFFFF
"""Code point of the last letter that names may have (manual, schema object names)."""
_OF_THE_SERVER = ("information_schema", "performance_schema")
"""Databases that take no tables."""
_USUAL_DIGITS = 10
"""Of a DECIMAL that says none."""


class RefusedColumn(NamedTuple):
    """One thing of one column that the CREATE TABLE of a version does not take."""

    table: Table
    column: Column
    why: str
    key: str | None
    """The index that it is in, empty for the primary key; None: it is the column itself."""
    is_table: bool = False
    """It is about the name of the table or its database, and no column."""

    @property
    def where(self) -> str:
        """The place in words."""
        if self.is_table:
            return f"table {self.table.full_name}"
        return f"column {self.column.name} of {self.table.full_name}"


def refused_by_sql(plan: Plan) -> Iterator[RefusedColumn | OverLimit]:
    """What SQL nodes of the plan's version refuse of its tables, in their order."""
    for table in plan.tables:
        for column in table.columns:
            for why in unknown_in(column, plan.version):
                yield RefusedColumn(table, column, why, None)
        yield from in_keys(table)
        yield from impossible_in(table, plan.version, strict=has_usual_sql_mode(plan))
        yield from over_limits(table, plan.version)


def unknown_in(column: Column, version: NdbVersion) -> Iterator[str]:
    """What a version does not know of a column."""
    unknown = [
        sql_versions.unknown_type(column.type, version),
        sql_versions.unknown_fraction(column.type, column.length, version),
    ]
    if column.collation is not None and COLUMN_TYPES[column.type].is_text:
        unknown.append(sql_versions.unknown_collation(column.collation, version))
    if column.default is not None:
        unknown.append(sql_versions.unknown_default(column.default, version))
    yield from filter(None, unknown)


def in_keys(table: Table) -> Iterator[RefusedColumn]:
    """Columns of a table that its keys and indexes cannot hold."""
    columns = {column.name: column for column in table.columns}
    keys = (("", table.primary_key), *((index.name, index.columns) for index in table.indexes))
    for key, names in keys:
        for column in (columns[name] for name in names if name in columns):
            why = sql_versions.in_no_key(column.type)
            if not why and column.storage == "disk":
                why = "columns on disk are in no key or index"
            if why:
                yield RefusedColumn(table, column, why, key)


def has_usual_sql_mode(plan: Plan) -> bool:
    """Whether no SQL node of a plan states an SQL mode of its own."""
    return not any("sql-mode" in stated_options(node) for node in plan.sql_nodes)


def impossible_in(table: Table, version: NdbVersion, *, strict: bool = True) -> Iterator[RefusedColumn]:
    """What SQL nodes refuse of the columns, names, values and keys of a table.

    `strict`: their SQL mode is that of the release.
    """
    names = set[str]()
    yield from _impossible_names(table)
    zero = [id(one) for one in refused_moments(table.columns, version, strict=strict)]
    counting = None
    in_a_key = {*table.primary_key, *(name for index in table.indexes for name in index.columns)}
    for column in table.columns:
        reasons = list(_impossible(column, version))
        nullable = column.nullable and column.name not in table.primary_key
        reasons += refused_values(column, version, nullable=nullable, strict=strict)
        if id(column) in zero:
            reasons.append("TIMESTAMP NOT NULL without DEFAULT, which gets one that is refused (error 1067)")
        if column.name.casefold() in names:
            reasons.append("another column has this name; capitals make no difference")
        if column.auto_increment and counting is not None:
            reasons.append(f"AUTO_INCREMENT, as {counting} has it already; a table has one such column")
        if column.auto_increment and column.name not in in_a_key:
            reasons.append("AUTO_INCREMENT of a column that is in no key")
        names.add(column.name.casefold())
        counting = column.name if column.auto_increment else counting
        yield from (RefusedColumn(table, column, why, None) for why in reasons)
    yield from _impossible_keys(table)


def _impossible_names(table: Table) -> Iterator[RefusedColumn]:
    """Names that are no identifiers (errors 1102, 1103, 1166 and 1280), and databases of the server."""
    for what, name in (("name", table.name), ("database", table.database)):
        if why := no_identifier(name):
            yield RefusedColumn(table, table.columns[0], f"its {what}{why}", None, is_table=True)
    if table.database.casefold() in _OF_THE_SERVER:
        why = f"no table is made in {table.database} (error 1044)"
        yield RefusedColumn(table, table.columns[0], why, None, is_table=True)
    for column in table.columns:
        if why := no_identifier(column.name):
            yield RefusedColumn(table, column, f"its name{why}", None)
    columns = {column.name: column for column in table.columns}
    for index in table.indexes:
        if (why := no_identifier(index.name)) and index.columns[0] in columns:
            yield RefusedColumn(table, columns[index.columns[0]], f"its name{why}", index.name)


def no_identifier(name: str) -> str:
    """Why a name names nothing of a server, behind `its name`; nothing: it does.

    Source: manual 5.5 to 8.4, schema object names.
    """
    if name.endswith(" "):
        return " ends with a blank"
    far = next((letter for letter in name if ord(letter) > _LAST_LETTER), "")
    return f" has the letter U+{ord(far):X}; names have none beyond U+{_LAST_LETTER:X}" if far else ""


def _impossible_keys(table: Table) -> Iterator[RefusedColumn]:
    columns = {column.name: column for column in table.columns}
    called = {"primary"}
    for key, names in (("", table.primary_key), *((index.name, index.columns) for index in table.indexes)):
        known = [columns[name] for name in names if name in columns]
        if not known:
            continue
        if key.casefold() in called:
            why = "another index has this name; capitals make no difference"
            if key.casefold() == "primary":
                why = "only the primary key is called PRIMARY"
            yield RefusedColumn(table, known[0], why, key)
        called.add(key.casefold())
        twice = next((column for i, column in enumerate(known) if column in known[:i]), None)
        if twice is not None:
            yield RefusedColumn(table, twice, f"column {twice.name} is there twice", key)


def _impossible(column: Column, version: NdbVersion) -> Iterator[str]:
    """Why no SQL node makes a column, whatever the rest of its table."""
    kind = COLUMN_TYPES[column.type]
    if column.type in ("char", "binary") and (column.length or 0) > _LONGEST_PADDED:
        yield f"{column.type.upper()}({column.length}); its length is {_LONGEST_PADDED} at most"
    is_float = column.type in ("float", "double")
    if column.auto_increment and not (kind.integer_bytes or (is_float and features(version).floats_count)):
        number = "whole number" if is_float else "number"
        yield f"AUTO_INCREMENT of {column.type.upper()}, which is not a {number}"
    if column.auto_increment and column.default is not None:
        yield "AUTO_INCREMENT and DEFAULT together"
    if kind.is_blob and column.default is not None and not column.default.upper().startswith(("(", "NULL")):
        yield f"DEFAULT {column.default[:40]} of {column.type.upper()}, which takes expressions only"
    digits = column.length or _USUAL_DIGITS
    if column.type == "decimal" and (column.scale or 0) > digits:
        yield f"DECIMAL({digits},{column.scale}) has fewer digits than stand behind its point"
    if twice := _member_twice(column):
        yield f"member '{twice[:40]}' is there twice"
    if column.type == "set" and len(column.members) > kind.most_length:
        yield f"SET with {len(column.members)} members; {kind.most_length} are possible at most"
    if column.type == "set" and any("," in member for member in column.members):
        yield "a member of a SET has a comma"


def _member_twice(column: Column) -> str:
    """A member of ENUM or SET that is there before, as its collation compares them; nothing: none is."""
    exact = (column.collation or "").endswith(("_bin", "_cs"))
    seen = set[str]()
    for member in column.members:
        trimmed = member.rstrip(" ")
        key = trimmed if exact else trimmed.casefold()
        if key in seen:
            return member
        seen.add(key)
    return ""
