"""Queries about a live cluster: read as MySQL, run by SQLite on the rows of this moment.

sqlglot translates; what SQLite does otherwise than MySQL is done by functions of our own: division (never
whole, NULL by zero with a warning), decimals inside texts, LPAD and its like.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite

from ndbplan.train.sql import alike, truncating
from ndbplan.train.sql.comparing import compare_as_texts, take_rows_apart
from ndbplan.train.sql.derived import heading_of, is_nothing, name_columns
from ndbplan.train.sql.functions import give, translate
from ndbplan.train.sql.large_numbers import work_out
from ndbplan.train.sql.moment_compares import compare_moments
from ndbplan.train.sql.nulls import may_be_null
from ndbplan.train.sql.numbers import (
    BYTES,
    DOUBLE,
    INT,
    MOST_DIGITS,
    SINGLE,
    TEXT,
    Kind,
    decimal,
    kind_of,
    single,
    widest,
    with_digits,
    written,
)
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned
from ndbplan.train.sql.query_settings import Settings
from ndbplan.train.sql.reading import typed_list
from ndbplan.train.sql.recursion import rounds_of, too_deep
from ndbplan.train.sql.regular_expressions import EXACT
from ndbplan.train.sql.rollup import rolled_up
from ndbplan.train.sql.scopes import check_names, named_later, renamed
from ndbplan.train.sql.sqlite_errors import refused
from ndbplan.train.sql.text_functions import MOST_BYTES
from ndbplan.train.sql.truncating import keep_to_digits, number_in, read_as_numbers
from ndbplan.train.sql.unions import first_come, plain_unions, sides
from ndbplan.train.sql.unsigned import Large, check_range, held, large_literals, unsigned


class Relation(NamedTuple):
    """A table that a query may read."""

    columns: tuple[str, ...]
    kinds: tuple[Kind, ...]
    rows: Sequence[Mapping[str, Any]]
    nullable: tuple[bool, ...] = ()
    """Which columns may be NULL; empty: all may."""
    heads: bool = False
    """Its columns are headed by their own names, however they are typed."""
    exact: frozenset[str] = frozenset()
    """Columns whose texts differ where their cases do: of bytes, or of a collation that says so."""


class Result(NamedTuple):
    """What a query found."""

    headings: tuple[str, ...]
    kinds: tuple[Kind, ...]
    rows: list[tuple[Any, ...]]
    warnings: tuple[Warned, ...] = ()
    nullable: tuple[bool, ...] = ()
    """Columns that may be NULL, for which the client keeps room; empty: none."""
    note: str = ""
    """What this program says beside it, of a list that is not whole."""


Provider = Callable[[str, str], Relation]
"""The table of a database and a name; raises SqlError."""

MOST_STEPS = 2_000_000
"""A query that takes more steps of SQLite's machine than this is broken off: it has no end here."""


def run(sql: str, tree: exp.Expr, database: str, provide: Provider, settings: Settings) -> Result:
    """The rows of a query; `provide` gives the tables. Raises SqlError."""
    base = sqlite3.connect(":memory:")
    base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    try:
        warnings, letters = _Warnings(), alike.Letters(base, settings.collation)
        _functions(base, warnings, settings)
        with_digits(tree, settings.quotient_digits)
        name_columns(tree)
        work_out(tree)
        large = large_literals(tree)
        columns = _fill(base, tree, database, provide, large, letters)
        compare_moments(tree, columns.kinds, settings.refuses_moments)
        letters.meet(one.name for one in tree.find_all(exp.Literal))
        steps = [0]

        def count() -> int:
            steps[0] += 1
            return int(steps[0] > MOST_STEPS // 1000)

        base.set_progress_handler(count, 1000)
        try:
            for rounds in rounds_of(tree, settings.most_rounds):
                (deepest,) = base.execute(_translated(rounds, columns.kinds)).fetchone()
                if (deepest or 0) > settings.most_rounds:
                    raise too_deep(settings.most_rounds)
            warnings.found.clear()
            cursor = base.execute(_translated(rolled_up(tree), columns.kinds, typed_list(sql)))
            rows = cursor.fetchall()
        except sqlite3.Error as error:
            if warnings.raised:
                raise warnings.raised[0] from None
            raise refused(str(error), tree, database, settings.most_rounds) from None
        names = [one[0] for one in cursor.description or ()]
    finally:
        base.close()
    headed = _headings(sql, tree, names, columns)
    rows = unsigned(tree, headed.kinds, rows, large)
    check_range(tree, headed.kinds, rows, large)
    return Result(headed.names, headed.kinds, rows, tuple(warnings.found), headed.nullable)


class _Warnings:
    def __init__(self) -> None:
        self.found: list[Warned] = []
        self.raised: list[SqlError | NotSimulated] = []


def _functions(base: sqlite3.Connection, warnings: _Warnings, settings: Settings) -> None:
    def warn(code: int, text: str) -> None:
        warnings.found.append(Warned("Warning", code, text))

    def divide(one: Any, other: Any) -> float | None:
        sides = divided(one, other)
        return None if sides is None else float(sides[0]) / float(sides[1])

    def divide_whole(one: Any, other: Any) -> int | None:
        sides = divided(one, other)
        return None if sides is None else int(_exact(sides[0]) / _exact(sides[1]))

    def remainder(one: Any, other: Any) -> int | float | None:
        sides = divided(one, other)
        if sides is None:
            return None
        left = _exact(sides[0]) % _exact(sides[1])
        return int(left) if all(isinstance(side, int) for side in sides) else float(left)

    def divided(one: Any, other: Any) -> tuple[float, float] | None:
        if one is None or other is None:
            return None
        above, below = (number_in(value, "DOUBLE", warn) or 0 for value in (one, other))
        if not below:
            warn(1365, "Division by 0")
            return None
        return above, below

    def text(value: Any, digits: int) -> str | None:
        kind = {_ALL_DIGITS: DOUBLE, _SINGLE: SINGLE}.get(digits) or decimal(digits)
        return None if value is None else written(value, kind)

    for name, function in (("div", divide), ("int_div", divide_whole), ("mod", remainder)):
        base.create_function(f"mysql_{name}", 2, function, deterministic=True)
    base.create_function("mysql_text", 2, text, deterministic=True)
    base.create_function("mysql_single", 1, lambda one: None if one is None else single(one))
    give(base, warn, warnings.raised, settings)
    truncating.give(base, warn)
    alike.give(base)
    base.create_aggregate("only_value", 1, _OnlyValue)


def _exact(number: float) -> Decimal:
    return Decimal(str(number))


class _OnlyValue:
    """The value of a subquery that stands for one: more than one row of it is an error."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def step(self, value: Any) -> None:
        self.rows.append(value)
        if len(self.rows) > 1:
            raise ValueError

    def finalize(self) -> Any:
        return self.rows[0] if self.rows else None


class _Known(NamedTuple):
    """What is known of the columns that a query names, by their names in small letters."""

    kinds: dict[str, Kind]
    nullable: dict[str, bool]
    heads: dict[str, str]
    """What stands above it, where that is not what was typed."""


def _fill(
    base: sqlite3.Connection,
    tree: exp.Expr,
    database: str,
    provide: Provider,
    large: Large,
    letters: alike.Letters,
) -> _Known:
    """Make the tables that a query names, and tell of their columns; `large` takes what SQLite rounds."""
    named, not_yet = {one.alias_or_name for one in tree.find_all(exp.CTE)}, named_later(tree)
    known = _Known({}, {}, {})
    columns = known.kinds
    made: dict[str, Sequence[str]] = {}
    exact = set[str]()
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.JSONTable):
            raise NotSimulated("JSON_TABLE() is not simulated here")
        if not table.db and table.name in named and id(table) not in not_yet:
            continue
        where = table.db or database
        if not where:
            raise SqlError(1046, "3D000", "No database selected")
        relation = provide(where, table.name)
        inside = f"{where}.{table.name}"
        if inside not in made:
            made[inside] = relation.columns
            # Texts are equal whatever their case, as in most collations of the server; '3' is equal to 3.
            quoted = ", ".join(
                f"{_quoted(column)} {'NUMERIC' if kind.is_number else 'TEXT'} "
                f"COLLATE {'BINARY' if column in relation.exact else 'NOCASE'}"
                for column, kind in zip(relation.columns, relation.kinds, strict=True)
            )
            base.execute(f"CREATE TABLE {_quoted(inside)} ({quoted})")
            places = ", ".join("?" * len(relation.columns))
            values = [tuple(held(row[column], large) for column in relation.columns) for row in relation.rows]
            base.executemany(f"INSERT INTO {_quoted(inside)} VALUES ({places})", values)
            letters.meet(one for row in values for one in row)
        low, exact = [one.lower() for one in relation.columns], exact | {*map(str.lower, relation.exact)}
        columns.update(zip(low, relation.kinds, strict=True))
        known.nullable.update(zip(low, relation.nullable or (True,) * len(low), strict=True))
        known.heads.update(zip(low, relation.columns, strict=True) if relation.heads else ())
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
        table.set("this", exp.to_identifier(inside, quoted=True))
        table.set("db", None)
        table.set("catalog", None)
    check_names(tree, columns, made)
    for column in tree.find_all(exp.Column):
        column.meta[EXACT] = column.name.lower() in exact
        # `ndbinfo.nodes.node_id` is the column of the table by its name alone.
        column.set("db", None)
        column.set("catalog", None)
    for name, shown in renamed(tree):
        columns.setdefault(name.lower(), kind_of(shown, columns))
    for inner in tree.find_all(exp.Alias):
        columns.setdefault(inner.alias.lower(), BYTES if is_nothing(inner) else kind_of(inner.this, columns))
        known.nullable.setdefault(inner.alias.lower(), may_be_null(inner.this, known.nullable))
    return known


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_DIVIDES: dict[type[exp.Binary], str] = {
    exp.Div: "mysql_div",
    exp.IntDiv: "mysql_int_div",
    exp.Mod: "mysql_mod",
}


class _Strict(SQLite):
    """SQLite takes a name in double quotes for a text where there is no such column."""

    class Tokenizer(SQLite.Tokenizer):
        IDENTIFIERS = ["`", '"', ("[", "]")]  # noqa: RUF012 — as sqlglot declares it


_TAKES_ONE = (exp.Select, exp.Binary, exp.Alias, exp.Func, exp.Where, exp.Having, exp.Unary, exp.Paren)
"""What a subquery in it gives one value to."""


def _translated(tree: exp.Expr, columns: Mapping[str, Kind], typed: Sequence[str] = ()) -> str:
    def divide(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Div | exp.IntDiv | exp.Mod):
            return exp.Anonymous(this=_DIVIDES[type(node)], expressions=[node.left, node.right])
        return node

    def only(node: exp.Expr) -> exp.Expr:
        inner = node.this if isinstance(node, exp.Subquery) else None
        if not isinstance(inner, exp.Query) or not isinstance(node.parent, _TAKES_ONE):
            return node
        listed = inner
        while isinstance(listed, exp.SetOperation):
            listed = listed.this.unnest()
        if len(listed.expressions) != 1:
            raise SqlError(1241, "21000", "Operand should contain 1 column(s)")
        if listed.is_star:
            return node
        name = listed.expressions[0].alias_or_name or "only"
        listed.set("expressions", [exp.alias_(listed.expressions[0].unalias(), name, quoted=True)])
        value = exp.Anonymous(this="only_value", expressions=[exp.column(name, table="one", quoted=True)])
        return exp.select(value).from_(inner.subquery("one")).subquery()

    changed = _without_having(tree.copy())
    take_rows_apart(changed)
    for one in list(changed.find_all(exp.Subquery)):
        put = only(one)
        if put is not one:
            one.replace(put)
    read_as_numbers(changed, columns)
    for rounds in list(changed.find_all(exp.Round)):
        is_read = isinstance(rounds.this, exp.Anonymous) and rounds.this.name == "mysql_number"
        if is_read or kind_of(rounds.this, columns).name == "double":
            digits = rounds.args.get("decimals") or exp.Literal.number(0)
            rounds.replace(exp.Anonymous(this="mysql_rint", expressions=[rounds.this, digits]))
    _write_numbers(changed, columns)
    for cast in [one for one in changed.find_all(exp.Cast) if one.to.is_type("float")]:
        cast.replace(exp.Anonymous(this="mysql_single", expressions=[cast.copy()]))
    compare_as_texts(changed)
    translate(changed, columns)
    changed = first_come(changed)
    plain_unions(changed)
    changed = changed.transform(divide)
    keep_to_digits(changed, typed)
    return changed.sql(dialect=_Strict)


def _without_having(tree: exp.Expr) -> exp.Expr:
    """HAVING of rows that nothing groups chooses among them, and knows the names of the list."""
    having = tree.args.get("having")
    if not isinstance(tree, exp.Select) or having is None or tree.args.get("group") is not None:
        return tree
    if any(one.find(exp.AggFunc) for one in (*tree.expressions, having)):
        return tree
    listed = {one.alias_or_name.lower() for one in tree.expressions}
    if not tree.is_star and any(c.name.lower() not in listed for c in having.find_all(exp.Column)):
        return tree
    # Which rows come first, and how many, is said of those that are chosen.
    last = {name: tree.args.get(name) for name in ("order", "limit", "offset")}
    for name in ("having", *last):
        tree.set(name, None)
    named = exp.TableAlias(this=exp.to_identifier("rows_of"))
    outer = exp.select("*").from_(exp.Subquery(this=tree, alias=named)).where(having.this.copy())
    for name, part in last.items():
        outer.set(name, part)
    return outer


_OF_TEXTS = (
    exp.Length, exp.BitLength, exp.Left, exp.Right, exp.Substring, exp.Pad, exp.Repeat, exp.Reverse,
    exp.Replace, exp.Stuff, exp.Upper, exp.Lower, exp.Trim, exp.SubstringIndex, exp.StrPosition, exp.Ascii,
    exp.Concat, exp.ConcatWs, exp.GroupConcat, exp.MD5, exp.SHA, exp.Elt, exp.Like, exp.ToBase64,
)  # fmt: skip
_NAMED = frozenset(("mid", "octet_length", "ord", "quote", "field", "find_in_set", "strcmp", "crc32"))


def _write_numbers(tree: exp.Expr, columns: Mapping[str, Kind]) -> None:
    """Decimals and doubles that functions take as texts are written as the server writes them."""
    for node in list(tree.find_all(*_OF_TEXTS, exp.Anonymous, exp.Cast)):
        if isinstance(node, exp.Anonymous) and node.name.lower() not in _NAMED:
            continue
        if isinstance(node, exp.Cast) and not node.to.is_type("char", "varchar", "text"):
            continue
        every = isinstance(node, exp.Concat | exp.ConcatWs | exp.Anonymous | exp.Elt)
        for one in node.expressions if every else [_gathered(node.this)]:
            kind = kind_of(one, columns)
            if kind.name in ("decimal", "double"):
                all_of = _SINGLE if kind.is_single else _ALL_DIGITS
                digits = exp.Literal.number(kind.digits if kind.name == "decimal" else all_of)
                one.replace(exp.Anonymous(this="mysql_text", expressions=[one.copy(), digits]))


_ALL_DIGITS, _SINGLE = MOST_DIGITS + 1, MOST_DIGITS + 2


def _gathered(node: exp.Expr) -> exp.Expr:
    """What GROUP_CONCAT puts together."""
    while isinstance(node, exp.Order):
        node = node.this
    return node.expressions[0] if isinstance(node, exp.Distinct) else node


class _Headed(NamedTuple):
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    nullable: tuple[bool, ...]


def _headings(sql: str, tree: exp.Expr, names: Sequence[str], known: _Known) -> _Headed:
    """Headings as typed, what each column is, and whether it may be NULL."""
    first, *others = sides(tree)
    listed = first.expressions if isinstance(first, exp.Select) else []
    stars = sum(one.is_star for one in listed)
    if stars > 1 or (not stars and len(listed) != len(names)):
        return _Headed(tuple(names), *_of_columns(names, known))
    typed = typed_list(sql)
    headings: list[str] = []
    kinds: list[Kind] = []
    nullable: list[bool] = []
    for place, one in enumerate(listed):
        if one.is_star:
            # Of every column that the others leave.
            of_star = names[place : place + len(names) - len(listed) + 1]
            headings += of_star
            more = _of_columns(of_star, known)
            kinds, nullable = [*kinds, *more[0]], [*nullable, *more[1]]
            continue
        if isinstance(one, exp.Alias):
            headings.append(one.alias)
        elif isinstance(one, exp.Column):
            headings.append(known.heads.get(one.name.lower(), one.name))
        else:
            text = typed[place] if len(typed) == len(listed) else names[len(headings)]
            # The heading of a text is the text; the text may stand for a function that was typed.
            of_text = heading_of(text)
            headings.append(text if of_text is None else of_text)
        kinds.append(kind_of(one, known.kinds))
        nullable.append(may_be_null(one, known.nullable))
    parts = [one for one in others if isinstance(one, exp.Select) and len(one.expressions) == len(listed)]
    for place in range(len(listed) if parts and not stars and not any(one.is_star for one in parts) else 0):
        of_all = [one.expressions[place] for one in (first, *parts)]
        told = [kind_of(one, known.kinds) for one in of_all if not isinstance(one.unalias(), exp.Null)]
        kinds[place] = widest(told)
        nullable[place] = any(may_be_null(one, known.nullable) for one in of_all)
    return _Headed(tuple(headings), tuple(kinds), tuple(nullable))


def _of_columns(names: Sequence[str], known: _Known) -> tuple[tuple[Kind, ...], tuple[bool, ...]]:
    low = [name.lower() for name in names]
    return tuple(known.kinds.get(one, TEXT) for one in low), tuple(
        known.nullable.get(one, True) for one in low
    )


def relation(
    columns: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    numbers: Sequence[bool],
    nullable: Sequence[bool] = (),
    *,
    heads: bool = False,
) -> Relation:
    """A table of whole numbers and texts."""
    kinds = tuple(INT if is_number else TEXT for is_number in numbers)
    return Relation(tuple(columns), kinds, rows, tuple(nullable), heads)
