"""When work on a cluster is kept out: peaks that need every node, and backups."""

from __future__ import annotations

import pytest

from ndbplan.advise.kept_out import kept_out, least_load_left_per_s
from ndbplan.advise.survival import survive
from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.events import Backup
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, RatePoint


def loaded(plan: Plan, peak_per_s: float, *events: Backup) -> Estimation:
    """A day whose load rises to a peak at noon and falls again."""
    points = (RatePoint(at_s=0, rate_per_s=0), RatePoint(at_s=43_200, rate_per_s=peak_per_s))
    points = (*points, RatePoint(at_s=86_399, rate_per_s=0))
    load = OpenLoad(points=points, shape="linear", repeat_s=86_400)
    plan = edits.update(plan, plan.workloads[0].id, load=load, events=events)
    return Estimation(plan, plan.workloads[0])


def test_the_limit_is_what_survive_prints_of_a_data_node() -> None:
    now = loaded(sample_plan("starter"), 80_000.0)
    of_nodes = [f.load_left_per_s for f in survive(now).failures if f.dead[0].kind == "node"]
    data = {str(node.node_id) for node in now.plan.data_nodes}
    printed = [
        f.load_left_per_s.value
        for f in survive(now).failures
        if f.dead[0].name in data and f.load_left_per_s is not None
    ]
    assert len(of_nodes) > len(printed) > 0
    limit = least_load_left_per_s(now)
    assert limit == pytest.approx(min(printed))
    (peak,) = kept_out(now)
    assert peak.from_s == pytest.approx(43_200 * limit / 80_000)
    assert not kept_out(loaded(sample_plan("starter"), 0.99 * limit))
    more = kept_out(loaded(sample_plan("starter"), 0.99 * limit), traffic_factor=2.0)
    assert more[0].to_s > more[0].from_s


def test_a_backup_lasts_as_long_as_its_estimate() -> None:
    now = loaded(sample_plan("starter"), 100.0, Backup(at_s=7200.0))
    (backup,) = kept_out(now)
    assert (backup.from_s, backup.why) == (7200.0, "backup")
    assert backup.to_s - backup.from_s == pytest.approx(now.backup().duration_s.value)


def test_while_rows_have_no_room_all_that_is_offered_is_kept_clear() -> None:
    """No load is carried then, which is known; without a node to miss nothing is."""
    plan = sample_plan("starter")
    plan = edits.update(plan, plan.tables[0].id, rows=10**12)
    now = loaded(plan, 80.0)
    assert least_load_left_per_s(now) == 0
    ((begins, ends),) = [(one.from_s, one.to_s) for one in kept_out(now)]
    assert (begins, ends) == pytest.approx((0, 86_399), abs=2)


def test_without_a_schedule_or_a_node_to_miss_nothing_is_kept_out() -> None:
    plan = sample_plan("starter")
    assert kept_out(Estimation(plan)) == ()
    closed = ClosedLoad(clients=4, latency_s=0.01)
    plan = edits.update(plan, plan.workloads[0].id, load=closed)
    assert kept_out(Estimation(plan, plan.workloads[0])) == ()
    alone = sample_plan("tick-store")
    assert least_load_left_per_s(Estimation(alone, alone.workloads[0])) is None
