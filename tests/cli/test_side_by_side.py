"""compare: variants of a file, or several files, side by side in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ndbplan.edits import parts as edits
from ndbplan.edits.variants import added
from ndbplan.plan.file import save
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")
QUICK = ("--figures", "memory,restart,hosts,cost")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with Main and two variants, one of which has a comma in its name."""
    project = Project.of(STARTER)
    project = added(project, "More cores", 0, edits.update(STARTER, "host-a1", cores=48))
    project = added(project, "Less memory, later", 0, edits.update(STARTER, "host-a1", memory_bytes=2**37))
    save(project, tmp_path / "a.ndbplan")
    return tmp_path / "a.ndbplan"


def test_variants_stand_side_by_side(call: Any, path: Path) -> None:
    shape = call("compare", path, *QUICK, "--json").json("compare")
    assert shape["columns"] == ["Main", "More cores", "Less memory, later"]
    assert [(one["where"], one["values"]) for one in shape["differences"]] == [
        ("cores of host host-a1", [32, 48, 32]),
        ("memory_bytes of host host-a1", [STARTER.host("host-a1").memory_bytes] * 2 + [2**37]),
    ]
    figures = {one["figure"]: one for one in shape["figures"]}
    assert list(figures) == ["memory", "restart", "hosts", "cost"]
    assert figures["hosts"]["values"] == [5, 5, 5]
    assert figures["hosts"]["judged"] == [None, None, None]
    assert figures["memory"]["values"][0].keys() == {"value", "low", "high", "unit"}
    assert figures["memory"]["judged"] == [None, "within the uncertainty", "within the uncertainty"]
    assert figures["cost"]["values"] == [None, None, None]
    told = call("compare", path, *QUICK).out
    assert "Cores of host host-a1: 32 | 48 | 32" in told
    assert "not stated" in told
    assert "More cores: better in 0 figures" in told


def test_what_a_variant_settles_and_brings_is_told(call: Any, tmp_path: Path) -> None:
    small = edits.update(STARTER, "host-a1", memory_bytes=2**32)
    save(added(Project.of(STARTER), "Small", 0, small), tmp_path / "a.ndbplan")
    save(added(Project.of(small), "Back", 0, STARTER), tmp_path / "b.ndbplan")
    asked = ("--figures", "errors", "--json")
    (there,) = call("compare", tmp_path / "a.ndbplan", *asked).json("compare")["problems"]
    (back,) = call("compare", tmp_path / "b.ndbplan", *asked).json("compare")["problems"]
    assert (there["settles"], there["brings"]) == (back["brings"], back["settles"])
    assert "memory-of-host" in [one["rule"] for one in there["brings"]]
    told = call("compare", tmp_path / "b.ndbplan", "--figures", "errors").out
    assert "Back: settles 1 error" in told
    assert call("compare", tmp_path / "b.ndbplan", *QUICK, "--json").json("compare")["problems"] == []


def test_some_variants_in_the_order_asked_for(call: Any, path: Path) -> None:
    asked = ("--variants", "Less memory, later,Main", *QUICK, "--json")
    shape = call("compare", path, *asked).json("compare")
    assert shape["columns"] == ["Less memory, later", "Main"]


def test_files_stand_side_by_side_by_their_names(call: Any, path: Path, saved: Any) -> None:
    other = saved("redo-overload")
    shape = call("compare", path, other, *QUICK, "--json").json("compare")
    assert shape["columns"] == ["a", other.stem]
    assert {one["kind"] for one in shape["differences"]} >= {"parts", "parameters"}


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["--variants", "Main"], "there is only one plan"),
        (["--variants", "Main,More cors"], "did you mean More cores?"),
        (["--figures", "memry"], "did you mean memory"),
        (["--workload", "none"], "no workload 'none'"),
        (["--no-simulation", "--figures", "max-load,latency"], "no figure is left"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    call: Any, path: Path, asked: list[str], says: str
) -> None:
    assert says in call("compare", path, *asked).refused()


def test_five_plans_are_too_many(call: Any, path: Path) -> None:
    assert "side by side stand 2 to 4" in call("compare", *[path] * 5).refused()
