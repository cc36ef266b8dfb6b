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
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from ndbplan.base.errors import UserError
from ndbplan.ndb.placement.fragment_counts import Cluster, TableShape, fragment_count
from ndbplan.ndb.placement.placer import INSTANCE_KEYS, SYSTEM_TABLES, Drawn, Grouping, Placer

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


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
    def most_in_one_ldm(self) -> int:
        """Fragments of the table, copies counted, in the LDM instance that has most of them."""
        import numpy as np

        return int(np.unique(self.nodes << 16 | self.ldm, return_counts=True)[1].max(initial=0))

    @cached_property
    def log_part(self) -> Array:
        """Log part of each fragment on its nodes."""
        return self.log_part_id % self.log_parts

    @cached_property
    def primary(self) -> Array:
        """Node id of the primary replica of each fragment."""
        return self.nodes[:, 0]


@lru_cache(maxsize=64)
def _slots(
    fragments: int,
    partitions: int,
    counts: tuple[int, ...],
    grouping: Grouping,
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


def _placements(cluster: Cluster, drawn: Iterable[Drawn]) -> list[Placement]:
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
    numbers: dict[Drawn, int] = {}
    number_of = [
        None if shape.grown_from else numbers.setdefault(placer.draw(shape), len(numbers)) for shape in shapes
    ]
    placed = _placements(cluster, numbers)
    return tuple([grown[i] if number is None else placed[number] for i, number in enumerate(number_of)])


class _History:
    """Tables that were created on fewer node groups and reorganised since, before all others."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._placers: dict[int, Placer] = {}
        """By the number of node groups there were."""
        self._added = [0] * len(cluster.groups)
        """Fragments that reorganisations added to each group."""

    def _placer_of(self, groups: int) -> Placer:
        if groups not in self._placers:
            small = replace(self._cluster, groups=self._cluster.groups[:groups])
            placer = self._placers[groups] = Placer(small)
            if not small.classic:
                for _ in range(SYSTEM_TABLES):
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

    def placer(self) -> Placer:
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
            taken = parts[group]
            _, log_part = min((taken.get(part, 0), part) for part in range(cluster.log_parts))
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
