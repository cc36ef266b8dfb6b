"""Checkpoints are as large simulated as estimated, whatever decides them: rows, changes, limits.

With redo control, checkpoints of large tables were estimated at five times what the simulation wrote: what
redo control asks for has a part of every fragment in it, which a formula of small changes leaves out.
"""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from ndbplan.estimate.load import redo_control as estimated
from ndbplan.estimate.load.checkpoint import NodeCheckpoint
from ndbplan.estimate.loaded import checkpoint
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from ndbplan.simulate.kernel import redo_control as simulated
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

MIB = 2**20
DRAWN = int(os.environ.get("NDBPLAN_DRAWN_LOADS", "24"))
_LONGEST_S = 100.0
"""Checkpoints that take longer take too long to settle."""


@pytest.mark.parametrize("name", ["FRAGMENT_SHARE", "LAST_SECOND", "BURST", "HURRY_STEP", "BEHIND", "AHEAD"])
def test_what_the_source_states_is_the_same_in_both(name: str) -> None:
    """The kernel knows numbers only, so that each states them."""
    assert getattr(estimated, name) == getattr(simulated, name)


def _drawn(seed: int) -> Plan:
    """Two nodes with a table whose rows are updated; log, memory and cores are enough for any of it."""
    draw = random.Random(seed)
    version = draw.choice(("7.4.10", "7.6.10", "8.0.30", "8.4.8"))
    payload = draw.choice((20, 100, 400))
    stated: dict[str, int] = {
        "NoOfReplicas": 2, "DataMemory": 100 * 2**30, "NoOfFragmentLogFiles": 64,
        "FragmentLogFileSize": 256 * MIB, "RedoBuffer": 64 * MIB,
        "MaxNoOfExecutionThreads": draw.choice((2, 4, 8)),
        "TimeBetweenLocalCheckpoints": draw.choice((20, 20, 23)),
        "MaxDiskWriteSpeed": draw.choice((2, 5, 20, 100)) * MIB, "MinDiskWriteSpeed": MIB,
    }  # fmt: skip
    if version == "7.4.10":
        stated["IndexMemory"] = 20 * 2**30
    else:
        stated["RecoveryWork"] = draw.choice((25, 60, 100))
    if version[0] == "8":
        stated["EnableRedoControl"] = draw.choice((0, 1, 1))
    disk = Disk(
        id="d", name="d", kind="nvme", capacity_bytes=10**13, sequential_read_bytes_per_s=1e9,
        sequential_write_bytes_per_s=draw.choice((1e8, 1e9)), random_read_iops=1e5, random_write_iops=1e5,
        sync_write_latency_s=1e-4,
    )  # fmt: skip
    host = Host(id="h", hostname="h", cores=16, memory_bytes=256 * 2**30, disks=(disk,))
    other = host.model_copy(
        update={"id": "i", "hostname": "i", "disks": (disk.model_copy(update={"id": "e"}),)}
    )
    table = Table(
        id="t", database="test", name="t", primary_key=("a",), rows=int(10 ** draw.uniform(5.0, 8.0)),
        columns=(
            Column(name="a", type="bigint", nullable=False),
            Column(name="b", type="varbinary", length=1000, average_bytes=payload),
        ),
    )  # fmt: skip
    update = Operation(kind=OperationKind.UPDATE, table_id="t", rows=1)
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=10 ** draw.uniform(2.0, 4.0)),))
    done = (Transaction(name="update", operations=(update,)),)
    return Plan(
        ndb_version=version, hosts=(host, other), tables=(table,),
        processes=tuple(DataNode(id=f"n{i}", node_id=i, host_id=h) for i, h in ((1, "h"), (2, "i"))),
        parameters=ClusterParameters(data_node=stated),
        workloads=(Workload(id="w", name="w", load=load, transactions=done),),
    )  # fmt: skip


def _last_written(plan: Plan, seconds: float) -> float | None:
    """Bytes of the last whole checkpoint of a node; None where buckets do not tell two of them apart."""
    result = simulate(estimation_of(plan), duration_s=seconds)
    assert not result.errors
    written = result.nodes[0].lcp_bytes_per_s * result.bucket_s
    edges = np.flatnonzero(np.diff(np.concatenate(([0], written > 20e3, [0])))).reshape(-1, 2)
    return float(written[slice(*edges[-2])].sum()) if result.bucket_s <= 2.0 and len(edges) > 3 else None


def _of(plan: Plan) -> NodeCheckpoint:
    return checkpoint(plan, plan.workloads[0]).nodes[0]


def test_checkpoints_of_drawn_clusters_write_what_is_estimated() -> None:
    """Nine of ten in their range, and none far from it: near the speed at which checkpoints are never done
    little makes them much longer, and a fragment of which a part more is full writes twice as much."""
    inside = []
    for seed in range(DRAWN):
        plan = _drawn(seed)
        found = _of(plan)
        span = found.duration_s.value + found.waits_s + 8.0
        if span > _LONGEST_S:
            continue
        written = _last_written(plan, max(200.0, 10.0 * span))
        if written is None:
            continue
        size = found.written_bytes
        inside.append(0.99 * size.low <= written <= 1.01 * size.high)
        assert 0.6 * size.low <= written <= 1.7 * size.high, seed
    assert len(inside) >= DRAWN / 3
    assert sum(inside) >= 0.9 * len(inside)


@pytest.mark.parametrize("rows", [10_000_000, 30_000_000, 100_000_000])
def test_redo_control_of_large_tables(rows: int) -> None:
    """Checkpoints that parameters leave slow, and changes ask for more: 26 MB were estimated at 134 MB."""
    plan = _drawn(0)
    changed = {**plan.parameters.data_node, "MaxDiskWriteSpeed": 2 * MIB, "EnableRedoControl": 1}
    table = plan.tables[0].model_copy(update={"rows": rows})
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=3000.0),))
    plan = plan.replace(
        ndb_version="8.4.8",
        tables=(table,),
        workloads=(plan.workloads[0].model_copy(update={"load": load}),),
        parameters=ClusterParameters(
            data_node={name: v for name, v in changed.items() if name != "IndexMemory"}
        ),
    )
    size, written = _of(plan).written_bytes, _last_written(plan, 300.0)
    assert written is not None
    assert size.low <= written <= size.high
