from __future__ import annotations

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.configuration.directories import disk_for
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import assign_role
from ndbplan.estimate.loaded import disk_data, disk_demand
from ndbplan.plan.file import load
from ndbplan.plan.plan import Calibration, Plan
from ndbplan.plan.processes import DiskRole

OVERLOAD = load(resource_path("samples/redo-overload.ndbplan"))
DISK_DATA = load(resource_path("samples/disk-data.ndbplan"))
STARTER = load(resource_path("samples/starter.ndbplan"))


def on_one_node(plan: Plan, workload: int = 0) -> object:
    demand = disk_demand(plan, plan.workloads[workload])
    assert demand.busiest is not None
    return demand.busiest


def test_the_published_overload_saturates_the_disk_and_the_small_blobs_do_not() -> None:
    assert on_one_node(OVERLOAD, 0).utilisation.value > 1
    assert on_one_node(OVERLOAD, 1).utilisation.value < 0.9


def test_the_derivation_of_a_busy_disk_names_redo_and_checkpoints() -> None:
    demand = on_one_node(OVERLOAD)
    assert {purpose for purpose, _ in demand.by_purpose} == {DiskRole.REDO, DiskRole.LCP}
    assert sum(rate for _, rate in demand.by_purpose) == pytest.approx(demand.write_bytes_per_s.value)
    text = str(demand.to_json(why=True))
    assert "redo of node" in text
    assert "DiskCheckpointSpeed" in text or "checkpoint" in text


def test_checkpoints_on_another_disk_relieve_it() -> None:
    plan = OVERLOAD
    for node in plan.data_nodes:
        own = disk_for(plan, node, DiskRole.REDO)
        other = next(d for d in plan.host(node.host_id).disks if d is not own)
        plan = assign_role(plan, node.id, DiskRole.LCP, other.id)
    assert on_one_node(plan).utilisation.value < 0.9


def test_a_second_node_group_halves_the_log_of_each_disk() -> None:
    before, after = on_one_node(OVERLOAD), on_one_node(add_node_group(OVERLOAD))
    redo_before = dict(before.by_purpose)[DiskRole.REDO]
    assert dict(after.by_purpose)[DiskRole.REDO] == pytest.approx(redo_before / 2, rel=0.05)


def test_a_calibrated_write_factor_multiplies_the_log() -> None:
    doubled = OVERLOAD.replace(
        calibrations=(Calibration(constant="device_write_factor", value=2.0, source="iostat"),)
    )
    once, twice = (dict(on_one_node(p).by_purpose)[DiskRole.REDO] for p in (OVERLOAD, doubled))
    assert twice == pytest.approx(2 * once)


def test_roles_without_a_disk_fall_to_the_first_one_and_other_programs_count() -> None:
    node = STARTER.data_nodes[0]
    bare = assign_role(STARTER, node.id, DiskRole.REDO, None)
    first = STARTER.host(node.host_id).disks[0]
    assert disk_for(bare, bare.data_nodes[0], DiskRole.REDO) is first
    loaded = edits.update(STARTER, first.id, other_load=0.5)
    idle = disk_demand(loaded, None).of(first.id)
    assert idle is not None
    assert idle.utilisation.value == pytest.approx(0.5)


def test_disk_rows_take_their_declared_width() -> None:
    found = disk_data(DISK_DATA, DISK_DATA.workloads[0])
    assert found.nodes[0].pages_bytes.value == pytest.approx(2.5e6 / 7 * 32768, rel=0.01)
    assert found.tablespaces[0].fill.value == pytest.approx(0.87, abs=0.03)
    assert found.undo_capacity_bytes == 20 * 2**30


def test_random_reads_miss_what_the_cache_does_not_hold() -> None:
    reads = disk_data(DISK_DATA, DISK_DATA.workloads[1]).nodes[0]
    assert reads.hit_ratio.low <= 0.55 <= reads.hit_ratio.high
    assert reads.random_reads_per_s.value > 0
    bigger = set_parameter(DISK_DATA, "data_node", "DiskPageBufferMemory", 64 * 2**30)
    assert disk_data(bigger, bigger.workloads[1]).nodes[0].random_reads_per_s.value == 0


def test_reading_backups_spreads_over_more_pages() -> None:
    table = DISK_DATA.tables[0]
    spread = edits.update(DISK_DATA, table.id, read_backup=True)
    assert (
        disk_data(spread, None).nodes[0].hit_ratio.value < disk_data(DISK_DATA, None).nodes[0].hit_ratio.value
    )


def test_tables_in_memory_have_no_disk_data() -> None:
    assert not disk_data(OVERLOAD, OVERLOAD.workloads[0]).nodes
