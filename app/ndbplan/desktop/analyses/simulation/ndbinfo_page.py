"""ndbinfo of a simulated moment, as the mysql client prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.desktop.analyses.simulation.playback import clock_text
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.whole_rows import Lines

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan
    from ndbplan.simulate.result import SimulationResult


class NdbinfoPage(QWidget):
    """A table to choose, and its rows at the moment that was shown last."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[SimulationResult, Plan, float] | None = None
        self.table = QComboBox()
        self.table.setAccessibleName("Table of ndbinfo")
        self.table.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.table.activated.connect(self._fill)
        self.text = Lines()
        self.text.setFont(theme.mono_font())
        self.text.setAccessibleName("Rows of the table")
        self.copy = QToolButton()
        self.copy.setProperty("kind", "quiet")
        self.copy.setText("Copy")
        self.copy.setAccessibleName("Copy the table")
        self.copy.setToolTip("Copy what the mysql client would print")
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        head = QHBoxLayout()
        head.addWidget(self.table)
        head.addStretch(1)
        head.addWidget(self.copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addWidget(self.text, 1)

    def show_moment(self, result: SimulationResult, plan: Plan, at_s: float) -> None:
        """The chosen table at a moment of a run of this plan."""
        from ndbplan.ndb.ndbinfo import tables_of
        from ndbplan.simulate.ndbinfo import VIEWS

        names = [name for name in VIEWS if name in tables_of(plan.version)]
        if names != [self.table.itemText(i) for i in range(self.table.count())]:
            chosen = self.table.currentText()
            self.table.clear()
            self.table.addItems(names)
            self.table.setCurrentIndex(max(0, self.table.findText(chosen)))
        self.table.setVisible(bool(names))
        self._shown = (result, plan, at_s)
        self._fill()

    def _fill(self) -> None:
        if self._shown is None:
            return
        from ndbplan.importing.mysql_output import grid_text
        from ndbplan.simulate.ndbinfo import table_of, view

        result, plan, at_s = self._shown
        name = self.table.currentText()
        try:
            table = table_of(plan, name)
            rows = view(name, result, plan, at_s)
        except UserError as error:
            self.text.setPlainText(error.what)
            return
        body = grid_text(table.columns, table.numeric, [tuple(row.values()) for row in rows])
        bar, across = self.text.verticalScrollBar().value(), self.text.horizontalScrollBar().value()
        self.text.setPlainText(
            f"-- at {clock_text(at_s)}\nmysql> SELECT * FROM ndbinfo.{name};\n{body}".rstrip()
        )
        self.text.verticalScrollBar().setValue(bar)
        self.text.horizontalScrollBar().setValue(across)
