"""ALTER TABLE, CREATE and DROP INDEX of tables that a text makes, as dumps split a table into statements.

phpMyAdmin writes columns first, then ADD PRIMARY KEY, ADD KEY, MODIFY ... AUTO_INCREMENT and constraints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from ndbplan.importing.ddl.known_tables import TableName
from ndbplan.importing.ddl.stream import Stream
from ndbplan.importing.ddl.table_names import NamedTable, table_name
from ndbplan.importing.ddl.tokens import Word

_OPTIONS = frozenset(
    {
        "AUTO_INCREMENT", "COMMENT", "ENGINE", "MAX_ROWS", "MIN_ROWS", "ROW_FORMAT", "TABLESPACE", "STORAGE",
        "DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "PARTITION",
    }
)  # fmt: skip
_CHARSET = frozenset({"DEFAULT", "CHARACTER", "CHARSET", "COLLATE"})
_HOW = frozenset({"ALGORITHM", "LOCK"})
"""Says how a table is changed, not what it becomes."""


@dataclass(frozen=True)
class Change:
    """One clause that a table takes on."""

    kind: Literal["add", "modify", "options", "default", "drop", "rename", "one partition", "convert"]
    words: list[Word]
    end: int
    column: str = ""
    """What MODIFY, CHANGE, ALTER, DROP and RENAME are about: a column, or an index of the last two."""
    what: str = ""
    """What DROP and RENAME are about: COLUMN, INDEX or PRIMARY."""
    to: str = ""
    """What RENAME calls it."""
    behind: str | None = None
    """The column that ADD, MODIFY and CHANGE put it behind; empty: it is the first. None: where it is."""

    @property
    def begins(self) -> int:
        """Where its words stand; a clause that ends too soon has none."""
        return self.words[0].start if self.words else self.end


def changes_of(
    tokens: list[Word], end: int, database: str, problems: list[tuple[int, str]]
) -> tuple[NamedTable, list[Change], TableName | None]:
    """The table of ALTER TABLE, CREATE or DROP INDEX, what it takes on, and its new name if it gets one.

    The rest goes to `problems`. Raises Unreadable.
    """
    stream = Stream(tokens, end)
    if stream.accept("CREATE"):
        return (*_index(stream, end, database), None)
    if stream.accept("DROP"):
        stream.expect("INDEX")
        words, name = stream.rest(), stream.name("an index")
        stream.expect("ON")
        return table_name(stream, database), [Change("drop", words, end, name, "INDEX")], None
    stream.expect("ALTER")
    for word in ("ONLINE", "OFFLINE", "IGNORE"):
        stream.accept(word)
    stream.expect("TABLE")
    table = table_name(stream, database)
    changes, new = list[Change](), None
    for clause in _clauses(stream.rest()):
        named = _new_name(clause, database)
        changes += _change(clause, problems) if named is None else ()
        new = named or new
    # Wherever they stand, columns of the statement have the new character set, and CONVERT takes all of them.
    return table, sorted(changes, key=_turn), new


def _turn(change: Change) -> int:
    is_charset = change.kind == "options" and change.words[0].upper in _CHARSET
    return 0 if is_charset else 2 if change.kind == "convert" else 1


def _new_name(clause: list[Word], database: str) -> TableName | None:
    """What RENAME [TO] calls the table; None for another clause."""
    if len(clause) < 2 or clause[0].upper != "RENAME":
        return None
    stream = Stream(clause[1:], clause[-1].end)
    stated = stream.accept("TO") or stream.accept("AS") or stream.accept("=")
    if not stated and stream.peek().upper in ("COLUMN", "INDEX", "KEY"):
        return None
    name = table_name(stream, database).table
    return name if stream.at_end() else None


def _index(stream: Stream, end: int, database: str) -> tuple[NamedTable, list[Change]]:
    """CREATE [UNIQUE] INDEX name ON table (columns): ADD [UNIQUE] INDEX name (columns)."""
    words = stream.rest()
    place = next((i for i, word in enumerate(words) if word.upper == "ON"), None)
    if place is None:
        raise stream.unreadable("ON and a table")
    behind = Stream(words[place + 1 :], end)
    table = table_name(behind, database)
    return table, [Change("add", [*words[:place], *behind.rest()], end)]


def _clauses(words: list[Word]) -> Iterator[list[Word]]:
    clause, depth = list[Word](), 0
    for word, behind in zip_longest(words, words[1:]):
        depth += (word.upper == "(") - (word.upper == ")")
        if depth == 0 and behind is not None and (word.upper, behind.upper) in _BEHIND_ALL:
            # No comma parts it from the clause in front.
            yield clause
            clause = []
        if word.upper == "," and depth == 0:
            yield clause
            clause = []
        else:
            clause.append(word)
    yield clause


_BEHIND_ALL = (("PARTITION", "BY"), ("REMOVE", "PARTITIONING"))


def _change(clause: list[Word], problems: list[tuple[int, str]]) -> Iterator[Change]:
    if not clause:
        return
    end = clause[-1].end
    first, stream = clause[0], Stream(clause[1:], end)
    if first.upper == "ADD":
        stream.accept("COLUMN")
        if stream.accept("("):
            for item in stream.items():
                yield Change("add", item.rest(), end)
        elif stream.peek().upper != "PARTITION":
            words, behind = _with_place(stream.rest())
            yield Change("add", words, end, behind=behind)
        else:
            problems.append((first.start, "ALTER TABLE ... ADD PARTITION is not followed; it is left out"))
    elif first.upper in ("MODIFY", "CHANGE"):
        stream.accept("COLUMN")
        old = stream.name("a column") if first.upper == "CHANGE" else stream.peek().text
        words, behind = _with_place(stream.rest())
        yield Change("modify", words, end, old, behind=behind)
    elif (change := _drop_or_rename(clause, end) or _default_or_charset(clause, end)) is not None:
        yield change
    elif first.upper in _OPTIONS:
        yield Change("options", clause, end)
    elif first.upper not in _HOW:
        what = " ".join(word.text.upper() for word in clause[:2])[:40]
        problems.append((first.start, f"ALTER TABLE ... {what} is not followed; it is left out"))


def _drop_or_rename(clause: list[Word], end: int) -> Change | None:
    """DROP or RENAME of a column, index or primary key; None for another clause."""
    verb, words = clause[0].upper, clause[1:]
    what = {"KEY": "INDEX"}.get(words[0].upper, words[0].upper) if words else ""
    if what in ("COLUMN", "INDEX"):
        words = words[1:]
    elif what == "PRIMARY":
        words = words[2:]
    elif what in ("FOREIGN", "CONSTRAINT", "CHECK", "PARTITION", "TO", "AS"):
        return None
    else:
        what = "COLUMN"
    if verb == "DROP" and len(words) == (what != "PRIMARY"):
        return Change("drop", clause, end, words[0].text if words else "", what)
    if verb == "RENAME" and len(words) == 3 and words[1].upper == "TO":
        return Change("rename", clause, end, words[0].text, what, words[2].text)
    return None


def _default_or_charset(clause: list[Word], end: int) -> Change | None:
    """ALTER of a column's DEFAULT, CONVERT TO or REMOVE PARTITIONING; None for another clause."""
    said = [word.upper for word in clause]
    if said[:2] == ["CONVERT", "TO"]:
        return Change("convert", clause, end)
    if said == ["REMOVE", "PARTITIONING"]:
        return Change("one partition", clause, end)
    place = 2 if said[1:2] == ["COLUMN"] else 1
    if said[0] == "ALTER" and (
        said[place + 1 : place + 3] == ["SET", "DEFAULT"] or said[place + 1 :] == ["DROP", "DEFAULT"]
    ):
        return Change("default", clause[place + 1 :], end, clause[place].text)
    return None


def _with_place(words: list[Word]) -> tuple[list[Word], str | None]:
    """A column without FIRST or AFTER another one, and behind which one it comes."""
    if words and words[-1].upper == "FIRST":
        return words[:-1], ""
    if len(words) > 1 and words[-2].upper == "AFTER":
        return words[:-2], words[-1].text
    return words, None
