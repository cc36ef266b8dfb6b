"""Character sets and collations of tables and columns as a server tells them, and how long its columns are.

clause("latin1_swedish_ci", version)         # DEFAULT CHARSET=latin1
measures("varchar(40)", "utf8mb4_bin")       # CHARACTER_MAXIMUM_LENGTH 40, CHARACTER_OCTET_LENGTH 160

A table that has not the character set of the server keeps its clause in words (`Table.left_out`), as it
keeps its comment. Sources: SHOW CREATE TABLE and INFORMATION_SCHEMA.COLUMNS of the manual, sql_show.cc of
the server (5.6) and dd/info_schema of 8.0; columns with CHARACTER SET: recorded [8.4.8].
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ndbplan.edits import validated
from ndbplan.importing.ddl.create_table import default_charset
from ndbplan.importing.ddl.stream import Stream
from ndbplan.importing.ddl.tokens import Word
from ndbplan.ndb.charsets import charset_of, default_collation, max_char_bytes
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.console import form
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Table

CHARSET = "DEFAULT CHARSET="
"""How the clause begins that a table keeps."""


def told(name: str, version: NdbVersion) -> str:
    """A character set or collation by the name that the version has for it: utf8 or utf8mb3."""
    return re.sub(r"^utf8(?:mb3)?(?=_|$)", str(form(version, "three_byte_charset")), name)


def clause(collation: str, version: NdbVersion) -> str:
    """The clause of SHOW CREATE TABLE for the collation of a table."""
    charset = charset_of(collation)
    usual = default_collation(version, charset) == collation
    named = not usual or collation in form(version, "collations_always_named")
    behind = f" COLLATE={told(collation, version)}" if named else ""
    return f"{CHARSET}{told(charset, version)}{behind}"


def stated(words: Sequence[Word], version: NdbVersion) -> str | None:
    """The collation that options of a table name; None: none, or that of the server."""
    charset, collation = default_charset(Stream(list(words), 0))
    if collation is None and charset in (None, "default"):
        return None
    named = told(collation or default_collation(version, charset), version)
    return None if named == of_server(version) else named


def options_of(words: Sequence[Word]) -> list[Word]:
    """Words of CREATE TABLE behind its columns."""
    depth = 0
    for at, word in enumerate(words):
        depth += (word.text == "(") - (word.text == ")")
        if word.text == ")" and depth == 0:
            return list(words[at + 1 :])
    return []


_OF_TABLE = ("DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "CONVERT")


def parted(words: Sequence[Word]) -> list[list[Word]]:
    """The changes of ALTER TABLE, as commas part them."""
    parts, depth = [list[Word]()], 0
    begins = next((at for at, one in enumerate(words) if one.upper == "TABLE"), 0) + 2
    while begins < len(words) and words[begins].text == ".":
        begins += 2
    for word in words[begins:]:
        depth += (word.text == "(") - (word.text == ")")
        if word.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def clauses_of(words: Sequence[Word]) -> list[Word]:
    """Words of those clauses of ALTER TABLE that say a character set of the table; none: no clause does."""
    return [word for part in parted(words) if part[0].upper in _OF_TABLE for word in part]


def altered(table: Table, words: Sequence[Word], version: NdbVersion) -> Table:
    """A table behind ALTER TABLE: its columns keep what they have where only the table's own changes."""
    said = clauses_of(words)
    if not any(default_charset(Stream(said, 0))):
        return table
    now = stated(said, version) or of_server(version)
    converted = said[0].upper == "CONVERT"
    columns = []
    for one in table.columns:
        own = of_column(table, one, version)
        plain = own is None or (converted and own == of_server(version))
        columns.append(validated.changed(one, collation=None if plain else own))
    return validated.changed(table, columns=tuple(columns), left_out=kept_by(table, now, version))


def with_charset(text: str, table: Table, version: NdbVersion) -> str:
    """A CREATE TABLE of the plan with the character set of its table, which new columns take."""
    if of_table(table, version) == of_server(version):
        return text
    columns, bracket, options = text.rpartition("\n) ")
    return f"{columns}{bracket}{clause(of_table(table, version), version)} {options}"


def of_server(version: NdbVersion) -> str:
    """The collation of a table that names none."""
    return str(form(version, "table_collation"))


def of_table(table: Table, version: NdbVersion) -> str:
    """The collation of a table."""
    kept = next((one for one in table.left_out if one.startswith(CHARSET)), "")
    charset, _, collation = kept.removeprefix(CHARSET).partition(" COLLATE=")
    return collation or (told(default_collation(version, charset), version) if kept else of_server(version))


def of_column(table: Table, column: Column, version: NdbVersion) -> str | None:
    """The collation of a column; None: it has no text."""
    if not COLUMN_TYPES[column.type].is_text:
        return None
    return told(column.collation or of_server(version), version)


def of_created(table: Table, column: Column, version: NdbVersion) -> list[str]:
    """Words of SHOW CREATE TABLE behind the type of a column; none: it has what its table has."""
    collation, usual = of_column(table, column, version), of_table(table, version)
    # A column without one of its own has what the server has, whatever its table says by now.
    said = column.collation is not None and usual == of_server(version)
    if collation is None or (collation == usual and not (said and form(version, "says_stated_charset"))):
        return []
    charset = charset_of(collation)
    words = [f"CHARACTER SET {charset}"]
    if (
        form(version, "says_stated_charset")
        or told(default_collation(version, charset), version) != collation
    ):
        words.append(f"COLLATE {collation}")
    return words


def kept_by(table: Table, collation: str | None, version: NdbVersion) -> tuple[str, ...]:
    """What a table keeps in words once it has a collation; None: that of the server."""
    others = tuple(one for one in table.left_out if not one.startswith(CHARSET))
    return others if collation in (None, of_server(version)) else (*others, clause(str(collation), version))


_DIGITS = {"tinyint": 3, "smallint": 5, "mediumint": 7, "int": 10, "bigint": 19}
_REAL_DIGITS = {"float": 12, "double": 22}
_DEFAULT_DIGITS = (10, 0)
_TYPE = re.compile(r"(\w+)(?:\((.*)\))?( unsigned)?", re.DOTALL)
_MEMBER = re.compile(r"'((?:[^']|''){0,255})'")


def measures(kind: str, collation: str | None) -> dict[str, Any]:
    """Lengths and digits that INFORMATION_SCHEMA.COLUMNS tells of a type as SHOW CREATE TABLE writes it."""
    match = _TYPE.match(kind)
    name, inside, unsigned = (match[1], match[2] or "", match[3]) if match else (kind, "", None)
    if name in _DIGITS:
        wider = name == "bigint" and unsigned is not None
        return {"NUMERIC_PRECISION": _DIGITS[name] + wider, "NUMERIC_SCALE": 0}
    if name in ("decimal", "bit", *_REAL_DIGITS):
        digits = [int(one) for one in inside.split(",") if one]
        usual = _DEFAULT_DIGITS if name == "decimal" else (_REAL_DIGITS.get(name, 1), None)
        return dict(
            zip(("NUMERIC_PRECISION", "NUMERIC_SCALE"), (*digits, *usual[len(digits) :]), strict=True)
        )
    if name in ("time", "datetime", "timestamp"):
        return {"DATETIME_PRECISION": int(inside or 0)}
    letters = _letters(name, inside)
    if letters is None:
        return {}
    each = 1 if collation is None or COLUMN_TYPES[name].is_blob else max_char_bytes(collation)
    return {"CHARACTER_MAXIMUM_LENGTH": letters, "CHARACTER_OCTET_LENGTH": letters * each}


def _letters(name: str, inside: str) -> int | None:
    """Letters that a column may have, bytes of one that has no letters; None: it has neither."""
    if name in ("enum", "set"):
        lengths = [len(one.replace("''", "'")) for one in _MEMBER.findall(inside)]
        return max(lengths, default=0) if name == "enum" else sum(lengths) + max(0, len(lengths) - 1)
    if name in ("char", "varchar", "binary", "varbinary"):
        return int(inside or 1)
    known = COLUMN_TYPES.get(name)
    return known.most_bytes if known is not None and known.is_blob and name != "json" else None
