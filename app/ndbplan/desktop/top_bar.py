"""The top bar: menu, title, variant, history, view, search, version, Simulate and Export."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import ceil

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QPolygonF, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from ndbplan.desktop.actions import Actions
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.previews import Previews
from ndbplan.desktop.in_front import EDITED, LESSON, LIVE, InFront
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.look.text import elided, text_width
from ndbplan.desktop.variants import VariantButton
from ndbplan.desktop.widgets.preview_card import preview_menu
from ndbplan.edits import parts as edits
from ndbplan.ndb.version import SERIES
from ndbplan.plan.plan import Plan

HEIGHT = 48
_NAMES_WIDTH = (210, 560)
_SEARCH_WIDTH, _SEARCH_PX = (92, 380), 13
"""At least and at most: the names of plan and variant, and the search, share what the buttons leave."""
_TITLE_FONT = (15, 600)
"""Pixels and weight."""
_VERSION_TIP = "the version of NDB Cluster it is for"
_GAP = 5
"""Between icon and text of a button."""


class TopBar(QWidget):
    """One line of the window; everything in it is an action of the table."""

    def __init__(self, editor: Editor, actions: Actions, menu: QMenu, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._actions = actions
        self.setObjectName("topBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self._row = row = QHBoxLayout(self)
        self._is_short, self._saved_px = False, 0
        row.setContentsMargins(10, 0, 12, 0)
        row.setSpacing(6)
        self.menu_button = _Brand()
        self.menu_button.setMenu(menu)
        row.addWidget(self.menu_button)
        self.variant = VariantButton(editor.document, actions)
        self.names = _Names(self.variant)
        row.addWidget(self.names, 3)
        row.addSpacing(14)
        for name in ("undo", "redo"):
            row.addWidget(self._tool(actions[name]))
        row.addSpacing(4)
        self._labelled = [
            (self._push(actions["fit"]), "maximize"),
            (self._push(actions["arrange"]), "layout-grid"),
        ]
        for button, _icon in self._labelled:
            button.setIconSize(QSize(16 + _GAP, 16))
            button.setAccessibleName(button.text())
            row.addWidget(button)
        row.addSpacing(4)
        self.search = _SearchButton(actions["find"])
        row.addWidget(self.search, 2)
        row.addStretch()
        self.version = QPushButton()
        self.version.setAccessibleName("NDB Cluster version")
        versions = QMenu(self.version)
        for series in reversed(SERIES):
            versions.addAction(f"NDB {series}").triggered.connect(partial(self._set_version, series))
        self._versions = versions
        self.version.setMenu(versions)
        row.addWidget(self.version)
        self.simulate = self._push(actions["simulate"], primary=True)
        row.addWidget(self.simulate)
        row.addWidget(self._push(actions["export"]))
        theme.theme().changed.connect(self._tint)
        theme.theme().scaled.connect(self._fit)
        self._tint()
        self._fit()

    def minimumSizeHint(self) -> QSize:
        whole = self._row.minimumSize().width()
        return QSize(whole if self._is_short else whole - self._saved_px, HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """In a window without room for all words, what has an icon does without."""
        widths = []
        for is_short in (True, False):
            self._label(is_short)
            widths.append(self._row.minimumSize().width())
        self._saved_px = widths[1] - widths[0]
        self._label(widths[1] > self.width())

    def _label(self, is_short: bool) -> None:
        self._is_short = is_short
        for button, _icon in self._labelled:
            button.setText("" if is_short else button.accessibleName())

    def show_front(self, front: InFront) -> None:
        """Say what is in front: its name and its version. Of a live cluster nothing is to be chosen."""
        self.names.say(front.title, front.tip, front.mark)
        self.variant.setVisible(not front.is_live)
        self.version.setEnabled(not front.covered)
        self.version.setText(f"NDB {front.plan.ndb_version}" + "  ▾" * (not front.covered))
        self.version.setToolTip(f"{front.covered}: {_VERSION_TIP}" if front.covered else _VERSION_TIP)
        self._fit()

    def watch(self, previews: Previews) -> None:
        """Show what another version would do while somebody looks at it in the menu."""
        preview_menu(self._versions, self.version, previews, lambda text: _aim(text.removeprefix("NDB ")))

    def _set_version(self, series: str, _checked: bool = False) -> None:
        self._editor.do(f"Aim at NDB {series}", _aim(series))

    @staticmethod
    def _tool(action: QAction) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(action)
        button.setIconSize(QSize(16, 16))
        button.setAccessibleName(action.text())
        return button

    @staticmethod
    def _push(action: QAction, *, primary: bool = False) -> QPushButton:
        button = QPushButton(action.text())
        button.setToolTip(action.toolTip())
        button.setIconSize(QSize(14 + _GAP, 14))
        button.clicked.connect(action.trigger)
        action.enabledChanged.connect(button.setEnabled)
        action.changed.connect(lambda: button.setToolTip(action.toolTip()))
        if primary:
            button.setProperty("kind", "primary")
        return button

    def _tint(self) -> None:
        t = theme.tokens()
        self._actions.tint(("undo", "redo"))
        for button, name in self._labelled:
            button.setIcon(theme.icon(name, gap_px=_GAP))
        self.simulate.setIcon(theme.icon("play", t.on_accent, 14, _GAP))
        self.menu_button.update()


class _Names(QWidget):
    """What is open: the name of the plan, whether it was edited since, the variant.

    How wide it is hangs on the window alone, so that no name moves what stands beside it.
    """

    def __init__(self, variant: VariantButton) -> None:
        super().__init__()
        self._whole = ""
        self._variant = variant
        self.setMinimumWidth(_NAMES_WIDTH[0])
        self.setMaximumWidth(_NAMES_WIDTH[1])
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.title = QLabel()
        self.title.setProperty("role", "title")
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setMinimumWidth(1)
        self.edited = QLabel()
        self.edited.setProperty("role", "caption")
        widest = max(text_width(mark, 12, 400) for mark in (EDITED, LESSON, LIVE))
        self.edited.setFixedWidth(ceil(widest) + _GAP)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self._row.addWidget(self.title)
        self._row.addWidget(self.edited)
        self._row.addStretch(1)
        self._row.addWidget(variant)

    def say(self, title: str, tip: str, mark: str) -> None:
        """Show the name, as much of it as there is room for, and a word about it."""
        self._whole = title
        self.title.setToolTip(tip)
        self.edited.setText(mark)
        self._cut()

    def sizeHint(self) -> QSize:
        return QSize(_NAMES_WIDTH[0], HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut()

    def _cut(self) -> None:
        beside = self.edited.width() + self._variant.sizeHint().width() + 3 * self._row.spacing()
        middle = Qt.TextElideMode.ElideMiddle
        self.title.setText(elided(self._whole, *_TITLE_FONT, self.width() - beside, middle))


class _Brand(QToolButton):
    """The program's mark, which opens the menu."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "quiet")
        self.setAccessibleName("Menu")
        self.setToolTip("Menu (Alt)")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFixedSize(44, 32)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.hasFocus() or self.isDown():
            edge = t.accent if self.hasFocus() else t.line
            paint.box(painter, QRectF(self.rect()), t.card, edge, 6)
        middle = QPointF(17, self.height() / 2)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(paint.brush(t.accent))
        painter.drawPolygon(
            QPolygonF([middle + QPointF(x, y) for x, y in ((0, -8), (8, 0), (0, 8), (-8, 0))])
        )
        painter.drawPixmap(QPointF(29, middle.y() - 5), theme.icon_pixmap("chevron-down", t.muted, 10))


def _aim(series: str) -> Callable[[Plan], Plan]:
    """The plan for another version."""
    return lambda plan: edits.set_plan(plan, ndb_version=series)


class _SearchButton(QPushButton):
    """Looks like a field, opens the command palette."""

    def __init__(self, action: QAction) -> None:
        super().__init__()
        self._action = action
        self.setObjectName("searchButton")
        self.setAccessibleName(action.text())
        self.setToolTip(action.toolTip())
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self.setMinimumWidth(_SEARCH_WIDTH[0])
        self.setMaximumWidth(_SEARCH_WIDTH[1])
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(action.trigger)

    def sizeHint(self) -> QSize:
        return QSize(_SEARCH_WIDTH[0], 30)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = t.accent if self.hasFocus() else t.line_strong if self.underMouse() else t.field_line
        rect = QRectF(self.rect())
        paint.box(painter, rect, t.field, edge, 6)
        painter.drawPixmap(QPointF(10, rect.center().y() - 7), theme.icon_pixmap("search", t.muted, 14))
        keys = self._action.shortcut().toString()
        paint.text(
            painter, rect.adjusted(0, 0, -10, 0), keys.replace("+", " "), t.muted, 12, 400, paint.RIGHT
        )
        room, words = rect.adjusted(32, 0, -60, 0), self._action.text()
        shorter = (words, f"{words.split()[0]}…", "")
        words = next(one for one in shorter if text_width(one, _SEARCH_PX, 400) <= room.width() or not one)
        paint.text(painter, room, words, t.muted, _SEARCH_PX)
