"""Nodes in sentences."""

from __future__ import annotations

from ndbplan.ndb.node_names import data_nodes


def test_many_data_nodes_are_counted_and_few_are_named() -> None:
    assert data_nodes({4}) == "data node 4"
    assert data_nodes((5, 1, 3)) == "data nodes 1, 3 and 5"
    assert data_nodes(range(1, 145, 4)) == "36 data nodes (1, 5, 9 … 141)"
