"""Loaders that take the values of a key in turn, rows that many want, keys chosen by a power law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ndbplan.advise.max_load import max_load
from ndbplan.base.resources import resource_path
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.row_locks import hottest_rows, row_lock_s
from ndbplan.plan.events import NodeFailure
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, OperationKind, RatePoint
from ndbplan.simulate.model.load_over_time import services
from ndbplan.simulate.model.meanwhile import move_loaders
from ndbplan.simulate.model.scenario import build
from ndbplan.simulate.model.start import first_world
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate


def _plan(**choice: Any) -> Plan:
    """The terabyte of warehouses with one table, stock, and operations that choose keys so."""
    plan = load(resource_path("samples/terabyte-load.ndbplan"))
    plan = edits.remove(plan, [table.id for table in plan.tables if table.id != "stock"])
    key = {"distribution_key_values": 6000, "distribution_key_first": 1, "distribution_key_table_id": None}
    load_1250 = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1250),))
    plan = edits.update(edits.update(plan, "stock", **key), plan.workloads[0].id, load=load_1250)
    return _with(plan, **choice)


def _with(plan: Plan, **fields: Any) -> Plan:
    workload = plan.workloads[0]
    transaction = workload.transactions[0]
    operations = tuple(validated.changed(operation, **fields) for operation in transaction.operations)
    return edits.update(
        plan, workload.id, transactions=(validated.changed(transaction, operations=operations),)
    )


def test_a_loader_writes_one_log_part_at_a_time_and_all_of_them_in_the_end() -> None:
    plan = _plan(key_choice="in_turn")
    scenario = build(Estimation(plan, plan.workloads[0]), duration_s=60, step_s=0.1, seed=1)
    world, mean = first_world(scenario), scenario.laws.load
    used = []
    for done in range(0, 100_000, 100):
        world.state.cluster.accepted = done
        move_loaders(scenario, mean, world, max(1, done // 125))
        used.append(world.laws.load.copy())
        # The same log, elsewhere.
        assert used[-1].sum() == pytest.approx(mean.sum())
    assert np.median([(one[0] > 1e-6).sum() for one in used]) <= 2
    assert np.mean(used, axis=0) == pytest.approx(mean, rel=0.35)
    eight = _plan(key_choice="in_turn", key_threads=8)
    more = build(Estimation(eight, eight.workloads[0]), duration_s=60, step_s=0.1, seed=1).loaders
    assert more is not None
    weights = more.loaders[0].where(500.0, 501.0)
    assert 3 <= (weights > 0).sum() <= 16


def test_parts_of_a_loader_fill_one_after_the_other() -> None:
    plan = _plan(key_choice="in_turn")
    even, uneven = (
        simulate(estimation_of(_plan()), duration_s=60),
        simulate(estimation_of(plan), duration_s=60),
    )
    busiest = []
    for found in (even, uneven):
        made = np.array([np.diff(part.log_used) for part in found.parts if 2 in part.node_ids]).clip(0)
        made = made[:, made.sum(axis=0) > 0]
        busiest.append(float(np.median(made.max(axis=0) / made.sum(axis=0))))
    assert busiest[0] < 0.2
    assert busiest[1] > 0.5
    again = simulate(estimation_of(plan), duration_s=60)
    assert [p.log_used.tolist() for p in again.parts] == [p.log_used.tolist() for p in uneven.parts]


def test_a_loader_goes_on_when_a_node_fails() -> None:
    plan = _plan(key_choice="in_turn", key_threads=4)
    found = simulate(estimation_of(plan), duration_s=30, events=[NodeFailure(at_s=5.0, object_id="ndb3")])
    assert found.accepted.sum() > 0
    down = [part for part in found.parts if part.node_id == 3]
    assert all(np.diff(part.log_used)[10:20].max(initial=0.0) <= 0 for part in down)


def test_no_choice_of_keys_sustains_more_than_an_even_one() -> None:
    even = max_load(estimation_of(_plan()), with_next=False).max_per_s.value
    for choice in ({"key_choice": "power_law"}, {"key_choice": "power_law", "key_exponent": 0.01}):
        assert max_load(estimation_of(_plan(**choice)), with_next=False).max_per_s.value <= even * 1.002
    exponent_0 = _plan(key_choice="power_law", key_exponent=0.0)
    assert max_load(estimation_of(exponent_0), with_next=False).max_per_s.value == even


def test_the_bound_of_a_loader_is_what_its_threads_ldms_can_do() -> None:
    limits = [services(p, p.workloads[0])[0] for p in (_plan(), _plan(key_choice="in_turn"))]
    assert [limit.resource for limit in limits] == ["cpu", "cpu"]
    assert limits[1].max_per_s < 0.25 * limits[0].max_per_s


def test_a_row_that_all_transactions_change_bounds_them() -> None:
    update = {"kind": OperationKind.UPDATE, "rows": 1.0}
    plan = edits.update(_with(_plan(), **update), "stock", rows=1)
    workload = plan.workloads[0]
    ((table, locks_per_s),) = hottest_rows(plan, workload)
    assert table.id == "stock"
    assert locks_per_s == pytest.approx(workload.transactions[0].operations[0].rows * 1250)
    limit = min((s for s in services(plan, workload) if s.resource == "row locks"), key=lambda s: s.max_per_s)
    assert limit.max_per_s == pytest.approx(1 / row_lock_s(plan, workload).value)
    found = simulate(estimation_of(plan), duration_s=10)
    assert found.bottleneck.resource == "row locks"
    assert found.accepted.sum() == pytest.approx(10 / row_lock_s(plan, workload).value, rel=0.02)
    # A tenth as many wishes for the row: ten times as many transactions.
    many = edits.update(plan, "stock", rows=10)
    assert hottest_rows(many, workload)[0][1] == pytest.approx(locks_per_s / 10)


def test_a_power_law_over_rows_makes_one_row_wanted() -> None:
    unique = {"distribution_key": (), "distribution_key_values": None, "rows": 6000}
    plan = edits.update(_with(_plan(), kind=OperationKind.UPDATE, rows=1.0), "stock", **unique)
    even = hottest_rows(plan, plan.workloads[0])[0][1]
    hot = _with(plan, key_choice="power_law", key_exponent=1.0)
    assert hottest_rows(hot, hot.workloads[0])[0][1] == pytest.approx(even * 6000 * 0.1078, rel=1e-3)
    in_turn = _with(plan, key_choice="in_turn")
    assert hottest_rows(in_turn, in_turn.workloads[0]) == []


def test_clients_that_wait_keep_a_row_no_longer_than_their_latency() -> None:
    plan = _plan()
    quick = edits.update(plan, plan.workloads[0].id, load=ClosedLoad(clients=8, latency_s=0.0004))
    held = row_lock_s(quick, quick.workloads[0])
    assert (held.low, held.value, held.high) == (0.0002, 0.0004, 0.0004)


@pytest.mark.parametrize(("threads", "run_rows"), [(1, 1e7), (1, 3.0), (16, 40.0), (300, 1e5)])
def test_work_in_turn_is_moved_once_a_second_at_most(
    threads: int, run_rows: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However short its values are: a run of an hour takes no more moves than it has seconds."""
    moves: list[int] = []

    def counted(*given: Any) -> int:
        moves.append(given[-1])
        return move_loaders(*given)

    monkeypatch.setattr("ndbplan.simulate.model.meanwhile.move_loaders", counted)
    plan = _plan(key_choice="in_turn", key_threads=threads, key_run_rows=run_rows)
    simulate(estimation_of(plan), duration_s=300)
    assert len(moves) <= 301
    if run_rows == 1e7:
        assert len(moves) <= 100, "nothing moves while a thread stays at its value"


def test_work_between_two_changes_of_values_is_where_one_look_sees_it() -> None:
    plan = _plan(key_choice="in_turn", key_threads=5, key_run_rows=100.0)
    loaders = build(Estimation(plan, plan.workloads[0]), duration_s=60, step_s=0.1, seed=1).loaders
    assert loaders is not None
    loader = loaders.loaders[0]
    for done in np.linspace(0.0, 5000.0, 400):
        until = loader.until_next(float(done))
        assert until > 0
        here = loader.where(done, done + 0.4 * until)
        assert loader.where(done + 0.5 * until, done + 0.9 * until) == pytest.approx(here)
        assert here.sum() == pytest.approx(1.0)


def test_a_loader_that_is_slow_is_one_and_none_works_at_rest() -> None:
    plan = _plan(key_choice="in_turn")
    for rate, per_step in ((0.5, 0.05), (0.0, None)):
        load_ = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate),))
        slow = edits.update(plan, plan.workloads[0].id, load=load_)
        found = build(Estimation(slow, slow.workloads[0]), duration_s=10, step_s=0.1, seed=1).loaders
        assert (None if found is None else pytest.approx(found.offered_per_step)) == per_step


def test_one_value_of_a_distribution_key_is_in_one_partition_and_no_load_has_no_loader() -> None:
    plan = edits.update(
        _plan(key_choice="in_turn"), "stock", distribution_key_values=1, distribution_key_first=None
    )
    loaders = build(Estimation(plan, plan.workloads[0]), duration_s=60, step_s=0.1, seed=1).loaders
    assert loaders is not None
    assert [len(one.owners) for one in loaders.loaders] == [1]
