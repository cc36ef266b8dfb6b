"""Who survives: held against recorded failures of real clusters, worked cases and the rule text itself."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ndbplan.ndb.survival import (
    STOPPED_BY_ARBITRATION,
    STOPPED_BY_LOST_GROUP,
    Arbitration,
    Candidate,
    Cluster,
    Outcome,
    Running,
    Side,
    arbitrator_gap_s,
    begin_start,
    come_back,
    fail,
    in_a_row,
    judge,
    rule_of,
    silent_after_s,
    started_up,
)
from ndbplan.ndb.version import SERIES, NdbVersion

REALITY = Path(__file__).parent.parent / "reality"
COURSES: list[dict[str, Any]] = json.loads((REALITY / "survival.json").read_text())["courses"]
CASES: list[dict[str, Any]] = json.loads((REALITY / "survival-cases.json").read_text())["cases"]


def _cluster(
    version: str,
    groups: list[list[int]],
    candidates: tuple[Candidate, ...] = (Candidate(51, 1),),
    arbitration: str = "Default",
    spare: tuple[int, ...] = (),
) -> Cluster:
    return Cluster(
        rule_of(NdbVersion.parse(version)),
        {number: frozenset(members) for number, members in enumerate(groups)},
        frozenset(spare),
        candidates,
        Arbitration(arbitration),
    )


def _of_course(row: dict[str, Any]) -> Cluster:
    candidates = tuple(
        Candidate(c["node_id"], c["rank"], c["management"]) for c in row["candidates"] if c["rank"]
    )
    return _cluster(
        row["version"],
        row["groups"],
        candidates,
        row.get("arbitration", "Default"),
        tuple(row.get("spare", ())),
    )


def _sides(cut: list[list[int]] | None, everybody: frozenset[int]) -> list[set[int]] | None:
    """Nodes that a cut does not name see every side."""
    if cut is None:
        return None
    unnamed = everybody - {node_id for side in cut for node_id in side}
    return [set(side) | unnamed for side in cut]


@pytest.mark.parametrize("row", COURSES, ids=lambda row: f"{row['version']} {row['name']}")
def test_every_recorded_course_comes_out(row: dict[str, Any]) -> None:
    cluster = _of_course(row)
    living: tuple[Running, ...] = (started_up(cluster),)
    everybody = cluster.data_nodes | {c["node_id"] for c in row["candidates"]}
    for step in row["steps"]:
        if "back" in step:
            living = tuple(come_back(cluster, running, step["back"], step["at_s"]) for running in living)
            assert frozenset().union(*(running.started for running in living)) == set(step["up"])
            continue
        sides: list[Side] = []
        for running in living:
            cut = _sides(step.get("cut"), everybody)
            sides += fail(cluster, running, step.get("dead", ()), cut, step["at_s"])
        assert frozenset().union(*(side.up for side in sides)) == set(step["up"])
        if row.get("arbitration") == "WaitExternal":  # the log calls the waiting a question too
            assert step["asked"] == any("waits" in side.verdict.why for side in sides)
        else:
            assert step["asked"] == any(side.verdict.asked is not None for side in sides)
        codes = {node_id: side.verdict.exit_code for side in sides for node_id in side.survivors - side.up}
        assert codes == {int(node_id): code for node_id, code in step.get("stopped", {}).items()}
        living = tuple(side.after for side in sides if side.after is not None)


GROUPS = {
    (1, 2): [[1], [2]],
    (2, 1): [[1, 2]],
    (2, 2): [[1, 2], [3, 4]],
    (3, 1): [[1, 2, 3]],
    (3, 2): [[1, 2, 3], [4, 5, 6]],
    (4, 1): [[1, 2, 3, 4]],
}
ASK, ON, STOP = Outcome.ASKS, Outcome.GOES_ON, Outcome.STOPS
_A, _B, _C = ["7.4.10", "7.5"], ["7.6"], ["8.0.43", "8.4.8", "9.x"]
ALL = _A + _B + _C
Steps = list[dict[str, Any]]
WORKED: dict[tuple[str, str], list[tuple[list[str], list[Steps], list[Outcome]]]] = {
    # (versions, failure): versions tried, each course of failures, verdicts of the sides of its last failure
    ("all", "any node"): [(ALL, [[{"dead": [1]}], [{"dead": [2]}]], [STOP])],
    ("all", "1 of 2"): [(ALL, [[{"dead": [1]}], [{"dead": [2]}]], [ASK])],
    ("all", "the last 1 of 1 left"): [(ALL, [[{"dead": [1]}, {"dead": [2]}]], [STOP])],
    ("all", "1 of 4"): [(ALL, [[{"dead": [node]}] for node in (1, 2, 3, 4)], [ON])],
    ("all", "one of each group at once, or a cut between two halves"): [
        (ALL, [[{"dead": [1, 3]}], [{"dead": [2, 3]}]], [ASK]),
        (ALL, [[{"cut": [[1, 3], [2, 4]]}]], [ASK, STOP]),
    ],
    ("all", "cut between two whole groups"): [(ALL, [[{"cut": [[1, 2], [3, 4]]}]], [STOP, STOP])],
    ("A and B", "one node of group 0 down for long, then one of group 1"): [
        (_A, [[{"dead": [1]}, {"dead": [3]}]], [ASK]),
        (_B, [[{"dead": [1]}, {"dead": [3]}]], [ON]),
    ],
    ("C", "one node of group 0 down for long, then one of group 1"): [
        (_C, [[{"dead": [1]}, {"dead": [3]}]], [ON])
    ],
    ("A", "1 of 3"): [(_A, [[{"dead": [1]}]], [ASK])],
    ("B, C", "1 of 3"): [(_B + _C, [[{"dead": [3]}]], [ON])],
    ("B, C", "2 of 3 at once"): [(_B + _C, [[{"dead": [2, 3]}]], [STOP])],
    ("A", "2 of 3 at once"): [(_A, [[{"dead": [1, 2]}]], [ASK])],
    ("B, C", "1 of 2 left"): [(_B + _C, [[{"dead": [1]}, {"dead": [2]}]], [ASK])],
    ("B, C", "1 of 4"): [(_B + _C, [[{"dead": [4]}]], [ON])],
    ("B, C", "2 of 4 at once, or a cut in halves"): [
        (_B + _C, [[{"dead": [1, 4]}]], [ASK]),
        (_B + _C, [[{"cut": [[1, 2], [3, 4]]}]], [ASK, STOP]),
    ],
    ("B, C", "3 of 4 at once"): [(_B + _C, [[{"dead": [1, 2, 3]}]], [STOP])],
    ("A", "1, 2 or 3 of 4"): [(_A, [[{"dead": [1]}], [{"dead": [1, 2]}], [{"dead": [1, 2, 4]}]], [ASK])],
    ("B, C", "cut, 4 nodes (2 of each group) against 2 (1 of each)"): [
        (_B + _C, [[{"cut": [[1, 2, 4, 5], [3, 6]]}]], [ON, STOP])
    ],
    ("7.4.10, 8.4.8", "1 of 2, all ranks 0 or Arbitration=Disabled"): [(ALL, [[{"dead": [1]}]], [ON])],
    ("7.4.10, 8.4.8", "cut between the two, all ranks 0 or Arbitration=Disabled"): [
        (ALL, [[{"cut": [[1], [2]]}]], [ON, ON])
    ],
    ("7.4.10, 8.4.8", "one of each group at once, all ranks 0 or Arbitration=Disabled"): [
        (ALL, [[{"dead": [1, 4]}]], [ON])
    ],
    ("8.4.8", "2 of 4 killed, 0.3 s later 1 more"): [
        (ALL, [[{"dead": [1, 2], "at_s": 5.0}, {"dead": [3], "at_s": 5.3}]], [STOP]),
        (ALL, [[{"dead": [1, 2], "at_s": 5.0}, {"dead": [3], "at_s": 8.0}]], [ASK]),
    ],
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['versions']} {case['failure']}")
def test_worked_cases(case: dict[str, Any]) -> None:
    groups = GROUPS[case["replicas"], case.get("groups", 2)]
    off = "all ranks 0" in case["failure"]
    clusters = (
        [((), "Default"), ((Candidate(51, 1),), "Disabled")] if off else [((Candidate(51, 1),), "Default")]
    )
    for versions, courses, outcomes in WORKED[case["versions"], case["failure"]]:
        for version in versions:
            for candidates, arbitration in clusters:
                cluster = _cluster(version, groups, candidates, arbitration)
                for course in courses:
                    assert _outcomes(cluster, course) == outcomes, (version, course)


def _outcomes(cluster: Cluster, course: Steps) -> list[Outcome]:
    """Verdicts of the sides of the last failure, the side of node 1 first."""
    running = started_up(cluster)
    sides: tuple[Side, ...] = ()
    for step in course:
        everybody = cluster.data_nodes | {candidate.node_id for candidate in cluster.candidates}
        sides = fail(
            cluster, running, step.get("dead", ()), _sides(step.get("cut"), everybody), step.get("at_s")
        )
        running = next((side.after for side in sides if side.after is not None), running)
    return [side.verdict.outcome for side in sides]


def test_the_gap_after_the_loss_of_the_arbitrator() -> None:
    cluster = _cluster("8.4.8", [[1, 2]], (Candidate(51, 1), Candidate(52, 1)))
    (peace,) = fail(cluster, started_up(cluster), {51}, at_s=10.0)
    assert peace.after is not None
    assert peace.after.arbitrator == 52
    gap = arbitrator_gap_s()[0]
    (soon,) = fail(cluster, peace.after, {2}, at_s=10.0 + gap / 2)
    (later,) = fail(cluster, peace.after, {2}, at_s=10.0 + gap * 1.1)
    assert (soon.verdict.outcome, later.verdict.outcome) == (Outcome.STOPS, Outcome.ASKS)
    assert later.verdict.asked == 52


def test_a_node_in_start_counts_for_nothing_and_stops_with_the_next_loss() -> None:
    cluster = _cluster("8.4.8", [[1, 2], [3, 4]])
    (first,) = fail(cluster, started_up(cluster), {1})
    assert first.after is not None
    running = begin_start(first.after, {1})
    (second,) = fail(cluster, running, {2})  # group 0 has only a node in start left
    assert second.verdict.outcome is Outcome.STOPS
    assert second.verdict.gone_group == 0
    (peace,) = fail(cluster, running, {51})  # no data node is lost: the start goes on
    assert peace.after is not None
    assert peace.after.starting == {1}
    (other,) = fail(cluster, running, {3})
    assert other.after is not None
    assert other.after.starting == frozenset()


@pytest.mark.parametrize("version", SERIES)
def test_every_series_has_a_rule_and_says_where_it_was_not_read(version: str) -> None:
    rule = rule_of(NdbVersion.parse(version))
    read = version in ("7.2", "7.4", "7.5", "8.0", "8.4")
    assert bool(rule.remark) != read
    assert rule.name == ("A" if version <= "7.5" else "B" if version == "7.6" else "C")


def test_early_8_0_was_not_read() -> None:
    assert rule_of(NdbVersion.parse("8.0.20")).remark
    assert not rule_of(NdbVersion.parse("8.0.21")).remark


def test_election() -> None:
    late = Candidate(61, 1, management=False)
    cluster = _cluster("8.4.8", [[1, 2]], (Candidate(52, 1), Candidate(51, 2), late))
    running = started_up(cluster)
    assert running.arbitrator == 52  # rank before node id
    (peace,) = fail(cluster, running, {52})
    assert peace.after is not None
    assert peace.after.arbitrator == 61
    assert come_back(cluster, peace.after, {52}).arbitrator == 61  # the elected one stays
    second = _cluster("8.4.8", [[1, 2]], (Candidate(51, 2), late))
    assert started_up(second).arbitrator == 51  # API programs connect after the start
    assert started_up(_cluster("8.4.8", [[1, 2]], (late,))).arbitrator == 61


def test_codes_and_reasons() -> None:
    cluster = _cluster("8.4.8", [[1, 2], [3, 4]])
    gone = judge(cluster, {1, 2, 3, 4}, {3, 4}, 51)
    assert gone.exit_code == STOPPED_BY_ARBITRATION
    assert "node group 0 is gone" in gone.why
    off = judge(_cluster("8.4.8", [[1, 2], [3, 4]], ()), {1, 2, 3, 4}, {3, 4}, None)
    assert off.exit_code == STOPPED_BY_LOST_GROUP
    late = _cluster("8.4.8", [[1, 2]], (Candidate(51, 1, answers=False),))
    (side,) = fail(late, started_up(late), {1})
    assert side.verdict.outcome is Outcome.STOPS
    assert side.verdict.asked == 51


def test_silent_nodes_side_by_side_are_noticed_one_after_the_other() -> None:
    assert silent_after_s(5000) == (15.0, 20.0, 25.0)
    # One alone against three: 2.2, 4.7 and 7.3 s [8.4.8].
    assert in_a_row(3, 1) == (3, 3, 3)
    assert silent_after_s(500, in_a_row(3, 1))[2] == pytest.approx(7.5)
    assert silent_after_s(1500, connect_check_ms=1000) == (6.5, 8.0, 9.5)


def test_nodes_that_are_silent_elsewhere_in_the_ring_are_noticed_meanwhile() -> None:
    # Of 2 in a ring with 2 others both were noticed at once [8.4.8, 1 x 4], or in turn [7.4.10, 2 x 2].
    assert in_a_row(2, 2) == (1, 2, 2)
    # [8.4.8, 3 x 2]: at once; [8.4.8, 2 x 3]: in turn.
    assert in_a_row(2, 4) == (1, 1, 2)
    # A rack of 36 of 144 nodes takes no 36 times as long.
    assert max(in_a_row(36, 108)) < 6
    assert in_a_row(4, 0) == (4, 4, 4)


def test_the_row_of_silent_nodes_is_that_of_all_orders() -> None:
    for silent, seeing in ((1, 3), (3, 2), (4, 3), (5, 4)):
        # All ways to put the silent ones behind those that see.
        ways = [max(w) for w in product(range(silent + 1), repeat=seeing) if sum(w) == silent]
        for share, row in zip((0.1, 0.5, 0.9), in_a_row(silent, seeing), strict=True):
            fewer, within = (sum(most <= n for most in ways) / len(ways) for n in (row - 1, row))
            assert fewer < share <= within
