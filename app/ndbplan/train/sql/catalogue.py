"""INFORMATION_SCHEMA of a live cluster, and what SHOW takes from it.

catalogue(cluster, "FILES")          # a table that queries read
table_status(sql, database, pattern, cluster)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlglot import exp

from ndbplan.estimate.storage.rows import row_layout
from ndbplan.ndb import sql_server
from ndbplan.ndb.charsets import charset_of
from ndbplan.ndb.console import form
from ndbplan.ndb.ndbinfo import described, is_table, tables_of
from ndbplan.ndb.sql_server import catalogue_columns, catalogue_numbers
from ndbplan.plan.tables import Table
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import partitions_of, rows_of
from ndbplan.train.space import file_uses
from ndbplan.train.sql import catalogue_keys, failing, server
from ndbplan.train.sql.character_sets import measures, of_column, of_server, of_table
from ndbplan.train.sql.created import comment_of, made_with
from ndbplan.train.sql.engine import Relation, Result, relation
from ndbplan.train.sql.expressions_kept import expressions_of
from ndbplan.train.sql.numbers import INT, TEXT
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, no_database, no_table, syntax
from ndbplan.train.sql.sessions_seen import processes
from ndbplan.train.state import LocalTable

Row = dict[str, Any]


def _made_at(cluster: LiveCluster) -> str | None:
    """When tables were made: an older server does not say it [7.4.10]."""
    return f"{cluster.state.begin:%Y-%m-%d %H:%M:%S}" if form(cluster.plan.version, "create_time") else None


def engines(cluster: LiveCluster) -> list[Row]:
    """Storage engines of the server, in its order."""
    columns = catalogue_columns("ENGINES", cluster.plan.version)
    return [dict(zip(columns, row, strict=True)) for row in sql_server.engine_rows(cluster.plan.version)]


_OLD_PLUGINS = {"ndbinfo": "0.1", "ndb_transid_mysql_connection_map": "0.1"}
_ABOUT = {"ndb_transid_mysql_connection_map": "Map between MySQL connection ID and NDB transaction ID"}
"""Versions and descriptions of plugins that are not as is usual, or of no engine [8.4.8]."""


def plugins(cluster: LiveCluster) -> list[Row]:
    """Plugins of the server, in its order. Raises NotSimulated where they were not listed."""
    rows = sql_server.plugins(cluster.plan.version)
    if rows is None:
        raise NotSimulated("the plugins of this release are not known; SHOW ENGINES is")
    about = {row["ENGINE"]: row["COMMENT"] for row in engines(cluster)}
    return [
        {
            "PLUGIN_NAME": name, "PLUGIN_VERSION": _OLD_PLUGINS.get(name, "1.0"),
            "PLUGIN_STATUS": status, "PLUGIN_TYPE": kind, "PLUGIN_LICENSE": license_name,
            "PLUGIN_DESCRIPTION": about.get(name, _ABOUT.get(name, "")), "LOAD_OPTION": "ON",
        }
        for name, status, kind, license_name in rows
    ]  # fmt: skip


def _tables(cluster: LiveCluster) -> Iterator[Row]:
    sim, lost = cluster.session.simulation, failing.is_lost(cluster)
    for table in sorted(cluster.plan.tables, key=lambda one: (one.database, one.name)):
        if lost:
            yield _unopened(cluster, table)
            continue
        rows, parts = rows_of(sim, table), partitions_of(sim, cluster.plan_of(table), table)
        size = sum(part.fixed_bytes + part.variable_bytes for part in parts)
        yield {
            "TABLE_SCHEMA": table.database, "TABLE_NAME": table.name, "TABLE_TYPE": "BASE TABLE",
            "ENGINE": "ndbcluster", "VERSION": 10,
            "ROW_FORMAT": "Fixed" if table.row_format_fixed else "Dynamic", "TABLE_ROWS": rows,
            "AVG_ROW_LENGTH": size // rows if rows else 0, "DATA_LENGTH": size, "MAX_DATA_LENGTH": 0,
            "INDEX_LENGTH": 0, "DATA_FREE": 0,
            "AUTO_INCREMENT": server.next_number(cluster, table),
            "CREATE_TIME": _made_at(cluster),
            "TABLE_COLLATION": of_table(table, cluster.plan.version),
            "CREATE_OPTIONS": made_with(table),
            "TABLE_COMMENT": comment_of(cluster.plan, table),
        }  # fmt: skip
    for local in cluster.state.local:
        if local.table in server.local_tables(cluster):
            yield _local(cluster, local)
    for name in tables_of(cluster.plan.version):
        view = not is_table(cluster.plan.version, name)
        yield {
            "TABLE_SCHEMA": "ndbinfo", "TABLE_NAME": name, "TABLE_TYPE": "VIEW" if view else "BASE TABLE",
            "ENGINE": None if view else "ndbinfo", "CREATE_TIME": _made_at(cluster),
            "TABLE_COMMENT": "VIEW" if view else "",
        }  # fmt: skip


def _unopened(cluster: LiveCluster, table: Table) -> Row:
    """A table of NDB while the cluster is lost: what a dictionary of the server knows, or only why not."""
    row = {"TABLE_SCHEMA": table.database, "TABLE_NAME": table.name, "TABLE_TYPE": "BASE TABLE"}
    if not form(cluster.plan.version, "dictionary_of_its_own"):
        return row | {"TABLE_COMMENT": failing.NOT_OPENED}
    return row | {
        "ENGINE": "ndbcluster", "VERSION": 10,
        "ROW_FORMAT": "Fixed" if table.row_format_fixed else "Dynamic",
        **dict.fromkeys(
            ("TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH", "MAX_DATA_LENGTH", "INDEX_LENGTH", "DATA_FREE"), 0
        ),
        "CREATE_TIME": _made_at(cluster), "TABLE_COLLATION": of_table(table, cluster.plan.version),
        "CREATE_OPTIONS": "", "TABLE_COMMENT": comment_of(cluster.plan, table),
    }  # fmt: skip


_OF_DICTIONARY = {"table_catalog", "table_schema", "table_name", "table_type", "engine"}
"""Columns of TABLES for which no table is opened."""


def unopened(tree: exp.Expr, cluster: LiveCluster) -> tuple[Warned, ...]:
    """What a query of INFORMATION_SCHEMA.TABLES is warned of while the cluster is lost."""
    asked = {(one.db.lower(), one.name.lower()) for one in tree.find_all(exp.Table)}
    if ("information_schema", "tables") not in asked or not failing.is_lost(cluster):
        return ()
    names = {one.name.lower() for one in tree.find_all(exp.Column)}
    if names <= _OF_DICTIONARY and not any(tree.find_all(exp.Star)):
        return ()
    return failing.counting_warnings(
        cluster, sorted(cluster.plan.tables, key=lambda one: (one.database, one.name))
    )


_INNODB_PAGE_BYTES = 16384


def _local(cluster: LiveCluster, local: LocalTable) -> Row:
    """A table of InnoDB: one page for none [8.4.8], else as many as rows like those of NDB fill [assumed]."""
    table, version = local.table, cluster.plan.version
    rows = cluster.rows_of(table)
    row = row_layout(table, version)
    size = (
        max(1, -(-int(rows * (row.fixed_bytes + row.variable_bytes)) // _INNODB_PAGE_BYTES))
        * _INNODB_PAGE_BYTES
    )
    return {
        "TABLE_SCHEMA": table.database, "TABLE_NAME": table.name, "TABLE_TYPE": "BASE TABLE",
        "ENGINE": "InnoDB", "VERSION": 10, "ROW_FORMAT": form(version, "innodb_row_format"),
        "TABLE_ROWS": rows, "AVG_ROW_LENGTH": size // rows if rows else 0, "DATA_LENGTH": size,
        "MAX_DATA_LENGTH": 0, "INDEX_LENGTH": _INNODB_PAGE_BYTES * len(table.indexes), "DATA_FREE": 0,
        "AUTO_INCREMENT": server.next_number(cluster, table),
        "CREATE_TIME": f"{local.made:%Y-%m-%d %H:%M:%S}",
        "TABLE_COLLATION": of_table(table, version), "CREATE_OPTIONS": "", "TABLE_COMMENT": "",
    }  # fmt: skip


def _partitions(cluster: LiveCluster) -> Iterator[Row]:
    for table in cluster.plan.tables:
        key = ",".join(f"`{name}`" for name in table.distribution_key)
        for part in partitions_of(cluster.session.simulation, cluster.plan_of(table), table):
            size = part.fixed_bytes + part.variable_bytes
            yield {
                "TABLE_SCHEMA": table.database, "TABLE_NAME": table.name,
                "PARTITION_NAME": f"p{part.partition}", "PARTITION_ORDINAL_POSITION": part.partition + 1,
                "PARTITION_METHOD": "KEY", "PARTITION_EXPRESSION": key, "TABLE_ROWS": part.rows,
                "AVG_ROW_LENGTH": size // part.rows if part.rows else 0, "DATA_LENGTH": size,
                "MAX_DATA_LENGTH": 0, "INDEX_LENGTH": 0, "DATA_FREE": 0,
                "CREATE_TIME": _made_at(cluster), "PARTITION_COMMENT": "", "NODEGROUP": "default",
            }  # fmt: skip


def _files(cluster: LiveCluster) -> Iterator[Row]:
    """One row for a file [8.4.8]; in 7.x for each data node too, and one for each parent [7.4.10]."""
    version, plan = cluster.plan.version, cluster.plan
    by_node = bool(form(version, "files_by_node"))
    buffers = {group.name: group.undo_buffer_bytes for group in plan.logfile_groups}
    nodes: Sequence[int | None] = cluster.state.alive() if by_node else (None,)
    for use in file_uses(cluster):
        name = use.name if by_node or use.name.startswith("/") else f"./{use.name}"
        extra = [f"UNDO_BUFFER_SIZE={buffers[use.parent]}"] if use.is_undo else []
        free = use.free_extents if by_node or not use.is_undo else 0
        for node_id in nodes:
            words = [f"CLUSTER_NODE={node_id}", *extra] if node_id is not None else extra
            yield {
                "FILE_ID": 0, "FILE_NAME": name,
                "FILE_TYPE": "UNDO LOG" if use.is_undo else "DATAFILE",
                "TABLESPACE_NAME": None if by_node and use.is_undo else use.parent, "TABLE_CATALOG": "",
                "LOGFILE_GROUP_NAME": use.group, "ENGINE": "ndbcluster", "FREE_EXTENTS": free,
                "TOTAL_EXTENTS": use.extents, "EXTENT_SIZE": use.extent_bytes,
                "INITIAL_SIZE": use.size_bytes, "MAXIMUM_SIZE": use.size_bytes,
                "STATUS": "NORMAL" if by_node else "", "EXTRA": ";".join(words) or None,
            }  # fmt: skip
    if by_node:
        for group in plan.logfile_groups:
            yield {
                "FILE_TYPE": "UNDO LOG", "LOGFILE_GROUP_NAME": group.name, "ENGINE": "ndbcluster",
                "EXTENT_SIZE": 4, "STATUS": "NORMAL",
                "EXTRA": f"UNDO_BUFFER_SIZE={group.undo_buffer_bytes}",
            }  # fmt: skip
        groups = {group.id: group.name for group in plan.logfile_groups}
        for space in plan.tablespaces:
            yield {
                "FILE_TYPE": "TABLESPACE", "TABLESPACE_NAME": space.name,
                "LOGFILE_GROUP_NAME": groups[space.logfile_group_id], "ENGINE": "ndbcluster",
                "EXTENT_SIZE": space.extent_size_bytes, "STATUS": "NORMAL",
            }  # fmt: skip


def _columns(cluster: LiveCluster) -> Iterator[Row]:
    version = cluster.plan.version
    for table in server.tables_of_server(cluster):
        rows, generated = server.described_table(cluster.plan, table), expressions_of(table).generated
        for place, (column, row) in enumerate(zip(table.columns, rows, strict=True), start=1):
            told = _column(table.database, table.name, place, row)
            told["GENERATION_EXPRESSION"] = generated.get(column.name, "").replace("'", "\\'")
            yield told | _texts(str(row[1]), of_column(table, column, version))
    for name in tables_of(version):
        for place, one in enumerate(described(version, name), start=1):
            collation = of_server(version) if server.is_text(str(one[1])) else None
            yield _column("ndbinfo", name, place, (*one, "")) | _texts(str(one[1]), collation)


def _column(database: str, table: str, place: int, row: Sequence[Any]) -> Row:
    field, kind, null, key, default, extra = row
    return {
        "TABLE_SCHEMA": database, "TABLE_NAME": table, "COLUMN_NAME": field, "ORDINAL_POSITION": place,
        "COLUMN_DEFAULT": default, "IS_NULLABLE": null, "DATA_TYPE": re.split(r"[ (]", kind)[0],
        "COLUMN_TYPE": kind, "COLUMN_KEY": key, "EXTRA": extra, "COLUMN_COMMENT": "",
        "PRIVILEGES": "select,insert,update,references", "GENERATION_EXPRESSION": "",
    }  # fmt: skip


def _texts(kind: str, collation: str | None) -> Row:
    charset = None if collation is None else charset_of(collation)
    return {"CHARACTER_SET_NAME": charset, "COLLATION_NAME": collation, **measures(kind, collation)}


def _statistics(cluster: LiveCluster) -> Iterator[Row]:
    for table in server.tables_of_server(cluster):
        keys = [("PRIMARY", table.primary_key, table.primary_key_using_hash, False)]
        keys += [
            (one.name, one.columns, one.kind == "unique_hash", one.kind == "ordered")
            for one in sorted(table.indexes, key=lambda one: one.kind == "ordered")
        ]
        rows, nullable = cluster.rows_of(table), _nullable(table)
        for name, columns, hashed, many in keys:
            for place, column in enumerate(columns, start=1):
                whole = not many and place == len(columns)
                yield {
                    "TABLE_SCHEMA": table.database, "TABLE_NAME": table.name, "NON_UNIQUE": int(many),
                    "INDEX_SCHEMA": table.database, "INDEX_NAME": name, "SEQ_IN_INDEX": place,
                    "COLUMN_NAME": column, "COLLATION": None if hashed else "A",
                    "CARDINALITY": rows if whole else None, "NULLABLE": "YES" if column in nullable else "",
                    "INDEX_TYPE": "HASH" if hashed else "BTREE", "COMMENT": "", "INDEX_COMMENT": "",
                    "IS_VISIBLE": "YES",
                }  # fmt: skip


def _nullable(table: Table) -> set[str]:
    return {one.name for one in table.columns if one.nullable} - set(table.primary_key)


_ROWS: dict[str, Callable[[LiveCluster], Iterator[Row]]] = {
    "ENGINES": lambda cluster: iter(engines(cluster)), "PLUGINS": lambda cluster: iter(plugins(cluster)),
    "TABLES": _tables, "PARTITIONS": _partitions, "FILES": _files, "COLUMNS": _columns,
    "STATISTICS": _statistics, **catalogue_keys.ROWS,
}  # fmt: skip


_SESSIONS = "PROCESSLIST"


def _filled(cluster: LiveCluster, name: str, asked: tuple[str, str] = ("", "")) -> list[Row]:
    empty = dict.fromkeys(catalogue_columns(name, cluster.plan.version))
    if "TABLE_CATALOG" in empty:
        empty["TABLE_CATALOG"] = "def"
    found = _processlist(asked, cluster) if name == _SESSIONS else _ROWS[name](cluster)
    return [{one: row.get(one, empty[one]) for one in empty} for row in found]


def catalogue(cluster: LiveCluster, name: str, asked: tuple[str, str] = ("", "")) -> Relation:
    """A table of INFORMATION_SCHEMA; `asked`: the statement and its database. Raises NotSimulated."""
    known = name.upper()
    listed = sql_server.plugins(cluster.plan.version) or ()
    of_plugins = {plugin.upper() for plugin, _, kind, _ in listed if kind == "INFORMATION SCHEMA"}
    is_later = known == "CHECK_CONSTRAINTS" and not form(cluster.plan.version, "checks_constraints")
    if is_later or (known not in sql_server.catalogue_tables() and known not in of_plugins):
        raise SqlError(1109, "42S02", f"Unknown table '{name}' in information_schema")
    if known not in (*_ROWS, _SESSIONS):
        there = ", ".join((*_ROWS, _SESSIONS))
        raise NotSimulated(f"INFORMATION_SCHEMA.{known[:64]} is not simulated; there are {there}")
    columns = catalogue_columns(known, cluster.plan.version)
    numbers, heads = (
        [one in catalogue_numbers() for one in columns],
        form(cluster.plan.version, "catalogue_heads"),
    )
    return relation(columns, _filled(cluster, known, asked), numbers, heads=bool(heads))


def table_of_server(cluster: LiveCluster, database: str, name: str, asked: tuple[str, str]) -> Relation:
    """A table in a database of the server: one of NDB, or its sessions. Raises SqlError and NotSimulated."""
    more = form(cluster.plan.version, "performance_processlist")
    if (database, name.lower()) == ("performance_schema", "processlist") and more is not None:
        names = (*catalogue_columns(_SESSIONS, cluster.plan.version), *more)
        found = [row | dict.fromkeys(more, "PRIMARY") for row in _filled(cluster, _SESSIONS, asked)]
        return relation(names, found, [one in catalogue_numbers() for one in names])
    columns = sql_server.empty_tables(cluster.plan.version).get(database, {}).get(name)
    if columns is not None:
        return relation(columns, (), [False] * len(columns))
    if name.lower().startswith("ndb"):
        raise no_table(database, name)
    raise NotSimulated(f"tables of {database} are not simulated")


# SHOW.


def show_engines(cluster: LiveCluster) -> Result:
    """SHOW ENGINES."""
    headings = ("Engine", "Support", "Comment", "Transactions", "XA", "Savepoints")
    return Result(headings, (TEXT,) * 6, [tuple(row.values()) for row in engines(cluster)])


_STATUS_OF = (
    ("Name", "TABLE_NAME"), ("Engine", "ENGINE"), ("Version", "VERSION"), ("Row_format", "ROW_FORMAT"),
    ("Rows", "TABLE_ROWS"), ("Avg_row_length", "AVG_ROW_LENGTH"), ("Data_length", "DATA_LENGTH"),
    ("Max_data_length", "MAX_DATA_LENGTH"), ("Index_length", "INDEX_LENGTH"), ("Data_free", "DATA_FREE"),
    ("Auto_increment", "AUTO_INCREMENT"), ("Create_time", "CREATE_TIME"), ("Update_time", "UPDATE_TIME"),
    ("Check_time", "CHECK_TIME"), ("Collation", "TABLE_COLLATION"), ("Checksum", "CHECKSUM"),
    ("Create_options", "CREATE_OPTIONS"), ("Comment", "TABLE_COMMENT"),
)  # fmt: skip
_INDEX_OF = (
    ("Table", "TABLE_NAME"), ("Non_unique", "NON_UNIQUE"), ("Key_name", "INDEX_NAME"),
    ("Seq_in_index", "SEQ_IN_INDEX"), ("Column_name", "COLUMN_NAME"), ("Collation", "COLLATION"),
    ("Cardinality", "CARDINALITY"), ("Sub_part", "SUB_PART"), ("Packed", "PACKED"), ("Null", "NULLABLE"),
    ("Index_type", "INDEX_TYPE"), ("Comment", "COMMENT"), ("Index_comment", "INDEX_COMMENT"),
    ("Visible", "IS_VISIBLE"), ("Expression", "EXPRESSION"),
)  # fmt: skip


def _shown(columns: Sequence[tuple[str, str]], rows: list[Row]) -> Result:
    kinds = tuple(INT if of in catalogue_numbers() else TEXT for _, of in columns)
    return Result(
        tuple(one for one, _ in columns), kinds, [tuple(row[of] for _, of in columns) for row in rows]
    )


def _database(sql: str, in_use: str, cluster: LiveCluster) -> str:
    match = re.search(r"\b(?:from|in)\s+`?([\w$]+)`?(?:\s+(?:like|where)\b|\s*$)", sql, re.IGNORECASE)
    name = match[1] if match else in_use
    if not name:
        raise SqlError(1046, "3D000", "No database selected")
    if name not in server.databases(cluster):
        raise no_database(name)
    return name


def table_status(sql: str, in_use: str, pattern: str, cluster: LiveCluster) -> Result:
    """SHOW TABLE STATUS [FROM database] [LIKE pattern]."""
    database = _database(sql, in_use, cluster)
    rows = [row for row in _filled(cluster, "TABLES") if row["TABLE_SCHEMA"] == database]
    found = [row for row in rows if server.like(row["TABLE_NAME"], pattern)]
    listed = {row["TABLE_NAME"] for row in found}
    asked = [one for one in cluster.plan.tables if one.database == database and one.name in listed]
    warnings = failing.counting_warnings(cluster, sorted(asked, key=lambda one: one.name))
    rows = sorted(found, key=lambda row: str(row["TABLE_NAME"]))
    return _shown(_STATUS_OF, rows)._replace(warnings=warnings)


def full_tables(sql: str, in_use: str, pattern: str, cluster: LiveCluster) -> Result:
    """SHOW FULL TABLES [FROM database] [LIKE pattern]."""
    names = server.tables(sql, in_use, pattern, cluster)
    database = _database(sql, in_use, cluster)
    kind = {
        row["TABLE_NAME"]: row["TABLE_TYPE"]
        for row in _filled(cluster, "TABLES")
        if row["TABLE_SCHEMA"] == database
    }
    rows = [(name, kind[name]) for (name,) in names.rows]
    return Result((*names.headings, "Table_type"), (TEXT, TEXT), rows)


def show_index(sql: str, in_use: str, cluster: LiveCluster) -> Result:
    """SHOW INDEX FROM table [FROM database]. Raises SqlError."""
    words = sql.split()
    asked = _INDEX_ASKED.fullmatch(" ".join(words))
    if asked is None:
        raise syntax(" ".join(words[2:]))
    name, database = asked["name"].replace("`", ""), (asked["database"] or "").replace("`", "")
    before, dot, behind = name.partition(".")
    database, name = database or (before if dot else in_use), behind if dot else before
    known = catalogue_columns("STATISTICS", cluster.plan.version)
    shown = [(head, of) for head, of in _INDEX_OF if of in known]
    if database == "ndbinfo" and name in tables_of(cluster.plan.version):
        return _shown(shown, [])
    table = server.table_named(cluster, database, name)
    rows = [
        row
        for row in _filled(cluster, "STATISTICS")
        if (row["TABLE_SCHEMA"], row["TABLE_NAME"]) == (table.database, table.name)
    ]
    return _shown(shown, rows)


_NAME = r"`[^`]+`|[\w$]+"
_INDEX_ASKED = re.compile(
    rf"show (?:extended )?(?:index|indexes|keys) (?:from|in) (?P<name>(?:{_NAME})(?:\.(?:{_NAME}))?)"
    rf"(?: (?:from|in) (?P<database>{_NAME}))?",
    re.IGNORECASE,
)


def _processlist(asked: tuple[str, str], cluster: LiveCluster) -> Iterator[Row]:
    for row in processlist(*asked, cluster).rows:
        yield dict(zip(catalogue_columns(_SESSIONS, cluster.plan.version), row, strict=True))


def processlist(sql: str, database: str, cluster: LiveCluster) -> Result:
    """SHOW PROCESSLIST: who writes the binary log, and the sessions of consoles; not those of the load."""
    waits = "Waiting for event from ndbcluster"
    own = int(form(cluster.plan.version, "binlog_thread"))
    rows: list[tuple[Any, ...]] = [(own, "system user", "", "", "Daemon", 0, waits, None)]
    if form(cluster.plan.version, "event_scheduler"):
        up_s = int(cluster.now_s)
        rows.append((6, "event_scheduler", "localhost", None, "Daemon", up_s, "Waiting on empty queue", None))
    rows += processes(cluster.sql_session, sql, database, cluster)
    headings = ("Id", "User", "Host", "db", "Command", "Time", "State", "Info")
    return Result(headings, (INT, TEXT, TEXT, TEXT, TEXT, INT, TEXT, TEXT), rows)
