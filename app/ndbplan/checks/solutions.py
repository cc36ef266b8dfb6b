"""Ways out of a problem that somebody has to choose between: each is tried, with what goes with it.

    edit, harm = completed(look, plan, edit)        # harm: "" or what stands against it all the same

A fix (offers.py) is what everybody would do; a solution may cost hardware, or a restart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial

from ndbplan.base.errors import UserError
from ndbplan.checks.harm import counts, harm
from ndbplan.checks.problem import Edit, Look, Problem, Severity, Solution, Solve, WaysOut
from ndbplan.edits.changes import together
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan

_MOST_ROUNDS = 4
"""Rounds of further cures until one mends everything: judgement."""


def completed(
    look: Look, plan: Plan, edit: Edit, cures: str = "", *, anywhere: bool = False
) -> tuple[Edit, str]:
    """A change with the fixes of what it brings, and the harm that is left; nothing: it may be done.

    `cures`: a rule that must find nothing any more. `anywhere`: problems are the same wherever they are, for
    a change that adds hosts (see `harm`).
    """
    before = look(plan)
    known = {(problem.rule, "" if anywhere else problem.where) for problem in before if counts(problem)}
    edits, after = [edit], edit(plan)
    for _ in range(_MOST_ROUNDS):
        problems_after = look(after)
        reason = harm(before, problems_after, anywhere=anywhere)
        brought = _fixes(problems_after, known, anywhere)
        if not reason or not brought:
            break
        edits += brought
        after = together(brought)(after)
    reason = reason or next((problem.message for problem in problems_after if problem.rule == cures), "")
    return (edits[0] if len(edits) == 1 else together(edits)), reason


def that_mend(
    look: Look, plan: Plan, ways: Iterable[Solution], rule: str, object_ids: Collection[str] = ()
) -> tuple[Solution, ...]:
    """Those that do no harm and after which a rule says nothing of these objects (none: of any)."""
    found = []
    for way in ways:
        try:
            edit, reason = completed(look, plan, way.edit, anywhere=way.buys)
            left = () if reason else look(edit(plan))
        except UserError:
            continue
        told = (p for p in left if p.rule == rule and (not object_ids or set(object_ids) & set(p.object_ids)))
        if not reason and next(told, None) is None:
            found.append(replace(way, edit=edit))
    return tuple(found)


def errors_only(look: Look) -> Look:
    """What is found, but for warnings and hints: a plan that is refused hides those that it has."""

    def errors(plan: Plan) -> list[Problem]:
        return [problem for problem in look(plan) if problem.severity is Severity.ERROR]

    return errors


def one_of(
    now: Estimation, rule: str, ways: Iterable[Solution], fix: str, object_ids: Collection[str] = ()
) -> Solve:
    """What finds those of some ways that mend and do no harm; `fix`: what is said where none does.

    A way out of an error may bring a warning.
    """
    return partial(_one_of, now, rule, tuple(ways), fix, tuple(object_ids))


def _one_of(
    now: Estimation, rule: str, ways: Sequence[Solution], fix: str, object_ids: Sequence[str], look: Look
) -> WaysOut:
    found = that_mend(look, now.plan, ways, rule, object_ids)
    if not found and any(p.rule == rule for p in errors_only(look)(now.plan)):
        found = that_mend(errors_only(look), now.plan, ways, rule, object_ids)
    return WaysOut(found, "" if found else fix)


def _fixes(found: Sequence[Problem], known: set[tuple[str, str]], anywhere: bool) -> list[Edit]:
    """The fixes of problems that were not there before."""
    new = [p for p in found if counts(p) and (p.rule, "" if anywhere else p.where) not in known]
    return list(dict.fromkeys(p.edit for p in new if p.edit is not None))


def ways_out(solutions: Sequence[Solution], otherwise: str) -> WaysOut:
    """Solutions, the one to take first, with their words; `otherwise` where there are none."""
    if not solutions:
        return WaysOut((), otherwise)
    first, *others = solutions
    words = _small(first.title)
    if others:
        words += f" (recommended: {first.why})"
    return WaysOut(tuple(solutions), ", or ".join([words, *(_small(one.title) for one in others)]))


def _small(title: str) -> str:
    """A title inside of a sentence; names of parameters stay as they are."""
    word = title.split(" ", 1)[0]
    return title if word[1:] != word[1:].lower() else title[:1].lower() + title[1:]
