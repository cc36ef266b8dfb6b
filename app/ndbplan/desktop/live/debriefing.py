"""What came of a lesson: points beside what they are for, moments beside what was seen, both ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from ndbplan.desktop.widgets.sections import Section, empty, label

_POINTS = re.compile(r"([0-9.]++) of ([0-9.]++)  (.+)")
_MOMENT = re.compile(r"([0-9]++(?::[0-9][0-9])++) (.+)")
_ANSWERED = ": answered "
_MOST = 500
"""Letters of a line that is played again."""


class Debriefing(QWidget):
    """The lines of a debriefing, in columns."""

    had_wanted = Signal(str)
    """A moment and a line, to see what had come of it."""

    def __init__(self, lines: Iterable[str]) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        grid = self._grid(self._column)
        for line in lines:
            if line.startswith("  "):
                self._add(grid, line.strip())
                continue
            section = Section(line)
            section.heading.setWordWrap(True)
            self._column.addWidget(section)
            grid = self._grid(section.body)
        self._column.addWidget(self._had_section())

    @staticmethod
    def _grid(where: QVBoxLayout) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        where.addLayout(grid)
        return grid

    def _add(self, grid: QGridLayout, line: str) -> None:
        row, points, moment = grid.rowCount(), _POINTS.fullmatch(line), _MOMENT.fullmatch(line)
        if points is not None:
            got, of, text = points.groups()
            worth = label(f"{got} of {of}", "factValue" if got == of else "lack", wrap=False)
            self._put(grid, row, worth, label(text, "calloutText"))
        elif moment is not None:
            at, text = moment.groups()
            self._put(grid, row, label(at, "muted", wrap=False), label(text, "calloutText"))
        elif _ANSWERED in line:
            grid.addWidget(label(line.partition(": ")[2], "muted"), row, 1)
        else:
            grid.addWidget(label(line, "calloutText"), row, 0, 1, 2)

    @staticmethod
    def _put(grid: QGridLayout, row: int, left: QLabel, right: QLabel) -> None:
        grid.addWidget(left, row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(right, row, 1)

    def _had_section(self) -> Section:
        """What had come of something else."""
        section = Section("Had you done something else")
        self.had = QLineEdit()
        self.had.setPlaceholderText("8:10 ! set RedoBuffer=64M")
        self.had.setAccessibleName("Moment and line that you had given")
        self.had.setMaxLength(_MOST)
        ask = QPushButton("Play it again with that")
        for signal in (self.had.returnPressed, ask.clicked):
            signal.connect(lambda *_: self.had_wanted.emit(self.had.text().strip()))
        self._had_rows = QVBoxLayout()
        section.body.addWidget(self.had)
        section.body.addWidget(ask, 0, Qt.AlignmentFlag.AlignLeft)
        section.body.addLayout(self._had_rows)
        return section

    def show_had(self, answer: str, rows: Iterable[tuple[str, str, str]]) -> None:
        """Show both ends side by side."""
        empty(self._had_rows)
        self._had_rows.addWidget(label(answer.strip(), "muted"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setColumnStretch(0, 1)
        for row, cells in enumerate((("", "it was", "would have been"), *rows)):
            for column, text in enumerate(cells):
                look = "muted" if row == 0 else "calloutText"
                grid.addWidget(label(text, look, wrap=column == 0), row, column, Qt.AlignmentFlag.AlignTop)
        self._had_rows.addLayout(grid)
