"""The SQL node of a live cluster that answers: its databases, variables, status and catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from ndbplan.ndb.console import form, sql_status
from ndbplan.ndb.mysqld_options import sql_variables
from ndbplan.ndb.ndbinfo import described, tables_of
from ndbplan.ndb.sql_server import empty_tables
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode
from ndbplan.plan.tables import Column, Table
from ndbplan.simulate.world.indices import OfCluster
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import ndbinfo_made
from ndbplan.train.sql.character_sets import of_column, of_server
from ndbplan.train.sql.created import created, typed
from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.expressions_kept import expressions_of
from ndbplan.train.sql.numbers import TEXT
from ndbplan.train.sql.problem import NotSimulated, SqlError, no_database, no_table, syntax
from ndbplan.train.state import is_local

SWITCHES = ("ndbinfo_offline", "ndbinfo_show_hidden")
"""Variables whose value is 0 or 1, and which lists show as OFF or ON."""


def answering(cluster: LiveCluster) -> SqlNode | None:
    """The first SQL node of the plan that runs."""
    outage = cluster.session.simulation.outage
    nodes = (process for process in cluster.plan.processes if isinstance(process, SqlNode))
    return next((node for node in nodes if not outage.is_down(node.id)), None)


SYSTEM = ("mysql", "performance_schema", "sys")


def of_users(database: str) -> bool:
    """Whether tables of a database are those of users: others are in no transaction [7.4.10]."""
    return database.lower() not in (*SYSTEM, "ndbinfo", "information_schema", "")


def local_tables(cluster: LiveCluster) -> list[Table]:
    """Tables of InnoDB that the server which answers has."""
    node = answering(cluster)
    return [one.table for one in cluster.state.local if node is not None and one.node_id == node.node_id]


def tables_of_server(cluster: LiveCluster) -> tuple[Table, ...]:
    """All tables of users that the server knows: those of NDB, and its own."""
    return (*cluster.plan.tables, *local_tables(cluster))


def databases(cluster: LiveCluster) -> list[str]:
    """Databases that the server has."""
    own = {"information_schema", "mysql", "performance_schema", *cluster.state.databases}
    own |= set(form(cluster.plan.version, "more_databases"))
    own |= {t.database for t in cluster.plan.tables}
    return sorted(own | ({"ndbinfo"} if tables_of(cluster.plan.version) else set()))


def variables(cluster: LiveCluster) -> dict[str, str]:
    """System variables that tell of the cluster."""
    release = cluster.state.release
    numbers = [int(part) for part in re.findall(r"[0-9]+", release.ndb)[:3]] + [0, 0, 0]
    coded = str(numbers[0] << 16 | numbers[1] << 8 | numbers[2])
    sql_version = str(form(cluster.plan.version, "sql_version"))
    found = sql_variables(cluster.plan.version) | {
        "ndb_version": coded,
        "ndb_version_string": f"ndb-{release.ndb}",
        "version": sql_version.format(mysql=release.mysql, ndb=release.ndb),
        "version_comment": str(form(cluster.plan.version, "version_comment")),
        **dict(form(cluster.plan.version, "engine_variables")),
        "version_compile_machine": "x86_64",
        "version_compile_os": "Linux",
    }
    if tables_of(cluster.plan.version):
        more = {"database": "ndbinfo", "max_bytes": "0", "max_rows": "10", "offline": "0", "show_hidden": "0",
                "table_prefix": "ndb$", "version": coded}  # fmt: skip
        found |= {f"ndbinfo_{name}": value for name, value in more.items()}
    return found


def named(values: Mapping[str, str], pattern: str) -> Result:
    """Names and values, as SHOW VARIABLES lists them: by name."""
    shown = {
        name: ("OFF" if value == "0" else "ON") if name in SWITCHES else value
        for name, value in sorted(values.items())
    }
    return listed(shown, pattern)


def listed(values: Mapping[str, str], pattern: str) -> Result:
    """Names and values in their order."""
    rows = [(name, value) for name, value in values.items() if like(name, pattern)]
    return Result(("Variable_name", "Value"), (TEXT, TEXT), list(rows))


def lasted(seconds: float) -> str:
    """As the client prints it: `4 min 7.97 sec`."""
    minutes, rest = divmod(seconds, 60.0)
    return f"{int(minutes)} min {rest:.2f} sec" if minutes else f"{rest:.2f} sec"


def like(text: str, pattern: str) -> bool:
    """Whether a name matches a pattern of LIKE; without one all do."""
    if not pattern:
        return True
    low, reached = text.lower(), {0}
    for sign in pattern.replace("\\", "").lower():
        if sign == "%":
            reached = set(range(min(reached, default=len(low) + 1), len(low) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(low) and sign in ("_", low[at])}
    return len(low) in reached


def table_named(cluster: LiveCluster, database: str, name: str) -> Table:
    """A table of the plan or of the server. Raises SqlError 1146."""
    if database in (*SYSTEM, "information_schema"):
        raise NotSimulated(f"tables of {database} are not described here")
    if database == "ndbinfo" and name.startswith("ndb$"):
        raise NotSimulated("the tables of the product behind ndbinfo are not simulated; what reads them is")
    known = tables_of_server(cluster)
    found = next((t for t in known if (t.database, t.name) == (database, name)), None)
    if found is None:
        raise no_table(database, name)
    return found


def status(cluster: LiveCluster) -> dict[str, str]:
    """Status variables of the node that answers, in its order; counters that nothing here counts are 0."""
    state, server = cluster.state, answering(cluster)
    # One that has lost all data nodes keeps its id; one that started without them has none yet.
    joined = server is not None and server.node_id in state.losses
    accepted = cluster.session.simulation.history.totals[:, OfCluster.ACCEPTED].sum()
    commits = round(float(accepted) / max(1, len(cluster.clients)))
    found = sql_status(cluster.plan.version) | {
        "Ndb_cluster_node_id": str(server.node_id if server is not None and joined else 0),
        "Ndb_config_from_host": connected_host(cluster),
        "Ndb_config_from_port": "1186", "Ndb_config_generation": str(state.generation),
        "Ndb_number_of_data_nodes": str(len(state.nodes) if joined else 0),
        "Ndb_number_of_ready_data_nodes": str(len(state.alive()) if cluster.clients else 0),
        "Ndb_last_commit_epoch_server": str(max(0, state.gci) << 32),
        "Ndb_system_name": f"MC_{state.begin:%Y%m%d%H%M%S}",
        "Ndb_schema_participant_count": str(sum(isinstance(one, SqlNode) for one in cluster.plan.processes)),
        **{f"Ndb_api_trans_{what}_count": str(commits) for what in ("start", "commit", "close")},
    }  # fmt: skip
    known = sql_status(cluster.plan.version)
    return {name: value for name, value in found.items() if name in known}


_TRANS_EPOCHS = 10
"""Global checkpoints since the last change of a table that is logged [assumed]."""


def unreachable(cluster: LiveCluster) -> str:
    """What the client says when no SQL node answers."""
    nodes = [process for process in cluster.plan.processes if isinstance(process, SqlNode)]
    if not nodes:
        return "ndbplan: the plan has no SQL node for a mysql client to connect to\n"
    where = cluster.state.address(nodes[0].node_id)
    said = form(cluster.plan.version, "no_server_there").format(address=where, port=3306)
    return f"ERROR 2003 (HY000): {said}\n"


def connected_host(cluster: LiveCluster) -> str:
    """Where the management server runs, or ran, that the configuration came from."""
    first = min((one.node_id for one in cluster.plan.management_nodes), default=None)
    server = cluster.state.server or first
    return "" if server is None else cluster.state.address(server)


def engine_status(cluster: LiveCluster) -> Result:
    """SHOW ENGINE NDB STATUS: the connection, objects of the API in this server, and epochs."""
    version, values = cluster.plan.version, status(cluster)
    server = answering(cluster)
    losses = 0 if server is None else cluster.state.losses.get(server.node_id, 0)
    kind = str(form(version, "engine_status_type"))
    connection = (
        f"cluster_node_id={values['Ndb_cluster_node_id']}, connected_host={connected_host(cluster)}, "
        "connected_port=1186, "
        f"number_of_data_nodes={values['Ndb_number_of_data_nodes']}, "
        f"number_of_ready_data_nodes={values['Ndb_number_of_ready_data_nodes']}, connect_count={losses}"
    )
    rows = [(kind, "connection", connection)]
    for name, (made, size) in form(version, "api_objects").items():
        rows.append((kind, name, f"created={made}, free={made}, sizeof={size}"))
    latest, trans = (max(0, gci) << 32 for gci in (cluster.state.gci, cluster.state.gci - _TRANS_EPOCHS))
    epochs = (
        f"latest_epoch={latest}, latest_trans_epoch={trans}, latest_received_binlog_epoch=0, "
        f"latest_handled_binlog_epoch={latest}, latest_applied_binlog_epoch=0"
    )
    return Result(("Type", "Name", "Status"), (TEXT,) * 3, [*rows, (kind, "binlog", epochs)])


def tables(sql: str, database: str, pattern: str, cluster: LiveCluster) -> Result:
    """SHOW TABLES [FROM database]."""
    match = re.search(r"\b(?:from|in)\s+`?([\w$]+)`?", sql, re.IGNORECASE)
    name = match[1] if match else database
    if name.lower() == "information_schema":
        raise NotSimulated("tables of INFORMATION_SCHEMA are not listed here; queries of them are answered")
    if not name:
        raise SqlError(1046, "3D000", "No database selected")
    if name not in databases(cluster):
        raise no_database(name)
    if name == "ndbinfo":
        local = [one.name for one in local_tables(cluster) if one.database == name]
        found = sorted([*tables_of(cluster.plan.version), *local])
    elif name in SYSTEM:
        found = sorted(empty_tables(cluster.plan.version).get(name, ()))
        if not pattern.lower().startswith("ndb"):
            raise NotSimulated(f"of {name} only tables that begin with ndb are known: add LIKE 'ndb%'")
    else:
        found = sorted(table.name for table in tables_of_server(cluster) if table.database == name)
    heading = f"Tables_in_{name}" + (f" ({pattern})" if pattern else "")
    return Result((heading,), (TEXT,), [(one,) for one in found if like(one, pattern)])


_PART = re.compile(r"`((?:[^`]|``)+)`|([\w$]+)")
_NAMED = re.compile(rf"(?:{_PART.pattern})(?:\s*\.\s*(?:{_PART.pattern}))?")
"""A table, with its database or without."""


def show_created(
    sql: str, in_use: str, cluster: LiveCluster, may_use: Callable[[Table], None] = lambda _table: None
) -> Result:
    """SHOW CREATE TABLE of a table of the plan or of ndbinfo; `may_use` raises where it cannot be opened."""
    typed = sql.split(None, 3)[3:]
    match = _NAMED.fullmatch(typed[0]) if typed else None
    if match is None:
        raise syntax(typed[0].partition(" ")[2].strip() if typed else "")
    parts = [(one or other).replace("``", "`") for one, other in _PART.findall(match[0])]
    database, name = parts if len(parts) > 1 else (in_use, parts[0])
    if not database:
        raise SqlError(1046, "3D000", "No database selected")
    if database not in databases(cluster):
        raise no_database(database)
    if database == "ndbinfo" and name in tables_of(cluster.plan.version):
        return ndbinfo_made.shown(cluster.plan.version, name, in_use)
    table = table_named(cluster, database, name)
    may_use(table)
    text = created(cluster.plan, table, next_number(cluster, table))
    return Result(("Table", "Create Table"), (TEXT, TEXT), [(name, text)])


def describe(name: str, in_use: str, cluster: LiveCluster) -> Result:
    """DESC of a table of the plan or of ndbinfo."""
    database, dot, table = name.replace("`", "").partition(".")
    if not dot:
        database, table = in_use, database
    database = "information_schema" if database.lower() == "information_schema" else database
    if not database:
        raise SqlError(1046, "3D000", "No database selected")
    headings = ("Field", "Type", "Null", "Key", "Default", "Extra")
    if database == "ndbinfo":
        known = tables_of(cluster.plan.version)
        if table not in known:
            found = table_named(cluster, database, table)
            return Result(headings, (TEXT,) * 6, described_table(cluster.plan, found))
        listed = [(*one, "") for one in described(cluster.plan.version, table)]
        return Result(headings, (TEXT,) * 6, listed)
    if database not in databases(cluster):
        raise no_database(database)
    found = table_named(cluster, database, table)
    return Result(headings, (TEXT,) * 6, described_table(cluster.plan, found))


def next_number(cluster: LiveCluster, table: Table) -> int | None:
    """What AUTO_INCREMENT gives next; None: the table has no such column.

    An SQL node takes numbers of NDB in blocks [8.4.8: 513 after 500 rows].
    """
    if not any(one.auto_increment for one in table.columns):
        return None
    begin, last = (
        cluster.held(table).contents.numbers_from,
        last_number(cluster, table),
    )
    block = (
        1 if is_local(table) else int(sql_variables(cluster.plan.version)["ndb_autoincrement_prefetch_sz"])
    )
    return begin + max(0, -((begin - 1 - last) // block) * block)


def counter(cluster: LiveCluster, table: Table) -> int:
    """The last number that a table gave, or that is there; of hidden keys where it has no key."""
    if any(one.auto_increment for one in table.columns):
        return last_number(cluster, table)
    held = cluster.held(table)
    return max(held.contents.counter, held.last if not table.primary_key else 0)


def last_number(cluster: LiveCluster, table: Table) -> int:
    """The highest number in the column of a table that AUTO_INCREMENT fills, or that it gave."""
    automatic = next(one for one in table.columns if one.auto_increment)
    held = cluster.held(table)
    typed = held.contents.columns.index(automatic.name) if automatic.name in held.contents.columns else None
    numbers = () if typed is None else (row[typed] for row in held.contents.rows.values())
    return max([held.contents.counter, held.last if held.numbered else held.planned,
                *(one for one in numbers if isinstance(one, int))])  # fmt: skip


def described_table(plan: Plan, table: Table) -> list[tuple[str | None, ...]]:
    """The columns of a table as DESC lists them: field, type, null, key, default, extra."""
    rows: list[tuple[str | None, ...]] = []
    generated = expressions_of(table).generated
    first = {index.columns[0]: "MUL" for index in table.indexes}
    first |= {i.columns[0]: "UNI" for i in table.indexes if i.kind != "ordered" and len(i.columns) == 1}
    for one in table.columns:
        is_key = one.name in table.primary_key
        null = "YES" if one.nullable and not is_key else "NO"
        key, extra = "PRI" if is_key else first.get(one.name, ""), " ".join(_extra(plan, one))
        extra = "STORED GENERATED" if one.name in generated else extra
        default = None if one.default is None else one.default.strip("'")
        rows.append((one.name, typed(plan, one), null, key, default, extra))
    return rows


_WORKED_OUT = re.compile(r"\(|(?:current_timestamp|now|localtime|localtimestamp)\b", re.IGNORECASE)
"""How defaults begin that are no value."""


def _extra(plan: Plan, column: Column) -> Iterator[str]:
    if column.auto_increment:
        yield "auto_increment"
    worked_out = column.default is not None and _WORKED_OUT.match(column.default)
    if worked_out and form(plan.version, "dictionary_of_its_own"):
        yield "DEFAULT_GENERATED"
    if column.on_update is not None:
        yield f"on update {column.on_update}"


def is_text(kind: str) -> bool:
    """Whether a type, as DESC writes it, has a collation."""
    return kind.split("(")[0].endswith(("char", "text", "enum", "set"))


def collations(name: str, in_use: str, cluster: LiveCluster) -> dict[str, str | None]:
    """Collations of the columns of a table that `describe` knows."""
    database, dot, table = name.replace("`", "").partition(".")
    if not dot:
        database, table = in_use, database
    version = cluster.plan.version
    for one in tables_of_server(cluster):
        if (one.database, one.name) == (database, table):
            return {column.name: of_column(one, column, version) for column in one.columns}
    rows = described(version, table)
    return {str(row[0]): of_server(version) if is_text(str(row[1])) else None for row in rows}
