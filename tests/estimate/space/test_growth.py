from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.kept import keeping
from ndbplan.base.resources import resource_path
from ndbplan.edits.assign import assign
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.loaded import disk_data
from ndbplan.estimate.space.disk_space import disk_space
from ndbplan.estimate.space.growth import (
    LONGEST_MONTHS,
    after_months,
    disk_fillings,
    fillings,
    first_of,
    growth,
    memory_full,
)
from ndbplan.estimate.stored import around, cluster_of, machines_of, memory
from ndbplan.plan.file import load
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, LogfileGroup, SpaceFile, Table, Tablespace
from one_rule import of_rule

TABLE = Table(
    id="t",
    database="d",
    name="t",
    columns=(
        Column(name="id", type="bigint", nullable=False),
        Column(name="v", type="varbinary", length=200, average_bytes=100),
    ),
    primary_key=("id",),
    rows=1_000_000,
    growth_rows_per_month=100_000,
)


def _plan(table: Table = TABLE, data_memory: int = 512 * 2**20, **parameters: int) -> Plan:
    return Plan(
        ndb_version="8.4",
        hosts=(Host(id="h", hostname="h", memory_bytes=2**33),),
        processes=tuple(DataNode(id=f"n{i}", node_id=i, host_id="h") for i in (1, 2)),
        parameters=ClusterParameters(
            data_node=FrozenMap({"NoOfReplicas": 2, "DataMemory": data_memory, **parameters})
        ),
        tables=(table,),
    )


def test_rows_after_some_months() -> None:
    assert after_months(_plan(), 3).tables[0].rows == 1_300_000
    assert after_months(_plan(), 0) is not None


def test_what_rows_do_not_change_is_worked_out_once_for_all_months() -> None:
    plan = _plan()
    with keeping():
        later = after_months(plan, 3)
        assert machines_of(later) is machines_of(plan)
        assert (cluster_of(later), around(later)) == (cluster_of(plan), around(plan))
        assert cluster_of(later) is cluster_of(plan)
        assert machines_of(plan.replace(ndb_version="8.0")) is not machines_of(plan)


def test_memory_grows_until_it_is_full() -> None:
    found = growth(_plan(), months=24, step=6)
    used = [estimate.nodes[0].data_memory_bytes.value for estimate in found.estimates]
    assert found.months == (0, 6, 12, 18, 24)
    assert used == sorted(used)
    left = found.months_until_full
    assert left is not None
    limit = 0.95 * 512 * 2**20
    before = growth(_plan(), months=int(left.value), step=max(1, int(left.value))).estimates[-1]
    assert before.nodes[0].data_memory_bytes.value <= limit
    after = after_months(_plan(), left.value + 1)
    assert growth(after, months=0).estimates[0].nodes[0].data_memory_bytes.value > limit
    assert left.low <= left.value <= left.high


@pytest.mark.parametrize("kept_pct", [0, 5, 40, 100])
def test_rows_fill_what_min_free_pct_of_the_plan_leaves(kept_pct: int) -> None:
    left = memory_full(_plan(MinFreePct=kept_pct))
    assert left is not None
    usable = (100 - kept_pct) / 100 * 512 * 2**20
    reached = memory(after_months(_plan(), left.value)).nodes[0].data_memory_bytes.value
    if kept_pct == 100:
        assert left.value == 0
        assert reached > usable
    else:
        assert reached == pytest.approx(usable, rel=0.01)
    full = of_rule(_plan(MinFreePct=kept_pct), "data-memory-fill")
    now = memory(_plan()).nodes[0].data_memory_bytes.value
    assert bool(full) is (now > usable)


def test_no_growth_never_fills() -> None:
    assert growth(_plan(TABLE.model_copy(update={"growth_rows_per_month": 0}))).months_until_full is None


def test_a_full_node_has_no_time_left() -> None:
    left = growth(_plan(data_memory=64 * 2**20), months=1).months_until_full
    assert left is not None
    assert left.value == pytest.approx(0)


# Disks and tablespaces


def _with_disk(capacity_bytes: int, growth_rows_per_month: int = 100_000, version: str = "8.4") -> Plan:
    disk = Disk(
        id="d",
        name="d",
        capacity_bytes=capacity_bytes,
        sequential_read_bytes_per_s=1e8,
        sequential_write_bytes_per_s=1e8,
        random_read_iops=100,
        random_write_iops=100,
    )
    plan = _plan(TABLE.model_copy(update={"growth_rows_per_month": growth_rows_per_month}))
    host = plan.hosts[0].model_copy(update={"disks": (disk,)})
    return plan.replace(hosts=(host,), ndb_version=version)


def _fill(plan: Plan, months: float) -> float:
    return disk_space(after_months(plan, months)).disks[0].fill.value


@given(
    st.integers(2_200, 60_000),
    st.integers(1_000, 10**7),
    st.sampled_from(["7.0", "7.5", "8.4"]),
    st.sampled_from([12.0, float(LONGEST_MONTHS)]),
    st.booleans(),
)
@settings(deadline=None, max_examples=20)
def test_a_disk_is_full_in_the_month_found_and_not_before(
    megabytes: int, rows: int, version: str, horizon: float, whole: bool
) -> None:
    plan = _with_disk(megabytes * 10**6, rows, version)
    if whole and version == "8.4":
        plan = set_parameter(plan, "data_node", "EnablePartialLcp", 0)
    (found,) = fillings(plan, horizon)
    left = found.months_until_full
    if left is None:
        assert _fill(plan, horizon) <= 1
        return
    assert left.low <= left.value <= left.high
    if left.value == 0:
        assert _fill(plan, 0) > 1
    else:
        assert _fill(plan, left.value) > 1
        assert _fill(plan, left.value - 0.06) <= 1


def test_a_tablespace_fills_as_its_tables_grow() -> None:
    on_disk = Column(name="far", type="varbinary", length=2000, storage="disk")
    table = TABLE.model_copy(update={"columns": (*TABLE.columns, on_disk), "tablespace_id": "s"})
    space = Tablespace(
        id="s",
        name="s",
        logfile_group_id="l",
        data_files=(SpaceFile(name="f", size_bytes=2**30, count=4),),
    )
    undo = LogfileGroup(id="l", name="l", undo_files=(SpaceFile(name="u", size_bytes=2**20),))
    plan = _plan().replace(tables=(table,), tablespaces=(space,), logfile_groups=(undo,))
    (found,) = fillings(plan)
    assert (found.kind, found.name) == ("tablespace", "s")
    left = found.months_until_full
    assert left is not None
    fill = disk_data(after_months(plan, left.value), None).tablespaces[0].fill.value
    before = disk_data(after_months(plan, left.value - 0.06), None).tablespaces[0].fill.value
    assert before <= 1 < fill
    assert first_of((found,)) is found


def test_each_month_says_how_full_every_disk_is() -> None:
    found = growth(_with_disk(20 * 10**9), months=24, step=6).to_json()
    fills = [month["disks"][0]["fill"] for month in found["months"]]
    assert fills == sorted(fills)
    assert fills[0] < fills[-1]
    assert found["disks"][0]["months_until_full"] is not None
    assert found["tablespaces"] == []


def test_the_log_that_a_workload_writes_during_a_backup_takes_space_in_every_month() -> None:
    plan = load(resource_path("samples/starter.ndbplan"))
    workload = plan.workloads[0]
    grown = {under: growth(plan, 12, 6, workload=under).spaces for under in (None, workload)}
    for month, idle, busy in zip((0, 6, 12), grown[None], grown[workload], strict=True):
        then = disk_space(after_months(plan, month), workload)
        assert busy.to_json() == then.to_json()
        pairs = list(zip(idle.disks, busy.disks, strict=True))
        assert all(a.used_bytes.value <= b.used_bytes.value for a, b in pairs)
        assert any(a.used_bytes.value < b.used_bytes.value for a, b in pairs)
    times = [
        [one.months_until_full.value if one.months_until_full else LONGEST_MONTHS for one in found]
        for found in (fillings(plan), fillings(plan, workload=workload))
    ]
    assert all(under <= alone for alone, under in zip(*times, strict=True))


def test_disks_that_hold_the_same_now_and_then_are_not_looked_at_again() -> None:
    plan = sample_plan("telecom-144")
    buffered = assign(plan, "RedoBuffer=128M")[0]
    faster = plan.replace(
        tables=tuple(
            one.model_copy(update={"growth_rows_per_month": one.growth_rows_per_month * 9})
            for one in plan.tables
        )
    )
    with keeping():
        one, other, of_faster = (disk_fillings(each, LONGEST_MONTHS) for each in (plan, buffered, faster))
    assert other is one
    assert of_faster is not one
    assert disk_fillings(faster, LONGEST_MONTHS) == of_faster
