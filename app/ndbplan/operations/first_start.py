"""The first start of a cluster: directories, management, data nodes, SQL nodes, disk data objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ndbplan.base.quoting import shell_quoted, sql_identifier, sql_text
from ndbplan.configuration.deployment import connect_string
from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.services import services
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE
from ndbplan.operations.commands import (
    Command,
    Copy,
    Management,
    Shell,
    copy_configuration,
    copy_my_cnf,
    management_directories,
    move_redo_log,
    node_directories,
    on_an_sql_node,
    refuse_old_files,
    sql_nodes_each,
    start_data_node,
    start_management,
    wait_started,
)
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.operations.steps import verify
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace


def first_start(now: Estimation, *, timed: bool = True) -> Operation:
    """The first start. `timed`: with durations; raises what `restart` and `create_files` raise then."""
    plan, times = now.plan, Times(now, known=timed)
    steps = (
        _directories(plan),
        _configuration(plan, times),
        _management(plan, times),
        _data_nodes(plan, times),
        *_redo_folders(plan),
        *_sql_nodes(plan, times),
        *_disk_data(plan, times),
        _services(plan),
        verify(plan),
    )
    text = (
        "Management nodes, then data nodes, then SQL nodes. Nothing here uses --initial: it would erase the "
        "redo log and the checkpoints of a node that has data (but not its tablespace and undo files). "
        f"{len(plan.data_nodes)} data nodes, connect string {connect_string(plan)}."
    )
    return Operation("start", "First start", steps, text)


def _directories(plan: Plan) -> Step:
    return Step(
        "directories",
        "Directories, mount points and links",
        "Every directory that config.ini names must exist before the first start (a data node whose "
        "FileSystemPath is missing stops with error 2805).",
        (*management_directories(plan), *node_directories(plan, plan.data_nodes)),
    )


def _configuration(plan: Plan, times: Times) -> Step:
    return Step(
        "configuration",
        "Copy the configuration",
        "The same config.ini goes to every management host, each SQL host gets its own my.cnf. A file "
        "that is there already is kept beside it with the ending .before.",
        (*copy_configuration(plan), *copy_my_cnf(plan)),
        times.constant("edit_configuration_s"),
    )


def _management(plan: Plan, times: Times) -> Step:
    return Step(
        "management",
        "Start the management nodes",
        "The cluster log should end with a line about the new configuration; SHOW lists every node of "
        "the plan as not connected.",
        (*(start_management(plan, node) for node in plan.management_nodes), Management("SHOW")),
        times.constant("management_restart_s", max(1, len(plan.management_nodes))),
    )


def _data_nodes(plan: Plan, times: Times) -> Step:
    found = times.ask(times.now.restart, "start", None, IDLE)
    duration = None if found is None else found.duration_s
    commands: list[Command] = []
    for node in plan.data_nodes:
        commands += (refuse_old_files(plan, node), start_data_node(plan, node))
    return Step(
        "data-nodes",
        "Start the data nodes",
        "All at once: they wait for one another. The script refuses a node that already has a file "
        "system, so that nothing is started over old data by mistake.",
        (*commands, wait_started(plan.data_nodes, duration)),
        duration,
        phases=() if found is None else found.phases,
    )


def _redo_folders(plan: Plan) -> Iterator[Step]:
    moved = [node for node in plan.data_nodes if data_node_paths(plan, node).redo]
    if moved:
        yield Step(
            "redo-folders",
            "Move the redo log to its own disk",
            "NDB has one FileSystemPath for redo log and checkpoints; the plan fixes it on another disk than "
            "the one of the redo log. The folders of the log parts are moved and linked, one node after the "
            "other. A start with --initial makes plain folders again: repeat this step after it.",
            tuple(command for node in moved for command in move_redo_log(plan, node)),
            destructive="Data nodes are stopped one after the other.",
        )


def _sql_nodes(plan: Plan, times: Times) -> Iterator[Step]:
    if plan.sql_nodes:
        yield Step(
            "sql-nodes",
            "Start the SQL nodes",
            "SHOW must list each of them with its address.",
            tuple(sql_nodes_each(plan, "start")),
            times.constant("sql_restart_s", len(plan.sql_nodes)),
        )


def _disk_data(plan: Plan, times: Times) -> Iterator[Step]:
    if plan.sql_nodes and plan.logfile_groups:
        found = times.ask(times.now.create_files)
        yield Step(
            "disk-data",
            "Create the log file group and the tablespaces",
            "Data and undo files are written in full on every data node at once.",
            (on_an_sql_node(plan, *disk_data_statements(plan)),),
            None if found is None else found.duration_s,
        )


def _services(plan: Plan) -> Step:
    commands: list[Command] = []
    for service in services(plan):
        commands.append(Copy(service.file, service.host, f"/etc/systemd/system/{service.name}"))
        enable = f"systemctl daemon-reload && systemctl enable {shell_quoted(service.name)}"
        commands.append(Shell(service.host, enable))
    return Step(
        "services",
        "Let every node start with its host",
        "The units are enabled, not started: what runs now goes on, and systemd takes over at the next boot.",
        tuple(commands),
    )


def disk_data_statements(plan: Plan) -> Iterator[str]:
    """CREATE LOGFILE GROUP and CREATE TABLESPACE with every file of the plan."""
    for group in plan.logfile_groups:
        yield from _logfile_group(group)
        for space in plan.tablespaces:
            if space.logfile_group_id == group.id:
                yield from _tablespace(space, group)


def _files(files: Iterable[SpaceFile], directory: str | None) -> Iterator[tuple[str, int]]:
    for file in files:
        for number in range(1, file.count + 1):
            name = file.name if file.count == 1 else f"{file.name}_{number}"
            yield (f"{directory.rstrip('/')}/{name}" if directory else name), file.size_bytes


def _logfile_group(group: LogfileGroup) -> Iterator[str]:
    (first, size), *others = _files(group.undo_files, None)
    name = sql_identifier(group.name)
    yield (
        f"CREATE LOGFILE GROUP {name} ADD UNDOFILE {sql_text(first)} INITIAL_SIZE {size} "
        f"UNDO_BUFFER_SIZE {group.undo_buffer_bytes} ENGINE NDBCLUSTER;"
    )
    for other, size in others:
        yield (
            f"ALTER LOGFILE GROUP {name} ADD UNDOFILE {sql_text(other)} INITIAL_SIZE {size} "
            "ENGINE NDBCLUSTER;"
        )


def _tablespace(space: Tablespace, group: LogfileGroup) -> Iterator[str]:
    (first, size), *others = _files(space.data_files, space.directory)
    name = sql_identifier(space.name)
    yield (
        f"CREATE TABLESPACE {name} ADD DATAFILE {sql_text(first)} USE LOGFILE GROUP "
        f"{sql_identifier(group.name)} EXTENT_SIZE {space.extent_size_bytes} INITIAL_SIZE {size} "
        "ENGINE NDBCLUSTER;"
    )
    for other, size in others:
        yield f"ALTER TABLESPACE {name} ADD DATAFILE {sql_text(other)} INITIAL_SIZE {size} ENGINE NDBCLUSTER;"
