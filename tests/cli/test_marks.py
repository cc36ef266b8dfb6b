"""Every estimated figure of every command bears a mark: how near it lies to runs that were measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ndbplan.ndb.nearness import kinds

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
def test_no_figure_is_without_a_mark(call: Any, saved: Any, asked: tuple[str, ...], name: str) -> None:
    command, *options = asked
    found = list(figures(call(command, saved(name), *options, "--json").json(command)))
    assert found
    without = {path for path, mark in found if mark is None}
    assert not without
    for _, mark in found:
        assert mark["mark"] in MARKS
        assert (mark["distance"] > 0) == (mark["mark"] == "beyond")


def test_the_walk_finds_a_figure_without_a_mark() -> None:
    figure = {"value": 1, "low": 1, "high": 2, "unit": "s"}
    beside = {"a": {"nearness": {"mark": "measured"}, "b": [figure]}, "c": figure}
    assert [path for path, mark in figures(beside) if mark is None] == [".c"]


def test_what_nobody_measured_is_beyond(call: Any, saved: Any) -> None:
    restore = call("backup", saved("starter"), "--json").json("backup")["restore"]["nearness"]
    assert restore["mark"] == "beyond"
    assert restore["nearest"] == []
    assert "restore" in kinds()
