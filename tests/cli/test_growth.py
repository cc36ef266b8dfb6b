"""`estimate --months`: memory of growing tables, and when it runs out."""

from __future__ import annotations

from typing import Any

from ndbplan.plan.edits import update
from ndbplan.plan.samples import sample_plan


def test_memory_grows_month_by_month(call: Any, saved: Any) -> None:
    plan = sample_plan("starter")
    path = saved(update(plan, plan.tables[0].id, growth_rows_per_month=2_000_000))
    shape = call("estimate", path, "--only", "memory", "--months", "24", "--json").json("estimate")
    months = shape["growth"]["months"]
    fills = [entry["nodes"][0]["fill"] for entry in months]
    assert [entry["month"] for entry in months][:3] == [0, 2, 4]
    assert fills == sorted(fills)
    assert fills[0] < fills[-1]
    left = shape["growth"]["months_until_full"]
    assert left["low"] <= left["value"] <= left["high"]
    now = call("estimate", path, "--only", "memory", "--json").json("estimate")["memory"]
    assert shape["memory"]["tables"][0]["rows"] == now["tables"][0]["rows"] + 48_000_000


def test_months_are_numbers(call: Any, saved: Any) -> None:
    assert "--months" in call("estimate", saved("starter"), "--months", "soon").refused()
