"""How a rule is written: a function of a plan's estimates that yields problems, registered under its name.

@rule("single-replica", "There is one copy of the data only")
def single_replica(now: Estimation) -> Iterator[Problem]:
    if no_of_replicas(now.plan) == 1:
        yield warning("cluster", "NoOfReplicas is 1; ...")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from ndbplan.base.errors import Cancelled, UserError, readable
from ndbplan.checks.alike import once_of_all
from ndbplan.checks.problem import Edit, Problem, Severity
from ndbplan.edits.changes import by_program
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.origins import SetByProgram
from ndbplan.plan.plan import Plan

RuleFunction = Callable[[Estimation], Iterator[Problem]]
"""Of the estimates of a plan without load."""


@dataclass(frozen=True)
class Rule:
    """One named rule."""

    name: str
    title: str
    """What is wrong where it finds something."""
    topic: str
    find: RuleFunction
    refused: bool = False
    """Whether ndb_mgmd refuses a configuration that breaks it."""
    alone: Callable[[Plan, Problem], bool] | None = None
    """Whether its fix of a problem changes only what no other rule looks at, and takes neither memory nor
    disk; None: no fix of it does."""

    def problems(self, now: Estimation, *, cured: bool = True) -> list[Problem]:
        """What the rule finds, under its name; a rule that fails says so in one problem more.

        `cured`: with fixes that take a search. UserError for a plan that is too incomplete for the rule.
        """
        told: list[Problem] = []
        # Fixes that are one object stay one: they are told apart by that.
        edits: dict[int, tuple[Edit | None, Edit | None]] = {}
        try:
            for found in self.find(now):
                problem = found.cured() if cured else found
                edit = edits.setdefault(id(problem.edit), (problem.edit, self._credited(problem.edit)))[1]
                told.append(replace(problem, rule=self.name, edit=edit))
        except (UserError, Cancelled):
            raise
        except Exception as fault:  # noqa: BLE001 — one rule must not silence the others
            told.append(failure(self.name, fault))
        return once_of_all(now.plan, told)

    def cured(self, found: Problem) -> Problem:
        """A problem that was found without its fix, with it."""
        if found.cure is None:
            return found
        problem = found.cured()
        return replace(problem, edit=self._credited(problem.edit))

    def _credited(self, edit: Edit | None) -> Edit | None:
        """The fix, which says of the parameters it sets that this rule did."""
        credited: Edit | None = by_program(edit, SetByProgram(rule=self.name, reason=self.title))
        return credited


def failure(rule: str, fault: Exception) -> Problem:
    """The problem that says that a rule of ours failed, and that the others have answered all the same."""
    shown = f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__
    return Problem(
        rule,
        Severity.WARNING,
        "ndbplan",
        f"the rule {rule} failed ({readable(' '.join(shown.split()), 200)}): a fault of the program; what "
        "it looks at is not checked, the other rules have answered",
        "report it with the plan",
        missing="nothing of the plan: the program is at fault",
    )


RULES: dict[str, Rule] = {}
"""Every rule by name, in the order in which the modules define them."""


def rule(
    name: str, title: str, *, refused: bool = False, alone: bool | Callable[[Plan, Problem], bool] = False
) -> Callable[[RuleFunction], RuleFunction]:
    """Decorator: register a function as the rule `name`; `refused`: ndb_mgmd refuses what breaks it.

    `alone`: its fixes touch nothing that other rules look at, always or where this is true.
    """
    when = alone if callable(alone) else _always if alone else None

    def register(function: RuleFunction) -> RuleFunction:
        if name in RULES:
            raise ValueError(f"two rules are called {name}")
        RULES[name] = Rule(name, title, function.__module__.rpartition(".")[2], function, refused, when)
        return function

    return register


def _always(_plan: Plan, _problem: Problem) -> bool:
    return True


def is_alone(plan: Plan, problem: Problem) -> bool:
    """Whether the fix of a problem of this plan touches nothing that other rules look at."""
    alone = RULES[problem.rule].alone
    return alone is not None and alone(plan, problem)


def problem(
    severity: Severity,
    where: str,
    message: str,
    fix: str | None = None,
    object_ids: Iterable[str] = (),
    edit: Edit | None = None,
    measure: float = 0.0,
    missing: str = "",
) -> Problem:
    """A problem whose severity depends on circumstances."""
    return Problem(
        "", severity, where, message, fix, tuple(object_ids), edit, measure=measure, missing=missing
    )


def error(
    where: str,
    message: str,
    fix: str | None = None,
    object_ids: Iterable[str] = (),
    edit: Edit | None = None,
    measure: float = 0.0,
    missing: str = "",
) -> Problem:
    """The cluster would not start, or not survive what it is built to survive."""
    return problem(Severity.ERROR, where, message, fix, object_ids, edit, measure, missing)


def warning(
    where: str,
    message: str,
    fix: str | None = None,
    object_ids: Iterable[str] = (),
    edit: Edit | None = None,
    measure: float = 0.0,
    missing: str = "",
) -> Problem:
    """It works, but not as the designer will want."""
    return problem(Severity.WARNING, where, message, fix, object_ids, edit, measure, missing)


def hint(
    where: str,
    message: str,
    fix: str | None = None,
    object_ids: Iterable[str] = (),
    edit: Edit | None = None,
    measure: float = 0.0,
    missing: str = "",
) -> Problem:
    """Good to know."""
    return problem(Severity.HINT, where, message, fix, object_ids, edit, measure, missing)
