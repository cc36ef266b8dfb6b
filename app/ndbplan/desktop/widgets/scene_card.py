"""What a demo says: a card beside the canvas with a scene's text, and a sheet with what consoles answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontDatabase, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.units import unbroken
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.fade import Fade
from ndbplan.desktop.widgets.sections import label

_SHARE, _LEAST, _MOST = 0.34, 300, 560
"""Of the width of what it lies in that the card takes, in pixels at least and at most."""
_SMALLEST_PT, _LARGEST_PT = 7.0, 13.0


class SceneCard(QFrame):
    """Title, text and steps of one scene, at the right edge of what it was given."""

    moved = Signal(int)
    """To the next scene (1) or the one before (-1)."""
    closed = Signal()
    width_changed = Signal(int)
    """Pixels that it takes."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self.setObjectName("sceneCard")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.place_text = label("", "muted", wrap=False)
        self.title = label("", "sceneTitle")
        self.text = label("", "sceneText")
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self.text)
        Fade(scroll, "card")
        self.back = _button("Back", lambda: self.moved.emit(-1), "quiet")
        self.next = _button("Next", lambda: self.moved.emit(1), "primary")
        self.end = _button("End", self.closed.emit, "quiet")
        self.end.setToolTip("End the demo (Esc)")
        foot = QHBoxLayout()
        foot.addWidget(self.end)
        foot.addStretch(1)
        foot.addWidget(self.back)
        foot.addWidget(self.next)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 14, 16, 12)
        column.setSpacing(8)
        column.addWidget(self.place_text)
        column.addWidget(self.title)
        column.addWidget(scroll, 1)
        column.addLayout(foot)
        over.installEventFilter(self)
        self.hide()

    def show_scene(self, number: int, count: int, title: str) -> None:
        """Show the head of this scene of so many, numbered from 0 on; its text comes when it is there."""
        self.place_text.setText(f"{number + 1} of {count}")
        self.title.setText(title)
        self.back.setEnabled(number > 0)
        self.next.setText("Next" if number + 1 < count else "Done")
        self.show()
        self.place()

    def say(self, paragraphs: Sequence[str], *, is_error: bool = False) -> None:
        """The text of the scene."""
        words = "\n\n".join(paragraphs)
        self.text.setText(unbroken(words))
        self.text.setProperty("look", "fieldError" if is_error else "sceneText")
        theme.restyle(self.text)
        self.setAccessibleName(f"{self.place_text.text()}: {self.title.text()}. {words}")

    def place(self) -> None:
        """Stand at the right edge."""
        width = max(_LEAST, min(_MOST, round(_SHARE * self._over.width())))
        changed = width != self.width() or self.isHidden()
        self.setGeometry(self._over.width() - width, 0, width, self._over.height())
        self.raise_()
        if changed:
            self.width_changed.emit(width)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self.place()
        return False


class ConsoleSheet(QFrame):
    """Lines at consoles and their answers, side by side, over all of what it was given."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self.setObjectName("consoleSheet")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(16, 12, 16, 12)
        self._row.setSpacing(16)
        self.answers: list[QPlainTextEdit] = []
        over.installEventFilter(self)
        self.hide()

    def show_answers(self, answers: Sequence[tuple[str, str]]) -> None:
        """Show lines and what they were answered; nothing: only the sheet."""
        while (item := self._row.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.answers = []
        for line, answer in answers:
            page, column = QWidget(), QVBoxLayout()
            page.setLayout(column)
            column.setContentsMargins(0, 0, 0, 0)
            head = QLabel(line)
            head.setProperty("look", "consoleLine")
            head.setTextFormat(Qt.TextFormat.PlainText)
            text = QPlainTextEdit(answer.strip("\n"))
            text.setTabChangesFocus(True)
            text.setReadOnly(True)
            text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
            text.setAccessibleName(line)
            text.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            column.addWidget(head)
            column.addWidget(text, 1)
            self._row.addWidget(page, max((len(one) for one in answer.splitlines()), default=1))
            self.answers.append(text)
        self.show()
        self.place()

    def place(self) -> None:
        """Lie over everything, in letters as large as fit."""
        self.setGeometry(self._over.rect())
        self.raise_()
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self.place()
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The largest letters with which all lines are seen whole, as far as they can still be read."""
        if not self.answers:
            return
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        texts = [text.toPlainText() for text in self.answers]
        letters = sum(
            max((len(line.expandtabs()) for line in text.splitlines()), default=1) for text in texts
        )
        rows = max(text.count("\n") + 1 for text in texts)
        room = self.width() - 32 - 44 * len(texts)
        size = _LARGEST_PT * theme.theme().text_scale
        while size > _SMALLEST_PT:
            font.setPointSizeF(size)
            metrics = QFontMetricsF(font)
            if (
                metrics.averageCharWidth() * (letters + 1) <= room
                and metrics.height() * rows <= self.height() - 76
            ):
                break
            size -= 0.5
        font.setPointSizeF(size)
        for text in self.answers:
            text.setFont(font)
            text.setTabStopDistance(8 * QFontMetricsF(font).horizontalAdvance(" "))


def _button(words: str, clicked: object, kind: str) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("kind", kind)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.clicked.connect(clicked)
    return button
