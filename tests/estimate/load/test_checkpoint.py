from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.resources import resource_path
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.checkpoint_speed import is_partial, speed_limits
from ndbplan.estimate.load.partial_checkpoint import PARTS, partial_fraction, whole_parts
from ndbplan.estimate.load.turns import lengthened
from ndbplan.estimate.loaded import checkpoint, redo
from ndbplan.estimate.stored import node_data
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.model.scenario import build
from reality.judged import error, share_inside
from reality.load_runs import plan_of, runs
from reality.measured_load import estimated_checkpoint_rows

STARTER = load(resource_path("samples/starter.ndbplan"))
OVERLOAD = load(resource_path("samples/redo-overload.ndbplan"))
PARTIAL = Path(__file__).parents[2] / "reality" / "clusters" / "load-8.4.8" / "partial-lcp-steps.csv"
FULL = edits.set_plan(STARTER, ndb_version="7.5")


def at_rate(plan: Plan, rate: float) -> Plan:
    load_of = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate),))
    return edits.update(plan, plan.workloads[0].id, load=load_of)


def node(plan: Plan, busy: bool = True) -> object:
    return checkpoint(plan, plan.workloads[0] if busy else None).nodes[0]


def test_versions_decide_how_checkpoints_work() -> None:
    assert is_partial(node_settings(STARTER))
    assert not is_partial(node_settings(FULL))
    assert not is_partial(node_settings(set_parameter(STARTER, "data_node", "EnablePartialLcp", 0)))
    old = speed_limits(node_settings(OVERLOAD))
    assert old.floor == old.ceiling == 80 * 2**20
    assert not old.redo_control
    assert speed_limits(node_settings(STARTER)).redo_control


def test_a_full_checkpoint_takes_its_bytes_by_the_speed() -> None:
    found = node(FULL, busy=False)
    assert found.duration_s.value == pytest.approx(
        found.written_bytes.value / speed_limits(node_settings(FULL)).ceiling
    )
    assert found.written_bytes.value == pytest.approx(found.full_bytes.value, rel=1e-4)
    assert found.write_bytes_per_s.value == 0


def test_a_partial_checkpoint_writes_what_changed() -> None:
    found = node(STARTER)
    assert 0 < found.written_bytes.value < 0.01 * found.full_bytes.value
    assert node(FULL).written_bytes.value >= node(FULL).full_bytes.value


def test_compression_halves_a_checkpoint() -> None:
    packed = set_parameter(FULL, "data_node", "CompressedLCP", 1)
    assert node(packed, busy=False).duration_s.value == pytest.approx(
        node(FULL, busy=False).duration_s.value / 2, rel=1e-4
    )


@given(st.floats(1, 1e5), st.floats(1, 1e5))
def test_more_writes_never_make_a_checkpoint_smaller(few: float, more: float) -> None:
    few, more = sorted((few, more))
    for plan in (STARTER, FULL):
        less, most = (node(at_rate(plan, rate)).written_bytes.value for rate in (few, more))
        assert less <= 1.01 * most


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0.25, 1))
def test_the_share_written_in_full_grows_with_changes(a: float, b: float, share: float, work: float) -> None:
    a, b = sorted((a, b))
    assert 0 <= partial_fraction(a, share, work) <= partial_fraction(b, share, work) <= 1


def test_a_fragment_of_which_most_rows_changed_is_written_whole() -> None:
    assert partial_fraction(0.7, 0.5, 0.6) < 0.6
    assert partial_fraction(0.7001, 0.5, 0.6) == 1.0


@given(st.floats(0, 1), st.floats(1e-3, 1))
def test_what_changed_is_written_in_whole_parts_and_nothing_else_is(fraction: float, touched: float) -> None:
    assert whole_parts(0.0, touched) == 0.0
    if fraction > 0:
        assert min(1.0, max(fraction, touched / PARTS)) <= whole_parts(fraction, touched) * (1 + 1e-9)
        assert whole_parts(fraction, touched) <= min(1.0, fraction + touched / PARTS) * (1 + 1e-9)


@pytest.mark.parametrize(("full", "parts"), [(0.1, 1.0), (0.9, 1.0), (1.0, 1.5), (1.5, 2.0), (500.0, 500.5)])
def test_few_parts_are_whole_ones(full: float, parts: float) -> None:
    """Half of a part more was written of every fragment, also where no part is full."""
    assert PARTS * whole_parts(full / PARTS) == pytest.approx(parts, rel=1e-3)
    assert PARTS * whole_parts(full / PARTS / 2, 0.5) == pytest.approx(parts / 2, rel=1e-3)


def test_the_limit_of_small_changes_is_that_of_the_manual() -> None:
    change = 1e-6
    written = partial_fraction(change, 0.0, 0.6) + change
    assert written / change == pytest.approx(2.67, abs=0.01)
    assert partial_fraction(change, 0.0, 0.4) / change + 1 == pytest.approx(3.5, abs=0.01)


def test_the_log_must_span_the_checkpoints() -> None:
    found = node(FULL)
    span = 3 * (found.duration_s.value + 3.2)
    hottest = redo(FULL, FULL.workloads[0]).nodes[0].hottest_part_bytes_per_s.value
    assert found.redo_needed_bytes.value == pytest.approx(span * hottest * 1.0044)
    assert found.redo_fill.value == pytest.approx(found.redo_needed_bytes.value / found.redo_log_bytes)


def test_growing_data_overflows_the_log_sooner_when_checkpoints_are_slow() -> None:
    roomy = set_parameter(OVERLOAD, "data_node", "DataMemory", 2**40)
    roomy = set_parameter(roomy, "data_node", "IndexMemory", 2**40)
    slow = set_parameter(roomy, "data_node", "DiskCheckpointSpeed", 10 * 2**20)
    workload = OVERLOAD.workloads[1]
    fast = checkpoint(roomy, workload).nodes[0].overflow_after_s
    late = checkpoint(slow, workload).nodes[0].overflow_after_s
    assert fast is not None
    assert late is not None
    assert late.value < fast.value
    # DataMemory is full before: no row is added any more.
    assert checkpoint(OVERLOAD, workload).nodes[0].overflow_after_s is None
    assert checkpoint(STARTER, STARTER.workloads[0]).nodes[0].overflow_after_s is None


def test_a_larger_log_lasts_longer() -> None:
    files = OVERLOAD.parameters.data_node["NoOfFragmentLogFiles"]
    larger = set_parameter(OVERLOAD, "data_node", "NoOfFragmentLogFiles", 2 * files)
    workload = OVERLOAD.workloads[1]
    assert redo(larger, workload).time_to_full_s.value > 2 * redo(OVERLOAD, workload).time_to_full_s.value


def test_bytes_of_partial_checkpoints_by_distinct_changed_rows() -> None:
    """A table alone on a running 8.4.8: 1 million rows changed by so much (RecoveryWork 60)."""
    with PARTIAL.open(encoding="utf-8", newline="") as file:
        cases = [row for row in csv.DictReader(file) if row["changed_rows_distinct"]]
    near = 0
    for case in cases:
        rows, distinct = float(case["rows_before_lcp"]), float(case["changed_rows_distinct"])
        weight = {"u": 1.0, "i": 0.4, "d": 1.2}[case["tag"]]
        changed = 0.0 if case["tag"] == "d" else distinct
        full = whole_parts(partial_fraction(weight * distinct / rows, 1 / 2, 0.6))
        near += rows * full + changed * (1 - full) == pytest.approx(float(case["n2_records"]), rel=0.05)
    assert near >= 0.8 * len(cases)


def test_bytes_of_partial_checkpoints_of_growing_tables() -> None:
    """27 checkpoints of running 8.4.8 clusters during inserts: no constant is fitted to them, see `turns`."""
    found = estimated_checkpoint_rows()
    errors = sorted(abs(error(row)) for row in found)
    assert len(errors) >= 26
    assert errors[len(errors) // 2] < 0.07
    assert sum(one <= 0.1 for one in errors) >= 0.6 * len(errors)
    assert 0.8 <= share_inside(found) <= 0.97


@pytest.mark.parametrize("name", ["redo-overload", "redo-overload-8.4"])
def test_rows_that_come_faster_than_they_are_written_end_where_memory_does(name: str) -> None:
    plan = sample_plan(name)
    load = plan.workloads[0]
    fast = load.model_copy(update={"load": OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=1e6),))})
    (node, *_) = checkpoint(edits.put(plan, workloads=(fast,)), fast).nodes
    (before, *_) = checkpoint(plan, None).nodes
    room = node_settings(plan, plan.data_nodes[0]).number("DataMemory")
    assert before.full_bytes.value < room
    assert node.written_bytes.value == pytest.approx(room, rel=1e-3)
    assert room <= node.written_bytes.high < 1.1 * room
    assert node.duration_s.value <= 1.1 * room / node.speed_bytes_per_s.value


def test_fragments_are_written_in_turn_each_as_large_as_it_is_then() -> None:
    """Two of 50 MB at 10 MB/s while each grows by 1 MB/s: 50 MB, and 55 MB five seconds later."""
    assert 100e6 * lengthened(2e6 / 10e6, 2) == pytest.approx(105e6)
    assert lengthened(0.2, 64) == pytest.approx(math.expm1(0.2) / 0.2, rel=3e-3)
    assert lengthened(0.0, 2) == lengthened(-1.0, 2) == 1.0


@pytest.mark.parametrize("replicas", [1, 2])
def test_an_ldm_thread_has_a_fragment_for_each_replica(replicas: int) -> None:
    """So a table alone has k = y (1 + 0.5 / replicas): a fragment counts by its share of the rows."""
    plan = set_parameter(plan_of(runs()[-1]), "data_node", "NoOfReplicas", replicas)
    nodes = node_data(plan.replace(tables=(plan.tables[0].model_copy(update={"rows": 1000}),)))
    assert [part.in_turn for node in nodes for part in node.tables] == [replicas, replicas]


@pytest.mark.parametrize(("name", "measured"), [("A1", 5.95e6), ("A5", 11.8e6), ("A7", 3.08e6)])
def test_no_checkpoint_is_written_faster_than_its_disk_can_beside_the_log(name: str, measured: float) -> None:
    """Disks of 10, 20 and 5 MB/s, MaxDiskWriteSpeed 20 MiB/s: what was written while the log was behind."""
    plan = plan_of(next(run for run in runs() if run.name == name))
    speed = node(plan).speed_bytes_per_s
    assert speed.value == pytest.approx(measured, rel=0.05)
    disk = plan.hosts[0].disks[0].sequential_write_bytes_per_s
    assert speed.high <= disk
    idle = node(plan, busy=False)
    assert idle.speed_bytes_per_s.value == min(disk, 20 * 2**20)


@given(st.floats(1e6, 1e9), st.floats(1.0, 3.0))
def test_a_faster_disk_never_slows_a_checkpoint(disk: float, times: float) -> None:
    def speed(bytes_per_s: float) -> float:
        disks = [disk.id for host in STARTER.hosts for disk in host.disks]
        plan = STARTER
        for one in disks:
            plan = edits.update(plan, one, sequential_write_bytes_per_s=bytes_per_s)
        return node(plan).speed_bytes_per_s.value

    assert speed(disk) <= speed(disk * times) + 1e-6


def _with_threads(ldm: int, log_parts: int) -> Plan:
    """The cluster of a measured run with so many LDM threads on so many log parts."""
    plan = plan_of(next(run for run in runs() if run.name == "A1"))
    plan = set_parameter(plan, "data_node", "NoOfFragmentLogParts", log_parts)
    return set_parameter(plan, "data_node", "ThreadConfig", f"main,rep,tc,recv,ldm={{count={ldm}}}")


@pytest.mark.parametrize(
    ("ldm", "log_parts", "threads", "share"),
    [(2, 4, 2, 1.0), (4, 4, 4, 1.0), (3, 4, 3, 2 / 3), (8, 4, 4, 1 / 2), (16, 4, 4, 1 / 4)],
)
def test_a_checkpoint_is_written_by_the_threads_with_rows(
    ldm: int, log_parts: int, threads: int, share: float
) -> None:
    """LDM threads beyond the log parts stay empty, and their part of the speed unused (running 8.4.8)."""
    plan = _with_threads(ldm, log_parts)
    found = checkpoint(plan, plan.workloads[0]).nodes[0]
    laws = build(Estimation(plan, plan.workloads[0]), duration_s=1.0, step_s=0.1, seed=1).laws
    limits = speed_limits(node_settings(plan))
    assert (found.threads, laws.nodes[0].ldms) == (threads, threads)
    assert laws.nodes[0].lcp_max_bytes_per_s == pytest.approx(share * limits.ceiling, rel=1e-3)
    assert found.speed_bytes_per_s.low <= share * limits.ceiling * 1.001
