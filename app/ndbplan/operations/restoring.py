"""A backup taken and brought back: the cluster is emptied, started as for the first time, filled again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ndbplan.base.quantity import Quantity, total
from ndbplan.configuration.deployment import connect_string
from ndbplan.configuration.directories import DataNodePaths, data_node_paths
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import data_nodes_named, node_settings
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE
from ndbplan.estimate.times.restart_phases import Phase
from ndbplan.estimate.times.restore_backup import REBUILD_INDEXES, RESTORE_ROWS
from ndbplan.ndb import parameters as catalogue
from ndbplan.operations.commands import (
    BackUp,
    Command,
    HasBackup,
    Restore,
    Shell,
    sql_node_for_ddl,
    start_service,
    start_sql_nodes,
    stop_all_data_nodes,
    stop_service,
    wait_started,
)
from ndbplan.operations.files import node_directories, removed
from ndbplan.operations.meanwhile import NOBODY
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.operations.schema import space_files
from ndbplan.operations.steps import DATA_NODE_STAYS_AWAY, SQL_NODE_STAYS_AWAY, move_redo_logs, verify
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode

_NOT_COMPLETE = "everything: the data is not complete"
_EMPTY = (
    "The cluster is down, and every row that the backup does not hold is lost, as those that programs of the "
    "NDB API write still."
)


_ENCRYPTED = "RequireEncryptedBackup"
_NO_BACKUP = {
    "Diskless": "is 1: rows are in memory only, and there is no backup",
    _ENCRYPTED: (
        "is 1, and the programs of this release take the password of a backup in their command line, where "
        "others read it; from 8.0.24 on they read it from standard input"
    ),
}
"""Parameters with which START BACKUP is refused as it stands (manual: error 1329; RequireEncryptedBackup)."""
_PASSWORD = "--backup-password-from-stdin"


def no_way_to_back_up(plan: Plan) -> str:
    """Why START BACKUP takes none; nothing when it does."""
    for name, why in _NO_BACKUP.items():
        if (on := _switched_on(plan, name)) and not (name == _ENCRYPTED and is_backup_encrypted(plan)):
            return f"{name} of {data_nodes_named(on)} {why}"
    return ""


def is_backup_encrypted(plan: Plan) -> bool:
    """Whether backups are encrypted: a data node takes no other ones, and a script can say the password."""
    return plan.features.backup_password_from_stdin and bool(_switched_on(plan, _ENCRYPTED))


def _switched_on(plan: Plan, name: str) -> list[DataNode]:
    return [
        node
        for node in plan.data_nodes
        if catalogue.knows("DB", name, plan.version) and node_settings(plan, node).number(name)
    ]


def encrypting(plan: Plan) -> tuple[str, ...]:
    """Options of the management client for a backup."""
    return ("--encrypt-backup", _PASSWORD) if is_backup_encrypted(plan) else ()


def _decrypting(plan: Plan) -> tuple[str, ...]:
    """Options of ndb_restore."""
    return ("--decrypt", _PASSWORD) if is_backup_encrypted(plan) else ()


def no_way_to_restore(plan: Plan) -> str:
    """Why no backup comes back by ndb_restore; nothing when it does."""
    if not plan.data_nodes:
        return "there is no data node"
    if any(slot.host_id is None for slot in plan.api_slots):
        return no_way_to_back_up(plan)
    return (
        "ndb_restore runs on the hosts of the data nodes and needs an API slot that takes programs from "
        "anywhere: ndbplan add PLAN api"
    )


def restore(now: Estimation, *, timed: bool = True) -> Operation | None:
    """A backup brought back into the same cluster; None where ndb_restore could not connect.

    `timed`: with durations; raises what the estimates of a first start and of a restore raise then.
    """
    plan = now.plan
    if no_way_to_restore(plan):
        return None
    times = Times(now, known=timed)
    steps = (
        _look_for_backup(plan),
        *stop_sql(times, plan),
        empty_data_nodes(times, plan, plan),
        *fill_again(times, plan, plan),
        verify(plan),
    )
    stay = (
        "Rows and tables of NDB come back, and accounts that SQL nodes share are as they were then; other "
        "accounts and views stay as they are."
        if plan.features.stored_grants_restored
        else "Rows and tables of NDB come back; users and views of the SQL nodes stay as they are."
    )
    text = (
        "Brings back the backup that the part backup took last, or the one that --backup ID names. All data "
        f"nodes are emptied first. {stay}"
    )
    again = "Every run empties the data nodes and brings the backup back."
    return Operation("restore", "Restore a backup", steps, text, each_time=again)


def _look_for_backup(plan: Plan) -> Step:
    """Before anything stops: a backup that lacks a share would cut clients off for nothing."""
    return Step(
        "look",
        "Look for the backup on every host",
        "Each data node's host has its share of it, and it can be read. A node that was down when the backup "
        "began has none, and the others of its node group have written all: the script knows that of backups "
        "that were taken from here.",
        tuple(_has_backup(plan, node) for node in plan.data_nodes),
        rollback="nothing has changed yet",
        if_it_fails="bring the missing share to its host, or name another backup with --backup; where a node "
        "took no part in one that another folder has taken, its runbook.state.without-ID, with the ids of "
        "such nodes, belongs beside runbook.state here",
    )


def stop_sql(times: Times, plan: Plan) -> Iterator[Step]:
    """The SQL nodes stopped, so that no row is written any more."""
    if plan.sql_nodes:
        yield Step(
            "sql-stop",
            "Stop the SQL nodes",
            "Clients are cut off here; stop programs of the NDB API too.",
            tuple(stop_service(plan, node) for node in plan.sql_nodes),
            times.constant("sql_stop_s", len(plan.sql_nodes)),
            destructive="The cluster is out of service until the SQL nodes start again.",
            blocked=(NOBODY,),
            rollback="start them again",
        )


def take_backup(times: Times, plan: Plan) -> Step:
    """A backup of everything, whose number is kept."""
    estimate = times.ask(times.now.of(plan).backup)
    shared = ", and accounts that SQL nodes share" if plan.features.stored_grants_restored else ""
    secret = (
        " Each share is encrypted with the password that is asked for, or read from the file of --passwords "
        "(the line backup PASSWORD): without it nothing comes back."
        if is_backup_encrypted(plan)
        else ""
    )
    return Step(
        "backup",
        "START BACKUP",
        "Every data node writes its share into BackupDataDir; the script keeps the number. It holds rows and "
        f"tables of NDB{shared}.{secret} Numbers begin anew when all data nodes were emptied, and earlier "
        "backups stay: where the client says that a file exists, the script takes a number above all of them "
        "(START BACKUP N WAIT COMPLETED).",
        (BackUp(encrypting(plan), backup_folders(plan)),),
        None if estimate is None else estimate.duration_s,
        check="the management client reports completed",
        rollback="remove its files",
        if_it_fails="the cluster works on; remove the files of the number that the client named as begun, if "
        "there are any, and repeat it",
    )


def empty_data_nodes(times: Times, before: Plan, after: Plan, first: Iterable[Command] = ()) -> Step:
    """All data nodes stopped and their file systems removed; their backups stay. `first`: done before."""
    commands: list[Command] = [*first, *(_has_backup(before, node) for node in before.data_nodes)]
    commands.append(stop_all_data_nodes(before))
    if before.data_nodes:
        # What says that tables are brought back already.
        node = before.data_nodes[0]
        places = [_backup_of(before, node), *((host, folder) for host, _, folder in _instead(before, node))]
        commands += (removed(host, f"{folder}/tables-made") for host, folder in dict.fromkeys(places))
    for plan in (before, after):
        commands += (one for node in plan.data_nodes for one in _remove_files(plan, node))
    return Step(
        "empty",
        "Stop the data nodes and remove their files",
        "Only where each node has its files of the backup. Data and undo files of disk data outlive "
        "--initial, so the whole file system of each node goes; BACKUP stays.",
        tuple(dict.fromkeys(commands)),
        times.constant("cluster_stop_s"),
        destructive=_EMPTY,
        blocked=(NOBODY,),
        if_it_fails="where a share of the backup is missing, nothing was removed: bring it to its host, or "
        "name another backup with --backup. Else files of some nodes are gone already: mend what is named on "
        "the host, then run the part again: what is done counts as done",
    )


def _has_backup(plan: Plan, node: DataNode) -> HasBackup:
    host, folder = _backup_of(plan, node)
    return HasBackup(host, node.node_id, folder, _decrypting(plan))


def _backup_of(plan: Plan, node: DataNode) -> tuple[str, str]:
    """Host and folder of the backups of a data node; a relative path counts from /, where units run."""
    path = data_node_paths(plan, node).backup
    folder = path if path.startswith("/") else f"/{path.removeprefix('.').lstrip('/')}".rstrip("/")
    return plan.host(node.host_id).hostname, f"{folder}/BACKUP"


def backup_folders(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Host and folder of the backups of all data nodes, each once."""
    return tuple(dict.fromkeys(_backup_of(plan, node) for node in plan.data_nodes))


def _instead(plan: Plan, node: DataNode) -> tuple[tuple[str, int, str], ...]:
    """Host, id and folder of the others of a node group: one of them at least took part in every backup."""
    group = next((group for group in node_groups(plan) if node in group), ())
    places = ((other.node_id, _backup_of(plan, other)) for other in group if other is not node)
    return tuple((host, node_id, folder) for node_id, (host, folder) in places)


def _remove_files(plan: Plan, node: DataNode) -> Iterator[Command]:
    host = plan.host(node.host_id).hostname
    paths = data_node_paths(plan, node)
    named = (name for files in space_files(plan).values() for name in files if name.startswith("/"))
    for path in (*_file_systems(paths, node), *named):
        yield removed(host, path)


def _file_systems(paths: DataNodePaths, node: DataNode) -> tuple[str, ...]:
    """What a data node keeps in folders of its own: not its logs and backups."""
    own = [
        f"{path}/ndb_{node.node_id}_fs" for path in (paths.file_system, paths.data_files, paths.undo_files)
    ]
    return tuple(dict.fromkeys((*own, *(path for path in (paths.lcp, paths.redo) if path))))


def fill_again(times: Times, before: Plan, after: Plan) -> Iterator[Step]:
    """Empty data nodes started, the backup of `before` brought back, SQL nodes started."""
    estimate = times.ask(times.now.of(after).restart, "start", None, IDLE)
    duration = None if estimate is None else estimate.duration_s
    yield Step(
        "data-nodes",
        "Start the data nodes empty",
        "As for the first time: without files there is nothing that --initial would have to erase.",
        (
            *node_directories(after, after.data_nodes),
            *(start_service(after, node) for node in after.data_nodes),
            wait_started(after.data_nodes, duration),
        ),
        duration,
        label="Start all data nodes empty",
        blocked=("everything: the cluster is empty",),
        check="ALL STATUS: all started",
        if_it_fails=DATA_NODE_STAYS_AWAY,
        phases=() if estimate is None else estimate.phases,
    )
    yield from move_redo_logs(times, after, empty=True)
    yield from _restore_steps(times, before)
    if after.sql_nodes:
        yield Step(
            "sql-nodes",
            "Start the SQL nodes",
            "They find the tables that came back. Clients can come back too.",
            (*_statistics(after), *start_sql_nodes(after)),
            times.constant("sql_restart_s", len(after.sql_nodes)),
            if_it_fails=SQL_NODE_STAYS_AWAY,
        )


def _statistics(plan: Plan) -> Iterator[Command]:
    """What SQL nodes look for in vain behind ndb_restore: the event of the tables of index statistics."""
    if plan.features.statistics_lack_event:
        host = plan.host(sql_node_for_ddl(plan).host_id).hostname
        program = f"ndb_index_stat --ndb-connectstring={connect_string(plan)}"
        yield Shell(
            host, f"{program} --sys-create-if-not-valid", same=f"{program} --sys-check >/dev/null 2>&1"
        )


def _restore_steps(times: Times, before: Plan) -> Iterator[Step]:
    nodes = before.data_nodes
    restored = times.ask(times.now.of(before).restore, one_by_one=True)
    phases = () if restored is None else restored.phases
    rows = tuple(one for one in phases if one.name == RESTORE_ROWS)
    indexes = tuple(one for one in phases if one.name == REBUILD_INDEXES)
    files = tuple(one for one in phases if one not in (*rows, *indexes))

    # Accounts that SQL nodes share are in the backup, and come back with this option only.
    shared = ("--include-stored-grants",) if before.features.stored_grants_restored else ()

    def part(node: DataNode, *options: str, others: tuple[tuple[str, int, str], ...] = ()) -> Restore:
        host, folder = _backup_of(before, node)
        return Restore(host, node.node_id, folder, (*options, *_decrypting(before)), others)

    others = _instead(before, nodes[0])

    yield Step(
        "restore-meta",
        "Restore the tables",
        "Once, from the files of one node, without their indexes.",
        (part(nodes[0], "--restore-meta", "--disable-indexes", *shared, others=others),),
        _sum(files),
        blocked=(_NOT_COMPLETE,),
        phases=files,
        if_it_fails="when some tables are there and others are not, go on from step empty",
    )
    yield Step(
        "restore-data",
        "Restore the rows",
        "From the files of every node that took the backup, one node after the other; by hand as many at a "
        "time as there are API slots without a host. A row that is there already is written again.",
        tuple(part(node, "--restore-data", "--disable-indexes", *shared) for node in nodes),
        _sum(rows),
        label="Restore the backup",
        blocked=(_NOT_COMPLETE,),
        check="row counts as before",
        phases=rows,
    )
    yield Step(
        "restore-indexes",
        "Build the indexes",
        "Once, when all rows are there.",
        (part(nodes[0], "--rebuild-indexes", *shared, others=others),),
        _sum(indexes),
        blocked=(_NOT_COMPLETE,),
        phases=indexes,
    )


def _sum(phases: tuple[Phase, ...]) -> Quantity | None:
    """How long all of them take; None where there is no estimate."""
    return total(((one.name, one.duration_s) for one in phases), "s") if phases else None
