"""When Python looks for objects that hold one another: between the steps of a person, not in one.

A search through everything takes a tenth of a second in a window that has simulated a large plan, and nothing
is painted meanwhile. New objects are searched as ever, which takes a few milliseconds.
"""

from __future__ import annotations

import gc
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from ndbplan.desktop.main_window import MainWindow

USUAL = gc.get_threshold()
_LOOK_MS = 1000
_QUIET_S = 1.5
"""So long after the last step nobody waits for an answer."""
_ENOUGH = 12
"""Searches of new objects after which one through everything is worth its time."""
_NEVER = 1_000_000
_INPUT = frozenset(
    {
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseMove,
        QEvent.Type.KeyPress,
        QEvent.Type.Wheel,
        QEvent.Type.TouchUpdate,
    }
)
_MANY_MODULES = 50
"""So many more modules are worth putting aside: they stay, and are searched in vain."""


class QuietCollector(QObject):
    """Searches through everything while a window rests; lives as long as the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._panels = window.panels
        self._last_step_s = time.monotonic()
        self._modules = 0
        gc.set_threshold(*USUAL[:2], _NEVER)
        self.destroyed.connect(partial(gc.set_threshold, *USUAL))
        for stepped in (window.document.changed, window.selection.changed, window.canvas.moved):
            stepped.connect(self._stepped)
        if window.panels.analyses is not None:
            # A simulation is played again.
            window.panels.analyses.moment.connect(self._stepped)
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
        """Search if there is reason to, and nobody does anything."""
        if self._panels.is_busy:
            self._stepped()
        rests = time.monotonic() - self._last_step_s >= _QUIET_S
        if rests and gc.get_count()[2] >= _ENOUGH and not QApplication.mouseButtons():
            self.collect()

    def collect(self) -> None:
        """Search through everything; what many new modules brought is put aside after that."""
        gc.collect()
        if len(sys.modules) - self._modules >= _MANY_MODULES:
            self._modules = len(sys.modules)
            gc.freeze()
