"""Tables and disk data that are made, changed and dropped while the cluster lives, and rows that are typed.

SetSchema(tables, logfile_groups, tablespaces, databases)   # what there is from now on
Wrote("t1", rows=1, log_bytes=240.0)                        # one row more in a table of the plan
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ndbplan.base.row_types import Floats, column
from ndbplan.configuration.failures import Failures
from ndbplan.configuration.redo_problems import seen_as
from ndbplan.edits import validated
from ndbplan.edits.parts import remove
from ndbplan.estimate.storage.fragments import Partition
from ndbplan.estimate.stored import distribute
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import OperationKind, Workload
from ndbplan.simulate.events import orders as engine
from ndbplan.simulate.events.handlers import Order, at_once, handles, planned
from ndbplan.simulate.model.start import open_next_files
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import OfCluster, Part
from ndbplan.train import object_ids
from ndbplan.train.contents import NOTHING, Contents, Held, carried
from ndbplan.train.locks import EVERYONE, NO_DELTA, NOBODY, Transaction, delta_of
from ndbplan.train.lying import lies_by
from ndbplan.train.quantities import recording
from ndbplan.train.state import ClusterState, LocalTable, is_local, state_of
from ndbplan.train.typed_memory import add_memory, as_typed, difference, given_back, hold, in_place
from ndbplan.train.without_rows import without_rows


class Remade(NamedTuple):
    """What rows become that are copied."""

    before: Contents
    after: Contents


@dataclass(frozen=True)
class SetSchema(Order):
    """From now on there are these; rows of tables that stay lie where they lay."""

    tables: tuple[Table, ...]
    logfile_groups: tuple[LogfileGroup, ...]
    tablespaces: tuple[Tablespace, ...]
    workloads: tuple[Workload, ...]
    """Those of the plan: what names a table that is gone goes with it."""
    databases: frozenset[str]
    """Those that somebody made, with tables or without."""
    emptied: frozenset[Tablespace] = frozenset()
    """Tablespaces without a file, with the last one that they had."""
    truncated: frozenset[str] = frozenset()
    """Ids of tables whose rows are all gone."""
    copied: frozenset[str] = frozenset()
    """Ids of tables that are made anew beside the old ones, with their rows."""
    remade: Mapping[str, Remade] = field(default_factory=dict)
    """Rows of tables that are copied into other columns, by id."""
    needs_nodes: bool = False
    """Nothing changes where no data node is started then."""


@dataclass(frozen=True)
class SetLocal(Order):
    """From now on SQL nodes have these tables of their own; what is known of rows goes with a table."""

    local: tuple[LocalTable, ...]
    contents: Mapping[str, Contents] = field(default_factory=dict)
    """Rows of tables that come, or that are altered, by id."""


@dataclass(frozen=True)
class Wrote(Order):
    """Somebody wrote rows of a table: so many are there more, or less, and so much log was made."""

    table_id: str
    rows: int
    log_bytes: float
    """Of every copy of the rows together, all nodes."""
    contents: Contents | None = None
    """What the table holds now, as far as it is known and the session sees it; None: as before."""
    session: int = NOBODY
    """Whose transaction it is in, where one is open."""


@dataclass(frozen=True)
class GivesUp(Order):
    """A session gives up the change of the schema that it is at: nothing has changed."""

    session: int


planned(GivesUp)(at_once)


@handles(GivesUp)
def gives_up(sim: Simulation, order: GivesUp) -> None:
    """There is one change at a time: what is due of it is not any more."""
    state_of(sim).running.pop(order.session, None)
    sim.due[:] = [due for due in sim.due if not isinstance(due.event, SetSchema)]


planned(SetSchema)(at_once)
planned(SetLocal)(at_once)
planned(Wrote)(at_once)


def with_schema(plan: Plan, order: SetSchema) -> Plan:
    """A plan with another schema."""
    return plan.replace(
        tables=order.tables,
        logfile_groups=order.logfile_groups,
        tablespaces=order.tablespaces,
        workloads=order.workloads,
    )


@handles(SetSchema)
def set_schema(sim: Simulation, order: SetSchema) -> None:
    """Memory, rows and tablespaces change by what the tables that come and go hold, as the plan says."""
    state, outage = state_of(sim), sim.outage
    if order.needs_nodes and not state.alive():
        return
    known = {table.id: table for table in state.plan.tables}
    lying = {table.id: table for table in outage.plan.tables}
    # A table that is being reorganised lies otherwise in the simulation than a client may see yet.
    tables = tuple(lying[t.id] if t.id in lying and t is known.get(t.id) else t for t in order.tables)
    # What the load still asks for stays in the simulation, empty: servers refuse it, and send none of it.
    gone = _missed(sim.scenario.workload, order.tables) & lying.keys()
    ghosts = tuple(validated.with_rows(lying[one], 0) for one in sorted(gone))
    held = replace(
        order, tables=tables + ghosts, workloads=outage.plan.workloads if gone else order.workloads
    )
    before, after = outage.plan, with_schema(outage.plan, held)
    stay = {table.id for table in order.tables} - order.truncated
    more = difference(sim, _grown(sim, before, stay), after) - given_back(sim, lying.keys() - stay)
    for table in order.tables:
        _carry(state.contents, known.get(table.id), table, order.remade.get(table.id))
    outage.failures = Failures(after)
    state.plan = with_schema(state.plan, order)
    state.databases, state.emptied = order.databases, order.emptied
    if state.growth is not None:
        grown = {table.id: table for table in state.growth.after.tables}
        kept = tuple(grown.get(t.id, t) if t is known.get(t.id) else t for t in order.tables)
        kept += tuple(validated.with_rows(grown.get(one, lying[one]), 0) for one in sorted(gone))
        grown_held = replace(held, tables=kept)
        state.growth = replace(state.growth, after=with_schema(state.growth.after, grown_held))
    made = order.truncated | ({table.id for table in order.tables} - known.keys())
    groups = set(state.groups.values()) - {NODE_GROUP_NONE}
    state.made_on |= {(table_id, group) for table_id in made for group in groups}
    state.ids = object_ids.changed(
        state.ids, state.plan, state.emptied,
        lambda table: distribute(lies_by(sim, table), table).hash_map_name,
        truncated=order.truncated, copied=order.copied,
    )  # fmt: skip
    for table_id in made:
        state.rows_typed.pop(table_id, None)
        state.contents.pop(table_id, None)
        state.counted_from[table_id] = _accepted(sim)
    add_memory(sim, more)
    admitted = 1.0 - _share_of(sim.scenario.workload, gone)
    engine.admit(sim, engine.Admit(admitted, engine.NO_TABLE, at_s=sim.at_s))
    sim.forget_room()


def nothing_is_left(sim: Simulation) -> None:
    """No data node has a table any more, nor a file of disk data: all of them started without their files."""
    state = state_of(sim)
    plan = state.plan
    gone = [table.id for table in plan.tables]
    gone += [one.id for one in plan.tablespaces] + [one.id for one in plan.logfile_groups]
    databases = state.databases | {table.database for table in plan.tables}
    left = remove(plan, gone)
    set_schema(sim, SetSchema((), (), (), left.workloads, databases, at_s=sim.at_s))
    state.ids = object_ids.ids_of(state.plan)
    # The table that counts backups is empty too; files of earlier ones stay, and their numbers are refused.
    state.last_backup = 0


def only_files_are_left(sim: Simulation) -> None:
    """All data nodes started from their files: tables without logging are there, and empty."""
    state = state_of(sim)
    plan = state.plan
    empty = frozenset(table.id for table in plan.tables if not table.logging)
    if empty:
        tables = tuple(validated.with_rows(table, 0) if table.id in empty else table for table in plan.tables)
        order = SetSchema(
            tables, plan.logfile_groups, plan.tablespaces, plan.workloads, state.databases, state.emptied,
            empty, at_s=sim.at_s,
        )  # fmt: skip
        set_schema(sim, order)


def used(workload: Workload) -> set[str]:
    """Ids of the tables that the transactions of a load touch."""
    return {operation.table_id for one in workload.transactions for operation in one.operations}


def _missed(workload: Workload, tables: tuple[Table, ...]) -> set[str]:
    return used(workload) - {table.id for table in tables}


def _share_of(workload: Workload, gone: Collection[str]) -> float:
    """Share of the transactions that touch a table which is gone."""
    weights = sum(one.weight for one in workload.transactions)
    touch = (one.weight for one in workload.transactions if any(o.table_id in gone for o in one.operations))
    return sum(touch) / weights


def _grown(sim: Simulation, plan: Plan, but: Collection[str]) -> Plan:
    """The plan with the rows that its tables have now without typed ones: those that go free memory."""
    typed = state_of(sim).rows_typed
    tables = (
        table
        if table.id in but
        else table.model_copy(update={"rows": rows_of(sim, table) - typed.get(table.id, 0)})
        for table in plan.tables
    )
    return plan.replace(tables=tuple(tables))


def room_left(sim: Simulation, plan: Plan) -> float:
    """DataMemory that the fullest data node has left when the schema of a plan holds, in bytes."""
    lying = {table.id: table for table in sim.outage.plan.tables}
    # Tables that are gone while the load still asks for them stay in the simulation, empty.
    gone = sorted(_missed(sim.scenario.workload, plan.tables) & lying.keys())
    held = (
        plan.replace(tables=plan.tables + tuple(validated.with_rows(lying[one], 0) for one in gone))
        if gone
        else plan
    )
    more = difference(sim, sim.outage.plan, held)[:, 1]
    memory = column(sim.state.node_state, lambda node: node.memory_bytes)
    limits = column(sim.laws.nodes, lambda node: node.memory_limit_bytes)
    own = np.array([without_rows(sim, one.node_id).data for one in sim.scenario.node_classes])
    return float((limits - memory - own - more).min())


@handles(SetLocal)
def set_local(sim: Simulation, order: SetLocal) -> None:
    """Nothing of the cluster changes by it."""
    state = state_of(sim)
    there = {one.table.id for one in order.local}
    for one in state.local:
        if one.table.id not in there:
            state.rows_typed.pop(one.table.id, None)
            state.contents.pop(one.table.id, None)
    for table_id, contents in order.contents.items():
        state.contents[table_id] = contents
        state.rows_typed[table_id] = len(contents.rows)
    state.local = order.local


@handles(Wrote)
def wrote(sim: Simulation, order: Wrote) -> None:
    """The log of the rows is in the buffers of all log parts, as log that is not of the workload."""
    state = state_of(sim)
    open_one = state.transactions.get(order.session)
    if open_one is not None:
        state.transactions[order.session] = _changed_by(state, open_one, order, sim.at_s)
    else:
        state.rows_typed[order.table_id] = state.rows_typed.get(order.table_id, 0) + order.rows
        if order.contents is not None:
            state.contents[order.table_id] = order.contents
    hold(sim, order.table_id)
    each = _log_of_a_part(sim, order.table_id, order.log_bytes)
    parts = sim.state.parts
    for place in (Part.FILL, Part.MADE, Part.BASE):
        parts[place] += each
    open_next_files(sim.laws.nodes, parts)


def _changed_by(state: ClusterState, open_one: Transaction, order: Wrote, at_s: float) -> Transaction:
    """An open transaction with one change more; numbers that AUTO_INCREMENT gave are gone for all."""
    table_id, before = order.table_id, open_one.deltas.get(order.table_id, NO_DELTA)
    seen = state.contents_for(order.session, table_id)
    now = seen if order.contents is None else order.contents
    deltas = {**open_one.deltas, table_id: delta_of(seen, now, before, order.rows)}
    kept = state.contents.get(table_id, NOTHING)
    if now.counter > kept.counter:
        state.contents[table_id] = replace(kept, counter=now.counter)
    return open_one._replace(deltas=deltas, last_s=at_s)


def _carry(contents: dict[str, Contents], before: Table | None, after: Table, remade: Remade | None) -> None:
    """Give what a table holds the columns that it has now."""
    now = contents.get(after.id, NOTHING)
    if remade is not None and now == remade.before:
        contents[after.id] = remade.after
    elif before is not None and before is not after:
        then = carried(now, before, after)
        if then is not now:
            contents[after.id] = then


def held_rows(sim: Simulation, table: Table, session: int = NOBODY) -> Held:
    """The rows of a table now, as far as they are known and a session sees them."""
    state = state_of(sim)
    planned_rows = rows_of(sim, table) - state.rows_typed.get(table.id, 0)
    return Held(table, state.contents_for(session, table.id), max(0, planned_rows))


def rows_of(sim: Simulation, table: Table, session: int = NOBODY) -> int:
    """How many rows a table has: those of the plan, those that clients committed since, and typed ones.

    Rows that are not committed count for the session that typed them.
    """
    state = state_of(sim)
    if is_local(table):
        return max(0, state.typed_for(session, table.id))
    committed = _accepted(sim) - state.counted_from.get(table.id, 0.0)
    grown = round(committed * _rows_more(sim.scenario.workload, table.id))
    return max(0, table.rows + grown + state.typed_for(session, table.id))


def _accepted(sim: Simulation) -> float:
    """Transactions that were committed since the session began."""
    bucket, _ = recording(sim)
    return float(sim.history.totals[: bucket + 1, OfCluster.ACCEPTED].sum())


def _rows_more(workload: Workload, table_id: str) -> float:
    """Rows that a table has more after one transaction of the mix; below zero: less."""
    weights = sum(one.weight for one in workload.transactions)
    sign = {OperationKind.INSERT: 1.0, OperationKind.DELETE: -1.0}
    return sum(
        one.weight / weights * operation.rows * sign.get(operation.kind, 0.0)
        for one in workload.transactions
        for operation in one.operations
        if operation.table_id == table_id
    )


def partitions_of(sim: Simulation, plan: Plan, table: Table) -> list[Partition]:
    """The partitions of a table with the rows that it has now; `plan` says how they lie."""
    rows = rows_of(sim, table)
    if not table.rows:
        # Nothing says what a row takes where the plan has none.
        table = as_typed(table, rows, state_of(sim).contents_for(EVERYONE, table.id))
        plan = in_place(plan, table)
    parts = distribute(plan, table).partitions
    planned_rows = sum(part.rows for part in parts)
    # Whole rows, none lost: each partition ends where its share of all rows ends.
    of_copy = rows * (planned_rows / table.rows if table.rows else 1.0)
    found, before, ends = [], 0, 0
    for number, part in enumerate(parts, start=1):
        before += part.rows
        begins, ends = ends, round(of_copy * (before / planned_rows if planned_rows else number / len(parts)))
        share = (ends - begins) / part.rows if part.rows else 1.0
        found.append(
            replace(
                part, rows=ends - begins, fixed_bytes=_pages(part.fixed_bytes * share),
                variable_bytes=_pages(part.variable_bytes * share),
            )
        )  # fmt: skip
    return found


def _pages(size: float) -> int:
    return -int(-size // PAGE_BYTES) * PAGE_BYTES


NO_LOG = 410
"""Error of a log part that has none left until a checkpoint ends."""


def refused_for(sim: Simulation, table_id: str, log_bytes: float) -> int:
    """The error that so much log of a table meets now, as a client hears of it; 0: none.

    410 where no log is left, 1220 where the next file is not open, 1221 where no buffer is, 1234 where the
    log lags; of the last three a timeout where work is queued.
    """
    each, parts = _log_of_a_part(sim, table_id, log_bytes), sim.state.parts.copy()
    open_next_files(sim.laws.nodes, parts)
    buffers = column(sim.laws.nodes, lambda node: node.buffer_limit_bytes)[:, None]
    limits = column(sim.laws.nodes, lambda node: node.log_limit_bytes)[:, None]
    made, used = parts[Part.MADE] + each, each > 0
    for code, is_met in (
        (NO_LOG, made > parts[Part.TAIL] + limits), (1234, parts[Part.LAGS] > 0.0),
        (1220, made > parts[Part.FILE_END]),
        # Of an empty buffer a statement has its log written while it goes on.
        (1221, (parts[Part.FILL] > 0.0) & (parts[Part.FILL] + each > buffers)),
    ):  # fmt: skip
        if (used & is_met).any():
            return seen_as(sim.outage.plan, code)
    return 0


def _log_of_a_part(sim: Simulation, table_id: str, log_bytes: float) -> Floats:
    """How much log each part of each node gets: spread evenly over the fragments of the table that live."""
    found: Floats = np.zeros(sim.full_load.shape)
    plan = sim.outage.plan
    table = next((one for one in plan.tables if one.id == table_id), None)
    if table is None or not table.logging:
        return found
    numbers = {one.node_id: n for n, one in enumerate(sim.scenario.node_classes) if not sim.is_dead(n)}
    for part in distribute(lies_by(sim, table), table).partitions:
        for node_id in part.nodes:
            if node_id in numbers:
                found[numbers[node_id], part.log_part % found.shape[1]] += 1.0
    return found * (log_bytes / max(1.0, float(found.sum())))
