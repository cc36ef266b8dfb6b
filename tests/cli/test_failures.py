"""`ndbplan survive`: every failure, and courses of failures as recorded on real clusters."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from failing_plans import plan_of_course, small
from ndbplan.configuration.failing_parts import parts
from ndbplan.plan.file import save
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.samples import sample_plan

if TYPE_CHECKING:
    from conftest import Call

COURSES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "reality" / "survival.json").read_text()
)["courses"]


def saved(plan: Plan, folder: Path) -> Path:
    save(plan, folder / "it.ndbplan")
    return folder / "it.ndbplan"


def arguments(row: dict[str, Any]) -> list[str]:
    """A recorded course as options: a cut as the dead links between hosts of its sides."""
    found: list[str] = []
    for number, step in enumerate(row["steps"]):
        texts = [f"node:{node_id}" for node_id in step.get("dead", ())]
        sides = step.get("cut") or []
        for one, other in combinations(sides, 2):
            texts += [f"link:h{a}/h{b}" for a in one for b in other]
        found += ["--then" if number else "--dead", ",".join(texts)]
    return found


@pytest.mark.parametrize(
    "row",
    [row for row in COURSES if all("back" not in step for step in row["steps"])],
    ids=lambda row: f"{row['version']} {row['name']}",
)
def test_recorded_courses(row: dict[str, Any], call: Call, tmp_path: Path) -> None:
    shape = call("survive", saved(plan_of_course(row), tmp_path), *arguments(row), "--json").json("survive")
    assert len(shape["steps"]) == len(row["steps"])
    for step, found in zip(row["steps"], shape["steps"], strict=True):
        up = {node_id for side in found["sides"] for node_id in side["up"]}
        assert up == set(step["up"])
        if row.get("arbitration") != "WaitExternal":
            assert step["asked"] == any(side["asked"] is not None for side in found["sides"])


def test_single_failures(call: Call, tmp_path: Path) -> None:
    plan = small()
    shape = call("survive", saved(plan, tmp_path), "--json").json("survive")
    assert [failure["dead"] for failure in shape["failures"]] == [[str(part)] for part in parts(plan)]
    verdicts = {failure["dead"][0]: failure["verdict"] for failure in shape["failures"]}
    assert verdicts["rack:Rack A"] == "asks the arbitrator"
    assert verdicts["node:1"] == "goes on"
    assert verdicts["host:c1.example"] == "goes on"
    assert ["node:1", "node:2"] in shape["smallest_killers"]
    assert all(len(killer) == 2 for killer in shape["smallest_killers"])
    assert all(failure["load_left_per_s"] is None for failure in shape["failures"])  # no workload


def test_all_pairs(call: Call, tmp_path: Path) -> None:
    plan = small()
    shape = call("survive", saved(plan, tmp_path), "--depth", 2, "--json").json("survive")
    count = len(parts(plan))
    assert len(shape["failures"]) == count + count * (count - 1) // 2
    assert shape["left_out_pairs"] == 0
    stops = {frozenset(f["dead"]) for f in shape["failures"] if f["verdict"] == "stops"}
    assert stops == {frozenset(killer) for killer in shape["smallest_killers"]}


def test_what_is_left_and_how_long(call: Call, tmp_path: Path) -> None:
    plan = sample_plan("starter")
    shape = call("survive", saved(plan, tmp_path), "--json", "--why").json("survive")
    found = {failure["dead"][0]: failure for failure in shape["failures"]}
    node, disk = found["node:1"], found["disk:host-a1/nvme0"]
    whole, sql = (found[name]["load_left_per_s"]["value"] for name in ("node:145", "node:147"))
    assert node["load_left_per_s"]["value"] <= whole
    assert sql == pytest.approx(whole / 2)  # its SQL nodes are what limits it, and one of two is left
    assert node["load_left_per_s"]["why"]
    assert node["carries_peak"] is True
    assert (
        disk["whole_again_s"]["value"] > node["whole_again_s"]["value"]
    )  # a new disk is filled from its mate
    assert found["node:145"]["whole_again_s"]["value"] == 0
    for failure in shape["failures"]:
        if failure["verdict"] == "stops":
            assert failure["load_left_per_s"]["value"] == 0


def test_tables(call: Call, tmp_path: Path) -> None:
    path = saved(sample_plan("starter"), tmp_path)
    lines = call("survive", path).out
    assert "FAILURES" in lines
    assert "the arbitrator elected at rest" in lines
    course = call("survive", path, "--dead", "node:1", "--then", "node:2").out
    assert "1. node:1 dead" in course
    assert "2. node:2 dead" in course
    assert "no data node is left" in course


def test_a_cut_stands_where_it_is_given(call: Call, tmp_path: Path) -> None:
    path = saved(small(), tmp_path)
    steps = call("survive", path, "--dead", "node:1", "--then", "nothing", "--cut", "node:4", "--json").json(
        "survive"
    )["steps"]
    assert [(step["dead"], step["cut"]) for step in steps] == [(["node:1"], []), ([], ["node:4"])]
    assert steps[1]["sides"][0]["up"] == [2, 3]
    at_once = call("survive", path, "--dead", "node:1", "--cut", "node:4", "--json").json("survive")["steps"]
    assert [(step["dead"], step["cut"]) for step in at_once] == [(["node:1"], ["node:4"])]
    only = call("survive", path, "--cut", "rack:Rack A", "--json").json("survive")["steps"]
    assert [side["up"] for side in only[0]["sides"]] == [[], [2, 4]]
    three = call("survive", path, "--cut", "node:1,node:3", "--cut", "node:2,node:4", "--json")
    assert [side["up"] for side in three.json("survive")["steps"][0]["sides"]] == [[], []]


def test_after_it_has_stopped_nothing_lives(call: Call, tmp_path: Path) -> None:
    path = saved(small(), tmp_path)
    steps = call("survive", path, "--dead", "node:1,node:2", "--then", "node:3", "--json").json("survive")[
        "steps"
    ]
    assert [side["verdict"] for side in steps[1]["sides"]] == ["stops"]
    assert steps[1]["sides"][0]["up"] == []


def test_two_living_halves_are_said(call: Call, tmp_path: Path) -> None:
    plan = small(parameters=ClusterParameters(data_node={"Arbitration": "Disabled"}))
    shape = call("survive", saved(plan, tmp_path), "--json").json("survive")
    cut = next(failure for failure in shape["failures"] if failure["dead"] == ["switch:Rack A"])
    assert "split brain" in cut["why"]
    steps = call("survive", saved(plan, tmp_path), "--dead", "switch:Rack A", "--then", "node:1", "--json")
    sides = steps.json("survive")["steps"][1]["sides"]
    assert len(sides) == 2  # both clusters are judged


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("--dead", "node:99"), "--dead: the plan has no node '99' — it has 1, 2, 3, 4, 51, 60, 70"),
        (
            ("--then", "rack:Q"),
            "--then: the plan has no rack or location 'Q' — it has Rack A, Rack B, Rack C",
        ),
        (("--cut", "42"), "--cut: '42' does not name a part — write node:4"),
        (("--depth", "3"), "'3' is not a whole number from 1 to 2"),
    ],
)
def test_what_is_refused(texts: tuple[str, ...], said: str, call: Call, tmp_path: Path) -> None:
    assert said in call("survive", saved(small(), tmp_path), *texts).refused()


def test_a_plan_without_data_nodes(call: Call, tmp_path: Path) -> None:
    assert "no data nodes" in call("survive", saved(Plan(), tmp_path)).refused()
