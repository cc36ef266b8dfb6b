"""remedies and fix on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.file import load, save


def test_remedies_say_what_helps_and_how_to_set_it(call: Any, saved: Callable[[str], Path]) -> None:
    path = saved("redo-overload")
    shape = call("remedies", path, "--workload", "blobs-5k", "--json").json("remedies")
    assert shape["remedies"][0]["title"] == "Add a node group"
    for remedy in shape["remedies"]:
        assert remedy["after_per_s"]["value"] > remedy["before_per_s"]["value"]
    text = call("remedies", path, "--workload", "blobs-5k").out
    assert "Add a node group" in text
    assert "ndbplan set PLAN" in text
    assert "workload" in call("remedies", path, "--workload", "none").refused()


def test_fix_does_every_fix_and_tells_each_value(call: Any, saved: Callable[[str], Path]) -> None:
    path = saved("terabyte-load")
    before = path.read_bytes()
    told = call("fix", path, "--dry-run", "--json").json("fix")
    assert told["fixed"]
    assert told["changes"]
    assert told["files"] == []
    assert path.read_bytes() == before
    done = call("fix", path, "--json").json("fix")
    assert done["fixed"] == told["fixed"]
    assert done["files"] == [str(path)]
    assert call("fix", path, "--json").json("fix")["fixed"] == []


def test_fixes_of_one_rule_only(call: Any, saved: Callable[[str], Path], tmp_path: Path) -> None:
    path = saved("starter")
    save(set_parameter(load(path), "data_node", "FooBar", 1), path)
    out = tmp_path / "mended.ndbplan"
    shape = call("fix", path, "--rule", "unknown-parameter", "-o", out, "--json").json("fix")
    assert {problem["rule"] for problem in shape["fixed"]} == {"unknown-parameter"}
    assert "FooBar" not in load(out).parameters.data_node
    assert "FooBar" in load(path).parameters.data_node
    assert "no rule" in call("fix", path, "--rule", "nonsense").refused()


def test_tighten_says_what_is_most_worth_measuring_and_how_to_state_it(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "new.ndbplan"
    call("new", "-o", path)
    for host in ("a1", "a2"):
        call("add", path, "host", host)
        call("add", path, "data", f"host={host}")
    call("add", path, "table", "shop.orders", "rows=20000000")
    call("add", path, "column", "doc", "table=shop.orders", "type=json")
    (first, *_) = call("tighten", path, "--json").json("tighten")["assumptions"]
    assert first["address"] == "tables[shop.orders].columns[doc].average_bytes"
    assert 0.5 < first["share"] < 1
    said = call("tighten", path).out
    assert "mean length of shop.orders.doc: 1\u2009000 is assumed" in said
    call("set", path, f"{first['address']}=200")
    assert "doc" not in call("tighten", path).out


def test_one_system_of_units_for_all_that_a_command_prints(call: Any, saved: Callable[[str], Path]) -> None:
    path = saved("starter")
    usual = call("estimate", path, "--only", "memory").out
    binary = call("--units", "binary", "estimate", path, "--only", "memory").out
    decimal = call("--units", "decimal", "estimate", path, "--only", "memory").out
    assert " GiB" in binary
    assert " GB" not in binary
    assert " GiB" not in decimal
    assert call("estimate", path, "--only", "memory").out == usual, "the next command is as usual again"
    assert "metric" in call("--units", "metric", "check", path).refused()


def test_commands_that_change_a_plan_or_rank_changes_tell_the_problems_that_are_settled_and_brought(
    call: Any, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    """As `check` finds them before and after; previews and `compare` told them, these did not."""
    path, other = saved("redo-overload-8.4"), tmp_path / "other.ndbplan"

    def found(plan: Path) -> set[tuple[str, str, str]]:
        rows = call("check", plan, "--json").json("check")["problems"]
        return {(row["rule"], row["severity"], row["where"]) for row in rows}

    def keys(rows: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
        return {(row["rule"], row["severity"], row["where"]) for row in rows}

    asked = ("what-matters", path, "--aim", "restart", "--top", "6")
    shape = call(*asked, "--json").json("what-matters")
    assert any(row["problems"]["settles"] for row in shape["changes"])
    before = found(path)
    tried = 0
    for row in shape["changes"]:
        if row["set"]:
            told = call("set", path, *row["set"], "-o", other, "--json").json("set")
            assert row["problems"] == {key: told[key] for key in ("settles", "brings")}
            after = found(other)
            assert keys(told["settles"]) <= before
            assert keys(told["brings"]) <= after
            assert bool(told["settles"] or told["brings"]) == (before != after)
            tried += 1
    assert tried > 1
    every = call(*asked[:4], "--top", "2", "--all", "--json").json("what-matters")["changes"]
    assert [row["problems"] is not None for row in every] == [place < 2 for place in range(len(every))]
    lines = call("set", path, "DataMemory=1M", "-o", other).out
    assert "brings 1 error: The tables do not fit into DataMemory" in lines
