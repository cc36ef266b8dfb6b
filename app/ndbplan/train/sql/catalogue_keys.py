"""INFORMATION_SCHEMA of databases, keys, constraints and sessions.

Source: manual 8.4, INFORMATION_SCHEMA General Tables; columns by release are in `sql_server.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ndbplan.ndb.charsets import charset_of
from ndbplan.ndb.console import form
from ndbplan.plan.tables import Table
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import server
from ndbplan.train.sql.character_sets import of_server
from ndbplan.train.sql.expressions_kept import expressions_of
from ndbplan.train.sql.foreign_keys import ForeignKey, keys_of

Row = dict[str, Any]


def _schemata(cluster: LiveCluster) -> Iterator[Row]:
    version = cluster.plan.version
    of_catalogue = str(form(version, "catalogue_collation"))
    for name in server.databases(cluster):
        collation = of_catalogue if name == "information_schema" else of_server(version)
        yield {
            "CATALOG_NAME": "def", "SCHEMA_NAME": name, "DEFAULT_COLLATION_NAME": collation,
            "DEFAULT_CHARACTER_SET_NAME": collation.partition("_")[0]
            if name == "information_schema" else charset_of(collation),
            "DEFAULT_ENCRYPTION": "NO",
        }  # fmt: skip


def _unique(table: Table) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Names, kinds and columns of what makes rows of a table unique."""
    if table.primary_key:
        yield "PRIMARY", "PRIMARY KEY", table.primary_key
    for one in table.indexes:
        if one.kind != "ordered":
            yield one.name, "UNIQUE", one.columns


def _foreign(cluster: LiveCluster, table: Table) -> tuple[ForeignKey, ...]:
    return keys_of(cluster.plan, table)


def _constraint(table: Table, name: str) -> Row:
    return {
        "CONSTRAINT_CATALOG": "def", "CONSTRAINT_SCHEMA": table.database, "CONSTRAINT_NAME": name,
        "TABLE_SCHEMA": table.database, "TABLE_NAME": table.name,
    }  # fmt: skip


def _constraints(cluster: LiveCluster) -> Iterator[Row]:
    for table in server.tables_of_server(cluster):
        for name, kind, _ in _unique(table):
            yield _constraint(table, name) | {"CONSTRAINT_TYPE": kind, "ENFORCED": "YES"}
        for key in _foreign(cluster, table):
            yield _constraint(table, key.name) | {"CONSTRAINT_TYPE": "FOREIGN KEY", "ENFORCED": "YES"}
        kept = expressions_of(table)
        for name in sorted({**kept.checks, **kept.unenforced}):
            enforced = "YES" if name in kept.checks else "NO"
            yield _constraint(table, name) | {"CONSTRAINT_TYPE": "CHECK", "ENFORCED": enforced}


def _key_columns(cluster: LiveCluster) -> Iterator[Row]:
    for table in server.tables_of_server(cluster):
        for name, _, columns in _unique(table):
            for place, column in enumerate(columns, start=1):
                yield _constraint(table, name) | {"COLUMN_NAME": column, "ORDINAL_POSITION": place}
        for key in _foreign(cluster, table):
            pairs = zip(key.columns, key.referenced, strict=True)
            for place, (column, referenced) in enumerate(pairs, start=1):
                yield _constraint(table, key.name) | {
                    "COLUMN_NAME": column, "ORDINAL_POSITION": place, "POSITION_IN_UNIQUE_CONSTRAINT": place,
                    "REFERENCED_TABLE_SCHEMA": key.parent[0], "REFERENCED_TABLE_NAME": key.parent[1],
                    "REFERENCED_COLUMN_NAME": referenced,
                }  # fmt: skip


def _references(cluster: LiveCluster) -> Iterator[Row]:
    tables = {(one.database, one.name): one for one in server.tables_of_server(cluster)}
    for table in tables.values():
        for key in _foreign(cluster, table):
            parent = tables.get(key.parent)
            serving = () if parent is None else _unique(parent)
            yield _constraint(table, key.name) | {
                "UNIQUE_CONSTRAINT_CATALOG": "def", "UNIQUE_CONSTRAINT_SCHEMA": key.parent[0],
                "UNIQUE_CONSTRAINT_NAME": next(
                    (name for name, _, columns in serving if tuple(columns) == key.referenced), None
                ),
                "MATCH_OPTION": "NONE", "UPDATE_RULE": key.on_update, "DELETE_RULE": key.on_delete,
                "REFERENCED_TABLE_NAME": key.parent[1],
            }  # fmt: skip


def _checks(cluster: LiveCluster) -> Iterator[Row]:
    for table in server.tables_of_server(cluster):
        kept = expressions_of(table)
        for name, text in sorted({**kept.checks, **kept.unenforced}.items()):
            clause = text.replace("'", "\\'")
            yield {**_constraint(table, name), "CONSTRAINT_CATALOG": "def", "CHECK_CLAUSE": clause}


ROWS: dict[str, Callable[[LiveCluster], Iterator[Row]]] = {
    "SCHEMATA": _schemata, "TABLE_CONSTRAINTS": _constraints, "KEY_COLUMN_USAGE": _key_columns,
    "REFERENTIAL_CONSTRAINTS": _references, "CHECK_CONSTRAINTS": _checks,
}  # fmt: skip
"""Tables by their names."""
