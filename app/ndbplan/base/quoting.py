"""Text for others to read: words of a shell, names and values of SQL, plain ASCII, comments."""

from __future__ import annotations

import re
import shlex
import textwrap
import unicodedata


def shell_quoted(text: object) -> str:
    """One word of a shell command."""
    return shlex.quote(str(text))


def sql_identifier(name: str) -> str:
    """A database, table or file group name for SQL, backticks inside doubled."""
    return "`" + name.replace("`", "``") + "`"


_SQL_ESCAPES = str.maketrans({"\\": r"\\", "'": "''", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\0": r"\0"})


def sql_text(text: str) -> str:
    """A text literal for SQL, in single quotes and in one line."""
    return f"'{text.translate(_SQL_ESCAPES)}'"


_OF_MARKDOWN = re.compile(r"[\\`*<\[\]&|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def markdown_text(text: object) -> str:
    """A piece of a line of Markdown that shows these letters: no code, no link, no HTML."""
    return _OF_MARKDOWN.sub(lambda found: f"\\{found[0]}", str(text))


def ascii_text(text: str) -> str:
    """The text in plain ASCII: what has no close letter becomes a question mark."""
    near = text.translate(
        {
            0xDF: "ss",
            0xD7: "x",
            0x2212: "-",
            0x2013: "-",
            0x2014: "-",
            0x2026: "...",
            0x2009: " ",
            0x2192: "->",
        }
    )
    letters = (one for one in unicodedata.normalize("NFKD", near) if not unicodedata.combining(one))
    return "".join(letters).encode("ascii", "replace").decode().replace("\x7f", "?")


def comment_lines(text: str, width: int = 98) -> str:
    """The text as lines that start with `# `, each short enough for ndb_mgmd (1023 characters)."""
    lines: list[str] = []
    for paragraph in ascii_text(text).split("\n"):
        lines += textwrap.wrap(paragraph, width, break_long_words=True, break_on_hyphens=False) or [""]
    return "\n".join(f"# {line}".rstrip() for line in lines)
