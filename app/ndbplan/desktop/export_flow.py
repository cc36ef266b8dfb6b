"""Exporting: into which folder, and what was written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from ndbplan.base.units import how_many
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome, Task, Tasks
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.plan.plan import Plan


def export(
    parent: QWidget,
    document: Document,
    tasks: Tasks,
    messages: MessageBar,
    done: Callable[[], object] = lambda: None,
) -> None:
    """Ask for a folder and write every file of the plan into it; `done` is called when they are there."""
    start = document.path.parent if document.path else Path.home()
    name = QFileDialog.getExistingDirectory(parent, "Export into a folder", str(start))
    if name:
        export_to(document.plan, Path(name), tasks, messages, done)


def export_to(
    plan: Plan,
    folder: Path,
    tasks: Tasks,
    messages: MessageBar,
    done: Callable[[], object] = lambda: None,
) -> None:
    """Write every file of the plan into a folder, in the background; the message bar says how it went."""

    def write(task: Task) -> tuple[int, int]:
        from ndbplan.checks.problem import Severity
        from ndbplan.checks.run import counted
        from ndbplan.exporting.export import export as write_files

        return len(write_files(plan, folder)), counted(plan, task.cancelled)[Severity.ERROR]

    messages.say("info", f"Exporting into {folder} …")
    tasks.start(write, partial(_done, messages, folder, done))


def _done(messages: MessageBar, folder: Path, done: Callable[[], object], outcome: Outcome) -> None:
    if outcome.error:
        messages.say("error", outcome.error)
        return
    done()
    files, errors = outcome.value
    still = f"; the plan still has {how_many(errors, 'error')}, see Problems" if errors else ""
    messages.say(
        "warning" if errors else "done",
        f"Exported {how_many(files, 'file')} into {folder}{still}",
        "Open the folder",
        lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))),
    )
