"""The mysql client on an SQL node of a live cluster: queries about it, and what a row more or less meets.

    Client().answer("SELECT node_id, used/total*100 FROM ndbinfo.logspaces;", cluster)

Rows of tables are not simulated, only how many there are; an INSERT meets the errors of this moment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ndbplan.base.row_types import column
from ndbplan.base.units import whole_number
from ndbplan.configuration.deployment import connect_string
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import NdbError, ndb_error
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.plan.processes import SqlNode
from ndbplan.train.growing import Reorganise
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import rows as contents
from ndbplan.train.sql import server
from ndbplan.train.sql.engine import Relation, Result, parsed, relation, run, typed_list
from ndbplan.train.sql.numbers import INT, TEXT
from ndbplan.train.sql.printing import printed
from ndbplan.train.sql.problem import (
    NotSimulated,
    SqlError,
    Warned,
    no_database,
    no_table,
    of_ndb,
    syntax,
)

PROMPT = "mysql>"
REORGANISED_S = 86400.0
QUEUED_TIMEOUT = 266
"""What a queued operation ends with; clients see 1205."""
_ERRORS_IN_1114 = (827, 625, 902, 1601)
_KNOWN = ("alter", "create", "drop", "optimize", "truncate", "analyze", "explain", "grant", "rename")
"""Statements that the product knows and this console does not."""
_LIKE = re.compile(r"\blike\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.IGNORECASE)


class Client:
    """A session of the mysql client; it keeps the database in use and the last warnings."""

    def __init__(self) -> None:
        self.database = ""
        self.warnings: tuple[Warned, ...] = ()

    def answer(self, line: str, cluster: LiveCluster) -> str:
        """What the client prints for the statements of a line."""
        return "".join(self._one(sql, vertical, cluster) for sql, vertical in statements(line))

    def _one(self, sql: str, vertical: bool, cluster: LiveCluster) -> str:
        if server.answering(cluster) is None:
            return _no_server(cluster)
        try:
            if not sql.lower().startswith("show warnings"):
                self.warnings = ()
            found = self._statement(sql, cluster)
        except SqlError as error:
            self.warnings = error.warnings
            return f"{error.line}\n"
        except NotSimulated as missing:
            return f"ndbplan: {missing}\n"
        except (SqlglotError, RecursionError, ValueError, TypeError, OverflowError):
            return "ndbplan: this statement is too much for the SQL that is simulated here\n"
        if isinstance(found, str):
            return found + "\n"
        return printed(found, vertical=vertical)

    def _statement(self, sql: str, cluster: LiveCluster) -> Result | str:
        words = sql.split(None, 3)
        verb = words[0].lower()
        if verb in ("quit", "exit", "\\q"):
            self.database = ""
            return "Bye"
        if verb in ("help", "?", "status", "source", "delimiter", "tee", "pager"):
            raise NotSimulated(f"{verb} of the client is not simulated; it takes statements")
        if verb in ("select", "with", "(", "table", "values") or sql.startswith("("):
            return self._query(sql, cluster)
        if verb == "show":
            return self._show(sql, cluster)
        if verb == "use" and len(words) > 1:
            name = words[1].strip("`")
            if name not in server.databases(cluster):
                raise no_database(name)
            self.database = name
            return "Database changed"
        if verb in ("desc", "describe") and len(words) > 1:
            return server.describe(words[1], self.database, cluster)
        if verb in ("insert", "update", "delete", "replace"):
            return self._change(sql, cluster)
        if verb == "alter" and "reorganize partition" in " ".join(sql.lower().split()):
            return self._reorganise(sql, cluster)
        if verb in ("begin", "commit", "rollback", "start", "set"):
            return "Query OK, 0 rows affected (0.00 sec)"
        if verb in _KNOWN:
            raise NotSimulated(f"{words[0].upper()} is not simulated here")
        raise syntax(sql)

    def _reorganise(self, sql: str, cluster: LiveCluster) -> str:
        """ALTER TABLE t REORGANIZE PARTITION waits until the rows lie on all node groups."""
        words = [word.strip("`;,") for word in sql.split()]
        name = next((word for at, word in enumerate(words) if at and words[at - 1].lower() == "table"), "")
        database, _, table = name.rpartition(".")
        server.table_named(cluster, database or self.database, table)
        if len(cluster.plan.tables) > 1 and cluster.state.growth is not None:
            raise NotSimulated("tables are reorganised all together here: begin with a plan of one table")
        begin_s = cluster.now_s
        cluster.act(Reorganise())
        cluster.advance_until(lambda now: not now.session.simulation.is_moving, REORGANISED_S)
        lasted = _lasted(cluster.now_s - begin_s)
        return f"Query OK, 0 rows affected ({lasted})\nRecords: 0  Duplicates: 0  Warnings: 0\n"

    # Queries.

    def _query(self, sql: str, cluster: LiveCluster) -> Result:
        tree = parsed(sql)
        counted = self._counted(tree, cluster)
        if counted is not None:
            return Result((_heading(tree, sql),), (INT,), [(counted,)])
        _grouped(tree, cluster, self.database)
        values = self._variables(cluster)
        for one in list(tree.find_all(exp.SessionParameter)):
            name = one.name.lower()
            if name not in values:
                raise SqlError(1193, "HY000", f"Unknown system variable '{name}'")
            value = values[name]
            is_number = whole_number(value) is not None
            one.replace(exp.Literal.number(value) if is_number else exp.Literal.string(value))
        session = {
            "version": values["version"], "currentversion": values["version"], "user": "root@localhost",
            "database": self.database or None, "currentdatabase": self.database or None,
            "currentschema": self.database or None, "currentuser": "root@localhost",
            "sessionuser": "root@localhost", "now": f"{cluster.clock:%Y-%m-%d %H:%M:%S}",
            "currenttimestamp": f"{cluster.clock:%Y-%m-%d %H:%M:%S}", "connection_id": "8",
        }  # fmt: skip
        tree = _answered(tree, session)
        missing: list[str] = []
        result = run(sql, tree, self.database, self._provider(cluster, missing))
        if missing:
            there = ", ".join(contents.simulated(cluster))
            raise NotSimulated(f"ndbinfo.{missing[0]} is not simulated; there are {there}")
        if not form(cluster.plan.version, "only_full_group_by"):
            # The servers without this mode do not warn of a division by zero either.
            return result._replace(warnings=())
        if result.warnings:
            self.warnings = result.warnings
        return result

    def _variables(self, cluster: LiveCluster) -> dict[str, str]:
        """Those of the server, and of the one that answers."""
        found = server.variables(cluster) | {
            "port": "3306",
            "ndb_connectstring": connect_string(cluster.plan),
        }
        node = server.answering(cluster)
        if node is not None:
            found |= {"server_id": str(node.node_id), "hostname": cluster.state.address(node.node_id)}
        return found

    def _provider(self, cluster: LiveCluster, missing: list[str]) -> Any:
        """Gives the tables of a query; what is not simulated is empty, and named in `missing`."""

        def provide(database: str, name: str) -> Relation:
            version = cluster.plan.version
            if database == "ndbinfo" and tables_of(version):
                known = tables_of(version)
                if name not in known:
                    raise no_table(database, name)
                if not cluster.state.alive():
                    raise of_ndb(157, "Connection to NDB failed", temporary=False, engine="NDBINFO")
                if name not in contents.simulated(cluster):
                    missing.append(name)
                    return relation(known[name].columns, (), known[name].numeric)
                return relation(known[name].columns, contents.ndbinfo(cluster, name), known[name].numeric)
            if database.lower() == "information_schema":
                return server.catalogue(cluster, name)
            if database not in server.databases(cluster):
                raise no_database(database)
            table = server.table_named(cluster, database, name)
            self._may_read(cluster)
            raise NotSimulated(f"rows of {table.full_name} are not simulated; SELECT COUNT(*) FROM it is")

        return provide

    def _counted(self, tree: exp.Expr, cluster: LiveCluster) -> int | None:
        """How many rows a table has, where nothing else is asked; None: it is another query."""
        tables = list(tree.find_all(exp.Table))
        if not isinstance(tree, exp.Select) or len(tables) != 1 or len(tree.expressions) != 1:
            return None
        only = tree.expressions[0].unalias()
        where = tables[0].db or self.database
        plain = not any(tree.args.get(key) for key in ("where", "group", "having", "joins"))
        if not plain or not isinstance(only, exp.Count) or not isinstance(only.this, exp.Star):
            return None
        if where in ("ndbinfo", "") or where.lower() == "information_schema":
            return None
        if where not in server.databases(cluster):
            raise no_database(where)
        table = server.table_named(cluster, where, tables[0].name)
        self._may_read(cluster)
        sim = cluster.session.simulation
        start = float(sim.scenario.start[:, 0].sum())
        now = float(column(sim.state.node_state, lambda node: node.rows_bytes).sum())
        return round(table.rows * (now / start if start > 0 else 1.0))

    def _may_read(self, cluster: LiveCluster) -> None:
        """Raises what a statement on an NDB table meets when the cluster or the access is gone."""
        state = cluster.state
        if not state.alive() or not cluster.clients:
            raise of_ndb(4009, "Cluster Failure", temporary=False)
        node = server.answering(cluster)
        own = () if node is None else (node.node_id, *node.pool_node_ids)
        if state.single_user is not None and state.single_user not in own:
            text = "Operation not allowed or aborted due to single user mode"
            raise of_ndb(299, text, temporary=False)

    # Changes.

    def _change(self, sql: str, cluster: LiveCluster) -> str:
        tree = parsed(sql)
        target = next(tree.find_all(exp.Table), None)
        where = "" if target is None else target.db or self.database
        if target is None or not where:
            raise SqlError(1046, "3D000", "No database selected")
        if where == "ndbinfo" and tables_of(cluster.plan.version):
            if target.name not in tables_of(cluster.plan.version):
                raise no_table(where, target.name)
            raise SqlError(1036, "HY000", f"Table 'ndb${target.name}' is read only")
        if where not in server.databases(cluster):
            raise no_database(where)
        server.table_named(cluster, where, target.name)
        self._may_read(cluster)
        code = refusing(cluster)
        if code:
            raise met(code, target.name)
        return "Query OK, 1 row affected (0.00 sec)"

    # SHOW.

    def _show(self, sql: str, cluster: LiveCluster) -> Result | str:
        low = " ".join(sql.lower().split())
        like = _LIKE.search(sql)
        pattern = like[1][1:-1] if like else ""
        if low.startswith("show warnings"):
            found = [(one.level, one.code, one.message) for one in self.warnings]
            return Result(("Level", "Code", "Message"), (TEXT, INT, TEXT), list(found))
        if low.startswith("show databases"):
            names = [(name,) for name in server.databases(cluster)]
            return Result(("Database",), (TEXT,), [row for row in names if server.like(row[0], pattern)])
        if low.startswith(("show engine ndb status", "show engine ndbcluster status")):
            return server.engine_status(cluster)
        if low.startswith("show tables"):
            return server.tables(sql, self.database, pattern, cluster)
        if " variables" in low or low.startswith("show variables"):
            return server.named(server.variables(cluster), pattern)
        if low.startswith(("show status", "show global status", "show session status")):
            return server.named(server.status(cluster), pattern)
        raise NotSimulated("there are SHOW DATABASES, TABLES, VARIABLES, STATUS, WARNINGS, ENGINE NDB STATUS")


def _no_server(cluster: LiveCluster) -> str:
    """What the client says when no SQL node answers."""
    nodes = [process for process in cluster.plan.processes if isinstance(process, SqlNode)]
    if not nodes:
        return "ndbplan: the plan has no SQL node for a mysql client to connect to\n"
    where = cluster.state.address(nodes[0].node_id)
    return f"ERROR 2003 (HY000): Can't connect to MySQL server on '{where}:3306' (111)\n"


def _grouped(tree: exp.Expr, cluster: LiveCluster, database: str) -> None:
    """ONLY_FULL_GROUP_BY: a column beside an aggregate that no group decides is refused."""
    if not isinstance(tree, exp.Select) or not form(cluster.plan.version, "only_full_group_by"):
        return
    if tree.args.get("group") is not None or not any(one.find(exp.AggFunc) for one in tree.expressions):
        return
    for place, one in enumerate(tree.expressions, start=1):
        for found in one.find_all(exp.Column):
            if found.find_ancestor(exp.AggFunc) is None and found.find_ancestor(exp.Select) is tree:
                table = next(iter(tree.find_all(exp.Table)), None)
                where = "" if table is None else f"{table.db or database}.{table.name}."
                raise SqlError(
                    1140, "42000",
                    f"In aggregated query without GROUP BY, expression #{place} of SELECT list contains "
                    f"nonaggregated column '{where}{found.name}'; this is incompatible with "
                    "sql_mode=only_full_group_by",
                )  # fmt: skip


def _answered(tree: exp.Expr, values: Mapping[str, str | None]) -> exp.Expr:
    """Functions that tell of the session, such as VERSION(), as texts."""

    def change(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Func):
            return node
        name = node.name.lower() if isinstance(node, exp.Anonymous) else type(node).__name__.lower()
        if name not in values:
            return node
        value = values[name]
        return exp.null() if value is None else exp.Literal.string(value)

    return tree.transform(change)


def statements(line: str) -> list[tuple[str, bool]]:
    """The statements of a line, each with whether it ends in \\G."""
    found, text, quote, left = [], "", "", list(line)
    while left:
        sign = left.pop(0)
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
        elif sign == ";" or (sign == "\\" and left and left[0] in "gG"):
            vertical = sign != ";" and left.pop(0) == "G"
            found.append((text.strip(), vertical))
            text = ""
            continue
        text += sign
    found.append((text.strip(), False))
    return [(sql, vertical) for sql, vertical in found if sql]


def _heading(tree: exp.Expr, sql: str) -> str:
    only = tree.expressions[0]
    return str(only.alias) if isinstance(only, exp.Alias) else (typed_list(sql) or ["COUNT(*)"])[0]


def _lasted(seconds: float) -> str:
    """As the client prints it: `4 min 7.97 sec`."""
    minutes, rest = divmod(seconds, 60.0)
    return f"{int(minutes)} min {rest:.2f} sec" if minutes else f"{rest:.2f} sec"


# What a change meets.


def refusing(cluster: LiveCluster) -> int:
    """The error that most transactions of the last moment got; 0: most were accepted."""
    result = cluster.result()
    at = len(result.times_s) - 1
    codes = {code: float(values[at]) for code, values in result.refused_by_code.items()}
    worst = max(codes, key=lambda code: codes[code], default=0)
    return worst if worst and codes[worst] > float(result.accepted[at]) else 0


def met(code: int, table: str) -> SqlError:
    """An error of the data nodes as the client sees it."""
    error = ndb_error(code) or NdbError(code, "unknown", "temporary", "unknown error code")
    inside = of_ndb(code, error.text, temporary=error.status == "temporary")
    if code == QUEUED_TIMEOUT:
        text = "Lock wait timeout exceeded; try restarting transaction"
        return SqlError(1205, "HY000", text, inside.warnings[:1])
    if code in _ERRORS_IN_1114:
        return SqlError(1114, "HY000", f"The table '{table}' is full", inside.warnings[:1])
    return inside
