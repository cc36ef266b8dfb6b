"""A problem that a rule found: what, where, how bad, and the edit that mends it if there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from ndbplan.base.shapes import Shape
from ndbplan.plan.plan import Plan

Edit = Callable[[Plan], Plan]


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
class Problem(Shape):
    """One finding of one rule."""

    JSON = "rule severity where message fix"

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
    advice: Callable[[], str] | None = field(default=None, compare=False)
    """Finds `fix` where that takes a search: only problems that are shown need it."""

    def told(self) -> Problem:
        """The problem with the words of its fix."""
        return self if self.advice is None else replace(self, fix=self.advice(), advice=None)
