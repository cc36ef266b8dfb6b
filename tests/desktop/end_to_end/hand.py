"""Another program that holds a file, such as a file manager: a drag from its window carries the file."""

from __future__ import annotations

import sys

from PySide6.QtCore import QMimeData, Qt, QTimer, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel

SIZE = 24


class Hand(QLabel):
    """Sits in a corner of the screen, above everything."""

    def __init__(self, address: str) -> None:
        super().__init__("file")
        self._address = address
        self.setWindowFlags(Qt.WindowType.BypassWindowManagerHint | Qt.WindowType.WindowStaysOnTopHint)
        self.setGeometry(0, 0, SIZE, SIZE)

    def mouseMoveEvent(self, _event: QMouseEvent) -> None:
        carried = QMimeData()
        carried.setUrls([QUrl(self._address)])
        drag = QDrag(self)
        drag.setMimeData(carried)
        # The other program asks for the file after the drop: this one stays.
        drag.exec(Qt.DropAction.CopyAction)


def main() -> None:
    """Say when the file can be taken."""
    app = QApplication(sys.argv)
    hand = Hand(sys.argv[1])
    hand.show()
    QTimer.singleShot(0, lambda: print("here", flush=True))
    app.exec()


if __name__ == "__main__":
    main()
