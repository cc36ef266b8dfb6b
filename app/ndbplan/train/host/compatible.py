"""Whether a table has the columns that a backup holds of it, as ndb_restore looks at them before it writes.

    found = look(saved, table, flags, version)
    found.lines          # Missing column(test/def/t.c) in DB and exclude-missing-columns not specified
    found.fits           # whether its rows are written

Source: consumer_restore.cpp, table_compatible_check and column_compatible_check.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.ndb.errors import said
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Table

EXCLUDES, PROMOTES, DEMOTES = "--exclude-missing-columns", "--promote-attributes", "--lossy-conversions"
_NO_TABLE = 723
_WHOLE = ("tinyint", "smallint", "mediumint", "int", "bigint")
_WITH_LENGTH = (
    ("char", "varchar"),
    ("binary", "varbinary"),
    ("datetime",),
    ("timestamp",),
    ("time",),
    ("bit",),
)
"""Types that are converted into one another by how long they are."""
_REAL = ("float", "double")


class Looked(NamedTuple):
    """What ndb_restore tells of a table."""

    lines: tuple[str, ...]
    fits: bool


def look(saved: Table, now: Table | None, flags: frozenset[str], version: NdbVersion) -> Looked:
    """Hold the columns of a table against those of the backup; None: there is no such table."""
    lines: list[str] = []
    for one in _wrong(saved, now, flags, version):
        lines.append(one.text)
        if one.ends:
            return Looked(tuple(lines), False)
    return Looked(tuple(lines), True)


class _Told(NamedTuple):
    text: str
    ends: bool = False


def _wrong(saved: Table, now: Table | None, flags: frozenset[str], version: NdbVersion) -> Iterator[_Told]:
    if now is None:
        yield _Told(
            f"Unable to find table: {saved.name} error: {_NO_TABLE}: {said(_NO_TABLE, version).text}", True
        )
        return
    name = f"{saved.database}/def/{saved.name}"
    there = {column.name: column for column in now.columns}
    for column in saved.columns:
        if column.name not in there:
            yield from _missing(name, column, flags)
    for column in now.columns:
        if column.name not in {one.name for one in saved.columns}:
            yield from _new(name, column, column.name in now.primary_key, flags)
    if not set(now.primary_key) <= set(saved.primary_key):
        yield _Told("Error : Primary key extended in DB without allow-pk-changes.", True)
    if not set(saved.primary_key) <= set(now.primary_key):
        yield _Told("Error : Primary key reduced in DB without allow-pk-changes.", True)
    for column in saved.columns:
        if column.name in there:
            yield from _of_column(name, column, there[column.name], flags)


def _missing(table: str, column: Column, flags: frozenset[str]) -> Iterator[_Told]:
    if EXCLUDES not in flags:
        text = f"Missing column({table}.{column.name}) in DB and exclude-missing-columns not specified"
        yield _Told(text, True)
    yield _Told(f"Column in backup ({table}.{column.name}) missing in DB. Excluding column from restore.")


def _new(table: str, column: Column, is_key: bool, flags: frozenset[str]) -> Iterator[_Told]:
    where = f"{table}.{column.name}"
    if EXCLUDES not in flags:
        yield _Told(f"Missing column({where}) in backup and exclude-missing-columns not specified", True)
    if is_key or (not column.nullable and column.default is None):
        text = f"Missing column({where}) in backup  is primary key or not nullable or defaulted in DB"
        yield _Told(text, True)
    becomes = "Null" if column.default is None else "Default value"
    yield _Told(f"Column in DB ({where}) missing in Backup. Will be set to {becomes}.")


def _of_column(table: str, old: Column, new: Column, flags: frozenset[str]) -> Iterator[_Told]:
    told = list(_differences(f"{table}.{old.name}", old, new, flags))
    if not told:
        return
    yield from (_Told(text) for text, _ in told)
    if not any(matters for _, matters in told):
        yield _Told("  Difference(s) will be ignored during restore.")
        return
    yield _Told("  Difference(s) cannot be ignored.  Column requires conversion to restore.")
    where, how = f"Table: {table} column: {old.name}", _conversion(old, new)
    option = {"promotable": PROMOTES, "convertable": DEMOTES}.get(how.partition(" ")[0])
    if option is None:
        yield _Told(f"{where} incompatible with kernel's definition. Conversion not possible", True)
    elif option not in flags:
        via = " via staging" if how.endswith("staging") else ""
        text = f"{where} {how.partition(' ')[0]} to kernel's definition{via} but option"
        yield _Told(f"{text} {option.removeprefix('--')} not specified", True)
    yield _Told(f"Data for column {table}.{old.name} will be converted from Backup type into DB type.")


def _differences(where: str, old: Column, new: Column, flags: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """What differs, and whether it matters."""
    if (old.type, old.unsigned) != (new.type, new.unsigned):
        text = "has different type in DB; promotion or lossy type conversion (demotion, signed/unsigned)"
        yield f"Column {where} {new.name} {text} may be required.", True
    if old.nullable != new.nullable:
        matters = (PROMOTES if new.nullable else DEMOTES) not in flags
        yield f"Column {where}  {'is' if new.nullable else 'is not'} nullable in the DB", matters
        kinds = ("non-nullable", "nullable") if new.nullable else ("nullable", "non-nullable")
        option = PROMOTES if new.nullable else DEMOTES
        if matters:
            text = f"Conversion of {kinds[0]} column in backup to {kinds[1]} column in DB is possible, but"
            yield f"{text} cannot be done because option {option} is not specified", True
    if old.type == new.type == "decimal":
        if (old.length or 10) != (new.length or 10):
            yield f"Column {where} precision is different in the DB", True
        if (old.scale or 0) != (new.scale or 0):
            yield f"Column {where} scale is different in the DB", True
    elif old.length != new.length and any(old.type in kinds for kinds in _WITH_LENGTH):
        is_moment = old.type in ("datetime", "timestamp", "time")
        yield f"Column {where} {'precision' if is_moment else 'length'} is different in the DB", True
    if old.collation != new.collation:
        yield f"Column {where} charset is different in the DB", True
    if old.auto_increment != new.auto_increment:
        yield f"Column {where}  {'is' if new.auto_increment else 'is not'} AutoIncrementing in the DB", True
    if old.default != new.default:
        yield f"Column {where} Default value is different in the DB", False
    if old.storage != new.storage:
        yield f"Column {where} Storagetype is different in the DB", False


def _conversion(old: Column, new: Column) -> str:
    """`promotable`, `convertable`, either of them `via staging`, or empty: there is none."""
    if (old.type, old.unsigned) == (new.type, new.unsigned) and old.type in (*_WHOLE, *_REAL):
        return ""
    if old.type in _WHOLE and new.type in _WHOLE:
        grows = _WHOLE.index(new.type) >= _WHOLE.index(old.type) and old.unsigned == new.unsigned
        return "promotable" if grows else "convertable"
    if old.type in _REAL and new.type in _REAL:
        return "promotable" if _REAL.index(new.type) >= _REAL.index(old.type) else "convertable"
    if old.type == new.type == "decimal":
        grows = (new.length or 10) >= (old.length or 10) and (new.scale or 0) >= (old.scale or 0)
        return "promotable" if grows else "convertable"
    if any(old.type in kinds and new.type in kinds for kinds in _WITH_LENGTH):
        return "promotable" if (new.length or 0) >= (old.length or 0) else "convertable"
    texts = ("text", "tinytext", "mediumtext", "longtext")
    if old.type in ("char", "varchar", *texts) and new.type in ("char", "varchar", *texts):
        return "promotable via staging" if new.type in texts else "convertable via staging"
    return ""
