"""Statements that make, change and drop tables, databases and disk data, as far as a plan can hold them.

Texts, codes and warnings of what is refused: recorded on running 8.4.8 and 7.4.10 clusters. What the plan
cannot hold says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ndbplan.edits import validated
from ndbplan.edits.parts import remove
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.ddl.stream import Stream, Unreadable
from ndbplan.importing.ddl.table_names import renamed, table_name
from ndbplan.importing.ddl.tokens import Word
from ndbplan.importing.ddl.tokens import words as read_words
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.console import form
from ndbplan.operations.schema import create_table
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import room_left, rows_of
from ndbplan.train.sql import server
from ndbplan.train.sql.defining import DEFINED_S, NDB, Asked, Done, Name, become, ok, online_warning, taken
from ndbplan.train.sql.disk_data import disk_data
from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.failing import is_lost, open_warnings
from ndbplan.train.sql.numbers import TEXT
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, no_table, syntax

COPIED_ROWS_PER_S = 17_000.0
"""Rows that ALGORITHM=COPY copies in a second [8.4.8, one connection, small machine: 100,000 in 5.9 s]."""
NO_LOCK = "LOCK=NONE/SHARED is not supported for this operation. Try LOCK=EXCLUSIVE."
INDEXED_ROWS_PER_S = 88_000.0
"""Rows that a new index takes in a second [8.4.8, the same machine: 100,000 in 1.1 s]."""
_OTHERS = ("innodb", "myisam", "memory", "csv", "archive", "blackhole", "federated", "mrg_myisam")
_TYPE_NAMES = frozenset(
    name.upper() for kind in COLUMN_TYPES.values() for name in (kind.name, *kind.ddl_names)
)
_NO_TYPE = frozenset(("KEY", "INDEX", "UNIQUE", "PRIMARY", "FOREIGN", "FULLTEXT", "SPATIAL", "CONSTRAINT"))
_TWICE = re.compile(r"column '([^']{1,64})' is there twice")
_NO_SUCH = re.compile(r"there is no (?:column|index) (\S{1,64});")
_NOT_A_COLUMN = re.compile(r"column (\S{1,64}) is not among those of the table")
_Act = Callable[[Asked, Stream], Done | Result]


def define(sql: str, database: str, cluster: LiveCluster) -> Done | Result:
    """Carry out a statement about the schema. Raises SqlError and NotSimulated."""
    first = sql.split(None, 1)[0]
    try:
        # By itself: the lexer takes what stands behind some verbs for one text.
        words = [Word(first, 0, "word", len(first)), *read_words(sql[len(first) :], len(first))]
    except ValueError:
        raise syntax(sql) from None
    asked = Asked(sql, database, cluster, tuple(words))
    stream = Stream(words, len(sql))
    verb, what = stream.next().upper, stream.peek().upper
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
        return _databases
    if what in ("LOGFILE", "TABLESPACE"):
        return disk_data
    acts: dict[tuple[str, str], _Act] = {
        ("CREATE", "TABLE"): _create, ("DROP", "TABLE"): _drop, ("DROP", "TABLES"): _drop,
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


def _databases(asked: Asked, stream: Stream) -> Done:
    stream.next()
    verb, if_so = asked.words[0].upper, _if_so(stream)
    name = stream.name("database name")
    there = name in server.databases(asked.cluster)
    made = asked.cluster.state.databases
    if verb == "CREATE":
        if there and not if_so:
            raise SqlError(1007, "HY000", f"Can't create database '{name}'; database exists")
        if there:
            note = Warned("Note", 1007, f"Can't create database '{name}'; database exists")
            return ok(asked, 1, warnings=(note,))
        become(asked, asked.plan, databases=made | {name})
        return ok(asked, 1)
    if not there:
        if if_so:
            text = f"Can't drop database '{name}'; database doesn't exist"
            return ok(asked, warnings=(Warned("Note", 1008, text),))
        raise SqlError(1008, "HY000", f"Can't drop database '{name}'; database doesn't exist")
    if name in ("information_schema", "mysql", "performance_schema", "ndbinfo"):
        raise SqlError(3552, "HY000", f"Access to system schema '{name}' is rejected.")
    gone = [table for table in asked.plan.tables if table.database == name]
    become(asked, _without(asked.plan, gone), databases=made - {name})
    return ok(asked, len(gone))


def _if_so(stream: Stream) -> bool:
    """Take IF EXISTS or IF NOT EXISTS."""
    if not stream.accept("IF"):
        return False
    stream.accept("NOT")
    stream.expect("EXISTS")
    return True


def _create(asked: Asked, stream: Stream) -> Done:
    stream.expect("TABLE")
    if_so, named = _if_so(stream), _table_named(asked, stream)
    database, name = asked.name(named)
    if asked.known(named) is not None:
        if if_so:
            return ok(asked, warnings=(Warned("Note", 1050, f"Table '{name}' already exists"),))
        raise SqlError(1050, "42S01", f"Table '{name}' already exists")
    if any(stream.peek(ahead).upper == "LIKE" for ahead in (0, 1)):
        raise NotSimulated("CREATE TABLE ... LIKE is not simulated here; write the columns")
    if any(word.upper == "SELECT" for word in asked.words):
        raise NotSimulated("CREATE TABLE ... SELECT is not simulated here: rows are not")
    engine = asked.option("ENGINE")
    if engine is None or engine.lower() in _OTHERS:
        raise NotSimulated("only tables of NDB are simulated: write ENGINE=NDB")
    if engine.lower() not in NDB:
        raise SqlError(1286, "42000", f"Unknown storage engine '{engine}'")
    read = read_ddl(asked.sql, asked.plan.version, database)
    said = [problem.message for problem in read.problems]
    for message in said:
        if match := _TWICE.search(message):
            raise SqlError(1060, "42S21", f"Duplicate column name '{match[1]}'")
    if said or not read.tables:
        _check_types(asked)
    if not read.tables:
        raise NotSimulated(f"a plan cannot hold this: {said[0] if said else 'no table is made'}")
    if said:
        raise NotSimulated(f"a plan cannot hold this: {said[0]}")
    after = _as_before(asked, taken(asked, read))
    new = after.tables[-1]
    if new.tablespace_id is None and any(column.storage == "disk" for column in new.columns):
        inside = Warned("Warning", 3014, "TABLESPACE option must be specified when using STORAGE DISK")
        text = f"Can't create table '{name}' (use SHOW WARNINGS for more info)."
        raise SqlError(1005, "HY000", text, (inside,))
    become(asked, after)
    return ok(asked)


def _as_before(asked: Asked, after: Plan) -> Plan:
    """The plan with a new table; one that clients still ask for by its name is theirs."""
    new = after.tables[-1]
    ids = {one.id for one in after.tables}
    outage = asked.cluster.session.simulation.outage
    for one in outage.plan.tables:
        if one.full_name == new.full_name and one.id not in ids:
            return _exchanged(after, new, new.model_copy(update={"id": one.id}))
    return after


def _check_types(asked: Asked) -> None:
    """Raises SqlError 1064 at the first word behind the name of a column that is no type."""
    for before, name, kind in zip(asked.words, asked.words[1:], asked.words[2:], strict=False):
        is_column = before.text in ("(", ",") and name.upper not in _NO_TYPE and name.kind in ("word", "name")
        if is_column and kind.kind == "word" and kind.upper not in _TYPE_NAMES:
            raise syntax(asked.sql[kind.start :])


_CHANGES = frozenset((
    "ADD", "ALTER", "ALGORITHM", "AUTO_INCREMENT", "AVG_ROW_LENGTH", "CHANGE", "CHARACTER", "CHARSET",
    "CHECK", "CHECKSUM", "COALESCE", "COLLATE", "COMMENT", "CONNECTION", "CONVERT", "DEFAULT",
    "DELAY_KEY_WRITE", "DISABLE", "DISCARD", "DROP", "ENABLE", "ENCRYPTION", "ENGINE", "EXCHANGE",
    "FORCE", "IMPORT", "KEY_BLOCK_SIZE", "LOCK", "MAX_ROWS", "MIN_ROWS", "MODIFY", "OPTIMIZE", "ORDER",
    "PACK_KEYS", "PARTITION", "PASSWORD", "REBUILD", "REMOVE", "RENAME", "REORGANIZE", "REPAIR",
    "ROW_FORMAT", "SECONDARY_LOAD", "STATS_PERSISTENT", "STORAGE", "TABLESPACE", "TRUNCATE", "UNION",
    "UPGRADE", "VALIDATION", "WITH", "WITHOUT", "ANALYZE", "STATS_AUTO_RECALC", "STATS_SAMPLE_PAGES",
    "INSERT_METHOD", "DATA", "INDEX", "SECONDARY_ENGINE",
))  # fmt: skip
"""Words that a change of a table may begin with: the manual, ALTER TABLE."""
_NAMES_COLUMN = {"ADD": 1, "MODIFY": 1, "CHANGE": 2}
"""Changes that name a column and its type, and how many names stand before the type."""


def _check_altered(asked: Asked) -> None:
    """Raises SqlError 1064 for a change that ALTER TABLE does not know, or a column without a type."""
    words, depth = asked.words, 0
    begins = next((at for at, one in enumerate(words) if one.upper == "TABLE"), 0) + 2
    while begins < len(words) and words[begins].text == ".":
        begins += 2
    for at in range(begins, len(words)):
        depth += (words[at].text == "(") - (words[at].text == ")")
        if depth or (at != begins and words[at - 1].text != ","):
            continue
        if words[at].kind == "word" and words[at].upper not in _CHANGES:
            raise syntax(asked.sql[words[at].start :])
        names = _NAMES_COLUMN.get(words[at].upper, 0)
        if not names:
            continue
        named = at + 1 + (at + 1 < len(words) and words[at + 1].upper == "COLUMN")
        place = named + names
        if named >= len(words) or (words[named].upper not in _NO_TYPE and place >= len(words)):
            raise syntax("")
        kind = words[place] if place < len(words) else None
        plain = words[named].upper not in (*_NO_TYPE, "PARTITION") and words[named].text != "("
        if plain and kind is not None and kind.kind == "word" and kind.upper not in _TYPE_NAMES:
            raise syntax(asked.sql[kind.start :])
    _check_types(asked)


def _without(plan: Plan, tables: Sequence[Table]) -> Plan:
    """The plan without tables, and without what workloads that nobody runs say of them."""
    return remove(plan, [table.id for table in tables]) if tables else plan


def _drop(asked: Asked, stream: Stream) -> Done:
    stream.next()
    if_so = _if_so(stream)
    named = [(one, asked.known(one)) for one in _listed(asked, stream)]
    missing = [".".join(asked.name(one)) for one, table in named if table is None]
    notes = [Warned("Note", 1051, f"Unknown table '{one}'") for one in missing]
    if missing and not if_so:
        raise SqlError(1051, "42S02", f"Unknown table '{','.join(missing)}'")
    gone = [table for _, table in named if table is not None]
    # A database outlives its last table.
    made = asked.cluster.state.databases | {table.database for table in gone}
    become(asked, _without(asked.plan, gone), databases=made)
    return ok(asked, warnings=notes)


def _listed(asked: Asked, stream: Stream) -> list[Name]:
    """Names up to the end of the statement."""
    names = [_table_named(asked, stream)]
    while stream.accept(","):
        names.append(_table_named(asked, stream))
    if not (stream.accept("CASCADE") or stream.accept("RESTRICT") or stream.at_end()):
        raise stream.unreadable("the end")
    return names


def _truncate(asked: Asked, stream: Stream) -> Done:
    stream.accept("TABLE")
    (typed,) = _listed(asked, stream)[:1]
    database, name = asked.name(typed)
    table = asked.known(typed)
    if table is None:
        raise no_table(database, name)
    empty = validated.changed(table, rows=0, partition_rows=(), partition_variable_bytes=())
    become(asked, _exchanged(asked.plan, table, empty), truncated=frozenset({table.id}))
    return ok(asked)


def _exchanged(plan: Plan, table: Table, other: Table) -> Plan:
    return plan.replace(tables=tuple(other if one is table else one for one in plan.tables))


def _rename(asked: Asked, stream: Stream) -> Done:
    """RENAME TABLE a TO b, or ALTER TABLE a RENAME b."""
    (pair, *more) = renamed([*stream.rest()] if stream.peek(-1).upper == "RENAME" else [*asked.words],
                            len(asked.sql), asked.database)  # fmt: skip
    if more:
        raise NotSimulated("one table is renamed at a time here")
    old, new = Name(*pair[0].table), Name(*pair[1])
    table, (database, name) = asked.known(old), asked.name(new)
    if table is None:
        raise no_table(*asked.name(old))
    if asked.known(new) is not None:
        raise SqlError(1050, "42S01", f"Table '{name}' already exists")
    become(asked, _exchanged(asked.plan, table, validated.changed(table, database=database, name=name)))
    return ok(asked)


def _index(asked: Asked, stream: Stream) -> Done:
    """CREATE and DROP INDEX name ON table."""
    while not stream.accept("ON"):
        stream.next()
    return _become_altered(asked, _table_named(asked, stream))


def _alter(asked: Asked, stream: Stream) -> Done:
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
    return _become_altered(asked, typed)


def _become_altered(asked: Asked, typed: Name) -> Done:
    """The statement behind the one that would make the table as it is: what they make together."""
    table = asked.known(typed)
    if table is None:
        raise no_table(*asked.name(typed))
    if (asked.option("LOCK") or "").upper() == "NONE":
        raise SqlError(1845, "0A000", NO_LOCK)
    engine = asked.option("ENGINE")
    if engine is not None and engine.lower() not in NDB:
        raise NotSimulated("a table stays one of NDB here")
    text = f"{create_table(asked.plan, table)}\n{asked.sql}"
    read = read_ddl(text, asked.plan.version, table.database)
    for problem in read.problems:
        message = problem.message
        if match := _TWICE.search(message):
            raise SqlError(1060, "42S21", f"Duplicate column name '{match[1]}'")
        if match := _NO_SUCH.search(message):
            raise SqlError(1091, "42000", f"Can't DROP '{match[1]}'; check that column/key exists")
        if match := _NOT_A_COLUMN.search(message):
            raise SqlError(1072, "42000", f"Key column '{match[1]}' doesn't exist in table")
        _check_altered(asked)
        raise NotSimulated(f"a plan cannot hold this: {message}")
    after = taken(asked, read)
    new = next(one for one in after.tables if one.id == table.id)
    return _altered(asked, table, new, after)


_COPIED_FOR = ("partition_balance", "fully_replicated", "max_rows", "tablespace_id")
"""What a table is copied for when it changes [8.4.8: the balance; 7.4.10: MAX_ROWS]."""


def _altered(asked: Asked, old: Table, new: Table, after: Plan) -> Done:
    rows = rows_of(asked.cluster.session.simulation, old)
    before = {column.name: column for column in old.columns}
    added = [column for column in new.columns if column.name not in before]
    kept = tuple(column for column in new.columns if column.name in before)
    copies = kept != old.columns or any(not one.nullable or one.storage == "disk" for one in added)
    copies |= new.primary_key != old.primary_key or (bool(added) and old.tablespace_id is not None)
    copies |= any(getattr(old, name) != getattr(new, name) for name in _COPIED_FOR)
    copies |= asked.option("ENGINE") is not None or asked.how == "OFFLINE"
    algorithm = (asked.option("ALGORITHM") or "").upper()
    if copies and (algorithm == "INPLACE" or asked.how == "ONLINE"):
        if not form(asked.plan.version, "inplace_reasons"):
            text = "ALGORITHM=INPLACE is not supported for this operation. Try ALGORITHM=COPY."
            raise SqlError(1845, "0A000", text, online_warning(asked.how, asked.plan.version))
        is_type = not added and len(kept) == len(old.columns)
        why = "Altering field type is not supported" if is_type else (
            "Adding column(s) or add/reorganize partition not supported online"
        )  # fmt: skip
        raise SqlError(
            1846, "0A000", f"ALGORITHM=INPLACE is not supported. Reason: {why}. Try ALGORITHM=COPY."
        )
    copies |= algorithm == "COPY"
    if room_left(asked.cluster.session.simulation, after) < 0:
        text = "Out of memory in Ndb Kernel, hash index part (increase DataMemory)"
        inside = Warned("Warning", 1296, f"Got error 625 '{text}' from NDB")
        raise SqlError(1114, "HY000", f"The table '{old.name}' is full", (inside,))
    indexes = [index for index in new.indexes if index not in old.indexes]
    warnings = [] if copies else [
        Warned("Warning", 1478, f"Converted FIXED field '{one.name}' to DYNAMIC to enable online ADD COLUMN")
        for one in added
        if one.column_format == "default"
    ]  # fmt: skip
    lasts_s = DEFINED_S + (rows / COPIED_ROWS_PER_S if copies else len(indexes) * rows / INDEXED_ROWS_PER_S)
    done = ok(asked, rows if copies else 0, lasts_s, warnings, counts=True)
    become(asked, after)
    return done


_NO_REPAIR = "The storage engine for the table doesn't support repair"


def _checked(asked: Asked, stream: Stream) -> Result:
    """OPTIMIZE, ANALYZE and CHECK TABLE answer for each table; room that gets free is not simulated."""
    verb, rows = asked.words[0].upper.lower(), []
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
        elif asked.known(typed) is None:
            missing = f"Table '{database}.{name}' doesn't exist"
            rows += [(f"{database}.{name}", verb, "Error", missing),
                     (f"{database}.{name}", verb, "status", "Operation failed")]  # fmt: skip
        elif verb == "repair":
            rows.append((f"{database}.{name}", verb, "note", _NO_REPAIR))
        else:
            rows.append((f"{database}.{name}", verb, "status", "OK"))
    asked.cluster.advance(DEFINED_S)
    return Result(("Table", "Op", "Msg_type", "Msg_text"), (TEXT,) * 4, list(rows))
