from __future__ import annotations

import pytest

from ndbplan.estimate.load.disk_data import reads_backup
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
