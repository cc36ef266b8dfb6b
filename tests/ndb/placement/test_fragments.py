from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.frozen import FrozenMap
from ndbplan.ndb.placement.fragment_counts import Cluster, TableShape, fragment_count
from ndbplan.ndb.placement.fragments import PlacementError, extend, place_all
from ndbplan.ndb.threads.layout import thread_counts
from ndbplan.ndb.version import NdbVersion

REALITY = Path(__file__).parent.parent.parent / "reality" / "clusters"
V74, V84 = NdbVersion.parse("7.4.10"), NdbVersion.parse("8.4.8")
BALANCES = ("FOR_RA_BY_LDM_X_2", "FOR_RP_BY_LDM", "FOR_RA_BY_LDM", "FOR_RP_BY_NODE", "FOR_RA_BY_NODE")


def _ldm(nodes: int, count: int) -> FrozenMap[int, int]:
    return FrozenMap(dict.fromkeys(range(1, nodes + 1), count))


def _cluster(
    version: NdbVersion,
    nodes: int,
    replicas: int,
    ldm: int,
    log_parts: int = 4,
    classic: bool = True,
    ppn: int = 2,
) -> Cluster:
    groups = tuple(tuple(range(1 + g * replicas, 1 + (g + 1) * replicas)) for g in range(nodes // replicas))
    return Cluster(
        version, groups, FrozenMap(dict.fromkeys(range(1, nodes + 1), ldm)), log_parts, classic, ppn
    )


def _shape(kind: str) -> TableShape:
    return TableShape(
        balance=next((b for b in BALANCES if b in kind), "FOR_RP_BY_LDM"),
        partitions=int(kind.split()[0]) if "asked for" in kind else None,
        fully_replicated="FULLY_REPLICATED" in kind,
    )


@pytest.mark.parametrize(
    "case",
    json.loads((REALITY / "fragment-placement-8.4.8.json").read_text()),
    ids=lambda c: f"{c['data_nodes']} nodes, {', '.join(c['settings'])}",
)
def test_every_fragment_where_8_4_8_put_it(case: dict[str, Any]) -> None:
    given_settings = dict(s.split("=", 1) for s in case["settings"])
    threads = thread_counts(V84, given_settings, cores=2)
    automatic = given_settings.get("AutomaticThreadConfig") == "1"
    cluster = _cluster(
        V84,
        case["data_nodes"],
        int(given_settings["NoOfReplicas"]),
        threads.ldm_instances,
        int(given_settings["NoOfFragmentLogParts"]),
        classic=not automatic and given_settings.get("ClassicFragmentation", "1") == "1",
        ppn=int(given_settings.get("PartitionsPerNode", 2)),
    )
    placed = place_all(cluster, [_shape(table["kind"]) for table in case["tables"]])
    for table, found in zip(case["tables"], placed, strict=True):
        assert found.partitions == table["partitions"], table["kind"]
        assert [
            {
                "fragment": f,
                "nodes": found.nodes[f].tolist(),
                "log_part_id": int(found.log_part_id[f]),
                "ldm_instance": found.ldm[f].tolist(),
            }
            for f in range(found.fragments)
        ] == table["placement"], table["kind"]


def test_fragments_of_7_4_share_an_ldm_in_pairs_and_go_on_where_the_last_table_ended() -> None:
    # ndb_desc and memory_per_fragment of the 1 M row table: LDM 1 1 2 2, primaries 1 2 1 2.
    first, second = place_all(_cluster(V74, 2, 2, ldm=2), [TableShape(), TableShape()])
    assert first.ldm[:, 0].tolist() == [1, 1, 2, 2]
    assert first.primary.tolist() == [1, 2, 1, 2]
    assert first.log_part.tolist() == [0, 0, 1, 1]
    assert second.log_part.tolist() == [2, 2, 3, 3]


@pytest.mark.parametrize(
    ("nodes", "ldm", "fragments"), [(2, 1, 2), (2, 2, 4), (2, 4, 8), (4, 2, 8), (6, 2, 12)]
)
def test_default_fragments_of_7_4(nodes: int, ldm: int, fragments: int) -> None:
    assert fragment_count(_cluster(V74, nodes, 2, ldm), TableShape()) == fragments


@pytest.mark.parametrize(
    ("ldm", "max_rows", "fragments"),
    [
        (1, 1_000_000, 2),
        (1, 10_000_000, 2),
        (1, 50_000_000, 4),
        (1, 100_000_000, 6),
        (1, 500_000_000, 8),
        (1, 2_000_000_000, 8),
        (2, 100_000_000, 8),
        (4, 100_000_000, 8),
        (4, 500_000_000, 32),
        (4, 2_000_000_000, 32),
    ],
)
def test_max_rows_of_7_4(ldm: int, max_rows: int, fragments: int) -> None:
    assert fragment_count(_cluster(V74, 2, 2, ldm), TableShape(max_rows=max_rows)) == fragments


def test_max_rows_does_not_count_where_the_table_is_fully_replicated() -> None:
    shape = TableShape(max_rows=2_000_000_000, fully_replicated=True)
    assert fragment_count(_cluster(V84, 4, 2, 2), shape) == 8


def test_new_fragments_go_to_the_new_group_and_old_ones_stay() -> None:
    old = _cluster(V84, 2, 2, ldm=4)
    new = _cluster(V84, 4, 2, ldm=4)
    (before,) = place_all(old, [TableShape()])
    after = extend(new, before, 16)
    assert after.nodes[:8].tolist() == before.nodes.tolist()
    assert after.log_part[:8].tolist() == before.log_part.tolist()
    assert set(after.node_group[8:].tolist()) == {1}
    # Every LDM of the new nodes gets as many fragments as any other.
    assert sorted(after.ldm[8:, 0].tolist()) == [1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize("groups", [((1, 2), (4, 3)), ((1, 2),), ((1, 3), (2, 4))])
def test_groups_that_lost_a_node_with_data_are_refused_in_plain_words(
    groups: tuple[tuple[int, ...], ...],
) -> None:
    old = _cluster(V84, 4, 2, ldm=2)
    (before,) = place_all(old, [TableShape()])
    new = replace(old, groups=groups)
    if groups[1:] == ((4, 3),):
        assert extend(new, before, 12).fragments == 12
        return
    with pytest.raises(PlacementError, match="no longer in the node group") as caught:
        extend(new, before, 12)
    assert caught.value.fix


@given(
    st.sampled_from(BALANCES),
    st.booleans(),
    st.sampled_from([None, 1, 7, 240]),
    st.sampled_from([(), (1,), (2,), (3, 5)]),
    st.sampled_from([V74, V84]),
    st.integers(1, 3),
)
def test_every_fragment_of_any_history_holds_one_of_the_partitions(
    balance: str,
    fully_replicated: bool,
    partitions: int | None,
    grown_from: tuple[int, ...],
    version: NdbVersion,
    groups: int,
) -> None:
    shape = TableShape(balance, partitions, None, fully_replicated, grown_from)
    (placed,) = place_all(_cluster(version, 2 * groups, 2, ldm=2), [shape])
    assert len(placed.nodes) == placed.fragments
    copies = groups if fully_replicated else 1
    assert placed.fragments == copies * placed.partitions
    if fully_replicated:
        assert sorted(set(placed.node_group.tolist())) == list(range(groups))


@given(st.lists(st.integers(1, 700), min_size=1, max_size=12), st.integers(1, 3))
def test_tables_of_the_newer_fragmentation_take_the_instance_keys_used_least(
    partitions: list[int], groups: int
) -> None:
    cluster = _cluster(V84, 2 * groups, 2, ldm=4, classic=False)
    system = fragment_count(cluster, TableShape()) // groups
    use = [[1] * system + [0] * (1024 - system) for _ in range(groups)]
    for placed in place_all(cluster, [TableShape(partitions=count) for count in partitions]):
        for group, counts in enumerate(use):
            keys = placed.log_part_id[placed.node_group == group].tolist()
            if keys:
                start = counts.index(min(counts))
                assert keys == [(start + i) % 1024 for i in range(len(keys))]
            for key in keys:
                counts[key] += 1


@given(
    st.sampled_from([V74, V84, NdbVersion.parse("7.6")]),
    st.integers(1, 4),
    st.lists(
        st.tuples(st.sampled_from(BALANCES), st.sampled_from([None, 1, 5, 12]), st.booleans()),
        min_size=2,
        max_size=6,
    ),
)
def test_tables_placed_later_change_nothing_for_those_before(
    version: NdbVersion, groups: int, tables: list[tuple[str, int | None, bool]]
) -> None:
    cluster = _cluster(version, 2 * groups, 2, ldm=4, classic=version < (8, 0, 23))
    shapes = [TableShape(balance, partitions, None, full) for balance, partitions, full in tables]
    all_placed = place_all(cluster, shapes)
    for placed, again in zip(all_placed, place_all(cluster, shapes[:-1]), strict=False):
        assert placed.nodes.tolist() == again.nodes.tolist()
        assert placed.ldm.tolist() == again.ldm.tolist()
        assert placed.log_part.tolist() == again.log_part.tolist()


def test_a_table_that_was_reorganised_keeps_its_first_fragments_in_the_old_group() -> None:
    cluster = _cluster(V84, 4, 2, ldm=2)
    (grown,) = place_all(cluster, [TableShape(grown_from=(4,))])
    assert grown.node_group.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@given(
    st.sampled_from([V74, V84, NdbVersion.parse("7.6")]),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 8),
    st.booleans(),
    st.lists(st.sampled_from(BALANCES), min_size=1, max_size=4),
    st.booleans(),
)
def test_replicas_of_a_fragment_are_the_members_of_one_group(
    version: NdbVersion, groups: int, replicas: int, ldm: int, classic: bool, balances: list[str], full: bool
) -> None:
    cluster = _cluster(version, groups * replicas, replicas, ldm, classic=classic or version < (8, 0, 23))
    shapes = [TableShape(balance=b, fully_replicated=full) for b in balances]
    for shape, placed in zip(shapes, place_all(cluster, shapes), strict=True):
        assert placed.fragments == fragment_count(cluster, shape)
        assert placed.partitions == (placed.fragments // groups if full else placed.fragments)
        for group, nodes in zip(placed.node_group.tolist(), placed.nodes.tolist(), strict=True):
            assert sorted(nodes) == list(cluster.groups[group])
        assert placed.ldm.min() >= 1
        assert placed.ldm.max() <= ldm
