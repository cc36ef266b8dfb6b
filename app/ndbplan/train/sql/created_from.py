"""CREATE TABLE ... SELECT of one table: the statement that makes it, and the one that fills it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from sqlglot import exp

from ndbplan.edits import validated
from ndbplan.plan.tables import Column
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import server
from ndbplan.train.sql.created import column_text
from ndbplan.train.sql.problem import NotSimulated, SqlError
from ndbplan.train.sql.reading import parsed

_HEAD = re.compile(r"create\s+table\s+(?P<name>`[^`]+`(?:\.`[^`]+`)?|[\w$]+(?:\.[\w$]+)?)\s", re.IGNORECASE)
_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
_IS_ONE = re.compile(r"create\s+table\b[^()]*\bselect\b", re.IGNORECASE)


class Made(NamedTuple):
    """What it comes to."""

    create: str
    fill: str
    drop: str


def made_from(sql: str, database: str, cluster: LiveCluster) -> Made | None:
    """The statements of a CREATE TABLE ... SELECT; None: it is none. Raises SqlError and NotSimulated."""
    if not _IS_ONE.match(sql):
        return None
    sql = sql.strip()
    match = _HEAD.match(sql)
    begins = None if match is None else _SELECT.search(sql, match.end())
    options = "" if match is None or begins is None else sql[match.end() : begins.start()].strip()
    tree = None if begins is None or "(" in options or ")" in options else parsed(sql[begins.start() :])
    if match is None or begins is None or not isinstance(tree, exp.Select):
        raise NotSimulated("of CREATE TABLE ... SELECT the form without columns of its own is simulated")
    if options.lower().split()[-1:] == ["as"]:
        options = options[:-2].strip()
    columns = ", ".join(_columns(tree, database, cluster))
    name = match["name"]
    return Made(
        f"CREATE TABLE {name} ({columns}) {options}",
        f"INSERT INTO {name} {sql[begins.start() :]}",
        f"DROP TABLE {name}",
    )


def filled(
    made: Made, cluster: LiveCluster, define: Callable[[str], object], change: Callable[[str], str]
) -> str:
    """Make the table and fill it, or neither; what the server says of that."""
    begin_s = cluster.now_s
    define(made.create)
    try:
        told = change(made.fill)
    except (SqlError, NotSimulated):
        define(made.drop)
        raise
    rows = told.partition("OK, ")[2].partition(" (")[0]
    counted = told.partition("Records: ")[2].partition(" ")[0] or rows.partition(" ")[0]
    lasted = server.lasted(cluster.now_s - begin_s)
    return f"Query OK, {rows} ({lasted})\nRecords: {counted}  Duplicates: 0  Warnings: 0\n"


def _columns(tree: exp.Select, database: str, cluster: LiveCluster) -> Iterator[str]:
    """Those of the query, as they are in its table but for what gives them numbers."""
    source = tree.args.get("from_") or tree.args.get("from")
    table = source.this if source is not None else None
    simple = isinstance(table, exp.Table) and not tree.args.get("joins") and not tree.args.get("group")
    if not simple or not isinstance(table, exp.Table):
        raise NotSimulated("CREATE TABLE ... SELECT of columns of one table is simulated")
    old = server.table_named(cluster, table.db or database, table.name)
    named = {column.name.lower(): column for column in old.columns}
    for one in tree.expressions:
        if isinstance(one, exp.Star):
            for column in old.columns:
                yield _text(cluster, old.primary_key, column, column.name)
            continue
        inside = one.this if isinstance(one, exp.Alias) else one
        if not isinstance(inside, exp.Column):
            raise NotSimulated("CREATE TABLE ... SELECT of columns of one table is simulated")
        if inside.name.lower() not in named:
            raise SqlError(1054, "42S22", f"Unknown column '{inside.name}' in 'field list'")
        yield _text(cluster, old.primary_key, named[inside.name.lower()], one.alias_or_name)


def _text(cluster: LiveCluster, key: tuple[str, ...], column: Column, name: str) -> str:
    stays = column.name not in key
    default = column.default if stays or column.default is not None else None
    changed = validated.changed(
        column, name=name, auto_increment=False, nullable=column.nullable and stays, default=default
    )
    return column_text(cluster.plan, changed)
