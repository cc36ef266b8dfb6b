"""Checkpoints write what comes to stay, also where there was nothing; checks and runs agree on it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.advise.max_load import max_load
from ndbplan.base.quantity import Quantity
from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.new_rows import at_least
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate
from one_rule import said_by
from reality.load_runs import plan_of, runs

FACTORS = (0.5, 1.0, 2.0)
NUMBERS = st.floats(0, 1e9)


def rated(plan: Plan, rate_per_s: float) -> Plan:
    return edits.update(plan, "w", load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate_per_s),)))


def drawn(seed: int) -> Plan:
    """One step beside a recorded load into an empty table: of another era, or on faster or slower disks."""
    pick = random.Random(seed)
    plan, factor = plan_of(pick.choice(runs())), pick.choice(FACTORS)
    for host in plan.hosts:
        for disk in host.disks:
            speed = factor * disk.sequential_write_bytes_per_s
            plan = edits.update(plan, disk.id, sequential_write_bytes_per_s=speed)
    return plan


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_rate_is_raised_to_what_is_new_and_no_further(rate: float, new: float, speed: float) -> None:
    before, at_most = Quantity.exact(rate, "bytes/s"), Quantity(speed, speed / 2, speed * 2, "bytes/s")
    after = at_least(before, new, at_most)
    assert after.value == pytest.approx(max(rate, min(new, speed)), rel=1e-3)
    assert before.low <= after.low <= after.value <= after.high <= max(rate, new)


@given(NUMBERS, NUMBERS, st.floats(1, 1e9))
def test_no_range_becomes_narrower_as_a_share(new: float, speed: float, rate: float) -> None:
    before = Quantity(rate, rate / 2, rate * 1.5, "bytes/s")
    after = at_least(before, new, Quantity(speed, speed / 2, speed * 2, "bytes/s"))
    assert after.low / after.value <= 0.5 * (1 + 1e-9)
    assert after.low >= before.low
    assert after.high >= before.high * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(16))
def test_what_overloads_a_disk_within_a_minute_is_a_problem_of_it(seed: int) -> None:
    """It was none at twice what the disk takes: the table had no rows yet, so no checkpoint was counted."""
    plan = drawn(seed)
    found = max_load(estimation_of(plan), duration_s=60.0, with_next=False)
    if found.limited_by.resource != "disk":
        # What fills memory or the log says nothing about the disk.
        assert found.error_code not in (1221, 1234)
        return
    # Which second a checkpoint begins decides where a little too much is refused, so two rates are asked.
    above = [rated(plan, times * found.max_per_s.value) for times in (1.2, 1.4)]
    assert any(simulate(estimation_of(one), duration_s=60.0).errors for one in above)
    assert all(said_by(one, "disk-demand") for one in above)


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_rows_that_go_again_are_not_counted(version: str) -> None:
    plan = plan_of(next(run for run in runs() if run.era == version))
    (transaction,) = plan.workloads[0].transactions
    (insert,) = transaction.operations
    delete = Operation(table_id="t", kind=OperationKind.DELETE, rows=insert.rows)
    stays = Estimation(plan, plan.workloads[0]).checkpoint.nodes[0].write_bytes_per_s
    queue = edits.update(
        plan, "w", transactions=(transaction.model_copy(update={"operations": (insert, delete)}),)
    )
    goes = Estimation(queue, queue.workloads[0]).checkpoint.nodes[0].write_bytes_per_s
    # Full checkpoints write the files of all fragments all the same.
    assert goes.value <= (0.06 * stays.value if version == "7.4.10" else 0.0)
    assert stays.value > 0
    slower = rated(plan, plan.workloads[0].load.points[0].rate_per_s / 100)
    little = Estimation(slower, slower.workloads[0]).checkpoint.nodes[0].write_bytes_per_s
    assert 0 < little.value < stays.value
