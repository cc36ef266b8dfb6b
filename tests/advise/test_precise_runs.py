"""Worlds are drawn until a mean is known well enough; the error bars hold, whatever the seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import stdev
from typing import Any

import numpy as np
import pytest

from ndbplan.advise.paired import simulated
from ndbplan.advise.sweep import Sweep, vary
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.precision import interval, precise
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.bands import monte_carlo


def from_(draws: Any) -> Callable[[range], list[float]]:
    return lambda numbers: draws[numbers.start : numbers.stop].tolist()


@pytest.mark.parametrize("precision", [0.02, 0.1])
@pytest.mark.parametrize("skewed", [False, True])
def test_error_bars_cover_the_truth(precision: float, skewed: bool) -> None:
    """200 seeds of draws whose mean is known: the rule must not stop where it happens to look good."""
    covered = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        draws = random.triangular(50, 60, 130, 20_000) if skewed else random.normal(80, 20, 20_000)
        truth = 80.0
        found = precise(from_(draws), precision, "tx/s")
        assert found.reached
        assert found.mean.high - found.mean.low <= 2 * precision * found.mean.value
        covered += found.mean.low <= truth <= found.mean.high
    assert covered >= 190


def test_what_never_differs_is_certain_at_once() -> None:
    looks: list[tuple[Quantity, int]] = []
    found = precise(
        lambda numbers: [4321.5] * len(numbers), 0.001, "tx/s", narrowed=lambda *look: looks.append(look)
    )
    assert (found.mean.value, found.mean.low, found.mean.high) == (4321.5, 4321.5, 4321.5)
    assert [worlds for _, worlds in looks] == [found.worlds]


def test_the_interval_shrinks_and_stops() -> None:
    random = np.random.default_rng(5)
    draws = random.normal(80, 20, 20_000)
    looks: list[tuple[Quantity, int]] = []
    found = precise(
        from_(draws),
        0.02,
        "tx/s",
        narrowed=lambda *look: looks.append(look),
    )
    worlds = [count for _, count in looks]
    assert worlds == sorted(worlds)
    assert found.worlds == worlds[-1] < 10_000
    widths = [mean.high - mean.low for mean, _ in looks]
    assert widths[-1] < widths[0]
    assert not precise(from_(draws), 0.001, "tx/s", most=50).reached


def test_a_simulated_load_without_spread_is_the_nominal_run() -> None:
    plan = sample_plan("starter")
    now = Estimation(plan, plan.workloads[0])
    nominal = simulated(now, 0).accepted_per_s
    found = precise(
        lambda numbers: [simulated(now, number).accepted_per_s for number in numbers], 0.01, "tx/s", most=4
    )
    assert found.mean.low == found.mean.high == pytest.approx(nominal)


@pytest.mark.parametrize("precision", [0.0, -0.1, 0.9, math.nan, math.inf])
def test_a_precision_that_makes_no_sense(precision: float) -> None:
    with pytest.raises(UserError, match=r"is outside 0\.1 % to 50 %"):
        precise(lambda numbers: [1.0] * len(numbers), precision, "s")


def test_worlds_without_a_number_and_nobody_who_waits() -> None:
    with pytest.raises(UserError, match="have no such number"):
        precise(lambda numbers: [math.inf if number == 3 else 1.0 for number in numbers], 0.1, "s")
    with pytest.raises(Cancelled):
        precise(lambda numbers: [1.0] * len(numbers), 0.1, "s", cancelled=lambda: True)


def test_runs_go_on_until_the_mean_is_known() -> None:
    """As many runs as it takes are those that so many would have been asked for."""
    plan = sample_plan("redo-overload-8.4")
    now = Estimation(plan, plan.workloads[0])
    bands = monte_carlo(now, precision=0.1, duration_s=20.0)
    assert bands.runs >= 20
    assert (
        bands.accepted_mean_per_s.high - bands.accepted_mean_per_s.low
        <= 0.2 * bands.accepted_mean_per_s.value
    )
    same = monte_carlo(now, runs=bands.runs, duration_s=20.0)
    assert same.to_json() == bands.to_json()
    with pytest.raises(UserError, match="runs or a precision"):
        monte_carlo(now, runs=20, precision=0.1)


def test_a_cell_of_a_sweep_is_as_precise_as_asked() -> None:
    plan = sample_plan("redo-overload-8.4")
    load = plan.workloads[0]
    plan = plan.replace(workloads=(load.model_copy(update={"duration_s": 20.0}),))
    asked = Sweep(plan, (vary(plan, "RedoBuffer=32M,64M"),), ("accepted", "restart"), precision=0.1)
    for row in asked.rows():
        accepted, restart = row.figures
        assert accepted is not None
        assert accepted[2] - accepted[1] <= 0.2 * accepted[0]
        assert restart == Sweep(plan, asked.varied, ("restart",)).row(row.number).figures[0]


def test_the_interval_of_few_values() -> None:
    found = interval([1.0, 2.0, 3.0, 4.0], "s")
    assert found.value == 2.5
    assert found.value - found.low == pytest.approx(5.84 * np.std([1, 2, 3, 4], ddof=1) / 2, rel=0.04)


@pytest.mark.parametrize("count", [20, 21, 30, 31, 60, 61, 120, 121, 4000])
def test_the_interval_is_as_wide_as_student_has_it(count: int) -> None:
    """What lies inside of it, by the density of the distribution."""
    values = [0.0, 1.0] * (count // 2) + [0.5] * (count % 2)
    found = interval(values, "s")
    width = (found.high - found.low) / 2 * math.sqrt(count) / stdev(values)
    free = count - 1
    scale = math.exp(math.lgamma((free + 1) / 2) - math.lgamma(free / 2)) / math.sqrt(free * math.pi)
    xs = np.linspace(0.0, width, 20_001)
    inside = 2 * scale * np.trapezoid((1 + xs**2 / free) ** (-(free + 1) / 2), xs)
    assert inside == pytest.approx(0.99, abs=2e-5)
