"""ndb_restore: tables and rows of a backup come back. Forms: recorded on a running 8.4.8 cluster.

ndb_restore -n 3 -b 1 -m          # makes the tables that were there, once
ndb_restore -n 3 -b 1 -r          # the rows that data node 3 had written; then those of each other node
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ndbplan.base.units import whole_number
from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits import validated
from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.ndb.cluster_log import stamp
from ndbplan.ndb.errors import ndb_error
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind
from ndbplan.train.answer import Answer
from ndbplan.train.host.options import read_words, refused
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import SetSchema, Wrote, refused_for
from ndbplan.train.state import BackupRun

RESTORED_ROWS_PER_S = 9_000.0
"""Rows that one ndb_restore writes in a second [8.4.8, a small machine: 50,321 rows in 5.9 s]."""
TRIES = 11
"""How often it writes again what a temporary error refused [manual, ndb_restore]."""
_MOST_STEPS = 200
_VALUES = (
    "-b",
    "--backupid",
    "-n",
    "--nodeid",
    "--backup-path",
    "-c",
    "--ndb-connectstring",
    "--connect-string",
    "--include-tables",
    "--exclude-tables",
)
_FLAGS = ("-m", "--restore-meta", "-r", "--restore-data", "-e", "--restore-epoch", "--verbose")


class _Asked(NamedTuple):
    cluster: LiveCluster
    node_id: int
    number: int
    path: str
    flags: frozenset[str]
    tables: tuple[Table, ...]
    """Of the backup, those that are wanted."""

    def at(self) -> str:
        return stamp(self.cluster.now_s, self.cluster.state.begin)

    def file(self, end: str) -> str:
        return f"{self.path}/BACKUP-{self.number}{end}"


def restore(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """What it prints, while the time passes that it takes."""
    read = read_words(words, _VALUES, _FLAGS)
    if isinstance(read, str):
        return refused("ndb_restore", read.partition("=")[0], (*_VALUES, *_FLAGS), "ndb_restore: ")
    flags, values = read
    numbers = [
        whole_number(values.get(short, values.get(long, "")))
        for short, long in (("-n", "--nodeid"), ("-b", "--backupid"))
    ]
    if numbers[0] is None or numbers[1] is None:
        missing = "--nodeid" if numbers[0] is None else "--backupid"
        return Answer(f"ndb_restore: say {missing}, such as ndb_restore -n 3 -b 1 -r\n", 1)
    node_id, number = numbers[0], numbers[1]
    node = cluster.state.data_node(node_id)
    usual = "" if node is None else f"{data_node_paths(cluster.plan, node).backup}/BACKUP/BACKUP-{number}"
    asked = _Asked(
        cluster, node_id, number, values.get("--backup-path", usual).rstrip("/"), frozenset(flags), ()
    )
    text = f"Nodeid = {node_id}\nBackup Id = {number}\nbackup path = {asked.path}\n"
    backups = {one.number: one for one in cluster.state.backups if not one.error}
    is_here = node is not None and node.host_id == host.id and asked.path == usual
    run = backups.get(number)
    if run is None or not is_here or not dict(run.bytes_by_node).get(node_id):
        return Answer(
            f"{text}{asked.at()} Opening file '{asked.file(f'.{node_id}.ctl')}'\n"
            f"Failed to open '{asked.file(f'.{node_id}.ctl')}': No such file or directory\n"
            f"Failed to read {asked.file(f'.{node_id}.ctl')}\n\nFailed to restore BACKUP-{number}\n", 1
        )  # fmt: skip
    only, without = (
        set(values[name].split(",")) if name in values else None
        for name in ("--include-tables", "--exclude-tables")
    )
    wanted = tuple(
        table
        for table in run.tables
        if (only is None or table.full_name in only) and (without is None or table.full_name not in without)
    )
    if only is not None:
        text += f"Including tables: {' '.join(sorted(only))} \n"
    return _restored(asked._replace(tables=wanted), run, text)


def _restored(asked: _Asked, run: BackupRun, text: str) -> Answer:
    cluster, at = asked.cluster, asked.at
    text += (
        f"Parallelism for single restore instance is 128\n{at()} [restore_metadata] Read meta data file "
        "header\n"
        f"{at()} Opening file '{asked.file(f'.{asked.node_id}.ctl')}'\n"
        f"{at()} Backup from version : {cluster.state.release.name}\n{at()} [restore_metadata] Load content\n"
        f"{at()} Stop GCP of Backup: {run.last_gci}\n{at()} Start GCP of Backup: {run.first_gci}\n"
    )
    failed = f"Failed to restore BACKUP-{asked.number}\n"
    if not cluster.state.alive():
        return Answer(f"{text}{at()} Unable to connect to the data nodes\n{failed}", 1)
    text += f"{at()} Connected to NDB\n"
    if asked.flags & {"-m", "--restore-meta"}:
        made, refused = _tables(asked)
        text += made
        if refused:
            return Answer(f"{text}{refused}{failed}", 1)
    if asked.flags & {"-r", "--restore-data"}:
        rows, refused = _rows(asked, run)
        if refused:
            return Answer(f"{text}{refused}{failed}", 1)
        text += rows
    return Answer(f"{text}{at()} Data and log restore successful\n")


def _tables(asked: _Asked) -> tuple[str, str]:
    """What is printed of the tables that are made, and of one that is there already."""
    plan, at = asked.cluster.plan, asked.at
    there = {table.full_name for table in plan.tables}
    text = f"{at()} [restore_metadata] Restoring tables\n"
    for table in asked.tables:
        name = f"{table.database}/def/{table.name}"
        if table.full_name in there:
            error = ndb_error(721)
            why = "there already" if error is None else error.text
            return text, (
                f"{at()} Create table `{name}` failed: 721: {why}\n"
                f"{at()} Restore: Failed to restore table: `{name}` ... Exiting\n"
            )
        text += f"{at()} Successfully created table {name}\n{at()} Successfully restored table `{name}`\n"
    empty = tuple(validated.with_rows(table, 0) for table in asked.tables)
    _become(asked.cluster, plan.replace(tables=(*plan.tables, *empty)))
    asked.cluster.advance(1.0)
    return text, ""


def _become(cluster: LiveCluster, plan: Plan) -> None:
    state = cluster.state
    cluster.act(
        SetSchema(
            plan.tables, plan.logfile_groups, plan.tablespaces, plan.workloads, state.databases, state.emptied
        )
    )


def _rows(asked: _Asked, run: BackupRun) -> tuple[str, str]:
    """What is printed of the rows that come back, and what stops it."""
    cluster, at = asked.cluster, asked.at
    share = dict(run.bytes_by_node)[asked.node_id] / sum(size for _, size in run.bytes_by_node)
    text = f"{at()} [restore_data] Start restoring table data\n"
    text += f"{at()} Opening file '{asked.file(f'-0.{asked.node_id}.Data')}'\n"
    text += f"{at()} [restore_data] Restore fragments\n"
    total = 0
    for table in asked.tables:
        now = next((one for one in cluster.plan.tables if one.full_name == table.full_name), None)
        name = f"{table.database}/def/{table.name}"
        text += f"{at()} {'_' * 53}\nProcessing data in table: {name}\n"
        if now is None:
            return "", f"{text}{at()} Unable to find table: `{name}`\nRestore: Failed to restore data\n"
        rows = round(table.rows * share)
        refused = _written(cluster, now, rows)
        if refused:
            error = ndb_error(refused)
            why = "" if error is None else error.text
            return "", f"{text}{at()} Error: {refused} {why}\nRestore: Failed to restore data\n"
        # Rows that are there are written over.
        more = max(0, min(rows, table.rows - cluster.rows_of(now)))
        if more:
            now = next(one for one in cluster.plan.tables if one.id == now.id)
            full = validated.with_rows(now, now.rows + more)
            _become(cluster, cluster.plan.replace(tables=_exchanged(cluster.plan.tables, now, full)))
        total += rows
    return f"{text}{at()} Restored {total} tuples and 0 log entries\n", ""


def _exchanged(tables: Iterable[Table], old: Table, new: Table) -> tuple[Table, ...]:
    return tuple(new if one is old else one for one in tables)


def _written(cluster: LiveCluster, table: Table, rows: int) -> int:
    """Write so many rows while time passes; the error that stops it, 0: none does."""
    seconds = rows / RESTORED_ROWS_PER_S
    steps = max(1, min(_MOST_STEPS, round(seconds)))
    replicas = no_of_replicas(cluster.plan)
    log = rows * replicas * operation_redo(table, OperationKind.INSERT, cluster.plan.version).value / steps
    for _ in range(steps):
        code = 0
        for _ in range(TRIES):
            code = refused_for(cluster.session.simulation, table.id, log) if cluster.state.alive() else 4009
            if code in (0, 4009):
                break
            cluster.advance(1.0)
        if code:
            return code
        cluster.act(Wrote(table.id, 0, log))
        cluster.advance(seconds / steps)
    return 0
