"""Painted buckets of a hash map: a square each, in heaps by partition or node group, flying to their new
heap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ndbplan.base.units import format_count, how_many
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.look.heat import middle
from ndbplan.desktop.look.text import text_width
from ndbplan.estimate.storage.bucket_moves import BucketMoves

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_EDGE, _NAMES, _ROWS, _LEGEND = 10.0, 16.0, 15.0, 16.0
_MOST_HEAPS = 48
"""Partitions that have a heap each; of more, node groups have one."""
_SMALLEST, _LARGEST = 0.75, 14.0
"""Pixels of the side of a bucket."""
_WIDE = 46
"""Pixels of a heap from which on its rows are written below it."""
_NAME_WIDTH = 22.0
"""Pixels from the name of a heap to the next."""
_FLYING = 7.0
"""Least side of a bucket on its way."""
_FAINT = 80
"""Opacity of what is in both places."""
_WHOLE = 3.0
"""Sides above this are whole pixels."""


@dataclass(frozen=True)
class Buckets:
    """Buckets that move, and the heaps they lie in."""

    moves: BucketMoves
    heap_of: tuple[int, ...]
    """Heap of each partition afterwards."""
    names: tuple[str, ...]
    """Of the heaps."""
    details: tuple[str, ...]
    is_new: tuple[bool, ...]
    """Whether a heap stands on new nodes."""

    @cached_property
    def places(self) -> tuple[Array, Array]:
        """Place of each bucket in its heap, before and after; a heap fills from below, leavers lie on top."""
        import numpy as np

        heap_of = np.array(self.heap_of)
        old, new = heap_of[self.moves.old], heap_of[self.moves.new]
        moving = self.moves.moving
        before, after = np.zeros(len(old), dtype=np.int64), np.zeros(len(old), dtype=np.int64)
        for heap in range(len(self.names)):
            own = np.flatnonzero(old == heap)
            stay, leave = own[~moving[own]], own[moving[own]]
            # What goes last lies lowest, so that nothing is left hanging in the air.
            leave = leave[np.argsort(-self.moves.start[leave], kind="stable")]
            before[stay], before[leave] = np.arange(len(stay)), len(stay) + np.arange(len(leave))
            after[stay] = before[stay]
            come = np.flatnonzero((new == heap) & moving)
            come = come[np.argsort(self.moves.start[come], kind="stable")]
            kept = len(stay) if heap in old else 0
            after[come] = kept + np.arange(len(come))
        return before, after


def named_heaps(width: float, is_new: Sequence[bool]) -> frozenset[int]:
    """Heaps whose names have room below them, each `width` wide: of new ones what fits, then round ones."""
    every = next((n for n in (1, 2, 5, 10, 20, 50) if n * width >= _NAME_WIDTH), 100)
    new = [heap for heap, new in enumerate(is_new) if new]
    named: list[int] = []
    for heap in (*new, *range(0, len(is_new), every)):
        if all(heap != other and abs(heap - other) * width >= _NAME_WIDTH for other in named):
            named.append(heap)
    return frozenset(named)


class BucketView(QWidget):
    """All buckets at one moment of a reorganisation."""

    def __init__(self) -> None:
        super().__init__()
        self.buckets: Buckets | None = None
        self.copied = self.deleted = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(100)
        self.setMouseTracking(True)
        self.setAccessibleName("Buckets of the hash map")
        theme.theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(640, 220)

    def show_buckets(self, buckets: Buckets | None) -> None:
        """Draw other buckets."""
        self.buckets = buckets
        if buckets is not None:
            moving = int(buckets.moves.moving.sum())
            self.setAccessibleDescription(
                f"{moving} of {how_many(len(buckets.moves.old), 'bucket')} move to "
                f"{how_many(sum(buckets.is_new), 'new heap')}"
            )
        self.update()

    def show_moment(self, copied: float, deleted: float) -> None:
        """Draw another moment: parts of the first and of the second pass."""
        self.copied, self.deleted = copied, deleted
        self.update()

    def _floor(self, width: float) -> float:
        """What heaps of this width stand on."""
        return self.height() - _EDGE - _NAMES - (_ROWS if width >= _WIDE else 0.0)

    def _heaps(self, buckets: Buckets) -> tuple[float, float, int]:
        """Width of a heap, side of a bucket, buckets side by side: as large as fits the highest heap."""
        before, after = buckets.places
        highest = int(max(before.max(initial=0), after.max(initial=0))) + 1
        width = (self.width() - 2 * _EDGE) / len(buckets.names)
        height = self._floor(width) - _EDGE - _LEGEND
        room = max(1.0, width - max(2.0, min(14.0, width * 0.16)))
        side = min(_LARGEST, 1.1 * sqrt(room * max(10.0, height) / highest))
        while True:
            # Whole pixels look even; very small ones need what there is.
            side = float(int(side)) if side > _WHOLE else side
            across = max(1, int(room // side))
            if side <= _SMALLEST or ceil(highest / across) * side <= height:
                break
            side -= 0.05 if side <= _WHOLE else 0.5
        return width, side, across

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint.box(painter, QRectF(self.rect()), colours.sunken, colours.line, 6)
        if self.buckets is not None:
            self._paint_heaps(painter, self.buckets)
            self._paint_buckets(painter, self.buckets)
            self._paint_legend(painter)
        painter.end()

    def _paint_legend(self, painter: QPainter) -> None:
        """What the squares are, from the right end of the top line."""
        colours = theme.tokens()
        signs = (
            ("moved", colours.accent, 255),
            ("copied, not deleted yet", colours.warning_fill, _FAINT),
            ("will move", colours.warning_fill, 255),
            ("stays", middle(colours).name(), 255),
        )
        x = self.width() - _EDGE
        for words, ink, alpha in signs:
            wide = text_width(words, 11, 400)
            x -= wide + 4
            paint.text(painter, QRectF(x, 6, wide + 4, 14), words, colours.muted, 11)
            x -= 14
            painter.fillRect(QRectF(x, 9, 9, 9), paint.brush(ink, alpha))
            x -= 12

    def _paint_heaps(self, painter: QPainter, buckets: Buckets) -> None:
        """Names of the heaps and their rows at the moment."""
        import numpy as np

        colours = theme.tokens()
        width, _, _ = self._heaps(buckets)
        now = buckets.moves.at(self.copied, self.deleted)
        rows = np.bincount(np.array(buckets.heap_of), now.rows, len(buckets.names)).tolist()
        floor = self._floor(width)
        named = named_heaps(width, buckets.is_new)
        for heap, name in enumerate(buckets.names):
            left = _EDGE + heap * width
            is_new = buckets.is_new[heap]
            ink = colours.accent if is_new else colours.line_strong
            painter.fillRect(QRectF(left + 1, floor + 1, width - 2, 2), paint.brush(ink))
            if heap not in named:
                continue
            span = max(width, 40.0)
            box = QRectF(left + width / 2 - span / 2, floor + 3, span, _NAMES)
            box.moveLeft(min(max(box.x(), 2.0), self.width() - span - 2))
            words = name if text_width(name, 11, 500) <= max(width, 22.0) else name.split()[-1]
            paint.text(painter, box, words, colours.text if is_new else colours.muted, 11, 500, paint.CENTRE)
            if width >= _WIDE:
                box = QRectF(left, floor + 3 + _NAMES - 2, width, _ROWS)
                words = f"{format_count(rows[heap])} rows" if width >= 96 else format_count(rows[heap])
                paint.text(painter, box, words, colours.muted, 11, 400, paint.CENTRE)

    def _paint_buckets(self, painter: QPainter, buckets: Buckets) -> None:
        import numpy as np

        colours, moves = theme.tokens(), buckets.moves
        width, side, across = self._heaps(buckets)
        floor = self._floor(width) - 1
        pad = (width - across * side) // 2
        heap_of = np.array(buckets.heap_of)

        def at(heap: Array, place: Array) -> tuple[Array, Array]:
            x = np.round(_EDGE + heap * width) + pad + (place % across) * side
            return x, floor - (place // across + 1) * side

        before, after = buckets.places
        old_x, old_y = at(heap_of[moves.old], before)
        new_x, new_y = at(heap_of[moves.new], after)
        now = moves.at(self.copied, self.deleted)
        gone = moves.at(self.deleted).done
        gap = 1.0 if side >= _WHOLE else 0.4
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, side < _WHOLE)
        stays = paint.brush(middle(colours).name())
        leaves = paint.brush(colours.warning_fill)
        both, came = paint.brush(colours.warning_fill, _FAINT), paint.brush(colours.accent)
        for i in np.flatnonzero(~moves.moving).tolist():
            painter.fillRect(QRectF(old_x[i], old_y[i], side - gap, side - gap), stays)
        flying: list[int] = []
        for i in np.flatnonzero(moves.moving).tolist():
            here = QRectF(old_x[i], old_y[i], side - gap, side - gap)
            done = float(now.done[i])
            if done <= 0.0:
                painter.fillRect(here, leaves)
                continue
            if gone[i] < 1.0:
                # The rows are in both places.
                painter.fillRect(here, both)
            if done < 1.0:
                flying.append(i)
                continue
            painter.fillRect(QRectF(new_x[i], new_y[i], side - gap, side - gap), came)
        for i in flying:
            part = _eased(float(now.done[i]))
            lift = min(60.0, 0.25 * abs(new_x[i] - old_x[i])) * 4 * part * (1 - part)
            x = old_x[i] + (new_x[i] - old_x[i]) * part
            y = max(4.0, old_y[i] + (new_y[i] - old_y[i]) * part - lift)
            grown = max(side, _FLYING)
            painter.setPen(paint.pen(colours.text_strong, 1))
            painter.setBrush(came)
            painter.drawRect(QRectF(round(x), round(y), grown, grown))

    def tip(self, place: QPointF) -> str:
        """What there is to say about the heap at a place."""
        buckets = self.buckets
        if buckets is None:
            return ""
        import numpy as np

        heap = int((place.x() - _EDGE) // self._heaps(buckets)[0])
        if not 0 <= heap < len(buckets.names):
            return ""
        heap_of, moves = np.array(buckets.heap_of), buckets.moves
        now = moves.at(self.copied, self.deleted)
        rows = int(np.bincount(heap_of, now.rows, len(buckets.names))[heap])
        waiting = int(np.bincount(heap_of, now.waiting, len(buckets.names))[heap])
        leave = int((moves.moving & (heap_of[moves.old] == heap)).sum())
        come = int((moves.moving & (heap_of[moves.new] == heap)).sum())
        lines = [buckets.names[heap], buckets.details[heap], f"{format_count(rows)} rows"]
        if leave:
            lines.append(f"{how_many(leave, 'bucket')} leave")
        if come:
            lines.append(f"{how_many(come, 'bucket')} come")
        if waiting:
            lines.append(f"{format_count(waiting)} rows are copied and not deleted yet")
        return "\n".join(filter(None, lines))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip(QPointF(event.pos())), self)
            return True
        return super().event(event)


def heaps_of(groups: Sequence[int], names: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Heap of each partition and names of the heaps: one for each partition, of many one for each group.

    `groups`: place of the node group of each partition; `names`: of these groups.
    """
    if len(groups) <= _MOST_HEAPS:
        return tuple(range(len(groups))), tuple(str(i) for i in range(len(groups)))
    return tuple(groups), tuple(names)


def _eased(part: float) -> float:
    """Slow at both ends."""
    return part * part * (3 - 2 * part)
