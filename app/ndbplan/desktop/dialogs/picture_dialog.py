"""Saving the canvas as a picture: where, and in the colours on the screen."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.report.pictures import SUFFIXES

_FILTER = "PNG picture (*.png);;SVG drawing (*.svg);;PDF page (*.pdf)"


def save_picture(parent: QWidget, document: Document, messages: MessageBar) -> None:
    """Ask for a file and draw the plan into it."""
    from ndbplan.desktop.render import render

    folder = document.path.parent if document.path else Path.home()
    name, chosen = QFileDialog.getSaveFileName(
        parent, "Save a picture", str(folder / f"{Path(document.title).stem}.png"), _FILTER
    )
    if not name:
        return
    path = Path(name)
    if not path.suffix:
        path = path.with_suffix(chosen[-5:-1])
    try:
        render(document.plan, path, "dark" if theme.tokens().is_dark else "light")
    except UserError as error:
        messages.say("error", error.line)
        return
    inside = " — the plan is inside" if path.suffix.lower() in SUFFIXES else ""
    messages.say("done", f"Saved {path}{inside}")
