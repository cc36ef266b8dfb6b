"""A link that carries less: what crosses it has its share of the bandwidth, and afterwards all of it."""

from __future__ import annotations

import pytest

from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.loaded import flows_of_hosts, network, rate_of
from ndbplan.estimate.times.copy_links import SlowLink
from ndbplan.plan.events import Event, NetworkSlow, NodeFailure
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.model.slow_links import slow_services
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.moment import moment_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import simulate

EASY = "blobs-1k"


@pytest.fixture(scope="module")
def easy(overload: Plan) -> Plan:
    """A load that disks and network take easily."""
    plan = set_parameter(overload, "data_node", "DataMemory", 2**40)
    points = (RatePoint(at_s=0, rate_per_s=2000),)
    return edits.update(plan, EASY, load=OpenLoad(points=points))


def hosts(plan: Plan) -> tuple[str, ...]:
    return tuple(node.host_id for node in plan.data_nodes)


def factor_for(plan: Plan, share: float) -> float:
    """How slow the link between the first two data nodes has to be to pass so much of the load."""
    one, other = hosts(plan)[:2]
    workload = plan.workload(EASY)
    whole = slow_services(plan, workload, SlowLink(frozenset([one]), frozenset([other]), 1.0, "-"))[0]
    return share * rate_of(plan, workload) / whole.max_per_s


def run(plan: Plan, factor: float, duration_s: float = 0.0) -> SimulationResult:
    one, other = hosts(plan)[:2]
    event = NetworkSlow(at_s=20, object_ids=(one,), other_ids=(other,), factor=factor, duration_s=duration_s)
    return simulate(estimation_of(plan, EASY), duration_s=90, events=[event])


def test_what_crosses_has_its_share_of_the_bandwidth(easy: Plan) -> None:
    one, other = hosts(easy)[:2]
    workload, factor = easy.workload(EASY), 0.01
    flows, usable = flows_of_hosts(easy, workload), constants_of(easy)["network_usable"].value
    most = max(flows.between(one, other).value, flows.between(other, one).value)
    passes = rate_of(easy, workload) * easy.host(one).network_bytes_per_s * usable * factor / most
    limits = slow_services(easy, workload, SlowLink(frozenset([one]), frozenset([other]), factor, "-"))
    assert limits[0].max_per_s == pytest.approx(passes)
    # Alone against everything else, a whole link is what the network of the host is.
    alone = slow_services(easy, workload, SlowLink(frozenset([one]), frozenset(), 1.0, "-"))[0]
    known = network(easy, workload).host(one)
    assert known is not None
    assert alone.max_per_s == pytest.approx(rate_of(easy, workload) / known.utilisation.value)


def test_a_slow_link_holds_the_load_back_until_it_is_whole_again(easy: Plan) -> None:
    result = run(easy, factor_for(easy, 0.5), duration_s=30)
    assert result.accepted[5:19].min() == pytest.approx(2000)
    assert result.accepted[35:49].mean() == pytest.approx(1000, rel=0.02)
    assert result.accepted[-20:].min() == pytest.approx(2000)
    assert (result.bottleneck.resource, result.bottleneck.object_ids) == ("network", (hosts(easy)[0],))
    assert [error.code for error in result.errors] == [1218]
    # What the buffers held when it was whole again was sent: nothing is lost.
    refused = sum(error.count for error in result.errors)
    assert result.accepted.sum() + refused == pytest.approx(2000 * 90, rel=1e-6)


def test_a_link_that_is_fast_enough_changes_nothing(easy: Plan) -> None:
    whole = simulate(estimation_of(easy, EASY), duration_s=90)
    assert run(easy, factor_for(easy, 1.1)).accepted.tolist() == whole.accepted.tolist()


def test_a_start_copies_over_a_slow_link_for_longer_until_it_is_whole_again(easy: Plan) -> None:
    ends = dict(zip(("object_ids", "other_ids"), [(one,) for one in hosts(easy)[:2]], strict=True))
    dies = NodeFailure(at_s=5, object_id=easy.data_nodes[0].id, back_after_s=0)

    def copied(*events: Event) -> tuple[SimulationResult, float, float]:
        result = simulate(estimation_of(easy, EASY), duration_s=1500, events=[dies, *events])
        return result, *_copying(result)

    _, begin_s, whole_s = copied()
    # From the middle of the copying on: half is left, and takes 50 times as long as the whole link would.
    slow = NetworkSlow(at_s=begin_s + whole_s / 2, factor=0.02, **ends)
    held_up, _, slow_s = copied(slow)
    assert slow_s > 3 * whole_s
    healed, _, healed_s = copied(slow.model_copy(update={"duration_s": whole_s}))
    assert 1.5 * whole_s <= healed_s < slow_s
    assert [one.share(hosts(easy)) for one in moment_of(held_up, 1400).links] == [0.02]
    assert not moment_of(healed, 1400).links


def _copying(result: SimulationResult) -> tuple[float, float]:
    """When the rows of the node that died last are copied, and for how long."""
    restart = next(one for one in reversed(result.restarts) if one.phases)
    names = [name for name, _ in restart.phases]
    at = names.index("copy fragments")
    assert restart.started_at_s is not None
    return restart.started_at_s + sum(time for _, time in restart.phases[:at]), restart.phases[at][1]
