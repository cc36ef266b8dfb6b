"""Scene: the items of one plan, reconciled from plan to plan so that an edit costs what it touches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from PySide6.QtCore import QObject, QPointF, QRectF
from PySide6.QtWidgets import QGraphicsScene, QGraphicsSceneHelpEvent, QToolTip

from ndbplan.describe.colouring import Colouring
from ndbplan.describe.overlay import Loads, percent
from ndbplan.desktop.canvas.disk_item import DiskItem
from ndbplan.desktop.canvas.far import MARKED
from ndbplan.desktop.canvas.items import (
    CanvasItem,
    HostItem,
    LocationItem,
    LooseItem,
    ProcessItem,
)
from ndbplan.desktop.canvas.look import LEAST_PX, TITLE_LARGEST_PX, Look
from ndbplan.desktop.canvas.overlaps import Overlaps
from ndbplan.desktop.canvas.ribbons import RibbonItem, Stop
from ndbplan.desktop.canvas.tips import tip
from ndbplan.desktop.layout.layout import NOWHERE, HostBox, Layout, Layouter, LooseBox
from ndbplan.desktop.look.paint import qrect
from ndbplan.desktop.look.theme import Tokens
from ndbplan.plan.plan import Plan
from ndbplan.simulate.stop import LinkTime


class CanvasScene(QGraphicsScene):
    """Shows a plan. Items mirror it; nothing here edits."""

    def __init__(self, tokens: Tokens, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look = Look()
        self.look.tokens = tokens
        self.layout = Layout({}, {}, None, {}, NOWHERE)
        self.layouter = Layouter()
        self._locations: dict[str, LocationItem] = {}
        self._hosts: dict[str, HostItem] = {}
        self._inside: dict[str, list[ProcessItem | DiskItem]] = {}
        """Chips and tiles on each host, by host id."""
        self._host_of: dict[str, str] = {}
        self._by_id: dict[str, CanvasItem] = {}
        self._ribbons: dict[int, RibbonItem] = {}
        self._loose: list[CanvasItem] = []
        self._marked: tuple[str, ...] = ()
        self.overlaps = Overlaps(self, self.look)

    # What is shown

    def show_plan(self, plan: Plan) -> None:
        """Show this plan; whatever is the same object as before stays as it is."""
        before, after = self.layout, self.layouter.layout(plan)
        self.layout = after
        moved: set[str] = set()
        for host_id in [h for h in self._hosts if h not in after.hosts]:
            self._drop_host(host_id)
        for place_id in [p for p in self._locations if p not in after.locations]:
            self.removeItem(self._locations.pop(place_id))
            del self._by_id[place_id]
        for place_id, box in after.locations.items():
            item = self._locations.get(place_id)
            if item is None:
                item = self._locations[place_id] = LocationItem(self.look, box)
                self.addItem(item)
                self._by_id[place_id] = item
            if before.locations.get(place_id) != box or item.size.isNull():
                item.display(box)
        for host_id, host_box in after.hosts.items():
            old = before.hosts.get(host_id)
            if (
                old is None
                or old.card is not host_box.card
                or (old.x, old.y) != (host_box.x, host_box.y)
                or host_id not in self._hosts
            ):
                is_new = host_id not in self._hosts
                self._show_host(host_box)
                if (
                    old is None
                    or is_new
                    or (old.rect, old.card.chips) != (host_box.rect, host_box.card.chips)
                ):
                    moved.add(host_id)
        if before.loose != after.loose:
            self._show_loose(after.loose)
        self.overlaps.show(after)
        self._show_groups(before, after, moved)
        self.mark_selection(self._marked)

    def _show_host(self, box: HostBox) -> None:
        host_id = box.card.host.id
        item = self._hosts.get(host_id)
        if item is None:
            item = self._hosts[host_id] = HostItem(self.look, box.card)
            self.addItem(item)
            self._by_id[host_id] = item
            self._inside[host_id] = []
        old = item.card
        item.display(box.card, box.rect)
        if old is not box.card or not self._inside[host_id]:
            self._fill_host(box)
        self._place_inside(box)

    def _fill_host(self, box: HostBox) -> None:
        host_id = box.card.host.id
        old = {(item.kind, item.object_id): item for item in self._inside[host_id]}
        kept: list[ProcessItem | DiskItem] = []
        for chip in box.card.chips:
            item = old.pop(("process", chip.ids[0]), None)
            if not isinstance(item, ProcessItem):
                item = self._new_inside(ProcessItem(self.look, chip))
            kept.append(item)
        for tile in box.card.tiles:
            item = old.pop(("disk", tile.disk.id), None)
            if not isinstance(item, DiskItem):
                item = self._new_inside(DiskItem(self.look, tile))
            kept.append(item)
        for gone in old.values():
            self._drop_inside(gone, host_id)
        self._inside[host_id] = kept
        for item in kept:
            shown = item.chip.ids if isinstance(item, ProcessItem) else item.object_ids
            for object_id in shown:
                self._host_of[object_id] = host_id

    def _new_inside(self, item: ProcessItem | DiskItem) -> ProcessItem | DiskItem:
        item.setVisible(not self.look.is_far)
        self.addItem(item)
        return item

    def _place_inside(self, box: HostBox) -> None:
        chips = iter(box.card.chips)
        tiles = iter(box.card.tiles)
        for item in self._inside[box.card.host.id]:
            if isinstance(item, ProcessItem):
                chip = next(chips)
                item.display(chip, chip.rect.moved(box.x, box.y))
            else:
                tile = next(tiles)
                item.display(tile, tile.rect.moved(box.x, box.y))
            for object_id in item.object_ids:
                self._by_id[object_id] = item

    def _drop_host(self, host_id: str) -> None:
        for item in self._inside.pop(host_id):
            self._drop_inside(item, host_id)
        self.removeItem(self._hosts.pop(host_id))
        del self._by_id[host_id]

    def _drop_inside(self, item: ProcessItem | DiskItem, host_id: str) -> None:
        for object_id in item.object_ids:
            if self._by_id.get(object_id) is item:
                del self._by_id[object_id]
            # The object may have moved to another host, which has claimed it by now.
            if self._host_of.get(object_id) == host_id:
                del self._host_of[object_id]
        self.removeItem(item)

    def _show_loose(self, box: LooseBox | None) -> None:
        for item in self._loose:
            self.removeItem(item)
            for object_id in item.object_ids:
                if self._by_id.get(object_id) is item:
                    del self._by_id[object_id]
        self._loose = []
        if box is None:
            return
        self._loose.append(LooseItem(self.look, box))
        for chip in box.chips:
            item = ProcessItem(self.look, chip)
            item.display(chip, chip.rect)
            item.setVisible(not self.look.is_far)
            self._loose.append(item)
            for object_id in chip.ids:
                self._by_id[object_id] = item
        for item in self._loose:
            self.addItem(item)

    def _show_groups(self, before: Layout, after: Layout, moved: set[str]) -> None:
        for number in [n for n in self._ribbons if n not in after.groups]:
            self.removeItem(self._ribbons.pop(number))
        hosts: list[QRectF] = []
        for number, members in after.groups.items():
            ribbon = self._ribbons.get(number)
            if ribbon is None:
                ribbon = self._ribbons[number] = RibbonItem(self.look, number)
                self.addItem(ribbon)
            elif members == ribbon.members and not any(self._host_of.get(m) in moved for m in members):
                continue
            hosts = hosts or self._host_rects()
            ribbon.join(members, self._stops(members), hosts)

    def _host_rects(self) -> list[QRectF]:
        return [item.rect_in_scene() for item in self._hosts.values()]

    def _stops(self, members: Iterable[str]) -> list[Stop]:
        stops: list[Stop] = []
        for member in members:
            item, host = self._by_id.get(member), self._hosts.get(self._host_of.get(member, ""))
            if item is not None and host is not None:
                stops.append((item.rect_in_scene(), host.rect_in_scene()))
        return stops

    # How it is shown

    def set_tokens(self, tokens: Tokens) -> None:
        """Paint with the colours of another theme."""
        self.look.tokens = tokens
        self.overlaps.show(self.layout)
        # Each item: an update of the scene alone leaves the pixels that items keep.
        for item in self.items():
            item.update()

    def set_zoom(self, zoom: float) -> None:
        """Tell the items from how far they are seen."""
        was_far, apart = self.look.is_far, self.look.names_stand_apart
        if (zoom * TITLE_LARGEST_PX < LEAST_PX) != apart:
            for location in self._locations.values():
                location.reach()
        self.look.zoom = zoom
        if self.look.is_far != was_far:
            for item in self._all_inside():
                item.setVisible(not self.look.is_far)

    def show_loads(self, loads: Loads) -> None:
        """Paint these utilisations and problems; only what looks different is drawn again."""
        before, self.look.loads = self.look.loads, loads
        tables = (
            "disks", "space", "cpu", "memory", "network", "redo_buffers", "redo_logs", "problems", "down",
            "starting", "slow", "states",
        )  # fmt: skip
        far: dict[str, set[str]] = {}
        for table in tables:
            old, new = getattr(before, table), getattr(loads, table)
            if old is new:
                continue
            for object_id in old.keys() | new.keys():
                was, now = old.get(object_id), new.get(object_id)
                if was == now or _looks(was) == _looks(now):
                    continue
                item = self._by_id.get(object_id)
                if item is not None and self.look.is_far and not isinstance(item, LocationItem):
                    marks = far.setdefault(self.host_of(object_id) or "", set())
                    if table == "disks" or table in MARKED:
                        marks.add(object_id if table == "disks" else table)
                if item is not None and not (self.look.is_far and item.kind == "host"):
                    # Also one that is hidden: its pixels are kept, and would come back.
                    item.update()
        for host_id, changed in far.items():
            host = self._hosts.get(host_id)
            if host is not None:
                host.follow(changed)
        if before.down != loads.down:
            for ribbon in self._ribbons.values():
                ribbon.refresh()
        if before.links != loads.links:
            self._show_links(before.links)

    def _show_links(self, before: Iterable[LinkTime]) -> None:
        links = self.look.loads.links
        for ribbon in self._ribbons.values():
            ends = {self._host_of.get(member, "") for member in ribbon.members}
            ribbon.show_link(min((one.share(ends) for one in links), default=1.0))
        for host_id in {i for one in (*before, *links) for i in one.link.here | one.link.there}:
            if (host := self._hosts.get(host_id)) is not None:
                host.update()

    def show_colouring(self, colouring: Colouring) -> None:
        """Paint the shades of a colouring; only what has another one is drawn again."""
        before, self.look.colouring = self.look.colouring, colouring
        if before.name != colouring.name:
            for anything in self.items():
                anything.update()
            return
        for object_id in before.shades.keys() | colouring.shades.keys():
            item = self._by_id.get(object_id)
            if item is not None and before.shades.get(object_id) != colouring.shades.get(object_id):
                item.update()

    def helpEvent(self, event: QGraphicsSceneHelpEvent) -> None:
        """Tell what lies under the pointer, with its numbers of this moment."""
        item = self.item_at(event.scenePos())
        QToolTip.showText(event.screenPos(), tip(item) if item is not None else "", event.widget())

    def mark_selection(self, ids: Sequence[str]) -> None:
        """Show these as selected, the last one as the current one."""
        self._marked = tuple(ids)
        chosen, current = set(ids), ids[-1] if ids else None
        for item in self._by_id.values():
            if chosen or item.is_selected:
                item.mark(selected=not chosen.isdisjoint(item.object_ids), current=current in item.object_ids)
        for ribbon in self._ribbons.values():
            ribbon.mark(self._marked)

    # Finding

    def item_of(self, object_id: str) -> CanvasItem | None:
        """The item that shows an object."""
        return self._by_id.get(object_id)

    def host_of(self, object_id: str) -> str | None:
        """Id of the host that an object stands on; of a host itself: its own."""
        return object_id if object_id in self._hosts else self._host_of.get(object_id)

    def item_at(self, point: QPointF, *kinds: str, but: Iterable[str] = ()) -> CanvasItem | None:
        """The topmost item at a place, of these kinds, none of the ids in `but`."""
        left_out = set(but)
        for item in self.items(point):
            if (
                isinstance(item, CanvasItem)
                and item.object_ids
                and (not kinds or item.kind in kinds)
                and left_out.isdisjoint(item.object_ids)
                and item.rect_in_scene().contains(point)
            ):
                return item
        return None

    def ribbon_at(self, point: QPointF) -> RibbonItem | None:
        """The node group whose name is at a place."""
        return next((i for i in self.items(point) if isinstance(i, RibbonItem)), None)

    def in_order(self) -> list[CanvasItem]:
        """Every item in reading order: locations with their hosts and what is inside them."""
        items: list[CanvasItem] = []
        seen: set[str] = set()
        left = [i for i, box in self.layout.locations.items() if not box.depth]
        while left:
            place_id = left.pop(0)
            box = self.layout.locations[place_id]
            items.append(self._locations[place_id])
            for host_id in box.hosts:
                items += [self._hosts[host_id], *self._inside[host_id]]
                seen.add(host_id)
            left = [*box.children, *left]
        for host_id in self._hosts:
            if host_id not in seen:
                items += [self._hosts[host_id], *self._inside[host_id]]
        items += [item for item in self._loose if item.object_ids]
        return [item for item in items if item.isVisible()]

    def children_of(self, object_id: str) -> list[CanvasItem]:
        """What stands directly on a host or inside a location."""
        if object_id in self._inside:
            return list(self._inside[object_id])
        box = self.layout.locations.get(object_id)
        if box is None:
            return []
        return [*(self._locations[p] for p in box.children), *(self._hosts[h] for h in box.hosts)]

    def content_rect(self) -> QRectF:
        """Rectangle around everything."""
        return qrect(self.layout.bounds)

    # While something is being dragged

    def carried(self, object_ids: Iterable[str]) -> list[CanvasItem]:
        """The items that move along with these hosts or locations (themselves and their content)."""
        items_by_id: dict[int, CanvasItem] = {}
        left = [item for item in map(self._by_id.get, object_ids) if item is not None]
        while left:
            item = left.pop(0)
            items_by_id[id(item)] = item
            left += self.children_of(item.object_id)
        return list(items_by_id.values())

    def follow(self, object_ids: Iterable[str]) -> None:
        """Let the ribbons of what stands on these hosts run to where they are now."""
        hosts, hosts_now = set(object_ids), self._host_rects()
        for ribbon in self._ribbons.values():
            if any(self._host_of.get(m) in hosts for m in ribbon.members):
                ribbon.join(ribbon.members, self._stops(ribbon.members), hosts_now)

    def settle(self) -> None:
        """Put everything back to where the layout has it, after a drag."""
        for place_id, box in self.layout.locations.items():
            self._locations[place_id].place(box.rect)
        for host_id, host_box in self.layout.hosts.items():
            item = self._hosts[host_id]
            if (item.x(), item.y()) != (host_box.x, host_box.y):
                item.place(host_box.rect)
                self._place_inside(host_box)
        hosts_now = self._host_rects()
        for ribbon in self._ribbons.values():
            ribbon.join(ribbon.members, self._stops(ribbon.members), hosts_now)

    def _all_inside(self) -> Iterator[CanvasItem]:
        for items in self._inside.values():
            yield from items
        yield from (item for item in self._loose if item.object_ids)


def _looks(load: object) -> object:
    """What is seen of a load or a severity: a replay changes most loads by less than that at each step."""
    return percent(load) if isinstance(load, float) else load
