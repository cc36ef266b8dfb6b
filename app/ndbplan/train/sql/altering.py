"""ALTER TABLE of a table of NDB, and CREATE and DROP INDEX: what a table becomes, and what is refused.

Texts, codes and warnings: recorded on running 8.4.8 and 7.4.10 clusters.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ndbplan.base.units import whole_number
from ndbplan.edits import validated
from ndbplan.estimate.stored import distribute
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import said
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.operations.schema import create_table
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.train.contents import NOTHING
from ndbplan.train.object_ids import changed
from ndbplan.train.schema import Wrote, room_left
from ndbplan.train.sql import foreign_keys, storage
from ndbplan.train.sql.character_sets import altered, with_charset
from ndbplan.train.sql.converting import check_unique, converted
from ndbplan.train.sql.created import AS_TYPED, BESIDE, COMMENT
from ndbplan.train.sql.defining import (
    DEFINED_S,
    Asked,
    Done,
    Name,
    exchanged,
    ok,
    online_warning,
    taken,
)
from ndbplan.train.sql.dictionary_full import check_more
from ndbplan.train.sql.expressions_altered import gone_with
from ndbplan.train.sql.foreign_keys import ForeignKey
from ndbplan.train.sql.in_place import clauses_of, copies_always, renamed, switches_keys, why_copied
from ndbplan.train.sql.new_tables import check_disks, hashed_nulls, raise_for
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, no_table, of_ndb, syntax
from ndbplan.train.sql.referring import has_orphans
from ndbplan.train.sql.refused import met
from ndbplan.train.sql.server import last_number
from ndbplan.train.sql.stated_words import doubled
from ndbplan.train.sql.table_comments import check_comment, check_comments_of_columns, in_words
from ndbplan.train.sql.too_large import raise_over
from ndbplan.train.typed_memory import refused_for_index

COPIED_ROWS_PER_S = 17_000.0
"""Rows that ALGORITHM=COPY copies in a second [8.4.8, one connection, small machine: 100,000 in 5.9 s]."""
NO_LOCK = "LOCK=NONE/SHARED is not supported for this operation. Try LOCK=EXCLUSIVE."
INDEXED_ROWS_PER_S = 88_000.0
"""Rows that a new index takes in a second [8.4.8, the same machine: 100,000 in 1.1 s]."""
_TYPE_NAMES = frozenset(
    name.upper() for kind in COLUMN_TYPES.values() for name in (kind.name, *kind.ddl_names)
)
_NO_TYPE = frozenset(("KEY", "INDEX", "UNIQUE", "PRIMARY", "FOREIGN", "FULLTEXT", "SPATIAL", "CONSTRAINT"))
TWICE = re.compile(r"column '([^']{1,64})' is there twice")
_NO_SUCH = re.compile(r"there is no (?:column|index) (\S{1,64});")
_NOT_A_COLUMN = re.compile(r"column (\S{1,64}) is not among those of the table")
OF_FOREIGN_KEY = re.compile(r"FOREIGN KEY(?: to \S{1,64})?: planned as its index")
"""What is said of a foreign key that a plan holds in words."""
_OF_NO_ROW = re.compile(
    r"ALTER TABLE ... (?:FORCE|ORDER BY|(?:EN|DIS)ABLE KEYS) is not followed"
    r"|ALTER TABLE: passed over|AUTO_INCREMENT=[0-9]{1,20}: .{1,30} rows"
)
"""What changes nothing that a plan holds, and is followed here."""
_NOT_BEFORE = re.compile(r"no column (\S{1,64}) to stand behind")
_DROPS_KEY = re.compile(r"ALTER TABLE ... DROP FOREIGN is not followed")


def with_new_keys(asked: Asked, after: Plan, table: Table, old: Sequence[ForeignKey]) -> Plan:
    """The plan with a table whose foreign keys are looked at and have names. Raises SqlError."""
    if not foreign_keys.unnamed(table, after.version):
        return after
    state = asked.cluster.state
    ids = changed(
        state.ids, after, state.emptied, lambda one: distribute(after, one).hash_map_name
    )  # fmt: skip
    keys = foreign_keys.keys_of(after, table, ids)
    alters = asked.words[0].upper == "ALTER"
    for key, typed in zip(keys, foreign_keys.unnamed(table, after.version), strict=True):
        if key not in old:
            foreign_keys.check_new(after, table, key, typed.name, checks=asked.checks, alters=alters)
            before = asked.known(Name(table.database, table.name)) if alters and asked.checks else None
            if before is not None and has_orphans(asked.cluster, before, key):
                text = f"Got error {foreign_keys.ORPHANS} 'rows of the table have no parent row' from NDB"
                raise foreign_keys.cannot_add(text, 1296)
    foreign_keys.check_names(after, keys, but=table)
    return exchanged(after, table, foreign_keys.with_keys(table, keys, after.version))


_UNREAD = re.compile(r"(?:column (\S+): )?(\S+) is not (?:used|known here); it is left out\Z")
_NOT_READ_HERE = frozenset((
    "ASCII", "BYTE", "ENGINE_ATTRIBUTE", "INVISIBLE", "NOT", "SECONDARY_ENGINE_ATTRIBUTE", "SRID", "UNICODE",
))  # fmt: skip
"""Words of a column that servers read and the reader of statements does not (manual 8.4, CREATE TABLE)."""


def check_words(asked: Asked, said: Iterable[str]) -> None:
    """Raises SqlError 1064 at the first word of a column that no server reads, of problems of the reader."""
    for message in said:
        found = _UNREAD.match(message)
        if found is None or found[2].upper() in _NOT_READ_HERE:
            continue
        after = next((word.end for word in asked.words if word.text == found[1]), 0)
        unread = next((one for one in asked.words if one.text == found[2] and one.start >= after), None)
        if unread is not None:
            raise syntax(asked.sql[unread.start :])


def check_types(asked: Asked) -> None:
    """Raises SqlError 1064 at the first word behind the name of a column that is no type."""
    depth, closed, opens = 0, False, ""
    for before, name, kind in zip(asked.words, asked.words[1:], asked.words[2:], strict=False):
        is_expression = before.text == "(" and opens in ("CHECK", "AS")
        opens = before.upper
        depth += (before.text == "(") - (before.text == ")")
        closed |= before.text == ")" and depth == 0
        is_column = (
            before.text in ("(", ",")
            and depth <= 1
            and not (closed or is_expression)
            and name.upper not in _NO_TYPE
            and name.kind in ("word", "name")
        )
        if is_column and kind.kind == "word" and kind.upper not in _TYPE_NAMES:
            raise syntax(asked.sql[kind.start :])


_CHANGES = frozenset((
    "ADD", "ALTER", "ALGORITHM", "AUTO_INCREMENT", "AVG_ROW_LENGTH", "CHANGE", "CHARACTER", "CHARSET",
    "CHECK", "CHECKSUM", "COALESCE", "COLLATE", "COMMENT", "CONNECTION", "CONVERT", "DEFAULT",
    "DELAY_KEY_WRITE", "DISABLE", "DISCARD", "DROP", "ENABLE", "ENCRYPTION", "ENGINE", "EXCHANGE",
    "FORCE", "IMPORT", "KEY_BLOCK_SIZE", "LOCK", "MAX_ROWS", "MIN_ROWS", "MODIFY", "OPTIMIZE", "ORDER",
    "PACK_KEYS", "PARTITION", "PASSWORD", "REBUILD", "REMOVE", "RENAME", "REORGANIZE", "REPAIR",
    "ROW_FORMAT", "SECONDARY_LOAD", "STATS_PERSISTENT", "STORAGE", "TABLESPACE", "TRUNCATE", "UNION",
    "UPGRADE", "VALIDATION", "WITH", "WITHOUT", "ANALYZE", "STATS_AUTO_RECALC", "STATS_SAMPLE_PAGES",
    "INSERT_METHOD", "DATA", "INDEX", "SECONDARY_ENGINE",
))  # fmt: skip
"""Words that a change of a table may begin with: the manual, ALTER TABLE."""
_NAMES_COLUMN = {"ADD": 1, "MODIFY": 1, "CHANGE": 2}
"""Changes that name a column and its type, and how many names stand before the type."""


def refused(asked: Asked, message: str, table: str = "") -> None:
    """Raises what a server says of what a text that was read has wrong; nothing: it says nothing of it."""
    if match := TWICE.search(message):
        raise SqlError(1060, "42S21", f"Duplicate column name '{match[1]}'")
    if match := _NO_SUCH.search(message):
        raise _no_such(asked, match[1], table)
    if match := _NOT_A_COLUMN.search(message):
        raise SqlError(1072, "42000", f"Key column '{match[1]}' doesn't exist in table")


def _no_such(asked: Asked, name: str, table: str) -> SqlError:
    """What is said of a column or an index that is to be changed and is not there, by the change."""
    for one in clauses_of(asked):
        words = [word.lower() for word in one.words]
        if name.lower() not in words[1:4] or one.verb == "DROP":
            continue
        if one.verb == "RENAME" and words[1] in ("index", "key"):
            return SqlError(1176, "42000", f"Key '{name}' doesn't exist in table '{table}'")
        if one.verb in ("MODIFY", "CHANGE", "ALTER", "RENAME"):
            return SqlError(1054, "42S22", f"Unknown column '{name}' in '{table}'")
    return SqlError(1091, "42000", f"Can't DROP '{name}'; check that column/key exists")


def check_altered(asked: Asked) -> None:
    """Raises SqlError 1064 for a change that ALTER TABLE does not know, or a column without a type."""
    words, depth = asked.words, 0
    if words[0].upper != "ALTER":
        return
    begins = next((at for at, one in enumerate(words) if one.upper == "TABLE"), 0) + 2
    while begins < len(words) and words[begins].text == ".":
        begins += 2
    for at in range(begins, len(words)):
        depth += (words[at].text == "(") - (words[at].text == ")")
        if depth or (at != begins and words[at - 1].text != ","):
            continue
        if words[at].kind == "word" and words[at].upper not in _CHANGES:
            raise syntax(asked.sql[words[at].start :])
        names = _NAMES_COLUMN.get(words[at].upper, 0)
        if not names:
            continue
        named = at + 1 + (at + 1 < len(words) and words[at + 1].upper == "COLUMN")
        place = named + names
        if named >= len(words) or (words[named].upper not in _NO_TYPE and place >= len(words)):
            raise syntax("")
        kind = words[place] if place < len(words) else None
        plain = words[named].upper not in (*_NO_TYPE, "PARTITION") and words[named].text != "("
        if plain and kind is not None and kind.kind == "word" and kind.upper not in _TYPE_NAMES:
            raise syntax(asked.sql[kind.start :])
    check_types(asked)


def become_altered(asked: Asked, typed: Name) -> Done:
    """The statement behind the one that would make the table as it is: what they make together."""
    table = asked.known(typed)
    if table is None:
        raise no_table(*asked.name(typed))
    if (asked.option("LOCK") or "").upper() == "NONE":
        raise SqlError(1845, "0A000", NO_LOCK)
    gone = gone_with(asked, table)
    check_comment(asked)
    text = f"{with_charset(create_table(asked.plan, table), table, asked.plan.version)}\n{asked.sql}"
    read = read_ddl(text, asked.plan.version, table.database)
    dropped = _dropped_keys(asked, table)
    for problem in read.problems:
        message = problem.message
        if OF_FOREIGN_KEY.search(message) or (dropped and _DROPS_KEY.search(message)):
            continue
        refused(asked, message, table.name)
        if match := _NOT_BEFORE.search(message):
            raise SqlError(1054, "42S22", f"Unknown column '{match[1]}' in '{table.name}'")
        raise_over(message, asked)
        if _OF_NO_ROW.search(message) or raise_for(message, asked):
            continue
        check_altered(asked)
        check_words(asked, (message,))
        raise NotSimulated(f"a plan cannot hold this: {message}")
    after = taken(asked, read)
    read_back = next(one for one in after.tables if one.id == table.id)
    new = _as_known(asked, table, read_back)
    after = exchanged(after, read_back, new)
    kept = tuple(key for key in foreign_keys.keys_of(asked.plan, table) if key.name.lower() not in dropped)
    foreign_keys.check_altered(asked.plan, table, new, kept, checks=asked.checks)
    added = foreign_keys.unnamed(new, asked.plan.version)
    check_comments_of_columns(new)
    told = _with_words(asked, table, new, gone)
    told = storage.when_altered(table, told, asked.words, renamed(clauses_of(asked)))
    whole = foreign_keys.with_keys(told, (*kept, *added), asked.plan.version)
    after = with_new_keys(asked, exchanged(after, new, whole), whole, kept)
    new = next(one for one in after.tables if one.id == table.id)
    after = exchanged(after, new, altered(new, asked.words, asked.plan.version))
    return _altered(asked, table, new, after)


_OF_CONTENT = ("average_bytes", "null_fraction", "assumed")
"""What a plan knows of a column and no statement says."""


def _as_known(asked: Asked, old: Table, new: Table) -> Table:
    """The table that was read back, with what the plan knows of the content of columns that stay."""
    names = renamed(clauses_of(asked))
    before = {names.get(column.name.lower(), column.name): column for column in old.columns}
    columns = tuple(
        one.model_copy(update={name: getattr(before[one.name], name) for name in _OF_CONTENT})
        if one.name in before and one.type == before[one.name].type
        else one
        for one in new.columns
    )
    # AUTO_INCREMENT = n says nothing of rows that are there.
    kept = {"columns": columns, "rows": old.rows, "assumed": old.assumed}
    return new.model_copy(update=kept)


def _comment(asked: Asked) -> str | None:
    """The comment that a statement gives the table; None: it stays."""
    return next((one.words[-1] for one in clauses_of(asked) if one.verb == "COMMENT"), None)


def _with_words(asked: Asked, old: Table, new: Table, gone: Collection[str]) -> Table:
    """The table with what it keeps in words: those that it had, and those of another comment."""
    comment = _comment(asked)
    read = [one for one in new.left_out if not one.startswith("COMMENT of the table")]
    had = [
        one for one in old.left_out
        if one not in (*read, *gone)
        and not (comment is not None and one.startswith((COMMENT, BESIDE, AS_TYPED)))
    ]  # fmt: skip
    words = (*had, *read, *([] if comment is None else in_words(comment)))
    return new if words == new.left_out else validated.changed(new, left_out=words)


def _dropped_keys(asked: Asked, table: Table) -> set[str]:
    """Names of foreign keys that DROP FOREIGN KEY takes away. Raises SqlError for one that is not there."""
    there = {key.name.lower() for key in foreign_keys.keys_of(asked.plan, table)}
    found = set()
    for at, word in enumerate(asked.words[:-3]):
        said = [one.upper for one in asked.words[at : at + 3]]
        if said == ["DROP", "FOREIGN", "KEY"] and word.kind == "word":
            name = asked.words[at + 3].text
            if name.lower() not in there:
                raise SqlError(1091, "42000", f"Can't DROP '{name}'; check that column/key exists")
            found.add(name.lower())
    return found


def _altered(asked: Asked, old: Table, new: Table, after: Plan) -> Done:
    rows = asked.cluster.rows_of(old)
    before = {column.name: column for column in old.columns}
    names = {name.lower() for name in renamed(clauses_of(asked)).values()}
    added = [one for one in new.columns if one.name not in before and one.name.lower() not in names]
    if switches_keys(clauses_of(asked)):
        note = Warned("Note", 1031, f"Table storage engine for '{old.name}' doesn't have this option")
        return ok(asked, 0, DEFINED_S, (note,))
    by_server = copies_always(clauses_of(asked))
    why = why_copied(asked, old, new)
    algorithm = (asked.option("ALGORITHM") or "").upper()
    if algorithm == "INSTANT":
        text = "ALGORITHM=INSTANT is not supported for this operation. Try ALGORITHM=COPY/INPLACE."
        raise SqlError(1845, "0A000", text)
    if (why or by_server) and (algorithm == "INPLACE" or asked.how == "ONLINE"):
        if by_server or not form(asked.plan.version, "inplace_reasons"):
            text = "ALGORITHM=INPLACE is not supported for this operation. Try ALGORITHM=COPY."
            raise SqlError(1845, "0A000", text, online_warning(asked.how, asked.plan.version))
        raise SqlError(
            1846, "0A000", f"ALGORITHM=INPLACE is not supported. Reason: {why}. Try ALGORITHM=COPY."
        )
    check_disks(new, old.name, asked.plan.version)
    copies = bool(why) or by_server or algorithm == "COPY" or asked.how == "OFFLINE"
    check_more(asked, old, after)
    indexes = [index for index in new.indexes if index not in old.indexes]
    # An index begins with pages of its own, also one of rows that were typed.
    least = PAGE_BYTES if rows and indexes else 0
    if room_left(asked.cluster.session.simulation, after) < least:
        if not after.features.index_memory_joined:
            # The pages of an ordered index [7.4.10].
            raise of_ndb(said(4252, after.version))
        raise met(625, old.name, after.version)
    if any(index.kind != "ordered" for index in indexes):
        code = refused_for_index(asked.cluster.session.simulation, old, new, rows)
        if code:
            raise met(code, old.name, after.version)
    check_unique(asked, old, new, copies=copies)
    remade, told = converted(asked, old, new, clauses_of(asked)) if copies else ({}, [])
    warnings = [*doubled(asked, new, frozenset(one.name for one in old.indexes)), *told]
    warnings += hashed_nulls(new, old.indexes)
    warnings += [] if copies else [
        Warned("Warning", 1478, f"Converted FIXED field '{one.name}' to DYNAMIC to enable online ADD COLUMN")
        for one in added
        if one.column_format == "default"
    ]  # fmt: skip
    lasts_s = DEFINED_S + (rows / COPIED_ROWS_PER_S if copies else len(indexes) * rows / INDEXED_ROWS_PER_S)
    done = ok(asked, rows if copies else 0, lasts_s, warnings, counts=True, then=after,
              copied=frozenset((old.id,) if copies else ()), remade=remade)  # fmt: skip
    _number_from(asked, old)
    return done


def _number_from(asked: Asked, table: Table) -> None:
    """AUTO_INCREMENT = n: the next row gets n, or the number behind the last one where n is taken."""
    said = next((one.words[-1] for one in clauses_of(asked) if one.verb == "AUTO_INCREMENT"), None)
    wanted = None if said is None else whole_number(said)
    if wanted is None or not any(column.auto_increment for column in table.columns):
        return
    sim = asked.cluster.session.simulation
    held = asked.cluster.state.contents.get(table.id, NOTHING)
    first = max(wanted, last_number(asked.cluster, table) + 1)
    contents = replace(held, counter=max(held.counter, first - 1), numbers_from=first)
    asked.cluster.act(Wrote(table.id, 0, 0.0, contents, at_s=sim.at_s))
