"""ndbinfo of a simulated moment: the real tables' columns, and what the series say."""

from __future__ import annotations

import pytest

from ndbplan.plan import edits
from ndbplan.plan.events import NodeFailure
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.ndbinfo import RESTART_SECONDS, VIEWS, view, views
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
    plan = edits.set_parameter(overload, "sql", "DefaultOperationRedoProblemAction", "queue")
    points = (RatePoint(at_s=0, rate_per_s=20_000),)
    plan = edits.update(plan, BIG, load=OpenLoad(points=points, clients=50))
    result = simulate(plan, BIG, 40, events=[NodeFailure(at_s=10, object_id="ndb3")])
    found = views(result, plan, 15)
    assert set(found) == set(COLUMNS) == set(VIEWS)
    for name, rows in found.items():
        assert rows, name
        assert all(list(row) == COLUMNS[name] for row in rows), name


def test_logbuffers_show_the_overload_of_the_article(overload: Plan) -> None:
    idle = view("logbuffers", simulate(overload, SMALL), overload, 30)
    assert len(idle) == 8
    assert {row["total"] for row in idle} == {50331648}
    assert max(row["used"] for row in idle) < 0.01 * 50331648
    full = view("logbuffers", simulate(overload, BIG), overload, 25)
    assert max(row["used"] for row in full) > 0.8 * 50331648


def test_speeds_and_memory_follow_the_run(overload: Plan) -> None:
    result = simulate(overload, BIG)
    speeds = view("disk_write_speed_aggregate_node", result, overload, 20)[0]
    assert speeds["backup_lcp_speed_last_sec"] == pytest.approx(83.9e6, rel=0.05)
    assert speeds["redo_speed_last_10sec"] == pytest.approx(32.9e6, rel=0.1)
    early, late = (view("memoryusage", result, overload, at)[0]["used"] for at in (2, 50))
    assert late > early
    assert view("memoryusage", result, overload, 2)[0]["total"] == pytest.approx(5905580032, rel=1e-3)


def test_restart_info_follows_a_restart(overload: Plan) -> None:
    plan = edits.set_plan(edits.set_parameter(overload, "data_node", "DataMemory", 2**40), ndb_version="7.6")
    event = NodeFailure(at_s=10, object_id="ndb3", back_after_s=5)
    result = simulate(plan, SMALL, 3000, events=[event])
    assert view("restart_info", result, plan, 5) == []
    failed = view("restart_info", result, plan, 12)[0]
    assert (failed["node_id"], failed["total_restart_secs"]) == (3, 0)
    assert [row["node_id"] for row in view("logbuffers", result, plan, 12)] == [4] * 4
    started, phases = result.restarts[0].started_at_s, result.restarts[0].phases
    assert started == pytest.approx(15)
    end = started + sum(seconds for _, seconds in phases)
    done = view("restart_info", result, plan, end + 5)[0]
    assert done["node_restart_status"] == "Restart completed"
    assert done["total_restart_secs"] == pytest.approx(end - started, abs=len(phases))
    half = view("restart_info", result, plan, (started + end) / 2)[0]
    assert 0 < half["total_restart_secs"] < done["total_restart_secs"]
    assert half["node_restart_status"] != done["node_restart_status"]


def test_an_unknown_table_is_an_error(overload: Plan) -> None:
    with pytest.raises(KeyError):
        view("no_such_table", simulate(overload, SMALL, 5), overload, 1)
