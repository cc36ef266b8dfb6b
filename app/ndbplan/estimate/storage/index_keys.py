"""How the keys of a table's ordered indexes come, and how many of them a node of the index holds for it.

    index_keys(table, plan.version)[-1].entries(rows=50_000, in_order=14.5, random=19.8)     # 14.5

Source: `ndb.ordered_index`; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.stored_types import stored_type
from ndbplan.estimate.storage.key_values import most_values
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.ordered_index import Filling, most_entries
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Table


class IndexKeys(NamedTuple):
    """The keys of one ordered index."""

    is_likely_in_order: bool
    stated: str | None
    """How they come, where that is stated."""
    most: int
    """Entries of a full node."""
    runs: int
    """Values that its first columns have at most, each growing at its end; 0: they are no such runs."""
    nulls: float
    """Share of the rows where all columns are NULL."""

    @property
    def in_order(self) -> bool:
        """Whether the highest key so far is expected to come next."""
        if self.stated is not None:
            return self.stated == "in_order"
        return self.is_likely_in_order and not self.runs

    def entries(self, rows: float, in_order: float, random: float) -> float:
        """Mean entries of a node in a fragment of so many rows; `in_order`, `random`: the measured ones."""
        filling = Filling.of_node(self.most, in_order, random)
        others = filling.random
        if self.in_order:
            others = filling.in_order
        elif self.runs:
            others = filling.of_runs(self.runs, rows * (1.0 - self.nulls))
        return filling.with_nulls(others, self.nulls)


@kept_by_identity(size=4096)
def index_keys(table: Table, version: NdbVersion) -> tuple[IndexKeys, ...]:
    """Keys of each ordered index, those of the primary key last.

    Unless stated: numbers of a primary key and times come in order, few values grow each at its
    end, as equal keys lie in the order of their rows; all else comes at random.
    """
    by_name = {column.name: column for column in table.columns}
    found = [
        _keys(
            table,
            version,
            [by_name[name] for name in index.columns],
            _grows(table, _first_with_values([by_name[name] for name in index.columns])),
            index.key_arrival,
        )
        for index in table.indexes
        if index.kind != "unique_hash"
    ]
    if table.primary_key and not table.primary_key_using_hash:
        key = [by_name[name] for name in table.primary_key]
        found.append(_keys(table, version, key, _arrival(key[0]) != "never", table.key_arrival))
    return tuple(found)


def _keys(
    table: Table, version: NdbVersion, columns: list[Column], in_order: bool, stated: str | None
) -> IndexKeys:
    stored = [stored_type(column, version) for column in columns]
    may_be_null = [column.nullable and column.name not in table.primary_key for column in columns]
    most = most_entries((one.max_bytes + one.length_bytes for one in stored), nullable=sum(may_be_null))
    # Rows where one column is NULL lie by the others: equal keys are those where all are.
    nulls = prod(
        column.null_fraction if may else 0.0 for column, may in zip(columns, may_be_null, strict=True)
    )
    return IndexKeys(in_order, stated, most, _runs(table, columns), nulls)


def _runs(table: Table, columns: list[Column]) -> int:
    runs = 1
    for column in columns:
        if _grows(table, column):
            break
        values = most_values(column)
        if values is None or runs * values > table.rows:
            return 0
        runs *= values
    return runs if runs > 1 else 0


def _grows(table: Table, column: Column) -> bool:
    """Whether new values of it are the highest so far, as far as anybody says."""
    arrival = _arrival(column)
    is_number_of_key = arrival == "as_primary_key" and table.primary_key == (column.name,)
    return arrival == "always" or (is_number_of_key and table.key_arrival != "random")


def _first_with_values(columns: list[Column]) -> Column:
    """The column by which keys lie: the first that is not NULL in every row."""
    return next((one for one in columns if not one.nullable or one.null_fraction < 1.0), columns[0])


def _arrival(column: Column) -> str:
    return COLUMN_TYPES[column.type].arrives_in_order
