"""The score finds what is wrong with forecasters of known faults, and no headline gets worse unseen."""

from __future__ import annotations

import math
import random

import pytest

from reality.leave_one_out import left_out
from reality.measured import Measured
from reality.measured_times import bytes_over_disk_rate, measured_times
from reality.score import (
    P90,
    Score,
    accepted,
    crps,
    faults,
    headlines,
    interval_score,
    skill,
    worse,
)

_COUNT = 400
_TRUE_SPREAD = 0.25


def _rows(bias: float = 1.0, range_factor: float = 1.0, seed: int = 1, odd: float = 0.0) -> list[Measured]:
    """Answers to measurements that lie around them as far as `_TRUE_SPREAD` says, with faults put in."""
    chance, rows = random.Random(seed), []
    for number in range(_COUNT):
        value = math.exp(chance.uniform(0, 6))
        measured = value * math.exp(chance.gauss(0, _TRUE_SPREAD))
        if chance.random() < odd:
            measured *= 8.0
        room = math.exp(P90 * _TRUE_SPREAD * range_factor)
        said = value * bias
        rows.append(
            Measured("made", "none", str(number), "s", measured, said / room, said, said * room, fitted=False)
        )
    return rows


def _reference(row: Measured) -> Measured:
    return row._replace(low=5.0, value=20.0, high=80.0)


FORECASTERS = {
    "right": (_rows(), set()),
    "too sure by 2": (_rows(range_factor=0.5), {"too sure"}),
    "too wide by 3": (_rows(range_factor=3.0), {"too wide"}),
    "10 % too much": (_rows(bias=1.1), {"too much"}),
    "10 % too little": (_rows(bias=1 / 1.1), {"too little"}),
    "too sure and too much": (_rows(bias=1.1, range_factor=0.4), {"too sure", "too much"}),
    "now and then eight times off": (_rows(odd=0.3), {"too sure", "too little"}),
    "a copy of the reference": ([_reference(row) for row in _rows()], {"no skill"}),
}


@pytest.mark.parametrize("name", FORECASTERS)
def test_faults_of_known_forecasters_are_found(name: str) -> None:
    rows, expected = FORECASTERS[name]
    found = faults(rows, _reference)
    # A constant answer is far off in every other way as well.
    assert expected <= found if "no skill" in expected else found == expected


def test_a_copy_of_the_reference_has_no_skill() -> None:
    rows = [_reference(row) for row in _rows()]
    assert skill(rows, _reference) == pytest.approx(0)
    assert skill(_rows(), _reference) > 0.8


def test_no_other_range_scores_better_on_average_than_the_true_one() -> None:
    for factor in (0.5, 3.0):
        other = _rows(range_factor=factor)
        assert sum(map(crps, _rows())) < sum(map(crps, other))
        assert sum(map(interval_score, _rows())) < sum(map(interval_score, other))


def test_places_of_a_right_forecaster_are_even() -> None:
    places = Score.of(_rows()).places
    assert max(places) < 1.4 * min(places)


def test_no_headline_has_got_worse() -> None:
    rows = [row for row in (*measured_times(), *left_out()) if row.unit == "s" and ":" not in row.quantity]
    lost = worse(headlines(rows, bytes_over_disk_rate), accepted())
    assert not lost, f"make score ACCEPT='why': {lost}"


def test_runs_that_were_left_out_lie_in_their_ranges() -> None:
    rows = left_out()
    assert len(rows) >= 10
    assert Score.of(rows).inside >= 0.8
    assert Score.of(rows).within_tenth >= 0.6
