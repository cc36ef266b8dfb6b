"""What the nodes that clients come through carry: SQL nodes (mysqld), or API nodes (programs on the NDB API).

    clients(constants, workload, processes).nodes[0].utilisation

A workload comes through SQL nodes where the plan has them, unless it says `through`. Its transactions spread
evenly over them. An API slot without a host takes a program from anywhere: no limit of it is known.

Source: judgement of what a statement and a row cost, little was measured; constants by name in
resources/ndb/constants.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.demand import mix_of, offered_per_s
from ndbplan.estimate.load.processors import core_speed
from ndbplan.plan.hardware import Host
from ndbplan.plan.processes import ApiSlot, SqlNode, process_node_ids
from ndbplan.plan.workloads import Workload

Kind = Literal["sql", "api", "anywhere"]
CLUSTER_CONNECTIONS = "cluster connections"
"""Of a node, as what is used of it is called."""
_NOBODY = "the plan has no SQL node and no API slot: nobody can send this load"
_ANYWHERE = "its programs come from anywhere through API slots without a host: no limit of theirs is known"


@dataclass(frozen=True, slots=True)
class ClientNode(Shape):
    """One SQL node, or one API slot with a host, under a workload."""

    JSON = "node_id kind host cores connections connection_utilisation"

    node_id: int
    process_id: str
    kind: Kind
    host_id: str
    host: str
    cores: Quantity
    """Cores it keeps busy."""
    connections: int
    """Cluster connections: node ids of its pool (ndb-cluster-connection-pool)."""
    connection_utilisation: Quantity
    """Of each of its cluster connections."""

    @property
    def title(self) -> str:
        """`SQL node 49, app1`."""
        return f"{'SQL' if self.kind == 'sql' else 'API'} node {self.node_id}, {self.host}"


@dataclass(frozen=True, slots=True)
class ClientsEstimate(Shape):
    """The nodes that the transactions of a workload come through."""

    JSON = "through statements_per_s rows_per_s nodes note"

    through: Kind
    statements_per_s: float
    """Over all of them, COMMIT of transactions with several statements included."""
    rows_per_s: float
    nodes: tuple[ClientNode, ...]
    note: str | None
    """Why no limit is known; None: the nodes limit the load."""


Coming = tuple[SqlNode | ApiSlot, Host]
"""A node that transactions come through, and its host."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a workload asks of its clients' nodes together, per second."""

    statements: float
    more_rows: float
    """Rows beyond the first of each statement."""


@kept_by_identity(size=64)
def _asked(workload: Workload) -> _Asked:
    rate = offered_per_s(workload.load)
    statements = more = 0.0
    for transaction, share in mix_of(workload):
        per_s = rate * share
        # One statement for all rows of an operation; COMMIT is one more where it does not end the only one.
        count = float(len(transaction.operations))
        statements += per_s * (count + (1.0 if count > 1 else 0.0))
        more += per_s * sum(max(0.0, operation.rows - 1.0) for operation in transaction.operations)
    return _Asked(statements, more)


@kept_by_identity(size=256)
def _node(
    constants: Constants, process: SqlNode | ApiSlot, host: Host, asked: _Asked, count: int
) -> ClientNode:
    speed = core_speed(host, constants).named(f"speed of a core of {host.hostname}")
    is_sql = isinstance(process, SqlNode)
    statement, row = ("sql_statement_s", "sql_row_s") if is_sql else ("api_operation_s", "api_row_s")
    name = "statements" if is_sql else "operations"
    statements = Quantity.stated(name, asked.statements / count, "per s", "workload, spread evenly")
    more = Quantity.stated("rows beyond the first of each", asked.more_rows / count, "per s", "workload")
    cores = (statements * constants[statement] / speed + more * constants[row] / speed).in_unit("cores")
    connections = len(process_node_ids(process))
    pool = Quantity.stated("cluster connections of the node", connections, "count")
    asked_of_pool = statements + more * constants["connection_batched_row"]
    used = (asked_of_pool / pool / constants["connection_operations_per_s"]).in_unit("fraction")
    return ClientNode(
        process.node_id,
        process.id,
        "sql" if is_sql else "api",
        host.id,
        host.hostname,
        cores,
        connections,
        used,
    )


@kept_by_identity(size=48)
def clients(
    constants: Constants, workload: Workload, processes: tuple[Coming, ...], slots: bool
) -> ClientsEstimate:
    """What a workload, which is not a job, asks of the SQL or API nodes its transactions come through.

    `processes`: those, each with its host; `slots`: whether programs may come through API slots at all.
    """
    asked = _asked(workload)
    nodes = tuple(_node(constants, process, host, asked, len(processes)) for process, host in processes)
    through: Kind = "anywhere"
    note = None
    if processes:
        through = "sql" if isinstance(processes[0][0], SqlNode) else "api"
    else:
        note = _ANYWHERE if slots else _NOBODY
    return ClientsEstimate(through, asked.statements, asked.statements + asked.more_rows, nodes, note)
