"""What twice of each thing would bring: the highest load with it, against that of the plan as it is.

found = doublings(estimation_of(plan))
found[disk.id].gain, found[disk.id].title
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.advise.candidates import single_changes
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.what_matters import Search
from ndbplan.base.kept import keeping

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation


class Doubling(NamedTuple):
    """The doubling of an object that brings most."""

    gain: float
    """Share by which the highest load rises; 0: no doubling of it that may be made raises it."""
    title: str
    """Of the change; of all that are alike where one alone brings nothing."""
    why: str
    """What ends the load now, and then."""


_NOTHING = Doubling(0.0, "", "")


def doublings(now: Estimation, cancelled: Callable[[], bool] = lambda: False) -> Mapping[str, Doubling]:
    """By the id of a host (cores, memory), disk (devices) or SQL node (connections), of legal changes alone.

    Of one among many it is the doubling of all of them that brings something. Nothing without a workload.
    Raises UserError where the load cannot be searched for, Cancelled.
    """
    found: dict[str, Doubling] = {}
    if now.workload is None:
        return found
    with keeping(now.kept):
        search = Search(now, FIGURES["max-load"], cancelled)
        before = search.measure.before
        for place, change in enumerate(single_changes(now.plan)):
            tried = search.made(place, change) if change.doubles else None
            if tried is None or before is None or before.value <= 0:
                continue
            row = search.row(tried)
            doubling = _NOTHING if row is None else Doubling(row.gain / before.value, change.title, row.why)
            for object_id in change.doubles:
                if doubling.gain >= found.get(object_id, _NOTHING).gain:
                    found[object_id] = doubling
    return found
