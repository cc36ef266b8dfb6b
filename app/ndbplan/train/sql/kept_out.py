"""What nobody may change: tables of INFORMATION_SCHEMA, and databases that a server needs."""

from __future__ import annotations

import re

from ndbplan.train.sql.problem import SqlError

_NAME = r"`?([\w$]+)`?(?:\s*\.\s*`?([\w$]+)`?)?"
_IF = r"(?:if\s+(?:not\s+)?exists\s+)?"
_HOW = r"(?:(?:low_priority|high_priority|delayed|quick|ignore)\s+)*"
_OF_DATABASES = re.compile(rf"(?:create|drop)\s+(?:database|schema)\s+{_IF}{_NAME}", re.IGNORECASE)
_OF_TABLES = tuple(
    re.compile(pattern + _NAME, re.IGNORECASE)
    for pattern in (
        rf"(?:create|drop|alter)\s+(?:temporary\s+)?tables?\s+{_IF}",
        r"truncate\s+(?:table\s+)?",
        r"rename\s+tables?\s+",
        r"rename\s+tables?\s+\S+\s+to\s+",
        r"alter\s+table\s+\S+\s+rename\s+(?:to\s+|as\s+)?(?!(?:column|index|key)\b)",
        r"(?:create|drop)\s+(?:unique\s+)?index\s+\S+\s+on\s+",
        rf"(?:insert|replace)\s+{_HOW}(?:into\s+)?",
        rf"update\s+{_HOW}",
        rf"delete\s+{_HOW}from\s+",
    )
)
_CATALOGUE = "information_schema"
_NOT_DROPPED = (_CATALOGUE, "performance_schema")


def check_target(sql: str, in_use: str) -> None:
    """Raises SqlError 1044 for a change of what the access to a database keeps everybody from.

    Source: 8.4.9 as others asked it; `suite/funcs_1` of servers from 5.6 on. It comes before all else.
    """
    if (found := _OF_DATABASES.match(sql)) is not None:
        closed = _NOT_DROPPED if sql[:4].lower() == "drop" else (_CATALOGUE,)
        if found[1].lower() in closed:
            raise _denied(found[1])
        return
    for pattern in _OF_TABLES:
        found = pattern.match(sql)
        database = in_use if found is None or found[2] is None else found[1]
        if found is not None and database.lower() == _CATALOGUE:
            raise _denied(_CATALOGUE)


def _denied(database: str) -> SqlError:
    return SqlError(1044, "42000", f"Access denied for user 'root'@'localhost' to database '{database}'")
