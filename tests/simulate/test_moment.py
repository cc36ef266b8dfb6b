"""What a moment of a run shows: starts with their phases, slow disks, how far tables are reorganised."""

from __future__ import annotations

import pytest

from ndbplan.edits import events
from ndbplan.plan.events import NodesAdded
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.moment import Moment, moment_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import simulate

PLAN = sample_plan("starter")
LOAD = PLAN.workloads[0].id
DISK = PLAN.hosts[0].disks[0].id


def _run(plan: Plan, duration_s: float = 600.0) -> SimulationResult:
    return simulate(estimation_of(plan, LOAD), duration_s=duration_s)


def test_a_node_that_starts_is_in_one_phase_after_the_other() -> None:
    result = _run(events.killed(PLAN, LOAD, ["ndb1"], 50.0, 10.0), 2000.0)
    (restart,) = result.restarts
    assert moment_of(result, 55.0).starting == {}
    assert "ndb1" in moment_of(result, 55.0).down
    begun, seen = 60.0, []
    for name, duration_s in restart.phases:
        if duration_s > 0:
            start = moment_of(result, begun + duration_s / 2).starting[1]
            assert (start.phase, start.phases) == (name, len(restart.phases))
            seen.append(start.number)
        begun += duration_s
    assert seen == sorted(seen)
    assert begun < 2000.0
    assert moment_of(result, begun + 1.0).starting == {}
    assert "ndb1" not in moment_of(result, begun + 1.0).down


def test_a_start_that_is_broken_off_is_one_no_longer() -> None:
    plan = events.killed(PLAN, LOAD, ["ndb1"], 50.0, 10.0)
    result = _run(events.killed(plan, LOAD, ["rack-a"], 200.0))
    assert moment_of(result, 199.0).starting
    after = moment_of(result, 201.0)
    assert after.starting == {}
    assert {"ndb1", "rack-a", "host-a1"} <= after.down


@pytest.mark.parametrize(
    ("at_s", "speed"), [(99.0, None), (101.0, 0.5), (201.0, 0.25), (251.0, 0.5), (301.0, None)]
)
def test_a_disk_has_the_speed_that_its_events_leave(at_s: float, speed: float | None) -> None:
    plan = events.slowed(PLAN, LOAD, [DISK], 0.5, 100.0, 200.0)
    result = _run(events.slowed(plan, LOAD, [DISK], 0.5, 200.0, 50.0))
    expected = {} if speed is None else {DISK: speed}
    assert dict(moment_of(result, at_s).disk_speed) == expected


def test_a_disk_that_failed_has_none() -> None:
    result = _run(events.killed(PLAN, LOAD, [DISK], 100.0))
    assert moment_of(result, 500.0).disk_speed == {DISK: 0.0}
    assert "ndb1" in moment_of(result, 500.0).down


def test_reorganising_goes_from_nothing_to_all() -> None:
    plan = events.with_event(PLAN, LOAD, NodesAdded(at_s=100.0))
    result = _run(plan, 1200.0)
    (span,) = result.reorganising
    assert moment_of(result, 99.0).reorganised is None
    moments: list[Moment] = [
        moment_of(result, span.from_s + share * (span.to_s - span.from_s)) for share in (0.0, 0.5, 0.99)
    ]
    assert [m.reorganised for m in moments] == pytest.approx([0.0, 0.5, 0.99])
    if span.to_s < result.duration_s:
        assert moment_of(result, span.to_s).reorganised is None


def test_from_the_moment_of_its_stop_on_a_cluster_has_stopped() -> None:
    plan = events.killed(PLAN, LOAD, ["ndb1"], 20.0, 10.0)
    result = _run(events.killed(plan, LOAD, ["ndb2"], 40.0), 60.0)
    assert result.cluster_stop is not None
    at_s = result.cluster_stop.at_s.value
    before, then = moment_of(result, at_s - 0.1), moment_of(result, at_s)
    assert (before.stopped, bool(before.starting)) == ("", True)
    assert (then.stopped, then.starting) == (result.cluster_stop.text, {})
