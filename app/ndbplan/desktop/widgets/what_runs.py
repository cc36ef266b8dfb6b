"""Asking for the file that says what runs now."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

_FILTER = "Configuration or plan (*.ini *.cnf *.ndbplan);;All files (*)"


def ask_what_runs(parent: QWidget, title: str) -> Path | None:
    """A plan, the config.ini of the cluster or the my.cnf of an SQL node; None: nothing was chosen."""
    name, _ = QFileDialog.getOpenFileName(parent, title, "", _FILTER)
    return Path(name) if name else None
