"""The gallery: what a first start shows — samples to open, files used last, an empty plan."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.resources import resource_path
from ndbplan.base.units import unbroken
from ndbplan.desktop.canvas.look import process_colour
from ndbplan.desktop.layout.layout import Layout, Layouter
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.look.text import as_it_is, between_words
from ndbplan.plan.file import SUFFIX
from ndbplan.plan.samples import GROUPS, sample_plan

_CARD = QSize(300, 236)
_PICTURE_HEIGHT = 104.0


@dataclass(frozen=True)
class Blurb:
    """What a card says about a sample."""

    name: str
    title: str
    text: str
    source: str


@cache
def blurb(name: str) -> Blurb:
    """Title, description and source of a sample, read from its file without building the plan."""
    document = json.loads(resource_path(f"samples/{name}{SUFFIX}").read_text(encoding="utf-8"))
    paragraphs = [p.strip().replace("\n", " ") for p in document.get("notes", "").split("\n\n") if p.strip()]
    source = ""
    if paragraphs and paragraphs[0].startswith("Source:"):
        source = paragraphs.pop(0).removeprefix("Source:").strip()
    return Blurb(name, document.get("name", name), unbroken(paragraphs[0]) if paragraphs else "", source)


class Gallery(QScrollArea):
    """Cards of the samples, and the ways to begin without one."""

    sample_chosen = Signal(str)
    file_chosen = Signal(object)
    empty_chosen = Signal()
    file_wanted = Signal()
    import_wanted = Signal()
    closed = Signal()

    def __init__(self, recent: list[Path], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gallery")
        self.setAccessibleName("Samples and recent files")
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.cards: list[SampleCard] = []
        self._grids: list[tuple[QGridLayout, list[SampleCard]]] = []
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(40, 34, 40, 40)
        column.setSpacing(6)
        column.addLayout(self._head())
        self._recent_box = QVBoxLayout()
        self._recent_box.setSpacing(2)
        column.addLayout(self._recent_box)
        self.show_recent(recent)
        for text, names in GROUPS.items():
            column.addSpacing(14)
            heading = QLabel(text.upper())
            heading.setProperty("role", "heading")
            column.addWidget(heading)
            column.addSpacing(4)
            column.addLayout(self._group(names))
        column.addStretch(1)
        self.setWidget(inner)
        self._columns = 0
        # One plan is read for each turn of the event loop, so that the window answers meanwhile.
        self._waiting = list(self.cards)
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._draw_next)
        theme.theme().changed.connect(inner.update)
        self._arrange()

    def _group(self, names: tuple[str, ...]) -> QGridLayout:
        """The cards of some samples."""
        cards = [SampleCard(blurb(name)) for name in names]
        for card in cards:
            card.chosen.connect(self.sample_chosen)
        grid = QGridLayout()
        grid.setSpacing(16)
        grid.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._grids.append((grid, cards))
        self.cards += cards
        return grid

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        words = QVBoxLayout()
        words.setSpacing(3)
        title = QLabel("Plan an NDB Cluster")
        title.setStyleSheet("font-size: 22px; font-weight: 600;")
        title.setProperty("role", "title")
        tagline = QLabel("Draw it, load it, see what breaks first, export what runs it.")
        tagline.setProperty("role", "muted")
        words.addWidget(title)
        words.addWidget(tagline)
        row.addLayout(words)
        row.addStretch(1)
        for text, kind, signal in (
            ("New empty plan", "primary", self.empty_chosen),
            ("Open a plan…", "", self.file_wanted),
            ("Import a cluster…", "", self.import_wanted),
            ("Back to the plan", "quiet", self.closed),
        ):
            button = QPushButton(text)
            if kind:
                button.setProperty("kind", kind)
            button.clicked.connect(lambda _checked=False, wanted=signal: wanted.emit())
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
            self.back = button
        return row

    def show_recent(self, recent: list[Path]) -> None:
        """List the files used last."""
        while (item := self._recent_box.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        if not recent:
            return
        heading = QLabel("RECENT")
        heading.setProperty("role", "heading")
        heading.setContentsMargins(0, 14, 0, 2)
        self._recent_box.addWidget(heading)
        for path in recent[:4]:
            button = QPushButton(as_it_is(f"{path.name}   —   {path.parent}"))
            button.setProperty("kind", "link")
            button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda _checked=False, p=path: self.file_chosen.emit(p))
            self._recent_box.addWidget(button)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: object) -> None:
        if self._waiting:
            self._timer.start()

    def hideEvent(self, event: object) -> None:
        self._timer.stop()

    def _draw_next(self) -> None:
        if self._waiting:
            self._waiting.pop(0).draw()
        if not self._waiting:
            self._timer.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        columns = max(1, (self.viewport().width() - 80 + 16) // (_CARD.width() + 16))
        if columns != self._columns:
            self._columns = columns
            for grid, cards in self._grids:
                for i, card in enumerate(cards):
                    grid.addWidget(card, i // columns, i % columns)
        width = (self.viewport().width() - 80 - 16 * (columns - 1)) // columns
        for card in self.cards:
            card.setFixedWidth(max(_CARD.width(), width))


class SampleCard(QWidget):
    """One sample: a small picture of its canvas, a title, what it is about."""

    chosen = Signal(str)

    def __init__(self, about: Blurb, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.about = about
        self._layout: Layout | None = None
        self.setObjectName(f"sample-{about.name}")
        self.setAccessibleName(f"Sample {about.title}")
        self.setAccessibleDescription(about.text)
        if about.source:
            self.setToolTip(f"Source: {about.source}")
        self.setFixedSize(_CARD)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    @property
    def is_drawn(self) -> bool:
        """Whether the picture is there."""
        return self._layout is not None

    def draw(self) -> None:
        """Read the plan and lay it out for the picture."""
        self._layout = Layouter().layout(sample_plan(self.about.name))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(self.rect())
        edge = t.accent if self.hasFocus() else t.line_strong if self.underMouse() else t.line
        paint.box(painter, rect, t.card, edge, 10, 1.5 if self.hasFocus() else 1.0)
        picture = QRectF(10, 10, rect.width() - 20, _PICTURE_HEIGHT)
        paint.box(painter, picture, t.canvas, None, 6)
        if self._layout is not None:
            self._draw_picture(painter, picture.adjusted(10, 10, -10, -10), self._layout)
        words = QRectF(16, picture.bottom() + 10, rect.width() - 32, 22)
        paint.text(painter, words, self.about.title, t.text_strong, 14, 600)
        below = QRectF(16, words.bottom() + 2, words.width(), rect.bottom() - words.bottom() - 14)
        _paragraph(painter, below, self.about.text, t.muted, 12)

    def _draw_picture(self, painter: QPainter, room: QRectF, layout: Layout) -> None:
        t = theme.tokens()
        bounds = layout.around_machines()
        scale = min(room.width() / bounds.width, room.height() / bounds.height, 0.22)
        painter.save()
        painter.translate(
            room.center().x() - bounds.width * scale / 2 - bounds.x * scale,
            room.center().y() - bounds.height * scale / 2 - bounds.y * scale,
        )
        painter.scale(scale, scale)
        for place in layout.locations.values():
            paint.box(painter, paint.qrect(place.rect), t.location, t.line_strong, 12, 1 / scale)
        for box in layout.hosts.values():
            paint.box(painter, paint.qrect(box.rect), t.card_hover, t.line_strong, 10, 0.7 / scale)
            for chip in box.card.chips:
                rect = paint.qrect(chip.rect.moved(box.x, box.y))
                paint.box(painter, rect, process_colour(chip, t), None, 7)
            for tile in box.card.tiles:
                paint.box(painter, paint.qrect(tile.rect.moved(box.x, box.y)), t.line, None, 7)
        painter.restore()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.about.name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.about.name)
        elif event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Down):
            self.focusNextChild()
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Up):
            self.focusPreviousChild()
        else:
            super().keyPressEvent(event)


def _paragraph(painter: QPainter, rect: QRectF, words: str, ink: str, size_px: int) -> None:
    """As many lines as fit; the last one ends in an ellipsis when there is more."""
    font = theme.font(size_px)
    height = size_px * 1.45
    lines = max(1, int(rect.height() // height))
    layout = QTextLayout(words, font)
    layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignLeft))
    layout.beginLayout()
    painter.setPen(paint.pen(ink))
    painter.setFont(font)
    y = rect.top()
    for number in range(lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(rect.width())
        start = line.textStart()
        text = words[start : start + line.textLength()]
        if number == lines - 1 and start + line.textLength() < len(words):
            text = between_words(words[start:], QFontMetrics(font), round(rect.width()))
        place = QRectF(QPointF(rect.left(), y), QPointF(rect.right(), y + height))
        paint.text(painter, place, text.strip(), ink, size_px)
        y += height
    layout.endLayout()
