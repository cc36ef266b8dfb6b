"""A cluster that stops: nothing after it counts, and it stops exactly when the product's rules say so."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ndbplan.base.resources import resource_path
from ndbplan.configuration.failing_parts import Part
from ndbplan.configuration.failures import Failures, Step, course
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.ndb.survival import in_a_row, killed_after_s, silent_after_s
from ndbplan.plan.events import (
    Backup,
    Burst,
    DiskSlow,
    Event,
    HostFailure,
    LocationFailure,
    ManagementNodeDown,
    NetworkCut,
    NodeFailure,
    NodesAdded,
    ParameterChange,
    SqlNodeDown,
)
from ndbplan.plan.file import load
from ndbplan.plan.hardware import Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ManagementNode
from ndbplan.plan.workloads import ClosedLoad, OpenLoad, RatePoint
from ndbplan.simulate.bands import monte_carlo
from ndbplan.simulate.events.failures import FailsTogether, cut, strike
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import Course, simulate
from ndbplan.simulate.session import Session
from ndbplan.simulate.simulation import Due

FOR_S = 60.0
RATE = 400.0


def built(groups: int, replicas: int = 2, version: str = "8.4", management: int = 1) -> Plan:
    """Groups whose members stand in racks of their own; apart from them management and two SQL nodes."""
    plan = edits.set_plan(load(resource_path("samples/redo-overload.ndbplan")), ndb_version=version)
    load_ = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=RATE),))
    plan = edits.update(plan, "blobs-1k", load=load_, duration_s=FOR_S)
    plan = plan.replace(workloads=(plan.workload("blobs-1k"),))
    plan = set_parameter(plan, "data_node", "DataMemory", 2**40)
    plan = set_parameter(plan, "data_node", "NoOfReplicas", replicas)
    host, node = plan.host(plan.data_nodes[0].host_id), plan.data_nodes[0]
    aside = next(h for h in plan.hosts if h.id == plan.sql_nodes[0].host_id)
    sql = plan.sql_nodes[0]
    racks = [Location(id=f"rack-{i}", name=f"Rack {i}") for i in range(replicas)]
    hosts, nodes = [], []
    for i in range(groups * replicas):
        disks = tuple(d.model_copy(update={"id": f"h{i}-{d.name}".replace(" ", "-")}) for d in host.disks)
        where = {"id": f"h{i}", "hostname": f"h{i}", "location_id": f"rack-{i % replicas}", "disks": disks}
        hosts.append(host.model_copy(update=where))
        roles = type(node.disk_roles)()
        nodes.append(
            node.model_copy(
                update={"id": f"n{i + 1}", "node_id": i + 1, "host_id": f"h{i}", "disk_roles": roles}
            )
        )
    own = aside.model_copy(update={"id": "aside", "hostname": "aside", "location_id": "apart", "disks": ()})
    others = [ManagementNode(id=f"m{i}", node_id=100 + i, host_id=own.id) for i in range(management)] + [
        sql.model_copy(update={"id": f"s{i}", "node_id": 110 + i, "host_id": own.id}) for i in range(2)
    ]
    return edits.add(
        plan.replace(hosts=(), locations=(), processes=(), links=()),
        *racks,
        Location(id="apart", name="Apart"),
        *hosts,
        own,
        *nodes,
        *others,
    )


@pytest.fixture(scope="module")
def pair() -> Plan:
    """The only group of two data nodes."""
    return built(1)


@pytest.fixture(scope="module")
def four() -> Plan:
    """Two groups of two."""
    return built(2)


def run(plan: Plan, *events: Event, for_s: float = FOR_S) -> SimulationResult:
    return simulate(estimation_of(plan, None), duration_s=for_s, events=events)


def nothing_after(result: SimulationResult, at_s: float) -> None:
    """Nothing is accepted, written or waited for from then on; all that is offered is refused with 4009."""
    after = result.times_s >= at_s
    assert after.any()
    for series in (result.accepted, result.waiting, result.latency_s, result.lcp_share):
        assert not series[after].any()
    assert result.refused[after] == pytest.approx(result.attempted[after])
    assert result.refused_by_code[4009][after] == pytest.approx(result.refused[after])
    for disk in result.disks:
        assert not any(series[after].any() for series in disk.bytes_per_s.values())
        assert disk.utilisation[after].max() <= disk.utilisation.min() + 1e-9
    for node in result.nodes:
        assert not node.redo_bytes_per_s[after].any()


def test_both_members_of_the_only_group_stop_the_cluster(pair: Plan) -> None:
    result = run(pair, NodeFailure(at_s=30, object_id="n1"), NodeFailure(at_s=30, object_id="n2"))
    stop = result.cluster_stop
    assert stop is not None
    assert stop.text.startswith("cluster stopped at 0:30: node group 0 is gone")
    nothing_after(result, 30.0)
    assert result.accepted_per_s.value == pytest.approx(RATE / 2, rel=1e-6)
    assert result.bottleneck.where == stop.text
    assert result.bottlenecks[1].used < 1
    assert stop.system_restart_s is not None
    assert stop.system_restart_s.value > 0
    assert (30.0, stop.text) in result.happened


def test_the_stop_is_in_the_json(pair: Plan) -> None:
    found = run(pair, NodeFailure(at_s=30, object_id="n1"), NodeFailure(at_s=30, object_id="n2")).to_json()
    assert found["cluster_stop"]["code"] == 4009
    assert found["bottleneck"]["where"] == found["cluster_stop"]["text"]
    assert run(pair).to_json()["cluster_stop"] is None


def test_a_rack_lost_with_the_arbitrator_stops_the_cluster_after_the_question(
    pair: Plan,
) -> None:
    moved = edits.update(pair, "aside", location_id="rack-0")
    moved = edits.update(moved, moved.sql_nodes[1].id, host_id="h1")
    result = run(moved, LocationFailure(at_s=20, object_id="rack-0"), for_s=120)
    stop = result.cluster_stop
    assert stop is not None
    assert "arbitrator" in stop.why
    low, _, high = silent_after_s(5000)
    assert 20 + low + 7.5 <= stop.at_s.low <= stop.at_s.value <= stop.at_s.high
    assert stop.at_s.high == pytest.approx(20 + high + 7.5, abs=1)
    # From the failure on nothing was accepted, before the stop nothing refused.
    after = result.times_s >= 20
    assert not result.accepted[after].any()
    stood = after & (result.times_s < stop.at_s.value - 1)
    assert not result.refused[stood].any()
    assert result.standing == ((20.0, pytest.approx(stop.at_s.value, abs=0.11)),)
    nothing_after(result, stop.at_s.value + 1)
    # Half of the clients were in the lost rack.
    assert result.offered[-1] == pytest.approx(RATE / 2)


def test_a_silent_host_is_noticed_by_heartbeats_a_killed_process_at_once(four: Plan) -> None:
    silent = run(four, HostFailure(at_s=10, object_id="h0"))
    ((begin, end),) = silent.standing
    low, _, high = silent_after_s(5000)
    assert begin == 10
    assert low <= end - begin <= high + 0.2
    assert not silent.accepted[(silent.times_s >= 10) & (silent.times_s < end - 1)].any()
    assert silent.accepted[silent.times_s > end].min() == pytest.approx(RATE)
    killed = run(four, NodeFailure(at_s=10, object_id="n1"))
    ((begin, end),) = killed.standing
    assert 0.05 <= end - begin <= killed_after_s()[1] + 0.2
    assert killed.cluster_stop is silent.cluster_stop is None


def test_heartbeats_follow_their_parameter(four: Plan) -> None:
    quick = set_parameter(four, "data_node", "HeartbeatIntervalDbDb", 500)
    ((begin, end),) = run(quick, HostFailure(at_s=10, object_id="h0")).standing
    assert end - begin < 0.2 * silent_after_s(5000)[2]


def test_two_silent_hosts_are_noticed_one_after_the_other(four: Plan) -> None:
    ((begin, end),) = run(four, LocationFailure(at_s=5, object_id="rack-0"), for_s=90).standing
    low, _, high = silent_after_s(5000, in_a_row(2, 2))
    assert low <= end - begin <= high + 0.2


@pytest.mark.parametrize(("order", "turns"), [((1, 3, 2, 4), 2), ((1, 2, 3, 4), 1), ((9, 500, 3, 40), 2)])
def test_a_stated_order_of_heartbeats_says_which_are_noticed_one_after_the_other(
    four: Plan, order: tuple[int, ...], turns: int
) -> None:
    """The rack has nodes 1 and 3: side by side in the ring, or apart."""
    for node, place in zip(four.data_nodes, order, strict=True):
        four = set_parameter(four, node.id, "HeartbeatOrder", place)
    ((begin, end),) = run(four, LocationFailure(at_s=5, object_id="rack-0"), for_s=90).standing
    _, likely, _ = silent_after_s(5000, (turns, turns, turns))
    assert end - begin == pytest.approx(likely, abs=0.3)


@pytest.mark.parametrize("by_a_cut", [False, True])
def test_what_fails_is_judged_after_all_else_of_the_moment(pair: Plan, by_a_cut: bool) -> None:
    """Also after what is asked for later in that moment, and once."""
    story = Course(estimation_of(pair, None), (), 0.1, 1, every_node=True).story(10.0)
    sim = Session(story).simulation
    for number in (1, 2):
        if by_a_cut:
            cut(sim, number, frozenset({"h0"}), frozenset({"h1"}))
        else:
            strike(sim, number, [pair.data_nodes[number - 1]], silent=False)
        sim.later(Due(sim.at_s, f"something else, {number}"))
    now = [due.event for due in sim.due if due.at_s == sim.at_s]
    assert now == ["something else, 1", "something else, 2", FailsTogether()]


def test_the_loss_of_the_arbitrator_alone_stops_nothing_but_the_next_question_is_lost(pair: Plan) -> None:
    alone = run(pair, ManagementNodeDown(at_s=10, object_id="m0"))
    assert alone.cluster_stop is None
    assert alone.accepted.min() == pytest.approx(RATE)
    assert alone.standing == ()
    stopped = run(pair, ManagementNodeDown(at_s=10, object_id="m0"), NodeFailure(at_s=30, object_id="n1"))
    assert stopped.cluster_stop is not None
    assert stopped.cluster_stop.text.startswith("cluster stopped at 0:30: ")
    back = ManagementNodeDown(at_s=10, object_id="m0", back_after_s=10)
    assert run(pair, back, NodeFailure(at_s=30, object_id="n1")).cluster_stop is None


@pytest.mark.parametrize("management", [1, 2, 3])
def test_killed_with_the_arbitrator_it_stops_at_once(management: int) -> None:
    """Others that could arbitrate live on and are not waited for: 0.3 to 0.45 s measured on 8.4.8."""
    pair = built(1, management=management)
    lost = ManagementNodeDown(at_s=10, object_id="m0")
    result = run(pair, lost, NodeFailure(at_s=10, object_id="n1"))
    assert result.cluster_stop is not None
    assert 10.0 < result.cluster_stop.at_s.value < 10.6
    assert result.cluster_stop.at_s.high < 11.0


def test_another_management_node_is_elected() -> None:
    plan = built(1, management=2)
    lost = ManagementNodeDown(at_s=10, object_id="m0")
    assert run(plan, lost, NodeFailure(at_s=30, object_id="n1")).cluster_stop is None
    # Together with the data node it is of no use, though another one stands by.
    together = (replace_at(lost, 30), NodeFailure(at_s=30, object_id="n1"))
    assert run(plan, *together).cluster_stop is not None


def replace_at(event: Event, at_s: float) -> Event:
    return event.model_copy(update={"at_s": at_s})


@pytest.mark.parametrize("first", ["rack-0", "rack-1", "apart"])
def test_a_cut_is_judged_for_each_side(pair: Plan, first: str) -> None:
    result = run(pair, NetworkCut(at_s=5, object_ids=(first,)), for_s=90)
    assert result.cluster_stop is None
    if first == "apart":
        # Both data nodes see each other; the clients see none of them.
        assert result.refused_by_code[4009][-1] == pytest.approx(RATE)
    else:
        down = {spell.object_id for spell in result.down}
        assert down == {"n1" if first == "rack-0" else "n2"}
        assert result.accepted[-1] == pytest.approx(RATE)


def test_a_cut_between_whole_groups_stops_both_sides(four: Plan) -> None:
    result = run(four, NetworkCut(at_s=5, object_ids=("h0", "h1"), other_ids=("h2", "h3")), for_s=120)
    stop = result.cluster_stop
    assert stop is not None
    assert "node group 1 is gone" in stop.why
    assert "node group 0 is gone" in stop.why


def test_a_cut_that_heals_before_anybody_is_declared_dead_only_costs_time(pair: Plan) -> None:
    result = run(pair, NetworkCut(at_s=10, object_ids=("rack-0",), back_after_s=5))
    assert result.standing == ((10.0, 15.0),)
    assert result.down == ()
    assert result.accepted[-1] == pytest.approx(RATE)


def test_arbitration_switched_off_leaves_two_halves(pair: Plan) -> None:
    plan = set_parameter(pair, "data_node", "Arbitration", "Disabled")
    result = run(plan, NetworkCut(at_s=5, object_ids=("rack-0",)), for_s=60)
    assert result.cluster_stop is None
    assert any(text.startswith("split brain") for _, text in result.happened)


def test_a_start_is_lost_when_another_data_node_is(four: Plan) -> None:
    first = NodeFailure(at_s=5, object_id="n1", back_after_s=1)
    alone = run(four, first, for_s=900)
    joined = next(at for at, text in alone.happened if "takes part" in text)
    durable = next(at for at, text in alone.happened if "durable" in text)
    during = (joined + durable) / 2
    both = run(four, first, NodeFailure(at_s=during, object_id="n3"), for_s=900)
    assert any("2308" in text for _, text in both.happened)
    assert both.down[0].object_id == "n1"
    assert not any("durable" in text for _, text in both.happened)
    assert {s.object_id for s in both.down if s.to_s is None} == {"n1", "n3"}
    # Its partner is the last of the group: while it starts, the group hangs on one node.
    lost = run(four, first, NodeFailure(at_s=during, object_id="n2"), for_s=900)
    assert lost.cluster_stop is not None
    assert "node group 0 is gone" in lost.cluster_stop.why


def test_a_data_node_without_rows_leaves_the_others_alone(four: Plan) -> None:
    """Reserved with NodeGroup 65536: what it does not hold it neither loses, nor gets, nor checkpoints."""
    node = four.data_nodes[-1]
    reserved = [
        node.model_copy(update={"id": f"r{i}", "node_id": 10 + i, "node_group": 65536}) for i in range(2)
    ]
    plan = edits.add(four, *reserved)
    result = run(plan, NodeFailure(at_s=5, object_id="r0", back_after_s=10), for_s=900)
    assert [(down.object_id, down.from_s) for down in result.down] == [("r0", 5.0)]
    back_s = result.down[0].to_s
    assert back_s is not None
    assert any("node 10 is started again, it has no rows" in text for _, text in result.happened)
    # Before its loss is noticed transactions stand still; then all is as if it had stayed down.
    gone = run(plan, NodeFailure(at_s=5, object_id="r0"), for_s=900)
    np.testing.assert_array_equal(result.accepted, gone.accepted)
    for one, other in zip(result.parts, gone.parts, strict=True):
        np.testing.assert_array_equal(one.log_used, other.log_used)


def test_a_rolling_restart_does_not_take_the_last_of_a_group(pair: Plan) -> None:
    change = ParameterChange(at_s=20, name="RedoBuffer", value=2**26)
    result = run(pair, NodeFailure(at_s=5, object_id="n1"), change, for_s=900)
    assert result.cluster_stop is None
    assert any("node 2: not stopped for RedoBuffer" in text for _, text in result.happened)
    assert result.accepted[-1] == pytest.approx(RATE)


def test_a_rolling_restart_without_an_arbitrator_takes_one_node_after_the_other() -> None:
    plan = built(2, management=1)
    plan = set_parameter(plan, "management", "ArbitrationRank", 2)
    down = ManagementNodeDown(at_s=1, object_id="m0")
    change = ParameterChange(at_s=20, name="RedoBuffer", value=2**26)
    result = run(plan, down, change, for_s=3000)
    assert result.cluster_stop is None
    together = run(plan, change, for_s=3000)
    assert sum("has RedoBuffer set" in text for _, text in together.happened) == 4


def test_sql_nodes_that_are_all_gone_leave_nothing_to_offer(pair: Plan) -> None:
    downs = [SqlNodeDown(at_s=20, object_id=f"s{i}") for i in range(2)]
    assert run(pair, downs[0]).offered[-1] == pytest.approx(RATE / 2)
    result = run(pair, *downs)
    assert result.offered[-1] == 0
    assert result.accepted[-1] == 0
    assert result.errors == ()
    host = run(pair, HostFailure(at_s=20, object_id="aside", back_after_s=20))
    assert host.offered[30] == 0
    assert host.offered[-1] == pytest.approx(RATE)


def test_many_runs_stop_as_one_run_does(pair: Plan) -> None:
    both = [NodeFailure(at_s=20, object_id=name) for name in ("n1", "n2")]
    bands = monte_carlo(estimation_of(pair), runs=4, duration_s=40, events=both)
    assert not bands.accepted.p90[21:].any()
    assert bands.accepted.p10[:19].min() > 0
    down = next(odds for odds in bands.errors if odds.code == 4009)
    assert (down.probability, down.first_at_s.value) == (1.0, pytest.approx(20, abs=0.11))


def test_sql_nodes_that_are_left_let_pass_what_they_can(pair: Plan) -> None:
    # Far more is offered than the SQL nodes pass.
    flood = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=2e5),))
    plan = edits.update(pair, pair.workloads[0].id, load=flood)
    plan = edits.update(plan, "aside", cores=1)
    for host in pair.hosts[:-1]:
        plan = edits.update(plan, host.id, cores=512, network_bytes_per_s=1e12)
    result = run(plan, SqlNodeDown(at_s=20, object_id="s0", duration_s=20))
    assert result.bottleneck.resource == "sql nodes"
    assert result.attempted[30] == pytest.approx(result.attempted[15] / 2, rel=0.05)
    assert result.attempted[50] == pytest.approx(result.attempted[15], rel=0.05)


def test_bursts_and_lost_sql_nodes_of_a_closed_load_end(pair: Plan) -> None:
    closed = ClosedLoad(clients=8, latency_s=0.002, think_time_s=0.02)
    plan = edits.update(pair, pair.workloads[0].id, load=closed)
    calm = run(plan).accepted[5]
    result = run(
        plan, Burst(at_s=20, factor=2, duration_s=10), SqlNodeDown(at_s=40, object_id="s0", duration_s=10)
    )
    assert result.accepted[[10, 25, 35, 45, 55]] == pytest.approx(
        calm * np.array([1, 2, 1, 0.5, 1]), rel=1e-6
    )
    assert result.latency_s == pytest.approx(result.latency_s[5], rel=0.01)


def test_a_failed_disk_of_every_role_counts(four: Plan) -> None:
    disk = four.host("h0").disks[0].id
    result = run(four, *(DiskSlow(at_s=20, object_id=d.id, factor=0) for d in four.host("h0").disks))
    assert "n1" in {spell.object_id for spell in result.down}
    assert disk


def test_nodes_added_count_for_the_groups_that_must_live() -> None:
    plan = load(resource_path("samples/add-nodes.ndbplan"))
    new = {n.id for n in add_node_group(plan).data_nodes} - {n.id for n in plan.data_nodes}
    grown = simulate(estimation_of(plan, None), duration_s=100, events=[NodesAdded(at_s=10)])
    assert grown.cluster_stop is None
    old = [n.id for n in plan.data_nodes]
    lost = [NodeFailure(at_s=60, object_id=i) for i in old]
    stopped = simulate(estimation_of(plan, None), duration_s=100, events=[NodesAdded(at_s=10), *lost])
    assert stopped.cluster_stop is not None
    assert "node group 0 is gone" in stopped.cluster_stop.why
    assert new <= {spell.object_id for spell in stopped.down}
    nothing_after(stopped, 60.0)


# Laws.

EVENTS: list[Event] = [
    *(NodeFailure(at_s=0, object_id=f"n{i}", back_after_s=b) for i in (1, 2, 3, 4) for b in (None, 3.0)),
    *(HostFailure(at_s=0, object_id=f"h{i}", back_after_s=b) for i in (0, 3) for b in (None, 8.0)),
    *(LocationFailure(at_s=0, object_id=i) for i in ("rack-0", "rack-1", "apart")),
    *(NetworkCut(at_s=0, object_ids=(i,), back_after_s=b) for i in ("rack-0", "h1") for b in (None, 4.0)),
    NetworkCut(at_s=0, object_ids=("rack-0",), other_ids=("rack-1",)),
    ManagementNodeDown(at_s=0, object_id="m0"),
    ManagementNodeDown(at_s=0, object_id="m0", back_after_s=6.0),
    SqlNodeDown(at_s=0, object_id="s0", duration_s=9.0),
    DiskSlow(at_s=0, object_id="h2-c0d1", factor=0),
    Backup(at_s=0),
    Burst(at_s=0, factor=3, duration_s=9),
    ParameterChange(at_s=0, name="RedoBuffer", value=2**26),
]
MOMENTS = st.sampled_from([4.0, 8.0, 8.0, 12.05, 13.0, 20.0, 31.7])
SOME = st.lists(st.tuples(MOMENTS, st.sampled_from(EVENTS)), min_size=1, max_size=5).map(
    lambda drawn: [event.model_copy(update={"at_s": at_s}) for at_s, event in drawn]
)
LAWS = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@given(events=SOME)
@LAWS
def test_nothing_is_accepted_after_a_stop(four: Plan, events: list[Event]) -> None:
    # Conservation of the log and of transactions is held by conftest for each of these runs.
    result = run(four, *events, for_s=50)
    if result.cluster_stop is not None:
        nothing_after(result, result.cluster_stop.at_s.value + 1)
        assert not result.accepted[result.times_s >= result.cluster_stop.failed_at_s + 1].any()


@given(events=SOME)
@LAWS
def test_the_order_of_events_does_not_matter(four: Plan, events: list[Event]) -> None:
    one, other = run(four, *events, for_s=40), run(four, *reversed(events), for_s=40)
    assert one.to_csv() == other.to_csv()
    assert json.dumps(one.to_json()) == json.dumps(other.to_json())


@given(events=SOME)
@LAWS
def test_until_it_fails_a_run_is_the_same(four: Plan, events: list[Event]) -> None:
    first = min(event.at_s for event in events)
    calm = simulate(estimation_of(four, None), duration_s=40, every_node=True)
    result = run(four, *events, for_s=40)
    until = calm.times_s + calm.bucket_s <= first
    for name in ("offered", "attempted", "accepted", "refused", "waiting", "latency_s"):
        assert np.array_equal(getattr(calm, name)[until], getattr(result, name)[until]), name
    for a, b in zip(calm.parts, result.parts, strict=True):
        assert np.array_equal(a.high[until], b.high[until])


NODES = st.lists(
    st.sets(st.sampled_from(["n1", "n2", "n3", "n4", "n5", "n6", "m0", "m1"]), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


@given(
    turns=NODES,
    version=st.sampled_from(["7.2", "7.5", "7.6", "8.0", "8.4"]),
    shape=st.sampled_from([(3, 2), (2, 3)]),
    gap_s=st.sampled_from([0.6, 3.0]),
)
@LAWS
def test_a_run_stops_when_the_course_of_its_failures_does(
    turns: list[set[str]], version: str, shape: tuple[int, int], gap_s: float
) -> None:
    plan = built(*shape, version, management=2)
    events = [
        NodeFailure(at_s=5 + gap_s * i, object_id=name)
        if name.startswith("n")
        else ManagementNodeDown(at_s=5 + gap_s * i, object_id=name)
        for i, turn in enumerate(turns)
        for name in sorted(turn)
    ]
    by_id = {p.id: p.node_id for p in plan.processes}
    seen: set[str] = set()
    steps = []
    for i, turn in enumerate(turns):
        parts = tuple(Part("node", str(by_id[name])) for name in sorted(turn - seen))
        seen |= turn
        steps.append(Step(parts, at_s=5 + gap_s * i))
    judged = course(plan, steps)
    stops = any(all(one.stops for one in living) for living in judged if living)
    result = simulate(estimation_of(plan, None), duration_s=30, step_s=0.05, events=events)
    assert (result.cluster_stop is not None) == stops, (result.happened, judged)


@given(dead=st.sets(st.sampled_from(["h0", "h1", "h2", "h3", "aside"]), min_size=1, max_size=3))
@LAWS
def test_hosts_that_fail_at_once_are_judged_at_once(four: Plan, dead: set[str]) -> None:
    parts = [Part("host", name) for name in sorted(dead)]
    quick = set_parameter(four, "data_node", "HeartbeatIntervalDbDb", 100)
    result = run(quick, *(HostFailure(at_s=5, object_id=name) for name in sorted(dead)), for_s=30)
    assert (result.cluster_stop is not None) == Failures(quick).judge(parts).stops


def test_every_survivable_single_failure_is_survived(four: Plan) -> None:
    quick = set_parameter(four, "data_node", "HeartbeatIntervalDbDb", 100)
    for event in itertools.chain(
        (NodeFailure(at_s=5, object_id=n.id) for n in quick.data_nodes),
        (HostFailure(at_s=5, object_id=h.id) for h in quick.hosts),
        (LocationFailure(at_s=5, object_id=x.id) for x in quick.locations),
    ):
        result = run(quick, event, for_s=20)
        assert result.cluster_stop is None, event
        offered = result.offered[-1]
        assert result.accepted[-1] == pytest.approx(offered), event


def test_telling_nodes_apart_changes_nothing_but_the_failed(telecom: Plan) -> None:
    rack = telecom.locations[0]
    inside = {h.id for h in telecom.hosts if h.location_id == rack.id}
    result = simulate(
        estimation_of(telecom, None), duration_s=5, events=[LocationFailure(at_s=2, object_id=rack.id)]
    )
    down = {n.node_id for n in result.nodes if n.dead[-1] > 0}
    assert down == {n.node_id for n in telecom.data_nodes if n.host_id in inside}
