from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_loads import tables
from ndbplan.estimate.load.log_records import operation_redo, transaction_redo
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.plan.workloads import Operation, OperationKind, Transaction

VERSION = NdbVersion.parse("7.4.10")
INSERT, UPDATE, DELETE = OperationKind.INSERT, OperationKind.UPDATE, OperationKind.DELETE
KEY = Column(name="a", type="int", nullable=False)


def table(*columns: Column, **fields: object) -> Table:
    return Table(id="t", database="d", name="t", columns=(KEY, *columns), primary_key=("a",), **fields)


def redo(one: Table, kind: OperationKind, *columns: str) -> float:
    return operation_redo(one, kind, VERSION, columns).value


def test_each_record_has_17_words_beside_key_and_values() -> None:
    assert redo(table(), DELETE) == 4 * (8 + 1 + 9)
    assert redo(table(Column(name="b", type="int", nullable=False)), INSERT) == 4 * (17 + 1 + 2 + 2)


def test_an_update_logs_the_columns_it_changes() -> None:
    wide = table(Column(name="b", type="int"), Column(name="c", type="bigint"))
    assert redo(wide, UPDATE, "b") == 4 * (17 + 1 + 2)
    assert redo(wide, UPDATE) == 4 * (17 + 1 + 2 + 3)


def test_null_takes_one_word() -> None:
    filled = redo(table(Column(name="b", type="bigint", null_fraction=0.0)), INSERT)
    half = redo(table(Column(name="b", type="bigint", null_fraction=0.5)), INSERT)
    empty = redo(table(Column(name="b", type="bigint", null_fraction=1.0)), INSERT)
    assert filled - empty == 8
    assert half == (filled + empty) / 2


def test_a_table_without_key_logs_the_hidden_one() -> None:
    hidden = Table(id="t", database="d", name="t", columns=(Column(name="b", type="int"),))
    assert redo(hidden, DELETE) == 4 * (17 + 2)


def test_a_variable_value_counts_its_length_bytes() -> None:
    short = redo(table(Column(name="v", type="varbinary", length=200, average_bytes=3)), INSERT)
    long = redo(table(Column(name="v", type="varbinary", length=300, average_bytes=3)), INSERT)
    assert long - short == 4


def test_an_unknown_length_has_a_range() -> None:
    found = operation_redo(table(Column(name="v", type="varbinary", length=1000)), INSERT, VERSION)
    assert found.low < found.value < found.high


def test_deleting_a_blob_deletes_its_parts() -> None:
    big = table(Column(name="b", type="blob", average_bytes=5120))
    assert redo(big, DELETE) == 72 + 3 * 76


def test_unique_hash_indexes_log_like_unique_ones_and_ordered_ones_do_not() -> None:
    column = Column(name="u", type="int", nullable=False)
    plain = redo(table(column), INSERT)
    for kind, extra in (("ordered", 0), ("unique", 92), ("unique_hash", 92)):
        indexed = table(column, indexes=(Index(name="u", columns=("u",), kind=kind),))
        assert redo(indexed, INSERT) - plain == extra


def test_parts_of_a_blob_on_disk_are_filled_up() -> None:
    """Three parts of 2,000 bytes for 5,120: the last one has 864 of them, with two of length in memory."""
    here, there = (
        redo(table(Column(name="b", type="blob", average_bytes=5120, storage=place)), INSERT)
        for place in ("memory", "disk")
    )
    in_memory = 2 * 4 * 501 + 4 * 217
    assert there - here == 3 * 4 * 500 - in_memory


def test_an_entry_of_a_unique_index_has_two_bytes_of_length_where_its_key_has() -> None:
    def entry(key: Column) -> float:
        column = Column(name="u", type="int", nullable=False)
        plain = Table(id="t", database="d", name="t", columns=(key, column), primary_key=("a",))
        index = Index(name="u", columns=("u",), kind="unique")
        return redo(plain.model_copy(update={"indexes": (index,)}), INSERT) - redo(plain, INSERT)

    text = Column(name="a", type="varbinary", length=20, average_bytes=7, nullable=False)
    # Two words of key, and one for the length of them all.
    assert entry(text) - entry(KEY) == 4 * (2 - 1 + 1)


def test_blobs_before_7_0_have_all_their_room_in_the_row() -> None:
    old = NdbVersion.parse("6.3")
    short, long = (
        operation_redo(table(Column(name="b", type="blob", average_bytes=size)), INSERT, old).value
        for size in (10, 256)
    )
    assert short == long


def test_reads_and_tables_without_logging_write_nothing() -> None:
    assert redo(table(), OperationKind.READ) == 0
    assert redo(table(), OperationKind.SCAN) == 0
    assert redo(table(logging=False), INSERT) == 0


def test_a_column_the_table_has_not_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        redo(table(), UPDATE, "nope")


def test_a_transaction_adds_its_operations_up() -> None:
    one = table(Column(name="b", type="int", nullable=False))
    plan = EMPTY_PLAN.replace(tables=(one,), ndb_version="7.4.10")
    operations = (Operation(table_id="t", kind=INSERT, rows=10), Operation(table_id="t", kind=DELETE))
    found = transaction_redo(plan.tables, Transaction(name="x", operations=operations), plan.version)
    assert found.value == 10 * redo(one, INSERT) + redo(one, DELETE)
    assert len(found.why) == 2


@given(tables(), st.integers(1, 5000), st.integers(0, 5000))
def test_longer_blobs_never_log_less(drawn: Table, length: int, more: int) -> None:
    def with_blob(size: int) -> float:
        blob = Column(name="extra", type="blob", average_bytes=size)
        return redo(drawn.model_copy(update={"columns": (*drawn.columns, blob)}), INSERT)

    assert with_blob(length) <= with_blob(length + more)


@given(tables())
def test_the_derivation_adds_up(drawn: Table) -> None:
    for kind in (INSERT, UPDATE, DELETE):
        found = operation_redo(drawn, kind, VERSION)
        assert sum(term.value for term in found.why) == pytest.approx(found.value)
