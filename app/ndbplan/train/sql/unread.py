"""What the parser of statements reads and the server does not: refused as the server refuses it.

    check_words(sql, version)        # SqlError: CAST(1 AS INT), NOW(7), DATE 'x'
    check_tree(tree, cluster, "")    # SqlError: a derived table without a name, an index that is not there

Source: sql_yacc.yy (cast_type, func_datetime_precision, select_options) of 5.6 and 8.0, item_create.cc
(create_temporal_literal), errmsg of 8.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from ndbplan.base.units import whole_number
from ndbplan.ndb.console import form
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import server
from ndbplan.train.sql.moments import NoMomentError, NoTimeError, read_clock, read_moment
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax
from ndbplan.train.sql.tokens import tokens_of

_CAST_TO = frozenset((
    "BINARY", "CHAR", "CHARACTER", "NCHAR", "NATIONAL", "SIGNED", "UNSIGNED", "DATE", "TIME", "DATETIME",
    "DECIMAL", "DEC", "JSON",
))  # fmt: skip
_NEWER_CASTS = frozenset((
    "FLOAT", "DOUBLE", "REAL", "YEAR", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING",
    "MULTIPOLYGON", "GEOMETRYCOLLECTION", "GEOMCOLLECTION",
))  # fmt: skip
"""Of 8.0 (8.0.17, 8.0.22 and 8.0.24)."""
_WITH_DIGITS = frozenset((
    "NOW", "SYSDATE", "CURTIME", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP",
    "UTC_TIME", "UTC_TIMESTAMP",
))  # fmt: skip
"""Functions that take digits of a second."""
_MOST_DIGITS = 6
_LITERALS = {"DATE": "DATE", "TIME": "TIME", "TIMESTAMP": "DATETIME"}


def check_words(sql: str, version: NdbVersion) -> None:
    """Raises SqlError for words that the parser would take."""
    try:
        tokens = tokens_of(sql)
    except SqlglotError:
        return
    if len(tokens) == 1 and tokens[0].token_type is TokenType.SELECT:
        raise syntax("")
    is_newer = bool(form(version, "dictionary_of_its_own"))
    for at, (one, other) in enumerate(pairwise(tokens)):
        word = one.text.upper()
        if one.token_type is TokenType.STRING or one.token_type is TokenType.IDENTIFIER:
            continue
        if word in ("CAST", "CONVERT") and other.token_type is TokenType.L_PAREN:
            _check_cast(sql, tokens[at + 1 :], word, is_newer=is_newer)
        elif word in _WITH_DIGITS and other.token_type is TokenType.L_PAREN and at + 2 < len(tokens):
            _check_digits(sql, word, tokens[at + 2])
        elif word in _LITERALS and other.token_type is TokenType.STRING:
            before = tokens[at - 1].text.upper() if at else ""
            if before not in ("AS", "."):
                _check_moment(word, other.text)
        elif one.token_type in (TokenType.ARROW, TokenType.DARROW) and not _is_name(tokens[at - 1]):
            raise syntax(sql[one.start :])
        elif word == "VALUES" and at == 0 and other.text.upper() != "ROW":
            raise syntax(sql[other.start :])
        elif word == "ROW" and other.token_type is TokenType.L_PAREN:
            _check_row(sql, tokens[at + 2 :])
        elif word == "LIMIT" and other.token_type is TokenType.STRING:
            raise syntax(sql[other.start - 1 :])
        elif word == "," and other.text.upper() == "STRAIGHT_JOIN":
            raise syntax(sql[other.start :])


def _check_row(sql: str, inside: Sequence[Any]) -> None:
    """A row has two values or more."""
    depth = 0
    for one in inside:
        if depth == 0 and one.token_type in (TokenType.COMMA, TokenType.R_PAREN):
            if one.token_type is TokenType.R_PAREN:
                raise syntax(sql[one.start :])
            return
        depth += (one.token_type is TokenType.L_PAREN) - (one.token_type is TokenType.R_PAREN)


def _is_name(token: Any) -> bool:
    """Of a column, to which alone `->` belongs (sql_yacc.yy, simple_ident JSON_SEPARATOR_SYM)."""
    return token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)


def _check_cast(sql: str, inside: Sequence[Any], call: str, *, is_newer: bool) -> None:
    """`inside`: from the parenthesis on."""
    depth = 0
    for one, other in pairwise(inside):
        depth += (one.token_type is TokenType.L_PAREN) - (one.token_type is TokenType.R_PAREN)
        if not depth:
            return
        parts = one.text.upper() == "AS" if call == "CAST" else one.token_type is TokenType.COMMA
        if depth != 1 or not parts:
            continue
        kind = other.text.upper().split(" ")[0]
        if kind not in _CAST_TO and not (is_newer and kind in _NEWER_CASTS):
            raise syntax(sql[other.start :])
        if kind == "YEAR":
            raise NotSimulated("CAST(... AS YEAR) is not simulated")
        return


def _check_digits(sql: str, name: str, first: Any) -> None:
    if first.token_type is TokenType.R_PAREN:
        return
    digits = whole_number(first.text) if first.token_type is TokenType.NUMBER else None
    if digits is None:
        raise syntax(sql[first.start :])
    if digits > _MOST_DIGITS:
        called = name.lower()
        text = f"Too-big precision {digits} specified for '{called}'. Maximum is {_MOST_DIGITS}."
        raise SqlError(1426, "42000", text)


def _check_moment(word: str, text: str) -> None:
    """Raises SqlError 1525 for a literal that is no day or time."""
    try:
        _, told = (read_clock if word == "TIME" else read_moment)(text)
    except (NoMomentError, NoTimeError):
        told = text
    if told:
        raise SqlError(1525, "HY000", f"Incorrect {_LITERALS[word]} value: '{text}'")


def check_tree(tree: exp.Expr, cluster: LiveCluster, in_use: str) -> None:
    """Raises SqlError for a derived table that has no name, and for an index hint of no index."""
    for one in tree.find_all(exp.Subquery):
        is_derived = isinstance(one.parent, exp.From | exp.Join) and isinstance(one.this, exp.Query)
        if is_derived and one.arg_key == "this" and not one.alias:
            raise SqlError(1248, "42000", "Every derived table must have its own alias")
    for escaped in tree.find_all(exp.Escape):
        if isinstance(escaped.expression, exp.Literal) and len(escaped.expression.name) > 1:
            raise SqlError(1210, "HY000", "Incorrect arguments to ESCAPE")
    for window in tree.find_all(exp.Window):
        order = window.args.get("order")
        parts = (*(window.args.get("partition_by") or ()), *(() if order is None else order.expressions))
        for part in parts:
            place = part.this if isinstance(part, exp.Ordered) else part
            if isinstance(place, exp.Literal) and not place.is_string:
                told = "ORDER BY or PARTITION BY uses legacy position indication which is not supported"
                named = window.alias or "<unnamed window>"
                raise SqlError(3592, "HY000", f"Window '{named}': {told}, use expression.")
    for table in tree.find_all(exp.Table):
        hints = [one for one in table.args.get("hints") or () if isinstance(one, exp.IndexTableHint)]
        known = _indexes(cluster, table.db or in_use, table.name) if hints else None
        for name in (name.name for hint in hints for name in hint.expressions):
            if known is not None and name.lower() not in known:
                raise SqlError(1176, "42000", f"Key '{name}' doesn't exist in table '{table.alias_or_name}'")


def _indexes(cluster: LiveCluster, database: str, name: str) -> frozenset[str] | None:
    """Names of the indexes of a table, in small letters; None: there is no such table here."""
    tables = (*cluster.plan.tables, *server.local_tables(cluster))
    table = next((one for one in tables if (one.database, one.name) == (database, name)), None)
    if table is None:
        return None
    return frozenset(
        (*(one.name.lower() for one in table.indexes), *(("primary",) if table.primary_key else ()))
    )
