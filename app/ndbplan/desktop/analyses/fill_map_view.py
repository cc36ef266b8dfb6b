"""Map of what places hold: columns are nodes or node groups, lanes their LDM threads or fragments."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ndbplan.desktop.analyses.fill_map_painting import Frame, paint_map
from ndbplan.desktop.analyses.fill_map_picture import MapPicture, signed
from ndbplan.desktop.look import paint, theme

_KEYS = {
    Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0),
}  # fmt: skip
_CHOOSE = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class FillMapView(QWidget):
    """The pointer or the arrow keys pick a cell; a click, or Enter, chooses its column on the canvas."""

    chosen = Signal(object)
    """Ids of what a column stands for."""
    menu_wanted = Signal(int, object)
    """Column, and the place on the screen for what can be done with it."""

    def __init__(self) -> None:
        super().__init__()
        self.picture: MapPicture | None = None
        self._frame: Frame | None = None
        self._picked: tuple[int, int] | None = None
        self._marked: frozenset[str] = frozenset()
        self._painted: QPixmap | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(110)
        self.setAccessibleName("Map of what each LDM thread holds")
        theme.theme().changed.connect(self._forget)

    def sizeHint(self) -> QSize:
        return QSize(640, 240)

    def show_picture(self, picture: MapPicture | None) -> None:
        """Draw something else."""
        self.picture = picture
        lanes, columns = picture.found.held.shape if picture is not None else (0, 0)
        if self._picked is not None and (self._picked[0] >= lanes or self._picked[1] >= columns):
            self._picked = None
        if picture is not None:
            what = "LDM thread" if picture.found.places == "nodes" else "fragment of a node group"
            self.setAccessibleName(f"Map of what each {what} holds")
            low, high = picture.found.band
            self.setAccessibleDescription(
                f"{columns} columns, {lanes} lanes; chance makes {signed(low)} to {signed(high)}"
            )
        self._forget()

    def mark(self, ids: frozenset[str]) -> None:
        """Mark the columns of what is selected elsewhere."""
        if ids != self._marked:
            self._marked = ids
            self.update()

    @property
    def picked(self) -> tuple[int, int] | None:
        """Lane and column that the pointer or the keys are at."""
        return self._picked

    @property
    def frame(self) -> Frame | None:
        """Where everything is; None: there is nothing to show."""
        if self._frame is None and self.picture is not None:
            self._frame = Frame(self.picture, self.width(), self.height())
        return self._frame

    def _forget(self) -> None:
        self._painted = self._frame = None
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._forget()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, frame = theme.tokens(), self.frame
        if self._painted is None:
            self._painted = self._all_painted(frame)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._painted)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.accent if self.hasFocus() else colours.line), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        if frame is None:
            return
        self._paint_marks(painter, frame)
        if self._picked is not None:
            rect = frame.rect(*self._picked)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.canvas), 3))
            painter.drawRect(rect)
            painter.setPen(QPen(QColor(colours.text_strong), 1.5))
            painter.drawRect(rect)

    def _all_painted(self, frame: Frame | None) -> QPixmap:
        """The map without pointer and selection: it is painted once for a size."""
        ratio = self.devicePixelRatioF()
        painted = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        painted.setDevicePixelRatio(ratio)
        painted.fill(Qt.GlobalColor.transparent)
        painter = QPainter(painted)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint.box(painter, QRectF(0, 0, self.width(), self.height()), theme.tokens().sunken, None, 6)
        if frame is not None:
            paint_map(painter, frame)
        painter.end()
        return painted

    def _paint_marks(self, painter: QPainter, frame: Frame) -> None:
        """An arrow above each column that is selected elsewhere."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.tokens().accent))
        for i, column in enumerate(frame.picture.columns):
            if self._marked.isdisjoint(column.ids):
                continue
            x, y, side = frame.middle(i), frame.area.y(), max(4.0, min(6.0, frame.cell[0] / 2))
            path = QPainterPath(QPointF(x - side, y - side - 3))
            path.lineTo(QPointF(x + side, y - side - 3))
            path.lineTo(QPointF(x, y))
            painter.drawPath(path)

    def tip(self, place: QPointF) -> str:
        """What there is to say about a place of the widget: a cell, the sum of a column or of a lane."""
        return self.frame.tip(place) if self.frame is not None else ""

    def _pick(self, cell: tuple[int, int] | None) -> None:
        if cell != self._picked:
            self._picked = cell
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pick(self.frame.at(event.position()) if self.frame is not None else None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.frame.at(event.position()) if self.frame is not None else None
        if event.button() == Qt.MouseButton.LeftButton and cell is not None:
            self._pick(cell)
            self._choose()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = QPointF(event.pos())
        cell = self.frame.at(place) if self.frame is not None else None
        if self.frame is not None and cell is not None:
            self._ask_menu(self.frame, cell, place)

    def _ask_menu(self, frame: Frame, cell: tuple[int, int], place: QPointF) -> None:
        if frame.picture.found.places == "nodes":
            self._pick(cell)
            self.menu_wanted.emit(cell[1], self.mapToGlobal(place).toPoint())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pick(None)

    def _choose(self) -> None:
        if self.picture is not None and self._picked is not None:
            self.chosen.emit(self.picture.columns[self._picked[1]].ids)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _KEYS.get(Qt.Key(event.key()))
        if self.frame is None or not self.frame.picture.columns:
            super().keyPressEvent(event)
        elif step is not None:
            self._step(self.frame, *step)
        elif event.key() in _CHOOSE:
            self._choose()
        elif event.key() == Qt.Key.Key_Menu and self._picked is not None:
            self._ask_menu(self.frame, self._picked, self.frame.rect(*self._picked).center())
        else:
            super().keyPressEvent(event)

    def _step(self, frame: Frame, down: int, across: int) -> None:
        lanes, columns = frame.picture.found.held.shape
        lane, column = self._picked or (0, 0)
        if self._picked is not None:
            lane, column = (lane + down) % lanes, (column + across) % columns
        self._pick((lane, column))
        words = frame.picture.cell(lane, column)
        self.setAccessibleDescription(words.replace("\n", "; "))
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        QToolTip.showText(self.mapToGlobal(frame.rect(lane, column).bottomRight()).toPoint(), words, self)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip(QPointF(event.pos())), self)
            return True
        return super().event(event)
