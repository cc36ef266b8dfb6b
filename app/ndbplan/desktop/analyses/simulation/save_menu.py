"""The button that saves or copies what a simulation found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton, QWidget

from ndbplan.base.errors import UserError
from ndbplan.base.files import write_atomically
from ndbplan.desktop.look import theme

if TYPE_CHECKING:
    from ndbplan.simulate.result import SimulationResult


class SaveMenu(QToolButton):
    """Series as CSV, charts as a picture; there when a run is over."""

    saved = Signal(str)
    """What became of it, in one line."""
    failed = Signal(str)
    measured_wanted = Signal(object)
    """Paths of what was measured, to be laid over the charts."""
    begin_wanted = Signal()
    forget_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._result: SimulationResult | None = None
        self._charts: QWidget | None = None
        self.setProperty("kind", "quiet")
        self.setToolTip("Save or copy the result")
        self.setAccessibleName("Save or copy the result")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        menu.addAction("Copy all series as CSV", self.copy_csv)
        menu.addAction("Save all series as CSV…", self._ask_csv_file)
        menu.addAction("Copy the charts as a picture", self.copy_picture)
        menu.addSeparator()
        menu.addAction("Lay a measurement over the charts…", self._ask_measured)
        self._of_measured = [
            menu.addAction("Begin the measurement at this moment", self.begin_wanted.emit),
            menu.addAction("Take the measurement away", self.forget_wanted.emit),
        ]
        self.offer_measured(there=False)
        self.variants = menu.addMenu("Lay variants over the charts")
        self.setMenu(menu)
        self.restyle()
        self.hide()

    def offer(self, result: SimulationResult | None, charts: QWidget | None = None) -> None:
        """What can be saved; None: nothing."""
        self._result, self._charts = result, charts
        self.setVisible(result is not None)

    def offer_measured(self, *, there: bool) -> None:
        """Whether there is a measurement that can be moved or taken away."""
        for action in self._of_measured:
            action.setEnabled(there)

    def restyle(self) -> None:
        """Take over the colours of the theme in use."""
        self.setIcon(theme.icon("ellipsis"))

    def copy_csv(self) -> None:
        """Put every series of the result on the clipboard as CSV."""
        if self._result is not None:
            QGuiApplication.clipboard().setText(self._result.to_csv())

    def save_csv(self, path: Path) -> None:
        """Write every series of the result into a file."""
        if self._result is None:
            return
        try:
            write_atomically(path, self._result.to_csv().encode("utf-8"))
        except UserError as error:
            self.failed.emit(error.line)
        else:
            self.saved.emit(f"Saved {path}")

    def copy_picture(self) -> None:
        """Put a picture of the charts on the clipboard."""
        if self._charts is not None:
            QGuiApplication.clipboard().setPixmap(self._charts.grab())

    def _ask_measured(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Lay a measurement over the charts")
        if name:
            self.measured_wanted.emit([Path(name)])

    def _ask_csv_file(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save all series", "simulation.csv", "CSV (*.csv)")
        if name:
            self.save_csv(Path(name))
