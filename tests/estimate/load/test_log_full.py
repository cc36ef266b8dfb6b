"""When the log is full at a load: the closed form agrees with the simulation."""

from __future__ import annotations

import pytest

from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.loaded import checkpoint, memory_full_after_s, redo
from ndbplan.estimate.stored import node_memories
from ndbplan.plan.plan import Plan
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


@pytest.mark.parametrize(("memory", "code"), [("DataMemory", 827), ("IndexMemory", 625)])
def test_memory_that_is_full_sooner_keeps_the_log_from_it(memory: str, code: int) -> None:
    """The simulation knew the end of both, the estimate only about that of DataMemory."""
    plan = edits.set_plan(sample_plan("redo-overload"), ndb_version="7.1")
    workload = plan.workload("blobs-5k")
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=2000),))
    plan = edits.update(plan.replace(workloads=(workload,)), workload.id, load=load, through="api")
    for name in ("DataMemory", "IndexMemory"):
        plan = set_parameter(plan, "data_node", name, 2**40)
    full_s = _soonest(plan)
    assert full_s is not None
    for times, first in ((0.5, code), (2.0, 410)):
        limited = set_parameter(plan, "data_node", memory, _holds(plan, memory, times * full_s))
        result = simulate(estimation_of(limited, workload.id), duration_s=3 * full_s)
        assert min(result.errors, key=lambda error: error.first_at_s.value).code == first
        assert (_soonest(limited) is None) == (first == code)


def _soonest(plan: Plan) -> float | None:
    """Seconds until the log of a node is full under the last workload."""
    found = (node.overflow_after_s for node in checkpoint(plan, plan.workloads[-1]).nodes)
    return min((one.value for one in found if one is not None), default=None)


def _holds(plan: Plan, memory: str, seconds: float) -> int:
    """Bytes of a memory that the load fills in so many seconds."""
    ends = dict(memory_full_after_s(set_parameter(plan, "data_node", memory, 2**33), plan.workloads[-1]))
    used = {node.node_id: node for node in node_memories(plan)}
    field = "data_memory_bytes" if memory == "DataMemory" else "index_memory_bytes"
    node_id = min(ends, key=lambda one: ends[one])
    before = float(getattr(used[node_id], field).value)
    return int(before + (2**33 - before) * seconds / ends[node_id])
