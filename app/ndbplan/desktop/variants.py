"""Variants in the window: the switcher of the top bar, its menu, and what its entries do.

variants = Variants(editor, window)
button = VariantButton(document, actions)      # shows which variant it is; its menu lists all
variants.new()                                 # asks for a name, and shows a copy of the one that is shown
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil

from PySide6.QtCore import QObject, QPoint, QSize
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QWidget

from ndbplan.base.errors import UserError
from ndbplan.desktop.actions import Actions
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.look.text import as_it_is, elided, text_width
from ndbplan.desktop.widgets.ask import Ask, Question
from ndbplan.desktop.widgets.units import TEXT
from ndbplan.edits import variants as edits
from ndbplan.plan.project import MAIN, Project

_NAME_WIDTH, _LEAST_WIDTH, _FRAME = 150, 84, 46
"""Of the name at most; of the button at least, and what it needs beside the name."""
_NAME_FONT = (13, 500)
"""Pixels and weight."""
ACTIONS = ("new", "rename", "earlier", "later", "promote", "remove")
"""Those of the menu below the list; each is called `variant_NAME` in the table of actions."""


class Variants(QObject):
    """What a person does to the variants of one document."""

    def __init__(self, editor: Editor, window: QWidget) -> None:
        super().__init__(window)
        self._editor, self._document, self._window = editor, editor.document, window

    def handlers(self) -> dict[str, Callable[[], object]]:
        """The actions of the window that are done here, by their names."""
        return {
            **{f"variant_{name}": getattr(self, name) for name in ACTIONS},
            "variant_next": partial(self.step, 1),
            "variant_previous": partial(self.step, -1),
        }

    @property
    def _project(self) -> Project:
        return self._document.project

    @property
    def _shown(self) -> int:
        return self._document.shown

    def step(self, by: int) -> None:
        """Show the next variant, or the one before; behind the last comes the first."""
        self._document.show_variant((self._shown + by) % len(self._project.variants))

    def new(self) -> None:
        """Ask for a name, and show a new variant like the one that is shown."""
        name = edits.free_name(self._project, self._project.names[self._shown])

        def make(name: str, note: str | None) -> None:
            source = self._shown
            self._do(f"New variant {name}", lambda p: edits.added(p, name, source, note=note or ""))

        self._ask("New variant, like the one shown", "Make it", name, "", make)

    def rename(self) -> None:
        """Ask for another name and note of the variant that is shown."""
        variant = self._project.variants[self._shown]

        def take(name: str, note: str | None) -> None:
            place = self._shown
            self._do(
                f"Rename the variant {variant.name}",
                lambda p: edits.noted(edits.renamed(p, place, name), place, note or ""),
            )

        self._ask("Name of the variant", "Rename", variant.name, variant.note, take)

    def earlier(self) -> None:
        """One place nearer to the main one."""
        self._move(self._shown - 1)

    def later(self) -> None:
        """One place farther from it."""
        self._move(self._shown + 1)

    def _move(self, to: int) -> None:
        place = self._shown
        self._do("Move a variant", lambda project: edits.moved(project, place, to))

    def promote(self) -> None:
        """Make the variant that is shown the main one."""
        place = self._shown
        self._do(f"Promote {self._project.names[place]}", lambda project: edits.promoted(project, place))

    def remove(self) -> None:
        """Remove the variant that is shown; undo brings it back."""
        place = self._shown
        name = self._project.names[place]
        self._do(f"Remove the variant {name}", lambda project: edits.removed(project, place))

    def _do(self, text: str, edit: Callable[[Project], Project]) -> None:
        try:
            self._document.edit_variants(text, edit)
        except UserError as error:
            self._editor.failed.emit(error.line)

    def _ask(
        self, title: str, button: str, name: str, note: str, take: Callable[[str, str | None], None]
    ) -> None:
        questions = (Question("Name", TEXT, name), Question("Note", TEXT, note, "none"))
        switcher = self._window.findChild(VariantButton)
        below = switcher.mapToGlobal(switcher.rect().bottomLeft()) if switcher is not None else QPoint()
        Ask(title, questions, button, take, self._window).ask_at(below)


class VariantButton(QPushButton):
    """Says which variant is shown; its menu lists all, and what can be done with them."""

    def __init__(self, document: Document, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._actions = document, actions
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(self.fill)
        self.setMenu(menu)
        self.setMinimumWidth(_LEAST_WIDTH)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        document.variants_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the name of the variant as it is."""
        project, place = self._document.project, self._document.shown
        name = project.names[place]
        self.updateGeometry()
        bar = self.parentWidget()
        if bar is not None and (row := bar.layout()) is not None:
            # At once: the name of the one before would be cut to fit first.
            row.activate()
        self._show_name()
        self.setAccessibleName(f"Variant: {name}")
        count = len(project.variants)
        which = "the only variant" if count == 1 else f"variant {place + 1} of {count}"
        note = project.variants[place].note
        self.setToolTip(f"{name}, {which} of this plan" + (f": {note}" if note else ""))

    def _show_name(self) -> None:
        name = self._document.project.names[self._document.shown]
        room = self.width() - _FRAME if self.isVisible() else _NAME_WIDTH
        self.setText(f"{as_it_is(elided(name, *_NAME_FONT, min(room, _NAME_WIDTH)))}  ▾")

    def sizeHint(self) -> QSize:
        name = self._document.project.names[self._document.shown]
        # A whole number of pixels that holds it: rounded down, the name would be cut for a part of one.
        width = min(_NAME_WIDTH, ceil(text_width(name, *_NAME_FONT))) + _FRAME
        return QSize(max(_LEAST_WIDTH, width), super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_name()

    def fill(self) -> None:
        """The variants, then what can be done with the one that is shown."""
        menu, project = self.menu(), self._document.project
        menu.clear()
        group = QActionGroup(menu)
        for place, variant in enumerate(project.variants):
            main = "  (main)" if place == 0 and variant.name != MAIN else ""
            entry = QAction(as_it_is(variant.name) + main, group)
            entry.setCheckable(True)
            entry.setChecked(place == self._document.shown)
            entry.setToolTip(variant.note)
            entry.triggered.connect(partial(self._show, place))
            menu.addAction(entry)
        menu.addSeparator()
        menu.addActions([self._actions[f"variant_{name}"] for name in ACTIONS])

    def _show(self, place: int, _checked: bool = False) -> None:
        self._document.show_variant(place)
