"""Bytes of a row in a backup."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.estimate.storage.row_cost import stored_costs
from ndbplan.estimate.storage.rows import row_layout
from ndbplan.estimate.storage.saved_rows import saved_bytes
from ndbplan.estimate.timed import backup
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index, Table

VERSION = NdbVersion.parse("8.4.8")
KEY = Column(name="k", type="bigint", nullable=False)
HEAD = 12


def _table(*columns: Column, **more: Any) -> Table:
    return Table(
        id="t", database="d", name="t", columns=(KEY, *columns), primary_key=("k",), rows=100_000, **more
    )


def _saved(*columns: Column) -> float:
    return saved_bytes(row_layout(_table(*columns), VERSION).columns)


def _column(type_name: str, **more: Any) -> Column:
    return Column(name=f"c{len(more)}{type_name}", type=type_name, **{"nullable": False} | more)


def test_a_row_of_a_running_cluster_takes_what_it_counted() -> None:
    """52 400 496 bytes of 100,003 records, 8 + 500 bytes each; the length of a record is not counted."""
    row = _saved(_column("varbinary", length=1000, average_bytes=500))
    assert row + HEAD - 4 == 524


@pytest.mark.parametrize(
    ("columns", "size"),
    [
        # A word of bits and the key.
        ((), 4 + 8),
        # Small numbers, dates and text lie one behind the other.
        ([_column("tinyint")] * 20, 4 + 8 + 20),
        ((_column("date"), _column("char", length=5, collation="latin1_bin")), 4 + 8 + 8),
        ((_column("decimal", length=10, scale=2), _column("datetime")), 4 + 8 + 12),
        # Numbers of four bytes begin at a whole word.
        ((_column("tinyint"), _column("int"), _column("tinyint")), 4 + 8 + 4 + 4 + 4),
        # A value that is NULL takes nothing, whatever it takes in memory.
        ((_column("char", length=100, collation="latin1_bin", nullable=True, null_fraction=1.0),), 4 + 8),
        ((_column("int", nullable=True, null_fraction=0.5),), 4 + 8 + 2),
        # Two bits of each column that may be NULL: 33 of 17 columns need a second word.
        ([_column("tinyint", nullable=True)] * 16, 8 + 8 + 16),
        ([_column("tinyint")] * 16, 4 + 8 + 16),
        # Values of three bytes in half the rows, one more in the others: filled up to a word.
        ((_column("varbinary", length=20, average_bytes=2.5),), 4 + 8 + 4),
    ],
)
def test_values_are_packed(columns: Any, size: int) -> None:
    named = [column.model_copy(update={"name": f"c{at}"}) for at, column in enumerate(columns)]
    assert _saved(*named) == pytest.approx(size)


def test_entries_of_unique_indexes_are_not_saved() -> None:
    """A cluster with 100,000 rows and as many entries of a unique index wrote 107,097 records in all."""
    number = _column("int").model_copy(update={"name": "n"})
    plain = _table(number)
    unique = _table(number, indexes=(Index(name="n", columns=("n",), kind="unique"),))
    _, hidden = stored_costs(unique, VERSION)
    assert hidden.rows == 1
    assert hidden.saved_rows == hidden.saved_bytes == 0
    plan = sample_plan("redo-overload-8.4")
    sizes = [
        sum(n.written_bytes.value for n in backup(plan.replace(tables=(t,))).nodes) for t in (plain, unique)
    ]
    assert sizes[0] == sizes[1] == pytest.approx(plain.rows * (HEAD + 4 + 8 + 4))
