"""The first start of a cluster: directories, management, data nodes, SQL nodes, disk data objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ndbplan.base.quoting import sql_identifier, sql_text
from ndbplan.configuration.deployment import connect_string
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE
from ndbplan.operations.commands import (
    Command,
    Management,
    copy_configuration,
    copy_my_cnf,
    install_services,
    management_directories,
    node_directories,
    on_an_sql_node,
    refuse_old_files,
    sql_data_directories,
    start_service,
    start_sql_nodes,
    wait_management,
    wait_started,
)
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.operations.steps import move_redo_logs, verify
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace


def first_start(now: Estimation, *, timed: bool = True) -> Operation:
    """The first start. `timed`: with durations; raises what `restart` and `create_files` raise then."""
    plan, times = now.plan, Times(now, known=timed)
    steps = (
        _directories(plan),
        _configuration(plan, times),
        _services(plan),
        _management(plan, times),
        _data_nodes(plan, times),
        *move_redo_logs(plan),
        *_sql_data(plan),
        *_sql_nodes(plan, times),
        *_disk_data(plan, times),
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
        "that it replaces is kept beside it with the time in its name.",
        (*copy_configuration(plan), *copy_my_cnf(plan)),
        times.constant("edit_configuration_s"),
    )


def _management(plan: Plan, times: Times) -> Step:
    return Step(
        "management",
        "Start the management nodes",
        "The cluster log should end with a line about the new configuration; SHOW lists every node of "
        "the plan as not connected.",
        (
            *(start_service(plan, node) for node in plan.management_nodes),
            wait_management(plan),
            Management("SHOW"),
        ),
        times.constant("management_restart_s", max(1, len(plan.management_nodes))),
    )


def _data_nodes(plan: Plan, times: Times) -> Step:
    found = times.ask(times.now.restart, "start", None, IDLE)
    duration = None if found is None else found.duration_s
    commands: list[Command] = []
    for node in plan.data_nodes:
        commands += (refuse_old_files(plan, node), start_service(plan, node))
    return Step(
        "data-nodes",
        "Start the data nodes",
        "All at once: they wait for one another. The script refuses a node that already has a file "
        "system, so that nothing is started over old data by mistake.",
        (*commands, wait_started(plan.data_nodes, duration)),
        duration,
        phases=() if found is None else found.phases,
    )


def _sql_nodes(plan: Plan, times: Times) -> Iterator[Step]:
    if plan.sql_nodes:
        yield Step(
            "sql-nodes",
            "Start the SQL nodes",
            "Each must be connected and answer a query.",
            tuple(start_sql_nodes(plan)),
            times.constant("sql_restart_s", len(plan.sql_nodes)),
        )


def _disk_data(plan: Plan, times: Times) -> Iterator[Step]:
    if plan.sql_nodes and plan.logfile_groups:
        found = times.ask(times.now.create_files)
        yield Step(
            "disk-data",
            "Create the log file group and the tablespaces",
            "Data and undo files are written in full on every data node at once.",
            tuple(on_an_sql_node(plan, one, makes=True) for one in disk_data_statements(plan)),
            None if found is None else found.duration_s,
        )


def _services(plan: Plan) -> Step:
    return Step(
        "services",
        "Let every node start with its host",
        "Units of all nodes, enabled. From here on every start, stop and restart goes through them.",
        tuple(install_services(plan)),
    )


def _sql_data(plan: Plan) -> Iterator[Step]:
    if plan.sql_nodes:
        yield Step(
            "sql-data",
            "Data directories of the SQL nodes",
            "A directory without system tables is filled; root has no password then and can log in on the "
            "host only: give it one at once.",
            tuple(sql_data_directories(plan)),
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
