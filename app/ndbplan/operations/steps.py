"""Steps that several operations share: a new configuration, restarts of every kind of node, a last look."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from ndbplan.base.quantity import Quantity, total, total_of_independent
from ndbplan.base.units import how_many
from ndbplan.configuration.deployment import SqlFiles
from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.node_groups import (
    groups_by_number,
    groups_without_files,
    loses_every_row,
    node_groups,
)
from ndbplan.configuration.services import service_of, started_with
from ndbplan.configuration.settings import data_nodes_named
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.timed import come_up_empty
from ndbplan.estimate.times.restart import IDLE, Conditions, Kind, RestartEstimate
from ndbplan.estimate.times.restart_phases import REDO_LOG_FILES
from ndbplan.operations.commands import (
    Command,
    Management,
    StopDataNode,
    on_an_sql_node,
    reload_management,
    restart_sql_nodes_each,
    sql_node_for_ddl,
    start_empty,
    start_service,
    stop_all_data_nodes,
    stop_data_node,
    stop_service,
    wait_sql,
    wait_started,
)
from ndbplan.operations.files import move_redo_log, move_sql_files
from ndbplan.operations.meanwhile import (
    NO_DDL,
    NOBODY,
    is_closed_for_ddl,
    named_for_ddl,
    no_node_failure,
    restart_clients,
)
from ndbplan.operations.operation import Step, Times
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, SqlNode

MANAGEMENT_STAYS_AWAY = (
    "the log of its service (journalctl --unit=NAME, or /var/log/NAME.log of an init script) says what "
    "ndb_mgmd refuses; correct it in the plan and export again"
)
DATA_NODE_STAYS_AWAY = (
    "read ndb_ID_error.log in its DataDir and the log of its service, which has what else it prints "
    "(journalctl --unit=NAME, or /var/log/NAME.log of an init script); correct what they name, run "
    "the part again: nodes that run are left alone"
)
SQL_NODE_STAYS_AWAY = (
    "read its error log: it must reach a management node and the data nodes, and its node id must be free; "
    "then run the part again"
)
"""What to do when a node does not come."""


def new_node_stays_away(plan: Plan, node: DataNode) -> str:
    """What to do when a data node does not come in its own first start: its files are in the way of another.

    The script refuses to start over files: whether they hold rows only people know.
    """
    host, name = plan.host(node.host_id).hostname, service_of(plan, node).name
    return (
        f"{DATA_NODE_STAYS_AWAY}. The step refuses a node that has files and does not run. With rows that "
        "is no first start: use the part start-again. Where it died in this very one, start it on its host "
        f"before (data node {node.node_id} on {host}: {started_with(name, '--initial')})"
    )


_NO_NETWORK = "--skip-networking"
"""What an SQL node is started with that has no other way to take no clients: none come from other hosts."""


def on_a_closed_sql_node(times: Times, plan: Plan, steps: Iterable[Step], suffix: str = "") -> Iterator[Step]:
    """Steps with statements on tables, while their SQL node takes no clients where others do.

    `suffix`: of the keys of the steps around them, where an operation has several of these.
    """
    steps = tuple(steps)
    if not (is_closed_for_ddl(plan) and any(step.commands for step in steps)):
        yield from steps
        return
    node, others = sql_node_for_ddl(plan), list[Command]()
    for other in plan.sql_nodes:
        if other is not node:
            others += (start_service(plan, other), wait_sql(plan, other))
    has_mode = plan.features.sql_offline_mode
    closes: tuple[Command, ...]
    opens: tuple[Command, ...]
    if has_mode:
        closes = (on_an_sql_node(plan, "SET GLOBAL offline_mode = ON;"),)
        opens = (on_an_sql_node(plan, "SET GLOBAL offline_mode = OFF;"),)
        how = "it cuts its clients off and takes new ones from administrators only"
    else:
        closes, opens = (
            (stop_service(plan, node), start_service(plan, node, option), wait_sql(plan, node))
            for option in (_NO_NETWORK, "")
        )
        how = f"it restarts with {_NO_NETWORK}, so that clients of its own host alone reach it"
    restart_s = None if has_mode else times.constant("sql_restart_s")
    yield Step(
        f"close-sql{suffix}",
        f"Take {named_for_ddl(plan)} out of service",
        "A statement on a table blocks the clients of the SQL node that runs it. All others serve, and this "
        f"one takes none: {how}, until it is opened again or restarted.",
        (*others, *closes),
        restart_s,
        check="a client without administrative rights gets error 3032"
        if has_mode
        else "a client on another host cannot connect (error 2003)",
        rollback="SET GLOBAL offline_mode = OFF" if has_mode else "restart the SQL node",
        if_it_fails=SQL_NODE_STAYS_AWAY,
        destructive=f"Clients of {named_for_ddl(plan)} are cut off.",
    )
    yield from steps
    yield Step(
        f"open-sql{suffix}",
        f"Put {named_for_ddl(plan)} back into service",
        "Clients can come back.",
        opens,
        restart_s,
        check="a client is served",
        rollback="nothing to undo",
        if_it_fails="restart the SQL node: that opens it too",
    )


def new_configuration(times: Times, title: str, text: str, copies: Iterable[Command]) -> Step:
    """A changed config.ini copied to where the management nodes read it."""
    return Step(
        "configuration",
        title,
        text,
        tuple(copies),
        times.constant("edit_configuration_s"),
        label="Edit the configuration",
        check="the new file lies on every management host",
        rollback="put the old file back",
        by_people=True,
    )


def reload_management_nodes(
    times: Times, plan: Plan, title: str, text: str, after: tuple[Command, ...] = ()
) -> Step:
    """The management nodes restarted one after the other, on the new file."""
    count = max(1, len(plan.management_nodes))
    return Step(
        "management",
        title,
        text,
        (*reload_management(plan), *after),
        times.constant("management_restart_s", count),
        label=f"Restart {how_many(count, 'management node')} with --reload",
        blocked=("starts of nodes while no management node runs",),
        check="SHOW lists the nodes as configured, in the same way on every management node",
        rollback="put the old file back and restart with --reload",
        if_it_fails="ndb_mgmd keeps the old configuration and says why; correct the file and try again",
    )


def restart_each(
    times: Times, plan: Plan, kind: Kind, conditions: Conditions, reserved: Iterable[DataNode] = ()
) -> Iterator[Step]:
    """The data nodes restarted in rounds, a step each: a script that stopped goes on at the right one.

    `reserved`: nodes without a node group that restart too.
    """
    groups = node_groups(plan)
    if groups and len(groups[0]) == 1:
        yield _restart_all(times, plan, conditions)
        return
    rounds: list[list[DataNode]]
    if conditions.one_of_each_group:
        most = max((len(group) for group in groups), default=0)
        rounds = [[group[i] for group in groups if i < len(group)] for i in range(most)]
    else:
        rounds = [[node] for group in groups for node in group]
    rounds += [[node] for node in reserved]
    if not conditions.one_of_each_group:
        rounds.sort(key=lambda nodes: nodes[0].node_id)
    yield from (restart_nodes(times, plan, kind, nodes, conditions) for nodes in rounds)


def lost_with_all(plan: Plan) -> str:
    """What is lost when all data nodes stop together, as a further sentence; nothing where files keep it."""
    if numbers := groups_without_files(plan):
        of = [node for number in numbers for node in groups_by_number(plan)[number]]
        whose = "" if len(of) == len(plan.data_nodes) else f" of {data_nodes_named(of)}"
        return f" Every row is lost, as Diskless{whose} is 1."
    empty = come_up_empty(plan)
    return f" {empty[0].upper()}{empty[1:]}." if empty else ""


def kind_of_start(plan: Plan) -> Kind:
    """What a start of all data nodes is that were stopped: without files every row is gone."""
    return "start" if loses_every_row(plan) else "system"


STOPS_WITH_ONE = (
    " NoOfReplicas is 1: without one data node there is no cluster, so all stop and start together."
)


def _restart_all(times: Times, plan: Plan, conditions: Conditions) -> Step:
    """One copy of the rows only: no node can go without the others, and none can begin anew."""
    estimate = times.ask(times.now.restart, kind_of_start(plan), None, conditions)
    stop = times.constant("cluster_stop_s")
    duration = None
    if estimate is not None and stop is not None:
        duration = total_of_independent((("stop", stop), ("start", estimate.duration_s)), "s")
    return Step(
        "restart-all",
        "Restart all data nodes",
        STOPS_WITH_ONE.strip(),
        (
            stop_all_data_nodes(plan),
            *(start_service(plan, node) for node in plan.data_nodes),
            wait_started(plan.data_nodes, duration),
        ),
        duration,
        blocked=(NOBODY,),
        check="ALL STATUS: all started",
        rollback="restart once more with the old configuration",
        if_it_fails="read the error log of the node that does not start, correct, start it again",
        destructive=f"The cluster is down while its data nodes restart.{lost_with_all(plan)}",
        phases=() if estimate is None else estimate.phases,
    )


def move_redo_logs(
    times: Times, plan: Plan, nodes: Iterable[DataNode] | None = None, *, empty: bool = False
) -> Iterator[Step]:
    """The redo logs of nodes (None: of all) moved to their own disks; nothing where they lie with the
    checkpoints. `empty`: the nodes hold no rows yet."""
    moved = [n for n in (plan.data_nodes if nodes is None else nodes) if data_node_paths(plan, n).redo]
    if moved:
        duration = times.ask(_moving, times.now, moved, empty)
        yield Step(
            "redo-folders",
            "Move the redo log to its own disk",
            "NDB has one FileSystemPath for redo log and checkpoints; the plan fixes it on another disk than "
            "the one of the redo log. The folders of the log parts are moved and linked, one node after the "
            "other. A start with --initial makes plain folders again: this step comes after it.",
            tuple(command for node in moved for command in move_redo_log(plan, node, duration)),
            duration,
            label="Move the redo logs, a restart of each node",
            blocked=(NO_DDL, no_node_failure(plan)),
            destructive="Data nodes are stopped one after the other.",
        )


def _moving(now: Estimation, nodes: Sequence[DataNode], empty: bool) -> Quantity:
    """Each is restarted, and its redo log files are written once more in between."""
    parts: list[tuple[str, Quantity]] = []
    at = now.of(now.plan.replace(tables=(), workloads=())) if empty else now
    for node in nodes:
        files = at.restart("initial", node.node_id, IDLE).phases
        parts.append((f"restart node {node.node_id}", at.restart("node", node.node_id, IDLE).duration_s))
        parts += ((one.name, one.duration_s) for one in files if one.name == REDO_LOG_FILES)
    return total(parts, "s")


def restart_nodes(
    times: Times,
    plan: Plan,
    kind: Kind,
    nodes: list[DataNode],
    conditions: Conditions,
    while_down: Callable[[DataNode], Iterable[Command]] = lambda _node: (),
    stop: Callable[[DataNode, Quantity | None], StopDataNode | None] = lambda _node, _duration: None,
    again: Callable[[DataNode], Iterable[Command]] | None = None,
) -> Step:
    """Data nodes of different node groups restarted together. `while_down`: what is done in between.

    `stop`: how one is stopped that has run elsewhere.
    `again`: how one is started that a script left stopped that was broken off elsewhere; None: like these.
    """
    slowest = times.ask(slowest_restart, times.now, kind, nodes, conditions)
    gap = times.constant("operator_gap_s")
    duration = None
    if slowest is not None and gap is not None:
        parts = (("restart", slowest.duration_s), ("look at it", gap))
        duration = total_of_independent(parts, "s")
        # A script goes on by itself each time: at none of them anybody looks.
        duration = duration.between(min(duration.low, slowest.duration_s.low), duration.high)
    ids = ", ".join(str(node.node_id) for node in nodes)
    hosts = ", ".join(plan.host(node.host_id).hostname for node in nodes)
    name = f"node {ids}" if len(nodes) == 1 else f"nodes {ids}"
    initial = kind == "initial"
    start = start_empty if initial else start_service
    groups = [group for group in node_groups(plan) if any(node in group for node in nodes)]
    others = [one for group in groups for one in group if one not in nodes]
    how = "With --initial." if initial else "Without --initial."
    if initial and groups:
        how = "With --initial: it copies all its rows from its node group."
    return Step(
        f"restart-{nodes[0].node_id}",
        f"Restart data {name} on {hosts}",
        f"{how} The next node is not touched before this one is STARTED again."
        f"{' Others of its node group that were left stopped are started first.' if others else ''}",
        (
            *(
                command
                for node in others
                for command in ((start(plan, node),) if again is None else again(node))
            ),
            *(
                command
                for node in nodes
                for command in (
                    stop(node, duration) or stop_data_node(plan, node, duration),
                    *while_down(node),
                    start(plan, node),
                )
            ),
            wait_started(nodes, duration),
        ),
        duration,
        label=f"Restart data {name}{' with --initial' if initial else ''}",
        # One in no group holds nothing.
        blocked=(NO_DDL, no_node_failure(plan)) if groups else (NO_DDL,),
        check=f"ALL STATUS: {name} started",
        rollback="restart once more with the old configuration",
        if_it_fails="the cluster works without the node; read its error log, correct, start it again",
        phases=slowest.phases if slowest is not None else (),
    )


def slowest_restart(
    now: Estimation, kind: Kind, nodes: Sequence[DataNode], conditions: Conditions
) -> RestartEstimate:
    """The restart of these nodes at once lasts as long as that of the slowest."""
    at_once = replace(conditions, restarting=tuple(node.node_id for node in nodes))
    estimates = (now.restart(kind, node.node_id, at_once) for node in nodes)
    return max(estimates, key=lambda one: one.duration_s.value)


def restart_sql_nodes(
    times: Times,
    plan: Plan,
    nodes: Sequence[SqlNode] | None = None,
    were: Mapping[int, SqlFiles] = MappingProxyType({}),
    serving: Sequence[SqlNode] | None = None,
) -> Iterator[Step]:
    """SQL nodes (None: all) restarted one after the other; nothing for a plan without any.

    `were`: the files of those that have them elsewhere until then, by node id.
    `serving`: all that serve clients meanwhile (None: all of the plan).
    """
    serving = plan.sql_nodes if serving is None else serving
    wanted = plan.sql_nodes if nodes is None else tuple(nodes)
    count = len(wanted)
    if not count:
        return
    yield Step(
        "sql-nodes",
        "Restart the SQL nodes",
        "Its clients are cut off until it serves again: there is no other one."
        if len(serving) == 1
        else "One after the other, so that clients always find another one.",
        tuple(
            restart_sql_nodes_each(
                plan,
                wanted,
                serving,
                lambda node: move_sql_files(were[node.node_id], plan, node) if node.node_id in were else (),
                {node_id: files.socket for node_id, files in were.items()},
            )
        ),
        times.constant("sql_restart_s", count),
        label=f"Restart {how_many(count, 'SQL node')}{', one after the other' if count > 1 else ''}",
        blocked=(restart_clients(plan, serving), NO_DDL),
        check="SHOW lists every SQL node with its address",
        rollback="nothing has changed for them",
        if_it_fails="keep clients away until it is back; do not start new data nodes before",
        destructive="Connections to each SQL node break while it restarts.",
    )


def verify(plan: Plan) -> Step:
    """A last look at the whole cluster."""
    commands: list[Command] = [Management("ALL STATUS")]
    if plan.features.memory_usage_report:
        commands.append(Management("ALL REPORT MEMORYUSAGE"))
    if plan.sql_nodes and plan.features.ndbinfo:
        nodes = "SELECT node_id, status, start_phase FROM ndbinfo.nodes ORDER BY node_id;"
        commands.append(on_an_sql_node(plan, nodes))
    return Step(
        "verify",
        "Verify",
        "Every data node reports 'started' with the version of the plan; memory use is far below 100 %.",
        tuple(commands),
    )
