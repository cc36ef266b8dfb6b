"""How many fragments a table gets in a cluster.

    cluster = Cluster(version, ((1, 2), (3, 4)), FrozenMap({1: 4, 2: 4, 3: 4, 4: 4}), 4, classic=True)
    fragment_count(cluster, TableShape())       # 16

Source: `Dbdih::getFragmentCount`, `ha_ndbcluster get_no_fragments` and `adjusted_frag_count`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.frozen import FrozenMap
from ndbplan.ndb.features import features
from ndbplan.ndb.placement.hashmap import max_fragments
from ndbplan.ndb.version import NdbVersion

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

DEFAULT_BALANCE = "FOR_RP_BY_LDM"
_PER_LDM = {"FOR_RA_BY_LDM": 1, "FOR_RA_BY_LDM_X_2": 2, "FOR_RA_BY_LDM_X_3": 3, "FOR_RA_BY_LDM_X_4": 4}


@dataclass(frozen=True)
class Cluster:
    """What placement needs to know of a cluster."""

    version: NdbVersion
    groups: tuple[tuple[int, ...], ...]
    """Node ids of each node group, in the order of the group."""
    ldm: FrozenMap[int, int]
    """LDM instances of each data node; at least one."""
    log_parts: int
    classic: bool
    """Fragments follow the LDM threads; False: PartitionsPerNode (8.0.23 and later)."""
    partitions_per_node: int = 2

    @cached_property
    def node_count(self) -> int:
        """Data nodes that are in a group."""
        return sum(len(group) for group in self.groups)

    @cached_property
    def fragments_per_node(self) -> int:
        """Fragments of a default table for which one node is primary: least LDM threads of any node."""
        if not self.classic:
            return self.partitions_per_node
        members = [self.ldm.get(node, 1) for group in self.groups for node in group]
        return max(1, min(members, default=1))

    @cached_property
    def replicas(self) -> int:
        """Members of a node group."""
        return max((len(group) for group in self.groups), default=1)

    @cached_property
    def places_by_table(self) -> bool:
        """Whether each table is spread by counters of its own."""
        return features(self.version).placement_by_table

    @cached_property
    def nodes_from(self) -> Array:
        """Node ids, the primary first: [replicas * node group + place of the primary in it, replica]."""
        import numpy as np

        replicas = self.replicas
        # A group with too few members repeats its last one.
        full = [[*group, *([group[-1]] * (replicas - len(group)))] for group in self.groups]
        members = np.array(full, dtype=np.int64).reshape(-1, replicas)
        turns = np.arange(replicas)
        return members[:, (turns[:, None] + turns) % replicas].reshape(-1, replicas)

    @cached_property
    def ldm_by_node(self) -> Array:
        """LDM instances by node id."""
        import numpy as np

        counts = np.ones(256, dtype=np.int64)
        for node, count in self.ldm.items():
            counts[node] = max(1, count)
        return counts


class TableShape(NamedTuple):
    """What of a table decides its fragments."""

    balance: str = DEFAULT_BALANCE
    partitions: int | None = None
    """PARTITIONS n."""
    max_rows: int | None = None
    fully_replicated: bool = False
    grown_from: tuple[int, ...] = ()
    """Partitions it had before online reorganisations, oldest first."""
    is_reorganised: bool = True
    """False: it stays as created, as the hidden table of a unique index does."""


def fragment_count(cluster: Cluster, shape: TableShape) -> int:
    """Fragments of a new table; for a fully replicated one: over all copies (engine model 1.3)."""
    if not cluster.groups:
        return 0
    nodes, groups = cluster.node_count, len(cluster.groups)
    if shape.partitions is not None:
        # A fully replicated table has its partitions in every node group.
        wanted = shape.partitions * (groups if shape.fully_replicated else 1)
        return min(wanted, max_fragments(cluster.version))
    per_node = cluster.fragments_per_node
    if shape.balance == "FOR_RP_BY_NODE":
        count = nodes
    elif shape.balance == "FOR_RA_BY_NODE":
        count = groups
    elif shape.balance in _PER_LDM:
        count = _PER_LDM[shape.balance] * per_node * groups
    else:
        count = per_node * nodes
        if shape.max_rows and not shape.fully_replicated:
            count = _count_for_rows(count, shape.max_rows, nodes, per_node, cluster.replicas)
    return min(count, max_fragments(cluster.version))


def fragments_for(rows: int) -> int:
    """Fragments of which 512 MiB of hash index each suffice for MAX_ROWS (27 B a row)."""
    return rows * 27 // (512 * 1024 * 1024) + 1


def _count_for_rows(base: int, rows: int, nodes: int, per_node: int, replicas: int) -> int:
    """MAX_ROWS: steps of the default count until they suffice."""
    wanted = fragments_for(rows)
    most = max(base, 8 * nodes * per_node // replicas)
    count = base
    while count < wanted and count + base <= most:
        count += base
    return count


def has_own_count(cluster: Cluster, shape: TableShape) -> bool:
    """Whether a table has a count of fragments of its own (NDB_PARTITION_BALANCE_SPECIFIC, 7.5 and later).

    PARTITIONS n gives one, and MAX_ROWS where no balance is asked for (ha_ndbcluster::create).
    """
    by_rows = bool(shape.max_rows) and shape.balance == DEFAULT_BALANCE and not shape.fully_replicated
    return features(cluster.version).partition_balance and (shape.partitions is not None or by_rows)
