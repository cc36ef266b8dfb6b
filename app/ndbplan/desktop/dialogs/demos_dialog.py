"""Demos…: those that come along, and the scenes of this plan: written, ordered, played and exported."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.authored import said
from ndbplan.base.errors import UserError
from ndbplan.base.files import write_atomically
from ndbplan.demo import edits
from ndbplan.demo.files import own, project_of
from ndbplan.demo.model import Begin, Demo
from ndbplan.demo.page import page
from ndbplan.demo.texts import in_lines
from ndbplan.desktop.dialogs.frame import Dialog, side_by_side
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets.charts import load_in_turns
from ndbplan.desktop.widgets.sections import label
from ndbplan.desktop.widgets.whole_rows import Rows

_PAUSE_MS = 500
_PAINTED_MS = 60
"""By then the dialog is on the screen."""


class OfWindow(Protocol):
    """What the dialog asks of its window."""

    @property
    def file(self) -> Path | None:
        """Where the scenes of its plan lie."""

    def own(self) -> Demo | None:
        """The scenes of its plan."""

    def keep(self, demo: Demo) -> None:
        """Write them."""

    def add_scene(self) -> int | None:
        """Add one from what it shows."""

    def play_own(self, demo: Demo, place: int = 0) -> None:
        """Play them."""

    def play(self, demo: Demo, start: Begin) -> None:
        """Play one that comes along."""


class DemosDialog(Dialog):
    """A list of demos, and the scenes of the one that is chosen."""

    def __init__(self, demos: OfWindow, parent: QWidget | None = None, place: int = 0) -> None:
        super().__init__("Demos", "Play", parent, leave="Close")
        self._demos = demos
        self._mine = self._own()
        self.resize(900, 560)
        self.which = QComboBox()
        self.which.setAccessibleName("Demo")
        self.which.addItem("Scenes of this plan", None)
        for found in own():
            for start in found.value.starts:
                self.which.addItem(f"{found.value.title} — {start.title}", (found.value, start))
        self.scenes = Rows()
        self.scenes.setAccessibleName("Scenes")
        self.add, self.up, self.down, self.delete = (
            _button(words, run) for words, run in (
                ("Add from this view", self._add), ("Up", lambda: self._move(-1)),
                ("Down", lambda: self._move(1)), ("Delete", self._delete),
            )
        )  # fmt: skip
        self.scene_title = QLineEdit()
        self.scene_title.setMaxLength(100)
        self.scene_title.setAccessibleName("Title of the scene")
        self.text = QPlainTextEdit()
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("Text of the scene")
        self.about = label("", "muted")
        self.export = _button("Export as HTML…", self._export)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_PAUSE_MS)
        self._soon.timeout.connect(self._write)
        self._build()
        self.which.currentIndexChanged.connect(lambda _row: self._show(0))
        self.scenes.currentRowChanged.connect(self._show_scene)
        self.scene_title.textEdited.connect(lambda _text: self._soon.start())
        self.text.textChanged.connect(self._typed)
        has_own = self._mine is not None and bool(self._mine.scenes)
        self.which.setCurrentIndex(0 if has_own else 1)
        self._show(place)
        QTimer.singleShot(_PAINTED_MS, self, self._warm_up)

    def _build(self) -> None:
        row = QHBoxLayout()
        for button in (self.add, self.up, self.down, self.delete):
            row.addWidget(button)
        left, right = QWidget(), QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.scenes, 1)
        column.addLayout(row)
        form = QFormLayout(right)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow("Title", self.scene_title)
        form.addRow("Text", self.text)
        form.addRow(self.about)
        self.body.addWidget(self.which)
        self.body.addWidget(side_by_side(left, right, (380, 500)), 1)
        self.add_foot(self.play, self.export)

    @property
    def chosen(self) -> tuple[Demo, Begin] | None:
        """The demo and the plan that it is played on; None: this plan has no scenes."""
        ready = self.which.currentData()
        if ready is not None:
            return ready[0], ready[1]
        return None if self._mine is None else (self._mine, self._mine.starts[0])

    def _own(self) -> Demo | None:
        try:
            return self._demos.own()
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return None

    def _show(self, place: int) -> None:
        self._write()
        chosen, is_mine = self.chosen, self.which.currentData() is None
        scenes = chosen[0].worded(chosen[1]).scenes if chosen is not None else ()
        self.scenes.blockSignals(True)
        self.scenes.clear()
        self.scenes.addItems([f"{number}  {scene.title}" for number, scene in enumerate(scenes, 1)])
        self.scenes.blockSignals(False)
        self.scenes.setCurrentRow(max(0, min(place, len(scenes) - 1)))
        for button in (self.add, self.up, self.down, self.delete):
            button.setVisible(is_mine)
        self.add.setEnabled(self._demos.file is not None)
        self.take.setEnabled(bool(scenes))
        self.export.setEnabled(bool(scenes))
        self._show_scene(self.scenes.currentRow())
        if chosen is None:
            self.about.setText("")
            if not self.state.text():
                self.state.say("Save the plan first: its scenes lie in a file beside it.")
        elif is_mine and self._demos.file is not None:
            self.about.setText(
                f"Kept in {self._demos.file.name}, beside the plan. {{simulate: accepted_per_s}} in a text "
                "is worked out from the plan when it is shown; the guide's page “Demos” lists what there is."
            )
        else:
            self.state.say("")
            self.about.setText(chosen[0].about)

    def _show_scene(self, row: int) -> None:
        self._write()
        chosen, is_mine = self.chosen, self.which.currentData() is None
        scenes = chosen[0].worded(chosen[1]).scenes if chosen is not None else ()
        there = 0 <= row < len(scenes)
        for field in (self.scene_title, self.text):
            field.blockSignals(True)
            field.setReadOnly(not is_mine)
            field.setEnabled(there)
        self.scene_title.setText(scenes[row].title if there else "")
        self.text.setPlainText(in_lines(scenes[row].text) if there else "")
        for field in (self.scene_title, self.text):
            field.blockSignals(False)
        self.up.setEnabled(there and row > 0)
        self.down.setEnabled(there and row + 1 < len(scenes))
        self.delete.setEnabled(there)
        self._edited_row = row if there and is_mine else -1

    _edited_row = -1
    """The scene that the fields are about; -1: none that can be written."""

    def _typed(self) -> None:
        if self._edited_row >= 0:
            self._soon.start()

    def _write(self) -> None:
        """Keep what was typed."""
        if not self._soon.isActive() and self.sender() is not self._soon:
            return
        self._soon.stop()
        demo, row = self._mine, self._edited_row
        if demo is None or not 0 <= row < len(demo.scenes):
            return
        title, text = self.scene_title.text().strip(), self.text.toPlainText()
        try:
            self._keep(edits.renamed(demo, row, title, text))
        except ValidationError as error:
            self.state.say(said(error.errors()[0]), is_error=True)
            return
        item = self.scenes.item(row)
        if item is not None:
            item.setText(f"{row + 1}  {title}")

    def _keep(self, demo: Demo) -> None:
        try:
            self._demos.keep(demo)
        except UserError as error:
            self.state.say(error.line, is_error=True)
            return
        self.state.say("")
        self._mine = demo

    def _add(self) -> None:
        self._write()
        place = self._demos.add_scene()
        if place is not None:
            self._mine = self._own()
            self._show(place)

    def _move(self, by: int) -> None:
        self._write()
        row = self.scenes.currentRow()
        if self._mine is not None:
            self._keep(edits.moved(self._mine, row, by))
            self._show(row + by)

    def _delete(self) -> None:
        self._soon.stop()
        row = self.scenes.currentRow()
        if self._mine is not None and row >= 0:
            self._keep(edits.without(self._mine, row))
            self._show(row)

    def _warm_up(self) -> None:
        """While somebody chooses, load what the first scene needs: its chart is waited for then."""
        self.tasks.start(_load_engine, lambda _outcome: None)
        load_in_turns(self)

    def play(self) -> None:
        """Play from the scene that is chosen."""
        self._write()
        chosen, row = self.chosen, self.scenes.currentRow()
        if chosen is None:
            return
        is_mine = self.which.currentData() is None
        self.accept()
        if is_mine:
            self._demos.play_own(chosen[0], max(0, row))
        else:
            self._demos.play(*chosen)

    def _export(self) -> None:
        chosen = self.chosen
        if chosen is None:
            return
        self._write()
        folder = Path.home() if self._demos.file is None else self._demos.file.parent
        name, _ = QFileDialog.getSaveFileName(
            self, "Export the demo", str(folder / f"{chosen[0].name}.html"), "HTML, one file (*.html)"
        )
        if name:
            self.export_to(Path(name).with_suffix(".html"))

    def export_to(self, path: Path, then: Callable[[], object] = lambda: None) -> None:
        """Write the demo that is chosen into a file; `then` is called when it is there."""
        chosen = self.chosen
        if chosen is None:
            return
        demo, start = chosen
        folder = None if self._demos.file is None else self._demos.file.parent
        self.stop_task()
        self.state.say(f"Writing {path.name} …")

        def work(task: Task) -> bytes:
            return page(demo, start, project_of(demo, start, folder), task.cancelled)

        def done(outcome: Outcome) -> None:
            if outcome.cancelled:
                return
            try:
                if not outcome.error:
                    write_atomically(path, outcome.value)
            except UserError as error:
                outcome = Outcome(error=error.line)
            self.state.say(outcome.error or f"Wrote {path}", is_error=bool(outcome.error))
            then()

        self.task = self.tasks.start(work, done)

    def done(self, result: int) -> None:
        self._write()
        super().done(result)


def _load_engine(task: Task) -> None:
    """What simulates and says numbers; compiling it is left to who plays."""
    from ndbplan.simulate.kernel import ready as kernel

    if kernel.is_prepared() and not task.cancelled():
        kernel.prepare()
        import_module("ndbplan.demo.stage")


def _button(words: str, run: Callable[[], object]) -> QPushButton:
    button = QPushButton(words)
    button.setAutoDefault(False)
    button.clicked.connect(lambda: run())
    return button
