"""Which fixes may be offered: those that mend their problem, bring no new one and do not cross another.

What a rule has in mind is only a candidate. There is one way from a plan to the plan that is fixed: the
rules take turns in their order, and each does what it has in mind in the plan that it then finds, when that
mends its problem and harms nothing (`harm`), until none has anything left to do. What is offered are parts
of that way:

- a step that does no harm by itself, and changes nothing that another step does, is offered as it is,
- other steps belong together: they are one edit, offered for each problem that it mends.

So clicks commute, "Fix all" ends where they end, and once is enough: no way leads on from its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations

from ndbplan.base.errors import UserError
from ndbplan.base.units import how_many
from ndbplan.checks.harm import RULES_OF_ROOM, harm
from ndbplan.checks.problem import Edit, Problem, Solve
from ndbplan.checks.unwise.bought_room import with_room
from ndbplan.checks.way import (
    ROOM,
    SINGLY_UP_TO,
    Find,
    Finding,
    Step,
    Trials,
    finding,
    fixes_by_rule,
    has_fix,
)
from ndbplan.edits.changes import (
    FreeApiSlots,
    KeepLinks,
    SetField,
    SetParameter,
    SetRole,
    Together,
    value_changes,
)
from ndbplan.plan.plan import Plan

Change = tuple[str, str, str]
Seen = tuple[object, ...]
_MOST_SEARCHES = 8
"""Fixes that do harm by themselves for which is looked what goes with them: each asks all rules again."""
_TOLD = 3
"""Changes that the words of a fix name."""


def with_offers(plan: Plan, problems: Sequence[Problem], find: Find) -> list[Problem]:
    """The problems; those keep an edit whose fix may be offered.

    `find` gives what all rules find in a plan, or only those that are given to it.
    """
    if not any(has_fix(problem) for problem in problems):
        return list(problems)
    trials = Trials(find)
    offers: dict[int, Problem] = {}
    for part in _parts(plan, problems, list(trials.way(plan, problems)), trials):
        if len(part.steps) == 1 and not part.alone:
            part.try_halves(problems, find)
        for problem, with_fix in part.mended(problems):
            offers.setdefault(id(problem), with_fix)
    solved: dict[tuple[str, int], Solve] = {}
    return [
        offers[id(p)] if id(p) in offers else _withheld(plan, p, trials.refused, solved) if has_fix(p) else p
        for p in problems
    ]


@dataclass(frozen=True, eq=False)
class _Way:
    """Steps of a way as one edit; where it was gone already, nothing more is done."""

    plan: Plan
    steps: tuple[Step, ...]

    def __call__(self, plan: Plan) -> Plan:
        return (
            plan
            if plan is not self.plan and self._changes <= _differences(self.plan, plan)
            else self._go(plan)
        )

    def _go(self, plan: Plan) -> Plan:
        for step in self.steps:
            plan = step.edit(plan)
        return plan

    @cached_property
    def _changes(self) -> frozenset[Change]:
        return _differences(self.plan, self._go(self.plan))


class _Part:
    """Steps of a way that belong together, as one edit."""

    def __init__(self, plan: Plan, steps: Sequence[Step]) -> None:
        self.plan = plan
        self.steps = tuple(steps)
        self.names = {step.name for step in steps}
        self.alone = all(step.alone for step in steps)
        self.touched: set[str] = set()
        """Other rules that find something else after its steps."""
        self.moved: set[str] = set()
        """Those of them that would do something else."""
        self.quiet = True
        """Whether other rules say the same after it, to the word: then so they do after a part of a step."""
        self.halves = True
        """Whether each fix of its one step does by itself what it does with the others of its rule."""
        self.after: Sequence[Problem] | None = None
        """The problems of the plan after it alone; None: those it mends are gone, and nothing else."""

    @cached_property
    def edit(self) -> Edit:
        """All steps as one edit."""
        return self.steps[0].edit if len(self.steps) == 1 else _Way(self.plan, self.steps)

    @cached_property
    def values(self) -> set[tuple[str, str]]:
        """The values that its steps set."""
        changed = (_differences(step.before, step.plan) for step in self.steps)
        return {(scope, name) for each in changed for scope, name, _ in each}

    def look(self, plan: Plan, before: Sequence[Problem], other: Plan, after: Sequence[Problem]) -> None:
        """Note which other rules find, or would do, something else in another plan."""
        if after is not before:
            self.touched |= _rules_of(_told(before), _told(after)) - self.names
            self.quiet &= _rules_of(_words_of(before), _words_of(after)) <= self.names
            self.moved |= _rules_of(_wanted(plan, before), _wanted(other, after)) - self.names

    def meets(self, other: _Part) -> bool:
        """Whether one changes what the other does, or both the same value."""
        return bool(self.names & other.moved or other.names & self.moved or self.values & other.values)

    def brushes(self, other: _Part) -> bool:
        """Whether one changes what the other's rules find, or both what a third one finds."""
        return bool(self.touched & (other.touched | other.names) or other.touched & self.names)

    def try_halves(self, problems: Sequence[Problem], find: Find) -> None:
        """Note whether each fix of its one step does no harm by itself, and leaves the others what they do.

        Fixes that give the same value of several objects may hide what one of them does alone; a fix that
        takes room may send another one elsewhere.
        """
        edits = list(dict.fromkeys(problem.edit for problem in self.steps[0].problems))
        if len(edits) == 1 or self.touched or not self.quiet:
            self.halves = len(edits) == 1 and not self.touched
            return
        names = Counter(name for _, name in self.values)
        near = max(names.values(), default=0) > 1 or bool(self.names & RULES_OF_ROOM)
        if near and len(edits) <= SINGLY_UP_TO:
            self.halves = all(self._stands(edit, problems, find) for edit in edits if edit is not None)

    def _stands(self, edit: Edit, problems: Sequence[Problem], find: Find) -> bool:
        """Whether one fix of its one step does no harm alone, and what the rule would do else is the same."""
        plan = edit(self.plan)
        after = find(plan)
        others = [problem for problem in self.steps[0].problems if problem.edit is not edit]
        left = _wanted(plan, [problem for problem in after if problem.rule in self.names])
        return not harm(problems, after) and not _wanted(self.plan, others) - left

    def mended(self, problems: Sequence[Problem]) -> Iterator[tuple[Problem, Problem]]:
        """The problems that it mends, each with the one that takes its place: that has its fix."""
        own: dict[Finding, list[Problem]] = {}
        if self.after is None or (self.halves and len(self.steps) == 1):
            for problem in self.steps[0].problems:
                own.setdefault(finding(problem), []).append(problem)
        gone = Counter(finding(p) for p in problems)
        gone.subtract(finding(p) for p in self.after or ())
        words = self._words()
        for problem in problems:
            key = finding(problem)
            if not has_fix(problem) or gone[key] <= 0:
                continue
            if own.get(key):
                fix = own[key].pop(0)
                yield problem, replace(problem, edit=fix.edit, fix=fix.fix)
            elif self.after is not None and not own:
                yield problem, replace(problem, edit=self.edit, fix=words or self._own_words(problem))
            else:
                continue
            gone[key] -= 1

    def _words(self) -> str:
        """What fixes that belong together do: the changes; nothing: it is one fix that has its own words."""
        if len({problem.edit for step in self.steps for problem in step.problems}) == 1:
            return ""
        lines = [change.line for change in value_changes(self.plan, self.edit(self.plan))]
        left = len(lines) - _TOLD
        more = f", and {how_many(left, 'more change')}" if left > 0 else ""
        words = f"{'; '.join(lines[:_TOLD])}{more}"
        return f"together: {words}" if len(lines) > 1 else words

    def _own_words(self, problem: Problem) -> str | None:
        """What its one fix is called by the rule that has it in mind: another one would do something else."""
        owners = [owner for step in self.steps for owner in step.problems]
        return (
            next((p for p in owners if p is problem or finding(p) == finding(problem)), owners[0]).told().fix
        )


def _parts(plan: Plan, problems: Sequence[Problem], way: list[Step], trials: Trials) -> list[_Part]:
    """The way in parts that can be gone in any order, each harmless by itself; the whole way, if need be."""
    parts = [_Part(plan, [step]) for step in way]
    for part in parts:
        if not part.alone:
            step = part.steps[0]
            part.look(step.before, step.stood, step.plan, step.after)
    known = {(step,): step.after for step in way[:1]} | {tuple(way): way[-1].after for _ in way[:1]}
    while True:
        parts = _joined(plan, way, parts)
        if len(parts) > 1 and not _commute(plan, way[-1].plan, parts):
            parts = _all_joined(plan, way, parts)
            continue
        for part in [part for part in parts if not part.alone and part.after is None]:
            if part.steps not in known:
                known[part.steps] = trials.find(part.edit(plan))
            part.after = known[part.steps]
            part.look(plan, problems, part.edit(plan), part.after)
            if len(parts) > 1 and (
                harm(problems, part.after) or _leads_astray(part, parts, way[-1].plan, trials)
            ):
                parts = _wider(plan, way, parts, part)
                break
        else:
            if any(one.meets(other) for one, other in combinations(parts, 2)):
                continue
            bad = _harmful_backwards(plan, problems, parts, trials.find) if len(parts) > 1 else None
            if bad is None:
                return parts
            parts = _wider(plan, way, parts, bad)


def _leads_astray(part: _Part, parts: list[_Part], end: Plan, trials: Trials) -> bool:
    """Whether after this part alone a rule that does nothing on the whole way leads to another end."""
    assert part.after is not None
    if not part.touched:
        return False
    known = {name for each in parts for name in each.names}
    plan = part.edit(part.plan)
    if all(
        name in known or trials.step(plan, part.after, (name, group)) is None
        for name, group in fixes_by_rule(plan, part.after)
    ):
        return False
    *_, last = trials.way(plan, part.after)
    return bool(value_changes(last.plan, end))


def _harmful_backwards(
    plan: Plan, problems: Sequence[Problem], parts: list[_Part], find: Find
) -> _Part | None:
    """A part that does harm after all that come later on the way: one may hide what another takes."""
    before = problems
    for part in [part for part in reversed(parts) if not part.alone]:
        plan = part.edit(plan)
        after = part.after if before is problems and part.after is not None else find(plan)
        if harm(before, after):
            return part
        before = after
    return None


def _joined(plan: Plan, way: list[Step], parts: list[_Part]) -> list[_Part]:
    """The parts; those that meet are one."""
    kept: list[_Part] = []
    for part in parts:
        one = part
        while (other := next((other for other in kept if other.meets(one)), None)) is not None:
            kept.remove(other)
            one = _as_one(plan, way, [other, one])
        kept.append(one)
    return kept


def _wider(plan: Plan, way: list[Step], parts: list[_Part], part: _Part) -> list[_Part]:
    """The parts, one of which cannot stand by itself: it is one with those that it brushes, or all are."""
    near = [other for other in parts if other is part or other.brushes(part)]
    if len(near) == 1:
        return _all_joined(plan, way, parts)
    return [*(other for other in parts if other not in near), _as_one(plan, way, near)]


def _all_joined(plan: Plan, way: list[Step], parts: list[_Part]) -> list[_Part]:
    """One part beside what stands alone; one part at all when there was no more than that."""
    alone = [part for part in parts if part.alone] if sum(not part.alone for part in parts) > 1 else []
    return [*alone, _as_one(plan, way, [part for part in parts if part not in alone])]


def _as_one(plan: Plan, way: list[Step], parts: list[_Part]) -> _Part:
    steps = {step for part in parts for step in part.steps}
    one = _Part(plan, [step for step in way if step in steps])
    one.touched = {name for part in parts for name in part.touched} - one.names
    one.quiet = all(part.quiet for part in parts)
    one.moved = {name for part in parts for name in part.moved} - one.names
    return one


def _commute(plan: Plan, end: Plan, parts: list[_Part]) -> bool:
    """Whether the parts lead to the end of the way in their order and in the opposite one."""
    try:
        for order in (parts, parts[::-1]):
            done = plan
            for part in order:
                done = part.edit(done)
            if value_changes(end, done):
                return False
    except UserError:
        return False
    return True


def _rules_of(before: Counter[Seen], after: Counter[Seen]) -> set[str]:
    """Rules of which something else is seen."""
    return {str(seen[0]) for seen in before.keys() | after.keys() if before[seen] != after[seen]}


def _told(problems: Iterable[Problem]) -> Counter[Seen]:
    """What rules find, to compare."""
    return Counter((p.rule, p.where, p.severity, p.measure) for p in problems)


def _words_of(problems: Iterable[Problem]) -> Counter[Seen]:
    """What rules say, to compare."""
    return Counter((p.rule, p.where, p.severity, p.message) for p in problems)


def _wanted(plan: Plan, problems: Iterable[Problem]) -> Counter[Seen]:
    """What rules would do, to compare."""
    return Counter((p.rule, p.where, p.severity, _values(plan, p.edit)) for p in problems if has_fix(p))


def _values(plan: Plan, edit: Edit | None) -> object:
    """What a fix sets: the edit where it says so itself, what it does here where it is a function."""
    if _is_plain(edit):
        return edit
    try:
        return _differences(plan, plan if edit is None else edit(plan))
    except UserError as error:
        return error.line


def _is_plain(edit: object) -> bool:
    if isinstance(edit, Together):
        return all(_is_plain(change) for change in edit.changes)
    return isinstance(edit, SetParameter | SetField | SetRole | KeepLinks | FreeApiSlots)


def _differences(before: Plan, after: Plan) -> frozenset[Change]:
    return frozenset((c.scope, c.name, str(c.after)) for c in value_changes(before, after))


def _withheld(
    plan: Plan, problem: Problem, refused: Mapping[Finding, str], solved: dict[tuple[str, int], Solve]
) -> Problem:
    """Without the fix, which does harm by itself; `solved`: searches for what goes with one, by fix."""
    solve, key = problem.solve, (problem.rule, id(problem.edit))
    if solve is None and (key in solved or len(solved) < _MOST_SEARCHES):
        solve = solved.setdefault(key, partial(with_room, plan, problem))
    fix, reason = problem.fix, refused.get(finding(problem), "")
    if fix and reason.startswith(ROOM):
        fix = f"make room first ({reason.removeprefix(ROOM)}), then {fix}"
    elif fix and reason:
        fix = f"{fix}; by itself that is not enough here: {reason}"
    missing = reason.removeprefix(ROOM) or "what it would do is not allowed here"
    return replace(problem, edit=None, fix=fix, missing=missing, solve=solve)
