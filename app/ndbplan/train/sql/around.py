"""What surrounds a query: the statements of a line, functions that tell of the session, groups, bytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from sqlglot import exp

from ndbplan.base.units import how_many, whole_number
from ndbplan.ndb.console import form
from ndbplan.ndb.sql_server import calls_without_blank, flushed, missing_functions, no_calls
from ndbplan.ndb.sql_versions import described_charsets
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.live import LiveCluster, time_passes
from ndbplan.train.sql import setting
from ndbplan.train.sql.deprecated import deprecated
from ndbplan.train.sql.digests import data
from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.kept_out import check_target
from ndbplan.train.sql.modes import GROUP_BY, has
from ndbplan.train.sql.numbers import BYTES, MARK_OF_MOMENT, TEXT, Kind
from ndbplan.train.sql.older_types import UTF8
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, syntax
from ndbplan.train.sql.reading import typed_list
from ndbplan.train.sql.unread import check_tree, check_words


def grouped(tree: exp.Expr, cluster: LiveCluster, database: str) -> None:
    """ONLY_FULL_GROUP_BY: a column beside an aggregate that no group decides is refused."""
    if not isinstance(tree, exp.Select) or not has(cluster, GROUP_BY):
        return
    if tree.args.get("distinct") is not None:
        _ordered(tree, cluster, database)
    if tree.args.get("group") is not None:
        _decided(tree, cluster, database)
        return
    if not any(_gathers(one, tree) for one in tree.expressions):
        return
    for place, one in enumerate(tree.expressions, start=1):
        for found in one.find_all(exp.Column):
            if not _is_gathered(found) and found.find_ancestor(exp.Select) is tree:
                table = next(iter(tree.find_all(exp.Table)), None)
                where = "" if table is None else f"{table.db or database}.{table.name}."
                said = form(cluster.plan.version, "beside_aggregates")
                raise SqlError(1140, "42000", said.format(place=place, column=f"{where}{found.name}"))


def _ordered(tree: exp.Select, cluster: LiveCluster, database: str) -> None:
    """Of one table, from 5.7 on: rows that are shown once are sorted by what is shown of them."""
    tables, order = list(tree.find_all(exp.Table)), tree.args.get("order")
    if order is None or len(tables) != 1 or tree.is_star or not form(cluster.plan.version, "checks_distinct"):
        return
    shown = {name for one in tree.expressions for name in (one.alias.lower(), one.unalias().name.lower())}
    for place, one in enumerate(order.expressions, start=1):
        if one.this in [each.unalias() for each in tree.expressions]:
            continue
        for column in one.find_all(exp.Column):
            if column.name.lower() not in shown:
                full = f"{tables[0].db or database}.{tables[0].name}.{column.name}"
                raise SqlError(
                    3065, "HY000",
                    f"Expression #{place} of ORDER BY clause is not in SELECT list, references column "
                    f"'{full}' which is not in SELECT list; this is incompatible with DISTINCT",
                )  # fmt: skip


def in_order_met(tree: exp.Expr, cluster: LiveCluster) -> None:
    """Groups that nothing orders: from 8.0 on as they are met, before sorted [8.4.8, 7.4.10].

    Of joins and of what is no table the order is another matter, and stays.
    """
    if form(cluster.plan.version, "groups_sorted") or not isinstance(tree, exp.Select):
        return
    group, tables = tree.args.get("group"), list(tree.find_all(exp.Table))
    whole = group is not None and not any(
        group.args.get(name) for name in ("rollup", "cube", "grouping_sets")
    )
    plain = not any(tree.args.get(name) for name in ("order", "distinct", "with_", "with", "joins"))
    if whole and plain and len(tables) == 1 and tables[0].find_ancestor(exp.Select) is tree:
        met = exp.Min(this=exp.column("rowid", table=tables[0].alias_or_name))
        tree.set("order", exp.Order(expressions=[exp.Ordered(this=met)]))


_GATHER = (exp.AggFunc, exp.JSONObjectAgg, exp.JSONArrayAgg)


def _is_array(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.upper() == "JSON_ARRAYAGG"


def _gathers(shown: exp.Expr, tree: exp.Select) -> bool:
    """Whether what a query shows has an aggregate of its own rows, and not of those of a query within it."""
    return any(
        (isinstance(node, _GATHER) or _is_array(node))
        and not isinstance(node.parent, exp.Window)
        and node.find_ancestor(exp.Select) is tree
        for node in shown.walk()
    )


def _is_gathered(column: exp.Expr) -> bool:
    """Whether it stands inside an aggregate."""
    above = column.parent
    while above is not None and not isinstance(above, exp.Select):
        if isinstance(above, _GATHER) or _is_array(above):
            return True
        above = above.parent
    return False


def _decided(tree: exp.Select, cluster: LiveCluster, database: str) -> None:
    """Of one table: each column that is shown is grouped by, or decided by its primary key or a condition."""
    tables, group = list(tree.find_all(exp.Table)), tree.args["group"]
    if len(tables) != 1 or tree.find(exp.Subquery) is not None or set(group.args) - {"expressions"}:
        return
    full = f"{tables[0].db or database}.{tables[0].name}"
    shown = {one.alias.lower(): one.this for one in tree.expressions if isinstance(one, exp.Alias)}
    by: list[exp.Expr] = []
    for one in group.expressions:
        place = whole_number(one.name) if isinstance(one, exp.Literal) else None
        if place is not None and place not in range(1, len(tree.expressions) + 1):
            return  # Which is told first, too.
        listed = tree.expressions[place - 1 : place] if place else [shown.get(one.name.lower(), one)]
        by += [each.unalias() for each in listed]
    where = tree.args.get("where")
    equal = [] if where is None else [c for e in where.find_all(exp.EQ) for c in e.find_all(exp.Column)]
    known = {one.name.lower() for one in (*by, *equal) if isinstance(one, exp.Column)}
    table = next((one for one in cluster.plan.tables if one.full_name == full), None)
    columns = () if table is None else tuple(one.name.lower() for one in table.columns)
    if columns and any(isinstance(one, exp.Column) and one.name.lower() not in columns for one in by):
        return  # There is no such column, which is told first.
    key = () if table is None else table.primary_key
    if key and known.issuperset(name.lower() for name in key):
        return
    for place, one in enumerate(tree.expressions, start=1):
        if one.unalias() in by:
            continue
        starred = next((name for name in columns if name not in known), "") if one.is_star else ""
        number = place + (columns.index(starred) if starred else 0)
        for column in (exp.column(starred),) if starred else one.find_all(exp.Column):
            if column.name.lower() not in known and not _is_gathered(column):
                said = form(cluster.plan.version, "not_grouped")
                raise SqlError(1055, "42000", said.format(place=number, column=f"{full}.{column.name}"))


def answered(tree: exp.Expr, values: Mapping[str, str | None]) -> exp.Expr:
    """Functions that tell of the session, such as VERSION(), as texts."""

    def change(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Func):
            return node
        name = node.name.lower() if isinstance(node, exp.Anonymous) else type(node).__name__.lower()
        if name not in values:
            return node
        if name in ("unix_timestamp", "last_insert_id") and node.expressions:
            return node
        if name == "unix_timestamp":
            return exp.Literal.number(values[name])
        value = values[name]
        given = node.expressions[0] if node.expressions else node.args.get("this")
        digits = whole_number(given.name) if name in _TO_DIGITS and isinstance(given, exp.Literal) else 0
        if digits and value is not None:
            value = f"{value}.{values['microseconds']}"[: len(value) + 1 + digits]
        if value is not None and name in _NUMBERS:
            return exp.Literal.number(value)
        if value is None:
            return exp.null()
        text = exp.Literal.string(value)
        if name in _MOMENTS:
            text.meta[MARK_OF_MOMENT] = _MOMENTS[name]
        return text

    return tree.transform(change)


_TO_DIGITS = ("now", "sysdate", "currenttimestamp", "localtimestamp", "localtime", "utctimestamp")
_NUMBERS = ("connection_id", "last_insert_id", "row_count")
_MOMENTS = {
    **dict.fromkeys(
        ("now", "sysdate", "currenttimestamp", "localtime", "localtimestamp", "utctimestamp"), "datetime"
    ),
    **dict.fromkeys(("curdate", "currentdate", "utcdate"), "date"),
    **dict.fromkeys(("curtime", "currenttime", "utctime"), "time"),
}

_NAMES_OF = re.compile(r"set (?:names|character set|charset) '?(\w+)'?", re.IGNORECASE)
_LEVEL = re.compile(
    r"\Aset\s+(?:\w+\s+)?transaction\b.*?\bisolation\s+level\s+(?=(.*))", re.IGNORECASE | re.DOTALL
)
_LEVELS = re.compile(r"read\s+(?:un)?committed\b|repeatable\s+read\b|serializable\b", re.IGNORECASE)


def passed(warnings: tuple[Warned, ...], lasted_s: float = 0.0) -> str:
    """What the client prints of a statement that changes nothing which is shown."""
    told = f", {how_many(len(warnings), 'warning')}" if warnings else ""
    return f"Query OK, 0 rows affected{told} ({lasted_s:.2f} sec)"


def may_pass(sql: str, version: NdbVersion) -> tuple[Warned, ...]:
    """Raises what is said of LOCK TABLES, FLUSH and SET that do not pass so; warnings of others.

    NotSimulated for what would show later, SqlError for what the version does not know.
    """
    level = _LEVEL.match(sql)
    if level is not None and not _LEVELS.match(level[1]):
        raise syntax(level[1])
    if (names := _NAMES_OF.match(" ".join(sql.split()))) is not None:
        known = {*(name for name, _ in described_charsets(version)), "utf8", "default"}
        known |= {"utf8mb3"} if form(version, "utf8_warned") else set()
        if names[1].lower() not in known:
            raise SqlError(1115, "42000", f"Unknown character set: '{names[1]}'")
        return (UTF8,) if names[1].lower() == "utf8" and form(version, "utf8_warned") else ()
    words = sql.upper().split()
    if words[0] == "SET" and len(words) > 1 and words[1].split("=")[0] in _OF_ACCOUNTS:
        raise NotSimulated("accounts and roles are not simulated; root has all privileges")
    if words[0] == "SET":
        return setting.cut(sql, version)
    if words[0] != "FLUSH":
        return ()
    behind = [word for word in words[1:] if word not in ("LOCAL", "NO_WRITE_TO_BINLOG")]
    if not behind or behind[0].strip(",") not in flushed(version):
        raise syntax(" ".join(sql.split()[1 + len(words) - 1 - len(behind) :]))
    if behind[0] in ("TABLE", "TABLES") and "FOR" in behind:
        raise NotSimulated("FLUSH TABLES ... FOR EXPORT is not simulated")
    return ()


_OF_ACCOUNTS = ("PASSWORD", "ROLE", "DEFAULT", "RESOURCE")


_LONGEST_SLEEP_S = 3600.0


def slept(tree: exp.Expr, cluster: LiveCluster) -> float:
    """How long SLEEP() of a query without tables waits, which passes; and UUID() as a text.

    Raises NotSimulated for a wait for each row of a table.
    """
    waited_s = 0.0
    for number, one in enumerate(list(tree.find_all(exp.Anonymous, exp.Uuid))):
        name = "uuid" if isinstance(one, exp.Uuid) else one.name.lower()
        if name == "uuid":
            digest = hashlib.sha256(f"{cluster.now_s} {len(cluster.history)} {number}".encode()).hexdigest()
            one.replace(exp.Literal.string("-".join((digest[:8], digest[8:12], f"1{digest[13:16]}",
                                                     f"8{digest[17:20]}", digest[20:32]))))  # fmt: skip
        if name != "sleep":
            continue
        if len(one.expressions) != 1:
            text = "Incorrect parameter count in the call to native function 'SLEEP'"
            raise SqlError(1582, "42000", text)
        value = one.expressions[0]
        if tree.find(exp.Table) is not None or not isinstance(value, exp.Literal) or value.is_string:
            raise NotSimulated("SLEEP is simulated of a number, and in queries without tables")
        seconds = min(float(value.this), _LONGEST_SLEEP_S)
        waited_s += seconds
        one.replace(exp.Literal.number(0))
    if waited_s:
        cluster.lets_pass(waited_s, lambda until_s: time_passes(until_s, lambda _now: None), at_once_s=0.0)
    return waited_s


def readable(result: Result, *, is_hex: bool) -> Result:
    """Bytes that are no text, and bits, as the interactive client of the version shows them."""

    def shown(value: object) -> object:
        if not isinstance(value, bytes):
            return value
        return f"0x{value.hex().upper()}" if is_hex else value.decode("latin-1").replace("\0", " ")

    rows = [tuple(map(_bytes, row, result.kinds)) for row in result.rows]
    of_bytes = {at for at, kind in enumerate(result.kinds) if kind.name in ("bits", "bytes")}
    of_bytes |= {at for row in rows for at, value in enumerate(row) if isinstance(value, bytes)}
    if not of_bytes:
        return result
    kind = BYTES if is_hex else TEXT
    kinds = tuple(kind if at in of_bytes else one for at, one in enumerate(result.kinds))
    return result._replace(kinds=kinds, rows=[tuple(map(shown, row)) for row in rows])


def held(result: Result) -> Result:
    """The same as rows keep it: bytes as the text that they are. Raises NotSimulated where they are none."""
    if not any(isinstance(value, bytes) for row in result.rows for value in row):
        return result
    return result._replace(rows=[tuple(map(_text_of, row)) for row in result.rows])


def _text_of(value: object) -> object:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise NotSimulated(
            "bytes that are no text are simulated where they are shown, and not as values"
        ) from None


def _bytes(value: object, kind: Kind) -> object:
    """The bytes of bits, and of a text that is none; anything else as it is."""
    if kind.name == "bits" and isinstance(value, int):
        return value.to_bytes(kind.shown_bytes, "big")
    return data(value) if kind.name == "bytes" and isinstance(value, str) else value


_OF_QUERIES = re.compile(
    r"\Aselect\s+(?:distinct\s+)?(sql_calc_found_rows)\b|\A(values\s+row)\b|\b(procedure\s+analyse)\s*\(|"
    r"(?<![\w`@.])(n)'|\b(full)\s+join\b|\b(encrypt|found_rows|get_lock|is_free_lock|is_used_lock|release_lock|load_file|benchmark)\s*\(",
    re.IGNORECASE,
)


_NEWER = re.compile(
    r"\A(?=(?:with|table|values)\b)|(?<=\bover)\s*\(|\b(?:except|intersect)\s+(?=\(?select\b)|"
    r"\bupdate\s+(?=(?:skip\s+locked|nowait)\b)|\bfor\s+(?=share\b)",
    re.IGNORECASE,
)


_LISTS = re.compile(
    r"(?:\bselect\b|[,(])\s*(?=,)|,\s*(?=(?:from\b|where\b|set\b|\)|\Z))|\bin\s*\(\s*(?=\))", re.IGNORECASE
)
"""What no server reads: a list with nothing before or behind a comma, or with nothing at all."""
_TRAILING = re.compile(
    r"\block\s+in\s+share\s+mode\s+(?=(?:nowait|skip)\b)|\blimit\s+(?=-)|\bfull\s+(?=outer\s+join\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)


def may_begin(sql: str, verb: str, in_use: str) -> None:
    """Raises SqlError for a list that lacks something, and for a change that nobody may make."""
    if verb in ("grant", "revoke"):
        # SELECT is a privilege there, and stands before a comma.
        return
    found = _LISTS.search(_QUOTED.sub(lambda quoted: "'" * len(quoted[0]), sql.rstrip()))
    if found is not None:
        raise syntax(sql[found.end() :].rstrip())
    check_target(sql, in_use)


def with_older(result: Result, sql: str, cluster: LiveCluster) -> Result:
    """A result with what the server says of older words in the query, which it says first."""
    return result._replace(warnings=(*deprecated(sql, cluster), *result.warnings))


def heading(tree: exp.Expr, sql: str) -> str:
    """What stands above the only column of a query."""
    only = tree.expressions[0]
    return str(only.alias) if isinstance(only, exp.Alias) else (typed_list(sql) or ["COUNT(*)"])[0]


def check_partitions(tree: exp.Expr, cluster: LiveCluster, in_use: str) -> None:
    """Raises what is said of FROM table PARTITION (...): tables that name no partitions have none [8.4.8]."""
    check_tree(tree, cluster, in_use)
    for one in tree.find_all(exp.Table):
        chosen, full = one.args.get("partition"), f"{one.db or in_use}.{one.name}"
        table = next((each for each in cluster.plan.tables if each.full_name == full), None)
        if chosen is None or table is None:
            continue
        if not table.partitions:
            raise SqlError(1747, "HY000", "PARTITION () clause on non partitioned table")
        known = {f"p{number}" for number in range(table.partitions)}
        for column in chosen.find_all(exp.Column):
            if column.name.lower() not in known:
                raise SqlError(1735, "HY000", f"Unknown partition '{column.name}' in table '{one.name}'")
        raise NotSimulated("rows of single partitions are not simulated; ndb_desc -p counts them")


_APART = re.compile(r"(?<![\w`.])([a-z_]\w{0,63})\s+\(", re.IGNORECASE)
_OWN_WORDS = re.compile(r"\b(?:as|from|in|order|separator|both|leading|trailing|interval)\b", re.IGNORECASE)
_CALL = re.compile(r"(?<![\w`.])([a-z_]\w{0,63})\(", re.IGNORECASE)


def _may_read(sql: str, bare: str, database: str, version: NdbVersion) -> None:
    """Raises SqlError for words that no server reads, or only those of other releases.

    Common table expressions, windows and set operations are of 8.0 (manual 8.0, What Is New).
    """
    newer = None if form(version, "dictionary_of_its_own") else _NEWER.search(bare)
    unread = newer or _TRAILING.search(bare.rstrip())
    if unread is not None:
        raise syntax(sql[unread.end() - unread[0].endswith("(") :].rstrip())
    for call in _APART.finditer(bare):
        if call[1].lower() in calls_without_blank():
            raise _no_call(sql, call, database)
    for call in _CALL.finditer(bare):
        if call[1].lower() in no_calls(version):
            raise syntax(sql[call.end() - 1 :])
        if call[1].lower() in missing_functions(version):
            raise SqlError(1305, "42000", f"FUNCTION {database or 'test'}.{call[1]} does not exist")


def _no_call(sql: str, call: re.Match[str], database: str) -> SqlError | NotSimulated:
    """What is said of `COUNT (*)`: with a blank, the name is that of a function of the user's.

    Source: manual 5.6 to 8.4, Function Name Parsing and Resolution.
    """
    inside = sql[call.end() :].lstrip()
    if inside.startswith("*") or inside[:8].upper() == "DISTINCT":
        return syntax(inside)
    if _OWN_WORDS.search(inside.partition(")")[0]):
        return NotSimulated(f"what is said of {call[1].upper()} with a blank before its ( is not simulated")
    if not database:
        return SqlError(1046, "3D000", "No database selected")
    where = "Check the 'Function Name Parsing and Resolution' section in the Reference Manual"
    return SqlError(1630, "42000", f"FUNCTION {database}.{call[1]} does not exist. {where}")


def may_query(sql: str, database: str, version: NdbVersion) -> None:
    """Raises NotSimulated for words of a query that the product knows and this console does not.

    And SqlError for what its server does not read.
    """
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", lambda quoted: "'" * len(quoted[0]), sql)
    check_words(sql, version)
    _may_read(sql, bare, database, version)
    match = _OF_QUERIES.search(bare)
    if match is not None:
        word = next(one for one in match.groups() if one).upper()
        raise NotSimulated(f"{' '.join(word.split())} is not simulated here")
