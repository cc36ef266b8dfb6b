"""Questions about all rows of a table that the plan only counts, as they were put to a running 8.4.8."""

from __future__ import annotations

import pytest

from ndbplan.base.kept import keeping
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

from .test_states_seen import plan_of


@pytest.fixture(scope="module")
def consoles() -> Consoles:
    with keeping():
        return Consoles(LiveCluster.begin(plan_of("8.4.8"), hours=0.1))


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("SELECT COUNT(*) FROM test.t1 WHERE k=5", "100"),
        ("SELECT MIN(id), MAX(id), AVG(k), SUM(k) FROM test.t1", "1 | 100000 | 499.5000 | 49950000"),
        ("SELECT id FROM test.t1 ORDER BY id DESC LIMIT 1", "100000"),
    ],
)
def test_a_hundred_thousand_rows_are_read(query: str, row: str, consoles: Consoles) -> None:
    lines = [line for line in consoles.answer(f"mysql> {query};").splitlines() if line.startswith("|")]
    assert " ".join(lines[1].strip("| ").split()) == row
