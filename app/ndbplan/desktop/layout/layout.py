"""Layout: where every location and host of a plan stands on the canvas, and which nodes form a group.

    layout = Layouter().layout(plan)

A location holds its hosts in columns, in the order of the plan. Locations, and hosts outside of any, flow
in rows unless they have a position; moving one leaves its slot empty, so nothing else jumps.
"""

from __future__ import annotations

from math import ceil, log, sqrt
from typing import NamedTuple

from ndbplan.base.units import system_in_use
from ndbplan.configuration.deployment import data_node_program
from ndbplan.configuration.directories import path_parameters
from ndbplan.configuration.node_groups import groups_by_number
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
_LOOSE_HEIGHT = 74.0
_ASPECT = 1.9
"""Width to height that the whole should have: a window's canvas."""


NOWHERE = Rect(0.0, 0.0, 0.0, 0.0)


class LocationBox(NamedTuple):
    """A location and the frame around its hosts."""

    location: Location
    rect: Rect
    hosts: tuple[str, ...]


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

    def around_machines(self) -> Rect:
        """Rectangle around locations and hosts, without the card of loose API slots."""
        places = [box.rect for box in self.locations.values()]
        return _around([*places, *(box.rect for box in self.hosts.values())])


class Layouter:
    """Lays plans out; keeps the cards of hosts that did not change from one plan to the next."""

    def __init__(self) -> None:
        self._cards: dict[str, tuple[tuple[object, ...], Card]] = {}

    def layout(self, plan: Plan) -> Layout:
        """Where everything of this plan stands."""
        groups = groups_by_number(plan) if plan.data_nodes else {}
        group_of = {node.id: number for number, members in groups.items() for node in members}
        cards = self._fresh_cards(plan, group_of)
        inside: dict[str, list[str]] = {place.id: [] for place in plan.locations}
        free: list[str] = []
        for host in plan.hosts:
            (inside[host.location_id] if host.location_id is not None else free).append(host.id)
        blocks = {place.id: _Block(place, inside[place.id], cards) for place in plan.locations}

        flow = _Flow(_row_width([(b.width, b.height) for b in blocks.values()]))
        locations: dict[str, LocationBox] = {}
        hosts: dict[str, HostBox] = {}
        for place in plan.locations:
            block = blocks[place.id]
            x, y = flow.place(block.width, block.height, LOCATION_GAP, place.position)
            locations[place.id] = LocationBox(
                place, Rect(x, y, block.width, block.height), tuple(inside[place.id])
            )
            for host_id, (dx, dy) in block.slots.items():
                hosts[host_id] = HostBox(cards[host_id], x + dx, y + dy)
        if free:
            flow.new_row(HOST_GAP * 2)
            flow.width = max(flow.width, _row_width([(HOST_WIDTH, cards[h].height) for h in free]))
        for host_id in free:
            card = cards[host_id]
            x, y = flow.place(HOST_WIDTH, card.height, LOCATION_GAP, card.host.position)
            hosts[host_id] = HostBox(card, x, y)
        loose = _loose(plan)
        rects = [box.rect for box in locations.values()] + [hosts[h].rect for h in free]
        if loose is not None:
            rects.append(loose.rect)
        ids = {number: tuple(node.id for node in members) for number, members in groups.items()}
        return Layout(locations, hosts, loose, ids, _around(rects))

    def _fresh_cards(self, plan: Plan, group_of: dict[str, int]) -> dict[str, Card]:
        disk_data, paths = bool(plan.tablespaces), path_parameters(plan)
        program = data_node_program(plan)
        kept = self._cards
        self._cards = {}
        cards: dict[str, Card] = {}
        for host in plan.hosts:
            processes = plan.processes_of_host[host.id]
            groups = (group_of.get(p.id) for p in processes)
            key = (host, *processes, *groups, disk_data, paths, program, system_in_use())
            card = kept.get(host.id)
            if card is None or not _same(card[0], key):
                card = (
                    key,
                    make_card(host, processes, group_of, paths, disk_data=disk_data, data_program=program),
                )
            self._cards[host.id] = card
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
        misfit = abs(log(width / height / _ASPECT)) + 0.3 * unfilled / len(sizes)
        if best is None or misfit < best[0]:
            best = (misfit, width)
    return best[1] if best else 0.0


def columns_of(count: int) -> int:
    """Columns a location of `count` hosts has: a rack stays one column until it gets too tall."""
    return 1 if count <= 6 else max(2, ceil(sqrt(count / 5.5)))


class _Block:
    """The inside of a location: a slot for each of its hosts."""

    def __init__(self, place: Location, host_ids: list[str], cards: dict[str, Card]) -> None:
        columns = columns_of(len(host_ids))
        rows = -(-len(host_ids) // columns)
        self.slots: dict[str, tuple[float, float]] = {}
        tallest = 0.0
        for column in range(columns):
            y = LOCATION_HEADER
            for host_id in host_ids[column * rows : (column + 1) * rows]:
                self.slots[host_id] = (LOCATION_PAD + column * (HOST_WIDTH + COLUMN_GAP), y)
                y += cards[host_id].height + HOST_GAP
            tallest = max(tallest, y - HOST_GAP)
        self.width = 2 * LOCATION_PAD + columns * HOST_WIDTH + (columns - 1) * COLUMN_GAP
        self.height = max(tallest + LOCATION_PAD, _EMPTY_HEIGHT)


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


def _loose(plan: Plan) -> LooseBox | None:
    """The card of API slots without a host: above the first row, wherever anything else goes."""
    slots = [p for p in plan.processes if isinstance(p, ApiSlot) and p.host_id is None]
    if not slots:
        return None
    text = f"api {slots[0].node_id}" if len(slots) == 1 else f"api × {len(slots)}"
    x, y = 0.0, -(_LOOSE_HEIGHT + LOCATION_GAP / 2)
    chip = Rect(x + 12, y + 36, round(text_width(text, 13, 600) + 22), 26)
    return LooseBox(
        (Chip(tuple(p.id for p in slots), "api", text, text, None, chip),),
        Rect(x, y, HOST_WIDTH, _LOOSE_HEIGHT),
    )


def _around(rects: list[Rect]) -> Rect:
    if not rects:
        return NOWHERE
    left, top = min(r.x for r in rects), min(r.y for r in rects)
    return Rect(left, top, max(r.right for r in rects) - left, max(r.bottom for r in rects) - top)


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
