"""Work on the cluster as a whole: a backup, the stop of everything, the start after that."""

from __future__ import annotations

from ndbplan.configuration.node_groups import loses_every_row
from ndbplan.configuration.settings import is_diskless, node_settings
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE
from ndbplan.operations.accounts import dump
from ndbplan.operations.commands import (
    Command,
    StartService,
    start_service,
    start_sql_nodes,
    stop_all_data_nodes,
    stop_service,
    wait_management,
    wait_started,
)
from ndbplan.operations.meanwhile import NOBODY
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.operations.restoring import no_way_to_back_up, take_backup
from ndbplan.operations.steps import (
    DATA_NODE_STAYS_AWAY,
    MANAGEMENT_STAYS_AWAY,
    SQL_NODE_STAYS_AWAY,
    kind_of_start,
    lost_with_all,
    verify,
)
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode


def back_up(now: Estimation, *, timed: bool = True) -> Operation | None:
    """A backup of all data nodes, and of what only SQL nodes hold; None where START BACKUP takes none.

    `timed`: with durations; raises what `backup` raises then.
    """
    if no_way_to_back_up(now.plan):
        return None
    step = take_backup(Times(now, known=timed), now.plan)
    return Operation(
        "backup",
        "Back up",
        (step, *dump(now.plan)),
        "While the cluster works. Copy the files of every data node to another place afterwards. The part "
        "restore brings the last backup back, or the one that --backup ID names.",
        each_time="Every run takes another backup.",
    )


_OUT_OF_SERVICE = "The cluster is out of service until it is started again."


def stop_cluster(now: Estimation, *, timed: bool = True) -> Operation:
    """Everything stopped in order: SQL nodes, data nodes together, management nodes."""
    plan, times = now.plan, Times(now, known=timed)
    lost = lost_with_all(plan)
    steps = []
    if plan.sql_nodes:
        steps.append(
            Step(
                "sql-nodes",
                "Stop the SQL nodes",
                "Clients are cut off here.",
                tuple(stop_service(plan, node) for node in plan.sql_nodes),
                times.constant("sql_stop_s", len(plan.sql_nodes)),
                blocked=(NOBODY,),
                destructive=_OUT_OF_SERVICE,
            )
        )
    steps += [
        Step(
            "data-nodes",
            "Stop the data nodes",
            "All together, so that none is older than another.",
            (stop_all_data_nodes(plan),),
            times.constant("cluster_stop_s"),
            blocked=(NOBODY,),
            destructive=f"{'' if plan.sql_nodes else _OUT_OF_SERVICE}{lost}".strip(),
        ),
        Step(
            "management",
            "Stop the management nodes",
            "Last, so that they tell of the rest until the end.",
            tuple(stop_service(plan, node) for node in plan.management_nodes),
            times.constant("management_stop_s", len(plan.management_nodes)),
            blocked=(NOBODY,),
        ),
    ]
    return Operation(
        "stop",
        "Stop the whole cluster",
        tuple(steps),
        f"{'Not every node group' if any(_has_files(plan, n) for n in plan.data_nodes) else 'No data node'} "
        f"has files.{lost}"
        if loses_every_row(plan)
        else lost.strip() or "Nothing is lost: rows lie on the disks.",
    )


def start_cluster(now: Estimation, *, timed: bool = True) -> Operation:
    """The start of a cluster that was stopped. `timed`: with durations; raises what `restart` raises then."""
    plan, times = now.plan, Times(now, known=timed)
    lost, diskless = lost_with_all(plan), loses_every_row(plan)
    estimate = times.ask(now.restart, kind_of_start(plan), None, IDLE)
    duration = None if estimate is None else estimate.duration_s
    management = _started(plan)
    data: tuple[Command, ...] = tuple(
        start_service(plan, node, "--initial" if diskless and _has_files(plan, node) else "")
        for node in plan.data_nodes
    )
    steps = [
        Step(
            "management",
            "Start the management nodes",
            "First, as all others ask them.",
            management,
            times.constant("management_start_s"),
            if_it_fails=MANAGEMENT_STAYS_AWAY,
        ),
        Step(
            "data-nodes",
            "Start the data nodes",
            f"All at once, and empty: {_no_files_to_load(plan)}. {_made_by(plan)} makes the tables again."
            if diskless
            else f"All at once: each loads its last checkpoint and executes its redo log.{lost}",
            (*data, wait_started(plan.data_nodes, duration)),
            duration,
            if_it_fails=DATA_NODE_STAYS_AWAY,
            phases=() if estimate is None else estimate.phases,
        ),
    ]
    if plan.sql_nodes:
        steps.append(
            Step(
                "sql-nodes",
                "Start the SQL nodes",
                "Clients can come back as soon as the first of them answers.",
                tuple(start_sql_nodes(plan)),
                times.constant("sql_restart_s", len(plan.sql_nodes)),
                if_it_fails=SQL_NODE_STAYS_AWAY,
            )
        )
    text = "After the stop of the whole cluster, or when it went down as a whole."
    if not any(isinstance(command, StartService) and command.option for command in data):
        text += " Never with --initial."
    return Operation("start-again", "Start the whole cluster again", (*steps, verify(plan)), text)


def _has_files(plan: Plan, node: DataNode) -> bool:
    return not is_diskless(node_settings(plan, node))


def _no_files_to_load(plan: Plan) -> str:
    """Why data nodes begin anew where a node group has no files."""
    if any(_has_files(plan, node) for node in plan.data_nodes):
        return "a node group has no files, and those of the other nodes do not start without: --initial"
    return "there are no files to load"


def _made_by(plan: Plan) -> str:
    return "The part schema" if plan.sql_nodes else "A program of the NDB API"


def _started(plan: Plan) -> tuple[Command, ...]:
    commands: list[Command] = [start_service(plan, node) for node in plan.management_nodes]
    return (*commands, wait_management(plan))
