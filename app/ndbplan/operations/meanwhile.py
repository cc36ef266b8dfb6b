"""What is blocked while a step goes on: whose clients wait, and what must not happen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ndbplan.base.quantity import Quantity
from ndbplan.configuration.needs import Needs
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.operations.commands import sql_node_for_ddl
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode

NO_DDL = "DDL"
NO_RESTART = "restarts of data nodes"
NOBODY = "everything: the cluster is down"


def no_node_failure(plan: Plan) -> str:
    """Which failures would stop the cluster while a node of a group is down."""
    others = no_of_replicas(plan) - 1
    if others < 2:
        return "a second node of the same group must not fail"
    return f"the {others} other nodes of the same group must not all fail"


def sql_nodes_named(plan: Plan, nodes: Iterable[object]) -> str:
    """Those of some nodes that are SQL nodes, with their hosts."""
    return ", ".join(
        f"SQL node {node.node_id} on {plan.host(node.host_id).hostname}"
        for node in nodes
        if isinstance(node, SqlNode)
    )


def named_for_ddl(plan: Plan) -> str:
    """The SQL node that runs statements on tables."""
    return sql_nodes_named(plan, [sql_node_for_ddl(plan)])


def is_closed_for_ddl(plan: Plan) -> bool:
    """Whether the SQL node for statements on tables takes no clients meanwhile: others are there for them."""
    return len(plan.sql_nodes) > 1


def restart_clients(plan: Plan, serving: Sequence[SqlNode]) -> str:
    """Whose clients wait while SQL nodes restart one after the other; there is one at least that serves."""
    if len(serving) == 1:
        return f"clients of {sql_nodes_named(plan, serving)} (the only one)"
    return "clients of the SQL node that restarts"


def who_is_cut_off(plan: Plan, serving: Sequence[SqlNode], needed: Needs) -> str:
    """Clients that find no other SQL node in a change while all else goes on; nothing without any."""
    if not needed.sql or len(serving) != 1 or needed.kind in ("system", "initial_system"):
        return ""
    return f", but {restart_clients(plan, serving)} are cut off while it restarts"


def ddl_clients(plan: Plan) -> str:
    """Whose clients wait while a statement on tables runs."""
    if not plan.sql_nodes:
        return "clients of the SQL node that runs the statement"
    if is_closed_for_ddl(plan):
        return f"clients of {named_for_ddl(plan)} (out of service)"
    return f"clients of {named_for_ddl(plan)}{' (the only one)' if len(plan.sql_nodes) == 1 else ''}"


def who_waits(plan: Plan, longest: tuple[str, Quantity] | None = None) -> str:
    """Who waits for a statement on tables, and how long: runbook, procedure and impact say it alike.

    `longest`: what of a table takes longest, and how long.
    """
    long = "" if longest is None else f" ({longest[0]}: {longest[1]})"
    if is_closed_for_ddl(plan):
        return (
            f"{named_for_ddl(plan)} is out of service for the whole of the statements on tables{long}: its "
            "clients are cut off and must use another SQL node, where nobody waits"
        )
    others = "" if len(plan.sql_nodes) == 1 else "; clients of other SQL nodes do not: let them use those"
    return f"{ddl_clients(plan)} wait for the whole of each statement on a table{long}{others}"
