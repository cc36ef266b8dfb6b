"""A disk that stalls holds up global checkpoints; where version and plan set a limit its node stops."""

from __future__ import annotations

import numpy as np
import pytest

from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.events import DiskSlow, Event
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import Course, simulate, to_the_end
from ndbplan.simulate.session import Session

EASY = "blobs-1k"
AT_S, GCP_S = 21.0, 2.0
LIMIT_S = GCP_S + 10.0 + 5 * 0.5 + 1.0
STALL = 1e-6
SET = {
    "TimeBetweenEpochsTimeout": 4000,
    "TimeBetweenGlobalCheckpointsTimeout": 10_000,
    "HeartbeatIntervalDbDb": 500,
    "ArbitrationTimeout": 1000,
}
"""A limit of 15.5 s for two data nodes."""


def _plan(overload: Plan, **parameters: int) -> Plan:
    plan = edits.set_plan(overload, ndb_version="8.4")
    for name, value in {"DataMemory": 2**40, **parameters}.items():
        plan = set_parameter(plan, "data_node", name, value)
    return edits.update(plan, EASY, load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=2000),)))


@pytest.fixture(scope="module")
def limited(overload: Plan) -> Plan:
    """One node group with a limit, and a load that its disks take easily."""
    return _plan(overload, **SET)


def _stalls(disk_id: str = "data1-c0d1", duration_s: float = 0.0, factor: float = STALL) -> DiskSlow:
    return DiskSlow(at_s=AT_S, object_id=disk_id, factor=factor, duration_s=duration_s)


def _run(plan: Plan, *events: Event, for_s: float = 60.0) -> SimulationResult:
    return simulate(estimation_of(plan, EASY), duration_s=for_s, events=events)


def _stopped(result: SimulationResult) -> list[tuple[float, str]]:
    return [(at, text) for at, text in result.happened if "stops (2303)" in text]


def test_the_node_on_the_disk_stops_and_its_group_goes_on(limited: Plan) -> None:
    result = _run(limited, _stalls())
    ((at_s, text),) = _stopped(result)
    assert AT_S + LIMIT_S <= at_s <= AT_S + GCP_S + LIMIT_S
    assert text.startswith("node 3 stops (2303): a global checkpoint waited 15.5 s")
    assert [(spell.object_id, spell.from_s) for spell in result.down] == [("ndb3", at_s)]
    aborted = next(error for error in result.errors if error.code == 4010)
    assert aborted.first_at_s.value == at_s
    assert result.cluster_stop is None
    before = result.accepted[int(AT_S) + 3 : int(at_s) - 1]
    assert before.max() < 100, "the redo log of the node lags: nothing gets through"
    assert result.accepted[int(at_s) + 3 :].min() == pytest.approx(2000, rel=0.01)


def test_without_a_limit_everything_waits_and_that_is_said(overload: Plan) -> None:
    """As 8.4 does when nothing is set."""
    result = _run(_plan(overload), _stalls(), for_s=200.0)
    assert not _stopped(result)
    assert not result.down
    assert result.accepted[100:].max() < 100
    assert any("without a limit: TimeBetweenEpochsTimeout is 0" in text for _, text in result.happened)


@pytest.mark.parametrize(("longer_s", "stops"), [(-2.0, 0), (3.0, 1)])
def test_a_stall_that_ends_before_the_limit_stops_nobody(limited: Plan, longer_s: float, stops: int) -> None:
    result = _run(limited, _stalls(duration_s=LIMIT_S + longer_s))
    assert len(_stopped(result)) == stops
    assert result.accepted[50:].min() == pytest.approx(2000, rel=0.01)


def test_a_slow_disk_that_writes_its_log_in_time_stops_nobody(limited: Plan) -> None:
    assert not _stopped(_run(limited, _stalls(factor=0.5), for_s=120.0))


def test_when_both_disks_of_a_group_stall_the_cluster_stops(limited: Plan) -> None:
    result = _run(limited, _stalls(), _stalls("data2-c0d1"))
    assert len(_stopped(result)) == 2
    assert result.cluster_stop is not None
    assert "node group 0 is gone" in result.cluster_stop.why
    assert not result.accepted[45:].any()


def test_a_disk_without_log_holds_up_no_global_checkpoint(overload: Plan) -> None:
    """One for checkpoints alone was said to."""
    plan = _plan(overload)
    host = plan.hosts[0]
    of = next(one for one in plan.data_nodes if one.host_id == host.id)
    roles = of.disk_roles.model_copy(update={"redo": host.disks[0].id, "lcp": host.disks[-1].id})
    plan = edits.update(plan, of.id, disk_roles=roles)
    for disk, is_said in ((host.disks[0].id, True), (host.disks[-1].id, False)):
        said = [text for _, text in _run(plan, _stalls(disk), for_s=30.0).happened]
        assert any("without a limit" in text for text in said) == is_said, disk


@pytest.mark.parametrize("factor", [STALL, 0.5])
def test_a_stall_stops_a_node_that_nobody_writes_to(limited: Plan, factor: float) -> None:
    """The record of a global checkpoint is log too: without a load the node stood there for ever."""
    idle = edits.update(limited, EASY, load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=0),)))
    stopped = _stopped(_run(idle, _stalls(factor=factor)))
    assert [at_s for at_s, _ in stopped] == ([pytest.approx(AT_S + LIMIT_S)] if factor == STALL else [])


def test_how_time_is_cut_changes_no_bit(limited: Plan) -> None:
    course = Course(Estimation(limited, limited.workload(EASY)), (_stalls(duration_s=30.0),), 0.1, 3)
    whole, pieces = to_the_end(course.story(60.0)), Session(course.story(60.0))
    for seconds in (20.0, 1.3, 9.9, 11.1, 30.0):
        pieces.advance(seconds)
    pieces.rewind(33.0)
    pieces.advance_to_end()
    assert whole.happened == pieces.simulation.happened
    for mine, theirs in zip(whole.history, pieces.simulation.history, strict=True):
        assert np.array_equal(mine, theirs)
