"""Room: where something new finds a free place, and what covers what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from math import log

from ndbplan.desktop.layout.layout import (
    ASPECT,
    HOST_GAP,
    LOCATION_GAP,
    Layout,
    Layouter,
    around,
    in_rows,
)
from ndbplan.desktop.layout.slots import first_slot, offset, slot_near
from ndbplan.desktop.look.rect import Rect
from ndbplan.edits.arrange import put_in_slots
from ndbplan.edits.parts import move
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan

GRID = 8.0
_REACH = 900.0
"""How far around a place room is looked for beside what stands there; beyond, everything goes below."""


def settled(plan: Plan, object_ids: Collection[str]) -> Plan:
    """The plan with those of these hosts and locations that cover others moved to the nearest free place."""
    for object_id in object_ids:
        layout = Layouter().layout(plan)
        rects = next((one for one in each_standing(layout) if object_id in one), {})
        wish = rects.get(object_id)
        others = [rect for other, rect in rects.items() if other != object_id]
        if wish is None or not object_id or not any(overlap(wish, other, 0.0) for other in others):
            continue
        part = plan.by_id[object_id]
        if isinstance(part, Host) and part.location_id is not None:
            place_id, but = part.location_id, (object_id,)
            if part.slot is None:
                slot = first_slot(layout, place_id, wish.height, but)
            else:
                slot = slot_near(layout, place_id, wish, but)
            plan = put_in_slots(plan, {object_id: offset(layout.locations[place_id], slot)})
        else:
            plan = move(plan, moved_to(layout, object_id, free_place(wish, others)))
    return plan


def laid_out_beside(plan: Plan, host_ids: Collection[str]) -> Plan:
    """The plan with these hosts, which lie in no location, in rows of their own beside all that stands there.

    To the right of it or below, as the whole then has more of the form of a window.
    """
    layout = Layouter().layout(plan)
    boxes = [layout.hosts[host_id].rect for host_id in host_ids]
    there = around([rect for object_id, rect in standing(layout).items() if object_id not in host_ids])
    corners = in_rows([(box.width, box.height) for box in boxes])
    block = around([Rect(x, y, box.width, box.height) for (x, y), box in zip(corners, boxes, strict=True)])
    places = (
        block.moved(_on_grid(there.right + LOCATION_GAP), there.y),
        block.moved(there.x, _on_grid(there.bottom + 2 * HOST_GAP)),
    )
    at = min(places, key=lambda place: _misfit(around([there, place])))
    moved = {
        host_id: Point(x=at.x + x, y=at.y + y) for host_id, (x, y) in zip(host_ids, corners, strict=True)
    }
    return move(plan, moved)


def _misfit(rect: Rect) -> float:
    return abs(log(rect.width / rect.height / ASPECT))


def those_to_move(plan: Plan, pairs: Iterable[tuple[str, str]], first: Collection[str]) -> tuple[str, ...]:
    """As few hosts and locations as leave none of the pairs when they go elsewhere.

    `first`: what is taken before others; then what covers most, then hosts, then what came last.
    """
    ids = [*(place.id for place in plan.locations), *(host.id for host in plan.hosts)]
    parts = {object_id: place for place, object_id in enumerate(ids)}
    chosen, left = list[str](), list(pairs)
    while covers := Counter(i for pair in left for i in pair if i in parts):
        hosts = len(plan.locations)
        taken = max(covers, key=lambda i: (i in first, covers[i], parts[i] >= hosts, parts[i]))
        chosen.append(taken)
        left = [pair for pair in left if taken not in pair]
    return tuple(chosen)


def moved_to(layout: Layout, object_id: str, rect: Rect) -> dict[str, Point | None]:
    """Positions with which a host or location, with all in it, stands there."""
    box = layout.locations.get(object_id)
    if box is None:
        return {object_id: Point(x=rect.x, y=rect.y)}
    return {**layout.moved([object_id], rect.x - box.rect.x, rect.y - box.rect.y)}


def covered(layout: Layout) -> tuple[tuple[str, str], ...]:
    """Pairs of hosts and locations that cover one another; the card of loose API slots has the id ''."""
    pairs = list[tuple[str, str]]()
    for rects in each_standing(layout):
        near = list[str]()
        for one in sorted(rects, key=lambda i: rects[i].x):
            near = [other for other in near if rects[other].right > rects[one].x]
            pairs += [(other, one) for other in near if overlap(rects[other], rects[one], 0.0)]
            near.append(one)
    return tuple(pairs)


def free_place(wish: Rect, taken: Iterable[Rect]) -> Rect:
    """`wish`, or the nearest rectangle of its size, on the grid, that leaves a gap to all of `taken`."""
    obstacles = list(taken)
    if not any(overlap(wish, other, 0.0) for other in obstacles):
        return wish
    near = [o for o in obstacles if overlap(wish, o, _REACH)]
    lefts = {wish.x, *(o.x for o in near), *(o.x - wish.width - HOST_GAP for o in near)}
    tops = {wish.y, *(o.y for o in near), *(o.y - wish.height - HOST_GAP for o in near)}
    lefts.update(o.right + HOST_GAP for o in near)
    tops.update(o.bottom + HOST_GAP for o in near)
    places = [Rect(_on_grid(x), _on_grid(y), wish.width, wish.height) for x in lefts for y in tops]
    for place in sorted(places, key=lambda p: (p.x - wish.x) ** 2 + (p.y - wish.y) ** 2):
        if not any(overlap(place, other, HOST_GAP - GRID) for other in obstacles):
            return place
    return wish._replace(y=_on_grid(max(o.bottom for o in obstacles) + HOST_GAP + GRID))


def each_standing(layout: Layout) -> Iterator[dict[str, Rect]]:
    """What stands side by side: on the canvas itself, and in each location that others lie in."""
    yield standing(layout)
    for box in layout.locations.values():
        if box.children or box.hosts:
            rects = {place_id: layout.locations[place_id].rect for place_id in box.children}
            yield rects | {host_id: layout.hosts[host_id].rect for host_id in box.hosts}


def standing(layout: Layout) -> dict[str, Rect]:
    """Where everything stands that lies in no location, by id; '': the card of API slots of no host."""
    inside = {host_id for box in layout.locations.values() for host_id in box.hosts}
    rects = {place_id: box.rect for place_id, box in layout.locations.items() if not box.depth}
    rects.update({host_id: box.rect for host_id, box in layout.hosts.items() if host_id not in inside})
    if layout.loose is not None:
        rects[""] = layout.loose.rect
    return rects


def overlap(one: Rect, other: Rect, gap: float) -> bool:
    """Whether two rectangles come nearer to one another than a gap."""
    return (
        one.x < other.right + gap
        and other.x < one.right + gap
        and one.y < other.bottom + gap
        and other.y < one.bottom + gap
    )


def _on_grid(value: float) -> float:
    return round(value / GRID) * GRID
