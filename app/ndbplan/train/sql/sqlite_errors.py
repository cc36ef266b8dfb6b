"""Errors of SQLite as the server would say them."""

from __future__ import annotations

import re

from sqlglot import exp

from ndbplan.ndb.sql_server import server_functions
from ndbplan.train.sql.problem import NotSimulated, SqlError, no_table
from ndbplan.train.sql.recursion import too_deep
from ndbplan.train.sql.text_functions import MOST_BYTES

_NO_COLUMN = re.compile(r"no such column: (.+)")
_NO_FUNCTION = re.compile(r"no such function: (.+)")
_AMBIGUOUS = re.compile(r"ambiguous column name: (.+)")
_NO_TABLE = re.compile(r"no such table: (.+)")
_NOT_IN_BOTH = re.compile(r"cannot join using column (\S+)")


def refused(text: str, tree: exp.Expr, database: str, most_rounds: int) -> SqlError | NotSimulated:
    """An error of SQLite as the server would say it."""
    if found := _NO_COLUMN.match(text):
        name = found[1]
        return SqlError(1054, "42S22", f"Unknown column '{name}' in '{_clause(tree, name)}'")
    if found := _AMBIGUOUS.match(text):
        if found[1].startswith("main."):
            # Two tables have one name, which SQLite says of their columns.
            alias = found[1].split(".")[1]
            return SqlError(1066, "42000", f"Not unique table/alias: '{alias}'")
        return SqlError(1052, "23000", f"Column '{found[1]}' in {_clause(tree, found[1])} is ambiguous")
    if found := _NOT_IN_BOTH.match(text):
        return SqlError(1054, "42S22", f"Unknown column '{found[1]}' in 'from clause'")
    if found := _NO_FUNCTION.match(text):
        typed = [one.name for one in tree.find_all(exp.Anonymous) if one.name.lower() == found[1].lower()]
        if typed and found[1].lower() not in server_functions():
            return SqlError(1305, "42000", f"FUNCTION {database or 'test'}.{typed[0]} does not exist")
        return NotSimulated(f"{found[1].upper()}() is not simulated here")
    if text.startswith("HAVING clause"):
        having = tree.args.get("having")
        name = next((c.name for c in having.find_all(exp.Column)), "") if having is not None else ""
        return SqlError(1054, "42S22", f"Unknown column '{name}' in 'having clause'")
    if found := _NO_TABLE.match(text):
        return no_table(database, found[1])
    if "only_value" in text or "aggregate's 'step'" in text:
        return SqlError(1242, "21000", "Subquery returns more than 1 row")
    if text.startswith("SELECTs to the left and right"):
        told = "The used SELECT statements have a different number of columns"
        return SqlError(1222, "21000", told)
    if text == "interrupted" and any(one.args.get("recursive") for one in tree.find_all(exp.With)):
        return too_deep(most_rounds)
    if text == "string or blob too big":
        return NotSimulated(f"texts of more than {MOST_BYTES} bytes are not simulated")
    return NotSimulated("this statement is too much for the SQL that is simulated here")


def _clause(tree: exp.Expr, name: str) -> str:
    """Where a column stands."""
    low = name.rpartition(".")[2].lower()
    places = (
        ("where", "where clause"), ("order", "order clause"), ("group", "group statement"),
        ("having", "having clause"),
    )  # fmt: skip
    listed = tree.expressions if isinstance(tree, exp.Select) else ()
    if any(column.name.lower() == low for one in listed for column in one.find_all(exp.Column)):
        return "field list"
    for key, words in places:
        part = tree.args.get(key)
        if part is not None and any(c.name.lower() == low for c in part.find_all(exp.Column)):
            return words
    if any(c.name.lower() == low for join in tree.find_all(exp.Join) for c in join.find_all(exp.Column)):
        return "on clause"
    return "field list"
