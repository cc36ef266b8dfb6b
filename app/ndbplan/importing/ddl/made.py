"""A CREATE TABLE and what is done to its table later, kept as words until the table is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ndbplan.importing.ddl.alter_table import Change
from ndbplan.importing.ddl.character_sets import Stated
from ndbplan.importing.ddl.known_tables import TableName
from ndbplan.importing.ddl.tokens import Word

_MOST_SEARCHED = 8
_TABLES_SEARCHED = 3
"""In so many tables of a text, that many changes are searched for; in others only the first one."""
_MOST_CHANGES = 1000
"""Of one table: each looks through its columns or indexes."""


@dataclass
class Made:
    """A CREATE TABLE behind its name, and what is done to the table later."""

    name: TableName
    words: list[Word]
    start: int
    end: int
    logs: bool
    charset: Stated
    """That of its database when it is made."""
    changes: list[Change] = field(default_factory=list)
    is_copy: bool = False
    """Whether LIKE makes it of another table, of which the notes have been given."""

    is_full: bool = False
    """Whether changes have been left out because there are so many."""

    @property
    def length(self) -> int:
        """Words that make the table."""
        return len(self.words) + sum(len(change.words) for change in self.changes)

    def take(self, changes: list[Change]) -> str:
        """Add changes; what is to be said of those that are left out, once."""
        room, was_full = _MOST_CHANGES - len(self.changes), self.is_full
        self.changes += changes[:room]
        self.is_full |= len(changes) > room
        if was_full or not self.is_full:
            return ""
        return f"has {_MOST_CHANGES} changes by now; this and further ones are left out"

    def keep_most(self, make: Callable[[], bool], tables: Iterator[int]) -> Iterator[tuple[Change, int]]:
        """Take out each change with which the table cannot be made, and make it; `tables` counts such tables.

        Gives those, and how many behind them go along: all behind the last one that is searched for.
        """
        if make():
            return
        most = _MOST_SEARCHED if next(tables) < _TABLES_SEARCHED else 1
        for searched in range(1, most + 1):
            if searched > 1 and make():
                return
            changes, good, bad = self.changes, 0, len(self.changes)
            while bad - good > 1:
                middle = (good + bad) // 2
                self.changes = changes[:middle]
                good, bad = (middle, bad) if make() else (good, middle)
            self.changes = changes[:bad]
            make()
            rest = changes[bad:] if searched < most else []
            yield changes[good], len(changes) - bad - len(rest)
            self.changes = [*changes[:good], *rest]
        make()


class TablespaceName(NamedTuple):
    """A tablespace that a table asks for, with the place of its name."""

    name: str
    line: int
    column: int
