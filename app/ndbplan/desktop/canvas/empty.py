"""What an empty canvas says: how to begin."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.look import theme

_STEPS = (
    ("server", "Drag a host from the palette, or double-click one."),
    ("database", "Drop data nodes, management nodes and SQL nodes on it."),
    ("hard-drive", "Drop REDO, LCP, UNDO and DATA FILES on its disks."),
)


class EmptyCanvas(QWidget):
    """Lies in the middle of the canvas while the plan has neither locations nor hosts."""

    sample_wanted = Signal()
    host_wanted = Signal()
    file_wanted = Signal()

    def __init__(self, view: Stage) -> None:
        super().__init__(view)
        self._view = view
        self.setObjectName("emptyCanvas")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(self)
        column.setContentsMargins(28, 24, 28, 24)
        column.setSpacing(12)
        title = QLabel("Draw a cluster")
        title.setProperty("role", "title")
        column.addWidget(title)
        self._icons: list[tuple[QLabel, str]] = []
        for icon, text in _STEPS:
            row = QHBoxLayout()
            row.setSpacing(10)
            mark = QLabel()
            self._icons.append((mark, icon))
            words = QLabel(text)
            row.addWidget(mark)
            row.addWidget(words, 1)
            column.addLayout(row)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, 8, 0, 0)
        buttons.setSpacing(8)
        for text, kind, signal in (
            ("Start from a sample", "primary", self.sample_wanted),
            ("Add a host", "", self.host_wanted),
            ("Open a plan…", "", self.file_wanted),
        ):
            button = QPushButton(text)
            if kind:
                button.setProperty("kind", kind)
            button.clicked.connect(lambda _checked=False, wanted=signal: wanted.emit())
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addLayout(buttons)
        view.installEventFilter(self)
        view.foot_changed.connect(self._centre)
        theme.theme().changed.connect(self._tint)
        view.document.changed.connect(lambda _before, _after: self.refresh())
        self._tint()
        self.refresh()

    def refresh(self) -> None:
        """Show it when there is nothing to see."""
        plan = self._view.document.plan
        self.setVisible(not plan.locations and not plan.hosts)
        self._centre()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._view and event.type() == QEvent.Type.Resize:
            self._centre()
        return False

    def _centre(self) -> None:
        self.adjustSize()
        space = self._view.size() - self.size()
        top = min(space.height() // 2, space.height() - self._view.foot_px)
        self.move(max(8, space.width() // 2), max(8, top))

    def _tint(self) -> None:
        for label, icon in self._icons:
            label.setPixmap(theme.icon_pixmap(icon, theme.tokens().accent, 18))
