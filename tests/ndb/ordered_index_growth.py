"""The ordered index of one fragment played through, key by key: what resources/ndb/ordered_index.json tells.

    .venv/bin/python tests/ndb/ordered_index_growth.py      # mean entries of a node, by how keys come

A balanced tree of nodes with many entries each. A key goes into the node whose entries it lies between; a
full node gives its lowest entry to the node just before it, which is a new one when that has no room either.
Written after Dbtux of NDB (searchToAdd, treeAdd, treeAddFull, treeRotateDouble); 14.5 entries for keys in
order and 19.8 for random ones are what memory_per_fragment of 7.4.10 shows.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterable

Key = tuple[float, ...]
SLACK = 2
"""Entries that a node with two children may lack."""


class Node:
    """Entries in order, children below and above them."""

    def __init__(self) -> None:
        self.entries: list[Key] = []
        self.child: list[Node | None] = [None, None]
        self.parent: Node | None = None
        self.side = 0
        self.balance = 0


class OrderedIndex:
    """The tree of one fragment."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.root = Node()
        self.nodes = 1

    def insert(self, key: Key) -> None:
        """Stores a key."""
        node, below, bottom = self.root, None, None
        while True:
            is_above = bool(node.entries) and key > node.entries[0]
            if (child := node.child[is_above]) is not None:
                if is_above:
                    below = node
                node = child
                continue
            if not is_above and below is not None:
                bottom, node = node, below
            break
        at = bisect_left(node.entries, key)
        if bottom is not None and at == len(node.entries):
            node, at = bottom, 0
        self._add(node, at, key)

    def _add(self, node: Node, at: int, key: Key) -> None:
        if len(node.entries) < self.most:
            node.entries.insert(at, key)
            return
        before, side = node, 0
        child = node.child[0]
        while child is not None:
            before, side, child = child, 1, child.child[1]
        node.entries.insert(at, key)
        lowest = node.entries.pop(0)
        if before is not node and len(before.entries) < self.most:
            before.entries.append(lowest)
            return
        new = Node()
        new.entries.append(lowest)
        self.nodes += 1
        self._hang(before, side, new)
        self._balance(before, side)

    def _hang(self, parent: Node | None, side: int, node: Node | None) -> None:
        if parent is None:
            assert node is not None
            self.root = node
        else:
            parent.child[side] = node
        if node is not None:
            node.parent, node.side = parent, side

    def _balance(self, node: Node | None, side: int) -> None:
        while node is not None:
            weight = (-1, 1)[side]
            if node.balance == weight:
                child = node.child[side]
                assert child is not None
                if child.balance == weight:
                    self._rotate(node, child, side)
                else:
                    self._rotate_twice(node, child, side)
                return
            node.balance += weight
            if node.balance == 0:
                return
            node, side = node.parent, node.side

    def _rotate(self, top: Node, child: Node, side: int) -> None:
        parent, side_of_top = top.parent, top.side
        self._hang(top, side, child.child[1 - side])
        self._hang(parent, side_of_top, child)
        self._hang(child, 1 - side, top)
        top.balance = child.balance = 0

    def _rotate_twice(self, top: Node, child: Node, side: int) -> None:
        middle = child.child[1 - side]
        assert middle is not None
        parent, side_of_top = top.parent, top.side
        if middle.child == [None, None]:
            self._fill(middle, child, side)
        self._hang(child, 1 - side, middle.child[side])
        self._hang(top, side, middle.child[1 - side])
        self._hang(parent, side_of_top, middle)
        self._hang(middle, side, child)
        self._hang(middle, 1 - side, top)
        weight = (-1, 1)[side]
        child.balance = weight if middle.balance == -weight else 0
        top.balance = -weight if middle.balance == weight else 0
        middle.balance = 0

    def _fill(self, middle: Node, child: Node, side: int) -> None:
        """A leaf that gets two children takes entries of the one that was above it."""
        lacks = self.most - SLACK - len(middle.entries)
        if lacks <= 0:
            return
        if side == 0:
            middle.entries[:0] = child.entries[-lacks:]
            del child.entries[-lacks:]
        else:
            middle.entries += child.entries[:lacks]
            del child.entries[:lacks]


def mean_entries(keys: Iterable[Key], most: int) -> float:
    """Entries of a node on average once these keys have come."""
    index, count = OrderedIndex(most), 0
    for key in keys:
        index.insert(key)
        count += 1
    return count / index.nodes


def in_order(rows: int) -> list[Key]:
    """Keys in order."""
    return [(row,) for row in range(rows)]


def at_random(rows: int, seed: int = 1) -> list[Key]:
    """Keys in no order."""
    keys = random.Random(seed)
    return [(keys.random(),) for _ in range(rows)]


def of_values(rows: int, values: int, seed: int = 1) -> list[Key]:
    """Keys of so many values; equal ones lie in the order of their rows."""
    keys = random.Random(seed)
    return [(keys.randrange(values), row) for row in range(rows)]


if __name__ == "__main__":
    for most in (27, 28, 29):
        print(most, mean_entries(in_order(40_000), most), mean_entries(at_random(40_000), most))
    for values in (2, 5, 20, 100, 1000, 10_000):
        print(values, mean_entries(of_values(40_000, values), 28))
