"""Nodes of ordered indexes: the law beside an index that is played through key by key."""

from __future__ import annotations

import pytest

from ndb.ordered_index_growth import Key, at_random, in_order, mean_entries, of_values
from ndbplan.ndb.constants import constant
from ndbplan.ndb.ordered_index import Filling, most_entries

ROWS = 20_000


def _filling(most: int) -> Filling:
    measured = (constant(f"ordered_index_entries_{how}").value for how in ("in_order", "random"))
    return Filling.of_node(most, *measured)


@pytest.mark.parametrize(
    ("key_bytes", "nullable", "most"),
    [
        ([4], 0, 28),
        ([8], 0, 28),
        ([8], 1, 27),
        ([4, 8], 0, 27),
        ([16], 0, 27),
        ([16], 1, 29),
        ([257], 0, 29),
        ([4, 257], 0, 28),
    ],
)
def test_a_node_keeps_the_start_of_its_lowest_key_when_that_fits(
    key_bytes: list[int], nullable: int, most: int
) -> None:
    assert most_entries(key_bytes, nullable=nullable) == most


@pytest.mark.parametrize("most", [27, 28, 29])
def test_nodes_of_keys_in_order_and_at_random(most: int) -> None:
    filling = _filling(most)
    assert mean_entries(in_order(ROWS), most) == pytest.approx(filling.in_order, rel=0.002)
    assert mean_entries(at_random(ROWS), most) == pytest.approx(filling.random, rel=0.03)


@pytest.mark.parametrize("values", [2, 5, 20, 100, 300, 2000])
def test_nodes_of_few_values_are_full_but_for_the_last_of_each(values: int) -> None:
    law = _filling(28).of_runs(values, ROWS)
    assert mean_entries(of_values(ROWS, values), 28) == pytest.approx(law, rel=0.05)


@pytest.mark.parametrize("nulls", [0.2, 0.5, 0.9])
def test_keys_that_are_null_fill_their_nodes(nulls: float) -> None:
    filling = _filling(28)
    keys: list[Key] = []
    for row, (key,) in enumerate(at_random(ROWS)):
        is_null = row * 0.6180339887 % 1.0 < nulls
        keys.append((0.0, row) if is_null else (1.0, key))
    law = filling.with_nulls(filling.random, nulls)
    assert mean_entries(keys, 28) == pytest.approx(law, rel=0.06)


def test_more_rows_take_no_fewer_nodes() -> None:
    filling = _filling(28)
    nodes = [rows / filling.of_runs(256, rows) for rows in range(100, 50_000, 100)]
    assert nodes == sorted(nodes)
