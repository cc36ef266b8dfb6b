"""Dialogs of the window about the plan: what runs otherwise, what was timed, a report, a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from ndbplan.desktop.canvas.stage import Stage
    from ndbplan.desktop.document.shared_file import Theirs


def compare(window: QWidget, document: Document) -> None:
    """Compare the plan with the configuration of a running cluster."""
    from ndbplan.desktop.dialogs.compare_dialog import CompareDialog

    CompareDialog(document, window).open()


def measured(window: QWidget, document: Document) -> None:
    """Fit the plan's estimates to what somebody timed."""
    from ndbplan.desktop.dialogs.measured_dialog import MeasuredDialog

    MeasuredDialog(document, window).open()


def report(window: QWidget, document: Document, messages: MessageBar, workload_id: str | None = None) -> None:
    """Offer a document about the plan, under the workload that the window shows."""
    from ndbplan.desktop.dialogs.report_dialog import ReportDialog

    ReportDialog(document, messages, window, workload_id).open()


def save_picture(window: QWidget, canvas: Stage, messages: MessageBar) -> None:
    """Write the canvas as a picture, coloured as it is."""
    from ndbplan.desktop.dialogs import picture_dialog

    picture_dialog.save_picture(window, canvas.document, messages, canvas.colour_by)


def ask_whose(window: QWidget, document: Document, path: Path, theirs: Theirs) -> str:
    """Ask what becomes of a plan whose file another program has written meanwhile."""
    from ndbplan.desktop.dialogs import conflict_dialog

    return conflict_dialog.ask_whose(window, lambda: document.project, path, theirs)
