"""What one rule finds in a plan, without asking the others."""

from __future__ import annotations

from ndbplan.base.kept import keeping
from ndbplan.checks import run
from ndbplan.checks.alike import one_per_cause
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan, Waiver


def of_rule(plan: Plan, rule: str) -> list[Problem]:
    """The rows of a rule as `check` has them, with the edit that the rule has in mind: whether that may be
    offered depends on the other rules, and is for tests that ask `check`.
    """
    with keeping():
        return [row for row in run._solved(said_by(plan, rule), run._look(run._never)) if not row.waived]


def said_by(plan: Plan, rule: str) -> list[Problem]:
    """The same without the search for ways out, which takes most of the time."""
    run.load_rules()
    found = run._asked(Estimation(plan), [RULES[rule]], run._never)
    return [*one_per_cause(plan, map(run.in_words, found))]


def accepting_others(plan: Plan, rule: str) -> Plan:
    """The plan with what other rules say of it accepted: nobody looks for ways out of that."""
    run.load_rules()
    others = (name for name in RULES if name != rule)
    return plan.replace(waivers=tuple(Waiver(rule=name, reason="another test") for name in others))


def refusals(plan: Plan) -> list[str]:
    """What the rules about configurations that ndb_mgmd refuses say of a plan, without asking the others."""
    run.load_rules()
    asked = [rule for rule in RULES.values() if rule.refused]
    with keeping():
        found = run._asked(Estimation(plan), asked, run._never)
    return [problem.message for problem in found if problem.severity is Severity.ERROR and not problem.waived]
