"""SQL text to statements and words, with their places: the lexical half of reading table definitions.

The lexer is sqlglot's for MySQL. Comments that the server executes (/*!50100 ... */) are opened.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

_CONDITIONAL = re.compile(r"/\*![0-9]*|\*/")
# No quote begins behind a backslash, and a comment that nothing closes goes to the end: each letter is
# looked at a few times, however many quotes and comments stay open.
_SKIPPED = r"""(?<!\\)'(?:[^'\\]|\\.|'')*' | (?<!\\)"(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*` | --[ \t][^\n]*
    | --$ | \#[^\n]* | /\*(?!!)(?:[^*]|\*(?!/))*(?:\*/|\Z)"""
_FLAGS = re.VERBOSE | re.DOTALL | re.MULTILINE
_COMMAND = r"^[ \t]*(?P<word>DELIMITER)[ \t]+(?P<sign>[^\s\\]{1,15})[^\n]*"
"""A line by which the mysql client takes another sign for the end of statements."""


COMMENTS = r"\s*+(?:--[^\n]*\n\s*+|\#[^\n]*\n\s*+|/\*(?:[^*]|\*(?!/))*+\*/\s*+)*+"
"""What may stand in front of a statement."""


class Word(NamedTuple):
    """One word, name, number, string or sign of a statement."""

    text: str
    start: int
    """Offset in the whole text."""
    kind: str
    """word, name (quoted identifier), string, number or sign."""
    end: int = 0
    """Offset behind it."""

    @property
    def upper(self) -> str:
        """The word in capitals; empty for quoted names and strings, which are never keywords."""
        return self.text.upper() if self.kind in ("word", "sign") else ""


@dataclass(frozen=True, slots=True)
class DdlProblem:
    """Something that could not be read, or that NDB has no equal for."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


class Places:
    """Line and column of an offset, counted from 1."""

    def __init__(self, text: str) -> None:
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def of(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1


def unwrapped(text: str) -> str:
    """The text with conditional comments opened; every offset stays what it was."""
    if "/*!" not in text:
        return text
    pieces: list[str] = []
    at, inside = 0, False
    for match in _CONDITIONAL.finditer(text):
        opens = match[0].startswith("/*!")
        if opens or inside:
            pieces += [text[at : match.start()], " " * len(match[0])]
            at = match.end()
            inside = opens
    return "".join(pieces) + text[at:]


def statements(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """(offset, statement) of each statement from `start` on, without the sign that ends it.

    That is a semicolon, or what DELIMITER says: bodies of procedures and triggers are one statement. The
    line with DELIMITER is a statement of its own.
    """
    sign, at, signs = ";", start, {";"}
    ending = _ending(sign)
    while match := ending.search(text, at):
        at = match.end()
        if match["end"]:
            yield start, text[start : match.start()]
            start = at
        elif match["word"]:
            before = text[start : match.start()]
            is_first = _NO_WORD.fullmatch(before) is not None
            # A column may be called so. What nothing ends goes as far as such a line.
            is_column = not is_first and sign == ";" and match["sign"][0].isalpha()
            signs.add(match["sign"])
            if is_column or len(signs) > _MOST_SIGNS:
                at = match.end("word")
                continue
            if not is_first:
                yield start, before
            yield match.start(), match[0]
            start, sign = at, match["sign"]
            ending = _ending(sign)
    if text[start:].strip():
        yield start, text[start:]


_MOST_SIGNS = 30
"""Ends of statements that a text may take: what looks for each is compiled."""


def _ending(sign: str) -> re.Pattern[str]:
    ends = re.escape(sign)
    return re.compile(f"(?P<end>{ends}) | {_SKIPPED} | {_COMMAND}", _FLAGS | re.IGNORECASE)


_NO_WORD = re.compile(COMMENTS)
_OPEN = re.compile(f"{_SKIPPED} | (?P<open>['\"`]) | ;", _FLAGS)
NEXT_TABLE = re.compile(r"^[ \t]*CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMPORARY\s+)?TABLE\b", re.I | re.M)
"""A CREATE TABLE that starts a line."""


def open_quote(statement: str) -> int | None:
    """Where a quote stands that nothing closes, or that only one behind the next CREATE TABLE closes."""
    for match in _OPEN.finditer(statement):
        if match["open"] or (match[0][0] in "'\"`" and NEXT_TABLE.search(match[0])):
            return match.start()
    return None


def words(statement: str, offset: int) -> list[Word]:
    """The words of one statement. Raises ValueError for text that is not SQL."""
    from sqlglot import TokenType
    from sqlglot.dialects.mysql import MySQL
    from sqlglot.errors import TokenError

    try:
        tokens = MySQL().tokenize(statement)
    except TokenError as error:
        raise ValueError(str(error).splitlines()[0][:120]) from None
    kinds = {
        TokenType.IDENTIFIER: "name", TokenType.NUMBER: "number", TokenType.STRING: "string",
        TokenType.NATIONAL_STRING: "string", TokenType.RAW_STRING: "string",
    }  # fmt: skip
    result: list[Word] = []
    for token in tokens:
        text, start, end = token.text, offset + token.start, offset + token.end + 1
        kind = kinds.get(token.token_type)
        if kind is None and _LETTER.match(text):
            # The lexer joins some keywords (PRIMARY KEY); here each word counts alone.
            for part in _WORD.finditer(text):
                result.append(Word(part[0], start + part.start(), "word", start + part.end()))
        else:
            result.append(Word(text, start, kind or "sign", end))
    return result


_LETTER = re.compile(r"[A-Za-z_$\u0080-\uffff]")
_WORD = re.compile(r"\S+")
