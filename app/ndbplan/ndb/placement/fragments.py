"""The node group, nodes, primary, LDM and log part of each fragment of a table.

    cluster = Cluster(version, ((1, 2), (3, 4)), FrozenMap({1: 4, 2: 4, 3: 4, 4: 4}), 4, classic=True)
    placed = place_all(cluster, [TableShape(), TableShape(balance="FOR_RA_BY_NODE")])
    placed[0].log_parts, placed[0].nodes

Placement depends on the tables created before, so tables are placed together, in order of creation.
Source: `Dbdih::execCREATE_FRAGMENTATION_REQ`, held against placements that 8.4.8 and 7.4.10 reported
(tests/reality).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.ndb.placement.fragment_counts import (
    DEFAULT_BALANCE,
    Cluster,
    TableShape,
    fragment_count,
    has_own_count,
)

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

INSTANCE_KEYS = 1024
"""Log part ids of the newer fragmentation; LDM and log part are the remainder by their number."""
_SYSTEM_TABLES = 1
"""Tables of the cluster itself that take instance keys before the first table of a user (SYSTAB_0)."""


class PlacementError(UserError, ValueError):
    """Node groups that a table with data cannot be extended to."""


@dataclass(frozen=True)
class Placement:
    """Where the fragments of one table are; arrays are indexed by fragment."""

    fragments: int
    partitions: int
    """Fewer than fragments when the table is fully replicated: then fragment f holds partition f mod this."""
    node_group: Array
    log_part_id: Array
    """Log part (classic) or instance key; the log part of a node is this modulo NoOfFragmentLogParts."""
    nodes: Array
    """Node ids, [fragment, replica], the primary first."""
    ldm_by_node: Array
    """LDM instances of nodes by their id."""
    log_parts: int
    """Log parts of each node."""

    @cached_property
    def ldm(self) -> Array:
        """LDM instance on each of the nodes, counted from 1 as ndbinfo does."""
        return self.log_part_id[:, None] % self.ldm_by_node[self.nodes] + 1

    @cached_property
    def log_part(self) -> Array:
        """Log part of each fragment on its nodes."""
        return self.log_part_id % self.log_parts

    @cached_property
    def primary(self) -> Array:
        """Node id of the primary replica of each fragment."""
        return self.nodes[:, 0]


@dataclass
class _GroupState:
    """Counters of node groups with the same history."""

    next_log_part: int = 0
    """Per-group counter: of all fragments up to 7.4, of *_BY_NODE tables and of counts of their own later."""
    primaries: dict[int, int] = field(default_factory=dict)
    """Next primary of each log part, shared by all tables that are not of the default balance.

    In the newer fragmentation there is one for the group, under 0."""
    next_key: int = 0
    """Instance key after the last one given (newer fragmentation)."""

    def copy(self) -> _GroupState:
        return _GroupState(self.next_log_part, dict(self.primaries), self.next_key)


class _Drawn(NamedTuple):
    """What decides where the fragments of a table are; equal for tables with fragments at the same places."""

    fragments: int
    partitions: int
    sequences: tuple[tuple[tuple[int, int], ...], ...]
    """By state of a node group: (log part id, place of the primary) of its 1st, 2nd, ... fragment."""
    grouping: _Grouping
    first_group: int = 0
    """Node group of the first fragment."""
    is_pinned: bool = False
    """Up to 7.4 the first fragment is in node group 0, wherever the next ones go on."""


@dataclass(frozen=True, eq=False)
class _Grouping:
    """Which node groups have the same history."""

    state_of: tuple[int, ...]
    """State of each node group."""


class _Placer:
    """Draws places for tables one after the other, keeping the counters of every node group."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._groups = len(cluster.groups)
        # Groups that were given the same fragments so far share a state: a few states, not 72.
        self._states = [_GroupState()]
        self._grouping = _Grouping((0,) * self._groups)
        self._next_group = 0
        """Where tables with a count of their own go on (c_nextNodeGroup)."""

    def grown_to(self, cluster: Cluster, added: Sequence[int]) -> _Placer:
        """The same with more node groups; `added`: fragments that reorganisations put into each group."""
        grown = _Placer(cluster)
        added_later = added[self._groups :]
        counts = sorted(set(added_later))
        new = [_GroupState(next_log_part=count, next_key=count) for count in counts]
        old_of, known = self._grouping.state_of, len(self._states)
        grown._states = [*(state.copy() for state in self._states), *new]
        grown._grouping = _Grouping((*old_of, *(known + counts.index(count) for count in added_later)))
        grown._next_group = self._next_group
        return grown

    def draw(self, shape: TableShape) -> _Drawn:
        """Where the fragments of the next table go, one that was never reorganised."""
        cluster, groups = self.cluster, self._groups
        fragments = fragment_count(cluster, shape)
        partitions = max(1, fragments // groups) if shape.fully_replicated else fragments
        fragments = partitions * groups if shape.fully_replicated else fragments
        first_group = self._first_group(shape, fragments)
        is_pinned = first_group > 0 and not cluster.places_by_table
        each, more = divmod(fragments, groups)
        if partitions < fragments and cluster.classic:
            # The log parts of a copy go on where those of the group before ended.
            wants = [(each, group * partitions % cluster.log_parts) for group in range(groups)]
            sequences = self._advance_each(shape, wants)
        elif more or is_pinned:
            counts = [each + ((group - first_group) % groups < more) for group in range(groups)]
            if is_pinned and fragments:
                counts[first_group] -= 1
                counts[0] += 1
            sequences = self._advance_each(shape, [(count, 0) for count in counts])
        else:
            sequences = tuple([self._advance(state, shape, each, 0) for state in self._states])
        return _Drawn(fragments, partitions, sequences, self._grouping, first_group, is_pinned)

    def _advance_each(
        self, shape: TableShape, wants: list[tuple[int, int]]
    ) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Places in groups that get different (fragments, first log part)."""
        self._split_states(wants)
        state_of = self._grouping.state_of
        return tuple(
            [
                self._advance(state, shape, *wants[state_of.index(number)])
                for number, state in enumerate(self._states)
            ]
        )

    def _first_group(self, shape: TableShape, fragments: int) -> int:
        """The node group a table starts with; tables that go on where others ended move it on."""
        is_own = not self.cluster.places_by_table or (self.cluster.classic and _goes_on(self.cluster, shape))
        if not is_own:
            return 0
        first = self._next_group
        self._next_group = (first + fragments) % self._groups
        return first

    def _split_states(self, wants: list[tuple[int, int]]) -> None:
        wanted: dict[tuple[int, tuple[int, int]], int] = {}
        states: list[_GroupState] = []
        state_of: list[int] = []
        taken: set[int] = set()
        for group, old in enumerate(self._grouping.state_of):
            key = (old, wants[group])
            if key not in wanted:
                state = self._states[old]
                wanted[key] = len(states)
                states.append(state.copy() if old in taken else state)
                taken.add(old)
            state_of.append(wanted[key])
        self._states = states
        if tuple(state_of) != self._grouping.state_of:
            self._grouping = _Grouping(tuple(state_of))

    def _advance(
        self, state: _GroupState, shape: TableShape, count: int, shift: int
    ) -> tuple[tuple[int, int], ...]:
        """Places of the `count` fragments a group gets; `shift`: log part of the first one."""
        cluster, replicas = self.cluster, self.cluster.replicas
        if not cluster.places_by_table:
            start = state.next_log_part
            state.next_log_part += count
            return tuple(((start + r) // replicas % cluster.log_parts, r % replicas) for r in range(count))
        is_default = shape.balance == DEFAULT_BALANCE and not has_own_count(cluster, shape)
        if not cluster.classic:
            # The instance keys with fewest fragments are always those that follow on the last one given.
            start = state.next_key
            state.next_key = (start + count) % INSTANCE_KEYS
            turn = 0 if is_default else state.primaries.get(0, 0)
            if not is_default:
                state.primaries[0] = (turn + count) % replicas
            return tuple([((start + r) % INSTANCE_KEYS, (turn + r) % replicas) for r in range(count)])
        if _goes_on(cluster, shape):
            shift = state.next_log_part
            state.next_log_part += count
        ids = [(shift + r) % cluster.log_parts for r in range(count)]
        # A default table has counters of its own.
        primaries = {} if is_default else state.primaries
        sequence = []
        for log_part in ids:
            primary = primaries.get(log_part, log_part % replicas)
            primaries[log_part] = (primary + 1) % replicas
            sequence.append((log_part, primary))
        return tuple(sequence)


def _goes_on(cluster: Cluster, shape: TableShape) -> bool:
    """Whether a table of the classic fragmentation goes on where the last such table ended."""
    return has_own_count(cluster, shape) or shape.balance in ("FOR_RP_BY_NODE", "FOR_RA_BY_NODE")


@lru_cache(maxsize=64)
def _slots(
    fragments: int,
    partitions: int,
    counts: tuple[int, ...],
    grouping: _Grouping,
    first_group: int,
    *,
    is_pinned: bool,
) -> tuple[Array, Array]:
    """Node group of each fragment, and its place in the sequences of all states one after the other."""
    import numpy as np

    groups, numbers = len(grouping.state_of), np.arange(fragments)
    if partitions < fragments:
        group, turn = divmod(numbers, partitions)
        group = (group + first_group) % groups
    else:
        turn, group = divmod(numbers, groups)
        group = (group + first_group) % groups
        if is_pinned and fragments:
            group[0] = 0
            turn[group == 0] = np.arange((group == 0).sum())
            turn[group == first_group] = np.arange((group == first_group).sum())
    starts = np.array([0, *accumulate(counts)])[list(grouping.state_of)]
    return group, starts[group] + turn


def _placements(cluster: Cluster, drawn: Iterable[_Drawn]) -> list[Placement]:
    """Placements of tables, the fragments of all of them at once."""
    import numpy as np

    pairs: list[tuple[int, int]] = []
    partitions, groups, places, starts = [], [], [], []
    for table in drawn:
        counts = tuple([len(sequence) for sequence in table.sequences])
        group, place = _slots(
            table.fragments,
            table.partitions,
            counts,
            table.grouping,
            table.first_group,
            is_pinned=table.is_pinned,
        )
        partitions.append(table.partitions)
        groups.append(group)
        places.append(place)
        starts.append(len(pairs))
        pairs += chain.from_iterable(table.sequences)
    if not groups:
        return []
    place_of = np.repeat(starts, [len(place) for place in places]) + np.concatenate(places)
    log_part_id, primary = (np.array(values)[place_of] for values in zip(*pairs, strict=True))
    return _placed(cluster, partitions, groups, log_part_id, primary)


def _placed(
    cluster: Cluster,
    partitions: Sequence[int],
    groups: Sequence[Array],
    log_part_id: Array,
    primary: Array,
) -> list[Placement]:
    """Placements of tables by the partitions and the node groups of the fragments of each.

    Log part ids and the places of primaries in their groups come for the fragments of all tables, in order.
    """
    import numpy as np

    nodes = np.take(cluster.nodes_from, np.concatenate(groups) * cluster.replicas + primary, axis=0)
    ldm, log_parts = cluster.ldm_by_node, cluster.log_parts
    placements, start = [], 0
    for count, group in zip(partitions, groups, strict=True):
        own = slice(start, start + len(group))
        placements.append(Placement(len(group), count, group, log_part_id[own], nodes[own], ldm, log_parts))
        start += len(group)
    return placements


def place_all(cluster: Cluster, shapes: Sequence[TableShape]) -> tuple[Placement, ...]:
    """Placements of tables created in this order on a new cluster."""
    if not cluster.groups:
        import numpy as np

        nothing = np.zeros(0, dtype=np.int64)
        return (*_placed(cluster, [0], [nothing], nothing, nothing),) * len(shapes)
    history = _History(cluster)
    grown = {i: history.placement(shape) for i, shape in enumerate(shapes) if shape.grown_from}
    placer = history.placer()
    # Tables with their fragments at the same places share one placement.
    numbers: dict[_Drawn, int] = {}
    number_of = [
        None if shape.grown_from else numbers.setdefault(placer.draw(shape), len(numbers)) for shape in shapes
    ]
    placed = _placements(cluster, numbers)
    return tuple([grown[i] if number is None else placed[number] for i, number in enumerate(number_of)])


class _History:
    """Tables that were created on fewer node groups and reorganised since, before all others."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._placers: dict[int, _Placer] = {}
        """By the number of node groups there were."""
        self._added = [0] * len(cluster.groups)
        """Fragments that reorganisations added to each group."""

    def _placer_of(self, groups: int) -> _Placer:
        if groups not in self._placers:
            small = replace(self._cluster, groups=self._cluster.groups[:groups])
            placer = self._placers[groups] = _Placer(small)
            if not small.classic:
                for _ in range(_SYSTEM_TABLES):
                    placer.draw(TableShape())
        return self._placers[groups]

    def placement(self, shape: TableShape) -> Placement:
        """Where the fragments of such a table are."""
        cluster, groups, created = self._cluster, len(self._cluster.groups), shape.grown_from[0]
        fresh = shape._replace(grown_from=())
        first = next((g for g in range(1, groups + 1) if _with_groups(cluster, g, fresh) == created), groups)
        placer = self._placer_of(first)
        drawn = placer.draw(fresh._replace(partitions=created if first == groups else None))
        (placed,) = _placements(placer.cluster, [drawn])
        if not shape.is_reorganised:
            return placed
        for count in (*shape.grown_from[1:], fragment_count(cluster, fresh)):
            full = shape.fully_replicated
            placed = extend(cluster, placed, count, fully_replicated=full, added=self._added)
        return placed

    def placer(self) -> _Placer:
        """For the tables that follow: it goes on where these ended."""
        if not self._placers:
            return self._placer_of(len(self._cluster.groups))
        last = self._placers[max(self._placers)]
        return last.grown_to(self._cluster, self._added)


def _with_groups(cluster: Cluster, groups: int, shape: TableShape) -> int:
    return fragment_count(replace(cluster, groups=cluster.groups[:groups]), shape)


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
    cluster: Cluster,
    placed: Placement,
    fragments: int,
    *,
    fully_replicated: bool = False,
    added: list[int] | None = None,
) -> Placement:
    """The placement after an online reorganisation to `fragments`: old fragments stay, new ones are added.

    Each new fragment goes to the group with fewest fragments of the table, and there to the log part that
    holds fewest of them (7.5 and later); up to 7.4 log parts simply follow one another (engine model 1.4).
    A fully replicated table keeps its partitions and gets a whole copy in each new group. `added`: fragments
    that reorganisations of other tables added to each group before; it is brought up to date. Raises
    PlacementError when a node that holds fragments has left its group.
    """
    if fully_replicated:
        fragments = placed.partitions * len(cluster.groups)
    if fragments <= placed.fragments:
        return placed
    import numpy as np

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
    before = added or [0] * len(cluster.groups)
    own = [0] * len(cluster.groups)
    leads = {node: 0 for members in cluster.groups for node in members}
    for group, _, primary in rows:
        leads[cluster.groups[group][primary]] += 1
    group = 0
    for number in range(fragments - placed.fragments):
        if not cluster.places_by_table:
            # The node that leads fewest fragments, the one of lowest id among them, leads this one too.
            node = min(leads, key=lambda n: (leads[n], n))
            leads[node] += 1
            group = next(g for g, members in enumerate(cluster.groups) if node in members)
        elif not fully_replicated or number % placed.partitions == 0:
            # The node with fewest fragments, the one of lowest id among them.
            group = min(range(len(load)), key=lambda g: (load[g], min(cluster.groups[g])))
        count = before[group] + own[group]
        if not cluster.places_by_table:
            log_part, primary = count % cluster.log_parts, cluster.groups[group].index(node)
        elif cluster.classic:
            choices = range(cluster.log_parts)
            log_part = min(choices, key=lambda p, g=group: (parts[g].get(p, 0), p))  # type: ignore[misc]
            primary = (log_part + parts[group].get(log_part, 0)) % replicas
        else:
            log_part, primary = count % INSTANCE_KEYS, own[group] % replicas
        rows.append((group, log_part, primary))
        parts[group][log_part] = parts[group].get(log_part, 0) + 1
        load[group] += 1
        own[group] += 1
    if added is not None:
        added[:] = [a + b for a, b in zip(added, own, strict=True)]
    group_of, log_part_id, primary_of = np.array(rows, dtype=np.int64).T
    partitions = placed.partitions if fully_replicated else fragments
    return _placed(cluster, [partitions], [group_of], log_part_id, primary_of)[0]
