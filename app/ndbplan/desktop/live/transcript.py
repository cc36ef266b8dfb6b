"""What was typed at the consoles of a live cluster, written into a file that `ndbplan train` plays again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from ndbplan.base.files import write_atomically
from ndbplan.desktop.live.session import LiveSession

_FILTER = "Transcripts (*.txt)"


Tell = Callable[[str, str], object]
"""Says how it went: its kind, and the words."""


def ask_file(owner: QWidget) -> Path | None:
    """Which file a transcript is written to."""
    name, _ = QFileDialog.getSaveFileName(
        owner, "Save the transcript", str(Path.home() / "transcript.txt"), _FILTER
    )
    return Path(name) if name else None


def write_transcript(path: Path, text: str, tell: Tell) -> bool:
    """Write what was typed and answered; false: it was not written, which was told."""
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        tell("error", f"{path} was not written: {error.strerror}")
        return False
    tell("done", f"Saved {path}: 'ndbplan train PLAN < {path.name}' plays it again")
    return True


def save_transcript(owner: QWidget, session: LiveSession, tell: Tell, written: Callable[[], object]) -> None:
    """Ask for a file, and write what was typed and answered in the branch in front, in its turn."""
    path = ask_file(owner)
    if path is None:
        return

    def write(text: object) -> None:
        if write_transcript(path, str(text), tell):
            written()

    session.do(lambda seat: seat.transcript(), write)
