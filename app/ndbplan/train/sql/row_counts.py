"""SELECT COUNT(*) of one whole table, whose rows are not read for it.

counted(parsed("SELECT COUNT(*) FROM t"), "test", cluster)      # [(1000000,)]; None: it is another query
"""

from __future__ import annotations

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import failing, locking, server
from ndbplan.train.sql.problem import no_database


def counted(tree: exp.Expr, in_use: str, cluster: LiveCluster) -> list[tuple[int]] | None:
    """The row of how many rows a table has, where nothing else is asked; None: it is another query.

    Raises SqlError for tables that there are not, or that cannot be read.
    """
    tables = list(tree.find_all(exp.Table))
    if not isinstance(tree, exp.Select) or len(tables) != 1 or len(tree.expressions) != 1:
        return None
    only = tree.expressions[0].unalias()
    where = tables[0].db or in_use
    plain = not any(tree.args.get(key) for key in ("where", "group", "having", "joins"))
    if not plain or not isinstance(only, exp.Count) or not isinstance(only.this, exp.Star):
        return None
    if where in ("ndbinfo", "") or where.lower() == "information_schema":
        return None
    if where not in server.databases(cluster):
        raise no_database(where)
    if where in server.SYSTEM:
        return None
    table = server.table_named(cluster, where, tables[0].name)
    failing.may_use(cluster, table, counts=True)
    locking.enter_to_read(cluster, table, tables)
    return [(cluster.rows_of(table),)] if _is_shown(tree) else []


def _is_shown(tree: exp.Select) -> bool:
    """Whether LIMIT and OFFSET leave a single row."""
    limit, offset = (
        None if one is None else whole_number(one.expression.name)
        for one in map(tree.args.get, ("limit", "offset"))
    )
    return limit != 0 and not offset
