"""Why a class of hosts has no cluster that passes, and a change that would let it, of which no step is spare.

Each broken limit in turn is moved as little as lets it pass: hardware where hardware moves it, else the
requirement itself. What is said has been judged: the cluster with these changes meets every limit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from ndbplan.advise.sizing.build import Builder
from ndbplan.advise.sizing.choices import Choice
from ndbplan.advise.sizing.excused import Excuse, first_limit
from ndbplan.advise.sizing.larger import EXACT, HARDEST, HARDWARE, SIZES, disks_decide, disks_mend
from ndbplan.advise.sizing.limits import Judge
from ndbplan.advise.sizing.peaks import at_share, sends_nothing, times_as_much
from ndbplan.advise.sizing.verdict import CHECK, LOADER, PRICE, Met, Verdict
from ndbplan.base.errors import UserError
from ndbplan.base.units import format_value, told_duration_s
from ndbplan.ndb.features import rows
from ndbplan.ndb.version import release
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import Requirements

_MOST_CHANGES = 16
_MARGIN = 1.02
"""So much more than a limit asks for: what a host decides is rounded."""
_PEAK_MARGIN = 1.001
"""The same of peaks: what is used grows with the rate."""
_PEAK_STEP = 1.01
"""So much more of a peak is another one."""
_STEP = 1.15
"""So much more where only a simulation says whether it is enough."""
_NEEDED = "within.", "money", "job"
"""Kinds of limits of which an excuse states what is needed."""
_BELOW = 1 - 1e-9


@dataclass(frozen=True)
class _Moved:
    """The cluster with a limit moved."""

    choice: Choice
    requirements: Requirements
    groups: int
    words: str
    kind: str
    begun: Plan | None = None
    """With other loads; None: with the same."""


class _Tried(NamedTuple):
    """What came of moving limits one after the other."""

    changes: tuple[str, ...]
    """What together lets the cluster pass; nothing: that was not found."""
    groups: int
    """Node groups then."""
    against: str = ""
    """What the cluster breaks where the last change was in vain; nothing where none was made."""


def _stated(wanted: Requirements, kind: str) -> float | None:
    """The time or money that requirements allow; None: as much as it takes."""
    if kind == "money":
        return wanted.budget
    if kind == "job":
        return None if wanted.job is None else wanted.job.within
    found: float | None = getattr(wanted.within, kind.partition(".")[2])
    return found


def excuse(judge: Judge, verdict: Verdict, beyond: Verdict | None = None) -> Excuse:
    """The first limit that the cluster of a class that comes nearest breaks, and what would let it pass.

    `beyond`: one with more nodes than there may be. It is told of instead where a later version or lower
    peaks are less of a change, or no more of one and that many node groups are needed in any case.
    """
    changes, groups, against = _changes(judge, verdict)
    is_needed = verdict.at_least > verdict.groups
    is_least = 0 < len(changes) + is_needed < 2
    if beyond is not None and beyond is not verdict and not is_least:
        later, with_groups, _ = _changes(judge, beyond)
        if later and (not changes or len(later) < len(changes) + is_needed):
            verdict, changes, groups = beyond, later, with_groups
    assert verdict.broken is not None
    change = " and ".join(changes) or None
    return Excuse(verdict.choice.words, first_limit(verdict), change, groups, "" if change else against)


def _changes(judge: Judge, verdict: Verdict) -> _Tried:
    """What together lets a cluster pass.

    Where hardware that carries the peaks asks for more than there can be, lower peaks pass. Neither lets
    tables pass that have an error on every cluster; what a later version does for them is another matter.
    """
    assert verdict.broken is not None
    if verdict.broken.kind != "version" and judge.errors.are_in_tables:
        return _Tried((), verdict.groups)
    found = _moved_in_turn(judge, verdict, by_hardware=True)
    return found if found.changes else _moved_in_turn(judge, verdict, by_hardware=False)


def _moved_in_turn(judge: Judge, verdict: Verdict, *, by_hardware: bool) -> _Tried:
    words: dict[str, str] = {}
    often: Counter[str] = Counter()
    choice, groups, found = verdict.choice, verdict.groups, verdict
    helped, wanted = _Helped(), judge.requirements
    lowered: Met | None = None
    most = 1.0
    vain: Callable[[Met], bool] | None = None

    def in_vain() -> _Tried:
        moved = " and ".join(filter(None, words.values()))
        line = found.broken.line if found.broken is not None else ""
        return _Tried((), verdict.groups, f"with {moved}: {line}" if moved else "")

    for _ in range(_MOST_CHANGES):
        broken = found.broken
        if broken is None:
            break
        harder = 2.0 ** max(0, often[broken.kind] - 1)
        if vain is not None and vain(broken):
            harder = 2 * HARDEST
        helped.note(broken, choice.host)
        is_of_loads = broken.needed.unit == "tx/s" or broken.is_simulated
        if is_of_loads and not by_hardware:
            moved = _less(judge, found, choice, judge.requirements, groups)
        elif broken.is_simulated and harder == 1 and not _may_help(judge, found):
            return in_vain()
        else:
            moved = _moved(judge, found, choice, judge.requirements, groups, harder)
        if moved is None or (moved.begun is not None and lowered == broken):
            # What a load sends was not lowered, such as by its only client.
            return in_vain()
        lowered = broken if moved.begun is not None and is_of_loads else None
        if moved.begun is not None:
            if broken.is_simulated or most > 1.0:
                most *= times_as_much(judge.begun, moved.begun, judge.loads[0])
            moved = replace(moved, choice=helped.without(broken.kind, moved.choice))
        vain = partial(_is_unmoved, broken) if moved.choice.host != choice.host else None
        often[broken.kind] += 1
        words[moved.kind] = moved.words
        choice, groups = moved.choice, moved.groups
        judge = _asking(judge, moved)
        try:
            found = judge.verdict(choice, groups)
            while found.broken is not None and groups < choice.full(found.at_least) <= judge.most_groups:
                groups = choice.full(found.at_least)
                found = judge.verdict(choice, groups)
        except UserError:
            return in_vain()
    if found.broken is not None:
        return in_vain()
    judge, words["peak"] = _raised(judge, choice, groups, most, words.get("peak", ""))
    least = _at_least(judge, verdict.choice.host, choice, groups, words, wanted)
    return _Tried(tuple(filter(None, least)), groups)


def _is_unmoved(before: Met, broken: Met) -> bool:
    """Whether so much hardware that was to move a limit twice as far, or further, did not move it at all."""
    return (
        before.is_ratio
        and before.nearness >= 2.0
        and (before.kind, before.limit) == (broken.kind, broken.limit)
        and broken.allowed.value <= before.allowed.value * (1 + EXACT)
    )


def _asking(judge: Judge, moved: _Moved) -> Judge:
    """Of what was moved; the same where that is hardware alone, so that what is known stays known."""
    builder, begun = judge.builder, moved.begun or judge.begun
    if moved.requirements.ndb_version is not None:
        begun = begun.replace(ndb_version=moved.requirements.ndb_version)
    if begun is not judge.begun:
        builder = Builder(begun, builder.clients, builder.through_api)
    elif moved.requirements is judge.requirements:
        return judge
    return replace(judge, requirements=moved.requirements, builder=builder)


def _may_help(judge: Judge, found: Verdict) -> bool:
    """Whether the most hardware that is tried lets a load be sustained that is not.

    How much more a simulated load needs is not known, and to try more and more of it in vain takes long.
    """
    assert found.broken is not None
    if found.broken.kind not in HARDWARE:
        return False
    most = HARDWARE[found.broken.kind](found.choice.host, _STEP**2 * 2 * HARDEST)
    if most is None:
        return True
    try:
        left = judge.again(found, replace(found.choice, host=most[0], is_planned=False))
    except UserError:
        return False
    return left is None or left.limit != found.broken.limit


def _at_least(
    judge: Judge, begun: Host, choice: Choice, groups: int, words: dict[str, str], wanted: Requirements
) -> Iterable[str]:
    """The words of changes that let a cluster pass, each brought down to the least that does."""
    least, before = _Least(judge, begun, choice, groups), None
    kinds = [one for one in words if one in HARDWARE]
    # With less of one, less of another may do: hardware, then times and money, until nothing gives way.
    while before != (least.choice.host, least.judge.requirements):
        before = least.choice.host, least.judge.requirements
        words |= {kind: least.of(kind) for kind in kinds}
        if len(kinds) < 2 or before[0] == least.choice.host:
            least.judge, less = _on_less(least.judge, least.choice, groups, words, wanted)
            words |= less
    return words.values()


def _on_less(
    judge: Judge, choice: Choice, groups: int, words: Collection[str], wanted: Requirements
) -> tuple[Judge, dict[str, str]]:
    """Times and money of a change that are less, or as wanted, once hardware and peaks are brought down."""
    again: dict[str, str] = {}
    for kind in [one for one in words if one.startswith(_NEEDED)]:
        stated = _stated(wanted, kind)
        tried = judge
        # With a limit just below what is needed, steps of parameters may still do.
        while stated is not None and (met := _met(tried, choice, groups, kind)) is not None:
            is_as_wanted = met.needed.value <= stated
            eased, told = _eased(tried.requirements, met)
            if is_as_wanted:
                eased, told = _limited(tried.requirements, kind, stated), ""
            eased_judge = replace(judge, requirements=eased)
            if _met(eased_judge, choice, groups, kind) is None:
                # What is further away than steps reach is not found from there.
                break
            judge, again[kind] = eased_judge, told
            if is_as_wanted:
                break
            tried = replace(judge, requirements=_limited(judge.requirements, kind, met.needed.value * _BELOW))
    return judge, again


def _met(judge: Judge, choice: Choice, groups: int, kind: str) -> Met | None:
    """What a cluster that passes comes to of one limit; None: it does not pass, or is not measured by it."""
    found = judge.verdict(choice, groups)
    if found.broken is not None:
        return None
    return next((met for met in found.met if met.kind == kind and met.needed.unit != "count"), None)


def _limited(wanted: Requirements, kind: str, most: float | None) -> Requirements:
    """The requirements with another time or budget; None: without that limit."""
    if kind == "money":
        return wanted.model_copy(update={"budget": most})
    if kind == "job":
        assert wanted.job is not None
        return wanted.model_copy(update={"job": wanted.job.model_copy(update={"within": most})})
    within = wanted.within.model_copy(update={kind.partition(".")[2]: most})
    return wanted.model_copy(update={"within": within})


def _eased(wanted: Requirements, met: Met) -> tuple[Requirements, str]:
    """The requirements with the time or budget that is needed, and that in words, told in full."""
    kind = "job" if met.kind == LOADER else met.kind
    if kind == "money":
        budget = math.ceil(met.needed.value)
        return _limited(wanted, kind, budget), f"a budget of {format_value(budget, met.needed.unit)}"
    limit_s = told_duration_s(met.needed.value)
    what = "the load job" if kind == "job" else kind.partition(".")[2].replace("_", " ")
    if met.allowed.value <= 0:
        # Where it cannot be done at all, no time is enough.
        return _limited(wanted, kind, None), f"no limit of {what}"
    return _limited(wanted, kind, limit_s), f"{what} within {format_value(limit_s, 's')}"


@dataclass
class _Helped:
    """What of a host lets most through, limit by limit: more that does not help costs memory and threads."""

    _best: dict[str, tuple[float, Host]] = field(default_factory=dict)

    def note(self, broken: Met, host: Host) -> None:
        """The host breaks this limit."""
        best = self._best.get(broken.kind)
        if best is None or broken.allowed.value > best[0] * (1 + EXACT):
            self._best[broken.kind] = broken.allowed.value, host

    def without(self, kind: str, choice: Choice) -> Choice:
        """The cluster without what of this kind it was given in vain."""
        if kind not in SIZES or kind not in self._best:
            return choice
        host = SIZES[kind].as_in(self._best[kind][1], choice.host)
        return choice if host == choice.host else replace(choice, host=host, is_planned=False)


def _grown(kind: str, host: Host, steps: int) -> tuple[Host, str]:
    size = SIZES[kind]
    found = HARDWARE[kind](host, 1 + (steps - EXACT) * size.step_of(host) / size.of(host))
    assert found is not None, "no more than what passed"
    return found


@dataclass
class _Least:
    """Hardware of a change that passes, brought down to the least that does."""

    judge: Judge
    begun: Host
    """Before the change."""
    choice: Choice
    """After it; then after less of it."""
    groups: int
    _known: list[tuple[Requirements, Host, bool]] = field(default_factory=list)
    """Whether it passes, by what was asked about."""

    def of(self, kind: str) -> str:
        """The least of one kind in words; empty: what else was changed is enough."""
        size, most = SIZES[kind], self.choice.host
        host = size.as_in(self.begun, most)
        # The least number of steps that passes: above what is known not to, at most what is known to.
        low, high = 0, math.ceil((size.of(most) - size.of(host)) / size.step_of(host) - EXACT)
        if high == 0 or self._passes(host):
            self.choice = replace(self.choice, host=host, is_planned=False)
            return ""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._passes(_grown(kind, host, middle)[0]) else (middle, high)
        grown, words = _grown(kind, host, high)
        self.choice = replace(self.choice, host=grown, is_planned=False)
        return words + (" at the same price" if self.judge.requirements.budget is not None else "")

    def _passes(self, host: Host) -> bool:
        wanted = self.judge.requirements
        for requirements, known, passes in self._known:
            if known == host and requirements == wanted:
                return passes
        passes = _passes(self.judge, replace(self.choice, host=host, is_planned=False), self.groups)
        self._known.append((wanted, host, passes))
        return passes


def _moved(
    judge: Judge, found: Verdict, choice: Choice, wanted: Requirements, groups: int, harder: float = 1.0
) -> _Moved | None:
    """The least that lets one limit pass; None where nothing is known to.

    `harder`: so many times more, of what was moved before and did not pass: threads come in steps of cores.
    What is too much is brought down later.
    """
    broken = found.broken
    assert broken is not None
    times = harder * (broken.nearness * _MARGIN if broken.is_ratio else _STEP)
    host, kind = choice.host, broken.kind
    if kind.startswith(_NEEDED) or (kind == LOADER and wanted.job is not None):
        eased, words = _eased(wanted, broken)
        return _Moved(choice, eased, groups, words, "job" if kind == LOADER else kind)
    if kind == PRICE:
        words = "no budget, as long as prices are not stated"
        return _Moved(choice, wanted.model_copy(update={"budget": None}), groups, words, kind)
    if kind.startswith("survive."):
        name = kind.partition(".")[2]
        left = tuple(one for one in wanted.survive if one != name)
        words = f"no {name} that may fail"
        return _Moved(choice, wanted.model_copy(update={"survive": left}), groups, words, kind)
    if kind == "version":
        return _of_version(judge, broken, choice, wanted, groups)
    if not math.isfinite(times):
        return None
    if kind == "memory" and disks_decide(judge.builder, choice):
        kind = "disk space"
    if kind == CHECK and disks_mend(judge, choice, groups):
        kind, times = "disk space", HARDEST
    new = HARDWARE[kind](host, times) if kind in HARDWARE and harder <= HARDEST else None
    if new is None:
        return _less(judge, found, choice, wanted, groups)
    machine, words = new
    if wanted.budget is not None:
        words += " at the same price"
    return _Moved(replace(choice, host=machine, is_planned=False), wanted, groups, words, kind)


def _of_version(
    judge: Judge, broken: Met, choice: Choice, wanted: Requirements, groups: int
) -> _Moved | None:
    """The first later release that takes so many data nodes, or replicas."""
    name = "replicas_most_tested" if broken.limit.startswith("replicas") else "data_nodes_most"
    for since, most in rows()[name]["values"].items():
        if release(since) > judge.begun.version and most >= broken.needed.value:
            moved = wanted.model_copy(update={"ndb_version": since})
            return _Moved(choice, moved, groups, f"NDB {since}", broken.kind)
    return None


def _less(judge: Judge, found: Verdict, choice: Choice, wanted: Requirements, groups: int) -> _Moved | None:
    """As much of the peaks as gets through where no hardware of a host lets more through."""
    broken = found.broken
    assert broken is not None
    if broken.is_simulated:
        share = judge.sustained(found) / _PEAK_MARGIN
    elif broken.kind == "nodes" or broken.needed.unit == "tx/s":
        share = 1 / (broken.nearness * _PEAK_MARGIN)
    else:
        return None
    begun, words = at_share(judge.begun, judge.loads, share)
    if sends_nothing(begun, broken.limit):
        return None
    return _Moved(choice, wanted, groups, words, "peak", begun)


def _raised(judge: Judge, choice: Choice, groups: int, most: float, told: str) -> tuple[Judge, str]:
    """Peaks that are sustained without a step of a parameter, raised as far as one lets them be.

    `most`: so many times these peaks do not pass.
    """
    low, high, share, best = 1.0, most, _PEAK_STEP, (judge, told)
    while low < share < high:
        begun, words = at_share(judge.begun, judge.loads, share)
        raised = _asking(judge, _Moved(choice, judge.requirements, groups, words, "peak", begun))
        if words != told and _passes(raised, choice, groups):
            low, best = share, (raised, words)
        elif share == _PEAK_STEP:
            break
        else:
            high = share
        share = max(math.sqrt(low * high), low * _PEAK_STEP)
    return best


def _passes(judge: Judge, choice: Choice, groups: int) -> bool:
    try:
        return judge.verdict(choice, groups).broken is None
    except UserError:
        return False
