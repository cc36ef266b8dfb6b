"""Questions about all rows of a table that the plan only counts, as they were put to a running 8.4.8."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.base.kept import keeping
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import finding

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


def test_a_change_reads_the_columns_that_it_asks_for(
    consoles: Consoles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long values that a condition does not name need not be copied for it."""
    read: list[tuple[str, ...]] = []
    relation_of = finding.relation_of

    def noted(*args: Any, **kinds: Any) -> Any:
        found = relation_of(*args, **kinds)
        read.append(tuple(one for one in found.columns if one != finding.ROW_NUMBER))
        return found

    monkeypatch.setattr(finding, "relation_of", noted)
    consoles = Consoles(consoles.cluster.branch())
    ask = "mysql> UPDATE test.t1 SET c='x', k=k+1 WHERE id BETWEEN 10 AND 19 ORDER BY pad LIMIT 5;"
    assert "Changed: 5" in consoles.answer(ask)
    assert read == [("id", "pad"), ("k",)]
    read.clear()
    inside = "(SELECT * FROM (SELECT MAX(id) FROM test.t1 WHERE id < 50) m)"
    assert "Changed: 1" in consoles.answer(f"mysql> UPDATE test.t1 SET pad='y' WHERE id = {inside};")
    assert "1 row affected" in consoles.answer("mysql> DELETE FROM test.t1 WHERE id = 20;")
    assert read[-1] == ("id",)
