"""Files and folders shown by the programs that the system has for them; where none does, that is said."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices

from ndbplan.desktop.widgets.message_bar import MessageBar

_LOOK_MS = 200
_asked: list[subprocess.Popen[bytes]] = []
"""Openers that have not ended: they go on without this program."""


def open_outside(path: Path, messages: MessageBar, done: str) -> None:
    """Open a file or folder; `done` is what the message says of it, with what came of opening it.

    Desktops of free systems say by the exit code of their opener that no program took the file, such as a
    browser that refuses to run as root; Qt alone would not tell.
    """
    messages.say("done", done)
    opener = shutil.which("xdg-open")
    if opener is None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            _say_refused(messages, done)
        return
    quiet = subprocess.DEVNULL
    asked = subprocess.Popen([opener, path], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    _asked.append(asked)
    timer = QTimer(messages)
    timer.setInterval(_LOOK_MS)

    def look() -> None:
        code = asked.poll()
        if code is None:
            return
        timer.stop()
        timer.deleteLater()
        _asked.remove(asked)
        if code:
            _say_refused(messages, done)

    timer.timeout.connect(look)
    timer.start()


def _say_refused(messages: MessageBar, done: str) -> None:
    messages.say("warning", f"{done}; no program of this machine opened it: open it by hand")
