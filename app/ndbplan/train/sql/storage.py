"""STORAGE DISK and MEMORY: what a table and its columns say of it, and which columns follow the table.

A column that says nothing lies where its table says, and in memory where it is part of a key. Who said what
is kept with a table in words, as a plan knows only where columns lie. Recorded: STORAGE of whole tables, and
SHOW CREATE TABLE of them and of mixed ones [8.4.8, 7.4.10].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ndbplan.edits import validated
from ndbplan.importing.ddl.tokens import Word
from ndbplan.plan.tables import Table, Tablespace
from ndbplan.train.sql.character_sets import parted

SPACE = "TABLESPACE "
"""How the word of a table begins whose tablespace has no file any more."""
_WORD, _OF = "STORAGE ", " of column "
_COLUMNS = ("ADD", "MODIFY", "CHANGE")


class Said(NamedTuple):
    """What was typed of where a table lies: `DISK`, `MEMORY`, or nothing."""

    table: str
    columns: Mapping[str, str]
    """By name, those that say something."""


def said_of(table: Table) -> Said:
    """What a table says: as it was typed, or as its columns lie."""
    words = [one.removeprefix(_WORD) for one in table.left_out if one.startswith(_WORD)]
    if not words:
        return _as_they_lie(table)
    own = next(one for one in words if _OF not in one)
    columns = {name: where for where, of, name in (one.partition(_OF) for one in words) if of}
    return Said(own.removesuffix("DEFAULT"), columns)


def _as_they_lie(table: Table) -> Said:
    keys = _in_keys(table)
    free = {one.name: one.storage.upper() for one in table.columns if one.name not in keys}
    if set(free.values()) == {"DISK"}:
        return Said("DISK", {})
    return Said("", free if len(set(free.values())) > 1 else {})


def _in_keys(table: Table) -> set[str]:
    return {*table.primary_key, *(name for index in table.indexes for name in index.columns)}


def when_made(table: Table, words: Sequence[Word]) -> Table:
    """A new table, with what its CREATE TABLE says of storage."""
    begin = next(at for at, word in enumerate(words) if word.text == "(")
    depth, end = 0, begin
    for end in range(begin, len(words)):
        depth += (words[end].text == "(") - (words[end].text == ")")
        if not depth:
            break
    return _with(table, Said(_behind(words[end:]), dict(_of_columns(words[begin : end + 1]))))


def when_altered(old: Table, new: Table, words: Sequence[Word], renamed: Mapping[str, str]) -> Table:
    """What ALTER TABLE made, with columns that say nothing where the table now says.

    `renamed`: columns that have another name, in small letters, and the name.
    """
    if words[0].upper != "ALTER":
        return new
    own, columns = said_of(old)
    columns = {renamed.get(name.lower(), name): where for name, where in columns.items()}
    for clause in parted(words):
        if clause[0].upper in _COLUMNS:
            place = 1 + (len(clause) > 1 and clause[1].upper == "COLUMN") + (clause[0].upper == "CHANGE")
            for name, where in _of_columns(clause[place:], empty=True):
                columns = {known: said for known, said in columns.items() if known.lower() != name.lower()}
                columns |= {name: where} if where else {}
        elif any(_is_storage(word) for word in clause):
            own = _behind(clause)
    keys, stated = _in_keys(new), {name.lower(): where.lower() for name, where in columns.items()}
    usual = own.lower() or "memory"
    lying = tuple(
        one.model_copy(update={"storage": where}) if where != one.storage else one
        for one in new.columns
        for where in [stated.get(one.name.lower(), "memory" if one.name in keys else usual)]
    )
    return _with(validated.changed(new, columns=lying), Said(own, columns))


def _is_storage(word: Word) -> bool:
    return word.kind == "word" and word.upper == "STORAGE"


def _behind(words: Sequence[Word]) -> str:
    """`DISK` or `MEMORY`, where STORAGE [=] says so."""
    for at, word in enumerate(words):
        if _is_storage(word):
            said = next((one.upper for one in words[at + 1 : at + 3] if one.text != "="), "")
            return said if said in ("DISK", "MEMORY") else ""
    return ""


def _of_columns(words: Sequence[Word], *, empty: bool = False) -> Iterator[tuple[str, str]]:
    """Names of columns that are defined, in brackets or one by itself, and what they say; `empty`: all."""
    items, depth, most = [list[Word]()], 0, int(bool(words) and words[0].text == "(")
    for word in words:
        depth += (word.text == "(") - (word.text == ")")
        if word.text == "," and depth == most:
            items.append([])
        elif not (most and ((word.text == "(" and depth == 1) or depth == 0)):
            items[-1].append(word)
    for item in items:
        where = _behind(item)
        if item and (where or empty):
            yield item[0].text, where


def _with(table: Table, said: Said) -> Table:
    """The table with what it says, where that is not how its columns lie by themselves."""
    there = {one.name.lower(): one.name for one in table.columns}
    kept = {there[name.lower()]: where for name, where in said.columns.items() if name.lower() in there}
    gone = (_WORD,) if table.tablespace_id is None else (_WORD, SPACE)
    words = [one for one in table.left_out if not one.startswith(gone)]
    if Said(said.table, kept) != _as_they_lie(table):
        words += [f"{_WORD}{said.table or 'DEFAULT'}"]
        words += [f"{_WORD}{where}{_OF}{name}" for name, where in kept.items()]
    return table if tuple(words) == table.left_out else validated.changed(table, left_out=tuple(words))


def without_file(table: Table, space: str) -> Table:
    """A table of no rows on disk, whose tablespace has lost its last file: its name is all that is left."""
    return validated.changed(table, tablespace_id=None, left_out=(*table.left_out, f"{SPACE}{space}"))


def with_file(table: Table, space: Tablespace) -> Table:
    """The same when the tablespace has got a file again."""
    words = tuple(one for one in table.left_out if not one.startswith(SPACE))
    return validated.changed(table, tablespace_id=space.id, left_out=words)


def named_space(table: Table) -> str:
    """The tablespace without a file that a table names; empty: none."""
    return next((one.removeprefix(SPACE) for one in table.left_out if one.startswith(SPACE)), "")
