from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.quantity import Quantity, total_of_independent
from ndbplan.base.resources import resource_path
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import move_process
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import node_data
from ndbplan.estimate.timed import RestartError, restart
from ndbplan.estimate.times import restart as restarts
from ndbplan.estimate.times.restart import KINDS, Conditions, Kind
from ndbplan.plan.file import load
from ndbplan.plan.plan import EMPTY_PLAN, Calibration, Plan
from ndbplan.plan.samples import sample_names, sample_plan
from ndbplan.plan.tables import Column

TERABYTE = load(resource_path("samples/terabyte-load.ndbplan"))
OF_2009 = load(resource_path("samples/node-restart.ndbplan"))
STARTER = load(resource_path("samples/starter.ndbplan"))
SAMPLES = st.sampled_from([TERABYTE, OF_2009, STARTER])


def seconds(plan: Plan, kind: str = "node", **conditions: object) -> float:
    return restart(plan, kind, conditions=Conditions(**conditions)).duration_s.value


def phase(plan: Plan, name: str, kind: str = "node", **conditions: object) -> float:
    found = restart(plan, kind, conditions=Conditions(**conditions)).phases
    return next(p.duration_s.value for p in found if p.name == name)


@given(SAMPLES, st.sampled_from(KINDS), st.integers(1, 31), st.integers(1, 31))
def test_more_ldm_threads_never_lengthen_a_restart(plan: Plan, kind: str, few: int, more: int) -> None:
    few, more = sorted((few, more))
    assert seconds(plan, kind, ldm_threads=more) <= seconds(plan, kind, ldm_threads=few) + 1e-9


@given(SAMPLES, st.sampled_from(KINDS), st.floats(1, 20))
@settings(max_examples=12)
def test_more_data_never_shortens_a_restart(plan: Plan, kind: str, factor: float) -> None:
    table = max(plan.tables, key=lambda t: t.rows)
    grown = edits.update(plan, table.id, rows=round(table.rows * factor), partition_rows=())
    assert seconds(grown, kind) >= seconds(plan, kind) - 1e-9


@given(SAMPLES, st.sampled_from(KINDS), st.floats(0.1, 10), st.floats(0.1, 10))
@settings(max_examples=12)
def test_a_faster_disk_never_lengthens_a_restart(plan: Plan, kind: str, slow: float, fast: float) -> None:
    slow, fast = sorted((slow, fast))
    assert seconds(plan, kind, disk_factor=fast) <= seconds(plan, kind, disk_factor=slow) + 1e-9


def with_cores(plan: Plan, only: tuple[str, ...] = (), **cores: float) -> Plan:
    hosts = (host.model_copy(update=cores) if not only or host.id in only else host for host in plan.hosts)
    return plan.replace(hosts=tuple(hosts))


CLOCKS = st.floats(0.8, 6)


@given(SAMPLES, st.sampled_from(KINDS), CLOCKS, CLOCKS)
@settings(max_examples=12)
def test_faster_cores_never_lengthen_a_restart(plan: Plan, kind: Kind, slow: float, fast: float) -> None:
    slow, fast = sorted((slow, fast))
    less, more = (restart(with_cores(plan, clock_ghz=ghz), kind).duration_s for ghz in (fast, slow))
    for one, other in ((less.low, more.low), (less.value, more.value), (less.high, more.high)):
        assert one <= other * (1 + 1e-9)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("node", "restore from local checkpoint"),
        ("node", "rebuild ordered indexes"),
        ("initial", "copy fragments"),
    ],
)
def test_threads_of_a_start_work_as_fast_as_their_cores(kind: Kind, name: str) -> None:
    """Only cores of one speed were timed: twice as slow is twice as long, in a wider range."""

    def duration(ghz: float) -> Quantity:
        found = restart(with_cores(TERABYTE, clock_ghz=ghz, network_bytes_per_s=1e12), kind).phases
        return next(phase.duration_s for phase in found if phase.name == name)

    measured, slow, fast = duration(2.5), duration(1.25), duration(5.0)
    assert slow.value == pytest.approx(2 * measured.value, rel=0.01)
    assert fast.value == pytest.approx(measured.value / 2, rel=0.01)
    for other in (slow, fast):
        assert other.high / other.low > 1.05 * measured.high / measured.low


def test_cores_do_not_shorten_what_waits_for_disks_and_others() -> None:
    for name in ("allocate memory", "wait for local checkpoint", "wait for subscriptions"):
        assert phase(with_cores(STARTER, clock_ghz=5.0), name) == phase(STARTER, name)


def test_rows_come_no_faster_than_the_node_that_sends_them() -> None:
    wide = with_cores(TERABYTE, network_bytes_per_s=1e12)
    first, second = TERABYTE.data_nodes[:2]

    def copied(plan: Plan) -> float:
        found = restart(plan, "initial", first.node_id).phases
        return next(one.duration_s.value for one in found if one.name == "copy fragments")

    for slow in (first, second):
        half = with_cores(wide, (slow.host_id,), clock_ghz=1.4)
        assert copied(half) == pytest.approx(2 * copied(wide))


def test_large_rows_are_copied_by_their_bytes() -> None:
    table = max(STARTER.tables, key=lambda t: t.rows)
    wide = with_cores(STARTER, network_bytes_per_s=1e12, clock_ghz=2.5)
    large = Column(name="large", type="varbinary", length=8000, average_bytes=8000, nullable=False)
    longer = edits.update(wide, table.id, columns=(*table.columns, large))
    plans = (wide, longer)
    sizes = [max(one.fullest_ldm.row_bytes for one in node_data(plan)) for plan in plans]
    rate = constants_of(wide)["copy_ldm_bytes_per_s"].value
    short, long = (phase(plan, "copy fragments", "initial") for plan in plans)
    assert sizes[1] > 5 * sizes[0]
    assert long - short == pytest.approx((sizes[1] - sizes[0]) / rate, rel=0.05)


@pytest.mark.parametrize("plan", [TERABYTE, OF_2009, STARTER])
@pytest.mark.parametrize("kind", ["node", "initial"])
def test_traffic_lengthens_a_restart(plan: Plan, kind: str) -> None:
    assert seconds(plan, kind, workload=plan.workloads[0]) > seconds(plan, kind)


def test_copying_all_rows_takes_longer_than_restoring_them_in_2009() -> None:
    assert seconds(OF_2009, "initial") / seconds(OF_2009) == pytest.approx(2.353, rel=0.1)


def test_one_thread_is_slower_than_the_threads_of_ndbmtd() -> None:
    assert seconds(OF_2009, ldm_threads=1) > 1.1 * seconds(OF_2009)


def test_versions_before_the_optimisation_suffer_from_traffic() -> None:
    before = edits.set_plan(OF_2009, ndb_version="7.0.8")
    load_of = OF_2009.workloads[0]
    assert seconds(before, workload=load_of) == pytest.approx(2.2 * seconds(OF_2009, workload=load_of))
    assert seconds(before) == seconds(OF_2009)


def test_an_sql_node_that_is_down_costs_two_minutes() -> None:
    assert 4 < phase(STARTER, "wait for subscriptions") < 7
    assert phase(STARTER, "wait for subscriptions", sql_nodes_down=1) == 120


@pytest.mark.parametrize(
    ("name", "kind", "step", "none"),
    [
        ("BuildIndexThreads", "node", "rebuild ordered indexes", 128),
        ("MaxParallelCopyInstances", "initial", "copy fragments", 0),
    ],
)
def test_fewer_threads_than_ldm_threads_take_as_much_longer(
    name: str, kind: str, step: str, none: int
) -> None:
    """Manual: threads that build indexes, fragments copied at once; 0 and 128 leave it to the LDM threads."""
    starter = load(resource_path("samples/starter.ndbplan"))
    took = [phase(set_parameter(starter, "data_node", name, n), step, kind) for n in (1, 2, 64, none)]
    assert took[0] == pytest.approx(2 * took[1], rel=0.02)
    assert took[1] > 1.5 * took[2]
    assert took[2] == took[3]


@pytest.mark.parametrize("version", ["6.3.19", "7.0", "7.2", "7.4.10"])
def test_full_redo_files_are_as_old_as_sparse_ones(version: str) -> None:
    plan = edits.set_plan(OF_2009, ndb_version=version)
    full = set_parameter(plan, "data_node", "InitFragmentLogFiles", "full")
    assert phase(full, "create redo log files", "start") > 1.5 * phase(plan, "create redo log files", "start")


def test_waits_of_a_first_start_go_on_while_full_redo_files_are_written() -> None:
    """8.4.8: 5.3 s beside the 39 s of full files, 8.9 s beside the 1 s of sparse ones."""
    starter = load(resource_path("samples/starter.ndbplan"))
    full = set_parameter(starter, "data_node", "InitFragmentLogFiles", "full")
    waits = [phase(plan, "start permission and metadata", "start") for plan in (starter, full)]
    assert waits[0] > waits[1] > 0


def test_under_writes_a_node_waits_for_global_checkpoints_after_the_copy() -> None:
    """8.4.8: 4 s in two restarts under 2,000 updates a second, next to nothing without."""
    plan = load(resource_path("samples/starter.ndbplan"))
    under = restart(plan, "node", conditions=Conditions(workload=plan.workloads[0]))
    busy = next(p.duration_s for p in under.phases if p.name == "copy fragments")
    assert busy.value - phase(plan, "copy fragments", "node") >= 4.0
    assert "copy_under_load_s" in str(busy.to_json(why=True))


def test_full_redo_files_take_as_long_as_writing_them() -> None:
    known = OF_2009.replace(ndb_version="7.4.10")
    sparse = phase(known, "create redo log files", "start")
    full = set_parameter(known, "data_node", "InitFragmentLogFiles", "full")
    disk = OF_2009.host("host2").disks[0]
    size = 4 * 300 * 16 * 2**20
    assert phase(full, "create redo log files", "start") == pytest.approx(
        size / disk.sequential_write_bytes_per_s
    )
    assert sparse == pytest.approx(size / 2**20 * disk.sync_write_latency_s)


def test_a_compressed_checkpoint_is_read_faster() -> None:
    slow_disk = STARTER
    for disk_id in STARTER.host_of_disk:
        slow_disk = edits.update(slow_disk, disk_id, sequential_read_bytes_per_s=2e6)
    packed = set_parameter(slow_disk, "data_node", "CompressedLCP", 1)
    name = "restore from local checkpoint"
    assert phase(packed, name) == pytest.approx(phase(slow_disk, name) / 2)


def test_rows_are_copied_before_indexes_are_built_since_7_6_4() -> None:
    names = [p.name for p in restart(TERABYTE, "initial").phases]
    assert names.index("copy fragments") < names.index("rebuild ordered indexes")
    older = edits.set_plan(TERABYTE, ndb_version="7.5")
    names = [p.name for p in restart(older, "initial").phases]
    assert "rebuild ordered indexes" not in names


def test_an_older_version_waits_for_a_full_checkpoint() -> None:
    older = edits.set_plan(STARTER, ndb_version="7.5")
    name = "wait for local checkpoint"
    assert phase(older, name) > 10 * phase(STARTER, name)
    faster = set_parameter(older, "data_node", "MaxDiskWriteSpeedOtherNodeRestart", 2**30)
    assert phase(faster, name) < phase(older, name)


def test_rolling_restart_node_by_node_or_one_of_each_group() -> None:
    plan = add_node_group(STARTER)
    one_by_one = restart(plan, "rolling")
    together = restart(plan, "rolling", conditions=Conditions(one_of_each_group=True))
    assert len(one_by_one.phases) == 4
    assert len(together.phases) == 2
    assert together.duration_s.value < one_by_one.duration_s.value
    assert sorted(together.node_ids) == sorted(one_by_one.node_ids) == [n.node_id for n in plan.data_nodes]


@pytest.mark.parametrize("name", ["telecom-144", "disk-data-8.4", "terabyte-load", "add-nodes-8.4"])
@pytest.mark.parametrize("under_load", [False, True])
def test_nodes_that_cannot_be_told_apart_restart_as_each_would(
    name: str, under_load: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = sample_plan(name)
    for at, host in enumerate(plan.hosts[:3]):
        plan = edits.update(plan, host.id, cores=host.cores + 4 * at)
    conditions = Conditions(workload=plan.workloads[0] if under_load and plan.workloads else None)
    shared = Estimation(plan).restart("rolling", None, conditions)
    made = len(shared.phases)
    monkeypatch.setattr(restarts, "told_by", lambda start: object())
    apart = Estimation(plan).restart("rolling", None, conditions)
    assert made > 1
    assert shared == apart


def test_a_calibration_narrows_the_range_and_is_named() -> None:
    before = restart(TERABYTE, "node").duration_s
    measured = Calibration(constant="restore_ldm_rows_per_s", value=170e3, source="our cluster, May")
    after = restart(TERABYTE.replace(calibrations=(measured,)), "node").duration_s
    assert after.high - after.low < before.high - before.low
    assert "our cluster, May" in str(after.to_json(why=True))


@pytest.mark.parametrize(
    ("plan", "kind", "node_id"), [(STARTER, "quick", None), (STARTER, "node", 99), (EMPTY_PLAN, "node", None)]
)
def test_what_cannot_restart_is_said_in_one_line(plan: Plan, kind: str, node_id: int | None) -> None:
    with pytest.raises(RestartError) as refused:
        restart(plan, kind, node_id)
    assert "\n" not in refused.value.line
    assert refused.value.fix


def test_the_shape_of_design() -> None:
    shape = restart(STARTER, "node", 1).to_json()
    assert shape["kind"] == "node"
    assert shape["node_ids"] == [1]
    assert {"name", "duration_s"} <= set(shape["phases"][0])
    assert set(shape["duration_s"]) == {"value", "low", "high", "unit"}


def test_threads_without_a_core_of_their_own_help_only_while_others_wait() -> None:
    small = STARTER
    for node in STARTER.data_nodes:
        small = edits.update(small, node.host_id, cores=2)
    name = "restore from local checkpoint"
    assert phase(small, name) > 2 * phase(STARTER, name)
    share = constants_of(STARTER)["restore_core_share"].value
    assert phase(small, name, ldm_threads=16) == pytest.approx(share * phase(small, name, ldm_threads=2))
    assert phase(small, name, ldm_threads=32) == phase(small, name, ldm_threads=16)


def test_nodes_of_one_host_that_start_together_share_its_cores() -> None:
    first, second = STARTER.data_nodes[:2]
    plan = move_process(STARTER, second.id, first.host_id)
    plan = edits.update(plan, first.host_id, cores=4)
    name = "restore from local checkpoint"
    alone, both = (phase(plan, name, kind, ldm_threads=8) for kind in ("node", "system"))
    assert both == pytest.approx(2 * alone)


@given(SAMPLES, st.sampled_from(["node", "initial", "system"]), st.floats(0.01, 5), st.floats(0.01, 5))
@settings(max_examples=12)
def test_more_traffic_never_shortens_a_restart(plan: Plan, kind: str, calm: float, busy: float) -> None:
    calm, busy = sorted((calm, busy))
    less, more = (
        seconds(plan, kind, workload=plan.workloads[0], traffic_factor=factor) for factor in (calm, busy)
    )
    assert less <= more * 1.001


def test_a_stated_log_is_run_again() -> None:
    assert phase(STARTER, "execute redo log", "system") == 0
    timed = with_cores(STARTER, clock_ghz=2.5)
    assert phase(timed, "execute redo log", "system", redo_bytes=6.5e9) == pytest.approx(100)


def test_an_ldm_thread_runs_the_log_of_all_its_parts() -> None:
    """Eight log parts: four threads have two each, and on two cores half of the time each."""
    timed = set_parameter(with_cores(STARTER, clock_ghz=2.5), "data_node", "NoOfFragmentLogParts", 8)

    def seconds(plan: Plan, ldm: int) -> float:
        threads = f"main,rep,recv,tc,ldm={{count={ldm}}}"
        own = set_parameter(plan, "data_node", "ThreadConfig", threads)
        own = set_parameter(own, "data_node", "AutomaticThreadConfig", 0)
        return phase(own, "execute redo log", "system", redo_bytes=6.5e9)

    assert seconds(timed, 8) == pytest.approx(100)
    assert seconds(timed, 4) == pytest.approx(200)
    assert seconds(with_cores(timed, cores=2), 4) == pytest.approx(400)


@pytest.mark.parametrize("name", sample_names())
@pytest.mark.parametrize("kind", KINDS)
def test_a_range_is_never_wider_than_a_factor_of_six(name: str, kind: str) -> None:
    plan = sample_plan(name)
    if kind == "system" and node_settings(plan).number("Diskless"):
        # No row outlives the cluster.
        kind = "start"
    found = restart(plan, kind).duration_s
    assert found.high / found.low < 6


@pytest.mark.parametrize(
    ("kind", "as_kind"), [("node", "system"), ("rolling", "system"), ("initial", "start")]
)
def test_where_rows_have_one_copy_a_node_restarts_with_all_others(kind: Kind, as_kind: Kind) -> None:
    starter = sample_plan("starter")
    plan = edits.update(starter, starter.data_nodes[1].id, node_group=1)
    plan = set_parameter(plan, "data_node", "NoOfReplicas", 1)
    alone, whole = restart(plan, kind), restart(plan, as_kind)
    assert (alone.kind, alone.node_ids, alone.bytes_moved) == (kind, (1, 2), 0.0)
    assert alone.phases == whole.phases
    assert "all data nodes start again" in alone.notes[0]
    assert ("the rows are lost" in alone.notes[0]) == (kind == "initial")


def test_a_diskless_node_copies_all_rows_and_a_diskless_cluster_restores_none() -> None:
    plan = set_parameter(sample_plan("redo-overload-8.4"), "data_node", "Diskless", 1)
    again, initial = restart(plan, "node"), restart(plan, "initial")
    assert again.phases == initial.phases
    assert again.bytes_moved > 0
    assert not {phase.name for phase in again.phases} & {
        "create redo log files",
        "restore from local checkpoint",
    }
    with pytest.raises(RestartError, match="every row is gone"):
        restart(plan, "system")


@pytest.mark.parametrize("name", ["starter", "add-nodes-8.4", "telecom-144"])
def test_a_rolling_restart_errs_as_the_restarts_of_its_nodes_do(name: str) -> None:
    """The same constants make all of them slower than computed: two nodes made up for one another."""
    found = Estimation(sample_plan(name)).restart("rolling", None, Conditions())
    each = [one.duration_s for one in found.phases]
    assert found.duration_s.low <= sum(one.low for one in each) * 1.001
    assert found.duration_s.high >= sum(one.high for one in each) * 0.999


def test_phases_that_disks_decide_err_together() -> None:
    """A disk that is slower than stated is so for what is read and for what is written."""
    found = Estimation(sample_plan("add-nodes")).restart("system", None, Conditions())
    of_disks = [one for one in found.phases if "device_time" in dict(one.unknowns)]
    assert {"restore from local checkpoint", "wait for local checkpoint"} == {one.name for one in of_disks}
    assert all(one.bound.startswith("disk ") for one in of_disks)
    alone = total_of_independent(((one.name, one.duration_s) for one in found.phases), "s")
    assert found.duration_s.high > alone.high * 1.01
