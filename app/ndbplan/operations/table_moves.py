"""Tables spread over new node groups: the statements, how long each takes, what it adds to the disks."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ndbplan.base.quantity import Quantity, Term
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.table_options import has_own_balance
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.grown import ReorganiseEstimate
from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.estimate.storage.rows import blob_parts, row_layout
from ndbplan.estimate.times.reorganise import TableReorganise
from ndbplan.estimate.times.restart_phases import Phase
from ndbplan.operations.commands import Command, on_an_sql_node
from ndbplan.operations.meanwhile import NO_DDL, NO_RESTART, ddl_clients
from ndbplan.operations.operation import DiskLoad, Step
from ndbplan.operations.schema import online_alter, table_name
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind


def table_moves(
    plan: Plan, change: ReorganiseEstimate | None, tables: Collection[Table] | None = None
) -> tuple[tuple[Step, ...], str | None]:
    """REORGANIZE and OPTIMIZE of tables (None: of all), and the key of the first step that moves rows.

    `change`: what the estimate says about each table; None: nothing, so that steps have no durations.
    """
    steps: list[Step] = []
    first = None
    for number, table in enumerate(plan.tables, 1):
        if tables is not None and table not in tables:
            continue
        moved = None if change is None else change.tables[number - 1]
        if moved is not None and not moved.moves:
            moved = None
        if moved is not None:
            first = first or f"reorganise-{number}"
        steps += _moves(plan, table, number, moved)
    return tuple(steps), first


def longest_move(change: ReorganiseEstimate) -> tuple[str, Quantity] | None:
    """The statement that takes longest: its table, and how long; None where nothing moves."""
    slowest = max((t for t in change.tables if t.moves), key=lambda t: t.duration_s.value, default=None)
    return None if slowest is None else (slowest.table, slowest.duration_s)


def _moves(plan: Plan, table: Table, number: int, moved: TableReorganise | None) -> Iterator[Step]:
    """The steps of one table; without an SQL node only the timeline has them."""
    statement = reorganise_statement(plan, table)
    if statement is None:
        if plan.sql_nodes:
            yield _stays(table, number)
        return
    if moved is None and not plan.sql_nodes:
        return
    yield Step(
        f"reorganise-{number}",
        f"Reorganise {table.full_name}",
        *_in_runbook(plan, _what_moves(plan), statement),
        None if moved is None else moved.duration_s,
        label=f"REORGANIZE {table.full_name}",
        blocked=(NO_DDL, NO_RESTART, ddl_clients(plan)),
        check="ndb_desc: partitions on the new nodes",
        if_it_fails=(
            "the statement rolls back by itself and the table is as before; when a data node has died, "
            "wait until it is started again and repeat the statement"
        ),
        phases=() if moved is None else _passes(plan, moved),
    )
    yield Step(
        f"optimise-{number}",
        f"Give back memory of {table.full_name}",
        *_in_runbook(
            plan,
            "Returns the space of variable-sized columns on the old nodes; fixed-size pages are only reused.",
            f"OPTIMIZE TABLE {table_name(table)};",
        ),
        None if moved is None else optimise(plan, table),
        label=f"OPTIMIZE {table.full_name}",
        blocked=(NO_DDL, ddl_clients(plan)),
        check="ALL REPORT MEMORYUSAGE: less on the old nodes",
        rollback="nothing to undo",
        if_it_fails="repeat it at any time; until then old nodes keep the memory",
    )


def _in_runbook(plan: Plan, text: str, statement: str) -> tuple[str, tuple[Command, ...]]:
    """Text and commands of a statement; nothing without an SQL node that could run it."""
    return (text, (on_an_sql_node(plan, statement),)) if plan.sql_nodes else ("", ())


def _stays(table: Table, number: int) -> Step:
    made = "MAX_ROWS beside what says its partitions; REORGANIZE PARTITION refuses such a table"
    if table.partitions is not None:
        made = f"PARTITIONS {table.partitions}; REORGANIZE PARTITION refuses such a table (error 1511)"
    return Step(
        f"reorganise-{number}",
        f"Table {table.full_name} stays where it is",
        f"It was created with {made}. To spread it, create it anew and copy its rows.",
    )


def _what_moves(plan: Plan) -> str:
    blobs = "" if plan.features.blobs_are_reorganised else ", and so do blob parts"
    return f"Moves rows to the new node groups; unique hash indexes stay where they are{blobs}."


def reorganise_statement(plan: Plan, table: Table) -> str | None:
    """The statement that spreads a table over all node groups; None when the product refuses it."""
    if table.partitions is not None:
        return None
    if table.max_rows is not None and has_own_balance(table, plan.version):
        # REORGANIZE refuses tables with MAX_ROWS, and MAX_ROWS would end what says their partitions.
        return None
    if table.max_rows is not None and plan.features.max_rows_online:
        action = f"MAX_ROWS={table.max_rows}"
    else:
        action = "REORGANIZE PARTITION"
    return online_alter(plan, table, action)


def _passes(plan: Plan, table: TableReorganise) -> tuple[Phase, ...]:
    """Scan and copy, wait, delete: the passes of one reorganisation, as shares of its time."""
    constants = constants_of(plan)
    deleting = constants.constant("reorganise_delete_share")
    fixed_s = min(table.rounds * constants["reorganise_table_s"].value, table.duration_s.value)
    rest = table.duration_s.value - fixed_s
    shares = (
        ("scan and copy", (1.0 - deleting.value) * rest),
        ("prepare, wait for a global checkpoint", fixed_s),
        ("delete moved rows", deleting.value * rest),
    )
    whole = table.duration_s
    passes = []
    for name, seconds in shares:
        share = seconds / whole.value
        why = (
            Term(
                "share of the whole",
                share,
                "fraction",
                f"{deleting.evidence}: {deleting.source} [{deleting.name}]",
            ),
        )
        passes.append(Phase(name, whole.scaled(share, why=why), table.bound, ""))
    return tuple(passes)


def optimise(plan: Plan, table: Table) -> Quantity:
    """Duration of OPTIMIZE TABLE: one client sends every row back in batches, with a pause after each.

    Only variable parts are moved together, so a table that has none is left at once. Source: NDB API of 7.4
    (OptimizeTableHandle) and one published run.
    """
    each, fixed = constants_of(plan)["optimise_row_s"], constants_of(plan)["optimise_table_s"]
    version = plan.version
    parts = sum(part.parts_per_row for part in blob_parts(table, version))
    touched = table.rows * (1 + parts) if row_layout(table, version).variable_words else 0.0
    why = (
        Term("rows with a variable part, blob parts included", touched, "rows", "plan"),
        *each.why,
        *fixed.why,
    )
    return Quantity(
        fixed.value + touched * each.value,
        fixed.low + touched * each.low,
        fixed.high + touched * each.high,
        "s",
        why,
    )


def disk_loads(plan: Plan, change: ReorganiseEstimate) -> tuple[DiskLoad, ...]:
    """Mean redo rate that the reorganisation puts on each node's disk."""
    version = plan.version
    after = change.plan_after
    group_of = {n.node_id: i for i, group in enumerate(node_groups(after)) for n in group}
    written: dict[int, float] = {}
    for table, moved in zip(plan.tables, change.tables, strict=True):
        if not moved.moves:
            continue
        insert = operation_redo(table, OperationKind.INSERT, version).value
        delete = operation_redo(table, OperationKind.DELETE, version).value
        old = moved.redistribution.before.placement.nodes[:, 0].tolist()
        new = moved.redistribution.after.placement.nodes[:, 0].tolist()
        for (source, target), rows in moved.redistribution.moved_rows.items():
            out, into = group_of[old[source]], group_of[new[target]]
            written[out] = written.get(out, 0.0) + rows * (insert + delete)
            written[into] = written.get(into, 0.0) + rows * insert
    seconds = change.duration_s
    loads = []
    overhead = constants_of(plan)["redo_page_overhead"]
    for i, group in enumerate(node_groups(after)):
        log = written.get(i, 0.0) * overhead.value
        for node in group:
            disk = disk_for(after, node, DiskRole.REDO)
            if disk is None or seconds.value <= 0:
                continue
            why = (
                Term("log of the moved rows", log, "bytes", "formula: write in place, insert, delete"),
                seconds.as_term("duration"),
            )
            rate = Quantity(log / seconds.value, log / seconds.high, log / seconds.low, "bytes/s", why)
            speed = disk.sequential_write_bytes_per_s
            stated = Term(f"sequential writing of {disk.name}", speed, "bytes/s", "plan")
            share = rate.scaled(1 / speed, "fraction", (rate.as_term("log"), stated))
            loads.append(DiskLoad(node.node_id, disk.name, rate, share))
    return tuple(loads)
