"""Slots: the free places of a location, in columns between the hosts that stand there.

Nobody makes room: what comes takes a place that is free, or one at the end of a column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import inf

from ndbplan.desktop.layout.cards import HOST_WIDTH
from ndbplan.desktop.layout.layout import (
    COLUMN_GAP,
    HOST_GAP,
    LOCATION_HEADER,
    LOCATION_PAD,
    Layout,
    LocationBox,
    columns_of,
)
from ndbplan.desktop.look.rect import Rect
from ndbplan.plan.fields import Point


def slot_near(
    layout: Layout, place_id: str, wish: Rect, but: Collection[str] = (), taken: Iterable[Rect] = ()
) -> Rect:
    """The free place for a card of this size nearest to the wish, in the column there.

    `but`: hosts that are on their way; `taken`: places that are so too.
    """
    box = layout.locations[place_id]
    left = min(_columns(layout, box), key=lambda x: abs(x - wish.x))
    floor = box.rect.bottom - LOCATION_PAD - wish.height
    held = [*_held(layout, box, but), *taken]
    own = [layout.hosts[h].y for h in box.hosts if h in but and layout.hosts[h].x == left]
    tops = list[float]()
    for low, high in _gaps(held, box, left, wish.height):
        end = max(low, floor) if high == inf else high
        steps = int((end - low) // (wish.height + HOST_GAP))
        tops += [low + i * (wish.height + HOST_GAP) for i in range(steps + 1)]
        tops += [y for y in own if low <= y <= end]
    return wish._replace(x=left, y=min(tops, key=lambda y: (abs(y - wish.y), -y)))


def first_slot(layout: Layout, place_id: str, height: float, but: Collection[str] = ()) -> Rect:
    """The first gap of a location where a card of this height fits, else the end of its shortest column."""
    box = layout.locations[place_id]
    columns = _columns(layout, box)
    if columns_of(len(box.hosts)) > len(columns):
        columns.append(columns[-1] + HOST_WIDTH + COLUMN_GAP)
    held = _held(layout, box, but)
    gaps = [(x, *gap) for x in columns for gap in _gaps(held, box, x, height)]
    left, top, _ = min(gaps, key=lambda g: (g[2] == inf, g[1] if g[2] == inf else 0.0))
    return Rect(left, top, HOST_WIDTH, height)


def offset(box: LocationBox, rect: Rect) -> Point:
    """The slot of a host that stands here."""
    return Point(x=rect.x - box.origin.x, y=rect.y - box.origin.y)


def _columns(layout: Layout, box: LocationBox) -> list[float]:
    return sorted({layout.hosts[h].x for h in box.hosts} or {box.origin.x + LOCATION_PAD})


def _held(layout: Layout, box: LocationBox, but: Collection[str]) -> list[Rect]:
    inner = [layout.locations[place_id].rect for place_id in box.children]
    return [*(layout.hosts[h].rect for h in box.hosts if h not in but), *inner]


def _gaps(
    held: Iterable[Rect], box: LocationBox, left: float, height: float
) -> Iterator[tuple[float, float]]:
    """The lowest and highest top that a card may have in each gap of a column; the last one has no end."""
    column = [r for r in held if r.x < left + HOST_WIDTH and left < r.right]
    top = box.origin.y + LOCATION_HEADER
    for rect in sorted(column, key=lambda r: r.y):
        if rect.y - HOST_GAP - height >= top:
            yield top, rect.y - HOST_GAP - height
        top = max(top, rect.bottom + HOST_GAP)
    yield top, inf
