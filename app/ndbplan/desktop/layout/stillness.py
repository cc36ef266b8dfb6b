"""Nothing moves unless a person moves it: what an edit does not place stays where it stands.

    document.after_edit = Stillness(layouter).held

Locations, and hosts outside of any, flow in rows as long as they have no position; another one among them,
or a taller card, would push them on. Those that an edit would push get the position that they have, and hosts
in a location the slot: who leaves it leaves a gap, and who comes takes a free place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ndbplan.desktop.layout.collision import covered, free_place, laid_out_beside, settled, standing
from ndbplan.desktop.layout.layout import (
    HOST_GAP,
    LOCATION_HEADER,
    LOCATION_PAD,
    Layout,
    Layouter,
    loose_slots,
)
from ndbplan.desktop.layout.slots import offset
from ndbplan.edits.arrange import put_in_slots, put_on_canvas
from ndbplan.edits.parts import move
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.places import chain
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
        after = put_in_slots(after, dict(_below(old, new)))
        alone = tuple(_left_alone(before, after))
        while places := _pushed(alone, old, new):
            after = move(after, places)
            if not any(box.depth for box in new.locations.values()):
                break
            # Rows in a location begin where it stands: held, it may have pushed what lies in it.
            new = self._layouter.layout(after)
        after = self._with_slots_held(before, old, after)
        return self._with_new_apart(before, self._with_loose_held(old, after))

    def _with_slots_held(self, before: Plan, old: Layout, after: Plan) -> Plan:
        """Hosts stay in their slots beside one that left, and where they stood when the location goes."""
        new = self._layouter.layout(after)
        slots, left = dict[str, Point](), dict[str, Point]()
        for host in after.hosts:
            was = before.by_id.get(host.id)
            if not isinstance(was, Host) or was.location_id is None or was.position != host.position:
                continue
            rect, place_id = old.hosts[host.id].rect, was.location_id
            if host.location_id == place_id and was.slot == host.slot:
                stood = offset(old.locations[place_id], rect)
                if stood != offset(new.locations[place_id], new.hosts[host.id].rect):
                    slots[host.id] = stood
            elif host.location_id is None and place_id not in after.by_id:
                left[host.id] = Point(x=rect.x, y=rect.y)
        return put_on_canvas(put_in_slots(after, slots), left)

    def _with_new_apart(self, before: Plan, after: Plan) -> Plan:
        """What came anew without a place of its own covers nothing: it flows over what was held there."""
        parts: tuple[Host | Location, ...] = (*after.hosts, *after.locations)
        new = {part.id for part in parts if part.position is None and part.id not in before.by_id}
        for host in after.hosts:
            was = before.by_id.get(host.id)
            if isinstance(was, Host) and host.location_id not in (None, was.location_id):
                new.add(host.id)
        if not new:
            return after
        after = self._with_new_together(after, new)
        covering = {one for pair in covered(self._layouter.layout(after)) for one in pair}
        return settled(after, sorted(new & covering))

    def _with_new_together(self, after: Plan, new: Collection[str]) -> Plan:
        """Hosts that come together stay together: the flow has gaps for those that were placed."""
        free = [host for host in after.hosts if host.location_id is None]
        coming = [host.id for host in free if host.id in new]
        has_placed = any(host.position is not None for host in free if host.id not in new)
        return laid_out_beside(after, coming) if len(coming) > 1 and has_placed else after

    def _with_loose_held(self, old: Layout, after: Plan) -> Plan:
        """The card of API slots without a host stays too; where one comes anew, it covers nothing."""
        new, slots = self._layouter.layout(after), loose_slots(after)
        if new.loose is None or any(slot.position is not None for slot in slots):
            return after
        others = [rect for object_id, rect in standing(new).items() if object_id]
        place = old.loose.rect if old.loose is not None else free_place(new.loose.rect, others)
        if (place.x, place.y) == (new.loose.rect.x, new.loose.rect.y):
            return after
        return move(after, {slot.id: Point(x=place.x, y=place.y) for slot in slots})


def _pushed(alone: Iterable[Location | Host], old: Layout, new: Layout) -> dict[str, Point]:
    """Where that stood which an edit leaves alone and which stands elsewhere now."""
    return {part.id: was for part in alone if (was := _corner(old, part)) != _corner(new, part)}


def _left_alone(before: Plan, after: Plan) -> Iterator[Location | Host]:
    """Parts with a place of their own, before and after, that no edit has put elsewhere."""
    put = {place.id for place in after.locations if not _is_where_it_was(before, after, place)}
    for place in after.locations:
        # What lies in a location that was put elsewhere goes along with it.
        if not any(one.id in put for one in chain(after.locations, place.id)):
            yield place
    for host in after.hosts:
        was = before.by_id.get(host.id)
        if not isinstance(was, Host) or was.position != host.position:
            continue
        if was.location_id is None and host.location_id is None:
            yield host


def _below(old: Layout, new: Layout) -> Iterator[tuple[str, Point]]:
    """The slots of the first hosts of a location that others lie in already: below those, which stay."""
    for place_id, box in new.locations.items():
        was = old.locations.get(place_id)
        if was is not None and was.children and not was.hosts:
            lower = was.rect.bottom - LOCATION_PAD + HOST_GAP - LOCATION_HEADER - was.origin.y
            for host_id in box.hosts:
                slot = offset(box, new.hosts[host_id].rect)
                yield host_id, Point(x=slot.x, y=slot.y + lower)


def _is_where_it_was(before: Plan, after: Plan, place: Location) -> bool:
    """Whether no edit has put a location elsewhere; one around it may be gone, and leave it standing."""
    was = before.by_id.get(place.id)
    if not isinstance(was, Location) or was.position != place.position:
        return False
    return was.parent_id == place.parent_id or was.parent_id not in after.by_id


def _corner(layout: Layout, part: Location | Host) -> Point:
    if isinstance(part, Location):
        return layout.locations[part.id].origin
    box = layout.hosts[part.id]
    return Point(x=box.x, y=box.y)
