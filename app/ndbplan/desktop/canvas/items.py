"""Items of the scene: locations, hosts, processes, disks. They draw what they are told and decide nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import is_

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from ndbplan.describe.colouring import Shade
from ndbplan.describe.overlay import State, percent, state_of_network
from ndbplan.desktop.canvas.far import Told, paint_far, told
from ndbplan.desktop.canvas.look import NUMBERS_FROM, Look, process_colour
from ndbplan.desktop.canvas.shading import hatch, ink, pill, tint
from ndbplan.desktop.layout.cards import Card, Chip
from ndbplan.desktop.layout.layout import LocationBox, LooseBox
from ndbplan.desktop.look import paint
from ndbplan.desktop.look.rect import Rect
from ndbplan.desktop.look.text import text_width

Z_LOCATION, Z_HOST, Z_RIBBON, Z_INSIDE, Z_LABEL, Z_DRAGGED = 0.0, 1.0, 2.0, 3.0, 4.0, 10.0
_Z_INSIDE_ANOTHER = 0.05
_MARGIN = 5.0
_NOTE_SHARE = 0.86
"""Of the size of a location's name: what is said beside it."""
_LARGEST_APART, _APART_BOTTOM = 95, 40.0
"""Size of the name of a location that stands over its frame at most, and where that ends in the frame."""
LOG_FULL = 0.995
"""A redo log that is used to this share of its room is shown as full: what is written next waits for it."""


class CanvasItem(QGraphicsItem):
    """Base: a box with an id that can be selected, hovered and be a drop target."""

    kind = ""

    def __init__(self, look: Look, object_ids: tuple[str, ...], z: float) -> None:
        super().__init__()
        self.look = look
        self.object_ids = object_ids
        self.home_z = z
        self.size = QRectF()
        self._bounds = QRectF()
        self.is_selected = False
        self.is_current = False
        self.is_hovered = False
        self.is_target = False
        self.setZValue(z)
        if look.keeps_pixels and z != Z_LOCATION:
            self.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)

    @property
    def object_id(self) -> str:
        """The id of the object it shows; of several: the first."""
        return self.object_ids[0]

    def place(self, rect: Rect, *, changed: bool = False) -> None:
        """Stand at this place of the scene, drawn anew when what it shows has changed."""
        if self.size.width() != rect.width or self.size.height() != rect.height:
            self.prepareGeometryChange()
            self.size = QRectF(0, 0, rect.width, rect.height)
            self._bounds = self.size.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)
        self.setPos(rect.x, rect.y)
        if changed:
            self.update()

    def rect_in_scene(self) -> QRectF:
        """Its box in the scene, without the margin of the selection frame."""
        return self.size.translated(self.pos())

    def mark(self, *, selected: bool, current: bool) -> None:
        """Show whether it is selected, and whether it is the current one."""
        if (selected, current) != (self.is_selected, self.is_current):
            self.is_selected, self.is_current = selected, current
            self.update()

    def hover(self, on: bool) -> None:
        """Show that the pointer is over it."""
        if on != self.is_hovered:
            self.is_hovered = on
            self.update()

    def target(self, on: bool) -> None:
        """Show that a drop would land here."""
        if on != self.is_target:
            self.is_target = on
            self.update()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def border(self, normal: str) -> str:
        """Colour of its border in its present state."""
        t = self.look.tokens
        if self.is_selected or self.is_target:
            return t.accent
        if self.shade is not None:
            return ink(self.shade, t)
        return t.line_strong if self.is_hovered else normal

    @property
    def shade(self) -> Shade | None:
        """What the canvas' colouring says of it; None: nothing, or there is no colouring."""
        shades = self.look.colouring.shades
        return next((shades[i] for i in self.object_ids if i in shades), None)

    def border_width(self) -> float:
        """Two pixels when selected, target or coloured, at any zoom at least visible."""
        strong = self.is_selected or self.is_target or self.shade is not None
        return (2.0 if strong else 1.0) * max(1.0, 0.7 / self.look.zoom)

    @property
    def is_down(self) -> bool:
        """Whether what it shows does not run at the moment that is replayed."""
        return any(i in self.look.loads.down for i in self.object_ids)

    def severity_mark(self, painter: QPainter, right: float, centre_y: float, ids: tuple[str, ...]) -> float:
        """A dot when there is a problem with one of these objects; returns the room it takes."""
        problems = self.look.loads.problems
        worst = {problems.get(i) for i in ids}
        t = self.look.tokens
        ink = t.error if "error" in worst else t.warning_fill if "warning" in worst else None
        if ink is None:
            return 0.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(paint.brush(ink))
        painter.drawEllipse(QPointF(right - 4, centre_y), 4, 4)
        return 14.0


class LocationItem(CanvasItem):
    """A rack or zone: a frame with a title."""

    kind = "location"

    def __init__(self, look: Look, box: LocationBox) -> None:
        super().__init__(look, (box.location.id,), Z_LOCATION)
        self.box = box

    def display(self, box: LocationBox) -> None:
        """Show this location from now on."""
        changed = box._replace(rect=self.box.rect, origin=self.box.origin) != self.box
        self.box = box
        # Above what it lies in, so that a pointer finds the innermost.
        self.home_z = Z_LOCATION + _Z_INSIDE_ANOTHER * box.depth
        self.setZValue(self.home_z)
        self.place(box.rect, changed=changed)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        t, place = self.look.tokens, self.box.location
        fill = t.accent_soft if self.is_target else t.canvas if self.box.children else t.location
        edge = t.line_strong if self.box.children else t.line
        paint.box(painter, self.size, fill, self.border(edge), 12, self.border_width())
        if self.look.names_stand_apart:
            self._paint_name_apart(painter)
            return
        name_px = self.look.title_px
        note_px = gap = self.look.px(round(name_px * _NOTE_SHARE), name_px)
        title = QRectF(18, 8, self.size.width() - 36, 34)
        # What it is comes before the end of what it is called.
        kept = text_width("down", note_px or name_px, 600) + gap if self.is_down else 0.0
        width = min(text_width(place.name, name_px, 600), title.width() - kept)
        paint.text(painter, title.adjusted(0, 0, -kept, 0), place.name, t.text_strong, name_px, 600)
        domain = place.location_domain_id
        notes = [f"LocationDomainId {domain}"] if domain is not None else []
        if not self.box.hosts and not self.box.children:
            hint = QRectF(18, 40, self.size.width() - 36, self.size.height() - 52)
            hint_px = self.look.px(13, 40)
            paint.text(painter, hint, "Drag hosts here", t.muted, hint_px, 400, paint.CENTRE)
        elif len(self.box.hosts) > 6:
            notes.append(f"{len(self.box.hosts)} hosts")
        rest = title.adjusted(width + gap, 0, 0, 0)
        if self.is_down:
            paint.text(painter, rest, "down", t.error, note_px, 600)
        elif self.shade is not None and rest.width() > 40:
            paint.text(painter, rest, self.shade.text, ink(self.shade, t), note_px, 600)
        elif self.look.zoom >= NUMBERS_FROM:
            # Cut words say less than none.
            whole = (" · ".join(notes[first:]) for first in range(len(notes)))
            fits = (words for words in whole if text_width(words, note_px or name_px, 400) <= rest.width())
            paint.text(painter, rest, next(fits, ""), t.muted, note_px, 400)

    def _paint_name_apart(self, painter: QPainter) -> None:
        """The name on a ground of its own over the upper edge: inside it would be too small to read."""
        t, px = self.look.tokens, self.look.px(14, _LARGEST_APART)
        if not px or (not self.box.hosts and not self.is_down):
            return
        name = self.box.location.name
        width = min(self.size.width(), text_width(name, px, 600) + px)
        ground = QRectF(0, _APART_BOTTOM - 1.3 * px, width, 1.3 * px)
        ink_of_name = t.error if self.is_down else t.text_strong
        paint.box(painter, ground, t.canvas, self.border(t.line_strong), px / 4, 1.0 / self.look.zoom)
        paint.text(painter, ground, name, ink_of_name, px, 600, paint.CENTRE)

    def boundingRect(self) -> QRectF:
        apart = 1.3 * _LARGEST_APART - _APART_BOTTOM if self.look.names_stand_apart else 0.0
        return self._bounds.adjusted(0, -apart, 0, 0)

    def reach(self) -> None:
        """Its name is about to stand elsewhere."""
        self.prepareGeometryChange()


class HostItem(CanvasItem):
    """A host: name, hardware, loads. From far away it draws its content too, as marks."""

    kind = "host"

    def __init__(self, look: Look, card: Card) -> None:
        super().__init__(look, (card.host.id,), Z_HOST)
        self.card = card
        # Only what is exposed is painted from afar.
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self._told: Told | None = None
        """What was painted last, where that was a tile."""
        self._says: Told | None = None
        self._telling: tuple[object, ...] = (None,) * 4
        """What it is said of."""

    def display(self, card: Card, rect: Rect) -> None:
        """Show this card at this place from now on."""
        self.place(rect, changed=card is not self.card)
        self.card = card

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        t = self.look.tokens
        fill = t.card_hover if self.is_target else tint(self.shade, t.card, t)
        paint.box(painter, self.size, fill, self.border(t.line), 10, self.border_width())
        if self.look.is_far:
            self._told = self._tell()
            seen = option.exposedRect if self.look.keeps_pixels else self.size
            paint_far(painter, self.size, seen, self.card, self.look, self._told, self.is_selected)
        else:
            self._paint_near(painter)
        if self.is_down and self._told is None:
            paint.crossed(painter, self.size, t, 10, max(1.5, 1.4 / self.look.zoom))

    def follow(self, changed: Collection[str]) -> None:
        """What is on it may look different from afar; then it is drawn again.

        `changed`: ids of disks that are busier or less; in a replay nothing else is: their marks are drawn.
        """
        now = self._tell()
        tiles = [tile for tile in self.card.tiles if tile.disk.id in changed]
        if now is None and self._told is None and len(tiles) == len(changed):
            for tile in tiles:
                self.update(paint.qrect(tile.rect).adjusted(-1, -1, 1, 1))
        elif now is None or now != self._told:
            self.update()

    def _tell(self) -> Told | None:
        """What the tile says now; worked out once for all that ask while nothing has changed."""
        look = self.look
        of = (self.card, look.loads, look.colouring, look.zoom)
        if not all(map(is_, of, self._telling)):
            self._telling, self._says = of, told(self.card, look)
        return self._says

    def _paint_near(self, painter: QPainter) -> None:
        t, loads, host = self.look.tokens, self.look.loads, self.card.host
        cpu, memory = loads.cpu.get(host.id), loads.memory.get(host.id)
        width, is_coloured = self.size.width(), bool(self.look.colouring.name)
        has_bars = cpu is not None or memory is not None or is_coloured
        name_px, small_px = self.look.px(14, 22), self.look.px(12, 22)
        # Larger lines need more of the height that two of them have.
        more = max(0, small_px - 14) / 3
        left = QRectF(13, 8 - more, (width * 0.58 if has_bars else width) - 28, 20)
        room = self.severity_mark(painter, left.right(), 18, (host.id,))
        paint.text(painter, left.adjusted(0, 0, -room, 0), host.hostname, t.text_strong, name_px, 600)
        facts = self.card.subtitle.split(" · ")
        shorter = [" · ".join(facts[:count]) for count in range(len(facts), 0, -1)]
        below = QRectF(13, 28 + more, left.width() + 10, 18)
        network = None if self.is_down else state_of_network(loads, host.id)
        if network is None:
            paint.fitting(painter, below, shorter, t.muted, small_px)
        else:
            paint.fitting(painter, below, (network.words,), getattr(t, network.tone), small_px, 600)
        if is_coloured and self.shade is not None and not self.is_down:
            title, pill_px = self.look.colouring.of_what, self.look.px(12, 22)
            pill(painter, QRectF(width - 178, 11, 164, 26), title, self.shade, t, pill_px)
        for label, fraction, y in (("CPU", cpu, 9.0 - more), ("RAM", memory, 28.0 + more)):
            if fraction is not None and not is_coloured:
                self._paint_use(painter, label, fraction, QRectF(width - 178, y, 164, 18))
        if self.is_down:
            paint.text(
                painter,
                QRectF(width - 106, 9, 92, 18),
                "down",
                t.error,
                self.look.px(12, 22),
                600,
                paint.RIGHT,
            )
        if not self.card.chips and not self.card.tiles:
            hint = QRectF(13, 52, width - 28, self.size.height() - 60)
            paint.text(painter, hint, "Drag disks and nodes here", t.muted, small_px)

    def _paint_use(self, painter: QPainter, label: str, fraction: float, line: QRectF) -> None:
        """`CPU ▂▂▂ 46 %`; from afar a shorter bar, which gives way to the words behind it."""
        t, px = self.look.tokens, self.look.px(11, 22)
        ink_of_use = t.text if fraction < 0.75 else t.load_ink(fraction)
        if px == 11:
            bar = QRectF(line.x() + 32, line.y() + 6, 84, 6)
            paint.text(painter, QRectF(line.x(), line.y(), 34, 18), label, t.muted, px, 500)
            said = percent(fraction)
        else:
            said = f"{label} {percent(fraction)}"
            bar = QRectF(line.x(), line.y() + 6, min(52, line.width() - text_width(said, px, 500) - 6), 6)
        paint.bar(painter, bar, fraction, t)
        paint.text(painter, line, said, ink_of_use, px, 500, paint.RIGHT)


class LooseItem(CanvasItem):
    """The card of API slots that belong to no host."""

    kind = "loose"

    def __init__(self, look: Look, box: LooseBox) -> None:
        super().__init__(look, (), Z_HOST)
        self.box = box
        self.place(box.rect)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        t = self.look.tokens
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(paint.colour(t.line_strong), 1.0, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(self.size.adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
        is_far = self.look.is_far
        # Near, the chip of the slots stands behind the words.
        end = self.size.right() - 15 if is_far else self.box.chips[0].rect.x - self.box.rect.x - 6
        room = QRectF(13, 0, end - 13, self.size.height())
        words = [self.box.chips[0].text] if is_far else ["API programs anywhere", "API programs", "API"]
        paint.fitting(painter, room, words, t.muted, self.look.px(24, 40) if is_far else self.look.px(12, 22))


class ProcessItem(CanvasItem):
    """A process: an outlined chip, a data node in the colour of its node group."""

    kind = "process"

    def __init__(self, look: Look, chip: Chip) -> None:
        super().__init__(look, chip.ids, Z_INSIDE)
        self.chip = chip

    def display(self, chip: Chip, rect: Rect) -> None:
        """Show this chip at this place from now on."""
        self.place(rect, changed=chip is not self.chip)
        self.chip, self.object_ids = chip, chip.ids

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        t = self.look.tokens
        kind_ink = t.muted if self.look.colouring.name else process_colour(self.chip, t)
        colour = kind_ink if self.shade is None else ink(self.shade, t)
        starting = bool(self.look.loads.starting.keys() & set(self.object_ids))
        is_filled = self.is_selected and not (self.is_down or starting or self.state is not None)
        if is_filled:
            paint.box(painter, self.size, colour, colour, 7, 1.5)
            self._say(painter, self._words, t.canvas)
        else:
            self._paint_state(painter, colour)
        if self.is_selected and (self.is_current or not is_filled):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(paint.pen(t.accent, 1.5))
            painter.drawRoundedRect(self.size.adjusted(-2.5, -2.5, 2.5, 2.5), 9, 9)
        fill = self.look.loads.redo_buffers.get(self.object_id)
        if fill is not None and not starting:
            track = self.size.adjusted(5, self.size.height() - 5, -5, -2)
            paint.bar(painter, track, fill, t)
        self.severity_mark(painter, self.size.right() + 3, self.size.top() + 1, self.chip.ids)

    @property
    def state(self) -> State | None:
        """What its process does in a live cluster, where it does not simply run."""
        return next((self.look.loads.states[i] for i in self.object_ids if i in self.look.loads.states), None)

    @property
    def _words(self) -> str:
        """What it is, or what the colouring says of it."""
        if self.shade is None:
            return self.chip.text
        words = f"{self.chip.number} · {self.shade.text}"
        return words if text_width(words, 13, 600) <= self.size.width() - _MARGIN else self.shade.text

    def _say(self, painter: QPainter, words: str, ink_of_words: str) -> None:
        """The words as they can be read: from afar how it is or what it is, or the node id alone."""
        px, (what, _, how) = self.look.px(13, 24), words.partition(" · ")
        room = self.size.adjusted(4, 0, -4, 0) if px > 13 else self.size
        shorter = what if words == self.chip.text else how
        texts = (words, *([shorter] if shorter else ()), self.chip.number)
        paint.fitting(painter, room, texts, ink_of_words, px, 600, paint.CENTRE)

    def _paint_state(self, painter: QPainter, colour: str) -> None:
        """The chip as it is at the moment on show: up, starting, with a full log, down."""
        t, loads = self.look.tokens, self.look.loads
        ground = t.card_hover if self.is_hovered else t.location
        start = next((loads.starting[i] for i in self.object_ids if i in loads.starting), None)
        words, shade, state = self._words, self.shade, self.state
        if state is not None:
            shade, colour, words = None, getattr(t, state.tone), f"{self.chip.number} · {state.words}"
        elif start is not None:
            shade, colour = None, t.warning
            words = f"{self.chip.number} · phase {start.number}/{start.phases}"
        elif self.is_down:
            paint.box(painter, self.size, t.card, t.line_strong, 7, 1.5)
            paint.crossed(painter, self.size, t, 7, 1.5)
            self._say(painter, words, t.faint)
            return
        elif loads.redo_logs.get(self.object_id, 0.0) >= LOG_FULL:
            shade, colour, words = None, t.error, f"{self.chip.number} · log full"
        paint.box(painter, self.size, tint(shade, ground, t), colour, 7, 1.5)
        if shade is not None:
            hatch(painter, self.size, shade, t, 7)
        text_ink = colour if shade is None else t.text_strong
        self._say(painter, words, text_ink)
        if start is not None:
            done = (start.number - 1) / start.phases
            paint.progress(painter, self.size.adjusted(5, self.size.height() - 5, -5, -2), done, colour, t)


def rect_around(items: Sequence[CanvasItem]) -> QRectF:
    """The smallest rectangle of the scene that holds all of these."""
    rect = QRectF()
    for item in items:
        rect = rect.united(item.rect_in_scene())
    return rect
