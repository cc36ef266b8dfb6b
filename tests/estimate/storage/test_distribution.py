from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.resources import resource_path
from ndbplan.configuration.node_groups import node_group_ids, node_groups
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parts import update
from ndbplan.estimate.storage.distribution import spread_rows
from ndbplan.estimate.stored import distribute, ldm_threads, redistribute
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.hash import distribution_hash
from ndbplan.ndb.placement.hashmap import default_map, reorganised_map
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.file import load
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Table

REALITY = Path(__file__).parent.parent.parent / "reality" / "clusters"

BEFORE = {
    0: (374952, 16613376, 261521408),
    1: (375378, 16613376, 261816320),
    2: (375146, 16613376, 261685248),
    3: (374368, 16580608, 261685248),
    4: (375351, 16613376, 261816320),
    5: (374641, 16580608, 261816320),
    6: (374979, 16613376, 261357568),
    7: (375185, 16613376, 261685248),
}
AFTER = {
    0: (187296, 750264, 16613376, 261521408),
    1: (187847, 750440, 16613376, 261816320),
    2: (187426, 750586, 16613376, 261685248),
    3: (187602, 747900, 16580608, 261685248),
    4: (188058, 749937, 16613376, 261816320),
    5: (187392, 749139, 16580608, 261816320),
    6: (187238, 750461, 16613376, 261357568),
    7: (187610, 750335, 16613376, 261652480),
    8: (187656, 187656, 8323072, 131006464),
    9: (187531, 187531, 8323072, 130809856),
    10: (187720, 187720, 8323072, 130842624),
    11: (186766, 186766, 8290304, 130678784),
    12: (187293, 187293, 8290304, 130613248),
    13: (187249, 187249, 8290304, 130875392),
    14: (187741, 187741, 8323072, 130973696),
    15: (187575, 187575, 8323072, 130875392),
}
"""ndb_desc -p after the published reorganisation from 2 to 4 nodes: rows, commits, fixed, variable bytes."""


def _seed_plans() -> tuple[Plan, Plan]:
    before = load(resource_path("samples/add-nodes.ndbplan"))
    table = before.tables[0]
    before = update(before, table.id, partition_rows=tuple(BEFORE[p][0] for p in range(8)))
    after = add_node_group(before)
    return before, update(after, table.id, partition_rows=tuple(AFTER[p][0] for p in range(16)))


def test_published_table_before_the_reorganisation() -> None:
    before, _ = _seed_plans()
    found = distribute(before, before.tables[0])
    assert found.hash_map_name == "DEFAULT-HASHMAP-240-8"
    for partition in found.partitions:
        rows, fixed, variable = BEFORE[partition.partition]
        assert (partition.rows, partition.fixed_bytes) == (rows, fixed)
        assert partition.variable_bytes == pytest.approx(variable, rel=0.005)


def test_published_table_after_the_reorganisation() -> None:
    found = redistribute(*_seed_plans(), "t1")
    assert found.rows_moved == 1_499_531
    assert found.after.hash_map_name == "DEFAULT-HASHMAP-240-16"
    assert len(found.partitions) == 16
    for partition in found.partitions:
        rows, commits, fixed, variable = AFTER[partition.partition]
        assert (partition.rows, partition.commits, partition.fixed_bytes) == (rows, commits, fixed)
        assert partition.variable_bytes == pytest.approx(variable, rel=0.005)


def test_without_counts_half_of_the_rows_move_and_old_pages_stay() -> None:
    before, after = _seed_plans()
    unknown = update(after, "t1", partition_rows=())
    found = redistribute(before, unknown, "t1")
    assert found.rows_moved == pytest.approx(1_500_000, abs=8)
    for partition in found.partitions[:8]:
        assert partition.fixed_bytes == BEFORE[partition.partition][1]
        assert partition.commits == pytest.approx(2 * BEFORE[partition.partition][0], abs=2)
    assert sum(p.rows for p in found.partitions) == 3_000_000


def test_commits_before_are_added_to() -> None:
    before, after = _seed_plans()
    found = redistribute(before, after, "t1", commits_before={0: 400_000})
    assert found.partitions[0].commits == 400_000 + 2 * 187656


def test_a_table_with_stated_partitions_is_not_reorganised() -> None:
    before, after = _seed_plans()
    before, after = (update(p, "t1", partitions=8, partition_rows=()) for p in (before, after))
    found = redistribute(before, after, "t1")
    assert found.rows_moved == 0
    assert len(found.partitions) == 8


def _nodes(groups: list[int | None], replicas: int, first: int = 2) -> Plan:
    return Plan(
        ndb_version="8.4",
        hosts=(Host(id="h", hostname="h", memory_bytes=2**34),),
        processes=tuple(
            DataNode(id=f"n{i}", node_id=first + i, host_id="h", node_group=group)
            for i, group in enumerate(groups)
        ),
        parameters=ClusterParameters(data_node=FrozenMap({"NoOfReplicas": replicas})),
    )


def _group_cases() -> list[Any]:
    with (REALITY / "node-groups.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    return [r for r in rows if r[0] in ("NodeGroup", "LocationDomainId")]


@pytest.mark.parametrize("row", _group_cases(), ids=lambda r: f"{r[0]} {r[1]}")
def test_node_groups_as_the_management_server_makes_them(row: list[str]) -> None:
    stated = row[1].split()
    groups = [None if g == "-" or row[0] != "NodeGroup" else int(g) for g in stated]
    plan = _nodes(groups, replicas=2)
    expected = {int(n): int(g) for n, g in (pair.split(":") for pair in row[2].split())}
    assert node_group_ids(plan) == expected
    in_groups = {node.node_id for group in node_groups(plan) for node in group}
    assert in_groups == {n for n, g in expected.items() if g != 65536}


def test_three_replicas_fill_groups_of_three() -> None:
    assert list(node_group_ids(_nodes([None] * 6, replicas=3, first=1)).values()) == [0, 0, 0, 1, 1, 1]


def test_ldm_threads_of_a_node_with_its_own_setting() -> None:
    plan = _nodes([None, None], replicas=2)
    plan = update(plan, "n1", parameters=FrozenMap({"MaxNoOfExecutionThreads": 8}))
    first, second = plan.data_nodes
    assert (ldm_threads(plan, first), ldm_threads(plan, second)) == (1, 4)


def _fully_replicated(grown_from: tuple[int, ...] = ()) -> Table:
    return Table(
        id="t",
        database="d",
        name="t",
        columns=(Column(name="id", type="int", nullable=False),),
        primary_key=("id",),
        rows=1000,
        fully_replicated=True,
        grown_from=grown_from,
    )


def test_a_fully_replicated_table_is_whole_on_every_node() -> None:
    plan = _nodes([None] * 4, replicas=2)
    table = _fully_replicated()
    found = distribute(plan.replace(tables=(table,)), table)
    by_node: dict[int, int] = {}
    for partition in found.partitions:
        for node in partition.nodes:
            by_node[node] = by_node.get(node, 0) + partition.rows
    assert by_node == {2: 1000, 3: 1000, 4: 1000, 5: 1000}


def test_a_fully_replicated_table_with_a_history_has_the_rows_of_its_fragments() -> None:
    plan = _nodes([None] * 4, replicas=2)
    table = _fully_replicated(grown_from=(2, 4))
    found = distribute(plan.replace(tables=(table,)), table)
    assert len(found.rows) == found.placement.fragments == 2 * found.placement.partitions
    assert found.rows.sum() == 2000


@given(st.integers(0, 10**7), st.integers(1, 97), st.sampled_from([240, 3840]))
def test_rows_are_neither_lost_nor_taken_back_when_a_table_grows(
    rows: int, fragments: int, buckets: int
) -> None:
    hash_map = default_map(fragments, buckets)
    spread, more = spread_rows(rows, hash_map), spread_rows(rows + 1, hash_map)
    assert spread.sum() == rows
    assert ((more - spread) >= 0).all()


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 2), st.integers(0, 10**7))
def test_reorganising_keeps_every_row(groups: int, ldm: int, more: int, rows: int) -> None:
    plan = _nodes([None] * (2 * groups), replicas=2)
    counts = {1: 2, 2: 4, 3: 7, 4: 12}
    plan = plan.replace(
        parameters=ClusterParameters(
            data_node=FrozenMap({"NoOfReplicas": 2, "MaxNoOfExecutionThreads": counts[ldm]})
        ),
        tables=(
            Table(
                id="t",
                database="d",
                name="t",
                columns=(Column(name="id", type="int", nullable=False),),
                primary_key=("id",),
                rows=rows,
            ),
        ),
    )
    grown = add_node_group(plan, more) if more else plan
    found = redistribute(plan, grown, "t")
    assert sum(p.rows for p in found.partitions) == rows
    assert found.rows_moved == sum(found.moved_rows.values())
    old = found.before.placement.partitions
    assert all(source < old <= target for source, target in found.moved_rows)
    if found.rows_moved:
        assert found.after.hash_map == reorganised_map(
            found.before.hash_map, found.after.placement.partitions, 3840
        )


def _table(**fields: Any) -> Table:
    columns = (Column(name="id", type="int", nullable=False),)
    return Table(id="t", database="d", name="t", columns=columns, primary_key=("id",), **fields)


def test_a_fully_replicated_table_is_copied_to_the_new_group() -> None:
    plan = _nodes([None, None], replicas=2).replace(tables=(_table(rows=1000, fully_replicated=True),))
    found = redistribute(plan, add_node_group(plan), "t")
    assert found.rows_moved == 1000
    assert found.after.placement.partitions == found.before.placement.partitions
    by_group: dict[int, int] = {}
    for partition in found.after.partitions:
        by_group[partition.node_group] = by_group.get(partition.node_group, 0) + partition.rows
    assert by_group == {0: 1000, 1: 1000}
    old = found.before.placement.fragments
    assert [p.commits for p in found.partitions[:old]] == [p.rows for p in found.partitions[:old]]


@given(
    st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=200),
    st.integers(1, 20),
    st.integers(1, 20),
    st.sampled_from([240, 3840]),
)
def test_counting_keys_with_the_new_map_equals_moving_them(
    keys: list[int], old: int, more: int, buckets: int
) -> None:
    before = default_map(old, buckets)
    after = reorganised_map(before, old + more, 3840)
    version = NdbVersion.parse("7.4.10")
    hashes = [distribution_hash((KeyColumn("k", "int"),), (key,), version) for key in keys]
    counts = [0] * (old + more)
    for value in hashes:
        counts[before[value % len(before)]] += 1
    for value in hashes:
        source, target = before[value % len(before)], after[value % len(after)]
        if source != target:
            assert target >= old > source
            counts[source] -= 1
            counts[target] += 1
    direct = [0] * (old + more)
    for value in hashes:
        direct[after[value % len(after)]] += 1
    assert counts == direct
