"""Samples claim of failures only what the product's rules say."""

from __future__ import annotations

import pytest

from ndbplan.configuration.killers import Search
from ndbplan.configuration.node_groups import node_groups
from ndbplan.plan.samples import sample_names, sample_plan


def test_starter_any_one_rack_host_or_disk_can_be_lost() -> None:
    plan = sample_plan("starter")
    assert "Any one rack, host or disk can be lost" in plan.notes
    search = Search(plan)
    assert not search.single_killers
    assert {part.kind for part in search.parts} >= {"rack", "host", "disk", "node", "switch"}


def test_starter_two_at_once_stop_it_when_they_hold_both_copies_or_one_and_the_arbitrator() -> None:
    search = Search(sample_plan("starter"))
    arbitrator = search.failures.running.arbitrator
    killers = search.smallest(2)
    assert killers
    for killer in killers:
        dead = frozenset().union(*(search.damage_of[part].dead for part in killer))
        cut_off = any(part.kind == "switch" for part in killer)
        assert {1, 2} <= dead or (dead & {1, 2} and arbitrator in dead) or cut_off, killer


def test_telecom_the_two_nodes_of_each_group_stand_in_different_racks() -> None:
    plan = sample_plan("telecom-144")
    assert "The two nodes of each group stand in different racks" in plan.notes
    for group in node_groups(plan):
        assert len({plan.host(node.host_id).location_id for node in group}) == len(group)
    assert not Search(plan).single_killers


@pytest.mark.parametrize("name", [name for name in sample_names() if name not in ("starter", "telecom-144")])
def test_other_samples_claim_nothing(name: str) -> None:
    words = ("can be lost", "survives", "no single point of failure", "highly available")
    assert not [word for word in words if word in sample_plan(name).notes]
