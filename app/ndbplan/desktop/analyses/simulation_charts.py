"""The four charts of a simulation, with linked time and crosshair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QWidget

from ndbplan.base.units import format_bytes_binary, format_bytes_per_s
from ndbplan.desktop import theme
from ndbplan.desktop.analyses.charts import Content, Mark, Series, TimeChart
from ndbplan.desktop.context import Context
from ndbplan.desktop.inspector.events import NAMES
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.simulate.monte_carlo import Bands
    from ndbplan.simulate.result import DiskSeries, PartSeries, SimulationResult

_ROOMY = 230
"""Height from which on the upper charts have a time axis of their own."""
_PURPOSES = {"redo": "redo", "lcp": "LCP", "undo": "undo", "data_files": "data files", "backup": "backup"}


class SimulationCharts(QWidget):
    """Transactions, redo buffers, disk writes, redo log."""

    clicked_at = Signal(float)
    """Somebody clicked on a moment of a chart."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self._result: SimulationResult | None = None
        self._plan: Plan | None = None
        self._bands: Bands | None = None
        self._length_s: float | None = None
        self.node = _picker("Data node")
        self.disk = _picker("Disk")
        self.rates = TimeChart("Transactions/s")
        self.buffers = TimeChart("Redo buffers", self.node)
        self.writes = TimeChart("Disk writes", self.disk)
        self.log = TimeChart("Redo log used")
        self.all = (self.rates, self.buffers, self.writes, self.log)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        for i, chart in enumerate(self.all):
            grid.addWidget(chart, i // 2, i % 2)
            grid.setColumnStretch(i % 2, 1)
            grid.setRowStretch(i // 2, 1)
            chart.cursor_moved.connect(self._cursor_moved)
            chart.clicked_at.connect(self.clicked_at)
            if chart is not self.rates:
                chart.link_time(self.rates)
        self.node.activated.connect(self._node_chosen)
        self.disk.activated.connect(lambda _i: self._draw_disk())
        context.selection.changed.connect(self._selected)

    def show_result(
        self,
        result: SimulationResult,
        plan: Plan,
        bands: Bands | None = None,
        length_s: float | None = None,
    ) -> None:
        """Draw a run of a plan; with bands also what most of many runs do.

        `length_s`: how long a run that is not over will be.
        """
        self._result, self._plan, self._bands, self._length_s = result, plan, bands, length_s
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
        self._draw_node()
        self._draw_disk()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        roomy = self.height() >= _ROOMY
        for chart in self.all[:2]:
            chart.show_time_axis(roomy)

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
        from ndbplan.desktop.analyses.simulation import error_text

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
            marks += [Mark(event.at_s, NAMES[event.kind], colours.info) for event in workload.events]
        return marks

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
            length_s=self._length_s,
            **more,
        )

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
        self.rates.show_content(self._content("", series))

    def _accepted_band(self, result: SimulationResult) -> tuple[Any, ...]:
        import numpy as np

        bands = self._bands
        if bands is None:
            return ()
        band = bands.accepted
        return tuple(np.interp(result.times_s, bands.times_s, edge) for edge in (band.p10, band.p90))

    def _draw_node(self) -> None:
        result, node_id = self._result, self.node.currentData()
        if result is None or node_id is None:
            return
        parts = [part for part in result.parts if node_id in part.node_ids]
        colours = theme.tokens().series
        series = [
            Series(f"part {p.log_part}", colours[i % len(colours)], p.last, p.low, p.high)
            for i, p in enumerate(parts)
        ]
        size = parts[0].buffer_bytes if parts else 0
        self.buffers.set_title(f"Redo buffers · {format_bytes_binary(size)} per part")
        self.buffers.show_content(
            self._content(
                "MiB", series, limit=float(size), limit_name=f"RedoBuffer {format_bytes_binary(size)}"
            )
        )
        self._draw_log(parts)

    def _draw_log(self, parts: list[PartSeries]) -> None:
        colours = theme.tokens().series
        size = parts[0].log_bytes if parts else 0
        series = [
            Series(f"part {p.log_part}", colours[i % len(colours)], p.log_used) for i, p in enumerate(parts)
        ]
        self.log.set_title(f"Redo log used · {format_bytes_binary(size)} per part")
        most = max((float(p.log_used.max(initial=0.0)) for p in parts), default=0.0)
        # A log that hardly fills would be a flat line under a far limit: then the limit is left out.
        limit = float(size) if most > 0.25 * size else None
        self.log.show_content(
            self._content(
                "MiB", series, limit=limit, limit_name=f"log of a part: {format_bytes_binary(size)}"
            )
        )

    def _draw_disk(self) -> None:
        result, disk_id = self._result, self.disk.currentData()
        if result is None or self._plan is None or disk_id is None:
            return
        found = next(d for d in result.disks if disk_id in d.disk_ids)
        disk = self._plan.by_id[disk_id]
        speed = disk.sequential_write_bytes_per_s
        colours = theme.tokens()
        series = [Series("busy", colours.muted, found.utilisation * speed, area=True)]
        for i, (purpose, values) in enumerate(found.bytes_per_s.items()):
            if values.any():
                series.append(Series(_PURPOSES.get(purpose, purpose), colours.series[i], values))
        self.writes.show_content(
            self._content(
                "bytes/s",
                series,
                limit=speed,
                limit_name=f"{disk.name} writes {format_bytes_per_s(speed)}",
                scales={"busy": (speed, "fraction")},
            )
        )


def _named(disk: DiskSeries) -> list[tuple[tuple[str, str], str]]:
    return list(zip(disk.alike, disk.disk_ids, strict=True))


def _picker(name: str) -> QComboBox:
    box = QComboBox()
    box.setProperty("look", "small")
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
