"""Statements that make, change and drop tables, databases and disk data, as far as a plan can hold them.

Texts, codes and warnings of what is refused: recorded on running 8.4.8 and 7.4.10 clusters. What the plan
cannot hold, or what clients of the session use, says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ndbplan.edits import validated
from ndbplan.edits.parts import remove
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.operations.schema import create_table
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import room_left
from ndbplan.train.sql import server
from ndbplan.train.sql.defining import DEFINED_S, Asked, Done, become, ok, taken
from ndbplan.train.sql.disk_data import GROUP, disk_data
from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.numbers import TEXT
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, no_table, syntax

COPIED_ROWS_PER_S = 17_000.0
"""Rows that ALGORITHM=COPY copies in a second [8.4.8, one connection, small machine: 100,000 in 5.9 s]."""
INDEXED_ROWS_PER_S = 88_000.0
"""Rows that a new index takes in a second [8.4.8, the same machine: 100,000 in 1.1 s]."""
_NAME = r"(?:`[^`]+`|[\w$]+)(?:\s*\.\s*(?:`[^`]+`|[\w$]+))?"
_NDB = ("ndb", "ndbcluster")
_OTHERS = ("innodb", "myisam", "memory", "csv", "archive", "blackhole", "federated", "mrg_myisam")
_CREATE = re.compile(rf"create\s+table\s+(if\s+not\s+exists\s+)?({_NAME})", re.IGNORECASE)
_DROP = re.compile(
    rf"drop\s+tables?\s+(if\s+exists\s+)?({_NAME}(?:\s*,\s*{_NAME})*)\s*(?:cascade|restrict)?$", re.IGNORECASE
)
_TRUNCATE = re.compile(rf"truncate\s+(?:table\s+)?({_NAME})$", re.IGNORECASE)
_ALTER = re.compile(
    rf"(?:alter\s+(?:online\s+|offline\s+|ignore\s+)*table\s+({_NAME})"
    rf"|create\s+(?:unique\s+)?index\s+.*?\bon\s+({_NAME})|drop\s+index\s+.*?\bon\s+({_NAME}))",
    re.IGNORECASE | re.DOTALL,
)
_RENAME = re.compile(
    rf"(?:alter\s+table\s+({_NAME})\s+rename\s+(?:to\s+|as\s+)?(?!column\b|index\b|key\b)({_NAME})"
    rf"|rename\s+table\s+({_NAME})\s+to\s+({_NAME}))$",
    re.IGNORECASE,
)
_DATABASE = re.compile(
    r"(create|drop)\s+(?:database|schema)\s+(if\s+(?:not\s+)?exists\s+)?(`[^`]+`|[\w$]+)", re.IGNORECASE
)
_CHECK = re.compile(rf"(optimize|analyze|check)\s+(?:local\s+)?tables?\s+({_NAME}(?:\s*,\s*{_NAME})*)$", re.I)
_TYPE = re.compile(r"[(,]\s*(?:`[^`]+`|[\w$]+)\s+([A-Za-z]\w*)")
_TYPE_NAMES = frozenset(
    name.lower() for kind in COLUMN_TYPES.values() for name in (kind.name, *kind.ddl_names)
)
_NO_TYPE = frozenset(("key", "index", "unique", "primary", "foreign", "fulltext", "spatial", "constraint"))
_ENGINE = re.compile(r"\bengine\s*=?\s*`?(\w+)`?", re.IGNORECASE)
_NO_LOCK = re.compile(r"\block\s*=?\s*none\b", re.IGNORECASE)
_IN_PLACE = re.compile(r"\balgorithm\s*=?\s*inplace\b", re.IGNORECASE)


def define(sql: str, database: str, cluster: LiveCluster) -> Done | Result:
    """Carry out a statement about the schema. Raises SqlError and NotSimulated."""
    asked = Asked(sql.strip(), database, cluster)
    kinds: tuple[tuple[re.Pattern[str], Callable[[Asked, re.Match[str]], Done | Result]], ...] = (
        (_DATABASE, _databases), (_CREATE, _create), (_DROP, _drop), (_TRUNCATE, _truncate),
        (_CHECK, _checked), (_RENAME, _rename), (GROUP, disk_data), (_ALTER, _alter),
    )  # fmt: skip
    for pattern, act in kinds:
        found = pattern.match(asked.sql)
        if found is not None:
            return act(asked, found)
    words = asked.sql.split()
    if len(words) < 3 or words[1].lower() in ("table", "index", "database", "schema", "tablespace"):
        raise syntax(" ".join(words[2:]))
    raise NotSimulated(f"{' '.join(words[:2]).upper()} is not simulated here")


def _databases(asked: Asked, found: re.Match[str]) -> Done:
    verb, if_so, name = found[1].lower(), found[2], found[3].strip("`")
    there = name in server.databases(asked.cluster)
    made = asked.cluster.state.databases
    if verb == "create":
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
    _may_go(asked, gone)
    become(asked, _without(asked.plan, gone), databases=made - {name})
    return ok(asked, len(gone))


def _create(asked: Asked, found: re.Match[str]) -> Done:
    database, name = asked.name(found[2])
    if asked.known(found[2]) is not None:
        if found[1]:
            return ok(asked, warnings=(Warned("Note", 1050, f"Table '{name}' already exists"),))
        raise SqlError(1050, "42S01", f"Table '{name}' already exists")
    engine = _ENGINE.search(asked.sql)
    if engine is None or engine[1].lower() in _OTHERS:
        raise NotSimulated("only tables of NDB are simulated: write ENGINE=NDB")
    if engine[1].lower() not in _NDB:
        raise SqlError(1286, "42000", f"Unknown storage engine '{engine[1]}'")
    text = asked.sql
    like = re.match(rf"{_CREATE.pattern}\s*\(?\s*like\s+({_NAME})", text, re.IGNORECASE)
    if like is not None:
        raise NotSimulated("CREATE TABLE ... LIKE is not simulated here; write the columns")
    if re.search(r"\bselect\b", text, re.IGNORECASE):
        raise NotSimulated("CREATE TABLE ... SELECT is not simulated here: rows are not")
    read = read_ddl(text, asked.plan.version, database)
    said = [problem.message for problem in read.problems]
    for message in said:
        if match := re.search(r"column '(.+)' is there twice", message):
            raise SqlError(1060, "42S21", f"Duplicate column name '{match[1]}'")
    for word in _TYPE.finditer(asked.sql) if not read.tables else ():
        if word[1].lower() not in _TYPE_NAMES | _NO_TYPE:
            raise syntax(asked.sql[word.start(1) :])
    if not read.tables:
        raise NotSimulated(f"a plan cannot hold this: {said[0] if said else 'no table is made'}")
    if said:
        raise NotSimulated(f"a plan cannot hold this: {said[0]}")
    after = taken(asked, read)
    new = after.tables[-1]
    if new.tablespace_id is None and any(column.storage == "disk" for column in new.columns):
        inside = Warned("Warning", 3014, "TABLESPACE option must be specified when using STORAGE DISK")
        text = f"Can't create table '{name}' (use SHOW WARNINGS for more info)."
        raise SqlError(1005, "HY000", text, (inside,))
    become(asked, after)
    return ok(asked)


def _may_go(asked: Asked, tables: Sequence[Table]) -> None:
    """Raises NotSimulated for a table that clients of the session use: nobody says what they would do."""
    workload = asked.cluster.session.simulation.scenario.workload
    used = {operation.table_id for one in workload.transactions for operation in one.operations}
    for table in tables:
        if table.id in used:
            raise NotSimulated(
                f"clients of this session use {table.full_name}: what they would do without is not simulated"
            )


def _without(plan: Plan, tables: Sequence[Table]) -> Plan:
    """The plan without tables, and without what workloads that nobody runs say of them."""
    return remove(plan, [table.id for table in tables]) if tables else plan


def _drop(asked: Asked, found: re.Match[str]) -> Done:
    typed = [one.strip() for one in found[2].split(",")]
    named = [(one, asked.known(one)) for one in typed]
    missing = [".".join(asked.name(one)) for one, table in named if table is None]
    notes = [Warned("Note", 1051, f"Unknown table '{one}'") for one in missing]
    if missing and not found[1]:
        raise SqlError(1051, "42S02", f"Unknown table '{','.join(missing)}'")
    gone = [table for _, table in named if table is not None]
    _may_go(asked, gone)
    become(asked, _without(asked.plan, gone))
    return ok(asked, warnings=notes)


def _truncate(asked: Asked, found: re.Match[str]) -> Done:
    database, name = asked.name(found[1])
    table = asked.known(found[1])
    if table is None:
        raise no_table(database, name)
    _may_go(asked, [table])
    empty = validated.changed(table, rows=0, partition_rows=(), partition_variable_bytes=())
    become(asked, _exchanged(asked.plan, table, empty))
    asked.cluster.state.rows_typed.pop(table.id, None)
    return ok(asked)


def _exchanged(plan: Plan, table: Table, other: Table) -> Plan:
    return plan.replace(tables=tuple(other if one is table else one for one in plan.tables))


def _rename(asked: Asked, found: re.Match[str]) -> Done:
    old, new = found[1] or found[3], found[2] or found[4]
    table, (database, name) = asked.known(old), asked.name(new)
    if table is None:
        raise no_table(*asked.name(old))
    if asked.known(new) is not None:
        raise SqlError(1050, "42S01", f"Table '{name}' already exists")
    become(asked, _exchanged(asked.plan, table, validated.changed(table, database=database, name=name)))
    return ok(asked)


def _alter(asked: Asked, found: re.Match[str]) -> Done:
    """The statement behind the one that would make the table as it is: what they make together."""
    typed = found[1] or found[2] or found[3]
    table = asked.known(typed)
    if table is None:
        raise no_table(*asked.name(typed))
    low = " ".join(asked.sql.lower().split())
    if "online table" in low and asked.plan.features.algorithm_inplace:
        raise syntax(asked.sql[low.index("online") :])
    if _NO_LOCK.search(asked.sql):
        raise SqlError(
            1845, "0A000", "LOCK=NONE/SHARED is not supported for this operation. Try LOCK=EXCLUSIVE."
        )
    engine = _ENGINE.search(asked.sql)
    if engine is not None and engine[1].lower() not in _NDB:
        raise NotSimulated("a table stays one of NDB here")
    text = f"{create_table(asked.plan, table)}\n{asked.sql}"
    read = read_ddl(text, asked.plan.version, table.database)
    for problem in read.problems:
        message = problem.message
        if match := re.search(r"column '(.+)' is there twice", message):
            raise SqlError(1060, "42S21", f"Duplicate column name '{match[1]}'")
        if match := re.search(r"there is no (?:column|index) (\S+);", message):
            raise SqlError(1091, "42000", f"Can't DROP '{match[1]}'; check that column/key exists")
        if match := re.search(r"column (\S+) is not among those of the table", message):
            raise SqlError(1072, "42000", f"Key column '{match[1]}' doesn't exist in table")
        raise NotSimulated(f"a plan cannot hold this: {message}")
    after = taken(asked, read)
    new = next(one for one in after.tables if one.id == table.id)
    return _altered(asked, table, new, after)


def _altered(asked: Asked, old: Table, new: Table, after: Plan) -> Done:
    rows = old.rows + asked.cluster.state.rows_typed.get(old.id, 0)
    before = {column.name: column for column in old.columns}
    added = [column for column in new.columns if column.name not in before]
    kept = tuple(column for column in new.columns if column.name in before)
    copies = kept != old.columns or any(not one.nullable or one.storage == "disk" for one in added)
    copies |= new.primary_key != old.primary_key or (bool(added) and old.tablespace_id is not None)
    if copies and _IN_PLACE.search(asked.sql):
        is_type = not added and len(kept) == len(old.columns)
        why = "Altering field type is not supported" if is_type else (
            "Adding column(s) or add/reorganize partition not supported online"
        )  # fmt: skip
        raise SqlError(
            1846, "0A000", f"ALGORITHM=INPLACE is not supported. Reason: {why}. Try ALGORITHM=COPY."
        )
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


def _checked(asked: Asked, found: re.Match[str]) -> Result:
    """OPTIMIZE, ANALYZE and CHECK TABLE answer for each table; room that gets free is not simulated."""
    verb, rows = found[1].lower(), []
    for typed in found[2].split(","):
        database, name = asked.name(typed)
        if asked.known(typed) is None:
            missing = f"Table '{database}.{name}' doesn't exist"
            rows += [(f"{database}.{name}", verb, "Error", missing),
                     (f"{database}.{name}", verb, "status", "Operation failed")]  # fmt: skip
        else:
            rows.append((f"{database}.{name}", verb, "status", "OK"))
    asked.cluster.advance(DEFINED_S)
    return Result(("Table", "Op", "Msg_type", "Msg_text"), (TEXT,) * 4, list(rows))
