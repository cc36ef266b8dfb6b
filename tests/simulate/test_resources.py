"""Memory, disk data, processors, network: what is full refuses, what is slow holds back."""

from __future__ import annotations

import numpy as np
import pytest

from ndbplan.base.resources import resource_path
from ndbplan.base.row_types import column
from ndbplan.base.units import MIB
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import checkpoint
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.workloads import OpenLoad, Operation, OperationKind, RatePoint, Transaction, Workload
from ndbplan.simulate.model.scenario import build
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import run_scenario, simulate
from ndbplan.simulate.world.indices import Purpose

BIG, SMALL = "blobs-5k", "blobs-1k"


@pytest.fixture(scope="module")
def disk_plan() -> Plan:
    """Tables with columns on disk, 100 000 rows at the start."""
    plan = load(resource_path("samples/disk-data.ndbplan"))
    return edits.update(plan, plan.tables[0].id, rows=100_000)


def with_load(plan: Plan, kind: OperationKind, rate_per_s: float, **load_fields: float) -> Plan:
    """The plan with one workload: single rows of its first table."""
    operation = Operation(table_id=plan.tables[0].id, kind=kind)
    workload = Workload(
        id="only", name="only", transactions=(Transaction(name="one", operations=(operation,)),),
        load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate_per_s),), **load_fields),
    )  # fmt: skip
    return plan.replace(workloads=(workload,))


def test_data_memory_fills_and_refuses_with_827(overload: Plan) -> None:
    plan = set_parameter(overload, "data_node", "DataMemory", 3 * 2**30)
    result = simulate(estimation_of(plan, SMALL), duration_s=300)
    assert {error.code for error in result.errors} == {827}
    assert result.bottleneck.resource == "memory"
    node = result.nodes[0]
    limit = 0.95 * 3 * 2**30
    assert node.memory.max() == pytest.approx(limit, rel=0.01)
    per_row = np.diff(node.memory[:20]).mean() / 6960
    # Two blobs of 1024 bytes and their rows.
    assert 2100 < per_row < 2700


def test_updates_fill_no_memory(overload: Plan) -> None:
    result = simulate(estimation_of(with_load(overload, OperationKind.UPDATE, 500)), duration_s=30)
    assert result.nodes[0].memory[-1] == result.nodes[0].memory[0]


@pytest.mark.usefixtures("both_kernels")
def test_disk_data_writes_pages_and_undo(disk_plan: Plan) -> None:
    plan = with_load(disk_plan, OperationKind.UPDATE, 200)
    scenario = build(Estimation(plan, plan.workloads[0]), duration_s=120, step_s=0.1, seed=1)
    run = run_scenario(scenario)
    state, accepted = run.state.node_state, run.accepted
    undo = run.history.disk[:, :, Purpose.UNDO].sum()
    pages = run.history.disk[:, :, Purpose.DATA_FILES].sum()
    made = (accepted * column(run.laws.nodes, lambda node: node.undo_bytes)).sum()
    dirty = (accepted * column(run.laws.nodes, lambda node: node.dirty_bytes)).sum()
    assert undo + column(state, lambda node: node.undo_held_bytes).sum() == pytest.approx(made, rel=1e-9)
    assert pages + column(state, lambda node: node.dirty_bytes).sum() == pytest.approx(dirty, rel=1e-9)
    assert undo > 0
    assert pages > 0


def test_dirty_pages_are_written_as_fast_as_threads_and_disk_can(disk_plan: Plan) -> None:
    """No faster than the product begins to write them, and no slower where the disk could: no time is set."""

    def written(times: float, rate: float) -> tuple[float, float]:
        plan = disk_plan
        for host in disk_plan.hosts:
            for disk in host.disks:
                plan = edits.update(
                    plan, disk.id,
                    sequential_write_bytes_per_s=disk.sequential_write_bytes_per_s * times,
                    random_write_iops=disk.random_write_iops * times,
                    random_read_iops=disk.random_read_iops * 100,
                )  # fmt: skip
        # A checkpoint writes all of them.
        plan = set_parameter(plan, "data_node", "TimeBetweenLocalCheckpoints", 31)
        plan = with_load(plan, OperationKind.UPDATE, rate)
        run = run_scenario(build(Estimation(plan, plan.workloads[0]), duration_s=60, step_s=0.1, seed=1))
        pages = run.history.disk[:, :, Purpose.DATA_FILES].sum(axis=0).max() / 60
        return float(pages), float(run.laws.nodes[0].clean_bytes_per_s)

    slow, limit = written(0.02, 2000)
    fast, _ = written(10.0, 2000)
    assert slow < 0.1 * fast
    assert fast == pytest.approx(limit, rel=0.02)


def _on_two_disks(plan: Plan, *slow: DiskRole) -> Plan:
    """Each data node with a slow disk for some of what it writes, and a fast one for the rest."""
    for node in plan.data_nodes:
        one = plan.host(node.host_id).disks[0]
        fast = one.model_copy(update={"id": f"{one.id}-2", "name": "fast", "kind": "nvme"})
        quick = {"sequential_write_bytes_per_s": 1e9, "random_write_iops": 1e6, "random_read_iops": 1e6}
        disks = (
            one.model_copy(update={"sequential_write_bytes_per_s": 1e7, "kind": "ssd"}),
            fast.model_copy(update=quick),
        )
        plan = edits.update(plan, node.host_id, disks=disks)
        roles = {role.value: disks[role not in slow].id for role in DiskRole}
        plan = edits.update(plan, node.id, disk_roles=roles)
    return plan


def test_undo_log_is_written_beside_a_checkpoint_that_takes_all_it_can_get(disk_plan: Plan) -> None:
    """As a log part is: it waited altogether while checkpoints wrote to a disk that had no redo log."""
    plan = with_load(disk_plan, OperationKind.UPDATE, 1000)
    plan = set_parameter(plan, "data_node", "DiskCheckpointSpeed", 200 * MIB)
    table = plan.tables[0]
    plan = edits.update(plan, table.id, rows=1_000_000)
    plan = _on_two_disks(plan, DiskRole.LCP, DiskRole.UNDO)
    scenario = build(Estimation(plan, plan.workloads[0]), duration_s=60, step_s=0.1, seed=1)
    run = run_scenario(scenario)
    d = scenario.laws.places[0].undo_disk
    written = run.history.disk[:, d]
    checkpoints, undo = written[:, Purpose.LCP], written[:, Purpose.UNDO]
    busy = checkpoints > 0.6 * 1e7
    said = checkpoint(plan, plan.workloads[0]).nodes[0].speed_bytes_per_s
    # The estimate let checkpoints have all of the disk.
    assert said.value == pytest.approx(float(np.median(checkpoints[busy])), rel=0.1)
    assert said.value < 0.95e7
    ldms = scenario.laws.nodes[0].ldms
    weight = ldms * constants_of(plan)["lcp_thread_weight"].value
    assert scenario.laws.disks[d].lcp_share == pytest.approx(weight / (weight + 1))
    assert busy.sum() >= 5
    assert undo[busy].min() > 0


def test_a_small_undo_log_refuses_with_1501(disk_plan: Plan) -> None:
    group = disk_plan.logfile_groups[0]
    small = tuple(f.model_copy(update={"size_bytes": 16 * MIB}) for f in group.undo_files)
    plan = edits.update(disk_plan, group.id, undo_files=small)
    result = simulate(estimation_of(with_load(plan, OperationKind.UPDATE, 400)), duration_s=600)
    assert 1501 in {error.code for error in result.errors}
    assert result.bottleneck.resource == "undo log"


def test_a_full_tablespace_refuses_with_1601(disk_plan: Plan) -> None:
    result = simulate(estimation_of(with_load(disk_plan, OperationKind.INSERT, 4000)), duration_s=2000)
    assert 1601 in {error.code for error in result.errors}
    assert result.bottleneck.resource == "tablespace"


def test_a_small_page_buffer_holds_back_and_refuses_nothing(disk_plan: Plan) -> None:
    plan = set_parameter(disk_plan, "data_node", "DiskPageBufferMemory", 8 * MIB)
    result = simulate(estimation_of(with_load(plan, OperationKind.UPDATE, 3000)), duration_s=60)
    assert result.errors == ()
    assert result.accepted_per_s.value < 0.9 * 3000


def test_processors_hold_back(overload: Plan) -> None:
    plan = overload
    for node in overload.data_nodes:
        plan = edits.update(plan, node.host_id, clock_ghz=0.1)
    result = simulate(estimation_of(plan, SMALL))
    assert result.errors == ()
    assert result.bottleneck.resource == "cpu"
    assert result.accepted_per_s.value < 6960


def test_a_slow_network_holds_back(overload: Plan) -> None:
    plan = overload
    for host in overload.hosts:
        plan = edits.update(plan, host.id, network_bytes_per_s=10e6)
    result = simulate(estimation_of(plan, SMALL))
    assert result.bottleneck.resource == "network"
    assert result.accepted_per_s.value < 0.7 * 6960


def test_retries_add_attempts_and_are_conserved(overload: Plan) -> None:
    load_ = overload.workload(BIG).load
    assert isinstance(load_, OpenLoad)
    plan = edits.update(overload, BIG, load=load_.model_copy(update={"retries": 3}))
    without, with_retries = simulate(estimation_of(overload, BIG)), simulate(estimation_of(plan, BIG))
    assert with_retries.attempted.sum() > without.attempted.sum()
    assert with_retries.offered.sum() == without.offered.sum()
    assert with_retries.attempted.sum() == pytest.approx(
        with_retries.accepted.sum() + with_retries.refused.sum(), rel=1e-9
    )


def test_other_programs_take_their_share_of_a_disk(overload: Plan) -> None:
    plan = overload
    for host in overload.hosts:
        for disk in host.disks:
            plan = edits.update(plan, disk.id, other_load=0.3)
    first, other = (
        simulate(estimation_of(overload, BIG)).first_error,
        simulate(estimation_of(plan, BIG)).first_error,
    )
    assert first is not None
    assert other is not None
    assert other.first_at_s.value < first.first_at_s.value
