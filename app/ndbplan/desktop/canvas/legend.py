"""The legend at the foot of the canvas: what it is coloured by, and which hosts have which colour."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QToolButton

from ndbplan.describe.colouring import NOTHING, WAYS, Colouring, Entry
from ndbplan.desktop.canvas.shading import swatch
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.text import as_it_is
from ndbplan.desktop.widgets.menu_heading import heading

_LEFT, _FOOT, _RIGHT, _APART = 12, 3, 12, 2
_SWATCH_PX, _GAP_PX = 12, 5
_OVERVIEW_PX = 190
"""Width that the overview in the other corner takes."""


_RESIZED = (QEvent.Type.Resize, QEvent.Type.StyleChange, QEvent.Type.FontChange)


class Legend(QFrame):
    """One row; a click on a colour selects what has it. It lies in the margin that fitting leaves."""

    chosen = Signal(str, str)
    """A way to colour, nothing for none; and the variant to hold the plan against."""

    def __init__(self, view: Stage) -> None:
        super().__init__(view)
        self._view = view
        self._shown = NOTHING
        self._theme = ""
        self.setObjectName("legend")
        self.setAccessibleName("Legend of the canvas")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(3, 1, 3, 1)
        self._row.setSpacing(1)
        self.button = QToolButton()
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setToolTip("What hosts, nodes and disks are coloured by")
        self._menu = QMenu(self.button)
        self._menu.aboutToShow.connect(self._fill)
        self.button.setMenu(self._menu)
        self._row.addWidget(self.button)
        self.entries: list[QToolButton] = []
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setProperty("role", "caption")
        self._row.addWidget(self.note)
        view.installEventFilter(self)
        view.coloured.connect(self.show_colouring)
        view.moved.connect(self._place)
        view.document.changed.connect(lambda _before, _after: self.follow())
        theme.theme().changed.connect(self._restyle)
        self.show_colouring(NOTHING)

    def _restyle(self) -> None:
        # The theme outlives a window: it is told to call the legend itself, which ends that.
        self.show_colouring(self._shown)

    def ask(self) -> None:
        """Open the menu of ways, wherever the legend is."""
        self._fill()
        corner = self.button.mapToGlobal(QPoint(0, 0))
        self._menu.popup(corner - QPoint(0, self._menu.sizeHint().height()))

    def follow(self) -> None:
        """It is there when there is a host, and gives way to the steps of a first plan."""
        self.setVisible(bool(self._view.document.plan.hosts) and not self._view.foot_px)
        self._place()
        self._keep_free()

    def _keep_free(self) -> None:
        """Let fitting leave room for it where letters are so large that the margin is too low.

        The next fit does: the view stands still when the legend comes with the first host.
        """
        self._view.legend_px = 0 if self.isHidden() else self.height() + _FOOT + _APART

    def show_colouring(self, shown: Colouring) -> None:
        """Say what these colours mean."""
        before, self._shown = self._shown, shown
        if _kinds(before) == _kinds(shown) and self._theme == theme.tokens().name and shown.name:
            # At each step of a replay: what the colours mean stays.
            for place, button in enumerate(self.entries):
                self._tell(button, shown.legend[place])
            self.note.setText(shown.note)
            self._place()
            return
        self._theme = theme.tokens().name
        self.button.setText(f"{shown.title}  ▾" if shown.name else "Colour by  ▾")
        self.button.setAccessibleName(f"Coloured by {shown.title}" if shown.name else "Colour by")
        for button in self.entries:
            self._row.removeWidget(button)
            button.deleteLater()
        self.entries = [self._entry(place) for place in range(len(shown.legend))]
        for place, button in enumerate(self.entries, 1):
            self._row.insertWidget(place, button)
            button.show()
        self.note.setText(shown.note)
        self.follow()

    def _entry(self, place: int) -> QToolButton:
        button, entry = QToolButton(), self._shown.legend[place]
        button.setProperty("look", "legend")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setIcon(_icon(entry))
        button.setIconSize(QSize(_SWATCH_PX + _GAP_PX, _SWATCH_PX))
        button.clicked.connect(lambda: self._view.selection.set(self._shown.legend[place].ids))
        self._tell(button, entry)
        return button

    @staticmethod
    def _tell(button: QToolButton, entry: Entry) -> None:
        """How many have the colour now."""
        button.setEnabled(bool(entry.ids))
        button.setAccessibleName(f"{entry.text}: {len(entry.ids)}")
        button.setToolTip(f"{entry.text}: select these {len(entry.ids)}" if entry.ids else entry.text)

    def _texts(self, *, with_counts: bool) -> None:
        for button, entry in zip(self.entries, self._shown.legend, strict=True):
            button.setText(f"{entry.text}  {len(entry.ids)}" if with_counts else entry.text)

    def _fill(self) -> None:
        menu, shown = self._menu, self._shown.name
        menu.clear()
        heading(menu, "Colour by")
        self._offer(menu, "What it is", "", "", is_on=not shown)
        menu.addSeparator()
        for name, way in WAYS.items():
            if name == "change":
                self._offer_variants(menu, way.title, is_on=name == shown)
            else:
                self._offer(menu, way.title, name, "", is_on=name == shown, tip=way.tip)

    def _offer_variants(self, menu: QMenu, title: str, *, is_on: bool) -> None:
        document = self._view.document
        names = [n for place, n in enumerate(document.project.names) if place != document.shown]
        if len(names) == 1:
            self._offer(menu, f"{title} against {names[0]}", "change", names[0], is_on=is_on)
            return
        inner = menu.addMenu(f"{title} against")
        inner.setEnabled(bool(names))
        for name in names:
            self._offer(inner, name, "change", name)

    def _offer(
        self, menu: QMenu, text: str, name: str, against: str, *, is_on: bool = False, tip: str = ""
    ) -> None:
        action = menu.addAction(as_it_is(text))
        action.setCheckable(True)
        action.setChecked(is_on)
        action.setToolTip(tip or text)
        action.triggered.connect(partial(self._choose, name, against))

    def _choose(self, name: str, against: str, _checked: bool = False) -> None:
        self.chosen.emit(name, against)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._view and event.type() in _RESIZED:
            self._place()
            self._keep_free()
        return False

    def _place(self) -> None:
        if self.isHidden():
            return
        room = self._view.width() - _LEFT - _RIGHT
        seen = self._view.visible_rect().contains(self._view.canvas_scene.content_rect())
        room -= 0 if seen else _OVERVIEW_PX
        self.note.setVisible(bool(self._shown.note))
        self._texts(with_counts=True)
        if self.sizeHint().width() > room:
            self._texts(with_counts=False)
        if self.sizeHint().width() > room:
            self.note.hide()
        self.resize(min(self.sizeHint().width(), room), self.sizeHint().height())
        self.move(_LEFT, self._view.height() - self.height() - _FOOT)
        self.raise_()


def _kinds(shown: Colouring) -> tuple[str, list[tuple[str, str, int]]]:
    return shown.name, [(entry.tone, entry.text, entry.number) for entry in shown.legend]


def _icon(entry: Entry) -> QIcon:
    ratio = 2.0
    picture = QPixmap(round((_SWATCH_PX + _GAP_PX) * ratio), round(_SWATCH_PX * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    swatch(painter, QRectF(0, 0, _SWATCH_PX, _SWATCH_PX), entry, theme.tokens())
    painter.end()
    made = QIcon(picture)
    # What no host has keeps its colour: it says what there could be.
    made.addPixmap(picture, QIcon.Mode.Disabled)
    return made
