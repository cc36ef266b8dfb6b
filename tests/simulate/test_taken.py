"""What a run takes has a range wherever a cluster of the same plan might take more or less."""

from __future__ import annotations

import pytest

from ndbplan.base.quantity import Quantity
from ndbplan.base.resources import resource_path
from ndbplan.estimate.stored import reach
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from ndbplan.simulate.bands import monte_carlo
from ndbplan.simulate.model.scenario import build
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate
from reality.load_runs import plan_of, runs

FIRST = 0.5, 0.9, 0.999, 1.5, 20.0
"""Rates that are offered, against what the slowest resource lets pass."""


def reading(rate_per_s: float) -> Plan:
    """A sample whose only workload reads single rows by key: processors and links limit it, no log."""
    plan = load(resource_path("samples/starter.ndbplan"))
    operation = Operation(table_id=plan.tables[0].id, kind=OperationKind.READ)
    workload = Workload(
        id="only", name="only", transactions=(Transaction(name="one", operations=(operation,)),),
        load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate_per_s),)), duration_s=20,
    )  # fmt: skip
    return plan.replace(workloads=(workload,))


@pytest.mark.parametrize("share", FIRST)
def test_what_resources_let_pass_is_as_sure_as_their_limit(share: float) -> None:
    services = build(estimation_of(reading(1000.0)), duration_s=20, step_s=0.1, seed=1).services
    first, low = services[0], min(one.low_per_s for one in services)
    high = min(one.high_per_s for one in services)
    offered = share * first.max_per_s
    found = simulate(estimation_of(reading(offered))).accepted_per_s
    assert low < first.max_per_s < high
    value = min(offered, first.max_per_s)
    stated = Quantity(value, min(offered, low), min(offered, high), "tx/s")
    wanted = reach(reading(offered), "load").widened(stated, offered)
    assert [found.value, found.low, found.high] == pytest.approx([value, wanted.low, wanted.high], rel=1e-6)


def test_many_runs_differ_where_processors_limit_them() -> None:
    plan = reading(1e7)
    one, many = simulate(estimation_of(plan)), monte_carlo(estimation_of(plan), runs=60)
    single, found = one.accepted_per_s, many.accepted_per_s
    assert found.low < 0.95 * single.value
    assert found.high > 1.05 * single.value
    # Tenths of sixty runs lie a little off the ends of the range that they are drawn from.
    assert found.low == pytest.approx(single.low, rel=0.25)
    assert all(rate.accepted_per_s.low < rate.accepted_per_s.high for rate in many.rates)


@pytest.mark.parametrize("name", ["C5", "E3", "A9"])
def test_a_load_that_waits_for_its_log_may_be_taken_faster(name: str) -> None:
    """Clients that wait send nothing: what was sent is no bound of what a faster log would take."""
    run = next(run for run in runs() if run.name == name)
    found = simulate(estimation_of(plan_of(run)))
    measured = sum(phase.accepted_rows_s * phase.seconds for phase in run.phases) / run.seconds / run.batch
    assert found.accepted_per_s.high > 1.1 * found.accepted_per_s.value
    assert found.accepted_per_s.high <= found.offered_per_s
    assert found.accepted_per_s.low <= measured <= found.accepted_per_s.high
