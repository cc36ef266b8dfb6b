"""The log of a backup: what changes of rows write to it, worked out by hand from the product's source."""

from __future__ import annotations

import pytest

from ndbplan.estimate.load.backup_log import backup_log_bytes
from ndbplan.estimate.loaded import node_loads
from ndbplan.estimate.timed import backup
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload

VERSION = NdbVersion.parse("8.4.8")
INSERT, UPDATE, DELETE = OperationKind.INSERT, OperationKind.UPDATE, OperationKind.DELETE
TABLE = Table(
    id="t",
    database="d",
    name="t",
    columns=(
        Column(name="k", type="int", nullable=False),
        Column(name="a", type="int", nullable=False),
        Column(name="v", type="varbinary", length=2000, average_bytes=1000, nullable=False),
    ),
    primary_key=("k",),
    indexes=(Index(name="a", columns=("a",), kind="unique"),),
    rows=1_000_000,
)
HEAD, KEY = 16, 8


@pytest.mark.parametrize(
    ("kind", "columns", "size"),
    [
        (INSERT, (), HEAD + KEY + 8 + 4 * (1 + 251)),
        (UPDATE, ("a",), HEAD + KEY + 8),
        (UPDATE, (), HEAD + KEY + 8 + 4 * (1 + 251)),
        (DELETE, (), HEAD + KEY),
        (OperationKind.READ, (), 0),
        (OperationKind.SCAN, (), 0),
    ],
)
def test_a_change_logs_its_key_and_what_it_changes(
    kind: OperationKind, columns: tuple[str, ...], size: int
) -> None:
    assert backup_log_bytes(TABLE, kind, VERSION, columns) == size


def test_parts_of_blobs_are_rows_of_their_own() -> None:
    """5,120 bytes: 256 in the row behind a head of 16, then parts of 2,000, 2,000 and 864."""
    blob = TABLE.model_copy(
        update={
            "columns": (TABLE.columns[0], Column(name="b", type="blob", average_bytes=5120)),
            "indexes": (),
        }
    )
    parts = 3 * (HEAD + KEY + 4 * 4) + 2 * 4 * (1 + 501) + 4 * (1 + 217)
    assert backup_log_bytes(blob, INSERT, VERSION) == HEAD + KEY + 4 * (1 + 68) + parts
    assert backup_log_bytes(blob, DELETE, VERSION) == HEAD + KEY + 3 * (HEAD + KEY + 8)


@pytest.mark.parametrize(("kind", "columns"), [(INSERT, ()), (UPDATE, ("a",)), (DELETE, ())])
def test_the_log_of_a_backup_is_that_of_the_changes_while_it_lasts(
    kind: OperationKind, columns: tuple[str, ...]
) -> None:
    """An update of a number was logged as if it wrote the whole row of a kilobyte."""
    work = Transaction(name="t", operations=(Operation(table_id="t", kind=kind, columns=columns),))
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1000),))
    workload = Workload(id="w", name="w", transactions=(work,), load=load)
    plan = sample_plan("redo-overload-8.4").replace(tables=(TABLE,), workloads=(workload,))
    assert sum(one.backup_log_bytes_per_s for one in node_loads(plan, workload)) == pytest.approx(
        1000 * backup_log_bytes(TABLE, kind, VERSION, columns)
    )
    for node in backup(plan, workload).nodes:
        rate = node.log_bytes.value / node.duration_s.value
        assert rate == pytest.approx(500 * backup_log_bytes(TABLE, kind, VERSION, columns), rel=0.01)
