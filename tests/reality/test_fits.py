"""No constant fits its runs at the cost of others: errors of runs that are left out stand beside it."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.base.resources import read_json
from reality.fits import fits, tried

FITTED = {
    (row["name"], version): found
    for row in read_json("ndb/constants.json")["constants"]
    for version, found in row.get("fitted_on", {}).items()
}
OVERFITTED = 1.5
ROOM = 0.04
CHEAP = ("backup_fixed_s", "reorganise_byte_s")


def test_each_constant_that_is_tried_says_on_which_runs_it_was_fitted() -> None:
    tried_ones = {(one.name, one.version) for one in fits()}
    assert tried_ones >= FITTED.keys()
    assert all(found["runs"] for found in FITTED.values())


@pytest.mark.parametrize(("name", "version"), FITTED)
def test_runs_that_are_left_out_are_predicted_nearly_as_well(name: str, version: str) -> None:
    found: dict[str, Any] = FITTED[name, version]
    assert found["left_out_error"] <= OVERFITTED * found["fit_error"] + ROOM


def test_laws_predict_rates_that_are_left_out_better_than_none() -> None:
    assert not [
        key for key, one in FITTED.items() if "without" in one and one["without"] < one["left_out_error"]
    ]


@pytest.mark.parametrize("name", CHEAP)
def test_what_is_written_is_what_is_found(name: str) -> None:
    fit = next(one for one in fits() if one.name == name)
    found, written = tried(fit), FITTED[name, fit.version]
    assert list(found.runs) == written["runs"]
    assert found.fit_error == pytest.approx(written["fit_error"], abs=0.002)
    assert found.left_out_error == pytest.approx(written["left_out_error"], abs=0.002)
