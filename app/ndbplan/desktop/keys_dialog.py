"""Keys and gestures of the window, on one sheet."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ndbplan.desktop import theme
from ndbplan.desktop.actions import SPECS

_CANVAS = (
    ("Drag from the palette", "add a rack, host, disk, node or disk role"),
    ("Drag a host", "into a rack, to another slot, or onto the free canvas"),
    ("Drag a node", "to another host"),
    ("Drag a disk onto another", "moves what is written to it"),
    ("Drag on free ground, Shift adds", "select everything touched"),
    ("Wheel, pinch", "zoom"),
    ("Middle button, Space and drag", "move the view"),
    ("Arrows, Shift+arrows", "go to the next object, select it too"),
    ("Tab, Enter, Backspace", "through all objects, into one, out of it"),
    ("Alt+arrows", "move hosts and racks"),
    ("R, L, U, D, B on a disk", "REDO, LCP, UNDO, DATA FILES, BACKUP"),
    ("Esc", "gives a drag up"),
)


class KeysDialog(QDialog):
    """A sheet to look at beside the work; deletes itself when it is closed."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keys and gestures")
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(12)
        grid = QGridLayout()
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(5)
        rows = [(what, does) for what, does in _CANVAS]
        keys = [(QKeySequence(spec.keys[0]).toString(), spec.text.rstrip("…")) for spec in SPECS if spec.keys]
        for left, listed in ((0, rows), (3, keys)):
            for i, (what, does) in enumerate(listed):
                key = QLabel(what)
                key.setFont(theme.font(12, 600))
                text = QLabel(does)
                text.setProperty("role", "muted")
                grid.addWidget(key, i, left)
                grid.addWidget(text, i, left + 1)
        grid.setColumnMinimumWidth(2, 24)
        column.addLayout(grid)
        close = QPushButton("Close")
        close.clicked.connect(self.close)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
