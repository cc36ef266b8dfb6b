"""GROUP BY ... WITH ROLLUP, which SQLite has not: one query for each level, and their rows put in order."""

from __future__ import annotations

from sqlglot import exp

from ndbplan.train.sql.problem import NotSimulated


def rolled_up(tree: exp.Expr) -> exp.Expr:
    """The same query without WITH ROLLUP: sums of each level behind the rows they sum up."""
    group = tree.args.get("group") if isinstance(tree, exp.Select) else None
    if not isinstance(tree, exp.Select) or group is None or not group.args.get("rollup"):
        return tree
    if any(one.is_star for one in tree.expressions):
        raise NotSimulated("SELECT * ... WITH ROLLUP is not simulated here; name the columns")
    keys = [_meant(one, tree) for one in group.expressions]
    levels = [_level(tree, keys, count) for count in range(len(keys), -1, -1)]
    whole: exp.Expr = levels[0]
    for one in levels[1:]:
        whole = exp.union(whole, one, distinct=False)
    outer = exp.select(*(f"c{i}" for i in range(len(tree.expressions)))).from_(whole.subquery("levels"))  # type: ignore[attr-defined]  # a union of selects
    order = tree.args.get("order")
    if order is None:
        outer = outer.order_by(*(name for i in range(len(keys)) for name in (f"l{i}", f"k{i}")))
    else:
        outer = outer.order_by(*(_ordered(one, tree) for one in order.expressions))
    for name in ("limit", "offset"):
        if tree.args.get(name) is not None:
            outer.set(name, tree.args[name].copy())
    return outer


def _meant(key: exp.Expr, tree: exp.Select) -> exp.Expr:
    """What a group is made by: an expression, the name of one of the list, or its place."""
    place = _place(key, tree)
    return key if place is None else tree.expressions[place].unalias()


def _place(key: exp.Expr, tree: exp.Select) -> int | None:
    """Which expression of the list a key of GROUP BY or ORDER BY names; None: none."""
    if isinstance(key, exp.Literal) and not key.is_string:
        number = int(key.name)
        return number - 1 if 0 < number <= len(tree.expressions) else None
    for place, one in enumerate(tree.expressions):
        if isinstance(key, exp.Column) and one.alias_or_name.lower() == key.name.lower():
            return place
    return None


def _level(tree: exp.Select, keys: list[exp.Expr], count: int) -> exp.Select:
    """The rows that are grouped by the first keys alone; the others are NULL in them."""
    gone = {one.sql() for one in keys[count:]}

    def without(node: exp.Expr) -> exp.Expr:
        inside = node.find_ancestor(exp.AggFunc) is not None
        return exp.null() if node.sql() in gone and not inside else node

    one = tree.copy()
    assert isinstance(one, exp.Select)
    names = {each.alias.lower(): each.unalias() for each in one.expressions if isinstance(each, exp.Alias)}

    def spelled(node: exp.Expr) -> exp.Expr:
        known = names.get(node.name.lower()) if isinstance(node, exp.Column) and not node.table else None
        return node if known is None else known.copy()

    listed = [
        exp.alias_(each.unalias().transform(without), f"c{i}") for i, each in enumerate(one.expressions)
    ]
    marks = [exp.alias_(exp.null() if i >= count else key.copy(), f"k{i}") for i, key in enumerate(keys)]
    marks += [exp.alias_(exp.Literal.number(int(i >= count)), f"l{i}") for i in range(len(keys))]
    one.set("expressions", [*listed, *marks])
    for name in ("order", "limit", "offset"):
        one.set(name, None)
    having = one.args.get("having")
    if having is not None:
        having.set("this", having.this.transform(spelled).transform(without))
    if count:
        one.set("group", exp.Group(expressions=[key.copy() for key in keys[:count]]))
    else:
        one.set("group", None)
        # Without a row there is no sum of all.
        any_row = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
        one.set("having", having or exp.Having(this=any_row))
    return one


def _ordered(one: exp.Expr, tree: exp.Select) -> exp.Expr:
    place = _place(one.this, tree)
    if place is None:
        raise NotSimulated("ORDER BY with WITH ROLLUP takes columns of the list here")
    return exp.Ordered(this=exp.column(f"c{place}"), desc=one.args.get("desc"))
