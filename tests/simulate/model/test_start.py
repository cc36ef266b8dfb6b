"""Where in the cycle of local checkpoints a run begins: an input like any other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.simulate.bands import monte_carlo
from ndbplan.simulate.kernel.ready import prepare
from ndbplan.simulate.model.pauses import lcp_stages_s
from ndbplan.simulate.model.scenario import build
from ndbplan.simulate.model.start import StartState, first_history, first_world, start_in_cycle
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import Course, simulate, to_the_end
from ndbplan.simulate.session import Session
from ndbplan.simulate.world.indices import Purpose

HEAVY, LIGHT = "blobs-5k", "blobs-1k"


def _after(plan: Plan, began_s_ago: float, name: str = LIGHT) -> StartState:
    return start_in_cycle(plan, plan.workload(name), began_s_ago)


def _lasts_s(plan: Plan) -> float:
    nodes = Estimation(plan, plan.workload(LIGHT)).checkpoint.nodes
    return max(node.duration_s.value for node in nodes)


def test_a_checkpoint_writes_then_rests_then_waits_for_log(overload: Plan) -> None:
    lasts_s = _lasts_s(overload)
    run = Course(Estimation(overload, overload.workload(LIGHT)), (), 0.1, 1).story(1.0).scenario.laws.run
    left = [_after(overload, share * lasts_s).lcp_at_start(run) for share in (0.0, 0.25, 0.5, 0.99)]
    assert all(one.writes and one.next_after_s is None for one in left)
    assert left[2].left_bytes == pytest.approx(left[0].left_bytes / 2, rel=1e-6)
    assert sorted((one.left_bytes for one in left), reverse=True) == [one.left_bytes for one in left]
    stages = lcp_stages_s(overload)
    assert len(stages) == run.lcp_flushes_after + run.lcp_flushes_before
    whole_s = sum(stages)
    assert stages[-1] > stages[0]
    moments = (0.0, 0.7, 1.5 * stages[0], whole_s - 0.1, whole_s + 0.1, 1e6)
    pauses = [_after(overload, lasts_s + s).lcp_at_start(run) for s in moments]
    # Later it is the log that a load writes which makes the next one due; from there it takes some time.
    expected = [whole_s - s if s < whole_s else run.lcp_first_s for s in moments]
    assert [one.next_after_s for one in pauses] == pytest.approx(expected)
    assert not any(one.writes or one.left_bytes for one in pauses)


def test_what_a_running_checkpoint_has_left_is_what_it_writes(overload: Plan) -> None:
    """And it ends as long after the start as is left of it, when nothing else needs the disk."""
    start = _after(overload, 0.9 * _lasts_s(overload))
    left = dict(start.lcp_left_by_node)
    sim = to_the_end(Course(Estimation(overload, overload.workload(LIGHT)), (), 0.1, 1).story(30.0), start)
    written = sim.history.disk[:, 0, Purpose.LCP]
    ends = int(np.flatnonzero(written == 0)[0])
    assert written[:ends].sum() == pytest.approx(next(iter(left.values())), rel=1e-6)


def test_the_start_of_the_cycle_decides_what_is_accepted(overload: Plan) -> None:
    accepted = {
        began: simulate(
            estimation_of(overload, HEAVY), duration_s=60.0, start=_after(overload, began, HEAVY)
        ).accepted_per_s.value
        for began in (5.0, 30.0, 60.0)
    }
    assert len(set(accepted.values())) == 3


@pytest.mark.parametrize("began_s_ago", [10.0, 33.0])
def test_how_time_is_cut_changes_no_bit(overload: Plan, began_s_ago: float) -> None:
    story = Course(Estimation(overload, overload.workload(HEAVY)), (), 0.1, 3).story(40.0)
    start = _after(overload, began_s_ago, HEAVY)
    whole, pieces = to_the_end(story, start), Session(story, start)
    for seconds in (0.1, 3.3, 0.7, 12.0, 100.0):
        pieces.advance(seconds)
    pieces.rewind(7.0)
    pieces.advance_to_end()
    for mine, theirs in zip(whole.history, pieces.simulation.history, strict=True):
        assert np.array_equal(mine, theirs)
    assert whole.state.cluster.tolist() == pieces.simulation.state.cluster.tolist()  # type: ignore[attr-defined]
    assert pieces.result().lcp_at_start.began_s_ago == began_s_ago


@pytest.mark.parametrize("began_s_ago", [30.0, 34.0])
def test_the_same_bits_with_and_without_the_compiler(
    overload: Plan, plain_kernel: Callable[..., None], began_s_ago: float
) -> None:
    scenario = build(Estimation(overload, overload.workload(HEAVY)), duration_s=8, step_s=0.1, seed=2)
    found = []
    for kernel in (prepare(), plain_kernel):
        world = first_world(scenario, _after(overload, began_s_ago, HEAVY))
        history = first_history(scenario, world)
        with np.errstate(all="ignore"):
            kernel(world, history, 0, scenario.steps)
        found.append([one.tolist() for one in (*world.state, *history)])  # type: ignore[attr-defined]
    assert found[0] == found[1]


def test_the_drawn_band_holds_runs_of_other_starts(overload: Plan) -> None:
    """Who does not say when checkpoints begin gets a range that holds most of the answers of who does."""
    band = monte_carlo(estimation_of(overload, HEAVY), runs=60, duration_s=60.0).accepted_per_s
    before_the_first = [StartState(first_lcp_s=at) for at in np.linspace(0.4, 3.2, 8)]
    in_the_cycle = [_after(overload, at, HEAVY) for at in (0.1, 10.0, 20.0, 25.0, 28.0, 31.0, 33.0, 60.0)]
    for starts in (before_the_first, in_the_cycle):
        found = [
            simulate(estimation_of(overload, HEAVY), duration_s=60.0, start=start).accepted_per_s.value
            for start in starts
        ]
        assert np.mean([band.low <= value <= band.high for value in found]) >= 0.8


def test_many_runs_begin_where_they_are_told(overload: Plan) -> None:
    """Then the first checkpoint is not drawn."""
    start = _after(overload, 30.0, HEAVY)
    told = monte_carlo(estimation_of(overload, HEAVY), runs=30, duration_s=60.0, start=start)
    one = simulate(estimation_of(overload, HEAVY), duration_s=60.0, start=start).accepted_per_s.value
    assert told.accepted_per_s.low * 0.98 <= one <= told.accepted_per_s.high * 1.02
    untold = monte_carlo(estimation_of(overload, HEAVY), runs=30, duration_s=60.0)
    assert told.accepted_per_s.to_json() != untold.accepted_per_s.to_json()
