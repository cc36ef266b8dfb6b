"""Variables of a session that somebody makes: SET @x, SELECT ... INTO @x, and @x in a statement.

assigned("set @x = 5, @y := @x + 1")     # [("x", "5"), ("y", "@x + 1")]; None: it sets others
without_into("select 7 into @y")         # ("select 7", ["y"])
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, syntax

_NAME = re.compile(r"@(?:`([^`]{1,64})`|([A-Za-z0-9_.$]{1,64}))")
_INTO = re.compile(r"\binto\s(?=\s{0,99}@[^@])", re.IGNORECASE)
Values = Mapping[str, Any]


def assigned(sql: str) -> list[tuple[str, str]] | None:
    """The variables that a SET gives values, with the expressions; None: it sets no such variable.

    Raises SqlError, and NotSimulated for a statement that sets others beside.
    """
    parts = list(_parts(sql.strip()[3:].strip().rstrip(";")))
    names = [_NAME.match(one) for one in parts]
    if not any(names):
        return None
    found = []
    for part, name in zip(parts, names, strict=True):
        if name is None:
            raise NotSimulated("variables of users and of the server in one SET are not simulated")
        behind = part[name.end() :].lstrip()
        sign = ":=" if behind.startswith(":=") else "="
        if not behind.startswith(sign) or not behind[len(sign) :].strip():
            raise syntax(behind)
        found.append(((name[1] or name[2]).lower(), behind[len(sign) :].strip()))
    return found


def _parts(text: str) -> Sequence[str]:
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


def without_into(sql: str) -> tuple[str, list[str]]:
    """The query without INTO, and the names of the variables behind it."""
    found = _INTO.search(sql)
    if found is None:
        return sql, []
    names, at = [], found.end()
    while True:
        while sql[at : at + 1].isspace():
            at += 1
        name = _NAME.match(sql, at)
        if name is None:
            raise NotSimulated("SELECT ... INTO takes variables here: INTO @x, @y")
        names.append((name[1] or name[2]).lower())
        at = name.end()
        while sql[at : at + 1].isspace():
            at += 1
        if sql[at : at + 1] != ",":
            return f"{sql[: found.start()]} {sql[at:]}".strip(), names
        at += 1


def taken(result: Result, names: Sequence[str]) -> tuple[dict[str, Any], str, tuple[Warned, ...]]:
    """The values that a query gives to variables, what the client prints, and warnings. Raises SqlError."""
    if len(result.headings) != len(names):
        text = "The used SELECT statements have a different number of columns"
        raise SqlError(1222, "21000", text)
    if len(result.rows) > 1:
        raise SqlError(1172, "42000", "Result consisted of more than one row")
    if not result.rows:
        none = Warned("Warning", 1329, "No data - zero rows fetched, selected, or processed")
        return {}, "Query OK, 0 rows affected, 1 warning (0.00 sec)", (none,)
    return dict(zip(names, result.rows[0], strict=True)), "Query OK, 1 row affected (0.00 sec)", ()


def filled(tree: exp.Expr, values: Values) -> None:
    """Put the values in place of the variables; one that nobody set is NULL. Raises NotSimulated."""
    if any(isinstance(one.this, exp.Parameter) for one in tree.find_all(exp.PropertyEQ)):
        raise NotSimulated("@x := ... inside a statement is not simulated; SET @x = ... is")
    for one in list(tree.find_all(exp.Parameter)):
        value = values.get(str(one.name).lower())
        if isinstance(value, int | float):
            put: exp.Expr = exp.Literal.number(abs(value))
            put = exp.Neg(this=put) if value < 0 else put
        else:
            put = exp.null() if value is None else exp.Literal.string(str(value))
        one.replace(put)
