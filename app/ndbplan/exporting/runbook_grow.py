"""Runbook: adding node groups while the cluster works."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.configuration.deployment import connect_string
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits.parts import EditError, add_node_group
from ndbplan.exporting.runbook_start import (
    configuration_copies,
    node_directories,
    reload_management,
    restart_data_nodes,
    restart_sql_nodes,
    sql_command,
    start_data_node,
)
from ndbplan.exporting.steps import Command, Management, RunbookPart, Shell, Step, WaitStarted
from ndbplan.exporting.templates import shell_quoted, sql_identifier
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode
from ndbplan.plan.tables import Table

GROWN_CONFIG = "config-with-added-nodes.ini"
"""config.ini of the grown plan, beside the one of the plan itself."""


def kept_aside(plan: Plan) -> tuple[DataNode, ...]:
    """Data nodes of the plan that wait with NodeGroup 65536 for a CREATE NODEGROUP."""
    return tuple(node for node in plan.data_nodes if node.node_group == NODE_GROUP_NONE)


def grown_plan(plan: Plan, add_groups: int) -> Plan | None:
    """The plan with node groups added; None when it cannot grow, or has its future nodes already."""
    if (
        not plan.features.add_nodes_online
        or not plan.data_nodes
        or len(kept_aside(plan)) >= no_of_replicas(plan)
    ):
        return None
    try:
        return add_node_group(plan, add_groups)
    except EditError:
        return None


def add_nodes_part(plan: Plan, add_groups: int = 1) -> RunbookPart | None:
    """How to add node groups online; None for a plan or version that cannot grow."""
    if not plan.features.add_nodes_online or not plan.data_nodes:
        return None
    aside = kept_aside(plan)
    replicas = no_of_replicas(plan)
    if len(aside) >= replicas:
        grown, new = plan, aside[: len(aside) // replicas * replicas]
        steps = []
        text = (
            f"The configuration already lists nodes {_ids(new)} with NodeGroup 65536, so no node that is "
            "running has to be restarted."
        )
    else:
        candidate = grown_plan(plan, add_groups)
        if candidate is None:
            return None
        grown = candidate
        old_ids = {node.id for node in plan.data_nodes}
        new = tuple(node for node in grown.data_nodes if node.id not in old_ids)
        steps = list(_prepare(plan, grown))
        text = f"Adds {add_groups} node group{'s' if add_groups > 1 else ''}: data nodes {_ids(new)}."
    steps += [
        Step(
            "directories",
            "Directories on the new hosts",
            "The programs must be installed there in the same version as on the old hosts.",
            tuple(node_directories(grown, new)),
        ),
        Step(
            "start-new",
            "Start the new data nodes",
            "In parallel, for the first time and therefore with --initial. They are started, but hold "
            "no data until their node group exists.",
            (
                *(start_data_node(grown, node, "--initial") for node in new),
                WaitStarted(tuple(node.node_id for node in new)),
            ),
            f"--initial erases whatever data nodes {_ids(new)} had on their disks; they must be new.",
        ),
        Step(
            "create-nodegroup",
            "Create the node groups",
            f"Exactly {replicas} nodes each. A node group can only be dropped while it is empty.",
            (
                *(
                    Management("CREATE NODEGROUP " + ",".join(str(n.node_id) for n in new[i : i + replicas]))
                    for i in range(0, len(new), replicas)
                ),
                Management("SHOW"),
            ),
        ),
    ]
    if plan.tables and plan.sql_nodes:
        for number, table in enumerate(plan.tables, 1):
            steps += _spread(plan, table, number)
        steps.append(_verify(plan))
    return RunbookPart(
        "add-nodes",
        "Add nodes online",
        text
        + " The cluster serves reads and writes all the time, but choose a quiet hour: reorganising takes "
        "CPU. Until the end no other DDL and no restart of a data node. It cannot be undone by shrinking.",
        tuple(steps),
    )


def _ids(nodes: tuple[DataNode, ...]) -> str:
    return ", ".join(str(node.node_id) for node in nodes)


def _prepare(plan: Plan, grown: Plan) -> Iterator[Step]:
    yield Step(
        "configuration",
        "Edit the configuration",
        f"{GROWN_CONFIG} is the configuration with the new data nodes; it goes to every management host as "
        "config.ini. Check the new host names in it first.",
        tuple(configuration_copies(grown, GROWN_CONFIG, sql=False)),
    )
    yield Step(
        "management",
        "Reload the management nodes",
        "Restart ndb_mgmd one after the other with --reload; afterwards SHOW lists the new nodes as not "
        "connected.",
        (
            *(c for node in plan.management_nodes for c in reload_management(plan, node)),
            Management("SHOW"),
        ),
    )
    yield from restart_data_nodes(plan, plan.data_nodes)
    if plan.sql_nodes:
        # A new data node waits 120 s for SQL nodes that do not know it, then cuts them off (7.4.10).
        yield restart_sql_nodes(plan)


def reorganise_statement(plan: Plan, table: Table) -> str | None:
    """The statement that spreads a table over all node groups; None when the product refuses it."""
    name = f"{sql_identifier(table.database)}.{sql_identifier(table.name)}"
    if table.partitions is not None:
        return None
    if table.max_rows is not None and plan.features.max_rows_online:
        action = f"MAX_ROWS={table.max_rows}"
    else:
        action = "REORGANIZE PARTITION"
    if plan.features.algorithm_inplace:
        return f"ALTER TABLE {name} ALGORITHM=INPLACE, {action};"
    return f"ALTER ONLINE TABLE {name} {action};"


def _spread(plan: Plan, table: Table, number: int) -> Iterator[Step]:
    name = f"{sql_identifier(table.database)}.{sql_identifier(table.name)}"
    statement = reorganise_statement(plan, table)
    if statement is None:
        yield Step(
            f"reorganise-{number}",
            f"Table {table.full_name} stays where it is",
            f"It was created with PARTITIONS {table.partitions}; REORGANIZE PARTITION refuses such a table "
            "(error 1511). To spread it, create it anew and copy its rows.",
        )
        return
    yield Step(
        f"reorganise-{number}",
        f"Reorganise {table.full_name}",
        "Moves rows to the new node groups; unique hash indexes stay where they are"
        + (", and so do blob parts" if not plan.features.blobs_are_reorganised else "")
        + ".",
        (sql_command(plan, (statement,)),),
    )
    yield Step(
        f"optimise-{number}",
        f"Give back memory of {table.full_name}",
        "Returns the space of variable-sized columns on the old nodes; fixed-size pages are only reused.",
        (sql_command(plan, (f"OPTIMIZE TABLE {name};",)),),
    )


def _verify(plan: Plan) -> Step:
    commands: list[Command] = []
    host = plan.host(plan.sql_nodes[0].host_id).hostname
    connect = shell_quoted(connect_string(plan))
    for table in plan.tables:
        commands.append(
            Shell(
                host,
                f"ndb_desc --ndb-connectstring={connect} --extra-partition-info --extra-node-info "
                f"--database={shell_quoted(table.database)} {shell_quoted(table.name)}",
            )
        )
    commands.append(Management("ALL REPORT MEMORYUSAGE"))
    return Step(
        "verify",
        "Verify with ndb_desc",
        "Each table has partitions on the new nodes, with about the same row count in every partition.",
        tuple(commands),
    )
