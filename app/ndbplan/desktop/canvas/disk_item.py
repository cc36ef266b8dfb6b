"""The item of a disk: how busy and how full it is, and what is written to it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from ndbplan.describe.overlay import percent
from ndbplan.desktop.canvas.items import Z_INSIDE, CanvasItem
from ndbplan.desktop.canvas.look import Look
from ndbplan.desktop.canvas.shading import tint
from ndbplan.desktop.layout.cards import FULL_WIDTH, WIDE_TILE, Tile
from ndbplan.desktop.look import paint
from ndbplan.desktop.look.rect import Rect
from ndbplan.desktop.look.text import elided, text_width
from ndbplan.desktop.look.theme import icon_pixmap

_LEAST_NAME_PX = 45
"""A name of which less is seen says nothing."""


def named(name: str, share: float, size_px: int, width: float) -> tuple[str, ...]:
    """What stands on a disk, the longest first: a name that is too long is cut before it is left out."""
    end = f" · {percent(share)}"
    room = width - text_width(end, size_px, 600)
    short = (f"{elided(name, size_px, 600, room)}{end}",) if room >= _LEAST_NAME_PX else ()
    return (f"{name}{end}", *short, percent(share))


class DiskItem(CanvasItem):
    """A disk: how busy (outer ring) and how full it is (inner ring), name, what is written to it."""

    kind = "disk"

    def __init__(self, look: Look, tile: Tile) -> None:
        super().__init__(look, (tile.disk.id,), Z_INSIDE)
        self.tile = tile

    def display(self, tile: Tile, rect: Rect) -> None:
        """Show this tile at this place from now on."""
        self.place(rect, changed=tile is not self.tile)
        self.tile = tile

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        t, tile = self.look.tokens, self.tile
        fraction = self.look.loads.disks.get(tile.disk.id)
        full = self.look.loads.space.get(tile.disk.id)
        fill = t.accent_soft if self.is_target else t.card_hover if self.is_hovered else t.location
        fill = fill if self.is_target else tint(self.shade, fill, t)
        paint.box(painter, self.size, fill, self.border(t.line), 8, self.border_width())
        middle = self.size.height() / 2
        paint.ring(painter, QPointF(23, middle), 15, fraction, t)
        if full is not None:
            paint.ring(painter, QPointF(23, middle), 8, full, t, 4.0)
        elif fraction is None:
            painter.drawPixmap(QPointF(17, middle - 6), icon_pixmap("hard-drive", t.faint, 12))
        speed = self.look.loads.slow.get(tile.disk.id)
        by_space = self.look.colouring.name == "space"
        share = full if by_space else fraction
        name_px, role_px = self.look.px(12, 22), self.look.px(11, 22)
        more = max(0, name_px - 14) / 3
        words = QRectF(44, 5 - more, self.size.width() - 50, 19)
        room = self.severity_mark(painter, self.size.right() - 6, 14, (tile.disk.id,))
        below = words.translated(0, 17 + 2 * more)
        if speed is not None or self.is_down:
            state = "failed" if speed is not None and speed <= 0 else "down" if speed is None else ""
            ink = t.error if state else t.warning
            rest = percent(speed or 0.0)
            said = (state,) if state else (f"{rest} of its speed", rest)
            paint.text(painter, words.adjusted(0, 0, -room, 0), tile.disk.name, t.muted, name_px, 600)
            paint.fitting(painter, below, said, ink, role_px, 600)
            if ink == t.error:
                paint.crossed(painter, self.size, t, 8, 1.5)
            return
        above = words.adjusted(0, 0, -room, 0)
        said_name = (
            (tile.disk.name,) if share is None else named(tile.disk.name, share, name_px, above.width())
        )
        paint.fitting(painter, above, said_name, t.text_strong, name_px, 600)
        if self.shade is not None and self.look.colouring.name not in ("disk", "space"):
            paint.text(painter, below, self.shade.text, t.text_strong, role_px, 600)
            return
        roles = tile.roles
        is_wide = self.size.width() >= WIDE_TILE and role_px == 11
        if full is not None and not by_space and (full >= 0.75 or is_wide):
            said_full = f"{percent(full)} full"
            ink = t.muted if full < 0.75 else t.load_ink(full)
            paint.text(painter, below, said_full, ink, role_px, 500, paint.RIGHT)
            below.setWidth(below.width() - FULL_WIDTH)
            # A narrow tile has room for one of them: what is short comes first.
            roles = roles if is_wide else ""
        count = len(tile.all_roles.split(", ")) if tile.all_roles else 0
        shorter = (roles, f"{count} roles") if roles and count > 1 else (roles,)
        paint.fitting(painter, below, shorter, t.muted, role_px, 500)
