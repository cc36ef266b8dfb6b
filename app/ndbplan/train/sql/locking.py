"""What a statement has to lock before it goes on, and what becomes of it when others have that.

    guard = Guard(cluster, self._variables(cluster))
    guard.rows(table, names, code)      # raises LockWaitError when another session has one of them
    guard.keep()                        # what was got is held until the transaction ends

A read that locks nothing never waits, and sees what is committed [8.4.8, 7.4.10].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlglot import exp

from ndbplan.plan.tables import Table
from ndbplan.train.contents import Held, Key, Row, same
from ndbplan.train.live import LiveCluster
from ndbplan.train.locks import EVERYONE, WHOLE_TABLE, Lock, TableLocks, Waiting, Wanted, blockers
from ndbplan.train.sql import finding, server
from ndbplan.train.sql.engine import Relation, Result
from ndbplan.train.sql.finding import ROW_NUMBER
from ndbplan.train.sql.problem import SqlError
from ndbplan.train.sql.refused import timed_out_s
from ndbplan.train.state import is_local
from ndbplan.train.transacting import Locks

BY_KEY, BY_SCAN, OF_INNODB, OF_TABLE = 266, 274, -1, 0
"""What a wait ends with: the errors of the data nodes [8.4.8, 7.4.10]; -1 and 0: those of the server."""
_WAITS = {OF_TABLE: "lock_wait_timeout", OF_INNODB: "innodb_lock_wait_timeout"}
"""Variables of the server that say how long."""
_NAME = re.compile(r"`([^`]+)`|([\w$]+)")
_READS = ("analyze", "check", "optimize", "repair")
"""Statements of the schema that go beside transactions [assumed: they write no row]."""

Query = Callable[[exp.Expr, Mapping[str, Relation]], Result]


class LockWaitError(Exception):
    """A statement has to wait for another session; nothing is wrong with it."""

    def __init__(self, wanted: Wanted, code: int, others: list[int]) -> None:
        super().__init__()
        self.wanted, self.code, self.others = wanted, code, others


class Guard:
    """What one statement of a session gets."""

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster, self._session = cluster, cluster.sql_session
        self._got: dict[Lock, bool] = {}

    def rows(
        self, table: Table, keys: Iterable[tuple[str, Key]], code: int, *, exclusive: bool = True
    ) -> None:
        """Lock rows by their keys in an index, or the primary key (""). Raises LockWaitError."""
        wanted = {Lock(table.id, index, key): exclusive for index, key in keys}
        code = OF_INNODB if is_local(table) else code
        self._ask(Wanted(wanted), code)
        self._got |= {lock: alone or self._got.get(lock, False) for lock, alone in wanted.items()}

    def met(self, table: Table, rows: Iterable[tuple[Key, Row]], asks: finding.Wanted) -> None:
        """Lock rows that conditions meet. Raises LockWaitError."""
        keys = dict.fromkeys(key for key, _ in rows)
        self.rows(table, [("", key) for key in keys], BY_SCAN if asks.keys is None else BY_KEY)

    def whole(self, table: Table) -> None:
        """Lock all rows of a table. Raises LockWaitError."""
        self.rows(table, [(WHOLE_TABLE, ())], BY_SCAN)

    def puts(self, table: Table, put: Mapping[Key, Row], gone: Iterable[Key]) -> None:
        """Lock the rows that a change leaves and those that it takes, with their unique values."""
        names = [("", key) for key in (*put, *gone)]
        names += [pair for row in put.values() for pair in _unique_names(table, row)]
        self.rows(table, names, BY_KEY)

    def inserts(self, held: Held, rows: list[Row]) -> None:
        """Lock the keys of rows to be put, which others may have there by now. Raises LockWaitError."""
        table = held.table
        names = [("", held.key_of(row)) for row in rows if table.primary_key]
        self.rows(table, [*names, *(pair for row in rows for pair in _unique_names(table, row))], BY_KEY)

    def _ask(self, wanted: Wanted, code: int) -> None:
        state = self._cluster.state
        others = blockers(self._session, wanted, state.transactions, state.waits)
        if others:
            raise LockWaitError(wanted, code, others)

    def keep(self) -> None:
        """What was got is held until the transaction ends; without one it is let go."""
        if self._got and self._session in self._cluster.state.transactions:
            self._cluster.act(Locks(self._session, Wanted(self._got)))


def eyes(cluster: LiveCluster) -> tuple[LiveCluster, ...]:
    """By whose eyes rows are looked for: those of the session, and with what others have not committed."""
    others = (one for number, one in cluster.state.transactions.items() if number != cluster.sql_session)
    return (cluster, cluster.seen_by(EVERYONE)) if any(one.deltas for one in others) else (cluster,)


def _unique_names(table: Table, row: Row) -> list[tuple[str, Key]]:
    """The entries of a row in the unique indexes of its table; a NULL has none."""
    by_name = {column.name: column for column in table.columns}
    found = []
    for index in table.indexes:
        if index.kind != "ordered" and all(row.get(name) is not None for name in index.columns):
            key = tuple(same(row[name], by_name[name]) for name in index.columns)
            found.append((index.name, key))
    return found


def enter(cluster: LiveCluster, table: Table, names: Sequence[str], *, writes: bool = False) -> None:
    """A statement uses a table: until its transaction ends nobody alters it.

    `names`: each by which it does so, an alias where it has one; `writes`: rows of the first are changed.
    Raises LockWaitError, and SqlError for what the session has not locked.
    """
    session, state = cluster.sql_session, cluster.state
    _may_use(cluster, table, names, writes=writes)
    wanted = Wanted(tables=frozenset({table.id}), writes=writes)
    others = blockers(session, wanted, state.transactions, state.waits, state.of_servers.locked)
    if others:
        raise LockWaitError(wanted, OF_TABLE, others)
    own = state.transactions.get(session)
    if own is not None and table.id not in (own.written if writes else own.tables):
        cluster.act(Locks(session, wanted))


def enter_to_read(cluster: LiveCluster, table: Table, references: Sequence[exp.Table]) -> None:
    """A query reads a table by these references; one FOR UPDATE counts as a change of it (sql_base.cc)."""
    names = [one.alias_or_name for one in references]
    updates = [name for one, name in zip(references, names, strict=True) if _is_for_update(one)]
    enter(cluster, table, [*updates, *(name for name in names if name not in updates)], writes=bool(updates))


def _is_for_update(reference: exp.Table) -> bool:
    """Whether its query locks it so: FOR UPDATE of all its tables, or OF this one."""
    query = reference.find_ancestor(exp.Select)
    locks = (one for one in (query.args.get("locks") if query else None) or () if one.args.get("update"))
    named = [[each.name for each in one.expressions] for one in locks]
    return any(not names or reference.alias_or_name in names for names in named)


def names_of(references: Iterable[exp.Table], table: Table, database: str) -> list[str]:
    """The names by which references of a statement mean a table."""
    return [
        one.alias_or_name
        for one in references
        if one.name == table.name and (one.db or database) == table.database
    ]


def names_in_change(tree: exp.Expr, target: exp.Table, table: Table, in_use: str) -> list[str]:
    """By which names a statement uses the table that it changes: that of the change first."""
    only_named = [*(tree.args.get("tables") or ()), *([tree.this] if tree.args.get("using") else ())]
    others = (one for one in tree.find_all(exp.Table) if not any(one is each for each in only_named))
    names = names_of(others, table, in_use)
    own = target.alias_or_name
    names.remove(own)
    return [own, *names]


def _may_use(cluster: LiveCluster, table: Table, names: Sequence[str], *, writes: bool) -> None:
    """Raises SqlError for a table that the session itself has not locked by these names, or not so."""
    held = cluster.state.of_servers.locked.get(cluster.sql_session)
    if held is None or _holds_all(held, writes=writes):
        return
    left = dict(held.names)
    for name in names:
        # A name that is locked serves once in a statement (manual, LOCK TABLES).
        locked = left.pop((table.id, name.lower()), None)
        if locked is None:
            raise _not_locked(name)
        if writes and name is names[0] and not locked:
            raise _locked_to_read(name)


def _holds_all(held: TableLocks, *, writes: bool) -> bool:
    """Whether it is a global read lock. Raises SqlError where that forbids to write."""
    if held.is_global and writes:
        text = "Can't execute the query because you have a conflicting read lock"
        raise SqlError(1223, "HY000", text)
    return held.is_global


def _locked_to_read(name: str) -> SqlError:
    text = f"Table '{name}' was locked with a READ lock and can't be updated"
    return SqlError(1099, "HY000", text)


def _not_locked(name: str) -> SqlError:
    """The session has locked tables, and not this one."""
    return SqlError(1100, "HY000", f"Table '{name}' was not locked with LOCK TABLES")


def define(sql: str, database: str, cluster: LiveCluster) -> None:
    """A statement alters or drops tables: nobody else may be in them. Raises LockWaitError."""
    held = cluster.state.transactions
    own, locked = cluster.sql_session, cluster.state.of_servers.locked
    if own in locked and sql.split(None, 1)[0].lower() not in _READS:
        _may_define(sql, database, cluster)
    busy = frozenset().union(*(one.tables for other, one in held.items() if other != own))
    busy |= frozenset().union(*(one.tables for other, one in locked.items() if other != own))
    if any(one.is_global for other, one in locked.items() if other != own):
        busy |= {table.id for table in server.tables_of_server(cluster)}
    if not busy or sql.split(None, 1)[0].lower() in _READS:
        return
    names = {quoted or plain for quoted, plain in _NAME.findall(sql)}
    drops = sql.lower().split()[:2] in (["drop", "database"], ["drop", "schema"])
    ids = frozenset(
        table.id
        for table in server.tables_of_server(cluster)
        if table.id in busy
        and (table.database in names if drops else table.name in names)
        and (drops or table.database == database or table.database in names)
    )
    wanted = Wanted(tables=ids, defines=True)
    others = blockers(own, wanted, held, cluster.state.waits, locked)
    if others:
        raise LockWaitError(wanted, OF_TABLE, others)


_TABLE = re.compile(
    r"(?P<verb>\w+)\s+table\s+(?:if\s+(?:not\s+)?exists\s+)?(?:(?P<database>`[^`]+`|[\w$]+)\s*\.\s*)?"
    r"(?P<name>`[^`]+`|[\w$]+)",
    re.IGNORECASE,
)


def _may_define(sql: str, database: str, cluster: LiveCluster) -> None:
    """Raises SqlError for a table that the session itself has not locked for itself alone."""
    found = _TABLE.match(sql)
    if found is None:
        return
    full = f"{(found['database'] or database).strip('`')}.{found['name'].strip('`')}"
    table = next((one for one in server.tables_of_server(cluster) if one.full_name == full), None)
    held = cluster.state.of_servers.locked[cluster.sql_session]
    if _holds_all(held, writes=table is not None):
        return
    if table is not None:
        if table.id not in held.tables:
            raise _not_locked(table.name)
        if not held.tables[table.id]:
            raise _locked_to_read(table.name)
    elif found["verb"].lower() == "create":
        raise _not_locked(found["name"].strip("`"))


def gives_up_s(code: int, cluster: LiveCluster, variables: Mapping[str, str]) -> float:
    """When a wait that begins now is given up, in simulated seconds."""
    if code in _WAITS:
        return cluster.now_s + float(variables[_WAITS[code]])
    return timed_out_s(cluster)


def met_by(
    tree: exp.Expr, target: exp.Table, table: Table, asks: finding.Wanted, query: Query, cluster: LiveCluster
) -> list[tuple[Key, Row]]:
    """The rows that the conditions of an UPDATE or a DELETE meet, by somebody's eyes."""
    rows = finding.read(cluster, table, asks)
    numbers = exp.select(exp.column(ROW_NUMBER, quoted=True)).from_(target.copy())
    parts = {name: tree.args[name].copy() for name in ("where", "order", "limit") if tree.args.get(name)}
    for name, part in parts.items():
        numbers.set(name, part)
    names = finding.names_in(*parts.values())
    found = query(numbers, {table.full_name: finding.relation_of(table, rows, numbered=True, names=names)})
    return [rows[int(one[0])] for one in found.rows]


class Reading(NamedTuple):
    """A query that locks what it reads."""

    tree: exp.Select
    database: str
    query: Query

    @property
    def is_exclusive(self) -> bool:
        """FOR UPDATE; else FOR SHARE or LOCK IN SHARE MODE."""
        return any(one.args.get("update") for one in self.tree.args.get("locks") or ())

    def lock(self, guard: Guard, cluster: LiveCluster) -> None:
        """Lock the rows that it meets, table by table. Raises LockWaitError."""
        for reference in self.tree.find_all(exp.Table):
            where = reference.db or self.database
            if reference.find_ancestor(exp.Select) is not self.tree or where in server.SYSTEM:
                continue
            known = {table.full_name: table for table in server.tables_of_server(cluster)}
            table = known.get(f"{where}.{reference.name}")
            if table is None:
                continue
            wanted = finding.wanted(self.tree, reference, table)
            met = dict.fromkeys(
                key for one in eyes(cluster) for key in self._met(reference, table, wanted, one)
            )
            code = BY_SCAN if wanted.keys is None else BY_KEY
            guard.rows(table, [("", key) for key in met], code, exclusive=self.is_exclusive)

    def _met(
        self, reference: exp.Table, table: Table, wanted: finding.Wanted, cluster: LiveCluster
    ) -> list[Key]:
        rows = finding.read(cluster, table, wanted)
        query = self.tree.copy()
        number = exp.column(ROW_NUMBER, table=reference.alias_or_name, quoted=True)
        query.set("expressions", [number])
        gathers = any(one.find(exp.AggFunc) for one in self.tree.expressions) or self.tree.args.get("group")
        ends = ("order", "limit", "offset") if gathers else ()
        for part in ("locks", "group", "having", "distinct", *ends):
            query.set(part, None)
        own = finding.relation_of(table, rows, numbered=True)
        found = self.query(query, {table.full_name: own}).rows
        return [rows[int(one[0])][0] for one in found if one[0] is not None]


def waiting(
    refused: LockWaitError, sql: str, vertical: bool, rest: list[tuple[str, bool]], since_s: float,
    cluster: LiveCluster, variables: Mapping[str, str],
) -> Waiting:  # fmt: skip
    """A statement that waits from now on; `since_s`: since when its client does."""
    node = server.answering(cluster)
    return Waiting(
        sql, vertical, tuple(rest), 0 if node is None else node.node_id, since_s,
        gives_up_s(refused.code, cluster, variables), refused.code, refused.wanted,
    )  # fmt: skip
