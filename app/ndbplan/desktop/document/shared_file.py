"""A plan's file that others may have open too: who has, and what they wrote since it was read.

    shared = SharedFile(document)
    shared.holder                     # "another window of ndbplan (process 123 on db-7)", or nothing
    shared.theirs()                   # what somebody else wrote there since; None: nobody did

Whoever opens a plan holds a lock beside its file as long as it is open (QLockFile: host and process; one of a
program that is gone counts for nothing). Before a save the file is compared with what was read or written
last, byte by byte: no clock decides.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QLockFile, QObject, QSysInfo, Signal

from ndbplan.base.errors import UserError
from ndbplan.base.files import is_waited_for
from ndbplan.desktop.document.document import Document
from ndbplan.plan import file
from ndbplan.plan.project import Project

_ANY_MAY_WRITE = 0o222
_LONGEST_NAME = 255
"""Of a file, in bytes, on the usual file systems."""


@dataclass(frozen=True)
class Theirs:
    """What a file holds that somebody else wrote."""

    project: Project | None
    """None: it cannot be read, or it is gone."""
    error: str = ""
    """Why not."""
    is_gone: bool = False


class SharedFile(QObject):
    """Follows the file of one document."""

    changed_elsewhere = Signal()
    """Somebody else has written the file, or taken it away."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._path: Path | None = None
        self._known: bytes | None = None
        self._told: bytes | None = None
        """Of what was announced already."""
        self._lock: QLockFile | None = None
        self.holder = ""
        """Who else has the file open, in words; nothing: nobody."""
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(lambda _path: self._look())
        self._watcher.directoryChanged.connect(lambda _path: self._look())
        document.state_changed.connect(self._follow)

    @property
    def is_read_only(self) -> bool:
        """Whether the file is there and cannot be written, or is marked so: also for one who may all.

        A save puts a new file in its place, so its folder has to take one.
        """
        if self._path is None:
            return False
        try:
            marked = not self._path.stat().st_mode & _ANY_MAY_WRITE
        except OSError:
            return False
        return marked or not os.access(self._path, os.W_OK) or not takes_files(self._path.resolve().parent)

    def know(self, content: bytes | None) -> None:
        """The file as it was when it was read: what is there else is somebody else's."""
        self._known = self._told = content

    def know_now(self) -> None:
        """The file as it is now is the document's."""
        self.know(content_of(self._document.path))

    def theirs(self) -> Theirs | None:
        """What somebody else wrote since the document was read or saved; None: nothing."""
        path = self._document.path
        now = content_of(path)
        if path is None or now == self._known:
            return None
        if now is None:
            return Theirs(None, "it is gone", is_gone=not path.exists())
        try:
            return Theirs(file.load_project(path))
        except UserError as error:
            return Theirs(None, error.line)

    def close(self) -> None:
        """The document is closed: others may have the file."""
        self._hold(None)

    def _follow(self) -> None:
        if self._document.path != self._path:
            self._hold(self._document.path)
            self.know_now()

    def _hold(self, path: Path | None) -> None:
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        self._path, self.holder = path, ""
        if path is None:
            return
        lock = _lock_of(path)
        if lock is not None and lock.tryLock(0):
            self._lock = lock
        elif lock is not None and lock.error() is QLockFile.LockError.LockFailedError:
            self.holder = _words(lock)
        self._watcher.addPaths([str(path.parent), *([str(path)] if path.exists() else [])])

    def _look(self) -> None:
        path = self._path
        if path is None:
            return
        if path.exists() and str(path) not in self._watcher.files():
            # A file that is exchanged as a whole is another one to the watcher.
            self._watcher.addPath(str(path))
        now = content_of(path)
        if now not in (self._known, self._told):
            self._told = now
            self.changed_elsewhere.emit()


def takes_files(folder: Path) -> bool:
    """Whether new files can be made in a folder."""
    return os.access(folder, os.W_OK | os.X_OK)


def is_open_elsewhere(path: Path) -> bool:
    """Whether another window or process has the file of a plan open."""
    lock = _lock_of(path)
    if lock is None:
        return False
    if lock.tryLock(0):
        lock.unlock()
        return False
    return lock.error() is QLockFile.LockError.LockFailedError


def _lock_of(path: Path) -> QLockFile | None:
    """The lock beside a file; None where a pipe stands in its place, for which QLockFile would wait."""
    name = f".{path.name}.lock"
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()}.lock"
    if is_waited_for(path.with_name(name)):
        return None
    lock = QLockFile(str(path.with_name(name)))
    # Never old: a plan may be open for weeks. One whose process is gone is taken all the same.
    lock.setStaleLockTime(0)
    return lock


def content_of(path: Path | None) -> bytes | None:
    """A short form of what a file holds, to compare; None: it cannot be read, or is not there."""
    if path is None or is_waited_for(path):
        return None
    try:
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").digest()
    except OSError:
        return None


def _words(lock: QLockFile) -> str:
    # PySide gives nothing where the lock cannot be read.
    told: tuple[int, str, str] | None = lock.getLockInfo()
    if not told or not told[0]:
        return "another program"
    # The program is that which runs it: python.
    process, host, _program = told
    here = host == QSysInfo.machineHostName()
    if here and process == os.getpid():
        return "another window of this program"
    return f"another window of ndbplan (process {process} {'here' if here else f'on {host}'})"
