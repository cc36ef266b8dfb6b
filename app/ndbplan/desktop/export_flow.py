"""Exporting: into which folder, and what was written."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from ndbplan.desktop.tasks import Outcome, Task

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
    """Write every file of the plan into a folder, in the background; the message bar says how it went."""
    plan = window.document.plan

    def write(_task: Task) -> list[Path]:
        from ndbplan.exchange.export import export as write_files

        return write_files(plan, folder)

    window.finish_building()
    window.messages.say("info", f"Exporting into {folder} …")
    window.tasks.start(write, partial(_done, window, folder))


def _done(window: MainWindow, folder: Path, outcome: Outcome) -> None:
    if outcome.error:
        window.messages.say("error", outcome.error)
        return
    count = f"{len(outcome.value)} file{'s' if len(outcome.value) != 1 else ''}"
    window.messages.say(
        "done",
        f"Exported {count} into {folder}",
        "Open the folder",
        lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))),
    )
