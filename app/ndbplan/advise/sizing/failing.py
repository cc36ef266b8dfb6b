"""What is asked of a cluster without one part that may fail: that it goes on, and carries the peaks.

survives(plan, ("host", "rack"))
carried_without(estimation.under(peak), ("host",))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ndbplan.advise.load_left import load_left
from ndbplan.advise.sizing.verdict import Met, kind_of
from ndbplan.base.quantity import Quantity
from ndbplan.configuration.failing_parts import Part, parts
from ndbplan.configuration.failures import Failures
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb.survival import Outcome
from ndbplan.plan.plan import Plan

_PARTS = {"host": "host", "rack": "rack", "link": "switch"}
"""What a requirement names, as `survive` does."""
_exact = Quantity.exact


def carried_without(now: Estimation, kinds: Sequence[str]) -> Iterator[Met]:
    """What is left of the load without the part of these kinds whose loss leaves least."""
    left, failures = load_left(now), Failures(now.plan)
    assert now.workload is not None
    worst: Met | None = None
    for part in _parts(now.plan, kinds):
        damage = failures.damage((part,))
        judged = failures.after(failures.running, damage)
        stopped = failures.running.started - judged.best.up
        gone = damage.dead | stopped | failures.unreached(damage, judged)
        rest, limit = left.limited(gone)
        what = limit.text if limit else "nothing is left"
        title = f"peak of '{now.workload.name}' without {part.text} ({what})"
        # Where nothing is left, no hardware leaves more: only that it need not fail.
        kind = _survive(part) if limit is None else kind_of(limit)
        met = Met(title, _exact(now.offered_per_s, "tx/s"), rest, kind)
        worst = met if worst is None or met.nearness > worst.nearness else worst
    if worst is not None:
        yield worst


def survives(plan: Plan, kinds: Sequence[str]) -> Iterator[Met]:
    """Whether the cluster goes on without any one part, kind by kind."""
    failures = Failures(plan)
    for kind in kinds:
        of_kind = [part for part in _parts(plan, kinds) if part.kind == _PARTS[kind]]
        stops = [part for part in of_kind if failures.judge((part,)).best.verdict.outcome is Outcome.STOPS]
        what = f"any {kind} may fail" + (f" (stops without {stops[0].text})" if stops else "")
        yield Met(what, _exact(1 + len(stops), "count"), _exact(1, "count"), f"survive.{kind}")


def _parts(plan: Plan, kinds: Sequence[str]) -> Iterator[Part]:
    wanted = {_PARTS[one] for one in kinds}
    yield from (part for part in parts(plan) if part.kind in wanted)


def _survive(part: Part) -> str:
    """The kind of the requirement that a part may fail."""
    return f"survive.{next(name for name, kind in _PARTS.items() if kind == part.kind)}"
