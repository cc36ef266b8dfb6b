"""Every estimated figure of every command bears a mark: how near it lies to runs that were measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ndbplan.cli.schemas import output_schema, output_schemas
from ndbplan.edits import parts as edits
from ndbplan.ndb.nearness import kinds
from ndbplan.plan.file import load, save

NO_FIGURE = {"diff", "calibrate"}
"""Commands with a mark though their figures are given, not estimated."""
STATED = {"cost"}
"""Commands whose numbers nobody estimates: they sum what a plan states."""
MARKS = {"measured", "between", "beyond"}
ASKED = {
    "estimate": ("estimate", "--months", "3"),
    "node restart": ("restart", "--kind", "node"),
    "rolling restart": ("restart", "--kind", "rolling"),
    "first start": ("restart", "--kind", "start"),
    "reorganise": ("reorg", "--add-groups", "1"),
    "backup": ("backup",),
    "procedure": ("procedure",),
    "survive": ("survive",),
    "max-load": ("max-load", "--for", "1min"),
    "remedies": ("remedies",),
    "simulate": ("simulate", "--for", "10s", "--runs", "3"),
    "distribute": ("distribute",),
    "what-matters": ("what-matters", "--aim", "restart"),
    "size": ("size",),
    "compare": ("compare", "AGAIN", "--no-simulation"),
    "diff": ("diff",),
    "calibrate": ("calibrate", "--restarted", "TIME", "-o", "OUT"),
}


def figures(shape: Any, mark: Any = None, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, mark) of every estimated figure: its own section's, or that of a section around it."""
    if isinstance(shape, dict):
        if {"value", "low", "high", "unit"} <= set(shape):
            yield path, mark
            return
        mark = shape.get("nearness", mark)
        for key, value in shape.items():
            yield from figures(value, mark, f"{path}.{key}")
    elif isinstance(shape, list):
        for value in shape:
            yield from figures(value, mark, f"{path}[]")


@pytest.mark.parametrize("name", ["starter", "add-nodes"])
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_no_figure_is_without_a_mark(
    call: Any, saved: Any, asked: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    command, *words = asked
    paths = {"OUT": tmp_path / "out.ndbplan", "AGAIN": saved("disk-data")}
    paths["TIME"] = {"starter": "14min"}.get(name, "6min")
    options = [paths.get(word, word) for word in words]
    shape = call(command, saved(name), *options, "--json").json(command)
    if command in NO_FIGURE:
        assert shape["nearness"]["mark"] in MARKS
        return
    found = list(figures(shape))
    assert found
    without = {path for path, mark in found if mark is None}
    assert not without
    for _, mark in found:
        assert mark["mark"] in MARKS
        assert (mark["distance"] > 0) == (mark["mark"] == "beyond")


def test_figures_that_rest_on_assumed_hardware_bear_marks(call: Any, saved: Any) -> None:
    path = saved("starter")
    plan = load(path)
    for disk in plan.hosts[0].disks:
        plan = edits.update(plan, disk.id, assumed=("capacity_bytes",))
    save(plan, path)
    marks = [
        moved["nearness"]["mark"]
        for one in call("tighten", path, "--json").json("tighten")["hardware"]
        for moved in one["figures"]
    ]
    assert marks
    assert set(marks) <= MARKS


def promises_a_figure(schema: Any, shapes: dict[str, Any], seen: frozenset[str] = frozenset()) -> bool:
    """Whether a published shape has an estimated figure in it."""
    if isinstance(schema, dict):
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        if name == "quantity":
            return True
        inside = name and name not in seen and promises_a_figure(shapes[name], shapes, seen | {name})
        return bool(inside) or any(promises_a_figure(one, shapes, seen) for one in schema.values())
    return isinstance(schema, list) and any(promises_a_figure(one, shapes, seen) for one in schema)


def test_every_command_that_promises_a_figure_is_asked() -> None:
    shapes = {name: one for name in output_schemas() for name, one in output_schema(name)["$defs"].items()}
    promise = {
        name for name in output_schemas() if promises_a_figure(output_schema(name) | {"$defs": {}}, shapes)
    }
    assert promise
    asked = {words[0] for words in ASKED.values()} | {"tighten"}
    assert promise - STATED - asked == set()


def test_a_range_as_wide_as_a_factor_of_6_names_what_to_measure(call: Any, saved: Any) -> None:
    path = saved("redo-overload-8.4")
    shape = call("estimate", path, "--json").json("estimate")
    told = {one["constant"]: one for one in shape["worth_measuring"]}
    of_connections = told["connection_operations_per_s"]
    assert of_connections["figure"] == "cpu.clients.nodes.connection_utilisation"
    assert of_connections["factor"] >= 6
    widths = [one["high"] / one["low"] for one in connections(shape)]
    assert max(widths) == pytest.approx(of_connections["factor"], abs=0.1)
    added = ("add", path, "calibration", "connection_operations_per_s", "value=120000", "source=sysbench")
    assert call(*added).code == 0
    after = call("estimate", path, "--json").json("estimate")
    assert "connection_operations_per_s" not in {one["constant"] for one in after["worth_measuring"]}
    halved = max(one["high"] / one["low"] for one in connections(after))
    assert halved < max(widths) ** 0.5 * 1.5


def connections(shape: Any) -> list[dict[str, float]]:
    return [node["connection_utilisation"] for node in shape["cpu"]["clients"]["nodes"]]


def test_the_walk_finds_a_figure_without_a_mark() -> None:
    figure = {"value": 1, "low": 1, "high": 2, "unit": "s"}
    beside = {"a": {"nearness": {"mark": "measured"}, "b": [figure]}, "c": figure}
    assert [path for path, mark in figures(beside) if mark is None] == [".c"]


def test_what_nobody_measured_is_beyond(call: Any, saved: Any) -> None:
    restore = call("backup", saved("starter"), "--json").json("backup")["restore"]["nearness"]
    assert restore["mark"] == "beyond"
    assert restore["nearest"] == []
    assert "restore" in kinds()
