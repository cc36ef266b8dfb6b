"""Rows of tables, as far as they are known: those typed at consoles, and samples for those of the plan.

A plan counts rows and does not hold them. Row n of a table whose key is one whole number has the key n, and
in its other columns what the number makes of their types: a sample, the same whenever it is asked for. What
is typed stands beside the samples, or in their place.

    held = held_rows(sim, table)
    held.find((5,))                      # the values of a row by the names of its columns; None: not there
    held.rows(low=1, high=10)            # rows in the order of their keys
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.tables import Column, Table

Key = tuple[Any, ...]
Row = dict[str, Any]
WHOLE = ("tinyint", "smallint", "mediumint", "int", "bigint")
_FIRST_DAY = datetime(2026, 1, 1)
"""Of sample dates, which go on minute by minute."""
_SAMPLE_VALUES = {"tinyint": 100, "year": 100, "bit": 2}
"""How many different values a column that is no key has, where they are fewer than a thousand."""
_LONGEST = 65_535
"""Bytes of a sample text."""


@dataclass(frozen=True)
class Contents:
    """What was typed into a table; never changed, so that a moment keeps it."""

    columns: tuple[str, ...] = ()
    """Names of the values of a row."""
    rows: Mapping[Key, tuple[Any, ...]] = field(default_factory=dict)
    gone: frozenset[Key] = frozenset()
    """Keys of samples that are gone, or that stand among the rows with other values."""
    counter: int = 0
    """The last number that AUTO_INCREMENT or a hidden key gave."""
    numbers_from: int = 1
    """Where the blocks of numbers of AUTO_INCREMENT begin."""
    added: Mapping[str, Any] = field(default_factory=dict)
    """What samples hold in columns that came later, by name."""
    is_vague: bool = False
    """So much was changed at once that nobody knows the rows any more."""


NOTHING = Contents()


def key_columns(table: Table) -> list[Column]:
    """The columns of the primary key, in its order; empty: the key is hidden."""
    by_name = {column.name: column for column in table.columns}
    return [by_name[name] for name in table.primary_key]


def same(value: Any, column: Column) -> Any:
    """What a value of a key is found by: texts of most collations are the same whatever their case."""
    if not isinstance(value, str) or not COLUMN_TYPES[column.type].is_text:
        return value
    return value.rstrip(" ") if is_exact(column) else value.rstrip(" ").casefold()


def is_exact(column: Column) -> bool:
    """Whether its values differ where the cases of their letters do: bytes, and texts of some collations."""
    kind = COLUMN_TYPES[column.type]
    if not kind.is_text:
        return kind.is_blob or column.type in ("binary", "varbinary")
    return column.collation is not None and column.collation.endswith(("_bin", "_cs"))


class TypedPages(NamedTuple):
    """Pages of rows that were typed into a table."""

    most: int
    """Rows that there were at a time, at most: pages of fixed size are kept for them."""
    columns: tuple[Column, ...]
    """The table's, with the mean length of what was typed."""
    size: tuple[tuple[float, ...], ...]
    """Of each node: bytes in a checkpoint, of DataMemory, of tablespaces, of IndexMemory."""


@dataclass(frozen=True)
class Held:
    """The rows of a table at a moment."""

    table: Table
    contents: Contents
    planned: int
    """How many rows there are that nobody typed."""

    @cached_property
    def _key_columns(self) -> list[Column]:
        return key_columns(self.table)

    @cached_property
    def numbered(self) -> bool:
        """Whether samples can be listed: their key is one whole number, or hidden."""
        key = self._key_columns
        return not key or (len(key) == 1 and key[0].type in WHOLE)

    @cached_property
    def _typed_numbers(self) -> list[int]:
        """Keys that are typed and no sample has, in order: samples go round them."""
        known = self.contents
        return sorted(
            key[0] for key in known.rows if key not in known.gone and isinstance(key[0], int) and key[0] > 0
        )

    @property
    def count(self) -> int:
        """How many rows there are."""
        return max(0, self.planned - len(self.contents.gone) + len(self.contents.rows))

    @property
    def last(self) -> int:
        """The highest number that a sample has; 0: there is none."""
        number = self.planned
        for typed in self._typed_numbers if number else ():
            number += typed <= number
        return number

    def key_of(self, row: Row) -> Key:
        """The key that a row is found by; the next hidden one where there is no other."""
        return tuple([same(row[column.name], column) for column in self._key_columns])

    def is_sample(self, key: Key) -> bool:
        """Whether a row that nobody typed has this key; keys that are no numbers are taken to be there."""
        if key in self.contents.gone or key in self.contents.rows or not self.planned:
            return False
        if not self.numbered:
            return len(self.contents.gone) < self.planned
        number = key[0]
        if not isinstance(number, int) or number < 1:
            return False
        return number - bisect_left(self._typed_numbers, number) <= self.planned

    def find(self, key: Key, typed: Mapping[str, Any] | None = None) -> Row | None:
        """The row of a key; `typed`: the values of the key as they stand in the statement."""
        found = self.contents.rows.get(key)
        if found is not None:
            return self._named(found)
        return self.sample(key, typed) if self.is_sample(key) else None

    def _named(self, values: tuple[Any, ...]) -> Row:
        row = dict(zip(self.contents.columns, values, strict=True))
        return {one.name: row.get(one.name) for one in self.table.columns}

    def sample(self, key: Key, typed: Mapping[str, Any] | None = None) -> Row:
        """What a row that nobody typed holds."""
        names = [column.name for column in self._key_columns]
        of_key = dict(zip(names, key, strict=True)) | dict(typed or {}) if names else {}
        number = next((one for one in reversed(key) if isinstance(one, int)), 0)
        if not isinstance(key[0], int) or len(key) > 1:
            number = sum(sum(str(one).encode()) for one in key)
        unique = {name for one in self.table.indexes if one.kind != "ordered" for name in one.columns}
        known = {**self.contents.added, **of_key}
        return {
            one.name: known[one.name] if one.name in known else sample_value(one, number, one.name in unique)
            for one in self.table.columns
        }

    def keyed(self, low: int | None = None, high: int | None = None) -> Iterator[tuple[Key, Row]]:
        """Rows with their keys: those of samples in the order of their keys, then those that were typed.

        `low` and `high`: only keys from here and up to there, where the key is a whole number.
        """
        known = self.contents
        if self.planned:
            first, end = max(1, low or 1), self.last if high is None else min(self.last, high)
            for number in range(first, end + 1):
                if (number,) not in known.gone and (number,) not in known.rows:
                    yield (number,), self.sample((number,))
        for key, values in known.rows.items():
            below = low is not None and key[0] < low
            if not below and not (high is not None and key[0] > high):
                yield key, self._named(values)

    def with_changes(
        self, put: Mapping[Key, Row], gone: Collection[Key] = (), counter: int | None = None
    ) -> Contents:
        """The contents when rows are put and others are gone; no key is in both."""
        known = self.contents
        columns = tuple(column.name for column in self.table.columns)
        rows = (
            dict(known.rows)
            if known.columns == columns
            else {key: tuple(self._named(values).values()) for key, values in known.rows.items()}
        )
        removed = {key for key in (*put, *gone) if key not in known.rows and self.is_sample(key)}
        for key in gone:
            rows.pop(key, None)
        rows.update((key, tuple(row[name] for name in columns)) for key, row in put.items())
        return replace(
            known, columns=columns, rows=rows, gone=known.gone | removed if removed else known.gone,
            counter=known.counter if counter is None else counter,
        )  # fmt: skip


def sample_value(column: Column, number: int, is_unique: bool = False) -> Any:
    """What row `number` has in a column."""
    if column.nullable and column.null_fraction and number % 1000 < column.null_fraction * 1000:
        return None
    kind, few = column.type, number if is_unique or column.auto_increment else number % 1000
    if kind in (*WHOLE, "year", "bit"):
        value = number if is_unique or column.auto_increment else number % _SAMPLE_VALUES.get(kind, 1000)
        return 1970 + value if kind == "year" else value
    if kind == "decimal":
        digits = (column.length or 10) - (column.scale or 0)
        return round((few / 7) % 10**digits, column.scale or 0)
    if kind in ("float", "double"):
        return float(few) / 4
    if kind in ("date", "datetime", "timestamp"):
        day = _FIRST_DAY + timedelta(minutes=number % 500_000)
        return f"{day:%Y-%m-%d}" if kind == "date" else f"{day:%Y-%m-%d %H:%M:%S}"
    if kind == "time":
        return f"{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}"
    if kind in ("enum", "set"):
        return column.members[number % len(column.members)] if column.members else ""
    if kind == "json":
        return f'{{"id": {number}}}'
    text, most = f"{column.name} {number}", min(column.length or _LONGEST, _LONGEST)
    if column.average_bytes is not None:
        text = f"{text:x<{min(most, int(column.average_bytes))}}"
    return text[:most] if not is_unique else text[-most:]


def carried(contents: Contents, before: Table, after: Table) -> Contents:
    """What the rows are when a table has got other columns: values go with names, then with places."""
    old, new = [one.name for one in before.columns], [one.name for one in after.columns]
    if old == new and before.primary_key == after.primary_key:
        return contents
    names = {name: name for name in old if name in new}
    if len(old) == len(new):
        names |= {a: b for a, b in zip(old, new, strict=True) if a not in new and b not in old}
    defaults = {one.name: None if one.default is None else one.default.strip("'") for one in after.columns}
    came = {name: value for name, value in defaults.items() if name not in names.values()}
    added = {names.get(name, name): value for name, value in contents.added.items()} | came
    held = Held(after, contents, 0)
    rows: dict[Key, tuple[Any, ...]] = {}
    for key, values in contents.rows.items():
        given = dict(zip(contents.columns, values, strict=True))
        row = defaults | {names[name]: value for name, value in given.items() if name in names}
        own = held.key_of(row) or key
        rows[own if after.primary_key != before.primary_key else key] = tuple(row[name] for name in new)
    return replace(
        contents, columns=tuple(new), rows=rows, added={k: v for k, v in added.items() if k in new}
    )
