"""Align and distribute: hosts and locations brought into line, or to equal gaps; none covers another.

    aligned(plan, ids, "left")        # the left edges of these stand where the leftmost did
    distributed(plan, ids, "across")  # equal gaps from left to right; the outer ones stay

Hosts inside a location stand in its slots and are left out: see `movable`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from ndbplan.desktop.layout.collision import each_standing, moved_to, overlap
from ndbplan.desktop.layout.layout import HOST_GAP, Layout, Layouter
from ndbplan.desktop.look.rect import Rect
from ndbplan.edits.parts import move
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.plan import Plan

Edge = Literal["left", "centre", "right", "top", "middle", "bottom"]
Direction = Literal["across", "down"]


def movable(plan: Plan, object_ids: Iterable[str]) -> tuple[str, ...]:
    """Those of the objects that have a place of their own on the canvas."""
    parts = [part for i in object_ids if isinstance(part := plan.by_id.get(i), Location | Host)]
    free = [p for p in parts if isinstance(p, Location) or p.location_id is None]
    # Side by side stand those that lie in the same location.
    around = {getattr(p, "parent_id", None) for p in free[:1]}
    return tuple(p.id for p in free if getattr(p, "parent_id", None) in around)


def aligned(plan: Plan, object_ids: Collection[str], edge: Edge) -> Plan:
    """The plan with these brought to one line; what would cover something goes on along the line."""
    layout, rects, others = _split(plan, object_ids)
    if len(rects) < 2:
        return plan
    left, top = min(r.x for r in rects.values()), min(r.y for r in rects.values())
    right, bottom = max(r.right for r in rects.values()), max(r.bottom for r in rects.values())
    wishes: dict[str, Rect] = {}
    for object_id, r in rects.items():
        x = {"left": left, "centre": (left + right - r.width) / 2, "right": right - r.width}.get(edge, r.x)
        y = {"top": top, "middle": (top + bottom - r.height) / 2, "bottom": bottom - r.height}.get(edge, r.y)
        wishes[object_id] = r._replace(x=round(x), y=round(y))
    down = edge in ("left", "centre", "right")
    return _placed(plan, layout, wishes, others, down=down)


def distributed(plan: Plan, object_ids: Collection[str], direction: Direction) -> Plan:
    """The plan with equal gaps between these; the first and last stay unless there is too little room."""
    layout, rects, others = _split(plan, object_ids)
    if len(rects) < 3:
        return plan
    across = direction == "across"
    ordered = sorted(rects, key=lambda i: (rects[i].x, rects[i].y) if across else (rects[i].y, rects[i].x))
    starts = [rects[i].x if across else rects[i].y for i in ordered]
    sizes = [rects[i].width if across else rects[i].height for i in ordered]
    room = max(a + b for a, b in zip(starts, sizes, strict=True)) - starts[0] - sum(sizes)
    gap = max(HOST_GAP, room / (len(ordered) - 1))
    wishes: dict[str, Rect] = {}
    at = starts[0]
    for object_id, size in zip(ordered, sizes, strict=True):
        wishes[object_id] = rects[object_id]._replace(**{"x" if across else "y": round(at)})
        at += size + gap
    return _placed(plan, layout, wishes, others, down=across)


def _split(plan: Plan, object_ids: Collection[str]) -> tuple[Layout, dict[str, Rect], list[Rect]]:
    """Where these stand, and where everything else beside them does."""
    layout = Layouter().layout(plan)
    chosen = set(movable(plan, object_ids))
    places = next((one for one in each_standing(layout) if chosen & one.keys()), {})
    rects = {i: r for i, r in places.items() if i in chosen}
    return layout, rects, [r for i, r in places.items() if i not in chosen]


def _placed(plan: Plan, layout: Layout, wishes: dict[str, Rect], others: list[Rect], *, down: bool) -> Plan:
    """Put everything where it wishes, or further down (else: right) where nothing is in the way."""
    taken = list(others)
    places: dict[str, Point | None] = {}
    for object_id in sorted(wishes, key=lambda i: (wishes[i].y, wishes[i].x)[:: 1 if down else -1]):
        rect = wishes[object_id]
        while hit := next((other for other in taken if overlap(rect, other, 0.0)), None):
            rect = rect._replace(y=hit.bottom + HOST_GAP) if down else rect._replace(x=hit.right + HOST_GAP)
        taken.append(rect)
        places |= moved_to(layout, object_id, rect)
    return move(plan, places)
