"""Backups of a live cluster: asked for, written, over, or ended before their end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from ndbplan.base.row_types import column
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.loaded import node_loads
from ndbplan.estimate.timed import backup
from ndbplan.ndb.console import form
from ndbplan.plan.events import Backup
from ndbplan.simulate.events import orders as engine
from ndbplan.simulate.events.disks import BackupStarts, planned_backup, start_backup
from ndbplan.simulate.events.handlers import Asked, Order, at_once, handles, planned
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import Part
from ndbplan.train.orders import ExitSingleUser, exit_single_user
from ndbplan.train.saved import Saved
from ndbplan.train.schema import held_rows, rows_of
from ndbplan.train.state import BackupRun, state_of

ABORTED_BY_USER = 1321
NODE_FAILED = 1326
EXISTS = 1350


@dataclass(frozen=True)
class AskBackup(Order):
    """A backup is asked for; 0: of the next number."""

    number: int = 0
    of_begin: bool = False
    """Whether it holds the rows as they were at its begin; else as at its end."""


@dataclass(frozen=True)
class AskNoBackup(Order):
    """A backup is to end; of any number, as the product does."""

    number: int


planned(AskBackup)(at_once)
planned(AskNoBackup)(at_once)


@handles(AskBackup)
def begin_backup(sim: Simulation, order: AskBackup) -> None:
    """Every data node that runs begins to write; a number that has files fails at once (1350)."""
    state, at_s = state_of(sim), sim.at_s
    leader, server = state.president, state.server
    if leader is None or server is None or (state.backup is not None and state.backup.ended_s is None):
        return
    if state.single_user is not None and form(state.plan.version, "single_user_backup_waits"):
        state.backup_asked = state.backup_asked or (order.number, order.of_begin)
        return
    number = order.number or state.last_backup + 1
    if not order.number:
        # Counted whatever becomes of it.
        state.last_backup = number
    if any(one.number == number and not one.error for one in state.backups):
        failed = BackupRun(
            number, server, leader, at_s, state.gci, (), (), ended_s=at_s, last_gci=state.gci, error=EXISTS
        )
        state.backup = failed
        state.say(at_s, "backup_aborted", leader, backup=number, server=server, code=EXISTS)
        return
    state.last_backup = number
    rows = _rows(sim)
    written: dict[int, float] = {}
    for due in planned_backup(Backup(at_s=at_s), Asked(sim.outage.plan, sim.scenario.workload, 0)):
        assert isinstance(due.event, BackupStarts)
        written = {node_id: amount for node_id, amount, _ in due.event.nodes}
        start_backup(sim, due.event)
    state.backup = BackupRun(
        number, server, leader, at_s, state.gci, tuple(written.items()), tuple(rows.items()),
        order.of_begin, _saved(sim), redo_bytes=_redo_bytes(sim),
    )  # fmt: skip
    state.say(at_s, "backup_started", leader, backup=number, server=server)


def _saved(sim: Simulation) -> dict[str, Saved]:
    """All tables with the rows that they have now, by their ids."""
    return {
        table.id: Saved(table.model_copy(update={"rows": rows_of(sim, table)}), held_rows(sim, table))
        for table in state_of(sim).plan.tables
    }


def _rows(sim: Simulation) -> dict[int, float]:
    """Rows that each data node writes: those whose primary it holds, by the share of its bytes."""
    plan = state_of(sim).plan
    nodes = backup(plan).nodes
    bytes_of_all = sum(node.written_bytes.value for node in nodes) or 1.0
    rows = sum(table.rows for table in plan.tables)
    return {node.node_id: rows * node.written_bytes.value / bytes_of_all for node in nodes}


def _redo_bytes(sim: Simulation) -> float:
    """Redo log that all nodes have written for the workload."""
    parts = sim.state.parts
    return float((parts[Part.MADE] - parts[Part.BASE]).sum())


def _changes(sim: Simulation, redo_bytes: float) -> tuple[int, int]:
    """Records and bytes of a backup's log of changes that had so much redo log; each once, not by replica."""
    plan = sim.outage.plan
    loads = node_loads(plan, sim.scenario.workload)
    redo_bytes_per_s = sum(load.redo_bytes_per_s.value for load in loads)
    if redo_bytes <= 0 or redo_bytes_per_s <= 0:
        return 0, 0
    seconds = redo_bytes / redo_bytes_per_s
    return (
        round(seconds / no_of_replicas(plan) * sum(load.writes_per_s for load in loads)),
        round(seconds * sum(load.backup_log_bytes_per_s for load in loads)),
    )


def share_done(sim: Simulation, node_id: int) -> float:
    """How much of its part of the backup a node has written."""
    run = state_of(sim).backup
    amount = {} if run is None else dict(run.bytes_by_node)
    node = state_of(sim).data_node(node_id)
    if node is None or not amount.get(node_id):
        return 1.0
    n = sim.node(node.id)
    left = float(sim.state.node_state[n].backup_left_bytes) if n >= 0 else 0.0
    return 1.0 - min(1.0, left / amount[node_id])


def backup_bytes(sim: Simulation, node_id: int) -> float:
    """What the backups of a data node take on its disk, with what is written of one under way."""
    state = state_of(sim)
    done = 0.0
    for run in (one for one in state.backups if not one.error):
        size, nodes = dict(run.bytes_by_node).get(node_id, 0.0), len(run.bytes_by_node)
        done += size + (run.log_bytes / nodes if size else 0.0)
    under_way = state.backup
    if under_way is not None and under_way.ended_s is None:
        log = _changes(sim, _redo_bytes(sim) - under_way.redo_bytes)[1] / max(1, len(under_way.bytes_by_node))
        size = dict(under_way.bytes_by_node).get(node_id, 0.0)
        done += size * share_done(sim, node_id) + (log if size else 0.0)
    return done


def follow_backup(sim: Simulation) -> None:
    """A backup is over when no node has anything left to write."""
    state, run = state_of(sim), state_of(sim).backup
    if run is None or run.ended_s is not None or sim.at_s <= run.began_s:
        return
    if float(column(sim.state.node_state, lambda node: node.backup_left_bytes).max()) > 0.0:
        return
    changes, log = _changes(sim, _redo_bytes(sim) - run.redo_bytes)
    last = {} if run.of_begin else _saved(sim)
    saved = {table_id: last.get(table_id, one) for table_id, one in run.saved.items()}
    done = run._replace(saved=saved, ended_s=sim.at_s, last_gci=state.gci, log_records=changes, log_bytes=log)
    state.backup = done
    state.backups = (*state.backups, done)
    records, data = totals(done)
    state.say(
        sim.at_s, "backup_completed", done.master, backup=done.number, server=done.server,
        start=done.first_gci, stop=done.last_gci, records=records, log_records=changes, data=data, log=log,
    )  # fmt: skip


def totals(run: BackupRun) -> tuple[int, int]:
    """Records and bytes of a whole backup."""
    return round(sum(rows for _, rows in run.rows_by_node)), round(sum(b for _, b in run.bytes_by_node))


def figures(run: BackupRun) -> str:
    """What the management client prints of a backup that is over."""
    records, data = totals(run)
    return (
        f" StartGCP: {run.first_gci} StopGCP: {run.last_gci}\n"
        f" #Records: {records} #LogRecords: {run.log_records}\n"
        f" Data: {data} bytes Log: {run.log_bytes} bytes\n"
    )


@handles(ExitSingleUser)
def leave_single_user(sim: Simulation, order: ExitSingleUser) -> None:
    """A backup that was asked for meanwhile begins."""
    state = state_of(sim)
    exit_single_user(sim, order)
    asked, state.backup_asked = state.backup_asked, None
    if asked is not None:
        begin_backup(sim, AskBackup(*asked, at_s=sim.at_s))


@handles(AskNoBackup)
def end_backup(sim: Simulation, _order: AskNoBackup) -> None:
    """The nodes stop writing; its files are removed."""
    abort_backup(sim, ABORTED_BY_USER, ())


def abort_backup(sim: Simulation, code: int, gone: Collection[int]) -> None:
    """A backup ends before its end; where nodes are gone only if they took part."""
    state, run = state_of(sim), state_of(sim).backup
    if run is None or run.ended_s is not None:
        return
    if gone and not set(gone) & dict(run.bytes_by_node).keys():
        return
    state.backup = run._replace(ended_s=sim.at_s, last_gci=state.gci, error=code)
    leader = state.president or run.master
    state.say(sim.at_s, "backup_aborted", leader, backup=run.number, server=run.server, code=code)
    engine.end_backup(sim, replace(engine.EndBackup(), at_s=sim.at_s))
