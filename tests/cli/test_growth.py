"""`estimate --months`: memory of growing tables, and when it runs out."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.cli.schemas import output_schema
from ndbplan.edits.parts import update
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


def test_the_files_of_all_roles_add_up_to_what_lies_on_each_disk(call: Any, saved: Any) -> None:
    shape = call("estimate", saved("disk-data"), "--only", "disk_space", "--json").json("estimate")
    space = shape["disk_space"]
    assert [(disk["host"], disk["disk"]) for disk in space["disks"]] == [
        (f"node{i}", "sda") for i in range(1, 5)
    ]
    for disk in space["disks"]:
        here = [one["bytes"]["value"] for one in space["files"] if one["host"] == disk["host"]]
        # JSON prints twelve digits of each.
        assert disk["used_bytes"]["value"] == pytest.approx(sum(here), rel=1e-11)
        assert disk["free_bytes"] == pytest.approx(disk["capacity_bytes"] - sum(here), rel=1e-11)
    assert {one["role"] for one in space["files"]} == {"redo", "lcp", "undo", "data_files", "backup"}


def test_the_month_in_which_a_disk_is_full(call: Any, saved: Any) -> None:
    plan = sample_plan("starter")
    plan = update(plan, plan.tables[0].id, growth_rows_per_month=10**9)
    shape = call("estimate", saved(plan), "--only", "disk_space", "--months", "12", "--json").json("estimate")
    months = {(one["host"], one["disk"]): one["months_until_full"] for one in shape["growth"]["disks"]}
    assert months["host-a1", "nvme0"] is None, "redo log only"
    left = months["host-a1", "nvme1"]
    assert left["low"] <= left["value"] <= left["high"]
    fills = [month["disks"] for month in shape["growth"]["months"]]
    full = [
        any(disk["fill"] > 1 for disk in disks if (disk["host"], disk["disk"]) == ("host-a1", "nvme1"))
        for disks in fills
    ]
    assert full == [month["month"] >= left["value"] for month in shape["growth"]["months"]]


def test_the_shape_of_growth_is_published(call: Any, saved: Any) -> None:
    assert "growth" in output_schema("estimate")["properties"]
    plan = sample_plan("disk-data")
    grown = update(plan, plan.tables[0].id, growth_rows_per_month=100_000)
    for asked in (plan, grown):
        shape = call("estimate", saved(asked), "--only", "disk_space", "--months", "2", "--why", "--json")
        growth = shape.json("estimate")["growth"]
        assert [one["tablespace"] for one in growth["tablespaces"]] == (["ts_1"] if asked is grown else [])
