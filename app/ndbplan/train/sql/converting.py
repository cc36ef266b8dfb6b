"""ALTER TABLE that copies a table: what its rows become in columns that are others.

    converted(asked, old, new, clauses)    # the rows that the new table holds; SqlError: one does not fit
    check_unique(asked, old, new)          # SqlError: a new unique index over values that stand twice

Source: sql/field_conv.cc and Field::store of the product; a value that is cut is 1265 where it goes from
CHAR to CHAR or from VARCHAR to VARCHAR, and 1406 where it is read anew. 1169 and what new columns hold:
mysql-test/suite/ndb/r/ndb_index_unique.result and ndb_alter_table.result of 8.0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ndbplan.ndb.charsets import charset_of, max_char_bytes
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.tables import Column, Table
from ndbplan.train.contents import Held, Key, Row, same
from ndbplan.train.schema import Remade
from ndbplan.train.sql import finding
from ndbplan.train.sql.character_sets import of_column
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.in_place import Clause, dropped, renamed
from ndbplan.train.sql.modes import has, is_strict
from ndbplan.train.sql.numbers import written
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned
from ndbplan.train.sql.unique_keys import duplicate
from ndbplan.train.sql.values import Taking, column_kind, empty_value

_SAMPLES = 200
"""Rows that nobody typed which are tried; the others are like them."""
_HOLDS = ("type", "length", "scale", "unsigned", "members", "collation", "auto_increment")
"""Fields of a column that say what it can hold."""
_SHORT = 255
"""Bytes of a VARCHAR whose length fits into one byte."""
_MOMENTS = ("date", "datetime")
_NO_ZERO_DATE = "NO_ZERO_DATE"


def converted(
    asked: Asked, old: Table, new: Table, clauses: list[Clause]
) -> tuple[Mapping[str, Remade], list[Warned]]:
    """Rows by the id of the table, and warnings; nothing where they stay as they are. Raises SqlError."""
    names, gone = renamed(clauses), dropped(clauses)
    given = {
        names.get(one.name.lower(), one.name): one for one in old.columns if one.name.lower() not in gone
    }
    came = [one for one in new.columns if one.name not in given]
    changed = [one for one in new.columns if one.name in given and _differs(given[one.name], one)]
    if not (changed or came or new.primary_key != old.primary_key):
        return {}, []
    held = asked.cluster.held(old)
    if held.contents.is_vague:
        return {}, []
    copy = _Copy(asked, old, new, given, held)
    copy.check_dates(came)
    after = copy.rows()
    return {new.id: Remade(held.contents, after)}, copy.taking.warnings


def _differs(before: Column, after: Column) -> bool:
    return any(getattr(before, name) != getattr(after, name) for name in _HOLDS) or (
        before.nullable and not after.nullable
    )


@dataclass
class _Copy:
    """One table that is copied into another."""

    asked: Asked
    old: Table
    new: Table
    given: Mapping[str, Column]
    """The column of the old table that each of the new one is filled from."""
    held: Held

    def __post_init__(self) -> None:
        features = self.asked.plan.features
        self.taking = Taking(is_strict(self.asked.cluster), self.new.name, features.fractional_seconds)
        self.counter = self.held.contents.counter

    def check_dates(self, came: Collection[Column]) -> None:
        """Raises SqlError for a day that each row would have to have, and which is none."""
        if not has(self.asked.cluster, _NO_ZERO_DATE) or not self.held.count:
            return
        for one in came:
            if one.type in _MOMENTS and not one.nullable and one.default is None:
                said = f"Incorrect {one.type} value: '{empty_value(one)}' for column '{one.name}' at row 1"
                raise SqlError(1292, "22007", said)

    def rows(self) -> Any:
        """What the new table holds. Raises SqlError for a row that does not fit."""
        held, number = self.held, 0
        for number, (_, row) in enumerate(self._samples(), start=1):
            self._row(row, number)
        if self.taking.warnings:
            raise NotSimulated("how many of the rows that nobody typed are cut is not simulated")
        kept, own, key_is_new = {}, Held(self.new, held.contents, 0), self._has_other_key()
        for key, row in self._typed():
            number += 1
            made = self._row(row, number)
            then = own.key_of(made) or key if key_is_new else key
            if then in kept:
                said = duplicate(self.new, made, "PRIMARY", self.asked.plan.version)
                raise SqlError(1062, "23000", said)
            kept[then] = tuple(made[one.name] for one in self.new.columns)
        return replace(
            held.contents, columns=tuple(one.name for one in self.new.columns), rows=kept,
            added=self._added(), counter=self.counter,
        )  # fmt: skip

    def _added(self) -> dict[str, Any]:
        """What rows that nobody typed hold in columns that came later."""
        found, known = dict[str, Any](), self.held.contents.added
        told = list(self.taking.warnings)
        for one in self.new.columns:
            source = self.given.get(one.name)
            if source is None and not one.auto_increment:
                found[one.name] = self._of_none(one)
            elif source is not None and source.name in known:
                value = known[source.name]
                found[one.name] = self._value(source, one, value, 1) if _differs(source, one) else value
        self.taking.warnings[:] = told
        return found

    def _has_other_key(self) -> bool:
        was = [self.given.get(name) for name in self.new.primary_key]
        same_names = [None if one is None else one.name for one in was] == list(self.old.primary_key)
        changed = any(
            one is not None and _differs(one, self.new.column(name))
            for one, name in zip(was, self.new.primary_key, strict=True)
        )
        return bool(self.new.primary_key) and (not same_names or changed)

    def _samples(self) -> Iterator[tuple[Key, Row]]:
        held = self.held
        if held.planned and held.numbered:
            bare = Held(self.old, replace(held.contents, rows={}), held.planned)
            yield from islice(bare.keyed(), _SAMPLES)

    def _typed(self) -> list[tuple[Key, Row]]:
        held = self.held
        if not held.planned and held.count <= finding.MOST_COMPARED:
            return finding.read(self.asked.cluster, self.old, finding.Wanted())
        found = ((key, held.find(key)) for key in held.contents.rows)
        return [(key, row) for key, row in found if row is not None]

    def _row(self, row: Row, number: int) -> Row:
        made: Row = {}
        for column in self.new.columns:
            source = self.given.get(column.name)
            value = None if source is None else row[source.name]
            if column.auto_increment and not value:
                self.counter += 1
                made[column.name] = self.counter
            elif source is None:
                made[column.name] = self._of_none(column)
            elif _differs(source, column):
                made[column.name] = self._value(source, column, value, number)
            else:
                made[column.name] = value
        return made

    def _of_none(self, column: Column) -> Any:
        """What rows hold in a column that they did not have."""
        text = column.default
        if text is None or text.upper() == "NULL":
            return None if column.nullable else empty_value(column)
        if text.startswith("("):
            raise NotSimulated(
                "a new column with a default that is worked out needs a table without rows here"
            )
        if text.upper().startswith(("CURRENT_TIMESTAMP", "NOW(")):
            return f"{self.asked.cluster.clock:%Y-%m-%d %H:%M:%S}"
        return self.taking.take(column, text.strip("'\""), 1)

    def _value(self, old: Column, new: Column, value: Any, number: int) -> Any:
        if value is None:
            if not new.nullable:
                self.taking.wrong(1265, "01000", f"Data truncated for column '{new.name}' at row {number}")
                return empty_value(new)
            return None
        if self._is_cut(old, new) and len(str(value)) > (new.length or 1):
            self.taking.wrong(1265, "01000", f"Data truncated for column '{new.name}' at row {number}")
            return str(value)[: new.length or 1]
        self.taking.source = charset_of(of_column(self.old, old, self.asked.plan.version) or "utf8mb4")
        return self.taking.take(new, self._read(old, new, value), number)

    def _is_cut(self, old: Column, new: Column) -> bool:
        """Whether a text goes over as it is, cut where it is too long."""
        if old.type != new.type or old.type not in ("char", "varchar", "binary", "varbinary"):
            return False
        if old.collation != new.collation:
            return False
        return "var" not in old.type or self._is_short(old) == self._is_short(new)

    def _is_short(self, column: Column) -> bool:
        own = of_column(self.new, column, self.asked.plan.version) if column.type == "varchar" else None
        return (column.length or 0) * (1 if own is None else max_char_bytes(own)) <= _SHORT

    def _read(self, old: Column, new: Column, value: Any) -> Any:
        """A value as the other column is given it: by its text, or by its number."""
        is_number = column_kind(new).is_number
        if old.type == "bit" and not is_number:
            raise NotSimulated("bits that become a text are not simulated")
        if old.type == "enum" and old.members and is_number:
            return old.members.index(value) + 1 if value in old.members else 0
        if old.type == "set" and old.members and is_number:
            return sum(1 << old.members.index(one) for one in str(value).split(",") if one in old.members)
        if column_kind(old).is_moment and is_number:
            return int(re.sub(r"[^0-9]", "", str(value).partition(".")[0]) or 0)
        if column_kind(old).is_number and COLUMN_TYPES[new.type].is_text:
            return written(value, column_kind(old))
        return value


def check_unique(asked: Asked, old: Table, new: Table, *, copies: bool) -> None:
    """Raises SqlError where a new unique index would have one value twice."""
    held, version = asked.cluster.held(old), asked.plan.version
    if held.contents.is_vague or (held.planned and not held.numbered) or held.count > finding.MOST_COMPARED:
        return
    indexes = [one for one in new.indexes if one.kind != "ordered" and one not in old.indexes]
    known = {one.name for one in old.columns}
    indexes = [one for one in indexes if known.issuperset(one.columns)]
    rows = finding.read(asked.cluster, old, finding.Wanted()) if indexes else []
    for index in indexes:
        columns = [old.column(name) for name in index.columns]
        seen = set[tuple[Any, ...]]()
        for _, row in rows:
            values = tuple(same(row[one.name], one) for one in columns)
            if None not in values and values in seen:
                if copies:
                    raise SqlError(1062, "23000", duplicate(new, row, index.name, version))
                said = f"Can't write, because of unique constraint, to table '{old.name}'"
                raise SqlError(1169, "23000", said)
            seen.add(values)
