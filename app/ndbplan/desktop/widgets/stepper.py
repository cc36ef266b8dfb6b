"""Steps of a number field: arrows inside of it, and Up and Down, each seen before it is done.

    Stepper(field, estimates.previews, edit_of)    # edit_of(value): the edit that gives the field a value

The arrows show while the pointer is over the field or it has the focus, and a click on one is an edit. A key
puts the next value into the field as if it were typed: the card says what it would do, Enter takes it and
Escape takes it back. What the plan would refuse is no step. Where several objects have different values each
goes one step on from its own, also by a key: no text says them all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QToolButton

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.previews import Edit, Previews
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.fields import LineField
from ndbplan.desktop.widgets.preview_card import look_away, looker
from ndbplan.edits.steps import next_down, next_up, share_down, share_up
from ndbplan.plan.plan import Plan

_KEYS = {Qt.Key.Key_Up: "up", Qt.Key.Key_Down: "down"}
_WAYS = ("up", "down")
_ARROW_PX = 10
_SEEN = (
    QEvent.Type.Enter, QEvent.Type.Leave, QEvent.Type.FocusIn, QEvent.Type.FocusOut, QEvent.Type.Resize,
)  # fmt: skip


def _numbers(name: str) -> dict[str, Callable[[Any], Any]]:
    return {"up": partial(next_up, name=name), "down": partial(next_down, name=name)}


class Stepper(QObject):
    """The arrows and the keys of one field."""

    def __init__(
        self,
        field: LineField,
        name: str,
        previews: Previews,
        plan: Callable[[], Plan],
        edit_of: Callable[[Any], Edit],
        *,
        of_a_whole: bool = False,
        each: Callable[[Callable[[Any], Any]], Edit | None] = lambda _step: None,
        commit: Callable[[Edit], object] = lambda _edit: None,
    ) -> None:
        """`name`: of the field in the plan, on which the size of a step depends; `of_a_whole`: a share.

        `each`: the edit that takes every object one step on from its own value; `commit` does it.
        """
        super().__init__(field)
        self._next = {"up": share_up, "down": share_down} if of_a_whole else _numbers(name)
        self._field, self._previews = field, previews
        self._plan, self._edit_of = plan, edit_of
        self._each, self._commit = each, commit
        self.arrows = {way: self._arrow(way) for way in _WAYS}
        for watched in (field.line, *self.arrows.values()):
            watched.installEventFilter(self)
        field.line.textEdited.connect(lambda _text: look_away(field.line))
        theme.theme().changed.connect(self._tint)
        self._tint()

    def _arrow(self, way: str) -> QToolButton:
        arrow = QToolButton(self._field.line)
        arrow.setProperty("look", "step")
        arrow.setIconSize(QSize(_ARROW_PX, _ARROW_PX))
        arrow.setCursor(Qt.CursorShape.ArrowCursor)
        # Keys step in the field itself: two more stops on the way through a form would help nobody.
        arrow.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        arrow.setAccessibleName(f"One step {way}: {self._field.label}")
        # A tip would lie over the card that shows what the step does.
        arrow.setAccessibleDescription(f"{way.title()} in the field")
        arrow.clicked.connect(partial(self._do, way))
        arrow.hide()
        return arrow

    def next_value(self, way: str) -> Any:
        """The next value `up` or `down` of what the field says; None: there is none that the plan takes."""
        now = self._field.number()
        value = None if now is None else self._next[way](now)
        if value is None or value == now:
            return None
        return value if self._is_taken(self._edit_of(value)) else None

    def _is_taken(self, edit: Edit) -> bool:
        try:
            edit(self._plan())
        except UserError:
            return False
        return True

    def next_of_each(self, way: str) -> Edit | None:
        """The step of several different values; None: they are one, or one of them has no next."""
        edit = self._each(self._next[way]) if self._field.is_mixed else None
        return edit if edit is not None and self._is_taken(edit) else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        line = self._field.line
        if watched is not line:
            way = next((way for way, arrow in self.arrows.items() if arrow is watched), "")
            if way and event.type() == QEvent.Type.Enter:
                self._look(way)
            elif way and event.type() in (QEvent.Type.Leave, QEvent.Type.Hide):
                look_away(line)
            return False
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(event)
        if event.type() in _SEEN:
            self._show(line.hasFocus() or (line.underMouse() and event.type() != QEvent.Type.Leave))
        if event.type() in (QEvent.Type.FocusOut, QEvent.Type.Hide):
            look_away(line)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        way = _KEYS.get(Qt.Key(event.key()))
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            look_away(self._field.line)
        if way is None or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if (edit := self.next_of_each(way)) is not None:
            self._commit(edit)
        value = self.next_value(way) if edit is None else None
        if value is not None:
            self._field.put(value)
            if self._field.is_edited:
                self._ask(value)
            else:
                look_away(self._field.line)
        return True

    def _do(self, way: str) -> None:
        """Take the next value over, and show what the one after it would do."""
        if (edit := self.next_of_each(way)) is not None:
            self._commit(edit)
        elif (value := self.next_value(way)) is not None:
            self._field.take(value)
        self._show(True)
        if self.arrows[way].underMouse():
            self._look(way)

    def _look(self, way: str) -> None:
        if (edit := self.next_of_each(way)) is not None:
            self._preview(f"{self._field.label}: each one step {way}", edit)
        elif (value := self.next_value(way)) is not None:
            self._ask(value)

    def _ask(self, value: Any) -> None:
        self._preview(f"{self._field.label} {self._field.words(value)}", self._edit_of(value))

    def _preview(self, title: str, edit: Edit) -> None:
        looker(lambda: self._previews, self._field.line).look(title, lambda: edit, self._around)

    def _around(self) -> QRect:
        line = self._field.line
        return QRect(line.mapToGlobal(QPoint(0, 0)), line.size())

    def _show(self, on: bool) -> None:
        """Show the arrows that lead anywhere, where they hide no digit."""
        place = self._field.place_for_steps()
        if place is not None:
            half = place.height() // 2
            self.arrows["up"].setGeometry(place.adjusted(0, 0, 0, half - place.height()))
            self.arrows["down"].setGeometry(place.adjusted(0, half, 0, 0))
        for way, arrow in self.arrows.items():
            leads = on and place is not None and (self.next_of_each(way) or self.next_value(way) is not None)
            arrow.setVisible(bool(leads))

    def _tint(self) -> None:
        for way, arrow in self.arrows.items():
            arrow.setIcon(theme.icon(f"chevron-{way}", size_px=_ARROW_PX))
