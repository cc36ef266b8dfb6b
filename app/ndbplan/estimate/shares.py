"""Share of each table that each data node holds, by replica, log part and LDM thread."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.memo import memo_by_identity
from ndbplan.estimate.distribution import distribute
from ndbplan.estimate.fragments import TableDistribution
from ndbplan.plan.node_groups import node_groups
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table


@dataclass(frozen=True, slots=True)
class NodeShare:
    """Share of a table that one data node holds."""

    replicas: float
    """Share of the table's rows of which the node has a copy."""
    primaries: float
    """Share of the rows whose primary replica it has."""
    by_log_part: tuple[tuple[int, float], ...]
    """Share of `replicas` by log part."""
    by_ldm: tuple[tuple[int, float], ...]
    """Share of `replicas` by LDM instance."""


Shares = dict[int, NodeShare]
"""By node id."""


@memo_by_identity(size=4096)
def shares(distribution: TableDistribution, table: Table) -> Shares:
    """Share of a table on each data node: by rows, or by partitions when it has no rows yet."""
    import numpy as np

    placed = distribution.placement
    # A fully replicated table is whole in every node group: shares are of one copy.
    copies = max(1, placed.fragments // max(1, placed.partitions))
    rows = distribution.rows.astype(float)
    weights = rows if rows.sum() else np.ones(placed.fragments)
    weights = weights * copies / weights.sum()
    limit = int(placed.nodes.max()) + 1
    parts = np.zeros((limit, int(placed.log_part.max()) + 1))
    ldms = np.zeros((limit, int(placed.ldm.max()) + 1))
    for replica in range(placed.nodes.shape[1]):
        np.add.at(parts, (placed.nodes[:, replica], placed.log_part), weights)
        np.add.at(ldms, (placed.nodes[:, replica], placed.ldm[:, replica]), weights)
    primaries = np.bincount(placed.nodes[:, 0], weights=weights, minlength=limit)
    replicas = parts.sum(axis=1)
    return {
        node_id: NodeShare(
            replicas=float(replicas[node_id]),
            primaries=float(primaries[node_id]),
            by_log_part=tuple((int(i), float(parts[node_id, i])) for i in np.flatnonzero(parts[node_id])),
            by_ldm=tuple((int(i), float(ldms[node_id, i])) for i in np.flatnonzero(ldms[node_id])),
        )
        for node_id in np.unique(placed.nodes).tolist()
    }


def has_partitions(plan: Plan) -> bool:
    """Whether the plan has a complete enough set of data nodes to hold a table."""
    return bool(node_groups(plan))


def shares_of(plan: Plan, table: Table) -> Shares:
    """Share of a table of the plan on each data node; nothing when no node group exists."""
    return shares(distribute(plan, table), table) if has_partitions(plan) else {}
