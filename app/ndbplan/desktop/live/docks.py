"""Docks of a live cluster: their titles, and the way of the keyboard into them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QWidget


def title_bar(dock: QDockWidget, floats: bool) -> None:
    """A dock that floats has a title to be moved by; in the window its tab says what it is."""
    before = dock.titleBarWidget()
    dock.setTitleBarWidget(None if floats else QWidget(dock))  # type: ignore[arg-type]  # None: Qt's own
    if before is not None:
        before.deleteLater()


def enter(part: QWidget) -> None:
    """Give the keyboard to a part of the page: to itself, or to the first field in it."""
    fields = [part, *part.findChildren(QWidget)] if part.focusPolicy() != Qt.FocusPolicy.NoFocus else []
    fields = fields or part.findChildren(QWidget)
    target = part.focusProxy() or next(
        (w for w in fields if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.isVisible() and w.isEnabled()),
        None,
    )
    if target is not None:
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)
