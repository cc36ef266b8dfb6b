"""Reads of columns on disk follow the rows: what the page cache holds of them shrinks as they grow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ndbplan.advise.max_load import max_load
from ndbplan.base.resources import resource_path
from ndbplan.base.units import GIB, MIB
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import disk_data
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import (
    ClosedLoad,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)
from ndbplan.simulate.model.meanwhile import follow_reads, most_reads_per_s, worst_reads
from ndbplan.simulate.model.page_cache import CLIENTS_WORKED_OUT, closed_cycle_s, page_cache
from ndbplan.simulate.model.scenario import build
from ndbplan.simulate.model.start import first_world
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

ROWS = 60_000


def _plan(rows: int = ROWS, load_of: Any = None, inserts: float = 1.0, cache_bytes: int = 64 * MIB) -> Plan:
    """A table on disk of which a transaction reads a row, and into which it inserts some."""
    plan = load(resource_path("samples/disk-data.ndbplan"))
    plan = set_parameter(plan, "data_node", "DiskPageBufferMemory", cache_bytes)
    plan = set_parameter(plan, "data_node", "DataMemory", 64 * GIB)
    for host in plan.hosts:
        for disk in host.disks:
            plan = edits.update(plan, disk.id, sequential_write_bytes_per_s=10**9, random_read_iops=100)
    table = plan.tables[0].id
    plan = edits.update(plan, table, rows=rows)
    operations = [Operation(table_id=table, kind=OperationKind.READ)]
    if inserts:
        operations.append(Operation(table_id=table, kind=OperationKind.INSERT, rows=inserts))
    workload = Workload(
        id="only",
        name="only",
        transactions=(Transaction(name="one", operations=tuple(operations)),),
        load=load_of or OpenLoad(points=(RatePoint(at_s=0, rate_per_s=2000),)),
    )
    return plan.replace(workloads=(workload,))


def _with_rows(plan: Plan, more: float) -> Plan:
    return edits.update(plan, plan.tables[0].id, rows=round(plan.tables[0].rows + more))


def test_the_reads_of_a_run_are_those_of_its_rows_at_every_moment() -> None:
    plan = _plan()
    scenario = build(Estimation(plan, plan.workloads[0]), duration_s=60, step_s=0.1, seed=1)
    cache = page_cache(plan, plan.workloads[0], scenario.node_classes)
    assert cache is not None
    for transactions in (0, 5_000, 50_000, 500_000):
        now = disk_data(_with_rows(plan, transactions), plan.workloads[0])
        wanted = [now.node(c.node_id).random_reads_per_s.value / 2000 for c in scenario.node_classes]
        assert cache.reads(transactions) == pytest.approx(wanted, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(
    "load_of",
    [
        OpenLoad(points=(RatePoint(at_s=0, rate_per_s=2000),)),
        ClosedLoad(clients=64, latency_s=0.01),
    ],
)
def test_the_rate_falls_to_that_of_the_rows_there_are_by_then(load_of: OpenLoad | ClosedLoad) -> None:
    plan = _plan(load_of=load_of)
    grown = simulate(estimation_of(plan), duration_s=120)
    assert grown.accepted[-20:].mean() < 0.8 * grown.accepted[1:5].mean()
    done = float((grown.accepted[:-20] * grown.bucket_s).sum())
    late = simulate(estimation_of(_with_rows(plan, done)), duration_s=21)
    assert grown.accepted[-20:].mean() == pytest.approx(late.accepted[1:].mean(), rel=0.03)
    # The other way round nothing changes: rows that only are read stay as they are.
    still = simulate(estimation_of(_plan(load_of=load_of, inserts=0, rows=200_000)), duration_s=60)
    assert np.ptp(still.accepted[2:]) <= 0.01 * still.accepted.mean()


@pytest.mark.parametrize("others", [0.0, 0.5, 1.0, 20.0, 1e9])
def test_the_slowest_of_all_services_decides_disks_or_others(others: float) -> None:
    plan = _plan()
    scenario = build(Estimation(plan, plan.workloads[0]), duration_s=60, step_s=0.1, seed=1)
    cache = page_cache(plan, plan.workloads[0], scenario.node_classes)
    assert cache is not None
    world = first_world(scenario)
    run = world.laws.run
    run.service_beside_reads_per_s = others
    follow_reads(scenario, cache, world, 0)
    by_disks = most_reads_per_s(cache, world.laws, 0.0)
    assert 20.0 < by_disks < 1e9
    # 0: nothing else holds anything back.
    assert run.service_per_s == (min(others, by_disks) if others else by_disks)
    run.reading_share = 0.5
    follow_reads(scenario, cache, world, 0)
    assert run.service_per_s == (min(others, by_disks / 2) if others else by_disks / 2)


def test_the_disk_that_reads_are_most_for_has_a_range_around_its_rate() -> None:
    plan = _plan()
    scenario = build(Estimation(plan, plan.workloads[0]), duration_s=60, step_s=0.1, seed=1)
    cache = page_cache(plan, plan.workloads[0], scenario.node_classes)
    assert cache is not None
    laws = first_world(scenario).laws
    found = worst_reads(cache, scenario, laws, np.zeros(1), np.full(1, 100.0))
    assert found is not None
    service, used = found
    assert used == 100.0 / service.max_per_s
    # What the cache holds decides: the less, the more is read.
    ends = tuple(most_reads_per_s(cache, laws, 0.0, end) for end in cache.cached_range)
    assert (service.low_per_s, service.high_per_s) == ends
    assert service.low_per_s < service.max_per_s < service.high_per_s


def test_what_was_all_in_the_cache_becomes_short_of_disk_reads() -> None:
    plan = _plan(rows=100)
    assert all(node.random_reads_per_s.value == 0 for node in disk_data(plan, plan.workloads[0]).nodes)
    result = simulate(estimation_of(plan), duration_s=200)
    assert result.bottleneck.resource == "disk reads"
    assert result.accepted[-10:].mean() < 0.7 * 2000


def test_a_rate_that_is_sustained_for_long_has_the_reads_of_the_rows_at_its_end() -> None:
    plan = _plan()
    short, long = max_load(estimation_of(plan), duration_s=60), max_load(estimation_of(plan), duration_s=1800)
    assert {short.limited_by.resource, long.limited_by.resource} == {"disk reads"}
    assert long.max_per_s.value < 0.95 * short.max_per_s.value
    end = _with_rows(plan, 1800 * long.max_per_s.value)
    at_end = simulate(estimation_of(edits.update(end, end.workloads[0].id, load=_open(3000))), duration_s=3)
    assert long.max_per_s.value == pytest.approx(float(at_end.accepted[1:].mean()), rel=0.05)


def _open(rate: float) -> OpenLoad:
    return OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate),))


@pytest.mark.parametrize("clients", [CLIENTS_WORKED_OUT, CLIENTS_WORKED_OUT + 1, 40 * CLIENTS_WORKED_OUT])
def test_more_clients_than_disks_serve_have_a_cycle_of_their_number_by_the_disks(clients: int) -> None:
    """Far beyond saturation each of two disks is always busy: N / 2 requests of 5 ms are a cycle."""
    load = ClosedLoad(clients=clients, latency_s=0.01, think_time_s=0.02)
    assert closed_cycle_s(load, 0.0, 0.005, 2) == pytest.approx(clients * 0.005 / 2, rel=1e-3)
