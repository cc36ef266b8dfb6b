"""Hardware of the user's own: asks for the name under which a card is kept, and for files of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QWidget

from ndbplan.base.errors import UserError
from ndbplan.base.units import how_many
from ndbplan.describe.titles import display_name
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.ask import Ask, Question
from ndbplan.desktop.widgets.units import TEXT
from ndbplan.edits import own_hardware
from ndbplan.plan.plan import Plan

_FILES = "Hardware (*.json);;All files (*)"


class Shelf(QObject):
    """Of the palette of one window: what is kept has changed; and what this window has done, or why not.

    `done` says what; where that took something away, also the words of a button that brings it back and what
    it does.
    """

    changed = Signal()
    failed = Signal(str)
    done = Signal(str, str, object)


def _attempt(parent: QWidget, do: Callable[[], str]) -> None:
    """Do something with what is kept; its window tells what was done, the palettes of all windows follow.

    There is no undo here as in a plan: what is gone for it comes back by a button of that message.
    """
    here = parent.window().findChild(Shelf)
    before = own_hardware.own_hardware()
    try:
        text = do()
        now = own_hardware.own_hardware()
    except UserError as error:
        if here is None:
            raise
        here.failed.emit(error.line)
        return
    for window in QApplication.topLevelWidgets():
        for shelf in window.findChildren(Shelf):
            shelf.changed.emit()
    if here is None:
        return
    lost = tuple(one for one in before if one not in now)
    others = [one.name for one in lost if one.key in {new.key for new in now}]
    if others:
        text += f" Replaced: {', '.join(others)}."
    here.done.emit(text, "Put back" if lost else "", partial(_put_back, lost, parent))


def _put_back(those: tuple[own_hardware.Own, ...], parent: QWidget) -> None:
    def do() -> str:
        names = ", ".join(one.name for one in own_hardware.keep_these(those))
        return f"The palette has {names} as before."

    _attempt(parent, do)


def ask_to_keep(plan: Plan, object_id: str, parent: QWidget, where: QPoint | None = None) -> Ask:
    """Ask for the name under which the palette keeps a host or disk."""
    shown = display_name(plan, plan.by_id[object_id])

    def take(name: str) -> None:
        def do() -> str:
            return f"The palette keeps {own_hardware.keep(plan, object_id, name).name}."

        _attempt(parent, do)

    title = f"Keep {shown} in the palette"
    ask = Ask(title, [Question("Name", TEXT, shown)], "Keep", take, parent)
    ask.ask_at(where or QCursor.pos())
    return ask


def shelf_menu(key: str | None, parent: QWidget) -> QMenu:
    """The menu of an entry of the palette, or (None) of the palette itself; deletes itself when it closes."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if key is not None and key.startswith(own_hardware.OWN):
        menu.addAction(theme.icon("trash-2"), "Remove from the palette", lambda: _forget(key, parent))
        menu.addSeparator()
    menu.addAction(theme.icon("import"), "Take in hardware from a file…", lambda: _take_in(parent))
    out = menu.addAction(theme.icon("upload"), "Write your hardware to a file…", lambda: _write_out(parent))
    out.setEnabled(bool(own_hardware.own_hardware()))
    return menu


def _forget(key: str, parent: QWidget) -> None:
    def do() -> str:
        own_hardware.forget(key)
        return "The palette keeps it no longer."

    _attempt(parent, do)


def _take_in(parent: QWidget) -> None:
    name, _ = QFileDialog.getOpenFileName(parent, "Hardware from a file", "", _FILES)
    if name:
        _attempt(parent, lambda: _count(len(own_hardware.take_in(Path(name))), "taken in"))


def _write_out(parent: QWidget) -> None:
    name, _ = QFileDialog.getSaveFileName(parent, "Your hardware to a file", "hardware.json", _FILES)
    if name:
        _attempt(parent, lambda: _count(own_hardware.write_out(Path(name)), f"written to {name}"))


def _count(number: int, what: str) -> str:
    return f"{how_many(number, 'host')} or disk{'s' if number != 1 else ''} {what}."
