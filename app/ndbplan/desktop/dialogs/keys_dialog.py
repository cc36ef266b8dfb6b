"""Keys and gestures of the window, on one sheet."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ndbplan.desktop.actions import SPECS
from ndbplan.desktop.look import theme

_CANVAS = (
    ("Drag from the palette", "add a rack, host, disk, node or disk role"),
    ("Drag a host", "into a rack, to another slot, or onto the free canvas"),
    ("Drag a node", "to another host"),
    ("Drag a disk onto another", "moves what is written to it"),
    ("Ctrl+drag", "drags out a copy: a rack, host, node or disk"),
    ("Ctrl+click", "select it too, or no longer"),
    ("Drag on free ground, Shift adds", "select everything touched"),
    ("Wheel, pinch", "zoom"),
    ("Middle button, Space and drag", "move the view"),
    ("Arrows, Shift+arrows", "go to the next object, select it too"),
    ("Tab, Enter, Backspace", "through all objects, into one, out of it"),
    ("Alt+arrows", "move hosts and racks"),
    ("R, L, U, D, B on a disk", "REDO, LCP, UNDO, DATA FILES, BACKUP"),
    ("Esc", "cancels a drag"),
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
        blocks = QHBoxLayout()
        blocks.setSpacing(36)
        blocks.addLayout(_block("Canvas", _CANVAS))
        blocks.addLayout(_block("File and edit", _keys("File", "Edit")))
        blocks.addLayout(_block("View, plan, help", _keys("View", "Align", "Plan", "Help")))
        column.addLayout(blocks)
        close = QPushButton("Close")
        close.clicked.connect(self.close)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)


def _keys(*menus: str) -> list[tuple[str, str]]:
    named = [(QKeySequence(spec.keys[0]).toString(), spec) for spec in SPECS if spec.keys]
    return [(keys, spec.text.rstrip("…")) for keys, spec in named if keys and spec.menu in menus]


def _block(heading: str, rows: Iterable[tuple[str, str]]) -> QVBoxLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(5)
    for i, (what, does) in enumerate(rows):
        key = QLabel(what)
        key.setFont(theme.font(12, 600))
        text = QLabel(does)
        text.setProperty("role", "muted")
        grid.addWidget(key, i, 0)
        grid.addWidget(text, i, 1)
    title = QLabel(heading.upper())
    title.setProperty("role", "heading")
    block = QVBoxLayout()
    block.setSpacing(8)
    block.addWidget(title)
    block.addLayout(grid)
    block.addStretch(1)
    return block
