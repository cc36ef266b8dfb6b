"""Recovery: every edit is in a journal before the next one can be made, so that a crash loses none.

journal = Journal(document)         # writes while the window lives, and removes it at a clean end
for found in crashed(): ...         # at the next start: journals that nobody holds any more
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome, Task, Tasks
from ndbplan.plan import file
from ndbplan.plan.journal import SUFFIX, Heading, JournalFile, Left, is_open, read
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project

FLUSH_MS = 500
"""So long after an edit it begins to be flushed: within a second it survives a loss of power."""
_START_ANEW_BYTES = 1_000_000
"""A journal grows by so much, and by a multiple of the plan itself, before it starts with the plan anew."""
_START_ANEW_TIMES = 4


@dataclass(frozen=True)
class Crashed:
    """What a program left behind when it ended without closing its window."""

    journal: Path
    left: Left
    saved: Project | None
    """What its file holds now; None: it has none that can be read."""
    saved_at: datetime | None
    """When that file was written."""

    @property
    def name(self) -> str:
        """Name of the file, or of the plan."""
        return self.left.heading.name

    @property
    def path(self) -> Path | None:
        """File of the plan; None: it was never saved."""
        return self.left.heading.path

    @property
    def project(self) -> Project:
        """The variants as they were."""
        return self.left.project

    @property
    def edited_at(self) -> datetime:
        """Time of the last edit."""
        return self.left.edited_at

    @property
    def is_older(self) -> bool:
        """Whether the file was written after the last edit, by somebody else."""
        return self.saved_at is not None and self.saved_at > self.edited_at

    def discard(self) -> None:
        """Forget it."""
        with contextlib.suppress(OSError):
            self.journal.unlink()


class Journal(QObject):
    """Keeps one file beside the program's state while a document has unsaved edits."""

    failed = Signal(str)
    """The journal cannot be written: why, and what that means. Once, until it can be again."""

    def __init__(self, document: Document, folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._folder = folder or journal_folder()
        self._file: JournalFile | None = None
        self._told = False
        self._tasks = Tasks(self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FLUSH_MS)
        self._timer.timeout.connect(self._flush)
        document.changed.connect(self._edited)
        document.variants_changed.connect(self._edited)
        document.state_changed.connect(self._state_changed)
        self._start()

    def is_safe(self) -> bool:
        """Whether everything unsaved lies on the disk, a loss of power included; waits for it."""
        if self._file is None:
            return not self._document.is_modified
        if not self._holds_all(self._file):
            return False
        try:
            self._file.flush()
        except OSError:
            return False
        return True

    def _edited(self, *_plans: Plan) -> None:
        written = self._file
        if written is None or not self._document.is_modified:
            # The first unsaved edit, and a plan that replaces this one, follow as a change of state.
            return
        if written.project is self._document.project:
            # Another variant is shown: nothing is other than it was.
            return
        # Another plan came in as a whole: the one of this journal was given up.
        if written.heading == self._heading() and not self._is_long(written):
            # When it cannot be written, what was written until now stays until the whole plan is elsewhere.
            with contextlib.suppress(OSError):
                written.append(self._document.project)
                self._flush_soon()
                return
        self._start()

    def _state_changed(self) -> None:
        heading = self._heading()
        if not self._document.is_modified:
            self._retire()
        elif self._file is None:
            self._start()
        elif self._file.heading != heading:
            # Where the plan could not be written, the journal is still that of another one.
            if self._file.project is self._document.project:
                with contextlib.suppress(OSError):
                    self._file.rename(heading)
                    return
            self._start()

    def _start(self) -> None:
        """Begin a journal with the whole plan; what was there before goes when it is safe on the disk."""
        old = self._file
        if not self._document.is_modified and old is None:
            return
        try:
            new = JournalFile.begin(self._folder, self._heading(), self._document.project)
            if old is not None:
                try:
                    new.flush()
                except OSError:
                    new.remove()
                    raise
                old.remove()
            self._file, self._told = new, False
            self._flush_soon()
        except OSError as error:
            # A full disk must not disturb the work.
            if not self._told:
                self._told = True
                self.failed.emit(
                    f"Edits cannot be kept for a recovery ({error.strerror}): a crash would lose them. Save "
                    f"often, and look at {self._folder}."
                )

    def _holds_all(self, written: JournalFile) -> bool:
        return written.project is self._document.project and written.heading == self._heading()

    def _heading(self) -> Heading:
        return Heading(self._document.title, self._document.path)

    @staticmethod
    def _is_long(written: JournalFile) -> bool:
        grown = written.bytes_since_start - written.start_bytes
        return grown > max(_START_ANEW_BYTES, _START_ANEW_TIMES * written.start_bytes)

    def _flush_soon(self) -> None:
        # Never put off by a newer edit: each is flushed this long after it at the latest.
        if not self._timer.isActive():
            self._timer.start()

    def _flush(self) -> None:
        written = self._file
        if written is None:
            return
        if self._tasks.is_busy:
            self._timer.start()
            return

        def flush(_task: Task) -> bool:
            try:
                written.flush()
            except OSError:
                return False
            return True

        def flushed(outcome: Outcome) -> None:
            # The system may have forgotten what it could not write: the whole plan goes elsewhere, or the
            # user hears that it cannot.
            if outcome.value is False and self._file is written:
                self._start()

        self._tasks.start(flush, flushed)

    def _retire(self) -> None:
        """The plan is saved or given up: nothing to recover."""
        self._timer.stop()
        if self._file is not None:
            self._file.remove()
            self._file = None

    def close(self) -> None:
        """The window ends in good order: nothing to recover, and nothing to write any more."""
        self._document.changed.disconnect(self._edited)
        self._document.variants_changed.disconnect(self._edited)
        self._document.state_changed.disconnect(self._state_changed)
        self._retire()
        self._tasks.close()


def journal_folder() -> Path:
    """Where journals lie."""
    import platformdirs

    return Path(platformdirs.user_state_dir("ndbplan")) / "recovery"


def crashed(folder: Path | None = None) -> list[Crashed]:
    """What programs left that no longer run, the last edit first; what cannot be read is left out.

    A journal whose plan is in its file already tells nothing new and goes.
    """
    where = folder or journal_folder()
    journals: list[Crashed] = []
    for path in where.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            if is_open(path):
                continue
            left = read(path)
            if left is None:
                continue
            saved, saved_at = _saved(left.heading.path)
            one = Crashed(path, left, saved, saved_at)
            if saved == left.project:
                one.discard()
            else:
                journals.append(one)
    return sorted(journals, key=lambda one: one.edited_at, reverse=True)


def _saved(path: Path | None) -> tuple[Project | None, datetime | None]:
    """A plan's file as it is now, and when it was written."""
    if path is None:
        return None, None
    try:
        # Anything else that has its name now, such as a pipe, might be waited for.
        saved = file.load_project(path) if path.is_file() else None
        return saved, None if saved is None else datetime.fromtimestamp(path.stat().st_mtime)
    except (OSError, UserError, ValueError, OverflowError):
        return None, None
