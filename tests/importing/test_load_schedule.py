"""Loads over time from CSV: what is read, what is refused, and that a simulation follows it."""

from __future__ import annotations

import numpy as np
import pytest

from ndbplan.importing.load_schedule import LoadScheduleError, read_load_schedule, with_schedule
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate


@pytest.mark.parametrize(
    "text",
    [
        "0,100\n60,4000\n90,0\n",
        "0,100\r60,4000\r90,0\r",
        "seconds,transactions per second\n0,100\n60,4000\n90,0",
        "rate;time\n100;0\n4000;60\n0;90\n",
        "\ufeffat_s\trate_per_s\n0\t100\n60\t4000\n90\t0\n",
        "08:30,100\n08:31,4000\n08:31:30,0\n",
        "2024-05-01 08:30:00,100\n2024-05-01 08:31:00,4000\n2024-05-01 08:31:30,0\n",
        "1714552200,100\n1714552260,4000\n1714552290,0\n",
        "# measured\n\n0s,100\n1min,4000\n90s,0\n",
        "host,offered_per_s,clock\nsql1,100,0\nsql1,4000,60\nsql1,0,90\n",
    ],
)
def test_moments_and_rates_in_many_ways(text: str) -> None:
    load = read_load_schedule(text)
    assert [(p.at_s, p.rate_per_s) for p in load.points] == [(0, 100), (60, 4000), (90, 0)]
    assert load.shape == "linear"


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("", "", "no line"),
        ("seconds,rate\n", "", "no line"),
        ("0,100\n60\n", "line 2", "not a moment and a rate"),
        ("0,100\nsoon,5\n", "line 2", "soon"),
        ("0,100\n10,fast\n", "line 2", "fast"),
        ("0,100\n10,-1\n", "line 2", "-1"),
        ('0,100\n10,"1,500"\n', "line 2", "1500 or 1.5"),
        ("0,100\n10,nan\n", "line 2", "nan"),
        ("0,100\n60,1\n60,2\n", "line 3", "after 60"),
        ("60,100\n1714552260,4000\n", "line 2", "outside"),
    ],
)
def test_bad_lines_are_named(text: str, place: str, what: str) -> None:
    with pytest.raises(LoadScheduleError) as found:
        read_load_schedule(text)
    assert found.value.where == place
    assert what in found.value.line


def test_a_schedule_starts_again_after_its_end() -> None:
    assert read_load_schedule("0,1\n60,2\n", repeat_s=120).repeat_s == 120
    with pytest.raises(LoadScheduleError, match="start again"):
        read_load_schedule("0,1\n60,2\n", repeat_s=30)


def test_a_simulation_follows_the_file() -> None:
    plan = sample_plan("redo-overload")
    ramp = with_schedule(plan, "blobs-1k", "0,0\n100,1000\n", "linear")
    steps = with_schedule(plan, "blobs-1k", "0,200\n50,800\n", "step")
    slid, stood = (
        simulate(estimation_of(ramp, "blobs-1k"), duration_s=100),
        simulate(estimation_of(steps, "blobs-1k"), duration_s=100),
    )
    assert slid.offered_per_s == pytest.approx(500, rel=1e-3)
    assert np.all(np.diff(slid.offered) > 0)
    assert set(np.round(stood.offered)) == {200, 800}
    load = ramp.workload("blobs-1k").load
    assert isinstance(load, OpenLoad)
    assert load.clients == plan.workload("blobs-1k").load.clients
    assert with_schedule(plan, "blobs-1k", "0,1\n9000,2\n").workload("blobs-1k").duration_s == 9000
