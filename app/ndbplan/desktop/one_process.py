"""One process for each user and screen: a later start hands its plan over to the one that runs."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ndbplan.base.files import make_private

MOST_MESSAGE_BYTES = 8192
TAKEN = b"taken"
"""The answer of a process that has taken a plan over."""
_ANSWER_S = 2.0
"""A process that does not answer so long is busy or gone: this one opens a window itself."""
_LONGEST_ADDRESS = 100
"""Of a local socket, in bytes."""


BEFORE_VARIANT = "\0"
"""Stands between a file, which cannot hold it, and the variant that is to be shown."""


def hand_over(path: Path | None, variant: str = "") -> bool:
    """Let the process that runs already open a plan (None: a window) and show one of its variants.

    False: there is none that answers.
    """
    place = meeting_point()
    if place is None or not place.exists():
        return False
    name = os.fsencode(path.absolute()) if path is not None else b""
    name += f"{BEFORE_VARIANT}{variant}".encode() if variant else b""
    if b"\n" in name or len(name) >= MOST_MESSAGE_BYTES:
        return False
    import socket

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line, suppress(OSError):
        line.settimeout(_ANSWER_S)
        line.connect(str(place))
        line.sendall(name + b"\n")
        return line.recv(len(TAKEN)) == TAKEN
    return False


def meeting_point() -> Path | None:
    """Where starts of one user on one screen meet; None: there is no folder that only this user can use."""
    import platformdirs

    screen = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY") or ""
    folder = Path(platformdirs.user_state_dir("ndbplan")) / "run"
    place = folder / f"window-{''.join(c if c.isalnum() else '-' for c in screen)[:40]}"
    with suppress(OSError):
        if os.name == "posix" and len(os.fsencode(place)) <= _LONGEST_ADDRESS and not make_private(folder):
            return place
    return None
