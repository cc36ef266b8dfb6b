"""Editors of single values: typed, validated, with units; one undoable edit each.

A field commits on Enter and when the focus leaves it, shows what is wrong in one line below itself, and
marks values that nobody stated as assumed until they are confirmed or changed. Escape takes typing back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import TwoReadingsError
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.combo_box import ComboBox
from ndbplan.desktop.widgets.readings import Readings
from ndbplan.desktop.widgets.units import Unit

LABEL_WIDTH = 112
MIXED: Any = object()
"""The value of a field that stands for several objects which differ."""

Commit = Callable[[Any], None]
"""Takes the new value over; raises UserError when it cannot."""


def _text_of(editor: QWidget) -> str:
    return editor.text() if isinstance(editor, QLineEdit) else ""


Choices = Sequence[tuple[Any, str]]
"""Values on offer with their texts."""


STEPS_PX = 18
"""Room for the arrows of a number field."""
_ASSUMED, _ASSUMED_SHORT, _PADDING = "assumed", "•", 10
"""The mark of an assumed value, what it is where the value needs the room, and pixels before a value."""


class Field(QWidget):
    """A label, an editor, a mark for assumed values and a line for what is wrong."""

    def __init__(self, label: str, editor: QWidget, commit: Commit, tip: str = "") -> None:
        super().__init__()
        self.label = label
        self.editor = editor
        self._commit = commit
        self._confirm: Callable[[], None] | None = None
        caption = QLabel(label)
        caption.setProperty("look", "fieldLabel")
        caption.setBuddy(editor)
        caption.setMinimumWidth(LABEL_WIDTH)
        caption.setWordWrap(True)
        self._caption = caption
        self.explain(tip)
        editor.setAccessibleName(label)
        editor.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        editor.setMinimumWidth(80)
        editor.installEventFilter(self)
        self.error = QLabel()
        self.error.setTextFormat(Qt.TextFormat.PlainText)
        self.error.setProperty("look", "fieldError")
        self.error.setWordWrap(True)
        self.error.hide()
        self.assumed = QToolButton(editor)
        self.assumed.setText(_ASSUMED)
        self.assumed.setProperty("look", "assumed")
        self.assumed.setCursor(Qt.CursorShape.PointingHandCursor)
        self.assumed.setToolTip("This value is assumed. Click to confirm it, or type another.")
        self.assumed.setAccessibleName(f"{label} is assumed; confirm it")
        self.assumed.clicked.connect(self._confirm_clicked)
        self.assumed.hide()
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(8)
        layout.setVerticalSpacing(2)
        layout.addWidget(caption, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(editor, 0, 1)
        layout.addWidget(self.error, 1, 0, 1, 2)
        self.readings = Readings()
        layout.addWidget(self.readings, 2, 0, 1, 2)
        layout.setColumnStretch(0, 2)
        layout.setColumnStretch(1, 3)

    def explain(self, tip: str) -> None:
        """Say what the value is, and what depends on it."""
        self._tip = tip
        self._caption.setToolTip(tip)
        self.editor.setToolTip(tip)
        self.editor.setAccessibleDescription(tip)

    def show_value(self, value: Any, confirm: Callable[[], None] | None = None) -> None:
        """Show the plan's value; with `confirm` it is marked as assumed."""
        self._confirm = confirm
        self._show(value)
        self.assumed.setVisible(confirm is not None)
        self._place_mark()
        if not self.is_edited:
            self.refuse("")

    @property
    def is_edited(self) -> bool:
        """Whether something was typed that the plan has not taken."""
        return False

    def refuse(self, line: str) -> None:
        """Show what is wrong; an empty line: nothing is."""
        self.readings.forget()
        self.error.setText(line)
        self.error.setVisible(bool(line))
        if self.editor.property("invalid") != bool(line):
            self.editor.setProperty("invalid", bool(line))
            theme.restyle(self.editor)

    def _show(self, value: Any) -> None:
        raise NotImplementedError

    def _take(self, value: Any) -> bool:
        try:
            self._commit(value)
        except UserError as error:
            self.refuse(_without_place(error))
            return False
        self.refuse("")
        return True

    def _confirm_clicked(self) -> None:
        if self._confirm is not None:
            self._confirm()

    def _place_mark(self) -> None:
        if self.assumed.isHidden():
            return
        is_list = isinstance(self.editor, QComboBox)
        value = self.editor.currentText() if isinstance(self.editor, QComboBox) else _text_of(self.editor)
        inset = 22 if is_list else 5
        # A number of which the mark hides the last digits is another number.
        room = self.editor.width() - self.editor.fontMetrics().horizontalAdvance(value) - 2 * inset - _PADDING
        self.assumed.setText(_ASSUMED)
        if self.assumed.sizeHint().width() > room:
            self.assumed.setText(_ASSUMED_SHORT)
        size = self.assumed.sizeHint()
        self.assumed.resize(size)
        self.assumed.move(
            self.editor.width() - size.width() - inset, (self.editor.height() - size.height()) // 2
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.editor and event.type() == QEvent.Type.Resize:
            self._place_mark()
        # A wheel over an unfocused editor scrolls the page instead of changing the plan.
        if watched is self.editor and event.type() == QEvent.Type.Wheel and not self.editor.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)


class LineField(Field):
    """A value typed as text."""

    def __init__(
        self, label: str, unit: Unit, commit: Commit, *, empty: str | None = None, tip: str = ""
    ) -> None:
        self.line = QLineEdit()
        super().__init__(label, self.line, commit, tip or f"For example {unit.example}")
        self._unit = unit
        self._empty = empty
        self._shown = ""
        self._value: Any = None
        self.line.setPlaceholderText(empty or "")
        self.line.editingFinished.connect(self._finished)

    @property
    def is_edited(self) -> bool:
        return self.line.text().strip() != self._shown

    def _show(self, value: Any) -> None:
        was_edited = self.is_edited and self.line.hasFocus()
        self._value = value
        mixed = value is MIXED
        self.line.setPlaceholderText("several values" if mixed else self._empty or "")
        self._shown = "" if value is None or mixed else self._unit.read(value)
        exact = self._shown and self._unit.show(value)
        self.line.setToolTip(f"{self._tip}\n{exact}, exactly" if exact != self._shown else self._tip)
        if not was_edited:
            self.line.setText(self._shown)
            # Whoever has just typed stands behind it and may go on; of the others the beginning is seen.
            if not self.line.hasFocus():
                self.line.setCursorPosition(0)

    # For steps up and down.

    @property
    def is_mixed(self) -> bool:
        """Whether it says that there are several values, and nothing else was typed."""
        return self._value is MIXED and not self.is_edited

    def number(self) -> int | float | None:
        """The number that it says, typed or not; None: there is none, or several."""
        value = self._value
        if self.is_edited:
            try:
                value = self._unit.parse(self.line.text())
            except UserError:
                return None
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def words(self, value: Any) -> str:
        """How it would show a value."""
        return self._unit.read(value)

    def put(self, value: Any) -> None:
        """Say another value as if somebody typed it."""
        self.line.setText(self.words(value))
        self.refuse("")

    def take(self, value: Any) -> None:
        """Give the plan another value, in place of what was typed."""
        self.put(value)
        self._finished()

    def place_for_steps(self) -> QRect | None:
        """Where arrows lie, before the mark of an assumed value; None: they would hide a digit."""
        right = self.line.width() - 2 if self.assumed.isHidden() else self.assumed.x()
        taken = self.line.fontMetrics().horizontalAdvance(self.line.text()) + 2 * _PADDING
        place = QRect(right - STEPS_PX, 1, STEPS_PX, self.line.height() - 2)
        return place if taken <= place.x() else None

    def offer_to_vary(self, vary: Callable[[], object]) -> None:
        """Put *Vary this…* into the menu of the editor."""

        def show(at: QPoint) -> None:
            menu = self.line.createStandardContextMenu()
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addSeparator()
            menu.addAction("Vary this…", vary)
            menu.popup(self.line.mapToGlobal(at))

        self.line.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.line.customContextMenuRequested.connect(show)

    def _finished(self) -> None:
        text = self.line.text().strip()
        if text == self._shown:
            self.refuse("")
            return
        if not text and self._empty is None:
            self.refuse(f"this cannot be empty — type for example {self._unit.example}")
            return
        try:
            value = self._unit.parse(text) if text else None
        except TwoReadingsError as error:
            self._ask(error)
            return
        except UserError as error:
            self.refuse(error.line)
            return
        before = self._shown
        self._shown = text
        if not self._take(value):
            self._shown = before

    def _ask(self, error: TwoReadingsError) -> None:
        """Ask which of two meanings is meant."""
        self.refuse(f"{error.what}?")
        self.readings.ask(error.readings, self._mean)

    def _mean(self, text: str) -> None:
        self.line.setText(text)
        self._finished()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            watched is self.line
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Escape
            and self.is_edited
        ):
            self.line.setText(self._shown)
            self.refuse("")
            return True
        return super().eventFilter(watched, event)


class ChoiceField(Field):
    """One of a few values."""

    def __init__(
        self, label: str, choices: Sequence[tuple[Any, str]], commit: Commit, *, tip: str = ""
    ) -> None:
        self.box = ComboBox()
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.box.setMinimumContentsLength(6)
        super().__init__(label, self.box, commit, tip)
        self._value: Any = MIXED
        self._choices: list[tuple[Any, str]] = []
        self.set_choices(choices)
        self.box.activated.connect(self._activated)

    def set_choices(self, choices: Sequence[tuple[Any, str]]) -> None:
        """Offer other values."""
        if list(choices) == self._choices:
            return
        self._choices = list(choices)
        self.box.clear()
        self.box.addItems([text for _, text in self._choices])
        self._show(self._value)

    def _show(self, value: Any) -> None:
        self._value = value
        values = [known for known, _ in self._choices]
        self.box.setCurrentIndex(values.index(value) if value in values else -1)
        self.box.setPlaceholderText("several values" if value is MIXED else str(value))

    def value_at(self, index: int) -> Any:
        """The value that a place of the list stands for."""
        return self._choices[index][0]

    def _activated(self, index: int) -> None:
        before = self._value
        if not self._take(self._choices[index][0]):
            self._show(before)


class FlagField(Field):
    """On or off."""

    def __init__(self, label: str, commit: Commit, *, tip: str = "") -> None:
        self.check = QCheckBox()
        super().__init__(label, self.check, commit, tip)
        self.check.clicked.connect(self._clicked)

    def _show(self, value: Any) -> None:
        self.check.setTristate(value is MIXED)
        state = Qt.CheckState.PartiallyChecked if value is MIXED else Qt.CheckState.Unchecked
        self.check.setCheckState(Qt.CheckState.Checked if value is True else state)

    def _clicked(self) -> None:
        self.check.setTristate(False)
        wanted = self.check.isChecked()
        if not self._take(wanted):
            self.check.setChecked(not wanted)


def _without_place(error: UserError) -> str:
    return " ".join(f"{error.what}{f' — {error.fix}' if error.fix else ''}".split())
