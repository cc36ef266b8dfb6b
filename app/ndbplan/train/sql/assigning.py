"""SET with values that are worked out: those of users are taken, those of the server stand as if typed.

worked_out("SET @x = 5, sql_mode = CONCAT(@@sql_mode, ',ANSI')", {}, ["sql_mode"], ask)
# Done("SET sql_mode = 'STRICT_TRANS_TABLES,ANSI'", {"x": 5})
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ndbplan.train.sql.problem import NotSimulated, syntax
from ndbplan.train.sql.user_variables import NAME
from ndbplan.train.sql.variables import missing

Ask = Callable[[str, Mapping[str, Any]], Any]
"""What an expression comes to beside variables of users."""
_TARGET = re.compile(
    r"\A((?:(?:global|session|local|persist|persist_only)\s+|@@(?:\w{1,20}\.)?)?\w{1,64}\s{0,99}:?=)\s*(?=\S)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:(?:global|session|local|persist|persist_only)\s+|@@(?:\w{1,20}\.)?)?(\w{1,64})\s{0,99}:?=",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"""\A(?:'[^']*'|"[^"]*"|[+-]?[0-9.]+|[\w.$:/-]+)\Z""")
"""Values that the server's variables take as they stand: texts, numbers, and words such as ON."""


class Done(NamedTuple):
    """What a SET sets."""

    sql: str
    """Variables of the server, with plain values; empty: it sets none."""
    of_user: dict[str, Any]
    """Variables of users, with those that there were."""


def worked_out(sql: str, of_user: Mapping[str, Any], names: Collection[str], ask: Ask) -> Done:
    """The statement with plain values, one assignment after the other; `names`: variables of the server.

    Raises SqlError, for a name that there is not before any value is looked at, and NotSimulated.
    """
    found, left = dict(of_user), []
    given = parts(sql.strip()[3:].strip().rstrip(";"))
    for part in given:
        typed = _NAMED.match(part)
        if typed is not None and typed[1].lower() not in (*names, "password"):
            raise missing(typed[1])
    for part in given:
        name = NAME.match(part)
        if name is None:
            left.append(_plain(part, lambda text: ask(text, found)))
            continue
        behind = part[name.end() :].lstrip()
        sign = ":=" if behind.startswith(":=") else "="
        text = behind[len(sign) :].strip()
        if not behind.startswith(sign) or not text:
            raise syntax(behind)
        found[(name[1] or name[2]).lower()] = ask(text, found)
    return Done(f"SET {', '.join(left)}" if left else "", found)


def _plain(part: str, ask: Callable[[str], Any]) -> str:
    target = _TARGET.match(part)
    if target is None or part[:8].lower() == "password":
        return part
    given = part[target.end() :].strip()
    if _PLAIN.match(given):
        return part
    value = ask(given)
    if isinstance(value, str) and "'" in value:
        raise NotSimulated("a text with a quote in it is no value of a variable here")
    told = "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)
    return f"{target[1]} {told}"


def parts(text: str) -> Sequence[str]:
    """What commas part that are in no parenthesis and no quote."""
    parts, depth, quote, begin = [], 0, "", 0
    for at, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        elif sign == "," and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
        else:
            depth += (sign == "(") - (sign == ")")
    return [*parts, text[begin:].strip()]
