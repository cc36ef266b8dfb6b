"""When the log is full at a load: the closed form agrees with the simulation."""

from __future__ import annotations

import pytest

from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.loaded import checkpoint, redo
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate


@pytest.mark.parametrize(
    ("sample", "version", "workload_id", "rate", "until_s"),
    [
        ("redo-overload", "7.1", "blobs-5k", 1006, 5000),
        ("redo-overload", "7.1", "blobs-5k", 2000, 2000),
        ("redo-overload", "7.1", "blobs-1k", 5000, 4000),
        ("redo-overload", "7.4.10", "blobs-5k", 500, 7000),
        ("redo-overload", "7.4.10", "blobs-5k", 1500, 2000),
        ("redo-overload", "7.6", "blobs-5k", 500, 3000),
        ("redo-overload", "7.6", "blobs-5k", 1500, 3000),
        ("redo-overload-8.4", "8.4", "blobs-5k", 4320, 1800),
        ("node-restart", "7.0.9", None, 7000, 4000),
        ("node-restart", "7.0.9", None, 9000, 4000),
        ("terabyte-load", "7.6.7", None, 1250, 1500),
    ],
)
def test_the_log_is_full_when_the_simulation_says(
    sample: str, version: str, workload_id: str | None, rate: float, until_s: float
) -> None:
    plan = edits.set_plan(sample_plan(sample), ndb_version=version)
    workload = plan.workloads[-1] if workload_id is None else plan.workload(workload_id)
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate),))
    plan = edits.update(plan, workload.id, load=load, through="api")
    for memory in ("DataMemory", "IndexMemory")[: 1 if plan.features.index_memory_joined else 2]:
        plan = set_parameter(plan, "data_node", memory, 2**40)
    workload = plan.workload(workload.id)
    closed = [n.overflow_after_s for n in checkpoint(plan, workload).nodes if n.overflow_after_s is not None]
    soonest = min(closed, key=lambda q: q.value, default=None)
    result = simulate(estimation_of(plan, workload.id), duration_s=until_s)
    full = next((error.first_at_s.value for error in result.errors if error.code == 410), None)
    if full is None:
        assert soonest is None or soonest.high > until_s
        return
    assert soonest is not None
    assert soonest.low <= full <= soonest.high
    without = redo(plan, workload).time_to_full_s
    assert without is not None
    assert without.low <= full, "no log is full sooner than without any checkpoint"
