"""The program as people start it, and an eye in it: says where things are on the screen, and when it is done.

Reads a question in each line of its input, `look EXPRESSION`, `until EXPRESSION` or `still EXPRESSION` (true,
and no longer changing), and prints the answer as JSON. It looks and never acts: what is done to the window is
done by mouse and keyboard.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QPoint, QPointF, QSocketNotifier, QTimer
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDockWidget,
    QLabel,
    QMenu,
    QScrollArea,
    QTabBar,
    QToolTip,
    QWidget,
)

from ndbplan.base.kept import keeping
from ndbplan.desktop import start
from ndbplan.desktop.analyses.tighten import Tighten
from ndbplan.desktop.document.tasks import Tasks
from ndbplan.desktop.windows import Windows

_LOOK_MS = 20
_LINES_PX = 60
_STILL_LOOKS = 6
"""Looks in turn that find a thing in the same place: what is still laid out or rebuilt moves meanwhile."""


class Eye(QObject):
    """Answers questions about what is on the screen."""

    def __init__(self, windows: Windows) -> None:
        super().__init__()
        self.windows = windows
        self._awaited: Any = None
        self._seen: Any = None
        self._looks, self._wanted = 0, 1
        self._ear = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, self)
        self._ear.activated.connect(lambda *_: self._hear())
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._look_again)

    def _hear(self) -> None:
        line = sys.stdin.readline()
        if not line:
            self._ear.setEnabled(False)
            return
        what, _, expression = line.strip().partition(" ")
        if what == "look":
            self._answer(self._see(expression))
        else:
            self._awaited = expression
            self._looks, self._wanted = 0, _STILL_LOOKS if what == "still" else 1
            self._timer.start()

    def _look_again(self) -> None:
        seen = self._see(self._awaited)
        is_there = seen and not (isinstance(seen, dict) and "fault" in seen)
        self._looks = 0 if not is_there else self._looks + 1 if seen == self._seen else 1
        self._seen = seen
        if self._looks >= self._wanted:
            self._timer.stop()
            self._answer(seen)

    def _see(self, expression: str) -> Any:
        window = self.windows.active
        names = {
            "window": window, "windows": self.windows.open_windows, "plan": window.document.plan,
            "scene": window.canvas.canvas_scene, "place": place, "item": self.item, "ground": self.ground,
            "middle": middle, "under": self.under, "moment": self.moment, "charts": lambda: self.charts,
            "tab": self.tab, "entry": entry, "resting": self.resting, "cell": cell, "dialog": dialog,
            "as_painted": as_painted, "lightness": lightness,
            "modal": QApplication.activeModalWidget, "tip": QToolTip.text, "tighten": self.tighten,
            "shown": shown,
            "colours": self.colours, "link": self.link, "scene_point": self._on_screen,
            "focus": QApplication.focusWidget(), "clipboard": QGuiApplication.clipboard(),
        }  # fmt: skip
        try:
            return eval(expression, names)
        except Exception as error:  # noqa: BLE001 — what is not there yet is waited for
            return {"fault": f"{type(error).__name__}: {error}"}

    @staticmethod
    def _answer(value: Any) -> None:
        print(json.dumps(value, default=str), flush=True)

    def item(self, object_id: str) -> list[int]:
        """Where the card of an object is on the screen."""
        canvas = self.windows.active.canvas
        card = canvas.canvas_scene.item_of(object_id)
        assert card is not None, f"{object_id} is not drawn"
        rect = card.rect_in_scene()
        return self._on_screen(QPointF(rect.left() + 24, rect.top() + 12))

    def colours(self, object_id: str) -> Counter[str]:
        """How many pixels of each colour the screen shows where the card of an object is."""
        canvas = self.windows.active.canvas
        card = canvas.canvas_scene.item_of(object_id)
        assert card is not None, f"{object_id} is not drawn"
        box = canvas.mapFromScene(card.rect_in_scene()).boundingRect()
        corner = canvas.viewport().mapToGlobal(box.topLeft())
        shown = canvas.screen().grabWindow(0, corner.x(), corner.y(), box.width(), box.height()).toImage()
        places = product(range(shown.width()), range(shown.height()))
        return Counter(shown.pixelColor(x, y).name() for x, y in places)

    def ground(self, x: float, y: float) -> list[int]:
        """Where a share of width and height of the canvas is on the screen."""
        port = self.windows.active.canvas.viewport()
        return _point(port.mapToGlobal(QPoint(round(x * port.width()), round(y * port.height()))))

    def link(self, group: int) -> list[int]:
        """Where the name of a node group stands on the line that joins its nodes."""
        ribbons = self.windows.active.canvas.canvas_scene._ribbons
        return self._on_screen(ribbons[group].shape().boundingRect().center())

    def under(self, x: int, y: int) -> str:
        """Which card lies under a point of the screen."""
        canvas = self.windows.active.canvas
        found = canvas.canvas_scene.item_at(canvas.mapToScene(canvas.viewport().mapFromGlobal(QPoint(x, y))))
        return found.object_id if found is not None else ""

    def _on_screen(self, at: QPointF) -> list[int]:
        canvas = self.windows.active.canvas
        return _point(canvas.viewport().mapToGlobal(canvas.mapFromScene(at)))

    def moment(self, name: str, at_s: float) -> list[int]:
        """Where a moment in a chart of the simulation is, at half its height."""
        chart = getattr(self.charts, name)
        view = chart.plot.getViewBox()
        (_, _), (low, high) = view.viewRange()
        at = chart.plot.mapFromScene(view.mapViewToScene(QPointF(at_s, (low + high) / 2)))
        return _point(chart.plot.viewport().mapToGlobal(at))

    @property
    def charts(self) -> Any:
        """Those of the simulation."""
        return self.windows.active.panels.analyses.panel("Simulation").charts

    def tab(self, name: str) -> list[int]:
        """Where a tab of the analyses is."""
        tabs: QTabBar = self.windows.active.panels.analyses.tabs
        index = next(i for i in range(tabs.count()) if tabs.tabText(i).startswith(name))
        return _point(tabs.mapToGlobal(tabs.tabRect(index).center()))

    def tighten(self) -> Any:
        """The line that says what the memory rests on."""
        return next(iter(self.windows.active.panels.analyses.findChildren(Tighten)))

    def resting(self) -> bool:
        """Whether everything is built, estimated and simulated."""
        window = self.windows.active
        busy = any(tasks.is_busy for one in self.windows.open_windows for tasks in one.findChildren(Tasks))
        return not busy and not window.build_next() and window.panels.estimates.is_fresh


def _point(at: QPoint) -> list[int]:
    return [at.x(), at.y()]


def middle(widget: QWidget) -> list[int]:
    """Where a widget is."""
    return _point(widget.mapToGlobal(widget.rect().center()))


def _named(name: str, root: QWidget) -> Iterator[QWidget]:
    for widget in root.findChildren(QWidget):
        if widget.isVisible() and not isinstance(widget, QLabel | QDockWidget):
            texts = (
                widget.objectName(),
                widget.accessibleName(),
                getattr(widget, "text", str)() if _says(widget) else "",
            )
            if name in texts or any(text.rstrip("…").startswith(name) for text in texts if text):
                yield widget


def _says(widget: QWidget) -> bool:
    return callable(getattr(widget, "text", None)) and not isinstance(widget, QComboBox)


def place(name: str) -> list[int]:
    """Where the widget of a name or text is, in the dialog or window at the front."""
    root = QApplication.activePopupWidget() or QApplication.activeModalWidget() or QApplication.activeWindow()
    assert root is not None, "nothing is active"
    found = list(_named(name, root))
    exact = [
        one
        for one in found
        if name in (one.objectName(), one.accessibleName(), _says(one) and getattr(one, "text", str)())
    ]
    widget = (exact or found)[0]
    above = widget.parentWidget()
    while above is not None:
        # As the wheel does: what is out of sight is brought there.
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()
    return middle(widget)


def shown(widget: QWidget) -> str:
    """What the labels in a widget say."""
    return "\n".join(one.text() for one in widget.findChildren(QLabel) if one.isVisible())


def as_painted(widget: QWidget) -> bool:
    """Whether the screen shows a widget as it paints itself: nothing of before is left there."""
    corner, form = widget.mapToGlobal(QPoint(0, 0)), QImage.Format.Format_RGB32
    shown = widget.screen().grabWindow(0, corner.x(), corner.y(), widget.width(), widget.height())
    return shown.toImage().convertToFormat(form) == widget.grab().toImage().convertToFormat(form)


def lightness(widget: QWidget) -> list[int]:
    """Of the first lines of a widget, 0 to 255: its ground, and its ink, which is farthest from that."""
    corner = widget.mapToGlobal(QPoint(0, 0))
    shown = widget.screen().grabWindow(0, corner.x(), corner.y(), widget.width(), _LINES_PX).toImage()
    pixels = [shown.pixelColor(x, y).lightness() for y in range(shown.height()) for x in range(shown.width())]
    ground = Counter(pixels).most_common(1)[0][0]
    return [ground, max(pixels, key=lambda one: abs(one - ground))]


def dialog() -> str:
    """The title of the dialog at the front."""
    modal = QApplication.activeModalWidget()
    return modal.windowTitle() if modal is not None else ""


def cell(view_name: str, row: int, column: int) -> list[int]:
    """Where a cell of a table is."""
    root = QApplication.activeWindow()
    assert root is not None
    view: Any = next(one for one in _named(view_name, root) if hasattr(one, "visualRect"))
    view.scrollTo(view.model().index(row, column))
    return _point(view.viewport().mapToGlobal(view.visualRect(view.model().index(row, column)).center()))


def entry(text: str) -> list[int]:
    """Where an entry of the menu at the front is."""
    menus = [w for w in QApplication.topLevelWidgets() if isinstance(w, QMenu) and w.isVisible()]
    for menu in reversed(menus):
        for action in menu.actions():
            if action.text().replace("&", "").startswith(text):
                return _point(menu.mapToGlobal(menu.actionGeometry(action).center()))
    raise AssertionError(f"no menu has '{text}'")


def main() -> None:
    """Start the program, and answer until it ends."""
    app = start.make_application()
    with keeping():
        windows = Windows(app, start.open_window)
        plan = sys.argv[1] if len(sys.argv) > 1 else None
        is_file = plan is not None and Path(plan).is_file()
        windows.start(Path(plan) if plan and is_file else None, None if is_file else plan)
        eye = Eye(windows)
        app.exec()
        del eye
        windows.end()
        app.processEvents()


if __name__ == "__main__":
    main()
