"""CREATE TABLE statements in the form of *Size a cluster*: pasted, or from a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit, QVBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.desktop.widgets.sections import link

_MOST_HEIGHT_PX = 90


class TablesText(QWidget):
    """The text, and a link that reads it from a file."""

    def __init__(self, refused: Callable[[UserError], None]) -> None:
        super().__init__()
        self._refused = refused
        self.text = QPlainTextEdit()
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("CREATE TABLE statements")
        self.text.setPlaceholderText("CREATE TABLE …   more tables than the plan has")
        self.text.setMaximumHeight(_MOST_HEIGHT_PX)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.text)
        column.addWidget(link("Tables from a file…", self._ask_file), 0, Qt.AlignmentFlag.AlignLeft)

    @property
    def statements(self) -> str:
        """What is typed."""
        return self.text.toPlainText().strip()

    def _ask_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Tables from SQL", "", "SQL (*.sql *.txt);;All files (*)")
        if name:
            self.load(Path(name))

    def load(self, path: Path) -> None:
        """Show the statements of a file; one that cannot be read is refused, and what is typed stays."""
        from ndbplan.importing.files import read_file

        try:
            self.text.setPlainText(read_file(path).decode("utf-8", "replace"))
        except UserError as error:
            self._refused(error)
