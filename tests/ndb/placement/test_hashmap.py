from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.ndb.placement.hashmap import (
    default_buckets,
    default_map,
    map_name,
    max_fragments,
    reorganised_map,
)
from ndbplan.ndb.version import NdbVersion


@pytest.mark.parametrize(
    ("buckets", "old", "new", "default", "moved", "skew", "name"),
    [
        (3840, 8, 16, 3840, 0.5, 1.0, "DEFAULT-HASHMAP-3840-16"),
        (3840, 8, 12, 3840, 0.3333, 1.0, "HASHMAP-3840-8-12"),
        (3840, 4, 10, 3840, 0.6, 1.0, "HASHMAP-3840-4-10"),
        (3840, 6, 8, 3840, 0.25, 1.0, "HASHMAP-3840-6-8"),
        (3840, 28, 56, 3840, 0.4969, 1.006, "DEFAULT-HASHMAP-3840-56"),
        (240, 8, 16, 3840, 0.5, 1.0, "DEFAULT-HASHMAP-240-16"),
        (240, 24, 32, 240, 0.2333, 1.067, "HASHMAP-240-24-32"),
        (240, 64, 96, 240, 0.2667, 1.2, "HASHMAP-240-64-96"),
    ],
)
def test_published_reorganisations(
    buckets: int, old: int, new: int, default: int, moved: float, skew: float, name: str
) -> None:
    grown = reorganised_map(default_map(old, buckets), new, default)
    assert len(grown) == buckets
    assert sum(owner >= old for owner in grown) / len(grown) == pytest.approx(moved, abs=5e-5)
    assert max(Counter(grown).values()) * new / len(grown) == pytest.approx(skew, abs=5e-4)
    assert map_name(grown, old) == name


def test_a_small_map_that_does_not_divide_grows() -> None:
    grown = reorganised_map(default_map(8, 240), 32, 3840)
    assert grown == default_map(32, 3840)


@given(st.sampled_from([240, 3840]), st.sampled_from([240, 3840]), st.integers(1, 80), st.integers(1, 120))
def test_data_moves_from_old_to_new_only(buckets: int, default: int, old: int, new: int) -> None:
    before = default_map(old, buckets)
    after = reorganised_map(before, new, default)
    for value in range(0, 3 * max(buckets, default), 7):
        source, target = before[value % buckets], after[value % len(after)]
        assert source == target or (target >= old and source < old)
    assert max(after) + 1 == max(old, new)


def test_buckets_and_limits_by_version() -> None:
    v71, v74, v84 = (NdbVersion.parse(v) for v in ("7.1", "7.4.10", "8.4"))
    assert [default_buckets(v) for v in (v71, v74, v84)] == [240, 3840, 3840]
    assert default_buckets(v84, 1536) == 3840
    assert default_buckets(v84, 1537) == 23040
    assert [max_fragments(v) for v in (v71, v74, v84)] == [240, 2048, 8160]
