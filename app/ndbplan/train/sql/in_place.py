"""Which changes of a table of NDB are made in its place, and why the others copy it.

why_copied(asked, old, new)     # "Dropping column"; empty: it is changed in place

Cases, their order and words: ha_ndbcluster.cc of 8.0 and later (check_inplace_alter_supported); those that a
running 8.4.8 answered are the same.
"""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.ndb.charsets import max_char_bytes
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Table
from ndbplan.train.sql.character_sets import of_column, parted
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.server import next_number

ONLINE_ONLY = "Adding column(s) or add/reorganize partition not supported online"
_RECREATES = ("FORCE", "ENGINE", "CONVERT")
"""Changes that build the table anew."""
_ORDERS = ("ORDER", "DISABLE", "ENABLE")
"""What the server itself does only with a copy."""
_SHORT = 255
"""Bytes of a VARCHAR whose length fits into one byte; a longer one is another type of NDB."""


class Clause(NamedTuple):
    """One change of a statement."""

    verb: str
    """What it begins with, in capitals."""
    words: tuple[str, ...]
    """As typed."""


def clauses_of(asked: Asked) -> list[Clause]:
    """The changes of ALTER TABLE; those of CREATE and DROP INDEX are none here."""
    if asked.words[0].upper != "ALTER":
        return []
    return [Clause(part[0].upper, tuple(word.text for word in part)) for part in parted(asked.words)]


def renamed(clauses: list[Clause]) -> dict[str, str]:
    """Columns that get another name, in small letters, and the name."""
    names = {}
    for one in clauses:
        words = [word for word in one.words[1:] if word.upper() != "COLUMN"]
        if one.verb == "RENAME" and len(one.words) == 5 and one.words[1].upper() == "COLUMN":
            names[words[0].lower()] = words[2]
        elif one.verb == "CHANGE" and len(words) > 1 and words[0].lower() != words[1].lower():
            names[words[0].lower()] = words[1]
    return names


def dropped(clauses: list[Clause]) -> set[str]:
    """Columns that go, in small letters."""
    found = set[str]()
    for one in clauses:
        words = [word for word in one.words[1:] if word.upper() != "COLUMN"]
        if one.verb == "DROP" and len(words) == 1:
            found.add(words[0].lower())
    return found


def adds_in_place(asked: Asked) -> bool:
    """Whether a statement does nothing but add columns that may be NULL, which needs no copy."""
    clauses = clauses_of(asked)
    columns = [one for one in clauses if one.verb == "ADD"]
    may_be_null = not any(
        {"NOT", "DEFAULT", "DISK"} & {word.upper() for word in one.words} for one in columns
    )
    by_copy = (asked.option("ALGORITHM") or "").upper() == "COPY"
    return bool(columns) and may_be_null and not by_copy and {one.verb for one in clauses} <= _ADDS


_ADDS = frozenset(("ADD", "ALGORITHM", "LOCK"))


def copies_always(clauses: list[Clause]) -> bool:
    """Whether the server copies the table whatever its engine can do."""
    return any(one.verb in _ORDERS for one in clauses)


def switches_keys(clauses: list[Clause]) -> bool:
    """Whether keys are to be switched off or on, and nothing else: NDB has no such switch."""
    return bool(clauses) and all(one.verb in ("DISABLE", "ENABLE") for one in clauses)


def why_copied(asked: Asked, old: Table, new: Table) -> str:
    """Why a change copies the table; empty: it is made in its place."""
    clauses, version = clauses_of(asked), asked.plan.version
    names = renamed(clauses)
    now = {column.name.lower(): column for column in new.columns}
    kept = [(column, now.get(names.get(column.name.lower(), column.name).lower())) for column in old.columns]
    if any(column is None for _, column in kept):
        return "Dropping column"
    after = [column for _, column in kept if column is not None]
    if list(new.columns[: len(after)]) != after:
        return "Altering column order"
    if why := _options(clauses, old, next_number(asked.cluster, old)):
        return why
    for before, column in kept:
        if column is not None and (why := _column(old, before, column, version)):
            return why
    verbs = {one.verb for one in clauses} - {"ALGORITHM", "LOCK"}
    if names and (len(new.columns) > len(after) or verbs - {"RENAME", "CHANGE"}):
        return "Only rename column exclusively can be performed inplace"
    if any(one.verb == "RENAME" and one.words[1].upper() in ("INDEX", "KEY") for one in clauses):
        return "Rename index can not be performed inplace"
    if verbs & set(_RECREATES) or new.primary_key != old.primary_key:
        return "Detected unsupported change"
    added = new.columns[len(after) :]
    if added and (why := _added(verbs, old, added)):
        return why
    if old.partition_balance is not new.partition_balance:
        return ONLINE_ONLY
    if old.fully_replicated != new.fully_replicated:
        return "Turning FULLY_REPLICATED on after create"
    if old.logging != new.logging:
        return "Cannot alter NOLOGGING inplace"
    return _indexes(old, new)


def _options(clauses: list[Clause], old: Table, following: int | None) -> str:
    said = {one.verb: one.words[-1] for one in clauses}
    if "AUTO_INCREMENT" in said and said["AUTO_INCREMENT"] != str(following):
        return "Not only AUTO_INCREMENT value changed"
    if "ROW_FORMAT" in said and (said["ROW_FORMAT"].upper() == "FIXED") != old.row_format_fixed:
        return "ROW_FORMAT changed"
    if "MAX_ROWS" in said and not old.max_rows:
        return "setting MAX_ROWS on table without MAX_ROWS"
    return "Adding or changing TABLESPACE" if "TABLESPACE" in said else ""


def _column(table: Table, old: Column, new: Column, version: NdbVersion) -> str:
    indexed = {*table.primary_key, *(name for index in table.indexes for name in index.columns)}
    if old.storage != new.storage:
        return "Column storage media is changed"
    if _type_of_ndb(table, old, version) != _type_of_ndb(table, new, version):
        return "Altering field type is not supported"
    if old.column_format != new.column_format and new.column_format != "default":
        return "Altering column format"
    is_other = tuple(new.members[: len(old.members)]) != tuple(old.members)
    if is_other or any(getattr(old, name) != getattr(new, name) for name in _DEFINES):
        return "Altering field definition is not supported"
    if old.nullable != new.nullable:
        return "Altering if field is nullable is not supported"
    if old.auto_increment != new.auto_increment:
        return "Altering field auto_increment is not supported"
    if old.default is not None and old.default != new.default and old.name not in table.primary_key:
        return "Altering default value is not supported"
    if old.name != new.name and old.name in indexed:
        return "Renaming column that is part of an index is not supported"
    return ""


_DEFINES = ("length", "scale", "unsigned", "collation")
"""Fields of a column, beside its type, that are its definition."""


def _type_of_ndb(table: Table, column: Column, version: NdbVersion) -> tuple[str, bool, bool]:
    """The type that NDB keeps: unsigned numbers and long texts are others."""
    own = of_column(table, column, version) if COLUMN_TYPES[column.type].is_text else None
    most = (column.length or 0) * (1 if own is None else max_char_bytes(own))
    return column.type, column.unsigned, column.type in ("varchar", "varbinary") and most > _SHORT


def _added(verbs: set[str], old: Table, added: tuple[Column, ...]) -> str:
    if verbs - {"ADD"}:
        return "Only add column exclusively can be performed online"
    if not old.primary_key:
        return "Found hidden primary key or user defined partitioning"
    if any(one.default is not None or one.auto_increment or one.on_update is not None for one in added):
        return "Adding column with non-null default value is not supported online"
    on_disk = old.tablespace_id is not None or any(one.storage == "disk" for one in added)
    return ONLINE_ONLY if on_disk or not all(one.nullable for one in added) else ""


def _indexes(old: Table, new: Table) -> str:
    names = {index.name for index in old.indexes}, {index.name for index in new.indexes}
    added, gone = len(names[1] - names[0]), len(names[0] - names[1])
    if added and (added != 1 or gone):
        return "Only one index can be added online"
    return "Only one index can be dropped online" if gone > 1 else ""
