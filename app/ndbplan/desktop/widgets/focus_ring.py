"""Where the focus goes with the key for the next panel."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtWidgets import QApplication, QWidget

Stop = tuple[QWidget, Callable[[], object]]
"""A part of the window, and what puts the focus into it."""


def focus_next(stops: Iterable[Stop]) -> None:
    """Put the focus into the visible part after the one that has it, from the last into the first."""
    seen = [stop for stop in stops if stop[0].isVisible()]
    focus = QApplication.focusWidget()
    here = next(
        (i for i, (part, _) in enumerate(seen) if focus is part or (focus and part.isAncestorOf(focus))), -1
    )
    if seen:
        seen[(here + 1) % len(seen)][1]()
