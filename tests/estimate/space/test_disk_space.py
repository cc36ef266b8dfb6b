"""Disk space: laws on plans of every version, and the sizes that files of real nodes had."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drawn_space import space_plans
from ndbplan.base.frozen import FrozenMap
from ndbplan.configuration.settings import node_settings
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, update
from ndbplan.estimate.space.disk_space import DiskSpaceEstimate, disk_space
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.file_space import specified_files
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode, DiskRole, DiskRoles
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, LogfileGroup, SpaceFile, Table, Tablespace

GB = 10**9
MIB = 2**20


def _disk(number: int, capacity_bytes: int = 100 * GB) -> Disk:
    return Disk(
        id=f"d{number}",
        name=f"d{number}",
        capacity_bytes=capacity_bytes,
        sequential_read_bytes_per_s=1e8,
        sequential_write_bytes_per_s=1e8,
        random_read_iops=100,
        random_write_iops=100,
        mount_point=f"/disk{number}",
    )


def _plan(
    version: str = "8.4", roles: DiskRoles | None = None, nodes: int = 2, **parameters: int | str
) -> Plan:
    """Nodes of one host with two disks, and a table of which each holds a million rows of 1,000 bytes."""
    table = Table(
        id="t",
        database="d",
        name="t",
        columns=(
            Column(name="id", type="bigint", nullable=False),
            Column(name="v", type="varbinary", length=1000, average_bytes=1000),
        ),
        primary_key=("id",),
        rows=1_000_000,
    )
    return Plan(
        ndb_version=version,
        hosts=(Host(id="h", hostname="h", memory_bytes=2**35, disks=(_disk(1), _disk(2))),),
        processes=tuple(
            DataNode(id=f"n{i}", node_id=i, host_id="h", disk_roles=roles or DiskRoles())
            for i in range(1, nodes + 1)
        ),
        parameters=ClusterParameters(data_node=FrozenMap({"NoOfReplicas": 2, **parameters})),
        tables=(table,),
    )


def _used(found: DiskSpaceEstimate) -> float:
    return sum(node.total_bytes.value for node in found.nodes)


# Laws


@given(space_plans())
@settings(deadline=None)
def test_the_roles_of_a_disk_add_up_and_nothing_is_negative(plan: Plan) -> None:
    found = disk_space(plan, plan.workloads[0])
    for disk in found.disks:
        assert disk.used_bytes.value == pytest.approx(sum(size.value for _, size in disk.by_role))
        assert disk.used_bytes.value == pytest.approx(sum(one.bytes.value for one in disk.files))
        assert disk.fill.value * disk.capacity_bytes == pytest.approx(disk.used_bytes.value)
        assert (
            disk.memory_full_bytes.value
            >= disk.used_bytes.value * (1 - 1e-9) - disk.of(DiskRole.BACKUP).value
        )
        assert disk.may_outgrow == (disk.memory_full_bytes.high > disk.capacity_bytes)
        assert disk.likely_bytes == disk.used_bytes.value
        assert disk.ends == (disk.fill.value, disk.fill.low, disk.fill.high)
        assert [disk.likely_of(role) for role in DiskRole] == [disk.of(role).value for role in DiskRole]
        for size in (disk.used_bytes, disk.memory_full_bytes):
            assert 0 <= size.low <= size.value <= size.high < math.inf
    homeless = sum(one.bytes.value for node in found.nodes for one in node.files if one.disk_id is None)
    assert _used(found) == pytest.approx(homeless + sum(disk.used_bytes.value for disk in found.disks))
    hosts_with_disks = {host.id for host in plan.hosts if host.disks}
    nodes = {node.node_id: node for node in plan.data_nodes}
    for space in found.nodes:
        assert all(
            (one.disk_id is None) == (nodes[space.node_id].host_id not in hosts_with_disks)
            for one in space.files
        )


def _more_rows(plan: Plan) -> Plan:
    return update(plan, plan.tables[0].id, rows=2 * plan.tables[0].rows + 1000)


def _more_files(plan: Plan) -> Plan:
    now = plan.parameters.data_node.get("NoOfFragmentLogFiles")
    default = catalogue.default("DB", "NoOfFragmentLogFiles", plan.version)
    files = now if isinstance(now, int) else default
    assert isinstance(files, int)
    # More than the parameter takes is refused by the product, and counts as not set.
    most = catalogue.parameter("DB", "NoOfFragmentLogFiles", plan.version).maximum
    assert most is not None
    return set_parameter(plan, "data_node", "NoOfFragmentLogFiles", min(files + 7, most))


def _more_backups(plan: Plan) -> Plan:
    return plan.replace(backups_kept=plan.backups_kept + 2)


def _more_data_files(plan: Plan) -> Plan:
    spaces = []
    for space in plan.tablespaces:
        first = space.data_files[0]
        more = first.model_copy(update={"count": first.count + 1})
        spaces.append(space.model_copy(update={"data_files": (more, *space.data_files[1:])}))
    return plan.replace(tablespaces=tuple(spaces))


@pytest.mark.parametrize(("times", "is_all_saved"), [(1, False), (3, False), (1000, True)])
def test_a_backup_of_full_memory_saves_no_more_of_disks_than_data_files_hold(
    times: int, *, is_all_saved: bool
) -> None:
    """Rows for as much memory were saved with columns for which no data file has room."""
    plan = sample_plan("disk-data-8.4")
    (space,) = plan.tablespaces
    files = tuple(one.model_copy(update={"count": one.count * times}) for one in space.data_files)
    plan = update(plan, space.id, data_files=files)
    (disk, *_) = (one for one in disk_space(plan).disks if one.of(DiskRole.BACKUP).high)
    saved = disk.full_of(DiskRole.BACKUP).value / plan.backups_kept
    memory = node_settings(plan, plan.data_nodes[0]).number("DataMemory")
    on_disk = sum(one.size_bytes * one.count for one in files)
    assert saved < len(disk.node_ids) * (memory + on_disk)
    assert (saved > 5 * memory) is is_all_saved


@given(space_plans(), st.sampled_from([_more_rows, _more_files, _more_backups, _more_data_files]))
@settings(deadline=None)
def test_more_of_anything_never_takes_less(plan: Plan, change: Callable[[Plan], Plan]) -> None:
    before, after = disk_space(plan), disk_space(change(plan))
    for old, new in zip(before.disks, after.disks, strict=True):
        assert new.used_bytes.value >= old.used_bytes.value * (1 - 1e-9)
        assert new.used_bytes.high >= old.used_bytes.high * (1 - 1e-9)
        assert new.used_bytes.low >= old.used_bytes.low * (1 - 1e-9)


@given(space_plans())
@settings(deadline=None)
def test_files_that_do_not_grow_with_rows_have_the_sizes_that_the_source_gives_them(plan: Plan) -> None:
    """Far from runs the low end of a sparse log lay below a page in each MiB, more rows further below."""
    for node in disk_space(plan).nodes:
        log = node.of(DiskRole.REDO)
        assert log.low in (log.value, pytest.approx(log.value / 32, rel=1e-12))


@given(space_plans())
@settings(deadline=None)
def test_a_table_less_never_takes_more(plan: Plan) -> None:
    assume(plan.tables)
    smaller = remove(plan, [plan.tables[0].id])
    assert _used(disk_space(smaller)) <= _used(disk_space(plan)) * (1 + 1e-9)


# Sizes by version and setting

FROM_RUNS = 0.01
"""How far plans that are not like a measured one widen ranges of bytes here, at most."""


@pytest.mark.parametrize(
    ("version", "copies", "low", "high"),
    [
        ("6.3.19", 3, 2, 3),
        ("7.1", 3, 2, 3),
        ("7.2.1", 2, 2, 2),
        ("7.5", 2, 2, 2),
        ("7.6.3", 2, 2, 2),
        ("7.6.5", 1.5, 1, 1.5 * 1.13),
        ("7.6.7", 1.6, 1, 1.6 * 1.13),
        ("8.4.8", 1.6, 1, 1.6 * 1.13),
        ("9.x", 1.6, 1, 1.6 * 1.13),
    ],
)
def test_copies_of_checkpoints_by_version(version: str, copies: float, low: float, high: float) -> None:
    found = disk_space(_plan(version)).nodes[0].of(DiskRole.LCP)
    once = disk_space(_plan(version)).nodes[0].of(DiskRole.LCP).low / low
    assert once == pytest.approx(1.03e9, rel=0.03)
    # The ends lie a little further out: no run was quite like this plan.
    assert found.value == pytest.approx(copies * once, rel=FROM_RUNS)
    assert found.high == pytest.approx(high * once, rel=2 * FROM_RUNS)


def test_a_whole_checkpoint_of_a_new_version_has_each_file_once_and_one_table_twice() -> None:
    plan = _plan("8.0", EnablePartialLcp=0)
    other = plan.tables[0].model_copy(update={"id": "u", "name": "u", "rows": 3_000_000})
    found = disk_space(plan.replace(tables=(*plan.tables, other))).nodes[0].of(DiskRole.LCP)
    assert found.value == pytest.approx(found.low * (1 + 3 / 4), rel=FROM_RUNS)
    assert found.high == pytest.approx(2 * found.low, rel=2 * FROM_RUNS)


@pytest.mark.parametrize(("recovery_work", "measured"), [(25, 1.41), (60, 1.65), (100, 1.91)])
def test_the_largest_directory_of_a_real_node_is_inside_the_range(
    recovery_work: int, measured: float
) -> None:
    # Model document 16.2: running 8.4.8, LCP directory as a multiple of the rows.
    found = disk_space(_plan("8.4.8", RecoveryWork=recovery_work)).nodes[0].of(DiskRole.LCP)
    assert found.low < measured * found.low <= found.high
    assert found.value == pytest.approx(measured * found.low, rel=0.15)


def test_sparse_files_of_a_real_node() -> None:
    # Running 7.4.10: 48 files of 16 MB in 4 parts, 3,076 MB apparent, 107 MB allocated.
    plan = _plan("7.4.10", NoOfFragmentLogFiles=48)
    found = disk_space(plan).nodes[0].of(DiskRole.REDO)
    assert found.value == found.high == 48 * 4 * 16 * MIB
    assert found.value / MIB == pytest.approx(3076, rel=0.01)
    assert found.low / MIB == pytest.approx(107, rel=0.15)
    full = disk_space(_plan("7.4.10", NoOfFragmentLogFiles=48, InitFragmentLogFiles="FULL")).nodes[0]
    assert full.of(DiskRole.REDO).low == found.value


@pytest.mark.parametrize(("version", "parts"), [("6.3", 4), ("7.1", 4), ("8.4", 8)])
def test_log_parts_by_version(version: str, parts: int) -> None:
    stated = {"NoOfFragmentLogParts": 8} if version == "8.4" else {}
    found = disk_space(_plan(version, **stated)).nodes[0].of(DiskRole.REDO)
    assert found.value == parts * 16 * 16 * MIB


def test_a_backup_is_the_rows_once_over_all_nodes_and_as_often_as_kept() -> None:
    plan = _plan("8.4", nodes=4).replace(backups_kept=3)
    found = disk_space(plan)
    one = sum(node.of(DiskRole.BACKUP).value for node in found.nodes) / 3
    assert one == pytest.approx(1.03e9, rel=0.05)
    packed = disk_space(set_parameter(plan, "data_node", "CompressedBackup", 1))
    assert packed.nodes[0].of(DiskRole.BACKUP).value == pytest.approx(
        found.nodes[0].of(DiskRole.BACKUP).value / 2
    )
    assert not disk_space(plan.replace(backups_kept=0)).nodes[0].of(DiskRole.BACKUP).high


def test_what_writes_nothing_takes_nothing() -> None:
    assert not disk_space(_plan(Diskless=1)).nodes[0].files
    assert not disk_space(_plan("7.2", Discless=1)).nodes[0].files
    unlogged = update(_plan(), "t", logging=False)
    assert not disk_space(unlogged).nodes[0].of(DiskRole.LCP).high
    assert disk_space(unlogged).nodes[0].of(DiskRole.REDO).value


def test_files_of_disk_data_are_on_every_node_whatever_is_in_them() -> None:
    undo = LogfileGroup(id="l", name="l", undo_files=(SpaceFile(name="u", size_bytes=GB, count=3),))
    space = Tablespace(
        id="s", name="s", logfile_group_id="l", data_files=(SpaceFile(name="f", size_bytes=2 * GB, count=5),)
    )
    plan = _plan().replace(logfile_groups=(undo,), tablespaces=(space,))
    for node in disk_space(plan).nodes:
        assert node.of(DiskRole.UNDO).value == 3 * GB
        assert node.of(DiskRole.DATA_FILES).value == 10 * GB
    elsewhere = plan.replace(tablespaces=(space.model_copy(update={"directory": "/disk2/ts"}),))
    second = disk_space(elsewhere).of("d2")
    assert second is not None
    assert second.used_bytes.value == 2 * 10 * GB
    specified = _plan(InitialLogfileGroup="name=l;undo_buffer_size=64M;u1.log:1G;u2.log:512M")
    assert disk_space(specified).nodes[0].of(DiskRole.UNDO).value == 1536 * MIB
    both = specified.replace(logfile_groups=(undo,))
    assert disk_space(both).nodes[0].of(DiskRole.UNDO).value == 3 * GB


def test_specifications_of_files() -> None:
    assert specified_files("name=lg;undo_buffer_size=64M;undo1.log:1G") == ("lg", 2**30)
    assert specified_files("nonsense") == ("", 0)


# Which disk


def test_nodes_of_one_host_and_roles_of_one_disk_add_up() -> None:
    one, two = disk_space(_plan(nodes=2)).of("d1"), disk_space(_plan(nodes=4)).of("d1")
    assert one is not None
    assert two is not None
    assert two.of(DiskRole.REDO).value == 2 * one.of(DiskRole.REDO).value
    assert disk_space(_plan()).of("d2") is None
    apart = disk_space(_plan(roles=DiskRoles(lcp="d2", backup="d2")))
    second = apart.of("d2")
    assert second is not None
    assert {role for role, _ in second.by_role} == {DiskRole.LCP, DiskRole.BACKUP}


@pytest.mark.parametrize(
    ("parameter", "moved"),
    [
        ("BackupDataDir", {DiskRole.BACKUP}),
        ("FileSystemPath", {DiskRole.REDO, DiskRole.LCP, DiskRole.BACKUP}),
        ("DataDir", {DiskRole.REDO, DiskRole.LCP, DiskRole.BACKUP}),
    ],
)
def test_a_path_parameter_places_files_on_the_disk_below_it(parameter: str, moved: set[DiskRole]) -> None:
    found = disk_space(_plan(**{parameter: "/disk2/somewhere"})).of("d2")
    assert found is not None
    assert {role for role, _ in found.by_role} == moved
    unknown = disk_space(_plan(**{parameter: "/elsewhere"}))
    assert unknown.of("d2") is None


def test_a_host_without_disks_has_files_but_no_disk() -> None:
    plan = _plan()
    bare = plan.replace(hosts=(plan.hosts[0].model_copy(update={"disks": ()}),))
    found = disk_space(bare)
    assert not found.disks
    assert found.fullest is None
    assert _used(found) == pytest.approx(_used(disk_space(plan)))


def test_full_memory_takes_what_rows_like_those_of_today_would() -> None:
    plan = _plan(DataMemory=20 * 2**30)
    found = disk_space(plan).of("d1")
    assert found is not None
    # Two nodes on the disk: 1.6 copies of the rows in 95 % of DataMemory, of which indexes take a small part,
    # and a backup that has half of them from each node.
    rows = found.memory_full_bytes.value - found.of(DiskRole.REDO).value
    assert 0.9 < rows / (2 * (1.6 + 0.5) * 0.95 * 20 * 2**30) < 1
    larger = disk_space(_plan(DataMemory=40 * 2**30)).of("d1")
    assert larger is not None
    assert larger.memory_full_bytes.value > found.memory_full_bytes.value


def test_backups_of_full_memory_grow_with_those_kept_and_as_the_rows_do() -> None:
    """Each holds a primary replica of the rows: half of what its two nodes have."""
    full, now = {}, {}
    for kept in (1, 3):
        found = disk_space(_plan(DataMemory=20 * 2**30).replace(backups_kept=kept)).of("d1")
        assert found is not None
        full[kept], now[kept] = (
            size.value for size in (found.full_of(DiskRole.BACKUP), found.of(DiskRole.BACKUP))
        )
        # A partial checkpoint keeps 1.6 times the rows.
        rows_now, rows_full = (
            size.value / 1.6 for size in (found.of(DiskRole.LCP), found.full_of(DiskRole.LCP))
        )
        assert full[kept] - now[kept] == pytest.approx(kept * (rows_full - rows_now) / 2, rel=0.05)
    assert full[3] == pytest.approx(3 * full[1], rel=1e-3)
    compressed = disk_space(_plan(DataMemory=20 * 2**30, CompressedBackup=1)).of("d1")
    assert compressed is not None
    assert compressed.full_of(DiskRole.BACKUP).value == pytest.approx(full[1] / 2, rel=0.05)
