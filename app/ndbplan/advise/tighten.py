"""Which assumptions decide most of the memory that a plan needs: what is most worth measuring.

    for assumption in assumptions(now): print(assumption.what, assumption.share, assumption.address)

Of each the bytes are told that rest on it: what the cluster needs with it, less what it would need were the
value as small as it can be; and what it would need were it as large as it can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ndbplan.base.shapes import Shape
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.places import address_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.storage.column_bytes import DECIDES, assumed_mean_bytes, filled, stored_bytes
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table

_LOOKED_AT = 24
"""Assumptions that are worked out: those that weigh most by rows and bytes of a row."""


@dataclass(frozen=True)
class Assumption(Shape):
    """One value that nobody stated."""

    JSON = "what address assumed share bytes low_bytes high_bytes"

    what: str
    """`mean length of shop.orders.doc`."""
    address: str
    """Where to state it: for `ndbplan set`."""
    object_id: str
    assumed: float
    """Bytes of a value, or rows."""
    share: float
    """Of the memory of all data nodes that rests on it, 0 to 1."""
    bytes: float
    """The memory of all data nodes with the value that is assumed."""
    low_bytes: float
    """With the least that it can be."""
    high_bytes: float
    """With the most; for rows, of which nobody knows the most, ten times as many."""


@dataclass(frozen=True)
class _Candidate:
    what: str
    address: str
    object_id: str
    assumed: float
    weight: float
    least: Plan
    most: Plan


def assumptions(now: Estimation) -> tuple[Assumption, ...]:
    """The assumptions about tables that decide most, the heaviest first; nothing without data nodes."""
    total = _needed(now)
    if not total:
        return ()
    candidates = sorted(_candidates(now.plan), key=lambda one: -one.weight)[:_LOOKED_AT]
    ranked = []
    for one in candidates:
        ends = (total, _needed(now.of(one.least)), _needed(now.of(one.most)))
        # Whole words and pages: a longer value may take a little less.
        low, high = min(ends), max(ends)
        share = (total - low) / total
        ranked.append(Assumption(one.what, one.address, one.object_id, one.assumed, share, total, low, high))
    return tuple(sorted(ranked, key=lambda one: -one.share))


def deciding(found: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    """Those on which more than a fifth of the memory rests."""
    return tuple(one for one in found if one.share > DECIDES)


def _needed(now: Estimation) -> float:
    """Bytes that the tables take in the DataMemory of all data nodes."""
    return sum(node.data_memory_bytes.value + node.index_memory_bytes.value for node in now.memory.nodes)


def _candidates(plan: Plan) -> Iterator[_Candidate]:
    for number, table in enumerate(plan.tables):
        path = ("tables", number)
        if "rows" in table.assumed and table.rows:
            yield _Candidate(
                f"rows of {table.full_name}",
                f"{address_of(plan, path)}.rows",
                table.id,
                float(table.rows),
                float(table.rows) * len(table.columns) * 8,
                edits.update(plan, table.id, rows=0),
                edits.update(plan, table.id, rows=min(10 * table.rows, 10**15)),
            )
        for place, column in enumerate(table.columns):
            mean = assumed_mean_bytes(column, plan.version)
            if mean is None or not table.rows or filled(column) == 0:
                continue
            known = stored_bytes(column, plan.version)
            length = known.value - mean
            yield _Candidate(
                f"mean length of {table.full_name}.{column.name}",
                f"{address_of(plan, (*path, 'columns', place))}.average_bytes",
                table.id,
                mean,
                table.rows * filled(column) * known.high,
                _with_length(plan, table, column, max(0.0, known.low - length)),
                _with_length(plan, table, column, max(0.0, known.high - length)),
            )


def _with_length(plan: Plan, table: Table, column: Column, mean_bytes: float) -> Plan:
    columns = tuple(
        validated.changed(one, average_bytes=mean_bytes) if one is column else one for one in table.columns
    )
    return edits.update(plan, table.id, columns=columns)
