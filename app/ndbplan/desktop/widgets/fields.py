"""Editors of single values: typed, validated, with units; one undoable edit each.

A field commits on Enter and when the focus leaves it, shows what is wrong in one line below itself, and
marks values that nobody stated as assumed until they are confirmed or changed. Escape takes typing back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import TwoReadingsError
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.units import Unit
from ndbplan.edits import parts as edits
from ndbplan.ndb.modelled import mark_words
from ndbplan.plan.plan import Plan

LABEL_WIDTH = 112
MIXED: Any = object()
"""The value of a field that stands for several objects which differ."""

Commit = Callable[[Any], None]
"""Takes the new value over; raises UserError when it cannot."""

Choices = Sequence[tuple[Any, str]]
"""Values on offer with their texts."""


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
        self.error.setProperty("look", "fieldError")
        self.error.setWordWrap(True)
        self.error.hide()
        self.assumed = QToolButton(editor)
        self.assumed.setText("assumed")
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
        self.readings = QWidget()
        """Buttons for each meaning of what was typed, where it has two."""
        self.readings.hide()
        QHBoxLayout(self.readings).setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.readings, 2, 0, 1, 2)
        layout.setColumnStretch(0, 2)
        layout.setColumnStretch(1, 3)

    def explain(self, tip: str) -> None:
        """Say what the value is, and what depends on it."""
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
        self._forget_readings()
        self.error.setText(line)
        self.error.setVisible(bool(line))
        if self.editor.property("invalid") != bool(line):
            self.editor.setProperty("invalid", bool(line))
            theme.restyle(self.editor)

    def _forget_readings(self) -> None:
        self.readings.hide()
        row = self.readings.layout()
        while row is not None and (item := row.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

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
        size = self.assumed.sizeHint()
        inset = 22 if isinstance(self.editor, QComboBox) else 5
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
        self.line.setPlaceholderText(empty or "")
        self.line.editingFinished.connect(self._finished)

    @property
    def is_edited(self) -> bool:
        return self.line.text().strip() != self._shown

    def _show(self, value: Any) -> None:
        was_edited = self.is_edited and self.line.hasFocus()
        mixed = value is MIXED
        self.line.setPlaceholderText("several values" if mixed else self._empty or "")
        self._shown = "" if value is None or mixed else self._unit.show(value)
        if not was_edited:
            self.line.setText(self._shown)
            self.line.setCursorPosition(0)

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
        row = self.readings.layout()
        assert isinstance(row, QHBoxLayout)
        for reading in error.readings:
            button = QPushButton(reading)
            button.setProperty("look", "solution")
            button.clicked.connect(lambda _on=False, text=reading: self._mean(text))
            row.addWidget(button)
        row.addStretch(1)
        self.readings.show()

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
        self.box = QComboBox()
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


@dataclass(frozen=True)
class Inner:
    """A part inside an object that has no id of its own, such as the load of a workload."""

    get: Callable[[Any], Any]
    """The part of an object; None when it has none."""
    put: Callable[[Plan, str, Any], Plan]
    """The plan in which the object with this id has another such part."""


class Form(QWidget):
    """Fields of one object of the plan, of several of one kind, of the plan itself (no ids), or of a part."""

    def __init__(self, document: Document, ids: Sequence[str] = (), inner: Inner | None = None) -> None:
        super().__init__()
        self._document = document
        self._inner = inner
        self.ids = tuple(ids)
        self._fields: list[tuple[str, Field, Callable[[Any], Any]]] = []
        self._choices: dict[ChoiceField, Callable[[Plan], Choices]] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(6)

    def line(
        self,
        name: str,
        label: str,
        unit: Unit,
        *,
        empty: str | None = None,
        tip: str = "",
        get: Callable[[Any], Any] | None = None,
        edit: Callable[[Plan, str, Any], Plan] | None = None,
    ) -> LineField:
        """A typed field of attribute `name`; `get` and `edit` reach values that are no plain attribute."""
        field = LineField(label, unit, self._committer(name, label, edit), empty=empty, tip=tip)
        self._add(name, field, get)
        return field

    def choice(
        self,
        name: str,
        label: str,
        choices: Choices | Callable[[Plan], Choices],
        *,
        tip: str = "",
        get: Callable[[Any], Any] | None = None,
        edit: Callable[[Plan, str, Any], Plan] | None = None,
    ) -> ChoiceField:
        """A field with a few values to choose from; a function gives those that fit the plan."""
        offered = choices(self._document.plan) if callable(choices) else choices
        field = ChoiceField(label, offered, self._committer(name, label, edit), tip=tip)
        if callable(choices):
            self._choices[field] = choices
        self._add(name, field, get)
        return field

    def flag(
        self,
        name: str,
        label: str,
        *,
        tip: str = "",
        get: Callable[[Any], Any] | None = None,
        edit: Callable[[Plan, str, Any], Plan] | None = None,
    ) -> FlagField:
        """A field that is on or off."""
        field = FlagField(label, self._committer(name, label, edit), tip=tip)
        self._add(name, field, get)
        return field

    def refresh(self) -> None:
        """Show what the plan says now."""
        parts = self._parts()
        if not parts:
            return
        for choice, offered in self._choices.items():
            choice.set_choices(offered(self._document.plan))
        for name, field, get in self._fields:
            values = [get(part) for part in parts]
            same = all(value == values[0] for value in values)
            is_assumed = any(name in part.assumed for part in parts)
            confirm = self._confirmer(name, field.label) if is_assumed else None
            field.show_value(values[0] if same else MIXED, confirm)

    def _parts(self) -> list[Any]:
        plan = self._document.plan
        parts = [self._part(plan, i) for i in self.ids if i in plan.by_id] if self.ids else [plan]
        return [part for part in parts if part is not None]

    def _part(self, plan: Plan, object_id: str) -> Any:
        part = plan.by_id.get(object_id) if object_id else plan
        return self._inner.get(part) if self._inner is not None and part is not None else part

    def _changed(self, plan: Plan, object_id: str, **fields: Any) -> Plan:
        if not object_id:
            return edits.set_plan(plan, **fields)
        if self._inner is None:
            return edits.update(plan, object_id, **fields)
        return self._inner.put(plan, object_id, edits.changed(self._part(plan, object_id), **fields))

    def _stated(self, plan: Plan, object_id: str, name: str) -> Plan:
        part = self._part(plan, object_id)
        if part is None or name not in part.assumed:
            return plan
        left = tuple(known for known in part.assumed if known != name)
        return self._changed(plan, object_id, assumed=left)

    def _add(self, name: str, field: Field, get: Callable[[Any], Any] | None) -> None:
        self._fields.append((name, field, get or (lambda part: getattr(part, name))))
        field.setObjectName(name)
        kinds = {type(part).__name__ for part in self._parts()}
        mark = mark_words(kinds.pop(), name) if len(kinds) == 1 else ""
        if mark:
            field.explain(f"{field.editor.toolTip().rstrip('.')}. {mark}".removeprefix(". "))
        self._layout.addWidget(field)

    def _committer(self, name: str, label: str, edit: Callable[[Plan, str, Any], Plan] | None) -> Commit:
        def commit(value: Any) -> None:
            def apply(plan: Plan) -> Plan:
                for object_id in self.ids or ("",):
                    after = (
                        edit(plan, object_id, value)
                        if edit is not None
                        else self._changed(plan, object_id, **{name: value})
                    )
                    plan = self._stated(after, object_id, name)
                return plan

            self._document.edit(f"Set {label}{self._whose()}", apply)

        return commit

    def _confirmer(self, name: str, label: str) -> Callable[[], None]:
        def confirm() -> None:
            def apply(plan: Plan) -> Plan:
                for object_id in self.ids or ("",):
                    plan = self._stated(plan, object_id, name)
                return plan

            self._document.edit(f"Confirm {label}{self._whose()}", apply)

        return confirm

    def _whose(self) -> str:
        if not self.ids:
            return ""
        return f" of {self.ids[0]}" if len(self.ids) == 1 else f" of {len(self.ids)} objects"


def _without_place(error: UserError) -> str:
    return " ".join(f"{error.what}{f' — {error.fix}' if error.fix else ''}".split())
