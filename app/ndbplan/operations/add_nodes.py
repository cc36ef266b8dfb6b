"""Adding node groups while the cluster works: from the configuration to a look at every table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.base.quoting import shell_quoted, sql_text
from ndbplan.base.units import how_many
from ndbplan.configuration.deployment import connect_string
from ndbplan.configuration.node_groups import node_groups, reserved_nodes
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.grown import grow
from ndbplan.estimate.times.restart import IDLE, Conditions
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.operations.commands import (
    Command,
    CreateNodeGroup,
    Management,
    Shell,
    on_an_sql_node,
    start_service,
    wait_started,
)
from ndbplan.operations.files import copy_configuration, install_services, node_directories, refuse_old_files
from ndbplan.operations.meanwhile import NO_DDL, who_waits
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.operations.programs import install_programs
from ndbplan.operations.roll_out import with_disks_asked
from ndbplan.operations.steps import (
    STOPS_WITH_ONE,
    new_configuration,
    on_a_closed_sql_node,
    reload_management_nodes,
    restart_each,
    restart_sql_nodes,
)
from ndbplan.operations.table_moves import disk_loads, longest_move, table_moves
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode
from ndbplan.plan.tables import Table

GROWN_FOLDER = "after-add-nodes/"
"""The exported folder of the grown plan, inside that of the plan itself: what holds from then on."""


class CannotGrowError(UserError):
    """A cluster that takes no data nodes while it works."""


def unknown_groups(plan: Plan, groups: int) -> int:
    """How many of so many groups are of nodes that the configuration does not list yet."""
    return max(0, groups - len(reserved_nodes(plan)) // no_of_replicas(plan))


def grown_configuration(plan: Plan, groups: int = 1) -> Plan:
    """What the cluster works by once nodes are added: reserved nodes are in the groups made of them.

    Raises EditError for a plan without a whole node group, CannotGrowError for a version before 7.0.
    """
    _refuse_unable(plan)
    return grow(plan, groups)


def _refuse_unable(plan: Plan) -> None:
    if not plan.features.add_nodes_online:
        raise CannotGrowError(f"NDB {plan.ndb_version} cannot add data nodes online (7.0 and later can)")


def add_nodes(
    now: Estimation, groups: int = 1, conditions: Conditions = IDLE, *, timed: bool = True
) -> Operation:
    """Adding node groups online: of reserved nodes (NodeGroup 65536) first, then of new ones.

    Where reserved nodes are enough, nothing that runs has to be restarted. SQL nodes come before the new
    data nodes: else those wait two minutes for subscriptions and then force the SQL nodes off (measured on
    7.4.10).
    `timed`: with durations; raises what `reorganise` raises then. Else EditError and CannotGrowError, for a
    plan that has no node group to copy and a version that cannot grow.
    """
    stated = now
    now, conditions = with_disks_asked(now, conditions)
    plan, times = now.plan, Times(now, known=timed)
    change = times.ask(now.under(conditions.load).reorganise, groups)
    if change is None:
        _refuse_unable(plan)
    grown = grow(plan, groups) if change is None else change.plan_after
    old = {node.id for node in plan.data_nodes if node.node_group != NODE_GROUP_NONE}
    new = [n for n in grown.data_nodes if n.id not in old and n.node_group != NODE_GROUP_NONE]
    known = not unknown_groups(plan, groups)
    moves, first = table_moves(plan, change)
    steps = (
        *(() if known else _prepare(times, plan, grown, new, conditions)),
        _directories(grown, new),
        start_new(times, grown, new, conditions, known=known),
        _create_node_groups(times, grown, new),
        *(_keep_groups(times, plan, grown) if known else ()),
        *on_a_closed_sql_node(times, plan, moves),
        *_verify(times, plan),
    )
    if known:
        notes = ["reserved nodes (NodeGroup 65536) are known already: no restart of what runs"]
        text = (
            f"The configuration already lists nodes {_ids(new)} with NodeGroup 65536, so no node that is "
            f"running has to be restarted. {GROWN_FOLDER}config.ini gives them their node group, so that a "
            "cluster that is filled from a backup has it too."
        )
    else:
        notes = ["future nodes listed as NodeGroup 65536 from the start would spare the rolling restart"]
        text = f"Adds {_groups(groups)}: data nodes {_ids(new)}."
    longest = None if change is None else longest_move(change)
    stops = not known and no_of_replicas(plan) == 1
    text += (
        f"{STOPS_WITH_ONE if stops else ''} Data nodes serve reads and writes "
        f"{'else' if stops else 'all the time'}, but choose a quiet hour: reorganising takes CPU, "
        f"and {who_waits(plan, longest)}. Until the end no other DDL and no restart of a data node. It "
        "cannot be undone by shrinking."
    )
    title, label = "Add nodes online", f"Add {_groups(groups)} online"
    if change is None:
        return Operation("add-nodes", title, steps, text, label)
    tables_of: dict[str, list[str]] = {}
    for table in change.tables:
        for note in table.notes:
            tables_of.setdefault(note, []).append(table.table)
    for note, tables in tables_of.items():
        notes.append(f"{tables[0] if len(tables) == 1 else how_many(len(tables), 'table')}: {note}")
    notes += change.problems
    loads = disk_loads(plan, change)
    if now is not stated:
        # The plan that comes out keeps its disks.
        change = replace(change, plan_after=stated.under(conditions.load).reorganise(groups).plan_after)
    return Operation(
        "add-nodes",
        title,
        steps,
        text,
        label,
        point_of_no_return=first,
        notes=tuple(notes),
        disks=loads,
        reorganisation=change,
    )


def grow_by(
    times: Times, grown: Plan, new: list[DataNode], tables: Collection[Table], conditions: Conditions
) -> Iterator[Step]:
    """Nodes that the running configuration lists, and that run: put into groups, given rows of tables.

    Rows move on the cluster as it will be, less its new nodes.
    """
    small = grown.replace(processes=tuple(p for p in grown.processes if p not in new))
    moved = times.ask(times.now.of(small).under(conditions.load).reorganise_to, grown)
    yield _create_node_groups(times, grown, new)
    yield from on_a_closed_sql_node(times, grown, table_moves(grown, moved, tables)[0])
    yield from (replace(step, key="verify-tables") for step in _verify(times, grown))


_RUN = " Those that were started with the cluster are left alone."


def _groups(count: int) -> str:
    return how_many(count, "node group")


def _ids(nodes: Sequence[DataNode]) -> str:
    return ", ".join(str(node.node_id) for node in nodes)


def _prepare(
    times: Times, plan: Plan, grown: Plan, new: Sequence[DataNode], conditions: Conditions
) -> Iterator[Step]:
    """The configuration with the new nodes, known to every node that runs."""
    yield new_configuration(
        times,
        "Edit the configuration",
        f"{GROWN_FOLDER}config.ini has the new data nodes too; it goes to every management host. Check the "
        f"host names in it before, and from now on use the folder "
        f"{GROWN_FOLDER.rstrip('/')} instead of this one.",
        copy_configuration(grown, f"{GROWN_FOLDER}config.ini"),
    )
    yield reload_management_nodes(
        times,
        plan,
        "Reload the management nodes",
        "Restart ndb_mgmd one after the other with --reload; afterwards SHOW lists the new nodes as not "
        "connected.",
        after=(Management("SHOW"),),
    )
    started_later = {node.id for node in new}
    reserved = [node for node in reserved_nodes(plan) if node.id not in started_later]
    yield from restart_each(times, plan, "node", conditions, reserved)
    # A new data node waits 120 s for SQL nodes that do not know it, then cuts them off (7.4.10).
    yield from restart_sql_nodes(times, plan)


def _keep_groups(times: Times, plan: Plan, grown: Plan) -> Iterator[Step]:
    """The node groups written down for a start without files; nodes that have files know them from those."""
    yield new_configuration(
        times,
        "Write the node groups into the configuration",
        f"{GROWN_FOLDER}config.ini goes to every management host: there the nodes are reserved no longer. "
        f"From now on use the folder {GROWN_FOLDER.rstrip('/')} instead of this one.",
        copy_configuration(grown, f"{GROWN_FOLDER}config.ini"),
    )
    yield reload_management_nodes(
        times,
        plan,
        "Reload the management nodes",
        "Restart ndb_mgmd one after the other with --reload; no other node has to restart for it.",
    )


def _directories(grown: Plan, new: Sequence[DataNode]) -> Step:
    return Step(
        "directories",
        "Programs, directories and units on the new hosts",
        "Programs of the old hosts' release, where they are not there yet, come from --programs.",
        (
            *install_programs(grown, {grown.host(node.host_id).hostname for node in new}),
            *node_directories(grown, new),
            *install_services(grown, new, GROWN_FOLDER),
        ),
    )


def start_new(
    times: Times, grown: Plan, new: list[DataNode], conditions: Conditions, *, known: bool = False
) -> Step:
    """Data nodes that are in no node group yet, started beside the others.

    `known`: the cluster has them already; where they were started with it this takes no time.
    """
    estimate = times.ask(times.now.of(grown).start_beside, new, times.now, conditions)
    duration = None if estimate is None else estimate.duration_s
    if duration is not None and known:
        duration = Quantity(0.0, 0.0, duration.high, "s", (duration.as_term("where they do not run yet"),))
    ids = _ids(new)
    return Step(
        "start-new",
        "Start the new data nodes",
        "In parallel, for the first time and therefore with --initial. They are started, but hold "
        f"no data until their node group exists.{_RUN if known else ''}",
        (
            *(refuse_old_files(grown, node) for node in new),
            *(start_service(grown, node, "--initial") for node in new),
            wait_started(new, duration),
        ),
        duration,
        label=f"Start the new data nodes {ids} with --initial",
        blocked=(NO_DDL,),
        check=f"ALL STATUS: nodes {ids} started; SHOW: no node group yet",
        rollback="stop them; the cluster does not need them",
        if_it_fails="stop the new nodes, correct, start them again with --initial; the others are untouched",
        phases=() if estimate is None else estimate.phases,
    )


def _create_node_groups(times: Times, grown: Plan, new: Collection[DataNode]) -> Step:
    """The groups of new nodes in the order of their numbers, which the product gives as they are made."""
    replicas = no_of_replicas(grown)
    members = [group for group in node_groups(grown) if any(node in new for node in group)]
    return Step(
        "create-nodegroup",
        "Create the node groups",
        f"Exactly {replicas} nodes each. A node group can only be dropped while it is empty.",
        (
            *(CreateNodeGroup(tuple(node.node_id for node in group)) for group in members),
            Management("SHOW"),
        ),
        times.constant("create_nodegroup_s", len(members)),
        label=f"CREATE NODEGROUP for {how_many(len(members), 'group')}",
        blocked=(NO_DDL,),
        check="SHOW gives the new nodes their node group",
        rollback="DROP NODEGROUP, as long as no table has been reorganised",
        if_it_fails="all nodes of the group must be started; then try again",
    )


def _verify(times: Times, plan: Plan) -> Iterator[Step]:
    if not plan.tables:
        return
    way, commands = "ndb_desc", list[Command]()
    if plan.sql_nodes:
        host = plan.sql_nodes[0].host_id
        # Programs of the NDB API need a node id of their own.
        if any(slot.host_id in (None, host) for slot in plan.api_slots):
            commands += (_described(plan, plan.host(host).hostname, table) for table in plan.tables)
        else:
            has_fragments = _FRAGMENTS in tables_of(plan.version)
            way = "ndbinfo" if has_fragments else "information_schema"
            asks = _fragments if has_fragments else _partitions
            commands += (on_an_sql_node(plan, asks(table)) for table in plan.tables)
        commands.append(Management("ALL REPORT MEMORYUSAGE"))
    yield Step(
        "verify",
        f"Verify with {way}",
        "Each table has partitions on the new nodes, with about the same row count in every partition."
        if commands
        else "",
        tuple(commands),
        times.constant("verify_s", len(plan.tables)),
        check="every table has partitions on the new nodes with about the same row count",
        by_people=True,
    )


def _described(plan: Plan, host: str, table: Table) -> Shell:
    """What ndb_desc says of the partitions of a table."""
    connect = f"--ndb-connectstring={shell_quoted(connect_string(plan))}"
    name = f"--database={shell_quoted(table.database)} {shell_quoted(table.name)}"
    return Shell(host, f"ndb_desc {connect} --extra-partition-info --extra-node-info {name}")


_FRAGMENTS = "memory_per_fragment"
"""The table of ndbinfo that has the rows of every fragment."""


def _fragments(table: Table) -> str:
    """A query for the fragments of a table and their rows on every data node."""
    name = sql_text(f"{table.database}/def/{table.name}")
    return (
        "SELECT fq_name, node_id, COUNT(*) AS fragments, SUM(fixed_elem_count) AS rows_there FROM "
        f"ndbinfo.{_FRAGMENTS} WHERE fq_name = {name} GROUP BY fq_name, node_id ORDER BY node_id;"
    )


def _partitions(table: Table) -> str:
    """A query for the partitions of a table and their rows."""
    return (
        "SELECT TABLE_NAME, PARTITION_NAME, TABLE_ROWS FROM information_schema.PARTITIONS WHERE "
        f"TABLE_SCHEMA = {sql_text(table.database)} AND TABLE_NAME = {sql_text(table.name)};"
    )
