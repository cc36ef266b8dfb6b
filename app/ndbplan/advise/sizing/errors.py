"""Whether a cluster that is sized passes all checks, and which errors no cluster is without."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ndbplan.advise.candidate_settings import is_of_log_or_checkpoints
from ndbplan.advise.sizing.verdict import CHECK, DESIGN, Met
from ndbplan.base.quantity import Quantity
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import found_errors, in_words
from ndbplan.edits.changes import value_changes
from ndbplan.plan.plan import Plan


@dataclass
class Errors:
    """What checks find of cluster after cluster."""

    begun: Plan
    """Tables and loads, which all clusters have."""
    cancelled: Callable[[], bool]
    _always: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """By rule and message what it is of: errors of the largest cluster of a class and the smallest alike."""

    def met(self, plan: Plan, when: str, largest: Callable[[], Plan]) -> Met:
        """Whether check finds no error; `largest`: of this class."""
        errors = self._of(plan)
        told = self._told_of_all(errors, largest)
        if told is not None:
            return _of_all(told, len(errors))
        return _limit(f"{when}: {errors[0].message}" if errors else when, len(errors), CHECK)

    def of_all(self, clusters: Iterable[Plan]) -> Met | None:
        """An error that each of these clusters has, of tables or of what is stated; None: there is none.

        As a rule the first cluster has none, and no other is made.
        """
        common: dict[tuple[str, str], Problem] | None = None
        for plan in clusters:
            own = {_key(one): one for one in self._of(plan) if self._is_design(one, plan)}
            common = own if common is None else {key: one for key, one in common.items() if key in own}
            if not common:
                return None
        return None if common is None else _of_all(next(iter(common.values())), len(common))

    def _is_design(self, problem: Problem, plan: Plan) -> bool:
        """Whether it is of tables alone, or of parameters of all data nodes that sizing does not step."""
        if problem.object_ids:
            return {one.id for one in self.begun.tables}.issuperset(problem.object_ids)
        return not _is_stepped(problem, plan)

    @property
    def are_in_tables(self) -> bool:
        """Whether an error of tables alone is known that no cluster is without, whatever its loads are."""
        tables = {one.id for one in self.begun.tables}
        return any(tables.issuperset(ids) for ids in self._always.values())

    def _of(self, plan: Plan) -> list[Problem]:
        return [one for one in found_errors(plan, self.cancelled) if not one.waived]

    def _told_of_all(self, errors: list[Problem], largest: Callable[[], Plan]) -> Problem | None:
        """An error of tables or loads that is the same with as many node groups as there may be."""
        own = [one for one in errors if one.object_ids and all(i in self.begun.by_id for i in one.object_ids)]
        if own and not any(_key(one) in self._always for one in own):
            there = set(map(_key, self._of(largest())))
            self._always |= {_key(one): one.object_ids for one in own if _key(one) in there}
        return next((one for one in own if _key(one) in self._always), None)


def _is_stepped(problem: Problem, plan: Plan) -> bool:
    """Whether its fix is a step of the redo log or of checkpoints, which sizing takes by itself."""
    edit = RULES[problem.rule].cured(problem).edit
    changes = () if edit is None else value_changes(plan, edit(plan))
    return any(is_of_log_or_checkpoints(change.name) for change in changes)


def _key(problem: Problem) -> tuple[str, str]:
    return problem.rule, problem.message


def _of_all(told: Problem, errors: int) -> Met:
    return _limit(f", whatever the hosts: {told.message}; {in_words(told).fix}", errors, DESIGN)


def _limit(what: str, errors: int, kind: str) -> Met:
    found, allowed = (Quantity.exact(1 + count, "count") for count in (errors, 0))
    return Met(f"check finds no error{what}", found, allowed, kind)
