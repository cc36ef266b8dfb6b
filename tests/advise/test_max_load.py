"""The highest sustained load and the remedies of article redo-overload."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ndbplan.advise import highest_rate as highest
from ndbplan.advise.highest_rate import _held_for, bound_per_s, ceiling_per_s, highest_rate
from ndbplan.advise.max_load import max_load, steady_scenario
from ndbplan.advise.remedies import remedies
from ndbplan.base.resources import resource_path
from ndbplan.base.units import MIB
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad, OperationKind, RatePoint
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.model.scenario import build
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

BIG, SMALL = "blobs-5k", "blobs-1k"
HOUR = 3600.0


def at(plan: Plan, workload_id: str, rate_per_s: float) -> Plan:
    """The plan with the workload at a steady rate."""
    point = RatePoint(at_s=0, rate_per_s=rate_per_s)
    return edits.update(plan, workload_id, load=OpenLoad(points=(point,)))


@pytest.fixture(scope="module")
def overload() -> Plan:
    """The article's cluster, with memory for an hour of its load and a log that no growth fills."""
    plan = load(resource_path("samples/redo-overload.ndbplan"))
    for memory in ("DataMemory", "IndexMemory"):
        plan = set_parameter(plan, "data_node", memory, 2**40)
    return set_parameter(plan, "data_node", "NoOfFragmentLogFiles", 20_000)


@pytest.fixture(scope="module")
def small() -> Plan:
    """The article's cluster as it was."""
    return load(resource_path("samples/redo-overload.ndbplan"))


def test_an_hour_of_inserts_fills_the_memory(small: Plan) -> None:
    told: list[float] = []
    found = max_load(estimation_of(small, BIG), progress=told.append)
    assert (told[-1], sorted(told)) == (1.0, told)
    assert found.duration_s == HOUR
    assert found.limited_by.resource == "memory"
    assert found.error_code == 827
    assert found.ends_after_s is not None
    assert found.ends_after_s.value == pytest.approx(HOUR, rel=0.01)
    assert found.next_limit is not None
    assert found.next_limit.limited_by.resource != "memory"
    half = max_load(estimation_of(small, BIG), duration_s=HOUR / 2, with_next=False)
    assert half.max_per_s.value == pytest.approx(2 * found.max_per_s.value, rel=0.01)


def test_rows_that_are_deleted_again_fill_nothing(small: Plan) -> None:
    workload = small.workload(BIG)
    insert = workload.transactions[0]
    delete = insert.operations[0].model_copy(update={"kind": OperationKind.DELETE, "columns": ()})
    both = insert.model_copy(update={"operations": (*insert.operations, delete)})
    plan = edits.update(small, BIG, transactions=(both,))
    found = max_load(estimation_of(plan, BIG), with_next=False)
    assert found.error_code != 827
    assert found.max_per_s.value > 10 * max_load(estimation_of(small, BIG), with_next=False).max_per_s.value
    other = next(t for t in small.tables if t.id != delete.table_id)
    elsewhere = delete.model_copy(update={"table_id": other.id})
    apart = insert.model_copy(update={"operations": (*insert.operations, elsewhere)})
    kept = max_load(estimation_of(edits.update(small, BIG, transactions=(apart,)), BIG), with_next=False)
    assert kept.error_code == 827, "room of deleted rows is for the same table only"


def test_the_disk_limits_big_blobs(overload: Plan) -> None:
    found = max_load(estimation_of(overload, BIG))
    assert not found.is_enough
    assert found.limited_by.resource == "disk"
    assert found.limited_by.where == "data1 c0d1"
    assert found.next_limit is not None
    assert found.next_limit.max_per_s.value > found.max_per_s.value
    shape = found.to_json()
    assert set(shape["limited_by"]) == {"resource", "where", "text"}
    assert set(shape["max_per_s"]) == {"value", "low", "high", "unit"}


def test_small_blobs_have_room(overload: Plan) -> None:
    assert max_load(estimation_of(overload, SMALL), with_next=False).is_enough


@pytest.mark.parametrize("duration_s", [60.0, 900.0, HOUR])
def test_just_below_runs_clean_and_just_above_ends_as_it_says(
    overload: Plan, small: Plan, duration_s: float
) -> None:
    for plan in (overload, small):
        found = max_load(estimation_of(plan, BIG), duration_s=duration_s, with_next=False)
        rate = found.max_per_s.value
        assert simulate(estimation_of(at(plan, BIG, 0.97 * rate), BIG), duration_s=duration_s).errors == ()
        above = simulate(estimation_of(at(plan, BIG, 1.05 * rate), BIG), duration_s=duration_s)
        assert found.error_code in [error.code for error in above.errors]
        assert above.first_error is not None
        assert above.bottleneck.resource == found.limited_by.resource


@pytest.mark.parametrize("memory_bytes", [2**32, 2**33, 2**40])
def test_rates_that_are_not_simulated_would_have_held(
    small: Plan, memory_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory, then the redo log or its disk ends the load: whatever is easy of it, the answer is the same."""
    scenario = steady_scenario(
        estimation_of(set_parameter(small, "data_node", "DataMemory", memory_bytes), BIG), 900.0
    )
    held = 0

    def counted(*args: Any) -> Any:
        nonlocal held
        held += 1
        return _held_for(*args)

    monkeypatch.setattr(highest, "_held_for", counted)
    found, seldom = highest_rate(scenario, 900.0), held
    monkeypatch.setattr(highest, "_EASY", -1.0)
    held = 0
    assert highest_rate(scenario, 900.0) == found
    assert seldom <= held
    if found[1].limit.resource == "memory":
        assert seldom < held / 3


def test_a_longer_time_is_never_sustained_at_a_higher_rate(small: Plan) -> None:
    times = (10.0, 60.0, 600.0, HOUR, 2 * HOUR, 24 * HOUR, 48 * HOUR, 5000 * HOUR)
    rates = [
        max_load(estimation_of(small, BIG), duration_s=t, with_next=False).max_per_s.value for t in times
    ]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 10 * rates[4]


def test_more_memory_and_more_log_never_lower_the_load(small: Plan) -> None:
    before = max_load(estimation_of(small, BIG), with_next=False).max_per_s.value
    memory = set_parameter(small, "data_node", "DataMemory", 2**40)
    with_memory = max_load(estimation_of(memory, BIG), with_next=False)
    assert with_memory.max_per_s.value > before
    assert with_memory.error_code == 410
    files = set_parameter(memory, "data_node", "NoOfFragmentLogFiles", 20_000)
    assert max_load(estimation_of(files, BIG), with_next=False).max_per_s.value > with_memory.max_per_s.value


def test_a_time_that_cannot_be_is_refused(small: Plan) -> None:
    for wrong in (0.0, -1.0, 0.5, 1e12, float("nan")):
        with pytest.raises(SimulationError, match="cannot be sustained"):
            max_load(estimation_of(small, BIG), duration_s=wrong)


def test_more_buffer_does_not_raise_the_sustained_load(overload: Plan) -> None:
    more = set_parameter(overload, "data_node", "RedoBuffer", 256 * MIB)
    before, after = (
        max_load(estimation_of(plan, BIG), with_next=False).max_per_s.value for plan in (overload, more)
    )
    assert after == pytest.approx(before, rel=0.05)


def test_two_groups_take_twice_the_load(overload: Plan) -> None:
    before = max_load(estimation_of(overload, BIG), with_next=False).max_per_s.value
    after = max_load(estimation_of(add_node_group(overload), BIG), with_next=False).max_per_s.value
    assert after == pytest.approx(2 * before, rel=0.02)


def test_remedies_are_ordered_as_the_article_orders_them(overload: Plan) -> None:
    found = remedies(estimation_of(overload, BIG), also_useless=True)
    titles = [remedy.title for remedy in found]
    assert titles[0] == "Add a node group"
    assert "disk" in titles[1]
    assert "disk" in titles[2].lower()
    assert not any(remedy.helps for remedy in found if remedy.title.startswith("RedoBuffer doubled"))
    assert all(remedy.is_enough for remedy in found[:3])


def test_applying_a_remedy_gives_what_it_promised(overload: Plan) -> None:
    best = remedies(estimation_of(overload, BIG))[0]
    after = max_load(estimation_of(best.edit(overload), BIG), duration_s=best.duration_s, with_next=False)
    assert after.max_per_s == best.after


def test_a_page_buffer_twice_as_large_helps_random_reads() -> None:
    plan = load(resource_path("samples/disk-data.ndbplan"))
    reads = next(w for w in plan.workloads if isinstance(w.load, OpenLoad))
    titles = [remedy.title for remedy in remedies(estimation_of(plan, reads.id))]
    # Twice as much does not fit into the 8 GB of the hosts.
    assert [t for t in titles if t.startswith("DiskPageBufferMemory")] == [
        "DiskPageBufferMemory 1.5 x (4608M)"
    ]
    assert "Disks of the data files of 2 devices each, RAID 0" in titles


def test_a_faster_network_helps_where_links_are_full(overload: Plan) -> None:
    plan = overload
    for host in overload.hosts:
        plan = edits.update(plan, host.id, network_bytes_per_s=10e6)
    found = remedies(estimation_of(plan, SMALL))
    assert "Network links ten times as fast" in [remedy.title for remedy in found]


def test_a_disk_that_nodes_share_is_doubled_once(overload: Plan) -> None:
    shared = move_process(overload, "ndb4", "data1")
    faster = next(
        r for r in remedies(estimation_of(shared, BIG), also_useless=True) if "Redo disks" in r.title
    )
    for disk in (d for host in faster.edit(shared).hosts for d in host.disks):
        assert disk.sequential_write_bytes_per_s in (118e6, 236e6)


def test_a_workload_that_rests_has_the_limit_of_its_mix(overload: Plan) -> None:
    rate = max_load(estimation_of(overload, BIG), with_next=False).max_per_s.value
    resting = edits.update(overload, BIG, load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=0),)))
    found = max_load(estimation_of(resting, BIG), with_next=False)
    assert found.offered_per_s == 0
    assert found.max_per_s.value == pytest.approx(rate, rel=0.01)
    assert found.limited_by.resource == "disk"


def test_without_any_limit_the_links_bound_the_rate(overload: Plan) -> None:
    scenario = build(Estimation(overload, overload.workload(SMALL)), duration_s=60, step_s=0.1, seed=1)
    run = scenario.laws.run.copy()
    run.service_per_s = run.pool = run.send_buffered = 0.0
    free = replace(scenario.with_laws(run=run, load=scenario.laws.load * 0), services=())
    for node in free.laws.nodes:
        node.inserted_bytes = node.new_bytes = node.updated_bytes = node.deleted_bytes = 0.0
        node.memory_bytes = node.index_bytes = 0.0
    rate, end = highest_rate(free, HOUR)
    limit = end.limit
    links = sum(overload.host(node.host_id).network_bytes_per_s for node in overload.data_nodes)
    assert limit.resource == "none"
    assert "no limit found" in limit.where
    assert rate == bound_per_s(free) == pytest.approx(links / 200)


def test_rows_of_which_one_comes_rarely_fill_the_memory_in_the_end(overload: Plan) -> None:
    """Half a byte of a transaction in the mean, for ten years."""
    scenario = build(Estimation(overload, overload.workload(SMALL)), duration_s=60, step_s=0.1, seed=1)
    nodes = scenario.laws.nodes.copy()
    for node in nodes:
        node.memory_bytes, node.space_bytes, node.index_bytes = 0.5, 0.0, 0.0
    rare = scenario.with_laws(nodes=nodes)
    years_s = 10 * 365 * 24 * HOUR
    room = min(
        float(node.memory_limit_bytes) - start[1] for node, start in zip(nodes, rare.start, strict=True)
    )
    assert ceiling_per_s(rare, years_s) == pytest.approx(room / 0.5 / years_s)
