"""The first start of a cluster: directories, management, data nodes, SQL nodes, disk data objects."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.base.units import how_many
from ndbplan.configuration.deployment import connect_string
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE
from ndbplan.operations.commands import (
    Command,
    Management,
    on_an_sql_node,
    start_service,
    start_sql_nodes,
    wait_management,
    wait_started,
)
from ndbplan.operations.files import (
    copy_configuration,
    copy_my_cnf,
    install_services,
    management_directories,
    node_directories,
    refuse_old_files,
    sql_data_directories,
)
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.operations.read_back import has_files
from ndbplan.operations.schema import disk_data_statements
from ndbplan.operations.steps import (
    MANAGEMENT_STAYS_AWAY,
    SQL_NODE_STAYS_AWAY,
    move_redo_logs,
    new_node_stays_away,
    verify,
)
from ndbplan.plan.plan import Plan


def first_start(now: Estimation, *, timed: bool = True) -> Operation:
    """The first start. `timed`: with durations; raises what `restart` and `create_files` raise then."""
    plan, times = now.plan, Times(now, known=timed)
    steps = (
        _directories(plan),
        _configuration(plan, times),
        _services(plan),
        _management(plan, times),
        _data_nodes(plan, times),
        *move_redo_logs(times, plan, empty=True),
        *_sql_data(plan),
        *_sql_nodes(plan, times),
        *_disk_data(plan, times),
        verify(plan),
    )
    text = (
        "Management nodes, then data nodes, then SQL nodes. Nothing here uses --initial: it would erase the "
        "redo log and the checkpoints of a node that has data (but not its tablespace and undo files). "
        f"{how_many(len(plan.data_nodes), 'data node')}, connect string {connect_string(plan)}."
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
        times.constant("management_start_s"),
        if_it_fails=MANAGEMENT_STAYS_AWAY,
    )


def _data_nodes(plan: Plan, times: Times) -> Step:
    estimate = times.ask(times.now.restart, "start", None, IDLE)
    duration = None if estimate is None else estimate.duration_s
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
        if_it_fails=new_node_stays_away(plan, plan.data_nodes[0]) if plan.data_nodes else "",
        phases=() if estimate is None else estimate.phases,
    )


def _sql_nodes(plan: Plan, times: Times) -> Iterator[Step]:
    if plan.sql_nodes:
        yield Step(
            "sql-nodes",
            "Start the SQL nodes",
            "Each must be connected and answer a query.",
            tuple(start_sql_nodes(plan)),
            times.constant("sql_restart_s", len(plan.sql_nodes)),
            if_it_fails=SQL_NODE_STAYS_AWAY,
        )


def _disk_data(plan: Plan, times: Times) -> Iterator[Step]:
    if plan.sql_nodes and plan.logfile_groups:
        estimate = times.ask(times.now.create_files)
        yield Step(
            "disk-data",
            "Create the log file group and the tablespaces",
            "Data and undo files are written in full on every data node at once.",
            (*(on_an_sql_node(plan, one, makes=True) for one in disk_data_statements(plan)), has_files(plan)),
            None if estimate is None else estimate.duration_s,
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
