"""Painted contents of memories and disks side by side: in a map each byte has the same area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QBrush,
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ndbplan.base.units import format_percent
from ndbplan.describe.contents import Contents, Kind, Part
from ndbplan.desktop.layout.treemap import squarified
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.look.heat import mixed
from ndbplan.desktop.look.rect import Rect
from ndbplan.desktop.look.text import text_width
from ndbplan.desktop.look.theme import Tokens

_EDGE, _HEAD, _LEGEND, _BETWEEN = 8.0, 20.0, 20.0, 10.0
_WIDE = 1.15
"""Width against height from which on what is free lies beside what is taken."""
_NAMES: dict[Kind, str] = {
    "rows": "rows", "indexes": "indexes", "buffers": "buffers", "node": "other data nodes",
    "system": "operating system", "redo": "redo log", "lcp": "checkpoints", "undo": "undo",
    "data_files": "data files", "backup": "backups", "free": "free",
}  # fmt: skip
"""Words of the legend, in its order."""
_SHORT_NAMES: dict[Kind, str] = {"system": "system", "node": "nodes", "lcp": "LCP", "redo": "redo"}
"""Where there is less room."""
_STEPS = {
    Qt.Key.Key_Left: QPointF(-1, 0), Qt.Key.Key_Right: QPointF(1, 0),
    Qt.Key.Key_Up: QPointF(0, -1), Qt.Key.Key_Down: QPointF(0, 1),
}  # fmt: skip


@dataclass(frozen=True)
class Tile:
    """A part without parts, and where it is."""

    part: Part
    within: tuple[Part, ...]
    """What it is a part of, the nearest first."""
    contents: Contents
    rect: QRectF


def _hue(kind: Kind, tokens: Tokens) -> str:
    """Colour of a kind by its token."""
    series = tokens.series
    return {
        "rows": tokens.accent, "indexes": tokens.violet, "buffers": tokens.info, "node": tokens.muted,
        "redo": series[2], "lcp": series[0], "undo": series[3], "data_files": series[1], "backup": series[5],
    }.get(kind, tokens.faint)  # fmt: skip


class TreemapView(QWidget):
    """The pointer or the arrow keys pick a tile; a click, or Enter, chooses what it stands for."""

    chosen = Signal(object)
    """Ids of what a tile stands for."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.contents: tuple[Contents, ...] = ()
        self._tiles: list[Tile] | None = None
        self._picked: int | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(120, 90)
        self.setAccessibleName(name)
        theme.theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(360, 220)

    def show_contents(self, contents: Sequence[Contents]) -> None:
        """Draw other contents."""
        self.contents = tuple(contents)
        self._tiles, self._picked = None, None
        self.setAccessibleDescription("; ".join(_headline(one) for one in self.contents))
        self.update()

    @property
    def tiles(self) -> list[Tile]:
        """All tiles where they are painted."""
        if self._tiles is None:
            self._tiles = [tile for one, area in self._areas() for tile in _laid(one, area)]
        return self._tiles

    @property
    def picked(self) -> Tile | None:
        """The tile that the pointer or the keys are at."""
        return None if self._picked is None else self.tiles[self._picked]

    def _areas(self) -> list[tuple[Contents, Rect]]:
        """The maps, side by side and of one size."""
        count = max(1, len(self.contents))
        width = (self.width() - 2 * _EDGE - (count - 1) * _BETWEEN) / count
        height = self.height() - _EDGE - _HEAD - _LEGEND
        return [
            (one, Rect(_EDGE + i * (width + _BETWEEN), _HEAD + 4, max(1.0, width), max(1.0, height - 4)))
            for i, one in enumerate(self.contents)
        ]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._tiles, self._picked = None, None

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = colours.accent if self.hasFocus() else colours.line
        paint.box(painter, QRectF(self.rect()), colours.sunken, line, 6)
        for one, area in self._areas():
            _paint_head(painter, one, area)
        for tile in self.tiles:
            _paint_tile(painter, tile, colours)
        for one, area in self._areas():
            _paint_groups(painter, one, area, colours)
        if self.picked is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.text_strong), 2))
            painter.drawRect(self.picked.rect.adjusted(1, 1, -1, -1))
        self._paint_legend(painter, colours)
        painter.end()

    def _paint_legend(self, painter: QPainter, colours: Tokens) -> None:
        kinds = {tile.part.kind for tile in self.tiles}
        x, y = _EDGE, self.height() - _LEGEND + 2
        shown = [(kind, words) for kind, words in _NAMES.items() if kind in kinds]
        needed = sum(text_width(words, 11, 400) + 28 for _, words in shown)
        gap = 28.0 if needed <= self.width() - 2 * _EDGE else 22.0
        for kind, words in shown:
            words = words if gap == 28.0 else _SHORT_NAMES.get(kind, words)
            wide = text_width(words, 11, 400)
            if x + wide + 14 > self.width() - _EDGE:
                break
            painter.setPen(paint.pen(colours.line_strong, 1))
            painter.setBrush(_ground(kind, colours))
            painter.drawRect(QRectF(x + 0.5, y + 3.5, 9, 9))
            paint.text(painter, QRectF(x + 14, y, wide + 4, 15), words, colours.muted, 11)
            x += wide + gap

    def tip(self, place: QPointF) -> str:
        """What there is to say about a place."""
        at = self._at(place)
        if at is not None:
            return _words(self.tiles[at])
        heads = [
            one for one, area in self._areas() if area.x <= place.x() <= area.right and place.y() < area.y
        ]
        return _headline(heads[0]) if heads else ""

    def _at(self, place: QPointF) -> int | None:
        return next((i for i, tile in enumerate(self.tiles) if tile.rect.contains(place)), None)

    def _pick(self, at: int | None) -> None:
        if at != self._picked:
            self._picked = at
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pick(self._at(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pick(self._at(event.position()))
            self._choose()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pick(None)

    def _choose(self) -> None:
        tile = self.picked
        if tile is not None:
            ids = (part.object_id for part in (tile.part, *tile.within) if part.object_id)
            self.chosen.emit((next(ids, tile.contents.object_id),))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is not None and self.tiles:
            self._step(step)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._choose()
        else:
            super().keyPressEvent(event)

    def _step(self, way: QPointF) -> None:
        """To the nearest tile in a direction; from nothing to the first."""
        if self._picked is None:
            self._pick(0)
        else:
            here = self.tiles[self._picked].rect.center()
            ahead = []
            for i, tile in enumerate(self.tiles):
                far = tile.rect.center() - here
                along = far.x() * way.x() + far.y() * way.y()
                aside = abs(far.x() * way.y()) + abs(far.y() * way.x())
                if along > 1 and i != self._picked:
                    ahead.append((along + 2 * aside, i))
            if ahead:
                self._pick(min(ahead)[1])
        assert self._picked is not None
        tile = self.tiles[self._picked]
        words = _words(tile)
        self.setAccessibleDescription(words.replace("\n", "; "))
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        QToolTip.showText(self.mapToGlobal(tile.rect.center()).toPoint(), words, self)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip(QPointF(event.pos())), self)
            return True
        return super().event(event)


def _laid(contents: Contents, area: Rect) -> list[Tile]:
    tiles: list[Tile] = []

    def lay(parts: Sequence[Part], within: tuple[Part, ...], room: Rect) -> None:
        for part, rect in _places(parts, room):
            if part.parts:
                lay(part.parts, (part, *within), rect)
            else:
                place = QRectF(rect.x, rect.y, rect.width, rect.height)
                tiles.append(Tile(part, within, contents, place))

    lay(contents.parts, (), area)
    return tiles


def _places(parts: Sequence[Part], room: Rect) -> list[tuple[Part, Rect]]:
    """Where parts are: what is free above the others, as in a glass, or beside them where it is wide."""
    taken = sorted((part for part in parts if part.kind != "free"), key=lambda part: -part.size_bytes)
    free = [part for part in parts if part.kind == "free"]
    whole = sum(part.size_bytes for part in parts)
    share = sum(part.size_bytes for part in free) / whole if whole else 0.0
    if room.width > _WIDE * room.height:
        above = Rect(room.x + room.width * (1 - share), room.y, room.width * share, room.height)
        below = Rect(room.x, room.y, room.width * (1 - share), room.height)
    else:
        above = Rect(room.x, room.y, room.width, room.height * share)
        below = Rect(room.x, room.y + above.height, room.width, room.height - above.height)
    placed = [*zip(free, squarified([p.size_bytes for p in free], above), strict=True)]
    return [*zip(taken, squarified([p.size_bytes for p in taken], below), strict=True), *placed]


def _ground(kind: Kind, colours: Tokens) -> QBrush:
    if kind == "free":
        return QBrush(QColor(colours.panel))
    if kind == "system":
        return QBrush(QColor(colours.faint), Qt.BrushStyle.BDiagPattern)
    return QBrush(mixed(colours.card, _hue(kind, colours), 0.42 if colours.is_dark else 0.30))


def _paint_tile(painter: QPainter, tile: Tile, colours: Tokens) -> None:
    rect, part = tile.rect, tile.part
    gap = 0.75 if min(rect.width(), rect.height()) > 4 else 0.0
    inner = rect.adjusted(gap, gap, -gap, -gap)
    if part.kind == "system":
        painter.fillRect(inner, QColor(colours.panel))
    painter.fillRect(inner, _ground(part.kind, colours))
    if part.kind == "free" and min(rect.width(), rect.height()) > 6:
        painter.setPen(QPen(QColor(colours.line_strong), 1, Qt.PenStyle.DotLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(inner.adjusted(1, 1, -1, -1))
    name, size = _label(tile), tile.contents.said(part.size_bytes)
    room = rect.adjusted(6, 3, -4, -3)
    if part.kind == "system" and text_width(name, 11, 600) > room.width():
        name = "OS"
    if room.width() < (18 if name == "OS" else 40) or room.height() < 14:
        return
    says_size = room.height() >= 30 and text_width(size, 11, 400) <= room.width()
    if part.kind == "system":
        # Nothing is hatched behind letters.
        wide = max(text_width(name, 11, 600), text_width(size, 11, 400) if says_size else 0) + 6
        high = 31 if says_size else 16
        painter.fillRect(
            QRectF(room.x() - 3, room.y(), min(room.width(), wide) + 3, high), QColor(colours.panel)
        )
    ink = colours.muted if part.kind in ("free", "system") else colours.text_strong
    paint.text(painter, QRectF(room.x(), room.y(), room.width(), 15), name, ink, 11, 600)
    if says_size:
        paint.text(painter, QRectF(room.x(), room.y() + 15, room.width(), 15), size, ink, 11)


def _label(tile: Tile) -> str:
    """Name of a tile: a table where its rows are, not once more where its indexes are."""
    part = tile.part
    if part.kind == "rows" and tile.within:
        return tile.within[0].name
    return "indexes" if part.kind == "indexes" and tile.part.name.startswith("Indexes") else part.name


def _paint_groups(painter: QPainter, contents: Contents, area: Rect, colours: Tokens) -> None:
    """Frames around what belongs together."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for part, rect in _places(contents.parts, area):
        if part.parts and min(rect.width, rect.height) > 8:
            is_full = part.kind == "memory" and all(one.kind != "free" for one in part.parts)
            ink, width = (colours.error, 2.0) if is_full else (colours.line_strong, 1.5)
            painter.setPen(paint.pen(ink, width))
            painter.drawRect(QRectF(rect.x, rect.y, rect.width, rect.height))


def _paint_head(painter: QPainter, contents: Contents, area: Rect) -> None:
    colours = theme.tokens()
    words = f"{contents.said(contents.capacity_bytes)}, {format_percent(contents.taken)} taken"
    ink = colours.muted
    if contents.missing_bytes:
        words, ink = f"{contents.said(contents.missing_bytes)} too little", colours.error
    wide = text_width(words, 11, 400)
    title = QRectF(area.x, 4, max(10.0, area.width - wide - 8), 16)
    called = title_in(contents.title, title.width())
    if text_width(called, 11, 600) > title.width() and title.width() < 60:
        title.setWidth(area.width)
        called, words = title_in(contents.title, area.width), ""
    paint.text(painter, title, called, colours.text_strong, 11, 600)
    paint.text(painter, QRectF(area.right - wide - 2, 4, wide + 2, 16), words, ink, 11, 400, paint.RIGHT)


def title_in(title: str, width: float) -> str:
    """A title in this room: of a disk of a host, all of whose disks begin alike, its own name at least."""
    return title if text_width(title, 11, 600) <= width else title.rpartition(" / ")[2]


def _headline(contents: Contents) -> str:
    """What there is to say about a whole memory or disk."""
    text = (
        f"{contents.title}: {contents.said(contents.capacity_bytes)}, {format_percent(contents.taken)} taken"
    )
    missing = contents.missing_bytes
    return f"{text}; {contents.said(missing)} more is needed" if missing else text


def _words(tile: Tile) -> str:
    """What there is to say about a tile."""
    part, whole = tile.part, tile.contents.capacity_bytes
    lines = [
        part.name,
        f"{tile.contents.said(part.size_bytes)}, {format_percent(part.size_bytes / whole)} of all",
    ]
    if part.detail:
        lines.append(part.detail)
    for around in tile.within:
        if around.name not in part.name:
            detail = f": {around.detail}" if around.detail else ""
            lines.append(f"in {around.name} ({tile.contents.said(around.size_bytes)}){detail}")
    return "\n".join(lines)
