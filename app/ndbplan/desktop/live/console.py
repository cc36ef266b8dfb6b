"""A console: what was answered, and a line to type, with the keys that a terminal has.

Up and Down go through what was typed, Tab completes, Ctrl+L clears, Ctrl+C ends what runs there. Tab on an
empty line goes on. What is typed over the answers goes into the line, as at a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QKeySequence,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from ndbplan.desktop.look import theme
from ndbplan.train.completion import Offered
from ndbplan.train.prompts import BREAK, session_of

MOST_LINES = 5000
"""What is kept of the answers."""
_MOST_TYPED = 500
_SEVERITY = re.compile(r" (WARNING|ERROR|ALERT|CRITICAL)\b")
_Key = Qt.KeyboardModifier
Complete = Callable[[str], Offered]


class Output(QPlainTextEdit):
    """Text that grows at its end; whoever reads further up is left where they are."""

    def __init__(self, name: str, most_lines: int = MOST_LINES) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setMaximumBlockCount(most_lines)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setProperty("look", "console")
        self.setFont(theme.mono_font())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(name)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)

    def add(self, text: str) -> None:
        """Put lines at the end."""
        if not text:
            return
        bar = self.verticalScrollBar()
        follows = bar.value() >= bar.maximum() - 2
        self.appendPlainText(text.removesuffix("\n"))
        if follows:
            bar.setValue(bar.maximum())
            self.horizontalScrollBar().setValue(0)


class Input(QLineEdit):
    """One line to type."""

    entered = Signal(str)

    def __init__(self, name: str, complete: Complete) -> None:
        super().__init__()
        self._complete = complete
        self._history: list[str] = []
        self._at = 0
        self._draft = ""
        self.candidates: Callable[[tuple[str, ...]], object] = lambda _words: None
        """Shows what several words may follow."""
        self.clears: Callable[[], object] = lambda: None
        self.breaks: Callable[[], object] = lambda: None
        """Ctrl+C where nothing is selected: what runs there ends."""
        self.setProperty("look", "console")
        self.setFont(theme.mono_font())
        self.setMaxLength(_MOST_TYPED)
        self.setAccessibleName(name)
        self.returnPressed.connect(self._enter)

    def _enter(self) -> None:
        text = self.text()
        self.clear()
        if not text.strip():
            return
        if not self._history or self._history[-1] != text:
            self._history.append(text)
        self._at = len(self._history)
        self.entered.emit(text)

    def event(self, event: QEvent) -> bool:
        # Before Qt takes Tab for the way to the next field.
        if self.text().strip() and _is_tab(event):
            self._fill_in()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        by = steps.get(Qt.Key(event.key()))
        if by is not None:
            self._go(by)
        elif event.key() == Qt.Key.Key_L and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.clears()
        elif event.matches(QKeySequence.StandardKey.Copy) and not self.hasSelectedText():
            self.breaks()
        else:
            super().keyPressEvent(event)

    def _go(self, by: int) -> None:
        if self._at == len(self._history):
            self._draft = self.text()
        self._at = max(0, min(len(self._history), self._at + by))
        self.setText(self._history[self._at] if self._at < len(self._history) else self._draft)

    def _fill_in(self) -> None:
        before = self.text()[: self.cursorPosition()]
        found = self._complete(before)
        if not found.words:
            return
        after = self.text()[self.cursorPosition() :]
        filled = before[: len(before) - len(found.typed)] + found.common
        self.setText(filled + after)
        self.setCursorPosition(len(filled))
        if len(found.words) > 1 and filled == before:
            self.candidates(found.words)


def _is_tab(event: QEvent) -> bool:
    return (
        isinstance(event, QKeyEvent)
        and event.type() == QEvent.Type.KeyPress
        and event.key() == Qt.Key.Key_Tab
        and event.modifiers() == Qt.KeyboardModifier.NoModifier
    )


class Console(QWidget):
    """One console of a live cluster."""

    entered = Signal(str, str)
    """The prompt, and the line that was typed."""

    def __init__(self, prompt: str, complete: Complete) -> None:
        super().__init__()
        self.prompt = prompt
        self.setAccessibleName(f"Console {prompt}")
        self.output = Output(f"Answers of {prompt}")
        self.output.installEventFilter(self)
        self.input = Input(f"Line for {prompt}", complete)
        self.input.entered.connect(self._enter)
        self.input.candidates = lambda words: self.output.add("  ".join(words))
        self.input.clears = self.output.clear
        self.input.breaks = lambda: self._enter(BREAK)
        self.input.setPlaceholderText(f"{_example(prompt)} · Tab lists what can be typed")
        self.setFocusProxy(self.input)
        sign = QLabel(prompt)
        sign.setProperty("look", "prompt")
        sign.setFont(theme.mono_font(12, 600))
        sign.setBuddy(self.input)
        line = QHBoxLayout()
        line.setContentsMargins(10, 0, 6, 4)
        line.setSpacing(4)
        line.addWidget(sign)
        line.addWidget(self.input, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.output, 1)
        column.addLayout(line)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.output and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            is_chord = bool(event.modifiers() & (_Key.ControlModifier | _Key.AltModifier | _Key.MetaModifier))
            is_typed = event.text().isprintable() and bool(event.text()) and not is_chord
            enters = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Backspace)
            if is_typed or enters or event.matches(QKeySequence.StandardKey.Paste):
                self.input.setFocus()
                self.input.keyPressEvent(event)
                return True
        return False

    def _enter(self, text: str) -> None:
        self.entered.emit(self.prompt, text)

    def show_answer(self, line: str, text: str) -> None:
        """Print a line and what it was answered."""
        self.output.add(f"{line}\n{text}")

    def say(self, text: str) -> None:
        """Print something that nobody asked for."""
        self.output.add(text)

    @property
    def text(self) -> str:
        """All that stands there."""
        return self.output.toPlainText()


class Severities(QSyntaxHighlighter):
    """Colours lines of the cluster log by what they say of themselves."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        theme.theme().changed.connect(self._again)

    def _again(self) -> None:
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Warnings and alerts stand out."""
        found = _SEVERITY.search(text)
        if found is not None:
            t = theme.tokens()
            ink = QTextCharFormat()
            ink.setForeground(QColor(t.warning if found[1] == "WARNING" else t.error))
            self.setFormat(0, len(text), ink)


class Log(Output):
    """The cluster log, which goes back with time."""

    def __init__(self) -> None:
        super().__init__("Cluster log")
        # What happened stands at the end of a line, behind when and who.
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._colours = Severities(self.document())

    def take(self, lines: tuple[str, ...], *, is_other: bool) -> None:
        """Lines more; `is_other`: in place of what was there."""
        if is_other:
            self.clear()
        self.add("\n".join(lines))
        if is_other:
            self.moveCursor(QTextCursor.MoveOperation.End)


def type_into(dock: QDockWidget) -> None:
    """What is typed goes to the console whose tab was chosen."""
    if isinstance(dock.widget(), Console):
        dock.widget().setFocus(Qt.FocusReason.OtherFocusReason)


def _example(prompt: str) -> str:
    """A line that a console of this prompt understands on any cluster."""
    if session_of(prompt) is not None:
        return "SELECT node_id, status FROM ndbinfo.nodes;"
    return {"ndb_mgm>": "SHOW", "!": "load x2"}.get(prompt, "df -h")
