from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.resources import resource_path
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.roles import move_process
from ndbplan.edits.validated import EditError
from ndbplan.estimate.grown import ReorganiseError, grow, reorganise
from ndbplan.estimate.stored import distribute, redistribute
from ndbplan.plan.file import load
from ndbplan.plan.plan import EMPTY_PLAN, Calibration, Plan
from ndbplan.plan.tables import Index

ADD_NODES = load(resource_path("samples/add-nodes.ndbplan"))
STARTER = load(resource_path("samples/starter.ndbplan"))
FIXED_S = 6.8


def with_rows(plan: Plan, rows: int) -> Plan:
    return edits.update(plan, plan.tables[0].id, rows=rows, partition_rows=())


def beyond_fixed(plan: Plan) -> float:
    return reorganise(plan).duration_s.value - FIXED_S


def test_published_reorganisation_is_within_its_range() -> None:
    found = reorganise(ADD_NODES)
    assert found.duration_s.value == pytest.approx(247.97, rel=0.02)
    assert found.duration_s.low < 247.97 < found.duration_s.high
    assert found.duration_s.high / found.duration_s.low < 6
    assert found.duration_s.why


def test_memory_peak_is_half_more_than_before() -> None:
    found = reorganise(ADD_NODES)
    before = sum(p.fixed_bytes + p.variable_bytes for p in found.tables[0].redistribution.partitions[:8])
    assert found.memory_peak_bytes == pytest.approx(1.5 * before, rel=1e-3)
    assert [peak.is_new for peak in found.node_peaks] == [False, False, True, True]
    assert all(peak.fits for peak in found.node_peaks)


@given(st.integers(1, 20), st.integers(2, 8))
@settings(max_examples=10)
def test_twice_the_rows_take_twice_as_long(hundred_thousands: int, factor: int) -> None:
    rows = hundred_thousands * 100_000
    once = beyond_fixed(with_rows(ADD_NODES, rows))
    assert beyond_fixed(with_rows(ADD_NODES, factor * rows)) == pytest.approx(factor * once, rel=0.05)


@given(st.floats(0.5, 8), st.floats(0.5, 8))
@settings(max_examples=10)
def test_faster_cores_never_lengthen_it(slow: float, fast: float) -> None:
    slow, fast = sorted((slow, fast))

    def at(clock: float) -> float:
        plan = ADD_NODES
        for host in ADD_NODES.hosts:
            plan = edits.update(plan, host.id, clock_ghz=clock)
        return reorganise(plan).duration_s.value

    assert at(fast) <= at(slow) + 1e-9


def test_each_further_ordered_index_costs() -> None:
    table = ADD_NODES.tables[0]
    more = edits.update(ADD_NODES, table.id, indexes=(*table.indexes, Index(name="b", columns=("b",))))
    assert beyond_fixed(more) > 1.05 * beyond_fixed(ADD_NODES)


def test_traffic_lengthens_it() -> None:
    idle = reorganise(STARTER).duration_s.value
    assert reorganise(STARTER, workload=STARTER.workloads[1]).duration_s.value > idle


def test_nodes_that_share_the_cores_of_one_host_are_slower() -> None:
    together = ADD_NODES
    together = move_process(together, "ndb3", "computer4")
    together = edits.update(together, "computer4", cores=1)
    found = reorganise(together)
    assert found.duration_s.value > reorganise(ADD_NODES).duration_s.value
    assert "the 1 core of" in found.tables[0].bound


def test_a_slow_disk_bounds_it() -> None:
    slow = ADD_NODES
    for disk_id in ADD_NODES.host_of_disk:
        slow = edits.update(slow, disk_id, sequential_write_bytes_per_s=1e6)
    assert reorganise(slow).tables[0].bound.startswith("disk sda")


def test_a_timed_reorganisation_narrows_the_range() -> None:
    measured = Calibration(constant="reorganise_scale", value=1.2, source="timed in May")
    found = reorganise(ADD_NODES.replace(calibrations=(measured,))).duration_s
    assert found.value == pytest.approx(FIXED_S + 1.2 * beyond_fixed(ADD_NODES))
    assert found.high / found.low < 1.5
    assert "timed in May" in str(found.to_json(why=True))


def test_tables_with_stated_partitions_stay() -> None:
    plan = edits.update(ADD_NODES, "t1", partitions=8, partition_rows=())
    table = reorganise(plan).tables[0]
    assert not table.moves
    assert table.duration_s.value == 0
    assert "1511" in table.bound


def test_a_table_with_one_row_takes_its_fixed_steps() -> None:
    """Its partitions are added whether or not a row moves into them."""
    seconds = [reorganise(with_rows(ADD_NODES, rows)).duration_s.value for rows in (0, 1, 2, 100)]
    assert seconds == sorted(seconds)
    assert seconds[0] == pytest.approx(FIXED_S)


def test_unique_indexes_and_max_rows_are_told() -> None:
    plan = edits.update(
        ADD_NODES, "t1", max_rows=1000, indexes=(Index(name="u", columns=("b",), kind="unique"),)
    )
    notes = " ".join(reorganise(plan).tables[0].notes)
    assert "unique hash indexes stay" in notes
    assert "MAX_ROWS" in notes


def test_fully_replicated_tables_are_copied_to_the_new_group() -> None:
    plan = edits.update(STARTER, STARTER.tables[1].id, fully_replicated=True)
    table = reorganise(plan).tables[1]
    assert table.moves
    assert table.rows_moved == STARTER.tables[1].rows


def test_the_plan_afterwards_can_grow_again() -> None:
    first = reorganise(ADD_NODES)
    assert first.plan_after.tables[0].grown_from == (8,)
    second = reorganise(first.plan_after)
    assert second.tables[0].redistribution.before.placement.partitions == 16
    assert second.tables[0].rows_moved == pytest.approx(1_000_000, rel=0.01)


def test_reserved_nodes_are_taken_first() -> None:
    plan = add_node_group(ADD_NODES)
    for node in plan.data_nodes[-2:]:
        plan = edits.update(plan, node.id, node_group=65536)
    grown = grow(plan, 1)
    assert len(grown.data_nodes) == 4
    # They run already, without a group and without a row.
    peaks = {peak.node_id: peak for peak in reorganise(plan).node_peaks}
    assert {node_id for node_id, peak in peaks.items() if peak.is_new} == {
        node.node_id for node in plan.data_nodes[-2:]
    }
    assert all(peak.data_memory_bytes.value > 0 for peak in peaks.values())
    assert reorganise(plan).duration_s.value == pytest.approx(reorganise(ADD_NODES).duration_s.value)


@pytest.mark.parametrize("version", ["6.3"])
def test_old_versions_cannot_grow_online(version: str) -> None:
    with pytest.raises(ReorganiseError, match="cannot add data nodes online"):
        reorganise(edits.set_plan(ADD_NODES, ndb_version=version))


def test_a_plan_without_nodes_and_no_groups_are_refused() -> None:
    with pytest.raises(EditError):
        reorganise(EMPTY_PLAN)
    with pytest.raises(ReorganiseError):
        reorganise(ADD_NODES, groups=0)


def test_rows_that_nobody_counted_are_not_counted_afterwards() -> None:
    """What a reorganisation makes of rows is worked out: it is neither counted nor stored as if it were."""
    table = ADD_NODES.tables[0]
    assert distribute(ADD_NODES, table).measured
    after = reorganise(ADD_NODES).plan_after
    grown = after.tables[0]
    assert sum(grown.partition_rows) == table.rows
    assert "partition_rows" in grown.assumed
    assert not distribute(after, grown).measured
    unknown = edits.update(ADD_NODES, table.id, partition_rows=())
    change = redistribute(unknown, reorganise(unknown).plan_after, unknown.tables[0])
    after = reorganise(unknown).plan_after
    assert after.tables[0].partition_rows == ()
    assert "partition_rows" not in after.tables[0].assumed
    found = distribute(after, after.tables[0])
    assert not found.measured
    assert found.rows.sum() == table.rows
    assert found.rows == pytest.approx(change.after.rows, rel=1e-3), "the map says the same"
