"""The widgets of the simulation panel that need no panel: made and named here, connected there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QPushButton, QToolButton, QWidget

from ndbplan.desktop.widgets.combo_box import ComboBox
from ndbplan.desktop.widgets.sections import chip

PREPARING = (
    "Preparing the simulation engine",
    "It is compiled once on this machine, which takes half a minute. You may go on editing.",
)


_NAME_PX = 240
"""So wide is the list of workloads at most where there is little room for what is said behind it."""


def workload_box() -> QComboBox:
    """Which workload is simulated."""
    box = ComboBox()
    box.setAccessibleName("Workload")
    box.setMinimumWidth(_LEAST_NAME_PX[False])
    box.currentTextChanged.connect(box.setToolTip)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return box


def start_button() -> QPushButton:
    """Runs it."""
    button = QPushButton("Simulate")
    button.setProperty("kind", "primary")
    button.setToolTip("Run the workload against the plan")
    return button


def range_chip(runs: int) -> QToolButton:
    """Whether it is run many times."""
    return chip(
        "± Range",
        "Simulate many times to see how sure the result is",
        f"Simulate {runs} times, uncertain constants drawn anew: the band holds four fifths of the runs",
    )


def tables_chip() -> QToolButton:
    """Whether tables stand in place of the charts."""
    return chip(
        "ndbinfo",
        "Show the tables of ndbinfo at this moment",
        "What the tables of ndbinfo say at this moment, as the mysql client prints them",
    )


def row(spacing: int, *widgets: QWidget) -> QHBoxLayout:
    """Widgets side by side."""
    layout = QHBoxLayout()
    layout.setSpacing(spacing)
    for widget in widgets:
        layout.addWidget(widget)
    return layout


def foot(scrubber: QWidget, *others: QWidget) -> QWidget:
    """The line of the replay; hidden."""
    holder = QWidget()
    layout = row(12, scrubber, *others)
    layout.setStretch(0, 1)
    layout.setContentsMargins(0, 0, 0, 0)
    holder.setLayout(layout)
    holder.hide()
    return holder


def once(owner: QObject, after_ms: int, run: Callable[[], object]) -> QTimer:
    """Runs something once, so long after it was started last."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(after_ms)
    timer.timeout.connect(run)
    return timer


_ONE_LINE, _NARROW = 1400, 480
"""Width from which on the summary has room behind the controls, and below which these stand closer."""
_LEAST_NAME_PX = (96, 72)
"""Of the list of workloads, and in a narrow panel."""


def place_summary(
    panel: QWidget,
    summary: QWidget,
    workload: QWidget,
    controls: QBoxLayout,
    behind: QWidget,
    lines: QBoxLayout,
) -> None:
    """Put the summary behind a control where the panel is wide enough, else on a line of its own.

    `workload`: what takes no more than its share of that line.
    """
    below = panel.width() < _ONE_LINE
    is_narrow = panel.width() < _NARROW
    controls.setSpacing(4 if is_narrow else 8)
    workload.setMinimumWidth(_LEAST_NAME_PX[is_narrow])
    workload.setMaximumWidth(max(_NAME_PX, panel.width() // 4))
    if below and lines.indexOf(summary) < 0:
        controls.removeWidget(summary)
        lines.insertWidget(1, summary)
    elif not below and controls.indexOf(summary) < 0:
        lines.removeWidget(summary)
        controls.insertWidget(controls.indexOf(behind) + 1, summary, 200)


_LOW = 300
"""Height below which the charts need what room the lines around them can give."""


def give_room(lines: QBoxLayout, height: int) -> None:
    """Let the lines of the panel stand closer in a low one."""
    low = height < _LOW
    lines.setContentsMargins(16, *((4, 16, 4) if low else (10, 16, 8)))
    lines.setSpacing(3 if low else 8)


def show(shown: bool, *widgets: QWidget) -> None:
    """Show these, or hide them: without a load there is nothing to choose."""
    for widget in widgets:
        widget.setVisible(shown)
