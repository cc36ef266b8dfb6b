"""Unions: what they put together, how SQLite takes them, and in which order their rows come.

sides(tree)           # the queries of a union, in their order
first_come(tree)      # a row that comes twice stands where it came first, as the server has it
"""

from __future__ import annotations

from sqlglot import exp


def sides(tree: exp.Expr) -> list[exp.Expr]:
    """What a union puts together, in its order; of another query itself."""
    if isinstance(tree, exp.Subquery):
        return sides(tree.this)
    if not isinstance(tree, exp.SetOperation):
        return [tree]
    left = sides(tree.this)
    return left + (sides(tree.expression) if isinstance(tree, exp.Union) else [])


def first_come(tree: exp.Expr) -> exp.Expr:
    """SQLite sorts what it takes once; the server keeps the order in which rows come (manual, UNION)."""
    for inner in list(tree.find_all(exp.Subquery)):
        if isinstance(inner.parent, exp.From | exp.Join) and isinstance(inner.this, exp.Union):
            inner.set("this", _in_order(inner.this))
    return _in_order(tree)


def _in_order(tree: exp.Expr) -> exp.Expr:
    if not isinstance(tree, exp.Union):
        return tree
    once: exp.Expr = tree
    while isinstance(once, exp.Union) and not once.args.get("distinct"):
        once = once.this
    if not isinstance(once, exp.Union):
        return tree
    is_whole = once is tree
    outer_parts = {name: once.args.get(name) for name in ("order", "limit", "offset", "with_")}
    inner = once.copy() if not is_whole else once
    each: exp.Expr = inner
    while isinstance(each, exp.Union):
        each.set("distinct", False)
        each = each.this
    for name in outer_parts:
        inner.set(name, None)
    named = exp.TableAlias(this=exp.to_identifier("united"))
    found = exp.select("*").distinct().from_(exp.Subquery(this=inner, alias=named))
    for name, part in outer_parts.items():
        found.set(name, part)
    if is_whole:
        return found
    once.replace(found)
    return tree


def plain_unions(tree: exp.Expr) -> None:
    """SQLite takes no parentheses around what a union puts together."""
    for union in list(tree.find_all(exp.Union)):
        for side in (union.this, union.expression):
            if isinstance(side, exp.Subquery) and not side.alias:
                inner = exp.Subquery(this=side.this, alias=exp.TableAlias(this=exp.to_identifier("part")))
                side.replace(exp.select("*").from_(inner))
