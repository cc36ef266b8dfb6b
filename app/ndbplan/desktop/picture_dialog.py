"""Saving the canvas as a picture: where, and in the colours on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from ndbplan.base.errors import UserError
from ndbplan.desktop import theme

if TYPE_CHECKING:
    from ndbplan.desktop.main_window import MainWindow

_FILTER = "PNG picture (*.png);;SVG drawing (*.svg);;PDF page (*.pdf)"


def save_picture(window: MainWindow) -> None:
    """Ask for a file and draw the plan into it."""
    from ndbplan.desktop.render import render

    document = window.document
    folder = document.path.parent if document.path else Path.home()
    name, chosen = QFileDialog.getSaveFileName(
        window, "Save a picture", str(folder / f"{Path(document.title).stem}.png"), _FILTER
    )
    if not name:
        return
    path = Path(name)
    if not path.suffix:
        path = path.with_suffix(chosen[-5:-1])
    try:
        render(document.plan, path, "dark" if theme.tokens().is_dark else "light")
    except UserError as error:
        window.messages.say("error", error.line)
        return
    window.messages.say("done", f"Saved {path}")
