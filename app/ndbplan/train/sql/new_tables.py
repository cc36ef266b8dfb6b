"""CREATE TABLE of NDB: what a server refuses of it and in which words, what it takes with a warning.

    check(asked, name)                      # raises SqlError before the columns are read
    raise_for(problem, asked, table)        # what a problem that was read is to the server
    finished(asked, table)                  # the table with what SHOW CREATE TABLE says besides, and warnings

Texts, codes and warnings: recorded on running 8.4.8 and 7.4.10 clusters; those of the SQL layer: its manual.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from ndbplan.base.quoting import sql_text
from ndbplan.base.units import whole_number
from ndbplan.edits import validated
from ndbplan.estimate.stored import distribute
from ndbplan.importing.ddl.tokens import Word
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.console import form
from ndbplan.ndb.placement.fragment_counts import fragments_for
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.train.contents import WHOLE
from ndbplan.train.sql.character_sets import kept_by, of_server, options_of, stated
from ndbplan.train.sql.created import CONNECTION, UNSAID
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.modes import is_strict
from ndbplan.train.sql.partitioning import Clause, check_clause
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, syntax
from ndbplan.train.sql.table_comments import (
    check_comment,
    check_comments_of_columns,
    check_row_format,
    in_words,
    option_text,
    warned_of_comment,
    warned_of_row_format,
    with_comment_typed,
)
from ndbplan.train.sql.too_large import refused_by_ndb
from ndbplan.train.sql.values import Taking

_MOST_BYTES = 65_535
"""Of a VARCHAR column."""


def check(asked: Asked, clause: Clause | None) -> None:
    """Raises what a server says of a statement before its columns count."""
    depth = 0
    for at, word in enumerate(asked.words):
        depth += (word.text == "(") - (word.text == ")")
        begins = depth == 1 and asked.words[at - 1].text in ("(", ",")
        if begins and word.kind == "word" and word.upper in ("FULLTEXT", "SPATIAL"):
            code = 1214 if word.upper == "FULLTEXT" else 1464
            text = f"The used table type doesn't support {word.upper} indexes"
            raise SqlError(code, "HY000", text)
    is_new = bool(form(asked.plan.version, "dictionary_of_its_own"))
    if is_new and (asked.option("ENCRYPTION") or "n").lower() != "n":
        raise SqlError(1178, "42000", "The storage engine for the table doesn't support ENCRYPTION")
    check_comment(asked)
    check_row_format(asked)
    _check_digits(asked)
    _check_letters(asked)
    if clause is not None:
        check_clause(asked, clause)


_DECIMALS = ("DECIMAL", "NUMERIC", "DEC", "FIXED")
_MOST_DIGITS, _MOST_BITS = 65, 53
_MOST_SCALE, _MOST_BITS_SHOWN, _MOST_FRACTION = 30, 64, 6
"""Manual 8.4: DECIMAL, BIT, fractional seconds."""
_MOMENTS = ("TIME", "DATETIME", "TIMESTAMP")
_NO_WORDS = (Word("", 0, "sign"),) * 3


def _check_letters(asked: Asked) -> None:
    """Raises what is said of a VARCHAR longer than a plan can hold one."""
    for name, kind, bracket, number in zip(*(asked.words[at:] for at in range(4)), strict=False):
        length = whole_number(number.text) if kind.upper == "VARCHAR" and bracket.text == "(" else None
        if length is not None and length > _MOST_BYTES:
            behind = [word.upper for word in _item(asked.words[asked.words.index(name) :])]
            charset = next(
                (after for word, after in pairwise(behind) if word in ("SET", "CHARSET")),
                stated(options_of(asked.words), asked.plan.version) or of_server(asked.plan.version),
            )
            raise _too_long(name.text, charset.lower())


def _too_long(column: str, charset: str) -> SqlError:
    most = _MOST_BYTES // _letter_bytes(charset)
    text = f"Column length too big for column '{column}' (max = {most}); use BLOB or TEXT instead"
    return SqlError(1074, "42000", text)


def _check_digits(asked: Asked) -> None:
    """Raises what is said of numbers with more digits than there are."""
    for name, kind, bracket, number, between, behind in zip(
        *((*asked.words, *_NO_WORDS)[at:] for at in range(6)), strict=False
    ):
        digits = whole_number(number.text)
        if bracket.text == "(" and kind.upper in ("ENUM", "SET") and number.text == ")":
            raise syntax(asked.sql[number.start :])
        if bracket.text != "(" or number.kind != "number" or digits is None:
            continue
        scale = whole_number(behind.text) if between.text == "," else None
        if kind.upper in _DECIMALS and scale is not None and scale > _MOST_SCALE:
            text = f"Too big scale {scale} specified for column '{name.text}'. Maximum is {_MOST_SCALE}."
            raise SqlError(1425, "42000", text)
        if kind.upper == "BIT" and digits > _MOST_BITS_SHOWN:
            text = f"Display width out of range for column '{name.text}' (max = {_MOST_BITS_SHOWN})"
            raise SqlError(1439, "42000", text)
        if kind.upper in _MOMENTS and digits > _MOST_FRACTION and asked.plan.features.fractional_seconds:
            said = form(asked.plan.version, "too_many_digits")
            raise SqlError(1426, "42000", said.format(digits=digits, column=name.text, most=_MOST_FRACTION))
        if kind.upper in _DECIMALS and digits > _MOST_DIGITS:
            said = form(asked.plan.version, "too_many_digits")
            text = said.format(digits=digits, column=name.text, most=_MOST_DIGITS)
            raise SqlError(1426, "42000", text)
        if kind.upper in _DECIMALS and scale is not None and scale > digits:
            said = "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column"
            raise SqlError(1427, "42000", f"{said} '{name.text}').")
        if kind.upper == "FLOAT" and digits > _MOST_BITS:
            raise SqlError(1063, "42000", f"Incorrect column specifier for column '{name.text}'")


# What was read, and is something else to the server.


_TAKEN = re.compile(
    r"COMMENT is for people|NDB has no keys on a part of a column; taken whole|CONNECTION changes nothing"
)
"""What a server takes, and shows or forgets."""
_CHECK = re.compile(r"CHECK is looked at by SQL nodes")
_DESCENDING = re.compile(r"DESC in an index changes nothing")
_NO_MODIFIER = re.compile(r"NDB_TABLE has no ")
_TEXT_KEY = re.compile(r"(?:KEY (\S{1,64})|PRIMARY KEY): .{1,20} columns are in no key")
_TWICE_KEY = re.compile(r"KEY (\S{1,64}) is there twice")
_TOO_LONG = re.compile(r"column (\S{1,64}): .{1,40}; its length is ([0-9]{1,9}) at most")
_NULL_KEY = re.compile(r"NULL in the primary key")
_DEFAULT_OF_TEXT = re.compile(r"column (\S{1,64}): DEFAULT .{1,80} of \w{1,20}, which takes expressions only")
_REFUSED_DEFAULT = re.compile(
    r"column (\S{1,64}): (?:AUTO_INCREMENT and |TIMESTAMP NOT NULL without )?DEFAULT.{0,200}; SQL nodes"
)
_NO_LENGTH = re.compile(r"column (\S{1,64}): \w{1,20} without a length")
_CAME_WITH = re.compile(r"column (\S{1,64}): JSON came with")
_MEMBER = re.compile(r"column (\S{1,64}): member '([^']{1,200})' is there twice")
_NO_COLUMNS = re.compile(r"columns: it must have 1 or more")


def raise_for(message: str, asked: Asked) -> bool:
    """Whether a server takes what a problem speaks of. Raises SqlError where it does not."""
    is_new = bool(form(asked.plan.version, "dictionary_of_its_own"))
    if _TAKEN.search(message) or _NO_MODIFIER.search(message) or _TEXT_KEY.search(message):
        return True
    if _CHECK.search(message) and not form(asked.plan.version, "checks_constraints"):
        # Read and forgotten (manual, CREATE TABLE, up to 5.7).
        return True
    if _DESCENDING.search(message):
        if is_new:
            text = "The storage engine for the table doesn't support descending indexes"
            raise SqlError(1178, "42000", text)
        return True
    plain: tuple[tuple[str | re.Pattern[str], int, str, str], ...] = (
        ("AUTO_INCREMENT of a column that is in no key", 1075, "42000",
         "Incorrect table definition; there can be only one auto column and it must be defined as a key"),
        ("a table has one such column", 1075, "42000",
         "Incorrect table definition; there can be only one auto column and it must be defined as a key"),
        ("PRIMARY KEY is there already", 1068, "42000", "Multiple primary key defined"),
        ("a column of its distribution key was not read", 1488, "HY000",
         "Field in list of fields for partition function not found in table"),
        ("is not in the primary key, as SQL nodes ask for", 1503, "HY000",
         str(form(asked.plan.version, "key_has_all"))),
    )  # fmt: skip
    for said, code, state, text in plain:
        if code == 1503 and str(said) in message and not {"PRIMARY", "UNIQUE", "KEY"} & _of_columns(asked):
            # The server looks at primary keys; that there is none NDB says.
            raise refused_by_ndb(asked, 4327)
        if str(said) in message:
            raise SqlError(code, state, text)
    if match := _TWICE_KEY.search(message):
        raise SqlError(1061, "42000", f"Duplicate key name '{match[1]}'")
    if match := _TOO_LONG.search(message):
        text = f"Column length too big for column '{match[1]}' (max = {match[2]}); use BLOB or TEXT instead"
        raise SqlError(1074, "42000", text)
    if _NULL_KEY.search(message) and is_strict(asked.cluster):
        text = "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead"
        raise SqlError(1171, "42000", text)
    if match := _DEFAULT_OF_TEXT.search(message):
        kinds = form(asked.plan.version, "kinds_without_default")
        raise SqlError(1101, "42000", f"{kinds} column '{match[1]}' can't have a default value")
    if match := _REFUSED_DEFAULT.search(message):
        raise SqlError(1067, "42000", f"Invalid default value for '{match[1]}'")
    if match := _NO_LENGTH.search(message) or _CAME_WITH.search(message):
        _raise_at_type(asked, match[1], behind="without" in message)
    match = _MEMBER.search(message)
    if match is not None and is_strict(asked.cluster):
        kind = "SET" if " SET " in f" {_words_of(asked, match[1])} " else "ENUM"
        raise SqlError(1291, "HY000", f"Column '{match[1]}' has duplicated value '{match[2]}' in {kind}")
    if "a column of its primary key was not read" in message:
        _raise_for_key(asked)
    if message.startswith("expected a list of columns in parentheses"):
        raise SqlError(*form(asked.plan.version, "no_columns"))
    if _NO_COLUMNS.search(message):
        at = next(at for at, word in enumerate(asked.words) if word.text == "(")
        raise syntax(asked.sql[asked.words[at + 1].start :])
    return False


def _of_columns(asked: Asked) -> set[str]:
    """Words before the options of the table, in capitals."""
    depth, found = 0, set[str]()
    for word in asked.words:
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0 and word.text == ")":
            break
        found.add(word.upper)
    return found


def _raise_for_key(asked: Asked) -> None:
    """Raises SqlError 1072 for the first column of PRIMARY KEY that the table has not."""
    words = asked.words
    there = {one.text.lower() for before, one in pairwise(words) if before.text in ("(", ",")}
    at = next((at for at, one in enumerate(words) if one.upper == "PRIMARY"), len(words))
    inside = next((place for place in range(at, len(words)) if words[place].text == "("), len(words)) + 1
    columns = {one.text.lower() for place, one in enumerate(words) if place < at} & there
    for one in words[inside:]:
        if one.text == ")":
            return
        if one.text != "," and one.text.lower() not in columns:
            raise SqlError(1072, "42000", f"Key column '{one.text}' doesn't exist in table")


def _raise_at_type(asked: Asked, column: str, *, behind: bool) -> None:
    for at, word in enumerate(asked.words[:-2]):
        if word.text.lower() == column.lower() and asked.words[at - 1].text in ("(", ","):
            raise syntax(asked.sql[asked.words[at + 1 + behind].start :])


def _check_ndb_keys(asked: Asked, table: Table) -> None:
    """Raises SqlError for keys that NDB has not, as its own tests have it (ndb_autoinc, ndb_bitfield).

    Without a primary key the hidden one counts up, and no column beside it; no key has bits.
    """
    if not form(asked.plan.version, "dictionary_of_its_own"):
        return
    if not table.primary_key and any(one.auto_increment for one in table.columns):
        raise refused_by_ndb(asked, 4335)
    in_keys = {
        name for names in (table.primary_key, *(one.columns for one in table.indexes)) for name in names
    }
    if any(one.type == "bit" and one.name in in_keys for one in table.columns):
        raise refused_by_ndb(asked, 906)


def finished(asked: Asked, table: Table, clause: Clause | None) -> tuple[Table, list[Warned]]:
    """The table as the server keeps it, and what it warns of. Raises SqlError for what it refuses of it."""
    _check_columns(asked, table)
    _check_ndb_keys(asked, table)
    check_comments_of_columns(table)
    kept = [one for one in table.left_out if not one.startswith(("COMMENT of the table", "CONNECTION of"))]
    connection = option_text(asked, "CONNECTION")
    typed = option_text(asked, "COMMENT")
    kept += in_words(typed)
    if connection:
        kept.append(f"{CONNECTION}{sql_text(connection)}"[:300])
    table = validated.changed(table, left_out=tuple(kept))
    collation = stated(options_of(asked.words), asked.plan.version)
    kept = list(kept_by(table, collation, asked.plan.version))
    warnings = []
    if clause is not None and (clause.kind != "KEY" or clause.linear or clause.parts):
        names = {one.name.lower(): one for one in table.columns}
        if clause.kind != "KEY":
            column = names[clause.column.lower()]
            if column.type not in WHOLE:
                text = f"Field '{column.name}' is of a not allowed type for this type of partitioning"
                raise SqlError(1659, "HY000", text)
            text = f"'PARTITION BY {clause.kind}' for 'ndbcluster' storage engine is deprecated"
            warnings.append(Warned("Warning", 6035, f"{text} and will be removed in a future release."))
        shown = clause.shown
        if clause.kind == "KEY":
            shown = clause.shown_by(",".join(table.distribution_key))
        if len(shown) > 300:
            raise NotSimulated("so many partitions with values are not simulated")
        kept.append(shown)
    warnings += hashed_nulls(table)
    if _is_short_for_rows(asked, table):
        warnings.append(Warned("Warning", 1105, SHORT_FOR_ROWS))
    warnings += warned_of_comment(asked)
    warnings += warned_of_row_format(asked, table)
    has_blobs = any(COLUMN_TYPES[one.type].is_blob for one in table.columns)
    if not table.primary_key and has_blobs and form(asked.plan.version, "dictionary_of_its_own"):
        text = "Table storage engine 'ndbcluster' does not support the create option"
        warnings.append(Warned("Warning", 1478, f"{text} 'Binlog of table with BLOB attribute and no PK'"))
    # What is on disk is logged, whatever the session says (ha_ndbcluster.cc, create).
    logs = table.logging and (asked.logs or table.tablespace_id is not None)
    kept += [UNSAID] * (table.logging and not logs)
    made = validated.changed(table, left_out=tuple(kept), logging=logs)
    return with_comment_typed(asked.plan, made, typed), warnings


HASHED_NULLS = (
    "Ndb does not support unique index on NULL valued attributes, index access with NULL value will become "
    "full table scan"
)
"""mysql-test/suite/ndb/r/ndb_index_unique.result of the product."""


def hashed_nulls(table: Table, known: Collection[Index] = ()) -> Iterator[Warned]:
    """Warnings of unique indexes by hash alone of columns that may be NULL, beside those known."""
    for index in table.indexes:
        nullable = any(table.column(name).nullable for name in index.columns)
        if index.kind == "unique_hash" and nullable and index not in known:
            yield Warned("Warning", 1121, HASHED_NULLS)


def check_disks(new: Table, name: str, version: NdbVersion) -> None:
    """Raises SqlError for columns on disk that no tablespace takes."""
    if new.tablespace_id is None and any(column.storage == "disk" for column in new.columns):
        if not form(version, "dictionary_of_its_own"):
            raise NotSimulated(
                "in which words this release refuses STORAGE DISK without TABLESPACE is not known here"
            )
        inside = Warned("Warning", 3014, "TABLESPACE option must be specified when using STORAGE DISK")
        text = f"Can't create table '{name}' (use SHOW WARNINGS for more info)."
        raise SqlError(1005, "HY000", text, (inside,))


SHORT_FOR_ROWS = "Ndb might have problems storing the max amount of rows specified"


def _is_short_for_rows(asked: Asked, table: Table) -> bool:
    """Whether the hash indexes of its fragments may be too small for MAX_ROWS [8.4.8]."""
    if not table.max_rows or table.partitions is not None:
        return False
    plan = asked.plan.replace(tables=(*asked.plan.tables, table))
    return distribute(plan, table).placement.fragments < fragments_for(table.max_rows)


def _letter_bytes(charset: str) -> int:
    """Bytes that a letter may have."""
    return 4 if "utf8mb4" in charset else 3 if "utf8" in charset else 1


def check_lengths(asked: Asked, table: Table) -> None:
    """Raises what is said of a VARCHAR with more letters than its bytes hold."""
    for one in table.columns:
        if one.type == "varchar" and one.length is not None:
            charset = one.collation or of_server(asked.plan.version)
            if one.length > _MOST_BYTES // _letter_bytes(charset):
                raise _too_long(one.name, charset)


def _check_columns(asked: Asked, table: Table) -> None:
    """Raises what is said of defaults that their columns cannot hold."""
    for one in table.columns:
        if not _can_default(asked, one):
            raise SqlError(1067, "42000", f"Invalid default value for '{one.name}'")
    _check_keys(table, is_new=bool(form(asked.plan.version, "dictionary_of_its_own")))


def _check_keys(table: Table, *, is_new: bool) -> None:
    for key in (table.primary_key, *(index.columns for index in table.indexes)):
        for name in key:
            column = table.column(name)
            if column.type == "json" and is_new:
                text = "supports indexing only via generated columns on a specified JSON path."
                raise SqlError(3152, "42000", f"JSON column '{name}' {text}")
            if column.type == "json":
                raise NotSimulated("what is said of JSON in a key is not known here")
            if COLUMN_TYPES[column.type].is_blob:
                text = f"BLOB column '{name}' can't be used in key specification with the used table type"
                raise SqlError(1073, "42000", text)


def _can_default(asked: Asked, column: Column) -> bool:
    """Whether a column can hold its default."""
    said = _words_of(asked, column.name)
    if "NOT NULL" in said and "DEFAULT NULL" in said:
        return False
    text = column.default
    if text is None or text.startswith("(") or not (text[:1] in "'\"-" or text[:1].isdecimal()):
        return True
    if COLUMN_TYPES[column.type].is_blob or column.type == "timestamp":
        return True
    try:
        Taking(strict=True).take(column, text.strip("'\""), 1)
    except SqlError:
        return False
    return True


def _words_of(asked: Asked, column: str) -> str:
    """The definition of a column, in capitals."""
    for at, word in enumerate(asked.words):
        if word.text.lower() == column.lower() and at and asked.words[at - 1].text in ("(", ","):
            return " ".join(one.upper for one in _item(asked.words[at:]))
    return ""


def _item(words: tuple[Word, ...]) -> Iterator[Word]:
    depth = 0
    for word in words:
        depth += (word.text == "(") - (word.text == ")")
        if depth < 0 or (depth == 0 and word.text == ","):
            return
        yield word
