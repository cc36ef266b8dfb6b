"""What was typed at the consoles of a live cluster, written into a file that `ndbplan train` plays again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from ndbplan.base.files import write_atomically
from ndbplan.desktop.live.session import LiveSession

_FILTER = "Transcripts (*.txt)"


def save_transcript(owner: QWidget, session: LiveSession, tell: Callable[[str, str], object]) -> None:
    """Ask for a file, and write what was typed and answered in the branch in front; `tell`: how it went."""
    start = Path.home() / "transcript.txt"
    name, _ = QFileDialog.getSaveFileName(owner, "Save the transcript", str(start), _FILTER)
    if not name:
        return
    path = Path(name)

    def write(text: object) -> None:
        try:
            write_atomically(path, str(text).encode())
        except OSError as error:
            tell("error", f"{path} was not written: {error.strerror}")
        else:
            tell("done", f"Saved {path}: 'ndbplan train PLAN < {path.name}' plays it again")

    session.do(lambda seat: seat.transcript(), write)
