"""See it before you do it: a card beside a button that says what its change would do to the headline figures.

    preview_on(button, estimates.previews, "Add a node group", add_node_group)

It comes while the pointer rests on the widget or the widget has the focus, and goes when neither does. The
card takes no clicks and no focus; nothing of the plan or its history changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QComboBox, QFrame, QGridLayout, QLabel, QLayout, QMenu, QVBoxLayout, QWidget

from ndbplan.base.units import how_many
from ndbplan.desktop.document.previews import Edit, Previews
from ndbplan.desktop.look.text import sentence
from ndbplan.desktop.widgets.sections import label

if TYPE_CHECKING:
    from ndbplan.desktop.document.previews import Seen

Make = Callable[[], Edit]
"""Gives the edit that is looked at, in the GUI thread."""
_REST_MS = 120
"""So long the pointer rests before anything is worked out: one that only passes asks for nothing."""
_WIDTH = 340
"""At least."""
_GAP = 6
_CHANGES = 3
"""Changed values that are told one by one."""
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LOOKS = {"▲": "lossGood", "▼": "lossStops"}
_SHOWN_FIRST = ("max-load", "first-error", "restart", "memory", "disk-space", "redo-time", "survive", "cost")
"""Order of the figures on the card, whatever is known first."""


class PreviewCard(QFrame):
    """The card itself."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("explanation")
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName("What the change would do")
        self.title = label("", "cardTitle")
        self.changes = label("", "muted")
        self.problems = label("", "rowName")
        self.state = label("", "muted")
        self.grid = QGridLayout()
        self.grid.setHorizontalSpacing(10)
        self.grid.setVerticalSpacing(3)
        self.grid.setColumnStretch(0, 1)
        column = QVBoxLayout(self)
        # It takes place and size at once: one that grew before it moved up lay on the button, which was left.
        column.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addWidget(self.changes)
        column.addWidget(self.problems)
        column.addLayout(self.grid)
        column.addWidget(self.state)

    def begin(self, title: str, near: QRect) -> None:
        """Say of which change the figures will be, beside a place of the screen."""
        self.title.setText(title)
        self.changes.hide()
        self.problems.hide()
        self._clear()
        self._say("Looking at what it would do…")
        self._near = near
        self._place()
        self.show()

    def show_seen(self, seen: Seen, all_known: bool) -> None:
        """Show what is known; figures that stay the same are told in one line."""
        from ndbplan.describe.preview import number, sign, span

        self._clear()
        more = len(seen.changes) - _CHANGES
        told = [*seen.changes[:_CHANGES], *([f"and {how_many(more, 'more value')}"] if more > 0 else [])]
        self.changes.setText("\n".join(told))
        self.changes.setVisible(bool(told))
        self.problems.setText("\n".join(f"{sentence(one)}." for one in seen.problems))
        self.problems.setVisible(bool(seen.problems))
        lines = seen.lines
        shown = sorted(lines, key=lambda line: _SHOWN_FIRST.index(line.figure.name))
        others = [line for line in shown if not line.is_same]
        for row, line in enumerate(others):
            before, after = number(line, line.before), number(line, line.after)
            self._put(row, 0, line.figure.title, "rowName")
            self._put(row, 1, f"{before} → {after}", "factValue").setAlignment(_RIGHT)
            mark = self._put(row, 2, sign(line), _LOOKS.get(sign(line), "muted"))
            mark.setAccessibleName(line.judged or "")
            if span(line):
                self._put(row, 3, span(line), "muted")
        same = [line.figure.title for line in shown if line.is_same]
        if not all_known:
            self._say("Simulating…")
        elif not others:
            under = f" under “{seen.under}”" if seen.under else ""
            self._say(f"None of the headline figures changes{under}.")
        elif same:
            self._say(f"As before: {', '.join(one[:1].lower() + one[1:] for one in same)}.")
        else:
            self._say("")
        self._place()

    def refuse(self, line: str) -> None:
        """Say why the change cannot be made."""
        self._clear()
        self._say(line)
        self._place()

    @property
    def texts(self) -> list[str]:
        """Everything it says, row by row."""
        items = (self.grid.itemAt(i) for i in range(self.grid.count()))
        return [one.text() for item in items if item and isinstance(one := item.widget(), QLabel)]

    def _put(self, row: int, column: int, text: str, look: str) -> QLabel:
        shown = label(text, look, wrap=False)
        if column == 3:
            # The range stands below its number: beside it there is no room.
            self.grid.addWidget(shown, 2 * row + 1, 0, 1, 2, _RIGHT)
        else:
            self.grid.addWidget(shown, 2 * row, column)
        # Qt shows it later: until then the card would be made as large as without it.
        shown.show()
        return shown

    def _say(self, text: str) -> None:
        self.state.setText(text)
        self.state.setVisible(bool(text))

    def _clear(self) -> None:
        while (item := self.grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def _place(self) -> None:
        """Below its place, else above or beside it; inside the screen, and never on the place.

        A long menu leaves room at its sides alone.
        """
        layout = self.layout()
        assert layout is not None
        layout.activate()
        # Figures are told whole: a card is wider where the numbers of one are long.
        width = max(_WIDTH, layout.totalMinimumSize().width())
        height = layout.totalHeightForWidth(width)
        screen = QGuiApplication.screenAt(self._near.center()) or QGuiApplication.primaryScreen()
        free = screen.availableGeometry()
        near, right, lowest = self._near, free.right() - width, free.bottom() - height
        x, y = near.left(), near.bottom() + _GAP
        if y > lowest:
            y = near.top() - _GAP - height
        if y < free.top():
            x, y = near.right() + _GAP, near.top()
            if x > right:
                x = near.left() - _GAP - width
        self.setGeometry(max(free.left(), min(x, right)), max(free.top(), min(y, lowest)), width, height)


class Looker(QObject):
    """One card for a window; shows previews of whatever is looked at."""

    def __init__(self, previews: Callable[[], Previews], window: QWidget) -> None:
        super().__init__(window)
        self._previews = previews
        self.card = PreviewCard(window)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._ask)
        self._wanted: tuple[str, Make, Callable[[], QRect]] | None = None

    def look(self, title: str, make: Make, place: Callable[[], QRect]) -> None:
        """Somebody looks at a change, which is offered at this place of the screen."""
        self.leave()
        self._wanted = (title, make, place)
        self._rest.start()

    def leave(self) -> None:
        """Nobody looks any more: what is being worked out is dropped."""
        if self._wanted is None:
            return
        self._rest.stop()
        self._wanted = None
        self._previews().cancel()
        self.card.hide()

    def look_at_once(self) -> None:
        """Without the rest: for keys and tests."""
        if self._rest.isActive():
            self._rest.stop()
            self._ask()

    def _ask(self) -> None:
        if self._wanted is None:
            return
        title, make, place = self._wanted
        self.card.begin(title, place())
        self._previews().ask(make(), self.card.show_seen, self.card.refuse)


def looker(previews: Callable[[], Previews], widget: QWidget) -> Looker:
    """The one of the window in which a widget is."""
    return _there(widget) or Looker(previews, widget.window())


def _there(widget: QWidget) -> Looker | None:
    found = widget.window().findChild(Looker, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return found if isinstance(found, Looker) else None


def look_away(widget: QWidget) -> None:
    """Nobody looks at a widget any more; where nobody ever did, nothing is to be done."""
    one = _there(widget)
    if one is not None:
        one.leave()


class _Watch(QObject):
    """Tells the looker of a window when its widget is looked at."""

    _ARRIVE = (QEvent.Type.Enter, QEvent.Type.FocusIn)
    _GO = (
        QEvent.Type.Leave, QEvent.Type.FocusOut, QEvent.Type.Hide, QEvent.Type.MouseButtonPress,
        QEvent.Type.WindowDeactivate,
    )  # fmt: skip

    def __init__(self, widget: QWidget, previews: Callable[[], Previews], title: str, make: Make) -> None:
        super().__init__(widget)
        self._widget, self._previews, self._title, self._make = widget, previews, title, make
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is not self._widget:
            return False
        if event.type() in self._ARRIVE and self._widget.isEnabled():
            looker(self._previews, self._widget).look(self._title, self._make, self._place)
        elif event.type() in self._GO:
            look_away(self._widget)
        elif event.type() == QEvent.Type.ToolTip:
            one = _there(self._widget)
            # The card says what the tip would, and more.
            return one is not None and one.card.isVisible()
        return False

    def _place(self) -> QRect:
        return QRect(self._widget.mapToGlobal(QPoint(0, 0)), self._widget.size())


def preview_on(widget: QWidget, previews: Previews, title: str, edit: Edit) -> None:
    """Show what an edit would do while somebody looks at the widget that offers it."""
    _Watch(widget, lambda: previews, title, lambda: edit)


def preview_made(widget: QWidget, previews: Callable[[], Previews], title: str, make: Make) -> None:
    """The same of an edit that is made when somebody looks: it depends on what is selected then."""
    _Watch(widget, previews, title, make)


def preview_menu(menu: QMenu, beside: QWidget, previews: Previews, edit_of: Callable[[str], Edit]) -> None:
    """The same of the entries of a menu that belongs to a widget; `edit_of`: the edit of an entry's text."""

    def hovered(action: QAction) -> None:
        text = action.text()
        looker(lambda: previews, beside).look(text, lambda: edit_of(text), menu.geometry)

    menu.hovered.connect(hovered)
    menu.aboutToHide.connect(lambda: look_away(beside))


def preview_choices(box: QComboBox, previews: Previews, edit_of: Callable[[int], Edit]) -> None:
    """The same of the entries of an open list of choices; `edit_of`: the edit of an entry by its place."""

    def hovered(index: int) -> None:
        # A box tells of its entries too when it is filled.
        if box.view().isVisible():
            place = box.view().window().geometry
            looker(lambda: previews, box).look(box.itemText(index), lambda: edit_of(index), place)

    box.highlighted.connect(hovered)
    box.activated.connect(lambda _index: look_away(box))
    _Closing(box.view(), lambda: look_away(box))


class _Closing(QObject):
    """Does something when a widget is hidden."""

    def __init__(self, widget: QWidget, do: Callable[[], object]) -> None:
        super().__init__(widget)
        self._do = do
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Hide:
            self._do()
        return False
