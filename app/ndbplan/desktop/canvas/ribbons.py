"""Ribbons: the line that joins the data nodes of one node group, with the group's name on it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from ndbplan.describe.overlay import percent
from ndbplan.desktop.canvas.items import Z_RIBBON
from ndbplan.desktop.canvas.look import Look
from ndbplan.desktop.layout.layout import HOST_GAP, LOCATION_GAP, LOCATION_PAD
from ndbplan.desktop.look import paint
from ndbplan.desktop.look.text import text_width

Stop = tuple[QRectF, QRectF]
"""Where a ribbon stops: the rectangles of the chip and of its host, in the scene."""
_PILL_HEIGHT = 24.0
_BRACKET = 9.0
_ADJACENT = LOCATION_GAP + 2 * LOCATION_PAD + 24.0
"""Hosts further apart than this have others between them."""
_LANES = 5
_WIDER = 20.0
"""How far a name that is enlarged reaches out of its place on each side."""
_ROOM_FOR_THE_NAME = 78.0
"""Between two hosts; in less the number stands alone."""


class RibbonItem(QGraphicsItem):
    """Joins the members of a node group."""

    kind = "group"

    def __init__(self, look: Look, number: int) -> None:
        super().__init__()
        self.look = look
        self.number = number
        self.members: tuple[str, ...] = ()
        self.is_selected = False
        self.share = 1.0
        """What the slowest link between its members carries of what it could; 0: it is cut."""
        self._path = QPainterPath()
        self._goes_around = False
        self._pill_height, self._is_narrow = _PILL_HEIGHT, False
        self._pill = QRectF()
        self._middle: QPointF | None = None
        """Where the name stands."""
        self._bounds = QRectF()
        self.setZValue(Z_RIBBON)

    def join(self, members: tuple[str, ...], stops: Sequence[Stop], hosts: Sequence[QRectF] = ()) -> None:
        """Run through these stops from now on, and past all other hosts."""
        self.members = members
        self.prepareGeometryChange()
        ordered = sorted(stops, key=lambda stop: (stop[1].x(), stop[1].y()))
        path, middle = QPainterPath(), None
        self._pill_height, self._is_narrow = _PILL_HEIGHT, False
        for before, after in pairwise(ordered):
            at = _join(path, before, after, self.number, hosts)
            if middle is None and at is not None:
                gap = after[1].left() - before[1].right()
                # Between two hosts of a column, or two columns of a rack, there is less room for the name.
                self._pill_height = _PILL_HEIGHT if gap >= 0 else HOST_GAP - 2
                self._is_narrow = 0 <= gap < _ROOM_FOR_THE_NAME
            middle = middle or at
        self._path = path
        self._goes_around = any(b[1].left() - a[1].right() > _ADJACENT for a, b in pairwise(ordered))
        self._middle = middle
        self._place_pill()

    def refresh(self) -> None:
        """The members or their link may be otherwise: the name says so."""
        self.prepareGeometryChange()
        self._place_pill()

    def _place_pill(self) -> None:
        middle, high = self._middle, self._pill_height
        width = text_width(self.text, self._text_px, 600) + (12 if self._is_narrow else 24)
        if middle is None:
            self._pill = QRectF()
        else:
            self._pill = QRectF(middle.x() - width / 2, middle.y() - high / 2, width, high)
        self._bounds = self._path.boundingRect().united(self._pill).adjusted(-4 - _WIDER, -4, 4 + _WIDER, 4)
        self.update()

    @property
    def up(self) -> int:
        """Members that run at the moment on show."""
        return sum(member not in self.look.loads.down for member in self.members)

    @property
    def text(self) -> str:
        """`Group 0`; while members are down `Group 0: 1 of 2`."""
        name = f"{self.number}" if self._is_narrow else f"Group {self.number}"
        if self.up < len(self.members):
            return f"{name}: {self.up} of {len(self.members)}"
        if self.share == 1.0:
            return name
        return f"{name}: {percent(self.share) if self.share else 'cut'}"

    @property
    def _text_px(self) -> int:
        return 12 if self._pill_height == _PILL_HEIGHT else 10

    def show_link(self, share: float) -> None:
        """What is left of the link between its members; 0: they do not see one another."""
        if share != self.share:
            self.share = share
            self.refresh()

    def mark(self, ids: Sequence[str]) -> None:
        """Stand out when one of these is a member."""
        selected = any(member in ids for member in self.members)
        if selected != self.is_selected:
            self.is_selected = selected
            self.update()

    def _alpha(self, *, far: bool) -> int:
        if self._goes_around:
            return 55 if far else 100
        return 110 if far else 190

    def boundingRect(self) -> QRectF:
        return self._bounds

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        if not self.look.is_far and (self.is_selected or not self._goes_around):
            path.addRoundedRect(self._pill, 12, 12)
        return path

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        t = self.look.tokens
        hurt = self.up < len(self.members) or self.share < 1.0
        # Beside a colouring the colours of groups would be read as its.
        own = t.muted if self.look.colouring.name not in ("", "group") else t.group(self.number)
        ink = t.error if not self.share or not self.up else t.warning if hurt else own
        far = self.look.is_far
        if far and (self._goes_around or self.look.shows_tiles) and not self.is_selected:
            # Names are drawn larger from afar, and this line runs where they stand.
            return
        width = (3.0 if self.is_selected else 2.0) * (max(1.0, 0.6 / self.look.zoom) if far else 1.0)
        alpha = 255 if self.is_selected else self._alpha(far=far)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        pen = paint.pen(ink, width, alpha)
        if self.share < 1.0:
            pen = QPen(pen)
            pen.setDashPattern([3.0, 4.0] if not self.share else [7.0, 2.0])
        painter.setPen(pen)
        painter.drawPath(self._path)
        px = self.look.px(self._text_px, round(self._pill_height) - 3)
        # A ground without a name would say nothing.
        if px and not far and not self._pill.isNull() and (self.is_selected or not self._goes_around):
            fill = ink if self.is_selected else t.location
            pill = self._pill if self._is_narrow else self._wide_enough(px)
            paint.box(painter, pill, fill, ink, self._pill_height / 2, 1.5)
            words = t.canvas if self.is_selected else ink
            room = pill.adjusted(3, 0, -3, 0)
            shorter = (self.text, self.text.removeprefix("Group "), f"{self.number}")
            paint.fitting(painter, room, shorter, words, px, 600, paint.CENTRE)

    def _wide_enough(self, px: int) -> QRectF:
        """The ground of a name that is enlarged."""
        more = text_width(self.text, px, 600) + 12 - self._pill.width()
        beside = min(max(0.0, more / 2), _WIDER)
        return self._pill.adjusted(-beside, 0, beside, 0)


def _join(path: QPainterPath, one: Stop, other: Stop, number: int, hosts: Sequence[QRectF]) -> QPointF | None:
    """Draw from chip to chip; answers where the name may stand."""
    (chip, host), (next_chip, next_host) = one, other
    y, next_y = chip.center().y(), next_chip.center().y()
    if next_host.left() - host.right() > _ADJACENT:
        return _join_around(path, one, other, number, hosts)
    if next_host.left() >= host.right():
        path.moveTo(chip.right(), y)
        path.lineTo(host.right(), y)
        middle_x = (host.right() + next_host.left()) / 2
        path.cubicTo(middle_x, y, middle_x, next_y, next_host.left(), next_y)
        path.lineTo(next_chip.left(), next_y)
        return QPointF(middle_x, (y + next_y) / 2)
    if host == next_host:
        path.moveTo(chip.right(), y)
        path.lineTo(next_chip.left(), next_y)
        return None
    left = min(host.left(), next_host.left()) - _BRACKET
    top, bottom = min(host.top(), next_host.top()), max(host.bottom(), next_host.bottom())
    while (hit := _first_hit(hosts, QRectF(left - 1, top, 2, bottom - top))) is not None:
        left = hit.left() - _BRACKET
    path.moveTo(chip.left(), y)
    path.lineTo(host.left(), y)
    path.cubicTo(left, y, left, y, left, y + (12 if next_y > y else -12))
    path.lineTo(left, next_y - (12 if next_y > y else -12))
    path.cubicTo(left, next_y, left, next_y, next_host.left(), next_y)
    path.lineTo(next_chip.left(), next_y)
    # In the gap below the upper host, beside the line: everywhere else there are chips and tiles.
    return QPointF(left + 36, min(host.bottom(), next_host.bottom()) + HOST_GAP / 2)


def _first_hit(hosts: Sequence[QRectF], line: QRectF) -> QRectF | None:
    """A host that a straight line runs over."""
    return next((host for host in hosts if host.intersects(line)), None)


def _join_around(path: QPainterPath, one: Stop, other: Stop, number: int, hosts: Sequence[QRectF]) -> QPointF:
    """Along the gap above the hosts, so that the line passes through none of them."""
    (chip, host), (next_chip, next_host) = one, other
    lane = (number % _LANES - (_LANES - 1) / 2) * 2.5
    y, next_y = chip.center().y(), next_chip.center().y()
    above = min(host.top(), next_host.top()) - HOST_GAP / 2 + lane
    out, back = host.right() + 10 + lane, next_host.left() - 10 + lane
    while (hit := _first_hit(hosts, QRectF(out, above - 1, back - out, 2))) is not None:
        above = hit.top() - HOST_GAP / 2 + lane
    path.moveTo(chip.right(), y)
    path.lineTo(out - 6, y)
    path.quadTo(out, y, out, y - 6)
    path.lineTo(out, above + 6)
    path.quadTo(out, above, out + 6, above)
    path.lineTo(back - 6, above)
    path.quadTo(back, above, back, above + (6 if next_y > above else -6))
    path.lineTo(back, next_y - 6)
    path.quadTo(back, next_y, back + 6, next_y)
    path.lineTo(next_chip.left(), next_y)
    return QPointF(out + 46, above)
