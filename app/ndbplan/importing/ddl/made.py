"""A CREATE TABLE and what is done to its table later, kept as words until the table is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ndbplan.importing.ddl.alter_table import Change
from ndbplan.importing.ddl.known_tables import TableName
from ndbplan.importing.ddl.tokens import Word

_MOST_SEARCHED = 8


@dataclass
class Made:
    """A CREATE TABLE behind its name, and what is done to the table later."""

    name: TableName
    words: list[Word]
    start: int
    end: int
    logs: bool
    changes: list[Change] = field(default_factory=list)
    is_copy: bool = False
    """Whether LIKE makes it of another table, of which the notes have been given."""

    def keep_most(self, make: Callable[[], bool]) -> Iterator[tuple[Change, int]]:
        """Take out each change with which the table cannot be made, and make it.

        Gives those, and how many behind them go along: all behind the last one that is searched for.
        """
        for searched in range(1, _MOST_SEARCHED + 1):
            if make():
                return
            changes, good, bad = self.changes, 0, len(self.changes)
            while bad - good > 1:
                middle = (good + bad) // 2
                self.changes = changes[:middle]
                good, bad = (middle, bad) if make() else (good, middle)
            self.changes = changes[:bad]
            make()
            rest = changes[bad:] if searched < _MOST_SEARCHED else []
            yield changes[good], len(changes) - bad - len(rest)
            self.changes = [*changes[:good], *rest]
        make()


class TablespaceName(NamedTuple):
    """A tablespace that a table asks for, with the place of its name."""

    name: str
    line: int
    column: int
