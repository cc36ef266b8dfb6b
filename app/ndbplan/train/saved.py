"""Rows that a backup holds of one table, and what a table holds when some of them come back.

    saved = Saved(table, held)               # the rows at the moment of the backup
    share = saved.share(0.25, 0.5)           # what the second of four equal files has of it
    back = brought_back(share, held_now)     # what the table holds then

Rows that were typed come back with the values that they had, and samples as samples, also where others stand
in their place by now. Rows that came since stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple
from zlib import crc32

from ndbplan.plan.tables import Table
from ndbplan.train.contents import Contents, Held, Key


class Saved(NamedTuple):
    """What a backup holds of a table."""

    table: Table
    """With all its rows."""
    held: Held

    def share(self, begins: float, ends: float) -> Share:
        """What lies between two shares of all: a row that was typed by its key, of others so many."""
        known = self.held.contents
        samples = max(0, self.held.planned - len(known.gone))
        return Share(
            self.held, begins, ends,
            round(samples * ends) - round(samples * begins),
            tuple(key for key in known.rows if begins <= _place(key) < ends),
        )  # fmt: skip


class Share(NamedTuple):
    """What one file of a backup holds of a table."""

    held: Held
    begins: float
    ends: float
    samples: int
    """Rows that nobody typed."""
    typed: tuple[Key, ...]

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.samples + len(self.typed)

    def has_sample(self, key: Key) -> bool:
        """Whether it holds the row of this key, as nobody typed it."""
        return self.begins <= _place(key) < self.ends and self.held.is_sample(key)


class Back(NamedTuple):
    """What a table holds when rows have come back."""

    contents: Contents
    typed: int
    """Rows more by what is typed now, without samples that are gone; less, below zero."""
    planned: int
    """Rows more that nobody typed."""


def brought_back(share: Share, now: Held) -> Back:
    """What a table holds with the rows of one file written over its own."""
    old = now.contents
    # A column that came since has its default.
    of_new = {one.name: None if one.default is None else one.default.strip("'") for one in now.table.columns}
    over = [key for key in old.rows if share.has_sample(key)]
    rows = {key: share.held.find(key) or {} for key in share.typed}
    put = {key: {name: row.get(name, value) for name, value in of_new.items()} for key, row in rows.items()}
    after = now.with_changes(put, over)
    known = share.held.contents
    gone_before = {key for key in known.gone if key not in old.gone and not now.is_sample(key)}
    planned = max(0, min(share.samples + len(gone_before), share.held.planned - now.planned))
    gone = {key for key in after.gone if not share.has_sample(key)} | (gone_before if planned else set())
    contents = replace(
        after,
        gone=frozenset(gone),
        counter=max(after.counter, known.counter),
        numbers_from=max(after.numbers_from, known.numbers_from),
        is_vague=after.is_vague or known.is_vague,
    )
    typed = len(contents.rows) - len(contents.gone) - len(old.rows) + len(old.gone)
    return Back(contents, typed, planned)


def _place(key: Key) -> float:
    """Where a key lies among all, from 0 to below 1."""
    return crc32(repr(key).encode()) / 2**32
