"""The ring of heartbeats: what HeartbeatOrder states, and how many silent nodes stand side by side in it."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.ndb.heartbeat_ring import most_in_a_row, order_refused, stated_ring
from ndbplan.ndb.survival import in_a_row

ORDERS = st.dictionaries(st.integers(1, 48), st.integers(0, 6), max_size=6)


@given(ORDERS)
def test_only_distinct_values_above_0_state_a_ring(orders: dict[int, int]) -> None:
    ring, values = stated_ring(orders), [*orders.values()]
    is_stated = bool(values) and 0 not in values and len({*values}) == len(values)
    assert (ring is not None) is is_stated
    assert order_refused(orders) is (any(values) and not is_stated)
    if ring is not None:
        assert [orders[node_id] for node_id in ring] == sorted(values)


@given(st.permutations(range(1, 9)), st.sets(st.integers(1, 8), min_size=1, max_size=7), st.integers(0, 7))
def test_a_ring_has_no_beginning_and_no_side(order: list[int], silent: set[int], turn: int) -> None:
    found = most_in_a_row(order, silent)
    assert 1 <= found <= len(silent)
    assert most_in_a_row(order[turn:] + order[:turn], silent) == found
    assert most_in_a_row(order[::-1], silent) == found
    # One more that is silent is noticed no sooner.
    more = silent | {order[turn]}
    assert most_in_a_row(order, more) >= found


@pytest.mark.parametrize(("silent", "seeing"), [(1, 3), (2, 2), (2, 4), (3, 3), (3, 1), (4, 3)])
def test_all_rings_together_are_what_is_said_of_one_that_nobody_knows(silent: int, seeing: int) -> None:
    nodes = range(silent + seeing)
    gone = set(range(silent))
    found = [most_in_a_row((nodes[-1], *ring), gone) for ring in permutations(nodes[:-1])]
    for share, row in zip((0.1, 0.5, 0.9), in_a_row(silent, seeing), strict=True):
        fewer, within = (sum(one <= n for one in found) / len(found) for n in (row - 1, row))
        assert fewer < share <= within + 1e-9


def test_where_nobody_is_left_all_are_in_a_row() -> None:
    assert most_in_a_row((4, 2, 3), {2, 3, 4}) == 3
    assert most_in_a_row((4, 2, 3), ()) == 0
    # Every other node of a ring of six: two of them never stand side by side.
    assert all(most_in_a_row(range(6), pair) == 1 for pair in combinations((0, 2, 4), 2))
