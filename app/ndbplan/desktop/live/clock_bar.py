"""The bar over a live cluster: how quickly time passes, the way back, branches, breakpoints."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.units import format_clock, format_count
from ndbplan.desktop.live.session import SPEEDS, Frame
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.flow_layout import FlowLayout
from ndbplan.desktop.widgets.sections import label

_STEP_S, _LEAP_S = 1, 60
_HANDLE_PX = 14
_CHIP_TOP_PX = 3
"""So that chips stand in one line with the field before them."""


class Course(QSlider):
    """The time of a session: the handle is now. Earlier goes back, later lets the time until then pass."""

    wanted = Signal(float)
    """Seconds that somebody wants to be at."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setSingleStep(_STEP_S)
        self.setPageStep(_LEAP_S)
        self.setTracking(False)
        self.setAccessibleName("Time of the session")
        self.setToolTip("Drag back to any second and try something else; drag on to let time pass")
        self._now = 0
        self.valueChanged.connect(self._chosen)

    def show_now(self, at_s: float, length_s: float) -> None:
        """Stand at this time, unless somebody has hold of it."""
        self._now = int(at_s)
        if not self.isSliderDown():
            self.blockSignals(True)
            self.setRange(0, max(1, int(length_s)))
            self.setValue(self._now)
            self.blockSignals(False)

    def _chosen(self, value: int) -> None:
        if value != self._now:
            self.wanted.emit(float(value))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        handle = self.style().subControlRect(
            QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
        )
        at = event.position().toPoint()
        if event.button() == Qt.MouseButton.LeftButton and not handle.contains(at):
            value = QStyle.sliderValueFromPosition(
                self.minimum(), self.maximum(), at.x() - _HANDLE_PX // 2, self.width() - _HANDLE_PX
            )
            self.setValue(value)
            event.accept()
        else:
            super().mousePressEvent(event)


class ClockBar(QWidget):
    """What time does."""

    play_wanted = Signal(bool)
    step_wanted = Signal()
    speed_chosen = Signal(float)
    moment_wanted = Signal(float)
    branch_wanted = Signal()
    branch_chosen = Signal(int)
    breakpoint_typed = Signal(str)
    breakpoint_dropped = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Time of the live cluster")
        self.play = QToolButton()
        self.play.setCheckable(True)
        self.play.setShortcut("Ctrl+Space")
        self.play.clicked.connect(self.play_wanted)
        self.step = QToolButton()
        self.step.setText("+1 s")
        self.step.setToolTip("Let a second pass")
        self.step.setAccessibleName("Let a second pass")
        self.step.clicked.connect(self.step_wanted)
        self.at = label("0:00", "playTime", wrap=False)
        self.at.setToolTip("Since the begin of the session")
        self.at.setMinimumWidth(52)
        self.course = Course()
        self.course.wanted.connect(self.moment_wanted)
        self.course.sliderMoved.connect(lambda value: self.at.setText(format_clock(value)))
        self.speed = QComboBox()
        self.speed.setAccessibleName("How quickly time passes")
        self.speed.setToolTip("How many times as quickly as the clock")
        self.speed.setProperty("look", "small")
        self.speed.setFixedWidth(66)
        for times in SPEEDS:
            self.speed.addItem(f"×{times}", float(times))
        self.speed.currentIndexChanged.connect(lambda _i: self.speed_chosen.emit(self.speed.currentData()))
        self.branch = QToolButton()
        self.branch.setText("Branch")
        self.branch.setToolTip("Go on in a branch; this course stays where it is, to come back to")
        self.branch.clicked.connect(self.branch_wanted)
        self.branches = QComboBox()
        self.branches.setAccessibleName("Branch")
        self.branches.setProperty("look", "small")
        self.branches.setMinimumWidth(92)
        self.branches.activated.connect(self.branch_chosen)
        self.branches.hide()
        self.breakpoint = QLineEdit()
        self.breakpoint.setPlaceholderText("Stop when… redo_log 80%")
        self.breakpoint.setAccessibleName("Breakpoint: stop when")
        self.breakpoint.setToolTip("Time stops when it begins to be so, such as accepted < 10 or node:3 < 1")
        self.breakpoint.setFixedWidth(210)
        self.breakpoint.setMaxLength(300)
        self.breakpoint.returnPressed.connect(self._typed)
        self._chips: dict[str, QPushButton] = {}
        self._flow_of_chips = QWidget()
        FlowLayout(self._flow_of_chips).setContentsMargins(0, _CHIP_TOP_PX, 0, 0)
        self.figures = label("", "muted", wrap=False)
        self.figures.setAccessibleName("Transactions")
        self.extra = QHBoxLayout()
        """Where the page puts its own buttons."""
        self._lay_out()
        self.show_plays(False)
        theme.theme().changed.connect(self._set_icon)

    def _lay_out(self) -> None:
        first, second = QHBoxLayout(), QHBoxLayout()
        for row in (first, second, self.extra):
            row.setSpacing(8)
        left: tuple[QWidget, ...] = (self.play, self.step, self.at)
        right: tuple[QWidget, ...] = (self.speed, self.branch, self.branches)
        for widget in left:
            first.addWidget(widget)
        first.addWidget(self.course, 1)
        for widget in right:
            first.addWidget(widget)
        first.addLayout(self.extra)
        second.addWidget(self.breakpoint)
        second.addWidget(self._flow_of_chips, 1)
        second.addWidget(self.figures)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        column.addLayout(first)
        column.addLayout(second)

    def _typed(self) -> None:
        text = self.breakpoint.text().strip()
        if text:
            self.breakpoint_typed.emit(text)
            self.breakpoint.clear()

    def show_plays(self, on: bool) -> None:
        """Whether time passes."""
        self.play.setChecked(on)
        words = "Let time stand still" if on else "Let time pass"
        self.play.setAccessibleName(words)
        self.play.setToolTip(f"{words} (Ctrl+Space)")
        self._set_icon()

    def show_frame(self, frame: Frame) -> None:
        """Show the time and the figures of a moment."""
        sight = frame.sight
        if not self.course.isSliderDown():
            self.at.setText(format_clock(int(sight.at_s)))
        self.course.show_now(sight.at_s, sight.length_s)
        for widget in (self.play, self.step):
            widget.setEnabled(not frame.is_over)
        moment = sight.moment
        times = f"{sight.load:g}"
        said = [
            f"sent {format_count(sight.offered_per_s)}/s" + (f" (×{times})" if sight.load != 1 else ""),
            f"accepted {format_count(moment.accepted_per_s)}/s",
        ]
        if moment.refused_per_s > 0:
            said.append(f"refused {format_count(moment.refused_per_s)}/s")
        self.figures.setText(" · ".join(said))
        self._show_branches(frame)
        self._show_breakpoints(frame.breakpoints)

    def _show_branches(self, frame: Frame) -> None:
        self.branches.setVisible(len(frame.branches) > 1)
        if self.branches.count() != len(frame.branches):
            self.branches.clear()
            self.branches.addItems(frame.branches)
        for place, text in enumerate(frame.branches):
            if self.branches.itemText(place) != text:
                self.branches.setItemText(place, text)
        self.branches.setCurrentIndex(frame.place)

    def _show_breakpoints(self, texts: tuple[str, ...]) -> None:
        if tuple(self._chips) == texts:
            return
        flow = self._flow_of_chips.layout()
        assert flow is not None
        for gone in [text for text in self._chips if text not in texts]:
            chip = self._chips.pop(gone)
            flow.removeWidget(chip)
            chip.deleteLater()
        for text in texts:
            if text not in self._chips:
                chip = QPushButton(f"{text}  ×")
                chip.setProperty("look", "chip")
                chip.setAccessibleName(f"Take away the breakpoint {text}")
                chip.setToolTip("Take this breakpoint away")
                chip.clicked.connect(partial(self._drop, text))
                flow.addWidget(chip)
                chip.show()
                self._chips[text] = chip

    def _drop(self, text: str, _checked: bool = False) -> None:
        self.breakpoint_dropped.emit(text)

    def _set_icon(self) -> None:
        colours = theme.tokens()
        self.play.setIcon(theme.icon("pause" if self.play.isChecked() else "play", colours.text))
