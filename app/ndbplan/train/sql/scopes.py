"""Names in a query that SQLite lets pass, and the server does not.

check_names(tree, {"id", "n"})      # SELECT id AS i FROM t WHERE i > 2: 1054
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.train.sql.problem import SqlError


def check_names(tree: exp.Expr, columns: Collection[str], by_table: Mapping[str, Sequence[str]]) -> None:
    """`columns`: of the tables that are read, in small letters; `by_table`: as each table has them.

    Raises SqlError: 1066 for two tables of one name, 1051 for all columns of none, 1054 for a condition on
    what the list names only and for a place that it has not, 1111 for an aggregate within another or in
    WHERE, 1235 for LIMIT behind IN.
    """
    named = {one.alias_or_name.lower() for one in tree.find_all(exp.CTE)}
    for select in tree.find_all(exp.Select):
        begin = select.args.get("from_")
        sources = [one.this for one in (begin, *select.args.get("joins", ())) if one is not None]
        names = [one.alias_or_name.lower() for one in sources]
        for place, name in enumerate(names):
            if name and name in names[:place]:
                raise SqlError(1066, "42000", f"Not unique table/alias: '{sources[place].alias_or_name}'")
        _check_stars(select, names)
        _check_aggregates(select)
        _check_places(select)
        _check_once(select, by_table)
        # What a query in FROM calls its columns is known to the conditions around it.
        if all(isinstance(one, exp.Table) and one.name.lower() not in named for one in sources):
            _check_condition(select, columns)


def _check_stars(select: exp.Select, names: Collection[str]) -> None:
    for one in select.expressions:
        of = one.table if isinstance(one, exp.Column) and isinstance(one.this, exp.Star) else ""
        if of and of.lower() not in names:
            raise SqlError(1051, "42S02", f"Unknown table '{of}'")


def _check_aggregates(select: exp.Select) -> None:
    where = select.args.get("where")
    for found in select.find_all(exp.AggFunc):
        own = found.find_ancestor(exp.Select)
        over = found.find_ancestor(exp.AggFunc, exp.Select)
        windowed = isinstance(found.parent, exp.Window) or isinstance(over and over.parent, exp.Window)
        if own is not select or windowed:
            continue
        if isinstance(over, exp.AggFunc) or (where is not None and found.find_ancestor(exp.Where) is where):
            raise SqlError(1111, "HY000", "Invalid use of group function")


def _check_once(select: exp.Select, by_table: Mapping[str, Sequence[str]]) -> None:
    """Columns of a query in FROM have different names."""
    around = select.parent
    if not isinstance(around, exp.Subquery) or not isinstance(around.parent, exp.From | exp.Join):
        return
    names = list[str]()
    for one in select.expressions:
        if one.is_star:
            names += _of_star(select, one, by_table)
        elif isinstance(one, exp.Alias | exp.Column):
            names.append(one.alias_or_name)
    low = [name.lower() for name in names]
    for place, name in enumerate(low):
        if name in low[:place]:
            raise SqlError(1060, "42S21", f"Duplicate column name '{names[place]}'")


def _of_star(select: exp.Select, star: exp.Expr, by_table: Mapping[str, Sequence[str]]) -> list[str]:
    """Columns that a star stands for, where those of its tables are known; what joins name is there once."""
    of = star.table if isinstance(star, exp.Column) else ""
    found = list[str]()
    for source in (select.args.get("from_"), *(select.args.get("joins") or ())):
        table = None if source is None else source.this
        if not isinstance(table, exp.Table) or (of and table.alias_or_name != of):
            continue
        if source.args.get("method"):
            return []
        once = () if of else [one.name.lower() for one in source.args.get("using") or ()]
        found += [name for name in by_table.get(table.name, ()) if name.lower() not in once]
    return found


def _check_places(select: exp.Select) -> None:
    around = select.parent.parent if isinstance(select.parent, exp.Subquery) else select.parent
    if isinstance(around, exp.In) and select.args.get("limit") is not None:
        told = "'LIMIT & IN/ALL/ANY/SOME subquery'"
        raise SqlError(1235, "42000", f"This version of MySQL doesn't yet support {told}")
    if select.is_star:
        return
    for name, clause in (("order", "order clause"), ("group", "group statement")):
        part = select.args.get(name)
        for one in part.expressions if part is not None else ():
            place = one.this if isinstance(one, exp.Ordered) else one
            number = (
                whole_number(place.name) if isinstance(place, exp.Literal) and not place.is_string else None
            )
            if number is not None and not 1 <= number <= len(select.expressions):
                raise SqlError(1054, "42S22", f"Unknown column '{number}' in '{clause}'")


def _check_condition(select: exp.Select, columns: Collection[str]) -> None:
    where = select.args.get("where")
    aliases = {one.alias.lower() for one in select.expressions if isinstance(one, exp.Alias)}
    for column in () if where is None else where.find_all(exp.Column):
        is_own = not column.table and column.find_ancestor(exp.Select) is select
        if is_own and column.name.lower() in aliases.difference(columns):
            raise SqlError(1054, "42S22", f"Unknown column '{column.name}' in 'where clause'")


def check_read(tree: exp.Expr, target: exp.Table, where: str, in_use: str) -> None:
    """Raises SqlError 1093 where a condition or a value reads the table that is changed.

    A query in FROM is worked out before, and so is the one whose rows are inserted.
    """
    if isinstance(tree, exp.Insert) and isinstance(tree.expression, exp.Query):
        return
    for read in tree.find_all(exp.Table):
        inner = read.find_ancestor(exp.Select)
        above = inner.find_ancestor(exp.In, exp.Subquery, exp.Exists, exp.From, exp.Join) if inner else None
        inside = above is not None and not isinstance(above.parent, exp.From | exp.Join)
        same = (read.db or in_use, read.name) == (where, target.name)
        if read is not target and same and inside and not isinstance(above, exp.From | exp.Join):
            text = f"You can't specify target table '{target.alias_or_name}' for update in FROM clause"
            raise SqlError(1093, "HY000", text)


def renamed(tree: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    """What WITH calls the columns of its queries, and what stands there."""
    for one in tree.find_all(exp.CTE):
        first = one.this
        while isinstance(first, exp.SetOperation):
            first = first.this
        listed = first.expressions if isinstance(first, exp.Select) else ()
        yield from zip(one.alias_column_names, (each.unalias() for each in listed), strict=False)


def named_later(tree: exp.Expr) -> set[int]:
    """Tables within WITH that have the name of what it names there or further on: it is not known yet."""
    found = set[int]()
    for begun in tree.find_all(exp.With):
        left = [one.alias_or_name for one in begun.expressions]
        for one in () if begun.args.get("recursive") else begun.expressions:
            found |= {id(table) for table in one.find_all(exp.Table) if not table.db and table.name in left}
            left.pop(0)
    return found
