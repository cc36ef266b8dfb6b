"""The one place that looks for objects that hold one another: in the GUI thread, between a person's steps.

Python starts its searches in whichever thread makes the next object. One in a thread of the pool would delete
widgets there, which Qt does not survive, so Python's own searches are off while the window lives. New objects
are searched when Python would have done so, which takes a few milliseconds. A search through everything waits
until nobody does anything; where it would be felt all the same, as with what is known of a large plan, until
somebody seems to be away.
"""

from __future__ import annotations

import gc
import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

from ndbplan.desktop.document.tasks import still_leaving

if TYPE_CHECKING:
    from ndbplan.desktop.main_window import MainWindow

_LOOK_MS = 250
_QUIET_S = 1.5
"""So long after the last step nobody waits for an answer."""
_AWAY_S = 60.0
"""So long after it somebody is taken to be away."""
_FELT = 150_000
"""Objects through which a search takes longer than three frames."""
_ENOUGH_NEW, _ENOUGH_YOUNG = 700, 10
"""When Python would have searched; commands let it search more seldom (`base/garbage.py`)."""
_ENOUGH = 2
"""Searches of younger objects after which one through everything is worth its time."""
_LONG_PUT_OFF = 400
"""Searches of younger objects after which it waits no longer for somebody to be away."""
_INPUT = frozenset(
    {
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseMove,
        QEvent.Type.KeyPress,
        QEvent.Type.Wheel,
        QEvent.Type.TouchUpdate,
    }
)


_collectors: set[int] = set()
"""Windows that live; as long as there is one, Python does not search by itself."""


def _again(number: int, _window: object = None) -> None:
    _collectors.discard(number)
    # A thread that has not stopped yet would search for what the window has left.
    if not _collectors and not still_leaving():
        gc.enable()


class Collector(QObject):
    """Searches for a window, in its thread, for as long as it lives; then Python does so itself again."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._panels = window.panels
        self._last_step_s = time.monotonic()
        self._put_off_at = 0
        """Searches of younger objects when one through everything was last put off."""
        gc.disable()
        _collectors.add(id(self))
        self.destroyed.connect(partial(_again, id(self)))
        # A simulation that is played is painted all the time.
        window.panels.moved.connect(self._stepped)
        handle = window.windowHandle()
        if handle is not None:
            # Of the window, not of the application: that sees each event once, and few others.
            handle.installEventFilter(self)
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def _stepped(self, *_what: object) -> None:
        self._last_step_s = time.monotonic()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _INPUT:
            self._stepped()
        return False

    def look(self) -> None:
        """Search as far as there is reason to and time for it."""
        if self._panels.is_busy:
            self._stepped()
        quiet_s = 0.0 if QApplication.mouseButtons() else time.monotonic() - self._last_step_s
        new, young, old = gc.get_count()
        if quiet_s >= _QUIET_S and old >= _ENOUGH and not self._would_be_felt(quiet_s, old):
            gc.collect()
        elif young > _ENOUGH_YOUNG:
            gc.collect(1)
        elif new > _ENOUGH_NEW:
            gc.collect(0)

    def _would_be_felt(self, quiet_s: float, old: int) -> bool:
        """Whether a search through everything takes so long now that it had better wait."""
        if quiet_s >= _AWAY_S or old >= _LONG_PUT_OFF:
            return False
        if old != self._put_off_at:
            self._put_off_at = old if len(gc.get_objects(generation=2)) > _FELT else 0
        return self._put_off_at == old
