"""What is told of a class of hosts without a cluster that passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ndbplan.advise.sizing.verdict import Verdict
from ndbplan.base.shapes import Shape
from ndbplan.base.units import how_many


@dataclass(frozen=True)
class Excuse(Shape):
    """One class without a cluster that passes."""

    JSON = "class=title first_limit change node_groups still_broken=against change_looked_for=is_looked_for"

    title: str
    first_limit: str
    change: str | None
    """What lets it pass, no part of it a step larger than has to be; no law says that nothing else is less.

    None: no change of this hardware or of a single requirement was found, or none was looked for.
    """
    node_groups: int
    """Of the cluster that comes nearest, with its change where there is one."""
    against: str = ""
    """Where no change was found, what was tried last and the limit that stood against it."""
    is_looked_for: bool = True
    """Whether a change was looked for: not where classes that come nearer took all the work there may be."""

    @property
    def remedy(self) -> str | None:
        """The change and the node groups: `restart within 30 s, as 24 node groups`; None: none was found."""
        groups = how_many(self.node_groups, "node group")
        return None if self.change is None else f"{self.change}, as {groups}"

    @property
    def line(self) -> str:
        """What would let it pass, or that nothing is known to."""
        if self.remedy is not None:
            return f"it would pass with {self.remedy}"
        if not self.is_looked_for:
            return "what would let it pass was not looked for: other classes come nearer"
        told = f", also not {self.against}" if self.against else ""
        return f"no change of these hosts, or of requirements, was found to let it pass{told}"


def not_looked_for(verdict: Verdict) -> Excuse:
    """The first limit that a class breaks, of which nothing more is asked."""
    assert verdict.broken is not None
    return Excuse(verdict.choice.words, first_limit(verdict), None, verdict.groups, is_looked_for=False)


def first_limit(verdict: Verdict) -> str:
    """The limit that the cluster which comes nearest breaks; where its size matters, with how many groups."""
    assert verdict.broken is not None
    broken = verdict.broken
    is_moved = broken.is_moved and not broken.is_impossible
    is_of_size = is_moved and broken.depends_on_groups and broken.kind != "version"
    return f"{broken.line}, with {how_many(verdict.groups, 'node group')}" if is_of_size else broken.line


def of_how_many(excuses: Sequence[Excuse]) -> str:
    """For how many nobody looked what would let them pass, and the way out; nothing without one."""
    count = sum(not one.is_looked_for for one in excuses)
    if not count:
        return ""
    looked = len(excuses) - count
    return (
        f"what would let a class pass was looked for in the {looked} that come nearest, not in {count} more, "
        "as that takes long; name fewer hosts, disks or layouts to have it looked for in all"
    )
