"""Primaries after a loss: one for each fragment with a living replica, and no row is lost or doubled."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.storage.fill_map import fill_map
from ndbplan.estimate.storage.fragments import TableDistribution
from ndbplan.estimate.storage.lost_primaries import NOBODY, loss_of_primaries, primaries_without
from ndbplan.estimate.storage.skew import skew_report
from ndbplan.plan.samples import sample_plan


@pytest.fixture(scope="module")
def tables() -> tuple[TableDistribution, ...]:
    return Estimation(sample_plan("telecom-144")).distribution


@pytest.fixture(scope="module")
def fourfold() -> TableDistribution:
    """A table in groups of four nodes."""
    plan = set_parameter(sample_plan("telecom-144"), "data_node", "NoOfReplicas", 4)
    return Estimation(plan).distribution[0]


@settings(max_examples=30, deadline=None)
@given(dead=st.sets(st.integers(1, 144), max_size=60), which=st.sampled_from([0, 2, 16]))
def test_each_fragment_has_one_primary_where_a_replica_lives_and_rows_are_conserved(
    tables: tuple[TableDistribution, ...], fourfold: TableDistribution, dead: set[int], which: int
) -> None:
    for table in (tables[which], fourfold):
        primary = primaries_without(table.placement, dead)
        for was, now, nodes in zip(
            table.placement.primary.tolist(), primary.tolist(), table.placement.nodes.tolist(), strict=True
        ):
            alive = [node for node in nodes if node not in dead]
            assert now == (alive[0] if alive else NOBODY)
            assert now == was or was in dead
        after = loss_of_primaries(table, dead)
        assert sum(after.rows_by_node.values()) + after.rows_without_replica == int(table.rows.sum())
        assert all(lost in dead and heir not in dead for lost, heir in after.moved)
        found = fill_map([table], "nodes", "primaries", dead)
        by_node = dict(zip(found.columns, found.column_sums.tolist(), strict=True))
        assert {node: rows for node, rows in by_node.items() if node not in dead} == dict(after.rows_by_node)
        assert all(by_node[node] == 0 for node in found.lost)


def test_the_worst_loss_of_the_skew_report_is_one_of_these(tables: tuple[TableDistribution, ...]) -> None:
    told = skew_report(tables[0]).worst_loss
    assert told is not None
    after = loss_of_primaries(tables[0], {told.lost_node})
    assert (after.loaded_node, after.rows_by_node[told.loaded_node], after.factor) == (
        told.loaded_node, told.primary_rows, pytest.approx(told.factor),
    )  # fmt: skip
    assert [(move.lost_node, move.node) for move in after.moves] == [(told.lost_node, told.loaded_node)]


def test_a_whole_group_leaves_fragments_without_replica(tables: tuple[TableDistribution, ...]) -> None:
    group = set(tables[0].placement.nodes[0].tolist())
    after = loss_of_primaries(tables[:2], group)
    assert after.fragments_without_replica == 8
    assert not after.moved
