"""What was typed at the consoles of a live cluster, written into a file that `ndbplan train` plays again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from ndbplan.base.files import write_atomically

if TYPE_CHECKING:
    from ndbplan.desktop.live.page import LivePage

_FILTER = "Transcripts (*.txt)"


def save_transcript(page: LivePage) -> None:
    """Ask for a file, and write what was typed and answered in the branch in front."""
    start = Path.home() / "transcript.txt"
    name, _ = QFileDialog.getSaveFileName(page, "Save the transcript", str(start), _FILTER)
    if not name:
        return
    path = Path(name)

    def write(text: object) -> None:
        try:
            write_atomically(path, str(text).encode())
        except OSError as error:
            page.told.emit("error", f"{path} was not written: {error.strerror}")
        else:
            page.told.emit("done", f"Saved {path}: 'ndbplan train PLAN < {path.name}' plays it again")

    page.session.do(lambda seat: seat.transcript(), write)
