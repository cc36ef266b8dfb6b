"""How texts of a query are compared: by the collation that it names, as bytes, or whatever their case.

    compare_as_texts(tree)        # CONCAT('a') = 'A'  ->  CONCAT('a') COLLATE NOCASE = 'A'; so in ORDER BY

Columns have a collation of their own. Source: manual, collation of expressions; JSON has that of its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.train.sql.problem import SqlError

COMPARES = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ)
_OTHERS = (exp.In, exp.Between, exp.Nullif, exp.Case)
_JSON = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONObject, exp.JSONArray)
BY_BYTES, _BY_LETTERS = "BINARY", "NOCASE"
"""Collations of SQLite."""
_CASE_MATTERS = ("_bin", "_as_cs")


def compare_as_texts(tree: exp.Expr) -> None:
    """Say of each comparison of texts that are worked out how it is made."""
    for named in list(tree.find_all(exp.Collate)):
        name = named.expression.name.lower()
        if name == "binary" or name.endswith(_CASE_MATTERS):
            named.set("expression", exp.to_identifier(BY_BYTES))
        elif name.endswith(("_ai_ci", "_general_ci", "_unicode_ci")):
            named.set("expression", exp.to_identifier(_BY_LETTERS))
    for node in list(tree.find_all(*COMPARES, *_OTHERS)):
        first = node.this
        if first is None or isinstance(first, exp.Tuple):
            continue
        sides = [first, *_others(node)]
        if any(_is_of_bytes(one) for one in sides):
            for one in sides[1:]:
                if _is_of_bytes(one):
                    one.replace(one.this)
            inner = first.this if _is_of_bytes(first) else first.copy()
            first.replace(exp.Collate(this=inner, expression=exp.to_identifier(BY_BYTES)))
        elif not any(_says_how(one) for one in (sides if isinstance(node, COMPARES) else sides[:1])):
            _by_letters(first)
    _order_as_texts(tree)


def take_rows_apart(tree: exp.Expr) -> None:
    """(a, b) = (c, d) is a = c AND b = d, each compared by its kind; less is decided where they first differ.

    Raises SqlError where they are not equally long.
    """
    for node in list(tree.find_all(*COMPARES, exp.In)):
        if not isinstance(node.this, exp.Tuple):
            continue
        listed = node.expressions if isinstance(node, exp.In) else [node.expression]
        if not listed or not all(isinstance(one, exp.Tuple) for one in listed):
            continue
        parts = node.this.expressions
        if any(len(one.expressions) != len(parts) for one in listed):
            raise SqlError(1241, "21000", f"Operand should contain {len(parts)} column(s)")
        how = exp.EQ if isinstance(node, exp.In) else type(node)
        found = [_row(how, parts, one.expressions) for one in listed]
        node.replace(exp.Paren(this=exp.or_(*found)))


_UNEQUAL: dict[type[exp.Expr], type[exp.Expr]] = {exp.LTE: exp.LT, exp.GTE: exp.GT}


def _row(how: type[exp.Expr], ours: Sequence[exp.Expr], theirs: Sequence[exp.Expr]) -> exp.Expr:
    each = [(one.copy(), other.copy()) for one, other in zip(ours, theirs, strict=True)]
    if how in (exp.EQ, exp.NullSafeEQ):
        return exp.and_(*(how(this=one, expression=other) for one, other in each))
    if how is exp.NEQ:
        return exp.or_(*(how(this=one, expression=other) for one, other in each))
    (one, other), *behind = each
    if not behind:
        return how(this=one, expression=other)
    first = _UNEQUAL.get(how, how)(this=one, expression=other)
    same = exp.EQ(this=one.copy(), expression=other.copy())
    return exp.or_(first, exp.and_(same, _row(how, ours[1:], theirs[1:])))


def _order_as_texts(tree: exp.Expr) -> None:
    """What is sorted, grouped or taken once is so whatever its case, too."""
    for select in list(tree.find_all(exp.Select)):
        listed, distinct = select.expressions, select.args.get("distinct")
        group = select.args.get("group")
        parts = [window.args.get("partition_by") or () for window in select.find_all(exp.Window)]
        ordered = (each.this for each in select.find_all(exp.Ordered) if each.parent_select is select)
        for one in (*(group.expressions if group else ()), *ordered, *(each for of in parts for each in of)):
            if not _says_how(_meant(one, listed)):
                _by_letters(one)
        for one in listed if distinct is not None else ():
            if not one.is_star and not _says_how(one.unalias()):
                _by_letters(one.unalias())
    for union in list(tree.find_all(exp.Union)):
        for side in (union.this, union.expression) if union.args.get("distinct") else ():
            for one in side.expressions if isinstance(side, exp.Select) and not side.is_star else ():
                if not _says_how(one.unalias()):
                    _by_letters(one.unalias())
    for gathered in list(tree.find_all(exp.Count, exp.Min, exp.Max)):
        inner = gathered.this
        values = inner.expressions if isinstance(inner, exp.Distinct) else [inner]
        if not isinstance(gathered, exp.Count) or isinstance(inner, exp.Distinct):
            for one in values[: len(values) == 1]:
                if not _says_how(one):
                    _by_letters(one)


def _meant(one: exp.Expr, listed: Sequence[exp.Expr]) -> exp.Expr:
    """What a place in the list, or a name of it, stands for."""
    place = whole_number(one.name) if isinstance(one, exp.Literal) and not one.is_string else None
    if place is not None and 1 <= place <= len(listed):
        return listed[place - 1].unalias()
    if isinstance(one, exp.Column) and not one.table:
        named = (each.this for each in listed if isinstance(each, exp.Alias) and each.alias == one.name)
        return next(named, one)
    return one


def _by_letters(node: exp.Expr) -> None:
    node.replace(exp.Collate(this=node.copy(), expression=exp.to_identifier(_BY_LETTERS)))


def _others(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Case):
        yield from (one.this for one in node.args.get("ifs", ()))
        return
    for name in ("expression", "expressions", "low", "high"):
        found = node.args.get(name)
        yield from found if isinstance(found, list) else [found] if found is not None else []


def _is_of_bytes(node: exp.Expr) -> bool:
    return isinstance(node, exp.Cast) and node.to.is_type("binary", "varbinary", "blob")


def _says_how(node: exp.Expr) -> bool:
    """Whether a side has a collation: a column, what names one, JSON."""
    inner = node.unnest()
    is_json = isinstance(inner, exp.Anonymous) and inner.name.lower().startswith("json_")
    return is_json or _is_of_bytes(inner) or isinstance(inner, (exp.Column, exp.Collate, exp.Star, *_JSON))
