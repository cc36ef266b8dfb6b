"""Entries in the nodes of an ordered index, by its key and by how keys come.

    most_entries([8], nullable=False)                       # 28
    Filling(28, 14.5, 19.8).of_runs(10, rows=40_000)        # 25.9

The data is `resources/ndb/ordered_index.json`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.rows import WORD_BYTES, words


class OrderedIndexFacts(NamedTuple):
    """What a node has room for."""

    node_words: int
    head_words: int
    key_start_words_most: int
    """The longest start of a key that a node keeps; of a key whose first column is longer it keeps none."""
    entry_words: int
    entries_most_measured: int
    """Most entries of a node of the index that was measured."""
    nodes_between_runs: float
    """Nodes more for each run of keys: its last node is not full."""


@cache
def ordered_index_facts() -> OrderedIndexFacts:
    """The facts, read once."""
    data = read_json("ndb/ordered_index.json")
    return OrderedIndexFacts(**{name: data[name] for name in OrderedIndexFacts._fields})


def most_entries(key_bytes: Iterable[int], *, nullable: int) -> int:
    """Entries of a full node; `key_bytes`: most bytes of each column of the key, length bytes included.

    `nullable`: how many of them may be NULL. Source: `Dbtux::execTUX_ADD_ATTRREQ`.
    """
    facts = ordered_index_facts()
    nulls = (nullable + 7) // 8
    kept = 0
    for count in key_bytes:
        if nulls + kept + count > facts.key_start_words_most * WORD_BYTES:
            break
        kept += count
    start = words(nulls + kept) if kept else 0
    return (facts.node_words - facts.head_words - start) // facts.entry_words


class Filling(NamedTuple):
    """Mean entries of a node, keys in order and at random."""

    most: int
    """Of a full node."""
    in_order: float
    random: float

    @classmethod
    def of_node(cls, most: int, in_order: float, random: float) -> Filling:
        """For nodes of another size than that for which these means were measured."""
        measured = ordered_index_facts().entries_most_measured
        # Each node of keys in order is left with half of what it had when it was full and one more came.
        return cls(most, in_order * (most + 1) / (measured + 1), random * most / measured)

    def of_runs(self, runs: float, rows: float) -> float:
        """Mean entries where keys have so many values, each of which grows at its end.

        All but the highest run fill their nodes; too many of them for the rows are like random keys.
        """
        if not rows or not runs:
            return self.random
        between = ordered_index_facts().nodes_between_runs
        last = 1.0 / runs
        nodes = last / self.in_order + (1.0 - last) / self.most + between * (runs - 1.0) / rows
        return 1.0 / nodes if runs == 1.0 else max(self.random, 1.0 / nodes)

    def with_nulls(self, others: float, nulls: float) -> float:
        """Mean entries where a share of the keys is NULL and the others fill nodes with so many."""
        if nulls == 1.0:
            return self.in_order
        return 1.0 / (nulls / self.most + (1.0 - nulls) / others)
