"""Recovery: every unsaved state of a plan is journalled, so that a crash loses at most a second.

journal = Journal(document)         # writes while the window lives, and removes it at a clean end
for found in crashed(): ...         # at the next start: journals whose program no longer runs
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.document import Document
from ndbplan.plan import file
from ndbplan.plan.plan import Plan

SETTLE_MS = 700
"""A journal is written this long after the last edit of a burst."""
_SUFFIX = ".journal"


@dataclass(frozen=True)
class Crashed:
    """A journal that a program left behind when it ended without closing its window."""

    journal: Path
    name: str
    path: Path | None
    """File of the plan; None: it was never saved."""
    saved_at: datetime

    def plan(self) -> Plan:
        """The plan as it was. Raises PlanFileError for a journal that was cut off."""
        return file.from_document(_read(self.journal)["plan"], name=self.name)

    def discard(self) -> None:
        """Forget it."""
        with contextlib.suppress(OSError):
            self.journal.unlink()


class Journal(QObject):
    """Keeps one file beside the program's state while a document has unsaved edits."""

    def __init__(self, document: Document, folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._folder = folder or journal_folder()
        self._file: Path | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SETTLE_MS)
        self._timer.timeout.connect(self.write)
        document.changed.connect(self._edited)
        document.state_changed.connect(self._timer.start)

    def _edited(self, _before: Plan, _after: Plan) -> None:
        self._timer.start()

    def write(self) -> None:
        """Journal the plan as it is now; with nothing unsaved there is no journal."""
        self._timer.stop()
        if not self._document.is_modified:
            self.remove()
            return
        path = self._document.path
        document = {
            "path": os.fspath(path) if path is not None else None,
            "name": self._document.title,
            "process": os.getpid(),
            "plan": json.loads(file.dumps(self._document.plan)),
        }
        # A full disk must not disturb the work: without a journal there is just nothing to recover.
        with contextlib.suppress(OSError, UserError):
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._file is None:
                self._file = self._folder / f"{os.getpid()}-{id(self):x}{_SUFFIX}"
            file.write_atomically(self._file, json.dumps(document, ensure_ascii=False).encode())

    def remove(self) -> None:
        """The plan is saved or given up: nothing to recover."""
        self._timer.stop()
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.unlink()
            self._file = None

    def close(self) -> None:
        """The window ends in good order: nothing to recover, and nothing to write any more."""
        self.remove()
        self._document.changed.disconnect(self._edited)
        self._document.state_changed.disconnect(self._timer.start)


def journal_folder() -> Path:
    """Where journals lie."""
    import platformdirs

    return Path(platformdirs.user_state_dir("ndbplan")) / "recovery"


def crashed(folder: Path | None = None) -> list[Crashed]:
    """Journals of programs that no longer run, newest first; unreadable ones are left out."""
    where = folder or journal_folder()
    if not where.is_dir():
        return []
    journals: list[Crashed] = []
    for journal in where.glob(f"*{_SUFFIX}"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            document = _read(journal)
            if not _runs(int(document["process"])):
                path = Path(document["path"]) if document["path"] else None
                saved_at = datetime.fromtimestamp(journal.stat().st_mtime)
                journals.append(Crashed(journal, str(document["name"]), path, saved_at))
    return sorted(journals, key=lambda one: one.saved_at, reverse=True)


def _read(journal: Path) -> dict[str, Any]:
    document = json.loads(journal.read_text(encoding="utf-8"))
    if not isinstance(document, dict):
        raise TypeError("a journal is an object")
    return document


def _runs(process: int) -> bool:
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
