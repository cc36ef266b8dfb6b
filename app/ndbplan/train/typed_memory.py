"""Memory that rows typed at consoles take on data nodes.

    refused_for_room(sim, table, 500, contents)    # 827: DataMemory would be full; 0: there is room
    refused_for_copies(sim, table, 500, contents)  # the same of rows that are changed or deleted
    hold(sim, "t1")                                # what was typed has its pages from now on

Pages of fixed size and of indexes stay with their table until it is emptied or dropped; those of variable
size that are empty are given back. [DELETE of 3,000 rows without variable columns gave nothing back on a
7.4.10; of 500 neighbours with 2,000 bytes each 31 pages of 32 KiB on an 8.4.8; TRUNCATE all, on both.] Rows
that are deleted are taken for neighbours. Pages of parts of blobs stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import islice
from math import ceil

import numpy as np

from ndbplan.configuration.node_groups import node_groups
from ndbplan.estimate.storage.rows import row_layout
from ndbplan.estimate.stored import distribute
from ndbplan.ndb.console import form
from ndbplan.ndb.hash_index import hash_index_facts
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table
from ndbplan.simulate.model.node_rows import node_facts
from ndbplan.simulate.model.workload import IDLE
from ndbplan.simulate.simulation import Simulation
from ndbplan.train.contents import Contents, TypedPages
from ndbplan.train.locks import EVERYONE
from ndbplan.train.lying import later_nodes, made_on_later_groups
from ndbplan.train.state import state_of
from ndbplan.train.without_rows import without_rows

BytesOfNodes = np.ndarray[tuple[int, int], np.dtype[np.float64]]
"""Of each node: in a checkpoint, DataMemory, tablespace, IndexMemory."""
_NO_ROOM = 827, 1601, 625
"""Errors of DataMemory, a tablespace, IndexMemory that is full, in that order."""
_MOST_LOOKED_AT = 1_000
"""Rows whose values are measured."""


def refused_for_room(sim: Simulation, table: Table, rows: int, contents: Contents) -> int:
    """The error that so many rows more meet now because memory or a tablespace is full; 0: none."""
    typed = state_of(sim).typed_for(EVERYONE, table.id) + rows
    wanted = _wanted(sim, table.id, typed, contents) if rows > 0 else None
    if wanted is None:
        return 0
    more = np.array(wanted.size) - _has(sim, table.id)
    for n, (node, law) in enumerate(zip(sim.state.node_state, sim.laws.nodes, strict=True)):
        _, data, space, index = more[n]
        own = without_rows(sim, sim.scenario.node_classes[n].node_id)
        is_full = (
            data > 0 and node.memory_bytes + own.data + data > law.memory_limit_bytes,
            space > 0 and node.space_bytes + space > law.space_limit_bytes,
            index > 0 and node.index_bytes + own.index_memory + index > law.index_limit_bytes,
        )
        if any(is_full) and not sim.is_dead(n):
            return _NO_ROOM[is_full.index(True)]
    return 0


def refused_for_copies(sim: Simulation, table: Table, rows: int, contents: Contents) -> int:
    """827 where DataMemory has no room for the copies of so many rows that a statement changes; 0: it has.

    Up to 7.6 a data node keeps them there until the statement is committed, in pages of each LDM thread, of
    which each has one already [7.4.10: full, one row is deleted, 10,000 are refused; 8.4.8: 500 are deleted].
    """
    plan = made_on_later_groups(sim, table.id) or sim.outage.plan
    if (
        not rows
        or not form(plan.version, "copies_in_data_memory")
        or all(one.id != table.id for one in plan.tables)
    ):
        return 0
    layout = row_layout(as_typed(table, rows, contents), plan.version)
    parts = distribute(plan, plan.table(table.id)).partitions
    each = rows / len(parts) * (layout.fixed_bytes + layout.variable_bytes)
    of_threads: Counter[tuple[int, int]] = Counter()
    for part in parts:
        for node_id in part.nodes:
            of_threads[node_id, part.ldm] += ceil(each)
    pages: Counter[int] = Counter()
    for (node_id, _), size in of_threads.items():
        pages[node_id] += ceil(size / PAGE_BYTES) - 1
    for n, (node, law) in enumerate(zip(sim.state.node_state, sim.laws.nodes, strict=True)):
        node_id = sim.scenario.node_classes[n].node_id
        more = pages[node_id] * PAGE_BYTES
        held = node.memory_bytes + without_rows(sim, node_id).data
        if more and not sim.is_dead(n) and held + more > law.memory_limit_bytes:
            return _NO_ROOM[0]
    return 0


def refused_for_index(sim: Simulation, old: Table, new: Table, rows: int) -> int:
    """The error of hash indexes that a table gets and that IndexMemory has no room for; 0: there is room.

    Where hash indexes have no memory of their own, DataMemory is looked at elsewhere.
    """
    plan = made_on_later_groups(sim, old.id) or state_of(sim).plan
    contents = state_of(sim).contents_for(EVERYONE, old.id)
    before, after = (in_place(plan, as_typed(one, rows, contents)) for one in (old, new))
    more = difference(sim, before, after)[:, 3]
    for n, (node, law) in enumerate(zip(sim.state.node_state, sim.laws.nodes, strict=True)):
        own = without_rows(sim, sim.scenario.node_classes[n].node_id).index_memory
        # A fragment of the hidden table begins with a page, also where it holds no row.
        least = max(float(more[n]), float(hash_index_facts().page_bytes)) if own else 0.0
        if own and not sim.is_dead(n) and node.index_bytes + own + least > law.index_limit_bytes:
            return 625
    return 0


def hold(sim: Simulation, table_id: str) -> None:
    """Give the rows that were typed into a table their pages."""
    state = state_of(sim)
    contents = state.contents_for(EVERYONE, table_id)
    wanted = _wanted(sim, table_id, state.typed_for(EVERYONE, table_id), contents)
    if wanted is not None:
        more = np.array(wanted.size) - _has(sim, table_id)
        state.typed_pages[table_id] = wanted
        add_memory(sim, more)


def given_back(sim: Simulation, table_ids: Collection[str]) -> BytesOfNodes:
    """What tables that are gone had for rows that were typed; they have it no more."""
    found = nothing(sim)
    for one in table_ids:
        found += _has(sim, one)
        state_of(sim).typed_pages.pop(one, None)
    return found


def _has(sim: Simulation, table_id: str) -> BytesOfNodes:
    known = state_of(sim).typed_pages.get(table_id)
    return nothing(sim) if known is None else np.array(known.size)


def nothing(sim: Simulation) -> BytesOfNodes:
    """No bytes of any node."""
    return np.zeros((len(sim.scenario.node_classes), 4))


def add_memory(sim: Simulation, more: BytesOfNodes) -> None:
    """Let the data nodes that run hold so much more, or less."""
    for n in range(len(sim.laws.nodes)):
        node = sim.state.node_state[n]
        if _takes_rows(sim, n):
            node.rows_bytes = max(0.0, float(node.rows_bytes) + more[n, 0])
            node.memory_bytes = max(0.0, float(node.memory_bytes) + more[n, 1])
            node.space_bytes = max(0.0, float(node.space_bytes) + more[n, 2])
            node.index_bytes = max(0.0, float(node.index_bytes) + more[n, 3])


def _takes_rows(sim: Simulation, n: int) -> bool:
    """Whether a node runs; one of a group that was just made takes no part in the load yet."""
    node_id = sim.scenario.node_classes[n].node_id
    return not sim.is_dead(n) or (node_id in later_nodes(sim) and node_id in state_of(sim).alive())


def difference(sim: Simulation, before: Plan, after: Plan) -> BytesOfNodes:
    """What the rows of a plan hold more than those of another."""
    facts = [node_facts(plan, IDLE, node_groups(plan)) for plan in (before, after)]
    found = nothing(sim)
    for n, node_class in enumerate(sim.scenario.node_classes):
        node_id = node_class.nodes[0].id
        if all(node_id in one for one in facts):
            found[n] = np.subtract(facts[1][node_id].start, facts[0][node_id].start)
    return found


def in_place(plan: Plan, table: Table) -> Plan:
    """The plan with this for its table of the same id; where a table lies depends on those before it."""
    return plan.replace(tables=tuple(table if one.id == table.id else one for one in plan.tables))


def as_typed(table: Table, rows: int, contents: Contents) -> Table:
    """The table with so many rows, as long as those that are known where the plan knows of none."""
    return _with_rows(table, rows, () if table.rows else _measured(table, contents))


def _with_rows(table: Table, rows: int, columns: tuple[Column, ...]) -> Table:
    return table.model_copy(
        update={
            "rows": rows, "columns": columns or table.columns, "partition_rows": (),
            "partition_variable_bytes": (),
        }
    )  # fmt: skip


def _measured(table: Table, contents: Contents) -> tuple[Column, ...]:
    """The columns with the means of what is known of a table; empty: nothing is."""
    if not contents.rows:
        return ()
    looked_at = islice(contents.rows.values(), _MOST_LOOKED_AT)
    values = dict(zip(contents.columns, zip(*looked_at, strict=True), strict=True))
    return tuple(_mean(one, values[one.name]) if one.name in values else one for one in table.columns)


def _mean(column: Column, values: tuple[object, ...]) -> Column:
    texts = [value.encode() if isinstance(value, str) else value for value in values]
    sizes = [len(value) for value in texts if isinstance(value, bytes)]
    found: dict[str, float] = {"null_fraction": values.count(None) / len(values)}
    if sizes:
        found["average_bytes"] = sum(sizes) / len(sizes)
    return column.model_copy(update=found)


def _wanted(sim: Simulation, table_id: str, typed: int, contents: Contents) -> TypedPages | None:
    """The pages of a table when so many rows are typed in; None: it never had one, or is no table of NDB."""
    plan = made_on_later_groups(sim, table_id) or sim.outage.plan
    known = state_of(sim).typed_pages.get(table_id)
    table = next((one for one in plan.tables if one.id == table_id), None)
    if table is None or (typed <= 0 and known is None):
        return None
    most = max(typed, 0 if known is None else known.most)
    columns = () if table.rows else _measured(table, contents)
    if not columns and known is not None:
        columns = known.columns

    def holding(rows: int) -> Plan:
        return in_place(plan, _with_rows(table, table.rows + rows, columns))

    full = holding(most)
    size = difference(sim, holding(0), full)
    if typed < most:
        now = holding(max(0, typed))
        size[:, 1] -= _variable_bytes(sim, full, table_id) - _variable_bytes(sim, now, table_id)
    return TypedPages(most, columns, tuple(map(tuple, size.tolist())))


def _variable_bytes(
    sim: Simulation, plan: Plan, table_id: str
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Pages of variable size of a table, by node."""
    of_node: Counter[int] = Counter()
    for part in distribute(plan, plan.table(table_id)).partitions:
        of_node.update(dict.fromkeys(part.nodes, part.variable_bytes))
    return np.array([float(of_node[one.nodes[0].node_id]) for one in sim.scenario.node_classes])
