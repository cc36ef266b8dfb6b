"""Bands over many runs: ordered, repeatable, honest about what is sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ndbplan.base.errors import Cancelled
from ndbplan.base.resources import resource_path
from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits import parts as edits
from ndbplan.plan.events import NodeFailure
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import JobRows
from ndbplan.simulate.bands import MOST_NUMBERS, _detailed, monte_carlo
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import Course, simulate


def test_bands_are_ordered_and_hold_the_likeliest_run(overload: Plan) -> None:
    bands = monte_carlo(estimation_of(overload, "blobs-5k"), runs=60)
    for band in bands.series:
        assert np.all(band.p10 <= band.p50)
        assert np.all(band.p50 <= band.p90)
        assert len(band.p50) == len(bands.times_s)
    likeliest = simulate(estimation_of(overload, "blobs-5k")).accepted_per_s.value
    assert bands.accepted_per_s.low * 0.95 <= likeliest <= bands.accepted_per_s.high * 1.05
    assert bands.accepted_per_s.low < bands.accepted_per_s.high


def test_an_overload_is_certain_and_an_easy_load_is_safe(overload: Plan) -> None:
    hard, easy = (monte_carlo(estimation_of(overload, name), runs=30) for name in ("blobs-5k", "blobs-1k"))
    odds = {error.code: error for error in hard.errors}
    assert odds[1221].probability > 0.9
    assert odds[1221].first_at_s.low < odds[1221].first_at_s.high
    assert easy.errors == ()
    assert easy.accepted_per_s.value == pytest.approx(6960)


def test_every_run_with_an_error_has_a_first_one(overload: Plan) -> None:
    bands = monte_carlo(estimation_of(overload, "blobs-5k"), runs=20, duration_s=60)
    assert all(one.comes_first <= one.probability for one in bands.errors)
    most, whole = max(one.probability for one in bands.errors), sum(one.comes_first for one in bands.errors)
    assert most - 1e-9 <= whole <= 1.0 + 1e-9


def test_the_number_of_workers_changes_nothing(overload: Plan) -> None:
    one, many = (
        monte_carlo(estimation_of(overload, "blobs-5k"), runs=12, workers=workers, duration_s=30)
        for workers in (1, 4)
    )
    for left, right in zip(one.series, many.series, strict=True):
        assert np.array_equal(left.p50, right.p50)
    assert one.to_json(why=True) == many.to_json(why=True)


def test_series_of_nodes_have_bands_while_120_moments_of_each_are_few_numbers(overload: Plan) -> None:
    scenario = Course(estimation_of(overload), (), 0.1, 1).story(1.0).scenario

    def count(nodes: int) -> int:
        return len(_detailed(replace(scenario, node_classes=scenario.node_classes[:1] * nodes)))

    each = count(2) - count(1)
    # 200 runs fit into MOST_NUMBERS.
    most = 1 + (MOST_NUMBERS // 200 // 120 - count(1)) // each
    assert count(most) == count(1) + each * (most - 1)
    assert count(most + 1) == 0


def test_another_seed_draws_other_runs(overload: Plan) -> None:
    one, other = (
        monte_carlo(estimation_of(overload, "blobs-5k"), runs=12, seed=seed, duration_s=30) for seed in (1, 2)
    )
    assert not np.array_equal(one.accepted.p50, other.accepted.p50)


def test_cancel_progress_and_bad_numbers(overload: Plan) -> None:
    heard: list[float] = []
    monte_carlo(estimation_of(overload, "blobs-1k"), runs=4, duration_s=10, workers=1, progress=heard.append)
    assert heard == [0.25, 0.5, 0.75, 1.0]
    with pytest.raises(Cancelled):
        monte_carlo(estimation_of(overload, "blobs-1k"), runs=4, cancelled=lambda: True)
    with pytest.raises(SimulationError, match="runs"):
        monte_carlo(estimation_of(overload), runs=1)


def test_the_share_of_runs_in_which_the_cluster_stopped_is_said(overload: Plan) -> None:
    group = node_groups(overload)[0]
    events = [NodeFailure(at_s=20.0, object_id=node.id) for node in group]
    stops = monte_carlo(
        estimation_of(overload, "blobs-1k"), runs=4, duration_s=60, events=events
    ).cluster_stop
    assert stops is not None
    assert stops.probability == 1.0
    assert 20.0 <= stops.first_at_s.value < 60.0
    goes_on = monte_carlo(estimation_of(overload, "blobs-1k"), runs=4, duration_s=60, events=events[:1])
    assert goes_on.cluster_stop is None
    assert goes_on.to_json()["cluster_stop"] is None


def test_runs_of_a_job_last_until_its_rows_are_in() -> None:
    plan = load(resource_path("samples/terabyte-load.ndbplan"))
    workload = next(w for w in plan.workloads if w.load.kind == "job")
    few = workload.load.model_copy(
        update={"rows": (JobRows(table_id="stock", rows=2_000_000),), "total_bytes": None}
    )
    plan = edits.update(plan, workload.id, load=few)
    alone = simulate(estimation_of(plan, workload.id))
    bands = monte_carlo(estimation_of(plan, workload.id), runs=3)
    assert len(bands.times_s) == pytest.approx(alone.duration_s / alone.bucket_s, abs=1.5)
