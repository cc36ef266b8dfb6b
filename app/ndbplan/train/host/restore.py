"""ndb_restore: tables and rows of a backup come back. Forms: recorded on a running 8.4.8 cluster.

ndb_restore -n 3 -b 1 -m          # makes the tables that were there, once
ndb_restore -n 3 -b 1 -r          # the rows that data node 3 had written; then those of each other node
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ndbplan.base.units import whole_number
from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits import validated
from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.ndb.cluster_log import stamp
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import said
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind
from ndbplan.train.answer import Answer
from ndbplan.train.host.compatible import DEMOTES, look
from ndbplan.train.host.connecting import CONNECTING, unreached
from ndbplan.train.host.options import name_of, read_words
from ndbplan.train.live import LiveCluster
from ndbplan.train.object_ids import things_of
from ndbplan.train.saved import Saved, Share, brought_back
from ndbplan.train.schema import SetSchema, Wrote, held_rows, refused_for
from ndbplan.train.state import BackupRun
from ndbplan.train.system_tables import system_objects

RESTORED_ROWS_PER_S = 9_000.0
"""Rows that one ndb_restore writes in a second [8.4.8, a small machine: 50,321 rows in 5.9 s]."""
MADE_S = 1.0
"""Seconds that making the tables takes [8.4.8, a small machine]."""
TRIES = 11
"""How often it writes again what a temporary error refused [manual, ndb_restore]."""
_MOST_STEPS = 200
_APPLY_STATUS, _NO_TABLE = "mysql/def/ndb_apply_status", 723
"""What --restore-epoch writes into, which the first SQL node makes."""
_FILTERS = ("--include-tables", "--exclude-tables", "--include-databases", "--exclude-databases")
_VALUES = ("-b --backupid", "-n --nodeid", "-p --parallelism", "--backup-path", *_FILTERS, *CONNECTING)
_FLAGS = (
    "-m --restore-meta", "-r --restore-data", "-e --restore-epoch", "-A --promote-attributes",
    "-L --lossy-conversions", "--exclude-missing-columns",
)  # fmt: skip
_IS_CONVERTED = "will be converted"
_LOG_HEAD_BYTES = 52
"""Of a log without an entry [8.4.8]."""
_PARALLELISM = "128"
"""Manual, ndb_restore: --parallelism."""
_VERBOSE = "--verbose"
"""With a number or without one: what it tells beside is not simulated."""


class _Asked(NamedTuple):
    cluster: LiveCluster
    node_id: int
    number: int
    path: str
    flags: frozenset[str]
    parallelism: str
    saved: tuple[Saved, ...]
    """Of the tables of the backup those that are wanted."""

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(one.table for one in self.saved)

    def at(self) -> str:
        return stamp(self.cluster.now_s, self.cluster.state.begin)

    def file(self, end: str) -> str:
        return f"{self.path}/BACKUP-{self.number}{end}"


def restore(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """What it prints, while the time passes that it takes."""
    told = [word for word in words if name_of(word).partition("=")[0] != _VERBOSE]
    read = read_words("ndb_restore", told, _VALUES, _FLAGS, "ndb_restore: ")
    if isinstance(read, Answer):
        return read
    flags, values, names = read
    numbers = [whole_number(values.get(name, "")) for name in ("--nodeid", "--backupid")]
    if numbers[0] is None or numbers[1] is None:
        missing = "--nodeid" if numbers[0] is None else "--backupid"
        return Answer(f"ndb_restore: say {missing}, such as ndb_restore -n 3 -b 1 -r\n", 1)
    node_id, number = numbers[0], numbers[1]
    node = cluster.state.data_node(node_id)
    usual = "" if node is None else f"{data_node_paths(cluster.plan, node).backup}/BACKUP/BACKUP-{number}"
    path = values.get("--backup-path", names[0] if names else usual).rstrip("/")
    asked = _Asked(cluster, node_id, number, path, flags, values.get("--parallelism", _PARALLELISM), ())
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
    wanted = tuple(one for one in run.saved.values() if _is_wanted(one.table, values))
    for name, words in _SAID.items():
        text += f"{words}: {values[name].replace(',', ' ')} \n" if name in values else ""
    if none := unreached(cluster, host, values, ends=False):
        return none
    return _restored(asked._replace(saved=wanted), run, text)


_SAID = {
    "--include-databases": "Including databases", "--exclude-databases": "Excluding databases",
    "--include-tables": "Including tables", "--exclude-tables": "Excluding tables",
}  # fmt: skip


def _is_wanted(table: Table, values: Mapping[str, str]) -> bool:
    """Whether a table is among those of the filters; what is included comes first."""
    for kind, name in (("tables", table.full_name), ("databases", table.database)):
        only, without = (values.get(f"--{verb}-{kind}", "") for verb in ("include", "exclude"))
        if (only and name not in only.split(",")) or name in without.split(","):
            return False
    return True


def _restored(asked: _Asked, run: BackupRun, text: str) -> Answer:
    cluster, at, version = asked.cluster, asked.at, asked.cluster.plan.version
    text += (
        f"Parallelism for single restore instance is {asked.parallelism}\n"
        f"{at()} [restore_metadata] Read meta data file header\n"
        f"{at()} Opening file '{asked.file(f'.{asked.node_id}.ctl')}'\n"
        f"{at()} Backup from version : {cluster.state.release.name}{form(version, 'backup_file_format')}\n"
        f"{at()} [restore_metadata] Load content\n"
        f"{at()} Stop GCP of Backup: {run.last_gci}\n{at()} Start GCP of Backup: {run.first_gci}\n"
        f"{at()} [restore_metadata] Get number of Tables\n{at()} [restore_metadata] Validate Footer\n"
    )
    failed = f"Failed to restore BACKUP-{asked.number}\n"
    if not cluster.state.alive():
        return Answer(f"{text}{at()} Unable to connect to the data nodes\n{failed}", 1)
    text += (
        f"{at()} Connected to NDB\n{at()} [restore_metadata] Restore objects (tablespaces, ..)\n"
        f"{at()} [restore_metadata] Restoring tables\n"
    )
    due_s, saves = cluster.now_s, f"{at()} [restore_metadata] Save foreign key info\n"
    if "--restore-meta" in asked.flags:
        made, refused = _tables(asked)
        text += made
        if refused:
            return Answer(f"{text}{refused}{failed}", 1)
        indexes = (
            f"{at()} Successfully created index `{index.name}` on `{table.name}`\n"
            for table in asked.tables
            for index in things_of(table)
            if index.kind in ("index", "unique")
        )
        text += f"{saves}{''.join(indexes)}{at()} Create foreign keys\n{at()} Create foreign keys done\n"
        due_s += MADE_S
    else:
        text += saves
    text += f"{at()} [restore_data] Start restoring table data\n"
    tables = asked.saved if "--restore-data" in asked.flags else None
    return Answer(text, waits=_Restoring(asked, run, tables, due_s).go_on)


def _tables(asked: _Asked) -> tuple[str, str]:
    """What is printed of the tables that are made, and of one that is there already."""
    plan, at = asked.cluster.plan, asked.at
    there = {table.full_name for table in plan.tables}
    text = ""
    for table in asked.tables:
        name = f"{table.database}/def/{table.name}"
        if table.full_name in there:
            why = said(721, plan.version).text
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
    tables: tuple[Saved, ...] | None
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
            looked = self._looked()
            if isinstance(looked, Answer):
                return looked
            text = looked + (
                f"{at()} [restore_data] Read data file header\n"
                f"{at()} Opening file '{self.asked.file(f'-0.{self.asked.node_id}.Data')}'\n"
                f"{at()} File size {dict(self.run.bytes_by_node)[self.asked.node_id]:.0f} bytes\n"
                f"{at()} [restore_data] Restore fragments\n"
            )
            return self._replace(text=text + self._head(), begun=True)
        if not self.tables:
            begins, ends = self._between()
            run, wanted = self.run, self._wanted()
            log_bytes = round(run.log_bytes * ends) - round(run.log_bytes * begins)
            entries = round(run.log_records * wanted * ends) - round(run.log_records * wanted * begins)
            return self._ends(
                f"{at()} [restore_log] Read log file header\n"
                f"{at()} Opening file '{self.asked.file(f'.{self.asked.node_id}.log')}'\n"
                f"{at()} File size {_LOG_HEAD_BYTES + log_bytes} bytes\n"
                f"{at()} [restore_log] Restore log entries\n"
                f"{at()} Restored {self.total} tuples and {entries} log entries\n"
            )
        table = self.tables[0].table
        now = next((one for one in cluster.plan.tables if one.full_name == table.full_name), None)
        if now is None:
            # It was dropped meanwhile.
            return self._fails(f"{at()} Error: {_NO_TABLE} {said(_NO_TABLE, cluster.plan.version).text}\n")
        share = self._share_of(self.tables[0])
        rows = share.rows
        seconds = rows / RESTORED_ROWS_PER_S
        steps = max(1, min(_MOST_STEPS, round(seconds)))
        if self.step == steps:
            _write(cluster, now, share)
            left = self._replace(tables=self.tables[1:], total=self.total + rows, step=0)
            return left._replace(text=left.text + left._head())
        replicas = no_of_replicas(cluster.plan)
        log = rows * replicas * operation_redo(now, OperationKind.INSERT, cluster.plan.version).value / steps
        code = refused_for(cluster.session.simulation, now.id, log) if cluster.state.alive() else 4009
        if code == 4009 or (code and self.tries + 1 >= TRIES):
            return self._fails(f"{at()} Error: {code} {said(code, cluster.plan.version).text}\n")
        if code:
            return self._replace(tries=self.tries + 1, due_s=cluster.now_s + 1.0)
        cluster.act(Wrote(now.id, 0, log))
        return self._replace(step=self.step + 1, tries=0, due_s=self.due_s + seconds / steps)

    def _looked(self) -> str | Answer:
        """What is told of the columns of the tables; an answer where one does not fit."""
        plan, at, flags = self.asked.cluster.plan, self.asked.at(), self.asked.flags
        told = ""
        for one in self.tables or ():
            there = next((each for each in plan.tables if each.full_name == one.table.full_name), None)
            found = look(one.table, there, flags, plan.version)
            told += "".join(f"{at} {line}\n" for line in found.lines)
            if not found.fits:
                name = f"{one.table.database}/def/{one.table.name}"
                why = (
                    f"Failed to restore data, {name} table structure incompatible with backup's ... Exiting "
                )
                failed = f"Failed to restore BACKUP-{self.asked.number}\n"
                return Answer(f"{self.text}{told}{at} Restore: {why}\n{failed}", 1)
            if there is not None and DEMOTES in flags and any(_IS_CONVERTED in line for line in found.lines):
                said_of = "ndbplan: what --lossy-conversions makes of values is not simulated\n"
                return Answer(f"{self.text}{told}{said_of}", 1)
        return told

    def _wanted(self) -> float:
        """Which share of the log is of tables that are wanted: changes are taken to lie as rows do."""
        rows = {name: one.held.count for name, one in self.run.saved.items()}
        whole = sum(rows.values())
        return sum(one.held.count for one in self.asked.saved) / whole if whole else 0.0

    def _between(self) -> tuple[float, float]:
        """Where the files of the node begin and end among all bytes of the backup."""
        sizes = self.run.bytes_by_node
        whole = sum(size for _, size in sizes)
        before = sum(size for node_id, size in sizes if node_id < self.asked.node_id)
        return before / whole, (before + dict(sizes)[self.asked.node_id]) / whole

    def _share_of(self, saved: Saved) -> Share:
        """What the files of the node hold of a table: as much of it as they hold of all bytes."""
        return saved.share(*self._between())

    def _head(self) -> str:
        if not self.tables:
            return ""
        name = f"{self.tables[0].table.database}/def/{self.tables[0].table.name}"
        return f"{self.asked.at()} {'_' * 53}\nProcessing data in table: {name}\n"

    def _fails(self, text: str) -> Answer:
        failed = f"Failed to restore BACKUP-{self.asked.number}\n"
        return Answer(f"{self.text}{text}Restore: Failed to restore data\n{failed}", 1)

    def _ends(self, text: str) -> Answer:
        text, at = f"{self.text}{text}", self.asked.at()
        if "--restore-epoch" in self.asked.flags:
            text += (
                f"{at} [restore_epoch] Restoring epoch\n"
                f"{at} Opening file '{self.asked.file(f'.{self.asked.node_id}.log')}'\n"
            )
            if not any(one.name == _APPLY_STATUS for one in system_objects(self.asked.cluster.plan)):
                why = said(_NO_TABLE, self.asked.cluster.plan.version).text
                told = f"{at} ndb_apply_status: {_NO_TABLE}: {why}\n"
                failed = f"Failed to restore BACKUP-{self.asked.number}\n"
                return Answer(f"{text}{told}{at} Restore: Failed to restore epoch\n{failed}", 1)
        return Answer(f"{text}{at} Data and log restore successful\n")


def _write(cluster: LiveCluster, table: Table, share: Share) -> None:
    """Write the rows of a file over those that are there."""
    back = brought_back(share, held_rows(cluster.session.simulation, table))
    if back.planned:
        full = validated.with_rows(table, table.rows + back.planned)
        _become(cluster, cluster.plan.replace(tables=_exchanged(cluster.plan.tables, table, full)))
    cluster.act(Wrote(table.id, back.typed, 0.0, back.contents))


def _exchanged(tables: Iterable[Table], old: Table, new: Table) -> tuple[Table, ...]:
    return tuple(new if one is old else one for one in tables)
