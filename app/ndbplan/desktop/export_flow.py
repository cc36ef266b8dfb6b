"""Exporting: into which folder, and what was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from ndbplan.base.errors import UserError

if TYPE_CHECKING:
    from ndbplan.desktop.main_window import MainWindow


def export(window: MainWindow) -> None:
    """Ask for a folder and write every file of the plan into it."""
    document = window.document
    start = document.path.parent if document.path else Path.home()
    name = QFileDialog.getExistingDirectory(window, "Export into a folder", str(start))
    if name:
        export_to(window, Path(name))


def export_to(window: MainWindow, folder: Path) -> None:
    """Write every file of the plan into a folder; the message bar says what became of it."""
    from ndbplan.exchange.export import export as write_files

    try:
        written = write_files(window.document.plan, folder)
    except UserError as error:
        window.messages.say("error", error.line)
        return
    count = f"{len(written)} file{'s' if len(written) != 1 else ''}"
    window.messages.say(
        "done",
        f"Exported {count} into {folder}",
        "Open the folder",
        lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))),
    )
