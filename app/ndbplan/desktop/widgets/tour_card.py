"""A card that says where to look, and a frame around what it means."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.widgets.sections import label

_WIDTH = 320
_WIDER = 40
_MARGIN = 12


class TourCard(QFrame):
    """One step: title, text, back and next. It lies in the corner where it hides least."""

    moved = Signal(int)
    """To the next step (1) or the one before (-1)."""
    closed = Signal()

    def __init__(self, over: QWidget, hidden: Callable[[QRect], float] = lambda _place: 0.0) -> None:
        """`hidden`: how much of what is to be seen would lie under a place of `over`."""
        super().__init__(over)
        self._over, self._hidden = over, hidden
        self.foot_px: Callable[[], int] = lambda: 0
        """How much of the foot is taken by something else: the card stands above it."""
        self.setObjectName("tourCard")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.place_text = label("", "muted", wrap=False)
        self.title = label("", "cardTitle")
        self.text = label("", "calloutText")
        self._close = QToolButton()
        self._close.setProperty("kind", "quiet")
        self._close.setAccessibleName("Close the tour")
        self._close.setToolTip("Close the tour (Esc)")
        self._close.clicked.connect(self.closed)
        self.back = QPushButton("Back")
        self.back.setProperty("kind", "quiet")
        self.back.clicked.connect(lambda: self.moved.emit(-1))
        self.next = QPushButton("Next")
        self.next.setProperty("kind", "primary")
        self.next.clicked.connect(lambda: self.moved.emit(1))
        head = QHBoxLayout()
        head.addWidget(self.place_text, 1)
        head.addWidget(self._close)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.back)
        foot.addWidget(self.next)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 8, 10, 10)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.title)
        column.addWidget(self.text)
        column.addLayout(foot)
        over.installEventFilter(self)
        theme.theme().changed.connect(self._tint)
        self._tint()
        self.hide()

    def show_step(self, number: int, count: int, title: str, text: str) -> None:
        """Show this step of so many, numbered from 0 on."""
        self.place_text.setText(f"Look here · {number + 1} of {count}")
        self.title.setText(title)
        self.text.setText(text)
        self.setAccessibleName(f"Look here, {number + 1} of {count}: {title}. {text}")
        self.back.setEnabled(number > 0)
        self.next.setText("Next" if number + 1 < count else "Done")
        self.show()
        self.place()
        self.raise_()

    def place(self) -> None:
        """Stand in the corner where least is hidden; of equal ones lower left, then lower right."""
        width, height = self._size()
        low = max(0, self._over.height() - height - _MARGIN - self.foot_px())
        right = max(_MARGIN, self._over.width() - width - _MARGIN)
        corners = [QPoint(x, y) for y in (low, _MARGIN) for x in (_MARGIN, right)]
        places = [QRect(corner.x(), corner.y(), width, height) for corner in corners]
        self.setGeometry(min(places, key=self._hidden))

    def _size(self) -> tuple[int, int]:
        """Width and height; wider where its text has no room below otherwise."""
        layout, most = self.layout(), max(_WIDTH, self._over.width() - 2 * _MARGIN)
        assert layout is not None
        widths = [*range(_WIDTH, most, _WIDER), most]
        sizes = [(width, layout.totalHeightForWidth(width)) for width in widths]
        room = self._over.height() - _MARGIN
        return next((size for size in sizes if size[1] <= room), min(sizes, key=lambda size: size[1]))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self.place()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _tint(self) -> None:
        self._close.setIcon(theme.icon("x"))


class Spotlight(QWidget):
    """A frame around a part of the window; the pointer goes through it."""

    def __init__(self, holder: QWidget) -> None:
        super().__init__(holder)
        self._holder = holder
        self._target: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    @property
    def target(self) -> QWidget | None:
        """What it lies around; None: nothing."""
        return self._target

    def show_around(self, target: QWidget | None) -> None:
        """Lie around this part from now on; None: be gone."""
        for part in self._around():
            part.removeEventFilter(self)
        if self._target is not None:
            self._target.destroyed.disconnect(self._lost)
        self._target = target
        for part in self._around():
            part.installEventFilter(self)
        if target is not None:
            target.destroyed.connect(self._lost)
        self._place()

    def _around(self) -> list[QWidget]:
        """The target and what holds it: when one of them moves, so does its place."""
        parts, part = [], self._target
        while part is not None and part is not self._holder:
            parts.append(part)
            part = part.parentWidget()
        return parts

    def _lost(self) -> None:
        self._target = None
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide):
            self._place()
        return False

    def _place(self) -> None:
        target = self._target
        self.setVisible(target is not None and target.isVisible())
        if target is not None:
            corner = target.mapTo(self._holder, QPoint(0, 0))
            self.setGeometry(corner.x() - 3, corner.y() - 3, target.width() + 6, target.height() + 6)
            self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(paint.pen(theme.tokens().accent, 2.0))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5), 7, 7)
