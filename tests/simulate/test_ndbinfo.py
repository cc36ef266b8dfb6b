"""ndbinfo of a simulated moment: the real tables' columns, and what the series say."""

from __future__ import annotations

import pytest

from ndbplan.base.units import MIB
from ndbplan.edits import parts as edits
from ndbplan.edits.additions import add
from ndbplan.edits.assign import assign
from ndbplan.edits.parameters import set_parameter
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.ndb.version import SERIES, NdbVersion
from ndbplan.plan.events import NodeFailure
from ndbplan.plan.plan import EMPTY_PLAN, ClusterParameters, Plan
from ndbplan.plan.tables import LogfileGroup, SpaceFile
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.ndbinfo import RESTART_SECONDS, VIEWS, NdbinfoError, view
from ndbplan.simulate.run import simulate

BIG, SMALL = "blobs-5k", "blobs-1k"
LOG = ["node_id", "log_type", "log_id", "log_part", "total", "used"]
COLUMNS = {
    "logbuffers": LOG,
    "logspaces": LOG,
    "memoryusage": ["node_id", "memory_type", "used", "used_pages", "total", "total_pages"],
    "disk_write_speed_aggregate_node": [
        "node_id", "backup_lcp_speed_last_sec", "redo_speed_last_sec", "backup_lcp_speed_last_10sec",
        "redo_speed_last_10sec", "backup_lcp_speed_last_60sec", "redo_speed_last_60sec",
    ],
    "resources": ["node_id", "resource_name", "reserved", "used", "max"],
    "restart_info": [
        "node_id", "node_restart_status", "node_restart_status_int", *RESTART_SECONDS, "total_restart_secs",
    ],
    "cluster_operations": [
        "node_id", "block_instance", "transid", "operation_type", "state", "tableid", "fragmentid",
        "client_node_id", "client_block_ref", "tc_node_id", "tc_block_no", "tc_block_instance",
    ],
}  # fmt: skip


def test_every_table_has_the_columns_of_the_real_one(overload: Plan) -> None:
    plan = set_parameter(overload, "sql", "DefaultOperationRedoProblemAction", "queue")
    points = (RatePoint(at_s=0, rate_per_s=20_000),)
    plan = edits.update(plan, BIG, load=OpenLoad(points=points, clients=50))
    plan = edits.set_plan(plan, ndb_version="7.4.10")
    for host in plan.hosts:
        for disk in host.disks:
            plan = edits.update(plan, disk.id, sequential_write_bytes_per_s=30e6)
    result = simulate(
        estimation_of(plan, BIG), duration_s=40, events=[NodeFailure(at_s=10, object_id="ndb3")]
    )
    assert set(COLUMNS) == set(VIEWS)
    queued = int(result.waiting[12:].argmax()) + 12
    for name, columns in COLUMNS.items():
        rows = view(name, result, plan, queued * result.bucket_s)
        assert rows, name
        assert all(list(row) == columns for row in rows), name
    newer = edits.set_plan(plan, ndb_version="8.4")
    assert list(view("resources", simulate(estimation_of(newer, BIG), duration_s=5), newer, 3)[0]) == [
        *COLUMNS["resources"],
        "spare",
    ]


@pytest.mark.parametrize("series", SERIES)
def test_only_tables_of_the_version_are_shown(overload: Plan, series: str) -> None:
    plan = edits.set_plan(overload, ndb_version=series)
    known = tables_of(NdbVersion.parse(series))
    assert bool(known) == (NdbVersion.parse(series) >= (7, 1))
    result = simulate(estimation_of(plan, SMALL), duration_s=5)
    for name in VIEWS:
        if name in known:
            assert all(tuple(row) == known[name].columns for row in view(name, result, plan, 3))
        else:
            with pytest.raises(NdbinfoError):
                view(name, result, plan, 3)


def test_restart_info_came_in_7_4_2() -> None:
    assert "restart_info" not in tables_of(NdbVersion.parse("7.4.1"))
    assert "restart_info" in tables_of(NdbVersion.parse("7.4.2"))
    assert tables_of(NdbVersion.parse("7.3"))["cluster_operations"].certain, "stated by 7.2.2 and by 7.4.10"


def test_a_row_of_logbuffers_is_an_ldm_thread_up_to_7_and_a_log_part_from_8(overload: Plan) -> None:
    """7.4.10 with 2 LDM threads and 4 log parts: 2 rows; 8.4.8 with 1 LDM thread: 4 rows, log_part 1."""
    for threads, version, places in (
        (4, "7.4.10", [(0, 1), (0, 2)]),
        (2, "8.4", [(0, 1), (1, 1), (2, 1), (3, 1)]),
    ):
        plan = edits.set_plan(overload, ndb_version=version)
        plan = set_parameter(plan, "data_node", "MaxNoOfExecutionThreads", threads)
        rows = view("logbuffers", simulate(estimation_of(plan, BIG), duration_s=5), plan, 3)
        assert [(r["log_id"], r["log_part"]) for r in rows if r["node_id"] == 3] == places


def test_parts_of_one_node_fill_differently(overload: Plan) -> None:
    """The article: at one moment parts of one node hold 11 to 43 MB, those of the other 10 to 17 MB."""
    result = simulate(estimation_of(overload, BIG))
    used = [r["used"] for r in view("logbuffers", result, overload, 10) if r["node_id"] == 3]
    assert 1.2 < max(used) / min(used) < 5


@pytest.mark.parametrize(
    ("version", "sizes", "space", "buffer"),
    [
        ("7.4.10", (16, 12), 29_360_128, 2_096_128),
        ("8.4.8", (16, 12), 29_251_680, 2_094_080),
        ("8.4.8", (128, 16), 150_708_320, 2_094_080),
    ],
)
def test_the_undo_log_is_as_large_as_recorded_clusters_say(
    overload: Plan, version: str, sizes: tuple[int, ...], space: int, buffer: int
) -> None:
    files = tuple(SpaceFile(name=f"undo_{size}.log", size_bytes=size * MIB) for size in sizes)
    group = LogfileGroup(id="lg", name="lg_1", undo_files=files, undo_buffer_bytes=2 * MIB)
    plan = edits.set_plan(overload, ndb_version=version).replace(logfile_groups=(group,))
    result = simulate(estimation_of(plan, BIG), duration_s=5)
    for name, total in (("logspaces", space), ("logbuffers", buffer)):
        rows = [row for row in view(name, result, plan, 3) if row["log_type"] == "DD-UNDO"]
        assert [row["node_id"] for row in rows] == [node.node_id for node in plan.data_nodes]
        assert {row["total"] for row in rows} == {total}
        assert all(0 <= row["used"] <= total for row in rows)


def test_nobody_answers_when_no_data_node_is_up(overload: Plan) -> None:
    both = [NodeFailure(at_s=5, object_id=f"ndb{n}") for n in (3, 4)]
    result = simulate(estimation_of(overload, SMALL), duration_s=10, events=both)
    with pytest.raises(NdbinfoError, match="157"):
        view("logbuffers", result, overload, 8)


def test_logbuffers_show_the_overload_of_the_article(overload: Plan) -> None:
    idle = view("logbuffers", simulate(estimation_of(overload, SMALL)), overload, 30)
    assert len(idle) == 8
    assert {row["total"] for row in idle} == {50331648}
    assert max(row["used"] for row in idle) < 0.01 * 50331648
    full = view("logbuffers", simulate(estimation_of(overload, BIG)), overload, 25)
    assert max(row["used"] for row in full) > 0.8 * 50331648


def test_speeds_and_memory_follow_the_run(overload: Plan) -> None:
    result = simulate(estimation_of(overload, BIG))
    newer = edits.set_plan(overload, ndb_version="7.4")
    speeds = view("disk_write_speed_aggregate_node", result, newer, 20)[0]
    assert speeds["backup_lcp_speed_last_sec"] == pytest.approx(83.9e6, rel=0.05)
    assert speeds["redo_speed_last_10sec"] == pytest.approx(32.9e6, rel=0.1)
    early, late = (view("memoryusage", result, overload, at)[0]["used"] for at in (2, 50))
    assert late > early
    assert view("memoryusage", result, overload, 2)[0]["total"] == pytest.approx(5905580032, rel=1e-3)


def test_restart_info_follows_a_restart(overload: Plan) -> None:
    plan = edits.set_plan(set_parameter(overload, "data_node", "DataMemory", 2**40), ndb_version="7.6")
    event = NodeFailure(at_s=10, object_id="ndb3", back_after_s=5)
    result = simulate(estimation_of(plan, SMALL), duration_s=3000, events=[event])
    assert view("restart_info", result, plan, 5) == []
    failed = view("restart_info", result, plan, 11)[0]
    assert (failed["node_id"], failed["total_restart_secs"]) == (3, 0)
    assert failed["node_restart_status_int"] == 3
    assert [row["node_id"] for row in view("logbuffers", result, plan, 12)] == [4] * 4
    started, phases = result.restarts[0].started_at_s, result.restarts[0].phases
    assert started == pytest.approx(15)
    end = started + sum(seconds for _, seconds in phases)
    done = view("restart_info", result, plan, end + 5)[0]
    assert (done["node_restart_status_int"], done["node_restart_status"]) == (19, "Restart completed")
    assert done["total_restart_secs"] == pytest.approx(end - started, abs=len(phases))
    half = view("restart_info", result, plan, (started + end) / 2)[0]
    assert 0 < half["total_restart_secs"] < done["total_restart_secs"]
    assert half["node_restart_status"] != done["node_restart_status"]


def test_an_unknown_table_is_an_error(overload: Plan) -> None:
    with pytest.raises(NdbinfoError, match="no_such_table"):
        view("no_such_table", simulate(estimation_of(overload, SMALL), duration_s=5), overload, 1)


def idle_cluster(version: str, *settings: str) -> Plan:
    """Data nodes 1 to 4, a management node, two SQL nodes and three slots, as the recorded clusters."""
    plan = edits.set_plan(EMPTY_PLAN, ndb_version=version)
    for kind, texts in (
        ("host", ["h", "cores=2", "memory=24GiB"]), ("management", ["host=h"]), *[("data", ["host=h"])] * 4,
        *[("sql", ["host=h"])] * 2, *[("api", ["host=h"])] * 3, ("table", ["t1", "rows=100000"]),
    ):  # fmt: skip
        plan = add(plan, kind, texts).plan
    # The recorded clusters stated what follows alone, not what a first data node is given here.
    plan = plan.replace(parameters=ClusterParameters())
    plan = add(
        plan, "workload", ["idle", f"table={plan.tables[0].full_name}", "operation=insert", "rate=0"]
    ).plan
    for text in settings:
        plan, _ = assign(plan, text)
    return plan


OLD = ("7.4.10", "MaxNoOfExecutionThreads=4")
NEW = (
    "8.4.8", "NumCPUs=2", "DataMemory=96M", "SharedGlobalMemory=32M", "RedoBuffer=16M",
    "TransactionMemory=24M",
    "MaxNoOfConcurrentOperations=16384", "DiskPageBufferMemory=8M", "LongMessageBuffer=8M",
    "NoOfFragmentLogFiles=4", "FragmentLogFileSize=8M", "NoOfFragmentLogParts=4",
)  # fmt: skip
"""Settings of the two clusters whose mysql clients were recorded."""


@pytest.mark.parametrize("cluster", [OLD, NEW])
def test_an_idle_cluster_looks_as_the_recorded_ones(cluster: tuple[str, ...]) -> None:
    """What SELECT * of 7.4.10 and 8.4.8 printed: rows, order, and every number that load does not move."""
    plan = idle_cluster(*cluster)
    result = simulate(estimation_of(plan, plan.workloads[0].id), duration_s=5)
    rows = {name: [r for r in view(name, result, plan, 4) if r["node_id"] == 2] for name in VIEWS}
    is_old = cluster is OLD

    buffers = [(r["log_id"], r["log_part"], r["total"], r["used"]) for r in rows["logbuffers"]]
    spaces = [(r["log_id"], r["log_part"], r["total"]) for r in rows["logspaces"]]
    memory = {r["memory_type"]: (r["total"], r["total_pages"]) for r in rows["memoryusage"]}
    if is_old:
        assert buffers == [(0, 1, 33554432, 131072), (0, 2, 33554432, 131072)]
        assert spaces == [(0, part, 268435456) for part in (0, 2, 1, 3)]
        assert list(memory.items()) == [
            ("Data memory", (83886080, 2560)),
            ("Index memory", (19398656, 2368)),
            ("Long message buffer", (67108864, 262144)),
        ]
    else:
        assert buffers == [(part, 1, 16777216, 65536) for part in range(4)]
        assert spaces == [(0, part, 33554432) for part in range(4)]
        assert list(memory.items()) == [
            ("Data memory", (100663296, 3072)),
            ("Long message buffer", (8388608, 32768)),
        ]
    found = {r["resource_name"]: (r["reserved"], r["max"]) for r in rows["resources"]}
    real = dict(RESOURCES[cluster[0]])
    assert list(found) == list(real)
    for name, numbers in real.items():
        if name not in ESTIMATED[cluster[0]]:
            assert found[name] == numbers, name
        elif name != "RESERVED":
            assert found[name][0] == pytest.approx(numbers[0], rel=0.15)
    for row in rows["resources"]:
        limit = row["max"] or row["used"]
        assert 0 <= row["used"] <= limit, row
    if is_old:
        others = rows["resources"][1:]
        assert rows["resources"][0]["used"] == sum(r["used"] for r in others), "as in the real one"
        assert found["RESERVED"][0] == sum(max(0, r["reserved"] - r["used"]) for r in others)
    spare = {r["resource_name"]: r.get("spare") for r in rows["resources"]}
    data = next(r for r in rows["resources"] if r["resource_name"] == "DATA_MEMORY")
    assert is_old or spare["DATA_MEMORY"] == -(-data["used"] * 5 // 95)


RESOURCES = {
    "7.4.10": (
        ("RESERVED", (3183, 13808)), ("DISK_OPERATIONS", (0, 0)), ("DISK_RECORDS", (0, 0)),
        ("DATA_MEMORY", (3152, 3152)), ("JOBBUFFER", (1049, 1049)), ("FILE_BUFFERS", (2176, 2176)),
        ("TRANSPORTER_BUFFERS", (904, 1130)), ("DISK_PAGE_BUFFER", (2368, 2368)), ("QUERY_MEMORY", (0, 0)),
        ("SCHEMA_TRANS_MEMORY", (64, 0)),
    ),
    "8.4.8": (
        ("TRANSACTION_MEMORY", (830, 2**32 - 1)), ("DISK_RECORDS", (0, 2**32 - 1)),
        ("DATA_MEMORY", (3072, 3072)),
        ("JOBBUFFER", (728, 728)), ("FILE_BUFFERS", (2176, 2176)), ("TRANSPORTER_BUFFERS", (840, 1050)),
        ("DISK_PAGE_BUFFER", (448, 448)), ("QUERY_MEMORY", (0, 2**32 - 1)),
        ("SCHEMA_TRANS_MEMORY", (64, 2**32 - 1)),
    ),
}  # fmt: skip
"""reserved and max that node 2 of the recorded clusters printed."""
ESTIMATED = {"7.4.10": {"RESERVED", "JOBBUFFER"}, "8.4.8": {"TRANSACTION_MEMORY"}}


@pytest.mark.parametrize("series", [s for s in SERIES if NdbVersion.parse(s) >= (7, 1)])
def test_memory_is_listed_as_each_version_has_it(overload: Plan, series: str) -> None:
    plan = edits.set_plan(overload, ndb_version=series)
    result = simulate(estimation_of(plan, SMALL), duration_s=5)
    kinds = [r["memory_type"] for r in view("memoryusage", result, plan, 3) if r["node_id"] == 3]
    has_index_memory = NdbVersion.parse(series) < (7, 6)
    assert kinds == ["Data memory", *["Index memory"] * has_index_memory, "Long message buffer"]
    for row in view("memoryusage", result, plan, 3):
        assert 0 <= row["used"] <= row["total"], row
        assert row["used"] * row["total_pages"] == row["used_pages"] * row["total"]
