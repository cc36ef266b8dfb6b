"""The published runs as simulations: what bound them, and when they failed."""

from __future__ import annotations

from functools import cache

import pytest

from ndbplan.advise.max_load import max_load
from ndbplan.base.resources import resource_path
from ndbplan.edits import parts as edits
from ndbplan.plan.file import load
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.plan.workloads import (
    ClosedLoad,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import simulate


@cache
def sample(name: str) -> Plan:
    return load(resource_path(f"samples/{name}.ndbplan"))


@cache
def overload(workload_id: str) -> SimulationResult:
    return simulate(estimation_of(sample("redo-overload"), workload_id))


def test_000_both_runs_are_in_their_class() -> None:
    idle, full = overload("blobs-1k"), overload("blobs-5k")
    assert max(part.fill_max for part in idle.parts) < 0.01
    assert max(part.fill_max for part in full.parts) > 0.80
    # Parts are uneven while they fill: 21 to 86 % at one moment in the article.
    held = [float(part.last[8]) for part in full.parts]
    assert max(held) > min(held)


def test_000_device_bytes_for_each_transaction() -> None:
    # 115 196 KiB/s at 4320 transactions a second, of which each node writes all.
    series = overload("blobs-5k").disks[0].bytes_per_s
    written = sum(values[16:35].mean() for values in series.values())
    assert written / 4320 == pytest.approx(27306, rel=0.10)


def test_000_the_comments_log_overflows_after_about_an_hour() -> None:
    def text(name: str, length: int) -> Column:
        return Column(name=name, type="char", length=length, collation="latin1_swedish_ci", nullable=False)

    trades = Table(
        id="trades", database="TickStore", name="trades", primary_key=("id",),
        columns=(
            Column(name="id", type="int", unsigned=True, nullable=False),
            Column(name="bsid", type="bigint", unsigned=True, nullable=False),
            text("date", 8), text("time", 12),
            Column(name="price", type="float", nullable=False),
            Column(name="size", type="mediumint", nullable=False),
            text("code", 1),
        ),
        indexes=(Index(name="Index_2", columns=("bsid", "date", "time")),),
    )  # fmt: skip
    # Diskless still writes log and checkpoints, to nowhere: this disk is no limit.
    disk = Disk(
        id="slow", name="slow", capacity_bytes=10**12, sequential_read_bytes_per_s=1e6,
        sequential_write_bytes_per_s=1e6, random_read_iops=100, random_write_iops=100,
    )  # fmt: skip
    insert = Operation(table_id="trades", kind=OperationKind.INSERT)
    plan = Plan(
        ndb_version="7.1",
        hosts=(Host(id="h", hostname="h", cores=16, memory_bytes=48 * 2**30, disks=(disk,)),),
        processes=(DataNode(id="n", node_id=2, host_id="h"),),
        parameters=ClusterParameters(
            data_node={
                "NoOfReplicas": 1,
                "Diskless": 1,
                "DataMemory": 38000 * 2**20,
                "IndexMemory": 9000 * 2**20,
                "NoOfFragmentLogFiles": 100,
                "TimeBetweenLocalCheckpoints": 5,
                "MaxNoOfExecutionThreads": 8,
            }
        ),
        tables=(trades,),
        workloads=(
            Workload(
                id="w", name="w", transactions=(Transaction(name="insert", operations=(insert,)),),
                load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=30_000),)),
            ),
        ),
    )  # fmt: skip
    first = simulate(estimation_of(plan), duration_s=7200).first_error
    assert first is not None
    assert first.code == 410
    assert first.first_at_s.value == pytest.approx(3600, rel=0.30)


def test_002_a_single_thread_is_bound_by_its_client() -> None:
    plan = sample("disk-data")
    table = plan.tables[0]
    plan = edits.update(plan, table.id, rows=0)
    insert = next(w for w in plan.workloads if isinstance(w.load, ClosedLoad))
    result = simulate(estimation_of(plan, insert.id))
    assert result.errors == ()
    assert result.bottleneck.resource == "clients"
    rows = result.accepted_per_s.value * insert.transactions[0].operations[0].rows
    assert rows == pytest.approx(3721, rel=0.05)
    assert max(disk.utilisation_mean.value for disk in result.disks) < 0.6


def test_002_random_reads_keep_the_disks_busy() -> None:
    plan = sample("disk-data")
    reads = next(w for w in plan.workloads if isinstance(w.load, OpenLoad))
    result = simulate(estimation_of(plan, reads.id))
    assert result.accepted_per_s.value == pytest.approx(1290, rel=0.10)
    busy = max(disk.utilisation_mean.value for disk in result.disks)
    assert busy == pytest.approx(0.90, rel=0.10)
    found = max_load(estimation_of(plan, reads.id), with_next=False)
    assert found.limited_by.resource == "disk reads"


def test_002_twenty_clients_queue_at_four_disks() -> None:
    plan = sample("disk-data")
    reads = next(w for w in plan.workloads if isinstance(w.load, OpenLoad))
    # The latency of an undisturbed read: one random read for each page that is not in the buffer.
    closed = ClosedLoad(clients=20, latency_s=0.0031)
    plan = edits.update(plan, reads.id, load=closed)
    result = simulate(estimation_of(plan, reads.id))
    assert result.accepted_per_s.value == pytest.approx(1290, rel=0.10)


def test_004_the_load_rate_and_what_limits_it() -> None:
    plan = sample("terabyte-load")
    found = max_load(estimation_of(plan))
    # A transaction is a thousandth of a warehouse; the article loads 1 to 2 a second.
    assert 1000 <= found.max_per_s.value <= 2000
    assert found.limited_by.resource == "source disk", "the article says so"
    assert found.takes_s is not None
    assert found.takes_s.low <= 6000 <= found.takes_s.high, "one warehouse a second"
    result = simulate(estimation_of(plan))
    assert result.errors == ()
    assert result.redo_log_fill_max.value < 0.60, "the log is never critical with EnableRedoControl=1"
