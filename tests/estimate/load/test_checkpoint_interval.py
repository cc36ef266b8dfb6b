"""From one checkpoint to the next: TimeBetweenLocalCheckpoints is an amount of writing, not a time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.configuration.settings import node_settings
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.checkpoint import NodeCheckpoint
from ndbplan.estimate.load.checkpoint_interval import least_interval_s
from ndbplan.estimate.load.checkpoint_speed import is_partial
from ndbplan.estimate.load.log_full import Checkpoints
from ndbplan.estimate.load.redo import log_bytes_per_part
from ndbplan.estimate.loaded import node_loads
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate


def _plan(rate_per_s: float, version: str = "8.4", **parameters: int) -> Plan:
    """The sample's first table, of which rows are updated one by one."""
    plan = sample_plan("starter").replace(ndb_version=version)
    operation = Operation(table_id=plan.tables[0].id, kind=OperationKind.UPDATE, rows=1)
    workload = Workload(
        id="w",
        name="w",
        transactions=(Transaction(name="u", operations=(operation,)),),
        load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate_per_s),)),
    )
    for name, value in parameters.items():
        plan = set_parameter(plan, "data_node", name, value)
    return plan.replace(workloads=(workload,))


def _node(plan: Plan) -> NodeCheckpoint:
    return Estimation(plan, plan.workloads[0]).checkpoint.nodes[0]


def _begin_s(plan: Plan, exponent: int) -> float:
    """Until writes, each counted once for all replicas, have come to so many words."""
    now = Estimation(plan, plan.workloads[0])
    replicas = 2
    return 4 * 2**exponent / (sum(one.device_bytes_per_s.value for one in now.redo.nodes) / replicas)


@given(st.floats(0.01, 20.0), st.sampled_from(["7.4", "7.6", "8.0", "8.4"]))
def test_a_nearly_idle_cluster_writes_a_checkpoint_for_every_four_mebibytes(
    rate_per_s: float, version: str
) -> None:
    """Dbdih: the next begins when 2^20 words were written; up to 7.5 each writes all rows."""
    plan = _plan(rate_per_s, version)
    node = _node(plan)
    every_s = _begin_s(plan, 20)
    assert node.duration_s.value < every_s
    rate = node.write_bytes_per_s
    assert rate.value == pytest.approx(node.written_bytes.value / every_s, rel=0.02)
    assert rate.high < 3 * rate.value, "however fast each is written"


@pytest.mark.parametrize("version", ["7.4", "8.4"])
def test_more_writing_between_checkpoints_is_fewer_of_them_and_more_log(version: str) -> None:
    nodes = [_node(_plan(2000, version, TimeBetweenLocalCheckpoints=n)) for n in (6, 20, 24, 26, 28, 30, 31)]
    for before, after in pairwise(nodes):
        assert after.written_bytes.value >= before.written_bytes.value
        assert after.write_bytes_per_s.value <= before.write_bytes_per_s.value * 1.001
        assert after.redo_fill.value >= before.redo_fill.value
    assert nodes[0].redo_fill.value == nodes[1].redo_fill.value, "under load they follow one another anyway"
    assert nodes[-1].redo_fill.value > 2 * nodes[1].redo_fill.value
    assert nodes[-1].redo_fill.value < 1 + nodes[1].redo_fill.value, "a log that is short begins one"


def test_the_log_is_as_full_as_in_a_run() -> None:
    plan = _plan(2000, TimeBetweenLocalCheckpoints=28)
    result = simulate(estimation_of(plan, "w"), duration_s=1800)
    assert result.redo_log_fill_max is not None
    assert _node(plan).redo_fill.value == pytest.approx(result.redo_log_fill_max.value, rel=0.25)


@given(st.floats(50.0, 5000.0), st.sampled_from(["7.4", "8.4"]))
def test_a_checkpoint_begins_when_the_log_of_a_part_is_short(rate_per_s: float, version: str) -> None:
    """Of as many spans as the log reaches back, all but the last are written when that is found out."""
    plan = _plan(rate_per_s, version, TimeBetweenLocalCheckpoints=31)
    load = node_loads(plan, plan.workloads[0])[0]
    settings, constants = node_settings(plan), constants_of(plan)
    every_s = least_interval_s(settings, constants, load, 1e12)
    known_s = constants["lcp_first_s"].value
    written = (every_s - known_s) * load.hottest_log_part[1] * constants["redo_page_overhead"].value
    spans = 2 if is_partial(settings) else 3
    assert written * (spans - 1) == pytest.approx(
        constants["redo_forces_checkpoint"].value * log_bytes_per_part(settings)
    )
    assert least_interval_s(settings, constants, load, every_s / 2) == every_s / 2 + known_s


@given(st.floats(0, 1e6), st.floats(1.0, 1e12), st.floats(1e6, 1e9))
def test_the_next_checkpoint_waits_for_writing_and_for_the_one_before(
    every_s: float, rows_bytes: float, speed: float
) -> None:
    one = Checkpoints(
        rows_bytes, 0.0, 0.0, 0.0, 0.0, None, 1.0, lambda used: speed, pause_s=3.0, fragments=1,
        spans_two=True, every_s=every_s,
    )  # fmt: skip
    takes_s = one.duration_s(0.0, 1.0, 0.0) + 3.0
    assert one.interval_s(0.0, 1.0, 0.0) == max(every_s, takes_s)
