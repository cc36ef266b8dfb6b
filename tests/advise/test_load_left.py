"""What survivors carry, held against physics: less is never more, shares add up."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from golden.commands import drawn_files
from ndbplan.advise import survival
from ndbplan.advise.load_left import LoadLeft, load_left
from ndbplan.advise.max_load import max_load
from ndbplan.advise.survival import single_failures, survive
from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.configuration.failing_parts import Part, parts
from ndbplan.configuration.failures import Failures
from ndbplan.configuration.node_groups import node_group_ids
from ndbplan.edits.assign import assign
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parts import update
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb.survival import Outcome
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.samples import sample_names, sample_plan
from ndbplan.simulate.model.workload import estimation_of
from random_plans import random_plan

NAMES = [name for name in sample_names() if sample_plan(name).workloads]
# Nodes that share a host share its processors: when one is gone, the others have more.
APART = [
    name
    for name in NAMES
    if len({node.host_id for node in sample_plan(name).data_nodes}) == len(sample_plan(name).data_nodes)
]
SMALL = [name for name in APART if len(parts(sample_plan(name))) < 60]


def left_of(name: str) -> LoadLeft:
    plan = sample_plan(name)
    return load_left(Estimation(plan, plan.workloads[0]))


@pytest.mark.parametrize("name", APART)
def test_a_failure_never_leaves_more(name: str) -> None:
    left = left_of(name)
    whole = left.per_s(())
    assert whole.value > 0
    for node in sample_plan(name).data_nodes[:6]:
        found = left.per_s({node.node_id})
        assert found.value <= whole.value * (1 + 1e-9)
        assert found.low <= found.value <= found.high


@pytest.mark.parametrize("name", SMALL)
def test_two_failures_never_leave_more_than_one(name: str) -> None:
    left = left_of(name)
    nodes = [process.node_id for process in left.processes if process.host_id is not None]
    for one, other in combinations(nodes, 2):
        both = left.per_s({one, other}).value
        assert both <= min(left.per_s({one}).value, left.per_s({other}).value) * (1 + 1e-9)


@pytest.mark.parametrize("name", APART)
def test_nodes_that_cannot_be_told_apart_leave_what_each_would(name: str) -> None:
    together = left_of(name)
    loads = {node_id: replace(load, first=None) for node_id, load in together._loads.items()}
    apart = replace(together, _loads=loads)
    for node_id in list(loads)[:6]:
        assert together.per_s({node_id}) == apart.per_s({node_id})


def test_without_a_node_group_or_without_clients_nothing_is_left() -> None:
    left = left_of("starter")
    assert left.per_s({1, 2}).value == 0
    servers = sample_plan("starter").sql_nodes
    assert left.per_s({node.node_id for node in servers}).value == 0
    assert left.per_s({servers[0].node_id}).value > 0


def test_the_survivor_reads_for_its_mate_and_writes_what_it_wrote() -> None:
    left = left_of("starter")
    own, taken = left._load(1, frozenset()), left._load(1, frozenset({2}))
    whole = own.reads_per_s + left._load(2, frozenset()).reads_per_s
    assert taken.reads_per_s == pytest.approx(whole)
    assert taken.writes_per_s == own.writes_per_s
    assert taken.redo_bytes_per_s == own.redo_bytes_per_s


@pytest.mark.parametrize("change", ["RedoBuffer=128M", "hosts[*].memory=1TiB"])
def test_what_limits_no_load_leaves_single_failures_known(change: str) -> None:
    plan = sample_plan("telecom-144")
    with keeping():
        before, after = (
            single_failures(Estimation(one, plan.workloads[0])) for one in (plan, assign(plan, change)[0])
        )
        slower = assign(plan, "hosts[dn-a01].cores=8")[0]
        fewer = single_failures(Estimation(slower, plan.workloads[0]))
    assert after is before
    assert before.least_load_left_per_s is not None
    assert fewer.least_load_left_per_s is not None
    assert fewer.least_load_left_per_s.value < before.least_load_left_per_s.value
    assert single_failures(Estimation(slower, plan.workloads[0])) == fewer


def test_the_numbers_of_the_largest_cluster() -> None:
    plan = sample_plan("telecom-144")
    report = survive(Estimation(plan, plan.workloads[0]), 1)
    whole = load_left(Estimation(plan, plan.workloads[0])).per_s(()).value
    failures = Failures(plan)
    for failure in report.failures:
        assert failure.load_left_per_s is not None
        assert failure.whole_again_s is not None
        assert failure.load_left_per_s.value <= whole * (1 + 1e-9)
        down = failures.running.started - failure.judged.best.up
        assert (failure.whole_again_s.value > 0) == bool(down)


@pytest.mark.parametrize(
    "plan", [*map(sample_plan, SMALL), *map(random_plan, range(6))], ids=lambda p: p.name
)
def test_single_failures_in_short_are_those_of_the_report(plan: Plan) -> None:
    now = Estimation(plan, plan.workloads[0] if plan.workloads else None)
    report, short = survive(now), single_failures(now)
    assert short.stop == sum(one.verdict is Outcome.STOPS for one in report.failures)
    hosts = [one.load_left_per_s for one in report.failures if one.dead[0].kind == "host"]
    left = [load for load in hosts if load is not None]
    assert short.least_load_left_per_s == min(left, key=lambda load: load.value, default=None)


@pytest.mark.parametrize("plan", [*drawn_files(), *range(40)], ids=str)
def test_no_more_is_left_without_the_worst_host_than_there_is(plan: str | int) -> None:
    """And where rows have no room neither carries any: what `max_load` simulates says the same."""
    drawn = random_plan(plan) if isinstance(plan, int) else load(drawn_files()[plan])
    for workload in drawn.workloads:
        with keeping():
            now = Estimation(drawn, workload)
            try:
                (whole, limit), short = load_left(now).limited(()), single_failures(now)
                highest = max_load(now, with_next=False)
            except UserError:
                continue
            if short.least_load_left_per_s is not None:
                assert short.least_load_left_per_s.value <= whole.value * (1 + 1e-9)
            is_full = highest.limited_by.resource in ("memory", "tablespace") and not highest.max_per_s.value
            if is_full and not highest.is_job:
                assert limit is not None
                assert limit.text == highest.limited_by.text
            assert is_full == (limit is not None and whole.value == 0)


def test_members_of_a_group_start_in_turn_and_groups_beside_one_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = add_node_group(add_node_group(sample_plan("starter")))
    groups = node_group_ids(plan)
    one, two, three = (
        sorted(n for n in groups if groups[n] == number) for number in sorted(set(groups.values()))
    )
    work = survival._Work.__new__(survival._Work)
    seconds = {one[0]: 10.0, two[0]: 30.0, two[1]: 5.0, three[0]: 20.0, three[1]: 20.0}
    monkeypatch.setattr(survival._Work, "plan", plan)
    monkeypatch.setattr(
        work, "_restart", lambda kind, node: Quantity.exact(seconds[node], "s"), raising=False
    )
    for down, lasts in (({one[0]}, 10), ({one[0], two[0]}, 30), (set(two), 35), (set(seconds), 40)):
        found = work._in_turn(frozenset(down), frozenset())
        assert found is not None
        assert found.value == lasts


def test_clients_behind_a_dead_switch_carry_no_load() -> None:
    """Where what goes on lies outside of a rack, its dead switch leaves what the dead rack leaves."""
    held = 0
    plans = [*map(sample_plan, ("starter", "telecom-144")), *map(random_plan, range(60))]
    for plan in plans:
        if not plan.workloads or not plan.locations:
            continue
        try:
            failures = {one.dead[0]: one for one in survive(Estimation(plan, plan.workloads[0])).failures}
        except UserError:
            continue
        for part, without_switch in failures.items():
            rack = next((one for one in failures if one.kind == "rack" and one.name == part.name), None)
            if part.kind != "switch" or rack is None:
                continue
            without_rack = failures[rack]
            if without_rack.judged.best.up == without_switch.judged.best.up:
                assert without_switch.load_left_per_s == without_rack.load_left_per_s
                assert without_switch.carries_peak == without_rack.carries_peak
                held += 1
    assert held > 4


def test_a_client_that_sees_some_data_node_carries_load() -> None:
    """One link less between a client and a data node: others of the cluster pass on what it asks for."""
    plan = sample_plan("starter")
    failures = Failures(plan)
    sql = next(one for one in plan.processes if one.kind == "sql")
    one, *others = [node for node in plan.data_nodes if node.host_id != sql.host_id]
    hosts = {host.id: host.hostname for host in plan.hosts}

    def link(node: DataNode) -> Part:
        return Part("link", f"{hosts[sql.host_id]}/{hosts[node.host_id]}")

    damage = failures.damage((link(one),))
    assert sql.node_id not in failures.unreached(damage, failures.after(failures.running, damage))
    damage = failures.damage([link(node) for node in (one, *others)])
    assert sql.node_id in failures.unreached(damage, failures.after(failures.running, damage))


def test_a_cluster_without_disks_is_not_limited_by_one() -> None:
    plan = sample_plan("tick-store")
    left = load_left(estimation_of(plan, plan.workloads[0].id))
    rate, limit = left.limited(frozenset())
    assert limit is not None
    assert limit.resource == "cpu", "nothing is written to the disk that stands there"
    slower = update(plan, plan.hosts[0].disks[0].id, sequential_write_bytes_per_s=1e6)
    again = load_left(estimation_of(slower, slower.workloads[0].id)).limited(frozenset())
    assert again[0].value == rate.value
