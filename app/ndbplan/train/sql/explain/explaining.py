"""EXPLAIN of SELECT, UPDATE and DELETE on tables of NDB, as the classic table.

    explain("EXPLAIN SELECT * FROM test.t1 WHERE id = 5", "", cluster).rows

Columns, ways and texts: recorded on running 8.4.8 and 7.4.10 clusters. What their server decides by costs
that are not known (joins without a key, sorted reads) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlglot import exp

from ndbplan.estimate.storage.column_bytes import is_blob
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.console import form
from ndbplan.plan.tables import Column
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import partitions_of
from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.explain import note
from ndbplan.train.sql.explain.access import RANGES, Access, Looking, key_bytes, keys_of
from ndbplan.train.sql.explain.order import ordered, substituted
from ndbplan.train.sql.explain.sources import Source, Sources, conditions_of, sources_of
from ndbplan.train.sql.explain.wording import together, unknown
from ndbplan.train.sql.numbers import INT, TEXT, Kind, decimal
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, syntax
from ndbplan.train.sql.reading import parsed

_BEGIN = re.compile(r"\A\s*(?:explain|describe|desc)\s+", re.IGNORECASE)
_FORMAT = re.compile(r"format\s*+=?\s*+(\w++)\s+", re.IGNORECASE)
_OLD_WORD = re.compile(r"(extended|partitions)\s++", re.IGNORECASE)
_KINDS = ("SELECT", "UPDATE", "DELETE")
_COLUMNS: tuple[tuple[str, Kind], ...] = (
    ("id", INT), ("select_type", TEXT), ("table", TEXT), ("partitions", TEXT), ("type", TEXT),
    ("possible_keys", TEXT), ("key", TEXT), ("key_len", TEXT), ("ref", TEXT), ("rows", INT),
    ("filtered", decimal(2)), ("Extra", TEXT),
)  # fmt: skip


class _Asked(NamedTuple):
    """What stands behind EXPLAIN."""

    sql: str
    more: frozenset[str]
    """Columns that are there only on request."""
    notes: bool
    """The statement as the server reads it stands among the warnings."""


class _Found(NamedTuple):
    rows: list[tuple[Any, ...]]
    """With all columns."""
    notes: tuple[str, ...]


def explain(sql: str, in_use: str, cluster: LiveCluster, *, pushes_joins: bool = True) -> Result:
    """How the server would read the tables of a statement. Raises SqlError and NotSimulated."""
    asked = _asked(sql, cluster)
    tree = parsed(asked.sql)
    found = _explained(tree, asked, in_use, cluster, pushes_joins=pushes_joins)
    shown = [
        (name, kind)
        for name, kind in _COLUMNS
        if name not in ("partitions", "filtered") or name in asked.more
    ]
    names = [name for name, _ in _COLUMNS]
    cells = [tuple(row[names.index(name)] for name, _ in shown) for row in found.rows]
    warnings = tuple(Warned("Note", 1003, text) for text in found.notes) if asked.notes else ()
    heads, kinds = tuple(name for name, _ in shown), tuple(kind for _, kind in shown)
    return Result(heads, kinds, cells, warnings, tuple(name != "id" for name in heads))


def _asked(sql: str, cluster: LiveCluster) -> _Asked:
    rest = _BEGIN.sub("", sql)
    told = form(cluster.plan.version, "explain")
    more, notes = frozenset(told["columns"]), bool(told["notes"])
    if match := _OLD_WORD.match(rest):
        if match[1].lower() not in told["words"]:
            raise syntax(rest[match.end() :])
        more |= frozenset(told["words"][match[1].lower()])
        rest, notes = rest[match.end() :], notes or match[1].lower() == "extended"
    if match := _FORMAT.match(rest):
        name = match[1].upper()
        if name not in told["formats"]:
            raise SqlError(1791, "HY000", f"Unknown EXPLAIN format name: '{match[1]}'")
        if name != "TRADITIONAL":
            raise NotSimulated(f"EXPLAIN FORMAT={name} is not simulated; EXPLAIN as a table is")
        rest = rest[match.end() :]
    verb = rest.split(None, 1)[0].upper() if rest.strip() else ""
    if verb == "ANALYZE" and told["analyzes"]:
        raise NotSimulated("EXPLAIN ANALYZE is not simulated; EXPLAIN as a table is")
    if verb in ("INSERT", "REPLACE", "WITH", "TABLE", "FOR", "(") or rest.startswith("("):
        raise NotSimulated("EXPLAIN is simulated for SELECT, UPDATE and DELETE")
    if verb not in _KINDS:
        raise syntax(rest)
    return _Asked(rest, more, notes)


def _explained(
    tree: exp.Expr, asked: _Asked, in_use: str, cluster: LiveCluster, *, pushes_joins: bool
) -> _Found:
    if not isinstance(tree, exp.Select | exp.Update | exp.Delete) or tree.find(
        exp.Subquery, exp.Union, exp.CTE
    ):
        raise unknown("subqueries and unions")
    if any(True for _ in tree.find_all(exp.Window)) or tree.args.get("having") is not None:
        raise unknown("HAVING and windows")
    sources = sources_of(tree, in_use, cluster)
    kind = "SIMPLE" if isinstance(tree, exp.Select) else tree.key.upper()
    if not sources.listed:
        return _Found([_alone("No tables used")], (note.of(tree, asked.sql, sources, ()),))
    changes = not isinstance(tree, exp.Select)
    if changes and (len(sources.listed) != 1 or tree.args.get("where") is None):
        raise unknown(f"{kind} of several tables, or of all rows")
    conditions = conditions_of(tree, sources)
    if _counts_all(tree, sources, conditions):
        return _Found([_alone("Select tables optimized away")], (note.of(tree, asked.sql, sources, ()),))
    looking = Looking(sources, conditions, cluster)
    accesses = ordered(looking)
    told = substituted(looking, accesses)
    whole = note.of(tree, asked.sql, sources, told)
    if len(accesses) == 1:
        rows = _rows(tree, kind, looking, accesses, told, names_sent=asked.notes, pushed=False)
        return _Found(list(rows), (whole,))
    _joins_by_keys(accesses)
    blobs = [one.source.alias for one in accesses if _reads_blob(tree, one.source, looking)]
    if not pushes_joins and any(bound.ref == "const" for one in accesses for bound in one.refs):
        raise unknown("joins that are not pushed down to one row")
    pushed = pushes_joins and not blobs and _of_same_types(accesses)
    notes = tuple(f"Table '{name}' is not pushable: select list can't contain BLOB columns" for name in blobs)
    rows = _rows(tree, kind, looking, accesses, told, names_sent=asked.notes, pushed=pushed)
    return _Found(list(rows), (*(notes if pushes_joins else ()), whole))


def _alone(extra: str) -> tuple[Any, ...]:
    return (1, "SIMPLE", *(None,) * 9, extra)


def _counts_all(tree: exp.Expr, sources: Sources, conditions: Sequence[exp.Expr]) -> bool:
    if conditions or len(sources.listed) != 1 or len(tree.expressions) != 1 or tree.args.get("group"):
        return False
    only = tree.expressions[0].unalias()
    return isinstance(only, exp.Count) and isinstance(only.this, exp.Star)


def _rows(
    tree: exp.Expr, kind: str, looking: Looking, accesses: Sequence[Access], told: Sequence[exp.Expr],
    *, names_sent: bool, pushed: bool,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    before: set[str] = set()
    for one in accesses:
        alias, key, changes = one.source.alias, one.key, kind != "SIMPLE"
        here = [
            c for c in told if alias in (names := looking.sources.read_by(c)) and names <= {*before, alias}
        ]
        sure = {_sides(c) for c in one.used if not changes and one.type != "range" and _is_sure(c, looking)}
        left = [c for c in here if _sides(c) not in sure]
        way = "range" if changes and key is not None else one.type
        extra = [_pushed_join(one, accesses)] if pushed else []
        extra += _chosen(left, one, looking, changes=changes, names_sent=names_sent)
        extra += ["Using MRR"] * (way == "range" and one.type != "eq_ref")
        extra += _sorting(tree, one, looking) if len(accesses) == 1 else _no_sorting(tree)
        used = {_sides(c) for c in one.used}
        share = looking.left(one, [c for c in left if _sides(c) not in used])
        share = share if form(looking.cluster.plan.version, "explain")["filters"] else 1.0
        size = None if key is None else str(key_bytes(looking.cluster.plan, key.columns[: one.parts]))
        yield (
            1, kind, alias, _partitions(looking, one.source, here), way, ",".join(one.possible) or None,
            None if key is None else key.name, size, ",".join(bound.ref for bound in one.refs) or None,
            one.rows, share * 100, "; ".join(extra) or None,
        )  # fmt: skip
        before.add(alias)


def _sides(condition: exp.Expr) -> frozenset[str]:
    """What a condition is known by, whichever side of `=` stands first."""
    if isinstance(condition, exp.EQ):
        return frozenset((condition.this.sql(), condition.expression.sql()))
    return frozenset((condition.sql(),))


def _is_sure(condition: exp.Expr, looking: Looking) -> bool:
    """Whether a key needs no second look: not for texts and floating numbers, nor between types."""
    columns = [looking.sources.of(one, "where clause")[1] for one in condition.find_all(exp.Column)]
    if any(COLUMN_TYPES[one.type].is_text or one.type in ("float", "double") for one in columns):
        return False
    return len({_typed(one) for one in columns}) == 1


def _typed(column: Column) -> tuple[Any, ...]:
    return (column.type, column.unsigned, column.length, column.scale, column.collation)


def _joins_by_keys(accesses: Sequence[Access]) -> None:
    """Raises NotSimulated for a table that no key joins: how it is read depends on costs."""
    for one in accesses[1:]:
        if one.type not in ("eq_ref", "ref") or not any(bound.source for bound in one.refs):
            raise unknown("joins without a key between the tables")


def _of_same_types(accesses: Sequence[Access]) -> bool:
    for one in accesses[1:]:
        own = one.key.columns if one.key is not None else ()
        if any(bound.column is not None and _typed(bound.column) != _typed(column)
               for bound, column in zip(one.refs, own, strict=False)):  # fmt: skip
            raise unknown("joins between columns of different types")
    return True


def _reads_blob(tree: exp.Expr, source: Source, looking: Looking) -> bool:
    """Whether the list of a query has a BLOB of a table."""
    blobs = {one.name.lower() for one in source.table.columns if is_blob(one)}
    if tree.is_star and blobs:
        return True
    listed = [c for one in tree.expressions for c in one.find_all(exp.Column) if not c.is_star]
    return any(looking.sources.of(c)[0].alias == source.alias and c.name.lower() in blobs for c in listed)


def _pushed_join(one: Access, accesses: Sequence[Access]) -> str:
    if one is accesses[0]:
        return f"Parent of {len(accesses)} pushed join@1"
    return f"Child of '{next(bound.source for bound in one.refs if bound.source)}' in pushed join@1"


def _chosen(
    left: Sequence[exp.Expr], one: Access, looking: Looking, *, changes: bool, names_sent: bool
) -> list[str]:
    """What the conditions that no key takes care of add."""
    sent = [c for c in left if _is_sent(c, one, looking)]
    if not sent or (one.type == "eq_ref" and not changes):
        return ["Using where"] * bool(left)
    told = str(form(looking.cluster.plan.version, "explain")["pushed"])
    text = f"{told} {together(sent, looking.sources.name)}" if names_sent else told
    kept = (changes or len(sent) < len(left)) and not told.startswith("Using where")
    return [*["Using where"] * kept, text]


_SENT = (exp.EQ, exp.NEQ, exp.NullSafeEQ, *RANGES, exp.Is, exp.Not, exp.Or, exp.And, exp.Paren)


def _is_sent(condition: exp.Expr, one: Access, looking: Looking) -> bool:
    """Whether the data nodes can choose by a condition: comparisons of a column of this table."""
    if looking.sources.read_by(condition) != {one.source.alias}:
        return False
    columns = [looking.sources.of(c, "where clause")[1] for c in condition.find_all(exp.Column)]
    if any(is_blob(column) for column in columns):
        return False
    return all(isinstance(node, (*_SENT, exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Neg))
               for node in condition.walk())  # fmt: skip


def _no_sorting(tree: exp.Expr) -> list[str]:
    if any(tree.args.get(name) for name in ("order", "group", "distinct")):
        raise unknown("joins that sort or group")
    return []


def _sorting(tree: exp.Expr, one: Access, looking: Looking) -> list[str]:
    """What ORDER BY and GROUP BY of one table add."""
    order, group = tree.args.get("order"), tree.args.get("group")
    if order is None and group is None and not tree.args.get("distinct"):
        return []
    if (order is not None and group is not None) or tree.args.get("distinct"):
        raise unknown("DISTINCT, and of GROUP BY with ORDER BY")
    if one.type == "eq_ref":
        return []
    keys = [part for part in (order, group) if part is not None]
    names = {c.name.lower() for part in keys for c in part.find_all(exp.Column)}
    first = {key.columns[0].name.lower() for key in keys_of(one.source.table) if key.ordered}
    if names & first and (group is not None or one.type != "ALL" or tree.args.get("limit") is not None):
        raise unknown("reads in the order of a key")
    if not isinstance(tree, exp.Select):
        raise unknown("changes in an order")
    return (
        list(form(looking.cluster.plan.version, "explain")["groups"])
        if group is not None
        else ["Using filesort"]
    )


def _partitions(looking: Looking, source: Source, conditions: Sequence[exp.Expr]) -> str:
    table = source.table
    if (table.distribution_key or table.partitions) and conditions:
        raise unknown("which partitions of a table with PARTITION BY are read")
    cluster = looking.cluster
    count = len(partitions_of(cluster.session.simulation, cluster.plan_of(table), table))
    return ",".join(f"p{number}" for number in range(count))
