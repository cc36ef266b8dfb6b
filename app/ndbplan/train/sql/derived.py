"""Columns of queries within queries: each has the name that it was given, or the words it was typed in.

    name_columns(parsed("SELECT * FROM (SELECT 1+1) x"))      # its column is called 1+1

Source: manual 8.4, Derived Tables; what is called so twice is refused with 1060 (`scopes`).
"""

from __future__ import annotations

from sqlglot import TokenType, exp

from ndbplan.train.sql.reading import TYPED
from ndbplan.train.sql.tokens import tokens_of


def name_columns(tree: exp.Expr) -> None:
    """Name the columns of queries in FROM and WITH."""
    for around in tree.find_all(exp.Subquery, exp.CTE):
        is_read = isinstance(around, exp.CTE) or isinstance(around.parent, exp.From | exp.Join)
        inner = around.this
        while isinstance(inner, exp.SetOperation | exp.Subquery):
            inner = inner.this
        if not is_read or not isinstance(inner, exp.Select):
            continue
        for one in list(inner.expressions):
            if isinstance(one, exp.Alias | exp.Column) or one.is_star:
                continue
            typed = one.name if isinstance(one, exp.Literal) and one.is_string else one.meta.get(TYPED)
            if typed:
                one.replace(exp.alias_(one.copy(), typed, quoted=True))


def heading_of(typed: str) -> str | None:
    """What stands above texts that are typed alone: the first of them; None: it is no text."""
    tokens = tokens_of(typed)
    if len(tokens) > 1 and tokens[0].token_type is TokenType.INTRODUCER:
        tokens = tokens[1:]
    is_text = tokens and all(one.token_type is TokenType.STRING for one in tokens)
    return tokens[0].text if is_text else None


def is_nothing(column: exp.Alias) -> bool:
    """Whether a column of an inner query is NULL alone: a server makes it one of bytes."""
    within = column.parent is not None and column.parent.parent is not None
    return within and isinstance(column.this, exp.Null)
