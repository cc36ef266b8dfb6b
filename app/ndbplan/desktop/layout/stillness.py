"""Nothing moves unless a person moves it: what an edit does not place stays where it stands.

    document.after_edit = Stillness(layouter).held

Locations, and hosts outside of any, flow in rows as long as they have no position; another one among them,
or a taller card, would push them on. Those that an edit would push get the position that they have.
"""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.desktop.layout.layout import Layout, Layouter
from ndbplan.desktop.look.rect import Rect
from ndbplan.edits.parts import move
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.plan import Plan


class Stillness:
    """Holds what stands on one canvas; shares the cards of its layout."""

    def __init__(self, layouter: Layouter) -> None:
        self._layouter = layouter

    def held(self, before: Plan, after: Plan) -> Plan:
        """`after`, with everything that it leaves alone where it stands in `before`."""
        if all(
            getattr(before, parts) is getattr(after, parts) for parts in ("hosts", "locations", "processes")
        ):
            return after
        old, new = self._layouter.layout(before), self._layouter.layout(after)
        places = {
            part.id: Point(x=was.x, y=was.y)
            for part in _left_alone(before, after)
            if (was := _rect(old, part))[:2] != _rect(new, part)[:2]
        }
        return move(after, places)


def _left_alone(before: Plan, after: Plan) -> Iterator[Location | Host]:
    """Parts with a place of their own, before and after, that no edit has put elsewhere."""
    parts: tuple[Location | Host, ...] = (*after.locations, *after.hosts)
    for part in parts:
        was = before.by_id.get(part.id)
        if not isinstance(was, Location | Host) or was.position != part.position:
            continue
        if getattr(part, "location_id", None) is None and getattr(was, "location_id", None) is None:
            yield part


def _rect(layout: Layout, part: Location | Host) -> Rect:
    return layout.hosts[part.id].rect if isinstance(part, Host) else layout.locations[part.id].rect
