"""Placement held against the steps of Dbdih::execCREATE_FRAGMENTATION_REQ (8.0.23 and later), one by one.

Written down from the text of the function (`select_ng`, `inc_ng`, `add_nodes_to_fragment`,
`find_min_used_log_part`) and of `ha_ndbcluster::create`, `adjusted_frag_count`: no shortcuts, no sharing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.frozen import FrozenMap
from ndbplan.ndb.placement.fragment_counts import Cluster, TableShape
from ndbplan.ndb.placement.fragments import place_all
from ndbplan.ndb.version import NdbVersion

V84 = NdbVersion.parse("8.4.8")
PER_LDM = {"FOR_RA_BY_LDM": 1, "FOR_RA_BY_LDM_X_2": 2, "FOR_RA_BY_LDM_X_3": 3, "FOR_RA_BY_LDM_X_4": 4}
BALANCES = ("FOR_RP_BY_LDM", *PER_LDM, "FOR_RP_BY_NODE", "FOR_RA_BY_NODE")
Fragment = tuple[int, list[int]]


def _cluster(groups: int, replicas: int, ldm: int, log_parts: int, *, classic: bool, ppn: int = 2) -> Cluster:
    members = tuple(tuple(range(1 + g * replicas, 1 + (g + 1) * replicas)) for g in range(groups))
    counts = FrozenMap(dict.fromkeys(range(1, groups * replicas + 1), ldm))
    return Cluster(V84, members, counts, log_parts, classic, ppn)


@dataclass
class _Dih:
    """The counters of the block, and a table created after the other."""

    cluster: Cluster
    next_node_group: int = 0
    next_log_part: dict[int, int] = field(default_factory=dict)
    used: dict[int, list[int]] = field(default_factory=dict)
    next_replica: dict[tuple[int, int], int] = field(default_factory=dict)

    def create(self, shape: TableShape) -> list[Fragment]:
        cluster, replicas, groups = self.cluster, self.cluster.replicas, len(self.cluster.groups)
        count, balance = self._count(shape)
        partitions = count // groups if shape.fully_replicated else count
        is_specific = balance == "SPECIFIC"
        goes_on = is_specific or (cluster.classic and balance.endswith("BY_NODE"))
        counters = {} if balance == "FOR_RP_BY_LDM" else self.next_replica
        group = self.next_node_group if goes_on else 0
        keys = [row.index(min(row)) for row in (self.used.setdefault(g, [0] * 1024) for g in range(groups))]
        step, found = -1, []
        for fragment in range(count):
            if not cluster.classic:
                log_part, at = keys[group], 0
                keys[group] = (log_part + 1) % 1024
                self.used[group][log_part] += 1
            elif goes_on:
                log_part = at = self.next_log_part.get(group, 0) % cluster.log_parts
                self.next_log_part[group] = self.next_log_part.get(group, 0) + 1
            else:
                step += group == 0 or count != partitions
                log_part = at = step % cluster.log_parts
            first = counters.get((group, at), at % replicas)
            counters[group, at] = (first + 1) % replicas
            members = cluster.groups[group]
            found.append((log_part, [members[(first + k) % replicas] for k in range(replicas)]))
            if count == partitions or (fragment + 1) % partitions == 0:
                group = (group + 1) % groups
        if goes_on and cluster.classic:
            self.next_node_group = group
        return found

    def _count(self, shape: TableShape) -> tuple[int, str]:
        groups, replicas = len(self.cluster.groups), self.cluster.replicas
        nodes, per_node = groups * replicas, self.cluster.fragments_per_node
        if shape.partitions is not None:
            return shape.partitions, "SPECIFIC"
        if shape.balance == "FOR_RP_BY_LDM" and shape.max_rows and not shape.fully_replicated:
            wanted, count = shape.max_rows * 27 // (512 * 1024 * 1024) + 1, nodes * per_node
            while count < wanted and (count + nodes * per_node) * replicas <= 8 * nodes * per_node:
                count += nodes * per_node
            return count, "SPECIFIC"
        if shape.balance in PER_LDM:
            return PER_LDM[shape.balance] * per_node * groups, shape.balance
        by_node = {"FOR_RP_BY_NODE": nodes, "FOR_RA_BY_NODE": groups}
        return by_node.get(shape.balance, per_node * nodes), shape.balance


_kinds = st.one_of(
    st.tuples(st.sampled_from(BALANCES), st.booleans()).map(
        lambda kind: TableShape(balance=kind[0], fully_replicated=kind[1])
    ),
    st.integers(1, 20).map(lambda count: TableShape(partitions=count)),
    st.sampled_from([1, 10**8, 10**9]).map(lambda rows: TableShape(max_rows=rows)),
)


@settings(max_examples=75, deadline=None)
@given(
    groups=st.sampled_from([1, 2, 3, 5]),
    replicas=st.integers(1, 4),
    ldm=st.integers(1, 8),
    log_parts=st.sampled_from([4, 6, 8, 10, 12]),
    classic=st.booleans(),
    shapes=st.lists(_kinds, min_size=1, max_size=8),
)
def test_fragments_are_where_the_steps_of_the_product_put_them(
    groups: int, replicas: int, ldm: int, log_parts: int, *, classic: bool, shapes: list[TableShape]
) -> None:
    cluster = _cluster(groups, replicas, ldm, log_parts, classic=classic, ppn=3)
    dih = _Dih(cluster)
    if not classic:
        dih.create(TableShape())
    for shape, placed in zip(shapes, place_all(cluster, shapes), strict=True):
        found = [(int(p), n.tolist()) for p, n in zip(placed.log_part_id, placed.nodes, strict=True)]
        assert found == dih.create(shape), shape


def test_a_table_with_max_rows_goes_on_where_the_last_table_with_a_count_of_its_own_ended() -> None:
    # PartitionBalance_Specific of ha_ndbcluster::create: one log part further in each group.
    cluster = _cluster(2, 2, ldm=1, log_parts=4, classic=True)
    first, second = place_all(cluster, [TableShape(max_rows=1000), TableShape(max_rows=1000)])
    assert first.log_part.tolist() == [0, 0, 1, 1]
    assert second.log_part.tolist() == [2, 2, 3, 3]


@pytest.mark.parametrize(("version", "groups"), [("8.4", [1, 0, 1, 0]), ("7.4", [0, 0, 1, 0])])
def test_an_uneven_number_of_partitions_moves_the_group_the_next_such_table_starts_with(
    version: str, groups: list[int]
) -> None:
    # c_nextNodeGroup; up to 7.4 set_default_node_groups pins the first fragment to group 0.
    cluster = _cluster(2, 2, ldm=2, log_parts=4, classic=True)
    cluster = Cluster(NdbVersion.parse(version), cluster.groups, cluster.ldm, 4, classic=True)
    shapes = [TableShape(partitions=3), TableShape(partitions=4)]
    first, second = place_all(cluster, shapes)
    assert first.node_group.tolist() == [0, 1, 0]
    assert second.node_group.tolist() == groups


def test_copies_of_a_fully_replicated_table_go_on_with_the_log_parts() -> None:
    (placed,) = place_all(
        _cluster(2, 2, ldm=1, log_parts=4, classic=True), [TableShape(fully_replicated=True)]
    )
    assert placed.node_group.tolist() == [0, 0, 1, 1]
    assert placed.log_part.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("classic", [True, False])
def test_tables_that_were_reorganised_share_the_counters_of_the_groups(*, classic: bool) -> None:
    # m_new_next_log_part of a group goes on from table to table; so do those of the tables created later.
    cluster = _cluster(2, 2, ldm=2, log_parts=4, classic=classic)
    shapes = [TableShape(grown_from=(4,)), TableShape(grown_from=(4,)), TableShape()]
    first, second, later = place_all(cluster, shapes)
    by_group = [[t.log_part_id[t.node_group == g].tolist() for g in (0, 1)] for t in (first, second, later)]
    if classic:
        assert by_group == [[[0, 1, 2, 3], [0, 1, 2, 3]]] * 3
    else:
        # SYSTAB_0 has the first four keys of the old group.
        assert by_group[0] == [[4, 5, 6, 7], [0, 1, 2, 3]]
        assert by_group[1] == [[8, 9, 10, 11], [4, 5, 6, 7]]
        assert by_group[2] == [[12, 13, 14, 15], [8, 9, 10, 11]]


def test_new_fragments_go_to_the_group_whose_node_comes_first() -> None:
    # find_min_index of Dbdih goes over the nodes by their ids.
    cluster = _cluster(3, 2, ldm=1, log_parts=4, classic=True)
    cluster = Cluster(V84, (cluster.groups[0], (5, 6), (3, 4)), cluster.ldm, 4, classic=True)
    (table,) = place_all(cluster, [TableShape(grown_from=(2,))])
    assert table.node_group.tolist() == [0, 0, 2, 1, 2, 1]


def test_up_to_7_4_the_node_that_leads_fewest_fragments_leads_the_next_new_one() -> None:
    # find_min_index over the primaries of each node; m_next_log_part of a group, not divided by replicas.
    cluster = _cluster(3, 2, ldm=2, log_parts=4, classic=True)
    cluster = Cluster(NdbVersion.parse("7.4.10"), cluster.groups, cluster.ldm, 4, classic=True)
    first, second = place_all(cluster, [TableShape(grown_from=(4,))] * 2)
    assert first.primary.tolist() == [1, 2, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6]
    assert first.log_part.tolist() == [0, 0, 1, 1, 0, 1, 0, 1, 2, 3, 2, 3]
    assert second.primary.tolist() == first.primary.tolist()
    assert second.log_part.tolist() == [2, 2, 3, 3, 0, 1, 0, 1, 2, 3, 2, 3]
