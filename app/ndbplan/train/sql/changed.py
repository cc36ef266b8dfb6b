"""What a change of rows came to, and what the client prints of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlglot import exp

from ndbplan.plan.workloads import OperationKind
from ndbplan.train.contents import Key, Row
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import server
from ndbplan.train.sql.problem import Warned

CHANGED_ROWS_PER_S = 4_000.0
"""Rows that one statement deletes or updates in a second [8.4.8, a small machine: 5,000 rows in 1.2 s]."""


class Changed(NamedTuple):
    """What a change did."""

    text: str
    warnings: tuple[Warned, ...]
    number: int | None
    """The first number that AUTO_INCREMENT gave; None: it gave none."""
    rows: int


class Change(NamedTuple):
    """What becomes of the rows of one table."""

    kind: OperationKind
    matched: int
    affected: int
    put: Mapping[Key, Row]
    gone: Collection[Key]
    counter: int | None = None
    number: int | None = None
    duplicates: int = 0


def said(tree: exp.Expr, warned_of: Sequence[Warned], found: Change, cluster: LiveCluster) -> str:
    """What the client prints, after the time that it took."""
    begin_s, rows = cluster.now_s, found.affected
    lasts_s = found.matched / CHANGED_ROWS_PER_S if found.matched > 1 else 0.0
    if not cluster.lets_pass(lasts_s):
        lasts_s = cluster.now_s - begin_s
    count = len(warned_of)
    warned = f", {count} warning{'s' * (count > 1)}" if count else ""
    lasted = server.lasted(lasts_s)
    text = f"Query OK, {rows} row{'s' * (rows != 1)} affected{warned} ({lasted})"
    if isinstance(tree, exp.Update):
        return f"{text}\nRows matched: {found.matched}  Changed: {rows}  Warnings: {count}\n"
    many = isinstance(tree, exp.Insert) and (found.matched > 1 or isinstance(tree.expression, exp.Query))
    records = f"\nRecords: {found.matched}  Duplicates: {found.duplicates}  Warnings: {count}\n"
    return text + records if many else text
