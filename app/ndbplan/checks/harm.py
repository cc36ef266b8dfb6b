"""What a change of a plan must not do: bring a problem, make one worse, or take room that is not there.

harm(find(plan), find(edit(plan)))      # "" or the first error or warning that is new or worse
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ndbplan.checks.alike import single
from ndbplan.checks.problem import Problem, Severity

Key = tuple[str, str]
_WORSE = 1.01
"""Growth of a measure that counts as worse: measures are told apart in steps of this ratio, see `_height`."""
RULES_OF_ROOM = frozenset(
    {
        "memory-of-host",
        "memory-of-container",
        "data-memory-of-host",
        "disk-space",
        "disk-space-of-memory",
        "backups-kept",
        "fills-with-growth",
    }
)
"""Rules that say what hosts and disks have no room for."""


def harm(before: Iterable[Problem], after: Iterable[Problem], *, anywhere: bool = False) -> str:
    """What a change does that it must not: the first new or worse error or warning; nothing: it may be done.

    Problems are the same when rule and place are, with `anywhere` when the rule is; hints are no harm, nor
    what a waiver accepts.
    """
    old, new = _by_place(before, anywhere), _by_place(after, anywhere)
    for key, problems in new.items():
        was = old.get(key) or _elsewhere(problems, old, new)
        if not was or (len(problems) > len(was) and not anywhere):
            return problems[-1].message
        if min(p.severity.rank for p in problems) < min(p.severity.rank for p in was):
            return problems[0].message
        if max(_height(p) for p in problems) > max(_height(p) for p in was):
            return problems[0].message
        if not anywhere and key[0] in RULES_OF_ROOM and not _objects(problems) <= _objects(was):
            # A row may tell of many disks or hosts: one more of them is another one that has no room.
            return problems[0].message
    return ""


def _elsewhere(
    problems: list[Problem], old: dict[Key, list[Problem]], new: dict[Key, list[Problem]]
) -> list[Problem]:
    """The same words of a rule at places that are gone: what is alike is told of together, by its names.

    Nothing where they are said of more objects now.
    """
    words = {(problem.rule, problem.message) for problem in problems}
    were = [
        problem
        for key, there in old.items()
        if key not in new
        for problem in there
        if (problem.rule, problem.message) in words
    ]
    of_all = any(not problem.object_ids for problem in were)
    return were if of_all or _objects(problems) <= _objects(were) else []


def _height(problem: Problem) -> float:
    """The step of a ladder on which a measure stands.

    Steps, not ratios of two plans: changes that each are too small to count must not add up to one that does.
    """
    return math.floor(math.log(problem.measure, _WORSE)) if problem.measure > 0 else -math.inf


def _objects(problems: Iterable[Problem]) -> set[str]:
    return {object_id for problem in problems for object_id in problem.object_ids}


def _by_place(problems: Iterable[Problem], anywhere: bool) -> dict[Key, list[Problem]]:
    by_place: dict[Key, list[Problem]] = {}
    for problem in single(problems):
        if counts(problem):
            by_place.setdefault((problem.rule, "" if anywhere else problem.where), []).append(problem)
    return by_place


def counts(problem: Problem) -> bool:
    """Whether a problem does harm where it is new: hints do not, nor what a waiver accepts."""
    return not problem.waived and problem.severity is not Severity.HINT
