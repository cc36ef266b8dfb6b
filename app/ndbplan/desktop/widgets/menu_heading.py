"""A heading inside of a menu: the style sheet draws Qt's own sections as a line without their words."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from ndbplan.desktop.look.text import as_it_is


def heading(menu: QMenu, text: str) -> QAction:
    """Add a line that cannot be chosen and says what the next ones are about."""
    action = menu.addAction(as_it_is(text))
    action.setEnabled(False)
    return action
