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
MADE_S = 1.0
"""Seconds that making the tables takes [8.4.8, a small machine]."""
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
    due_s = cluster.now_s
    if asked.flags & {"-m", "--restore-meta"}:
        made, refused = _tables(asked)
        text += made
        if refused:
            return Answer(f"{text}{refused}{failed}", 1)
        due_s += MADE_S
    tables = asked.tables if asked.flags & {"-r", "--restore-data"} else None
    return Answer(text, waits=_Restoring(asked, run, tables, due_s).go_on)


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
    return text, ""


def _become(cluster: LiveCluster, plan: Plan) -> None:
    state = cluster.state
    cluster.act(
        SetSchema(
            plan.tables, plan.logfile_groups, plan.tablespaces, plan.workloads, state.databases, state.emptied
        )
    )


class _Restoring(NamedTuple):
    """How far it is, and when it goes on; each step is a value of its own, so time may go back."""

    asked: _Asked
    run: BackupRun
    tables: tuple[Table, ...] | None
    """Those whose rows are still to come; None: no rows are asked for."""
    due_s: float
    text: str = ""
    total: int = 0
    step: int = 0
    """Of the table that is under way."""
    tries: int = 0
    begun: bool = False

    def go_on(self, now: LiveCluster) -> Answer | None:
        """The next steps that are due; None: none is yet."""
        if now.now_s < self.due_s - 1e-9:
            return None
        one = self._replace(asked=self.asked._replace(cluster=now))
        while now.now_s >= one.due_s - 1e-9:
            after = one._next()
            if isinstance(after, Answer):
                return after
            one = after
        return Answer(waits=one.go_on)

    def _next(self) -> _Restoring | Answer:
        at, cluster = self.asked.at, self.asked.cluster
        if self.tables is None:
            return self._ends("")
        if not self.begun:
            text = (
                f"{at()} [restore_data] Start restoring table data\n"
                f"{at()} Opening file '{self.asked.file(f'-0.{self.asked.node_id}.Data')}'\n"
                f"{at()} [restore_data] Restore fragments\n"
            )
            return self._replace(text=text + self._head(), begun=True)
        if not self.tables:
            return self._ends(f"{at()} Restored {self.total} tuples and 0 log entries\n")
        table = self.tables[0]
        now = next((one for one in cluster.plan.tables if one.full_name == table.full_name), None)
        if now is None:
            name = f"{table.database}/def/{table.name}"
            return self._fails(f"{at()} Unable to find table: `{name}`\n")
        rows = round(table.rows * self._share())
        seconds = rows / RESTORED_ROWS_PER_S
        steps = max(1, min(_MOST_STEPS, round(seconds)))
        if self.step == steps:
            # Rows that are there are written over.
            more = max(0, min(rows, table.rows - cluster.rows_of(now)))
            if more:
                full = validated.with_rows(now, now.rows + more)
                _become(cluster, cluster.plan.replace(tables=_exchanged(cluster.plan.tables, now, full)))
            left = self._replace(tables=self.tables[1:], total=self.total + rows, step=0)
            return left._replace(text=left.text + left._head())
        replicas = no_of_replicas(cluster.plan)
        log = rows * replicas * operation_redo(now, OperationKind.INSERT, cluster.plan.version).value / steps
        code = refused_for(cluster.session.simulation, now.id, log) if cluster.state.alive() else 4009
        if code == 4009 or (code and self.tries + 1 >= TRIES):
            error = ndb_error(code)
            return self._fails(f"{at()} Error: {code} {'' if error is None else error.text}\n")
        if code:
            return self._replace(tries=self.tries + 1, due_s=cluster.now_s + 1.0)
        cluster.act(Wrote(now.id, 0, log))
        return self._replace(step=self.step + 1, tries=0, due_s=self.due_s + seconds / steps)

    def _share(self) -> float:
        sizes = self.run.bytes_by_node
        return dict(sizes)[self.asked.node_id] / sum(size for _, size in sizes)

    def _head(self) -> str:
        if not self.tables:
            return ""
        name = f"{self.tables[0].database}/def/{self.tables[0].name}"
        return f"{self.asked.at()} {'_' * 53}\nProcessing data in table: {name}\n"

    def _fails(self, text: str) -> Answer:
        failed = f"Failed to restore BACKUP-{self.asked.number}\n"
        return Answer(f"{self.text}{text}Restore: Failed to restore data\n{failed}", 1)

    def _ends(self, text: str) -> Answer:
        return Answer(f"{self.text}{text}{self.asked.at()} Data and log restore successful\n")


def _exchanged(tables: Iterable[Table], old: Table, new: Table) -> tuple[Table, ...]:
    return tuple(new if one is old else one for one in tables)
