"""A demo in the window: scenes stepped by arrow keys, each a view of the plan with its text beside it.

    player.play(demo, place=0)       # the document holds the demo's plan; its words are filled in
    player.step(1)

Nothing of the plan is changed, and what the window showed before comes back when it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from ndbplan.base.errors import UserError
from ndbplan.demo.model import Demo
from ndbplan.demo.stage import Shown, Stage
from ndbplan.demo.texts import plain
from ndbplan.desktop.analyses.simulation.run import Run
from ndbplan.desktop.document.kernel import prepare_kernel
from ndbplan.desktop.document.tasks import Outcome, Task, Tasks
from ndbplan.desktop.widgets.scene_card import ConsoleSheet, SceneCard

if TYPE_CHECKING:
    from ndbplan.desktop.actions import Actions
    from ndbplan.desktop.canvas.view import CanvasView
    from ndbplan.desktop.demo_views import Kept, Views
    from ndbplan.desktop.document.document import Document
    from ndbplan.desktop.panels import SidePanels
    from ndbplan.desktop.widgets.message_bar import MessageBar
    from ndbplan.desktop.workspace import Workspace

_KEYS = {
    1: (Qt.Key.Key_Right, Qt.Key.Key_PageDown),
    -1: (Qt.Key.Key_Left, Qt.Key.Key_PageUp),
}
_CANVAS_SHARE = 0.48
"""Of the height of canvas and analyses."""


class Player(QObject):
    """Plays the scenes of one demo in one window."""

    ended = Signal()

    def __init__(
        self,
        window: QWidget,
        document: Document,
        canvas: CanvasView,
        panels: SidePanels,
        workspace: Workspace,
        actions: Actions,
        messages: MessageBar,
        views: Views,
    ) -> None:
        super().__init__(window)
        self._document, self._canvas, self._panels = document, canvas, panels
        self._workspace, self._actions = workspace, actions
        self._messages, self._views = messages, views
        self.card = SceneCard(canvas)
        self.sheet = ConsoleSheet(panels.analyses_frame)
        self._tasks = Tasks(self)
        self._stage: Stage | None = None
        self._kept: Kept | None = None
        self._ready: dict[int, Shown | str] = {}
        """By the place of a scene: what it says, or what is wrong with it."""
        self._runs: dict[int, Run] = {}
        """By the place of a scene: the run that it shows."""
        self._is_working = self._chart_is_due = False
        self._wanted: list[int] = []
        self.place = 0
        self.card.moved.connect(self.step)
        self.card.closed.connect(self.end)
        self.card.width_changed.connect(lambda width: canvas.keep_right(width))
        self._keys = [_key(window, key, partial(self.step, by)) for by, keys in _KEYS.items() for key in keys]
        self._keys += [
            _key(window, Qt.Key.Key_Home, lambda: self._go(0)),
            _key(window, Qt.Key.Key_End, lambda: self._go(len(self._scenes) - 1)),
        ]
        actions["present"].toggled.connect(self._presented)
        document.replaced.connect(self.end)

    @property
    def is_playing(self) -> bool:
        """Whether a demo is shown."""
        return self._stage is not None

    @property
    def is_ready(self) -> bool:
        """Whether the text of the scene on show is there."""
        return self.place in self._ready

    @property
    def _scenes(self) -> tuple[object, ...]:
        return () if self._stage is None else self._stage.demo.scenes

    def play(self, demo: Demo, place: int = 0) -> None:
        """Show a scene of a demo whose plan the document holds, and those around it from then on."""
        if not demo.scenes:
            return
        self.end()
        self._kept = self._views.keep()
        self._stage = Stage(demo, self._document.project)
        self._ready, self._runs = {}, {}
        self._is_working = False
        if not self._actions["present"].isChecked():
            self._actions["present"].trigger()
        self._messages.hide()
        for key in self._keys:
            key.setEnabled(True)
        height = sum(self._workspace.middle.sizes())
        self._workspace.middle.setSizes([round(_CANVAS_SHARE * height), round((1 - _CANVAS_SHARE) * height)])
        self._wanted = [*range(place, len(demo.scenes)), *range(place)]
        self._views.simulation.shown.connect(self._chart_shown, Qt.ConnectionType.UniqueConnection)
        self._go(place)

    def step(self, by: int) -> None:
        """To another scene; behind the last one the demo ends."""
        if self._stage is None:
            return
        if self.place + by >= len(self._scenes):
            self.end()
        else:
            self._go(self.place + by)

    def end(self) -> None:
        """Show what was shown before."""
        stage, kept = self._stage, self._kept
        self._stage = self._kept = None
        if stage is None or kept is None:
            return
        self._tasks.close()
        self._tasks = Tasks(self)
        for key in self._keys:
            key.setEnabled(False)
        self.card.hide()
        self.sheet.hide()
        self._canvas.keep_right(0)
        if self._actions["present"].isChecked():
            self._actions["present"].trigger()
        if stage.project is self._document.project:
            self._views.give_back(kept)
        self.ended.emit()

    def _presented(self, on: bool) -> None:
        if not on and self.is_playing:
            # The presentation ends first: what it restores is part of what the demo gives back.
            QTimer.singleShot(0, self, self.end)

    def _go(self, place: int) -> None:
        stage = self._stage
        if stage is None:
            return
        self.place = max(0, min(len(stage.demo.scenes) - 1, place))
        scene = stage.demo.scenes[self.place]
        self.card.show_scene(self.place, len(stage.demo.scenes), scene.title)
        workload = ""
        try:
            workload = stage.workload_of(scene) if scene.replays else ""
            run = self._runs.get(self.place)
            # Nothing else is worked out before the chart is there.
            self._chart_is_due = bool(workload) and run is None
            self._views.show(scene, workload, run)
        except UserError as error:
            self._ready[self.place] = error.line
        self._canvas.setFocus()
        self._say()
        self._work()

    def _say(self) -> None:
        stage, said = self._stage, self._ready.get(self.place)
        if stage is None:
            return
        scene = stage.demo.scenes[self.place]
        if isinstance(said, Shown):
            self.card.say([plain(line) for line in said.lines])
        else:
            self.card.say([said or "Working it out…"], is_error=said is not None)
        if scene.consoles:
            self.sheet.show_answers(said.consoles if isinstance(said, Shown) else ())
        else:
            self.sheet.hide()

    def _chart_shown(self) -> None:
        self._chart_is_due = False
        self._work()

    def _work(self) -> None:
        """Work out texts and runs, one scene after the other: the one on show first."""
        stage = self._stage
        if stage is None or not self._wanted or self._is_working or self._chart_is_due:
            return
        self._is_working = True
        place = self.place if self.place in self._wanted else self._wanted[0]
        self._wanted.remove(place)
        self._tasks.start(partial(_shown, stage, place), partial(self._worked_out, stage, place))

    def _worked_out(self, stage: Stage, place: int, outcome: Outcome) -> None:
        if outcome.cancelled or stage is not self._stage:
            return
        self._is_working = False
        if outcome.error:
            self._ready[place] = outcome.error
        else:
            self._ready[place], run = outcome.value
            if run is not None:
                self._runs[place] = run
        if place == self.place:
            self._say()
        self._work()


def _shown(stage: Stage, place: int, task: Task) -> tuple[Shown, Run | None]:
    """What a scene says, and the run that it shows."""
    prepare_kernel(task)
    scene, said = stage.demo.scenes[place], stage.shown(place)
    if not scene.replays:
        return said, None
    result = stage.answers(scene).asked.run
    return said, Run(stage.plan_of(scene), stage.workload_of(scene), result, 0.0)


def _key(window: QWidget, key: Qt.Key, run: Callable[[], object]) -> QShortcut:
    shortcut = QShortcut(QKeySequence(key), window)
    shortcut.setEnabled(False)
    shortcut.activated.connect(run)
    return shortcut
