"""What a chart says of its lines: names and values in its header, or in the chart where that has no room."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QLabel, QWidget

from ndbplan.base.units import unbroken
from ndbplan.desktop.look import theme

AXIS_WIDTH = 58
"""Of the values on the left of a chart."""
_EDGE = 10
"""Left free beside a legend, which may lie over the axis: that begins below it, as the lines do."""
_LEGEND_PAD = 16
"""What stands around the words of a legend."""
Said = tuple[str, str, str]
"""Name of a line, its value in words, its colour."""


class Readout(QLabel):
    """The text in the header, with the legend that stands in the chart instead."""

    clicked = Signal()
    room_wanted = Signal(int)
    """Pixels over the lines that the legend takes."""

    def __init__(self, plot: QWidget) -> None:
        super().__init__()
        self._plot = plot
        self.setProperty("look", "readout")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setMinimumWidth(10)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.legend = QLabel(plot)
        self.legend.setProperty("look", "legend")
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.legend.setWordWrap(True)
        self.legend.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self.legend.hide()
        self._above = 4

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()

    def say(self, when: str, parts: list[Said]) -> None:
        """What the lines show at a time, or (`max`) at most; nothing: no line is known."""
        if not parts and not when:
            self.setText("")
            self._show_legend([], [])
            return
        self.setText(self._fitting(when, parts))
        said = ", ".join(f"{name} {text}" for name, text, _ in parts)
        self.setToolTip(f"{when}: {said}. A click selects what they are of.")

    def _fitting(self, when: str, parts: list[Said]) -> str:
        """Names with values as far as the header has room for all of them, else the values or names alone.

        Where no name stands in the header they stand in the chart: every line can be told apart.
        """
        metrics = self.fontMetrics()
        whole = self.parentWidget()
        head = whole.width() - self.x() if self.x() and whole is not None else self.width()
        names, values = [name for name, _, _ in parts], [value for _, value, _ in parts]
        both = [f"{name} {value}" for name, value, _ in parts]
        # Under the crosshair values matter most; else who is who does.
        order = [(both, True), (names, False)] if when == "max" else [(both, True), (values, True)]
        for texts, timed in order:
            shown = [when, *texts] if timed else texts
            if metrics.horizontalAdvance("   ".join(shown)) > head - 8:
                continue
            in_chart = [] if texts is both or texts is names or len(parts) < 2 else names
            self._show_legend(in_chart, parts)
            colours = [*([theme.tokens().muted] if timed else []), *(colour for _, _, colour in parts)]
            return " &nbsp;".join(_ink(text, colour) for text, colour in zip(shown, colours, strict=True))
        if when == "max":
            self._show_legend(self._fitting_in_chart(names) if len(parts) > 1 else [], parts)
            return ""
        self._show_legend(self._fitting_in_chart(both, names), parts)
        return _ink(when, theme.tokens().muted) if metrics.horizontalAdvance(when) <= head - 8 else ""

    def _fitting_in_chart(self, *choices: list[str]) -> list[str]:
        """The first of these that the chart has room for; else the last, a first word said once in a row."""
        metrics, room = self.legend.fontMetrics(), self._plot.width() - _EDGE - _LEGEND_PAD
        for texts in choices:
            if metrics.horizontalAdvance("   ".join(texts)) <= room:
                return texts
        # `part 0 1 2 last run`
        last = choices[-1]
        shared = [before.partition(" ")[0] + " " for before in last]
        return [last[0], *(text.removeprefix(word) for word, text in zip(shared, last[1:], strict=False))]

    def _show_legend(self, texts: list[str], parts: list[Said]) -> None:
        """What is said of the lines inside of the chart, for a header without room; nothing: no legend."""
        colours = [colour for _, _, colour in parts]
        spans = [_ink(text, colour) for text, colour in zip(texts, colours, strict=False)]
        self.legend.setText(" &nbsp; ".join(spans))
        room = max(1, self._plot.width() - _EDGE)
        width = min(room, self.legend.fontMetrics().horizontalAdvance("   ".join(texts)) + _LEGEND_PAD)
        self.legend.resize(width, self.legend.heightForWidth(width) if spans else 0)
        self.legend.setVisible(bool(spans))
        self.legend.move(self._plot.width() - width - 8, 2)
        # The lines begin below it: it never lies over the highest values, and is never cut.
        above = self.legend.height() if spans else 4
        if above != self._above:
            self._above = above
            self.room_wanted.emit(above)


def _ink(text: str, colour: str) -> str:
    # A name stands with its value, and the thousands of a figure together, in one line.
    whole = escape(unbroken(text)).replace("\u00a0", " ").replace(" ", "&nbsp;")
    return f'<span style="color:{colour}">{whole}</span>'
