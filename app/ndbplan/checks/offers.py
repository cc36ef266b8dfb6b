"""Which fixes may be offered: those that mend their problem, bring no new one and do not cross another.

What a rule has in mind is only a candidate. It is offered when, after it is applied to the plan,

- what it was offered for is gone,
- no error or warning is there that was not there before, and none is worse than before (`harm`),
- every other offered fix still is offered, and does the same as before.

The last one makes clicks commute: whatever the order, the same plan comes out, and it is the one of "Fix
all". Of two candidates that cross, the one whose rule stands first is offered; the other comes, with the
value that is right then, once the first is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ndbplan.base.errors import UserError
from ndbplan.checks.alike import single
from ndbplan.checks.problem import Edit, Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.edits.changes import together, value_changes
from ndbplan.plan.plan import Plan

Find = Callable[[Plan], Sequence[Problem]]
_WORSE = 1.01
"""Growth of a measure that counts as worse."""
_SINGLY_UP_TO = 12
"""Problems that are tried one by one when their fixes cannot all be done together."""
_RULES_OF_ROOM = frozenset(
    {
        "memory-of-host",
        "data-memory-of-host",
        "disk-space",
        "disk-space-of-memory",
        "backups-kept",
        "fills-with-growth",
    }
)
"""Rules that say what hosts and disks have no room for."""
_ROOM = "no room: "
Key = tuple[str, str]


def harm(before: Iterable[Problem], after: Iterable[Problem], *, anywhere: bool = False) -> str:
    """What a change does that it must not: the first new or worse error or warning; nothing: it may be done.

    Problems are the same when rule and place are, with `anywhere` when the rule is; hints are no harm, nor
    what a waiver accepts.
    """
    old, new = _by_place(before, anywhere), _by_place(after, anywhere)
    for key, problems in new.items():
        was = old.get(key, [])
        if not was or (len(problems) > len(was) and not anywhere):
            return problems[-1].message
        if min(p.severity.rank for p in problems) < min(p.severity.rank for p in was):
            return problems[0].message
        most = max(p.measure for p in was)
        if any(p.measure > most * _WORSE for p in problems):
            return problems[0].message
    return ""


def _by_place(problems: Iterable[Problem], anywhere: bool) -> dict[Key, list[Problem]]:
    found: dict[Key, list[Problem]] = {}
    for problem in single(problems):
        if _counts(problem):
            found.setdefault((problem.rule, "" if anywhere else problem.where), []).append(problem)
    return found


def _counts(problem: Problem) -> bool:
    return not problem.waived and problem.severity is not Severity.HINT


@dataclass(eq=False)
class _Candidate:
    """What one rule would do about its problems, and the problems of the plan after that.

    Rules whose fixes touch nothing that others look at are tried as one.
    """

    problems: list[Problem]
    edit: Edit
    before: Plan
    plan: Plan
    after: Sequence[Problem]


def with_offers(plan: Plan, problems: Sequence[Problem], find: Find) -> list[Problem]:
    """The problems; those keep their edit whose fix may be offered. `find` gives the problems of a plan."""
    wanted: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.edit is not None and not problem.waived:
            wanted.setdefault(problem.rule, []).append(problem)
    if not wanted:
        return list(problems)
    refused: dict[int, str] = {}
    candidates: list[_Candidate] = []
    alone = [problem for name, rule in RULES.items() if rule.alone for problem in wanted.pop(name, ())]
    for group in (alone, *(wanted[name] for name in RULES if name in wanted)):
        found = _candidate(plan, problems, group, find, refused) if group else None
        if found is not None:
            candidates.append(found)
    offered = _without_crossings(candidates)
    offered = _all_at_once(plan, problems, offered, find, refused)
    kept = {id(problem) for candidate in offered for problem in candidate.problems}
    return [
        p
        if p.edit is None or id(p) in kept or p.waived
        else _cured_along(p, offered) or _withheld(p, refused.get(id(p), ""))
        for p in problems
    ]


def _cured_along(problem: Problem, offered: Iterable[_Candidate]) -> Problem | None:
    """The problem with the fix of another one of its rule, when that one mends it too."""
    for candidate in offered:
        for other in candidate.problems:
            if other.rule == problem.rule and _key(problem) not in {_key(p) for p in candidate.after}:
                return replace(problem, edit=other.edit, fix=other.fix)
    return None


def _withheld(problem: Problem, reason: str) -> Problem:
    fix = problem.fix
    if fix and reason.startswith(_ROOM):
        fix = f"make room first ({reason.removeprefix(_ROOM)}), then {fix}"
    elif fix and reason:
        fix = f"{fix}; by itself that is not enough here: {reason}"
    return replace(problem, edit=None, fix=fix)


def _candidate(
    plan: Plan, before: Sequence[Problem], wanted: list[Problem], find: Find, refused: dict[int, str]
) -> _Candidate | None:
    wanted = _without_contradictions(plan, wanted)
    if not wanted:
        return None
    whole, reason = _tried(plan, before, wanted, find)
    if whole is not None or len(wanted) == 1 or len(wanted) > _SINGLY_UP_TO:
        refused.update({id(problem): reason for problem in wanted if whole is None})
        return whole
    good = []
    for problem in wanted:
        one, reason = _tried(plan, before, [problem], find)
        if one is None:
            refused[id(problem)] = reason
        else:
            good.append(problem)
    return _tried(plan, before, good, find)[0] if good else None


def _without_contradictions(plan: Plan, wanted: list[Problem]) -> list[Problem]:
    """Problems whose fixes give no value twice; of two that do, the first."""
    if len({problem.edit for problem in wanted}) < 2:
        return wanted
    given: dict[tuple[str, str], object] = {}
    kept = []
    for problem in wanted:
        assert problem.edit is not None
        try:
            changes = value_changes(plan, problem.edit(plan))
        except UserError:
            continue
        if all(given.get((c.scope, c.name), c.after) == c.after for c in changes):
            given.update({(c.scope, c.name): c.after for c in changes})
            kept.append(problem)
    return kept


def _tried(
    plan: Plan, before: Sequence[Problem], wanted: list[Problem], find: Find
) -> tuple[_Candidate | None, str]:
    """The candidate that mends these problems, or why it may not."""
    edit: Edit = together(problem.edit for problem in wanted)
    try:
        changed = edit(plan)
    except UserError as error:
        return None, error.line
    if changed is plan:
        return None, ""
    after = find(changed)
    gone = Counter(_finding(p) for p in before)
    gone.subtract(_finding(p) for p in after)
    if any(gone[key] < count for key, count in Counter(_finding(p) for p in wanted).items()):
        return None, ""
    reason = harm(before, after)
    if reason and any(p.message == reason and p.rule in _RULES_OF_ROOM for p in after):
        reason = _ROOM + reason
    return (None, reason) if reason else (_Candidate(wanted, edit, plan, changed, after), "")


def _key(problem: Problem) -> Key:
    return (problem.rule, problem.where)


def _finding(problem: Problem) -> tuple[str, str, Severity]:
    return (problem.rule, problem.where, problem.severity)


def _without_crossings(candidates: list[_Candidate]) -> list[_Candidate]:
    kept: list[_Candidate] = []
    for candidate in candidates:
        if not any(_changes(candidate, other) or _changes(other, candidate) for other in kept):
            kept.append(candidate)
    return kept


def _changes(one: _Candidate, other: _Candidate) -> bool:
    """Whether after `one` the fix of `other` would be another one, or none though it is not done yet."""
    there: dict[Key, list[Edit]] = {}
    for problem in one.after:
        if problem.edit is not None:
            there.setdefault(_key(problem), []).append(problem.edit)
    for problem in other.problems:
        edit = problem.edit
        assert edit is not None
        now = there.get(_key(problem), [])
        try:
            if edit in now or any(_values(other.before, edit) == _values(one.plan, each) for each in now):
                continue
            if edit(one.plan) is not one.plan:
                return True
        except UserError:
            return True
    return False


def _values(plan: Plan, edit: Edit) -> set[tuple[str, str, str]]:
    """What a fix sets, for fixes that are written as functions and cannot be compared themselves."""
    return {(c.scope, c.name, str(c.after)) for c in value_changes(plan, edit(plan))}


def _all_at_once(
    plan: Plan,
    before: Sequence[Problem],
    candidates: list[_Candidate],
    find: Find,
    refused: dict[int, str],
) -> list[_Candidate]:
    """Those that may be done one after the other: what two need together may be more than there is."""
    if len(candidates) < 2:
        return candidates
    kept = candidates
    if not _is_good(plan, before, candidates, find):
        kept = []
        for candidate in candidates:
            if not kept or _is_good(plan, before, [*kept, candidate], find):
                kept.append(candidate)
    while len(kept) > 1 and any(_moves_a_measure(before, candidate) for candidate in kept):
        # What makes a full host fuller by a little must not hide behind what empties it.
        after = _found_after(plan, kept, find)
        tried = [c for c in reversed(kept) if not RULES[c.problems[0].rule].alone]
        worse = next((c for c in tried if harm(_without(plan, kept, c, find), after)), None)
        if worse is None:
            break
        kept = [k for k in kept if k is not worse]
    for candidate in candidates:
        if candidate not in kept:
            refused.update({id(p): "with the other fixes it does not fit" for p in candidate.problems})
    return kept


def _without(plan: Plan, kept: list[_Candidate], one: _Candidate, find: Find) -> Sequence[Problem]:
    return _found_after(plan, [candidate for candidate in kept if candidate is not one], find)


def _moves_a_measure(before: Sequence[Problem], candidate: _Candidate) -> bool:
    def measures(problems: Sequence[Problem]) -> dict[Key, float]:
        return {_key(p): p.measure for p in problems if p.measure and not p.waived}

    return measures(before) != measures(candidate.after)


def _found_after(plan: Plan, candidates: Iterable[_Candidate], find: Find) -> Sequence[Problem]:
    for candidate in candidates:
        plan = candidate.edit(plan)
    return find(plan)


def _is_good(plan: Plan, before: Sequence[Problem], candidates: Sequence[_Candidate], find: Find) -> bool:
    try:
        for candidate in candidates:
            plan = candidate.edit(plan)
    except UserError:
        return False
    after = find(plan)
    left = Counter(_finding(p) for p in after)
    was = Counter(_finding(p) for p in before)
    wanted = Counter(_finding(p) for candidate in candidates for p in candidate.problems)
    return not harm(before, after) and all(left[key] <= was[key] - count for key, count in wanted.items())
