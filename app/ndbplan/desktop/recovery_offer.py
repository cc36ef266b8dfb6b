"""Offering what a crash left behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.recovery import Crashed, crashed

if TYPE_CHECKING:
    from ndbplan.desktop.main_window import MainWindow


def offer_recovery(window: MainWindow, folder: Path | None = None) -> None:
    """Say that there is an unsaved plan, with a button that opens it. Without one: nothing."""
    plans = crashed(folder)
    if not plans:
        return
    newest = plans[0]
    window.messages.say(
        "warning",
        f"ndbplan ended without saving {newest.name} ({newest.saved_at:%d %B %Y, %H:%M}).",
        "Recover it",
        lambda: _recover(window, newest),
    )


def _recover(window: MainWindow, lost: Crashed) -> None:
    if not window.files.may_leave():
        return
    try:
        plan = lost.plan()
    except UserError as error:
        window.messages.say("error", error.line)
        return
    window.document.recover(plan, lost.path)
    # Journalled under this program before the old journal goes: a second crash loses nothing either.
    if window.journal is not None:
        window.journal.write()
    lost.discard()
    window.files.shown.emit()
