"""INSERT, REPLACE, UPDATE and DELETE: rows, their log, and errors; too many rows at once are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlglot import exp

from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.ndb.console import form
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OperationKind
from ndbplan.train.contents import Contents, Held, Key, Row
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import Wrote, refused_for
from ndbplan.train.sql import finding, server
from ndbplan.train.sql.changed import Change, Changed, said
from ndbplan.train.sql.deprecated import deprecated
from ndbplan.train.sql.engine import Relation
from ndbplan.train.sql.expressions import VIOLATED, complete
from ndbplan.train.sql.expressions_kept import generated_of, has_expressions
from ndbplan.train.sql.failing import may_use
from ndbplan.train.sql.finding import TooMany
from ndbplan.train.sql.given_values import GivenValues, is_default, name_new_rows
from ndbplan.train.sql.locking import Guard, enter, eyes, met_by, names_in_change
from ndbplan.train.sql.modes import is_strict
from ndbplan.train.sql.moved import Clashes, moved, without_modifiers
from ndbplan.train.sql.partitioning import NO_PARTITION
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, no_database, syntax
from ndbplan.train.sql.reading import parsed
from ndbplan.train.sql.referring import consequences, has_keys
from ndbplan.train.sql.refused import (
    check_room,
    inside_of,
    log_refused,
    met,
    of_ndbinfo,
    refusing_change,
    share_with_room,
)
from ndbplan.train.sql.roughly import Asked, known, named, rows_met
from ndbplan.train.sql.safely import check_safe
from ndbplan.train.sql.scopes import check_read
from ndbplan.train.sql.several import Joined, joined_of
from ndbplan.train.sql.too_large import refuse_too_many
from ndbplan.train.sql.unique_keys import UniqueKeys, duplicate, taken_away
from ndbplan.train.sql.values import Taking, empty_value
from ndbplan.train.state import is_local
from ndbplan.train.typed_memory import as_typed

KEY_EXISTS, UNIQUE_EXISTS = 630, 893
"""What NDB says of a key that is there."""


def change(sql: str, asked: Asked) -> Changed:
    """Carry out a change of rows. Raises SqlError and NotSimulated."""
    cluster, replaces = asked.cluster, sql[:7].lower() == "replace"
    sql, ignores = without_modifiers(sql)
    tree = parsed(f"INSERT{sql[7:]}" if replaces else sql)
    if ignores:
        tree.set("ignore", True)
    if tree.args.get("returning") is not None:
        raise syntax(sql[sql.lower().rindex("returning") :])
    name_new_rows(tree, sql, cluster.plan.version)
    joined = joined_of(tree, asked)
    target = next(tree.find_all(exp.Table), None) if joined is None else joined.target
    where = "" if target is None else target.db or asked.in_use
    if target is None or not where:
        raise SqlError(1046, "3D000", "No database selected")
    own = {one.full_name for one in server.local_tables(cluster)}
    if where == "ndbinfo" and tables_of(cluster.plan.version) and f"{where}.{target.name}" not in own:
        raise of_ndbinfo(tree, target.name, cluster)
    if where not in server.databases(cluster):
        raise no_database(where)
    table = server.table_named(cluster, where, target.name)
    check_read(tree, target, where, asked.in_use)
    may_use(cluster, table)
    # IGNORE makes warnings of what else is an error (manual, the effect of IGNORE).
    strict = is_strict(cluster) and not tree.args.get("ignore")
    taking = Taking(strict, table.name, cluster.plan.features.fractional_seconds)
    taking.warnings += deprecated(sql, cluster)
    enter(cluster, table, names_in_change(tree, target, table, asked.in_use), writes=True)
    guard = Guard(cluster)
    one = _Statement(tree, target, table, asked, taking, guard, replaces, joined)
    try:
        found = one.inserted() if isinstance(tree, exp.Insert) else one.changed()
    except TooMany:
        if joined is not None or has_expressions(table) or (asked.checks and has_keys(cluster, table)):
            raise
        guard.whole(table)
        guard.keep()
        return _counted(one)
    touched = max(found.matched, len(found.put), len(found.gone))
    refuse_too_many(touched, found.kind, tree, table, cluster)
    beside = consequences(cluster, table, found) if asked.checks else []
    for other, what in [(table, found), *beside]:
        guard.puts(other, what.put, what.gone)
    guard.keep()
    held = cluster.held(table)
    _write(cluster, table, found.kind, touched, held.with_changes(found.put, found.gone, found.counter))
    for other, what in beside:
        _write(cluster, other, what.kind, what.matched, cluster.held(other).with_changes(what.put, what.gone))
    return Changed(
        said(tree, taking.warnings, found, cluster), tuple(taking.warnings), found.number, found.affected
    )


def _write(
    cluster: LiveCluster, table: Table, kind: OperationKind, rows: int, contents: Contents,
    added: int | None = None,
) -> None:  # fmt: skip
    """Give the cluster the change and its log; `added`: rows more, where the contents do not tell."""
    if added is None:
        before = cluster.held(table)
        added = replace(before, contents=contents).count - before.count
    log_bytes = 0.0
    if not is_local(table):
        log_bytes = operation_redo(as_typed(table, rows, contents), kind, cluster.plan.version).value
        log_bytes *= rows * no_of_replicas(cluster.plan)
        copied = 0 if kind is OperationKind.INSERT else rows
        code = refusing_change(cluster, kind)
        if not code and refused_for(cluster.session.simulation, table.id, log_bytes):
            # What has no room ends the statement at that row: no more than the log until there is written.
            share = share_with_room(cluster, table, added, contents, copied)
            code = log_refused(cluster, table, share * log_bytes)
        if code:
            raise met(code, table.name, cluster.plan.version)
        check_room(cluster, table, added, contents, copied)
    cluster.act(Wrote(table.id, added, log_bytes, contents, cluster.sql_session))


class _Statement(NamedTuple):
    """A change of one table."""

    tree: exp.Expr
    target: exp.Table
    table: Table
    asked: Asked
    taking: Taking
    guard: Guard
    replaces: bool
    joined: Joined | None = None
    """The tables that it reads beside; None: none."""

    @property
    def cluster(self) -> LiveCluster:
        return self.asked.cluster

    @property
    def held(self) -> Held:
        return self.cluster.held(self.table)

    # INSERT and REPLACE.

    def inserted(self) -> Change:
        """The rows that an INSERT or a REPLACE puts. Raises SqlError for keys that are there."""
        tree, table, held, version = self.tree, self.table, self.held, self.cluster.plan.version
        head = tree.this
        listed = [one.name for one in head.expressions] if isinstance(head, exp.Schema) else []
        columns = named(table, listed)
        given = self._given(columns if listed else list(table.columns), bool(listed))
        if held.contents.is_vague:
            raise TooMany(f"rows of {table.full_name} are counted")
        ignores, conflict = bool(tree.args.get("ignore")), tree.args.get("conflict")
        batch = len(given) > 1 or isinstance(tree.expression, exp.Query)
        counter = server.counter(self.cluster, table)
        put: dict[Key, Row] = {}
        gone: set[Key] = set()
        number, duplicates, affected = None, 0, 0
        has_unique = any(one.kind != "ordered" for one in table.indexes)
        unique = UniqueKeys(self.cluster, table, held) if has_unique else None
        # Values are looked at before the rows are sent, all at once.
        stored: list[tuple[Row, int]] = []
        for at, values in enumerate(given, start=1):
            try:
                row, counter, automatic = self._row(values, at, counter, lax=ignores or len(given) > 1)
            except SqlError as error:
                if not ignores or error.code not in (NO_PARTITION, VIOLATED):
                    raise
                self.taking.warnings.append(Warned("Warning", error.code, error.text))
                continue
            number = automatic if number is None else number
            stored.append((row, counter))
        self.guard.inserts(held, [row for row, _ in stored])
        for at, (row, hidden) in enumerate(stored, start=1):
            key = held.key_of(row) if table.primary_key else (hidden,)
            there = put.get(key) or (held.find(key, row) if self._may_be_there(held, key) else None)
            index = "PRIMARY"
            if there is None and unique is not None:
                clash = unique.clash(row, put)
                if clash is not None:
                    index, key_there, there = clash
                    if conflict is not None:
                        key = key_there
            if self.replaces:
                primary = key if there is not None and index == "PRIMARY" else None
                replaced = taken_away(row, primary, put, unique)
                affected += len(replaced) * (unique is not None or is_local(table))
                gone |= replaced
            if there is None or self.replaces:
                affected += 1
                put[key] = row
                if unique is not None:
                    unique.put(key, row)
                continue
            duplicates += 1
            if conflict is not None:
                changed = self._on_duplicate(conflict, there, row, at)
                affected += 2 * (changed != there)
                put[key] = changed
            elif ignores and not form(version, "ignore_warns_of_keys"):
                continue
            elif ignores:
                self.taking.warnings.append(Warned("Warning", 1062, duplicate(table, row, index, version)))
            else:
                raise self._exists(row, index, batch=batch)
        duplicates *= not self.replaces
        gone -= put.keys()
        return Change(OperationKind.INSERT, len(given), affected, put, gone, counter, number, duplicates)

    def _exists(self, row: Row, index: str, *, batch: bool) -> SqlError:
        """What is said of a key that is there: NDB does not tell which one it was of several."""
        text = duplicate(self.table, row, index, self.cluster.plan.version)
        if is_local(self.table):
            return SqlError(1062, "23000", text)
        inside = inside_of(KEY_EXISTS if index == "PRIMARY" else UNIQUE_EXISTS, self.cluster.plan.version)
        if batch:
            unnamed = f"Can't write; duplicate key in table '{self.table.name}'"
            return SqlError(1022, "23000", unnamed, (inside,))
        return SqlError(1062, "23000", text, (inside,))

    def _may_be_there(self, held: Held, key: Key) -> bool:
        """Whether a row of this key is known: of keys that nobody can list, those that were typed are."""
        return held.numbered or key in held.contents.rows

    def _given(self, columns: list[Column], is_listed: bool) -> list[dict[str, Any]]:
        """The values of each row, by the names of the columns; missing ones take their default."""
        values, width = self.tree.expression, len(columns)
        if isinstance(values, exp.Query):
            found = self.asked.query(values, {})
            if len(found.headings) != width:
                raise SqlError(1136, "21S01", "Column count doesn't match value count at row 1")
            return [dict(zip((one.name for one in columns), row, strict=True)) for row in found.rows]
        if not isinstance(values, exp.Values):
            raise NotSimulated("this change is not simulated; INSERT ... VALUES and INSERT ... SELECT are")
        rows, given = list[dict[str, Any]](), GivenValues(self.asked.query)
        for number, typed in enumerate(values.expressions, start=1):
            parts = typed.expressions if isinstance(typed, exp.Tuple) else [typed]
            if not parts and not is_listed:
                rows.append({})
                continue
            if len(parts) != width:
                raise SqlError(1136, "21S01", f"Column count doesn't match value count at row {number}")
            rows.append(given.of_row(columns, parts))
        return rows

    def _row(
        self, values: Mapping[str, Any], number: int, counter: int, *, lax: bool
    ) -> tuple[Row, int, int | None]:
        """A row as it is stored, and the number that it was given, if it was.

        `lax`: a NULL that cannot be is a warning where values are not looked at strictly.
        """
        row: Row = {}
        given, worked_out = None, generated_of(self.table, values)
        for column in self.table.columns:
            name, is_key = column.name, column.name in self.table.primary_key
            must = is_key or not column.nullable
            value = values.get(name)
            if column.auto_increment and value in (None, 0):
                given = row[name] = counter = self.asked.number_after(counter)
                continue
            if name in values:
                if value is None and must:
                    if not lax:
                        raise SqlError(1048, "23000", f"Column '{name}' cannot be null")
                    self.taking.wrong(1048, "23000", f"Column '{name}' cannot be null")
                    value = empty_value(column)
                row[name] = self.taking.take(column, value, number)
                if column.auto_increment and isinstance(row[name], int):
                    counter = max(counter, row[name])
            elif column.default is not None:
                row[name] = self._default(column)
            else:
                row[name] = self.taking.implicit(column) if must and name not in worked_out else None
        if not self.table.primary_key:
            counter += 1
        complete(self.table, row, self.asked, self.taking, number)
        return row, counter, given

    def _default(self, column: Column) -> Any:
        text = str(column.default)
        if column.default is None or text.upper() == "NULL":
            return None if column.nullable else self.taking.implicit(column)
        if text.upper().startswith(("CURRENT_TIMESTAMP", "NOW(")):
            return self.taking.take(column, f"{self.cluster.clock:%Y-%m-%d %H:%M:%S}", 1)
        if text.startswith("("):
            return self.taking.take(column, self.asked.query(parsed(f"SELECT {text}"), {}).rows[0][0], 1)
        return self.taking.take(column, text.strip("'\""), 1)

    def _on_duplicate(self, conflict: exp.Expr, there: Row, new: Row, number: int) -> Row:
        """The row as ON DUPLICATE KEY UPDATE leaves it."""

        def value(node: exp.Expr) -> exp.Expr:
            is_new = isinstance(node, exp.Anonymous) and node.name.upper() == "VALUES" and node.expressions
            return exp.column(f"new {node.expressions[0].name.lower()}", quoted=True) if is_new else node

        own = finding.relation_of(self.table, [((1,), there)])
        columns = (*own.columns, *(f"new {name.lower()}" for name in own.columns))
        row = {**there, **{f"new {name.lower()}": new[name] for name in own.columns}}
        relation = own._replace(columns=columns, kinds=own.kinds * 2, rows=[row], nullable=own.nullable * 2)
        sets = [one.transform(value) for one in conflict.expressions]
        return self._updated(sets, relation, [there], number)[0]

    # UPDATE and DELETE.

    def changed(self) -> Change:
        """The rows that an UPDATE or a DELETE meets, and what they hold then."""
        tree, table = self.tree, self.table
        if self.joined is not None:
            return self._changed_by_others(self.joined)
        if not isinstance(tree, exp.Update | exp.Delete) or len(list(tree.find_all(exp.Table))) > 1 + sum(
            len(list(one.find_all(exp.Table))) for one in tree.find_all(exp.Subquery)
        ):
            raise NotSimulated("this change is not simulated; INSERT, UPDATE and DELETE of one table are")
        names = {column.name.lower(): column for column in table.columns}
        where = tree.args.get("where")
        if isinstance(tree, exp.Update):
            named_in = (c for one in tree.expressions for c in one.find_all(exp.Column))
            known((c.name for c in named_in if not is_default(c)), names, "field list")
        if where is not None and where.find(exp.Subquery) is None:
            known((c.name for c in where.find_all(exp.Column)), names, "where clause")
        check_safe(tree, table, self.asked)
        asks = finding.wanted(tree, self.target, table)
        views = eyes(self.cluster)
        met_rows, *others = (met_by(tree, self.target, table, asks, self.asked.query, one) for one in views)
        self.guard.met(table, [*met_rows, *(pair for rows in others for pair in rows)], asks)
        if isinstance(tree, exp.Delete):
            keys = [key for key, _ in met_rows]
            return Change(OperationKind.DELETE, len(keys), len(keys), {}, keys)
        asked = finding.names_in(*(one.expression for one in tree.expressions))
        own = finding.relation_of(table, met_rows, numbered=True, names=asked)
        after = self._updated(tree.expressions, own, [row for _, row in met_rows], 1)
        return self._moved(met_rows, after)

    def _changed_by_others(self, joined: Joined) -> Change:
        """The same where several tables are read."""
        tree, table = self.tree, self.table
        query = exp.select("*").from_(joined.source.copy())
        query.set("where", tree.args.get("where"))
        asks = finding.Wanted() if joined.is_twice else finding.wanted(query, self.target, table)
        rows = finding.read(self.cluster, table, asks)
        relation = finding.relation_of(table, rows, numbered=True)
        goals, values = self._goals(tree.expressions) if isinstance(tree, exp.Update) else ([], [])
        found = joined.met(tree, relation, values, self.asked, table.full_name)
        met_rows = [rows[place] for place, _ in found]
        self.guard.met(table, met_rows, asks)
        if isinstance(tree, exp.Delete):
            return Change(OperationKind.DELETE, len(found), len(found), {}, [key for key, _ in met_rows])
        after = self._stored(goals, [given for _, given in found], [row for _, row in met_rows], 1)
        return self._moved(met_rows, after)

    def _goals(self, sets: Sequence[exp.Expr]) -> tuple[list[Column], list[exp.Expr]]:
        """The columns that assignments change, and the values that they ask for."""
        columns = {column.name.lower(): column for column in self.table.columns}
        goals: list[Column] = []
        asks: list[exp.Expr] = []
        for one in sets:
            column = columns.get(one.this.name.lower())
            if column is None:
                raise SqlError(1054, "42S22", f"Unknown column '{one.this.name}' in 'field list'")
            takes_default = is_default(one.expression)
            if generated_of(self.table, () if takes_default else (column.name,)).get(column.name):
                continue
            goals.append(column)
            value = exp.convert(self._default(column)) if takes_default else one.expression.copy()
            asks.append(exp.alias_(value, f"v {len(asks)}", quoted=True))
        return goals, asks

    def _updated(
        self, sets: Sequence[exp.Expr], relation: Relation, before: Sequence[Row], first: int
    ) -> list[Row]:
        """Rows with the values that assignments give them, one after the other."""
        goals, asks = self._goals(sets)
        if not before:
            return []
        name = exp.table_(self.table.name, db=self.table.database, quoted=True)
        alias = self.target.alias
        query = exp.select(*asks).from_(exp.alias_(name, alias, table=True) if alias else name)
        found = self.asked.query(query, {self.table.full_name: relation}).rows
        return self._stored(goals, found, before, first)

    def _stored(
        self, goals: Sequence[Column], found: Sequence[tuple[Any, ...]], before: Sequence[Row], first: int
    ) -> list[Row]:
        """Rows with new values in some columns, as they are stored."""
        after = []
        stamped = [one for one in self.table.columns if one.on_update is not None and one not in goals]
        for number, (row, values) in enumerate(zip(before, found, strict=True), start=first):
            new = dict(row)
            for column, value in zip(goals, values, strict=True):
                if value is None and (not column.nullable or column.name in self.table.primary_key):
                    self.taking.wrong(1048, "23000", f"Column '{column.name}' cannot be null")
                    new[column.name] = empty_value(column)
                    continue
                new[column.name] = self.taking.take(column, value, number)
            if new != row:
                for column in stamped:
                    new[column.name] = self.taking.take(column, f"{self.cluster.clock:%Y-%m-%d %H:%M:%S}", 1)
            complete(self.table, new, self.asked, self.taking, number)
            after.append(new)
        return after

    def _moved(self, before: Sequence[tuple[Key, Row]], after: Sequence[Row]) -> Change:
        """An UPDATE: rows that are other than before, by their keys. Raises SqlError 1062 and 1022."""
        table, held = self.table, self.held
        ignored = self.taking.warnings if self.tree.args.get("ignore") else None

        def is_there(key: Key) -> bool:
            return self._may_be_there(held, key) and held.find(key) is not None

        clashes = Clashes(self.cluster, table, held, is_there, self._exists, ignored)
        return moved(before, after, clashes)


def _counted(one: _Statement) -> Changed:
    """The same by numbers of rows: which values they have then is not known."""
    table, cluster = one.table, one.cluster
    rows, kind = rows_met(one.tree, table, one.asked, replaces=one.replaces)
    refuse_too_many(rows, kind, one.tree, table, cluster)
    added = {OperationKind.INSERT: rows, OperationKind.DELETE: -rows}.get(kind, 0)
    vague = replace(cluster.held(table).contents, is_vague=True)
    _write(cluster, table, kind, rows, vague, added)
    return Changed(
        said(one.tree, one.taking.warnings, Change(kind, rows, rows, {}, ()), cluster), (), None, rows
    )
