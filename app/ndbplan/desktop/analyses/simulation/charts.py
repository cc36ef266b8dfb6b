"""The charts of a simulation, with linked time and crosshair."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QPushButton, QWidget

from ndbplan.base.units import format_bytes_binary, format_bytes_per_s
from ndbplan.desktop.analyses.simulation.chart_places import CELLS, ROOMY, shape_in
from ndbplan.desktop.analyses.simulation.shown_run import ShownRun
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.widgets.chart_content import Content
from ndbplan.desktop.widgets.charts import TimeChart, loading
from ndbplan.desktop.widgets.combo_box import ComboBox
from ndbplan.desktop.widgets.drop_zone import DropZone
from ndbplan.desktop.widgets.sections import link
from ndbplan.plan.hardware import Disk, Host, Location

if TYPE_CHECKING:
    from ndbplan.simulate.series import DiskSeries, PartSeries


class SimulationCharts(QWidget):
    """Transactions, latency, redo buffers, redo log, disk writes.

    Where there is no room for five, transactions and latency take turns in one place.
    """

    clicked_at = Signal(float)
    """Somebody clicked on a moment of a chart."""
    event_moved = Signal(int, float)
    """Somebody dragged an event to another moment: its number, and the moment in seconds."""
    dropped = Signal(object)
    """Paths of files that were dropped here."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        DropZone(self, self.dropped.emit, lambda files: f"Drop to lay {files[0].name} over the charts")
        self._context = context
        self._run: ShownRun | None = None
        self._at_s: float | None = None
        self.node = _picker("Data node")
        self.disk = _picker("Disk")
        self.to_latency = _turn("Latency", "Show latency in place of transactions", self._take_turns)
        self.to_rates = _turn("Transactions", "Show transactions in place of latency", self._take_turns)
        self.rates: TimeChart
        self.latency: TimeChart
        self.buffers: TimeChart
        self.writes: TimeChart
        self.log: TimeChart
        self.all: tuple[TimeChart, ...] = ()
        self._loading = loading()
        self._to_build: list[Callable[[], TimeChart]] = [
            self._build_rates,
            self._build_latency,
            self._build_buffers,
            self._build_writes,
            self._build_log,
        ]
        self.to_log = _turn("Log", "Show the redo log in place of redo buffers", self._turn_second)
        self.to_buffers = _turn("Buffers", "Show redo buffers in place of the redo log", self._turn_second)
        self.to_writes = _turn("Disk", "Show disk writes in place of the redo log", self._turn_second)
        self.back = _turn("Buffers", "Show redo buffers in place of disk writes", self._turn_second)
        self._shape = ""
        self._shows_latency = False
        self._second = 0
        """Which of the charts that take turns in the second place is shown."""
        self.alone: TimeChart | None = None
        """The chart that has all the room; None: they share it."""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._drawing = QTimer(self)
        self._drawing.timeout.connect(self._draw_next)
        self.node.activated.connect(self._node_chosen)
        self.disk.activated.connect(lambda _i: self._draw_disk())
        context.selection.changed.connect(self._selected)

    @property
    def are_built(self) -> bool:
        """Whether all charts are there."""
        return not self._to_build

    def build_next(self) -> bool:
        """Load a part of what charts need or build one more, in a few frames; False when all are there."""
        if any(True for _ in self._loading):
            return True
        if not self._to_build:
            return False
        chart = self._to_build.pop(0)()
        chart.cursor_moved.connect(self._cursor_moved)
        chart.clicked_at.connect(self.clicked_at)
        chart.time_changed.connect(self._time_changed)
        chart.mark_moved.connect(self._mark_moved)
        # What is dropped on a chart is for all of them.
        chart.plot.setAcceptDrops(False)
        chart.maximise_wanted.connect(partial(self.show_alone, chart))
        chart.readout.clicked.connect(partial(self._point_back, chart))
        self.all = (*self.all, chart)
        if not self._to_build:
            self._place()
        return bool(self._to_build)

    def _build_rates(self) -> TimeChart:
        self.rates = TimeChart("Transactions/s", self.to_latency)
        return self.rates

    def _build_latency(self) -> TimeChart:
        self.latency = TimeChart("Latency, mean", self.to_rates)
        self.latency.set_title(
            "Latency, mean",
            "From a client's request to its answer, as the mean of all transactions of a moment",
        )
        return self.latency

    def _build_buffers(self) -> TimeChart:
        self.buffers = TimeChart("Redo buffers", _beside(self.node, self.to_log))
        return self.buffers

    def _build_writes(self) -> TimeChart:
        self.writes = TimeChart("Disk writes", _beside(self.disk, self.back))
        return self.writes

    def _build_log(self) -> TimeChart:
        self.log = TimeChart("Redo log used", _beside(self.to_buffers, self.to_writes))
        return self.log

    def show_run(self, run: ShownRun) -> None:
        """Draw a run of a plan; the run before it only where that was of the same load."""
        while self.build_next():
            pass
        result = run.result
        same = run.before is not None and run.before.workload == result.workload
        self._run = run if same else replace(run, before=None)
        nodes = {i: part for part in result.parts for i in part.node_ids}
        _fill(self.node, [(f"node {i}", i) for i in sorted(nodes)])
        disks = sorted(
            ((f"{host} / {name}", i) for d in result.disks for (host, name), i in _named(d)),
            key=lambda x: x[0],
        )
        chosen = self.disk.currentData()
        _fill(self.disk, [*disks, *((link.name, _key(link.ids)) for link in run.links)])
        if self.disk.findData(chosen) < 0 and result.disks:
            busiest = max(result.disks, key=lambda d: d.utilisation_mean.value)
            self.disk.setCurrentIndex(max(0, self.disk.findData(busiest.disk_id)))
        self._draw_run(self._run)
        # In other letters or units it is replayed from where it stands.
        self.show_position(self._at_s)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Put every chart where the room there is gives it a place."""
        if self._to_build:
            return
        shape = "alone" if self.alone is not None else shape_in(self.width(), self.height())
        if shape != self._shape:
            self._shape = shape
            cells = {getattr(self, name): cell for name, cell in CELLS[shape].items()}
            for chart in self.all:
                self._grid.removeWidget(chart)
            for chart, cell in cells.items():
                self._grid.addWidget(chart, *cell)
            self._grid.setVerticalSpacing(4 if shape in ("small", "low", "pair") else 8)
            rows = 1 + max(row for row, *_ in cells.values())
            columns = 1 + max(column for _, column, *_ in cells.values())
            for i in range(3):
                self._grid.setRowStretch(i, int(i < rows))
                self._grid.setColumnStretch(i, int(i < columns))
            self._draw_node()
        self._show_turns()
        roomy = shape in ("tall", "low", "pair", "alone") or self.height() >= ROOMY
        below = [self.latency, self.log, self.writes] if shape == "wide" else [self.writes, self.log]
        for chart in self.all:
            chart.show_time_axis(roomy or chart in below)

    def _show_turns(self) -> None:
        """Show the charts whose turn it is, and the links that take turns."""
        shape = self._shape
        for turn in (self.to_latency, self.to_rates):
            turn.setVisible(shape in ("small", "low", "pair"))
        self.to_log.setVisible(shape in ("low", "pair"))
        self.to_buffers.setVisible(shape == "low")
        for turn in (self.to_writes, self.back):
            turn.setVisible(shape == "pair")
        hidden: set[TimeChart] = set()
        if shape == "alone":
            hidden = {chart for chart in self.all if chart is not self.alone}
        elif shape in ("small", "low", "pair"):
            hidden = {self.rates if self._shows_latency else self.latency, *self._others_in_second()}
        for chart in self.all:
            chart.setVisible(chart not in hidden)

    def _in_second(self) -> tuple[TimeChart, ...]:
        """The charts that take turns in the second place."""
        taking = {"low": (self.buffers, self.log), "pair": (self.buffers, self.log, self.writes)}
        return taking.get(self._shape, ())

    def _others_in_second(self) -> set[TimeChart]:
        charts = self._in_second()
        return {chart for turn, chart in enumerate(charts) if turn != self._second % len(charts)}

    def bring(self, chart: TimeChart) -> None:
        """Let it be a chart's turn, where several take turns in its place."""
        if chart in (self.rates, self.latency):
            self._shows_latency = chart is self.latency
        if chart in self._in_second():
            self._second = self._in_second().index(chart)
        self._show_turns()

    def show_alone(self, chart: TimeChart) -> None:
        """Give one chart all the room; the one that has it gives it back."""
        self.alone = None if self.alone is not None else chart
        self._place()
        chart.plot.setFocus()

    def show_only(self, chart: TimeChart | None) -> None:
        """Give this chart all the room; None: all share it."""
        if self.alone is not chart:
            self.alone = chart
            self._place()

    def _take_turns(self) -> None:
        self._shows_latency = not self._shows_latency
        self._place()
        (self.to_rates if self._shows_latency else self.to_latency).setFocus()

    def _turn_second(self) -> None:
        self._second = (self._second + 1) % len(self._in_second())
        self._place()
        links = ((self.to_log,), (self.to_buffers, self.to_writes), (self.back,))[self._second]
        next(one for one in links if not one.isHidden()).setFocus()

    def show_position(self, at_s: float | None) -> None:
        """Where the replay stands."""
        self._at_s = at_s
        for chart in self.all:
            chart.show_position(at_s)
            chart.show_values_at(at_s)

    def restyle(self) -> None:
        """Take over the colours of the theme in use."""
        for chart in self.all:
            chart.restyle()

    def _cursor_moved(self, at_s: float | None) -> None:
        for chart in self.all:
            chart.show_cursor(at_s)

    def _time_changed(self, from_s: float, to_s: float) -> None:
        for chart in self.all:
            chart.show_time(from_s, to_s)

    def _mark_moved(self, number: int, at_s: float) -> None:
        """An event was dragged: where the plan has other ones since the run, the mark goes back."""
        run = self._run
        if run is None:
            return
        drawn = run.plan.workload(run.result.workload)
        now = self._context.plan.by_id.get(drawn.id)
        if now is not None and now.events == drawn.events:
            self.event_moved.emit(number, at_s)
        else:
            self._draw_run(run)

    def _draw_run(self, run: ShownRun) -> None:
        self._show(self.rates, run.rates())
        self._show(self.latency, run.latency())
        self._draw_node()
        self._draw_disk()

    def _node_chosen(self) -> None:
        self._draw_node()

    def _selected(self, ids: tuple[str, ...]) -> None:
        if self._run is None or not ids:
            return
        part = self._run.plan.by_id.get(ids[-1])
        if len(ids) > 1 and self._choose_disk(_key(ids)):
            # The line that joins a node group.
            return
        if isinstance(part, Host):
            # What is on it: its data node and, of its disks, the one that is written to first.
            inside = [node.id for node in self._run.plan.data_nodes if node.host_id == part.id][:1]
            written = [disk.id for disk in part.disks if self.disk.findData(disk.id) >= 0][:1]
            for one in inside:
                self._selected((one,))
            self._choose_disk(written[0] if written else part.id)
        elif isinstance(part, Disk | Location):
            self._choose_disk(part.id)
        elif getattr(part, "kind", "") == "data" and part is not None:
            index = self.node.findData(part.node_id)
            if index >= 0:
                self.node.setCurrentIndex(index)
                self._draw_node()
                if self.writes in self._in_second() and not self.writes.isHidden():
                    self.bring(self.buffers)
        elif getattr(part, "host_id", None) is not None and part is not None:
            # An SQL or API node is seen by what it sends and gets.
            self._choose_disk(part.host_id)

    def _choose_disk(self, key: str) -> bool:
        """Show a disk or a link, where there is anything to show of it; whether there is."""
        index = self.disk.findData(key)
        if index >= 0:
            self.disk.setCurrentIndex(index)
            self._draw_disk()
            self.bring(self.writes)
        return index >= 0

    def _point_back(self, chart: TimeChart) -> None:
        """Select what the lines of a chart are of: the workload, a data node, a disk, a link's ends."""
        if self._run is None:
            return
        plan = self._context.plan
        if chart in (self.rates, self.latency):
            ids = [self._run.plan.workload(self._run.result.workload).id]
        elif chart is self.writes:
            ids = self.disk.currentData().split("\n")
        else:
            ids = [node.id for node in plan.data_nodes if node.node_id == self.node.currentData()]
        self._context.selection.set([one for one in ids if one in plan.by_id])

    def _draw_node(self) -> None:
        node_id = self.node.currentData()
        if self._run is None or node_id is None:
            return
        parts = self._run.parts(node_id)
        buffer, log = (format_bytes_binary(size) for size in _sizes(parts))
        # In little room the choosers above the charts need it more.
        size = "" if self._shape in ("small", "low", "pair") else f" · {buffer}"
        self.buffers.set_title(
            f"Redo buffers{size}",
            f"What waits to be written, for each log part; RedoBuffer gives it {buffer}",
        )
        self._show(self.buffers, self._run.buffers(node_id))
        self.log.set_title(
            f"Redo log used · {log}",
            f"Log that cannot be reused yet; each log part has {log} in its files",
        )
        self._show(self.log, self._run.log(node_id))

    def _draw_disk(self) -> None:
        chosen, run = self.disk.currentData(), self._run
        if run is None or chosen is None:
            return
        link = next((one for one in run.links if _key(one.ids) == chosen), None)
        if link is None:
            speed = run.plan.by_id[chosen].sequential_write_bytes_per_s
            self.writes.set_title("Disk writes", f"The disk writes {format_bytes_per_s(speed)}")
        else:
            most = link.limit_bytes_per_s
            tip = "" if most is None else f"The link passes {format_bytes_per_s(most)} in each direction"
            self.writes.set_title("Traffic", tip)
        self._show(self.writes, run.traffic(link) if link is not None else run.writes(chosen))

    def _show(self, chart: TimeChart, content: Content) -> None:
        """One chart is drawn after the other, so that the window answers in between."""
        chart.show_content(content)
        self._drawing.start(0)

    def _draw_next(self) -> None:
        waiting = [chart for chart in self.all if not chart.is_drawn]
        if waiting:
            min(waiting, key=lambda chart: chart.isHidden()).draw()
        else:
            self._drawing.stop()


def _sizes(parts: list[PartSeries]) -> tuple[int, int]:
    """Bytes of the redo buffer and of the log of one part."""
    return (parts[0].buffer_bytes, parts[0].log_bytes) if parts else (0, 0)


def _named(disk: DiskSeries) -> list[tuple[tuple[str, str], str]]:
    return list(zip(disk.alike, disk.disk_ids, strict=True))


def _key(ids: Iterable[str]) -> str:
    """What stands for a disk or a link in the list of both; Qt does not compare tuples."""
    return "\n".join(ids)


def _beside(*parts: QWidget) -> QWidget:
    """Several small controls in the head of one chart."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    for part in parts:
        row.addWidget(part)
    return holder


def _turn(text: str, name: str, turn: Callable[[], None]) -> QPushButton:
    button = link(text, turn, name)
    button.setToolTip(name)
    return button


def _picker(name: str) -> QComboBox:
    # Hosts and disks differ at the end of their names.
    box = ComboBox(Qt.TextElideMode.ElideLeft)
    box.setProperty("look", "small")
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    box.setAccessibleName(name)
    return box


def _fill(box: QComboBox, entries: list[tuple[str, Any]]) -> None:
    chosen = box.currentData()
    if [(box.itemText(i), box.itemData(i)) for i in range(box.count())] == entries:
        return
    box.clear()
    for text, value in entries:
        box.addItem(text, value)
    box.setCurrentIndex(max(0, box.findData(chosen)))
    box.setVisible(len(entries) > 1)
