"""Time of a transaction: by Little's law where clients wait, longer near saturation, and with queueing."""

from __future__ import annotations

import numpy as np
import pytest

from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import own_work_s
from ndbplan.ndb.constants import constant
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, Operation, OperationKind, RatePoint, Transaction
from ndbplan.simulate.model.scenario import build
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

IDLE_S = constant("idle_latency_s").value

BIG, SMALL = "blobs-5k", "blobs-1k"


def at_rate(plan: Plan, rate_per_s: float) -> Plan:
    """The plan whose small workload arrives at a rate, without a limit of clients."""
    return edits.update(plan, SMALL, load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate_per_s),)))


@pytest.mark.parametrize("think_time_s", [0.0, 0.02])
def test_clients_rate_and_latency_obey_littles_law(overload: Plan, think_time_s: float) -> None:
    load = ClosedLoad(clients=16, latency_s=0.005, think_time_s=think_time_s)
    result = simulate(estimation_of(edits.update(overload, SMALL, load=load), SMALL), duration_s=30)
    cycle_s = result.latency_mean_s.value + think_time_s
    assert result.accepted_per_s.value * cycle_s == pytest.approx(16, rel=1e-6)
    assert result.latency_mean_s.value == pytest.approx(0.005, rel=1e-6)


def test_waiting_for_redo_takes_longer(overload: Plan) -> None:
    load = ClosedLoad(clients=40, latency_s=0.005)
    plan = edits.update(overload, BIG, load=load)
    plan = set_parameter(plan, "sql", "DefaultOperationRedoProblemAction", "queue")
    result = simulate(estimation_of(plan, BIG), duration_s=300)
    assert result.waiting.max() > 0
    assert result.latency_s.max() > 1.8 * 0.005
    assert result.latency_s[0] == pytest.approx(0.005, rel=0.05), "the buffers are empty at first"


def test_an_open_load_takes_longer_near_saturation(overload: Plan) -> None:
    scenario = build(
        Estimation(at_rate(overload, 100), overload.workload(SMALL)), duration_s=1, step_s=0.1, seed=1
    )
    most = scenario.services[0].max_per_s
    shares = (0.01, 0.3, 0.6, 0.9)
    found = [
        simulate(estimation_of(at_rate(overload, most * share), SMALL), duration_s=3).latency_s[0]
        for share in shares
    ]
    assert np.allclose(found, [IDLE_S / (1 - share) for share in shares], rtol=0.01)


def test_it_is_in_json_and_csv(overload: Plan) -> None:
    result = simulate(estimation_of(overload, SMALL), duration_s=10)
    shape = result.to_json()
    assert shape["latency_mean_s"]["low"] < shape["latency_mean_s"]["value"] < shape["latency_mean_s"]["high"]
    assert shape["latency_max_s"] >= shape["latency_mean_s"]["value"] * (1 - 1e-9)
    assert "latency_s" in result.to_csv().splitlines()[0].split(",")


def scanning(plan: Plan, load: OpenLoad | ClosedLoad, rows: float) -> Plan:
    """The plan whose small workload scans so many rows in each transaction."""
    table = plan.workload(SMALL).transactions[0].operations[0].table_id
    scan = Operation(table_id=table, kind=OperationKind.SCAN, rows=rows)
    return edits.update(plan, SMALL, load=load, transactions=(Transaction(name="scan", operations=(scan,)),))


@pytest.mark.parametrize("rows", [10.0, 1e4, 1e6])
def test_a_transaction_takes_no_less_than_its_own_work(overload: Plan, rows: float) -> None:
    plan = scanning(overload, OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1e-4),)), rows)
    work = own_work_s(plan, plan.workload(SMALL))
    assert work is not None
    found = simulate(estimation_of(plan, SMALL), duration_s=30).latency_mean_s
    assert found.value == pytest.approx(max(IDLE_S, work.value), rel=0.02)
    assert found.high >= work.value * 0.98


def test_one_client_gets_through_no_more_than_its_work_allows(overload: Plan) -> None:
    plan = scanning(overload, ClosedLoad(clients=1, latency_s=1e-4), 1e6)
    work = own_work_s(plan, plan.workload(SMALL))
    assert work is not None
    found = simulate(estimation_of(plan, SMALL), duration_s=30)
    assert found.accepted_per_s.value <= 1.01 / work.low
    assert found.latency_mean_s.value >= 0.99 * work.low
