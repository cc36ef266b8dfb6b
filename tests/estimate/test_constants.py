from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import ndbplan
from ndbplan.estimate.constants import Constants, constant_for, term_of
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.estimate.times.restart import KINDS
from ndbplan.ndb.constants import all_constants, constant
from ndbplan.plan.file import load
from ndbplan.plan.plan import EMPTY_PLAN, Calibration, Plan
from ndbplan.plan.samples import sample_plan

PACKAGE = Path(ndbplan.__file__).parent
GOLDEN = Path(__file__).parents[1] / "golden/plans"


def test_without_calibration_the_engines_constant_counts() -> None:
    assert constant_for(EMPTY_PLAN, "memory_touch_bytes_per_s") is constant("memory_touch_bytes_per_s")


def test_a_calibration_replaces_value_range_and_source() -> None:
    own = Calibration(constant="memory_touch_bytes_per_s", value=5e9, low=4e9, high=6e9, source="our nodes")
    found = constant_for(EMPTY_PLAN.replace(calibrations=(own,)), "memory_touch_bytes_per_s")
    assert (found.value, found.low, found.high) == (5e9, 4e9, 6e9)
    assert found.evidence == "calibration"
    assert "our nodes" in term_of(found).source


def test_a_calibration_without_a_range_is_right_within_ten_percent() -> None:
    own = Calibration(constant="memory_touch_bytes_per_s", value=5e9, source="x")
    found = constant_for(EMPTY_PLAN.replace(calibrations=(own,)), "memory_touch_bytes_per_s")
    assert found.low == pytest.approx(5e9 / 1.1)
    assert found.high == pytest.approx(5e9 * 1.1)


def test_the_last_calibration_counts_and_its_range_holds_its_value() -> None:
    first = Calibration(constant="memory_touch_bytes_per_s", value=5e9, source="x")
    last = Calibration(constant="memory_touch_bytes_per_s", value=7e9, low=8e9, source="y")
    found = constant_for(EMPTY_PLAN.replace(calibrations=(first, last)), "memory_touch_bytes_per_s")
    assert found.low <= found.value == 7e9 <= found.high


def test_a_drawn_world_has_every_constant_in_its_range_four_times_of_five_and_certain() -> None:
    own = Calibration(constant="memory_touch_bytes_per_s", value=5e9, low=4e9, high=6e9, source="our nodes")
    constants = Constants((own,))
    first, second = (constants.drawn(np.random.default_rng(seed)) for seed in (1, 2))
    moved = inside = 0
    for name, known in all_constants().items():
        one, drawn = constants[name], first[name]
        inside += one.low < one.high and one.low <= drawn.value <= one.high
        assert drawn.low == drawn.value == drawn.high or one.low == one.high
        assert drawn.unit == one.unit
        # Counts, shares of nearly all and what is never less than it is may be drawn alike twice.
        assert one.low < one.high or drawn.value == known.value
        moved += one.low != one.high
    assert moved > 100
    assert 0.72 * moved < inside < 0.92 * moved
    assert first["memory_touch_bytes_per_s"] != second["memory_touch_bytes_per_s"]
    again = constants.drawn(np.random.default_rng(1))
    assert [c.value for c in again.calibrations] == [c.value for c in first.calibrations]


def answers(plan: Plan, constants: Constants | None = None, why: bool = False) -> str:
    """Every number of every estimate of a plan under its first workload."""
    now = Estimation(plan, chosen_workload(plan), constants=constants)
    shapes = [
        now.to_json(why),
        *(now.restart(kind).to_json(why) for kind in KINDS),
        now.reorganise().to_json(why),
        now.backup().to_json(why),
        now.restore().to_json(why),
        now.create_files().to_json(why),
    ]
    return json.dumps(shapes)


def test_whatever_a_derivation_names_counts() -> None:
    """A factor that is named but read past the plan would stay as it is when it is calibrated or drawn."""
    named: set[str] = set()
    counted: set[str] = set()
    plans = [sample_plan(name) for name in ("add-nodes", "redo-overload-8.4", "disk-data-8.4")]
    plans += [load(GOLDEN / f"{name}.ndbplan") for name in ("four-replicas-8.4", "three-replicas-7.4")]
    for plan in plans:
        known, was = Constants(plan.calibrations), answers(plan)
        named |= {*re.findall(r" \[(\w+)\]\"", answers(plan, why=True))} & all_constants().keys()
        for name in named - counted:
            # A hundredth, or a hundred times, shows where another limit decides at the moment.
            values = (known[name].value * factor or 0.5 for factor in (1.07, 0.01, 100.0))
            others = (Calibration(constant=name, value=value, source="test") for value in values)
            if any(answers(plan, Constants((*plan.calibrations, other))) != was for other in others):
                counted.add(name)
    assert len(named) > 50
    assert named - counted == set()


def test_formulas_read_constants_of_the_plan_except_what_is_certain() -> None:
    """`ndb.constants` knows no calibrations: it is for facts without a range."""
    past = set()
    for room in ("estimate", "simulate", "operations", "advise", "checks", "exporting"):
        for path in (PACKAGE / room).rglob("*.py"):
            code = path.read_text("utf-8")
            if re.search(r"from ndbplan\.ndb\.constants import .*\bconstant\b", code):
                past |= set(re.findall(r"(?<![\w.])constant\(\"(\w+)\"\)", code))
    assert past
    assert {name for name in past if constant(name).low < constant(name).high} == set()
