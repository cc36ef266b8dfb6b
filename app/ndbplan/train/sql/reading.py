"""Statements as they are typed: read into a tree, or refused from the word on that cannot be read."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType  # type: ignore[attr-defined]  # its stubs export it elsewhere

from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax

# What sqlglot remarks about a statement is none of the answer.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def parsed(sql: str) -> exp.Expr:
    """A statement as a tree. Raises SqlError 1064."""
    try:
        _check_commas(sql)
        found = sqlglot.parse_one(sql, read="mysql")
    except (SqlglotError, RecursionError) as error:
        near = getattr(error, "errors", None) or [{}]
        raise syntax(_near(near[0])) from None
    if found is None:
        raise syntax(sql)
    return found.transform(_as_here, copy=False)


def _as_here(node: exp.Expr) -> exp.Expr:
    """A text is of the only character set that there is here; DUAL is no table; bytes: `_of_bytes`."""
    if isinstance(node, exp.Introducer):
        text: exp.Expr = node.expression
        return text
    source = node.args.get("from_")
    if isinstance(node, exp.Select) and source is not None and _is_dual(source.this):
        if node.is_star:
            raise SqlError(1096, "HY000", "No tables used")
        node.set("from_", None)
    return _of_bytes(node)


def _is_dual(table: exp.Expr) -> bool:
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return False
    return not table.db and not table.this.quoted and table.name.upper() == "DUAL"


_COUNTS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg)


def _of_bytes(node: exp.Expr) -> exp.Expr:
    """0x6162 is the text of its bytes, and a number where it is reckoned with (manual, hexadecimal literals).

    Where it is shown it stays what it is. Raises NotSimulated for bytes that are no text, which nothing here
    would find again.
    """
    shown = node.parent.parent if isinstance(node.parent, exp.Alias) else node.parent
    if isinstance(node, exp.Unhex) and isinstance(shown, exp.Tuple | exp.Predicate):
        raise NotSimulated("bytes of UNHEX are simulated where they are shown, and not as values")
    if not isinstance(node, exp.HexString) or (shown is None or isinstance(shown, exp.Select)):
        return node
    digits = str(node.this)
    if isinstance(shown, _COUNTS):
        return exp.Literal.number(int(digits, 16))
    text = bytes.fromhex(digits.rjust(len(digits) + len(digits) % 2, "0")).decode("utf-8", "replace")
    if "\ufffd" in text or not text.isprintable():
        raise NotSimulated("bytes that are no text are simulated where they are shown, and not as values")
    return exp.Literal.string(text)


def _near(found: Mapping[str, Any]) -> str:
    """From where on a statement cannot be read: empty where more of it was expected."""
    behind = str(found.get("end_context") or "")
    at_end = not behind and not str(found.get("description")).startswith("Invalid expression")
    return "" if at_end else str(found.get("highlight") or "") + behind


_BEGIN = (TokenType.COMMA, TokenType.SELECT, TokenType.L_PAREN)
_MORE = (TokenType.WHERE, TokenType.AND, TokenType.OR, TokenType.ON, TokenType.GROUP_BY, TokenType.ORDER_BY)
_WORDS = (TokenType.VAR, TokenType.STRING, TokenType.NUMBER)


def _check_commas(sql: str) -> None:
    """Statements that sqlglot reads on: a list that is empty or ends with a comma, a word behind `*`, an end
    behind WHERE."""
    tokens = sqlglot.tokenize(sql, read="mysql")
    before = TokenType.SELECT
    for one, other in pairwise(tokens):
        if one.token_type in _BEGIN and other.token_type is TokenType.FROM:
            raise syntax(sql[other.start :])
        all_columns = one.token_type is TokenType.STAR and before in (*_BEGIN[:2], TokenType.DOT)
        if all_columns and other.token_type in _WORDS:
            raise syntax(sql[other.start :])
        before = one.token_type
    if tokens and tokens[-1].token_type in _MORE:
        raise syntax("")


def typed_list(sql: str) -> list[str]:
    """The expressions of the first select list, as typed."""
    tokens = sqlglot.tokenize(sql, read="mysql")
    begins, depth = [], 0
    for i, one in enumerate(tokens):
        depth += (one.token_type is TokenType.L_PAREN) - (one.token_type is TokenType.R_PAREN)
        if one.token_type is TokenType.SELECT:
            # What WITH names stands in parentheses before the query itself.
            begins.append((depth, i))
    if not begins:
        return []
    begin = min(begins)[1]
    depth, found, start = 0, [], begin + 1
    if start < len(tokens) and tokens[start].token_type is TokenType.DISTINCT:
        start += 1
    ends = (TokenType.FROM, TokenType.UNION, TokenType.LIMIT, TokenType.ORDER_BY, TokenType.SEMICOLON)
    last = start
    for i in range(start, len(tokens)):
        kind = tokens[i].token_type
        if depth == 0 and (kind in ends or kind is TokenType.COMMA):
            found.append(_between(sql, tokens[last:i]))
            last = i + 1
            if kind in ends:
                return found
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
    found.append(_between(sql, tokens[last:]))
    return found


def _between(sql: str, tokens: Sequence[Any]) -> str:
    return sql[tokens[0].start : tokens[-1].end + 1] if tokens else ""
