"""What is typed at the mysql client, taken apart: statements, comments, DELIMITER, and lines that go on.

taken("select 1; select", Typing(), (8, 4, 8))      # one statement, and a text that waits for more
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.train.sql.client_words import KNOWN, SHORT

CONTINUES = "    -> "
"""What the client prints while a statement is not complete."""
_PIECES = r"""'(?:\\.|[^'\\])*+(?:'|$) | "(?:\\.|[^"\\])*+(?:"|$) | `[^`]*+(?:`|$) |
    --(?=\s|$)[^\n]*+ | \#[^\n]*+ | /\*.*?(?:\*/|$) | \\[gGc] | [\w\s]++ | ."""
_OF_VERSION = re.compile(r"/\*!([0-9]{5,6})?(.*)\*/", re.DOTALL)
_DELIMITER = re.compile(r"\s*+(?:delimiter\b|[\\]d(?![a-z]))[ \t]*+(\S*+)[^\n]*+\n?", re.IGNORECASE)
_IS_OPEN = re.compile(
    r"(?:,|\(|[-+/%<>=]|\b(?:select|from|where|and|or|not|on|by|values|into|join|having|between|as|with|"
    r"insert|create|alter|table|interval|(?<!character )(?<!char )set))\s*\Z",
    re.IGNORECASE,
)
"""A statement cannot end so."""


_HAS_BODY = re.compile(r"create\s.*?\b(?:procedure|function|trigger|event)\b", re.IGNORECASE | re.DOTALL)


NOTHING = ("go", False)
"""What ends no statement, such as the semicolon behind \\G: the client says so (mysql.cc, com_go)."""


class Typing(NamedTuple):
    """What a session has typed so far."""

    delimiter: str = ";"
    begun: str = ""
    """A statement that is not complete."""


class Taken(NamedTuple):
    """The statements of a line, each with whether it ends in \\G, and what is typed of the next one."""

    statements: list[tuple[str, bool]]
    typing: Typing
    told: str = ""
    """What the client says of its own commands."""


def _pieces(delimiter: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<end>{re.escape(delimiter)}) | {_PIECES}", re.DOTALL | re.VERBOSE)


def _is_comment(piece: str) -> bool:
    return piece.startswith(("#", "/*")) or (piece.startswith("--") and len(piece) > 1)


def _is_cut(piece: str) -> bool:
    """Whether a text, a name or a comment has no end."""
    if piece.startswith("/*"):
        return len(piece) < len("/**/") or not piece.endswith("*/")
    return piece[:1] in "'\"`" and (len(piece) == 1 or piece[-1] != piece[0])


def _opened(piece: str, server: int) -> str:
    """What the server reads of a comment: `/*!80000 text */` from its release on."""
    found = _OF_VERSION.fullmatch(piece)
    if found is None:
        return piece
    return found[2] if int(found[1] or 0) <= server else " "


def number_of(version: str) -> int:
    """The release of a server as comments name it: 80408 for `8.4.8-cluster`."""
    major, minor, patch = (int(one) for one in re.findall(r"[0-9]+", version)[:3])
    return major * 10_000 + minor * 100 + patch


def _own_commands(line: str, delimiter: str) -> Iterator[tuple[str, str]]:
    """The lines of a text, each with the sign that ends its statements; DELIMITER lines are gone."""
    rest = line
    while (found := _DELIMITER.match(rest)) is not None:
        delimiter, rest = found[1] or delimiter, rest[found.end() :]
    later = re.search(r"\n[ \t]*(?=delimiter\b)", rest, re.IGNORECASE)
    if later is None:
        yield rest, delimiter
        return
    yield rest[: later.start()], delimiter
    yield from _own_commands(rest[later.end() :], delimiter)


def _sent(sql: str, is_vertical: bool, sign: str) -> list[tuple[str, bool]]:
    """What the server makes of a text: under another sign it may hold several statements."""
    if sign == ";" or _HAS_BODY.match(sql):
        return [(sql, is_vertical)]
    return [(one, is_vertical) for one, _ in taken(sql, Typing(), 0).statements]


def prompt_of(typing: Typing) -> str:
    """What the client prints for the next line: where a text, a name or a comment is open, its sign."""
    pieces = [match[0] for match in _pieces(typing.delimiter).finditer(typing.begun)]
    if not pieces or not _is_cut(pieces[-1]):
        return CONTINUES
    return f"    {'/*' if pieces[-1].startswith('/*') else pieces[-1][0]}> "


def taken(line: str, typing: Typing, server: int) -> Taken:
    """A line behind what was typed before it; `server`: see `number_of`.

    A line without the sign is a statement as it stands, unless it cannot end there.
    """
    found: list[tuple[str, bool]] = []
    sign = typing.delimiter
    if not typing.begun and (own := _DELIMITER.match(line)) is not None and own[1] in ("", "\\"):
        wrong = "cannot contain a backslash character"
        lacks = "must be followed by a 'delimiter' character or string"
        return Taken([], typing, f"ERROR: \nDELIMITER {wrong if own[1] else lacks}\n")
    text, is_bare, depth, is_cut = "", True, 0, False
    whole = f"{typing.begun}\n{line}" if typing.begun else line
    parts = [(whole, sign)] if typing.begun else list(_own_commands(line, sign))
    for part, ends in parts:
        sign = ends
        text, is_bare, depth, is_cut, remarks = "", True, 0, False, False
        for match in _pieces(sign).finditer(part):
            piece = match[0]
            if match["end"] or piece in ("\\g", "\\G", "\\c"):
                if text.strip() and not is_bare and piece != "\\c":
                    found += _sent(text.strip(), piece == "\\G", sign)
                elif not (text.strip() or remarks) and piece != "\\c":
                    found.append(NOTHING)
                text, is_bare, depth, remarks = "", True, 0, False
                continue
            is_cut = _is_cut(piece)
            if _is_comment(piece) and not is_cut:
                opened, remarks = _opened(piece, server), True
                is_bare = is_bare and (opened is piece or not opened.strip())
                # What stands before a statement is none of it.
                text += " " if is_bare else opened
                continue
            depth += (piece == "(") - (piece == ")")
            is_bare = is_bare and not piece.strip()
            text += piece
    left = text.strip()
    if not left or (is_bare and not is_cut):
        return Taken(found, Typing(sign))
    is_own = left.split(None, 1)[0].lower() in KNOWN or left[:2] in SHORT
    if not is_own and (is_cut or depth > 0 or _IS_OPEN.search(left)):
        return Taken(found, Typing(sign, text))
    return Taken([*found, *_sent(left, False, sign)], Typing(sign))
