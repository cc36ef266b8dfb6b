"""PREPARE, EXECUTE and DEALLOCATE: statements that a session keeps by a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ndbplan.base.quoting import sql_text
from ndbplan.train.sql.problem import SqlError, syntax

_OK = "Query OK, 0 rows affected (0.00 sec)"
VERBS = ("prepare", "execute", "deallocate")
_PREPARE = re.compile(
    r"prepare\s++`?(\w++)`?\s++from\s++('(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")", re.IGNORECASE
)
_EXECUTE = re.compile(r"execute\s++`?(\w++)`?(\s++using\s.*+)?", re.IGNORECASE)
_DEALLOCATE = re.compile(r"deallocate\s++prepare\s++`?(\w++)`?", re.IGNORECASE)
_ONLY_MARKS = re.compile(r"\Aselect\s+\?(?:\s*,\s*\?)*(?=\s*(?:from\b|limit\b|\Z))", re.IGNORECASE)
"""A list of marks, above each of which the client prints its sign."""
_MARK = re.compile(r"""`[^`]*`|\?|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


class Taken(NamedTuple):
    """What becomes of the statements that are kept, and what is to be run or said."""

    statements: dict[str, str]
    run: str
    text: str


def taken(sql: str, kept: Mapping[str, str], values: Mapping[str, Any]) -> Taken:
    """`values`: those of variables of users. Raises SqlError 1243 for a name that nothing has, and 1210."""
    if match := _PREPARE.fullmatch(sql):
        inner = match[2][1:-1].replace(match[2][0] * 2, match[2][0])
        return Taken(
            {**kept, match[1]: inner}, "", "Query OK, 0 rows affected (0.00 sec)\nStatement prepared\n"
        )
    if match := _EXECUTE.fullmatch(sql):
        if match[1] not in kept:
            raise _unknown(match[1], "EXECUTE")
        return Taken(dict(kept), _filled(kept[match[1]], match[2] or "", values), "")
    if match := _DEALLOCATE.fullmatch(sql):
        if match[1] not in kept:
            raise _unknown(match[1], "DEALLOCATE PREPARE")
        left = {name: text for name, text in kept.items() if name != match[1]}
        return Taken(left, "", _OK)
    raise syntax(sql.partition(" ")[2])


def _filled(statement: str, using: str, values: Mapping[str, Any]) -> str:
    """The statement with values of variables in place of its marks. Raises SqlError."""
    behind = using.strip()[len("using") :].strip()
    names = [one.strip() for one in behind.split(",")] if behind else []
    for name in names:
        if not _VARIABLE.fullmatch(name):
            raise syntax(name)
    if len(names) != _MARK.findall(statement).count("?"):
        raise SqlError(1210, "HY000", "Incorrect arguments to EXECUTE")
    given = iter(names)

    statement = _ONLY_MARKS.sub(lambda found: found[0].replace("?", "? AS `?`"), statement)

    def value(mark: re.Match[str]) -> str:
        if mark[0] != "?":
            return mark[0]
        found = values.get(next(given)[1:].strip("`").lower())
        if found is None:
            return "NULL"
        return str(found) if isinstance(found, int | float) else sql_text(str(found))

    return _MARK.sub(value, statement)


_VARIABLE = re.compile(r"@(?:`[^`]{1,64}`|[A-Za-z0-9_.$]{1,64})")


def _unknown(name: str, where: str) -> SqlError:
    return SqlError(1243, "HY000", f"Unknown prepared statement handler ({name}) given to {where}")
