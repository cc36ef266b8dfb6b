"""Buckets that move: no row is lost on the way, and it ends where the reorganisation does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.storage.bucket_moves import BucketMoves, bucket_moves
from ndbplan.estimate.storage.redistribution import Redistribution
from ndbplan.plan.samples import sample_plan

_CASES = [("add-nodes", 1), ("add-nodes", 2), ("starter", 1), ("starter", 17)]


@pytest.fixture(scope="module", params=_CASES, ids=lambda case: f"{case[0]}+{case[1]}")
def change(request: pytest.FixtureRequest) -> Redistribution:
    name, groups = request.param
    plan = sample_plan(name)
    return Estimation(plan).reorganise(groups).tables[0].redistribution


def _moves(change: Redistribution) -> BucketMoves:
    moves = bucket_moves(change)
    assert moves is not None
    return moves


def test_every_row_is_somewhere_all_the_way(change: Redistribution) -> None:
    moves, total = _moves(change), int(change.before.rows.sum())
    for copied, deleted in [*((k / 37, 0.0) for k in range(38)), *((1.0, k / 11) for k in range(12))]:
        now = moves.at(copied, deleted)
        assert int(now.rows.sum()) == total
        assert (now.rows >= 0).all()
        assert (now.waiting >= 0).all()


def test_it_begins_and_ends_as_the_reorganisation(change: Redistribution) -> None:
    moves = _moves(change)
    first, copied, last = moves.at(0), moves.at(1), moves.at(1, 1)
    old = len(change.before.rows)
    assert first.rows[:old].tolist() == change.before.rows.tolist()
    assert not first.rows[old:].any()
    assert copied.rows.tolist() == last.rows.tolist() == change.after.rows.tolist()
    assert int(copied.waiting.sum()) == change.rows_moved
    assert not last.waiting.any()


def test_rows_go_from_old_to_new_partitions_only_and_never_back(change: Redistribution) -> None:
    moves, old = _moves(change), len(change.before.rows)
    assert (moves.new[moves.moving] >= old).all()
    assert (moves.old < old).all()
    for before, after in itertools.pairwise(moves.at(k / 20) for k in range(21)):
        assert (after.done >= before.done).all()
        assert (after.rows[old:] >= before.rows[old:]).all()
        assert (after.rows[:old] <= before.rows[:old]).all()


def test_a_node_passes_over_one_fragment_at_a_time(change: Redistribution) -> None:
    moves = _moves(change)
    primary = change.before.placement.primary
    for node in np.unique(primary)[:4].tolist():
        spans = []
        for fragment in np.flatnonzero(primary == node).tolist():
            own = moves.moving & (moves.old == fragment)
            if own.any():
                spans.append((float(moves.start[own].min()), float(moves.end[own].max())))
        assert all(one[1] <= next_[0] + 1e-9 for one, next_ in itertools.pairwise(sorted(spans)))
        assert all(0 <= start < end <= 1 + 1e-9 for start, end in spans)


def test_no_bucket_moves_where_a_table_stays_or_is_copied_whole() -> None:
    plan = sample_plan("add-nodes")
    fixed = edits.update(plan, plan.tables[0].id, partitions=8)
    assert bucket_moves(Estimation(fixed).reorganise(1).tables[0].redistribution) is None
    plan = sample_plan("starter")
    whole = edits.update(plan, plan.tables[0].id, fully_replicated=True)
    assert bucket_moves(Estimation(whole).reorganise(1).tables[0].redistribution) is None
