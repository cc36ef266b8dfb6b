"""Replay of a simulation: a scrubber that moves through time, and what the cluster looks like at a moment."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QElapsedTimer, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.desktop.analyses.simulation.event_track import EventTrack
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.sections import label

_STEPS = 2000
_FRAME_MS = 33
SPEEDS = (1, 2, 5, 10, 30, 60, 300, 1800)


class _Track(QSlider):
    """A slider with marks for errors; a click goes where it hits."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._marks: list[tuple[float, str]] = []
        self.setRange(0, _STEPS)
        self.setSingleStep(_STEPS // 100)
        self.setPageStep(_STEPS // 20)
        self.setAccessibleName("Moment of the simulation")

    def set_marks(self, marks: Sequence[tuple[float, str]]) -> None:
        """Mark these shares of the length, with the token of a colour."""
        self._marks = list(marks)
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            option = QStyleOptionSlider()
            self.initStyleOption(option)
            handle = self.style().subControlRect(
                QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
            )
            if not handle.contains(event.position().toPoint()):
                self.setValue(round(event.position().x() / max(1, self.width()) * _STEPS))
        super().mousePressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for share, colour in self._marks:
            painter.setBrush(QColor(getattr(theme.tokens(), colour)))
            x = 7 + share * (self.width() - 14)
            painter.drawRoundedRect(QRectF(x - 1, self.height() / 2 - 8, 2, 16), 1, 1)


_TRACK_LEAST = 72
"""Pixels in which a hand still finds a moment."""


class Scrubber(QWidget):
    """Play, a slider, the time and the speed."""

    moved = Signal(float)
    """The time it stands at, in seconds."""

    def __init__(self) -> None:
        super().__init__()
        self._length_s = 0.0
        self._at_s = 0.0
        self.play = QToolButton()
        self.play.setProperty("kind", "quiet")
        self.play.setCheckable(True)
        self.play.setShortcut("Ctrl+Space")
        self.play.setToolTip("Play the simulation (Ctrl+Space)")
        self.play.setAccessibleName("Play the simulation")
        self.play.toggled.connect(self._play_toggled)
        self.track = _Track()
        self.track.valueChanged.connect(self._track_moved)
        self.events = EventTrack()
        self.time = label("", "playTime", wrap=False)
        self.time.setMinimumWidth(74)
        self.track.setMinimumWidth(_TRACK_LEAST)
        self.speed = QComboBox()
        self.speed.setAccessibleName("Speed of the replay")
        self.speed.setProperty("look", "small")
        self.speed.setFixedWidth(64)
        for factor in SPEEDS:
            self.speed.addItem(f"×{factor}", factor)
        self.speed.setCurrentIndex(SPEEDS.index(5))
        self._timer = QTimer(self)
        self._timer.setInterval(_FRAME_MS)
        self._timer.timeout.connect(self._advance)
        self._clock = QElapsedTimer()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.play)
        layout.addWidget(self.time)
        lanes = QVBoxLayout()
        lanes.setSpacing(0)
        lanes.addWidget(self.events)
        lanes.addWidget(self.track)
        layout.addLayout(lanes, 1)
        layout.addWidget(self.speed)
        theme.theme().changed.connect(self._set_icon)
        self._set_icon()
        self.setEnabled(False)

    def set_length(
        self, length_s: float, marks: Sequence[tuple[float, str]], at_s: float | None = None
    ) -> None:
        """Replay a simulation of this length; marks as (time, token of a colour).

        It stands at `at_s` then, or (None) where it stood.
        """
        self._length_s = length_s
        self.track.set_marks([(at_s / length_s, colour) for at_s, colour in marks if length_s > 0])
        wanted = next((s for s in SPEEDS if length_s / s <= 20), SPEEDS[-1])
        self.speed.setCurrentIndex(SPEEDS.index(wanted))
        self.setEnabled(length_s > 0)
        self.go_to(self._at_s if at_s is None else at_s)

    def go_to(self, at_s: float) -> None:
        """Stand at a time."""
        self._at_s = max(0.0, min(self._length_s, at_s))
        self.track.blockSignals(True)
        self.track.setValue(round(self._at_s / self._length_s * _STEPS) if self._length_s else 0)
        self.track.blockSignals(False)
        self.time.setText(clock_text(self._at_s))
        self.moved.emit(self._at_s)

    def stop(self) -> None:
        """Stop playing."""
        self.play.setChecked(False)

    @property
    def at_s(self) -> float:
        """The time it stands at."""
        return self._at_s

    def _track_moved(self, value: int) -> None:
        self.go_to(value / _STEPS * self._length_s)

    def _play_toggled(self, on: bool) -> None:
        self._set_icon()
        self.play.setAccessibleName("Pause the simulation" if on else "Play the simulation")
        if on:
            if self._at_s >= self._length_s:
                self.go_to(0.0)
            self._clock.start()
            self._timer.start()
        else:
            self._timer.stop()

    def _advance(self) -> None:
        step_s = self._clock.restart() / 1000 * float(self.speed.currentData())
        self.go_to(self._at_s + step_s)
        if self._at_s >= self._length_s:
            self.stop()

    def _set_icon(self) -> None:
        colours = theme.tokens()
        self.play.setIcon(theme.icon("pause" if self.play.isChecked() else "play", colours.text))


def clock_text(at_s: float) -> str:
    """`00:00:41.0`."""
    tenths = round(at_s * 10)
    hours, rest = divmod(tenths, 36_000)
    minutes, rest = divmod(rest, 600)
    return f"{hours:02d}:{minutes:02d}:{rest // 10:02d}.{rest % 10}"
