"""The mysql client on an SQL node of a live cluster: queries about it, and what a row more or less meets.

    Client().answer("SELECT node_id, used/total*100 FROM ndbinfo.logspaces;", cluster)

An INSERT meets the errors of this moment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ndbplan.configuration.deployment import connect_string
from ndbplan.ndb.console import form
from ndbplan.ndb.ndbinfo import described, tables_of
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import (
    around,
    assigning,
    catalogue,
    client_words,
    failing,
    finding,
    locking,
    modes,
    outside,
    prepared,
    row_counts,
    server,
    setting,
    table_locks,
    transactions,
    user_variables,
    variables,
)
from ndbplan.train.sql import rows as contents
from ndbplan.train.sql.around import answered, grouped, held, in_order_met, readable
from ndbplan.train.sql.changes import change
from ndbplan.train.sql.created_from import filled, made_from
from ndbplan.train.sql.definitions import define
from ndbplan.train.sql.engine import Provider, Relation, Result, relation, run
from ndbplan.train.sql.explain.explaining import explain
from ndbplan.train.sql.finding import Wanted
from ndbplan.train.sql.lines import Lines
from ndbplan.train.sql.may_define import may_define
from ndbplan.train.sql.numbers import INT
from ndbplan.train.sql.printing import printed
from ndbplan.train.sql.problem import (
    NotSimulated,
    SqlError,
    Warned,
    no_database,
    syntax,
)
from ndbplan.train.sql.query_settings import settings_of
from ndbplan.train.sql.reading import parsed
from ndbplan.train.sql.reorganising import is_reorganising, reorganise
from ndbplan.train.sql.roughly import Asked as ChangeAsked
from ndbplan.train.sql.sessions_seen import connection_of
from ndbplan.train.sql.show import Asked, show
from ndbplan.train.sql.truncating import TRUNCATED

_DEFINES = ("alter", "create", "drop", "optimize", "truncate", "analyze", "check", "rename", "repair")
_DEFAULT_ENGINE = "default_storage_engine"
_DIVISION = 1365
"""Warning of a division by zero."""
_LOGARITHM = 3020
"""Warning of a logarithm of what has none."""
_WRITES = re.compile(r"\binto\s+(?:outfile|dumpfile)", re.IGNORECASE)
_OFFLINE = "ndbinfo_offline"
_IS_OFFLINE = (
    "'NDBINFO' has been started in offline mode since the 'NDBCLUSTER' engine is disabled or "
    "@@global.ndbinfo_offline is turned on - no rows can be returned"
)
_KNOWN = (
    "handler", "checksum", "purge", "stop", "use", "shutdown", "grant", "revoke",
    "call", "binlog", "cache", "change", "clone", "get", "import", "install", "resignal",
    "restart", "signal", "uninstall",
)  # fmt: skip
"""Statements that the product knows and this console does not."""
_KEEPS_WARNINGS = re.compile(r"show\s+(?:warnings|errors|count\s*\()", re.IGNORECASE)


class Client(Lines):
    """A session of the mysql client."""

    def __init__(self, number: int = 1) -> None:
        super().__init__(number)
        self.set_to: dict[str, str] = {}
        """Variables that the session set for itself."""
        self.begun: dict[str, str] | None = None
        """What it had when it was connected of those that somebody had set for all; None: it is not yet."""
        self.last_number = 0
        """What AUTO_INCREMENT gave last."""
        self.statements: dict[str, str] = {}
        """Statements that were prepared, by their names."""
        self.asked = ""
        """The statement under way."""
        self.slept_s = 0.0
        """How long the last statement waited by SLEEP()."""
        self.of_user: dict[str, Any] = {}
        """Variables that somebody made, such as @x."""
        self.row_count = -1
        """How many rows the last change met; -1: the last statement was none."""

    def one(self, sql: str, vertical: bool, cluster: LiveCluster) -> str:
        if server.answering(cluster) is None:
            return server.unreachable(cluster)
        try:
            kept, self.warnings, self.slept_s, self.asked = self.warnings, (), 0.0, sql
            cluster.sql_modes = frozenset(self.variables(cluster)["sql_mode"].upper().split(","))
            if _KEEPS_WARNINGS.match(sql):
                self.warnings = kept
            found = self._statement(sql, cluster)
        except SqlError as error:
            self.warnings = error.warnings
            return f"{error.line}\n"
        except NotSimulated as missing:
            return f"ndbplan: {missing}\n"
        except (SqlglotError, RecursionError, ValueError, TypeError, OverflowError, AttributeError):
            # AttributeError: sqlglot reads and writes calls without the arguments that it expects.
            return "ndbplan: this statement is too much for the SQL that is simulated here\n"
        if isinstance(found, str):
            return found + "\n" if found else ""
        return printed(found, vertical=vertical, lasted_s=self.slept_s)

    def connect_anew(self, cluster: LiveCluster) -> str:
        self.forget()
        return (
            "ERROR 2006 (HY000): MySQL server has gone away\nNo connection. Trying to reconnect...\n"
            f"Connection id:    {connection_of(self.number, cluster.state)}\n"
            f"Current database: {self.database or '*** NONE ***'}\n\n"
        )

    def forget(self) -> None:
        """What the server kept of the session is gone."""
        self.set_to, self.of_user, self.statements, self.had_node = {}, {}, {}, 0
        self.begun = None

    def _statement(self, sql: str, cluster: LiveCluster) -> Result | str:
        first = sql.split(None, 1)[0]
        if first[:2] in client_words.SHORT and first[:1] in ("\\", "?"):
            # `\\! ls` and `\\!ls` are the same.
            sql = f"{client_words.SHORT[first[:2]]} {sql[2:].strip()}".strip()
        words = sql.split(None, 3)
        verb = words[0].lower()
        if verb in ("quit", "exit", "\\q"):
            transactions.act(cluster, "rollback")
            self.forget()
            self.database, self.has_left = "", True
            return "Bye"
        if verb in client_words.KNOWN:
            own, values = connection_of(self.number, cluster.state), self.variables(cluster)
            return client_words.client_word(sql, self.database, own, values, cluster)
        around.may_begin(sql, verb, self.database)
        if verb in ("select", "with", "(", "table", "values") or sql.startswith("("):
            return self._query(sql, cluster)
        if verb == "show":
            return self._show(sql, cluster)
        if verb == "use" and len(words) == 1:
            return "ERROR: \nUSE must be followed by a database name"
        if verb == "use":
            name = words[1].strip("`")
            if name not in server.databases(cluster):
                raise no_database(name)
            self.database = name
            return "Database changed"
        if verb in ("desc", "describe", "explain") and len(words) == 2:
            return server.describe(words[1], self.database, cluster)
        if verb in ("desc", "describe", "explain") and len(words) > 2:
            return self._explain(sql, cluster)
        if verb in ("insert", "update", "delete", "replace"):
            return self._change(sql, cluster)
        if verb in ("begin", "start", "commit", "rollback", "savepoint", "release", "xa"):
            return transactions.transaction(sql, cluster)
        if verb == "alter" and is_reorganising(sql):
            locking.define(sql, self.database, cluster)
            said, self.warnings = reorganise(sql, self.database, cluster)
            return said
        if verb in prepared.VERBS:
            return self._prepared(sql, cluster)
        if verb == "set":
            around.may_pass(sql, cluster.plan.version)
            now = self.variables(cluster)
            sql, of_user = assigning.worked_out(sql, self.of_user, now, partial(self._value, cluster))
            found = setting.settings(sql, now, variables.shared(now, cluster), cluster.plan.version)
            self.set_to = {**self.set_to, **found.own}
            variables.set_for_all(found.of_all, found.persisted, cluster)
            if found.own.get("autocommit") == "ON" and transactions.open_of(cluster) is not None:
                transactions.act(cluster, "commit")
            self.of_user = of_user
            if not sql:
                return around.passed(())
        if verb == "do":
            self._query(f"SELECT {sql[len(words[0]) :]}", cluster)
            return around.passed(self.warnings, self.slept_s)
        if verb in ("set", "lock", "unlock", "flush"):
            self.warnings = around.may_pass(sql, cluster.plan.version)
            table_locks.take(sql, self.database, cluster)
            return around.passed(self.warnings)
        if verb in _DEFINES:
            done, known = self._define(sql, cluster), server.databases(cluster)
            self.database = self.database if self.database in known else ""
            return done
        if verb == "load":
            raise outside.load(sql, cluster, self.variables(cluster))
        if verb == "reset":
            self.warnings = variables.reset(sql, cluster)
            return around.passed(self.warnings)
        if verb == "kill":
            return outside.kill(sql, cluster)
        if verb in _KNOWN:
            raise NotSimulated(f"{words[0].upper()} is not simulated here")
        raise syntax("" if sql.lower() in ("desc", "describe", "explain") else sql)

    def _prepared(self, sql: str, cluster: LiveCluster) -> Result | str:
        """PREPARE keeps a statement, EXECUTE carries it out, DEALLOCATE forgets it."""
        done = prepared.taken(sql, self.statements, self.of_user)
        self.statements = done.statements
        return self._statement(done.run, cluster) if done.run else done.text

    def _explain(self, sql: str, cluster: LiveCluster) -> Result:
        words = sql.split()
        if len(words) == 3 and words[1].lower() not in ("select", "delete", "update", "table", "values"):
            # A column of a table, or those that are like a pattern.
            found = server.describe(words[1], self.database, cluster)
            pattern = words[2].strip("`'\"")
            return found._replace(rows=[row for row in found.rows if server.like(str(row[0]), pattern)])
        pushes = self.variables(cluster).get("ndb_join_pushdown") != "OFF"
        found = explain(sql, self.database, cluster, pushes_joins=pushes)
        self.warnings = found.warnings
        return found

    def _change(self, sql: str, cluster: LiveCluster) -> str:
        """A change of rows, in the transaction that is open or in one of its own."""
        self._begins(cluster)

        def query(tree: exp.Expr, own: Mapping[str, Relation]) -> Result:
            found = held(self._met(tree.sql("mysql"), tree.copy(), cluster, own))
            cut = next((one for one in found.warnings if one.code == TRUNCATED), None)
            if cut is not None and modes.is_strict(cluster):
                raise SqlError(cut.code, "22007", cut.message)
            return found

        try:
            set_to = self.variables(cluster)
            step, first = (int(set_to[f"auto_increment_{name}"]) for name in ("increment", "offset"))
            safe = set_to["sql_safe_updates"] == "ON"
            done = change(sql, ChangeAsked(self.database, cluster, query, self._checks, safe, step, first))
        except SqlError as error:
            raise transactions.given_up(error, cluster) from None
        self.warnings, self.row_count = done.warnings, done.rows
        self.last_number = done.number or self.last_number
        return done.text

    def _begins(self, cluster: LiveCluster) -> None:
        """A transaction begins by itself where autocommit is off. Raises SqlError for one that is lost."""
        if self.variables(cluster)["autocommit"] == "OFF" and transactions.open_of(cluster) is None:
            transactions.act(cluster, "begin")
        transactions.not_lost(cluster)

    @property
    def _checks(self) -> bool:
        """Foreign keys are looked at."""
        return self.set_to.get("foreign_key_checks") != "OFF"

    def _define(self, sql: str, cluster: LiveCluster) -> Result | str:
        """Statements about tables, databases and disk data; they end a transaction that is open."""
        if transactions.open_of(cluster) is not None:
            transactions.act(cluster, "commit")
        set_to = self.variables(cluster)
        engine, logs = set_to.get(_DEFAULT_ENGINE, ""), set_to.get("ndb_table_no_logging") != "ON"
        if sql.split(None, 1)[0].lower() not in ("optimize", "analyze", "check", "repair"):
            may_define(sql, self.database, engine, cluster)
        locking.define(sql, self.database, cluster)
        made = made_from(sql, self.database, cluster)
        if made is not None:
            return filled(
                made, cluster, lambda one: self._define(one, cluster), lambda one: self._change(one, cluster)
            )
        done = define(sql, self.database, cluster, checks=self._checks, engine=engine, logs=logs)
        if isinstance(done, Result):
            return done
        self.warnings, self.row_count = done.warnings, 0
        return done.text

    # Queries.

    def _query(self, sql: str, cluster: LiveCluster) -> Result | str:
        if _WRITES.search(sql):
            has_folder = bool(form(cluster.plan.version, "files_in_one_folder"))
            raise outside.no_file(has_folder, self.variables(cluster))
        around.may_query(sql, self.database, cluster.plan.version)
        query, names = user_variables.without_into(sql)
        tree = finding.limited(parsed(query), self.set_to)
        if any(server.of_users(one.db or self.database) for one in tree.find_all(exp.Table)):
            self._begins(cluster)
        if isinstance(tree, exp.Select) and tree.args.get("locks"):
            self._lock(tree, cluster)
        found = around.with_older(self._met(query, tree, cluster, {}), sql, cluster)
        self.warnings = found.warnings or self.warnings
        found = readable(found, is_hex=bool(form(cluster.plan.version, "binary_as_hex")))
        self.row_count = -1
        if not names:
            return found
        values, text, warnings = user_variables.taken(found, names)
        self.of_user = {**self.of_user, **values}
        self.warnings = warnings
        return text

    def _value(self, cluster: LiveCluster, text: str, of_user: Mapping[str, Any]) -> Any:
        """What an expression comes to beside these variables of users."""
        before, self.of_user = self.of_user, dict(of_user)
        try:
            return held(self._met(f"SELECT {text}", parsed(f"SELECT {text}"), cluster, {})).rows[0][0]
        finally:
            self.of_user = before

    def _lock(self, tree: exp.Select, cluster: LiveCluster) -> None:
        """Lock the rows that a query meets, before it reads them. Raises SqlError, and LockWaitError."""

        def query(asks: exp.Expr, own: Mapping[str, Relation]) -> Result:
            return held(self._met(asks.sql("mysql"), asks.copy(), cluster, own))

        guard = locking.Guard(cluster)
        locking.Reading(tree, self.database, query).lock(guard, cluster)
        guard.keep()

    def _met(self, sql: str, tree: exp.Expr, cluster: LiveCluster, own: Mapping[str, Relation]) -> Result:
        """What a query finds; `own`: tables by `database.name` that hold what is given."""
        around.check_partitions(tree, cluster, self.database)
        counted = None if own else row_counts.counted(tree, self.database, cluster)
        if counted is not None:
            return Result((around.heading(tree, sql),), (INT,), counted)
        grouped(tree, cluster, self.database)
        values = self.variables(cluster)
        user_variables.filled(tree, self.of_user)
        variables.filled(tree, values, variables.shared(values, cluster))
        now = f"{cluster.clock:%Y-%m-%d %H:%M:%S}"
        session = {
            "microseconds": f"{cluster.clock.microsecond:06}",
            "version": values["version"], "currentversion": values["version"], "user": "root@localhost",
            "database": self.database or None, "currentdatabase": self.database or None,
            "currentschema": self.database or None, "currentuser": "root@localhost",
            "sessionuser": "root@localhost",
            "connection_id": str(connection_of(self.number, cluster.state)),
            "last_insert_id": str(self.last_number), "row_count": str(self.row_count),
            "unix_timestamp": str(round((cluster.clock - datetime(1970, 1, 1)).total_seconds())),
            **dict.fromkeys(("now", "sysdate", "currenttimestamp", "localtime", "localtimestamp",
                             "utctimestamp"), now),
            **dict.fromkeys(("curdate", "currentdate", "utcdate"), now[:10]),
            **dict.fromkeys(("curtime", "currenttime", "utctime"), now[11:]),
        }  # fmt: skip
        tree = answered(tree, session)
        self.slept_s += around.slept(tree, cluster)
        named = {one.db or self.database for one in tree.find_all(exp.Table)}
        in_order_met(tree, cluster)
        settings = settings_of(values, cluster.plan.version)
        again, unopened = tree.copy(), catalogue.unopened(tree, cluster)
        try:
            result = run(sql, tree, self.database, self._provider(cluster, tree, own), settings)
        except finding.TooMany:
            # What is wrong with a statement is said before what it would read.
            run(sql, again, self.database, self._provider(cluster, again, own, is_empty=True), settings)
            raise
        if "ndbinfo" in named and values.get(_OFFLINE) == "1":
            self.warnings = (Warned("Note", 1, _IS_OFFLINE),)
            return result._replace(warnings=self.warnings)
        divides = modes.has(cluster, modes.DIVISION)
        says = {_DIVISION: divides, _LOGARITHM: form(cluster.plan.version, "logarithms_warned")}
        told = tuple(one for one in result.warnings if says.get(one.code, True))
        result = result._replace(warnings=told)
        result = result._replace(warnings=(*result.warnings, *unopened))
        self.warnings = result.warnings or self.warnings
        return result

    def variables(self, cluster: LiveCluster) -> dict[str, str]:
        """Those of the server, and of the one that answers."""
        found = variables.of_server(cluster) | {
            "ndb_connectstring": connect_string(cluster.plan),
            "ndb_mgmd_host": connect_string(cluster.plan),
        }
        node = server.answering(cluster)
        if node is not None:
            own = str(node.node_id)
            address = cluster.state.address(node.node_id)
            found |= {"server_id": own, "ndb_nodeid": own, "hostname": address}
            found |= cluster.state.of_servers.values.get(node.node_id, {})
        if self.begun is None and node is not None:
            self.begun = variables.at_begin(cluster)
        return found | (self.begun or {}) | self.set_to

    def _provider(
        self, cluster: LiveCluster, tree: exp.Expr, own: Mapping[str, Relation], *, is_empty: bool = False
    ) -> Provider:
        """Gives the tables of a query; `is_empty`: those of users without their rows."""

        offline_now = self.variables(cluster).get(_OFFLINE) == "1"
        references = [(one.db or self.database, one.name, one) for one in tree.find_all(exp.Table)]

        def provide(database: str, name: str) -> Relation:
            version = cluster.plan.version
            if f"{database}.{name}" in own:
                return own[f"{database}.{name}"]
            if database == "ndbinfo" and tables_of(version):
                known = tables_of(version)
                if name not in known:
                    table = server.table_named(cluster, database, name)
                    return finding.relation_of(table, finding.read(cluster, table, Wanted()))
                offline = offline_now
                if not cluster.state.alive() and not offline:
                    text = "Got error 157 'Connection to NDB failed' from NDBINFO"
                    raise SqlError(1296, "HY000", text)
                nullable = [one.null == "YES" for one in described(version, name)]
                columns, numeric = known[name].columns, known[name].numeric
                rows = () if offline else contents.ndbinfo(cluster, name)
                return relation(columns, rows, numeric, nullable)
            if database.lower() == "information_schema":
                return catalogue.catalogue(cluster, name, (self.asked, self.database))
            if database not in server.databases(cluster):
                raise no_database(database)
            if database in server.SYSTEM:
                return catalogue.table_of_server(cluster, database, name, (self.asked, self.database))
            table = server.table_named(cluster, database, name)
            failing.may_use(cluster, table)
            named = [one for base, known, one in references if (base, known) == (database, name)]
            locking.enter_to_read(cluster, table, named)
            select = named[0].find_ancestor(exp.Select) if len(named) == 1 else None
            if is_empty:
                return finding.relation_of(table, [])
            asked = Wanted() if select is None else finding.wanted(select, named[0], table)
            return finding.relation_of(table, finding.read(cluster, table, asked))

        return provide

    def _show(self, sql: str, cluster: LiveCluster) -> Result:
        own = self.variables(cluster)
        values = variables.shared(own, cluster) if variables.is_global(sql) else own
        found = show(sql, Asked(
            sql, self.database, cluster, self.warnings, values, self.counts
        ))  # fmt: skip
        if found.warnings:
            self.warnings = found.warnings
        return found
