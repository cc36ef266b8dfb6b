from __future__ import annotations

import pytest

from ndbplan.base.quantity import Quantity
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.disk_data import NodeDiskData, reads_backup, undo_use
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Table


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
    use = undo_use(constants, node, Quantity.exact(20.0, "s", ()), 120_000_000)
    kept = 1e6 * (2 * 20.0 + constants["lcp_pause_s"].value)
    assert use.needed_bytes.value == pytest.approx(kept * 3 / 2, rel=1e-3)
    assert use.fill == use.needed_bytes.value / 120_000_000
    assert undo_use(constants, node, Quantity.exact(20.0, "s", ()), 0).fill == float("inf")
