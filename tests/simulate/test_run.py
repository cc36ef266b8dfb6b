"""What a run answers: the overload of article redo-overload, its remedies, laws that hold for every run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.errors import Cancelled
from ndbplan.base.units import MIB
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import assign_role
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import GoneError, Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, RatePoint
from ndbplan.simulate import steps
from ndbplan.simulate.model.scenario import SimulationError, build
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import Course, run_scenario, simulate
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import ERROR_CODES, Part, Purpose

BIG, SMALL = "blobs-5k", "blobs-1k"


def at_rate(plan: Plan, workload_id: str, rate_per_s: float, **load: object) -> Plan:
    """The plan with another steady rate."""
    points = (RatePoint(at_s=0, rate_per_s=rate_per_s),)
    return edits.update(plan, workload_id, load=OpenLoad(points=points, **load))


def with_disk_speed(plan: Plan, bytes_per_s: float) -> Plan:
    """The plan with other disks."""
    for host in plan.hosts:
        for disk in host.disks:
            plan = edits.update(plan, disk.id, sequential_write_bytes_per_s=bytes_per_s)
    return plan


def run_of(plan: Plan, workload_id: str, seconds: float, **settings: object) -> Simulation:
    """Final state of a run, for looking inside."""
    workload = plan.workload(workload_id)
    scenario = build(Estimation(plan, workload), duration_s=seconds, step_s=0.1, seed=1, **settings)
    return run_scenario(scenario)


def code_counts(result: SimulationResult) -> dict[int, float]:
    return {error.code: error.count for error in result.errors}


def test_small_blobs_leave_the_buffers_nearly_empty(overload: Plan) -> None:
    result = simulate(estimation_of(overload, SMALL))
    assert result.errors == ()
    assert result.redo_buffer_fill_max.value < 0.01
    assert result.accepted_per_s.value == pytest.approx(6960)


def test_big_blobs_saturate_the_disk_and_overflow_the_buffers(overload: Plan) -> None:
    result = simulate(estimation_of(overload, BIG))
    assert result.first_error is not None
    assert result.first_error.code == 1221
    assert 5 < result.first_error.first_at_s.value < 40
    fills = [part.fill_max for part in result.parts]
    assert max(fills) > 0.80
    assert result.disks[0].utilisation_max.value > 0.95
    assert result.bottleneck.resource == "disk"
    filling = int(result.first_error.first_at_s.value / 2)
    held = [part.last[filling] for part in result.parts]
    assert max(held) > 1.15 * min(held), "parts fill unevenly"


def test_device_bytes_per_transaction_match_iostat(overload: Plan) -> None:
    # 115 196 KiB/s at 4320 tx/s, each node on its own machine.
    result = simulate(estimation_of(overload, BIG))
    overloaded = slice(16, 30)
    device = sum(series[overloaded].mean() for series in result.disks[0].bytes_per_s.values())
    assert device == pytest.approx(115196 * 1024, rel=0.10)


def test_twice_the_buffer_only_delays_the_error(overload: Plan) -> None:
    once = simulate(estimation_of(overload, BIG)).first_error
    twice = simulate(
        estimation_of(set_parameter(overload, "data_node", "RedoBuffer", 96 * MIB), BIG)
    ).first_error
    assert once is not None
    assert twice is not None
    assert twice.code == 1221
    assert 1.5 < twice.first_at_s.value / once.first_at_s.value < 2.5


def test_a_second_node_group_cures(overload: Plan) -> None:
    assert simulate(estimation_of(add_node_group(overload), BIG)).errors == ()


def test_checkpoints_on_a_disk_of_their_own_cure(overload: Plan) -> None:
    plan = overload
    for node in plan.data_nodes:
        other = plan.host(node.host_id).disks[0].id
        plan = assign_role(plan, node.id, DiskRole.LCP, other)
    result = simulate(estimation_of(plan, BIG))
    assert result.errors == ()
    assert {disk.disk for disk in result.disks} == {"c0d0", "c0d1"}


@pytest.mark.parametrize("step_s", [0.05, 0.1, 2.0])
def test_a_job_of_more_than_a_million_steps_is_simulated_in_seconds(overload: Plan, step_s: float) -> None:
    course = Course(estimation_of(overload, None), (), step_s, 1)
    assert course.for_job(1e6 * step_s) is course
    # Never in shorter ones than were asked for.
    assert course.for_job((1e6 + 0.5) * step_s).step_s == max(1.0, step_s)


def test_same_seed_same_bytes(overload: Plan) -> None:
    first, again, other = (
        simulate(estimation_of(overload, BIG), duration_s=30, seed=seed) for seed in (7, 7, 8)
    )
    assert first.to_csv() == again.to_csv()
    assert json.dumps(first.to_json(why=True)) == json.dumps(again.to_json(why=True))
    assert first.to_csv() != other.to_csv()


@pytest.mark.usefixtures("both_kernels")
@pytest.mark.parametrize("workload", [BIG, SMALL, "blobs-5k-16-clients"])
def test_log_is_conserved_to_the_byte(overload: Plan, workload: str) -> None:
    run = run_of(overload, workload, 90)
    made, held = run.state.parts[Part.MADE], run.state.parts[Part.FILL]
    written = run.history.disk[:, :, Purpose.REDO].sum()
    assert (made - held).sum() == written
    assert np.all(held >= 0)
    offered = run.state.cluster.attempted
    kept = run.state.cluster.accepted + run.state.cluster.refused + run.state.cluster.waiting
    assert kept == pytest.approx(offered, rel=1e-12)
    useful = run.state.cluster.accepted * run.laws.load
    wasted = run.state.parts[Part.WASTED] - run.state.parts[Part.CARRY]
    # While parts refuse, what each can take is found by rounds that end when it hardly moves any more.
    assert made.sum() == pytest.approx((useful + wasted).sum(), rel=1e-7)


@pytest.mark.usefixtures("both_kernels")
def test_a_queue_conserves_transactions(overload: Plan) -> None:
    plan = set_parameter(overload, "sql", "DefaultOperationRedoProblemAction", "queue")
    plan = at_rate(plan, BIG, 9000, clients=64)
    run = run_of(plan, BIG, 60)
    cluster = run.state.cluster
    assert run.state.errors[ERROR_CODES.index(1221)] == 0
    assert cluster.waiting <= 64 + 1e-6
    assert cluster.attempted < cluster.offered
    kept = cluster.accepted + cluster.refused + cluster.waiting
    assert kept == pytest.approx(cluster.attempted, rel=1e-9)


def test_collapsing_identical_nodes_changes_nothing(overload: Plan) -> None:
    plan = add_node_group(overload)
    plan = at_rate(plan, BIG, 9000)
    alike, apart = (simulate(estimation_of(plan, BIG), every_node=every) for every in (False, True))
    assert alike.accepted_per_s.value == pytest.approx(apart.accepted_per_s.value, rel=1e-9)
    assert [(e.code, pytest.approx(e.count), e.first_at_s) for e in alike.errors] == [
        (e.code, e.count, e.first_at_s) for e in apart.errors
    ]
    by_node = {(p.node_id, p.log_part): p for p in apart.parts}
    for part in alike.parts:
        for node_id in part.node_ids:
            assert np.allclose(part.last, by_node[node_id, part.log_part].last, atol=2)


def test_identical_nodes_give_identical_series(overload: Plan) -> None:
    plan = at_rate(add_node_group(overload), BIG, 9000)
    result = simulate(estimation_of(plan, BIG), every_node=True)
    nodes = sorted({part.node_id for part in result.parts})
    assert len(nodes) == 4
    for log_part in range(4):
        first, *others = (
            next(p for p in result.parts if (p.node_id, p.log_part) == (node, log_part)) for node in nodes
        )
        for other in others:
            assert np.array_equal(first.last, other.last)
            assert np.array_equal(first.log_used, other.log_used)


def test_nodes_of_one_kind_give_one_series(telecom: Plan) -> None:
    result = simulate(estimation_of(telecom), duration_s=20)
    assert sum(len({p.node_ids}) for p in result.parts[:1]) == 1
    assert len({part.node_ids for part in result.parts}) < 20
    counted = {node_id for part in result.parts for node_id in part.node_ids}
    assert len(counted) == 144


@pytest.mark.parametrize("workload", [BIG, SMALL])
def test_half_the_step_changes_headline_numbers_by_less_than_2_percent(overload: Plan, workload: str) -> None:
    coarse, fine = (simulate(estimation_of(overload, workload), step_s=step) for step in (0.1, 0.05))
    assert fine.accepted_per_s.value == pytest.approx(coarse.accepted_per_s.value, rel=0.02)
    assert fine.redo_buffer_fill_max.value == pytest.approx(coarse.redo_buffer_fill_max.value, rel=0.02)
    assert fine.disks[0].write_bps_mean.value == pytest.approx(coarse.disks[0].write_bps_mean.value, rel=0.02)


@given(slow=st.floats(30e6, 200e6), gain=st.floats(1.1, 3.0))
def test_more_bandwidth_never_gives_less(overload: Plan, slow: float, gain: float) -> None:
    accepted = [
        simulate(
            estimation_of(with_disk_speed(overload, speed), BIG), duration_s=600, uneven=0.0
        ).accepted_per_s.value
        for speed in (slow, slow * gain)
    ]
    # A checkpoint may fall differently; its length is what the run cannot resolve.
    assert accepted[1] >= accepted[0] * 0.97


@given(speed=st.floats(40e6, 200e6), rate=st.floats(1000, 8000))
def test_two_equal_disks_instead_of_one_never_hurt(overload: Plan, speed: float, rate: float) -> None:
    one = at_rate(with_disk_speed(overload, speed), BIG, rate)
    two = one
    for node in one.data_nodes:
        two = assign_role(two, node.id, DiskRole.LCP, one.host(node.host_id).disks[0].id)
    together, apart = (simulate(estimation_of(plan, BIG), duration_s=60, uneven=0.0) for plan in (one, two))
    assert apart.accepted_per_s.value >= together.accepted_per_s.value * 0.995


def test_the_slowest_member_of_a_group_decides(overload: Plan) -> None:
    slow = overload.data_nodes[0]
    disk_id = slow.disk_roles.redo
    assert disk_id is not None
    healthy_plan = with_disk_speed(overload, 300e6)
    result = simulate(
        estimation_of(edits.update(healthy_plan, disk_id, sequential_write_bytes_per_s=60e6), BIG)
    )
    healthy, both_slow = (
        simulate(estimation_of(plan, BIG)).accepted_per_s.value
        for plan in (healthy_plan, with_disk_speed(overload, 60e6))
    )
    # Work that one replica refuses is wasted at the other one: two slow nodes take less than one.
    assert both_slow <= result.accepted_per_s.value < 1.5 * both_slow < healthy
    fills = {p.node_ids: p.last[15] / p.buffer_bytes for p in result.parts}
    assert fills[slow.node_id,] > 0.9
    assert fills[overload.data_nodes[1].node_id,] < 0.02


def test_closed_clients_send_one_transaction_at_a_time(overload: Plan) -> None:
    result = simulate(estimation_of(overload, "blobs-1k-16-clients"))
    load = overload.workload("blobs-1k-16-clients").load
    assert isinstance(load, ClosedLoad)
    assert result.offered_per_s == pytest.approx(16 / load.latency_s)
    assert result.bottleneck.resource == "clients"


def test_a_small_log_ends_in_410(overload: Plan) -> None:
    plan = set_parameter(overload, "data_node", "NoOfFragmentLogFiles", 3)
    plan = set_parameter(plan, "data_node", "FragmentLogFileSize", 64 * MIB)
    result = simulate(estimation_of(plan, SMALL), duration_s=200)
    assert 410 in code_counts(result)
    assert result.redo_log_fill_max.value > 0.95
    assert result.bottleneck.resource == "redo log"


def test_buffers_larger_than_files_end_in_1220(overload: Plan) -> None:
    plan = set_parameter(overload, "data_node", "FragmentLogFileSize", 16 * MIB)
    plan = set_parameter(plan, "data_node", "NoOfFragmentLogFiles", 200)
    result = simulate(estimation_of(plan, BIG))
    assert result.first_error is not None
    assert result.first_error.code == 1220


def test_nothing_offered_nothing_written(overload: Plan) -> None:
    result = simulate(estimation_of(at_rate(overload, BIG, 0), BIG))
    assert result.accepted_per_s.value == 0
    assert result.errors == ()
    assert result.redo_buffer_fill_max.value == 0


def test_buckets_keep_the_extremes(overload: Plan) -> None:
    result = simulate(estimation_of(overload, BIG), duration_s=3600)
    assert len(result.times_s) <= 1200
    for part in result.parts:
        assert np.all(part.low <= part.last)
        assert np.all(part.last <= part.high)


def test_json_has_the_published_shape(overload: Plan) -> None:
    shape = simulate(estimation_of(overload, BIG), duration_s=30).to_json()
    assert {
        "seed", "duration_s", "offered_per_s", "accepted_per_s", "errors", "disks", "redo_buffer_fill_max",
        "redo_log_fill_max", "bottleneck",
    } <= set(shape)  # fmt: skip
    assert set(shape["errors"][0]) == {"code", "count", "first_at_s", "node_id"}
    assert set(shape["disks"][0]) == {
        "host", "disk", "write_bps_mean", "utilisation_mean", "utilisation_max",
    }  # fmt: skip
    assert set(shape["bottleneck"]) == {"resource", "where", "text"}
    assert set(shape["accepted_per_s"]) == {"value", "low", "high", "unit"}
    json.dumps(shape, allow_nan=False)


def test_csv_has_a_line_for_each_second(overload: Plan) -> None:
    lines = simulate(estimation_of(overload, BIG), duration_s=30).to_csv().splitlines()
    assert len(lines) == 31
    assert all(line.count(",") == lines[0].count(",") for line in lines)


def test_results_stream_in_while_it_runs(overload: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[SimulationResult] = []
    monkeypatch.setattr(steps, "PARTIAL_EVERY_S", 0.0)
    whole = simulate(estimation_of(overload, BIG), duration_s=30_000, partial=parts.append)
    assert len(parts) >= 2
    lengths = [len(part.times_s) for part in parts]
    assert lengths == sorted(lengths)
    assert lengths[-1] < len(whole.times_s)
    last = lengths[-1] - 1
    assert np.allclose(parts[-1].accepted[:last], whole.accepted[:last])


def test_a_run_stops_at_the_next_look_and_looks_often(telecom: Plan) -> None:
    asked, progress = [], []

    def cancelled() -> bool:
        asked.append(len(progress))
        return len(asked) == 6

    with pytest.raises(Cancelled):
        simulate(
            estimation_of(telecom),
            duration_s=86_400,
            cancelled=cancelled,
            progress=progress.append,
            every_node=True,
        )
    assert asked == [0, 1, 2, 3, 4, 5], "one look before each stretch of steps, none after the last"
    scenario = build(
        Estimation(telecom, telecom.workloads[0]), duration_s=86_400, step_s=0.1, seed=1, every_node=True
    )
    stretch = np.diff([0.0, *progress]).max() * scenario.steps * scenario.laws.load.size
    assert stretch <= steps.CHUNK_PART_STEPS * 1.0001


@given(
    rate=st.floats(10, 50_000),
    speed=st.floats(5e6, 500e6),
    buffer_mib=st.sampled_from([1, 4, 32, 256]),
    action=st.sampled_from(["abort", "queue"]),
    rows=st.sampled_from([1, 3, 50]),
    seed=st.integers(1, 1000),
)
def test_any_overload_stays_within_its_buffers(
    overload: Plan, rate: float, speed: float, buffer_mib: int, action: str, rows: int, seed: int
) -> None:
    plan = with_disk_speed(at_rate(overload, SMALL, rate, clients=100), speed)
    plan = set_parameter(plan, "data_node", "RedoBuffer", buffer_mib * MIB)
    plan = set_parameter(plan, "sql", "DefaultOperationRedoProblemAction", action)
    one = plan.workload(SMALL).transactions[0]
    operations = tuple(o.model_copy(update={"rows": rows}) for o in one.operations)
    plan = edits.update(plan, SMALL, transactions=(one.model_copy(update={"operations": operations}),))
    result = simulate(estimation_of(plan, SMALL), duration_s=20, seed=seed)
    assert result.redo_buffer_fill_max.value <= 1.0
    assert result.accepted_per_s.value <= result.offered_per_s * (1 + 1e-9)
    assert all(disk.utilisation_max.high <= 1.0 for disk in result.disks)
    refused = {error.code for error in result.errors}
    assert action == "abort" or not refused & {1220, 1221, 1234}


def test_cancel_and_progress(overload: Plan) -> None:
    heard: list[float] = []
    simulate(estimation_of(overload, BIG), duration_s=6000, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0
    with pytest.raises(Cancelled):
        simulate(estimation_of(overload, BIG), duration_s=6000, cancelled=lambda: True)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"step_s": 0.0}, "step"),
        ({"step_s": 5.0}, "step"),
        ({"duration_s": 0.0}, "duration"),
        ({"duration_s": 1e9}, "steps"),
        ({"duration_s": float("nan")}, "duration"),
    ],
)
def test_bad_settings_are_told(overload: Plan, settings: dict[str, object], told: str) -> None:
    with pytest.raises(SimulationError, match=told):
        simulate(estimation_of(overload), **settings)


def test_an_unknown_workload_is_told(overload: Plan) -> None:
    with pytest.raises(GoneError, match="no such"):
        estimation_of(overload, "no such")


def test_a_plan_without_nodes_or_disks_is_told(overload: Plan) -> None:
    nodes = {p.id for p in overload.processes if isinstance(p, DataNode)}
    with pytest.raises(SimulationError, match="node group"):
        simulate(estimation_of(edits.remove(overload, nodes), BIG))
    host = overload.host(overload.data_nodes[0].host_id)
    bare = edits.remove(overload, {disk.id for disk in host.disks})
    with pytest.raises(SimulationError, match="no disk"):
        simulate(estimation_of(bare, BIG))
