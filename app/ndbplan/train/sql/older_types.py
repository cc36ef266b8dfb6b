"""Older words in definitions of columns, and character sets, that a server still takes and warns of.

older_words(words, version)     # INT(11): 1681; utf8: 3719

Source: manual 8.0, Numeric Data Types, YEAR, Character Sets; texts: messages of 8.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ndbplan.base.units import whole_number
from ndbplan.importing.ddl.tokens import Word
from ndbplan.ndb.console import form
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.sql.problem import Warned

_WHOLE = ("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT")
_FLOATS = ("FLOAT", "DOUBLE", "REAL")
_NO_WHOLE = (*_FLOATS, "DECIMAL", "DEC", "NUMERIC", "FIXED")


def older_words(words: Sequence[Word], version: NdbVersion) -> Iterator[Warned]:
    """What a server warns of in the definitions of columns, in their order."""
    begins = [one.upper for one in words[:3]]
    if begins[0] not in ("CREATE", "ALTER") or "TABLE" not in begins:
        return
    if form(version, "old_types_warned"):
        yield from _older_types(words)
    if form(version, "utf8_warned"):
        yield from older_charsets(words)


def _older_types(words: Sequence[Word]) -> Iterator[Warned]:
    kind = ""
    for at, word in enumerate(words):
        behind = [one.text for one in words[at + 1 : at + 6]]
        if word.kind == "word" and word.upper in (*_WHOLE, *_NO_WHOLE, "YEAR"):
            kind = word.upper
        if word.text == ",":
            kind = kind if words[at - 1].kind == "number" else ""
        width = behind[1] if len(behind) > 2 and behind[0] == "(" and behind[2] == ")" else ""
        if (
            word.upper in _WHOLE
            and whole_number(width) is not None
            and (word.upper, width) != ("TINYINT", "1")
        ):
            yield _old("Integer display width is deprecated and will be removed in a future release.")
        elif word.upper == "YEAR" and width == "4":
            said = "'YEAR(4)' is deprecated and will be removed in a future release. Please use YEAR instead"
            yield Warned("Warning", 1287, said)
        elif word.upper in _FLOATS and behind[:1] == ["("] and behind[2:3] == [","]:
            said = "Specifying number of digits for floating point data types is deprecated and will be"
            yield _old(f"{said} removed in a future release.")
        elif word.upper == "UNSIGNED" and kind in _NO_WHOLE:
            said = (
                "UNSIGNED for decimal and floating point data types is deprecated and support for it will be"
            )
            yield _old(f"{said} removed in a future release.")


def older_charsets(words: Sequence[Word]) -> Iterator[Warned]:
    """What is said of utf8, which will be another character set."""
    for kind, name in charsets_of(words):
        if kind == "charset" and name.text.lower() == "utf8":
            yield UTF8


UTF8 = Warned(
    "Warning", 3719,
    "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a "
    "future release. Please consider using UTF8MB4 in order to be unambiguous.",
)  # fmt: skip


def _old(text: str) -> Warned:
    return Warned("Warning", 1681, text)


def charsets_of(words: Sequence[Word]) -> Iterator[tuple[str, Word]]:
    """Character sets and collations that are named, and a comma between columns as a collation of none."""
    plain = [one for one in words if one.text != "="]
    for before, word, name in zip(["", *plain], plain, plain[1:], strict=False):
        if word.kind != "word" or name.kind not in ("word", "name", "string"):
            continue
        is_set = word.upper == "SET" and isinstance(before, Word) and before.upper == "CHARACTER"
        if is_set or word.upper == "CHARSET":
            yield "charset", name
        elif word.upper == "COLLATE":
            yield "collation", name
