"""Transactions of SQL sessions in a live cluster: they begin, lock, wait, end, and are lost.

Transacts(1, "begin", node_id=50)      # session 1, on SQL node 50
Locks(1, Wanted({lock: True}))         # it has this row now
Waits(2, waiting)                      # session 2 waits for it
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ndbplan.configuration.settings import node_settings
from ndbplan.plan.processes import SqlNode, process_node_ids
from ndbplan.simulate.events.handlers import Order, at_once, handles, planned
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.train.contents import NOTHING
from ndbplan.train.locks import Running, TableLocks, Transaction, Waiting, Wanted, with_delta
from ndbplan.train.of_servers import Values
from ndbplan.train.state import ClusterState, state_of

IDLE_TOO_LONG = 266
"""What the next statement of a transaction meets that was idle beyond TransactionInactiveTimeout [8.4.8]."""
KILLED, INTERRUPTED = -2013, -1317
"""What a statement that waits is given up with by KILL, and by KILL QUERY, in place of an error of NDB."""
ABORTED_BY_FAILURE = 286
"""What it meets when a data node has failed."""


@dataclass(frozen=True)
class Transacts(Order):
    """Somebody begins a transaction of several statements, or ends one.

    `again`: the data nodes gave it up, and the server goes on in another one [the transaction of a session
    looks active to its user until COMMIT or ROLLBACK].
    """

    session: int
    how: Literal["begin", "commit", "rollback", "again"]
    node_id: int = 0


@dataclass(frozen=True)
class Marks(Order):
    """A transaction has these savepoints from now on, and no others."""

    session: int
    savepoints: tuple[str, ...]


@dataclass(frozen=True)
class Locks(Order):
    """A transaction has locked rows, and is in tables."""

    session: int
    got: Wanted


@dataclass(frozen=True)
class Waits(Order):
    """A statement of a session waits; None: it does no more."""

    session: int
    waiting: Waiting | None


@dataclass(frozen=True)
class Runs(Order):
    """A session is at a statement that takes its time."""

    session: int
    running: Running


@dataclass(frozen=True)
class SetsForAll(Order):
    """SET GLOBAL on an SQL node; `persisted`: all that its next start has of SET PERSIST."""

    node_id: int
    values: Values
    persisted: Values


@dataclass(frozen=True)
class LocksTables(Order):
    """LOCK TABLES of a session; None: UNLOCK TABLES."""

    session: int
    locks: TableLocks | None


@dataclass(frozen=True)
class Kills(Order):
    """KILL ended the connection of a session; what it had is rolled back."""

    session: int


@dataclass(frozen=True)
class Idles:
    """A transaction may have been idle for too long."""

    session: int


for _kind in (Transacts, Marks, Locks, Waits, Runs, Kills, SetsForAll, LocksTables):
    planned(_kind)(at_once)


@handles(Runs)
def runs(sim: Simulation, order: Runs) -> None:
    """Nothing else happens by it."""
    state_of(sim).running[order.session] = order.running


@handles(SetsForAll)
def sets_for_all(sim: Simulation, order: SetsForAll) -> None:
    """Sessions that are connected keep what they have of their own."""
    state = state_of(sim)
    state.of_servers = state.of_servers.set(order.node_id, order.values, order.persisted)


@handles(LocksTables)
def locks_tables(sim: Simulation, order: LocksTables) -> None:
    """What a session had locked before is let go."""
    state = state_of(sim)
    state.of_servers = state.of_servers.lock(order.session, order.locks)


@handles(Kills)
def kills(sim: Simulation, order: Kills) -> None:
    """What waits in the session is given up by its client, who hears of it at once."""
    state = state_of(sim)
    state.transactions.pop(order.session, None)
    state.of_servers = state.of_servers.lock(order.session, None)
    state.killed[order.session] = state.killed.get(order.session, 0) + 1
    waiting = state.waits.get(order.session)
    if waiting is not None:
        state.waits[order.session] = waiting._replace(until_s=sim.at_s, code=KILLED)


@handles(Transacts)
def transacts(sim: Simulation, order: Transacts) -> None:
    """What is rolled back was never to be seen; its log has been written."""
    state, number = state_of(sim), order.session
    ended = state.transactions.pop(number, None)
    if ended is not None and order.how == "commit":
        for table_id, delta in ended.deltas.items():
            state.rows_typed[table_id] = state.rows_typed.get(table_id, 0) + delta.rows
            state.contents[table_id] = with_delta(state.contents.get(table_id, NOTHING), delta)
    if order.how == "begin":
        state.transactions[number] = Transaction(order.node_id, sim.at_s)
        if number in state.of_servers.locked and not state.of_servers.locked[number].is_global:
            # BEGIN lets go of tables (manual, LOCK TABLES).
            state.of_servers = state.of_servers.lock(number, None)
    elif order.how == "again" and ended is not None:
        state.transactions[number] = Transaction(
            ended.node_id, sim.at_s, tables=ended.tables, written=ended.written, savepoints=ended.savepoints
        )


@handles(Marks)
def marks(sim: Simulation, order: Marks) -> None:
    state = state_of(sim)
    held = state.transactions.get(order.session)
    if held is not None:
        state.transactions[order.session] = held._replace(savepoints=order.savepoints)


@handles(Locks)
def locks(sim: Simulation, order: Locks) -> None:
    """An exclusive lock stays exclusive; who is idle for too long from now on is given up."""
    state = state_of(sim)
    held = state.transactions.get(order.session)
    if held is None:
        return
    rows = order.got.rows
    state.transactions[order.session] = held._replace(
        locks={**held.locks, **{lock: alone or held.locks.get(lock, False) for lock, alone in rows.items()}},
        since_s={**dict.fromkeys(rows, sim.at_s), **held.since_s},
        tables=held.tables | order.got.tables,
        written=held.written | (order.got.tables if order.got.writes else frozenset()),
        last_s=sim.at_s if rows else held.last_s,
    )
    limit_s = _inactive_s(state)
    if rows and sim.at_s + limit_s < sim.scenario.steps * sim.scenario.step_s:
        sim.later(Due(sim.at_s + limit_s, Idles(order.session), of_cluster=False))


@handles(Waits)
def waits(sim: Simulation, order: Waits) -> None:
    """Nothing else happens by it."""
    waiting = state_of(sim).waits
    waiting.pop(order.session, None)
    if order.waiting is not None:
        waiting[order.session] = order.waiting


@handles(Idles)
def idles(sim: Simulation, event: Idles) -> None:
    """A transaction that did something since is not given up, nor is one that waits for a lock."""
    state = state_of(sim)
    held = state.transactions.get(event.session)
    if held is None or event.session in state.waits or not held.is_known:
        return
    if sim.at_s >= held.last_s + _inactive_s(state) - sim.scenario.step_s / 2:
        state.transactions[event.session] = _given_up(held, IDLE_TOO_LONG)


def _inactive_s(state: ClusterState) -> float:
    """TransactionInactiveTimeout, at the next look of the data nodes, in seconds."""
    settings = node_settings(state.plan)
    return settings.number("TransactionInactiveTimeout") / 1000


def _given_up(held: Transaction, code: int) -> Transaction:
    return held._replace(deltas={}, locks={}, since_s={}, lost=held.lost or code)


def failed(state: ClusterState) -> None:
    """A data node has failed: what others know of open transactions is given up [8.4.8: six of six]."""
    for number, held in state.transactions.items():
        if held.is_known:
            state.transactions[number] = _given_up(held, ABORTED_BY_FAILURE)


def cut_off(state: ClusterState, process: object) -> None:
    """An SQL node is gone: the data nodes give up what its sessions had."""
    if not isinstance(process, SqlNode):
        return
    own = process_node_ids(process)
    state.of_servers = state.of_servers.started(own)
    for number in [number for number, held in state.transactions.items() if held.node_id in own]:
        del state.transactions[number]
    for number in [number for number, one in state.waits.items() if one.node_id in own]:
        del state.waits[number]
    for number in [number for number, one in state.running.items() if one.node_id in own]:
        del state.running[number]
