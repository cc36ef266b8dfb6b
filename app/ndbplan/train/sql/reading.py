"""Statements as they are typed: read into a tree, or refused from the word on that cannot be read."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.errors import SqlglotError
from sqlglot.parsers.mysql import MySQLParser

from ndbplan.ndb.sql_server import argument_counts, grammar_counts
from ndbplan.train.sql.comparing import COMPARES
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax
from ndbplan.train.sql.tokens import tokens_of

TYPED = "typed"
"""Of an expression of a list: how it was typed."""

# What sqlglot remarks about a statement is none of the answer.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


class _Parser(MySQLParser):
    FUNCTIONS = {  # noqa: RUF012 — as sqlglot declares it
        **MySQLParser.FUNCTIONS,
        "SPACE": lambda args: exp.Anonymous(this="SPACE", expressions=args),
    }

    def _parse_expression(self) -> exp.Expr | None:
        """With the words that it was typed in, which are its name where nobody gives it one."""
        first = self._curr
        found: exp.Expr | None = super()._parse_expression()
        if found is not None and first is not None and isinstance(self._prev, type(first)):
            found.meta[TYPED] = self.sql[first.start : self._prev.end + 1]
        return found

    def _parse_json_key_value(self) -> exp.JSONKeyValue | None:
        """The value of a member may be a comparison, as any expression."""
        name = self._parse_disjunction()
        if name is None:
            return None
        if not self._match(TokenType.COMMA):
            if not self._match(TokenType.R_PAREN, advance=False):
                self.raise_error("Expecting ,")
            text = "Incorrect parameter count in the call to native function 'json_object'"
            raise SqlError(1582, "42000", text)
        return exp.JSONKeyValue(this=name, expression=self._parse_disjunction())


class _Server(MySQL):
    Parser = _Parser

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """As typed: one that does not begin with `$` is none."""
        return path


def parsed(sql: str) -> exp.Expr:
    """A statement as a tree. Raises SqlError 1064."""
    try:
        _check_literals(sql)
        sql = _INTERVAL.sub(_rounded, _as_substring(_apart(sql)))
        _check_commas(sql)
        _check_counts(sql)
        found = sqlglot.parse_one(_without_how(sql), dialect=_Server)
    except (SqlglotError, RecursionError) as error:
        near = getattr(error, "errors", None) or [{}]
        raise syntax(_near(near[0])) from None
    if found is None:
        raise syntax(sql)
    return found.transform(_as_here, copy=False)


_LITERALS = re.compile(
    r"""'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+"|`[^`]*+`|/\*.*?\*/|(?:--[ \t]|\#)[^\n]*"""
    r"""|(?<![\w$@.])(?:[xX]'(?P<hex>[^']*)'|[bB]'(?P<bits>[^']*)')""",
    re.DOTALL,
)


def _check_literals(sql: str) -> None:
    """Raises SqlError 1064 for x'...' and b'...' that are none (manual, Hexadecimal Literals)."""
    for found in _LITERALS.finditer(sql):
        digits, bits = found["hex"], found["bits"]
        if digits is not None and (len(digits) % 2 or re.fullmatch("[0-9a-fA-F]*", digits) is None):
            raise syntax(sql[found.start() :])
        if bits is not None and bits.strip("01"):
            raise syntax(sql[found.start() :])


def _as_substring(sql: str) -> str:
    """MID(x FROM 2 FOR 3) is SUBSTRING, of which sqlglot knows this form."""
    tokens = tokens_of(sql)
    for at in reversed(range(len(tokens) - 1)):
        one, opens = tokens[at], tokens[at + 1]
        if one.text.upper() != "MID" or opens.token_type is not TokenType.L_PAREN:
            continue
        depth = 0
        for inner in tokens[at + 1 :]:
            depth += (inner.token_type is TokenType.L_PAREN) - (inner.token_type is TokenType.R_PAREN)
            if not depth:
                break
            if depth == 1 and inner.token_type is TokenType.FROM:
                sql = f"{sql[: one.start]}SUBSTRING{sql[one.end + 1 :]}"
                break
    return sql


_INTERVAL = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")|(?i:\b(interval\s++)([0-9]++\.[0-9]++)(\s++"""
    r"""(?:microsecond|minute|hour|day|week|month|quarter|year)\b(?!_)))"""
)
"""An interval that is a decimal; of seconds it counts with what is behind its point."""


def _rounded(found: re.Match[str]) -> str:
    """Whole, as the server takes it: of a number it is rounded, of a text cut (item_timefunc.cc)."""
    if found["quoted"] is not None:
        return found[0]
    whole = Decimal(found[3]).to_integral_value(rounding=ROUND_HALF_UP)
    return f"{found[2]}{whole}{found[4]}"


_EXPONENT = re.compile(r"(?i)e[0-9]+(?=[+-])")


def _apart(sql: str) -> str:
    """A blank between an exponent and the sign behind it, which sqlglot takes for one number: 1e0+2."""
    for token in reversed(tokens_of(sql)):
        joined = _EXPONENT.search(token.text) if token.token_type is TokenType.NUMBER else None
        if joined is not None:
            at = token.start + joined.end()
            sql = f"{sql[:at]} {sql[at:]}"
    return sql


_NO_CALLS = (TokenType.FROM, TokenType.JOIN, TokenType.DOT, TokenType.ALIAS)
"""What stands behind them is a name, whichever it is."""


def _check_counts(sql: str) -> None:
    """Calls in a query with too few or too many arguments. Raises SqlError 1582 or 1064."""
    tokens = tokens_of(sql)
    if not tokens or tokens[0].token_type not in (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN):
        return
    counts, of_grammar = argument_counts(), grammar_counts()
    for at, (before, call, opens) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        name = call.text.lower()
        allowed = counts.get(name) or of_grammar.get(name)
        is_call = opens.token_type is TokenType.L_PAREN and before.token_type not in _NO_CALLS
        if allowed is None or not is_call or call.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            continue
        ends = _ends(tokens[at + 3 :])
        given = len(ends) if len(ends) > 1 or tokens[at + 3] is not ends[0] else 0
        if given in allowed:
            continue
        if name in counts:
            text = f"Incorrect parameter count in the call to native function '{call.text}'"
            raise SqlError(1582, "42000", text)
        raise syntax(sql[ends[min(given, allowed[-1]) - 1 if given else 0].start :])


_PARTS = ("FROM", "FOR")
"""Between arguments, as in SUBSTRING(x FROM 2 FOR 3)."""


def _ends(tokens: Sequence[Any]) -> list[Any]:
    """What stands behind each argument of a call. Raises SqlError where nothing ends it."""
    depth, found = 0, []
    for one in tokens:
        if not depth and (one.token_type is TokenType.COMMA or one.text.upper() in _PARTS):
            found.append(one)
        depth += (one.token_type is TokenType.L_PAREN) - (one.token_type is TokenType.R_PAREN)
        if depth < 0:
            return [*found, one]
    raise syntax("")


_ONLY_HOW = frozenset(
    (
        "HIGH_PRIORITY", "STRAIGHT_JOIN", "SQL_SMALL_RESULT", "SQL_BIG_RESULT", "SQL_BUFFER_RESULT",
        "SQL_NO_CACHE",
    )
)  # fmt: skip
"""Words behind SELECT that change how it is done, and not what it finds."""


def _without_how(sql: str) -> str:
    """A statement with blanks in place of them: what stands behind stays where it is."""
    tokens = tokens_of(sql)
    for place, one in enumerate(tokens):
        if one.token_type is TokenType.SELECT:
            for word in tokens[place + 1 :]:
                if word.text.upper() not in _ONLY_HOW:
                    break
                sql = sql[: word.start] + " " * (word.end + 1 - word.start) + sql[word.end + 1 :]
    return sql


def _as_here(node: exp.Expr) -> exp.Expr:
    """A text is of the only character set that there is here; DUAL is no table; bytes: `_of_bytes`.

    A row is a list of values. Raises NotSimulated for what no rows here hold.
    """
    if isinstance(node, exp.Anonymous) and node.name.upper() == "ROW":
        return exp.Tuple(expressions=node.expressions)
    if isinstance(node, exp.Anonymous) and node.name.upper() == "GET_FORMAT":
        raise NotSimulated("GET_FORMAT() is not simulated here")
    if isinstance(node, exp.BitString) and (_is_shown(node) or isinstance(node.parent, _TAKE_TEXTS)):
        bits = str(node.this)
        made = exp.HexString(this=f"{int(bits, 2):0{2 * -(-len(bits) // 8)}x}" if bits else "")
        made.parent = node.parent
        return _of_bytes(made)
    if isinstance(node, exp.Introducer):
        text: exp.Expr = node.expression
        return text
    if isinstance(node, exp.All | exp.Any):
        return node
    if isinstance(node, exp.Binary) and isinstance(node.expression, exp.All | exp.Any):
        return _of_each(node)
    if isinstance(node, exp.Interval) and isinstance(node.this, exp.Tuple):
        return exp.Anonymous(this="INTERVAL", expressions=node.this.expressions)
    source = node.args.get("from_")
    if isinstance(node, exp.Select) and source is not None and _is_dual(source.this):
        if node.is_star:
            raise SqlError(1096, "HY000", "No tables used")
        node.set("from_", None)
    if isinstance(node, exp.Literal) and not node.is_string and math.isinf(float(node.name)):
        raise SqlError(1367, "22007", f"Illegal double '{node.name}' value found during parsing")
    return _of_bytes(node)


def _of_each(node: exp.Binary) -> exp.Expr:
    """`= ANY` is IN and `<> ALL` is NOT IN; others compare with the least or the largest of the rows.

    Raises NotSimulated for other comparisons with ALL, and for what is no single column.
    """
    rows = node.expression.this
    inner = rows.this if isinstance(rows, exp.Subquery) else rows
    each, of_all = type(node), isinstance(node.expression, exp.All)
    if each is (exp.NEQ if of_all else exp.EQ):
        found = exp.In(this=node.this, query=exp.Subquery(this=inner))
        return exp.Not(this=found) if of_all else found
    if each not in _LARGER or not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
        raise NotSimulated("this comparison with ANY or ALL is not simulated; IN and NOT IN are")
    gather = exp.Max if _LARGER[each] is of_all else exp.Min
    value = exp.alias_(inner.expressions[0].unalias(), "each_of", quoted=True)
    listed = inner.copy().select(value, append=False).subquery("each_of")
    one = (
        exp.select(gather(this=exp.column("each_of", table="each_of", quoted=True))).from_(listed).subquery()
    )
    told: exp.Expr = each(this=node.this, expression=one)
    if of_all:
        none = exp.Not(this=exp.Exists(this=inner.copy()))
        told = exp.Paren(this=exp.Or(this=told, expression=none))
    return told


_LARGER: dict[type[exp.Expr], bool] = {exp.GT: True, exp.GTE: True, exp.LT: False, exp.LTE: False}


def _is_dual(table: exp.Expr) -> bool:
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return False
    return not table.db and not table.this.quoted and table.name.upper() == "DUAL"


_TAKE_TEXTS = (
    exp.Concat, exp.ConcatWs, exp.Length, exp.Upper, exp.Lower, exp.Left, exp.Right, exp.Substring,
    exp.Reverse,
)  # fmt: skip
_COUNTS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Chr)


def _is_shown(node: exp.Expr) -> bool:
    above = node.parent.parent if isinstance(node.parent, exp.Alias) else node.parent
    return above is None or isinstance(above, exp.Select)


def _of_bytes(node: exp.Expr) -> exp.Expr:
    """0x6162 is the text of its bytes, and a number where it is reckoned with (manual, hexadecimal literals).

    Where it is shown it stays what it is. Raises NotSimulated for bytes that are no text, which nothing here
    would find again.
    """
    shown = node.parent.parent if isinstance(node.parent, exp.Alias) else node.parent
    if isinstance(node, exp.Unhex | exp.Chr) and isinstance(shown, exp.Tuple | exp.Predicate):
        raise NotSimulated("bytes of a function are simulated where they are shown, and not as values")
    to_bytes = isinstance(node, exp.Cast) and node.to.is_type("binary", "varbinary")
    if to_bytes and (node.args["to"].expressions or isinstance(node.parent, exp.RegexpLike)):
        raise NotSimulated("BINARY(n), and BINARY in a pattern, are not simulated")
    if not isinstance(node, exp.HexString) or _is_shown(node):
        return node
    digits = str(node.this)
    if isinstance(shown, _COUNTS):
        return exp.Literal.number(int(digits, 16))
    text = bytes.fromhex(digits.rjust(len(digits) + len(digits) % 2, "0")).decode("utf-8", "replace")
    if "\ufffd" in text or not text.isprintable():
        raise NotSimulated("bytes that are no text are simulated where they are shown, and not as values")
    made = exp.Literal.string(text)
    return exp.Cast(this=made, to=exp.DataType.build("binary")) if isinstance(shown, COMPARES) else made


def _near(found: Mapping[str, Any]) -> str:
    """From where on a statement cannot be read: empty where more of it was expected."""
    behind = str(found.get("end_context") or "")
    at_end = not behind and not str(found.get("description")).startswith("Invalid expression")
    return "" if at_end else str(found.get("highlight") or "") + behind


_BEGIN = (TokenType.COMMA, TokenType.SELECT, TokenType.L_PAREN)
_MORE = (TokenType.WHERE, TokenType.AND, TokenType.OR, TokenType.ON, TokenType.GROUP_BY, TokenType.ORDER_BY)
_WORDS = (TokenType.VAR, TokenType.STRING, TokenType.NUMBER)


_WANTS_ONE = frozenset(("count", "sum", "avg", "min", "max"))


def _check_commas(sql: str) -> None:
    """Statements that sqlglot reads on: a list that is empty or ends with a comma, a word behind `*`, an end
    behind WHERE."""
    tokens = tokens_of(sql)
    before = TokenType.SELECT
    for one, other in pairwise(tokens):
        if one.token_type in _BEGIN and other.token_type is TokenType.FROM:
            raise syntax(sql[other.start :])
        all_columns = one.token_type is TokenType.STAR and before in (*_BEGIN[:2], TokenType.DOT)
        if all_columns and other.token_type in _WORDS:
            raise syntax(sql[other.start :])
        before = one.token_type
    for call, opens, closes in zip(tokens, tokens[1:], tokens[2:], strict=False):
        empty = (opens.token_type, closes.token_type) == (TokenType.L_PAREN, TokenType.R_PAREN)
        if empty and call.text.lower() in _WANTS_ONE:
            raise syntax(sql[closes.start :])
    if [one.token_type for one in tokens] == [TokenType.SELECT, TokenType.STAR]:
        raise SqlError(1096, "HY000", "No tables used")
    if tokens and tokens[-1].token_type in _MORE:
        raise syntax("")


def typed_list(sql: str) -> list[str]:
    """The expressions of the first select list, as typed."""
    sql = _without_how(sql)
    tokens = tokens_of(sql)
    begins, depth = [], 0
    for i, one in enumerate(tokens):
        depth += (one.token_type is TokenType.L_PAREN) - (one.token_type is TokenType.R_PAREN)
        if one.token_type is TokenType.SELECT:
            # What WITH names stands in parentheses before the query itself.
            begins.append((depth, i))
    if not begins:
        return []
    begin = min(begins)[1]
    found: list[str] = []
    depth, start = 0, begin + 1
    while start < len(tokens) and tokens[start].token_type in (TokenType.DISTINCT, TokenType.ALL):
        start += 1
    ends = (
        TokenType.FROM, TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.LIMIT,
        TokenType.ORDER_BY, TokenType.SEMICOLON, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING,
        TokenType.FOR, TokenType.INTO,
    )  # fmt: skip
    last = start
    for i in range(start, len(tokens)):
        kind = tokens[i].token_type
        if depth == 0 and kind is TokenType.R_PAREN:
            # Of a query in parentheses.
            return [*found, _between(sql, tokens[last:i])]
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
