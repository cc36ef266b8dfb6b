"""Reorganisations with any number of replicas: what moves is conserved, and lies evenly afterwards."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_keys import ROWS, clusters, with_values
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits import parts as edits
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.stored import distribute, node_data
from ndbplan.plan.plan import Plan


@settings(deadline=None, max_examples=30)
@given(clusters(), st.integers(1, 3), st.sampled_from([1, 2, 7, 100, 6000, ROWS]))
def test_rows_and_bytes_are_conserved(plan: Plan, groups: int, count: int) -> None:
    plan = with_values(edits.update(plan, "t", partitions=None), count)
    found = reorganise(plan, groups)
    (moved,) = found.tables
    after = moved.redistribution.after
    copies = after.placement.fragments // after.placement.partitions
    assert int(after.rows.sum()) == copies * ROWS
    assert 0 <= moved.rows_moved <= ROWS * max(1, copies)
    if after.is_full_copy:
        return
    # What left the old partitions is what the new ones have.
    before = moved.redistribution.before
    old = before.placement.fragments
    assert moved.rows_moved == int(before.rows.sum() - after.rows[:old].sum()) == int(after.rows[old:].sum())
    each = moved.redistribution.bytes_moved / moved.rows_moved if moved.rows_moved else 0.0
    assert moved.redistribution.bytes_moved >= 0
    assert not moved.rows_moved or 100 <= each <= 400
    # Memory is that of the rows, on as many nodes as there are replicas.
    held = {d.node_id: d.rows for d in node_data(found.plan_after)}
    assert sum(held.values()) == pytest.approx(no_of_replicas(plan) * ROWS, rel=1e-6)
    assert distribute(found.plan_after, found.plan_after.tables[0]).placement.nodes.shape[
        1
    ] == no_of_replicas(plan)


@settings(deadline=None, max_examples=20)
@given(clusters())
def test_nodes_hold_about_the_same_once_there_are_as_many_groups_again(plan: Plan) -> None:
    plan = edits.update(plan, "t", partitions=None, fully_replicated=False)
    before = len(node_groups(plan))
    found = reorganise(plan, before)
    if not found.tables[0].moves:
        return
    after = found.plan_after
    mean = no_of_replicas(plan) * ROWS / len(after.data_nodes)
    held = [d.rows for d in node_data(after)]
    assert len(held) == len(after.data_nodes) == 2 * len(plan.data_nodes)
    assert max(held) <= 1.6 * mean
    assert max(d.rows for d in node_data(plan)) >= max(held) * (1 - 1e-6)
