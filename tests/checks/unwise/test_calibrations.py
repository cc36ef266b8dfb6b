"""Calibrations of constants that no estimate reads: kept, opened, and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndbplan.checks.run import check
from ndbplan.estimate.timed import restart
from ndbplan.ndb.constants import all_constants, retired_constants
from ndbplan.plan.file import load, save
from ndbplan.plan.plan import Calibration
from ndbplan.plan.samples import sample_plan

NAMES = (*retired_constants(), "a_constant_that_never_was")


@pytest.mark.parametrize("name", NAMES)
def test_a_calibration_that_counts_for_nothing_is_kept_and_said(name: str, tmp_path: Path) -> None:
    plan = sample_plan("node-restart")
    odd = plan.replace(calibrations=(Calibration(constant=name, value=91.5, source="our cluster"),))
    path = tmp_path / "odd.ndbplan"
    save(odd, path)
    assert load(path).calibrations == odd.calibrations
    assert restart(odd, "node") == restart(plan, "node")
    said = [p for p in check(odd) if p.rule == "calibrations"]
    assert len(said) == 1
    assert name in said[0].message
    assert "91.5" in said[0].message
    assert said[0].fix


def test_a_calibration_that_counts_is_no_problem() -> None:
    plan = sample_plan("node-restart")
    found = tuple(Calibration(constant=n, value=c.value, source="here") for n, c in all_constants().items())
    assert not [p for p in check(plan.replace(calibrations=found)) if p.rule == "calibrations"]


def test_a_retired_constant_is_none_of_those_that_count() -> None:
    assert retired_constants()
    assert not retired_constants().keys() & all_constants().keys()
    for old in retired_constants().values():
        assert old.meaning
        assert old.instead
