"""Somebody who does anything in the real window: clicks, drags, types, pastes, undoes, saves, opens, deletes.

    python tests/attack/monkey.py --actions 100000 --seconds 3600 --seed 7

After each action no fault has been reported, the plan is one that its own reader accepts, and from time to
time the whole history is walked back and forth: the same plans come by. What else happens is a finding, told
with the seed and the actions that led to it.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QMessageLogContext, QPoint, Qt, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtGui import QDrag, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QWidget
from shiboken6 import isValid

from ndbplan.base.errors import UserError
from ndbplan.desktop.actions import SPECS
from ndbplan.desktop.document import estimates
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.document.tasks import wait_for_leaving
from ndbplan.desktop.live.acts import acts_of
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.widgets.ask_folder import FolderDialog
from ndbplan.edits import clipboard
from ndbplan.edits.palette import offers
from ndbplan.plan import file
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

TEXTS = (
    "SSD (fast)", "nvme/0", "a&b", "nvme0²", "диск", "é" * 64, "h" * 64, "`;--'\"", "::", "fd00::1",
    "10.0.0.1", "9" * 400, "1e400", "0", "64 GB", "10k", "٣", "\u202e", "😀", "{{ x }}", "", " ", "a" * 300,
)  # fmt: skip
KEYS = (
    Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Delete,
    Qt.Key.Key_Backspace, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Space,
    Qt.Key.Key_F2, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageDown, Qt.Key.Key_Menu,
)  # fmt: skip
MODIFIERS = (
    Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier,
)  # fmt: skip
LINES = ("SHOW", "ALL STATUS", "wait 5s", "rewind 3s", "SELECT * FROM ndbinfo.nodes;", "df -h", "heal")
NEVER = {"quit", "simulate"}
"""Actions that end the window, or take seconds."""
SAMPLES = ("starter", "disk-data", "add-nodes", "node-restart")
MOST_OBJECTS = 120
WALK_EACH = 400
SETTLE_MS = 500
"""An estimate after each of these quick actions would take most of the time: it comes when a plan rests."""


class _Faults(logging.Handler):
    """Faults of work in the background, and complaints of Qt, which only a log hears of."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what is told."""
        error = record.exc_info[1] if record.exc_info else None
        self.heard.append(f"{record.getMessage()[:120]}: {type(error).__name__} {str(error)[:120]}")

    def hear_qt(self, kind: QtMsgType, _context: QMessageLogContext, text: str) -> None:
        """Keep what Qt complains of, with what of the program was at work; not what a plugin cannot do."""
        if kind != QtMsgType.QtDebugMsg and "plugin does not support" not in text:
            self.heard.append(f"Qt at {_places(traceback.extract_stack())}: {text[:120]}")


def _places(stack: traceback.StackSummary) -> str:
    frames = [frame for frame in stack if "/app/ndbplan/" in frame.filename]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[:-5:-1])


class Finding(NamedTuple):
    """What should not happen, and the last actions before it."""

    what: str
    number: int
    actions: tuple[str, ...]


class Monkey:
    """One window and somebody at it."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.folder = Path(tempfile.mkdtemp(prefix="ndbplan-monkey-"))
        self.faults: list[str] = []
        self.done: deque[str] = deque(maxlen=12)
        self.walks = 0
        self._read: Plan | None = None
        self.window = MainWindow(Preferences(self.folder / "preferences.json"), self.folder / "journals")
        # Nobody is there to answer a dialog: the answers are drawn.
        asking: Any = self.window.files
        asking.ask_unsaved = lambda: self.random.choice(("discard", "save", "cancel"))
        asking.ask_open = asking.ask_save = self._some_file
        live: Any = self.window.live
        live.ask_unsaved = lambda: self.random.choice(("discard", "cancel"))
        self._start()
        self.window.resize(1100, 700)
        self.window.show()
        self.window.finish_building()
        # A menu of a button has a loop of its own, in which nobody would act.
        self._patience = QTimer(self.window)
        self._patience.setInterval(100)
        self._patience.timeout.connect(self._close_popup)
        self._patience.start()

    def _close_popup(self) -> None:
        popup = QApplication.activePopupWidget()
        if popup is not None:
            popup.close()

    def _some_file(self) -> Path:
        return self.folder / f"{self.random.randrange(3)}.ndbplan"

    def _start(self) -> None:
        self.window.document.new(sample_plan(self.random.choice(SAMPLES)))

    def close(self) -> None:
        """The end of it."""
        asking: Any = self.window.files
        live: Any = self.window.live
        asking.ask_unsaved = live.ask_unsaved = lambda: "discard"
        self._close_others()
        if self.window.isVisible():
            self.window.close()
        self.window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        if not wait_for_leaving(20_000):
            self.faults.append("a thread that was told to stop goes on")

    # What somebody does

    def act(self) -> None:
        """One action drawn by chance."""
        choices: list[tuple[int, Callable[[], str]]] = [
            (10, self._trigger), (8, self._click), (8, self._drag), (8, self._type), (6, self._press),
            (4, self._select), (4, self._add), (3, self._rename), (3, self._undo), (2, self._paste),
            (1, self._file), (4, self._dialog), (3, self._live),
        ]  # fmt: skip
        action = self.random.choices([one for _, one in choices], [weight for weight, _ in choices])[0]
        self.done.append(action.__name__)
        with suppress(UserError):
            self.done[-1] = action()
        QApplication.processEvents()
        # What an event loop would delete between two actions.
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def _trigger(self) -> str:
        table = self.window.actions_table
        name = self.random.choice([spec.name for spec in SPECS if spec.name not in NEVER])
        table[name].trigger()
        return f"trigger {name}"

    def _point(self, widget: QWidget) -> QPoint:
        return QPoint(
            self.random.randrange(max(1, widget.width())), self.random.randrange(max(1, widget.height()))
        )

    def _somewhere(self) -> tuple[QWidget, QPoint]:
        """A widget, more often the canvas, and a place in it."""
        if self.random.random() < 0.4:
            widget: QWidget = self.window.canvas.viewport()
            return widget, self._point(widget)
        at = self._point(self.window)
        found = self.window.childAt(at) or self.window
        return found, found.mapFrom(self.window, at)

    def _click(self) -> str:
        widget, at = self._somewhere()
        what = self.random.choice((QTest.mouseClick, QTest.mouseClick, QTest.mouseDClick))
        button = self.random.choice((Qt.MouseButton.LeftButton,) * 4 + (Qt.MouseButton.RightButton,))
        what(widget, button, self.random.choice(MODIFIERS), at)
        return f"click {type(widget).__name__} {widget.accessibleName()} {at.x()},{at.y()}"

    def _drag(self) -> str:
        widget, at = self._somewhere()
        modifiers = self.random.choice(MODIFIERS)
        QTest.mousePress(widget, Qt.MouseButton.LeftButton, modifiers, at)
        for _ in range(self.random.randrange(1, 5)):
            at = self._point(widget)
            QTest.mouseMove(widget, at)
            QApplication.processEvents()
            if self.random.random() < 0.1:
                self.random.choice((self._press, self._undo, self._trigger))()
            if not isValid(widget):
                # What was held went with what it showed; the button comes up over the window.
                widget = self.window
        QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, modifiers, at)
        return f"drag {type(widget).__name__}"

    def _focus(self) -> QWidget:
        return QApplication.focusWidget() or self.window.canvas

    def _type(self) -> str:
        widget = self._focus()
        if self.random.random() < 0.6:
            fields = [f for f in self.window.findChildren(QLineEdit) if f.isVisible() and f.isEnabled()]
            if fields:
                widget = self.random.choice(fields)
                widget.setFocus()
        text = self.random.choice(TEXTS)
        if isinstance(widget, QLineEdit):
            widget.selectAll()
            widget.insert(text)
        else:
            QTest.keyClicks(widget, "".join(c for c in text[:20] if " " <= c <= "~"))
        name = widget.accessibleName()
        if self.random.random() < 0.7:
            QTest.keyClick(widget, Qt.Key.Key_Return)
        return f"type {text[:12]!r} into {type(widget).__name__} {name}"

    def _press(self) -> str:
        key = self.random.choice(KEYS)
        QTest.keyClick(self._focus(), key, self.random.choice(MODIFIERS[:5]))
        return f"press {key.name}"

    def _some_ids(self) -> list[str]:
        ids = list(self.window.document.plan.by_id)
        return [self.random.choice(ids) for _ in range(self.random.choice((1, 1, 1, 3)))] if ids else []

    def _select(self) -> str:
        self.window.selection.set(self._some_ids())
        return "select"

    def _add(self) -> str:
        offer = self.random.choice(offers())
        self.window.editor.add_beside_selection(offer.key)
        return f"add {offer.key}"

    def _rename(self) -> str:
        text = self.random.choice(TEXTS)
        for object_id in self._some_ids()[:1]:
            self.window.editor.rename(object_id, text)
        return f"rename to {text[:12]!r}"

    def _undo(self) -> str:
        count = self.random.choice((1, 1, 2, 5, 30))
        name = self.random.choice(("undo", "redo"))
        for _ in range(count):
            self.window.actions_table[name].trigger()
        return f"{name} {count} times"

    def _paste(self) -> str:
        plan = sample_plan(self.random.choice(SAMPLES))
        ids = self.random.sample(list(plan.by_id), 2)
        text = self.random.choice((clipboard.copy(plan, ids), clipboard.copy(plan, ids), *TEXTS[:3]))
        QGuiApplication.clipboard().setText(text)
        self.window.actions_table["paste"].trigger()
        return "paste"

    def _file(self) -> str:
        files = self.window.files
        what = self.random.choice((files.save, files.save_as, files.open, files.new))
        what()
        return what.__name__

    def _live(self) -> str:
        """Something to a live cluster, which is begun where there is none."""
        live, random = self.window.live, self.random
        page = live.page
        if page is None or not live.is_shown:
            if random.random() < 0.5:
                self.window.actions_table["live"].trigger()
            return "go to the live cluster"
        if page.sight is None:
            return "wait for the live cluster"
        chosen = self._some_ids()[: random.choice((0, 1, 1))]
        known = [i for i in chosen if i in page.sight.plan.by_id]
        lines = [(act.prompt, act.line) for act in acts_of(page.sight.plan, known, page.sight)]
        lines += [(random.choice(list(page.consoles)), random.choice((*TEXTS, *LINES)))]
        prompt, line = random.choice(lines)
        page.say(prompt, line)
        random.choice((page.session.branch, page.focus_next, lambda: page.go_to(random.uniform(0, 90))))()
        return f"live {prompt} {line[:30]}"

    def _dialog(self) -> str:
        """Something in whatever lies over the window, which is closed then."""
        for widget in _others(self.window):
            if not isValid(widget):
                # A popup closes when another is clicked.
                continue
            inside = widget.childAt(self._point(widget)) or widget
            self.random.choice((QTest.mouseClick, QTest.mouseDClick))(inside, Qt.MouseButton.LeftButton)
            QApplication.processEvents()
        self._close_others()
        return "dialog"

    def _close_others(self) -> None:
        for widget in filter(isValid, _others(self.window)):
            widget.close()

    # What must hold

    def look(self) -> None:
        """Take down what does not hold now."""
        plan = self.window.document.plan
        if plan is not self._read:
            self._read = plan
            try:
                if file.loads(file.dumps(plan)) != plan:
                    self.faults.append("the plan is another when it is read back")
            except UserError as error:
                self.faults.append(f"the plan is refused: {error.line[:200]}")
        if len(plan.by_id) > MOST_OBJECTS or not plan.hosts:
            self._start()

    def walk(self) -> None:
        """The whole history back and forth, and to where it was.

        Of each place the whole file is compared: which variant is shown there is no part of the history.
        """
        document = self.window.document
        stack = document.undo_stack
        self.walks += 1
        place = stack.index()
        while stack.canRedo():
            stack.redo()
        down, up = [], []
        while stack.canUndo():
            down.append(file.dumps(document.project))
            stack.undo()
        while stack.canRedo():
            stack.redo()
            up.append(file.dumps(document.project))
        if down != up[::-1]:
            self.faults.append("another file comes by on the way back through the history")
        stack.setIndex(place)


def _others(window: QWidget) -> list[QWidget]:
    """What is open beside the window and has not been closed meanwhile."""
    return [
        widget
        for widget in QApplication.topLevelWidgets()
        if widget is not window and widget.isVisible() and widget.parent() is not None
    ]


def attack(actions: int, seed: int, seconds: float = 1e9) -> Iterator[Finding]:
    """Findings of so many actions; the windows follow one another."""
    application = QApplication.instance() or QApplication(["monkey", "-style", "fusion"])
    hook, exec_, stopped = sys.excepthook, QDrag.exec, time.monotonic() + seconds
    asked: dict[str, Any] = {
        name: getattr(QFileDialog, name)
        for name in ("getOpenFileName", "getOpenFileNames", "getSaveFileName")
    }
    log, settle_ms = _Faults(), estimates.SETTLE_MS
    logging.getLogger().addHandler(log)
    told = qInstallMessageHandler(log.hear_qt)
    estimates.SETTLE_MS = SETTLE_MS
    monkey = Monkey(seed)

    def fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, UserError):
            place = _places(traceback.extract_tb(trace))
            monkey.faults.append(f"{kind.__name__} at {place}: {str(error)[:120]}")

    sys.excepthook = fault
    # A drag has an event loop of its own, which offscreen nobody would end.
    drag: Any = QDrag
    drag.exec = lambda *_: Qt.DropAction.IgnoreAction
    for name in asked:
        empty: Any = ([] if name.endswith("s") else "", "")
        setattr(QFileDialog, name, staticmethod(lambda *_args, empty=empty, **_words: empty))
    folders: Any = FolderDialog
    folders.exec = lambda *_: 0
    try:
        for number in range(actions):
            if time.monotonic() > stopped:
                break
            _COUNTED[0] = number + 1
            try:
                monkey.act()
                monkey.look()
                if number % WALK_EACH == WALK_EACH - 1:
                    monkey.walk()
            except Exception as error:  # noqa: BLE001 — whatever comes is what is looked for
                fault(type(error), error, error.__traceback__)
            monkey.faults += log.heard
            log.heard.clear()
            is_closed = not monkey.window.isVisible()
            if monkey.faults:
                yield Finding(monkey.faults[0], number, tuple(monkey.done))
                monkey.faults.clear()
            elif not is_closed:
                continue
            # Quit was found in a menu, or there was a fault: the next window.
            _COUNTED[1] += monkey.walks
            if is_closed:
                _COUNTED[2] += 1
            monkey.close()
            monkey = Monkey(seed * 1_000_003 + number)
        _COUNTED[1] += monkey.walks
    finally:
        monkey.close()
        estimates.SETTLE_MS = settle_ms
        logging.getLogger().removeHandler(log)
        qInstallMessageHandler(told)
        sys.excepthook = hook
        drag.exec = exec_
        del folders.exec
        for name, function in asked.items():
            setattr(QFileDialog, name, function)
        del application


_COUNTED = [0, 0, 0]


def main() -> int:
    """Try, and print each kind of finding once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--actions", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    kinds: dict[str, int] = {}
    for found in attack(options.actions, options.seed, options.seconds):
        if found.what not in kinds:
            print(f"{found.what}\n  action {found.number}, after: {'; '.join(found.actions)}", flush=True)
        kinds[found.what] = kinds.get(found.what, 0) + 1
    print(
        f"{sum(kinds.values())} findings of {len(kinds)} kinds in {_COUNTED[0]} actions, seed {options.seed};"
        f" {_COUNTED[1]} walks through the history, {_COUNTED[2]} windows closed on the way"
    )
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
