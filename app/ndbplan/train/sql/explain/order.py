"""In which order the tables of a join are read, and which conditions are looked at where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import prod

from sqlglot import exp

from ndbplan.train.sql.explain.access import RANGES, Access, Looking
from ndbplan.train.sql.explain.wording import unknown

_MOST_TABLES = 5
_MOVES = (exp.EQ, *RANGES)
"""Conditions on one column that hold for every column that is equal to it."""


def ordered(looking: Looking) -> list[Access]:
    """The tables in the order that reads the fewest rows, as typed where several do."""
    listed = looking.sources.listed
    if len(listed) > _MOST_TABLES:
        raise unknown(f"more than {_MOST_TABLES} tables")
    own = list(looking.conditions)
    looking.conditions += list(_moved(looking))

    def read(order: Sequence[int]) -> list[Access]:
        return [looking.best(listed[i], frozenset(listed[k].alias for k in order[:at]))
                for at, i in enumerate(order)]  # fmt: skip

    def cost(accesses: Sequence[Access]) -> int:
        return sum(prod(one.rows for one in accesses[: at + 1]) for at in range(len(accesses)))

    best = min((read(order) for order in permutations(range(len(listed)))), key=cost)
    looking.conditions = own
    return best


def _equals(looking: Looking) -> list[set[str]]:
    """Columns that are equal, by their full names."""
    groups: list[set[str]] = []
    for one in looking.conditions:
        if (
            isinstance(one, exp.EQ)
            and isinstance(one.this, exp.Column)
            and isinstance(one.expression, exp.Column)
        ):
            pair = {looking.sources.name(one.this), looking.sources.name(one.expression)}
            joined = [group for group in groups if group & pair]
            groups = [group for group in groups if group not in joined]
            groups.append(pair.union(*joined))
    return groups


def _single(condition: exp.Expr) -> exp.Column | None:
    """The column of a condition on one column; None: it is another condition."""
    columns = list(condition.find_all(exp.Column))
    this = condition.this
    is_one = isinstance(condition, _MOVES) and len(columns) == 1 and isinstance(this, exp.Column)
    return this if is_one else None


def _moved(looking: Looking) -> Iterator[exp.Expr]:
    """Conditions on one column, said of the columns that are equal to it."""
    groups = _equals(looking)
    for one in looking.conditions:
        column = _single(one)
        if column is None:
            continue
        name = looking.sources.name(column)
        for group in groups:
            for other in sorted(group - {name}) if name in group else ():
                yield _said_of(one, other)


def _said_of(condition: exp.Expr, name: str) -> exp.Expr:
    alias, own = name.replace("`", "").split(".")[1:]
    moved = condition.copy()
    moved.set("this", exp.column(own, alias))
    return moved


def substituted(looking: Looking, accesses: Sequence[Access]) -> list[exp.Expr]:
    """The conditions as they are looked at: those on one column where the first of its equals is read,
    comparisons with `=` before others."""
    groups, order = _equals(looking), [one.source.alias for one in accesses]
    found: list[exp.Expr] = []
    for one in looking.conditions:
        column = _single(one)
        name = looking.sources.name(column) if column is not None else ""
        group = next((g for g in groups if name in g), set())
        if column is not None and group:
            first = min(group, key=lambda full: order.index(full.replace("`", "").split(".")[1]))
            one = one if first == name else _said_of(one, first)
        found.append(_turned(one, looking, order))
    return sorted(found, key=lambda c: 0 if isinstance(c, exp.EQ) else 1)


def _turned(one: exp.Expr, looking: Looking, order: Sequence[str]) -> exp.Expr:
    """Equal columns: the one that is read later stands first."""
    if not (
        isinstance(one, exp.EQ)
        and isinstance(one.this, exp.Column)
        and isinstance(one.expression, exp.Column)
    ):
        return one
    places = [order.index(looking.sources.of(side)[0].alias) for side in (one.this, one.expression)]
    return one if places[0] > places[1] else exp.EQ(this=one.expression.copy(), expression=one.this.copy())
