"""PREPARE, EXECUTE and DEALLOCATE: statements that a session keeps by a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax

_OK = "Query OK, 0 rows affected (0.00 sec)"
VERBS = ("prepare", "execute", "deallocate")
_PREPARE = re.compile(
    r"prepare\s++`?(\w++)`?\s++from\s++('(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")", re.IGNORECASE
)
_EXECUTE = re.compile(r"execute\s++`?(\w++)`?(\s++using\s.*+)?", re.IGNORECASE)
_DEALLOCATE = re.compile(r"deallocate\s++prepare\s++`?(\w++)`?", re.IGNORECASE)
_MARK = re.compile(r"""\?|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


class Taken(NamedTuple):
    """What becomes of the statements that are kept, and what is to be run or said."""

    statements: dict[str, str]
    run: str
    text: str


def taken(sql: str, kept: Mapping[str, str]) -> Taken:
    """Raises SqlError 1243 for a name that nothing has, and NotSimulated for values from variables."""
    if match := _PREPARE.fullmatch(sql):
        inner = match[2][1:-1].replace(match[2][0] * 2, match[2][0])
        if "?" in _MARK.findall(inner):
            raise NotSimulated("values from variables (?) are not simulated; statements as they are, are")
        return Taken(
            {**kept, match[1]: inner}, "", "Query OK, 0 rows affected (0.00 sec)\nStatement prepared\n"
        )
    if match := _EXECUTE.fullmatch(sql):
        if match[2]:
            raise NotSimulated("values from variables (USING) are not simulated")
        if match[1] not in kept:
            raise _unknown(match[1], "EXECUTE")
        return Taken(dict(kept), kept[match[1]], "")
    if match := _DEALLOCATE.fullmatch(sql):
        if match[1] not in kept:
            raise _unknown(match[1], "DEALLOCATE PREPARE")
        left = {name: text for name, text in kept.items() if name != match[1]}
        return Taken(left, "", _OK)
    raise syntax(sql.partition(" ")[2])


def _unknown(name: str, where: str) -> SqlError:
    return SqlError(1243, "HY000", f"Unknown prepared statement handler ({name}) given to {where}")
