"""The highest load of a table with few distribution-key values: fewer values never raise it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_keys import ROWS, clusters, with_values
from ndbplan.advise.max_load import MaxLoad, max_load
from ndbplan.edits import parts as edits
from ndbplan.estimate.loaded import cpu
from ndbplan.plan.plan import Plan
from ndbplan.simulate.model.workload import estimation_of

FEW = (1, 2, 3, 5, 8, 13, 20)
"""Fewer than most clusters have partitions, so that some partitions hold nothing."""


def _highest(plan: Plan) -> MaxLoad:
    return max_load(estimation_of(plan), duration_s=60, with_next=False)


@settings(deadline=None, max_examples=8)
@given(clusters())
def test_more_values_never_lower_the_highest_load(plan: Plan) -> None:
    found = [_highest(with_values(plan, count)) for count in (1, 2, 5, 13, 100, ROWS)]
    for fewer, more in pairwise(found):
        assert more.max_per_s.value >= fewer.max_per_s.value * 0.98
    for one in found:
        assert one.max_per_s.low <= one.max_per_s.value <= one.max_per_s.high


@settings(deadline=None, max_examples=10)
@given(clusters(), st.sampled_from(FEW))
def test_the_fullest_ldm_carries_the_highest_load(plan: Plan, count: int) -> None:
    plan = with_values(plan, count)
    workload, found = plan.workloads[0], _highest(plan)
    # The workload asks for 1,000 inserts a second; what it loads grows with the rate.
    times = found.max_per_s.value / 1000
    busiest = max(node.ldm_utilisation.value for node in cpu(plan, workload).nodes)
    assert busiest * times <= 1.005
    if found.limited_by.resource == "cpu":
        assert busiest * times == pytest.approx(1.0, rel=0.01)


@settings(deadline=None, max_examples=8)
@given(clusters(), st.sampled_from((2, 3, 5, 8)), st.integers(0, 10**6))
def test_its_range_holds_what_known_values_give(plan: Plan, count: int, first: int) -> None:
    unknown = _highest(with_values(plan, count)).max_per_s
    sets = [first + 1000 * nth for nth in range(5)]
    known = [
        _highest(edits.update(with_values(plan, count), "t", distribution_key_first=start)).max_per_s.value
        for start in sets
    ]
    outside = [rate for rate in known if not unknown.low * 0.97 <= rate <= unknown.high * 1.03]
    # 98 of 100 sets of values are inside.
    assert len(outside) <= 1
