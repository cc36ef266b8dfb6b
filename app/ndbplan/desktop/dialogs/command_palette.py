"""The command palette: type a few letters, run an action or go to an object of the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.widgets.ranking import Name, ranked
from ndbplan.desktop.widgets.sections import label

_ENTRY = Qt.ItemDataRole.UserRole + 1
_SHOWN = 60
_ROW = 34


@dataclass(frozen=True)
class Command:
    """One thing the palette can do."""

    text: str
    detail: str
    icon: str
    run: Callable[[], object]
    keys: str = ""
    more: str = ""
    """Further words it is found by."""
    called: str = ""
    """Other names of it, in small letters."""
    is_sentence: bool = False
    """It speaks of what its words name: things that are called so come first."""

    @property
    def name(self) -> Name:
        """How it is found."""
        return Name(self.text, f"{self.detail} {self.more}", self.called, self.is_sentence)


class CommandPalette(QFrame):
    """Floats over the window; Enter runs, Esc closes."""

    def __init__(
        self,
        window: QWidget,
        commands: Callable[[], Iterable[Command]],
        otherwise: Callable[[str], Command],
    ) -> None:
        """`otherwise`: what is offered for words that nothing is called by."""
        super().__init__(window)
        self._window = window
        self._commands = commands
        self._otherwise = otherwise
        self._known: list[Command] = []
        self._names: list[Name] = []
        self._width = 600
        self._most = 12 * _ROW
        self.setObjectName("commandPalette")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(6)
        self.field = QLineEdit()
        self.field.setPlaceholderText("Search or run a command…")
        self.field.setAccessibleName("Search or run a command")
        self.field.textChanged.connect(self._filter)
        self.field.installEventFilter(self)
        self._model = QStandardItemModel(self)
        self.list = QListView()
        self.list.setModel(self._model)
        self.list.setItemDelegate(_Row(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setAccessibleName("Matching commands")
        self.list.clicked.connect(self._run)
        self.none = label("", "muted", wrap=False)
        self.none.setContentsMargins(10, 2, 10, 2)
        self.none.hide()
        column.addWidget(self.field)
        column.addWidget(self.none)
        column.addWidget(self.list)
        self.hide()

    def open(self) -> None:
        """Show it, empty, over the upper middle of the window."""
        self._known = list(self._commands())
        self._names = [command.name for command in self._known]
        window = self._window
        self._width = min(600, window.width() - 40)
        self._most = min(12 * _ROW, window.height() - 160)
        self.move((window.width() - self._width) // 2, 56)
        self.field.clear()
        self._filter("")
        self.show()
        self.raise_()
        self.field.setFocus()

    def matching(self, text: str) -> list[Command]:
        """Commands that are called so, best first; nothing is: the one that looks elsewhere."""
        entries = [self._known[i] for i in ranked(text, self._names)[:_SHOWN]]
        return entries or [self._otherwise(text.strip())]

    def _filter(self, text: str) -> None:
        self._model.clear()
        found = self.matching(text)
        self.none.setText(f"Nothing is called “{text.strip()[:60]}”.")
        self.none.setVisible(bool(found) and found[0] not in self._known)
        for command in found:
            item = QStandardItem(command.text)
            item.setData(command, _ENTRY)
            item.setEditable(False)
            item.setAccessibleText(f"{command.text}, {command.detail}")
            self._model.appendRow(item)
        rows = max(1, self._model.rowCount())
        self.list.setFixedHeight(min(rows * _ROW + 4, self._most))
        self.adjustSize()
        self.resize(self._width, self.height())
        if self._model.rowCount():
            self.list.setCurrentIndex(self._model.index(0, 0))

    def _run(self, index: QModelIndex) -> None:
        command = index.data(_ENTRY)
        self.hide()
        if isinstance(command, Command):
            command.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            row = self.list.currentIndex().row()
            if event.key() == Qt.Key.Key_Escape:
                self.hide()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run(self.list.currentIndex())
                return True
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
            if event.key() in step:
                last = self._model.rowCount() - 1
                self.list.setCurrentIndex(
                    self._model.index(max(0, min(last, row + step[Qt.Key(event.key())])), 0)
                )
                return True
        elif event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.hide()
        return False


class _Row(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(200, _ROW)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        t = theme.tokens()
        command = index.data(_ENTRY)
        rect = QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen:
            paint.box(painter, rect.adjusted(0, 1, 0, -1), t.accent_soft, None, 6)
        if command.icon:
            icon = theme.icon_pixmap(command.icon, t.accent if chosen else t.muted, 15)
            painter.drawPixmap(rect.topLeft() + QRectF(10, (_ROW - 15) / 2, 0, 0).topLeft(), icon)
        words = rect.adjusted(36, 0, -12, 0)
        paint.text(painter, words, command.keys or command.detail, t.muted, 12, 400, paint.RIGHT)
        paint.text(
            painter, words.adjusted(0, 0, -130, 0), command.text, t.text_strong if chosen else t.text, 13, 500
        )
