"""How the window is divided: parts shown and hidden, one of them maximised, and the presentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QShortcut
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from ndbplan.desktop.look import theme

if TYPE_CHECKING:
    from ndbplan.desktop.actions import Actions
    from ndbplan.desktop.canvas.view import CanvasView
    from ndbplan.desktop.widgets.message_bar import MessageBar

_FIRST_SIZE = QSize(1680, 1050)
_TEXT_OF_A_PRESENTATION = 1.25
"""How much larger texts are there, and the canvas may be drawn than at its actual size."""


def first_size(window: QWidget) -> QSize:
    """The size of a window that was never opened: it fits the screen."""
    screen = window.screen() or QGuiApplication.primaryScreen()
    return _FIRST_SIZE.boundedTo(screen.availableGeometry().size())


def fit_the_screen(window: QWidget) -> None:
    """Make a window smaller by what its frame, known once it is shown, takes beyond the screen."""
    screen = window.screen()
    if screen is None or window.isMaximized() or window.isFullScreen():
        return
    room, frame = screen.availableGeometry(), window.frameGeometry()
    more = (frame.size() - room.size()).expandedTo(QSize(0, 0))
    window.resize(window.size() - more)
    # One that fills the screen begins at its corner: Qt brings it back some pixels lower.
    x = room.left() if frame.width() >= room.width() else frame.left()
    y = room.top() if frame.height() >= room.height() else frame.top()
    if (x, y) != (frame.left(), frame.top()):
        window.move(x, y)


class Parts(NamedTuple):
    """What a window is divided into, and what is said and done in it."""

    side: QWidget
    canvas: CanvasView
    middle: QWidget
    """Holds canvas and analyses."""
    analyses: QWidget
    inspector: QWidget
    top_bar: QWidget
    status: QWidget
    messages: MessageBar
    actions: Actions


class _Before(NamedTuple):
    """How a window was when its presentation began."""

    shown: dict[str, bool]
    """Which parts were on show."""
    alone: QWidget | None
    """The part that had the whole window."""
    is_maximised: bool
    view: tuple[float, QPointF] | None
    """Zoom of the canvas, and what was in its corner, where another size keeps it; None: it was fitted."""


def _view(canvas: CanvasView) -> tuple[float, QPointF] | None:
    return None if canvas.is_fitted else (canvas.zoom, canvas.mapToScene(0, 0))


class Arrangement(QObject):
    """Shows and hides the parts of one window."""

    def __init__(self, window: QMainWindow, parts: Callable[[], Parts]) -> None:
        """`parts`: asked when something is to be done, not before."""
        super().__init__(window)
        self._window, self._all = window, parts
        self._maximised: QWidget | None = None
        self._shown: dict[str, bool] = {}
        """Which parts were on show before one was maximised."""
        self._before = _Before({}, None, False, None)
        self._leave = QShortcut(Qt.Key.Key_Escape, window)
        self._leave.setEnabled(False)
        self._leave.activated.connect(lambda: parts().actions["present"].trigger())

    def close(self) -> None:
        """The window goes: charts of other windows need not show the large texts of its presentation."""
        theme.theme().scale_text(self._window, 1.0)

    def watch(self, *heads: QWidget) -> None:
        """A double click on one of these maximises the part it belongs to."""
        for head in heads:
            head.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonDblClick and isinstance(watched, QWidget):
            self.maximise(self.part_of(watched))
            return True
        return False

    @property
    def _parts(self) -> dict[str, QWidget]:
        parts = self._all()
        return {
            "side": parts.side,
            "canvas": parts.canvas,
            "analyses": parts.analyses,
            "inspector": parts.inspector,
        }

    def part_of(self, widget: QWidget | None) -> QWidget:
        """The part that a widget is in; the canvas for one that is in none, or in none that is shown."""
        for part in self._parts.values():
            if widget is not None and part.isVisible() and (widget is part or part.isAncestorOf(widget)):
                return part
        return self._all().canvas

    @property
    def maximised(self) -> QWidget | None:
        """The part that has the whole window; None: all share it."""
        return self._maximised

    def toggle_maximised(self) -> None:
        """Give the part with the focus the whole window, or all parts their places again."""
        self.maximise(self._maximised or self.part_of(QApplication.focusWidget()))

    def maximise(self, part: QWidget) -> None:
        """Give a part the whole window; one that has it already gives it back."""
        if self._maximised is not None:
            self._restore()
            return
        self._shown = self._on_show()
        self._maximised = part
        for one in self._parts.values():
            one.setVisible(one is part)
        self._all().middle.setVisible(part in (self._all().canvas, self._all().analyses))
        self._all().actions["maximise"].setChecked(True)
        part.setFocus()

    def toggle(self, name: str) -> None:
        """Show a part or hide it, as its action is ticked."""
        on = self._all().actions[name].isChecked()
        if self._maximised is not None:
            self._restore()
            self._all().actions[name].setChecked(on)
        self._parts[name].setVisible(on)

    def _on_show(self) -> dict[str, bool]:
        return {name: not part.isHidden() for name, part in self._parts.items()}

    def _restore(self) -> None:
        self._maximised = None
        self._all().middle.show()
        for name, part in self._parts.items():
            part.setVisible(self._shown.get(name, True))
            if name != "canvas":
                self._all().actions[name].setChecked(self._shown.get(name, True))
        self._all().actions["maximise"].setChecked(False)

    def present(self) -> None:
        """Canvas and analyses, or what is maximised, on the whole screen; or everything as it was before."""
        window, parts = self._window, self._all()
        on = parts.actions["present"].isChecked()
        alone = self._maximised
        if alone is not None:
            self._restore()
        if on:
            self._before = _Before(self._on_show(), alone, window.isMaximized(), _view(parts.canvas))
        else:
            alone = self._before.alone
        for name in ("side", "inspector"):
            shown = not on and self._before.shown.get(name, True)
            parts.actions[name].setChecked(shown)
            self._parts[name].setVisible(shown)
        if alone is not None:
            self.maximise(alone)
        parts.top_bar.setVisible(not on)
        parts.status.setVisible(not on)
        # The first Esc leaves, whatever else it would mean to what has the focus.
        self._leave.setEnabled(on)
        parts.canvas.fit_at_most(_TEXT_OF_A_PRESENTATION if on else 1.0)
        theme.theme().scale_text(window, _TEXT_OF_A_PRESENTATION if on else 1.0)
        if on:
            parts.messages.say("info", "F5 or Esc ends the presentation.")
            window.showFullScreen()
        elif self._before.is_maximised:
            window.showMaximized()
        else:
            window.showNormal()
        QTimer.singleShot(0, self, self._show_view)

    def _show_view(self) -> None:
        parts, view = self._all(), self._before.view
        parts.canvas.fit()
        if view is not None and not parts.actions["present"].isChecked():
            parts.canvas.set_zoom(view[0])
            middle = parts.canvas.mapToScene(parts.canvas.viewport().rect().center())
            parts.canvas.look_at(view[1] + middle - parts.canvas.mapToScene(0, 0))
