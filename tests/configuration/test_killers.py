"""Smallest sets that stop a cluster, held against trying every set."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failing_plans import small
from ndbplan.configuration.failing_parts import Part, parts
from ndbplan.configuration.failures import Failures
from ndbplan.configuration.killers import Search, search_of
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.plan.fields import Point
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.samples import sample_names, sample_plan
from random_plans import random_plan

SMALL = [name for name in sample_names() if len(parts(sample_plan(name))) < 60]


def by_trying(plan: Plan, depth: int) -> set[frozenset[Part]]:
    """Every set of up to `depth` parts that stops the cluster and none of whose subsets does."""
    failures, found = Failures(plan), set()
    for size in range(1, depth + 1):
        for chosen in combinations(parts(plan), size):
            smaller = chain.from_iterable(combinations(chosen, n) for n in range(1, size))
            if failures.judge(chosen).stops and not any(failures.judge(one).stops for one in smaller):
                found.add(frozenset(chosen))
    return found


@pytest.mark.parametrize("name", SMALL)
def test_killers_of_samples_are_all_there_and_minimal(name: str) -> None:
    plan = sample_plan(name)
    assert {frozenset(killer) for killer in Search(plan).smallest(2)} == by_trying(plan, 2)


@pytest.mark.parametrize("version", ["7.4", "7.6", "8.4"])
@pytest.mark.parametrize("arbitration", ["Default", "Disabled", "WaitExternal"])
def test_killers_of_two_groups_over_racks(version: str, arbitration: str) -> None:
    plan = small(ndb_version=version, parameters=ClusterParameters(data_node={"Arbitration": arbitration}))
    found = Search(plan).smallest(2)
    assert {frozenset(killer) for killer in found} == by_trying(plan, 2)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("version", ["6.3", "7.4", "8.4"])
def test_sets_that_leave_a_group_untouched_are_not_passed_over(version: str) -> None:
    """Of four groups most sets go on without a question; those that stop are still all there."""
    search = Search(add_node_group(small(ndb_version=version), 2))
    assert {frozenset(killer) for killer in search.smallest(2)} == by_trying(search.failures.plan, 2)
    passed = [two for two in combinations(search.alike, 2) if search._goes_on_unasked(two)]
    assert len(passed) > 20
    assert not any(search.judge(*two).stops for two in passed)


def test_three_replicas_need_larger_sets() -> None:
    nodes = [p for p in small().processes if getattr(p, "node_id", 0) in (1, 2, 3, 51)]
    plan = small(
        processes=tuple(nodes),
        locations=(),
        hosts=tuple(h.model_copy(update={"location_id": None, "disks": ()}) for h in small().hosts),
        ndb_version="7.4",
        parameters=ClusterParameters(data_node={"NoOfReplicas": 3}),
    )
    found = Search(plan).smallest()
    assert {frozenset(killer) for killer in found} == by_trying(plan, 2)
    assert all(len(killer) == 2 for killer in found)  # one data node and the arbitrator
    alone = plan.replace(
        parameters=ClusterParameters(data_node={"NoOfReplicas": 3}, management={"ArbitrationRank": 0})
    )
    killers = Search(alone).smallest()  # nobody is asked: only the whole group counts
    assert {frozenset(killer) for killer in killers} == by_trying(alone, 3)
    assert all(len(killer) == 3 for killer in killers)


def test_too_many_parts_to_try_name_whole_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    from ndbplan.configuration import killers

    nodes = [p for p in small().processes if getattr(p, "node_id", 0) in (1, 2, 3, 51)]
    plan = small(
        processes=tuple(nodes),
        locations=(),
        parameters=ClusterParameters(data_node={"NoOfReplicas": 3, "Arbitration": "Disabled"}),
    )
    every = Search(plan).smallest()
    monkeypatch.setattr(killers, "_MOST_SETS", 0)
    assert set(Search(plan).smallest()) == set(every)
    assert every


def test_no_data_nodes_no_killers() -> None:
    assert Search(Plan()).smallest(2) == ()


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_the_search_that_is_kept_knows_what_decides(seed: int) -> None:
    """Without what it leaves out the same parts stop the cluster; what it leaves out makes no new search."""
    plan = random_plan(seed)
    search = search_of(plan)
    assert search.single_killers == Search(plan).single_killers
    if plan.hosts:
        host = plan.hosts[0]
        larger = update(plan, host.id, cores=host.cores + 1, memory_bytes=2 * host.memory_bytes)
        moved = update(larger, host.id, position=Point(x=1, y=2))
        assert search_of(set_parameter(moved, "data_node", "RedoBuffer", 2**25 + seed)) is search
        renamed = update(plan, host.id, hostname="another-name")
        assert search_of(renamed) is not search
        assert search_of(renamed).single_killers == Search(renamed).single_killers
