"""Dialogs about the cluster that runs: what it has otherwise than the plan, and what was timed on it."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from ndbplan.desktop.document.document import Document


def compare(window: QWidget, document: Document) -> None:
    """Compare the plan with the configuration of a running cluster."""
    from ndbplan.desktop.dialogs.compare_dialog import CompareDialog

    CompareDialog(document, window).open()


def measured(window: QWidget, document: Document) -> None:
    """Fit the plan's estimates to what somebody timed."""
    from ndbplan.desktop.dialogs.measured_dialog import MeasuredDialog

    MeasuredDialog(document, window).open()
