"""What SQL and API nodes carry, and what a plan without them says."""

from __future__ import annotations

import pytest

from ndbplan.advise.max_load import max_load
from ndbplan.edits import parts as edits
from ndbplan.edits.roles import move_process
from ndbplan.estimate.loaded import clients, cpu
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, SqlNode
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate


@pytest.fixture(scope="module")
def starter() -> Plan:
    return sample_plan("starter")


def highest(plan: Plan, workload_id: str = "day") -> float:
    return max_load(estimation_of(plan, workload_id), duration_s=60, with_next=False).max_per_s.value


def test_two_mysqld_of_sixteen_cores_limit_the_starter(starter: Plan) -> None:
    found = max_load(estimation_of(starter, "day"), duration_s=600)
    assert found.limited_by.resource == "sql nodes"
    assert found.limited_by.where.startswith("SQL node 147, app-a1")
    assert found.max_per_s.value < 200_000, "less than half of what was said without them"
    assert found.max_per_s.high > 2 * found.max_per_s.value, "nothing was measured"
    assert found.ends_after_s is None, "clients wait, nothing is refused"
    point = RatePoint(at_s=0, rate_per_s=1.1 * found.max_per_s.value)
    over = edits.update(starter, "day", load=OpenLoad(points=(point,)))
    assert simulate(estimation_of(over, "day"), duration_s=20).bottleneck.resource == "sql nodes"


def test_more_sql_nodes_cores_and_connections_carry_more(starter: Plan) -> None:
    before = highest(starter)
    host = starter.host(starter.sql_nodes[0].host_id)
    more = host.model_copy(update={"id": "app-c1", "hostname": "app-c1", "disks": ()})
    third = SqlNode(id="third", node_id=200, host_id=more.id)
    pools = starter
    for i, node in enumerate(starter.sql_nodes):
        pools = edits.update(pools, node.id, pool_node_ids=tuple(range(201 + 3 * i, 204 + 3 * i)))
    with_pools = highest(pools)
    assert with_pools > before, "connections were the limit"
    cores = pools
    for node in starter.sql_nodes:
        cores = edits.update(cores, node.host_id, cores=64)
    assert highest(cores) > with_pools, "then the cores"
    assert highest(edits.add(starter, more, third)) == pytest.approx(1.5 * before, rel=0.01)


def test_cores_of_a_host_are_shared_with_its_data_node(starter: Plan) -> None:
    workload = starter.workload("day")
    data = starter.data_nodes[0]
    alone = next(h for h in cpu(starter, workload).hosts if h.host_id == data.host_id)
    moved = move_process(starter, starter.sql_nodes[0].id, data.host_id)
    both = next(h for h in cpu(moved, workload).hosts if h.host_id == data.host_id)
    mysqld = clients(moved, workload).nodes[0].cores.value / moved.host(data.host_id).cores
    assert both.utilisation.value == pytest.approx(alone.utilisation.value + mysqld)
    assert both.data_nodes


def test_statements_rows_and_commit_are_counted(starter: Plan) -> None:
    workload = starter.workload("day")
    alone = workload.model_copy(update={"transactions": workload.transactions[3:4]})
    rate = 8000.0
    assert clients(starter, alone).statements_per_s == rate, "one statement commits itself"
    mixed = workload.model_copy(update={"transactions": workload.transactions[0:1]})
    assert clients(starter, mixed).statements_per_s == 3 * rate, "two statements and COMMIT"
    assert clients(starter, mixed).rows_per_s == (3 + 4) * rate, "five rows by one statement"


def test_programs_from_anywhere_have_no_known_limit(starter: Plan) -> None:
    workload = starter.workload("day")
    api = workload.model_copy(update={"through": "api"})
    found = clients(starter, api)
    assert (found.through, found.nodes) == ("anywhere", ())
    assert found.note is not None
    assert "no limit" in found.note
    free = max_load(estimation_of(edits.update(starter, "day", through="api"), "day"), with_next=False)
    assert free.limited_by.resource not in ("sql nodes", "api nodes")
    host = starter.host(starter.sql_nodes[0].host_id)
    own = edits.add(starter, ApiSlot(id="program", node_id=210, host_id=host.id))
    there = clients(own, api)
    assert there.through == "api"
    assert there.nodes[0].host == host.hostname
    nobody = edits.remove(starter, [p.id for p in (*starter.sql_nodes, *starter.api_slots)])
    note = clients(nobody, nobody.workload("day")).note
    assert note is not None
    assert "nobody" in note
