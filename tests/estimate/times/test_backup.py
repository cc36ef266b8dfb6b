from __future__ import annotations

from itertools import pairwise

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load.checkpoint_speed import speed_limits
from ndbplan.estimate.stored import ldm_threads, node_data
from ndbplan.estimate.timed import backup, create_disk_data, restore_backup
from ndbplan.estimate.times.disk_files import create_file
from ndbplan.estimate.times.restart_phases import Phase
from ndbplan.estimate.times.restore_backup import PROGRAM, RESTORE_ROWS, UNDER_WAY
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from reality.cluster import cluster_plan, table_t1
from reality.load_runs import plan_of, runs

STARTER = load(resource_path("samples/starter.ndbplan"))
DISK_DATA = load(resource_path("samples/disk-data.ndbplan"))


def test_the_slowest_ldm_thread_limits_a_backup() -> None:
    # Measured on 8.4.8: 1 M rows of 1,000 B on 2 LDM threads and 4 log parts with default speeds took 98.5 s.
    # All primaries of a node are in one thread; that of the slower node writes at half of its share.
    plan = edits.set_plan(cluster_plan(table_t1(1_000_000, 1000, 0)), ndb_version="8.4.8")
    found = backup(plan)
    assert found.duration_s.value == pytest.approx(98.5, rel=0.1)
    assert {node.bound for node in found.nodes} == {"MaxDiskWriteSpeed × BackupDiskWriteSpeedPct"}
    assert found.duration_s.value == max(n.duration_s.value for n in found.nodes)
    assert sorted(round(n.speed_bytes_per_s.value / 2**20, 1) for n in found.nodes) == [5.0, 10.0]


def test_one_thread_gets_its_share_of_the_speed_and_a_quarter_more() -> None:
    # Running 8.4.8 cluster: its speed rises while it writes, from the share of one LDM thread.
    one = set_parameter(STARTER, "data_node", "EnableMultithreadedBackup", 0)
    limit = STARTER.parameters.data_node["MaxDiskWriteSpeed"]
    share = limit / ldm_threads(STARTER, STARTER.data_nodes[0])
    assert backup(one).nodes[0].speed_bytes_per_s.value == pytest.approx(1.25 * share, rel=0.01)


def test_before_8_0_16_one_thread_gets_its_part_of_the_whole_speed() -> None:
    old = edits.set_plan(cluster_plan(table_t1(1_000_000)), ndb_version="7.4.10")
    limit = speed_limits(node_settings(old)).ceiling
    assert backup(old).nodes[0].speed_bytes_per_s.value == pytest.approx(limit / 2, rel=0.03)


def test_a_raised_limit_shortens_it_until_the_disk_decides() -> None:
    fast = set_parameter(STARTER, "data_node", "MaxDiskWriteSpeed", 100 * 2**30)
    assert backup(fast).duration_s.value < backup(STARTER).duration_s.value
    for disk_id in fast.host_of_disk:
        fast = edits.update(fast, disk_id, sequential_write_bytes_per_s=5e6)
    assert backup(fast).nodes[0].bound.startswith("disk ")


def test_nodes_back_up_their_primaries_only() -> None:
    whole = sum(node.written_bytes.value for node in backup(STARTER).nodes)
    twice = add_node_group(STARTER)
    assert sum(node.written_bytes.value for node in backup(twice).nodes) == pytest.approx(whole, rel=0.02)


def test_compression_takes_as_long_as_its_cores() -> None:
    """Twice the clock, half the time, up to the limit of the parameters; faster cores lengthen no backup."""
    plan = set_parameter(STARTER, "data_node", "CompressedBackup", 1)
    plan = set_parameter(plan, "data_node", "MaxDiskWriteSpeed", 100 * 2**30)
    fixed = constants_of(plan)["backup_fixed_s"].value

    def seconds(ghz: float) -> float:
        hosts = tuple(host.model_copy(update={"clock_ghz": ghz}) for host in plan.hosts)
        found = backup(plan.replace(hosts=hosts))
        assert {node.bound for node in found.nodes} == {"LDM threads that compress"}
        return found.duration_s.value - fixed

    assert seconds(2.0) == pytest.approx(2 * seconds(4.0))


def test_compression_halves_the_bytes() -> None:
    packed = set_parameter(STARTER, "data_node", "CompressedBackup", 1)
    assert backup(packed).nodes[0].written_bytes.value == pytest.approx(
        backup(STARTER).nodes[0].written_bytes.value / 2
    )


def test_one_thread_wrote_the_backup_before_8_0_16() -> None:
    fast = set_parameter(STARTER, "data_node", "MaxDiskWriteSpeed", 100 * 2**30)
    old = edits.set_plan(fast, ndb_version="8.0.15")
    assert backup(old).duration_s.value > backup(fast).duration_s.value


def test_the_log_of_a_backup_grows_with_the_changes() -> None:
    idle, busy = backup(STARTER), backup(STARTER, STARTER.workloads[0])
    assert idle.nodes[0].log_bytes.value == 0
    assert busy.nodes[0].log_bytes.value > 0


@pytest.mark.parametrize("name", ["terabyte-load", "terabyte-load-8.4"])
@pytest.mark.parametrize("speed", ["1M", "20M", "2000M"])
def test_the_log_of_a_backup_has_no_more_than_a_job_loads(name: str, speed: str) -> None:
    plan = load(resource_path(f"samples/{name}.ndbplan"))
    (job,) = (workload for workload in plan.workloads if workload.load.kind == "job")
    for limit in ("MinDiskWriteSpeed", "MaxDiskWriteSpeed"):
        plan = set_parameter(plan, "data_node", limit, speed)
    found = backup(plan, job)
    # All rows of the plan are what the job loads; each is logged once by one node of its group.
    loaded = sum(data.row_bytes for data in node_data(plan)) / 2
    logged = sum(node.log_bytes.value for node in found.nodes)
    assert logged <= 1.2 * loaded
    if speed == "1M":
        assert logged >= 0.8 * loaded


def test_a_diskless_cluster_is_told() -> None:
    diskless = set_parameter(STARTER, "data_node", "Diskless", 1)
    assert not backup(diskless).nodes
    assert any("diskless" in note for note in backup(diskless).notes)


def test_restoring_twice_the_rows_takes_twice_as_long() -> None:
    plan = STARTER
    for table in STARTER.tables:
        plan = edits.update(plan, table.id, rows=2 * table.rows)
    assert restore_backup(plan).duration_s.value == pytest.approx(
        2 * restore_backup(STARTER).duration_s.value, rel=0.01
    )


def test_a_slow_redo_disk_bounds_the_restore() -> None:
    slow = STARTER
    for disk_id in STARTER.host_of_disk:
        slow = edits.update(slow, disk_id, sequential_write_bytes_per_s=1e6)
    assert restore_backup(slow).phases[0].bound.startswith("disk ")


def test_files_are_written_in_full_one_after_the_other() -> None:
    found = create_disk_data(DISK_DATA)
    undo = next(p for p in found.phases if p.name.startswith("undo"))
    assert undo.duration_s.value == pytest.approx(377, rel=0.1)
    disk = DISK_DATA.host(DISK_DATA.data_nodes[0].host_id).disks[0]
    assert create_file(constants_of(DISK_DATA), disk, 128 * 2**20).value == pytest.approx(3, rel=0.2)
    data = next(p for p in found.phases if p.name.startswith("data"))
    one = create_file(constants_of(DISK_DATA), disk, DISK_DATA.tablespaces[0].data_files[0].size_bytes).value
    assert data.duration_s.value == pytest.approx(one * DISK_DATA.tablespaces[0].data_files[0].count)


def test_ranges_of_what_nobody_timed_are_neither_narrow_nor_useless() -> None:
    for found in (backup(STARTER).duration_s, restore_backup(STARTER).duration_s):
        assert 1.1 < found.high / found.low < 6


def test_an_empty_cluster_still_waits_for_global_checkpoints() -> None:
    few = edits.update(STARTER, STARTER.tables[0].id, rows=1)
    for table in few.tables[1:]:
        few = edits.update(few, table.id, rows=0)
    assert 0.2 < backup(few).duration_s.value < 10


def _restored(plan: Plan, *, one_by_one: bool = False) -> Phase:
    (rows,) = (p for p in restore_backup(plan, one_by_one).phases if p.name == RESTORE_ROWS)
    return rows


def _quick(version: str, ldm_threads: int = 4) -> Plan:
    """Two nodes whose disks, links and cores hold nothing up, each with two million rows of its own."""
    plan = cluster_plan(table_t1(4_000_000)).replace(ndb_version=version)
    for host in plan.hosts:
        plan = edits.update(plan, host.id, cores=64, clock_ghz=6.0, network_bytes_per_s=1e11)
        for disk in host.disks:
            speeds = {"sequential_write_bytes_per_s": 1e11, "sequential_read_bytes_per_s": 1e11}
            plan = edits.update(plan, disk.id, **speeds)
    threads = f"main,recv,tc,ldm={{count={ldm_threads}}}"
    return set_parameter(plan, "data_node", "ThreadConfig", threads)


@pytest.mark.parametrize("version", ["7.4.10", "7.6.20", "8.0.15"])
def test_a_restore_is_no_faster_than_the_one_thread_of_its_program(version: str) -> None:
    """It was as fast as disks, links and LDM threads: 20 GB in 15 s."""
    four, eight = (_restored(_quick(version, threads)) for threads in (4, 8))
    assert four.bound == eight.bound == PROGRAM
    per_s = constants_of(_quick(version))["ndb_restore_thread_rows_per_s"]
    assert four.duration_s.low >= 2_000_000 / per_s.high * 0.98
    assert four.duration_s.value == pytest.approx(eight.duration_s.value, rel=0.05)


def test_threads_of_a_restore_share_the_transactions_under_way() -> None:
    """One for each part of the backup, from 8.0.16 on; --parallelism is divided among them."""
    plan = _quick("8.4.8")
    constants = constants_of(plan)
    found, one = _restored(plan), _restored(_quick("8.0.15"))
    assert found.bound == UNDER_WAY
    at_once = constants["ndb_restore_transactions"].value / constants["ndb_restore_transaction_s"].value
    assert found.duration_s.value >= 2_000_000 / at_once
    assert found.duration_s.value < one.duration_s.value


@pytest.mark.parametrize(("parts", "own"), [(12, 10), (24, 5), (84, 1)])
def test_a_thread_of_a_restore_has_whole_transactions_under_way(parts: int, own: int) -> None:
    """128 / 12 was 10.7 of them: the program divides whole numbers (NDB restore_main.cpp)."""
    plan = _quick("8.4.8", parts)
    rows = node_data(plan)[0].fullest_ldm.saved_rows
    each_s = constants_of(plan)["ndb_restore_transaction_s"].value
    assert _restored(plan).duration_s.value == pytest.approx(rows * each_s / own, rel=1e-6)


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_files_that_are_restored_one_after_the_other_take_as_long_as_all_of_them(version: str) -> None:
    """The program reads those of one node at a time, also where two are of one node group."""
    plan = _quick(version)
    at_once, in_turn = _restored(plan), _restored(plan, one_by_one=True)
    for end in ("low", "value", "high"):
        assert getattr(in_turn.duration_s, end) == pytest.approx(
            2 * getattr(at_once.duration_s, end), rel=0.1
        )


def test_nodes_of_one_host_share_its_cores_when_a_backup_is_restored() -> None:
    # A million rows were loaded in 22 s into two data nodes that shared two cores.
    found = restore_backup(cluster_plan(table_t1(1_000_000))).duration_s
    assert found.low < 22 < found.high


def _on_one_host(plan: Plan) -> Plan:
    """The plan with every data node on the first one's host and disks."""
    first = plan.data_nodes[0]
    processes = tuple(
        validated.changed(p, host_id=first.host_id, disk_roles=first.disk_roles)
        if isinstance(p, DataNode)
        else p
        for p in plan.processes
    )
    return plan.replace(processes=processes)


def test_data_nodes_that_share_a_disk_create_their_files_on_it_together() -> None:
    shared = _on_one_host(DISK_DATA)
    nodes = len(DISK_DATA.data_nodes)
    disk = disk_for(shared, shared.data_nodes[0], DiskRole.DATA_FILES)
    assert disk is not None
    size = sum(f.size_bytes * f.count for s in shared.tablespaces for f in s.data_files)
    least = nodes * size / disk.sequential_write_bytes_per_s
    data = next(p for p in create_disk_data(shared).phases if p.name.startswith("data"))
    assert data.duration_s.low >= least
    alone = next(p for p in create_disk_data(DISK_DATA).phases if p.name.startswith("data"))
    assert data.duration_s.value > (nodes - 0.5) * alone.duration_s.value


def test_files_on_a_disk_that_others_use_too_take_longer() -> None:
    busy = DISK_DATA
    for disk_id in DISK_DATA.host_of_disk:
        busy = edits.update(busy, disk_id, other_load=0.5)
    before, after = (create_disk_data(p).duration_s.value for p in (DISK_DATA, busy))
    assert after > 1.9 * before


def test_a_restore_makes_the_files_of_disk_data_and_reads_the_backup() -> None:
    found = restore_backup(DISK_DATA)
    files = create_disk_data(DISK_DATA)
    assert found.phases[: len(files.phases)] == files.phases
    rows = found.phases[len(files.phases)].duration_s
    slow = DISK_DATA
    for disk_id in DISK_DATA.host_of_disk:
        slow = edits.update(slow, disk_id, sequential_read_bytes_per_s=1e6)
    read = restore_backup(slow).phases[len(files.phases)].duration_s
    saved = max(node.written_bytes.low for node in backup(DISK_DATA).nodes)
    assert read.low >= saved / 1e6
    assert read.low > rows.low


def test_a_backup_is_multithreaded_only_with_several_ldm_threads_alike_on_all_nodes() -> None:
    # Manual 8.0, taking a backup with parallel data nodes: all of several LDM threads, the same number each.
    plan = edits.set_plan(cluster_plan(table_t1(1_000_000, 1000, 0)), ndb_version="8.4.8")
    one = set_parameter(plan, "data_node", "ThreadConfig", "ldm={count=1},main,recv,rep,tc,send")
    off = set_parameter(one, "data_node", "EnableMultithreadedBackup", 0)
    assert backup(one).duration_s.value == pytest.approx(backup(off).duration_s.value)
    first = plan.data_nodes[0]
    four = edits.update(
        plan, first.id, parameters={**first.parameters, "ThreadConfig": "ldm={count=4},main,recv,rep,tc,send"}
    )
    speeds = [node.speed_bytes_per_s.value / 2**20 for node in backup(four).nodes]
    # Each alone at the share of one of its own threads, and a quarter more.
    assert speeds == pytest.approx([1.25 * 20 / 4, 1.25 * 20 / 2], rel=0.03)


def test_the_measured_speeds_of_one_thread_and_of_two() -> None:
    # Running 8.4.8 cluster, 2 LDM threads, 300,000 rows, 40 MiB/s: 14.7 s with a thread for each part, 6.0 s
    # with one thread for all: each thread's share is what counts, not the number of threads.
    plan = edits.set_plan(cluster_plan(table_t1(300_000, 1000, 0)), ndb_version="8.4.8")
    for name in ("MinDiskWriteSpeed", "MaxDiskWriteSpeed"):
        plan = set_parameter(plan, "data_node", name, 40 * 2**20)
    alone = backup(set_parameter(plan, "data_node", "EnableMultithreadedBackup", 0))
    both = backup(plan)
    assert both.duration_s.value > 1.5 * alone.duration_s.value
    assert both.duration_s.low < 14.7 < both.duration_s.high
    assert alone.duration_s.low < 6.0 < alone.duration_s.high


@pytest.mark.parametrize("name", ["starter", "disk-data", "node-restart-8.4", "terabyte-load-8.4"])
def test_fewer_cores_make_nothing_faster_but_what_says_so(name: str) -> None:
    """With the same LDM threads nothing is faster; with fewer, each writes a larger share (measured)."""

    def on_cores_over(factor: int) -> Plan:
        hosts = (
            host.model_copy(update={"cores": max(1, host.cores // factor), "sockets": 1})
            for host in plan.hosts
        )
        return plan.replace(hosts=tuple(hosts))

    plan = load(resource_path(f"samples/{name}.ndbplan"))
    told = 0
    for before, after in pairwise(on_cores_over(factor) for factor in (1, 2, 4, 8)):
        more, less = backup(before), backup(after)
        # Fewer LDM threads make fewer parts of a backup, which share the transactions of the program.
        if _restored(before).bound != UNDER_WAY:
            assert restore_backup(after).duration_s.value >= restore_backup(before).duration_s.value * 0.999
        of_more, of_less = (ldm_threads(one, one.data_nodes[0]) for one in (before, after))
        if less.duration_s.value < more.duration_s.value:
            assert of_less < of_more
            assert any("this backup slower: raise MaxDiskWriteSpeed" in note for note in more.notes)
            told += 1
    assert told == {"starter": 2, "disk-data": 0, "node-restart-8.4": 1, "terabyte-load-8.4": 3}[name]


def test_checkpoints_take_their_share_of_the_disk_that_bounds_a_restore() -> None:
    """A disk of 10 MB/s gave the log of overloads 5 to 10 MB/s of it; a restore had all of it to itself."""
    run = next(run for run in runs() if run.name == "A9")
    plan = plan_of(run)
    plan = plan.replace(tables=(plan.tables[0].model_copy(update={"rows": 1_000_000}),))
    shared, alone = restore_backup(plan), restore_backup(_checkpoints_elsewhere(plan))
    assert shared.phases[0].bound.startswith("disk ")
    assert shared.duration_s.value > 1.3 * alone.duration_s.value
    # At least the log of a million rows on a disk of 10 MiB/s.
    assert shared.duration_s.low >= alone.duration_s.low > 1_000_000 * 1096 / (10 * 2**20)
    few = {"MinDiskWriteSpeed": 2**20, "MaxDiskWriteSpeed": 2**20}
    slow = plan.replace(parameters=plan.parameters.model_copy(update={
        "data_node": {**plan.parameters.data_node, **few}}))  # fmt: skip
    assert restore_backup(slow).duration_s.value < 1.2 * alone.duration_s.value


def _checkpoints_elsewhere(plan: Plan) -> Plan:
    """The plan with checkpoints and backups on a quick disk of their own."""
    hosts, nodes = [], []
    for host, node in zip(plan.hosts, plan.data_nodes, strict=True):
        other = host.disks[0].model_copy(update={"id": f"{host.id}-2", "sequential_write_bytes_per_s": 1e9})
        hosts.append(host.model_copy(update={"disks": (*host.disks, other)}))
        chosen = {"redo": host.disks[0].id, "lcp": other.id, "backup": other.id}
        roles = node.disk_roles.model_copy(update=chosen)
        nodes.append(node.model_copy(update={"disk_roles": roles}))
    return plan.replace(hosts=tuple(hosts), processes=tuple(nodes))
