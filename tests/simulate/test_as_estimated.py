"""Simulation and estimate say the same where both do: backups and checkpoints of drawn plans."""

from __future__ import annotations

import random

import numpy as np
import pytest

import changed_inputs as changes
from ndbplan.base.row_types import Floats
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.loaded import checkpoint
from ndbplan.estimate.timed import backup
from ndbplan.plan.events import Backup
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad, OperationKind, RatePoint
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

AT_S = 20.0
DRAWN = range(1, 11)


def _updated(seed: int, rows_per_s: float) -> Plan:
    """A drawn plan of two tables, rows of one of which are updated."""
    plan = changes.drawn(random.Random(seed))
    (workload,) = plan.workloads
    (transaction,) = workload.transactions
    operation = transaction.operations[0].model_copy(update={"kind": OperationKind.UPDATE, "rows": 1})
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rows_per_s),))
    done = transaction.model_copy(update={"operations": (operation,)})
    changed = workload.model_copy(update={"load": load, "transactions": (done,)})
    return plan.replace(workloads=(changed,))


@pytest.mark.parametrize("seed", DRAWN)
def test_a_simulated_backup_writes_what_is_estimated_as_long(seed: int) -> None:
    """Beside a load that asks next to nothing of the disks."""
    plan = _updated(seed, 0.01)
    estimate = backup(plan)
    seconds = AT_S + 2 * estimate.duration_s.high
    result = simulate(estimation_of(plan), duration_s=seconds, events=[Backup(at_s=AT_S)])
    written = sum(
        float(disk.bytes_per_s["backup"].sum()) * result.bucket_s * len(disk.disk_ids)
        for disk in result.disks
    )
    assert written == pytest.approx(sum(node.written_bytes.value for node in estimate.nodes), rel=0.01)
    lasted = max(np.flatnonzero(node.backup_left > 0)[-1] for node in result.nodes) * result.bucket_s - AT_S
    rounded = 2 * result.bucket_s
    assert estimate.duration_s.low - rounded <= lasted <= estimate.duration_s.high + rounded


@pytest.mark.parametrize("seed", DRAWN)
def test_a_backup_beside_checkpoints_lasts_as_estimated(seed: int) -> None:
    """One law shares a slow disk in both: the estimate gave backups what means of all others left (54 s for
    26). Beside the load until it ends: DataMemory is never full."""
    plan = changes.drawn(random.Random(seed))
    plan = set_parameter(plan, "data_node", "DataMemory", 2**40)
    estimate = backup(plan, plan.workloads[0])
    seconds = AT_S + 1.5 * estimate.duration_s.high
    result = simulate(estimation_of(plan), duration_s=seconds, events=[Backup(at_s=AT_S)])
    lasted = max(np.flatnonzero(node.backup_left > 0)[-1] for node in result.nodes) * result.bucket_s - AT_S
    rounded = 2 * result.bucket_s
    assert estimate.duration_s.low - rounded <= lasted <= estimate.duration_s.high + rounded


def _checkpoints(written: Floats) -> list[float]:
    """Bytes of each that was seen whole."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], written > 20e3, [0])))).reshape(-1, 2)
    return [float(written[begin:end].sum()) for begin, end in edges[1:-1]]


@pytest.mark.parametrize("seed", DRAWN)
def test_simulated_checkpoints_write_what_is_estimated(seed: int) -> None:
    """Changes of a small table beside a large one counted as spread over both: 2.5 times too much."""
    plan = _updated(seed, 300.0)
    result = simulate(estimation_of(plan), duration_s=300.0)
    sizes = _checkpoints(result.nodes[0].lcp_bytes_per_s * result.bucket_s)
    estimate = checkpoint(plan, plan.workloads[0]).nodes[0].written_bytes
    if sizes and not result.errors:
        assert 0.9 * estimate.low <= sizes[-1] <= 1.1 * estimate.high


def test_few_changes_of_many_rows_write_one_part_of_each_fragment_that_changed_in_both() -> None:
    """Of 100 million rows simulated checkpoints wrote far more than estimated: a part of each fragment at
    least is written, which the estimate took as continuous. Of a table beside it that nothing changes no row
    is written; the simulation wrote a part of it too."""
    plan = set_parameter(_updated(6, 300.0), "data_node", "DataMemory", 2**40)
    beside, changed = (table.model_copy(update={"rows": 100_000_000}) for table in plan.tables)
    written, estimated = [], []
    for rows in (1000, 100_000_000):
        one = plan.replace(tables=(beside.model_copy(update={"rows": rows}), changed))
        result = simulate(estimation_of(one), duration_s=300.0)
        written.append(_checkpoints(result.nodes[0].lcp_bytes_per_s * result.bucket_s)[-1])
        estimated.append(checkpoint(one, one.workloads[0]).nodes[0].written_bytes.value)
    assert written == pytest.approx(estimated, rel=0.1)
    assert written[0] == pytest.approx(written[1], rel=0.01)
