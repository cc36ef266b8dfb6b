"""A problem that a rule found: what, where, how bad, and the edit that mends it if there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from ndbplan.base.shapes import Shape
from ndbplan.plan.plan import Plan

Edit = Callable[[Plan], Plan]
Look = Callable[[Plan], "Sequence[Problem]"]
"""What all rules find in a plan."""


class Severity(StrEnum):
    """How bad a problem is: an error keeps the cluster from starting or from surviving what it should."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return (Severity.ERROR, Severity.WARNING, Severity.HINT).index(self)


@dataclass(frozen=True)
class Solution(Shape):
    """One way out of a problem; of several, the first is the one to take, and `why` says why."""

    JSON = "title why buys"

    title: str
    why: str
    """What speaks for it, and what it costs."""
    edit: Edit
    buys: bool = False
    """Whether it takes hardware that is not there: nobody's click on "Fix all" buys that."""
    asks: bool = False
    """Whether it is right only if somebody who knows the plan says so: "Fix all" leaves it as well."""


@dataclass(frozen=True)
class WaysOut:
    """What a search for ways out of a problem found."""

    solutions: tuple[Solution, ...]
    """The one to take first."""
    fix: str
    """The same in words; without any: what is missing to find one."""


Solve = Callable[[Look], WaysOut]
"""Finds ways out, with what the rules find in plans that it tries."""


@dataclass(frozen=True)
class Problem(Shape):
    """One finding of one rule."""

    JSON = "rule severity where message fix solutions"

    rule: str
    severity: Severity
    where: str
    """The place in words, such as `data node 3` or `host host-a1`."""
    message: str
    """The thing, its value, the limit it breaks and what follows from it."""
    fix: str | None = None
    """What to do about it."""
    object_ids: tuple[str, ...] = ()
    """Objects of the plan it concerns."""
    edit: Edit | None = None
    """The fix as an edit, when it is mechanical."""
    waived: str = ""
    """Why the designer accepts it; nothing: it stands."""
    measure: float = 0.0
    """How much of its limit the value takes, where the rule can say: an offered change must not raise it."""
    alike: tuple[Problem, ...] = ()
    """The findings that this row stands for, when one cause has the same effect in several places."""
    solutions: tuple[Solution, ...] = field(default=(), compare=False)
    """Ways out that somebody has to choose between, the one to take first; each holds for all of `alike`, or
    says for which."""
    advice: Callable[[], str] | None = field(default=None, compare=False)
    """Finds `fix` where that takes a search: only problems that are shown need it."""
    missing: str = field(default="", compare=False)
    """Where nothing can be clicked: what only a person knows or decides, or what stands against it."""
    solve: Solve | None = field(default=None, compare=False)
    """Finds `solutions`, in the same way; one object for all problems that it solves together."""

    cure: Callable[[], tuple[str, Edit | None]] | None = field(default=None, compare=False)
    """Finds `fix` and `edit` where that takes a search: whoever only counts problems needs neither."""

    def cured(self) -> Problem:
        """The problem with its fix as words and as an edit."""
        if self.cure is None:
            return self
        fix, edit = self.cure()
        return replace(self, fix=fix, edit=edit, cure=None)

    def told(self) -> Problem:
        """The problem with the words of its fix."""
        return self if self.advice is None else replace(self, fix=self.advice(), advice=None)

    @property
    def free_way(self) -> Edit | None:
        """What to do without asking: its fix, else the first way out where that takes nothing new."""
        if self.edit is not None or not self.solutions:
            return self.edit
        first = self.solutions[0]
        return None if first.buys or first.asks else first.edit
