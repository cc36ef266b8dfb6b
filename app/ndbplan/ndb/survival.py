"""Which surviving data nodes go on after a failure, which ask the arbitrator, which stop.

    judge(cluster, before={1, 2, 3, 4}, survivors={2, 3, 4}, arbitrator=51).outcome    # goes on
    fail(cluster, started_up(cluster), dead={1, 51})                                   # each side's answer

The product's rules lie in resources/ndb/survival.json with their sources: rule A up to 7.5, B in 7.6, C in
8.0 and later, corrected by what real clusters of 7.4.10 and 8.4.8 did. Knows node ids and groups, no plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from math import comb
from typing import Any, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.node_names import listed
from ndbplan.ndb.version import NdbVersion, release

_SHARES = (0.1, 0.5, 0.9)
"""Of all orders of joining: p10, the median and p90."""


class Outcome(StrEnum):
    """What becomes of the data nodes on one side of a failure."""

    GOES_ON = "goes on"
    ASKS = "asks the arbitrator"
    """The question is due, the arbitrator elected before is there, and its answer lets the side go on."""
    STOPS = "stops"


class Arbitration(StrEnum):
    """The parameter Arbitration; Default with every ArbitrationRank 0 acts as Disabled."""

    DEFAULT = "Default"
    DISABLED = "Disabled"
    WAIT_EXTERNAL = "WaitExternal"


class Rule(NamedTuple):
    """The order of questions that decides; the first that holds does."""

    name: str
    steps: tuple[tuple[str, Outcome], ...]
    read_in: str
    remark: str = ""
    """What has to be said when the rule was not read in this very version."""


class Candidate(NamedTuple):
    """A node that may arbitrate: ArbitrationRank 1 or 2."""

    node_id: int
    rank: int
    management: bool = True
    """A management node is connected when the data nodes start; API and SQL nodes come later."""
    answers: bool = True
    """False: its ArbitrationDelay is above ArbitrationTimeout, so every question to it is lost."""


class Verdict(NamedTuple):
    """What the product decides for one side, and why in one sentence."""

    outcome: Outcome
    why: str
    asked: int | None = None
    """Node id of the arbitrator that is asked, whether or not it answers."""
    gone_group: int | None = None
    """Number of the first node group that has no survivor."""
    exit_code: int | None = None
    """Error that the data nodes of a side that stops end with."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the product knows of itself; node ids only."""

    rule: Rule
    groups: Mapping[int, frozenset[int]]
    """Configured members of each node group, by its number."""
    spare: frozenset[int] = frozenset()
    """Data nodes in no group (NodeGroup 65536): they count for the number of survivors only."""
    candidates: tuple[Candidate, ...] = ()
    arbitration: Arbitration = Arbitration.DEFAULT

    @property
    def data_nodes(self) -> frozenset[int]:
        return self.spare.union(*self.groups.values())

    @property
    def nobody_arbitrates(self) -> bool:
        """Whether nothing is asked and no majority is checked: Disabled, or Default with all ranks 0."""
        return self.arbitration is Arbitration.DISABLED or (
            self.arbitration is Arbitration.DEFAULT and not self.candidates
        )


@dataclass(frozen=True, slots=True)
class Running:
    """One living cluster between failures; after a split brain there are two."""

    started: frozenset[int]
    """Data nodes that are fully started."""
    connected: frozenset[int]
    """Candidates for arbitrator that it sees."""
    arbitrator: int | None
    """The one elected; None: there is none."""
    starting: frozenset[int] = frozenset()
    """Data nodes that have joined but are not started: they stop when another data node is lost."""
    ready_at_s: float = float("-inf")
    """When the arbitrator has its ticket; a question before is lost."""


class Side(NamedTuple):
    """What one side of a failure decides."""

    survivors: frozenset[int]
    """Started data nodes it still sees."""
    verdict: Verdict
    after: Running | None
    """The cluster that goes on; None when it stops."""

    @property
    def up(self) -> frozenset[int]:
        """Data nodes that still run afterwards."""
        return frozenset() if self.after is None else self.after.started


STOPPED_BY_ARBITRATION = 2305
STOPPED_BY_LOST_GROUP = 6302
"""Exit codes of data nodes (NDB source, ndbd_exit_codes.h), as in resources/ndb/errors.json."""


def _data() -> dict[str, Any]:
    data: dict[str, Any] = read_json("ndb/survival.json")
    return data


def arbitrator_gap_s() -> tuple[float, float, float]:
    """Seconds until a new arbitrator is ready, after a won question or a lost one: likely, low, high."""
    gap = _data()["arbitrator_gap_s"]
    return gap["value"], gap["low"], gap["high"]


def silent_after_s(
    heartbeat_ms: float, in_a_row: tuple[int, int, int] = (1, 1, 1), connect_check_ms: float = 0.0
) -> tuple[float, float, float]:
    """Least, likely and most seconds until hung or cut off nodes are all declared dead.

    `in_a_row`: see `in_a_row`; they are noticed one after the other. A connectivity check
    (ConnectCheckIntervalDelay) adds two of its intervals. Source: resources/ndb/survival.json, detection.
    """
    detection = _data()["detection"]
    low, high = detection["beats"]["low"], detection["beats"]["high"]
    check_s = detection["connectivity_check"]["adds_intervals"] * connect_check_ms / 1000.0
    least, likely, most = (
        turns * (beats * heartbeat_ms / 1000.0 + check_s)
        for turns, beats in zip(in_a_row, (low, (low + high) / 2.0, high), strict=True)
    )
    return least, likely, most


def in_a_row(silent: int, seeing: int) -> tuple[int, int, int]:
    """How many of so many silent data nodes stand side by side in the ring of heartbeats, at most of any.

    A node watches its left neighbour, and the next one afresh when that is declared dead; other nodes do so
    meanwhile. The ring is the order of joining, which nobody knows: the numbers that 10, 50 and 90 % of all
    orders stay within. `seeing`: nodes that still see each other. Source: as `silent_after_s`.
    """
    if not silent or not seeing:
        return silent, silent, silent
    orders = comb(silent + seeing - 1, silent)

    def within(most: int) -> float:
        """Share of the orders without more than so many side by side (inclusion and exclusion)."""
        terms = (
            (-1) ** over * comb(seeing, over) * comb(silent - over * (most + 1) + seeing - 1, seeing - 1)
            for over in range(min(seeing, silent // (most + 1)) + 1)
        )
        found: int = sum(terms)
        return found / orders

    shares = {most: within(most) for most in range(1, silent + 1)}
    least, likely, high = (next(n for n, share in shares.items() if share >= wanted) for wanted in _SHARES)
    return least, likely, high


def killed_after_s() -> tuple[float, float]:
    """Earliest and latest second at which a killed process on a living host is noticed."""
    seconds = _data()["detection"]["closed_connection_s"]
    return seconds["low"], seconds["high"]


def handled_s() -> tuple[float, float, float]:
    """Least, likely and most seconds from a loss that is noticed to the decision."""
    seconds = _data()["detection"]["handled_s"]
    return seconds["low"], seconds["value"], seconds["high"]


@cache
def rule_of(version: NdbVersion) -> Rule:
    """The rule of a version of the product, with what must be said where it was not read."""

    def within(span: Mapping[str, str | None]) -> bool:
        since, before = span["since"], span["before"]
        return (since is None or release(since) <= version) and (before is None or version < release(before))

    row = next(row for row in _data()["rules"] if within(row))
    remarks = [span["remark"] for span in row["not_read"] if within(span)]
    return Rule(
        row["rule"],
        tuple((step["if"], Outcome(step["then"])) for step in row["steps"]),
        row["read_in"],
        remarks[0] if remarks else "",
    )


def decide(
    rule: Rule, groups: Iterable[frozenset[int]], before: frozenset[int], survivors: frozenset[int]
) -> tuple[Outcome, str]:
    """The rule alone, without an arbitrator: its outcome and the condition that led to it.

    `groups`: configured members of each group; `before`: data nodes started just before this failure, nodes
    in no group among them; `survivors`: those of them that this side still sees. ASKS: a question is due.
    """
    lost = before - survivors
    doubled, total = 2 * len(survivors), len(before)
    for condition, outcome in rule.steps:
        if condition == "group without survivor":
            holds = any(group.isdisjoint(survivors) for group in groups)
        elif condition == "complete group":
            holds = any(group <= survivors for group in groups)
        elif condition == "untouched group":
            holds = any(group.isdisjoint(lost) for group in groups)
        elif condition == "more than half":
            holds = doubled > total
        elif condition == "fewer than half":
            holds = doubled < total
        else:
            holds = True
        if holds:
            return outcome, condition
    raise ValueError(f"rule {rule.name} leaves a case open")  # its last step is `otherwise`


def judge(
    cluster: Cluster,
    before: Collection[int],
    survivors: Collection[int],
    arbitrator: int | None,
    *,
    answers: bool = True,
    no_answer: str = "does not answer",
) -> Verdict:
    """What one side of a failure does, and why.

    `before`, `survivors`: as for `decide`; `arbitrator`: the one elected before the failure, None when there
    is none (or it failed with the data nodes); `answers`: whether it can be reached and says yes to this
    side, `no_answer` says why not.
    """
    was, left = frozenset(before), frozenset(survivors)
    if not left:
        return Verdict(Outcome.STOPS, "no data node is left", None, _gone(cluster, left), None)
    gone = _gone(cluster, left)
    if gone is not None:
        ids, some = listed(cluster.groups[gone]), len(cluster.groups[gone]) > 1
        why = f"none of its data nodes {ids} is left" if some else f"its data node {ids} is down"
        code = STOPPED_BY_LOST_GROUP if cluster.nobody_arbitrates else STOPPED_BY_ARBITRATION
        return Verdict(Outcome.STOPS, f"node group {gone} is gone: {why}", None, gone, code)
    if left == was:
        return Verdict(Outcome.GOES_ON, "no data node is lost")
    outcome, condition = decide(cluster.rule, cluster.groups.values(), was, left)
    count = f"{len(left)} of {len(was)} data nodes are left"
    if cluster.nobody_arbitrates:
        return Verdict(Outcome.GOES_ON, f"{_off(cluster)}: nothing is asked and no majority is checked")
    if outcome is Outcome.GOES_ON:
        return Verdict(outcome, _good_reason(cluster, condition, was, left, count))
    if outcome is Outcome.STOPS:
        text = f"only {count}, fewer than half, and every node group lost a member"
        return Verdict(outcome, text, None, None, STOPPED_BY_ARBITRATION)
    due = f"no node group is complete ({count})" if cluster.rule.name == "A" else f"exactly half: {count}"
    if cluster.arbitration is Arbitration.WAIT_EXTERNAL:
        text = (
            f"{due}; it waits ArbitrationTimeout for an outside manager to stop the other side, then goes on"
        )
        return Verdict(Outcome.GOES_ON, text)
    if arbitrator is None:
        text = f"{due}, and no arbitrator is there to ask: {no_answer}"
        return Verdict(Outcome.STOPS, text, None, None, STOPPED_BY_ARBITRATION)
    if not answers:
        text = f"{due}, and the arbitrator, node {arbitrator}, {no_answer}"
        return Verdict(Outcome.STOPS, text, arbitrator, None, STOPPED_BY_ARBITRATION)
    return Verdict(Outcome.ASKS, f"{due}; the arbitrator, node {arbitrator}, lets it go on", arbitrator)


def _gone(cluster: Cluster, left: frozenset[int]) -> int | None:
    return next((number for number, members in cluster.groups.items() if members.isdisjoint(left)), None)


def _off(cluster: Cluster) -> str:
    return (
        "Arbitration is Disabled"
        if cluster.arbitration is Arbitration.DISABLED
        else "all ArbitrationRanks are 0"
    )


def _good_reason(
    cluster: Cluster, condition: str, was: frozenset[int], left: frozenset[int], count: str
) -> str:
    if condition == "more than half":
        return f"{count}, more than half"
    lost = was - left
    for number, members in cluster.groups.items():
        if condition == "complete group" and members <= left:
            return f"node group {number} is complete: data nodes {listed(members)}"
        if condition == "untouched group" and members.isdisjoint(lost):
            return f"node group {number} lost no member in this failure"
    return condition


def elect(cluster: Cluster, connected: Collection[int], *, at_start: bool = False) -> int | None:
    """The arbitrator that is elected among the connected: rank 1 by ascending node id, then rank 2.

    `at_start`: of a cluster that starts. Only management nodes are connected then, and who is elected stays
    when a better one connects later (measured on 8.4.8), so API and SQL nodes count only where no management
    node may. None under WaitExternal or without candidates.
    """
    if cluster.arbitration is not Arbitration.DEFAULT:
        return None
    there = [candidate for candidate in cluster.candidates if candidate.node_id in connected]
    if at_start:
        there = [candidate for candidate in there if candidate.management] or there
    chosen = min(there, key=lambda candidate: (candidate.rank, candidate.node_id), default=None)
    return None if chosen is None else chosen.node_id


def started_up(cluster: Cluster, absent: Collection[int] = ()) -> Running:
    """The cluster with all nodes up but those `absent`, long enough for the arbitrator to be elected."""
    connected = frozenset(c.node_id for c in cluster.candidates) - frozenset(absent)
    elected = elect(cluster, connected, at_start=True)
    return Running(cluster.data_nodes - frozenset(absent), connected, elected)


def begin_start(running: Running, node_ids: Collection[int]) -> Running:
    """Data nodes join and start: until `come_back` they count for nothing and are lost with the next loss."""
    return replace(running, starting=running.starting | frozenset(node_ids))


def come_back(
    cluster: Cluster, running: Running, node_ids: Collection[int], at_s: float | None = None
) -> Running:
    """Data nodes are started, candidates connected again. An elected arbitrator keeps its role."""
    back = frozenset(node_ids)
    connected = running.connected | (back & {candidate.node_id for candidate in cluster.candidates})
    arbitrator, ready = running.arbitrator, running.ready_at_s
    if arbitrator is None:
        arbitrator, ready = elect(cluster, connected), _ready(at_s)
    return Running(
        running.started | (back & cluster.data_nodes), connected, arbitrator, running.starting - back, ready
    )


def _ready(at_s: float | None) -> float:
    return float("-inf") if at_s is None else at_s + arbitrator_gap_s()[0]


def fail(
    cluster: Cluster,
    running: Running,
    dead: Collection[int] = (),
    sides: Sequence[Collection[int]] | None = None,
    at_s: float | None = None,
) -> tuple[Side, ...]:
    """One failure: what each side of the running cluster decides, in order of their lowest node id.

    `dead`: nodes of any kind lost at once; `sides`: for a cut, all node ids that see one another, a set for
    each side (data nodes in one set only, a candidate in each from which it is reached); data nodes named in
    none see nobody. `at_s`: when; None: late enough after the failure before for an arbitrator to be elected.

    Where two sides ask the same arbitrator, the first question wins. The bigger side has fewer silent nodes
    to notice one after the other and so asks first (measured: 4 of 4); equal halves are a race, modelled as
    won by the side with the lowest node id.
    """
    gone = frozenset(dead)
    alive = running.started - gone
    seen = (
        [frozenset(side) for side in sides]
        if sides is not None
        else [alive | running.connected | running.starting]
    )
    if sides is not None:
        unseen = alive - frozenset().union(*seen)
        seen += [frozenset({node_id}) for node_id in sorted(unseen)]
    halves = [half for half in seen if half & alive]
    halves.sort(key=lambda half: (-len(half & alive), min(half & alive)))
    if not halves:
        nobody: frozenset[int] = frozenset()
        return (Side(nobody, judge(cluster, running.started, nobody, None), None),)
    answered: set[int] = set()
    parts = [_side(cluster, running, half, gone, answered, at_s) for half in halves]
    return tuple(sorted(parts, key=lambda side: min(side.survivors)))


def _side(
    cluster: Cluster,
    running: Running,
    half: frozenset[int],
    dead: frozenset[int],
    answered: set[int],
    at_s: float | None,
) -> Side:
    survivors = (half & running.started) - dead
    connected = (half & running.connected) - dead
    elected: int | None = running.arbitrator
    answers, reason = True, "none is connected"
    if elected is not None and elected in dead:
        reason, elected = f"node {elected}, elected before, failed with it", None
    elif elected is not None and at_s is not None and at_s < running.ready_at_s:
        reason, elected = f"node {elected} is elected but not ready yet", None
    elif elected is not None and elected not in connected:
        answers, reason = False, "is out of its sight"
    elif elected is not None and elected in answered:
        reason, elected = f"node {elected} has already answered the other side", None
    elif elected is not None and not _candidate(cluster, elected).answers:
        answers, reason = False, "answers later than ArbitrationTimeout (ArbitrationDelay)"
    verdict = judge(cluster, running.started, survivors, elected, answers=answers, no_answer=reason)
    if verdict.outcome is Outcome.STOPS:
        return Side(survivors, verdict, None)
    arbitrator, ready = running.arbitrator, running.ready_at_s
    if verdict.outcome is Outcome.ASKS and elected is not None:
        answered.add(elected)
    if verdict.outcome is Outcome.ASKS or arbitrator is None or arbitrator not in connected:
        # a won question spends the arbitrator, a lost one is replaced: the next takes a moment
        arbitrator, ready = elect(cluster, connected), _ready(at_s)
    starting = (half & running.starting) - dead if survivors == running.started else frozenset()
    return Side(survivors, verdict, Running(survivors, connected, arbitrator, starting, ready))


def _candidate(cluster: Cluster, node_id: int) -> Candidate:
    return next(candidate for candidate in cluster.candidates if candidate.node_id == node_id)
