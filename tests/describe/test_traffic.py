"""What goes over links of a plan while a run lasts."""

from __future__ import annotations

import pytest

from ndbplan.describe.traffic import links, traffic
from ndbplan.edits import parts as edits
from ndbplan.estimate.loaded import flows_of_hosts, network
from ndbplan.plan.events import Event, NodeFailure, SqlNodeDown
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

# One with clients on the hosts of data nodes, one whose clients come from anywhere, three replicas or none.
SAMPLES = ("starter", "add-nodes", "redo-overload", "measured-7.4.10", "tick-store", "disk-data-8.4")


def _runs(event: Event):
    """The starter, in which something fails for good at 30 s of 60, and its run."""
    plan = sample_plan("starter")
    load = plan.workloads[0]
    plan = edits.update(plan, load.id, duration_s=60.0, events=(event,))
    return plan, simulate(estimation_of(plan, load.name))


def _of(plan, result, *ids: str):
    link = next(one for one in links(plan) if one.ids == ids)
    return dict(traffic(plan, result, link))


def test_what_is_down_sends_and_gets_nothing_and_the_others_carry_it() -> None:
    plan, result = _runs(NodeFailure(at_s=30.0, object_id="ndb1"))
    before, after = result.times_s < 29, result.times_s > 50
    dead, alive = _of(plan, result, "host-a1"), _of(plan, result, "host-b1")
    assert min(dead["in"][before]) > 0
    assert max(dead["in"][after]) == max(dead["out"][after]) == 0
    each = result.accepted.clip(1)
    # Each transaction reads from the one node that is left what both were asked for; no row goes to a copy.
    assert min((alive["out"] / each)[after]) > 1.4 * max((alive["out"] / each)[before])
    assert min((alive["in"] / each)[after]) < min((alive["in"] / each)[before])
    between = _of(plan, result, "ndb1", "ndb2")
    assert min(between["to host-a1"][before]) > 0
    assert {max(flow[after]) for flow in between.values()} == {0}


def test_a_link_of_two_hosts_is_part_of_what_leaves_their_racks() -> None:
    plan, result = _runs(SqlNodeDown(at_s=30.0, object_id="sql147"))
    between, rack = _of(plan, result, "ndb1", "ndb2"), _of(plan, result, "rack-a")
    assert all(rack["out"] >= between["to host-b1"])
    assert all(rack["in"] >= between["to host-a1"])
    after = result.times_s > 50
    # The clients of rack A are gone: its data node answers those of rack B only.
    assert max(_of(plan, result, "app-a1")["in"][after]) == 0
    assert min(rack["out"][after]) > min(rack["in"][after])


def test_what_clients_ask_is_what_data_nodes_are_asked() -> None:
    plan = sample_plan("starter")
    flows = flows_of_hosts(plan, plan.workloads[0])
    data, sql = {n.host_id for n in plan.data_nodes}, {n.host_id for n in plan.sql_nodes}
    assert flows.into(data).value == pytest.approx(flows.out_of(sql).value)
    assert flows.out_of(data).value == pytest.approx(flows.into(sql).value)
    # A second data node for the same load changes where rows are asked for, not how many.
    alone = flows_of_hosts(plan, plan.workloads[0], frozenset({1}))
    assert alone.out_of(sql).value == pytest.approx(flows.out_of(sql).value)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_host_s_link_carries_what_flows_between_hosts_sum_to(name: str) -> None:
    plan = sample_plan(name)
    for workload in plan.workloads:
        flows = flows_of_hosts(plan, workload)
        for host in network(plan, workload).hosts:
            assert host.in_bytes_per_s.value == pytest.approx(flows.into({host.host_id}).value, abs=1e-6)
            assert host.out_bytes_per_s.value == pytest.approx(flows.out_of({host.host_id}).value, abs=1e-6)
