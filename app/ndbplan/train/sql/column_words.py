"""Columns and keys of CREATE TABLE and ALTER TABLE: what a server says of their words.

    check_columns(asked)        # SqlError: YEAR(2), BIT(0), INT(300), keys of a column twice

Source: sql/field.cc (Create_field::init), sql/sql_table.cc (prepare_create_field, mysql_prepare_create_key)
and sql_yacc.yy of 5.6 to 8.4; manual 5.7, 2-Digit YEAR Limitations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ndbplan.base.units import whole_number
from ndbplan.importing.ddl.tokens import Word
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.console import form
from ndbplan.train.sql.character_sets import parted
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax

_KEYS = ("PRIMARY", "UNIQUE", "KEY", "INDEX", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK")
_CHANGES = {"ADD": 1, "MODIFY": 1, "CHANGE": 2}
"""Changes of ALTER TABLE that say what a column is, and how many words stand before its type."""
_WHOLE = (
    "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT", "INT1", "INT2", "INT3", "INT4", "INT8",
    "MIDDLEINT", "BOOL", "BOOLEAN", "SERIAL",
)  # fmt: skip
_FLOATING = ("FLOAT", "DOUBLE", "REAL", "FLOAT4", "FLOAT8")
_OPTIONS = (
    "ENGINE",
    "COMMENT",
    "CHARSET",
    "COLLATE",
    "AUTO_INCREMENT",
    "MAX_ROWS",
    "TABLESPACE",
    "ROW_FORMAT",
)
_MOST_SHOWN = 255
"""Of the width of a number."""
_TYPES = frozenset(name.upper() for one in COLUMN_TYPES.values() for name in (one.name, *one.ddl_names))


def check_columns(asked: Asked) -> None:
    """Raises what is wrong with the words of a column or a key whatever else the table has."""
    last, before = asked.words[-1], asked.words[-2]
    if last.text == "=" or (last.upper in _OPTIONS and before.text == ")"):
        raise syntax("")
    for item in _items(asked):
        if item[0].upper in _KEYS:
            _check_key(asked, item)
        else:
            _check_column(asked, item)


def _items(asked: Asked) -> Iterator[list[Word]]:
    """Definitions, each from its name or the word KEY on."""
    words = list(asked.words)
    if words[0].upper == "ALTER":
        for part in parted(words):
            rest = [one for one in part[1:2] if one.upper != "COLUMN"] + part[2:]
            if part[0].upper in _CHANGES and rest and rest[0].text != "(":
                yield rest[_CHANGES[part[0].upper] - 1 :] or rest
        return
    begin = next((at for at, one in enumerate(words) if one.text == "("), len(words))
    item, depth = list[Word](), 0
    for word in words[begin:]:
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0 or (depth == 1 and word.text == ","):
            if item:
                yield item
            item = []
        elif depth > 1 or word.text not in ("(", ")") or item:
            item.append(word)
        if depth == 0:
            return


def _check_column(asked: Asked, item: Sequence[Word]) -> None:
    name, said = item[0].text, [one.upper for one in item]
    if len(item) == 1 and asked.words[0].upper == "CREATE" and item[0].kind in ("word", "name"):
        raise syntax(asked.sql[item[0].end :].lstrip())
    if len(item) < 2 or said[1] not in _TYPES | set(_WHOLE):
        return
    kind = said[1]
    width = whole_number(item[3].text) if len(item) > 3 and item[2].text == "(" else None
    is_newer = bool(form(asked.plan.version, "generated_columns"))
    if kind == "YEAR" and width not in (None, 4):
        if not is_newer:
            raise NotSimulated("YEAR of other than four digits is not simulated")
        raise SqlError(1818, "HY000", "Supports only YEAR or YEAR(4) column.")
    if kind == "BIT" and width == 0 and is_newer:
        raise SqlError(3013, "HY000", f"Invalid size for column '{name}'.")
    if kind in _WHOLE and width is not None and width > _MOST_SHOWN:
        raise SqlError(1439, "42000", f"Display width out of range for column '{name}' (max = {_MOST_SHOWN})")
    if "AUTO_INCREMENT" in said and kind not in (*_WHOLE, *_FLOATING):
        raise SqlError(1063, "42000", f"Incorrect column specifier for column '{name}'")
    if kind == "SET" and item[2].text == "(":
        _check_members(item)
    if "PRIMARY" in said and "VIRTUAL" in said and is_newer:
        text = "'Defining a virtual generated column as primary key' is not supported for generated columns."
        raise SqlError(3106, "HY000", text)
    if "PRIMARY" in said and " ".join(said).find("DEFAULT NULL") >= 0:
        raise SqlError(1067, "42000", f"Invalid default value for '{name}'")


def _check_members(item: Sequence[Word]) -> None:
    """Raises SqlError for a member with a comma, which parts members."""
    for one in item[3:]:
        if one.text == ")":
            return
        if one.kind == "string" and "," in one.text:
            raise SqlError(1367, "22007", f"Illegal set '{one.text}' value found during parsing")


def _check_key(asked: Asked, item: Sequence[Word]) -> None:
    said = [one.upper for one in item]
    if said[0] in ("KEY", "INDEX", "UNIQUE") and any(one.text.upper() == "PRIMARY" for one in item[1:3]):
        name = next(one.text for one in item[1:3] if one.text.upper() == "PRIMARY")
        raise SqlError(1280, "42000", f"Incorrect index name '{name}'")
    if {"CHECK", "FOREIGN", "FULLTEXT", "SPATIAL"} & set(said):
        return
    begin = next((at for at, one in enumerate(item) if one.text == "("), None)
    if begin is None:
        if not {"KEY", "INDEX", "UNIQUE"} & set(said) or asked.words[0].upper != "CREATE":
            return
        raise syntax(asked.sql[item[-1].end :].lstrip())
    columns, depth = list[str](), 0
    for before, one in zip(item[begin:], item[begin + 1 :], strict=False):
        depth += (before.text == "(") - (before.text == ")")
        if depth == 1 and before.text in ("(", ",") and one.kind in ("word", "name"):
            if one.text.lower() in columns:
                raise SqlError(1060, "42S21", f"Duplicate column name '{one.text}'")
            columns.append(one.text.lower())
        if depth == 2 and before.text == "(" and {"UNIQUE", "PRIMARY"} & set(said) and one.kind == "number":
            # What is compared is the whole column.
            _check_part(asked, columns[-1], one)
        if depth == 0:
            return


_NO_PART = (
    "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, "
    "or the storage engine doesn't support unique prefix keys"
)


def _check_part(asked: Asked, column: str, length: Word) -> None:
    """Raises SqlError for a unique key of a part of a column; NDB has none (HA_NO_PREFIX_CHAR_KEYS)."""
    for item in _items(asked):
        whole = whole_number(item[3].text) if len(item) > 3 and item[2].text == "(" else None
        if item[0].text.lower() == column and whole is not None and whole != whole_number(length.text):
            raise SqlError(1089, "HY000", _NO_PART)
