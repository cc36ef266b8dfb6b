"""How a table is read: by which key, with how many rows; and how many rows a condition leaves.

Ways: recorded on running 8.4.8 and 7.4.10 clusters (a whole key with `=` is `eq_ref`, never `const`, as long
as joins are pushed down). Numbers of rows: counted in a sample of the table's rows; the product estimates
them otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlglot import exp

from ndbplan.ndb.charsets import default_collation, max_char_bytes
from ndbplan.ndb.columns import COLUMN_TYPES, Declared, KeyEncoding, Storage
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table
from ndbplan.train.contents import WHOLE, Row
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import finding
from ndbplan.train.sql.explain.sources import Source, Sources
from ndbplan.train.sql.finding import Wanted, literal

_SAMPLE = 2_000
"""Rows that are looked at to tell how many share a value."""
_ASSUMED_SHARE = 0.01
"""Share of rows with one value where no row is known [assumed]."""
_EQUAL, _OTHER, _BETWEEN = 0.1, 1 / 3, 1 / 9
"""Shares of rows that the server takes conditions without an index to leave: COND_FILTER_* of its source."""
_LEAST_LEFT = 0.05
"""Rows that a filter leaves at least: the same source."""
RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Like)
_KEY_LENGTH_BYTES = 2
"""Length of a variable value in a key."""


class Key(NamedTuple):
    """A key of a table as the server lists it."""

    name: str
    columns: tuple[Column, ...]
    unique: bool
    ordered: bool


class Bound(NamedTuple):
    """What a column is equal to."""

    ref: str
    """`const`, or the column of another table: `test.a.id`."""
    source: str
    """That table, by its name in the statement; empty: a constant."""
    condition: exp.Expr
    column: Column | None = None


class Access(NamedTuple):
    """How one table is read."""

    source: Source
    type: str
    possible: tuple[str, ...]
    key: Key | None
    parts: int
    """Columns of the key that are used."""
    refs: tuple[Bound, ...]
    rows: int
    used: tuple[exp.Expr, ...]
    """Conditions that the key takes care of."""


def keys_of(table: Table) -> list[Key]:
    """The keys in the server's order: the primary one, unique ones, the others."""
    found = []
    if table.primary_key:
        columns = tuple(table.column(name) for name in table.primary_key)
        found.append(Key("PRIMARY", columns, True, not table.primary_key_using_hash))
    for index in sorted(table.indexes, key=lambda one: one.kind == "ordered"):
        columns = tuple(table.column(name) for name in index.columns)
        found.append(Key(index.name, columns, index.kind != "ordered", index.kind != "unique_hash"))
    return found


def key_bytes(plan: Plan, columns: Sequence[Column]) -> int:
    """Bytes of a key in the server (key_len): a byte more where a column may be NULL, two for a length."""
    total = 0
    for one in columns:
        kind = COLUMN_TYPES[one.type]
        collation = one.collation or default_collation(plan.version)
        declared = Declared(
            one.length, one.scale, max_char_bytes(collation) if kind.is_text else 1, one.unsigned
        )
        stored = kind.stored(declared, plan.features)
        size = kind.integer_bytes or stored.max_bytes
        if stored.storage is Storage.VARIABLE or kind.key in (KeyEncoding.VARCHAR, KeyEncoding.VARBINARY):
            size += _KEY_LENGTH_BYTES
        total += size + int(one.nullable)
    return total


class Looking:
    """Looks at the conditions of a statement, table by table."""

    def __init__(self, sources: Sources, conditions: Sequence[exp.Expr], cluster: LiveCluster) -> None:
        self.sources, self.conditions, self.cluster = sources, list(conditions), cluster
        self._samples: dict[str, list[Row]] = {}

    def rows(self, source: Source) -> int:
        """How many rows the table has."""
        return self.cluster.rows_of(source.table)

    def _sample(self, source: Source) -> list[Row]:
        if source.table.id not in self._samples:
            try:
                found = finding.read(self.cluster, source.table, Wanted(most=_SAMPLE))
            except finding.TooMany:
                found = []
            self._samples[source.table.id] = [row for _, row in found]
        return self._samples[source.table.id]

    def bounds(self, source: Source) -> Iterator[tuple[Column, Bound]]:
        """Columns that are equal to something."""
        for one in self.conditions:
            if not isinstance(one, exp.EQ):
                continue
            for side, other in ((one.this, one.expression), (one.expression, one.this)):
                if not isinstance(side, exp.Column):
                    continue
                own, column = self.sources.of(side, "where clause")
                if own.alias != source.alias:
                    continue
                if isinstance(other, exp.Column):
                    far, theirs = self.sources.of(other, "where clause")
                    ref = f"{far.table.database}.{far.alias}.{theirs.name}"
                    yield column, Bound(ref, far.alias, one, theirs)
                elif not list(other.find_all(exp.Column)):
                    yield column, Bound("const", "", one)

    def ranges(self, source: Source) -> Iterator[tuple[Column, exp.Expr]]:
        """Columns that a condition bounds."""
        for one in self.conditions:
            if not isinstance(one, RANGES) or not isinstance(one.this, exp.Column):
                continue
            own, column = self.sources.of(one.this, "where clause")
            opens = isinstance(one, exp.Like) and one.expression.name[:1] in ("%", "_", "")
            if own.alias == source.alias and len(list(one.find_all(exp.Column))) == 1 and not opens:
                yield column, one

    def best(self, source: Source, before: frozenset[str]) -> Access:
        """How a table is read when those named `before` were."""
        equal: dict[str, list[Bound]] = {}
        for column, bound in self.bounds(source):
            equal.setdefault(column.name, []).append(bound)
        ranged: dict[str, list[exp.Expr]] = {}
        for column, condition in self.ranges(source):
            ranged.setdefault(column.name, []).append(condition)
        possible = tuple(key.name for key in keys_of(source.table) if _may_help(key, equal, ranged))
        ways = [Access(source, "ALL", possible, None, 0, (), self.rows(source), ())]
        for key in keys_of(source.table):
            way = self._way(source, key, possible, equal, ranged, before)
            if way is not None:
                ways.append(way)
        order = {"eq_ref": 0, "ref": 1, "range": 2, "ALL": 3}
        return min(ways, key=lambda one: (one.rows, order[one.type]))

    def _way(
        self, source: Source, key: Key, possible: tuple[str, ...], equal: Mapping[str, list[Bound]],
        ranged: Mapping[str, list[exp.Expr]], before: frozenset[str],
    ) -> Access | None:  # fmt: skip
        taken: list[Bound] = []
        for column in key.columns:
            usable = [one for one in equal.get(column.name, ()) if one.source == "" or one.source in before]
            if not usable:
                break
            taken.append(min(usable, key=lambda one: one.source != ""))
        count = len(taken)
        used = tuple(one.condition for one in taken)
        if count == len(key.columns) and key.unique:
            nulls = any(one.nullable for one in key.columns) and key.name != "PRIMARY"
            return Access(source, "ref" if nulls else "eq_ref", possible, key, count, tuple(taken), 1, used)
        if not key.ordered:
            return None
        if count:
            share = self._share([one.name for one in key.columns[:count]], source)
            rows = max(1, round(self.rows(source) * share))
            return Access(source, "ref", possible, key, count, tuple(taken), rows, used)
        bounding = ranged.get(key.columns[0].name, [])
        if not bounding:
            return None
        rows = self._in_range(source, key.columns[0], bounding)
        if rows > self.rows(source) / 2:
            return None
        return Access(source, "range", possible, key, 1, (), max(1, rows), tuple(bounding))

    def _share(self, names: Sequence[str], source: Source) -> float:
        """The share of rows that have one value in some columns."""
        sample = self._sample(source)
        if not sample:
            return _ASSUMED_SHARE
        return 1 / len({tuple(row[name] for name in names) for row in sample})

    def _in_range(self, source: Source, column: Column, conditions: Sequence[exp.Expr]) -> int:
        rows = self.rows(source)
        if source.table.primary_key == (column.name,) and column.type in WHOLE:
            spans = [finding.bounds_of(one) for one in conditions]
            if None not in spans:
                low = max([1, *(one[0] for one in spans if one is not None and one[0] is not None)])
                high = min([rows, *(one[1] for one in spans if one is not None and one[1] is not None)])
                return max(0, high - low + 1)
        values = [row[column.name] for row in self._sample(source)]
        met = sum(all(_meets(value, one) for one in conditions) for value in values)
        return round(rows * met / len(values)) if values else round(rows * _ASSUMED_SHARE)

    def left(self, access: Access, conditions: Sequence[exp.Expr]) -> float:
        """The share of rows that conditions leave which no key takes care of."""
        share = 1.0
        for one in conditions:
            if isinstance(one, exp.Between):
                share *= _BETWEEN
            elif isinstance(one, exp.In):
                share *= min(0.5, _EQUAL * len(one.expressions))
            elif isinstance(one, exp.EQ | exp.Is | exp.NullSafeEQ):
                share *= _EQUAL
            elif isinstance(one, exp.NEQ | exp.Not):
                share *= 1 - _EQUAL
            elif isinstance(one, exp.Like):
                share *= _BETWEEN
            else:
                share *= _OTHER
        return max(share, _LEAST_LEFT / max(1, access.rows)) if share < 1 else 1.0


def _may_help(key: Key, equal: Mapping[str, Any], ranged: Mapping[str, Any]) -> bool:
    if not key.ordered:
        return all(one.name in equal for one in key.columns)
    return key.columns[0].name in equal or key.columns[0].name in ranged


def _meets(value: Any, condition: exp.Expr) -> bool:
    """Whether a value is within a bound; a value that cannot be compared is not."""
    try:
        if isinstance(condition, exp.Between):
            return bool(literal(condition.args["low"]) <= value <= literal(condition.args["high"]))
        if isinstance(condition, exp.In):
            return value in [literal(one) for one in condition.expressions]
        given = literal(condition.expression)
        if isinstance(condition, exp.Like):
            return str(value).lower().startswith(str(given).partition("%")[0].partition("_")[0].lower())
        compared: dict[type[exp.Expr], bool] = {
            exp.LT: value < given,
            exp.LTE: value <= given,
            exp.GT: value > given,
            exp.GTE: value >= given,
        }
    except TypeError:
        return False
    return bool(compared[type(condition)])
