"""The charts of a simulation, with linked time and crosshair."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QPushButton, QWidget

from ndbplan.base.units import format_bytes_binary, format_bytes_per_s, format_clock
from ndbplan.describe.titles import EVENT_NAMES
from ndbplan.desktop.analyses.simulation.run import error_text
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.charts import Content, Mark, Series, Shade, TimeChart
from ndbplan.desktop.widgets.sections import link
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.simulate.bands import Bands
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.series import DiskSeries, PartSeries

_ROOMY = 230
"""Height from which on the upper charts have a time axis of their own."""
_WIDE = 800
"""Width from which on three charts fit side by side."""
_TALL = 300
"""Height from which on three charts fit one below the other."""
_LOW = 190
"""Height below which charts stand in one row: two rows would leave a line or two of pixels."""
_Cell = tuple[int, int, int, int]
"""Row, column, rows, columns."""
GHOST = "last run"
"""Name of the line of the run before the last edit."""
_PURPOSES = {"redo": "redo", "lcp": "LCP", "undo": "undo", "data_files": "data files", "backup": "backup"}


class SimulationCharts(QWidget):
    """Transactions, latency, redo buffers, redo log, disk writes.

    Where there is no room for five, transactions and latency take turns in one place.
    """

    clicked_at = Signal(float)
    """Somebody clicked on a moment of a chart."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._result: SimulationResult | None = None
        self._plan: Plan | None = None
        self._bands: Bands | None = None
        self._length_s: float | None = None
        self._before: SimulationResult | None = None
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
        self._to_build: list[Callable[[], TimeChart]] = [
            self._build_rates,
            self._build_latency,
            self._build_buffers,
            self._build_writes,
            self._build_log,
        ]
        self.to_log = _turn("Log", "Show the redo log in place of redo buffers", self._turn_log)
        self.to_buffers = _turn("Buffers", "Show redo buffers in place of the redo log", self._turn_log)
        self._shape = ""
        self._shows_latency = self._shows_log = False
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

    def build_next(self) -> bool:
        """Build one more chart, each takes a frame or so; False when all are there."""
        if not self._to_build:
            return False
        chart = self._to_build.pop(0)()
        chart.cursor_moved.connect(self._cursor_moved)
        chart.clicked_at.connect(self.clicked_at)
        chart.time_changed.connect(self._time_changed)
        chart.maximise_wanted.connect(partial(self.show_alone, chart))
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
        self.writes = TimeChart("Disk writes", self.disk)
        return self.writes

    def _build_log(self) -> TimeChart:
        self.log = TimeChart("Redo log used", self.to_buffers)
        return self.log

    def show_result(
        self,
        result: SimulationResult,
        plan: Plan,
        bands: Bands | None = None,
        length_s: float | None = None,
        before: SimulationResult | None = None,
    ) -> None:
        """Draw a run of a plan; with bands also what most of many runs do.

        `length_s`: how long a run that is not over will be. `before`: the run before the last edit, which
        stays as ghost lines behind.
        """
        while self.build_next():
            pass
        self._result, self._plan, self._bands, self._length_s = result, plan, bands, length_s
        self._before = before if before is not None and before.workload == result.workload else None
        nodes = {i: part for part in result.parts for i in part.node_ids}
        _fill(self.node, [(f"node {i}", i) for i in sorted(nodes)])
        disks = sorted(
            ((f"{host} / {name}", i) for d in result.disks for (host, name), i in _named(d)),
            key=lambda x: x[0],
        )
        before = self.disk.currentData()
        _fill(self.disk, disks)
        if self.disk.findData(before) < 0 and result.disks:
            busiest = max(result.disks, key=lambda d: d.utilisation_mean.value)
            self.disk.setCurrentIndex(max(0, self.disk.findData(busiest.disk_id)))
        self._draw_rates()
        self._draw_latency()
        self._draw_node()
        self._draw_disk()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """Put every chart where the room there is gives it a place."""
        if self._to_build:
            return
        shape = self._shape_here()
        if shape != self._shape:
            self._shape = shape
            cells = self._cells(shape)
            for chart in self.all:
                self._grid.removeWidget(chart)
            for chart, cell in cells.items():
                self._grid.addWidget(chart, *cell)
            self._grid.setVerticalSpacing(4 if shape in ("small", "low") else 8)
            rows = 1 + max(row for row, *_ in cells.values())
            columns = 1 + max(column for _, column, *_ in cells.values())
            for i in range(3):
                self._grid.setRowStretch(i, int(i < rows))
                self._grid.setColumnStretch(i, int(i < columns))
        self._show_turns()
        roomy = shape in ("tall", "low", "alone") or self.height() >= _ROOMY
        below = [self.latency, self.log, self.writes] if shape == "wide" else [self.writes, self.log]
        for chart in self.all:
            chart.show_time_axis(roomy or chart in below)

    def _shape_here(self) -> str:
        """How charts stand in the room there is."""
        if self.alone is not None:
            return "alone"
        if self.height() < _LOW:
            return "low" if self.width() >= _WIDE * 0.8 else "small"
        return "wide" if self.width() >= _WIDE else "tall" if self.height() >= _TALL else "small"

    def _show_turns(self) -> None:
        """Show the charts whose turn it is, and the links that take turns."""
        shape = self._shape
        for turn in (self.to_latency, self.to_rates):
            turn.setVisible(shape in ("small", "low"))
        for turn in (self.to_log, self.to_buffers):
            turn.setVisible(shape == "low")
        hidden: set[TimeChart] = set()
        if shape == "alone":
            hidden = {chart for chart in self.all if chart is not self.alone}
        elif shape in ("small", "low"):
            hidden.add(self.rates if self._shows_latency else self.latency)
            if shape == "low":
                hidden.add(self.buffers if self._shows_log else self.log)
        for chart in self.all:
            chart.setVisible(chart not in hidden)

    def show_alone(self, chart: TimeChart) -> None:
        """Give one chart all the room; the one that has it gives it back."""
        self.alone = None if self.alone is not None else chart
        self._place()
        chart.plot.setFocus()

    def _cells(self, shape: str) -> dict[TimeChart, _Cell]:
        if shape == "alone":
            return dict.fromkeys(self.all, (0, 0, 1, 1))
        if shape == "low":
            return {
                self.rates: (0, 0, 1, 1),
                self.latency: (0, 0, 1, 1),
                self.buffers: (0, 1, 1, 1),
                self.log: (0, 1, 1, 1),
                self.writes: (0, 2, 1, 1),
            }
        if shape == "wide":
            return {
                self.rates: (0, 0, 1, 1),
                self.latency: (1, 0, 1, 1),
                self.buffers: (0, 1, 1, 1),
                self.log: (1, 1, 1, 1),
                self.writes: (0, 2, 2, 1),
            }
        if shape == "tall":
            return {
                self.rates: (0, 0, 1, 1),
                self.latency: (0, 1, 1, 1),
                self.buffers: (1, 0, 1, 1),
                self.log: (1, 1, 1, 1),
                self.writes: (2, 0, 1, 2),
            }
        return {
            self.rates: (0, 0, 1, 1),
            self.latency: (0, 0, 1, 1),
            self.buffers: (0, 1, 1, 1),
            self.writes: (1, 0, 1, 1),
            self.log: (1, 1, 1, 1),
        }

    def _take_turns(self) -> None:
        self._shows_latency = not self._shows_latency
        self._place()
        (self.to_rates if self._shows_latency else self.to_latency).setFocus()

    def _turn_log(self) -> None:
        self._shows_log = not self._shows_log
        self._place()
        (self.to_buffers if self._shows_log else self.to_log).setFocus()

    def show_position(self, at_s: float | None) -> None:
        """Where the replay stands."""
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

    def _node_chosen(self) -> None:
        self._draw_node()

    def _selected(self, ids: tuple[str, ...]) -> None:
        if self._result is None or not ids or self._plan is None:
            return
        part = self._plan.by_id.get(ids[-1])
        if isinstance(part, Disk) and self.disk.findData(part.id) >= 0:
            self.disk.setCurrentIndex(self.disk.findData(part.id))
            self._draw_disk()
        elif getattr(part, "kind", "") == "data" and part is not None:
            index = self.node.findData(part.node_id)
            if index >= 0:
                self.node.setCurrentIndex(index)
                self._draw_node()

    def _marks(self) -> list[Mark]:
        result = self._result
        if result is None:
            return []
        colours = theme.tokens()
        marks = [
            Mark(e.first_at_s.value, f"{e.code} on node {e.node_id}: {error_text(e.code)}", colours.error)
            for e in result.errors
        ]
        if self._plan is not None:
            workload = self._plan.workload(result.workload)
            marks += [Mark(event.at_s, EVENT_NAMES[event.kind], colours.info) for event in workload.events]
        return marks

    def _shades(self, result: SimulationResult) -> list[Shade]:
        """Where transactions stood still, and the time after the cluster stopped."""
        colours = theme.tokens()
        shades = [
            Shade(begin, end, "", colours.warning_fill)
            for begin, end in result.standing
            if end - begin > result.bucket_s
        ]
        stop = result.cluster_stop
        if stop is not None:
            shades.append(
                Shade(
                    stop.at_s.value,
                    result.duration_s,
                    f"stopped {format_clock(stop.at_s.value)}",
                    colours.error,
                )
            )
        return shades

    def _until_stop(self, values: Any) -> Any:
        """The series of something that is gone when the cluster stopped: its line ends there."""
        import numpy as np

        result = self._result
        if result is None or result.cluster_stop is None:
            return values
        return np.where(result.times_s > result.cluster_stop.at_s.value, np.nan, values)

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

    def _content(self, unit: str, series: list[Series], **more: Any) -> Content:
        result = self._result
        if result is None:
            raise RuntimeError("nothing has been simulated")
        return Content(
            result.times_s,
            result.bucket_s,
            unit,
            series,
            marks=self._marks(),
            shades=self._shades(result),
            length_s=self._length_s,
            **more,
        )

    def _ghost(self, of: Callable[[SimulationResult], Any]) -> list[Series]:
        """The line of the run before the last edit, at the moments of this one; nothing where it had none."""
        import numpy as np

        result, before = self._result, self._before
        if result is None or before is None:
            return []
        values = of(before)
        if values is None:
            return []
        known = np.asarray(values, dtype=float)
        at = np.interp(result.times_s, before.times_s, known, right=np.nan)
        return [Series(GHOST, theme.tokens().faint, at, ghost=True)]

    def _draw_rates(self) -> None:
        result = self._result
        if result is None:
            return
        colours = theme.tokens()
        series = [
            Series("accepted", colours.good, result.accepted, *self._accepted_band(result)),
            Series("offered", colours.muted, result.offered),
        ]
        if result.refused.any():
            series.insert(1, Series("refused", colours.error, result.refused))
        series += self._ghost(lambda before: before.accepted)
        self._show(self.rates, self._content("", series))

    def _accepted_band(self, result: SimulationResult) -> tuple[Any, ...]:
        import numpy as np

        bands = self._bands
        if bands is None:
            return ()
        band = bands.accepted
        return tuple(np.interp(result.times_s, bands.times_s, edge) for edge in (band.p10, band.p90))

    def _draw_latency(self) -> None:
        """The mean of each moment; a gap where nothing was answered."""
        import numpy as np

        result = self._result
        if result is None:
            return
        values = np.where(result.latency_s > 0, result.latency_s, np.nan)
        low = high = None
        band = next((b for b in self._bands.details if b.name == "latency_s"), None) if self._bands else None
        if band is not None and self._bands is not None:
            times = self._bands.times_s
            low, high = (np.interp(result.times_s, times, edge) for edge in (band.p10, band.p90))
        series = [Series("mean", theme.tokens().info, values, low, high)]
        series += self._ghost(lambda before: np.where(before.latency_s > 0, before.latency_s, np.nan))
        self._show(self.latency, self._content("s", series))

    def _draw_node(self) -> None:
        result, node_id = self._result, self.node.currentData()
        if result is None or node_id is None:
            return
        parts = [part for part in result.parts if node_id in part.node_ids]
        colours = theme.tokens().series
        series = [
            Series(f"part {p.log_part}", colours[i % len(colours)], self._until_stop(p.last), p.low, p.high)
            for i, p in enumerate(parts)
        ]
        series += self._ghost(lambda before: _highest(before, node_id, "last"))
        size = parts[0].buffer_bytes if parts else 0
        self.buffers.set_title(
            f"Redo buffers · {format_bytes_binary(size)}",
            f"What waits to be written, for each log part; RedoBuffer gives it {format_bytes_binary(size)}",
        )
        self._show(
            self.buffers,
            self._content(
                "MiB", series, limit=float(size), limit_name=f"RedoBuffer {format_bytes_binary(size)}"
            ),
        )
        self._draw_log(parts)

    def _draw_log(self, parts: list[PartSeries]) -> None:
        colours = theme.tokens().series
        size = parts[0].log_bytes if parts else 0
        series = [
            Series(f"part {p.log_part}", colours[i % len(colours)], self._until_stop(p.log_used))
            for i, p in enumerate(parts)
        ]
        series += self._ghost(lambda before: _highest(before, self.node.currentData(), "log_used"))
        self.log.set_title(
            f"Redo log used · {format_bytes_binary(size)}",
            f"Log that cannot be reused yet; each log part has {format_bytes_binary(size)} in its files",
        )
        most = max((float(p.log_used.max(initial=0.0)) for p in parts), default=0.0)
        # A log that hardly fills would be a flat line under a far limit: then the limit is left out.
        limit = float(size) if most > 0.25 * size else None
        self._show(
            self.log,
            self._content(
                "MiB", series, limit=limit, limit_name=f"log of a part: {format_bytes_binary(size)}"
            ),
        )

    def _draw_disk(self) -> None:
        result, disk_id = self._result, self.disk.currentData()
        if result is None or self._plan is None or disk_id is None:
            return
        of_disk = next(d for d in result.disks if disk_id in d.disk_ids)
        disk = self._plan.by_id[disk_id]
        speed = disk.sequential_write_bytes_per_s
        colours = theme.tokens()
        series = [Series("busy", colours.muted, of_disk.utilisation * speed, area=True)]
        for i, (purpose, values) in enumerate(of_disk.bytes_per_s.items()):
            if values.any():
                series.append(Series(_PURPOSES.get(purpose, purpose), colours.series[i], values))
        series += self._ghost(lambda before: _written(before, disk_id))
        self._show(
            self.writes,
            self._content(
                "bytes/s",
                series,
                limit=speed,
                limit_name=f"{disk.name} writes {format_bytes_per_s(speed)}",
                scales={"busy": (speed, "fraction")},
            ),
        )


def _highest(result: SimulationResult, node_id: int, name: str) -> Any:
    """The highest of all log parts of a data node over time; None: it took no part."""
    import numpy as np

    parts = [getattr(part, name) for part in result.parts if node_id in part.node_ids]
    return np.max(parts, axis=0) if parts else None


def _written(result: SimulationResult, disk_id: str) -> Any:
    """All that was written to a disk over time; None: nothing of the run used it."""
    return next((sum(d.bytes_per_s.values()) for d in result.disks if disk_id in d.disk_ids), None)


def _named(disk: DiskSeries) -> list[tuple[tuple[str, str], str]]:
    return list(zip(disk.alike, disk.disk_ids, strict=True))


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
    box = QComboBox()
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
