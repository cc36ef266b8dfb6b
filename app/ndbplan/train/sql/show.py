"""SHOW: what the server lists of itself, its databases and tables.

show("SHOW TABLES", asked)       # a Result, with the warnings that the client keeps
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ndbplan.ndb.charsets import charset_of, default_collation, max_char_bytes
from ndbplan.ndb.console import form
from ndbplan.ndb.ndbinfo import is_table, tables_of
from ndbplan.ndb.sql_server import show_words
from ndbplan.ndb.sql_versions import described_charsets
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import catalogue, failing, ndbinfo_made, server, variables
from ndbplan.train.sql.character_sets import told
from ndbplan.train.sql.engine import Relation, Result, run
from ndbplan.train.sql.numbers import INT, TEXT
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, no_database, syntax
from ndbplan.train.sql.query_settings import settings_of
from ndbplan.train.sql.reading import parsed
from ndbplan.train.sql.status import counted

_LIKE = re.compile(r"\blike\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.IGNORECASE)
_WHERE = re.compile(r"\bwhere\b", re.IGNORECASE)
_DEPRECATED = (
    "'INFORMATION_SCHEMA.PROCESSLIST' is deprecated and will be removed in a future release. "
    "Please use performance_schema.processlist instead"
)


class Asked(NamedTuple):
    """A statement, and whom it is asked of."""

    sql: str
    database: str
    """In use; empty: none is."""
    cluster: LiveCluster
    warnings: tuple[Warned, ...]
    """Those of the last statement."""
    variables: dict[str, str]
    counts: Mapping[str, int]
    """Statements of the session, by what counts them."""

    @property
    def words(self) -> list[str]:
        """What was typed, in words."""
        return self.sql.split()

    @property
    def pattern(self) -> str:
        """What stands behind LIKE; empty: nothing."""
        like = _LIKE.search(self.sql)
        return like[1][1:-1] if like else ""


def show(sql: str, asked: Asked) -> Result:
    """What a statement that begins with SHOW is answered. Raises SqlError and NotSimulated."""
    low = " ".join(sql.lower().split())
    if _gone(low, asked):
        raise syntax(sql[sql.lower().index(asked.words[1].lower(), 4) :])
    for begin, answer in _ANSWERS:
        if low == begin or low.startswith(f"{begin} "):
            if low.endswith((" like", " where")):
                raise syntax("")
            _check_behind(sql, begin, asked)
            where = _WHERE.search(sql) if begin in _CHOOSE else None
            if where is None:
                return answer(asked)
            found = answer(asked._replace(sql=sql[: where.start()].rstrip()))
            return _chosen(found, sql[where.start() :], asked)
    second = asked.words[1] if len(asked.words) > 1 else ""
    if second.lower() in show_words():
        raise NotSimulated(
            "there are SHOW DATABASES, TABLES, TABLE STATUS, CREATE TABLE, CREATE DATABASE, COLUMNS, INDEX, "
            "VARIABLES, STATUS, WARNINGS, ERRORS, PROCESSLIST, PLUGINS, ENGINES, ENGINE NDB STATUS, "
            "CHARACTER SET"
        )
    raise syntax(sql[sql.index(second, 4) :] if second else "")


_BARE = frozenset((
    "show plugins", "show engines", "show storage engines", "show processlist", "show full processlist",
    "show profiles",
))  # fmt: skip
"""What nothing stands behind."""
_LISTS = re.compile(r"show (?:(?:full )?tables|databases|schemas|triggers|events|table status|open tables)")
_NARROWED = re.compile(r"(?:from|in|like|where)\b", re.IGNORECASE)


def _check_behind(sql: str, begin: str, asked: Asked) -> None:
    """Raises SqlError at a word behind a list that no server reads there, and for a database that is none."""
    first = asked.words[len(begin.split()) :][:1]
    narrowed = bool(first) and _NARROWED.match(first[0]) is not None
    if first and (begin in _BARE or (_LISTS.fullmatch(begin) and not narrowed)):
        at = [found.start() for found in re.finditer(r"\S+", sql)][len(begin.split())]
        raise syntax(sql[at:])
    if begin in ("show triggers", "show events") and first and first[0].lower() in ("from", "in"):
        name = asked.words[len(begin.split()) + 1 :][:1]
        if name and name[0].strip("`") not in server.databases(asked.cluster):
            raise no_database(name[0].strip("`"))


_CHOOSE = frozenset(
    (
        "show databases", "show schemas", "show tables", "show full tables", "show table status",
        "show columns", "show fields", "show full columns", "show full fields",
        "show index", "show indexes", "show keys",
        "show character set", "show charset",
    )
)  # fmt: skip
"""What takes any condition behind WHERE; others look at it themselves, or take none."""


def _chosen(found: Result, where: str, asked: Asked) -> Result:
    """The rows that a condition holds for. Raises SqlError."""
    places = [dict(zip(found.headings, row, strict=True)) | {_PLACE: n} for n, row in enumerate(found.rows)]
    columns = Relation((*found.headings, _PLACE), (*found.kinds, INT), places)
    # A word of the grammar for the reader of SQL, and for the server none.
    sql = f"SELECT {_PLACE} FROM answer {_CHARSET.sub('`Charset`', where)}"
    settings = settings_of(asked.variables, asked.cluster.plan.version)
    kept = run(sql, parsed(sql), "shown", lambda _database, _table: columns, settings)
    return found._replace(rows=[found.rows[n] for (n,) in kept.rows], warnings=kept.warnings)


_PLACE = "place_in_answer"
_CHARSET = re.compile(r"(?<![`'\"\w])charset(?![`'\"\w])", re.IGNORECASE)


def _gone(low: str, asked: Asked) -> bool:
    """Whether the version knows the statement no more."""
    return any(low.startswith(one) for one in form(asked.cluster.plan.version, "no_such_show"))


def _warnings(asked: Asked) -> Result:
    rows = [(one.level, one.code, one.message) for one in asked.warnings]
    if limit := _LIMIT.search(asked.sql):
        first, most, behind = (int(one or 0) for one in limit.groups())
        rows = rows[first or behind :][:most]
    return Result(("Level", "Code", "Message"), (TEXT, INT, TEXT), list(rows))


_LIMIT = re.compile(
    r"\blimit\s+(?:([0-9]{1,9})\s*,\s*)?([0-9]{1,9})(?:\s+offset\s+([0-9]{1,9}))?\s*\Z", re.IGNORECASE
)


def _errors(asked: Asked) -> Result:
    return _warnings(asked._replace(warnings=tuple(w for w in asked.warnings if w.level == "Error")))


def _count(asked: Asked) -> Result:
    what = "error" if "errors" in asked.sql.lower() else "warning"
    counted = _errors(asked) if what == "error" else _warnings(asked)
    return Result((f"@@session.{what}_count",), (INT,), [(len(counted.rows),)])


def _databases(asked: Asked) -> Result:
    names = [name for name in server.databases(asked.cluster) if server.like(name, asked.pattern)]
    heading = "Database" + (f" ({asked.pattern})" if asked.pattern else "")
    return Result((heading,), (TEXT,), [(name,) for name in names])


def _create_database(asked: Asked) -> Result:
    name = asked.words[-1].strip("`")
    if name not in server.databases(asked.cluster):
        raise no_database(name)
    text = str(form(asked.cluster.plan.version, "create_database"))
    return Result(("Database", "Create Database"), (TEXT, TEXT), [(name, text.format(name=name))])


def _create_table(asked: Asked) -> Result:
    cluster = asked.cluster
    return server.show_created(asked.sql, asked.database, cluster, lambda one: failing.may_use(cluster, one))


def _tables(asked: Asked) -> Result:
    found = server.tables(asked.sql, asked.database, asked.pattern, asked.cluster)
    return found._replace(warnings=failing.listing_warnings(asked.cluster))


def _create_view(asked: Asked) -> Result:
    database, dot, name = asked.words[-1].replace("`", "").partition(".")
    database, name = (database, name) if dot else (asked.database, database)
    version = asked.cluster.plan.version
    if database != "ndbinfo" or name not in tables_of(version):
        table = server.table_named(asked.cluster, database, name)
        raise SqlError(1347, "HY000", f"'{table.full_name}' is not VIEW")
    if is_table(version, name):
        raise SqlError(1347, "HY000", f"'ndbinfo.{name}' is not VIEW")
    return ndbinfo_made.shown(version, name, asked.database)


def _engine(asked: Asked) -> Result:
    words = [one.lower() for one in asked.words[2:]]
    if words[:2] in (["ndb", "status"], ["ndbcluster", "status"]):
        return server.engine_status(asked.cluster)
    known = {str(row["ENGINE"]).lower() for row in catalogue.engines(asked.cluster)} | {"ndb"}
    if len(words) < 2 or words[1] not in ("status", "logs", "mutex"):
        raise syntax(words[1] if len(words) > 1 else "")
    if words[0] not in known:
        raise SqlError(1286, "42000", f"Unknown storage engine '{asked.words[2]}'")
    if words[0] in ("innodb", "performance_schema"):
        raise NotSimulated(f"SHOW ENGINE {words[0].upper()} is not simulated; that of NDB is")
    # Other engines, and what else may be asked of this one [7.4.10, 8.4.8].
    return Result((), (), [])


def _plugins(asked: Asked) -> Result:
    rows = [
        (row["PLUGIN_NAME"], row["PLUGIN_STATUS"], row["PLUGIN_TYPE"], None, row["PLUGIN_LICENSE"])
        for row in catalogue.plugins(asked.cluster)
    ]
    headings = ("Name", "Status", "Type", "Library", "License")
    return Result(headings, (TEXT,) * 5, list(rows))


def _table_status(asked: Asked) -> Result:
    return catalogue.table_status(asked.sql, asked.database, asked.pattern, asked.cluster)


def _columns(asked: Asked) -> Result:
    full = asked.words[1].lower() == "full"
    words = [one.strip("`") for one in asked.words[4 if full else 3 :]]
    if not words:
        raise syntax("")
    behind = len(words) > 2 and words[1].lower() in ("from", "in")
    name = f"{words[2]}.{words[0]}" if behind else words[0].replace("`", "")
    found = server.describe(name, asked.database, asked.cluster)
    kept = [row for row in found.rows if server.like(str(row[0]), asked.pattern)]
    if not full:
        return found._replace(rows=kept)
    collations = server.collations(name, asked.database, asked.cluster)
    rights = "select,insert,update,references"
    headings = ("Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment")
    rows = [(row[0], row[1], collations.get(str(row[0])), *row[2:], rights, "") for row in kept]
    return Result(headings, (TEXT,) * 9, list(rows))


def _processlist(asked: Asked) -> Result:
    found = catalogue.processlist(asked.sql, asked.database, asked.cluster)
    warns = form(asked.cluster.plan.version, "processlist_warns")
    return found._replace(warnings=(Warned("Warning", 1287, _DEPRECATED),) * bool(warns))


def _open_tables(asked: Asked) -> Result:
    """Those of ndbinfo that were asked for by name, and no others [8.4.8]."""
    match = re.search(r"\b(?:from|in)\s+`?([\w$]+)`?", asked.sql, re.IGNORECASE)
    database = match[1] if match else ""
    if database != "ndbinfo" or not asked.pattern:
        raise NotSimulated("which tables are open is not simulated; SHOW TABLES is")
    known, pattern = sorted(tables_of(asked.cluster.plan.version)), asked.pattern
    names = [name for name in known if server.like(name, pattern)]
    headings = ("Database", "Table", "In_use", "Name_locked")
    return Result(headings, (TEXT, TEXT, INT, INT), [(database, name, 0, 0) for name in names])


def _status(asked: Asked) -> Result:
    up = dict.fromkeys(("Uptime", "Uptime_since_flush_status"), str(int(asked.cluster.now_s)))
    own = counted(asked.cluster, asked.counts, everybody=asked.words[1].lower() == "global")
    found = server.listed({**own, **server.status(asked.cluster), **up}, asked.pattern)
    begin = asked.pattern.partition("%")[0].lower().replace("\\", "")
    if begin.startswith(("ndb", "uptime")):
        return found
    if not found.rows:
        raise NotSimulated(
            "status variables of NDB, Uptime, Com_…, Questions, Connections and Threads_… are known here, "
            "none of such a name"
        )
    if begin and any(str(row[0]) in own for row in found.rows):
        return found._replace(note="what consoles typed; the load's own is not counted")
    return found._replace(note="these are known here, those of NDB all; a server has more status variables")


def _character_sets(asked: Asked) -> Result:
    version = asked.cluster.plan.version
    rows = []
    for known, text in described_charsets(version):
        name = told(known, version)
        usual = told(default_collation(version, known), version)
        if server.like(name, asked.pattern):
            rows.append((name, text, usual, max_char_bytes(known)))
    if form(version, "charsets_sorted"):
        rows.sort()
    headings = ("Charset", "Description", "Default collation", "Maxlen")
    return Result(headings, (TEXT, TEXT, TEXT, INT), list(rows))


_WHOLE_SETS = ("ascii", "binary", "latin1", "utf8mb4_0900")
"""Beginnings of names of which all collations are known."""
_OF_CHARSET = re.compile(r"\bwhere\s+`?charset`?\s*=\s*'(\w+)'\s*\Z", re.IGNORECASE)


def _collations(asked: Asked) -> Result:
    version = asked.cluster.plan.version
    of_charset = _OF_CHARSET.search(asked.sql)
    if " where " in asked.sql.lower() and of_charset is None:
        raise NotSimulated("SHOW COLLATION takes LIKE, and WHERE Charset = 'name', here")
    wanted = of_charset[1].lower() if of_charset else ""
    newer, rows = bool(form(version, "charsets_sorted")), []
    for known, number, length in form(version, "collations"):
        name, charset = told(known, version), told(charset_of(known), version)
        if (wanted and charset != wanted) or not server.like(name, asked.pattern):
            continue
        usual = "Yes" if told(default_collation(version, charset_of(known)), version) == name else ""
        pads = "NO PAD" if "_0900_" in name or name == "binary" else "PAD SPACE"
        rows.append((name, charset, number, usual, "Yes", length, *((pads,) if newer else ())))
    begin = wanted or asked.pattern.partition("%")[0].lower().replace("\\", "")
    is_whole = any(begin.startswith(one) for one in _WHOLE_SETS) and wanted != "utf8mb4"
    if not rows and not is_whole:
        raise NotSimulated("the usual collations are known here, none of such a name")
    headings = ("Collation", "Charset", "Id", "Default", "Compiled", "Sortlen", *(("Pad_attribute",) * newer))
    kinds = (TEXT, TEXT, INT, TEXT, TEXT, INT, *((TEXT,) * newer))
    note = "" if is_whole else "these are known here; a server has more collations"
    return Result(headings, kinds, sorted(rows) if newer else rows, note=note)


def _grants(asked: Asked) -> Result:
    """Those of root; who else has an account is not simulated."""
    listed = form(asked.cluster.plan.version, "root_grants")
    behind = re.sub(r"[`'\"\s]", "", " ".join(asked.words[2:]))
    account = behind[3:]
    if behind and not behind.lower().startswith("for"):
        raise syntax(" ".join(asked.words[2:]))
    if behind and account.lower() not in ("root@localhost", "current_user", "current_user()"):
        user, _, host = account.partition("@")
        if user.lower().startswith("mysql."):
            raise NotSimulated("accounts beside root@localhost are not simulated")
        text = f"There is no such grant defined for user '{user}' on host '{host or '%'}'"
        raise SqlError(1141, "42000", text)
    if not listed:
        raise NotSimulated("the privileges of root in this release are not known here one by one; it has all")
    return Result(("Grants for root@localhost",), (TEXT,), [(one,) for one in listed])


def _privileges(asked: Asked) -> Result:
    if len(asked.words) > 2:
        raise syntax(asked.sql[asked.sql.lower().index(asked.words[2].lower(), 9) :])
    raise NotSimulated("the list of privileges is not known here")


def _binary_logs(asked: Asked) -> Result:
    """What a server without a binary log says of it."""
    if asked.variables.get("log_bin") != "OFF":
        raise NotSimulated("how far the binary log has come is not simulated")
    if "status" in asked.sql.lower():
        return Result((), (), [])
    raise SqlError(1381, "HY000", "You are not using binary logging")


_MISSING = {
    "trigger": (1360, "HY000", "Trigger does not exist"),
    "procedure": (1305, "42000", "PROCEDURE {name} does not exist"),
    "function": (1305, "42000", "FUNCTION {name} does not exist"),
    "event": (1539, "HY000", "Unknown event '{name}'"),
}
"""What is said of what nobody can make here: code, SQLSTATE and text, by its kind (errmsg-utf8.txt)."""


def _made_by_nobody(asked: Asked) -> Result:
    """SHOW CREATE of a trigger, a routine or an event."""
    if len(asked.words) < 4:
        raise syntax("")
    code, state, text = _MISSING[asked.words[2].lower()]
    name = asked.words[3].replace("`", "").rpartition(".")[2]
    raise SqlError(code, state, text.format(name=name))


def _profiles(asked: Asked) -> Result:
    """Of a session that records none."""
    if asked.variables.get("profiling") != "OFF":
        raise NotSimulated("profiles are not simulated; Performance Schema has what they had")
    said = "is deprecated and will be removed in a future release. Please use Performance Schema instead"
    text = f"'SHOW {asked.words[1].upper()}' {said}"
    warned = (Warned("Warning", 1287, text),) * bool(form(asked.cluster.plan.version, "profiles_warn"))
    return Result((), (), [], warned)


def _binlog_events(asked: Asked) -> Result:
    """What a server without a binary log lists."""
    if asked.variables.get("log_bin") != "OFF":
        raise NotSimulated("what stands in the binary log is not simulated")
    return Result((), (), [])


def _nothing(_asked: Asked) -> Result:
    return Result((), (), [])


_ANSWERS: Sequence[tuple[str, Callable[[Asked], Result]]] = (
    ("show warnings", _warnings), ("show errors", _errors), ("show count(*)", _count),
    ("show databases", _databases), ("show schemas", _databases),
    ("show create database", _create_database), ("show create schema", _create_database),
    ("show create table", _create_table),
    ("show create view", _create_view), ("show engines", lambda one: catalogue.show_engines(one.cluster)),
    ("show storage engines", lambda one: catalogue.show_engines(one.cluster)), ("show engine", _engine),
    ("show plugins", _plugins), ("show table status", _table_status),
    ("show full tables", lambda one: catalogue.full_tables(one.sql, one.database, one.pattern, one.cluster)),
    ("show index", lambda one: catalogue.show_index(one.sql, one.database, one.cluster)),
    ("show indexes", lambda one: catalogue.show_index(one.sql, one.database, one.cluster)),
    ("show keys", lambda one: catalogue.show_index(one.sql, one.database, one.cluster)),
    ("show processlist", _processlist), ("show full processlist", _processlist),
    ("show tables", _tables),
    ("show columns", _columns), ("show fields", _columns), ("show full columns", _columns),
    ("show full fields", _columns), ("show open tables", _open_tables), ("show status", _status),
    ("show global status", _status), ("show session status", _status),
    *((f"show {scope}variables", lambda one: variables.shown(one.sql, one.variables, one.pattern))
      for scope in ("", "global ", "session ", "local ")),
    ("show character set", _character_sets), ("show charset", _character_sets),
    ("show collation", _collations), ("show grants", _grants), ("show privileges", _privileges),
    ("show binary logs", _binary_logs), ("show master logs", _binary_logs),
    ("show master status", _binary_logs), ("show binary log status", _binary_logs),
    *((f"show create {one}", _made_by_nobody) for one in _MISSING), ("show profiles", _profiles),
    ("show profile", _profiles), ("show binlog events", _binlog_events), ("show replicas", _nothing),
    ("show slave hosts", _nothing), ("show replica status", _nothing),
    ("show slave status", _nothing), ("show triggers", _nothing),
    ("show events", _nothing), ("show procedure status", _nothing), ("show function status", _nothing),
)  # fmt: skip
