"""Where two runs part, in words: sizes as the parameters that state them."""

from __future__ import annotations

import pytest

from ndbplan.describe.parting import given
from ndbplan.simulate.parting.given import Difference


@pytest.mark.parametrize(
    ("subsystem", "what", "here", "there", "unit", "said"),
    [
        ("redo buffer", "redo buffer of a log part", 2.0**27, 2.0**26, "bytes", "128 MiB instead of 64 MiB"),
        ("memory", "DataMemory for tables", 2.0**30, 3 * 2.0**30, "bytes", "1 GiB instead of 3 GiB"),
        ("disks", "bandwidth", 60e6, 120e6, "bytes/s", "60 MB/s instead of 120 MB/s"),
    ],
)
def test_sizes_read_as_their_parameters_and_speeds_as_disks(
    subsystem: str, what: str, here: float, there: float, unit: str, said: str
) -> None:
    """RedoBuffer of 128M was 134 MB beside charts and tables that say MiB."""
    assert given(Difference(subsystem, what, "node 1", here, there, unit)) == f"{what} of node 1 is {said}"
