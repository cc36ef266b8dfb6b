"""Saving the canvas as a picture: where, and in the colours on the screen."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.message_bar import MessageBar

_FORMS = (("PNG picture", ".png"), ("SVG drawing", ".svg"), ("PDF page", ".pdf"))
_INSIDE = {"with the plan inside": "", "the plan inside without prices": "prices", "without the plan": "plan"}
_KINDS = {
    f"{form}, {inside} (*{suffix})": (suffix, without)
    for inside, without in _INSIDE.items()
    for form, suffix in _FORMS
}
"""Kinds of files to choose from: the ending, and what stays out."""
_SAID = {"": " — the plan is inside", "prices": " — the plan is inside, without prices", "plan": ""}


def save_picture(parent: QWidget, document: Document, messages: MessageBar, colour_by: str = "") -> None:
    """Ask for a file and draw the plan into it, coloured as on the screen where that needs no other plan."""
    from ndbplan.desktop.render import Appearance, pictured, render

    folder = document.path.parent if document.path else Path.home()
    name, chosen = QFileDialog.getSaveFileName(
        parent, "Save a picture", str(folder / f"{Path(document.title).stem}.png"), ";;".join(_KINDS)
    )
    if not name:
        return
    suffix, without = _KINDS.get(chosen, (".png", ""))
    path = Path(name)
    if not path.suffix:
        path = path.with_suffix(suffix)
    try:
        appearance: Appearance = "dark" if theme.tokens().is_dark else "light"
        chosen_way = colour_by if colour_by in pictured() else ""
        render(document.plan, path, appearance, without=without, colour_by=chosen_way)
    except UserError as error:
        messages.say("error", error.line)
        return
    messages.say("done", f"Saved {path}{_SAID[without]}")
