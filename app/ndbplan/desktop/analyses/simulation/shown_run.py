"""What each chart of a simulation shows of a run: lines, limits, marks, and the run before behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ndbplan.base.units import MIB, format_bytes_binary, format_bytes_per_s, format_clock
from ndbplan.desktop.analyses.simulation.run import error_text
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.chart_content import Content, Mark, Series, Shade

if TYPE_CHECKING:
    from ndbplan.describe.traffic import Link
    from ndbplan.importing.held_against import Held
    from ndbplan.plan.plan import Plan
    from ndbplan.simulate.bands import Band, Bands
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.series import PartSeries

GHOST = "last run"
"""Name of the line of the run before the last edit."""
_LITTLE = 0.25
"""Share of a limit below which it is left out: the lines would be flat far below it."""
_SEEN = 0.05
"""Share of a redo buffer that its chart shows at least: what fills the chart looks full."""
_PURPOSES = {"redo": "redo", "lcp": "LCP", "undo": "undo", "data_files": "data files", "backup": "backup"}


@dataclass(frozen=True)
class ShownRun:
    """A run of a plan; with bands also what most of many runs do."""

    result: SimulationResult
    plan: Plan
    bands: Bands | None = None
    length_s: float | None = None
    """How long a run that is not over will be."""
    before: SimulationResult | None = None
    """The run before the last edit, of the same workload."""
    held: Held | None = None
    """What was measured, beside this run."""
    beside: tuple[tuple[str, SimulationResult], ...] = ()
    """Runs of other variants under the same workload, with their names."""

    def rates(self) -> Content:
        """Transactions that are offered, accepted and refused."""
        colours, result = theme.tokens(), self.result
        band = self.bands.accepted if self.bands is not None else None
        series = [
            Series("accepted", colours.good, result.accepted, *self._edges(band)),
            Series("offered", colours.muted, result.offered),
        ]
        if result.refused.any():
            series.insert(1, Series("refused", colours.error, result.refused))
        for quantity, colour in (
            ("accepted", colours.good),
            ("offered", colours.muted),
            ("refused", colours.error),
        ):
            series += self._measured(f"{quantity}_per_s", colour, f"{quantity} measured")
        series += self._others(lambda before: before.accepted)
        return self._content("", series)

    def latency(self) -> Content:
        """The mean of each moment; a gap where nothing was answered."""
        import numpy as np

        values = np.where(self.result.latency_s > 0, self.result.latency_s, np.nan)
        details = self.bands.details if self.bands is not None else ()
        band = next((b for b in details if b.name == "latency_s"), None)
        series = [Series("mean", theme.tokens().info, values, *self._edges(band))]
        series += self._measured("latency_s", theme.tokens().warning, "measured")
        series += self._others(lambda before: np.where(before.latency_s > 0, before.latency_s, np.nan))
        return self._content("s", series)

    def parts(self, node_id: int) -> list[PartSeries]:
        """The log parts of a data node."""
        return [part for part in self.result.parts if node_id in part.node_ids]

    def buffers(self, node_id: int) -> Content:
        """What waits in the redo buffer of each log part of a data node."""
        parts, colours = self.parts(node_id), theme.tokens().series
        series = [
            Series(f"part {p.log_part}", colours[i % len(colours)], self._until_stop(p.last), p.low, p.high)
            for i, p in enumerate(parts)
        ]
        series += self._measured_parts("redo_buffer_bytes", node_id)
        series += self._others(lambda before: _highest(before, node_id, "last"))
        size = parts[0].buffer_bytes if parts else 0
        limit = _near(float(size), [p.high for p in parts])
        name = f"RedoBuffer {format_bytes_binary(size)}"
        return self._content("MiB", series, limit=limit, limit_name=name, least_top=_SEEN * size)

    def log(self, node_id: int) -> Content:
        """Log of each part of a data node that cannot be reused yet."""
        parts, colours = self.parts(node_id), theme.tokens().series
        series = [
            Series(f"part {p.log_part}", colours[i % len(colours)], self._until_stop(p.log_used))
            for i, p in enumerate(parts)
        ]
        series += self._measured_parts("redo_log_bytes", node_id)
        series += self._others(lambda before: _highest(before, node_id, "log_used"))
        size = parts[0].log_bytes if parts else 0
        limit = _near(float(size), [p.log_used for p in parts])
        name = f"log of a part: {format_bytes_binary(size)}"
        return self._content("MiB", series, limit=limit, limit_name=name, least_top=MIB)

    def writes(self, disk_id: str) -> Content:
        """What is written to a disk for each purpose, and how busy that makes it."""
        of_disk = next(d for d in self.result.disks if disk_id in d.disk_ids)
        disk, colours = self.plan.by_id[disk_id], theme.tokens()
        speed = disk.sequential_write_bytes_per_s
        series = [Series("busy", colours.muted, of_disk.utilisation * speed, area=True)]
        for i, (purpose, values) in enumerate(of_disk.bytes_per_s.items()):
            if values.any():
                series.append(Series(_PURPOSES.get(purpose, purpose), colours.series[i], values))
        written = self._measured(
            "write_bytes_per_s", colours.text_strong, "written measured", disk_id=disk_id
        )
        if written:
            series.append(Series("written", colours.text_strong, sum(of_disk.bytes_per_s.values())))
        series += written
        series += self._measured("utilisation", colours.muted, "busy measured", disk_id=disk_id, times=speed)
        series += self._others(lambda before: _written(before, disk_id))
        return self._content(
            "bytes/s",
            series,
            limit=_near(speed, [of_disk.utilisation * speed, *of_disk.bytes_per_s.values()]),
            limit_name=f"{disk.name} writes {format_bytes_per_s(speed)}",
            scales=dict.fromkeys(("busy", "busy measured"), (speed, "fraction")),
        )

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links whose traffic is known; none of a job, which has no rate of its own."""
        from ndbplan.describe.traffic import links

        if self.plan.workload(self.result.workload).load.kind == "job":
            return ()
        return tuple(links(self.plan))

    def traffic(self, link: Link) -> Content:
        """What goes over a link, as the accepted transactions of each moment make it."""
        from ndbplan.describe.traffic import traffic

        colours = theme.tokens().series
        flows = traffic(self.plan, self.result, link)
        series = [Series(name, colours[i], values) for i, (name, values) in enumerate(flows)]
        limit = _near(link.limit_bytes_per_s, [values for _, values in flows])
        name = f"{format_bytes_per_s(limit)} in each direction" if limit is not None else ""
        return self._content("bytes/s", series, limit=limit, limit_name=name)

    def _content(self, unit: str, series: list[Series], **more: Any) -> Content:
        return Content(
            self.result.times_s,
            self.result.bucket_s,
            unit,
            series,
            marks=self._marks(),
            shades=self._shades(),
            length_s=self.length_s,
            **more,
        )

    def _marks(self) -> list[Mark]:
        colours = theme.tokens()
        marks = [
            Mark(e.first_at_s.value, f"{e.code} on node {e.node_id}: {error_text(e.code)}", colours.error)
            for e in self.result.errors
        ]
        workload = self.plan.workload(self.result.workload)
        return marks + [
            Mark(event.at_s, event.title, colours.info, number)
            for number, event in enumerate(workload.events)
        ]

    def _shades(self) -> list[Shade]:
        """Where transactions stood still, and the time after the cluster stopped."""
        colours, result = theme.tokens(), self.result
        shades = [
            Shade(begin, end, "", colours.warning_fill)
            for begin, end in result.standing
            if end - begin > result.bucket_s
        ]
        stop = result.cluster_stop
        if stop is not None:
            at_s = stop.at_s.value
            shades.append(Shade(at_s, result.duration_s, f"stopped {format_clock(at_s)}", colours.error))
        return shades

    def _until_stop(self, values: Any) -> Any:
        """The series of something that is gone when the cluster stopped: its line ends there."""
        import numpy as np

        stop = self.result.cluster_stop
        return values if stop is None else np.where(self.result.times_s > stop.at_s.value, np.nan, values)

    def _edges(self, band: Band | None) -> tuple[Any, ...]:
        """Low and high end of a band at the moments of the run."""
        import numpy as np

        if band is None or self.bands is None:
            return ()
        times = self.bands.times_s
        return tuple(np.interp(self.result.times_s, times, edge) for edge in (band.p10, band.p90))

    def _measured(
        self, quantity: str, colour: str, name: str, *, disk_id: str | None = None, times: float = 1.0
    ) -> list[Series]:
        """What was measured of the cluster, or of a disk, in dashes."""
        lines = self.held.lines if self.held is not None else ()
        found = (one for one in lines if one.quantity == quantity)
        line = next((one for one in found if disk_id is None or disk_id in one.disk_ids), None)
        if line is None:
            return []
        at = times * line.at(self.result.times_s, self.result.bucket_s)
        return [Series(name, colour, at, dash=1)]

    def _measured_parts(self, quantity: str, node_id: int) -> list[Series]:
        """What was measured of each log part of a data node, in the colour of the part."""
        colours, numbers = theme.tokens().series, [part.log_part for part in self.parts(node_id)]
        series = []
        for line in self.held.lines if self.held is not None else ():
            if line.quantity == quantity and node_id in line.node_ids and line.log_part in numbers:
                colour = colours[numbers.index(line.log_part) % len(colours)]
                at = line.at(self.result.times_s, self.result.bucket_s)
                series.append(Series(f"part {line.log_part} measured", colour, at, dash=1))
        return series

    def _others(self, of: Callable[[SimulationResult], Any]) -> list[Series]:
        """The same of the run before the last edit, and of other variants: in dashes, each its own."""
        import numpy as np

        series, colours = self._ghost(of), theme.tokens().series
        for place, (name, result) in enumerate(self.beside):
            values = of(result)
            if values is not None:
                known = np.asarray(values, dtype=float)
                at = np.interp(self.result.times_s, result.times_s, known, right=np.nan)
                series.append(Series(name, colours[-1 - place], at, dash=place + 2))
        return series

    def _ghost(self, of: Callable[[SimulationResult], Any]) -> list[Series]:
        """The line of the run before the last edit, at the moments of this one; nothing where it had none."""
        import numpy as np

        values = None if self.before is None else of(self.before)
        if values is None or self.before is None:
            return []
        known = np.asarray(values, dtype=float)
        at = np.interp(self.result.times_s, self.before.times_s, known, right=np.nan)
        return [Series(GHOST, theme.tokens().faint, at, ghost=True)]


def _near(limit: float | None, series: Iterable[Any]) -> float | None:
    """The limit, where a series comes near enough to it for both to be seen."""
    highest = max((float(values.max(initial=0.0)) for values in series), default=0.0)
    return limit if limit is not None and highest > _LITTLE * limit else None


def _highest(result: SimulationResult, node_id: int, name: str) -> Any:
    """The highest of all log parts of a data node over time; None: it took no part."""
    import numpy as np

    parts = [getattr(part, name) for part in result.parts if node_id in part.node_ids]
    return np.max(parts, axis=0) if parts else None


def _written(result: SimulationResult, disk_id: str) -> Any:
    """All that was written to a disk over time; None: nothing of the run used it."""
    return next((sum(d.bytes_per_s.values()) for d in result.disks if disk_id in d.disk_ids), None)
