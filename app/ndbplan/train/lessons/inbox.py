"""How a trainer befalls a lesson that runs on the same machine: lines in a file of a private folder.

    with Inbox.opened("redo-overload", "Ann") as inbox:     # the session
        inbox.lines()                                       # what came since

    sessions()                                              # the trainer: who plays what
    send("ann-4711", "kill node:3")

The folder belongs to the user alone (0700); a session reads its file between two lines, so what is sent takes
effect with the next line that the trainee enters. Each line sent is a line of the result. The trainee is not
told of it; what came of it lies beside the lines for the trainer.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from ndbplan.base.errors import UserError, readable
from ndbplan.base.files import make_private
from ndbplan.train.world import DEEDS

MOST_BYTES = 65536
_ABOUT, _LINES, _ANSWERS = "session.json", "lines", "answers"


class InboxError(UserError):
    """A session that is not there."""


class Running(NamedTuple):
    """A session under way."""

    name: str
    lesson: str
    trainee: str
    process_id: int


def root() -> Path:
    """The private folder of all sessions. Raises InboxError when it is not private."""
    import platformdirs

    folder = Path(platformdirs.user_state_dir("ndbplan")) / "lessons"
    try:
        refused = make_private(folder)
    except OSError as error:
        refused = f"{folder} cannot be made ({error.strerror})"
    if refused:
        raise InboxError(refused, fix="make it a folder of yours alone")
    return folder


class Inbox:
    """What was sent to a session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read = 0

    @classmethod
    def opened(cls, lesson: str, trainee: str) -> Self:
        """A new session of this process. Raises InboxError."""
        who = re.sub(r"[^a-z0-9]+", "-", trainee.lower()).strip("-") or "session"
        folder = root() / f"{who[:40]}-{os.getpid()}"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(mode=0o700)
            about = {"lesson": lesson, "trainee": trainee, "process_id": os.getpid()}
            (folder / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
            (folder / _LINES).touch(mode=0o600)
        except OSError as error:
            raise InboxError(f"{folder} cannot be made ({error.strerror})", fix="free space") from None
        return cls(folder)

    def lines(self) -> list[str]:
        """Whole lines that came since the last look; nothing when the file is gone."""
        try:
            with (self.folder / _LINES).open("rb") as file:
                file.seek(self._read)
                content = file.read(MOST_BYTES)
        except OSError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._read += len(whole)
        return [line for line in whole.decode("utf-8", "replace").splitlines() if line.strip()]

    def tell(self, line: str, answer: object) -> None:
        """What came of a line, for who sent it; nothing when the folder is gone."""
        with suppress(OSError), (self.folder / _ANSWERS).open("a", encoding="utf-8") as file:
            file.write(f"{line}: {' '.join(str(answer).split())}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def sessions() -> list[Running]:
    """Sessions whose process runs; what others left behind is taken away."""
    found = []
    for folder in sorted(root().iterdir()):
        running = _about(folder)
        if running is None or not _lives(running.process_id):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            found.append(running)
    return found


def _about(folder: Path) -> Running | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        return Running(folder.name, str(about["lesson"]), str(about["trainee"]), int(about["process_id"]))
    return None


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _known(name: str) -> Path:
    names = [one.name for one in sessions()]
    if name not in names:
        there = ", ".join(names) or "none runs"
        raise InboxError(f"there is no session '{readable(name, 60)}'", fix=f"one of {there}")
    return root() / name


def answers(name: str) -> list[str]:
    """What came of the lines that were sent to a session so far. Raises InboxError when it does not run."""
    try:
        return (_known(name) / _ANSWERS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def send(name: str, line: str) -> None:
    """One line for a session. Raises InboxError for one that does not run, or a line that is none."""
    folder = _known(name)
    if not line.strip() or "\n" in line or len(line) > 500:
        raise InboxError("that is not a line", fix="type for example 'kill node:3'")
    verb = line.split()[0].lower()
    if verb not in DEEDS:
        raise InboxError(
            f"'{readable(verb, 40)}' is nothing that befalls a cluster", fix=f"one of {', '.join(DEEDS)}"
        )
    with (folder / _LINES).open("a", encoding="utf-8") as file:
        file.write(line.strip() + "\n")
