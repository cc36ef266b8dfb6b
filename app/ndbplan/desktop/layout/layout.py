"""Layout: where every location and host of a plan stands on the canvas, and which nodes form a group.

    layout = Layouter().layout(plan)

A location holds its hosts in columns, in the order of the plan; those that have a slot stand there.
Locations, and hosts outside of any, flow in rows unless they have a position; moving one leaves its place
empty, so nothing else jumps. Locations in a location stand, or flow, in the same way: its frame is drawn
around them, wherever they are, and around its own hosts, which stand at its position.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, log, sqrt
from typing import NamedTuple

from ndbplan.base.units import system_in_use
from ndbplan.configuration.deployment import data_node_program
from ndbplan.configuration.directories import path_parameters
from ndbplan.configuration.node_groups import groups_by_number
from ndbplan.configuration.space_files import folders_of_files
from ndbplan.desktop.layout.cards import HOST_WIDTH, Card, Chip, make_card
from ndbplan.desktop.look.rect import Rect
from ndbplan.desktop.look.text import text_width
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot

LOCATION_HEADER = 44.0
LOCATION_PAD = 16.0
HOST_GAP = 18.0
COLUMN_GAP = 40.0
"""Between host columns of a location and between locations: room for a ribbon's label."""
LOCATION_GAP = 84.0
_EMPTY_HEIGHT = 120.0
EMPTY_LOCATION = (2 * LOCATION_PAD + HOST_WIDTH, _EMPTY_HEIGHT)
"""Width and height of a location without hosts."""
_LOOSE_HEIGHT = 42.0
_LOOSE_GAP = 30.0
"""Between the card of API slots without a host and what stands below it."""
LOOSE_TEXT = 166.0
"""What the words on it take."""
_CARDS_KEPT = 4
"""Of each host."""
_LAYOUTS_KEPT = 4
"""An edit asks for the plan before it and, several times, for the one that it makes."""
ASPECT = 1.9
"""Width to height that the whole should have: a window's canvas."""


NOWHERE = Rect(0.0, 0.0, 0.0, 0.0)


class LocationBox(NamedTuple):
    """A location and the frame around its hosts."""

    location: Location
    rect: Rect
    hosts: tuple[str, ...]
    """Those that are in it and in none of the locations in it."""
    origin: Point
    """What its position means: the corner from which its hosts, and rows of locations in it, stand."""
    children: tuple[str, ...] = ()
    """Ids of the locations that lie in it."""
    depth: int = 0
    """How many locations it lies in."""


class HostBox(NamedTuple):
    """A host's card and its place."""

    card: Card
    x: float
    y: float

    @property
    def rect(self) -> Rect:
        """Where it stands."""
        return Rect(self.x, self.y, HOST_WIDTH, self.card.height)


class LooseBox(NamedTuple):
    """The card of API slots without a host."""

    chips: tuple[Chip, ...]
    rect: Rect


class Layout(NamedTuple):
    """Everything that stands on the canvas."""

    locations: dict[str, LocationBox]
    hosts: dict[str, HostBox]
    loose: LooseBox | None
    groups: dict[int, tuple[str, ...]]
    """Ids of the data nodes of each node group, by its number."""
    bounds: Rect

    def inside(self, location_ids: Iterable[str]) -> tuple[str, ...]:
        """Ids of these locations and of all in them, the outer before the inner ones."""
        found: dict[str, None] = {}
        left = [i for i in location_ids if i in self.locations]
        while left:
            place_id = left.pop(0)
            found[place_id] = None
            left += self.locations[place_id].children
        return tuple(found)

    def moved(self, location_ids: Iterable[str], dx: float, dy: float) -> dict[str, Point]:
        """Positions with which these locations, and all in them, stand so far from where they do."""
        boxes = (self.locations[i] for i in self.inside(location_ids))
        return {b.location.id: Point(x=b.origin.x + dx, y=b.origin.y + dy) for b in boxes}

    def around_machines(self) -> Rect:
        """Rectangle around locations and hosts, without the card of loose API slots."""
        places = [box.rect for box in self.locations.values()]
        return around([*places, *(box.rect for box in self.hosts.values())])


class Layouter:
    """Lays plans out; keeps the cards of hosts that did not change from one plan to the next.

    Of each host the last few: who goes to and fro between variants sees the same again.
    """

    def __init__(self) -> None:
        self._cards: dict[str, tuple[tuple[tuple[object, ...], Card], ...]] = {}
        self._layouts: list[tuple[Plan, object, Layout]] = []

    def layout(self, plan: Plan) -> Layout:
        """Where everything of this plan stands."""
        units = system_in_use()
        for of, words, known in self._layouts:
            if of is plan and words == units:
                return known
        found = self._laid_out(plan)
        self._layouts = [(plan, units, found), *self._layouts][:_LAYOUTS_KEPT]
        return found

    def _laid_out(self, plan: Plan) -> Layout:
        groups = groups_by_number(plan) if plan.data_nodes else {}
        group_of = {node.id: number for number, members in groups.items() for node in members}
        cards = self._fresh_cards(plan, group_of)
        inside: dict[str, list[str]] = {place.id: [] for place in plan.locations}
        free: list[str] = []
        for host in plan.hosts:
            (inside[host.location_id] if host.location_id is not None else free).append(host.id)
        nest = _Nest(plan.locations, {i: _Block(ids, cards) for i, ids in inside.items()})
        flow = nest.flow_of(None)
        nest.place(None, flow, 0.0, 0.0)
        # The outer ones first: what is drawn after them is drawn upon them.
        boxes = sorted((nest.boxes[place.id] for place in plan.locations), key=lambda box: box.depth)
        locations = {box.location.id: box for box in boxes}
        hosts = {host_id: HostBox(cards[host_id], x, y) for host_id, (x, y) in nest.slots.items()}
        if free:
            flow.new_row(HOST_GAP * 2)
            flow.width = max(flow.width, _row_width([(HOST_WIDTH, cards[h].height) for h in free]))
        for host_id in free:
            card = cards[host_id]
            x, y = flow.place(HOST_WIDTH, card.height, LOCATION_GAP, card.host.position)
            hosts[host_id] = HostBox(card, x, y)
        loose = _loose(plan)
        rects = [box.rect for box in locations.values() if not box.depth] + [hosts[h].rect for h in free]
        if loose is not None:
            rects.append(loose.rect)
        ids = {number: tuple(node.id for node in members) for number, members in groups.items()}
        return Layout(locations, hosts, loose, ids, around(rects))

    def _fresh_cards(self, plan: Plan, group_of: dict[str, int]) -> dict[str, Card]:
        disk_data, paths = bool(plan.tablespaces), path_parameters(plan)
        files = (plan.logfile_groups, plan.tablespaces)
        folders, program = folders_of_files(*files), data_node_program(plan)
        kept = self._cards
        self._cards = {}
        cards: dict[str, Card] = {}
        for host in plan.hosts:
            processes = plan.processes_of_host[host.id]
            groups = (group_of.get(p.id) for p in processes)
            key = (host, *processes, *groups, *files, paths, program, system_in_use())
            known = kept.get(host.id, ())
            card = next((one for one in known if _same(one[0], key)), None)
            if card is None:
                made = make_card(
                    host, processes, group_of, paths,
                    disk_data=disk_data, folders=folders, data_program=program,
                )  # fmt: skip
                card = (key, made)
            self._cards[host.id] = (card, *(one for one in known if one is not card))[:_CARDS_KEPT]
            cards[host.id] = card[1]
        return cards


def _row_width(sizes: list[tuple[float, float]]) -> float:
    """The width of rows in which blocks fill a window's canvas best; rows are of equal length."""
    best: tuple[float, float] | None = None
    for rows in range(1, len(sizes) + 1):
        columns = -(-len(sizes) // rows)
        lines = [sizes[i : i + columns] for i in range(0, len(sizes), columns)]
        width = max(sum(w + LOCATION_GAP for w, _ in line) - LOCATION_GAP for line in lines)
        height = sum(max(h for _, h in line) + LOCATION_GAP / 2 for line in lines)
        unfilled = len(lines) * columns - len(sizes)
        misfit = abs(log(width / height / ASPECT)) + 0.3 * unfilled / len(sizes)
        if best is None or misfit < best[0]:
            best = (misfit, width)
    return best[1] if best else 0.0


def in_rows(sizes: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of blocks of these sizes that flow in rows of their own, from 0, 0."""
    flow = _Flow(_row_width(sizes))
    return [flow.place(width, height, LOCATION_GAP, None) for width, height in sizes]


def columns_of(count: int) -> int:
    """Columns a location of `count` hosts has: a rack stays one column until it gets too tall."""
    return 1 if count <= 6 else max(2, ceil(sqrt(count / 5.5)))


class _Block:
    """The inside of a location: a slot for each of its hosts, from the corner of its frame."""

    def __init__(self, host_ids: list[str], cards: dict[str, Card]) -> None:
        self.host_ids = tuple(host_ids)
        columns = columns_of(len(host_ids))
        rows = -(-len(host_ids) // columns)
        self.slots: dict[str, tuple[float, float]] = {}
        tallest = 0.0
        for column in range(columns):
            y = LOCATION_HEADER
            for host_id in host_ids[column * rows : (column + 1) * rows]:
                card, slot = cards[host_id], (LOCATION_PAD + column * (HOST_WIDTH + COLUMN_GAP), y)
                y += card.height + HOST_GAP
                if (own := card.host.slot) is not None:
                    slot = (max(LOCATION_PAD, own.x), max(LOCATION_HEADER, own.y))
                self.slots[host_id] = slot
                tallest = max(tallest, slot[1] + card.height)
        right = max((x for x, _ in self.slots.values()), default=LOCATION_PAD)
        self.width = right + HOST_WIDTH + LOCATION_PAD
        self.height = max(tallest + LOCATION_PAD, _EMPTY_HEIGHT)

    @property
    def inner(self) -> Rect:
        """Around the hosts."""
        height = self.height - LOCATION_HEADER - LOCATION_PAD
        return Rect(LOCATION_PAD, LOCATION_HEADER, self.width - 2 * LOCATION_PAD, height)


class _Nest:
    """Where locations stand that lie in one another."""

    def __init__(self, locations: tuple[Location, ...], blocks: dict[str, _Block]) -> None:
        self._blocks = blocks
        self._inside: dict[str | None, list[Location]] = {}
        for place in locations:
            self._inside.setdefault(place.parent_id, []).append(place)
        self._sizes: dict[str, tuple[float, float]] = {}
        self.boxes: dict[str, LocationBox] = {}
        self.slots: dict[str, tuple[float, float]] = {}

    def flow_of(self, parent_id: str | None) -> _Flow:
        """Rows for what lies in a location (None: on the canvas itself)."""
        return _Flow(_row_width([self._size(place) for place in self._inside.get(parent_id, ())]))

    def _size(self, place: Location) -> tuple[float, float]:
        """The room that a location takes in a row: as though nothing in it had a position."""
        known = self._sizes.get(place.id)
        if known is not None:
            return known
        block, children = self._blocks[place.id], self._inside.get(place.id, ())
        width, height = block.width, block.height
        if children:
            flow = self.flow_of(place.id)
            slots = [(flow.place(*self._size(one), LOCATION_GAP, None), self._size(one)) for one in children]
            width = max(x + size[0] for (x, _), size in slots) + 2 * LOCATION_PAD
            height = max(y + size[1] for (_, y), size in slots) + LOCATION_HEADER + LOCATION_PAD
            if block.host_ids:
                width = max(width, block.width)
                height += block.inner.height + HOST_GAP
        self._sizes[place.id] = (width, height)
        return width, height

    def place(self, parent_id: str | None, flow: _Flow, x: float, y: float, depth: int = 0) -> list[Rect]:
        """Stand what lies in a location where rows from this corner, or its position, have it."""
        rects = []
        for place in self._inside.get(parent_id, ()):
            left, top = flow.place(*self._size(place), LOCATION_GAP, None)
            at = place.position or Point(x=x + left, y=y + top)
            rects.append(self._place_one(place, at, depth))
        return rects

    def _place_one(self, place: Location, at: Point, depth: int) -> Rect:
        block, children = self._blocks[place.id], self._inside.get(place.id, ())
        for host_id, (dx, dy) in block.slots.items():
            self.slots[host_id] = (at.x + dx, at.y + dy)
        rect = Rect(at.x, at.y, block.width, block.height)
        if children:
            below = block.inner.height + HOST_GAP if block.host_ids else 0.0
            corner = at.x + LOCATION_PAD, at.y + LOCATION_HEADER + below
            held = self.place(place.id, self.flow_of(place.id), *corner, depth + 1)
            # The frame begins where it stands, or farther out: what comes into it or goes moves no corner.
            own = block.inner if block.host_ids else Rect(LOCATION_PAD, LOCATION_HEADER, 0.0, 0.0)
            rect = _framed(around([own.moved(at.x, at.y), *held]))
        ids = tuple(one.id for one in children)
        self.boxes[place.id] = LocationBox(place, rect, block.host_ids, at, ids, depth)
        return rect


def _framed(held: Rect) -> Rect:
    """The frame of a location around what is in it."""
    left, top = held.x - LOCATION_PAD, held.y - LOCATION_HEADER
    return Rect(left, top, held.width + 2 * LOCATION_PAD, held.bottom - top + LOCATION_PAD)


class _Flow:
    """Places blocks in rows of one width."""

    def __init__(self, width: float) -> None:
        self.width = width
        self._x = self._y = self._row_height = 0.0

    def place(self, width: float, height: float, gap: float, position: Point | None) -> tuple[float, float]:
        """The next slot; a block with a position leaves its slot empty and stands there."""
        if self._x > 0 and self._x + width > self.width + 1:
            self.new_row(gap / 2)
        slot = (self._x, self._y)
        self._x += width + gap
        self._row_height = max(self._row_height, height)
        return slot if position is None else (position.x, position.y)

    def new_row(self, gap: float) -> None:
        """Go on below."""
        if self._row_height:
            self._y += self._row_height + gap
        self._x = self._row_height = 0.0


def loose_slots(plan: Plan) -> tuple[ApiSlot, ...]:
    """API slots without a host; they share a card."""
    return tuple(p for p in plan.processes if isinstance(p, ApiSlot) and p.host_id is None)


def _loose(plan: Plan) -> LooseBox | None:
    """The card of API slots without a host: where they were put, else above the first row."""
    slots = loose_slots(plan)
    if not slots:
        return None
    text = f"api {slots[0].node_id}" if len(slots) == 1 else f"api × {len(slots)}"
    above = Point(x=0.0, y=-(_LOOSE_HEIGHT + _LOOSE_GAP))
    at = next((slot.position for slot in slots if slot.position is not None), above)
    chip = Rect(at.x + LOOSE_TEXT, at.y + 8, round(text_width(text, 13, 600) + 22), 26)
    return LooseBox(
        (Chip(tuple(p.id for p in slots), "api", text, f"× {len(slots)}", None, chip),),
        Rect(at.x, at.y, round(LOOSE_TEXT + chip.width + 12), _LOOSE_HEIGHT),
    )


def around(rects: list[Rect]) -> Rect:
    """The rectangle around all of these; around nothing, NOWHERE."""
    if not rects:
        return NOWHERE
    left, top = min(r.x for r in rects), min(r.y for r in rects)
    return Rect(left, top, max(r.right for r in rects) - left, max(r.bottom for r in rects) - top)


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
