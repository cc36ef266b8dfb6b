from __future__ import annotations

import math
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.quantity import Quantity
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.disk_data import NodeDiskData, reads_backup, undo_use
from ndbplan.estimate.load.row_operations import disk_reads, pages_of_rows
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import Operation, OperationKind


@pytest.mark.parametrize(
    ("version", "fields", "expected"),
    [
        ("7.6.8", {}, False),
        ("7.6.8", {"fully_replicated": True}, True),
        ("7.6.8", {"read_backup": True}, True),
        ("8.4", {}, True),
        ("8.4", {"read_backup": False}, False),
    ],
)
def test_who_answers_committed_reads(version: str, fields: dict[str, bool], expected: bool) -> None:
    table = Table(id="t", database="d", name="t", columns=(Column(name="a", type="int"),), **fields)
    assert reads_backup(table, NdbVersion.parse(version)) is expected


def test_a_third_of_the_undo_log_stays_free_and_it_reaches_back_over_two_checkpoints() -> None:
    """Writes are refused with error 1501 when less than a third is free (NDB 7.4.10, Lgman)."""
    constants = Constants()
    rate = Quantity.exact(1e6, "bytes/s", ())
    nothing = Quantity.exact(0.0, "1/s", ())
    node = NodeDiskData(1, *[nothing] * 5, rate, 0.0, 0.0, 0.0, 0.0)
    use = undo_use(constants, node, Quantity.exact(20.0, "s", ()), 0.0, 120_000_000)
    kept = 1e6 * (2 * 20.0 + constants["lcp_pause_s"].value)
    assert use.needed_bytes.value == pytest.approx(kept * 3 / 2, rel=1e-3)
    assert use.fill == use.needed_bytes.value / 120_000_000
    assert undo_use(constants, node, Quantity.exact(20.0, "s", ()), 0.0, 0).fill == float("inf")
    waits = undo_use(constants, node, Quantity.exact(20.0, "s", ()), 50.0, 120_000_000)
    assert waits.needed_bytes.value - use.needed_bytes.value == pytest.approx(50e6 * 3 / 2, rel=1e-3)


VERSION = NdbVersion.parse("8.4")


def on_disk(rows: int, memory: Literal["memory", "disk"] = "memory") -> Table:
    """Rows of 4 KB, seven on a page."""
    columns = (
        Column(name="id", type="int", nullable=False),
        Column(name="state", type="int", storage=memory),
        Column(name="data", type="varbinary", length=4096, storage="disk"),
        Column(name="text", type="blob", storage="disk", average_bytes=5000.0),
    )
    return Table(id="t", database="d", name="t", columns=columns, primary_key=("id",), rows=rows)


def asked(table: Table, kind: str, rows: float, *columns: str) -> float:
    operation = Operation(table_id="t", kind=OperationKind(kind), rows=rows, columns=columns)
    return disk_reads(table, operation, VERSION)


@given(st.floats(1, 1e6), st.floats(1, 1e6), st.floats(1, 1e7))
def test_a_scan_asks_for_no_more_pages_than_rows_or_pages_and_for_more_the_more_rows(
    fewer: float, more: float, pages: float
) -> None:
    fewer, more = sorted((fewer, more))
    found = pages_of_rows(fewer, pages)
    assert 1 - 1e-9 <= found <= min(fewer, max(1.0, pages)) * (1 + 1e-9)
    assert found <= pages_of_rows(more, pages) * (1 + 1e-9)


def test_what_is_read_or_scanned_of_a_table_on_disk_is_fetched_from_there() -> None:
    table = on_disk(700_000)
    assert asked(table, "read", 3, "data") == asked(table, "scan", 1, "data") * 3 == 3
    assert asked(table, "scan", 100, "data") == pytest.approx(100, rel=0.001), "rows far apart"
    assert asked(table, "scan", 700_000, "data") == pytest.approx(100_000, rel=0.001), "each page once"
    assert asked(table, "read", 1, "state") == asked(table, "scan", 1000, "state") == 0, "it is in memory"
    parts = math.ceil((5000 - 256) / 2000)
    assert asked(table, "scan", 10, "text") == pytest.approx(10 * (1 + parts), rel=0.001), "its head too"
    assert asked(table, "read", 1) == 1 + parts
    assert asked(table, "insert", 1) == asked(table, "update", 1) == asked(table, "delete", 1) == 0
    assert asked(on_disk(700_000, "disk"), "read", 1, "state") == 1


def test_a_scan_of_few_rows_costs_the_disk_what_reads_of_them_do() -> None:
    plan = set_parameter(sample_plan("disk-data-8.4"), "data_node", "DiskPageBufferMemory", 64 * 2**20)
    first = plan.workloads[0]

    def reads(kind: OperationKind) -> float:
        kinds = tuple(
            t.model_copy(
                update={"operations": tuple(o.model_copy(update={"kind": kind}) for o in t.operations)}
            )
            for t in first.transactions
        )
        asking = update(plan, first.id, transactions=kinds)
        nodes = Estimation(asking, asking.workloads[0]).disk_data.nodes
        return sum(node.random_reads_per_s.value for node in nodes)

    assert reads(OperationKind.READ) > 1
    assert reads(OperationKind.SCAN) == pytest.approx(reads(OperationKind.READ), rel=0.001)


def test_an_update_changes_the_blobs_that_it_names_alone() -> None:
    plan = sample_plan("disk-data-8.4")
    first, table = plan.workloads[0], plan.tables[0]
    blobs = tuple(
        Column(name=name, type="blob", storage="disk", average_bytes=20_000.0) for name in ("scan", "photo")
    )
    plan = update(plan, table.id, columns=(*table.columns, *blobs))
    old = next(c.name for c in table.columns if c.storage == "disk")

    def changed(*columns: str) -> tuple[float, float]:
        one = Operation(table_id=table.id, kind=OperationKind.UPDATE, columns=columns)
        mix = first.transactions[0].model_copy(update={"operations": (one,)})
        asking = update(plan, first.id, transactions=(mix,))
        nodes = Estimation(asking, asking.workloads[0]).disk_data.nodes
        return sum(n.random_writes_per_s.value for n in nodes), sum(n.undo_bytes_per_s.value for n in nodes)

    parts = math.ceil((20_000 - 256) / 2000)
    (row, log), (photo, more), (every, most) = changed(old), changed("photo"), changed()
    assert photo == pytest.approx(row * (1 + parts))
    assert every == pytest.approx(row * (1 + 2 * parts))
    assert log < more < most
    assert most - more == pytest.approx(more - log)
