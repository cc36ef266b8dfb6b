"""Prompts of the sessions of the mysql client: `mysql>` is the first, `mysql2>` the second."""

from __future__ import annotations

import re

SQL = "mysql>"
BREAK = "^C"
"""A line that stands for Ctrl+C."""
SESSIONS = 9
"""So many there are at most."""
_SESSION = re.compile(r"mysql([2-9]?)>")


def session_of(prompt: str) -> int | None:
    """The number of the session that a prompt is of; None: it is of another console."""
    found = _SESSION.fullmatch(prompt)
    return None if found is None else int(found[1] or 1)


def sql_prompt(session: int) -> str:
    """The prompt of a session."""
    return SQL if session == 1 else f"mysql{session}>"
