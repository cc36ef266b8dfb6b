"""Building blocks of inspector and analyses: sections, breakdown bars, callouts, link buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QLocale, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QValidator
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.quantity import Quantity
from ndbplan.base.units import decimal_comma, format_value
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.text import as_it_is, between_words
from ndbplan.desktop.widgets.explain import QuantityLabel, Say


def empty(layout: QLayout) -> None:
    """Remove and delete everything in a layout."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        inner = item.layout()
        if inner is not None:
            empty(inner)


def link(text: str, clicked: Callable[[], object], name: str = "") -> QPushButton:
    """A button that looks like a link."""
    button = QPushButton(text)
    button.setProperty("look", "link")
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setAccessibleName(name or text)
    button.clicked.connect(lambda: clicked())
    return button


def chip(text: str, name: str = "", tip: str = "", *, on: bool = False) -> QToolButton:
    """A small button that stays down."""
    button = QToolButton()
    button.setText(text)
    button.setCheckable(True)
    button.setChecked(on)
    button.setProperty("look", "chip")
    button.setAccessibleName(name)
    button.setToolTip(tip)
    return button


def label(text: str, look: str, *, wrap: bool = True) -> QLabel:
    """A label in one of the looks of the style sheet."""
    made = QLabel(text)
    made.setProperty("look", look)
    made.setWordWrap(wrap)
    made.setTextFormat(Qt.TextFormat.PlainText)
    return made


class StateLine(QLabel):
    """The line at the foot of a dialog that says how it goes, or what went wrong."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.say(text)

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Show a line."""
        self.setText(text)
        self.setProperty("look", "fieldError" if is_error else "muted")
        theme.restyle(self)


def spin_box() -> QSpinBox:
    """A box for a small whole number."""
    made = QSpinBox()
    # The style sheet's padding does not reach the editor inside.
    made.lineEdit().setTextMargins(6, 0, 0, 0)
    return made


class FactorBox(QDoubleSpinBox):
    """A box for a small number with decimals: `1.5`, as everywhere, and `1,5` where people write so."""

    def __init__(self) -> None:
        super().__init__()
        self.setLocale(QLocale.c())
        self.lineEdit().setTextMargins(6, 0, 0, 0)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        """Take a comma for the point that it stands for."""
        return super().validate(text.replace(",", ".") if decimal_comma() else text, position)


class Elided(QLabel):
    """A label of one line that gives way: what does not fit is cut with …, and shown as the tip."""

    def __init__(self, look: str = "muted") -> None:
        super().__init__()
        self.setProperty("look", look)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._shorter: tuple[str, ...] = ()

    def setText(self, text: str, *shorter: str) -> None:
        """`shorter`: what is shown where the text does not fit, the longest first."""
        super().setText(text)
        self._shorter = shorter
        self.setToolTip(text)

    def shown(self) -> str:
        """The text as far as there is room for it."""
        metrics, texts = self.fontMetrics(), (self.text(), *self._shorter)
        fitting = (text for text in texts if metrics.horizontalAdvance(text) <= self.width())
        whole = next(fitting, None)
        return whole if whole is not None else between_words(texts[-1], metrics, self.width())

    def least_width(self) -> int:
        """What the shortest of its texts takes, in pixels."""
        return min(self.fontMetrics().horizontalAdvance(text) for text in (self.text(), *self._shorter))

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        place = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(self.rect(), place, self.shown())


class NameButton(QPushButton):
    """A button with the name of something, cut in its middle where there is no room for all of it."""

    def __init__(self, name: str) -> None:
        super().__init__(as_it_is(name))
        self._name = name

    def minimumSizeHint(self) -> QSize:
        return QSize(60, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        return QSize(self._beside() + self._words(self._name), super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.width() - self._beside()
        middle = Qt.TextElideMode.ElideMiddle
        self.setText(as_it_is(self.fontMetrics().elidedText(self._name, middle, room)))

    def _words(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text)

    def _beside(self) -> int:
        """Pixels that icon and frame take."""
        return super().sizeHint().width() - self._words(self.text().replace("&&", "&"))


class Section(QWidget):
    """A part of a page under a small heading, with room for a link on the right."""

    toggled = Signal(bool)

    def __init__(self, heading: str, *, collapsible: bool = False, expanded: bool = True) -> None:
        super().__init__()
        self.heading = label(heading.upper(), "sectionHeading", wrap=False)
        self._top = QHBoxLayout()
        self._top.setContentsMargins(0, 0, 0, 0)
        self._top.setSpacing(6)
        self.content = QWidget()
        self.body = QVBoxLayout(self.content)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(8)
        self._toggle: QPushButton | None = None
        if collapsible:
            self._toggle = QPushButton(heading.upper())
            self._toggle.setProperty("look", "sectionToggle")
            self._toggle.setCheckable(True)
            self._toggle.setAccessibleName(heading)
            self._toggle.toggled.connect(self._toggled)
            self._top.addWidget(self._toggle, 1)
        else:
            self._top.addWidget(self.heading, 1)
        line = QFrame()
        line.setProperty("look", "rule")
        line.setFixedHeight(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 2, 0, 4)
        layout.setSpacing(8)
        layout.addWidget(line)
        layout.addLayout(self._top)
        layout.addWidget(self.content)
        if self._toggle is not None:
            self._toggle.setChecked(expanded)
            self._toggled(expanded)

    def add_action(self, widget: QWidget) -> None:
        """Put a link or a small control to the right of the heading."""
        self._top.addWidget(widget)

    def expand(self) -> None:
        """Show what is in it."""
        if self._toggle is not None:
            self._toggle.setChecked(True)

    def _toggled(self, expanded: bool) -> None:
        self.content.setVisible(expanded)
        self.toggled.emit(expanded)
        if self._toggle is not None:
            self._toggle.setIcon(theme.icon("chevron-down" if expanded else "chevron-right"))


class Bar(QWidget):
    """A thin horizontal bar, filled from the left."""

    def __init__(self, fraction: float = 0.0, colour: str = "accent", height: int = 4) -> None:
        super().__init__()
        self._fraction, self._colour = fraction, colour
        self._height = height
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_fraction(self, fraction: float, colour: str | None = None) -> None:
        """Fill it to a fraction of its width; `colour` is a token's name."""
        self._fraction, self._colour = fraction, colour or self._colour
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(60, self._height)

    def minimumSizeHint(self) -> QSize:
        return QSize(20, self._height)

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        radius = self.height() / 2
        painter.setBrush(QColor(colours.line))
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        filled = max(0.0, min(1.0, self._fraction)) * self.width()
        if filled > 0:
            painter.setBrush(QColor(getattr(colours, self._colour)))
            painter.drawRoundedRect(QRectF(0, 0, max(filled, self.height()), self.height()), radius, radius)


class QuantityRow(QWidget):
    """A name, a number that explains itself, and (with a fraction) a bar below."""

    def __init__(
        self,
        name: str,
        quantity: Quantity | None,
        fraction: float | None = None,
        colour: str = "accent",
        detail: str = "",
        say: Say = format_value,
    ) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        top = QHBoxLayout()
        top.setSpacing(8)
        # A name that cannot wrap would make everything beside it wider than the inspector, and so cut.
        top.addWidget(label(name, "rowName"), 1)
        if detail:
            top.addWidget(label(detail, "muted", wrap=False))
        self.number = QuantityLabel(name, quantity, say)
        top.addWidget(self.number)
        layout.addLayout(top)
        if fraction is not None:
            layout.addWidget(Bar(fraction, colour))


class Callout(QFrame):
    """A framed message: what happens, and what to make of it."""

    def __init__(self, heading: str, text: str = "", look: str = "error") -> None:
        super().__init__()
        self.setProperty("look", f"callout-{look}")
        self.setAccessibleName(f"{heading}. {text}")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 9, 12, 10)
        layout.setSpacing(3)
        layout.addWidget(label(heading, f"calloutHeading-{look}"))
        if text:
            layout.addWidget(label(text, "calloutText"))
