"""Operations that do not choose their keys evenly: where their work goes, and what it makes of the load."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.resources import resource_path
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.estimate.load.key_choice import (
    chosen_shares,
    hot_key,
    partition_shares,
    power_law_shares,
    power_sum,
    run_rows,
    values_at_once,
)
from ndbplan.estimate.loaded import cpu, node_loads, redo
from ndbplan.estimate.storage.shares import NodeShare
from ndbplan.estimate.stored import distribute, has_partitions
from ndbplan.plan.file import dumps, load, loads
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import EVENLY, KeyChoice, OpenLoad, OperationKind, RatePoint
from random_plans import random_plan


def _plan(values: int | None = 6000, **choice: Any) -> Plan:
    """The terabyte of warehouses with one table, stock, and operations that choose keys so."""
    plan = load(resource_path("samples/terabyte-load.ndbplan"))
    plan = edits.remove(plan, [table.id for table in plan.tables if table.id != "stock"])
    plan = edits.update(
        plan,
        "stock",
        distribution_key_values=values,
        distribution_key_table_id=None,
        distribution_key_first=None,
    )
    workload = plan.workloads[0]
    plan = edits.update(plan, workload.id, load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1250),)))
    transaction = workload.transactions[0]
    operations = tuple(validated.changed(operation, **choice) for operation in transaction.operations)
    changed = validated.changed(transaction, operations=operations)
    return edits.update(plan, workload.id, transactions=(changed,))


def _hottest_ldm(plan: Plan) -> float:
    return max(one.hottest_ldm_share for one in node_loads(plan, plan.workloads[0]))


def test_power_sums() -> None:
    assert power_sum(6000, 1.0) == pytest.approx(sum(1 / r for r in range(1, 6001)))
    # Beyond what is summed one by one.
    assert power_sum(1_000_000, 1.0) == pytest.approx(14.392726722864989, rel=1e-9)
    assert power_sum(1_000_000, 0.5) == pytest.approx(1998.540145, rel=1e-6)
    assert power_sum(10**15, 2.0) == pytest.approx(1.6449340668, rel=1e-8)


@given(st.integers(1, 10**12), st.floats(0, 10))
def test_the_hottest_value_has_the_largest_share(values: int, exponent: float) -> None:
    hot = hot_key(values, exponent)
    assert 1 / values * (1 - 1e-9) <= hot.share <= 1
    assert 0 <= hot.more <= hot.share + 1e-12
    assert 1 <= hot.others <= values


@given(st.integers(2, 10**9), st.floats(0, 9), st.floats(0, 1))
def test_a_higher_exponent_makes_the_hottest_value_hotter(values: int, exponent: float, more: float) -> None:
    assert hot_key(values, exponent + more).share >= hot_key(values, exponent).share * (1 - 1e-9)


@settings(max_examples=20, deadline=None)
@given(values=st.integers(1, 10**9), exponent=st.floats(0, 5), first=st.none() | st.just(1))
def test_shares_of_a_power_law(values: int, exponent: float, first: int | None) -> None:
    plan = edits.update(_plan(values), "stock", distribution_key_first=first)
    distribution = distribute(plan, plan.table("stock"))
    even, found = partition_shares(distribution), power_law_shares(distribution, exponent)
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    assert found.max() >= even.max() * (1 - 1e-9)
    hot = hot_key(distribution.values, exponent).share
    assert found.max() >= hot * (1 - 1e-9)


@settings(max_examples=12, deadline=None)
@given(values=st.integers(1, 10**9), exponent=st.floats(0, 5), threads=st.integers(1, 200))
def test_no_choice_of_keys_is_better_than_an_even_one(values: int, exponent: float, threads: int) -> None:
    even = _hottest_ldm(_plan(values))
    uneven = _hottest_ldm(_plan(values, key_choice="power_law", key_exponent=exponent))
    in_turn = _hottest_ldm(_plan(values, key_choice="in_turn", key_threads=threads))
    assert uneven >= even * (1 - 1e-9)
    assert in_turn >= even * (1 - 1e-9)


@pytest.mark.parametrize("partitions", [None, 5, 7])
def test_a_power_law_fills_no_place_less_than_an_even_choice(partitions: int | None) -> None:
    """The hottest value lies in one place only: it spares the fullest of another kind less than 1 %."""
    for seed in (1, 43, 87, 91, 104, 114, 147, 200):
        plan = random_plan(seed)
        if not plan.tables or not has_partitions(plan):
            continue
        table = plan.tables[-1]
        if partitions is not None:
            plan = edits.update(plan, table.id, partitions=partitions)
        distribution = distribute(plan, plan.table(table.id))
        even, placed = partition_shares(distribution), distribution.placement
        group = placed.node_group[: len(even)].astype(int)
        for exponent in (0.1, 1.0):
            found = power_law_shares(distribution, exponent)
            for inside in (placed.ldm[: len(even), 0], placed.log_part[: len(even)], 0 * group):
                place = group * 4096 + inside
                fullest = [np.bincount(place, weights=each).max() for each in (found, even)]
                assert fullest[0] >= 0.99 * fullest[1], (seed, exponent)


@settings(max_examples=50, deadline=None)
@given(st.floats(1, 1e6), st.lists(st.floats(0.001, 1), min_size=1, max_size=8))
def test_a_loader_fills_no_place_less_than_its_values_do(at_once: float, weights: list[float]) -> None:
    held = tuple((number, weight / len(weights)) for number, weight in enumerate(weights))
    share = NodeShare(1.0, 1.0, by_log_part=held, by_ldm=held, at_once=at_once)
    own = max(share for _, share in held)
    for busy in (share.fullest_log_part, share.fullest_ldm):
        assert min(busy.value, busy.high) >= own * (1 - 1e-9)
        assert busy.low <= busy.value


def test_exponent_0_is_evenly() -> None:
    plan = _plan(key_choice="power_law", key_exponent=0.0)
    assert plan.workloads[0].transactions[0].operations[0].choice == EVENLY
    assert node_loads(plan, plan.workloads[0]) == node_loads(_plan(), plan.workloads[0])


def test_with_one_partition_there_is_nothing_to_choose() -> None:
    plans = [
        edits.update(_plan(6000, **choice), "stock", partitions=1)
        for choice in ({}, {"key_choice": "power_law"}, {"key_choice": "in_turn"})
    ]
    shares = [_hottest_ldm(plan) for plan in plans]
    assert shares[0] == pytest.approx(shares[1])
    assert shares[0] == pytest.approx(shares[2])


def test_one_warehouse_fills_one_ldm() -> None:
    one, eight, many = (_plan(key_choice="in_turn", key_threads=n) for n in (1, 8, 10_000))
    # 1.25 warehouses a second: one thread is at one, and a quarter of the second at the next.
    assert _hottest_ldm(one) == pytest.approx(0.8)
    assert 1 / 8 < _hottest_ldm(eight) < _hottest_ldm(one)
    assert _hottest_ldm(many) == pytest.approx(_hottest_ldm(_plan()), rel=0.02)
    busy = [cpu(plan, plan.workloads[0]).nodes[0].ldm_utilisation.value for plan in (one, _plan())]
    assert busy[0] > 5 * busy[1]
    # Over many warehouses the log fills as evenly as they lie; while one is loaded, its part fills alone.
    full = [redo(plan, plan.workloads[0]).time_to_full_s for plan in (one, _plan())]
    assert full[0]
    assert full[1]
    assert full[0].value == pytest.approx(full[1].value)
    assert full[0].low < full[1].low / 4


def test_values_that_change_within_a_moment_spread() -> None:
    # Each row has its own value: a loader that takes one after the other loads evenly.
    assert _hottest_ldm(_plan(None, key_choice="in_turn")) == pytest.approx(1 / 8, rel=0.02)
    plan = _plan()
    distribution = distribute(plan, plan.table("stock"))
    assert run_rows(distribution, KeyChoice("in_turn"), 1000.0) == pytest.approx(100_000)
    assert run_rows(distribution, KeyChoice("in_turn", run_rows=7.0), 1000.0) == 7
    assert values_at_once(distribution, KeyChoice("in_turn"), 1000.0) == 1
    assert values_at_once(distribution, KeyChoice("in_turn", run_rows=10.0), 1000.0) == 100
    empty = edits.update(plan, "stock", rows=0)
    nothing = distribute(empty, empty.table("stock"))
    assert values_at_once(nothing, KeyChoice("in_turn", threads=3), 1000.0) == 3


def test_reads_go_to_the_hottest_ldm_too() -> None:
    reading = {"kind": OperationKind.READ}
    even, uneven = _plan(6000, **reading), _plan(6000, key_choice="power_law", **reading)
    busy = [cpu(plan, plan.workloads[0]).nodes for plan in (even, uneven)]
    most = [max(node.ldm_utilisation.value for node in nodes) for nodes in busy]
    assert most[1] > 1.5 * most[0]
    stock = uneven.table("stock")
    share = chosen_shares(distribute(uneven, stock), stock, KeyChoice("power_law", 1.0), 1.0)
    assert sum(one.primaries for one in share.values()) == pytest.approx(1)


def test_the_choice_is_kept_in_the_file() -> None:
    plan = _plan(key_choice="in_turn", key_threads=4, key_run_rows=10.0)
    assert loads(dumps(plan)) == plan
    assert '"key_threads": 4' in dumps(plan)
