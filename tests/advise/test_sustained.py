"""The highest load of a time holds in the simulation, on drawn plans and loads: just below nothing is
refused, just above comes what the answer names."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from ndbplan.advise.max_load import max_load
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode, DiskRoles, SqlNode
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, LogfileGroup, SpaceFile, Table, Tablespace
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate
from reality.load_runs import plan_of, runs

DRAWN = int(os.environ.get("NDBPLAN_DRAWN_LOADS", "12"))
VERSIONS = ("7.0.9", "7.1", "7.4.10", "7.5", "7.6.7", "8.0.32", "8.4")


def drawn(seed: int) -> Plan:
    """A small cluster whose memory, log, buffers, disks and files are tight in different ways."""
    draw = random.Random(seed)
    speed = draw.choice((20e6, 60e6, 200e6, 1e9))
    groups = draw.choice((1, 1, 2))
    hosts, processes = [], []
    for i in range(2 * groups):
        disks = tuple(
            Disk(
                id=f"h{i}-d{k}", name=f"d{k}", capacity_bytes=10**13, sequential_read_bytes_per_s=speed,
                sequential_write_bytes_per_s=speed, random_read_iops=1e5, random_write_iops=1e5,
            )
            for k in range(2)
        )  # fmt: skip
        hosts.append(
            Host(id=f"h{i}", hostname=f"h{i}", cores=draw.choice((4, 16)), memory_bytes=2**38, disks=disks)
        )
        lcp = disks[draw.choice((0, 1))].id
        processes.append(
            DataNode(
                id=f"n{i}", node_id=i + 1, host_id=f"h{i}", disk_roles=DiskRoles(redo=disks[0].id, lcp=lcp)
            )
        )
    hosts.append(Host(id="sql", hostname="sql", cores=draw.choice((2, 64)), memory_bytes=2**36))
    pool = tuple(range(60, 60 + draw.choice((0, 20))))
    disk = draw.random() < 0.3
    columns = (
        Column(name="k", type="bigint", nullable=False),
        Column(name="v", type="char", length=draw.choice((20, 200)), collation="latin1_bin"),
        Column(
            name="d", type="char", length=200, collation="latin1_bin", storage="disk" if disk else "memory"
        ),
    )
    tables = tuple(
        Table(
            id=f"t{i}", database="d", name=f"t{i}", columns=columns, primary_key=("k",),
            rows=draw.choice((0, 10**4, 10**6)), tablespace_id="ts" if disk else None,
        )
        for i in range(2)
    )  # fmt: skip
    kinds = draw.choice(
        (("insert",), ("insert", "update"), ("insert", "delete"), ("update",), ("insert", "read"))
    )
    operations = tuple(
        Operation(table_id=draw.choice(("t0", "t1")), kind=OperationKind(kind), rows=draw.choice((1.0, 10.0)))
        for kind in kinds
    )
    parameters: dict[str, Any] = {
        "NoOfReplicas": 2,
        "DataMemory": draw.choice((2**30, 2**32, 2**36)),
        "IndexMemory": 2**34,
        "RedoBuffer": draw.choice((32, 64)) * 2**20,
        "NoOfFragmentLogFiles": draw.choice((8, 64, 1000)),
        "FragmentLogFileSize": draw.choice((64, 256)) * 2**20,
        "MaxNoOfExecutionThreads": 4,
    }
    version = draw.choice(VERSIONS)
    abort = {"DefaultOperationRedoProblemAction": "ABORT"} if version >= "7.2" else {}
    undo = SpaceFile(name="u", size_bytes=2**33)
    if version.startswith("8"):
        del parameters["IndexMemory"]
    return Plan(
        ndb_version=version,
        hosts=tuple(hosts),
        processes=(*processes, SqlNode(id="s", node_id=50, host_id="sql", pool_node_ids=pool)),
        parameters=ClusterParameters(
            data_node=parameters, sql=abort
        ),
        logfile_groups=(LogfileGroup(id="lg", name="lg", undo_files=(undo,)),),
        tablespaces=(
            Tablespace(
                id="ts", name="ts", logfile_group_id="lg",
                data_files=(SpaceFile(name="f", size_bytes=draw.choice((2**29, 2**34))),),
            ),
        ),
        tables=tables,
        workloads=(
            Workload(
                id="w", name="w", transactions=(Transaction(name="t", operations=operations),),
                load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=100),)),
            ),
        ),
    )  # fmt: skip


def at(plan: Plan, rate_per_s: float) -> Plan:
    return edits.update(plan, "w", load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate_per_s),)))


@pytest.mark.parametrize("seed", range(DRAWN))
def test_just_below_is_clean_and_just_above_ends_as_it_says(seed: int) -> None:
    plan = drawn(seed)
    duration_s = random.Random(seed).choice((60.0, 600.0, 3600.0))
    found = max_load(estimation_of(plan), duration_s=duration_s, with_next=False)
    rate = found.max_per_s.value
    assert rate > 0
    below = simulate(estimation_of(at(plan, 0.97 * rate)), duration_s=duration_s)
    assert below.errors == ()
    assert (below.offered - below.attempted).sum() * below.bucket_s <= 1.1 * rate, (
        "no more than a second of work waited"
    )
    above = simulate(estimation_of(at(plan, 1.05 * rate)), duration_s=duration_s)
    if found.error_code is None:
        assert above.attempted.mean() < 0.99 * above.offered.mean(), "work waits"
    else:
        assert found.error_code in [error.code for error in above.errors]
        assert found.ends_after_s is not None
        assert found.ends_after_s.value <= duration_s
    assert above.bottleneck.resource == found.limited_by.resource


@pytest.mark.parametrize("minutes", [20, 40, 60, 90])
def test_a_little_less_is_sustained_too(minutes: int) -> None:
    """A little less may meet a full log where a little more, with checkpoints at other moments, does not."""
    plan = sample_plan("tick-store")
    workload = plan.workloads[0]
    found = max_load(estimation_of(plan, workload.id), duration_s=60.0 * minutes, with_next=False)
    for share in (0.97, 0.985):
        load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=share * found.max_per_s.value),))
        less = edits.update(plan, workload.id, load=load)
        assert simulate(estimation_of(less, workload.id), duration_s=60.0 * minutes).errors == ()


@pytest.mark.parametrize("seed", range(0, DRAWN, 8))
def test_longer_is_never_higher_and_room_never_lower(seed: int) -> None:
    plan = drawn(seed)
    rates = [
        max_load(estimation_of(plan), duration_s=t, with_next=False).max_per_s.value
        for t in (30.0, 300.0, 3600.0, 7200.0)
    ]
    assert rates == sorted(rates, reverse=True)
    memory = plan.parameters.data_node["DataMemory"]
    files = plan.parameters.data_node["NoOfFragmentLogFiles"]
    assert isinstance(memory, int)
    assert isinstance(files, int)
    for name, value in (("DataMemory", 4 * memory), ("NoOfFragmentLogFiles", 4 * files)):
        more = set_parameter(plan, "data_node", name, value)
        assert (
            max_load(estimation_of(more), duration_s=3600.0, with_next=False).max_per_s.value
            >= 0.99 * rates[2]
        )


@pytest.mark.parametrize("factor", [0.4, 0.5, 1.0])
@pytest.mark.parametrize("name", ["C2", "C6", "A12"])
@pytest.mark.parametrize("seconds", [60.0, 90.0])
def test_a_little_less_is_sustained_too_where_the_log_lags(name: str, factor: float, seconds: float) -> None:
    """Beside recorded loads: buffers that are half empty lag by 20 s on a slow disk. A rate at which they did
    nearly counted as easy, so 6 of 282 answers were not held a little below (error 1234)."""
    plan = plan_of(next(run for run in runs() if run.name == name))
    plan = set_parameter(plan, "sql", "DefaultOperationRedoProblemAction", "ABORT")
    for host in plan.hosts:
        for disk in host.disks:
            speed = factor * disk.sequential_write_bytes_per_s
            plan = edits.update(plan, disk.id, sequential_write_bytes_per_s=speed)
    found = max_load(estimation_of(plan, "w"), duration_s=seconds, with_next=False)
    for share in (0.97, 0.985):
        less = at(plan, share * found.max_per_s.value)
        assert simulate(estimation_of(less, "w"), duration_s=seconds).errors == ()
