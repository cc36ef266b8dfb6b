"""What a replayed simulation says across the canvas: the cluster stopped, or transactions stand still."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QWidget

from ndbplan.desktop.look import theme

_TOP = 12
_MARGIN = 24


class Banner(QLabel):
    """A line over the top of the canvas; nothing to say: it is not there."""

    def __init__(self, view: QWidget) -> None:
        super().__init__(view)
        self._view = view
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        # A style sheet's padding is not in the size of a label that was hidden before.
        self.setMargin(7)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def say(self, text: str, severity: str) -> None:
        """Show a line, in the colours of `error`, `warning` or `info`."""
        if (text, severity) == (self.text(), self.property("severity")):
            return
        self.setText(text)
        self.setProperty("severity", severity)
        self.setProperty("look", f"banner-{severity}")
        theme.restyle(self)
        self.setVisible(bool(text))
        self.ensurePolished()
        self.place()

    def place(self) -> None:
        """Stand in the middle at the top, as wide as the words need."""
        if self.isHidden():
            return
        room = max(40, self._view.width() - 2 * _MARGIN)
        self.setWordWrap(False)
        size = self.sizeHint()
        if size.width() > room:
            self.setWordWrap(True)
            size = QSize(room, self.heightForWidth(room))
        self.resize(size)
        self.move((self._view.width() - size.width()) // 2, _TOP)
