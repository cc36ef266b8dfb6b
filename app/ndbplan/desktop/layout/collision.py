"""Room: nothing that a person puts on the canvas covers what stands there already."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ndbplan.desktop.layout.layout import HOST_GAP, Layout, Layouter
from ndbplan.desktop.look.rect import Rect
from ndbplan.edits.parts import move
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.plan import Plan

GRID = 8.0
_REACH = 900.0
"""How far around a place room is looked for beside what stands there; beyond, everything goes below."""


def settled(plan: Plan, object_ids: Collection[str]) -> Plan:
    """The plan with those of these hosts and locations that cover others moved to the nearest free place.

    What they cover without having a place of their own goes beside, too: a host in the flow of the canvas
    whose slot lies under another, a host under a location that has grown.
    """
    standing = standing_rects(plan, Layouter().layout(plan))
    parts: tuple[Location | Host, ...] = (*plan.locations, *plan.hosts)
    own = {part.id for part in parts if part.position is not None and part.id in standing}
    locations = {place.id for place in plan.locations}
    chosen = [i for i in object_ids if i in own]
    hosts = [host.id for host in plan.hosts if host.id in standing and host.id not in chosen]
    for object_id in (*chosen, *hosts):
        covering = standing.keys() if object_id in chosen else locations if object_id in own else own
        wish = standing[object_id]
        if any(overlap(wish, standing[i], 0.0) for i in covering if i != object_id):
            place = free_place(wish, [r for other, r in standing.items() if other != object_id])
            standing[object_id] = place
            plan = move(plan, {object_id: Point(x=place.x, y=place.y)})
    return plan


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


def standing_rects(plan: Plan, layout: Layout) -> dict[str, Rect]:
    """Where everything stands that has a place of its own on the canvas, by id."""
    rects = {place_id: box.rect for place_id, box in layout.locations.items()}
    rects.update({h.id: layout.hosts[h.id].rect for h in plan.hosts if h.location_id is None})
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
