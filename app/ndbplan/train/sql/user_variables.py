"""Variables of a session that somebody makes: SET @x, SELECT ... INTO @x, and @x in a statement.

without_into("select 7 into @y")         # ("select 7", ["y"])
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.nulls import FROM_USER
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned

NAME = re.compile(r"@(?:`([^`]{1,64})`|([A-Za-z0-9_.$]{1,64}))")
_INTO = re.compile(r"\binto\s(?=\s{0,99}@[^@])", re.IGNORECASE)
Values = Mapping[str, Any]


def without_into(sql: str) -> tuple[str, list[str]]:
    """The query without INTO, and the names of the variables behind it."""
    found = _INTO.search(sql)
    if found is None:
        return sql, []
    names, at = [], found.end()
    while True:
        while sql[at : at + 1].isspace():
            at += 1
        name = NAME.match(sql, at)
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
            if value is None and isinstance(one.parent, exp.Select | exp.Alias):
                # What nobody set is of bytes.
                put = exp.Cast(this=put, to=exp.DataType.build("binary"))
        put.meta[FROM_USER] = True
        one.replace(put)
