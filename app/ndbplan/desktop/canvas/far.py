"""A host seen from far away: its content as marks, and from farther one tile with its worst use."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from ndbplan.base.units import how_many
from ndbplan.describe.colouring import Shade, tone_of
from ndbplan.describe.overlay import percent, state_of_network, worst_use
from ndbplan.desktop.canvas.look import Look, process_colour
from ndbplan.desktop.canvas.shading import block, ink
from ndbplan.desktop.layout.cards import Card
from ndbplan.desktop.look import paint
from ndbplan.desktop.look.text import text_width

_LARGEST_PX = 56
_TWO_LINES, _ONE_LINE = 2.6, 1.15
"""Lines that a tile is high which has its name and value below one another, or beside."""
MARKED = frozenset(("down", "states", "problems"))
"""Loads that marks show, beside how busy disks are; a tile shows the worst of all."""
_IN_CHIP, _IN_DISK = 26, 42
"""Size of a number in the mark of a node and of a disk at most."""


class Told(NamedTuple):
    """What a tile says of its host: one that says the same need not be painted again."""

    shade: Shade | None
    value: str
    tone: str
    """Of the value."""
    has_error: bool
    is_down: bool


def told(card: Card, look: Look) -> Told | None:
    """What the tile of a host says now; None: it is near enough for marks, which say more."""
    if not look.shows_tiles:
        return None
    loads, shade = look.loads, shade_of_host(card, look)
    states = [loads.states[i] for chip in card.chips for i in chip.ids if i in loads.states]
    down = sum(all(i in loads.down and i not in loads.states for i in chip.ids) for chip in card.chips)
    value, tone = shade.text if shade else "", "text_strong"
    if down:
        value, tone = f"{how_many(down, 'node')} down", "error"
    elif states:
        value, tone = states[0].words, states[0].tone
    elif (network := state_of_network(loads, card.host.id)) is not None:
        value, tone = network.words, network.tone
    return Told(shade, value, tone, _has_error(card, look), card.host.id in loads.down)


def paint_far(
    painter: QPainter,
    size: QRectF,
    seen: QRectF,
    card: Card,
    look: Look,
    says: Told | None,
    selected: bool,
) -> None:
    """What is on a card that was painted before; `says` is what was told of it, `seen` the part to paint."""
    if says is not None:
        _paint_tile(painter, size, card, look, says, selected)
    else:
        _paint_marks(painter, size.width(), seen, card, look)
    if not selected and not look.colouring.name and _has_error(card, look):
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(paint.pen(look.tokens.error, 1.4 / look.zoom))
        painter.drawRoundedRect(size, 10, 10)


def shade_of_host(card: Card, look: Look) -> Shade | None:
    """What the colouring says of a host; without one its worst use."""
    if look.colouring.name:
        return look.colouring.shades.get(card.host.id)
    worst = worst_use(look.loads, card.host)
    return worst and Shade(tone_of(worst.share), f"{worst.what} {percent(worst.share)}")


def _paint_tile(
    painter: QPainter, size: QRectF, card: Card, look: Look, says: Told, is_selected: bool
) -> None:
    t, shade = look.tokens, says.shade
    if shade is not None:
        block(painter, size, shade, t, 10)
        # What is selected has a frame of two pixels, however small its tile is.
        wide = max(2.0, (2.0 if is_selected else 1.0) / look.zoom)
        inset = wide / 2 if is_selected else 2.0
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(paint.pen(t.accent if is_selected else ink(shade, t), wide))
        painter.drawRoundedRect(size.adjusted(inset, inset, -inset, -inset), 10, 10)
    if says.is_down:
        # Below the words, which say what is gone.
        paint.crossed(painter, size, t, 10, max(1.5, 1.4 / look.zoom))
    inner = size.adjusted(14, 8, -14, -8)
    half, ink_of_value = inner.height() / 2, getattr(t, says.tone)
    px = look.px(min(round(11 / look.zoom), _LARGEST_PX), int(size.height() / _TWO_LINES))
    if px:
        name = QRectF(inner.x(), inner.y(), inner.width(), half)
        paint.text(painter, name, card.host.hostname, t.text_strong, px, 600)
        paint.text(painter, name.translated(0, half), says.value, ink_of_value, px, 500)
        return
    # One line: what is wrong where that fits, else the name, and what it is worth where that fits beside it.
    px = look.px(14, int(size.height() / _ONE_LINE))
    if not px:
        return
    line = size.adjusted(8, 0, -8, 0)
    if says.tone != "text_strong":
        words = says.value if text_width(says.value, px, 600) <= line.width() else card.host.hostname
        paint.text(painter, line, words, ink_of_value, px, 600)
        return
    paint.text(painter, line, card.host.hostname, t.text_strong, px, 600)
    left = line.width() - text_width(card.host.hostname, px, 600) - px / 2
    value = " ".join(says.value.split(" ")[-2:]) if says.value.endswith("%") else ""
    if value and text_width(value, px, 500) <= left:
        paint.text(painter, line, value, ink_of_value, px, 500, paint.RIGHT)


def _paint_marks(painter: QPainter, width: float, seen: QRectF, card: Card, look: Look) -> None:
    t, loads = look.tokens, look.loads
    size = min(round(15 / look.zoom * 0.72), 34)
    number_px, share_px = look.px(22, _IN_CHIP), look.px(24, _IN_DISK)
    name = QRectF(14, 6, width - 28, 44)
    if name.intersects(seen):
        paint.text(painter, name, card.host.hostname, t.text, size, 600)
    for chip in card.chips:
        rect = paint.qrect(chip.rect)
        if not rect.intersects(seen):
            continue
        state = next((loads.states[i] for i in chip.ids if i in loads.states), None)
        if state is not None:
            paint.box(painter, rect, t.card, getattr(t, state.tone), 7, 3.0)
            paint.text(painter, rect, chip.number, getattr(t, state.tone), number_px, 600, paint.CENTRE)
            continue
        if any(i in loads.down for i in chip.ids):
            paint.crossed(painter, rect, t, 7, 3.0)
            paint.text(painter, rect, chip.number, t.error, number_px, 600, paint.CENTRE)
            continue
        paint.box(painter, rect, process_colour(chip, t), None, 7)
        paint.text(painter, rect, chip.number, t.canvas, number_px, 600, paint.CENTRE)
    for tile in card.tiles:
        rect = paint.qrect(tile.rect)
        if not rect.intersects(seen):
            continue
        fraction = loads.disks.get(tile.disk.id)
        paint.box(painter, rect, t.location, None, 7)
        if fraction is None:
            continue
        filled = QRectF(rect.x(), rect.y(), rect.width() * min(fraction, 1.0), rect.height())
        paint.box(painter, filled, t.load(fraction), None, 7)
        colour = t.canvas if fraction > 0.6 else t.muted
        paint.text(painter, rect, percent(fraction), colour, share_px, 600, paint.CENTRE)


def _has_error(card: Card, look: Look) -> bool:
    problems = look.loads.problems
    return "error" in {problems.get(i) for i in (card.host.id, *(disk.id for disk in card.host.disks))}
