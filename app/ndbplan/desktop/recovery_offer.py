"""Offering what a crash left behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ndbplan.desktop.dialogs.recovery_dialog import RecoveryDialog, moment_text
from ndbplan.desktop.document.recovery import Crashed, crashed

if TYPE_CHECKING:
    from ndbplan.desktop.main_window import MainWindow

_NAMED = 4


def offer_recovery(window: MainWindow, folder: Path | None = None) -> None:
    """Say that there are unsaved plans, with a button that shows them. Without any: nothing."""
    left = crashed(folder)
    if not left:
        return
    names = ", ".join(one.name for one in left[:_NAMED]) + (", …" if len(left) > _NAMED else "")
    window.messages.say(
        "warning",
        f"ndbplan ended without saving {names} (last edit {moment_text(left[0].edited_at)}).",
        "Look at what can be recovered…",
        lambda: RecoveryDialog(window, left, lambda one: recover(window, one)).open(),
    )


def recover(window: MainWindow, one: Crashed) -> bool:
    """Open it. What the crash left goes only when this window keeps it safely. False: the open plan stays."""
    if not window.files.may_leave():
        return False
    window.document.recover(one.project, one.path)
    window.files.shown.emit()
    if window.journal is not None and window.journal.is_safe():
        one.discard()
    return True
