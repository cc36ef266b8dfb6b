"""Names in a query that SQLite lets pass, and the server does not.

check_names(tree, {"id", "n"})      # SELECT id AS i FROM t WHERE i > 2: 1054
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from ndbplan.train.sql.problem import SqlError


def check_names(tree: exp.Expr, columns: Collection[str]) -> None:
    """`columns`: of the tables that are read, in small letters.

    Raises SqlError 1066 for two tables of one name, 1054 for a condition on what the list names only.
    """
    named = {one.alias_or_name.lower() for one in tree.find_all(exp.CTE)}
    for select in tree.find_all(exp.Select):
        begin = select.args.get("from_")
        sources = [one.this for one in (begin, *select.args.get("joins", ())) if one is not None]
        names = [one.alias_or_name.lower() for one in sources]
        for place, name in enumerate(names):
            if name and name in names[:place]:
                raise SqlError(1066, "42000", f"Not unique table/alias: '{sources[place].alias_or_name}'")
        # What a query in FROM calls its columns is known to the conditions around it.
        if all(isinstance(one, exp.Table) and one.name.lower() not in named for one in sources):
            _check_condition(select, columns)


def _check_condition(select: exp.Select, columns: Collection[str]) -> None:
    where = select.args.get("where")
    aliases = {one.alias.lower() for one in select.expressions if isinstance(one, exp.Alias)}
    for column in () if where is None else where.find_all(exp.Column):
        is_own = not column.table and column.find_ancestor(exp.Select) is select
        if is_own and column.name.lower() in aliases.difference(columns):
            raise SqlError(1054, "42S22", f"Unknown column '{column.name}' in 'where clause'")
