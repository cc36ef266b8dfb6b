"""Ways out of a load that disks do not keep up with: each one cures, in the order in which it costs."""

from __future__ import annotations

import pytest

from ndbplan.checks.harm import harm
from ndbplan.checks.run import check, find
from ndbplan.checks.unwise.load_cures import BUSY
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint, Workload

RULE = "disk-demand"


def _busiest(plan: Plan, workload: Workload) -> float:
    demand = Estimation(plan, plan.workload(workload.id)).disks
    return max(disk.utilisation.value for disk in demand.disks)


@pytest.mark.parametrize("name", ["redo-overload", "redo-overload-8.4"])
def test_every_way_out_lets_the_disks_keep_up(name: str) -> None:
    plan = sample_plan(name)
    found = [problem for problem in check(plan) if problem.rule == RULE]
    assert found
    for problem in found:
        workload = next(w for w in plan.workloads if w.id in problem.object_ids)
        assert _busiest(plan, workload) > BUSY
        assert [way.buys for way in problem.solutions] == sorted(way.buys for way in problem.solutions)
        assert len(problem.solutions) >= 2
        for way in problem.solutions:
            after = way.edit(plan)
            assert _busiest(after, workload) <= BUSY, way.title
            assert not any(p.rule == RULE and workload.id in p.object_ids for p in find(after)), way.title


def test_the_first_article_s_own_remedy_comes_first() -> None:
    """REDO and LCP on the two disks that the hosts have, as the article of 2009 found."""
    problem = next(p for p in check(sample_plan("redo-overload")) if p.rule == RULE)
    first = problem.solutions[0]
    assert not first.buys
    assert first.title in ("Put REDO on c0d1 and LCP on c0d0 of each host",)
    assert "RedoBuffer" not in (problem.fix or "")


def test_no_more_node_groups_than_it_takes() -> None:
    plan = sample_plan("redo-overload")
    problem = next(p for p in check(plan) if p.rule == RULE)
    workload = next(w for w in plan.workloads if w.id in problem.object_ids)
    way = next(way for way in problem.solutions if "node group" in way.title)
    groups = len(way.edit(plan).data_nodes) // 2 - 1
    assert way.title == f"Add {groups} node groups"
    before = find(plan)
    for fewer in range(1, groups):
        after = add_node_group(plan, fewer)
        assert _busiest(after, workload) > BUSY or harm(before, find(after), anywhere=True)


def test_where_nothing_tried_is_enough_the_words_stay() -> None:
    plan = sample_plan("redo-overload")
    workload = plan.workloads[0]
    plan = edits.update(plan, workload.id, load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=10**8),)))
    problem = next(p for p in check(plan) if p.rule == RULE and workload.id in p.object_ids)
    assert problem.solutions == ()
    assert "add a node group" in problem.fix


def test_hosts_of_sql_nodes_that_do_not_keep_up_get_cores_or_company() -> None:
    plan = sample_plan("starter")
    for host in {node.host_id for node in plan.sql_nodes}:
        plan = edits.update(plan, host, cores=1)
    workload = plan.workloads[0]
    problem = next(p for p in check(plan) if p.rule == "client-nodes" and workload.id in p.object_ids)
    titles = [way.title for way in problem.solutions]
    assert any("times the cores" in title for title in titles)
    assert any("SQL node" in title for title in titles)
    for way in problem.solutions:
        assert way.buys
        after = way.edit(plan)
        left = [p for p in find(after) if p.rule == "client-nodes" and workload.id in p.object_ids]
        assert not left, way.title
        cpu = Estimation(after, after.workload(workload.id)).cpu
        clients = {one.host_id for one in cpu.clients.nodes} if cpu.clients else set()
        assert all(host.utilisation.value <= BUSY for host in cpu.hosts if host.host_id in clients)


def test_cluster_connections_that_do_not_keep_up_get_more_of_them_or_company() -> None:
    plan = sample_plan("starter")
    [problem] = [p for p in check(plan) if p.rule == "client-nodes" and "connection" in p.message]
    pools, more = problem.solutions
    assert (pools.buys, more.buys) == (False, True)
    for way in problem.solutions:
        after = way.edit(plan)
        coming = Estimation(after, after.workload("sale")).cpu.clients
        assert coming is not None
        assert max(node.connection_utilisation.value for node in coming.nodes) <= BUSY, way.title
    assert [len(node.pool_node_ids) for node in pools.edit(plan).sql_nodes] == [1, 1]
    assert len(more.edit(plan).sql_nodes) == 4


@pytest.mark.parametrize(("name", "buys"), [("disk-data-8.4", False), ("disk-data", True)])
def test_pages_on_disk_get_a_buffer_that_hosts_have_the_memory_for(name: str, buys: bool) -> None:
    plan = sample_plan(name)
    problem = next(p for p in check(plan) if p.rule == "disk-page-buffer")
    [way] = problem.solutions
    assert way.buys is buys
    after = way.edit(plan)
    assert not any(p.rule == "disk-page-buffer" for p in find(after))
    assert all(host.fill <= 1 for host in Estimation(after).memory.hosts)
