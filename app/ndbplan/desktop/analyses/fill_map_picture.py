"""What a map of places says: names of its columns, how far a colour reaches, the words of a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ndbplan.base.units import format_bytes_binary, format_count, format_percent, how_many
from ndbplan.estimate.storage.fill_map import FillMap

_LEAST_REACH = 0.1
"""Fill at which the strongest colour is reached, at the least: less is not worth alarm."""
_MOST_REACH = 1.0
_HELD = {"rows": "rows", "primaries": "rows of primary replicas", "bytes": ""}


@dataclass(frozen=True)
class Column:
    """A node, or a node group."""

    name: str
    """`Node 3`."""
    short: str
    """`3`."""
    where: str
    """Host and rack, or nodes."""
    ids: tuple[str, ...]
    """What to select in the plan."""
    bracket: str = ""
    """What it stands in with its neighbours: the rack."""


@dataclass(frozen=True)
class MapPicture:
    """A map in the order in which it is shown."""

    found: FillMap
    columns: tuple[Column, ...]
    moved: Mapping[tuple[int, int], int]
    """Rows by (place of the lost column, place of the heir)."""
    sums_before: tuple[float, ...] = ()
    """Of the columns, before anything was lost; empty: nothing is."""

    @property
    def lane_name(self) -> str:
        """What a lane is: `LDM` of a node, `Part.` of a node group."""
        return "LDM" if self.found.places == "nodes" else "Part."

    @cached_property
    def reach(self) -> float:
        """Fill that has the strongest colour."""
        import numpy as np

        fill = self.found.fill[self.found.used]
        most = float(np.abs(fill).max()) if fill.size else 0.0
        return min(_MOST_REACH, max(_LEAST_REACH, most, 2 * self.found.band[1]))

    def value(self, fill: float) -> float:
        """Where a fill is on the scale of colours; 0 within the band."""
        low, high = self.found.band
        if low <= fill <= high:
            return 0.0
        edge = high if fill > high else low
        return (fill - edge) / max(1e-9, self.reach - abs(edge))

    @cached_property
    def column_fill(self) -> tuple[float, ...]:
        """What each column holds against the mean of all, before a loss."""
        sums = self.sums_before or self.found.column_sums.tolist()
        mean = sum(sums) / max(1, len(sums))
        return tuple(size / mean - 1 if mean else 0.0 for size in self.found.column_sums.tolist())

    def size(self, held: float) -> str:
        """An amount of what the map shows."""
        return format_bytes_binary(held) if self.found.measure == "bytes" else format_count(round(held))

    def cell(self, lane: int, column: int) -> str:
        """What there is to say about a place."""
        found, of = self.found, self.columns[column]
        number = found.lanes[lane] if found.places == "nodes" else found.lanes[lane] + 1
        lines = [f"{of.name}, {'LDM' if found.places == 'nodes' else 'fragment'} {number}", of.where]
        if found.columns[column] in found.lost:
            return "\n".join([*lines, "lost"])
        if not found.exists[lane, column]:
            return "\n".join(
                [*lines, "no such LDM thread" if found.places == "nodes" else "no such fragment"]
            )
        if not found.used[lane, column]:
            return "\n".join([*lines, "holds nothing of it"])
        held = f"{self.size(found.held[lane, column])} {_HELD[found.measure]}".strip()
        lines.append(f"{held}, {signed(found.fill[lane, column])} against an even share")
        low, high = (self.size(ends[lane, column]) for ends in (found.low, found.high))
        if found.lost:
            lines.append("more than before where it took over")
        elif low != high:
            because = "beyond chance: " if found.is_outside[lane, column] else ""
            lines.append(f"{because}its buckets and chance make {low} to {high}")
        lines.append(how_many(int(found.fragments[lane, column]), "fragment"))
        return "\n".join(lines)

    def column_line(self, column: int) -> str:
        """What a whole column holds."""
        of = self.columns[column]
        held = f"{self.size(float(self.found.column_sums[column]))} {_HELD[self.found.measure]}".strip()
        if self.found.columns[column] in self.found.lost:
            return f"{of.name}\n{of.where}\nlost"
        lines = [of.name, of.where, f"{held}, {signed(self.column_fill[column])} against the mean"]
        for (lost, heir), rows in self.moved.items():
            if heir == column:
                lines.append(f"{format_count(rows)} rows taken over from {self.columns[lost].name.lower()}")
        return "\n".join(lines[:8])

    def lane_line(self, lane: int) -> str:
        """What a whole lane holds."""
        number = self.found.lanes[lane] + (self.found.places == "groups")
        held = f"{self.size(float(self.found.lane_sums[lane]))} {_HELD[self.found.measure]}".strip()
        empty = int((self.found.exists[lane] & ~self.found.used[lane]).sum())
        more = f"\n{how_many(empty, 'place')} of it without any" if empty else ""
        return f"{self.lane_name} {number}: {held}{more}"


def signed(fill: float) -> str:
    """`+5 %`, `−2.5 %`, `± 0 %`."""
    if abs(fill) < 5e-5:
        return "± 0 %"
    return f"{'+' if fill > 0 else '−'}{format_percent(abs(fill))}"
