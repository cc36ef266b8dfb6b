"""Transactions of SQL sessions as values: what each has changed and locked, and who waits.

Rows are locked by the data nodes, tables (metadata locks) by the servers. A session sees what is committed,
and what it has changed itself; nobody else sees that before it commits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from ndbplan.train.contents import Contents, Key

NOBODY, EVERYONE = 0, -1
"""In place of a session: who sees what is committed alone, and who sees what anybody has changed."""
WHOLE_TABLE = "*"
"""In place of an index: a lock of all rows, where which they are is not known one by one."""
_NONE: Mapping[Any, Any] = MappingProxyType({})


class Lock(NamedTuple):
    """A row that can be locked; of a unique index: the entry of its values."""

    table_id: str
    by: str
    """The index; empty: the primary key."""
    key: Key


class Delta(NamedTuple):
    """What a transaction has changed in one table."""

    rows: int = 0
    """So many are there more."""
    columns: tuple[str, ...] = ()
    put: Mapping[Key, tuple[Any, ...]] = _NONE
    dropped: frozenset[Key] = frozenset()
    """Keys of rows that somebody typed and that are gone."""
    gone: frozenset[Key] = frozenset()
    """Keys of samples that are gone."""
    counter: int = 0
    is_vague: bool = False


NO_DELTA = Delta()


def delta_of(seen: Contents, now: Contents, before: Delta, rows: int) -> Delta:
    """What a transaction has changed when it finds `now` where it found `seen` before its last statement."""
    old = seen.rows if seen.columns in ((), now.columns) else {}
    put = {key: row for key, row in now.rows.items() if old.get(key) != row}
    dropped = seen.rows.keys() - now.rows.keys()
    kept = {key: row for key, row in before.put.items() if key not in dropped}
    return Delta(
        before.rows + rows,
        now.columns,
        kept | put,
        (before.dropped | dropped) - put.keys(),
        before.gone | (now.gone - seen.gone),
        max(before.counter, now.counter),
        before.is_vague or now.is_vague,
    )


def with_delta(committed: Contents, delta: Delta) -> Contents:
    """What a table holds with what a transaction has changed."""
    if delta == NO_DELTA:
        return committed
    names = committed.columns
    rows = {
        key: row if names == delta.columns else _in_order(row, names, delta.columns)
        for key, row in committed.rows.items()
        if key not in delta.dropped
    }
    return replace(
        committed,
        columns=delta.columns,
        rows=rows | dict(delta.put),
        gone=committed.gone | delta.gone,
        counter=max(committed.counter, delta.counter),
        is_vague=committed.is_vague or delta.is_vague,
    )


def _in_order(row: tuple[Any, ...], names: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[Any, ...]:
    given = dict(zip(names, row, strict=True))
    return tuple(given.get(name) for name in wanted)


class Transaction(NamedTuple):
    """An open transaction of one session."""

    node_id: int
    """The SQL node that it is on."""
    began_s: float
    deltas: Mapping[str, Delta] = _NONE
    """By the id of the table."""
    locks: Mapping[Lock, bool] = _NONE
    """Each row that it has locked, and whether against readers that lock as well (exclusive)."""
    since_s: Mapping[Lock, float] = _NONE
    """When it locked each of them."""
    tables: frozenset[str] = frozenset()
    """Ids of the tables that nobody may alter or drop until it ends."""
    written: frozenset[str] = frozenset()
    """Those that it was told to write."""
    last_s: float = 0.0
    """When it last did something at the data nodes."""
    lost: int = 0
    """The error that its next statement meets, as the data nodes gave it up; 0: they have not."""
    savepoints: tuple[str, ...] = ()
    """Names, in small letters, of places in it before which nothing was changed."""

    @property
    def is_known(self) -> bool:
        """Whether data nodes keep anything of it."""
        return bool(self.deltas or self.locks)


class Wanted(NamedTuple):
    """What a statement has to get before it goes on."""

    rows: Mapping[Lock, bool] = _NONE
    """Each row, and whether exclusively."""
    tables: frozenset[str] = frozenset()
    """Ids of tables."""
    defines: bool = False
    """The tables are altered or dropped: nobody else may be in them."""
    writes: bool = False
    """Rows of the tables are changed."""
    forbids: bool = False
    """Nobody may change rows of the tables: who has is waited for."""


class TableLocks(NamedTuple):
    """What LOCK TABLES gave to a session."""

    node_id: int
    """The SQL node that it is on."""
    tables: Mapping[str, bool]
    """Ids of tables, and whether nobody else may read them."""
    names: Mapping[tuple[str, str], bool] = _NONE
    """Ids of tables with the names (aliases, in small letters) by which the session may use them, and whether
    it may write."""
    is_global: bool = False
    """FLUSH TABLES WITH READ LOCK: nobody on the node writes anything."""

    def keeps_out(self, wanted: Wanted) -> bool:
        """Whether others have to wait for it."""
        changes = wanted.writes or wanted.defines
        if self.is_global and changes and wanted.tables:
            return True
        return any(one in self.tables and (changes or self.tables[one]) for one in wanted.tables)


NO_TABLE_LOCKS: Mapping[int, TableLocks] = MappingProxyType({})


class Waiting(NamedTuple):
    """A statement that waits until it gets what others have."""

    sql: str
    vertical: bool
    rest: tuple[tuple[str, bool], ...]
    """The statements behind it in the same line."""
    node_id: int
    """The SQL node that it is on."""
    since_s: float
    until_s: float
    """When it is given up."""
    code: int
    """The error that the data nodes give it up with; 0: it waits for a table of the server."""
    wanted: Wanted


class Running(NamedTuple):
    """A statement that takes its time, at which a session is."""

    sql: str
    database: str
    node_id: int
    """The SQL node that it is on."""
    since_s: float
    until_s: float | None
    """When it is done; None: as long as rows are moved."""
    state: str
    """What SHOW PROCESSLIST says of it."""

    def is_at(self, now_s: float, *, is_moving: bool) -> bool:
        """Whether it is still under way."""
        return is_moving if self.until_s is None else now_s < self.until_s - 1e-9


def blockers(
    session: int, wanted: Wanted, transactions: Mapping[int, Transaction], waits: Mapping[int, Waiting],
    locked: Mapping[int, TableLocks] = NO_TABLE_LOCKS,
) -> list[int]:  # fmt: skip
    """Sessions that have what a session wants, in their order."""
    found = {
        other
        for other, held in transactions.items()
        if other != session
        and (
            any(_locked(wanted.rows, held.locks))
            or (wanted.defines and wanted.tables & held.tables)
            or (wanted.forbids and wanted.tables & held.written)
        )
    }
    found |= {other for other, held in locked.items() if other != session and held.keeps_out(wanted)}
    if not wanted.defines:
        own = transactions[session].tables if session in transactions else frozenset()
        found |= {
            other
            for other, one in waits.items()
            if other != session and one.wanted.defines and (wanted.tables - own) & one.wanted.tables
        }
    return sorted(found)


def _locked(wanted: Mapping[Lock, bool], held: Mapping[Lock, bool]) -> Iterator[bool]:
    """Whether each lock that is wanted is held so that it has to be waited for."""
    if not held:
        return
    whole = {one.table_id for one in held if one.by == WHOLE_TABLE}
    tables = {one.table_id for one in held}
    for lock, exclusive in wanted.items():
        if lock.by == WHOLE_TABLE:
            yield lock.table_id in tables
        else:
            yield lock.table_id in whole or (lock in held and (exclusive or held[lock]))
