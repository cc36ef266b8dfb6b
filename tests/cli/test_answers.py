"""Commands that answer questions about a plan: published shapes, readable tables, refusals in one line."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.plan.edits import remove
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_names, sample_plan

# distribute


@pytest.mark.parametrize("name", sample_names())
def test_distribute_gives_every_row_a_partition(call: Any, saved: Any, name: str) -> None:
    plan = sample_plan(name)
    tables = call("distribute", saved(name), "--json").json("distribute")["tables"]
    assert [table["table"] for table in tables] == [table.full_name for table in plan.tables]
    for shown, table in zip(tables, plan.tables, strict=True):
        copies = len(plan.data_nodes) // 2 if table.fully_replicated else 1
        assert sum(p["rows"] for p in shown["partitions"]) == table.rows * copies
        assert all(p["primary"] in p["nodes"] for p in shown["partitions"])


def test_distribute_shows_the_counted_rows_of_the_published_table(call: Any, saved: Any) -> None:
    table = call("distribute", saved("add-nodes"), "--json").json("distribute")["tables"][0]
    assert [p["rows"] for p in table["partitions"]] == list(sample_plan("add-nodes").tables[0].partition_rows)
    assert table["partitions"][0]["fixed_bytes"] == 16_613_376
    assert table["hash_map"] == {"name": "DEFAULT-HASHMAP-240-8", "buckets": 240}


def test_distribute_of_one_table(call: Any, saved: Any) -> None:
    path = saved("starter")
    done = call("distribute", path, "--table", "shop.orders", "--json").json("distribute")
    assert [table["table"] for table in done["tables"]] == ["shop.orders"]
    assert "shop.orders" in call("distribute", path, "--table", "orders.shop").refused()


def test_a_table_for_people_is_aligned(call: Any, saved: Any) -> None:
    lines = call("distribute", saved("add-nodes")).out.splitlines()
    start = next(i for i, line in enumerate(lines) if "partition  node group" in line)
    assert len({len(line) for line in lines[start : start + 9]}) == 1


@pytest.mark.parametrize(
    "plan",
    [EMPTY_PLAN, remove(sample_plan("starter"), ["ndb1", "ndb2"])],
    ids=["empty", "without data nodes"],
)
def test_a_plan_without_data_nodes_distributes_nothing(call: Any, saved: Any, plan: Any) -> None:
    assert "data nodes" in call("distribute", saved(plan)).refused(code=1)
