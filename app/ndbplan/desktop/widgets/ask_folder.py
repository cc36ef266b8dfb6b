"""Asking for a folder to write into: one that is not there yet is made, and nothing is replaced unasked.

folder = ask_folder(parent, "Export into a folder")      # None: nothing was chosen
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFileDialog, QLabel, QMessageBox, QWidget

from ndbplan.base.units import how_many

_NAMED = 3
"""Files that are named before the others are counted: judgement."""


class FolderDialog(QFileDialog):
    """Chooses a folder; one that is typed and not there yet is made, or it is said why that cannot be."""

    def __init__(self, parent: QWidget | None, title: str, start: Path | None = None) -> None:
        super().__init__(parent, title, str(start or ""))
        self.setFileMode(QFileDialog.FileMode.Directory)
        self.setOption(QFileDialog.Option.ShowDirsOnly)
        self.setLabelText(QFileDialog.DialogLabel.Accept, "Export")
        self.refusal = ""
        """Why the folder cannot be made."""

    def accept(self) -> None:
        """Take the folder, made where it is missing; the dialog stays where that cannot be."""
        name = next(iter(self.selectedFiles()), "")
        try:
            Path(name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = "it is a file" if Path(name).is_file() else error.strerror
            self.refusal = f"{name} cannot be made ({reason}): name another folder."
            QMessageBox.warning(self, self.windowTitle(), self.refusal)
            return
        super().accept()


def ask_folder(parent: QWidget, title: str, start: Path | None = None) -> Path | None:
    """The folder that was chosen, which is there; None: nothing was."""
    dialog = FolderDialog(parent, title, start)
    chosen = dialog.selectedFiles() if dialog.exec() else []
    dialog.deleteLater()
    return Path(chosen[0]) if chosen else None


def may_replace(parent: QWidget, folder: Path, names: Sequence[str]) -> bool:
    """Whether files of a folder that say something else may be replaced by those of the plan."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle("Export into a folder")
    box.setText(f"{how_many(len(names), 'file')} in {folder.name} would be replaced")
    box.setInformativeText(
        f"In {folder} there is another text in {named(names)}. "
        "To keep it, cancel and export into another folder."
    )
    for text in box.findChildren(QLabel):
        text.setMinimumWidth(380)
        text.setWordWrap(True)
    replace = box.addButton("Replace", QMessageBox.ButtonRole.DestructiveRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    for button in box.buttons():
        button.setIcon(QIcon())
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.exec()
    box.deleteLater()
    return box.clickedButton() is replace


def named(names: Sequence[str]) -> str:
    """`config.ini, runbook.md and 2 more`."""
    left = len(names) - _NAMED
    shown = names if left <= 0 else names[:_NAMED]
    return ", ".join(shown) + (f" and {left} more" if left > 0 else "")
