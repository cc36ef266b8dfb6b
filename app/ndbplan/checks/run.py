"""All rules over a plan.

for problem in check(plan): print(problem.severity, problem.message)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from ndbplan.base.errors import UserError
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.plan.plan import Plan

TOPICS = (
    "configuration",
    "limits",
    "threads",
    "topology",
    "fragments",
    "memory",
    "pools",
    "redo",
    "disks",
    "timing",
)
"""Modules of rules, in the order in which their problems are listed."""


def load_rules() -> None:
    """Import every module of rules, so that RULES is complete."""
    for topic in TOPICS:
        import_module(f"ndbplan.checks.{topic}")


def check(plan: Plan, cancelled: Callable[[], bool] = lambda: False) -> tuple[Problem, ...]:
    """The problems of a plan that stand, worst first; empty when `cancelled` turns true meanwhile."""
    return tuple(problem for problem in check_all(plan, cancelled) if not problem.waived)


def check_all(plan: Plan, cancelled: Callable[[], bool] = lambda: False) -> tuple[Problem, ...]:
    """Like check, with the problems that a waiver of the plan accepts; those carry its reason."""
    load_rules()
    found: list[Problem] = []
    for one in RULES.values():
        if cancelled():
            return ()
        try:
            found += one.problems(plan)
        except UserError:
            # A rule that needs an estimate keeps silent where the plan is too incomplete for one; the rule
            # for the cause (a ThreadConfig that is refused, no data nodes) speaks.
            continue
    return tuple(sorted((_waived(plan, problem) for problem in found), key=lambda p: p.severity.rank))


def has_errors(problems: tuple[Problem, ...]) -> bool:
    """Whether one of them is an error."""
    return any(problem.severity is Severity.ERROR for problem in problems)


def _waived(plan: Plan, problem: Problem) -> Problem:
    for waiver in plan.waivers:
        if waiver.rule == problem.rule and waiver.object_id in (None, *problem.object_ids):
            return replace(problem, waived=waiver.reason)
    return problem
