"""All windows of a user, in one process: each with its plan, and those that come back with the next start.

    windows = Windows(app, open_window)
    windows.start(path, sample)      # that plan; without one what was open at the end of the last session
    windows.listen()                 # from now on other starts open their plans here (see `one_process`)

Closing a window closes its plan; quitting closes all of them and remembers which they were. They are noted
now and then too, for a program that is killed; what did not live so long is not opened again unasked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from ndbplan.desktop.document.preferences import OPEN_FILES, Preferences
from ndbplan.desktop.document.shared_file import is_open_elsewhere
from ndbplan.desktop.one_process import BEFORE_VARIANT, MOST_MESSAGE_BYTES, TAKEN, meeting_point

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

    from ndbplan.desktop.demos import Prepared
    from ndbplan.desktop.main_window import MainWindow
    from ndbplan.plan.project import Project


_NOTED_EVERY_MS = 10_000


class Windows(QObject):
    """The windows of this process, the newest last."""

    def __init__(self, app: QApplication, make: Callable[..., MainWindow]) -> None:
        """`make`: opens one (see `start.open_window`)."""
        super().__init__(app)
        self._app, self._make = app, make
        self.preferences = Preferences()
        self.open_windows: list[MainWindow] = []
        self._is_leaving = False
        self._last: MainWindow | None = None
        """The one that was closed last: deleted when nothing runs any more."""
        self._server: QLocalServer | None = None
        self._noting = QTimer(self)
        self._noting.setInterval(_NOTED_EVERY_MS)
        self._noting.timeout.connect(self._note)

    @property
    def active(self) -> MainWindow:
        """The window that somebody looks at, else the newest."""
        front = self._app.activeWindow()
        return next((window for window in self.open_windows if window is front), self.open_windows[-1])

    def start(self, path: Path | None = None, sample: str | None = None, variant: str = "") -> MainWindow:
        """Open the first window, and those of the last session where no plan is named."""
        kept = [Path(name) for name in self.preferences.get(OPEN_FILES) if isinstance(name, str)]
        self.preferences.put(OPEN_FILES, [])
        first = self.open(path, sample, variant)
        if path is None and sample is None:
            for file in kept:
                if self._of(file) is None and _is_there(file) and not is_open_elsewhere(file):
                    self.open(file).session.restore_view()
            first.raise_()
            first.activateWindow()
        self._noting.start()
        return first

    def open(
        self,
        path: Path | None = None,
        sample: str | None = None,
        variant: str = "",
        project: Project | None = None,
    ) -> MainWindow:
        """Another window; a file that one has open already is shown there.

        `variant`: the one to show. `project`: what it begins with where no file and no sample is named.
        """
        known = self._of(path) if path is not None else None
        if known is not None:
            _show(known)
            known.document.show_named(variant)
            return known
        window = self._make(
            self._app, path, sample, self.preferences, is_first=not self.open_windows, project=project
        )
        window.document.show_named(variant)
        self.open_windows.append(window)
        window.leave = self.quit
        window.closed.connect(self._closed)
        window.window_wanted.connect(self.open)
        window.demo_wanted.connect(self.play)
        window.files.is_shown_elsewhere = self._shown
        return window

    def play(self, prepared: Prepared) -> MainWindow:
        """Play a demo in a window of its own, which closes when it ends."""
        from ndbplan.desktop.demos import play_alone

        window = self.open(project=prepared.project)
        play_alone(window.demos, prepared.demo, window.close)
        return window

    def quit(self) -> None:
        """Close all windows; one whose plan is to be saved first may keep those that are left."""
        files = self._files()
        self._is_leaving = True
        for window in self._front_last():
            if not window.close():
                self._is_leaving = False
                return
        self.preferences.put(OPEN_FILES, files)

    def _note(self) -> None:
        """Remember what is open, as at the end."""
        self.preferences.put(OPEN_FILES, self._files())
        for window in self._front_last():
            window.session.keep()

    def _front_last(self) -> list[MainWindow]:
        """The newest first, and last the one in front: with what is kept last the next start begins."""
        if not self.open_windows:
            return []
        front = self.active
        return [*(window for window in reversed(self.open_windows) if window is not front), front]

    def end(self) -> None:
        """Delete what is left, in order and not by the interpreter's end."""
        if self._server is not None:
            self._server.close()
        for window in (*self.open_windows, *((self._last,) if self._last is not None else ())):
            window.deleteLater()

    def _closed(self, window: MainWindow) -> None:
        files = self._files()
        self.open_windows.remove(window)
        if self.open_windows:
            window.deleteLater()
            files = self._files()
        else:
            self._last = window
            self._noting.stop()
        if not self._is_leaving:
            self.preferences.put(OPEN_FILES, files)

    def _files(self) -> list[str]:
        return [str(window.document.path) for window in self.open_windows if window.document.path]

    def _of(self, path: Path) -> MainWindow | None:
        absolute = path.absolute()
        return next((window for window in self.open_windows if window.document.path == absolute), None)

    def _shown(self, path: Path) -> bool:
        """Whether another window has a file open: it comes to the front then."""
        window = self._of(path)
        if window is None or window is self._app.activeWindow():
            return False
        _show(window)
        return True

    # One process for each user

    def listen(self) -> None:
        """Take over the plans of later starts."""
        from PySide6.QtNetwork import QLocalServer

        place = meeting_point()
        if place is None:
            return
        # What a process that is gone has left; one that lives would have taken this start over.
        with suppress(OSError):
            place.unlink(missing_ok=True)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._take_over)
        self._server.listen(str(place))

    def _take_over(self) -> None:
        assert self._server is not None
        connection = self._server.nextPendingConnection()
        connection.readyRead.connect(lambda: self._read(connection))
        connection.disconnected.connect(connection.deleteLater)

    def _read(self, connection: QLocalSocket) -> None:
        if not connection.canReadLine():
            # The rest is on its way.
            if connection.bytesAvailable() >= MOST_MESSAGE_BYTES:
                connection.abort()
            return
        told = bytes(connection.readLine(MOST_MESSAGE_BYTES).data())
        connection.write(TAKEN)
        connection.disconnectFromServer()
        name, _, variant = told[:-1].decode("utf-8", "surrogateescape").partition(BEFORE_VARIANT)
        _show(self.open(Path(name) if name else None, variant=variant))


def _show(window: MainWindow) -> None:
    window.show()
    window.raise_()
    window.activateWindow()


def _is_there(file: Path) -> bool:
    with suppress(OSError):
        return file.is_file()
    return False
