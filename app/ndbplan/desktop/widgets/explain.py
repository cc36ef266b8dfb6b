"""Any number can be opened: the derivation of a Quantity as a tree of term, value and source.

label = QuantityLabel("Reorganisation takes"); label.show_quantity(quantity)   # click or Enter opens it
explain(quantity, "Reorganisation takes", near=button)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QBrush, QColor, QGuiApplication, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTextBrowser,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.units import format_value, with_unit
from ndbplan.desktop.look import theme

Say = Callable[[float, str], str]
"""How a value of a unit is told: bytes of memory in GiB, those of a disk in GB."""
_WIDTH, _ROW, _MOST_ROWS = 640, 24, 14
_HOW_HEIGHT = 190


class QuantityLabel(QLabel):
    """A number that opens its derivation when clicked, or with Enter or Space."""

    def __init__(self, title: str, quantity: Quantity | None = None, say: Say = format_value) -> None:
        super().__init__()
        self._title, self._say = title, say
        self._quantity: Quantity | None = None
        self.near_runs = ""
        """How near it lies to runs that were measured."""
        self.setProperty("look", "quantity")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_quantity(quantity)

    @property
    def quantity(self) -> Quantity | None:
        """The number shown."""
        return self._quantity

    def show_quantity(self, quantity: Quantity | None, title: str | None = None) -> None:
        """Show another number; None: it is not known."""
        self._quantity = quantity
        self._title = title or self._title
        if quantity is None:
            self.setText("–")
            self.setToolTip("")
            self.setAccessibleName(f"{self._title}: not known")
            return
        text = self._say(quantity.value, quantity.unit)
        self.setText(text)
        self.setToolTip(f"{range_text(quantity, self._say)}\nClick to see where it comes from.")
        self.setAccessibleName(f"{self._title}: {text}; explain")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # The press belongs to the number, not to what lies behind it.
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.open()
        else:
            super().keyPressEvent(event)

    def open(self) -> None:
        """Open the derivation."""
        if self._quantity is not None:
            explain(self._quantity, self._title, near=self, say=self._say, near_runs=self.near_runs)


def range_text(quantity: Quantity, say: Say = format_value) -> str:
    """`between 210 s and 300 s`, or that the number is exact."""
    if quantity.low == quantity.high:
        return "exact"
    low, high = (say(v, quantity.unit) for v in (quantity.low, quantity.high))
    return f"likely between {low} and {high}"


def explain(
    quantity: Quantity, title: str, near: QWidget, say: Say = format_value, near_runs: str = ""
) -> Explanation:
    """Open the derivation of a number beside a widget; Escape or a click elsewhere closes it."""
    popover = Explanation(quantity, title, near, say=say, near_runs=near_runs)
    popover.show_near(near)
    return popover


class Explanation(QFrame):
    """The popover with a derivation."""

    def __init__(
        self,
        quantity: Quantity,
        title: str,
        parent: QWidget,
        how: str = "",
        say: Say = format_value,
        near_runs: str = "",
    ) -> None:
        """`how`: how it is done, as Markdown, below where the number comes from; `near_runs`: its mark."""
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("explanation")
        self.setAccessibleName(f"Where {title} comes from")
        self._quantity, self._title, self._say = quantity, title, say
        self.mark = QLabel(near_runs)
        self.mark.setTextFormat(Qt.TextFormat.PlainText)
        self.mark.setProperty("look", "muted")
        self.mark.setWordWrap(True)
        self.mark.setVisible(bool(near_runs))
        heading = QLabel(title)
        heading.setProperty("look", "heading")
        value = QLabel(say(quantity.value, quantity.unit))
        value.setProperty("look", "bigNumber")
        spread = QLabel(range_text(quantity, say))
        spread.setProperty("look", "muted")
        copy = QPushButton("Copy")
        copy.setProperty("kind", "quiet")
        copy.setToolTip("Copy the derivation as text")
        copy.setAccessibleName("Copy the derivation as text")
        copy.clicked.connect(self.copy)
        top = QHBoxLayout()
        top.addWidget(heading, 1)
        top.addWidget(copy)
        numbers = QHBoxLayout()
        numbers.setSpacing(10)
        numbers.addWidget(value)
        numbers.addWidget(spread, 1, Qt.AlignmentFlag.AlignBottom)
        self.tree = QTreeWidget()
        self.tree.setHeaderLabels(["Term", "Value", "Source"])
        self.tree.setAccessibleName("Derivation")
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(14)
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        _fill(self.tree.invisibleRootItem(), quantity.why, say)
        if _count(quantity.why) <= _MOST_ROWS:
            self.tree.expandToDepth(0)
        self._detail = QLabel()
        self._detail.setTextFormat(Qt.TextFormat.PlainText)
        self._detail.setProperty("look", "muted")
        self._detail.setWordWrap(True)
        self._detail.setMinimumHeight(34)
        self._detail.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.tree.currentItemChanged.connect(self._show_detail)
        header = self.tree.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.setColumnWidth(0, 280)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 14)
        layout.setSpacing(8)
        layout.addLayout(top)
        layout.addLayout(numbers)
        layout.addWidget(self.mark)
        if quantity.why:
            layout.addWidget(self.tree)
            layout.addWidget(self._detail)
        else:
            layout.addWidget(QLabel("It is counted, not derived."))
        if how:
            done = QTextBrowser()
            done.setMarkdown(how)
            done.setAccessibleName(f"How it is done: {title}")
            done.document().setTextWidth(_WIDTH - 60)
            done.setFixedHeight(min(_HOW_HEIGHT, round(done.document().size().height()) + 14))
            layout.addWidget(done)
        whole, most = _count(quantity.why), _MOST_ROWS // 2 if how else _MOST_ROWS
        rows = whole if whole <= most else min(most, len(quantity.why) + 3)
        # A tree asks for more than a short derivation needs.
        self.tree.setFixedHeight((rows + 1) * _ROW + 10)
        self.mark.setFixedWidth(_WIDTH - 32)
        self.resize(_WIDTH, self.sizeHint().height())

    def show_near(self, widget: QWidget) -> None:
        """Show it under the widget, or over it, inside the screen."""
        self.show_at(widget.mapToGlobal(QPoint(0, widget.height() + 4)), widget.height() + 8)

    def show_at(self, below: QPoint, clearance: int = 32) -> None:
        """Show it under a point of the screen, or (when there is no room) `clearance` above it."""
        screen = QGuiApplication.screenAt(below) or QGuiApplication.primaryScreen()
        free = screen.availableGeometry()
        x = max(free.left(), min(below.x(), free.right() - self.width()))
        y = below.y()
        if y + self.height() > free.bottom():
            y = max(free.top(), below.y() - clearance - self.height())
        self.move(x, y)
        self.show()
        self.tree.setFocus()

    def _show_detail(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            source = f" — {item.text(2)}" if item.text(2) else ""
            self._detail.setText(f"{item.text(0)}: {item.text(1)}{source}")

    def copy(self) -> None:
        """Put the derivation on the clipboard as text."""
        text = as_text(self._quantity, self._title, self._say)
        QGuiApplication.clipboard().setText(
            f"{text.rstrip()}\n{self.mark.text()}\n" if self.mark.text() else text
        )


def as_text(quantity: Quantity, title: str, say: Say = format_value) -> str:
    """The derivation as indented text."""
    value = say(quantity.value, quantity.unit)
    return (
        "\n".join([f"{title}: {value} ({range_text(quantity, say)})", *_lines(quantity.why, 1, say)]) + "\n"
    )


def _lines(terms: Iterable[Term], depth: int, say: Say) -> Iterable[str]:
    for term in terms:
        source = f"   [{term.source}]" if term.source else ""
        yield f"{'  ' * depth}{term.term}: {_value_text(term, say)}{source}"
        yield from _lines(term.why, depth + 1, say)


def _fill(parent: QTreeWidgetItem, terms: Iterable[Term], say: Say) -> None:
    colours = theme.tokens()
    muted = QBrush(QColor(colours.muted))
    for term in terms:
        value = _value_text(term, say)
        item = QTreeWidgetItem(parent, [term.term, value, term.source])
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        item.setToolTip(0, term.term)
        item.setToolTip(1, with_unit(f"{term.value:.10g}", term.unit))
        item.setToolTip(2, term.source)
        item.setForeground(2, QBrush(QColor(colours.warning)) if "assum" in term.source else muted)
        _fill(item, term.why, say)


def _value_text(term: Term, say: Say) -> str:
    """Tiny times per something are written in ns, µs or ms, a factor as × 1.2."""
    if term.unit == "factor":
        return f"× {term.value:.4g}"
    if term.unit.startswith("s/") and 0 < abs(term.value) < 1:
        for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
            if abs(term.value) * factor < 1000:
                return f"{term.value * factor:.3g} {unit}{term.unit[1:]}"
    return say(term.value, term.unit)


def _count(terms: Iterable[Term]) -> int:
    return sum(1 + len(term.why) for term in terms)
