"""Reorganisation as buckets that move: play, pause, scrub."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, Qt, QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSlider, QStackedWidget, QVBoxLayout, QWidget

from ndbplan.base.units import format_count, format_duration, format_percent, how_many
from ndbplan.desktop.analyses.bucket_view import Buckets, BucketView, heaps_of
from ndbplan.desktop.analyses.distribution_answer import Answer
from ndbplan.desktop.analyses.panel import Empty
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.sections import Elided

_STEPS = 1000
_COPYING = 0.75
"""Of the slider for the first pass: how the time is shared between both nobody has measured."""
_PLAY_S = 9.0
_FRAME_MS = 33
_MOST_NAMED = 8
"""Partitions of a heap that are named one by one."""


class MovesPage(QWidget):
    """The buckets, a slider over both passes, and how far the rows are."""

    def __init__(self) -> None:
        super().__init__()
        self.view = BucketView()
        self.button = QPushButton()
        self.button.setToolTip("Play or pause (Space)")
        self.button.clicked.connect(self.toggle)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, _STEPS)
        self.slider.setPageStep(50)
        self.slider.setAccessibleName("How far the reorganisation is")
        self.slider.valueChanged.connect(lambda _v: self._show())
        self.line = Elided()
        self._clock = QElapsedTimer()
        self._started_at = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_FRAME_MS)
        self._timer.timeout.connect(self._tick)
        self._nothing = Empty()
        self._pages = QStackedWidget()
        self._duration_s: float | None = None
        self._build()
        self._name_button()
        theme.theme().changed.connect(self._name_button)

    def _build(self) -> None:
        controls = QHBoxLayout()
        controls.setSpacing(10)
        controls.addWidget(self.button)
        controls.addWidget(self.slider, 1)
        moving = QWidget()
        column = QVBoxLayout(moving)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(controls)
        column.addWidget(self.view, 1)
        column.addWidget(self.line)
        self._pages.addWidget(self._nothing)
        self._pages.addWidget(moving)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)

    @property
    def is_playing(self) -> bool:
        """Whether it goes on by itself."""
        return self._timer.isActive()

    def show_answer(self, answer: Answer) -> None:
        """Show the reorganisation of an answer, from its beginning."""
        self.pause()
        buckets = buckets_of(answer)
        self._pages.setCurrentIndex(1 if buckets is not None else 0)
        self.view.show_buckets(buckets)
        if buckets is None:
            self._nothing.say(*_why_not(answer))
            return
        times = answer.of_table
        self._duration_s = times.duration_s.value if times is not None and times.moves else None
        self.slider.blockSignals(True)
        self.slider.setValue(0)
        self.slider.blockSignals(False)
        self._show()

    def toggle(self) -> None:
        """Play, from the beginning when it is at its end, or pause."""
        if self.is_playing:
            self.pause()
            return
        if self.slider.value() >= _STEPS:
            self.slider.setValue(0)
        self._started_at = self.slider.value()
        self._clock.start()
        self._timer.start()
        self._name_button()

    def pause(self) -> None:
        """Stop where it is."""
        self._timer.stop()
        self._name_button()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.pause()

    def _tick(self) -> None:
        value = self._started_at + round(self._clock.elapsed() / 1000 / _PLAY_S * _STEPS)
        self.slider.setValue(min(_STEPS, value))
        if value >= _STEPS:
            self.pause()

    def _name_button(self) -> None:
        playing = self.is_playing
        self.button.setText("Pause" if playing else "Play")
        self.button.setAccessibleName("Pause" if playing else "Play")
        self.button.setIcon(theme.icon("pause" if playing else "play"))

    @property
    def passes(self) -> tuple[float, float]:
        """How much of the first and of the second pass is done."""
        at = self.slider.value() / _STEPS
        return min(1.0, at / _COPYING), max(0.0, (at - _COPYING) / (1 - _COPYING))

    def _show(self) -> None:
        buckets = self.view.buckets
        if buckets is None:
            return
        copied, deleted = self.passes
        self.view.show_moment(copied, deleted)
        moves = buckets.moves
        now, whole = moves.at(copied, deleted), int(moves.rows[moves.moving].sum())
        there = round(float((moves.rows * now.done).sum()))
        of = how_many(int(moves.moving.sum()), "bucket")
        if deleted <= 0:
            words = f"Copying: {format_count(there)} of {format_count(whole)} rows are in their new place"
        else:
            waiting = int(now.waiting.sum())
            words = (
                f"Deleting where they were: {format_count(waiting)} of {format_count(whole)} rows are left"
            )
        if deleted >= 1:
            words = f"Done: {format_count(whole)} rows in {of} moved"
        share = format_percent(whole / max(1, int(moves.rows.sum())))
        takes = f" · in all {format_duration(self._duration_s)}" if self._duration_s is not None else ""
        self.line.setText(f"{words} · {of}, {share} of the rows{takes}", words)


def buckets_of(answer: Answer) -> Buckets | None:
    """The buckets of a reorganisation in their heaps; None where none moves."""
    from ndbplan.estimate.storage.bucket_moves import bucket_moves

    moves = bucket_moves(answer.moved) if answer.moved is not None else None
    if moves is None or answer.moved is None:
        return None
    before, after = answer.moved.before, answer.moved.after
    groups = after.placement.node_group.tolist()
    heap_of, names = heaps_of(groups, [f"Group {number}" for number in after.group_ids])
    old_groups = set(before.placement.node_group.tolist())
    details, is_new = [], []
    for heap in range(len(names)):
        own = [partition for partition, at in enumerate(heap_of) if at == heap]
        nodes = sorted({int(node) for partition in own for node in after.placement.nodes[partition]})
        words = "partition" if len(own) == 1 else "partitions"
        more = " …" if len(own) > _MOST_NAMED else ""
        named = ", ".join(map(str, own[:_MOST_NAMED]))
        details.append(f"{words} {named}{more} · nodes {', '.join(map(str, nodes))}")
        is_new.append(not own or own[0] >= len(before.rows) or groups[own[0]] not in old_groups)
    return Buckets(moves, heap_of, names, tuple(details), tuple(is_new))


def _why_not(answer: Answer) -> tuple[str, str]:
    """Heading and text where no bucket moves."""
    if answer.refusal:
        return "No node group can be added", answer.refusal
    if answer.moved is None:
        return "Nothing moves", "Add node groups above: then the buckets that go there move here."
    if answer.before.is_full_copy:
        return (
            "Every node group gets a whole copy",
            "A fully replicated table keeps its partitions: no bucket moves.",
        )
    note = answer.of_table.bound if answer.of_table is not None else ""
    return "No bucket moves", note or "The table keeps its partitions when it is reorganised."
