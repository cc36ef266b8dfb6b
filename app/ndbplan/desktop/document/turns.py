"""Long work cut into turns of the event loop: input that waits is answered between one and the next."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

_NEXT_MS = 1
"""What is to happen at once (0) Qt does before it looks at input."""


def next_turn(of: QObject, act: Callable[[], object]) -> None:
    """Call `act` in a turn of its own, if `of` lives until then."""
    QTimer.singleShot(_NEXT_MS, of, act)


class Steps(QObject):
    """Steps of one work, each in a turn of its own."""

    def __init__(self, of: QObject, step: Callable[[], bool]) -> None:
        """`step`: does one and tells whether more are left."""
        super().__init__(of)
        self._step = step
        self._goes_on = False
        self._then: Callable[[], object] | None = None

    def go(self, then: Callable[[], object] | None = None) -> None:
        """Do the first step now and the others in turns, then `then`; of several the last that was named."""
        self._then = then
        if not self._goes_on:
            self._do()

    def _do(self) -> None:
        self._goes_on = self._step()
        if self._goes_on:
            next_turn(self, self._do)
        elif self._then is not None:
            next_turn(self, self._then)
