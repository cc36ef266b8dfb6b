"""Areas of a treemap are shares of the whole, inside of it, and do not cover one another."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.desktop.layout.treemap import squarified
from ndbplan.desktop.look.rect import Rect

_SIZES = st.lists(st.floats(1e-3, 1e12), min_size=1, max_size=24).map(lambda s: sorted(s, reverse=True))


@settings(max_examples=60, deadline=None)
@given(sizes=_SIZES, width=st.floats(20, 2000), height=st.floats(20, 900))
def test_areas_are_shares_and_stay_apart(sizes: list[float], width: float, height: float) -> None:
    area = Rect(7.0, -3.0, width, height)
    placed = squarified(sizes, area)
    whole = sum(sizes)
    slack = 1e-6 * width * height
    for size, rect in zip(sizes, placed, strict=True):
        assert rect.width * rect.height == pytest.approx(width * height * size / whole, rel=1e-4, abs=slack)
        assert rect.x >= area.x - 1e-6
        assert rect.y >= area.y - 1e-6
        assert rect.right <= area.right + 1e-6 * width
        assert rect.bottom <= area.bottom + 1e-6 * height
    for one, other in itertools.combinations(placed, 2):
        across = min(one.right, other.right) - max(one.x, other.x)
        down = min(one.bottom, other.bottom) - max(one.y, other.y)
        assert min(across, down) <= 1e-6 * (width + height)


def test_equal_sizes_are_nearly_square() -> None:
    placed = squarified([1.0] * 12, Rect(0, 0, 400, 300))
    assert all(0.5 <= rect.width / rect.height <= 2 for rect in placed)


def test_nothing_takes_no_area() -> None:
    assert squarified([], Rect(0, 0, 10, 10)) == []
    assert [r.width * r.height for r in squarified([0.0, 0.0], Rect(0, 0, 10, 10))] == [0, 0]
    assert squarified([2.0, 0.0], Rect(0, 0, 10, 10))[1].width * 0 == 0
