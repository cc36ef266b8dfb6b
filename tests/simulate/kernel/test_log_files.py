"""Log files that follow one another: where a part stops, and when it may go on (error 1220)."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from ndbplan.base.row_types import Floats, Rows, rows
from ndbplan.simulate.model.start import file_end
from ndbplan.simulate.world.indices import Part
from ndbplan.simulate.world.laws import Node

MIB = 2.0**20


@pytest.fixture
def open_files(kernel_module: Callable[[str], ModuleType]) -> Callable[..., None]:
    """The function, as machine code and as plain Python."""
    found: Callable[..., None] = kernel_module("log").open_files
    return found


@pytest.fixture
def nodes() -> Rows[Node]:
    """One data node with files of 16 MiB and a long log."""
    found = rows(Node, 1)
    found[0].file_bytes, found[0].file_spare_bytes, found[0].file_open_after_bytes = (
        16 * MIB,
        2 * MIB,
        7 * MIB,
    )
    found[0].log_limit_bytes = 1000 * MIB
    return found


def _part(nodes: Rows[Node], made: float, held: float = 0.0) -> Floats:
    part = np.zeros((len(Part), 1, 1))
    part[Part.MADE], part[Part.FILL] = made * MIB, held * MIB
    part[Part.FILE_END] = file_end(nodes, part[Part.MADE])
    return part


@pytest.mark.parametrize(
    ("made", "end"), [(0.0, 14.0), (13.9, 14.0), (14.0, 30.0), (16.0, 30.0), (31.0, 46.0)]
)
def test_a_part_stops_short_of_the_end_of_its_file(nodes: Rows[Node], made: float, end: float) -> None:
    assert _part(nodes, made)[Part.FILE_END, 0, 0] == end * MIB


@pytest.mark.parametrize(("held", "stop"), [(13.0, 30.0), (7.1, 30.0), (7.0, 46.0), (0.0, 46.0)])
def test_the_next_file_is_open_when_so_much_of_this_one_is_on_disk(
    nodes: Rows[Node], open_files: Callable[..., None], held: float, stop: float
) -> None:
    part = _part(nodes, 29.9, held + 29.9 - 30.0)
    open_files(nodes, part, 0, 0)
    assert part[Part.STOP, 0, 0] == stop * MIB
