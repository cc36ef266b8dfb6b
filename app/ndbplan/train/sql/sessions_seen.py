"""What ndbinfo and SHOW PROCESSLIST tell of the sessions of a live cluster: who is there, locks and waits.

Forms: recorded on a running 8.4.8 while one session held a row lock and another one waited for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ndbplan.plan.tables import Table
from ndbplan.train.contents import key_columns
from ndbplan.train.live import LiveCluster, SqlSession
from ndbplan.train.locks import Lock, Running, Transaction
from ndbplan.train.schema import partitions_of
from ndbplan.train.sql.finding import places_of
from ndbplan.train.sql.objects import numbered
from ndbplan.train.sql.server import answering
from ndbplan.train.state import ClusterState

Row = dict[str, Any]
_OWN_CONNECTION, _OTHER_CONNECTIONS = 8, 28
"""Numbers of the first session, and of the others from there on [8.4.8: 11, 92 and 100, as they came]."""
_LATER_CONNECTIONS, _MOST_SESSIONS = 100, 10
"""Numbers of connections that take the place of those that were ended [assumed: any that are free]."""
_BLOCK_API, _BLOCK_DBTC = 0x8000, 245
_FIRST_LOCK = 4003
"""lock_num of the first lock that is listed [8.4.8]."""


def connection_of(session: int, state: ClusterState) -> int:
    """The number of the connection of a session; another one after KILL."""
    if killed := state.killed.get(session, 0):
        return _LATER_CONNECTIONS + _MOST_SESSIONS * killed + session
    return _OWN_CONNECTION if session == 1 else _OTHER_CONNECTIONS + session


class _Held(NamedTuple):
    """A lock that a session has or waits for."""

    session: int
    one: Transaction
    lock: Lock
    exclusive: bool
    since_s: float
    waits: bool
    node_id: int
    instance: int
    fragment: int
    number: int
    """Of its table, in the dictionary."""


def _held(cluster: LiveCluster) -> Iterator[_Held]:
    """Row locks by their primary keys, in the order of the sessions; those that are waited for come last."""
    state = cluster.state
    tables = {table.id: (number, table) for number, table in numbered(cluster.plan, cluster.state.ids)}
    asked = [
        (session, one, lock, alone, one.since_s.get(lock, one.began_s), False)
        for session, one in sorted(state.transactions.items())
        for lock, alone in one.locks.items()
    ]
    asked += [
        (session, state.transactions.get(session) or Transaction(wait.node_id, wait.since_s), lock, alone,
         wait.since_s, True)
        for session, wait in sorted(state.waits.items())
        for lock, alone in wait.wanted.rows.items()
        if any(lock in other.locks for number, other in state.transactions.items() if number != session)
    ]  # fmt: skip
    for session, one, lock, alone, since_s, waits in asked:
        if lock.by or lock.table_id not in tables:
            continue
        number, table = tables[lock.table_id]
        node_id, instance, fragment = _place(cluster, table, lock)
        yield _Held(session, one, lock, alone, since_s, waits, node_id, instance, fragment, number)


def _place(cluster: LiveCluster, table: Table, lock: Lock) -> tuple[int, int, int]:
    """The data node where a row is locked first, which has its primary; the LDM thread and fragment there."""
    parts = partitions_of(cluster.session.simulation, cluster.plan_of(table), table)
    values = dict(zip((one.name for one in key_columns(table)), lock.key, strict=False))
    found = places_of(cluster, table, [values]) if values else None
    part = parts[found[0] if found is not None else 0]
    alive = set(cluster.state.alive())
    node_id = next((one for one in (part.primary, *part.nodes) if one in alive), part.primary)
    return node_id, part.ldm, part.fragment


def _transid(session: int, one: Transaction) -> int:
    return (one.node_id << 52) | (session << 40) | round(one.began_s * 10)


def _does(held: _Held) -> str:
    """What the operation is that has the lock."""
    delta = held.one.deltas.get(held.lock.table_id)
    key = held.lock.key
    if delta is None or not (key in delta.put or key in delta.dropped or key in delta.gone):
        return "READ"
    return "DELETE" if key not in delta.put else "UPDATE"


def transactions(cluster: LiveCluster) -> Iterator[Row]:
    """Transactions of sessions that have locked rows or wait for some, at their coordinators."""
    found = list(_held(cluster))
    for session in dict.fromkeys(one.session for one in found):
        own = [one for one in found if one.session == session]
        first, waits = own[0], sum(one.waits for one in own)
        idle_s = 0.0 if waits else cluster.now_s - max(first.one.last_s, first.one.began_s)
        yield {
            "mysql_connection_id": connection_of(session, cluster.state),
            "node_id": first.node_id, "block_instance": 1,
            "transid": _transid(session, first.one), "state": "Started",
            "count_operations": len(own) - waits, "outstanding_operations": waits,
            "inactive_seconds": int(idle_s), "client_node_id": first.one.node_id,
            "client_block_ref": _BLOCK_API + _OWN_CONNECTION + session - 1,
        }  # fmt: skip


def operations(cluster: LiveCluster) -> Iterator[Row]:
    """The operations of sessions that have locked rows or wait for some."""
    firsts: dict[int, _Held] = {}
    for one in _held(cluster):
        first = firsts.setdefault(one.session, one)
        kind = _does(one)
        yield {
            "mysql_connection_id": connection_of(one.session, cluster.state), "node_id": one.node_id,
            "block_instance": one.instance, "transid": _transid(one.session, one.one),
            "operation_type": kind if kind != "READ" else ("READ-EX" if one.exclusive else "READ-SH"),
            "state": "Waiting" if one.waits else "Prepared", "tableid": one.number,
            "fragmentid": one.fragment, "client_node_id": one.one.node_id,
            "client_block_ref": _BLOCK_API + _OWN_CONNECTION + one.session - 1, "tc_node_id": first.node_id,
            "tc_block_no": _BLOCK_DBTC, "tc_block_instance": 1,
        }  # fmt: skip


def locks(cluster: LiveCluster) -> Iterator[Row]:
    """Row locks of sessions, and who waits for which of them."""
    numbers: dict[Lock, int] = {}
    rows: dict[Lock, int] = {}
    for place, one in enumerate(_held(cluster)):
        lock_number = _FIRST_LOCK + place
        first = numbers.setdefault(one.lock, lock_number)
        yield {
            "mysql_connection_id": connection_of(one.session, cluster.state), "node_id": one.node_id,
            "block_instance": one.instance, "tableid": one.number, "fragmentid": one.fragment,
            "rowid": rows.setdefault(one.lock, len(rows)), "transid": _transid(one.session, one.one),
            "mode": "X" if one.exclusive else "S", "state": "W" if one.waits else "H",
            "detail": "*" if first == lock_number else "", "op": "UPDATE" if one.waits else _does(one),
            "duration_millis": round((cluster.now_s - one.since_s) * 1000), "lock_num": lock_number,
            "waiting_for": first if one.waits else None, "client_node_id": one.one.node_id,
        }  # fmt: skip


def at_work(cluster: LiveCluster) -> dict[int, Running]:
    """Statements that take their time and are under way, by the number of their session."""
    is_moving = cluster.session.simulation.is_moving
    running = sorted(cluster.state.running.items())
    return {number: one for number, one in running if one.is_at(cluster.now_s, is_moving=is_moving)}


def processes(session: int, sql: str, database: str, cluster: LiveCluster) -> list[tuple[Any, ...]]:
    """Rows of SHOW PROCESSLIST: who asks, waits, is busy, or sleeps; each with its own database."""
    state, busy, idle = cluster.state, at_work(cluster), _connected(cluster)
    rows: list[tuple[Any, ...]] = []
    open_ones = state.transactions.keys() | state.waits.keys() | busy.keys() | idle.keys()
    for number in sorted({session} | open_ones):
        wait, held, own = state.waits.get(number), state.transactions.get(number), busy.get(number)
        known = idle.get(number)
        if number != session:
            database = "" if known is None else known.database
        where = (connection_of(number, state), "root", "localhost", database or None)
        if number == session:
            rows.append((*where, "Query", 0, "init", sql))
        elif wait is not None:
            of_table = "Waiting for table metadata lock" if not wait.code else "updating"
            rows.append((*where, "Query", int(cluster.now_s - wait.since_s), of_table, wait.sql))
        elif own is not None:
            lasted_s = int(cluster.now_s - own.since_s)
            rows.append((*where[:3], own.database or None, "Query", lasted_s, own.state, own.sql))
        elif held is not None:
            rows.append((*where, "Sleep", int(cluster.now_s - max(held.last_s, held.began_s)), "", None))
        elif known is not None:
            rows.append((*where, "Sleep", max(0, int(cluster.now_s - known.last_s)), "", None))
    return rows


def _connected(cluster: LiveCluster) -> dict[int, SqlSession]:
    """Sessions at the SQL node that answers; a connection that KILL ended is gone until its next line."""
    own, killed = answering(cluster), cluster.state.killed
    return {
        number: one
        for number, one in cluster.sessions.items()
        if own is not None and one.node_id == own.node_id and one.killed == killed.get(number, 0)
    }


def number_of(connection: int, cluster: LiveCluster) -> int | None:
    """The session that has a connection; None: none has."""
    own = (
        number for number in range(1, _MOST_SESSIONS) if connection_of(number, cluster.state) == connection
    )
    return next(own, None)
