"""The message bar: what went wrong or was done, in one line, without stopping anybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from ndbplan.desktop.look import theme

Level = Literal["error", "warning", "info", "done"]
_ICONS = {"error": "circle-alert", "warning": "triangle-alert", "info": "info", "done": "circle-check"}
_MARGIN, _WIDEST = 12, 760
"""Of the card where there is no line to lie on."""
_STAYS_MS = {"error": 0, "warning": 0, "info": 8000, "done": 6000}
"""How long a message stays; 0: until it is closed or another one comes."""


class MessageBar(QWidget):
    """Hidden until there is something to say; then it lies on a line at the foot of the window.

    It moves nothing, and covers nothing that anybody works on: what has more than one line grows upwards.
    """

    def __init__(
        self,
        parent: QWidget,
        line: QWidget,
        behind: Callable[[], int] = lambda: 0,
        head: Callable[[], QWidget | None] = lambda: None,
    ) -> None:
        """`line`: what it lies on, in the parent; where that is hidden it is a card at the parent's head.

        `behind`: how much of the line's end stays free; `head`: what is read at the parent's head, which the
        card comes below.
        """
        super().__init__(parent)
        self._head = head
        self._holder, self._line, self._behind = parent, line, behind
        for widget in (parent, line):
            widget.installEventFilter(self)
        self.setObjectName("messageBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.level: Level = "info"
        self._run: Callable[[], object] | None = None
        self._icon = QLabel()
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._button = QPushButton()
        self._button.clicked.connect(self._act)
        self._close = QToolButton()
        self._close.setProperty("kind", "quiet")
        self._close.setAccessibleName("Close the message")
        self._close.setToolTip("Close the message (Esc)")
        self._close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 2, 4, 2)
        row.setSpacing(10)
        for widget in (self._icon, self._text, self._button, self._close):
            row.addWidget(widget)
        self.setAcceptDrops(True)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        theme.theme().changed.connect(self._paint)
        self.hide()

    @property
    def text(self) -> str:
        """What it says, also while hidden."""
        return self._text.text()

    def say(
        self,
        level: Level,
        text: str,
        button: str = "",
        run: Callable[[], object] | None = None,
    ) -> None:
        """Show a message, with a button that does something about it if there is one."""
        self.level = level
        self._text.setText(text)
        self._run = run
        self._button.setText(button)
        self._button.setVisible(bool(button))
        self._paint()
        self._place()
        self.show()
        self.raise_()
        self._timer.stop()
        if _STAYS_MS[level] and not button:
            self._timer.start(_STAYS_MS[level])
        from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        moved = (
            QEvent.Type.Resize,
            QEvent.Type.Move,
            QEvent.Type.Show,
            QEvent.Type.Hide,
            QEvent.Type.LayoutRequest,
        )
        if event.type() in moved and self.isVisible():
            self._place()
        return False

    def _place(self) -> None:
        line, is_card = self._line, not self._line.isVisible()
        below = self._holder.rect() if is_card else line.geometry()
        width = min(below.width() - 2 * _MARGIN, _WIDEST) if is_card else below.width() - self._behind()
        row = self.layout()
        height = row.heightForWidth(width) if row is not None else -1
        height = max(height if height > 0 else self.sizeHint().height(), 0 if is_card else below.height())
        left = below.left() + (below.width() - width) // 2 if is_card else below.left()
        # Without the line the controls of the replay end there.
        top = self._top_of_card() if is_card else below.bottom() + 1 - height
        self.setGeometry(left, top, width, height)

    def _top_of_card(self) -> int:
        head = self._head()
        if head is None:
            return _MARGIN
        # It may come while this is read.
        head.installEventFilter(self)
        if not head.isVisible():
            return _MARGIN
        return head.mapTo(self._holder, head.rect().bottomLeft()).y() + 1 + _MARGIN

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        # It lies where something may be dropped: what only tells gives way.
        event.ignore()
        if self.level in ("info", "done"):
            self.hide()

    def hideEvent(self, event: object) -> None:
        self._timer.stop()

    def _act(self) -> None:
        run, self._run = self._run, None
        self.hide()
        if run is not None:
            run()

    def _paint(self) -> None:
        t = theme.tokens()
        ink = {"error": t.error, "warning": t.warning, "info": t.info, "done": t.good}[self.level]
        ground = {"error": t.error_soft, "warning": t.warning_soft}.get(self.level, t.card)
        self.setStyleSheet(
            f"#messageBar {{ background: {ground}; border: 1px solid {ink}; border-radius: 6px; }}"
            "#messageBar QLabel { background: transparent; }"
            "#messageBar QPushButton { min-height: 18px; padding: 1px 10px; border-radius: 5px; }"
            "#messageBar QToolButton { min-height: 18px; padding: 1px 4px; }"
        )
        self._icon.setPixmap(theme.icon_pixmap(_ICONS[self.level], ink, 16))
        self._close.setIcon(theme.icon("x"))
