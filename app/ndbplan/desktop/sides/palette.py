"""The palette: what can be dragged onto the canvas, or added with a double click or Enter."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDrag,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
)
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from ndbplan.base.units import system_in_use
from ndbplan.desktop.canvas.input.drops import mime_of
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.widgets.fade import Fade
from ndbplan.desktop.widgets.flow_layout import FlowLayout
from ndbplan.desktop.widgets.own_hardware import Shelf, shelf_menu
from ndbplan.edits.palette import Offer, offers

_HEADINGS = {
    "location": "Locations",
    "host": "Hosts",
    "disk": "Disks",
    "process": "Processes",
    "role": "Disk roles",
}


class Palette(QScrollArea):
    """Every offer as an entry, under headings."""

    chosen = Signal(str)
    """Key of an entry that was double-clicked or called with Enter."""

    failed = Signal(str)
    """Why something could not be done with hardware of the user's own."""
    done = Signal(str, str, object)
    """What was done with it, as `Shelf` says it."""

    def __init__(
        self, watched: Callable[[QWidget, str], object] | None = None, parent: QWidget | None = None
    ) -> None:
        """`watched`: told of each entry with its key, to show what it would do."""
        super().__init__(parent)
        self._watched = watched
        self.setObjectName("palette")
        self.setAccessibleName("Palette")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        Fade(self)
        self.entries: dict[str, Entry] = {}
        self._fill()
        shelf = Shelf(self)
        shelf.changed.connect(self._fill)
        shelf.failed.connect(self.failed)
        shelf.done.connect(self.done)
        theme.theme().changed.connect(self._repaint)

    def _fill(self) -> None:
        """Show what is offered now."""
        self.entries = {}
        self._units = system_in_use()
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(5)
        roles = FlowLayout(spacing=5)
        heading = ""
        for offer in offers():
            if offer.kind != heading:
                heading = offer.kind
                label = QLabel(_HEADINGS[heading])
                label.setProperty("role", "caption")
                label.setContentsMargins(0, 0 if not self.entries else 8, 0, 1)
                column.addWidget(label)
                if offer.kind == "role":
                    column.addLayout(roles)
            entry = Entry(offer)
            entry.chosen.connect(self.chosen)
            self.entries[offer.key] = entry
            if self._watched is not None:
                self._watched(entry, offer.key)
            if offer.kind == "role":
                roles.addWidget(entry)
            else:
                column.addWidget(entry)
        column.addStretch(1)
        old = self.takeWidget()
        if old is not None:
            old.deleteLater()
        self.setWidget(inner)

    def _repaint(self) -> None:
        if self._units != system_in_use():
            self._fill()
        self.viewport().update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        # Not by `underMouse`, which says nothing until the mouse moves when a dialog has just gone.
        at = event.globalPos()
        under = next((k for k, e in self.entries.items() if e.rect().contains(e.mapFromGlobal(at))), None)
        shelf_menu(under, self).popup(event.globalPos())

    def focus_first(self) -> None:
        """Go to the first entry."""
        next(iter(self.entries.values())).setFocus()


class Entry(QWidget):
    """One thing to drag: a card with an icon and a name, or the chip of a disk role."""

    chosen = Signal(str)

    def __init__(self, offer: Offer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.offer = offer
        self._press: QPoint | None = None
        self._is_chip = offer.kind == "role"
        self.setObjectName(f"offer-{offer.key}")
        self.setAccessibleName(offer.text)
        self.setAccessibleDescription(f"{offer.tip}. Enter adds it to what is selected.")
        self.setToolTip(f"{offer.tip}\nDrag it, or double-click to add it to what is selected")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        if self._is_chip:
            self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        if self._is_chip:
            from ndbplan.desktop.look.text import text_width

            return QSize(round(text_width(self.offer.text, 11, 600)) + 18, 24)
        return QSize(160, 30)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint() if self._is_chip else QSize(60, 30)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw(painter, QRectF(self.rect()))

    def _draw(self, painter: QPainter, rect: QRectF) -> None:
        t = theme.tokens()
        over = self.underMouse()
        edge = t.accent if self.hasFocus() else t.line_strong if over else t.line
        paint.box(painter, rect, t.card_hover if over else t.card, edge, 6)
        if self._is_chip:
            paint.text(painter, rect, self.offer.text, t.text, 11, 600, paint.CENTRE)
            return
        ink = {
            "disk": t.violet, "process": t.info, "location": t.muted, "host": t.muted
        }[self.offer.kind]  # fmt: skip
        icon = theme.icon_pixmap(self.offer.icon, ink, 15, self.devicePixelRatioF())
        painter.drawPixmap(QPointF(10, rect.center().y() - 7), icon)
        paint.text(painter, rect.adjusted(33, 0, -8, 0), self.offer.text, t.text, 13)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._press = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._press is None:
            return
        if (event.position().toPoint() - self._press).manhattanLength() >= QApplication.startDragDistance():
            at, self._press = self._press, None
            self._drag(at)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._press = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._press = None
        self.chosen.emit(self.offer.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.offer.key)
        elif event.key() == Qt.Key.Key_Down:
            self.focusNextChild()
        elif event.key() == Qt.Key.Key_Up:
            self.focusPreviousChild()
        else:
            super().keyPressEvent(event)

    def _drag(self, at: QPoint) -> None:
        drag = QDrag(self)
        drag.setMimeData(mime_of(self.offer.key))
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(QColor(0, 0, 0, 0))
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(0.9)
        self._draw(painter, QRectF(self.rect()))
        painter.end()
        drag.setPixmap(picture)
        drag.setHotSpot(at)
        drag.exec(Qt.DropAction.CopyAction)
