"""Where the charts of a simulation stand, by the room there is.

shape_in(1200, 150)   # "low": one row of three
CELLS["low"]["rates"]   # (0, 0, 1, 1)
"""

from __future__ import annotations

from collections.abc import Mapping

ROOMY = 230
"""Height from which on the upper charts have a time axis of their own."""
_WIDE = 800
"""Width from which on three charts fit side by side."""
_THREE = 640
"""Width from which on they fit into one row, where there is room for one row only."""
_TALL = 300
"""Height from which on three charts fit one below the other."""
_LOW = 240
"""Height below which charts stand in one row: two rows would leave a line or two of pixels."""
Cell = tuple[int, int, int, int]
"""Row, column, rows, columns."""

CELLS: Mapping[str, Mapping[str, Cell]] = {
    "alone": dict.fromkeys(("rates", "latency", "buffers", "log", "writes"), (0, 0, 1, 1)),
    "pair": {
        "rates": (0, 0, 1, 1), "latency": (0, 0, 1, 1),
        "buffers": (0, 1, 1, 1), "log": (0, 1, 1, 1), "writes": (0, 1, 1, 1),
    },
    "low": {
        "rates": (0, 0, 1, 1), "latency": (0, 0, 1, 1),
        "buffers": (0, 1, 1, 1), "log": (0, 1, 1, 1), "writes": (0, 2, 1, 1),
    },
    "small": {
        "rates": (0, 0, 1, 1), "latency": (0, 0, 1, 1),
        "buffers": (0, 1, 1, 1), "writes": (1, 0, 1, 1), "log": (1, 1, 1, 1),
    },
    "tall": {
        "rates": (0, 0, 1, 1), "latency": (0, 1, 1, 1),
        "buffers": (1, 0, 1, 1), "log": (1, 1, 1, 1), "writes": (2, 0, 1, 2),
    },
    "wide": {
        "rates": (0, 0, 1, 1), "latency": (1, 0, 1, 1),
        "buffers": (0, 1, 1, 1), "log": (1, 1, 1, 1), "writes": (0, 2, 2, 1),
    },
}  # fmt: skip
"""Places of charts by shape; those in one place take turns. `alone`: one chart has all the room."""


def shape_in(width: int, height: int) -> str:
    """How charts stand in so many pixels."""
    if height < _LOW:
        return "low" if width >= _THREE else "pair"
    return "wide" if width >= _WIDE else "tall" if height >= _TALL else "small"
