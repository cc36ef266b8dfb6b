"""Demos in a window: those that come along, and the scenes that lie beside the plan's file.

demos = Demos(window, window, play_elsewhere)
demos.open()              # the list of demos and scenes: play, write, order, export
demos.add_scene()         # one more scene, from what the window shows
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.demo import edits
from ndbplan.demo.files import DEMOS, beside, project_of, save
from ndbplan.demo.model import Begin, Demo
from ndbplan.desktop.demo_player import Player
from ndbplan.desktop.demo_views import Views

if TYPE_CHECKING:
    from ndbplan.desktop.actions import Actions
    from ndbplan.desktop.canvas.view import CanvasView
    from ndbplan.desktop.document.document import Document
    from ndbplan.desktop.document.selection import Selection
    from ndbplan.desktop.panels import SidePanels
    from ndbplan.desktop.widgets.message_bar import MessageBar
    from ndbplan.desktop.workspace import Workspace
    from ndbplan.plan.project import Project


class Prepared(NamedTuple):
    """A demo on one of its plans, to be played in a window of its own."""

    demo: Demo
    """With the words of that plan."""
    project: Project


class Home(Protocol):
    """What a window has."""

    document: Document
    selection: Selection
    canvas: CanvasView
    panels: SidePanels
    workspace: Workspace
    actions_table: Actions
    messages: MessageBar


class Demos(QObject):
    """Of one window."""

    def __init__(
        self, window: QWidget, home: Home, elsewhere: Callable[[Prepared], object],
        show_plan: Callable[[], object],
    ) -> None:  # fmt: skip
        """`elsewhere`: plays a demo that comes along in another window, as this one holds a plan.

        `show_plan`: brings that plan in front.
        """
        super().__init__(window)
        self._window, self._home, self._elsewhere = window, home, elsewhere
        self._show_plan = show_plan
        self.views = Views(home.document, home.selection, home.canvas, home.panels, home.workspace)

    @cached_property
    def player(self) -> Player:
        """What plays them."""
        home = self._home
        return Player(
            self._window, home.document, home.canvas, home.panels, home.workspace, home.actions_table,
            home.messages, self.views,
        )  # fmt: skip

    def open(self, place: int = 0) -> None:
        """The list of demos, at a scene of this plan."""
        from ndbplan.desktop.dialogs.demos_dialog import DemosDialog

        DemosDialog(self, self._window, place).open()

    @property
    def file(self) -> Path | None:
        """Where the scenes of this plan lie; None: the plan has no file yet."""
        path = self._home.document.path
        return None if path is None else beside(path)

    def own(self) -> Demo | None:
        """The scenes of this plan; None: its file is not saved yet. Raises AuthoredError, FileError."""
        path, file = self._home.document.path, self.file
        if path is None or file is None:
            return None
        if file.exists():
            return DEMOS.read(file).value
        title = self._home.document.project.main.name or path.stem
        start = Begin(name="plan", file=path.name)
        return Demo(format=1, name="plan", title=title[:100], starts=(start,))

    def keep(self, demo: Demo) -> None:
        """Write the scenes of this plan. Raises FileError."""
        if self.file is not None:
            save(demo, self.file)

    def add_scene(self) -> int | None:
        """Write what the window shows as one more scene; its place, None where that cannot be."""
        messages = self._home.messages
        try:
            demo = self.own()
            if demo is None:
                messages.say("warning", "Save the plan first: its scenes lie in a file beside it.")
                return None
            place = len(demo.scenes)
            scene = self.views.scene(f"Scene {place + 1}")
            self.keep(edits.added(demo, scene, place))
        except UserError as error:
            messages.say("error", error.line)
            return None
        messages.say("done", f"Scene {place + 1} is this view.", "Write its text", lambda: self.open(place))
        return place

    def play_own(self, demo: Demo, place: int = 0) -> None:
        """Play scenes of this plan, here; a live cluster may lie over it."""
        self._show_plan()
        self.player.play(demo.worded(demo.starts[0]), place)

    def play(self, demo: Demo, start: Begin) -> None:
        """Play a demo that comes along, in a window of its own. Raises UserError."""
        with keeping():
            self._elsewhere(Prepared(demo.worded(start), project_of(demo, start)))


def play_alone(demos: Demos, demo: Demo, close: Callable[[], object]) -> None:
    """Play a demo in a window that was made for it and holds its plan, and close that when it ends."""
    demos.player.play(demo)
    demos.player.ended.connect(close)
