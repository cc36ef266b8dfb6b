"""Statements that make, change and drop tables, databases and disk data, as far as a plan can hold them.

Texts, codes and warnings of what is refused: recorded on running 8.4.8 and 7.4.10 clusters. What the plan
cannot hold says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ndbplan.edits import validated
from ndbplan.edits.parts import remove
from ndbplan.importing.ddl.into_plan import with_tables
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.ddl.stream import Stream, Unreadable
from ndbplan.importing.ddl.table_names import renamed, table_name
from ndbplan.importing.ddl.tokens import Word
from ndbplan.importing.ddl.tokens import words as read_words
from ndbplan.ndb.console import form
from ndbplan.ndb.ndbinfo import is_table, tables_of
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import (
    databases,
    foreign_keys,
    local_tables,
    maintaining,
    new_tables,
    partitioning,
    storage,
)
from ndbplan.train.sql.altering import (
    OF_FOREIGN_KEY,
    become_altered,
    check_types,
    check_words,
    refused,
    with_new_keys,
)
from ndbplan.train.sql.cut_short import check_constraint, check_whole
from ndbplan.train.sql.databases import if_so as if_so_in
from ndbplan.train.sql.defining import (
    DEFINED_S,
    NDB,
    Asked,
    Done,
    Name,
    become,
    exchanged,
    ok,
    online_warning,
    taken,
)
from ndbplan.train.sql.dictionary_full import check_dictionary, not_told_to_others
from ndbplan.train.sql.disk_data import disk_data
from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.expressions import OF_EXPRESSION, with_expressions, with_names
from ndbplan.train.sql.expressions_altered import constraint_altered
from ndbplan.train.sql.expressions_kept import has_expressions, names_of_copy, names_with_table
from ndbplan.train.sql.failing import is_lost, open_warnings
from ndbplan.train.sql.index_words import check_index
from ndbplan.train.sql.modes import unknown_engine
from ndbplan.train.sql.numbers import TEXT
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, no_table, syntax
from ndbplan.train.sql.refused import read_only
from ndbplan.train.sql.stated_words import check_stated, doubled
from ndbplan.train.sql.too_large import raise_over
from ndbplan.train.state import is_local

_GENERATED = re.compile(r"\b(?:generated\s+always\s+)?as\s*\((?!\s*(?:select|with)\b)", re.IGNORECASE)

LONGEST_NAME = 64
"""Letters of the name of a table, column or index (manual, identifier length limits)."""
_OTHERS = ("myisam", "memory", "csv", "archive", "blackhole", "federated", "mrg_myisam")
_Act = Callable[[Asked, Stream], Done | Result]


def define(
    sql: str, database: str, cluster: LiveCluster, *, checks: bool = True, engine: str = "", logs: bool = True
) -> Done | Result:
    """Carry out a statement about the schema. Raises SqlError and NotSimulated.

    `checks`: foreign keys are looked at; `engine`: that of tables which name none; `logs`: new
    tables are logged.
    """
    first = sql.split(None, 1)[0]
    try:
        # By itself: the lexer takes what stands behind some verbs for one text.
        words = [Word(first, 0, "word", len(first)), *read_words(sql[len(first) :], len(first))]
    except ValueError:
        raise syntax(sql) from None
    asked = Asked(sql, database, cluster, tuple(words), checks, engine, logs)
    stream = Stream(words, len(sql))
    verb, what = stream.next().upper, stream.peek().upper
    check_stated(asked)
    try:
        return _act(verb, what)(asked, stream)
    except Unreadable as wrong:
        raise syntax(sql[wrong.offset :]) from None


def _act(verb: str, what: str) -> _Act:
    if verb in ("OPTIMIZE", "ANALYZE", "CHECK", "REPAIR"):
        return _checked
    if verb == "TRUNCATE":
        return _truncate
    if verb == "RENAME":
        return _rename
    if what in ("DATABASE", "SCHEMA") and verb != "ALTER":
        return databases.change
    if what in ("LOGFILE", "TABLESPACE"):
        return disk_data
    acts: dict[tuple[str, str], _Act] = {
        ("CREATE", "TABLE"): _create, ("CREATE", "TEMPORARY"): _temporary,
        ("DROP", "TABLE"): _drop, ("DROP", "TABLES"): _drop,
        ("ALTER", "TABLE"): _alter, ("ALTER", "ONLINE"): _alter, ("ALTER", "OFFLINE"): _alter,
        ("CREATE", "INDEX"): _index, ("CREATE", "UNIQUE"): _index, ("DROP", "INDEX"): _index,
    }  # fmt: skip
    return acts.get((verb, what), _unknown)


def _unknown(asked: Asked, stream: Stream) -> Done:
    if stream.at_end():
        raise syntax("")
    raise NotSimulated(f"{asked.words[0].upper} {stream.peek().upper[:30]} is not simulated here")


def _table_named(asked: Asked, stream: Stream) -> Name:
    return Name(*table_name(stream, asked.database).table)


def _create(asked: Asked, stream: Stream) -> Done:
    stream.expect("TABLE")
    if_so, named = if_so_in(stream), _table_named(asked, stream)
    database, name = asked.name(named)
    if local_tables.known(asked, named) is not None or asked.is_view(named):
        if if_so:
            return ok(asked, warnings=(Warned("Note", 1050, f"Table '{name}' already exists"),))
        raise SqlError(1050, "42S01", f"Table '{name}' already exists")
    if len(name) > LONGEST_NAME:
        raise SqlError(1059, "42000", f"Identifier name '{name}' is too long")
    if any(stream.peek(ahead).upper == "LIKE" for ahead in (0, 1)):
        return _create_like(asked, stream, Name(database, name))
    if any(word.upper == "SELECT" for word in asked.words):
        raise NotSimulated("of CREATE TABLE ... SELECT the form without columns of its own is simulated")
    engine = asked.option("ENGINE") or asked.default_engine
    if engine.lower() == local_tables.INNODB:
        return local_tables.create(asked, database, name)
    if engine.lower() in _OTHERS:
        raise NotSimulated("tables of NDB and InnoDB are simulated, and of no other engine")
    if engine.lower() not in NDB:
        raise unknown_engine(asked.cluster, engine)
    generated = _GENERATED.search(asked.sql)
    if generated is not None and not form(asked.plan.version, "generated_columns"):
        raise syntax(asked.sql[generated.start() :])
    clause = partitioning.clause_of(asked)
    new_tables.check(asked, clause)
    read = read_ddl(partitioning.as_key(asked.sql, clause), asked.plan.version, database)
    passed = (OF_FOREIGN_KEY, OF_EXPRESSION)
    said = [one.message for one in read.problems if not any(each.search(one.message) for each in passed)]
    for message in said:
        refused(asked, message)
    for table in read.tables:
        new_tables.check_lengths(asked, table)
    for message in said:
        raise_over(message, asked)
    if not read.tables:
        check_types(asked)
    said = [message for message in said if not new_tables.raise_for(message, asked)]
    if said or not read.tables:
        check_types(asked)
        check_words(asked, said)
    if not read.tables:
        raise NotSimulated(f"a plan cannot hold this: {said[0] if said else 'no table is made'}")
    if said:
        raise NotSimulated(f"a plan cannot hold this: {said[0]}")
    after = _as_before(asked, taken(asked, read))
    new = after.tables[-1]
    new_tables.check_disks(new, name, asked.plan.version)
    kept, warnings = new_tables.finished(asked, with_expressions(asked, new), clause)
    kept = storage.when_made(kept, asked.words)
    check_dictionary(asked, exchanged(after, new, kept))
    warnings = [*doubled(asked, kept), *warnings, *not_told_to_others(asked, exchanged(after, new, kept))]
    become(asked, with_new_keys(asked, exchanged(after, new, kept), kept, ()))
    return ok(asked, warnings=warnings)


def _temporary(asked: Asked, stream: Stream) -> Done:
    """CREATE TEMPORARY TABLE, of which NDB has none."""
    stream.expect("TEMPORARY")
    stream.expect("TABLE")
    if (asked.option("ENGINE") or asked.default_engine).lower() not in NDB:
        raise NotSimulated("temporary tables are not simulated; NDB has none")
    text = "Table storage engine 'ndbcluster' does not support the create option 'TEMPORARY'"
    raise SqlError(1478, "HY000", text)


def _create_like(asked: Asked, stream: Stream, name: Name) -> Done:
    """CREATE TABLE ... LIKE: the same without rows and foreign keys."""
    stream.accept("(")
    stream.expect("LIKE")
    typed = _table_named(asked, stream)
    old = asked.known(typed)
    if asked.local(typed) is not None:
        raise NotSimulated("CREATE TABLE ... LIKE of a table of InnoDB is not simulated")
    if old is None and asked.is_view(typed) and not is_table(asked.plan.version, typed.name):
        raise SqlError(1347, "HY000", f"'{typed.database}.{typed.name}' is not BASE TABLE")
    if old is None and asked.is_view(typed):
        raise NotSimulated("tables like those of ndbinfo are not simulated")
    if old is None:
        raise no_table(*asked.name(typed))
    kept = with_names(asked, old, name.database, names_of_copy(old, name.name), is_copy=True)
    empty = validated.with_rows(foreign_keys.with_keys(kept, (), asked.plan.version), 0)
    new = validated.changed(empty, database=name.database, name=name.name)
    spaces = {old.id: old.tablespace_id} if old.tablespace_id is not None else {}
    after = with_tables(asked.plan, [new], spaces)
    check_dictionary(asked, after)
    warnings = not_told_to_others(asked, after)
    become(asked, _as_before(asked, after))
    return ok(asked, warnings=warnings)


def _as_before(asked: Asked, after: Plan) -> Plan:
    """The plan with a new table; one that clients still ask for by its name is theirs."""
    new = after.tables[-1]
    ids = {one.id for one in after.tables}
    outage = asked.cluster.session.simulation.outage
    for one in outage.plan.tables:
        if one.full_name == new.full_name and one.id not in ids:
            return exchanged(after, new, new.model_copy(update={"id": one.id}))
    return after


def _without(plan: Plan, tables: Sequence[Table]) -> Plan:
    """The plan without tables, and without what workloads that nobody runs say of them."""
    return remove(plan, [table.id for table in tables]) if tables else plan


def _drop(asked: Asked, stream: Stream) -> Done:
    stream.next()
    if_so = if_so_in(stream)
    named = [(one, local_tables.known(asked, one)) for one in _listed(asked, stream)]
    missing = [".".join(asked.name(one)) for one, table in named if table is None]
    notes = [Warned("Note", 1051, f"Unknown table '{one}'") for one in missing]
    unknown = SqlError(1051, "42S02", f"Unknown table '{','.join(missing)}'")
    if missing and not if_so and not form(asked.plan.version, "drops_what_is_there"):
        raise unknown
    local = [table for _, table in named if table is not None and is_local(table)]
    gone = [table for _, table in named if table is not None and not is_local(table)]
    foreign_keys.check_drop(asked.plan, gone, checks=asked.checks)
    # A database outlives its last table.
    made = asked.cluster.state.databases | {table.database for table in gone}
    local_tables.drop(asked, local)
    if gone:
        become(asked, _without(asked.plan, gone), databases=made)
    if missing and not if_so:
        raise unknown
    return ok(asked, lasts_s=DEFINED_S if gone or not local else 0.0, warnings=notes)


def _listed(asked: Asked, stream: Stream) -> list[Name]:
    """Names up to the end of the statement."""
    names = [_table_named(asked, stream)]
    while stream.accept(","):
        names.append(_table_named(asked, stream))
    _ = stream.accept("CASCADE") or stream.accept("RESTRICT")
    if not stream.at_end():
        raise stream.unreadable("the end")
    return names


def _truncate(asked: Asked, stream: Stream) -> Done:
    stream.accept("TABLE")
    (typed,) = _listed(asked, stream)[:1]
    database, name = asked.name(typed)
    table = local_tables.known(asked, typed)
    if table is None:
        behind = database == "ndbinfo" and name.removeprefix("ndb$") in tables_of(asked.plan.version)
        if behind and name.startswith("ndb$") and not form(asked.plan.version, "dictionary_of_its_own"):
            raise read_only(name)
        raise no_table(database, name)
    if is_local(table):
        return local_tables.truncate(asked, table)
    foreign_keys.check_truncate(asked.plan, table, checks=asked.checks)
    become(
        asked, exchanged(asked.plan, table, validated.with_rows(table, 0)), truncated=frozenset({table.id})
    )
    return ok(asked)


def _rename(asked: Asked, stream: Stream) -> Done:
    """RENAME TABLE a TO b, or ALTER TABLE a RENAME b."""
    (pair, *more) = renamed([*stream.rest()] if stream.peek(-1).upper == "RENAME" else [*asked.words],
                            len(asked.sql), asked.database)  # fmt: skip
    if more:
        raise NotSimulated("one table is renamed at a time here")
    old, new = Name(*pair[0].table), Name(*pair[1])
    table, (database, name) = local_tables.known(asked, old), asked.name(new)
    if table is None:
        raise no_table(*asked.name(old))
    if local_tables.known(asked, new) is not None:
        raise SqlError(1050, "42S01", f"Table '{name}' already exists")
    if len(name) > LONGEST_NAME:
        raise SqlError(1059, "42000", f"Identifier name '{name}' is too long")
    if is_local(table):
        return local_tables.rename(asked, table, database, name)
    kept = with_names(asked, table, database, names_with_table(table, name))
    become(asked, _renamed_in_keys(asked.plan, table, validated.changed(kept, database=database, name=name)))
    return ok(asked)


def _renamed_in_keys(plan: Plan, old: Table, new: Table) -> Plan:
    """The plan with a table under another name, which foreign keys follow."""
    was, now = (old.database, old.name), (new.database, new.name)
    tables = []
    for one in plan.tables:
        keys = foreign_keys.keys_of(plan, one) if one.left_out else ()
        kept = new if one is old else one
        moved = [foreign_keys.renamed(key, was, now, plan.version) for key in keys]
        tables.append(foreign_keys.with_keys(kept, moved, plan.version) if moved else kept)
    return plan.replace(tables=tuple(tables))


def _index(asked: Asked, stream: Stream) -> Done:
    """CREATE and DROP INDEX name ON table."""
    check_index(asked)
    while not stream.accept("ON"):
        stream.next()
    return _altered(asked, _table_named(asked, stream))


def _altered(asked: Asked, typed: Name) -> Done:
    """What a change of a table comes to, by its engine."""
    local, table, engine = asked.local(typed), asked.known(typed), (asked.option("ENGINE") or "").lower()
    if local is not None:
        return local_tables.alter(asked, local)
    if engine == local_tables.INNODB and table is not None:
        if has_expressions(table):
            raise NotSimulated("tables with CHECK or generated columns do not change their engine here")
        return local_tables.from_ndb(asked, table, lambda plan: _without(plan, [table]))
    if engine and engine not in NDB and table is not None:
        if engine in _OTHERS:
            raise NotSimulated("tables of NDB and InnoDB are simulated, and of no other engine")
        raise unknown_engine(asked.cluster, asked.option("ENGINE") or "")
    return become_altered(asked, typed)


def _alter(asked: Asked, stream: Stream) -> Done | Result:
    """ALTER TABLE; what was online once says so in words that newer servers do not know."""
    if stream.peek().upper in ("ONLINE", "OFFLINE"):
        if asked.plan.features.algorithm_inplace:
            raise stream.unreadable("TABLE")
        stream.next()
    stream.expect("TABLE")
    typed = _table_named(asked, stream)
    if stream.peek().upper == "RENAME" and stream.peek(1).upper not in ("COLUMN", "INDEX", "KEY"):
        return _rename(asked, stream)
    if stream.at_end():
        return ok(asked, counts=True)
    check_whole(asked)
    known = asked.known(typed)
    changed = constraint_altered(asked, known)
    if known is not None and changed is None:
        check_constraint(asked, known)
    if known is not None and changed is not None:
        become(asked, exchanged(asked.plan, known, changed))
        return ok(asked, counts=True)
    if maintaining.is_next(stream):
        table = asked.known(typed)
        if asked.local(typed) is not None:
            raise maintaining.not_partitioned()
        if table is None:
            raise no_table(*asked.name(typed))
        return maintaining.maintain(asked, stream, table)
    if stream.peek().upper in ("REORGANIZE", "REORGANISE"):
        raise SqlError(1064, "42000", syntax("").text, online_warning(asked.how, asked.plan.version))
    return _altered(asked, typed)


_NOT_SUPPORTED = "The storage engine for the table doesn't support"
_RECREATED = "Table does not support optimize, doing recreate + analyze instead"


def _checked(asked: Asked, stream: Stream) -> Result:
    """OPTIMIZE, ANALYZE and CHECK TABLE answer for each table; room that gets free is not simulated."""
    verb, rows, note = asked.words[0].upper.lower(), [], ""
    is_newer = form(asked.plan.version, "dictionary_of_its_own")
    if verb == "analyze" and is_newer and any(word.upper == "HISTOGRAM" for word in asked.words):
        raise NotSimulated("HISTOGRAM is not simulated here: no query is planned by one")
    stream.accept("LOCAL")
    if not stream.accept("TABLES"):
        stream.expect("TABLE")
    for typed in _listed(asked, stream):
        database, name = asked.name(typed)
        if is_lost(asked.cluster) and asked.known(typed) is not None:
            full = f"{database}.{name}"
            rows += [(full, verb, one.level, one.message) for one in open_warnings(asked.cluster, full)]
            rows.append((full, verb, "Error", "Got error 4009 'Cluster Failure' from NDBCLUSTER"))
            rows.append((full, verb, "error", "Corrupt"))
        elif local_tables.known(asked, typed) is None:
            missing = f"Table '{database}.{name}' doesn't exist"
            rows += [(f"{database}.{name}", verb, "Error", missing),
                     (f"{database}.{name}", verb, "status", "Operation failed")]  # fmt: skip
        elif verb == "repair" or (verb == "check" and asked.local(typed) is None):
            rows.append((f"{database}.{name}", verb, "note", f"{_NOT_SUPPORTED} {verb}"))
        else:
            if verb == "optimize" and asked.local(typed) is not None:
                rows.append((f"{database}.{name}", verb, "note", _RECREATED))
            rows.append((f"{database}.{name}", verb, "status", "OK"))
            table = asked.known(typed) if verb == "analyze" else None
            if table is not None and any(one.kind == "ordered" for one in table.indexes):
                note = "how many values an ordered index has is not simulated: its Cardinality stays NULL"
    asked.cluster.lets_pass(DEFINED_S)
    headings = ("Table", "Op", "Msg_type", "Msg_text")
    return Result(headings, (TEXT,) * 4, list(rows), note=note)
