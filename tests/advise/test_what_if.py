"""What more rows and node groups make of a plan, and what such a change is called."""

from __future__ import annotations

import pytest

from ndbplan.advise.what_if import more_rows, title_of, what_if
from ndbplan.base.errors import UserError
from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.file import dumps
from ndbplan.plan.samples import sample_plan


def test_rows_come_first_and_then_the_reorganisation() -> None:
    plan = sample_plan("add-nodes")
    before = dumps(plan)
    found = what_if(plan, 2.0, 1)
    assert found == Estimation(more_rows(plan, 2.0)).reorganise(1).plan_after
    assert [t.rows for t in found.tables] == [2 * t.rows for t in plan.tables]
    assert len(found.data_nodes) == len(plan.data_nodes) + 2
    assert dumps(plan) == before


def test_one_table_alone_grows_and_nothing_asked_changes_nothing() -> None:
    plan = sample_plan("starter")
    table = plan.tables[2]
    found = what_if(plan, 3.0, 0, table.id)
    assert found.table(table.id).rows == 3 * table.rows
    assert [t for t in found.tables if t is not found.table(table.id)] == [
        t for t in plan.tables if t is not table
    ]
    assert what_if(plan) is plan


def test_a_cluster_that_is_full_refuses_in_one_line() -> None:
    with pytest.raises(UserError, match="144 data nodes"):
        what_if(sample_plan("telecom-144"), 1.0, 1)


def test_counted_rows_keep_their_shares() -> None:
    plan = sample_plan("add-nodes")
    rows = tuple(range(100_000, 900_000, 100_000))
    plan = edits.update(plan, plan.tables[0].id, rows=sum(rows), partition_rows=rows)
    (now,) = Estimation(what_if(plan, 2.0)).distribution
    assert now.rows.tolist() == [2 * count for count in rows]


def test_titles() -> None:
    assert title_of(2.0, 1) == "2 times the rows, 1 more node group"
    assert title_of(1.5, 0, "shop.orders") == "1.5 times the rows of shop.orders"
    assert title_of(1.0, 2) == "2 more node groups"
