"""All rules over a plan.

for problem in check(plan): print(problem.severity, problem.message)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.kept import keeping, kept_by_value
from ndbplan.checks.alike import one_per_cause
from ndbplan.checks.offers import with_offers
from ndbplan.checks.problem import Edit, Look, Problem, Severity, Solution, WaysOut
from ndbplan.checks.rule import RULES, Rule, failure
from ndbplan.checks.way import Find
from ndbplan.edits.changes import credited
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.origins import SetByProgram
from ndbplan.plan.plan import Plan, Waiver

TOPICS = (
    "refused.configuration",
    "refused.limits",
    "refused.nodes_and_hosts",
    "refused.obsolete",
    "refused.tables",
    "refused.table_options",
    "refused.connections",
    "refused.management",
    "refused.threads",
    "refused.coerced",
    "unwise.topology",
    "unwise.one_machine",
    "unwise.ports",
    "unwise.what_may_fail",
    "unwise.comes_back",
    "unwise.fragments",
    "unwise.memory",
    "unwise.pools",
    "unwise.clients",
    "unwise.busy",
    "unwise.redo",
    "unwise.written_files",
    "unwise.disks",
    "unwise.disk_space",
    "unwise.timing",
    "unwise.calibrations",
)
"""Modules of rules, in the order in which their problems are listed."""


@cache
def load_rules() -> None:
    """Import every module of rules, so that RULES is complete and in the order of TOPICS."""
    for topic in TOPICS:
        import_module(f"ndbplan.checks.{topic}")
    # Modules of rules import one another, and others import them: whoever comes first must not matter.
    place = {topic.rpartition(".")[2]: number for number, topic in enumerate(TOPICS)}
    ordered = sorted(RULES.values(), key=lambda rule: place.get(rule.topic, len(place)))
    RULES.clear()
    RULES.update((rule.name, rule) for rule in ordered)


NOTHING_FOUND = "no change that was tried mends it without bringing another problem"


def _never() -> bool:
    return False


def check(plan: Plan, cancelled: Callable[[], bool] = _never) -> tuple[Problem, ...]:
    """The problems of a plan that stand, worst first; empty when `cancelled` turns true meanwhile.

    The edit of a problem is one that may be applied as it is: it mends the problem and brings no new one.
    """
    return tuple(problem for problem in check_all(plan, cancelled) if not problem.waived)


def check_all(plan: Plan, cancelled: Callable[[], bool] = _never) -> tuple[Problem, ...]:
    """Like check, with the problems that a waiver of the plan accepts; those carry its reason."""

    look = _look(cancelled)
    with keeping():
        seen = _seen()
        if seen.last is not None and _differs_in_places_only(seen.last[0], plan):
            return seen.last[1]
        result = tuple(_solved(_rows(plan, look), look))
        if cancelled():
            return ()
        seen.last = (plan, result)
        return result


def standing(plan: Plan, cancelled: Callable[[], bool] = _never) -> tuple[Problem, ...]:
    """The problems that `check` finds, without the search for their ways out."""
    with keeping():
        return tuple(problem for problem in _rows(plan, _look(cancelled)) if not problem.waived)


def _look(cancelled: Callable[[], bool]) -> Find:
    def look(of: Plan, rules: Iterable[Rule] | None = None) -> Sequence[Problem]:
        now = Estimation(of)
        return _problems_of(now, cancelled) if rules is None else _asked(now, rules, cancelled)

    return look


def _rows(plan: Plan, look: Find) -> list[Problem]:
    """One for each cause, with the edits that may be applied as they are."""
    return one_per_cause(plan, map(in_words, _offered(plan, look)))


def found_errors(plan: Plan, cancelled: Callable[[], bool] = _never) -> list[Problem]:
    """The errors that `find` finds, waived ones too, without the fixes that take a search."""
    load_rules()
    with keeping():
        now = Estimation(plan)

        def work_out() -> list[Problem]:
            found = _asked(now, RULES.values(), cancelled, cured=False)
            if cancelled():
                raise Cancelled
            return [problem for problem in found if problem.severity is Severity.ERROR]

        try:
            return now.kept.answer(found_errors, _KEPT_ERRORS, (plan,), None, work_out)
        except Cancelled:
            return []


def first_fixes(plan: Plan, cancelled: Callable[[], bool] = _never) -> Iterator[tuple[Problem, Edit]]:
    """Of each rule with errors that stand the first one, with the edit that the rule has in mind if it has.

    For whoever judges what an edit does: no other rule is asked about it here.
    """
    done: set[str] = set()
    with keeping():
        for found in found_errors(plan, cancelled):
            if found.rule in done or found.waived:
                continue
            done.add(found.rule)
            problem = RULES[found.rule].cured(found) if found.rule in RULES else found
            if problem.edit is not None:
                yield problem, problem.edit


def find(plan: Plan, cancelled: Callable[[], bool] = _never) -> list[Problem]:
    """Every problem with the edit that its rule has in mind, whatever else that would do; worst first.

    One by one: not yet one row for each cause.
    """
    with keeping():
        return [in_words(problem) for problem in _problems_of(Estimation(plan), cancelled)]


def _offered(plan: Plan, look: Find) -> Sequence[Problem]:
    """The problems with the edits that may be applied as they are; with none when that search fails."""
    problems = look(plan)
    try:
        return with_offers(plan, problems, look)
    except Cancelled:
        raise
    except UserError:
        # A plan that is refused (a ThreadConfig, say) has no figures to judge an edit by; a rule says why.
        return [replace(problem, edit=None) for problem in problems]
    except Exception as fault:  # noqa: BLE001 — what was found is worth more than its ways out
        return [failure("offers", fault), *(replace(problem, edit=None) for problem in problems)]


def in_words(problem: Problem) -> Problem:
    """The problem with the words of its fix, whatever search they take."""
    try:
        return problem.cured().told()
    except Cancelled:
        raise
    except UserError as error:
        return replace(problem, advice=None, fix=error.line)
    except Exception as fault:  # noqa: BLE001 — what was found is worth more than its ways out
        # Better the finding without its way out than none at all.
        return replace(problem, advice=None, fix=failure(problem.rule, fault).message)


def _solved(problems: Iterable[Problem], look: Look) -> Iterator[Problem]:
    """The problems with their ways out; those that are solved together are searched for once."""
    solved: dict[int, WaysOut] = {}
    for problem in problems:
        solve = problem.solve
        if solve is None or problem.waived or problem.edit is not None:
            yield problem
            continue
        try:
            ways = solved[id(solve)] if id(solve) in solved else solved.setdefault(id(solve), solve(look))
            solutions = tuple(_credited(way, problem.rule) for way in ways.solutions)
            fix = ways.fix or problem.fix
            missing = "" if solutions else problem.missing or fix or NOTHING_FOUND
            yield replace(problem, solutions=solutions, fix=fix, missing=missing, solve=None)
        except Cancelled:
            raise
        except UserError as error:
            yield replace(problem, solve=None, missing=error.line)
        except Exception as fault:  # noqa: BLE001 — what was found is worth more than its ways out
            yield replace(problem, solve=None, fix=failure(problem.rule, fault).message)


def _credited(way: Solution, rule: str) -> Solution:
    """The way out, which says of the parameters it sets that the rule did."""
    origin, edit = SetByProgram(rule=rule, reason=way.title), way.edit
    return replace(way, edit=lambda plan: credited(plan, edit(plan), origin))


_KEPT_ERRORS = 8
_KEPT_PLANS = 64
"""Plans looked at last whose problems are known: fixes lead to the same plan in many ways."""


@dataclass
class _Seen:
    """What was found for whoever keeps answers."""

    last: tuple[Plan, tuple[Problem, ...]] | None = None
    """The plan checked to the end, and its problems: a drag on the canvas changes none of them."""


@kept_by_value(1)
def _seen() -> _Seen:
    return _Seen()


def _problems_of(now: Estimation, cancelled: Callable[[], bool]) -> Sequence[Problem]:
    """Like find, without the words that take a search; nothing when `cancelled` turns true meanwhile."""

    def work_out() -> Sequence[Problem]:
        load_rules()
        problems = _asked(now, RULES.values(), cancelled)
        if cancelled():
            raise Cancelled
        return problems

    try:
        return now.kept.answer(_problems_of, _KEPT_PLANS, (now.plan,), None, work_out)
    except Cancelled:
        return ()


def _asked(
    now: Estimation, rules: Iterable[Rule], cancelled: Callable[[], bool], *, cured: bool = True
) -> list[Problem]:
    """What these rules find, worst first; `cured`: with fixes that take a search."""
    problems: list[Problem] = []
    for one in rules:
        if cancelled():
            return []
        try:
            problems += one.problems(now, cured=cured)
        except UserError:
            # A rule that needs an estimate keeps silent where the plan is too incomplete for one; the rule
            # for the cause (a ThreadConfig that is refused, no data nodes) speaks.
            continue
    return sorted((_waived(now.plan, problem) for problem in problems), key=lambda p: p.severity.rank)


def _differs_in_places_only(before: Plan, after: Plan) -> bool:
    """Whether two plans are the same but for positions on the canvas."""
    for name in Plan.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if old is new:
            continue
        if name not in ("hosts", "locations", "processes") or len(old) != len(new):
            return False
        for one, other in zip(old, new, strict=True):
            if one is not other and not _stands_elsewhere(one, other):
                return False
    return True


def _stands_elsewhere(one: Any, other: Any) -> bool:
    """Whether two parts are the same but for their positions."""
    drawn = {name: getattr(one, name) for name in ("position", "slot") if hasattr(one, name)}
    return bool(drawn) and one == other.model_copy(update=drawn)


def has_errors(problems: tuple[Problem, ...]) -> bool:
    """Whether one of them is an error."""
    return any(problem.severity is Severity.ERROR for problem in problems)


RETIRED = {
    "node-group-host": "what-may-fail",
    "node-group-location": "what-may-fail",
    "arbitrator-host": "what-may-fail",
    "arbitrator-location": "what-may-fail",
    "send-buffers-fit": "servers-fit",
}
"""Rules that are gone, and the one that says what they said: waivers of plans name them still."""


def waiver_of(plan: Plan, problem: Problem) -> Waiver | None:
    """The waiver that accepts a problem, if there is one."""
    for waiver in plan.waivers:
        if problem.rule in (waiver.rule, RETIRED.get(waiver.rule)) and waiver.object_id in (
            None,
            *problem.object_ids,
        ):
            return waiver
    return None


def _waived(plan: Plan, problem: Problem) -> Problem:
    waiver = waiver_of(plan, problem)
    return problem if waiver is None else replace(problem, waived=waiver.reason)
