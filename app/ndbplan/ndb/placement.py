"""How many fragments a table gets, and the node group, nodes, primary, LDM and log part of each.

    cluster = Cluster(version, ((1, 2), (3, 4)), FrozenMap({1: 4, 2: 4, 3: 4, 4: 4}), 4, classic=True)
    placed = place_all(cluster, [TableShape(), TableShape(balance="FOR_RA_BY_NODE")])
    placed[0].log_parts, placed[0].nodes

Placement depends on the tables created before, so tables are placed together, in order of creation.
Source: `Dbdih::execCREATE_FRAGMENTATION_REQ`, `getFragmentCount`, `ha_ndbcluster get_no_fragments`, held
against placements that 8.4.8 and 7.4.10 reported (tests/reality).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ndbplan.base.errors import UserError
from ndbplan.base.frozen import FrozenMap
from ndbplan.ndb.hashmap import max_fragments
from ndbplan.ndb.version import NdbVersion

if TYPE_CHECKING:
    import numpy as np

INSTANCE_KEYS = 1024
"""Log part ids of the newer fragmentation; LDM and log part are the remainder by their number."""
DEFAULT_BALANCE = "FOR_RP_BY_LDM"
_PER_LDM = {"FOR_RA_BY_LDM": 1, "FOR_RA_BY_LDM_X_2": 2, "FOR_RA_BY_LDM_X_3": 3, "FOR_RA_BY_LDM_X_4": 4}
_SYSTEM_TABLES = 1
"""Tables of the cluster itself that take instance keys before the first table of a user (SYSTAB_0)."""


class PlacementError(UserError, ValueError):
    """Node groups that a table with data cannot be extended to."""


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

    @property
    def replicas(self) -> int:
        """Members of a node group."""
        return max((len(group) for group in self.groups), default=1)


@dataclass(frozen=True, slots=True)
class TableShape:
    """What of a table decides its fragments."""

    balance: str = DEFAULT_BALANCE
    partitions: int | None = None
    """PARTITIONS n."""
    max_rows: int | None = None
    fully_replicated: bool = False
    grown_from: tuple[int, ...] = ()
    """Partitions it had before online reorganisations, oldest first."""


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


def _count_for_rows(base: int, rows: int, nodes: int, per_node: int, replicas: int) -> int:
    """MAX_ROWS: steps of the default count until 512 MiB of hash index per fragment suffice (27 B a row)."""
    wanted = rows * 27 // (512 * 1024 * 1024) + 1
    most = max(base, 8 * nodes * per_node // replicas)
    count = base
    while count < wanted and count + base <= most:
        count += base
    return count


@dataclass(frozen=True)
class Placement:
    """Where the fragments of one table are; arrays are indexed by fragment."""

    fragments: int
    partitions: int
    """Fewer than fragments when the table is fully replicated: then fragment f holds partition f mod this."""
    node_group: np.ndarray[Any, Any]
    log_part_id: np.ndarray[Any, Any]
    """Log part (classic) or instance key; the log part of a node is this modulo NoOfFragmentLogParts."""
    nodes: np.ndarray[Any, Any]
    """Node ids, [fragment, replica], the primary first."""
    ldm: np.ndarray[Any, Any]
    """LDM instance on each of these nodes, counted from 1 as ndbinfo does."""
    log_part: np.ndarray[Any, Any]

    @cached_property
    def primary(self) -> np.ndarray[Any, Any]:
        """Node id of the primary replica of each fragment."""
        return self.nodes[:, 0]


@dataclass
class _GroupState:
    """Counters of node groups with the same history."""

    next_log_part: int = 0
    """Per-group counter: of all fragments up to 7.4, of *_BY_NODE and PARTITIONS n tables later."""
    primaries: dict[int, int] = field(default_factory=dict)
    """Next primary of each log part, shared by all tables that are not of the default balance."""
    key_use: list[int] = field(default_factory=list)
    """Fragments on each instance key (newer fragmentation)."""

    def copy(self) -> _GroupState:
        return _GroupState(self.next_log_part, dict(self.primaries), list(self.key_use))


class _Placer:
    """Places tables one after the other, keeping the counters of every node group."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._groups = len(cluster.groups)
        # Groups that were given the same fragments so far share a state: a few states, not 72.
        self._states = [_GroupState()]
        self._state_of = [0] * self._groups
        self._kept: dict[Any, Placement] = {}

    def place(self, shape: TableShape) -> Placement:
        created = shape.grown_from[0] if shape.grown_from else None
        if created is None:
            return self._build(*self._sequences(shape, fragment_count(self.cluster, shape)), shape)
        from dataclasses import replace

        old = self.cluster
        fresh = replace(shape, grown_from=(), partitions=shape.partitions)
        first = next(
            (g for g in range(1, self._groups + 1) if _with_groups(old, g, fresh) == created), self._groups
        )
        small = replace(old, groups=old.groups[:first])
        placed = _Placer(small).place(replace(fresh, partitions=created if first == self._groups else None))
        for count in (*shape.grown_from[1:], fragment_count(old, fresh)):
            placed = extend(old, placed, count, fully_replicated=shape.fully_replicated)
        return placed

    def _sequences(self, shape: TableShape, fragments: int) -> tuple[int, int, list[Any], list[int]]:
        """Per state: (log part id, primary index) of the 1st, 2nd, ... fragment of a group, and counts."""
        groups = self._groups
        if shape.fully_replicated:
            partitions = max(1, fragments // groups)
            fragments = partitions * groups
            counts = [partitions] * groups
        else:
            partitions = fragments
            counts = [fragments // groups + (1 if g < fragments % groups else 0) for g in range(groups)]
        self._split_states(counts)
        sequences: list[Any] = [None] * len(self._states)
        for group, state in enumerate(self._state_of):
            if sequences[state] is None:
                sequences[state] = self._advance(self._states[state], shape, counts[group])
        return fragments, partitions, sequences, counts

    def _split_states(self, counts: list[int]) -> None:
        wanted: dict[tuple[int, int], int] = {}
        states: list[_GroupState] = []
        state_of: list[int] = []
        taken: set[int] = set()
        for group, old in enumerate(self._state_of):
            key = (old, counts[group])
            if key not in wanted:
                state = self._states[old]
                wanted[key] = len(states)
                states.append(state.copy() if old in taken else state)
                taken.add(old)
            state_of.append(wanted[key])
        self._states, self._state_of = states, state_of

    def _advance(self, state: _GroupState, shape: TableShape, count: int) -> tuple[tuple[int, int], ...]:
        cluster, replicas = self.cluster, self.cluster.replicas
        is_default = shape.balance == DEFAULT_BALANCE and shape.partitions is None
        if cluster.version < (7, 5):
            start = state.next_log_part
            state.next_log_part += count
            return tuple(((start + r) // replicas % cluster.log_parts, r % replicas) for r in range(count))
        if not cluster.classic:
            ids = _least_used(state, count)
        elif shape.partitions is not None or shape.balance in ("FOR_RP_BY_NODE", "FOR_RA_BY_NODE"):
            start = state.next_log_part
            state.next_log_part += count
            ids = [(start + r) % cluster.log_parts for r in range(count)]
        else:
            ids = [r % cluster.log_parts for r in range(count)]
        if is_default:
            # Counters of its own, as if its first fragment were on log part 0.
            own = (
                (r % cluster.log_parts, r // cluster.log_parts) if cluster.classic else (r, 0)
                for r in range(count)
            )
            return tuple(
                (log_part, (p + turn) % replicas) for log_part, (p, turn) in zip(ids, own, strict=True)
            )
        sequence = []
        for log_part in ids:
            primary = state.primaries.get(log_part, log_part % replicas)
            state.primaries[log_part] = (primary + 1) % replicas
            sequence.append((log_part, primary))
        return tuple(sequence)

    def _build(
        self,
        fragments: int,
        partitions: int,
        sequences: list[tuple[tuple[int, int], ...]],
        counts: list[int],
        shape: TableShape,
    ) -> Placement:
        key = (fragments, partitions, tuple(sequences), tuple(self._state_of))
        found = self._kept.get(key)
        if found is None:
            rows = [
                (group, *sequences[self._state_of[group]][round_])
                for group, round_ in _slots(fragments, partitions, self._groups, shape.fully_replicated)
            ]
            found = self._kept[key] = _placement(self.cluster, partitions, rows)
        return found


def _with_groups(cluster: Cluster, groups: int, shape: TableShape) -> int:
    from dataclasses import replace

    return fragment_count(replace(cluster, groups=cluster.groups[:groups]), shape)


def _slots(fragments: int, partitions: int, groups: int, fully_replicated: bool) -> Iterable[tuple[int, int]]:
    if fully_replicated:
        return ((f // partitions, f % partitions) for f in range(fragments))
    return ((f % groups, f // groups) for f in range(fragments))


def _least_used(state: _GroupState, count: int) -> list[int]:
    use = state.key_use or [0] * INSTANCE_KEYS
    start = use.index(min(use))
    keys = [(start + r) % INSTANCE_KEYS for r in range(count)]
    for instance_key in keys:
        use[instance_key] += 1
    state.key_use = use
    return keys


def _placement(cluster: Cluster, partitions: int, rows: Sequence[tuple[int, int, int]]) -> Placement:
    """Arrays from (node group, log part id, index of the primary) of each fragment."""
    import numpy as np

    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    group, log_part_id, primary = table[:, 0], table[:, 1], table[:, 2]
    replicas = cluster.replicas
    members = np.array(
        [[*g, *([g[-1]] * (replicas - len(g)))] for g in cluster.groups], dtype=np.int64
    ).reshape(-1, replicas)
    order = (primary[:, None] + np.arange(replicas)[None, :]) % replicas
    nodes = members[group[:, None], order]
    ldm_of = np.ones(256, dtype=np.int64)
    for node, count in cluster.ldm.items():
        ldm_of[node] = max(1, count)
    return Placement(
        fragments=len(rows),
        partitions=partitions,
        node_group=group,
        log_part_id=log_part_id,
        nodes=nodes,
        ldm=log_part_id[:, None] % ldm_of[nodes] + 1,
        log_part=log_part_id % cluster.log_parts,
    )


def place_all(cluster: Cluster, shapes: Sequence[TableShape]) -> tuple[Placement, ...]:
    """Placements of tables created in this order on a new cluster."""
    if not cluster.groups:
        return tuple(_placement(cluster, 0, ()) for _ in shapes)
    placer = _Placer(cluster)
    if not cluster.classic:
        for _ in range(_SYSTEM_TABLES):
            placer.place(TableShape())
    return tuple(placer.place(shape) for shape in shapes)


def _index_in_group(cluster: Cluster, group: int, node: int) -> int:
    members = cluster.groups[group] if group < len(cluster.groups) else ()
    if node not in members:
        raise PlacementError(
            f"data node {node} holds fragments of a table and is no longer in the node group it was in",
            where=f"node {node}",
            fix="leave the node groups that have data as they are, and add new ones",
        )
    return members.index(node)


def extend(
    cluster: Cluster, placed: Placement, fragments: int, *, fully_replicated: bool = False
) -> Placement:
    """The placement after an online reorganisation to `fragments`: old fragments stay, new ones are added.

    Each new fragment goes to the group with fewest fragments of the table, and there to the log part that
    holds fewest of them (7.5 and later); up to 7.4 log parts simply follow one another (engine model 1.4).
    A fully replicated table keeps its partitions and gets a whole copy in each new group. Raises
    PlacementError when a node that holds fragments has left its group.
    """
    if fully_replicated:
        fragments = placed.partitions * len(cluster.groups)
    if fragments <= placed.fragments:
        return placed
    replicas = cluster.replicas
    load = [0] * len(cluster.groups)
    parts: list[dict[int, int]] = [{} for _ in cluster.groups]
    rows: list[tuple[int, int, int]] = []
    for f in range(placed.fragments):
        group, log_part = int(placed.node_group[f]), int(placed.log_part_id[f])
        primary = _index_in_group(cluster, group, int(placed.primary[f]))
        rows.append((group, log_part, primary))
        load[group] += 1
        parts[group][log_part] = parts[group].get(log_part, 0) + 1
    added = [0] * len(cluster.groups)
    group = 0
    for number in range(fragments - placed.fragments):
        if not fully_replicated or number % placed.partitions == 0:
            group = load.index(min(load))
        count = added[group]
        if cluster.version < (7, 5):
            log_part, primary = count % cluster.log_parts, count % replicas
        elif cluster.classic:
            choices = range(cluster.log_parts)
            log_part = min(choices, key=lambda p, g=group: (parts[g].get(p, 0), p))  # type: ignore[misc]
            primary = (log_part + parts[group].get(log_part, 0)) % replicas
        else:
            log_part, primary = count % INSTANCE_KEYS, count % replicas
        rows.append((group, log_part, primary))
        parts[group][log_part] = parts[group].get(log_part, 0) + 1
        load[group] += 1
        added[group] += 1
    return _placement(cluster, placed.partitions if fully_replicated else fragments, rows)
