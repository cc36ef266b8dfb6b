"""Templates of exported files, with the quoting that shells, SQL and INI files need."""

from __future__ import annotations

import shlex
import textwrap
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

from ndbplan.base.resources import resource_path

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(resource_path("templates")),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(shell=shell_quoted, comment=comment_lines, ascii=ascii_text)
    return environment


def render(template: str, **values: Any) -> str:
    """The text of one template in resources/templates."""
    return _environment().get_template(template).render(**values)


def shell_quoted(text: object) -> str:
    """One word of a shell command."""
    return shlex.quote(str(text))


def sql_identifier(name: str) -> str:
    """A database, table or file group name for SQL, backticks inside doubled."""
    return "`" + name.replace("`", "``") + "`"


def sql_text(text: str) -> str:
    """A text literal for SQL, in single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def ascii_text(text: str) -> str:
    """The text in plain ASCII: what has no close letter becomes a question mark."""
    near = text.translate(
        {0x00D7: "x", 0x2212: "-", 0x2013: "-", 0x2014: "-", 0x2026: "...", 0x2009: " ", 0x2192: "->"}
    )
    return unicodedata.normalize("NFKD", near).encode("ascii", "replace").decode().replace("\x7f", "?")


def comment_lines(text: str, width: int = 98) -> str:
    """The text as lines that start with `# `, each short enough for ndb_mgmd (1023 characters)."""
    lines: list[str] = []
    for paragraph in ascii_text(text).split("\n"):
        lines += textwrap.wrap(paragraph, width, break_long_words=True, break_on_hyphens=False) or [""]
    return "\n".join(f"# {line}".rstrip() for line in lines)
