"""The pure functions against the product's rules written down anew, over all small clusters.

Every cluster, up to renaming hosts, groups and members, of up to 6 hosts, 1 to 3 node groups and 2 to 4
replicas, with the arbitrator on any host, beside data nodes or apart, or nowhere; every set of dead hosts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from operator import gt, sub

import pytest

from ndbplan.ndb.survival import Candidate, Cluster, Outcome, fail, rule_of, started_up
from ndbplan.ndb.version import NdbVersion

HOSTS = 6
ARBITRATOR = 99
RULES = {"A": "7.4.10", "B": "7.6", "C": "8.4.8"}
Column = tuple[int, ...]
"""What one host holds: members of each group, then 1 for the arbitrator."""


def columns(groups: int, replicas: int) -> list[Column]:
    """Everything a host may hold."""
    found: list[Column] = [()]
    for _ in range(groups):
        found = [(*column, count) for column in found for count in range(replicas + 1)]
    return [(*column, flag) for column in found for flag in (0, 1) if any(column) or flag]


def placements(groups: int, replicas: int, hosts: int = HOSTS) -> Iterator[tuple[Column, ...]]:
    """Each way to place `groups` of `replicas` and at most one arbitrator, up to renaming."""
    kinds = columns(groups, replicas)
    seen: set[tuple[Column, ...]] = set()

    def fill(fitting: list[Column], left: Column, chosen: list[Column]) -> Iterator[tuple[Column, ...]]:
        if not any(left[:groups]):
            alike = min(
                tuple(sorted((*(column[g] for g in order), column[groups]) for column in chosen))
                for order in permutations(range(groups))
            )
            if alike not in seen:
                seen.add(alike)
                yield tuple(chosen)
        if len(chosen) == hosts:
            return
        for number, column in enumerate(fitting):
            rest = tuple(map(sub, left, column))
            later = [kind for kind in fitting[number:] if not any(map(gt, kind, rest))]
            yield from fill(later, rest, [*chosen, column])

    yield from fill(kinds, (*([replicas] * groups), 1), [])


def expected(rule: str, groups: list[set[int]], before: set[int], up: set[int], answer: bool) -> str:
    """The rule as its text says, in the order of its steps."""
    for group in groups:
        if not group & up:
            return "stops"
    if before == up:
        return "goes on"
    if rule in "AB" and any(group & up == group for group in groups):
        return "goes on"
    if rule == "C" and any((group & before) - up == set() for group in groups):
        return "goes on"
    if rule in "BC" and len(up) > len(before) / 2:
        return "goes on"
    if rule in "BC" and len(up) < len(before) / 2:
        return "stops"
    return "asks the arbitrator" if answer else "stops"


def named(placed: tuple[Column, ...], groups: int) -> tuple[list[set[int]], list[set[int]]]:
    """(members of each group, node ids on each host) of a placement."""
    members: list[set[int]] = [set() for _ in range(groups)]
    on_host: list[set[int]] = []
    free = iter(range(1, 98))
    for column in placed:
        here: set[int] = set()
        for group in range(groups):
            new = {next(free) for _ in range(column[group])}
            members[group] |= new
            here |= new
        if column[groups]:
            here.add(ARBITRATOR)
        on_host.append(here)
    return members, on_host


def cluster(rule: str, members: list[set[int]]) -> Cluster:
    return Cluster(
        rule_of(NdbVersion.parse(RULES[rule])),
        {number: frozenset(group) for number, group in enumerate(members)},
        candidates=(Candidate(ARBITRATOR, 1),),
    )


@pytest.mark.parametrize(
    ("groups", "replicas"), [(1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4), (3, 2), (3, 3)]
)
def test_every_cluster_and_every_set_of_dead_hosts(groups: int, replicas: int) -> None:
    tried = 0
    for placed in placements(groups, replicas):
        members, on_host = named(placed, groups)
        everybody = set().union(*members)
        absent = {ARBITRATOR} - set().union(*on_host)
        dead_sets = {
            frozenset().union(*chosen)
            for size in range(len(on_host) + 1)
            for chosen in combinations(on_host, size)
        }
        for rule in RULES:
            known = cluster(rule, members)
            running = started_up(known, absent)
            for dead in dead_sets:
                tried += 1
                (side,) = fail(known, running, dead)
                answer = ARBITRATOR not in dead and not absent
                want = expected(rule, members, everybody, everybody - dead, answer)
                assert side.verdict.outcome.value == want, (rule, members, dead)
                assert side.up == (frozenset() if want == "stops" else everybody - dead)
    assert tried > 3 * 2 * 3


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("groups", "replicas"), [(1, 2), (1, 3), (2, 2), (1, 4)])
def test_every_course_of_two_failures_and_every_cut(rule: str, groups: int, replicas: int) -> None:
    """The second failure starts from what the first left; a cut is judged side by side, first asker first."""
    members = [set(range(g * replicas + 1, (g + 1) * replicas + 1)) for g in range(groups)]
    everybody = set().union(*members)
    known = cluster(rule, members)
    sets = [set(s) for size in range(len(everybody)) for s in combinations(sorted(everybody), size)]
    for first in sets:
        (side,) = fail(known, started_up(known), first)
        if side.after is None:
            continue
        left = everybody - first
        for second in (s for s in sets if s <= left):
            (then,) = fail(known, side.after, second)
            assert then.verdict.outcome.value == expected(rule, members, left, left - second, True)
        for one in (s for s in sets if s and s < left):
            other = left - one
            sides = fail(known, side.after, (), [one | {ARBITRATOR}, other | {ARBITRATOR}])
            due = {frozenset(s): expected(rule, members, left, s, True) for s in (one, other)}
            askers = [s for s, verdict in due.items() if verdict == "asks the arbitrator"]
            winner = max(askers, key=lambda s: (len(s), -min(s)), default=frozenset())
            for judged in sides:
                want = due[judged.survivors]
                if want == "asks the arbitrator" and judged.survivors != winner:
                    want = "stops"
                assert judged.verdict.outcome.value == want
            alive = [judged for judged in sides if judged.after is not None]
            assert len(alive) <= 1, "both halves of a cut live"


def test_no_cut_leaves_two_clusters_while_somebody_arbitrates() -> None:
    """Every partition into two or three sides, the arbitrator seen by any one of them or by all."""
    for rule in RULES:
        for members in ([{1, 2, 3, 4}], [{1, 2}, {3, 4}], [{1, 2}, {3, 4}, {5, 6}], [{1, 2, 3}, {4, 5, 6}]):
            known = cluster(rule, members)
            everybody = sorted(set().union(*members))
            for number in range(3 ** (len(everybody) - 1)):
                sides: list[set[int]] = [set(), set(), set()]
                for node_id in everybody:
                    sides[number % 3].add(node_id)
                    number //= 3
                for seen_by in ({0}, {1}, {0, 1, 2}):
                    seen = [side | {ARBITRATOR} if i in seen_by else side for i, side in enumerate(sides)]
                    found = fail(known, started_up(known), (), [side for side in seen if side])
                    assert sum(side.after is not None for side in found) <= 1
                    assert sum(side.verdict.outcome is Outcome.ASKS for side in found) <= 1
